/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim asks of the system, call by call, on file systems that are not as this one: an answer that is lost, a disk that is full, a
 * server with a clock of its own; and which processes are ended in what order. Nothing is killed here: it is written down. */
#include "support/test.h"

#include "app/batch_claim.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))

static sk_error err;

/* --- the system --- */

static bool answer_is_lost;                     /* of link(2), which did its work */
static int link_fails, fsync_fails, write_ends; /* with this number; -1: after a part, without a number */
static int n_fsync, n_fdatasync;
static int64_t server_ahead_s; /* the clock of where files lie */

OURS int link(const char *from, const char *to)
{
    if (link_fails) {
        errno = link_fails;
        return -1;
    }
    const int answer = linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
    if (answer == 0 && answer_is_lost) {
        errno = EEXIST;
        return -1;
    }
    return answer;
}

OURS int fsync(int file)
{
    (void)file;
    n_fsync++;
    errno = fsync_fails;
    return fsync_fails ? -1 : 0;
}

OURS int fdatasync(int file)
{
    (void)file;
    n_fdatasync++;
    return 0;
}

OURS ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
    if (write_ends) {
        errno = write_ends > 0 ? write_ends : 0;
        return write_ends > 0 ? -1 : (ssize_t)count / 2;
    }
    return syscall(SYS_pwrite64, file, bytes, count, at);
}

typedef int look_at(int file, struct stat *out);

OURS int fstat(int file, struct stat *out)
{
    static look_at *real;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "fstat");
        memcpy(&real, &symbol, sizeof real);
    }
    const int answer = real(file, out);
    if (answer == 0)
        out->st_mtim.tv_sec += server_ahead_s;
    return answer;
}

typedef struct sent {
    pid_t to;
    int signal;
} sent;
static sent signals[64];
static int n_signals, n_naps;

OURS int kill(pid_t to, int signal)
{
    if (n_signals < 64)
        signals[n_signals] = (sent){to, signal};
    n_signals++;
    return 0;
}

OURS int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    assert_true(wanted->tv_sec == 0 && wanted->tv_nsec == 100000000);
    n_naps++;
    return 0;
}

/* --- files that come to be once --- */

/* How many files lie in the current folder. */
static int files_here(void)
{
    int n = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (const struct dirent *e; (e = readdir(folder));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(folder);
    return n;
}

static int descriptors(void)
{
    int n = 0;
    DIR *open_ones = opendir("/proc/self/fd");
    while (readdir(open_ones))
        n++;
    closedir(open_ones);
    return n;
}

static void an_answer_that_is_lost(void **state)
{
    (void)state;
    sk_claim claim;
    const int before = files_here(), open_before = descriptors();
    answer_is_lost = true; /* the server did it, and a second try found it done */
    assert_ok(sk_claim_put("lost.done", "mine", &err), &err);
    assert_int_equal(descriptors(), open_before);
    assert_ok(sk_claim_take("lost.claim", 1, &claim, &err), &err);
    answer_is_lost = false;
    assert_int_equal(files_here(), before + 2); /* by these names alone */
    assert_true(claim.file >= 0 && descriptors() == open_before + 1);
    assert_string_equal(claim.path, "lost.claim");
    assert_int_equal(sk_claim_put("lost.done", "other", &err), SK_ERR_BUSY);
    assert_string_equal(err.message, "lost.done: is there already");
    sk_claim_close(&claim);
    assert_int_equal(sk_claim_take("lost.claim", 1, &claim, &err), SK_ERR_BUSY);
    assert_int_equal(claim.file, -1);
    assert_int_equal(files_here(), before + 2);
    assert_int_equal(descriptors(), open_before);
}

/* Whole and on the disk, or not at all. */
static void what_cannot_be_written(void **state)
{
    (void)state;
    static const struct {
        int link, sync, ends;
        const char *words;
    } rows[] = {
        {EPERM, 0, 0, "full.done: cannot be written: Operation not permitted"},
        {0, EIO, 0, "full.done: cannot be written: Input/output error"},
        {0, ENOSPC, 0, "full.done: cannot be written: No space left on device. What was done before is kept"},
        {0, 0, ENOSPC, "full.done: cannot be written: No space left on device. What was done before is kept"},
        {0, 0, -1, "full.done: cannot be written: Input/output error"}};
    const int before = files_here(), open_before = descriptors();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_claim claim;
        link_fails = rows[i].link, fsync_fails = rows[i].sync, write_ends = rows[i].ends;
        assert_int_equal(sk_claim_put("full.done", "text", &err), SK_ERR_IO);
        if (strncmp(err.message, rows[i].words, strlen(rows[i].words)) != 0)
            fail_msg("%zu: %s", i, err.message);
        assert_int_equal(sk_claim_take("full.claim", 1, &claim, &err), SK_ERR_IO);
        assert_int_equal(claim.file, -1);
        link_fails = fsync_fails = write_ends = 0;
        assert_int_equal(files_here(), before);
        assert_int_equal(descriptors(), open_before);
    }
    n_fsync = 0;
    assert_ok(sk_claim_put("full.done", "text", &err), &err);
    assert_int_equal(n_fsync, 1);
}

/* Each sign of life goes to the disk's keeper; one that could not be written does not. */
static void signs_of_life(void **state)
{
    (void)state;
    sk_claim claim;
    assert_ok(sk_claim_take("alive.claim", 1, &claim, &err), &err);
    n_fdatasync = 0;
    sk_claim_beat(&claim);
    sk_claim_beat(&claim);
    assert_int_equal(n_fdatasync, 2);
    write_ends = ENOSPC;
    sk_claim_beat(&claim);
    write_ends = 0;
    assert_int_equal(n_fdatasync, 2);
    sk_claim_close(&claim);
    sk_claim_beat(&claim);
    assert_int_equal(n_fdatasync, 2);
}

/* When its process began is asked once, and stays known when it is gone. */
static void what_it_had_started(void **state)
{
    (void)state;
    sk_claim claim;
    sk_claim_holder holder;
    assert_ok(sk_claim_take("started.claim", 1, &claim, &err), &err);
    claim.holder.child = getpid();
    sk_claim_beat(&claim);
    assert_int_equal(claim.holder.child_started, sk_process_started(getpid()));
    claim.holder.child = INT32_MAX; /* there is none of this number */
    claim.holder.child_started = 5;
    sk_claim_beat(&claim);
    sk_claim_close(&claim);
    assert_true(sk_claim_read("started.claim", &holder));
    assert_true(holder.child == INT32_MAX && holder.child_started == 5);
}

/* A process that was started without a standard input gets its number for a file. */
static void without_standard_input(void **state)
{
    (void)state;
    sk_claim claim;
    sk_claim_holder holder;
    const int input = dup(0), before = files_here();
    close(0);
    const sk_status status = sk_claim_take("zero.claim", 1, &claim, &err);
    snprintf(claim.holder.host, sizeof claim.holder.host, "far-away");
    claim.holder.frames = 12;
    n_fdatasync = 0;
    sk_claim_beat(&claim);
    const int file = claim.file, beats = n_fdatasync, left = (sk_claim_close(&claim), fcntl(0, F_GETFD));
    server_ahead_s = 7200;
    const bool known = sk_claim_read("zero.claim", &holder);
    server_ahead_s = 0;
    const int left_by_reader = fcntl(0, F_GETFD);
    if (input >= 0)
        assert_int_equal(dup2(input, 0) | close(input), 0);
    assert_int_equal(status, SK_OK);
    assert_true(file == 0 && beats == 1 && left == -1 && left_by_reader == -1);
    assert_true(known && holder.frames == 12 && holder.age_ms < 60000 && holder.age_ms > -2000);
    assert_int_equal(files_here(), before + 1);
}

/* --- ages --- */

/* By the server's clock, whatever it shows: it is asked with a file that is gone afterwards. */
static void a_server_with_another_clock(void **state)
{
    (void)state;
    static const int64_t ahead[] = {0, 7200, -7200};
    sk_claim claim;
    sk_claim_holder holder;
    assert_ok(sk_claim_take("server.claim", 1, &claim, &err), &err);
    snprintf(claim.holder.host, sizeof claim.holder.host, "far-away");
    sk_claim_beat(&claim);
    sk_claim_close(&claim);
    const int before = files_here(), open_before = descriptors();
    for (int i = 0; i < 3; i++) {
        server_ahead_s = ahead[i];
        n_fsync = 0;
        assert_true(sk_claim_read("server.claim", &holder));
        assert_true(holder.age_ms > -2000 && holder.age_ms < 60000);
        assert_int_equal(n_fsync, 1);
        /* where nothing can be written there, our own clock is all there is */
        fsync_fails = EIO;
        assert_true(sk_claim_read("server.claim", &holder));
        fsync_fails = 0;
        assert_true(holder.age_ms > -2000 - 1000 * ahead[i] && holder.age_ms < 60000 - 1000 * ahead[i]);
        server_ahead_s = 0;
        assert_int_equal(files_here(), before);
        assert_int_equal(descriptors(), open_before);
    }
}

/* One that may only be read is read all the same. */
static void a_claim_of_somebody_else(void **state)
{
    (void)state;
    sk_claim claim;
    int status = 0;
    assert_ok(sk_claim_take("readable.claim", 9, &claim, &err), &err);
    sk_claim_close(&claim);
    assert_int_equal(chmod(test_folder(), 0755) | chmod("readable.claim", 0444), 0);
    const pid_t child = fork();
    if (child == 0) {
        sk_claim_holder holder;
        const bool other = getuid() != 0 || setuid(65534) == 0;
        _exit(!other ? 0 : sk_claim_read("readable.claim", &holder) && holder.round == 9 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Fields that are longer than there is room for are cut, others are whole. */
static void long_words(void **state)
{
    (void)state;
    sk_claim_holder h;
    for (int n = 70; n < 74; n++) {
        char text[256], host[80];
        memset(host, 'h', sizeof host);
        host[n] = '\0';
        snprintf(text, sizeof text, "pid 5\nhost %s\nboot b\n", host);
        assert_ok(sk_file_replace("long.claim", text, strlen(text), &err), &err);
        assert_true(sk_claim_read("long.claim", &h));
        assert_int_equal(strlen(h.host), n < 71 ? n : 71);
        assert_int_equal(strspn(h.host, "h"), strlen(h.host));
        assert_true(h.pid == 5 && strcmp(h.boot, "b") == 0);
    }
}

/* --- who is ended --- */

/* Forty times in order, then ten times at once, for at most five seconds; nobody else ever. */
static void orphans(void **state)
{
    (void)state;
    sk_claim_holder h;
    sk_claim_self(&h);
    h.child = h.pid; /* one that does not go */
    h.child_started = h.started;
    n_signals = n_naps = 0;
    sk_claim_end_orphan(&h);
    assert_true(n_signals == 50 && n_naps == 50);
    for (int i = 0; i < 50; i++)
        assert_true(signals[i].to == getpid() && signals[i].signal == (i < 40 ? SIGTERM : SIGKILL));
    n_signals = n_naps = 0;
    for (int i = 0; i < 5; i++) {
        sk_claim_holder other = h;
        other.child = i == 0 ? 1 : i == 1 ? 0 : i == 2 ? -1 : h.child;
        other.child_started = i == 0   ? sk_process_started(1)
                              : i == 3 ? 0
                              : i == 4 ? h.started + 1
                                       : h.child_started;
        sk_claim_end_orphan(&other);
    }
    assert_true(n_signals == 0 && n_naps == 0);
}

/* Another task of the same job, or the same one started as often, is none that SLURM started anew. */
static void tasks_of_slurm(void **state)
{
    (void)state;
    static const struct {
        const char *slurm;
        int32_t again;
        bool gone;
    } rows[] = {
        {"12_3", 1, true}, {"12_3", 2, false}, {"12_3", 3, false}, {"12_4", 1, false}, {"", 1, false}};
    assert_int_equal(setenv("SLURM_ARRAY_JOB_ID", "12", 1) | setenv("SLURM_ARRAY_TASK_ID", "3", 1) |
                         setenv("SLURM_RESTART_COUNT", "2", 1),
                     0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_claim_holder h = {.host = "far-away", .slurm_again = rows[i].again};
        char why[128];
        snprintf(h.slurm, sizeof h.slurm, "%s", rows[i].slurm);
        assert_int_equal(sk_claim_is_gone(&h, why), rows[i].gone);
        assert_string_equal(why, rows[i].gone ? "SLURM started task 12_3 anew" : "");
    }
    assert_int_equal(unsetenv("SLURM_ARRAY_JOB_ID"), 0);
    sk_claim_holder self, h = {.host = "far-away"};
    char why[128];
    sk_claim_self(&self); /* outside of a job there is no task, whatever else is said */
    assert_string_equal(self.slurm, "");
    assert_false(sk_claim_is_gone(&h, why));
    assert_int_equal(setenv("SLURM_RESTART_COUNT", "12", 1), 0);
    sk_claim_self(&self);
    assert_int_equal(self.slurm_again, 12);
    assert_int_equal(unsetenv("SLURM_ARRAY_TASK_ID") | unsetenv("SLURM_RESTART_COUNT"), 0);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_is_lost),
        cmocka_unit_test(what_cannot_be_written),
        cmocka_unit_test(signs_of_life),
        cmocka_unit_test(what_it_had_started),
        cmocka_unit_test(without_standard_input),
        cmocka_unit_test(a_server_with_another_clock),
        cmocka_unit_test(a_claim_of_somebody_else),
        cmocka_unit_test(long_words),
        cmocka_unit_test(orphans),
        cmocka_unit_test(tasks_of_slurm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
