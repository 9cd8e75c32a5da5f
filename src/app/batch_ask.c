/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_slurm.h"

#include "base/clock.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS  ((int64_t)60 * 1000000000)
#define PRINTED_MOST ((size_t)256 << 20)

static bool open_pipe(int ends[2])
{
    int high;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    if ((high = fcntl(ends[1], F_DUPFD_CLOEXEC, 10)) < 0)
        return false;
    close(ends[1]);
    ends[1] = high;
    return true;
}

static void close_all(int *files, int n)
{
    for (int i = 0; i < n; i++)
        if (files[i] >= 0)
            close(files[i]);
}

/* Both pipes until both end; false: not in time. */
static bool hear(int files[2], sk_text *texts[2])
{
    const int64_t until = sk_clock_ns() + PATIENCE_NS;
    char bytes[16384];
    while (files[0] >= 0 || files[1] >= 0) {
        struct pollfd ends[2] = {{.fd = files[0], .events = POLLIN}, {.fd = files[1], .events = POLLIN}};
        if (sk_clock_ns() > until)
            return false;
        (void)poll(ends, 2, 200);
        for (int i = 0; i < 2; i++) {
            if (files[i] < 0 || !(ends[i].revents & (POLLIN | POLLHUP | POLLERR)))
                continue;
            const ssize_t n = read(files[i], bytes, sizeof bytes);
            if (n > 0 && texts[i]->length < PRINTED_MOST)
                sk_text_append_bytes(texts[i], bytes, (size_t)n);
            if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
                close(files[i]);
                files[i] = -1;
            }
        }
    }
    return true;
}

sk_status sk_batch_ask(const char *const *words, sk_text *printed, sk_text *complained, int *code,
                       sk_error *err)
{
    int out[2] = {-1, -1}, bad[2] = {-1, -1}, status = 0;
    pid_t pid = 0;
    sk_text_clear(printed);
    sk_text_clear(complained);
    *code = -1;
    if (!open_pipe(out) || !open_pipe(bad)) {
        const int why = errno;
        close_all(out, 2);
        close_all(bad, 2);
        return sk_fail(err, SK_ERR_IO, "a pipe cannot be opened: %s", strerror(why));
    }
    const sk_spawn wish = {.program = words[0],
                           .words = (char *const *)(uintptr_t)words, /* posix_spawn does not change them */
                           .files = {SK_SPAWN_NULL, out[1], bad[1], SK_SPAWN_KEEP},
                           .own_session = true};
    const int problem = sk_spawn_start(&wish, &pid);
    close(out[1]);
    close(bad[1]);
    int files[2] = {out[0], bad[0]};
    sk_text *texts[2] = {printed, complained};
    if (problem) {
        close_all(files, 2);
        return sk_fail(err, problem == ENOENT ? SK_ERR_NOT_FOUND : SK_ERR_IO, "%s cannot be started: %s",
                       words[0], strerror(problem));
    }
    const bool heard = hear(files, texts);
    if (!heard) {
        (void)kill(pid, SIGKILL);
        close_all(files, 2);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!heard)
        return sk_fail(err, SK_ERR_TIMEOUT, "%s has not answered for a minute", words[0]);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    SK_TRY(sk_text_status(printed, err));
    return sk_text_status(complained, err);
}
