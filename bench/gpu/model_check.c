/* SPDX-License-Identifier: Apache-2.0 */
#include "model_check.h"

#include "../settings_for.h"

#include "base/memory.h"
#include "engines/cuda/device.h"
#include "engines/offload.h"
#include "engines/tolerance.h"
#include "kernels/nv12.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sk_engine gpu_engine;

static uint32_t noise = 11;

static void stop(const sk_error *err)
{
    printf("FAILED: %s\n", err->message);
    exit(1);
}

/* Blocks of colour with noise on them: something between a photograph and nothing. */
static void paint(uint8_t *to, size_t rows, size_t row)
{
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < row; x++) {
            noise = noise * 1664525u + 1013904223u;
            to[y * row + x] = (uint8_t)(((x / 24 * 37 + y / 24 * 91) & 127) + (noise >> 25));
        }
}

typedef struct sums {
    double n, a, b, aa, bb, ab;
    int broken;
} sums;

static void add(sums *s, double a, double b)
{
    s->n++;
    s->a += a;
    s->b += b;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
    s->broken += !isfinite(a);
}

static double correlation(const sums *s)
{
    const double va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;
    return va > 0 && vb > 0 ? (s->ab - s->a * s->b / s->n) / sqrt(va * vb) : 1.0;
}

/* Places of a level that pass in the reference, with some room at the limit: there they must be, and alike. */
static int compare_places(const sk_sparse_outputs *sparse, const sk_tensor *got, const sk_tensor *want,
                          int *passed, sums *s)
{
    int missing = 0;
    for (int32_t k = 0; k < sparse->n_levels; k++) {
        const sk_tensor *scores = &want[sparse->level[k].scores];
        const int64_t plane = scores->shape.dim[2] * scores->shape.dim[3], classes = scores->shape.dim[1];
        for (int64_t i = 0; i < scores->shape.dim[0] * plane; i++) {
            const int64_t image = i / plane, at = i % plane;
            float best = -INFINITY;
            for (int64_t c = 0; c < classes; c++)
                best = fmaxf(best, ((const float *)scores->data)[(image * classes + c) * plane + at]);
            if (!(best > sparse->bound + 0.05f))
                continue;
            (*passed)++;
            for (int32_t o = -1; o < sparse->level[k].n_others; o++) {
                const int32_t output = o < 0 ? sparse->level[k].scores : sparse->level[k].others[o];
                const int64_t n = want[output].shape.dim[1];
                for (int64_t c = 0; c < n; c++) {
                    const int64_t x = (image * n + c) * plane + at;
                    const float y = ((const float *)got[output].data)[x];
                    missing += o < 0 && c == 0 && !isfinite(y);
                    add(s, (double)y, (double)((const float *)want[output].data)[x]);
                }
            }
        }
    }
    return missing;
}

static int judge(const char *what, const sums *s, int passed, int missing)
{
    const double r = correlation(s);
    const int bad = !(r >= sk_tolerance_of(SK_PRECISION_F16)->ours) || s->broken || missing || s->n == 0;
    printf("%s%s: correlation %.6f over %.0f values", bad ? "BAD " : "", what, r, s->n);
    if (passed >= 0)
        printf(", %d places pass, %d of them missing", passed, missing);
    printf("%s\n", s->broken ? ", NOT FINITE" : "");
    return bad;
}

typedef struct check {
    const sk_model *model;
    sk_shape shape;
    sk_session_settings settings;
    sk_session *slow;
} check;

/* Fast twice in two slots against slow once. */
static int run_pair(const check *c, const sk_session_settings *settings, const sk_session_input *given,
                    const uint8_t *pictures, const char *what)
{
    sk_error err = {0};
    sk_session *fast = NULL;
    sk_tensor got[2][SK_SESSION_MAX_OUTPUTS], want[SK_SESSION_MAX_OUTPUTS];
    sk_session_input slow_input = {.data = pictures};
    int bad = 0;
    if (sk_session_open(&gpu_engine, c->model->graph, &c->shape, 1, settings, &fast, &err) != SK_OK ||
        sk_session_capture(fast, &err) != SK_OK ||
        sk_session_run(c->slow, &slow_input, 1, want, SK_SESSION_MAX_OUTPUTS, &err) != SK_OK)
        stop(&err);
    for (int k = 0; k < 2; k++)
        if (sk_session_submit(fast, given, 1, &err) != SK_OK)
            stop(&err);
    for (int k = 0; k < 2; k++)
        if (sk_session_wait(fast, got[k], SK_SESSION_MAX_OUTPUTS, &err) != SK_OK)
            stop(&err);
    const int32_t n = sk_session_about(fast)->n_outputs;
    for (int k = 0; k < 2; k++) {
        int passed = -1, missing = 0;
        sums s = {0};
        if (settings->stages.sparse) {
            passed = 0;
            missing = compare_places(settings->stages.sparse, got[k], want, &passed, &s);
        } else {
            for (int32_t i = 0; i < n; i++)
                for (int64_t j = 0; j < sk_shape_count(&want[i].shape); j++)
                    add(&s, (double)((const float *)got[k][i].data)[j],
                        (double)((const float *)want[i].data)[j]);
        }
        bad += judge(what, &s, passed, missing);
    }
    sk_session_close(&fast);
    return bad;
}

static int check_frames(const check *c, sk_pixel_format format, int side, const sk_sparse_outputs *sparse)
{
    const int w = side * 3 / 2 + 10, h = side + 6;
    sk_error err = {0};
    sk_letterbox_geometry box;
    sk_letterbox *letterbox = NULL;
    sk_frame_fit fit;
    sk_frame like = {.format = format, .width = w, .height = h, .matrix = SK_COLOUR_BT709};
    uint8_t *pictures = malloc((size_t)(side * side * 3 * 2)), *rgb = malloc((size_t)(w * h * 3));
    if (sk_letterbox_fit(w, h, side, side, 0, &box, &err) != SK_OK ||
        sk_letterbox_open(&box, SK_PIXEL_RGB, 1, &letterbox, &err) != SK_OK ||
        !sk_offload_fit(&box, &like, &fit))
        stop(&err);
    const size_t row = sk_frame_fit_row(&fit), rows = sk_frame_fit_rows(&fit);
    uint8_t *frames = malloc(2 * row * rows);
    paint(frames, 2 * rows, row);
    for (int n = 0; n < 2; n++) {
        sk_frame frame = like;
        frame.stride = (ptrdiff_t)row;
        frame.data = frames + (size_t)n * row * rows;
        if (format == SK_PIXEL_NV12) {
            sk_yuv_to_rgb(&frame, rgb);
            frame = (sk_frame){.format = SK_PIXEL_RGB, .width = w, .height = h, .stride = 3 * w, .data = rgb};
        }
        if (sk_letterbox_run(letterbox, &frame, pictures + n * side * side * 3, &err) != SK_OK)
            stop(&err);
    }
    sk_session_settings s = c->settings;
    sk_session_input given = {.data = frames};
    s.input = SK_INPUT_FRAMES;
    s.stages.fit = &fit;
    s.stages.sparse = sparse;
    int bad = run_pair(c, &s, &given, pictures, format == SK_PIXEL_NV12 ? "frames, NV12" : "frames, RGB");
    /* the same frames, on the device already */
    sk_frame there[2];
    const sk_frame *list[2] = {&there[0], &there[1]};
    void *block = NULL;
    gpu_stream *stream = NULL;
    if (gpu_alloc(&block, 2 * row * rows) != 0 || gpu_stream_open(&stream) != 0 ||
        gpu_copy_up(block, frames, 2 * row * rows, stream) != 0 || gpu_stream_wait(stream) != 0)
        exit(1);
    for (int n = 0; n < 2; n++) {
        there[n] = like;
        there[n].stride = (ptrdiff_t)row;
        there[n].data = (uint8_t *)block + (size_t)n * row * rows;
        there[n].place = SK_PLACE_CUDA;
    }
    given = (sk_session_input){.frames = list};
    bad += run_pair(c, &s, &given, pictures,
                    format == SK_PIXEL_NV12 ? "frames on the device, NV12" : "frames on the device, RGB");
    gpu_stream_close(stream);
    gpu_free(block);
    sk_letterbox_close(&letterbox);
    free(frames);
    free(pictures);
    free(rgb);
    return bad;
}

int check_model(const char *path, int side)
{
    sk_error err = {0};
    sk_model *m = NULL;
    sk_sparse_outputs sparse;
    if (sk_model_open(path, &m, &err) != SK_OK)
        stop(&err);
    check c = {.model = m, .shape = sk_shape_of(4, 2, (int64_t)m->input.channels, side, side)};
    const bool yolo = sk_offload_sparse(m, 0.02f, &sparse);
    c.settings = settings_for(&gpu_engine, 0, SK_PRECISION_AUTO, "tune=off");
    sk_net_pixel_values(m, &c.settings);
    c.settings.tail = yolo ? SK_TAIL_CUT : SK_TAIL_KEEP;
    c.settings.input = SK_INPUT_U8_HWC;
    c.settings.slots = 2;
    c.settings.cache_dir = "";
    sk_session_settings slow = c.settings;
    slow.options[0] = '\0';
    slow.slots = 1;
    if (sk_session_open(sk_engine_find("reference"), m->graph, &c.shape, 1, &slow, &c.slow, &err) != SK_OK)
        stop(&err);
    int bad = 0;
    if (yolo) {
        bad += check_frames(&c, SK_PIXEL_RGB, side, &sparse);
        bad += check_frames(&c, SK_PIXEL_NV12, side, &sparse);
    } else {
        const size_t row = (size_t)(side * m->input.channels), rows = (size_t)side * 2;
        uint8_t *pictures = malloc(row * rows);
        const sk_session_input given = {.data = pictures};
        paint(pictures, rows, row);
        bad += run_pair(&c, &c.settings, &given, pictures, "pictures");
        free(pictures);
    }
    sk_session_close(&c.slow);
    sk_model_close(&m);
    return bad;
}

/* --- full memory --- */

enum { MAX_BLOCKS = 4096 };

/* Everything there is, in ever smaller pieces. */
static int fill(void **blocks, size_t most, size_t least)
{
    int n = 0;
    for (size_t bytes = most; bytes >= least; bytes /= 2)
        while (n < MAX_BLOCKS / 2 && gpu_alloc(&blocks[n], bytes) == 0)
            n++;
    return n;
}

static int try_open(const sk_model *m, const sk_shape *shape, bool *opened, const char *when)
{
    sk_session_settings s = settings_for(&gpu_engine, 0, SK_PRECISION_AUTO, "tune=off");
    sk_session *session = NULL;
    sk_error err = {0};
    uint64_t before = 0, after = 0;
    const int64_t own = sk_memory_live_bytes();
    s.tail = SK_TAIL_CUT;
    s.input = SK_INPUT_U8_HWC;
    sk_net_pixel_values(m, &s);
    s.slots = 3;
    s.cache_dir = "";
    (void)gpu_memory_free(&before);
    sk_status status = sk_session_open(&gpu_engine, m->graph, shape, 1, &s, &session, &err);
    if (status == SK_OK)
        status = sk_session_capture(session, &err);
    int bad = 0;
    if (status == SK_OK) {
        uint8_t *pictures = calloc(1, (size_t)sk_shape_count(shape));
        sk_session_input given = {.data = pictures};
        sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
        if (sk_session_run(session, &given, 1, outputs, SK_SESSION_MAX_OUTPUTS, &err) != SK_OK)
            stop(&err);
        sk_session_close(&session);
        free(pictures);
    }
    (void)gpu_memory_free(&after);
    *opened = status == SK_OK;
    bad += status != SK_OK && status != SK_ERR_MEMORY;
    bad += sk_memory_live_bytes() != own;
    /* code of kernels is loaded when they are first launched and stays: that much may be gone, after a success */
    bad += status != SK_OK && after + ((uint64_t)8 << 20) < before;
    printf("%s%s: %s; free before %.1f MB, after %.1f MB, own memory %+lld bytes\n", bad ? "BAD " : "", when,
           status == SK_OK ? "opened and ran" : err.message, (double)before / 1e6, (double)after / 1e6,
           (long long)(sk_memory_live_bytes() - own));
    return bad;
}

int check_memory(const char *path)
{
    static void *blocks[MAX_BLOCKS];
    sk_error err = {0};
    sk_model *m = NULL;
    int bad = 0, refused = 0;
    if (sk_model_open(path, &m, &err) != SK_OK)
        stop(&err);
    const sk_shape shape = sk_shape_of(4, 4, (int64_t)m->input.channels, 640, 640);
    int n = fill(blocks, (size_t)1 << 31, 1 << 16);
    gpu_free(blocks[0]); /* one large piece for many small ones, to be given back one by one */
    blocks[0] = NULL;
    n += fill(blocks + n, (size_t)8 << 20, (size_t)8 << 20);
    printf("%d blocks fill the GPU\n", n);
    bool opened = false;
    bad += try_open(m, &shape, &opened, "nothing free");
    bad += opened;
    /* opening gets further each time before it fails */
    for (opened = false; n > 0 && !opened; refused += !opened) {
        gpu_free(blocks[--n]);
        bad += try_open(m, &shape, &opened, "8 MiB more");
    }
    while (n > 0)
        gpu_free(blocks[--n]);
    bad += try_open(m, &shape, &opened, "all free again");
    bad += !opened;
    bad += try_open(m, &shape, &opened, "once more");
    bad += !opened;
    bad += refused < 3;
    printf("memory: refused %d times with too little free, %d bad\n", refused + 1, bad);
    sk_model_close(&m);
    return bad;
}
