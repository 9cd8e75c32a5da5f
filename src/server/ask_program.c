/* SPDX-License-Identifier: Apache-2.0 */
#include "server/ask_program.h"

#include "base/clock.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS = 3 }; /* out, err, events: descriptors 1, 2 and 3 of the child */
#define ABOVE 10   /* … which ours are above */

void sk_program_answer_free(sk_program_answer *answer)
{
    sk_text_free(&answer->out);
    sk_text_free(&answer->err);
    sk_text_free(&answer->events);
}

/* Pipes whose descriptors are above those that the child gets, so that none is in the way of another. */
static bool open_pipes(int read_ends[ENDS], int write_ends[ENDS])
{
    for (int i = 0; i < ENDS; i++)
        read_ends[i] = write_ends[i] = -1;
    for (int i = 0; i < ENDS; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return false;
        read_ends[i] = fcntl(ends[0], F_DUPFD_CLOEXEC, ABOVE);
        write_ends[i] = fcntl(ends[1], F_DUPFD_CLOEXEC, ABOVE);
        close(ends[0]);
        close(ends[1]);
        if (read_ends[i] < 0 || write_ends[i] < 0)
            return false;
    }
    return true;
}

static void close_all(const int ends[ENDS])
{
    for (int i = 0; i < ENDS; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* Until all three are closed by the child. */
static sk_status listen(int ends[ENDS], int64_t until_ns, sk_text *const texts[ENDS], sk_error *err)
{
    char buffer[16384];
    for (int left = ENDS; left > 0;) {
        struct pollfd polled[ENDS];
        const int64_t wait_ms = (until_ns - sk_clock_ns()) / 1000000;
        for (int i = 0; i < ENDS; i++)
            polled[i] = (struct pollfd){.fd = ends[i], .events = POLLIN};
        if (wait_ms <= 0)
            return sk_fail(err, SK_ERR_TIMEOUT, "no answer came in time");
        if (poll(polled, ENDS, (int)wait_ms) < 0 && errno != EINTR)
            return sk_fail(err, SK_ERR_IO, "the answer cannot be read: %s", strerror(errno));
        for (int i = 0; i < ENDS; i++) {
            if (ends[i] < 0 || !polled[i].revents)
                continue;
            const ssize_t n = read(ends[i], buffer, sizeof buffer);
            if (n > 0) {
                sk_text_append_bytes(texts[i], buffer, (size_t)n);
            } else if (n == 0 || errno != EINTR) {
                close(ends[i]);
                ends[i] = -1;
                left--;
            }
        }
        SK_TRY(sk_text_status(texts[0], err));
    }
    return SK_OK;
}

sk_status sk_program_ask(const char *program, char *const *words, int32_t limit_ms, size_t most,
                         _Atomic int64_t *pid, sk_program_answer *answer, sk_error *err)
{
    int read_ends[ENDS], write_ends[ENDS];
    pid_t child = 0;
    sk_text *const texts[ENDS] = {&answer->out, &answer->err, &answer->events};
    const bool piped = open_pipes(read_ends, write_ends);
    const sk_spawn wish = {.program = program,
                           .words = words,
                           .files = {SK_SPAWN_NULL, write_ends[0], write_ends[1], write_ends[2]}};
    const int code = piped ? sk_spawn_start(&wish, &child) : errno;
    for (int i = 0; i < ENDS; i++)
        texts[i]->limit = most;
    close_all(write_ends);
    if (code) {
        close_all(read_ends);
        return sk_fail(err, SK_ERR_RUNTIME, "the program could not be started: %s", strerror(code));
    }
    if (pid)
        atomic_store(pid, child);
    const sk_status status = listen(read_ends, sk_clock_ns() + (int64_t)limit_ms * 1000000, texts, err);
    if (status != SK_OK)
        (void)kill(child, SIGKILL);
    close_all(read_ends);
    while (waitpid(child, &answer->status, 0) < 0 && errno == EINTR) {
    }
    if (pid)
        atomic_store(pid, 0);
    return status;
}
