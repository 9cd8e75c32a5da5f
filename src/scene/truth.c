/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* The exact answer to a frame, from the shapes themselves and not from pixels. */

/* The outline's extent along the direction (ux, uy): spine circles and the parts that count. */
static void extent(const sk_body *body, float ux, float uy, float *low, float *high)
{
    *low = 1e30f;
    *high = -1e30f;
    for (int32_t i = 0; i < SK_SPINE; i++) {
        float at = body->spine[i][0] * ux + body->spine[i][1] * uy, r = body->radius[i];
        *low = at - r < *low ? at - r : *low;
        *high = at + r > *high ? at + r : *high;
    }
    for (int32_t i = 0; i < body->n_parts; i++) {
        const sk_body_part *p = &body->parts[i];
        if (!p->outline)
            continue;
        float c = (p->x1 * ux + p->y1 * uy) * p->r0, s = (p->x1 * uy - p->y1 * ux) * p->r1;
        float at = p->x0 * ux + p->y0 * uy, r = sqrtf(c * c + s * s);
        *low = at - r < *low ? at - r : *low;
        *high = at + r > *high ? at + r : *high;
    }
}

/* The spine's principal direction, as a unit vector. */
static void principal(const sk_body *body, float *ux, float *uy)
{
    float mx = 0.0f, my = 0.0f, xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int32_t i = 0; i < SK_SPINE; i++) {
        mx += body->spine[i][0] / (float)SK_SPINE;
        my += body->spine[i][1] / (float)SK_SPINE;
    }
    for (int32_t i = 0; i < SK_SPINE; i++) {
        float dx = body->spine[i][0] - mx, dy = body->spine[i][1] - my;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    float angle = 0.5f * sk_atan2(2.0f * xy, xx - yy);
    *ux = sk_cos(angle);
    *uy = sk_sin(angle);
}

static void oriented_box(const sk_body *body, float obb[5])
{
    float ux, uy, a0, a1, b0, b1;
    principal(body, &ux, &uy);
    extent(body, ux, uy, &a0, &a1);
    extent(body, -uy, ux, &b0, &b1);
    float a = 0.5f * (a0 + a1), b = 0.5f * (b0 + b1);
    obb[0] = a * ux - b * uy;
    obb[1] = a * uy + b * ux;
    float angle = sk_atan2(uy, ux);
    obb[2] = a1 - a0;
    obb[3] = b1 - b0;
    if (obb[2] < obb[3]) { /* the normal form has w >= h */
        obb[2] = b1 - b0;
        obb[3] = a1 - a0;
        angle += 0.5f * SK_PI;
    }
    if (angle < 0.0f)
        angle += SK_PI;
    obb[4] = angle >= SK_PI ? angle - SK_PI : angle;
}

/* Cut to the frame. */
static void upright_box(const sk_scene *scene, const sk_body *body, float box[4])
{
    extent(body, 1.0f, 0.0f, &box[0], &box[2]);
    extent(body, 0.0f, 1.0f, &box[1], &box[3]);
    for (int i = 0; i < 4; i++)
        box[i] = sk_clampf(box[i], 0.0f, (float)(i & 1 ? scene->world.height : scene->world.width));
}

bool sk_truth_in_frame(const sk_scene *scene, int32_t id)
{
    float box[4];
    upright_box(scene, &scene->body[id], box);
    return box[0] < box[2] && box[1] < box[3];
}

void sk_truth_make(const sk_scene *scene, int32_t id, sk_scene_animal *out)
{
    const sk_body *body = &scene->body[id];
    const sk_looks *looks = &scene->looks[id];
    const sk_canvas *canvas = &scene->canvas;
    *out = (sk_scene_animal){.track = scene->track[id], .species = looks->species, .length = looks->length};
    upright_box(scene, body, out->box);
    oriented_box(body, out->obb);
    for (int k = 0; k < SK_SCENE_KEYPOINTS; k++) {
        const float *at = body->spine[sk_keypoint_spine[looks->species][k]];
        out->points[k][0] = at[0];
        out->points[k][1] = at[1];
        int32_t x = sk_floor_int(at[0]), y = sk_floor_int(at[1]);
        if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) {
            out->seen[k] = SK_POINT_OUTSIDE;
            continue;
        }
        /* a tail thinner than a pixel may own none: only somebody else's body, or a roof, hides a point */
        uint8_t owner = canvas->owner[(size_t)y * (size_t)canvas->width + (size_t)x];
        out->seen[k] = owner == SK_OWNER_NOBODY || owner <= id ? SK_POINT_VISIBLE : SK_POINT_HIDDEN;
    }
    out->visible = canvas->whole[id] > 0 ? (float)canvas->shown[id] / (float)canvas->whole[id] : 0.0f;
}
