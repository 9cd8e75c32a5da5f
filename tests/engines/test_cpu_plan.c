/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of the CPU engine for small networks of convolutions and maps: which steps, on which buffers, at which places, and the numbers
 * that come out. */
#include "planned_nets.h"

#define NEAR 2e-6 /* plain C, sums of a few hundred products */

static const plan_how plain = {.threads = 2};

static void done(net *n, const char *name, double tolerance)
{
    net_check(n, name, plain, tolerance);
    net_end(n);
}

/* --- conv1x1 of an upsampled map beside another --- */

typedef struct neck {
    const char *name;
    int first; /* 1: the upsampled map comes first */
    win conv;  /* of the joined map */
    sk_resize_mode mode;
    sk_resize_coords coords;
    sk_resize_round round;
    float scale[2];
    int axis;
    bool up_read, joined_read, three, twice, residual;
} neck;

static void a_neck(const neck *k)
{
    net n = net_begin();
    const int h = k->scale[0] == 2.0f ? 4 : 3, w = k->scale[1] == 2.0f ? 6 : 5;
    const int big_h = (int)((float)h * k->scale[0]), big_w = (int)((float)w * k->scale[1]);
    sk_value small = net_conv(&n, net_in(&n, 2, 5, h, w), 5, 18, net_square(1, SK_UNARY_RELU));
    sk_value big = net_conv(&n, net_in(&n, 2, 6, big_h, big_w), 6, 18, net_square(1, SK_UNARY_RELU));
    sk_value up = net_resize(&n, small, k->mode, k->coords, k->round, k->scale[0], k->scale[1]);
    sk_value parts[3] = {k->first ? up : big, k->first ? big : up, big};
    if (k->twice)
        parts[0] = parts[1] = up;
    sk_value joined = sk_b_concat(&n.b, parts, k->three ? 3 : 2, k->axis);
    const bool channels = k->axis == 1 || k->axis == -3;
    sk_value y = net_conv(&n, joined, channels ? 18 * (k->three ? 3 : 2) : 18, 36, k->conv);
    if (k->residual)
        y = sk_b_add(&n.b, y, net_conv(&n, big, 18, 36, net_square(1, 0)));
    net_out(&n, y);
    if (k->up_read)
        net_out(&n, up);
    if (k->joined_read)
        net_out(&n, joined);
    done(&n, k->name, NEAR);
}

static void necks(void **state)
{
    (void)state;
    const sk_resize_mode NEAREST = SK_RESIZE_NEAREST;
    const sk_resize_coords ASYMMETRIC = SK_COORDS_ASYMMETRIC, HALF = SK_COORDS_HALF_PIXEL;
    const sk_resize_round FLOOR = SK_ROUND_FLOOR, DOWN = SK_ROUND_PREFER_FLOOR;
    const win one = {.kernel = {1, 1}, .act = SK_UNARY_SILU};
    win no_bias = one, strided = one, tall_steps = one, wide = one, tall = one, padded = one, above = one,
        left = one, right = one, grouped = one;
    no_bias.no_bias = true;
    strided.stride[1] = 2;
    wide.kernel[1] = 3;
    tall.kernel[0] = 2;
    padded.pad[2] = 1;
    tall_steps.stride[0] = 2;
    above.pad[0] = left.pad[1] = right.pad[3] = 1;
    grouped.groups = 2;
    const neck all[] = {
        {"saved, first", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"saved, second", 0, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, -3, 0, 0, 0, 0, 0},
        {"saved, half pixels", 1, one, NEAREST, HALF, DOWN, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"saved, no bias", 1, no_bias, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"half pixels, down", 1, one, NEAREST, HALF, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"asymmetric, half down", 1, one, NEAREST, ASYMMETRIC, DOWN, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"linear", 1, one, SK_RESIZE_LINEAR, HALF, DOWN, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"thrice as wide", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 3}, 1, 0, 0, 0, 0, 0},
        {"thrice as high", 1, one, NEAREST, ASYMMETRIC, FLOOR, {3, 2}, 1, 0, 0, 0, 0, 0},
        {"a little more than twice as wide", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2.1f}, 1, 0, 0, 0, 0, 0},
        {"a little more than twice as high", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2.2f, 2}, 1, 0, 0, 0, 0, 0},
        {"strided", 1, strided, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"strided rows", 1, tall_steps, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"padded above", 1, above, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"padded left", 1, left, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"padded right", 1, right, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"in groups", 1, grouped, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"wide window", 1, wide, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"tall window", 1, tall, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"padded", 1, padded, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 0},
        {"along rows", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 2, 0, 0, 0, 0, 0},
        {"upsampled is read", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 1, 0, 0, 0, 0},
        {"joined is read", 0, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 1, 0, 0, 0},
        {"three parts", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 1, 0, 0},
        {"twice the same", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 1, 0},
        {"with a residual", 1, one, NEAREST, ASYMMETRIC, FLOOR, {2, 2}, 1, 0, 0, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        a_neck(&all[i]);
    recorded_check("tests/fixtures/engines/cpu_plan_necks.txt");
}

/* --- windows --- */

static void windows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int images, cin, cout, h, w;
        win win;
    } all[] = {
        {"one by one", 1, 20, 33, 5, 7, {.kernel = {1, 1}}},
        {"one by one, stride 2", 2, 20, 33, 6, 7, {.kernel = {1, 1}, .stride = {2, 2}}},
        {"winograd from eight channels", 1, 8, 20, 9, 6, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"not from seven", 1, 7, 20, 9, 6, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"winograd at four by four",
         2,
         16,
         16,
         4,
         4,
         {.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .act = SK_UNARY_SILU}},
        {"not at three rows", 1, 16, 16, 3, 4, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"not at three columns", 1, 16, 16, 4, 3, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"stride 2, small", 1, 16, 32, 9, 9, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}}},
        {"stride 2, wide", 1, 48, 17, 7, 63, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}}},
        {"stride 2, high", 1, 48, 17, 64, 7, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {0, 1, 1, 0}}},
        {"stride 2, high, few outputs",
         1,
         48,
         16,
         64,
         7,
         {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}}},
        {"stride 2 and 1", 1, 16, 16, 9, 9, {.kernel = {3, 3}, .stride = {2, 1}, .pad = {1, 1, 1, 1}}},
        {"stride 1 and 2", 1, 16, 16, 9, 9, {.kernel = {3, 3}, .stride = {1, 2}, .pad = {1, 1, 1, 1}}},
        {"stride 3", 1, 16, 16, 10, 11, {.kernel = {3, 3}, .stride = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"dilated", 1, 16, 16, 9, 8, {.kernel = {3, 3}, .dilation = {2, 2}, .pad = {2, 2, 2, 2}}},
        {"dilated rows", 1, 16, 16, 9, 8, {.kernel = {3, 3}, .dilation = {2, 1}, .pad = {2, 1, 2, 1}}},
        {"dilated columns", 1, 16, 16, 9, 8, {.kernel = {3, 3}, .dilation = {1, 3}, .pad = {1, 3, 1, 3}}},
        {"three by one", 1, 9, 10, 6, 8, {.kernel = {3, 1}, .pad = {1, 0, 1, 0}}},
        {"one by three", 1, 9, 10, 6, 8, {.kernel = {1, 3}, .pad = {0, 1, 0, 1}}},
        {"five by seven, one sided", 1, 6, 50, 7, 9, {.kernel = {5, 7}, .pad = {4, 0, 0, 6}}},
        {"no pads", 2, 16, 31, 7, 9, {.kernel = {3, 3}, .act = SK_UNARY_LEAKY}},
        {"in groups", 2, 24, 36, 6, 5, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 3}},
        {"in groups, one by one", 1, 6, 4, 6, 5, {.kernel = {1, 1}, .groups = 2, .no_bias = true}},
        {"depthwise",
         2,
         35,
         35,
         6,
         5,
         {.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 35, .act = SK_UNARY_SILU}},
        {"depthwise, stride 2",
         1,
         17,
         17,
         7,
         9,
         {.kernel = {5, 5}, .stride = {2, 2}, .pad = {2, 2, 2, 2}, .groups = 17, .no_bias = true}},
        {"depthwise, twice as many", 1, 5, 10, 5, 6, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 5}},
        {"of one channel", 1, 6, 1, 5, 5, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"sixty-four outputs", 1, 16, 64, 8, 8, {.kernel = {1, 1}, .act = SK_UNARY_RELU6}},
        {"sixty-five outputs", 1, 16, 65, 8, 8, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}},
        {"one activation ours do not know", 1, 6, 5, 5, 5, {.kernel = {3, 3}, .act = SK_UNARY_COS}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_value x = net_in(&n, all[i].images, 3, all[i].h, all[i].w);
        x = net_conv(&n, x, 3, all[i].cin, (win){.kernel = {1, 1}});
        net_out(&n, net_conv(&n, x, all[i].cin, all[i].cout, all[i].win));
        net_check(&n, all[i].name, plain, 4e-6);
        if (i % 3 == 0)
            net_check(&n, all[i].name, (plan_how){.threads = 3, .by_taps = true}, NEAR);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_windows.txt");
}

/* The first convolution, straight from what the caller has; and inputs that others read, too. */
static void first_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int images, cin, cout, h, w;
        win win;
        bool read, residual, pooled;
    } all[] = {
        {"grey", 2, 1, 16, 7, 9, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}, 0, 0, 0},
        {"colours, stride 2",
         2,
         3,
         17,
         9,
         8,
         {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .act = SK_UNARY_SILU},
         0,
         0,
         0},
        {"four channels",
         1,
         4,
         40,
         6,
         11,
         {.kernel = {6, 6}, .stride = {2, 2}, .pad = {2, 2, 2, 2}},
         0,
         0,
         0},
        {"five are too many", 1, 5, 16, 6, 7, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}, 0, 0, 0},
        {"sixteen rows", 1, 2, 8, 20, 19, {.kernel = {16, 3}, .pad = {8, 1, 7, 1}}, 0, 0, 0},
        {"seventeen are too many", 1, 2, 8, 20, 19, {.kernel = {17, 3}, .pad = {8, 1, 8, 1}}, 0, 0, 0},
        {"rows left out", 1, 3, 8, 20, 19, {.kernel = {2, 3}, .stride = {5, 4}}, 0, 0, 0},
        {"dilated", 1, 3, 8, 10, 9, {.kernel = {3, 3}, .dilation = {2, 2}, .pad = {2, 2, 2, 2}}, 0, 0, 0},
        {"in groups", 1, 4, 8, 10, 9, {.kernel = {3, 3}, .groups = 2}, 0, 0, 0},
        {"depthwise", 1, 3, 3, 6, 5, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 3}, 0, 0, 0},
        {"read by others", 1, 3, 8, 10, 9, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}, 1, 0, 0},
        {"with a residual", 1, 3, 3, 10, 9, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}}, 0, 1, 0},
        {"pooled, too", 2, 3, 8, 10, 9, {.kernel = {1, 1}}, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_value x = net_in(&n, all[i].images, all[i].cin, all[i].h, all[i].w);
        sk_value y = net_conv(&n, x, all[i].cin, all[i].cout, all[i].win);
        if (all[i].residual)
            y = sk_b_add(&n.b, y, x);
        net_out(&n, y);
        if (all[i].read)
            net_out(&n, sk_b_mul(&n.b, x, sk_b_f32(&n.b, 2.0f)));
        if (all[i].pooled)
            net_out(&n, sk_b_max_pool(&n.b, x, 3, 1, 1, "pool"));
        net_check(&n, all[i].name, plain, NEAR);
        if (all[i].cin <= 4) {
            planned pictures, tensors;
            net_check(&n, "of pictures", (plan_how){.input = SK_INPUT_U8_HWC, .threads = 3}, -1);
            planned_open(&pictures, n.graph, n.shapes, 1, (plan_how){.input = SK_INPUT_U8_HWC, .threads = 3});
            planned_open(&tensors, n.graph, n.shapes, 1, plain);
            planned_pictures(&pictures, &tensors, all[i].name, 1e-5);
            planned_close(&pictures);
            planned_close(&tensors);
        }
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_first.txt");
}

/* Every output pixel of a transposed convolution comes from one of its phases. */
static void transposed(void **state)
{
    (void)state;
    static const struct {
        int kernel[2], stride[2], pad[4], more[2], dilation, groups, act;
    } all[] = {
        {{2, 2}, {2, 2}, {0}, {0}, 1, 1, SK_UNARY_RELU},
        {{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 1, 1, 0},
        {{4, 4}, {2, 2}, {1, 1, 1, 1}, {0}, 1, 1, SK_UNARY_SILU},
        {{3, 5}, {2, 3}, {0, 2, 1, 0}, {0, 1}, 1, 1, 0},
        {{1, 2}, {3, 2}, {0}, {2, 0}, 1, 1, 0}, /* phases without a tap: the bias alone */
        {{3, 3}, {1, 1}, {1, 1, 1, 1}, {0}, 1, 1, 0},
        {{3, 3}, {2, 2}, {1, 1, 1, 1}, {0}, 2, 1, 0},
        {{3, 3}, {2, 2}, {1, 1, 1, 1}, {0}, 1, 2, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        sk_attrs a = {0};
        a.conv_transpose.window = (sk_window){.kernel = {all[i].kernel[0], all[i].kernel[1]},
                                              .stride = {all[i].stride[0], all[i].stride[1]},
                                              .dilation = {all[i].dilation, all[i].dilation}};
        memcpy(a.conv_transpose.window.pad, all[i].pad, sizeof all[i].pad);
        a.conv_transpose.output_pad[0] = all[i].more[0];
        a.conv_transpose.output_pad[1] = all[i].more[1];
        a.conv_transpose.groups = all[i].groups;
        sk_value x = net_conv(&n, net_in(&n, 2, 3, 4, 5), 3, 18, net_square(1, 0));
        sk_value in[3] = {
            x, net_random(&n, sk_shape_of(4, 18, 20 / all[i].groups, all[i].kernel[0], all[i].kernel[1])),
            net_random(&n, sk_shape_of(1, 20))};
        sk_value y = sk_b_node(&n.b, SK_OP_CONV_TRANSPOSE, &a, in, 3, "up");
        net_out(&n, all[i].act ? sk_b_unary(&n.b, (sk_unary)all[i].act, y) : y);
        done(&n, "transposed", 4e-6);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_transposed.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(necks), cmocka_unit_test(windows),
                                       cmocka_unit_test(first_ones), cmocka_unit_test(transposed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
