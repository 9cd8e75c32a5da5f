/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keras_layer.h"

#include <stdlib.h>
#include <string.h>

/* Walks a functional model: every call of a layer ("node") is written down once its inputs are. Layers may be
 * called several times (shared weights) and may themselves be models (pretrained encoders). */

#define MAX_NESTING 4
#define MAX_CALLS   65536
#define MAX_PORTS   64 /* inputs or outputs of one call */

typedef struct {
    const char *name;
    const char *class_name;
    const sk_config_value *config;
    const sk_config_value *calls; /* inbound_nodes */
    size_t n_calls;
    /* What each call gave: ports[call * n_ports + tensor]; rank 0 where not made yet. */
    sk_keras_tensor *ports;
    size_t n_ports;
    bool *made;
} layer_entry;

typedef struct {
    sk_builder *b;
    const sk_keras_weights *weights;
    sk_keras_network *network;
    const char *what;
    size_t total_calls;
    sk_error *err;
} walk;

typedef struct {
    walk *w;
    const char *group; /* the outermost nested model's name; null at the top */
    int nesting;
    layer_entry *layers;
    size_t n_layers;
    size_t *by_name; /* layer indices in order of name */
} scope;

static sk_status build_scope(walk *w, const sk_config_value *config, const char *group, int nesting,
                             const sk_keras_tensor *inputs, int n_inputs, sk_keras_tensor *outputs,
                             int *n_outputs);

/* --- reading the list --- */

static bool is_model(const char *class_name)
{
    return strcmp(class_name, "Functional") == 0 || strcmp(class_name, "Model") == 0;
}

static sk_status read_layers(scope *s, const sk_config_value *config)
{
    walk *w = s->w;
    const sk_config_value *layers = sk_config_get(config, "layers");
    s->n_layers = sk_config_count(layers);
    if (!sk_config_is(layers, SK_CONFIG_LIST) || s->n_layers == 0)
        return sk_fail(w->err, SK_ERR_FORMAT, "%s: the model's configuration lists no layers", w->what);
    if (s->n_layers > SK_KERAS_MAX_LAYERS)
        return sk_fail(w->err, SK_ERR_LIMIT, "%s: %zu layers; at most %d are read", w->what, s->n_layers,
                       SK_KERAS_MAX_LAYERS);
    s->layers = sk_calloc(s->n_layers, sizeof *s->layers);
    s->by_name = sk_calloc(s->n_layers, sizeof *s->by_name);
    if (!s->layers || !s->by_name)
        return sk_fail_memory(w->err, s->n_layers * sizeof *s->layers);
    for (size_t i = 0; i < s->n_layers; i++) {
        const sk_config_value *entry = sk_config_at(layers, i);
        layer_entry *l = &s->layers[i];
        l->config = sk_config_get(entry, "config");
        l->class_name = sk_config_text_or(entry, "class_name", "");
        l->name = sk_config_text_or(entry, "name", sk_config_text_or(l->config, "name", NULL));
        l->calls = sk_config_get(entry, "inbound_nodes");
        if (!l->name || !*l->class_name || !l->config)
            return sk_fail(w->err, SK_ERR_FORMAT,
                           "%s: layer %zu of the configuration has no name, class or settings", w->what, i);
        if (sk_config_is(sk_config_at(l->calls, 0), SK_CONFIG_MAP))
            return sk_fail(w->err, SK_ERR_UNSUPPORTED,
                           "%s: written by Keras 3; SLEAP's own models are Keras 2. Export it to ONNX",
                           w->what);
        bool is_input = strcmp(l->class_name, "InputLayer") == 0;
        l->n_calls = is_input ? 1 : sk_config_count(l->calls);
        l->n_ports = is_model(l->class_name) ? MAX_PORTS : 1;
        w->total_calls += l->n_calls;
        if (w->total_calls > MAX_CALLS)
            return sk_fail(w->err, SK_ERR_LIMIT, "%s: more than %d calls of layers", w->what, MAX_CALLS);
        l->ports = sk_calloc(l->n_calls * l->n_ports, sizeof *l->ports);
        l->made = sk_calloc(l->n_calls, sizeof *l->made);
        if (!l->ports || !l->made)
            return sk_fail_memory(w->err, l->n_calls * l->n_ports * sizeof *l->ports);
    }
    return SK_OK;
}

static int compare_names(const void *left, const void *right, void *layers)
{
    const layer_entry *all = layers;
    return strcmp(all[*(const size_t *)left].name, all[*(const size_t *)right].name);
}

static sk_status sort_names(scope *s)
{
    for (size_t i = 0; i < s->n_layers; i++)
        s->by_name[i] = i;
    qsort_r(s->by_name, s->n_layers, sizeof *s->by_name, compare_names, s->layers);
    for (size_t i = 1; i < s->n_layers; i++)
        if (compare_names(&s->by_name[i - 1], &s->by_name[i], s->layers) == 0)
            return sk_fail(s->w->err, SK_ERR_FORMAT, "%s: two layers are called \"%.120s\"", s->w->what,
                           s->layers[s->by_name[i]].name);
    return SK_OK;
}

static layer_entry *find_layer(scope *s, const char *name)
{
    size_t low = 0, high = s->n_layers;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, s->layers[s->by_name[middle]].name);
        if (order == 0)
            return &s->layers[s->by_name[middle]];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ["name", call, tensor, {…}] to what that call gave; *out null when it is not made yet. */
static sk_status resolve(scope *s, const sk_config_value *reference, const sk_keras_tensor **out)
{
    const char *name = sk_config_text(sk_config_at(reference, 0));
    int64_t call = sk_config_int_or(reference, "1", 0), tensor = sk_config_int_or(reference, "2", 0);
    layer_entry *from = name ? find_layer(s, name) : NULL;
    *out = NULL;
    if (!from)
        return sk_fail(s->w->err, SK_ERR_FORMAT,
                       "%s: the configuration refers to a layer \"%.120s\" that is not in it", s->w->what,
                       name ? name : "?");
    if (is_model(from->class_name) && call > 0)
        call--; /* a model's call 0 is its own making, which is not listed */
    if (call < 0 || (size_t)call >= from->n_calls || tensor < 0 || (size_t)tensor >= from->n_ports)
        return sk_fail(s->w->err, SK_ERR_FORMAT, "%s: layer \"%.120s\" has no call %lld with an output %lld",
                       s->w->what, name, (long long)call, (long long)tensor);
    if (!from->made[call])
        return SK_OK;
    *out = &from->ports[(size_t)call * from->n_ports + (size_t)tensor];
    if ((*out)->rank == 0)
        return sk_fail(s->w->err, SK_ERR_FORMAT, "%s: layer \"%.120s\" has no output %lld", s->w->what, name,
                       (long long)tensor);
    return SK_OK;
}

/* --- one call --- */

static sk_status finish_call(scope *s, layer_entry *l, size_t call)
{
    walk *w = s->w;
    if (w->b->status != SK_OK)
        return sk_fail(w->err, w->b->status, "%s: layer \"%.120s\" (%.60s): %s", w->what, l->name,
                       l->class_name, w->b->error.message);
    for (size_t i = 0; i < l->n_ports; i++) {
        double stride = l->ports[call * l->n_ports + i].stride;
        if (stride > w->network->max_stride)
            w->network->max_stride = stride;
    }
    l->made[call] = true;
    return SK_OK;
}

static sk_status make_call(scope *s, layer_entry *l, size_t call, const sk_keras_tensor *in, int n_in)
{
    walk *w = s->w;
    sk_keras_tensor *ports = &l->ports[call * l->n_ports];
    if (is_model(l->class_name)) {
        int n_out = 0;
        if (s->nesting >= MAX_NESTING)
            return sk_fail(w->err, SK_ERR_LIMIT, "%s: models nested deeper than %d", w->what, MAX_NESTING);
        SK_TRY(build_scope(w, l->config, s->group ? s->group : l->name, s->nesting + 1, in, n_in, ports,
                           &n_out));
        return finish_call(s, l, call);
    }
    sk_keras_layer layer = {.b = w->b,
                            .weights = w->weights,
                            .network = w->network,
                            .what = w->what,
                            .class_name = l->class_name,
                            .name = l->name,
                            .group = s->group ? s->group : l->name,
                            .config = l->config,
                            .in = in,
                            .n_in = n_in,
                            .err = w->err};
    w->b->scope = l->name;
    SK_TRY(sk_keras_layer_build(&layer));
    w->b->scope = NULL;
    ports[0] = layer.out;
    return finish_call(s, l, call);
}

/* Makes the call if its inputs are there. */
static sk_status try_call(scope *s, layer_entry *l, size_t call, bool *progress)
{
    const sk_config_value *references = sk_config_at(l->calls, call);
    size_t count = sk_config_count(references);
    /* A single input may be written without the inner list. */
    bool bare = sk_config_text(sk_config_at(references, 0)) != NULL;
    sk_keras_tensor in[MAX_PORTS];
    if (bare)
        count = 1;
    if (count == 0 || count > MAX_PORTS)
        return sk_fail(s->w->err, SK_ERR_FORMAT, "%s: layer \"%.120s\" has %zu inputs", s->w->what, l->name,
                       count);
    for (size_t i = 0; i < count; i++) {
        const sk_keras_tensor *tensor;
        SK_TRY(resolve(s, bare ? references : sk_config_at(references, i), &tensor));
        if (!tensor)
            return SK_OK;
        in[i] = *tensor;
    }
    SK_TRY(make_call(s, l, call, in, (int)count));
    *progress = true;
    return SK_OK;
}

/* --- a whole model --- */

static sk_status read_input(scope *s, layer_entry *l)
{
    walk *w = s->w;
    const sk_config_value *shape = sk_config_get(l->config, "batch_input_shape");
    if (!shape)
        shape = sk_config_get(l->config, "batch_shape");
    int64_t dims[4] = {-1, -1, -1, -1};
    for (size_t i = 1; i < 4; i++)
        sk_config_to_int(sk_config_at(shape, i), &dims[i]);
    if (sk_config_count(shape) != 4 || dims[3] < 1 || dims[3] > 4096 || dims[1] > 1 << 20 ||
        dims[2] > 1 << 20)
        return sk_fail(w->err, SK_ERR_UNSUPPORTED, "%s: input \"%.120s\" is not an image batch [N, H, W, C]",
                       w->what, l->name);
    w->network->height = dims[1] > 0 ? (int32_t)dims[1] : 0;
    w->network->width = dims[2] > 0 ? (int32_t)dims[2] : 0;
    w->network->channels = (int32_t)dims[3];
    sk_shape nchw = {.rank = 4, .dim = {-1, dims[3], -1, -1}};
    l->ports[0] = (sk_keras_tensor){sk_b_input(w->b, l->name, SK_DTYPE_F32, &nchw), 4, dims[3], 1.0};
    return finish_call(s, l, 0);
}

/* Lists of [name, call, tensor]; Keras writes a single one bare as well. */
static const sk_config_value *reference_at(const sk_config_value *list, size_t index)
{
    if (sk_config_text(sk_config_at(list, 0)))
        return index == 0 ? list : NULL;
    return sk_config_at(list, index);
}

static sk_status feed_inputs(scope *s, const sk_config_value *config, const sk_keras_tensor *inputs,
                             int n_inputs)
{
    walk *w = s->w;
    const sk_config_value *list = sk_config_get(config, "input_layers");
    int n = 0;
    for (; reference_at(list, (size_t)n); n++) {
        const char *name = sk_config_text(sk_config_at(reference_at(list, (size_t)n), 0));
        layer_entry *l = name ? find_layer(s, name) : NULL;
        if (!l || strcmp(l->class_name, "InputLayer") != 0)
            return sk_fail(w->err, SK_ERR_FORMAT, "%s: input layer \"%.120s\" is not in the configuration",
                           w->what, name ? name : "?");
        if (s->nesting == 0) {
            if (n > 0)
                return sk_fail(w->err, SK_ERR_UNSUPPORTED, "%s: a network with several inputs", w->what);
            SK_TRY(read_input(s, l));
        } else if (n < n_inputs) {
            l->ports[0] = inputs[n];
            l->made[0] = true;
        }
    }
    if (n == 0 || (s->nesting > 0 && n != n_inputs))
        return sk_fail(w->err, SK_ERR_FORMAT, "%s: a model has %d inputs where %d are given", w->what, n,
                       n_inputs);
    return SK_OK;
}

static sk_status make_all_calls(scope *s)
{
    bool progress = true, missing = true;
    const char *stuck = NULL;
    while (progress && missing) { /* files are nearly always in order: one round */
        progress = missing = false;
        for (size_t i = 0; i < s->n_layers; i++) {
            layer_entry *l = &s->layers[i];
            for (size_t call = 0; call < l->n_calls; call++) {
                if (l->made[call])
                    continue;
                bool made = false;
                if (strcmp(l->class_name, "InputLayer") != 0)
                    SK_TRY(try_call(s, l, call, &made));
                progress = progress || made;
                if (!made) {
                    missing = true;
                    stuck = l->name;
                }
            }
        }
    }
    if (missing)
        return sk_fail(s->w->err, SK_ERR_FORMAT, "%s: layer \"%.120s\" waits for an input that is never made",
                       s->w->what, stuck);
    return SK_OK;
}

static sk_status collect_outputs(scope *s, const sk_config_value *config, sk_keras_tensor *outputs,
                                 int *n_outputs)
{
    walk *w = s->w;
    const sk_config_value *list = sk_config_get(config, "output_layers");
    int limit = s->nesting ? MAX_PORTS : (int)(sizeof w->network->outputs / sizeof *w->network->outputs);
    for (*n_outputs = 0; reference_at(list, (size_t)*n_outputs); ++*n_outputs) {
        int i = *n_outputs;
        const sk_keras_tensor *tensor;
        if (i >= limit)
            return sk_fail(w->err, SK_ERR_LIMIT, "%s: more than %d outputs", w->what, limit);
        SK_TRY(resolve(s, reference_at(list, (size_t)i), &tensor));
        if (!tensor)
            return sk_fail(w->err, SK_ERR_FORMAT, "%s: output %d comes from a layer that is never called",
                           w->what, i);
        outputs[i] = *tensor;
        if (s->nesting == 0) {
            const char *name = sk_config_text(sk_config_at(reference_at(list, (size_t)i), 0));
            sk_b_output(w->b, tensor->v, name);
            if (w->b->status != SK_OK)
                return sk_fail(w->err, w->b->status, "%s: %s", w->what, w->b->error.message);
            w->network->outputs[i] = (sk_keras_output){w->b->graph->values[tensor->v].name, tensor->rank,
                                                       tensor->channels, tensor->stride};
        }
    }
    if (*n_outputs == 0)
        return sk_fail(w->err, SK_ERR_FORMAT, "%s: the model's configuration names no outputs", w->what);
    return SK_OK;
}

static void free_scope(scope *s)
{
    for (size_t i = 0; s->layers && i < s->n_layers; i++) {
        sk_free(s->layers[i].ports);
        sk_free(s->layers[i].made);
    }
    sk_free(s->layers);
    sk_free(s->by_name);
}

static sk_status build_scope(walk *w, const sk_config_value *config, const char *group, int nesting,
                             const sk_keras_tensor *inputs, int n_inputs, sk_keras_tensor *outputs,
                             int *n_outputs)
{
    scope s = {.w = w, .group = group, .nesting = nesting};
    sk_status status;
    SK_TRY_GOTO(read_layers(&s, config));
    SK_TRY_GOTO(sort_names(&s));
    SK_TRY_GOTO(feed_inputs(&s, config, inputs, n_inputs));
    SK_TRY_GOTO(make_all_calls(&s));
    SK_TRY_GOTO(collect_outputs(&s, config, outputs, n_outputs));
done:
    free_scope(&s);
    return status;
}

sk_status sk_keras_build(const sk_config_value *model, const sk_keras_weights *weights, const char *what,
                         sk_graph *graph, sk_keras_network *network, sk_error *err)
{
    const char *class_name = sk_config_text_or(model, "class_name", "");
    *network = (sk_keras_network){.max_stride = 1};
    if (!is_model(class_name))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: a Keras \"%.60s\"; only functional models are read",
                       what, class_name);
    sk_builder b;
    sk_builder_init(&b, graph);
    walk w = {.b = &b, .weights = weights, .network = network, .what = what, .err = err};
    sk_keras_tensor outputs[MAX_PORTS];
    SK_TRY(build_scope(&w, sk_config_get(model, "config"), NULL, 0, NULL, 0, outputs, &network->n_outputs));
    SK_TRY(sk_graph_verify(graph, err));
    return SK_OK;
}
