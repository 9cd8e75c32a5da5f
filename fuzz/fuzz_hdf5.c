/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/hdf5_file.h"
#include "mutate.h"

#include <stdio.h>
#include <string.h>

static void read_object(sk_hdf5_file *file, const char *path)
{
    static const char *const attributes[] = {"model_config", "weight_names", "layer_names", "format_id"};
    sk_hdf5_texts texts;
    sk_blob *blob = NULL;
    sk_shape shape;
    sk_dtype dtype;
    double number;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (sk_hdf5_attribute_texts(file, path, attributes[i], &texts, NULL) == SK_OK) {
            SK_FUZZ_CHECK(!texts.count || sk_hdf5_text_at(&texts, texts.count - 1));
            sk_free(texts.bytes);
        }
        if (sk_hdf5_attribute_real(file, path, attributes[i], &number, NULL) == SK_OK)
            SK_FUZZ_CHECK(sk_hdf5_has_attribute(file, path, attributes[i]));
    }
    if (sk_hdf5_dataset_info(file, path, &dtype, &shape, NULL) != SK_OK)
        return;
    if (sk_hdf5_dataset_read(file, path, SK_DTYPE_F32, 1 << 20, &blob, &shape, NULL) == SK_OK)
        SK_FUZZ_CHECK(sk_blob_bytes(blob) == (size_t)sk_shape_count(&shape) * 4);
    sk_blob_unref(&blob);
    if (sk_hdf5_dataset_texts(file, path, &texts, NULL) == SK_OK)
        sk_free(texts.bytes);
}

static void walk(sk_hdf5_file *file, const char *path, int depth, int *budget)
{
    sk_hdf5_texts members;
    if (--*budget < 0)
        return;
    read_object(file, path);
    if (depth >= 4 || sk_hdf5_members(file, path, &members, NULL) != SK_OK)
        return;
    const char *name = members.bytes;
    for (size_t i = 0; i < members.count && i < 16; i++, name += strlen(name) + 1) {
        char child[512];
        if (snprintf(child, sizeof child, "%s/%s", path, name) < (int)sizeof child)
            walk(file, child, depth + 1, budget);
    }
    sk_free(members.bytes);
}

SK_FUZZ_MUTATE(sk_mutate_fields)

SK_FUZZ(hdf5, data, size)
{
    sk_hdf5_file *file = NULL;
    sk_error err = {0};
    int budget = 64;
    sk_status status = sk_hdf5_open_memory(data, size, "fuzz.h5", &file, &err);
    if (status == SK_OK)
        walk(file, "", 0, &budget);
    else
        SK_FUZZ_CHECK(!file && err.code == status && err.message[0]);
    sk_hdf5_close(&file);
}
