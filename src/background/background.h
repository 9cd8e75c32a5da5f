/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BACKGROUND_BACKGROUND_H
#define SK_BACKGROUND_BACKGROUND_H

#include "base/instances.h"
#include "skitter/frame.h"

/* Animals on a still background, found without a model: what differs from the picture of the empty place is one, its place, size
 * and direction those of the pixels that do. Frames in, oriented boxes out; docs/background.md says how, and when not to.
 *
 *     sk_background_open(&settings, width, height, &background, err);
 *     for frames from all over the video: sk_background_prime(background, frame, err);
 *     for every frame, from the first: sk_background_find(background, frame, &found, err);
 *
 * The same frames give the same bits. The background follows what it sees, so that a run that goes on shows it the earlier frames
 * again. One thread at a time; allocates nothing once it is primed and has seen its most crowded frame. */

typedef enum sk_background_ground {
    SK_GROUND_LIGHT = 0, /* animals are darker than the background */
    SK_GROUND_DARK,      /* … lighter */
    SK_GROUND_EITHER     /* … one or the other */
} sk_background_ground;

typedef struct sk_background_settings {
    sk_background_ground ground;
    /* How the picture is made plain before anything else: grey is multiplied, shifted, bent. 1, 0, 1: left as it is. */
    double contrast, brightness, gamma;
    /* Grey levels (0 … 255) that a pixel must differ by. 0 (default): by the noise of the first frames, at least 12. */
    double threshold;
    /* How fast the background follows, grey levels a frame; 0: it stays as it was at the beginning. Default 0.02 */
    double following;
    bool steady_light; /* frames are brought to one brightness: lamps that flicker. Default true */
    /* Specks and holes up to so many pixels wide go; 0, 1: none. Default 3 */
    int32_t smallest_feature;
    int32_t grow;      /* then all grow by so many pixels; default 0 */
    double least_area; /* pixels; less, or less than a tenth of body_area, is no animal. Default 20 */
    double
        body_area; /* of one animal, pixels; 0 (default): half of the pixels found are in blobs of that size or more */
    bool split; /* what is as large as several is taken for as many that touch. Default true */
    int32_t
        most_found; /* more blobs than this are no animals but a change of the light: none are told. Default 4096 */
} sk_background_settings;

void sk_background_defaults(sk_background_settings *settings);

typedef struct sk_background sk_background;

/* All frames are of this size, in host memory: RGB, BGR, grey, or with a plane of luma (NV12, I420). Refuses settings that make no
 * sense, by name. */
sk_status sk_background_open(const sk_background_settings *settings, int32_t width, int32_t height,
                             sk_background **out, sk_error *err) SK_MUST_CHECK;
void sk_background_close(sk_background **background);

/* How many frames prime it best: it keeps a copy of each until the first sk_background_find. */
int32_t sk_background_wanted(const sk_background *background);
/* A frame from anywhere in the video. The background is the median of them all; more than wanted are left out. */
sk_status sk_background_prime(sk_background *background, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;
/* What is in the frame: oriented and upright boxes with a score of how much they differ, the largest first, as many as `found` has
 * room for. Without priming the first frame is the background. */
sk_status sk_background_find(sk_background *background, const sk_frame *frame, sk_instances *found,
                             sk_error *err) SK_MUST_CHECK;

/* The background as grey bytes, `width` a row; borrowed. */
const uint8_t *sk_background_picture(const sk_background *background);
/* What a pixel must differ by, as it was settled at the first frame; 0 before. */
double sk_background_threshold(const sk_background *background);

#endif
