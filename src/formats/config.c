/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/config_build.h"

#include "base/object.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- building --- */

sk_status sk_config_create(size_t text_length, const char *what, sk_config **out, sk_error *err)
{
    *out = NULL;
    if (text_length > SK_CONFIG_MAX_BYTES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %zu bytes of configuration; at most %zu are read", what,
                       text_length, SK_CONFIG_MAX_BYTES);
    sk_config *config = sk_calloc(1, sizeof *config);
    if (!config)
        return sk_fail_memory(err, sizeof *config);
    config->what = what;
    sk_status status = sk_arena_open(16384, &config->arena, err);
    if (status == SK_OK) /* the densest text, "[0,0,0…", costs two bytes an item and some 48 bytes a node */
        sk_arena_limit(config->arena, (size_t)65536 + text_length * 128);
    return SK_HAND_OVER(status, config, out, sk_config_close);
}

void sk_config_close(sk_config **config)
{
    SK_TAKE_OR_RETURN(c, config);
    sk_arena_close(&c->arena);
    sk_free(c);
}

const sk_config_value *sk_config_root(const sk_config *config)
{
    return config ? config->root : NULL;
}

static sk_status fail_memory(sk_config *config, sk_error *err)
{
    return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory while reading the configuration", config->what);
}

sk_status sk_config_node(sk_config *config, sk_config_kind kind, sk_config_value **out, sk_error *err)
{
    if (++config->n_nodes > SK_CONFIG_MAX_NODES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: more than %zu values", config->what, SK_CONFIG_MAX_NODES);
    sk_config_value *value = sk_arena_alloc(config->arena, sizeof *value);
    if (!value)
        return fail_memory(config, err);
    value->kind = kind;
    *out = value;
    return SK_OK;
}

sk_status sk_config_string(sk_config *config, const char *text, size_t length, sk_config_value **out,
                           sk_error *err)
{
    SK_TRY(sk_config_node(config, SK_CONFIG_STRING, out, err));
    (*out)->u.text = sk_arena_strndup(config->arena, text, length);
    if (!(*out)->u.text)
        return fail_memory(config, err);
    (*out)->length = length;
    return SK_OK;
}

sk_status sk_config_gather_add(sk_config_gather *gather, const sk_config_value *item, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&gather->items, &gather->capacity, gather->count + 1,
                            sizeof *gather->items, 2 * SK_CONFIG_MAX_NODES, err));
    gather->items[gather->count++] = item;
    return SK_OK;
}

void sk_config_gather_free(sk_config_gather *gather)
{
    sk_free(gather->items);
    *gather = (sk_config_gather){0};
}

sk_status sk_config_finish_list(sk_config *config, const sk_config_gather *gather, sk_config_value **out,
                                sk_error *err)
{
    SK_TRY(sk_config_node(config, SK_CONFIG_LIST, out, err));
    const sk_config_value **items = sk_arena_alloc(config->arena, gather->count * sizeof *items);
    if (!items)
        return fail_memory(config, err);
    if (gather->count)
        memcpy(items, gather->items, gather->count * sizeof *items);
    (*out)->u.items = items;
    (*out)->length = gather->count;
    return SK_OK;
}

/* The key as text, so that lookups by name find {0: …} as well as {"0": …}. */
static const char *key_name(sk_config *config, const sk_config_value *key)
{
    char buffer[40];
    switch (key->kind) {
    case SK_CONFIG_STRING: return key->u.text;
    case SK_CONFIG_INT: snprintf(buffer, sizeof buffer, "%" PRId64, key->u.integer); break;
    case SK_CONFIG_REAL: snprintf(buffer, sizeof buffer, "%.17g", key->u.real); break;
    case SK_CONFIG_BOOL: return key->u.boolean ? "true" : "false";
    case SK_CONFIG_NULL: return "null";
    case SK_CONFIG_LIST:
    case SK_CONFIG_MAP: return ""; /* a tuple as a key: kept, not found by name */
    }
    return sk_arena_strdup(config->arena, buffer);
}

typedef struct {
    const char *name;
    size_t index;
} named_index;

static int compare_named(const void *left, const void *right)
{
    const named_index *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Repeated keys: the first keeps its place, the last gives the value. Found by sorting, so that a hostile
 * map of many keys costs n log n. */
static sk_status merge_repeated(sk_config_pair *pairs, size_t *count, sk_error *err)
{
    named_index *order = sk_malloc(*count * sizeof *order);
    if (!order)
        return sk_fail_memory(err, *count * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < *count; i++)
        if (pairs[i].key->kind != SK_CONFIG_LIST && pairs[i].key->kind != SK_CONFIG_MAP)
            order[n++] = (named_index){pairs[i].name, i};
    qsort(order, n, sizeof *order, compare_named);
    for (size_t i = 0; i < n;) {
        size_t first = i++;
        for (; i < n && strcmp(order[i].name, order[first].name) == 0; i++) {
            pairs[order[first].index].value = pairs[order[i].index].value;
            pairs[order[first].index].again = pairs[order[i].index].key;
            pairs[order[i].index].value = NULL;
        }
    }
    sk_free(order);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (pairs[i].value)
            pairs[kept++] = pairs[i];
    *count = kept;
    return SK_OK;
}

sk_status sk_config_finish_map(sk_config *config, const sk_config_gather *gather, sk_config_value **out,
                               sk_error *err)
{
    SK_TRY(sk_config_node(config, SK_CONFIG_MAP, out, err));
    size_t count = gather->count / 2;
    sk_config_pair *pairs = sk_arena_alloc(config->arena, count * sizeof *pairs);
    if (!pairs)
        return fail_memory(config, err);
    for (size_t i = 0; i < count; i++) {
        const sk_config_value *key = gather->items[2 * i];
        pairs[i] = (sk_config_pair){key, key_name(config, key), gather->items[2 * i + 1], NULL};
        if (!pairs[i].name)
            return fail_memory(config, err);
    }
    SK_TRY(merge_repeated(pairs, &count, err));
    (*out)->u.pairs = pairs;
    (*out)->length = count;
    return SK_OK;
}

bool sk_config_parse_number(const char *text, size_t length, sk_config_value *out)
{
    char copy[64];
    if (length >= sizeof copy)
        return false; /* nobody writes numbers that long */
    memcpy(copy, text, length);
    copy[length] = '\0';
    /* Only decimal forms: strtod alone would also take "inf", "nan" and hexadecimal floats. */
    bool plain = length > 0 && strspn(copy, "+-0123456789.eE") == length && strpbrk(copy, "0123456789");
    bool done = false;
    char *end;
    if (plain && !strpbrk(copy, ".eE")) {
        errno = 0;
        long long integer = strtoll(copy, &end, 10);
        if (*end == '\0' && errno == 0) {
            out->kind = SK_CONFIG_INT;
            out->u.integer = integer;
            done = true;
        }
    }
    if (plain && !done) {
        double real = strtod(copy, &end);
        if (*end == '\0') {
            out->kind = SK_CONFIG_REAL;
            out->u.real = real;
            done = true;
        }
    }
    return done;
}

/* --- reading --- */

const sk_config_value *sk_config_get(const sk_config_value *map, const char *key)
{
    if (!map || map->kind != SK_CONFIG_MAP)
        return NULL;
    for (size_t i = 0; i < map->length; i++)
        if (strcmp(map->u.pairs[i].name, key) == 0)
            return map->u.pairs[i].value;
    return NULL;
}

const sk_config_value *sk_config_at(const sk_config_value *list, size_t index)
{
    return list && list->kind == SK_CONFIG_LIST && index < list->length ? list->u.items[index] : NULL;
}

const sk_config_value *sk_config_find(const sk_config_value *value, const char *path)
{
    while (value && *path) {
        char part[128];
        size_t length = strcspn(path, ".");
        if (length >= sizeof part)
            return NULL;
        memcpy(part, path, length);
        part[length] = '\0';
        if (value->kind == SK_CONFIG_LIST) {
            char *end;
            unsigned long long index = strtoull(part, &end, 10);
            value = end != part && *end == '\0' ? sk_config_at(value, (size_t)index) : NULL;
        } else {
            value = sk_config_get(value, part);
        }
        path += length + (path[length] == '.');
    }
    return value;
}

size_t sk_config_count(const sk_config_value *value)
{
    return value && (value->kind == SK_CONFIG_LIST || value->kind == SK_CONFIG_MAP) ? value->length : 0;
}

bool sk_config_is_null(const sk_config_value *value)
{
    return !value || value->kind == SK_CONFIG_NULL;
}

bool sk_config_is(const sk_config_value *value, sk_config_kind kind)
{
    return value && value->kind == kind;
}

bool sk_config_to_int(const sk_config_value *value, int64_t *out)
{
    if (!value)
        return false;
    if (value->kind == SK_CONFIG_INT) {
        *out = value->u.integer;
    } else if (value->kind == SK_CONFIG_BOOL) {
        *out = value->u.boolean;
    } else if (value->kind == SK_CONFIG_REAL && value->u.real == floor(value->u.real) &&
               fabs(value->u.real) < 9007199254740992.0) {
        *out = (int64_t)value->u.real;
    } else {
        return false;
    }
    return true;
}

bool sk_config_to_real(const sk_config_value *value, double *out)
{
    if (!value)
        return false;
    switch (value->kind) {
    case SK_CONFIG_REAL: *out = value->u.real; return true;
    case SK_CONFIG_INT: *out = (double)value->u.integer; return true;
    case SK_CONFIG_BOOL: *out = value->u.boolean; return true;
    default: return false;
    }
}

bool sk_config_to_bool(const sk_config_value *value, bool *out)
{
    if (!value)
        return false;
    if (value->kind == SK_CONFIG_BOOL)
        *out = value->u.boolean;
    else if (value->kind == SK_CONFIG_INT && (value->u.integer == 0 || value->u.integer == 1))
        *out = value->u.integer == 1;
    else
        return false;
    return true;
}

const char *sk_config_text(const sk_config_value *value)
{
    return value && value->kind == SK_CONFIG_STRING && strlen(value->u.text) == value->length ? value->u.text
                                                                                              : NULL;
}

int64_t sk_config_int_or(const sk_config_value *value, const char *path, int64_t fallback)
{
    sk_config_to_int(sk_config_find(value, path), &fallback);
    return fallback;
}

double sk_config_real_or(const sk_config_value *value, const char *path, double fallback)
{
    sk_config_to_real(sk_config_find(value, path), &fallback);
    return fallback;
}

bool sk_config_bool_or(const sk_config_value *value, const char *path, bool fallback)
{
    sk_config_to_bool(sk_config_find(value, path), &fallback);
    return fallback;
}

const char *sk_config_text_or(const sk_config_value *value, const char *path, const char *fallback)
{
    const char *text = sk_config_text(sk_config_find(value, path));
    return text ? text : fallback;
}
