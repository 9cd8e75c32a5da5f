/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_CONFIG_RUN_H
#define SK_APP_TRACK_CONFIG_RUN_H

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>

/* What a configuration says about the run itself, beside the tracker's settings (track_config.h): video, models, runtime, frames,
 * classes. Only what it says is set. One of our own says it in its member "run", an object whose members are called as the command's
 * options ("conf": 0.3, "save-overlay": true, "model": ["a.pt"]) and "source". */
typedef struct sk_track_config_run {
    char *source;     /* file_path */
    char *models[2];  /* yolo_obb_direct_model_path or yolo_model_path; the pose model's, if enabled */
    char runtime[32]; /* compute_runtime or runtime_tier, if it can be used here; "" … */
    char frames[64], classes[256]; /* as --frames and --classes take them; "" not said */
    int8_t masked;                 /* suppress_foreign_obb_regions: 1 on, 0 off; -1 not said */
    bool background;               /* detection_method is background subtraction */
    /* Of our own: "run" as the command line has it, and the configuration that this one is put over ("config"); null: none */
    char **words;
    int32_t n_words;
    char *base;
    sk_text notes; /* what cannot be used here, and why: a line each. Those about models begin with "model" */
} sk_track_config_run;

/* Paths of models are as written, or beside the configuration. Ended by sk_track_config_run_free, also after a failure. */
sk_status sk_track_config_run_read(const char *path, sk_track_config_run *out, sk_error *err) SK_MUST_CHECK;
void sk_track_config_run_free(sk_track_config_run *run);

#endif
