/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "tasks/nms.h"
#include "tasks/order.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void order_is_stable_and_descending(void **state)
{
    (void)state;
    enum { N = 5000 };
    static float scores[N];
    static int32_t order[N];
    static uint64_t keys[2 * N];
    uint32_t seed = 3;
    for (int count = 0; count <= N; count = count * 3 + 1) {
        for (int i = 0; i < count; i++)
            scores[i] = floorf(case_random(&seed) * 200 - 100) / 8;
        if (count > 10) {
            scores[3] = NAN;
            scores[4] = -0.0f;
            scores[5] = 0.0f;
            scores[6] = INFINITY;
        }
        sk_order_descending(scores, count, order, keys);
        for (int i = 1; i < count; i++) {
            float a = scores[order[i - 1]], b = scores[order[i]];
            assert_true(isnan(b) || a > b || (a == b && order[i - 1] < order[i]));
        }
    }
}

static void fill(sk_candidates *c, int n, float spread, int classes, int rotated, uint32_t seed)
{
    c->count = n;
    for (int i = 0; i < n; i++) {
        float x = case_random(&seed) * spread, y = case_random(&seed) * spread;
        float w = 5 + case_random(&seed) * 60, h = 5 + case_random(&seed) * 60;
        if (i % 50 == 0)
            w = h = case_random(&seed) * 0.1f; /* tiny boxes follow their own rules in single precision */
        if (i % 51 == 0)
            h = 0.3f;
        c->box[0][i] = x;
        c->box[1][i] = y;
        c->box[2][i] = rotated ? w : x + w;
        c->box[3][i] = rotated ? h : y + h;
        c->angle[i] = rotated ? case_random(&seed) * 3 : 0;
        c->score[i] = floorf(case_random(&seed) * 1000) / 1000;
        c->class_id[i] = (int32_t)(case_random(&seed) * (float)classes);
        c->place[i] = i;
    }
}

static float plain_iou(const sk_candidates *c, int i, int j, int agnostic)
{
    float a[4], b[4];
    for (int k = 0; k < 4; k++) {
        a[k] = c->box[k][i] + (agnostic ? 0 : (float)c->class_id[i] * 7680);
        b[k] = c->box[k][j] + (agnostic ? 0 : (float)c->class_id[j] * 7680);
    }
    float w = fmaxf(0, fminf(a[2], b[2]) - fmaxf(a[0], b[0])),
          h = fmaxf(0, fminf(a[3], b[3]) - fmaxf(a[1], b[1]));
    float inter = w * h;
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter);
}

static float plain_probiou(const sk_candidates *c, int i, int j, int agnostic)
{
    float a[5], b[5];
    for (int k = 0; k < 4; k++) {
        a[k] = c->box[k][i] + (agnostic || k > 1 ? 0 : (float)c->class_id[i] * 7680);
        b[k] = c->box[k][j] + (agnostic || k > 1 ? 0 : (float)c->class_id[j] * 7680);
    }
    a[4] = c->angle[i];
    b[4] = c->angle[j];
    return sk_probiou(a, b);
}

/* Stable selection of the rank-th best, slow and obvious. */
static void plain_order(const sk_candidates *c, int *order)
{
    for (int i = 0; i < c->count; i++) {
        int j = i;
        for (; j > 0 && c->score[order[j - 1]] < c->score[i]; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
}

static void suppression_equals_brute_force(void **state)
{
    (void)state;
    enum { N = 700 };
    sk_error err;
    sk_candidates c;
    assert_ok(sk_candidates_alloc(N, &c, &err), &err);
    for (int trial = 0; trial < 24; trial++) {
        int rotated = trial % 2, agnostic = trial / 2 % 2, n = trial < 4 ? trial : N,
            most = trial % 3 ? 1000 : 40;
        double iou = 0.2 + 0.06 * (trial % 11);
        fill(&c, n, trial % 5 ? 300.0f : 60.0f, 3, rotated, (uint32_t)trial);
        sk_nms *nms;
        assert_ok(sk_nms_open(N, most, &nms, &err), &err);
        int32_t keep[1000];
        int32_t count = rotated ? sk_nms_rotated(nms, &c, iou, agnostic, keep)
                                : sk_nms_greedy(nms, &c, iou, agnostic, keep);
        static int order[N], alive[N];
        plain_order(&c, order);
        int32_t expected = 0;
        for (int i = 0; i < n; i++) {
            alive[i] = 1;
            for (int j = 0; j < i && alive[i]; j++)
                if (rotated ? plain_probiou(&c, order[j], order[i], agnostic) > (float)iou
                            : alive[j] && (double)plain_iou(&c, order[j], order[i], agnostic) > iou)
                    alive[i] = 0;
            if (alive[i] && expected < most) {
                assert_true(expected < count);
                assert_int_equal(keep[expected], order[i]);
                expected++;
            }
        }
        assert_int_equal(count, expected);
        sk_nms_close(&nms);
    }
    sk_candidates_free(&c);
}

static void probiou_values(void **state)
{
    (void)state;
    const float a[5] = {10, 10, 20, 10, 0.3f}, far[5] = {500, 500, 20, 10, 0.3f};
    assert_true(fabsf(sk_probiou(a, a) - 1) < 1e-2f);
    assert_true(sk_probiou(a, far) < 1e-3f);
    /* By hand: equal axis-aligned squares of side 12 (variance 12), centres 6 apart: bd = 0.25 * 36 / 24 =
     * 0.375. */
    const float p[5] = {0, 0, 12, 12, 0}, q[5] = {6, 0, 12, 12, 0};
    assert_true(fabsf(sk_probiou(p, q) - (1 - sqrtf(1 - expf(-0.375f)))) < 1e-4f);
}

/* All anchors of a 640 (upright) and a 1024 (oriented) input as candidates end in bounded time. */
static void many_candidates_are_quick(void **state)
{
    (void)state;
    sk_error err;
    sk_candidates c;
    assert_ok(sk_candidates_alloc(40000, &c, &err), &err);
    sk_nms *nms;
    assert_ok(sk_nms_open(40000, 300, &nms, &err), &err);
    int32_t keep[300];
    for (int rotated = 0; rotated < 2; rotated++) {
        int sizes[3] = {8400, 21504, 40000};
        for (int k = 0; k < 3; k++) {
            for (int crowded = 0; crowded < 2; crowded++) {
                fill(&c, sizes[k], crowded ? 40.0f : 900.0f, 1, rotated, 5);
                double start = now();
                int32_t n =
                    rotated ? sk_nms_rotated(nms, &c, 0.7, 0, keep) : sk_nms_greedy(nms, &c, 0.7, 0, keep);
                double ms = (now() - start) * 1e3;
                print_message("%s, %d candidates%s: %d kept, %.2f ms\n", rotated ? "oriented" : "upright",
                              sizes[k], crowded ? " crowded" : "", (int)n, ms);
                assert_true(n > 0 && n <= 300);
                assert_true(ms < 2000);
            }
        }
    }
    sk_nms_close(&nms);
    sk_candidates_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_stable_and_descending), cmocka_unit_test(suppression_equals_brute_force),
        cmocka_unit_test(probiou_values), cmocka_unit_test(many_candidates_are_quick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
