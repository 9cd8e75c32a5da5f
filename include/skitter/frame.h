/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_FRAME_H
#define SKITTER_FRAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A picture in host memory, owned by whoever made it. Rows run top to bottom. */

typedef enum sk_pixel_format {
    SK_PIXEL_NONE = 0,
    SK_PIXEL_RGB = 1,  /* 3 bytes a pixel: R, G, B */
    SK_PIXEL_BGR = 2,  /* 3 bytes a pixel: B, G, R */
    SK_PIXEL_GRAY = 3, /* 1 byte a pixel */
    SK_PIXEL_NV12 = 4  /* luma plane, then interleaved chroma at half size; for GPU paths */
} sk_pixel_format;

typedef struct sk_frame {
    sk_pixel_format format;
    int32_t width, height; /* pixels, >= 1 */
    ptrdiff_t stride;      /* bytes from one row to the next; >= width * bytes a pixel */
    uint8_t *data;
    int64_t index; /* frame number in its source, from 0; by presentation order */
    double time;   /* presentation time in seconds; index / rate for pictures without one */
} sk_frame;

#ifdef __cplusplus
}
#endif
#endif
