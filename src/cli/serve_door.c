/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve_door.h"

#include "cli/command.h"

#include <string.h>

static const char *kind_name(sk_option_kind kind)
{
    switch (kind) {
    case SK_OPTION_FLAG: return "flag";
    case SK_OPTION_TEXT: return "text";
    case SK_OPTION_INT: return "int";
    case SK_OPTION_REAL: return "real";
    case SK_OPTION_CHOICE: return "choice";
    case SK_OPTION_FILE: return "file";
    case SK_OPTION_FOLDER: return "folder";
    }
    return "text";
}

/* "cpu|cuda" as members of an array */
static void put_choices(sk_json *j, const char *choices)
{
    sk_json_key_array(j, "choices");
    while (choices && *choices) {
        const size_t n = strcspn(choices, "|");
        sk_json_string_bytes(j, choices, n);
        choices += n + (choices[n] == '|');
    }
    sk_json_close(j);
}

static void put_needs(sk_json *j, uint32_t needs)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{SK_NEEDS_YOLO, "yolo"},
                 {SK_NEEDS_SLEAP, "sleap"},
                 {SK_NEEDS_OBB, "obb"},
                 {SK_NEEDS_CPU, "cpu"},
                 {SK_NEEDS_OPENVINO, "openvino"},
                 {SK_NEEDS_LIVE, "live"},
                 {SK_NEEDS_VIDEO, "video"},
                 {SK_NEEDS_FILE, "file"},
                 {SK_NEEDS_PAFS, "bottomup"},
                 {SK_NEEDS_SLEAP_POSES, "sleap_poses"},
                 {SK_NEEDS_CENTROIDS, "centroids"},
                 {SK_NEEDS_CENTROIDS_ONLY, "centroids_only"}};
    sk_json_key_array(j, "needs");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (needs & names[i].bit)
            sk_json_string(j, names[i].name);
    sk_json_close(j);
}

/* Whole numbers to their last digit: a browser refuses what lies behind. */
static void put_bound(sk_json *j, const char *key, const sk_option *o, double bound)
{
    sk_json_key(j, key);
    if (o->min == 0 && o->max == 0)
        sk_json_null(j);
    else if (o->kind == SK_OPTION_INT)
        sk_json_int(j, (int64_t)bound);
    else
        sk_json_float(j, bound);
}

static void put_option(sk_json *j, const sk_option *o)
{
    sk_json_object(j);
    sk_json_key_strings(j, {"name", o->name}, {"kind", kind_name(o->kind)}, {"argument", o->argument},
                        {"default", o->fallback}, {"help", o->help});
    put_bound(j, "min", o, o->min);
    put_bound(j, "max", o, o->max);
    put_choices(j, o->choices);
    put_needs(j, o->needs);
    sk_json_key_bool(j, "repeat", o->repeat != 0);
    sk_json_close(j);
}

static bool put_options(const char *command, sk_json *json)
{
    const sk_command *found = sk_command_find(command);
    for (const sk_option *o = found ? found->options : NULL; o && o->name; o++)
        put_option(json, o);
    return found != NULL;
}

static char kind(const char *command, const char *option)
{
    const sk_command *found = sk_command_find(command);
    const sk_option *o = found ? sk_command_option(found, option, strlen(option)) : NULL;
    if (!o || strcmp(o->name, option) != 0) /* other spellings are for people */
        return 0;
    switch (o->kind) {
    case SK_OPTION_FLAG: return '-';
    case SK_OPTION_FILE: return 'f';
    case SK_OPTION_FOLDER: return 'd';
    default: return 'v';
    }
}

static const char *fallback(const char *command, const char *option)
{
    const sk_command *found = sk_command_find(command);
    const sk_option *o = found ? sk_command_option(found, option, strlen(option)) : NULL;
    return o ? o->fallback : NULL;
}

static sk_status check(const char *command, int n_words, const char *const *words, sk_error *err)
{
    sk_args *args = NULL;
    const sk_command *found = sk_command_find(command);
    if (!found)
        return sk_fail(err, SK_ERR_ARG, "%s is no command", command);
    sk_status status = sk_args_parse(found, n_words, words, &args, err);
    sk_args_close(&args);
    return status;
}

const sk_server_doors sk_cli_serve_doors = {
    .options = put_options, .kind = kind, .fallback = fallback, .check = check};
