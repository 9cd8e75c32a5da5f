/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

#include <string.h>

/* Draws an animal. The body is first rasterised into a field around it: for every pixel the distance to the outline
 * (negative inside), the place along the spine and the surface normal. Shadow, colour and what is whose follow from
 * the field; the other parts are drawn one by one. */

#define FAR 1e6f

typedef struct field {
    int32_t x0, y0, width, height; /* in the picture; may reach outside */
    float *distance, *along, *nx, *ny;
} field;

int32_t sk_canvas_field_size(float length)
{
    int32_t side = (int32_t)(length * 1.12f) + 28; /* spine and girth in any direction, and a border */
    return side * side;
}

static field field_begin(sk_canvas *canvas, const sk_body *body)
{
    float x0 = FAR, y0 = FAR, x1 = -FAR, y1 = -FAR;
    for (int32_t i = 0; i < SK_SPINE; i++) {
        float x = body->spine[i][0], y = body->spine[i][1], r = body->radius[i];
        x0 = x - r < x0 ? x - r : x0;
        y0 = y - r < y0 ? y - r : y0;
        x1 = x + r > x1 ? x + r : x1;
        y1 = y + r > y1 ? y + r : y1;
    }
    const int32_t border = 8;
    field f = {.x0 = sk_floor_int(x0) - border, .y0 = sk_floor_int(y0) - border};
    f.width = sk_floor_int(x1) + border + 1 - f.x0;
    f.height = sk_floor_int(y1) + border + 1 - f.y0;
    /* cannot happen for the shapes of body.c; a shape that did would be cut, not written out of bounds */
    while (f.width * f.height > canvas->field_capacity && f.height > 1)
        f.height--;
    f.distance = canvas->field;
    f.along = f.distance + canvas->field_capacity;
    f.nx = f.along + canvas->field_capacity;
    f.ny = f.nx + canvas->field_capacity;
    for (int32_t i = 0; i < f.width * f.height; i++)
        f.distance[i] = FAR;
    return f;
}

/* The pixels that may be nearer than `reach` to a stretch, cut to a window whose corner is (x0, y0). */
typedef struct window {
    int32_t left, right, top, bottom; /* inclusive, counted from the corner */
} window;

static window window_around(const float a[2], const float b[2], float reach, int32_t x0, int32_t y0,
                            int32_t width, int32_t height)
{
    window w = {.left = sk_floor_int((a[0] < b[0] ? a[0] : b[0]) - reach) - x0,
                .right = sk_floor_int((a[0] > b[0] ? a[0] : b[0]) + reach) - x0,
                .top = sk_floor_int((a[1] < b[1] ? a[1] : b[1]) - reach) - y0,
                .bottom = sk_floor_int((a[1] > b[1] ? a[1] : b[1]) + reach) - y0};
    w.left = w.left < 0 ? 0 : w.left;
    w.top = w.top < 0 ? 0 : w.top;
    w.right = w.right >= width ? width - 1 : w.right;
    w.bottom = w.bottom >= height ? height - 1 : w.bottom;
    return w;
}

/* One stretch of the spine into the field: nearest wins. */
static void field_segment(field *f, const float a[2], const float b[2], float ra, float rb, float s0,
                          float s1)
{
    const window w = window_around(a, b, (ra > rb ? ra : rb) + 7.0f, f->x0, f->y0, f->width, f->height);
    const float ux = b[0] - a[0], uy = b[1] - a[1];
    const float scale = 1.0f / (ux * ux + uy * uy + 1e-9f);
    for (int32_t y = w.top; y <= w.bottom; y++) {
        const float py = (float)(y + f->y0) + 0.5f - a[1];
        float *restrict distance = f->distance + (size_t)y * (size_t)f->width;
        float *restrict along = f->along + (size_t)y * (size_t)f->width;
        float *restrict nx = f->nx + (size_t)y * (size_t)f->width;
        float *restrict ny = f->ny + (size_t)y * (size_t)f->width;
        for (int32_t x = w.left; x <= w.right; x++) {
            const float px = (float)(x + f->x0) + 0.5f - a[0];
            float t = (px * ux + py * uy) * scale;
            t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
            const float dx = px - t * ux, dy = py - t * uy;
            const float r = ra + (rb - ra) * t;
            const float d = sqrtf(dx * dx + dy * dy) - r;
            const bool nearer = d < distance[x];
            const float by = 1.0f / r;
            distance[x] = nearer ? d : distance[x];
            along[x] = nearer ? s0 + (s1 - s0) * t : along[x];
            nx[x] = nearer ? dx * by : nx[x];
            ny[x] = nearer ? dy * by : ny[x];
        }
    }
}

void sk_canvas_blend(uint8_t *pixel, sk_colour c, float alpha)
{
    int32_t a = (int32_t)(alpha * 256.0f + 0.5f);
    int32_t r = (int32_t)sk_clampf(c.r, 0.0f, 255.0f), g = (int32_t)sk_clampf(c.g, 0.0f, 255.0f);
    int32_t b = (int32_t)sk_clampf(c.b, 0.0f, 255.0f);
    pixel[0] = (uint8_t)((pixel[0] * (256 - a) + r * a + 128) >> 8);
    pixel[1] = (uint8_t)((pixel[1] * (256 - a) + g * a + 128) >> 8);
    pixel[2] = (uint8_t)((pixel[2] * (256 - a) + b * a + 128) >> 8);
}

static void draw_shadow(sk_canvas *canvas, const sk_world *world, const field *f, float thickness)
{
    const sk_light *light = &world->light;
    if (light->shadow <= 0.0f)
        return;
    const int32_t ox = sk_floor_int(-light->x * light->shadow_distance * thickness + 0.5f);
    const int32_t oy = sk_floor_int(-light->y * light->shadow_distance * thickness + 0.5f);
    const float soft = light->shadow_soft, scale = 1.0f / (2.0f * soft);
    for (int32_t y = 0; y < f->height; y++) {
        int32_t py = y + f->y0 + oy;
        if (py < 0 || py >= canvas->height)
            continue;
        for (int32_t x = 0; x < f->width; x++) {
            int32_t px = x + f->x0 + ox;
            float d = f->distance[(size_t)y * (size_t)f->width + (size_t)x];
            if (d >= soft || px < 0 || px >= canvas->width)
                continue;
            float cover = sk_clampf((soft - d) * scale, 0.0f, 1.0f);
            cover = cover * cover * (3.0f - 2.0f * cover);
            int32_t keep = (int32_t)((1.0f - light->shadow * cover) * 256.0f + 0.5f);
            uint8_t *pixel = canvas->pixels + 3 * ((size_t)py * (size_t)canvas->width + (size_t)px);
            for (int c = 0; c < 3; c++)
                pixel[c] = (uint8_t)((pixel[c] * keep + 128) >> 8);
        }
    }
}

/* Smooth random field on the skin, 0 … 1: places along and across are cells of a lattice. */
static float skin_noise(float u, float v, uint32_t texture)
{
    int32_t iu = sk_floor_int(u), iv = sk_floor_int(v);
    float fu = u - (float)iu, fv = v - (float)iv;
    fu = fu * fu * (3.0f - 2.0f * fu);
    fv = fv * fv * (3.0f - 2.0f * fv);
    float corner[4];
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t hash =
            ((uint32_t)iu + (k & 1)) * 0x8da6b343u ^ ((uint32_t)iv + (k >> 1)) * 0xd8163841u ^ texture;
        hash = (hash ^ (hash >> 15)) * 0x2c1b3c6du;
        corner[k] = (float)((hash ^ (hash >> 12)) & 1023u) * (1.0f / 1023.0f);
    }
    float low = corner[0] + (corner[1] - corner[0]) * fu, high = corner[2] + (corner[3] - corner[2]) * fu;
    return low + (high - low) * fv;
}

static sk_colour skin(const sk_looks *looks, float s, float across)
{
    float second = 0.0f;
    if (looks->stripes > 0.0f && (looks->species == SK_SPECIES_FISH ? s < 0.85f : s > 0.56f))
        second += looks->stripes *
                  sk_clampf(0.5f + 1.4f * sk_sin(6.2831853f * looks->stripe_count * s), 0.0f, 1.0f);
    if (looks->spots > 0.0f) {
        float spot = skin_noise(s * looks->spot_size, across * 2.0f, looks->texture);
        second += looks->spots * sk_clampf((spot - 0.5f) * 6.0f, 0.0f, 1.0f);
    }
    float side = across < 0.0f ? -across : across;
    if (looks->dorsal > 0.0f && side < 0.3f)
        second += looks->dorsal * (1.0f - side / 0.3f) * 0.6f;
    if (looks->species == SK_SPECIES_MOUSE && s > 0.62f)
        second = 0.85f; /* the tail is bare skin */
    second = sk_clampf(second, 0.0f, 0.92f);
    const sk_colour *a = &looks->base, *b = &looks->second;
    /* a fly's second colour is its eyes'; its stripes are a darker body */
    if (looks->species == SK_SPECIES_FLY) {
        float by = 1.0f - 0.5f * second;
        return (sk_colour){a->r * by, a->g * by, a->b * by};
    }
    return (sk_colour){a->r + (b->r - a->r) * second, a->g + (b->g - a->g) * second,
                       a->b + (b->b - a->b) * second};
}

void sk_canvas_own(sk_canvas *canvas, size_t at, int32_t id)
{
    uint8_t before = canvas->owner[at];
    if (before < SK_OWNER_HIDE)
        canvas->shown[before]--;
    canvas->owner[at] = (uint8_t)id;
    if (id < SK_OWNER_HIDE)
        canvas->shown[id]++;
}

static void draw_body(sk_canvas *canvas, const sk_world *world, const sk_looks *looks, const sk_body *body,
                      const field *f, int32_t id, float brightness)
{
    const sk_light *light = &world->light;
    const float flat = sqrtf(1.0f - light->height * light->height);
    /* the side of the spine a normal points to, for markings that know left from right */
    const float bx = body->spine[4][0] - body->spine[14][0], by = body->spine[4][1] - body->spine[14][1];
    const float norm = 1.0f / (sqrtf(bx * bx + by * by) + 1e-6f);
    for (int32_t y = 0; y < f->height; y++) {
        const int32_t py = y + f->y0;
        for (int32_t x = 0; x < f->width; x++) {
            const size_t i = (size_t)y * (size_t)f->width + (size_t)x;
            const float d = f->distance[i];
            if (d >= 0.5f)
                continue;
            canvas->whole[id] += d < 0.0f;
            const int32_t px = x + f->x0;
            if (px < 0 || py < 0 || px >= canvas->width || py >= canvas->height)
                continue;
            const float nx = f->nx[i], ny = f->ny[i];
            const float side = nx * nx + ny * ny;
            const float nz = side < 1.0f ? sqrtf(1.0f - side) : 0.0f;
            float lit = (nx * light->x + ny * light->y) * flat + nz * light->height;
            lit = brightness * (0.52f + 0.55f * (lit > 0.0f ? lit : 0.0f));
            sk_colour c = skin(looks, f->along[i], (bx * ny - by * nx) * norm);
            float gloss = lit > 0.95f ? (lit - 0.95f) * 160.0f : 0.0f;
            c = (sk_colour){c.r * lit + gloss, c.g * lit + gloss, c.b * lit + gloss};
            const size_t at = (size_t)py * (size_t)canvas->width + (size_t)px;
            sk_canvas_blend(canvas->pixels + 3 * at, c, sk_clampf(0.5f - d, 0.0f, 1.0f));
            if (d < 0.0f)
                sk_canvas_own(canvas, at, id);
        }
    }
}

/* Distance from a point to the part's outline, about right near it. */
static float part_distance(const sk_body_part *p, float x, float y, float *along)
{
    if (!p->ellipse) {
        float ux = p->x1 - p->x0, uy = p->y1 - p->y0, px = x - p->x0, py = y - p->y0;
        float t = sk_clampf((px * ux + py * uy) / (ux * ux + uy * uy + 1e-9f), 0.0f, 1.0f);
        float dx = px - t * ux, dy = py - t * uy;
        *along = t;
        return sqrtf(dx * dx + dy * dy) - (p->r0 + (p->r1 - p->r0) * t);
    }
    float dx = x - p->x0, dy = y - p->y0;
    float u = (dx * p->x1 + dy * p->y1) / p->r0, v = (dy * p->x1 - dx * p->y1) / p->r1;
    *along = v;
    float k = sqrtf(u * u + v * v), slope = sqrtf(u * u / (p->r0 * p->r0) + v * v / (p->r1 * p->r1));
    return slope > 1e-6f ? k * (k - 1.0f) / slope : -p->r1;
}

static void draw_part(sk_canvas *canvas, const sk_body_part *p, float brightness)
{
    float half = p->r0 > p->r1 ? p->r0 : p->r1;
    float xa = p->x0, xb = p->ellipse ? p->x0 : p->x1, ya = p->y0, yb = p->ellipse ? p->y0 : p->y1;
    int32_t left = sk_floor_int((xa < xb ? xa : xb) - half) - 1,
            right = sk_floor_int((xa > xb ? xa : xb) + half) + 1;
    int32_t top = sk_floor_int((ya < yb ? ya : yb) - half) - 1,
            bottom = sk_floor_int((ya > yb ? ya : yb) + half) + 1;
    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right >= canvas->width ? canvas->width - 1 : right;
    bottom = bottom >= canvas->height ? canvas->height - 1 : bottom;
    for (int32_t y = top; y <= bottom; y++)
        for (int32_t x = left; x <= right; x++) {
            float along;
            float d = part_distance(p, (float)x + 0.5f, (float)y + 0.5f, &along);
            if (d >= 0.5f)
                continue;
            float opacity = p->opacity, lit = brightness;
            if (p->veins > 0.0f) {
                float vein = sk_sin(along * 9.0f);
                lit *= 1.0f - 0.3f * p->veins * vein * vein;
                opacity *= d > -1.5f ? 1.15f : 1.0f; /* the rim is denser */
            }
            sk_colour c = {p->colour.r * lit, p->colour.g * lit, p->colour.b * lit};
            sk_canvas_blend(canvas->pixels + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x), c,
                            sk_clampf(0.5f - d, 0.0f, 1.0f) * sk_clampf(opacity, 0.0f, 1.0f));
        }
}

void sk_canvas_clear(sk_canvas *canvas, const sk_world *world)
{
    const size_t pixels = (size_t)canvas->width * (size_t)canvas->height;
    memcpy(canvas->pixels, world->background, 3 * pixels);
    sk_canvas_forget(canvas);
}

/* --- whose pixel is it, without drawing --- */

/* One stretch of a body that lies in the picture: a pixel is the animal's when field_segment says so for any stretch.
 * The arithmetic is the same to the last bit; the root is drawn only where it could decide. */
static void cover_segment(sk_canvas *canvas, const float a[2], const float b[2], float ra, float rb,
                          int32_t id)
{
    const window w = window_around(a, b, (ra > rb ? ra : rb) + 1.0f, 0, 0, canvas->width, canvas->height);
    const float ux = b[0] - a[0], uy = b[1] - a[1];
    const float scale = 1.0f / (ux * ux + uy * uy + 1e-9f);
    for (int32_t y = w.top; y <= w.bottom; y++) {
        const float py = (float)y + 0.5f - a[1];
        const size_t row = (size_t)y * (size_t)canvas->width;
        for (int32_t x = w.left; x <= w.right; x++) {
            if (canvas->owner[row + (size_t)x] == id)
                continue;
            const float px = (float)x + 0.5f - a[0];
            float t = (px * ux + py * uy) * scale;
            t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
            const float dx = px - t * ux, dy = py - t * uy;
            const float square = dx * dx + dy * dy, r = ra + (rb - ra) * t, near = r * r;
            if (square > near * 1.001f || (square > near * 0.999f && sqrtf(square) - r >= 0.0f))
                continue;
            canvas->whole[id]++;
            sk_canvas_own(canvas, row + (size_t)x, id);
        }
    }
}

/* A body that reaches out of the picture has pixels there that count as its own, once each. */
static void cover_field(sk_canvas *canvas, const field *f, int32_t id)
{
    for (int32_t y = 0; y < f->height; y++)
        for (int32_t x = 0; x < f->width; x++) {
            const int32_t px = x + f->x0, py = y + f->y0;
            if (f->distance[(size_t)y * (size_t)f->width + (size_t)x] >= 0.0f)
                continue;
            canvas->whole[id]++;
            if (px >= 0 && py >= 0 && px < canvas->width && py < canvas->height)
                sk_canvas_own(canvas, (size_t)py * (size_t)canvas->width + (size_t)px, id);
        }
}

void sk_canvas_forget(sk_canvas *canvas)
{
    memset(canvas->owner, SK_OWNER_NOBODY, (size_t)canvas->width * (size_t)canvas->height);
    memset(canvas->shown, 0, sizeof canvas->shown);
    memset(canvas->whole, 0, sizeof canvas->whole);
}

void sk_canvas_cover(sk_canvas *canvas, const sk_body *body, int32_t id)
{
    bool inside = true;
    for (int32_t i = 0; i < SK_SPINE && inside; i++) {
        const float x = body->spine[i][0], y = body->spine[i][1], r = body->radius[i] + 2.0f;
        inside = x > r && y > r && x + r < (float)canvas->width && y + r < (float)canvas->height;
    }
    field f = {0};
    if (!inside)
        f = field_begin(canvas, body);
    for (int32_t i = 0; i + 1 < SK_SPINE; i++)
        if (inside)
            cover_segment(canvas, body->spine[i], body->spine[i + 1], body->radius[i], body->radius[i + 1],
                          id);
        else
            field_segment(&f, body->spine[i], body->spine[i + 1], body->radius[i], body->radius[i + 1], 0, 0);
    if (!inside)
        cover_field(canvas, &f, id);
}

void sk_canvas_draw(sk_canvas *canvas, const sk_world *world, const sk_looks *looks, const sk_body *body,
                    int32_t id)
{
    field f = field_begin(canvas, body);
    for (int32_t i = 0; i + 1 < SK_SPINE; i++)
        field_segment(&f, body->spine[i], body->spine[i + 1], body->radius[i], body->radius[i + 1],
                      (float)i / (float)(SK_SPINE - 1), (float)(i + 1) / (float)(SK_SPINE - 1));
    const float brightness = sk_world_brightness(world, body->spine[9][0], body->spine[9][1]);
    draw_shadow(canvas, world, &f, body->radius[9]);
    for (int32_t i = 0; i < body->n_parts; i++)
        if (!body->parts[i].over)
            draw_part(canvas, &body->parts[i], brightness);
    draw_body(canvas, world, looks, body, &f, id, brightness);
    for (int32_t i = 0; i < body->n_parts; i++)
        if (body->parts[i].over)
            draw_part(canvas, &body->parts[i], brightness);
}
