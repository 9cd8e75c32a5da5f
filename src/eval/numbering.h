/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_NUMBERING_H
#define SK_EVAL_NUMBERING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Numbers 0, 1, 2 … for keys, in the order in which they first come. Begins as zeros. */
typedef struct sk_numbering {
    uint64_t *keys; /* by number */
    int32_t count;
    int32_t *slots; /* number + 1; 0 empty */
    size_t n_slots, keys_capacity;
} sk_numbering;

sk_status sk_numbering_get(sk_numbering *numbering, uint64_t key, int32_t *out, sk_error *err) SK_MUST_CHECK;
/* Forgets all keys, keeps the memory. */
void sk_numbering_clear(sk_numbering *numbering);
void sk_numbering_free(sk_numbering *numbering);

#endif
