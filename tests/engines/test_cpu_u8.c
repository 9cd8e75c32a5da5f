/* SPDX-License-Identifier: Apache-2.0 */
/* Networks in eight bits on the CPU engine: what the reference executor gives, up to a step; the same bits whatever the threads
 * and the instruction set; no allocation while running. */
#include "support/test.h"

#include "base/memory.h"
#include "engines/engine.h"
#include "graph/builder.h"
#include "random_graph.h"
#include "support/fault.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float step = 0.03f; /* of most values */

static sk_session_settings settings_of(sk_precision precision, int threads, const char *options)
{
    sk_session_settings s = sk_session_defaults();
    s.threads = threads;
    s.precision = precision;
    s.cache_dir = "";
    snprintf(s.options, sizeof s.options, "%s", options);
    return s;
}

static sk_session *open_on(const char *engine, const sk_graph *g, const sk_shape *shape,
                           sk_session_settings s)
{
    sk_error err = {0};
    sk_session *session = NULL;
    assert_ok(sk_session_open(sk_engine_find(engine), g, shape, 1, &s, &session, &err), &err);
    return session;
}

/* --- writing networks --- */

static sk_value in_bytes(sk_builder *b, sk_value x, float scale, int zero, sk_dtype dtype)
{
    const sk_shape one = {.rank = 0};
    const uint8_t byte = (uint8_t)(zero - (dtype == SK_DTYPE_I8 ? 128 : 0));
    sk_value s = sk_b_f32(b, scale), z = sk_b_constant(b, "", dtype, &one, &byte);
    sk_value q = sk_b_node(b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, z}, 3, "q");
    return sk_b_node(b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, z}, 3, "dq");
}

static int8_t every_weight; /* 0: each its own */
static enum { SCALE_EACH, SCALE_ONE, SCALE_INPUTS, SCALE_AND_ZERO } scaling;

/* Weights whose sums are about as large as their inputs. */
static sk_value weights(sk_builder *b, random_source *r, const sk_shape *shape, int axis)
{
    const int64_t count = sk_shape_count(shape), outputs = shape->dim[axis];
    int8_t *w = malloc((size_t)count);
    float *scales = malloc((size_t)outputs * sizeof *scales);
    for (int64_t i = 0; i < count; i++)
        w[i] = every_weight ? every_weight : (int8_t)(random_next(r) % 255 - 127);
    for (int64_t i = 0; i < outputs; i++)
        scales[i] = (1.0f + random_unit(r)) * 0.012f / sqrtf((float)(count / outputs));
    const sk_shape list = sk_shape_of(1, outputs), one = {.rank = 0};
    const bool alone = scaling == SCALE_ONE || scaling == SCALE_AND_ZERO;
    const sk_attrs a = {.quantise.axis = scaling == SCALE_INPUTS ? 1 - axis : axis};
    const int8_t zero = 9;
    sk_value v = sk_b_node(b, SK_OP_DEQUANTIZE, &a,
                           (sk_value[]){sk_b_constant(b, "w", SK_DTYPE_I8, shape, w),
                                        sk_b_constant(b, "s", SK_DTYPE_F32, alone ? &one : &list, scales),
                                        sk_b_constant(b, "z", SK_DTYPE_I8, &one, &zero)},
                           scaling == SCALE_AND_ZERO ? 3 : 2, "w");
    free(w);
    free(scales);
    return v;
}

static sk_value biases(sk_builder *b, random_source *r, int64_t count)
{
    float *data = malloc((size_t)count * sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = random_unit(r) - 0.5f;
    const sk_shape shape = sk_shape_of(1, count);
    sk_value v = sk_b_constant(b, "b", SK_DTYPE_F32, &shape, data);
    free(data);
    return v;
}

typedef struct layer {
    int64_t cin, cout;
    int kernel, stride, dilation, groups, act;
} layer;

static sk_value convolve(sk_builder *b, random_source *r, sk_value x, layer l)
{
    const int pad = l.kernel / 2 * l.dilation;
    const sk_window window = {.kernel = {l.kernel, l.kernel},
                              .stride = {l.stride, l.stride},
                              .dilation = {l.dilation, l.dilation},
                              .pad = {pad, pad, pad, pad}};
    const sk_shape shape = sk_shape_of(4, l.cout, l.cin / l.groups, l.kernel, l.kernel);
    sk_value w = weights(b, r, &shape, 0);
    sk_value y = sk_b_conv(b, x, w, biases(b, r, l.cout), &window, l.groups, "conv");
    return l.act ? sk_b_unary(b, (sk_unary)l.act, y) : y;
}

static sk_value transpose_conv(sk_builder *b, random_source *r, sk_value x, int64_t cin, int64_t cout,
                               int dilation)
{
    sk_attrs a = {0};
    a.conv_transpose.window = (sk_window){
        .kernel = {3, 3}, .stride = {2, 2}, .dilation = {dilation, dilation}, .pad = {1, 1, 0, 0}};
    a.conv_transpose.groups = 1;
    const sk_shape shape = sk_shape_of(4, cin, cout, 3, 3);
    return sk_b_node(b, SK_OP_CONV_TRANSPOSE, &a,
                     (sk_value[]){x, weights(b, r, &shape, 1), biases(b, r, cout)}, 3, "up");
}

static sk_graph *begin(sk_builder *b)
{
    sk_error err;
    sk_graph *g = NULL;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(b, g);
    return g;
}

static float *random_values(const sk_shape *shape, uint64_t seed)
{
    random_source r = {seed};
    const int64_t count = sk_shape_count(shape);
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = 4.0f * random_unit(&r) - 1.0f;
    return x;
}

/* Largest difference of the first output between the reference and the engine in eight bits. */
static double difference(const sk_graph *g, const sk_shape *shape, const char *options, uint64_t seed,
                         double *correlation)
{
    sk_error err = {0};
    float *x = random_values(shape, seed);
    sk_session *ref = open_on("reference", g, shape, settings_of(SK_PRECISION_AUTO, 1, "")),
               *cpu = open_on("cpu", g, shape, settings_of(SK_PRECISION_I8, 2, options));
    sk_tensor want[SK_SESSION_MAX_OUTPUTS], got[SK_SESSION_MAX_OUTPUTS];
    const sk_session_input in = {.data = x};
    assert_ok(sk_session_run(ref, &in, 1, want, SK_SESSION_MAX_OUTPUTS, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(sk_session_run(cpu, &in, 1, got, SK_SESSION_MAX_OUTPUTS, &err), &err);
    double worst = 0, ab = 0, aa = 0, bb = 0;
    const size_t count = sk_tensor_bytes(&want[0]) / sizeof(float);
    for (size_t i = 0; i < count; i++) {
        const double a = ((const float *)want[0].data)[i], c = ((const float *)got[0].data)[i];
        worst = fabs(a - c) > worst ? fabs(a - c) : worst;
        ab += a * c;
        aa += a * a;
        bb += c * c;
    }
    if (correlation)
        *correlation = ab / sqrt(aa * bb);
    sk_session_close(&ref);
    sk_session_close(&cpu);
    free(x);
    return worst;
}

/* One convolution between bytes: as the reference gives it, up to one step. */
static void one_layer_is_the_references(void **state)
{
    (void)state;
    static const int acts[] = {
        0, SK_UNARY_SILU, SK_UNARY_RELU, SK_UNARY_RELU6, SK_UNARY_GELU, SK_UNARY_HARD_SWISH};
    static const int zeros[] = {0, 40, 128, 255};
    for (uint64_t seed = 0; seed < 120; seed++) {
        random_source r = {seed};
        sk_builder b;
        sk_graph *g = begin(&b);
        layer l = {.cin = 1 + random_next(&r) % 40,
                   .cout = 1 + random_next(&r) % 70,
                   .kernel = 1 + 2 * (int)(random_next(&r) % 2),
                   .stride = 1 + (int)(random_next(&r) % 2),
                   .dilation = 1 + (int)(random_next(&r) % 2),
                   .groups = 1,
                   .act = acts[random_next(&r) % 6]};
        const bool depthwise = seed % 4 == 1, transposed = seed % 8 == 3, bare = seed % 8 == 5;
        if (depthwise)
            l.groups = (int)(l.cout = l.cin);
        const sk_dtype dtype = random_next(&r) % 4 ? SK_DTYPE_U8 : SK_DTYPE_I8;
        const sk_shape shape = sk_shape_of(4, 1 + random_next(&r) % 2, l.cin, 5 + random_next(&r) % 12,
                                           5 + random_next(&r) % 90);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &shape);
        x = in_bytes(&b, x, step, zeros[random_next(&r) % 4], dtype);
        sk_value y = transposed ? transpose_conv(&b, &r, x, l.cin, l.cout, 1) : convolve(&b, &r, x, l);
        if (!transposed && l.stride == 1 && l.cin == l.cout && random_next(&r) % 2)
            y = sk_b_add(&b, y, x);
        if (!bare)
            y = in_bytes(&b, y, step, zeros[random_next(&r) % 3], SK_DTYPE_U8);
        sk_b_output(&b, y, "y");
        assert_ok(b.status, &b.error);
        const double d = difference(g, &shape, "tune=off", seed + 7, NULL);
        if (!(d < (bare ? 1e-4 : 1.01 * (double)step)))
            fail_msg("seed %d: %g steps away", (int)seed, d / (double)step);
        sk_graph_close(&g);
    }
}

/* A convolution that none of our kernels knows, and scales that take every sum out of 16 bits: still the reference's. */
static void odd_ones_are_the_references(void **state)
{
    (void)state;
    for (int huge = 0; huge < 2; huge++) {
        random_source r = {3};
        sk_builder b;
        sk_graph *g = begin(&b);
        const sk_shape shape = sk_shape_of(4, 1, 5, 9, 11);
        const float out = huge ? 1e-9f : step;
        sk_value x = in_bytes(&b, sk_b_input(&b, "x", SK_DTYPE_F32, &shape), step, 128, SK_DTYPE_U8);
        sk_value y = huge ? convolve(&b, &r, x, (layer){5, 6, 3, 1, 1, 1, SK_UNARY_RELU})
                          : transpose_conv(&b, &r, x, 5, 6, 2);
        sk_b_output(&b, in_bytes(&b, y, out, 3, SK_DTYPE_U8), "y");
        assert_ok(b.status, &b.error);
        const double d = difference(g, &shape, "tune=off", 11, NULL);
        if (!(d < 1.01 * (double)out))
            fail_msg("%s: %g steps away", huge ? "huge" : "transposed", d / (double)out);
        sk_graph_close(&g);
    }
}

/* Weights with one scale for all, a scale for each input, or a zero that is not 0. */
static void weights_by_other_scales(void **state)
{
    (void)state;
    for (int form = SCALE_EACH; form <= SCALE_AND_ZERO; form++)
        for (int transposed = 0; transposed < 2; transposed++) {
            random_source r = {5};
            sk_builder b;
            sk_graph *g = begin(&b);
            const sk_shape shape = sk_shape_of(4, 1, 18, 9, 11);
            scaling = form;
            sk_value x = in_bytes(&b, sk_b_input(&b, "x", SK_DTYPE_F32, &shape), step, 128, SK_DTYPE_U8);
            sk_value y = transposed ? transpose_conv(&b, &r, x, 18, 18, 1)
                                    : convolve(&b, &r, x, (layer){18, 18, 3, 1, 1, 1, SK_UNARY_RELU});
            scaling = SCALE_EACH;
            sk_b_output(&b, in_bytes(&b, y, step, 3, SK_DTYPE_U8), "y");
            assert_ok(b.status, &b.error);
            const double d = difference(g, &shape, "tune=off", 11, NULL);
            if (!(d < 1.01 * (double)step))
                fail_msg("form %d, transposed %d: %g steps away", form, transposed, d / (double)step);
            sk_graph_close(&g);
        }
}

/* A small YOLO: pictures, halves, a residual, concatenations, pooling, upsampling, a depthwise branch, an f32 head. */
static sk_graph *network(uint64_t seed)
{
    random_source r = {seed};
    sk_builder b;
    sk_graph *g = begin(&b);
    const int silu = SK_UNARY_SILU;
    sk_value x = in_bytes(&b, sk_b_input(&b, "images", SK_DTYPE_F32, NULL), 1.0f / 255, 0, SK_DTYPE_U8);
    x = in_bytes(&b, convolve(&b, &r, x, (layer){3, 16, 3, 2, 1, 1, silu}), step, 10, SK_DTYPE_U8);
    x = in_bytes(&b, convolve(&b, &r, x, (layer){16, 36, 3, 2, 1, 1, silu}), step, 10, SK_DTYPE_U8);
    sk_value all =
        in_bytes(&b, convolve(&b, &r, x, (layer){36, 48, 1, 1, 1, 1, silu}), step, 10, SK_DTYPE_U8);
    sk_value half[2];
    sk_b_split(&b, all, 1, (int64_t[]){16, 32}, 2, half);
    sk_value m =
        in_bytes(&b, convolve(&b, &r, half[1], (layer){32, 16, 3, 1, 1, 1, silu}), step, 10, SK_DTYPE_U8);
    m = sk_b_add(&b, convolve(&b, &r, m, (layer){16, 32, 3, 1, 1, 1, silu}), half[1]);
    m = in_bytes(&b, m, step, 10, SK_DTYPE_U8);
    sk_value joined = sk_b_concat(&b, (sk_value[]){half[0], half[1], m}, 3, 1);
    joined = in_bytes(&b, joined, step, 10, SK_DTYPE_U8);
    sk_value p = sk_b_max_pool(&b, joined, 5, 1, 2, "pool");
    sk_value small = sk_b_max_pool(&b, p, 2, 2, 0, "half");
    sk_value up = sk_b_upsample_nearest(&b, small, 2.0f);
    sk_value deep = sk_b_concat(&b, (sk_value[]){p, up}, 2, 1);
    sk_value y =
        in_bytes(&b, convolve(&b, &r, deep, (layer){160, 51, 1, 1, 1, 1, silu}), step, 10, SK_DTYPE_U8);
    y = in_bytes(&b, convolve(&b, &r, y, (layer){51, 51, 3, 1, 1, 51, silu}), step, 10, SK_DTYPE_U8);
    sk_value raised =
        in_bytes(&b, sk_b_unary(&b, SK_UNARY_TANH, y), 0.01f, 120, SK_DTYPE_U8); /* f32 in between */
    y = in_bytes(&b, sk_b_add(&b, y, raised), step, 30, SK_DTYPE_U8);
    sk_b_output(&b, convolve(&b, &r, y, (layer){51, 20, 1, 1, 1, 1, 0}), "head");
    sk_b_output(&b, convolve(&b, &r, y, (layer){51, 16, 3, 1, 1, 1, silu}), "not in bytes");
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_SIGMOID, convolve(&b, &r, y, (layer){51, 1, 1, 1, 1, 1, 0})),
                "score");
    assert_ok(b.status, &b.error);
    return g;
}

static const sk_shape net_shape = {.rank = 4, .dim = {2, 3, 64, 96}};

static void a_network_is_the_references(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        sk_graph *g = network(seed);
        double correlation;
        difference(g, &net_shape, "tune=off", seed, &correlation);
        if (!(correlation > 0.9985))
            fail_msg("correlation %g", correlation);
        sk_session *s = open_on("cpu", g, &net_shape, settings_of(SK_PRECISION_I8, 1, "tune=off"));
        assert_string_equal(sk_session_about(s)->elsewhere, ""); /* nothing by the reference executor */
        assert_non_null(
            strstr(sk_session_about(s)->detail, "0 by winograd")); /* every convolution reads bytes */
        sk_session_close(&s);
        sk_graph_close(&g);
    }
}

static void *run_bytes(const sk_graph *g, sk_session_settings s, const void *x, size_t *bytes)
{
    sk_error err = {0};
    sk_tensor out[SK_SESSION_MAX_OUTPUTS];
    sk_session *session = open_on("cpu", g, &net_shape, s);
    const sk_session_input in = {.data = x};
    assert_ok(sk_session_run(session, &in, 1, out, SK_SESSION_MAX_OUTPUTS, &err), &err);
    const uint64_t before = sk_memory_allocations();
    assert_ok(sk_session_run(session, &in, 1, out, SK_SESSION_MAX_OUTPUTS, &err), &err);
    assert_int_equal(sk_memory_allocations() - before, 0);
    *bytes = sk_tensor_bytes(&out[0]);
    void *copy = malloc(*bytes);
    memcpy(copy, out[0].data, *bytes);
    sk_session_close(&session);
    return copy;
}

/* Threads, tuning and instruction sets change no bit. */
static void bits_are_the_same(void **state)
{
    (void)state;
    static const char *const options[] = {"tune=off", "tune=on", "tune=off,mask=avx512vnni",
                                          "tune=off,mask=avx2", "tune=off,mask=none"};
    sk_graph *g = network(5);
    float *x = random_values(&net_shape, 5);
    size_t bytes, others;
    void *want = run_bytes(g, settings_of(SK_PRECISION_I8, 1, "tune=off"), x, &bytes);
    for (int threads = 1; threads < 5; threads++)
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
            if (i > 1 && threads != 2)
                continue;
            void *got = run_bytes(g, settings_of(SK_PRECISION_I8, threads, options[i]), x, &others);
            assert_int_equal(bytes, others);
            if (memcmp(want, got, bytes) != 0)
                fail_msg("%d threads, %s: other bits", threads, options[i]);
            free(got);
        }
    free(want);
    free(x);
    sk_graph_close(&g);
}

/* Winograd on words gives the bytes of tap by tap; where sums may pass what words carry it is not taken: 160 channels of
 * weights that are all 127, of bytes that are all 255, make 46 million. */
static void winograd_is_tap_by_tap(void **state)
{
    (void)state;
    float *x = random_values(&net_shape, 4);
    for (int heavy = 0; heavy < 2; heavy++) {
        sk_builder b;
        random_source r = {77};
        sk_graph *g = begin(&b);
        const int64_t channels = heavy ? 160 : 75;
        every_weight = heavy ? 127 : 0;
        sk_value v = in_bytes(&b, sk_b_input(&b, "images", SK_DTYPE_F32, NULL), 1.0f / 255, 0, SK_DTYPE_U8);
        v = convolve(&b, &r, v, (layer){3, channels, 3, 2, 1, 1, SK_UNARY_RELU});
        v = in_bytes(&b, v, heavy ? 1e-4f : step, heavy ? 0 : 7, SK_DTYPE_U8);
        v = convolve(&b, &r, v, (layer){channels, 56, 3, 1, 1, 1, SK_UNARY_SILU});
        sk_b_output(&b, in_bytes(&b, v, step, 60, SK_DTYPE_U8), "y");
        every_weight = 0;
        assert_ok(b.status, &b.error);
        size_t bytes, others;
        void *want = run_bytes(g, settings_of(SK_PRECISION_I8, 1, "tune=off,winograd=off"), x, &bytes),
             *got = run_bytes(g, settings_of(SK_PRECISION_I8, 3, "tune=off"), x, &others);
        assert_int_equal(bytes, others);
        assert_memory_equal(want, got, bytes);
        free(want);
        free(got);
        sk_graph_close(&g);
    }
    free(x);
}

/* A picture's bytes are what the same numbers as a tensor are. */
static void pictures_are_tensors(void **state)
{
    (void)state;
    sk_graph *g = network(6);
    const int64_t *d = net_shape.dim;
    const size_t count = (size_t)sk_shape_count(&net_shape);
    uint8_t *picture = malloc(count);
    float *tensor = malloc(count * sizeof *tensor);
    random_source r = {9};
    for (int plain = 0; plain < 2; plain++) {
        sk_session_settings s = settings_of(SK_PRECISION_I8, 2, "tune=off");
        s.input = SK_INPUT_U8_HWC;
        s.scale = 1.0f / 255;
        for (int k = 0; k < 4; k++) { /* bytes as they are, or by a table */
            s.mean[k] = plain ? 0.0f : 0.1f * (float)k;
            s.std[k] = plain ? 1.0f : 0.9f;
        }
        for (size_t i = 0; i < count; i++)
            picture[i] = (uint8_t)random_next(&r);
        for (int64_t n = 0; n < d[0]; n++)
            for (int64_t c = 0; c < 3; c++)
                for (int64_t i = 0; i < d[2] * d[3]; i++)
                    tensor[(n * 3 + c) * d[2] * d[3] + i] =
                        (float)picture[(n * d[2] * d[3] + i) * 3 + c] * (s.scale / s.std[c]) -
                        s.mean[c] / s.std[c];
        size_t bytes, others;
        void *want = run_bytes(g, settings_of(SK_PRECISION_I8, 1, "tune=off"), tensor, &bytes);
        void *got = run_bytes(g, s, picture, &others);
        assert_memory_equal(want, got, bytes);
        free(want);
        free(got);
    }
    free(picture);
    free(tensor);
    sk_graph_close(&g);
}

/* Weights and activations in eight bits are less than in f32, and f32 of the same file is still to be had. */
static void less_memory(void **state)
{
    (void)state;
    sk_graph *g = network(7);
    sk_session *i8 = open_on("cpu", g, &net_shape, settings_of(SK_PRECISION_I8, 2, "tune=off")),
               *f32 = open_on("cpu", g, &net_shape, settings_of(SK_PRECISION_F32, 2, "tune=off"));
    const sk_session_info *a = sk_session_about(i8), *b = sk_session_about(f32);
    assert_true(a->weight_bytes * 2 < b->weight_bytes);
    assert_true(a->activation_bytes < b->activation_bytes);
    sk_session_close(&i8);
    sk_session_close(&f32);
    sk_graph_close(&g);
}

/* Opening survives every failed allocation. */
static sk_status open_once(void *context, sk_error *err)
{
    const sk_graph *g = context;
    const sk_shape shape = sk_shape_of(4, 1, 5, 6, 7);
    const sk_session_settings s = settings_of(SK_PRECISION_I8, 1, "tune=off");
    sk_session *session = NULL;
    sk_status status = sk_session_open(sk_engine_find("cpu"), g, &shape, 1, &s, &session, err);
    sk_session_close(&session);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    random_source r = {1};
    sk_builder b;
    sk_graph *g = begin(&b);
    sk_value x = in_bytes(&b, sk_b_input(&b, "x", SK_DTYPE_F32, NULL), step, 9, SK_DTYPE_U8);
    x = in_bytes(&b, convolve(&b, &r, x, (layer){5, 18, 3, 1, 1, 1, SK_UNARY_SILU}), step, 9, SK_DTYPE_U8);
    sk_b_output(&b,
                convolve(&b, &r, sk_b_concat(&b, (sk_value[]){x, x}, 2, 1),
                         (layer){36, 3, 1, 1, 1, 1, SK_UNARY_TANH}),
                "y");
    assert_ok(b.status, &b.error);
    test_every_allocation(open_once, g);
    sk_graph_close(&g);
}

static void a_model_that_is_not_quantised_is_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_builder b;
    sk_graph *g = begin(&b);
    const sk_shape shape = sk_shape_of(4, 1, 3, 8, 8);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_RELU, sk_b_input(&b, "x", SK_DTYPE_F32, &shape)), "y");
    sk_session *session = NULL;
    const sk_session_settings s = settings_of(SK_PRECISION_I8, 1, "");
    assert_int_equal(sk_session_open(sk_engine_find("cpu"), g, &shape, 1, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "skitter quantize"));
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_layer_is_the_references),
        cmocka_unit_test(odd_ones_are_the_references),
        cmocka_unit_test(weights_by_other_scales),
        cmocka_unit_test(a_network_is_the_references),
        cmocka_unit_test(bits_are_the_same),
        cmocka_unit_test(winograd_is_tap_by_tap),
        cmocka_unit_test(pictures_are_tensors),
        cmocka_unit_test(less_memory),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(a_model_that_is_not_quantised_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
