/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"
#include "media/picture_size.h"

#include <stdio.h>
#include <string.h>

/* What the heads of pictures say, byte by byte: how they lie and how large they are; and what is allowed of a size. */

typedef struct bytes {
    unsigned char at[4096];
    size_t count;
} bytes;

static void put(bytes *b, const void *data, size_t count)
{
    memcpy(b->at + b->count, data, count);
    b->count += count;
}

static void number(bytes *b, uint32_t value, int size, bool big)
{
    for (int i = 0; i < size; i++)
        b->at[b->count++] = (unsigned char)(value >> 8 * (big ? size - 1 - i : i));
}

/* An Exif block with `others` entries before the orientation's, its directory at `begin`. */
static bytes exif(bool big, uint32_t begin, unsigned others, unsigned value)
{
    bytes b = {0};
    put(&b, big ? "MM" : "II", 2);
    number(&b, 42, 2, big);
    number(&b, begin, 4, big);
    b.count = begin;
    number(&b, others + 1, 2, big);
    for (unsigned i = 0; i <= others; i++) {
        number(&b, i == others ? 0x0112 : 0x0100 + i, 2, big);
        number(&b, 3, 2, big);
        number(&b, 1, 4, big);
        number(&b, i == others ? value : 6, 2, big);
        number(&b, 0, 2, big);
    }
    return b;
}

/* Cut anywhere: it is known from the very byte on that ends its entry, and never read behind the end. */
static void orientation_is_read_as_far_as_it_is_there(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (unsigned others = 0; others < 3; others++)
            for (uint32_t begin = 8; begin <= 300; begin += 146)
                for (unsigned value = 0; value <= 9; value++) {
                    const bytes b = exif(big, begin, others, value);
                    for (size_t cut = 0; cut <= b.count; cut++) {
                        unsigned char *copy = sk_malloc(cut + 1);
                        memcpy(copy, b.at, cut);
                        copy[cut] = 0x55;
                        const int expected = cut == b.count && value >= 1 && value <= 8 ? (int)value : 1;
                        if (sk_exif_orientation(copy, cut) != expected)
                            fail_msg("%d of %zu bytes, value %u: not %d", (int)cut, b.count, value, expected);
                        sk_free(copy);
                    }
                }
    bytes b = exif(false, 8, 0, 6);
    b.at[4] = 0xFF, b.at[5] = 0xFF, b.at[6] = 0xFF, b.at[7] = 0xFF; /* a directory beyond everything */
    assert_int_equal(sk_exif_orientation(b.at, b.count), 1);
    b = exif(false, 8, 0, 6);
    b.at[8] = 200; /* more entries than there are */
    assert_int_equal(sk_exif_orientation(b.at, b.count), 6);
    b.at[8] = 0;
    assert_int_equal(sk_exif_orientation(b.at, b.count), 1);
}

/* Six pixels, a b c / d e f, as each tag lays them. */
static void pictures_are_turned_upright(void **state)
{
    (void)state;
    static const struct {
        int orientation, width;
        const char *upright;
    } cases[] = {{0, 3, "abcdef"}, {1, 3, "abcdef"}, {2, 3, "cbafed"}, {3, 3, "fedcba"}, {4, 3, "defabc"},
                 {5, 2, "adbecf"}, {6, 2, "daebfc"}, {7, 2, "fcebda"}, {8, 2, "cfbead"}, {9, 3, "abcdef"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int colours = 0; colours < 2; colours++) {
            const int pixel = colours ? 3 : 1;
            sk_slot slot = {0};
            sk_error err = {0};
            assert_ok(sk_slot_prepare(&slot, colours ? SK_PIXEL_RGB : SK_PIXEL_GRAY, 3, 2, &err), &err);
            for (int k = 0; k < 6; k++)
                for (int c = 0; c < pixel; c++)
                    slot.frame.data[k / 3 * slot.frame.stride + k % 3 * pixel + c] =
                        (uint8_t)("abcdef"[k] + c);
            assert_ok(sk_picture_turn(cases[i].orientation, &slot, &err), &err);
            assert_int_equal(slot.frame.width, cases[i].width);
            assert_int_equal(slot.frame.height, 6 / cases[i].width);
            for (int k = 0; k < 6; k++)
                for (int c = 0; c < pixel; c++)
                    assert_int_equal(slot.frame.data[k / cases[i].width * slot.frame.stride +
                                                     k % cases[i].width * pixel + c],
                                     cases[i].upright[k] + c);
            sk_slot_free(&slot);
        }
}

/* --- sizes --- */

static bool size_of(const bytes *b, int32_t *width, int32_t *height)
{
    char path[4200];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/head", test_folder());
    assert_ok(sk_file_put(path, b->at, b->count, &err), &err);
    *width = *height = -1;
    return sk_picture_size(path, width, height, &err) == SK_OK;
}

static void segment(bytes *b, unsigned marker, const void *data, size_t count)
{
    number(b, 0xFF00 | marker, 2, true);
    number(b, (uint32_t)count + 2, 2, true);
    put(b, data, count);
}

static void frame_header(bytes *b, unsigned marker)
{
    segment(b, marker, "\x08\x01\x02\x03\x04\x01", 6); /* 258 high, 772 wide */
    put(b, "\x11\x00\xFF\xDA", 4);
}

static bytes jpeg_with(unsigned marker, const bytes *lies, const char *before)
{
    bytes b = {0};
    put(&b, "\xFF\xD8", 2);
    if (before)
        segment(&b, 0xE0, before, strlen(before));
    if (lies) {
        bytes app = {0};
        put(&app, "Exif\0", 6);
        put(&app, lies->at, lies->count);
        segment(&b, 0xE1, app.at, app.count);
    }
    frame_header(&b, marker);
    return b;
}

static void sizes_of_jpegs(void **state)
{
    (void)state;
    int32_t width, height;
    for (unsigned marker = 0xC0; marker <= 0xD0;
         marker++) { /* tables and arithmetic conditions are no frames */
        const bytes b = jpeg_with(marker, NULL, "JFIF");
        const bool frame = marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        assert_int_equal(size_of(&b, &width, &height), frame);
        if (frame) {
            assert_int_equal(width, 772);
            assert_int_equal(height, 258);
        }
    }
    for (unsigned value = 1; value <= 8; value++)
        for (int big = 0; big < 2; big++) {
            const bytes lies = exif(big, 8, 1, value), b = jpeg_with(0xC2, &lies, NULL);
            assert_true(size_of(&b, &width, &height));
            assert_int_equal(width, value >= 5 ? 258 : 772);
            assert_int_equal(height, value >= 5 ? 772 : 258);
        }
    /* filling bytes before a marker; the frame's header at the very end of what is there, and one byte short of it */
    bytes b = {0};
    put(&b, "\xFF\xD8\xFF\xFF", 4);
    frame_header(&b, 0xC0);
    assert_true(size_of(&b, &width, &height));
    b.count = 4 + 10;
    assert_true(size_of(&b, &width, &height));
    b.count = 4 + 9;
    assert_false(size_of(&b, &width, &height));
    /* segments of impossible sizes */
    b.count = 2;
    put(&b, "\xFF\xE0\x00\x01", 4);
    frame_header(&b, 0xC0);
    assert_false(size_of(&b, &width, &height));
    b.count = 2;
    put(&b, "\xFF\xE0\x00\x02", 4);
    frame_header(&b, 0xC0);
    assert_true(size_of(&b, &width, &height));
    b.count = 2;
    put(&b, "\xFF\xE0\x7F\xFF", 4);
    frame_header(&b, 0xC0);
    assert_false(size_of(&b, &width, &height));
}

static void chunk(bytes *b, const char *name, const void *data, size_t count)
{
    number(b, (uint32_t)count, 4, true);
    put(b, name, 4);
    put(b, data, count);
    number(b, 0, 4, true);
}

static void sizes_of_pngs(void **state)
{
    (void)state;
    static const unsigned char head[13] = {0, 0, 3, 4, 0, 0, 1, 2, 8, 2, 0, 0, 0}; /* 772 wide, 258 high */
    int32_t width, height;
    for (int kind = 0; kind < 6; kind++) {
        const bytes lies = exif(true, 8, 0, kind == 1 ? 6 : kind == 2 ? 4 : 5);
        bytes b = {0};
        put(&b, "\x89PNG\r\n\x1a\n", 8);
        chunk(&b, "IHDR", head, sizeof head);
        if (kind > 0)
            chunk(&b, "eXIf", lies.at, lies.count);
        if (kind == 3) /* it does not end before the file does */
            b.at[8 + 25 + 3] = 200;
        if (kind != 4)
            chunk(&b, "IDAT", "x", kind == 5 ? 0 : 1);
        const bool known = kind != 3 && kind != 4, turned = kind == 1 || kind == 5;
        assert_int_equal(size_of(&b, &width, &height), known);
        if (known) {
            assert_int_equal(width, turned ? 258 : 772);
            assert_int_equal(height, turned ? 772 : 258);
        }
    }
    bytes b = {0};
    put(&b, "\x89PNG\r\n\x1a\n", 8);
    chunk(&b, "IHDR", "\0\0\0\0\0\0\1\2\10\2\0\0", 13);
    chunk(&b, "IDAT", "x", 1);
    assert_false(size_of(&b, &width, &height)); /* no pixel wide */
}

/* --- what is allowed --- */

static void sizes_have_bounds(void **state)
{
    (void)state;
    static const struct {
        size_t length;
        int64_t asked, most;
    } bounds[] = {{0, 0, SK_PICTURE_SURE},
                  {SK_PICTURE_SURE / SK_PICTURE_PER_BYTE, 0, SK_PICTURE_SURE},
                  {SK_PICTURE_SURE / SK_PICTURE_PER_BYTE + 1, 0, SK_PICTURE_SURE + SK_PICTURE_PER_BYTE},
                  {SK_PICTURE_MOST / SK_PICTURE_PER_BYTE - 1, 0, SK_PICTURE_MOST - SK_PICTURE_PER_BYTE},
                  {SK_PICTURE_MOST / SK_PICTURE_PER_BYTE, 0, SK_PICTURE_MOST},
                  {SIZE_MAX, 0, SK_PICTURE_MOST},
                  {5, 1, 1},
                  {5, SK_PICTURE_MOST * 3, SK_PICTURE_MOST * 3}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const sk_picture_task task = {.path = "p", .max_pixels = bounds[i].asked, .length = bounds[i].length};
        assert_int_equal(sk_picture_most(&task), bounds[i].most);
    }
    const sk_picture_task task = {.path = "p.png", .max_pixels = 1000, .length = 36};
    const sk_picture_task any = {.path = "p.png", .max_pixels = INT64_MAX, .length = 36};
    sk_error err = {0};
    assert_int_equal(sk_picture_check_size(&task, 100, 10, &err), SK_OK);
    assert_int_equal(sk_picture_check_size(&task, 1001, 1, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "max_pixels 1001"));
    assert_int_equal(sk_picture_check_size(&any, 65535, 65535, &err), SK_OK);
    assert_int_equal(sk_picture_check_size(&any, 65536, 1, &err), SK_ERR_LIMIT);
    assert_int_equal(sk_picture_check_size(&any, 1, 65536, &err), SK_ERR_LIMIT);
    assert_int_equal(sk_picture_check_size(&any, 0, 1, &err), SK_ERR_LIMIT);
    assert_int_equal(sk_picture_check_size(&any, 1, 0, &err), SK_ERR_LIMIT);
    assert_int_equal(sk_picture_check_size(&any, 1, 1, &err), SK_OK);
    assert_int_equal(sk_picture_check_packing(&task, 10, 25, 2.5, &err),
                     SK_OK); /* 100 bytes, 2.5 pixels each */
    assert_int_equal(sk_picture_check_packing(&task, 251, 1, 2.5, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "251 x 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation_is_read_as_far_as_it_is_there),
        cmocka_unit_test(pictures_are_turned_upright),
        cmocka_unit_test(sizes_of_jpegs),
        cmocka_unit_test(sizes_of_pngs),
        cmocka_unit_test(sizes_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
