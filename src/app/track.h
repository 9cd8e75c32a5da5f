/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_H
#define SK_APP_TRACK_H

#include "app/predict.h"
#include "background/background.h"
#include "track/offline.h"

/* Animals followed through videos: a run as predict's (models, sources, folder, lock, journal, going on), whose detections are
 * also tracked. The journal and the inference cache keep what was found; identities are made anew from it by every part of the
 * run, in the time that reading it takes.
 *
 * Files: tracks are written once all frames are known, so that the offline steps see the whole video; the overlay is drawn then,
 * with the final identities. Live sources and standard output: each frame's sightings are the online tracker's, and are
 * written with the frame. */

#define SK_TRACK_POINTS_TEXT 512

/* Tracks that were made before, told once more: a corrected copy of a run. */
typedef struct sk_track_retold {
    /* The frame's sightings in place of a tracker's, valid until the next call; `detection` is a number among its instances.
     * Null: the tracker's. */
    sk_status (*told)(void *context, const sk_result_frame *known, const sk_sighting **sightings, int32_t *n,
                      sk_error *err);
    /* Puts right what they say, and leaves out what is no animal. */
    sk_status (*correct)(void *context, int64_t frame, sk_sighting *sightings, int32_t *n, sk_error *err);
    void *context;
} sk_track_retold;

typedef struct sk_track_wish {
    sk_track_settings track;           /* fps 0: the source's */
    sk_offline_settings offline;       /* its `track` is not looked at */
    sk_background_settings background; /* of --detector background */
    bool online;                       /* no offline steps */
    bool looks;                        /* what animals look like counts, too; default false */
    bool report;                       /* report.html and plots/ are written, too; default true */
    bool cached;                       /* the inference cache is used … */
    const char *cache;                 /* … in this folder; null: the user's */
    const char *region_text;           /* track.filter.region as text, for the run's identity; null: none */
    /* Keypoints at the head and at the tail, a comma between: names, or numbers from 0; "": found by their names */
    char head_points[SK_TRACK_POINTS_TEXT], tail_points[SK_TRACK_POINTS_TEXT];
    const sk_track_retold *retold; /* null: tracks are made here, and are final */
} sk_track_wish;

void sk_track_wish_defaults(sk_track_wish *wish);

/* What was followed, of the run that ended last. */
typedef struct sk_track_figures {
    int64_t found; /* instances that could be followed */
    int64_t
        poseless; /* of these, where there are boxes and keypoints, those whose pose is missing or a speck in the box */
    int64_t tracks, sightings, covered; /* covered: of the sightings, those without a detection */
    double seconds;                     /* in the tracker and in the offline steps, of this part */
} sk_track_figures;

/* What sk_predict_settings.more is to be for a run, or many, that track. The wish is borrowed until close. */
typedef struct sk_track_run sk_track_run;
sk_status sk_track_run_open(const sk_track_wish *wish, sk_track_run **out, sk_error *err) SK_MUST_CHECK;
void sk_track_run_close(sk_track_run **run);
const sk_predict_more *sk_track_run_more(const sk_track_run *run);
const sk_track_figures *sk_track_run_figures(const sk_track_run *run);

/* Every setting of tracking that is a number, by name: for identities, configurations and the command line. */
typedef struct sk_track_setting {
    const char *name; /* "gate" */
    const char *unit; /* "bodies"; "" none */
    const char *help;
    size_t at;          /* in sk_track_wish */
    bool whole;         /* an int32_t; else a double */
    double least, most; /* what it may be */
} sk_track_setting;
const sk_track_setting *sk_track_setting_at(size_t index); /* null past the end */
/* Does it say what is found, and not how that is followed? */
bool sk_track_setting_finds(const sk_track_setting *setting);
const sk_track_setting *sk_track_setting_find(const char *name); /* null: none is called so */
double sk_track_setting_get(const sk_track_setting *setting, const sk_track_wish *wish);
/* SK_ERR_ARG where the number cannot be. */
sk_status sk_track_setting_set(const sk_track_setting *setting, double value, sk_track_wish *wish,
                               sk_error *err) SK_MUST_CHECK;

#endif
