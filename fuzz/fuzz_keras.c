/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "models/keras.h"
#include "mutate.h"

/* The layers' JSON is the input; weights are made up in whatever shape the network asks for. */
static sk_status make_weight(void *context, const char *group, const char *layer, const char *name,
                             const sk_shape *wanted, sk_blob **out, sk_shape *shape, sk_error *err)
{
    (void)group;
    (void)layer;
    size_t *budget = context;
    *out = NULL;
    *shape = *wanted;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 0)
            shape->dim[i] = 2;
    int64_t count = sk_shape_count(shape);
    if (count < 0 || (size_t)count > *budget)
        return sk_fail(err, SK_ERR_NOT_FOUND, "weight \"%s\" is not in the file", name);
    *budget -= (size_t)count;
    return sk_blob_alloc((size_t)count * sizeof(float), out, err);
}

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(keras, data, size)
{
    sk_config *config = NULL;
    sk_graph *graph = NULL, *sized = NULL;
    sk_keras_network network;
    sk_error err = {0};
    size_t budget = 1 << 20;
    sk_keras_weights weights = {&budget, make_weight};
    if (sk_config_open_json((const char *)data, size, "fuzz.h5", &config, &err) != SK_OK)
        return;
    if (sk_graph_open(&graph, &err) == SK_OK) {
        sk_status status = sk_keras_build(sk_config_root(config), &weights, "fuzz.h5", graph, &network, &err);
        if (status == SK_OK) {
            SK_FUZZ_CHECK(graph->n_inputs == 1 && graph->n_outputs == network.n_outputs &&
                          network.n_outputs > 0);
            sk_shape shape = sk_shape_of(4, 1, network.channels, network.height ? network.height : 16,
                                         network.width ? network.width : 16);
            if (sk_graph_specialise(graph, &shape, 1, &sized, &err) == SK_OK)
                SK_FUZZ_CHECK(sk_graph_verify(sized, &err) == SK_OK);
        } else {
            SK_FUZZ_CHECK(err.code == status && err.message[0]);
        }
    }
    sk_graph_close(&sized);
    sk_graph_close(&graph);
    sk_config_close(&config);
}
