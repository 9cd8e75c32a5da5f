/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_FRAME_H
#define SKITTER_FRAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A picture, owned by whoever made it. Rows run top to bottom. */

typedef enum sk_pixel_format {
    SK_PIXEL_NONE = 0,
    SK_PIXEL_RGB = 1,  /* 3 bytes a pixel: R, G, B */
    SK_PIXEL_BGR = 2,  /* 3 bytes a pixel: B, G, R */
    SK_PIXEL_GRAY = 3, /* 1 byte a pixel */
    SK_PIXEL_NV12 = 4, /* luma plane, then interleaved chroma at half size; for GPU paths */
    SK_PIXEL_I420 =
        5 /* luma plane and two of chroma at half size, as most video is decoded (sk_source_settings) */
} sk_pixel_format;

/* How luma and chroma were made from colours. */
typedef enum sk_colour_matrix {
    SK_COLOUR_BT601 = 0, /* also where a video does not say */
    SK_COLOUR_BT709 = 1,
    SK_COLOUR_FCC = 2,
    SK_COLOUR_SMPTE240M = 3,
    SK_COLOUR_BT2020 = 4
} sk_colour_matrix;

/* Zero what you do not know; fields may be added at the end. */
typedef struct sk_frame {
    sk_pixel_format format;
    int32_t width, height; /* pixels, >= 1 */
    ptrdiff_t stride;      /* bytes from one row to the next; >= width * bytes a pixel */
    uint8_t *data;
    int64_t index; /* frame number in its source, from 0; by presentation order */
    double time;   /* presentation time in seconds; index / rate for pictures without one */
    /* NV12 and I420: */
    const uint8_t
        *chroma; /* its first row. NV12: `stride` bytes from one to the next; null: right behind the luma's.
                              I420: of u, `chroma_stride` bytes from one to the next */
    sk_colour_matrix matrix; /* what its colours were made with */
    int32_t full_range;      /* 1: values from 0 to 255 (JPEG); 0: luma from 16 to 235 (video) */
    /* 0: in host memory. k > 0: in the memory of CUDA device k - 1 (its primary context), complete; only runners on that
     * device take such frames (sk_runner_takes_device_frames). */
    int32_t on_device;
    /* I420: */
    const uint8_t *chroma_v; /* first row of v */
    ptrdiff_t chroma_stride;
    int64_t wall_ns; /* cameras and streams: when it came, ns since 1970-01-01 UTC; 0: not known */
} sk_frame;

#ifdef __cplusplus
}
#endif
#endif
