/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_ROW_CASES_H
#define SK_TESTS_ENGINES_ROW_CASES_H

#include "random_source.h"

#include "engines/offload.h"
#include "graph/builder.h"
#include "tasks/yolo_post.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Detectors made of random heads, for engines that decode and suppress: the same heads once through the tasks' own code and
 * once through the engine's. A network of pointwise convolutions hands its input through, so that a case says every value
 * of every head. For the test on the GPU of loops and for the check on a real one. */

typedef struct found_case {
    sk_task task;
    int side, levels, classes, reg, keypoints, dims, batch;
    sk_yolo_settings settings;
    int32_t wanted[4];
    float density; /* part of the places whose score is high */
    int coarse;    /* 1: few different scores, so that most are equal */
    int broken;    /* 1: some values are infinite or no numbers */
    int keypoints_26, angle_raw;
    int end2end; /* one-to-one heads, of which the model ranks so many; 0: others */
    sk_precision precision;
} found_case;

typedef struct found_result {
    int candidates;      /* places above the confidence, all images */
    int want, got;       /* instances of the tasks' code, of the engine */
    int different;       /* that differ in class or place in the order, or by more than rounding */
    double worst, score; /* largest differences of the others: pixels, scores */
} found_result;

static float found_unit(random_source *r) /* 0 … 1 */
{
    return (float)random_next(r) / 2147483648.0f;
}

static found_case found_case_random(uint64_t seed)
{
    static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_POSE, SK_TASK_OBB};
    static const float densities[] = {0.02f, 0.2f, 0.7f, 0.0f}, limits[] = {0.25f, 0.5f, 0.01f, 0.9f};
    random_source r = {seed * 77 + 5};
    found_case c = {.task = tasks[seed % 3],
                    .side = 24,
                    .levels = 1 + (int)(random_next(&r) % 3),
                    .classes = 1,
                    .dims = 3};
    c.classes = random_next(&r) % 2 ? 1 : 2 + (int)(random_next(&r) % 5);
    c.reg = random_next(&r) % 3 == 0 ? 1 : 4 + 4 * (int)(random_next(&r) % 4);
    c.keypoints = c.task == SK_TASK_POSE ? 1 + (int)(random_next(&r) % 6) : 0;
    c.dims = 2 + (int)(random_next(&r) % 2);
    c.batch = 1 + (int)(random_next(&r) % 3);
    c.settings = sk_yolo_settings_defaults();
    c.settings.confidence = limits[random_next(&r) % 4];
    c.settings.iou = (double)(1 + random_next(&r) % 9) / 10;
    c.settings.max_det = random_next(&r) % 3 == 0 ? 5 : random_next(&r) % 2 ? 300 : 1000;
    c.settings.agnostic = (int32_t)(random_next(&r) % 2);
    c.wanted[1] = c.classes - 1;
    c.settings.n_classes = c.classes > 2 && random_next(&r) % 2 ? 2 : 0;
    c.density = densities[random_next(&r) % 4];
    c.coarse = random_next(&r) % 2 == 0;
    c.broken = random_next(&r) % 3 == 0;
    c.keypoints_26 = (int)(random_next(&r) % 2);
    c.angle_raw = (int)(random_next(&r) % 2);
    c.precision = random_next(&r) % 4 == 0 ? SK_PRECISION_F32 : SK_PRECISION_F16;
    return c;
}

/* The same with one-to-one heads: fewer or more than the places, and than the settings want. */
static found_case found_case_one_to_one(uint64_t seed)
{
    static const int ranked[] = {300, 7, 40, 1, 1000};
    found_case c = found_case_random(seed);
    c.end2end = ranked[seed / 3 % 5];
    return c;
}

static int found_extra(const found_case *c)
{
    return c->task == SK_TASK_OBB ? 1 : c->keypoints * c->dims;
}

/* Heads in the order box, class, extra of each level; level k takes every 2^k-th pixel. */
static sk_graph *found_graph(const found_case *c, sk_yolo_spec *spec)
{
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    const int channels = 4 * c->reg + c->classes + found_extra(c);
    if (sk_graph_open(&g, &err) != SK_OK)
        return NULL;
    sk_builder_init(&b, g);
    const sk_shape shape = sk_shape_of(4, -1, channels, -1, -1);
    const sk_value x = sk_b_input(&b, "heads", SK_DTYPE_F32, &shape);
    *spec = (sk_yolo_spec){.n_levels = c->levels,
                           .reg_max = c->reg,
                           .n_classes = c->classes,
                           .n_keypoints = c->keypoints,
                           .keypoint_dims = c->keypoints ? c->dims : 0,
                           .keypoints_26 = c->keypoints_26,
                           .angle_raw = c->angle_raw,
                           .end2end = c->end2end > 0,
                           .max_det = c->end2end ? c->end2end : 300};
    for (int level = 0; level < c->levels; level++) {
        const int parts[3] = {4 * c->reg, c->classes, found_extra(c)};
        const sk_head_kind kinds[3] = {SK_HEAD_BOX, SK_HEAD_CLASS,
                                       c->task == SK_TASK_OBB ? SK_HEAD_ANGLE : SK_HEAD_KEYPOINTS};
        spec->stride[level] = (float)(8 << level);
        for (int part = 0, from = 0; part < 3; from += parts[part++]) {
            if (parts[part] == 0)
                continue;
            float *w = calloc((size_t)(parts[part] * channels), sizeof *w);
            for (int i = 0; i < parts[part]; i++)
                w[i * channels + from + i] = 1;
            const sk_shape ws = sk_shape_of(4, parts[part], channels, 1, 1);
            const sk_window win = {{1, 1}, {1 << level, 1 << level}, {1, 1}, {0, 0, 0, 0}, 0};
            char name[32];
            snprintf(name, sizeof name, "head%d_%d", level, part);
            sk_b_output(
                &b,
                sk_b_conv(&b, x, sk_b_constant(&b, "", SK_DTYPE_F32, &ws, w), SK_VALUE_NONE, &win, 1, name),
                name);
            free(w);
            spec->heads[spec->n_heads++] = (sk_head_spec){kinds[part], level};
        }
    }
    if (b.status != SK_OK)
        sk_graph_close(&g);
    return g;
}

/* Values as heads have them: most places far below the confidence, boxes of some grid cells around their place. */
static float *found_input(const found_case *c, uint64_t seed)
{
    random_source r = {seed * 991 + 17};
    const int channels = 4 * c->reg + c->classes + found_extra(c), plane = c->side * c->side;
    float *x = malloc((size_t)(c->batch * channels * plane) * sizeof *x);
    for (int n = 0; n < c->batch; n++)
        for (int i = 0; i < plane; i++) {
            const int high = found_unit(&r) < c->density, broken = c->broken && random_next(&r) % 16 == 0;
            for (int ch = 0; ch < channels; ch++) {
                float v = found_unit(&r) * 4 - 2;
                if (ch < 4 * c->reg) {
                    v = c->reg == 1 ? found_unit(&r) * 6 : v;
                } else if (ch < 4 * c->reg + c->classes) {
                    v = high ? found_unit(&r) * 6 - 2 : -9 + found_unit(&r);
                    v = c->coarse ? floorf(v * 2) / 2 : v;
                }
                if (broken && random_next(&r) % 8 == 0)
                    v = random_next(&r) % 3 == 0 ? NAN : random_next(&r) % 2 ? INFINITY : 70000.0f;
                x[((n * channels) + ch) * plane + i] = v;
            }
        }
    return x;
}

static sk_status found_post(const found_case *c, sk_yolo_post *post, const sk_tensor *outputs, int n_outputs,
                            int final, int image, sk_instances *out, sk_error *err)
{
    sk_map maps[16];
    sk_letterbox_geometry box;
    SK_TRY(sk_letterbox_fit(c->side * 8, c->side * 8, c->side * 8, c->side * 8, 0, &box, err));
    for (int i = 0; i < n_outputs; i++)
        SK_TRY(sk_map_of_tensor(&outputs[i], image, final, &maps[i], err));
    return sk_yolo_post_run(post, final ? SK_YOLO_FOUND : SK_YOLO_HEADS, maps, n_outputs, &box, out, err);
}

static void found_compare(const sk_instances *want, const sk_instances *got, found_result *result)
{
    result->want += want->count;
    result->got += got->count;
    for (int i = 0; i < want->count && i < got->count; i++) {
        const sk_found *a = &want->items[i], *b = &got->items[i];
        double d = 0;
        for (int k = 0; k < 9; k++) {
            const double u = (double)(k < 4 ? a->box[k] : a->obb[k - 4]),
                         v = (double)(k < 4 ? b->box[k] : b->obb[k - 4]);
            if ((k < 4 || (a->has & SK_HAS_OBB)) && u != v)
                d = fmax(d, isfinite(u) && isfinite(v) ? fabs(u - v) : INFINITY);
        }
        for (int k = 0; k < want->n_keypoints; k++) {
            const sk_keypoint *p = &want->keypoints[a->first_keypoint + k],
                              *q = &got->keypoints[b->first_keypoint + k];
            const float u[3] = {p->x, p->y, p->score}, v[3] = {q->x, q->y, q->score};
            for (int j = 0; j < 3; j++)
                if (u[j] != v[j] && !(isnan(u[j]) && isnan(v[j])))
                    d = fmax(d,
                             isfinite(u[j]) && isfinite(v[j]) ? fabs((double)u[j] - (double)v[j]) : INFINITY);
        }
        if (a->class_id != b->class_id || !(d < 0.01) || !(fabsf(a->score - b->score) < 1e-5f)) {
            result->different++;
        } else {
            result->worst = fmax(result->worst, d);
            result->score = fmax(result->score, fabs((double)a->score - (double)b->score));
        }
    }
}

/* One case through an engine, whole heads and what is found. */
static sk_status found_case_run(const found_case *given, uint64_t seed, const sk_engine *engine,
                                found_result *result, sk_error *err)
{
    found_case c = *given;
    sk_model model = {.task = c.task};
    sk_graph *g = found_graph(&c, &model.yolo);
    float *x = found_input(&c, seed);
    sk_session *dense = NULL, *found = NULL;
    sk_yolo_post *post = NULL;
    sk_instances want = {0}, got = {0};
    sk_session_settings s = sk_session_defaults();
    sk_found_outputs wish;
    sk_tensor heads[16], final;
    sk_session_input in = {.data = x};
    const sk_shape shape =
        sk_shape_of(4, c.batch, 4 * c.reg + c.classes + found_extra(&c), (int64_t)c.side, (int64_t)c.side);
    sk_status status = SK_OK;
    *result = (found_result){0};
    if (c.settings.n_classes > 0)
        c.settings.classes = c.wanted;
    s.tail = SK_TAIL_CUT;
    s.precision = c.precision;
    strcpy(s.options, "tune=off");
    s.cache_dir = "";
    if (!g || !sk_offload_found(&model, &c.settings, &wish)) {
        status = sk_fail(err, SK_ERR_INTERNAL, "case %d: finding is not offered", (int)seed);
        goto done;
    }
    SK_TRY_GOTO(sk_session_open(engine, g, &shape, 1, &s, &dense, err));
    SK_TRY_GOTO(sk_session_capture(dense, err));
    s.stages.found = &wish;
    SK_TRY_GOTO(sk_session_open(engine, g, &shape, 1, &s, &found, err));
    SK_TRY_GOTO(sk_session_capture(found, err));
    SK_TRY_GOTO(sk_yolo_post_open(&model.yolo, c.task, &c.settings, c.side * 8, c.side * 8, &post, err));
    SK_TRY_GOTO(sk_instances_alloc(c.settings.max_det, c.keypoints, &want, err));
    SK_TRY_GOTO(sk_instances_alloc(c.settings.max_det, c.keypoints, &got, err));
    SK_TRY_GOTO(sk_session_run(dense, &in, 1, heads, 16, err));
    for (int run = 0; run < 2; run++) { /* what the first leaves behind must not matter to the second */
        SK_TRY_GOTO(sk_session_run(found, &in, 1, &final, 1, err));
        *result = (found_result){0};
        for (int image = 0; image < c.batch; image++) {
            SK_TRY_GOTO(found_post(&c, post, heads, model.yolo.n_heads, 0, image, &want, err));
            SK_TRY_GOTO(found_post(&c, post, &final, 1, 1, image, &got, err));
            found_compare(&want, &got, result);
        }
    }
done:
    sk_session_close(&dense);
    sk_session_close(&found);
    sk_yolo_post_close(&post);
    sk_instances_free(&want);
    sk_instances_free(&got);
    sk_graph_close(&g);
    free(x);
    return status;
}

#endif
