/* SPDX-License-Identifier: Apache-2.0 */
/* NV12 as kernels/nv12.h turns it into RGB is what the video reader makes of the same planes. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "kernels/nv12.h"
#include "media/library_ffmpeg.h"
#include "skitter/source.h"

#include <stdlib.h>

enum { W = 320, H = 128 };

static void compare(enum AVColorSpace space, sk_colour_matrix matrix, int full)
{
    static uint8_t luma[W * H], u[W * H / 4], v[W * H / 4], nv12[W * H * 3 / 2];
    static uint8_t want[W * H * 3], got[W * H * 3];
    uint32_t noise = 5u + (uint32_t)matrix;
    for (int i = 0; i < W * H; i++) {
        noise = noise * 1664525u + 1013904223u;
        nv12[i] = luma[i] = (uint8_t)(noise >> 24);
        if (i < W * H / 4) {
            nv12[W * H + 2 * i] = u[i] = (uint8_t)(noise >> 16);
            nv12[W * H + 2 * i + 1] = v[i] = (uint8_t)(noise >> 8);
        }
    }
    struct SwsContext *scaler = sk_ff.sws_getCachedContext(NULL, W, H, AV_PIX_FMT_YUV420P, W, H,
                                                           AV_PIX_FMT_RGB24, SWS_BICUBIC, NULL, NULL, NULL);
    assert_non_null(scaler);
    sk_ff.sws_setColorspaceDetails(scaler, sk_ff.sws_getCoefficients((int)space), full,
                                   sk_ff.sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
    const uint8_t *from[4] = {luma, u, v};
    const int strides[4] = {W, W / 2, W / 2}, row = 3 * W;
    uint8_t *to[4] = {want};
    sk_ff.sws_scale(scaler, from, strides, 0, H, to, &row);
    sk_ff.sws_freeContext(scaler);
    const sk_frame frame = {.format = SK_PIXEL_NV12,
                            .width = W,
                            .height = H,
                            .stride = W,
                            .data = nv12,
                            .matrix = matrix,
                            .full_range = full};
    sk_yuv_to_rgb(&frame, got);
    int worst = 0, different = 0;
    for (int i = 0; i < W * H * 3; i++) {
        const int d = abs(want[i] - got[i]);
        worst = d > worst ? d : worst;
        different += d > 0;
    }
#if defined(__x86_64__)
    const int most = 0; /* bit for bit: FFmpeg's code for this processor is what is followed */
#else
    const int most = 3; /* FFmpeg's code for ARM computes with fewer digits */
#endif
    if (worst > most)
        fail_msg("matrix %d, full %d: %d of %d values differ, by up to %d", (int)matrix, full, different,
                 W * H * 3, worst);
}

static void test_like_the_reader(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("this test", &err) != SK_OK) {
        print_message("%s\n", err.message);
        skip();
    }
    for (int full = 0; full < 2; full++) {
        compare(AVCOL_SPC_UNSPECIFIED, SK_COLOUR_BT601, full);
        compare(AVCOL_SPC_SMPTE170M, SK_COLOUR_BT601, full);
        compare(AVCOL_SPC_BT709, SK_COLOUR_BT709, full);
        compare(AVCOL_SPC_FCC, SK_COLOUR_FCC, full);
        compare(AVCOL_SPC_SMPTE240M, SK_COLOUR_SMPTE240M, full);
        compare(AVCOL_SPC_BT2020_NCL, SK_COLOUR_BT2020, full);
    }
}

/* A video read as NV12 and as RGB. */
static void test_same_video(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_error err = {0};
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source *sources[2] = {NULL, NULL};
    sk_source_defaults(&s);
    s.last = 12;
    static const sk_frame_kind kind = {.format = SK_PIXEL_NV12};
    s.accepts = &kind;
    for (int k = 0; k < 2; k++, s.n_accepts = 1)
        assert_ok(sk_source_open(test_data("video/small_robot.mp4"), &s, &sources[k], &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(sources[0], &info);
    assert_int_equal(info.like->format, SK_PIXEL_RGB);
    sk_source_get_info(sources[1], &info);
#if defined(__x86_64__)
    assert_int_equal(info.like->format, SK_PIXEL_NV12);
#endif
    const sk_pixel_format promised = info.like->format; /* RGB where our conversion is not FFmpeg's */
    int frames = 0;
    for (;; frames++) {
        const sk_frame *rgb = NULL, *nv12 = NULL;
        assert_ok(sk_source_next(sources[0], &rgb, &err), &err);
        assert_ok(sk_source_next(sources[1], &nv12, &err), &err);
        assert_true(!rgb == !nv12);
        if (!rgb)
            break;
        assert_int_equal(nv12->format, promised);
        assert_int_equal(nv12->index, rgb->index);
        uint8_t *made = malloc((size_t)(rgb->width * rgb->height * 3));
        if (promised == SK_PIXEL_NV12)
            sk_yuv_to_rgb(nv12, made);
        else
            for (int32_t y = 0; y < rgb->height; y++)
                memcpy(made + 3 * rgb->width * y, nv12->data + nv12->stride * y, (size_t)(3 * rgb->width));
        int worst = 0;
        for (int32_t y = 0; y < rgb->height; y++)
            for (int32_t x = 0; x < 3 * rgb->width; x++) {
                const int d = abs(rgb->data[rgb->stride * y + x] - made[3 * rgb->width * y + x]);
                worst = d > worst ? d : worst;
            }
        free(made);
        assert_int_equal(worst, 0);
        sk_source_release(sources[0], rgb);
        sk_source_release(sources[1], nv12);
    }
    assert_int_equal(frames, 12);
    sk_source_close(&sources[0]);
    sk_source_close(&sources[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_like_the_reader),
                                       cmocka_unit_test(test_same_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_without_video(void **state)
{
    (void)state;
    skip(); /* there is nothing to compare with */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
