/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_FAMILY_H
#define SK_TASKS_FAMILY_H

#include "tasks/plain_frame.h"
#include "tasks/arrange.h"
#include "tasks/stage.h"
#include "tasks/turned.h"

/* A family of models: everything about them that surrounds the network, as one table of functions. There is one file a
 * family, <name>_family.c; who needs to know YOLO from SLEAP asks the table. docs/add_a_head.md shows how a task is added. */

/* What a model's instances have that a second model may need. */
#define SK_GIVES_MIDDLES 1u
#define SK_GIVES_BOXES   2u

/* What a model can be, alone or as one of two. */
typedef struct sk_task_role {
    bool finds;        /* its results lie somewhere in the frame */
    bool whole_frames; /* it takes whole frames; false: only crops */
    uint32_t gives;    /* as the first of two: SK_GIVES_… */
    uint32_t needs;    /* as the second: what the first must give; 0: it cannot be the second */
    bool oriented;     /* as the first: its boxes lie turned */
    bool centred;      /* as the second: it learns from upright crops around a middle */
    bool given;        /* it has no network: what it finds comes with the frames */
} sk_task_role;

/* A network's outputs for one image of its batch. */
typedef struct sk_task_outputs {
    const sk_tensor *tensors;
    int32_t count, image;
    sk_outputs_form form;
} sk_task_outputs;

/* What one crop of the frame in hand is about. */
typedef struct sk_task_crop {
    sk_found found; /* what the first model said … */
    int32_t box;    /* … and its box's number among the frame's (masks) */
    float x, y;     /* its middle in the frame, pixel centres at integers; for families that asked for it */
} sk_task_crop;

/* A stage, as far as families see it. */
struct sk_task_stage {
    const sk_family *family;
    const sk_model *model;
    sk_task_settings settings;
    sk_task_plan plan; /* filled by the family's open */
    int32_t frame_width, frame_height;
    void *own; /* the family's */
    /* Second models: */
    const sk_family *finder; /* of the model before this one; null: a first model */
    sk_crop_form crop_form;  /* begun by the family's open, completed from the plan */
    sk_task_crop *crops;
    sk_crop *places;             /* where they lie */
    bool turns, masks;           /* crops lie along oriented boxes; neighbours are painted over */
    float mask_scale;            /* pixels of the sized picture per pixel of the frame */
    sk_crop_mask *crop_masks;    /* masks: of each crop */
    sk_turned_box *boxes;        /* … from everything found in the frame … */
    int32_t n_boxes, most_boxes; /* … and room for them */
    int32_t n_crops, next_crop;
    const sk_frame *frame; /* that crops are cut from */
    sk_plain_frame plain;  /* of frames in formats that no family reads as they are */
};

struct sk_family {
    const char *name; /* for people */

    /* Models. */
    sk_task_role (*role)(const sk_model *model);
    /* Adds what this model says of the results; called for the first model and then for the second. */
    void (*describe)(const sk_model *model, sk_task_description *description);
    const char *(*keypoint_name)(const sk_model *model, int32_t index); /* "": it has none */
    sk_heads (*heads)(const sk_model *model); /* null: there is no choice of heads */
    /* sk_task_input_size and sk_task_i420_above; null: false. */
    bool (*input_size)(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                       int32_t frame_height, int32_t *width, int32_t *height);
    bool (*i420_above)(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                       int32_t *height);

    /* Stages. `first`: the stage before this one, null for whole frames. What fails half-way is closed. */
    sk_status (*open)(sk_task_stage *stage, const sk_task_stage *first, sk_error *err);
    void (*close)(sk_task_stage *stage); /* `own` may be null */
    sk_status (*input)(sk_task_stage *stage, const sk_frame *frame, sk_task_input form, void *out,
                       sk_error *err);
    sk_status (*decode)(sk_task_stage *stage, const sk_task_outputs *outputs, sk_instances *out,
                        sk_error *err);
    void (*keep)(const sk_task_stage *stage, sk_instances *instances); /* null: everything is kept */

    /* First of two models: the middle of what it found, pixel centres at integers. False: it has none. */
    bool (*middle)(const sk_instances *found, const sk_found *item, float *x, float *y);

    /* Second models; null where none can be. A frame is begun, its crops are placed one by one, cut (here, or by an engine)
     * and decoded, and it is ended. */
    void (*crops)(sk_task_stage *stage, sk_instances *out); /* null: nothing to begin */
    bool (*crop)(sk_task_stage *stage, const sk_instances *found, sk_task_crop *crop, sk_crop *place);
    sk_status (*cut_from)(sk_task_stage *stage, const sk_frame *frame,
                          sk_error *err); /* null: nothing to do */
    sk_status (*crop_input)(sk_task_stage *stage, const sk_crop *place, sk_task_input form, void *out,
                            sk_error *err);
    sk_status (*crop_decode)(sk_task_stage *stage, const sk_task_crop *crop, const sk_crop *place,
                             const sk_task_outputs *outputs, sk_instances *out, sk_error *err);
    void (*crops_end)(sk_task_stage *stage, sk_instances *out); /* null: nothing to settle */

    /* What engines may do of a stage, besides the network; null: nothing of the kind. */
    bool (*fit)(const sk_task_stage *stage, sk_task_fit *out);
    const sk_yolo_settings *(*found_rules)(const sk_task_stage *stage);
    bool (*peaks)(const sk_task_stage *stage, sk_peak_wish *out);
};

extern const sk_family sk_yolo_family, sk_classify_family, sk_sleap_family, sk_given_family;

/* Null: nobody makes anything of the model's outputs. */
const sk_family *sk_family_of(const sk_model *model);
/* The same role for every model; for those without a family, one that is good for nothing. */
sk_task_role sk_family_role(const sk_model *model);
/* Can `second` look at what `first` finds? */
bool sk_family_pair(const sk_model *first, const sk_model *second);

/* For families. */

/* Who is painted over in the crop at this place; false: nobody. */
bool sk_stage_mask(const sk_task_stage *stage, const sk_crop *place, sk_crop_mask *out);
/* The middle of a box, pixel centres at integers. */
bool sk_found_middle(const sk_instances *found, const sk_found *item, float *x, float *y);

/* For errors. */
const char *sk_stage_model_name(const sk_model *model);
/* The network's size where it does not follow from the frame: the settings', or the model's own, raised to its stride. */
sk_status sk_stage_network_size(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                                int32_t *height, sk_error *err) SK_MUST_CHECK;
/* An 8-bit picture of the network's size and three channels as its float input. */
void sk_stage_to_planes(const sk_task_stage *stage, const uint8_t *picture, float *out);

#endif
