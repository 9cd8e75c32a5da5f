/* SPDX-License-Identifier: Apache-2.0 */
/* A 1x1 convolution in eight bits over a concatenation with an upsampled map: computed in two parts it gives every bit that the whole
 * gives, with every instruction set, in any shares; it is the whole where somebody else reads what would not be made. */
#include "byte_nets.h"

#include "base/cpu.h"

typedef struct join {
    const char *name;
    int images, small, other, outputs, h,
        w; /* channels of the upsampled map, of the one beside it; size of the latter */
    int act, zero;
    bool behind; /* the upsampled map stands last */
    bool bare;   /* the result stays f32 */
    bool rules;  /* values in between are in bytes of the same rule, too */
    float out_step;
} join;

static const join joins[] = {
    {"plain", 1, 32, 16, 32, 6, 8, 0, 40, false, false, false, step},
    {"silu, behind", 2, 20, 35, 33, 6, 38, SK_UNARY_SILU, 40, true, false, false, step},
    {"silu, through bytes", 1, 35, 20, 51, 4, 34, SK_UNARY_SILU, 128, false, false, true, step},
    {"relu, four outputs more", 1, 7, 5, 20, 10, 18, SK_UNARY_RELU, 255, true, false, true, step},
    {"eight outputs more", 2, 48, 32, 24, 4, 70, SK_UNARY_RELU, 0, false, false, false, step},
    {"wide", 1, 64, 64, 128, 8, 20, SK_UNARY_SILU, 10, false, false, false, step},
    {"floats", 1, 33, 18, 36, 6, 36, 0, 40, true, true, false, step},
    {"floats, activated", 2, 16, 3, 9, 6, 8, SK_UNARY_SILU, 7, false, true, true, step},
    {"two columns", 1, 9, 9, 17, 2, 2, SK_UNARY_RELU6, 7, false, false, true, step},
    {"far beyond", 1, 20, 30, 40, 6, 8, 0, 40, true, false, false, 1e-9f},
};
#define JOINS (sizeof joins / sizeof joins[0])

/* read_twice: the upsampled map is an output, too. */
static net network(const join *j, bool read_twice)
{
    net n = net_begin();
    sk_value x = in_bytes(&n, net_in(&n, j->images, 3, j->h, j->w), step, 100, SK_DTYPE_U8);
    sk_value other =
        in_bytes(&n, byte_conv(&n, x, 3, j->other, 3, 1, 1, SK_UNARY_SILU), step, j->zero, SK_DTYPE_U8);
    sk_value small = in_bytes(&n, byte_conv(&n, x, 3, j->small, 3, 2, 1, 0), step, j->zero, SK_DTYPE_U8);
    sk_value up = sk_b_upsample_nearest(&n.b, small, 2.0f), part = up;
    if (j->rules)
        part = in_bytes(&n, up, step, j->zero, SK_DTYPE_U8);
    sk_value whole =
        sk_b_concat(&n.b, j->behind ? (sk_value[]){other, part} : (sk_value[]){part, other}, 2, 1);
    if (j->rules)
        whole = in_bytes(&n, whole, step, j->zero, SK_DTYPE_U8);
    sk_value y = byte_conv(&n, whole, j->small + j->other, j->outputs, 1, 1, 1, j->act);
    net_out(&n, j->bare ? y : in_bytes(&n, y, j->out_step, 20, SK_DTYPE_U8));
    if (read_twice)
        net_out(&n, up);
    assert_ok(n.b.status, &n.b.error);
    return n;
}

/* The convolution that makes the result, and how many steps move pixels. */
static const cpu_conv *last_conv(const planned *p, int *resizes)
{
    const cpu_conv *last = NULL;
    *resizes = 0;
    for (size_t i = 0; i < p->plan.n_steps; i++) {
        *resizes += strncmp(p->plan.steps[i].kernel, "resize", 6) == 0;
        if (p->plan.steps[i].run == cpu_conv_run)
            last = p->plan.steps[i].data;
    }
    assert_non_null(last);
    return last;
}

static void same_result(const planned *a, const planned *b, const char *name)
{
    const cpu_buffer *x = &a->plan.buffers[a->plan.outputs[0]], *y = &b->plan.buffers[b->plan.outputs[0]];
    assert_int_equal(x->bytes, y->bytes);
    if (memcmp(a->plan.memory + x->offset, b->plan.memory + y->offset, x->bytes) != 0)
        fail_msg("%s: other bits", name);
}

static double flops_of(const planned *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->plan.n_steps; i++)
        sum += p->plan.steps[i].flops;
    return sum;
}

static void one_join(const join *j, plan_how how)
{
    net parts = network(j, false), whole = network(j, true);
    planned p, w;
    int resizes;
    planned_open(&p, parts.graph, parts.shapes, 1, how);
    planned_open(&w, whole.graph, whole.shapes, 1, how);
    const cpu_conv *a = last_conv(&p, &resizes);
    assert_int_equal(resizes, 0);
    assert_int_equal(a->weights.cin, j->other);
    assert_true(a->u8 && a->u8->half != SK_VALUE_NONE);
    const cpu_conv *b = last_conv(&w, &resizes);
    assert_int_equal(resizes, 1);
    assert_int_equal(b->weights.cin, j->small + j->other);
    assert_true(b->u8 && b->u8->half == SK_VALUE_NONE);
    assert_memory_equal(a->u8->p.scale, b->u8->p.scale, (size_t)a->p.out_blocks * SK_BLOCK * sizeof(float));
    assert_memory_equal(a->u8->p.bias, b->u8->p.bias, (size_t)a->p.out_blocks * SK_BLOCK * sizeof(float));
    const double saved = 1.5 * j->images * j->small * j->outputs * j->h * j->w; /* three quarters of 2 */
    assert_true(fabs(flops_of(&w) - flops_of(&p) - saved) < 1.0);
    for (int round = 0; round < 3; round++) {
        static const int32_t shares[] = {1, 3, 11};
        sk_tensor in[1];
        planned_inputs(&p, (uint64_t)round + 3, in);
        const sk_session_input given = {.data = in[0].data};
        planned_run(&p, &given, shares[round]);
        planned_run(&w, &given, 2);
        same_result(&p, &w, j->name);
        free(in[0].data);
    }
    planned_close(&p);
    planned_close(&w);
    net_end(&parts);
    net_end(&whole);
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    const uint32_t here = sk_cpu_detected_flags();
    const uint32_t sets[] = {0, here & (SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_NEON),
                             here &
                                 (SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVXVNNI | SK_CPU_NEON | SK_CPU_DOTPROD),
                             here & ~(uint32_t)SK_CPU_AMX, here};
    for (size_t i = 0; i < JOINS; i++)
        for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++)
            for (int whole = 0; whole < 2; whole++)
                one_join(
                    &joins[i],
                    (plan_how){.flags = sets[k], .precision = SK_PRECISION_I8, .threads = 2, .whole = whole});
}

static void plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOINS; i++) {
        net n = network(&joins[i], false);
        net_check(&n, joins[i].name, (plan_how){.precision = SK_PRECISION_I8, .threads = 2},
                  1.1 * (double)step);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_joined_bytes.txt");
}

/* What keeps it in one piece. */
static void wholes(void **state)
{
    (void)state;
    enum {
        BOTH_UP,
        THREE,
        OTHER_RULE,
        NARROWER,
        WINDOW,
        GROUPS,
        ADDED,
        TRIPLED,
        F32,
        BYTES_READ,
        LATER,
        CASES
    };
    for (int which = 0; which < CASES; which++) {
        net n = net_begin();
        sk_value x = in_bytes(&n, net_in(&n, 1, 3, 12, 12), step, 100, SK_DTYPE_U8);
        sk_value other = in_bytes(&n, byte_conv(&n, x, 3, 16, 3, 1, 1, 0), step, 40, SK_DTYPE_U8);
        sk_value small = in_bytes(&n, byte_conv(&n, x, 3, 16, 3, 2, 1, 0), which == OTHER_RULE ? 0.02f : step,
                                  40, SK_DTYPE_U8);
        if (which == TRIPLED)
            small = in_bytes(&n, byte_conv(&n, sk_b_max_pool(&n.b, x, 3, 3, 0, "p"), 3, 16, 1, 1, 1, 0), step,
                             40, SK_DTYPE_U8);
        sk_value up = sk_b_upsample_nearest(&n.b, small, which == TRIPLED ? 3.0f : 2.0f);
        if (which == BOTH_UP)
            other = sk_b_upsample_nearest(&n.b, small, 2.0f);
        if (which == LATER) /* than the upsampling */
            other = in_bytes(&n, byte_conv(&n, x, 3, 16, 1, 1, 1, 0), step, 40, SK_DTYPE_U8);
        if (which == NARROWER) /* bytes of a rule of their own in between */
            up = in_bytes(&n, up, 0.02f, 9, SK_DTYPE_U8);
        if (which == F32)
            other = net_conv(&n, x, 3, 16, net_square(3, 0));
        const int count = which == THREE ? 3 : 2;
        sk_value both = sk_b_concat(&n.b, (sk_value[]){up, other, other}, count, 1);
        const int kernel = which == WINDOW ? 3 : 1, groups = which == GROUPS ? 2 : 1;
        sk_value y = byte_conv(&n, both, 16 * count, 32, kernel, 1, groups, SK_UNARY_RELU);
        if (which == ADDED)
            y = sk_b_add(&n.b, y, both);
        net_out(&n, in_bytes(&n, y, step, 20, SK_DTYPE_U8));
        if (which == BYTES_READ)
            net_out(&n, both);
        assert_ok(n.b.status, &n.b.error);
        planned p;
        int resizes;
        planned_open(&p, n.graph, n.shapes, 1, (plan_how){.precision = SK_PRECISION_I8, .threads = 2});
        const cpu_conv *c = last_conv(&p, &resizes);
        if (which == BOTH_UP) { /* one of them only */
            assert_int_equal(resizes, 1);
            assert_true(c->u8->half != SK_VALUE_NONE);
        } else {
            assert_int_equal(resizes, 1);
            assert_true(!c->u8 || c->u8->half == SK_VALUE_NONE);
        }
        planned_is_reference(&p, "whole", 1.1 * (double)step);
        planned_close(&p);
        net_end(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_the_whole), cmocka_unit_test(plans),
                                       cmocka_unit_test(wholes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
