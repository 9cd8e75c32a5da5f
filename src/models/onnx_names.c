/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_names.h"

#include "base/object.h"

#include <string.h>
#include <xxhash.h>

typedef struct entry {
    const char *name; /* null: free */
    int32_t number;
} entry;

struct sk_onnx_scope {
    const sk_onnx_scope *outer;
    entry *entries; /* open addressing, capacity a power of two, at most half full */
    size_t capacity, count;
};

#define MAX_NAMES ((size_t)1 << 24)

sk_status sk_onnx_scope_open(const sk_onnx_scope *outer, sk_onnx_scope **out, sk_error *err)
{
    *out = sk_calloc(1, sizeof **out);
    if (!*out)
        return sk_fail_memory(err, sizeof **out);
    (*out)->outer = outer;
    return SK_OK;
}

void sk_onnx_scope_close(sk_onnx_scope **scope)
{
    SK_TAKE_OR_RETURN(s, scope);
    sk_free_all(s->entries, s);
}

/* The seed differs from scope to scope, so that no file can be made to collide. */
static entry *slot(const sk_onnx_scope *scope, const char *name)
{
    size_t mask = scope->capacity - 1;
    size_t at = (size_t)XXH64(name, strlen(name), (uint64_t)(uintptr_t)scope->entries) & mask;
    while (scope->entries[at].name && strcmp(scope->entries[at].name, name) != 0)
        at = (at + 1) & mask;
    return &scope->entries[at];
}

static sk_status grow(sk_onnx_scope *scope, sk_error *err)
{
    sk_onnx_scope grown = *scope;
    grown.capacity = scope->capacity ? scope->capacity * 2 : 64;
    if (grown.capacity > MAX_NAMES)
        return sk_fail(err, SK_ERR_LIMIT, "more than %zu names in an ONNX graph", MAX_NAMES / 2);
    grown.entries = sk_calloc(grown.capacity, sizeof *grown.entries);
    if (!grown.entries)
        return sk_fail_memory(err, grown.capacity * sizeof *grown.entries);
    for (size_t i = 0; i < scope->capacity; i++)
        if (scope->entries[i].name)
            *slot(&grown, scope->entries[i].name) = scope->entries[i];
    sk_free(scope->entries);
    *scope = grown;
    return SK_OK;
}

sk_status sk_onnx_scope_add(sk_onnx_scope *scope, const char *name, int32_t number, sk_error *err)
{
    if (scope->count * 2 >= scope->capacity)
        SK_TRY(grow(scope, err));
    entry *e = slot(scope, name);
    if (e->name)
        return sk_fail(err, SK_ERR_MISMATCH, "'%.200s' is made twice", name);
    *e = (entry){name, number};
    scope->count++;
    return SK_OK;
}

bool sk_onnx_scope_find_here(const sk_onnx_scope *scope, const char *name, int32_t *number)
{
    const entry *e = scope->count ? slot(scope, name) : NULL;
    if (!e || !e->name)
        return false;
    *number = e->number;
    return true;
}

bool sk_onnx_scope_find(const sk_onnx_scope *scope, const char *name, int32_t *number)
{
    for (; scope; scope = scope->outer)
        if (sk_onnx_scope_find_here(scope, name, number))
            return true;
    return false;
}
