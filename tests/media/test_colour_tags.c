/* SPDX-License-Identifier: Apache-2.0 */
/* How a decoded picture's tags are read: as they are, or as programs did that told FFmpeg's converter nothing. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/colours_ffmpeg.h"

static void tags_are_left_or_forgotten(void **state)
{
    (void)state;
    static const struct {
        int format;
        bool forgotten; /* the range; the matrix always is */
    } cases[] = {{AV_PIX_FMT_YUV420P, true},   {AV_PIX_FMT_YUV422P, true},   {AV_PIX_FMT_YUV444P, true},
                 {AV_PIX_FMT_YUV420P10, true}, {AV_PIX_FMT_YUVJ420P, false}, {AV_PIX_FMT_YUVJ422P, false},
                 {AV_PIX_FMT_YUVJ444P, false}, {AV_PIX_FMT_YUVJ440P, false}, {AV_PIX_FMT_YUVJ411P, false},
                 {AV_PIX_FMT_NV12, false}, /* a device's: the tag stands for the name */
                 {AV_PIX_FMT_YUYV422, false},  {AV_PIX_FMT_RGB24, false},    {AV_PIX_FMT_NONE, false}};
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVFrame f = {
            .format = cases[i].format, .colorspace = AVCOL_SPC_BT709, .color_range = AVCOL_RANGE_JPEG};
        sk_colours_read_as(&f, SK_COLOURS_TAGGED);
        assert_true(f.colorspace == AVCOL_SPC_BT709 && f.color_range == AVCOL_RANGE_JPEG);
        sk_colours_read_as(&f, SK_COLOURS_BT601);
        assert_int_equal(f.colorspace, AVCOL_SPC_UNSPECIFIED);
        if ((f.color_range == AVCOL_RANGE_UNSPECIFIED) != cases[i].forgotten)
            fail_msg("format %d", cases[i].format);
    }
}

static void matrices_have_their_names(void **state)
{
    (void)state;
    static const struct {
        int space;
        sk_colour_matrix matrix;
    } cases[] = {{AVCOL_SPC_BT709, SK_COLOUR_BT709},       {AVCOL_SPC_RGB, SK_COLOUR_BT709},
                 {AVCOL_SPC_FCC, SK_COLOUR_FCC},           {AVCOL_SPC_SMPTE240M, SK_COLOUR_SMPTE240M},
                 {AVCOL_SPC_BT2020_NCL, SK_COLOUR_BT2020}, {AVCOL_SPC_BT2020_CL, SK_COLOUR_BT2020},
                 {AVCOL_SPC_UNSPECIFIED, SK_COLOUR_BT601}, {AVCOL_SPC_BT470BG, SK_COLOUR_BT601},
                 {AVCOL_SPC_SMPTE170M, SK_COLOUR_BT601}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sk_colour_matrix_of(cases[i].space), cases[i].matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tags_are_left_or_forgotten),
                                       cmocka_unit_test(matrices_have_their_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_without_video(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
