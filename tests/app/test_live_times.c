/* SPDX-License-Identifier: Apache-2.0 */
/* Who is who as results come, by made-up results: numbers follow animals, and time is what the frames say. */
#include "support/test.h"

#include "base/instances.h"
#include "skitter/skitter.h"

#include <math.h>

static sk_error err;
static sk_instances list;
static sk_result result;
static int32_t ids[8];

static sk_live_tracks *open_tracks(double fps)
{
    static const char *const names[] = {"fly"};
    const sk_pipeline_info about = {
        .task = SK_TASK_DETECT, .n_classes = 1, .class_names = names, .has = SK_HAS_BOX};
    sk_live_tracks_settings s = SK_LIVE_TRACKS_SETTINGS_INIT;
    sk_live_tracks *tracks = NULL;
    sk_live_tracks_defaults(&s);
    s.fps = fps;
    assert_ok(sk_live_tracks_open(&about, &s, &tracks, &err), &err);
    return tracks;
}

/* Boxes of 20 pixels around these places along x, ended by a negative one. */
static const int32_t *tell(sk_live_tracks *tracks, int64_t ms, const float *places)
{
    list.count = 0;
    for (; *places >= 0; places++) {
        sk_found *f = sk_instances_add(&list);
        assert_non_null(f);
        f->has = SK_HAS_BOX;
        f->class_id = 0;
        f->score = 0.9f;
        const float box[4] = {*places - 10, 90, *places + 10, 110};
        for (int k = 0; k < 4; k++)
            f->box[k] = box[k];
    }
    result = (sk_result){.size = sizeof result,
                         .index = 70,
                         .time_ns = ms * 1000000,
                         .width = 640,
                         .height = 200,
                         .instances = &list};
    for (int i = 0; i < 8; i++)
        ids[i] = -9;
    assert_ok(sk_live_tracks_tell(tracks, &result, ids, 8, &err), &err);
    return ids;
}

static int begin(void **state)
{
    (void)state;
    return sk_instances_alloc(8, 0, &list, &err) == SK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    sk_instances_free(&list);
    return 0;
}

/* Two animals keep their numbers, in whichever order they are found; beyond them nothing is written. */
static void numbers_follow_animals(void **state)
{
    (void)state;
    sk_live_tracks *t = open_tracks(0);
    int32_t left = -1, right = -1;
    for (int i = 0; i < 12; i++) {
        const float a = 100 + 2 * (float)i, b = 400 - 2 * (float)i;
        const float there[] = {a, b, -1}, back[] = {b, a, -1};
        tell(t, 1000 + 40 * i, i % 2 ? back : there);
        if (i == 11) {
            left = ids[1];
            right = ids[0];
        } else if (i == 10) {
            left = ids[0];
            right = ids[1];
        }
        if (i == 10 || i == 11)
            assert_true(left >= 0 && right >= 0 && left != right);
        assert_int_equal(ids[2], -9);
    }
    tell(t, 1000 + 40 * 12, (const float[]){376, 124, -1});
    assert_true(ids[0] == right && ids[1] == left);
    sk_live_tracks_close(&t);
    assert_null(t);
    sk_live_tracks_close(&t);
}

static void what_is_refused(void **state)
{
    (void)state;
    sk_live_tracks *t = open_tracks(0);
    tell(t, 5000, (const float[]){100, 300, -1});
    assert_int_equal(sk_live_tracks_tell(t, &result, ids, 1, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "there is room for the tracks of 1 instances, and the frame has 2");
    result.time_ns = 4999999999;
    assert_int_equal(sk_live_tracks_tell(t, &result, ids, 2, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "frame 70 is earlier than the one before it: tracks go with time");
    result.time_ns = 5000000000;
    assert_ok(sk_live_tracks_tell(t, &result, ids, 2, &err), &err); /* the same time is no earlier one */
    assert_int_equal(sk_live_tracks_tell(NULL, &result, ids, 2, &err), SK_ERR_ARG);
    assert_int_equal(sk_live_tracks_tell(t, NULL, ids, 2, &err), SK_ERR_ARG);
    assert_int_equal(sk_live_tracks_tell(t, &result, NULL, 2, &err), SK_ERR_ARG);
    result.instances = NULL; /* a frame that failed */
    result.time_ns = 1;
    assert_ok(sk_live_tracks_tell(t, &result, NULL, 0, &err), &err);
    sk_live_tracks_close(&t);
}

/* An animal that was away, for a while and for some frames in which it is not found. */
static bool is_another(double fps, int64_t step_ms, int64_t gap_ms, int empty)
{
    sk_live_tracks *t = open_tracks(fps);
    int64_t now = 7000;
    int32_t before = -1, after = -1;
    for (int i = 0; i < 10; i++, now += step_ms)
        before = tell(t, now, (const float[]){200, -1})[0];
    assert_true(before >= 0);
    for (int i = 0; i < empty; i++, now += step_ms)
        tell(t, now, (const float[]){-1});
    now += gap_ms;
    for (int i = 0; i < 10; i++, now += step_ms)
        after = tell(t, now, (const float[]){200, -1})[0];
    assert_true(after >= 0);
    sk_live_tracks_close(&t);
    return after != before;
}

static void time_is_what_frames_say(void **state)
{
    (void)state;
    assert_false(is_another(0, 40, 0, 0));
    assert_false(is_another(0, 40, 200, 0));
    assert_true(is_another(0, 40, 600000, 0));
    assert_true(is_another(25, 40, 600000, 0));
    assert_false(is_another(0, 1, 0, 40)); /* forty frames are as long as they say */
    assert_true(is_another(0, 40, 0, 1500));
}

/* Frames without times are a frame apart. */
static void frames_without_times(void **state)
{
    (void)state;
    assert_false(is_another(0, 0, 0, 0));
    assert_false(is_another(1000, 0, 0, 40));
    assert_false(is_another(0, 0, 0, 5));
    assert_true(is_another(0, 0, 0, 1500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_animals),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(time_is_what_frames_say),
        cmocka_unit_test(frames_without_times),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
