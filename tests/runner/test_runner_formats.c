/* SPDX-License-Identifier: Apache-2.0 */
#include "support/frame_formats.h"
#include "two_models.h"

#include <string.h>

/* Frames in every format give the instances of the same picture in a plain one, on every way through the runner. */

static const sk_pixel_format formats[] = {SK_PIXEL_BGR,  SK_PIXEL_GRAY, SK_PIXEL_RGBA,   SK_PIXEL_BGRA,
                                          SK_PIXEL_NV12, SK_PIXEL_I420, SK_PIXEL_GRAY16, SK_PIXEL_YUYV};
enum { FORMATS = sizeof formats / sizeof *formats };

enum way { LENT, COPIED, TWO_MODELS, ENGINE_FITS_IN, WAYS };

static sk_runner *open_way(enum way way)
{
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s = tiny_settings();
    const sk_model *both[] = {finder, poser};
    fault_reset();
    s.frames = way == COPIED ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
    s.detector.max_det = 6;
    assert_ok(sk_runner_open_on(way == TWO_MODELS ? both : &both[1], way == TWO_MODELS ? 2 : 1, &s,
                                way == ENGINE_FITS_IN ? &fault_engines[3] : fault_engines, &r, &err),
              &err);
    return r;
}

/* The engine with faults knows no NV12; the emulated GPU of test_device_frames.c does. */
static bool is_tried(enum way way, sk_pixel_format format)
{
    return way != ENGINE_FITS_IN || format != SK_PIXEL_NV12;
}

static void take(sk_runner *r, const sk_frame *frame, sk_instances *out)
{
    sk_error err = {0};
    sk_runner_result result;
    assert_ok(sk_runner_run(r, frame, NULL, &result, &err), &err);
    const sk_instances *in = result.instances;
    assert_true(in->count <= out->capacity && in->n_keypoints == out->n_keypoints);
    out->count = in->count;
    memcpy(out->items, in->items, (size_t)in->count * sizeof *in->items);
    memcpy(out->keypoints, in->keypoints,
           (size_t)in->count * (size_t)in->n_keypoints * sizeof *in->keypoints);
}

/* 200 x 150 shrinks (planes are resized as they are), 64 x 64 becomes half, 32 x 32 stays. */
static void test_same_instances(void **state)
{
    (void)state;
    static const int32_t sizes[][2] = {{200, 150}, {64, 64}, {32, 32}};
    sk_error err = {0};
    sk_instances a = {0}, b = {0};
    assert_ok(sk_instances_alloc(64, 17, &a, &err), &err);
    assert_ok(sk_instances_alloc(64, 17, &b, &err), &err);
    int32_t found = 0;
    for (int way = 0; way < WAYS; way++)
        for (int f = 0; f < FORMATS; f++)
            for (int size = 0; size < 3; size++) {
                if (!is_tried((enum way)way, formats[f]))
                    continue;
                sk_runner *r =
                    open_way((enum way)way); /* a fresh one: engines stop fitting in after a few changes */
                any_frame any =
                    any_frame_make(formats[f], sizes[size][0], sizes[size][1], (uint32_t)(31 * f + size));
                a.n_keypoints = b.n_keypoints = r->n_keypoints;
                take(r, &any.frame, &a);
                assert_true(way != ENGINE_FITS_IN || atomic_load(&faults[3].boxed) > 0);
                take(r, &any.plain, &b);
                if (a.count != b.count || memcmp(a.items, b.items, (size_t)a.count * sizeof *a.items) != 0 ||
                    memcmp(a.keypoints, b.keypoints,
                           (size_t)a.count * (size_t)a.n_keypoints * sizeof *a.keypoints) != 0)
                    fail_msg("way %d, format %d, %dx%d: other instances than of the plain frame", way,
                             (int)formats[f], sizes[size][0], sizes[size][1]);
                found += a.count;
                any_frame_free(&any);
                sk_runner_close(&r);
            }
    assert_true(found > 50);
    sk_instances_free(&a);
    sk_instances_free(&b);
}

/* After the first frames of a format nothing is allocated for more of them. */
static void test_no_allocation(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_result result;
    for (int way = 0; way < WAYS; way++)
        for (int f = 0; f < FORMATS; f++) {
            if (!is_tried((enum way)way, formats[f]))
                continue;
            sk_runner *r = open_way((enum way)way);
            any_frame any = any_frame_make(formats[f], 48, 40, 5);
            uint64_t before = 0;
            for (int i = 0; i < 24; i++) {
                if (i == 12)
                    before = sk_memory_allocations();
                assert_ok(sk_runner_run(r, &any.frame, NULL, &result, &err), &err);
            }
            if (sk_memory_allocations() != before)
                fail_msg("way %d, format %d: %llu allocations", way, (int)formats[f],
                         (unsigned long long)(sk_memory_allocations() - before));
            sk_runner_close(&r);
            any_frame_free(&any);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_instances),
                                       cmocka_unit_test(test_no_allocation)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
