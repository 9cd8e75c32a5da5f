/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of the CPU engine for tensors that are no maps: moved elements, rows, products, sums, and what is left to the reference
 * executor. */
#include "planned_nets.h"

#define NEAR 2e-6

static void done(net *n, const char *name, double tolerance)
{
    net_check(n, name, (plan_how){.threads = 3}, tolerance);
    net_end(n);
}

static sk_value cast(net *n, sk_value x, sk_dtype to)
{
    sk_attrs a = {0};
    a.cast.to = to;
    return sk_b_node(&n->b, SK_OP_CAST, &a, &x, 1, "cast");
}

/* Small whole numbers, so that other types hold them exactly. */
static sk_value wholes(net *n, sk_value x)
{
    return sk_b_unary(&n->b, SK_UNARY_ROUND, sk_b_mul(&n->b, x, sk_b_f32(&n->b, 20.0f)));
}

static void transposes(void **state)
{
    (void)state;
    static const int perms[][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {3, 2, 1, 0}, {0, 1, 3, 2},
                                   {1, 0, 2, 3}, {2, 3, 0, 1}, {0, 3, 1, 2}};
    static const int shapes[][4] = {{2, 3, 5, 7}, {1, 17, 4, 19}, {2, 1, 33, 1}, {1, 1, 1, 6}, {1, 1, 1, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        net n = net_begin();
        sk_value x = net_in(&n, shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
        for (size_t i = 0; i < sizeof perms / sizeof perms[0]; i++) {
            net_out(&n, sk_b_transpose(&n.b, x, perms[i], 4));
            sk_value wide = cast(&n, wholes(&n, x), i % 2 ? SK_DTYPE_I64 : SK_DTYPE_I8);
            net_out(&n, sk_b_transpose(&n.b, wide, perms[i], 4));
        }
        done(&n, "transposed", 0);
    }
    net n = net_begin();
    const int two[] = {1, 0}, three[] = {2, 0, 1}, five[] = {0, 3, 1, 4, 2};
    net_out(&n, sk_b_transpose(&n.b, net_shaped(&n, sk_shape_of(2, 40, 35)), two, 2));
    net_out(&n, sk_b_transpose(&n.b, net_shaped(&n, sk_shape_of(3, 4, 18, 5)), three, 3));
    net_out(&n, sk_b_transpose(&n.b, net_shaped(&n, sk_shape_of(5, 2, 3, 2, 4, 3)), five, 5));
    done(&n, "of other ranks", 0);
    recorded_check("tests/fixtures/engines/cpu_plan_transposes.txt");
}

static sk_value slice(net *n, sk_value x, int count, const int64_t *start, const int64_t *end,
                      const int64_t *axis, const int64_t *step)
{
    sk_value in[5] = {x, sk_b_i64s(&n->b, start, count), sk_b_i64s(&n->b, end, count),
                      axis ? sk_b_i64s(&n->b, axis, count) : SK_VALUE_NONE,
                      step ? sk_b_i64s(&n->b, step, count) : SK_VALUE_NONE};
    return sk_b_node(&n->b, SK_OP_SLICE, NULL, in, step ? 5 : axis ? 4 : 3, "slice");
}

static void pieces(void **state)
{
    (void)state;
    static const struct {
        int count;
        int64_t start[3], end[3], axis[3], step[3];
    } all[] = {{1, {1}, {4}, {0}, {1}},
               {1, {1}, {100}, {2}, {2}},
               {1, {-3}, {-1}, {1}, {1}},
               {2, {0, 2}, {3, 6}, {1, -1}, {2, 3}},
               {3, {1, 0, 1}, {3, 4, 5}, {0, 1, 2}, {1, 1, 1}},
               {1, {-100}, {3}, {2}, {1}},
               {1, {4}, {0}, {1}, {-1}}, /* backwards */
               {1, {6}, {9}, {2}, {1}}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_value x = net_shaped(&n, sk_shape_of(3, 4, 5, 7));
        net_out(&n, slice(&n, x, all[i].count, all[i].start, all[i].end, all[i].axis, all[i].step));
        done(&n, "sliced", 0);
    }
    net n = net_begin();
    sk_value x = net_shaped(&n, sk_shape_of(3, 4, 5, 7)), y = net_shaped(&n, sk_shape_of(3, 4, 2, 7)),
             part[3];
    const int64_t start[] = {1, 1}, end[] = {3, 4}, sizes[] = {1, 3, 1};
    net_out(&n, slice(&n, x, 2, start, end, NULL, NULL));
    net_out(&n, sk_b_concat(&n.b, (sk_value[]){x, y, x}, 3, 1));
    net_out(&n, sk_b_concat(&n.b, (sk_value[]){x, x}, 2, -1));
    net_out(&n, sk_b_concat(&n.b, (sk_value[]){x, x}, 2, 0));
    sk_b_split(&n.b, x, 1, sizes, 3, part);
    for (int i = 2; i >= 0; i--)
        net_out(&n, part[i]);
    sk_b_split(&n.b, x, -3, NULL, 2, part);
    for (int i = 0; i < 2; i++)
        net_out(&n, part[i]);
    sk_value thin = net_shaped(&n, sk_shape_of(3, 4, 18, 1)), wide = cast(&n, wholes(&n, thin), SK_DTYPE_I64);
    net_out(&n, sk_b_concat(&n.b, (sk_value[]){thin, thin, thin}, 3, 2)); /* side by side, one by one */
    net_out(&n, sk_b_concat(&n.b, (sk_value[]){wide, wide}, 2, 2));
    sk_value bytes = cast(&n, wholes(&n, x), SK_DTYPE_I8);
    net_out(&n, sk_b_concat(&n.b, (sk_value[]){bytes, bytes}, 2, 2));
    done(&n, "pieces", 0);
    for (int count = 62; count <= 65; count++) { /* with its output one more */
        n = net_begin();
        sk_value many[65];
        x = net_shaped(&n, sk_shape_of(2, 2, 3));
        for (int i = 0; i < count; i++)
            many[i] = x;
        net_out(&n, sk_b_concat(&n.b, many, count, 1));
        assert_ok(n.b.status, &n.b.error);
        planned p;
        sk_error err = {0};
        const sk_status status = planned_try(&p, n.graph, n.shapes, 1, (plan_how){.threads = 1}, &err);
        if (count <= 63) {
            assert_ok(status, &err);
            assert_int_equal(p.plan.n_steps, 1);
            assert_string_equal(p.plan.steps[0].kernel, "concat");
            planned_is_reference(&p, "many", 0);
        } else {
            assert_int_equal(status, SK_ERR_LIMIT);
            char wanted[64];
            snprintf(wanted, sizeof wanted, "concat with %d inputs and 1 outputs", count);
            assert_non_null(strstr(err.message, wanted));
        }
        planned_close(&p);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_pieces.txt");
}

static void rows(void **state)
{
    (void)state;
    static const int shapes[][3] = {{2, 3, 5}, {1, 4, 256}, {3, 2, 257}, {2, 5, 600},
                                    {1, 1, 7}, {2, 2, 255}, {1, 1, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        net n = net_begin();
        sk_value x = net_shaped(&n, sk_shape_of(3, shapes[s][0], shapes[s][1], shapes[s][2]));
        for (int axis = -3; axis < 3; axis++)
            net_out(&n, sk_b_softmax(&n.b, x, axis));
        for (int axis = -2; axis < 3; axis++) {
            const int from = axis < 0 ? axis + 3 : axis;
            const sk_shape whole = from == 0   ? sk_shape_of(3, shapes[s][0], shapes[s][1], shapes[s][2])
                                   : from == 1 ? sk_shape_of(2, shapes[s][1], shapes[s][2])
                                               : sk_shape_of(1, shapes[s][2]);
            sk_value in[3] = {x, net_random(&n, whole), net_random(&n, whole)};
            sk_attrs a = {0};
            a.norm.axis = axis;
            a.norm.epsilon = 0.01f;
            net_out(&n, sk_b_node(&n.b, SK_OP_LAYER_NORM, &a, in, axis < 0 ? 3 : 1 + axis, "norm"));
        }
        sk_value steep = sk_b_mul(&n.b, x, sk_b_f32(&n.b, 90.0f)); /* whose powers no float holds */
        net_out(&n, sk_b_softmax(&n.b, steep, 1));
        net_out(&n, sk_b_softmax(&n.b, steep, 2));
        done(&n, "rows", NEAR);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_rows.txt");
}

static void products(void **state)
{
    (void)state;
    static const struct {
        int rank_a, a[4], rank_b, b[4];
    } all[] = {{2, {5, 7}, 2, {7, 4}},
               {3, {3, 5, 7}, 2, {7, 4}},
               {2, {5, 7}, 3, {3, 7, 4}},
               {4, {2, 3, 5, 7}, 4, {2, 3, 7, 4}},
               {4, {2, 1, 5, 7}, 4, {1, 3, 7, 4}},
               {4, {2, 3, 1, 7}, 3, {3, 7, 18}},
               {3, {3, 19, 2}, 4, {2, 1, 2, 33}},
               {1, {7}, 2, {7, 4}},
               {2, {5, 7}, 1, {7}}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_shape a = {.rank = all[i].rank_a}, b = {.rank = all[i].rank_b};
        for (int k = 0; k < 4; k++) {
            a.dim[k] = all[i].a[k];
            b.dim[k] = all[i].b[k];
        }
        net_out(&n, sk_b_matmul(&n.b, net_shaped(&n, a), net_shaped(&n, b)));
        done(&n, "product", NEAR);
    }
    for (int how = 0; how < 32; how++) { /* transposed or not, b a constant, with a bias, with a factor */
        const bool ta = how & 1, tb = how & 2, constant = how & 4, bias = how & 8, factor = how & 16;
        net n = net_begin();
        sk_attrs a = {0};
        a.gemm.transpose_a = ta;
        a.gemm.transpose_b = tb;
        a.gemm.alpha = factor && !bias ? 0.5f : 1.0f;
        a.gemm.beta = factor && bias ? 0.5f : 1.0f;
        const sk_shape bs = tb ? sk_shape_of(2, 4, 7) : sk_shape_of(2, 7, 4);
        sk_value in[3] = {net_shaped(&n, ta ? sk_shape_of(2, 7, 5) : sk_shape_of(2, 5, 7)),
                          constant ? net_random(&n, bs) : net_shaped(&n, bs),
                          bias ? net_random(&n, sk_shape_of(1, 4)) : SK_VALUE_NONE};
        net_out(&n, sk_b_node(&n.b, SK_OP_GEMM, &a, in, bias ? 3 : 2, "gemm"));
        done(&n, "gemm", NEAR);
    }
    static const int biases[][3] = {{0, 0, 0}, {2, 5, 4}, {2, 5, 1}, {2, 1, 4}, {1, 1, 0}};
    for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++) {
        net n = net_begin();
        sk_attrs a = {0};
        a.gemm.alpha = a.gemm.beta = 1.0f;
        sk_shape s = {.rank = biases[i][0], .dim = {biases[i][1], biases[i][2]}};
        sk_value in[3] = {net_shaped(&n, sk_shape_of(2, 5, 7)), net_random(&n, sk_shape_of(2, 7, 4)),
                          net_random(&n, s)};
        net_out(&n, sk_b_node(&n.b, SK_OP_GEMM, &a, in, 3, "gemm"));
        done(&n, "bias", NEAR);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_products.txt");
}

static void elements(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = net_shaped(&n, sk_shape_of(2, 3, 700));
    for (int kind = SK_UNARY_SIGMOID; kind < SK_UNARY_NOT; kind++)
        if (kind != SK_UNARY_LOG && kind != SK_UNARY_SQRT && kind != SK_UNARY_RECIPROCAL)
            net_out(&n, sk_b_unary_alpha(&n.b, (sk_unary)kind, x, 0.3f, 0.2f));
    done(&n, "one by one", NEAR);
    n = net_begin();
    const sk_value half =
        sk_b_f32(&n.b, 0.5f); /* one by one: compilers differ in which argument comes first */
    x = sk_b_add(&n.b, sk_b_unary(&n.b, SK_UNARY_ABS, net_shaped(&n, sk_shape_of(2, 3, 700))), half);
    net_out(&n, sk_b_unary(&n.b, SK_UNARY_LOG, x));
    net_out(&n, sk_b_unary(&n.b, SK_UNARY_SQRT, x));
    net_out(&n, sk_b_unary(&n.b, SK_UNARY_RECIPROCAL, x));
    done(&n, "of positive ones", NEAR);
    static const struct {
        int rank_a, a[4], rank_b, b[4];
    } all[] = {{2, {3, 5}, 2, {3, 5}},       {3, {2, 3, 5}, 2, {3, 5}}, {3, {2, 3, 5}, 3, {2, 1, 5}},
               {3, {2, 3, 5}, 3, {2, 3, 1}}, {2, {3, 1}, 3, {2, 1, 5}}, {1, {1}, 2, {2, 300}},
               {2, {2, 300}, 0, {0}},        {2, {1, 1}, 1, {1}},       {4, {2, 1, 3, 1}, 4, {1, 4, 1, 5}},
               {1, {700}, 1, {700}},         {3, {1, 257, 2}, 1, {2}},  {2, {256, 1}, 2, {1, 256}}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        n = net_begin();
        sk_shape a = {.rank = all[i].rank_a}, b = {.rank = all[i].rank_b};
        for (int k = 0; k < 4; k++) {
            a.dim[k] = all[i].a[k];
            b.dim[k] = all[i].b[k];
        }
        sk_value p = net_shaped(&n, a), q = net_shaped(&n, b);
        static const sk_binary kinds[] = {SK_BINARY_SUB, SK_BINARY_DIV, SK_BINARY_ADD,
                                          SK_BINARY_MUL, SK_BINARY_MIN, SK_BINARY_MAX};
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            net_out(&n, sk_b_binary(&n.b, kinds[k], p, q));
        done(&n, "repeated", NEAR);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_elements.txt");
}

/* The same elements under another shape; others' operations; what is not a number. */
static void the_rest(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = net_in(&n, 2, 18, 3, 4), m = net_conv(&n, x, 18, 18, net_square(1, 0));
    const int64_t flat[] = {2, -1}, zero[] = {0};
    const sk_attrs from_one = {.axis = 1};
    sk_value shaped = sk_b_reshape(&n.b, m, flat, 2);
    net_out(&n, sk_b_add(&n.b, shaped, shaped));
    net_out(&n, sk_b_unary(&n.b, SK_UNARY_RELU, sk_b_node(&n.b, SK_OP_FLATTEN, &from_one, &m, 1, "flat")));
    net_out(&n, sk_b_softmax(&n.b,
                             sk_b_node(&n.b, SK_OP_UNSQUEEZE, NULL, (sk_value[]){x, sk_b_i64s(&n.b, zero, 1)},
                                       2, "more"),
                             2));
    net_out(&n, sk_b_node(&n.b, SK_OP_CUM_SUM, NULL, (sk_value[]){m, sk_b_i64(&n.b, 1)}, 2, "sums"));
    net_out(&n, sk_b_node(&n.b, SK_OP_CUM_SUM, NULL, (sk_value[]){x, sk_b_i64(&n.b, 3)}, 2, "sums"));
    done(&n, "renamed", NEAR);
    n = net_begin(); /* outputs that are what came in */
    x = net_in(&n, 1, 2, 3, 4);
    net_out(&n, x);
    net_out(&n, net_conv(&n, x, 2, 3, net_square(1, 0)));
    planned p;
    sk_error err = {0};
    assert_int_equal(planned_try(&p, n.graph, n.shapes, 1, (plan_how){.threads = 1}, &err),
                     SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "output out0 does not depend on the network");
    planned_close(&p);
    net_end(&n);
    n = net_begin();
    x = net_in(&n, 1, 2, 3, 4);
    net_out(&n, net_conv(&n, x, 2, 3, net_square(1, 0)));
    net_out(&n, net_random(&n, sk_shape_of(1, 3)));
    assert_int_equal(planned_try(&p, n.graph, n.shapes, 1, (plan_how){.threads = 1}, &err),
                     SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "output out1 does not depend on the network");
    planned_close(&p);
    net_end(&n);
    recorded_check("tests/fixtures/engines/cpu_plan_rest.txt");
}

/* A map of more than a million channels is no map. */
static void maps_have_bounds(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        net n = net_begin();
        net_out(&n, sk_b_max_pool(&n.b, net_in(&n, 1, (1 << 20) + more, 1, 1), 1, 1, 0, "pool"));
        planned p;
        planned_open(&p, n.graph, n.shapes, 1, (plan_how){.threads = 1});
        assert_string_equal(p.plan.steps[more ? 0 : 1].kernel,
                            more ? "max_pool, reference" : "max pool plain c");
        planned_close(&p);
        net_end(&n);
    }
}

/* Largest and smallest of numbers among which are none, and infinite ones. */
static void not_numbers(void **state)
{
    (void)state;
    static const sk_reduction kinds[] = {SK_REDUCE_MAX, SK_REDUCE_MIN, SK_REDUCE_SUM, SK_REDUCE_MEAN};
    net n = net_begin();
    sk_value x = net_shaped(&n, sk_shape_of(3, 2, 3, 4));
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < 3; axis++)
            net_out(&n, sk_b_reduce(&n.b, kinds[i], x, &axis, 1, axis == 1));
    net_out(&n, sk_b_reduce(&n.b, SK_REDUCE_MAX, x, NULL, 0, false));
    planned p;
    planned_open(&p, n.graph, n.shapes, 1, (plan_how){.threads = 2});
    float data[24];
    for (int i = 0; i < 24; i++)
        data[i] = i % 5 == 0 ? NAN : i % 7 == 0 ? INFINITY : i % 11 == 0 ? -INFINITY : (float)(i % 6) - 2.5f;
    sk_error err = {0};
    const sk_tensor in = {SK_DTYPE_F32, n.shapes[0], data};
    sk_tensor want[13];
    assert_ok(sk_reference_run(p.graph, &in, 1, want, 13, &err), &err);
    const sk_session_input given = {.data = data};
    planned_run(&p, &given, 5);
    for (int i = 0; i < 13; i++) {
        const float *got = (const float *)(const void *)(p.plan.memory +
                                                         p.plan.buffers[p.plan.outputs[i]].offset),
                    *wanted = want[i].data;
        for (size_t k = 0; k < sk_tensor_bytes(&want[i]) / sizeof(float); k++)
            assert_true(got[k] == wanted[k] || (isnan(got[k]) && isnan(wanted[k])));
        sk_free(want[i].data);
    }
    planned_close(&p);
    net_end(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes),  cmocka_unit_test(pieces),
                                       cmocka_unit_test(rows),        cmocka_unit_test(products),
                                       cmocka_unit_test(elements),    cmocka_unit_test(the_rest),
                                       cmocka_unit_test(not_numbers), cmocka_unit_test(maps_have_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
