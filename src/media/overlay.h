/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_OVERLAY_H
#define SK_MEDIA_OVERLAY_H

#include "base/error.h"
#include "skitter/frame.h"
#include "base/instances.h"

#include <stdbool.h>

/* Draws what was found onto the frame: boxes, oriented boxes, skeletons, names with confidence, tracks' trails. Every
 * line has a dark rim, so that it reads on light and dark grounds. */

typedef struct sk_overlay sk_overlay;

/* What is drawn; sk_overlay_what names them for people. */
#define SK_DRAW_BOXES     1u /* upright and oriented ones */
#define SK_DRAW_LABELS    2u /* names of classes, numbers of tracks */
#define SK_DRAW_SCORES    4u
#define SK_DRAW_KEYPOINTS 8u
#define SK_DRAW_SKELETON  16u /* the lines between keypoints */
#define SK_DRAW_TRAILS    32u /* where tracks were */
#define SK_DRAW_ALL       63u

typedef struct sk_overlay_settings {
    int32_t n_classes;
    const char *const *class_names; /* borrowed until close */
    int32_t n_edges;
    const int32_t (*edges)[2]; /* borrowed until close */
    float min_keypoint_score;  /* weaker keypoints are not drawn; default 0.3 */
    int32_t trail;             /* frames of a track's path that are drawn; default 30 */
    uint32_t what;             /* SK_DRAW_…; default all */
    float line_width;          /* pixels; 0 (default): by the frame's size */
} sk_overlay_settings;

/* "boxes,labels" -> what to draw; "no-scores,no-boxes" -> all but these. SK_ERR_ARG names the word that is none. */
sk_status sk_overlay_parse_what(const char *list, uint32_t *what, sk_error *err) SK_MUST_CHECK;

void sk_overlay_defaults(sk_overlay_settings *settings);
sk_status sk_overlay_open(const sk_overlay_settings *settings, sk_overlay **out, sk_error *err) SK_MUST_CHECK;
void sk_overlay_close(sk_overlay **overlay);

/* Draws into the frame: RGB, BGR, RGBA, BGRA or grey; others are made plain first (tasks/plain_frame.h). Frames come in order;
 * trails remember the last ones. */
void sk_overlay_draw(sk_overlay *overlay, sk_frame *frame, const sk_instances *instances);
/* One track in one frame, for drawing. */
typedef struct sk_overlay_track {
    int32_t track;        /* its number: which colour it has */
    bool covered;         /* it was not found in this frame */
    float x, y;           /* its middle */
    float heading, reach; /* where the head is: radians, and pixels from the middle; 0: not known */
} sk_overlay_track;
/* The same for tracks, one an instance: each keeps its colour, one of those that people who do not see all colours tell apart; a
 * tip shows where the head is; what was not found is drawn dashed. */
void sk_overlay_draw_tracks(sk_overlay *overlay, sk_frame *frame, const sk_instances *instances,
                            const sk_overlay_track *tracks);

#endif
