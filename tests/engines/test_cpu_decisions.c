/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of the CPU engine one by one: which convolutions a form is for, how far sums in eight bits reach; and kernels in other
 * orders and shares than those that are usually chosen. */
#include "byte_nets.h"

#include "base/cpu.h"

#define NEAR 2e-6 /* plain C, sums of a few hundred products */

static const plan_how plain = {.threads = 2}, bytes = {.precision = SK_PRECISION_I8, .threads = 2};

static void no_words(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1, void *scratch)
{
    (void)p, (void)g0, (void)g1, (void)t0, (void)t1, (void)scratch;
}

static void no_rows(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    (void)p, (void)g0, (void)g1, (void)y0, (void)y1;
}

/* --- which convolutions a form is for --- */

typedef struct varied {
    const char *name;
    size_t field;
    int from, to;
} varied;

static void tell_forms(const cpu_plan *plan, const cpu_conv *base, const varied *v)
{
    for (int32_t at = v->from; at <= v->to; at++) {
        cpu_conv c = *base, in_bytes_too;
        cpu_conv_u8 u = {.words = 1};
        memcpy((char *)&c + v->field, &at, sizeof at);
        in_bytes_too = c;
        in_bytes_too.u8 = &u;
        recorded_say("%s %d: first %d %d winograd %d %d rows %d", v->name, at, cpu_conv_can_first(plan, &c),
                     cpu_conv_can_first_u8(plan, &c), cpu_conv_can_winograd(plan, &c),
                     cpu_conv_can_winograd_u8(plan, &in_bytes_too), cpu_conv_can_rows(plan, &c));
    }
}

static void forms_by_shape(void **state)
{
    (void)state;
#define FIELD(name, from, to)                                                                                \
    {                                                                                                        \
#name, offsetof(cpu_conv, name), from, to                                                            \
    }
    static const varied fields[] = {
        FIELD(kernel_h, 2, 4),      FIELD(kernel_h, 15, 18),     FIELD(kernel_w, 2, 4),
        FIELD(kernel_w, 62, 65),    FIELD(kernel_w, 84, 86),     FIELD(stride_h, 1, 3),
        FIELD(stride_w, 1, 3),      FIELD(dilation_h, 1, 2),     FIELD(dilation_w, 1, 2),
        FIELD(pad_left, -1, 1),     FIELD(pad_top, -1, 1),       FIELD(residual, -1, 0),
        FIELD(step_x, 1, 2),        FIELD(step_y, 1, 2),         FIELD(out_h, 3, 5),
        FIELD(out_w, 3, 5),         FIELD(weights.groups, 1, 2), FIELD(weights.cin, 3, 9),
        FIELD(weights.cin, 15, 17), FIELD(weights.cout, 1, 2),
    };
    cpu_value x[3] = {{.map = -1, .input = 0}, {.map = 0, .input = -1}, {.map = 0, .input = 0}};
    for (int how = 0; how < 6; how++) {
        cpu_plan plan = {.winograd = how != 3, .values = x, .n_values = 3};
        plan.kernels.conv3 = how == 4 ? NULL : no_rows;
        plan.kernels_u8.winograd = how == 4 ? NULL : no_words;
        const cpu_conv base = {.x = how < 3 ? how : 0,
                               .residual = SK_VALUE_NONE,
                               .weights = {.cin = how == 5  ? 16
                                                  : how % 2 ? 3
                                                            : 4,
                                           .cout = 16,
                                           .groups = 1},
                               .kernel_h = 3,
                               .kernel_w = 3,
                               .stride_h = how == 2 ? 2 : 1,
                               .stride_w = how == 2 ? 2 : 1,
                               .dilation_h = 1,
                               .dilation_w = 1,
                               .out_h = 40,
                               .out_w = 40,
                               .step_y = 1,
                               .step_x = 1};
        recorded_say("plan %d", how);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            tell_forms(&plan, &base, &fields[i]);
    }
    recorded_check("tests/fixtures/engines/cpu_forms.txt");
}

/* --- sums in eight bits --- */

static void reach_of_sums(void **state)
{
    (void)state;
    /* [2 outputs][2 inputs][1][3]: above zero 1 + 2 + 5 and 127; below 3 + 4 and 128 + 7 */
    static const int8_t w[] = {1, -3, 0, 2, -4, 5, -128, 127, 0, -7, 0, 0};
    cpu_conv_u8 u = {.data = w};
    cpu_conv c = {.weights = {.co = 6,
                              .ci = 3,
                              .ky = 3,
                              .kx = 1,
                              .groups = 1,
                              .cin = 2,
                              .cout = 2,
                              .kernel_h = 1,
                              .kernel_w = 3},
                  .u8 = &u};
    assert_int_equal(cpu_conv_reach_u8(&c), 255 * 135);
    c.weights.cout = 1;
    assert_int_equal(cpu_conv_reach_u8(&c), 255 * 8);
    c.weights.cin = 1;
    c.weights.kernel_w = 2;
    assert_int_equal(cpu_conv_reach_u8(&c), 255 * 3);
    c.weights.kernel_w = 1;
    c.weights.offset = 2;
    assert_int_equal(cpu_conv_reach_u8(&c), 0);
    /* in two groups: each output has one input, of three weights each */
    c.weights = (cpu_weights){
        .co = 3, .ci = 3, .ky = 3, .kx = 1, .groups = 2, .cin = 2, .cout = 2, .kernel_h = 1, .kernel_w = 3};
    assert_int_equal(cpu_conv_reach_u8(&c), 255 * 7);
}

/* Words carry sums below 2^25: 131586 times 255 is the last that is. */
static void words_carry_so_much(void **state)
{
    (void)state;
    enum { CIN = 116, TAPS = 9 };
    static int8_t w[CIN * TAPS];
    for (int sign = -1; sign <= 1; sign += 2)
        for (int more = 0; more < 2; more++) {
            int left = 131586 + more;
            for (int i = 0; i < CIN * TAPS; i++) {
                const int one = left < 127 ? left : 127;
                w[i] = (int8_t)(sign * one);
                left -= one;
            }
            assert_int_equal(left, 0);
            cpu_conv_u8 u = {.data = w};
            cpu_conv c = {.u8 = &u,
                          .weights = {.co = CIN * TAPS,
                                      .ci = TAPS,
                                      .ky = 3,
                                      .kx = 1,
                                      .groups = 1,
                                      .cin = CIN,
                                      .cout = 1,
                                      .kernel_h = 3,
                                      .kernel_w = 3},
                          .kernel_h = 3,
                          .kernel_w = 3,
                          .stride_h = 1,
                          .stride_w = 1,
                          .dilation_h = 1,
                          .dilation_w = 1,
                          .step_x = 1,
                          .step_y = 1,
                          .out_h = 4,
                          .out_w = 4};
            cpu_plan plan = {.winograd = 1};
            plan.kernels_u8.winograd = no_words;
            assert_int_equal(cpu_conv_can_winograd_u8(&plan, &c), !more);
            assert_int_equal(u.words, more ? -1 : 1);
            memset(w, 0, sizeof w); /* it is looked at once */
            assert_int_equal(cpu_conv_can_winograd_u8(&plan, &c), !more);
        }
}

/* As many products as 31 bits hold are summed in bytes, more are not. */
static void most_products(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        net n = net_begin();
        const int cin = 65000 + more;
        sk_value x = in_bytes(&n, net_in(&n, 1, cin, 1, 1), step, 100, SK_DTYPE_U8);
        net_out(&n, in_bytes(&n, byte_conv(&n, x, cin, 1, 1, 1, 1, 0), step, 9, SK_DTYPE_U8));
        assert_ok(n.b.status, &n.b.error);
        planned p;
        planned_open(&p, n.graph, n.shapes, 1, bytes);
        int in_eight = 0;
        for (size_t i = 0; i < p.plan.n_steps; i++)
            in_eight += p.plan.steps[i].run == cpu_conv_run && ((const cpu_conv *)p.plan.steps[i].data)->u8;
        assert_int_equal(in_eight, !more);
        planned_close(&p);
        net_end(&n);
    }
}

/* Bits behind the point: as many as the output's scale and the residual's leave room for. */
static void bits_behind_the_point(void **state)
{
    (void)state;
    static const float scales[] = {1e-4f, 4e-4f, 0.003f, 0.03f, 0.5f};
    static const int acts[] = {0, SK_UNARY_SILU, SK_UNARY_RELU6};
    for (int act = 0; act < 3; act++)
        for (int in = 0; in < 5; in++)
            for (int out = 0; out < 5; out++) {
                net n = net_begin();
                sk_value x = in_bytes(&n, net_in(&n, 1, 16, 3, 4), scales[in], 100, SK_DTYPE_U8);
                sk_value y = sk_b_add(&n.b, byte_conv(&n, x, 16, 16, 1, 1, 1, acts[act]), x);
                net_out(&n, in_bytes(&n, y, scales[out], 9, SK_DTYPE_U8));
                assert_ok(n.b.status, &n.b.error);
                planned p;
                planned_open(&p, n.graph, n.shapes, 1, bytes);
                plan_line l = {0};
                recorded_say("act %d, %g to %g", acts[act], (double)scales[in], (double)scales[out]);
                for (size_t i = 0; i < p.plan.n_steps; i++) {
                    const cpu_conv *c = p.plan.steps[i].data;
                    if (p.plan.steps[i].run == cpu_conv_run && c->u8)
                        plan_tell_conv_u8(c->u8, &l);
                }
                planned_close(&p);
                net_end(&n);
            }
    recorded_check("tests/fixtures/engines/cpu_bits.txt");
}

/* --- bytes beside others --- */

static void bytes_side_by_side(void **state)
{
    (void)state;
    for (int which = 0; which < 7; which++) {
        net n = net_begin();
        sk_value in = net_in(&n, 1, 3, 6, 8), other = which == 4 ? net_in(&n, 1, 16, 6, 8) : SK_VALUE_NONE;
        sk_value x = in_bytes(&n, in, step, 100, SK_DTYPE_U8);
        sk_value y = byte_conv(&n, x, 3, 16, 3, 1, 1, SK_UNARY_RELU);
        sk_value low = in_bytes(&n, y, step, which == 5 ? 90 : 0, SK_DTYPE_U8);
        sk_value second =
            which == 0   ? low /* the very same, which is the first buffer there is */
            : which == 1 ? in_bytes(&n, byte_conv(&n, x, 3, 16, 1, 1, 1, 0), step, 0, SK_DTYPE_U8)
            : which == 2 ? in_bytes(&n, byte_conv(&n, x, 3, 16, 1, 1, 1, 0), 2 * step, 0, SK_DTYPE_U8)
            : which == 3 ? byte_conv(&n, x, 3, 16, 1, 1, 1, 0) /* floats */
            : which == 4 ? other
            : which == 5 ? in_bytes(&n, byte_conv(&n, x, 3, 16, 1, 1, 1, 0), step, 91, SK_DTYPE_U8)
                         : in_bytes(&n, byte_conv(&n, x, 3, 5, 1, 1, 1, 0), step, 0, SK_DTYPE_U8);
        sk_value both = sk_b_concat(&n.b, (sk_value[]){low, second}, 2, 1);
        if (which != 3 && which != 4)
            both = in_bytes(&n, both, step, which == 5 ? 90 : 0, SK_DTYPE_U8);
        net_out(&n, byte_conv(&n, both, which == 6 ? 21 : 32, 18, 1, 1, 1, 0));
        if (which == 1)
            net_out(&n, sk_b_unary(&n.b, SK_UNARY_TANH, low)); /* read as floats, too */
        net_check(&n, "side by side", bytes, 0.05);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_beside.txt");
}

/* The same value by two rules, by one rule twice; a rule without a zero; one that has a scale for each channel. */
static void rules(void **state)
{
    (void)state;
    for (int which = 0; which < 6; which++) {
        net n = net_begin();
        const sk_shape one = {.rank = 0}, list = sk_shape_of(1, 18);
        float scales[18];
        for (int i = 0; i < 18; i++)
            scales[i] = step * (float)(1 + i % 3);
        sk_value x = in_bytes(&n, net_in(&n, 1, 3, 6, 8), step, 100, SK_DTYPE_U8);
        sk_value y = byte_conv(&n, x, 3, 18, 3, 1, 1, SK_UNARY_RELU), a, b = SK_VALUE_NONE;
        if (which < 3) {
            a = in_bytes(&n, y, step, 7, SK_DTYPE_U8);
            b = in_bytes(&n, which == 2 ? a : y, which == 1 ? 2 * step : step, 7, SK_DTYPE_U8);
        } else {
            const uint8_t zero[18] = {0};
            const sk_attrs at = {.quantise.axis = 1};
            const sk_dtype type = which == 4 ? SK_DTYPE_I8 : SK_DTYPE_U8;
            sk_value s = which == 5 ? sk_b_constant(&n.b, "s", SK_DTYPE_F32, &list, scales)
                                    : sk_b_f32(&n.b, step),
                     z = sk_b_constant(&n.b, "", type, which == 5 ? &list : &one, zero);
            sk_value q = sk_b_node(&n.b, SK_OP_QUANTIZE, &at, (sk_value[]){y, s, z}, 3, "q");
            a = sk_b_node(&n.b, SK_OP_DEQUANTIZE, &at, (sk_value[]){q, s, z}, which == 3 ? 2 : 3, "dq");
        }
        net_out(&n, byte_conv(&n, a, 18, 20, 1, 1, 1, 0));
        if (b != SK_VALUE_NONE)
            net_out(&n, byte_conv(&n, b, 18, 20, 1, 1, 1, 0));
        net_check(&n, "rules", bytes, 0.05);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_rules.txt");
}

/* --- other orders and shares --- */

/* Groups shared out instead of rows, and in the other loop order: the same numbers. */
static void in_other_orders(planned *p, const char *name, double tolerance)
{
    for (int order = 1; order < 4; order++) {
        for (size_t i = 0; i < p->plan.n_steps; i++) {
            cpu_conv *c = p->plan.steps[i].data;
            if (p->plan.steps[i].run != cpu_conv_run || c->choice.form == CPU_CONV_FIRST)
                continue;
            c->choice.split_groups = (uint8_t)(order & 1);
            if (c->choice.form == CPU_CONV_TAPS || c->choice.form == CPU_CONV_ROWS)
                c->choice.groups_outer = (uint8_t)(order >> 1);
            cpu_conv_apply(&p->plan, c);
        }
        planned_is_reference(p, name, tolerance);
    }
}

static void orders_and_shares(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        net n = net_begin();
        sk_value x = net_conv(&n, net_in(&n, 2, 3, 7, 9), 3, 36, net_square(3, SK_UNARY_RELU));
        sk_value y = net_conv(&n, x, 36, 100, net_square(3, SK_UNARY_SILU));
        sk_value z = sk_b_add(&n.b, net_conv(&n, y, 100, 100, net_square(1, 0)), y);
        z = net_conv(&n, z, 100, 100,
                     (win){.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .groups = 100});
        net_out(&n, net_conv(&n, z, 100, 70, (win){.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}}));
        const uint32_t here = sk_cpu_detected_flags();
        planned p;
        planned_open(&p, n.graph, n.shapes, 1,
                     (plan_how){.flags = how == 2 ? here : 0, .threads = 2, .by_taps = how == 1});
        in_other_orders(&p, how == 1 ? "tap by tap" : "by winograd", 1e-5);
        planned_close(&p);
        if (how == 2) {
            planned_open(&p, n.graph, n.shapes, 1,
                         (plan_how){.flags = here, .precision = SK_PRECISION_BF16, .threads = 2});
            in_other_orders(&p, "bf16", 0.06);
            planned_close(&p);
        }
        net_end(&n);
        if (how == 1)
            continue;
        const int c = how ? 40 : 100; /* large enough for Winograd, or of many groups */
        n = net_begin();
        x = in_bytes(&n, how ? net_in(&n, 2, 24, 33, 32) : net_in(&n, 2, 24, 6, 7), step, 100, SK_DTYPE_U8);
        y = in_bytes(&n, byte_conv(&n, x, 24, c, 3, 1, 1, SK_UNARY_RELU), step, 7, SK_DTYPE_U8);
        z = in_bytes(&n, sk_b_add(&n.b, byte_conv(&n, y, c, c, 1, 1, 1, 0), y), step, 90, SK_DTYPE_U8);
        z = in_bytes(&n, byte_conv(&n, z, c, c, 3, 2, c, 0), step, 90, SK_DTYPE_U8);
        net_out(&n, byte_conv(&n, z, c, 70, 3, 2, 1, SK_UNARY_SILU)); /* floats, activated */
        planned_open(&p, n.graph, n.shapes, 1,
                     (plan_how){.flags = how == 2 ? here : 0, .precision = SK_PRECISION_I8, .threads = 2});
        in_other_orders(&p, "bytes", 0.12);
        planned_close(&p);
        net_end(&n);
    }
}

/* --- of one element, and of none --- */

static void few_elements(void **state)
{
    (void)state;
    /* those behind the first four are the reference executor's */
    static const sk_reduction kinds[] = {SK_REDUCE_SUM,  SK_REDUCE_MEAN, SK_REDUCE_MAX, SK_REDUCE_MIN,
                                         SK_REDUCE_PROD, SK_REDUCE_L1,   SK_REDUCE_L2};
    for (int k = 0; k < 7; k++)
        for (int rank = 1; rank <= 3; rank++) {
            net n = net_begin();
            sk_value x = net_shaped(&n, rank == 1   ? sk_shape_of(1, 1)
                                        : rank == 2 ? sk_shape_of(2, 1, 1)
                                                    : sk_shape_of(3, 1, 2, 1));
            const int axis[] = {rank - 1}, back[] = {-1};
            net_out(&n, sk_b_reduce(&n.b, kinds[k], x, axis, 1, k % 2));
            net_out(&n, sk_b_reduce(&n.b, kinds[k], x, back, 1, true));
            net_out(&n, sk_b_reduce(&n.b, kinds[k], x, axis, 0, false));
            net_check(&n, "of one", plain, 0);
            net_end(&n);
        }
    recorded_check("tests/fixtures/engines/cpu_plan_few.txt");
}

/* Up to 64 maps lie side by side in one; more than a step takes are refused. */
static void many_parts(void **state)
{
    (void)state;
    for (int count = 64; count <= 65; count++) {
        net n = net_begin();
        sk_error err = {0};
        sk_value x = net_conv(&n, net_in(&n, 1, 3, 2, 3), 3, 4, net_square(1, 0)), parts[65];
        for (int i = 0; i < count; i++)
            parts[i] = x;
        net_out(&n, sk_b_concat(&n.b, parts, count, 1));
        planned p;
        assert_int_equal(planned_try(&p, n.graph, n.shapes, 1, plain, &err),
                         count == 64 ? SK_OK : SK_ERR_LIMIT);
        if (count == 64)
            planned_is_reference(&p, "parts", NEAR);
        planned_close(&p);
        net_end(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_by_shape),
        cmocka_unit_test(reach_of_sums),
        cmocka_unit_test(words_carry_so_much),
        cmocka_unit_test(most_products),
        cmocka_unit_test(bits_behind_the_point),
        cmocka_unit_test(bytes_side_by_side),
        cmocka_unit_test(rules),
        cmocka_unit_test(orders_and_shares),
        cmocka_unit_test(few_elements),
        cmocka_unit_test(many_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
