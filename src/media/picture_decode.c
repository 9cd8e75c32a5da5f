/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "media/picture_ffmpeg.h"

/* JPEG through libjpeg-turbo (the slow, exact DCT and smooth chroma, as OpenCV reads it), PNG through libpng, the
 * rest through FFmpeg where it is built in. */

#define PICTURE_FILE_LIMIT ((size_t)1 << 30)

static sk_status read_file(const char *path, unsigned char **bytes, size_t *length, sk_error *err)
{
    FILE *file;
    SK_TRY(sk_file_open_stream(path, &file, err));
    sk_status status = SK_OK;
    unsigned char *data = NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0 || (size_t)size > PICTURE_FILE_LIMIT || fseek(file, 0, SEEK_SET) != 0) {
        status = sk_fail(err, SK_ERR_IO, "%s: not a regular file of at most 1 GiB", path);
        goto done;
    }
    data = sk_malloc((size_t)size);
    if (!data) {
        status = sk_fail_memory(err, (size_t)size);
        goto done;
    }
    if (fread(data, 1, (size_t)size, file) != (size_t)size) {
        status = sk_fail(err, SK_ERR_IO, "%s: reading failed: %s", path, strerror(errno));
        goto done;
    }
    *bytes = data;
    *length = (size_t)size;
    data = NULL;
done:
    sk_free(data);
    fclose(file);
    return status;
}

sk_status sk_slot_rotate(const sk_slot *from, int quarter_turns, bool mirror, sk_slot *to, sk_error *err)
{
    const sk_frame *f = &from->frame;
    bool sideways = quarter_turns & 1;
    SK_TRY(sk_slot_prepare(to, f->format, sideways ? f->height : f->width, sideways ? f->width : f->height,
                           err));
    int pixel = sk_pixel_bytes(f->format);
    for (int32_t y = 0; y < to->frame.height; y++) {
        uint8_t *row = to->frame.data + y * to->frame.stride;
        for (int32_t x = 0; x < to->frame.width; x++) {
            int32_t tx = mirror ? to->frame.width - 1 - x : x;
            int32_t sx, sy;
            switch (quarter_turns & 3) {
            case 1: sx = y, sy = f->height - 1 - tx; break;
            case 2: sx = f->width - 1 - tx, sy = f->height - 1 - y; break;
            case 3: sx = f->width - 1 - y, sy = tx; break;
            default: sx = tx, sy = y; break;
            }
            memcpy(row + x * pixel, f->data + sy * f->stride + sx * pixel, (size_t)pixel);
        }
    }
    return SK_OK;
}

/* The orientation tag (1 to 8) of a JPEG's Exif block; 1 when there is none. */
static int exif_orientation(const unsigned char *data, size_t length)
{
    size_t at = 2;
    while (at + 4 <= length && data[at] == 0xFF) {
        unsigned marker = data[at + 1];
        size_t size = (size_t)data[at + 2] << 8 | data[at + 3];
        if (marker == 0xDA || marker == 0xD9 || size < 2 || at + 2 + size > length)
            break;
        const unsigned char *body = data + at + 4;
        size_t body_length = size - 2;
        at += 2 + size;
        if (marker != 0xE1 || body_length < 14 || memcmp(body, "Exif\0", 6) != 0)
            continue;
        const unsigned char *tiff = body + 6;
        size_t n = body_length - 6;
        bool big = tiff[0] == 'M';
#define U16(p) (big ? (unsigned)(p)[0] << 8 | (p)[1] : (unsigned)(p)[1] << 8 | (p)[0])
#define U32(p) (big ? (size_t)U16(p) << 16 | U16((p) + 2) : (size_t)U16((p) + 2) << 16 | U16(p))
        size_t ifd = U32(tiff + 4);
        if (ifd + 2 > n)
            return 1;
        unsigned entries = U16(tiff + ifd);
        for (unsigned i = 0; i < entries && ifd + 2 + (i + 1) * 12u <= n; i++) {
            const unsigned char *entry = tiff + ifd + 2 + i * 12u;
            if (U16(entry) == 0x0112) {
                unsigned value = U16(entry + 8);
                return value >= 1 && value <= 8 ? (int)value : 1;
            }
        }
#undef U16
#undef U32
        return 1;
    }
    return 1;
}

static sk_status apply_orientation(int orientation, sk_slot *slot, sk_error *err)
{
    /* clockwise quarter turns, then a mirror, for Exif orientations 1 to 8 */
    static const struct {
        int turns;
        bool mirror;
    } steps[9] = {{0, 0}, {0, 0}, {0, 1}, {2, 0}, {2, 1}, {1, 1}, {1, 0}, {3, 1}, {3, 0}};
    if (orientation <= 1)
        return SK_OK;
    sk_slot turned = {0};
    sk_status status =
        sk_slot_rotate(slot, steps[orientation].turns, steps[orientation].mirror, &turned, err);
    if (status == SK_OK) {
        sk_free(slot->memory);
        slot->frame = turned.frame;
        slot->memory = turned.memory;
        slot->capacity = turned.capacity;
    } else {
        sk_free(turned.memory);
    }
    return status;
}

static sk_status decode_jpeg(const char *path, const unsigned char *data, size_t length,
                             sk_pixel_format format, sk_slot *slot, sk_error *err)
{
    static const int tj_format[] = {
        [SK_PIXEL_RGB] = TJPF_RGB, [SK_PIXEL_BGR] = TJPF_BGR, [SK_PIXEL_GRAY] = TJPF_GRAY};
    tjhandle jpeg = tjInitDecompress();
    if (!jpeg)
        return sk_fail(err, SK_ERR_MEMORY, "%s: libjpeg-turbo could not be started", path);
    sk_status status = SK_OK;
    int width = 0, height = 0, subsampling, colours;
    if (tjDecompressHeader3(jpeg, data, length, &width, &height, &subsampling, &colours) != 0 || width < 1 ||
        height < 1) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: not a readable JPEG: %s", path, tjGetErrorStr2(jpeg));
        goto done;
    }
    SK_TRY_GOTO(sk_slot_prepare(slot, format, width, height, err));
    if (tjDecompress2(jpeg, data, length, slot->frame.data, width, (int)slot->frame.stride, height,
                      tj_format[format], 0) != 0 &&
        tjGetErrorCode(jpeg) == TJERR_FATAL) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: damaged JPEG: %s", path, tjGetErrorStr2(jpeg));
        goto done;
    }
    status = apply_orientation(exif_orientation(data, length), slot, err);
done:
    tjDestroy(jpeg);
    return status;
}

typedef struct png_input {
    const unsigned char *data;
    size_t length, at;
    char problem[128];
} png_input;

static void png_take(png_structp png, png_bytep out, png_size_t count)
{
    png_input *input = png_get_io_ptr(png);
    if (count > input->length - input->at)
        png_error(png, "the file ends early");
    memcpy(out, input->data + input->at, count);
    input->at += count;
}

static void png_failed(png_structp png, png_const_charp text)
{
    png_input *input = png_get_error_ptr(png);
    snprintf(input->problem, sizeof input->problem, "%s", text);
    longjmp(png_jmpbuf(png), 1);
}

static void png_warned(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Everything becomes 8 bits, without alpha, in the wanted order. */
static void png_configure(png_structp png, png_infop info, sk_pixel_format format)
{
    int colour = png_get_color_type(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    bool grey = !(colour & PNG_COLOR_MASK_COLOR);
    if (format == SK_PIXEL_GRAY && !grey)
        png_set_rgb_to_gray(png, 1, 0.299, 0.587);
    if (format != SK_PIXEL_GRAY && grey)
        png_set_gray_to_rgb(png);
    if (format == SK_PIXEL_BGR)
        png_set_bgr(png);
}

static sk_status decode_png(const char *path, const unsigned char *data, size_t length,
                            sk_pixel_format format, sk_slot *slot, sk_error *err)
{
    png_input input = {data, length, 0, ""};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    sk_status volatile status = SK_OK;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return sk_fail(err, SK_ERR_MEMORY, "%s: libpng could not be started", path);
    }
    if (setjmp(png_jmpbuf(png))) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: damaged PNG: %s", path, input.problem);
    } else {
        png_set_read_fn(png, &input, png_take);
        png_read_info(png, info);
        status = sk_slot_prepare(slot, format, (int32_t)png_get_image_width(png, info),
                                 (int32_t)png_get_image_height(png, info), err);
        if (status == SK_OK) {
            png_configure(png, info, format);
            int passes = png_set_interlace_handling(png);
            png_read_update_info(png, info);
            if (png_get_rowbytes(png, info) > (size_t)slot->frame.stride)
                png_error(png, "unexpected row size");
            for (int pass = 0; pass < passes; pass++)
                for (int32_t y = 0; y < slot->frame.height; y++)
                    png_read_row(png, slot->frame.data + y * slot->frame.stride, NULL);
        }
    }
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

sk_status sk_picture_decode(const char *path, sk_pixel_format format, sk_slot *slot, const char **decoder,
                            sk_error *err)
{
    unsigned char *data = NULL;
    size_t length = 0;
    SK_TRY(read_file(path, &data, &length, err));
    sk_status status;
    const char *by = "";
    if (length == 0) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty", path);
    } else if (length > 3 && data[0] == 0xFF && data[1] == 0xD8) {
        by = "libjpeg-turbo";
        status = decode_jpeg(path, data, length, format, slot, err);
    } else if (length > 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0) {
        by = "libpng";
        status = decode_png(path, data, length, format, slot, err);
    } else {
        by = "ffmpeg";
        status = sk_picture_decode_ffmpeg(path, format, slot, err);
    }
    sk_free(data);
    if (decoder)
        *decoder = by;
    return status;
}
