/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "kernels/nv12.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_float.h"
#include "tasks/sleap_pre.h"

#include <stdio.h>
#include <string.h>

/* SLEAP's frames fitted in on the device, by the steps of tasks/sleap_pre.c: colours, size matching, input scaling, zeros on
 * the right and below. A step that would change nothing is left out. */

/* The picture on its way. */
typedef struct picture {
    gpu_plan *plan;
    int32_t n, buffer, h, w, c;
} picture;

static const char *const names[] = {"clear flags", "grey?",      "colours",     "across", "down",    "place",
                                    "mix",         "mix planes", "grey planes", "cut",    "cut mix", "nv12"};

/* A step from the picture as it is to one of `args`; n_refs of them are tables. */
static sk_status add_step(picture *p, gpu_sleap_args args, const gpu_ref *tables, int n_tables, sk_error *err)
{
    gpu_step *step;
    int32_t to;
    const bool planes = args.what == GPU_SLEAP_MIX_PLANES || args.what == GPU_SLEAP_GREY_PLANES;
    const size_t bytes =
        (size_t)p->n * (size_t)args.out_h * (size_t)args.out_w * (size_t)args.c * (planes ? 4 : 1);
    args.n = p->n;
    args.in_h = p->h;
    args.in_w = p->w;
    args.in_c = p->c;
    SK_TRY(gpu_add_buffer(p->plan, bytes, 0, &to, err));
    SK_TRY(gpu_add_step(p->plan, GPU_SLEAP, NULL, &step, err));
    step->args.sleap = args;
    step->refs[0] = (gpu_ref){.buffer = to};
    step->refs[1] = (gpu_ref){.buffer = p->buffer};
    for (int i = 0; i < n_tables; i++)
        step->refs[2 + i] = tables[i];
    step->n_refs = 2 + n_tables;
    snprintf(step->kernel, sizeof step->kernel, "%s", names[args.what]);
    snprintf(step->shape, sizeof step->shape, "%dx%dx%d -> %dx%d", p->c, p->h, p->w, args.out_h, args.out_w);
    p->buffer = to;
    p->h = args.out_h;
    p->w = args.out_w;
    p->c = args.c;
    return SK_OK;
}

/* Which frames of three channels have colours: those that are all grey keep their values. */
static sk_status add_flags(picture *p, gpu_ref *flags, sk_error *err)
{
    gpu_step *step;
    *flags = (gpu_ref){.buffer = GPU_NO_BUFFER};
    if (p->c == 1)
        return SK_OK;
    SK_TRY(gpu_add_buffer(p->plan, (size_t)p->n * 4, 0, &flags->buffer, err));
    for (int what = GPU_SLEAP_CLEAR; what <= GPU_SLEAP_GREY_FLAG; what++) {
        SK_TRY(gpu_add_step(p->plan, GPU_SLEAP, NULL, &step, err));
        step->args.sleap =
            (gpu_sleap_args){.what = what, .n = p->n, .in_h = p->h, .in_w = p->w, .in_c = p->c};
        step->refs[0] = *flags;
        step->refs[1] = (gpu_ref){.buffer = what == GPU_SLEAP_CLEAR ? GPU_NO_BUFFER : p->buffer};
        step->n_refs = 2;
        snprintf(step->kernel, sizeof step->kernel, "%s", names[what]);
    }
    return SK_OK;
}

/* To this many channels, in bytes. */
static sk_status add_colours(picture *p, const sk_frame_fit *fit, int32_t channels, sk_error *err)
{
    gpu_ref flags = {.buffer = GPU_NO_BUFFER};
    if (p->c == channels && !(channels == 3 && fit->swap))
        return SK_OK;
    if (channels == 1)
        SK_TRY(add_flags(p, &flags, err));
    const gpu_sleap_args a = {.what = GPU_SLEAP_COLOURS,
                              .out_h = p->h,
                              .out_w = p->w,
                              .h = p->h,
                              .w = p->w,
                              .c = channels,
                              .swap = fit->swap,
                              .old = fit->rule == SK_FIT_SLEAP_OLD};
    return add_step(p, a, &flags, 1, err);
}

/* Video as it comes from a decoder: red, green and blue first, as kernels/nv12.h makes them. */
static sk_status add_video(picture *p, const sk_frame_fit *fit, sk_error *err)
{
    if (!fit->nv12)
        return SK_OK;
    const gpu_sleap_args a = {.what = GPU_SLEAP_NV12,
                              .out_h = p->h,
                              .out_w = p->w,
                              .h = p->h,
                              .w = p->w,
                              .c = 3,
                              .weights = sk_nv12_weights_of((sk_colour_matrix)fit->matrix, fit->full_range)};
    return add_step(p, a, NULL, 0, err);
}

/* At the end: one plane of greys in fractions. */
static sk_status add_grey_plane(picture *p, const sk_frame_fit *fit, const gpu_ref *flags, bool one_flag,
                                sk_error *err)
{
    const gpu_sleap_args a = {.what = GPU_SLEAP_GREY_PLANES,
                              .out_h = p->h,
                              .out_w = p->w,
                              .h = p->h,
                              .w = p->w,
                              .c = 1,
                              .swap = fit->swap,
                              .one_flag = one_flag};
    return add_step(p, a, flags, 1, err);
}

static sk_status add_axis(gpu_plan *plan, const sk_antialias_axis *axis, gpu_ref tables[2], sk_error *err)
{
    void *data;
    const size_t to = (size_t)axis->to, weights = to * (size_t)axis->taps * sizeof *axis->weights;
    SK_TRY(gpu_add_weights(plan, to * 2 * sizeof(int32_t), &data, &tables[0], err));
    for (size_t i = 0; i < to; i++) {
        ((int32_t *)data)[2 * i] = axis->first[i];
        ((int32_t *)data)[2 * i + 1] = axis->count[i];
    }
    SK_TRY(gpu_add_weights(plan, weights, &data, &tables[1], err));
    memcpy(data, axis->weights, weights);
    return SK_OK;
}

/* One direction of the antialiased resize; nothing where the size stays, unless there is something to put around it. */
static sk_status add_antialias(picture *p, int down, int32_t h, int32_t w, int32_t out_h, int32_t out_w,
                               sk_error *err)
{
    sk_antialias_axis axis = {0};
    gpu_ref tables[2];
    sk_status status;
    gpu_sleap_args a = {.what = down ? GPU_SLEAP_DOWN : GPU_SLEAP_ACROSS,
                        .out_h = out_h,
                        .out_w = out_w,
                        .h = h,
                        .w = w,
                        .c = p->c};
    if (down ? p->h == h : p->w == w) {
        if (out_h == p->h && out_w == p->w)
            return SK_OK;
        a.what = GPU_SLEAP_PLACE;
        return add_step(p, a, NULL, 0, err);
    }
    SK_TRY_GOTO(sk_antialias_axis_open(&axis, down ? p->h : p->w, down ? h : w, err));
    SK_TRY_GOTO(add_axis(p->plan, &axis, tables, err));
    a.taps = axis.taps;
    a.bits = axis.bits;
    status = add_step(p, a, tables, 2, err);
done:
    sk_antialias_axis_close(&axis);
    return status;
}

static sk_status add_places(gpu_plan *plan, int32_t from, int32_t to, gpu_ref tables[2], sk_error *err)
{
    const size_t n = (size_t)to;
    void *data;
    int32_t(*places)[2] = sk_calloc(n, sizeof *places);
    float *part = sk_calloc(n, sizeof *part);
    sk_status status;
    if (!places || !part) {
        status = sk_fail_memory(err, n * sizeof *places);
        goto done;
    }
    sk_resize_float_taps(from, to, places, part);
    SK_TRY_GOTO(gpu_add_weights(plan, n * sizeof *places, &data, &tables[0], err));
    memcpy(data, places, n * sizeof *places);
    SK_TRY_GOTO(gpu_add_weights(plan, n * sizeof *part, &data, &tables[1], err));
    memcpy(data, part, n * sizeof *part);
done:
    sk_free(places);
    sk_free(part);
    return status;
}

/* To h x w inside out_h x out_w, by the rule of the era. */
static sk_status add_resize(picture *p, const sk_frame_fit *fit, int32_t h, int32_t w, int32_t out_h,
                            int32_t out_w, bool planes, sk_error *err)
{
    gpu_ref tables[4];
    if (fit->rule == SK_FIT_SLEAP) {
        SK_TRY(add_antialias(p, 0, p->h, w, p->h, w, err));
        return add_antialias(p, 1, h, w, out_h, out_w, err);
    }
    SK_TRY(add_places(p->plan, p->w, w, &tables[0], err));
    SK_TRY(add_places(p->plan, p->h, h, &tables[2], err));
    const gpu_sleap_args a = {.what = planes ? GPU_SLEAP_MIX_PLANES : GPU_SLEAP_MIX,
                              .out_h = out_h,
                              .out_w = out_w,
                              .h = h,
                              .w = w,
                              .c = p->c};
    return add_step(p, a, tables, 4, err);
}

static sk_status add_border(picture *p, int32_t out_h, int32_t out_w, sk_error *err)
{
    if (out_h == p->h && out_w == p->w)
        return SK_OK;
    const gpu_sleap_args a = {
        .what = GPU_SLEAP_PLACE, .out_h = out_h, .out_w = out_w, .h = p->h, .w = p->w, .c = p->c};
    return add_step(p, a, NULL, 0, err);
}

sk_status gpu_add_sleap_input(gpu_plan *plan, int32_t index, int32_t *buffer, bool *planes, sk_error *err)
{
    const sk_frame_fit *f = &plan->fit;
    const sk_shape *shape = gpu_shape(plan, plan->graph->inputs[index]);
    const int32_t height = (int32_t)shape->dim[2], width = (int32_t)shape->dim[3];
    picture p = {plan,       (int32_t)shape->dim[0], plan->inputs[index], f->frame_height, f->frame_width,
                 f->channels};
    if (f->resized_width > width || f->resized_height > height ||
        (shape->dim[1] != 1 && shape->dim[1] != 3) ||
        (!f->scales && (f->sized_width != f->resized_width || f->sized_height != f->resized_height)))
        return sk_fail(err, SK_ERR_ARG, "a picture of %dx%d does not fit an input of %dx%d", f->resized_width,
                       f->resized_height, width, height);
    const bool late = f->grey == SK_SLEAP_GREY_LAST && shape->dim[1] == 1;
    gpu_ref flags;
    *planes = f->rule == SK_FIT_SLEAP_OLD && f->scales;
    SK_TRY(add_video(&p, f, err));
    if (late)
        SK_TRY(add_flags(&p, &flags, err));
    else if (f->grey == SK_SLEAP_GREY_SPREAD)
        SK_TRY(add_colours(&p, f, 1, err));
    if (!late)
        SK_TRY(add_colours(&p, f, (int32_t)shape->dim[1], err));
    if (f->fitted_width != f->frame_width || f->fitted_height != f->frame_height)
        SK_TRY(add_resize(&p, f, f->fitted_height, f->fitted_width, f->sized_height, f->sized_width, false,
                          err));
    else
        SK_TRY(add_border(&p, f->sized_height, f->sized_width, err));
    if (f->scales)
        SK_TRY(add_resize(&p, f, f->resized_height, f->resized_width, height, width, *planes, err));
    else
        SK_TRY(add_border(&p, height, width, err));
    if (late) {
        SK_TRY(add_grey_plane(&p, f, &flags, false, err));
        *planes = true;
    }
    *buffer = p.buffer;
    return SK_OK;
}

/* The frame as the crops' reference sizes it, and for the old era scales it: one picture for all crops. */
static sk_status size_for_crops(picture *p, const sk_crop_form *f, const sk_frame_fit *colours, bool late,
                                sk_error *err)
{
    if (!late && f->grey == SK_SLEAP_GREY_SPREAD)
        SK_TRY(add_colours(p, colours, 1, err));
    if (!late)
        SK_TRY(add_colours(p, colours, f->channels, err));
    if (f->fitted_width != f->frame_width || f->fitted_height != f->frame_height)
        SK_TRY(add_resize(p, colours, f->fitted_height, f->fitted_width, f->sized_height, f->sized_width,
                          false, err));
    else
        SK_TRY(add_border(p, f->sized_height, f->sized_width, err));
    if (f->rule != SK_CROP_MIXED || f->input_scale == 1)
        return SK_OK;
    const sk_frame_fit old = {.rule = SK_FIT_SLEAP_OLD};
    const int32_t w = (int32_t)((float)f->sized_width * f->input_scale),
                  h = (int32_t)((float)f->sized_height * f->input_scale);
    if (w < 1 || h < 1)
        return sk_fail(err, SK_ERR_ARG, "a picture of %dx%d scaled by %g is empty", f->sized_width,
                       f->sized_height, (double)f->input_scale);
    return add_resize(p, &old, h, w, h, w, false, err);
}

sk_status gpu_add_sleap_crops(gpu_plan *plan, int32_t index, int32_t *buffer, bool *planes, sk_error *err)
{
    const sk_crop_form *f = &plan->crops.form;
    const sk_shape *shape = gpu_shape(plan, plan->graph->inputs[index]);
    const sk_frame_fit colours = {.swap = plan->crops.swap,
                                  .rule = f->old_sizing ? SK_FIT_SLEAP_OLD : SK_FIT_SLEAP};
    picture p = {plan, 1, plan->inputs[index], f->frame_height, f->frame_width, plan->crops.channels};
    const bool late = f->grey == SK_SLEAP_GREY_LAST && f->channels == 1;
    gpu_ref flags;
    if (shape->dim[1] != f->channels || shape->dim[2] != f->height || shape->dim[3] != f->width)
        return sk_fail(err, SK_ERR_ARG, "crops of %dx%dx%d for an input of %lldx%lldx%lld", f->channels,
                       f->height, f->width, (long long)shape->dim[1], (long long)shape->dim[2],
                       (long long)shape->dim[3]);
    if (late)
        SK_TRY(add_flags(&p, &flags, err));
    SK_TRY(size_for_crops(&p, f, &colours, late, err));
    const gpu_ref places = {.buffer = plan->crop_places};
    const gpu_sleap_args cut = {.what = f->rule == SK_CROP_MIXED ? GPU_SLEAP_CUT_MIX : GPU_SLEAP_CUT,
                                .out_h = f->crop_height,
                                .out_w = f->crop_width,
                                .h = f->crop_height,
                                .w = f->crop_width,
                                .c = p.c,
                                .most_boxes = gpu_crop_most_boxes(plan)};
    p.n = (int32_t)shape->dim[0];
    SK_TRY(add_step(&p, cut, &places, 1, err));
    const sk_frame_fit scaled = {.rule = SK_FIT_SLEAP};
    if (f->rule == SK_CROP_PIXELS && f->input_scale != 1)
        SK_TRY(add_resize(&p, &scaled, f->scaled_height, f->scaled_width, f->height, f->width, false, err));
    else
        SK_TRY(add_border(&p, f->height, f->width, err));
    if (late)
        SK_TRY(add_grey_plane(&p, &colours, &flags, true, err));
    *planes = late;
    *buffer = p.buffer;
    return SK_OK;
}
