/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures on their way into networks, byte for byte: every way of sizing, letterboxes, SLEAP's sizes and crops, crops that lie
 * turned. Bytes are compared with their hash, so a file of pictures need not lie here. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "tasks/classify.h"
#include "tasks/letterbox.h"
#include "tasks/pixels.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_float.h"
#include "tasks/resize_linear.h"
#include "tasks/resize_pillow.h"
#include "tasks/resize_planar.h"
#include "tasks/row_strips.h"
#include "tasks/sleap_crop.h"
#include "tasks/sleap_pre.h"
#include "tasks/turned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 160 };

static int between(unsigned *dice, int from, int to)
{
    return (int)recorded_between(dice, from, to + 0.999);
}

static unsigned long long hash(const void *bytes, size_t n)
{
    return (unsigned long long)case_hash(bytes, n);
}

/* Of bytes that may differ by one here and there. */
static double sum_of(const uint8_t *bytes, int n)
{
    recorded_sum sum = {0};
    for (int i = 0; i < n; i++)
        recorded_add(&sum, bytes[i]);
    return sum.sum;
}

/* A picture that ends where its last row does, so that a sanitizer sees the first byte too many. */
static sk_frame picture(unsigned *dice, sk_pixel_format format, int width, int height, int gap)
{
    const int row = width * (format == SK_PIXEL_GRAY ? 1 : 3);
    sk_frame f = SK_FRAME_INIT;
    f.format = format;
    f.width = width;
    f.height = height;
    f.stride = row + gap;
    const size_t bytes = (size_t)(f.stride * (height - 1) + row);
    f.data = malloc(bytes);
    assert_non_null(f.data);
    case_noise(f.data, bytes, (uint32_t)between(dice, 1, 1000));
    return f;
}

static void every_way_of_sizing(void **state)
{
    (void)state;
    unsigned dice = 11;
    sk_error err;
    static uint8_t out[MOST * MOST * 4];
    static float planes[MOST * MOST * 3];
    for (int round = 0; round < 120; round++) {
        const int w = between(&dice, 1, 90), h = between(&dice, 1, 70);
        int to_w = between(&dice, 1, 120), to_h = between(&dice, 1, 100);
        const int channels = round % 2 ? 3 : 1;
        if (round % 10 == 3)
            to_w = w, to_h = h;
        if (round % 10 == 7)
            to_w = (w + 1) / 2, to_h = (h + 1) / 2;
        sk_frame f = picture(&dice, channels == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB, w, h, round % 3);
        sk_resize_linear *linear;
        sk_resize_antialias *smooth;
        sk_resize_float *real;
        sk_resize_pillow *pillow;
        unsigned long long said[6] = {0};
        const size_t all = (size_t)(to_w * to_h * channels);
        assert_ok(sk_resize_linear_open(w, h, to_w, to_h, channels, 1, &linear, &err), &err);
        sk_resize_linear_rows(linear, f.data, f.stride, out, to_w * channels, 0, 0, 0, to_h, 0);
        said[0] = hash(out, all);
        const int from = to_h / 3, wide = channels == 1 ? 3 : channels; /* some rows, turned or spread */
        memset(out, 7, sizeof out);
        sk_resize_linear_rows(linear, f.data, f.stride, out, to_w * wide, channels == 3, channels == 1, from,
                              to_h, 0);
        said[1] = hash(out, (size_t)(to_w * wide * to_h));
        sk_resize_linear_close(&linear);
        assert_ok(sk_resize_antialias_open(w, h, to_w, to_h, channels, &smooth, &err), &err);
        sk_resize_antialias_run(smooth, f.data, f.stride, out, to_w * channels);
        said[2] = hash(out, all);
        sk_resize_antialias_close(&smooth);
        assert_ok(sk_resize_float_open(w, h, to_w, to_h, channels, &real, &err), &err);
        sk_resize_float_to_u8(real, f.data, f.stride, out, to_w * channels);
        said[3] = hash(out, all);
        sk_resize_float_to_planes(real, f.data, f.stride, planes, to_w, to_w * to_h);
        recorded_sum sum = {0};
        for (size_t i = 0; i < all; i++)
            recorded_add(&sum, (double)planes[i]);
        sk_resize_float_close(&real);
        if (channels == 3 && f.stride == 3 * w) {
            const sk_resize_window window = {to_w / 4, to_h / 5, to_w - to_w / 4 - to_w / 6, to_h - to_h / 5};
            assert_ok(sk_resize_pillow_open(w, h, to_w, to_h, window, &pillow, &err), &err);
            sk_resize_pillow_run(pillow, f.data, out);
            said[4] = hash(out, (size_t)(window.width * window.height * 3));
            sk_resize_pillow_close(&pillow);
        }
        sk_row_strips strips;
        assert_ok(sk_row_strips_find(w * 20, h * 20, to_w, to_h, &strips, &err), &err);
        long number = 0;
        for (int row = 0; strips.count && row < h * 20; row++)
            number = number * 3 % 1000003 + sk_row_strips_number(&strips, row);
        recorded_say(
            "%d: %d x %d x %d to %d x %d: #%llx #%llx #%llx #%llx #%llx %.8g; strips %d %d %d %d %ld", round,
            w, h, channels, to_w, to_h, said[0], said[1], said[2], said[3], said[4], sum.sum, strips.first,
            strips.step, strips.height, strips.count, number);
        free(f.data);
    }
    recorded_check("tests/fixtures/tasks/recorded/sizing.txt");
}

/* Planes of video, resized and made colours in one. */
static void planes_of_video(void **state)
{
    (void)state;
    unsigned dice = 17;
    sk_error err;
    static uint8_t data[400 * 300 * 2], out[MOST * MOST * 3];
    sk_resize_planar *planar;
    assert_ok(sk_resize_planar_open(MOST, MOST, &planar, &err), &err);
    case_noise(data, sizeof data, 5);
    for (int round = 0; round < 30; round++) {
        const int w = 2 * between(&dice, 40, 150), h = 2 * between(&dice, 40, 140);
        const int to_w = round % 6 == 5 ? w / 2 : between(&dice, 10, 100),
                  to_h = round % 6 == 5 ? h / 2 : between(&dice, 10, 80);
        sk_frame f = SK_FRAME_INIT;
        f.format = SK_PIXEL_I420;
        f.width = w;
        f.height = h;
        f.stride = w;
        f.data = data;
        f.chroma = data + w * h;
        f.chroma_v = f.chroma + w / 2 * (h / 2);
        f.chroma_stride = w / 2;
        f.full_range = round % 2;
        f.matrix = round % 3 ? SK_COLOUR_BT709 : SK_COLOUR_BT601;
        const bool takes = sk_resize_planar_takes(w, h, to_w, to_h);
        assert_int_equal(sk_resize_planar_fit(planar, w, h, to_w, to_h), takes);
        memset(out, 0, sizeof out);
        if (takes) {
            sk_resize_planar_rows(planar, &f, out, to_w * 3, 0, to_h / 2);
            sk_resize_planar_rows(planar, &f, out, to_w * 3, to_h / 2, to_h);
        }
        recorded_say("%d: %d x %d to %d x %d: %d #%llx", round, w, h, to_w, to_h, takes,
                     hash(out, sizeof out));
    }
    sk_resize_planar_close(&planar);
    recorded_check("tests/fixtures/tasks/recorded/planes.txt");
}

static void letterboxes(void **state)
{
    (void)state;
    unsigned dice = 2;
    sk_error err;
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    static uint8_t out[MOST * MOST * 3];
    for (int round = 0; round < 60; round++) {
        const sk_pixel_format format = formats[round % 3];
        const int w = between(&dice, 1, 100), h = between(&dice, 1, 80);
        const int net_w = 8 * between(&dice, 2, 14), net_h = round % 2 ? net_w : 8 * between(&dice, 2, 14);
        sk_frame f = picture(&dice, format, w, h, round % 4);
        sk_letterbox_geometry g;
        sk_letterbox *box;
        assert_ok(sk_letterbox_fit(w, h, net_w, net_h, round % 5 == 4 ? 8 : 0, &g, &err), &err);
        assert_ok(sk_letterbox_open(&g, format, 3, &box, &err), &err);
        memset(out, 9, sizeof out);
        assert_ok(sk_letterbox_run(box, &f, out, &err), &err);
        const unsigned long long whole = hash(out, (size_t)(g.width * g.height * 3));
        memset(out, 3, sizeof out);
        for (int slice = 0; slice < 3; slice++)
            assert_ok(sk_letterbox_run_slice(box, &f, out, slice, 3, &err), &err);
        assert_true(hash(out, (size_t)(g.width * g.height * 3)) == whole);
        sk_frame other = f;
        other.height--;
        assert_int_equal(sk_letterbox_run(box, &other, out, &err), SK_ERR_MISMATCH);
        other = f;
        other.width++;
        assert_int_equal(sk_letterbox_run(box, &other, out, &err), SK_ERR_MISMATCH);
        other = f;
        other.format = formats[(round + 1) % 3];
        assert_int_equal(sk_letterbox_run(box, &other, out, &err), SK_ERR_MISMATCH);
        recorded_say("%d: %d x %d, %d x %d (%d x %d), %d %d %d %d, %.7g, planes %d: #%llx", round, w, h,
                     g.width, g.height, g.resized_width, g.resized_height, g.left, g.top, g.right, g.bottom,
                     g.gain, sk_letterbox_takes_planes(&g), whole);
        sk_letterbox_close(&box);
        free(f.data);
    }
    recorded_check("tests/fixtures/tasks/recorded/letterboxes.txt");
}

static void sleaps_pictures(void **state)
{
    (void)state;
    unsigned dice = 6;
    sk_error err;
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    static float planes[400 * 400 * 3];
    static uint8_t bytes[400 * 400 * 3];
    for (int round = 0; round < 80; round++) {
        const int w = between(&dice, 8, 90), h = between(&dice, 8, 70), channels = round / 3 % 2 ? 3 : 1;
        sk_frame f = picture(&dice, formats[round % 3], w, h, round % 2);
        if (round % 8 == 5 && f.format != SK_PIXEL_GRAY) /* grey, said in colours */
            for (int y = 0; y < h; y++)
                for (int x = 0; x < 3 * w; x++)
                    f.data[y * f.stride + x] = (uint8_t)(x / 3 * 7 + y);
        const sk_sleap_spec spec = {.input_scale = round % 4 == 1   ? 0.5f
                                                   : round % 4 == 2 ? 1.25f
                                                                    : 1,
                                    .pad_to_stride = round % 5 * 4,
                                    .legacy = round / 2 % 2,
                                    .ensure_grayscale = round / 5 % 2,
                                    .target_size = {round % 3 == 1 ? 60 : 0, round % 3 == 1 ? 76 : 0},
                                    .crop_size = {17, 22}};
        sk_sleap_geometry g;
        sk_sleap_pre *pre;
        sk_sleap_crop_geometry cg;
        sk_sleap_crop *crop;
        const uint8_t *sized;
        assert_ok(sk_sleap_sizes(&spec, w, h, &g, &err), &err);
        assert_ok(sk_sleap_pre_open(&spec, channels, &g, &pre, &err), &err);
        assert_ok(sk_sleap_pre_size(pre, &f, &sized, &err), &err);
        const int32_t now = sk_sleap_pre_channels(pre);
        const unsigned long long picture_hash = hash(sized, (size_t)(g.sized_width * g.sized_height * now));
        const size_t n = (size_t)(g.width * g.height * channels);
        recorded_sum sum = {0}, crops = {0}, turned = {0};
        assert_ok(sk_sleap_pre_f32(pre, planes, &err), &err);
        for (size_t i = 0; i < n; i++)
            recorded_add(&sum, (double)planes[i]);
        unsigned long long byte_hash = 0;
        if (sk_sleap_pre_is_u8(pre)) {
            assert_ok(sk_sleap_pre_u8(pre, bytes, &err), &err);
            byte_hash = hash(bytes, n);
        }
        recorded_say("%d: %d x %d, fitted %d x %d, sized %d x %d x %d, scaled %d x %d, %d x %d x %d, %.7g "
                     "%.7g, grey %d: "
                     "#%llx #%llx %.8g",
                     round, w, h, g.fitted_width, g.fitted_height, g.sized_width, g.sized_height, now,
                     g.scaled_width, g.scaled_height, g.width, g.height, channels, (double)g.eff_scale,
                     (double)g.input_scale, (int)sk_sleap_grey_of(&spec, channels), picture_hash, byte_hash,
                     sum.sum);
        assert_ok(sk_sleap_crop_sizes(&spec, 0, &cg, &err), &err);
        assert_ok(
            sk_sleap_crop_open(&spec, &cg, channels, g.sized_width, g.sized_height, channels, &crop, &err),
            &err);
        sk_sleap_crop_begin(crop, sized, now);
        unsigned long long cut = 0;
        for (int k = 0; k < 6; k++) {
            const float x = (float)recorded_between(&dice, -10, g.sized_width + 10);
            const float y = (float)recorded_between(&dice, -10, g.sized_height + 10);
            const sk_turned_box boxes[2] = {{x, y, 5, 3, 1, 0}, {x + 5, y + 2, 6, 4, 0.8f, 0.6f}};
            const sk_crop_mask mask = {boxes, 2, 0, 1};
            sk_crop place =
                k < 4 ? sk_sleap_crop_around(crop, x, y) : sk_sleap_crop_turned(crop, x, y, 0.4f * (float)k);
            sk_sleap_crop_mask(crop, k % 2 ? &mask : NULL);
            sk_sleap_crop_u8(crop, &place, bytes);
            cut = k < 4 ? cut * 31 + hash(bytes, (size_t)(cg.width * cg.height * channels)) : cut;
            recorded_add(&turned, k < 4 ? 0 : sum_of(bytes, cg.width * cg.height * channels));
            sk_sleap_crop_f32(crop, &place, planes);
            for (int i = 0; i < cg.width * cg.height * channels; i++)
                recorded_add(k < 4 ? &crops : &turned, (double)planes[i]);
            float px = 3, py = 4;
            if (k < 4)
                sk_sleap_crop_undo(crop, x, y, &px, &py);
            else
                sk_sleap_crop_undo_turned(crop, x, y, 0.4f * (float)k, &px, &py);
            recorded_add(&crops, (double)(px + 2 * py + place.left + 3 * place.top + 5 * place.width +
                                          7 * place.height) +
                                     (double)place.angle + place.turned);
        }
        recorded_say("  crops %d x %d, %d x %d, %d x %d: #%llx %.8g ~%.8g", cg.crop_width, cg.crop_height,
                     cg.scaled_width, cg.scaled_height, cg.width, cg.height, cut, crops.sum, turned.sum);
        sk_sleap_crop_close(&crop);
        sk_sleap_pre_close(&pre);
        free(f.data);
    }
    recorded_check("tests/fixtures/tasks/recorded/sleaps_pictures.txt");
}

static void turned_crops(void **state)
{
    (void)state;
    unsigned dice = 33;
    static uint8_t pixels[70 * 50 * 3], out[200 * 200 * 3];
    case_noise(pixels, sizeof pixels, 8);
    for (int round = 0; round < 60; round++) {
        sk_found found = {.has = round % 4 == 3 ? SK_HAS_BOX : round % 9 == 8 ? 0 : SK_HAS_OBB};
        for (int i = 0; i < 5; i++)
            found.obb[i] = (float)recorded_between(&dice, i < 2 ? 0 : i < 4 ? 3 : -4, i < 4 ? 45 : 4);
        for (int i = 0; i < 4; i++)
            found.box[i] = (float)recorded_between(&dice, i < 2 ? 0 : 20, i < 2 ? 20 : 50);
        sk_turned_box boxes[4], inside[4];
        if (!sk_turned_box_of(&found, &boxes[0])) {
            recorded_say("%d: no box", round);
            continue;
        }
        const sk_turned_box *b = &boxes[0];
        const sk_crop place =
            sk_turned_place(b, (float)recorded_between(&dice, 0, 0.5), round % 3 ? 120 : 20);
        const sk_turned_picture from = {pixels, 70 * (round % 2 ? 3 : 1), 70, 50, round % 2 ? 3 : 1};
        const int channels = from.channels, w = (int)place.width, h = (int)place.height;
        sk_turned_cut(&from, &place, out);
        const double cut = sum_of(out, w * h * channels);
        for (int i = 1; i < 4; i++) {
            float v[5];
            for (int k = 0; k < 5; k++)
                v[k] = (float)recorded_between(&dice, k < 2 ? -30 : 2, k < 2 ? 60 : 15);
            boxes[i] =
                (sk_turned_box){b->x + v[0] - 15, b->y + v[1] - 15, v[2], v[3], cosf(v[4]), sinf(v[4])};
        }
        const sk_crop_mask mask = {boxes, 4, 0, round % 5 == 4 ? 0.5f : 1};
        const int32_t n = sk_crop_mask_boxes(&mask, &place, inside);
        sk_crop_mask_paint(&mask, &place, channels, out);
        recorded_sum sum = {0};
        for (int32_t i = 0; i < n; i++) {
            recorded_add(&sum, (double)(inside[i].x + 2 * inside[i].y + 3 * inside[i].half_width));
            recorded_add(&sum, (double)(inside[i].half_height + 2 * inside[i].cosine + 3 * inside[i].sine));
        }
        float x, y;
        sk_turned_out(&place, 3, 5, &x, &y);
        int held = 0;
        for (int i = 0; i < 400; i++)
            held += sk_turned_box_holds(b, (float)(i % 20) * 3, (float)(i / 20) * 3) * (i % 7 + 1);
        recorded_say("%d: %.6g %.6g %.6g %.6g %.6g %.6g; %.6g %.6g %d x %d %.6g %d; ~%.8g %d boxes %.6g; "
                     "~%.8g %.6g %.6g; %d",
                     round, (double)b->x, (double)b->y, (double)b->half_width, (double)b->half_height,
                     (double)b->cosine, (double)b->sine, (double)place.left, (double)place.top, w, h,
                     (double)place.angle, place.turned, cut, n, sum.sum, sum_of(out, w * h * channels),
                     (double)x, (double)y, held);
    }
    recorded_check("tests/fixtures/tasks/recorded/turned.txt");
}

static void classified_pictures(void **state)
{
    (void)state;
    unsigned dice = 12;
    sk_error err;
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    static uint8_t out[MOST * MOST * 3];
    for (int round = 0; round < 40; round++) {
        const int w = between(&dice, 3, 140), h = between(&dice, 3, 140);
        const int net_w = between(&dice, 8, 60), net_h = round % 3 == 2 ? between(&dice, 8, 60) : net_w;
        sk_frame f = picture(&dice, formats[round % 3], w, h, round % 2);
        sk_classify *c;
        int32_t sw, sh;
        assert_ok(sk_classify_open(w, h, net_w, net_h, &c, &err), &err);
        sk_classify_scaled(c, &sw, &sh);
        assert_ok(sk_classify_input(c, &f, out, &err), &err);
        recorded_say("%d: %d x %d, %d x %d in %d x %d: #%llx", round, w, h, net_w, net_h, sw, sh,
                     hash(out, (size_t)(net_w * net_h * 3)));
        f.width++;
        assert_int_equal(sk_classify_input(c, &f, out, &err), SK_ERR_MISMATCH);
        f.width--, f.height++;
        assert_int_equal(sk_classify_input(c, &f, out, &err), SK_ERR_MISMATCH);
        sk_classify_close(&c);
        free(f.data);
    }
    recorded_check("tests/fixtures/tasks/recorded/classified.txt");
}

static void colours_and_greys(void **state)
{
    (void)state;
    unsigned dice = 3;
    sk_error err;
    static uint8_t out[100 * 100 * 3];
    static float planes[100 * 100 * 3];
    for (int round = 0; round < 48; round++) {
        static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
        const int w = between(&dice, 1, 70), h = between(&dice, 1, 40), channels = round / 3 % 2 ? 3 : 1;
        sk_frame f = picture(&dice, formats[round % 3], w, h, round % 4);
        if (round % 6 >= 4 && f.format != SK_PIXEL_GRAY)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < 3 * w; x++)
                    f.data[y * f.stride + x] = (uint8_t)(x / 3 + 5 * y);
        if (round % 12 == 10) /* all but the last agree */
            f.data[(h - 1) * f.stride + 3 * w - 1] ^= 1;
        const bool grey = f.format == SK_PIXEL_GRAY || sk_pixels_are_gray(&f);
        assert_ok(
            sk_pixels_convert(&f, channels, round / 6 % 2 ? SK_GRAY_TORCH : SK_GRAY_TENSORFLOW, out, &err),
            &err);
        const size_t n = (size_t)(w * h * channels);
        const unsigned long long converted = hash(out, n);
        static const float mean[3] = {0.4f, 0.5f, 0.6f}, spread[3] = {0.2f, 0.3f, 0.25f};
        recorded_sum plain = {0}, shifted = {0}, dark = {0};
        sk_pixels_to_planes(out, w * channels, w, h, channels, 1.0f / 255, NULL, NULL, planes);
        for (size_t i = 0; i < n; i++)
            recorded_add(&plain, (double)planes[i]);
        sk_pixels_to_planes(out, w * channels, w, h, channels, round % 2 ? 1.0f / 255 : 0.01f, mean, spread,
                            planes);
        for (size_t i = 0; i < n; i++)
            recorded_add(&shifted, (double)planes[i]);
        if (channels == 3) {
            sk_pixels_gray_plane(out, w, h, planes, w + 2);
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    recorded_add(&dark, (double)planes[y * (w + 2) + x]);
        }
        sk_pixels_row_to_rgb(f.format, f.data, w, out);
        const unsigned long long row = hash(out, (size_t)(3 * w));
        sk_pixels_take_gray(&f, out);
        recorded_say("%d: %d x %d x %d%s: #%llx %.8g %.8g %.8g #%llx #%llx", round, w, h, channels,
                     grey ? " grey" : "", converted, plain.sum, shifted.sum, dark.sum, row,
                     hash(out, (size_t)(w * h)));
        free(f.data);
    }
    recorded_check("tests/fixtures/tasks/recorded/colours.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_sizing), cmocka_unit_test(planes_of_video),
        cmocka_unit_test(letterboxes),         cmocka_unit_test(sleaps_pictures),
        cmocka_unit_test(turned_crops),        cmocka_unit_test(classified_pictures),
        cmocka_unit_test(colours_and_greys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
