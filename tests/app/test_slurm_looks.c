/* SPDX-License-Identifier: Apache-2.0 */
/* A batch looked after on SLURM where it is not as usual: merges that wait for tasks, tasks that vanish without a word, a refusal that
 * passes, nothing left to do; and how long it is waited between two looks. */
#include "slurm_fixture.h"

#include <time.h>

/* Nobody waits here: it is written down how long. */
static int64_t slept_ns, longest_ns;

__attribute__((visibility("default"))) int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    const int64_t ns = (int64_t)wanted->tv_sec * 1000000000 + wanted->tv_nsec;
    (void)left;
    slept_ns += ns;
    longest_ns = ns > longest_ns ? ns : longest_ns;
    return 0;
}

static const char *const videos[] = {"a.mp4", "b.mp4", "c.mp4"};

typedef struct play {
    sk_batch *b;
    sk_text all;
    int looks, stop_at, calls;
    void (*act)(struct play *p);
} play;

static void say(void *context, const char *text)
{
    sk_text_appendf(&((play *)context)->all, "%s\n", text);
}

static void changed(void *context, const sk_batch_status *s)
{
    play *p = context;
    sk_text_appendf(&p->all, "%d: %lld done, %lld waiting\n", ++p->looks, (long long)s->done,
                    (long long)s->waiting);
    assert_true(p->looks < 40);
    if (p->act)
        p->act(p);
}

static bool interrupted(void *context)
{
    play *p = context;
    p->calls++;
    return p->stop_at && p->looks >= p->stop_at;
}

static void look_after(play *p)
{
    bool stopped = false;
    const sk_batch_slurm_watch watch = {
        .interrupted = interrupted, .changed = changed, .say = say, .context = p};
    assert_ok(sk_batch_slurm_run(p->b, &watch, &stopped, &err), &err);
    assert_int_equal(stopped, p->stop_at > 0);
}

static void finish(sk_batch *b, int64_t number)
{
    const sk_batch_done e = {.attempt = 1, .outcome = SK_BATCH_FINISHED, .tracks = -1, .round = b->round};
    assert_ok(sk_batch_end_put(b, number, &e, true, &err), &err);
}

/* Whoever does a part may make the merge: it is handed over by itself only when their tasks have ended and it is not there. */
static void tasks_of_parts(play *p)
{
    switch (p->looks) {
    case 1: put("states", "101_0 RUNNING n\n101_1 RUNNING n\n"); break;
    case 2:
        finish(p->b, 0);
        finish(p->b, 1);
        put("states", "101_0 COMPLETED n\n101_1 COMPLETED n\n");
        break;
    case 4: put("states", "102_0 RUNNING n\n"); break;
    case 5:
        finish(p->b, 2);
        put("states", "");
        break;
    default: break;
    }
}

static void a_merge_waits_for_tasks(void **state)
{
    (void)state;
    char path[SK_BATCH_PATH];
    usual_programs();
    play p = {.b = begin("merge", videos, 3, 1, 1), .act = tasks_of_parts};
    for (int64_t i = 0; i < 3; i++) {
        sk_batch_piece *piece = (sk_batch_piece *)(uintptr_t)sk_batch_piece_of(p.b, i, &err);
        piece->kind = i < 2 ? SK_BATCH_PART : SK_BATCH_MERGE;
        piece->parts = i == 1 ? 1 : 2;
    }
    assert_int_equal(setenv("SKITTER_BATCH_INTERVAL_MS", "0", 1), 0);
    look_after(&p);
    assert_string_equal(sk_text_get(&p.all), "SLURM job 101: 2 pieces in 2 tasks\n"
                                             "1: 0 done, 3 waiting\n"
                                             "2: 0 done, 3 waiting\n"
                                             "3: 2 done, 1 waiting\n"
                                             "SLURM job 102: 1 pieces in 1 tasks\n"
                                             "4: 2 done, 1 waiting\n"
                                             "5: 2 done, 1 waiting\n"
                                             "6: 3 done, 0 waiting\n");
    assert_string_equal(text_in(slurm_file(p.b, 1, "tasks", path)), "0\n1\n");
    assert_string_equal(text_in(slurm_file(p.b, 2, "tasks", path)), "2\n");
    sk_text_free(&p.all);
    sk_batch_close(&p.b);
}

/* The second hand-over is refused for a while; the task before is known to nobody any more. */
static sk_claim claimed = {.file = -1};

static void a_task_that_vanishes(play *p)
{
    char path[SK_BATCH_PATH];
    if (p->looks == 1) {
        assert_int_equal(setenv("SLURM_ARRAY_JOB_ID", "101", 1) | setenv("SLURM_ARRAY_TASK_ID", "0", 1), 0);
        assert_ok(sk_claim_take(sk_batch_file(p->b, 0, 1, "claim", path), p->b->round, &claimed, &err), &err);
        assert_int_equal(unsetenv("SLURM_ARRAY_JOB_ID") | unsetenv("SLURM_ARRAY_TASK_ID"), 0);
        fake("sbatch", "echo 'too many jobs' >&2; exit 1");
    }
    if (p->looks == 4)
        fake("sbatch", "echo 109");
    if (p->looks == 6)
        finish(p->b, 0);
}

static void a_refusal_that_passes(void **state)
{
    (void)state;
    sk_batch_done end;
    usual_programs();
    play p = {.b = begin("passes", videos, 1, 3, 3), .act = a_task_that_vanishes};
    look_after(&p);
    sk_claim_close(&claimed);
    assert_true(sk_batch_end_read(p.b, 0, 1, &end));
    assert_int_equal(end.outcome, SK_BATCH_LOST);
    assert_string_equal(end.reason, "SLURM task 101_0 ended: gone");
    assert_non_null(strstr(sk_text_get(&p.all), "SLURM job 109: 1 pieces in 1 tasks\n5: "));
    assert_null(strstr(sk_text_get(&p.all), "too many jobs"));
    sk_text_free(&p.all);
    sk_batch_close(&p.b);
}

/* Ten seconds between two looks, unless somebody says otherwise; ten times a second it is asked whether to end. */
static void how_long_it_waits(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        int64_t ms;
    } rows[] = {{NULL, 10000}, {"1000", 1000}, {"950", 1000}, {"1", 100}, {"0", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[16];
        snprintf(out, sizeof out, "waits%zu", i);
        usual_programs();
        assert_int_equal(rows[i].said ? setenv("SKITTER_BATCH_INTERVAL_MS", rows[i].said, 1)
                                      : unsetenv("SKITTER_BATCH_INTERVAL_MS"),
                         0);
        put("states", "101_0 RUNNING n\n");
        play p = {.b = begin(out, videos, 1, 1, 1), .stop_at = rows[i].ms ? 3 : 0};
        if (!rows[i].ms)
            finish(p.b, 0);
        slept_ns = longest_ns = 0;
        look_after(&p);
        assert_int_equal(slept_ns,
                         2 * rows[i].ms * 1000000); /* before the second look and before the third */
        assert_int_equal(longest_ns, rows[i].ms ? 100000000 : 0);
        assert_int_equal(p.calls, rows[i].ms ? 2 * rows[i].ms / 100 + 1 : 0);
        sk_text_free(&p.all);
        sk_batch_close(&p.b);
    }
    assert_int_equal(setenv("SKITTER_BATCH_INTERVAL_MS", "0", 1), 0);
}

/* Who only hands over where nothing is left to do hands nothing over; nobody need look on. */
static void nothing_to_hand_over(void **state)
{
    (void)state;
    usual_programs();
    sk_batch *b = begin("nothing_left", videos, 1, 1, 1);
    finish(b, 0);
    bool stopped = true;
    const sk_batch_slurm_watch watch = {.detach = true};
    assert_ok(sk_batch_slurm_run(b, &watch, &stopped, &err), &err);
    assert_false(stopped);
    assert_string_equal(text_in("asked"), "-");
    sk_batch_close(&b);
}

int main(void)
{
    if (!begin_slurm())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merge_waits_for_tasks),
        cmocka_unit_test(a_refusal_that_passes),
        cmocka_unit_test(how_long_it_waits),
        cmocka_unit_test(nothing_to_hand_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
