/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda engine's planning, on a GPU of loops (gpu_emulate.c): forms, places, order, packing, slots, errors. */
#include "random_graph.h"

#include "engines/offload.h"
#include "engines/tolerance.h"
#include "formats/npy.h"
#include "engines/cuda/plan.h"
#include "graph/reference.h"
#include "models/model.h"
#include "tasks/letterbox.h"
#include "kernels/nv12.h"

#include <stdio.h>
#include <string.h>

extern const sk_engine gpu_engine;
extern int gpu_emulate_major, gpu_emulate_fail_alloc, gpu_emulate_simple;
extern int64_t gpu_emulate_live;

static float *random_input(const sk_shape *shape, uint64_t seed)
{
    const int64_t n = sk_shape_count(shape);
    float *x = malloc((size_t)n * sizeof *x);
    random_source r = {seed};
    for (int64_t i = 0; i < n; i++)
        x[i] = random_unit(&r);
    return x;
}

/* Pearson's correlation; NaN anywhere gives NaN. */
static double pcc(const float *a, const float *b, int64_t n)
{
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    for (int64_t i = 0; i < n; i++) {
        sa += (double)a[i];
        sb += (double)b[i];
    }
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)a[i] - sa / (double)n, y = (double)b[i] - sb / (double)n;
        saa += x * x;
        sbb += y * y;
        sab += x * y;
    }
    if (saa == 0 && sbb == 0)
        return 1;
    return sab / sqrt(saa * sbb);
}

static double worst_pcc(const sk_graph *g, const sk_shape *shape, const sk_session_settings *settings,
                        const float *x)
{
    sk_error err = {0};
    sk_graph *fixed = NULL;
    sk_session *s = NULL;
    sk_tensor want[SK_SESSION_MAX_OUTPUTS] = {{0}}, got[SK_SESSION_MAX_OUTPUTS];
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = *shape, .data = (void *)(uintptr_t)x};
    sk_session_input given = {.data = x};
    double worst = 1;
    assert_ok(sk_graph_specialise(g, shape, 1, &fixed, &err), &err);
    if (settings->tail && sk_graph_cut_tail(fixed, &err) == SK_OK)
        assert_ok(sk_graph_remove_dead(fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, want, fixed->n_outputs, &err), &err);
    assert_ok(sk_session_open(&gpu_engine, g, shape, 1, settings, &s, &err), &err);
    assert_ok(sk_session_capture(s, &err), &err);
    for (int run = 0; run < 2; run++) {
        assert_ok(sk_session_run(s, &given, 1, got, SK_SESSION_MAX_OUTPUTS, &err), &err);
        for (int32_t i = 0; i < fixed->n_outputs; i++) {
            const double r = pcc(got[i].data, want[i].data, sk_shape_count(&want[i].shape));
            if (!(r >= worst))
                worst = r;
        }
    }
    for (int32_t i = 0; i < fixed->n_outputs; i++)
        sk_free(want[i].data);
    sk_session_close(&s);
    sk_graph_close(&fixed);
    return worst;
}

static sk_session_settings settings_of(sk_precision precision)
{
    sk_session_settings s = sk_session_defaults();
    s.precision = precision;
    s.cache_dir = "";
    strcpy(s.options, "tune=off");
    return s;
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = random_input(&shape, seed + 1000);
        sk_session_settings s = settings_of(seed % 3 == 0   ? SK_PRECISION_F32
                                            : seed % 4 == 1 ? SK_PRECISION_TF32
                                            : seed % 4 == 2 ? SK_PRECISION_BF16
                                                            : SK_PRECISION_F16);
        strcpy(s.options, seed % 2 ? "tune=on" : "tune=off");
        gpu_emulate_major = seed % 5 == 0 ? 8 : 9;
        const double r = worst_pcc(g, &shape, &s, x);
        if (!(r > sk_tolerance_of(s.precision)->ours))
            fail_msg("seed %d, %s: correlation %.7f", (int)seed, sk_precision_name(s.precision), r);
        free(x);
        sk_graph_close(&g);
    }
    gpu_emulate_major = 9;
    assert_int_equal(gpu_emulate_live, 0);
}

static void check_model(const char *path, int side, int cut, sk_precision precision)
{
    sk_error err = {0};
    sk_model *m = NULL;
    assert_ok(sk_model_open(test_data(path), &m, &err), &err);
    const sk_shape shape = sk_shape_of(4, 2, (int64_t)m->input.channels, side, side);
    float *x = random_input(&shape, 5);
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        x[i] = 0.5f + 0.5f * x[i];
    sk_session_settings s = settings_of(precision);
    s.tail = cut;
    const double r = worst_pcc(m->graph, &shape, &s, x);
    if (!(r > sk_tolerance_of(precision == SK_PRECISION_BF16 ? precision : SK_PRECISION_F16)->ours))
        fail_msg("%s, %s: correlation %.6f", path, sk_precision_name(precision), r);
    free(x);
    sk_model_close(&m);
}

static void test_models(void **state)
{
    (void)state;
    test_data_or_skip();
    check_model("yolo/yolo11n-pose/yolo11n-pose.pt", 64, 1, SK_PRECISION_F16);
    check_model("yolo/yolo11n-pose/yolo11n-pose.pt", 64, 1, SK_PRECISION_TF32);
    check_model("yolo/yolo11n-pose/yolo11n-pose.pt", 64, 1, SK_PRECISION_BF16);
    check_model("sleap/legacy/minimal_instance.UNet.bottomup", 64, 0, SK_PRECISION_BF16);
    check_model("yolo/yolo11t-detect/yolo11t-detect.pt", 64, 0, SK_PRECISION_F16);
    check_model("sleap/legacy/minimal_instance.UNet.bottomup", 64, 0, SK_PRECISION_F16);
    check_model("sleap/legacy/minimal_instance.UNet.bottomup", 64, 0, SK_PRECISION_TF32);
    check_model("sleap/nn/minimal_instance_multiclass_centered_instance", 64, 0, SK_PRECISION_F16);
}

/* No tensor-core kernels at all, as in the rocm plugin: everything by the simple ones, in fp16 and from byte pictures too. */
static void test_without_tensor_cores(void **state)
{
    (void)state;
    gpu_emulate_simple = 1;
    for (uint64_t seed = 1; seed < 8; seed += 2) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = random_input(&shape, seed + 500);
        sk_session_settings s = settings_of(SK_PRECISION_F16);
        s.options[0] = 0;
        const double r = worst_pcc(g, &shape, &s, x);
        if (!(r > 0.9995))
            fail_msg("seed %d: correlation %.7f", (int)seed, r);
        free(x);
        sk_graph_close(&g);
    }
    if (test_data_folder()) {
        check_model("yolo/yolo11t-detect/yolo11t-detect.pt", 64, 1, SK_PRECISION_F16);
        check_model("sleap/legacy/minimal_instance.UNet.bottomup", 64, 0, SK_PRECISION_F16);
    }
    gpu_emulate_simple = 0;
    assert_int_equal(gpu_emulate_live, 0);
}

/* How many steps of a session run by a kernel whose name begins so. */
static int steps_by(const char *kernel, const sk_graph *g, const sk_shape *shape)
{
    sk_error err = {0};
    sk_session_settings s = settings_of(SK_PRECISION_F16);
    sk_session *session = NULL;
    static sk_profile_row rows[256];
    int32_t count = 0;
    int found = 0;
    strcpy(s.options, "tune=off");
    assert_ok(sk_session_open(&gpu_engine, g, shape, 1, &s, &session, &err), &err);
    assert_ok(sk_session_capture(session, &err), &err);
    assert_ok(sk_session_profile_start(session, &err), &err);
    float *x = random_input(shape, 9);
    sk_session_input in = {.data = x};
    sk_tensor out[SK_SESSION_MAX_OUTPUTS];
    assert_ok(sk_session_run(session, &in, 1, out, g->n_outputs, &err), &err);
    assert_ok(sk_session_profile(session, rows, 256, &count, &err), &err);
    for (int32_t i = 0; i < count; i++)
        found += strstr(rows[i].kernel, kernel) != NULL;
    free(x);
    sk_session_close(&session);
    return found;
}

static sk_graph *switch_graph(const sk_shape *shape)
{
    random_source r = {5};
    sk_graph *g = NULL;
    sk_builder b;
    random_map x = random_begin(&g, &b, shape);
    x = random_conv(&b, &r, x, 32, 3, 1, 1);
    x = random_conv(&b, &r, x, 32, 3, 1, 1);
    x = random_conv(&b, &r, x, 32, 3, 1, 1);
    x = random_conv(&b, &r, x, 24, 1, 1, 1);
    sk_b_output(&b, x.v, "out");
    assert_int_equal(b.status, SK_OK);
    return g;
}

/* What can be switched off for measuring is off then, and the results are right all the same. */
static void test_switches(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint32_t off;
    } known[] = {{NULL, 0},
                 {"", 0},
                 {",,", 0},
                 {"pdl", GPU_WITHOUT_PDL},
                 {"pull,", GPU_WITHOUT_PULL},
                 {"sites,tensor,,wgmma", GPU_WITHOUT_SITES | GPU_WITHOUT_TENSOR | GPU_WITHOUT_WGMMA}};
    sk_error err = {0};
    uint32_t off;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_ok(gpu_switched_off(known[i].words, &off, &err), &err);
        assert_int_equal(off, known[i].off);
    }
    assert_int_equal(gpu_switched_off("pdl,halos", &off, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'halos' is none of tensor, halo, "));
    assert_int_equal(gpu_switched_off("hal", &off, &err), SK_ERR_ARG);
    const sk_shape shape = sk_shape_of(4, 1, 3, 12, 12), few = sk_shape_of(4, 1, 3, 8, 8);
    sk_graph *g = switch_graph(&shape), *small = switch_graph(&few);
    assert_true(steps_by("halo", g, &shape) > 0);
    assert_true(steps_by("conv ig", g, &shape) + steps_by("conv wg", g, &shape) > 0);
    const int together = steps_by("conv", g, &shape);
    assert_int_equal(steps_by("conv", small, &few), together + 1); /* too few pixels for a pair */
    float *input = random_input(&shape, 3);
    static const char *const words[] = {
        "halo", "tensor,attention", "graph", "branches,pdl", "halo,wgmma,split,sites", "limits", "pairs"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(setenv("SKITTER_CUDA_WITHOUT", words[i], 1), 0);
        const sk_session_settings s = settings_of(SK_PRECISION_F16);
        assert_true(worst_pcc(g, &shape, &s, input) > 0.9999);
        if (strstr(words[i], "halo"))
            assert_int_equal(steps_by("halo", g, &shape), 0);
        if (strcmp(words[i], "limits") == 0)
            assert_int_equal(steps_by("conv", small, &few), together);
        if (strcmp(words[i], "pairs") == 0)
            assert_int_equal(steps_by("conv", g, &shape), together + 1);
        if (strstr(words[i], "tensor"))
            assert_int_equal(steps_by("halo", g, &shape) + steps_by("conv ig", g, &shape), 0);
        if (strstr(words[i], "tensor") || strstr(words[i], "wgmma"))
            assert_int_equal(steps_by("conv wg", g, &shape), 0);
        if (i == 1 && test_data_folder()) /* it has attention */
            check_model("yolo/yolo11n-pose/yolo11n-pose.pt", 32, 1, SK_PRECISION_F16);
    }
    unsetenv("SKITTER_CUDA_WITHOUT");
    free(input);
    sk_graph_close(&g);
    sk_graph_close(&small);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Pictures of bytes, rows apart, several slots in flight: each slot keeps its own results. */
static void test_pictures_and_slots(void **state)
{
    (void)state;
    random_source r = {11};
    sk_error err = {0};
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, 2, 3, 32, 32);
    random_map x = random_begin(&g, &b, &shape);
    x = random_conv(&b, &r, x, 16, 3, 2, 1);
    x = random_conv(&b, &r, x, 24, 3, 1, 1);
    sk_b_output(&b, x.v, "out");
    assert_int_equal(b.status, SK_OK);
    for (int with_mean = 0; with_mean < 2; with_mean++) {
        sk_session_settings s = settings_of(SK_PRECISION_F16), plain;
        s.input = SK_INPUT_U8_HWC;
        s.slots = 3;
        s.mean[1] = with_mean ? 0.4f : 0.0f;
        s.std[1] = with_mean ? 0.2f : 1.0f;
        plain = s;
        plain.slots = 1;
        plain.precision = SK_PRECISION_F32;
        plain.options[0] = '\0';
        sk_session *fast = NULL, *slow = NULL;
        assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &fast, &err), &err);
        assert_ok(sk_session_capture(fast, &err), &err);
        assert_ok(sk_session_open(sk_engine_find("reference"), g, &shape, 1, &plain, &slow, &err), &err);
        enum { ROW = 32 * 3 + 13, PICTURE = ROW * 32 + 7 };
        uint8_t *bytes[3];
        sk_tensor got[3], want;
        for (int k = 0; k < 3; k++) {
            bytes[k] = malloc(2 * PICTURE);
            for (int i = 0; i < 2 * PICTURE; i++)
                bytes[k][i] = (uint8_t)random_next(&r);
            sk_session_input in = {.data = bytes[k], .row_bytes = ROW, .picture_bytes = PICTURE};
            assert_ok(sk_session_submit(fast, &in, 1, &err), &err);
        }
        for (int k = 0; k < 3; k++)
            assert_ok(sk_session_wait(fast, &got[k], 1, &err), &err);
        for (int k = 0; k < 3; k++) {
            sk_session_input in = {.data = bytes[k], .row_bytes = ROW, .picture_bytes = PICTURE};
            assert_ok(sk_session_run(slow, &in, 1, &want, 1, &err), &err);
            assert_true(pcc(got[k].data, want.data, sk_shape_count(&want.shape)) > 0.9999);
            free(bytes[k]);
        }
        sk_session_close(&fast);
        sk_session_close(&slow);
    }
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Two frames as a decoder on the device leaves them. */
typedef struct frames_on_device {
    sk_frame frames[2];
    const sk_frame *list[2];
    uint8_t *luma[2], *chroma[2];
} frames_on_device;

static void put_on_device(frames_on_device *d, const sk_frame *like, const uint8_t *dense, size_t row,
                          size_t bytes)
{
    const size_t stride = row + 24, step = row + 40, h = (size_t)like->height, half = (h + 1) / 2;
    for (int n = 0; n < 2; n++, dense += bytes) {
        d->luma[n] = calloc(h, stride);
        d->chroma[n] = calloc(half, step);
        for (size_t y = 0; y < h; y++)
            memcpy(d->luma[n] + y * stride, dense + y * row, row);
        for (size_t y = 0; y < half; y++)
            memcpy(d->chroma[n] + y * step, dense + (h + y) * row, row);
        d->frames[n] = *like;
        d->frames[n].stride = (ptrdiff_t)stride;
        d->frames[n].data = d->luma[n];
        d->frames[n].chroma = d->chroma[n];
        d->frames[n].chroma_stride = (ptrdiff_t)step;
        d->frames[n].place = SK_PLACE_CUDA;
        d->list[n] = &d->frames[n];
    }
}

/* Frames fitted in by the engine are what tasks/letterbox makes of them, bit for bit; sparse outputs are the dense ones at
 * every place that passes, and say nothing elsewhere. */
static void test_frames_and_places(void **state)
{
    (void)state;
    random_source r = {21};
    sk_error err = {0};
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, 2, 3, 32, 32);
    random_map x = random_begin(&g, &b, &shape);
    x = random_conv(&b, &r, x, 16, 3, 2, 1);
    random_map low = random_conv(&b, &r, x, 24, 3, 2, 1);
    for (int k = 0; k < 2; k++) {
        const random_map from = k ? low : x;
        sk_b_output(&b, random_conv(&b, &r, from, 5, 1, 1, 1).v, k ? "other1" : "other0");
        sk_b_output(&b, random_conv(&b, &r, from, 3, 1, 1, 1).v, k ? "scores1" : "scores0");
    }
    assert_int_equal(b.status, SK_OK);
    static const int sizes[][2] = {{50, 41}, {64, 64}, {32, 20}, {17, 90}};
    const sk_sparse_outputs places = {.bound = 0.1f, .n_levels = 2, .level = {{1, 1, {0}}, {3, 1, {2}}}};
    for (int size = 0; size < 4; size++)
        for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_NV12 + 3; format++) {
            /* NV12 with three sets of colours, and once on the "device" with gaps between rows and planes */
            const bool nv12 = format >= SK_PIXEL_NV12, across = format == SK_PIXEL_NV12 + 3;
            const int w = sizes[size][0], h = sizes[size][1];
            sk_frame like = {.format = nv12 ? SK_PIXEL_NV12 : (sk_pixel_format)format,
                             .width = w,
                             .height = h,
                             .matrix = format == SK_PIXEL_NV12 + 1 ? SK_COLOUR_BT709 : SK_COLOUR_BT601,
                             .full_range = format == SK_PIXEL_NV12 + 2};
            sk_letterbox_geometry box;
            sk_letterbox *letterbox = NULL;
            sk_frame_fit fit;
            assert_ok(sk_letterbox_fit(w, h, 32, 32, 0, &box, &err), &err);
            assert_ok(sk_letterbox_open(&box, nv12 ? SK_PIXEL_RGB : like.format, 1, &letterbox, &err), &err);
            assert_true(sk_offload_fit(&box, &like, &fit));
            const size_t row = sk_frame_fit_row(&fit), bytes = sk_frame_fit_bytes(&fit);
            uint8_t *frames = malloc(2 * bytes), *rgb = malloc((size_t)(3 * w * h)),
                    pictures[2 * 32 * 32 * 3];
            for (size_t i = 0; i < 2 * bytes; i++)
                frames[i] = (uint8_t)random_next(&r);
            for (int n = 0; n < 2; n++) {
                sk_frame frame = like;
                frame.stride = (ptrdiff_t)row;
                frame.data = frames + (size_t)n * bytes;
                if (nv12) {
                    sk_yuv_to_rgb(&frame, rgb);
                    frame = (sk_frame){
                        .format = SK_PIXEL_RGB, .width = w, .height = h, .stride = 3 * w, .data = rgb};
                }
                assert_ok(sk_letterbox_run(letterbox, &frame, pictures + n * 32 * 32 * 3, &err), &err);
            }
            free(rgb);
            frames_on_device there = {.luma = {NULL}};
            if (across)
                put_on_device(&there, &like, frames, row, bytes);
            sk_session_settings dense = settings_of(SK_PRECISION_F16), sparse;
            dense.input = SK_INPUT_U8_HWC;
            sparse = dense;
            sparse.input = SK_INPUT_FRAMES;
            sparse.stages.fit = &fit;
            sparse.stages.sparse = &places;
            sk_session *one = NULL, *two = NULL;
            assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &dense, &one, &err), &err);
            assert_ok(sk_session_capture(one, &err), &err);
            assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &sparse, &two, &err), &err);
            assert_ok(sk_session_capture(two, &err), &err);
            sk_session_input picture = {.data = pictures}, frame = {.data = frames};
            sk_tensor want[4], got[4];
            assert_ok(sk_session_run(one, &picture, 1, want, 4, &err), &err);
            if (across)
                frame = (sk_session_input){.frames = there.list};
            for (int run = 0; run < 2; run++)
                assert_ok(sk_session_run(two, &frame, 1, got, 4, &err), &err);
            if (across) { /* on another device, or of another size: refused */
                there.frames[1].device = 1;
                assert_int_equal(sk_session_run(two, &frame, 1, got, 4, &err), SK_ERR_ARG);
                assert_non_null(strstr(err.message, "on device 1"));
                there.frames[1].device = 0;
                there.frames[0].width++;
                assert_int_equal(sk_session_run(two, &frame, 1, got, 4, &err), SK_ERR_ARG);
                assert_int_equal(sk_session_run(one, &frame, 1, got, 4, &err), SK_ERR_UNSUPPORTED);
                there.frames[0].width--;
                assert_ok(sk_session_run(two, &frame, 1, got, 4, &err), &err);
            }
            for (int n = 0; n < 2; n++) {
                free(there.luma[n]);
                free(there.chroma[n]);
            }
            int passed = 0;
            for (int level = 0; level < 2; level++) {
                const sk_tensor *s = &want[2 * level + 1];
                const int64_t plane = s->shape.dim[2] * s->shape.dim[3];
                for (int64_t i = 0; i < 2 * plane; i++) {
                    const int64_t image = i / plane, at = i % plane;
                    float best = -INFINITY;
                    for (int64_t c = 0; c < 3; c++)
                        best = fmaxf(best, ((const float *)s->data)[(image * 3 + c) * plane + at]);
                    passed += best > places.bound;
                    for (int64_t c = 0; c < 8; c++) {
                        const int output = 2 * level + (c < 3), channel = (int)(c < 3 ? c : c - 3),
                                  n = c < 3 ? 3 : 5;
                        const int64_t k = (image * n + channel) * plane + at;
                        const float a = ((const float *)want[output].data)[k],
                                    z = ((const float *)got[output].data)[k];
                        if (best > places.bound)
                            assert_true(a == z);
                        else if (c < 3)
                            assert_true(z == -INFINITY);
                    }
                }
            }
            assert_true(passed > 0);
            sk_session_close(&one);
            sk_session_close(&two);
            sk_letterbox_close(&letterbox);
            free(frames);
        }
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Every allocation on the device may fail: a clear error, nothing left behind. */
static void test_full_memory(void **state)
{
    (void)state;
    sk_shape shape;
    sk_graph *g = random_graph(4, &shape);
    sk_session_settings s = settings_of(SK_PRECISION_F16);
    s.options[0] = 0;
    int failed = 0;
    for (int n = 1; n < 40; n++) {
        sk_error err = {0};
        sk_session *session = NULL;
        s.slots = n < 20 ? 1 : 3; /* with activations of their own */
        gpu_emulate_fail_alloc = n < 20 ? n : n - 19;
        if (sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err) == SK_OK &&
            sk_session_capture(session, &err) == SK_OK) {
            sk_session_close(&session);
        } else {
            assert_int_equal(err.code, SK_ERR_MEMORY);
            assert_non_null(strstr(err.message, "the GPU's memory is full"));
            failed++;
        }
        gpu_emulate_fail_alloc = 0;
        assert_int_equal(gpu_emulate_live, 0);
    }
    assert_true(failed >= 4);
    sk_graph_close(&g);
}

static void test_refusals(void **state)
{
    (void)state;
    sk_shape shape;
    sk_graph *g = random_graph(4, &shape);
    sk_session_settings s = settings_of(SK_PRECISION_I8);
    sk_session *session = NULL;
    sk_error err = {0};
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "this model is not quantised"));
    s = settings_of(SK_PRECISION_AUTO);
    s.device = 3;
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "invalid device ordinal"));
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* A remembered tile is a hint: damaged files, unknown names and tiles that do not fit are no trouble. */
static void test_remembered_tiles(void **state)
{
    (void)state;
    sk_shape shape;
    sk_graph *g = random_graph(4, &shape);
    sk_session_settings s = settings_of(SK_PRECISION_F16);
    char folder[4096], path[4200];
    snprintf(folder, sizeof folder, "%s/cuda_tiles", test_folder());
    snprintf(path, sizeof path, "%s/cuda-tiles-1.txt", folder);
    s.options[0] = 0;
    s.cache_dir = folder;
    float *x = random_input(&shape, 8);
    assert_true(worst_pcc(g, &shape, &s, x) > 0.9995);
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    char line[256];
    int lines = 0;
    long at = 0;
    for (; fgets(line, sizeof line, f); at = ftell(f), lines++)
        if (strchr(line, ' ')) { /* another name of the same length */
            fseek(f, at + 17, SEEK_SET);
            fputc('X', f);
            fseek(f, at + (long)strlen(line), SEEK_SET);
        }
    assert_true(lines > 0);
    fputs("zzzz not a line\n", f);
    fclose(f);
    assert_true(worst_pcc(g, &shape, &s, x) > 0.9995);
    /* full of others' choices: room is made */
    f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 20000; i++)
        fprintf(f, "%x a\n", i);
    fclose(f);
    assert_true(worst_pcc(g, &shape, &s, x) > 0.9995);
    f = fopen(path, "r");
    assert_non_null(f);
    int all = 0, ours = 0;
    for (; fgets(line, sizeof line, f); all++)
        ours += strcmp(line + 16, " a\n") != 0;
    fclose(f);
    assert_true(ours > 0 && all <= 10000 + ours);
    free(x);
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),        cmocka_unit_test(test_models),
        cmocka_unit_test(test_without_tensor_cores), cmocka_unit_test(test_switches),
        cmocka_unit_test(test_pictures_and_slots),   cmocka_unit_test(test_frames_and_places),
        cmocka_unit_test(test_full_memory),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_remembered_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
