/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures end where they end: bytes that lie at the end of what may be read, cut at every place; tiles that are larger than the
 * picture; pages that have names. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"
#include "media/picture_size.h"
#include "media/tiff_samples.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

/* A copy behind which nothing can be read. */
static const unsigned char *guarded(const void *bytes, size_t count)
{
    static unsigned char *memory;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!memory) {
        memory = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        assert_int_equal(mprotect(memory + ROOM, page, PROT_NONE), 0);
    }
    assert_true(count <= ROOM);
    memcpy(memory + ROOM - count, bytes, count);
    return memory + ROOM - count;
}

/* --- how a picture lies --- */

/* Three entries, of which the last says how it lies; in both orders of bytes. */
static const unsigned char little[] = "II*\0\x08\0\0\0\x03\0"
                                      "\x0f\x01\x02\0\x01\0\0\0\0\0\0\0"
                                      "\x10\x01\x03\0\x01\0\0\0\x03\0\0\0"
                                      "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0",
                           big[] = "MM\0*\0\0\0\x08\0\x03"
                                   "\x01\x0f\0\x02\0\0\0\x01\0\0\0\0"
                                   "\x01\x10\0\x03\0\0\0\x01\0\x03\0\0"
                                   "\x01\x12\0\x03\0\0\0\x01\0\x06\0\0";
enum { EXIF = 8 + 2 + 3 * 12 };

static void exif_ends_where_it_ends(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        unsigned char bytes[EXIF];
        memcpy(bytes, order ? big : little, EXIF);
        for (size_t length = 0; length <= EXIF; length++)
            assert_int_equal(sk_exif_orientation(guarded(bytes, length), length), length == EXIF ? 6 : 1);
        for (unsigned at = EXIF - 20; at < EXIF + 20; at++) { /* a list that begins there */
            bytes[order ? 7 : 4] = (unsigned char)at;
            assert_int_equal(sk_exif_orientation(guarded(bytes, EXIF), EXIF), 1);
        }
        memset(bytes + 4, 0xFF, 4);
        assert_int_equal(sk_exif_orientation(guarded(bytes, EXIF), EXIF), 1);
        memcpy(bytes, order ? big : little, EXIF);
        bytes[order ? 9 : 8] = 2; /* of two entries the third is none */
        assert_int_equal(sk_exif_orientation(guarded(bytes, EXIF), EXIF), 1);
        bytes[order ? 9 : 8] = 200; /* as many as there are */
        assert_int_equal(sk_exif_orientation(guarded(bytes, EXIF), EXIF), 6);
    }
}

static unsigned char file[ROOM];
static size_t count;

static void put(const void *bytes, size_t n)
{
    assert_true(count + n <= sizeof file);
    memcpy(file + count, bytes, n);
    count += n;
}

/* Grey of W x H, with a block behind its first two bytes. */
static void jpeg_with(const void *block, size_t n)
{
    enum { W = 24, H = 16 };
    static uint8_t pixels[W * H];
    sk_error err = {0};
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_GRAY, f.width = W, f.height = H, f.stride = W, f.data = pixels;
    for (int i = 0; i < W * H; i++)
        pixels[i] = (uint8_t)(i * 5);
    assert_ok(sk_picture_jpeg(&f, 90, &bytes, &length, &err), &err);
    count = 0;
    put(bytes, 2);
    put(block, n);
    put(bytes + 2, length - 2);
    sk_free(bytes);
}

static const char *saved(const char *name)
{
    static char path[600];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    assert_ok(sk_file_put(path, (const char *)file, count, &err), &err);
    return path;
}

/* An entry of which the second half is part of the next block says nothing. */
static void exif_does_not_go_on_in_the_next_block(void **state)
{
    (void)state;
    static const unsigned char blocks[] = "\xFF\xE1\0\x14"
                                          "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01"
                                          "\xFF\xFE\0\x0a\0\0\x06\0\0\0\0\0",
                               whole[] =
                                   "\xFF\xE1\0\x22"
                                   "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    for (int turned = 0; turned < 2; turned++) {
        sk_error err = {0};
        sk_slot slot = {0};
        int32_t width = 0, height = 0;
        jpeg_with(turned ? whole : blocks, turned ? 4 + 32 : sizeof blocks - 1);
        const sk_picture_task task = {.path = "p", .format = SK_PIXEL_GRAY, .data = file, .length = count};
        assert_ok(sk_picture_decode_bytes(&task, &slot, &err), &err);
        assert_int_equal(slot.frame.width, turned ? 16 : 24);
        assert_ok(sk_picture_size(saved("a.jpg"), &width, &height, &err), &err);
        assert_int_equal(width, turned ? 16 : 24);
        assert_int_equal(height, turned ? 24 : 16);
        sk_slot_free(&slot);
    }
}

/* Bytes that no marker begins are passed over, whatever they look like. */
static void rubbish_is_no_block(void **state)
{
    (void)state;
    static const unsigned char rubbish[] =
        "\0\xE1\0\x22"
        "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    sk_error err = {0};
    sk_slot slot = {0};
    int32_t width = 0, height = 0;
    jpeg_with(rubbish, 4 + 32);
    const sk_picture_task task = {.path = "p", .format = SK_PIXEL_GRAY, .data = file, .length = count};
    assert_ok(sk_picture_decode_bytes(&task, &slot, &err), &err);
    assert_int_equal(slot.frame.width, 24);
    assert_ok(sk_picture_size(saved("rubbish.jpg"), &width, &height, &err), &err);
    assert_int_equal(width, 24);
    sk_slot_free(&slot);
}

/* --- cut at every place --- */

static void tiff_of(int width, int height, int bits, bool tiled, bool big_endian)
{
    char path[600];
    static uint8_t block[16 * 16 * 2], row[64 * 2];
    snprintf(path, sizeof path, "%s/t.tif", test_folder());
    TIFF *t = TIFFOpen(path, big_endian ? "wb" : "wl");
    assert_non_null(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    if (tiled) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
        for (int y = 0, index = 0; y < height; y += 16)
            for (int x = 0; x < width; x += 16, index++) {
                for (int i = 0; i < 256; i++)
                    ((uint16_t *)(void *)block)[i] = (uint16_t)((x + i % 16) * 5 + (y + i / 16) * 3) << 8;
                assert_true(TIFFWriteEncodedTile(t, (uint32_t)index, block, sizeof block) > 0);
            }
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 5);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++)
                row[bits / 8 * x + bits / 8 - 1] = (uint8_t)(x * 5 + y * 3);
            assert_int_equal(TIFFWriteScanline(t, row, (uint32_t)y, 0), 1);
        }
    }
    TIFFClose(t);
    sk_error err = {0};
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, ROOM, &bytes, &length, &err), &err);
    count = 0;
    put(bytes, length);
    sk_free(bytes);
}

static void cut_everywhere(const char *what, sk_pixel_format format)
{
    sk_slot slot = {0};
    sk_error err = {0};
    for (size_t length = 0; length <= count; length++) {
        const sk_picture_task task = {
            .path = what, .format = format, .data = guarded(file, length), .length = length};
        err = (sk_error){0};
        const sk_status status = sk_picture_decode_bytes(&task, &slot, &err);
        if (length == count)
            assert_ok(status, &err);
        if ((status == SK_OK) == (err.message[0] != 0))
            fail_msg("%s cut at %zu: %s", what, length, err.message);
    }
    sk_slot_free(&slot);
}

static void nothing_is_read_behind_the_end(void **state)
{
    (void)state;
    unsigned char block[4 + 6 + EXIF] = "\xFF\xE1\0\x36"
                                        "Exif\0";
    memcpy(block + 10, big, EXIF);
    jpeg_with(block, sizeof block);
    cut_everywhere("a.jpg", SK_PIXEL_RGB);
    for (int bits = 8; bits <= 16; bits += 8)
        for (int order = 0; order < 2; order++) {
            tiff_of(20, 12, bits, false, order);
            cut_everywhere("a.tif", SK_PIXEL_GRAY);
        }
    tiff_of(20, 18, 16, true, false);
    cut_everywhere("tiles.tif", SK_PIXEL_RGB);
    sk_error err = {0};
    sk_slot slot = {0};
    assert_ok(sk_slot_prepare(&slot, SK_PIXEL_RGB, 9, 7, &err), &err);
    char path[600];
    snprintf(path, sizeof path, "%s/a.png", test_folder());
    assert_ok(sk_picture_write(path, &slot.frame, &err), &err);
    sk_slot_free(&slot);
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, ROOM, &bytes, &length, &err), &err);
    count = 0;
    put(bytes, length);
    sk_free(bytes);
    cut_everywhere("a.png", SK_PIXEL_BGR);
}

/* --- tiles --- */

static void tiles_of_every_size(void **state)
{
    (void)state;
    static const int sides[] = {1, 15, 16, 17, 31, 32, 33};
    for (int k = 0; k < 49; k++) {
        const int width = sides[k % 7], height = sides[k / 7];
        sk_error err = {0};
        sk_slot slot = {0};
        tiff_of(width, height, 16, true, k & 1);
        const sk_picture_task task = {.path = "t", .format = SK_PIXEL_GRAY, .data = file, .length = count};
        assert_ok(sk_picture_decode_bytes(&task, &slot, &err), &err);
        assert_true(slot.frame.width == width && slot.frame.height == height);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                assert_int_equal(slot.frame.data[y * slot.frame.stride + x], (uint8_t)(x * 5 + y * 3));
        sk_slot_free(&slot);
    }
}

/* What of a tile lies beside the page is not painted. */
static void nothing_is_painted_beside_the_page(void **state)
{
    (void)state;
    enum { W = 20, H = 18, T = 16 };
    static uint16_t block[T * T];
    for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++) {
        sk_error err = {0};
        sk_slot slot = {0};
        assert_ok(sk_slot_prepare(&slot, (sk_pixel_format)format, 64, 64, &err), &err);
        memset(slot.memory, 0xEE, slot.capacity);
        memset(block, 0x11, sizeof block);
        const sk_tiff_page page = {.width = W,
                                   .height = H,
                                   .bits = 16,
                                   .samples = 1,
                                   .kind = SAMPLEFORMAT_UINT,
                                   .colours = PHOTOMETRIC_MINISBLACK};
        sk_tiff_canvas canvas = {.slot = &slot, .format = (sk_pixel_format)format};
        for (int y = 0; y < H; y += T)
            for (int x = 0; x < W; x += T)
                sk_tiff_paint(&canvas, &page, (const unsigned char *)block, 0, x, y, T, T);
        const int pixel = sk_pixel_bytes((sk_pixel_format)format);
        for (int y = 0; y < 64; y++)
            for (ptrdiff_t i = 0; i < slot.frame.stride; i++)
                if (slot.memory[y * slot.frame.stride + i] !=
                    (y < H && i < (ptrdiff_t)W * pixel ? 0x11 : 0xEE))
                    fail_msg("format %d: byte %d of row %d", format, (int)i, y);
        sk_slot_free(&slot);
    }
}

/* --- names of pages --- */

/* A page among other pictures has its number behind the file's name; a file of one page, and a stack alone, have not. */
static void pages_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tif", "b.tif#0", "b.tif#1", "b.tif#2",
                                        "c.tif", "d.tif#0", "d.tif#1"};
    static const int pages[] = {1, 3, 1, 2};
    char folder[600], path[700];
    snprintf(folder, sizeof folder, "%s/pages", test_folder());
    assert_int_equal(mkdir(folder, 0755), 0);
    for (int f = 0; f < 4; f++) {
        snprintf(path, sizeof path, "%s/%c.tif", folder, 'a' + f);
        TIFF *t = TIFFOpen(path, "w");
        assert_non_null(t);
        for (int page = 0; page < pages[f]; page++) {
            uint8_t row[4] = {(uint8_t)(10 * f + page)};
            TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 4);
            TIFFSetField(t, TIFFTAG_IMAGELENGTH, 1);
            TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8);
            TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
            TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
            assert_int_equal(TIFFWriteScanline(t, row, 0, 0), 1);
            assert_int_equal(TIFFWriteDirectory(t), 1);
        }
        TIFFClose(t);
    }
    for (int alone = 0; alone < 2; alone++) {
        sk_error err = {0};
        sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
        sk_source *source = NULL;
        const sk_frame *frame = NULL;
        sk_source_defaults(&settings);
        settings.format = SK_PIXEL_GRAY;
        snprintf(path, sizeof path, "%s/b.tif", folder);
        assert_ok(sk_source_open(alone ? path : folder, &settings, &source, &err), &err);
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        assert_int_equal(info.kind, alone ? SK_SOURCE_VIDEO : SK_SOURCE_PICTURES);
        assert_int_equal(info.total, alone ? 3 : 7);
        for (int i = 0; i < (alone ? 3 : 7); i++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_non_null(frame);
            snprintf(path, sizeof path, "%s/%s", folder, alone ? "b.tif" : names[i]);
            assert_string_equal(sk_source_frame_name(source, frame), path);
            const int file_of[] = {0, 10, 11, 12, 20, 30, 31};
            assert_int_equal(frame->data[0], alone ? 10 + i : file_of[i]);
            sk_source_release(source, frame);
        }
        sk_source_close(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exif_ends_where_it_ends), cmocka_unit_test(exif_does_not_go_on_in_the_next_block),
        cmocka_unit_test(rubbish_is_no_block),     cmocka_unit_test(nothing_is_read_behind_the_end),
        cmocka_unit_test(tiles_of_every_size),     cmocka_unit_test(nothing_is_painted_beside_the_page),
        cmocka_unit_test(pages_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
