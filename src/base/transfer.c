/* SPDX-License-Identifier: Apache-2.0 */
#include "base/transfer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Those that write only read from `at`. */
typedef ssize_t mover(int file, char *at, size_t bytes, int64_t offset);

static size_t move_all(mover *move, int file, const void *data, size_t bytes, int64_t offset)
{
    char *at = (char *)(uintptr_t)data;
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = move(file, at + done, bytes - done, offset + (int64_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static ssize_t move_read(int file, char *at, size_t bytes, int64_t offset)
{
    (void)offset;
    return read(file, at, bytes);
}

static ssize_t move_pread(int file, char *at, size_t bytes, int64_t offset)
{
    return pread(file, at, bytes, (off_t)offset);
}

static ssize_t move_pwrite(int file, char *at, size_t bytes, int64_t offset)
{
    return pwrite(file, at, bytes, (off_t)offset);
}

static ssize_t move_send(int file, char *at, size_t bytes, int64_t offset)
{
    (void)offset;
    return send(file, at, bytes, MSG_NOSIGNAL);
}

size_t sk_read_all(int file, void *data, size_t bytes)
{
    return move_all(move_read, file, data, bytes, 0);
}

size_t sk_read_all_at(int file, void *data, size_t bytes, int64_t offset)
{
    return move_all(move_pread, file, data, bytes, offset);
}

size_t sk_write_all_at(int file, const void *data, size_t bytes, int64_t offset)
{
    return move_all(move_pwrite, file, data, bytes, offset);
}

size_t sk_send_all(int socket, const void *data, size_t bytes)
{
    return move_all(move_send, socket, data, bytes, 0);
}
