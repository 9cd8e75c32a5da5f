/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/builder.h"
#include "models/onnx_meta.h"

#include <stdio.h>
#include <string.h>

/* Files that do not say what they are for. */

/* The original YOLOv5's rows, [B][A][5 + classes]: three anchors a cell on strides 8, 16, 32 (and 64). */
static bool is_yolov5(const sk_onnx_reading *r)
{
    const sk_input_spec *in = &r->model->input;
    const sk_shape *s = &r->shapes[0];
    int64_t cells = 0;
    for (int32_t stride = 8; stride <= 64; stride *= 2) {
        cells += (int64_t)(in->height / stride) * (in->width / stride);
        if (stride >= 32 && s->rank == 3 && s->dim[1] == 3 * cells && s->dim[2] >= 6 && s->dim[2] < 100000)
            return true;
    }
    return false;
}

/* Such rows become what later models give: [B][4 + classes][A], scores times objectness. */
static sk_status convert_yolov5(sk_onnx_reading *r)
{
    sk_graph *graph = r->model->graph;
    sk_builder b;
    sk_value parts[3];
    int64_t classes = r->shapes[0].dim[2] - 5;
    sk_builder_init(&b, graph);
    sk_value columns = sk_b_transpose(&b, graph->outputs[0], (int[]){0, 2, 1}, 3);
    sk_b_split(&b, columns, 1, (int64_t[]){4, 1, classes}, 3, parts);
    sk_value scores = sk_b_mul(&b, parts[2], parts[1]);
    graph->n_outputs = 0; /* the raw maps that old exports add are not needed */
    sk_b_output(&b, sk_b_concat(&b, (sk_value[]){parts[0], scores}, 2, 1), "output0");
    if (b.status != SK_OK) {
        if (r->err)
            *r->err = b.error;
        return b.status;
    }
    r->model->n_outputs = 1;
    r->model->outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_YOLO, .name = "output0"};
    r->model->architecture = "yolov5 (original)";
    return SK_OK;
}

/* Names where the file has them and their number fits; numbers otherwise. */
static sk_status fill_classes(sk_onnx_reading *r, int64_t count)
{
    if (sk_onnx_metadata(r->onnx, "names")) {
        SK_TRY(sk_onnx_read_classes(r));
        if (r->model->n_classes == count)
            return SK_OK;
    }
    return sk_onnx_unnamed_classes(r, (int32_t)count);
}

static sk_status guess_boxes(sk_onnx_reading *r)
{
    sk_model *model = r->model;
    const sk_shape *s = &r->shapes[0];
    bool yolov5 = is_yolov5(r);
    if (yolov5) {
        SK_TRY(fill_classes(r, s->dim[2] - 5));
        SK_TRY(convert_yolov5(r));
    } else if (s->dim[1] >= 5 && s->dim[1] < 100000 && s->dim[2] > s->dim[1]) {
        SK_TRY(fill_classes(r, s->dim[1] - 4));
        model->outputs[0].kind = SK_OUTPUT_YOLO;
    } else if (s->dim[2] == 6 && s->dim[1] <= 1000) {
        SK_TRY(fill_classes(r, 80)); /* rows do not tell how many there are */
        model->outputs[0].kind = SK_OUTPUT_YOLO_END2END;
        model->yolo.end2end = 1;
        model->yolo.max_det = (int32_t)s->dim[1];
    } else {
        return SK_OK;
    }
    sk_model_set_task(model, SK_TASK_DETECT);
    model->input.stride = 32;
    sk_onnx_read_levels(r, yolov5 ? s->dim[1] / 3 : s->dim[2]);
    /* three anchors a cell: the decoder's room is counted in anchors */
    if (yolov5)
        model->yolo.max_det = (int32_t)s->dim[1];
    return SK_OK;
}

sk_status sk_onnx_guess(sk_onnx_reading *r)
{
    char shape[SK_SHAPE_TEXT], text[256];
    sk_model *model = r->model;
    sk_error ignored, *err = r->err;
    r->err = &ignored;
    bool known = sk_onnx_learn_shapes(r) == SK_OK && r->shapes_known && model->input.dtype == SK_DTYPE_F32 &&
                 model->n_outputs >= 1 && sk_shape_known(&r->shapes[0]);
    r->err = err;
    if (known && r->shapes[0].rank == 3) {
        SK_TRY(guess_boxes(r));
    } else if (known && r->shapes[0].rank == 2 && r->shapes[0].dim[1] >= 2 && r->shapes[0].dim[1] < 100000) {
        SK_TRY(fill_classes(r, r->shapes[0].dim[1]));
        sk_model_set_task(model, SK_TASK_CLASSIFY);
        model->outputs[0].kind = SK_OUTPUT_CLASS_SCORES;
    }
    model->yolo.n_classes = model->n_classes;
    if (model->task == SK_TASK_UNKNOWN) {
        sk_model_add_fact(model, "guess",
                          "the file says nothing about its task, and its outputs fit none known");
        return SK_OK;
    }
    snprintf(text, sizeof text,
             "the file says nothing about its task; taken for %s from the output's shape %s",
             sk_task_name(model->task), sk_shape_text(&r->shapes[0], shape, sizeof shape));
    sk_model_add_fact(model, "guess", text);
    return SK_OK;
}
