/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that QUANTIZE makes and somebody else than a DEQUANTIZE of its own rule looks at: they are what the graph says, not the
 * engine's own form of them. */
#include "byte_run.h"

static void bytes_as_an_output(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        net n = net_begin();
        sk_value x = net_conv(&n, net_in(&n, 1, 3, 9, 11), 3, 20, net_square(3, SK_UNARY_RELU));
        sk_value q = to_bytes(&n, x, step, 7);
        if (both)
            net_out(&n, byte_conv(&n, to_reals(&n, q, step, 7), 20, 18, 3, 1, 1, 0));
        net_out(&n, q);
        same(&n, both ? "beside its reader" : "alone", SK_INPUT_TENSOR, 1.0);
    }
}

static void another_rule(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        net n = net_begin();
        sk_value x = net_conv(&n, net_in(&n, 1, 3, 9, 11), 3, 20, net_square(3, SK_UNARY_RELU));
        sk_value q = to_bytes(&n, x, step, 7);
        net_out(&n, net_conv(&n, to_reals(&n, q, 3 * step, 77), 20, 18, net_square(1, 0)));
        if (both)
            net_out(&n, byte_conv(&n, to_reals(&n, q, step, 7), 20, 18, 3, 1, 1, 0));
        same(&n, both ? "beside its own" : "alone", SK_INPUT_TENSOR, 0.2);
    }
}

static void bytes_are_moved(void **state)
{
    (void)state;
    net n = net_begin();
    sk_value x = net_conv(&n, net_in(&n, 1, 3, 9, 11), 3, 20, net_square(3, SK_UNARY_RELU));
    sk_value q = sk_b_transpose(&n.b, to_bytes(&n, x, step, 7), (const int[]){0, 1, 3, 2}, 4);
    net_out(&n, net_conv(&n, to_reals(&n, q, step, 7), 20, 18, net_square(3, 0)));
    q = sk_b_reshape(&n.b, to_bytes(&n, x, step, 9), (const int64_t[]){1, 10, 18, 11}, 4);
    net_out(&n, to_reals(&n, q, step, 9));
    same(&n, "moved", SK_INPUT_TENSOR, 0.2);
}

/* The first convolution reads the caller's picture itself only where the bytes are its own. */
static void bytes_of_the_picture(void **state)
{
    (void)state;
    static const char *const names[] = {"its own rule", "another rule", "an output, too", "quantised again"};
    for (int how = 0; how < 4; how++)
        for (int pictures = 0; pictures < 2; pictures++) {
            net n = net_begin();
            sk_value q = to_bytes(&n, net_in(&n, 1, 3, 9, 11), 1.0f / 255.0f, 0);
            sk_value x = to_reals(&n, q, (how == 1 ? 2.0f : 1.0f) / 255.0f, how == 1 ? 5 : 0);
            if (how == 3)
                x = in_bytes(&n, x, 1.5f / 255.0f, 20, SK_DTYPE_U8);
            net_out(&n, byte_conv(&n, x, 3, 20, 3, 1, 1, 0));
            if (how == 2)
                net_out(&n, q);
            same(&n, names[how], pictures ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR, 1e-4);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_as_an_output), cmocka_unit_test(another_rule),
                                       cmocka_unit_test(bytes_are_moved),
                                       cmocka_unit_test(bytes_of_the_picture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
