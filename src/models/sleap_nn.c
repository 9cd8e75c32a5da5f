/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sleap.h"
#include "models/sleap_nn_net.h"

#include <stdio.h>
#include <string.h>

/* sleap-nn: training_config.yaml + best.ckpt. */

typedef struct {
    sk_sleap_source *source;
    sk_config *config;
    const sk_config_value *root;
    const char *backbone; /* "unet", "convnext" */
    const sk_config_value *backbone_config;
    sk_sleap_heads heads;
    sk_torch_file *file;
    sk_nn_net net;
    sk_model *model;
    char what[1024]; /* the file being read, for errors */
    char config_path[1024];
    int32_t fixed_size;
    sk_error *err;
} reader;

/* --- configuration --- */

static sk_status copy_node_name(reader *r, const sk_config_value *node, const char **out)
{
    const char *name = sk_config_text(node);
    if (!name)
        name = sk_config_text(sk_config_get(node, "name"));
    if (!name)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: its skeleton has a node without a name", r->what);
    *out = sk_arena_strdup(r->model->arena, name);
    return *out ? SK_OK : sk_fail_memory(r->err, strlen(name));
}

static int32_t node_index(const sk_skeleton *skeleton, const char *name)
{
    for (int32_t i = 0; name && i < skeleton->n_nodes; i++)
        if (strcmp(skeleton->node_names[i], name) == 0)
            return i;
    return -1;
}

/* skeletons: [{nodes: [{name}], edges: [{source: {name}, destination: {name}}]}] */
static sk_status read_skeleton(reader *r, const sk_config_value *written, sk_skeleton *out)
{
    const sk_config_value *nodes = sk_config_get(written, "nodes"), *edges = sk_config_get(written, "edges");
    size_t n_nodes = sk_config_count(nodes), n_edges = sk_config_count(edges);
    if (n_nodes > SK_SKELETON_MAX_NODES || n_edges > SK_SKELETON_MAX_EDGES)
        return sk_fail(r->err, SK_ERR_LIMIT, "%s: its skeleton is too large", r->what);
    out->node_names = sk_arena_alloc(r->model->arena, (n_nodes + 1) * sizeof *out->node_names);
    out->edges = sk_arena_alloc(r->model->arena, (n_edges + 1) * sizeof *out->edges);
    if (!out->node_names || !out->edges)
        return sk_fail_memory(r->err, n_nodes + n_edges);
    for (size_t i = 0; i < n_nodes; i++) {
        SK_TRY(copy_node_name(r, sk_config_at(nodes, i), &out->node_names[i]));
        out->n_nodes++;
    }
    for (size_t i = 0; i < n_edges; i++) {
        const sk_config_value *edge = sk_config_at(edges, i);
        const char *source = sk_config_text_or(edge, "source.name", NULL);
        const char *target = sk_config_text_or(edge, "destination.name", NULL);
        out->edges[i][0] = node_index(out, source);
        out->edges[i][1] = node_index(out, target);
        if (out->edges[i][0] < 0 || out->edges[i][1] < 0)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: edge %zu of its skeleton joins nodes it does not list",
                           r->what, i);
        out->n_edges++;
    }
    return SK_OK;
}

static sk_status find_backbone(reader *r)
{
    const sk_config_value *all = sk_config_find(r->root, "model_config.backbone_config");
    for (size_t i = 0; sk_config_is(all, SK_CONFIG_MAP) && i < all->length; i++) {
        if (!sk_config_is(all->u.pairs[i].value, SK_CONFIG_MAP))
            continue;
        if (r->backbone)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: names two backbones, \"%.60s\" and \"%.60s\"", r->what,
                           r->backbone, all->u.pairs[i].name);
        r->backbone = all->u.pairs[i].name;
        r->backbone_config = all->u.pairs[i].value;
    }
    if (!r->backbone)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: names no backbone under model_config.backbone_config",
                       r->what);
    if (strcmp(r->backbone, "unet") != 0 && strcmp(r->backbone, "convnext") != 0)
        return sk_fail(
            r->err, SK_ERR_UNSUPPORTED,
            "%s: backbone \"%.60s\" is not read from checkpoints; export the model with `sleap-nn export "
            "MODEL -f onnx` and open the .onnx",
            r->what, r->backbone);
    return SK_OK;
}

static sk_status read_config(reader *r)
{
    const char *name = sk_sleap_source_has(r->source, "training_config.yaml") ? "training_config.yaml"
                                                                              : "training_config.yml";
    const char *bytes;
    size_t length;
    SK_TRY(sk_sleap_source_read(r->source, name, &bytes, &length, r->err));
    snprintf(r->what, sizeof r->what, "%s", sk_sleap_source_path(r->source, name));
    snprintf(r->config_path, sizeof r->config_path, "%s", r->what);
    SK_TRY(sk_config_open_yaml(bytes, length, r->what, &r->config, r->err));
    r->root = sk_config_root(r->config);
    SK_TRY(sk_sleap_heads_find(sk_config_find(r->root, "model_config.head_configs"), r->what, &r->heads,
                               r->err));
    SK_TRY(find_backbone(r));
    const char *crop_mode = sk_config_text_or(r->root, "data_config.preprocessing.crop_mode", "fixed");
    if (strcmp(crop_mode, "fixed") != 0)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: crop_mode \"%.40s\"; only fixed crops are supported",
                       r->what, crop_mode);
    if (sk_config_bool_or(r->root, "data_config.preprocessing.tiling.enabled", false))
        return sk_fail(r->err, SK_ERR_UNSUPPORTED,
                       "%s: a tiled model (preprocessing.tiling); tiling is not supported", r->what);
    sk_skeleton skeleton = {.name = ""};
    const sk_config_value *written = sk_config_find(r->root, "data_config.skeletons.0");
    if (!sk_config_is_null(written))
        SK_TRY(read_skeleton(r, written, &skeleton));
    return sk_sleap_fill_names(r->model, &r->heads, &skeleton, true, r->what, r->err);
}

/* --- heads --- */

/* The backbone's map at a head's stride; the middle output where there is no decoder. */
static sk_status tap(reader *r, const char *head, int64_t stride, sk_nn_map *out)
{
    sk_nn_net *net = &r->net;
    if (net->n_decoded == 0) {
        *out = net->middle;
        return SK_OK;
    }
    for (int32_t i = 0; i < net->n_decoded; i++)
        if (net->decoded[i].stride == stride) {
            *out = net->decoded[i];
            return SK_OK;
        }
    return sk_fail(r->err, SK_ERR_MISMATCH,
                   "%s: head %s is at stride %lld, which the backbone does not produce", r->what, head,
                   (long long)stride);
}

static sk_status map_head(reader *r, int index, const char *head, const sk_config_value *config, bool sigmoid)
{
    sk_nn_map x;
    char name[160];
    SK_TRY(tap(r, head, sk_config_int_or(config, "output_stride", 1), &x));
    snprintf(name, sizeof name, "head_layers.%d.%s.0", index, head);
    SK_TRY(sk_nn_conv(&r->net, name, (sk_nn_conv_spec){.stride = 1, .pad = -1}, &x));
    if (sigmoid)
        x.v = sk_b_unary(&r->net.b, SK_UNARY_SIGMOID, x.v);
    sk_b_output(&r->net.b, x.v, head);
    return sk_sleap_add_output(r->model, &r->heads, head, x.channels, x.stride, r->what, r->err);
}

static sk_status linear(reader *r, const char *name, sk_value *x, int64_t *features)
{
    char weight_name[200], bias_name[200];
    snprintf(weight_name, sizeof weight_name, "%s.weight", name);
    snprintf(bias_name, sizeof bias_name, "%s.bias", name);
    sk_shape shape, bias_shape;
    sk_value in[3] = {*x};
    int64_t dims[] = {-1, *features};
    sk_nn_net *net = &r->net;
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, weight_name), weight_name, 2, dims, &in[1], &shape));
    SK_TRY(sk_nn_constant(net, sk_nn_find(net, bias_name), bias_name, 1, &shape.dim[0], &in[2], &bias_shape));
    sk_attrs a = {.gemm = {.alpha = 1, .beta = 1, .transpose_b = 1}};
    *x = sk_b_node(&net->b, SK_OP_GEMM, &a, in, 3, name);
    *features = shape.dim[0];
    return SK_OK;
}

static sk_status class_vectors_head(reader *r, int index)
{
    static const int axes[] = {2, 3};
    static const int64_t flat[] = {0, -1};
    sk_nn_net *net = &r->net;
    sk_value x = net->middle.v;
    int64_t features = net->middle.channels;
    if (sk_config_bool_or(r->heads.classes, "global_pool", true)) {
        x = sk_b_reduce(&net->b, SK_REDUCE_MAX, x, axes, 2, false);
    } else {
        x = sk_b_reshape(&net->b, x, flat, 2);
        features = -1;
        r->fixed_size = 1;
    }
    char name[120];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "head_layers.%d.pre_classification%d_fc", index, i);
        if (!sk_nn_has_folder(net, name))
            break;
        SK_TRY(linear(r, name, &x, &features));
        x = sk_b_unary(&net->b, SK_UNARY_RELU, x);
    }
    snprintf(name, sizeof name, "head_layers.%d.ClassVectorsHead", index);
    SK_TRY(linear(r, name, &x, &features));
    x = sk_b_softmax(&net->b, x, 1);
    sk_b_output(&net->b, x, "ClassVectorsHead");
    return sk_sleap_add_output(r->model, &r->heads, "ClassVectorsHead", features, net->middle.stride, r->what,
                               r->err);
}

static sk_status build_heads(reader *r)
{
    switch (r->heads.task) {
    case SK_TASK_SINGLE_INSTANCE:
        return map_head(r, 0, "SingleInstanceConfmapsHead", r->heads.confmaps, false);
    case SK_TASK_CENTROID: return map_head(r, 0, "CentroidConfmapsHead", r->heads.confmaps, false);
    case SK_TASK_CENTERED_INSTANCE:
        return map_head(r, 0, "CenteredInstanceConfmapsHead", r->heads.confmaps, false);
    case SK_TASK_BOTTOMUP:
        SK_TRY(map_head(r, 0, "MultiInstanceConfmapsHead", r->heads.confmaps, false));
        return map_head(r, 1, "PartAffinityFieldsHead", r->heads.pafs, false);
    case SK_TASK_MULTICLASS_BOTTOMUP:
        SK_TRY(map_head(r, 0, "MultiInstanceConfmapsHead", r->heads.confmaps, false));
        return map_head(r, 1, "ClassMapsHead", r->heads.classes, true);
    case SK_TASK_MULTICLASS_TOPDOWN:
        SK_TRY(map_head(r, 0, "CenteredInstanceConfmapsHead", r->heads.confmaps, false));
        return class_vectors_head(r, 1);
    default: return sk_fail(r->err, SK_ERR_INTERNAL, "%s: a head without a builder", r->what);
    }
}

/* --- the model --- */

static sk_status read_network(reader *r)
{
    const char *bytes, *name = sk_sleap_source_weights(r->source, "best.ckpt");
    size_t length;
    if (!sk_sleap_source_has(r->source, name))
        return sk_fail(r->err, SK_ERR_NOT_FOUND,
                       "%s: missing; a sleap-nn model folder needs it beside training_config.yaml",
                       sk_sleap_source_path(r->source, name));
    SK_TRY(sk_sleap_source_read(r->source, name, &bytes, &length, r->err));
    snprintf(r->what, sizeof r->what, "%s", sk_sleap_source_path(r->source, name));
    SK_TRY(sk_torch_file_open_memory(bytes, length, r->what, &r->file, r->err));
    SK_TRY(sk_graph_open(&r->model->graph, r->err));
    SK_TRY(sk_nn_net_open(&r->net, r->file, r->model->graph, r->what, r->err));
    if (strcmp(r->backbone, "unet") == 0)
        SK_TRY(sk_nn_unet(&r->net, r->backbone_config));
    else
        SK_TRY(sk_nn_convnext(&r->net, r->backbone_config));
    SK_TRY(build_heads(r));
    if (r->net.b.status != SK_OK)
        return sk_fail(r->err, r->net.b.status, "%s: %s", r->what, r->net.b.error.message);
    SK_TRY(sk_nn_check_all_used(&r->net));
    SK_TRY(sk_graph_verify(r->model->graph, r->err));
    return sk_sleap_check_outputs(r->model, r->what, r->err);
}

/* A size from the configuration: absent is 0, out of range an error. */
static sk_status read_size(reader *r, const sk_config_value *value, const char *key, int32_t *out)
{
    int64_t size = 0;
    *out = 0;
    if (sk_config_is_null(value))
        return SK_OK;
    if (!sk_config_to_int(value, &size) || size < 0 || size > 1 << 16)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: \"%s\" is out of range", r->config_path, key);
    *out = (int32_t)size;
    return SK_OK;
}

static sk_status fill_spec(reader *r)
{
    const sk_config_value *preparation = sk_config_find(r->root, "data_config.preprocessing");
    sk_model *m = r->model;
    sk_sleap_spec *s = &m->sleap;
    m->architecture = strcmp(r->backbone, "unet") == 0 ? "sleap-nn unet" : "sleap-nn convnext";
    int64_t stride = sk_config_int_or(r->backbone_config, "max_stride", r->net.middle.stride);
    if (stride < 1 || stride > 4096)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: \"max_stride\" is out of range", r->config_path);
    if (strcmp(r->backbone, "convnext") == 0 && stride < r->net.middle.stride)
        stride = r->net.middle.stride; /* older configurations say 16, the network is at 32 */
    s->legacy = 0;
    s->resize_antialias = 1;
    s->pad_to_stride = (int32_t)stride;
    double scale = sk_config_real_or(preparation, "scale", 1.0);
    if (!(scale > 0 && scale <= 100))
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: \"scale\" is out of range", r->config_path);
    s->input_scale = (float)scale;
    s->ensure_rgb =
        sk_config_bool_or(preparation, "ensure_rgb", sk_config_bool_or(preparation, "is_rgb", false));
    s->ensure_grayscale = sk_config_bool_or(preparation, "ensure_grayscale", false);
    SK_TRY(read_size(r, sk_config_get(preparation, "max_height"), "max_height", &s->target_size[0]));
    SK_TRY(read_size(r, sk_config_get(preparation, "max_width"), "max_width", &s->target_size[1]));
    if (m->task == SK_TASK_CENTERED_INSTANCE || m->task == SK_TASK_MULTICLASS_TOPDOWN) {
        const sk_config_value *crop = sk_config_get(preparation, "crop_size");
        if (sk_config_is_null(crop)) /* before 0.0.2 */
            crop = sk_config_get(preparation, "crop_hw");
        for (size_t i = 0; i < 2; i++)
            SK_TRY(read_size(r, sk_config_is(crop, SK_CONFIG_LIST) ? sk_config_at(crop, i) : crop,
                             "crop_size", &s->crop_size[i]));
        if (s->crop_size[0] == 0 || s->crop_size[1] == 0)
            return sk_fail(r->err, SK_ERR_FORMAT,
                           "%s: \"crop_size\" is missing, which a centred-instance model needs",
                           r->config_path);
    }
    const sk_graph *g = m->graph;
    m->input = (sk_input_spec){.channels = (int32_t)g->values[g->inputs[0]].shape.dim[1],
                               .stride = (int32_t)stride,
                               .fixed_size = r->fixed_size,
                               .scale = 1.0f / 255.0f,
                               .std = {1, 1, 1},
                               .rgb = 1,
                               .dtype = SK_DTYPE_F32};
    for (int i = 0; i < 2; i++) {
        int32_t side = s->crop_size[i] ? s->crop_size[i] : s->target_size[i];
        *(i ? &m->input.width : &m->input.height) = (int32_t)((double)side * scale);
    }
    sk_sleap_default_size(m);
    return SK_OK;
}

static void add_facts(reader *r)
{
    static const char *const facts[][2] = {
        {"version", "sleap_nn_version"},
        {"run_name", "trainer_config.run_name"},
        {"description", "description"},
        {"init_weights", "model_config.init_weights"},
        {"epochs", "trainer_config.max_epochs"},
        {"batch_size", "trainer_config.train_data_loader.batch_size"},
        {"optimizer", "trainer_config.optimizer_name"},
        {"learning_rate", "trainer_config.optimizer.lr"},
    };
    sk_model_add_fact(r->model, "head", r->heads.type);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        sk_sleap_add_fact(r->model, facts[i][0], r->root, facts[i][1]);
    const sk_pickle_value *root = sk_torch_file_root(r->file);
    const char *lightning = sk_pickle_text(sk_pickle_get(root, "pytorch-lightning_version"));
    int64_t epoch;
    if (lightning)
        sk_model_add_fact(r->model, "lightning_version", lightning);
    if (sk_pickle_to_int(sk_pickle_get(root, "epoch"), &epoch)) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)epoch);
        sk_model_add_fact(r->model, "epoch", text);
    }
}

sk_status sk_model_read_sleap_nn(const char *folder, sk_model *model, sk_error *err)
{
    SK_CHECK_ARG(folder && model, err);
    reader r = {.model = model, .err = err};
    sk_status status;
    model->format = SK_FORMAT_SLEAP_NN;
    SK_TRY_GOTO(sk_sleap_source_of(model, folder, &r.source, err));
    SK_TRY_GOTO(read_config(&r));
    SK_TRY_GOTO(read_network(&r));
    SK_TRY_GOTO(fill_spec(&r));
    add_facts(&r);
    sk_sleap_source_hash(r.source, model->content_hash);
done:
    sk_nn_net_close(&r.net);
    sk_torch_file_close(&r.file);
    sk_config_close(&r.config);
    sk_sleap_source_close(&r.source);
    return status;
}
