/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/scale_back.h"

#include <math.h>

#define PI 3.14159265358979323846

static float clip(float v, float most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

typedef struct inverse {
    float pad[2], gain[2], most[2]; /* x, y */
} inverse;

/* One axis: how many pixels the picture took there, and from where. */
static void undo_axis(int32_t net, int32_t frame, double gain, int axis, inverse *out)
{
    long taken = lrint(frame * gain);
    taken = taken < 1 ? 1 : taken;
    out->pad[axis] = (float)lrint((double)(net - taken) / 2 - 0.1);
    out->gain[axis] = (float)((double)taken / frame);
    out->most[axis] = (float)frame;
}

static inverse undo(const sk_letterbox_geometry *g)
{
    inverse out;
    double gain = fmin((double)g->height / g->frame_height, (double)g->width / g->frame_width);
    undo_axis(g->width, g->frame_width, gain, 0, &out);
    undo_axis(g->height, g->frame_height, gain, 1, &out);
    return out;
}

void sk_scale_back_box(const sk_letterbox_geometry *g, float box[4])
{
    const inverse u = undo(g);
    for (int k = 0; k < 4; k++)
        box[k] = clip((box[k] - u.pad[k % 2]) / u.gain[k % 2], u.most[k % 2]);
}

void sk_scale_back_obb(const sk_letterbox_geometry *g, float obb[5])
{
    const inverse u = undo(g);
    for (int k = 0; k < 4; k++)
        obb[k] = (obb[k] - (k < 2 ? u.pad[k] : 0)) / u.gain[k % 2];
}

void sk_scale_back_keypoints(const sk_letterbox_geometry *g, sk_keypoint *keypoints, int32_t count)
{
    const inverse u = undo(g);
    for (int32_t k = 0; k < count; k++) {
        keypoints[k].x = clip((keypoints[k].x - u.pad[0]) / u.gain[0], u.most[0]);
        keypoints[k].y = clip((keypoints[k].y - u.pad[1]) / u.gain[1], u.most[1]);
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
