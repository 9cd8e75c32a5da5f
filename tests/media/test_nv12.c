/* SPDX-License-Identifier: Apache-2.0 */
/* NV12 as kernels/nv12.h turns it into RGB is what the video reader makes of the same planes. */
#include "media/library_ffmpeg.h"
#include "support/test.h"
#include "kernels/nv12.h"

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
    sk_nv12_to_rgb(&frame, got);
    int worst = 0, different = 0;
    for (int i = 0; i < W * H * 3; i++) {
        const int d = abs(want[i] - got[i]);
        worst = d > worst ? d : worst;
        different += d > 0;
    }
#if defined(__x86_64__)
    const int most = 0; /* bit for bit: FFmpeg's code for this processor is what is followed */
#else
    const int most = 2;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_like_the_reader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
