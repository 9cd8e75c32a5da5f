/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_FRAMED_SLEAP_H
#define SK_TESTS_ENGINES_FRAMED_SLEAP_H

#include "random_source.h"

#include "engines/offload.h"
#include "graph/builder.h"
#include "kernels/nv12.h"
#include "tasks/sleap_pre.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sessions that fit frames in by SLEAP's rules beside sessions that get what the CPU makes of them: the same outputs. For a
 * GPU of loops and for a real one. */

typedef struct framed {
    const sk_engine *engine;
    random_source random;
    int compared;
    char problem[256];
} framed;

/* The input with the other sign. */
static inline sk_graph *framed_graph(const sk_shape *shape)
{
    sk_graph *g = NULL;
    sk_builder b;
    if (sk_graph_open(&g, NULL) != SK_OK)
        return NULL;
    sk_builder_init(&b, g);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, "picture", SK_DTYPE_F32, shape)), "out");
    if (b.status != SK_OK)
        sk_graph_close(&g);
    return g;
}

/* One frame through both; the session's settings but for the input are given. */
static inline bool framed_compare(framed *f, const sk_sleap_spec *spec, int channels, const sk_frame *frames,
                                  sk_precision precision, sk_error *err)
{
    enum { BATCH = 2 };
    sk_sleap_geometry g;
    sk_frame_fit fit;
    sk_sleap_pre *pre = NULL;
    sk_session *slow = NULL, *fast = NULL;
    sk_graph *graph = NULL;
    void *input = NULL, *both = NULL;
    bool fine = false;
    if (sk_sleap_sizes(spec, frames->width, frames->height, &g, err) != SK_OK ||
        sk_sleap_pre_open(spec, channels, &g, &pre, err) != SK_OK)
        goto done;
    const int u8 = sk_sleap_pre_is_u8(pre);
    const sk_shape shape =
        sk_shape_of(4, (int64_t)BATCH, (int64_t)channels, (int64_t)g.height, (int64_t)g.width);
    const size_t count = (size_t)sk_shape_count(&shape) / BATCH, bytes = count * (u8 ? 1 : sizeof(float));
    const bool video = frames->format == SK_PIXEL_NV12;
    const size_t rows = (size_t)(video ? frames->height + (frames->height + 1) / 2 : frames->height),
                 frame = (size_t)frames->stride * rows;
    sk_session_settings s = sk_session_defaults();
    s.precision = precision;
    s.cache_dir = "";
    s.input = u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    graph = framed_graph(&shape);
    input = malloc(BATCH * bytes);
    both = malloc(BATCH * frame);
    if (!graph || !input || !both || sk_session_open(f->engine, graph, &shape, 1, &s, &slow, err) != SK_OK ||
        sk_session_capture(slow, err) != SK_OK)
        goto done;
    s.input = SK_INPUT_FRAMES;
    s.stages.fit = &fit;
    if (!sk_offload_fit_sleap(&g, spec->legacy, sk_sleap_grey_of(spec, channels), frames, &fit) ||
        sk_session_open(f->engine, graph, &shape, 1, &s, &fast, err) != SK_OK ||
        sk_session_capture(fast, err) != SK_OK)
        goto done;
    for (int n = 0; n < BATCH; n++) {
        uint8_t *at = (uint8_t *)input + (size_t)n * bytes;
        memcpy((uint8_t *)both + (size_t)n * frame, frames[n].data, frame);
        sk_frame seen = frames[n];
        uint8_t *rgb = NULL;
        if (video) { /* the reference sees colours */
            const sk_nv12_weights w = sk_nv12_weights_of(seen.matrix, seen.full_range);
            rgb = malloc((size_t)(3 * seen.width * seen.height));
            for (int32_t y = 0; y < seen.height; y++)
                sk_yuv_row_to_rgb(&seen, &w, y, rgb + (ptrdiff_t)3 * seen.width * y);
            seen = (sk_frame){.format = SK_PIXEL_RGB,
                              .width = seen.width,
                              .height = seen.height,
                              .stride = (ptrdiff_t)3 * seen.width,
                              .data = rgb};
        }
        const bool made =
            sk_sleap_pre_size(pre, &seen, NULL, err) == SK_OK &&
            (u8 ? sk_sleap_pre_u8(pre, at, err) : sk_sleap_pre_f32(pre, (float *)(void *)at, err)) == SK_OK;
        free(rgb);
        if (!made)
            goto done;
    }
    sk_tensor want, got;
    sk_session_input a = {.data = input},
                     b = {.data = both, .row_bytes = frames->stride, .picture_bytes = (ptrdiff_t)frame};
    if (sk_session_run(slow, &a, 1, &want, 1, err) != SK_OK ||
        sk_session_run(fast, &b, 1, &got, 1, err) != SK_OK)
        goto done;
    fine = true;
    for (size_t i = 0; fine && i < BATCH * count; i++)
        if (((const float *)want.data)[i] != ((const float *)got.data)[i]) {
            snprintf(f->problem, sizeof f->problem,
                     "value %d of %d is %g, should be %g (%dx%d -> %dx%d, legacy %d, %d channels)", (int)i,
                     (int)count, (double)((const float *)got.data)[i], (double)((const float *)want.data)[i],
                     frames->width, frames->height, g.width, g.height, spec->legacy, channels);
            fine = false;
        }
    f->compared++;
done:
    sk_session_close(&slow);
    sk_session_close(&fast);
    sk_graph_close(&graph);
    sk_sleap_pre_close(&pre);
    free(input);
    free(both);
    return fine;
}

/* Frames of about this size: every format, era and number of channels, with and without size matching and scaling. */
static inline bool framed_round(framed *f, int round, int width, int height)
{
    static const float scales[] = {1.0f, 0.5f, 0.37f, 1.3f};
    const int format = round % 4, channels = round / 3 % 2 ? 3 : 1, matched = round / 12 % 2;
    const int w = width + (int)(random_next(&f->random) % 9), h = height + (int)(random_next(&f->random) % 9);
    const int c = format >= 2 ? 1 : 3, stride = format == 3 ? (w + 1) / 2 * 2 + 6 : w * c + 5,
              rows = format == 3 ? h + (h + 1) / 2 : h;
    sk_sleap_spec spec = {.legacy = round / 6 % 2,
                          .ensure_grayscale = round / 2 % 2,
                          .input_scale = scales[round / 24 % 4],
                          .pad_to_stride = 16,
                          .target_size = {matched ? height * 3 / 4 : 0, matched ? width + 30 : 0}};
    sk_frame frames[2];
    sk_error err = {0};
    for (int n = 0; n < 2; n++) {
        uint8_t *data = malloc((size_t)(stride * rows));
        for (int i = 0; i < stride * rows; i++)
            data[i] = (uint8_t)random_next(&f->random);
        for (int i = stride * h; n == 1 && format == 3 && i < stride * rows; i++)
            data[i] = 128;                              /* the second: without colours */
        for (int y = 0; n == 1 && c == 3 && y < h; y++) /* the second: grey in three channels */
            for (int x = 0; x < w; x++)
                data[y * stride + 3 * x + 1] = data[y * stride + 3 * x + 2] = data[y * stride + 3 * x];
        frames[n] = (sk_frame){.format = format == 0   ? SK_PIXEL_RGB
                                         : format == 1 ? SK_PIXEL_BGR
                                         : format == 2 ? SK_PIXEL_GRAY
                                                       : SK_PIXEL_NV12,
                               .matrix = SK_COLOUR_BT709,
                               .width = w,
                               .height = h,
                               .stride = stride,
                               .data = data};
    }
    const bool fine = framed_compare(f, &spec, channels, frames,
                                     round % 5 == 0 ? SK_PRECISION_F32 : SK_PRECISION_F16, &err);
    if (err.code != SK_OK)
        snprintf(f->problem, sizeof f->problem, "%.250s", err.message);
    for (int n = 0; n < 2; n++)
        free(frames[n].data);
    return fine;
}

#endif
