/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that QUANTIZE makes and somebody else than a DEQUANTIZE of its own rule looks at: they are what the graph says, not the
 * engine's own form of them. */
#include "byte_nets.h"

#include "engines/engine.h"
#include "graph/reference.h"

static sk_value number(net *n, sk_dtype dtype, int zero)
{
    const sk_shape one = {.rank = 0};
    const uint8_t byte = (uint8_t)zero;
    return sk_b_constant(&n->b, "", dtype, &one, &byte);
}

static sk_value to_bytes(net *n, sk_value x, float scale, int zero)
{
    return sk_b_node(&n->b, SK_OP_QUANTIZE, NULL,
                     (sk_value[]){x, sk_b_f32(&n->b, scale), number(n, SK_DTYPE_U8, zero)}, 3, "q");
}

static sk_value to_reals(net *n, sk_value x, float scale, int zero)
{
    return sk_b_node(&n->b, SK_OP_DEQUANTIZE, NULL,
                     (sk_value[]){x, sk_b_f32(&n->b, scale), number(n, SK_DTYPE_U8, zero)}, 3, "dq");
}

/* In eight bits by the engine and by the reference executor; outputs may be bytes. `limit`: how far an element may be off. */
static void same(net *n, const char *name, sk_input_form kind, double limit)
{
    sk_error err = {0};
    sk_graph *fixed = NULL;
    sk_session *session = NULL;
    sk_tensor want[SK_SESSION_MAX_OUTPUTS] = {0}, got[SK_SESSION_MAX_OUTPUTS];
    sk_session_settings settings = sk_session_defaults();
    const int64_t *d = n->shapes[0].dim, count = sk_shape_count(&n->shapes[0]);
    float *x = malloc((size_t)count * sizeof *x);
    uint8_t *picture = malloc((size_t)count);
    assert_ok(n->b.status, &n->b.error);
    for (int64_t i = 0; i < count; i++) { /* one image: [channel][pixel], and [pixel][channel] of the same */
        const int64_t c = i / (d[2] * d[3]), p = i % (d[2] * d[3]);
        const uint8_t byte = (uint8_t)(random_next(&n->r) % 256);
        picture[p * d[1] + c] = byte;
        x[i] = (float)byte * (1.0f / 255.0f);
    }
    const sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = n->shapes[0], .data = x};
    settings.precision = SK_PRECISION_I8;
    settings.threads = 2;
    settings.input = kind;
    settings.scale = 1.0f / 255.0f;
    settings.cache_dir = "";
    snprintf(settings.options, sizeof settings.options, "tune=off");
    const sk_session_input given = {.data = kind == SK_INPUT_U8_HWC ? (void *)picture : (void *)x};
    assert_ok(sk_graph_specialise(n->graph, n->shapes, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, want, fixed->n_outputs, &err), &err);
    assert_ok(sk_session_open(&sk_engine_cpu, n->graph, n->shapes, 1, &settings, &session, &err), &err);
    assert_ok(sk_session_run(session, &given, 1, got, fixed->n_outputs, &err), &err);
    for (int32_t o = 0; o < fixed->n_outputs; o++) {
        assert_int_equal(got[o].dtype, want[o].dtype);
        for (int64_t i = 0; i < sk_shape_count(&want[o].shape); i++)
            if (!(fabs(sk_tensor_at(&got[o], i) - sk_tensor_at(&want[o], i)) <= limit))
                fail_msg("%s, output %d: %g instead of %g at %d", name, o, sk_tensor_at(&got[o], i),
                         sk_tensor_at(&want[o], i), (int)i);
        sk_free(want[o].data);
    }
    sk_session_close(&session);
    sk_graph_close(&fixed);
    free(picture);
    free(x);
    net_end(n);
}

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
