/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_YOLO_FORMULA_H
#define SK_TASKS_YOLO_FORMULA_H

#include "base/formula.h"

/* What YOLO's raw heads mean at one place of a level's grid: which class, which box, which keypoints. In the originals' single
 * precision and order of operations. For C, CUDA and HIP: base/formula.h. */

SK_FORMULA float sk_yolo_sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

/* A bound below the logit of a confidence, by `margin` of it; the exact test follows on the score. SK_YOLO_MARGIN where the
 * logits are the same as those the score is made from. */
#define SK_YOLO_MARGIN 1e-4
SK_FORMULA float sk_yolo_logit_below(float confidence, double margin)
{
    if (!(confidence > 0))
        return -INFINITY;
    if (confidence >= 1)
        return INFINITY;
    const double logit = log((double)confidence / (1.0 - (double)confidence));
    return (float)(logit - margin * (1 + fabs(logit)));
}

/* --- classes --- */

typedef struct sk_yolo_best {
    float value;
    int32_t index; /* the first of the highest; NaN never wins */
} sk_yolo_best;

SK_FORMULA sk_yolo_best sk_yolo_best_begin(void)
{
    sk_yolo_best b;
    b.value = -INFINITY;
    b.index = 0;
    return b;
}

SK_FORMULA void sk_yolo_best_take(sk_yolo_best *b, int32_t index, float value)
{
    if (value > b->value) {
        b->value = value;
        b->index = index;
    }
}

/* Has an earlier class with logit `v` the same score as the highest logit `top`? Scores are compared after the sigmoid, as the
 * original does: distinct logits may round to equal scores. Then the earlier class is the place's. */
SK_FORMULA int sk_yolo_same_score(float v, float top, float top_score)
{
    return (top > 8 || v > top - 1e-5f) && sk_yolo_sigmoid(v) >= top_score;
}

/* --- distances to a box's sides, in grid units --- */

/* With distributions (DFL): the mean of 0 … reg_max-1 under a softmax. All values are looked at, then all are added. */
typedef struct sk_yolo_mean {
    float top, sum, mean;
} sk_yolo_mean;

SK_FORMULA sk_yolo_mean sk_yolo_mean_begin(void)
{
    sk_yolo_mean m;
    m.top = -INFINITY;
    m.sum = m.mean = 0;
    return m;
}

SK_FORMULA void sk_yolo_mean_look(sk_yolo_mean *m, float v)
{
    m->top = v > m->top ? v : m->top;
}

SK_FORMULA void sk_yolo_mean_add(sk_yolo_mean *m, int32_t i, float v)
{
    const float p = expf(v - m->top);
    m->sum += p;
    m->mean += sk_mul(p, (float)i);
}

SK_FORMULA float sk_yolo_mean_of(const sk_yolo_mean *m)
{
    return m->mean / m->sum;
}

/* --- boxes, in network input pixels --- */

/* Where a place lies: its column or row of the grid, in grid units. */
SK_FORMULA float sk_yolo_anchor(int32_t index)
{
    return (float)index + 0.5f;
}

SK_FORMULA void sk_yolo_box_of_centre(float cx, float cy, float w, float h, float box[4])
{
    box[0] = cx - w / 2;
    box[1] = cy - h / 2;
    box[2] = cx + w / 2;
    box[3] = cy + h / 2;
}

/* x1, y1, x2, y2 from the distances left, top, right, bottom. By way of centre and size, as the dense output goes, so that both
 * forms round alike. */
SK_FORMULA void sk_yolo_box(float ax, float ay, float stride, const float r[4], float box[4])
{
    const float x1 = ax - r[0], y1 = ay - r[1], x2 = ax + r[2], y2 = ay + r[3];
    sk_yolo_box_of_centre(sk_mul((x1 + x2) / 2, stride), sk_mul((y1 + y2) / 2, stride),
                          sk_mul(x2 - x1, stride), sk_mul(y2 - y1, stride), box);
}

/* The same of end-to-end models, whose output holds the corners themselves. */
SK_FORMULA void sk_yolo_box_corners(float ax, float ay, float stride, const float r[4], float box[4])
{
    box[0] = sk_mul(ax - r[0], stride);
    box[1] = sk_mul(ay - r[1], stride);
    box[2] = sk_mul(ax + r[2], stride);
    box[3] = sk_mul(ay + r[3], stride);
}

/* An oriented box's angle in radians; `raw`: the head says it itself (26). */
SK_FORMULA float sk_yolo_angle(float v, int raw)
{
    return raw ? v : sk_mul(sk_yolo_sigmoid(v) - 0.25f, (float)3.14159265358979323846);
}

/* cx, cy, w, h: the distances are along the box's own sides. */
SK_FORMULA void sk_yolo_box_oriented(float ax, float ay, float stride, const float r[4], float angle,
                                     float box[4])
{
    const float xf = (r[2] - r[0]) / 2, yf = (r[3] - r[1]) / 2, c = cosf(angle), s = sinf(angle);
    box[0] = sk_mul(sk_mul(xf, c) - sk_mul(yf, s) + ax, stride);
    box[1] = sk_mul(sk_mul(xf, s) + sk_mul(yf, c) + ay, stride);
    box[2] = sk_mul(r[0] + r[2], stride);
    box[3] = sk_mul(r[1] + r[3], stride);
}

SK_FORMULA int sk_yolo_box_is_finite(const float box[4], float angle)
{
    return sk_is_finite(box[0]) && sk_is_finite(box[1]) && sk_is_finite(box[2]) && sk_is_finite(box[3]) &&
           sk_is_finite(angle);
}

/* --- keypoints --- */

/* One coordinate of a keypoint in network input pixels; `at`: the place's anchor on that axis. YOLO 26 has other rules than 8 and
 * 11. Visibility is the sigmoid. */
SK_FORMULA float sk_yolo_keypoint(float v, float at, float stride, int era_26)
{
    return sk_mul(era_26 ? v + at : v * 2 + (at - 0.5f), stride);
}

#endif
