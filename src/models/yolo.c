/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

/* --- finding the model in the checkpoint --- */

static sk_status refuse_root(const char *path, const sk_pickle_value *root, sk_error *err)
{
    const char *module, *class_name = sk_pickle_class(root, &module);
    if (class_name)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: holds '%s.%s' instead of a model checkpoint (nothing of it was "
                       "run)\na network that Ultralytics did not train is read as .onnx (torch.onnx.export)",
                       path, module, class_name);
    if (sk_pickle_get(root, "pytorch-lightning_version"))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a Lightning checkpoint. For a sleap-nn model give the folder with "
                       "training_config.yaml",
                       path);
    if (root->kind == SK_PICKLE_DICT && root->length > 0 && root->u.pairs[0].value->kind == SK_PICKLE_TENSOR)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: weights alone (a state_dict), without the network they belong to. "
                       "Give the checkpoint that training wrote (best.pt)",
                       path);
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: not an Ultralytics checkpoint: there is no 'model' and no 'ema' in it\ngive the "
                   "best.pt that its "
                   "training wrote; other networks are read as .onnx (torch.onnx.export)",
                   path);
}

static sk_status refuse_model(const char *path, const sk_pickle_value *model, sk_error *err)
{
    const char *module, *class_name = sk_pickle_class(model, &module);
    if (class_name && strncmp(module, "models.", 7) == 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: an original YOLOv5 (or YOLOv7) checkpoint (class '%s.%s'). Use the "
                       "Ultralytics form of the model (yolov5nu.pt and so on), or export it to ONNX",
                       path, module, class_name);
    if (class_name)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: the model is of class '%s.%s', which is not known (nothing of it "
                       "was run). Export it to ONNX",
                       path, module, class_name);
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: its 'model' is weights alone, without the network they belong to. "
                   "Give the checkpoint that training wrote (best.pt)",
                   path);
}

static bool is_model_class(const sk_pickle_value *value)
{
    const char *module, *class_name = sk_pickle_class(value, &module);
    return class_name && strncmp(module, "ultralytics.", 12) == 0 && sk_yolo_find(value, "model");
}

/* The checkpoint's dictionary may lead to the model by 'ema' or 'model', or the file is the model itself. */
static sk_status find_model(const char *path, const sk_pickle_value *root, yolo_module **out, sk_error *err)
{
    const sk_pickle_value *model = root;
    if (root->kind == SK_PICKLE_DICT) {
        model = sk_pickle_get(root, "ema");
        if (!model || model->kind == SK_PICKLE_NONE)
            model = sk_pickle_get(root, "model");
        if (!model)
            return refuse_root(path, root, err);
    }
    yolo_module *inner = sk_yolo_find(model, "module"); /* saved from a data-parallel wrapper */
    if (inner)
        model = inner;
    if (!is_model_class(model))
        return model == root ? refuse_root(path, root, err) : refuse_model(path, model, err);
    *out = model;
    return SK_OK;
}

/* --- layers --- */

/* Outputs of one layer; CBLinear has several. */
typedef struct layer_out {
    sk_value value[16];
    int n;
} layer_out;

typedef struct layers {
    layer_out out[YOLO_MAX_LAYERS];
    int n;
} layers;

#define MAX_FROM 32

/* Which earlier layers feed this one: f is an index or a list of them; -1 is the one before, -1 in layer 0 the
 * image. */
static int read_from(yolo_reader *y, yolo_module *module, int layer, int from[MAX_FROM])
{
    const sk_pickle_value *f = sk_pickle_get(module, "f");
    int64_t index = -1;
    int n = 0;
    bool list = f && (f->kind == SK_PICKLE_LIST || f->kind == SK_PICKLE_TUPLE);
    size_t count = list ? f->length : 1;
    if (count == 0 || count > MAX_FROM) {
        sk_yolo_fail(y, SK_ERR_FORMAT, "it takes its input from %zu layers", count);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const sk_pickle_value *item = list ? f->u.items[i] : f;
        if (item && !sk_pickle_to_int(item, &index))
            index = INT32_MIN;
        if (index < 0 && index != INT32_MIN)
            index += layer;
        if (index < -1 || index >= layer || (index == -1 && layer != 0)) {
            sk_yolo_fail(y, SK_ERR_FORMAT, "it takes its input from layer %lld, which is not before it",
                         (long long)index);
            return 0;
        }
        from[n++] = (int)index;
    }
    return n;
}

/* x[idx[i]] of every input but the last, brought to the last one's size, all added up. */
static sk_value cb_fuse(yolo_reader *y, yolo_module *module, const layers *all, const int *from, int n)
{
    const sk_pickle_value *idx = sk_pickle_get(module, "idx");
    const layer_out *last = from[n - 1] < 0 ? NULL : &all->out[from[n - 1]];
    if (!last || last->n < 1)
        return sk_yolo_fail(y, SK_ERR_FORMAT, "nothing to fuse with");
    sk_value shape = sk_b_node(&y->b, SK_OP_SHAPE, NULL, &last->value[0], 1, NULL), sum = SK_VALUE_NONE;
    sk_value size = sk_b_slice(&y->b, shape, 0, 2, 4);
    for (int i = 0; i < n - 1; i++) {
        int64_t part;
        const layer_out *out = from[i] < 0 ? NULL : &all->out[from[i]];
        if (!out || !sk_pickle_to_int(sk_pickle_at(idx, (size_t)i), &part) || part < 0 || part >= out->n)
            return sk_yolo_fail(y, SK_ERR_FORMAT, "its indices do not fit the layers it fuses");
        sk_attrs attrs = {
            .resize = {.mode = SK_RESIZE_NEAREST, .coords = SK_COORDS_ASYMMETRIC, .round = SK_ROUND_FLOOR}};
        const sk_value in[2] = {out->value[part], size};
        sk_value resized = sk_b_node(&y->b, SK_OP_RESIZE, &attrs, in, 2, NULL);
        sum = i ? sk_b_add(&y->b, sum, resized) : resized;
    }
    return n > 1 ? sk_b_add(&y->b, sum, last->value[0]) : last->value[0];
}

static void cb_linear(yolo_reader *y, yolo_module *module, sk_value x, layer_out *out)
{
    const sk_pickle_value *widths = sk_pickle_get(module, "c2s");
    int64_t sizes[16];
    int n = 0;
    for (; n < 16 && sk_pickle_at(widths, (size_t)n); n++) {
        if (!sk_pickle_to_int(sk_pickle_at(widths, (size_t)n), &sizes[n]) || sizes[n] < 1)
            sk_yolo_fail(y, SK_ERR_FORMAT, "its widths are broken");
    }
    x = sk_yolo_child(y, module, "conv", x);
    if (n < 1 || sk_pickle_at(widths, 16)) {
        sk_yolo_fail(y, SK_ERR_FORMAT, "its widths are missing or more than 16");
    } else if (n == 1) {
        out->value[0] = x;
    } else {
        sk_b_split(&y->b, x, 1, sizes, n, out->value);
    }
    out->n = n;
}

static void write_layer(yolo_reader *y, yolo_module *module, sk_value image, layers *all)
{
    int from[MAX_FROM], n = read_from(y, module, all->n, from);
    sk_value x[MAX_FROM];
    layer_out *out = &all->out[all->n];
    out->n = 1;
    out->value[0] = SK_VALUE_NONE;
    for (int i = 0; i < n; i++)
        x[i] = from[i] < 0 ? image : all->out[from[i]].value[0];
    if (!sk_yolo_ok(y) || n == 0)
        return;
    const char *name = y->layer_class;
    int64_t index = 0;
    if (sk_yolo_head_task(name) != SK_TASK_UNKNOWN) {
        sk_yolo_head(y, module, x, n);
    } else if (strcmp(name, "Concat") == 0) {
        out->value[0] = sk_b_concat(&y->b, x, n, (int)sk_yolo_int(module, "d", 1));
    } else if (strcmp(name, "CBFuse") == 0) {
        out->value[0] = cb_fuse(y, module, all, from, n);
    } else if (strcmp(name, "CBLinear") == 0) {
        cb_linear(y, module, x[0], out);
    } else if (strcmp(name, "Index") == 0) {
        index = sk_yolo_int(module, "index", 0);
        const layer_out *source = n == 1 && from[0] >= 0 ? &all->out[from[0]] : NULL;
        int count = source ? source->n : n;
        if (index < 0 || index >= count)
            sk_yolo_fail(y, SK_ERR_FORMAT, "index %lld of %d values", (long long)index, count);
        else
            out->value[0] = source ? source->value[index] : x[index];
    } else if (n != 1) {
        sk_yolo_fail(y, SK_ERR_UNSUPPORTED,
                     "module class '%s' with %d inputs is not known. Export the model to ONNX, "
                     "and open the .onnx file",
                     name, n);
    } else {
        out->value[0] = sk_yolo_module(y, module, x[0]);
    }
}

static void write_network(yolo_reader *y, yolo_module *sequence, layers *all)
{
    const sk_shape shape = {.rank = 4, .dim = {-1, y->model->input.channels, -1, -1}};
    sk_value image = sk_b_input(&y->b, "images", SK_DTYPE_F32, &shape);
    int n = sk_yolo_list_count(sequence);
    for (int i = 0; i < n && sk_yolo_ok(y); i++) {
        char number[32];
        yolo_module *module = sk_yolo_list_at(sequence, i, NULL);
        y->layer = i;
        y->layer_class = sk_pickle_class(module, NULL);
        snprintf(number, sizeof number, "model.%d", i);
        size_t mark = sk_yolo_enter(y, number);
        if (!y->layer_class)
            sk_yolo_fail(y, SK_ERR_FORMAT, "it is no module");
        else if (sk_yolo_head_task(y->layer_class) != SK_TASK_UNKNOWN && i != n - 1)
            sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "a head that is not the last layer");
        else
            write_layer(y, module, image, all);
        all->n = i + 1;
        sk_yolo_leave(y, mark);
    }
}

static sk_status build(yolo_reader *y, yolo_module *sequence, sk_error *err)
{
    SK_TRY(sk_graph_open(&y->model->graph, err));
    sk_builder_init(&y->b, y->model->graph);
    y->b.scope = y->scope;
    layers *all = sk_calloc(1, sizeof *all);
    if (!all)
        return sk_fail_memory(err, sizeof *all);
    write_network(y, sequence, all);
    sk_free(all);
    if (y->b.status != SK_OK)
        return sk_fail(err, y->b.status, "%s", y->b.error.message);
    sk_status status = sk_graph_verify(y->model->graph, err);
    if (status != SK_OK)
        sk_error_prefix(err, "%s", y->path);
    return status;
}

/* Sizes are multiples of the coarsest stride, upwards as Ultralytics does. */
static void round_input(sk_input_spec *input)
{
    int32_t s = input->stride > 0 ? input->stride : 1;
    input->height = (input->height + s - 1) / s * s;
    input->width = (input->width + s - 1) / s * s;
}

static sk_status read_model(yolo_reader *y, sk_error *err)
{
    const sk_pickle_value *checkpoint = sk_torch_file_root(y->file);
    SK_TRY(find_model(y->path, checkpoint, &y->root, err));
    yolo_module *sequence = sk_yolo_find(y->root, "model");
    int n = sk_yolo_list_count(sequence);
    if (n < 1 || n > YOLO_MAX_LAYERS)
        return sk_fail(err, n ? SK_ERR_LIMIT : SK_ERR_FORMAT, "%s: the model has %d layers", y->path, n);
    y->head = sk_yolo_list_at(sequence, n - 1, NULL);
    const char *module, *class_name = sk_pickle_class(y->head, &module);
    if (sk_yolo_head_task(class_name) == SK_TASK_UNKNOWN)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: layer %d is a head of class '%s.%s', which is not known. Export "
                       "the model to ONNX, and open the .onnx file",
                       y->path, n - 1, module ? module : "?", class_name ? class_name : "?");
    SK_TRY(sk_yolo_meta(y, checkpoint, err));
    if (sk_torch_file_truncated(y->file)) {
        char damage[80];
        snprintf(damage, sizeof damage, "zip directory missing; file truncated at %zu bytes",
                 sk_torch_file_length(y->file));
        sk_model_add_fact(y->model, "damage", damage);
        y->model->truncated = 1;
        round_input(&y->model->input);
        return SK_OK;
    }
    SK_TRY(build(y, sequence, err));
    if (sk_yolo_find(y->head, "one2one_cv2"))
        sk_model_add_fact(y->model, "heads",
                          y->model->yolo.end2end ? "one-to-one (end to end, no suppression)"
                                                 : "one-to-many, with suppression");
    round_input(&y->model->input);
    return SK_OK;
}

static sk_status read_checkpoint(sk_torch_file *file, const char *path, sk_model *model, sk_error *err)
{
    yolo_reader y = {.path = path, .file = file, .model = model};
    sk_status status = read_model(&y, err);
    sk_torch_file_close(&y.file);
    return status;
}

sk_status sk_model_read_ultralytics(const char *path, sk_model *model, sk_error *err)
{
    SK_CHECK_ARG(path && model, err);
    sk_torch_file *file;
    sk_sha256 hash;
    SK_TRY(sk_torch_file_open(path, &file, err));
    SK_TRY(read_checkpoint(file, path, model, err));
    SK_TRY(sk_hash_sha256_file(path, &hash, err));
    sk_sha256_text(&hash, model->content_hash);
    return SK_OK;
}

sk_status sk_model_read_ultralytics_memory(const void *bytes, size_t length, const char *what,
                                           sk_model *model, sk_error *err)
{
    SK_CHECK_ARG(bytes && what && model, err);
    sk_torch_file *file;
    sk_sha256 hash;
    SK_TRY(sk_torch_file_open_memory(bytes, length, what, &file, err));
    SK_TRY(read_checkpoint(file, what, model, err));
    sk_hash_sha256(bytes, length, &hash);
    sk_sha256_text(&hash, model->content_hash);
    return SK_OK;
}
