/* SPDX-License-Identifier: Apache-2.0 */
/* Whose claim is old: by the clock of where the file lies, to the millisecond; who is on the same machine; and what a holder that is gone
 * had started. */
#include "app/batch_claim.h"
#include "base/clock.h"
#include "base/file.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sk_error err;

/* The age is between what a clock says before and after; at different parts of a second. */
static void ages(void **state)
{
    (void)state;
    sk_claim claim;
    assert_ok(sk_claim_take("age.claim", 1, &claim, &err), &err);
    snprintf(claim.holder.host, sizeof claim.holder.host, "far-away");
    sk_claim_beat(&claim);
    sk_claim_close(&claim);
    for (int i = 0; i < 6; i++) {
        sk_claim_holder holder;
        const int64_t wrote_ms = sk_clock_wall_ms() - 30000 - 150 * i;
        const struct timespec then = {wrote_ms / 1000, wrote_ms % 1000 * 1000000};
        const struct timespec both[2] = {then, then};
        assert_int_equal(utimensat(AT_FDCWD, "age.claim", both, 0), 0);
        const int64_t before = sk_clock_wall_ms() - wrote_ms;
        assert_true(sk_claim_read("age.claim", &holder));
        const int64_t after = sk_clock_wall_ms() - wrote_ms;
        if (holder.age_ms < before - 30 || holder.age_ms > after + 30) /* files' clocks go by ticks */
            fail_msg("%lld is not in %lld … %lld", (long long)holder.age_ms, (long long)before,
                     (long long)after);
        assert_string_equal(holder.host, "far-away");
        sk_clock_sleep_ns(150000000);
    }
    sk_claim_holder self;
    assert_ok(sk_claim_take("own.claim", 1, &claim, &err), &err);
    assert_true(sk_claim_read("own.claim", &self));
    assert_int_equal(self.age_ms, 0); /* of our own machine nobody asks */
    sk_claim_close(&claim);
}

static void who_is_gone(void **state)
{
    (void)state;
    static const struct {
        int64_t age_ms;
        bool locked, gone;
        const char *why;
    } rows[] = {{0, false, false, ""},
                {-5000, false, false, ""},
                {60000, false, false, ""},
                {60001, false, true, "far-away has given no sign of life for 60 s"},
                {61999, false, true, "far-away has given no sign of life for 61 s"},
                {60001, true, false, ""},
                {600000, true, false, ""},
                {600001, true, true, "far-away has given no sign of life for 600 s"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_claim_holder h = {.host = "far-away", .age_ms = rows[i].age_ms, .locked = rows[i].locked};
        char why[128] = "before";
        assert_int_equal(sk_claim_is_gone(&h, why), rows[i].gone);
        assert_string_equal(why, rows[i].why);
    }
    /* on the same machine by the process, at once; on another, in another boot or another space of numbers by the age */
    sk_claim_holder self, h;
    char why[128], wanted[128];
    sk_claim_self(&self);
    self.age_ms = 0;
    assert_false(sk_claim_is_gone(&self, why));
    for (int i = 0; i < 5; i++) {
        h = self;
        h.started += i == 0;
        h.started = i == 1 ? 0 : h.started;
        if (i == 2)
            h.host[0] ^= 1;
        if (i == 3)
            h.boot[0] ^= 1;
        h.names += i == 4;
        assert_int_equal(sk_claim_is_gone(&h, why), i < 2);
        snprintf(wanted, sizeof wanted, "its worker, process %lld on %.40s, is gone", (long long)getpid(),
                 h.host);
        assert_string_equal(why, i < 2 ? wanted : "");
        h.age_ms = 70000;
        assert_true(i < 2 || sk_claim_is_gone(&h, why));
    }
}

static bool runs(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, WNOHANG) == 0;
}

/* What somebody on this machine had started is ended; nobody else, and not one who has its number now. */
static void orphans(void **state)
{
    (void)state;
    sk_claim_holder self, h;
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    sk_claim_self(&self);
    self.child = child;
    sk_claim claim = {.file = -1};
    assert_ok(sk_claim_take("orphan.claim", 1, &claim, &err), &err);
    claim.holder.child = child;
    sk_claim_beat(&claim); /* notes when the child began */
    assert_true(sk_claim_read("orphan.claim", &self));
    sk_claim_close(&claim);
    assert_true(self.child == child && self.child_started > 0);
    for (int i = 0; i < 6; i++) {
        h = self;
        if (i == 0)
            h.host[0] ^= 1;
        if (i == 1)
            h.boot[0] ^= 1;
        h.names += i == 2;
        h.child_started = i == 3 ? 0 : i == 4 ? h.child_started + 1 : h.child_started;
        h.child = i == 5 ? 1 : h.child;
        const int64_t begin = sk_clock_ns();
        sk_claim_end_orphan(&h);
        if (i != 5)
            assert_true(sk_clock_ns() - begin < (int64_t)3000000000);
        assert_true(runs(child));
    }
    sk_claim_end_orphan(&self);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(ages), cmocka_unit_test(who_is_gone),
                                       cmocka_unit_test(orphans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
