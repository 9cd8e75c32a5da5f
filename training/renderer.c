/* SPDX-License-Identifier: Apache-2.0 */
#include "scene/scene.h"

/* Scenes for scenes.py, without a struct of C that Python would have to know, but the animal's. */

#define EXPORT __attribute__((visibility("default")))

EXPORT size_t renderer_animal_size(void);
EXPORT int renderer_frames(int32_t species, int32_t animals, int32_t width, int32_t height, double rate,
                           uint64_t seed, int32_t count, int32_t skip, uint8_t *images,
                           sk_scene_animal *truth);

size_t renderer_animal_size(void)
{
    return sizeof(sk_scene_animal);
}

/* `count` frames of one scene, `skip` left out between them, into images [count][height][width][3] and
 * truth [count][animals]. 0: done; else the scene was refused. */
int renderer_frames(int32_t species, int32_t animals, int32_t width, int32_t height, double rate,
                    uint64_t seed, int32_t count, int32_t skip, uint8_t *images, sk_scene_animal *truth)
{
    sk_scene_settings settings = {.species = (sk_species)species,
                                  .animals = animals,
                                  .width = width,
                                  .height = height,
                                  .rate = rate,
                                  .seed = seed};
    sk_scene *scene = NULL;
    sk_status status = sk_scene_open(&settings, &scene, NULL);
    if (status != SK_OK)
        return (int)status;
    for (int32_t i = 0; i < count; i++) {
        sk_frame frame = {.format = SK_PIXEL_RGB,
                          .width = width,
                          .height = height,
                          .stride = 3 * (ptrdiff_t)width,
                          .data = images + (size_t)i * 3 * (size_t)width * (size_t)height};
        (void)sk_scene_next(scene, &frame, truth + (size_t)i * (size_t)animals);
        sk_scene_skip(scene, skip);
    }
    sk_scene_close(&scene);
    return 0;
}
