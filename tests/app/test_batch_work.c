/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a batch done by a program that behaves as its video is called: what is put down of each attempt, what is tried again, what is
 * given up, where results lie, and what is left behind. */
#include "batch_fixture.h"

#include "base/clock.h"

#include <stdlib.h>

typedef struct heard {
    sk_text ends;
    int changes, calls, stop_after; /* calls of interrupted */
} heard;

static void told(void *context, const sk_batch_piece *piece, const sk_batch_done *e)
{
    heard *h = context;
    sk_text_appendf(&h->ends, "%s %d %s frames %lld instances %lld tracks %lld: %s\n", piece->name,
                    e->attempt, sk_batch_outcome_name(e->outcome), (long long)e->frames,
                    (long long)e->instances, (long long)e->tracks, e->reason);
    assert_true(e->seconds > 0 && e->seconds < 300 && e->started_ms > 1000000000000 &&
                e->ended_ms >= e->started_ms && e->host[0]);
}

static void changed(void *context)
{
    ((heard *)context)->changes++;
}

static bool interrupted(void *context)
{
    heard *h = context;
    return h->stop_after && ++h->calls > h->stop_after;
}

static sk_batch_worked run(sk_batch *b, heard *h, int32_t slots, const int64_t *pieces, int64_t count)
{
    sk_batch_worked worked;
    const sk_batch_work how = {.batch = b,
                               .pieces = pieces,
                               .count = count,
                               .slots = slots,
                               .merges = true,
                               .interrupted = interrupted,
                               .changed = changed,
                               .told = told,
                               .context = h};
    assert_ok(sk_batch_work_run(&how, &worked, &err), &err);
    return worked;
}

static void every_way_to_end(void **state)
{
    (void)state;
    static const char *const videos[] = {"good.mp4",   "listed.mp4", "cut.mp4",    "refused.mp4",
                                         "absent.mp4", "once.mp4",   "killed.mp4", "odd.mp4"};
    heard h = {0};
    sk_batch *b = begin("ends", videos, 8, 1, 3);
    sk_batch_worked w = run(b, &h, 1, NULL, 0);
    assert_true(w.done == 4 && w.failed == 4 && w.elsewhere == 0 && !w.stopped);
    assert_true(h.changes > 0);
    test_text_is("tests/app/told/batch_ends.txt", sk_text_get(&h.ends));
    /* results lie in their places, and nothing else is left of attempts that are over */
    assert_true(sk_file_exists("ends/good/results.csv") && sk_file_is_directory("ends/listed") &&
                sk_file_is_directory("ends/cut"));
    assert_false(sk_file_exists("ends/refused") || sk_file_exists("ends/killed") ||
                 sk_file_exists("ends/odd"));
    char *text = NULL, path[SK_BATCH_PATH];
    size_t length = 0;
    assert_ok(sk_file_read("ends/once/results.csv", 100, &text, &length, &err), &err);
    assert_string_equal(text, "kept\n"); /* the second attempt began with what the first had found */
    sk_free(text);
    for (int64_t i = 0; i < b->pieces; i++) {
        sk_batch_done done;
        const bool there = sk_batch_done_read(b, i, &done);
        assert_int_equal(there, i < 3 || i == 5);
        if (there)
            assert_int_equal(done.attempt, i == 5 ? 2 : 1);
        assert_false(sk_file_exists(sk_batch_work_path(b, i, there ? done.attempt : 9, path)));
        const bool logged = sk_file_size(sk_batch_file(b, i, 1, "log", path)) > 0;
        assert_int_equal(logged, i == 4); /* who said nothing leaves no log where it is done */
        assert_int_equal(sk_file_exists(path), i > 2);
    }
    /* once more by the same start: nobody is tried again, and nobody is told of */
    sk_text_clear(&h.ends);
    w = run(b, &h, 2, NULL, 0);
    assert_true(w.done == 0 && w.failed == 4);
    assert_string_equal(sk_text_get(&h.ends), "");
    sk_text_free(&h.ends);
    sk_batch_close(&b);
}

static void some_pieces(void **state)
{
    (void)state;
    static const char *const videos[] = {"good1.mp4", "good2.mp4", "good3.mp4"};
    static const int64_t last[] = {2};
    heard h = {0};
    sk_batch *b = begin("some", videos, 3, 1, 1);
    sk_batch_worked w = run(b, &h, 3, last, 1);
    assert_true(w.done == 1 && w.failed == 0);
    assert_true(sk_file_exists("some/good3") && !sk_file_exists("some/good1"));
    w = run(b, &h, 3, NULL, 0);
    assert_int_equal(w.done, 2);
    assert_true(sk_file_exists("some/good1/results.csv") && sk_file_exists("some/good2/results.csv"));
    sk_text_free(&h.ends);
    sk_batch_worked none;
    const sk_batch_work no_slots = {.batch = b}, many = {.batch = b, .slots = 513};
    assert_int_equal(sk_batch_work_run(&no_slots, &none, &err), SK_ERR_ARG);
    assert_int_equal(sk_batch_work_run(&many, &none, &err), SK_ERR_ARG);
    /* one that somebody else has is left to them */
    sk_batch_close(&b);
    b = begin("others", videos, 3, 1, 1);
    char path[SK_BATCH_PATH];
    sk_claim claim = {.file = -1};
    assert_ok(sk_claim_take(sk_batch_file(b, 1, 1, "claim", path), b->round, &claim, &err), &err);
    h = (heard){0};
    w = run(b, &h, 2, NULL, 0);
    assert_true(w.done == 2 && w.elsewhere == 1 && !sk_file_exists("others/good2"));
    sk_claim_close(&claim);
    sk_text_free(&h.ends);
    sk_batch_close(&b);
}

static void interruption(void **state)
{
    (void)state;
    static const char *const videos[] = {"slow1.mp4", "slow2.mp4"};
    heard h = {.stop_after = 3};
    sk_batch *b = begin("stopped", videos, 2, 1, 2);
    (void)unsetenv("SLURM_JOB_ID");
    const int64_t begun = sk_clock_ns();
    const sk_batch_worked w = run(b, &h, 2, NULL, 0);
    assert_true(w.stopped && w.done == 0 && w.elsewhere == 2);
    assert_true(sk_clock_ns() - begun < INT64_C(20000000000));
    assert_non_null(
        strstr(sk_text_get(&h.ends), "slow1 1 stopped frames 3 instances 5 tracks -1: interrupted\n"));
    assert_non_null(
        strstr(sk_text_get(&h.ends), "slow2 1 stopped frames 3 instances 5 tracks -1: interrupted\n"));
    sk_batch_look look;
    sk_batch_look_at(b, sk_batch_piece_of(b, 0, &err), &look);
    assert_true(look.state == SK_PIECE_WAITING && look.attempts == 1 && look.losses == 1 &&
                look.failures == 0);
    sk_text_free(&h.ends);
    sk_batch_close(&b);
    /* SLURM's order to end is told as that; one that ends so by itself, too, is stopped */
    static const char *const alone[] = {"interrupted.mp4"};
    h = (heard){0};
    b = begin("alone", alone, 1, 1, 1);
    const sk_batch_worked again = run(b, &h, 1, NULL, 0);
    assert_true(!again.stopped && again.failed == 1);
    assert_non_null(
        strstr(sk_text_get(&h.ends), "interrupted 1 stopped frames 3 instances 5 tracks -1: interrupted\n"));
    assert_non_null(strstr(sk_text_get(&h.ends), "interrupted 2 stopped"));
    assert_null(strstr(sk_text_get(&h.ends), "interrupted 3 "));
    sk_text_free(&h.ends);
    sk_batch_close(&b);
}

/* A program that is not there: the attempt is put down with the reason. */
static void what_cannot_be_started(void **state)
{
    (void)state;
    static const char *const videos[] = {"good.mp4"};
    heard h = {0};
    sk_batch *b = begin("absent", videos, 1, 1, 1);
    sk_free(b->program);
    b->program = sk_strdup("/nowhere/skitter");
    const sk_batch_worked w = run(b, &h, 1, NULL, 0);
    assert_true(w.done == 0 && w.failed == 1);
    sk_batch_done end;
    assert_false(sk_batch_end_read(b, 0, 3, &end));
    assert_true(sk_batch_end_read(b, 0, 1, &end) && sk_batch_end_read(b, 0, 2, &end));
    assert_int_equal(end.outcome, SK_BATCH_FAILED);
    assert_non_null(strstr(end.reason, "/nowhere/skitter could not be started: No such file or directory"));
    sk_text_free(&h.ends);
    sk_batch_close(&b);
}

/* A place that somebody else has taken: the result waits in its work folder, and is settled later. */
static void results_whose_place_is_taken(void **state)
{
    (void)state;
    static const char *const videos[] = {"good.mp4"};
    heard h = {0};
    sk_batch *b = begin("taken", videos, 1, 1, 1);
    const sk_batch_work how = {.batch = b, .slots = 1, .told = told, .context = &h};
    sk_batch_worked w;
    assert_ok(sk_folder_make("taken/good", &err), &err);
    put("taken/good/mine", "x");
    assert_int_equal(sk_batch_work_run(&how, &w, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "cannot be put there"));
    assert_int_equal(unlink("taken/good/mine"), 0);
    assert_ok(sk_batch_settle(b, sk_batch_piece_of(b, 0, &err), &err), &err);
    assert_true(sk_file_exists("taken/good/results.csv"));
    assert_ok(sk_batch_settle(b, sk_batch_piece_of(b, 0, &err), &err), &err); /* again: nothing happens */
    sk_text_free(&h.ends);
    sk_batch_close(&b);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_end),
        cmocka_unit_test(some_pieces),
        cmocka_unit_test(interruption),
        cmocka_unit_test(what_cannot_be_started),
        cmocka_unit_test(results_whose_place_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
