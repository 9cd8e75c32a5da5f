/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_TELLER_H
#define SK_APP_TRACK_TELLER_H

#include "app/run_folder.h"
#include "app/track.h"

/* What was found in a frame, told as tracks: instances carry their track, and one sighting stands beside each. Tells the frames of
 * a run in order, and again from the first one as often as somebody asks; the same frames give the same bits. */
typedef struct sk_track_teller sk_track_teller;

/* `header` is that of the run; borrowed, like the wish, until close. */
sk_status sk_track_teller_open(const sk_track_wish *wish, const sk_run_header *header, sk_track_teller **out,
                               sk_error *err) SK_MUST_CHECK;
void sk_track_teller_close(sk_track_teller **teller);

/* Looks at all frames of the folder, for the offline steps; nothing where the wish is to track online. `raw`: what each pass saw
 * is written there, as hydra-suite's raw tables. */
sk_status sk_track_teller_settle(sk_track_teller *teller, sk_run_folder *folder, bool raw,
                                 sk_error *err) SK_MUST_CHECK;

/* The `entry`-th frame, counted from 0: 0 begins anew. *told is valid until the next call; frames that could not be read are
 * told as they are. */
sk_status sk_track_teller_tell(sk_track_teller *teller, int64_t entry, const sk_result_frame *known,
                               sk_result_frame *told, sk_error *err) SK_MUST_CHECK;

/* Of the frames since entry 0. */
const sk_track_figures *sk_track_teller_figures(const sk_track_teller *teller);

#endif
