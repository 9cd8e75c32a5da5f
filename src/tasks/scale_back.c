/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/scale_back.h"

#include <math.h>

#define PI 3.14159265358979323846

static float clip(float v, float most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

/* The border as the original undoes it for boxes: recomputed from the sizes, rounded halves to even. */
static void box_border(const sk_letterbox_geometry *g, float *x, float *y)
{
    *x = (float)lrint((g->width - g->frame_width * g->gain) / 2 - 0.1);
    *y = (float)lrint((g->height - g->frame_height * g->gain) / 2 - 0.1);
}

void sk_scale_back_box(const sk_letterbox_geometry *g, float box[4])
{
    float px, py, gain = (float)g->gain;
    box_border(g, &px, &py);
    for (int k = 0; k < 4; k += 2) {
        box[k] = clip((box[k] - px) / gain, (float)g->frame_width);
        box[k + 1] = clip((box[k + 1] - py) / gain, (float)g->frame_height);
    }
}

void sk_scale_back_obb(const sk_letterbox_geometry *g, sk_obb_form form, float obb[5])
{
    float px, py, gain = (float)g->gain;
    box_border(g, &px, &py);
    obb[0] = (obb[0] - px) / gain;
    obb[1] = (obb[1] - py) / gain;
    obb[2] /= gain;
    obb[3] /= gain;
    for (int k = 0; k < 4 && form == SK_OBB_LONG_SIDE; k++)
        obb[k] = clip(obb[k], (float)(k % 2 ? g->frame_height : g->frame_width));
}

void sk_scale_back_keypoints(const sk_letterbox_geometry *g, sk_keypoint *keypoints, int32_t count)
{
    float px = (float)((g->width - lrint(g->frame_width * g->gain)) / 2.0);
    float py = (float)((g->height - lrint(g->frame_height * g->gain)) / 2.0);
    float gain = (float)g->gain;
    for (int32_t k = 0; k < count; k++) {
        keypoints[k].x = clip((keypoints[k].x - px) / gain, (float)g->frame_width);
        keypoints[k].y = clip((keypoints[k].y - py) / gain, (float)g->frame_height);
    }
}

/* Remainder with the divisor's sign, as Python's %. */
static float modulo(float v, float m)
{
    float r = fmodf(v, m);
    return r < 0 ? r + m : r;
}

void sk_obb_normalise(sk_obb_form form, float obb[5])
{
    float w = obb[2], h = obb[3], t = obb[4];
    if (form == SK_OBB_LONG_SIDE) {
        obb[2] = w > h ? w : h;
        obb[3] = w > h ? h : w;
        obb[4] = modulo(w > h ? t : t + (float)(PI / 2), (float)PI);
        return;
    }
    int swap = modulo(t, (float)PI) >= (float)(PI / 2);
    obb[2] = swap ? h : w;
    obb[3] = swap ? w : h;
    obb[4] = modulo(t, (float)(PI / 2));
}

void sk_obb_bounds(const float obb[5], float box[4])
{
    float c = fabsf(cosf(obb[4])), s = fabsf(sinf(obb[4]));
    float x = (obb[2] * c + obb[3] * s) / 2, y = (obb[2] * s + obb[3] * c) / 2;
    box[0] = obb[0] - x;
    box[1] = obb[1] - y;
    box[2] = obb[0] + x;
    box[3] = obb[1] + y;
}
