/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_UPSTREAM_H
#define SK_TRACK_UPSTREAM_H

#include "track/offline.h"
#include "track/seen_store.h"

/* Final tracks as hydra-suite makes them of two passes: each is cleaned (sk_tracklets_clean), then they become one
 * (sk_tracklets_resolve), in place of pieces and one decision over the whole video. Memory grows by 160 bytes a detection.
 *
 * `track` and `other` are columns of the store: of each detection the track of the forward and of the backward pass (null: there
 * was none), -1 none; `track` then is its final one, *tracks how many there are. */
sk_status sk_upstream_tracks(sk_seen_store *store, const sk_offline_settings *settings, double fps,
                             int32_t *track, const int32_t *other, int32_t *tracks,
                             sk_error *err) SK_MUST_CHECK;

#endif
