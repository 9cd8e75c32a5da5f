/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of a video are those its file names, or BT.601's where that is asked for: as RGB, as planes and as NV12. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "kernels/nv12.h"
#include "media/library_ffmpeg.h"
#include "skitter/source.h"

#include <stdlib.h>

enum { WIDTH = 96, HEIGHT = 64 };

/* The last of the file's frames: what holds for the first may be forgotten. */
static const sk_frame *last_frame(sk_source *source)
{
    sk_error err = {0};
    const sk_frame *frame = NULL, *next = NULL;
    for (;;) {
        assert_ok(sk_source_next(source, &next, &err), &err);
        if (!next)
            return frame;
        if (frame)
            sk_source_release(source, frame);
        frame = next;
    }
}

/* The last frame's pixels, however it comes. */
static void read_rgb(const char *file, sk_source_colours colours, sk_pixel_format as, uint8_t *rgb,
                     sk_colour_matrix matrix)
{
    sk_error err = {0};
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.colours = colours;
    const sk_frame_kind kind = {.format = as};
    s.accepts = &kind;
    s.n_accepts = as == SK_PIXEL_NV12 || as == SK_PIXEL_I420;
    sk_source *source;
    char path[64];
    snprintf(path, sizeof path, "tests/fixtures/colours/%s", file);
    assert_ok(sk_source_open(test_source(path), &s, &source, &err), &err);
    const sk_frame *frame = last_frame(source);
    assert_non_null(frame);
    assert_int_equal(frame->width, WIDTH);
    assert_int_equal(frame->height, HEIGHT);
#if defined(__x86_64__)
    assert_int_equal(frame->format, as); /* elsewhere our conversion may not be FFmpeg's, and RGB comes */
#endif
    if (frame->format != SK_PIXEL_RGB)
        assert_int_equal(frame->matrix, matrix);
    if (as == SK_PIXEL_NV12) {
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        assert_true(info.like->format != SK_PIXEL_NV12 ||
                    (info.like->matrix == frame->matrix && info.like->full_range == frame->full_range));
    }
    if (frame->format == SK_PIXEL_NV12)
        sk_yuv_to_rgb(frame, rgb);
    else if (frame->format == SK_PIXEL_I420)
        sk_yuv_to_rgb(frame, rgb);
    else
        for (int y = 0; y < HEIGHT; y++)
            memcpy(rgb + 3 * WIDTH * y, frame->data + frame->stride * y, 3 * (size_t)WIDTH);
    sk_source_release(source, frame);
    sk_source_close(&source);
}

/* What Y 120, U 90, V 170 are by the matrix's own numbers. */
static void expected(double kr, double kb, int full, double *rgb)
{
    const double y = full ? 120 : (120 - 16) * 255.0 / 219, scale = full ? 1 : 255.0 / 224;
    const double u = (90 - 128) * scale, v = (170 - 128) * scale;
    rgb[0] = y + 2 * (1 - kr) * v;
    rgb[2] = y + 2 * (1 - kb) * u;
    rgb[1] = (y - kr * rgb[0] - kb * rgb[2]) / (1 - kr - kb);
}

static void test_colours_as_asked_for(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("this test", &err) != SK_OK) {
        print_message("%s\n", err.message);
        skip();
    }
    static const struct {
        const char *file;
        sk_source_colours colours;
        double kr, kb;
        int full;
        sk_colour_matrix matrix;
    } cases[] = {{"bt709.mp4", SK_COLOURS_TAGGED, .2126, .0722, 0, SK_COLOUR_BT709},
                 {"bt709.mp4", SK_COLOURS_BT601, .299, .114, 0, SK_COLOUR_BT601},
                 {"full_bt709.mp4", SK_COLOURS_TAGGED, .2126, .0722, 1, SK_COLOUR_BT709},
                 {"full_by_tag.mkv", SK_COLOURS_TAGGED, .299, .114, 1, SK_COLOUR_BT601},
                 {"full_by_tag.mkv", SK_COLOURS_BT601, .299, .114, 0, SK_COLOUR_BT601}};
    static const sk_pixel_format ways[] = {SK_PIXEL_RGB, SK_PIXEL_I420, SK_PIXEL_NV12};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static uint8_t rgb[3][WIDTH * HEIGHT * 3];
        double want[3];
        expected(cases[i].kr, cases[i].kb, cases[i].full, want);
        for (int way = 0; way < 3; way++) {
            read_rgb(cases[i].file, cases[i].colours, ways[way], rgb[way], cases[i].matrix);
            for (int c = 0; c < 3; c++)
                if (abs(rgb[way][3 * (WIDTH * 31 + 17) + c] - (int)(want[c] + .5)) > 2)
                    fail_msg("%s, colours %d, way %d, channel %d: %d instead of %.1f", cases[i].file,
                             (int)cases[i].colours, way, c, rgb[way][3 * (WIDTH * 31 + 17) + c], want[c]);
            assert_memory_equal(rgb[way], rgb[0], sizeof rgb[0]);
        }
    }
}

/* OpenCV asks FFmpeg for BGR, which it rounds otherwise than RGB where samples have more than 8 bits. */
static void test_red_and_blue_only_change_places(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_ffmpeg_load("this test", &err) != SK_OK) {
        print_message("%s\n", err.message);
        skip();
    }
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR};
    static uint8_t pixels[2][WIDTH * HEIGHT * 3];
    for (int i = 0; i < 2; i++) {
        sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
        sk_source_defaults(&s);
        s.format = formats[i];
        sk_source *source;
        assert_ok(sk_source_open(test_source("tests/fixtures/colours/ten_bits.mkv"), &s, &source, &err),
                  &err);
        const sk_frame *frame = last_frame(source);
        assert_int_equal(frame->format, formats[i]);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 3; c++)
                    pixels[i][3 * (WIDTH * y + x) + (i ? 2 - c : c)] =
                        frame->data[frame->stride * y + 3 * x + c];
        sk_source_release(source, frame);
        sk_source_close(&source);
    }
    assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_colours_as_asked_for),
                                       cmocka_unit_test(test_red_and_blue_only_change_places)};
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
