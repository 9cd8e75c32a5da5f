/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SCENE_INTERNAL_H
#define SK_SCENE_INTERNAL_H

#include "scene/maths.h"
#include "scene/scene.h"

/* Inside scene/: what its files share. Lengths are pixels, angles radians, colours 0 … 255. */

#define SK_SPINE        25 /* points from nose to tail tip, evenly along the spine */
#define SK_MAX_PARTS    24
#define SK_NOISE_PERIOD 16384
#define SK_OWNER_NOBODY 255 /* of a pixel */
#define SK_OWNER_HIDE   254
#define SK_MAX_SPOTS    18 /* where animals huddle */

typedef struct sk_colour {
    float r, g, b;
} sk_colour;

/* How one animal looks, for life. */
typedef struct sk_looks {
    int32_t species;
    float length;
    float girth; /* of the body's radii, about 1 */
    sk_colour base, second;
    float stripes, spots, dorsal; /* strength of the markings, 0 … 1 */
    float stripe_count, spot_size;
    float wing_angle, fin;
    uint32_t texture;
} sk_looks;

/* Where it is and what it does. */
typedef struct sk_motion {
    sk_random random;
    float x, y, heading;
    float speed, wanted_speed; /* body lengths a second */
    float turn;                /* radians a second */
    float bend;                /* of the body, follows the turn */
    int32_t goal;              /* the animal it is on its way to; -1 none */
    float phase, sway;         /* of the swimming wave or the gait; of the tail or the wings */
} sk_motion;

/* What moves an animal besides its own wandering (manners.c). */
typedef enum sk_doing {
    SK_WANDERS,
    SK_FOLLOWS,
    SK_CHASES,
    SK_FLEES,
    SK_HUDDLES,
    SK_HIDES,
    SK_LEAVES,
    SK_COMES,
    SK_IS_GONE
} sk_doing;

typedef struct sk_manner {
    sk_random random;
    sk_doing doing;
    int32_t whom; /* it follows, chases or flees from */
    float left;   /* seconds of it */
    float x, y;   /* where to */
    bool there;   /* it has arrived; of one that leaves or comes: it is in the frame */
} sk_manner;

/* What that asks of one step. */
typedef struct sk_urge {
    float speed;    /* body lengths a second; below 0: as it likes */
    float strength; /* of turning to (x, y), radians a second; below 0: away from it; 0: none */
    float x, y;
    float shy;   /* of neighbours, of what its kind is */
    float walls; /* 1 they turn it back, 0 they do not */
    bool free;   /* it may be outside */
} sk_urge;

/* The ways of a kind. */
typedef struct sk_habits {
    float slow, fast;    /* body lengths a second */
    float rest;          /* part of the choices that is standing still */
    float patience;      /* seconds between choices */
    float wander, limit; /* of the turn rate */
    float beat;          /* phase a body length, and */
    float idle_beat;     /* a second */
    float shy;           /* how strongly neighbours are avoided */
} sk_habits;

/* A roof: a rectangle with round corners. */
typedef struct sk_hide {
    float x, y, along, across, corner; /* half sides, and radius of the corners */
    float ux, uy;                      /* unit vector along */
    sk_colour colour;
    float planks; /* a pixel */
} sk_hide;

/* A tapered stroke with round ends, or an ellipse. */
typedef struct sk_body_part {
    bool ellipse;
    bool over;        /* drawn above the body, else below */
    bool outline;     /* counts for the boxes */
    float x0, y0, r0; /* ellipse: centre and half axes r0 (along), r1 (across) */
    float x1, y1, r1; /* ellipse: x1, y1 = unit vector along r0 */
    sk_colour colour;
    float opacity;
    float veins; /* texture of wings and fins, 0 … 1 */
} sk_body_part;

/* The animal's shape in one frame. */
typedef struct sk_body {
    float spine[SK_SPINE][2], radius[SK_SPINE];
    int32_t n_parts;
    sk_body_part parts[SK_MAX_PARTS];
} sk_body;

typedef struct sk_light {
    float x, y;                       /* direction of the light in the picture; shadows fall the other way */
    float height;                     /* 0 grazing … 1 overhead */
    float shadow;                     /* darkness, 0 none … 1 */
    float shadow_distance;            /* of the body's thickness */
    float shadow_soft;                /* pixels */
    float slope_x, slope_y, vignette; /* brightness over the picture */
    float flicker;
} sk_light;

/* What is the same in all frames of a scene. */
typedef struct sk_world {
    int32_t width, height;
    sk_colour ground;
    float ground_luma;
    sk_light light;
    bool grey;
    int32_t blur; /* passes of a 3x3 binomial filter */
    float noise;  /* deviation, grey levels */
    float gain;
    uint8_t *background; /* [height][width][3], lit */
    int8_t *noise_table; /* SK_NOISE_PERIOD + 3 * width; deviation 32 */
} sk_world;

/* What drawing an animal needs; reused by all. */
typedef struct sk_canvas {
    int32_t width, height;
    uint8_t *pixels; /* [height][width][3] */
    uint8_t *owner;  /* [height][width]: SK_OWNER_…, else the animal that is uppermost */
    float *field; /* 4 planes of field_capacity: distance, along, normal x, normal y of the animal at hand */
    int32_t field_capacity;
    uint16_t *rows; /* 3 rows for the blur */
    int32_t shown[SK_SCENE_MAX_ANIMALS],
        whole[SK_SCENE_MAX_ANIMALS]; /* pixels of the body, seen and in all */
} sk_canvas;

struct sk_scene {
    sk_scene_settings settings;
    int64_t index;
    sk_world world;
    sk_canvas canvas;
    sk_random frame_random;
    sk_looks looks[SK_SCENE_MAX_ANIMALS];
    sk_motion motion[SK_SCENE_MAX_ANIMALS];
    sk_manner manner[SK_SCENE_MAX_ANIMALS];
    int32_t track[SK_SCENE_MAX_ANIMALS], n_tracks;
    float fit; /* of the lengths, so that all have room */
    sk_hide hides[SK_SCENE_MAX_HIDES];
    float spots[SK_MAX_SPOTS][2];
    sk_body body[SK_SCENE_MAX_ANIMALS];
};

/* world.c: background, light and camera. The memory is the caller's. */
/* `plane`: width * height zeros; `lattice`: 3 * (width / 2 + 2). */
void sk_world_make(sk_world *world, uint64_t seed, float *plane, float *lattice);
float sk_world_brightness(const sk_world *world, float x, float y);

/* looks.c */
void sk_looks_make(sk_looks *looks, int32_t species, const sk_world *world, sk_random *random);
float sk_looks_longest(int32_t species, const sk_world *world);

/* motion.c */
void sk_motion_begin(sk_scene *scene, sk_random *random);
void sk_motion_step(sk_scene *scene, float seconds);
extern const sk_habits sk_all_habits[SK_SPECIES_COUNT];

/* manners.c: company, roofs and the open border. A scene without them is not touched. */
void sk_manners_begin(sk_scene *scene);
sk_urge sk_manners_step(sk_scene *scene, int32_t id, float seconds);
bool sk_manners_wanted(const sk_scene_settings *settings);

/* hide.c */
void sk_hides_make(sk_scene *scene, sk_random *random);
void sk_hide_draw(sk_canvas *canvas, const sk_world *world, const sk_hide *hide);
void sk_hide_cover(sk_canvas *canvas, const sk_hide *hide); /* without drawing */

/* body.c: the shape from looks and motion. */
void sk_body_make(const sk_looks *looks, const sk_motion *motion, sk_body *body);

/* raster.c: the animal with its shadow onto the canvas, as number `id`. */
void sk_canvas_clear(sk_canvas *canvas, const sk_world *world);
void sk_canvas_draw(sk_canvas *canvas, const sk_world *world, const sk_looks *looks, const sk_body *body,
                    int32_t id);
/* Only whose pixels are whose, which is all the truth needs: the same counts and owners as drawing leaves. */
void sk_canvas_forget(sk_canvas *canvas); /* owners and counts of the frame before */
void sk_canvas_cover(sk_canvas *canvas, const sk_body *body, int32_t id);
void sk_canvas_own(sk_canvas *canvas, size_t at, int32_t id); /* the pixel is an animal's, or SK_OWNER_HIDE */
void sk_canvas_blend(uint8_t *pixel, sk_colour colour, float alpha);
int32_t sk_canvas_field_size(float length); /* floats a plane that an animal needs */

/* camera.c: lens and sensor, canvas to frame. */
void sk_camera_take(sk_canvas *canvas, const sk_world *world, sk_random *random, sk_frame *frame);

/* truth.c */
bool sk_truth_in_frame(const sk_scene *scene, int32_t id); /* some of the outline of its body[id] */
void sk_truth_make(const sk_scene *scene, int32_t id, sk_scene_animal *out);
extern const int32_t sk_keypoint_spine[SK_SPECIES_COUNT]
                                      [SK_SCENE_KEYPOINTS]; /* body.c: index into the spine */

#endif
