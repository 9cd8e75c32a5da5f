/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* Roofs: opaque boards above the animals. One that rests below is not seen at all. */

static const sk_colour boards[] = {{146, 110, 74},  {92, 74, 58}, {70, 92, 66},
                                   {168, 150, 120}, {88, 90, 96}, {120, 60, 44}};

/* Large enough for all but the longest animals in any direction, and apart from each other where there is room. */
void sk_hides_make(sk_scene *scene, sk_random *random)
{
    const float w = (float)scene->world.width, h = (float)scene->world.height, side = w < h ? w : h;
    float longest = 0.0f, mean = 0.0f;
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        longest = scene->looks[i].length > longest ? scene->looks[i].length : longest;
        mean += scene->looks[i].length / (float)scene->settings.animals;
    }
    const float length = 0.5f * (mean + longest);
    for (int32_t i = 0; i < scene->settings.hides; i++) {
        sk_hide *hide = &scene->hides[i];
        float angle = sk_random_between(random, 0.0f, SK_PI);
        hide->ux = sk_cos(angle);
        hide->uy = sk_sin(angle);
        hide->along = length * sk_random_between(random, 0.64f, 0.78f) + 4.0f;
        hide->across = length * sk_random_between(random, 0.60f, 0.66f) + 4.0f;
        hide->along = sk_clampf(hide->along, 4.0f, 0.3f * side);
        hide->across = sk_clampf(hide->across, 4.0f, 0.3f * side);
        hide->corner = 0.12f * hide->across;
        int32_t pick = sk_random_below(random, (int32_t)(sizeof boards / sizeof *boards));
        float tone = sk_random_between(random, 0.85f, 1.15f);
        hide->colour = (sk_colour){boards[pick].r * tone, boards[pick].g * tone, boards[pick].b * tone};
        hide->planks = 6.2831853f / (hide->across * sk_random_between(random, 0.25f, 0.6f));
        const float keep = sk_clampf(0.95f * length, 0.0f, 0.35f * side);
        for (int attempt = 0; attempt < 24; attempt++) {
            hide->x = sk_random_between(random, keep, w - keep);
            hide->y = sk_random_between(random, keep, h - keep);
            bool free_place = true;
            for (int32_t j = 0; j < i && free_place; j++) {
                float dx = hide->x - scene->hides[j].x, dy = hide->y - scene->hides[j].y;
                float apart = hide->along + scene->hides[j].along;
                free_place = dx * dx + dy * dy > apart * apart;
            }
            if (free_place)
                break;
        }
    }
}

/* From a point to the roof's edge, negative below it; `u` along and `v` across from its middle. */
static float distance(const sk_hide *hide, float x, float y, float *u, float *v)
{
    const float dx = x - hide->x, dy = y - hide->y;
    *u = dx * hide->ux + dy * hide->uy;
    *v = dy * hide->ux - dx * hide->uy;
    float a = (*u < 0.0f ? -*u : *u) - (hide->along - hide->corner);
    float b = (*v < 0.0f ? -*v : *v) - (hide->across - hide->corner);
    const float inner = a > b ? a : b;
    if (inner < 0.0f)
        return inner - hide->corner;
    a = a < 0.0f ? 0.0f : a;
    b = b < 0.0f ? 0.0f : b;
    return sqrtf(a * a + b * b) - hide->corner;
}

typedef struct extent {
    int32_t left, right, top, bottom;
} extent;

static extent extent_of(const sk_canvas *canvas, const sk_hide *hide)
{
    const float reach = hide->along + hide->across + 8.0f; /* more than the diagonal */
    extent e = {.left = sk_floor_int(hide->x - reach),
                .right = sk_floor_int(hide->x + reach),
                .top = sk_floor_int(hide->y - reach),
                .bottom = sk_floor_int(hide->y + reach)};
    e.left = e.left < 0 ? 0 : e.left;
    e.top = e.top < 0 ? 0 : e.top;
    e.right = e.right >= canvas->width ? canvas->width - 1 : e.right;
    e.bottom = e.bottom >= canvas->height ? canvas->height - 1 : e.bottom;
    return e;
}

void sk_hide_draw(sk_canvas *canvas, const sk_world *world, const sk_hide *hide)
{
    const extent e = extent_of(canvas, hide);
    const float brightness = sk_world_brightness(world, hide->x, hide->y);
    for (int32_t y = e.top; y <= e.bottom; y++)
        for (int32_t x = e.left; x <= e.right; x++) {
            float u, v;
            const float d = distance(hide, (float)x + 0.5f, (float)y + 0.5f, &u, &v);
            if (d >= 6.0f)
                continue;
            const size_t at = (size_t)y * (size_t)canvas->width + (size_t)x;
            uint8_t *pixel = canvas->pixels + 3 * at;
            sk_canvas_blend(pixel, (sk_colour){0.0f, 0.0f, 0.0f},
                            0.4f * sk_clampf(1.0f - d / 6.0f, 0.0f, 1.0f));
            if (d >= 0.5f)
                continue;
            const float grain = sk_sin(hide->planks * v), wave = sk_sin(hide->planks * 5.0f * v + 0.05f * u);
            const float lit = brightness * (0.92f + 0.05f * wave - (grain > 0.96f ? 0.3f : 0.0f) -
                                            (d > -2.5f ? 0.12f : 0.0f));
            const sk_colour c = {hide->colour.r * lit, hide->colour.g * lit, hide->colour.b * lit};
            sk_canvas_blend(pixel, c, sk_clampf(0.5f - d, 0.0f, 1.0f));
            if (d < 0.0f)
                sk_canvas_own(canvas, at, SK_OWNER_HIDE);
        }
}

void sk_hide_cover(sk_canvas *canvas, const sk_hide *hide)
{
    const extent e = extent_of(canvas, hide);
    for (int32_t y = e.top; y <= e.bottom; y++)
        for (int32_t x = e.left; x <= e.right; x++) {
            float u, v;
            if (distance(hide, (float)x + 0.5f, (float)y + 0.5f, &u, &v) < 0.0f)
                sk_canvas_own(canvas, (size_t)y * (size_t)canvas->width + (size_t)x, SK_OWNER_HIDE);
        }
}
