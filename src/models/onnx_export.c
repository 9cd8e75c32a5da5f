/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_export.h"

#include "base/file.h"
#include "graph/quantise_plan.h"
#include "models/onnx_exporter.h"
#include "skitter/version.h"

#include <stdio.h>
#include <string.h>

/* IR 8 goes with opset 15 to 18 and is read by runtimes of 2021 and later; 9 with opset 19, which fp8 needs. */
#define IR_VERSION    8
#define IR_VERSION_F8 9

sk_onnx_settings sk_onnx_defaults(void)
{
    return (sk_onnx_settings){.size = sizeof(sk_onnx_settings), .opset = 17, .with_tail = 1, .optimise = 1};
}

typedef struct export_job {
    const sk_model *model;
    sk_onnx_settings settings;
    sk_model written; /* the model as the file will have it; borrows everything */
    sk_graph *graph;  /* what is written */
    sk_onnx_model *onnx;
    sk_error *err;
} export_job;

static sk_status check_settings(const sk_model *model, const sk_onnx_settings *s, sk_error *err)
{
    if (s->opset < SK_ONNX_OPSET_MIN || s->opset > SK_ONNX_OPSET_MAX)
        return sk_fail(err, SK_ERR_ARG, "ONNX export: opset %d; %d to %d can be written", s->opset,
                       SK_ONNX_OPSET_MIN, SK_ONNX_OPSET_MAX);
    if (!model->graph || model->truncated)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: only part of the model could be read, so it cannot be exported",
                       model->path ? model->path : "the model");
    if (model->graph->n_inputs != 1)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "ONNX export: the model has %d inputs where one is expected",
                       model->graph->n_inputs);
    if (model->input.fixed_size && (s->dynamic_size || (s->height && s->height != model->input.height) ||
                                    (s->width && s->width != model->input.width)))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: this file allows only %dx%d; export from the original checkpoint "
                       "for other sizes",
                       model->path, model->input.width, model->input.height);
    if (model->input.fixed_batch && (s->dynamic_batch || (s->batch && s->batch != model->input.fixed_batch)))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: this file allows only batches of %d; export from the original "
                       "checkpoint for others",
                       model->path, model->input.fixed_batch);
    return SK_OK;
}

static void fix_input(export_job *job)
{
    sk_input_spec *in = &job->written.input;
    sk_onnx_settings *s = &job->settings;
    int32_t batch = s->batch ? s->batch : in->fixed_batch ? in->fixed_batch : 1;
    int32_t default_side = job->model->sleap.crop_size[0] > 0 ? job->model->sleap.crop_size[0] : 640;
    in->height = s->height ? s->height : in->height ? in->height : default_side;
    in->width = s->width ? s->width : in->width ? in->width : in->height;
    in->fixed_size = !s->dynamic_size;
    in->fixed_batch = s->dynamic_batch ? 0 : batch;
    s->batch = batch;
    s->height = in->height;
    s->width = in->width;
}

static sk_shape input_shape(const export_job *job, int32_t batch, int32_t more)
{
    return sk_shape_of(4, batch, job->written.input.channels, job->settings.height + more,
                       job->settings.width + more);
}

/* The graph to be written: a copy, without the tail if so wished, with batch norms folded, sizes fixed if
 * static. */
static sk_status prepare_graph(export_job *job)
{
    sk_graph *copy = NULL, *fixed = NULL;
    sk_status status = sk_graph_clone(job->model->graph, &copy, job->err);
    if (status == SK_OK && !job->settings.with_tail)
        status = sk_graph_cut_tail(copy, job->err);
    if (status == SK_OK && job->settings.optimise)
        status = sk_graph_fold_batch_norm(copy, job->err);
    if (status == SK_OK && !job->settings.dynamic_batch && !job->settings.dynamic_size) {
        sk_shape shape = input_shape(job, job->settings.batch, 0);
        status = sk_graph_specialise(copy, &shape, 1, &fixed, job->err);
        sk_graph_close(&copy);
        copy = fixed;
    }
    if (status == SK_OK)
        status = sk_graph_remove_dead(copy, job->err);
    if (status == SK_OK && job->settings.eight_bits == SK_ONNX_EIGHT_BITS_NONE)
        status = sk_graph_dequantise(copy, job->err);
    if (status == SK_OK && sk_graph_is_f8(copy))
        job->settings.opset = SK_ONNX_OPSET_F8;
    if (status != SK_OK)
        sk_graph_close(&copy);
    job->graph = copy;
    return status;
}

/* --- names and shapes of the ends --- */

static const char *const head_names[] = {"", "box", "class", "keypoints", "angle", "mask", "proto"};

static sk_status name_outputs(export_job *job)
{
    sk_model *w = &job->written;
    int32_t n = job->graph->n_outputs;
    if (job->settings.with_tail && w->n_outputs == n)
        return SK_OK;
    /* Heads, or a graph with outputs nobody described. */
    for (int32_t i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "output%d", i);
        if (!job->settings.with_tail && w->yolo.n_heads == n)
            snprintf(text, sizeof text, "%s%d", head_names[w->yolo.heads[i].kind], w->yolo.heads[i].level);
        const char *name = sk_arena_strdup(job->onnx->arena, text);
        if (!name)
            return sk_fail_memory(job->err, sizeof text);
        w->outputs[i] = (sk_output_spec){.kind = SK_OUTPUT_OTHER, .name = name};
    }
    w->n_outputs = n;
    return SK_OK;
}

/* Shapes of the outputs for one input shape. */
static sk_status output_shapes(export_job *job, const sk_shape *input, sk_shape *shapes)
{
    sk_graph *fixed = NULL;
    SK_TRY(sk_graph_specialise(job->graph, input, 1, &fixed, job->err));
    for (int32_t i = 0; i < fixed->n_outputs; i++)
        shapes[i] = fixed->values[fixed->outputs[i]].shape;
    sk_graph_close(&fixed);
    return SK_OK;
}

/* Dimensions that differ between two sizes are free; the rest is written down. */
static sk_status free_dimensions(export_job *job, sk_onnx_value *outputs)
{
    sk_shape a[32], b[32];
    const sk_onnx_settings *s = &job->settings;
    int32_t stride = job->written.input.stride > 0 ? job->written.input.stride : 32;
    sk_shape small = input_shape(job, s->batch, 0);
    sk_shape large =
        input_shape(job, s->dynamic_batch ? s->batch + 1 : s->batch, s->dynamic_size ? stride : 0);
    SK_TRY(output_shapes(job, &small, a));
    SK_TRY(output_shapes(job, &large, b));
    for (int32_t i = 0; i < job->graph->n_outputs; i++) {
        outputs[i].shape = a[i];
        for (int32_t d = 0; d < a[i].rank; d++) {
            static const char *const maps[] = {"batch", "channels", "map_height", "map_width"};
            if (a[i].dim[d] == b[i].dim[d] && a[i].rank == b[i].rank)
                continue;
            outputs[i].shape.dim[d] = -1;
            outputs[i].param[d] = d == 0 ? "batch" : a[i].rank == 4 ? maps[d] : "anchors";
        }
        if (a[i].rank == 4 && job->graph->n_outputs > 1) /* maps of several sizes must not share a name */
            outputs[i].param[2] = outputs[i].param[3] = "";
    }
    return SK_OK;
}

static sk_status describe_ends(export_job *job)
{
    const sk_graph *graph = job->graph;
    const sk_onnx_settings *s = &job->settings;
    bool half = s->half && s->half_io;
    sk_onnx_value *input = sk_arena_alloc(job->onnx->arena, sizeof *input);
    sk_onnx_value *outputs = sk_arena_alloc(job->onnx->arena, 32 * sizeof *outputs);
    sk_dtype *types = sk_calloc(graph->n_values + 1, sizeof *types);
    if (!input || !outputs || !types) {
        sk_free(types);
        return sk_fail_memory(job->err, graph->n_values * sizeof *types);
    }
    sk_onnx_types(graph, types);
    *input =
        (sk_onnx_value){.name = "images", .shape = input_shape(job, s->batch, 0), .param = {"", "", "", ""}};
    input->dtype = sk_onnx_written_type(types[graph->inputs[0]], half);
    if (s->dynamic_batch)
        input->shape.dim[0] = -1, input->param[0] = "batch";
    if (s->dynamic_size) {
        input->shape.dim[2] = input->shape.dim[3] = -1;
        input->param[2] = "height";
        input->param[3] = "width";
    }
    for (int32_t i = 0; i < graph->n_outputs; i++) {
        outputs[i].name = job->written.outputs[i].name;
        outputs[i].dtype = sk_onnx_written_type(types[graph->outputs[i]], half);
        outputs[i].shape = graph->values[graph->outputs[i]].shape;
        for (int d = 0; d < SK_MAX_RANK; d++)
            outputs[i].param[d] = "";
    }
    sk_free(types);
    job->onnx->graph.inputs = input;
    job->onnx->graph.n_inputs = 1;
    job->onnx->graph.outputs = outputs;
    job->onnx->graph.n_outputs = graph->n_outputs;
    return s->dynamic_batch || s->dynamic_size ? free_dimensions(job, outputs) : SK_OK;
}

/* After all that looks at shapes: biases as i32 would be folded again. */
static sk_status suit_runtimes(export_job *job)
{
    const sk_quantised *q = job->model->quantised;
    if (job->settings.eight_bits != SK_ONNX_EIGHT_BITS_RUNTIMES)
        return SK_OK;
    return sk_quantise_for_runtimes(job->graph, q ? q->reach : NULL, q ? q->n_reach : 0, job->err);
}

static sk_status write_graph(export_job *job)
{
    const sk_onnx_graph *g = &job->onnx->graph;
    const char *outputs[32];
    if (job->settings.half && !job->settings.half_io && g->inputs[0].dtype == SK_DTYPE_F32)
        return sk_onnx_from_graph_half(job->graph, job->settings.opset, job->onnx, job->err);
    for (int32_t i = 0; i < g->n_outputs; i++)
        outputs[i] = g->outputs[i].name;
    return sk_onnx_from_graph(job->graph, job->settings.opset, job->settings.half != 0, &g->inputs[0].name,
                              outputs, job->onnx, job->err);
}

static sk_status fill_header(export_job *job)
{
    sk_onnx_opset *opset = sk_arena_alloc(job->onnx->arena, sizeof *opset);
    if (!opset)
        return sk_fail_memory(job->err, sizeof *opset);
    *opset = (sk_onnx_opset){"", job->settings.opset};
    job->onnx->opsets = opset;
    job->onnx->n_opsets = 1;
    job->onnx->ir_version = job->settings.opset >= SK_ONNX_OPSET_F8 ? IR_VERSION_F8 : IR_VERSION;
    job->onnx->producer = "skitter";
    job->onnx->producer_version = sk_version_text();
    job->onnx->graph.name = "main";
    return SK_OK;
}

sk_status sk_model_to_onnx(const sk_model *model, const sk_onnx_settings *settings, sk_onnx_model **out,
                           sk_error *err)
{
    SK_CHECK_ARG(model && settings && out, err);
    SK_CHECK_ARG(settings->size == sizeof *settings, err);
    export_job job = {.model = model, .settings = *settings, .written = *model, .err = err};
    sk_status status = SK_OK;
    *out = NULL;
    SK_TRY(check_settings(model, settings, err));
    fix_input(&job);
    SK_TRY_GOTO(sk_onnx_create(&job.onnx, err));
    SK_TRY_GOTO(prepare_graph(&job));
    SK_TRY_GOTO(name_outputs(&job));
    SK_TRY_GOTO(fill_header(&job));
    SK_TRY_GOTO(describe_ends(&job));
    SK_TRY_GOTO(suit_runtimes(&job));
    SK_TRY_GOTO(write_graph(&job));
    SK_TRY_GOTO(sk_onnx_add_metadata(&job.written, &job.settings, job.onnx, err));
    *out = job.onnx;
    job.onnx = NULL;
done:
    sk_onnx_close(&job.onnx);
    sk_graph_close(&job.graph);
    return status;
}

sk_status sk_model_export_onnx(const sk_model *model, const sk_onnx_settings *settings, const char *path,
                               sk_error *err)
{
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    SK_CHECK_ARG(path != NULL, err);
    SK_TRY(sk_model_to_onnx(model, settings, &onnx, err));
    sk_status status = sk_onnx_write(onnx, &bytes, &length, err);
    sk_onnx_close(&onnx);
    if (status == SK_OK)
        status = sk_file_replace(path, bytes, length, err);
    sk_free(bytes);
    return status;
}
