/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_NODE_CORE_INTERNAL_H
#define SK_APP_NODE_CORE_INTERNAL_H

#include "app/node_settings.h"
#include "app/track_teller.h"
#include "media/overlay.h"
#include "media/reader.h"
#include "results/sink.h"

#include <pthread.h>
#include <stdatomic.h>

/* Inside of skitter/node_core.h. */

/* One picture on its way. They are kept for the next ones, with their memory. */
typedef struct sk_node_held {
    sk_frame frame;
    sk_slot slot; /* memory of pictures that are copied, decoded or rearranged */
    sk_node_core *core;
    void *user;
    void (*release)(void *user);
    int64_t stamp_ns;
    struct sk_node_held *next; /* of those that are free */
} sk_node_held;

/* The result that is out. */
typedef struct sk_node_out {
    sk_node_result told; /* first */
    sk_node_core *core;
    const sk_result *of;    /* the pipeline's; null: none is out */
    sk_result_frame tracks; /* its sightings one an instance; of tracking */
    int32_t *track_of; /* … the track of each instance that was found; -1: none yet, or none any more */
    size_t track_capacity;
} sk_node_out;

/* Waiting for pictures: node_quiet.c. */
typedef struct sk_node_quiet {
    int64_t from_ns, seen_ns; /* since when none came; the last one that did; 0: not yet */
    int64_t longest_gap_ns;   /* between two that came */
    int32_t times_told;
} sk_node_quiet;

struct sk_node_core {
    sk_node_settings *settings;
    sk_pipeline *pipeline;
    char engine[32], requested[64];
    bool fell_back;
    char notice[256];
    /* class numbers as text, for those without a name */
    char (*class_numbers)[12];
    /* following */
    sk_track_wish wish;
    sk_run_header header;
    sk_track_teller *teller; /* null: nobody is followed */
    int64_t entry, first_ns, last_ns;
    /* drawing */
    sk_overlay *overlay;
    sk_overlay_track *drawn;
    size_t drawn_capacity;
    uint8_t *row; /* one of a frame that is drawn on */
    size_t row_bytes;
    sk_node_out out;
    /* shared between threads */
    pthread_mutex_t lock;
    sk_node_held *free;
    _Atomic int32_t frame_skip;
    _Atomic int64_t came, skipped, refused, last_came_ns;
    sk_node_quiet quiet;
    char problem[256]; /* of the last picture that failed; under the lock */
    int64_t problem_ns;
};

/* How many images were looked at since … are told as text: node_facts.c. */
int64_t sk_node_now_ns(void);
/* A picture as a frame in *held: node_image.c. Fills frame; not its index, times and release. */
sk_status sk_node_image_frame(const sk_node_image *image, sk_node_held *held, sk_error *err) SK_MUST_CHECK;
/* Opens the pipeline as the settings say: node_open.c. */
sk_status sk_node_open_pipeline(sk_node_core *core, sk_error *err) SK_MUST_CHECK;
/* The tracker and the overlay of an open pipeline: node_told.c. */
sk_status sk_node_open_told(sk_node_core *core, sk_error *err) SK_MUST_CHECK;
void sk_node_close_told(sk_node_core *core);
/* Who is who in the result that is out. */
sk_status sk_node_follow(sk_node_core *core, sk_error *err) SK_MUST_CHECK;

#endif
