/* SPDX-License-Identifier: Apache-2.0 */
/* Every formula with floats in it, on random values: included by a file that is compiled as the library is (test_formulas.c) and
 * by one whose compiler fuses products and sums wherever it may (formulas_fused.c), as GPU compilers do. */
#include "tasks/order_formula.h"
#include "tasks/overlap_formula.h"
#include "tasks/peak_formula.h"
#include "tasks/picture_formula.h"
#include "tasks/yolo_formula.h"

enum { FORMULA_VALUES = 64 };

static uint32_t next_bits(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static float between(uint32_t *seed, float low, float high)
{
    return low + sk_mul(high - low, (float)next_bits(seed) / 16777216.0f);
}

/* What a formula gives, with something added, as callers may do. */
#define PUT(value) (*v++ = (value) + more)

static float *yolo_values(uint32_t *seed, float more, float *v)
{
    const float ax = sk_yolo_anchor((int32_t)(next_bits(seed) % 80)), ay = sk_yolo_anchor(17), stride = 7.3f;
    float r[4], box[4], logits[16];
    sk_yolo_mean mean = sk_yolo_mean_begin();
    for (int32_t i = 0; i < 16; i++) {
        logits[i] = between(seed, -4, 4);
        sk_yolo_mean_look(&mean, logits[i]);
    }
    for (int32_t i = 0; i < 16; i++)
        sk_yolo_mean_add(&mean, i, logits[i]);
    PUT(sk_yolo_mean_of(&mean));
    for (int k = 0; k < 4; k++)
        r[k] = between(seed, 0, 15);
    sk_yolo_box(ax, ay, stride, r, box);
    for (int k = 0; k < 4; k++)
        PUT(box[k]);
    sk_yolo_box_corners(ax, ay, stride, r, box);
    for (int k = 0; k < 4; k++)
        PUT(box[k]);
    PUT(sk_yolo_angle(logits[0], 0));
    sk_yolo_box_oriented(ax, ay, stride, r, logits[1], box);
    for (int k = 0; k < 4; k++)
        PUT(box[k]);
    PUT(sk_yolo_keypoint(between(seed, -9, 9), ax, stride, 0));
    PUT(sk_yolo_keypoint(between(seed, -9, 9), ay, stride, 1));
    PUT(sk_order_score(sk_order_key(sk_yolo_sigmoid(logits[3]), 7)));
    return v;
}

static float *overlap_values(uint32_t *seed, float more, float *v)
{
    float box[2][5];
    sk_gauss g[2];
    for (int i = 0; i < 2; i++) {
        box[i][0] = between(seed, 100, 130);
        box[i][1] = between(seed, 100, 130);
        box[i][2] = between(seed, 5, 80);
        box[i][3] = between(seed, 5, 80);
        box[i][4] = between(seed, -2, 2);
        g[i] = sk_gauss_of(box[i][0], box[i][1], box[i][2], box[i][3], box[i][4]);
        PUT(sk_class_shift((int32_t)(next_bits(seed) % 9), 7680.1f));
        PUT(g[i].a);
        PUT(g[i].b);
        PUT(g[i].c);
        PUT(sk_gauss_reach(box[i][2] / 9, box[i][3] / 70));
    }
    PUT(sk_gauss_overlap(g[0], g[1]));
    volatile float hidden_x = g[0].x - g[1].x, hidden_y = g[0].y - g[1].y;
    const float dx = hidden_x, dy = hidden_y, ex = hidden_x, ey = hidden_y;
    PUT(sk_gauss_near(dx, dy, 1, sk_mul(ex, ex) + sk_mul(ey, ey), 0)); /* just so */
    const float x2 = 3.1f + box[0][2], y2 = 4.7f + box[0][3], p2 = 9.3f + box[1][2], q2 = 2.9f + box[1][3];
    const float shared = sk_box_shared(3.1f, 4.7f, x2, y2, 9.3f, 2.9f, p2, q2);
    PUT(shared);
    PUT(sk_box_joined(sk_box_area(3.1f, 4.7f, x2, y2), sk_box_area(9.3f, 2.9f, p2, q2), shared));
    return v;
}

static float *peak_values(uint32_t *seed, float more, float *v)
{
    sk_peak_mass mass = {0, 0, 0};
    for (int32_t k = 0; k < 49; k++)
        sk_peak_mass_add(&mass, k % 7 - 3, k / 7 - 3, between(seed, 0, 1));
    float px = 11, py = 12;
    sk_peak_move(&px, &py, mass.x / mass.sum, mass.y / mass.sum);
    PUT(px);
    PUT(py);
    PUT((float)sk_peak_pixel_of(between(seed, 0, 90), 2.3f, 3.7f, 50));
    const float from[2] = {between(seed, 0, 300), between(seed, 0, 300)},
                to[2] = {between(seed, 0, 300), between(seed, 0, 300)};
    sk_line line = sk_line_begin(from, to, 10, 4);
    for (int32_t i = 0; i < 10; i++)
        sk_line_add(&line, between(seed, -1, 1), between(seed, -1, 1));
    PUT(sk_line_score(&line, 70, 80, 6, 0.013f, 0.7f));
    const float near[2] = {(float)(next_bits(seed) % 40), (float)(next_bits(seed) % 40)},
                far[2] = {(float)(next_bits(seed) % 40), (float)(next_bits(seed) % 40)};
    line = sk_line_begin(near, far, 10, 2); /* points half-way between pixels */
    int32_t sum = 0;
    for (int32_t i = 0; i < 10; i++) {
        int32_t x, y;
        sk_line_pixel(&line, i, 20, 20, &x, &y);
        sum += x * 32 + y;
    }
    PUT((float)sum);
    return v;
}

static float *picture_values(uint32_t *seed, float more, float *v)
{
    const uint8_t a = (uint8_t)next_bits(seed), b = (uint8_t)next_bits(seed), c = (uint8_t)next_bits(seed),
                  d = (uint8_t)next_bits(seed);
    const float px = between(seed, 0, 1), py = between(seed, 0, 1);
    PUT(sk_mix(a, b, c, d, px, py));
    PUT(sk_turned_byte(a, b, c, d, px, py));
    PUT(sk_turned_x((float)a, (float)b, (float)c, px, py));
    PUT(sk_turned_y((float)a, (float)b, (float)c, px, py));
    PUT(sk_turned_along((float)a, b, px - 0.5f, 200));
    PUT((float)sk_turned_holds((float)a - 128, (float)b - 128, px, py, (float)c, (float)d));
    PUT(sk_mix(sk_fraction(a), sk_fraction(b), sk_fraction(c), sk_fraction(d), px, py));
    PUT(sk_fraction(a));
    PUT(sk_grey_tensorflow(a, b, c));
    PUT(sk_grey_torch(a, b, c));
    PUT(sk_grey_fraction(a, b, c));
    return v;
}

/* Writes values[FORMULA_VALUES]; returns how many. */
static int formula_values(uint32_t seed, float *values)
{
    const float more = between(&seed, 0, 1);
    float *v = yolo_values(&seed, more, values);
    v = overlap_values(&seed, more, v);
    v = peak_values(&seed, more, v);
    v = picture_values(&seed, more, v);
    return (int)(v - values);
}
