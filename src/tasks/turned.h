/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_TURNED_H
#define SK_TASKS_TURNED_H

#include "base/instances.h"
#include "tasks/crops.h"

#include <stdbool.h>

/* Crops that lie along an animal's axis, and neighbours that are painted over in them: as hydra-suite makes its canonical crops, the
 * frame turned and moved and not scaled, its border carried on, other animals' boxes black. All places are pixels whose centres
 * lie at integers. */

/* A box that lies turned. */
typedef struct sk_turned_box {
    float x, y; /* its middle */
    float half_width, half_height;
    float cosine, sine; /* of the direction of its width, clockwise */
} sk_turned_box;

/* The box of something found: turned where it has such a one, else upright. False: it has none. */
bool sk_turned_box_of(const sk_found *found, sk_turned_box *out);
/* Is a point in it? The edge belongs to it. */
bool sk_turned_box_holds(const sk_turned_box *box, float x, float y);

/* A crop along the box's long side, grown by `margin` of its sides all around, at least half as high as it is wide (so that thin
 * animals have some ground around them), at most `most` pixels a side. Which end the head is
 * at is not known: of the two ways it is turned by less. */
sk_crop sk_turned_place(const sk_turned_box *box, float margin, int32_t most);
/* Where a point of a turned crop lies in the picture. */
void sk_turned_out(const sk_crop *place, float u, float v, float *x, float *y);

/* A picture of `channels` bytes a pixel. */
typedef struct sk_turned_picture {
    const uint8_t *pixels;
    ptrdiff_t stride;
    int32_t width, height, channels;
} sk_turned_picture;
/* The crop's pixels, rows without gaps: bilinear; beyond the border the border goes on. */
void sk_turned_cut(const sk_turned_picture *picture, const sk_crop *place, uint8_t *out);

/* What is painted over in a crop: boxes of a frame but for the one the crop is of, whose own box stays as it is. */
typedef struct sk_crop_mask {
    const sk_turned_box *boxes;
    int32_t count, own;
    float scale; /* picture pixels per pixel of the boxes' frame */
} sk_crop_mask;
/* Boxes in the crop's own pixels: its own one, which stays, then those of others that reach into it; `out` holds mask->count. None
 * (0) where nothing is painted over. */
int32_t sk_crop_mask_boxes(const sk_crop_mask *mask, const sk_crop *place, sk_turned_box *out);
void sk_crop_mask_paint(const sk_crop_mask *mask, const sk_crop *place, int32_t channels, uint8_t *crop);

#endif
