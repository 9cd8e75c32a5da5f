/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_AGAIN_H
#define SK_APP_BATCH_AGAIN_H

#include "app/batch.h"

/* A batch that goes on: what it has, and what has become of that since. Everything in it is the batch's. */
typedef struct sk_batch_again {
    const char **known; /* sources, sorted */
    size_t count;
    const sk_batch_piece *removed; /* the first whose result somebody removed: these are done anew */
    const sk_batch_piece
        *newer; /* the first whose video was written to after its result was: these are not */
    const sk_batch_piece
        *changed; /* the first of whose parts some are of another file: those parts are done anew */
    int64_t n_removed, n_newer, n_changed;
} sk_batch_again;

/* All its pieces are read, and all that is done is looked for: what was removed counts as not done (but for a `dry` look). */
sk_status sk_batch_again_read(sk_batch *batch, bool dry, sk_batch_again *again, sk_error *err) SK_MUST_CHECK;
bool sk_batch_again_has(const sk_batch_again *again, const char *source);
void sk_batch_again_free(sk_batch_again *again);

#endif
