/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUNTIMES_H
#define SK_APP_RUNTIMES_H

#include "runtime/legacy.h"
#include "skitter/model.h"
#include "runtime/probe.h"
#include "runtime/run_lock.h"
#include "runtime/settings.h"

/* What every door does with the compute runtime: look, choose, set, import. */

/* Probes (fresh, or by the cache) and gates for a set of pipelines. */
typedef struct sk_runtimes_view {
    sk_probe_row rows[SK_RUNTIME_COUNT];
    sk_runtime_facts facts;
    sk_runtime_gate gate;
    uint32_t pipelines; /* as bits; 0: the generic rule */
} sk_runtimes_view;

/* What the runtime's engine can, less the precisions that its usual device here does not compute in. */
sk_capabilities sk_runtimes_can(const sk_runtimes_view *view, sk_runtime runtime);

void sk_runtimes_look(uint32_t pipelines, bool fresh, sk_runtimes_view *out);
/* The same for the pipelines that these models switch on, and `more`. SK_ERR_… when one cannot be opened. */
sk_status sk_runtimes_look_for(const char *const *models, int32_t n_models, uint32_t more,
                               sk_runtimes_view *out, sk_error *err) SK_MUST_CHECK;

/* What a person said about the runtime; null: nothing. An execution provider of ONNX Runtime without a runtime, or with
 * one that leaves the kind of ONNX open ("onnx", "onnx_gpu"), means the provider's own runtime; a provider of another
 * runtime than the one named is refused by the session. */
typedef struct sk_runtimes_wish {
    const char *runtime;  /* --runtime */
    const char *provider; /* --execution-provider */
    bool allow_fallback;
    bool parameters; /* both are a node's parameters, compute_runtime and execution_provider, and no flags */
} sk_runtimes_wish;

/* The runtime for work that begins now, on the models at hand: only what all their pipelines can use is allowed.
 * `engine` (32 bytes) gets the name of the engine to open: the runtime's, or "reference" where the person asked for
 * that. SK_ERR_… when a model cannot be opened, SK_ERR_ARG for an unknown provider. */
sk_status sk_runtimes_choose(const char *const *models, int32_t n_models, const sk_runtimes_wish *wish,
                             sk_runtime_choice *out, char engine[32], sk_error *err) SK_MUST_CHECK;

/* While work is on, the saved runtime stays (sk_run_lock_close ends it). A user without a cache folder works all the
 * same: *out stays null and `notice` says so. */
#define SK_RUNTIMES_NOTICE 512
sk_status sk_runtimes_hold(const char *name, sk_run_lock **out, char notice[SK_RUNTIMES_NOTICE],
                           sk_error *err) SK_MUST_CHECK;
/* The pipeline a model is one of. */
sk_work sk_runtimes_work(const sk_model *model);

/* Saves a person's choice, which must be usable here: an unknown word or a runtime that does not work is refused.
 * `project`: into the project's file (made here where there is none) instead of the user's. `path` (512 bytes) gets
 * the file. */
sk_status sk_runtimes_set(const char *value, bool project, sk_runtime *out, char path[512],
                          sk_error *err) SK_MUST_CHECK;

/* Takes the runtime from another program's configuration. What cannot be used here is reset, with a notice. */
typedef struct sk_runtimes_imported {
    sk_runtime_import file;
    sk_runtime saved;
    char notice[SK_RUNTIME_NOTICE];
    char path[512]; /* where it was saved */
} sk_runtimes_imported;
sk_status sk_runtimes_import(const char *file, bool project, sk_runtimes_imported *out,
                             sk_error *err) SK_MUST_CHECK;

/* The value that counts, in the words of the programs that sk_runtimes_import reads; into `file` (a .json; what else it
 * holds stays), or, where that is null, only as text. *json is ended by sk_free. */
sk_status sk_runtimes_export(const char *file, sk_runtime *out, char **json, sk_error *err) SK_MUST_CHECK;

/* What becomes of a setting here, on models in general. */
typedef struct sk_runtimes_standing {
    bool usable;
    char because[SK_RUNTIME_WHY]; /* "" when usable */
} sk_runtimes_standing;

typedef struct sk_runtimes_settings {
    sk_runtime_settings read;
    sk_runtimes_standing standing[SK_SETTING_LEVELS];
    char runs
        [32]; /* what a run takes that says nothing else: the winner, or what it is reset to; "" = it is refused */
} sk_runtimes_settings;
sk_status sk_runtimes_settings_look(sk_runtimes_settings *out, sk_error *err) SK_MUST_CHECK;

#endif
