/* SPDX-License-Identifier: Apache-2.0 */
#include "base/instances.h"
#include "tasks/family.h"

#include <math.h>
#include <stdio.h>

/* No model: somebody else finds, and hands boxes in with each frame. First of two; it looks at no pixel. */

static sk_task_role role(const sk_model *model)
{
    return (sk_task_role){.finds = true,
                          .whole_frames = true,
                          .gives = SK_GIVES_BOXES | SK_GIVES_MIDDLES,
                          .oriented = model->task == SK_TASK_OBB,
                          .given = true};
}

static void describe(const sk_model *model, sk_task_description *d)
{
    d->n_classes = model->n_classes;
    d->class_names = model->class_names;
    d->has |= model->task == SK_TASK_OBB ? SK_HAS_OBB | SK_HAS_BOX : SK_HAS_BOX;
}

static sk_status open_stage(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    (void)first, (void)err;
    s->plan.width = s->frame_width;
    s->plan.height = s->frame_height;
    s->plan.channels = 3;
    s->plan.capacity = SK_MOST_CROPS;
    snprintf(s->plan.steps, sizeof s->plan.steps, "boxes that are given");
    return SK_OK;
}

static void close_stage(sk_task_stage *s)
{
    (void)s;
}

const sk_family sk_given_family = {.name = "given boxes",
                                   .role = role,
                                   .describe = describe,
                                   .keypoint_name = sk_model_keypoint_name,
                                   .open = open_stage,
                                   .close = close_stage,
                                   .middle = sk_found_middle};
