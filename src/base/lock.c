/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open file description locks, not flock: they can be asked about without being taken, and not POSIX record
 * locks: those belong to the process and would not hold between two threads. */

struct sk_lock {
    int file;
    char *path;
};

#define POLL_NS (10 * 1000000ll)

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
}

static void read_command(char *command, size_t capacity)
{
    command[0] = '\0';
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t got = file ? fread(command, 1, capacity - 1, file) : 0;
    if (file)
        fclose(file);
    while (got > 0 && command[got - 1] == '\0')
        got--;
    command[got] = '\0';
    for (size_t i = 0; i < got; i++) {
        if ((unsigned char)command[i] < ' ')
            command[i] = ' ';
    }
}

/* Failing to leave a name is no reason to give the lock back. */
static void sign(int file)
{
    char command[256], host[72] = "", text[512];
    read_command(command, sizeof command);
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    int length = snprintf(text, sizeof text, "pid %lld\nsince_ms %" PRId64 "\nhost %s\ncommand %s\n",
                          (long long)getpid(), sk_clock_wall_ms(), host, command);
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)length, 0) != length)
        return;
}

/* Copies the rest of the line that starts with `key`. */
static void field(const char *text, const char *key, char *out, size_t capacity)
{
    const char *line = text;
    while (line && strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line)
        snprintf(out, capacity, "%.*s", (int)strcspn(line + strlen(key), "\n"), line + strlen(key));
}

static void read_holder(int file, sk_lock_holder *holder)
{
    char text[1024], number[32];
    *holder = (sk_lock_holder){0};
    /* Whoever took it this instant has perhaps not signed yet. */
    for (int i = 0; i < 10; i++) {
        ssize_t got = pread(file, text, sizeof text - 1, 0);
        text[got > 0 ? got : 0] = '\0';
        if (got > 0 && text[got - 1] == '\n')
            break;
        sk_clock_sleep_ns(1000000);
    }
    number[0] = '\0';
    field(text, "pid ", number, sizeof number);
    holder->pid = strtoll(number, NULL, 10);
    number[0] = '\0';
    field(text, "since_ms ", number, sizeof number);
    holder->since_ms = strtoll(number, NULL, 10);
    field(text, "host ", holder->host, sizeof holder->host);
    field(text, "command ", holder->command, sizeof holder->command);
}

static sk_status busy(const char *path, const sk_lock_holder *holder, sk_error *err)
{
    char since[SK_CLOCK_TEXT];
    if (holder->pid == 0)
        return sk_fail(err, SK_ERR_BUSY, "%s is locked by another process; wait for it or stop it", path);
    return sk_fail(err, SK_ERR_BUSY,
                   "%s is locked by process %lld on %s since %s (%s); wait for it or stop it", path,
                   (long long)holder->pid, holder->host, sk_clock_text(holder->since_ms, since, sizeof since),
                   holder->command);
}

static sk_status open_file(const char *path, int *file, sk_error *err)
{
    /* Its contents are overwritten: never those of what a link there points at. */
    sk_status status = sk_file_open_own(path, O_RDWR | O_CREAT, file, err);
    if (status != SK_OK)
        sk_error_prefix(err, "the lock file");
    return status;
}

/* A holder may have taken the file away (sk_lock_remove) between our opening it and our locking it: a lock on a file
 * that is no longer at the path excludes nobody. */
static bool still_there(const char *path, int file)
{
    struct stat ours, there;
    return fstat(file, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

sk_status sk_lock_open(const char *path, int64_t timeout_ms, sk_lock **out, sk_lock_holder *holder,
                       sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    sk_lock *lock = sk_calloc(1, sizeof *lock);
    if (!lock)
        return sk_fail_memory(err, sizeof *lock);
    lock->file = -1;
    lock->path = sk_strdup(path);
    if (!lock->path) {
        status = sk_fail_memory(err, strlen(path));
        goto done;
    }
    SK_TRY_GOTO(open_file(path, &lock->file, err));
    int64_t until = timeout_ms > 0 ? sk_clock_ns() + timeout_ms * 1000000 : 0;
    for (;;) {
        struct flock wanted = whole_file(F_WRLCK);
        if (fcntl(lock->file, F_OFD_SETLK, &wanted) == 0) {
            if (still_there(path, lock->file))
                break;
            close(lock->file);
            SK_TRY_GOTO(open_file(path, &lock->file, err));
            continue;
        }
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
            status = sk_fail(err, SK_ERR_IO, "%s: cannot be locked: %s; put it on a local disk", path,
                             strerror(errno));
            goto done;
        }
        if (timeout_ms == 0 || (timeout_ms > 0 && sk_clock_ns() >= until)) {
            sk_lock_holder who;
            read_holder(lock->file, &who);
            if (holder)
                *holder = who;
            status = busy(path, &who, err);
            goto done;
        }
        sk_clock_sleep_ns(POLL_NS);
    }
    sign(lock->file);
    *out = lock;
    lock = NULL;
done:
    if (lock) {
        if (lock->file >= 0)
            close(lock->file);
        sk_free(lock->path);
        sk_free(lock);
    }
    return status;
}

void sk_lock_remove(sk_lock **lock)
{
    if (lock && *lock)
        unlink((*lock)->path);
    sk_lock_close(lock);
}

void sk_lock_close(sk_lock **lock)
{
    SK_TAKE_OR_RETURN(l, lock);
    if (ftruncate(l->file, 0) != 0) {
        /* the name left behind is only read while the lock is taken */
    }
    close(l->file);
    sk_free_all(l->path, l);
}

sk_status sk_lock_query(const char *path, bool *taken, sk_lock_holder *holder, sk_error *err)
{
    *taken = false;
    if (holder)
        *holder = (sk_lock_holder){0};
    int file;
    sk_status status = sk_file_open_own(path, O_RDONLY, &file, err); /* asking needs no right to write */
    if (status == SK_ERR_NOT_FOUND)
        return SK_OK;
    if (status != SK_OK) {
        sk_error_prefix(err, "the lock file");
        return status;
    }
    struct flock found = whole_file(F_WRLCK);
    if (fcntl(file, F_OFD_GETLK, &found) != 0)
        status = sk_fail(err, SK_ERR_IO, "%s: cannot be asked about: %s", path, strerror(errno));
    else
        *taken = found.l_type != F_UNLCK;
    if (*taken && holder)
        read_holder(file, holder);
    close(file);
    return status;
}
