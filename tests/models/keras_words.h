/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_KERAS_WORDS_H
#define SK_TESTS_KERAS_WORDS_H

/* What becomes of a Keras model, in words: which weights were asked for and with which sizes, the graph, what is said of the network; or
 * the words of the refusal. Models are written as YAML, which needs no quotes; weights are made up as they are asked for. */
#include "graph_words.h"

#include "models/keras.h"

#include <math.h>

/* Layers in words, as YAML:
 *
 *     flat=GlobalAveragePooling2D{} in; a=Dense{units: 4} flat
 *
 * Behind the settings stand the layers that feed it, with call and output where they are not 0: b/1/0; several calls are parted by |.
 * The list begins with the input, called in. */
static inline const char *one_layer(const char *at, sk_text *out)
{
    at += strspn(at, " ");
    const size_t name = strcspn(at, "="), class_name = strcspn(at + name, "{");
    sk_text_appendf(out, ", {name: %.*s, class_name: %.*s, config: ", (int)name, at, (int)class_name - 1,
                    at + name + 1);
    at += name + class_name;
    int open = 0;
    do {
        assert_true(*at);
        open += (*at == '{') - (*at == '}');
        sk_text_append_bytes(out, at, 1);
    } while (at++, open > 0);
    sk_text_append(out, ", inbound_nodes: [");
    bool call = false;
    for (; *at && *at != ';'; at += strcspn(at, " ;")) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, " ;"), layer = strcspn(at, " ;/");
        if (length == 0)
            break;
        if (*at == '|') {
            sk_text_append(out, "], ");
            call = false;
            continue;
        }
        sk_text_appendf(out, "%s[%.*s", call ? ", " : "[", (int)layer, at);
        for (size_t i = layer; i < length; i++)
            sk_text_appendf(out, at[i] == '/' ? ", " : "%c", at[i]);
        sk_text_append(out, layer == length ? ", 0, 0, {}]" : "]");
        call = true;
    }
    sk_text_append(out, call ? "]]}" : "]}");
    return *at == ';' ? at + 1 : NULL;
}

static inline void layers_yaml(const char *words, const char *shape, sk_text *out)
{
    sk_text_appendf(out,
                    "[{class_name: InputLayer, name: in, config: {batch_input_shape: [null, %s]}, "
                    "inbound_nodes: []}",
                    shape);
    while (words && *words)
        words = one_layer(words, out);
    sk_text_append(out, "]");
}

/* Weights have the sizes that are wanted, 3 where any will do. A layer called gone has none, one called wide has one element too many at
 * the end, one called nan or inf has such a number at element 2. */
static inline sk_status made_up_weights(void *context, const char *group, const char *layer, const char *name,
                                        const sk_shape *wanted, sk_blob **out, sk_shape *shape, sk_error *err)
{
    char text[SK_SHAPE_TEXT];
    sk_text_appendf(context, "    reads %s of %s in %s, [%s]\n", name, layer, group,
                    sk_shape_text(wanted, text, sizeof text));
    *out = NULL;
    if (strcmp(layer, "gone") == 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "there is no %s", name);
    *shape = *wanted;
    for (int i = 0; i < shape->rank; i++)
        shape->dim[i] = shape->dim[i] < 0 ? 3 : shape->dim[i];
    if (strcmp(layer, "wide") == 0)
        shape->dim[shape->rank - 1]++;
    const int64_t count = sk_shape_count(shape);
    SK_TRY(sk_blob_alloc((size_t)count * sizeof(float), out, err));
    float *values = sk_blob_data(*out);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)((i * 7 + (int64_t)strlen(name)) % 11 - 4) / 8;
    if (strcmp(layer, "nan") == 0 || strcmp(layer, "inf") == 0)
        values[2] = layer[0] == 'n' ? NAN : INFINITY;
    return SK_OK;
}

static inline void say_network(const sk_graph *g, const sk_keras_network *n, sk_text *out)
{
    static int line[20000];
    int next = 0;
    assert_true(g->n_values < sizeof line / sizeof *line);
    memset(line, 0, sizeof line);
    for (size_t i = 0; i < g->n_nodes; i++)
        words_node(g, &g->nodes[i], line, &next, out);
    sk_text_appendf(out, "    takes %d channels of %d x %d, strides to %g%s\n", n->channels, n->height,
                    n->width, n->max_stride, n->fixed_size ? ", one size only" : "");
    for (int32_t i = 0; i < n->n_outputs; i++) {
        sk_text_appendf(out, "    gives %s = ", n->outputs[i].name);
        words_value(g, g->outputs[i], line, out);
        sk_text_appendf(out, ", %d dimensions, %lld channels, stride %g\n", n->outputs[i].rank,
                        (long long)n->outputs[i].channels, n->outputs[i].stride);
    }
}

/* The model's YAML, as it is; says all of it, or with `brief` only how many operations there are. */
static inline void say_model(const char *yaml, bool brief, sk_text *out)
{
    sk_error err = {0};
    sk_config *config = NULL;
    sk_graph *graph = NULL;
    sk_keras_network network;
    sk_text reads = {0};
    const sk_keras_weights weights = {&reads, made_up_weights};
    assert_ok(sk_config_open_yaml(yaml, strlen(yaml), "here", &config, &err), &err);
    assert_ok(sk_graph_open(&graph, &err), &err);
    const sk_status status = sk_keras_build(sk_config_root(config), &weights, "m.h5", graph, &network, &err);
    if (!brief && reads.length)
        sk_text_append(out, sk_text_get(&reads));
    if (status != SK_OK)
        sk_text_appendf(out, "    %d: %s\n", status, err.message);
    else if (brief)
        sk_text_appendf(out, "    %zu operations, %d outputs\n", graph->n_nodes, network.n_outputs);
    else
        say_network(graph, &network, out);
    sk_text_free(&reads);
    sk_graph_close(&graph);
    sk_config_close(&config);
}

/* The layers in words, with a title; `outputs` is a YAML list. */
static inline void say_layers(const char *words, const char *shape, const char *outputs, sk_text *out)
{
    sk_text model = {0};
    sk_text_append(&model, "{class_name: Functional, config: {layers: ");
    layers_yaml(words, shape, &model);
    sk_text_appendf(&model, ", input_layers: [[in, 0, 0]], output_layers: %s}}", outputs);
    sk_text_appendf(out, "[%s] %s\n", shape, words);
    say_model(sk_text_get(&model), false, out);
    sk_text_free(&model);
}

#endif
