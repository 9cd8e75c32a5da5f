/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* The ground the animals move on, the light that falls on it and the camera that looks at it. */

static const sk_colour grounds[] = {{206, 208, 206}, {176, 184, 190}, {120, 146, 158}, {196, 180, 150},
                                    {150, 140, 122}, {226, 224, 218}, {96, 108, 100},  {64, 66, 70},
                                    {40, 42, 46},    {140, 152, 128}, {170, 160, 160}, {110, 100, 88}};

typedef enum ground_kind { PLAIN, SAND, BEDDING, TILES, PLANTS, DISH, KINDS } ground_kind;

float sk_world_brightness(const sk_world *world, float x, float y)
{
    const sk_light *light = &world->light;
    float u = x / (float)world->width - 0.5f, v = y / (float)world->height - 0.5f;
    return 1.0f + light->slope_x * u + light->slope_y * v - light->vignette * (u * u + v * v);
}

/* Adds smooth noise with cells of `cell` pixels to a plane. `lattice` holds (width / cell + 3) * 2 numbers. */
static void add_noise(float *plane, int32_t width, int32_t height, int32_t cell, float strength,
                      float *lattice, sk_random *random)
{
    const int32_t columns = width / cell + 2;
    float *top = lattice, *bottom = lattice + columns, *row = lattice + 2 * columns;
    for (int32_t i = 0; i < columns; i++)
        bottom[i] = sk_random_between(random, -strength, strength);
    for (int32_t y = 0; y < height; y++) {
        if (y % cell == 0) {
            float *spare = top;
            top = bottom;
            bottom = spare;
            for (int32_t i = 0; i < columns; i++)
                bottom[i] = sk_random_between(random, -strength, strength);
        }
        float fy = (float)(y % cell) / (float)cell;
        fy = fy * fy * (3.0f - 2.0f * fy);
        for (int32_t i = 0; i < columns; i++)
            row[i] = top[i] + (bottom[i] - top[i]) * fy;
        float *restrict out = plane + (size_t)y * (size_t)width;
        const float scale = 1.0f / (float)cell;
        for (int32_t i = 0; i * cell < width; i++) {
            const int32_t count = width - i * cell < cell ? width - i * cell : cell;
            const float left = row[i], step = row[i + 1] - row[i];
            for (int32_t x = 0; x < count; x++) {
                float fx = (float)x * scale;
                out[i * cell + x] += left + step * (fx * fx * (3.0f - 2.0f * fx));
            }
        }
    }
}

/* A soft-edged ellipse of tone. */
static void add_blob(float *plane, int32_t width, int32_t height, float cx, float cy, float along,
                     float across, float angle, float tone)
{
    const float c = sk_cos(angle), s = sk_sin(angle), reach = (along > across ? along : across) + 1.0f;
    int32_t left = sk_floor_int(cx - reach), right = sk_floor_int(cx + reach);
    int32_t top = sk_floor_int(cy - reach), bottom = sk_floor_int(cy + reach);
    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right >= width ? width - 1 : right;
    bottom = bottom >= height ? height - 1 : bottom;
    for (int32_t y = top; y <= bottom; y++)
        for (int32_t x = left; x <= right; x++) {
            float dx = (float)x + 0.5f - cx, dy = (float)y + 0.5f - cy;
            float u = (dx * c + dy * s) / along, v = (dy * c - dx * s) / across;
            float inside = (1.0f - u * u - v * v) * across;
            plane[(size_t)y * (size_t)width + (size_t)x] += tone * sk_clampf(inside, 0.0f, 1.0f);
        }
}

static void add_tiles(float *plane, int32_t width, int32_t height, int32_t tile, float tone)
{
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            if (x % tile < 2 || y % tile < 2)
                plane[(size_t)y * (size_t)width + (size_t)x] += tone;
}

/* A dish: darker outside a rounded rim near the picture's edge. */
static void add_dish(float *plane, int32_t width, int32_t height, float tone)
{
    const float border = 0.02f * (float)(width < height ? width : height) + 2.0f, corner = border * 6.0f;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            float dx = corner - (float)(x < width - x ? x : width - x),
                  dy = corner - (float)(y < height - y ? y : height - y);
            dx = dx < 0.0f ? 0.0f : dx;
            dy = dy < 0.0f ? 0.0f : dy;
            float out = sqrtf(dx * dx + dy * dy) - (corner - border);
            if (out > 0.0f)
                plane[(size_t)y * (size_t)width + (size_t)x] += out < 3.0f ? -tone * 0.7f : tone;
        }
}

/* Random numbers are drawn one a statement: the order of a call's arguments is the compiler's. */
static void pattern(float *plane, float *lattice, sk_world *world, ground_kind kind, sk_random *random)
{
    const int32_t w = world->width, h = world->height, side = w < h ? w : h;
    const float area = (float)w * (float)h;
    add_noise(plane, w, h, side / 3 + 1, sk_random_between(random, 0.02f, 0.12f), lattice, random);
    if (kind == SAND || kind == PLANTS) {
        float strength = sk_random_between(random, 0.04f, 0.16f);
        add_noise(plane, w, h, side / 20 + 3, strength, lattice, random);
        add_noise(plane, w, h, 4, strength * 0.8f, lattice, random);
    }
    if (kind == SAND)
        add_noise(plane, w, h, 2, sk_random_between(random, 0.03f, 0.10f), lattice, random);
    if (kind == BEDDING) {
        float strength = sk_random_between(random, 0.06f, 0.16f);
        for (int32_t i = (int32_t)(area / 420.0f); i > 0; i--) {
            float x = sk_random_between(random, 0.0f, (float)w),
                  y = sk_random_between(random, 0.0f, (float)h);
            float length = sk_random_between(random, 2.5f, 7.0f);
            float angle = sk_random_between(random, 0.0f, SK_PI);
            add_blob(plane, w, h, x, y, length, length * 0.4f, angle,
                     sk_random_between(random, -strength, strength));
        }
    }
    if (kind == TILES) {
        int32_t tile = sk_random_below(random, side / 5 + 1) + side / 10 + 4;
        add_tiles(plane, w, h, tile, sk_random_between(random, -0.2f, 0.15f));
    }
    if (kind == DISH)
        add_dish(plane, w, h, sk_random_between(random, -0.5f, -0.15f));
    /* crumbs, drops and pebbles that are no animals */
    for (int32_t i = sk_random_below(random, 14); i > 0; i--) {
        float x = sk_random_between(random, 0.0f, (float)w), y = sk_random_between(random, 0.0f, (float)h);
        float size = (float)side * sk_random_between(random, 0.004f, kind == PLANTS ? 0.05f : 0.022f);
        float along = size * sk_random_between(random, 1.0f, 2.6f),
              angle = sk_random_between(random, 0.0f, SK_PI);
        add_blob(plane, w, h, x, y, along, size, angle, sk_random_between(random, -0.45f, 0.3f));
    }
}

static void light_and_camera(sk_world *world, sk_random *random)
{
    sk_light *light = &world->light;
    float angle = sk_random_between(random, -SK_PI, SK_PI);
    light->x = sk_cos(angle);
    light->y = sk_sin(angle);
    light->height = sk_random_between(random, 0.55f, 0.98f);
    light->shadow = sk_random_unit(random) < 0.75f ? sk_random_between(random, 0.12f, 0.5f) : 0.0f;
    light->shadow_distance = sk_random_between(random, 0.2f, 1.1f);
    light->shadow_soft = sk_random_between(random, 1.5f, 6.0f);
    light->slope_x = sk_random_between(random, -0.3f, 0.3f);
    light->slope_y = sk_random_between(random, -0.3f, 0.3f);
    light->vignette = sk_random_unit(random) < 0.5f ? sk_random_between(random, 0.1f, 0.8f) : 0.0f;
    light->flicker = sk_random_between(random, 0.0f, 0.02f);
    world->grey = sk_random_unit(random) < 0.3f;
    float blur = sk_random_unit(random);
    world->blur = blur < 0.45f ? 0 : blur < 0.85f ? 1 : 2;
    world->noise = sk_random_between(random, 0.5f, 5.5f);
    world->gain = sk_random_between(random, 0.88f, 1.12f);
}

void sk_world_make(sk_world *world, uint64_t seed, float *plane, float *lattice)
{
    sk_random random = sk_random_begin(seed, 1);
    const int32_t w = world->width, h = world->height;
    world->ground = grounds[sk_random_below(&random, (int32_t)(sizeof grounds / sizeof *grounds))];
    float all = sk_random_between(&random, 0.85f, 1.12f);
    world->ground.r *= all * sk_random_between(&random, 0.94f, 1.06f);
    world->ground.g *= all * sk_random_between(&random, 0.94f, 1.06f);
    world->ground.b *= all * sk_random_between(&random, 0.94f, 1.06f);
    world->ground_luma = 0.299f * world->ground.r + 0.587f * world->ground.g + 0.114f * world->ground.b;
    light_and_camera(world, &random);
    pattern(plane, lattice, world, (ground_kind)sk_random_below(&random, KINDS), &random);
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            const size_t i = (size_t)y * (size_t)w + (size_t)x;
            float lit = sk_world_brightness(world, (float)x, (float)y) * (1.0f + plane[i]);
            world->background[3 * i] = (uint8_t)sk_clampf(world->ground.r * lit + 0.5f, 0.0f, 255.0f);
            world->background[3 * i + 1] = (uint8_t)sk_clampf(world->ground.g * lit + 0.5f, 0.0f, 255.0f);
            world->background[3 * i + 2] = (uint8_t)sk_clampf(world->ground.b * lit + 0.5f, 0.0f, 255.0f);
        }
    for (int32_t i = 0; i < SK_NOISE_PERIOD + 3 * w; i++)
        world->noise_table[i] = i < SK_NOISE_PERIOD
                                    ? (int8_t)sk_clampf(sk_random_normal(&random) * 32.0f, -120.0f, 120.0f)
                                    : world->noise_table[i - SK_NOISE_PERIOD];
}
