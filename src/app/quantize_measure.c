/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include <math.h>
#include <string.h>

/* Layer by layer: what each alone does to the outputs, and how far off each is when all are in eight bits. */

#define SENSITIVITY_FRAMES 2 /* of those to calibrate with */
#define ERROR_FRAMES       4 /* of those held back */

static double squares(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)a[i] - (b ? (double)b[i] : 0);
        sum += d * d;
    }
    return sum;
}

/* Copies of a session's outputs for some frames. */
typedef struct kept_outputs {
    int32_t n_frames, n_outputs;
    int64_t counts[SK_SESSION_MAX_OUTPUTS];
    double power[SK_SESSION_MAX_OUTPUTS]; /* over all frames */
    float *data[SENSITIVITY_FRAMES][SK_SESSION_MAX_OUTPUTS];
    const void *inputs[SENSITIVITY_FRAMES];
} kept_outputs;

static void free_outputs(kept_outputs *k)
{
    for (int f = 0; f < SENSITIVITY_FRAMES; f++)
        for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            sk_free(k->data[f][i]);
}

static sk_status keep_outputs(sk_quantize_job *job, kept_outputs *k, sk_error *err)
{
    sk_session *session = NULL;
    sk_tensor seen[SK_SESSION_MAX_OUTPUTS];
    sk_status status = SK_OK;
    for (size_t f = 0; f < job->n_inputs && k->n_frames < SENSITIVITY_FRAMES; f++)
        if (!job->inputs[f].held)
            k->inputs[k->n_frames++] = job->inputs[f].data;
    SK_TRY(sk_quantize_session(job, job->graph, NULL, 0, true, SK_PRECISION_F32, &session, err));
    k->n_outputs = sk_session_about(session)->n_outputs;
    for (int32_t f = 0; f < k->n_frames; f++) {
        SK_TRY_GOTO(sk_quantize_run_input(session, k->inputs[f], seen, err));
        for (int32_t i = 0; i < k->n_outputs; i++) {
            k->counts[i] = sk_shape_count(&seen[i].shape);
            if (seen[i].dtype != SK_DTYPE_F32)
                continue;
            k->data[f][i] = sk_malloc((size_t)k->counts[i] * sizeof(float));
            if (!k->data[f][i]) {
                status = sk_fail_memory(err, (size_t)k->counts[i] * sizeof(float));
                goto done;
            }
            memcpy(k->data[f][i], seen[i].data, (size_t)k->counts[i] * sizeof(float));
            k->power[i] += squares(k->data[f][i], NULL, k->counts[i]);
        }
    }
done:
    sk_session_close(&session);
    return status;
}

/* The sum over outputs of what changed, of each output's own power. */
static sk_status disturbance(sk_quantize_job *job, const sk_graph *graph, const kept_outputs *k, double *out,
                             sk_error *err)
{
    sk_session *session = NULL;
    sk_tensor seen[SK_SESSION_MAX_OUTPUTS];
    sk_status status = SK_OK;
    *out = 0;
    SK_TRY(sk_quantize_session(job, graph, NULL, 0, true, SK_PRECISION_F32, &session, err));
    for (int32_t f = 0; f < k->n_frames; f++) {
        SK_TRY_GOTO(sk_quantize_run_input(session, k->inputs[f], seen, err));
        for (int32_t i = 0; i < k->n_outputs; i++)
            if (k->data[f][i] && k->power[i] > 0)
                *out += squares(seen[i].data, k->data[f][i], k->counts[i]) / k->power[i];
    }
done:
    sk_session_close(&session);
    return status;
}

sk_status sk_quantize_sensitivity(sk_quantize_job *job, sk_error *err)
{
    const sk_quantise_plan *plan = job->plan;
    kept_outputs k = {0};
    uint8_t *stays = sk_malloc(job->graph->n_nodes + 1);
    sk_status status = SK_OK;
    job->sensitivity = sk_calloc((size_t)plan->n_layers, sizeof *job->sensitivity);
    if (!stays || !job->sensitivity) {
        status = sk_fail_memory(err, job->graph->n_nodes);
        goto done;
    }
    sk_quantize_begin(job, "measuring each layer", plan->n_layers);
    SK_TRY_GOTO(keep_outputs(job, &k, err));
    memset(stays, 1, job->graph->n_nodes + 1);
    for (int32_t i = 0; i < plan->n_layers; i++) {
        sk_graph *alone = NULL;
        stays[plan->layers[i].node] = 0;
        status = sk_quantize_make(job, stays, true, NULL, &alone, err);
        stays[plan->layers[i].node] = 1;
        if (status == SK_OK)
            status = disturbance(job, alone, &k, &job->sensitivity[i], err);
        sk_graph_close(&alone);
        if (status == SK_OK)
            status = sk_quantize_tick(job, err);
        if (status != SK_OK)
            goto done;
    }
done:
    free_outputs(&k);
    sk_free(stays);
    return status;
}

/* --- all together --- */

static sk_status share_errors(sk_quantize_job *job, const sk_graph *simulated, int32_t first, int32_t count,
                              double *off, double *power, sk_error *err)
{
    sk_session *plain = NULL, *rounded = NULL;
    sk_value outputs[SK_SESSION_MAX_OUTPUTS];
    sk_tensor a[SK_SESSION_MAX_OUTPUTS], b[SK_SESSION_MAX_OUTPUTS];
    sk_status status = SK_OK;
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++)
        outputs[i] = job->graph->nodes[job->plan->layers[first + i].node].out[0];
    SK_TRY_GOTO(sk_quantize_session(job, job->graph, outputs, count, false, SK_PRECISION_F32, &plain, err));
    SK_TRY_GOTO(sk_quantize_session(job, simulated, outputs, count, false, SK_PRECISION_F32, &rounded, err));
    for (size_t f = 0; f < job->n_inputs && used < ERROR_FRAMES; f++) {
        if (!job->inputs[f].held)
            continue;
        used++;
        SK_TRY_GOTO(sk_quantize_run_input(plain, job->inputs[f].data, a, err));
        SK_TRY_GOTO(sk_quantize_run_input(rounded, job->inputs[f].data, b, err));
        for (int32_t i = 0; i < count; i++) {
            int64_t n = sk_shape_count(&a[i].shape);
            off[first + i] += squares(b[i].data, a[i].data, n);
            power[first + i] += squares(a[i].data, NULL, n);
        }
        SK_TRY_GOTO(sk_quantize_tick(job, err));
    }
done:
    sk_session_close(&plain);
    sk_session_close(&rounded);
    return status;
}

sk_status sk_quantize_errors(sk_quantize_job *job, const sk_graph *simulated, sk_quantize_report *report,
                             sk_error *err)
{
    const int32_t n = job->plan->n_layers, most = SK_SESSION_MAX_OUTPUTS;
    double *off = sk_calloc((size_t)n, sizeof *off), *power = sk_calloc((size_t)n, sizeof *power);
    sk_status status = SK_OK;
    if (!off || !power) {
        status = sk_fail_memory(err, (size_t)n * sizeof *off);
        goto done;
    }
    int32_t held = sk_quantize_inputs(job, true);
    sk_quantize_begin(job, "measuring layers",
                      (int64_t)(n + most - 1) / most * (held < ERROR_FRAMES ? held : ERROR_FRAMES));
    for (int32_t first = 0; first < n; first += most)
        SK_TRY_GOTO(
            share_errors(job, simulated, first, n - first < most ? n - first : most, off, power, err));
    for (int32_t i = 0; i < n; i++) {
        report->rows[i].error = power[i] > 0 ? sqrt(off[i] / power[i]) : 0;
        report->rows[i].sensitivity = job->sensitivity ? sqrt(job->sensitivity[i]) : 0;
    }
done:
    sk_free_all(off, power);
    return status;
}
