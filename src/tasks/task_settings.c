/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/stage.h"

sk_task_settings sk_task_settings_defaults(void)
{
    return (sk_task_settings){.size = sizeof(sk_task_settings),
                              .yolo = sk_yolo_settings_defaults(),
                              .sleap = sk_sleap_settings_defaults(),
                              .rect = 1,
                              .crop_margin = 0.1f,
                              .max_crops = 256};
}

void sk_detector_defaults(sk_detector_settings *settings)
{
    *settings = (sk_detector_settings){.runtime = "cpu",
                                       .batch = 1,
                                       .confidence = 0.25f,
                                       .iou = 0.7,
                                       .max_det = 300,
                                       .peak_threshold = 0.2f,
                                       .sleap = {.size = sizeof(sk_sleap_options),
                                                 .centroid_peak_threshold = -1,
                                                 .integral_patch_size = 5,
                                                 .max_edge_length_ratio = 0.25f,
                                                 .dist_penalty_weight = 1,
                                                 .n_points = 10,
                                                 .min_line_scores = 0.25f,
                                                 .overlap_threshold = 0.8f},
                                       .winograd = true};
}

static void sleap_settings(const sk_sleap_options *o, sk_sleap_settings *out)
{
    static const sk_refinement ways[] = {[SK_SLEAP_REFINE_INTEGRAL] = SK_REFINE_INTEGRAL,
                                         [SK_SLEAP_REFINE_LOCAL] = SK_REFINE_LOCAL,
                                         [SK_SLEAP_REFINE_NONE] = SK_REFINE_NONE};
    out->centroid_threshold = o->centroid_peak_threshold;
    out->refinement = ways[(uint32_t)o->refinement <= SK_SLEAP_REFINE_NONE ? o->refinement : 0];
    out->patch = o->integral_patch_size;
    out->paf.max_edge_length_ratio = o->max_edge_length_ratio;
    out->paf.dist_penalty_weight = o->dist_penalty_weight;
    out->paf.n_points = o->n_points;
    out->paf.min_line_score = o->min_line_scores;
    out->min_instance_peaks = o->min_instance_peaks;
}

sk_task_settings sk_task_settings_of(const sk_detector_settings *s)
{
    sk_task_settings t = sk_task_settings_defaults();
    t.yolo.confidence = s->confidence;
    t.yolo.iou = s->iou;
    t.yolo.max_det = s->max_det;
    t.yolo.agnostic = s->agnostic;
    t.yolo.classes = s->classes;
    t.yolo.n_classes = s->n_classes;
    t.yolo.obb_form = s->obb_quarter ? SK_OBB_QUARTER : SK_OBB_LONG_SIDE;
    t.sleap.peak_threshold = s->peak_threshold;
    t.sleap.max_instances = s->max_instances;
    sleap_settings(&s->sleap, &t.sleap);
    t.keep = s->sleap;
    t.crop_turned = s->crop_turned;
    t.mask_neighbours = s->mask_neighbours;
    t.net_height = s->height;
    t.net_width = s->width;
    t.rect = s->rect != SK_RECT_OFF; /* who knows of a runtime that takes one shape only has said so */
    return t;
}
