/* SPDX-License-Identifier: Apache-2.0 */
/* Cards with less shared memory and fewer instructions than the one that the kernels were written on, on the GPU of loops, which
 * refuses a launch that such a card would refuse: every model opens there, whichever tile is chosen for a layer, and computes
 * what it should. */
#include "random_graph.h"

#include "engines/cuda/plan.h"
#include "engines/tolerance.h"
#include "graph/reference.h"
#include "models/model.h"
#include "support/yolo_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const sk_engine gpu_engine;
extern int gpu_emulate_major, gpu_emulate_minor, gpu_emulate_shared;
extern int64_t gpu_emulate_live;

/* What a block may have: CUDA's programming guide, technical specifications per compute capability. */
typedef struct card {
    const char *name;
    int major, minor, shared_kb;
} card;

static const card cards[] = {
    {"A100", 8, 0, 163},       {"RTX 30", 8, 6, 99}, {"RTX 40, L4", 8, 9, 99},
    {"H100, H200", 9, 0, 227}, {"B200", 10, 0, 227}, {"RTX 50", 12, 0, 99},
};
#define N_CARDS (sizeof cards / sizeof cards[0])

static void use(const card *c)
{
    gpu_emulate_major = c->major;
    gpu_emulate_minor = c->minor;
    gpu_emulate_shared = c->shared_kb * 1024;
}

/* Every tile that the plan would let a layer have must be one that this card launches, and each layer must have some. Returns how many
 * pairs of layer and tile there are. */
static int check_plan(const sk_graph *graph, const card *c, sk_precision precision, const char *name)
{
    sk_error err = {0};
    sk_session_settings s = sk_session_defaults();
    gpu_plan plan = {
        .device_major = c->major, .device_minor = c->minor, .sms = 20, .shared_bytes = c->shared_kb * 1024};
    int pairs = 0;
    s.precision = precision;
    s.fine_outputs = 1;
    assert_ok(gpu_plan_open(graph, &s, &plan, &err), &err);
    for (size_t i = 0; i < plan.n_steps; i++) {
        gpu_step *step = &plan.steps[i];
        int tiles = 0;
        if (step->kind != GPU_CONV) {
            assert_true(step->shared_bytes <= plan.shared_bytes);
            continue;
        }
        for (int32_t k = 0; k < gpu_config_count(); k++) {
            const gpu_config *config = gpu_config_at(k);
            int32_t blocks = 0;
            if (!gpu_config_fits(&plan, step, config))
                continue;
            tiles++;
            gpu_config_apply(&plan, step, k, 1);
            if (gpu_occupancy(config, step->shared_bytes, &blocks) != 0)
                fail_msg("%s on %s, %s: %s asks for %d bytes", name, c->name, step->name, config->name,
                         step->shared_bytes);
        }
        if (tiles == 0 || gpu_config_guess(&plan, step) < 0)
            fail_msg("%s on %s, %s: no tile fits", name, c->name, step->name);
        pairs += tiles;
    }
    gpu_plan_close(&plan);
    return pairs;
}

/* Layers as wide as large networks have them: what their tiles want of shared memory is what a small card lacks. */
static sk_graph *wide_graph(void)
{
    static const int channels[] = {3, 32, 64, 128, 256, 512}, kernels[] = {3, 3, 1, 3, 1, 3};
    sk_error err = {0};
    sk_graph *g = NULL;
    sk_builder b;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_shape shape = sk_shape_of(4, -1, 3, -1, -1);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &shape);
    for (int i = 0; i < 10; i++) {
        const int from = channels[(i + 1) / 2], to = channels[i / 2 + 1], k = kernels[i % 6];
        const sk_shape ws = sk_shape_of(4, to, from, k, k);
        float *w = calloc((size_t)(to * from * k * k), sizeof *w);
        const int stride = i % 2 == 0 && k == 3 && i < 7 ? 2 : 1;
        const sk_window win = {{k, k}, {stride, stride}, {1, 1}, {k / 2, k / 2, k / 2, k / 2}, 0};
        char name[16];
        snprintf(name, sizeof name, "conv%d", i);
        x = sk_b_conv(&b, x, sk_b_constant(&b, "", SK_DTYPE_F32, &ws, w), SK_VALUE_NONE, &win, 1, name);
        free(w);
    }
    sk_b_output(&b, x, "y");
    assert_int_equal(b.status, SK_OK);
    return g;
}

static void test_wide_layers(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *g = wide_graph(), *fixed = NULL;
    const sk_shape shape = sk_shape_of(4, 2, 3, 320, 320);
    assert_ok(sk_graph_specialise(g, &shape, 1, &fixed, &err), &err);
    for (size_t k = 0; k < N_CARDS; k++) {
        use(&cards[k]);
        assert_true(check_plan(fixed, &cards[k], SK_PRECISION_F16, "wide") > 10);
        assert_true(check_plan(fixed, &cards[k], SK_PRECISION_TF32, "wide") > 10);
    }
    use(&cards[3]);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
}

static void check_everywhere(const char *path, int side)
{
    sk_error err = {0};
    sk_model *m = NULL;
    sk_graph *fixed = NULL;
    assert_ok(sk_model_open(path, &m, &err), &err);
    for (int batch = 1; batch <= 16; batch += 15) {
        const sk_shape shape = sk_shape_of(4, batch, (int64_t)m->input.channels, side, side);
        assert_ok(sk_graph_specialise(m->graph, &shape, 1, &fixed, &err), &err);
        for (size_t k = 0; k < N_CARDS; k++) {
            use(&cards[k]);
            assert_true(check_plan(fixed, &cards[k], SK_PRECISION_F16, path) > 10);
            assert_true(check_plan(fixed, &cards[k], SK_PRECISION_TF32, path) > 10);
        }
        sk_graph_close(&fixed);
    }
    use(&cards[3]);
    sk_model_close(&m);
}

/* Small ones of every head, made here. */
static void test_heads(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB", "Segment", "v10Detect"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        const yolo_fixture fixture = {.head = heads[i], .f32 = true};
        check_everywhere(yolo_save(&fixture, "card.pt"), 96);
    }
}

static void test_models(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int side;
    } models[] = {{"yolo/yolo11n-pose/yolo11n-pose.pt", 640},
                  {"yolo/yolo11t-detect/yolo11t-detect.pt", 320},
                  {"yolo/yolo11t-obb/yolo11t-obb.pt", 640},
                  {"yolo/yolov8t-obb/yolov8t-obb.pt", 640},
                  {"yolo/yolov8t-pose/yolov8t-pose.pt", 640},
                  {"sleap/legacy/minimal_instance.UNet.bottomup", 384},
                  {"sleap/legacy/minimal_instance.UNet.centroid", 384},
                  {"sleap/legacy/minimal_instance.UNet.centered_instance", 96},
                  {"sleap/legacy/minimal_robot.UNet.single_instance", 320},
                  {"sleap/legacy/min_tracks_2node.UNet.topdown_multiclass", 128},
                  {"sleap/nn/minimal_instance_bottomup", 384},
                  {"sleap/nn/minimal_instance_centroid", 384},
                  {"sleap/nn/minimal_instance_centered_instance", 160},
                  {"sleap/nn/minimal_instance_multiclass_centered_instance", 160},
                  {"sleap/nn/minimal_instance_single_instance", 320}};
    test_data_or_skip();
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        check_everywhere(test_data(models[i].path), models[i].side);
}

/* The whole way on each card, tiles chosen by timing, which tries all that fit. */
static void test_runs(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_CARDS; k++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            sk_error err = {0};
            sk_shape shape;
            sk_graph *g = random_graph(seed * 7 + k, &shape), *fixed = NULL;
            const int64_t n = sk_shape_count(&shape);
            float *x = malloc((size_t)n * sizeof *x);
            random_source r = {seed + 50};
            for (int64_t i = 0; i < n; i++)
                x[i] = random_unit(&r);
            sk_session_settings s = sk_session_defaults();
            sk_session *session = NULL;
            sk_tensor want[SK_SESSION_MAX_OUTPUTS] = {{0}}, got[SK_SESSION_MAX_OUTPUTS];
            sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x};
            const sk_session_input given = {.data = x};
            s.precision = seed == 1 ? SK_PRECISION_TF32 : SK_PRECISION_F16;
            s.cache_dir = "";
            strcpy(s.options, "tune=on");
            use(&cards[k]);
            assert_ok(sk_graph_specialise(g, &shape, 1, &fixed, &err), &err);
            assert_ok(sk_reference_run(fixed, &in, 1, want, fixed->n_outputs, &err), &err);
            assert_ok(sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err), &err);
            assert_ok(sk_session_capture(session, &err), &err);
            assert_ok(sk_session_run(session, &given, 1, got, SK_SESSION_MAX_OUTPUTS, &err), &err);
            for (int32_t i = 0; i < fixed->n_outputs; i++) {
                double sum = 0, off = 0;
                for (int64_t j = 0; j < sk_shape_count(&want[i].shape); j++) {
                    const double a = (double)((const float *)want[i].data)[j],
                                 b = (double)((const float *)got[i].data)[j];
                    sum += a * a;
                    off += (a - b) * (a - b);
                }
                if (!(sqrt(off) <= 0.02 * sqrt(sum) + 1e-6))
                    fail_msg("%s, seed %d: output %d differs by %g of %g", cards[k].name, (int)seed, i,
                             sqrt(off), sqrt(sum));
                sk_free(want[i].data);
            }
            sk_session_close(&session);
            sk_graph_close(&fixed);
            sk_graph_close(&g);
            free(x);
        }
    use(&cards[3]);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wide_layers), cmocka_unit_test(test_heads),
                                       cmocka_unit_test(test_models), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
