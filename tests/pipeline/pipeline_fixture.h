/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_PIPELINE_FIXTURE_H
#define SK_TESTS_PIPELINE_FIXTURE_H

#include "skitter/skitter.h"
#include "support/test.h"
#include "support/yolo_writer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Pipelines on a tiny model, and frames that count how often they were given back. */

static inline const char *tiny_path(void)
{
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    return yolo_save(&fixture, "tiny.pt");
}

static inline sk_pipeline_settings tiny_settings(void)
{
    sk_pipeline_settings s = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&s);
    s.threads = 1;
    s.height = s.width = 32;
    s.confidence = 0.01f;
    s.max_det = 20;
    s.quick_open = true;
    return s;
}

static inline sk_pipeline *open_tiny(const sk_pipeline_settings *settings)
{
    sk_error err = {0};
    sk_pipeline *p = NULL;
    const char *path = tiny_path();
    assert_ok(sk_pipeline_open(&path, 1, settings, &p, &err), &err);
    return p;
}

/* A lent frame. */
typedef struct lent {
    sk_frame frame;
    atomic_int back;
} lent;

static inline void count_back(void *context, const sk_frame *frame)
{
    lent *l = context;
    if (frame != &l->frame)
        abort(); /* not the pointer that was handed in */
    atomic_fetch_add(&l->back, 1);
}

static inline lent *make_lent(int64_t index, int32_t width, int32_t height)
{
    lent *l = calloc(1, sizeof *l);
    l->frame = (sk_frame)SK_FRAME_INIT;
    l->frame.format = SK_PIXEL_RGB;
    l->frame.width = width;
    l->frame.height = height;
    l->frame.stride = (ptrdiff_t)width * 3;
    l->frame.index = index;
    l->frame.time_ns = index * 40000000;
    const size_t bytes = (size_t)l->frame.stride * (size_t)height;
    l->frame.data = malloc(bytes);
    uint32_t noise = (uint32_t)index * 7919u + 1u;
    for (size_t i = 0; i < bytes; i++) {
        noise = noise * 1664525u + 1013904223u;
        l->frame.data[i] = (uint8_t)(noise >> 24);
    }
    l->frame.release = count_back;
    l->frame.release_context = l;
    return l;
}

static inline void free_lent(lent *l)
{
    free(l->frame.data);
    free(l);
}

static inline float first_score(const sk_result *result)
{
    sk_instance animal = SK_INSTANCE_INIT;
    return sk_instances_get(result->instances, 0, &animal) ? animal.score : -1;
}

#define MANY 12 /* frames */

static inline void make_many(lent *l[MANY])
{
    for (int i = 0; i < MANY; i++)
        l[i] = make_lent(i, 48, 40);
}

/* Each that was taken came back once, the others not at all. */
static inline void all_back_once(lent *l[MANY], int taken)
{
    for (int i = 0; i < MANY; i++) {
        if (l[i]->back != (i < taken))
            fail_msg("frame %d was given back %d times", i, (int)l[i]->back);
        free_lent(l[i]);
    }
}

/* A batch that never fills up by itself: frames wait until they are flushed. */
static inline sk_pipeline_settings waiting_settings(void)
{
    sk_pipeline_settings s = tiny_settings();
    s.batch = 16;
    s.batch_wait_ms = 3600000;
    s.depth = 16;
    return s;
}

#endif
