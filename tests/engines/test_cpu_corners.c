/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of the CPU engine where two rules meet: places that are used again and whose borders are or are not clean, windows that only
 * look like a halving, weights that two convolutions have, inputs that are read both as they come and as maps. */
#include "byte_nets.h"

#include "base/cpu.h"

#define NEAR 2e-6 /* plain C, sums of a few hundred products */

static const plan_how plain = {.threads = 2}, bytes = {.precision = SK_PRECISION_I8, .threads = 2};

/* Maps of one size, one after another: every other one lies where the one before it lay. A border is cleared where somebody else wrote
 * there, and only there. */
static void borders_of_places_used_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int kernels[6], images, w;
    } chains[] = {{"all alike", {3, 3, 3, 3, 3, 3}, 1, 9},
                  {"two images", {3, 3, 3, 3, 3, 3}, 2, 9},
                  {"wider borders", {3, 5, 3, 3, 5, 3}, 1, 9},
                  {"without borders", {1, 3, 1, 3, 1, 1}, 1, 9}};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        net n = net_begin();
        sk_value x = net_in(&n, chains[i].images, 16, 8, chains[i].w);
        for (int k = 0; k < 6; k++)
            x = net_conv(&n, x, 16, 16, net_square(chains[i].kernels[k], SK_UNARY_RELU));
        net_out(&n, x);
        net_check(&n, chains[i].name, plain, NEAR);
        net_end(&n);
    }
    for (int shorter = 0; shorter < 2;
         shorter++) { /* another height, another width: other places of borders */
        net n = net_begin();
        sk_value x = net_in(&n, 1, 16, 14, 14);
        for (int k = 0; k < 5; k++) {
            const win w = {.kernel = {3, 3},
                           .pad = {shorter ? 0 : 1, shorter ? 1 : 0, shorter ? 0 : 1, shorter ? 1 : 0}};
            x = net_conv(&n, x, 16, 16, w);
        }
        net_out(&n, x);
        net_check(&n, shorter ? "shorter" : "narrower", plain, NEAR);
        net_end(&n);
    }
    static const int zeros[][6] = {{0, 0, 0, 0, 0, 0}, {0, 100, 0, 100, 0, 100}, {100, 100, 0, 0, 100, 0}};
    for (size_t i = 0; i < 3; i++) {
        net n = net_begin();
        sk_value x = in_bytes(&n, net_in(&n, 1, 16, 8, 9), step, zeros[i][0], SK_DTYPE_U8);
        for (int k = 1; k < 6; k++)
            x = in_bytes(&n, byte_conv(&n, x, 16, 16, 3, 1, 1, SK_UNARY_RELU), step, zeros[i][k],
                         SK_DTYPE_U8);
        net_out(&n, x);
        net_check(&n, "bytes", bytes, 0.12);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_places.txt");
}

/* conv1x1 of two upsampled maps side by side: one of them is folded in, the other is made. */
static void two_upsampled_maps(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        net n = net_begin();
        sk_value a = net_conv(&n, net_in(&n, 1, 5, 4, 6), 5, 18, net_square(1, SK_UNARY_RELU)),
                 b = net_conv(&n, net_in(&n, 1, 6, 4, 6), 6, 20, net_square(1, SK_UNARY_RELU));
        sk_value up[2] = {sk_b_upsample_nearest(&n.b, a, 2.0f), sk_b_upsample_nearest(&n.b, b, 2.0f)};
        sk_value y = net_conv(&n, sk_b_concat(&n.b, up, 2, 1), 38, 20, net_square(1, SK_UNARY_RELU));
        net_out(&n, y);
        if (more) /* a neck after a neck */
            net_out(&n,
                    net_conv(&n,
                             sk_b_concat(
                                 &n.b,
                                 (sk_value[]){y, sk_b_upsample_nearest(
                                                     &n.b, net_conv(&n, a, 18, 7, net_square(1, 0)), 2.0f)},
                                 2, 1),
                             27, 5, net_square(1, 0)));
        net_check(&n, more ? "and one more" : "two", plain, NEAR);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_two_necks.txt");
}

/* Weights that two convolutions have, each with scales of its own, are kept until both have packed them. */
static void weights_of_two(void **state)
{
    (void)state;
    for (int shared = 0; shared < 3; shared++) {
        net n = net_begin();
        const sk_shape shape = sk_shape_of(4, 18, 18, 3, 3), one = {.rank = 0};
        const sk_window window = {
            .kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
        int8_t w[18 * 18 * 9];
        for (size_t i = 0; i < sizeof w; i++)
            w[i] = (int8_t)(random_next(&n.r) % 255 - 127);
        sk_value x = in_bytes(&n, net_in(&n, 1, 18, 6, 7), step, 100, SK_DTYPE_U8);
        sk_value k = sk_b_constant(&n.b, "w", SK_DTYPE_I8, &shape, w), made[2];
        for (int i = 0; i < 2; i++) {
            const float scale = 0.001f * (float)(i + 1);
            sk_value in[2] = {k, sk_b_constant(&n.b, "s", SK_DTYPE_F32, &one, &scale)};
            const sk_attrs a = {.quantise.axis = 0};
            made[i] = sk_b_node(&n.b, SK_OP_DEQUANTIZE, &a, in, 2, "w");
            if (shared == 1) /* the very same, twice */
                made[i] = made[0];
            if (shared == 2) /* one alone */
                break;
        }
        for (int i = 0; i < (shared == 2 ? 1 : 2); i++) {
            sk_value y = sk_b_conv(&n.b, x, made[i], net_random(&n, sk_shape_of(1, 18)), &window, 1, "conv");
            net_out(&n, in_bytes(&n, y, step, 90, SK_DTYPE_U8));
        }
        net_check(&n, "weights", bytes, 0.04);
        net_check(&n, "weights in f32", plain, -1); /* what bytes round it does not */
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_shared_weights.txt");
}

/* An input that something else has already made a map of is read there; one that nobody has is read as it comes. */
static void inputs_read_twice(void **state)
{
    (void)state;
    for (int before = 0; before < 3; before++) {
        net n = net_begin();
        sk_value in = net_in(&n, 1, 3, 9, 10);
        if (before == 1)
            net_out(&n, sk_b_max_pool(&n.b, in, 3, 1, 1, "pool"));
        if (before == 2)
            net_out(&n, net_conv(&n, in, 3, 16, net_square(3, SK_UNARY_RELU)));
        sk_value x = in_bytes(&n, in, step, 100, SK_DTYPE_U8);
        net_out(&n, in_bytes(&n, byte_conv(&n, x, 3, 18, 3, 1, 1, SK_UNARY_RELU), step, 20, SK_DTYPE_U8));
        net_check(&n, "input", bytes, 0.04);
        net_check(&n, "input in f32", plain, -1);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_inputs.txt");
}

#if defined(__x86_64__)
static const uint32_t avx512 = SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512,
                      bf16 =
                          SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16;

static bool have(uint32_t flags)
{
    return (sk_cpu_detected_flags() & flags) == flags;
}

/* A pooling passes bf16 through where it takes the larger of two by two and nothing else. */
static void halving_and_what_looks_like_it(void **state)
{
    (void)state;
    static const sk_window windows[] = {
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}},
        {.kernel = {2, 1}, .stride = {2, 2}, .dilation = {1, 1}},
        {.kernel = {1, 2}, .stride = {2, 2}, .dilation = {1, 1}},
        {.kernel = {2, 2}, .stride = {1, 2}, .dilation = {1, 1}},
        {.kernel = {2, 2}, .stride = {2, 1}, .dilation = {1, 1}},
        {.kernel = {3, 3}, .stride = {2, 2}, .dilation = {1, 1}},
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {2, 1}},
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 2}},
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {1, 0, 0, 0}},
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {0, 1, 0, 0}},
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {0, 0, 1, 0}},
        {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {0, 0, 0, 1}},
    };
    for (int average = 0; average < 2; average++)
        for (size_t i = 0; i < (average ? 1 : sizeof windows / sizeof *windows); i++) {
            net n = net_begin();
            const sk_attrs a = {.pool.window = windows[i]};
            sk_value x = net_conv(&n, net_in(&n, 1, 3, 13, 37), 3, 32, net_square(1, SK_UNARY_RELU));
            x = net_conv(&n, x, 32, 32, net_square(1, SK_UNARY_RELU));
            x = sk_b_node(&n.b, average ? SK_OP_AVG_POOL : SK_OP_MAX_POOL, &a, &x, 1, "pool");
            net_out(&n, net_conv(&n, x, 32, 32, net_square(1, 0)));
            net_check(&n, "pool", (plan_how){.flags = bf16, .precision = SK_PRECISION_BF16, .threads = 2},
                      have(bf16) ? 0.05 : -1);
            net_end(&n);
        }
    recorded_check("tests/fixtures/engines/cpu_plan_halving.txt");
}

/* By Winograd and tap by tap the bytes are the same, of several images and in any number of shares. */
static void winograd_of_several_images(void **state)
{
    (void)state;
    static const int sizes[][2] = {{33, 34}, {36, 32}, {35, 41}};
    if (!have(avx512 | SK_CPU_AVX512VNNI))
        skip();
    for (size_t i = 0; i < 3; i++)
        for (int residual = 0; residual < 2; residual++) {
            net n = net_begin();
            sk_value x = in_bytes(&n, net_in(&n, 3, 32, sizes[i][0], sizes[i][1]), step, 100, SK_DTYPE_U8);
            sk_value y = byte_conv(&n, x, 32, 32, 3, 1, 1, SK_UNARY_RELU);
            net_out(&n, in_bytes(&n, residual ? sk_b_add(&n.b, y, x) : y, step, 20, SK_DTYPE_U8));
            planned by[2];
            sk_tensor in[1];
            for (int taps = 0; taps < 2; taps++)
                planned_open(&by[taps], n.graph, n.shapes, 1,
                             (plan_how){.flags = avx512 | SK_CPU_AVX512VNNI,
                                        .precision = SK_PRECISION_I8,
                                        .threads = 2,
                                        .by_taps = taps});
            assert_int_equal(by[0].plan.n_winograd, 1);
            assert_int_equal(by[1].plan.n_winograd, 0);
            planned_inputs(&by[0], 3, in);
            const sk_session_input given = {.data = in[0].data};
            planned_run(&by[1], &given, 1);
            const cpu_buffer *a = &by[0].plan.buffers[by[0].plan.outputs[0]],
                             *b = &by[1].plan.buffers[by[1].plan.outputs[0]];
            for (int parts = 1; parts <= 13; parts += 4) {
                memset(by[0].plan.memory + a->offset, 0, a->bytes);
                planned_run(&by[0], &given, parts);
                assert_memory_equal(by[0].plan.memory + a->offset, by[1].plan.memory + b->offset, b->bytes);
            }
            free(in[0].data);
            planned_close(&by[0]);
            planned_close(&by[1]);
            net_end(&n);
        }
}

/* --- in bf16 --- */

/* Words by Winograd: near the reference, of several images, and the same bits in any number of shares; only where they pay. */
static void words_of_several_images(void **state)
{
    (void)state;
    static const struct {
        int stride, cin, h, w, by_words;
    } all[] = {{1, 15, 9, 10, 0},   {1, 16, 9, 10, 1},   {1, 37, 33, 34, 1},  {1, 40, 4, 5, 1},
               {2, 128, 80, 79, 1}, {2, 127, 80, 79, 0}, {2, 170, 64, 64, 1}, {2, 170, 62, 64, 0},
               {2, 170, 64, 62, 0}, {2, 64, 64, 160, 1}, {2, 64, 64, 158, 0}};
    if (!have(bf16))
        skip();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        net n = net_begin();
        const win by = {.kernel = {3, 3},
                        .stride = {all[i].stride, all[i].stride},
                        .pad = {1, 1, 1, 1},
                        .act = SK_UNARY_SILU};
        sk_value x = net_conv(&n, net_in(&n, 2, 3, all[i].h, all[i].w), 3, all[i].cin, net_square(1, 0));
        net_out(&n, net_conv(&n, x, all[i].cin, i % 2 ? 20 : 16, by));
        planned p;
        planned_open(&p, n.graph, n.shapes, 1,
                     (plan_how){.flags = bf16, .precision = SK_PRECISION_BF16, .threads = 2});
        if (p.plan.n_winograd != all[i].by_words)
            fail_msg("%d channels, stride %d, %dx%d: %d by Winograd", all[i].cin, all[i].stride, all[i].h,
                     all[i].w, p.plan.n_winograd);
        planned_is_reference(&p, "words", 0.02);
        const cpu_buffer *out = &p.plan.buffers[p.plan.outputs[0]];
        uint8_t *first = malloc(out->bytes);
        sk_tensor in[1];
        planned_inputs(&p, 3, in);
        for (int parts = 1; parts <= 13; parts += 4) {
            planned_run(&p, &(sk_session_input){.data = in[0].data}, parts);
            if (parts == 1)
                memcpy(first, p.plan.memory + out->offset, out->bytes);
            assert_memory_equal(first, p.plan.memory + out->offset, out->bytes);
        }
        free(in[0].data);
        free(first);
        planned_close(&p);
        /* two products of pairs a cycle: at stride 2 they are quicker */
        planned_open(
            &p, n.graph, n.shapes, 1,
            (plan_how){.flags = bf16 | SK_CPU_AVXVNNI, .precision = SK_PRECISION_BF16, .threads = 2});
        assert_int_equal(p.plan.n_winograd, all[i].stride == 1 ? all[i].by_words : 0);
        planned_close(&p);
        net_end(&n);
    }
}

/* A weight that is no number makes what it has a part in none, and nothing else; so does an input for the tiles that read it. */
static void words_that_are_no_numbers(void **state)
{
    (void)state;
    if (!have(bf16))
        skip();
    for (int weight = 0; weight < 2; weight++) {
        net n = net_begin();
        sk_value x = net_conv(&n, net_in(&n, 1, 3, 8, 16), 3, 16, net_square(1, 0));
        const win by = net_square(3, 0);
        net_out(&n, net_conv(&n, x, 16, 20, by));
        if (weight) {
            const sk_node *node = &n.graph->nodes[n.graph->n_nodes - 1];
            float *w = sk_value_tensor(n.graph, node->in[1]).data;
            w[17 * 16 * 9 + 30] = (float)INFINITY;
        }
        planned p;
        sk_tensor in[1];
        planned_open(&p, n.graph, n.shapes, 1,
                     (plan_how){.flags = bf16, .precision = SK_PRECISION_BF16, .threads = 2});
        assert_int_equal(p.plan.n_winograd, 1);
        planned_inputs(&p, 3, in);
        if (!weight) /* the last column: no tile but the last of its rows reads it */
            ((float *)in[0].data)[15] = (float)NAN;
        planned_run(&p, &(sk_session_input){.data = in[0].data}, 2);
        const float *y =
            (const float *)(const void *)(p.plan.memory + p.plan.buffers[p.plan.outputs[0]].offset);
        for (int c = 0; c < 20; c++)
            for (int i = 0; i < 8 * 16; i++)
                if ((isfinite(y[c * 128 + i]) != 0) != (weight ? c != 17 : i / 16 >= 4 || i % 16 < 12))
                    fail_msg("channel %d, row %d, column %d: %g", c, i / 16, i % 16, (double)y[c * 128 + i]);
        free(in[0].data);
        planned_close(&p);
        net_end(&n);
    }
}

/* What stands between two convolutions decides whether the first one's result is kept in bf16. */
static sk_value between(net *n, sk_value x, int which, int *channels)
{
    const int64_t halves[] = {32, 112};
    const int hw[] = {2, 3};
    sk_value half[2];
    if (which <= 7) { /* slices, from none to seven */
        for (int i = 0; i < which; i++)
            x = sk_b_slice(&n->b, x, 1, 0, *channels -= 16);
        return x;
    }
    switch (which) {
    case 8:
        sk_b_split(&n->b, x, 1, halves, 2, half);
        *channels = 112;
        return half[1];
    case 9: *channels *= 2; return sk_b_concat(&n->b, (sk_value[]){x, x}, 2, 1);
    case 10: return sk_b_upsample_nearest(&n->b, x, 2.0f);
    case 11: return net_resize(n, x, SK_RESIZE_LINEAR, SK_COORDS_HALF_PIXEL, SK_ROUND_FLOOR, 2, 2);
    case 12: return sk_b_max_pool(&n->b, x, 2, 2, 0, "half");
    case 13: return sk_b_max_pool(&n->b, x, 3, 1, 1, "pool");
    case 14: return sk_b_unary(&n->b, SK_UNARY_TANH, x);
    case 15: return sk_b_mul(&n->b, x, sk_b_f32(&n->b, 2.0f));
    case 16: return net_conv(n, x, 144, 144, (win){.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 144});
    case 17: return sk_b_reduce(&n->b, SK_REDUCE_MEAN, x, hw, 2, true);
    default: /* a sum: the other part is a convolution's, too */
        return sk_b_add(
            &n->b, net_conv(n, net_conv(n, x, 144, 144, net_square(1, 0)), 144, 144, net_square(1, 0)), x);
    }
}

static void what_is_kept_in_bf16(void **state)
{
    (void)state;
    const uint32_t flags = SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16;
    const bool here = (sk_cpu_detected_flags() & flags) == flags;
    for (int which = 0; which < 19; which++)
        for (int last = 0; last < (which == 0 || which == 9 ? 3 : 1); last++) {
            net n = net_begin();
            int channels = 144;
            sk_value x = net_conv(&n, net_in(&n, 1, 3, 6, 18), 3, 32, net_square(1, SK_UNARY_RELU));
            x = net_conv(&n, x, 32, 144, net_square(1, SK_UNARY_RELU));
            x = between(&n, x, which, &channels);
            const win by = last == 2   ? (win){.kernel = {3, 3}, .pad = {1, 1, 1, 1}, .groups = 2}
                           : last == 1 ? net_square(3, 0)
                                       : net_square(1, 0);
            net_out(&n, net_conv(&n, x, channels, 16, by));
            net_check(&n, "between", (plan_how){.flags = bf16, .precision = SK_PRECISION_BF16, .threads = 2},
                      here ? 0.06 : -1);
            net_end(&n);
        }
    recorded_check("tests/fixtures/engines/cpu_plan_bf16.txt");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_of_places_used_again),
        cmocka_unit_test(two_upsampled_maps),
        cmocka_unit_test(weights_of_two),
        cmocka_unit_test(inputs_read_twice),
#if defined(__x86_64__)
        cmocka_unit_test(halving_and_what_looks_like_it),
        cmocka_unit_test(winograd_of_several_images),
        cmocka_unit_test(words_of_several_images),
        cmocka_unit_test(words_that_are_no_numbers),
        cmocka_unit_test(what_is_kept_in_bf16),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
