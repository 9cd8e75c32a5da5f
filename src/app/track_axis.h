/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_AXIS_H
#define SK_APP_TRACK_AXIS_H

#include "track/track.h"

/* Which keypoints tell where the head is, by their names. */
typedef struct sk_track_axis {
    int32_t head[16], tail[16];
    sk_pose_axis pose;
} sk_track_axis;

/* "nose", "head", "snout" … at one end; "tail", "abdomen", "hip" … at the other. */
void sk_track_axis_of(const char *const *names, int32_t count, sk_track_axis *out);
/* Those that somebody names, a comma between, in place of what their names tell ("": not these). False: some are none of the points;
 * the others count. */
bool sk_track_axis_set(const char *head, const char *tail, const char *const *names, int32_t count,
                       sk_track_axis *out);
/* Null where the names do not tell both ends. */
const sk_pose_axis *sk_track_axis_pose(sk_track_axis *axis);

#endif
