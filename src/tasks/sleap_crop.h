/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SLEAP_CROP_H
#define SK_TASKS_SLEAP_CROP_H

#include "models/model.h"
#include "tasks/crops.h"
#include "tasks/turned.h"

/* Crops around centroids for a centred-instance network, cut from the sized picture (sleap_pre.h).
 * sleap-nn: whole pixels, zeros outside, then scaled by the model's input scale and padded to its stride.
 * SLEAP <= 1.4: the whole picture is scaled first, then the crop is interpolated at its fractional place. */

typedef struct sk_sleap_crop_geometry {
    int32_t crop_width, crop_height;     /* pixels cut out (of the scaled picture in legacy models) */
    int32_t scaled_width, scaled_height; /* after scaling */
    int32_t width, height;               /* network input */
    float input_scale;
} sk_sleap_crop_geometry;

/* From the model's crop size, scale and stride; `default_size` (pixels) is used where the model names no
 * crop size. */
sk_status sk_sleap_crop_sizes(const sk_sleap_spec *spec, int32_t default_size, sk_sleap_crop_geometry *out,
                              sk_error *err) SK_MUST_CHECK;

typedef struct sk_sleap_crop sk_sleap_crop;

/* `sized_*` describe the pictures that will be cut: their channels may differ from the network's. */
sk_status sk_sleap_crop_open(const sk_sleap_spec *spec, const sk_sleap_crop_geometry *geometry,
                             int32_t channels, int32_t sized_width, int32_t sized_height,
                             int32_t sized_channels, sk_sleap_crop **out, sk_error *err) SK_MUST_CHECK;
void sk_sleap_crop_close(sk_sleap_crop **crop);

/* Takes a frame's sized picture; borrowed until the next call. `channels` are those it was opened for, or 3 where the
 * network makes grey of colours last (sk_sleap_grey_of). */
void sk_sleap_crop_begin(sk_sleap_crop *crop, const uint8_t *sized, int32_t channels);

/* Where the crop around a centroid (sized pixels) lies. */
sk_crop sk_sleap_crop_around(const sk_sleap_crop *crop, float x, float y);

/* The network's input for one crop: 8-bit [height][width][channels]. Of the place only the corner counts. */
void sk_sleap_crop_u8(sk_sleap_crop *crop, const sk_crop *place, uint8_t *out);
/* The same as planes of value / 255. */
void sk_sleap_crop_f32(sk_sleap_crop *crop, const sk_crop *place, float *out);

/* Turns a point of the crop's network input (pixels) into sized pixels. */
void sk_sleap_crop_undo(const sk_sleap_crop *crop, float centroid_x, float centroid_y, float *x, float *y);

/* Crops that lie turned by `angle` around the centroid (tasks/turned.h): where, and back. */
sk_crop sk_sleap_crop_turned(const sk_sleap_crop *crop, float x, float y, float angle);
void sk_sleap_crop_undo_turned(const sk_sleap_crop *crop, float centroid_x, float centroid_y, float angle,
                               float *x, float *y);
/* What is painted over in the crops from now on, by boxes of the sized picture's pixels times mask->scale; null: nothing.
 * Borrowed. */
void sk_sleap_crop_mask(sk_sleap_crop *crop, const sk_crop_mask *mask);

#endif
