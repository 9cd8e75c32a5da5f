/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "kernels/nv12.h"
#include "tasks/resize_linear.h"

#include <stdio.h>
#include <string.h>

/* What surrounds the network when it runs on the device too: frames are fitted in by the first kernel, and of detectors'
 * heads only the places that pass a bound come back. */

/* Tables of one axis: taps and weights. */
static sk_status add_taps(gpu_plan *plan, int32_t from, int32_t to, int vertical, gpu_ref *taps,
                          gpu_ref *weights, sk_error *err)
{
    int32_t *i0 = sk_calloc((size_t)to * 2, sizeof *i0), *i1 = i0 ? i0 + to : NULL;
    int16_t(*w)[2] = sk_calloc((size_t)to, sizeof *w);
    void *data;
    sk_status status = SK_OK;
    if (!i0 || !w) {
        status = sk_fail_memory(err, (size_t)to * 12);
        goto done;
    }
    sk_resize_linear_taps(from, to, vertical, 1, i0, i1, w);
    for (int32_t i = 0; vertical && plan->strips.count && i < to;
         i++) { /* rows as they lie; without weight: any */
        const int32_t a = sk_row_strips_number(&plan->strips, i0[i]),
                      b = sk_row_strips_number(&plan->strips, i1[i]);
        i0[i] = a < 0 ? b : a;
        i1[i] = b < 0 ? a : b;
    }
    SK_TRY_GOTO(gpu_add_weights(plan, (size_t)to * sizeof *w, &data, weights, err));
    memcpy(data, w, (size_t)to * sizeof *w);
    SK_TRY_GOTO(gpu_add_weights(plan, (size_t)to * 2 * sizeof *i0, &data, taps, err));
    for (int32_t i = 0; i < to; i++) {
        ((int32_t *)data)[2 * i] = i0[i];
        ((int32_t *)data)[2 * i + 1] = i1[i];
    }
done:
    sk_free(i0);
    sk_free(w);
    return status;
}

size_t gpu_frame_bytes(const gpu_plan *plan)
{
    const sk_row_strips *s = &plan->strips;
    return s->count ? sk_frame_fit_row(&plan->fit) * (size_t)s->height * (size_t)s->count
                    : sk_frame_fit_bytes(&plan->fit);
}

int32_t gpu_box_mode(int32_t width, int32_t height, int32_t resized_width, int32_t resized_height)
{
    return width == resized_width && height == resized_height           ? 0
           : width == 2 * resized_width && height == 2 * resized_height ? 2
                                                                        : 1;
}

size_t gpu_crop_frame_bytes(const gpu_plan *plan)
{
    const sk_crop_wish *w = &plan->crops;
    return (size_t)w->form.frame_width * (size_t)w->form.frame_height * (size_t)w->channels;
}

sk_status gpu_add_letterbox(gpu_plan *plan, int32_t index, int32_t to, int32_t pitch, int32_t type,
                            sk_error *err)
{
    const sk_session_settings *s = &plan->settings;
    const sk_frame_fit *f = &plan->fit;
    const sk_shape *shape = gpu_shape(plan, plan->graph->inputs[index]);
    gpu_ref refs[4];
    gpu_step *step;
    if (f->left + f->resized_width > shape->dim[3] || f->top + f->resized_height > shape->dim[2] ||
        shape->dim[1] != 3)
        return sk_fail(err, SK_ERR_ARG, "a picture of %dx%d from %d,%d on does not fit an input of %lldx%lld",
                       f->resized_width, f->resized_height, f->left, f->top, (long long)shape->dim[3],
                       (long long)shape->dim[2]);
    SK_TRY(add_taps(plan, f->frame_width, f->resized_width, 0, &refs[0], &refs[2], err));
    SK_TRY(add_taps(plan, f->frame_height, f->resized_height, 1, &refs[1], &refs[3], err));
    SK_TRY(gpu_add_step(plan, GPU_LETTERBOX, NULL, &step, err));
    gpu_letterbox_args *a = &step->args.letterbox;
    *a = (gpu_letterbox_args){.row_bytes = (int64_t)sk_frame_fit_row(f),
                              .picture_bytes = (int64_t)gpu_frame_bytes(plan),
                              .n = (int32_t)shape->dim[0],
                              .h = (int32_t)shape->dim[2],
                              .w = (int32_t)shape->dim[3],
                              .left = f->left,
                              .top = f->top,
                              .rh = f->resized_height,
                              .rw = f->resized_width,
                              .border = f->border,
                              .frame_h = f->frame_height,
                              .frame_w = f->frame_width,
                              .channels = f->channels,
                              .swap = f->swap,
                              .nv12 = f->nv12,
                              .c = 3,
                              .ld = pitch,
                              .type = type};
    if (f->nv12)
        a->weights = sk_nv12_weights_of((sk_colour_matrix)f->matrix, f->full_range);
    a->mode = gpu_box_mode(f->frame_width, f->frame_height, f->resized_width, f->resized_height);
    for (int c = 0; c < 4; c++) {
        a->gain[c] = s->scale / s->std[c];
        a->shift[c] = s->mean[c] / s->std[c];
    }
    step->refs[0] = (gpu_ref){.buffer = to};
    step->refs[1] = (gpu_ref){.buffer = plan->inputs[index]};
    for (int i = 0; i < 4; i++)
        step->refs[2 + i] = refs[i];
    step->n_refs = 6;
    snprintf(step->kernel, sizeof step->kernel, "letterbox%s", f->nv12 ? " nv12" : "");
    snprintf(step->shape, sizeof step->shape, "%dx%d -> %dx%d", f->frame_width, f->frame_height, a->w, a->h);
    return SK_OK;
}

size_t gpu_crop_table_bytes(const gpu_plan *plan)
{
    const sk_crop_form *f = &plan->crops.form;
    return f->rule == SK_CROP_LETTERBOX ? ((size_t)f->width + (size_t)f->height) * 12 : 0;
}

/* Where the boxes begin that are painted over. */
size_t gpu_crop_boxes_at(const gpu_plan *plan, int64_t n)
{
    const size_t each =
        plan->crops.form.rule == SK_CROP_LETTERBOX ? sizeof(gpu_box_crop) : sizeof(gpu_cut_crop);
    return (size_t)n * (each + gpu_crop_table_bytes(plan));
}

int32_t gpu_crop_most_boxes(const gpu_plan *plan)
{
    return (int32_t)gpu_shape(plan, plan->graph->inputs[0])->dim[0] * plan->crops.form.masks;
}

size_t gpu_crop_list_bytes(const gpu_plan *plan, int64_t n)
{
    return gpu_crop_boxes_at(plan, n) + (size_t)gpu_crop_most_boxes(plan) * sizeof(gpu_crop_box);
}

/* Letterboxed crops of one frame: each has its own place and tables, which come with every submit. */
sk_status gpu_add_box_crops(gpu_plan *plan, int32_t index, int32_t to, int32_t pitch, int32_t type,
                            sk_error *err)
{
    const sk_session_settings *s = &plan->settings;
    const sk_crop_wish *w = &plan->crops;
    const sk_shape *shape = gpu_shape(plan, plan->graph->inputs[index]);
    gpu_step *step;
    if (shape->dim[1] != 3 || shape->dim[2] != w->form.height || shape->dim[3] != w->form.width)
        return sk_fail(err, SK_ERR_ARG, "crops of %dx%d for an input of %lldx%lld", w->form.width,
                       w->form.height, (long long)shape->dim[3], (long long)shape->dim[2]);
    SK_TRY(gpu_add_step(plan, GPU_LETTERBOX, NULL, &step, err));
    gpu_letterbox_args *a = &step->args.letterbox;
    *a = (gpu_letterbox_args){.row_bytes = (int64_t)w->form.frame_width * w->channels,
                              .n = (int32_t)shape->dim[0],
                              .h = w->form.height,
                              .w = w->form.width,
                              .border = 114,
                              .frame_h = w->form.frame_height,
                              .frame_w = w->form.frame_width,
                              .channels = w->channels,
                              .swap = w->channels == 3 && (w->swap != 0) != (w->form.swap != 0),
                              .c = 3,
                              .ld = pitch,
                              .type = type,
                              .table_bytes = (int32_t)gpu_crop_table_bytes(plan),
                              .most_boxes = gpu_crop_most_boxes(plan)};
    for (int c = 0; c < 4; c++) {
        a->gain[c] = s->scale / s->std[c];
        a->shift[c] = s->mean[c] / s->std[c];
    }
    step->refs[0] = (gpu_ref){.buffer = to};
    step->refs[1] = (gpu_ref){.buffer = plan->inputs[index]};
    step->refs[2] = (gpu_ref){.buffer = plan->crop_places};
    step->n_refs = 3;
    snprintf(step->kernel, sizeof step->kernel, "letterbox crops");
    snprintf(step->shape, sizeof step->shape, "%dx%d -> %dx%d", a->frame_w, a->frame_h, a->w, a->h);
    return SK_OK;
}

/* --- sparse outputs --- */

static sk_status check_level(const gpu_plan *plan, int32_t output, const sk_shape *like, sk_error *err)
{
    const sk_graph *g = plan->graph;
    if (output < 0 || output >= g->n_outputs || !gpu_is_map(plan, g->outputs[output]))
        return sk_fail(err, SK_ERR_ARG, "output %d cannot be sparse: it is no map of the network", output);
    const sk_shape *s = gpu_shape(plan, g->outputs[output]);
    if (like && (s->dim[0] != like->dim[0] || s->dim[2] != like->dim[2] || s->dim[3] != like->dim[3]))
        return sk_fail(err, SK_ERR_ARG, "output %d differs in size from the scores it goes with", output);
    return SK_OK;
}

/* Words of a row; all levels share the widest. */
static sk_status measure_levels(gpu_plan *plan, sk_error *err)
{
    const sk_graph *g = plan->graph;
    gpu_sparse *sparse = &plan->sparse;
    int32_t widest = 0;
    for (int32_t k = 0; k < sparse->wish.n_levels; k++) {
        SK_TRY(check_level(plan, sparse->wish.level[k].scores, NULL, err));
        const sk_shape *s = gpu_shape(plan, g->outputs[sparse->wish.level[k].scores]);
        int32_t words = 1 + (int32_t)s->dim[1];
        if (sparse->wish.level[k].n_others < 0 || sparse->wish.level[k].n_others > 3)
            return sk_fail(err, SK_ERR_ARG, "level %d of the sparse outputs has %d other outputs", k,
                           sparse->wish.level[k].n_others);
        for (int32_t i = 0; i < sparse->wish.level[k].n_others; i++) {
            SK_TRY(check_level(plan, sparse->wish.level[k].others[i], s, err));
            words += (int32_t)gpu_shape(plan, g->outputs[sparse->wish.level[k].others[i]])->dim[1];
        }
        widest = words > widest ? words : widest;
        sparse->first[k] = sparse->places;
        sparse->places += (int32_t)(s->dim[2] * s->dim[3]);
        sparse->n = (int32_t)s->dim[0];
    }
    sparse->row_words = widest;
    sparse->image_words = (4 + (int64_t)sparse->places * widest + 63) / 64 * 64;
    return SK_OK;
}

static sk_status add_gather(gpu_plan *plan, int32_t level, sk_error *err)
{
    const sk_graph *g = plan->graph;
    const gpu_sparse *sparse = &plan->sparse;
    const sk_value scores = g->outputs[sparse->wish.level[level].scores];
    const sk_shape *s = gpu_shape(plan, scores);
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_GATHER, NULL, &step, err));
    gpu_gather_args *a = &step->args.gather;
    *a = (gpu_gather_args){.image_words = sparse->image_words,
                           .n = sparse->n,
                           .places = (int32_t)(s->dim[2] * s->dim[3]),
                           .first = sparse->first[level],
                           .classes = (int32_t)s->dim[1],
                           .n_others = sparse->wish.level[level].n_others,
                           .lds = gpu_map_pitch(plan, scores),
                           .row_words = sparse->row_words,
                           .capacity = sparse->places,
                           .type = plan->type,
                           .bound = sparse->wish.bound};
    /* rows of different levels never touch each other: as if they were channels of their own */
    step->refs[0] = (gpu_ref){.buffer = sparse->buffer, .from = level, .to = level + 1};
    step->refs[1] = gpu_map_ref(plan, scores);
    step->n_refs = 2 + a->n_others;
    for (int32_t i = 0; i < a->n_others; i++) {
        const sk_value v = g->outputs[sparse->wish.level[level].others[i]];
        a->ld[i] = gpu_map_pitch(plan, v);
        a->c[i] = (int32_t)gpu_shape(plan, v)->dim[1];
        step->refs[2 + i] = gpu_map_ref(plan, v);
    }
    snprintf(step->kernel, sizeof step->kernel, "gather");
    snprintf(step->shape, sizeof step->shape, "%d places", a->places);
    return SK_OK;
}

bool gpu_is_sparse(const gpu_plan *plan, int32_t output)
{
    for (int32_t k = 0; k < plan->sparse.wish.n_levels; k++) {
        if (plan->sparse.wish.level[k].scores == output)
            return true;
        for (int32_t i = 0; i < plan->sparse.wish.level[k].n_others; i++)
            if (plan->sparse.wish.level[k].others[i] == output)
                return true;
    }
    return false;
}

sk_status gpu_build_sparse(gpu_plan *plan, sk_error *err)
{
    gpu_sparse *sparse = &plan->sparse;
    gpu_step *step;
    plan->node_name = "places";
    SK_TRY(measure_levels(plan, err));
    SK_TRY(
        gpu_add_buffer(plan, (size_t)sparse->n * (size_t)sparse->image_words * 4, 0, &sparse->buffer, err));
    plan->buffers[sparse->buffer].per_slot = 1;
    SK_TRY(gpu_add_step(plan, GPU_ZERO, NULL, &step, err));
    step->args.zero = (gpu_zero_args){.image_words = sparse->image_words, .n = sparse->n};
    step->refs[0] = (gpu_ref){.buffer = sparse->buffer};
    step->n_refs = 1;
    snprintf(step->kernel, sizeof step->kernel, "zero counts");
    for (int32_t k = 0; k < sparse->wish.n_levels; k++)
        SK_TRY(add_gather(plan, k, err));
    return SK_OK;
}
