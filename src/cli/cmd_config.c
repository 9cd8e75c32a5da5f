/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

static const sk_operand operands[] = {
    {.name = "action",
     .kind = SK_OPTION_CHOICE,
     .choices = "list|get|set|import|export",
     .optional = 1,
     .help = "what to do; list without it"},
    {.name = "what",
     .kind = SK_OPTION_FILE,
     .optional = 1,
     .help =
         "get, set: compute_runtime; import: the other program's .json or .yaml file; export: a .json file, "
         "without it standard output"},
    {.name = "value", .kind = SK_OPTION_TEXT, .optional = 1, .help = "set: the new value"},
    {0}};

static const sk_option options[] = {
    {SK_FLAG("project"),
     .help = "set, import: into this project's skitter.yaml instead of the user's settings"},
    {SK_FLAG("json"), .help = "list: one JSON object on standard output"},
    {0}};

static const sk_example examples[] = {
    {"skitter config", "every place with a say, and which one wins"},
    {"skitter config set compute_runtime onnx_cpu", "for all runs from now on"},
    {"skitter config import tracking_config.json", "the runtime another program was set to"},
    {"skitter config export tracking_config.json",
     "ours, as other programs read it; what else it holds stays"},
    {0}};

static sk_status list_json(const sk_runtimes_settings *all, sk_error *err)
{
    const sk_runtime_settings *s = &all->read;
    sk_json j = sk_json_to_file(stdout, 2);
    sk_json_object(&j);
    sk_json_key_object(&j, "compute_runtime");
    sk_json_key_string(&j, "value", s->level[s->effective].value);
    sk_json_key_string(&j, "from", sk_setting_level_name(s->effective));
    sk_json_key_bool(&j, "usable", all->standing[s->effective].usable);
    sk_json_key_string(&j, "runs", all->runs[0] ? all->runs : NULL);
    sk_json_key_array(&j, "levels");
    for (int i = SK_SETTING_LEVELS - 1; i >= 0; i--) {
        if (!s->level[i].given)
            continue;
        sk_json_object(&j);
        sk_json_key_strings(&j, {"level", sk_setting_level_name((sk_setting_level)i)},
                            {"value", s->level[i].value},
                            {"where", s->level[i].where[0] ? s->level[i].where : NULL});
        sk_json_key_bool(&j, "usable", all->standing[i].usable);
        sk_json_key_string(&j, "because", all->standing[i].usable ? NULL : all->standing[i].because);
        sk_json_close(&j);
    }
    sk_json_close(&j);
    sk_json_close(&j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

static void list_text(const sk_runtimes_settings *all)
{
    const sk_runtime_settings *s = &all->read;
    const char *value = s->level[s->effective].value;
    if (all->standing[s->effective].usable)
        printf("compute_runtime %s\n", value);
    else if (all->runs[0])
        printf("compute_runtime %s: '%s' cannot be used here, runs say so and take %s\n", all->runs, value,
               all->runs);
    else
        printf("compute_runtime %s cannot be used here: runs end with an error\n", value);
    for (int i = SK_SETTING_LEVELS - 1; i >= 0; i--) {
        if (!s->level[i].given)
            continue;
        const sk_runtimes_standing *standing = &all->standing[i];
        printf("  %-12s %-10s %s", sk_setting_level_name((sk_setting_level)i), s->level[i].value,
               s->level[i].where);
        if (!standing->usable)
            printf("  %s: %s", i == (int)s->effective ? "<- counts, but cannot be used" : "cannot be used",
                   standing->because);
        else if (i == (int)s->effective)
            printf("  <- wins");
        printf("\n");
    }
}

static sk_status show(const char *action, const char *what, int json, sk_error *err)
{
    static sk_runtimes_settings s;
    if (what && strcmp(what, "compute_runtime") != 0)
        return sk_fail(err, SK_ERR_ARG, "there is no setting '%s'\nthere is compute_runtime", what);
    SK_TRY(sk_runtimes_settings_look(&s, err));
    const sk_runtimes_standing *standing = &s.standing[s.read.effective];
    if (strcmp(action, "get") == 0) {
        printf("%s\n", s.read.level[s.read.effective].value);
        if (!standing->usable)
            sk_cli_warn("it cannot be used here: %s; %s%s", standing->because,
                        s.runs[0] ? "runs take " : "runs end with an error", s.runs);
        return SK_OK;
    }
    if (json)
        return list_json(&s, err);
    list_text(&s);
    return SK_OK;
}

/* A value that was saved but is not the one that counts deserves a word. */
static void say_if_overruled(const char *path)
{
    sk_runtime_settings s;
    if (sk_runtime_settings_read(NULL, &s, NULL) != SK_OK)
        return;
    const sk_runtime_setting *winner = &s.level[s.effective];
    if (s.effective > SK_SETTING_PROJECT ||
        (s.effective == SK_SETTING_PROJECT && !strstr(winner->where, path)))
        sk_cli_warn("%s says '%s' and overrules it here", winner->where, winner->value);
}

static sk_status set(const sk_args *args, sk_error *err)
{
    const char *key = sk_args_text(args, "what"), *value = sk_args_text(args, "value");
    sk_runtime runtime;
    char path[512];
    if (!key || !value)
        return sk_fail(err, SK_ERR_ARG,
                       "set needs a key and a value\nskitter config set compute_runtime cpu");
    if (strcmp(key, "compute_runtime") != 0)
        return sk_fail(err, SK_ERR_ARG, "there is no setting '%s'\nthere is compute_runtime", key);
    SK_TRY(sk_runtimes_set(value, sk_args_flag(args, "project"), &runtime, path, err));
    printf("compute_runtime %s, saved in %s\n", sk_runtime_name(runtime), path);
    say_if_overruled(path);
    return SK_OK;
}

static sk_status import(const sk_args *args, sk_error *err)
{
    const char *file = sk_args_text(args, "what");
    sk_runtimes_imported in;
    if (!file)
        return sk_fail(err, SK_ERR_ARG, "import needs a file\nskitter config import tracking_config.json");
    SK_TRY(sk_runtimes_import(file, sk_args_flag(args, "project"), &in, err));
    if (in.file.note[0])
        sk_cli_warn("%s: %s", file, in.file.note);
    if (in.notice[0])
        sk_cli_warn("%s", in.notice);
    printf("%s: %s '%s' means %s\n", file, in.file.key, in.file.value, sk_runtime_name(in.file.runtime));
    printf("compute_runtime %s, saved in %s\n", sk_runtime_name(in.saved), in.path);
    say_if_overruled(in.path);
    return SK_OK;
}

static sk_status export(const sk_args *args, sk_error *err)
{
    const char *file = sk_args_text(args, "what");
    sk_runtime runtime;
    char *json = NULL;
    SK_TRY(sk_runtimes_export(file, &runtime, &json, err));
    if (file)
        printf("%s: compute_runtime %s, and the keys of older and newer programs\n", file,
               sk_runtime_name(runtime));
    else
        fputs(json, stdout);
    sk_free(json);
    return SK_OK;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    const char *action = sk_args_text(args, "action");
    action = action ? action : "list";
    if (sk_args_text(args, "value") && strcmp(action, "set") != 0)
        return sk_fail(err, SK_ERR_ARG, "%s takes no value\nskitter config set compute_runtime VALUE",
                       action);
    if (strcmp(action, "set") == 0)
        return set(args, err);
    if (strcmp(action, "import") == 0)
        return import(args, err);
    if (strcmp(action, "export") == 0)
        return export(args, err);
    return show(action, sk_args_text(args, "what"), sk_args_flag(args, "json"), err);
}

const sk_command sk_command_config = {
    .name = "config",
    .summary = "show or change the saved compute runtime",
    .description =
        "One setting, compute_runtime, holds for detection and pose alike. The order: --runtime, then "
        "SKITTER_COMPUTE_RUNTIME, then skitter.yaml (or .json) in this folder or a parent of it, then the "
        "user's own settings, then cpu.\n\nWhile a run is on, the setting cannot be changed.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
