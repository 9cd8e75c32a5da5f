/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/nv12.h"
#include "runner/offer.h"
#include "two_models.h"

/* Two models, frames of many sizes, and the models people have. */

static void test_two_models(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(20, 48, 40);
    for (int devices = 1; devices <= 2; devices++) {
        sk_runner_settings s = two_settings();
        s.devices = devices == 1 ? "cpu" : "cpu,cpu";
        s.detector.batch = devices;
        plain_two p = {0};
        plain_two_open(&p, &s);
        sk_runner *r = open_two(&s);
        int64_t submitted = 0, crops = 0;
        for (int64_t i = 0; i < set.count; i++) {
            while (submitted < set.count && sk_runner_in_flight(r) < sk_runner_depth(r))
                assert_ok(sk_runner_submit(r, &set.frames[submitted++], NULL, NULL, &err), &err);
            crops += expect_as_plain(r, &p, &set, i);
        }
        assert_true(crops > 20);
        sk_runner_close(&r);
        plain_two_close(&p);
    }
    free_frames(&set);
}

/* Every output of both models is compared, the second's on each crop. */
static void test_both_are_checked(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(8, 48, 40);
    sk_runner_settings s = two_settings();
    s.check_every = 1;
    s.detector.batch = 2;
    s.devices = "cpu,cpu";
    sk_runner *r = open_two(&s);
    for (int i = 0; i < set.count; i += 2) {
        for (int k = 0; k < 2; k++)
            assert_ok(sk_runner_submit(r, &set.frames[i + k], NULL, NULL, &err), &err);
        for (int k = 0; k < 2; k++) {
            sk_runner_result result;
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            const sk_check *c = result.check;
            assert_true(c->ran && c->passed && c->pcc > 0.99999);
            assert_int_equal(c->n_crops, result.instances->count);
            assert_true(c->n_crops > 0);
            int32_t outputs[2] = {0, 0};
            for (int32_t o = 0; o < c->n_outputs; o++) {
                assert_true(o == 0 || c->outputs[o].model >= c->outputs[o - 1].model);
                assert_true(c->outputs[o].pcc >= c->outputs[o].pcc_min &&
                            c->outputs[o].output == outputs[c->outputs[o].model]);
                outputs[c->outputs[o].model]++;
            }
            assert_true(outputs[0] > 0 && outputs[1] > outputs[0]); /* a pose has keypoints besides */
        }
    }
    sk_runner_close(&r);
    free_frames(&set);
}

/* A fault of the second network alone is found, and told as the second's. */
static void check_second(fault_kind kind)
{
    sk_error err = {0};
    frames set = make_frames(4, 48, 40);
    sk_runner_settings s = two_settings();
    s.devices = "cpu";
    faults[0].kind = kind;
    faults[0].spared = 1;
    sk_runner *r = open_two(&s);
    fault_begin();
    for (int i = 0; i < set.count; i++) {
        sk_runner_result result;
        sk_runner_call call = {.check_pcc = true};
        assert_int_equal(sk_runner_run(r, &set.frames[i], &call, &result, &err), SK_ERR_MISMATCH);
        assert_non_null(strstr(err.message, poser->path));
        assert_true(result.check->ran && !result.check->passed && result.check->n_crops > 0);
        assert_true(result.instances->count == result.check->n_crops); /* the answer is there */
        for (int32_t o = 0; o < result.check->n_outputs; o++)
            if (result.check->outputs[o].model == 0)
                assert_true(result.check->outputs[o].pcc >= result.check->outputs[o].pcc_min);
    }
    sk_runner_close(&r);
    free_frames(&set);
}

static void test_faults_of_the_second(void **state)
{
    (void)state;
    check_second(FAULT_WEIGHT);
    check_second(FAULT_WRONG_FRAME);
    check_second(FAULT_STALE);
}

/* A device that fails in the second network hands the frame over as well. */
static void test_second_network_fails(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(30, 48, 40);
    for (int after = 1; after < 12; after += 2) {
        sk_runner_settings s = two_settings();
        s.devices = "cpu,cpu";
        s.allow_failover = true;
        sk_runner *r = open_two(&s);
        atomic_store(&faults[1].fail_after, after);
        faults[0].delay_us = 300;
        fault_begin();
        int64_t submitted = 0;
        for (int64_t i = 0; i < set.count; i++) {
            while (submitted < set.count && sk_runner_in_flight(r) < sk_runner_depth(r))
                assert_ok(sk_runner_submit(r, &set.frames[submitted++], NULL, NULL, &err), &err);
            sk_runner_result result;
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_int_equal(result.ticket, i);
        }
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_true(stats.devices[1].failed && stats.moved >= 1);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* Pictures of all sizes in a row, each as if it were alone. */
static void test_sizes(void **state)
{
    (void)state;
    sk_error err = {0};
    const int32_t sizes[][2] = {{48, 40}, {200, 30}, {31, 57}, {31, 57}, {640, 480}, {48, 40}, {16, 16}};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    for (int round = 0; round < 4; round++) {
        sk_runner_settings s = tiny_settings();
        fault_reset();
        s.detector.rect = round & 1;
        s.detector.height = s.detector.width = 64;
        s.detector.batch = 1 + (round & 2);
        s.frames = round & 1 ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
        sk_runner *r = open_faulty(poser, &s);
        sk_frame set[COUNT];
        for (int i = 0; i < COUNT; i++) {
            set[i] = make_frame(sizes[i][0], sizes[i][1], i);
            assert_ok(sk_runner_submit(r, &set[i], NULL, NULL, &err), &err);
            if (i == 3 || i == COUNT - 1)
                sk_runner_flush(r);
            if (sk_runner_in_flight(r) < 4 && i < COUNT - 1)
                continue;
            while (sk_runner_in_flight(r) > (i < COUNT - 1 ? 3 : 0)) {
                sk_runner_result result;
                assert_ok(sk_runner_wait(r, &result, &err), &err);
                plain p = {0};
                plain_open(&p, poser, &s, result.width, result.height);
                plain_run(&p, &set[result.ticket]);
                assert_same_instances(result.instances, &p.found);
                plain_close(&p);
            }
        }
        sk_runner_close(&r);
        for (int i = 0; i < COUNT; i++)
            free(set[i].data);
    }
}

/* An engine that takes frames as they come gives what the CPU's letterbox gives, for every size and format; one that says so
 * and then cannot gets pictures like the others. */
static void test_engine_fits_frames_in(void **state)
{
    (void)state;
    sk_error err = {0};
    const sk_model *m = poser;
    for (int refuses = 0; refuses < 2; refuses++) {
        sk_runner_settings s = tiny_settings();
        fault_reset();
        faults[3].refuses_frames = refuses;
        s.detector.batch = 2;
        s.detector.threads = 3; /* who copy the largest frame together */
        sk_runner *r = NULL;
        assert_ok(sk_runner_open_on(&m, 1, &s, &fault_engines[3], &r, &err), &err);
        assert_int_equal(atomic_load(&faults[3].boxed) > 0, !refuses);
        const int32_t sizes[][2] = {{48, 40}, {48, 40}, {48, 40}, {901, 603}, {48, 40}};
        sk_frame set[5];
        for (int i = 0; i < 5; i++) {
            set[i] = make_frame(sizes[i][0], sizes[i][1], i);
            if (i == 2)
                set[i].format = SK_PIXEL_GRAY;
            assert_ok(sk_runner_submit(r, &set[i], NULL, NULL, &err), &err);
            sk_runner_flush(r);
        }
        for (int i = 0; i < 5; i++) {
            sk_runner_result result;
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            plain p = {0};
            plain_open(&p, poser, &s, set[i].width, set[i].height);
            plain_run(&p, &set[i]);
            assert_same_instances(result.instances, &p.found);
            plain_close(&p);
        }
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_int_equal(stats.devices[0].captures, refuses ? 1 : 3); /* a trace for every way to fit in */
        /* Sizes that change for ever end in one trace for all of them. */
        for (int i = 0; i < 20; i++) {
            sk_runner_result result;
            assert_ok(sk_runner_submit(r, &set[3 + i % 2], NULL, NULL, &err), &err);
            sk_runner_flush(r);
            assert_ok(sk_runner_wait(r, &result, &err), &err);
        }
        sk_runner_get_stats(r, &stats);
        assert_true(stats.devices[0].captures <= 6);
        sk_runner_close(&r);
        for (int i = 0; i < 5; i++)
            free(set[i].data);
    }
}

/* Planes of video give what the same pixels give as RGB, checked, too; who cannot take them says so. */
static void test_planes(void **state)
{
    (void)state;
    sk_error err = {0};
    enum { W = 200, H = 150 };
    static uint8_t luma[W * H], u[W * H / 4], v[W * H / 4], pixels[W * H * 3];
    const sk_model *both[] = {finder, poser};
    uint32_t noise = 9;
    for (int i = 0; i < W * H; i++) {
        noise = noise * 1664525u + 1013904223u;
        luma[i] = (uint8_t)(noise >> 24);
        u[i / 4] = (uint8_t)(noise >> 16);
        v[i / 4] = (uint8_t)(noise >> 8);
    }
    sk_frame planes = {.format = SK_PIXEL_I420,
                       .width = W,
                       .height = H,
                       .stride = W,
                       .data = luma,
                       .chroma = u,
                       .chroma_v = v,
                       .chroma_stride = W / 2,
                       .matrix = SK_COLOUR_BT709};
    sk_frame rgb = {.format = SK_PIXEL_RGB, .width = W, .height = H, .stride = 3 * W, .data = pixels};
    sk_yuv_to_rgb(&planes, pixels);
    for (int way = 0; way < 4; way++) {
        sk_runner_settings s = tiny_settings();
        fault_reset();
        s.frames = way == 1 ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
        sk_runner *r = NULL;
        const sk_engine *const *engines =
            way == 3 ? &fault_engines[3] : fault_engines; /* fits frames in itself */
        assert_ok(sk_runner_open_on(way == 2 ? both : &both[1], way == 2 ? 2 : 1, &s, engines, &r, &err),
                  &err);
        assert_int_equal(sk_runner_takes_planes(r), way == 0);
        sk_runner_result result;
        sk_runner_call call = {.check_pcc = true};
        if (way > 0) { /* the others take them, too, and convert them: test_runner_formats.c */
            sk_runner_close(&r);
            continue;
        }
        plain p = {0};
        plain_open(&p, poser, &s, W, H);
        plain_run(&p, &rgb);
        const sk_frame *const turns[] = {&planes, &rgb, &planes};
        for (int i = 0; i < 3; i++) {
            assert_ok(sk_runner_run(r, turns[i], &call, &result, &err), &err);
            assert_true(result.check->passed);
            assert_same_instances(result.instances, &p.found);
        }
        plain_close(&p);
        sk_frame broken = planes;
        broken.chroma_v = NULL;
        assert_int_equal(sk_runner_submit(r, &broken, NULL, NULL, &err), SK_ERR_ARG);
        broken = planes;
        broken.chroma_stride = 3;
        assert_int_equal(sk_runner_submit(r, &broken, NULL, NULL, &err), SK_ERR_ARG);
        sk_runner_close(&r);
    }
}

/* The networks people have, on the engine people use, checked by the runner itself. */
static void check_model(const char *name, int32_t size)
{
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(test_data(name), &model, &err), &err);
    sk_runner_settings s;
    sk_runner_defaults(&s);
    s.detector.height = s.detector.width = size;
    s.detector.threads = 1;
    s.frame_width = 96;
    s.frame_height = 80;
    s.check_every = 1;
    sk_runner *r = open_runner(model, &s);
    sk_frame frame = make_frame(96, 80, 0);
    sk_runner_result result;
    assert_ok(sk_runner_run(r, &frame, NULL, &result, &err), &err);
    assert_true(result.check->ran && result.check->passed);
    print_message("%s: correlation %.9f, largest difference %.3g\n", name, result.check->pcc,
                  result.check->max_diff);
    sk_runner_close(&r);
    sk_model_close(&model);
    free(frame.data);
}

static void test_real_models(void **state)
{
    (void)state;
    test_data_or_skip();
    check_model("yolo/yolo11n-pose/yolo11n-pose.pt", 96);
    check_model("yolo/yolo11t-obb/yolo11t-obb.pt", 96);
    check_model("sleap/nn/minimal_instance_single_instance", 0);
    check_model("sleap/nn/minimal_instance_bottomup", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_models),
        cmocka_unit_test(test_both_are_checked),
        cmocka_unit_test(test_faults_of_the_second),
        cmocka_unit_test(test_second_network_fails),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_engine_fits_frames_in),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_real_models),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
