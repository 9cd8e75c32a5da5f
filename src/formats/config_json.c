/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/config_build.h"

#include "base/object.h"

#include <jansson.h>
#include <string.h>

static sk_status convert(sk_config *config, json_t *json, int depth, sk_config_value **out, sk_error *err);

static sk_status convert_array(sk_config *config, json_t *json, int depth, sk_config_value **out,
                               sk_error *err)
{
    sk_status status = SK_OK;
    sk_config_gather gather = {0};
    for (size_t i = 0; i < json_array_size(json); i++) {
        sk_config_value *item;
        SK_TRY_GOTO(convert(config, json_array_get(json, i), depth + 1, &item, err));
        SK_TRY_GOTO(sk_config_gather_add(&gather, item, err));
    }
    status = sk_config_finish_list(config, &gather, out, err);
done:
    sk_config_gather_free(&gather);
    return status;
}

static sk_status convert_object(sk_config *config, json_t *json, int depth, sk_config_value **out,
                                sk_error *err)
{
    sk_status status = SK_OK;
    sk_config_gather gather = {0};
    for (void *i = json_object_iter(json); i; i = json_object_iter_next(json, i)) {
        const char *name = json_object_iter_key(i);
        sk_config_value *key, *value;
        SK_TRY_GOTO(sk_config_string(config, name, strlen(name), &key, err));
        SK_TRY_GOTO(convert(config, json_object_iter_value(i), depth + 1, &value, err));
        SK_TRY_GOTO(sk_config_gather_add(&gather, key, err));
        SK_TRY_GOTO(sk_config_gather_add(&gather, value, err));
    }
    status = sk_config_finish_map(config, &gather, out, err);
done:
    sk_config_gather_free(&gather);
    return status;
}

static sk_status convert(sk_config *config, json_t *json, int depth, sk_config_value **out, sk_error *err)
{
    if (depth > SK_CONFIG_MAX_DEPTH)
        return sk_fail(err, SK_ERR_LIMIT, "%s: nested deeper than %d levels", config->what,
                       SK_CONFIG_MAX_DEPTH);
    switch (json_typeof(json)) {
    case JSON_OBJECT: return convert_object(config, json, depth, out, err);
    case JSON_ARRAY: return convert_array(config, json, depth, out, err);
    case JSON_STRING:
        return sk_config_string(config, json_string_value(json), json_string_length(json), out, err);
    case JSON_INTEGER:
        SK_TRY(sk_config_node(config, SK_CONFIG_INT, out, err));
        (*out)->u.integer = json_integer_value(json);
        return SK_OK;
    case JSON_REAL:
        SK_TRY(sk_config_node(config, SK_CONFIG_REAL, out, err));
        (*out)->u.real = json_real_value(json);
        return SK_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        SK_TRY(sk_config_node(config, SK_CONFIG_BOOL, out, err));
        (*out)->u.boolean = json_is_true(json);
        return SK_OK;
    case JSON_NULL: return sk_config_node(config, SK_CONFIG_NULL, out, err);
    }
    return sk_fail(err, SK_ERR_INTERNAL, "%s: unknown JSON type", config->what);
}

sk_status sk_config_open_json(const char *text, size_t length, const char *what, sk_config **out,
                              sk_error *err)
{
    SK_CHECK_ARG(text && what && out, err);
    *out = NULL;
    sk_config *config = NULL;
    sk_status status = SK_OK;
    json_t *json = NULL;
    SK_TRY_GOTO(sk_config_create(length, what, &config, err));
    json_error_t problem;
    json = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
    if (!json) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: not valid JSON (line %d, column %d): %s", what,
                         problem.line, problem.column, problem.text);
        goto done;
    }
    sk_config_value *root;
    SK_TRY_GOTO(convert(config, json, 0, &root, err));
    config->root = root;
done:
    json_decref(json);
    return SK_HAND_OVER(status, config, out, sk_config_close);
}
