/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/setting_file.h"

#include "base/file.h"
#include "base/json_write.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

#define KEY   "compute_runtime"
#define LIMIT ((size_t)1 << 20)

static bool is_yaml(const char *path)
{
    return sk_path_has_extension(path, ".yaml") || sk_path_has_extension(path, ".yml");
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* *config null: an empty file, which is a configuration that says nothing. */
static sk_status open_file(const char *path, char **text, size_t *bytes, sk_config **config, sk_error *err)
{
    SK_TRY(sk_file_read(path, LIMIT, text, bytes, err));
    if (is_blank(*text))
        return SK_OK;
    SK_TRY((is_yaml(path) ? sk_config_open_yaml : sk_config_open_json)(*text, *bytes, path, config, err));
    const sk_config_value *root = sk_config_root(*config);
    if (!sk_config_is(root, SK_CONFIG_MAP) && !sk_config_is_null(root))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a configuration: it has no keys at its top", path);
    return SK_OK;
}

sk_status sk_setting_file_read(const char *path, char *value, size_t capacity, bool *there, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    sk_status status;
    *there = false;
    SK_TRY_GOTO(open_file(path, &text, &bytes, &config, err));
    const sk_config_value *found = config ? sk_config_get(sk_config_root(config), KEY) : NULL;
    if (sk_config_is_null(found))
        goto done;
    if (!sk_config_text(found)) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: " KEY " is no text; write for example " KEY ": cpu", path);
        goto done;
    }
    snprintf(value, capacity, "%s", sk_config_text(found));
    *there = true;
done:
    sk_config_close(&config);
    sk_free(text);
    return status;
}

/* --- writing --- */

static void write_value(sk_json *json, const sk_config_value *v);

static bool is_one_of(const char *name, const char *const *names)
{
    while (names && *names && strcmp(name, *names) != 0)
        names++;
    return names && *names;
}

void sk_setting_write_others(sk_json *json, const sk_config_value *map, const char *const *but)
{
    for (size_t i = 0; i < sk_config_count(map); i++) {
        const sk_config_pair *pair = &map->u.pairs[i];
        if (is_one_of(pair->name, but))
            continue;
        sk_json_key(json, pair->name);
        write_value(json, pair->value);
    }
}

static void write_value(sk_json *json, const sk_config_value *v)
{
    switch (v->kind) {
    case SK_CONFIG_BOOL: sk_json_bool(json, v->u.boolean); return;
    case SK_CONFIG_INT: sk_json_int(json, v->u.integer); return;
    case SK_CONFIG_REAL: sk_json_real(json, v->u.real); return;
    case SK_CONFIG_STRING: sk_json_string_bytes(json, v->u.text, v->length); return;
    case SK_CONFIG_LIST:
        sk_json_array(json);
        for (size_t i = 0; i < v->length; i++)
            write_value(json, v->u.items[i]);
        sk_json_close(json);
        return;
    case SK_CONFIG_MAP:
        sk_json_object(json);
        sk_setting_write_others(json, v, NULL);
        sk_json_close(json);
        return;
    case SK_CONFIG_NULL: break;
    }
    sk_json_null(json);
}

static sk_status edit_json(const sk_config *config, const char *value, sk_text *out, sk_error *err)
{
    static const char *const ours[] = {KEY, NULL};
    sk_json json = sk_json_to_text(out, 2);
    sk_json_object(&json);
    sk_json_key_string(&json, KEY, value);
    if (config)
        sk_setting_write_others(&json, sk_config_root(config), ours);
    sk_json_close(&json);
    return sk_json_end(&json, err);
}

/* Is this line the key, at the left margin, bare or in quotes? */
static bool is_key_line(const char *line)
{
    size_t quote = *line == '"' || *line == '\'';
    if (strncmp(line + quote, KEY, strlen(KEY)) != 0)
        return false;
    line += quote + strlen(KEY);
    if (quote && *line != '"' && *line != '\'')
        return false;
    line += quote;
    line += strspn(line, " \t");
    return *line == ':';
}

static sk_status edit_yaml(const char *text, const char *value, sk_text *out, sk_error *err)
{
    bool done = false;
    for (const char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        if (is_key_line(line)) {
            if (!done)
                sk_text_appendf(out, KEY ": %s\n", value);
            done = true;
        } else {
            sk_text_append_bytes(out, line, length);
            sk_text_append(out, "\n");
        }
        line += length + (line[length] == '\n');
    }
    if (!done)
        sk_text_appendf(out, KEY ": %s\n", value);
    return sk_text_status(out, err);
}

/* What was written must read back as meant: a YAML file laid out in a way the line editor does not see through
 * ({flow: style}, several documents) is refused, not damaged. */
static sk_status check(const char *path, const char *value, const sk_text *made, size_t keys_before,
                       bool had_key, sk_error *err)
{
    sk_config *config = NULL;
    sk_error problem;
    const sk_status read = (is_yaml(path) ? sk_config_open_yaml : sk_config_open_json)(
        sk_text_get(made), made->length, path, &config, &problem);
    if (read == SK_ERR_MEMORY)
        return sk_fail_memory(err, made->length);
    const sk_config_value *root = read == SK_OK ? sk_config_root(config) : NULL;
    const char *now = sk_config_text(sk_config_get(root, KEY));
    const bool good = now && strcmp(now, value) == 0 && sk_config_count(root) == keys_before + !had_key;
    sk_config_close(&config);
    return good ? SK_OK
                : sk_fail(err, SK_ERR_UNSUPPORTED,
                          "%s: written in a form skitter cannot edit safely; put the line  " KEY
                          ": %s  in yourself",
                          path, value);
}

sk_status sk_setting_file_write(const char *path, const char *value, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    sk_text made = {0};
    sk_status status = SK_OK;
    if (sk_file_exists(path))
        SK_TRY_GOTO(open_file(path, &text, &bytes, &config, err));
    const sk_config_value *root = config ? sk_config_root(config) : NULL;
    bool had_key = sk_config_get(root, KEY) != NULL;
    SK_TRY_GOTO(is_yaml(path) ? edit_yaml(text, value, &made, err) : edit_json(config, value, &made, err));
    SK_TRY_GOTO(check(path, value, &made, sk_config_count(root), had_key, err));
    status = sk_file_replace_linked(path, made.data, made.length, err);
done:
    sk_text_free(&made);
    sk_config_close(&config);
    sk_free(text);
    return status;
}
