/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pickle_node.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

/* Dictionaries up to this size are searched one by one. */
#define SMALL_DICT 8

/* --- making --- */

sk_status sk_pickle_alloc(sk_pickle *p, size_t bytes, void *out_pointer, sk_error *err)
{
    void *block = sk_arena_alloc(p->arena, bytes);
    memcpy(out_pointer, &block, sizeof block);
    if (block)
        return SK_OK;
    if (bytes > p->limit || sk_arena_used(p->arena) > p->limit - bytes)
        return sk_fail(err, SK_ERR_LIMIT,
                       "the pickle unfolds to more than %zu MiB, far beyond its size; refused",
                       p->limit >> 20);
    return sk_fail_memory(err, bytes);
}

sk_status sk_pickle_new(sk_pickle *p, sk_pickle_kind kind, pickle_node **out, sk_error *err)
{
    SK_TRY(sk_pickle_alloc(p, sizeof **out, out, err));
    (*out)->value.kind = kind;
    return SK_OK;
}

sk_status sk_pickle_append(sk_pickle *p, pickle_node *list, pickle_node *item, sk_error *err)
{
    size_t n = list->value.length;
    if (n == list->capacity) {
        size_t capacity = n ? n * 2 : 4;
        const sk_pickle_value **items;
        SK_TRY(sk_pickle_alloc(p, capacity * sizeof *items, &items, err));
        if (n)
            memcpy(items, list->value.u.items, n * sizeof *items);
        list->value.u.items = items;
        list->capacity = capacity;
    }
    list->value.u.items[n] = &item->value;
    list->value.length = n + 1;
    return SK_OK;
}

/* --- dictionaries --- */

/* Where this library was loaded differs from run to run, so nobody can prepare colliding keys. */
static uint64_t hash_seed(void)
{
    static const char anchor;
    return (uint64_t)(uintptr_t)&anchor;
}

uint64_t sk_pickle_hash(const sk_pickle_value *key)
{
    switch (key->kind) {
    case SK_PICKLE_STRING:
    case SK_PICKLE_BYTES: return XXH3_64bits_withSeed(key->u.text, key->length, hash_seed());
    case SK_PICKLE_INT: return XXH3_64bits_withSeed(&key->u.integer, sizeof key->u.integer, hash_seed());
    default: /* others are equal only when they are the same node */
        return XXH3_64bits_withSeed(&key, sizeof key, hash_seed());
    }
}

static bool same_key(const sk_pickle_value *a, const sk_pickle_value *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    if (a->kind == SK_PICKLE_STRING || a->kind == SK_PICKLE_BYTES)
        return a->length == b->length && memcmp(a->u.text, b->u.text, a->length) == 0;
    return a->kind == SK_PICKLE_INT && a->u.integer == b->u.integer;
}

size_t sk_pickle_find(const sk_pickle_value *dict, const sk_pickle_value *key, uint64_t hash)
{
    const pickle_node *node = pickle_node_of(dict);
    if (!node->index) {
        for (size_t i = 0; i < dict->length; i++) {
            if (same_key(dict->u.pairs[i].key, key))
                return i;
        }
        return SIZE_MAX;
    }
    for (size_t slot = hash & (node->index_size - 1); node->index[slot];
         slot = (slot + 1) & (node->index_size - 1)) {
        size_t i = node->index[slot] - 1;
        if (same_key(dict->u.pairs[i].key, key))
            return i;
    }
    return SIZE_MAX;
}

static void index_pair(pickle_node *dict, size_t pair, uint64_t hash)
{
    size_t slot = hash & (dict->index_size - 1);
    while (dict->index[slot])
        slot = (slot + 1) & (dict->index_size - 1);
    dict->index[slot] = (uint32_t)pair + 1;
}

static sk_status grow_dict(sk_pickle *p, pickle_node *dict, sk_error *err)
{
    size_t n = dict->value.length, capacity = n ? n * 2 : 4;
    sk_pickle_pair *pairs;
    uint32_t *index;
    SK_TRY(sk_pickle_alloc(p, capacity * sizeof *pairs, &pairs, err));
    if (n)
        memcpy(pairs, dict->value.u.pairs, n * sizeof *pairs);
    dict->value.u.pairs = pairs;
    dict->capacity = capacity;
    if (capacity <= SMALL_DICT)
        return SK_OK;
    SK_TRY(sk_pickle_alloc(p, capacity * 2 * sizeof *index, &index, err));
    dict->index = index;
    dict->index_size = capacity * 2;
    for (size_t i = 0; i < n; i++)
        index_pair(dict, i, sk_pickle_hash(pairs[i].key));
    return SK_OK;
}

sk_status sk_pickle_put(sk_pickle *p, pickle_node *dict, pickle_node *key, pickle_node *value, sk_error *err)
{
    uint64_t hash = sk_pickle_hash(&key->value);
    size_t at = sk_pickle_find(&dict->value, &key->value, hash);
    if (at != SIZE_MAX) {
        dict->value.u.pairs[at].value = &value->value;
        return SK_OK;
    }
    if (dict->value.length == dict->capacity)
        SK_TRY(grow_dict(p, dict, err));
    at = dict->value.length++;
    dict->value.u.pairs[at] = (sk_pickle_pair){&key->value, &value->value};
    if (dict->index)
        index_pair(dict, at, hash);
    return SK_OK;
}

/* --- looking --- */

static const sk_pickle_value *dict_get(const sk_pickle_value *dict, const sk_pickle_value *key)
{
    if (!dict || dict->kind != SK_PICKLE_DICT)
        return NULL;
    size_t at = sk_pickle_find(dict, key, sk_pickle_hash(key));
    return at == SIZE_MAX ? NULL : dict->u.pairs[at].value;
}

const sk_pickle_value *sk_pickle_get(const sk_pickle_value *value, const char *key)
{
    if (!value || !key)
        return NULL;
    sk_pickle_value wanted = {.kind = SK_PICKLE_STRING, .length = strlen(key)};
    wanted.u.text = key;
    if (value->kind != SK_PICKLE_OBJECT)
        return dict_get(value, &wanted);
    const sk_pickle_value *state = value->u.object.state, *found = dict_get(state, &wanted);
    /* Classes with __slots__ pickle (dict, slots). */
    for (size_t i = 0; !found && state && state->kind == SK_PICKLE_TUPLE && i < state->length && i < 2; i++)
        found = dict_get(state->u.items[i], &wanted);
    return found ? found : dict_get(value->u.object.items, &wanted);
}

const sk_pickle_value *sk_pickle_get_int(const sk_pickle_value *value, int64_t key)
{
    sk_pickle_value wanted = {.kind = SK_PICKLE_INT};
    wanted.u.integer = key;
    if (value && value->kind == SK_PICKLE_OBJECT)
        value = value->u.object.items;
    return dict_get(value, &wanted);
}

const sk_pickle_value *sk_pickle_child(const sk_pickle_value *module, const char *name)
{
    return sk_pickle_get(sk_pickle_get(module, "_modules"), name);
}

const sk_pickle_value *sk_pickle_parameter(const sk_pickle_value *module, const char *name)
{
    const sk_pickle_value *found = sk_pickle_get(sk_pickle_get(module, "_parameters"), name);
    if (!found || found->kind == SK_PICKLE_NONE)
        found = sk_pickle_get(sk_pickle_get(module, "_buffers"), name);
    return found && found->kind == SK_PICKLE_NONE ? NULL : found;
}

const sk_pickle_value *sk_pickle_at(const sk_pickle_value *value, size_t index)
{
    if (!value || (value->kind != SK_PICKLE_LIST && value->kind != SK_PICKLE_TUPLE) || index >= value->length)
        return NULL;
    return value->u.items[index];
}

const char *sk_pickle_text(const sk_pickle_value *value)
{
    return value && value->kind == SK_PICKLE_STRING ? value->u.text : NULL;
}

bool sk_pickle_to_int(const sk_pickle_value *value, int64_t *out)
{
    if (!value)
        return false;
    switch (value->kind) {
    case SK_PICKLE_INT: *out = value->u.integer; return true;
    case SK_PICKLE_BOOL: *out = value->u.boolean; return true;
    case SK_PICKLE_FLOAT:
        /* Doubles at or beyond 2^63 have no int64. */
        if (!(fabs(value->u.real) < 9.2e18) || value->u.real != trunc(value->u.real))
            return false;
        *out = (int64_t)value->u.real;
        return true;
    default: return false;
    }
}

bool sk_pickle_to_real(const sk_pickle_value *value, double *out)
{
    if (!value)
        return false;
    switch (value->kind) {
    case SK_PICKLE_FLOAT: *out = value->u.real; return true;
    case SK_PICKLE_INT: *out = (double)value->u.integer; return true;
    case SK_PICKLE_BOOL: *out = value->u.boolean; return true;
    default: return false;
    }
}

const char *sk_pickle_class(const sk_pickle_value *value, const char **module)
{
    if (module)
        *module = NULL;
    if (!value || value->kind != SK_PICKLE_OBJECT)
        return NULL;
    const sk_pickle_value *callable = value->u.object.callable;
    if (!callable || callable->kind != SK_PICKLE_GLOBAL)
        return NULL;
    if (module)
        *module = callable->u.global.module;
    const char *dot = strrchr(callable->u.global.name, '.');
    return dot ? dot + 1 : callable->u.global.name;
}
