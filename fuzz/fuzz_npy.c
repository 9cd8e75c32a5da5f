/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/npy.h"
#include "mutate.h"

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(npy, data, size)
{
    sk_tensor tensor;
    sk_error err = {0};
    sk_status status = sk_npy_parse(data, size, "fuzz.npy", 1 << 20, &tensor, &err);
    if (status == SK_OK) {
        SK_FUZZ_CHECK(tensor.data && sk_tensor_bytes(&tensor) <= 1 << 20);
        for (int64_t i = 0; i < sk_shape_count(&tensor.shape) && i < 64; i++)
            sk_tensor_at(&tensor, i);
    } else {
        SK_FUZZ_CHECK(!tensor.data && err.code == status && err.message[0]);
    }
    sk_free(tensor.data);
}
