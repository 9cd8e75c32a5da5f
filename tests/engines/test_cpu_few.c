/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the CPU engine with few outputs, which go straight to dense tensors: what they compute, which they are, and which of
 * one input become one step. */
#include "byte_nets.h"

#include "base/cpu.h"

#define NEAR 2e-6

static sk_value maps(net *n, int images, int c, int h, int w)
{
    return net_conv(n, net_in(n, images, 3, h, w), 3, c, (win){.kernel = {1, 1}});
}

static sk_value head(net *n, sk_value x, int cin, int cout, int act)
{
    return net_conv(n, x, cin, cout, (win){.act = act});
}

/* The shapes of the steps with few outputs, one after the other. */
static void few_are(net *n, plan_how how, double tolerance, const char *shapes)
{
    char told[512] = "";
    planned p;
    assert_ok(n->b.status, &n->b.error);
    planned_open(&p, n->graph, n->shapes, n->inputs, how);
    for (size_t i = 0; i < p.plan.n_steps; i++)
        if (strncmp(p.plan.steps[i].kernel, "conv few ", 9) == 0)
            snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s", *told ? ", " : "",
                     p.plan.steps[i].shape);
    assert_string_equal(told, shapes);
    planned_is_reference(&p, shapes, tolerance);
    planned_close(&p);
    net_end(n);
}

/* Widths around those that are computed at once (24 kB of rows: 368 pixels of 15 channels), and every count of outputs. */
static void sizes(void **state)
{
    (void)state;
    static const struct {
        int images, cin, cout, h, w, act;
        const char *shape;
    } all[] = {{1, 15, 1, 1, 1, 0, "15->1 1x1 s1 1x1"},
               {1, 15, 2, 2, 367, SK_UNARY_SIGMOID, "15->2 1x1 s1 2x367"},
               {1, 15, 3, 2, 368, 0, "15->3 1x1 s1 2x368"},
               {2, 15, 4, 3, 369, SK_UNARY_SILU, "15->4 1x1 s1 3x369"},
               {1, 16, 5, 3, 17, SK_UNARY_RELU, "16->5 1x1 s1 3x17"},
               {3, 17, 6, 5, 16, 0, "17->6 1x1 s1 5x16"},
               {1, 70, 7, 4, 80, SK_UNARY_LEAKY, "70->7 1x1 s1 4x80"},
               {2, 400, 8, 3, 33, 0, "400->8 1x1 s1 3x33"},
               {1, 16, 9, 3, 17, 0, ""}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int level = 0; level < 2; level++) {
            net n = net_begin();
            net_out(&n, head(&n, maps(&n, all[i].images, all[i].cin, all[i].h, all[i].w), all[i].cin,
                             all[i].cout, all[i].act));
            few_are(&n, (plan_how){.flags = level ? sk_cpu_flags() : 0}, 4e-6, all[i].shape);
        }
}

/* Blocks that are not full in between: channels side by side of maps that fill no block. */
static void joined(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value in = net_in(&n, 2, 3, 5, 7);
    const sk_value parts[3] = {head(&n, in, 3, 5, 0), head(&n, in, 3, 18, SK_UNARY_RELU),
                               head(&n, in, 3, 2, 0)};
    net_out(&n, head(&n, sk_b_concat(&n.b, parts, 3, 1), 25, 4, 0));
    few_are(&n, (plan_how){.threads = 3}, NEAR, "25->4 1x1 s1 5x7");
}

static void one_step_for_heads_of_one_input(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = maps(&n, 2, 20, 5, 9), other = head(&n, x, 20, 16, SK_UNARY_RELU);
    net_out(&n, head(&n, x, 20, 2, 0));
    net_out(&n, head(&n, other, 16, 3, 0)); /* of something else, in between */
    net_out(&n, net_conv(&n, x, 20, 4, (win){.no_bias = true, .act = SK_UNARY_TANH}));
    net_out(&n, head(&n, x, 20, 17, 0)); /* too many */
    net_out(&n, head(&n, x, 20, 8, SK_UNARY_SIGMOID));
    net_out(&n, head(&n, x, 20, 1, 0));
    net_out(&n, head(&n, x, 20, 5, 0)); /* the fifth: in a step of its own */
    few_are(&n, (plan_how){.threads = 2}, NEAR, "20->2+4+8+1 1x1 s1 5x9, 16->3 1x1 s1 5x9, 20->5 1x1 s1 5x9");
}

/* What is read as a map stays one; what is read dense needs none. */
static void only_what_is_read_dense(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = head(&n, maps(&n, 1, 20, 5, 9), 20, 2, 0);
    net_out(&n, x);
    net_out(&n, sk_b_max_pool(&n.b, x, 2, 2, 0, "pool"));
    few_are(&n, (plan_how){0}, NEAR, "");
    n = net_begin();
    x = head(&n, maps(&n, 2, 20, 5, 9), 20, 3, 0);
    net_out(&n, sk_b_transpose(&n.b, x, (const int[]){0, 2, 3, 1}, 4));
    few_are(&n, (plan_how){0}, NEAR, "20->3 1x1 s1 5x9");
    n = net_begin(); /* of the input itself: not here as a map */
    net_out(&n, net_conv(&n, net_in(&n, 1, 3, 5, 9), 3, 2, (win){.act = 0}));
    few_are(&n, (plan_how){0}, NEAR, "");
}

/* Windows, steps, pads and groups are for the others, and so are residuals. */
static void only_points(void **state)
{
    (void)state;
    static const win all[] = {{.kernel = {3, 1}, .pad = {1, 0, 1, 0}},
                              {.kernel = {1, 3}, .pad = {0, 1, 0, 1}},
                              {.stride = {2, 1}},
                              {.stride = {1, 2}},
                              {.pad = {1, 0, 0, 0}},
                              {.pad = {0, 1, 0, 0}},
                              {.pad = {0, 0, 1, 0}},
                              {.pad = {0, 0, 0, 1}},
                              {.groups = 2}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        net_out(&n, net_conv(&n, maps(&n, 1, 20, 5, 9), 20, 2, all[i]));
        few_are(&n, (plan_how){0}, NEAR, "");
    }
    net n = net_begin();
    sk_value x = maps(&n, 1, 4, 5, 9), y = head(&n, x, 4, 4, 0);
    net_out(&n, sk_b_binary(&n.b, SK_BINARY_ADD, x, y));
    few_are(&n, (plan_how){0}, NEAR, "");
}

/* Maps in bf16, and in bytes that a convolution of bytes reads, too: raised on the way. */
static void low_maps(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = net_conv(&n, maps(&n, 2, 20, 6, 40), 20, 24, net_square(3, SK_UNARY_RELU));
    net_out(&n, head(&n, x, 24, 2, 0));
    few_are(&n, (plan_how){.flags = sk_cpu_flags(), .precision = SK_PRECISION_BF16}, 2e-2,
            "24->2 1x1 s1 6x40");
    for (int level = 0; level < 2; level++) {
        n = net_begin();
        x = in_bytes(&n, maps(&n, 2, 20, 6, 40), step, 110, SK_DTYPE_U8);
        net_out(&n, byte_conv(&n, x, 20, 24, 3, 1, 1, 0));
        net_out(&n, head(&n, x, 20, 3, 0));
        few_are(&n, (plan_how){.flags = level ? sk_cpu_flags() : 0, .precision = SK_PRECISION_I8}, 2e-5,
                "20->3 1x1 s1 6x40");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),
                                       cmocka_unit_test(joined),
                                       cmocka_unit_test(one_step_for_heads_of_one_input),
                                       cmocka_unit_test(only_what_is_read_dense),
                                       cmocka_unit_test(only_points),
                                       cmocka_unit_test(low_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
