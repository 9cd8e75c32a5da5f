/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_TRACK_NAMES_H
#define SK_RESULTS_TRACK_NAMES_H

#include "results/sink.h"

/* What tracks are called in files that name them. Where a model tells individuals apart, a track is called as the individual that it is
 * said to be ("female"), a second one of the same with its number behind ("female_3"); else "track_0". */
typedef struct sk_track_names {
    char **individuals; /* null: there are none */
    int32_t n_individuals;
    int32_t *of; /* of each track: which individual it is said to be, -1 */
    size_t capacity;
    int32_t n;
} sk_track_names;

/* False: no memory. */
bool sk_track_names_open(sk_track_names *names, const sk_run_header *header);
void sk_track_names_close(sk_track_names *names);
/* The track was seen as this individual (a class; -1: none); the last word counts. */
void sk_track_names_note(sk_track_names *names, int32_t track, int32_t individual);

#define SK_TRACK_NAME 160
const char *sk_track_names_get(const sk_track_names *names, int32_t track, char text[SK_TRACK_NAME]);

#endif
