/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in eight bits and in bf16 where the first buffer, the first convolution or the last bit of a rule decides. */
#include "byte_nets.h"

#include "base/cpu.h"

static const plan_how bytes = {.precision = SK_PRECISION_I8, .threads = 2};

/* Converted rows of a picture: whole lines of 64 bytes, with four to spare. */
static void rows_of_pictures(void **state)
{
    (void)state;
    for (int cin = 1; cin <= 4; cin++)
        for (int w = 14; w <= 66; w++) {
            net n = net_begin();
            sk_value x = in_bytes(&n, net_in(&n, 1, cin, 3, w), step, 100, SK_DTYPE_U8);
            net_out(&n, in_bytes(&n, byte_conv(&n, x, cin, 16, 1, 1, 1, 0), step, 9, SK_DTYPE_U8));
            planned p;
            planned_open(&p, n.graph, n.shapes, 1, bytes);
            const cpu_conv *c = p.plan.steps[0].data;
            assert_true(p.plan.steps[0].run == cpu_conv_run && c->u8);
            assert_int_equal(c->u8->row_bytes, (w * cin + 4 + 63) / 64 * 64);
            assert_int_equal(c->u8->row_count, 8);
            planned_close(&p);
            net_end(&n);
        }
}

/* A window's row of a picture is at most 255 bytes; pads before it are none below zero. */
static void rows_of_windows(void **state)
{
    (void)state;
    for (int kernel = 63; kernel <= 64; kernel++)
        for (int pictures = 0; pictures < 2; pictures++) {
            net n = net_begin();
            const sk_window window = {.kernel = {1, kernel}, .stride = {1, 1}, .dilation = {1, 1}};
            sk_value x = in_bytes(&n, net_in(&n, 1, 4, 3, 70), step, 100, SK_DTYPE_U8);
            sk_value w = byte_weights(&n, sk_shape_of(4, 16, 4, 1, kernel), 0, false);
            sk_value y = sk_b_conv(&n.b, x, w, net_random(&n, sk_shape_of(1, 16)), &window, 1, "conv");
            net_out(&n, in_bytes(&n, y, step, 9, SK_DTYPE_U8));
            net_check(&n, "window",
                      (plan_how){.precision = SK_PRECISION_I8,
                                 .input = pictures ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR},
                      pictures ? -1 : 0.05);
            net_end(&n);
        }
    recorded_check("tests/fixtures/engines/cpu_plan_byte_windows.txt");
}

/* Residuals, depthwise windows and poolings of the first buffer there is; a map in bytes that is given another rule; transposed ones
 * whose result is floats. */
static void first_buffers(void **state)
{
    (void)state;
    for (int which = 0; which < 10; which++) {
        net n = net_begin();
        sk_value x = in_bytes(&n, net_in(&n, 1, 3, 6, 8), step, 100, SK_DTYPE_U8);
        sk_value y = in_bytes(&n, byte_conv(&n, x, 3, 16, 3, 1, 1, SK_UNARY_RELU), step, 5, SK_DTYPE_U8), z;
        if (which < 2) { /* any window, each channel by itself */
            z = sk_b_add(&n.b, byte_conv(&n, y, 16, 16, 3, 1, which ? 16 : 1, 0), y);
            z = in_bytes(&n, z, step, 90, SK_DTYPE_U8);
        } else if (which < 5) { /* the same rule again, another scale, another zero */
            z = sk_b_max_pool(&n.b, y, 3, 1, 1, "pool");
            z = in_bytes(&n, z, which == 3 ? 2 * step : step, which == 4 ? 6 : 5, SK_DTYPE_U8);
            z = byte_conv(&n, z, 16, 18, 1, 1, 1, 0);
        } else if (which > 7) { /* taken apart */
            const int64_t sizes[] = {16, 16};
            sk_value half[2];
            z = in_bytes(&n, byte_conv(&n, x, 3, 32, 3, 1, 1, 0), step, 9, SK_DTYPE_U8);
            sk_b_split(&n.b, z, 1, sizes, 2, half);
            z = byte_conv(&n, which == 8 ? half[1] : sk_b_slice(&n.b, z, 1, 16, 32), 16, 18, 1, 1, 1, 0);
        } else {
            sk_attrs t = {0};
            t.conv_transpose.window = (sk_window){.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}};
            t.conv_transpose.groups = 1;
            sk_value in[3] = {y, byte_weights(&n, sk_shape_of(4, 16, 20, 2, 2), 1, false),
                              net_random(&n, sk_shape_of(1, 20))};
            z = sk_b_node(&n.b, SK_OP_CONV_TRANSPOSE, &t, in, 3, "up");
            z = which == 6 ? sk_b_unary(&n.b, SK_UNARY_SILU, z) : z;
            z = which == 7 ? in_bytes(&n, z, step, 60, SK_DTYPE_U8) : z;
        }
        net_out(&n, z);
        net_check(&n, "first buffer", bytes, 0.06);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_first_buffers.txt");
}

/* A residual that is 32767 / 4096 of the output's scale is the first that leaves no room for four bits behind the point; sums that
 * would leave 31 bits are made smaller. */
static void rules_at_their_bounds(void **state)
{
    (void)state;
    static const struct {
        float in, out;
        bool residual;
    } all[] = {{32767.0f / 4096, 1.0f, true}, {32766.0f / 4096, 1.0f, true}, {0.5f, 1e-4f, false},
               {0.5f, 4e-5f, false},          {0.5f, 2e-5f, false},          {0.5f, 1.5e-5f, false},
               {0.5f, 1e-5f, false},          {0.5f, 5e-6f, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        net n = net_begin();
        sk_value x = in_bytes(&n, net_in(&n, 1, 16, 3, 4), all[i].in, 100, SK_DTYPE_U8);
        sk_value y = byte_conv(&n, x, 16, 16, 1, 1, 1, 0);
        y = all[i].residual ? sk_b_add(&n.b, y, x) : y;
        net_out(&n, in_bytes(&n, y, all[i].out, 9, SK_DTYPE_U8));
        net_check(&n, "at the bounds", bytes, -1);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_byte_bounds.txt");
}

/* Kernels that want whole blocks have them from 16 columns on. */
static void whole_blocks(void **state)
{
    (void)state;
    for (int w = 15; w <= 17; w++) {
        net n = net_begin();
        sk_value x = in_bytes(&n, net_in(&n, 1, 21, 3, w), step, 100, SK_DTYPE_U8);
        net_out(&n, in_bytes(&n, byte_conv(&n, x, 21, 20, 1, 1, 1, 0), step, 9, SK_DTYPE_U8));
        net_check(&n, "whole blocks", (plan_how){.precision = SK_PRECISION_I8, .whole = true}, 0.05);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_whole.txt");
}

#if defined(__x86_64__)
/* In bf16: the first convolution's own map as what is added later. */
static void first_map_is_added(void **state)
{
    (void)state;
    const uint32_t flags = SK_CPU_SSE42 | SK_CPU_AVX2 | SK_CPU_AVX512 | SK_CPU_AVX512VNNI | SK_CPU_AVX512BF16;
    const bool here = (sk_cpu_detected_flags() & flags) == flags;
    for (int cin = 3; cin <= 5; cin += 2) { /* read as it comes, and not */
        net n = net_begin();
        sk_value y = net_conv(&n, net_in(&n, 1, cin, 6, 18), cin, 32, net_square(1, SK_UNARY_RELU));
        sk_value z = sk_b_add(&n.b, net_conv(&n, y, 32, 32, net_square(1, 0)), y);
        net_out(&n, net_conv(&n, z, 32, 16, net_square(1, 0)));
        net_check(&n, "added", (plan_how){.flags = flags, .precision = SK_PRECISION_BF16}, here ? 0.05 : -1);
        net_end(&n);
    }
    for (int other = 0; other < 2; other++) { /* beside itself, and beside a map of floats */
        net n = net_begin();
        sk_value y = net_conv(&n, net_in(&n, 1, 3, 6, 18), 3, 32, net_square(1, SK_UNARY_RELU));
        sk_value z = other ? sk_b_unary(&n.b, SK_UNARY_TANH, y) : y;
        z = sk_b_concat(&n.b, (sk_value[]){y, z}, 2, 1);
        net_out(&n, net_conv(&n, z, 64, 16, net_square(1, 0)));
        net_check(&n, "beside", (plan_how){.flags = flags, .precision = SK_PRECISION_BF16}, here ? 0.05 : -1);
        net_end(&n);
    }
    recorded_check("tests/fixtures/engines/cpu_plan_bf16_added.txt");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_pictures),
        cmocka_unit_test(rows_of_windows),
        cmocka_unit_test(first_buffers),
        cmocka_unit_test(rules_at_their_bounds),
        cmocka_unit_test(whole_blocks),
#if defined(__x86_64__)
        cmocka_unit_test(first_map_is_added),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
