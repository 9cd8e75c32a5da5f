/* SPDX-License-Identifier: Apache-2.0 */
#include "media/encoding.h"

#include "base/frame.h"

#include <string.h>

/* How bytes become a frame. */
typedef enum way {
    AS_IS,
    SWAP_PAIRS, /* uyvy -> yuyv */
    SWAP_VALUES,
    NV21,  /* v, u -> u, v */
    UPPER, /* the upper byte of values of 16 bits */
    BAYER
} way;

typedef struct encoding {
    const char *name;
    sk_pixel_format format; /* of the frame */
    way how;
    int32_t pixel;   /* bytes of a pixel in the message */
    int8_t first[4]; /* bayer: the colour (0 red, 1 green, 2 blue) of pixels (0,0) (1,0) (0,1) (1,1) */
} encoding;

#define BAYER_ROWS(word, a, b, c, d)                                                                         \
    {"bayer_" word "8", SK_PIXEL_RGB, BAYER, 1, {a, b, c, d}},                                               \
    {                                                                                                        \
        "bayer_" word "16", SK_PIXEL_RGB, BAYER, 2,                                                          \
        {                                                                                                    \
            a, b, c, d                                                                                       \
        }                                                                                                    \
    }

#define PLAIN(word, frame, way, bytes)                                                                       \
    {                                                                                                        \
        .name = word, .format = frame, .how = way, .pixel = bytes                                            \
    }

static const encoding known[] = {PLAIN("mono8", SK_PIXEL_GRAY, AS_IS, 1),
                                 PLAIN("8UC1", SK_PIXEL_GRAY, AS_IS, 1),
                                 PLAIN("mono16", SK_PIXEL_GRAY16, SWAP_VALUES, 2),
                                 PLAIN("16UC1", SK_PIXEL_GRAY16, SWAP_VALUES, 2),
                                 PLAIN("rgb8", SK_PIXEL_RGB, AS_IS, 3),
                                 PLAIN("bgr8", SK_PIXEL_BGR, AS_IS, 3),
                                 PLAIN("8UC3", SK_PIXEL_BGR, AS_IS, 3),
                                 PLAIN("rgba8", SK_PIXEL_RGBA, AS_IS, 4),
                                 PLAIN("bgra8", SK_PIXEL_BGRA, AS_IS, 4),
                                 PLAIN("8UC4", SK_PIXEL_BGRA, AS_IS, 4),
                                 PLAIN("rgb16", SK_PIXEL_RGB, UPPER, 6),
                                 PLAIN("bgr16", SK_PIXEL_BGR, UPPER, 6),
                                 PLAIN("yuv422_yuy2", SK_PIXEL_YUYV, AS_IS, 2),
                                 PLAIN("yuyv", SK_PIXEL_YUYV, AS_IS, 2),
                                 PLAIN("yuv422", SK_PIXEL_YUYV, SWAP_PAIRS, 2),
                                 PLAIN("uyvy", SK_PIXEL_YUYV, SWAP_PAIRS, 2),
                                 PLAIN("nv12", SK_PIXEL_NV12, AS_IS, 1),
                                 PLAIN("nv21", SK_PIXEL_NV12, NV21, 1),
                                 BAYER_ROWS("rggb", 0, 1, 1, 2),
                                 BAYER_ROWS("bggr", 2, 1, 1, 0),
                                 BAYER_ROWS("gbrg", 1, 2, 0, 1),
                                 BAYER_ROWS("grbg", 1, 0, 2, 1)};
#define KNOWN (sizeof known / sizeof known[0])

const char *sk_encoding_list(void)
{
    return "mono8, mono16, rgb8, bgr8, rgba8, bgra8, rgb16, bgr16, 8UC1, 8UC3, 8UC4, 16UC1, yuv422, uyvy, "
           "yuv422_yuy2, yuyv, nv12, nv21, bayer_{rggb,bggr,gbrg,grbg}{8,16}";
}

static sk_status look_up(const char *name, const encoding **out, sk_error *err)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0) {
            *out = &known[i];
            return SK_OK;
        }
    return sk_fail(err, SK_ERR_UNSUPPORTED, "the encoding '%.40s' of an image is not known; these are: %s",
                   name, sk_encoding_list());
}

static bool has_chroma_plane(const encoding *e)
{
    return e->format == SK_PIXEL_NV12;
}

/* Do the sizes fit each other? *step is then what it really is. */
static sk_status check(const sk_encoded_image *image, const encoding *e, size_t *step, sk_error *err)
{
    const int32_t w = image->width, h = image->height;
    if (!image->data || w < 1 || h < 1 || w > 65535 || h > 65535)
        return sk_fail(err, SK_ERR_FORMAT, "an image of %d x %d pixels with %zu bytes", w, h, image->length);
    if ((e->format == SK_PIXEL_YUYV && w % 2) || (e->how == BAYER && (w < 2 || h < 2)))
        return sk_fail(err, SK_ERR_FORMAT, "an image of %d x %d pixels cannot be '%s'", w, h, e->name);
    const size_t row = (size_t)w * (size_t)e->pixel + (size_t)(has_chroma_plane(e) && w % 2);
    *step = image->step ? image->step : row;
    size_t rows = (size_t)h;
    if (has_chroma_plane(e))
        rows += (size_t)(h + 1) / 2;
    if (*step < row || image->length < row || (image->length - row) / *step < rows - 1)
        return sk_fail(err, SK_ERR_FORMAT,
                       "an image of %d x %d pixels, '%s', with rows of %zu bytes has %zu bytes: too few", w,
                       h, e->name, *step, image->length);
    return SK_OK;
}

/* --- bayer --- */

/* Rows and columns beyond the edge are those on its other side: of the same colours. */
static int32_t mirrored(int32_t at, int32_t size)
{
    return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;
}

typedef struct mosaic {
    const uint8_t *data;
    size_t step;
    int32_t pixel, upper, width, height; /* `upper`: the byte of a value that counts */
    const int8_t *first;
} mosaic;

static int colour_at(const mosaic *m, int32_t x, int32_t y)
{
    return m->first[(y & 1) * 2 + (x & 1)];
}

static uint8_t value_at(const mosaic *m, int32_t x, int32_t y)
{
    return m->data[(size_t)y * m->step + (size_t)x * (size_t)m->pixel + (size_t)m->upper];
}

/* Of colours that a pixel has not got, the mean of the neighbours that have: of each colour there is one. */
static void demosaic_pixel(const mosaic *m, int32_t x, int32_t y, uint8_t *rgb)
{
    int sum[3] = {0}, n[3] = {0};
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++) {
            const int32_t u = mirrored(x + dx, m->width), v = mirrored(y + dy, m->height);
            const int c = colour_at(m, u, v);
            sum[c] += value_at(m, u, v);
            n[c]++;
        }
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)((sum[c] + n[c] / 2) / n[c]);
    rgb[colour_at(m, x, y)] = value_at(m, x, y);
}

static void demosaic(const mosaic *m, uint8_t *to, ptrdiff_t stride)
{
    for (int32_t y = 0; y < m->height; y++)
        for (int32_t x = 0; x < m->width; x++)
            demosaic_pixel(m, x, y, to + y * stride + (ptrdiff_t)3 * x);
}

/* --- rows that are rearranged --- */

static void swap_bytes(const uint8_t *from, size_t bytes, uint8_t *to)
{
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        to[i] = from[i + 1];
        to[i + 1] = from[i];
    }
}

static void take_upper(const uint8_t *from, size_t values, int upper, uint8_t *to)
{
    for (size_t i = 0; i < values; i++)
        to[i] = from[2 * i + (size_t)upper];
}

/* Room for the frame in the slot: rows of three bytes a pixel hold those of two as well. */
static sk_status make_room(const sk_encoded_image *image, const encoding *e, sk_slot *slot, sk_frame *out,
                           sk_error *err)
{
    const sk_pixel_format room = has_chroma_plane(e) ? SK_PIXEL_NV12 : SK_PIXEL_RGB;
    SK_TRY(sk_slot_prepare(slot, room, image->width, image->height, err));
    out->data = slot->memory;
    out->stride = slot->frame.stride;
    return SK_OK;
}

static bool is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

static sk_status rearrange(const sk_encoded_image *image, const encoding *e, size_t step, sk_slot *slot,
                           sk_frame *out, sk_error *err)
{
    const size_t w = (size_t)image->width;
    SK_TRY(make_room(image, e, slot, out, err));
    if (e->how == BAYER) {
        const mosaic m = {.data = image->data,
                          .step = step,
                          .pixel = e->pixel,
                          .upper = e->pixel == 2 && !image->big_endian,
                          .width = image->width,
                          .height = image->height,
                          .first = e->first};
        demosaic(&m, out->data, out->stride);
        return SK_OK;
    }
    const int32_t rows = image->height + (has_chroma_plane(e) ? (image->height + 1) / 2 : 0);
    for (int32_t y = 0; y < rows; y++) {
        const uint8_t *from = image->data + (size_t)y * step;
        uint8_t *to = out->data + y * out->stride;
        if (e->how == UPPER)
            take_upper(from, 3 * w, !image->big_endian, to);
        else if (e->how == NV21 && y < image->height)
            memcpy(to, from, w);
        else
            swap_bytes(from, e->how == NV21 ? w + w % 2 : 2 * w, to);
    }
    return SK_OK;
}

sk_status sk_encoded_frame(const sk_encoded_image *image, sk_slot *slot, sk_frame *out, sk_error *err)
{
    const encoding *e = NULL;
    size_t step = 0;
    SK_TRY(look_up(image->encoding, &e, err));
    SK_TRY(check(image, e, &step, err));
    out->format = e->format;
    out->width = image->width;
    out->height = image->height;
    out->chroma = NULL;
    out->chroma_stride = 0;
    if (e->how == AS_IS || (e->how == SWAP_VALUES && image->big_endian == is_big_endian())) {
        out->data = (uint8_t *)(uintptr_t)image->data; /* only ever read */
        out->stride = (ptrdiff_t)step;
        return SK_OK;
    }
    return rearrange(image, e, step, slot, out, err);
}
