/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures whose bytes are put together here: what their heads promise and their files cannot hold, animations, ink, TIFFs that end
 * early or whose tiles are too large, and what is no picture at all. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"
#include "media/video_sink.h"
#include "skitter/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include <jpeglib.h>

typedef struct bytes {
    unsigned char at[160000];
    size_t count;
} bytes;
static bytes b;

static void put(const void *data, size_t count)
{
    assert_true(b.count + count <= sizeof b.at);
    memcpy(b.at + b.count, data, count);
    b.count += count;
}

static void number(uint32_t value, int size, bool big)
{
    for (int i = 0; i < size; i++)
        b.at[b.count++] = (unsigned char)(value >> 8 * (big ? size - 1 - i : i));
}

/* Decodes a copy that ends where its memory does. */
static sk_status decode(sk_pixel_format format, int64_t max_pixels, sk_slot *slot, sk_error *err)
{
    unsigned char *copy = malloc(b.count ? b.count : 1);
    assert_non_null(copy);
    memcpy(copy, b.at, b.count);
    const sk_picture_task task = {
        .path = "p", .format = format, .max_pixels = max_pixels, .data = copy, .length = b.count};
    *err = (sk_error){0};
    const sk_status status = sk_picture_decode_bytes(&task, slot, err);
    free(copy);
    return status;
}

static void says(sk_status wanted, const char *text)
{
    sk_slot slot = {0};
    sk_error err;
    const sk_status status = decode(SK_PIXEL_RGB, 0, &slot, &err);
    sk_slot_free(&slot);
    if (status != wanted || !strstr(err.message, text))
        fail_msg("'%s' instead of '%s'", err.message, text);
}

static void begin(const void *data, size_t count)
{
    b.count = 0;
    put(data, count);
}

static void what_is_no_picture(void **state)
{
    (void)state;
    static const char none[] = "p: neither JPEG nor PNG nor TIFF";
    begin("", 0);
    says(SK_ERR_FORMAT, "p: the file is empty");
    begin("\xFF\xD8\xFF", 3);
    says(SK_ERR_UNSUPPORTED, none);
    begin("\xFF\xD8\xFF\xD9", 4);
    says(SK_ERR_FORMAT, "p: damaged JPEG");
    begin("\xFF\xD7\xFF\xD9", 4);
    says(SK_ERR_UNSUPPORTED, none);
    begin("\xFE\xD8\xFF\xD9", 4);
    says(SK_ERR_UNSUPPORTED, none);
    begin("\x89PNG\r\n\x1a\n", 8);
    says(SK_ERR_UNSUPPORTED, none);
    begin("\x89PNG\r\n\x1a\n\0", 9);
    says(SK_ERR_FORMAT, "p: damaged PNG: the file ends early");
    begin("RIFF....WEBPVP8X....\2", 21);
    says(SK_ERR_UNSUPPORTED, "p: an animated WebP");
    begin("RIFF....WEBPVP8X....\2", 20);
    says(SK_ERR_UNSUPPORTED, none);
    begin("RIFF....WEBPVP8X....\1", 21);
    says(SK_ERR_UNSUPPORTED, none);
    begin("RIFX....WEBPVP8X....\2", 21);
    says(SK_ERR_UNSUPPORTED, none);
    begin("RIFF....WEBPVP8L....\2", 21);
    says(SK_ERR_UNSUPPORTED, none);
}

/* --- PNG --- */

static uint32_t crc(const unsigned char *data, size_t count)
{
    uint32_t value = 0xFFFFFFFF;
    for (size_t i = 0; i < count; i++) {
        value ^= data[i];
        for (int k = 0; k < 8; k++)
            value = value >> 1 ^ (value & 1 ? 0xEDB88320 : 0);
    }
    return ~value;
}

static void chunk(const char *name, const void *data, size_t count)
{
    number((uint32_t)count, 4, true);
    const size_t from = b.count;
    put(name, 4);
    put(data, count);
    number(crc(b.at + from, b.count - from), 4, true);
}

/* Deflate makes a thousand bytes of one, and no more: of samples of every size. */
static void pngs_that_cannot_hold_what_they_claim(void **state)
{
    (void)state;
    static const struct {
        int depth, colour;
        double bytes;
    } forms[] = {{1, 0, 0.125}, {8, 0, 1}, {8, 2, 3}, {16, 2, 6}, {8, 6, 4}, {16, 6, 8}, {16, 4, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int more = 0; more < 2; more++) {
            enum { LENGTH = 8 + 25 + 13 }; /* signature, head, one chunk of a byte */
            const uint32_t most = (uint32_t)(1040 / forms[i].bytes * (LENGTH + 64)), width = 16;
            begin("\x89PNG\r\n\x1a\n", 8);
            unsigned char head[13] = {
                0, 0, 0, 16, 0, 0, 0, 0, (unsigned char)forms[i].depth, (unsigned char)forms[i].colour};
            const uint32_t height = most / width + (uint32_t)more;
            for (int k = 0; k < 4; k++)
                head[4 + k] = (unsigned char)(height >> (24 - 8 * k));
            chunk("IHDR", head, sizeof head);
            chunk("IDAT", "x", 1);
            assert_int_equal(b.count, LENGTH);
            says(height > 65535 ? SK_ERR_LIMIT : SK_ERR_FORMAT, height > 65535 ? "65535"
                                                                : more         ? "46 bytes cannot hold"
                                                                               : "damaged PNG: ");
        }
}

static int warnings;
static void listen(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    warnings += level == SK_LOG_WARN && strstr(text, "p: an animated PNG") != NULL;
}

/* A PNG of our own with another chunk, before or behind its pixels; 70000 bytes of something else may stand before it. */
static int warnings_of(const void *data, size_t count, bool behind, bool far)
{
    static unsigned char whole[4096], filling[70000], pixels[2 * 2 * 3];
    char path[600];
    sk_error err = {0};
    sk_frame drawing = SK_FRAME_INIT;
    char *got = NULL;
    size_t length = 0;
    drawing.format = SK_PIXEL_RGB, drawing.width = 2, drawing.height = 2, drawing.stride = 6,
    drawing.data = pixels;
    snprintf(path, sizeof path, "%s/own.png", test_folder());
    assert_ok(sk_picture_write_drawing(path, &drawing, &err), &err);
    assert_ok(sk_file_read(path, sizeof whole, &got, &length, &err), &err);
    const size_t at = behind ? length - 12 : 33; /* before the end, or behind the head */
    begin(got, at);
    if (far)
        chunk("fiLl", filling, sizeof filling);
    chunk("acTL", data, count);
    put(got + at, length - at);
    sk_free(got);
    sk_slot slot = {0};
    warnings = 0;
    assert_ok(decode(SK_PIXEL_RGB, 0, &slot, &err), &err);
    sk_slot_free(&slot);
    return warnings;
}

static void animations_say_so_before_their_pixels(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, listen, NULL, &listener, &err), &err);
    static const unsigned char many[] = {0, 0, 0, 2, 0, 0, 0, 0}, one[] = {0, 0, 0, 1, 0, 0, 0, 0},
                               more[3][8] = {{0, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}};
    assert_int_equal(warnings_of(many, 8, false, false), 1);
    assert_int_equal(warnings_of(many, 4, false, false), 1);
    assert_int_equal(warnings_of(many, 3, false, false), 0);
    assert_int_equal(warnings_of(one, 8, false, false), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(warnings_of(more[i], 8, false, false), 1);
    assert_int_equal(warnings_of(many, 8, false, true), 1);
    assert_int_equal(warnings_of(many, 8, true, false), 0);
    sk_log_unlisten(&listener);
}

/* --- JPEG --- */

/* Sixteen equal pixels of cyan, magenta, yellow and black: kept exactly. */
static void ink_jpeg(const unsigned char ink[4], bool adobe)
{
    struct jpeg_compress_struct jpeg = {0};
    struct jpeg_error_mgr errors;
    unsigned char row[16 * 4], *out = NULL;
    unsigned long length = 0;
    for (int i = 0; i < 64; i++)
        row[i] = ink[i % 4];
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &length);
    jpeg.image_width = jpeg.image_height = 16;
    jpeg.input_components = 4;
    jpeg.in_color_space = JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg.write_Adobe_marker = adobe;
    jpeg_start_compress(&jpeg, TRUE);
    for (JSAMPROW r = row; jpeg.next_scanline < 16;)
        jpeg_write_scanlines(&jpeg, &r, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    begin(out, length);
    free(out);
}

/* Light of a colour is what its ink and the black leave over; Adobe's programs store what is left, others what is there. */
static void ink_is_taken_off(void **state)
{
    (void)state;
    static const struct {
        unsigned char left[4]; /* of cyan, magenta, yellow, black: 255 none */
        unsigned char rgb[3], grey;
    } cases[] = {
        {{255, 255, 255, 255}, {255, 255, 255}, 255},
        {{255, 255, 255, 0}, {0, 0, 0}, 0},
        {{0, 255, 255, 255}, {1, 255, 255}, 179},
        {{255, 0, 255, 255}, {255, 1, 255}, 106},
        {{255, 255, 0, 255}, {255, 255, 1}, 226},
        {{100, 150, 200, 255}, {101, 151, 201}, 142},
        {{100, 150, 200, 128}, {51, 76, 101}, 71},
        {{10, 250, 128, 40}, {2, 40, 21}, 26},
        /* just this grey, and just not the next one */
        {{200, 121, 234, 255}, {201, 122, 235}, 159},
        {{200, 120, 204, 255}, {201, 121, 205}, 154},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int adobe = 0; adobe < 2; adobe++) {
            unsigned char ink[4];
            for (int k = 0; k < 4; k++)
                ink[k] = adobe ? cases[i].left[k] : (unsigned char)(255 - cases[i].left[k]);
            ink_jpeg(ink, adobe);
            for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++) {
                sk_slot slot = {0};
                sk_error err;
                assert_ok(decode((sk_pixel_format)format, 0, &slot, &err), &err);
                for (int k = 0; k < 16 * sk_pixel_bytes((sk_pixel_format)format); k++) {
                    const int wanted = format == SK_PIXEL_GRAY
                                           ? cases[i].grey
                                           : cases[i].rgb[format == SK_PIXEL_BGR ? 2 - k % 3 : k % 3];
                    if (slot.frame.data[15 * slot.frame.stride + k] != wanted)
                        fail_msg("case %zu, format %d, value %d: %d instead of %d", i, format, k,
                                 slot.frame.data[15 * slot.frame.stride + k], wanted);
                }
                sk_slot_free(&slot);
            }
        }
}

/* --- TIFF --- */

static void entry(uint32_t tag, uint32_t value)
{
    number(tag, 2, false);
    number(4, 2, false); /* one number of 32 bits */
    number(1, 4, false);
    number(value, 4, false);
}

/* Grey of 16 bits, 16 x 16; the pixels come after the directory, in one tile of this size, or (0) one strip. */
static void grey_tiff(uint32_t tile_width, uint32_t tile_rows, uint32_t count, bool odd)
{
    begin("II\x2A\0\x08\0\0\0", 8);
    number((tile_width ? 10u : 9u) + odd, 2, false);
    const uint32_t pixels = 8 + 2 + 12 * ((tile_width ? 10u : 9u) + odd) + 4;
    entry(TIFFTAG_IMAGEWIDTH, 16);
    entry(TIFFTAG_IMAGELENGTH, 16);
    entry(TIFFTAG_BITSPERSAMPLE, 16);
    entry(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    entry(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (!tile_width)
        entry(TIFFTAG_STRIPOFFSETS, pixels);
    entry(TIFFTAG_SAMPLESPERPIXEL, 1);
    if (!tile_width) {
        entry(TIFFTAG_ROWSPERSTRIP, 16);
        entry(TIFFTAG_STRIPBYTECOUNTS, count);
    } else {
        entry(TIFFTAG_TILEWIDTH, tile_width);
        entry(TIFFTAG_TILELENGTH, tile_rows);
        entry(TIFFTAG_TILEOFFSETS, pixels);
        entry(TIFFTAG_TILEBYTECOUNTS, count);
    }
    if (odd)
        entry(65000, 7); /* a tag that nobody knows */
    number(0, 4, false);
    assert_int_equal(b.count, pixels);
    for (int i = 0; i < 256; i++)
        number((uint32_t)i << 8, 2, false);
}

static int heard;
static void hear(const char *module, const char *format, va_list args)
{
    (void)module;
    (void)format;
    (void)args;
    heard++;
}

/* What libtiff has to say comes as an error of ours or not at all: it would write to the terminal. */
static void tiffs_are_read_silently(void **state)
{
    (void)state;
    sk_slot slot = {0};
    sk_error err;
    heard = 0;
    const TIFFErrorHandler warned = TIFFSetWarningHandler(hear), failed = TIFFSetErrorHandler(hear);
    grey_tiff(0, 0, 512, true);
    assert_ok(decode(SK_PIXEL_GRAY, 0, &slot, &err), &err);
    for (int i = 0; i < 256; i++)
        assert_int_equal(slot.frame.data[i / 16 * slot.frame.stride + i % 16], i);
    for (size_t cut = 1; cut <= 180; cut += 23) { /* from the end */
        grey_tiff(0, 0, 512, false);
        b.count -= cut;
        assert_int_equal(decode(SK_PIXEL_GRAY, 0, &slot, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "p: damaged TIFF, part of the picture is missing: "));
    }
    TIFFSetWarningHandler(warned);
    TIFFSetErrorHandler(failed);
    assert_int_equal(heard, 0);
    sk_slot_free(&slot);
}

/* A tile may be a little larger than the file it is in, and than the pixels that are allowed; not more. */
static void tiles_have_bounds(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, rows;
        size_t length;
        int64_t max_pixels;
        bool fine;
    } cases[] = {{16, 16, 0, 0, true},
                 {512, 144, 16320, 0, true},
                 {512, 144, 16319, 0, false},
                 {64, 192, 0, 1024, true},
                 {64, 192, 0, 1023, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_slot slot = {0};
        sk_error err;
        char text[200];
        const unsigned size = cases[i].width * cases[i].rows * 2;
        grey_tiff(cases[i].width, cases[i].rows, 512, false);
        if (cases[i].length) {
            memset(b.at + b.count, 0, cases[i].length - b.count);
            b.count = cases[i].length;
        }
        snprintf(text, sizeof text,
                 "p: a TIFF whose tiles take %u bytes each, in a file of %zu; max_pixels raises what is read",
                 size, b.count);
        const sk_status status = decode(SK_PIXEL_GRAY, cases[i].max_pixels, &slot, &err);
        if (cases[i].fine ? status == SK_ERR_LIMIT : status != SK_ERR_LIMIT || strcmp(err.message, text) != 0)
            fail_msg("case %zu: %s", i, err.message);
        sk_slot_free(&slot);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_picture),
        cmocka_unit_test(pngs_that_cannot_hold_what_they_claim),
        cmocka_unit_test(animations_say_so_before_their_pixels),
        cmocka_unit_test(ink_is_taken_off),
        cmocka_unit_test(tiffs_are_read_silently),
        cmocka_unit_test(tiles_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
