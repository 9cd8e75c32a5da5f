/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/offload.h"

#include "tasks/nms.h"
#include "tasks/yolo_formula.h"

#include <math.h>

bool sk_offload_fit(const sk_letterbox_geometry *g, const sk_frame *like, sk_frame_fit *out)
{
    const sk_pixel_format format = like->format;
    if (format != SK_PIXEL_RGB && format != SK_PIXEL_BGR && format != SK_PIXEL_GRAY &&
        format != SK_PIXEL_NV12)
        return false;
    *out = (sk_frame_fit){.frame_width = g->frame_width,
                          .frame_height = g->frame_height,
                          .channels = format == SK_PIXEL_GRAY ? 1 : 3,
                          .swap = format == SK_PIXEL_BGR,
                          .nv12 = format == SK_PIXEL_NV12,
                          .resized_width = g->resized_width,
                          .resized_height = g->resized_height,
                          .left = g->left,
                          .top = g->top,
                          .border = 114};
    if (out->nv12) {
        out->matrix = (int32_t)like->matrix;
        out->full_range = like->full_range != 0;
    }
    return true;
}

bool sk_offload_fit_sleap(const sk_sleap_geometry *g, int legacy, sk_sleap_grey grey, const sk_frame *like,
                          sk_frame_fit *out)
{
    const sk_pixel_format format = like->format;
    const bool nv12 = format == SK_PIXEL_NV12;
    if (format != SK_PIXEL_RGB && format != SK_PIXEL_BGR && format != SK_PIXEL_GRAY && !nv12)
        return false;
    *out = (sk_frame_fit){.frame_width = g->frame_width,
                          .frame_height = g->frame_height,
                          .channels = format == SK_PIXEL_GRAY ? 1 : 3,
                          .swap = format == SK_PIXEL_BGR,
                          .nv12 = nv12,
                          .matrix = nv12 ? (int32_t)like->matrix : 0,
                          .full_range = nv12 && like->full_range != 0,
                          .resized_width = g->scaled_width,
                          .resized_height = g->scaled_height,
                          .rule = legacy ? SK_FIT_SLEAP_OLD : SK_FIT_SLEAP,
                          .fitted_width = g->fitted_width,
                          .fitted_height = g->fitted_height,
                          .sized_width = g->sized_width,
                          .sized_height = g->sized_height,
                          .scales = g->input_scale != 1,
                          .grey = (int32_t)grey};
    return true;
}

static sk_pixel_format exchanged(sk_pixel_format format)
{
    return format == SK_PIXEL_RGB ? SK_PIXEL_BGR : format == SK_PIXEL_BGR ? SK_PIXEL_RGB : format;
}

bool sk_offload_fit_stage(const sk_task_fit *way, const sk_frame *like, sk_frame_fit *out)
{
    if (way->rule == SK_TASK_FIT_SLEAP)
        return sk_offload_fit_sleap(&way->sizes, way->legacy, way->grey, like, out);
    sk_frame seen = *like;
    if (way->bgr)
        seen.format = exchanged(like->format);
    if (!sk_offload_fit(&way->box, &seen, out))
        return false;
    if (out->nv12) /* which comes out as R, G, B */
        out->swap = way->bgr;
    return true;
}

bool sk_offload_sparse(const sk_model *model, float confidence, sk_sparse_outputs *out)
{
    const sk_yolo_spec *spec = &model->yolo;
    *out = (sk_sparse_outputs){.n_levels = spec->n_levels};
    if (spec->n_heads < 1 || spec->n_levels < 1 || spec->n_levels > SK_SPARSE_LEVELS ||
        !(confidence > 0.001f) || confidence >= 1)
        return false;
    for (int32_t k = 0; k < spec->n_levels; k++)
        out->level[k].scores = -1;
    for (int32_t i = 0; i < spec->n_heads; i++) {
        const sk_head_spec *head = &spec->heads[i];
        if (head->kind == SK_HEAD_PROTO)
            continue;
        if (head->level < 0 || head->level >= spec->n_levels)
            return false;
        if (head->kind == SK_HEAD_CLASS) {
            out->level[head->level].scores = i;
        } else {
            int32_t *n = &out->level[head->level].n_others;
            if (*n == 3)
                return false;
            out->level[head->level].others[(*n)++] = i;
        }
    }
    for (int32_t k = 0; k < spec->n_levels; k++)
        if (out->level[k].scores < 0)
            return false;
    /* just below the logit of the confidence; the exact test is the decoder's */
    out->bound = sk_yolo_logit_below(confidence, 1e-3);
    return true;
}

static bool take_classes(const sk_yolo_settings *settings, const sk_yolo_spec *spec, sk_found_outputs *out)
{
    out->filter = settings->classes != NULL;
    if (out->filter && spec->n_classes > SK_FOUND_MOST_CLASSES)
        return false;
    for (int32_t i = 0; out->filter && i < settings->n_classes; i++) {
        const int32_t c = settings->classes[i];
        if (c < 0 || c >= spec->n_classes)
            return false;
        out->wanted[c / 32] |= (uint32_t)1 << (c % 32);
    }
    return true;
}

bool sk_offload_found(const sk_model *model, const sk_yolo_settings *settings, sk_found_outputs *out)
{
    const sk_yolo_spec *spec = &model->yolo;
    const sk_task task = model->task;
    *out = (sk_found_outputs){.n_levels = spec->n_levels,
                              .reg_max = spec->reg_max,
                              .oriented = task == SK_TASK_OBB,
                              .angle_raw = spec->angle_raw,
                              .keypoint_dims = spec->keypoint_dims,
                              .keypoints_26 = spec->keypoints_26,
                              .confidence = settings->confidence,
                              .max_det = settings->max_det};
    if ((task != SK_TASK_DETECT && task != SK_TASK_POSE && task != SK_TASK_OBB) || spec->nms_tail ||
        spec->n_heads < 1 || spec->n_levels < 1 || spec->n_levels > SK_FOUND_MOST_LEVELS ||
        !take_classes(settings, spec, out))
        return false;
    sk_nms_rules(settings->iou, out->oriented, settings->agnostic, &out->iou, &out->reach, &out->offset,
                 &out->most);
    if (out->max_det > out->most) /* no more take part */
        out->max_det = out->most;
    if (spec->end2end) { /* as many as the model ranks; the settings' own limit comes after */
        out->one_to_one = spec->n_classes;
        out->most = out->max_det = spec->max_det > 0 ? spec->max_det : 300;
        if (out->max_det > SK_FOUND_MOST_PAIRS / spec->n_classes)
            return false;
    }
    out->n_keypoints = task == SK_TASK_POSE ? spec->n_keypoints : 0;
    for (int32_t k = 0; k < spec->n_levels; k++) {
        out->level[k].scores = out->level[k].box = out->level[k].extra = -1;
        out->level[k].stride = spec->stride[k];
    }
    for (int32_t i = 0; i < spec->n_heads; i++) {
        const sk_head_spec *head = &spec->heads[i];
        if (head->level < 0 || head->level >= spec->n_levels)
            return false;
        if (head->kind == SK_HEAD_CLASS)
            out->level[head->level].scores = i;
        else if (head->kind == SK_HEAD_BOX)
            out->level[head->level].box = i;
        else
            out->level[head->level].extra = i;
    }
    for (int32_t k = 0; k < spec->n_levels; k++)
        if (out->level[k].scores < 0 || out->level[k].box < 0 ||
            (out->level[k].extra < 0) != (task == SK_TASK_DETECT))
            return false;
    return true;
}

sk_status sk_offload_strips(const sk_frame_fit *fit, sk_row_strips *out, sk_error *err)
{
    *out = (sk_row_strips){0};
    if (fit->rule != SK_FIT_LETTERBOX || fit->whole)
        return SK_OK;
    return sk_row_strips_find(fit->frame_width, fit->frame_height, fit->resized_width, fit->resized_height,
                              out, err);
}

bool sk_offload_crops(const sk_crop_form *form, const sk_frame *like, sk_crop_wish *out)
{
    if (!form ||
        (like->format != SK_PIXEL_RGB && like->format != SK_PIXEL_BGR && like->format != SK_PIXEL_GRAY))
        return false;
    *out = (sk_crop_wish){.form = *form,
                          .channels = like->format == SK_PIXEL_GRAY ? 1 : 3,
                          .swap = like->format == SK_PIXEL_BGR};
    return true;
}
