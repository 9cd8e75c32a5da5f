/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"
#include "skitter/log.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <tiffio.h>
#include <zlib.h>

#include <jpeglib.h>

/* Pictures of every kind, made here: what is read, what is refused, and what it costs. */

#define W 32
#define H 24

static char path[4300];

static const char *at(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static uint8_t grey_at(int x, int y)
{
    return (uint8_t)(x * 7 + y * 3);
}

static void write_bytes(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(at(name), "wb");
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static size_t read_bytes(const char *name, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(at(name), "rb");
    size_t count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

/* --- makers --- */

static void write_jpeg(const char *name, J_COLOR_SPACE colours)
{
    struct jpeg_compress_struct jpeg = {0};
    struct jpeg_error_mgr errors;
    FILE *file = fopen(at(name), "wb");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = W;
    jpeg.image_height = H;
    jpeg.input_components = colours == JCS_CMYK ? 4 : 3;
    jpeg.in_color_space = colours;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    unsigned char row[W * 4], *rows[1] = {row};
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++)
            for (int c = 0; c < jpeg.input_components; c++)
                row[x * jpeg.input_components + c] = c == 0 ? grey_at(x, y) : c == 3 ? 200 : 100;
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

static void write_png(const char *name, uint32_t format)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = W, .height = H, .format = format};
    static uint16_t pixels[W * H * 4];
    uint8_t *bytes = (uint8_t *)pixels;
    for (int i = 0; i < W * H * 4; i++) {
        if (format & PNG_FORMAT_FLAG_LINEAR)
            pixels[i] = (uint16_t)(i * 31);
        else
            bytes[i] = (uint8_t)(i * 31);
    }
    assert_true(png_image_write_to_file(&image, at(name), 0, pixels, 0, NULL));
}

typedef struct page {
    uint16_t bits, kind, compression, orientation;
    double low, step; /* sample = low + step * grey */
} page;

static void write_tiff(const char *name, const page *pages, int count)
{
    TIFF *tiff = TIFFOpen(at(name), "w");
    for (int i = 0; i < count; i++) {
        const page *p = &pages[i];
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, W);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, H);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, p->bits);
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, p->kind);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, p->compression);
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, p->orientation);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 5);
        for (int y = 0; y < H; y++) {
            float real[W];
            uint16_t whole[W];
            uint8_t small[W];
            for (int x = 0; x < W; x++) {
                double v = p->low + p->step * grey_at(x, y);
                real[x] = (float)v;
                whole[x] = p->bits == 16 ? (uint16_t)v : 0;
                small[x] = p->bits == 8 ? (uint8_t)v : 0;
            }
            void *row = p->bits == 32 ? (void *)real : p->bits == 16 ? (void *)whole : (void *)small;
            assert_true(TIFFWriteScanline(tiff, row, (uint32_t)y, 0) >= 0);
        }
        TIFFWriteDirectory(tiff);
    }
    TIFFClose(tiff);
}

/* --- readers --- */

static sk_status decode(const char *name, int64_t most, sk_slot *slot, sk_error *err)
{
    return sk_picture_decode(at(name), SK_PIXEL_RGB, most, slot, err);
}

static void expect_refusal(const char *name, int64_t most, sk_status code, const char *word)
{
    sk_slot slot = {0};
    sk_error err = {0};
    sk_status status = decode(name, most, &slot, &err);
    sk_slot_free(&slot);
    if (status != code || !strstr(err.message, name) || !strstr(err.message, word))
        fail_msg("%s: %s: %s", name, sk_status_text(status), err.message);
}

static long peak_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* A picture that claims 40000 x 40000 pixels: the head of a good one, with other numbers. */
static void lie(const char *from, const char *to, size_t where, bool swapped, int bytes)
{
    static unsigned char data[1 << 16];
    size_t count = read_bytes(from, data, sizeof data);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < bytes; i++)
            data[where + (size_t)(side * bytes + i)] =
                (unsigned char)(40000 >> (8 * (swapped ? bytes - 1 - i : i)));
    if (where == 16) { /* a PNG's head has a sum */
        unsigned long sum = crc32(0, data + 12, 17);
        for (int i = 0; i < 4; i++)
            data[29 + i] = (unsigned char)(sum >> (24 - 8 * i));
    }
    write_bytes(to, data, count);
}

/* Where a JPEG's frame header has its height. */
static size_t find_sof(const char *name)
{
    static unsigned char data[1 << 16];
    size_t count = read_bytes(name, data, sizeof data);
    for (size_t i = 2; i + 9 < count; i += 2 + ((size_t)data[i + 2] << 8 | data[i + 3]))
        if (data[i + 1] >= 0xC0 && data[i + 1] <= 0xC2)
            return i + 5;
    fail_msg("no frame header");
    return 0;
}

static void absurd_sizes_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    long before = peak_megabytes();
    write_png("good.png", PNG_FORMAT_RGB);
    lie("good.png", "lie.png", 16, true, 4);
    expect_refusal("lie.png", 0, SK_ERR_LIMIT, "max_pixels 1600000000");
    expect_refusal("lie.png", 1600000000, SK_ERR_FORMAT, "cannot hold");
    write_jpeg("good.jpg", JCS_RGB);
    lie("good.jpg", "lie.jpg", find_sof("good.jpg"), true, 2);
    expect_refusal("lie.jpg", 0, SK_ERR_LIMIT, "max_pixels 1600000000");
    expect_refusal("lie.jpg", 1600000000, SK_ERR_FORMAT, "cannot hold");
    page grey = {8, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 1, 0, 1};
    write_tiff("good.tif", &grey, 1);
    static unsigned char data[1 << 16];
    size_t count = read_bytes("good.tif", data, sizeof data);
    size_t ifd = (size_t)data[4] | (size_t)data[5] << 8;
    for (size_t i = 0; i < 3; i++) { /* width and height stand among the first entries */
        unsigned char *entry = data + ifd + 2 + 12 * i;
        if ((entry[0] == 0 || entry[0] == 1) && entry[1] == 1) {
            entry[8] = (unsigned char)(40000 & 255);
            entry[9] = (unsigned char)(40000 >> 8);
        }
    }
    write_bytes("lie.tif", data, count);
    expect_refusal("lie.tif", 0, SK_ERR_LIMIT, "max_pixels 1600000000");
    expect_refusal("lie.tif", 1600000000, SK_ERR_FORMAT, "cannot hold");
    expect_refusal("good.png", W * H - 1, SK_ERR_LIMIT, "max_pixels 768");
    assert_true(peak_megabytes() - before < 64);
}

static void cut_pictures_are_damaged_ones(void **state)
{
    (void)state;
    page pages[2] = {{8, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 1, 0, 1},
                     {32, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, 1, 0, 1}};
    write_jpeg("whole.jpg", JCS_RGB);
    write_png("whole.png", PNG_FORMAT_RGB);
    write_tiff("whole.tif", &pages[1], 1);
    static const char *const names[] = {"whole.jpg", "whole.png", "whole.tif"};
    static const char *const cut[] = {"cut.jpg", "cut.png", "cut.tif"};
    static unsigned char data[1 << 16];
    for (int i = 0; i < 3; i++) {
        size_t count = read_bytes(names[i], data, sizeof data);
        for (int part = 1; part < 8; part++) {
            write_bytes(cut[i], data, count * (size_t)part / 8);
            expect_refusal(cut[i], 0, SK_ERR_FORMAT, "");
        }
    }
    /* Bytes that belong to nothing hurt nobody: cameras write such files. */
    size_t count = read_bytes("whole.jpg", data, sizeof data);
    memmove(data + count - 2 + 3, data + count - 2, 2);
    memset(data + count - 2, 0x11, 3);
    write_bytes("stray.jpg", data, count + 3);
    sk_slot slot = {0};
    sk_error err = {0};
    assert_ok(decode("stray.jpg", 0, &slot, &err), &err);
    sk_slot_free(&slot);
}

static void ink_becomes_colours(void **state)
{
    (void)state;
    write_jpeg("ink.jpg", JCS_CMYK); /* with Adobe's marker: 255 is no ink */
    sk_slot slot = {0};
    sk_error err = {0};
    assert_ok(decode("ink.jpg", 0, &slot, &err), &err);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const uint8_t *p = slot.frame.data + y * slot.frame.stride + 3 * x;
            assert_in_range(p[0] + 6 - grey_at(x, y) * 200 / 255, 0, 12);
            assert_in_range(p[1] + 6 - 100 * 200 / 255, 0, 12);
        }
    sk_slot_free(&slot);
}

static void png_of_every_depth(void **state)
{
    (void)state;
    sk_slot slot = {0};
    sk_error err = {0};
    write_png("deep.png", PNG_FORMAT_LINEAR_Y);
    assert_ok(decode("deep.png", 0, &slot, &err), &err);
    for (int i = 0; i < W * H; i++) /* the upper byte, as OpenCV */
        assert_int_equal(slot.frame.data[i / W * slot.frame.stride + 3 * (i % W)], (uint16_t)(i * 31) >> 8);
    sk_slot_free(&slot);
}

static void every_page_is_a_frame(void **state)
{
    (void)state;
    page pages[3] = {{16, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 1, 0, 256},
                     {16, SAMPLEFORMAT_UINT, COMPRESSION_NONE, 1, 100, 128},
                     {8, SAMPLEFORMAT_UINT, COMPRESSION_PACKBITS, 6, 0, 1}};
    write_tiff("stack.tif", pages, 3);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    sk_error err = {0};
    assert_ok(sk_source_open(at("stack.tif"), &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_int_equal(info.frames, 3);
    assert_int_equal(info.kind, SK_SOURCE_VIDEO);
    for (int i = 0; i < 3; i++) {
        const sk_frame *frame;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->index, i);
        assert_int_equal(frame->width, i == 2 ? H : W); /* the last one lay on its side */
        int expected = i == 0   ? grey_at(3, 2)
                       : i == 1 ? (100 + 128 * grey_at(3, 2)) >> 8
                                : grey_at(2, H - 1 - 3);
        assert_int_equal(frame->data[2 * frame->stride + 3 * 3], expected);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
}

static void float_pages_are_scaled_alike(void **state)
{
    (void)state;
    static const struct {
        double low, step;
        double expected_low, expected_scale;
    } cases[] = {{0, 1 / 255.0, 0, 255}, {0, 1, 0, 1}, {-1000, 20, -1000, 0}};
    for (int c = 0; c < 3; c++) {
        page pages[2] = {{32, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 1, cases[c].low, cases[c].step},
                         {32, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 1, cases[c].low, cases[c].step / 2}};
        write_tiff("real.tif", pages, 2);
        sk_tiff_pages list = {0};
        sk_error err = {0};
        assert_ok(sk_tiff_list(at("real.tif"), NULL, 0, &list, &err), &err);
        double most = 0; /* of the first page, above its least, which is at (0, 0) */
        for (int i = 0; i < W * H; i++)
            most = grey_at(i % W, i / W) > most ? grey_at(i % W, i / W) : most;
        double scale = cases[c].expected_scale > 0 ? cases[c].expected_scale : 255 / (most * cases[c].step);
        sk_picture_task task = {.path = path, .format = SK_PIXEL_GRAY, .length = 1 << 20};
        for (int p = 1; p >= 0; p--) { /* whichever is asked for first */
            sk_tiff_range range = {0};
            sk_slot slot = {0};
            assert_ok(sk_picture_decode_tiff(&task, list.offsets[0], list.offsets[p], &range, &slot, &err),
                      &err);
            double v = pages[p].low + pages[p].step * grey_at(9, 7);
            assert_in_range(slot.frame.data[7 * slot.frame.stride + 9] + 1 -
                                (int)((v - cases[c].expected_low) * scale),
                            0, 2);
            sk_slot_free(&slot);
        }
        sk_tiff_pages_free(&list);
    }
}

static void endless_lists_of_pages_end(void **state)
{
    (void)state;
    /* two tables of one entry each, the second pointing back to the first */
    unsigned char data[64] = "II*\0\x08\0\0\0";
    memcpy(data + 8, "\x01\0\0\x01\x03\0\x01\0\0\0\x05\0\0\0\x1a\0\0\0", 18);
    memcpy(data + 26, "\x01\0\0\x01\x03\0\x01\0\0\0\x05\0\0\0\x08\0\0\0", 18);
    write_bytes("circle.tif", data, 44);
    expect_refusal("circle.tif", 0, SK_ERR_FORMAT, "circle");
    /* a page that is not where it should be */
    data[4] = 0xF0;
    write_bytes("nowhere.tif", data, 44);
    expect_refusal("nowhere.tif", 0, SK_ERR_FORMAT, "ends");
}

/* Very large pictures are decoded one at a time; two may be held nevertheless. */
static void two_large_pictures_can_be_held(void **state)
{
    (void)state;
    enum { SIDE = 4800 };
    char folder[4200];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/large", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_GRAY};
    uint8_t *pixels = calloc(SIDE, SIDE);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%d.png", folder, i);
        if (i == 0)
            assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
        else
            assert_int_equal(symlink("0.png", path), 0);
    }
    free(pixels);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    assert_ok(sk_source_open(folder, &settings, &source, &err), &err);
    alarm(60); /* who waits for ever is ended */
    const sk_frame *first, *second, *third;
    assert_ok(sk_source_next(source, &first, &err), &err);
    usleep(300000); /* the decoder has come to its next step */
    assert_ok(sk_source_next(source, &second, &err), &err);
    assert_int_equal(second->width, SIDE);
    sk_source_release(source, first);
    sk_source_release(source, second);
    assert_ok(sk_source_next(source, &third, &err), &err);
    assert_non_null(third);
    sk_source_release(source, third);
    alarm(0);
    sk_source_close(&source);
}

static int warnings;

static void count_warning(void *context, sk_log_level level, const char *text)
{
    (void)context;
    warnings += level == SK_LOG_WARN && strstr(text, "animated PNG");
}

static void animations_are_called_so(void **state)
{
    (void)state;
    write_png("still.png", PNG_FORMAT_RGB);
    static unsigned char data[1 << 16];
    size_t count = read_bytes("still.png", data, sizeof data);
    /* the chunk that says "two pictures" goes behind the head, with its sum */
    memmove(data + 33 + 20, data + 33, count - 33);
    memcpy(data + 33,
           "\0\0\0\x08"
           "acTL"
           "\0\0\0\x02\0\0\0\0"
           "\xF3\x8D\x93\x70",
           20);
    write_bytes("moving.png", data, count + 20);
    sk_slot slot = {0};
    sk_error err = {0};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, count_warning, NULL, &listener, &err), &err);
    assert_ok(decode("still.png", 0, &slot, &err), &err);
    assert_int_equal(warnings, 0);
    assert_ok(decode("moving.png", 0, &slot, &err), &err);
    assert_int_equal(warnings, 1);
    sk_log_unlisten(&listener);
    sk_slot_free(&slot);
    write_bytes("moving.webp", "RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\0\0\0\0\0\0", 30);
    expect_refusal("moving.webp", 0, SK_ERR_UNSUPPORTED, "animated WebP");
}

#ifdef SKITTER_HAVE_FFMPEG
static void absurd_videos_are_refused(void **state)
{
    (void)state;
    /* An AVI by its head: 14000 x 14000 pixels (0x36B0) of Motion-JPEG and one picture of nothing. */
    unsigned char avi[236] = "RIFF\xe4\0\0\0AVI LIST\xb4\0\0\0hdrlavih\x38\0\0\0";
    memcpy(avi + 32 + 32, "\xb0\x36\0\0\xb0\x36\0\0", 8);
    avi[32 + 24] = 1;
    memcpy(avi + 88, "LIST\x74\0\0\0strlstrh\x38\0\0\0vidsMJPG", 28);
    avi[88 + 20 + 20] = 1;
    avi[88 + 20 + 24] = 25;
    avi[88 + 20 + 32] = 1;
    memcpy(avi + 88 + 20 + 56, "strf\x28\0\0\0\x28\0\0\0\xb0\x36\0\0\xb0\x36\0\0\x01\0\x18\0MJPG", 28);
    memcpy(avi + 212, "LIST\x10\0\0\0movi00dc\x04\0\0\0\xff\xd8\xff\xd9", 24);
    write_bytes("absurd.avi", avi, sizeof avi);
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    sk_error err = {0};
    sk_status status = sk_source_open(at("absurd.avi"), &settings, &source, &err);
    sk_source_close(&source);
    if (status != SK_ERR_LIMIT || !strstr(err.message, "max_pixels 196000000"))
        fail_msg("%s: %s", sk_status_text(status), err.message);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absurd_sizes_are_refused_before_memory_is_taken),
        cmocka_unit_test(cut_pictures_are_damaged_ones),
        cmocka_unit_test(ink_becomes_colours),
        cmocka_unit_test(png_of_every_depth),
        cmocka_unit_test(every_page_is_a_frame),
        cmocka_unit_test(float_pages_are_scaled_alike),
        cmocka_unit_test(endless_lists_of_pages_end),
        cmocka_unit_test(two_large_pictures_can_be_held),
        cmocka_unit_test(animations_are_called_so),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(absurd_videos_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
