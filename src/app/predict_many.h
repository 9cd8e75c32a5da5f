/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_PREDICT_MANY_H
#define SK_APP_PREDICT_MANY_H

#include "app/predict.h"
#include "app/source_list.h"

/* A run over everything a person named. One source: its results lie in the folder itself. Several: each has a folder of its
 * own in it, with its own journal, so the same command goes on where it was, leaves out what is finished and takes what
 * was added to a folder meanwhile. A source that fails does not end the others. */

typedef struct sk_predict_item {
    const char *source; /* as results name it */
    const char *out;    /* its folder; null: standard output */
    size_t number, count;
    sk_status status;
    sk_error error; /* where status is not SK_OK */
    sk_predict_report report;
} sk_predict_item;

typedef struct sk_predict_many_watch {
    void (*begin)(void *context, const sk_predict_item *item); /* may be null */
    sk_predict_watch frame;                                    /* as sk_predict_run's; may be null */
    void (*end)(void *context, const sk_predict_item *item);   /* with its status and report; may be null */
    void *context;
} sk_predict_many_watch;

typedef struct sk_predict_many_report {
    size_t sources, done, failed, incomplete; /* incomplete: cut off (sk_predict_report.missing) */
    int64_t frames, instances;                /* of all, with those of earlier parts */
    double seconds;
    bool stopped;
} sk_predict_many_report;

/* `settings` as for sk_predict_run; its source is not looked at, and `out` is the folder for all; null: results go to
 * standard output. SK_OK also where sources failed: the report and `end` tell. */
sk_status sk_predict_many(const sk_predict_settings *settings, const sk_source_list *list,
                          const sk_predict_many_watch *watch, sk_predict_many_report *report,
                          sk_error *err) SK_MUST_CHECK;

/* Makes runs/<command>1, or the first of <command>2, <command>3 … that is not there yet. *out is ended by sk_free. */
sk_status sk_predict_fresh_folder(const char *command, char **out, sk_error *err) SK_MUST_CHECK;

#endif
