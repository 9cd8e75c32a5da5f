/* SPDX-License-Identifier: Apache-2.0 */
/* The three forms of a YOLO network's output give the same candidates. */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "base/instances.h"
#include "tasks/yolo_post.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 96, LEVELS = 3, PLACES = 12 * 12 + 6 * 6 + 3 * 3, MAX_CHANNELS = 96 };

typedef struct head_case {
    const char *name;
    sk_task task;
    int reg_max, classes, keypoints, dims, end2end, keypoints_26, angle_raw;
} head_case;

static const head_case cases[] = {
    {"detect 8/11", SK_TASK_DETECT, 16, 5, 0, 0, 0, 0, 0},
    {"pose 8/11", SK_TASK_POSE, 16, 1, 4, 3, 0, 0, 0},
    {"pose 2-d", SK_TASK_POSE, 16, 2, 3, 2, 0, 0, 0},
    {"obb 8/11", SK_TASK_OBB, 16, 3, 0, 0, 0, 0, 0},
    {"detect v10", SK_TASK_DETECT, 16, 5, 0, 0, 1, 0, 0},
    {"detect 26", SK_TASK_DETECT, 1, 5, 0, 0, 1, 0, 0},
    {"pose 26", SK_TASK_POSE, 1, 2, 4, 3, 1, 1, 0},
    {"obb 26", SK_TASK_OBB, 1, 3, 0, 0, 1, 0, 1},
    {"detect 26 one-to-many", SK_TASK_DETECT, 1, 5, 0, 0, 0, 0, 0},
};

typedef struct heads {
    sk_yolo_spec spec;
    sk_map maps[12];
    float *data[12];
    int n;
} heads;

static void make_heads(const head_case *c, float level_shift, uint32_t seed, heads *h)
{
    memset(h, 0, sizeof *h);
    h->spec = (sk_yolo_spec){.n_levels = LEVELS,
                             .stride = {8, 16, 32},
                             .reg_max = c->reg_max,
                             .n_classes = c->classes,
                             .n_keypoints = c->keypoints,
                             .keypoint_dims = c->dims,
                             .end2end = c->end2end,
                             .max_det = 300,
                             .keypoints_26 = c->keypoints_26,
                             .angle_raw = c->angle_raw};
    for (int l = 0; l < LEVELS; l++) {
        int side = SIDE / (int)h->spec.stride[l];
        struct {
            sk_head_kind kind;
            int channels;
        } want[4] = {{SK_HEAD_BOX, 4 * c->reg_max},
                     {SK_HEAD_CLASS, c->classes},
                     {SK_HEAD_KEYPOINTS, c->keypoints * c->dims},
                     {SK_HEAD_ANGLE, c->task == SK_TASK_OBB}};
        for (int k = 0; k < 4; k++) {
            if (!want[k].channels)
                continue;
            size_t count = (size_t)want[k].channels * (size_t)(side * side);
            float *data = malloc(count * sizeof *data);
            for (size_t i = 0; i < count; i++)
                data[i] = want[k].kind == SK_HEAD_CLASS ? case_random(&seed) * 8 - 5 + level_shift
                          : c->reg_max == 1 && want[k].kind == SK_HEAD_BOX ? case_random(&seed) * 3 + 0.2f
                                                                           : case_random(&seed) * 4 - 2;
            h->data[h->n] = data;
            h->maps[h->n] = sk_map_planar(data, want[k].channels, side, side);
            h->spec.heads[h->spec.n_heads++] = (sk_head_spec){want[k].kind, l};
            h->n++;
        }
    }
}

static void free_heads(heads *h)
{
    for (int i = 0; i < h->n; i++)
        free(h->data[i]);
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

/* The decode tail, written down plainly in double: [channels][PLACES]. */
static int plain_tail(const head_case *c, const heads *h, float *dense)
{
    int channels = 4 + c->classes + c->keypoints * c->dims + (c->task == SK_TASK_OBB), first = 0, head = 0;
    for (int l = 0; l < LEVELS; l++) {
        int side = h->maps[head].width;
        const float *box = h->data[head], *cls = h->data[head + 1];
        const float *extra = c->keypoints || c->task == SK_TASK_OBB ? h->data[head + 2] : NULL;
        double s = h->spec.stride[l];
        for (int i = 0; i < side * side; i++) {
            double d[4], ax = i % side + 0.5, ay = i / side + 0.5;
            for (int k = 0; k < 4; k++) {
                double sum = 0, mean = 0;
                for (int b = 0; b < c->reg_max; b++) {
                    double p = exp(box[(k * c->reg_max + b) * side * side + i]);
                    sum += p;
                    mean += p * b;
                }
                d[k] = c->reg_max == 1 ? box[k * side * side + i] : mean / sum;
            }
            float *o = dense + first + i;
            double x = (d[2] - d[0]) / 2, y = (d[3] - d[1]) / 2;
            if (c->task == SK_TASK_OBB) {
                double a = c->angle_raw ? extra[i] : (sigmoid(extra[i]) - 0.25) * 3.14159265358979323846;
                double rx = x * cos(a) - y * sin(a), ry = x * sin(a) + y * cos(a);
                x = rx;
                y = ry;
                o[(4 + c->classes) * PLACES] = (float)a;
            }
            o[0] = (float)((ax + x) * s);
            o[PLACES] = (float)((ay + y) * s);
            o[2 * PLACES] = (float)((d[0] + d[2]) * s);
            o[3 * PLACES] = (float)((d[1] + d[3]) * s);
            for (int k = 0; k < c->classes; k++)
                o[(4 + k) * PLACES] = (float)sigmoid(cls[k * side * side + i]);
            for (int k = 0; k < c->keypoints * c->dims; k++) {
                double v = extra[k * side * side + i], a = k % c->dims == 0 ? ax : ay;
                if (k % c->dims == 2)
                    v = sigmoid(v);
                else
                    v = c->keypoints_26 ? (v + a) * s : (2 * v + a - 0.5) * s;
                o[(4 + c->classes + k) * PLACES] = (float)v;
            }
        }
        first += side * side;
        head += extra ? 3 : 2;
    }
    return channels;
}

static void assert_same(const sk_instances *a, const sk_instances *b, const char *name)
{
    if (a->count != b->count)
        fail_msg("%s: %d and %d instances", name, (int)a->count, (int)b->count);
    for (int32_t i = 0; i < a->count; i++) {
        const sk_found *p = &a->items[i], *q = &b->items[i];
        assert_int_equal(p->class_id, q->class_id);
        assert_true(fabsf(p->score - q->score) < 1e-5f);
        for (int k = 0; k < 4; k++)
            assert_true(fabsf(p->box[k] - q->box[k]) < 2e-3f);
        for (int k = 0; k < 5 && p->has & SK_HAS_OBB; k++)
            assert_true(fabsf(p->obb[k] - q->obb[k]) < 2e-3f);
        for (int k = 0; k < a->n_keypoints; k++) {
            const sk_keypoint *u = &a->keypoints[p->first_keypoint + k],
                              *v = &b->keypoints[q->first_keypoint + k];
            assert_true(fabsf(u->x - v->x) < 2e-3f && fabsf(u->y - v->y) < 2e-3f);
            assert_true(fabsf(u->score - v->score) < 1e-5f);
        }
    }
}

/* End-to-end rows from a dense output, by the head's rule: best places, then best (place, class) pairs. */
static int plain_rows(const head_case *c, const float *dense, int limit, float *rows)
{
    int extra = c->keypoints * c->dims + (c->task == SK_TASK_OBB), width = 6 + extra, n = 0;
    static float used[PLACES * 8];
    memset(used, 0, sizeof used);
    for (; n < limit && n < PLACES * c->classes; n++) {
        int best = -1;
        for (int i = 0; i < PLACES * c->classes; i++)
            if (!used[i] && (best < 0 || dense[(4 + i % c->classes) * PLACES + i / c->classes] >
                                             dense[(4 + best % c->classes) * PLACES + best / c->classes]))
                best = i;
        used[best] = 1;
        int place = best / c->classes, label = best % c->classes;
        float *r = rows + n * width, b[4];
        for (int k = 0; k < 4; k++)
            b[k] = dense[k * PLACES + place];
        int obb = c->task == SK_TASK_OBB;
        r[0] = obb ? b[0] : b[0] - b[2] / 2;
        r[1] = obb ? b[1] : b[1] - b[3] / 2;
        r[2] = obb ? b[2] : b[0] + b[2] / 2;
        r[3] = obb ? b[3] : b[1] + b[3] / 2;
        r[4] = dense[(4 + label) * PLACES + place];
        r[5] = (float)label;
        for (int k = 0; k < extra; k++)
            r[6 + k] = dense[(4 + c->classes + k) * PLACES + place];
    }
    return n;
}

static void forms_agree(void **state)
{
    (void)state;
    sk_error err;
    float *dense = malloc(sizeof(float) * MAX_CHANNELS * PLACES),
          *rows = malloc(sizeof(float) * 300 * MAX_CHANNELS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const head_case *c = &cases[i];
        heads h;
        make_heads(c, 0, (uint32_t)i + 1, &h);
        int channels = plain_tail(c, &h, dense);
        sk_yolo_settings s = sk_yolo_settings_defaults();
        sk_yolo_post *post;
        assert_ok(sk_yolo_post_open(&h.spec, c->task, &s, SIDE, SIDE, &post, &err), &err);
        sk_letterbox_geometry g;
        assert_ok(sk_letterbox_fit(200, 150, SIDE, SIDE, 0, &g, &err), &err);
        sk_instances a, b;
        assert_ok(sk_instances_alloc(300, c->keypoints, &a, &err), &err);
        assert_ok(sk_instances_alloc(300, c->keypoints, &b, &err), &err);
        uint64_t before = sk_memory_allocations();
        assert_ok(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &a, &err), &err);
        if (c->end2end) {
            int n = plain_rows(c, dense, 300, rows);
            sk_map map = sk_map_interleaved(rows, 2 + channels - c->classes, 1, n);
            assert_ok(sk_yolo_post_run(post, SK_YOLO_FOUND, &map, 1, &g, &b, &err), &err);
        } else {
            sk_map map = sk_map_planar(dense, channels, 1, PLACES);
            assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &map, 1, &g, &b, &err), &err);
        }
        assert_int_equal(sk_memory_allocations(), before);
        assert_true(a.count > 10);
        assert_same(&a, &b, c->name);
        /* Interleaved heads read in place. */
        for (int k = 0; k < h.n; k++) {
            sk_map *m = &h.maps[k];
            int places = m->height * m->width;
            float *turned = malloc(sizeof(float) * (size_t)(m->channels * places));
            for (int p = 0; p < places; p++)
                for (int ch = 0; ch < m->channels; ch++)
                    turned[p * m->channels + ch] = h.data[k][ch * places + p];
            free(h.data[k]);
            h.data[k] = turned;
            *m = sk_map_interleaved(turned, m->channels, m->height, m->width);
        }
        assert_ok(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &b, &err), &err);
        assert_same(&a, &b, c->name);
        sk_instances_free(&a);
        sk_instances_free(&b);
        sk_yolo_post_close(&post);
        free_heads(&h);
    }
    free(dense);
    free(rows);
}

/* A saturated sigmoid makes distinct logits equal scores: the first class wins, as in the dense output. */
static void equal_scores_take_the_first_class(void **state)
{
    (void)state;
    sk_error err;
    heads h;
    make_heads(&cases[0], -20, 5, &h);
    for (int c = 0; c < 5; c++)
        h.data[1][c * 144 + 7] = 30 + (float)c;
    sk_yolo_post *post;
    assert_ok(sk_yolo_post_open(&h.spec, SK_TASK_DETECT, NULL, SIDE, SIDE, &post, &err), &err);
    sk_letterbox_geometry g;
    assert_ok(sk_letterbox_fit(SIDE, SIDE, SIDE, SIDE, 0, &g, &err), &err);
    sk_instances a;
    assert_ok(sk_instances_alloc(300, 0, &a, &err), &err);
    assert_ok(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &a, &err), &err);
    assert_int_equal(a.count, 1);
    assert_int_equal(a.items[0].class_id, 0);
    sk_instances_free(&a);
    sk_yolo_post_close(&post);
    free_heads(&h);
}

static void class_filter_and_limits(void **state)
{
    (void)state;
    sk_error err;
    heads h;
    make_heads(&cases[0], 0, 9, &h);
    const int32_t only[2] = {1, 3}, wrong[1] = {5};
    sk_yolo_settings s = sk_yolo_settings_defaults();
    sk_yolo_post *post;
    s.classes = wrong;
    s.n_classes = 1;
    assert_int_equal(sk_yolo_post_open(&h.spec, SK_TASK_DETECT, &s, SIDE, SIDE, &post, &err), SK_ERR_ARG);
    s.classes = only;
    s.n_classes = 2;
    s.max_det = 7;
    assert_ok(sk_yolo_post_open(&h.spec, SK_TASK_DETECT, &s, SIDE, SIDE, &post, &err), &err);
    sk_letterbox_geometry g;
    assert_ok(sk_letterbox_fit(SIDE, SIDE, SIDE, SIDE, 0, &g, &err), &err);
    sk_instances a;
    assert_ok(sk_instances_alloc(7, 0, &a, &err), &err);
    assert_ok(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &a, &err), &err);
    assert_int_equal(a.count, 7);
    for (int i = 0; i < 7; i++)
        assert_true(a.items[i].class_id == 1 || a.items[i].class_id == 3);
    /* Heads that do not fit the specification are refused, not read. */
    assert_int_equal(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n - 1, &g, &a, &err), SK_ERR_MISMATCH);
    h.maps[1].channels = 4;
    assert_int_equal(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &a, &err), SK_ERR_MISMATCH);
    h.maps[1].channels = 5;
    h.maps[0].width++;
    assert_int_equal(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &a, &err), SK_ERR_MISMATCH);
    /* Neither are rows: another number of values, of lines, or more places than there can be. */
    static float rows[16 * 4 * 8];
    const int32_t values = 4 + h.spec.n_classes;
    sk_map one = sk_map_planar(rows, values, 1, 8);
    assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &one, 1, &g, &a, &err), &err);
    assert_int_equal(a.count, 0);
    const sk_map bad[] = {sk_map_planar(rows, values + 1, 1, 8), sk_map_planar(rows, values - 1, 1, 8),
                          sk_map_planar(rows, values, 2, 8), sk_map_planar(rows, values, 1, 1 << 20)};
    for (int i = 0; i < 4; i++)
        assert_int_equal(sk_yolo_post_run(post, SK_YOLO_DENSE, &bad[i], 1, &g, &a, &err), SK_ERR_MISMATCH);
    sk_instances_free(&a);
    sk_yolo_post_close(&post);
    free_heads(&h);
}

static void assert_finite(const sk_instances *a)
{
    for (int32_t i = 0; i < a->count; i++) {
        assert_true(isfinite(a->items[i].score));
        for (int k = 0; k < 4; k++)
            assert_true(isfinite(a->items[i].box[k]));
    }
}

/* NaN and infinity anywhere in the outputs, no candidates, every place a candidate. */
static void bad_values_are_survived(void **state)
{
    (void)state;
    sk_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const head_case *c = &cases[i];
        for (int round = 0; round < 5; round++) {
            heads h;
            make_heads(c, round == 0 ? -40.0f : round == 1 ? 40.0f : 0, (uint32_t)(i * 5) + 1, &h);
            const float poison[3] = {NAN, INFINITY, -INFINITY};
            uint32_t seed = 77;
            for (int k = 0; k < h.n && round >= 2; k++)
                for (int j = 0; j < h.maps[k].channels * h.maps[k].height * h.maps[k].width; j++)
                    if (case_random(&seed) < 0.3f)
                        h.data[k][j] = poison[round - 2];
            sk_yolo_post *post;
            assert_ok(sk_yolo_post_open(&h.spec, c->task, NULL, SIDE, SIDE, &post, &err), &err);
            sk_letterbox_geometry g;
            assert_ok(sk_letterbox_fit(50, 80, SIDE, SIDE, 0, &g, &err), &err);
            sk_instances a;
            assert_ok(sk_instances_alloc(300, c->keypoints, &a, &err), &err);
            assert_ok(sk_yolo_post_run(post, SK_YOLO_HEADS, h.maps, h.n, &g, &a, &err), &err);
            if (round == 0)
                assert_int_equal(a.count, 0);
            if (round == 1)
                assert_true(a.count > 0);
            assert_finite(&a);
            sk_instances_free(&a);
            sk_yolo_post_close(&post);
            free_heads(&h);
        }
    }
}

/* Equivalent descriptions of one oriented box. */
static void oriented_boxes_have_a_normal_form(void **state)
{
    (void)state;
    const float pi = 3.14159265f;
    float a[5] = {10, 20, 4, 9, 0.3f}, b[5] = {10, 20, 4, 9, 0.3f}, c[5] = {10, 20, 9, 4, -0.2f},
          d[5] = {10, 20, 9, 4, 2};
    sk_obb_normalise(SK_OBB_LONG_SIDE, a);
    assert_true(a[2] == 9 && a[3] == 4 && fabsf(a[4] - (0.3f + pi / 2)) < 1e-6f);
    sk_obb_normalise(SK_OBB_QUARTER, b);
    assert_true(b[2] == 4 && b[3] == 9 && fabsf(b[4] - 0.3f) < 1e-6f);
    sk_obb_normalise(SK_OBB_LONG_SIDE, c);
    assert_true(c[2] == 9 && fabsf(c[4] - (pi - 0.2f)) < 1e-6f);
    sk_obb_normalise(SK_OBB_QUARTER, d);
    assert_true(d[2] == 4 && d[3] == 9 && fabsf(d[4] - (2 - pi / 2)) < 1e-6f);
    sk_error err;
    sk_letterbox_geometry g;
    assert_ok(sk_letterbox_fit(200, 100, 100, 100, 0, &g, &err), &err);
    float f[5] = {-5, 50, 300, 20, 0};
    sk_scale_back_obb(&g, f); /* not clipped: a box may reach beyond the frame */
    assert_true(f[0] == -10 && f[1] == 50 && f[2] == 600 && f[3] == 40);
    float box[4];
    const float turned[5] = {50, 50, 20, 10, pi / 2};
    sk_obb_bounds(turned, box);
    assert_true(fabsf(box[0] - 45) < 1e-4f && fabsf(box[1] - 40) < 1e-4f && fabsf(box[3] - 60) < 1e-4f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_agree), cmocka_unit_test(equal_scores_take_the_first_class),
        cmocka_unit_test(class_filter_and_limits), cmocka_unit_test(bad_values_are_survived),
        cmocka_unit_test(oriented_boxes_have_a_normal_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
