/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_GIVEN_H
#define SK_APP_TRACK_GIVEN_H

#include "app/track_internal.h"

/* A run that tracks what no model of a pipeline finds: a file's detections, what differs from a background. As sk_predict_run: a
 * folder, a lock, a journal, gone on with after a stop or a kill. */
typedef struct sk_given {
    const sk_predict_settings *settings; /* out, formats, overlay, restart, overwrite; its source is set */
    sk_track_run *run;
    const char *name;     /* what the run is about, for messages */
    sk_run_header header; /* but for `started` */
    const char *identity; /* lines; those of the tracker are added */
    const char *
        cache_source; /* a video: what is found in it is kept in the inference cache, if the run wants one; null: it is not */
    int64_t frames; /* -1: not known */
    bool named;     /* frames say themselves which source they are of; else they are of the settings' */
    /* The next frame behind `last` (a number; -1: from the first). *any false: there is none. */
    sk_status (*next)(void *context, int64_t last, sk_result_frame *out, bool *any, sk_error *err);
    /* How its source stands, once no more come; null: there is none */
    sk_source_status (*standing)(void *context);
    sk_consumer **
        preview; /* where the one of the settings is to be put, which `next` shows frames; null: it has none */
    void *context;
} sk_given;

sk_status sk_track_given_run(const sk_given *given, sk_predict_watch watch, void *context,
                             sk_predict_report *report, sk_error *err) SK_MUST_CHECK;

#endif
