/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/network.h"

#include "base/log.h"
#include "graph/quantise.h"
#include "runtime/model_artifact.h"
#include "runtime/probe.h"

#include <string.h>

sk_status sk_net_engine(const char *runtime, const sk_engine **out, sk_error *err)
{
    const sk_engine *engine = sk_engine_find(runtime);
    if (!engine) {
        sk_runtime meant;
        char names[SK_RUNTIME_LIST];
        if (sk_runtime_normalise(runtime, NULL, &meant) == SK_RUNTIME_NO_MATCH)
            return sk_fail(err, SK_ERR_ARG, "no compute runtime is called '%s'; there are: %s, and reference",
                           runtime, sk_runtime_list(names, sizeof names));
        engine = sk_engine_find(sk_runtime_name(meant));
        if (!engine) {
            sk_probe_row row = {.runtime = meant};
            sk_probe_absent(meant, &row);
            return sk_fail(err, SK_ERR_UNSUPPORTED, "the compute runtime '%s' cannot be used here: %s%s%s",
                           sk_runtime_name(meant), row.reason, row.remedy[0] ? "\n" : "", row.remedy);
        }
    }
    sk_engine_probe probe = {0};
    SK_TRY(engine->probe(&probe, err));
    if (!probe.available)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "the compute runtime '%s' cannot be used here: %s", runtime,
                       probe.detail);
    *out = engine;
    return SK_OK;
}

sk_status sk_net_check_size(const sk_model *model, int64_t batch, int64_t height, int64_t width,
                            sk_error *err)
{
    const sk_input_spec *in = &model->input;
    if (in->fixed_size && (height != in->height || width != in->width))
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: takes pictures of %d x %d (height x width) only, not %lld x %lld: it was exported with a "
            "fixed size. Export it again with a dynamic size or resize the input",
            model->path, in->height, in->width, (long long)height, (long long)width);
    if (in->fixed_batch > 0 && batch != in->fixed_batch)
        return sk_fail(err, SK_ERR_MISMATCH, "%s: takes batches of exactly %d, not %lld", model->path,
                       in->fixed_batch, (long long)batch);
    int64_t stride = in->stride > 0 ? in->stride : 1;
    if (!in->fixed_size && (height % stride || width % stride))
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: the input's height and width must be multiples of %lld, not %lld x %lld; the next is "
            "%lld x %lld",
            model->path, (long long)stride, (long long)height, (long long)width,
            (long long)((height + stride - 1) / stride * stride),
            (long long)((width + stride - 1) / stride * stride));
    return SK_OK;
}

sk_rect sk_net_rect(sk_rect wish, const sk_model *model, const sk_engine *engine)
{
    if (wish == SK_RECT_OFF || model->input.fixed_size)
        return SK_RECT_OFF;
    /* an ONNX file of any size is run as it is */
    bool free =
        engine->can.free_shapes || (model->format == SK_FORMAT_ONNX && engine->form && !engine->form->build);
    return wish == SK_RECT_ON || free ? SK_RECT_ON : SK_RECT_OFF;
}

void sk_net_pixel_values(const sk_model *model, sk_session_settings *settings)
{
    settings->scale = model->input.scale;
    for (int c = 0; c < 3; c++) {
        settings->mean[c] = model->input.mean[c];
        settings->std[c] = model->input.std[c] != 0 ? model->input.std[c] : 1;
    }
}

/* Engines that build eight bits of their own making take a network in f32 for it. */
static bool builds_bytes(const sk_engine *engine)
{
    return engine->form && engine->form->build;
}

sk_precision sk_net_precision(sk_precision wish, const sk_model *model, const sk_engine *engine)
{
    /* fp8 is never left for something else by itself: where the engine has none, sk_net_check_precision says so */
    if (wish == SK_PRECISION_AUTO && sk_graph_is_f8(model->graph) && !engine->can.for_checking)
        return SK_PRECISION_FP8;
    const bool bytes = (engine->can.precisions & (1u << SK_PRECISION_I8)) != 0 && !builds_bytes(engine);
    return wish == SK_PRECISION_AUTO && bytes && sk_graph_computes_bytes(model->graph) ? SK_PRECISION_I8
                                                                                       : wish;
}

/* What 'skitter quantize' takes to make another one: the model, or what it was made from. */
static const char *made_from(const sk_model *model)
{
    if (!sk_graph_is_quantised(model->graph))
        return model->path;
    return model->quantised && model->quantised->source[0] ? model->quantised->source : "MODEL";
}

sk_status sk_net_check_precision(sk_precision precision, const sk_model *model, const sk_engine *engine,
                                 sk_error *err)
{
    const bool f8 = sk_graph_is_f8(model->graph);
    if (precision == SK_PRECISION_FP8 && !f8)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: is not in fp8\nmake %s, by frames like those it will see: "
                       "skitter quantize %s --data VIDEO --precision fp8 -o MODEL.skq",
                       model->path,
                       sk_graph_is_quantised(model->graph) ? "one that is of the model it came from"
                                                           : "a model that is",
                       made_from(model));
    if (precision == SK_PRECISION_FP8 && !(engine->can.precisions & 1u << SK_PRECISION_FP8))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: is in fp8, which the runtime %s does not compute in\n--runtime cuda on an NVIDIA "
                       "GPU of compute capability 8.9 or newer does; --precision f32 computes it here with "
                       "its rounded weights",
                       model->path, engine->name);
    if (precision == SK_PRECISION_I8 && f8)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: is in fp8, not in i8\n--precision fp8 where a GPU computes it, or make one in i8 "
                       "of the model it came from: skitter quantize %s --data VIDEO -o MODEL.skq",
                       model->path, made_from(model));
    if (precision == SK_PRECISION_I8 && !builds_bytes(engine) && !sk_graph_is_quantised(model->graph))
        return sk_fail(
            err, SK_ERR_ARG,
            "%s: is not in eight bits (i8)\nmake a model that is, by frames like those it will see: "
            "skitter quantize %s --data VIDEO -o MODEL.skq",
            model->path, model->path);
    return SK_OK;
}

/* A model whose weights were given back, and a size nobody expected: they are read once more. */
static sk_status read_again(const sk_model *model, sk_model **out, sk_error *err)
{
    SK_TRY(sk_model_open_heads(model->path, model->wanted_heads, out, err));
    if (strcmp((*out)->content_hash, model->content_hash) == 0)
        return SK_OK;
    sk_model_close(out);
    return sk_fail(err, SK_ERR_MISMATCH,
                   "%s: was changed since this run began, and frames of another size need its weights again; "
                   "begin anew",
                   model->path);
}

static sk_status open_again(const sk_model *model, const sk_engine *engine, int64_t batch, int64_t height,
                            int64_t width, const sk_session_settings *settings, sk_session **out,
                            sk_error *err)
{
    sk_model *again = NULL;
    SK_TRY(read_again(model, &again, err));
    sk_status status = sk_net_open(again, engine, batch, height, width, settings, out, err);
    sk_model_close(&again);
    return status;
}

sk_status sk_net_open_unrounded(const sk_model *model, int64_t batch, int64_t height, int64_t width,
                                const sk_session_settings *settings, sk_session **out, sk_error *err)
{
    sk_model *again = NULL;
    sk_graph *graph = NULL;
    sk_status status;
    *out = NULL;
    if (model->forgotten)
        SK_TRY(read_again(model, &again, err));
    sk_model plain = again ? *again : *model; /* borrows everything but its graph */
    SK_TRY_GOTO(sk_graph_clone(plain.graph, &graph, err));
    SK_TRY_GOTO(sk_graph_dequantise(graph, err));
    plain.graph = graph;
    status = sk_net_open(&plain, &sk_engine_reference, batch, height, width, settings, out, err);
done:
    sk_graph_close(&graph);
    sk_model_close(&again);
    return status;
}

sk_status sk_net_open(const sk_model *model, const sk_engine *engine, int64_t batch, int64_t height,
                      int64_t width, const sk_session_settings *settings, sk_session **out, sk_error *err)
{
    *out = NULL;
    if (model->forgotten)
        return open_again(model, engine, batch, height, width, settings, out, err);
    if (!model->graph || model->truncated)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off and cannot be run; fetch it again",
                       model->path);
    SK_TRY(sk_net_check_size(model, batch, height, width, err));
    sk_session_settings s = settings ? *settings : sk_session_defaults();
    s.precision = sk_net_precision(s.precision, model, engine);
    SK_TRY(sk_net_check_precision(s.precision, model, engine, err));
    sk_net_pixel_values(model, &s);
    s.model_key = model->content_hash;
    for (int32_t i = 0; i < model->n_outputs; i++)
        s.fine_outputs |= model->outputs[i].kind == SK_OUTPUT_CONFMAPS;
    sk_shape shape = sk_shape_of(4, batch, (int64_t)model->input.channels, height, width);
    sk_model_artifact *artifact = NULL;
    SK_TRY(sk_model_artifact_open(model, engine, batch, height, width, &s, NULL, &artifact, err));
    s.artifact = artifact ? &artifact->ends : NULL;
    sk_status status = sk_session_open(engine, model->graph, &shape, 1, &s, out, err);
    sk_model_artifact_close(&artifact);
    if (status == SK_OK) {
        const sk_session_info *info = sk_session_about(*out);
        sk_log(SK_LOG_INFO, "%s: %s, %s, %lldx%lldx%lld%s%s%s%s", model->path, engine->name,
               sk_precision_name((*out)->settings.precision), (long long)batch, (long long)height,
               (long long)width, info->detail[0] ? ", " : "", info->detail, info->artifact[0] ? ", " : "",
               info->artifact);
        if (info->elsewhere[0] && engine->form)
            sk_log(SK_LOG_WARN, "%s on %s: %s", model->path, engine->name, info->elsewhere);
    }
    if (status != SK_OK)
        sk_error_prefix(err, "%s on %s", model->path, engine->name);
    return status;
}
