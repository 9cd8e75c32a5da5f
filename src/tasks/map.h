/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_MAP_H
#define SK_TASKS_MAP_H

#include "graph/tensor.h"

/* One image's share of a network output, as the stages after the network read it: a float array of
 * `channels` over height * width places. The strides let planar [C][H][W] and interleaved [H][W][C]
 * buffers be read in place. A dense YOLO output [4+nc+extra][A] is channels over 1 x A; end-to-end rows
 * [R][6+extra] are channels over 1 x R with the row as the place. */
typedef struct sk_map {
    const float *data;
    int32_t channels, height, width;
    ptrdiff_t channel_stride, place_stride; /* in elements */
} sk_map;

static inline sk_map sk_map_planar(const float *data, int32_t channels, int32_t height, int32_t width)
{
    sk_map map = {data, channels, height, width, (ptrdiff_t)height * width, 1};
    return map;
}

static inline sk_map sk_map_interleaved(const float *data, int32_t channels, int32_t height, int32_t width)
{
    sk_map map = {data, channels, height, width, 1, channels};
    return map;
}

static inline float sk_map_at(const sk_map *map, int32_t channel, int32_t y, int32_t x)
{
    return map->data[channel * map->channel_stride + ((ptrdiff_t)y * map->width + x) * map->place_stride];
}

/* The same with the place as one number, row by row. */
static inline float sk_map_place(const sk_map *map, int32_t channel, int32_t place)
{
    return map->data[channel * map->channel_stride + place * map->place_stride];
}

/* Image `image` of a batch held in an f32 tensor: [B][C][H][W], [B][C][A] (1 x A) or [B][C] (1 x 1). With
 * `end_to_end`, a rank-3 tensor is [B][detections][C]. */
sk_status sk_map_of_tensor(const sk_tensor *tensor, int32_t image, bool end_to_end, sk_map *out,
                           sk_error *err) SK_MUST_CHECK;

#endif
