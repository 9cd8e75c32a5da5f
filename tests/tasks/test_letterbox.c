/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "kernels/nv12.h"
#include "tasks/letterbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every case of letterbox_cases.txt bit for bit, whole and in bands, with rows further apart than needed. */
static void bytes_equal_the_original(void **state)
{
    (void)state;
    FILE *f = fopen(test_source("tests/tasks/letterbox_cases.txt"), "r");
    assert_non_null(f);
    char line[256], kind[8];
    int w, h, nw, nh, stride, ow, oh, n = 0;
    unsigned long long hash;
    sk_error err;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%7s %d %d %d %d %d %d %d %llx", kind, &w, &h, &nw, &nh, &stride, &ow, &oh, &hash) !=
            9)
            continue;
        sk_pixel_format format = kind[0] == 'r'   ? SK_PIXEL_RGB
                                 : kind[0] == 'b' ? SK_PIXEL_BGR
                                                  : SK_PIXEL_GRAY;
        size_t row = (size_t)w * (format == SK_PIXEL_GRAY ? 1 : 3), pitch = row + (size_t)(n % 2) * 13;
        uint8_t *dense = malloc(row * (size_t)h);
        /* Exactly as long as the last row needs, so that a sanitiser sees a read beyond it. */
        uint8_t *pixels = malloc(pitch * (size_t)(h - 1) + row);
        case_noise(dense, row * (size_t)h, (uint32_t)n);
        for (int y = 0; y < h; y++)
            memcpy(pixels + (size_t)y * pitch, dense + (size_t)y * row, row);
        sk_frame frame = {
            .format = format, .width = w, .height = h, .stride = (ptrdiff_t)pitch, .data = pixels};
        sk_letterbox_geometry g;
        assert_ok(sk_letterbox_fit(w, h, nw, nh, stride, &g, &err), &err);
        assert_int_equal(g.width, ow);
        assert_int_equal(g.height, oh);
        size_t bytes = (size_t)ow * (size_t)oh * 3;
        uint8_t *out = malloc(bytes);
        sk_letterbox *box;
        assert_ok(sk_letterbox_open(&g, format, 3, &box, &err), &err);
        uint64_t before = sk_memory_allocations();
        assert_ok(sk_letterbox_run(box, &frame, out, &err), &err);
        if (case_hash(out, bytes) != hash)
            fail_msg("case %d differs: %s", n, line);
        memset(out, 0, bytes);
        for (int s = 0; s < 3; s++)
            assert_ok(sk_letterbox_run_slice(box, &frame, out, s, 3, &err), &err);
        assert_true(case_hash(out, bytes) == hash);
        assert_int_equal(sk_memory_allocations(), before);
        sk_letterbox_close(&box);
        free(dense);
        free(pixels);
        free(out);
        n++;
    }
    fclose(f);
    assert_int_equal(n, 72);
}

static void wrong_frames_are_refused(void **state)
{
    (void)state;
    sk_error err;
    sk_letterbox_geometry g;
    assert_int_equal(sk_letterbox_fit(0, 10, 64, 64, 0, &g, &err), SK_ERR_ARG);
    assert_int_equal(sk_letterbox_fit(10, 10, 0, 64, 0, &g, &err), SK_ERR_ARG);
    assert_ok(sk_letterbox_fit(10, 10, 64, 64, 0, &g, &err), &err);
    sk_letterbox *box;
    assert_int_equal(sk_letterbox_open(&g, SK_PIXEL_NV12, 1, &box, &err), SK_ERR_UNSUPPORTED);
    assert_ok(sk_letterbox_open(&g, SK_PIXEL_RGB, 1, &box, &err), &err);
    uint8_t pixels[300] = {0}, out[64 * 64 * 3];
    sk_frame frame = {.format = SK_PIXEL_RGB, .width = 9, .height = 10, .stride = 30, .data = pixels};
    assert_int_equal(sk_letterbox_run(box, &frame, out, &err), SK_ERR_MISMATCH);
    frame.width = 10;
    frame.format = SK_PIXEL_BGR;
    assert_int_equal(sk_letterbox_run(box, &frame, out, &err), SK_ERR_MISMATCH);
    sk_letterbox_close(&box);
}

static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    sk_error err;
    sk_letterbox_geometry g;
    assert_ok(sk_letterbox_fit(100, 50, 64, 64, 0, &g, &err), &err);
    for (uint64_t n = 1; n <= 12; n++) {
        int64_t live = sk_memory_live_bytes();
        sk_letterbox *box = NULL;
        sk_memory_fail_nth(n);
        sk_status status = sk_letterbox_open(&g, SK_PIXEL_RGB, 2, &box, &err);
        sk_memory_fail_nth(0);
        if (status != SK_OK)
            assert_int_equal(status, SK_ERR_MEMORY);
        sk_letterbox_close(&box);
        assert_int_equal(sk_memory_live_bytes(), live);
    }
}

/* Planes of video straight into the letterbox: what turning the whole frame into RGB first gives, bit for bit. */
static void planes_equal_rgb(void **state)
{
    (void)state;
    static const int32_t sizes[][4] = {{1920, 1080, 320, 320}, {1281, 723, 640, 640}, {1280, 1024, 320, 256},
                                       {135, 4002, 64, 96},    {66, 66, 32, 32},      {1921, 35, 32, 64},
                                       {1281, 720, 640, 640},  {37, 51, 64, 96}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int full = 0; full < 2; full++) {
            sk_error err = {0};
            const int32_t w = sizes[i][0], h = sizes[i][1], cw = (w + 1) / 2, ch = (h + 1) / 2;
            const ptrdiff_t pitch = w + 3, chroma_pitch = cw + 1;
            /* Each plane ends with its last row's last pixel, so that a sanitiser sees a read beyond it. */
            size_t luma = (size_t)pitch * (size_t)(h - 1) + (size_t)w;
            size_t chroma = (size_t)chroma_pitch * (size_t)(ch - 1) + (size_t)cw;
            uint8_t *planes[3] = {malloc(luma), malloc(chroma), malloc(chroma)};
            case_noise(planes[0], luma, (uint32_t)i);
            case_noise(planes[1], chroma, (uint32_t)i + 100);
            case_noise(planes[2], chroma, (uint32_t)i + 200);
            sk_frame frame = {.format = SK_PIXEL_I420,
                              .width = w,
                              .height = h,
                              .stride = pitch,
                              .data = planes[0],
                              .chroma = planes[1],
                              .chroma_v = planes[2],
                              .chroma_stride = chroma_pitch,
                              .matrix = (sk_colour_matrix)(i % 5),
                              .full_range = full};
            sk_frame rgb = {.format = SK_PIXEL_RGB, .width = w, .height = h, .stride = 3 * (ptrdiff_t)w};
            rgb.data = malloc((size_t)w * (size_t)h * 3);
            sk_yuv_to_rgb(&frame, rgb.data);
            sk_letterbox_geometry g;
            assert_ok(sk_letterbox_fit(w, h, sizes[i][2], sizes[i][3], i % 2 ? 32 : 0, &g, &err), &err);
            size_t bytes = (size_t)g.width * (size_t)g.height * 3;
            uint8_t *want = malloc(bytes), *got = malloc(bytes);
            sk_letterbox *box = NULL;
            assert_ok(sk_letterbox_open(&g, SK_PIXEL_RGB, 1, &box, &err), &err);
            assert_ok(sk_letterbox_run(box, &rgb, want, &err), &err);
            uint64_t before = sk_memory_allocations();
            assert_ok(sk_letterbox_refit(box, &g, SK_PIXEL_I420, &err), &err);
            assert_ok(sk_letterbox_run(box, &frame, got, &err), &err);
            assert_int_equal(sk_memory_allocations(), before);
            if (memcmp(want, got, bytes) != 0)
                fail_msg("%dx%d in %dx%d, full %d: other pixels", w, h, g.width, g.height, full);
            /* Frames that stay as they are, or become half as large, are refused, and the box goes on as it was. */
            sk_letterbox_geometry same;
            assert_ok(sk_letterbox_fit(g.width, g.height, g.width, g.height, 0, &same, &err), &err);
            assert_int_equal(sk_letterbox_refit(box, &same, SK_PIXEL_I420, &err), SK_ERR_UNSUPPORTED);
            assert_ok(sk_letterbox_fit(2 * g.width, 2 * g.height, g.width, g.height, 0, &same, &err), &err);
            assert_int_equal(sk_letterbox_refit(box, &same, SK_PIXEL_I420, &err), SK_ERR_UNSUPPORTED);
            frame.chroma_v = NULL;
            assert_int_equal(sk_letterbox_run(box, &frame, got, &err), SK_ERR_ARG);
            sk_letterbox_close(&box);
            for (int k = 0; k < 3; k++)
                free(planes[k]);
            free(rgb.data);
            free(want);
            free(got);
        }
}

static void senseless_calls_are_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_letterbox_geometry g;
    sk_letterbox *box = NULL;
    assert_ok(sk_letterbox_fit(64, 48, 32, 32, 0, &g, &err), &err);
    assert_int_equal(sk_letterbox_open(NULL, SK_PIXEL_RGB, 1, &box, &err), SK_ERR_ARG);
    assert_int_equal(sk_letterbox_open(&g, SK_PIXEL_RGB, 1, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_letterbox_open(&g, SK_PIXEL_RGB, 0, &box, &err), SK_ERR_ARG);
    assert_null(box);
    static const int32_t bad[][5] = {
        {0, 48, 32, 32, 0}, {64, 0, 32, 32, 0}, {64, 48, 0, 32, 0}, {64, 48, 32, 0, 0}, {64, 48, 32, 32, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sk_letterbox_fit(bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4], &g, &err),
                         SK_ERR_ARG);
    assert_ok(sk_letterbox_fit(1, 1, 1, 1, 0, &g, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senseless_calls_are_refused), cmocka_unit_test(bytes_equal_the_original),
        cmocka_unit_test(wrong_frames_are_refused), cmocka_unit_test(planes_equal_rgb),
        cmocka_unit_test(failing_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
