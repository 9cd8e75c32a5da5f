/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/foreign/foreign.h"

#include "base/cpu.h"
#include "graph/builder.h"
#include "graph/quantise_plan.h"
#include "models/onnx_exporter.h"
#include "skitter/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Opset 17 with IR 8 is read by every runtime of 2022 and later; from 20 on some put Resize in slow
 * places. */
#define OPSET      17
#define IR_VERSION 8
#define ALIGNMENT  64

const char *sk_foreign_name(bool output, int32_t index, char buffer[SK_FOREIGN_NAME])
{
    snprintf(buffer, SK_FOREIGN_NAME, "%s%d", output ? "out" : "in", index);
    return buffer;
}

/* One end of the model, with its name in the model's arena. */
static sk_status describe_end(const sk_graph *graph, bool output, int32_t index, sk_onnx_model *onnx,
                              sk_onnx_value *end, const char **name, sk_error *err)
{
    char text[SK_FOREIGN_NAME];
    const sk_value_info *v = &graph->values[output ? graph->outputs[index] : graph->inputs[index]];
    *name = sk_arena_strdup(onnx->arena, sk_foreign_name(output, index, text));
    if (!*name)
        return sk_fail_memory(err, sizeof text);
    *end = (sk_onnx_value){.name = *name, .dtype = v->dtype, .shape = v->shape};
    for (int d = 0; d < SK_MAX_RANK; d++)
        end->param[d] = "";
    return SK_OK;
}

static sk_status fill_model(const sk_graph *graph, bool half, sk_onnx_model *onnx, sk_error *err)
{
    const char *in[SK_SESSION_MAX_INPUTS], *out[SK_SESSION_MAX_OUTPUTS];
    sk_onnx_value *ins = sk_arena_alloc(onnx->arena, SK_SESSION_MAX_INPUTS * sizeof *ins);
    sk_onnx_value *outs = sk_arena_alloc(onnx->arena, SK_SESSION_MAX_OUTPUTS * sizeof *outs);
    sk_onnx_opset *opset = sk_arena_alloc(onnx->arena, sizeof *opset);
    if (!ins || !outs || !opset)
        return sk_fail_memory(err, SK_SESSION_MAX_OUTPUTS * sizeof *outs);
    for (int32_t i = 0; i < graph->n_inputs; i++)
        SK_TRY(describe_end(graph, false, i, onnx, &ins[i], &in[i], err));
    for (int32_t i = 0; i < graph->n_outputs; i++)
        SK_TRY(describe_end(graph, true, i, onnx, &outs[i], &out[i], err));
    *opset = (sk_onnx_opset){"", OPSET};
    onnx->opsets = opset;
    onnx->n_opsets = 1;
    onnx->ir_version = IR_VERSION;
    onnx->producer = "skitter";
    onnx->producer_version = sk_version_text();
    onnx->graph.name = "main";
    onnx->graph.inputs = ins;
    onnx->graph.n_inputs = graph->n_inputs;
    onnx->graph.outputs = outs;
    onnx->graph.n_outputs = graph->n_outputs;
    return half ? sk_onnx_from_graph_half(graph, OPSET, onnx, err)
                : sk_onnx_from_graph(graph, OPSET, false, in, out, onnx, err);
}

sk_status sk_foreign_onnx(const sk_graph *graph, sk_precision precision, uint8_t **bytes, size_t *length,
                          sk_error *err)
{
    sk_graph *copy = NULL;
    sk_onnx_model *onnx = NULL;
    sk_status status;
    SK_TRY_GOTO(sk_graph_clone(graph, &copy, err));
    SK_TRY_GOTO(sk_graph_fold_batch_norm(copy, err));
    SK_TRY_GOTO(sk_graph_remove_dead(copy, err));
    SK_TRY_GOTO(precision == SK_PRECISION_I8 ? sk_quantise_for_runtimes(copy, NULL, 0, err)
                                             : sk_graph_dequantise(copy, err));
    SK_TRY_GOTO(sk_onnx_create(&onnx, err));
    SK_TRY_GOTO(fill_model(copy, precision == SK_PRECISION_F16, onnx, err));
    SK_TRY_GOTO(sk_onnx_write(onnx, bytes, length, err));
done:
    sk_onnx_close(&onnx);
    sk_graph_close(&copy);
    return status;
}

const sk_engine_form sk_foreign_form_onnx = {
    .name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"};

sk_status sk_foreign_model_open(const sk_graph *graph, const sk_session_settings *settings,
                                sk_foreign_model *out, sk_error *err)
{
    const sk_session_artifact *a = settings->artifact;
    *out = (sk_foreign_model){0};
    for (int32_t i = 0; i < graph->n_inputs; i++)
        out->inputs[i] = a ? a->input_names[i] : sk_foreign_name(false, i, out->names[i]);
    for (int32_t i = 0; i < graph->n_outputs; i++)
        out->outputs[i] =
            a ? a->output_names[i] : sk_foreign_name(true, i, out->names[SK_SESSION_MAX_INPUTS + i]);
    if (a) {
        out->bytes = a->bytes;
        out->length = a->length;
        return SK_OK;
    }
    SK_TRY(sk_foreign_onnx(graph, settings->precision, &out->owned, &out->length, err));
    out->bytes = out->owned;
    return SK_OK;
}

void sk_foreign_model_close(sk_foreign_model *model)
{
    sk_free(model->owned);
    model->owned = NULL;
}

sk_status sk_foreign_supports(const char *title, const sk_graph *graph, const sk_session_settings *settings,
                              sk_error *err)
{
    bool halves = settings->precision == SK_PRECISION_F16 && settings->artifact; /* they are in the file */
    bool bytes =
        settings->precision == SK_PRECISION_I8 && sk_graph_is_quantised(graph) && !sk_graph_is_f8(graph);
    if (settings->precision != SK_PRECISION_F32 && !halves && !bytes)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: does not compute this network in %s; set precision to f32, or to another that 'skitter "
            "runtimes' lists for it",
            title, sk_precision_name(settings->precision));
    for (int32_t i = 0; i < graph->n_outputs; i++)
        if (!sk_shape_known(&graph->values[graph->outputs[i]].shape))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: the size of output %s depends on the data", title,
                           graph->values[graph->outputs[i]].name);
    return SK_OK;
}

static sk_status alloc_tensor(const sk_value_info *v, sk_tensor *out, sk_error *err)
{
    *out = (sk_tensor){.dtype = v->dtype, .shape = v->shape};
    size_t bytes = sk_tensor_bytes(out);
    out->data = sk_aligned_calloc(ALIGNMENT, bytes ? bytes : 1);
    return out->data ? SK_OK : sk_fail_memory(err, bytes);
}

sk_status sk_foreign_alloc(sk_foreign_session *s, const sk_graph *graph, const sk_session_settings *settings,
                           bool asynchronous, sk_error *err)
{
    sk_session_info *info = &s->base.info;
    s->n_inputs = graph->n_inputs;
    s->n_outputs = graph->n_outputs;
    s->slots = settings->slots;
    s->input_sets = asynchronous ? settings->slots : 1;
    info->asynchronous = asynchronous;
    for (int32_t i = 0; i < graph->n_inputs; i++) {
        const sk_value_info *v = &graph->values[graph->inputs[i]];
        s->pictures[i] = settings->input == SK_INPUT_U8_HWC && v->shape.rank == 4 && v->dtype == SK_DTYPE_F32;
        for (int32_t k = 0; k < s->input_sets; k++) {
            SK_TRY(alloc_tensor(v, &s->inputs[k][i], err));
            info->activation_bytes += sk_tensor_bytes(&s->inputs[k][i]);
        }
    }
    for (int32_t k = 0; k < s->slots; k++)
        for (int32_t i = 0; i < graph->n_outputs; i++) {
            SK_TRY(alloc_tensor(&graph->values[graph->outputs[i]], &s->outputs[k][i], err));
            info->activation_bytes += sk_tensor_bytes(&s->outputs[k][i]);
        }
    for (int32_t i = 0; i < graph->n_outputs; i++)
        info->outputs[i].data = s->outputs[0][i].data;
    info->threads = settings->threads > 0 ? settings->threads : sk_cpu_usable_cores();
    s->copiers.threads = settings->threads > 0 ? settings->threads : (sk_cpu_usable_cores() + 1) / 2;
    s->copiers.most = 8;
    info->weight_bytes = (size_t)sk_graph_parameters(graph) * sizeof(float);
    return SK_OK;
}

void sk_foreign_free(sk_foreign_session *s)
{
    sk_copiers_close(&s->copiers);
    for (int32_t k = 0; k < SK_SESSION_MAX_SLOTS; k++) {
        for (int32_t i = 0; i < SK_SESSION_MAX_INPUTS; i++)
            sk_free(s->inputs[k][i].data);
        for (int32_t i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
            sk_free(s->outputs[k][i].data);
    }
}

typedef struct unpacking {
    const sk_session_input *input;
    const sk_session_settings *settings;
    const sk_tensor *to;
} unpacking;

static void unpack_share(void *context, int32_t share, int32_t shares)
{
    const unpacking *u = context;
    const sk_shape *shape = &u->to->shape;
    int64_t begin, end;
    sk_pool_split(shape->dim[0] * shape->dim[2], 1, share, shares, &begin, &end);
    sk_input_unpack_u8_rows(u->input, u->settings, shape, begin, end, u->to->data);
}

void sk_foreign_fill_inputs(sk_foreign_session *s, int32_t slot, const sk_session_input *inputs)
{
    const sk_tensor *to = s->inputs[s->input_sets > 1 ? slot : 0];
    for (int32_t i = 0; i < s->n_inputs; i++)
        if (s->pictures[i] && s->base.info.asynchronous) {
            unpacking u = {&inputs[i], &s->base.settings, &to[i]};
            sk_copiers_run(&s->copiers, sk_tensor_bytes(&to[i]), unpack_share, &u);
        } else if (s->pictures[i])
            sk_input_unpack_u8(&inputs[i], &s->base.settings, &to[i].shape, to[i].data);
        else
            memcpy(to[i].data, inputs[i].data, sk_tensor_bytes(&to[i]));
}

sk_status sk_foreign_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    (void)err;
    sk_foreign_session *s = (sk_foreign_session *)session;
    for (int32_t i = 0; i < s->n_outputs; i++)
        outputs[i] = s->outputs[slot][i].data;
    return SK_OK;
}

/* --- trying a runtime --- */

/* y = conv 3x3 of ones over ones, bias 0.5: 9.5 inside, 6.5 at edges, 4.5 in corners. */
static sk_status small_graph(sk_graph **out, sk_shape *shape, sk_error *err)
{
    float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, half = 0.5f;
    sk_shape w = sk_shape_of(4, 1, 1, 3, 3), b = sk_shape_of(1, 1);
    sk_window window = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0};
    *shape = sk_shape_of(4, 1, 1, 4, 4);
    SK_TRY(sk_graph_open(out, err));
    sk_builder builder;
    sk_builder_init(&builder, *out);
    sk_value x = sk_b_input(&builder, "x", SK_DTYPE_F32, shape);
    sk_value weights = sk_b_constant(&builder, "w", SK_DTYPE_F32, &w, ones);
    sk_value bias = sk_b_constant(&builder, "b", SK_DTYPE_F32, &b, &half);
    sk_b_output(&builder, sk_b_conv(&builder, x, weights, bias, &window, 1, "conv"), "y");
    if (builder.status != SK_OK && err)
        *err = builder.error;
    return builder.status;
}

static sk_status check_sums(const float *y, sk_error *err)
{
    for (int i = 0; i < 16; i++) {
        bool edge_row = i / 4 == 0 || i / 4 == 3, edge_column = i % 4 == 0 || i % 4 == 3;
        float want = edge_row && edge_column ? 4.5f : edge_row || edge_column ? 6.5f : 9.5f;
        if (!(fabsf(y[i] - want) < 1e-5f))
            return sk_fail(err, SK_ERR_MISMATCH, "a small convolution gave %g where %g is right",
                           (double)y[i], (double)want);
    }
    return SK_OK;
}

sk_status sk_foreign_try(const sk_engine *engine, sk_error *err)
{
    float ones[16];
    for (int i = 0; i < 16; i++)
        ones[i] = 1.0f;
    sk_graph *graph = NULL;
    sk_session *session = NULL;
    sk_shape shape;
    sk_tensor y;
    sk_session_input x = {.data = ones};
    sk_session_settings settings = sk_session_defaults();
    settings.threads = 1;
    settings.precision = SK_PRECISION_F32;
    settings.cache_dir = "";
    sk_status status;
    SK_TRY_GOTO(small_graph(&graph, &shape, err));
    SK_TRY_GOTO(sk_session_open(engine, graph, &shape, 1, &settings, &session, err));
    SK_TRY_GOTO(sk_session_run(session, &x, 1, &y, 1, err));
    SK_TRY_GOTO(check_sums(y.data, err));
done:
    sk_session_close(&session);
    sk_graph_close(&graph);
    return status;
}

void sk_foreign_report(sk_status status, const sk_error *found, const char *title, const char *version,
                       const char *path, uint32_t precisions, sk_engine_probe *out)
{
    *out = (sk_engine_probe){.available = status == SK_OK};
    snprintf(out->version, sizeof out->version, "%.63s", version);
    snprintf(out->detail, sizeof out->detail, "%.511s", status == SK_OK ? path : found->message);
    if (status != SK_OK)
        return;
    sk_cpu_info cpu;
    sk_cpu_describe(&cpu);
    out->n_devices = 1;
    out->devices[0].precisions = precisions;
    snprintf(out->devices[0].name, sizeof out->devices[0].name, "%.40s, %d cores, %s %.20s", cpu.model,
             sk_cpu_usable_cores(), title, version);
}
