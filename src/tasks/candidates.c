/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/candidates.h"

sk_status sk_candidates_alloc(int32_t capacity, sk_candidates *out, sk_error *err)
{
    SK_CHECK_ARG(out && capacity >= 1, err);
    *out = (sk_candidates){0};
    size_t n = ((size_t)capacity + 15) & ~(size_t)15;
    float *block = sk_aligned_calloc(64, n * 8 * sizeof(float));
    if (!block)
        return sk_fail_memory(err, n * 8 * sizeof(float));
    out->capacity = capacity;
    for (int k = 0; k < 4; k++)
        out->box[k] = block + (size_t)k * n;
    out->angle = block + 4 * n;
    out->score = block + 5 * n;
    out->class_id = (int32_t *)(void *)(block + 6 * n);
    out->place = (int32_t *)(void *)(block + 7 * n);
    return SK_OK;
}

void sk_candidates_free(sk_candidates *candidates)
{
    if (!candidates)
        return;
    sk_free(candidates->box[0]);
    *candidates = (sk_candidates){0};
}
