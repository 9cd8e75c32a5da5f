/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_COST_H
#define SK_TRACK_COST_H

#include "track/follower.h"

/* What it costs to say that a detection is a certain animal: minus the logarithm of how likely the detection would be, if it
 * were. Terms add up, each with its weight (1: as likely as it says). Heavy tails: no single term forbids a pair by itself. */

/* May the pair be looked at? The centre is within `reach` pixels of the place predicted. */
double sk_pair_reach(const sk_follow_rules *rules, const sk_follower *f);
/* `points`, `looks`: what the follower remembers. INFINITY: never. */
double sk_pair_cost(const sk_follow_rules *rules, const sk_follower *f, const sk_look *look,
                    sk_follower_room room);
/* Of an animal not seen for long: where it is counts less, who it is more. */
double sk_return_cost(const sk_follow_rules *rules, const sk_follower *lost, const sk_follower *found,
                      sk_follower_room lost_room, sk_follower_room found_room);

#endif
