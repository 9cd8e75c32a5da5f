/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "tasks/overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is found in eight bits against what f32 finds, on the frames held back. */

#define LEAST_CORRELATED 16 /* of two or three numbers (a crop's classes) a correlation says nothing */

/* Numbers of which the median and the 95th percentile are wanted. */
typedef struct sample {
    double *items;
    size_t count, capacity;
} sample;

static sk_status add(sample *s, double v, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items, (size_t)1 << 28,
                            err));
    s->items[s->count++] = v;
    return SK_OK;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(sample *s, double *median, double *most)
{
    *median = *most = 0;
    if (s->count) {
        qsort(s->items, s->count, sizeof *s->items, compare);
        *median = s->items[s->count / 2];
        *most = fmax(*median, s->items[(size_t)((double)(s->count - 1) * 0.95)]); /* of two the first */
    }
    sk_free(s->items);
}

typedef struct tally {
    sk_loss *loss;
    sample boxes, points, scores;
    double agreement, heads_pcc;
    int64_t counted;
    sk_quantize_truth *truth; /* null: none */
    bool given;               /* somebody else finds the animals */
} tally;

/* The farthest two points' distance: how large a pose is. */
static double extent(const sk_keypoint *p, int32_t n)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < n; i++) {
        if (isnan(p[i].x))
            continue;
        low[0] = fmin(low[0], (double)p[i].x);
        low[1] = fmin(low[1], (double)p[i].y);
        high[0] = fmax(high[0], (double)p[i].x);
        high[1] = fmax(high[1], (double)p[i].y);
    }
    double size = hypot(high[0] - low[0], high[1] - low[1]);
    return isfinite(size) && size > 10 ? size : 10;
}

/* Poses without boxes: how near their points are, in tenths of the pose. */
static double nearness(const sk_instances *a, const sk_found *x, const sk_instances *b, const sk_found *y)
{
    const sk_keypoint *p = a->keypoints + x->first_keypoint, *q = b->keypoints + y->first_keypoint;
    double size = extent(p, a->n_keypoints), sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < a->n_keypoints; i++) {
        if (isnan(p[i].x) && isnan(q[i].x))
            continue;
        n++;
        if (!isnan(p[i].x) && !isnan(q[i].x))
            sum += fmax(0, 1 - hypot((double)(p[i].x - q[i].x), (double)(p[i].y - q[i].y)) / (0.1 * size));
    }
    return n ? sum / n : 1;
}

/* `given`: boxes are those of somebody else, who found what both looked at. */
static double similarity(const sk_instances *a, const sk_found *x, const sk_instances *b, const sk_found *y,
                         bool given)
{
    uint32_t both = x->has & y->has;
    if (given && a->n_keypoints > 0 && x->class_id == y->class_id)
        return (x->has ^ y->has) & SK_HAS_KEYPOINTS ? 0 : nearness(a, x, b, y);
    if (x->class_id != y->class_id)
        return 0;
    if (both & SK_HAS_OBB) {
        double p[5], q[5];
        for (int i = 0; i < 5; i++) {
            p[i] = (double)x->obb[i];
            q[i] = (double)y->obb[i];
        }
        return sk_overlap_oriented(p, q, false);
    }
    if (both & SK_HAS_BOX) {
        double p[4] = {(double)x->box[0], (double)x->box[1], (double)(x->box[2] - x->box[0]),
                       (double)(x->box[3] - x->box[1])};
        double q[4] = {(double)y->box[0], (double)y->box[1], (double)(y->box[2] - y->box[0]),
                       (double)(y->box[3] - y->box[1])};
        return sk_overlap_boxes(p, q, false);
    }
    if (both & SK_HAS_KEYPOINTS)
        return nearness(a, x, b, y);
    return 1; /* of whole pictures: the class is all there is */
}

static sk_status add_boxes(tally *t, const sk_found *x, const sk_found *y, sk_error *err)
{
    if (x->has & y->has & SK_HAS_OBB)
        return add(&t->boxes, hypot((double)(x->obb[0] - y->obb[0]), (double)(x->obb[1] - y->obb[1])), err);
    if (!(x->has & y->has & SK_HAS_BOX))
        return SK_OK;
    for (int i = 0; i < 4; i += 2)
        SK_TRY(add(&t->boxes, hypot((double)(x->box[i] - y->box[i]), (double)(x->box[i + 1] - y->box[i + 1])),
                   err));
    return SK_OK;
}

static sk_status add_points(tally *t, const sk_instances *a, const sk_found *x, const sk_instances *b,
                            const sk_found *y, sk_error *err)
{
    if (!(x->has & y->has & SK_HAS_KEYPOINTS))
        return SK_OK;
    const sk_keypoint *p = a->keypoints + x->first_keypoint, *q = b->keypoints + y->first_keypoint;
    for (int32_t i = 0; i < a->n_keypoints; i++)
        if (!isnan(p[i].x) && !isnan(q[i].x))
            SK_TRY(add(&t->points, hypot((double)(p[i].x - q[i].x), (double)(p[i].y - q[i].y)), err));
    return SK_OK;
}

/* Each of f32's instances, best first, with the most similar of the other's that is left and overlaps by half. */
static sk_status compare_frame(tally *t, const sk_instances *a, const sk_instances *b, sk_error *err)
{
    uint8_t *taken = sk_calloc((size_t)b->count + 1, 1);
    sk_status status = taken ? SK_OK : sk_fail_memory(err, (size_t)b->count);
    int32_t paired = 0;
    for (int32_t i = 0; i < a->count && status == SK_OK; i++) {
        int32_t best = -1;
        double most = 0.5;
        for (int32_t k = 0; k < b->count; k++) {
            double s = taken[k] ? 0 : similarity(a, &a->items[i], b, &b->items[k], t->given);
            if (s >= most) {
                most = s;
                best = k;
            }
        }
        if (best < 0)
            continue;
        const sk_found *x = &a->items[i], *y = &b->items[best];
        taken[best] = 1;
        paired++;
        t->agreement += most;
        status = add(&t->scores, fabs((double)(x->score - y->score)), err);
        if (status == SK_OK)
            status = add_boxes(t, x, y, err);
        if (status == SK_OK)
            status = add_points(t, a, x, b, y, err);
    }
    t->loss->frames++;
    t->loss->instances += a->count;
    t->loss->lost += a->count - paired;
    t->loss->added += b->count - paired;
    t->counted += a->count + b->count - paired;
    sk_free(taken);
    return status;
}

static double correlation(const sk_tensor *a, const sk_tensor *b)
{
    const float *x = a->data, *y = b->data;
    double n = (double)sk_shape_count(&a->shape), sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < sk_shape_count(&a->shape); i++) {
        sx += (double)x[i];
        sy += (double)y[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)y[i] * (double)y[i];
        xy += (double)x[i] * (double)y[i];
    }
    double vx = xx - sx * sx / n, vy = yy - sy * sy / n;
    return vx > 0 && vy > 0 ? (xy - sx * sy / n) / sqrt(vx * vy) : 1;
}

static void compare_heads(const sk_tensor *a, const sk_tensor *b, int32_t n, tally *t)
{
    for (int32_t i = 0; i < n; i++)
        if (a[i].dtype == SK_DTYPE_F32 && sk_shape_equal(&a[i].shape, &b[i].shape) &&
            sk_shape_count(&a[i].shape) >= LEAST_CORRELATED)
            t->heads_pcc = fmin(t->heads_pcc, correlation(&a[i], &b[i]));
}

/* What a network finds in a frame. `other`: another whose heads are compared with its; null: none. */
static sk_status find_in(sk_quantize_job *job, sk_session *network, sk_session *other,
                         const sk_quantize_frame *frame, sk_instances *out, tally *t, sk_error *err)
{
    sk_tensor a[SK_SESSION_MAX_OUTPUTS], b[SK_SESSION_MAX_OUTPUTS];
    sk_task_stage *stage = job->stages[frame->stage].stage;
    const sk_session_info *about = sk_session_about(network);
    const int32_t n = about->n_outputs;
    sk_crop_list list;
    if (job->finder)
        SK_TRY(sk_task_stage_find_crops(stage, &frame->found, out, &list, err));
    for (int32_t i = 0; i < frame->count; i++) {
        const void *input = job->inputs[frame->first + i].data;
        SK_TRY(sk_quantize_run_input(network, input, a, err));
        if (other) {
            SK_TRY(sk_quantize_run_input(other, input, b, err));
            compare_heads(a, b, n, t);
        }
        SK_TRY(job->finder ? sk_task_stage_crop_result(stage, i, a, n, 0, about->outputs_form, out, err)
                           : sk_task_stage_result(stage, a, n, 0, about->outputs_form, out, err));
    }
    if (job->finder)
        SK_TRY(sk_task_stage_crops_end(stage, out, err));
    sk_task_stage_keep(stage, out);
    return SK_OK;
}

static sk_status measure_frame(sk_quantize_job *job, sk_session *plain, sk_session *narrow,
                               const sk_quantize_frame *frame, sk_instances found[2], tally *t, sk_error *err)
{
    SK_TRY(find_in(job, plain, narrow, frame, &found[0], t, err));
    SK_TRY(find_in(job, narrow, NULL, frame, &found[1], t, err));
    for (int i = 0; t->truth && i < 2; i++)
        SK_TRY(sk_quantize_truth_add(t->truth, i, frame, &found[i], err));
    return compare_frame(t, &found[0], &found[1], err);
}

/* The engine's own eight bits where it has them, else the same numbers by f32. */
static sk_status open_narrow(sk_quantize_job *job, const sk_graph *eight_bits, const sk_graph *simulated,
                             bool cut, sk_quantize_report *report, sk_session **out, sk_error *err)
{
    const sk_precision narrow = job->s->precision == SK_QUANTIZE_FP8 ? SK_PRECISION_FP8 : SK_PRECISION_I8;
    bool own = (job->engine->can.precisions & (1u << narrow)) != 0;
    snprintf(report->computed_by, sizeof report->computed_by, "%s, %s%s", job->engine->name,
             sk_precision_name(narrow), own ? "" : " by f32");
    return sk_quantize_session(job, own ? eight_bits : simulated, NULL, 0, cut,
                               own ? narrow : SK_PRECISION_F32, out, err);
}

sk_status sk_quantize_loss(sk_quantize_job *job, const sk_graph *eight_bits, const sk_graph *simulated,
                           sk_quantize_report *report, sk_error *err)
{
    sk_loss *loss = &report->about.loss;
    tally t = {.loss = loss, .heads_pcc = 1, .given = job->finder != NULL, .truth = job->truth};
    sk_session *plain = NULL, *narrow = NULL;
    sk_instances found[2] = {0};
    const sk_task_plan *plan = sk_task_stage_plan(job->stages[0].stage);
    sk_status status = SK_OK;
    memset(loss, 0, sizeof *loss);
    for (int i = 0; i < 2; i++)
        SK_TRY_GOTO(sk_instances_alloc(plan->capacity, plan->n_keypoints, &found[i], err));
    SK_TRY_GOTO(sk_quantize_session(job, job->graph, NULL, 0, plan->cut_tail, SK_PRECISION_F32, &plain, err));
    SK_TRY_GOTO(open_narrow(job, eight_bits, simulated, plan->cut_tail, report, &narrow, err));
    sk_quantize_begin(job, "measuring what is lost", sk_quantize_count(job, true));
    for (int32_t f = 0; f < job->n_frames; f++) {
        if (!job->frames[f].held)
            continue;
        SK_TRY_GOTO(measure_frame(job, plain, narrow, &job->frames[f], found, &t, err));
        SK_TRY_GOTO(sk_quantize_tick(job, err));
    }
    if (t.truth)
        SK_TRY_GOTO(sk_quantize_truth_measure(t.truth, report, err));
    report->correlation = t.heads_pcc;
    report->about.measured = t.counted > 0;
    loss->percent = t.counted > 0 ? 100 * (1 - t.agreement / (double)t.counted) : 0;
    loss->percent = loss->percent < 0 ? 0 : loss->percent;
done:
    summarise(&t.boxes, &loss->box_px, &loss->box_px_95);
    summarise(&t.points, &loss->keypoint_px, &loss->keypoint_px_95);
    summarise(&t.scores, &loss->score, &loss->score_95);
    for (int i = 0; i < 2; i++)
        sk_instances_free(&found[i]);
    sk_session_close(&plain);
    sk_session_close(&narrow);
    return status;
}
