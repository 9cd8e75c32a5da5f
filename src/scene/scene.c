/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene.h"

#include "base/frame.h"
#include "base/memory.h"
#include "scene/scene_internal.h"

#include <math.h>

const char *const sk_species_names[SK_SPECIES_COUNT + 1] = {"fish", "fly", "mouse", "mixed"};
const char *const sk_scene_keypoint_names[SK_SCENE_KEYPOINTS] = {"nose", "neck", "centre", "tail_base",
                                                                 "tail_tip"};
const int32_t sk_scene_edges[SK_SCENE_EDGES][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};

sk_scene_settings sk_scene_defaults(void)
{
    return (sk_scene_settings){
        .species = SK_SPECIES_FISH, .animals = 4, .width = 640, .height = 480, .rate = 30.0, .seed = 1};
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
    }
    sk_motion_begin(scene, &random);
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
    for (int32_t i = 0; i < settings->animals; i++) {
        int32_t size = sk_canvas_field_size(&scene->looks[i]);
        if (size > scene->canvas.field_capacity)
            scene->canvas.field_capacity = size;
    }
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

void sk_scene_next(sk_scene *scene, sk_frame *frame, sk_scene_animal *animals)
{
    sk_canvas_clear(&scene->canvas, &scene->world);
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        sk_body_make(&scene->looks[i], &scene->motion[i], &scene->body[i]);
        sk_canvas_draw(&scene->canvas, &scene->world, &scene->looks[i], &scene->body[i], i);
    }
    for (int32_t i = 0; i < scene->settings.animals; i++)
        sk_truth_make(scene, i, &animals[i]);
    sk_camera_take(&scene->canvas, &scene->world, &scene->frame_random, frame);
    frame->index = scene->index;
    frame->time_ns = sk_time_ns((double)scene->index / scene->settings.rate);
    sk_scene_skip(scene, 1);
}

void sk_scene_tell(sk_scene *scene, sk_scene_animal *animals)
{
    sk_canvas_forget(&scene->canvas);
    for (int32_t i = 0; i < scene->settings.animals; i++) {
        sk_body_make(&scene->looks[i], &scene->motion[i], &scene->body[i]);
        sk_canvas_cover(&scene->canvas, &scene->body[i], i);
    }
    for (int32_t i = 0; i < scene->settings.animals; i++)
        sk_truth_make(scene, i, &animals[i]);
    sk_scene_skip(scene, 1);
}
