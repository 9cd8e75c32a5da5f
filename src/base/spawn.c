/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Handlers and masks of the program skitter is part of must not reach into the child. */
static int reset(posix_spawnattr_t *how, bool own_session)
{
    static const int plain[] = {SIGINT,  SIGTERM, SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                SIGABRT, SIGTRAP, SIGCHLD, SIGPIPE, SIGHUP, SIGQUIT};
    sigset_t defaults, none;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        sigaddset(&defaults, plain[i]);
    int code = posix_spawnattr_setsigdefault(how, &defaults);
    code = code ? code : posix_spawnattr_setsigmask(how, &none);
    const int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (own_session ? POSIX_SPAWN_SETSID : 0);
    return code ? code : posix_spawnattr_setflags(how, (short)flags);
}

/* Ours first, from 0 up: a place that /dev/null or a later one takes may be one of them. */
static int give(posix_spawn_file_actions_t *actions, const int files[SK_SPAWN_FILES])
{
    int code = 0;
    for (int i = 0; i < SK_SPAWN_FILES && !code; i++)
        if (files[i] >= 0)
            code = posix_spawn_file_actions_adddup2(actions, files[i], i);
    for (int i = 0; i < SK_SPAWN_FILES && !code; i++)
        if (files[i] == SK_SPAWN_NULL)
            code = posix_spawn_file_actions_addopen(actions, i, "/dev/null",
                                                    i == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    return code;
}

int sk_spawn_start(const sk_spawn *wish, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int code = give(&actions, wish->files);
    code = code ? code : reset(&how, wish->own_session);
    code = code ? code : posix_spawnp(pid, wish->program, &actions, &how, wish->words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int64_t sk_process_started(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *at = strrchr(text, ')');                      /* the name may hold anything */
    if (at && (at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')) /* dead, and not yet waited for */
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}
