/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_SPAWN_H
#define SK_BASE_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Another program is started: nothing of ours runs between fork and exec, so that threads do not matter. */

enum { SK_SPAWN_FILES = 4, SK_SPAWN_KEEP = -1, SK_SPAWN_NULL = -2 };

typedef struct sk_spawn {
    const char *program; /* looked for on the PATH where it has no slash */
    char *const *words;  /* words[0] is its name; ended by null */
    /* What its descriptors 0 to 3 are: one of ours, SK_SPAWN_KEEP: as here, SK_SPAWN_NULL: /dev/null. They are
     * given in this order: one of ours must not be a number below its place. All others are expected to be O_CLOEXEC. */
    int files[SK_SPAWN_FILES];
    bool own_session; /* Ctrl-C in this terminal is not meant for it */
} sk_spawn;

/* With signals as a shell leaves them, whatever handlers and masks we have. 0, or an errno. */
int sk_spawn_start(const sk_spawn *wish, pid_t *pid);

/* When a process began, in the system's own count: a number that was given to another process since is told apart. 0: gone. */
int64_t sk_process_started(int64_t pid);

#endif
