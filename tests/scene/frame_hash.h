/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SCENE_FRAME_HASH_H
#define SK_TESTS_SCENE_FRAME_HASH_H

#include "scene/scene.h"

#include <stdio.h>
#include <stdlib.h>

/* Scenes whose pictures and truth are known by their hashes: the same under every compiler and on every machine. */
typedef struct known_scene {
    sk_scene_settings settings;
    int frames, skip; /* drawn, and let pass after each */
    uint64_t hash;    /* FNV-1a of every frame's bytes and every animal's truth */
} known_scene;

static const known_scene known_scenes[] = {
    {{SK_SPECIES_FISH, 5, 320, 240, 30.0, 1, 0, 0, false}, 12, 0, 0x93e24f1453c62bd7},
    {{SK_SPECIES_FLY, 6, 256, 256, 25.0, 77, 0, 0, false}, 12, 0, 0x051960fb23e96a56},
    {{SK_SPECIES_MOUSE, 3, 320, 200, 60.0, 123456789, 0, 0, false}, 12, 0, 0x75573f5a53063e7e},
    {{SK_SPECIES_MIXED, 12, 333, 217, 15.0, 9007199254740991u, 0, 0, false}, 12, 0, 0x6f35a44fb99e8b07},
    {{SK_SPECIES_MIXED, 64, 128, 64, 120.0, 0, 0, 0, false}, 4, 0, 0xb0edbb9128246926},
    {{SK_SPECIES_MIXED, 200, 256, 192, 25.0, 4, 0, 0, false}, 3, 0, 0x621ebf54f8da13af},
    {{SK_SPECIES_FISH, 9, 320, 240, 30.0, 21, SK_BEHAVE_FOLLOW, 0, false}, 8, 30, 0x1fdda1c3726f4d89},
    {{SK_SPECIES_FLY, 9, 320, 240, 30.0, 22, SK_BEHAVE_CHASE, 0, false}, 8, 30, 0x0f3128ae8cf0ee2c},
    {{SK_SPECIES_MOUSE, 9, 320, 240, 30.0, 23, SK_BEHAVE_HUDDLE, 0, false}, 8, 30, 0x793b4368488d7e63},
    {{SK_SPECIES_FISH, 9, 320, 240, 30.0, 24, 0, 2, false}, 8, 30, 0x6ad1db33c29a402b},
    {{SK_SPECIES_MIXED, 9, 320, 240, 30.0, 25, 0, 0, true}, 8, 30, 0x9e2a05f84bb083d5},
    {{SK_SPECIES_MIXED, 30, 322, 242, 30.0, 26, SK_BEHAVE_ALL, 3, true}, 8, 30, 0x6cc8d24419c3ee12},
    /* long lives in narrow places: what seldom happens does */
    {{SK_SPECIES_FISH, 14, 200, 120, 30.0, 31, SK_BEHAVE_ALL, 2, true}, 5, 400, 0xa6181ff8f916c56e},
    {{SK_SPECIES_FLY, 20, 160, 160, 60.0, 32, SK_BEHAVE_ALL, 1, true}, 5, 400, 0xd94b3121d45fd858},
    {{SK_SPECIES_MOUSE, 7, 240, 100, 15.0, 33, SK_BEHAVE_ALL, 3, false}, 5, 400, 0x7d9dba4011695f3b},
    {{SK_SPECIES_MIXED, 2, 150, 110, 30.0, 34, SK_BEHAVE_FOLLOW | SK_BEHAVE_CHASE, 1, true},
     5,
     400,
     0x0c8606b389d6c314},
    {{SK_SPECIES_MIXED, 1, 130, 70, 25.0, 35, SK_BEHAVE_ALL, 1, true}, 5, 400, 0x5c4cc16426004af6},
    {{SK_SPECIES_MIXED, 40, 400, 90, 100.0, 36, SK_BEHAVE_HUDDLE, 2, true}, 5, 400, 0x30e3811c07142a8d},
};
#define KNOWN_SCENES ((int)(sizeof known_scenes / sizeof *known_scenes))

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t count)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* 0 when the scene could not be opened. */
static inline uint64_t hash_scene(const known_scene *known)
{
    const sk_scene_settings *s = &known->settings;
    sk_scene *scene = NULL;
    sk_scene_animal *animals = calloc((size_t)s->animals, sizeof *animals);
    sk_frame frame = {.format = SK_PIXEL_RGB, .width = s->width, .height = s->height, .stride = 3 * s->width};
    frame.data = calloc((size_t)s->height, (size_t)frame.stride);
    uint64_t hash = 0;
    if (animals && frame.data && sk_scene_open(s, &scene, NULL) == SK_OK) {
        hash = 0xcbf29ce484222325u;
        for (int i = 0; i < known->frames; i++) {
            int32_t count = sk_scene_next(scene, &frame, animals);
            hash = hash_bytes(hash, frame.data, (size_t)s->height * (size_t)frame.stride);
            hash = hash_bytes(hash, animals, (size_t)count * sizeof *animals);
            sk_scene_skip(scene, known->skip);
        }
    }
    sk_scene_close(&scene);
    free(frame.data);
    free(animals);
    return hash;
}

#endif
