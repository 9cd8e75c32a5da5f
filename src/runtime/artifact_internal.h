/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_ARTIFACT_INTERNAL_H
#define SK_RUNTIME_ARTIFACT_INTERNAL_H

#include "runtime/artifact.h"

/* A record's text with `"seal": "<64 zeros>"` gets its seal (artifact_seal.c), or keeps the zeros where there is no key. */
void sk_artifact_seal(char *text, size_t length);
/* Does the text carry a seal of this user's? (It is altered for a moment.) */
bool sk_artifact_is_sealed(char *text, size_t length);

/* One request. */
typedef struct sk_artifact_request {
    const sk_artifact_wish *wish;
    const sk_artifact_maker *maker;
    sk_artifact *out;
    uint8_t *made; /* new bytes, until they are handed over */
    size_t length;
    sk_artifact_check check;
} sk_artifact_request;

/* What was found at a place. */
typedef struct sk_artifact_finding {
    sk_artifact_state state;
    sk_artifact_record record;
    sk_blob *bytes;
    char why[SK_ARTIFACT_WHY];
} sk_artifact_finding;

typedef enum sk_artifact_verdict {
    SK_ARTIFACT_USE = 0,    /* it was handed over */
    SK_ARTIFACT_MAKE,       /* what lies there, if anything, is ours to replace */
    SK_ARTIFACT_LEAVE_ALONE /* it is not ours, and cannot stand in */
} sk_artifact_verdict;

/* What artifact_store.c uses of artifact_find.c. */
void sk_artifact_tell(const sk_artifact_maker *maker, sk_artifact_step step, const char *path,
                      const char *note);
void sk_artifact_notice(sk_artifact_request *r, const char *format, ...) SK_PRINTF(2, 3);
/* Looks at a place; f->bytes is the caller's to unreference. `locked`: the caller holds the place's lock. */
sk_status sk_artifact_look(sk_artifact_request *r, const char *path, const char *container, bool locked,
                           sk_artifact_verdict *what, sk_artifact_finding *f, sk_error *err) SK_MUST_CHECK;
/* A check by this runtime's library is on record, or is made now and put there: another version of a library is asked
 * again whether it computes the same, and so is whoever others say has been. */
sk_status sk_artifact_ensure_checked(sk_artifact_request *r, const char *path, const char *container,
                                     const sk_artifact_finding *f, bool locked, sk_error *err) SK_MUST_CHECK;
void sk_artifact_hand_over(sk_artifact_request *r, const char *path, sk_blob **bytes);

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
