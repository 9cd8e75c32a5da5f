/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_claim.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD 768 /* bytes of a claim, always: whoever reads sees all of it or the one before */

/* --- who --- */

static void read_line(const char *path, char *out, size_t capacity)
{
    FILE *file = fopen(path, "re");
    out[0] = '\0';
    if (file && !fgets(out, (int)capacity, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static void word(const char *name, char *out, size_t capacity)
{
    const char *value = getenv(name);
    snprintf(out, capacity, "%s", value ? value : "");
    for (char *c = out; *c; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
}

void sk_claim_self(sk_claim_holder *self)
{
    struct stat names;
    char job[32], task[24], again[16];
    *self = (sk_claim_holder){.pid = getpid(), .since_ms = sk_clock_wall_ms(), .total = -1};
    if (gethostname(self->host, sizeof self->host - 1) != 0)
        snprintf(self->host, sizeof self->host, "?");
    read_line("/proc/sys/kernel/random/boot_id", self->boot, sizeof self->boot);
    self->started = sk_process_started(self->pid);
    self->names = stat("/proc/self/ns/pid", &names) == 0 ? (int64_t)names.st_ino : 0;
    word("SLURM_ARRAY_JOB_ID", job, sizeof job);
    word("SLURM_ARRAY_TASK_ID", task, sizeof task);
    word("SLURM_RESTART_COUNT", again, sizeof again);
    if (job[0])
        snprintf(self->slurm, sizeof self->slurm, "%s_%s", job, task);
    self->slurm_again = (int32_t)strtol(again, NULL, 10);
}

/* --- files that come to be once --- */

/* link(2) may have done its work although NFS lost the answer and a second try said EEXIST: what counts is the number of names
 * that the file has. */
static int link_once(const char *temporary, const char *path)
{
    struct stat info;
    if (link(temporary, path) == 0)
        return 0;
    const int code = errno;
    return stat(temporary, &info) == 0 && info.st_nlink == 2 ? 0 : code;
}

static sk_status put(const char *path, const char *bytes, size_t length, int *keep, sk_error *err)
{
    static atomic_int count;
    char temporary[4500], host[72] = "";
    int file = -1;
    (void)gethostname(host, sizeof host - 1);
    snprintf(temporary, sizeof temporary, "%.4300s.%.64s.%lld.%d~", path, host, (long long)getpid(),
             atomic_fetch_add(&count, 1));
    SK_TRY(sk_file_open_own(temporary, O_RDWR | O_CREAT | O_TRUNC, &file, err));
    int code = pwrite(file, bytes, length, 0) == (ssize_t)length && fsync(file) == 0 ? 0
               : errno                                                               ? errno
                                                                                     : EIO;
    if (!code)
        code = link_once(temporary, path);
    (void)unlink(temporary);
    if (!code && keep)
        *keep = file;
    else
        close(file);
    if (code == EEXIST)
        return sk_fail(err, SK_ERR_BUSY, "%s: is there already", path);
    return code ? sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s%s", path, strerror(code),
                          sk_file_remedy(code))
                : SK_OK;
}

sk_status sk_claim_put(const char *path, const char *text, sk_error *err)
{
    return put(path, text, strlen(text), NULL, err);
}

/* --- claims --- */

static void write_record(const sk_claim_holder *h, char record[RECORD])
{
    memset(record, ' ', RECORD);
    const int n =
        snprintf(record, RECORD,
                 "host %s\nboot %s\npid %lld\nstarted %lld\nnames %lld\nchild %lld\nchild_started %lld\n"
                 "since_ms %lld\nround %lld\nslurm %s\nslurm_again %d\nframes %lld\ntotal %lld\n",
                 h->host, h->boot, (long long)h->pid, (long long)h->started, (long long)h->names,
                 (long long)h->child, (long long)h->child_started, (long long)h->since_ms,
                 (long long)h->round, h->slurm, h->slurm_again, (long long)h->frames, (long long)h->total);
    if (n > 0 && n < RECORD)
        record[n] = ' ';
    record[RECORD - 1] = '\n';
}

static void copy_field(const char *text, const char *key, char *out, size_t capacity)
{
    const size_t length = strlen(key);
    out[0] = '\0';
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == ' ') {
            const size_t n = strcspn(at + length + 1, "\n");
            snprintf(out, capacity, "%.*s", (int)(n < capacity ? n : capacity - 1), at + length + 1);
            return;
        }
}

static int64_t number_field(const char *text, const char *key)
{
    char number[32];
    copy_field(text, key, number, sizeof number);
    return strtoll(number, NULL, 10);
}

static void parse_record(const char *text, sk_claim_holder *h)
{
    *h = (sk_claim_holder){0};
    copy_field(text, "host", h->host, sizeof h->host);
    copy_field(text, "boot", h->boot, sizeof h->boot);
    copy_field(text, "slurm", h->slurm, sizeof h->slurm);
    h->pid = number_field(text, "pid");
    h->started = number_field(text, "started");
    h->names = number_field(text, "names");
    h->child = number_field(text, "child");
    h->child_started = number_field(text, "child_started");
    h->since_ms = number_field(text, "since_ms");
    h->round = number_field(text, "round");
    h->slurm_again = (int32_t)number_field(text, "slurm_again");
    h->frames = number_field(text, "frames");
    h->total = number_field(text, "total");
}

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

sk_status sk_claim_take(const char *path, int64_t round, sk_claim *claim, sk_error *err)
{
    char record[RECORD];
    struct flock lock = whole_file(F_WRLCK);
    *claim = (sk_claim){.file = -1};
    snprintf(claim->path, sizeof claim->path, "%s", path);
    sk_claim_self(&claim->holder);
    claim->holder.round = round;
    write_record(&claim->holder, record);
    SK_TRY(put(path, record, sizeof record, &claim->file, err));
    (void)fcntl(claim->file, F_OFD_SETLK, &lock); /* a help where there is such, no more */
    return SK_OK;
}

void sk_claim_beat(sk_claim *claim)
{
    char record[RECORD];
    if (claim->file < 0)
        return;
    if (claim->holder.child && !claim->holder.child_started)
        claim->holder.child_started = sk_process_started(claim->holder.child);
    write_record(&claim->holder, record);
    if (pwrite(claim->file, record, sizeof record, 0) == (ssize_t)sizeof record)
        (void)fdatasync(claim->file); /* NFS keeps writes back otherwise */
}

void sk_claim_close(sk_claim *claim)
{
    if (claim->file >= 0)
        close(claim->file);
    claim->file = -1;
}

/* What time it is where the file lies: machines' clocks differ. */
static int64_t server_ms(const char *path)
{
    char probe[4500];
    struct stat info;
    char *folder = sk_path_folder(path);
    int64_t now = sk_clock_wall_ms();
    if (!folder)
        return now;
    snprintf(probe, sizeof probe, "%.4300s/.clock.XXXXXX", folder);
    const int file = mkstemp(probe);
    if (file >= 0) {
        if (write(file, ".", 1) == 1 && fsync(file) == 0 && fstat(file, &info) == 0)
            now = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
        close(file);
        (void)unlink(probe);
    }
    sk_free(folder);
    return now;
}

static bool same_machine(const sk_claim_holder *a, const sk_claim_holder *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->boot, b->boot) == 0 && a->names == b->names;
}

bool sk_claim_read(const char *path, sk_claim_holder *holder)
{
    char text[RECORD + 1];
    struct stat info;
    sk_claim_holder self;
    struct flock lock = whole_file(F_WRLCK);
    int file =
        open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW); /* NFS asks its server anew when a file is opened */
    if (file < 0)
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return false;
    const ssize_t n = pread(file, text, RECORD, 0);
    text[n > 0 ? n : 0] = '\0';
    parse_record(text, holder);
    holder->locked = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    const bool known = fstat(file, &info) == 0;
    close(file);
    sk_claim_self(&self);
    if (known && !same_machine(holder, &self))
        holder->age_ms =
            server_ms(path) - ((int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000);
    return true;
}

bool sk_claim_is_gone(const sk_claim_holder *h, char why[128])
{
    sk_claim_holder self;
    sk_claim_self(&self);
    why[0] = '\0';
    if (h->slurm[0] && strcmp(h->slurm, self.slurm) == 0 && self.slurm_again > h->slurm_again) {
        snprintf(why, 128, "SLURM started task %s anew", h->slurm);
        return true;
    }
    if (same_machine(h, &self)) {
        if (h->started && sk_process_started(h->pid) == h->started)
            return false;
        snprintf(why, 128, "its worker, process %lld on %s, is gone", (long long)h->pid, h->host);
        return true;
    }
    const int64_t stale = (int64_t)SK_CLAIM_STALE * 1000 * (h->locked ? 10 : 1);
    if (h->age_ms <= stale)
        return false;
    snprintf(why, 128, "%s has given no sign of life for %lld s", h->host, (long long)(h->age_ms / 1000));
    return true;
}

void sk_claim_end_orphan(const sk_claim_holder *h)
{
    sk_claim_holder self;
    sk_claim_self(&self);
    if (!same_machine(h, &self) || h->child <= 1 || !h->child_started)
        return;
    for (int i = 0; i < 50 && sk_process_started(h->child) == h->child_started; i++) {
        (void)kill((pid_t)h->child, i < 40 ? SIGTERM : SIGKILL);
        sk_clock_sleep_ns(100000000);
    }
}
