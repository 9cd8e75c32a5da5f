/* SPDX-License-Identifier: Apache-2.0 */
/* One stage of src/tasks as a filter, for tasks_stages.py: parameters as arguments, arrays through stdin and stdout. */
#include "base/memory.h"
#include "tasks/letterbox.h"
#include "tasks/nms.h"
#include "tasks/peaks.h"
#include "tasks/pixels.h"
#include "tasks/resize_antialias.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;

static void check(sk_status status)
{
    if (status != SK_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

static void *take(size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);
    if (!block || fread(block, 1, bytes, stdin) != bytes)
        exit(2);
    return block;
}

/* format width height net_width net_height stride */
static void letterbox(const int *a)
{
    sk_letterbox_geometry g;
    check(sk_letterbox_fit(a[1], a[2], a[3], a[4], a[5], &g, &err));
    sk_letterbox *box;
    check(sk_letterbox_open(&g, (sk_pixel_format)a[0], 1, &box, &err));
    int channels = a[0] == SK_PIXEL_GRAY ? 1 : 3;
    sk_frame frame = {.format = (sk_pixel_format)a[0],
                      .width = a[1],
                      .height = a[2],
                      .stride = (ptrdiff_t)a[1] * channels,
                      .data = take((size_t)(a[1] * a[2] * channels))};
    size_t bytes = (size_t)(g.width * g.height * 3);
    uint8_t *out = malloc(bytes);
    check(sk_letterbox_run(box, &frame, out, &err));
    fwrite(out, 1, bytes, stdout);
}

/* channels width height new_width new_height */
static void antialias(const int *a)
{
    sk_resize_antialias *r;
    check(sk_resize_antialias_open(a[1], a[2], a[3], a[4], a[0], &r, &err));
    uint8_t *in = take((size_t)(a[0] * a[1] * a[2])), *out = malloc((size_t)(a[0] * a[3] * a[4]));
    sk_resize_antialias_run(r, in, (ptrdiff_t)a[1] * a[0], out, (ptrdiff_t)a[3] * a[0]);
    fwrite(out, 1, (size_t)(a[0] * a[3] * a[4]), stdout);
}

/* width height: RGB to grey by torchvision's rule */
static void gray(const int *a)
{
    sk_frame frame = {.format = SK_PIXEL_RGB,
                      .width = a[0],
                      .height = a[1],
                      .stride = (ptrdiff_t)a[0] * 3,
                      .data = take((size_t)(a[0] * a[1] * 3))};
    uint8_t *out = malloc((size_t)(a[0] * a[1]));
    check(sk_pixels_convert(&frame, 1, SK_GRAY_TORCH, out, &err));
    fwrite(out, 1, (size_t)(a[0] * a[1]), stdout);
}

/* rotated count iou_millionths agnostic max_det; rows of 4 box, angle, score, class. Writes the indices kept. */
static void nms(const int *a)
{
    sk_candidates c;
    check(sk_candidates_alloc(a[1] > 0 ? a[1] : 1, &c, &err));
    float *rows = take(sizeof(float) * 7 * (size_t)a[1]);
    for (int i = 0; i < a[1]; i++, c.count++) {
        for (int k = 0; k < 4; k++)
            c.box[k][i] = rows[7 * i + k];
        c.angle[i] = rows[7 * i + 4];
        c.score[i] = rows[7 * i + 5];
        c.class_id[i] = (int32_t)rows[7 * i + 6];
    }
    sk_nms *work;
    check(sk_nms_open(c.capacity, a[4], &work, &err));
    int32_t *keep = malloc(sizeof *keep * (size_t)a[4]);
    int32_t n = a[0] ? sk_nms_rotated(work, &c, a[2] / 1e6, a[3], keep)
                     : sk_nms_greedy(work, &c, a[2] / 1e6, a[3], keep);
    fwrite(keep, sizeof *keep, (size_t)n, stdout);
}

/* global channels height width threshold_millionths; writes x, y, value, channel of refined peaks as floats. */
static void peaks(const int *a)
{
    sk_map map = sk_map_planar(take(sizeof(float) * (size_t)(a[1] * a[2] * a[3])), a[1], a[2], a[3]);
    int32_t most = a[1] * a[2] * a[3], n = a[1];
    sk_peak *found = malloc(sizeof *found * (size_t)most);
    if (a[0])
        sk_peaks_global(&map, (float)(a[4] / 1e6), found);
    else
        n = sk_peaks_local(&map, (float)(a[4] / 1e6), found, most);
    for (int32_t i = 0; i < n; i++) {
        sk_peak_refine(&map, SK_REFINE_INTEGRAL, SK_PEAK_PATCH, &found[i]);
        float row[4] = {found[i].x, found[i].y, found[i].value, (float)found[i].channel};
        fwrite(row, sizeof row, 1, stdout);
    }
}

int main(int count, char **text)
{
    int a[8] = {0};
    for (int i = 2; i < count && i < 10; i++)
        a[i - 2] = atoi(text[i]);
    static const struct {
        const char *name;
        void (*run)(const int *);
    } stages[] = {
        {"letterbox", letterbox}, {"antialias", antialias}, {"gray", gray}, {"nms", nms}, {"peaks", peaks}};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && count > 1; i++)
        if (!strcmp(text[1], stages[i].name)) {
            stages[i].run(a);
            return 0;
        }
    return 3;
}
