/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph can say and ONNX cannot, in the words it is refused with; and what only later operator sets can. What is written
 * computes the same when it is read again. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/reference.h"
#include "models/onnx_exporter.h"
#include "models/onnx_import.h"

#include <math.h>
#include <string.h>

static const sk_shape picture = {.rank = 4, .dim = {1, 4, 6, 8}};

typedef struct unwritten {
    const char *name;
    sk_value (*build)(sk_builder *b, sk_value x);
    int opset; /* that it is tried with */
    bool half;
    const char *part; /* null: can be written, and gives the same */
} unwritten;

static sk_value constant(sk_builder *b, int64_t count, float first)
{
    float data[8];
    for (int i = 0; i < 8; i++)
        data[i] = first + (float)i * 0.25f;
    return sk_b_constant(b, "c", SK_DTYPE_F32, &(sk_shape){.rank = 1, .dim = {count}}, data);
}

static sk_value average(sk_builder *b, sk_value x, int rows, int columns)
{
    const sk_attrs a = {.pool.window = {.kernel = {2, 2}, .stride = {1, 1}, .dilation = {rows, columns}}};
    return sk_b_node(b, SK_OP_AVG_POOL, &a, &x, 1, "average");
}

static sk_value average_of_far_rows(sk_builder *b, sk_value x)
{
    return average(b, x, 2, 1);
}

static sk_value average_of_far_columns(sk_builder *b, sk_value x)
{
    return average(b, x, 1, 2);
}

static sk_value average_of_neighbours(sk_builder *b, sk_value x)
{
    return average(b, x, 1, 1);
}

static sk_value most_of_far_ones(sk_builder *b, sk_value x)
{
    const sk_attrs a = {.pool.window = {.kernel = {2, 2}, .stride = {1, 1}, .dilation = {2, 3}}};
    return sk_b_node(b, SK_OP_MAX_POOL, &a, &x, 1, "most");
}

static sk_value resized(sk_builder *b, sk_value x, sk_resize_mode mode, bool smooth, bool inside)
{
    const sk_attrs a = {.resize = {.mode = mode,
                                   .coords = SK_COORDS_HALF_PIXEL,
                                   .round = SK_ROUND_FLOOR,
                                   .cubic_a = -0.5f,
                                   .antialias = smooth,
                                   .exclude_outside = inside,
                                   .scale = {0.5f, 0.5f}}};
    return sk_b_node(b, SK_OP_RESIZE, &a, &x, 1, "resize");
}

static sk_value smooth(sk_builder *b, sk_value x)
{
    return resized(b, x, SK_RESIZE_LINEAR, true, false);
}

static sk_value cubic_inside(sk_builder *b, sk_value x)
{
    return resized(b, x, SK_RESIZE_CUBIC, false, true);
}

static sk_value cubic_smooth_inside(sk_builder *b, sk_value x)
{
    return resized(b, x, SK_RESIZE_CUBIC, true, true);
}

static sk_value columns_first(sk_builder *b, sk_value x)
{
    const sk_attrs a = {.blocks = {.block = 2, .crd = 1}};
    return sk_b_node(b, SK_OP_SPACE_TO_DEPTH, &a, &x, 1, "blocks");
}

static sk_value to_space_columns_first(sk_builder *b, sk_value x)
{
    const sk_attrs a = {.blocks = {.block = 2, .crd = 1}};
    return sk_b_node(b, SK_OP_DEPTH_TO_SPACE, &a, &x, 1, "blocks");
}

static sk_value instance(sk_builder *b, sk_value x, bool scale, bool shift)
{
    const sk_attrs a = {.norm.epsilon = 0.125f};
    const sk_value in[3] = {x, scale ? constant(b, 4, 1) : SK_VALUE_NONE,
                            shift ? constant(b, 4, 2) : SK_VALUE_NONE};
    return sk_b_node(b, SK_OP_INSTANCE_NORM, &a, in, shift ? 3 : scale ? 2 : 1, "norm");
}

static sk_value instance_alone(sk_builder *b, sk_value x)
{
    return instance(b, x, false, false);
}

static sk_value instance_scaled(sk_builder *b, sk_value x)
{
    return instance(b, x, true, false);
}

static sk_value instance_whole(sk_builder *b, sk_value x)
{
    return instance(b, x, true, true);
}

static sk_value layer(sk_builder *b, sk_value x, bool scale, bool shift)
{
    const sk_attrs a = {.norm = {.axis = -1, .epsilon = 0.125f}};
    const sk_value in[3] = {x, scale ? constant(b, 8, 1) : SK_VALUE_NONE,
                            shift ? constant(b, 8, 2) : SK_VALUE_NONE};
    return sk_b_node(b, SK_OP_LAYER_NORM, &a, in, shift ? 3 : scale ? 2 : 1, "norm");
}

static sk_value layer_alone(sk_builder *b, sk_value x)
{
    return layer(b, x, false, false);
}

static sk_value layer_scaled(sk_builder *b, sk_value x)
{
    return layer(b, x, true, false);
}

static sk_value layer_shifted(sk_builder *b, sk_value x)
{
    return layer(b, x, false, true);
}

static sk_value layer_whole(sk_builder *b, sk_value x)
{
    return layer(b, x, true, true);
}

static sk_value clip(sk_builder *b, sk_value x, double low, double high)
{
    const sk_attrs a = {.clip = {.low = low, .high = high}};
    return sk_b_node(b, SK_OP_CLIP, &a, &x, 1, "clip");
}

static sk_value from_below(sk_builder *b, sk_value x)
{
    return clip(b, x, -0.25, INFINITY);
}

static sk_value from_above(sk_builder *b, sk_value x)
{
    return clip(b, x, -INFINITY, 0.25);
}

static sk_value from_both(sk_builder *b, sk_value x)
{
    return clip(b, x, -0.25, 0.25);
}

static sk_value in_eight_bits(sk_builder *b, sk_value x)
{
    const sk_attrs a = {.quantise.axis = 1};
    const sk_value scale = sk_b_f32(b, 0.125f),
                   zero = sk_b_constant(b, "", SK_DTYPE_U8, &(sk_shape){0}, "\x80");
    x = sk_b_node(b, SK_OP_QUANTIZE, &a, (sk_value[]){x, scale, zero}, 3, "q");
    return sk_b_node(b, SK_OP_DEQUANTIZE, &a, (sk_value[]){x, scale, zero}, 3, "dq");
}

static sk_value conv_without_sizes(sk_builder *b, sk_value x)
{
    static const float w[2 * 4 * 3 * 3] = {1, -1, 0.5f, 2, 0.25f, -0.75f, 1.5f};
    const sk_shape shape = {.rank = 4, .dim = {2, 4, 3, 3}};
    const sk_window window = {.stride = {1, 2}, .dilation = {2, 1}, .pad = {1, 0, 2, 1}};
    return sk_b_conv(b, x, sk_b_constant(b, "w", SK_DTYPE_F32, &shape, w), SK_VALUE_NONE, &window, 1, "conv");
}

static const unwritten all[] = {
    {"average of far rows", average_of_far_rows, 17, false,
     "averages with dilation have no form in opset 17"},
    {"average of far columns", average_of_far_columns, 17, false,
     "averages with dilation have no form in opset 17"},
    {"average of neighbours", average_of_neighbours, 17, false, NULL},
    {"most of far ones", most_of_far_ones, 17, false, NULL},
    {"smooth", smooth, 17, false, "resizing with antialias needs opset 18, not 17"},
    {"smooth", smooth, 18, false, NULL},
    {"cubic, inside", cubic_inside, 17, false, NULL},
    {"cubic, smooth, inside", cubic_smooth_inside, 18, false, NULL},
    {"columns first", columns_first, 17, false, "column-row-depth order has no form in ONNX"},
    {"to space, columns first", to_space_columns_first, 17, false, NULL},
    {"instance norm alone", instance_alone, 17, false, NULL},
    {"instance norm scaled", instance_scaled, 17, false, "needs both a scale and a shift"},
    {"instance norm", instance_whole, 17, false, NULL},
    {"layer norm alone", layer_alone, 17, false, NULL},
    {"layer norm scaled", layer_scaled, 16, false, NULL},
    {"layer norm scaled", layer_scaled, 17, false, NULL},
    {"layer norm shifted", layer_shifted, 17, false, NULL},
    {"layer norm", layer_whole, 16, false, NULL},
    {"layer norm", layer_whole, 17, false, NULL},
    {"from below", from_below, 17, false, NULL},
    {"from above", from_above, 17, false, NULL},
    {"from both", from_both, 17, false, NULL},
    {"in eight bits", in_eight_bits, 17, false, NULL},
    {"in eight bits", in_eight_bits, 17, true,
     "a network in eight bits cannot be written in float16 as well"},
    {"convolution without sizes", conv_without_sizes, 17, false, NULL},
};

static void run(const sk_graph *graph, sk_tensor *out)
{
    static float data[4 * 6 * 8];
    sk_error err = {0};
    sk_graph *fixed = NULL;
    for (int i = 0; i < 4 * 6 * 8; i++)
        data[i] = (float)(i * 37 % 101) / 50 - 1;
    const sk_tensor in = {SK_DTYPE_F32, picture, data};
    assert_ok(sk_graph_specialise(graph, &picture, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, out, 1, &err), &err);
    sk_graph_close(&fixed);
}

static void same_when_read_again(const unwritten *u, const sk_graph *graph, sk_onnx_model *onnx)
{
    sk_error err = {0};
    sk_graph *again = NULL;
    sk_tensor ours, theirs;
    sk_onnx_value input = {"x", SK_DTYPE_F32, picture, {"", "", "", ""}};
    sk_onnx_value output = {.name = "y", .dtype = SK_DTYPE_F32, .shape = {.rank = -1}};
    sk_onnx_opset set = {"", u->opset};
    onnx->ir_version = 8;
    onnx->opsets = &set;
    onnx->n_opsets = 1;
    onnx->graph.inputs = &input;
    onnx->graph.outputs = &output;
    onnx->graph.n_inputs = onnx->graph.n_outputs = 1;
    assert_ok(sk_onnx_import(onnx, "again.onnx", &again, &err), &err);
    run(graph, &ours);
    run(again, &theirs);
    if (!sk_shape_equal(&ours.shape, &theirs.shape))
        fail_msg("%s: another shape", u->name);
    for (int64_t i = 0; i < sk_shape_count(&ours.shape); i++)
        if (fabs(sk_tensor_at(&ours, i) - sk_tensor_at(&theirs, i)) > 1e-5)
            fail_msg("%s: %lld is %g and %g", u->name, (long long)i, sk_tensor_at(&ours, i),
                     sk_tensor_at(&theirs, i));
    sk_free(ours.data);
    sk_free(theirs.data);
    sk_graph_close(&again);
}

static void what_can_be_written(void **state)
{
    (void)state;
    static const char *const in = "x", *const out = "y";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const unwritten *u = &all[i];
        sk_error err = {0};
        sk_graph *graph = NULL;
        sk_onnx_model *onnx = NULL;
        sk_builder b;
        assert_ok(sk_graph_open(&graph, &err), &err);
        sk_builder_init(&b, graph);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &picture);
        sk_b_output(&b, u->build(&b, x), "y");
        if (b.status != SK_OK)
            fail_msg("%s: %s", u->name, b.error.message);
        assert_ok(sk_onnx_create(&onnx, &err), &err);
        const sk_status status = sk_onnx_from_graph(graph, u->opset, u->half, &in, &out, onnx, &err);
        if (status != (u->part ? SK_ERR_UNSUPPORTED : SK_OK) || (u->part && !strstr(err.message, u->part)))
            fail_msg("%s in opset %d: '%s' (%d)", u->name, u->opset, err.message, status);
        if (!u->part)
            same_when_read_again(u, graph, onnx);
        sk_onnx_close(&onnx);
        sk_graph_close(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_can_be_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
