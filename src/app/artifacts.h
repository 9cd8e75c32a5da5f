/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_ARTIFACTS_H
#define SK_APP_ARTIFACTS_H

#include "runtime/model_artifact.h"

/* Making and looking after artifacts, for every door. */

typedef struct sk_artifacts_export {
    const char *model, *runtime;
    int32_t batch, height, width; /* 0: 1 and the model's own */
    sk_precision precision;
    const char *engine_options; /* engines/options.h; null: none */
    bool anew;                  /* also where a fresh one lies */
    bool dynamic_batch;         /* for any batch up to this */
    sk_heads heads;             /* of YOLOv10 and YOLO26 */
} sk_artifacts_export;

typedef struct sk_artifacts_exported {
    char path[SK_ARTIFACT_PATH];
    char runtime[32], library[64], precision[8];
    int32_t batch, height, width;
    int64_t bytes;
    double seconds;
    bool made;               /* false: a fresh one, or somebody else's, was there */
    bool users;              /* somebody else's */
    sk_artifact_check check; /* zero for somebody else's */
    char notice[1024];
} sk_artifacts_exported;

/* Makes a runtime's artifact as a run would, or finds it. */
sk_status sk_artifacts_make(const sk_artifacts_export *wish, sk_artifacts_exported *out,
                            sk_error *err) SK_MUST_CHECK;

/* sk_artifact_list, with models' hashes. `deep` reads the files. *rows is ended by sk_free. */
sk_status sk_artifacts_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_row **rows,
                            int32_t *count, sk_error *err) SK_MUST_CHECK;
/* Would a run make it anew, so that nothing is lost with it? */
bool sk_artifacts_useless(const sk_artifact_row *row);

#endif
