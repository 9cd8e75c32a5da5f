/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_PICKLE_NODE_H
#define SK_FORMATS_PICKLE_NODE_H

#include "formats/pickle.h"

/* What pickle.c, pickle_build.c and pickle_value.c share: the node behind every sk_pickle_value, and the document. */

typedef struct pickle_node {
    sk_pickle_value value; /* first: a value's pointer is its node's */
    size_t capacity;       /* LIST, DICT: room in items / pairs */
    uint32_t *index;       /* DICT: open addressing, pair number + 1; null while small */
    size_t index_size;     /* power of two */
} pickle_node;

struct sk_pickle {
    sk_arena *arena;
    size_t limit; /* of the arena */
    const char *what;
    pickle_node *root;
    pickle_node *none, *yes, *no, *empty_tuple;
    pickle_node *small[256]; /* integers 0 … 255, made once each */
};

static inline pickle_node *pickle_node_of(const sk_pickle_value *value)
{
    return (pickle_node *)(uintptr_t)value;
}

/* From the document's arena, zeroed. Errors do not name the place; the reader puts it before them. */
sk_status sk_pickle_alloc(sk_pickle *p, size_t bytes, void *out_pointer, sk_error *err);
sk_status sk_pickle_new(sk_pickle *p, sk_pickle_kind kind, pickle_node **out, sk_error *err);

sk_status sk_pickle_append(sk_pickle *p, pickle_node *list, pickle_node *item, sk_error *err);
/* Adds or overwrites. */
sk_status sk_pickle_put(sk_pickle *p, pickle_node *dict, pickle_node *key, pickle_node *value, sk_error *err);
/* Position of a key's pair, or SIZE_MAX. */
size_t sk_pickle_find(const sk_pickle_value *dict, const sk_pickle_value *key, uint64_t hash);
uint64_t sk_pickle_hash(const sk_pickle_value *key);

/* What REDUCE and NEWOBJ make of a callable and its arguments, and BINPERSID of its tuple. Never runs anything. */
sk_status sk_pickle_call(sk_pickle *p, pickle_node *callable, pickle_node *args, pickle_node **out,
                         sk_error *err);
sk_status sk_pickle_persistent(sk_pickle *p, pickle_node *id, pickle_node **out, sk_error *err);

#endif
