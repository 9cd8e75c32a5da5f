/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SCENE_SCENE_H
#define SK_SCENE_SCENE_H

#include "base/error.h"
#include "skitter/frame.h"

#include <stdbool.h>

/* Made-up scenes: animals seen from above, with the exact answer to every frame. The same settings give the same bytes
 * on every machine. docs/scenes.md describes what is drawn and how truth is defined. */

typedef enum sk_species {
    SK_SPECIES_FISH = 0, /* also the class numbers of the truth */
    SK_SPECIES_FLY = 1,
    SK_SPECIES_MOUSE = 2,
    SK_SPECIES_COUNT = 3,
    SK_SPECIES_MIXED = 3 /* in settings only: each animal its own */
} sk_species;

extern const char *const sk_species_names[SK_SPECIES_COUNT + 1]; /* "fish", "fly", "mouse", "mixed" */

/* One skeleton for all: */
#define SK_SCENE_KEYPOINTS 5
#define SK_SCENE_EDGES     4
extern const char
    *const sk_scene_keypoint_names[SK_SCENE_KEYPOINTS]; /* nose neck centre tail_base tail_tip */
extern const int32_t sk_scene_edges[SK_SCENE_EDGES][2];

#define SK_SCENE_MAX_ANIMALS 200 /* the canvas counts owners in bytes, 255 is nobody */
#define SK_SCENE_MIN_SIDE    64
#define SK_SCENE_MAX_SIDE    4096

/* What animals do besides wandering about; bits of sk_scene_settings.behaviour. */
enum { SK_BEHAVE_FOLLOW = 1, SK_BEHAVE_CHASE = 2, SK_BEHAVE_HUDDLE = 4 };
#define SK_BEHAVE_ALL      (SK_BEHAVE_FOLLOW | SK_BEHAVE_CHASE | SK_BEHAVE_HUDDLE)
#define SK_SCENE_MAX_HIDES 16

/* Zero in the last three is the scene as it always was, byte for byte. */
typedef struct sk_scene_settings {
    sk_species species;
    int32_t animals;       /* 1 … SK_SCENE_MAX_ANIMALS; with an open border the most at a time */
    int32_t width, height; /* pixels */
    double rate;           /* frames a second, 1 … 1000 */
    uint64_t seed;
    uint32_t behaviour; /* SK_BEHAVE_… */
    int32_t hides;      /* roofs that animals go under and stay, 0 … SK_SCENE_MAX_HIDES */
    bool open_border;   /* animals leave, and others come */
} sk_scene_settings;

/* How much of a keypoint can be seen; the numbers are COCO's. */
enum { SK_POINT_OUTSIDE = 0, SK_POINT_HIDDEN = 1, SK_POINT_VISIBLE = 2 };

/* One animal in one frame. Pixels, edges at whole numbers. */
typedef struct sk_scene_animal {
    int32_t
        track; /* the same animal in every frame: 0 … animals - 1, and further ones that come by a border */
    int32_t species; /* sk_species, never MIXED */
    float box[4];    /* x1, y1, x2, y2, cut to the frame */
    float obb[5];    /* cx, cy, w, h, angle; w >= h, 0 <= angle < pi; not cut */
    float points[SK_SCENE_KEYPOINTS][2];
    int32_t seen[SK_SCENE_KEYPOINTS]; /* SK_POINT_… */
    float
        visible; /* part of the body that is in the frame and not covered by another animal or a roof, 0 … 1 */
    float length; /* along the spine from nose to tail tip, pixels */
} sk_scene_animal;

typedef struct sk_scene sk_scene;

sk_scene_settings sk_scene_defaults(void);
/* "wander", "follow,chase" … as bits. */
sk_status sk_scene_read_behaviour(const char *text, uint32_t *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_scene_open(const sk_scene_settings *settings, sk_scene **out, sk_error *err) SK_MUST_CHECK;
void sk_scene_close(sk_scene **scene);

/* Draws the next frame into `frame` (RGB, the scene's size; index and time are set) and tells where the animals are:
 * `animals` has room for settings.animals of them. Returns how many there are, which is that number unless the border is
 * open: then those with some of their body in the frame. Allocates nothing. */
int32_t sk_scene_next(sk_scene *scene, sk_frame *frame, sk_scene_animal *animals);
/* Only tells where the animals are in the next frame, some ten times as fast: the same truth, nothing drawn. */
int32_t sk_scene_tell(sk_scene *scene, sk_scene_animal *animals);
/* Lets time pass without either. */
void sk_scene_skip(sk_scene *scene, int32_t frames);

#endif
