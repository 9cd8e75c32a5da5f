/* SPDX-License-Identifier: Apache-2.0 */
/* A second model's crops through the runner, on the cuda engine with a GPU of loops behind it: cut on the device from the frame
 * the first network has there, or by the host, they lead to the same poses, with many frames and sizes on their way. */
#include "two_models.h"

extern const sk_engine gpu_engine;

static sk_choice masked = SK_CHOICE_OFF; /* neighbours are painted over */

/* Crops are cut by the engine, or by the host. */
static sk_runner *open_as(bool cuts, int32_t batch, bool quick)
{
    static sk_engine host_cuts;
    sk_error err = {0};
    const sk_model *models[] = {finder, poser};
    host_cuts = gpu_engine;
    host_cuts.can.offers &= ~SK_OFFERS_CROPS;
    const sk_engine *const engines[] = {cuts ? &gpu_engine : &host_cuts};
    sk_runner_settings s = two_settings();
    s.devices = "reference";
    s.detector.batch = batch;
    s.detector.precision = "f32"; /* a batch of crops is summed up as one is */
    s.detector.mask_neighbours = masked;
    s.quick_open = quick;
    sk_runner *r = NULL;
    assert_ok(sk_runner_open_on(models, 2, &s, engines, &r, &err), &err);
    assert_int_equal(r->lanes[0].second.trace.key.crops, cuts);
    assert_int_equal(r->lanes[0].second.trace.key.batch, 8); /* also where the host cuts */
    return r;
}

static sk_runner *open_on_gpu(bool cuts, int32_t batch)
{
    return open_as(cuts, batch, true);
}

/* Warm-up, optimised run and capture see a crop, too. */
static void test_opened_whole(void **state)
{
    (void)state;
    sk_runner *r = open_as(true, 1, false);
    sk_runner_close(&r);
}

/* NV12 in memory: the GPU fits it in for the first model; the second's crops are made of it, too. */
static void test_nv12(void **state)
{
    (void)state;
    enum { W = 48, H = 40 };
    static uint8_t pixels[W * H * 3 / 2];
    sk_error err = {0};
    sk_runner_result results[2];
    uint32_t noise = 5;
    for (size_t i = 0; i < sizeof pixels; i++) {
        noise = noise * 1664525u + 1013904223u;
        pixels[i] = (uint8_t)(noise >> 24);
    }
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_NV12, frame.width = W, frame.height = H, frame.stride = W, frame.data = pixels;
    sk_runner *runners[] = {open_as(false, 1, true), open_as(true, 1, true)};
    for (int k = 0; k < 2; k++)
        assert_ok(sk_runner_run(runners[k], &frame, NULL, &results[k], &err), &err);
    assert_same_instances(results[1].instances, results[0].instances);
    for (int k = 0; k < 2; k++)
        sk_runner_close(&runners[k]);
}

static void compare_streams(const frames *set, int32_t batch)
{
    sk_error err = {0};
    sk_runner *runners[] = {open_on_gpu(false, batch), open_on_gpu(true, batch)};
    int submitted[2] = {0, 0}, poses = 0;
    for (int i = 0; i < set->count; i++) {
        sk_runner_result results[2];
        for (int k = 0; k < 2; k++) {
            while (submitted[k] < set->count && sk_runner_in_flight(runners[k]) < sk_runner_depth(runners[k]))
                assert_ok(sk_runner_submit(runners[k], &set->frames[submitted[k]++], NULL, NULL, &err), &err);
            sk_runner_flush(runners[k]);
            assert_ok(sk_runner_wait(runners[k], &results[k], &err), &err);
            assert_int_equal(results[k].index, i);
        }
        assert_same_instances(results[1].instances, results[0].instances);
        poses += results[0].instances->count;
    }
    assert_true(poses > set->count);
    for (int k = 0; k < 2; k++)
        sk_runner_close(&runners[k]);
}

static void test_many_frames(void **state)
{
    (void)state;
    frames set = make_frames(10, 48, 40);
    compare_streams(&set, 1);
    compare_streams(&set, 2);
    free_frames(&set);
}

/* Neighbours are painted over. */
static void test_masked(void **state)
{
    (void)state;
    frames set = make_frames(8, 48, 40);
    masked = SK_CHOICE_ON;
    compare_streams(&set, 2);
    masked = SK_CHOICE_OFF;
    free_frames(&set);
}

/* Each new size is another first session, whose frames the second may still be cutting from. */
static void test_sizes_in_turn(void **state)
{
    (void)state;
    frames set = make_frames(8, 48, 40);
    for (int i = 0; i < set.count; i++) {
        free(set.frames[i].data);
        set.frames[i] = make_frame(48 + 8 * (i / 2 % 2), 40, i);
        set.frames[i].format = i % 4 == 3 ? SK_PIXEL_BGR : SK_PIXEL_RGB;
    }
    compare_streams(&set, 1);
    free_frames(&set);
}

/* Pictures of so many sizes that the host fits them in: it cuts their crops, too. */
static void test_too_many_sizes(void **state)
{
    (void)state;
    frames set = make_frames(9, 48, 40);
    for (int i = 0; i < set.count; i++) {
        free(set.frames[i].data);
        set.frames[i] = make_frame(48 + 4 * i, 40, i);
    }
    compare_streams(&set, 1);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opened_whole),  cmocka_unit_test(test_nv12),
        cmocka_unit_test(test_many_frames),   cmocka_unit_test(test_masked),
        cmocka_unit_test(test_sizes_in_turn), cmocka_unit_test(test_too_many_sizes)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
