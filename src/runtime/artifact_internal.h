/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_ARTIFACT_INTERNAL_H
#define SK_RUNTIME_ARTIFACT_INTERNAL_H

#include "runtime/artifact.h"

/* What artifact_store.c uses of artifact_place.c. Paths have SK_ARTIFACT_PATH bytes. */

/* <first of the model's hash>-<hash of the whole key><extension> in the user's cache folder. */
sk_status sk_artifact_cache_place(const sk_artifact_key *key, const sk_engine_form *form, char *file,
                                  sk_error *err) SK_MUST_CHECK;
/* The lock beside a file, or beside the folder that holds it. */
sk_status sk_artifact_lock_place(const char *container, char *path, sk_error *err) SK_MUST_CHECK;
/* What killed processes left; the caller holds the lock. */
void sk_artifact_sweep_locked(const char *file);
/* The file and its sidecar. */
void sk_artifact_unlink(const char *path);
/* A model has so many files in the cache: the oldest go, never this one. */
void sk_artifact_limit_variants(const char *file);

#endif
