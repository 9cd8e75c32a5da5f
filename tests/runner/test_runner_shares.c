/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/internal.h"

#include "base/clock.h"
#include "support/test.h"

#include <math.h>

/* Who takes the next frame, and where a stage stands in its queue: lanes put together by hand, without a thread. */

enum { LANES = 3 };
#define SECOND_NS 1000000000.0

static sk_runner runner;
static sk_lane lanes[LANES];

static int setup(void **state)
{
    (void)state;
    runner = (sk_runner){.lanes = lanes, .n_lanes = LANES, .n_models = 1};
    runner.settings.mode = SK_PIPELINE_THROUGHPUT;
    runner.settings.detector.batch = 1;
    for (int32_t i = 0; i < LANES; i++) {
        lanes[i] = (sk_lane){.runner = &runner, .index = i, .n_jobs = 4};
        sk_lane_list_stages(&lanes[i], 1, NULL);
    }
    return 0;
}

/* So many jobs in the lane, so many seconds a frame, the last one done so many seconds ago. */
static void put(int lane, int load, double pace, double silent)
{
    lanes[lane].stages[SK_LANE_PRE].begun = 7 + load;
    lanes[lane].stages[SK_LANE_POST].done = 7;
    lanes[lane].pace = pace * SECOND_NS;
    lanes[lane].last_done = sk_clock_ns() - (int64_t)(silent * SECOND_NS);
}

static bool near(double ns, double seconds)
{
    return fabs(ns / SECOND_NS - seconds) < 3; /* a busy machine */
}

static void one_that_is_silent_is_as_slow_as_it_shows(void **state)
{
    (void)state;
    put(0, 2, 0, 1000);
    assert_int_equal(sk_lane_load(&lanes[0]), 2);
    assert_true(sk_lane_until_done(&lanes[0]) == 0); /* nobody knows yet */
    put(0, 0, 100, 5000);
    assert_true(near(sk_lane_until_done(&lanes[0]), 100)); /* idle, not silent */
    put(0, 2, 100, 0);
    assert_true(near(sk_lane_until_done(&lanes[0]), 300));
    put(0, 2, 100, 290);
    assert_true(near(sk_lane_until_done(&lanes[0]), 300));
    put(0, 1, 100, 310);
    assert_true(near(sk_lane_until_done(&lanes[0]), 620));
    runner.settings.detector.batch = 4; /* so many frames are silent together */
    assert_true(near(sk_lane_until_done(&lanes[0]), 200));
    put(0, 1, 100, 1300);
    assert_true(near(sk_lane_until_done(&lanes[0]), 650));
}

/* A frame's time is measured from when it was taken, or from the frame before where that was later; a quarter of it is new. */
static void pace_is_learnt(void **state)
{
    (void)state;
    sk_item first = {0}, second = {0};
    sk_item *items[] = {&first, &second};
    sk_job job = {.count = 2, .items = items};
    const int64_t now = sk_clock_ns();
    sk_lane *lane = &lanes[0];
    lane->last_done = now - (int64_t)(500 * SECOND_NS);
    first.at[SK_AT_PRE] = now - (int64_t)(200 * SECOND_NS);
    second.at[SK_AT_PRE] = now - (int64_t)(7 * SECOND_NS);
    sk_lane_note_pace(lane, &job);
    assert_true(near(lane->pace, 100));
    assert_true(lane->last_done >= now);
    lane->last_done = now - (int64_t)(80 * SECOND_NS);
    sk_lane_note_pace(lane, &job);
    assert_true(near(lane->pace, 0.75 * 100 + 0.25 * 40));
    const double pace = lane->pace;
    job.skip = true; /* it went through no network */
    lane->last_done = 0;
    sk_lane_note_pace(lane, &job);
    assert_true(lane->pace == pace && lane->last_done >= now);
    job = (sk_job){.items = items};
    lane->last_done = 0;
    sk_lane_note_pace(lane, &job);
    assert_true(lane->pace == pace && lane->last_done >= now);
}

static void a_slow_lane_leaves_frames_to_a_quick_one(void **state)
{
    (void)state;
    static const struct {
        int own_load, load[2];
        double own_pace, pace[2];
        bool leaves;
    } cases[] = {
        {1, {0, 0}, 160, {100, 0}, true}, /* just uneven enough */
        {1, {0, 0}, 159, {100, 0}, false},   {1, {0, 0}, 159, {0, 100}, false},
        {0, {0, 0}, 900, {100, 100}, false}, /* it has nothing to do */
        {1, {0, 0}, 0, {100, 100}, false},   /* nobody knows */
        {1, {3, 0}, 200, {100, 0}, false},   /* both in 400 s: here it is */
        {1, {2, 0}, 200, {100, 0}, true},    {1, {4, 9}, 200, {100, 100}, false},
        {1, {9, 2}, 200, {100, 100}, true},  {2, {4, 0}, 200, {100, 0}, true}, /* 600 s against 500 */
        {1, {0, 0}, 200, {190, 100}, true}, /* the quickest of all counts */
        {1, {0, 0}, 200, {300, 190}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t when = 17;
        const int64_t now = sk_clock_ns();
        setup(NULL);
        put(0, cases[i].own_load, cases[i].own_pace, 0);
        put(1, cases[i].load[0], cases[i].pace[0], 0);
        put(2, cases[i].load[1], cases[i].pace[1], 0);
        if (sk_lane_leaves(&lanes[0], &when) != cases[i].leaves)
            fail_msg("case %zu", i);
        if (cases[i].leaves)
            assert_true(near((double)(when - now), cases[i].own_pace));
        else
            assert_int_equal(when, 17);
        lanes[1].failed = lanes[2].failed = true; /* left to nobody */
        assert_false(sk_lane_leaves(&lanes[0], &when));
        lanes[1].failed = lanes[2].failed = false;
        runner.settings.mode = SK_PIPELINE_LATENCY;
        assert_false(sk_lane_leaves(&lanes[0], &when));
        runner.settings.mode = SK_PIPELINE_THROUGHPUT;
        runner.n_lanes = 1;
        assert_false(sk_lane_leaves(&lanes[0], &when));
        runner.n_lanes = 2;
        if (cases[i].pace[1] == 0)
            assert_int_equal(sk_lane_leaves(&lanes[0], &when), cases[i].leaves);
    }
}

/* Which lane is woken: what is idle, has least to do and, of those that have something to do, is done soonest. */
static void the_idlest_is_woken(void **state)
{
    (void)state;
    static const struct {
        bool idle[LANES], failed[LANES];
        int load[LANES];
        double pace[LANES];
        int woken;
    } cases[] = {{{true, true, true}, {false}, {2, 1, 1}, {1, 1, 1}, 1},
                 {{true, true, true}, {false}, {2, 1, 1}, {1, 9, 3}, 2},
                 {{true, true, true}, {false}, {1, 2, 2}, {9, 1, 9}, 1}, /* 3 s against 18 */
                 {{true, true, true}, {false}, {0, 0, 0}, {9, 1, 1}, 0},
                 {{true, true, true}, {false}, {0, 1, 1}, {90, 1, 1}, 0},
                 {{false, true, true}, {false}, {0, 1, 1}, {1, 1, 1}, 1},
                 {{true, true, true}, {true, true, false}, {0, 0, 3}, {1, 1, 1}, 2},
                 {{true, true, true}, {false}, {1, 1, 0}, {1, 1, 1}, 2},
                 {{false, false, false}, {false}, {0, 0, 0}, {1, 1, 1}, -1},
                 {{true, true, true}, {true, true, true}, {0, 0, 0}, {1, 1, 1}, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setup(NULL);
        for (int k = 0; k < LANES; k++) {
            put(k, cases[i].load[k], 100 * cases[i].pace[k], 0);
            lanes[k].idle = cases[i].idle[k];
            lanes[k].failed = cases[i].failed[k];
        }
        sk_lanes_wake(&runner);
        for (int k = 0; k < LANES; k++)
            if (lanes[k].idle != (cases[i].idle[k] && k != cases[i].woken))
                fail_msg("case %zu: lane %d", i, k);
        int32_t alive = 0;
        for (int k = 0; k < LANES; k++)
            alive += !cases[i].failed[k];
        assert_int_equal(sk_lanes_alive(&runner), alive);
    }
}

/* Jobs lie in a ring; what waits before a stage are those that the one before it is done with. */
static void queues_are_two_numbers(void **state)
{
    (void)state;
    for (int models = 1; models <= 2; models++) {
        sk_lane *lane = &lanes[0];
        sk_lane_list_stages(lane, models, NULL);
        assert_int_equal(lane->n_stages, models + 2);
        static const char *const names[] = {"pre", "network", "post", "second"};
        for (int i = 0; i < lane->n_stages; i++) {
            assert_string_equal(lane->stages[i].name, names[i]);
            assert_int_equal(lane->stages[i].index, i);
            assert_ptr_equal(lane->stages[i].lane, lane);
        }
        lane->stages[SK_LANE_PRE].begun = 12;
        lane->stages[SK_LANE_PRE].done = 11;
        lane->stages[SK_LANE_NETWORK].begun = 10;
        lane->stages[SK_LANE_NETWORK].done = lane->stages[SK_LANE_POST].begun = 9;
        lane->stages[SK_LANE_POST].done = 9;
        lane->stages[SK_LANE_SECOND].begun = lane->stages[SK_LANE_SECOND].done = 9;
        assert_int_equal(sk_lane_load(lane), 3);
        assert_null(sk_stage_next(&lane->stages[SK_LANE_PRE])); /* frames wait there, not jobs */
        assert_ptr_equal(sk_stage_next(&lane->stages[SK_LANE_NETWORK]), &lane->jobs[10 % 4]);
        assert_ptr_equal(sk_stage_oldest(&lane->stages[SK_LANE_NETWORK]), &lane->jobs[9 % 4]);
        assert_null(sk_stage_next(&lane->stages[SK_LANE_POST]));
        for (int i = 0; i < lane->n_stages; i++)
            assert_false(sk_stage_over(&lane->stages[i]));
        lane->failed =
            true; /* what has a network ahead of it ends; behind the last one the rest is finished */
        for (int i = 0; i < lane->n_stages; i++)
            assert_true(sk_stage_over(&lane->stages[i]));
        lane->stages[SK_LANE_NETWORK].done = 10;
        for (int i = 0; i < lane->n_stages; i++)
            assert_int_equal(sk_stage_over(&lane->stages[i]), models == 2 || i != SK_LANE_POST);
        lane->failed = false;
        runner.state = SK_RUNNER_ENDING;
        for (int i = 0; i < lane->n_stages; i++)
            assert_true(sk_stage_over(&lane->stages[i]));
        runner.state = SK_RUNNER_RUNNING;
    }
}

static void moments_are_marked(void **state)
{
    (void)state;
    sk_item items[3] = {{0}};
    sk_item *list[] = {&items[0], &items[1], &items[2]};
    const sk_job job = {.count = 2, .items = list};
    sk_job copy = job;
    sk_job_mark(&copy, SK_ITEM_POST, SK_AT_POST, 77);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(items[i].state, i < 2 ? SK_ITEM_POST : SK_ITEM_FREE);
        assert_int_equal(items[i].at[SK_AT_POST], i < 2 ? 77 : 0);
    }
}

/* Where a frame is that takes too long. */
static void states_are_told_as_stages(void **state)
{
    (void)state;
    static const struct {
        sk_item_state state;
        const char *name;
    } cases[] = {{SK_ITEM_PENDING, "queue"},    {SK_ITEM_PRE, "pre"},
                 {SK_ITEM_NETWORK, "network"},  {SK_ITEM_WAIT_NETWORK, "wait network"},
                 {SK_ITEM_POST, "post"},        {SK_ITEM_WAIT_POST, "wait post"},
                 {SK_ITEM_DONE, "wait reader"}, {SK_ITEM_WAIT_SECOND, "wait second"},
                 {SK_ITEM_HELD, "wait reader"}, {SK_ITEM_SECOND, "second network"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(sk_item_state_name(cases[i].state), cases[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_that_is_silent_is_as_slow_as_it_shows, setup),
        cmocka_unit_test_setup(pace_is_learnt, setup),
        cmocka_unit_test_setup(a_slow_lane_leaves_frames_to_a_quick_one, setup),
        cmocka_unit_test_setup(the_idlest_is_woken, setup),
        cmocka_unit_test_setup(queues_are_two_numbers, setup),
        cmocka_unit_test(moments_are_marked),
        cmocka_unit_test(states_are_told_as_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
