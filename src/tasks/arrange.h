/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_ARRANGE_H
#define SK_TASKS_ARRANGE_H

#include "tasks/stage.h"

#include <stdbool.h>

/* Which models go together, in which order, and what they give together. One model that sees whole frames; or two: a
 * finder, which sees whole frames, and a looker, which sees crops around what the finder found. */

#define SK_TASK_MAX_MODELS 2

/* Puts one or two models in order, finder first, in whichever order they were given. SK_ERR_ARG and SK_ERR_UNSUPPORTED say
 * why they find nothing, or do not go together, and what would. */
sk_status sk_task_arrange(sk_model **models, int32_t n_models, sk_error *err) SK_MUST_CHECK;

/* Refuses wishes that arranged models cannot grant: heads of models that have none, rectangles of a model of one size. */
sk_status sk_task_check_wishes(const sk_model *const *models, int32_t n_models, sk_heads heads, sk_rect rect,
                               sk_error *err) SK_MUST_CHECK;

/* What arranged models give together. Names of classes and edges are the models'; those of keypoints its own. */
typedef struct sk_task_description {
    sk_task task; /* the last model's: what comes out */
    int32_t n_classes;
    const char *const *class_names;
    bool identities; /* classes are individuals */
    int32_t n_keypoints;
    char **keypoint_names; /* unnamed ones are "kpt0" … */
    int32_t n_edges;
    const int32_t (*edges)[2];
    uint32_t has;     /* SK_HAS_… that an instance may have */
    int32_t capacity; /* most instances a frame */
    sk_heads heads;   /* what is run; SK_HEADS_AUTO: no model has such heads */
    /* How the program that made the last model reads video: what that model learnt from. */
    sk_source_colours colours;
    /* The first network may be as small as the frame's shape allows: sk_rect means something. */
    bool rectangles;
    bool fits_all; /* without rectangles one network each fits frames of every size */
    /* An engine that fits frames in may be given those of video as they are; others come as RGB. */
    bool takes_nv12;
} sk_task_description;

/* Fills *out anew from arranged models; any frame size will do for that. */
sk_status sk_task_describe(const sk_model *const *models, int32_t n_models, const sk_task_settings *settings,
                           sk_task_description *out, sk_error *err) SK_MUST_CHECK;
/* Frees the names and empties it; one of zeros is fine. */
void sk_task_description_free(sk_task_description *description);

#endif
