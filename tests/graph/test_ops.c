/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation against what torch, onnxruntime and numpy computed (cases.bin, made by make_cases.py):
 * once as a single node, once as a graph that is specialised and run. */
#include "support/fault.h"
#include "support/test.h"

#include "base/hash.h"
#include "base/text.h"
#include "graph/builder.h"
#include "graph/ops.h"
#include "graph/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 8, MAX_NUMBERS = 24 };

typedef struct op_case {
    char name[256], op[64], text[32];
    int32_t ints[MAX_NUMBERS];
    double floats[MAX_NUMBERS];
    int n_ints, n_floats;
    double tolerance;
    int n_in, n_out;
    sk_tensor in[MAX_TENSORS], out[MAX_TENSORS];
} op_case;

/* --- reading the file --- */

static void read_bytes(FILE *file, void *to, size_t bytes)
{
    if (bytes)
        assert_int_equal(fread(to, 1, bytes, file), bytes);
}

static int read_u8(FILE *file)
{
    uint8_t v;
    read_bytes(file, &v, 1);
    return v;
}

static void read_text(FILE *file, char *to, size_t capacity)
{
    size_t n = (size_t)read_u8(file);
    assert_true(n < capacity);
    read_bytes(file, to, n);
    to[n] = '\0';
}

static sk_tensor read_tensor(FILE *file)
{
    sk_tensor t = {.dtype = (sk_dtype)read_u8(file), .shape.rank = -1};
    if (t.dtype == SK_DTYPE_NONE)
        return t;
    t.shape.rank = read_u8(file);
    for (int d = 0; d < t.shape.rank; d++) {
        int32_t dim;
        read_bytes(file, &dim, sizeof dim);
        t.shape.dim[d] = dim;
    }
    t.data = malloc(sk_tensor_bytes(&t) + 1);
    read_bytes(file, t.data, sk_tensor_bytes(&t));
    return t;
}

static void read_case(FILE *file, op_case *c)
{
    memset(c, 0, sizeof *c);
    read_text(file, c->name, sizeof c->name);
    read_text(file, c->op, sizeof c->op);
    read_text(file, c->text, sizeof c->text);
    c->n_ints = read_u8(file);
    assert_true(c->n_ints <= MAX_NUMBERS);
    read_bytes(file, c->ints, (size_t)c->n_ints * sizeof *c->ints);
    c->n_floats = read_u8(file);
    assert_true(c->n_floats <= MAX_NUMBERS);
    read_bytes(file, c->floats, (size_t)c->n_floats * sizeof *c->floats);
    read_bytes(file, &c->tolerance, sizeof c->tolerance);
    c->n_in = read_u8(file);
    assert_true(c->n_in <= MAX_TENSORS);
    for (int i = 0; i < c->n_in; i++)
        c->in[i] = read_tensor(file);
    c->n_out = read_u8(file);
    assert_true(c->n_out <= MAX_TENSORS);
    for (int i = 0; i < c->n_out; i++)
        c->out[i] = read_tensor(file);
}

static void free_case(op_case *c)
{
    for (int i = 0; i < c->n_in; i++)
        free(c->in[i].data);
    for (int i = 0; i < c->n_out; i++)
        free(c->out[i].data);
}

/* --- attributes --- */

static sk_op op_named(const char *name)
{
    for (int op = 1; op < SK_OP_COUNT; op++)
        if (strcmp(sk_op_name((sk_op)op), name) == 0)
            return (sk_op)op;
    fail_msg("no operation '%s'", name);
    return SK_OP_NONE;
}

static int kind_named(const char *name, bool binary)
{
    for (int kind = 1; kind < (binary ? (int)SK_BINARY_COUNT : (int)SK_UNARY_COUNT); kind++)
        if (strcmp(binary ? sk_binary_name((sk_binary)kind) : sk_unary_name((sk_unary)kind), name) == 0)
            return kind;
    fail_msg("no function '%s'", name);
    return 0;
}

static sk_window window_of(const int32_t *n)
{
    return (sk_window){.kernel = {n[0], n[1]},
                       .stride = {n[2], n[3]},
                       .dilation = {n[4], n[5]},
                       .pad = {n[6], n[7], n[8], n[9]},
                       .same = n[10]};
}

static sk_attrs attributes_of(const op_case *c, sk_op op)
{
    sk_attrs a;
    const int32_t *n = c->ints;
    const double *f = c->floats;
    memset(&a, 0, sizeof a);
    switch (op) {
    case SK_OP_CONV:
        a.conv.window = window_of(n);
        a.conv.groups = n[11];
        a.conv.act = (sk_fused_act){n[12], (float)f[0], (float)f[1]};
        a.conv.residual_before_act = n[13];
        break;
    case SK_OP_CONV_TRANSPOSE:
        a.conv_transpose.window = window_of(n);
        a.conv_transpose.output_pad[0] = n[11];
        a.conv_transpose.output_pad[1] = n[12];
        a.conv_transpose.same_output = n[13];
        a.conv_transpose.groups = n[14];
        break;
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
        a.pool.window = window_of(n);
        a.pool.ceil_mode = n[11];
        a.pool.count_include_pad = n[12];
        break;
    case SK_OP_RESIZE:
        a.resize.mode = (sk_resize_mode)n[0];
        a.resize.coords = (sk_resize_coords)n[1];
        a.resize.round = (sk_resize_round)n[2];
        a.resize.antialias = n[3];
        a.resize.exclude_outside = n[4];
        a.resize.cubic_a = (float)f[0];
        a.resize.scale[0] = (float)f[1];
        a.resize.scale[1] = (float)f[2];
        break;
    case SK_OP_GRID_SAMPLE:
        a.grid_sample.mode = n[0];
        a.grid_sample.padding = n[1];
        a.grid_sample.align_corners = n[2];
        break;
    case SK_OP_GEMM:
        a.gemm.transpose_a = n[0];
        a.gemm.transpose_b = n[1];
        a.gemm.alpha = (float)f[0];
        a.gemm.beta = (float)f[1];
        break;
    case SK_OP_EINSUM: snprintf(a.einsum.equation, sizeof a.einsum.equation, "%s", c->text); break;
    case SK_OP_BATCH_NORM:
    case SK_OP_LAYER_NORM:
    case SK_OP_INSTANCE_NORM:
        a.norm.axis = n[0];
        a.norm.epsilon = (float)f[0];
        break;
    case SK_OP_UNARY:
        a.unary.kind = (sk_unary)kind_named(c->text, false);
        a.unary.alpha = (float)f[0];
        a.unary.beta = (float)f[1];
        break;
    case SK_OP_CLIP:
        a.clip.low = f[0];
        a.clip.high = f[1];
        break;
    case SK_OP_CAST: a.cast.to = (sk_dtype)n[0]; break;
    case SK_OP_BINARY: a.binary.kind = (sk_binary)kind_named(c->text, true); break;
    case SK_OP_REDUCE:
        a.reduce.kind = (sk_reduction)n[0];
        a.reduce.keep_dims = n[1];
        a.reduce.n_axes = n[2];
        for (int i = 0; i < n[2]; i++)
            a.reduce.axes[i] = n[3 + i];
        break;
    case SK_OP_ARG_MAX:
    case SK_OP_ARG_MIN:
        a.arg.axis = n[0];
        a.arg.keep_dims = n[1];
        a.arg.select_last = n[2];
        break;
    case SK_OP_TOP_K:
        a.top_k.axis = n[0];
        a.top_k.largest = n[1];
        a.top_k.sorted = n[2];
        break;
    case SK_OP_CUM_SUM:
        a.cum_sum.exclusive = n[0];
        a.cum_sum.reverse = n[1];
        break;
    case SK_OP_SPLIT:
        a.split.axis = n[0];
        a.split.n_sizes = n[1];
        for (int i = 0; i < n[1]; i++)
            a.split.sizes[i] = n[2 + i];
        break;
    case SK_OP_PAD: a.pad.mode = n[0]; break;
    case SK_OP_DEPTH_TO_SPACE:
    case SK_OP_SPACE_TO_DEPTH:
        a.blocks.block = n[0];
        a.blocks.crd = n[1];
        break;
    case SK_OP_CONSTANT_OF_SHAPE:
    case SK_OP_EYE_LIKE:
        a.fill.dtype = (sk_dtype)n[0];
        a.fill.value = f[0];
        break;
    case SK_OP_ANCHORS:
        a.anchors.n_levels = n[0];
        for (int i = 0; i < n[0]; i++)
            a.anchors.stride[i] = (float)f[i];
        break;
    case SK_OP_NON_MAX_SUPPRESSION: a.nms.center_point_box = n[0]; break;
    case SK_OP_TRANSPOSE:
        for (int i = 0; i < c->n_ints; i++)
            a.perm[i] = n[i];
        break;
    default:
        if (c->n_ints)
            a.axis = n[0];
        break;
    }
    return a;
}

/* --- comparing --- */

static void compare(const op_case *c, const char *how, int index, const sk_tensor *got)
{
    const sk_tensor *want = &c->out[index];
    char a[SK_SHAPE_TEXT], b[SK_SHAPE_TEXT];
    if (got->dtype != want->dtype || !sk_shape_equal(&got->shape, &want->shape))
        fail_msg("%s (%s): output %d is %s %s, not %s %s", c->name, how, index, sk_dtype_name(got->dtype),
                 sk_shape_text(&got->shape, a, sizeof a), sk_dtype_name(want->dtype),
                 sk_shape_text(&want->shape, b, sizeof b));
    for (int64_t i = 0; i < sk_shape_count(&want->shape); i++) {
        double x = sk_tensor_at(want, i), y = sk_tensor_at(got, i);
        bool exact = !sk_dtype_is_float(want->dtype);
        bool same =
            x == y || (isnan(x) && isnan(y)) || (!exact && fabs(x - y) <= c->tolerance * (1 + fabs(x)));
        if (!same)
            fail_msg("%s (%s): output %d element %lld is %.9g, not %.9g", c->name, how, index, (long long)i,
                     y, x);
    }
}

static void check_single_node(const op_case *c, const sk_node *node)
{
    sk_error err = {0};
    sk_tensor outs[MAX_TENSORS];
    assert_ok(sk_node_infer(node, c->in, outs, &err), &err);
    for (int i = 0; i < c->n_out; i++)
        if (sk_shape_known(&outs[i].shape))
            outs[i].data = sk_malloc(sk_tensor_bytes(&outs[i]));
    sk_status status = sk_node_execute(node, c->in, outs, &err);
    if (status != SK_OK)
        fail_msg("%s: %s", c->name, err.message);
    for (int i = 0; i < c->n_out; i++) {
        compare(c, "node", i, &outs[i]);
        sk_free(outs[i].data);
    }
}

/* The first input is the graph's, the others are constants. */
static void check_graph(const op_case *c, const sk_node *node)
{
    sk_error err = {0};
    sk_graph *graph = NULL, *special = NULL;
    sk_value in[MAX_TENSORS], outs[MAX_TENSORS];
    sk_tensor results[MAX_TENSORS];
    sk_builder b;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    for (int i = 0; i < c->n_in; i++) {
        if (c->in[i].dtype == SK_DTYPE_NONE)
            in[i] = SK_VALUE_NONE;
        else if (i == 0)
            in[i] = sk_b_input(&b, "x", c->in[i].dtype, NULL);
        else
            in[i] = sk_b_constant(&b, "c", c->in[i].dtype, &c->in[i].shape, c->in[i].data);
    }
    sk_b_node_n(&b, node->op, &node->a, in, c->n_in, c->name, outs, c->n_out);
    for (int i = 0; i < c->n_out; i++)
        sk_b_output(&b, outs[i], "y");
    assert_ok(b.status, &b.error);
    sk_status status = sk_graph_specialise(graph, &c->in[0].shape, 1, &special, &err);
    if (status == SK_OK)
        status = sk_reference_run(special, c->in, 1, results, c->n_out, &err);
    if (status != SK_OK)
        fail_msg("%s as a graph: %s", c->name, err.message);
    for (int i = 0; i < c->n_out; i++) {
        compare(c, "graph", i, &results[i]);
        sk_free(results[i].data);
    }
    sk_graph_close(&special);
    sk_graph_close(&graph);
}

typedef struct running {
    const op_case *c;
    const sk_node *node;
} running;

/* The node alone, into memory that is not the library's where sizes are known before. */
static sk_status run_single_node(void *context, sk_error *err)
{
    const running *r = context;
    sk_tensor outs[MAX_TENSORS];
    bool own[MAX_TENSORS] = {false};
    sk_status status = sk_node_infer(r->node, r->c->in, outs, err);
    if (status != SK_OK)
        return status;
    for (int i = 0; i < r->c->n_out; i++)
        if ((own[i] = sk_shape_known(&outs[i].shape)))
            outs[i].data = malloc(sk_tensor_bytes(&outs[i]) + 1);
    status = sk_node_execute(r->node, r->c->in, outs, err);
    for (int i = 0; i < r->c->n_out; i++)
        if (own[i])
            free(outs[i].data);
        else
            sk_free(outs[i].data);
    return status;
}

static void all_cases(void **state)
{
    (void)state;
    bool seen[SK_OP_COUNT] = {false};
    FILE *file = fopen(test_source("tests/graph/cases.bin"), "rb");
    assert_non_null(file);
    char magic[8];
    uint32_t n;
    read_bytes(file, magic, sizeof magic);
    assert_memory_equal(magic, "SKCASES1", 8);
    read_bytes(file, &n, sizeof n);
    int64_t before = sk_memory_live_bytes();
    for (uint32_t i = 0; i < n; i++) {
        op_case c;
        read_case(file, &c);
        sk_op op = op_named(c.op);
        const bool first = !seen[op];
        seen[op] = true;
        sk_value in[MAX_TENSORS], out[MAX_TENSORS];
        for (int k = 0; k < MAX_TENSORS; k++) {
            in[k] = k < c.n_in && c.in[k].dtype != SK_DTYPE_NONE ? k : SK_VALUE_NONE;
            out[k] = MAX_TENSORS + k;
        }
        sk_node node = {.op = op, .n_in = c.n_in, .n_out = c.n_out, .in = in, .out = out, .name = c.name};
        node.a = attributes_of(&c, op);
        check_single_node(&c, &node);
        check_graph(&c, &node);
        if (first) /* of every operation, what it does where there is no memory */
            test_every_allocation(run_single_node, &(running){&c, &node});
        free_case(&c);
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    assert_int_equal(sk_memory_live_bytes(), before);
    for (int op = 1; op < SK_OP_COUNT; op++)
        if (!seen[op])
            fail_msg("no case covers '%s'", sk_op_name((sk_op)op));
}

/* --- near the cases --- */

/* What is said of a node, and what it computes, with five digits. */
static void tell_node(const op_case *c, const sk_node *node, bool known, sk_text *log)
{
    sk_error err = {0};
    sk_tensor ins[MAX_TENSORS], outs[MAX_TENSORS];
    memset(outs, 0, sizeof outs);
    for (int i = 0; i < MAX_TENSORS; i++) {
        ins[i] = c->in[i];
        if (!known && i > 0)
            ins[i].data = NULL;
    }
    sk_status status = sk_node_check(node, &err);
    if (status == SK_OK)
        status = sk_node_infer(node, ins, outs, &err);
    if (status != SK_OK) {
        const char *what = strchr(err.message, ':'); /* behind the node's name */
        sk_text_appendf(log, "%d%s\n", status, what ? what : "");
        return;
    }
    bool small = known;
    for (int i = 0; i < node->n_out; i++) {
        char shape[SK_SHAPE_TEXT];
        sk_text_appendf(log, "%s %s; ", sk_dtype_name(outs[i].dtype),
                        sk_shape_text(&outs[i].shape, shape, sizeof shape));
        small = small && sk_shape_known(&outs[i].shape) && sk_shape_count(&outs[i].shape) <= 2048;
    }
    for (int i = 0; i < node->n_out && small; i++)
        outs[i].data = sk_malloc(sk_tensor_bytes(&outs[i]) + 1);
    status = small ? sk_node_execute(node, ins, outs, &err) : SK_OK;
    for (int i = 0; i < node->n_out && small; i++) {
        for (int64_t k = 0; status == SK_OK && k < sk_shape_count(&outs[i].shape); k++) {
            const double v = sk_tensor_at(&outs[i], k);
            sk_text_appendf(log, "%.5g ", isnan(v) ? 1e300 : v == 0 ? 0 : v);
        }
        sk_free(outs[i].data);
    }
    sk_text_appendf(log, "%d\n", status);
}

static void tell_case(const op_case *c, sk_text *log)
{
    const sk_op op = op_named(c->op);
    sk_value in[MAX_TENSORS + 1], out[MAX_TENSORS + 1];
    for (int k = 0; k <= MAX_TENSORS; k++) {
        in[k] = k < c->n_in && c->in[k].dtype != SK_DTYPE_NONE ? k : SK_VALUE_NONE;
        out[k] = MAX_TENSORS + k;
    }
    sk_node node = {.op = op, .n_in = c->n_in, .n_out = c->n_out, .in = in, .out = out, .name = ""};
    node.a = attributes_of(c, op);
    tell_node(c, &node, true, log);
    tell_node(c, &node, false, log);
}

/* A tensor of another shape, with numbers of its own. */
static void tell_shape(op_case *c, int input, const sk_shape *shape, sk_text *log)
{
    const sk_tensor kept = c->in[input];
    c->in[input].shape = *shape;
    if (sk_shape_count(shape) >= 0 && sk_shape_count(shape) <= 65536) {
        c->in[input].data = calloc(1, sk_tensor_bytes(&c->in[input]) + 16);
        for (int64_t i = 0; i < sk_shape_count(shape) && sk_shape_count(&kept.shape) > 0; i++)
            memcpy((char *)c->in[input].data + (size_t)i * sk_dtype_bytes(kept.dtype),
                   (char *)kept.data + (size_t)(i % sk_shape_count(&kept.shape)) * sk_dtype_bytes(kept.dtype),
                   sk_dtype_bytes(kept.dtype));
        tell_case(c, log);
        free(c->in[input].data);
    }
    c->in[input] = kept;
}

/* One thing other than it should be: a number, a dimension, a type, a value that is missing. */
static void tell_near(op_case *c, sk_text *log)
{
    static const int32_t others[] = {-2, -1, 0, 1, 2, 3, 7, 9, 4097, 1048577};
    const bool counts =
        strcmp(c->op, "reduce") == 0 || strcmp(c->op, "split") == 0 || strcmp(c->op, "anchors") == 0;
    for (int k = 0; k < c->n_ints; k++)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            const int32_t kept = c->ints[k];
            if (counts && k < 3 && others[i] > 3) /* numbers of numbers */
                continue;
            c->ints[k] = others[i];
            tell_case(c, log);
            c->ints[k] = kept;
        }
    for (int k = 0; k < c->n_floats; k++)
        for (int i = 0; i < 3; i++) {
            const double kept = c->floats[k];
            c->floats[k] = i == 0 ? 0 : i == 1 ? -1 : kept * 2 + 0.25;
            tell_case(c, log);
            c->floats[k] = kept;
        }
    for (int t = 0; t < c->n_in; t++) {
        if (c->in[t].dtype == SK_DTYPE_NONE)
            continue;
        const sk_tensor kept = c->in[t];
        for (int d = 0; d < kept.shape.rank; d++)
            for (int i = 0; i < 4; i++) {
                sk_shape shape = kept.shape;
                shape.dim[d] = i == 0             ? 0
                               : i == 1           ? 1
                               : i == 2           ? shape.dim[d] + 1
                               : shape.dim[d] > 0 ? shape.dim[d] - 1
                                                  : 5;
                tell_shape(c, t, &shape, log);
            }
        sk_shape shape = kept.shape;
        if (shape.rank > 0) {
            shape.rank--;
            tell_shape(c, t, &shape, log);
        }
        shape = kept.shape;
        if (shape.rank < SK_MAX_RANK) {
            shape.dim[shape.rank++] = 1;
            tell_shape(c, t, &shape, log);
        }
        static const sk_dtype types[] = {SK_DTYPE_F32, SK_DTYPE_I64, SK_DTYPE_BOOL, SK_DTYPE_U8};
        for (int i = 0; i < 4; i++) {
            const int64_t n = sk_shape_count(&kept.shape);
            if (types[i] == kept.dtype || n < 0 || n > 4096)
                continue;
            c->in[t].dtype = types[i];
            c->in[t].data = calloc((size_t)n + 2, 8);
            tell_case(c, log);
            free(c->in[t].data);
            c->in[t] = kept;
        }
        c->in[t].dtype = SK_DTYPE_NONE;
        tell_case(c, log);
        c->in[t] = kept;
        for (int64_t k = 0; kept.dtype == SK_DTYPE_I64 && k < sk_shape_count(&kept.shape) && k < 8; k++)
            for (int i = 0; i < 6; i++) {
                static const int64_t values[] = {-100, -2, -1, 0, 2, 100};
                int64_t *at = (int64_t *)kept.data + k, before = *at;
                *at = values[i];
                tell_case(c, log);
                *at = before;
            }
    }
    for (int i = -1; i < 2; i += 2) {
        c->n_in += i;
        if (c->n_in >= 0 && c->n_in <= MAX_TENSORS)
            tell_case(c, log);
        c->n_in -= i;
        c->n_out += i;
        if (c->n_out >= 0 && c->n_out <= MAX_TENSORS)
            tell_case(c, log);
        c->n_out -= i;
    }
}

/* What is taken, what is refused and with which words, what comes out: a hash of some hundred nodes a case. */
static void near_cases(void **state)
{
    (void)state;
#ifndef __x86_64__ /* others fuse products and sums */
    skip();
#endif
    FILE *file = fopen(test_source("tests/graph/cases.bin"), "rb");
    char magic[8];
    uint32_t n;
    sk_text all = {0};
    assert_non_null(file);
    read_bytes(file, magic, sizeof magic);
    read_bytes(file, &n, sizeof n);
    for (uint32_t i = 0; i < n; i++) {
        op_case c;
        sk_text log = {0};
        read_case(file, &c);
        tell_near(&c, &log);
        sk_text_appendf(&all, "%016llx %s\n",
                        (unsigned long long)sk_hash_xxh3(sk_text_get(&log), log.length, 0), c.name);
        if (getenv("SKITTER_TEST_SHOW") && strcmp(getenv("SKITTER_TEST_SHOW"), c.name) == 0)
            print_message("%s", sk_text_get(&log));
        sk_text_free(&log);
        free_case(&c);
    }
    fclose(file);
    test_text_is("tests/graph/near_cases.txt", sk_text_get(&all));
    sk_text_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_cases), cmocka_unit_test(near_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
