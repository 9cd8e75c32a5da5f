/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of the CPU engine for what stands between convolutions: pooling, resizing, arithmetic, channels side by side and apart. */
#include "planned_nets.h"

#define NEAR 2e-6

static const plan_how plain = {.threads = 2};

static void done(net *n, const char *name, double tolerance)
{
    net_check(n, name, plain, tolerance);
    net_end(n);
}

/* Blocked maps: a convolution made them. */
static sk_value maps(net *n, int images, int c, int h, int w)
{
    return net_conv(n, net_in(n, images, 3, h, w), 3, c, (win){.kernel = {1, 1}});
}

static sk_value pool(net *n, sk_value x, sk_op op, const int *k, bool count)
{
    sk_attrs a = {0};
    a.pool.window = (sk_window){.kernel = {k[0], k[1]},
                                .stride = {k[2], k[3]},
                                .dilation = {k[4], k[5]},
                                .pad = {k[6], k[7], k[8], k[9]}};
    a.pool.ceil_mode = k[10];
    a.pool.count_include_pad = count;
    return sk_b_node(&n->b, op, &a, &x, 1, "pool");
}

static void pools(void **state)
{
    (void)state;
    static const int all[][11] = {{2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0}, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 0},
                                  {3, 2, 2, 3, 1, 1, 1, 0, 0, 1, 0}, {2, 2, 1, 1, 2, 3, 0, 0, 0, 0, 0},
                                  {3, 3, 2, 2, 1, 1, 0, 0, 0, 0, 1}, {5, 5, 1, 1, 1, 1, 2, 2, 2, 2, 0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_value x = maps(&n, 2, 18, 7, 8);
        net_out(&n, pool(&n, x, SK_OP_MAX_POOL, all[i], false));
        if (all[i][4] == 1 && all[i][5] == 1) {
            net_out(&n, pool(&n, x, SK_OP_AVG_POOL, all[i], false));
            net_out(&n, pool(&n, x, SK_OP_AVG_POOL, all[i], true));
        }
        done(&n, "pool", NEAR);
    }
    net n = net_begin(); /* of the input itself, which is dense */
    net_out(&n, sk_b_max_pool(&n.b, net_in(&n, 1, 3, 4, 4), 2, 2, 0, "pool"));
    done(&n, "pool of the input", 0);
    recorded_check("tests/fixtures/engines/cpu_plan_pools.txt");
}

static void reductions(void **state)
{
    (void)state;
    static const struct {
        sk_reduction kind;
        int n, axes[3];
        bool keep;
    } all[] = {{SK_REDUCE_MEAN, 2, {2, 3}, true}, {SK_REDUCE_MAX, 2, {-1, -2}, true},
               {SK_REDUCE_MAX, 2, {3, 2}, true},  {SK_REDUCE_MEAN, 2, {2, 3}, false},
               {SK_REDUCE_SUM, 2, {2, 3}, true},  {SK_REDUCE_MIN, 2, {2, 3}, true},
               {SK_REDUCE_MEAN, 1, {1}, true},    {SK_REDUCE_MEAN, 2, {1, 2}, true},
               {SK_REDUCE_MEAN, 2, {0, 3}, true}, {SK_REDUCE_MEAN, 3, {1, 2, 3}, true},
               {SK_REDUCE_MAX, 1, {-1}, true},    {SK_REDUCE_MEAN, 2, {1, 3}, false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_value x = maps(&n, 2, 18, 3, 5);
        net_out(&n, sk_b_reduce(&n.b, all[i].kind, x, all[i].axes, all[i].n, all[i].keep));
        done(&n, "reduced", NEAR);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_reductions.txt");
}

/* Every way to say which pixel is meant, larger and smaller. */
static void resizes(void **state)
{
    (void)state;
    static const float scales[][2] = {{2, 2}, {2, 3}, {1.5f, 2}, {0.5f, 0.25f}, {1, 2}, {0.2f, 0.13f}};
    for (int mode = SK_RESIZE_NEAREST; mode <= SK_RESIZE_CUBIC; mode++)
        for (int coords = SK_COORDS_HALF_PIXEL; coords <= SK_COORDS_PYTORCH_HALF_PIXEL; coords++)
            for (int round = SK_ROUND_FLOOR; round <= SK_ROUND_CEIL; round++) {
                if (mode != SK_RESIZE_NEAREST && round != SK_ROUND_FLOOR)
                    continue;
                net n = net_begin();
                sk_value x = maps(&n, 2, 18, 6, 8);
                for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
                    net_out(&n, net_resize(&n, x, (sk_resize_mode)mode, (sk_resize_coords)coords,
                                           (sk_resize_round)round, scales[i][0], scales[i][1]));
                char name[64];
                snprintf(name, sizeof name, "resize mode %d coords %d round %d", mode, coords, round);
                done(&n, name, NEAR);
            }
    net n = net_begin(); /* by sizes, of the input */
    sk_value x = net_in(&n, 1, 2, 3, 4);
    sk_attrs a = {0};
    a.resize.mode = SK_RESIZE_LINEAR;
    a.resize.coords = SK_COORDS_HALF_PIXEL;
    const int64_t sizes[] = {1, 2, 7, 9}, deeper[] = {1, 2, 6, 8};
    net_out(&n, sk_b_node(&n.b, SK_OP_RESIZE, &a, (sk_value[]){x, sk_b_i64s(&n.b, sizes, 4)}, 2, "sized"));
    a.resize.mode = SK_RESIZE_NEAREST;
    a.resize.round = SK_ROUND_FLOOR;
    net_out(&n, sk_b_node(&n.b, SK_OP_RESIZE, &a, (sk_value[]){x, sk_b_i64s(&n.b, deeper, 4)}, 2, "sized"));
    a.resize.antialias = 1;
    a.resize.mode = SK_RESIZE_LINEAR;
    a.resize.scale[0] = a.resize.scale[1] = 0.5f;
    net_out(&n, sk_b_node(&n.b, SK_OP_RESIZE, &a, &x, 1, "smoothed"));
    done(&n, "by sizes", NEAR);
    recorded_check("tests/fixtures/engines/cpu_plan_resizes.txt");
}

static void arithmetic(void **state)
{
    (void)state;
    static const sk_binary kinds[] = {SK_BINARY_ADD, SK_BINARY_SUB, SK_BINARY_MUL, SK_BINARY_DIV,
                                      SK_BINARY_MIN, SK_BINARY_MAX, SK_BINARY_POW};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        net n = net_begin();
        sk_value a = maps(&n, 2, 18, 3, 4), b = maps(&n, 2, 18, 3, 4);
        const int hw[] = {2, 3};
        sk_value one = sk_b_reduce(&n.b, SK_REDUCE_MAX, b, hw, 2, true);
        sk_value scalar = sk_b_f32(&n.b, 0.75f), channel = net_random(&n, sk_shape_of(4, 1, 18, 1, 1)),
                 rank3 = net_random(&n, sk_shape_of(3, 18, 1, 1)), row = net_random(&n, sk_shape_of(1, 4)),
                 pixels = net_random(&n, sk_shape_of(2, 3, 4)),
                 whole = net_random(&n, sk_shape_of(4, 2, 18, 3, 4)),
                 images = net_random(&n, sk_shape_of(4, 2, 18, 1, 1));
        const sk_value others[] = {b, one, scalar, channel, rank3, row, pixels, whole, images};
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            net_out(&n, sk_b_binary(&n.b, kinds[i], a, others[k]));
            net_out(&n, sk_b_binary(&n.b, kinds[i], others[k], a));
        }
        done(&n, "two and two", kinds[i] == SK_BINARY_POW || kinds[i] == SK_BINARY_DIV ? 4e-5 : NEAR);
    }
    /* maps that are filled otherwise: 5 and 13 channels side by side are not 18 in a row */
    net n = net_begin();
    sk_value parts[2] = {maps(&n, 1, 5, 3, 4), maps(&n, 1, 13, 3, 4)}, other = maps(&n, 1, 18, 3, 4);
    sk_value both = sk_b_concat(&n.b, parts, 2, 1), channel = net_random(&n, sk_shape_of(4, 1, 18, 1, 1));
    net_out(&n, sk_b_add(&n.b, both, other));
    net_out(&n, sk_b_add(&n.b, both, channel));
    net_out(&n, net_conv(&n, both, 18, 18, net_square(3, 0)));
    net_out(&n, net_conv(&n, both, 18, 18,
                         (win){.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 18, .act = SK_UNARY_RELU}));
    done(&n, "filled otherwise", NEAR);
    /* and as what is added to a convolution's result: of any window, of each channel by itself, at half the size */
    for (int which = 0; which < 4; which++) {
        const win each = {.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 18};
        n = net_begin();
        sk_value halves[2] = {maps(&n, 2, 5, 4, 6), maps(&n, 2, 13, 4, 6)}, large = maps(&n, 2, 18, 8, 12);
        both = sk_b_concat(&n.b, halves, 2, 1);
        other = maps(&n, 2, 18, 4, 6);
        sk_value y = which == 0
                         ? sk_b_add(&n.b, net_conv(&n, other, 18, 18, net_square(3, SK_UNARY_RELU)), both)
                     : which == 1 ? sk_b_add(&n.b, net_conv(&n, other, 18, 18, each), both)
                     : which == 2 ? sk_b_add(&n.b, net_conv(&n, both, 18, 18, each), other)
                                  : sk_b_add(&n.b, net_conv(&n, large, 18, 18, net_square(1, 0)),
                                             sk_b_upsample_nearest(&n.b, both, 2.0f));
        net_out(&n, y);
        done(&n, "added, filled otherwise", NEAR);
    }
    static const sk_unary unary[] = {SK_UNARY_SILU, SK_UNARY_LEAKY, SK_UNARY_TANH, SK_UNARY_SIN,
                                     SK_UNARY_ABS};
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {
        n = net_begin();
        sk_value x = sk_b_max_pool(&n.b, maps(&n, 2, 18, 3, 4), 3, 1, 1, "pool");
        net_out(&n, sk_b_unary_alpha(&n.b, unary[i], x, 0.3f, 0.1f));
        done(&n, "one and one", NEAR);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_arithmetic.txt");
}

/* --- channels --- */

static void channels(void **state)
{
    (void)state;
    static const struct {
        int c, parts, first, second, then; /* split sizes */
    } splits[] = {
        {32, 2, 16, 16, 0}, {48, 3, 16, 16, 16}, {36, 2, 32, 4, 0}, {36, 2, 20, 16, 0}, {16, 2, 8, 8, 0}};
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        net n = net_begin();
        sk_value x = maps(&n, 2, splits[i].c, 4, 5), part[3];
        const int64_t sizes[] = {splits[i].first, splits[i].second, splits[i].then};
        sk_b_split(&n.b, x, i % 2 ? 1 : -3, sizes, splits[i].parts, part);
        sk_value a = net_conv(&n, part[1], splits[i].second, splits[i].second, net_square(3, SK_UNARY_SILU));
        sk_value joined[3] = {part[0], part[1], a}, turned[3] = {a, part[1], part[0]};
        net_out(&n, net_conv(&n, sk_b_concat(&n.b, joined, 3, 1), splits[i].first + 2 * splits[i].second, 7,
                             net_square(1, 0)));
        net_out(&n, sk_b_concat(&n.b, turned, 3, -3));
        done(&n, "split and joined", NEAR);
    }
    static const struct {
        int64_t start, end;
        int axis;
    } slices[] = {{0, 16, 1},         {16, 32, 1}, {16, INT64_MAX, -3}, {-20, INT64_MAX, 1},
                  {-4, INT64_MAX, 1}, {8, 24, 1},  {1, 3, 2},           {0, 36, 1}};
    for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
        net n = net_begin();
        sk_value x = maps(&n, 2, 36, 4, 5);
        sk_value part = sk_b_slice(&n.b, x, slices[i].axis, slices[i].start, slices[i].end);
        net_out(&n, part);
        net_out(&n, sk_b_max_pool(&n.b, part, 2, 1, 0, "pool"));
        done(&n, "sliced", NEAR);
    }
    net n = net_begin(); /* every second channel, and two axes at once */
    sk_value x = maps(&n, 1, 32, 4, 5);
    const int64_t start[] = {0}, end[] = {32}, axis[] = {1}, two[] = {2}, starts[] = {0, 1}, ends[] = {16, 3},
                  axes[] = {1, 2};
    net_out(&n, sk_b_node(&n.b, SK_OP_SLICE, NULL,
                          (sk_value[]){x, sk_b_i64s(&n.b, start, 1), sk_b_i64s(&n.b, end, 1),
                                       sk_b_i64s(&n.b, axis, 1), sk_b_i64s(&n.b, two, 1)},
                          5, "second"));
    net_out(&n, sk_b_node(&n.b, SK_OP_SLICE, NULL,
                          (sk_value[]){x, sk_b_i64s(&n.b, starts, 2), sk_b_i64s(&n.b, ends, 2),
                                       sk_b_i64s(&n.b, axes, 2)},
                          4, "corner"));
    done(&n, "sliced otherwise", NEAR);
    recorded_check("tests/fixtures/engines/cpu_plan_channels.txt");
}

/* Parts of two concatenations, of others' borders, of dense maps, on rows: copied where they cannot be one buffer. */
static void joined(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value a = maps(&n, 2, 16, 4, 5), b = maps(&n, 2, 20, 4, 5), c = maps(&n, 2, 3, 4, 5),
             in = net_in(&n, 2, 3, 4, 5);
    sk_value ab[2] = {a, b}, bc[2] = {b, c}, aa[2] = {a, a}, rows[2] = {a, a}, inputs[2] = {in, c},
             dense[2] = {in, in};
    sk_value first = sk_b_concat(&n.b, ab, 2, 1);
    net_out(&n, net_conv(&n, first, 36, 4, net_square(3, 0)));
    net_out(&n, net_conv(&n, sk_b_concat(&n.b, bc, 2, 1), 23, 4, net_square(5, 0)));
    net_out(&n, sk_b_concat(&n.b, aa, 2, 1));
    net_out(&n, sk_b_concat(&n.b, rows, 2, 2));
    net_out(&n, sk_b_concat(&n.b, inputs, 2, 1));
    net_out(&n, sk_b_concat(&n.b, dense, 2, 1));
    sk_value nested[2] = {first, c};
    net_out(&n, net_conv(&n, sk_b_concat(&n.b, nested, 2, 1), 39, 4, net_square(3, 0)));
    done(&n, "joined", 4e-6);
    /* a chain of windows: buffers come back in each other's places, borders are cleared */
    n = net_begin();
    sk_value x = maps(&n, 2, 16, 9, 10);
    for (int i = 0; i < 6; i++)
        x = net_conv(&n, x, 16, 16, net_square(i % 2 ? 3 : i == 2 ? 7 : 5, SK_UNARY_RELU));
    x = sk_b_max_pool(&n.b, x, 2, 2, 0, "half");
    net_out(&n, net_conv(&n, net_conv(&n, x, 16, 40, net_square(3, 0)), 40, 8, net_square(3, 0)));
    net_check(&n, "a chain", plain, 2e-5);
    net_check(&n, "a chain, tap by tap", (plan_how){.threads = 5, .by_taps = true}, 4e-6);
    net_end(&n);
    /* planes of 4 KiB move apart; identity is the same map */
    n = net_begin();
    x = maps(&n, 1, 40, 8, 8);
    sk_value same = sk_b_node(&n.b, SK_OP_IDENTITY, NULL, &x, 1, "same");
    net_out(&n, sk_b_max_pool(&n.b, same, 3, 1, 1, "pool"));
    net_out(&n, same);
    done(&n, "whole pages", NEAR);
    recorded_check("tests/fixtures/engines/cpu_plan_joined.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pools),    cmocka_unit_test(reductions),
                                       cmocka_unit_test(resizes),  cmocka_unit_test(arithmetic),
                                       cmocka_unit_test(channels), cmocka_unit_test(joined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
