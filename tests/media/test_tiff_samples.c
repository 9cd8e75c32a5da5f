/* SPDX-License-Identifier: Apache-2.0 */
#include "media/tiff_samples.h"

#include "support/test.h"

#include <math.h>
#include <string.h>
#include <tiff.h>

/* Samples of a TIFF one by one: which are read, what a number becomes, where it goes. */

static void which_samples_are_read(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++)
        for (unsigned bits = 1; bits <= 128; bits++)
            for (unsigned colours = 0; colours < 10; colours++) {
                const sk_tiff_page p = {.bits = (uint16_t)bits,
                                        .kind = (uint16_t)kind,
                                        .colours = (uint16_t)colours,
                                        .samples = 3};
                const bool known = kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_INT ||
                                   kind == SAMPLEFORMAT_IEEEFP || kind == SAMPLEFORMAT_VOID;
                const bool wide =
                    bits == 16 || bits == 32 || bits == 64 || (bits == 8 && kind == SAMPLEFORMAT_INT);
                if (sk_tiff_readable(&p) != (known && wide && colours <= PHOTOMETRIC_RGB))
                    fail_msg("kind %u of %u bits, colours %u", kind, bits, colours);
                assert_int_equal(sk_tiff_is_scaled(&p),
                                 !(bits == 16 && kind != SAMPLEFORMAT_INT && kind != SAMPLEFORMAT_IEEEFP));
                assert_int_equal(sk_tiff_wanted(&p), colours == PHOTOMETRIC_RGB ? 3 : 1);
            }
    const sk_tiff_page two = {.bits = 16, .colours = PHOTOMETRIC_RGB, .samples = 2};
    assert_int_equal(sk_tiff_wanted(&two), 1);
}

/* The number that a sample stands for, by measuring it alone. */
static double measured(int kind, int bits, const void *sample)
{
    sk_tiff_canvas c = SK_TIFF_MEASURE;
    const sk_tiff_page p = {.width = 1,
                            .height = 1,
                            .bits = (uint16_t)bits,
                            .kind = (uint16_t)kind,
                            .samples = 1,
                            .colours = PHOTOMETRIC_MINISBLACK};
    sk_tiff_paint(&c, &p, sample, 0, 0, 0, 1, 1);
    assert_true(c.least == c.most || c.least > c.most); /* infinite and no numbers are not measured */
    return c.least > c.most ? (double)NAN : c.least;
}

static void samples_are_numbers(void **state)
{
    (void)state;
    static const struct {
        uint16_t half;
        double value;
    } halves[] = {{0x0000, 0},       {0x3c00, 1},       {0xc000, -2},      {0x3555, 0.333251953125},
                  {0x7bff, 65504},   {0x0001, 0x1p-24}, {0x0400, 0x1p-14}, {0x03ff, 1023 * 0x1p-24},
                  {0x8001, -0x1p-24}};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (measured(SAMPLEFORMAT_IEEEFP, 16, &halves[i].half) != halves[i].value)
            fail_msg("%04x: %g", halves[i].half, measured(SAMPLEFORMAT_IEEEFP, 16, &halves[i].half));
    static const uint16_t none[] = {0x7c00, 0xfc00, 0x7e00};
    for (int i = 0; i < 3; i++)
        assert_true(isnan(measured(SAMPLEFORMAT_IEEEFP, 16, &none[i])));
    assert_true(measured(SAMPLEFORMAT_IEEEFP, 32, &(const float){-0.75f}) == -0.75);
    assert_true(measured(SAMPLEFORMAT_IEEEFP, 64, &(const double){1e300}) == 1e300);
    assert_true(measured(SAMPLEFORMAT_INT, 8, &(const int8_t){-5}) == -5);
    assert_true(measured(SAMPLEFORMAT_INT, 16, &(const int16_t){-500}) == -500);
    assert_true(measured(SAMPLEFORMAT_UINT, 16, &(const uint16_t){65000}) == 65000);
    assert_true(measured(SAMPLEFORMAT_INT, 32, &(const int32_t){-70000}) == -70000);
    assert_true(measured(SAMPLEFORMAT_UINT, 32, &(const uint32_t){4000000000u}) == 4e9);
    assert_true(measured(SAMPLEFORMAT_VOID, 32, &(const uint32_t){4000000000u}) == 4e9);
    assert_true(measured(SAMPLEFORMAT_INT, 64, &(const int64_t){-(INT64_C(1) << 40)}) == -0x1p40);
    assert_true(measured(SAMPLEFORMAT_UINT, 64, &(const uint64_t){UINT64_C(1) << 63}) == 0x1p63);
}

static void ranges_follow_the_values(void **state)
{
    (void)state;
    static const struct {
        double least, most, low, scale;
    } cases[] = {{0, 1, 0, 255},
                 {0.25, 0.5, 0, 255},
                 {0, 255, 0, 1},
                 {3, 7, 0, 1},
                 {0, 1.5, 0, 1},
                 {0, 255.5, 0, 255 / 255.5},
                 {-1, 1, -1, 127.5},
                 {100, 1100, 100, 0.255},
                 {-1, -1, -1, 1},
                 {300, 300, 300, 1},
                 {INFINITY, -INFINITY, 0, 1},
                 {1, 1, 0, 255}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_tiff_canvas c = {.least = cases[i].least, .most = cases[i].most};
        sk_tiff_range range = {0};
        sk_tiff_choose_range(&c, &range);
        if (!range.known || range.low != cases[i].low || fabs(range.scale - cases[i].scale) > 1e-12)
            fail_msg("%g to %g: from %g, times %g", cases[i].least, cases[i].most, range.low, range.scale);
    }
}

/* A block that hangs over the page's edges, in every order of colours, together and plane by plane. */
static void blocks_go_to_their_places(void **state)
{
    (void)state;
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    enum { W = 5, H = 4, BW = 4, BH = 3 };
    for (int f = 0; f < 3; f++)
        for (int apart = 0; apart < 2; apart++) {
            sk_slot slot = {0};
            sk_error err = {0};
            const sk_tiff_page p = {.width = W,
                                    .height = H,
                                    .bits = 16,
                                    .kind = SAMPLEFORMAT_UINT,
                                    .samples = 3,
                                    .colours = PHOTOMETRIC_RGB,
                                    .apart = apart};
            uint16_t block[BW * BH * 3];
            assert_ok(sk_slot_prepare(&slot, formats[f], W, H, &err), &err);
            for (int y = 0; y < H; y++)
                memset(slot.frame.data + slot.frame.stride * y, 7, f == 2 ? W : 3 * W);
            sk_tiff_canvas c = {.slot = &slot, .format = formats[f]};
            for (uint32_t plane = 0; plane < (apart ? 3u : 1u); plane++) {
                for (int i = 0; i < BW * BH; i++)
                    for (uint32_t s = 0; s < (apart ? 1u : 3u); s++)
                        block[apart ? i : 3 * i + (int)s] = (uint16_t)((10 * i + 60 * (int)(plane + s)) << 8 |
                                                                       0x37); /* the upper byte counts */
                sk_tiff_paint(&c, &p, (const unsigned char *)block, plane, 2, 2, BW, BH);
            }
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    const int i = (y - 2) * BW + x - 2, r = 10 * i, g = 10 * i + 60, b = 10 * i + 120;
                    const uint8_t *at = slot.frame.data + slot.frame.stride * y + (f == 2 ? x : 3 * x);
                    if (x < 2 || y < 2)
                        assert_int_equal(at[0], 7);
                    else if (f < 2)
                        assert_true(at[f ? 2 : 0] == r && at[1] == g && at[f ? 0 : 2] == b);
                    else
                        assert_in_range(at[0], (r * 4899 + g * 9617 + b * 1868) / 16384 - 1,
                                        (r * 4899 + g * 9617 + b * 1868) / 16384 + 2);
                }
            sk_slot_free(&slot);
        }
}

/* White is 0 there: the page is turned round when it is whole. */
static void negatives_are_turned_round(void **state)
{
    (void)state;
    for (int white = 0; white < 2; white++)
        for (int grey = 0; grey < 2; grey++) {
            sk_slot slot = {0};
            sk_error err = {0};
            const uint16_t block[] = {0, 0x4000, 0xff00, 0x8000};
            const sk_tiff_page p = {.width = 2,
                                    .height = 2,
                                    .bits = 16,
                                    .kind = SAMPLEFORMAT_UINT,
                                    .samples = 1,
                                    .colours = white ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK};
            assert_ok(sk_slot_prepare(&slot, grey ? SK_PIXEL_GRAY : SK_PIXEL_RGB, 2, 2, &err), &err);
            sk_tiff_canvas c = {.slot = &slot, .format = grey ? SK_PIXEL_GRAY : SK_PIXEL_RGB};
            sk_tiff_paint(&c, &p, (const unsigned char *)block, 0, 0, 0, 2, 2);
            sk_tiff_finish(&c, &p);
            for (int i = 0; i < 4; i++)
                for (int s = 0; s < (grey ? 1 : 3); s++)
                    assert_int_equal(
                        slot.frame.data[slot.frame.stride * (i / 2) + i % 2 * (grey ? 1 : 3) + s],
                        white ? 255 - (block[i] >> 8) : block[i] >> 8);
            sk_slot_free(&slot);
        }
}

/* Values outside of the range end at its ends; what is no number is black. */
static void values_beyond_the_range(void **state)
{
    (void)state;
    static const float values[] = {-5, 0, 0.5f, 1, 3, NAN, INFINITY, -INFINITY};
    static const uint8_t bytes[] = {0, 0, 128, 255, 255, 0, 255, 0};
    sk_slot slot = {0};
    sk_error err = {0};
    const sk_tiff_page p = {.width = 8,
                            .height = 1,
                            .bits = 32,
                            .kind = SAMPLEFORMAT_IEEEFP,
                            .samples = 1,
                            .colours = PHOTOMETRIC_MINISBLACK};
    assert_ok(sk_slot_prepare(&slot, SK_PIXEL_GRAY, 8, 1, &err), &err);
    sk_tiff_canvas c = {.slot = &slot, .format = SK_PIXEL_GRAY, .range = {.known = true, .scale = 255}};
    sk_tiff_paint(&c, &p, (const unsigned char *)values, 0, 0, 0, 8, 1);
    assert_memory_equal(slot.frame.data, bytes, 8);
    sk_slot_free(&slot);
}

/* OpenCV's grey: parts of 16384, to the nearest. */
static void greys_to_the_last_bit(void **state)
{
    (void)state;
    static const uint8_t cases[][4] = {{221, 2, 150, 84},  {77, 169, 4, 123},    {41, 42, 49, 42},
                                       {186, 35, 196, 99}, {111, 202, 68, 160},  {134, 241, 105, 193},
                                       {158, 42, 93, 83},  {255, 255, 255, 255}, {0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t grey[2] = {7, 7};
        const uint8_t *c = cases[i];
        assert_ptr_equal(sk_tiff_put(grey, SK_PIXEL_GRAY, c[0], c[1], c[2]), grey + 1);
        assert_true(grey[0] == c[3] && grey[1] == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greys_to_the_last_bit),     cmocka_unit_test(which_samples_are_read),
        cmocka_unit_test(samples_are_numbers),       cmocka_unit_test(ranges_follow_the_values),
        cmocka_unit_test(blocks_go_to_their_places), cmocka_unit_test(negatives_are_turned_round),
        cmocka_unit_test(values_beyond_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
