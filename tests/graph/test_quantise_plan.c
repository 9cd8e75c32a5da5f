/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of a network go to eight bits, with which scales, and that the rewritten network computes what it should. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/quantise_range.h"
#include "graph/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 7;

static float next_float(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed / 2147483648.0f;
}

static sk_value conv(sk_builder *b, sk_value x, int in, int out, int kernel, int groups, const char *name)
{
    static float data[16 * 16 * 9];
    sk_shape w = sk_shape_of(4, out, in / groups, kernel, kernel), list = sk_shape_of(1, out);
    int p = kernel / 2;
    sk_window window = {
        .kernel = {kernel, kernel}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {p, p, p, p}};
    for (int64_t i = 0; i < sk_shape_count(&w); i++)
        data[i] = next_float() * 0.5f;
    sk_value weight = sk_b_constant(b, "w", SK_DTYPE_F32, &w, data);
    sk_value bias = sk_b_constant(b, "b", SK_DTYPE_F32, &list, data);
    return sk_b_conv(b, x, weight, bias, &window, groups, name);
}

/* A small YOLO's ways: first layer, split, residual, join, pool, depthwise, resize, and a head into a tail. */
static sk_graph *network(void)
{
    sk_error err;
    sk_graph *graph = NULL;
    sk_builder b;
    sk_shape open = {.rank = 4, .dim = {-1, 3, -1, -1}};
    sk_value halves[2];
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &open);
    x = sk_b_unary(&b, SK_UNARY_SILU, conv(&b, x, 3, 16, 3, 1, "first"));
    x = sk_b_unary(&b, SK_UNARY_SILU, conv(&b, x, 16, 16, 1, 1, "cv1"));
    sk_b_split(&b, x, 1, NULL, 2, halves);
    sk_value y = sk_b_unary(&b, SK_UNARY_SILU, conv(&b, halves[1], 8, 8, 3, 1, "inner"));
    y = sk_b_add(&b, y, halves[1]);
    sk_value joined = sk_b_concat(&b, (sk_value[]){halves[0], y}, 2, 1);
    x = sk_b_unary(&b, SK_UNARY_SILU, conv(&b, joined, 16, 16, 1, 1, "cv2"));
    sk_value pooled = sk_b_max_pool(&b, x, 2, 2, 0, "pool");
    sk_value up = sk_b_upsample_nearest(&b, pooled, 2);
    x = sk_b_concat(&b, (sk_value[]){x, up}, 2, 1);
    x = sk_b_unary(&b, SK_UNARY_RELU, conv(&b, sk_b_slice(&b, x, 1, 0, 16), 16, 16, 3, 16, "depthwise"));
    x = sk_b_unary(&b, SK_UNARY_SILU, conv(&b, x, 16, 16, 1, 1, "before_last"));
    x = conv(&b, x, 16, 5, 1, 1, "last");
    b.node_flags = SK_NODE_TAIL;
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_SIGMOID, x), "y");
    assert_ok(b.status, &b.error);
    return graph;
}

static sk_graph *prepared(void)
{
    sk_error err;
    sk_graph *graph = network(), *out = NULL;
    assert_ok(sk_quantise_prepare(graph, &out, &err), &err);
    sk_graph_close(&graph);
    return out;
}

static const sk_quantise_layer *layer(const sk_quantise_plan *plan, const char *name)
{
    for (int32_t i = 0; i < plan->n_layers; i++)
        if (strcmp(plan->layers[i].name, name) == 0)
            return &plan->layers[i];
    return NULL;
}

static int32_t group_of(const sk_quantise_plan *plan, sk_value v)
{
    for (int32_t i = 0; i < plan->n_values; i++)
        if (plan->values[i] == v)
            return plan->group_of[i];
    return -1;
}

static void plans_what_pays(void **state)
{
    (void)state;
    sk_error err;
    sk_quantise_plan *plan = NULL;
    sk_graph *graph = prepared();
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    assert_null(layer(plan, "first")); /* reads pictures */
    assert_null(layer(plan, "last"));  /* makes results */
    static const char *const in[] = {"cv1", "inner", "cv2", "depthwise", "before_last"};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        if (!layer(plan, in[i]))
            fail_msg("%s stays f32", in[i]);
    assert_int_equal(plan->n_layers, 5);
    assert_int_equal(plan->n_kept, 2);
    /* what is split, added and joined has one scale; so has what is pooled, resized, joined and cut */
    const sk_node *inner = &graph->nodes[layer(plan, "inner")->node],
                  *cv2 = &graph->nodes[layer(plan, "cv2")->node];
    assert_true(group_of(plan, inner->in[0]) >= 0);
    assert_int_equal(group_of(plan, inner->in[0]), group_of(plan, cv2->in[0]));
    assert_int_equal(group_of(plan, inner->out[0]), -1); /* only added to: never kept by itself */
    const sk_node *depthwise = &graph->nodes[layer(plan, "depthwise")->node];
    assert_int_equal(group_of(plan, cv2->out[0]), group_of(plan, depthwise->in[0]));
    assert_true(group_of(plan, cv2->out[0]) != group_of(plan, cv2->in[0]));
    /* the last layer's input needs no rounding */
    assert_int_equal(group_of(plan, graph->nodes[layer(plan, "before_last")->node].out[0]), -1);
    sk_quantise_plan_close(&plan);
    /* one that is told to stay */
    uint8_t *stays = calloc(graph->n_nodes, 1);
    for (size_t n = 0; n < graph->n_nodes; n++)
        stays[n] = strcmp(graph->nodes[n].name, "cv2") == 0;
    assert_ok(sk_quantise_plan_open(graph, stays, &plan, &err), &err);
    assert_null(layer(plan, "cv2"));
    assert_int_equal(plan->n_layers, 4);
    sk_quantise_plan_close(&plan);
    memset(stays, 1, graph->n_nodes);
    assert_int_equal(sk_quantise_plan_open(graph, stays, &plan, &err), SK_ERR_UNSUPPORTED);
    free(stays);
    sk_graph_close(&graph);
}

static sk_tensor run(const sk_graph *graph, float *x)
{
    sk_error err;
    sk_graph *fixed = NULL;
    sk_shape shape = sk_shape_of(4, 1, 3, 8, 8);
    sk_tensor in = {SK_DTYPE_F32, shape, x}, out;
    assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, &out, 1, &err), &err);
    sk_graph_close(&fixed);
    return out;
}

static sk_status keep_range(void *context, const sk_graph *graph, int32_t node, const sk_tensor *outs)
{
    sk_range *ranges = context;
    if (outs[0].dtype == SK_DTYPE_F32)
        sk_range_add(&ranges[graph->nodes[node].out[0]], outs[0].data, sk_shape_count(&outs[0].shape));
    return SK_OK;
}

/* As other runtimes want it: biases as i32, eight bits on both sides of a convolution, and nearly the same numbers. */
static void check_form_of_runtimes(float *x)
{
    sk_error err;
    int layers = 0, sums = 0;
    const sk_quantise_reach reach = {"before_last", -0.3f, 2};
    sk_graph *plain = network(), *ready = NULL;
    sk_quantise_plan *plan = NULL;
    sk_quantise_scale scales[16];
    assert_ok(sk_quantise_plan_open(plain, NULL, &plan, &err), &err);
    for (int i = 0; i < 16; i++)
        scales[i] = (sk_quantise_scale){0.02f, 20};
    sk_quantise_numbers numbers = {.groups = scales};
    assert_ok(sk_quantise_rewrite(plain, plan, &numbers, &ready, &err), &err);
    sk_tensor before = run(ready, x);
    assert_ok(sk_quantise_for_runtimes(ready, &reach, 1, &err), &err);
    for (size_t n = 0; n < ready->n_nodes; n++) {
        const sk_node *node = &ready->nodes[n];
        sk_quantisation w, q;
        if (node->op != SK_OP_CONV || !sk_graph_quantisation_of(ready, node->in[1], &w))
            continue;
        layers++;
        const sk_node *bias = &ready->nodes[ready->values[node->in[2]].producer];
        assert_int_equal(bias->op, SK_OP_DEQUANTIZE);
        assert_int_equal(ready->values[bias->in[0]].dtype, SK_DTYPE_I32);
        for (size_t k = n; k < ready->n_nodes; k++)
            if (ready->nodes[k].op == SK_OP_DEQUANTIZE &&
                sk_graph_quantisation_of(ready, ready->nodes[k].out[0], &q) && q.real == node->out[0])
                sums++;
    }
    assert_int_equal(layers, plan->n_layers);
    assert_true(sums >= 4); /* but the one whose output is only added to, of which nothing is known */
    sk_tensor after = run(ready, x);
    for (int64_t i = 0; i < sk_shape_count(&before.shape); i++)
        if (fabsf(((float *)before.data)[i] - ((float *)after.data)[i]) > 0.05f)
            fail_msg("element %lld: %g became %g", (long long)i, (double)((float *)before.data)[i],
                     (double)((float *)after.data)[i]);
    sk_free(before.data);
    sk_free(after.data);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&plain);
    sk_graph_close(&ready);
}

/* In eight bits it is near f32; the simulation in f32 is the same to the last rounding; readers find the normal form. In fp8 the
 * depthwise layer keeps its weights. */
static void rewrite_and_compare(bool f8)
{
    sk_error err;
    sk_quantise_plan *plan = NULL;
    sk_graph *graph = prepared(), *narrow = NULL, *simulated = NULL, *fixed = NULL;
    float x[3 * 64];
    sk_shape shape = sk_shape_of(4, 1, 3, 8, 8);
    sk_tensor in = {SK_DTYPE_F32, shape, x}, unused;
    for (int i = 0; i < 192; i++)
        x[i] = next_float();
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    sk_range *ranges = calloc(graph->n_values, sizeof *ranges);
    assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run_watched(fixed, &in, 1, &unused, 1, keep_range, ranges, &err), &err);
    sk_free(unused.data);
    sk_range *groups = calloc((size_t)plan->n_groups, sizeof *groups);
    for (int32_t i = 0; i < plan->n_values; i++)
        if (!plan->moved[i])
            sk_range_merge(&groups[plan->group_of[i]], &ranges[plan->values[i]]);
    sk_quantise_scale scales[16];
    double errors[16];
    assert_in_range(plan->n_groups, 1, 16);
    for (int32_t g = 0; g < plan->n_groups; g++)
        scales[g] = f8 ? sk_range_f8_scale(&groups[g], SK_RANGE_ERROR, 0)
                       : sk_range_scale(&groups[g], SK_RANGE_ERROR, 0);
    sk_quantise_numbers numbers = {.groups = scales, .weight_error = errors, .f8 = f8};
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &narrow, &err), &err);
    numbers.simulate = true;
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &simulated, &err), &err);
    assert_false(sk_graph_is_quantised(simulated));
    for (int32_t i = 0; i < plan->n_layers; i++)
        assert_true(f8 && strcmp(plan->layers[i].name, "depthwise") == 0
                        ? errors[i] == 0
                        : errors[i] > 0 && errors[i] < (f8 ? 0.05 : 0.02));
    sk_tensor a = run(graph, x), b = run(narrow, x), c = run(simulated, x);
    check_form_of_runtimes(x);
    double off = 0, power = 0;
    for (int64_t i = 0; i < sk_shape_count(&a.shape); i++) {
        double p = (double)((float *)a.data)[i], q = (double)((float *)b.data)[i];
        off += (p - q) * (p - q);
        power += p * p;
        assert_true(fabs(q - (double)((float *)c.data)[i]) < 1e-5);
    }
    assert_true(off > 0 && sqrt(off / power) < (f8 ? 0.06 : 0.02));
    /* every layer reads eight bits and has weights in eight bits */
    int32_t found = 0;
    for (size_t n = 0; n < narrow->n_nodes; n++) {
        sk_quantisation q, w;
        const sk_node *node = &narrow->nodes[n];
        if (node->op != SK_OP_CONV || !sk_graph_quantisation_of(narrow, node->in[1], &w))
            continue;
        found++;
        assert_true(sk_graph_quantisation_of(narrow, node->in[0], &q));
        assert_int_equal(q.dtype, f8 ? SK_DTYPE_F8 : SK_DTYPE_U8);
        assert_int_equal(w.dtype, f8 ? SK_DTYPE_F8 : SK_DTYPE_I8);
        assert_int_equal(sk_graph_is_f8(narrow), f8);
        assert_int_equal(w.n_scales, narrow->values[w.bytes].shape.dim[0]);
        sk_tensor bytes = sk_value_tensor(narrow, w.bytes);
        for (int64_t i = 0; i < sk_shape_count(&bytes.shape); i++)
            assert_true(f8 || ((int8_t *)bytes.data)[i] >= -127);
    }
    assert_int_equal(found, plan->n_layers - f8);
    sk_free(a.data);
    sk_free(b.data);
    sk_free(c.data);
    free(ranges);
    free(groups);
    sk_graph_close(&fixed);
    sk_graph_close(&narrow);
    sk_graph_close(&simulated);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&graph);
}

static void rewrites_the_network(void **state)
{
    (void)state;
    rewrite_and_compare(false);
    rewrite_and_compare(true);
}

/* A mean that rounded weights shift is taken back. */
static void corrects_the_bias(void **state)
{
    (void)state;
    sk_error err;
    sk_quantise_plan *plan = NULL;
    sk_graph *graph = prepared(), *without = NULL, *with = NULL;
    sk_quantise_scale scales[16];
    const float *means[16];
    float ones[64];
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    for (int i = 0; i < 16; i++) {
        scales[i] = (sk_quantise_scale){0.02f, 30};
        means[i] = ones;
    }
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    sk_quantise_numbers numbers = {.groups = scales};
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &without, &err), &err);
    numbers.means = means;
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &with, &err), &err);
    for (size_t n = 0; n < with->n_nodes; n++) {
        const sk_node *node = &with->nodes[n];
        sk_quantisation w;
        if (node->op != SK_OP_CONV || !sk_graph_quantisation_of(with, node->in[1], &w))
            continue;
        /* for inputs that are 1 everywhere the sum of weights and bias is what it was in f32 */
        const sk_node *plain = NULL;
        for (size_t k = 0; k < graph->n_nodes; k++)
            if (strcmp(graph->nodes[k].name, node->name) == 0 && graph->nodes[k].op == SK_OP_CONV)
                plain = &graph->nodes[k];
        sk_tensor f = sk_value_tensor(graph, plain->in[1]), q = sk_value_tensor(with, w.bytes);
        int64_t out = f.shape.dim[0], each = sk_shape_count(&f.shape) / out;
        for (int64_t o = 0; o < out; o++) {
            double a = sk_tensor_at(
                &(sk_tensor){SK_DTYPE_F32, f.shape, sk_value_tensor(graph, plain->in[2]).data}, o);
            double b =
                sk_tensor_at(&(sk_tensor){SK_DTYPE_F32, f.shape, sk_value_tensor(with, node->in[2]).data}, o);
            for (int64_t i = o * each; i < (o + 1) * each; i++) {
                a += sk_tensor_at(&f, i);
                b += sk_tensor_at(&q, i) * (double)w.scales[o];
            }
            assert_true(fabs(a - b) < 1e-4);
        }
    }
    sk_graph_close(&without);
    sk_graph_close(&with);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&graph);
}

/* The sum over a channel's taps is the original's to half a step, where nothing was clipped, and no tap is off by a whole one. */
static void keeps_sums_of_taps(void **state)
{
    (void)state;
    sk_error err;
    sk_quantise_plan *plan = NULL;
    sk_graph *graph = prepared(), *narrow = NULL;
    sk_quantise_scale scales[16];
    int64_t seen = 0;
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    for (int i = 0; i < 16; i++)
        scales[i] = (sk_quantise_scale){0.02f, 30};
    sk_quantise_numbers numbers = {.groups = scales};
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &narrow, &err), &err);
    for (int32_t l = 0; l < plan->n_layers; l++) {
        const sk_tensor f = sk_value_tensor(graph, graph->nodes[plan->layers[l].node].in[1]);
        const int64_t *d = f.shape.dim, taps = d[2] * d[3];
        sk_quantisation w = {0};
        for (size_t n = 0; n < narrow->n_nodes; n++)
            if (narrow->nodes[n].op == SK_OP_CONV && strcmp(narrow->nodes[n].name, plan->layers[l].name) == 0)
                assert_true(sk_graph_quantisation_of(narrow, narrow->nodes[n].in[1], &w));
        const sk_tensor q = sk_value_tensor(narrow, w.bytes);
        for (int64_t at = 0; taps > 1 && at < sk_shape_count(&f.shape); at += taps) {
            double sum = 0, scale = (double)w.scales[at / (d[1] * taps)];
            bool clipped = false;
            for (int64_t i = at; i < at + taps; i++) {
                const double off = sk_tensor_at(&f, i) / scale - sk_tensor_at(&q, i);
                clipped = clipped || fabs(sk_tensor_at(&q, i)) == 127;
                assert_true(clipped || fabs(off) < 1);
                sum += off;
            }
            assert_true(clipped || fabs(sum) <= 0.5 + 1e-6);
            seen += !clipped;
        }
    }
    assert_true(seen > 20);
    sk_graph_close(&narrow);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&graph);
}

/* Weights that are no numbers, or none at all, become some eight bits all the same. */
static void survives_hostile_weights(void **state)
{
    (void)state;
    sk_error err;
    sk_quantise_plan *plan = NULL;
    sk_graph *graph = prepared(), *narrow = NULL;
    sk_quantise_scale scales[16];
    for (int i = 0; i < 16; i++)
        scales[i] = (sk_quantise_scale){1e-30f, 255};
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    for (int32_t i = 0; i < plan->n_layers; i++) {
        float *w = sk_value_tensor(graph, graph->nodes[plan->layers[i].node].in[1]).data;
        static const float bad[] = {NAN, INFINITY, -INFINITY, 0, 1e-40f};
        for (int k = 0; k < 9; k++)
            w[k] = bad[(i + k) % 5];
    }
    sk_quantise_numbers numbers = {.groups = scales};
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &narrow, &err), &err);
    assert_ok(sk_graph_verify(narrow, &err), &err);
    sk_graph_close(&narrow);
    scales[0].scale = NAN;
    assert_int_equal(sk_quantise_rewrite(graph, plan, &numbers, &narrow, &err), SK_ERR_ARG);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&graph);
}

static void ranges_grow_and_choose(void **state)
{
    (void)state;
    static sk_range r, other, all;
    float small[3] = {0.001f, -0.25f, 0.5f}, large[2] = {100, NAN};
    memset(&r, 0, sizeof r);
    assert_true(sk_range_scale(&r, SK_RANGE_ERROR, 0).scale == 1);
    sk_range_add(&r, small, 3);
    sk_range_add(&r, large, 2);
    assert_int_equal(r.ignored, 1);
    int64_t total = 0;
    for (int i = 0; i < SK_RANGE_BINS; i++)
        total += r.bins[i];
    assert_int_equal(total, 4);
    sk_quantise_scale s = sk_range_scale(&r, SK_RANGE_ALL, 0);
    assert_true(fabsf(s.scale - 100.25f / 255) < 1e-5f);
    assert_int_equal(s.zero, 1);
    /* merged in either order it is the same */
    memset(&other, 0, sizeof other);
    memset(&all, 0, sizeof all);
    sk_range_add(&other, large, 2);
    sk_range_add(&all, small, 3);
    sk_range_merge(&other, &all);
    assert_memory_equal(other.bins, r.bins, sizeof r.bins);
    /* a single far one among many costs finer steps for all others */
    static float many[100000];
    memset(&r, 0, sizeof r);
    for (int i = 0; i < 100000; i++)
        many[i] = next_float();
    many[5] = 40;
    sk_range_add(&r, many, 100000);
    assert_true(sk_range_scale(&r, SK_RANGE_ALL, 0).scale > 0.16f);
    s = sk_range_scale(&r, SK_RANGE_PERCENTILE, 99.9);
    assert_true(s.scale < 0.009f && s.scale > 0.007f);
    assert_in_range(s.zero, 125, 131);
    for (int i = 0; i < 10; i++) { /* a thousand times as many others */
        other = r;
        sk_range_merge(&r, &other);
    }
    many[5] = 50;
    sk_range_add(&r, many, 6);
    assert_true(sk_range_scale(&r, SK_RANGE_ERROR, 0).scale < sk_range_scale(&r, SK_RANGE_ALL, 0).scale);
    /* ReLU: nothing below 0 takes no step */
    memset(&r, 0, sizeof r);
    for (int i = 0; i < 100000; i++)
        many[i] = fabsf(next_float());
    sk_range_add(&r, many, 100000);
    assert_int_equal(sk_range_scale(&r, SK_RANGE_ERROR, 0).zero, 0);
}

/* The few places with an animal reach beyond the background: they are not cut off for a finer step elsewhere, and what comes
 * later may reach further than what was seen. */
static void ranges_leave_room(void **state)
{
    (void)state;
    static sk_range r;
    static float many[100000];
    memset(&r, 0, sizeof r);
    for (int i = 0; i < 100000; i++)
        many[i] = i % 1000 == 0 ? 7 + next_float() : fabsf(next_float()) * 0.5f;
    sk_range_add(&r, many, 100000);
    sk_quantise_scale s = sk_range_scale(&r, SK_RANGE_ERROR, 0);
    assert_int_equal(s.zero, 0);
    assert_true(s.scale * 255 > 8.5f && s.scale * 255 < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_what_pays),        cmocka_unit_test(rewrites_the_network),
        cmocka_unit_test(corrects_the_bias),      cmocka_unit_test(survives_hostile_weights),
        cmocka_unit_test(ranges_grow_and_choose), cmocka_unit_test(ranges_leave_room),
        cmocka_unit_test(keeps_sums_of_taps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
