/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_STAGE_INTERNAL_H
#define SK_TASKS_STAGE_INTERNAL_H

#include "tasks/classify.h"
#include "tasks/stage.h"

/* Shared by stage_open.c (opening and closing), stage.c (whole frames) and stage_crops.c (second models). */

enum { SK_STAGE_MAPS = 32 };

/* What one crop of the frame in hand is about. */
typedef struct sk_task_crop {
    sk_found found;             /* what the first model said */
    sk_sleap_centroid centroid; /* SLEAP: sized pixels */
} sk_task_crop;

struct sk_task_stage {
    const sk_model *model;
    sk_task_settings settings;
    sk_task_plan plan;
    int32_t frame_width, frame_height;
    sk_task first_task; /* of the model before this one; SK_TASK_UNKNOWN for first models */
    /* YOLO */
    sk_letterbox_geometry box_geometry;
    sk_letterbox *box;
    sk_pixel_format box_format;
    sk_yolo_post *yolo;
    uint8_t *picture;      /* [height][width][3], on the way to float */
    sk_instances inner;    /* YOLO on crops: what one crop shows */
    sk_classify *classify; /* networks that say what the whole frame shows */
    /* SLEAP */
    sk_sleap_geometry geometry;
    sk_sleap_pre *pre;
    sk_sleap_post *sleap;
    sk_sleap_crop *cropper;
    /* crops */
    sk_crop_form crop_form;
    sk_task_crop *crops;
    sk_crop *places; /* where they lie */
    int32_t n_crops, next_crop;
    const sk_frame *frame;
};

/* For errors. */
const char *sk_stage_model_name(const sk_model *model);
/* Letterboxes a frame or a part of one into the form asked for. */
sk_status sk_stage_yolo_input(sk_task_stage *s, const sk_frame *frame, const sk_letterbox_geometry *geometry,
                              sk_task_input form, void *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_stage_yolo_result(sk_task_stage *s, const sk_tensor *outputs, int32_t n_outputs, int32_t image,
                               int tail_cut, const sk_letterbox_geometry *geometry, sk_instances *out,
                               sk_error *err) SK_MUST_CHECK;
/* Takes the table of peaks, where there is one, off the end of the outputs. */
sk_status sk_stage_sleap_maps(const sk_task_stage *s, const sk_tensor *outputs, int32_t *n_outputs,
                              int32_t image, sk_map maps[SK_STAGE_MAPS], const sk_peak_word **table,
                              sk_error *err) SK_MUST_CHECK;

#endif
