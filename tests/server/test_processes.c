/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are asked, while signals come and while others look who is at work; and whoever looks after runs is at rest in
 * between. */
#include "server/keeping.h"

#include "base/clock.h"
#include "server/ask_program.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static sk_status ask_shell(const char *line, int32_t limit_ms, size_t most, _Atomic int64_t *pid,
                           sk_program_answer *answer, sk_error *err)
{
    char sh[] = "sh", c[] = "-c", copy[4096];
    char *words[] = {sh, c, copy, NULL};
    snprintf(copy, sizeof copy, "%s", line);
    return sk_program_ask("/bin/sh", words, limit_ms, most, pid, answer, err);
}

/* --- who is at work --- */

static _Atomic int64_t at_work;
static _Atomic int64_t seen;

/* Sees the process while it runs, and only then lets it end. */
static void *look(void *context)
{
    (void)context;
    int64_t pid = 0;
    while (!(pid = atomic_load(&at_work)))
        sk_clock_sleep_ns(1000000);
    atomic_store(&seen, pid);
    put("go", "");
    return NULL;
}

static void others_see_who_is_at_work(void **state)
{
    (void)state;
    pthread_t thread;
    sk_program_answer a = {0};
    sk_error err = {0};
    char line[2048], wanted[32];
    snprintf(line, sizeof line,
             "echo $$; i=0; while [ ! -e '%s' ] && [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); done",
             at("go"));
    assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
    assert_ok(ask_shell(line, 60000, 1000, &at_work, &a, &err), &err);
    const int64_t left = atomic_exchange(&at_work, 1); /* whoever still waits goes */
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(left, 0);
    snprintf(wanted, sizeof wanted, "%lld\n", (long long)atomic_load(&seen));
    assert_string_equal(sk_text_get(&a.out), wanted);
    sk_program_answer_free(&a);
}

/* --- signals --- */

static atomic_int rung;

static void ring(int number)
{
    (void)number;
    atomic_fetch_add(&rung, 1);
}

/* A clock that rings all the time interrupts what waits: it waits on. */
static void signals_do_not_end_it(void **state)
{
    (void)state;
    sk_program_answer a = {0};
    sk_error err = {0};
    struct sigaction act = {.sa_handler = ring}, before;
    const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &act, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    const sk_status status =
        ask_shell("sleep 0.1; echo one; sleep 0.1; echo two; exec >&- 2>&- 3>&-; sleep 0.1; exit 7", 60000,
                  1000, NULL, &a, &err);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_ok(status, &err);
    assert_true(atomic_load(&rung) > 3);
    assert_string_equal(sk_text_get(&a.out), "one\ntwo\n");
    assert_true(WIFEXITED(a.status) && WEXITSTATUS(a.status) == 7); /* waited for, too */
    sk_program_answer_free(&a);
}

/* Each of the three may be as long, and no longer. */
static void all_three_have_a_limit(void **state)
{
    (void)state;
    sk_program_answer a = {0};
    sk_error err = {0};
    assert_ok(ask_shell("printf 0123456789; printf 0123456789 >&2; printf 0123456789 >&3", 60000, 10, NULL,
                        &a, &err),
              &err);
    assert_true(a.out.length == 10 && a.err.length == 10 && a.events.length == 10);
    assert_true(a.out.limit == 10 && a.err.limit == 10 && a.events.limit == 10);
    sk_program_answer_free(&a);
}

/* --- rest --- */

static double cpu_seconds(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Until when whoever looks after runs rests, at the longest, in seconds from then on. */
static _Atomic double longest;
static atomic_int rests, short_ones;

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((visibility("default"))) int
pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
    struct timespec now;
    (void)condition;
    clock_gettime(CLOCK_REALTIME, &now);
    const double rest = (double)(until->tv_sec - now.tv_sec) + (double)(until->tv_nsec - now.tv_nsec) * 1e-9;
    atomic_fetch_add(&rests, 1);
    atomic_fetch_add(&short_ones, rest < 0.05);
    if (rest > atomic_load(&longest))
        atomic_store(&longest, rest);
    pthread_mutex_unlock(lock);
    sk_clock_sleep_ns(20000000); /* a test has less time */
    pthread_mutex_lock(lock);
    return ETIMEDOUT;
}
#endif

static void nothing_to_do_is_rest(void **state)
{
    (void)state;
    put("runs.json", "{}");
    sk_events_reader *reader = NULL;
    sk_text heard = {0};
    sk_error err = {0};
    assert_ok(sk_events_listen(server.events, NULL, wake, NULL, &reader, &err), &err);
    sk_runs *runs = open_runs("/nowhere");
    const double before = cpu_seconds();
    sk_clock_sleep_ns(1000000000);
    const double used = cpu_seconds() - before;
    sk_runs_close(&runs);
    hear(reader, &heard); /* nobody is told that nothing happens, but that somebody is there, once */
    assert_string_equal(sk_text_get(&heard), ": here\n\n");
    sk_text_free(&heard);
    sk_events_leave(server.events, &reader);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    assert_true(atomic_load(&longest) > 0.1 && atomic_load(&longest) < 0.152); /* 150 ms */
    assert_true(2 * atomic_load(&short_ones) < atomic_load(&rests));
#endif
    if (used > 0.2)
        fail_msg("%g seconds of work in a second of rest", used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_see_who_is_at_work),
        cmocka_unit_test(signals_do_not_end_it),
        cmocka_unit_test(all_three_have_a_limit),
        cmocka_unit_test(nothing_to_do_is_rest),
    };
    return cmocka_run_group_tests(tests, begin_keeping, end_keeping);
}
