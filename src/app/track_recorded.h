/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_RECORDED_H
#define SK_APP_TRACK_RECORDED_H

#include "app/run_record.h"
#include "app/track.h"

/* How a run tracked, by what its run.json says: every setting that changes tracks. */

/* *region is opened where there is one (null before), and the caller's to close, after the wish's last use; `region_text`, too, is the
 * wish's. SK_ERR_UNSUPPORTED for what run.json knows by a hash alone: masks and shapes of configurations. */
sk_status sk_track_wish_recorded(const sk_run_record *record, sk_track_wish *wish, sk_region **region,
                                 sk_text *region_text, sk_error *err) SK_MUST_CHECK;
/* Is this a member that says how a run tracked? */
bool sk_track_is_recorded(const char *name);

#endif
