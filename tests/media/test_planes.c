/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/planes_ffmpeg.h"

/* Which decoded pictures go on as they are, without being made RGB: large ones, of planes that are laid out as they should be. */

static uint8_t luma[1], chroma[2][1];
static AVBufferRef held;

static AVFrame picture(void)
{
    AVFrame f = {.width = 640,
                 .height = 480,
                 .format = AV_PIX_FMT_YUV420P,
                 .colorspace = AVCOL_SPC_BT709,
                 .color_range = AVCOL_RANGE_MPEG,
                 .data = {luma, chroma[0], chroma[1]},
                 .linesize = {640, 320, 320},
                 .buf = {&held}};
    return f;
}

/* Asked for already: the converters agree. */
static sk_planes known(const AVFrame *f)
{
    return (sk_planes){.above_width = 320,
                       .above_height = 240,
                       .width = f->width,
                       .format = f->format,
                       .colourspace = (int)f->colorspace,
                       .range = (int)f->color_range,
                       .agree = true};
}

static void large_even_planes_go_on_as_they_are(void **state)
{
    (void)state;
    AVFrame f = picture();
    sk_planes p = known(&f);
    assert_true(sk_planes_fit(&p, &f, NULL));
    p.agree = false;
    assert_false(sk_planes_fit(&p, &f, NULL));
    static const struct {
        int width, height;
        bool fit;
    } sizes[] = {{320, 240, false}, {322, 240, true},  {320, 242, true},  {322, 100, true},
                 {100, 242, true},  {640, 481, false}, {640, 479, false}, {641, 480, true}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        f = picture();
        f.width = sizes[i].width, f.height = sizes[i].height;
        p = known(&f);
        if (sk_planes_fit(&p, &f, NULL) != sizes[i].fit)
            fail_msg("%d x %d", sizes[i].width, sizes[i].height);
        p.above_width = 0; /* nobody wants them */
        assert_false(sk_planes_fit(&p, &f, NULL));
    }
}

static void other_layouts_are_converted(void **state)
{
    (void)state;
    static const struct {
        int format, rows[3];
        bool held, fit;
    } cases[] = {{AV_PIX_FMT_YUV420P, {640, 320, 320}, true, true},
                 {AV_PIX_FMT_YUVJ420P, {640, 320, 320}, true, true},
                 {AV_PIX_FMT_YUV444P, {640, 640, 640}, true, false},
                 {AV_PIX_FMT_NV12, {640, 640, 0}, true, false},
                 {AV_PIX_FMT_YUV420P, {640, 320, 320}, false, false}, /* it would not outlive the next */
                 {AV_PIX_FMT_YUV420P, {-640, 320, 320}, true, false}, /* upside down */
                 {AV_PIX_FMT_YUV420P, {0, 320, 320}, true, false},
                 {AV_PIX_FMT_YUV420P, {640, -320, -320}, true, false},
                 {AV_PIX_FMT_YUV420P, {640, 0, 0}, true, false},
                 {AV_PIX_FMT_YUV420P, {640, 320, 384}, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVFrame f = picture();
        f.format = cases[i].format;
        for (int k = 0; k < 3; k++)
            f.linesize[k] = cases[i].rows[k];
        f.buf[0] = cases[i].held ? &held : NULL;
        sk_planes p = known(&f);
        if (sk_planes_fit(&p, &f, NULL) != cases[i].fit)
            fail_msg("case %zu", i);
    }
}

static int asked;
static void ask(struct SwsContext *scaler, const AVFrame *frame)
{
    asked++;
    (void)scaler, (void)frame;
}

/* The converters are compared once for every width, format, matrix and range, and again when one of them is another. */
static void converters_are_asked_once(void **state)
{
    (void)state;
    static const struct {
        int width, format, colorspace, range;
        bool anew;
    } cases[] = {{64, AV_PIX_FMT_YUV420P, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, true},
                 {64, AV_PIX_FMT_YUV420P, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, false},
                 {66, AV_PIX_FMT_YUV420P, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, true},
                 {66, AV_PIX_FMT_YUVJ420P, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, true},
                 {66, AV_PIX_FMT_YUVJ420P, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_MPEG, true},
                 {66, AV_PIX_FMT_YUVJ420P, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_JPEG, true},
                 {66, AV_PIX_FMT_YUVJ420P, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_JPEG, false}};
    sk_error err = {0};
    sk_planes p = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVFrame f = picture();
        f.width = cases[i].width, f.format = cases[i].format;
        f.colorspace = (enum AVColorSpace)cases[i].colorspace;
        f.color_range = (enum AVColorRange)cases[i].range;
        asked = 0;
        const bool agree = sk_planes_agree(&p, &f, ask);
        if (asked != cases[i].anew)
            fail_msg("case %zu: asked %d times", i, asked);
        assert_int_equal(agree, p.agree);
    }
}
#endif

int main(void)
{
#ifdef SKITTER_HAVE_FFMPEG
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_even_planes_go_on_as_they_are),
        cmocka_unit_test(other_layouts_are_converted),
        cmocka_unit_test(converters_are_asked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 77;
#endif
}
