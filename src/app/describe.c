/* SPDX-License-Identifier: Apache-2.0 */
#include "app/describe.h"

#include "formats/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything is gathered once into a JSON tree; the text form is printed from the same tree, so the two never say
 * different things. */

const char *sk_model_format_name(sk_model_format format)
{
    switch (format) {
    case SK_FORMAT_ULTRALYTICS: return "Ultralytics checkpoint";
    case SK_FORMAT_SLEAP_KERAS: return "SLEAP model folder (Keras, SLEAP <= 1.4)";
    case SK_FORMAT_SLEAP_NN: return "sleap-nn model folder";
    case SK_FORMAT_ONNX: return "ONNX file";
    case SK_FORMAT_SKQ: return "skitter model in eight bits";
    }
    return "unknown";
}

const char *sk_output_kind_name(sk_output_kind kind)
{
    switch (kind) {
    case SK_OUTPUT_YOLO: return "yolo";
    case SK_OUTPUT_YOLO_END2END: return "yolo_end2end";
    case SK_OUTPUT_YOLO_PROTO: return "yolo_proto";
    case SK_OUTPUT_CLASS_SCORES: return "class_scores";
    case SK_OUTPUT_CONFMAPS: return "confmaps";
    case SK_OUTPUT_PAFS: return "pafs";
    case SK_OUTPUT_OFFSETS: return "offsets";
    case SK_OUTPUT_CLASS_MAPS: return "class_maps";
    case SK_OUTPUT_CLASS_VECTORS: return "class_vectors";
    case SK_OUTPUT_OTHER: return "other";
    }
    return "other";
}

static json_t *names_array(const char *const *names, int32_t count)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < count; i++)
        json_array_append_new(array, sk_json_text(names && names[i] ? names[i] : ""));
    return array;
}

static json_t *edges_array(const int32_t (*edges)[2], int32_t count)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("[i,i]", edges[i][0], edges[i][1]));
    return array;
}

static json_t *shape_array(const sk_shape *shape)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < shape->rank; i++)
        json_array_append_new(array, json_integer(shape->dim[i]));
    return array;
}

static json_t *input_object(const sk_input_spec *in)
{
    json_t *object = json_object();
    json_object_set_new(object, "channels", json_integer(in->channels));
    json_object_set_new(object, "height", json_integer(in->height));
    json_object_set_new(object, "width", json_integer(in->width));
    json_object_set_new(object, "stride", json_integer(in->stride));
    json_object_set_new(object, "fixed_size", json_boolean(in->fixed_size));
    if (in->fixed_batch)
        json_object_set_new(object, "fixed_batch", json_integer(in->fixed_batch));
    json_object_set_new(object, "color", json_string(in->channels == 1 ? "gray" : in->rgb ? "rgb" : "bgr"));
    return object;
}

/* The graph at one size: outputs' shapes and the arithmetic. */
static sk_status at_size(const sk_model *model, int32_t height, int32_t width, sk_graph **out, sk_error *err)
{
    int64_t batch = model->input.fixed_batch > 0 ? model->input.fixed_batch : 1;
    sk_shape shape = sk_shape_of(4, batch, (int64_t)model->input.channels, (int64_t)height, (int64_t)width);
    return sk_graph_specialise(model->graph, &shape, 1, out, err);
}

static int32_t round_up(int32_t value, int32_t multiple)
{
    return multiple > 0 ? (value + multiple - 1) / multiple * multiple : value;
}

/* GFLOPs at the model's own size and, where the file allows others, at the usual ones. */
static sk_status add_sizes(const sk_model *model, const sk_describe_settings *settings, json_t *root,
                           sk_error *err)
{
    const sk_input_spec *in = &model->input;
    int32_t own[2] = {settings->height ? settings->height : in->height,
                      settings->width ? settings->width : in->width};
    int32_t sizes[4][2] = {{own[0], own[1]}};
    int n = 1;
    static const int32_t usual[] = {320, 640, 1024};
    const bool any = !in->fixed_size && (model->family == SK_FAMILY_YOLO || model->family == SK_FAMILY_NONE);
    for (int i = 0; i < 3 && any; i++) {
        int32_t side = round_up(usual[i], in->stride);
        if (side != own[0] || side != own[1])
            sizes[n][0] = sizes[n][1] = side, n++;
    }
    json_t *list = json_array();
    json_object_set_new(root, "sizes", list);
    for (int i = 0; i < n; i++) {
        sk_graph *graph = NULL;
        SK_TRY(at_size(model, round_up(sizes[i][0], in->stride), round_up(sizes[i][1], in->stride), &graph,
                       err));
        json_t *row = json_object();
        json_object_set_new(row, "height", json_integer(graph->values[graph->inputs[0]].shape.dim[2]));
        json_object_set_new(row, "width", json_integer(graph->values[graph->inputs[0]].shape.dim[3]));
        json_object_set_new(row, "gflops", json_real(sk_graph_flops(graph) * 1e-9));
        json_array_append_new(list, row);
        if (i == 0) {
            json_object_set_new(root, "operations", json_integer((json_int_t)graph->n_nodes));
            json_t *outputs = json_array();
            for (int32_t k = 0; k < graph->n_outputs; k++) {
                json_t *output = json_object();
                bool known = k < model->n_outputs;
                const char *name = known ? model->outputs[k].name : graph->values[graph->outputs[k]].name;
                json_object_set_new(output, "name", sk_json_text(name ? name : ""));
                json_object_set_new(
                    output, "kind",
                    json_string(known ? sk_output_kind_name(model->outputs[k].kind) : "other"));
                json_object_set_new(output, "shape", shape_array(&graph->values[graph->outputs[k]].shape));
                if (known && model->outputs[k].stride > 0)
                    json_object_set_new(output, "stride", json_real((double)model->outputs[k].stride));
                json_array_append_new(outputs, output);
            }
            json_object_set_new(root, "outputs", outputs);
            if (settings->layers) {
                char *text = NULL;
                sk_status status = sk_graph_print(graph, &text, err);
                if (status != SK_OK) {
                    sk_graph_close(&graph);
                    return status;
                }
                json_t *lines = json_array();
                for (char *line = text, *rest = NULL; (line = strtok_r(line, "\n", &rest)); line = NULL)
                    json_array_append_new(lines, sk_json_text(line));
                json_object_set_new(root, "layers", lines);
                sk_free(text);
            }
        }
        sk_graph_close(&graph);
    }
    return SK_OK;
}

static json_t *sleap_object(const sk_model *model)
{
    const sk_sleap_spec *s = &model->sleap;
    json_t *object = json_object();
    json_object_set_new(object, "input_scale", json_real((double)s->input_scale));
    if (s->crop_size[0])
        json_object_set_new(object, "crop_size", json_pack("[i,i]", s->crop_size[0], s->crop_size[1]));
    if (s->target_size[0])
        json_object_set_new(object, "target_size", json_pack("[i,i]", s->target_size[0], s->target_size[1]));
    if (s->anchor_part)
        json_object_set_new(object, "anchor_part", sk_json_text(s->anchor_part));
    return object;
}

static sk_status gather(const sk_model *model, const sk_describe_settings *settings, json_t *root,
                        sk_error *err)
{
    json_object_set_new(root, "path", sk_json_text(model->path));
    json_object_set_new(root, "format", json_string(sk_model_format_name(model->format)));
    json_object_set_new(root, "family", sk_json_text(model->architecture ? model->architecture : ""));
    json_object_set_new(root, "task", json_string(sk_task_name(model->task)));
    json_object_set_new(root, "complete", json_boolean(!model->truncated));
    json_object_set_new(root, "classes", names_array(model->class_names, model->n_classes));
    if (model->n_keypoints) {
        json_object_set_new(root, "n_keypoints", json_integer(model->n_keypoints));
        json_object_set_new(
            root, "keypoints",
            names_array(model->keypoint_names, model->keypoint_names ? model->n_keypoints : 0));
        json_object_set_new(root, "skeleton", edges_array(model->edges, model->n_edges));
    }
    if (model->family == SK_FAMILY_YOLO && model->yolo.keypoint_dims)
        json_object_set_new(root, "keypoint_dims", json_integer(model->yolo.keypoint_dims));
    if (model->family == SK_FAMILY_YOLO)
        json_object_set_new(root, "end2end", json_boolean(model->yolo.end2end));
    if (model->family == SK_FAMILY_SLEAP)
        json_object_set_new(root, "sleap", sleap_object(model));
    json_object_set_new(root, "input", input_object(&model->input));
    if (model->graph) {
        json_object_set_new(root, "parameters", json_integer(sk_graph_parameters(model->graph)));
        SK_TRY(add_sizes(model, settings, root, err));
    }
    json_t *facts = json_object();
    for (int32_t i = 0; i < model->n_facts; i++) {
        json_t *key = sk_json_text(model->facts[i][0]);
        if (key)
            json_object_set_new_nocheck(facts, json_string_value(key), sk_json_text(model->facts[i][1]));
        json_decref(key);
    }
    json_object_set_new(root, "made_with", facts);
    json_object_set_new(root, "sha256", json_string(model->content_hash));
    return SK_OK;
}

static void print_list(FILE *out, const char *label, const json_t *names, size_t show)
{
    size_t n = json_array_size(names);
    if (n == 0)
        return;
    fprintf(out, "%-12s %zu: ", label, n);
    for (size_t i = 0; i < n && i < show; i++)
        fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
    fprintf(out, n > show ? ", … (--json lists all)\n" : "\n");
}

static void print_outputs(FILE *out, const json_t *outputs)
{
    size_t i;
    json_t *output;
    json_array_foreach(outputs, i, output)
    {
        fprintf(out, "%-12s %s ", i ? "" : "outputs", json_string_value(json_object_get(output, "name")));
        const json_t *shape = json_object_get(output, "shape");
        for (size_t d = 0; d < json_array_size(shape); d++)
            fprintf(out, "%s%lld", d ? "x" : "", (long long)json_integer_value(json_array_get(shape, d)));
        fprintf(out, " (%s)\n", json_string_value(json_object_get(output, "kind")));
    }
}

static void print_skeleton(FILE *out, const json_t *edges, const json_t *names)
{
    size_t i, n = json_array_size(edges);
    json_t *edge;
    if (!n)
        return;
    fprintf(out, "%-12s %zu edges: ", "skeleton", n);
    json_array_foreach(edges, i, edge)
    {
        if (i == 8) {
            fprintf(out, ", …");
            break;
        }
        size_t a = (size_t)json_integer_value(json_array_get(edge, 0));
        size_t b = (size_t)json_integer_value(json_array_get(edge, 1));
        const char *from = json_string_value(json_array_get(names, a)),
                   *to = json_string_value(json_array_get(names, b));
        if (from && to)
            fprintf(out, "%s%s-%s", i ? ", " : "", from, to);
        else
            fprintf(out, "%s%zu-%zu", i ? ", " : "", a, b);
    }
    fprintf(out, "\n");
}

static void print_input(FILE *out, const json_t *in)
{
    fprintf(out, "%-12s %lldx%lld %s, ", "input",
            (long long)json_integer_value(json_object_get(in, "height")),
            (long long)json_integer_value(json_object_get(in, "width")),
            json_string_value(json_object_get(in, "color")));
    if (json_is_true(json_object_get(in, "fixed_size")))
        fprintf(out, "this size only\n");
    else
        fprintf(out, "any multiple of %lld\n", (long long)json_integer_value(json_object_get(in, "stride")));
}

static void print_text(FILE *out, const json_t *root)
{
    fprintf(out, "%s\n", json_string_value(json_object_get(root, "path")));
    fprintf(out, "%-12s %s, %s\n", "format", json_string_value(json_object_get(root, "format")),
            json_string_value(json_object_get(root, "family")));
    if (json_is_false(json_object_get(root, "complete")))
        fprintf(out,
                "%-12s the file is cut off: what follows comes from its readable part; it cannot be run\n",
                "WARNING");
    fprintf(out, "%-12s %s%s\n", "task", json_string_value(json_object_get(root, "task")),
            json_is_true(json_object_get(root, "end2end")) ? ", end to end (no NMS)" : "");
    print_list(out, "classes", json_object_get(root, "classes"), 12);
    const json_t *keypoints = json_object_get(root, "keypoints");
    if (json_array_size(keypoints))
        print_list(out, "keypoints", keypoints, 20);
    else if (json_object_get(root, "n_keypoints"))
        fprintf(out, "%-12s %lld, unnamed\n", "keypoints",
                (long long)json_integer_value(json_object_get(root, "n_keypoints")));
    print_skeleton(out, json_object_get(root, "skeleton"), keypoints);
    print_input(out, json_object_get(root, "input"));
    print_outputs(out, json_object_get(root, "outputs"));
    if (json_object_get(root, "parameters"))
        fprintf(out, "%-12s %lld in %lld operations\n", "parameters",
                (long long)json_integer_value(json_object_get(root, "parameters")),
                (long long)json_integer_value(json_object_get(root, "operations")));
    size_t i;
    json_t *size;
    json_array_foreach(json_object_get(root, "sizes"), i, size) fprintf(
        out, "%-12s %.2f at %lldx%lld\n", i ? "" : "GFLOPs", json_real_value(json_object_get(size, "gflops")),
        (long long)json_integer_value(json_object_get(size, "height")),
        (long long)json_integer_value(json_object_get(size, "width")));
    const char *key;
    json_t *value;
    const char *label = "made with";
    json_object_foreach(json_object_get(root, "made_with"), key, value)
    {
        fprintf(out, "%-12s %s: %s\n", label, key, json_string_value(value));
        label = "";
    }
    fprintf(out, "%-12s %s", "sha256", json_string_value(json_object_get(root, "sha256")));
    json_t *line;
    json_array_foreach(json_object_get(root, "layers"), i, line)
        fprintf(out, "%s\n%s", i ? "" : "\n", json_string_value(line));
}

sk_status sk_describe_model(const sk_model *model, const sk_describe_settings *settings, char **text,
                            sk_error *err)
{
    json_t *root = json_object();
    char *dump = NULL;
    size_t length = 0;
    sk_status status = SK_OK;
    *text = NULL;
    SK_TRY_GOTO(gather(model, settings, root, err));
    if (settings->json) {
        dump = sk_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    } else {
        FILE *out = open_memstream(&dump, &length);
        if (out) {
            print_text(out, root);
            fclose(out);
        }
    }
    *text = dump ? sk_strdup(dump) : NULL;
    if (!*text)
        status = sk_fail(err, SK_ERR_MEMORY, "out of memory describing %s", model->path);
done:
    free(dump);
    json_decref(root);
    return status;
}
