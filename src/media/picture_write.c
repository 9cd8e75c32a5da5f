/* SPDX-License-Identifier: Apache-2.0 */
#include "media/video_sink.h"

#include "base/file.h"
#include "base/frame.h"
#include "base/memory.h"
#include "kernels/plain.h"

#include <errno.h>
#include <stdbool.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <turbojpeg.h>
#include <unistd.h>

static sk_status compress(const sk_frame *frame, int quality, uint8_t **bytes, size_t *length, sk_error *err)
{
    tjhandle jpeg = tjInitCompress();
    unsigned char *own = NULL;
    unsigned long own_length = 0;
    *bytes = NULL;
    if (!jpeg)
        return sk_fail(err, SK_ERR_MEMORY, "libjpeg-turbo could not be started");
    sk_status status = SK_OK;
    bool grey = frame->format == SK_PIXEL_GRAY;
    int format = grey ? TJPF_GRAY : frame->format == SK_PIXEL_BGR ? TJPF_BGR : TJPF_RGB;
    if (tjCompress2(jpeg, frame->data, frame->width, (int)frame->stride, frame->height, format, &own,
                    &own_length, grey ? TJSAMP_GRAY : TJSAMP_422, quality, 0) != 0) {
        status = sk_fail(err, SK_ERR_RUNTIME, "the picture is not encoded: %s", tjGetErrorStr2(jpeg));
    } else {
        *length = own_length;
        *bytes = sk_malloc(own_length);
        if (*bytes)
            memcpy(*bytes, own, own_length);
        else
            status = sk_fail_memory(err, own_length);
    }
    tjFree(own);
    tjDestroy(jpeg);
    return status;
}

/* The frame, or one that was made plain in fresh *memory. */
static sk_status make_plain(const sk_frame *frame, sk_frame *view, uint8_t **memory, sk_error *err)
{
    *view = *frame;
    *memory = NULL;
    if (sk_plain_format(frame->format) == frame->format)
        return SK_OK;
    SK_TRY(sk_frame_check(frame, err));
    *memory = sk_malloc(sk_plain_bytes(frame));
    if (!*memory)
        return sk_fail_memory(err, sk_plain_bytes(frame));
    sk_plain_convert(frame, *memory, view);
    return SK_OK;
}

sk_status sk_picture_jpeg(const sk_frame *frame, int quality, uint8_t **bytes, size_t *length, sk_error *err)
{
    sk_frame view;
    uint8_t *memory;
    *bytes = NULL;
    SK_TRY(make_plain(frame, &view, &memory, err));
    sk_status status = compress(&view, quality, bytes, length, err);
    sk_free(memory);
    return status;
}

static sk_status write_jpeg(const char *path, const sk_frame *frame, sk_error *err)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_status status = sk_picture_jpeg(frame, 92, &bytes, &length, err);
    if (status != SK_OK) {
        sk_error_prefix(err, "%s", path);
        return status;
    }
    status = sk_file_put(path, bytes, length, err);
    sk_free(bytes);
    return status;
}

static sk_status write_png(const char *path, const sk_frame *frame, sk_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)frame->width,
                       .height = (png_uint_32)frame->height,
                       .format = frame->format == SK_PIXEL_GRAY  ? PNG_FORMAT_GRAY
                                 : frame->format == SK_PIXEL_BGR ? PNG_FORMAT_BGR
                                                                 : PNG_FORMAT_RGB};
    if (!png_image_write_to_file(&image, path, 0, frame->data, (png_int_32)frame->stride, NULL))
        return sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s", path, image.message);
    return SK_OK;
}

static void png_failed(png_structp png, png_const_charp text)
{
    snprintf(png_get_error_ptr(png), 160, "%s", text);
    png_longjmp(png, 1);
}

/* Without filters and with little searching: what drawings repeat, they repeat at once. */
static bool put_drawing(png_structp png, png_infop info, FILE *file, const sk_frame *frame)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, file);
    png_set_filter(png, 0, PNG_FILTER_NONE);
    png_set_compression_level(png, 2);
    png_set_IHDR(png, info, (png_uint_32)frame->width, (png_uint_32)frame->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int32_t y = 0; y < frame->height; y++)
        png_write_row(png, frame->data + frame->stride * y);
    png_write_end(png, info);
    return true;
}

sk_status sk_picture_write_drawing(const char *path, const sk_frame *frame, sk_error *err)
{
    char problem[160] = "out of memory";
    FILE *file = NULL;
    SK_CHECK_ARG(frame->format == SK_PIXEL_RGB, err);
    SK_TRY(sk_file_create_stream(path, &file, err));
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, problem, png_failed, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool written = info && put_drawing(png, info, file, frame);
    png_destroy_write_struct(&png, &info);
    if (fclose(file) != 0 && written) {
        snprintf(problem, sizeof problem, "%s%s", strerror(errno), sk_file_remedy(errno));
        written = false;
    }
    return written ? SK_OK : sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s", path, problem);
}

sk_status sk_picture_write(const char *path, const sk_frame *frame, sk_error *err)
{
    const char *dot = strrchr(path, '.');
    if (dot && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0))
        return write_jpeg(path, frame, err);
    sk_frame view;
    uint8_t *memory;
    SK_TRY(make_plain(frame, &view, &memory, err));
    sk_status status = write_png(path, &view, err);
    sk_free(memory);
    return status;
}
