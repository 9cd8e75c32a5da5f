/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SLEAP_POST_H
#define SK_TASKS_SLEAP_POST_H

#include "models/model.h"
#include "base/instances.h"
#include "tasks/peak_table.h"
#include "tasks/sleap_crop.h"
#include "tasks/sleap_pre.h"

/* From the maps of a SLEAP network to instances in the frame, one object a model. */

typedef struct sk_sleap_settings {
    uint32_t size;            /* sizeof, for growth */
    float peak_threshold;     /* default 0.2 */
    float centroid_threshold; /* of centroid models; below 0 (default): peak_threshold */
    sk_refinement refinement; /* default integral; a legacy model's offset head takes its place */
    int32_t patch;            /* side of the integral's patch, odd, 3 … 15; default 5 */
    int32_t max_instances;    /* the best by score; 0 = all; never more than 1024 */
    float centroid_nms;       /* centroids: drop one whose crop overlaps a better one's by more; 0 = off */
    int32_t nms_size;         /* side of the crops for that, in sized pixels */
    int32_t keep_empty;       /* 1: instances without any keypoint stay; default 0 */
    float min_instance_peaks; /* bottom-up: up to 1 a part of the nodes, above that peaks; default 0 */
    sk_paf_settings paf;      /* its min_instance_peaks comes from the above */
} sk_sleap_settings;

sk_sleap_settings sk_sleap_settings_defaults(void);

typedef struct sk_sleap_post sk_sleap_post;

/* Do models of this task look at crops? */
bool sk_sleap_on_crops(sk_task task);

/* The model is read and not kept. */
sk_status sk_sleap_post_open(const sk_model *model, const sk_sleap_settings *settings, sk_sleap_post **out,
                             sk_error *err) SK_MUST_CHECK;
void sk_sleap_post_close(sk_sleap_post **post);
/* Instances a result list must hold, and the keypoints of each (1 for centroids). */
int32_t sk_sleap_post_capacity(const sk_sleap_post *post);
int32_t sk_sleap_post_keypoints(const sk_sleap_post *post);

/* Whole-frame models (single instance, centroid, bottom-up, multi-class bottom-up): fills `out` anew from
 * the maps of one frame, in the order of the model's outputs. */
sk_status sk_sleap_post_run(sk_sleap_post *post, const sk_map *maps, int32_t n_maps,
                            const sk_sleap_geometry *geometry, sk_instances *out,
                            sk_error *err) SK_MUST_CHECK;

/* What an engine should look for in this model's maps for the two functions below to take its table; false: it is for the
 * CPU. */
bool sk_sleap_post_wish(const sk_sleap_post *post, sk_peak_wish *out);
/* The same from a table of peaks. Of the maps only the sizes count, unless the table says that they are whole. */
sk_status sk_sleap_post_run_table(sk_sleap_post *post, const sk_peak_word *table, const sk_map *maps,
                                  int32_t n_maps, const sk_sleap_geometry *geometry, sk_instances *out,
                                  sk_error *err) SK_MUST_CHECK;

/* Where a crop was taken. */
typedef struct sk_sleap_centroid {
    float x, y; /* sized pixels */
    float score;
    int32_t class_id; /* -1, or given on by whatever found the centroid */
    bool turned;      /* the crop lay … */
    float angle;      /* … so, radians clockwise */
} sk_sleap_centroid;

/* Models on crops: begin a frame, add crop after crop, end it. `eff_scale`: sized pixels per frame pixel. */
void sk_sleap_post_begin(sk_sleap_post *post, sk_instances *out);
sk_status sk_sleap_post_crop(sk_sleap_post *post, const sk_map *maps, int32_t n_maps,
                             const sk_sleap_crop *crop, const sk_sleap_centroid *centroid, float eff_scale,
                             sk_instances *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_sleap_post_crop_table(sk_sleap_post *post, const sk_peak_word *table, const sk_map *maps,
                                   int32_t n_maps, const sk_sleap_crop *crop,
                                   const sk_sleap_centroid *centroid, float eff_scale, sk_instances *out,
                                   sk_error *err) SK_MUST_CHECK;
/* Settles identities (multi-class) and drops instances without keypoints. */
void sk_sleap_post_end(sk_sleap_post *post, sk_instances *out);

#endif
