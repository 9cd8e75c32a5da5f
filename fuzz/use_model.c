/* SPDX-License-Identifier: Apache-2.0 */
#include "use_model.h"

#include "fuzz.h"
#include "graph/reference.h"
#include "models/model_check.h"
#include "models/model_json.h"
#include "models/onnx_export.h"
#include "models/onnx_meta.h"
#include "tasks/stage.h"

#include <string.h>

#define MOST_FLOPS 2e7
#define MOST_BYTES 2e7
#define SIDE       64

static void look_up_names(const sk_model *model)
{
    size_t length = 0;
    for (int32_t i = 0; i < model->n_classes; i++)
        length += strlen(sk_model_class_name(model, i));
    for (int32_t i = 0; i < model->n_keypoints; i++)
        length += strlen(sk_model_keypoint_name(model, i));
    for (int32_t i = 0; i < model->n_outputs; i++)
        length += strlen(model->outputs[i].name);
    SK_FUZZ_CHECK(length < (size_t)1 << 32);
    char *json = NULL;
    if (sk_model_to_json(model, &json, NULL) == SK_OK)
        SK_FUZZ_CHECK(json[0] == '{');
    sk_free(json);
}

static bool small(const sk_graph *graph)
{
    return sk_graph_flops(graph) < MOST_FLOPS && sk_graph_peak_bytes(graph) < MOST_BYTES &&
           graph->n_nodes < 2000;
}

/* From the outputs of the network to instances. */
static void decode(sk_task_stage *stage, const sk_graph *graph, const sk_tensor *outputs,
                   sk_outputs_form form)
{
    const sk_task_plan *plan = sk_task_stage_plan(stage);
    sk_instances found;
    if (plan->capacity > 100000 ||
        sk_instances_alloc(plan->capacity, plan->n_keypoints, &found, NULL) != SK_OK)
        return;
    (void)!sk_task_stage_result(stage, outputs, graph->n_outputs, 0, form, &found, NULL);
    SK_FUZZ_CHECK(found.count >= 0 && found.count <= found.capacity);
    sk_instances_free(&found);
}

static void run(const sk_model *model, sk_task_stage *stage, sk_outputs_form form)
{
    const sk_task_plan *plan = sk_task_stage_plan(stage);
    sk_graph *fixed = NULL;
    sk_tensor outputs[32] = {{0}};
    uint8_t pixels[SIDE * SIDE * 3] = {0};
    sk_frame frame = {
        .data = pixels, .width = SIDE, .height = SIDE, .stride = SIDE * 3, .format = SK_PIXEL_RGB};
    sk_shape shape = sk_shape_of(4, 1, plan->channels, plan->height, plan->width);
    int64_t count = sk_shape_count(&shape);
    if (count < 1 || count > 1 << 20 || sk_graph_specialise(model->graph, &shape, 1, &fixed, NULL) != SK_OK)
        return;
    float *values = sk_calloc((size_t)count, sizeof *values);
    bool ready = values && (form == SK_OUTPUTS_WHOLE || sk_graph_cut_tail(fixed, NULL) == SK_OK) &&
                 fixed->n_outputs <= 32 && fixed->values[fixed->inputs[0]].dtype == SK_DTYPE_F32 &&
                 small(fixed) && sk_task_stage_input(stage, &frame, SK_TASK_INPUT_F32, values, NULL) == SK_OK;
    sk_tensor input = {SK_DTYPE_F32, shape, values};
    if (ready && sk_reference_run(fixed, &input, 1, outputs, fixed->n_outputs, NULL) == SK_OK) {
        decode(stage, fixed, outputs, form);
        for (int32_t i = 0; i < fixed->n_outputs; i++)
            sk_free(outputs[i].data);
    }
    sk_free(values);
    sk_graph_close(&fixed);
}

static void export(const sk_model *model)
{
    sk_onnx_settings settings = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_model *again = NULL;
    settings.height = settings.width = model->input.fixed_size ? 0 : SIDE;
    if (sk_model_to_onnx(model, &settings, &onnx, NULL) == SK_OK &&
        sk_onnx_write(onnx, &bytes, &length, NULL) == SK_OK && sk_model_create(&again, NULL) == SK_OK)
        (void)!sk_onnx_read_model(bytes, length, "again", NULL, again, NULL);
    sk_model_close(&again);
    sk_onnx_close(&onnx);
    sk_free(bytes);
}

void sk_fuzz_use_model(sk_model *model)
{
    sk_task_stage *stage = NULL;
    sk_task_settings settings = sk_task_settings_defaults();
    if (sk_model_check(model, NULL) != SK_OK)
        return;
    look_up_names(model);
    if (!model->graph || model->truncated || model->graph->n_inputs != 1)
        return;
    if (!model->input.fixed_size)
        settings.net_height = settings.net_width = SIDE;
    settings.yolo.max_det = 20;
    if ((model->input.height <= 256 && model->input.width <= 256) || !model->input.fixed_size) {
        if (sk_task_stage_open(model, &settings, SIDE, SIDE, &stage, NULL) == SK_OK) {
            run(model, stage, SK_OUTPUTS_WHOLE);
            run(model, stage, SK_OUTPUTS_HEADS);
        }
        sk_task_stage_close(&stage);
        export(model);
    }
}
