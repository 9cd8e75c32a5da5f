/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene_internal.h"

/* What an animal looks like, from palettes that are shaken. */

static const sk_colour fish_palette[][2] = {
    {{92, 98, 88}, {150, 150, 130}},  {{214, 120, 46}, {240, 190, 120}}, {{168, 174, 180}, {70, 80, 96}},
    {{58, 62, 74}, {176, 170, 140}},  {{190, 176, 140}, {80, 72, 70}},   {{36, 36, 40}, {120, 120, 124}},
    {{120, 60, 50}, {226, 200, 170}}, {{214, 214, 210}, {224, 90, 50}}};
static const sk_colour fly_palette[][2] = {{{62, 48, 38}, {128, 40, 30}},
                                           {{38, 36, 36}, {96, 30, 26}},
                                           {{128, 92, 50}, {160, 44, 32}},
                                           {{84, 74, 60}, {40, 30, 30}},
                                           {{170, 140, 96}, {120, 36, 30}}};
static const sk_colour mouse_palette[][2] = {
    {{44, 42, 42}, {92, 74, 72}},     {{224, 220, 214}, {226, 176, 168}}, {{116, 110, 104}, {160, 128, 122}},
    {{124, 94, 66}, {164, 128, 112}}, {{80, 66, 54}, {136, 106, 96}},     {{186, 172, 150}, {206, 160, 148}}};

static float luma(sk_colour c)
{
    return 0.299f * c.r + 0.587f * c.g + 0.114f * c.b;
}

static sk_colour shaken(sk_colour c, sk_random *random)
{
    float all = sk_random_between(random, 0.82f, 1.2f);
    c.r = sk_clampf(c.r * all * sk_random_between(random, 0.92f, 1.08f), 6.0f, 250.0f);
    c.g = sk_clampf(c.g * all * sk_random_between(random, 0.92f, 1.08f), 6.0f, 250.0f);
    c.b = sk_clampf(c.b * all * sk_random_between(random, 0.92f, 1.08f), 6.0f, 250.0f);
    return c;
}

static void choose_colours(sk_looks *looks, const sk_world *world, sk_random *random)
{
    static const sk_colour(*const palettes[SK_SPECIES_COUNT])[2] = {fish_palette, fly_palette, mouse_palette};
    static const int32_t counts[SK_SPECIES_COUNT] = {8, 5, 6};
    const float wanted = sk_random_between(random, 36.0f, 60.0f);
    float best = -1.0f;
    /* An animal that cannot be told from the ground is nobody's fault: take the first that stands out. */
    for (int attempt = 0; attempt < 16 && best < wanted; attempt++) {
        int32_t pick = sk_random_below(random, counts[looks->species]);
        sk_colour base = shaken(palettes[looks->species][pick][0], random);
        sk_colour second = shaken(palettes[looks->species][pick][1], random);
        float apart = luma(base) - world->ground_luma;
        apart = apart < 0.0f ? -apart : apart;
        if (apart > best) {
            best = apart;
            looks->base = base;
            looks->second = second;
        }
    }
    if (best < 36.0f) { /* every colour is near the ground's: make it darker or lighter */
        float to = world->ground_luma > 110.0f ? world->ground_luma - 60.0f : world->ground_luma + 60.0f;
        float by = to / (luma(looks->base) + 1.0f);
        looks->base.r = sk_clampf(looks->base.r * by, 4.0f, 252.0f);
        looks->base.g = sk_clampf(looks->base.g * by, 4.0f, 252.0f);
        looks->base.b = sk_clampf(looks->base.b * by, 4.0f, 252.0f);
    }
}

/* Lengths, of the picture's shorter side. */
static const float sizes[SK_SPECIES_COUNT][2] = {{0.15f, 0.25f}, {0.13f, 0.21f}, {0.27f, 0.40f}};

float sk_looks_longest(int32_t species, const sk_world *world)
{
    return sizes[species][1] * (float)(world->width < world->height ? world->width : world->height);
}

void sk_looks_make(sk_looks *looks, int32_t species, const sk_world *world, sk_random *random)
{
    float side = (float)(world->width < world->height ? world->width : world->height);
    *looks = (sk_looks){.species = species};
    looks->length = side * sk_random_between(random, sizes[species][0], sizes[species][1]);
    looks->girth = sk_random_between(random, 0.85f, 1.2f);
    looks->texture = sk_random_bits(random);
    choose_colours(looks, world, random);
    looks->stripe_count = sk_random_between(random, 4.0f, 11.0f);
    looks->spot_size = sk_random_between(random, 7.0f, 16.0f);
    looks->wing_angle = sk_random_between(random, 0.06f, 0.34f);
    looks->fin = sk_random_between(random, 0.35f, 0.75f);
    float kind = sk_random_unit(random);
    switch (species) {
    case SK_SPECIES_FISH:
        looks->stripes = kind < 0.35f ? sk_random_between(random, 0.3f, 0.9f) : 0.0f;
        looks->spots = kind > 0.7f ? sk_random_between(random, 0.3f, 0.8f) : 0.0f;
        looks->dorsal = sk_random_between(random, 0.0f, 0.6f);
        break;
    case SK_SPECIES_FLY:
        looks->stripes = sk_random_between(random, 0.25f, 0.6f); /* of the abdomen */
        looks->stripe_count = sk_random_between(random, 10.0f, 13.0f);
        break;
    default:
        looks->spots = kind > 0.8f ? sk_random_between(random, 0.4f, 0.9f) : 0.08f;
        looks->spot_size = sk_random_between(random, 4.0f, 8.0f);
        looks->dorsal = sk_random_between(random, 0.0f, 0.25f);
        break;
    }
}
