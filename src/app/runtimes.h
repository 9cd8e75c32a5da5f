/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUNTIMES_H
#define SK_APP_RUNTIMES_H

#include "runtime/legacy.h"
#include "skitter/model.h"
#include "runtime/probe.h"
#include "runtime/settings.h"

/* What every door does with the compute runtime: look, choose, set, import. */

/* Probes (fresh, or by the cache) and gates for a set of pipelines. */
typedef struct sk_runtimes_view {
    sk_probe_row rows[SK_RUNTIME_COUNT];
    sk_runtime_facts facts;
    sk_runtime_gate gate;
} sk_runtimes_view;

void sk_runtimes_look(uint32_t pipelines, bool fresh, sk_runtimes_view *out);

/* The runtime for work that begins now. `command` is what --runtime said, or null. `engine` (32 bytes) gets the name of
 * the engine to open: the runtime's, or "reference" where the person asked for that. */
sk_status sk_runtimes_choose(const char *command, bool allow_fallback, sk_runtime_choice *out,
                             char engine[32], sk_error *err) SK_MUST_CHECK;

/* The same, for models at hand: only what all their pipelines can use is allowed. SK_ERR_… when one cannot be opened. */
sk_status sk_runtimes_choose_for(const char *const *models, int32_t n_models, const char *command,
                                 bool allow_fallback, sk_runtime_choice *out, char engine[32],
                                 sk_error *err) SK_MUST_CHECK;
/* The pipeline a model is one of. */
sk_pipeline sk_runtimes_pipeline(sk_task task);

/* What a person who names an ONNX Runtime execution provider says about the runtime: with a provider and no runtime, or
 * one that leaves the kind of ONNX open ("onnx", "onnx_gpu"), the provider's own. Gives `command` back otherwise; the
 * session refuses a provider of another runtime. SK_ERR_ARG for an unknown provider. */
sk_status sk_runtimes_of_provider(const char *command, const char *provider, const char **out,
                                  sk_error *err) SK_MUST_CHECK;

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

#endif
