/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of pieces to be done: how long they are, what memory they take, what is left of them where nobody begins, and who is waited
 * for. */
#include "batch_fixture.h"

#include "support/fault.h"

#include <stdlib.h>

typedef struct asking {
    int64_t before, inside; /* bytes */
    int calls, stop_at;
} asking;

static bool asks(void *context)
{
    asking *a = context;
    a->inside = sk_memory_live_bytes() - a->before;
    return ++a->calls == a->stop_at;
}

/* Bytes of blocks of these sizes, as the C library gives them. */
static int64_t bytes_of(const size_t *sizes, int n)
{
    void *blocks[8];
    const int64_t before = sk_memory_live_bytes();
    for (int i = 0; i < n; i++)
        blocks[i] = sk_calloc(1, sizes[i]);
    const int64_t bytes = sk_memory_live_bytes() - before;
    for (int i = 0; i < n; i++)
        sk_free(blocks[i]);
    return bytes;
}

/* A video, two parts and their merge, a part and its merge. */
static sk_batch *six(const char *out)
{
    static const char *const videos[] = {"good0.mp4", "good1.mp4", "good2.mp4",
                                         "good3.mp4", "good4.mp4", "good5.mp4"};
    static const struct {
        sk_batch_kind kind;
        int64_t parts;
    } rows[] = {{SK_BATCH_VIDEO, 0}, {SK_BATCH_PART, 2}, {SK_BATCH_PART, 1},
                {SK_BATCH_MERGE, 2}, {SK_BATCH_PART, 1}, {SK_BATCH_MERGE, 1}};
    sk_batch *b = begin(out, videos, 6, 0, 0);
    for (int64_t i = 0; i < 6; i++) {
        sk_batch_piece *p = (sk_batch_piece *)(uintptr_t)sk_batch_piece_of(b, i, &err);
        p->kind = rows[i].kind;
        p->parts = rows[i].parts;
    }
    return b;
}

static sk_batch_worked stopped_at_once(sk_batch *b, const int64_t *pieces, int64_t count, bool merges,
                                       int32_t slots, asking *a)
{
    sk_batch_worked w;
    *a = (asking){.before = sk_memory_live_bytes(), .stop_at = 1};
    const sk_batch_work how = {.batch = b,
                               .pieces = pieces,
                               .count = count,
                               .slots = slots,
                               .merges = merges,
                               .interrupted = asks,
                               .context = a};
    assert_ok(sk_batch_work_run(&how, &w, &err), &err);
    assert_int_equal(sk_memory_live_bytes(), a->before);
    return w;
}

/* All that are named, and the merge of each that is a part, once. */
static void what_is_on_the_list(void **state)
{
    (void)state;
    static const struct {
        int64_t pieces[7], count;
        bool merges;
        int64_t left;
    } rows[] = {{{0}, 1, true, 1},          {{1}, 1, true, 2},       {{1}, 1, false, 1},
                {{1, 2}, 2, true, 3},       {{1, 2}, 2, false, 2},   {{2, 4}, 2, true, 4},
                {{1, 2, 4}, 3, true, 5},    {{4, 0, 4}, 3, true, 4}, {{3}, 1, true, 1},
                {{0, 1, 2, 4}, 4, true, 6}, {{5, 0}, 2, true, 2},    {{2, 1, 0, 4}, 4, false, 4}};
    asking a;
    sk_batch *b = six("listed6");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_batch_worked w = stopped_at_once(b, rows[i].pieces, rows[i].count, rows[i].merges, 1, &a);
        if (w.elsewhere != rows[i].left)
            fail_msg("row %zu: %lld left", i, (long long)w.elsewhere);
        assert_true(w.stopped && w.done == 0 && w.failed == 0 && a.calls == 1);
    }
    for (int merges = 0; merges < 2; merges++) { /* of all no merge is added */
        const sk_batch_worked w = stopped_at_once(b, NULL, 3, merges, 1, &a);
        assert_true(w.stopped && w.elsewhere == 6);
    }
    const int64_t none[] = {0};
    const sk_batch_worked w = stopped_at_once(b, none, 0, true, 1, &a); /* nothing to do: nobody is asked */
    assert_true(!w.stopped && w.elsewhere == 0 && a.calls == 0);
    const int64_t absent[] = {1, 6};
    sk_batch_worked refused;
    const sk_batch_work how = {.batch = b, .pieces = absent, .count = 2, .slots = 1, .merges = true};
    assert_int_equal(sk_batch_work_run(&how, &refused, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "piece 6: there are 6, from 0");
    assert_false(sk_file_exists("asked"));
    sk_batch_close(&b);
}

static void room_for_all(void **state)
{
    (void)state;
    static const int64_t pieces[40];
    static const int32_t slots[] = {1, 2, 3, 512};
    asking a;
    sk_batch *b = six("room");
    for (int64_t count = 1; count <= 40; count++)
        for (int k = 0; k < 4; k++) {
            const size_t most = 2 * (size_t)count + 1; /* each may have a merge */
            const size_t sizes[] = {most * sizeof(int64_t), most, (size_t)slots[k] * sizeof(sk_batch_attempt),
                                    (size_t)slots[k] * sizeof(int64_t)};
            (void)stopped_at_once(b, pieces, count, false, slots[k], &a);
            assert_int_equal(a.inside, bytes_of(sizes, 4));
        }
    sk_batch_close(&b);
}

static sk_status work_on_nothing(void *context, sk_error *e)
{
    static const int64_t pieces[1];
    sk_batch_worked w = {.done = 1, .failed = 2, .elsewhere = 3, .stopped = true};
    const sk_batch_work how = {.batch = context, .pieces = pieces, .slots = 2};
    const sk_status status = sk_batch_work_run(&how, &w, e);
    return w.done || w.failed || w.elsewhere || w.stopped ? SK_ERR_FORMAT : status;
}

static void without_memory(void **state)
{
    (void)state;
    sk_batch *b = six("nothing");
    assert_int_equal(test_every_allocation(work_on_nothing, b), 4);
    static const int64_t five[5];
    for (int n = 1; n <= 4; n++) { /* whichever it is: the list's bytes are told */
        sk_batch_worked w;
        char wanted[sizeof err.message];
        const sk_batch_work how = {.batch = b, .pieces = five, .count = 5, .slots = 1};
        (void)sk_fail_memory(&err, 40);
        snprintf(wanted, sizeof wanted, "%s", err.message);
        sk_memory_fail_nth((uint64_t)n);
        assert_int_equal(sk_batch_work_run(&how, &w, &err), SK_ERR_MEMORY);
        sk_memory_fail_nth(0);
        assert_string_equal(err.message, wanted);
    }
    sk_batch_close(&b);
}

/* --- who is waited for --- */

static void others_are_waited_for(void **state)
{
    (void)state;
    static const int64_t merge[] = {3}, video[] = {0}, both[] = {3, 0};
    const struct {
        const int64_t *pieces;
        int64_t count;
        bool waits;
        int calls; /* rounds until its end, or until it is told to end at the second */
    } rows[] = {{merge, 1, false, 1}, {merge, 1, true, 1}, {video, 1, false, 1},
                {video, 1, true, 2},  {both, 2, true, 2},  {both, 2, false, 1}};
    char path[SK_BATCH_PATH];
    sk_claim claim = {.file = -1};
    sk_batch *b = six("waited");
    assert_ok(sk_claim_take(sk_batch_file(b, 0, 1, "claim", path), b->round, &claim, &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        asking a = {.stop_at = 2};
        sk_batch_worked w;
        const sk_batch_work how = {.batch = b,
                                   .pieces = rows[i].pieces,
                                   .count = rows[i].count,
                                   .slots = 2,
                                   .waits = rows[i].waits,
                                   .interrupted = asks,
                                   .context = &a};
        assert_ok(sk_batch_work_run(&how, &w, &err), &err);
        if (a.calls != rows[i].calls)
            fail_msg("row %zu: %d rounds", i, a.calls);
        assert_int_equal(w.stopped, rows[i].calls == 2);
        assert_true(w.elsewhere == rows[i].count && w.done == 0 && w.failed == 0);
    }
    sk_claim_close(&claim);
    assert_false(sk_file_exists("asked"));
    sk_batch_close(&b);
}

static sk_text ends;

static void told(void *context, const sk_batch_piece *piece, const sk_batch_done *end)
{
    (void)context;
    sk_text_appendf(&ends, "%s %s: %s\n", piece->name, sk_batch_outcome_name(end->outcome), end->reason);
}

/* The merge waits for its part, not for a part of another one. */
static void a_merge_behind_its_part(void **state)
{
    (void)state;
    static const int64_t order[] = {3, 5, 4};
    sk_batch_worked w;
    sk_batch *b = six("merged");
    const sk_batch_work how = {.batch = b, .pieces = order, .count = 3, .slots = 1, .told = told};
    sk_text_clear(&ends);
    assert_ok(sk_batch_work_run(&how, &w, &err), &err);
    assert_true(w.done == 2 && w.failed == 0 && w.elsewhere == 1 && !w.stopped);
    assert_string_equal(sk_text_get(&ends), "good4 finished: \ngood5 finished: \n");
    sk_batch_close(&b);
}

static bool once_begun(void *context)
{
    (void)context;
    return access("sent", F_OK) == 0;
}

static void an_order_to_end(void **state)
{
    (void)state;
    static const char *const videos[] = {"gated.mp4"};
    for (int slurm = 0; slurm < 2; slurm++) {
        sk_batch_worked w;
        sk_batch *b = begin(slurm ? "order1" : "order0", videos, 1, 0, 0);
        const sk_batch_work how = {.batch = b, .slots = 1, .interrupted = once_begun, .told = told};
        (void)unlink("sent");
        sk_text_clear(&ends);
        assert_int_equal(slurm ? setenv("SLURM_JOB_ID", "7", 1) : unsetenv("SLURM_JOB_ID"), 0);
        assert_ok(sk_batch_work_run(&how, &w, &err), &err);
        assert_int_equal(unsetenv("SLURM_JOB_ID"), 0);
        assert_true(w.stopped && w.elsewhere == 1 && w.done == 0 && w.failed == 0);
        assert_string_equal(
            sk_text_get(&ends),
            slurm ? "gated stopped: told to end by SLURM: cancelled, preempted, or its time is up\n"
                  : "gated stopped: interrupted\n");
        sk_batch_close(&b);
    }
    sk_text_free(&ends);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_on_the_list),     cmocka_unit_test(room_for_all),
        cmocka_unit_test(without_memory),          cmocka_unit_test(others_are_waited_for),
        cmocka_unit_test(a_merge_behind_its_part), cmocka_unit_test(an_order_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
