/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_COUNTED_H
#define SK_TRACK_COUNTED_H

#include "track/track.h"

/* N identities for methods that number their tracks without end (bytetrack, ocsort). A track keeps its identity as long as the
 * method keeps the track. A new one gets a number that nobody has had yet, while there are such; then it is a guest at the identity
 * that is unseen and was seen nearest. A guest that stays for a second has the identity for good; before that the track it belonged
 * to takes it back when it is seen again, for a false detection would else keep an animal's. More than N at once: the
 * tracks that came last are not told of. */
typedef struct sk_counted_slot {
    int64_t owner, guest; /* tracks of the method; -1: none */
    double x, y;          /* where it was seen last */
    double stay;          /* frames that the guest has been here */
    bool seen;            /* in this frame */
} sk_counted_slot;

typedef struct sk_counted {
    sk_counted_slot *slots;
    int32_t animals, used;
    double patience; /* frames after which a guest stays */
} sk_counted;

/* Ended by sk_counted_free. */
sk_status sk_counted_open(int32_t animals, double fps, sk_counted *out, sk_error *err) SK_MUST_CHECK;
void sk_counted_free(sk_counted *counted);
/* Numbers the sightings of a frame anew, in place, by their new tracks; returns how many are left. `passed`: frames since the last step. */
int32_t sk_counted_step(sk_counted *counted, double passed, sk_sighting *sightings, int32_t n);

#endif
