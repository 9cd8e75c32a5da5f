/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_settings.h"

#include "app/node_parameters.h"
#include "base/memory.h"
#include "base/number_read.h"
#include "base/sized.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTS_MOST 65536
#define MOST      64 /* parameters */

struct sk_node_settings {
    char *values[MOST]; /* null: the default */
    bool follow, follow_said;
};

static int32_t count_params(void)
{
    int32_t n = 0;
    while (n < MOST && sk_ros_parameters[n].name)
        n++;
    return n;
}

static int32_t index_of(const char *name)
{
    for (int32_t i = 0; name && i < MOST && sk_ros_parameters[i].name; i++)
        if (strcmp(sk_ros_parameters[i].name, name) == 0)
            return i;
    return -1;
}

/* Those that nothing has to be opened anew for. */
static bool is_live(const char *name)
{
    return strcmp(name, "frame_skip") == 0 || strcmp(name, "frame_id") == 0 ||
           strcmp(name, "publish_annotated") == 0;
}

/* Those that say what counts as found. */
static bool is_about_found(const char *name)
{
    static const char *const names[] = {"confidence_threshold", "iou_threshold",  "classes",
                                        "max_detections",       "peak_threshold", "max_instances"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static sk_node_type type_of(sk_ros_kind kind)
{
    switch (kind) {
    case SK_ROS_BOOL: return SK_NODE_BOOL;
    case SK_ROS_INT: return SK_NODE_INT;
    case SK_ROS_REAL: return SK_NODE_DOUBLE;
    case SK_ROS_INTS: return SK_NODE_INTS;
    default: return SK_NODE_TEXT;
    }
}

bool sk_node_param_get(int32_t index, sk_node_param *out)
{
    if (index < 0 || index >= count_params())
        return false;
    const sk_ros_parameter *p = &sk_ros_parameters[index];
    const sk_node_param whole = {.size = sizeof whole,
                                 .name = p->name,
                                 .type = type_of(p->kind),
                                 .fallback = p->fallback,
                                 .help = p->help,
                                 .least = p->min,
                                 .most = p->max,
                                 .choices = p->choices,
                                 .live = is_live(p->name),
                                 .found = is_about_found(p->name)};
    sk_sized_write(out, &whole, sizeof whole);
    return true;
}

void sk_node_settings_follow(sk_node_settings *settings, bool follow)
{
    settings->follow = follow;
    settings->follow_said = true;
}

/* Who says how animals are followed wants them followed. */
bool sk_node_settings_follows(const sk_node_settings *settings)
{
    if (settings->follow_said)
        return settings->follow;
    for (int32_t i = 0; i < MOST && sk_ros_parameters[i].name; i++)
        if (sk_ros_parameters[i].scope == SK_ROS_TRACKING && settings->values[i])
            return true;
    return false;
}

sk_status sk_node_settings_open(sk_node_settings **out, sk_error *err)
{
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(err, sizeof **out);
}

void sk_node_settings_close(sk_node_settings **settings)
{
    if (!settings || !*settings)
        return;
    for (int32_t i = 0; i < MOST; i++)
        sk_free((*settings)->values[i]);
    sk_free(*settings);
    *settings = NULL;
}

sk_node_settings *sk_node_settings_copy(const sk_node_settings *settings)
{
    sk_node_settings *copy = sk_calloc(1, sizeof *copy);
    if (copy) {
        copy->follow = settings->follow;
        copy->follow_said = settings->follow_said;
    }
    for (int32_t i = 0; copy && i < MOST; i++)
        if (settings->values[i] && !(copy->values[i] = sk_strdup(settings->values[i])))
            sk_node_settings_close(&copy);
    return copy;
}

/* --- values --- */

static bool is_true(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "1") == 0;
}

static bool is_false(const char *text)
{
    return strcmp(text, "false") == 0 || strcmp(text, "False") == 0 || strcmp(text, "0") == 0;
}

static bool read_int(const char *text, const char **end, int64_t *out)
{
    char *stop = NULL;
    errno = 0;
    const long long value = strtoll(text, &stop, 10);
    *end = stop;
    *out = value;
    return stop != text && errno == 0;
}

/* Whole numbers by commas and blanks, also in brackets; `to` may be null: they are counted and checked. */
static bool read_ints(const char *text, const sk_ros_parameter *p, int32_t *to, int32_t *count)
{
    *count = 0;
    const char *at = text + strspn(text, " [");
    while (*at && *at != ']') {
        int64_t value = 0;
        if (!read_int(at, &at, &value) || (double)value < p->min || (double)value > p->max ||
            *count >= INTS_MOST)
            return false;
        if (to)
            to[*count] = (int32_t)value;
        ++*count;
        at += strspn(at, " ");
        if (*at == ',')
            at += 1 + strspn(at + 1, " ");
        else if (*at && *at != ']')
            return false;
    }
    return at[*at == ']' ? 1 + strspn(at + 1, " ") : 0] == '\0';
}

static bool is_one_of(const char *word, const char *words)
{
    const size_t length = strlen(word);
    for (const char *at = words;; at++) {
        const size_t next = strcspn(at, "|");
        if (next == length && strncmp(at, word, length) == 0)
            return true;
        at += next;
        if (*at == '\0')
            return false;
    }
}

static void append(char *out, size_t capacity, const char *format, ...) SK_PRINTF(3, 4);
static void append(char *out, size_t capacity, const char *format, ...)
{
    const size_t length = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + length, capacity - length, format, args);
    va_end(args);
}

/* What a parameter may be, in words. */
static void say_allowed(const sk_ros_parameter *p, char *out, size_t capacity)
{
    static const char *const kinds[] = {[SK_ROS_BOOL] = "true or false",
                                        [SK_ROS_INT] = "a whole number",
                                        [SK_ROS_REAL] = "a number",
                                        [SK_ROS_TEXT] = "a text",
                                        [SK_ROS_INTS] = "a list of whole numbers"};
    out[0] = '\0';
    append(out, capacity, "%s", p->choices ? "one of " : kinds[p->kind]);
    if (p->min < p->max)
        append(out, capacity, " from %g to %.12g", p->min, p->max);
    for (const char *at = p->choices; at && *at;) {
        const size_t length = strcspn(at, "|");
        if (length)
            append(out, capacity, "%s%.*s", at > p->choices + (p->choices[0] == '|') ? ", " : "", (int)length,
                   at);
        at += length + (at[length] == '|');
    }
    if (p->choices && p->choices[0] == '|')
        append(out, capacity, ", or empty");
}

sk_status sk_node_settings_refuse(const char *name, const char *value, sk_error *err)
{
    char allowed[512];
    const sk_ros_parameter *p = sk_ros_parameter_find(name);
    if (!p)
        return sk_fail(err, SK_ERR_ARG, "%.60s is not '%.60s'", name, value);
    say_allowed(p, allowed, sizeof allowed);
    return sk_fail(err, SK_ERR_ARG, "%s: '%.60s' is not %s", p->name, value, allowed);
}

static bool is_number_for(const sk_ros_parameter *p, const char *value)
{
    const char *rest = NULL;
    int64_t whole = 0;
    double number = 0;
    bool ok;
    if (p->kind == SK_ROS_INT) {
        ok = read_int(value, &rest, &whole) && *rest == '\0';
        number = (double)whole;
    } else {
        rest = sk_number_read(value, value + strlen(value), &number);
        ok = rest && *rest == '\0' && isfinite(number);
    }
    return ok && !(p->min < p->max && (number < p->min || number > p->max));
}

static bool is_allowed(const sk_ros_parameter *p, const char *value)
{
    int32_t count = 0;
    switch (p->kind) {
    case SK_ROS_BOOL: return is_true(value) || is_false(value);
    case SK_ROS_INT:
    case SK_ROS_REAL: return is_number_for(p, value);
    case SK_ROS_INTS: return read_ints(value, p, NULL, &count);
    default: return !p->choices || is_one_of(value, p->choices);
    }
}

sk_status sk_node_settings_set(sk_node_settings *settings, const char *name, const char *value, sk_error *err)
{
    const int32_t i = index_of(name);
    if (i < 0) {
        const char *names[MOST];
        const int32_t n = count_params();
        for (int32_t k = 0; k < n; k++)
            names[k] = sk_ros_parameters[k].name;
        const char *near = name ? sk_text_suggest(name, names, (size_t)n) : NULL;
        return sk_fail(err, SK_ERR_NOT_FOUND, "there is no parameter '%.60s'%s%s%s", name ? name : "",
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (!is_allowed(&sk_ros_parameters[i], value))
        return sk_node_settings_refuse(name, value, err);
    char *copy = sk_strdup(value);
    if (!copy)
        return sk_fail_memory(err, strlen(value));
    sk_free(settings->values[i]);
    settings->values[i] = copy;
    return SK_OK;
}

const char *sk_node_settings_get(const sk_node_settings *settings, const char *name)
{
    const int32_t i = index_of(name);
    return i < 0 ? NULL : settings->values[i] ? settings->values[i] : sk_ros_parameters[i].fallback;
}

bool sk_node_settings_bool(const sk_node_settings *settings, const char *name)
{
    return is_true(sk_node_settings_get(settings, name));
}

int32_t sk_node_settings_int(const sk_node_settings *settings, const char *name)
{
    return (int32_t)strtol(sk_node_settings_get(settings, name), NULL, 10);
}

double sk_node_settings_double(const sk_node_settings *settings, const char *name)
{
    const char *text = sk_node_settings_get(settings, name);
    double value = 0;
    sk_number_read(text, text + strlen(text), &value);
    return value;
}

const char *sk_node_settings_text(const sk_node_settings *settings, const char *name)
{
    const char *text = sk_node_settings_get(settings, name);
    return text && text[0] ? text : NULL;
}

sk_status sk_node_settings_ints(const sk_node_settings *settings, const char *name, int32_t **out,
                                int32_t *count, sk_error *err)
{
    const sk_ros_parameter *p = sk_ros_parameter_find(name);
    const char *text = sk_node_settings_get(settings, name);
    *out = NULL;
    *count = 0;
    if (!read_ints(text, p, NULL, count) || *count == 0)
        return SK_OK;
    *out = sk_calloc((size_t)*count, sizeof **out);
    if (!*out)
        return sk_fail_memory(err, (size_t)*count * sizeof **out);
    read_ints(text, p, *out, count);
    return SK_OK;
}
