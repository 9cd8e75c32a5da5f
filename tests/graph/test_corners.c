/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions and running sums of whole numbers and of doubles, sizes of zero, and products that only look like gelu. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

typedef struct bench {
    sk_graph *graph, *fixed;
    sk_builder b;
    sk_value x;
    sk_shape shape;
} bench;

static void bench_open(bench *t, sk_shape shape)
{
    sk_error err = {0};
    *t = (bench){.shape = shape};
    assert_ok(sk_graph_open(&t->graph, &err), &err);
    sk_builder_init(&t->b, t->graph);
    t->x = sk_b_input(&t->b, "x", SK_DTYPE_F32, &t->shape);
}

static void bench_run(bench *t, const float *data, sk_tensor *outs)
{
    sk_error err = {0};
    const sk_tensor in = {SK_DTYPE_F32, t->shape, (void *)(uintptr_t)data};
    assert_ok(t->b.status, &t->b.error);
    if (!t->fixed)
        assert_ok(sk_graph_specialise(t->graph, &t->shape, 1, &t->fixed, &err), &err);
    assert_ok(sk_reference_run(t->fixed, &in, 1, outs, t->fixed->n_outputs, &err), &err);
}

static void bench_close(bench *t, sk_tensor *outs, int n)
{
    for (int i = 0; i < n; i++)
        sk_free(outs[i].data);
    sk_graph_close(&t->fixed);
    sk_graph_close(&t->graph);
}

static const float numbers[6] = {3, -4, 0, -1, 2, -2};

static sk_value cast(sk_builder *b, sk_value x, sk_dtype to)
{
    return sk_b_node(b, SK_OP_CAST, &(sk_attrs){.cast.to = to}, &x, 1, "cast");
}

/* Of the rows 3 -4 0 and -1 2 -2, in each type. */
static void reductions_of_rows(void **state)
{
    (void)state;
    static const struct {
        sk_reduction kind;
        double whole[2], real[2];
    } cases[] = {
        {SK_REDUCE_SUM, {-1, -1}, {-1, -1}},
        {SK_REDUCE_MEAN, {0, 0}, {-1 / 3.0, -1 / 3.0}}, /* whole numbers are cut off towards zero */
        {SK_REDUCE_MAX, {3, 2}, {3, 2}},
        {SK_REDUCE_MIN, {-4, -2}, {-4, -2}},
        {SK_REDUCE_PROD, {0, 4}, {0, 4}},
        {SK_REDUCE_L1, {7, 5}, {7, 5}},
        {SK_REDUCE_L2, {5, 3}, {5, 3}},
        {SK_REDUCE_SUM_SQUARE, {25, 9}, {25, 9}},
    };
    enum { N = sizeof cases / sizeof *cases };
    static const sk_dtype types[3] = {SK_DTYPE_I64, SK_DTYPE_F64, SK_DTYPE_F32};
    for (int type = 0; type < 3; type++) {
        bench t;
        sk_tensor outs[N];
        bench_open(&t, sk_shape_of(2, 2, 3));
        sk_value v = type == 2 ? t.x : cast(&t.b, t.x, types[type]);
        for (int i = 0; i < N; i++)
            sk_b_output(&t.b, sk_b_reduce(&t.b, cases[i].kind, v, (const int[]){1}, 1, false), "y");
        bench_run(&t, numbers, outs);
        for (int i = 0; i < N; i++) {
            assert_int_equal(outs[i].dtype, types[type]);
            assert_int_equal(outs[i].shape.rank, 1);
            for (int k = 0; k < 2; k++) {
                const double want = type ? cases[i].real[k] : cases[i].whole[k];
                if (fabs(sk_tensor_at(&outs[i], k) - want) > 1e-6)
                    fail_msg("type %d, kind %d, row %d: %g, not %g", type, cases[i].kind, k,
                             sk_tensor_at(&outs[i], k), want);
            }
        }
        bench_close(&t, outs, N);
    }
}

static void running_sums(void **state)
{
    (void)state;
    static const double want[4][6] = {
        {3, -1, -1, -1, 1, -1}, {0, 3, -1, 0, -1, 1}, {-1, -4, 0, -1, 0, -2}, {-4, 0, 0, 0, -2, 0}};
    static const sk_dtype types[3] = {SK_DTYPE_I64, SK_DTYPE_F64, SK_DTYPE_F32};
    for (int type = 0; type < 3; type++) {
        bench t;
        sk_tensor outs[4];
        bench_open(&t, sk_shape_of(2, 2, 3));
        sk_value v = type == 2 ? t.x : cast(&t.b, t.x, types[type]);
        for (int i = 0; i < 4; i++) {
            const sk_attrs a = {.cum_sum = {.exclusive = i & 1, .reverse = i >> 1}};
            const sk_value in[2] = {v, sk_b_i64(&t.b, 1)};
            sk_b_output(&t.b, sk_b_node(&t.b, SK_OP_CUM_SUM, &a, in, 2, "sum"), "y");
        }
        bench_run(&t, numbers, outs);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 6; k++)
                if (sk_tensor_at(&outs[i], k) != want[i][k])
                    fail_msg("type %d, case %d, %d: %g", type, i, k, sk_tensor_at(&outs[i], k));
        bench_close(&t, outs, 4);
    }
}

/* --- sizes of zero --- */

static sk_status reshaped(sk_shape from, const int64_t *dims, int rank, sk_shape *out)
{
    static sk_value in[2] = {0, 1}, made[1] = {2};
    sk_error err = {0};
    sk_tensor outs[1] = {{0}};
    const sk_node node = {.op = SK_OP_RESHAPE, .n_in = 2, .n_out = 1, .in = in, .out = made, .name = "n"};
    const sk_tensor ins[2] = {{SK_DTYPE_F32, from, NULL},
                              {SK_DTYPE_I64, {.rank = 1, .dim = {rank}}, (void *)(uintptr_t)dims}};
    const sk_status status = sk_node_infer(&node, ins, outs, &err);
    *out = outs[0].shape;
    return status;
}

static void reshapes_of_nothing(void **state)
{
    (void)state;
    const sk_shape none = sk_shape_of(2, 0, 3);
    static const struct {
        int64_t dims[3];
        int rank;
        int64_t want[3]; /* rank of 0: cannot be */
        int rank_wanted;
    } cases[] = {
        {{0, 3}, 2, {0, 3}, 2},  {{3, 0}, 2, {0}, 0},    {{-1, 3}, 2, {0, 3}, 2},
        {{0, -1}, 2, {0, 0}, 2}, {{0, 5}, 2, {0, 5}, 2}, {{2, -1, 3}, 3, {2, 0, 3}, 3},
        {{-1, -1}, 2, {0}, 0},   {{-2, 3}, 2, {0}, 0},   {{1, 1}, 2, {0}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_shape got, want = {.rank = cases[i].rank_wanted};
        memcpy(want.dim, cases[i].want, sizeof cases[i].want);
        const sk_status status = reshaped(none, cases[i].dims, cases[i].rank, &got);
        char text[SK_SHAPE_TEXT];
        if ((status == SK_OK) != (want.rank > 0) || (status == SK_OK && !sk_shape_equal(&got, &want)))
            fail_msg("case %zu: %d, %s", i, status, sk_shape_text(&got, text, sizeof text));
    }
    sk_shape got;
    assert_int_equal(reshaped(sk_shape_of(2, 2, 3), (int64_t[]){4, -1}, 2, &got), SK_ERR_MISMATCH);
    assert_int_equal(reshaped(sk_shape_of(2, 2, 3), (int64_t[]){3, -1}, 2, &got), SK_OK);
    assert_true(got.dim[0] == 3 && got.dim[1] == 2);
}

/* A sum over nothing is nothing. */
static void sums_over_nothing(void **state)
{
    (void)state;
    bench t;
    sk_tensor out;
    const sk_shape a = sk_shape_of(2, 2, 0), b = sk_shape_of(2, 0, 3);
    bench_open(&t, sk_shape_of(2, 2, 3));
    const float nothing = 0;
    const sk_value in[2] = {sk_b_constant(&t.b, "a", SK_DTYPE_F32, &a, &nothing),
                            sk_b_constant(&t.b, "b", SK_DTYPE_F32, &b, &nothing)};
    const sk_attrs e = {.einsum = {.equation = "ij,jk->ik"}};
    sk_b_output(&t.b, sk_b_add(&t.b, t.x, sk_b_node(&t.b, SK_OP_EINSUM, &e, in, 2, "e")), "y");
    bench_run(&t, numbers, &out);
    assert_memory_equal(out.data, numbers, sizeof numbers);
    bench_close(&t, &out, 1);
}

/* --- gelu --- */

typedef struct gelu_form {
    bool one_first, erf_of_double, divides_the_number;
    float one, half, root;
    int rank_of_half;
    bool is_gelu;
} gelu_form;

static sk_value gelu(sk_builder *b, sk_value x, const gelu_form *f)
{
    const sk_shape shape = {.rank = f->rank_of_half, .dim = {1, 1}};
    sk_value half = sk_b_constant(b, "half", SK_DTYPE_F32, &shape, &f->half), root = sk_b_f32(b, f->root);
    sk_value inside = f->divides_the_number ? sk_b_div(b, root, x) : sk_b_div(b, x, root);
    sk_value erf_of = sk_b_unary(b, f->erf_of_double ? SK_UNARY_TANH : SK_UNARY_ERF, inside);
    sk_value one = sk_b_f32(b, f->one);
    sk_value gate = f->one_first ? sk_b_add(b, one, erf_of) : sk_b_add(b, erf_of, one);
    return sk_b_mul(b, sk_b_mul(b, x, gate), half);
}

static void what_is_gelu(void **state)
{
    (void)state;
    const float root = sqrtf(2);
    const gelu_form forms[] = {
        {.one = 1, .half = 0.5f, .root = root, .is_gelu = true},
        {.one = 1, .half = 0.5f, .root = root, .one_first = true, .is_gelu = true},
        {.one = 1, .half = 0.5f, .root = root, .rank_of_half = 1, .is_gelu = true},
        {.one = 1, .half = 0.5f, .root = root, .rank_of_half = 2}, /* makes a matrix of a list */
        {.one = 2, .half = 0.5f, .root = root},
        {.one = 2, .half = 0.5f, .root = root, .one_first = true},
        {.one = 1, .half = 0.25f, .root = root},
        {.one = 1, .half = 0.5f, .root = 2},
        {.one = 1, .half = 0.5f, .root = root, .erf_of_double = true},
        {.one = 1, .half = 0.5f, .root = root, .divides_the_number = true},
    };
    static const float some[6] = {3, -4, 0.5f, -1, 2, -2};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        bench t;
        sk_tensor before, after;
        sk_error err = {0};
        bench_open(&t, sk_shape_of(1, 6));
        sk_b_output(&t.b, gelu(&t.b, t.x, &forms[i]), "y");
        bench_run(&t, some, &before);
        const size_t nodes = t.fixed->n_nodes;
        assert_ok(sk_graph_fuse_silu(t.fixed, &err), &err);
        assert_ok(sk_graph_verify(t.fixed, &err), &err);
        if (t.fixed->n_nodes != (forms[i].is_gelu ? 1 : nodes))
            fail_msg("form %zu: %zu nodes of %zu", i, t.fixed->n_nodes, nodes);
        bench_run(&t, some, &after);
        assert_true(sk_shape_equal(&before.shape, &after.shape));
        for (int k = 0; k < 6; k++)
            assert_float_equal(sk_tensor_at(&before, k), sk_tensor_at(&after, k), 1e-5f);
        sk_free(before.data);
        bench_close(&t, &after, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_of_rows),  cmocka_unit_test(running_sums),
        cmocka_unit_test(reshapes_of_nothing), cmocka_unit_test(sums_over_nothing),
        cmocka_unit_test(what_is_gelu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
