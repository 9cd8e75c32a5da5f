/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_FRAME_H
#define SKITTER_FRAME_H

#include "skitter/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A picture on its way: where its pixels lie, what they mean, when they were taken, and whom to tell when they are no
 * longer needed. The struct describes memory; it owns none.
 *
 *     sk_frame frame = SK_FRAME_INIT;
 *     frame.format = SK_PIXEL_BGR;
 *     frame.width = 1920, frame.height = 1080, frame.stride = 3 * 1920, frame.data = pixels;
 *
 * Rows run from top to bottom. Unless a field says otherwise, 0 (what SK_FRAME_INIT leaves) is its default. */

/* How pixels are laid out. The numbers never change; new ones are added at the end. */
typedef enum sk_pixel_format {
    /* not set; refused */
    SK_PIXEL_NONE = 0,
    /* 3 bytes a pixel: R, G, B */
    SK_PIXEL_RGB = 1,
    /* 3 bytes a pixel: B, G, R, as OpenCV has them */
    SK_PIXEL_BGR = 2,
    /* 1 byte a pixel */
    SK_PIXEL_GRAY = 3,
    /* luma plane, then a plane of interleaved chroma (U, V) at half width and height */
    SK_PIXEL_NV12 = 4,
    /* luma plane and two planes of chroma (U, V) at half width and height */
    SK_PIXEL_I420 = 5,
    /* 4 bytes a pixel: R, G, B, and one that is not looked at */
    SK_PIXEL_RGBA = 6,
    /* 4 bytes a pixel: B, G, R, and one that is not looked at */
    SK_PIXEL_BGRA = 7,
    /* 2 bytes a pixel, in the machine's byte order; the upper 8 bits count: the 10 or 12 bits of a camera that stores them
     * at the lower end are to be shifted up, or the picture is almost black */
    SK_PIXEL_GRAY16 = 8,
    /* 4 bytes for two pixels: Y0, U, Y1, V, as USB cameras give them; even width */
    SK_PIXEL_YUYV = 9
} sk_pixel_format;

/* By which numbers luma and chroma were made from colours. NV12, I420 and YUYV only. */
typedef enum sk_colour_matrix {
    /* also where a video does not say */
    SK_COLOUR_BT601 = 0,
    SK_COLOUR_BT709 = 1,
    SK_COLOUR_FCC = 2,
    SK_COLOUR_SMPTE240M = 3,
    SK_COLOUR_BT2020 = 4
} sk_colour_matrix;

/* Whose memory the pixels lie in. */
typedef enum sk_place {
    /* ordinary memory */
    SK_PLACE_HOST = 0,
    /* memory of the host that a GPU reads by itself (cudaHostAlloc, cudaHostRegister) */
    SK_PLACE_PINNED = 1,
    /* memory of the CUDA device `device`, in its primary context: RGB, BGR, grey and NV12, by pipelines of one model */
    SK_PLACE_CUDA = 2,
    /* memory of the ROCm device `device` */
    SK_PLACE_ROCM = 3
} sk_place;

/* Fields may be added at the end: `size` tells how many of them the caller knew of. */
typedef struct sk_frame {
    /* sizeof(sk_frame), by SK_FRAME_INIT */
    uint32_t size;
    /* required */
    sk_pixel_format format;
    /* pixels, 1 … 65535; required */
    int32_t width, height;
    /* first row (of luma); required; only ever read */
    uint8_t *data;
    /* bytes from one row to the next, at least a row's own; required */
    ptrdiff_t stride;

    /* --- NV12 and I420 --- */

    /* first row of chroma (NV12), of U (I420: required). NV12: null: right behind the luma's rows */
    const uint8_t *chroma;
    /* I420: first row of V; required */
    const uint8_t *chroma_v;
    /* bytes from one row of chroma to the next; NV12: 0: as `stride`; I420: required */
    ptrdiff_t chroma_stride;
    /* default BT.601 */
    sk_colour_matrix matrix;
    /* 1: values from 0 to 255 (JPEG); 0 (default): luma from 16 to 235 (video) */
    int32_t full_range;

    /* --- Where --- */

    /* default: the host */
    sk_place place;
    /* number of the device, for memory of a device */
    int32_t device;
    /* Memory of a device: what must have happened before the pixels may be read. At most one is set; with neither they
     * are complete when the frame is handed over. Both stay the caller's, until the frame is released. */
    /* a cudaStream_t or hipStream_t: everything put on it until now */
    void *stream;
    /* a cudaEvent_t or hipEvent_t that was recorded */
    void *event;

    /* --- When --- */

    /* number of the frame in its source, from 0 in the order of presentation */
    int64_t index;
    /* presentation time in ns from the source's beginning */
    int64_t time_ns;
    /* when it was taken or came, ns since 1970-01-01 UTC; 0: not known */
    int64_t wall_ns;
    /* Whose: null: the pixels are copied before submit returns. Set: they are lent, read in place, and this is called once
     * when they are no longer needed, whatever became of the frame; from any thread, under no lock. `frame` is the pointer
     * that was handed in, which must stay valid until then. */
    void (*release)(void *context, const struct sk_frame *frame);
    /* handed to `release` as it is */
    void *release_context;
} sk_frame;

/* The only way to begin a frame. */
#define SK_FRAME_INIT SK_INIT_BY_SIZE(sk_frame)

/* A kind of frame that somebody takes: one line of sk_pipeline_info.accepts. This struct never changes its size. */
typedef struct sk_frame_kind {
    sk_pixel_format format;
    /* where … */
    sk_place place;
    /* … and on which device */
    int32_t device;
    /* only frames wider or higher than this gain by it; 0: all */
    int32_t above_width, above_height;
    /* 1: only frames that are lent (sk_frame.release) */
    int32_t lent;
    /* 0 */
    int32_t reserved[6];
} sk_frame_kind;

#ifdef __cplusplus
}
#endif
#endif
