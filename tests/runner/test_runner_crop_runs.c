/* SPDX-License-Identifier: Apache-2.0 */
#include "two_models.h"

#include "runner/offer.h"

#include <jansson.h>

/* How often the second of two networks runs, and what its timeline says of each frame. */

/* Four frames, the last three in one batch: how many runs the second network has for their crops. */
static int32_t runs_of(sk_runner_settings *s, const frames *set)
{
    sk_error err = {0};
    s->devices = "cpu";
    s->quick_open = true;
    s->when_full = SK_FULL_BLOCK;
    s->depth = 4;
    s->max_age_ms = 0;
    s->detector.batch = 3;
    s->batch_wait_ms = 3600000;
    s->detector.max_det = 3; /* crops a frame */
    sk_runner *r = open_two(s);
    plain_two p = {0};
    plain_two_open(&p, s);
    const int32_t before = atomic_load(&faults[0].submits);
    atomic_store(&faults[0].gate, 1);
    assert_ok(sk_runner_submit(r, &set->frames[0], NULL, NULL, &err), &err);
    sk_runner_flush(r);
    for (int i = 0; i < 5000 && atomic_load(&faults[0].submits) == before; i++)
        sk_clock_sleep_ns(2000000);
    for (int i = 1; i < 4; i++) /* they come together, while the first one is at work */
        assert_ok(sk_runner_submit(r, &set->frames[i], NULL, NULL, &err), &err);
    atomic_store(&faults[0].gate, 0);
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(expect_as_plain(r, &p, set, i), 3);
    const int32_t runs = atomic_load(&faults[0].submits) - before - 2; /* two of the first network */
    plain_two_close(&p);
    sk_runner_close(&r);
    return runs;
}

static void frames_share_a_run_where_none_is_urgent(void **state)
{
    (void)state;
    frames set = make_frames(4, 48, 40);
    sk_runner_settings s = two_settings();
    s.detector.crop_batch = 1;
    assert_int_equal(runs_of(&s, &set), 12); /* a crop a run */
    s = two_settings();
    s.detector.crop_batch = 2;
    s.mode = SK_PIPELINE_LATENCY;
    assert_int_equal(runs_of(&s, &set), 8); /* two and one of each frame */
    s = two_settings();
    s.detector.crop_batch = 8;
    s.mode = SK_PIPELINE_LATENCY;
    assert_int_equal(runs_of(&s, &set), 4); /* each frame by itself */
    s = two_settings();
    s.detector.crop_batch = 8;
    const int32_t shared = runs_of(&s, &set); /* eight and one of the last three, and of the first */
    assert_true(shared == 2 || shared == 3);
    free_frames(&set);
}

static int count_steps(json_t *events, const char *name, int64_t frame)
{
    size_t i;
    json_t *e;
    int count = 0;
    json_array_foreach(events, i, e)
    {
        json_t *args = json_object_get(e, "args");
        if (strcmp(json_string_value(json_object_get(e, "name")), name) != 0 ||
            json_integer_value(json_object_get(args, "frame")) != frame)
            continue;
        assert_int_equal(json_integer_value(json_object_get(args, "frames")), 1);
        count++;
    }
    return count;
}

static void every_step_of_both_is_in_the_timeline(void **state)
{
    (void)state;
    static const char *const steps[] = {"pre", "network", "post", "crops", "second network", "second post"};
    sk_error err = {0};
    char path[600];
    frames set = make_frames(3, 48, 40);
    sk_runner_settings s = two_settings();
    s.devices = "cpu";
    s.quick_open = true;
    s.timeline = 200;
    s.detector.max_det = 2;
    s.detector.crop_batch = 2;
    for (int checked = 0; checked < 2; checked++) {
        s.check_every = checked;
        sk_runner *r = open_two(&s);
        for (int i = 0; i < set.count; i++) {
            sk_runner_result result;
            assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
            sk_runner_flush(r);
            assert_ok(sk_runner_wait(r, &result, &err), &err);
        }
        snprintf(path, sizeof path, "%s/both.json", test_folder());
        assert_ok(sk_runner_write_timeline(r, path, &err), &err);
        json_t *root = json_load_file(path, 0, NULL), *events = json_object_get(root, "traceEvents");
        assert_non_null(root);
        for (int i = 0; i < set.count; i++)
            for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
                if (count_steps(events, steps[k], i) != 1)
                    fail_msg("frame %d: '%s' %d times", i, steps[k], count_steps(events, steps[k], i));
        for (int i = 0; i < set.count; i++) /* of the first network, and of the second one's crops */
            assert_int_equal(count_steps(events, "check", i), 2 * checked);
        json_decref(root);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* Files that run in the models' places are told once each, with the model they stand for. */
static void files_of_both_are_noted(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(2, 48, 40);
    sk_runner_settings s = two_settings();
    s.devices = "cpu";
    s.quick_open = true;
    faults[0].artifacts = true;
    sk_runner *r = open_two(&s);
    static sk_runner_file files[SK_RUNNER_MAX_FILES];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sk_runner_files(r, files), 2);
        for (int k = 0; k < 2; k++) {
            char path[32], hash[65];
            snprintf(path, sizeof path, "/made/%d.engine", k);
            snprintf(hash, sizeof hash, "%064d", k);
            assert_int_equal(files[k].model, k);
            assert_string_equal(files[k].path, path);
            assert_string_equal(files[k].sha256, hash);
        }
        sk_runner_result result;
        if (i < 2)
            assert_ok(sk_runner_run(r, &set.frames[i], NULL, &result, &err), &err);
    }
    sk_runner_close(&r);
    faults[0].artifacts = false;
    r = open_two(&s);
    assert_int_equal(sk_runner_files(r, files), 0); /* the graphs themselves */
    sk_runner_close(&r);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_share_a_run_where_none_is_urgent),
        cmocka_unit_test(every_step_of_both_is_in_the_timeline),
        cmocka_unit_test(files_of_both_are_noted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
