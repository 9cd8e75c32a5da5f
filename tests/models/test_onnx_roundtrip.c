/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/hash.h"
#include "base/text.h"
#include "graph/builder.h"
#include "graph/reference.h"
#include "models/onnx_exporter.h"
#include "models/onnx_import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every operation: graph → ONNX bytes → graph must compute the same, written from the general graph and
 * from the specialised one, for every opset we write. */

static const sk_shape input = {.rank = 4, .dim = {2, 6, 8, 10}};

static uint32_t seed = 1;

static float next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed / 2147483648.0f; /* -1 … 1 */
}

static sk_value weights(sk_builder *b, int rank, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    sk_shape shape = {.rank = rank, .dim = {d0, d1, d2, d3}};
    static float data[4096];
    int64_t count = sk_shape_count(&shape);
    assert_in_range(count, 1, 4096);
    for (int64_t i = 0; i < count; i++)
        data[i] = next_random();
    return sk_b_constant(b, "w", SK_DTYPE_F32, &shape, data);
}

static void convs(sk_builder *b, sk_value x)
{
    sk_window w = {.kernel = {3, 3}, .stride = {2, 1}, .dilation = {1, 2}, .pad = {1, 2, 0, 1}};
    sk_value plain = sk_b_conv(b, x, weights(b, 4, 4, 3, 3, 3), weights(b, 1, 4, 0, 0, 0), &w, 2, "plain");
    sk_b_output(b, plain, "plain");
    for (int same = 1; same <= 2; same++) {
        sk_window s = {.kernel = {4, 3}, .stride = {2, 2}, .dilation = {1, 1}, .same = same};
        sk_b_output(b, sk_b_conv(b, x, weights(b, 4, 2, 6, 4, 3), SK_VALUE_NONE, &s, 1, "same"),
                    same == 1 ? "upper" : "lower");
    }
    for (int before = 0; before < 2; before++) {
        sk_attrs a = {.conv = {.window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}},
                               .groups = 1,
                               .act = {SK_UNARY_SILU, 0, 0},
                               .residual_before_act = before}};
        sk_value in[4] = {x, weights(b, 4, 6, 6, 1, 1), weights(b, 1, 6, 0, 0, 0), x};
        sk_b_output(b, sk_b_node(b, SK_OP_CONV, &a, in, 4, "fused"), before ? "before" : "after");
    }
}

static void conv_transposes(sk_builder *b, sk_value x)
{
    for (int i = 0; i < 4; i++) {
        sk_attrs a = {.conv_transpose = {.window = {.kernel = {3, 4}, .stride = {2, 2}, .dilation = {1, 1}},
                                         .groups = i == 1 ? 2 : 1,
                                         .same_output = i == 2,
                                         .act = {i == 3 ? SK_UNARY_RELU : 0, 0, 0}}};
        if (i == 1) {
            a.conv_transpose.window.pad[0] = a.conv_transpose.window.pad[3] = 1;
            a.conv_transpose.output_pad[1] = 1;
        }
        sk_value in[3] = {x, weights(b, 4, 6, 2, 3, 4), SK_VALUE_NONE};
        char name[8];
        snprintf(name, sizeof name, "y%d", i);
        sk_b_output(b, sk_b_node(b, SK_OP_CONV_TRANSPOSE, &a, in, 2, "up"), name);
    }
}

static void pools(sk_builder *b, sk_value x)
{
    sk_attrs a = {
        .pool = {.window = {.kernel = {3, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {1, 0, 1, 1}}}};
    sk_b_output(b, sk_b_node(b, SK_OP_MAX_POOL, &a, &x, 1, "max"), "max");
    sk_b_output(b, sk_b_node(b, SK_OP_AVG_POOL, &a, &x, 1, "average"), "average");
    a.pool.count_include_pad = 1;
    sk_b_output(b, sk_b_node(b, SK_OP_AVG_POOL, &a, &x, 1, "average"), "with_pad");
    a.pool.ceil_mode = 1;
    sk_b_output(b, sk_b_node(b, SK_OP_MAX_POOL, &a, &x, 1, "max"), "ceil");
    a.pool.window.same = 1;
    sk_b_output(b, sk_b_node(b, SK_OP_MAX_POOL, &a, &x, 1, "max"), "same");
}

static void resizes(sk_builder *b, sk_value x)
{
    sk_b_output(b, sk_b_upsample_nearest(b, x, 2), "nearest");
    sk_b_output(b, sk_b_upsample_linear(b, x, 1.5f), "linear");
    sk_attrs a = {.resize = {.mode = SK_RESIZE_CUBIC, .coords = SK_COORDS_ALIGN_CORNERS, .cubic_a = -0.5f}};
    sk_value sizes = sk_b_i64s(b, (int64_t[]){11, 7}, 2);
    sk_b_output(b, sk_b_node(b, SK_OP_RESIZE, &a, (sk_value[]){x, sizes}, 2, "cubic"), "sized");
    for (int round = SK_ROUND_FLOOR; round <= SK_ROUND_CEIL; round++) {
        sk_attrs n = {.resize = {.mode = SK_RESIZE_NEAREST,
                                 .coords = SK_COORDS_HALF_PIXEL,
                                 .round = (sk_resize_round)round,
                                 .scale = {0.5f, 1.7f}}};
        char name[16];
        snprintf(name, sizeof name, "round%d", round);
        sk_b_output(b, sk_b_node(b, SK_OP_RESIZE, &n, &x, 1, "nearest"), name);
    }
}

static void matrices(sk_builder *b, sk_value x)
{
    sk_b_output(b, sk_b_matmul(b, x, weights(b, 2, 10, 3, 0, 0)), "matmul");
    sk_value flat = sk_b_reshape(b, x, (int64_t[]){0, -1}, 2);
    sk_attrs a = {.gemm = {.alpha = 0.5f, .beta = 2, .transpose_b = 1}};
    sk_value in[3] = {flat, weights(b, 2, 5, 480, 0, 0), weights(b, 1, 5, 0, 0, 0)};
    sk_b_output(b, sk_b_node(b, SK_OP_GEMM, &a, in, 3, "gemm"), "gemm");
    sk_attrs e = {.einsum = {"bchw,wk->bkch"}};
    sk_value pair[2] = {x, weights(b, 2, 10, 3, 0, 0)};
    sk_b_output(b, sk_b_node(b, SK_OP_EINSUM, &e, pair, 2, "einsum"), "einsum");
}

static void norms(sk_builder *b, sk_value x)
{
    sk_attrs a = {.norm = {.axis = -1, .epsilon = 1e-3f}};
    sk_value positive = sk_b_unary(b, SK_UNARY_EXP, weights(b, 1, 6, 0, 0, 0));
    sk_value five[5] = {x, weights(b, 1, 6, 0, 0, 0), weights(b, 1, 6, 0, 0, 0), weights(b, 1, 6, 0, 0, 0),
                        positive};
    sk_b_output(b, sk_b_node(b, SK_OP_BATCH_NORM, &a, five, 5, "bn"), "batch");
    sk_value three[3] = {x, weights(b, 1, 10, 0, 0, 0), weights(b, 1, 10, 0, 0, 0)};
    sk_b_output(b, sk_b_node(b, SK_OP_LAYER_NORM, &a, three, 3, "ln"), "layer");
    sk_b_output(b, sk_b_node(b, SK_OP_LAYER_NORM, &a, three, 1, "ln"), "layer_plain");
    sk_b_output(b, sk_b_node(b, SK_OP_INSTANCE_NORM, &a, five, 3, "in"), "instance");
    sk_b_output(b, sk_b_node(b, SK_OP_INSTANCE_NORM, &a, five, 1, "in"), "instance_plain");
    sk_b_output(b, sk_b_softmax(b, x, 1), "softmax");
    sk_attrs axis = {.axis = -1};
    sk_b_output(b, sk_b_node(b, SK_OP_LOG_SOFTMAX, &axis, &x, 1, "ls"), "log_softmax");
}

static void unaries(sk_builder *b, sk_value x)
{
    for (int kind = 1; kind < SK_UNARY_COUNT; kind++) {
        sk_value in = x;
        if (kind == SK_UNARY_LOG || kind == SK_UNARY_SQRT || kind == SK_UNARY_RECIPROCAL)
            in = sk_b_unary(b, SK_UNARY_EXP, x);
        if (kind == SK_UNARY_NOT)
            in = sk_b_binary(b, SK_BINARY_GREATER, x, sk_b_f32(b, 0));
        if (kind == SK_UNARY_ROUND || kind == SK_UNARY_FLOOR || kind == SK_UNARY_CEIL ||
            kind == SK_UNARY_RELU6 || kind == SK_UNARY_HARD_SWISH)
            in = sk_b_mul(b, x, sk_b_f32(b, 8));
        sk_b_output(b, sk_b_unary_alpha(b, (sk_unary)kind, in, 0.3f, 0.4f), sk_unary_name((sk_unary)kind));
    }
}

static void binaries(sk_builder *b, sk_value x)
{
    sk_attrs to_int = {.cast.to = SK_DTYPE_I64};
    sk_value y = weights(b, 3, 6, 1, 10, 0), ten = sk_b_f32(b, 10);
    sk_value scaled = sk_b_mul(b, x, ten), whole = sk_b_node(b, SK_OP_CAST, &to_int, &scaled, 1, "cast");
    sk_value above = sk_b_binary(b, SK_BINARY_GREATER, x, y), below = sk_b_binary(b, SK_BINARY_LESS, x, ten);
    for (int kind = 1; kind < SK_BINARY_COUNT; kind++) {
        sk_value p = x, q = y;
        if (kind == SK_BINARY_POW)
            p = sk_b_unary(b, SK_UNARY_ABS, x);
        if (kind == SK_BINARY_MOD)
            p = whole, q = sk_b_i64(b, 3);
        if (kind == SK_BINARY_FMOD)
            p = scaled, q = sk_b_f32(b, 3);
        if (kind >= SK_BINARY_AND)
            p = above, q = below;
        sk_b_output(b, sk_b_binary(b, (sk_binary)kind, p, q), sk_binary_name((sk_binary)kind));
    }
    sk_b_output(b, sk_b_node(b, SK_OP_WHERE, NULL, (sk_value[]){above, x, y}, 3, "where"), "where");
    sk_attrs clip = {.clip = {-0.5, INFINITY}};
    sk_b_output(b, sk_b_node(b, SK_OP_CLIP, &clip, &x, 1, "clip"), "clip_low");
    clip.clip.high = 0.25;
    sk_b_output(b, sk_b_node(b, SK_OP_CLIP, &clip, &x, 1, "clip"), "clip_both");
}

static void reductions(sk_builder *b, sk_value x)
{
    for (int kind = SK_REDUCE_SUM; kind <= SK_REDUCE_LOG_SUM_EXP; kind++) {
        char name[16];
        snprintf(name, sizeof name, "kept%d", kind);
        sk_b_output(b, sk_b_reduce(b, (sk_reduction)kind, x, (int[]){1, -1}, 2, true), name);
        snprintf(name, sizeof name, "all%d", kind);
        sk_b_output(b, sk_b_reduce(b, (sk_reduction)kind, x, NULL, 0, false), name);
    }
}

static void orders(sk_builder *b, sk_value x)
{
    sk_attrs arg = {.arg = {.axis = 1, .keep_dims = 1}};
    sk_b_output(b, sk_b_node(b, SK_OP_ARG_MAX, &arg, &x, 1, "arg_max"), "arg_max");
    arg.arg.keep_dims = 0;
    arg.arg.axis = -1;
    arg.arg.select_last = 1;
    sk_b_output(b, sk_b_node(b, SK_OP_ARG_MIN, &arg, &x, 1, "arg_min"), "arg_min");
    sk_attrs top = {.top_k = {.axis = -1, .largest = 1, .sorted = 1}};
    sk_value outs[2];
    sk_b_node_n(b, SK_OP_TOP_K, &top, (sk_value[]){x, sk_b_i64(b, 3)}, 2, "top", outs, 2);
    sk_b_output(b, outs[0], "values");
    sk_b_output(b, outs[1], "indices");
    sk_attrs sum = {.cum_sum = {.exclusive = 1, .reverse = 1}};
    sk_b_output(b, sk_b_node(b, SK_OP_CUM_SUM, &sum, (sk_value[]){x, sk_b_i64(b, 2)}, 2, "sum"), "cum_sum");
    sk_value positive = sk_b_binary(b, SK_BINARY_GREATER, x, sk_b_f32(b, 0.9f));
    sk_b_output(b, sk_b_node(b, SK_OP_NON_ZERO, NULL, &positive, 1, "nz"), "non_zero");
}

static void suppression(sk_builder *b, sk_value x)
{
    sk_value boxes = sk_b_reshape(b, sk_b_slice(b, x, 1, 0, 4), (int64_t[]){0, -1, 4}, 3);
    sk_value scores = sk_b_reshape(b, sk_b_slice(b, x, 1, 4, 5), (int64_t[]){0, 1, -1}, 3);
    for (int center = 0; center < 2; center++) {
        sk_attrs a = {.nms = {.center_point_box = center}};
        sk_value wide = center ? sk_b_unary(b, SK_UNARY_ABS, boxes) : boxes;
        sk_value in[5] = {wide, scores, sk_b_i64(b, 7), sk_b_f32(b, 0.3f), sk_b_f32(b, 0.1f)};
        sk_b_output(b, sk_b_node(b, SK_OP_NON_MAX_SUPPRESSION, &a, in, 5, "nms"),
                    center ? "center" : "corners");
    }
}

static void movements(sk_builder *b, sk_value x)
{
    sk_value parts[3];
    sk_b_split(b, x, 1, (int64_t[]){1, 3, 2}, 3, parts);
    sk_b_output(b, sk_b_concat(b, (sk_value[]){parts[2], parts[0]}, 2, 1), "concat");
    sk_b_split(b, x, -1, NULL, 2, parts);
    sk_b_output(b, parts[1], "half");
    sk_value steps[5] = {x, sk_b_i64s(b, (int64_t[]){-1, 1}, 2), sk_b_i64s(b, (int64_t[]){-9, 100}, 2),
                         sk_b_i64s(b, (int64_t[]){2, 3}, 2), sk_b_i64s(b, (int64_t[]){-2, 3}, 2)};
    sk_b_output(b, sk_b_node(b, SK_OP_SLICE, NULL, steps, 5, "slice"), "slice");
    sk_b_output(b, sk_b_transpose(b, x, (int[]){0, 2, 3, 1}, 4), "transpose");
    sk_value one = sk_b_slice(b, x, 1, 2, 3);
    sk_b_output(b, sk_b_node(b, SK_OP_SQUEEZE, NULL, (sk_value[]){one, sk_b_i64(b, 1)}, 2, "sq"), "squeeze");
    sk_b_output(
        b, sk_b_node(b, SK_OP_UNSQUEEZE, NULL, (sk_value[]){x, sk_b_i64s(b, (int64_t[]){0, -1}, 2)}, 2, "us"),
        "unsqueeze");
    sk_attrs axis = {.axis = 2};
    sk_b_output(b, sk_b_node(b, SK_OP_FLATTEN, &axis, &x, 1, "flat"), "flatten");
    sk_b_output(b,
                sk_b_node(b, SK_OP_EXPAND, NULL, (sk_value[]){one, sk_b_i64s(b, (int64_t[]){1, 3, 1, 1}, 4)},
                          2, "ex"),
                "expand");
    sk_b_output(
        b, sk_b_node(b, SK_OP_TILE, NULL, (sk_value[]){x, sk_b_i64s(b, (int64_t[]){1, 2, 1, 2}, 4)}, 2, "ti"),
        "tile");
    for (int mode = 0; mode < 3; mode++) {
        sk_attrs pad = {.pad.mode = mode};
        sk_value in[3] = {x, sk_b_i64s(b, (int64_t[]){0, 0, 1, 2, 0, 0, 3, 0}, 8), sk_b_f32(b, -7)};
        char name[8];
        snprintf(name, sizeof name, "pad%d", mode);
        sk_b_output(b, sk_b_node(b, SK_OP_PAD, &pad, in, mode == 0 ? 3 : 2, "pad"), name);
    }
    for (int crd = 0; crd < 2; crd++) {
        sk_attrs blocks = {.blocks = {.block = 2, .crd = crd}};
        sk_value deep = sk_b_slice(b, x, 1, 0, 4);
        sk_b_output(b, sk_b_node(b, SK_OP_DEPTH_TO_SPACE, &blocks, &deep, 1, "d2s"), crd ? "crd" : "dcr");
    }
    sk_attrs blocks = {.blocks = {.block = 2}};
    sk_b_output(b, sk_b_node(b, SK_OP_SPACE_TO_DEPTH, &blocks, &x, 1, "s2d"), "space_to_depth");
}

static void indexing(sk_builder *b, sk_value x)
{
    sk_attrs axis = {.axis = 1}, none = {.axis = 0};
    sk_value some = sk_b_i64s(b, (int64_t[]){5, 0, -1}, 3);
    sk_b_output(b, sk_b_node(b, SK_OP_GATHER, &axis, (sk_value[]){x, some}, 2, "gather"), "gather");
    sk_attrs last = {.axis = -1}, arg = {.arg = {.axis = -1, .keep_dims = 1}};
    sk_value at = sk_b_node(b, SK_OP_ARG_MAX, &arg, &x, 1, "arg");
    sk_b_output(b, sk_b_node(b, SK_OP_GATHER_ELEMENTS, &last, (sk_value[]){x, at}, 2, "ge"),
                "gather_elements");
    const sk_value nothing = sk_b_f32(b, 0); /* by itself: which argument is made first, compilers choose */
    sk_value zero = sk_b_mul(b, sk_b_slice(b, x, 3, 0, 1), nothing);
    sk_b_output(b, sk_b_node(b, SK_OP_SCATTER_ELEMENTS, &last, (sk_value[]){x, at, zero}, 3, "se"),
                "scatter_elements");
    sk_shape pairs = {.rank = 2, .dim = {3, 2}};
    static const int64_t places[6] = {0, 1, 1, 5, 0, 0};
    sk_value nd = sk_b_constant(b, "places", SK_DTYPE_I64, &pairs, places);
    sk_value picked = sk_b_node(b, SK_OP_GATHER_ND, &none, (sk_value[]){x, nd}, 2, "gnd");
    sk_b_output(b, picked, "gather_nd");
    sk_b_output(b,
                sk_b_node(b, SK_OP_SCATTER_ND, NULL, (sk_value[]){x, nd, sk_b_unary(b, SK_UNARY_NEG, picked)},
                          3, "snd"),
                "scatter_nd");
    sk_value depth = sk_b_i64(b, 10),
             pair = sk_b_constant(b, "onoff", SK_DTYPE_F32, &(sk_shape){1, {2}}, (float[]){-1, 2});
    sk_b_output(b, sk_b_node(b, SK_OP_ONE_HOT, &last, (sk_value[]){at, depth, pair}, 3, "hot"), "one_hot");
}

static void shapes(sk_builder *b, sk_value x)
{
    sk_attrs axis = {.axis = 0}, fill = {.fill = {SK_DTYPE_F32, 2.5}}, to_float = {.cast.to = SK_DTYPE_F32};
    sk_value shape = sk_b_node(b, SK_OP_SHAPE, NULL, &x, 1, "shape");
    sk_value height = sk_b_node(b, SK_OP_GATHER, &axis, (sk_value[]){shape, sk_b_i64(b, 2)}, 2, "height");
    sk_value range =
        sk_b_node(b, SK_OP_RANGE, NULL, (sk_value[]){sk_b_i64(b, 0), height, sk_b_i64(b, 2)}, 3, "range");
    sk_b_output(b, sk_b_node(b, SK_OP_CAST, &to_float, &range, 1, "cast"), "range");
    sk_value full = sk_b_node(b, SK_OP_CONSTANT_OF_SHAPE, &fill, &shape, 1, "fill");
    sk_b_output(b, sk_b_add(b, full, x), "filled");
    sk_value size = sk_b_node(b, SK_OP_SIZE, NULL, &x, 1, "size");
    sk_b_output(b, sk_b_mul(b, x, sk_b_node(b, SK_OP_CAST, &to_float, &size, 1, "cast")), "sized");
    sk_value matrix = sk_b_reshape(b, x, (int64_t[]){-1, 10}, 2);
    sk_attrs eye = {.fill = {SK_DTYPE_F32, 1}};
    sk_b_output(b, sk_b_node(b, SK_OP_EYE_LIKE, &eye, &matrix, 1, "eye"), "eye");
    sk_b_output(b, x, "x_again"); /* an output that is the input */
    sk_b_output(b, sk_b_f32(b, 4), "constant");
    sk_b_output(b, sk_b_node(b, SK_OP_IDENTITY, NULL, &x, 1, "same"), "identity");
}

static void anchors(sk_builder *b, sk_value x)
{
    sk_attrs a = {.anchors = {.n_levels = 2, .stride = {8, 16}}};
    sk_value outs[2], levels[2] = {x, sk_b_max_pool(b, x, 2, 2, 0, "pool")};
    b->node_flags = SK_NODE_TAIL;
    sk_b_node_n(b, SK_OP_ANCHORS, &a, levels, 2, "anchors", outs, 2);
    sk_b_output(b, sk_b_mul(b, outs[0], outs[1]), "pixels");
    b->node_flags = 0;
}

static void sampling(sk_builder *b, sk_value x)
{
    sk_value grid = weights(b, 4, 2, 3, 5, 2);
    for (int mode = 0; mode < 2; mode++)
        for (int padding = 0; padding < 2; padding++) {
            sk_attrs a = {.grid_sample = {mode, padding, mode != padding}};
            char name[16];
            snprintf(name, sizeof name, "grid%d%d", mode, padding);
            sk_b_output(b, sk_b_node(b, SK_OP_GRID_SAMPLE, &a, (sk_value[]){x, grid}, 2, "grid"), name);
        }
}

/* Eight bits: values around a convolution, its weights, and a scale for each channel of a value. */
static void eight_bits(sk_builder *b, sk_value x)
{
    static const float scales[6] = {0.004f, 0.02f, 0.011f, 0.5f, 0.007f, 0.01f};
    static const int8_t zeros[6] = {0, -128, 127, 3, -9, 1};
    static int8_t w[6 * 6 * 9];
    sk_shape one = {.rank = 0}, six = {.rank = 1, .dim = {6}}, kernel = {.rank = 4, .dim = {6, 6, 3, 3}};
    sk_attrs first = {.quantise.axis = 0}, channels = {.quantise.axis = 1};
    sk_value scale = sk_b_f32(b, 0.0078f), zero = sk_b_constant(b, "", SK_DTYPE_U8, &one, "\x80");
    for (size_t i = 0; i < sizeof w; i++)
        w[i] = (int8_t)(next_random() * 127);
    sk_value weight = sk_b_constant(b, "w", SK_DTYPE_I8, &kernel, w);
    sk_value list = sk_b_constant(b, "scales", SK_DTYPE_F32, &six, scales);
    sk_value list_zero = sk_b_constant(b, "zeros", SK_DTYPE_I8, &six, zeros);
    sk_value q = sk_b_node(b, SK_OP_QUANTIZE, &channels, (sk_value[]){x, scale, zero}, 3, "q");
    sk_value dq = sk_b_node(b, SK_OP_DEQUANTIZE, &channels, (sk_value[]){q, scale, zero}, 3, "dq");
    sk_value dw = sk_b_node(b, SK_OP_DEQUANTIZE, &first, (sk_value[]){weight, list}, 2, "dw");
    sk_window window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
    sk_b_output(b, sk_b_conv(b, dq, dw, SK_VALUE_NONE, &window, 1, "conv"), "conv");
    sk_value each = sk_b_node(b, SK_OP_QUANTIZE, &channels, (sk_value[]){x, list, list_zero}, 3, "each");
    sk_b_output(b, sk_b_node(b, SK_OP_DEQUANTIZE, &channels, (sk_value[]){each, list, list_zero}, 3, "back"),
                "each");
}

/* --- the harness --- */

static void run(const sk_graph *graph, const float *data, sk_tensor *outs)
{
    sk_error err;
    sk_tensor in = {SK_DTYPE_F32, input, (void *)(uintptr_t)data};
    assert_ok(sk_reference_run(graph, &in, 1, outs, graph->n_outputs, &err), &err);
}

static sk_graph *specialised(const sk_graph *graph)
{
    sk_error err;
    sk_graph *out = NULL;
    assert_ok(sk_graph_specialise(graph, &input, 1, &out, &err), &err);
    return out;
}

/* --- near what is written --- */

static sk_text *near_log; /* null: nobody asks */

/* What becomes of a file: the graph, or the words it is refused with. */
static void tell_import(const sk_onnx_model *onnx, sk_text *log)
{
    sk_error err = {0};
    sk_graph *graph = NULL;
    char *text = NULL;
    const sk_status status = sk_onnx_import(onnx, "f", &graph, &err);
    if (status == SK_OK && sk_graph_print(graph, &text, &err) == SK_OK)
        sk_text_appendf(log, "%016llx\n", (unsigned long long)sk_hash_xxh3(text, strlen(text), 0));
    else
        sk_text_appendf(log, "%d %s\n", status, err.message);
    sk_free(text);
    sk_graph_close(&graph);
}

static void tell_near_attr(const sk_onnx_model *onnx, sk_onnx_attr *a, sk_text *log)
{
    static const int64_t others[] = {-3, -1, 0, 1, 2, 5, 99};
    const sk_onnx_attr kept = *a;
    for (size_t k = 0; k < sizeof others / sizeof *others && a->type == SK_ONNX_INT; k++) {
        a->i = others[k];
        tell_import(onnx, log);
    }
    for (int32_t n = 0; n < kept.count && a->type == SK_ONNX_INTS && n < 4; n++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            int64_t *at = (int64_t *)(uintptr_t)&kept.ints[n], before = *at;
            *at = others[k];
            tell_import(onnx, log);
            *at = before;
        }
    *a = kept;
    if (a->count > 0) {
        a->count--;
        tell_import(onnx, log);
    }
    *a = kept;
    if (a->type == SK_ONNX_FLOAT) {
        a->f = -2;
        tell_import(onnx, log);
    }
    *a = kept;
    if (a->type == SK_ONNX_STRING) {
        a->s = "nonsense";
        tell_import(onnx, log);
    }
    *a = kept;
    a->type = a->type == SK_ONNX_INT ? SK_ONNX_FLOAT : SK_ONNX_INT;
    tell_import(onnx, log);
    *a = kept;
    a->name = "unknown";
    tell_import(onnx, log);
    *a = kept;
}

/* One thing of a node other than it should be. */
static void tell_near(const sk_onnx_model *onnx, sk_text *log)
{
    for (int32_t i = 0; i < onnx->graph.n_nodes; i++) {
        sk_onnx_node *node = (sk_onnx_node *)(uintptr_t)&onnx->graph.nodes[i];
        const sk_onnx_node kept = *node;
        const char *less[32] = {0};
        sk_text_appendf(log, "%s\n", node->op);
        for (int32_t k = 0; k < node->n_attrs; k++)
            tell_near_attr(onnx, (sk_onnx_attr *)(uintptr_t)&node->attrs[k], log);
        for (int32_t k = 0; k < kept.n_in && k < 32; k++)
            less[k] = kept.in[k];
        node->in = less;
        for (int32_t k = 0; k < kept.n_in && k < 32; k++) {
            less[k] = "";
            tell_import(onnx, log);
            less[k] = "nobody";
            tell_import(onnx, log);
            less[k] = kept.in[k];
        }
        node->n_in = kept.n_in > 0 ? kept.n_in - 1 : 0;
        tell_import(onnx, log);
        if (kept.n_in > 0 && kept.n_in < 31) {
            less[kept.n_in] = kept.in[0];
            node->n_in = kept.n_in + 1;
            tell_import(onnx, log);
        }
        *node = kept;
        node->n_out = kept.n_out - 1;
        tell_import(onnx, log);
        *node = kept;
        node->op = "Mystery";
        tell_import(onnx, log);
        *node = kept;
        node->domain = "com.nobody";
        tell_import(onnx, log);
        *node = kept;
    }
}

static sk_graph *through_bytes(const sk_graph *graph, int opset, bool half)
{
    sk_error err;
    sk_onnx_model *onnx = NULL, *again = NULL;
    sk_graph *imported = NULL;
    const char *in = "x", *outs[32];
    static char names[32][64];
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_onnx_value value = {"x", half ? SK_DTYPE_F16 : SK_DTYPE_F32, input, {"", "", "", ""}}, ends[32];
    sk_onnx_opset set = {"", opset};
    static const char *own[1][2] = {{SK_ONNX_OWN_KEY, "{}"}};
    for (int i = 0; i < graph->n_outputs; i++) {
        snprintf(names[i], sizeof names[i], "out%d", i);
        outs[i] = names[i];
        ends[i] = (sk_onnx_value){.name = names[i], .dtype = SK_DTYPE_F32, .shape = {.rank = -1}};
    }
    assert_ok(sk_onnx_create(&onnx, &err), &err);
    assert_ok(sk_onnx_from_graph(graph, opset, half, &in, outs, onnx, &err), &err);
    onnx->ir_version = 8;
    onnx->opsets = &set;
    onnx->n_opsets = 1;
    onnx->metadata = own;
    onnx->n_metadata = 1;
    onnx->graph.inputs = &value;
    onnx->graph.n_inputs = 1;
    onnx->graph.outputs = ends;
    onnx->graph.n_outputs = graph->n_outputs;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    assert_ok(sk_onnx_read(bytes, length, "roundtrip.onnx", NULL, &again, &err), &err);
    assert_ok(sk_onnx_import(again, "roundtrip.onnx", &imported, &err), &err);
    if (near_log && opset % 4 == 1) /* 13 and 17 */
        tell_near(again, near_log);
    sk_free(bytes);
    sk_onnx_close(&onnx);
    sk_onnx_close(&again);
    return imported;
}

static void compare(const char *what, const sk_graph *graph, const sk_tensor *a, const sk_tensor *b,
                    double limit)
{
    for (int i = 0; i < graph->n_outputs; i++) {
        char x[SK_SHAPE_TEXT], y[SK_SHAPE_TEXT];
        const char *name = graph->values[graph->outputs[i]].name;
        if (!sk_shape_equal(&a[i].shape, &b[i].shape) || a[i].dtype != b[i].dtype)
            fail_msg("%s, %s: %s %s became %s %s", what, name, sk_dtype_name(a[i].dtype),
                     sk_shape_text(&a[i].shape, x, sizeof x), sk_dtype_name(b[i].dtype),
                     sk_shape_text(&b[i].shape, y, sizeof y));
        for (int64_t k = 0; k < sk_shape_count(&a[i].shape); k++) {
            double p = sk_tensor_at(&a[i], k), q = sk_tensor_at(&b[i], k);
            if (!(fabs(p - q) <= limit * fmax(1, fabs(p))) && !(isnan(p) && isnan(q)) && p != q)
                fail_msg("%s, %s: element %lld was %g and became %g", what, name, (long long)k, p, q);
        }
    }
}

static uint32_t tail_nodes(const sk_graph *graph)
{
    uint32_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        count += (graph->nodes[i].flags & SK_NODE_TAIL) != 0;
    return count;
}

typedef void (*build_function)(sk_builder *b, sk_value x);

static sk_graph *build_graph(build_function build)
{
    sk_error err;
    sk_graph *graph = NULL;
    sk_builder b;
    sk_shape open = {.rank = 4, .dim = {-1, 6, -1, -1}};
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    build(&b, sk_b_input(&b, "x", SK_DTYPE_F32, &open));
    assert_ok(b.status, &b.error);
    return graph;
}

static void free_outputs(sk_tensor *outs, int n)
{
    for (int i = 0; i < n; i++)
        sk_free(outs[i].data);
}

/* Written from the general graph and from the specialised one. */
static void round_trip(build_function build, int first_opset)
{
    static float data[2 * 6 * 8 * 10];
    sk_tensor expected[32], got[32];
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = next_random();
    sk_graph *graph = build_graph(build), *fixed = specialised(graph);
    run(fixed, data, expected);
    for (int opset = first_opset; opset <= SK_ONNX_OPSET_MAX; opset++)
        for (int from_fixed = 0; from_fixed < 2; from_fixed++) {
            sk_graph *again = through_bytes(from_fixed ? fixed : graph, opset, false),
                     *ready = specialised(again);
            char what[64];
            snprintf(what, sizeof what, "opset %d, %s", opset, from_fixed ? "specialised" : "general");
            run(ready, data, got);
            compare(what, graph, expected, got, 2e-6);
            if (!from_fixed)
                assert_true((tail_nodes(again) > 0) == (tail_nodes(graph) > 0));
            free_outputs(got, graph->n_outputs);
            sk_graph_close(&ready);
            sk_graph_close(&again);
        }
    free_outputs(expected, graph->n_outputs);
    sk_graph_close(&fixed);
    sk_graph_close(&graph);
}

#define CASE(name, first_opset)                                                                              \
    static void name##_come_back(void **state)                                                               \
    {                                                                                                        \
        (void)state;                                                                                         \
        round_trip(name, first_opset);                                                                       \
    }

CASE(convs, 13)
CASE(conv_transposes, 13)
CASE(pools, 13)
CASE(resizes, 13)
CASE(matrices, 13)
CASE(norms, 13)
CASE(unaries, 13)
CASE(binaries, 13)
CASE(reductions, 13)
CASE(orders, 13)
CASE(suppression, 13)
CASE(movements, 13)
CASE(indexing, 13)
CASE(shapes, 13)
CASE(anchors, 13)
CASE(sampling, 16)
CASE(eight_bits, 13)

/* Files near those: a hash of what becomes of some hundred of each. */
static void near_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        build_function build;
        int opset;
    } all[] = {{"convs", convs, 13},
               {"conv_transposes", conv_transposes, 13},
               {"pools", pools, 13},
               {"resizes", resizes, 13},
               {"matrices", matrices, 13},
               {"norms", norms, 13},
               {"unaries", unaries, 13},
               {"binaries", binaries, 13},
               {"reductions", reductions, 13},
               {"orders", orders, 13},
               {"suppression", suppression, 13},
               {"movements", movements, 13},
               {"indexing", indexing, 13},
               {"shapes", shapes, 13},
               {"anchors", anchors, 13},
               {"sampling", sampling, 17},
               {"eight_bits", eight_bits, 13}};
    sk_text told = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_text log = {0};
        seed = 1;
        sk_graph *graph = build_graph(all[i].build), *again = NULL;
        for (int opset = all[i].opset; opset <= 17; opset += 4) {
            near_log = &log;
            again = through_bytes(graph, opset, false);
            near_log = NULL;
            sk_graph_close(&again);
        }
        int lines = 0;
        for (const char *c = sk_text_get(&log); *c; c++)
            lines += *c == '\n';
        sk_text_appendf(&told, "%016llx %5d %s\n",
                        (unsigned long long)sk_hash_xxh3(sk_text_get(&log), log.length, 0), lines,
                        all[i].name);
        if (getenv("SKITTER_TEST_SHOW") && strcmp(getenv("SKITTER_TEST_SHOW"), all[i].name) == 0)
            fprintf(stderr, "%s", sk_text_get(&log));
        sk_text_free(&log);
        sk_graph_close(&graph);
    }
    test_text_is("tests/models/whole/near_files.txt", sk_text_get(&told));
    sk_text_free(&told);
}

/* Weights in float16: the results are near, not equal. */
static void half_precision_comes_back(void **state)
{
    (void)state;
    static float data[2 * 6 * 8 * 10];
    sk_tensor expected[32], got[32];
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = next_random();
    sk_graph *graph = build_graph(convs), *fixed = specialised(graph);
    sk_graph *again = through_bytes(fixed, 17, true), *ready = specialised(again);
    run(fixed, data, expected);
    run(ready, data, got);
    compare("half", graph, expected, got, 5e-3);
    free_outputs(got, graph->n_outputs);
    free_outputs(expected, graph->n_outputs);
    sk_graph_close(&ready);
    sk_graph_close(&again);
    sk_graph_close(&fixed);
    sk_graph_close(&graph);
}

/* What a given opset has no form for is said, not written wrongly. */
static void refuses_what_an_opset_lacks(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *onnx = NULL;
    sk_graph *graph = build_graph(sampling);
    const char *in = "x", *outs[] = {"a", "b", "c", "d"};
    assert_ok(sk_onnx_create(&onnx, &err), &err);
    assert_int_equal(sk_onnx_from_graph(graph, 15, false, &in, outs, onnx, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "opset 16"));
    sk_onnx_close(&onnx);
    sk_graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convs_come_back),           cmocka_unit_test(conv_transposes_come_back),
        cmocka_unit_test(pools_come_back),           cmocka_unit_test(resizes_come_back),
        cmocka_unit_test(matrices_come_back),        cmocka_unit_test(norms_come_back),
        cmocka_unit_test(unaries_come_back),         cmocka_unit_test(binaries_come_back),
        cmocka_unit_test(reductions_come_back),      cmocka_unit_test(orders_come_back),
        cmocka_unit_test(suppression_come_back),     cmocka_unit_test(movements_come_back),
        cmocka_unit_test(indexing_come_back),        cmocka_unit_test(shapes_come_back),
        cmocka_unit_test(anchors_come_back),         cmocka_unit_test(sampling_come_back),
        cmocka_unit_test(eight_bits_come_back),      cmocka_unit_test(near_files),
        cmocka_unit_test(half_precision_comes_back), cmocka_unit_test(refuses_what_an_opset_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
