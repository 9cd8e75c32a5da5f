/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/nms_internal.h"

#include "tasks/overlap_formula.h"

#include <math.h>

/* Columns of a ranked box: centre, covariance (A = xx, B = yy, C = xy), and a bound on the covariance's
 * larger eigenvalue for the early test. */
enum { CX, CY, A, B, C, REACH };

float sk_probiou(const float p[5], const float q[5])
{
    return sk_gauss_overlap(sk_gauss_of(p[0], p[1], p[2], p[3], p[4]),
                            sk_gauss_of(q[0], q[1], q[2], q[3], q[4]));
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

static sk_gauss gauss_at(float *const *col, int32_t k)
{
    return (sk_gauss){col[CX][k], col[CY][k], col[A][k], col[B][k], col[C][k]};
}

/* 1 when some box ranked before `j` overlaps it. */
static int dropped(float *const *col, int32_t j, float bound, float limit)
{
    const float *restrict cx = col[CX], *restrict cy = col[CY], *restrict reach = col[REACH];
    const sk_gauss box = gauss_at(col, j);
    float x = box.x, y = box.y, own = reach[j];
    for (int32_t i = 0; i < j; i += SK_NMS_BLOCK) {
        int32_t near = 0;
        for (int32_t k = i; k < i + SK_NMS_BLOCK; k++)
            near += sk_gauss_near(cx[k] - x, cy[k] - y, bound, reach[k], own);
        if (!near)
            continue;
        int32_t end = i + SK_NMS_BLOCK < j ? i + SK_NMS_BLOCK : j;
        for (int32_t k = i; k < end; k++)
            if (sk_gauss_near(cx[k] - x, cy[k] - y, bound, reach[k], own) &&
                sk_gauss_overlap(gauss_at(col, k), box) > limit)
                return 1;
    }
    return 0;
}

int32_t sk_nms_rotated(sk_nms *n, const sk_candidates *c, double iou, int agnostic, int32_t *keep)
{
    int32_t count = sk_nms_rank(n, c), kept = 0;
    float **col = n->columns, bound = sk_nms_reach(iou);
    for (int32_t r = 0; r < count; r++) {
        int32_t i = n->order[r];
        float offset = agnostic ? 0 : sk_class_shift(c->class_id[i], SK_NMS_OFFSET);
        float w = c->box[2][i], h = c->box[3][i];
        const sk_gauss box = sk_gauss_of(c->box[0][i] + offset, c->box[1][i] + offset, w, h, c->angle[i]);
        col[CX][r] = box.x;
        col[CY][r] = box.y;
        col[A][r] = box.a;
        col[B][r] = box.b;
        col[C][r] = box.c;
        col[REACH][r] = sk_gauss_reach(w, h);
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
