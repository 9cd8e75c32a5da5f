/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keras.h"
#include "models/sleap.h"

#include <stdio.h>
#include <string.h>

/* SLEAP up to 1.4: training_config.json + best_model.h5. */

#define MAX_SIDE (1 << 16) /* of crops and of frames */

typedef struct {
    sk_sleap_source *source;
    sk_config *config;
    sk_hdf5_file *weights;
    sk_keras_network network;
    sk_sleap_heads heads;
    sk_model *model;
    char what[1024];
    sk_error *err;
} reader;

static sk_status read_config(reader *r)
{
    const char *bytes;
    size_t length;
    SK_TRY(sk_sleap_source_read(r->source, "training_config.json", &bytes, &length, r->err));
    snprintf(r->what, sizeof r->what, "%s", sk_sleap_source_path(r->source, "training_config.json"));
    SK_TRY(sk_config_open_json(bytes, length, r->what, &r->config, r->err));
    const sk_config_value *root = sk_config_root(r->config);
    SK_TRY(sk_sleap_heads_find(sk_config_find(root, "model.heads"), r->what, &r->heads, r->err));
    sk_skeleton skeleton = {0};
    const sk_config_value *written = sk_config_find(root, "data.labels.skeletons.0");
    if (!sk_config_is_null(written))
        SK_TRY(sk_skeleton_read(written, NULL, r->model->arena, r->what, &skeleton, r->err));
    return sk_sleap_fill_names(r->model, &r->heads, &skeleton, false, r->what, r->err);
}

/* model_config as the file has it: an attribute of the root. */
static sk_status read_network(reader *r)
{
    const char *bytes, *name = sk_sleap_source_weights(r->source, "best_model.h5");
    size_t length;
    char *json = NULL, *version = NULL;
    sk_config *layers = NULL;
    sk_status status = SK_OK;
    if (!sk_sleap_source_has(r->source, name))
        return sk_fail(r->err, SK_ERR_NOT_FOUND,
                       "%s: missing; a SLEAP model folder needs it beside training_config.json",
                       sk_sleap_source_path(r->source, name));
    SK_TRY(sk_sleap_source_read(r->source, name, &bytes, &length, r->err));
    snprintf(r->what, sizeof r->what, "%s", sk_sleap_source_path(r->source, name));
    SK_TRY(sk_hdf5_open_memory(bytes, length, r->what, &r->weights, r->err));
    if (!sk_hdf5_has_attribute(r->weights, "/", "model_config"))
        return sk_fail(
            r->err, SK_ERR_FORMAT,
            "%s: holds no \"model_config\": only weights, or not a Keras model; use the best_model.h5 that "
            "SLEAP wrote",
            r->what);
    SK_TRY_GOTO(sk_hdf5_attribute_text(r->weights, "/", "model_config", &json, r->err));
    if (!sk_hdf5_exists(r->weights, "model_weights")) {
        status =
            sk_fail(r->err, SK_ERR_FORMAT, "%s: holds the network's description but no weights", r->what);
        goto done;
    }
    SK_TRY_GOTO(sk_config_open_json(json, strlen(json), r->what, &layers, r->err));
    SK_TRY_GOTO(sk_graph_open(&r->model->graph, r->err));
    sk_keras_weights weights = sk_keras_weights_of(r->weights);
    SK_TRY_GOTO(
        sk_keras_build(sk_config_root(layers), &weights, r->what, r->model->graph, &r->network, r->err));
    if (sk_hdf5_attribute_text(r->weights, "/", "keras_version", &version, NULL) == SK_OK)
        sk_model_add_fact(r->model, "keras_version", version);
done:
    sk_config_close(&layers);
    sk_free(json);
    sk_free(version);
    return status;
}

/* The name of the backbone in use: "unet", "resnet" … and its settings. */
static const char *backbone_of(const sk_config_value *root, const sk_config_value **settings)
{
    const sk_config_value *all = sk_config_find(root, "model.backbone");
    for (size_t i = 0; sk_config_is(all, SK_CONFIG_MAP) && i < all->length; i++)
        if (!sk_config_is_null(all->u.pairs[i].value)) {
            *settings = all->u.pairs[i].value;
            return all->u.pairs[i].name;
        }
    *settings = NULL;
    return "network";
}

/* A size; what is out of range stays so for check_spec. */
static int32_t size_at(const sk_config_value *value, const char *path)
{
    int64_t size = sk_config_int_or(value, path, 0);
    return size < 0 ? -1 : size > MAX_SIDE ? MAX_SIDE + 1 : (int32_t)size;
}

static void fill_spec(reader *r)
{
    const sk_config_value *root = sk_config_root(r->config), *backbone;
    const sk_config_value *preparation = sk_config_find(root, "data.preprocessing");
    sk_model *m = r->model;
    const char *name = backbone_of(root, &backbone);
    char family[80];
    snprintf(family, sizeof family, "sleap %.60s", name);
    const char *kept = sk_arena_strdup(m->arena, family);
    m->architecture = kept ? kept : "sleap";

    /* The network says how coarse it gets; the configuration may ask for more. */
    int64_t stride = (int64_t)(r->network.max_stride + 0.5);
    int64_t configured = sk_config_int_or(backbone, "max_stride", 1);
    int64_t pad = sk_config_int_or(preparation, "pad_to_stride", 1);
    if (configured > stride && configured <= 4096)
        stride = configured;
    if (pad > stride && pad <= 4096 && pad % stride == 0)
        stride = pad;

    sk_sleap_spec *s = &m->sleap;
    s->legacy = 1;
    s->resize_antialias = 0;
    s->input_scale = (float)sk_config_real_or(preparation, "input_scaling", 1.0);
    s->pad_to_stride = (int32_t)stride;
    s->ensure_rgb = sk_config_bool_or(preparation, "ensure_rgb", false);
    s->ensure_grayscale = sk_config_bool_or(preparation, "ensure_grayscale", false);
    if (sk_config_bool_or(preparation, "resize_and_pad_to_target", true)) {
        s->target_size[0] = size_at(preparation, "target_height");
        s->target_size[1] = size_at(preparation, "target_width");
    }
    if (m->task == SK_TASK_CENTERED_INSTANCE || m->task == SK_TASK_MULTICLASS_TOPDOWN) {
        int32_t crop = size_at(root, "data.instance_cropping.crop_size");
        s->crop_size[0] = crop > 0 ? crop : r->network.height;
        s->crop_size[1] = crop > 0 ? crop : r->network.width;
    }
    if (!s->anchor_part) {
        const char *part = sk_config_text_or(root, "data.instance_cropping.center_on_part", NULL);
        s->anchor_part = part ? sk_arena_strdup(m->arena, part) : NULL;
    }
    m->input = (sk_input_spec){.channels = r->network.channels,
                               .height = r->network.height,
                               .width = r->network.width,
                               .stride = (int32_t)stride,
                               .fixed_size = r->network.fixed_size,
                               .scale = 1.0f / 255.0f,
                               .std = {1, 1, 1},
                               .rgb = 1,
                               .dtype = SK_DTYPE_F32};
    m->outputs_nhwc = 1;
    if (!m->input.fixed_size)
        sk_sleap_default_size(m);
}

static sk_status check_spec(reader *r)
{
    const sk_model *m = r->model;
    const char *config = sk_sleap_source_path(r->source, "training_config.json");
    if (m->input.channels != 1 && m->input.channels != 3)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: the network takes %d channels; 1 and 3 are supported",
                       r->what, m->input.channels);
    if (!(m->sleap.input_scale > 0) || m->sleap.input_scale > 100)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: \"input_scaling\" is out of range", config);
    for (int i = 0; i < 2; i++)
        if (m->sleap.crop_size[i] > MAX_SIDE || m->sleap.target_size[i] < 0 ||
            m->sleap.target_size[i] > MAX_SIDE)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: a crop or target size is out of range", config);
    for (int32_t i = 0; i < r->network.n_outputs; i++) {
        const sk_keras_output *o = &r->network.outputs[i];
        SK_TRY(sk_sleap_add_output(r->model, &r->heads, o->name, o->channels, o->stride, r->what, r->err));
    }
    return sk_sleap_check_outputs(m, r->what, r->err);
}

static void add_facts(reader *r)
{
    static const char *const facts[][2] = {
        {"version", "sleap_version"},
        {"run_name", "outputs.run_name"},
        {"description", "description"},
        {"training_labels", "data.labels.training_labels"},
        {"epochs", "optimization.epochs"},
        {"batch_size", "optimization.batch_size"},
        {"optimizer", "optimization.optimizer"},
        {"learning_rate", "optimization.initial_learning_rate"},
        {"imagenet_mode", "data.preprocessing.imagenet_mode"},
    };
    sk_model_add_fact(r->model, "head", r->heads.type);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        sk_sleap_add_fact(r->model, facts[i][0], sk_config_root(r->config), facts[i][1]);
}

sk_status sk_model_read_sleap_keras(const char *folder, sk_model *model, sk_error *err)
{
    SK_CHECK_ARG(folder && model, err);
    reader r = {.model = model, .err = err};
    sk_status status;
    model->format = SK_FORMAT_SLEAP_KERAS;
    SK_TRY_GOTO(sk_sleap_source_of(model, folder, &r.source, err));
    SK_TRY_GOTO(read_config(&r));
    SK_TRY_GOTO(read_network(&r));
    fill_spec(&r);
    SK_TRY_GOTO(check_spec(&r));
    add_facts(&r);
    sk_sleap_source_hash(r.source, model->content_hash);
done:
    sk_config_close(&r.config);
    sk_hdf5_close(&r.weights);
    sk_sleap_source_close(&r.source);
    return status;
}
