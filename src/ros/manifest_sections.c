/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/manifest_fields.h"
#include "ros/ros_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *text) /* safe in a path, a message and a comment */
{
    if (!isalnum((unsigned char)*text) || strlen(text) > 100)
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_.-", *text))
            return false;
    return true;
}

/* Names that are there twice, and those that no file name could have. */
static void check_names(sk_manifest_reader *r, const sk_config_value *at, const char *what,
                        const sk_manifest_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const sk_config_value *item = sk_config_count(at) == names->count ? sk_config_at(at, i) : at;
        if (!is_word(names->items[i]))
            sk_manifest_wrong(r->manifest, item, r->problems,
                              "%s: '%s' has other characters than letters, digits, '_', '-' and '.'", what,
                              names->items[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(names->items[i], names->items[j]) == 0) {
                sk_manifest_wrong(r->manifest, item, r->problems, "%s: '%s' is there twice", what,
                                  names->items[i]);
                break;
            }
    }
}

static void read_backends(sk_manifest_reader *r, const sk_config_value *model)
{
    static const char *usual[] = {"cuda", "rocm", "openvino"}; /* upstream's default */
    sk_manifest *m = r->manifest;
    sk_manifest_list(r, model, "model", "backends", false, &m->backends);
    if (!sk_config_get(model, "backends"))
        m->backends = (sk_manifest_names){usual, sizeof usual / sizeof *usual};
    const sk_config_value *at = sk_config_get(model, "backends");
    check_names(r, at, "model.backends", &m->backends);
    if (at && at->kind == SK_CONFIG_LIST && at->length == 0)
        sk_manifest_wrong(m, at, r->problems, "model.backends is empty: the model could run nowhere");
    for (size_t i = 0; i < m->backends.count; i++) {
        const char *const *known = sk_ros_backends;
        while (*known && strcmp(*known, m->backends.items[i]) != 0)
            known++;
        if (!*known)
            sk_manifest_wrong(
                m, at, r->problems,
                "model.backends: there is no '%s', but cuda, rocm, openvino, tensorrt, onnx and cpu",
                m->backends.items[i]);
    }
}

static void read_model(sk_manifest_reader *r)
{
    sk_manifest *m = r->manifest;
    const sk_config_value *model = sk_manifest_field(r, m->root, "", "model", SK_CONFIG_MAP, true);
    if (!model)
        return;
    m->name = sk_manifest_text(r, model, "model", "name", true, "");
    m->family = sk_manifest_text(r, model, "model", "family", true, "");
    m->task = sk_manifest_text(r, model, "model", "task", false, "");
    m->default_variant = sk_manifest_text(r, model, "model", "default_variant", true, "");
    sk_manifest_list(r, model, "model", "variants", true, &m->variants);
    const sk_config_value *variants = sk_config_get(model, "variants");
    check_names(r, variants, "model.variants", &m->variants);
    if (*m->name && !is_word(m->name))
        sk_manifest_wrong(m, sk_config_get(model, "name"), r->problems,
                          "model.name: '%s' has other characters than letters, digits, '_', '-' and '.'",
                          m->name);
    if (variants && variants->kind == SK_CONFIG_LIST && *m->default_variant &&
        !sk_manifest_names_have(&m->variants, m->default_variant))
        sk_manifest_wrong(m, sk_config_get(model, "default_variant"), r->problems,
                          "model.default_variant '%s' is none of model.variants", m->default_variant);
    read_backends(r, model);
}

/* {variant: file, or two files} */
static void read_weights(sk_manifest_reader *r, const sk_config_value *source)
{
    sk_manifest *m = r->manifest;
    m->weights = sk_manifest_field(r, source, "source", "weights", SK_CONFIG_MAP, false);
    for (size_t i = 0; i < sk_config_count(m->weights); i++) {
        const sk_config_pair *pair = &m->weights->u.pairs[i];
        const sk_config_value *value = pair->value;
        const bool list = value->kind == SK_CONFIG_LIST;
        bool good = list ? value->length == 1 || value->length == 2 : sk_config_text(value) != NULL;
        for (size_t j = 0; list && good && j < value->length; j++)
            good = sk_config_text(value->u.items[j]) != NULL;
        if (!good)
            sk_manifest_wrong(m, value, r->problems,
                              "source.weights.%s must be the name of a file or folder, or a list of two",
                              pair->name);
        if (!sk_manifest_names_have(&m->variants, pair->name))
            sk_manifest_wrong(m, pair->key, r->problems, "source.weights: '%s' is none of model.variants",
                              pair->name);
    }
}

static void read_source(sk_manifest_reader *r)
{
    sk_manifest *m = r->manifest;
    const sk_config_value *source = sk_manifest_field(r, m->root, "", "source", SK_CONFIG_MAP, true);
    if (!source)
        return;
    m->source_type = sk_manifest_text(r, source, "source", "type", true, "");
    m->source_repo = sk_manifest_text(r, source, "source", "repo", true, "");
    sk_manifest_list(r, source, "source", "alternatives", false, &m->alternatives);
    read_weights(r, source);
}

static void read_skeleton(sk_manifest_reader *r, const sk_config_value *output)
{
    sk_manifest *m = r->manifest;
    m->skeleton = sk_manifest_field(r, output, "output", "skeleton", SK_CONFIG_LIST, false);
    for (size_t i = 0; i < sk_config_count(m->skeleton); i++) {
        const sk_config_value *edge = m->skeleton->u.items[i];
        int64_t from = -1, to = -1;
        if (!sk_config_is(edge, SK_CONFIG_LIST) || edge->length != 2 ||
            !sk_config_to_int(sk_config_at(edge, 0), &from) ||
            !sk_config_to_int(sk_config_at(edge, 1), &to) || from < 0 || to < 0 || from > 65535 ||
            to > 65535) {
            sk_manifest_wrong(m, edge, r->problems, "output.skeleton[%zu] must be two numbers of keypoints",
                              i);
            return;
        }
    }
}

static void read_output(sk_manifest_reader *r)
{
    sk_manifest *m = r->manifest;
    const sk_config_value *output = sk_manifest_field(r, m->root, "", "output", SK_CONFIG_MAP, true);
    if (!output)
        return;
    m->output_type = sk_manifest_text(r, output, "output", "type", true, "");
    m->output_format = sk_manifest_text(r, output, "output", "format", false, "");
    sk_manifest_list(r, output, "output", "class_names", false, &m->class_names);
    /* upstream also has {set: [names]} here, which says more than a message can: let pass */
    if (sk_config_is(sk_config_get(output, "keypoint_names"), SK_CONFIG_LIST))
        sk_manifest_list(r, output, "output", "keypoint_names", false, &m->keypoint_names);
    read_skeleton(r, output);
    const sk_config_value *fields = sk_manifest_field(r, output, "output", "fields", SK_CONFIG_LIST, false);
    for (size_t i = 0; i < sk_config_count(fields); i++) {
        char what[48];
        snprintf(what, sizeof what, "output.fields[%zu]", i);
        const sk_config_value *field = fields->u.items[i];
        if (!sk_config_is(field, SK_CONFIG_MAP)) {
            sk_manifest_wrong(m, field, r->problems, "%s must be a section", what);
            continue;
        }
        sk_manifest_text(r, field, what, "name", true, "");
        sk_manifest_text(r, field, what, "dtype", true, "");
        sk_manifest_field(r, field, what, "shape", SK_CONFIG_LIST, true);
        sk_manifest_text(r, field, what, "description", false, "");
    }
}

/* A list of sections below `ros`; null where it is absent or wrong. */
static const sk_config_value *ros_list(sk_manifest_reader *r, const sk_config_value *ros, const char *key)
{
    const sk_config_value *list = sk_manifest_field(r, ros, "ros", key, SK_CONFIG_LIST, false);
    if (list && list->length > SK_MANIFEST_MAX_ITEMS) {
        sk_manifest_wrong(r->manifest, list, r->problems, "ros.%s has more than %d items", key,
                          SK_MANIFEST_MAX_ITEMS);
        return NULL;
    }
    for (size_t i = 0; list && i < list->length; i++)
        if (!sk_config_is(list->u.items[i], SK_CONFIG_MAP)) {
            sk_manifest_wrong(r->manifest, list->u.items[i], r->problems, "ros.%s[%zu] must be a section",
                              key, i);
            return NULL;
        }
    return list;
}

static void read_topics(sk_manifest_reader *r, const sk_config_value *ros, const char *key,
                        sk_manifest_topic **out, size_t *count)
{
    const sk_config_value *list = ros_list(r, ros, key);
    sk_manifest_topic *topics = list ? sk_manifest_room(r, list->length, sizeof *topics) : NULL;
    for (size_t i = 0; topics && i < list->length; i++) {
        char what[48];
        snprintf(what, sizeof what, "ros.%s[%zu]", key, i);
        const sk_config_value *map = list->u.items[i];
        sk_manifest_topic *t = &topics[i];
        *t = (sk_manifest_topic){.topic = sk_manifest_text(r, map, what, "topic", true, ""),
                                 .msg_type = sk_manifest_text(r, map, what, "msg_type", true, ""),
                                 .frame_id = sk_manifest_text(r, map, what, "frame_id", false, ""),
                                 .encoding = sk_manifest_text(r, map, what, "encoding", false, ""),
                                 .description = sk_manifest_text(r, map, what, "description", false, ""),
                                 .at = map};
        if (*t->topic && !sk_ros_topic_name(t->topic))
            sk_manifest_wrong(r->manifest, sk_config_get(map, "topic"), r->problems,
                              "%s.topic: ROS allows no topic '%s'", what, t->topic);
        if (*t->msg_type && !sk_ros_type_name(t->msg_type))
            sk_manifest_wrong(r->manifest, sk_config_get(map, "msg_type"), r->problems,
                              "%s.msg_type: '%s' names no message", what, t->msg_type);
        for (size_t j = 0; j < i; j++)
            if (*t->topic && strcmp(topics[j].topic, t->topic) == 0) {
                sk_manifest_wrong(r->manifest, map, r->problems, "%s: the topic '%s' is there twice", what,
                                  t->topic);
                break;
            }
    }
    *out = topics;
    *count = topics ? list->length : 0;
}

static void read_services(sk_manifest_reader *r, const sk_config_value *ros)
{
    sk_manifest *m = r->manifest;
    const sk_config_value *list = ros_list(r, ros, "services");
    m->services = list ? sk_manifest_room(r, list->length, sizeof *m->services) : NULL;
    for (size_t i = 0; m->services && i < list->length; i++) {
        char what[48];
        snprintf(what, sizeof what, "ros.services[%zu]", i);
        const sk_config_value *map = list->u.items[i];
        m->services[m->n_services++] =
            (sk_manifest_service){.name = sk_manifest_text(r, map, what, "name", true, ""),
                                  .srv_type = sk_manifest_text(r, map, what, "srv_type", true, ""),
                                  .description = sk_manifest_text(r, map, what, "description", false, ""),
                                  .at = map};
    }
}

static bool fits(const char *type, const sk_config_value *value)
{
    if (strcmp(type, "bool") == 0)
        return value->kind == SK_CONFIG_BOOL;
    if (strcmp(type, "int") == 0)
        return value->kind == SK_CONFIG_INT;
    if (strcmp(type, "float") == 0 || strcmp(type, "double") == 0)
        return value->kind == SK_CONFIG_REAL || value->kind == SK_CONFIG_INT;
    if (strcmp(type, "string") == 0)
        return sk_config_text(value) != NULL;
    return value->kind == SK_CONFIG_LIST;
}

static void check_parameter(sk_manifest_reader *r, const char *what, size_t i)
{
    static const char *const types[] = {"bool", "int", "float", "double", "string", "list"};
    const sk_manifest *m = r->manifest;
    const sk_manifest_parameter *p = &m->parameters[i];
    size_t known = 0;
    while (known < sizeof types / sizeof *types && strcmp(types[known], p->type) != 0)
        known++;
    if (*p->type && known == sizeof types / sizeof *types)
        sk_manifest_wrong(m, sk_config_get(p->at, "type"), r->problems,
                          "%s.type: there is no '%s', but bool, int, float, string and list", what, p->type);
    else if (*p->type && p->fallback && !fits(p->type, p->fallback))
        sk_manifest_wrong(m, p->fallback, r->problems, "%s.default of '%s' is no %s", what, p->name, p->type);
    if (*p->name && !sk_ros_parameter_name(p->name))
        sk_manifest_wrong(m, sk_config_get(p->at, "name"), r->problems,
                          "%s.name: ROS allows no parameter '%s'", what, p->name);
    for (size_t j = 0; j < i; j++)
        if (*p->name && strcmp(m->parameters[j].name, p->name) == 0) {
            sk_manifest_wrong(m, sk_config_get(p->at, "name"), r->problems,
                              "%s: the parameter '%s' is there twice, first in line %u", what, p->name,
                              m->parameters[j].at->line);
            return;
        }
}

static void read_parameters(sk_manifest_reader *r, const sk_config_value *ros)
{
    sk_manifest *m = r->manifest;
    const sk_config_value *list = ros_list(r, ros, "parameters");
    m->parameters = list ? sk_manifest_room(r, list->length, sizeof *m->parameters) : NULL;
    for (size_t i = 0; m->parameters && i < list->length; i++) {
        char what[48];
        snprintf(what, sizeof what, "ros.parameters[%zu]", i);
        const sk_config_value *map = list->u.items[i];
        m->parameters[m->n_parameters++] =
            (sk_manifest_parameter){.name = sk_manifest_text(r, map, what, "name", true, ""),
                                    .type = sk_manifest_text(r, map, what, "type", true, ""),
                                    .description = sk_manifest_text(r, map, what, "description", false, ""),
                                    .fallback = sk_config_get(map, "default"),
                                    .at = map};
        if (!m->parameters[i].fallback)
            sk_manifest_wrong(m, map, r->problems, "%s.default is missing", what);
        check_parameter(r, what, i);
    }
}

void sk_manifest_read_sections(sk_manifest_reader *r)
{
    sk_manifest *m = r->manifest;
    read_model(r);
    read_source(r);
    sk_manifest_field(r, m->root, "", "input", SK_CONFIG_MAP, true);
    read_output(r);
    sk_manifest_field(r, m->root, "", "postprocessing", SK_CONFIG_MAP, false);
    const sk_config_value *ros = sk_manifest_field(r, m->root, "", "ros", SK_CONFIG_MAP, true);
    if (ros) {
        read_topics(r, ros, "publishers", &m->publishers, &m->n_publishers);
        read_topics(r, ros, "subscribers", &m->subscribers, &m->n_subscribers);
        read_services(r, ros);
        read_parameters(r, ros);
    }
    const sk_config_value *resources = sk_manifest_field(r, m->root, "", "resources", SK_CONFIG_MAP, false);
    m->vram = resources ? sk_manifest_field(r, resources, "resources", "vram", SK_CONFIG_MAP, false) : NULL;
}
