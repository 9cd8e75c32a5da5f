/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RESULTS_RUNS_H
#define SK_TESTS_RESULTS_RUNS_H

/* Runs of every kind that formats tell apart, and a few frames of each. */
#include "results/sink.h"

#include "video_header.h"

#include <math.h>

typedef struct run {
    const char *name;
    uint32_t has;
    int32_t classes, keypoints;
    bool tracked, identities, pictures, live, no_empty, goes_on, sizeless;
} run;

static const run runs[] = {
    {"boxes", SK_HAS_BOX, 2, 0, false, false, false, false, false, false, false},
    {"poses", SK_HAS_BOX | SK_HAS_KEYPOINTS, 2, 2, false, false, false, false, true, false, false},
    {"turned", SK_HAS_OBB, 1, 0, false, false, true, false, false, false, true},
    {"keypoints alone", SK_HAS_KEYPOINTS, 0, 2, false, false, false, false, false, true, false},
    {"tracks", SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS, 2, 2, true, false, false, false, false, false,
     false},
    {"individuals", SK_HAS_KEYPOINTS, 2, 2, false, true, false, false, false, false, false},
    {"a camera", SK_HAS_BOX, 2, 0, true, false, false, true, true, false, false},
    {"classes of pictures", 0, 2, 0, false, false, true, false, false, false, true},
};

static inline sk_run_header header_of(const run *r)
{
    sk_run_header h = video_header();
    h.source_kind = r->pictures ? "pictures" : r->live ? "live" : "video";
    h.has = r->has;
    h.n_classes = r->classes;
    h.n_keypoints = r->keypoints;
    h.n_edges = r->keypoints ? 1 : 0;
    h.tracked = r->tracked;
    h.identities = r->identities;
    h.no_empty = r->no_empty;
    h.goes_on = r->goes_on;
    h.stamped = r->live;
    h.n_models = 1;
    h.model_paths[0] = "m.pt";
    h.model_hashes[0] = "0123456789abcdef0123";
    if (r->sizeless)
        h.width = h.height = 0;
    return h;
}

enum { FRAMES = 5, MOST = 4 };

/* Frame i has i % 4 instances; of the last some lack what others have. */
static inline const sk_result_frame *frame_of(const run *r, int i)
{
    static sk_found items[MOST];
    static sk_keypoint points[2 * MOST];
    static sk_sighting sightings[MOST];
    static sk_instances all;
    static sk_result_frame frame;
    static const char *const pictures[] = {"x/a.jpg", "x/a.png", "y/b.jpg", "y/c \"d\".jpg", "e,f.tif"};
    all = (sk_instances){
        .count = i % 4, .capacity = MOST, .items = items, .n_keypoints = r->keypoints, .keypoints = points};
    for (int k = 0; k < i % 4; k++) {
        const float v = 10.25f * (float)i + 3.5f * (float)k;
        items[k] = (sk_found){.has = r->has & (k == 2 ? ~(uint32_t)SK_HAS_OBB : ~0u),
                              .class_id = k % (r->classes + 1) - (k == 2),
                              .score = k == 1 ? 0.123456789f : 0.5f,
                              .box = {v, v + 1, v + 12.125f, v + 33},
                              .obb = {v, v + 2, 30.5f, 12, 0.3f * (float)k},
                              .first_keypoint = 2 * k,
                              .track_id = (r->tracked && k != 1) || r->identities ? 4 * k + i / 4 : -1,
                              .tracking_score = k ? 0.25f : 0};
        points[2 * k] = (sk_keypoint){v, v + 0.5f, 0.9f};
        points[2 * k + 1] = k == 1 ? (sk_keypoint){NAN, NAN, 0} : (sk_keypoint){v + 4, v - 2, 0.625f};
        sightings[k] = (sk_sighting){.frame = 3 + i,
                                     .track = items[k].track_id,
                                     .place = k,
                                     .detection = k == 2 ? -1 : k,
                                     .state = (sk_track_state)k,
                                     .x = 100.5 + k,
                                     .y = 50 - i,
                                     .heading = k == 1 ? NAN : 0.7 * i,
                                     .score = 0.5,
                                     .certainty = 0.75,
                                     .uncertainty = k == 2 ? INFINITY : 1.5};
    }
    frame = (sk_result_frame){.source = r->pictures ? pictures[i] : "in.mp4",
                              .index = 3 + i,
                              .time = 0.12 + i * 0.04,
                              .width = 640,
                              .height = 480,
                              .instances = &all,
                              .sightings = r->tracked ? sightings : NULL,
                              .wall_ns = r->live ? 1700000000123456789 + i * 40000000ll : 0};
    return &frame;
}

#endif
