/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "tasks/classify.h"
#include "tasks/family.h"

#include <stdio.h>

/* Ultralytics' models that say what a whole frame shows. */

typedef struct classify_stage {
    sk_classify *classify;
    uint8_t *picture; /* [height][width][3], on the way to float */
} classify_stage;

static sk_task_role role(const sk_model *model)
{
    (void)model;
    return (sk_task_role){.whole_frames = true};
}

static void describe(const sk_model *model, sk_task_description *d)
{
    d->n_classes = model->n_classes;
    d->class_names = model->class_names;
    d->n_edges = model->n_edges;
    d->edges = model->edges;
    d->fits_all = false;
}

static sk_status open_stage(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    (void)first; /* none looks at crops */
    const sk_model *m = s->model;
    if (m->input.channels != 0 && m->input.channels != 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s takes %d channels; networks of 3 are supported",
                       sk_stage_model_name(m), (int)m->input.channels);
    classify_stage *c = s->own = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    int32_t w, h, scaled_width, scaled_height;
    SK_TRY(sk_stage_network_size(m, &s->settings, &w, &h, err));
    SK_TRY(sk_classify_open(s->frame_width, s->frame_height, w, h, &c->classify, err));
    c->picture = sk_malloc((size_t)w * (size_t)h * 3);
    if (!c->picture)
        return sk_fail_memory(err, (size_t)w * (size_t)h * 3);
    s->plan.width = w;
    s->plan.height = h;
    s->plan.channels = 3;
    s->plan.u8 = 1;
    s->plan.capacity = SK_CLASSIFY_BEST;
    sk_classify_scaled(c->classify, &scaled_width, &scaled_height);
    snprintf(s->plan.steps, sizeof s->plan.steps, "%dx%d -> scaled %dx%d -> middle %dx%d",
             (int)s->frame_width, (int)s->frame_height, (int)scaled_width, (int)scaled_height, (int)w,
             (int)h);
    return SK_OK;
}

static void close_stage(sk_task_stage *s)
{
    classify_stage *c = s->own;
    if (!c)
        return;
    sk_classify_close(&c->classify);
    sk_free(c->picture);
    sk_free(c);
}

static sk_status input(sk_task_stage *s, const sk_frame *frame, sk_task_input form, void *out, sk_error *err)
{
    classify_stage *c = s->own;
    uint8_t *picture = form == SK_TASK_INPUT_U8 ? out : c->picture;
    SK_TRY(sk_classify_input(c->classify, frame, picture, err));
    if (form == SK_TASK_INPUT_F32)
        sk_stage_to_planes(s, picture, out);
    return SK_OK;
}

static sk_status decode(sk_task_stage *s, const sk_task_outputs *outputs, sk_instances *out, sk_error *err)
{
    (void)s;
    return sk_classify_result(&outputs->tensors[0], outputs->image, out, err);
}

const sk_family sk_classify_family = {.name = "classification",
                                      .role = role,
                                      .describe = describe,
                                      .keypoint_name = sk_model_keypoint_name,
                                      .open = open_stage,
                                      .close = close_stage,
                                      .input = input,
                                      .decode = decode};
