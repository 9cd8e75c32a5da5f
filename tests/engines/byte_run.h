/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_BYTE_RUN_H
#define SK_TESTS_ENGINES_BYTE_RUN_H

#include "byte_nets.h"

#include "engines/engine.h"
#include "graph/reference.h"

/* Networks in eight bits by the cpu engine and by the reference executor. */

static inline sk_value number(net *n, sk_dtype dtype, int zero)
{
    const sk_shape one = {.rank = 0};
    const uint8_t byte = (uint8_t)zero;
    return sk_b_constant(&n->b, "", dtype, &one, &byte);
}

static inline sk_value to_bytes(net *n, sk_value x, float scale, int zero)
{
    return sk_b_node(&n->b, SK_OP_QUANTIZE, NULL,
                     (sk_value[]){x, sk_b_f32(&n->b, scale), number(n, SK_DTYPE_U8, zero)}, 3, "q");
}

static inline sk_value to_reals(net *n, sk_value x, float scale, int zero)
{
    return sk_b_node(&n->b, SK_OP_DEQUANTIZE, NULL,
                     (sk_value[]){x, sk_b_f32(&n->b, scale), number(n, SK_DTYPE_U8, zero)}, 3, "dq");
}

/* In eight bits by the engine and by the reference executor; outputs may be bytes. `limit`: how far an element may be off. */
static inline void same(net *n, const char *name, sk_input_form kind, double limit)
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

#endif
