/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_size.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"

#include <string.h>
#include <unistd.h>

#define HEAD_BYTES ((size_t)128 << 10)

typedef struct found {
    int32_t width, height;
    int orientation;
} found;

static uint32_t big(const unsigned char *p, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

/* Up to the frame's header; what stands before it may say how the picture lies. */
static bool look_at_jpeg(const unsigned char *data, size_t length, found *f)
{
    for (size_t at = 2; at + 9 < length && data[at] == 0xFF;) {
        unsigned marker = data[at + 1];
        if (marker == 0xFF) { /* filling */
            at++;
            continue;
        }
        size_t size = big(data + at + 2, 2);
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
            f->height = (int32_t)big(data + at + 5, 2);
            f->width = (int32_t)big(data + at + 7, 2);
            return true;
        }
        if (size < 2 || size > length - at - 2)
            return false;
        if (marker == 0xE1 && size >= 16 && memcmp(data + at + 4, "Exif\0", 6) == 0)
            f->orientation = sk_exif_orientation(data + at + 10, size - 8);
        at += 2 + size;
    }
    return false;
}

/* PNG may say how it lies behind its pixels; those that do are decoded. */
static bool look_at_png(const unsigned char *data, size_t length, found *f)
{
    if (length < 33)
        return false;
    f->width = (int32_t)big(data + 16, 4);
    f->height = (int32_t)big(data + 20, 4);
    for (size_t at = 8; length - at >= 12;) {
        size_t size = big(data + at, 4);
        if (memcmp(data + at + 4, "IDAT", 4) == 0)
            return true;
        if (memcmp(data + at + 4, "eXIf", 4) == 0 && size <= length - at - 12)
            f->orientation = sk_exif_orientation(data + at + 8, size);
        if (size > length - at - 12)
            return false;
        at += 12 + size;
    }
    return false;
}

static bool look_at_head(const char *path, found *f)
{
    int file;
    int64_t size;
    unsigned char *head = sk_malloc(HEAD_BYTES);
    bool known = false;
    if (head && sk_file_open(path, &file, &size, NULL) == SK_OK) {
        ssize_t got = read(file, head, HEAD_BYTES);
        size_t length = got > 0 ? (size_t)got : 0;
        if (length > 3 && head[0] == 0xFF && head[1] == 0xD8)
            known = look_at_jpeg(head, length, f);
        else if (length > 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0)
            known = look_at_png(head, length, f);
        close(file);
    }
    sk_free(head);
    return known && f->width > 0 && f->height > 0;
}

sk_status sk_picture_size(const char *path, int32_t *width, int32_t *height, sk_error *err)
{
    found f = {.orientation = 1};
    if (!look_at_head(path, &f)) {
        sk_slot slot = {0};
        sk_status status = sk_picture_decode(path, SK_PIXEL_GRAY, 0, &slot, err);
        f = (found){slot.frame.width, slot.frame.height, 1};
        sk_slot_free(&slot);
        SK_TRY(status);
    }
    *width = f.orientation >= 5 ? f.height : f.width;
    *height = f.orientation >= 5 ? f.width : f.height;
    return SK_OK;
}
