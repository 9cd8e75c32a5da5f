/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_STAGE_H
#define SK_TASKS_STAGE_H

#include "tasks/detector_settings.h"
#include "tasks/crops.h"
#include "tasks/letterbox.h"
#include "tasks/sleap_post.h"
#include "tasks/yolo_post.h"

#include <stdbool.h>

/* What surrounds a model's network: how a frame becomes its input and how its outputs become instances. The caller owns the
 * network: it opens an engine for the plan's input size and drives, for whole frames,
 *
 *     sk_task_stage_input -> [network] -> sk_task_stage_result
 *
 * and for a second model, from the first one's instances,
 *
 *     sk_task_stage_crops -> for every crop: sk_task_stage_crop_input -> [network] -> sk_task_stage_crop_result
 *                         -> sk_task_stage_crops_end
 *
 * A first model is any that takes whole frames, or none at all: what is found comes with the frames (sk_model_of_given). A second one takes crops: a SLEAP centred-instance model after a SLEAP
 * centroid model or a YOLO model, or a YOLO pose model after a YOLO model. What a family of models does of this is one table
 * of functions (tasks/family.h). A stage belongs to one thread at a time and, once open, allocates nothing. */

#define SK_MOST_CROPS 1024 /* that max_crops may be, and that boxes which are given may make */

typedef struct sk_task_settings {
    uint32_t size;           /* sizeof, for growth */
    sk_yolo_settings yolo;   /* thresholds of YOLO models */
    sk_sleap_settings sleap; /* and of SLEAP models */
    sk_sleap_options keep;   /* which of their poses are kept (tasks/instance_filter.h) */
    /* YOLO input size, raised to a multiple of the stride; 0 = the model's own. */
    int32_t net_height, net_width;
    /* 1 (default): YOLO inputs only as large as the frame's shape needs; 0: the full square. Models of one size and models
     * on crops are given that size. */
    int32_t rect;
    int32_t crop_size; /* SLEAP models on crops that name no size: this; 0 = such a model is refused */
    float crop_margin; /* YOLO models on crops: the box grows by this part of its size on each side; 0.1 */
    int32_t max_crops; /* most crops a frame; default 256 */
    /* Oriented boxes: crops lie along them; default off. Auto: for models that look at boxes, and not for SLEAP's centred-instance
     * ones, which learn from upright crops. */
    sk_choice crop_turned;
    /* Other animals' boxes are black in a crop, but where they lie over its own; default off. Auto: those that are oriented. */
    sk_choice mask_neighbours;
} sk_task_settings;

sk_task_settings sk_task_settings_defaults(void);
/* What a detector's settings mean for the stages; `classes` stays the caller's. */
sk_task_settings sk_task_settings_of(const sk_detector_settings *settings);

/* How an input is handed to the network. */
typedef enum sk_task_input {
    SK_TASK_INPUT_F32 = 1, /* [channels][height][width], after scale, mean and std */
    SK_TASK_INPUT_U8 = 2   /* [height][width][channels], before them */
} sk_task_input;

typedef struct sk_task_plan {
    int32_t takes_crops;             /* 1: a second model */
    int32_t width, height, channels; /* network input */
    int32_t u8;                      /* 1: SK_TASK_INPUT_U8 is possible */
    float scale, mean[3], std[3];  /* value = (u8 * scale - mean) / std, for networks given 8-bit pictures */
    int32_t i420;                  /* 1: takes frames as video has them, SK_PIXEL_I420 */
    int32_t cut_tail;              /* 1: run the network without its decode tail: less work, same results */
    int32_t capacity, n_keypoints; /* what the result list must hold */
    char steps[256];               /* for people: "letterbox 1920x1080 -> 640x360 in 640x640, 8-bit" */
} sk_task_plan;

typedef struct sk_task_stage sk_task_stage;
typedef struct sk_family sk_family; /* tasks/family.h */

/* A first model, for frames of one size. The model must outlive the stage. */
sk_status sk_task_stage_open(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                             int32_t frame_height, sk_task_stage **out, sk_error *err) SK_MUST_CHECK;
/* A second model on what `first` finds. SK_ERR_UNSUPPORTED names the pairs that are possible. */
sk_status sk_task_stage_open_second(const sk_model *model, const sk_task_stage *first,
                                    const sk_task_settings *settings, sk_task_stage **out,
                                    sk_error *err) SK_MUST_CHECK;
void sk_task_stage_close(sk_task_stage **stage);
const sk_task_plan *sk_task_stage_plan(const sk_task_stage *stage);

/* Has it no network, because what it finds is handed in with the frames? */
bool sk_task_is_given(const sk_model *model);

/* What a YOLO model's input is for frames of this size. False: other models, or a size that is refused. */
bool sk_task_input_size(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                        int32_t frame_height, int32_t *width, int32_t *height);

/* Frames of a video that are wider or higher than this reach the model quickest as I420: it looks at few of their
 * pixels. False: it takes none. */
bool sk_task_i420_above(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                        int32_t *height);

/* How a frame gets into the network's input, when nothing else is done to it: for engines that do it themselves. */
typedef enum sk_task_fit_rule { SK_TASK_FIT_LETTERBOX = 1, SK_TASK_FIT_SLEAP = 2 } sk_task_fit_rule;

typedef struct sk_task_fit {
    sk_task_fit_rule rule;
    sk_letterbox_geometry box; /* letterbox: where it lands … */
    bool bgr;                  /* … and whether the network wants B, G, R */
    sk_sleap_geometry sizes;   /* SLEAP: sizes on the way (tasks/sleap_pre.h) … */
    int32_t legacy;            /* … the era … */
    sk_sleap_grey grey;        /* … and when colours become grey */
} sk_task_fit;
/* False: it takes more than that. */
bool sk_task_stage_fit(const sk_task_stage *stage, sk_task_fit *out);

/* The rules by which places become detections, for engines that choose among them. Null: not for this model. */
const sk_yolo_settings *sk_task_stage_found_rules(const sk_task_stage *stage);

/* What an engine that finds peaks itself should look for: SLEAP models. Its table is then one more output after the
 * network's, i32 [batch][words]. False: not for this model. */
bool sk_task_stage_peaks(const sk_task_stage *stage, sk_peak_wish *out);
/* Was the table of this image's peaks too short, and came the maps instead? */
bool sk_task_outputs_whole(const sk_tensor *outputs, int32_t n_outputs, int32_t image);

/* The network's input for a frame; `out` holds width * height * channels values of the form asked for. */
sk_status sk_task_stage_input(sk_task_stage *stage, const sk_frame *frame, sk_task_input form, void *out,
                              sk_error *err) SK_MUST_CHECK;
/* Instances from the network's outputs, image `image` of the batch. Only YOLO models have other forms than whole outputs. */
sk_status sk_task_stage_result(sk_task_stage *stage, const sk_tensor *outputs, int32_t n_outputs,
                               int32_t image, sk_outputs_form form, sk_instances *out,
                               sk_error *err) SK_MUST_CHECK;

/* Second models: how their crops are cut; for engines that do it where the frame lies. Null: a first model. */
const sk_crop_form *sk_task_stage_crop_form(const sk_task_stage *stage);
/* Where a frame's crops lie, from the first model's instances; empties `out`. The list is the stage's, until the next
 * frame's. No pixel is looked at. */
sk_status sk_task_stage_find_crops(sk_task_stage *stage, const sk_instances *found, sk_instances *out,
                                   sk_crop_list *list, sk_error *err) SK_MUST_CHECK;
/* For crops that are cut here, by sk_task_stage_crop_input: takes the frame, which must stay until
 * sk_task_stage_crops_end. */
sk_status sk_task_stage_cut_from(sk_task_stage *stage, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;
/* Both of these; says how many crops there are. */
sk_status sk_task_stage_crops(sk_task_stage *stage, const sk_frame *frame, const sk_instances *found,
                              sk_instances *out, int32_t *n_crops, sk_error *err) SK_MUST_CHECK;
sk_status sk_task_stage_crop_input(sk_task_stage *stage, int32_t crop, sk_task_input form, void *out,
                                   sk_error *err) SK_MUST_CHECK;
/* Once for every crop, in order. */
sk_status sk_task_stage_crop_result(sk_task_stage *stage, int32_t crop, const sk_tensor *outputs,
                                    int32_t n_outputs, int32_t image, sk_outputs_form form, sk_instances *out,
                                    sk_error *err) SK_MUST_CHECK;
/* Settles what needs all crops of the frame: identities, instances without keypoints. */
sk_status sk_task_stage_crops_end(sk_task_stage *stage, sk_instances *out, sk_error *err) SK_MUST_CHECK;

/* Drops instances that the settings do not keep; for the last model's, once a frame. */
void sk_task_stage_keep(const sk_task_stage *stage, sk_instances *instances);

#endif
