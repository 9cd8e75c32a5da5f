/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/torch_file.h"
#include "mutate.h"

#include <string.h>

/* Zip, pickle and tensors together, from bytes as they would lie in a file. */

static void read_tensors(sk_torch_file *file, const sk_pickle_value *value, int depth)
{
    if (!value || depth > 5)
        return;
    size_t n = value->length < 8 ? value->length : 8;
    if (value->kind == SK_PICKLE_TENSOR) {
        sk_blob *blob = NULL;
        sk_error err = {0};
        sk_status status = sk_torch_file_tensor(file, value, SK_DTYPE_F32, &blob, &err);
        if (status == SK_OK)
            SK_FUZZ_CHECK(sk_blob_bytes(blob) == 4 * (size_t)sk_shape_count(&value->u.tensor.shape));
        else
            SK_FUZZ_CHECK(!blob && err.message[0]);
        sk_blob_unref(&blob);
    } else if (value->kind == SK_PICKLE_DICT) {
        for (size_t i = 0; i < n; i++)
            read_tensors(file, value->u.pairs[i].value, depth + 1);
    } else if (value->kind == SK_PICKLE_LIST || value->kind == SK_PICKLE_TUPLE) {
        for (size_t i = 0; i < n; i++)
            read_tensors(file, value->u.items[i], depth + 1);
    } else if (value->kind == SK_PICKLE_OBJECT) {
        read_tensors(file, value->u.object.state, depth + 1);
    }
}

SK_FUZZ_MUTATE(sk_mutate_fields)

SK_FUZZ(torch, data, size)
{
    sk_torch_file *file;
    sk_error err = {0};
    sk_status status = sk_torch_file_open_memory(data, size, "fuzz.pt", &file, &err);
    if (status == SK_OK)
        read_tensors(file, sk_torch_file_root(file), 0);
    else
        SK_FUZZ_CHECK(!file && err.code == status && strstr(err.message, "fuzz.pt"));
    sk_torch_file_close(&file);
}
