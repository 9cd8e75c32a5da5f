/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_SETTINGS_H
#define SK_RUNTIME_SETTINGS_H

#include "runtime/gate.h"

/* The one setting `compute_runtime`, and who has a say in it. The later in this list, the stronger. */
typedef enum sk_setting_level {
    SK_SETTING_DEFAULT = 0, /* cpu */
    SK_SETTING_USER = 1,    /* skitter.json (or .yaml) in the user's configuration folder */
    SK_SETTING_PROJECT = 2, /* skitter.yaml (or .json) in this folder or the nearest parent that has one */
    SK_SETTING_ENVIRONMENT = 3, /* SKITTER_COMPUTE_RUNTIME */
    SK_SETTING_COMMAND = 4,     /* --runtime */
    SK_SETTING_LEVELS
} sk_setting_level;

const char *sk_setting_level_name(sk_setting_level level); /* "user", "project", … */

typedef struct sk_runtime_setting {
    bool given;
    char value[64];  /* as written */
    char where[512]; /* the file, "SKITTER_COMPUTE_RUNTIME", "--runtime"; "" for the default */
} sk_runtime_setting;

typedef struct sk_runtime_settings {
    sk_runtime_setting level[SK_SETTING_LEVELS];
    sk_setting_level effective; /* the strongest that is given */
    const char *remedy;         /* what helps where it cannot be used; null: --allow-fallback */
} sk_runtime_settings;

/* Reads all levels. `command` is what --runtime said, or null. A file that cannot be understood is an error that names
 * it; one without the key has no say. */
sk_status sk_runtime_settings_read(const char *command, sk_runtime_settings *out,
                                   sk_error *err) SK_MUST_CHECK;

/* Writes the value for this user (or into `path`, a .json or .yaml file), leaving everything else there as it was,
 * in one step. Refused (SK_ERR_BUSY) while a run is on. */
sk_status sk_runtime_setting_save(const char *path, sk_runtime runtime, sk_error *err) SK_MUST_CHECK;
/* The user's file, whether it is there or not; ended by sk_free. */
sk_status sk_runtime_setting_user_path(char **out, sk_error *err) SK_MUST_CHECK;
/* The nearest project file, or skitter.yaml in the current folder where there is none yet; ended by sk_free. */
sk_status sk_runtime_setting_project_path(char **out, sk_error *err) SK_MUST_CHECK;

typedef struct sk_runtime_choice {
    char requested[64]; /* as the strongest level wrote it */
    sk_setting_level level;
    char where[512];
    sk_runtime runtime;
    bool fell_back;                       /* --allow-fallback was needed */
    char notice[SK_RUNTIME_NOTICE + 256]; /* "" or what the person must know: a reset, a fall back */
} sk_runtime_choice;

/* Decides. A saved value (user, project) that is unknown or not allowed is reset to the first allowed one, and announced
 * in `notice`. The user's file is changed; a project's is shared with other machines and stays, overruled for this run. What a person said now (command line, environment) is never replaced: it is an error with
 * the reason, unless `allow_fallback`, which takes the next allowed one of
 * tensorrt, cuda, rocm, mps, onnx_cuda, onnx_rocm, cpu. */
sk_status sk_runtime_choose(const sk_runtime_settings *settings, const sk_runtime_gate *gate,
                            const sk_runtime_facts *facts, bool allow_fallback, sk_runtime_choice *out,
                            sk_error *err) SK_MUST_CHECK;

#endif
