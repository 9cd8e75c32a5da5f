/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_FINAL_TRACKS_H
#define SK_TRACK_FINAL_TRACKS_H

#include "track/pieces.h"

/* From pieces that were stitched to the tracks that are told. `track` is a column of the store: of each detection its piece at
 * first, then its track, or -1. */

/* Tracks that are too short go (`shortest` sightings), those that were seen faintly all the time, and of more than there are
 * `animals` (0: any number) the shortest; the others are numbered by first frames. `n`: tracks that the pieces have; their
 * number then is in *tracks. */
sk_status sk_final_tracks_settle(sk_seen_store *store, const sk_pieces *pieces, int32_t n, double shortest,
                                 int32_t animals, int32_t *track, int32_t *tracks,
                                 sk_error *err) SK_MUST_CHECK;
/* Pieces that were linked may overlap by some frames (double detections): of two in one frame the better stays. */
sk_status sk_final_tracks_drop_doubles(sk_seen_store *store, int32_t *track, int32_t tracks,
                                       sk_error *err) SK_MUST_CHECK;
/* A track's class is what most of its detections say, by their scores; -1: none says one. The caller frees *class_of. */
sk_status sk_final_tracks_classes(sk_seen_store *store, const int32_t *track, int32_t tracks,
                                  int32_t **class_of, sk_error *err) SK_MUST_CHECK;

#endif
