/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "media/reader.h"
#include "media/video_sink.h"
#include "skitter/source.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* What callers get wrong is told, not crashed on; what they may write is what its name says. */

static sk_frame colours(sk_pixel_format format)
{
    static uint8_t pixels[3 * 6 * 4];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(3 * i);
    sk_frame f = SK_FRAME_INIT;
    f.format = format, f.width = 6, f.height = 4, f.stride = 18, f.data = pixels;
    return f;
}

static const char *at(const char *name)
{
    static char paths[4][4300];
    static int n;
    char *path = paths[n++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static void nothing_is_no_source(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    const sk_frame picture = colours(SK_PIXEL_RGB);
    assert_ok(sk_picture_write_drawing(at("one.png"), &picture, &err), &err);
    assert_int_equal(sk_source_open(NULL, NULL, &source, &err), SK_ERR_ARG);
    assert_int_equal(sk_source_open(at("one.png"), NULL, NULL, &err), SK_ERR_ARG);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    settings.n_accepts = 1; /* and none is there */
    assert_int_equal(sk_source_open(at("one.png"), &settings, &source, &err), SK_ERR_ARG);
    assert_null(source);
    settings.n_accepts = -1;
    assert_int_equal(sk_source_open(at("one.png"), &settings, &source, &err), SK_ERR_ARG);
    assert_null(source);
    assert_ok(sk_source_open(at("one.png"), NULL, &source, &err), &err);
    assert_int_equal(sk_source_next(NULL, &frame, &err), SK_ERR_ARG);
    assert_int_equal(sk_source_next(source, NULL, &err), SK_ERR_ARG);
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_true(frame->index == 0 && frame->width == 6 && frame->data[4] == 12);
    assert_string_equal(sk_source_frame_name(source, frame), at("one.png"));
    sk_source_release(source, NULL);
    frame->release(frame->release_context, frame); /* as whoever got the frame alone does */
    sk_source_close(&source);
    sk_source_close(&source);
}

/* The ending decides, in letters of any size; everything else is a PNG. */
static void pictures_are_what_their_names_say(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool jpeg;
    } cases[] = {{"a.jpg", true},  {"a.JPG", true},      {"a.jpeg", true}, {"a.b.JpEg", true},
                 {"a.png", false}, {"a.jpg.png", false}, {"ajpg", false},  {"a.jpe", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int format = 0; format < 2; format++) {
            sk_error err = {0};
            char *bytes = NULL;
            size_t length = 0;
            const sk_frame f = colours(format ? SK_PIXEL_BGR : SK_PIXEL_RGB);
            assert_ok(sk_picture_write(at(cases[i].name), &f, &err), &err);
            assert_ok(sk_file_read(at(cases[i].name), 1 << 20, &bytes, &length, &err), &err);
            assert_true(length > 20);
            assert_memory_equal(bytes, cases[i].jpeg ? "\xff\xd8\xff" : "\x89PNG", cases[i].jpeg ? 3 : 4);
            sk_free(bytes);
        }
}

/* Drawings are RGB and come back to the bit, rows with room behind them, too. */
static void drawings_come_back_as_they_were(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_slot slot = {0};
    sk_frame f = colours(SK_PIXEL_BGR);
    assert_int_equal(sk_picture_write_drawing(at("none.png"), &f, &err), SK_ERR_ARG);
    assert_false(sk_file_exists(at("none.png")));
    assert_int_equal(
        sk_picture_write_drawing(test_missing("x.png"), &(sk_frame){.format = SK_PIXEL_RGB}, &err),
        SK_ERR_NOT_FOUND);
    f = colours(SK_PIXEL_RGB);
    f.width = 5;
    assert_ok(sk_picture_write_drawing(at("five.png"), &f, &err), &err);
    assert_ok(sk_picture_decode(at("five.png"), SK_PIXEL_RGB, 0, &slot, &err), &err);
    assert_true(slot.frame.width == 5 && slot.frame.height == 4);
    for (int y = 0; y < 4; y++)
        assert_memory_equal(slot.frame.data + slot.frame.stride * y, f.data + f.stride * y, 15);
    assert_ok(sk_picture_decode(at("five.png"), SK_PIXEL_BGR, 0, &slot, &err), &err);
    assert_true(slot.frame.data[0] == f.data[2] && slot.frame.data[2] == f.data[0]);
    sk_slot_free(&slot);
}

/* Grey, RGB and BGR: as PNG to the bit, as JPEG nearly. */
static void every_format_is_written(void **state)
{
    (void)state;
    static const sk_pixel_format formats[] = {SK_PIXEL_GRAY, SK_PIXEL_RGB, SK_PIXEL_BGR};
    static uint8_t pixels[3 * 16 * 16];
    for (int i = 0; i < 3; i++)
        for (int jpeg = 0; jpeg < 2; jpeg++) {
            const bool grey = formats[i] == SK_PIXEL_GRAY;
            const char *path = at(jpeg ? "flat.jpg" : "flat.png");
            sk_error err = {0};
            sk_slot slot = {0};
            sk_frame f = SK_FRAME_INIT;
            f.format = formats[i], f.width = 16, f.height = 16, f.stride = grey ? 16 : 48, f.data = pixels;
            for (int k = 0; k < (grey ? 256 : 768); k++)
                pixels[k] = grey ? 90 : (uint8_t)(const int[]){200, 120, 40}[i == 1 ? k % 3 : 2 - k % 3];
            assert_ok(sk_picture_write(path, &f, &err), &err);
            assert_ok(sk_picture_decode(path, SK_PIXEL_RGB, 0, &slot, &err), &err);
            assert_true(slot.frame.width == 16 && slot.frame.height == 16);
            for (int c = 0; c < 3; c++) {
                const int wanted = grey ? 90 : (const int[]){200, 120, 40}[c];
                const uint8_t *middle = slot.frame.data + 8 * slot.frame.stride + 24;
                assert_in_range(middle[c], wanted - 3 * jpeg, wanted + 3 * jpeg);
            }
            sk_slot_free(&slot);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_no_source),
        cmocka_unit_test(pictures_are_what_their_names_say),
        cmocka_unit_test(drawings_come_back_as_they_were),
        cmocka_unit_test(every_format_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
