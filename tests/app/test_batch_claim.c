/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_claim.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Claims: one of many has it; who is gone is known to be gone, and who is not is left alone. */

static char folder[64];

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/skitter-claim-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    sk_folder_empty_own(folder, NULL);
    return 0;
}

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Eight processes want the same forty files: each is had once. */
static void test_one_of_many(void **state)
{
    (void)state;
    enum { PROCESSES = 8, FILES = 40 };
    pid_t children[PROCESSES];
    int had = 0;
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            int mine = 0;
            for (int k = 0; k < FILES; k++) {
                char name[32];
                sk_claim claim;
                snprintf(name, sizeof name, "%d.claim", k);
                mine += sk_claim_take(path_of(name), 1, &claim, NULL) == SK_OK;
                sk_claim_close(&claim);
            }
            _exit(mine);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        had += WEXITSTATUS(status);
    }
    assert_int_equal(had, FILES);
}

static void test_put_once(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    assert_int_equal(sk_claim_put(path_of("a.done"), "first", &err), SK_OK);
    assert_int_equal(sk_claim_put(path_of("a.done"), "second", &err), SK_ERR_BUSY);
    assert_int_equal(sk_file_read(path_of("a.done"), 100, &text, &bytes, &err), SK_OK);
    assert_string_equal(text, "first");
    sk_free(text);
    assert_int_equal(sk_claim_put("/nowhere/at/all.done", "x", &err), SK_ERR_NOT_FOUND);
}

static void test_alive_and_gone(void **state)
{
    (void)state;
    sk_claim_holder holder;
    char why[128];
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        sk_claim claim;
        if (sk_claim_take(path_of("b.claim"), 3, &claim, NULL) != SK_OK)
            _exit(1);
        claim.holder.frames = 17;
        sk_claim_beat(&claim);
        (void)!write(pipes[1], "x", 1);
        pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_true(sk_claim_read(path_of("b.claim"), &holder));
    assert_int_equal(holder.pid, child);
    assert_int_equal(holder.round, 3);
    assert_int_equal(holder.frames, 17);
    assert_false(sk_claim_is_gone(&holder, why));
    kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    assert_true(sk_claim_read(path_of("b.claim"), &holder));
    assert_true(sk_claim_is_gone(&holder, why));
    assert_non_null(strstr(why, "is gone"));
    assert_false(sk_claim_read(path_of("none.claim"), &holder));
    close(pipes[0]);
    close(pipes[1]);
}

/* Of another machine: by the age of the file; while its lock is held ten times as long. */
static void test_elsewhere(void **state)
{
    (void)state;
    sk_claim claim;
    sk_claim_holder holder;
    char why[128];
    assert_int_equal(sk_claim_take(path_of("c.claim"), 1, &claim, NULL), SK_OK);
    snprintf(claim.holder.host, sizeof claim.holder.host, "far-away");
    sk_claim_beat(&claim);
    assert_true(sk_claim_read(path_of("c.claim"), &holder));
    assert_true(holder.locked);
    assert_in_range(holder.age_ms + 5000, 0, 10000);
    assert_false(sk_claim_is_gone(&holder, why));
    struct timespec old[2] = {{.tv_sec = time(NULL) - 2 * SK_CLAIM_STALE},
                              {.tv_sec = time(NULL) - 2 * SK_CLAIM_STALE}};
    assert_int_equal(utimensat(AT_FDCWD, path_of("c.claim"), old, 0), 0);
    assert_true(sk_claim_read(path_of("c.claim"), &holder));
    assert_false(sk_claim_is_gone(&holder, why)); /* its lock is held: it lives */
    sk_claim_close(&claim);
    assert_true(sk_claim_read(path_of("c.claim"), &holder));
    assert_false(holder.locked);
    assert_true(sk_claim_is_gone(&holder, why));
    assert_non_null(strstr(why, "far-away has given no sign of life"));
    old[0].tv_sec = old[1].tv_sec =
        time(NULL) + 3600; /* a clock that runs ahead is no reason to wait for ever, nor to take */
    assert_int_equal(utimensat(AT_FDCWD, path_of("c.claim"), old, 0), 0);
    assert_true(sk_claim_read(path_of("c.claim"), &holder));
    assert_false(sk_claim_is_gone(&holder, why));
}

/* The same task of SLURM, started anew after its node failed: at once. */
static void test_slurm_again(void **state)
{
    (void)state;
    sk_claim claim;
    sk_claim_holder holder;
    char why[128];
    setenv("SLURM_ARRAY_JOB_ID", "12", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    assert_int_equal(sk_claim_take(path_of("d.claim"), 1, &claim, NULL), SK_OK);
    snprintf(claim.holder.host, sizeof claim.holder.host, "node1");
    sk_claim_beat(&claim);
    sk_claim_close(&claim);
    assert_true(sk_claim_read(path_of("d.claim"), &holder));
    assert_string_equal(holder.slurm, "12_3");
    assert_false(sk_claim_is_gone(&holder, why));
    setenv("SLURM_RESTART_COUNT", "1", 1);
    assert_true(sk_claim_is_gone(&holder, why));
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    unsetenv("SLURM_RESTART_COUNT");
}

/* Who somebody is, as this machine says it; words of the cluster's without blanks, which would end a line's value. */
static void test_self(void **state)
{
    (void)state;
    sk_claim_holder self;
    char host[64] = "", boot[64] = "";
    struct stat names;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!file)
        skip();
    assert_non_null(fgets(boot, sizeof boot, file));
    fclose(file);
    boot[strcspn(boot, "\n")] = '\0';
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_int_equal(stat("/proc/self/ns/pid", &names), 0);
    setenv("SLURM_ARRAY_JOB_ID", "1 2", 1);
    setenv("SLURM_ARRAY_TASK_ID", "x\ny", 1);
    setenv("SLURM_RESTART_COUNT", "4", 1);
    const int64_t before = sk_clock_wall_ms();
    sk_claim_self(&self);
    assert_true(self.since_ms >= before && self.since_ms <= before + 60000);
    assert_string_equal(self.host, host);
    assert_string_equal(self.boot, boot);
    assert_string_equal(self.slurm, "1_2_x_y");
    assert_true(self.slurm_again == 4 && self.pid == getpid() && self.started > 0 && self.total == -1);
    assert_true(self.names == (int64_t)names.st_ino && self.child == 0 && self.frames == 0);
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    unsetenv("SLURM_RESTART_COUNT");
    sk_claim_self(&self);
    assert_true(self.slurm[0] == '\0' && self.slurm_again == 0);
}

/* A claim is as long as ever, text to its end, and says all of its holder; what it does not say is nothing. */
static void test_record(void **state)
{
    (void)state;
    sk_claim claim;
    sk_claim_holder got;
    sk_error err;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(sk_claim_take(path_of("h.claim"), 5, &claim, NULL), SK_OK);
    sk_claim_holder *h = &claim.holder;
    h->child = getpid(); /* whose start is then found out */
    h->frames = 1234567890123;
    h->total = 4567890123456;
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_file_read(path_of("h.claim"), 4096, &text, &length, &err), &err);
        assert_int_equal(length, 768);
        assert_int_equal(strlen(text), 768);
        assert_true(text[767] == '\n' && text[766] == ' ' && strncmp(text, "host ", 5) == 0);
        sk_free(text);
        assert_true(sk_claim_read(path_of("h.claim"), &got));
        assert_true(got.frames == (i ? h->frames : 0) && got.total == (i ? h->total : -1));
        assert_true(got.child == (i ? getpid() : 0) && got.child_started == (i ? h->started : 0));
        assert_true(got.pid == h->pid && got.started == h->started && got.names == h->names &&
                    got.since_ms == h->since_ms && got.round == 5 && got.slurm_again == 0);
        assert_string_equal(got.host, h->host);
        assert_string_equal(got.boot, h->boot);
        assert_int_equal(got.age_ms, 0); /* of this machine: that it lives is known otherwise */
        sk_claim_beat(&claim);
    }
    sk_claim_close(&claim);
    assert_int_equal(claim.file, -1);
    sk_claim_beat(&claim); /* nothing to write to */
    static const char few[] = "pid 77\nchild 99\nchildish 3\n";
    assert_ok(sk_file_replace(path_of("h.claim"), few, sizeof few - 1, &err), &err);
    assert_true(sk_claim_read(path_of("h.claim"), &got));
    assert_true(got.pid == 77 && got.child == 99);
    assert_true(got.started == 0 && got.names == 0 && got.child_started == 0 && got.since_ms == 0 &&
                got.round == 0 && got.slurm_again == 0 && got.frames == 0 && got.total == 0);
    assert_true(got.host[0] == '\0' && got.boot[0] == '\0' && got.slurm[0] == '\0');
}

/* Whatever somebody left there. */
static void test_rubbish(void **state)
{
    (void)state;
    sk_claim_holder holder;
    char why[128];
    static const char *const texts[] = {"", "host", "host \n\n\npid 99999999999999999999999\nslurm_again x\n",
                                        "pid -1\nstarted 0\nchild 1\nchild_started 5\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(sk_file_replace(path_of("e.claim"), texts[i], strlen(texts[i]), NULL), SK_OK);
        assert_true(sk_claim_read(path_of("e.claim"), &holder));
        (void)sk_claim_is_gone(&holder, why);
        sk_claim_end_orphan(&holder);
    }
    assert_int_equal(mkdir(path_of("f.claim"), 0777), 0);
    (void)sk_claim_read(path_of("f.claim"), &holder);
    assert_int_equal(rmdir(path_of("f.claim")), 0);
    assert_int_equal(symlink("/etc/passwd", path_of("g.claim")), 0);
    assert_false(sk_claim_read(path_of("g.claim"), &holder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_many),    cmocka_unit_test(test_put_once),
        cmocka_unit_test(test_alive_and_gone), cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_slurm_again),    cmocka_unit_test(test_rubbish),
        cmocka_unit_test(test_self),           cmocka_unit_test(test_record)};
    return cmocka_run_group_tests(tests, begin, end);
}
