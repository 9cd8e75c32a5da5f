/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_MODEL_ARTIFACT_JOB_H
#define SK_RUNTIME_MODEL_ARTIFACT_JOB_H

#include "runtime/model_artifact.h"

/* One artifact of one model being made or judged; for model_artifact.c and model_artifact_check.c. */
typedef struct sk_artifact_job {
    const sk_model *model;
    const sk_engine *engine;
    sk_session_settings settings;
    int32_t batch, height, width;
    bool dynamic_batch;
    sk_model_artifact *out;
} sk_artifact_job;

/* model_artifact.c */
sk_shape sk_artifact_job_shape(const sk_artifact_job *job);
/* Fills the ends for these bytes; SK_ERR_MISMATCH where they are not the model's. */
sk_status sk_artifact_job_match(sk_artifact_job *job, const char *path, const void *bytes, size_t length,
                                sk_error *err) SK_MUST_CHECK;

/* model_artifact_check.c: of sk_artifact_maker, with the job as context. */
sk_status sk_artifact_job_fits(void *job, const char *path, const void *bytes, size_t length,
                               sk_error *err) SK_MUST_CHECK;
sk_status sk_artifact_job_check(void *job, const char *path, const void *bytes, size_t length, bool unknown,
                                sk_artifact_check *out, sk_error *err) SK_MUST_CHECK;

#endif
