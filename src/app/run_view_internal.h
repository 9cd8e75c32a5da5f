/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_VIEW_INTERNAL_H
#define SK_APP_RUN_VIEW_INTERNAL_H

#include "app/run_view.h"
#include "results/result_reader.h"

/* Between run_view.c and run_view_tracks.c. */

/* A frame's sightings among all. */
typedef struct view_frame {
    double time;
    size_t first;
} view_frame;

struct sk_run_view {
    char *folder;
    sk_run_record *record;
    sk_run_header header; /* the record's, with what the frames have */
    sk_result_reader *reader;
    const char *told_by;
    bool tracked;
    sk_corrections corrections;
    char notice[512];
    /* the frame that was told last */
    sk_instances told;
    sk_sighting *sightings;
    int32_t *ids;
    size_t told_capacity, sightings_capacity, ids_capacity;
    /* every sighting, without corrections */
    int64_t round; /* of the reader, which they are of */
    sk_run_seen *seen;
    view_frame *frames; /* one more than there are frames: its `first` is the end */
    size_t n_seen, n_frames, seen_capacity, frames_capacity;
    /* what is made of them */
    bool summed;
    sk_movement movement;
    sk_suspects suspects;
};

void view_forget(sk_run_view *view);      /* the sightings */
void view_forget_sums(sk_run_view *view); /* what is made of them */

#endif
