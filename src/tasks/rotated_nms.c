/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/nms_internal.h"

#include <math.h>

/* Columns of a ranked box: centre, covariance (A = xx, B = yy, C = xy), and a bound on the covariance's
 * larger eigenvalue for the early test. */
enum { CX, CY, A, B, C, REACH };

#define EPS 1e-7f

static void covariance(float w, float h, float angle, float *a, float *b, float *c)
{
    float u = w * w / 12, v = h * h / 12, cs = cosf(angle), sn = sinf(angle);
    float cs2 = cs * cs, sn2 = sn * sn;
    *a = u * cs2 + v * sn2;
    *b = u * sn2 + v * cs2;
    *c = (u - v) * cs * sn;
}

/* One minus the Hellinger distance of two Gaussians, in the original's single precision and order of
 * operations. */
static float overlap(float x1, float y1, float a1, float b1, float c1, float x2, float y2, float a2, float b2,
                     float c2)
{
    float sa = a1 + a2, sb = b1 + b2, sc = c1 + c2;
    float det = sa * sb - sc * sc;
    float dx = x1 - x2, dy = y1 - y2;
    float t1 = (sa * (dy * dy) + sb * (dx * dx)) / (det + EPS) * 0.25f;
    float t2 = sc * (x2 - x1) * (y1 - y2) / (det + EPS) * 0.5f;
    float d1 = a1 * b1 - c1 * c1, d2 = a2 * b2 - c2 * c2;
    d1 = d1 > 0 ? d1 : 0;
    d2 = d2 > 0 ? d2 : 0;
    float t3 = logf(det / (4 * sqrtf(d1 * d2) + EPS) + EPS) * 0.5f;
    float bd = t1 + t2 + t3;
    bd = bd < EPS ? EPS : bd > 100 ? 100 : bd;
    return 1 - sqrtf(1 - expf(-bd) + EPS);
}

float sk_probiou(const float p[5], const float q[5])
{
    float a1, b1, c1, a2, b2, c2;
    covariance(p[2], p[3], p[4], &a1, &b1, &c1);
    covariance(q[2], q[3], q[4], &a2, &b2, &c2);
    return overlap(p[0], p[1], a1, b1, c1, q[0], q[1], a2, b2, c2);
}

/* The squared distance, per unit of summed reach, beyond which no pair can overlap by `iou`: the distance
 * part of the measure is at least d^2 / (4 * reach), the shape part is not negative, and their sum has to
 * stay below what `iou` allows. The margin covers single precision. */
float sk_nms_reach(double iou)
{
    double left = 1 - (1 - iou) * (1 - iou) + 1e-7;
    if (!(left > 1e-7))
        return INFINITY;
    double most = left < 1 ? -log(left) : 0;
    return (float)(4 * (most * 1.05 + 1e-3));
}

/* 1 when some box ranked before `j` overlaps it. */
static int dropped(float *const *col, int32_t j, float bound, float limit)
{
    const float *restrict cx = col[CX], *restrict cy = col[CY], *restrict reach = col[REACH];
    float x = cx[j], y = cy[j], own = reach[j];
    for (int32_t i = 0; i < j; i += SK_NMS_BLOCK) {
        int32_t near = 0;
        for (int32_t k = i; k < i + SK_NMS_BLOCK; k++) {
            float dx = cx[k] - x, dy = cy[k] - y;
            near += dx * dx + dy * dy <= bound * (reach[k] + own);
        }
        if (!near)
            continue;
        int32_t end = i + SK_NMS_BLOCK < j ? i + SK_NMS_BLOCK : j;
        for (int32_t k = i; k < end; k++) {
            float dx = cx[k] - x, dy = cy[k] - y;
            if (dx * dx + dy * dy <= bound * (reach[k] + own) &&
                overlap(cx[k], cy[k], col[A][k], col[B][k], col[C][k], x, y, col[A][j], col[B][j],
                        col[C][j]) > limit)
                return 1;
        }
    }
    return 0;
}

int32_t sk_nms_rotated(sk_nms *n, const sk_candidates *c, double iou, int agnostic, int32_t *keep)
{
    int32_t count = sk_nms_rank(n, c), kept = 0;
    float **col = n->columns, bound = sk_nms_reach(iou);
    for (int32_t r = 0; r < count; r++) {
        int32_t i = n->order[r];
        float offset = agnostic ? 0 : (float)c->class_id[i] * SK_NMS_OFFSET;
        col[CX][r] = c->box[0][i] + offset;
        col[CY][r] = c->box[1][i] + offset;
        float w = c->box[2][i], h = c->box[3][i];
        covariance(w, h, c->angle[i], &col[A][r], &col[B][r], &col[C][r]);
        /* Tiny or very thin boxes, where single precision decides the measure, are always measured in
         * full. */
        float u = w * w / 12, v = h * h / 12, wide = u > v ? u : v;
        col[REACH][r] = u * v >= 1e-3f && u * v >= 1e-4f * wide * wide ? wide : INFINITY;
    }
    for (int32_t r = count; r < count + SK_NMS_BLOCK; r++) {
        col[CX][r] = col[CY][r] = INFINITY;
        col[REACH][r] = 0;
    }
    for (int32_t r = 0; r < count && kept < n->max_det; r++)
        if (!dropped(col, r, bound, (float)iou))
            keep[kept++] = n->order[r];
    return kept;
}
