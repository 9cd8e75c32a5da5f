/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/settings.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "runtime/run_lock.h"
#include "runtime/setting_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "SKITTER_COMPUTE_RUNTIME"

const char *sk_setting_level_name(sk_setting_level level)
{
    static const char *const names[] = {"default", "user", "project", "environment", "command line"};
    return (int)level >= 0 && level < SK_SETTING_LEVELS ? names[level] : "unknown";
}

static void give(sk_runtime_setting *s, const char *value, const char *where)
{
    s->given = true;
    snprintf(s->value, sizeof s->value, "%s", value);
    snprintf(s->where, sizeof s->where, "%s", where);
}

/* The first of the names that lies in the folder, as a fresh text; null when none does or memory is out. */
static char *first_there(const char *folder, const char *const *names)
{
    for (; *names; names++) {
        char *path = sk_path_join(folder, *names);
        if (path && sk_file_is_regular(path))
            return path;
        sk_free(path);
    }
    return NULL;
}

sk_status sk_runtime_setting_user_path(char **out, sk_error *err)
{
    static const char *const names[] = {"skitter.json", "skitter.yaml", "skitter.yml", NULL};
    char *folder = NULL;
    *out = NULL;
    SK_TRY(sk_folder_config(&folder, err));
    *out = first_there(folder, names);
    if (!*out)
        *out = sk_path_join(folder, "skitter.json");
    sk_free(folder);
    return *out ? SK_OK : sk_fail_memory(err, 64);
}

/* The nearest project file from the current folder upward; null when there is none. */
static char *project_path(void)
{
    static const char *const names[] = {"skitter.yaml", "skitter.yml", "skitter.json", NULL};
    char folder[4096];
    if (!getcwd(folder, sizeof folder) || folder[0] != '/')
        return NULL;
    for (;;) {
        char *path = first_there(folder, names);
        if (path)
            return path;
        char *slash = strrchr(folder, '/');
        if (!slash || !folder[1])
            return NULL;
        slash[slash == folder] = '\0'; /* "/a" becomes "/" */
    }
}

sk_status sk_runtime_setting_project_path(char **out, sk_error *err)
{
    *out = project_path();
    if (!*out)
        *out = sk_strdup("skitter.yaml");
    return *out ? SK_OK : sk_fail_memory(err, 16);
}

static sk_status read_level(const char *path, sk_runtime_setting *s, sk_error *err)
{
    char value[sizeof s->value];
    bool there = false;
    SK_TRY(sk_setting_file_read(path, value, sizeof value, &there, err));
    if (there)
        give(s, value, path);
    return SK_OK;
}

sk_status sk_runtime_settings_read(const char *command, sk_runtime_settings *out, sk_error *err)
{
    sk_status status = SK_OK;
    char *user = NULL, *project = NULL;
    *out = (sk_runtime_settings){0};
    give(&out->level[SK_SETTING_DEFAULT], "cpu", "");
    if (command)
        give(&out->level[SK_SETTING_COMMAND], command, "--runtime");
    const char *variable = getenv(VARIABLE);
    if (variable && variable[0])
        give(&out->level[SK_SETTING_ENVIRONMENT], variable, VARIABLE);
    project = project_path();
    if (project)
        SK_TRY_GOTO(read_level(project, &out->level[SK_SETTING_PROJECT], err));
    /* A user without a folder for settings (no HOME, a read-only one) has none; that stops nobody from working. */
    status = sk_runtime_setting_user_path(&user, err);
    if (status == SK_ERR_IO || status == SK_ERR_NOT_FOUND)
        status = SK_OK;
    if (status != SK_OK)
        goto done;
    if (user && sk_file_exists(user) && !(project && strcmp(user, project) == 0))
        SK_TRY_GOTO(read_level(user, &out->level[SK_SETTING_USER], err));
    for (int i = 0; i < SK_SETTING_LEVELS; i++)
        if (out->level[i].given)
            out->effective = (sk_setting_level)i;
done:
    sk_free(user);
    sk_free(project);
    return status;
}

sk_status sk_runtime_setting_save(const char *path, sk_runtime runtime, sk_error *err)
{
    sk_lock *right = NULL;
    char *user = NULL;
    sk_status status;
    SK_TRY_GOTO(sk_run_change_begin(&right, err));
    if (!path)
        SK_TRY_GOTO(sk_runtime_setting_user_path(&user, err));
    status = sk_setting_file_write(path ? path : user, sk_runtime_name(runtime), err);
done:
    sk_lock_close(&right);
    sk_free(user);
    return status;
}

/* --- choosing --- */

static sk_runtime next_allowed(sk_runtime wanted, const sk_runtime_gate *gate)
{
    /* On the processor our own engine is always there, and was the fastest wherever it was measured. */
    static const sk_runtime order[] = {SK_RUNTIME_TENSORRT, SK_RUNTIME_CUDA,      SK_RUNTIME_ROCM,
                                       SK_RUNTIME_MPS,      SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_ONNX_ROCM,
                                       SK_RUNTIME_CPU};
    bool after = false;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (after && gate->is_allowed[order[i]])
            return order[i];
        after = after || order[i] == wanted;
    }
    return SK_RUNTIME_CPU;
}

/* What a person said now. */
static sk_status obey(const sk_runtime_settings *settings, const sk_runtime_gate *gate,
                      const sk_runtime_facts *facts, bool allow_fallback, sk_runtime_choice *out,
                      sk_error *err)
{
    const sk_runtime_setting *s = &settings->level[settings->effective];
    char list[SK_RUNTIME_LIST];
    sk_runtime_devices devices = sk_runtime_facts_devices(facts);
    sk_runtime wanted;
    if (sk_runtime_normalise(s->value, &devices, &wanted) == SK_RUNTIME_NO_MATCH)
        return sk_fail(err, SK_ERR_ARG, "%s: no compute runtime is called '%s'\nthere are %s, and reference",
                       s->where, s->value, sk_runtime_list(list, sizeof list));
    out->runtime = wanted;
    if (gate->is_allowed[wanted])
        return SK_OK;
    if (!allow_fallback)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "the compute runtime '%s' (%s) cannot be used here: %s\n'skitter doctor' says what "
                       "would help; %s",
                       sk_runtime_name(wanted), s->where, gate->because[wanted],
                       settings->remedy ? settings->remedy
                                        : "--allow-fallback takes the next one that works");
    out->runtime = next_allowed(wanted, gate);
    out->fell_back = true;
    snprintf(out->notice, sizeof out->notice,
             "the compute runtime '%s' cannot be used (%s); '%s' runs instead", sk_runtime_name(wanted),
             gate->because[wanted], sk_runtime_name(out->runtime));
    return SK_OK;
}

/* What a file remembers. */
static void restore(const sk_runtime_setting *s, const sk_runtime_gate *gate, const sk_runtime_facts *facts,
                    sk_runtime_choice *out)
{
    char notice[SK_RUNTIME_NOTICE];
    sk_error problem = {0};
    if (!sk_runtime_reset(s->value, gate, facts, &out->runtime, notice))
        return;
    /* A project's file is shared: what cannot be had on this machine may be right on the next. */
    if (out->level == SK_SETTING_PROJECT)
        snprintf(out->notice, sizeof out->notice,
                 "%s; %.100s is left as it is ('skitter config set compute_runtime %s --project' changes it)",
                 notice, s->where, sk_runtime_name(out->runtime));
    else if (sk_runtime_setting_save(s->where, out->runtime, &problem) == SK_OK)
        snprintf(out->notice, sizeof out->notice, "%s; %.200s says so now", notice, s->where);
    else
        snprintf(out->notice, sizeof out->notice, "%s; it is still in %.100s: %.*s", notice, s->where,
                 (int)strcspn(problem.message, "\n"), problem.message);
}

sk_status sk_runtime_choose(const sk_runtime_settings *settings, const sk_runtime_gate *gate,
                            const sk_runtime_facts *facts, bool allow_fallback, sk_runtime_choice *out,
                            sk_error *err)
{
    const sk_runtime_setting *s = &settings->level[settings->effective];
    *out = (sk_runtime_choice){.level = settings->effective, .runtime = SK_RUNTIME_CPU};
    snprintf(out->requested, sizeof out->requested, "%s", s->value);
    snprintf(out->where, sizeof out->where, "%s", s->where);
    if (out->level == SK_SETTING_COMMAND || out->level == SK_SETTING_ENVIRONMENT)
        return obey(settings, gate, facts, allow_fallback, out, err);
    if (out->level != SK_SETTING_DEFAULT)
        restore(s, gate, facts, out);
    return SK_OK;
}
