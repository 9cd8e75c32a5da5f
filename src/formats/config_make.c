/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/config_make.h"

#include "formats/config_build.h"

#include <string.h>

/* Room for a tree of the program's own making; the arena's bound is a multiple of it. */
#define MADE_BYTES ((size_t)1 << 20)

static bool going(const sk_maker *m)
{
    return m->failed.code == SK_OK;
}

static void add(sk_maker *m, const char *key, const sk_config_value *value)
{
    struct sk_make_level *top = &m->level[m->depth];
    sk_config_gather gather = {top->items, top->count, top->capacity};
    sk_status status = SK_OK;
    if (top->is_map != (key != NULL))
        status = sk_fail(&m->failed, SK_ERR_ARG, "%s: a map's values have keys, a list's have none",
                         m->config->what);
    sk_config_value *name = NULL;
    if (status == SK_OK && key)
        status = sk_config_string(m->config, key, strlen(key), &name, &m->failed);
    if (status == SK_OK && key)
        status = sk_config_gather_add(&gather, name, &m->failed);
    if (status == SK_OK)
        status = sk_config_gather_add(&gather, value, &m->failed);
    top->items = gather.items;
    top->count = gather.count;
    top->capacity = gather.capacity;
    m->failed.code = status;
}

void sk_make_begin(sk_maker *m, const char *what)
{
    *m = (sk_maker){0};
    m->level[0].is_map = true;
    m->failed.code = sk_config_create(MADE_BYTES, what, &m->config, &m->failed);
}

void sk_make_text(sk_maker *m, const char *key, const char *text)
{
    sk_config_value *value = NULL;
    if (!going(m))
        return;
    m->failed.code = sk_config_string(m->config, text, strlen(text), &value, &m->failed);
    if (going(m))
        add(m, key, value);
}

void sk_make_grown(sk_maker *m, const char *key, const sk_text *text)
{
    if (going(m))
        m->failed.code = sk_text_status(text, &m->failed);
    sk_make_text(m, key, sk_text_get(text));
}

void sk_make_owned(sk_maker *m, const char *key, char *text)
{
    if (going(m) && !text)
        m->failed.code = sk_fail_memory(&m->failed, 1);
    sk_make_text(m, key, text);
    sk_free(text);
}

static sk_config_value *node(sk_maker *m, sk_config_kind kind)
{
    sk_config_value *value = NULL;
    if (going(m))
        m->failed.code = sk_config_node(m->config, kind, &value, &m->failed);
    return going(m) ? value : NULL;
}

void sk_make_int(sk_maker *m, const char *key, int64_t number)
{
    sk_config_value *value = node(m, SK_CONFIG_INT);
    if (!value)
        return;
    value->u.integer = number;
    add(m, key, value);
}

void sk_make_real(sk_maker *m, const char *key, double number)
{
    sk_config_value *value = node(m, SK_CONFIG_REAL);
    if (!value)
        return;
    value->u.real = number;
    add(m, key, value);
}

void sk_make_bool(sk_maker *m, const char *key, bool truth)
{
    sk_config_value *value = node(m, SK_CONFIG_BOOL);
    if (!value)
        return;
    value->u.boolean = truth;
    add(m, key, value);
}

void sk_make_value(sk_maker *m, const char *key, const sk_config_value *value)
{
    if (going(m))
        add(m, key, value);
}

static void begin_container(sk_maker *m, const char *key, bool is_map)
{
    if (!going(m))
        return;
    if (m->depth + 1 >= SK_MAKE_DEPTH) {
        m->failed.code =
            sk_fail(&m->failed, SK_ERR_LIMIT, "%s: nested deeper than %d", m->config->what, SK_MAKE_DEPTH);
        return;
    }
    m->level[++m->depth] = (struct sk_make_level){.is_map = is_map, .key = key};
}

void sk_make_map(sk_maker *m, const char *key)
{
    begin_container(m, key, true);
}

void sk_make_list(sk_maker *m, const char *key)
{
    begin_container(m, key, false);
}

static sk_config_value *finish_top(sk_maker *m)
{
    struct sk_make_level *top = &m->level[m->depth];
    const sk_config_gather gather = {top->items, top->count, top->capacity};
    sk_config_value *value = NULL;
    m->failed.code = top->is_map ? sk_config_finish_map(m->config, &gather, &value, &m->failed)
                                 : sk_config_finish_list(m->config, &gather, &value, &m->failed);
    return going(m) ? value : NULL;
}

void sk_make_close(sk_maker *m)
{
    if (!going(m))
        return;
    if (m->depth == 0) {
        m->failed.code = sk_fail(&m->failed, SK_ERR_ARG, "%s: nothing to close", m->config->what);
        return;
    }
    sk_config_value *value = finish_top(m);
    const char *key = m->level[m->depth].key;
    sk_free(m->level[m->depth].items);
    m->level[m->depth--].items = NULL;
    if (value)
        add(m, key, value);
}

sk_status sk_make_finish(sk_maker *m, sk_config **out, sk_error *err)
{
    *out = NULL;
    if (going(m) && m->depth)
        m->failed.code = sk_fail(&m->failed, SK_ERR_ARG, "%s: a map or list is open", m->config->what);
    if (going(m))
        m->config->root = finish_top(m);
    for (int i = 0; i < SK_MAKE_DEPTH; i++)
        sk_free(m->level[i].items);
    const sk_status status = m->failed.code;
    if (status == SK_OK) {
        *out = m->config;
        m->config = NULL;
    } else if (err) {
        *err = m->failed;
    }
    sk_config_close(&m->config);
    *m = (sk_maker){0};
    return status;
}
