/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* Shapes. A spine of SK_SPINE points with a radius each is the body; strokes and ellipses are what sits on it. */

const int32_t sk_keypoint_spine[SK_SPECIES_COUNT][SK_SCENE_KEYPOINTS] = {
    [SK_SPECIES_FISH] = {0, 5, 11, 19, 24},
    [SK_SPECIES_FLY] = {0, 5, 9, 13, 24},
    [SK_SPECIES_MOUSE] = {0, 5, 9, 14, 24},
};

/* The point of the spine that stands at the animal's position. */
static const int32_t pivot[SK_SPECIES_COUNT] = {9, 9, 9};

/* Radius over place, both in body lengths; straight lines between. */
typedef struct knot {
    float s, r;
} knot;

static const knot fish_profile[] = {{0.0f, 0.018f},  {0.04f, 0.038f}, {0.12f, 0.066f}, {0.25f, 0.085f},
                                    {0.38f, 0.084f}, {0.55f, 0.062f}, {0.70f, 0.036f}, {0.80f, 0.019f},
                                    {0.90f, 0.014f}, {1.0f, 0.008f}};
static const knot fly_profile[] = {{0.0f, 0.055f},  {0.06f, 0.095f}, {0.13f, 0.100f}, {0.20f, 0.065f},
                                   {0.26f, 0.105f}, {0.37f, 0.135f}, {0.46f, 0.115f}, {0.54f, 0.078f},
                                   {0.62f, 0.110f}, {0.75f, 0.118f}, {0.88f, 0.085f}, {1.0f, 0.020f}};
static const knot mouse_profile[] = {{0.0f, 0.014f},  {0.05f, 0.032f}, {0.12f, 0.055f}, {0.20f, 0.068f},
                                     {0.28f, 0.085f}, {0.40f, 0.105f}, {0.50f, 0.105f}, {0.56f, 0.080f},
                                     {0.60f, 0.038f}, {0.64f, 0.017f}, {0.80f, 0.012f}, {1.0f, 0.006f}};
static const knot *const profiles[SK_SPECIES_COUNT] = {fish_profile, fly_profile, mouse_profile};

static float profile_at(const knot *k, float s)
{
    while (k[1].s < s && k[1].s < 1.0f)
        k++;
    return k[0].r + (k[1].r - k[0].r) * ((s - k[0].s) / (k[1].s - k[0].s));
}

/* How far the spine's direction at s deviates from straight, radians. */
static float deviation(const sk_looks *looks, const sk_motion *m, float s)
{
    switch (looks->species) {
    case SK_SPECIES_FISH: {
        float swing = 0.10f + 0.16f * sk_clampf(m->speed, 0.0f, 2.0f);
        return -m->bend * (s - 0.25f) * 1.1f + swing * (0.15f + 2.2f * s * s) * sk_sin(m->phase - 6.6f * s);
    }
    case SK_SPECIES_FLY: return -m->bend * 0.12f * (s - 0.35f);
    default: {
        float body = -m->bend * (s < 0.6f ? s - 0.2f : 0.4f) * 1.5f;
        float tail =
            s > 0.58f ? (s - 0.58f) * (m->sway * 2.6f + 0.8f * sk_sin(m->phase * 0.35f - 5.0f * s)) : 0.0f;
        return body + tail + 0.05f * sk_sin(m->phase) * (0.5f - s);
    }
    }
}

static void make_spine(const sk_looks *looks, const sk_motion *m, sk_body *body)
{
    const float step = looks->length / (float)(SK_SPINE - 1);
    float x = 0.0f, y = 0.0f;
    for (int32_t i = 0; i < SK_SPINE; i++) {
        float s = (float)i / (float)(SK_SPINE - 1);
        body->spine[i][0] = x;
        body->spine[i][1] = y;
        float r = profile_at(profiles[looks->species], s) * looks->length;
        /* a mouse's tail has its thickness whatever the girth */
        body->radius[i] = looks->species == SK_SPECIES_MOUSE && s > 0.62f ? r : r * looks->girth;
        float angle = m->heading + SK_PI + deviation(looks, m, s + 0.5f / (float)(SK_SPINE - 1));
        x += step * sk_cos(angle);
        y += step * sk_sin(angle);
    }
    float dx = m->x - body->spine[pivot[looks->species]][0],
          dy = m->y - body->spine[pivot[looks->species]][1];
    for (int32_t i = 0; i < SK_SPINE; i++) {
        body->spine[i][0] += dx;
        body->spine[i][1] += dy;
    }
}

/* Unit vector from tail to nose at spine point i. */
static void forward(const sk_body *body, int32_t i, float *x, float *y)
{
    int32_t a = i > 0 ? i - 1 : 0, b = i < SK_SPINE - 1 ? i + 1 : SK_SPINE - 1;
    float dx = body->spine[a][0] - body->spine[b][0], dy = body->spine[a][1] - body->spine[b][1];
    float length = sqrtf(dx * dx + dy * dy);
    *x = dx / length;
    *y = dy / length;
}

/* A point beside the spine: `ahead` towards the nose, `aside` to the animal's right. */
static void beside(const sk_body *body, int32_t i, float ahead, float aside, float *x, float *y)
{
    float fx, fy;
    forward(body, i, &fx, &fy);
    *x = body->spine[i][0] + fx * ahead - fy * aside;
    *y = body->spine[i][1] + fy * ahead + fx * aside;
}

static sk_body_part *add_part(sk_body *body)
{
    sk_body_part *part = &body->parts[body->n_parts++];
    *part = (sk_body_part){.opacity = 1.0f};
    return part;
}

/* An ellipse beside the spine whose long axis is turned by `angle` from the direction to the nose. */
static sk_body_part *add_ellipse(sk_body *body, int32_t i, float ahead, float aside, float along,
                                 float across, float angle)
{
    sk_body_part *part = add_part(body);
    float fx, fy, c = sk_cos(angle), s = sk_sin(angle);
    forward(body, i, &fx, &fy);
    part->ellipse = true;
    beside(body, i, ahead, aside, &part->x0, &part->y0);
    part->x1 = fx * c - fy * s;
    part->y1 = fy * c + fx * s;
    part->r0 = along;
    part->r1 = across;
    return part;
}

static sk_colour dim(sk_colour c, float by)
{
    return (sk_colour){c.r * by, c.g * by, c.b * by};
}

static void add_eyes(sk_body *body, float size, int32_t i, float aside)
{
    for (int side = -1; side <= 1; side += 2) {
        sk_body_part *eye = add_ellipse(body, i, 0.0f, (float)side * aside, size, size * 0.8f, 0.0f);
        eye->over = true;
        eye->colour = (sk_colour){18.0f, 16.0f, 16.0f};
        eye->opacity = 0.9f;
    }
}

static void fish_parts(const sk_looks *looks, const sk_motion *m, sk_body *body)
{
    const float l = looks->length;
    float beat = sk_sin(m->sway * 9.0f + m->phase * 0.7f);
    for (int side = -1; side <= 1; side += 2) {
        sk_body_part *fin =
            add_ellipse(body, 7, -0.05f * l, (float)side * (0.085f * looks->girth + 0.03f) * l, 0.075f * l,
                        0.026f * l, (float)side * (2.5f + 0.25f * beat));
        fin->outline = true;
        fin->colour = looks->second;
        fin->opacity = looks->fin;
        fin->veins = 0.6f;
    }
    sk_body_part *tail = add_ellipse(body, 22, 0.0f, 0.0f, 0.095f * l, 0.028f * l, 0.0f);
    tail->outline = true;
    tail->colour = looks->second;
    tail->opacity = looks->fin;
    tail->veins = 0.7f;
    add_eyes(body, 0.017f * l, 2, 0.045f * looks->girth * l);
}

static void add_leg(sk_body *body, const sk_looks *looks, int32_t i, int side, float angle, float reach)
{
    const float l = looks->length;
    float fx, fy;
    forward(body, i, &fx, &fy);
    float turn = (float)side * angle, bend = (float)side * (angle + (angle > 1.5f ? 0.5f : -0.4f));
    sk_body_part *thigh = add_part(body);
    beside(body, i, 0.0f, (float)side * 0.09f * l, &thigh->x0, &thigh->y0);
    float c = sk_cos(turn), s = sk_sin(turn);
    thigh->x1 = thigh->x0 + (fx * c - fy * s) * reach * 0.55f;
    thigh->y1 = thigh->y0 + (fy * c + fx * s) * reach * 0.55f;
    thigh->r0 = 0.018f * l;
    thigh->r1 = 0.013f * l;
    thigh->colour = dim(looks->base, 0.8f);
    sk_body_part *shin = add_part(body);
    c = sk_cos(bend);
    s = sk_sin(bend);
    shin->x0 = body->parts[body->n_parts - 2].x1;
    shin->y0 = body->parts[body->n_parts - 2].y1;
    shin->x1 = shin->x0 + (fx * c - fy * s) * reach * 0.5f;
    shin->y1 = shin->y0 + (fy * c + fx * s) * reach * 0.5f;
    shin->r0 = 0.012f * l;
    shin->r1 = 0.008f * l;
    shin->colour = dim(looks->base, 0.75f);
}

static void fly_parts(const sk_looks *looks, const sk_motion *m, sk_body *body)
{
    static const float angles[3] = {0.75f, 1.6f, 2.35f};
    static const int32_t roots[3] = {7, 9, 11};
    const float l = looks->length;
    for (int pair = 0; pair < 3; pair++)
        for (int side = -1; side <= 1; side += 2) {
            float step = sk_sin(m->phase + ((pair + (side > 0)) & 1 ? SK_PI : 0.0f));
            add_leg(body, looks, roots[pair], side, angles[pair] + 0.28f * step,
                    (0.34f + 0.03f * (float)pair) * l);
        }
    for (int side = -1; side <= 1; side += 2) {
        float spread = looks->wing_angle + 0.25f * (m->sway > 0.0f ? m->sway : 0.0f);
        float away = (float)side * (SK_PI - spread);
        float c = sk_cos(away), s = sk_sin(away);
        sk_body_part *wing = add_ellipse(body, 8, 0.37f * l * c, (float)side * 0.05f * l + 0.37f * l * s,
                                         0.38f * l, 0.125f * l, away);
        wing->over = wing->outline = true;
        wing->colour = (sk_colour){205.0f, 205.0f, 200.0f};
        wing->opacity = looks->fin * 0.75f;
        wing->veins = 0.8f;
    }
    for (int side = -1; side <= 1; side += 2) {
        sk_body_part *eye =
            add_ellipse(body, 2, 0.0f, (float)side * 0.075f * looks->girth * l, 0.05f * l, 0.034f * l, 0.0f);
        eye->over = true;
        eye->colour = looks->second;
    }
}

static void mouse_parts(const sk_looks *looks, const sk_motion *m, sk_body *body)
{
    const float l = looks->length;
    for (int end = 0; end < 2; end++)
        for (int side = -1; side <= 1; side += 2) {
            float step = sk_sin(m->phase + ((end + (side > 0)) & 1 ? SK_PI : 0.0f));
            float stride = sk_clampf(m->speed, 0.0f, 1.0f);
            sk_body_part *foot = add_ellipse(body, end ? 12 : 7, 0.035f * l * step * stride,
                                             (float)side * (end ? 0.105f : 0.08f) * looks->girth * l,
                                             0.035f * l, 0.014f * l, (float)side * 0.2f);
            foot->colour = looks->second;
        }
    for (int side = -1; side <= 1; side += 2) {
        sk_body_part *ear = add_ellipse(body, 4, 0.0f, (float)side * 0.062f * looks->girth * l, 0.034f * l,
                                        0.03f * l, (float)side * 0.6f);
        ear->over = ear->outline = true;
        ear->colour = looks->second;
        ear->opacity = 0.95f;
    }
    add_eyes(body, 0.009f * l, 2, 0.033f * looks->girth * l);
}

void sk_body_make(const sk_looks *looks, const sk_motion *motion, sk_body *body)
{
    body->n_parts = 0;
    make_spine(looks, motion, body);
    if (looks->species == SK_SPECIES_FISH)
        fish_parts(looks, motion, body);
    else if (looks->species == SK_SPECIES_FLY)
        fly_parts(looks, motion, body);
    else
        mouse_parts(looks, motion, body);
}
