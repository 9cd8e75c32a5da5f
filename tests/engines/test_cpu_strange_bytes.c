/* SPDX-License-Identifier: Apache-2.0 */
/* Networks in eight bits as other programs make them: outputs without weights, zero points that differ, convolutions where nobody
 * expects them, steps far smaller than what is rounded to them. */
#include "byte_run.h"

static sk_value pixels(net *n, int channels, int h, int w)
{
    return in_bytes(n, net_in(n, 1, channels, h, w), 1.0f / 128.0f, 10, SK_DTYPE_U8);
}

/* i8 weights with a scale and, where `zeros` is given, a zero point for each output. */
static sk_value weights_of(net *n, sk_shape shape, const int8_t *w, const float *scales, const int8_t *zeros)
{
    const sk_shape list = {.rank = 1, .dim = {shape.dim[0]}};
    const sk_attrs a = {.quantise.axis = 0};
    sk_value in[3] = {sk_b_constant(&n->b, "w", SK_DTYPE_I8, &shape, w),
                      sk_b_constant(&n->b, "s", SK_DTYPE_F32, &list, scales), SK_VALUE_NONE};
    if (zeros)
        in[2] = sk_b_constant(&n->b, "z", SK_DTYPE_I8, &list, zeros);
    return sk_b_node(&n->b, SK_OP_DEQUANTIZE, &a, in, zeros ? 3 : 2, "w");
}

enum { OUTPUTS = 20, INPUTS = 48 };

/* A filter that was cut away has no weights, and any scale: its bias is all that is left of it. */
static void outputs_without_weights(void **state)
{
    (void)state;
    static int8_t w[OUTPUTS * INPUTS * 9];
    const sk_window window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
    for (int empty = 0; empty < 3; empty++) {
        net n = net_begin();
        float scales[OUTPUTS], bias[OUTPUTS];
        for (int i = 0; i < OUTPUTS; i++) {
            for (int k = 0; k < INPUTS * 9; k++)
                w[i * INPUTS * 9 + k] = (int8_t)(i == 7 * empty ? 0 : (int)(random_next(&n.r) % 255) - 127);
            scales[i] = i == 7 * empty ? (empty == 2 ? 1e6f : 1.0f) : 4e-5f;
            bias[i] = 0.7f - 0.1f * (float)i;
        }
        const sk_shape list = {.rank = 1, .dim = {OUTPUTS}};
        sk_value x = pixels(&n, INPUTS, 9, 11);
        sk_value y =
            sk_b_conv(&n.b, x, weights_of(&n, sk_shape_of(4, OUTPUTS, INPUTS, 3, 3), w, scales, NULL),
                      sk_b_constant(&n.b, "bias", SK_DTYPE_F32, &list, bias), &window, 1, "conv");
        sk_b_output(&n.b, in_bytes(&n, y, 0.02f, 128, SK_DTYPE_U8), "y");
        same(&n, "an output without weights", SK_INPUT_TENSOR, 0.0201);
    }
}

/* Biases beyond all bytes end at the last one, on their own side. */
static void biases_beyond_everything(void **state)
{
    (void)state;
    static const int8_t w[9] = {1, -2, 3, -4, 5, -6, 7, -8, 9};
    const float scales[3] = {0.01f, 0.01f, 0.01f}, bias[3] = {INFINITY, -INFINITY, 3e9f};
    const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    const sk_shape list = {.rank = 1, .dim = {3}};
    net n = net_begin();
    sk_value x =
        in_bytes(&n, net_conv(&n, net_in(&n, 1, 3, 5, 6), 3, 3, net_square(1, 0)), step, 128, SK_DTYPE_U8);
    sk_value y = sk_b_conv(&n.b, x, weights_of(&n, sk_shape_of(4, 3, 3, 1, 1), w, scales, NULL),
                           sk_b_constant(&n.b, "bias", SK_DTYPE_F32, &list, bias), &window, 1, "conv");
    sk_b_output(&n.b, in_bytes(&n, y, 0.2f, 128, SK_DTYPE_U8), "y");
    same(&n, "biases", SK_INPUT_TENSOR, 0.001);
}

/* The first output's is 0, as it is nearly everywhere; another's is not. */
static void zero_points_of_weights(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        net n = net_begin();
        int8_t w[4 * 3 * 9], zeros[4] = {0};
        float scales[4];
        for (size_t i = 0; i < sizeof w; i++)
            w[i] = (int8_t)(random_next(&n.r) % 255 - 127);
        for (int i = 0; i < 4; i++)
            scales[i] = 0.004f;
        zeros[which] = 7;
        const sk_window window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}};
        sk_value x = in_bytes(&n, net_conv(&n, net_in(&n, 1, 3, 8, 8), 3, 3, net_square(1, 0)), step, 100,
                              SK_DTYPE_U8);
        sk_value y = sk_b_conv(&n.b, x, weights_of(&n, sk_shape_of(4, 4, 3, 3, 3), w, scales, zeros),
                               SK_VALUE_NONE, &window, 1, "conv");
        sk_b_output(&n.b, in_bytes(&n, y, 0.05f, 120, SK_DTYPE_U8), "y");
        same(&n, "zero points", SK_INPUT_TENSOR, 0.0501);
    }
}

/* The picture itself goes into a transposed convolution, whose result is rounded. */
static void transposed_at_the_beginning(void **state)
{
    (void)state;
    for (int stride = 1; stride <= 2; stride++)
        for (int channels = 1; channels <= 5; channels += 2) {
            net n = net_begin();
            const sk_attrs up = {
                .conv_transpose.window = {.kernel = {3, 3}, .stride = {stride, stride}, .dilation = {1, 1}},
                .conv_transpose.groups = 1};
            sk_value in[2] = {net_in(&n, 1, channels, 7, 9),
                              net_random(&n, sk_shape_of(4, channels, 6, 3, 3))};
            sk_value y = sk_b_node(&n.b, SK_OP_CONV_TRANSPOSE, &up, in, 2, "up");
            sk_b_output(&n.b, in_bytes(&n, y, 0.02f, 128, SK_DTYPE_U8), "y");
            same(&n, "transposed", SK_INPUT_TENSOR, 0.0201);
        }
}

/* The curves of activations reach to -12 and further, however small the steps are that their results are rounded to. */
static void curves_beside_small_steps(void **state)
{
    (void)state;
    static const float steps[] = {0.0002f, 0.0006f, 0.0012f, 0.002f, 0.003f, 0.0045f};
    static const int acts[] = {SK_UNARY_SILU, SK_UNARY_GELU, SK_UNARY_GELU_TANH, SK_UNARY_HARD_SWISH};
    static const int8_t w[3] = {-128, -64, -20};
    static const float scales[3] = {0.004f, 0.004f, 0.004f};
    const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (size_t k = 0; k < sizeof acts / sizeof *acts; k++) {
            net n = net_begin(); /* pixels from 0 to 1, 40 times as bright: results from 0 to -20 */
            sk_value bright = sk_b_mul(&n.b, net_in(&n, 1, 1, 16, 16), sk_b_f32(&n.b, 40.0f));
            sk_value x = in_bytes(&n, bright, 40.0f / 255.0f, 0, SK_DTYPE_U8);
            sk_value y = sk_b_conv(&n.b, x, weights_of(&n, sk_shape_of(4, 3, 1, 1, 1), w, scales, NULL),
                                   SK_VALUE_NONE, &window, 1, "conv");
            y = in_bytes(&n, sk_b_unary(&n.b, (sk_unary)acts[k], y), steps[i], 250, SK_DTYPE_U8);
            sk_b_output(&n.b, y, "y");
            same(&n, "a curve", SK_INPUT_TENSOR, 1.01 * (double)steps[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_without_weights),   cmocka_unit_test(biases_beyond_everything),
        cmocka_unit_test(zero_points_of_weights),    cmocka_unit_test(transposed_at_the_beginning),
        cmocka_unit_test(curves_beside_small_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
