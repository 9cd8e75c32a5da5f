/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_CLI_TERMINAL_H
#define SK_TESTS_CLI_TERMINAL_H

/* A terminal of the test's own in place of standard output or standard error, and what was written to it. */
#include "said.h"

#include <fcntl.h>
#include <termios.h>

typedef struct terminal {
    int master, own, fd;
    char text[4096];
} terminal;

static inline void terminal_begin(terminal *t, int fd)
{
    struct termios how;
    fflush(fd == 1 ? stdout : stderr);
    t->fd = fd;
    t->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (t->master < 0 || grantpt(t->master) != 0 || unlockpt(t->master) != 0)
        abort();
    const int slave = open(ptsname(t->master), O_RDWR | O_NOCTTY);
    if (slave < 0 || tcgetattr(slave, &how) != 0)
        abort();
    cfmakeraw(&how); /* bytes as they are written */
    t->own = dup(fd);
    if (tcsetattr(slave, TCSANOW, &how) != 0 || t->own < 0 || dup2(slave, fd) < 0)
        abort();
    close(slave);
}

/* What is written must fit into what the system keeps: some thousand bytes. */
static inline void terminal_end(terminal *t)
{
    size_t length = 0;
    fflush(t->fd == 1 ? stdout : stderr);
    if (write(t->fd, "", 1) != 1) /* a zero says that all has been read */
        abort();
    do {
        const ssize_t n = read(t->master, t->text + length, sizeof t->text - 1 - length);
        if (n <= 0)
            abort();
        length += (size_t)n;
    } while (t->text[length - 1] != '\0' && length < sizeof t->text - 1);
    t->text[length] = '\0';
    if (dup2(t->own, t->fd) < 0)
        abort();
    close(t->own);
    close(t->master);
}

#endif
