/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SERVER_SCHEMA_H
#define SK_TESTS_SERVER_SCHEMA_H

/* As much of JSON Schema as docs/openapi.yaml uses: type, properties, required, additionalProperties, items, enum, $ref. */
#include "support/test.h"

#include "base/file.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

static sk_config *schema_file;
static const sk_config_value *schema_document; /* the whole file */

static inline void schema_open(void)
{
    sk_error err = {0};
    char *text = NULL;
    size_t bytes = 0;
    assert_ok(sk_file_read(test_source("docs/openapi.yaml"), 1 << 20, &text, &bytes, &err), &err);
    assert_ok(sk_config_open_yaml(text, bytes, "openapi.yaml", &schema_file, &err), &err);
    sk_free(text);
    schema_document = sk_config_root(schema_file);
}

static inline void schema_close(void)
{
    sk_config_close(&schema_file);
}

/* Words that our schemas may have; a misspelt one would check nothing. */
static inline void schema_words(const sk_config_value *schema, const char *where)
{
    static const char *const known[] = {"type",  "properties", "required", "additionalProperties",
                                        "items", "enum",       "$ref",     "description"};
    for (size_t i = 0; i < schema->length; i++) {
        bool any = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            any = any || strcmp(schema->u.pairs[i].name, known[k]) == 0;
        if (!any)
            fail_msg("%s: the schema says '%s', which nobody checks", where, schema->u.pairs[i].name);
    }
}

static inline bool schema_is_type(const sk_config_value *value, const char *type)
{
    switch (value->kind) {
    case SK_CONFIG_NULL: return strcmp(type, "null") == 0;
    case SK_CONFIG_BOOL: return strcmp(type, "boolean") == 0;
    case SK_CONFIG_INT: return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case SK_CONFIG_REAL: return strcmp(type, "number") == 0;
    case SK_CONFIG_STRING: return strcmp(type, "string") == 0;
    case SK_CONFIG_LIST: return strcmp(type, "array") == 0;
    case SK_CONFIG_MAP: return strcmp(type, "object") == 0;
    }
    return false;
}

static inline bool schema_has(const sk_config_value *list, const char *text)
{
    for (size_t i = 0; i < sk_config_count(list); i++)
        if (sk_config_text(sk_config_at(list, i)) && strcmp(sk_config_text(sk_config_at(list, i)), text) == 0)
            return true;
    return false;
}

static inline void schema_check(const sk_config_value *schema, const sk_config_value *value,
                                const char *where)
{
    char below[512];
    const char *ref = sk_config_text(sk_config_get(schema, "$ref"));
    assert_non_null(schema);
    schema_words(schema, where);
    if (ref) {
        char path[256];
        snprintf(path, sizeof path, "%s", ref + 2);
        for (char *c = path; *c; c++)
            *c = *c == '/' ? '.' : *c;
        const sk_config_value *other = sk_config_find(schema_document, path);
        if (!other)
            fail_msg("%s: %s is not in the file", where, ref);
        schema_check(other, value, where);
        return;
    }
    const sk_config_value *type = sk_config_get(schema, "type");
    bool right = !type;
    if (sk_config_text(type))
        right = schema_is_type(value, sk_config_text(type));
    for (size_t i = 0; type && i < sk_config_count(type); i++)
        right = right || schema_is_type(value, sk_config_text(sk_config_at(type, i)));
    if (!right)
        fail_msg("%s: a value of kind %d is none that the schema allows", where, (int)value->kind);
    const sk_config_value *list = sk_config_get(schema, "enum");
    if (list && sk_config_text(value) && !schema_has(list, sk_config_text(value)))
        fail_msg("%s: '%s' is none of the schema's values", where, sk_config_text(value));
    if (value->kind == SK_CONFIG_MAP) {
        const sk_config_value *properties = sk_config_get(schema, "properties"),
                              *required = sk_config_get(schema, "required");
        for (size_t i = 0; i < sk_config_count(required); i++)
            if (!sk_config_get(value, sk_config_text(sk_config_at(required, i))))
                fail_msg("%s: '%s' is missing", where, sk_config_text(sk_config_at(required, i)));
        for (size_t i = 0; i < value->length; i++) {
            const sk_config_value *one = sk_config_get(properties, value->u.pairs[i].name);
            snprintf(below, sizeof below, "%s.%s", where, value->u.pairs[i].name);
            if (one)
                schema_check(one, value->u.pairs[i].value, below);
            else if (!sk_config_bool_or(schema, "additionalProperties", true))
                fail_msg("%s: is not in the schema", below);
        }
    }
    const sk_config_value *items = sk_config_get(schema, "items");
    if (value->kind == SK_CONFIG_LIST && items)
        for (size_t i = 0; i < value->length; i++) {
            snprintf(below, sizeof below, "%s[%zu]", where, i);
            schema_check(items, value->u.items[i], below);
        }
}

#endif
