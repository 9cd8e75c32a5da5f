/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_ATTENTION_CASES_H
#define SK_TESTS_ENGINES_ATTENTION_CASES_H

#include "attention_graph.h"
#include "tile_cases.h"

/* The cases of attention_graph.h in the cuda engine: for the test on the GPU of loops and for the check on a real one. */

/* How far the engine's result is from the reference's; *steps: how many launches it takes, *attending: by that kernel. */
static inline double try_attention(const attention_case *c, bool turned, sk_precision precision, int *steps,
                                   int *attending)
{
    sk_graph *g = attention_graph(c, turned), *fixed = NULL;
    sk_error err = {0};
    sk_shape shape = sk_shape_of(4, c->batch, 16, c->h, c->w);
    float *x = randoms(sk_shape_count(&shape), 2.0f);
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got;
    sk_session_settings settings = sk_session_defaults();
    sk_session *session = NULL;
    sk_session_input given = {.data = x};
    double worst = 0;
    settings.precision = precision;
    strcpy(settings.options, "tune=off");
    settings.cache_dir = "";
    if (sk_graph_specialise(g, &shape, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, &want, 1, &err) != SK_OK ||
        sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err) != SK_OK ||
        sk_session_capture(session, &err) != SK_OK)
        stop(&err);
    const gpu_plan *plan = &((gpu_session *)session)->plan;
    *steps = (int)plan->n_steps;
    *attending = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        *attending += plan->steps[i].kind == GPU_ATTENTION;
    for (int run = 0; run < 2; run++) {
        if (sk_session_run(session, &given, 1, &got, 1, &err) != SK_OK)
            stop(&err);
        const double d = distance(got.data, want.data, sk_shape_count(&want.shape));
        worst = d > worst || isnan(d) ? d : worst;
    }
    sk_session_close(&session);
    sk_free(want.data);
    free(x);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
    return worst;
}

#endif
