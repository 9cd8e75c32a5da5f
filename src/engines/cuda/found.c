/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"
#include "tasks/yolo_formula.h"

#include <stdio.h>
#include <string.h>

/* The steps that make what a detector finds: candidates of each level as soon as its heads are there, then ranking,
 * suppression (by one block an image; oriented boxes, where all pairs count, by all) and what is found. There is room for every
 * place, so that nothing is ever left out. */

static sk_status check_head(const gpu_plan *plan, int32_t output, const sk_shape *like, int64_t channels,
                            sk_error *err)
{
    const sk_graph *g = plan->graph;
    if (output < 0 || output >= g->n_outputs || !gpu_is_map(plan, g->outputs[output]))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "nothing can be found from output %d: it is no map of the network", output);
    const sk_shape *s = gpu_shape(plan, g->outputs[output]);
    if ((channels > 0 && s->dim[1] != channels) || s->dim[0] != like->dim[0] || s->dim[2] != like->dim[2] ||
        s->dim[3] != like->dim[3])
        return sk_fail(err, SK_ERR_UNSUPPORTED, "output %d is no head of a detector that finds something",
                       output);
    return SK_OK;
}

static const sk_shape *scores_of(const gpu_plan *plan, int32_t level)
{
    return gpu_shape(plan, plan->graph->outputs[plan->found.wish.level[level].scores]);
}

static sk_status measure_space(gpu_plan *plan, gpu_found_space *space, sk_error *err)
{
    const sk_found_outputs *w = &plan->found.wish;
    int64_t total = 0;
    for (int32_t k = 0; k < w->n_levels; k++) {
        if (w->level[k].scores < 0 || w->level[k].scores >= plan->graph->n_outputs)
            return sk_fail(err, SK_ERR_ARG, "found from output %d of %d", w->level[k].scores,
                           plan->graph->n_outputs);
        const sk_shape *like = scores_of(plan, k);
        const int64_t extra = w->oriented ? 1 : (int64_t)w->n_keypoints * w->keypoint_dims;
        SK_TRY(check_head(plan, w->level[k].scores, like, 0, err));
        SK_TRY(check_head(plan, w->level[k].box, like, 4 * (int64_t)w->reg_max, err));
        if (extra > 0)
            SK_TRY(check_head(plan, w->level[k].extra, like, extra, err));
        if (like->dim[0] != scores_of(plan, 0)->dim[0] || (w->filter && like->dim[1] > GPU_FOUND_CLASSES))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "the levels of this detector do not go together");
        total += like->dim[2] * like->dim[3];
    }
    if (total > 1 << 22 || w->most > 30000)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%lld places, the best %d of them, are too many to find among", (long long)total,
                       w->most);
    const int64_t by_four = (total + 3) / 4 * 4;
    *space = (gpu_found_space){.total = (int32_t)total, .keys = 16};
    space->sorted = space->keys + 2 * by_four;
    space->kept = space->sorted + 2 * by_four;
    space->boxes = space->kept + 2 * SK_FOUND_MOST_DET;
    space->classes = space->boxes + 4 * by_four;
    space->ranked = space->classes + by_four;
    space->angles = space->dropped = space->mask = space->ranked + (w->oriented ? 6 : 4) * by_four;
    if (w->oriented) {
        space->dropped = space->angles + by_four;
        space->image_words = space->dropped + by_four;
    } else {
        space->image_words = space->mask + SK_FOUND_MOST_DET / 32 * SK_FOUND_MOST_DET;
    }
    space->image_words = (space->image_words + 63) / 64 * 64;
    plan->found.n = (int32_t)scores_of(plan, 0)->dim[0];
    plan->found.words = 6 + (w->oriented ? 1 : w->n_keypoints * w->keypoint_dims);
    return SK_OK;
}

static sk_status add_scan(gpu_plan *plan, int32_t level, const gpu_found_space *space, int32_t first,
                          int32_t work, sk_error *err)
{
    const sk_graph *g = plan->graph;
    const sk_found_outputs *w = &plan->found.wish;
    const sk_value scores = g->outputs[w->level[level].scores], box = g->outputs[w->level[level].box];
    const sk_shape *s = gpu_shape(plan, scores);
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_SCAN, NULL, &step, err));
    gpu_scan_args *a = &step->args.scan;
    *a = (gpu_scan_args){.space = *space,
                         .n = plan->found.n,
                         .places = (int32_t)(s->dim[2] * s->dim[3]),
                         .first = first,
                         .width = (int32_t)s->dim[3],
                         .classes = (int32_t)s->dim[1],
                         .reg = w->reg_max,
                         .lds = gpu_map_pitch(plan, scores),
                         .ldb = gpu_map_pitch(plan, box),
                         .type = plan->type,
                         .oriented = w->oriented,
                         .angle_raw = w->angle_raw,
                         .filter = w->filter,
                         .stride = w->level[level].stride,
                         .bound = sk_yolo_logit_below(w->confidence, SK_YOLO_MARGIN),
                         .confidence = w->confidence};
    memcpy(a->wanted, w->wanted, sizeof a->wanted);
    /* candidates of different levels never touch each other: as if they were channels of their own */
    step->refs[0] = (gpu_ref){.buffer = work, .from = level, .to = level + 1};
    step->refs[1] = gpu_map_ref(plan, scores);
    step->refs[2] = gpu_map_ref(plan, box);
    step->n_refs = 3;
    if (w->oriented) {
        const sk_value angle = g->outputs[w->level[level].extra];
        a->lda = gpu_map_pitch(plan, angle);
        step->refs[step->n_refs++] = gpu_map_ref(plan, angle);
    }
    snprintf(step->kernel, sizeof step->kernel, "candidates");
    snprintf(step->shape, sizeof step->shape, "%d places, %d classes", a->places, a->classes);
    return SK_OK;
}

static sk_status add_ranking(gpu_plan *plan, gpu_kind kind, const gpu_found_space *space, int32_t work,
                             sk_error *err)
{
    const sk_found_outputs *w = &plan->found.wish;
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, kind, NULL, &step, err));
    step->args.rank = (gpu_rank_args){.space = *space,
                                      .n = plan->found.n,
                                      .most = w->most,
                                      .max_det = w->max_det,
                                      .oriented = w->oriented,
                                      .offset = w->offset,
                                      .limit = w->iou,
                                      .reach = w->reach};
    step->refs[0] = (gpu_ref){.buffer = work};
    step->n_refs = 1;
    snprintf(step->kernel, sizeof step->kernel, "%s",
             kind == GPU_RANKING    ? "rank"
             : kind == GPU_OVERLAPS ? "overlaps"
                                    : "suppress");
    snprintf(step->shape, sizeof step->shape, "%d places", space->total);
    return SK_OK;
}

static sk_status add_final(gpu_plan *plan, const gpu_found_space *space, int32_t work, sk_error *err)
{
    const sk_found_outputs *w = &plan->found.wish;
    gpu_step *step;
    int32_t first = 0;
    SK_TRY(gpu_add_step(plan, GPU_FINAL, NULL, &step, err));
    gpu_final_args *a = &step->args.final;
    *a = (gpu_final_args){.space = *space,
                          .n = plan->found.n,
                          .max_det = w->max_det,
                          .words = plan->found.words,
                          .oriented = w->oriented,
                          .n_levels = w->n_levels,
                          .keypoints = w->n_keypoints,
                          .dims = w->keypoint_dims,
                          .keypoints_26 = w->keypoints_26,
                          .type = plan->type};
    step->refs[0] = (gpu_ref){.buffer = plan->found.buffer};
    step->refs[1] = (gpu_ref){.buffer = work};
    step->n_refs = 2;
    for (int32_t k = 0; k < w->n_levels; k++) {
        const sk_shape *s = scores_of(plan, k);
        a->first[k] = first;
        a->width[k] = (int32_t)s->dim[3];
        a->places[k] = (int32_t)(s->dim[2] * s->dim[3]);
        a->stride[k] = w->level[k].stride;
        first += a->places[k];
        if (w->n_keypoints > 0) {
            const sk_value v = plan->graph->outputs[w->level[k].extra];
            a->ld[k] = gpu_map_pitch(plan, v);
            step->refs[step->n_refs++] = gpu_map_ref(plan, v);
        }
    }
    snprintf(step->kernel, sizeof step->kernel, "found");
    snprintf(step->shape, sizeof step->shape, "%d of %d", a->max_det, space->total);
    return SK_OK;
}

sk_status gpu_build_found(gpu_plan *plan, sk_error *err)
{
    gpu_found *found = &plan->found;
    gpu_found_space space = {0};
    int32_t work, first = 0;
    gpu_step *step;
    plan->node_name = "found";
    SK_TRY(measure_space(plan, &space, err));
    SK_TRY(gpu_add_buffer(plan, (size_t)found->n * (size_t)space.image_words * 4, 0, &work, err));
    SK_TRY(gpu_add_buffer(plan, (size_t)found->n * (size_t)found->wish.max_det * (size_t)found->words * 4, 0,
                          &found->buffer, err));
    plan->buffers[found->buffer].per_slot = 1;
    SK_TRY(gpu_add_step(plan, GPU_ZERO, NULL, &step, err));
    step->args.zero = (gpu_zero_args){.image_words = space.image_words, .n = found->n};
    step->refs[0] = (gpu_ref){.buffer = work};
    step->n_refs = 1;
    snprintf(step->kernel, sizeof step->kernel, "zero counts");
    for (int32_t k = 0; k < found->wish.n_levels; k++) {
        SK_TRY(add_scan(plan, k, &space, first, work, err));
        first += (int32_t)(scores_of(plan, k)->dim[2] * scores_of(plan, k)->dim[3]);
    }
    SK_TRY(add_ranking(plan, GPU_RANKING, &space, work, err));
    SK_TRY(add_ranking(plan, GPU_OVERLAPS, &space, work, err));
    SK_TRY(add_ranking(plan, GPU_SUPPRESS, &space, work, err));
    return add_final(plan, &space, work, err);
}
