/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "engines/engine.h"
#include "graph/reference.h"

#include <string.h>

/* The oracle as an engine: the graph, executed slowly and obviously. What every other engine is compared with, and
 * the smallest example of one. It allocates while running, as the only engine. */

typedef struct reference_session {
    sk_session base;
    sk_graph *graph;
    float *unpacked[SK_SESSION_MAX_INPUTS]; /* pictures as NCHW floats; null for tensor inputs */
    void *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
} reference_session;

static sk_status reference_probe(sk_engine_probe *out, sk_error *err)
{
    (void)err;
    *out = (sk_engine_probe){.available = 1, .n_devices = 1};
    strcpy(out->version, "1");
    strcpy(out->detail, "always there; for checking, not for speed");
    strcpy(out->devices[0].name, "CPU, one thread");
    out->devices[0].precisions = 1u << SK_PRECISION_F32;
    return SK_OK;
}

static sk_status reference_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    if (settings->precision != SK_PRECISION_F32)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "the reference engine computes in f32 only, not in %s",
                       sk_precision_name(settings->precision));
    for (int32_t i = 0; i < graph->n_outputs; i++)
        if (!sk_shape_known(&graph->values[graph->outputs[i]].shape))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "the size of output %s depends on the data",
                           graph->values[graph->outputs[i]].name);
    return SK_OK;
}

static void reference_close(sk_session *session)
{
    reference_session *s = (reference_session *)session;
    for (int i = 0; i < SK_SESSION_MAX_INPUTS; i++)
        sk_free(s->unpacked[i]);
    for (int k = 0; k < SK_SESSION_MAX_SLOTS; k++)
        for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            sk_free(s->outputs[k][i]);
    sk_graph_close(&s->graph);
    sk_free(s);
}

static sk_status reference_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                                sk_error *err)
{
    reference_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status;
    SK_TRY_GOTO(sk_graph_clone(graph, &s->graph, err));
    for (int32_t i = 0; settings->input == SK_INPUT_U8_HWC && i < graph->n_inputs; i++) {
        const sk_value_info *v = &graph->values[graph->inputs[i]];
        if (v->shape.rank != 4 || v->dtype != SK_DTYPE_F32)
            continue;
        size_t bytes = (size_t)sk_shape_count(&v->shape) * sizeof(float);
        s->unpacked[i] = sk_malloc(bytes);
        if (!s->unpacked[i]) {
            status = sk_fail_memory(err, bytes);
            goto done;
        }
    }
    for (int32_t k = 0; k < settings->slots; k++)
        for (int32_t i = 0; i < graph->n_outputs; i++) {
            const sk_value_info *v = &graph->values[graph->outputs[i]];
            size_t bytes = (size_t)sk_shape_count(&v->shape) * sk_dtype_bytes(v->dtype);
            s->outputs[k][i] = sk_calloc(1, bytes);
            if (!s->outputs[k][i]) {
                status = sk_fail_memory(err, bytes);
                goto done;
            }
            s->base.info.outputs[i].data = s->outputs[0][i];
        }
    s->base.info.threads = 1;
    strcpy(s->base.info.detail, "reference executor");
    *out = &s->base;
    return SK_OK;
done:
    reference_close(&s->base);
    return status;
}

static sk_status reference_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,
                                  sk_error *err)
{
    reference_session *s = (reference_session *)session;
    sk_tensor in[SK_SESSION_MAX_INPUTS], results[SK_SESSION_MAX_OUTPUTS] = {0};
    for (int32_t i = 0; i < s->graph->n_inputs; i++) {
        const sk_value_info *v = &s->graph->values[s->graph->inputs[i]];
        in[i] = (sk_tensor){.dtype = v->dtype, .shape = v->shape, .data = (void *)(uintptr_t)inputs[i].data};
        if (s->unpacked[i]) {
            sk_input_unpack_u8(&inputs[i], &session->settings, &v->shape, s->unpacked[i]);
            in[i].data = s->unpacked[i];
        }
    }
    SK_TRY(sk_reference_run(s->graph, in, s->graph->n_inputs, results, s->graph->n_outputs, err));
    for (int32_t i = 0; i < s->graph->n_outputs; i++) {
        memcpy(s->outputs[slot][i], results[i].data, sk_tensor_bytes(&results[i]));
        sk_free(results[i].data);
    }
    return SK_OK;
}

static sk_status reference_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    (void)err;
    reference_session *s = (reference_session *)session;
    for (int32_t i = 0; i < s->graph->n_outputs; i++)
        outputs[i] = s->outputs[slot][i];
    return SK_OK;
}

const sk_engine sk_engine_reference = {
    .name = "reference",
    .title = "reference executor",
    .can = {.device = SK_DEVICE_CPU,
            .reads = SK_READS(SK_PLACE_HOST),
            .precisions = 1u << SK_PRECISION_F32,
            .usual = SK_PRECISION_F32,
            .replay = SK_REPLAY_NEVER,
            .free_shapes = true,
            .same_bits = true,
            .for_checking = true},
    .probe = reference_probe,
    .supports = reference_supports,
    .open = reference_open,
    .submit = reference_submit,
    .wait = reference_wait,
    .close = reference_close,
};
