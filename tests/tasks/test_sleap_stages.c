/* SPDX-License-Identifier: Apache-2.0 */
/* The stages around SLEAP's networks, without a network: sizes, crops, maps to instances, refusals. */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "npy_test.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>

/* --- sizes
 * ------------------------------------------------------------------------------------------------- */

static void sizes_of_both_eras(void **state)
{
    (void)state;
    sk_error err;
    sk_sleap_geometry g;
    sk_sleap_spec nn = {.input_scale = 0.5f, .pad_to_stride = 32};
    assert_ok(sk_sleap_sizes(&nn, 1001, 701, &g, &err), &err);
    assert_true(g.scaled_width == 500 && g.scaled_height == 350 && g.width == 512 && g.height == 352);
    assert_true(g.eff_scale == 1 && g.sized_width == 1001);
    /* Fitted into 384 x 384 with the aspect kept: 1001 -> 384, 701 * 384 / 1001 = 268.9 -> 269. */
    nn.target_size[0] = nn.target_size[1] = 384;
    assert_ok(sk_sleap_sizes(&nn, 1001, 701, &g, &err), &err);
    assert_true(g.sized_width == 384 && g.sized_height == 384 && g.fitted_width == 384 &&
                g.fitted_height == 269);
    assert_true(fabsf(g.eff_scale - 384.0f / 1001) < 1e-7f && g.width == 192);
    /* SLEAP <= 1.4 cuts fractions off: 268. */
    nn.legacy = 1;
    assert_ok(sk_sleap_sizes(&nn, 1001, 701, &g, &err), &err);
    assert_true(g.fitted_width == 384 && g.fitted_height == 268);
    /* 0.1 of 30 is 3, whatever single precision makes of it. */
    sk_sleap_spec tenth = {.input_scale = 0.1f};
    assert_ok(sk_sleap_sizes(&tenth, 30, 30, &g, &err), &err);
    assert_int_equal(g.width, 3);
    assert_int_equal(sk_sleap_sizes(&tenth, 5, 5, &g, &err), SK_ERR_ARG);
    assert_int_equal(sk_sleap_sizes(&tenth, 0, 5, &g, &err), SK_ERR_ARG);
}

static void inputs_are_padded_with_zeros(void **state)
{
    (void)state;
    sk_error err;
    uint8_t pixels[50 * 30];
    case_noise(pixels, sizeof pixels, 1);
    sk_frame frame = {.format = SK_PIXEL_GRAY, .width = 50, .height = 30, .stride = 50, .data = pixels};
    for (int legacy = 0; legacy < 2; legacy++)
        for (int scaled = 0; scaled < 2; scaled++) {
            sk_sleap_spec spec = {.input_scale = scaled ? 0.5f : 1,
                                  .pad_to_stride = 16,
                                  .legacy = legacy,
                                  .target_size = {64, 64}};
            sk_sleap_geometry g;
            assert_ok(sk_sleap_sizes(&spec, 50, 30, &g, &err), &err);
            sk_sleap_pre *pre;
            assert_ok(sk_sleap_pre_open(&spec, 1, &g, &pre, &err), &err);
            static float planes[64 * 64];
            static uint8_t bytes[64 * 64];
            assert_int_equal(sk_sleap_pre_u8(pre, bytes, &err), SK_ERR_ARG); /* no frame yet */
            const uint8_t *sized;
            uint64_t before = sk_memory_allocations();
            assert_ok(sk_sleap_pre_size(pre, &frame, &sized, &err), &err);
            assert_ok(sk_sleap_pre_f32(pre, planes, &err), &err);
            assert_int_equal(sk_memory_allocations(), before);
            for (int x = 0; x < 64; x++)
                assert_int_equal(sized[63 * 64 + x], 0);
            assert_true(planes[(g.height - 1) * g.width] == 0 && planes[3 * g.width + 3] > 0);
            if (legacy && scaled) {
                assert_false(sk_sleap_pre_is_u8(pre));
                assert_int_equal(sk_sleap_pre_u8(pre, bytes, &err), SK_ERR_UNSUPPORTED);
            } else {
                assert_ok(sk_sleap_pre_u8(pre, bytes, &err), &err);
                for (int i = 0; i < g.width * g.height; i++)
                    assert_true(planes[i] == (float)bytes[i] / 255.0f);
            }
            sk_frame wrong = frame;
            wrong.width = 49;
            assert_int_equal(sk_sleap_pre_size(pre, &wrong, NULL, &err), SK_ERR_MISMATCH);
            sk_sleap_pre_close(&pre);
        }
}

/* --- crops
 * ------------------------------------------------------------------------------------------------- */

static void cut(sk_sleap_crop *crop, float x, float y, uint8_t *out)
{
    const sk_crop place = sk_sleap_crop_around(crop, x, y);
    sk_sleap_crop_u8(crop, &place, out);
}

static void crops_in_whole_pixels(void **state)
{
    (void)state;
    sk_error err;
    enum { W = 40, H = 30, S = 8 };
    uint8_t picture[W * H], out[16 * 16];
    for (int i = 0; i < W * H; i++)
        picture[i] = (uint8_t)(1 + i % 251);
    sk_sleap_spec spec = {.input_scale = 1, .crop_size = {S, S}, .pad_to_stride = 16};
    sk_sleap_crop_geometry g;
    assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
    assert_true(g.width == 16 && g.height == 16 && g.crop_width == S);
    sk_sleap_crop *crop;
    assert_ok(sk_sleap_crop_open(&spec, &g, 1, W, H, 1, &crop, &err), &err);
    sk_sleap_crop_begin(crop, picture, 1);
    const float places[5][2] = {{20.3f, 15.8f}, {0, 0}, {39, 29}, {-50, 10}, {1e30f, -1e30f}};
    for (int n = 0; n < 5; n++) {
        float x = places[n][0], y = places[n][1];
        cut(crop, x, y, out);
        float bx = fmaxf(fminf(x, 1e6f), -1e6f) - 3.5f, by = fmaxf(fminf(y, 1e6f), -1e6f) - 3.5f;
        int left = (int)(bx + 4) - 4, top = (int)(by + 4) - 4;
        for (int v = 0; v < 16; v++)
            for (int u = 0; u < 16; u++) {
                int sx = left + u, sy = top + v;
                int inside = u < S && v < S && sx >= 0 && sy >= 0 && sx < W && sy < H;
                assert_int_equal(out[v * 16 + u], inside ? picture[sy * W + sx] : 0);
            }
    }
    /* The corner that is added back is fractional: centroid - (crop - 1) / 2. */
    float px = 2, py = 3;
    sk_sleap_crop_undo(crop, 20.3f, 15.8f, &px, &py);
    assert_true(fabsf(px - (2 + 20.3f - 3.5f)) < 1e-5f && fabsf(py - (3 + 15.8f - 3.5f)) < 1e-5f);
    sk_sleap_crop_close(&crop);
}

/* sleap-nn's recorded crops, byte for byte. */
static void crops_equal_the_original(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_error err;
    sk_sleap_spec spec = {.input_scale = 1, .crop_size = {96, 96}, .pad_to_stride = 8};
    sk_sleap_crop_geometry g;
    assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
    sk_sleap_crop *crop;
    assert_ok(sk_sleap_crop_open(&spec, &g, 1, 384, 384, 1, &crop, &err), &err);
    int compared = 0;
    for (int b = 0; b < 8; b++) {
        char path[128];
        snprintf(path, sizeof path, "sleap/goldens/topdown/b%d_image.npy", b);
        npy image = npy_load(test_data(path));
        snprintf(path, sizeof path, "sleap/goldens/topdown/b%d_instance_image.npy", b);
        npy crops = npy_load(test_data(path));
        snprintf(path, sizeof path, "sleap/goldens/topdown/b%d_pred_centroids.npy", b);
        npy centroids = npy_load(test_data(path));
        sk_sleap_crop_begin(crop, image.data, 1);
        int w = (int)crops.dim[4], h = (int)crops.dim[3];
        for (int i = 0; i < centroids.dim[0]; i++) {
            uint8_t out[96 * 96];
            cut(crop, ((float *)centroids.data)[2 * i], ((float *)centroids.data)[2 * i + 1], out);
            /* Some recorded crops lack their last row or column. */
            const uint8_t *want = (uint8_t *)crops.data + i * w * h;
            for (int y = 0; y < h && w == 96 && h == 96; y++)
                assert_memory_equal(out + y * 96, want + y * w, (size_t)w);
            compared += w == 96 && h == 96;
        }
        free(image.data);
        free(crops.data);
        free(centroids.data);
    }
    assert_true(compared >= 8);
    sk_sleap_crop_close(&crop);
}

/* SLEAP <= 1.4 interpolates at the fractional place and cuts fractions off; with scaling the whole picture
 * first. */
static void legacy_crops_are_interpolated(void **state)
{
    (void)state;
    sk_error err;
    enum { W = 20, H = 16, S = 5 };
    uint8_t picture[W * H], out[S * S];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            picture[y * W + x] = (uint8_t)(10 * x + 2 * y);
    sk_sleap_spec spec = {.input_scale = 1, .crop_size = {S, S}, .pad_to_stride = 32, .legacy = 1};
    sk_sleap_crop_geometry g;
    assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
    assert_true(g.width == S && g.height == S);
    sk_sleap_crop *crop;
    assert_ok(sk_sleap_crop_open(&spec, &g, 1, W, H, 1, &crop, &err), &err);
    sk_sleap_crop_begin(crop, picture, 1);
    cut(crop, 8.25f, 6.5f, out);
    for (int v = 0; v < S; v++)
        for (int u = 0; u < S; u++)
            assert_int_equal(out[v * S + u], (int)(10 * (6.25f + (float)u) + 2 * (4.5f + (float)v)));
    cut(crop, 0.5f, 0.5f, out); /* from -1.5: the first two rows and columns lie outside */
    assert_int_equal(out[0], 0);
    assert_int_equal(out[2 * S + 2], (int)(10 * 0.5f + 2 * 0.5f));
    /* The corner added back is centroid - crop / 2, half a pixel off the crop's own: the original's rule. */
    float px = 1, py = 1;
    sk_sleap_crop_undo(crop, 8.25f, 6.5f, &px, &py);
    assert_true(fabsf(px - (1 + 8.25f - 2.5f)) < 1e-5f && fabsf(py - (1 + 6.5f - 2.5f)) < 1e-5f);
    sk_sleap_crop_close(&crop);
    spec.input_scale = 0.5f;
    assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
    assert_true(g.width == S);
    assert_ok(sk_sleap_crop_open(&spec, &g, 1, W, H, 1, &crop, &err), &err);
    sk_sleap_crop_begin(crop, picture, 1);
    cut(crop, 8, 8, out);
    /* Centre at (4, 4) of the half-size picture, whose pixel (4, 4) is the picture at (8.5, 8.5). */
    assert_int_equal(out[2 * S + 2], (int)(10 * 8.5f + 2 * 8.5f));
    px = py = 1;
    sk_sleap_crop_undo(crop, 8, 8, &px, &py);
    assert_true(fabsf(px - (1 / 0.5f + 0.5f + (4 - 2.5f) / 0.5f)) < 1e-5f);
    sk_sleap_crop_close(&crop);
}

/* What tf.image.crop_and_resize says of one value, place by place. */
static uint8_t interpolated(const uint8_t *picture, int w, int h, int k, float fx, float fy, int ch)
{
    if (!(fx >= 0 && fx <= (float)(w - 1) && fy >= 0 && fy <= (float)(h - 1)))
        return 0;
    const int x0 = (int)floorf(fx), x1 = (int)ceilf(fx), y0 = (int)floorf(fy), y1 = (int)ceilf(fy);
    const float px = fx - (float)x0, py = fy - (float)y0;
    const float tl = picture[(y0 * w + x0) * k + ch], tr = picture[(y0 * w + x1) * k + ch];
    const float bl = picture[(y1 * w + x0) * k + ch], br = picture[(y1 * w + x1) * k + ch];
    const float t = tl + (tr - tl) * px, b = bl + (br - bl) * px;
    return (uint8_t)(t + (b - t) * py);
}

/* Every value of legacy crops anywhere: over borders, at whole pixels, where rounding makes a step longer, far away. */
static void legacy_crops_value_by_value(void **state)
{
    (void)state;
    enum { W = 151, H = 67, SW = 40, SH = 33 };
    static const float places[][2] = {
        {20, 17},           {19.5f, 16.5f},    {150, 66},       {150.5f, 66.5f}, {0, 0},
        {127.9999924f, 30}, {83.4999924f, 31}, {-30, 20},       {1e9f, -1e9f},   {75, 1e7f},
        {131, 50},          {130.5f, 49.99f},  {170.25f, 80.5f}};
    enum { PLACES = sizeof places / sizeof places[0] };
    sk_error err;
    uint32_t noise = 3;
    for (int k = 1; k <= 3; k += 2) {
        uint8_t *picture = malloc((size_t)(W * H * k)),
                out[SW * SH * 3]; /* on the heap: a sanitizer sees its end */
        for (int i = 0; i < W * H * k; i++) {
            noise = noise * 1664525u + 1013904223u;
            picture[i] = (uint8_t)(noise >> 24);
        }
        const sk_sleap_spec spec = {.input_scale = 1, .crop_size = {SH, SW}, .legacy = 1};
        sk_sleap_crop_geometry g;
        sk_sleap_crop *crop;
        assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
        assert_ok(sk_sleap_crop_open(&spec, &g, k, W, H, k, &crop, &err), &err);
        sk_sleap_crop_begin(crop, picture, 1);
        for (int i = 0; i < PLACES + 300; i++) {
            noise = noise * 1664525u + 1013904223u;
            const float x = i < PLACES ? places[i][0] : (float)(noise >> 20) / 20.0f - 20;
            const float y = i < PLACES ? places[i][1] : (float)(noise & 0xfff) / 40.0f - 20;
            memset(out, 0x5a, sizeof out);
            cut(crop, x, y, out);
            const float left = (x < 1e6f ? x : 1e6f) - (SW - 1) / 2.0f;
            const float top = (y > -1e6f ? y < 1e6f ? y : 1e6f : -1e6f) - (SH - 1) / 2.0f;
            for (int v = 0; v < SH; v++)
                for (int u = 0; u < SW * k; u++)
                    assert_int_equal(
                        out[v * SW * k + u],
                        interpolated(picture, W, H, k, left + (float)(u / k), top + (float)v, u % k));
        }
        sk_sleap_crop_close(&crop);
        free(picture);
    }
}

/* --- maps to instances
 * --------------------------------------------------------------------------------------- */

enum { MW = 48, MH = 32, NODES = 3 };
static const int32_t two_edges[2][2] = {{0, 1}, {1, 2}};
static const char *const two_classes[2] = {"a", "b"};

/* A model as the stages see one; only what they read is set. */
static sk_model fake_model(sk_task task)
{
    sk_model m = {.path = "fake",
                  .n_keypoints = NODES,
                  .n_classes = 0,
                  .input = {.channels = 1, .scale = 1.0f / 255, .rgb = 1}};
    sk_model_set_task(&m, task);
    m.sleap = (sk_sleap_spec){
        .input_scale = 0.5f, .pad_to_stride = 16, .crop_size = {64, 64}, .n_edges = 2, .edges = two_edges};
    m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    if (task == SK_TASK_BOTTOMUP)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_PAFS, "fields", 4};
    if (task == SK_TASK_MULTICLASS_BOTTOMUP)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_MAPS, "classes", 4};
    if (task == SK_TASK_MULTICLASS_TOPDOWN)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_VECTORS, "vectors", 0};
    if (m.n_outputs == 2 && task != SK_TASK_BOTTOMUP) {
        m.n_classes = 2;
        m.class_names = two_classes;
    }
    return m;
}

static void bell(float *plane, int w, int h, float x, float y, float height)
{
    for (int v = 0; v < h; v++)
        for (int u = 0; u < w; u++) {
            float dx = (float)u - x, dy = (float)v - y, b = height * expf(-(dx * dx + dy * dy) / 4);
            plane[v * w + u] = fmaxf(plane[v * w + u], b);
        }
}

static float maps[NODES * MW * MH], fields[4 * MW * MH / 4];

static void two_animals(void)
{
    memset(maps, 0, sizeof maps);
    for (int k = 0; k < NODES; k++) {
        bell(maps + k * MW * MH, MW, MH, 6 + 8.0f * (float)k, 7, 0.9f - 0.1f * (float)k);
        bell(maps + k * MW * MH, MW, MH, 20 + 8.0f * (float)k, 24, 0.8f - 0.1f * (float)k);
    }
    /* Both animals point to the right. */
    for (int i = 0; i < 4 * MW * MH / 4; i++)
        fields[i] = i / (MW * MH / 4) % 2 == 0 ? 1 : 0;
}

static void maps_become_instances(void **state)
{
    (void)state;
    sk_error err;
    two_animals();
    const sk_task tasks[4] = {SK_TASK_SINGLE_INSTANCE, SK_TASK_CENTROID, SK_TASK_BOTTOMUP,
                              SK_TASK_MULTICLASS_BOTTOMUP};
    float classes[2 * 24 * 16];
    for (int i = 0; i < 24 * 16; i++) {
        classes[i] = i / 24 < 8 ? 0.2f : 0.9f; /* the lower animal is "a" */
        classes[24 * 16 + i] = i / 24 < 8 ? 0.7f : 0.1f;
    }
    for (int t = 0; t < 4; t++) {
        sk_model m = fake_model(tasks[t]);
        sk_sleap_post *post;
        assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
        sk_sleap_geometry g;
        assert_ok(sk_sleap_sizes(&m.sleap, 192, 128, &g, &err), &err);
        sk_instances found;
        assert_ok(
            sk_instances_alloc(sk_sleap_post_capacity(post), sk_sleap_post_keypoints(post), &found, &err),
            &err);
        sk_map in[2] = {sk_map_planar(maps, tasks[t] == SK_TASK_CENTROID ? 1 : NODES, MH, MW),
                        sk_map_planar(tasks[t] == SK_TASK_BOTTOMUP ? fields : classes,
                                      tasks[t] == SK_TASK_BOTTOMUP ? 4 : 2, 16, 24)};
        uint64_t before = sk_memory_allocations();
        assert_ok(sk_sleap_post_run(post, in, m.n_outputs, &g, &found, &err), &err);
        assert_int_equal(sk_memory_allocations(), before);
        assert_int_equal(found.count, t == 0 ? 1 : 2);
        /* Map pixels times stride 2, by input scale 0.5: four frame pixels each. */
        const sk_keypoint *p = found.keypoints;
        if (t < 3)
            assert_true(fabsf(p[0].x - 24) < 0.3f && fabsf(p[0].y - 28) < 0.3f &&
                        fabsf(p[0].score - 0.9f) < 1e-3f);
        if (t == 0)
            assert_true(fabsf(found.items[0].score - (0.9f + 0.8f + 0.7f)) < 1e-3f);
        if (t == 2) {
            assert_true(fabsf(p[NODES + 2].x - 4 * 36) < 0.3f && fabsf(p[NODES + 2].y - 96) < 0.3f);
            assert_true(found.items[0].score > 1.5f); /* two edges, each close to 1 */
        }
        if (t == 3) {
            assert_int_equal(found.items[0].class_id, 0);
            assert_true(fabsf(p[0].x - 80) < 0.3f && fabsf(found.items[0].tracking_score - 0.9f) < 1e-5f);
            assert_true(fabsf(found.items[0].score - 0.7f) < 1e-3f &&
                        fabsf(found.items[1].score - 0.8f) < 1e-3f);
            assert_true(fabsf(p[NODES].x - 24) < 0.3f && fabsf(found.items[1].tracking_score - 0.7f) < 1e-5f);
        }
        /* Foreign maps are refused. */
        in[0].channels--;
        if (in[0].channels)
            assert_int_equal(sk_sleap_post_run(post, in, m.n_outputs, &g, &found, &err), SK_ERR_MISMATCH);
        assert_int_equal(sk_sleap_post_run(post, in, m.n_outputs - 1, &g, &found, &err), SK_ERR_MISMATCH);
        sk_instances_free(&found);
        sk_sleap_post_close(&post);
    }
}

static void broken_maps_give_nothing(void **state)
{
    (void)state;
    sk_error err;
    static float bad[NODES * MW * MH], other[4 * 24 * 16];
    const float poison[5] = {NAN, INFINITY, -INFINITY, 0, 0.5f};
    const sk_task tasks[4] = {SK_TASK_SINGLE_INSTANCE, SK_TASK_CENTROID, SK_TASK_BOTTOMUP,
                              SK_TASK_MULTICLASS_BOTTOMUP};
    for (int t = 0; t < 4; t++) {
        sk_model m = fake_model(tasks[t]);
        sk_sleap_post *post;
        assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
        sk_sleap_geometry g;
        assert_ok(sk_sleap_sizes(&m.sleap, 192, 128, &g, &err), &err);
        sk_instances found;
        assert_ok(
            sk_instances_alloc(sk_sleap_post_capacity(post), sk_sleap_post_keypoints(post), &found, &err),
            &err);
        for (int n = 0; n < 6; n++) {
            uint32_t seed = 3;
            for (int i = 0; i < NODES * MW * MH; i++)
                bad[i] = n < 5 ? poison[n] : case_random(&seed); /* the last: a peak almost everywhere */
            for (int i = 0; i < 4 * 24 * 16; i++)
                other[i] = n < 5 ? poison[n] : case_random(&seed);
            sk_map in[2] = {sk_map_planar(bad, tasks[t] == SK_TASK_CENTROID ? 1 : NODES, MH, MW),
                            sk_map_planar(other, tasks[t] == SK_TASK_BOTTOMUP ? 4 : 2, 16, 24)};
            assert_ok(sk_sleap_post_run(post, in, m.n_outputs, &g, &found, &err), &err);
            if (n < 4 ||
                (n == 4 && t != 0)) /* a flat map above the threshold has a highest pixel, but no peak */
                assert_int_equal(found.count, 0);
            for (int i = 0; i < found.count; i++)
                assert_true(isfinite(found.items[i].score));
        }
        sk_instances_free(&found);
        sk_sleap_post_close(&post);
    }
}

static void limits_keep_the_best(void **state)
{
    (void)state;
    sk_error err;
    memset(maps, 0, sizeof maps);
    for (int i = 0; i < 5; i++)
        bell(maps, MW, MH, 5 + 9.0f * (float)i, 10, 0.4f + 0.1f * (float)((i * 2) % 5));
    sk_model m = fake_model(SK_TASK_CENTROID);
    m.sleap.input_scale = 1;
    sk_sleap_geometry g;
    assert_ok(sk_sleap_sizes(&m.sleap, 96, 64, &g, &err), &err);
    sk_map map = sk_map_planar(maps, 1, MH, MW);
    for (int how = 0; how < 2; how++) {
        sk_sleap_settings s = sk_sleap_settings_defaults();
        s.max_instances = how ? 0 : 2;
        s.centroid_nms = how ? 0.3f : 0; /* crops of 40 at 18 apart overlap by 0.38 */
        s.nms_size = 40;
        sk_sleap_post *post;
        assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
        sk_instances found;
        assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), 1, &found, &err), &err);
        assert_ok(sk_sleap_post_run(post, &map, 1, &g, &found, &err), &err);
        /* Values .4 .6 .8 .5 .7: the best two are the third and the last, and these keep their neighbours
         * out. */
        if (!how)
            assert_true(found.count == 2 && found.items[0].score > found.items[1].score);
        else
            assert_true(found.count == 3 && fabsf(found.items[0].score - 0.4f) < 1e-3f);
        sk_instances_free(&found);
        sk_sleap_post_close(&post);
    }
}

/* --- the plan
 * ------------------------------------------------------------------------------------------------- */

static void pairs_that_are_possible(void **state)
{
    (void)state;
    sk_error err;
    sk_model centroid = fake_model(SK_TASK_CENTROID), centred = fake_model(SK_TASK_CENTERED_INSTANCE);
    sk_model whole = fake_model(SK_TASK_BOTTOMUP),
             detect = {.task = SK_TASK_DETECT, .family = SK_FAMILY_YOLO, .path = "detect"};
    detect.input = (sk_input_spec){.channels = 3, .height = 64, .width = 64, .stride = 32, .rgb = 1};
    detect.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 1};
    sk_task_stage *first, *second;
    assert_int_equal(sk_task_stage_open(&centred, NULL, 192, 128, &first, &err), SK_ERR_UNSUPPORTED);
    assert_ok(sk_task_stage_open(&whole, NULL, 192, 128, &first, &err), &err);
    assert_int_equal(sk_task_stage_open_second(&centred, first, NULL, &second, &err), SK_ERR_UNSUPPORTED);
    sk_task_stage_close(&first);
    assert_ok(sk_task_stage_open(&centroid, NULL, 192, 128, &first, &err), &err);
    assert_int_equal(sk_task_stage_open_second(&detect, first, NULL, &second, &err), SK_ERR_UNSUPPORTED);
    assert_ok(sk_task_stage_open_second(&centred, first, NULL, &second, &err), &err);
    assert_true(sk_task_stage_plan(second)->width == 32 && sk_task_stage_plan(second)->takes_crops);
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
    assert_ok(sk_task_stage_open(&detect, NULL, 192, 128, &first, &err), &err);
    assert_ok(sk_task_stage_open_second(&centred, first, NULL, &second, &err), &err);
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
}

/* A box from a YOLO model, the crop around it, maps, keypoints in the frame. */
static void boxes_lead_to_crops(void **state)
{
    (void)state;
    sk_error err;
    sk_model centred = fake_model(SK_TASK_CENTERED_INSTANCE),
             detect = {.task = SK_TASK_DETECT, .family = SK_FAMILY_YOLO, .path = "detect"};
    centred.sleap.input_scale = 1;
    detect.input = (sk_input_spec){.channels = 3, .height = 64, .width = 64, .stride = 32, .rgb = 1};
    detect.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 1};
    sk_task_stage *first, *second;
    assert_ok(sk_task_stage_open(&detect, NULL, 192, 128, &first, &err), &err);
    assert_ok(sk_task_stage_open_second(&centred, first, NULL, &second, &err), &err);
    const sk_task_plan *p = sk_task_stage_plan(second);
    static uint8_t pixels[192 * 128], input[64 * 64];
    case_noise(pixels, sizeof pixels, 3);
    sk_frame frame = {.format = SK_PIXEL_GRAY, .width = 192, .height = 128, .stride = 192, .data = pixels};
    sk_instances boxes, out;
    assert_ok(sk_instances_alloc(300, 0, &boxes, &err), &err);
    assert_ok(sk_instances_alloc(p->capacity, p->n_keypoints, &out, &err), &err);
    sk_found *box = sk_instances_add(&boxes);
    *box =
        (sk_found){.has = SK_HAS_BOX, .class_id = 0, .score = 0.8f, .box = {81, 41, 121, 81}, .track_id = -1};
    sk_instances_add(&boxes)->box[0] = NAN; /* a broken one is passed over */
    int32_t crops;
    uint64_t before = sk_memory_allocations();
    /* Where they lie is known without the frame; only who cuts them here needs it. */
    sk_crop_list list;
    assert_ok(sk_task_stage_find_crops(second, &boxes, &out, &list, &err), &err);
    assert_true(list.count == 1 && list.items[0].left == 69 && list.items[0].top == 29);
    assert_true(list.items[0].width == 64 && list.items[0].height == 64 && list.items[0].angle == 0);
    const sk_crop_form *form = sk_task_stage_crop_form(second);
    assert_true(form->rule == SK_CROP_PIXELS && form->width == 64 && form->channels == 1);
    assert_true(form->sized_width == 192 && form->fitted_width == 192 && form->grey == SK_SLEAP_GREY_LAST);
    assert_null(sk_task_stage_crop_form(first));
    assert_int_equal(sk_task_stage_crop_input(second, 0, SK_TASK_INPUT_U8, input, &err), SK_ERR_ARG);
    assert_ok(sk_task_stage_crops(second, &frame, &boxes, &out, &crops, &err), &err);
    assert_int_equal(crops, 1);
    assert_ok(sk_task_stage_crop_input(second, 0, SK_TASK_INPUT_U8, input, &err), &err);
    /* The box's centre (101, 61) is (100.5, 60.5) where pixel centres are integers; the crop starts at 69,
     * 29. */
    assert_int_equal(input[0], pixels[29 * 192 + 69]);
    static float small[NODES * 32 * 32];
    memset(small, 0, sizeof small);
    bell(small + 32 * 32, 32, 32, 10, 12, 0.9f);
    sk_tensor tensor = {SK_DTYPE_F32, {4, {1, NODES, 32, 32}}, small};
    assert_ok(sk_task_stage_crop_result(second, 0, &tensor, 1, 0, SK_OUTPUTS_WHOLE, &out, &err), &err);
    assert_ok(sk_task_stage_crops_end(second, &out, &err), &err);
    assert_int_equal(sk_memory_allocations(), before);
    assert_int_equal(out.count, 1);
    assert_true(out.items[0].has == (SK_HAS_BOX | SK_HAS_KEYPOINTS) && out.items[0].score == 0.8f);
    assert_true(isnan(out.keypoints[0].x) && isnan(out.keypoints[2].x));
    assert_true(fabsf(out.keypoints[1].x - (20 + 69)) < 1e-3f &&
                fabsf(out.keypoints[1].y - (24 + 29)) < 1e-3f);
    /* No animals: no crops, an empty result. */
    boxes.count = 0;
    assert_ok(sk_task_stage_crops(second, &frame, &boxes, &out, &crops, &err), &err);
    assert_int_equal(crops, 0);
    assert_ok(sk_task_stage_crops_end(second, &out, &err), &err);
    assert_int_equal(out.count, 0);
    sk_instances_free(&boxes);
    sk_instances_free(&out);
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
}

/* A YOLO pose model on the crop of a box: its keypoints land in the frame, the box stays. */
static void yolo_on_crops(void **state)
{
    (void)state;
    sk_error err;
    sk_model detect = {.task = SK_TASK_DETECT, .family = SK_FAMILY_YOLO, .path = "detect"},
             pose = {.task = SK_TASK_POSE, .family = SK_FAMILY_YOLO, .path = "pose"};
    detect.input = pose.input =
        (sk_input_spec){.channels = 3, .height = 64, .width = 64, .stride = 32, .rgb = 1};
    detect.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 1};
    pose.yolo = detect.yolo;
    pose.yolo.n_keypoints = 2;
    pose.yolo.keypoint_dims = 2;
    pose.n_outputs = 1;
    pose.outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_YOLO, .name = "output0"};
    sk_task_stage *first, *second;
    assert_ok(sk_task_stage_open(&detect, NULL, 192, 128, &first, &err), &err);
    assert_ok(sk_task_stage_open_second(&pose, first, NULL, &second, &err), &err);
    static uint8_t pixels[192 * 128 * 3], input[64 * 64 * 3];
    case_noise(pixels, sizeof pixels, 3);
    sk_frame frame = {.format = SK_PIXEL_BGR, .width = 192, .height = 128, .stride = 192 * 3, .data = pixels};
    sk_instances boxes, out;
    assert_ok(sk_instances_alloc(300, 0, &boxes, &err), &err);
    assert_ok(sk_instances_alloc(256, 2, &out, &err), &err);
    *sk_instances_add(&boxes) = (sk_found){.has = SK_HAS_BOX, .score = 0.8f, .box = {80, 40, 120, 60}};
    int32_t crops;
    uint64_t before = sk_memory_allocations();
    assert_ok(sk_task_stage_crops(second, &frame, &boxes, &out, &crops, &err), &err);
    assert_int_equal(crops, 1);
    sk_crop_list list;
    assert_ok(sk_task_stage_find_crops(second, &boxes, &out, &list, &err), &err);
    assert_true(list.items[0].left == 76 && list.items[0].width == 48 && list.items[0].height == 24);
    assert_int_equal(sk_task_stage_crop_form(second)->rule, SK_CROP_LETTERBOX);
    assert_ok(sk_task_stage_cut_from(second, &frame, &err), &err);
    assert_ok(sk_task_stage_crop_input(second, 0, SK_TASK_INPUT_U8, input, &err), &err);
    /* Grown by a tenth: 76 … 124 by 38 … 62, 48 x 24 pixels, times 4 / 3 into 64 x 64: 16 rows of border. */
    assert_int_equal(input[0], 114);
    assert_int_not_equal(input[16 * 64 * 3], 114);
    static float dense[9 * 84];
    memset(dense, 0, sizeof dense);
    const float column[9] = {32, 32, 40, 20, 0.9f, 4, 20, 60, 40};
    for (int k = 0; k < 9; k++)
        dense[k * 84 + 5] = column[k];
    sk_tensor tensor = {SK_DTYPE_F32, {3, {1, 9, 84}}, dense};
    assert_ok(sk_task_stage_crop_result(second, 0, &tensor, 1, 0, SK_OUTPUTS_WHOLE, &out, &err), &err);
    assert_ok(sk_task_stage_crops_end(second, &out, &err), &err);
    assert_int_equal(sk_memory_allocations(), before);
    assert_true(out.count == 1 && out.items[0].box[0] == 80 && out.items[0].score == 0.8f);
    assert_true(fabsf(out.keypoints[0].x - (76 + 3)) < 1e-3f && fabsf(out.keypoints[0].y - (38 + 3)) < 1e-3f);
    assert_true(fabsf(out.keypoints[1].x - (76 + 45)) < 1e-3f &&
                fabsf(out.keypoints[1].y - (38 + 18)) < 1e-3f);
    sk_instances_free(&boxes);
    sk_instances_free(&out);
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
}

static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    sk_error err;
    sk_model models[5] = {fake_model(SK_TASK_CENTROID),
                          fake_model(SK_TASK_BOTTOMUP),
                          fake_model(SK_TASK_MULTICLASS_BOTTOMUP),
                          fake_model(SK_TASK_MULTICLASS_TOPDOWN),
                          {.task = SK_TASK_DETECT, .family = SK_FAMILY_YOLO, .path = "detect"}};
    models[4].yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 1};
    models[1].sleap.target_size[0] = models[1].sleap.target_size[1] = 64;
    sk_task_stage *first;
    assert_ok(sk_task_stage_open(&models[0], NULL, 192, 128, &first, &err), &err);
    for (int m = 0; m < 5; m++) {
        sk_status status = SK_ERR_MEMORY;
        for (uint64_t n = 1; status != SK_OK; n++) {
            int64_t live = sk_memory_live_bytes();
            sk_task_stage *stage = NULL;
            sk_memory_fail_nth(n);
            if (m == 3)
                status = sk_task_stage_open_second(&models[m], first, NULL, &stage, &err);
            else
                status = sk_task_stage_open(&models[m], NULL, 192, 128, &stage, &err);
            sk_memory_fail_nth(0);
            assert_true(status == SK_OK || status == SK_ERR_MEMORY);
            assert_true((status == SK_OK) == (stage != NULL));
            sk_task_stage_close(&stage);
            assert_int_equal(sk_memory_live_bytes(), live);
            assert_true(n < 200);
        }
    }
    sk_task_stage_close(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_both_eras),
                                       cmocka_unit_test(inputs_are_padded_with_zeros),
                                       cmocka_unit_test(crops_in_whole_pixels),
                                       cmocka_unit_test(crops_equal_the_original),
                                       cmocka_unit_test(legacy_crops_are_interpolated),
                                       cmocka_unit_test(legacy_crops_value_by_value),
                                       cmocka_unit_test(maps_become_instances),
                                       cmocka_unit_test(broken_maps_give_nothing),
                                       cmocka_unit_test(limits_keep_the_best),
                                       cmocka_unit_test(pairs_that_are_possible),
                                       cmocka_unit_test(boxes_lead_to_crops),
                                       cmocka_unit_test(yolo_on_crops),
                                       cmocka_unit_test(failing_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
