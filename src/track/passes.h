/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_PASSES_H
#define SK_TRACK_PASSES_H

#include "track/offline.h"
#include "track/seen_store.h"

/* The tracker from the start and from the end of the video. Neither knows of the other: they go side by side, on two cores. */

/* Of each detection. */
typedef struct sk_passes {
    int32_t *forward,
        *backward; /* its track in that pass, -1: none; backward is used only with settings->backward */
    float *certainty,
        *uncertainty; /* of the forward pass; of the backward one where that gave it to nobody */
} sk_passes;

sk_status sk_passes_run(sk_seen_store *store, const sk_offline_settings *settings, const sk_passes *out,
                        sk_error *err) SK_MUST_CHECK;

#endif
