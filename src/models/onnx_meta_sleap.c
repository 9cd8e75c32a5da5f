/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_meta.h"

#include "base/named.h"
#include "formats/config.h"

#include <string.h>

/* sleap-nn's exports find the peaks inside the network, take uint8 frames and scale them themselves: the
 * outputs are results, not maps, and stay as they are named. */

#define MAX_NAMES 100000

static sk_task task_of(const char *type)
{
    static const sk_named types[] = {
        {"single_instance", SK_TASK_SINGLE_INSTANCE},
        {"centroid", SK_TASK_CENTROID},
        {"centered_instance", SK_TASK_CENTERED_INSTANCE},
        {"topdown", SK_TASK_CENTERED_INSTANCE},
        {"bottomup", SK_TASK_BOTTOMUP},
        {"multi_class_bottomup", SK_TASK_MULTICLASS_BOTTOMUP},
        {"multi_class_topdown", SK_TASK_MULTICLASS_TOPDOWN},
        {"multi_class_topdown_combined", SK_TASK_MULTICLASS_TOPDOWN},
    };
    return (sk_task)SK_NAMED_VALUE(types, type, SK_TASK_UNKNOWN);
}

static sk_status read_names(sk_onnx_reading *r, const sk_config_value *list, const char *const **out,
                            int32_t *count)
{
    size_t n = sk_config_count(list);
    if (n == 0)
        return SK_OK;
    const char **names = n <= MAX_NAMES ? sk_arena_alloc(r->model->arena, n * sizeof *names) : NULL;
    if (!names)
        return sk_fail_memory(r->err, n * sizeof *names);
    for (size_t i = 0; i < n; i++) {
        const char *name = sk_config_text(sk_config_at(list, i));
        names[i] = sk_arena_strdup(r->model->arena, name ? name : "");
        if (!names[i])
            return sk_fail_memory(r->err, 1);
    }
    *out = names;
    *count = (int32_t)n;
    return SK_OK;
}

static sk_status read_edges(sk_onnx_reading *r, const sk_config_value *list, const char *what)
{
    size_t n = sk_config_count(list);
    int32_t(*edges)[2] = n && n <= MAX_NAMES ? sk_arena_alloc(r->model->arena, n * sizeof *edges) : NULL;
    if (n == 0)
        return SK_OK;
    if (!edges)
        return sk_fail_memory(r->err, n * sizeof *edges);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            int64_t node = -1;
            if (!sk_config_to_int(sk_config_at(sk_config_at(list, i), k), &node) || node < 0 ||
                node >= r->model->n_keypoints)
                return sk_fail(r->err, SK_ERR_FORMAT, "%s: 'edge_inds' names a node that does not exist",
                               what);
            edges[i][k] = (int32_t)node;
        }
    r->model->edges = r->model->sleap.edges = (const int32_t(*)[2])edges;
    r->model->n_edges = r->model->sleap.n_edges = (int32_t)n;
    return SK_OK;
}

/* The file does not say which sizes fit: the smallest power of two whose odd multiples do. */
static void find_stride(sk_onnx_reading *r)
{
    sk_input_spec *in = &r->model->input;
    sk_error ignored, *err = r->err;
    int32_t height = in->height, width = in->width;
    r->err = &ignored;
    for (in->stride = 1; in->stride < 128; in->stride *= 2) {
        int32_t least = (96 + in->stride - 1) / in->stride | 1;
        in->height = least * in->stride;
        in->width = (least + 2) * in->stride;
        if (sk_onnx_learn_shapes(r) == SK_OK)
            break;
    }
    r->err = err;
    in->height = (height + in->stride - 1) / in->stride * in->stride;
    in->width = (width + in->stride - 1) / in->stride * in->stride;
}

static sk_status read_sizes(sk_onnx_reading *r, const sk_config_value *root, const char *what)
{
    sk_sleap_spec *s = &r->model->sleap;
    const sk_config_value *crop = sk_config_get(root, "crop_size");
    for (size_t i = 0; i < 2 && sk_config_is(crop, SK_CONFIG_LIST); i++) {
        int64_t side = 0;
        if (!sk_config_to_int(sk_config_at(crop, i), &side) || side < 0 || side > 1 << 16)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: 'crop_size' makes no sense", what);
        s->crop_size[i] = (int32_t)side;
    }
    /* "topdown" takes whole frames and crops inside */
    bool crops = strcmp(sk_config_text_or(root, "model_type", ""), "topdown") != 0 && s->crop_size[0] &&
                 s->crop_size[1];
    if (crops && !r->model->input.fixed_size) {
        r->model->input.height = s->crop_size[0];
        r->model->input.width = s->crop_size[1];
    }
    if (!r->model->input.fixed_size)
        find_stride(r);
    s->pad_to_stride = r->model->input.stride;
    s->input_scale = 1; /* the network scales its input itself */
    return SK_OK;
}

static void add_facts(sk_onnx_reading *r, const sk_config_value *root)
{
    static const char *const keys[] = {"sleap_nn_version", "export_timestamp", "model_type",
                                       "model_name",       "backbone",         "precision",
                                       "normalization",    "checkpoint_path"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = sk_config_text(sk_config_get(root, keys[i]));
        if (value)
            sk_model_add_fact(r->model, keys[i], value);
    }
    sk_model_add_fact(r->model, "peaks",
                      "found inside the network, on the grid of its maps: without refinement they "
                      "may be half a stride off (sleap-nn's export; the checkpoint gives finer ones)");
}

sk_status sk_onnx_read_sleap(sk_onnx_reading *r, const char *json, size_t length, const char *what)
{
    sk_config *config = NULL;
    sk_model *model = r->model;
    sk_status status = SK_OK;
    SK_TRY(sk_config_open_json(json, length, what, &config, r->err));
    const sk_config_value *root = sk_config_root(config);
    const char *type = sk_config_text_or(root, "model_type", ""), *anchor;
    sk_model_set_task(model, task_of(type));
    if (model->task == SK_TASK_UNKNOWN) {
        status =
            sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: models of type '%.60s' are not supported", what, type);
        goto done;
    }
    model->architecture = "sleap-nn export";
    model->sleap.resize_antialias = 1;
    SK_TRY_GOTO(
        read_names(r, sk_config_get(root, "node_names"), &model->keypoint_names, &model->n_keypoints));
    SK_TRY_GOTO(read_edges(r, sk_config_get(root, "edge_inds"), what));
    SK_TRY_GOTO(read_names(r, sk_config_get(root, "class_names"), &model->class_names, &model->n_classes));
    model->sleap.class_names = model->class_names;
    anchor = sk_config_text(sk_config_get(root, "anchor_part"));
    if (anchor && !(model->sleap.anchor_part = sk_arena_strdup(model->arena, anchor))) {
        status = sk_fail_memory(r->err, strlen(anchor));
        goto done;
    }
    SK_TRY_GOTO(read_sizes(r, root, what));
    for (int32_t i = 0; i < model->n_outputs; i++)
        model->outputs[i].stride = (float)sk_config_real_or(root, "output_stride", 0);
    add_facts(r, root);
done:
    sk_config_close(&config);
    return status;
}
