/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF in every form of samples: depth, kind, colours, strips and tiles, planes together and apart, packed or not. What comes out is
 * what went in, by numbers worked out here. */
#include "support/test.h"

#include "base/memory.h"
#include "media/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

enum { W = 37, H = 21 };

typedef struct form {
    int bits, kind, samples, colours, compression;
    int rows; /* of a strip; 0: tiles of 16 x 16 */
    bool apart;
    double low, step; /* sample = low + step * level */
} form;

/* 0 … 255, another in every channel. */
static int level(int x, int y, int channel)
{
    return (x * 7 + y * 11 + channel * 60) % 256;
}

static void store(uint8_t *at, const form *f, double v)
{
    const int bytes = f->bits / 8;
    if (f->kind == SAMPLEFORMAT_IEEEFP) {
        const float single = (float)v;
        memcpy(at, f->bits == 64 ? (const void *)&v : &single, (size_t)bytes);
        return;
    }
    const int64_t whole = llrint(v);
    memcpy(at, &whole, (size_t)bytes); /* little-endian, as this machine is and the file says */
}

static const char *write_form(const form *f)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/form.tif", test_folder());
    TIFF *t = TIFFOpen(path, "w");
    assert_non_null(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, W);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, H);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, f->bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, f->kind);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, f->samples);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, f->colours);
    TIFFSetField(t, TIFFTAG_COMPRESSION, f->compression);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, f->apart ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    const uint16_t alpha = EXTRASAMPLE_UNSPECIFIED;
    if (f->samples == 2 || f->samples == 4)
        TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    const int bw = f->rows ? W : 16, bh = f->rows ? f->rows : 16, bytes = f->bits / 8,
              together = f->apart ? 1 : f->samples;
    if (f->rows) {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, f->rows);
    } else {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
    }
    uint8_t *block = calloc(1, (size_t)(bw * bh * together * bytes));
    uint32_t index = 0;
    for (int plane = 0; plane < (f->apart ? f->samples : 1); plane++)
        for (int y = 0; y < H; y += bh)
            for (int x = 0; x < W; x += bw, index++) {
                const int rows = f->rows && H - y < bh ? H - y : bh;
                for (int j = 0; j < rows; j++)
                    for (int i = 0; i < bw; i++)
                        for (int c = 0; c < together; c++)
                            store(block + ((j * bw + i) * together + c) * bytes, f,
                                  f->low + f->step * (y + j < H && x + i < W
                                                          ? level(x + i, y + j, f->apart ? plane : c)
                                                          : 0));
                const tmsize_t size = (tmsize_t)(bw * rows * together * bytes);
                assert_true((f->rows ? TIFFWriteEncodedStrip(t, index, block, size)
                                     : TIFFWriteEncodedTile(t, index, block, size)) == size);
            }
    free(block);
    TIFFClose(t);
    return path;
}

/* The byte a sample becomes: 16 bits by their upper half, others by their range. */
static int byte_of(const form *f, int l)
{
    const double exact = f->low + f->step * l, v = f->kind == SAMPLEFORMAT_IEEEFP ? exact : rint(exact),
                 last = f->low + f->step * 255, most = f->kind == SAMPLEFORMAT_IEEEFP ? last : rint(last);
    int out;
    if (f->bits == 8 && f->kind == SAMPLEFORMAT_UINT)
        out = (int)v;
    else if (f->bits == 16 && f->kind == SAMPLEFORMAT_UINT)
        out = (int)v >> 8;
    else if (f->low >= 0 && most > 1 && most <= 255)
        out = (int)lround(v);
    else if (f->low >= 0 && most <= 1)
        out = (int)lround(v * 255);
    else
        out = (int)lround((v - f->low) * 255 / (most - f->low));
    return f->colours == PHOTOMETRIC_MINISWHITE ? 255 - out : out;
}

static void every_form(void **state)
{
    (void)state;
    enum { UINT = SAMPLEFORMAT_UINT, INT = SAMPLEFORMAT_INT, REAL = SAMPLEFORMAT_IEEEFP };
    enum { BLACK = PHOTOMETRIC_MINISBLACK, WHITE = PHOTOMETRIC_MINISWHITE, RGB = PHOTOMETRIC_RGB };
    static const form forms[] = {
        {8, UINT, 1, BLACK, COMPRESSION_NONE, 5, false, 0, 1},
        {8, UINT, 1, WHITE, COMPRESSION_LZW, 21, false, 0, 1},
        {8, UINT, 3, RGB, COMPRESSION_PACKBITS, 4, false, 0, 1},
        {8, UINT, 3, RGB, COMPRESSION_ADOBE_DEFLATE, 0, false, 0, 1},
        {8, UINT, 3, RGB, COMPRESSION_NONE, 7, true, 0, 1},
        {16, UINT, 1, BLACK, COMPRESSION_NONE, 5, false, 0, 257},
        {16, UINT, 1, WHITE, COMPRESSION_PACKBITS, 0, false, 0, 257},
        {16, UINT, 3, RGB, COMPRESSION_LZW, 1, false, 100, 256},
        {16, UINT, 4, RGB, COMPRESSION_NONE, 0, false, 0, 256},
        {16, UINT, 3, RGB, COMPRESSION_NONE, 0, true, 0, 257},
        {16, UINT, 3, RGB, COMPRESSION_ADOBE_DEFLATE, 8, true, 0, 257},
        {16, UINT, 2, BLACK, COMPRESSION_NONE, 6, false, 0, 257},
        {8, INT, 1, BLACK, COMPRESSION_NONE, 5, false, -100, 0.5},
        {16, INT, 1, BLACK, COMPRESSION_LZW, 0, false, -3000, 20},
        {32, INT, 1, BLACK, COMPRESSION_NONE, 9, false, -70000, 1000},
        {64, INT, 1, BLACK, COMPRESSION_NONE, 9, false, 0, 1e9},
        {32, UINT, 1, BLACK, COMPRESSION_NONE, 4, false, 0, 1},
        {32, UINT, 3, RGB, COMPRESSION_LZW, 0, false, 0, 10000000},
        {64, UINT, 1, WHITE, COMPRESSION_NONE, 4, false, 0, 1e12},
        {32, REAL, 1, BLACK, COMPRESSION_NONE, 3, false, 0, 1.0 / 255},
        {32, REAL, 3, RGB, COMPRESSION_NONE, 0, false, -5, 0.25},
        {64, REAL, 1, BLACK, COMPRESSION_ADOBE_DEFLATE, 21, false, 1000, 3},
        {64, REAL, 3, RGB, COMPRESSION_NONE, 2, true, 0, 1},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++) {
            const form *f = &forms[i];
            sk_error err = {0};
            sk_slot slot = {0};
            assert_ok(sk_picture_decode(write_form(f), (sk_pixel_format)format, 0, &slot, &err), &err);
            assert_true(slot.frame.width == W && slot.frame.height == H &&
                        slot.frame.format == (sk_pixel_format)format);
            const bool colours = f->colours == RGB && f->samples >= 3;
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    int rgb[3];
                    for (int c = 0; c < 3; c++)
                        rgb[c] = byte_of(f, level(x, y, colours ? c : 0));
                    const uint8_t *p =
                        slot.frame.data + y * slot.frame.stride + x * sk_pixel_bytes(slot.frame.format);
                    for (int c = 0; c < sk_pixel_bytes(slot.frame.format); c++) {
                        const double wanted = format == SK_PIXEL_GRAY
                                                  ? 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
                                              : format == SK_PIXEL_BGR ? rgb[2 - c]
                                                                       : rgb[c];
                        if (fabs(p[c] - wanted) > (format == SK_PIXEL_GRAY && colours ? 2.0 : 1.0))
                            fail_msg("form %zu, format %d at %d, %d: %d instead of %g", i, format, x, y, p[c],
                                     wanted);
                    }
                }
            sk_slot_free(&slot);
        }
}

static void unread_forms(void **state)
{
    (void)state;
    static const form forms[] = {
        {24, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 21, false, 0, 1},
        {16, SAMPLEFORMAT_UINT, 3, PHOTOMETRIC_ICCLAB, COMPRESSION_NONE, 21, false, 0, 1}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        sk_error err = {0};
        sk_slot slot = {0};
        assert_int_equal(sk_picture_decode(write_form(&forms[i]), SK_PIXEL_RGB, 0, &slot, &err),
                         SK_ERR_UNSUPPORTED);
        char says[120];
        snprintf(says, sizeof says,
                 "form.tif: a TIFF with samples of %d bits (format 1, colours %d) cannot be read; convert it "
                 "to 8 or 16 bits",
                 forms[i].bits, forms[i].colours);
        if (!strstr(err.message, says))
            fail_msg("%s", err.message);
        sk_slot_free(&slot);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form), cmocka_unit_test(unread_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
