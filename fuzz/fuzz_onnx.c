/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/onnx.h"
#include "models/onnx_export.h"
#include "models/onnx_meta.h"
#include "mutate.h"
#include "use_model.h"

/* What was read must be writable, and read back as the same number of things. */
static void write_again(const sk_onnx_model *onnx)
{
    sk_onnx_model *again = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (sk_onnx_write(onnx, &bytes, &length, NULL) == SK_OK) {
        SK_FUZZ_CHECK(sk_onnx_read(bytes, length, "again", NULL, &again, NULL) == SK_OK);
        SK_FUZZ_CHECK(again->graph.n_nodes == onnx->graph.n_nodes);
        SK_FUZZ_CHECK(again->graph.n_initializers == onnx->graph.n_initializers);
        SK_FUZZ_CHECK(again->n_metadata == onnx->n_metadata);
    }
    sk_free(bytes);
    sk_onnx_close(&again);
}

SK_FUZZ_MUTATE(sk_mutate_protobuf)

SK_FUZZ(onnx, data, size)
{
    sk_onnx_model *onnx = NULL, *exported = NULL;
    sk_model *model = NULL;
    sk_onnx_settings settings = sk_onnx_defaults();
    if (sk_onnx_read(data, size, "fuzz", NULL, &onnx, NULL) == SK_OK)
        write_again(onnx);
    sk_onnx_close(&onnx);
    if (sk_model_create(&model, NULL) != SK_OK)
        return;
    if (sk_onnx_read_model(data, size, "fuzz", NULL, model, NULL) == SK_OK) {
        settings.half = 1;
        if (sk_model_to_onnx(model, &settings, &exported, NULL) == SK_OK)
            write_again(exported);
        sk_onnx_close(&exported);
        sk_fuzz_use_model(model);
    }
    sk_model_close(&model);
}
