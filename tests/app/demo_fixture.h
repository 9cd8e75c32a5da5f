/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_DEMO_FIXTURE_H
#define SK_TESTS_APP_DEMO_FIXTURE_H

#include "app/demo_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "skitter/source.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A small demo in a folder of the test's. */

static sk_error err;

static inline void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static inline sk_demo_settings settings(const char *out)
{
    sk_demo_settings s;
    sk_demo_defaults(&s);
    s.out = out;
    s.scene.animals = 2;
    s.scene.width = 96;
    s.scene.height = 64;
    s.scene.seed = 77;
    s.program = "./skitter & co";
    return s;
}

static inline sk_annotation_set parsed(const char *csv)
{
    sk_annotation_set set = {0};
    assert_ok(sk_annotations_parse("csv", csv, strlen(csv), &set, &err), &err);
    return set;
}

/* A scene of grey pictures, 96 x 64. */
static inline void draw_scene(const char *folder, int frames)
{
    char path[256];
    uint8_t *pixels = sk_malloc(96 * 64 * 3);
    memset(pixels, 128, 96 * 64 * 3);
    const sk_frame f = {.format = SK_PIXEL_RGB, .width = 96, .height = 64, .stride = 96 * 3, .data = pixels};
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < frames; i++) {
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
    sk_free(pixels);
}

/* Where something was drawn: cells of 8 pixels in which many are no longer grey, and in which colours are. */
static inline void put_drawn(sk_text *all, const char *path)
{
    sk_source *source = NULL;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    const sk_frame *f = NULL;
    sk_source_defaults(&media);
    assert_ok(sk_source_open(path, &media, &source, &err), &err);
    assert_ok(sk_source_next(source, &f, &err), &err);
    assert_true(f && f->width == 96 && f->height == 64);
    for (int y = 0; y < 64; y += 8) {
        for (int x = 0; x < 96; x += 8) {
            int changed = 0;
            for (int k = 0; k < 64; k++) {
                const uint8_t *p = f->data + (y + k / 8) * f->stride + 3 * (x + k % 8);
                changed += abs(p[0] - 128) > 50 || abs(p[1] - 128) > 50 || abs(p[2] - 128) > 50;
            }
            sk_text_append(all, changed >= 6 ? "#" : ".");
        }
        sk_text_append(all, "\n");
    }
    sk_source_release(source, f);
    sk_source_close(&source);
}

#endif
