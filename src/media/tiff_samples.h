/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_TIFF_SAMPLES_H
#define SK_MEDIA_TIFF_SAMPLES_H

#include "media/picture.h"

#include <math.h>

/* Inside media/: samples of 16 bits and more, whole or floating, as pixels.
 *
 * Whole numbers of 16 bits without a sign keep their upper byte. All others are scaled alike on every page of a file, by
 * what its first page holds: values within 0..1 are times 255; within 0..255 taken as they are; else the first page's
 * smallest value becomes 0 and its largest 255. Not-a-number is 0. */

typedef struct sk_tiff_page {
    int32_t width, height;
    uint16_t bits, samples, kind, colours, orientation, compression; /* as in the file */
    bool apart;                                                      /* each sample in a plane of its own */
} sk_tiff_page;

/* Where samples go: into a slot, or only measured. */
typedef struct sk_tiff_canvas {
    sk_slot *slot; /* null: measured */
    sk_pixel_format format;
    sk_tiff_range range;
    double least, most; /* of finite values */
} sk_tiff_canvas;

#define SK_TIFF_MEASURE                                                                                      \
    {                                                                                                        \
        .least = INFINITY, .most = -INFINITY                                                                 \
    }

bool sk_tiff_readable(const sk_tiff_page *page);   /* 16, 32, 64 bits; grey or RGB */
bool sk_tiff_is_scaled(const sk_tiff_page *page);  /* by the range */
uint32_t sk_tiff_wanted(const sk_tiff_page *page); /* samples of a pixel that are looked at: 1 or 3 */
void sk_tiff_choose_range(const sk_tiff_canvas *measured, sk_tiff_range *range);
/* A block of samples in the machine's byte order at (x, y) of the page; `plane` where they are apart. */
void sk_tiff_paint(sk_tiff_canvas *canvas, const sk_tiff_page *page, const unsigned char *block,
                   uint32_t plane, int32_t x, int32_t y, int32_t width, int32_t height);
void sk_tiff_finish(sk_tiff_canvas *canvas, const sk_tiff_page *page);

/* One pixel in the wanted order; returns the place of the next. Grey as OpenCV makes it. */
static inline uint8_t *sk_tiff_put(uint8_t *to, sk_pixel_format format, uint8_t r, uint8_t g, uint8_t b)
{
    if (format == SK_PIXEL_GRAY) {
        *to = (uint8_t)((r * 4899 + g * 9617 + b * 1868 + (1 << 13)) >> 14);
        return to + 1;
    }
    to[0] = format == SK_PIXEL_BGR ? b : r;
    to[1] = g;
    to[2] = format == SK_PIXEL_BGR ? r : b;
    return to + 3;
}

#endif
