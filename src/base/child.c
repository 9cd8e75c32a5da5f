/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "base/transfer.h"
#include "skitter/version.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last argument of a child's command line, with the role behind it. */
static const char mark[] = "--skitter-child=";
enum { CHILD_FD = 3, MOST_WORDS = 8, GREETING_MS = 20000 };

/* The child's first words: who it is. */
typedef struct greeting {
    char version[64];
} greeting;

static greeting own_greeting(void)
{
    greeting g = {{0}};
    snprintf(g.version, sizeof g.version, "skitter %s", sk_version_text());
    return g;
}

static const char *const *program_words;
static size_t n_program_words;

void sk_child_set_program(const char *const *words, size_t n_words)
{
    program_words = words;
    n_program_words = n_words < MOST_WORDS ? n_words : MOST_WORDS;
}

bool sk_child_send(int fd, const void *data, size_t bytes)
{
    return sk_send_all(fd, data, bytes) == bytes;
}

bool sk_child_receive(int fd, void *data, size_t bytes)
{
    return sk_read_all(fd, data, bytes) == bytes;
}

sk_child_heard sk_child_receive_within(int fd, void *data, size_t bytes, int64_t limit_ms)
{
    int64_t until = sk_clock_ns() + limit_ms * 1000000;
    for (char *at = data; bytes;) {
        int64_t wait_ms = (until - sk_clock_ns()) / 1000000;
        if (wait_ms <= 0)
            return SK_CHILD_LATE;
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        int ready = poll(&waiting, 1, wait_ms > 60000 ? 60000 : (int)wait_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t n = ready < 0 ? -1 : read(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return SK_CHILD_CLOSED;
        at += n;
        bytes -= (size_t)n;
    }
    return SK_CHILD_HEARD;
}

/* --- the child --- */

bool sk_child_serve(int argc, char *const *argv, const sk_child_role *roles, size_t n_roles)
{
    const char *role = argc > 1 ? argv[argc - 1] : "";
    if (strncmp(role, mark, sizeof mark - 1) != 0)
        return false;
    struct sockaddr address;
    socklen_t length = sizeof address;
    if (getsockname(CHILD_FD, &address, &length) != 0) { /* typed by a person: nobody is at the other end */
        fputs("skitter: this argument is for skitter itself\n", stderr);
        return true;
    }
    (void)fcntl(CHILD_FD, F_SETFD, FD_CLOEXEC); /* not for what the child may start in turn */
    const greeting hello = own_greeting();
    if (!sk_child_send(CHILD_FD, &hello, sizeof hello))
        return true;
    for (size_t i = 0; i < n_roles; i++)
        if (strcmp(role + sizeof mark - 1, roles[i].name) == 0)
            roles[i].serve(CHILD_FD);
    return true;
}

/* --- the parent --- */

/* Where a library finds the program: bin/ beside the folder it lies in, or above that (lib/x86_64-linux-gnu). */
static const char *program_near_library(char *path, size_t capacity)
{
    static const char *const places[] = {"/../bin/skitter", "/../../bin/skitter", "/skitter"};
    Dl_info where;
    if (!dladdr((void *)(uintptr_t)sk_child_start, &where) || !where.dli_fname)
        return NULL;
    const char *slash = strrchr(where.dli_fname, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(path, capacity, "%.*s%s", (int)(slash - where.dli_fname), where.dli_fname, places[i]);
        if (access(path, X_OK) == 0 && sk_file_is_regular(path))
            return path;
    }
    return NULL;
}

static sk_status start(const char *role, bool quiet, int fd, pid_t *pid, sk_error *err)
{
    char argument[64], near[4096];
    char *words[MOST_WORDS + 2] = {0};
    const char *named = getenv("SKITTER_PROGRAM");
    snprintf(argument, sizeof argument, "%s%s", mark, role);
    size_t n = 0;
    for (; n < n_program_words; n++)
        words[n] = (char *)(uintptr_t)program_words[n];
    if (n == 0) {
        const char *found = named && *named ? named : program_near_library(near, sizeof near);
        words[n++] = (char *)(uintptr_t)(found ? found : "skitter");
    }
    words[n] = argument;
    const int usual = quiet ? SK_SPAWN_NULL : SK_SPAWN_KEEP;
    const sk_spawn wish = {.program = words[0], .words = words, .files = {usual, usual, usual, fd}};
    const int problem = sk_spawn_start(&wish, pid);
    if (problem == 0)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_IO,
        "the program %s could not be started to do this in a process of its own: %s. Put it on the PATH, or "
        "name it in SKITTER_PROGRAM",
        words[0], strerror(problem));
}

sk_status sk_child_start(const char *role, bool quiet, sk_child *out, sk_error *err)
{
    *out = (sk_child){.fd = -1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return sk_fail(err, SK_ERR_IO, "no socket for another process: %s", strerror(errno));
    sk_child child = {.fd = ends[0]};
    sk_status status = start(role, quiet, ends[1], &child.pid, err);
    close(ends[1]);
    if (status != SK_OK) {
        close(ends[0]);
        return status;
    }
    const greeting expected = own_greeting();
    greeting got;
    if (sk_child_receive_within(child.fd, &got, sizeof got, GREETING_MS) != SK_CHILD_HEARD ||
        memcmp(&got, &expected, sizeof got) != 0) {
        sk_child_end(&child, false);
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "the program that was started to do this in a process of its own is not %s. Name the one that "
            "belongs to this library in SKITTER_PROGRAM",
            expected.version);
    }
    *out = child;
    return SK_OK;
}

int sk_child_wait(sk_child *child)
{
    int code = 0;
    if (child->pid <= 0)
        return 0;
    close(child->fd);
    while (waitpid(child->pid, &code, 0) < 0 && errno == EINTR)
        ;
    *child = (sk_child){.fd = -1};
    return code;
}

int sk_child_end(sk_child *child, bool answered)
{
    int code = 0;
    if (child->pid <= 0)
        return 0;
    for (int i = 0; answered && i < 20; i++) {
        pid_t got = waitpid(child->pid, &code, WNOHANG);
        if (got == child->pid || (got < 0 && errno != EINTR)) {
            close(child->fd);
            *child = (sk_child){.fd = -1};
            return got < 0 ? 0 : code;
        }
        sk_clock_sleep_ns(5000000);
    }
    kill(child->pid, SIGKILL);
    return sk_child_wait(child);
}
