/* SPDX-License-Identifier: Apache-2.0 */
/* Passes change a graph's form, never its meaning: each pattern by itself, then random networks before and
 * after. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed;

static uint32_t next(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static float next_float(void)
{
    return (float)next(2001) / 1000.0f - 1.0f;
}

static sk_value random_constant(sk_builder *b, const char *name, sk_shape shape, bool positive)
{
    int64_t n = sk_shape_count(&shape);
    float *data = malloc((size_t)n * sizeof *data);
    for (int64_t i = 0; i < n; i++)
        data[i] = positive ? fabsf(next_float()) + 0.1f : next_float() * 0.4f;
    sk_value v = sk_b_constant(b, name, SK_DTYPE_F32, &shape, data);
    free(data);
    return v;
}

static sk_value conv(sk_builder *b, sk_value x, int in, int out, int kernel, int stride, int groups,
                     bool bias)
{
    int p = kernel / 2;
    sk_window w = {
        .kernel = {kernel, kernel}, .stride = {stride, stride}, .dilation = {1, 1}, .pad = {p, p, p, p}};
    sk_value weight = random_constant(b, "w", sk_shape_of(4, out, in / groups, kernel, kernel), false);
    return sk_b_conv(b, x, weight, bias ? random_constant(b, "b", sk_shape_of(1, out), false) : SK_VALUE_NONE,
                     &w, groups, "conv");
}

static sk_value norm(sk_builder *b, sk_value x, int channels)
{
    sk_shape s = sk_shape_of(1, channels);
    sk_attrs a = {.norm.epsilon = 1e-3f};
    sk_value in[5] = {x, random_constant(b, "scale", s, true), random_constant(b, "shift", s, false),
                      random_constant(b, "mean", s, false), random_constant(b, "variance", s, true)};
    return sk_b_node(b, SK_OP_BATCH_NORM, &a, in, 5, "bn");
}

static sk_value silu_in_steps(sk_builder *b, sk_value x)
{
    sk_value s = sk_b_unary(b, SK_UNARY_SIGMOID, x);
    return next(2) ? sk_b_mul(b, x, s) : sk_b_mul(b, s, x);
}

static sk_value gelu_in_steps(sk_builder *b, sk_value x, int variant)
{
    sk_value scaled =
        variant & 1 ? sk_b_mul(b, sk_b_f32(b, sqrtf(0.5f)), x) : sk_b_div(b, x, sk_b_f32(b, sqrtf(2)));
    sk_value gate = sk_b_add(b, sk_b_unary(b, SK_UNARY_ERF, scaled), sk_b_f32(b, 1));
    if (variant & 2)
        return sk_b_mul(b, sk_b_mul(b, x, gate), sk_b_f32(b, 0.5f));
    return sk_b_mul(b, gate, sk_b_mul(b, sk_b_f32(b, 0.5f), x));
}

typedef struct bench {
    sk_graph *graph, *special;
    sk_builder b;
    sk_value x;
} bench;

static void bench_open(bench *t)
{
    sk_error err = {0};
    *t = (bench){0};
    assert_ok(sk_graph_open(&t->graph, &err), &err);
    sk_builder_init(&t->b, t->graph);
    sk_shape any = sk_shape_of(4, -1, 4, -1, -1);
    t->x = sk_b_input(&t->b, "x", SK_DTYPE_F32, &any);
}

static const int bench_size = 4 * 6 * 7;

static void bench_run(const sk_graph *graph, sk_tensor *outs)
{
    sk_error err = {0};
    float data[4 * 6 * 7];
    for (int i = 0; i < bench_size; i++)
        data[i] = (float)((i * 37) % 101) / 50 - 1;
    sk_tensor in = {SK_DTYPE_F32, sk_shape_of(4, 1, 4, 6, 7), data};
    assert_ok(sk_reference_run(graph, &in, 1, outs, graph->n_outputs, &err), &err);
}

static void assert_close(const sk_tensor *a, const sk_tensor *b)
{
    assert_true(sk_shape_equal(&a->shape, &b->shape));
    for (int64_t i = 0; i < sk_shape_count(&a->shape); i++) {
        double x = sk_tensor_at(a, i), y = sk_tensor_at(b, i);
        if (!(fabs(x - y) <= 2e-5 * (1 + fabs(x))))
            fail_msg("element %lld: %.9g before, %.9g after", (long long)i, x, y);
    }
}

/* Specialises, applies the pass, compares, and returns how many nodes are left. */
static size_t apply(bench *t, sk_status (*pass)(sk_graph *, sk_error *))
{
    sk_error err = {0};
    sk_tensor before[32], after[32];
    sk_shape in = sk_shape_of(4, 1, 4, 6, 7);
    assert_ok(t->b.status, &t->b.error);
    assert_ok(sk_graph_specialise(t->graph, &in, 1, &t->special, &err), &err);
    bench_run(t->special, before);
    assert_ok(pass(t->special, &err), &err);
    assert_ok(sk_graph_verify(t->special, &err), &err);
    assert_int_equal(t->special->n_outputs, t->graph->n_outputs);
    bench_run(t->special, after);
    for (int i = 0; i < t->special->n_outputs; i++) {
        assert_close(&before[i], &after[i]);
        sk_free(before[i].data);
        sk_free(after[i].data);
    }
    return t->special->n_nodes;
}

static void bench_close(bench *t)
{
    sk_graph_close(&t->special);
    sk_graph_close(&t->graph);
}

static void folds_batch_norm(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bench t;
        bench_open(&t);
        sk_value y;
        if (i == 3) { /* transposed, in two groups */
            sk_attrs a = {
                .conv_transpose = {.window = {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}},
                                   .groups = 2}};
            sk_value in[3] = {t.x, random_constant(&t.b, "w", sk_shape_of(4, 4, 3, 2, 2), false),
                              SK_VALUE_NONE};
            y = sk_b_node(&t.b, SK_OP_CONV_TRANSPOSE, &a, in, 3, "up");
        } else {
            y = conv(&t.b, t.x, 4, 6, 3, 1, i == 2 ? 2 : 1, i == 1);
        }
        sk_b_output(&t.b, norm(&t.b, y, 6), "y");
        assert_int_equal(apply(&t, sk_graph_fold_batch_norm), 1);
        assert_string_equal(t.special->values[t.special->outputs[0]].name, "y");
        int constants = 0;
        for (size_t v = 0; v < t.special->n_values; v++)
            constants += t.special->values[v].blob != NULL;
        assert_int_equal(constants, 2); /* weights and bias; those before are given back */
        bench_close(&t);
    }
}

static void keeps_batch_norm_where_the_conv_is_seen(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value y = conv(&t.b, t.x, 4, 6, 3, 1, 1, false);
    sk_b_output(&t.b, norm(&t.b, y, 6), "y");
    sk_b_output(&t.b, y, "raw");
    assert_int_equal(apply(&t, sk_graph_fold_batch_norm), 2);
    bench_close(&t);
}

/* What is worked out from the input, or is no number with a point, is no weight. */
static void keeps_batch_norm_of_numbers_that_change(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value y = conv(&t.b, t.x, 4, 4, 1, 1, 1, true);
    sk_shape s = sk_shape_of(1, 4);
    sk_attrs a = {.norm.epsilon = 1e-3f},
             all = {.reduce = {.kind = SK_REDUCE_MEAN, .n_axes = 3, .axes = {0, 2, 3}}};
    sk_value mean = sk_b_node(&t.b, SK_OP_REDUCE, &all, &t.x, 1, "mean");
    sk_value in[5] = {y, random_constant(&t.b, "scale", s, true), random_constant(&t.b, "shift", s, false),
                      mean, random_constant(&t.b, "variance", s, true)};
    sk_b_output(&t.b, sk_b_node(&t.b, SK_OP_BATCH_NORM, &a, in, 5, "bn"), "y");
    assert_int_equal(apply(&t, sk_graph_fold_batch_norm), 3);
    bench_close(&t);
}

static void recognises_silu_and_gelu(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value y = silu_in_steps(&t.b, t.x);
    for (int variant = 0; variant < 4; variant++)
        y = gelu_in_steps(&t.b, y, variant);
    sk_value hard = sk_b_mul(&t.b, y, sk_b_unary_alpha(&t.b, SK_UNARY_HARD_SIGMOID, y, 1.0f / 6, 0.5f));
    sk_value mish =
        sk_b_mul(&t.b, sk_b_unary(&t.b, SK_UNARY_TANH, sk_b_unary(&t.b, SK_UNARY_SOFTPLUS, hard)), hard);
    sk_b_output(&t.b, mish, "y");
    assert_int_equal(apply(&t, sk_graph_fuse_silu), 7);
    const sk_unary want[7] = {SK_UNARY_SILU, SK_UNARY_GELU,       SK_UNARY_GELU, SK_UNARY_GELU,
                              SK_UNARY_GELU, SK_UNARY_HARD_SWISH, SK_UNARY_MISH};
    for (int i = 0; i < 7; i++)
        assert_int_equal(t.special->nodes[i].a.unary.kind, want[i]);
    bench_close(&t);
}

static void leaves_lookalikes_alone(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value other = sk_b_unary(&t.b, SK_UNARY_NEG, t.x);
    sk_b_output(&t.b, sk_b_mul(&t.b, other, sk_b_unary(&t.b, SK_UNARY_SIGMOID, t.x)), "not silu");
    sk_value gate = sk_b_add(&t.b, sk_b_unary(&t.b, SK_UNARY_ERF, sk_b_div(&t.b, t.x, sk_b_f32(&t.b, 1.5f))),
                             sk_b_f32(&t.b, 1));
    sk_b_output(&t.b, sk_b_mul(&t.b, sk_b_mul(&t.b, t.x, gate), sk_b_f32(&t.b, 0.5f)), "not gelu");
    sk_b_output(&t.b, sk_b_add(&t.b, t.x, sk_b_unary(&t.b, SK_UNARY_SIGMOID, t.x)), "a sum");
    sk_b_output(&t.b, sk_b_div(&t.b, t.x, sk_b_unary(&t.b, SK_UNARY_SIGMOID, t.x)), "a quotient");
    assert_int_equal(apply(&t, sk_graph_fuse_silu), 12);
    bench_close(&t);
}

static void fuses_activations(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value y = sk_b_unary_alpha(&t.b, SK_UNARY_LEAKY, conv(&t.b, t.x, 4, 4, 3, 1, 1, true), 0.1f, 0);
    sk_value c = conv(&t.b, y, 4, 4, 1, 1, 1, true);
    sk_attrs six = {.clip = {0, 6}};
    y = sk_b_node(&t.b, SK_OP_CLIP, &six, &c, 1, "clip");
    c = conv(&t.b, y, 4, 4, 1, 1, 1, true);
    sk_b_output(&t.b, sk_b_unary(&t.b, SK_UNARY_RELU, c), "y");
    sk_b_output(&t.b, c, "seen before the relu");
    assert_int_equal(apply(&t, sk_graph_fuse_activation), 4);
    assert_int_equal(t.special->nodes[0].a.conv.act.kind, SK_UNARY_LEAKY);
    assert_true(t.special->nodes[0].a.conv.act.alpha == 0.1f);
    assert_int_equal(t.special->nodes[1].a.conv.act.kind, SK_UNARY_RELU6);
    assert_int_equal(t.special->nodes[2].a.conv.act.kind, 0);
    bench_close(&t);
}

/* A convolution takes one activation; a second one stays, and those behind it are looked at all the same. */
static void takes_one_activation(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value y = sk_b_unary_alpha(&t.b, SK_UNARY_LEAKY, conv(&t.b, t.x, 4, 4, 3, 1, 1, true), 0.1f, 0);
    y = sk_b_unary(&t.b, SK_UNARY_RELU, y);
    sk_b_output(&t.b, sk_b_unary(&t.b, SK_UNARY_SILU, conv(&t.b, y, 4, 4, 1, 1, 1, true)), "y");
    assert_int_equal(apply(&t, sk_graph_fuse_activation), 3);
    assert_int_equal(t.special->nodes[0].a.conv.act.kind, SK_UNARY_LEAKY);
    assert_int_equal(t.special->nodes[1].a.unary.kind, SK_UNARY_RELU);
    assert_int_equal(t.special->nodes[2].a.conv.act.kind, SK_UNARY_SILU);
    bench_close(&t);
}

static void keeps_clips_that_are_no_relu6(void **state)
{
    (void)state;
    const sk_attrs clips[] = {{.clip = {0, 0.25f}}, {.clip = {-0.25f, 6}}, {.clip = {-0.25f, 0.25f}}};
    for (int i = 0; i < 3; i++) {
        bench t;
        bench_open(&t);
        sk_value c = conv(&t.b, t.x, 4, 4, 1, 1, 1, true);
        sk_b_output(&t.b, sk_b_node(&t.b, SK_OP_CLIP, &clips[i], &c, 1, "clip"), "y");
        assert_int_equal(apply(&t, sk_graph_fuse_activation), 2);
        assert_int_equal(t.special->nodes[0].a.conv.act.kind, 0);
        bench_close(&t);
    }
}

static void fuses_residuals(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    /* act before the sum, as YOLO's bottleneck; the shortcut is made after the convolution */
    sk_value main_path = sk_b_unary(&t.b, SK_UNARY_SILU, conv(&t.b, t.x, 4, 4, 3, 1, 1, true));
    sk_value shortcut = sk_b_unary(&t.b, SK_UNARY_TANH, t.x);
    sk_value sum = sk_b_add(&t.b, main_path, shortcut);
    /* act after the sum, as ResNet */
    sk_value y = sk_b_unary(&t.b, SK_UNARY_RELU, sk_b_add(&t.b, sum, conv(&t.b, sum, 4, 4, 1, 1, 1, false)));
    /* one number for every pixel is no residual */
    sk_b_output(&t.b, sk_b_add(&t.b, conv(&t.b, y, 4, 4, 1, 1, 1, false), sk_b_f32(&t.b, 3)), "y");
    assert_int_equal(apply(&t, sk_graph_optimise), 5);
    const sk_node *first = &t.special->nodes[1], *second = &t.special->nodes[2];
    assert_int_equal(first->op, SK_OP_CONV);
    assert_int_equal(first->n_in, 4);
    assert_int_equal(first->a.conv.act.kind, SK_UNARY_SILU);
    assert_int_equal(first->a.conv.residual_before_act, 0);
    assert_int_equal(second->a.conv.act.kind, SK_UNARY_RELU);
    assert_int_equal(second->a.conv.residual_before_act, 1);
    bench_close(&t);
}

/* Blocks as networks have them, wired at random. */
static void random_networks(void **state)
{
    (void)state;
    for (uint32_t round = 1; round <= 60; round++) {
        seed = round * 7919;
        bench t;
        bench_open(&t);
        sk_value pool[40];
        int n = 0;
        pool[n++] = t.x;
        for (int block = 0; block < 12; block++) {
            sk_value x = pool[next((uint32_t)n)], y = x;
            switch (next(7)) {
            case 0: y = conv(&t.b, x, 4, 4, 1 + 2 * (int)next(2), 1, next(2) ? 1 : 4, next(2)); break;
            case 1: y = norm(&t.b, conv(&t.b, x, 4, 4, 3, 1, 1, next(2)), 4); break;
            case 2: y = silu_in_steps(&t.b, norm(&t.b, conv(&t.b, x, 4, 4, 1, 1, 1, false), 4)); break;
            case 3: y = sk_b_add(&t.b, x, pool[next((uint32_t)n)]); break;
            case 4: y = sk_b_unary(&t.b, next(2) ? SK_UNARY_RELU : SK_UNARY_SILU, x); break;
            case 5: y = gelu_in_steps(&t.b, x, (int)next(4)); break;
            case 6: y = sk_b_node(&t.b, SK_OP_IDENTITY, NULL, &x, 1, "same"); break;
            }
            pool[n++] = y;
        }
        sk_b_output(&t.b, pool[n - 1], "last");
        sk_b_output(&t.b, pool[1 + next((uint32_t)n - 1)], "some");
        sk_b_output(&t.b, pool[1 + next((uint32_t)n - 1)], "other");
        apply(&t, sk_graph_optimise);
        bench_close(&t);
    }
}

static void removes_the_dead_and_keeps_inputs(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_value dead = conv(&t.b, t.x, 4, 4, 3, 1, 1, true);
    sk_b_unary(&t.b, SK_UNARY_RELU, dead);
    sk_value parts[2];
    sk_b_split(&t.b, sk_b_unary(&t.b, SK_UNARY_NEG, t.x), 1, NULL, 2, parts);
    sk_b_output(&t.b, parts[1], "y");
    assert_int_equal(apply(&t, sk_graph_remove_dead), 2);
    assert_int_equal(sk_graph_parameters(t.special), 0);
    bench_close(&t);
}

/* A weight that two convolutions share is one. */
static void shared_weights_count_once(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    sk_window w = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
    sk_value weight = random_constant(&t.b, "w", sk_shape_of(4, 4, 4, 3, 3), false);
    sk_value bias = random_constant(&t.b, "b", sk_shape_of(1, 4), false);
    sk_value y = sk_b_conv(&t.b, t.x, weight, bias, &w, 1, "one");
    assert_int_equal(sk_graph_parameters(t.graph), 4 * 4 * 9 + 4);
    y = sk_b_conv(&t.b, y, weight, SK_VALUE_NONE, &w, 1, "again");
    assert_int_equal(sk_graph_parameters(t.graph), 4 * 4 * 9 + 4);
    sk_b_output(&t.b, conv(&t.b, y, 4, 2, 1, 1, 1, false), "y");
    assert_int_equal(sk_graph_parameters(t.graph), 4 * 4 * 9 + 4 + 8);
    bench_close(&t);
}

static void cuts_the_tail(void **state)
{
    (void)state;
    sk_error err = {0};
    bench t;
    bench_open(&t);
    sk_value a = conv(&t.b, t.x, 4, 4, 3, 1, 1, true), c = conv(&t.b, t.x, 4, 2, 3, 1, 1, true);
    sk_value proto = conv(&t.b, t.x, 4, 8, 3, 1, 1, true);
    t.b.node_flags = SK_NODE_TAIL;
    sk_attrs anchors = {.anchors = {.n_levels = 1, .stride = {8}}};
    sk_value points[2], feature = t.x;
    sk_b_node_n(&t.b, SK_OP_ANCHORS, &anchors, &feature, 1, "anchors", points, 2);
    sk_value scores = sk_b_unary(&t.b, SK_UNARY_SIGMOID, c); /* first use: c */
    sk_value both[2] = {a, scores};
    sk_value y = sk_b_concat(&t.b, both, 2, 1);
    int64_t dims[3] = {0, 6, -1};
    sk_b_output(&t.b, sk_b_mul(&t.b, sk_b_reshape(&t.b, y, dims, 3), points[1]), "output0");
    sk_b_output(&t.b, proto, "output1");
    assert_ok(t.b.status, &t.b.error);
    sk_graph *plain = NULL;
    assert_ok(sk_graph_clone(t.graph, &plain, &err), &err);
    assert_ok(sk_graph_cut_tail(plain, &err), &err);
    assert_ok(sk_graph_verify(plain, &err), &err);
    assert_int_equal(plain->n_outputs, 3);
    assert_int_equal(plain->outputs[0], c);
    assert_int_equal(plain->outputs[1], a);
    assert_int_equal(plain->outputs[2], proto);
    assert_int_equal(plain->n_nodes, 3);
    assert_int_equal(sk_graph_cut_tail(plain, &err), SK_ERR_NOT_FOUND);
    sk_graph_close(&plain);

    /* optimising first moves nothing across the border */
    apply(&t, sk_graph_optimise);
    assert_ok(sk_graph_cut_tail(t.special, &err), &err);
    assert_int_equal(t.special->n_outputs, 3);
    assert_int_equal(t.special->outputs[0], c);
    assert_int_equal(t.special->nodes[1].a.conv.act.kind, 0);
    bench_close(&t);
}

static void counts_and_prints(void **state)
{
    (void)state;
    sk_error err = {0};
    bench t;
    bench_open(&t);
    sk_value y = norm(&t.b, conv(&t.b, t.x, 4, 6, 3, 1, 1, true), 6);
    sk_b_output(&t.b, y, "y");
    assert_int_equal(sk_graph_parameters(t.graph), 6 * 4 * 9 + 6 + 12);
    apply(&t, sk_graph_optimise);
    assert_true(sk_graph_flops(t.special) == 2.0 * 6 * 6 * 7 * 4 * 9);
    char *text = NULL;
    assert_ok(sk_graph_print(t.special, &text, &err), &err);
    assert_non_null(strstr(text, "conv k3x3 s1x1 p1,1,1,1 \"conv\""));
    assert_non_null(strstr(text, "1x6x6x7"));
    sk_free(text);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_batch_norm),
        cmocka_unit_test(keeps_batch_norm_where_the_conv_is_seen),
        cmocka_unit_test(keeps_batch_norm_of_numbers_that_change),
        cmocka_unit_test(recognises_silu_and_gelu),
        cmocka_unit_test(leaves_lookalikes_alone),
        cmocka_unit_test(fuses_activations),
        cmocka_unit_test(takes_one_activation),
        cmocka_unit_test(keeps_clips_that_are_no_relu6),
        cmocka_unit_test(fuses_residuals),
        cmocka_unit_test(random_networks),
        cmocka_unit_test(removes_the_dead_and_keeps_inputs),
        cmocka_unit_test(shared_weights_count_once),
        cmocka_unit_test(cuts_the_tail),
        cmocka_unit_test(counts_and_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
