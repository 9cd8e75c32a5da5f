/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/manifest.h"

#include "base/object.h"
#include "ros/manifest_fields.h"

#include <stdio.h>
#include <string.h>

#define MAX_VALUES 100000 /* aliases written out */

const char *const sk_ros_backends[] = {"cuda", "rocm", "openvino", "tensorrt", "onnx", "cpu", NULL};

/* --- fields --- */

void sk_manifest_wrong(const sk_manifest *manifest, const sk_config_value *at, sk_problems *problems,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sk_problems_add_at(problems, manifest->path, at ? at->line : 0, at ? at->column : 0, format, args);
    va_end(args);
}

static const char *kind_name(sk_config_kind kind)
{
    static const char *const names[] = {
        [SK_CONFIG_NULL] = "nothing",  [SK_CONFIG_BOOL] = "a truth",  [SK_CONFIG_INT] = "a number",
        [SK_CONFIG_REAL] = "a number", [SK_CONFIG_STRING] = "a text", [SK_CONFIG_LIST] = "a list",
        [SK_CONFIG_MAP] = "a section"};
    return names[kind];
}

const sk_config_value *sk_manifest_field(sk_manifest_reader *r, const sk_config_value *map, const char *what,
                                         const char *key, sk_config_kind kind, bool required)
{
    const sk_config_value *value = sk_config_get(map, key);
    const char *dot = *what ? "." : "";
    if (!value && required)
        sk_manifest_wrong(r->manifest, map, r->problems, "%s%s%s is missing", what, dot, key);
    if (!value || value->kind == kind)
        return value;
    sk_manifest_wrong(
        r->manifest, value, r->problems, "%s%s%s must be %s, and is %s%s", what, dot, key, kind_name(kind),
        kind_name(value->kind),
        kind == SK_CONFIG_STRING && value->kind < SK_CONFIG_STRING ? ": put it in quotation marks" : "");
    return NULL;
}

const char *sk_manifest_text(sk_manifest_reader *r, const sk_config_value *map, const char *what,
                             const char *key, bool required, const char *otherwise)
{
    const sk_config_value *value = sk_manifest_field(r, map, what, key, SK_CONFIG_STRING, required);
    if (value && !sk_config_text(value))
        sk_manifest_wrong(r->manifest, value, r->problems, "%s.%s holds a zero byte", what, key);
    const char *text = sk_config_text(value);
    if (required && text && !*text)
        sk_manifest_wrong(r->manifest, value, r->problems, "%s.%s is empty", what, key);
    return text ? text : otherwise;
}

void *sk_manifest_room(sk_manifest_reader *r, size_t count, size_t bytes)
{
    if (r->status != SK_OK)
        return NULL;
    void *room = sk_arena_alloc(r->manifest->arena, count * bytes);
    if (!room)
        r->status = SK_ERR_MEMORY;
    return room;
}

void sk_manifest_list(sk_manifest_reader *r, const sk_config_value *map, const char *what, const char *key,
                      bool required, sk_manifest_names *out)
{
    *out = (sk_manifest_names){0};
    const sk_config_value *list = sk_manifest_field(r, map, what, key, SK_CONFIG_LIST, required);
    if (!list)
        return;
    if (list->length > SK_MANIFEST_MAX_ITEMS) {
        sk_manifest_wrong(r->manifest, list, r->problems, "%s.%s has more than %d items", what, key,
                          SK_MANIFEST_MAX_ITEMS);
        return;
    }
    const char **items = sk_manifest_room(r, list->length, sizeof *items);
    for (size_t i = 0; items && i < list->length; i++) {
        const char *text = sk_config_text(list->u.items[i]);
        if (text && *text)
            items[out->count++] = text;
        else
            sk_manifest_wrong(r->manifest, list->u.items[i], r->problems, "%s.%s[%zu] must be a text", what,
                              key, i);
    }
    out->items = items;
}

/* --- the whole --- */

static bool look_for_repeats(sk_manifest_reader *r, const sk_config_value *value, size_t *seen);

/* A key that is there twice would silently lose its first value. */
static bool look_at_pair(sk_manifest_reader *r, const sk_config_pair *pair, size_t *seen)
{
    if (pair->again)
        sk_manifest_wrong(r->manifest, pair->again, r->problems, "'%s' is here a second time", pair->name);
    if (strcmp(pair->name, "<<") == 0)
        sk_manifest_wrong(r->manifest, pair->key, r->problems,
                          "'<<' would bring in keys from elsewhere: write them out");
    return look_for_repeats(r, pair->value, seen);
}

static bool look_for_repeats(sk_manifest_reader *r, const sk_config_value *value, size_t *seen)
{
    if (++*seen > MAX_VALUES) {
        sk_manifest_wrong(r->manifest, value, r->problems, "more than %d values", MAX_VALUES);
        return false;
    }
    const size_t count = sk_config_count(value);
    bool bounded = true;
    for (size_t i = 0; bounded && i < count; i++)
        bounded = value->kind == SK_CONFIG_MAP ? look_at_pair(r, &value->u.pairs[i], seen)
                                               : look_for_repeats(r, value->u.items[i], seen);
    return bounded;
}

static sk_status read(sk_manifest *m, const char *text, size_t length, sk_problems *problems, sk_error *err)
{
    if (length > SK_MANIFEST_MAX_BYTES) {
        sk_problems_add(problems, "%s: %zu bytes are more than a manifest has (%zu)", m->path, length,
                        SK_MANIFEST_MAX_BYTES);
        return SK_OK;
    }
    sk_error why = {0};
    const sk_status status = sk_config_open_yaml_alone(text, length, m->path, &m->config, &why);
    if (status == SK_ERR_MEMORY)
        return sk_fail(err, status, "%s", why.message);
    if (status != SK_OK) {
        sk_problems_add(problems, "%s", why.message);
        return SK_OK;
    }
    m->root = sk_config_root(m->config);
    sk_manifest_reader r = {.manifest = m, .problems = problems};
    size_t seen = 0;
    if (!sk_config_is(m->root, SK_CONFIG_MAP))
        sk_manifest_wrong(m, m->root, problems,
                          "not a manifest: sections model, source, input, output and ros");
    else if (look_for_repeats(&r, m->root, &seen))
        sk_manifest_read_sections(&r);
    return r.status == SK_OK ? SK_OK : sk_fail_memory(err, 1);
}

sk_status sk_manifest_open(const char *text, size_t length, const char *path, sk_manifest **out,
                           sk_problems *problems, sk_error *err)
{
    *out = NULL;
    sk_manifest *m = sk_calloc(1, sizeof *m);
    if (!m)
        return sk_fail_memory(err, sizeof *m);
    const size_t before = problems->count;
    sk_status status = sk_arena_open(4096, &m->arena, err);
    if (status == SK_OK && !(m->path = sk_arena_strdup(m->arena, path)))
        status = sk_fail_memory(err, strlen(path));
    if (status == SK_OK)
        status = read(m, text, length, problems, err);
    if (status == SK_OK)
        status = sk_text_status(&problems->lines, err);
    if (status == SK_OK && problems->count > before)
        sk_manifest_close(&m);
    return SK_HAND_OVER(status, m, out, sk_manifest_close);
}

void sk_manifest_close(sk_manifest **manifest)
{
    SK_TAKE_OR_RETURN(m, manifest);
    sk_config_close(&m->config);
    sk_arena_close(&m->arena);
    sk_free(m);
}

const sk_config_value *sk_manifest_vram(const sk_manifest *manifest, const char *variant)
{
    return sk_config_get(manifest->vram, variant);
}

bool sk_manifest_names_have(const sk_manifest_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}
