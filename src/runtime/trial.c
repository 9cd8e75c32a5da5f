/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/trial.h"

#include "graph/builder.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

/* Two inputs' channels to three, 3x3, on 8x8: enough to mix up layouts if an engine does. */
enum {
    IN = 2,
    OUT = 3,
    SIDE = 8,
    INPUTS = IN * SIDE * SIDE,
    WEIGHTS = OUT * IN * 9,
    OUTPUTS = OUT * SIDE * SIDE
};

static sk_status make_graph(sk_graph **out, const sk_shape *shape, sk_error *err)
{
    float weights[WEIGHTS], bias[OUT] = {0.5f, -1.0f, 2.0f};
    for (int i = 0; i < WEIGHTS; i++)
        weights[i] = (float)(i * 5 % 11 - 5) * 0.125f;
    sk_shape w = sk_shape_of(4, OUT, IN, 3, 3), b = sk_shape_of(1, OUT);
    const sk_window window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
    SK_TRY(sk_graph_open(out, err));
    sk_builder builder;
    sk_builder_init(&builder, *out);
    sk_value x = sk_b_input(&builder, "x", SK_DTYPE_F32, shape);
    sk_value y = sk_b_conv(&builder, x, sk_b_constant(&builder, "w", SK_DTYPE_F32, &w, weights),
                           sk_b_constant(&builder, "b", SK_DTYPE_F32, &b, bias), &window, 1, "conv");
    sk_b_output(&builder, y, "y");
    if (builder.status != SK_OK && err)
        *err = builder.error;
    return builder.status;
}

static sk_status compare(const float *got, const float *want, sk_error *err)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (!(fabsf(got[i] - want[i]) < 1e-3f)) /* also NaN */
            return sk_fail(err, SK_ERR_MISMATCH,
                           "it computes wrong numbers: a small convolution gave %g where %g is right",
                           (double)got[i], (double)want[i]);
    return SK_OK;
}

sk_status sk_runtime_trial(const sk_engine *engine, sk_error *err)
{
    float x[INPUTS];
    for (int i = 0; i < INPUTS; i++)
        x[i] = (float)(i * 7 % 13 - 6) * 0.25f;
    sk_shape shape = sk_shape_of(4, 1, IN, SIDE, SIDE);
    sk_graph *graph = NULL, *fixed = NULL;
    sk_session *session = NULL;
    sk_tensor input = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got = {0};
    sk_session_input in = {.data = x};
    sk_session_settings settings = sk_session_defaults();
    settings.threads = 1;
    settings.cache_dir = "";
    if (engine->form) /* other precisions need a file, which is not made for this */
        settings.precision = SK_PRECISION_F32;
    sk_status status;
    SK_TRY_GOTO(sk_options_put_known(settings.options, engine->options, "tune", "off", err));
    SK_TRY_GOTO(make_graph(&graph, &shape, err));
    SK_TRY_GOTO(sk_graph_specialise(graph, &shape, 1, &fixed, err));
    SK_TRY_GOTO(sk_reference_run(fixed, &input, 1, &want, 1, err));
    SK_TRY_GOTO(sk_session_open(engine, graph, &shape, 1, &settings, &session, err));
    SK_TRY_GOTO(sk_session_run(session, &in, 1, &got, 1, err));
    status = got.data ? compare(got.data, want.data, err) : sk_fail(err, SK_ERR_RUNTIME, "it gave no result");
done:
    sk_free(want.data);
    sk_session_close(&session);
    sk_graph_close(&fixed);
    sk_graph_close(&graph);
    return status;
}
