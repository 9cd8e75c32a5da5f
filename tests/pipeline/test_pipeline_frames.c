/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include <time.h>

/* What becomes of frames: each comes back once, whatever happens to it. */

static void delivered_with_its_user_pointer(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.keep_frames = true;
    s.depth = MANY;
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    const sk_result *out[MANY];
    int n = 0;
    for (int i = 0; i < MANY; i++) {
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, l[i], 0, &err), &err);
        if (i % 4 == 3) /* several are out at a time */
            while (n <= i - 2) {
                assert_ok(sk_pipeline_take(p, -1, &out[n], &err), &err);
                n++;
            }
    }
    sk_pipeline_finish(p);
    while (n < MANY) {
        assert_ok(sk_pipeline_take(p, -1, &out[n], &err), &err);
        n++;
    }
    const sk_result *end = out[0];
    assert_ok(sk_pipeline_take(p, -1, &end, &err), &err);
    assert_null(end);
    for (int i = MANY - 1; i >= 0; i--) { /* in any order */
        assert_int_equal(out[i]->ticket, i);
        assert_int_equal(out[i]->index, i);
        assert_int_equal(out[i]->time_ns, i * 40000000);
        assert_ptr_equal(out[i]->user, l[i]);
        assert_ptr_equal(out[i]->frame, &l[i]->frame);
        assert_int_equal(out[i]->status, SK_OK);
        assert_string_equal(out[i]->problem, "");
        assert_int_equal(l[i]->back, 0);
        sk_pipeline_give_back(p, out[i]);
        assert_int_equal(l[i]->back, 1);
    }
    sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
    sk_pipeline_get_stats(p, &stats);
    assert_true(stats.submitted == MANY && stats.delivered == MANY && stats.open_seconds > 0);
    sk_pipeline_close(&p);
    all_back_once(l, MANY);
}

static void a_copied_frame_is_free_at_once(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    s.keep_frames = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(4, 48, 40), *lent_one = make_lent(4, 48, 40);
    sk_frame local = l->frame;
    local.release = NULL;
    assert_ok(sk_pipeline_submit(p, &local, NULL, 0, &err), &err);
    memset(&local, 0x7f, sizeof local);
    memset(l->frame.data, 0x11, 48 * 40 * 3);
    assert_ok(sk_pipeline_submit(p, &lent_one->frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    const sk_result *a = NULL, *b = NULL;
    assert_ok(sk_pipeline_take(p, -1, &a, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &b, &err), &err);
    assert_null(a->frame);
    assert_true(first_score(a) > 0 && first_score(a) == first_score(b));
    sk_pipeline_close(&p);
    assert_int_equal(l->back, 0);
    assert_int_equal(lent_one->back, 1);
    free_lent(l);
    free_lent(lent_one);
}

static void cancelled(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    for (int i = 0; i < 5; i++)
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
    assert_int_equal(sk_pipeline_in_flight(p), 5);
    sk_pipeline_cancel(p);
    assert_int_equal(sk_pipeline_in_flight(p), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(l[i]->back, 1);
    const sk_result *result = NULL; /* used on */
    assert_ok(sk_pipeline_run(p, &l[5]->frame, &result, &err), &err);
    assert_int_equal(result->index, 5);
    sk_pipeline_close(&p); /* also ends the result */
    all_back_once(l, 6);
}

static void dropped_and_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int refuse = 0; refuse < 2; refuse++) {
        sk_pipeline_settings s = waiting_settings();
        s.when_full = refuse ? SK_FULL_REFUSE : SK_FULL_DROP_OLDEST;
        s.batch = s.depth = 4; /* full, and beginning, at the fourth */
        sk_pipeline *p = open_tiny(&s);
        lent *l[MANY];
        make_many(l);
        sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
        int taken = 0;
        for (int i = 0; i < MANY; i++) {
            sk_status status = sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err);
            assert_true(status == SK_OK || (refuse && status == SK_ERR_BUSY));
            taken += status == SK_OK;
            if (status != SK_OK)
                assert_int_equal(l[i]->back, 0);
            if (status != SK_OK)
                break;
        }
        assert_ok(sk_pipeline_drain(p, &err), &err);
        sk_pipeline_get_stats(p, &stats);
        assert_true(stats.refused == (refuse && taken < MANY));
        assert_int_equal(stats.dropped + sk_pipeline_in_flight(p), taken);
        assert_true(refuse ? stats.dropped == 0 : stats.dropped > 0 && taken == MANY);
        sk_pipeline_close(&p);
        all_back_once(l, taken);
    }
}

static void failed(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    const sk_result *result = NULL;
    l[0]->frame.stride = 5; /* not taken: not released */
    assert_int_equal(sk_pipeline_submit(p, &l[0]->frame, NULL, 0, &err), SK_ERR_ARG);
    assert_int_equal(l[0]->back, 0);
    l[0]->frame.stride = 48 * 3;
    l[0]->frame.place = SK_PLACE_CUDA; /* taken by nobody here */
    assert_int_equal(sk_pipeline_submit(p, &l[0]->frame, NULL, 0, &err) == SK_OK, true);
    sk_pipeline_flush(p);
    assert_ok(sk_pipeline_take(p, -1, &result, &err), &err); /* a result like others */
    assert_int_equal(result->status, SK_ERR_UNSUPPORTED);
    assert_true(result->problem[0] && !result->instances);
    sk_pipeline_give_back(p, result);
    l[1]->frame.place = SK_PLACE_CUDA;
    assert_int_equal(sk_pipeline_run(p, &l[1]->frame, &result, &err), SK_ERR_UNSUPPORTED);
    assert_null(result);
    sk_frame copied = l[2]->frame;
    copied.release = NULL;
    copied.place = SK_PLACE_CUDA;
    assert_int_equal(sk_pipeline_submit(p, &copied, NULL, 0, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "release"));
    sk_pipeline_close(&p);
    all_back_once(l, 2);
}

static void released_with_results_out(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    s.keep_frames = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    const sk_result *out = NULL, *none = NULL;
    assert_ok(sk_pipeline_submit(p, &l[0]->frame, l[0], SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &out, &err), &err);
    for (int i = 1; i < 4; i++)
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
    sk_pipeline_release(p);
    sk_pipeline_release(p);
    for (int i = 1; i < 4; i++)
        assert_int_equal(l[i]->back, 1);
    assert_int_equal(l[0]->back, 0);
    assert_true(out->user == l[0] && out->frame == &l[0]->frame && first_score(out) > 0); /* stays */
    assert_int_equal(sk_pipeline_submit(p, &l[5]->frame, NULL, 0, &err), SK_ERR_CANCELLED);
    assert_int_equal(sk_pipeline_take(p, -1, &none, &err), SK_ERR_CANCELLED);
    assert_int_equal(sk_pipeline_drain(p, &err), SK_ERR_CANCELLED);
    sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
    sk_pipeline_get_stats(p, &stats);
    assert_int_equal(stats.submitted, 4);
    sk_pipeline_give_back(p, out);
    assert_int_equal(l[0]->back, 1);
    sk_pipeline_close(&p);
    all_back_once(l, 4);
}

static void closed_while_in_flight(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int round = 0; round < 8; round++) {
        sk_pipeline_settings s = tiny_settings();
        s.depth = MANY;
        sk_pipeline *p = open_tiny(&s);
        lent *l[MANY];
        make_many(l);
        for (int i = 0; i < MANY; i++)
            assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
        if (round & 1)
            nanosleep(&(struct timespec){0, round * 200000}, NULL);
        sk_pipeline_close(&p);
        all_back_once(l, MANY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(delivered_with_its_user_pointer),
                                       cmocka_unit_test(a_copied_frame_is_free_at_once),
                                       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(dropped_and_refused),
                                       cmocka_unit_test(failed),
                                       cmocka_unit_test(released_with_results_out),
                                       cmocka_unit_test(closed_while_in_flight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
