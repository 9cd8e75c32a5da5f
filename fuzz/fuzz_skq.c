/* SPDX-License-Identifier: Apache-2.0 */
/* Models in eight bits: the bytes as a file, and, since no fuzzer finds a hash, the bytes as the parts of a file whose lengths and hash
 * are right: two bytes of length, JSON, the network. */
#include "fuzz.h"

#include "base/memory.h"
#include "formats/skq.h"
#include "models/onnx_export.h"
#include "mutate.h"
#include "use_model.h"

static void use_file(const uint8_t *file, size_t length)
{
    sk_error err = {0};
    sk_model *model = NULL;
    sk_onnx_model *onnx = NULL;
    sk_onnx_settings settings = sk_onnx_defaults();
    sk_status status = sk_model_open_bytes(file, length, "fuzz.skq", SK_HEADS_AUTO, &model, &err);
    SK_FUZZ_CHECK(status == SK_OK ? model != NULL : model == NULL && err.message[0]);
    if (status != SK_OK)
        return;
    char text[SK_QUANTISED_TEXT];
    SK_FUZZ_CHECK(!model->quantised || sk_quantised_text(model->quantised, text)[0]);
    for (settings.eight_bits = 0; settings.eight_bits <= SK_ONNX_EIGHT_BITS_NONE; settings.eight_bits++) {
        status = sk_model_to_onnx(model, &settings, &onnx, &err);
        SK_FUZZ_CHECK(status == SK_OK || err.message[0]);
        sk_onnx_close(&onnx);
    }
    sk_fuzz_use_model(model);
    sk_model_close(&model);
}

SK_FUZZ(skq, data, size)
{
    uint8_t *file = NULL;
    size_t length = 0;
    use_file(data, size);
    if (size < 2)
        return;
    size_t json = (size_t)data[0] | (size_t)data[1] << 8;
    json = json > size - 2 ? size - 2 : json;
    sk_skq parts = {(const char *)data + 2, json, data + 2 + json, size - 2 - json};
    if (sk_skq_write(&parts, &file, &length, NULL) == SK_OK)
        use_file(file, length);
    sk_free(file);
}
