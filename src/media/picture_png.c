/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include "base/log.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* Deflate packs a thousand bytes into one at best. */
#define BYTES_PER_BYTE 1040.0

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

static sk_status check_size(const sk_picture_task *task, png_structp png, png_infop info, sk_error *err)
{
    int64_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    SK_TRY(sk_picture_check_size(task, width, height, err));
    double bytes = png_get_bit_depth(png, info) * (double)png_get_channels(png, info) / 8;
    return sk_picture_check_packing(task, width, height, BYTES_PER_BYTE / bytes, err);
}

/* An animation says so before its first picture, in a chunk that libpng does not know. Of a picture that was read: its chunks lie one
 * behind the other, up to the pixels. */
static bool is_animated(const sk_picture_task *task)
{
    for (const unsigned char *chunk = task->data + 8; memcmp(chunk + 4, "IDAT", 4) != 0;) {
        size_t size = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
        if (memcmp(chunk + 4, "acTL", 4) == 0)
            return size >= 4 && (chunk[8] | chunk[9] | chunk[10] || chunk[11] > 1);
        chunk += 12 + size;
    }
    return false;
}

sk_status sk_picture_decode_png(const sk_picture_task *task, sk_slot *slot, sk_error *err)
{
    png_input input = {task->data, task->length, 0, ""};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    sk_status volatile status = SK_OK;
    int volatile orientation = 1;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return sk_fail(err, SK_ERR_MEMORY, "%s: libpng could not be started", task->path);
    }
    if (setjmp(png_jmpbuf(png))) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: damaged PNG: %s", task->path, input.problem);
    } else {
        png_set_read_fn(png, &input, png_take);
        png_read_info(png, info);
        status = check_size(task, png, info, err);
        if (status == SK_OK)
            status = sk_slot_prepare(slot, task->format, (int32_t)png_get_image_width(png, info),
                                     (int32_t)png_get_image_height(png, info), err);
        if (status == SK_OK) {
            png_configure(png, info, task->format);
            int passes = png_set_interlace_handling(png);
            png_read_update_info(png, info);
            if (png_get_rowbytes(png, info) > (size_t)slot->frame.stride)
                png_error(png, "unexpected row size");
            for (int pass = 0; pass < passes; pass++)
                for (int32_t y = 0; y < slot->frame.height; y++)
                    png_read_row(png, slot->frame.data + y * slot->frame.stride, NULL);
            png_bytep exif = NULL;
            png_uint_32 length = 0;
            png_read_end(png, info);
            if (png_get_eXIf_1(png, info, &length, &exif) & PNG_INFO_eXIf)
                orientation = sk_exif_orientation(exif, length);
        }
    }
    png_destroy_read_struct(&png, &info, NULL);
    if (status != SK_OK)
        return status;
    if (is_animated(task))
        sk_log(SK_LOG_WARN,
               "%s: an animated PNG; only its first picture is read. As video: give it the ending .apng",
               task->path);
    return sk_picture_turn(orientation, slot, err);
}
