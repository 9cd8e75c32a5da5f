/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* One part of a name: letters, digits, '_', no digit first. */
static bool is_part(const char *text, size_t length)
{
    if (!length || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!letter(text[i]))
            return false;
    return true;
}

bool sk_ros_names_is_part(const char *text)
{
    return is_part(text, strlen(text));
}

/* Parts with a '/' before each. */
static bool is_whole(const char *name)
{
    if (name[0] != '/' || strstr(name, "__"))
        return false;
    while (*name == '/') {
        const size_t length = strcspn(name + 1, "/");
        if (!is_part(name + 1, length))
            return false;
        name += 1 + length;
    }
    return *name == '\0';
}

static sk_status set(char out[SK_ROS_NAME], const char *text, sk_error *err)
{
    if (strlen(text) >= SK_ROS_NAME)
        return sk_fail(err, SK_ERR_ARG, "'%.40s…': a name of ROS has at most %d bytes", text,
                       SK_ROS_NAME - 1);
    snprintf(out, SK_ROS_NAME, "%s", text);
    return SK_OK;
}

static sk_status set_node(sk_ros_names *names, const char *node, sk_error *err)
{
    if (!is_part(node, strlen(node)))
        return sk_fail(err, SK_ERR_ARG,
                       "'%s' is no name for a node: letters, digits and '_', the first no digit", node);
    return set(names->node, node, err);
}

static sk_status set_space(sk_ros_names *names, const char *space, sk_error *err)
{
    char whole[SK_ROS_NAME];
    const int length = snprintf(whole, sizeof whole, "%s%s", space[0] == '/' ? "" : "/", space);
    if (length >= (int)sizeof whole || (whole[1] && !is_whole(whole)))
        return sk_fail(err, SK_ERR_ARG,
                       "'%s' is no namespace: parts of letters, digits and '_' with a '/' before each",
                       space);
    return set(names->name_space, whole, err);
}

sk_status sk_ros_names_init(sk_ros_names *names, const char *node, const char *name_space, sk_error *err)
{
    *names = (sk_ros_names){0};
    SK_TRY(set_node(names, node, err));
    return set_space(names, name_space ? name_space : "/", err);
}

sk_status sk_ros_names_remap(sk_ros_names *names, const char *rule, sk_error *err)
{
    const char *to = strstr(rule, ":=");
    char from[SK_ROS_NAME];
    if (!to || to == rule || !to[2] || (size_t)(to - rule) >= sizeof from)
        return sk_fail(err, SK_ERR_ARG, "--remap %s: write FROM:=TO", rule);
    snprintf(from, sizeof from, "%.*s", (int)(to - rule), rule);
    to += 2;
    char *name = strncmp(from, "rostopic://", 11) == 0 ? NULL : strchr(from, ':');
    if (name) {
        *name++ = '\0';
        if (strcmp(from, names->node) != 0)
            return SK_OK;
    } else {
        name = from;
    }
    if (strcmp(name, "__node") == 0 || strcmp(name, "__name") == 0)
        return set_node(names, to, err);
    if (strcmp(name, "__ns") == 0)
        return set_space(names, to, err);
    if (names->n_remaps == SK_ROS_REMAPS)
        return sk_fail(err, SK_ERR_LIMIT, "--remap: at most %d", SK_ROS_REMAPS);
    sk_ros_remap *remap = &names->remaps[names->n_remaps++];
    if (strncmp(name, "rostopic://", 11) == 0)
        name += 11;
    SK_TRY(set(remap->from, name, err));
    return set(remap->to, to, err);
}

static sk_status expand(const sk_ros_names *names, const char *name, char out[SK_ROS_NAME], sk_error *err)
{
    const char *space = names->name_space[1] ? names->name_space : "";
    int length;
    if (name[0] == '/')
        length = snprintf(out, SK_ROS_NAME, "%s", name);
    else if (name[0] == '~')
        length = snprintf(out, SK_ROS_NAME, "%s/%s/%s", space, names->node, name + 1 + strspn(name + 1, "/"));
    else
        length = snprintf(out, SK_ROS_NAME, "%s/%s", space, name);
    if (length >= SK_ROS_NAME || !is_whole(out))
        return sk_fail(err, SK_ERR_ARG,
                       "'%s' is no name of a topic: parts of letters, digits and '_' (no digit first, no two "
                       "'_' in a row) with '/' between",
                       name);
    return SK_OK;
}

sk_status sk_ros_names_resolve(const sk_ros_names *names, const char *name, char out[SK_ROS_NAME],
                               sk_error *err)
{
    SK_TRY(expand(names, name, out, err));
    for (int i = 0; i < names->n_remaps; i++) {
        char from[SK_ROS_NAME];
        SK_TRY(expand(names, names->remaps[i].from, from, err));
        if (strcmp(from, out) == 0)
            return expand(names, names->remaps[i].to, out, err);
    }
    return SK_OK;
}

static sk_status add_ending(const char *topic, const char *transport, char out[SK_ROS_NAME], sk_error *err)
{
    const int length = snprintf(out, SK_ROS_NAME, "%s/%s", topic, transport);
    return length < SK_ROS_NAME ? SK_OK
                                : sk_fail(err, SK_ERR_ARG, "'%.60s…/%s': a name of ROS has at most %d bytes",
                                          topic, transport, SK_ROS_NAME - 1);
}

sk_status sk_ros_names_resolve_transport(const sk_ros_names *names, const char *topic, const char *transport,
                                         char out[SK_ROS_NAME], sk_error *err)
{
    char with_ending[SK_ROS_NAME], whole[SK_ROS_NAME], base[SK_ROS_NAME];
    const size_t length = strlen(topic), ending = strlen(transport);
    if (length > ending && topic[length - ending - 1] == '/' &&
        strcmp(topic + length - ending, transport) == 0)
        return sk_ros_names_resolve(names, topic, out, err);
    SK_TRY(add_ending(topic, transport, with_ending, err));
    SK_TRY(expand(names, with_ending, whole, err));
    SK_TRY(sk_ros_names_resolve(names, with_ending, out, err));
    if (strcmp(whole, out) != 0)
        return SK_OK;
    SK_TRY(sk_ros_names_resolve(names, topic, base, err));
    SK_TRY(add_ending(base, transport, with_ending, err));
    return sk_ros_names_resolve(names, with_ending, out, err);
}

void sk_ros_names_whole(const sk_ros_names *names, char out[2 * SK_ROS_NAME])
{
    snprintf(out, 2 * SK_ROS_NAME, "%s/%s", names->name_space[1] ? names->name_space : "", names->node);
}

/* `pattern` and `name` both begin with '/', or have ended. */
static bool matches(const char *pattern, const char *name)
{
    if (!*pattern)
        return !*name;
    if (strcmp(pattern, "/**") == 0)
        return *name != '\0';
    if (strncmp(pattern, "/**/", 4) == 0) {
        for (const char *rest = name; rest; rest = strchr(rest + 1, '/'))
            if (matches(pattern + 3, rest))
                return true;
        return false;
    }
    if (!*name)
        return false;
    const size_t p = strcspn(pattern + 1, "/"), n = strcspn(name + 1, "/");
    const bool any = p == 1 && pattern[1] == '*';
    if (!any && (p != n || strncmp(pattern + 1, name + 1, n) != 0))
        return false;
    return matches(pattern + 1 + p, name + 1 + n);
}

bool sk_ros_names_meant(const sk_ros_names *names, const char *pattern)
{
    char whole[2 * SK_ROS_NAME], rule[SK_ROS_NAME];
    sk_ros_names_whole(names, whole);
    const int length = snprintf(rule, sizeof rule, "%s%s", pattern[0] == '/' ? "" : "/", pattern);
    return length < (int)sizeof rule && matches(rule, whole);
}
