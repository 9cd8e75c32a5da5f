/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SLEAP_PRE_H
#define SK_TASKS_SLEAP_PRE_H

#include "models/model.h"
#include "skitter/frame.h"

/* Frames on their way into SLEAP's networks, by the rules of either era (sk_sleap_spec.legacy: SLEAP <=
 * 1.4, else sleap-nn): colour, size matching, input scaling, padding right and below. The picture after
 * size matching is called the sized picture; crops for a second network are cut from it. */

typedef struct sk_sleap_geometry {
    int32_t frame_width, frame_height;
    int32_t fitted_width, fitted_height; /* the frame's picture inside the sized picture */
    int32_t sized_width, sized_height;
    int32_t scaled_width, scaled_height; /* the sized picture after input scaling */
    int32_t width, height;               /* network input */
    float eff_scale;                     /* sized pixels per frame pixel */
    float input_scale;                   /* network pixels per sized pixel */
} sk_sleap_geometry;

sk_status sk_sleap_sizes(const sk_sleap_spec *spec, int32_t frame_width, int32_t frame_height,
                         sk_sleap_geometry *out, sk_error *err) SK_MUST_CHECK;

/* When colours become grey. A frame whose channels agree everywhere is grey from the start. */
typedef enum sk_sleap_grey {
    SK_SLEAP_GREY_FIRST = 0, /* 8-bit, before everything else: SLEAP, and sleap-nn's ensure_grayscale */
    SK_SLEAP_GREY_LAST, /* in fractions, after resizing: sleap-nn's networks of one channel do it themselves */
    SK_SLEAP_GREY_SPREAD /* first, and then over three channels: ensure_grayscale before a network of three */
} sk_sleap_grey;
sk_sleap_grey sk_sleap_grey_of(const sk_sleap_spec *spec, int32_t channels);

typedef struct sk_sleap_pre sk_sleap_pre;

/* For frames of one size; RGB, BGR and GRAY may follow each other. `channels` of the network, 1 or 3. */
sk_status sk_sleap_pre_open(const sk_sleap_spec *spec, int32_t channels, const sk_sleap_geometry *geometry,
                            sk_sleap_pre **out, sk_error *err) SK_MUST_CHECK;
void sk_sleap_pre_close(sk_sleap_pre **pre);

/* Makes the sized picture, dense [sized_height][sized_width][sk_sleap_pre_channels]; kept until the next call. */
sk_status sk_sleap_pre_size(sk_sleap_pre *pre, const sk_frame *frame, const uint8_t **sized,
                            sk_error *err) SK_MUST_CHECK;

/* Of the last sized picture: the network's, or 3 where a picture with colours becomes grey later. */
int32_t sk_sleap_pre_channels(const sk_sleap_pre *pre);
/* 1 when the network's input can be handed over as 8-bit values; 0 for the fractions of a legacy model
 * with input scaling, and of greys that are made last. */
int sk_sleap_pre_is_u8(const sk_sleap_pre *pre);
/* The network's input made from the last sized picture: [height][width][channels], or planes of value /
 * 255. */
sk_status sk_sleap_pre_u8(sk_sleap_pre *pre, uint8_t *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_sleap_pre_f32(sk_sleap_pre *pre, float *out, sk_error *err) SK_MUST_CHECK;

#endif
