/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RESULTS_LABEL_FILES_H
#define SK_TESTS_RESULTS_LABEL_FILES_H

/* Folders of pictures and label text, as small as they can be. */
#include "base/file.h"
#include "support/test.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void write_text(const char *path, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static inline void write_picture(const char *path, int width, int height)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_GRAY};
    uint8_t *pixels = calloc((size_t)width * (size_t)height, 1);
    assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
    free(pixels);
}

static char buffer[4][4400];

static inline const char *in(const char *folder, const char *name)
{
    static int turn;
    char *out = buffer[turn++ % 4];
    snprintf(out, sizeof buffer[0], "%s/%s", folder, name);
    return out;
}

/* set/images/val/a.png (200 x 100) and b.png (100 x 100), labels beside. */
static inline const char *make_set(const char *name, const char *labels)
{
    static char folder[4200];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/%s", test_folder(), name);
    assert_ok(sk_folder_make(in(folder, "images/val"), &err), &err);
    assert_ok(sk_folder_make(in(folder, "labels/val"), &err), &err);
    write_picture(in(folder, "images/val/a.png"), 200, 100);
    write_picture(in(folder, "images/val/b.png"), 100, 100);
    write_text(in(folder, "labels/val/a.txt"), labels);
    return folder;
}

static inline void expect_four(const double *found, double a, double b, double c, double d)
{
    const double wanted[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        if (fabs(found[i] - wanted[i]) > 1e-6)
            fail_msg("%d: %g, not %g", i, found[i], wanted[i]);
}

#endif
