/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_REPORT_SUSPECTS_H
#define SK_REPORT_SUSPECTS_H

#include "track/track.h"

/* Moments at which two identities may have been swapped: two animals that came close enough for one to be taken for the other,
 * and how much speaks for it. A list for people to look at, the doubtful ones first; nothing here knows the truth. */

#define SK_SUSPECTS_MOST 48

/* Bits: what speaks for a swap. */
enum {
    SK_SUSPECT_TOUCHED = 1, /* nearer than half a body */
    SK_SUSPECT_UNSEEN = 2,  /* one of them was not seen for a part of it */
    SK_SUSPECT_UNSURE = 4,  /* the assignment was not certain */
    SK_SUSPECT_JUMPED = 8   /* one was found far from where it had been */
};

typedef struct sk_suspect {
    int32_t a, b;        /* tracks, a < b; b -1: a jump of a alone */
    int64_t first, last; /* frames during which they were close */
    int64_t frame;       /* the closest of them */
    double x, y, body;   /* where that was, and how long the longer one is */
    double distance;     /* there, pixels */
    double certainty;    /* the least of both during it */
    uint32_t why;        /* SK_SUSPECT_… */
    double weight;       /* 0 … 1: the larger, the more it deserves a look */
} sk_suspect;

typedef struct sk_suspects {
    sk_suspect open[512]; /* pairs that are close now, by a and b */
    int32_t n_open;
    sk_suspect worst[SK_SUSPECTS_MOST]; /* the most doubtful that are over */
    int32_t n_worst;
    int64_t count; /* all that were, also those that are not kept */
    /* last sighting of every track, by number */
    sk_sighting *last;
    size_t n_last, last_capacity;
    int32_t *order; /* work space */
    size_t order_capacity;
} sk_suspects;

/* Starts as {0}; ended by sk_suspects_free. */
sk_status sk_suspects_take(sk_suspects *suspects, const sk_sighting *sightings, int32_t n,
                           sk_error *err) SK_MUST_CHECK;
/* No more frames come: what is open ends; the list is in order, the most doubtful first. */
void sk_suspects_end(sk_suspects *suspects);
void sk_suspects_free(sk_suspects *suspects);

#endif
