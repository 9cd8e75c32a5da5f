/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/params.h"

#include "app/node_settings.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 20) /* of a file */
#define SIM_TIME   "use_sim_time"

struct sk_params {
    sk_node_settings *settings;
    bool sim_time;
    int64_t *list; /* of the value that was handed out last */
};

sk_status sk_params_open(sk_params **out, sk_error *err)
{
    sk_params *params = sk_calloc(1, sizeof *params);
    sk_status status =
        params ? sk_node_settings_open(&params->settings, err) : sk_fail_memory(err, sizeof *params);
    return SK_HAND_OVER(status, params, out, sk_params_close);
}

void sk_params_close(sk_params **slot)
{
    SK_TAKE_OR_RETURN(params, slot);
    sk_node_settings_close(&params->settings);
    sk_free_all(params->list, params);
}

sk_node_settings *sk_params_settings(const sk_params *params)
{
    return params->settings;
}

sk_status sk_params_keep(const sk_params *params, sk_params_kept *kept, sk_error *err)
{
    *kept = (sk_params_kept){sk_node_settings_copy(params->settings), params->sim_time};
    return kept->settings ? SK_OK : sk_fail_memory(err, sizeof *params);
}

void sk_params_restore(sk_params *params, sk_params_kept *kept)
{
    sk_node_settings *now = params->settings;
    params->settings = kept->settings;
    kept->settings = now;
    params->sim_time = kept->sim_time;
}

void sk_params_kept_free(sk_params_kept *kept)
{
    sk_node_settings_close(&kept->settings);
}

/* --- values out --- */

static bool row_at(int32_t index, sk_node_param *out)
{
    sk_node_param before = SK_NODE_PARAM_INIT;
    *out = (sk_node_param)SK_NODE_PARAM_INIT;
    if (sk_node_param_get(index, out))
        return true;
    if (index > 0 && !sk_node_param_get(index - 1, &before))
        return false;
    *out = (sk_node_param){.size = sizeof *out,
                           .type = SK_NODE_BOOL,
                           .name = SIM_TIME,
                           .fallback = "false",
                           .help = "times are those of the images, whatever this says",
                           .live = true};
    return true;
}

int32_t sk_params_find(const sk_params *params, const char *name)
{
    sk_node_param row;
    (void)params;
    for (int32_t i = 0; row_at(i, &row); i++)
        if (strcmp(row.name, name) == 0)
            return i;
    return -1;
}

static void get_list(sk_params *params, const char *name, sk_param_value *value)
{
    int32_t *numbers = NULL, count = 0;
    if (sk_node_settings_ints(params->settings, name, &numbers, &count, NULL) != SK_OK)
        return;
    sk_free(params->list);
    params->list = sk_calloc((size_t)count + 1, sizeof *params->list);
    for (int32_t i = 0; params->list && i < count; i++)
        params->list[i] = numbers[i];
    value->list = params->list;
    value->count = params->list ? (size_t)count : 0;
    sk_free(numbers);
}

bool sk_params_at(sk_params *params, int32_t index, sk_param_about *out)
{
    *out = (sk_param_about){.value = {.text = ""}};
    if (!row_at(index, &out->row))
        return false;
    const char *name = out->row.name;
    sk_param_value *v = &out->value;
    v->type = out->row.type;
    if (strcmp(name, SIM_TIME) == 0)
        v->truth = params->sim_time;
    else if (v->type == SK_NODE_BOOL)
        v->truth = sk_node_settings_bool(params->settings, name);
    else if (v->type == SK_NODE_INT)
        v->number = sk_node_settings_int(params->settings, name);
    else if (v->type == SK_NODE_DOUBLE)
        v->real = sk_node_settings_double(params->settings, name);
    else if (v->type == SK_NODE_TEXT)
        v->text = sk_node_settings_get(params->settings, name);
    else
        get_list(params, name, v);
    return true;
}

const char *sk_params_text(const sk_params *params, const char *name)
{
    const char *text = sk_node_settings_get(params->settings, name);
    return text ? text : "";
}

int64_t sk_params_number(const sk_params *params, const char *name)
{
    return sk_node_settings_get(params->settings, name) ? sk_node_settings_int(params->settings, name) : 0;
}

bool sk_params_truth(const sk_params *params, const char *name)
{
    return sk_node_settings_get(params->settings, name) && sk_node_settings_bool(params->settings, name);
}

double sk_params_real(const sk_params *params, const char *name)
{
    return sk_node_settings_get(params->settings, name) ? sk_node_settings_double(params->settings, name) : 0;
}

/* --- values in --- */

/* As a person would write it. */
static void write_value(const sk_param_value *v, sk_text *out)
{
    char number[SK_TEXT_NUMBER];
    if (v->type == SK_NODE_BOOL)
        sk_text_append(out, v->truth ? "true" : "false");
    else if (v->type == SK_NODE_INT)
        sk_text_appendf(out, "%lld", (long long)v->number);
    else if (v->type == SK_NODE_DOUBLE)
        sk_text_append(out, sk_text_number(v->real, 17, number, sizeof number));
    else if (v->type == SK_NODE_TEXT)
        sk_text_append(out, v->text);
    else
        for (size_t i = 0; i < v->count; i++)
            sk_text_appendf(out, "%s%lld", i ? "," : "", (long long)v->list[i]);
}

static sk_status refuse(const sk_node_param *row, const char *value, sk_error *err)
{
    return strcmp(row->name, SIM_TIME) == 0
               ? sk_fail(err, SK_ERR_ARG, SIM_TIME ": '%.60s' is not true or false", value)
               : sk_node_settings_refuse(row->name, value, err);
}

static sk_status set_typed(sk_params *params, const sk_node_param *row, const sk_param_value *v,
                           sk_error *err)
{
    const bool widened = v->type == SK_NODE_INT && row->type == SK_NODE_DOUBLE;
    sk_text text = {0};
    write_value(v, &text);
    sk_status status = sk_text_status(&text, err);
    if (status == SK_OK && v->type != row->type && !widened)
        status = refuse(row, sk_text_get(&text), err);
    else if (status == SK_OK && strcmp(row->name, SIM_TIME) == 0)
        params->sim_time = v->truth;
    else if (status == SK_OK)
        status = sk_node_settings_set(params->settings, row->name, sk_text_get(&text), err);
    sk_text_free(&text);
    return status;
}

sk_status sk_params_put(sk_params *params, const char *name, const sk_param_value *value, sk_error *err)
{
    sk_node_param row;
    const int32_t index = sk_params_find(params, name);
    if (index < 0)
        return sk_node_settings_set(params->settings, name, "", err); /* says what was meant */
    row_at(index, &row);
    return set_typed(params, &row, value, err);
}

/* --- YAML --- */

static sk_status put_list(sk_params *params, const sk_node_param *row, const sk_config_value *v,
                          sk_error *err)
{
    sk_param_value value = {.type = SK_NODE_INTS, .count = v->length};
    int64_t *list = sk_calloc(v->length + 1, sizeof *list);
    sk_status status = list ? SK_OK : sk_fail_memory(err, v->length * sizeof *list);
    for (size_t i = 0; status == SK_OK && i < v->length; i++)
        if (!sk_config_is(v->u.items[i], SK_CONFIG_INT) || !sk_config_to_int(v->u.items[i], &list[i]))
            status = refuse(row, "a list of something else", err);
    value.list = list;
    if (status == SK_OK)
        status = set_typed(params, row, &value, err);
    sk_free(list);
    return status;
}

static sk_status put_config(sk_params *params, const sk_node_param *row, const sk_config_value *v,
                            sk_error *err)
{
    sk_param_value value = {0};
    if (sk_config_is(v, SK_CONFIG_LIST))
        return put_list(params, row, v, err);
    if (sk_config_text(v)) {
        value.type = SK_NODE_TEXT;
        value.text = sk_config_text(v);
    } else if (sk_config_is(v, SK_CONFIG_BOOL)) {
        value.type = SK_NODE_BOOL;
        value.truth = v->u.boolean;
    } else if (sk_config_is(v, SK_CONFIG_INT)) {
        value.type = SK_NODE_INT;
        value.number = v->u.integer;
    } else if (sk_config_is(v, SK_CONFIG_REAL)) {
        value.type = SK_NODE_DOUBLE;
        value.real = v->u.real;
    } else {
        return refuse(row, "nothing, or a map", err);
    }
    return set_typed(params, row, &value, err);
}

/* The value of a parameter that is a text need not be quoted as YAML wants it: "0" is one, too. */
static sk_status put_yaml(sk_params *params, const sk_node_param *row, const char *text, sk_error *err)
{
    const sk_param_value plain = {.type = SK_NODE_TEXT, .text = text};
    sk_config *config = NULL;
    if (row->type == SK_NODE_TEXT && text[0] != '"' && text[0] != '\'')
        return set_typed(params, row, &plain, err);
    SK_TRY(sk_config_open_yaml(text, strlen(text), row->name, &config, err));
    sk_status status = put_config(params, row, sk_config_root(config), err);
    sk_config_close(&config);
    return status;
}

sk_status sk_params_put_rule(sk_params *params, const char *rule, sk_error *err)
{
    const char *value = strstr(rule, ":=");
    char name[128];
    sk_node_param row;
    if (!value || value == rule || (size_t)(value - rule) >= sizeof name)
        return sk_fail(err, SK_ERR_ARG, "-p %s: write NAME:=VALUE", rule);
    snprintf(name, sizeof name, "%.*s", (int)(value - rule), rule);
    const char *own = strchr(name, ':'); /* "node:name:=value" */
    own = own ? own + 1 : name;
    const int32_t index = sk_params_find(params, own);
    if (index < 0)
        return sk_node_settings_set(params->settings, own, "", err);
    row_at(index, &row);
    return put_yaml(params, &row, value + 2, err);
}

static sk_status read_section(sk_params *params, const sk_config_value *section, const char *path,
                              const char *heading, sk_problems *problems, sk_error *err)
{
    const sk_config_value *map = sk_config_get(section, "ros__parameters");
    const bool wild = strchr(heading, '*') != NULL;
    sk_node_param row;
    if (!sk_config_is(map, SK_CONFIG_MAP))
        return wild ? SK_OK
                    : sk_fail(err, SK_ERR_FORMAT, "%s: has no 'ros__parameters:' with a map below it",
                              heading);
    for (size_t i = 0; i < map->length; i++) {
        sk_error problem = {0};
        const char *name = map->u.pairs[i].name;
        const int32_t index = sk_params_find(params, name);
        if (index < 0 && (wild || strcmp(name, "qos_overrides") == 0))
            continue;
        sk_status status = index < 0             ? sk_node_settings_set(params->settings, name, "", &problem)
                           : row_at(index, &row) ? put_config(params, &row, map->u.pairs[i].value, &problem)
                                                 : SK_OK;
        if (status == SK_ERR_MEMORY) {
            if (err)
                *err = problem;
            return status;
        }
        if (status != SK_OK)
            sk_problems_add(problems, "%s: %s: %s", path, heading, problem.message);
    }
    return SK_OK;
}

sk_status sk_params_read_file(sk_params *params, const char *path, const sk_ros_names *names,
                              sk_problems *problems, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    SK_TRY(sk_file_read(path, MOST_BYTES, &text, &bytes, err));
    sk_status status = sk_config_open_yaml(text, bytes, path, &config, err);
    if (status == SK_OK) {
        const sk_config_value *root = sk_config_root(config);
        if (!sk_config_is(root, SK_CONFIG_MAP))
            status =
                sk_fail(err, SK_ERR_FORMAT, "no parameters of ROS: it begins with a node's name, or /**");
        for (size_t i = 0; status == SK_OK && i < root->length; i++)
            if (sk_ros_names_meant(names, root->u.pairs[i].name))
                status =
                    read_section(params, root->u.pairs[i].value, path, root->u.pairs[i].name, problems, err);
        if (status != SK_OK)
            sk_error_prefix(err, "%s", path);
    }
    sk_config_close(&config);
    sk_free(text);
    return status;
}
