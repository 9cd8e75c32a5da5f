/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays through a network: pictures and floats are one and the same, a batch is its pictures one by one, and outputs lie as the model's
 * own program has them. */
#include "runner/runner_fixture.h"

#include "app/network.h"
#include "base/memory.h"
#include "graph/builder.h"
#include "runner/network.h"

#include <math.h>

static sk_error err;
static const sk_engine *engine;
static sk_session_settings settings;

typedef struct outputs {
    sk_tensor items[SK_SESSION_MAX_OUTPUTS];
    int32_t count;
} outputs;

static outputs run(const sk_model *model, sk_dtype type, const void *data, sk_shape shape)
{
    outputs o;
    const sk_tensor array = {.dtype = type, .shape = shape, .data = (void *)(uintptr_t)data};
    assert_ok(sk_net_run_array(model, engine, &array, &settings, o.items, &o.count, &err), &err);
    assert_true(o.count >= 1);
    return o;
}

static void free_outputs(outputs *o)
{
    for (int32_t i = 0; i < o->count; i++)
        sk_free(o->items[i].data);
}

static bool near(const sk_tensor *a, const sk_tensor *b, size_t from_a, size_t from_b, size_t n)
{
    const float *x = a->data, *y = b->data;
    for (size_t i = 0; i < n; i++)
        if (fabsf(x[from_a + i] - y[from_b + i]) > 1e-4F * (1 + fabsf(x[from_a + i])))
            return false;
    return true;
}

#define SIDE  32
#define HIGH  32
#define WIDE  64
#define BYTES (HIGH * WIDE * 3)

static void pictures_and_floats(void **state)
{
    (void)state;
    sk_model *model = tiny_model();
    static uint8_t two[2 * BYTES];
    static float nchw[2 * BYTES];
    static double wide[BYTES];
    uint32_t noise = 3;
    for (int i = 0; i < 2 * BYTES; i++) {
        noise = noise * 1664525u + 1013904223u;
        two[i] = (uint8_t)(noise >> 24);
    }
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < HIGH * WIDE; i++)
                nchw[(n * 3 + c) * HIGH * WIDE + i] = (float)two[(n * HIGH * WIDE + i) * 3 + c] / 255;
    outputs batch =
        run(model, SK_DTYPE_U8, two, sk_shape_of(4, (int64_t)2, (int64_t)HIGH, (int64_t)WIDE, (int64_t)3));
    outputs floats =
        run(model, SK_DTYPE_F32, nchw, sk_shape_of(4, (int64_t)2, (int64_t)3, (int64_t)HIGH, (int64_t)WIDE));
    outputs one =
        run(model, SK_DTYPE_U8, two + BYTES, sk_shape_of(3, (int64_t)HIGH, (int64_t)WIDE, (int64_t)3));
    for (int i = 0; i < BYTES; i++)
        wide[i] = (double)nchw[i];
    outputs single = run(model, SK_DTYPE_F64, wide, sk_shape_of(3, (int64_t)3, (int64_t)HIGH, (int64_t)WIDE));
    assert_true(batch.count == floats.count && batch.count == one.count && batch.count == single.count);
    for (int32_t i = 0; i < batch.count; i++) {
        const size_t n = (size_t)sk_shape_count(&one.items[i].shape);
        assert_true(n > 10 && one.items[i].shape.dim[0] == 1 && batch.items[i].shape.dim[0] == 2);
        assert_int_equal(sk_shape_count(&batch.items[i].shape), 2 * n);
        assert_true(near(&batch.items[i], &floats.items[i], 0, 0, 2 * n));
        assert_true(near(&batch.items[i], &one.items[i], n, 0, n));
        assert_true(near(&batch.items[i], &single.items[i], 0, 0, n));
        assert_true(single.items[i].shape.dim[0] == 1 &&
                    sk_shape_equal(&single.items[i].shape, &one.items[i].shape));
        assert_false(near(&batch.items[i], &one.items[i], 0, 0, n)); /* the two differ */
    }
    free_outputs(&batch);
    free_outputs(&floats);
    free_outputs(&single);
    free_outputs(&one);
    sk_model_close(&model);
}

/* A graph that gives back what it is given: channels last where the model's own program has them last. */
static void where_channels_lie(void **state)
{
    (void)state;
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, (int64_t)2, (int64_t)3, (int64_t)4, (int64_t)5);
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_RELU, sk_b_input(&b, "in", SK_DTYPE_F32, &shape)), "out");
    assert_ok(b.status, &b.error);
    sk_model model = {
        .graph = g, .path = "made.onnx", .content_hash = "", .input = {.channels = 3, .scale = 1}};
    float values[2 * 3 * 4 * 5];
    for (int i = 0; i < 120; i++)
        values[i] = (float)i;
    outputs first = run(&model, SK_DTYPE_F32, values, shape);
    assert_memory_equal(first.items[0].data, values, sizeof values);
    assert_int_equal(first.items[0].shape.dim[1], 3);
    model.outputs_nhwc = true;
    outputs last = run(&model, SK_DTYPE_F32, values, shape);
    const int64_t *d = last.items[0].shape.dim;
    assert_true(last.items[0].shape.rank == 4 && d[0] == 2 && d[1] == 4 && d[2] == 5 && d[3] == 3);
    const float *x = last.items[0].data;
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 20; i++)
            for (int c = 0; c < 3; c++)
                assert_true(x[(n * 20 + i) * 3 + c] == values[(n * 3 + c) * 20 + i]);
    free_outputs(&first);
    free_outputs(&last);
    sk_graph_close(&g);
}

/* Networks that want other numbers than floats: pictures come to them channel by channel, bytes as they are, halves scaled. */
static void numbers_that_a_network_wants(void **state)
{
    (void)state;
    enum { HERE = 2 * 4 * 5 * 3 };
    static const sk_dtype types[] = {SK_DTYPE_U8, SK_DTYPE_F16};
    const sk_shape shape = sk_shape_of(4, (int64_t)2, (int64_t)3, (int64_t)4, (int64_t)5);
    uint8_t pictures[HERE];
    for (int i = 0; i < HERE; i++)
        pictures[i] = (uint8_t)(7 * i + 1);
    for (int k = 0; k < 2; k++) {
        sk_graph *g = NULL;
        sk_builder b;
        assert_ok(sk_graph_open(&g, &err), &err);
        sk_builder_init(&b, g);
        const sk_attrs cast = {.cast = {.to = SK_DTYPE_F32}};
        const sk_value in = sk_b_input(&b, "in", types[k], &shape);
        sk_b_output(&b, sk_b_node(&b, SK_OP_CAST, &cast, &in, 1, NULL), "out");
        assert_ok(b.status, &b.error);
        sk_model model = {.graph = g,
                          .path = "made.onnx",
                          .content_hash = "",
                          .input = {.channels = 3, .scale = 1.0F / 255, .dtype = types[k]}};
        outputs o = run(&model, SK_DTYPE_U8, pictures,
                        sk_shape_of(4, (int64_t)2, (int64_t)4, (int64_t)5, (int64_t)3));
        const float *x = o.items[0].data;
        for (int n = 0; n < 2; n++)
            for (int c = 0; c < 3; c++)
                for (int i = 0; i < 20; i++) {
                    const float pixel = pictures[(n * 20 + i) * 3 + c];
                    assert_true(fabsf(x[(n * 3 + c) * 20 + i] - (k ? pixel / 255 : pixel)) < 1e-3F);
                }
        free_outputs(&o);
        sk_graph_close(&g);
    }
}

/* A network whose first output is what it is given, and whose second is its negative. */
static sk_graph *echo(sk_dtype type, const sk_shape *shape)
{
    sk_graph *g = NULL;
    sk_builder b;
    const sk_attrs cast = {.cast = {.to = SK_DTYPE_F32}};
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_value in = sk_b_input(&b, "in", type, shape);
    const sk_value wide = sk_b_node(&b, SK_OP_CAST, &cast, &in, 1, NULL);
    sk_b_output(&b, wide, "same");
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, wide), "other");
    assert_ok(b.status, &b.error);
    return g;
}

/* A picture of one channel has two sizes, the rows first; numbers are made of pixels as the model's own program makes them. */
static void grey_pictures(void **state)
{
    (void)state;
    enum { ROWS = 4, COLUMNS = 6 };
    const sk_shape shape = sk_shape_of(4, (int64_t)1, (int64_t)1, (int64_t)ROWS, (int64_t)COLUMNS);
    sk_graph *g = echo(SK_DTYPE_F32, &shape);
    sk_model model = {
        .graph = g,
        .path = "made.onnx",
        .content_hash = "",
        .input = {.channels = 1, .scale = 1.0F / 128, .mean = {0.5F, 0, 0}, .std = {0.25F, 0, 0}}};
    uint8_t pixels[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        pixels[i] = (uint8_t)(10 * i);
    outputs o = run(&model, SK_DTYPE_U8, pixels, sk_shape_of(2, (int64_t)ROWS, (int64_t)COLUMNS));
    assert_int_equal(o.count, 2);
    for (int k = 0; k < 2; k++) {
        const int64_t *d = o.items[k].shape.dim;
        const float *x = o.items[k].data;
        assert_true(o.items[k].shape.rank == 4 && d[0] == 1 && d[1] == 1 && d[2] == ROWS && d[3] == COLUMNS);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            assert_true(fabsf(x[i] - (k ? -1 : 1) * (10 * (float)i / 128 - 0.5F) / 0.25F) < 1e-5F);
    }
    free_outputs(&o);
    outputs none;
    const sk_tensor colours = {
        .dtype = SK_DTYPE_U8, .shape = sk_shape_of(3, (int64_t)2, (int64_t)4, (int64_t)3), .data = pixels};
    assert_int_equal(sk_net_run_array(&model, engine, &colours, &settings, none.items, &none.count, &err),
                     SK_ERR_MISMATCH);
    assert_string_equal(err.message, "made.onnx: wants 1 channel, the input of shape 2x4x3 has 3 (uint8 "
                                     "arrays are height x width x channels)");
    sk_graph_close(&g);
}

/* --- memory --- */

static int of_floats; /* how often the 2 x 3 x 4 x 6 floats could not be had */

static sk_status of_halves(void *context, sk_error *why)
{
    static uint8_t pixels[2 * 4 * 6 * 3];
    const sk_tensor array = {.dtype = SK_DTYPE_U8,
                             .shape = sk_shape_of(4, (int64_t)2, (int64_t)4, (int64_t)6, (int64_t)3),
                             .data = pixels};
    outputs o = {.count = -1};
    const sk_status status = sk_net_run_array(context, engine, &array, &settings, o.items, &o.count, why);
    if (o.count != (status == SK_OK ? 2 : 0))
        return SK_ERR_INTERNAL;
    of_floats += strstr(why->message, ": 576 bytes could not be") != NULL;
    free_outputs(&o);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    const sk_shape shape = sk_shape_of(4, (int64_t)2, (int64_t)3, (int64_t)4, (int64_t)6);
    sk_graph *g = echo(SK_DTYPE_F16, &shape);
    sk_model model = {.graph = g,
                      .path = "made.onnx",
                      .content_hash = "",
                      .input = {.channels = 3, .scale = 1, .dtype = SK_DTYPE_F16}};
    assert_true(test_every_allocation(of_halves, &model) >= 8);
    assert_int_equal(of_floats, 3); /* on the way to halves, and of either output */
    sk_graph_close(&g);
}

static void refused(const sk_model *model, sk_dtype type, sk_shape shape, const char *words)
{
    static uint8_t nothing[8 * 4096];
    outputs o;
    const sk_tensor array = {.dtype = type, .shape = shape, .data = nothing};
    assert_int_equal(sk_net_run_array(model, engine, &array, &settings, o.items, &o.count, &err),
                     SK_ERR_MISMATCH);
    assert_int_equal(o.count, 0);
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in '%s'", words, err.message);
}

static void shapes_that_do_not_fit(void **state)
{
    (void)state;
    sk_model *model = tiny_model();
    refused(model, SK_DTYPE_U8, sk_shape_of(2, (int64_t)SIDE, (int64_t)SIDE),
            "wants 3 channels, the input of shape 32x32 has 1 (uint8 arrays are height x width x channels)");
    refused(model, SK_DTYPE_U8, sk_shape_of(3, (int64_t)3, (int64_t)SIDE, (int64_t)SIDE),
            "has 32 (uint8 arrays");
    refused(model, SK_DTYPE_F32, sk_shape_of(3, (int64_t)SIDE, (int64_t)SIDE, (int64_t)3),
            "has 32 (float arrays are batch x channels x height x width)");
    refused(model, SK_DTYPE_F32, sk_shape_of(2, (int64_t)SIDE, (int64_t)SIDE),
            "give uint8 pictures as height x width x channels");
    refused(model, SK_DTYPE_U8, sk_shape_of(1, (int64_t)SIDE), "an input of type");
    refused(model, SK_DTYPE_I64, sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)8, (int64_t)8),
            "an input of type");
    sk_model_close(&model);
}

int main(void)
{
    if (sk_net_engine("cpu", &engine, &err) != SK_OK)
        return 1;
    settings = sk_session_defaults();
    settings.threads = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_and_floats),
        cmocka_unit_test(where_channels_lie),
        cmocka_unit_test(numbers_that_a_network_wants),
        cmocka_unit_test(grey_pictures),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(shapes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
