/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/onnx.h"

#include "base/object.h"

#include <string.h>

sk_status sk_onnx_create(sk_onnx_model **out, sk_error *err)
{
    sk_onnx_model *model = sk_calloc(1, sizeof *model);
    if (!model)
        return sk_fail_memory(err, sizeof *model);
    model->producer = model->producer_version = model->doc = model->graph.name = "";
    sk_status status = sk_arena_open(0, &model->arena, err);
    return SK_HAND_OVER(status, model, out, sk_onnx_close);
}

void sk_onnx_close(sk_onnx_model **model)
{
    SK_TAKE_OR_RETURN(m, model);
    for (size_t i = 0; i < m->n_blobs; i++)
        sk_blob_unref(&m->blobs[i]);
    sk_free(m->blobs);
    sk_arena_close(&m->arena);
    sk_free(m);
}

sk_status sk_onnx_keep_blob(sk_onnx_model *model, sk_blob *blob, sk_error *err)
{
    void *items = model->blobs;
    sk_status status = sk_array_reserve(&items, &model->blobs_capacity, model->n_blobs + 1,
                                        sizeof *model->blobs, (size_t)1 << 24, err);
    model->blobs = items;
    if (status != SK_OK)
        sk_blob_unref(&blob);
    else
        model->blobs[model->n_blobs++] = blob;
    return status;
}

const char *sk_onnx_metadata(const sk_onnx_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_metadata; i++)
        if (strcmp(model->metadata[i][0], key) == 0)
            return model->metadata[i][1];
    return NULL;
}

const sk_onnx_attr *sk_onnx_find_attr(const sk_onnx_node *node, const char *name)
{
    for (int32_t i = 0; i < node->n_attrs; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

int64_t sk_onnx_opset_version(const sk_onnx_opset *opsets, int32_t n_opsets, const char *domain)
{
    for (int32_t i = 0; i < n_opsets; i++)
        if (strcmp(opsets[i].domain, domain) == 0)
            return opsets[i].version;
    return 0;
}
