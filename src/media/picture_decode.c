/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "media/picture_ffmpeg.h"

/* JPEG through libjpeg-turbo, PNG through libpng, TIFF through libtiff, the rest through FFmpeg where it is built in. */

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

int64_t sk_picture_most(const sk_picture_task *task)
{
    if (task->max_pixels > 0)
        return task->max_pixels;
    int64_t most = task->length < SK_PICTURE_MOST / SK_PICTURE_PER_BYTE
                       ? (int64_t)task->length * SK_PICTURE_PER_BYTE
                       : SK_PICTURE_MOST;
    return most < SK_PICTURE_SURE ? SK_PICTURE_SURE : most;
}

sk_status sk_picture_check_size(const sk_picture_task *task, int64_t width, int64_t height, sk_error *err)
{
    if (width < 1 || height < 1 || width > 65535 || height > 65535)
        return sk_fail(err, SK_ERR_LIMIT,
                       "%s: a picture of %lld x %lld pixels; at most 65535 x 65535 is read", task->path,
                       (long long)width, (long long)height);
    int64_t most = sk_picture_most(task), pixels = width * height;
    return pixels <= most
               ? SK_OK
               : sk_fail(err, SK_ERR_LIMIT,
                         "%s: claims %lld x %lld pixels in a file of %zu bytes; at most %lld pixels "
                         "are read of such a file. If it is right, max_pixels %lld reads it",
                         task->path, (long long)width, (long long)height, task->length, (long long)most,
                         (long long)pixels);
}

sk_status sk_picture_check_packing(const sk_picture_task *task, int64_t width, int64_t height, double most,
                                   sk_error *err)
{
    if ((double)width * (double)height <= most * ((double)task->length + 64))
        return SK_OK;
    return sk_fail(
        err, SK_ERR_FORMAT,
        "%s: damaged: claims %lld x %lld pixels, which %zu bytes cannot hold however they are packed",
        task->path, (long long)width, (long long)height, task->length);
}

static bool is_jpeg(const unsigned char *data, size_t length)
{
    return length > 3 && data[0] == 0xFF && data[1] == 0xD8;
}

static bool is_png(const unsigned char *data, size_t length)
{
    return length > 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0;
}

/* WebP: "RIFF", a size, "WEBP", then an extended header whose flags tell. FFmpeg reads none of its pictures. */
static bool is_animated_webp(const unsigned char *data, size_t length)
{
    return length > 20 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBPVP8X", 8) == 0 &&
           (data[20] & 2);
}

/* The Exif block of a WebP, which FFmpeg leaves to others: chunks of a name, a size and an even number of bytes. */
static int webp_orientation(const unsigned char *data, size_t length)
{
    if (length < 20 || memcmp(data, "RIFF", 4) != 0 || memcmp(data + 8, "WEBP", 4) != 0)
        return 1;
    for (size_t at = 12; length - at >= 8;) {
        const unsigned char *chunk = data + at;
        size_t size =
            (size_t)chunk[4] | (size_t)chunk[5] << 8 | (size_t)chunk[6] << 16 | (size_t)chunk[7] << 24;
        if (size > length - at - 8)
            return 1;
        if (memcmp(chunk, "EXIF", 4) == 0) {
            size_t skip = size > 6 && memcmp(chunk + 8, "Exif\0", 6) == 0 ? 6 : 0;
            return sk_exif_orientation(chunk + 8 + skip, size - skip);
        }
        at += 8 + size + (size & 1);
        if (at > length)
            return 1;
    }
    return 1;
}

static sk_status decode_first_page(const sk_picture_task *task, sk_slot *slot, sk_error *err)
{
    sk_tiff_pages pages = {0};
    sk_tiff_range range = {0};
    sk_status status = sk_tiff_list(task->path, task->data, task->length, &pages, err);
    if (status == SK_OK)
        status = sk_picture_decode_tiff(task, pages.offsets[0], pages.offsets[0], &range, slot, err);
    sk_tiff_pages_free(&pages);
    return status;
}

sk_status sk_picture_decode_bytes(const sk_picture_task *task, sk_slot *slot, sk_error *err)
{
    if (task->length == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty", task->path);
    if (is_jpeg(task->data, task->length))
        return sk_picture_decode_jpeg(task, slot, err);
    if (is_png(task->data, task->length))
        return sk_picture_decode_png(task, slot, err);
    if (sk_picture_is_tiff(task->data, task->length))
        return decode_first_page(task, slot, err);
    if (is_animated_webp(task->data, task->length))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: an animated WebP, which FFmpeg does not read; convert it to a video or to single "
                       "pictures first (for instance with ImageMagick: convert IN.webp OUT_%%03d.png)",
                       task->path);
    return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: neither JPEG nor PNG nor TIFF", task->path);
}

sk_status sk_picture_decode(const char *path, sk_pixel_format format, int64_t max_pixels, sk_slot *slot,
                            sk_error *err)
{
    unsigned char *data = NULL;
    size_t length = 0;
    SK_TRY(read_file(path, &data, &length, err));
    sk_picture_task task = {path, format, max_pixels, data, length};
    bool raw =
        strcasecmp(sk_path_extension(path), ".dng") == 0; /* a TIFF around what a camera's sensor saw */
    bool ours = length == 0 || is_jpeg(data, length) || is_png(data, length) ||
                (sk_picture_is_tiff(data, length) && !raw) || is_animated_webp(data, length);
    sk_status status =
        ours ? sk_picture_decode_bytes(&task, slot, err) : sk_picture_decode_ffmpeg(&task, slot, err);
    if (status == SK_OK && !ours)
        status = sk_picture_turn(webp_orientation(data, length), slot, err);
    sk_free(data);
    return status;
}
