/* SPDX-License-Identifier: Apache-2.0 */
#include "two_models.h"

#include "runner/offer.h"

/* How many frames, jobs and slots there are for devices of every kind, and which frames are taken as they come. */

static void depth_and_slots_follow_the_device(void **state)
{
    (void)state;
    static const struct {
        int models, lanes, batch, side;
        bool gpu, latency;
        int32_t depth, slots, jobs;
    } cases[] = {{1, 1, 1, 32, false, false, 4, 2, 3},
                 {1, 1, 1, 512, false, false, 4, 2, 3}, /* as large as two copies may be */
                 {1, 1, 2, 512, false, false, 8, 1, 2},
                 {1, 1, 4, 256, false, false, 16, 2, 3},
                 {1, 1, 1, 544, false, false, 4, 1, 2},
                 {1, 1, 1, 32, false, true, 2, 1, 1},
                 {1, 1, 1, 32, true, false, 4, 3, 5},
                 {1, 2, 3, 32, true, false, 21, 3, 5},
                 {1, 1, 1, 32, true, true, 2, 1, 1},
                 {2, 1, 1, 32, false, false, 4, 2, 3},
                 {2, 1, 1, 32, true, false, 7, 3, 7}, /* three more in the second network */
                 {2, 2, 1, 32, true, false, 13, 3, 7},
                 {2, 1, 9, 32, true, false, 45, 3, 7},
                 {2, 1, 1, 32, true, true, 2, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_runner_settings s = two_settings();
        const sk_model *models[] = {finder, poser};
        sk_runner *r = NULL;
        sk_error err = {0};
        s.quick_open = true;
        s.detector.rect = SK_RECT_OFF;
        s.detector.batch = cases[i].batch;
        s.detector.height = s.detector.width = cases[i].side;
        s.devices = cases[i].lanes == 2 ? "cpu,cpu" : "cpu";
        s.mode = cases[i].latency ? SK_PIPELINE_LATENCY : SK_PIPELINE_THROUGHPUT;
        assert_ok(
            sk_runner_open_on(models, cases[i].models, &s, cases[i].gpu ? fault_engines : NULL, &r, &err),
            &err);
        if (sk_runner_depth(r) != cases[i].depth || r->lanes[0].slots != cases[i].slots ||
            r->lanes[0].n_jobs != cases[i].jobs)
            fail_msg("case %zu: depth %d, slots %d, jobs %d", i, sk_runner_depth(r), r->lanes[0].slots,
                     r->lanes[0].n_jobs);
        assert_int_equal(sk_session_about(r->lanes[0].trace.session)->slots, cases[i].slots);
        assert_int_equal(r->lanes[0].n_stages, cases[i].models + 2);
        sk_runner_close(&r);
    }
}

/* Frames where they lie on a device, or as planes of video: only where every lane reads them so and nothing else needs pixels. */
static void frames_are_taken_where_all_read_them(void **state)
{
    (void)state;
    const sk_engine reads = {.name = "reads", .can = {.reads = SK_READS_DEVICE}}, other = {.name = "other"};
    static const struct {
        bool nv12, copy, failover, second_reads;
        int models, check_every, indices[2];
        bool takes_nv12, takes_device;
    } cases[] = {{true, false, false, true, 1, 0, {1, 1}, true, true},
                 {false, false, false, true, 1, 0, {1, 1}, false, false},
                 {true, true, false, true, 1, 0, {1, 1}, true, false},
                 {true, false, true, true, 1, 0, {1, 1}, false, false},
                 {true, false, false, false, 1, 0, {1, 1}, true, false},
                 {true, false, false, true, 2, 0, {1, 1}, false, false},
                 {true, false, false, true, 1, 3, {1, 1}, false, false},
                 {true, false, false, true, 1, 0, {1, 0}, true, false},
                 {true, false, false, true, 1, 0, {0, 1}, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_lane lanes[2] = {0};
        sk_runner r = {
            .lanes = lanes, .n_lanes = 2, .n_models = cases[i].models, .takes_nv12 = cases[i].nv12};
        r.settings.frames = cases[i].copy ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
        r.settings.allow_failover = cases[i].failover;
        r.settings.check_every = cases[i].check_every;
        for (int k = 0; k < 2; k++)
            lanes[k].device = (sk_device){.engine = k && !cases[i].second_reads ? &other : &reads,
                                          .index = cases[i].indices[k]};
        if (sk_runner_takes_nv12(&r) != cases[i].takes_nv12 ||
            sk_runner_takes_device_frames(&r, 1) != cases[i].takes_device)
            fail_msg("case %zu", i);
        assert_false(sk_runner_takes_frames(&r));
        lanes[1].trace.key.frames = 1;
        assert_true(sk_runner_takes_frames(&r));
        assert_false(sk_runner_takes_planes(&r));
        r.planes = true;
        assert_true(sk_runner_takes_planes(&r));
    }
}

/* Of two models what the first finds has a list of its own, and checks go to both. */
static void the_runner_says_what_is_wrong_with_frames(void **state)
{
    (void)state;
    sk_runner_settings s = two_settings();
    s.quick_open = true;
    s.devices = "cpu";
    sk_runner *r = open_two(&s);
    sk_error err = {0};
    sk_frame f = make_frame(48, 40, 3);
    f.place = SK_PLACE_CUDA;
    assert_int_equal(sk_runner_submit(r, &f, NULL, NULL, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "frame 3 lies in a GPU's memory"));
    f.place = SK_PLACE_HOST;
    f.stride = 10;
    assert_int_equal(sk_runner_submit(r, &f, NULL, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_in_flight(r), 0);
    assert_true(r->found_capacity > 0 && r->capacity > 0 && r->n_keypoints == poser->n_keypoints);
    sk_runner_close(&r);
    free(f.data);
}

/* A batch is of frames that are alike; one that is another's begins a batch of its own. */
static void what_goes_together(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int kind = 0; kind < 7; kind++) {
        sk_runner_settings s = two_settings();
        const sk_model *models[] = {finder};
        sk_runner *r = NULL;
        s.quick_open = true;
        s.detector.batch = 3;
        s.batch_wait_ms = 3600000;
        s.depth = 4;
        assert_ok(sk_runner_open(models, 1, &s, &r, &err), &err);
        const bool planes = kind >= 4;
        sk_frame a = make_frame(48, 40, 0), b = make_frame(kind == 1 ? 46 : 48, kind == 2 ? 38 : 40, 1);
        a.format = b.format = planes ? SK_PIXEL_NV12 : SK_PIXEL_RGB;
        if (planes)
            a.stride = b.stride = 48; /* colours behind the brightness, in the same memory */
        if (kind == 3)
            b.format = SK_PIXEL_BGR;
        a.matrix = SK_COLOUR_BT601, b.matrix = kind == 5 ? SK_COLOUR_BT709 : SK_COLOUR_BT601;
        b.full_range = kind == 6;
        const bool alike = kind == 0 || kind == 4;
        assert_ok(sk_runner_submit(r, &a, NULL, NULL, &err), &err);
        assert_ok(sk_runner_submit(r, &b, NULL, NULL, &err), &err);
        assert_ok(sk_runner_drain(r, &err), &err);
        pthread_mutex_lock(&r->lock);
        const int64_t jobs = r->lanes[0].stages[SK_LANE_POST].done, taken = r->lanes[0].frames;
        const int32_t share = r->oldest->share;
        pthread_mutex_unlock(&r->lock);
        if (jobs != (alike ? 1 : 2) || taken != 2 || share != (alike ? 2 : 1))
            fail_msg("kind %d: %lld jobs, %lld frames, %d", kind, (long long)jobs, (long long)taken, share);
        sk_runner_close(&r);
        free(a.data);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_and_slots_follow_the_device),
        cmocka_unit_test(frames_are_taken_where_all_read_them),
        cmocka_unit_test(the_runner_says_what_is_wrong_with_frames),
        cmocka_unit_test(what_goes_together),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
