/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_FILTER_H
#define SK_TRACK_FILTER_H

#include "track/track.h"

/* Writes to kept[n] the indices of those detections that pass, rising, and returns how many. */
int32_t sk_track_filter_apply(const sk_track_filter *filter, const sk_detection *detections, int32_t n,
                              int32_t *kept);

#endif
