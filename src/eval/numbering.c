/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/numbering.h"

#include "base/memory.h"

#include <string.h>

#define LEAST     256
#define MOST_KEYS ((size_t)1 << 30)

/* Mixes all bits of the key into the lower ones (the finaliser of splitmix64). */
static uint64_t mix(uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

static sk_status grow(sk_numbering *n, sk_error *err)
{
    size_t size = n->n_slots ? 2 * n->n_slots : LEAST;
    int32_t *slots = sk_calloc(size, sizeof *slots);
    if (!slots)
        return sk_fail_memory(err, size * sizeof *slots);
    for (int32_t i = 0; i < n->count; i++) {
        size_t at = mix(n->keys[i]) & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = i + 1;
    }
    sk_free(n->slots);
    n->slots = slots;
    n->n_slots = size;
    return SK_OK;
}

sk_status sk_numbering_get(sk_numbering *n, uint64_t key, int32_t *out, sk_error *err)
{
    if (2 * ((size_t)n->count + 1) > n->n_slots)
        SK_TRY(grow(n, err));
    size_t at = mix(key) & (n->n_slots - 1);
    for (; n->slots[at]; at = (at + 1) & (n->n_slots - 1))
        if (n->keys[n->slots[at] - 1] == key) {
            *out = n->slots[at] - 1;
            return SK_OK;
        }
    SK_TRY(sk_array_reserve((void **)&n->keys, &n->keys_capacity, (size_t)n->count + 1, sizeof *n->keys,
                            MOST_KEYS, err));
    n->keys[n->count] = key;
    *out = n->count;
    n->slots[at] = ++n->count;
    return SK_OK;
}

void sk_numbering_clear(sk_numbering *n)
{
    if (n->slots)
        memset(n->slots, 0, n->n_slots * sizeof *n->slots);
    n->count = 0;
}

void sk_numbering_free(sk_numbering *n)
{
    sk_free(n->keys);
    sk_free(n->slots);
    *n = (sk_numbering){0};
}
