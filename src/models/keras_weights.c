/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keras_layer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One tensor of a SLEAP network is a few megabytes; a pretrained encoder's largest some ten. */
#define MAX_WEIGHT_BYTES ((size_t)1 << 30)

/* --- from HDF5 --- */

/* How well a stored name such as "model/conv1/kernel:0" is weight `name` of `layer` (null: of whichever):
 * 2 exactly, 1 with more names in front, 0 not at all. Layers' names may hold slashes themselves: "bn" is
 * not "conv1/bn". */
static int match_name(const char *stored, const char *layer, const char *name)
{
    size_t length = strcspn(stored, ":");
    size_t name_length = strlen(name);
    if (length < name_length || strncmp(stored + length - name_length, name, name_length) != 0)
        return 0;
    length -= name_length;
    if (length > 0 && stored[length - 1] != '/')
        return 0;
    if (!layer)
        return 2;
    if (length == 0)
        return 0;
    length--;
    size_t layer_length = strlen(layer);
    if (length < layer_length || strncmp(stored + length - layer_length, layer, layer_length) != 0)
        return 0;
    return length == layer_length ? 2 : stored[length - layer_length - 1] == '/';
}

/* Looks through one list of names; *best and *path change when a better one is there. */
static sk_status search_names(sk_hdf5_file *file, const char *folder, const char *attribute,
                              const char *layer, const char *name, char *path, size_t capacity, int *best,
                              sk_error *err)
{
    sk_hdf5_texts names;
    SK_TRY(sk_hdf5_attribute_texts(file, folder, attribute, &names, err));
    const char *stored = names.bytes;
    for (size_t i = 0; i < names.count; i++, stored += strlen(stored) + 1) {
        int match = match_name(stored, layer, name);
        if (match > *best && snprintf(path, capacity, "%s/%s", folder, stored) < (int)capacity)
            *best = match;
    }
    sk_free(names.bytes);
    return SK_OK;
}

static bool shape_fits(const sk_shape *shape, const sk_shape *wanted)
{
    bool fits = shape->rank == wanted->rank;
    for (int i = 0; fits && i < wanted->rank; i++)
        fits = shape->dim[i] > 0 && (wanted->dim[i] < 0 || shape->dim[i] == wanted->dim[i]);
    return fits;
}

static sk_status read_from_hdf5(void *context, const char *group, const char *layer, const char *name,
                                const sk_shape *wanted, sk_blob **out, sk_shape *shape, sk_error *err)
{
    sk_hdf5_file *file = context;
    char folder[512], path[1024], attribute[32];
    int best = 0;
    *out = NULL;
    if (snprintf(folder, sizeof folder, "model_weights/%s", group) >= (int)sizeof folder)
        return sk_fail(err, SK_ERR_LIMIT, "an over-long layer name");
    /* A group of its own holds one layer's weights only; a nested model's group holds many layers'. */
    const char *owner = strcmp(group, layer) != 0 ? layer : NULL;
    if (sk_hdf5_has_attribute(file, folder, "weight_names"))
        SK_TRY(search_names(file, folder, "weight_names", owner, name, path, sizeof path, &best, err));
    for (int chunk = 0; chunk < 64; chunk++) { /* Keras splits long lists: weight_names0, weight_names1 */
        snprintf(attribute, sizeof attribute, "weight_names%d", chunk);
        if (!sk_hdf5_has_attribute(file, folder, attribute))
            break;
        SK_TRY(search_names(file, folder, attribute, owner, name, path, sizeof path, &best, err));
    }
    if (best == 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "weight \"%s\" is not in the file", name);
    sk_dtype dtype;
    SK_TRY(sk_hdf5_dataset_info(file, path, &dtype, shape, err));
    if (!shape_fits(shape, wanted))
        return SK_OK;
    return sk_hdf5_dataset_read(file, path, SK_DTYPE_F32, MAX_WEIGHT_BYTES, out, shape, err);
}

sk_keras_weights sk_keras_weights_of(sk_hdf5_file *file)
{
    return (sk_keras_weights){file, read_from_hdf5};
}

/* --- into the graph --- */

/* dst dimension j is src dimension perm[j]. */
static void permute(const float *src, const sk_shape *shape, const int *perm, float *dst)
{
    int rank = shape->rank;
    int64_t stride[SK_MAX_RANK], index[SK_MAX_RANK] = {0};
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape->dim[i];
    }
    for (int64_t n = 0; n < step; n++) {
        int64_t at = 0;
        for (int j = 0; j < rank; j++)
            at += index[j] * stride[perm[j]];
        dst[n] = src[at];
        for (int j = rank - 1; j >= 0 && ++index[j] == shape->dim[perm[j]]; j--)
            index[j] = 0;
    }
}

static sk_status check_shape(const sk_keras_layer *layer, const char *weight, const sk_shape *shape,
                             const sk_shape *wanted)
{
    char found_text[SK_SHAPE_TEXT], wanted_text[SK_SHAPE_TEXT];
    if (!shape_fits(shape, wanted))
        return sk_keras_fail(
            layer, SK_ERR_MISMATCH,
            "weight \"%s\" is of shape %s where the network needs %s; the file is damaged or mixes "
            "two models",
            weight, sk_shape_text(shape, found_text, sizeof found_text),
            sk_shape_text(wanted, wanted_text, sizeof wanted_text));
    return SK_OK;
}

static sk_status check_finite(const sk_keras_layer *layer, const char *weight, const float *values,
                              int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return sk_keras_fail(
                layer, SK_ERR_FORMAT,
                "weight \"%s\" holds %s at element %lld: the training diverged or the file is "
                "damaged; use another checkpoint",
                weight, isnan(values[i]) ? "NaN" : "infinity", (long long)i);
    return SK_OK;
}

sk_status sk_keras_constant(sk_keras_layer *layer, const char *weight, int rank, const int64_t *dims,
                            const int *perm, sk_value *out, sk_shape *found)
{
    sk_status status = SK_OK;
    sk_blob *blob = NULL, *turned = NULL;
    sk_shape shape, target, wanted = {.rank = rank};
    sk_error why = {0};
    char name[300];
    *out = SK_VALUE_NONE;
    memcpy(wanted.dim, dims, (size_t)rank * sizeof *dims);
    status = layer->weights->read(layer->weights->context, layer->group, layer->name, weight, &wanted, &blob,
                                  &shape, &why);
    if (status != SK_OK) {
        status = sk_keras_fail(layer, status, "%s", why.message);
        goto done;
    }
    SK_TRY_GOTO(check_shape(layer, weight, &shape, &wanted));
    SK_TRY_GOTO(check_finite(layer, weight, sk_blob_data(blob), sk_shape_count(&shape)));
    target = shape;
    if (perm) {
        SK_TRY_GOTO(sk_blob_alloc(sk_blob_bytes(blob), &turned, layer->err));
        permute(sk_blob_data(blob), &shape, perm, sk_blob_data(turned));
        for (int i = 0; i < rank; i++)
            target.dim[i] = shape.dim[perm[i]];
    }
    snprintf(name, sizeof name, "%.200s/%.60s", layer->name, weight);
    *out = sk_b_constant_blob(layer->b, name, SK_DTYPE_F32, &target, perm ? turned : blob, 0);
    if (found)
        *found = shape;
done:
    sk_blob_unref(&blob);
    sk_blob_unref(&turned);
    return status;
}

sk_status sk_keras_filled(sk_keras_layer *layer, const char *weight, int64_t count, float value,
                          sk_value *out)
{
    sk_blob *blob;
    SK_TRY(sk_blob_alloc((size_t)count * sizeof(float), &blob, layer->err));
    float *values = sk_blob_data(blob);
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
    char name[300];
    snprintf(name, sizeof name, "%.200s/%.60s", layer->name, weight);
    *out = sk_b_constant_blob(layer->b, name, SK_DTYPE_F32, &(sk_shape){.rank = 1, .dim = {count}}, blob, 0);
    sk_blob_unref(&blob);
    return SK_OK;
}

void sk_keras_reshape_constant(sk_keras_layer *layer, sk_value constant, const sk_shape *shape)
{
    if (constant == SK_VALUE_NONE)
        return; /* the builder holds the failure */
    layer->b->graph->values[constant].shape = *shape;
}
