/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_INTERNAL_H
#define SK_APP_TRACK_INTERNAL_H

#include "app/consumers.h"
#include "app/track.h"
#include "app/track_teller.h"
#include "base/text.h"

/* Between track.c and consumer_track.c. */

struct sk_track_run {
    sk_track_wish wish;
    sk_text identity;
    sk_predict_more more;
    sk_track_figures figures;
    bool without_video; /* the settings' source is a name in somebody's file: nothing is opened by it */
};

/* Follows what passes. `at_once`: those behind it are given tracks; else it writes the settings' files and overlay itself, from
 * the folder. All borrowed until close; `report` may be null. */
sk_consumer *sk_consumer_track(sk_track_run *run, const sk_predict_settings *settings,
                               const sk_predict_report *report, bool at_once);
/* What the tracks look like: report.html. Behind the one above. */
sk_consumer *sk_consumer_report(const sk_track_run *run, const sk_predict_settings *settings,
                                const sk_predict_report *report);

#endif
