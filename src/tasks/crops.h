/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_CROPS_H
#define SK_TASKS_CROPS_H

#include <stdint.h>

/* Where a second model's crops lie, and how they are cut: plain values, for whoever cuts them. The stage's own cutter
 * (sk_task_stage_crop_input) is the reference; an engine that cuts where the frame lies must give the same bytes. */

/* How the pixels of a crop are had. */
typedef enum sk_crop_rule {
    /* YOLO: the crop's pixels of the frame are scaled, their aspect kept, into the middle of the input; the border is 114
     * (tasks/letterbox.h, with no stride). */
    SK_CROP_LETTERBOX = 1,
    /* sleap-nn: whole pixels of the sized picture, 0 outside of it; then scaled by input_scale (antialiased) to
     * scaled_width x scaled_height, and padded right and below with 0. */
    SK_CROP_PIXELS = 2,
    /* SLEAP up to 1.4: the sized picture is scaled by input_scale first; a crop's pixel is mixed from the four around its
     * fractional place in that, fractions cut off, and is 0 outside of it. */
    SK_CROP_MIXED = 3
} sk_crop_rule;

/* One for all crops of a stage, for frames of one size. */
typedef struct sk_crop_form {
    sk_crop_rule rule;
    int32_t width, height, channels; /* network input */
    int32_t u8;                      /* 1: it can be 8-bit values [height][width][channels] */
    int32_t frame_width, frame_height;
    int32_t swap; /* letterbox: 1: the network wants B, G, R */
    /* SLEAP's sizing of the frame (sk_sleap_geometry): the frame's picture fills fitted_ in the left upper corner of sized_, 0
     * elsewhere. Where the three sizes agree, the frame itself is cut. */
    int32_t fitted_width, fitted_height, sized_width, sized_height;
    int32_t grey;       /* sk_sleap_grey: when colours become grey … */
    int32_t old_sizing; /* … and by whose formula, as the sizing is: 1: SLEAP's up to 1.4; 0: sleap-nn's */
    int32_t crop_width, crop_height, scaled_width, scaled_height;
    float input_scale;
    int32_t
        masks; /* boxes that may have to do with one crop's mask, its own among them; 0: nothing is painted over */
} sk_crop_form;

/* A rectangle of the picture that is cut: of the frame (LETTERBOX), the sized picture (PIXELS) or the sized and scaled one
 * (MIXED), in pixels whose centres lie at integers. */
typedef struct sk_crop {
    float left, top; /* centre of its first pixel; whole numbers but for MIXED. May lie outside for SLEAP */
    float width, height; /* whole pixels */
    float angle;         /* radians clockwise around the middle; 0: upright, as all rules above have it … */
    int32_t turned;      /* … and 1 where it is not: cut by tasks/turned.h, along the animal's axis */
} sk_crop;

/* A frame's crops, in the order in which results are given back. */
typedef struct sk_crop_list {
    const sk_crop *items;
    int32_t count;
    const struct sk_crop_mask *masks; /* what is painted over in each (tasks/turned.h); null: nothing */
} sk_crop_list;

#endif
