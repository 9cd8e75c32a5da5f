/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_OVERLAP_FORMULA_H
#define SK_TASKS_OVERLAP_FORMULA_H

#include "base/formula.h"

/* How much two boxes overlap, as Ultralytics' suppression measures it. For C, CUDA and HIP: base/formula.h. */

/* Boxes of different classes are kept apart by shifting both axes. */
SK_FORMULA float sk_class_shift(int32_t class_id, float offset)
{
    return sk_mul((float)class_id, offset);
}

/* --- upright boxes --- */

SK_FORMULA float sk_box_area(float x1, float y1, float x2, float y2)
{
    return sk_mul(x2 - x1, y2 - y1);
}

/* The area two boxes share; 0 where they do not touch. */
SK_FORMULA float sk_box_shared(float ax1, float ay1, float ax2, float ay2, float bx1, float by1, float bx2,
                               float by2)
{
    const float x1 = ax1 > bx1 ? ax1 : bx1, y1 = ay1 > by1 ? ay1 : by1;
    const float x2 = ax2 < bx2 ? ax2 : bx2, y2 = ay2 < by2 ? ay2 : by2;
    const float w = x2 - x1, h = y2 - y1;
    return sk_mul(w > 0 ? w : 0, h > 0 ? h : 0);
}

/* The area both cover together. */
SK_FORMULA float sk_box_joined(float area_a, float area_b, float shared)
{
    return area_a + area_b - shared;
}

/* --- oriented boxes: as Gaussians --- */

typedef struct sk_gauss {
    float x, y;    /* centre */
    float a, b, c; /* covariance: xx, yy, xy */
} sk_gauss;

SK_FORMULA sk_gauss sk_gauss_of(float x, float y, float w, float h, float angle)
{
    const float u = sk_mul(w, w) / 12, v = sk_mul(h, h) / 12, cs = cosf(angle), sn = sinf(angle);
    const float cs2 = sk_mul(cs, cs), sn2 = sk_mul(sn, sn);
    sk_gauss g;
    g.x = x;
    g.y = y;
    g.a = sk_mul(u, cs2) + sk_mul(v, sn2);
    g.b = sk_mul(u, sn2) + sk_mul(v, cs2);
    g.c = sk_mul(sk_mul(u - v, cs), sn);
    return g;
}

#define SK_PROBIOU_EPS 1e-7f

/* One minus the Hellinger distance of two Gaussians, in the original's single precision and order of operations. */
SK_FORMULA float sk_gauss_overlap(sk_gauss p, sk_gauss q)
{
    const float sa = p.a + q.a, sb = p.b + q.b, sc = p.c + q.c;
    const float det = sk_mul(sa, sb) - sk_mul(sc, sc);
    const float dx = p.x - q.x, dy = p.y - q.y;
    const float t1 =
        sk_mul((sk_mul(sa, sk_mul(dy, dy)) + sk_mul(sb, sk_mul(dx, dx))) / (det + SK_PROBIOU_EPS), 0.25f);
    const float t2 = sk_mul(sk_mul(sk_mul(sc, q.x - p.x), p.y - q.y) / (det + SK_PROBIOU_EPS), 0.5f);
    float d1 = sk_mul(p.a, p.b) - sk_mul(p.c, p.c), d2 = sk_mul(q.a, q.b) - sk_mul(q.c, q.c);
    d1 = d1 > 0 ? d1 : 0;
    d2 = d2 > 0 ? d2 : 0;
    const float ratio = det / (sk_mul(4, sqrtf(sk_mul(d1, d2))) + SK_PROBIOU_EPS);
    float bd = t1 + t2 + sk_mul(logf(ratio + SK_PROBIOU_EPS), 0.5f);
    bd = bd < SK_PROBIOU_EPS ? SK_PROBIOU_EPS : bd > 100 ? 100 : bd;
    return 1 - sqrtf(1 - expf(-bd) + SK_PROBIOU_EPS);
}

/* A bound on the covariance's larger eigenvalue, for the test below. Tiny or very thin boxes, where single precision decides the
 * measure, are always measured in full. */
SK_FORMULA float sk_gauss_reach(float w, float h)
{
    const float u = sk_mul(w, w) / 12, v = sk_mul(h, h) / 12, wide = u > v ? u : v;
    return sk_mul(u, v) >= 1e-3f && sk_mul(u, v) >= sk_mul(sk_mul(1e-4f, wide), wide) ? wide : INFINITY;
}

/* May two boxes overlap at all? `bound`: sk_nms_rules; dx, dy: between the centres; of both the reach. */
SK_FORMULA int sk_gauss_near(float dx, float dy, float bound, float reach_a, float reach_b)
{
    return sk_mul(dx, dx) + sk_mul(dy, dy) <= sk_mul(bound, reach_a + reach_b);
}

#endif
