/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_MODEL_ARTIFACT_H
#define SK_RUNTIME_MODEL_ARTIFACT_H

#include "models/model.h"
#include "runtime/artifact.h"

/* A model's artifacts for engines that read files of their own: how one is made from the model, how it is compared with
 * skitter's own engine, and whether somebody else's can stand in. */

#define SK_ARTIFACT_OPSET 17

/* One that is ready to run. */
typedef struct sk_model_artifact {
    sk_artifact kept;
    sk_session_artifact ends; /* for sk_session_settings.artifact; borrows from here */
    char names[2048];
} sk_model_artifact;

typedef struct sk_artifact_options {
    bool must_keep;     /* no place on disk is an error */
    bool anew;          /* make it even where a fresh one lies */
    bool dynamic_batch; /* for any batch up to the one given */
} sk_artifact_options;

/* The artifact for a session of these settings; *out stays null where the engine needs none, artifacts are switched off
 * (SKITTER_ARTIFACTS=none, settings->cache_dir "") or the raw heads are wanted: the engine then makes what it needs in
 * memory. Notices go to the log, and remain in (*out)->kept.notice. */
sk_status sk_model_artifact_open(const sk_model *model, const sk_engine *engine, int64_t batch,
                                 int64_t height, int64_t width, const sk_session_settings *settings,
                                 const sk_artifact_options *options, sk_model_artifact **out,
                                 sk_error *err) SK_MUST_CHECK;
void sk_model_artifact_close(sk_model_artifact **artifact);

/* Who wants to know how far the making is; for the whole process, like the log. `part` is 0 … 1 of the step, negative
 * where it is not known. A null function ends it. */
typedef void (*sk_artifact_watch)(void *context, sk_artifact_step step, const char *path, const char *note,
                                  double part);
void sk_artifact_set_watch(sk_artifact_watch watch, void *context);

/* sk_artifact_key.heads of this model. */
const char *sk_model_artifact_heads(const sk_model *model);

/* --- the comparison --- */

/* Does a file of somebody else's compute what the model computes? Both run on skitter's own engine; no runtime is needed.
 * SK_ERR_MISMATCH, in words, when it does not. ONNX files only: others cannot be read here. */
sk_status sk_model_artifact_compare(const sk_model *model, const char *onnx, sk_error *err) SK_MUST_CHECK;

/* How alike two lists of outputs are: the least correlation and the largest difference relative to its output's largest
 * value (at least 1). Boxes and scores of a YOLO output are looked at apart, since boxes are a thousand times larger. */
typedef struct sk_parity {
    double pcc, max_difference;
    double rounding; /* sk_parity_compare_rounding: how many times as far from `plain` as `want`; else 0 */
} sk_parity;
sk_parity sk_parity_compare(const sk_tensor *got, const sk_tensor *want, int32_t n, const sk_model *model);
/* For outputs in eight bits: adds to *parity how far `got` is from what nothing rounds (sk_compare_rounding). */
void sk_parity_compare_rounding(const sk_tensor *got, const sk_tensor *want, const sk_tensor *plain,
                                int32_t n, const sk_model *model, sk_parity *parity);
/* SK_ERR_MISMATCH where it is farther than this precision's roundings explain. */
sk_status sk_parity_judge_rounding(const sk_parity *parity, sk_precision precision,
                                   sk_error *err) SK_MUST_CHECK;
/* SK_ERR_MISMATCH, in words, beyond what this precision may differ by. */
sk_status sk_parity_judge(const sk_parity *parity, sk_precision precision, sk_error *err) SK_MUST_CHECK;
/* The same for a file of which nobody knows what it was made from: does it hold `model`'s weights? An earlier epoch's come
 * close, so it is held to what rounding can explain. */
sk_status sk_parity_judge_origin(const sk_parity *parity, sk_precision precision, const char *model,
                                 sk_error *err) SK_MUST_CHECK;

#endif
