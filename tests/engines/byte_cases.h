/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_BYTE_CASES_H
#define SK_TESTS_ENGINES_BYTE_CASES_H

#include "graph/f8_formula.h"
#include "tile_cases.h"

/* The same cases in fp8 (true) and in i8. */
static bool in_f8;
static inline sk_precision byte_precision(void)
{
    return in_f8 ? SK_PRECISION_FP8 : SK_PRECISION_I8;
}

/* The layers of tile_cases.h in eight bits. What is read lies on the steps of its scale, so that all that may differ from the
 * reference executor is which of two neighbours a number near the middle between them becomes: one step. */

#define STEP       (1.0f / 32) /* of what is read and of what is written: floats of ten bits have it exactly */
#define STEP_LIMIT 1.001
/* Of several layers one after the other, of ||d|| / ||ref||: a number that became its neighbour in fp8 is off by up to an eighth. */
static inline double byte_limit(void)
{
    return in_f8 ? 0.05 : 0.02;
}
/* For difference(): of what is written. */
static inline double byte_step(void)
{
    return in_f8 ? -(double)STEP : (double)STEP;
}

static sk_value quantised(sk_builder *b, sk_value x, float scale, int zero)
{
    const uint8_t z = in_f8 ? 0 : (uint8_t)zero;
    const sk_shape one = {0};
    const sk_value s = sk_b_f32(b, scale),
                   at = sk_b_constant(b, "", in_f8 ? SK_DTYPE_F8 : SK_DTYPE_U8, &one, &z);
    const sk_value q = sk_b_node(b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, at}, 3, "q");
    return sk_b_node(b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, at}, 3, "dq");
}

/* Weights of eight bits, a scale for each output channel; the first two are the largest there are. */
static sk_value byte_weights(sk_builder *b, int cout, int cin, int k)
{
    const sk_shape shape = sk_shape_of(4, cout, cin, k, k), row = sk_shape_of(1, cout);
    const int64_t n = sk_shape_count(&shape);
    const float largest = in_f8 ? SK_F8_LARGEST : 127.0f;
    int8_t *w = malloc((size_t)n);
    float *scales = malloc((size_t)cout * sizeof *scales);
    for (int64_t i = 0; i < n; i++) {
        const float v = i == 0 ? largest : i == 1 ? -largest : unit() * largest;
        w[i] = in_f8 ? (int8_t)sk_f8_of(v) : (int8_t)(int)v;
    }
    for (int i = 0; i < cout; i++)
        scales[i] = (1.0f + 0.5f * unit()) / (largest * sqrtf((float)(cin * k * k)));
    const sk_attrs first = {.quantise.axis = 0};
    const sk_value v =
        sk_b_node(b, SK_OP_DEQUANTIZE, &first,
                  (sk_value[]){sk_b_constant(b, "", in_f8 ? SK_DTYPE_F8 : SK_DTYPE_I8, &shape, w),
                               sk_b_constant(b, "", SK_DTYPE_F32, &row, scales)},
                  2, "weights");
    free(w);
    free(scales);
    return v;
}

static sk_value byte_conv(sk_builder *b, sk_value x, const layer *l)
{
    const sk_window win = {
        {l->k, l->k}, {l->stride, l->stride}, {1, 1}, {l->k / 2, l->k / 2, l->k / 2, l->k / 2}, 0};
    const sk_shape bs = sk_shape_of(1, l->cout);
    const sk_value y = sk_b_conv(b, x, byte_weights(b, l->cout, l->cin / l->groups, l->k),
                                 constant(b, &bs, 0.5f), &win, l->groups, "layer");
    return l->act ? sk_b_unary(b, (sk_unary)l->act, y) : y;
}

/* What it is given, read as bytes: who reads none needs none. */
static sk_value as_bytes(sk_builder *b, sk_value x, int channels)
{
    const sk_shape shape = sk_shape_of(4, channels, channels, 1, 1), row = sk_shape_of(1, 1);
    const sk_window win = {{1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 0};
    const float scale = in_f8 ? 1.0f : 1.0f / 127;
    int8_t *w = calloc((size_t)(channels * channels), 1);
    for (int i = 0; i < channels; i++)
        w[i * channels + i] = in_f8 ? (int8_t)sk_f8_of(1.0f) : 127;
    const sk_attrs first = {.quantise.axis = 0};
    const sk_value v =
        sk_b_node(b, SK_OP_DEQUANTIZE, &first,
                  (sk_value[]){sk_b_constant(b, "", in_f8 ? SK_DTYPE_F8 : SK_DTYPE_I8, &shape, w),
                               sk_b_constant(b, "", SK_DTYPE_F32, &row, &scale)},
                  2, "one");
    free(w);
    return sk_b_conv(b, x, v, SK_VALUE_NONE, &win, 1, "same");
}

static int zero_of(const layer *l)
{
    return l->act == SK_UNARY_RELU ? 0 : l->act ? 20 : 128;
}

/* `to_bytes`: what comes out is eight bits as well. Else, where the layer has one, with a 1x1 convolution of halves behind it, to
 * planes. */
static sk_graph *byte_graph(const layer *l, bool to_bytes)
{
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    const sk_shape any = sk_shape_of(4, -1, l->cin, -1, -1);
    const sk_value x =
        quantised(&b, sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, "x", SK_DTYPE_F32, &any)), STEP, 100);
    sk_value y = byte_conv(&b, x, l);
    if (l->residual)
        y = sk_b_add(&b, y, x);
    if (to_bytes)
        y = as_bytes(&b, quantised(&b, y, STEP, zero_of(l)), l->cout);
    if (l->then && !to_bytes)
        sk_b_output(&b, conv(&b, y, l->cout, l->then, 1, 1, 1, 0, "then"), "y");
    else
        sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, y), "y");
    if (b.status != SK_OK)
        stop(&b.error);
    return g;
}

/* All of 0 ... 255; of fp8, all codes that are numbers, and then such as layers meet. */
static float *byte_numbers(int64_t n)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        if (in_f8)
            x[i] = sk_f8_number(i < 256 && i % 128 != 127 ? (uint8_t)i : sk_f8_of(unit() * 64.0f)) * STEP;
        else
            x[i] = ((float)(i < 256 ? i : (int)((unit() + 1.0f) * 127.99f)) - 155.0f) * STEP;
    return x;
}

static inline void check_byte_layer(const layer *l, int batch, judge_tile *to_bytes, judge_tile *to_halves)
{
    const sk_shape shape = sk_shape_of(4, batch, l->cin, l->h, l->w);
    float *x = byte_numbers(sk_shape_count(&shape));
    char what[128];
    name_layer(what, sizeof what, l, batch);
    for (int i = 0; i < 2; i++) {
        sk_graph *g = byte_graph(l, i == 0);
        check_tiles(g, shape, what, byte_precision(), x, i == 0 ? byte_step() : 0,
                    i == 0 ? to_bytes : to_halves);
        sk_graph_close(&g);
    }
    free(x);
}

/* What no tile computes, as the engine runs it; `kinds`: how many steps of each kind it has. */
static inline double byte_difference(sk_graph *g, sk_shape shape, double step_size, int kinds[GPU_KIND_COUNT])
{
    float *x = byte_numbers(sk_shape_count(&shape));
    sk_graph *fixed = NULL;
    sk_error err = {0};
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got;
    sk_session_settings settings = sk_session_defaults();
    sk_session *session = NULL;
    const sk_session_input given = {.data = x};
    settings.precision = byte_precision();
    strcpy(settings.options, "tune=off");
    settings.cache_dir = "";
    if (sk_graph_specialise(g, &shape, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, &want, 1, &err) != SK_OK ||
        sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err) != SK_OK ||
        sk_session_capture(session, &err) != SK_OK ||
        sk_session_run(session, &given, 1, &got, 1, &err) != SK_OK)
        stop(&err);
    const gpu_plan *plan = &((gpu_session *)session)->plan;
    memset(kinds, 0, GPU_KIND_COUNT * sizeof *kinds);
    for (size_t i = 0; i < plan->n_steps; i++)
        kinds[plan->steps[i].kind]++;
    const double d = difference(&got, &want, step_size);
    sk_session_close(&session);
    sk_free(want.data);
    free(x);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
    return d;
}

/* The first convolution, from pictures of bytes, in floats and to bytes. */
static inline double first_difference(int cout, int side, int act, double step_size)
{
    const layer l = {3, cout, 3, 2, side, side, 0, act, 1, 0};
    const sk_shape shape = sk_shape_of(4, 2, 3, side, side), any = sk_shape_of(4, -1, 3, -1, -1);
    const int64_t n = sk_shape_count(&shape), plane = (int64_t)side * side;
    sk_graph *g = NULL, *fixed = NULL;
    sk_error err = {0};
    sk_builder b;
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    sk_value v = conv(&b, sk_b_input(&b, "x", SK_DTYPE_F32, &any), 3, cout, 3, 2, 1, act, "first");
    v = as_bytes(&b, quantised(&b, v, STEP, zero_of(&l)), cout);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, v), "y");
    uint8_t *bytes = malloc((size_t)n);
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)((unit() + 1.0f) * 127.99f);
        x[(i / 3 / plane * 3 + i % 3) * plane + i / 3 % plane] = (float)bytes[i] / 255.0f;
    }
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got;
    sk_session_settings settings = sk_session_defaults();
    sk_session *session = NULL;
    const sk_session_input given = {.data = bytes};
    settings.precision = byte_precision();
    settings.input = SK_INPUT_U8_HWC;
    settings.scale = 1.0f / 255.0f;
    strcpy(settings.options, "tune=off");
    settings.cache_dir = "";
    if (sk_graph_specialise(g, &shape, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, &want, 1, &err) != SK_OK ||
        sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err) != SK_OK ||
        sk_session_run(session, &given, 1, &got, 1, &err) != SK_OK)
        stop(&err);
    const gpu_plan *plan = &((gpu_session *)session)->plan;
    const double d = plan->steps[0].kind == GPU_FIRST && plan->steps[0].args.first.bytes.out
                         ? difference(&got, &want, step_size)
                         : INFINITY;
    sk_session_close(&session);
    sk_free(want.data);
    free(bytes);
    free(x);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
    return d;
}

/* A 1x1 convolution of two maps, one of half the size: that one's share of the sums is computed at its size, in halves, and added
 * before the activation. */
static inline sk_graph *doubled_graph(int channels)
{
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    const layer half = {channels, channels, 3, 2, 0, 0, 0, SK_UNARY_SILU, 1, 0},
                both = {channels * 2, channels, 1, 1, 0, 0, 0, SK_UNARY_SILU, 1, 0};
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    const sk_shape any = sk_shape_of(4, -1, channels, -1, -1);
    const sk_value x =
        quantised(&b, sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, "x", SK_DTYPE_F32, &any)), STEP, 20);
    const sk_value small = quantised(&b, byte_conv(&b, x, &half), STEP, 20);
    const sk_value part[2] = {quantised(&b, sk_b_upsample_nearest(&b, small, 2), STEP, 20), x};
    const sk_value v = byte_conv(&b, quantised(&b, sk_b_concat(&b, part, 2, 1), STEP, 20), &both);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, as_bytes(&b, quantised(&b, v, STEP, 20), channels)), "y");
    if (b.status != SK_OK)
        stop(&b.error);
    return g;
}

/* Everything that moves bytes: split, joined again over what was read, three chained pools, a pool of stride 2, doubled in size; and
 * a part that is no multiple of 16 (`odd`). One scale for all of it, numbers kept small. */
static inline sk_graph *moving_graph(int channels, bool odd)
{
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    const layer point = {channels, channels, 1, 1, 0, 0, 0, SK_UNARY_SILU, 1, 0},
                half = {channels / 2, channels / 2, 3, 1, 0, 0, 1, SK_UNARY_SILU, 1, 0},
                wide = {channels / 2 * 3, channels + (odd ? 8 : 0), 1, 1, 0, 0, 0, SK_UNARY_SILU, 1, 0},
                all = {(channels + (odd ? 8 : 0)) * 4, 32, 1, 1, 0, 0, 0, SK_UNARY_SILU, 1, 0},
                last = {64, 32, 3, 2, 0, 0, 0, SK_UNARY_RELU, 1, 0};
    if (sk_graph_open(&g, &err) != SK_OK)
        stop(&err);
    sk_builder_init(&b, g);
    const sk_shape any = sk_shape_of(4, -1, channels, -1, -1);
    sk_value v = quantised(&b, sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, "x", SK_DTYPE_F32, &any)), STEP,
                           100),
             part[3];
    v = quantised(&b, byte_conv(&b, v, &point), STEP, 20);
    sk_b_split(&b, v, 1, (const int64_t[]){channels / 2, channels / 2}, 2, part);
    part[0] = quantised(&b, part[0], STEP, 20);
    part[1] = quantised(&b, part[1], STEP, 20);
    part[2] = quantised(&b, sk_b_add(&b, byte_conv(&b, part[1], &half), part[1]), STEP, 20);
    v = quantised(&b, sk_b_concat(&b, part, 3, 1), STEP, 20);
    v = quantised(&b, byte_conv(&b, v, &wide), STEP, 20);
    sk_value pooled[4] = {v};
    for (int i = 1; i < 4; i++)
        pooled[i] = quantised(&b, sk_b_max_pool(&b, pooled[i - 1], 5, 1, 2, "pool"), STEP, 20);
    v = quantised(&b, byte_conv(&b, quantised(&b, sk_b_concat(&b, pooled, 4, 1), STEP, 20), &all), STEP, 20);
    const sk_value small = quantised(&b, sk_b_max_pool(&b, v, 2, 2, 0, "half"), STEP, 20);
    part[0] = quantised(&b, sk_b_upsample_nearest(&b, small, 2), STEP, 20);
    part[1] = v;
    v = byte_conv(&b, quantised(&b, sk_b_concat(&b, part, 2, 1), STEP, 20), &last);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, as_bytes(&b, quantised(&b, v, STEP, 0), 32)), "y");
    if (b.status != SK_OK)
        stop(&b.error);
    return g;
}

#endif
