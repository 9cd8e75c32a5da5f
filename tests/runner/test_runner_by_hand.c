/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/internal.h"

#include "base/clock.h"
#include "base/instances.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The runner's lists, counters and figures, put together by hand: no thread, no network. */

static sk_runner runner;

static int setup(void **state)
{
    (void)state;
    memset(&runner, 0, sizeof runner);
    pthread_mutex_init(&runner.lock, NULL);
    pthread_cond_init(&runner.room, NULL);
    pthread_cond_init(&runner.ready, NULL);
    pthread_cond_init(&runner.gone, NULL);
    runner.n_models = 1;
    runner.depth = 3;
    runner.capacity = 4;
    runner.n_keypoints = 2;
    runner.state = SK_RUNNER_RUNNING;
    runner.counted.worst_pcc = 1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pthread_mutex_lock(&runner.lock);
    sk_items_close(&runner, true);
    pthread_mutex_unlock(&runner.lock);
    return 0;
}

static int32_t count_of(const sk_item *list)
{
    int32_t n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

/* A new item in flight, with this ticket. */
static sk_item *flying(int64_t ticket)
{
    sk_item *item = runner.free_items;
    assert_non_null(item);
    runner.free_items = item->next;
    item->ticket = ticket;
    item->state = SK_ITEM_NETWORK;
    item->share = 1;
    item->announced = item->abandoned = false;
    sk_item_link(&runner, item);
    return item;
}

/* Moments so many microseconds apart: SUBMIT, QUEUED, PRE, READY, NETWORK, COMPUTED, POST, POSTED, SECOND, DONE. */
static void put_moments(sk_item *item)
{
    static const int64_t us[SK_AT_COUNT] = {0, 1, 3, 9, 19, 59, 64, 71, 82, 100};
    for (int i = 0; i < SK_AT_COUNT; i++)
        item->at[i] = 5000000 + us[i] * 1000;
}

static void expect_ms(sk_stage stage, int64_t count, double ms)
{
    static sk_runner_stats stats;
    sk_runner_get_stats(&runner, &stats);
    const sk_runner_stage_stats *s = &stats.stages[stage];
    if (s->count != count || fabs(s->sum - ms) > 1e-6)
        fail_msg("%s: %d times, %g ms, not %d and %g", sk_stage_name(stage), (int)s->count, s->sum,
                 (int)count, ms);
}

/* What one frame adds to the figures of each stage: a frame's share of what its batch took, seconds of the device as they are. */
static void times_go_to_their_stages(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_items_open(&runner, &err), &err);
    sk_item *item = flying(0);
    put_moments(item);
    item->share = 2;
    item->post = 7000;
    sk_item_finish(&runner, item);
    expect_ms(SK_STAGE_UPLOAD, 0, 0);
    expect_ms(SK_STAGE_DOWNLOAD, 0, 0);
    expect_ms(SK_STAGE_CHECK, 0, 0);
    expect_ms(SK_STAGE_QUEUE, 1, 0.002);
    expect_ms(SK_STAGE_PRE, 1, 0.003);
    expect_ms(SK_STAGE_WAIT_NETWORK, 1, 0.010);
    expect_ms(SK_STAGE_NETWORK, 1, 0.020);
    expect_ms(SK_STAGE_WAIT_POST, 1, 0.005);
    expect_ms(SK_STAGE_POST, 1, 0.007);
    expect_ms(SK_STAGE_TOTAL, 1, 0.1);
    for (int stage = SK_STAGE_CROPS; stage < SK_STAGE_COUNT; stage++)
        expect_ms((sk_stage)stage, 0, 0);
    /* with a second model, transfers, a copy and a check */
    runner.n_models = 2;
    item = flying(1);
    put_moments(item);
    item->upload = 0.25, item->download = 0.5, item->copying = 0.125, item->checking = 2;
    item->crops = 1000, item->second = 2000, item->second_post = 3000;
    sk_item_finish(&runner, item);
    expect_ms(SK_STAGE_UPLOAD, 1, 250);
    expect_ms(SK_STAGE_DOWNLOAD, 1, 625);
    expect_ms(SK_STAGE_CHECK, 1, 2000);
    expect_ms(SK_STAGE_NETWORK, 2, 0.060);
    expect_ms(SK_STAGE_CROPS, 1, 0.001);
    expect_ms(SK_STAGE_WAIT_SECOND, 1, 0.011);
    expect_ms(SK_STAGE_SECOND, 1, 0.002);
    expect_ms(SK_STAGE_SECOND_POST, 1, 0.003);
    /* a copy alone is a download, too; a frame that failed has no times, one whose check failed has */
    item = flying(2);
    put_moments(item);
    item->upload = item->download = item->checking = 0;
    item->copying = 0.125;
    item->status = SK_ERR_RUNTIME;
    sk_item_finish(&runner, item);
    expect_ms(SK_STAGE_TOTAL, 2, 0.2);
    item = flying(3);
    put_moments(item);
    item->copying = 0.125;
    item->status = SK_ERR_MISMATCH;
    item->checked = (sk_check){.ran = true, .pcc = 0.5};
    item->whole = true;
    sk_item_finish(&runner, item);
    expect_ms(SK_STAGE_TOTAL, 3, 0.3);
    expect_ms(SK_STAGE_DOWNLOAD, 2, 750);
    static sk_runner_stats stats;
    sk_runner_get_stats(&runner, &stats);
    assert_true(stats.failed == 2 && stats.checks == 1 && stats.checks_failed == 1 && stats.whole == 1);
    assert_true(stats.worst_pcc == 0.5);
    sk_runner_reset_stats(&runner);
    sk_runner_get_stats(&runner, &stats);
    assert_true(stats.worst_pcc == 1 && stats.failed == 0 && stats.whole == 0 && stats.checks == 0);
    for (int stage = 0; stage < SK_STAGE_COUNT; stage++)
        expect_ms((sk_stage)stage, 0, 0);
}

static void the_worst_check_is_kept(void **state)
{
    (void)state;
    static const struct {
        double pcc, worst;
    } checks[] = {{0.9, 0.9}, {0.95, 0.9}, {0.8, 0.8}, {1, 0.8}};
    sk_error err = {0};
    runner.depth = 8;
    assert_ok(sk_items_open(&runner, &err), &err);
    assert_int_equal(count_of(runner.free_items), 9); /* one more, for the reader to hold */
    for (int i = 0; i < 4; i++) {
        sk_item *item = flying(i);
        item->checked = (sk_check){.ran = true, .passed = i != 2, .pcc = checks[i].pcc};
        sk_item_finish(&runner, item);
        assert_true(runner.counted.worst_pcc == checks[i].worst);
    }
    assert_true(runner.counted.checks == 4 && runner.counted.checks_failed == 1);
    sk_item *item = flying(4);
    item->checked = (sk_check){.ran = true, .pcc = (double)NAN};
    sk_item_finish(&runner, item);
    assert_true(isnan(runner.counted.worst_pcc)); /* no number is worse than every number */
    item = flying(5);
    item->abandoned = true;
    runner.abandoned = 1;
    sk_item_unlink(&runner, item);
    item->checked = (sk_check){.ran = true};
    sk_item_finish(&runner, item); /* nobody is told of it */
    assert_int_equal(runner.counted.checks, 5);
    assert_int_equal(item->state, SK_ITEM_FREE);
    assert_int_equal(runner.abandoned, 0);
    assert_int_equal(count_of(runner.free_items), 4);
    assert_int_equal(runner.in_flight, 5);
}

/* Results are announced in order, each once, when those before it are there or gone. */
static void results_are_announced_in_order(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_items_open(&runner, &err), &err);
    sk_item *a = flying(0), *b = flying(1), *c = flying(2);
    assert_ptr_equal(runner.oldest, a);
    assert_ptr_equal(runner.newest, c);
    assert_int_equal(runner.in_flight, 3);
    sk_item_finish(&runner, c);
    assert_int_equal(runner.news, 0);
    sk_item_finish(&runner, a);
    assert_int_equal(runner.news, 1);
    sk_item_free(&runner, b); /* it was given up: c is next */
    assert_int_equal(runner.news, 2);
    assert_ptr_equal(a->newer, c);
    assert_ptr_equal(c->older, a);
    sk_item_free(&runner, a);
    assert_int_equal(runner.news, 2);
    assert_ptr_equal(runner.oldest, c);
    sk_item_free(&runner, c);
    assert_true(!runner.oldest && !runner.newest && runner.in_flight == 0 && runner.news == 2);
}

/* Pending frames are in the order of their tickets, also those that come back from a device. */
static void pending_is_by_ticket(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(sk_items_open(&runner, &err), &err);
    sk_item *items[3];
    static const int order[] = {1, 2, 0};
    for (int i = 0; i < 3; i++)
        items[i] = flying(i);
    for (int i = 0; i < 3; i++)
        sk_item_pend(&runner, items[order[i]]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(items[i]->state, SK_ITEM_PENDING);
    assert_ptr_equal(runner.pending, items[0]);
    assert_ptr_equal(items[0]->next, items[1]);
    assert_ptr_equal(items[1]->next, items[2]);
    assert_null(items[2]->next);
    sk_item_free(&runner, items[1]); /* from the middle */
    assert_ptr_equal(items[0]->next, items[2]);
    assert_ptr_equal(runner.free_items, items[1]);
    sk_item_free(&runner, items[2]);
    sk_item_free(&runner, items[0]);
    assert_null(runner.pending);
    assert_int_equal(count_of(runner.free_items), 4);
    assert_int_equal(runner.in_flight, 0);
}

static int given_back[8], n_given, n_ready;

static void frame_done(void *context, const sk_frame *frame)
{
    assert_ptr_equal(context, &given_back);
    given_back[n_given++] = (int)frame->index;
}

static void other_done(void *context, const sk_frame *frame)
{
    given_back[n_given++] = (int)frame->index + *(int *)context;
}

static void result_ready(void *context)
{
    assert_ptr_equal(context, &given_back);
    n_ready++;
}

/* Frames go back in the order they are given back, to whom their call says; once. */
static void frames_go_back(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame frames[4] = {{.index = 0}, {.index = 1}, {.index = 2}, {.index = 3}};
    int more = 100;
    const sk_runner_call other = {.frame_done = other_done, .frame_context = &more},
                         instead = {.given = &frames[3]};
    n_given = n_ready = 0;
    runner.settings.frame_done = frame_done;
    runner.settings.result_ready = result_ready;
    runner.settings.context = &given_back;
    runner.settings.frames = SK_RUNNER_HOLD;
    assert_ok(sk_items_open(&runner, &err), &err);
    sk_item *items[3];
    for (int i = 0; i < 3; i++) {
        items[i] = flying(i);
        assert_ok(sk_item_lend(&runner, items[i], &frames[i],
                               i == 1   ? &other
                               : i == 2 ? &instead
                                        : NULL,
                               &err),
                  &err);
    }
    sk_item_finish(&runner, items[0]); /* held: it stays lent until the reader is done */
    assert_non_null(items[0]->lent);
    runner.settings.frames = SK_RUNNER_BORROW;
    sk_item_finish(&runner, items[1]);
    assert_null(items[1]->lent);
    pthread_mutex_lock(&runner.lock);
    sk_runner_tell(&runner);
    assert_int_equal(n_given, 1);
    assert_int_equal(given_back[0], 101);
    assert_int_equal(n_ready, 2);
    sk_item_give_back(&runner, items[2]);
    sk_item_give_back(&runner, items[2]);
    sk_item_give_back(&runner, items[0]);
    sk_runner_tell(&runner);
    sk_runner_tell(&runner);
    pthread_mutex_unlock(&runner.lock);
    assert_int_equal(n_given, 3);
    assert_int_equal(given_back[1], 3);
    assert_int_equal(given_back[2], 0);
    assert_int_equal(n_ready, 2);
    int32_t unused = 0;
    for (const sk_lent *l = runner.free_lent; l; l = l->next)
        unused++;
    assert_int_equal(unused, 8); /* two an item, all of them back */
}

/* Files that ran in a model's place: each of a model, a path and a content once. */
static void files_are_noted_once(void **state)
{
    (void)state;
    static sk_session session;
    sk_trace trace = {.session = &session};
    static sk_runner_file files[SK_RUNNER_MAX_FILES];
    static const struct {
        int32_t model;
        const char *path, *sha;
        int32_t count;
    } steps[] = {{0, "a", "", 0},  {0, "a", "1", 1}, {0, "a", "1", 1}, {1, "a", "1", 2}, {1, "b", "1", 3},
                 {1, "b", "2", 4}, {0, "b", "2", 5}, {1, "a", "1", 5}, {1, "b", "2", 5}, {0, "a", "1", 5}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        strcpy(session.info.artifact, steps[i].path);
        strcpy(session.info.artifact_sha256, steps[i].sha);
        sk_runner_note_file(&runner, steps[i].model, &trace);
        assert_int_equal(sk_runner_files(&runner, files), steps[i].count);
    }
    assert_true(files[2].model == 1 && !strcmp(files[2].path, "b") && !strcmp(files[2].sha256, "1"));
    assert_true(files[4].model == 0 && !strcmp(files[4].path, "b") && !strcmp(files[4].sha256, "2"));
    for (int i = 0; i < 2 * SK_RUNNER_MAX_FILES; i++) {
        snprintf(session.info.artifact, sizeof session.info.artifact, "%d", i);
        sk_runner_note_file(&runner, 0, &trace);
    }
    assert_int_equal(sk_runner_files(&runner, files), SK_RUNNER_MAX_FILES);
}

#define BY_HAND(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BY_HAND(times_go_to_their_stages),
        BY_HAND(the_worst_check_is_kept),
        BY_HAND(results_are_announced_in_order),
        BY_HAND(pending_is_by_ticket),
        BY_HAND(frames_go_back),
        BY_HAND(files_are_noted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
