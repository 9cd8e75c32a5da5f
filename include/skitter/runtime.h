/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_RUNTIME_H
#define SKITTER_RUNTIME_H

#include "skitter/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which compute runtime a program takes that asks nothing special: the one `skitter predict` would take for these models. Pipelines
 * run on what their settings say ("cpu" where they say nothing); this is how a program follows the user's choice instead. */

/* What was chosen. Filled by us; fields may be added at the end. */
typedef struct sk_runtime_pick {
    /* sizeof(sk_runtime_pick), by SK_RUNTIME_PICK_INIT */
    uint32_t size;
    /* for sk_pipeline_settings.runtime */
    char runtime[64];
    /* what was asked for, as it was written */
    char requested[64];
    /* another one was taken in its place */
    bool fell_back;
    /* what a person must know of it: a setting that cannot be used here, what was taken instead; "" */
    char notice[1024];
} sk_runtime_pick;

/* The only way to begin one that is to be filled. */
#define SK_RUNTIME_PICK_INIT SK_INIT_BY_SIZE(sk_runtime_pick)

/* For these models together. `wish`: a runtime by any of its names, as --runtime takes them; null: SKITTER_COMPUTE_RUNTIME, the
 * project's or the user's setting (`skitter config`), or cpu. What was asked for and cannot be used is an error with the reason,
 * unless `allow_fallback`, which takes the next one that can. */
SK_API sk_status sk_runtime_pick_for(const char *const *models, int32_t n_models, const char *wish,
                                     bool allow_fallback, sk_runtime_pick *out, sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
