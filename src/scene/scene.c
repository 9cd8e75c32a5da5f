/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene.h"

#include "base/frame.h"
#include "base/memory.h"
#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

const char *const sk_species_names[SK_SPECIES_COUNT + 1] = {"fish", "fly", "mouse", "mixed"};
const char *const sk_scene_keypoint_names[SK_SCENE_KEYPOINTS] = {"nose", "neck", "centre", "tail_base",
                                                                 "tail_tip"};
const int32_t sk_scene_edges[SK_SCENE_EDGES][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};

sk_scene_settings sk_scene_defaults(void)
{
    return (sk_scene_settings){
        .species = SK_SPECIES_FISH, .animals = 4, .width = 640, .height = 480, .rate = 30.0, .seed = 1};
}

sk_status sk_scene_read_behaviour(const char *text, uint32_t *out, sk_error *err)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } kinds[] = {{"wander", 0},
                 {"follow", SK_BEHAVE_FOLLOW},
                 {"chase", SK_BEHAVE_CHASE},
                 {"huddle", SK_BEHAVE_HUDDLE}};
    *out = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ", "), i = 0;
        while (i < 4 && (strlen(kinds[i].name) != length || strncmp(kinds[i].name, at, length) != 0))
            i++;
        if (length > 0 && i == 4)
            return sk_fail(err, SK_ERR_ARG,
                           "behaviour '%.*s' is none that animals have: wander, follow, chase, huddle",
                           (int)(length < 40 ? length : 40), at);
        if (length > 0)
            *out |= kinds[i].bit;
        at += length + (at[length] != '\0');
    }
    return SK_OK;
}

static sk_status check(const sk_scene_settings *s, sk_error *err)
{
    if (s->species < SK_SPECIES_FISH || s->species > SK_SPECIES_MIXED)
        return sk_fail(err, SK_ERR_ARG, "scene: species %d is none of fish, fly, mouse, mixed",
                       (int)s->species);
    if (s->animals < 1 || s->animals > SK_SCENE_MAX_ANIMALS)
        return sk_fail(err, SK_ERR_ARG, "scene: %d animals; it must be 1 to %d", s->animals,
                       SK_SCENE_MAX_ANIMALS);
    if (s->width < SK_SCENE_MIN_SIDE || s->width > SK_SCENE_MAX_SIDE || s->height < SK_SCENE_MIN_SIDE ||
        s->height > SK_SCENE_MAX_SIDE)
        return sk_fail(err, SK_ERR_ARG, "scene: %dx%d pixels; each side must be %d to %d", s->width,
                       s->height, SK_SCENE_MIN_SIDE, SK_SCENE_MAX_SIDE);
    if (!(s->rate >= 1.0 && s->rate <= 1000.0))
        return sk_fail(err, SK_ERR_ARG, "scene: %g frames a second; it must be 1 to 1000", s->rate);
    if (s->behaviour & ~(uint32_t)SK_BEHAVE_ALL)
        return sk_fail(err, SK_ERR_ARG, "scene: behaviour %u has bits that mean nothing", s->behaviour);
    if (s->hides < 0 || s->hides > SK_SCENE_MAX_HIDES)
        return sk_fail(err, SK_ERR_ARG, "scene: %d hides; it must be 0 to %d", s->hides, SK_SCENE_MAX_HIDES);
    return SK_OK;
}

static void populate(sk_scene *scene)
{
    sk_random random = sk_random_begin(scene->settings.seed, 2);
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        int32_t species = scene->settings.species == SK_SPECIES_MIXED
                              ? sk_random_below(&random, SK_SPECIES_COUNT)
                              : (int32_t)scene->settings.species;
        sk_looks_make(&scene->looks[i], species, &scene->world, &random);
        scene->track[i] = scene->n_tracks++;
    }
    sk_motion_begin(scene, &random);
}

/* What the longest animal needs, of those that may still come by the border as well. */
static int32_t field_capacity(const sk_scene *scene)
{
    const sk_scene_settings *s = &scene->settings;
    float longest = 0.0f;
    for (int32_t i = 0; i < s->animals; i++)
        longest = scene->looks[i].length > longest ? scene->looks[i].length : longest;
    for (int32_t k = 0; k < SK_SPECIES_COUNT && s->open_border; k++) {
        float length = scene->fit * sk_looks_longest(k, &scene->world);
        if (length > longest && (s->species == SK_SPECIES_MIXED || k == (int32_t)s->species))
            longest = length;
    }
    return sk_canvas_field_size(longest);
}

sk_status sk_scene_open(const sk_scene_settings *settings, sk_scene **out, sk_error *err)
{
    *out = NULL;
    SK_TRY(check(settings, err));
    const size_t pixels = (size_t)settings->width * (size_t)settings->height;
    sk_status status = SK_OK;
    float *plane = sk_calloc(pixels, sizeof *plane);
    float *lattice = sk_malloc(3 * ((size_t)settings->width / 2 + 2) * sizeof *lattice);
    sk_scene *scene = sk_calloc(1, sizeof *scene);
    if (!scene || !plane || !lattice) {
        status = sk_fail_memory(err, pixels * sizeof *plane);
        goto done;
    }
    scene->settings = *settings;
    scene->world.width = scene->canvas.width = settings->width;
    scene->world.height = scene->canvas.height = settings->height;
    scene->world.background = sk_malloc(3 * pixels);
    scene->world.noise_table = sk_malloc(SK_NOISE_PERIOD + 3 * (size_t)settings->width);
    scene->canvas.pixels = sk_malloc(3 * pixels);
    scene->canvas.owner = sk_malloc(pixels);
    scene->canvas.rows = sk_malloc(9 * (size_t)settings->width * sizeof *scene->canvas.rows);
    if (!scene->world.background || !scene->world.noise_table || !scene->canvas.pixels ||
        !scene->canvas.owner || !scene->canvas.rows) {
        status = sk_fail_memory(err, 3 * pixels);
        goto done;
    }
    sk_world_make(&scene->world, settings->seed, plane, lattice);
    populate(scene);
    scene->canvas.field_capacity = field_capacity(scene);
    scene->canvas.field = sk_malloc(4 * sizeof(float) * (size_t)scene->canvas.field_capacity);
    if (!scene->canvas.field) {
        status = sk_fail_memory(err, 4 * sizeof(float) * (size_t)scene->canvas.field_capacity);
        goto done;
    }
    scene->frame_random = sk_random_begin(settings->seed, 3);
    *out = scene;
    scene = NULL;
done:
    sk_free(plane);
    sk_free(lattice);
    sk_scene_close(&scene);
    return status;
}

void sk_scene_close(sk_scene **pointer)
{
    sk_scene *scene = pointer ? *pointer : NULL;
    if (!scene)
        return;
    *pointer = NULL;
    sk_free(scene->world.background);
    sk_free(scene->world.noise_table);
    sk_free(scene->canvas.pixels);
    sk_free(scene->canvas.owner);
    sk_free(scene->canvas.rows);
    sk_free(scene->canvas.field);
    sk_free(scene);
}

void sk_scene_skip(sk_scene *scene, int32_t frames)
{
    for (int32_t i = 0; i < frames; i++) {
        sk_motion_step(scene, (float)(1.0 / scene->settings.rate));
        scene->index++;
    }
}

static int32_t tell(const sk_scene *scene, sk_scene_animal *animals)
{
    int32_t count = 0;
    for (int32_t i = 0; i < scene->settings.animals; i++)
        if (scene->manner[i].doing != SK_IS_GONE && sk_truth_in_frame(scene, i))
            sk_truth_make(scene, i, &animals[count++]);
    return count;
}

int32_t sk_scene_next(sk_scene *scene, sk_frame *frame, sk_scene_animal *animals)
{
    sk_canvas_clear(&scene->canvas, &scene->world);
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        if (scene->manner[i].doing == SK_IS_GONE)
            continue;
        sk_body_make(&scene->looks[i], &scene->motion[i], &scene->body[i]);
        sk_canvas_draw(&scene->canvas, &scene->world, &scene->looks[i], &scene->body[i], i);
    }
    for (int32_t i = 0; i < scene->settings.hides; i++)
        sk_hide_draw(&scene->canvas, &scene->world, &scene->hides[i]);
    int32_t count = tell(scene, animals);
    sk_camera_take(&scene->canvas, &scene->world, &scene->frame_random, frame);
    frame->index = scene->index;
    frame->time_ns = sk_time_ns((double)scene->index / scene->settings.rate);
    sk_scene_skip(scene, 1);
    return count;
}

int32_t sk_scene_tell(sk_scene *scene, sk_scene_animal *animals)
{
    sk_canvas_forget(&scene->canvas);
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        if (scene->manner[i].doing == SK_IS_GONE)
            continue;
        sk_body_make(&scene->looks[i], &scene->motion[i], &scene->body[i]);
        sk_canvas_cover(&scene->canvas, &scene->body[i], i);
    }
    for (int32_t i = 0; i < scene->settings.hides; i++)
        sk_hide_cover(&scene->canvas, &scene->hides[i]);
    int32_t count = tell(scene, animals);
    sk_scene_skip(scene, 1);
    return count;
}
