/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_INFERENCE_CACHE_H
#define SK_APP_INFERENCE_CACHE_H

#include "results/journal.h"

/* What models found in a video, kept apart from what is done with it afterwards: tracking that is tried again with other
 * settings computes nothing and decodes nothing. One journal (results/journal.h) for everything that shapes what is found:
 * models, runtime, precision, thresholds, frames, and the video's content, wherever the file lies and whatever it is called.
 * An incomplete one, of a run that was stopped or killed, is gone on with.
 *
 * A null cache is none: it knows nothing and takes all that comes. */
typedef struct sk_inference_cache sk_inference_cache;

typedef struct sk_inference_wish {
    const char *folder;   /* null: "inference" in skitter's own cache folder of this user */
    const char *source;   /* the video */
    const char *identity; /* sk_run_identity.text: what of it says where the video lies is not looked at */
} sk_inference_wish;

/* *out is null, without an error, where there is nothing to key by (no file of video) or somebody else is filling the same
 * one: `why` then says so, and is "" else. */
sk_status sk_inference_cache_open(const sk_inference_wish *wish, sk_inference_cache **out, char why[512],
                                  sk_error *err) SK_MUST_CHECK;
void sk_inference_cache_close(sk_inference_cache **cache);

const char *sk_inference_cache_path(const sk_inference_cache *cache);
int64_t sk_inference_cache_count(const sk_inference_cache *cache); /* frames it has, from the run's first */
bool sk_inference_cache_complete(const sk_inference_cache *cache); /* it has them all */

/* Every frame from the `from`-th on, in order. */
sk_status sk_inference_cache_replay(sk_inference_cache *cache, int64_t from, sk_journal_visit visit,
                                    void *context, sk_error *err) SK_MUST_CHECK;
/* The next frame. A disk that takes no more ends the cache, not the run: it says so once in the log. */
void sk_inference_cache_append(sk_inference_cache *cache, const sk_result_frame *frame);
void sk_inference_cache_flush(sk_inference_cache *cache);
/* No more frames come: it is complete. */
void sk_inference_cache_finish(sk_inference_cache *cache);

/* --- looking after them --- */

/* Where they lie: `wanted`, or the user's; made if absent. *out is ended by sk_free. */
sk_status sk_inference_cache_folder(const char *wanted, char **out, sk_error *err) SK_MUST_CHECK;

typedef struct sk_inference_row {
    char *path, *name; /* the file; the video's name when it was begun */
    int64_t bytes;
    int64_t used; /* when it was last used, seconds since 1970 */
    bool complete;
} sk_inference_row;

/* What lies in the folder (null: the user's), the longest unused first. */
sk_status sk_inference_cache_list(const char *folder, sk_inference_row **rows, size_t *count,
                                  sk_error *err) SK_MUST_CHECK;
void sk_inference_cache_list_free(sk_inference_row *rows, size_t count);
/* Takes one away, unless a run is using it. */
sk_status sk_inference_cache_remove(const char *path, sk_error *err) SK_MUST_CHECK;

/* Bytes that a folder of them may take; whoever opens one takes away those unused for longest. */
#define SK_INFERENCE_CACHE_BYTES (INT64_C(16) << 30)

#endif
