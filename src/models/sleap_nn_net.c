/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sleap_nn_net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the state_dict --- */

static int compare_tensors(const void *left, const void *right)
{
    return strcmp(((const sk_nn_tensor *)left)->name, ((const sk_nn_tensor *)right)->name);
}

/* What stands before "backbone." in every name: Lightning's "model.", torch.compile's "_orig_mod.". */
static bool find_prefix(const sk_pickle_value *dict, const char **prefix, size_t *length)
{
    for (size_t i = 0; i < dict->length; i++) {
        const char *name = sk_pickle_text(dict->u.pairs[i].key);
        const char *found = name ? strstr(name, "backbone.") : NULL;
        if (found && (found == name || found[-1] == '.')) {
            *prefix = name;
            *length = (size_t)(found - name);
            return true;
        }
    }
    return false;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

sk_status sk_nn_net_open(sk_nn_net *net, sk_torch_file *file, sk_graph *graph, const char *what,
                         sk_error *err)
{
    *net = (sk_nn_net){.file = file, .what = what, .err = err};
    sk_builder_init(&net->b, graph);
    const sk_pickle_value *dict = sk_pickle_get(sk_torch_file_root(file), "state_dict");
    if (dict && dict->kind == SK_PICKLE_OBJECT)
        dict = dict->u.object.items;
    const char *prefix;
    size_t prefix_length;
    if (!dict || dict->kind != SK_PICKLE_DICT || !find_prefix(dict, &prefix, &prefix_length))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: holds no state_dict of a sleap-nn network; use the best.ckpt that "
                       "sleap-nn wrote",
                       what);
    if (dict->length > SK_NN_MAX_TENSORS)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %zu tensors; at most %d are read", what, dict->length,
                       SK_NN_MAX_TENSORS);
    net->tensors = sk_calloc(dict->length, sizeof *net->tensors);
    if (!net->tensors)
        return sk_fail_memory(err, dict->length * sizeof *net->tensors);
    for (size_t i = 0; i < dict->length; i++) {
        const char *name = sk_pickle_text(dict->u.pairs[i].key);
        const sk_pickle_value *value = dict->u.pairs[i].value;
        /* Metrics and losses have states of their own; only what lies under the network's prefix is the
         * network. */
        if (!name || strncmp(name, prefix, prefix_length) != 0 || !value || value->kind != SK_PICKLE_TENSOR)
            continue;
        if (strncmp(name + prefix_length, "backbone.", 9) == 0 ||
            strncmp(name + prefix_length, "head_layers.", 12) == 0)
            net->tensors[net->n_tensors++] = (sk_nn_tensor){name + prefix_length, value, false};
    }
    qsort(net->tensors, net->n_tensors, sizeof *net->tensors, compare_tensors);
    return SK_OK;
}

void sk_nn_net_close(sk_nn_net *net)
{
    sk_free(net->tensors);
    net->tensors = NULL;
}

sk_nn_tensor *sk_nn_find(sk_nn_net *net, const char *name)
{
    sk_nn_tensor key = {.name = name};
    return net->n_tensors ? bsearch(&key, net->tensors, net->n_tensors, sizeof key, compare_tensors) : NULL;
}

/* The first tensor whose name is not before `folder`. */
static size_t lower_bound(const sk_nn_net *net, const char *folder)
{
    size_t low = 0, high = net->n_tensors;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(net->tensors[middle].name, folder) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sk_nn_has_folder(sk_nn_net *net, const char *folder)
{
    size_t at = lower_bound(net, folder);
    return at < net->n_tensors && strncmp(net->tensors[at].name, folder, strlen(folder)) == 0;
}

sk_nn_tensor *sk_nn_find_ending(sk_nn_net *net, const char *folder, const char *ending)
{
    size_t length = strlen(folder);
    for (size_t i = lower_bound(net, folder); i < net->n_tensors; i++) {
        if (strncmp(net->tensors[i].name, folder, length) != 0)
            break;
        if (ends_with(net->tensors[i].name + length, ending))
            return &net->tensors[i];
    }
    return NULL;
}

sk_status sk_nn_check_all_used(const sk_nn_net *net)
{
    size_t left = 0;
    const char *first = NULL;
    for (size_t i = 0; i < net->n_tensors; i++) {
        if (net->tensors[i].used)
            continue;
        first = first ? first : net->tensors[i].name;
        left++;
    }
    if (left)
        return sk_fail(
            net->err, SK_ERR_UNSUPPORTED,
            "%s: %zu tensors have no place in the network that training_config.yaml describes, the first is "
            "\"%.120s\"; the two files belong to different models, or it is a newer layout: export it to "
            "ONNX",
            net->what, left, first);
    return SK_OK;
}

/* --- tensors --- */

sk_status sk_nn_numbers(sk_nn_net *net, sk_nn_tensor *tensor, const char *name, int rank, const int64_t *dims,
                        sk_blob **blob, sk_shape *shape)
{
    *blob = NULL;
    if (!tensor)
        return sk_fail(net->err, SK_ERR_NOT_FOUND,
                       "%s: tensor \"%.160s\" is missing; the checkpoint and training_config.yaml do not "
                       "belong together",
                       net->what, name);
    *shape = tensor->value->u.tensor.shape;
    bool fits = shape->rank == rank;
    sk_shape wanted = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        wanted.dim[i] = dims[i];
        fits = fits && shape->dim[i] > 0 && (dims[i] < 0 || shape->dim[i] == dims[i]);
    }
    char found_text[SK_SHAPE_TEXT], wanted_text[SK_SHAPE_TEXT];
    if (!fits)
        return sk_fail(net->err, SK_ERR_MISMATCH,
                       "%s: tensor \"%.160s\" is of shape %s where the network needs %s", net->what, name,
                       sk_shape_text(shape, found_text, sizeof found_text),
                       sk_shape_text(&wanted, wanted_text, sizeof wanted_text));
    SK_TRY(sk_torch_file_tensor(net->file, tensor->value, SK_DTYPE_F32, blob, net->err));
    const float *values = sk_blob_data(*blob);
    int64_t count = sk_shape_count(shape);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            sk_blob_unref(blob);
            return sk_fail(
                net->err, SK_ERR_FORMAT,
                "%s: tensor \"%.160s\" holds NaN or infinity at element %lld: the training diverged or the "
                "file is damaged; use another checkpoint",
                net->what, name, (long long)i);
        }
    tensor->used = true;
    return SK_OK;
}

sk_status sk_nn_constant(sk_nn_net *net, sk_nn_tensor *tensor, const char *name, int rank,
                         const int64_t *dims, sk_value *out, sk_shape *shape)
{
    sk_blob *blob;
    SK_TRY(sk_nn_numbers(net, tensor, name, rank, dims, &blob, shape));
    *out = sk_b_constant_blob(&net->b, name, SK_DTYPE_F32, shape, blob, 0);
    sk_blob_unref(&blob);
    return SK_OK;
}

/* --- layers --- */

sk_status sk_nn_input(sk_nn_net *net, const char *first_weight, sk_nn_map *out)
{
    sk_nn_tensor *first = sk_nn_find(net, first_weight);
    if (!first || first->value->u.tensor.shape.rank != 4)
        return sk_fail(net->err, SK_ERR_NOT_FOUND,
                       "%s: tensor \"%.160s\" is missing; the checkpoint and training_config.yaml do not "
                       "belong together",
                       net->what, first_weight);
    int64_t channels = first->value->u.tensor.shape.dim[1];
    if (channels != 1 && channels != 3)
        return sk_fail(net->err, SK_ERR_UNSUPPORTED,
                       "%s: the network takes %lld channels; 1 and 3 are supported", net->what,
                       (long long)channels);
    sk_shape shape = {.rank = 4, .dim = {-1, channels, -1, -1}};
    *out = (sk_nn_map){sk_b_input(&net->b, "image", SK_DTYPE_F32, &shape), channels, 1};
    return SK_OK;
}

/* "same" as torch splits it: the smaller half first. */
static void same_pads(sk_window *w)
{
    for (int i = 0; i < 2; i++) {
        int32_t total = w->kernel[i] - 1;
        w->pad[i] = total / 2;
        w->pad[i + 2] = total - total / 2;
    }
}

sk_status sk_nn_conv(sk_nn_net *net, const char *name, sk_nn_conv_spec spec, sk_nn_map *x)
{
    char weight_name[300], bias_name[300];
    snprintf(weight_name, sizeof weight_name, "%s.weight", name);
    snprintf(bias_name, sizeof bias_name, "%s.bias", name);
    sk_shape shape, bias_shape;
    sk_value weight, bias;
    int64_t dims[] = {spec.depthwise ? x->channels : -1, spec.depthwise ? 1 : x->channels, -1, -1};
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, weight_name), weight_name, 4, dims, &weight, &shape));
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, bias_name), bias_name, 1, &shape.dim[0], &bias, &bias_shape));
    if (shape.dim[2] > 1024 || shape.dim[3] > 1024)
        return sk_fail(net->err, SK_ERR_LIMIT, "%s: tensor \"%.160s\": a kernel of more than 1024 pixels",
                       net->what, weight_name);
    sk_window w = {.kernel = {(int32_t)shape.dim[2], (int32_t)shape.dim[3]},
                   .stride = {spec.stride, spec.stride},
                   .dilation = {1, 1},
                   .pad = {spec.pad, spec.pad, spec.pad, spec.pad}};
    if (spec.pad < 0)
        same_pads(&w);
    x->v = sk_b_conv(&net->b, x->v, weight, bias, &w, spec.depthwise ? (int)x->channels : 1, name);
    x->channels = shape.dim[0];
    x->stride *= spec.stride;
    return SK_OK;
}

void sk_nn_relu(sk_nn_net *net, sk_nn_map *x)
{
    x->v = sk_b_unary(&net->b, SK_UNARY_RELU, x->v);
}

void sk_nn_pool(sk_nn_net *net, sk_nn_map *x)
{
    sk_attrs a = {.pool.window = {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .same = 1}};
    x->v = sk_b_node(&net->b, SK_OP_MAX_POOL, &a, &x->v, 1, NULL);
    x->stride *= 2;
}

/* The module's name: the tensor's without ".weight". */
static void module_name(const sk_nn_tensor *tensor, char *out, size_t capacity)
{
    snprintf(out, capacity, "%.*s", (int)(strlen(tensor->name) - strlen(".weight")), tensor->name);
}

sk_status sk_nn_conv_block(sk_nn_net *net, const char *folder, sk_nn_map *x)
{
    for (int i = 0; i < 64; i++) {
        char ending[32], name[300];
        snprintf(ending, sizeof ending, "_conv%d.weight", i);
        sk_nn_tensor *found = sk_nn_find_ending(net, folder, ending);
        if (!found && i > 0)
            return SK_OK;
        if (!found)
            return sk_fail(
                net->err, SK_ERR_NOT_FOUND,
                "%s: block \"%.160s\" has no convolution; the checkpoint and training_config.yaml do not "
                "belong together",
                net->what, folder);
        module_name(found, name, sizeof name);
        SK_TRY(sk_nn_conv(net, name, (sk_nn_conv_spec){.stride = 1, .pad = -1}, x));
        sk_nn_relu(net, x);
    }
    return SK_OK;
}

sk_status sk_nn_middle(sk_nn_net *net, const char *folder, sk_nn_map *x)
{
    for (int i = 0; i < 8; i++) {
        char block[200];
        snprintf(block, sizeof block, "%s%d.blocks.", folder, i);
        if (!sk_nn_has_folder(net, block))
            break;
        SK_TRY(sk_nn_conv_block(net, block, x));
    }
    net->middle = *x;
    return SK_OK;
}

/* --- the decoder --- */

/* torch alignment: out[2i + k - 1]. */
static sk_status transposed_conv(sk_nn_net *net, sk_nn_tensor *tensor, sk_nn_map *x)
{
    char name[300], bias_name[310];
    module_name(tensor, name, sizeof name);
    snprintf(bias_name, sizeof bias_name, "%s.bias", name);
    sk_shape shape, bias_shape;
    sk_value in[3] = {x->v};
    int64_t dims[] = {x->channels, -1, 3, 3};
    SK_TRY(sk_nn_constant(net, tensor, tensor->name, 4, dims, &in[1], &shape));
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, bias_name), bias_name, 1, &shape.dim[1], &in[2], &bias_shape));
    sk_attrs a = {.conv_transpose = {
                      .window = {.kernel = {3, 3}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}},
                      .output_pad = {1, 1},
                      .groups = 1}};
    x->v = sk_b_node(&net->b, SK_OP_CONV_TRANSPOSE, &a, in, 3, name);
    x->channels = shape.dim[1];
    sk_nn_relu(net, x);
    return SK_OK;
}

/* Bilinear to the skip's height and width, which are known when the graph is specialised. */
static void resize_like(sk_nn_net *net, sk_nn_map *x, const sk_nn_map *skip)
{
    sk_builder *b = &net->b;
    sk_value own = sk_b_node(b, SK_OP_SHAPE, NULL, &x->v, 1, NULL);
    sk_value other = sk_b_node(b, SK_OP_SHAPE, NULL, &skip->v, 1, NULL);
    sk_value parts[2] = {sk_b_slice(b, own, 0, 0, 2), sk_b_slice(b, other, 0, 2, 4)};
    sk_value in[2] = {x->v, sk_b_concat(b, parts, 2, 0)};
    sk_attrs a = {.resize = {.mode = SK_RESIZE_LINEAR, .coords = SK_COORDS_HALF_PIXEL}};
    x->v = sk_b_node(b, SK_OP_RESIZE, &a, in, 2, NULL);
}

static sk_status decoder_block(sk_nn_net *net, const char *folder, const sk_nn_map *skip, bool interpolate,
                               bool resize_to_skip, sk_nn_map *x)
{
    if (interpolate) {
        x->v = sk_b_upsample_linear(&net->b, x->v, 2.0f);
    } else {
        sk_nn_tensor *up = sk_nn_find_ending(net, folder, "_trans_conv.weight");
        if (!up)
            return sk_fail(
                net->err, SK_ERR_NOT_FOUND,
                "%s: block \"%.160s\" has no transposed convolution, though up_interpolate is false",
                net->what, folder);
        SK_TRY(transposed_conv(net, up, x));
    }
    x->stride /= 2;
    if (skip) {
        if (resize_to_skip)
            resize_like(net, x, skip);
        sk_value both[2] = {skip->v, x->v};
        x->v = sk_b_concat(&net->b, both, 2, 1);
        x->channels += skip->channels;
    }
    return sk_nn_conv_block(net, folder, x);
}

sk_status sk_nn_decoder(sk_nn_net *net, const char *folder, sk_nn_map x, const sk_nn_map *skips, int n_skips,
                        bool interpolate, bool resize_to_skip)
{
    for (int i = 0; i < SK_NN_MAX_LEVELS; i++) {
        char block[200];
        snprintf(block, sizeof block, "%s%d.blocks.", folder, i);
        if (!sk_nn_has_folder(net, block))
            break;
        if (x.stride < 2)
            return sk_fail(net->err, SK_ERR_FORMAT, "%s: its decoder goes beyond the input's size",
                           net->what);
        SK_TRY(decoder_block(net, block, i < n_skips ? &skips[i] : NULL, interpolate, resize_to_skip, &x));
        net->decoded[net->n_decoded++] = x;
    }
    return SK_OK;
}
