/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_STAGES_H
#define SK_ENGINES_STAGES_H

#include "tasks/crops.h"
#include "tasks/peak_table.h"

#include <stddef.h>
#include <stdint.h>

/* Stages around the network that an engine may take over. Each is asked for by a descriptor that says all there is to know
 * of it; an engine that offers the stage gives what tasks/ would have given. */

/* How frames are fitted into the input: what tasks/letterbox.h does, or tasks/sleap_pre.h, bit for bit. */
typedef enum sk_fit_rule {
    SK_FIT_LETTERBOX = 0,
    SK_FIT_SLEAP,    /* sleap-nn's: antialiased, in bytes */
    SK_FIT_SLEAP_OLD /* SLEAP <= 1.4's: not antialiased, scaled in fractions of bytes */
} sk_fit_rule;

typedef struct sk_frame_fit {
    int32_t frame_width, frame_height;
    int32_t channels; /* 3; 1: grey, spread over the network's three */
    int32_t swap;     /* 1: BGR */
    int32_t nv12;     /* 1: a luma plane, then chroma at half size, turned into RGB as kernels/nv12.h does */
    int32_t resized_width, resized_height; /* inside the network's input … */
    int32_t left, top;                     /* … from here on */
    int32_t border;                        /* value around it: 114 */
    int32_t matrix, full_range;            /* nv12: as of sk_frame */
    /* SLEAP (left, top and border are 0): the frame in the network's colours is fitted into a sized picture, that is
     * scaled to resized_width x resized_height; zeros on the right and below. */
    int32_t rule; /* sk_fit_rule */
    int32_t fitted_width, fitted_height, sized_width, sized_height;
    int32_t scales; /* 1: input scaling is asked for, even where it changes no size */
    int32_t grey;   /* sk_sleap_grey of tasks/sleap_pre.h */
    int32_t
        whole; /* 1: every row goes up, whether the fit reads it or not: crops will be cut (sk_session_resident) */
} sk_frame_fit;

/* Of one frame in host memory, rows without gaps: bytes of a row, rows (chroma too), bytes in all. */
size_t sk_frame_fit_row(const sk_frame_fit *fit);
size_t sk_frame_fit_rows(const sk_frame_fit *fit);
size_t sk_frame_fit_bytes(const sk_frame_fit *fit);

/* Crops of a frame that lies on the device already, for the second of two models. An engine that offers SK_OFFERS_CROPS cuts
 * them there as the stage's own cutter does (sk_task_stage_crop_input), bit for bit; a submit hands in the frame and where
 * the crops lie. */
typedef struct sk_crop_wish {
    sk_crop_form form;
    int32_t channels; /* of the frames: 3; 1: grey */
    int32_t swap;     /* 1: they are BGR */
} sk_crop_wish;

/* Outputs that matter in few places: the heads of detectors. An engine that offers SK_OFFERS_SPARSE downloads only places
 * where a score lies above the bound; in the session's outputs every other place has scores of -infinity, and its other
 * values are whatever was there. */
#define SK_SPARSE_LEVELS 8
typedef struct sk_sparse_outputs {
    float bound;
    int32_t n_levels;
    struct {
        int32_t scores;              /* number of the output [N][classes][h][w] */
        int32_t n_others, others[3]; /* numbers of the outputs [N][C][h][w] that go with it */
    } level[SK_SPARSE_LEVELS];
} sk_sparse_outputs;

/* Peaks of confidence maps in place of the maps: sk_peak_wish of tasks/peak_table.h. An engine that offers SK_OFFERS_PEAKS finds them where
 * the maps are: a session that asks for them has one more output, i32 [N][words], the table of each image's peaks. Maps that
 * were only looked at do not come back: their outputs hold them for an image whose table says SK_PEAK_WHOLE, because there
 * were more peaks than it holds, and anything for others. */
/* What a detector finds in place of its raw heads. An engine that offers SK_OFFERS_FOUND decodes, ranks and suppresses as
 * tasks/yolo_post.h does; the session's one output is then f32 [N][sk_found_rows][4 box, score, class, extra], best first: the
 * form of end-to-end models (boxes x1, y1, x2, y2; oriented ones cx, cy, w, h with the angle last; keypoints as x, y
 * and, with 3 dims, score; input pixels). What is left holds zeros. */
#define SK_FOUND_MOST_LEVELS  4
#define SK_FOUND_MOST_CLASSES 1024   /* where only some are wanted */
#define SK_FOUND_MOST_DET     30000  /* no more take part in suppression */
#define SK_FOUND_MOST_PAIRS   131072 /* one-to-one heads: max_det times classes */
typedef struct sk_found_outputs {
    int32_t n_levels; /* finest first */
    struct {
        int32_t scores, box,
            extra; /* numbers of the outputs [N][C][h][w]; extra: keypoints or angle; -1 = none */
        float stride;
    } level[SK_FOUND_MOST_LEVELS];
    int32_t reg_max;             /* box channels / 4 */
    int32_t oriented, angle_raw; /* sk_yolo_spec's */
    int32_t n_keypoints, keypoint_dims, keypoints_26;
    /* > 0: one-to-one heads of so many classes: nothing is suppressed; of the best max_det places the best max_det pairs of place
     * and class, in the order of tasks/yolo_decode.h. Pairs of classes nobody wants hold zeros. */
    int32_t one_to_one;
    float confidence; /* score > this */
    float iou;        /* dropped when overlap > this */
    float
        reach; /* oriented: squared distance, per unit of summed reach, beyond which none can overlap so much */
    float offset; /* between classes, pixels; 0: all suppress each other */
    int32_t most; /* candidates that take part, the best */
    int32_t max_det;
    int32_t filter;                              /* 1: only classes with their bit in … */
    uint32_t wanted[SK_FOUND_MOST_CLASSES / 32]; /* … this */
} sk_found_outputs;

/* How many an image of so many places has room for: no more than there can be. */
static inline int32_t sk_found_rows(const sk_found_outputs *found, int64_t places)
{
    return !found->one_to_one && places < found->max_det ? (int32_t)places : found->max_det;
}

/* What a session is asked to do besides the network; null: the stage is done elsewhere. Borrowed until open returns. */
typedef struct sk_session_stages {
    const sk_frame_fit *fit;         /* SK_INPUT_FRAMES */
    const sk_crop_wish *crops;       /* SK_INPUT_CROPS */
    const sk_sparse_outputs *sparse; /* else all outputs whole */
    const sk_peak_wish *peaks;       /* excludes sparse and found */
    const sk_found_outputs
        *found; /* else the outputs are the network's; wants the tail cut, excludes sparse */
} sk_session_stages;

#endif
