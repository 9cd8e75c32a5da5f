/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"
#include "tasks/yolo_formula.h"

#include <stdio.h>
#include <string.h>

/* The steps that make what a detector finds: candidates of each level as soon as its heads are there, then ranking,
 * suppression (by one block an image; oriented boxes, where all pairs count, by all) and what is found. Of one-to-one heads nothing
 * is suppressed: the best places are ranked, then their pairs with every class. There is room for every place, so that nothing is
 * ever left out. */

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

/* What only suppression needs, only one-to-one heads, or only oriented boxes, has no room elsewhere. */
static void lay_out(const gpu_plan *plan, gpu_found_space *space, int32_t total)
{
    const sk_found_outputs *w = &plan->found.wish;
    const int64_t by_four = ((int64_t)total + 3) / 4 * 4, rows = ((int64_t)plan->found.rows + 3) / 4 * 4;
    const int64_t pairs = (int64_t)w->max_det * w->one_to_one, ranked = w->one_to_one ? 0 : by_four;
    const int64_t sizes[] = {
        2 * by_four,                                                       /* keys */
        2 * by_four,                                                       /* sorted */
        2 * rows,                                                          /* kept */
        w->one_to_one ? 0 : rows,                                          /* stay */
        4 * by_four,                                                       /* boxes */
        w->oriented ? by_four : 0,                                         /* angles */
        by_four,                                                           /* classes */
        (w->oriented ? 6 : 4) * ranked,                                    /* ranked */
        w->oriented ? ranked : 0,                                          /* dropped */
        w->oriented || !ranked ? 0 : GPU_FOUND_TILE / 32 * GPU_FOUND_TILE, /* mask */
        (2 * pairs + 3) / 4 * 4                                            /* pairs */
    };
    int64_t at[sizeof sizes / sizeof sizes[0] + 1] = {16};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        at[i + 1] = at[i] + sizes[i];
    *space = (gpu_found_space){.total = total,
                               .keys = at[0],
                               .sorted = at[1],
                               .kept = at[2],
                               .stay = at[3],
                               .boxes = at[4],
                               .angles = at[5],
                               .classes = at[6],
                               .ranked = at[7],
                               .dropped = at[8],
                               .mask = at[9],
                               .pairs = at[10],
                               .image_words = (at[11] + 63) / 64 * 64};
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
    if (total > 1 << 22 || w->most > 30000 || (w->one_to_one > 0 && w->most > w->max_det))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%lld places, the best %d of them, are too many to find among", (long long)total,
                       w->most);
    plan->found.n = (int32_t)scores_of(plan, 0)->dim[0];
    plan->found.words = 6 + (w->oriented ? 1 : w->n_keypoints * w->keypoint_dims);
    plan->found.rows = sk_found_rows(w, total);
    lay_out(plan, space, (int32_t)total);
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
                         .filter = w->filter && !w->one_to_one,
                         .corners = w->one_to_one > 0,
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

static sk_status add_ranking(gpu_plan *plan, gpu_kind kind, int32_t what, const gpu_found_space *space,
                             int32_t work, sk_error *err)
{
    const sk_found_outputs *w = &plan->found.wish;
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, kind, NULL, &step, err));
    step->args.rank = (gpu_rank_args){.space = *space,
                                      .n = plan->found.n,
                                      .most = w->most,
                                      .max_det = plan->found.rows,
                                      .oriented = w->oriented,
                                      .what = what,
                                      .classes = w->one_to_one,
                                      .offset = w->offset,
                                      .limit = w->iou,
                                      .reach = w->reach};
    step->refs[0] = (gpu_ref){.buffer = work};
    step->n_refs = 1;
    snprintf(step->kernel, sizeof step->kernel, "%s",
             what == GPU_RANK_PAIRS ? "rank pairs"
             : kind == GPU_RANKING  ? "rank"
             : kind == GPU_OVERLAPS ? "overlaps"
                                    : "suppress");
    snprintf(step->shape, sizeof step->shape, "%d places", space->total);
    return SK_OK;
}

static sk_status add_pairs(gpu_plan *plan, const gpu_found_space *space, int32_t work, sk_error *err)
{
    const sk_found_outputs *w = &plan->found.wish;
    gpu_step *step;
    int32_t first = 0;
    SK_TRY(gpu_add_step(plan, GPU_PAIRS, NULL, &step, err));
    gpu_pairs_args *a = &step->args.pairs;
    *a = (gpu_pairs_args){.space = *space,
                          .n = plan->found.n,
                          .most = w->max_det,
                          .classes = w->one_to_one,
                          .n_levels = w->n_levels,
                          .type = plan->type,
                          .bound = sk_yolo_logit_below(w->confidence, SK_YOLO_MARGIN),
                          .confidence = w->confidence};
    step->refs[0] = (gpu_ref){.buffer = work};
    step->n_refs = 1;
    for (int32_t k = 0; k < w->n_levels; k++) {
        const sk_value v = plan->graph->outputs[w->level[k].scores];
        const sk_shape *s = gpu_shape(plan, v);
        a->first[k] = first;
        a->places[k] = (int32_t)(s->dim[2] * s->dim[3]);
        a->ld[k] = gpu_map_pitch(plan, v);
        first += a->places[k];
        step->refs[step->n_refs++] = gpu_map_ref(plan, v);
    }
    snprintf(step->kernel, sizeof step->kernel, "pairs");
    snprintf(step->shape, sizeof step->shape, "%d places, %d classes", a->most, a->classes);
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
                          .max_det = plan->found.rows,
                          .words = plan->found.words,
                          .oriented = w->oriented,
                          .n_levels = w->n_levels,
                          .keypoints = w->n_keypoints,
                          .dims = w->keypoint_dims,
                          .keypoints_26 = w->keypoints_26,
                          .classes = w->one_to_one,
                          .filter = w->filter,
                          .type = plan->type};
    memcpy(a->wanted, w->wanted, sizeof a->wanted);
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
    SK_TRY(gpu_add_buffer(plan, (size_t)found->n * (size_t)found->rows * (size_t)found->words * 4, 0,
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
    if (found->wish.one_to_one) {
        SK_TRY(add_ranking(plan, GPU_RANKING, GPU_RANK_PLACES, &space, work, err));
        SK_TRY(add_pairs(plan, &space, work, err));
        SK_TRY(add_ranking(plan, GPU_RANKING, GPU_RANK_PAIRS, &space, work, err));
    } else {
        SK_TRY(add_ranking(plan, GPU_RANKING, GPU_RANK_BOXES, &space, work, err));
        SK_TRY(add_ranking(plan, GPU_OVERLAPS, GPU_RANK_BOXES, &space, work, err));
        SK_TRY(add_ranking(plan, GPU_SUPPRESS, GPU_RANK_BOXES, &space, work, err));
    }
    return add_final(plan, &space, work, err);
}
