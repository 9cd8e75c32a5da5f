/* SPDX-License-Identifier: Apache-2.0 */
/* How a batch stands while it is done: what runs, what is gone, what is cut off, frames and times of all, and the same as JSON. */
#include "batch_fixture.h"

#include "support/fault.h"

static sk_batch_piece *piece_of(sk_batch *b, int64_t number)
{
    return (sk_batch_piece *)(uintptr_t)sk_batch_piece_of(b, number, &err);
}

static void ended(sk_batch *b, int64_t number, sk_batch_done end, bool done)
{
    end.host[0] = 'h';
    end.round = b->round;
    assert_ok(sk_batch_end_put(b, number, &end, done, &err), &err);
}

static void claimed(sk_batch *b, int64_t number, int32_t attempt)
{
    char path[SK_BATCH_PATH];
    put(sk_batch_file(b, number, attempt, "claim", path), "{}");
}

static const sk_batch_status *look(sk_batch_watcher *w)
{
    const sk_batch_status *s = NULL;
    assert_ok(sk_batch_watch_look(w, &s, &err), &err);
    return s;
}

#define MANY 9
static const char *const videos[MANY] = {"v0.mp4", "v1.mp4", "v2.mp4", "v3.mp4", "v4.mp4",
                                         "v5.mp4", "v6.mp4", "v7.mp4", "v8.mp4"};

/* Three videos; two parts and their merge; two parts and theirs. */
static sk_batch *nine(const char *out)
{
    static const struct {
        sk_batch_kind kind;
        int64_t parts, expected;
    } rows[MANY] = {{SK_BATCH_VIDEO, 0, 100}, {SK_BATCH_VIDEO, 0, 20}, {SK_BATCH_VIDEO, 0, 0},
                    {SK_BATCH_PART, 2, 5},    {SK_BATCH_PART, 1, 5},   {SK_BATCH_MERGE, 2, 10},
                    {SK_BATCH_PART, 2, -1},   {SK_BATCH_PART, 1, -1},  {SK_BATCH_MERGE, 2, 3}};
    sk_batch *b = begin(out, videos, MANY, 0, 0);
    for (int64_t i = 0; i < MANY; i++) {
        piece_of(b, i)->kind = rows[i].kind;
        piece_of(b, i)->parts = rows[i].parts;
        piece_of(b, i)->frames_expected = rows[i].expected;
    }
    b->videos = 5;
    return b;
}

static void nothing_yet(void **state)
{
    (void)state;
    sk_batch_watcher *w = NULL;
    sk_batch *b = nine("none");
    assert_ok(sk_batch_watch_open(b, &w, &err), &err);
    const sk_batch_status *s = look(w);
    assert_true(s->pieces == 9 && s->videos == 5 && s->waiting == 9 && s->n_rows == 0);
    assert_true(s->done == 0 && s->running == 0 && s->failed == 0 && s->lost == 0);
    assert_int_equal(s->frames_expected, 133); /* parts are in their merge */
    piece_of(b, 3)->frames_expected = -1;
    assert_int_equal(look(w)->frames_expected, 133);
    piece_of(b, 2)->frames_expected = 1;
    assert_int_equal(look(w)->frames_expected, 134);
    piece_of(b, 8)->frames_expected = -1; /* one that nobody knows: nobody knows all */
    assert_int_equal(look(w)->frames_expected, -1);
    piece_of(b, 8)->frames_expected = 3;
    piece_of(b, 0)->frames_expected = -1;
    assert_int_equal(look(w)->frames_expected, -1);
    sk_batch_watch_close(&w);
    sk_batch_watch_close(&w);
    sk_batch_close(&b);
}

static void what_is_done(void **state)
{
    (void)state;
    sk_batch_watcher *w = NULL;
    sk_batch *b = nine("done");
    assert_ok(sk_batch_watch_open(b, &w, &err), &err);
    ended(b, 0,
          (sk_batch_done){
              .attempt = 1, .frames = 7, .instances = 70, .seconds = 2, .started_ms = 500, .ended_ms = 900},
          true);
    const sk_batch_status *s = look(w);
    assert_true(s->done == 1 && s->waiting == 8 && s->videos_done == 1 && s->videos_incomplete == 0);
    assert_true(s->frames == 7 && s->instances == 70 && s->seconds == 2 && s->attempts == 1);
    assert_true(s->first_ms == 500 && s->last_ms == 900 && s->n_rows == 0);
    /* one without a beginning; one that began later and ended before */
    ended(b, 1, (sk_batch_done){.attempt = 1, .outcome = SK_BATCH_INCOMPLETE, .frames = 2, .ended_ms = 100},
          true);
    ended(b, 2, (sk_batch_done){.attempt = 1, .started_ms = 501, .ended_ms = 899, .seconds = 0.5}, true);
    s = look(w);
    assert_true(s->done == 3 && s->videos_done == 3 && s->videos_incomplete == 1 && s->frames == 9);
    assert_true(s->first_ms == 500 && s->last_ms == 900 && s->seconds == 2.5 && s->attempts == 3);
    /* a part is a piece that is done, but no video, and its frames are its merge's; its time counts */
    ended(b, 3,
          (sk_batch_done){
              .attempt = 1, .frames = 50, .instances = 60, .seconds = 4, .started_ms = 499, .ended_ms = 901},
          true);
    s = look(w);
    assert_true(s->done == 4 && s->videos_done == 3 && s->frames == 9 && s->instances == 70);
    assert_true(s->first_ms == 499 && s->last_ms == 901 && s->seconds == 6.5 && s->waiting == 5);
    /* its video was cut off there: the merge is done without the part behind it, which nobody misses */
    ended(b, 5, (sk_batch_done){.attempt = 1, .outcome = SK_BATCH_INCOMPLETE, .frames = 50}, true);
    s = look(w);
    assert_true(s->done == 6 && s->waiting == 3 && s->videos_done == 4 && s->videos_incomplete == 2);
    assert_true(s->frames == 59 && s->n_rows == 0 && s->attempts == 5);
    for (int round = 0; round < 2; round++) { /* what is done is known; its file is not asked again */
        char path[SK_BATCH_PATH];
        assert_int_equal(unlink(sk_batch_file(b, round, 0, "done", path)), 0);
        s = look(w);
        assert_true(s->done == 6 && s->frames == 59 && s->instances == 70 && s->seconds == 6.5);
        assert_true(s->first_ms == 499 && s->last_ms == 901 && s->attempts == 5 && s->videos_incomplete == 2);
    }
    sk_batch_watch_close(&w);
    sk_batch_close(&b);
}

/* Which pieces are shown: those that run, are gone or given up, and those that took more than an attempt. In their order. */
static void what_is_shown(void **state)
{
    (void)state;
    static const sk_batch_outcome outcomes[] = {SK_BATCH_FAILED, SK_BATCH_REFUSED, SK_BATCH_STOPPED,
                                                SK_BATCH_LOST};
    sk_batch_watcher *w = NULL;
    sk_batch *b = nine("shown");
    b->how.retries = b->how.losses = 1;
    assert_ok(sk_batch_watch_open(b, &w, &err), &err);
    for (int i = 0; i < 4; i++) { /* v0 … v3: an attempt ended so */
        claimed(b, i, 1);
        ended(b, i, (sk_batch_done){.attempt = 1, .outcome = outcomes[i]}, false);
    }
    claimed(b, 4, 1); /* nobody knows whose */
    const sk_batch_status *s = look(w);
    assert_true(s->attempts == 5 && s->attempts_failed == 2 && s->attempts_lost == 2);
    assert_true(s->failed == 1 && s->videos_failed == 1 && s->waiting == 7 && s->lost + s->running == 1);
    assert_int_equal(s->n_rows, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(s->rows[i].piece == piece_of(b, (int64_t)i) && s->rows[i].look.attempts == 1);
    assert_true(s->rows[0].look.state == SK_PIECE_WAITING && s->rows[1].look.state == SK_PIECE_GIVEN_UP);
    /* a part that is given up is a piece, and no video */
    claimed(b, 6, 1);
    ended(b, 6, (sk_batch_done){.attempt = 1, .outcome = SK_BATCH_REFUSED}, false);
    s = look(w);
    assert_true(s->failed == 2 && s->videos_failed == 1 && s->n_rows == 6 && s->attempts == 6);
    assert_ptr_equal(s->rows[5].piece, piece_of(b, 6));
    /* done at the second attempt: shown still, whether the first failed or was lost; at the first: not */
    for (int i = 0; i < 4; i += 2) {
        claimed(b, i, 2);
        ended(b, i, (sk_batch_done){.attempt = 2, .frames = 1}, true);
    }
    claimed(b, 8, 1);
    ended(b, 8, (sk_batch_done){.attempt = 1, .frames = 1}, true);
    for (int round = 0; round < 2; round++) {
        s = look(w);
        assert_true(s->n_rows == 5 && s->done == 5);
        assert_true(s->rows[0].look.state == SK_PIECE_DONE && s->rows[0].look.attempts == 2);
        assert_true(s->rows[2].look.state == SK_PIECE_DONE && s->rows[2].piece == piece_of(b, 2));
        assert_true(s->attempts == 9 && s->attempts_failed == 3 && s->attempts_lost == 2);
        assert_true(s->failed == 1 && s->videos_done == 3); /* v6 is of a merge that is done */
    }
    sk_batch_watch_close(&w);
    sk_batch_close(&b);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in %s", part, text);
}

static const char *json_of(sk_batch *b, const sk_batch_status *s)
{
    static char shown[8192];
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_batch_status_json(b, s, &json);
    assert_ok(sk_json_end(&json, &err), &err);
    snprintf(shown, sizeof shown, "%s", sk_text_get(&text));
    sk_text_free(&text);
    return shown;
}

/* A video, a part and a merge that run here, and say how far they are. */
static void what_runs(void **state)
{
    (void)state;
    static const int64_t running[] = {1, 3, 8};
    sk_batch_watcher *w = NULL;
    sk_claim claims[3];
    sk_batch *b = nine("runs");
    char path[SK_BATCH_PATH], wanted[512];
    assert_ok(sk_batch_watch_open(b, &w, &err), &err);
    for (int i = 0; i < 3; i++) {
        sk_batch_file(b, running[i], 1, "claim", path);
        assert_ok(sk_claim_take(path, b->round, &claims[i], &err), &err);
        claims[i].holder.frames = 10 + i;
        claims[i].holder.total = 100 + i;
        claims[i].holder.since_ms = 1000 - i;
        snprintf(claims[i].holder.slurm, sizeof claims[i].holder.slurm, "%s", i == 1 ? "12_3" : "");
        sk_claim_beat(&claims[i]);
    }
    const sk_batch_status *s = look(w);
    assert_true(s->running == 3 && s->waiting == 6 && s->done == 0 && s->n_rows == 3 && s->attempts == 3);
    assert_int_equal(s->frames_now, 10 + 11); /* a merge's are no new ones */
    assert_true(s->frames == 0 && s->last_ms == 0);
    assert_int_equal(s->first_ms, 998);
    const char *text = json_of(b, s);
    has(text, "\"running\":3,\"waiting\":6,\"lost\":0,\"failed\":0,\"videos\":5,\"videos_done\":0");
    has(text, "\"frames_now\":21,\"instances\":0,\"cancelled\":false,\"seconds\":0,\"rows\":[{\"piece\":1,");
    snprintf(wanted, sizeof wanted,
             "{\"piece\":1,\"attempts\":1,\"kind\":\"video\",\"source\":\"v1.mp4\",\"name\":\"v1\","
             "\"frames\":null,\"state\":\"running\",\"host\":\"%s\",\"slurm\":null,\"frame\":10,"
             "\"total\":100,\"ended\":[]},{\"piece\":3,",
             s->rows[0].look.holder.host);
    has(text, wanted);
    assert_true(s->rows[0].look.holder.host[0] != '\0');
    has(text, "\"slurm\":\"12_3\",\"frame\":11,\"total\":101,\"ended\":[]},{\"piece\":8,\"attempts\":1,"
              "\"kind\":\"merge\"");
    assert_ok(sk_batch_set_cancelled(b, true, &err), &err);
    has(json_of(b, s), "\"cancelled\":true");
    for (int i = 0; i < 3; i++)
        sk_claim_close(&claims[i]);
    sk_batch_watch_close(&w);
    sk_batch_close(&b);
}

static sk_status watch(void *context, sk_error *e)
{
    sk_batch_watcher *w = NULL;
    const sk_batch_status *s = NULL;
    sk_status status = sk_batch_watch_open(context, &w, e);
    if (status != SK_OK)
        assert_null(w);
    if (status == SK_OK)
        status = sk_batch_watch_look(w, &s, e);
    sk_batch_watch_close(&w);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    sk_batch *b = nine("memory");
    sk_claim claims[MANY];
    char path[SK_BATCH_PATH];
    for (int i = 0; i < MANY; i++)
        assert_ok(sk_claim_take(sk_batch_file(b, i, 1, "claim", path), b->round, &claims[i], &err), &err);
    assert_true(test_every_allocation(watch, b) >= 3);
    for (int i = 0; i < MANY; i++)
        sk_claim_close(&claims[i]);
    sk_batch_close(&b);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_yet), cmocka_unit_test(what_is_done),   cmocka_unit_test(what_is_shown),
        cmocka_unit_test(what_runs),   cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
