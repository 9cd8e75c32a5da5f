/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_TILE_CASES_H
#define SK_TESTS_ENGINES_TILE_CASES_H

#include "engines/cuda/session.h"
#include "layer_parts.h"

/* Layers on which every tile of the tensor-core convolutions is tried against the reference executor. For the test on the GPU
 * of loops and for the check on a real one. */

extern const sk_engine gpu_engine;

typedef struct layer {
    int cin, cout, k, stride, h, w, residual, act, groups;
    int then; /* channels of a 1x1 convolution behind it; 0: none */
} layer;

/* A pointwise layer in front gives the layer a map to read and to add; one behind would blur what went wrong. */
static sk_graph *layer_graph(const layer *l)
{
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    sk_shape any = sk_shape_of(4, -1, l->cin, -1, -1);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &any);
    sk_value y = conv(&b, x, l->cin, l->cout, l->k, l->stride, l->groups, l->act, "layer");
    if (l->residual)
        y = sk_b_add(&b, y, x);
    if (l->then)
        y = conv(&b, y, l->cout, l->then, 1, 1, 1, l->act, "then");
    sk_b_output(&b, y, "y");
    if (b.status != SK_OK)
        stop(&b.error);
    return g;
}

#define TILE_LIMIT  2e-3   /* of ||d|| / ||ref|| */
#define EXACT_LIMIT 2e-6   /* f32 */
#define BRAIN_LIMIT 1.2e-2 /* bf16 */
#define F8_LIMIT    8e-3   /* fp8: tensor cores keep some 14 bits of a sum of 2304 products */
/* Tiles whose names contain it; null: all. */
static const char *tiles_named;
typedef void judge_tile(const char *layer, int32_t tile, double distance);

/* Numbers of fp8 have steps of their own, an eighth of a number at most: in these, below 0 in a quarter of -step. */
static inline double steps_apart(double got, double want, double step)
{
    return fabs(got - want) / (step > 0 ? step : fmax(fabs(want) / 8, -step / 4));
}

/* How far apart: of ||d|| / ||ref||; or with `step`, the furthest in steps, and INFINITY where one in fifty is off. Below 0: of fp8. */
static inline double difference(const sk_tensor *got, const sk_tensor *want, double step)
{
    const int64_t n = sk_shape_count(&want->shape);
    double most = 0, all = 0;
    if (step == 0)
        return distance(got->data, want->data, n);
    for (int64_t i = 0; i < n; i++) {
        const double d =
            steps_apart((double)((const float *)got->data)[i], (double)((const float *)want->data)[i], step);
        if (!(d <= most))
            most = d;
        all += d;
    }
    return all < 0.02 * (double)n ? most : INFINITY;
}

/* Every tile that fits the first convolution of this graph, each into memory full of NaN. */
static inline void check_tiles(const sk_graph *g, sk_shape shape, const char *what, sk_precision precision,
                               float *x, double step_size, judge_tile *judge)
{
    sk_graph *fixed = NULL;
    sk_error err = {0};
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got;
    sk_session_settings settings = sk_session_defaults();
    sk_session *session = NULL;
    sk_session_input given = {.data = x};
    settings.precision = precision;
    strcpy(settings.options, "tune=off");
    settings.cache_dir = "";
    setenv("SKITTER_CUDA_WITHOUT", "limits", 1); /* few pixels here */
    if (sk_graph_specialise(g, &shape, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, &want, 1, &err) != SK_OK ||
        sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err) != SK_OK)
        stop(&err);
    unsetenv("SKITTER_CUDA_WITHOUT");
    gpu_session *s = (gpu_session *)session;
    for (size_t i = 0; i < s->plan.n_steps; i++) {
        gpu_step *step = &s->plan.steps[i];
        if (step->kind != GPU_CONV)
            continue;
        for (int32_t c = 0; c < gpu_config_count(); c++) {
            const gpu_config *config = gpu_config_at(c);
            int32_t blocks = 0;
            if ((tiles_named && !strstr(config->name, tiles_named)) ||
                !gpu_config_fits(&s->plan, step, config) ||
                gpu_occupancy(config, gpu_config_shared(step, config), &blocks) != 0 || blocks < 1)
                continue;
            gpu_config_apply(&s->plan, step, c, blocks);
            /* the session's weights with this tile's behind them, for this run */
            const size_t own = (s->plan.weight_bytes + 255) / 256 * 256,
                         bytes = gpu_packed_bytes(step, config);
            void *packed = malloc(bytes), *all = NULL;
            uint8_t *const weights = s->weights;
            gpu_pack(&s->plan, step, config, packed);
            if (gpu_alloc(&all, own + bytes) != 0 ||
                gpu_copy_across_2d(all, own, weights, own, s->plan.weight_bytes, 1, s->compute) != 0 ||
                gpu_copy_up((uint8_t *)all + own, packed, bytes, s->compute) != 0)
                exit(1);
            const gpu_ref before = step->refs[2];
            step->refs[2] = (gpu_ref){.buffer = GPU_WEIGHTS, .offset = own};
            s->weights = all;
            gpu_graph *graph = s->slots[0].graph;
            s->slots[0].graph = NULL; /* step by step, with this tile */
            (void)gpu_fill(s->memory, 0xff, s->plan.memory_bytes, s->compute); /* NaN: unwritten is found */
            (void)gpu_fill(s->slots[0].device, 0xff, s->plan.slot_bytes, s->compute);
            if (sk_session_run(session, &given, 1, &got, 1, &err) != SK_OK) {
                printf("BAD %s by %s: %s\n", what, config->name, err.message);
                exit(1);
            }
            s->slots[0].graph = graph;
            step->refs[2] = before;
            s->weights = weights;
            gpu_free(all);
            free(packed);
            judge(what, c, difference(&got, &want, step_size));
        }
        break;
    }
    sk_session_close(&session);
    sk_free(want.data);
    sk_graph_close(&fixed);
}

static inline void name_layer(char *what, size_t size, const layer *l, int batch)
{
    snprintf(what, size, "%d->%d %dx%d s%d %dx%d b%d res %d act %d then %d", l->cin, l->cout, l->k, l->k,
             l->stride, l->h, l->w, batch, l->residual, l->act, l->then);
}

static inline void check_layer(const layer *l, int batch, sk_precision precision, judge_tile *judge)
{
    sk_graph *g = layer_graph(l);
    const sk_shape shape = sk_shape_of(4, batch, l->cin, l->h, l->w);
    float *x = randoms(sk_shape_count(&shape), 1.7f);
    char what[128];
    name_layer(what, sizeof what, l, batch);
    check_tiles(g, shape, what, precision, x, 0, judge);
    free(x);
    sk_graph_close(&g);
}

/* The same for a layer that is no tile's, as the engine runs it: how far from the reference. */
static inline double whole_distance(const layer *l, int batch, sk_precision precision)
{
    sk_graph *g = layer_graph(l), *fixed = NULL;
    sk_error err = {0};
    sk_shape shape = sk_shape_of(4, batch, l->cin, l->h, l->w);
    float *x = randoms(sk_shape_count(&shape), 1.7f);
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got;
    sk_session_settings settings = sk_session_defaults();
    sk_session *session = NULL;
    sk_session_input given = {.data = x};
    settings.precision = precision;
    strcpy(settings.options, "tune=off");
    settings.cache_dir = "";
    if (sk_graph_specialise(g, &shape, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, &want, 1, &err) != SK_OK ||
        sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err) != SK_OK ||
        sk_session_run(session, &given, 1, &got, 1, &err) != SK_OK)
        stop(&err);
    const double d = distance(got.data, want.data, sk_shape_count(&want.shape));
    sk_session_close(&session);
    sk_free(want.data);
    free(x);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
    return d;
}

static const layer layers[] = {
    {32, 32, 1, 1, 40, 40, 1, SK_UNARY_SILU, 1, 0},
    {48, 64, 1, 1, 33, 40, 0, SK_UNARY_SILU, 1, 0},
    {256, 128, 1, 1, 20, 20, 0, 0, 1, 0},
    {64, 1, 1, 1, 20, 20, 0, 0, 1, 0},
    {56, 51, 1, 1, 19, 23, 0, SK_UNARY_SILU, 1, 0},
    {128, 256, 1, 1, 20, 20, 0, SK_UNARY_RELU, 1, 0},
    {32, 32, 1, 1, 33, 40, 0, SK_UNARY_SILU, 1, 0},
    {64, 32, 1, 1, 21, 20, 0, SK_UNARY_SILU, 1, 0},
    {192, 128, 1, 1, 20, 20, 0, SK_UNARY_SILU, 1, 0},
    {16, 8, 3, 1, 40, 44, 0, SK_UNARY_SILU, 1, 0},
    {8, 16, 3, 1, 40, 44, 0, SK_UNARY_SILU, 1, 0},
    {16, 16, 3, 1, 37, 40, 1, SK_UNARY_SILU, 1, 0},
    {16, 32, 3, 2, 40, 44, 0, SK_UNARY_SILU, 1, 0},
    {32, 16, 3, 1, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {32, 32, 3, 1, 21, 19, 1, SK_UNARY_SILU, 1, 0},
    {32, 64, 3, 1, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {64, 64, 3, 1, 40, 40, 1, SK_UNARY_SILU, 1, 0},
    {64, 64, 3, 1, 20, 20, 0, SK_UNARY_SILU, 1, 0},
    {64, 51, 3, 1, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {64, 128, 3, 1, 24, 20, 0, SK_UNARY_SILU, 1, 0},
    {56, 51, 3, 1, 20, 20, 0, SK_UNARY_SILU, 1, 0},
    {128, 64, 3, 1, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {128, 128, 3, 1, 20, 20, 1, SK_UNARY_SILU, 1, 0},
    {256, 64, 3, 1, 20, 20, 0, SK_UNARY_SILU, 1, 0},
    {64, 64, 3, 2, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {128, 128, 3, 2, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {24, 36, 3, 1, 33, 31, 0, SK_UNARY_RELU, 1, 0},
    {96, 64, 1, 1, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {128, 256, 3, 2, 40, 40, 0, SK_UNARY_SILU, 1, 0},
    {32, 64, 3, 2, 40, 44, 0, SK_UNARY_SILU, 1, 0},
    {16, 32, 3, 2, 40, 44, 0, SK_UNARY_SILU, 1, 32},
    {32, 64, 3, 2, 40, 44, 0, SK_UNARY_SILU, 1, 64},
    {64, 64, 3, 1, 40, 40, 0, SK_UNARY_SILU, 1, 64},
    {56, 51, 3, 1, 33, 31, 0, SK_UNARY_RELU, 1, 51},
    {128, 128, 3, 2, 40, 40, 0, SK_UNARY_SILU, 1, 128},
    {64, 128, 3, 1, 24, 20, 0, SK_UNARY_SILU, 1, 64},
    {64, 64, 1, 1, 33, 40, 0, SK_UNARY_SILU, 1, 1},
    {128, 128, 1, 1, 19, 23, 0, SK_UNARY_SILU, 1, 37},
};

#endif
