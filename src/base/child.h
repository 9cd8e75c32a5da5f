/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_CHILD_H
#define SK_BASE_CHILD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Work that is done in a process of its own, because it may crash, hang or must not share memory. The program skitter is
 * started anew and told by its last argument which role to play. A bare fork() would copy a process whose other threads,
 * and the locks they hold, are gone in the copy: whoever has threads (a Python program, a server) could wait for ever.
 *
 * Parent and child talk over a socket, which unlike a pipe raises no signal when the other end is gone. */

typedef struct sk_child {
    pid_t pid; /* 0: none */
    int fd;    /* the parent's end */
} sk_child;

typedef struct sk_child_role {
    const char *name;
    void (*serve)(int fd); /* in the child; the process ends with it */
} sk_child_role;

/* For main, first of all: was this process started to play one of these roles? Then it has been played; leave. */
bool sk_child_serve(int argc, char *const *argv, const sk_child_role *roles, size_t n_roles);

/* Which program is started: these words, then the role. The program that has the roles says so in main; a library asks
 * SKITTER_PROGRAM, then looks for `skitter` near itself and on the PATH. Words are borrowed for ever. */
void sk_child_set_program(const char *const *words, size_t n_words);

/* Starts a child in that role. Fails where no program is found, or one of another version answers. `quiet`: its standard
 * streams lead nowhere (libraries print). */
sk_status sk_child_start(const char *role, bool quiet, sk_child *out, sk_error *err) SK_MUST_CHECK;
/* Closes the socket and reaps the process. One that `answered` has a moment to leave by itself, any other is ended.
 * Returns what waitpid said. */
int sk_child_end(sk_child *child, bool answered);
/* The same for one that is known to be leaving: as long as it takes. */
int sk_child_wait(sk_child *child);

/* All of it, or false: the other end is gone. */
bool sk_child_send(int fd, const void *data, size_t bytes);
bool sk_child_receive(int fd, void *data, size_t bytes);

/* What came of waiting for a whole record. */
typedef enum sk_child_heard { SK_CHILD_HEARD, SK_CHILD_CLOSED, SK_CHILD_LATE } sk_child_heard;
sk_child_heard sk_child_receive_within(int fd, void *data, size_t bytes, int64_t limit_ms);

#endif
