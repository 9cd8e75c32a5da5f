/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_PREDICT_INTERNAL_H
#define SK_APP_PREDICT_INTERNAL_H

#include "app/feed.h"
#include "app/predict.h"
#include "app/run_identity.h"
#include "pipeline/pipeline.h"
#include "runtime/run_lock.h"

/* One run of sk_predict_run, for its files only. */
typedef struct predict_run {
    const sk_predict_settings *settings;
    sk_predict_report *report;
    sk_run_folder *folder;
    sk_run_identity identity;
    sk_run_header header;
    char *finding;              /* the identity of what finds, without what is done with it */
    struct predict_part *parts; /* settings->found, opened; null: none */
    sk_inference_cache *cache;  /* null: none */
    int64_t cached_last;        /* the last frame taken from it; -1 */
    sk_run_lock *runtime_lock;
    sk_pipeline *pipeline; /* prepared with the run, started when its frames are known */
    sk_source *source;
    sk_source_info info;
    sk_frame like; /* what its frames are like */
    sk_consumers consumers;
    sk_consumer *preview; /* one of them; null: none */
    sk_predict_progress progress;
} predict_run;

/* --- predict_frames.c: how frames come, and who looks at them --- */

/* How the run wants its frames: as the pipeline takes them, where nobody else looks at them. */
sk_source_settings predict_media_of(const predict_run *run);
/* Who decodes, as the source that is open says it: for the report and run.json. */
void predict_note_decoder(predict_run *run);
/* The source from the first frame that is still to be done. */
sk_status predict_open_source(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* What finds instead of a model is told of the source and of the frames that are done. */
sk_status predict_begin_finder(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* Frames on the device, or as NV12, where both sides can; else RGB in memory, as ever. */
sk_status predict_agree_on_frames(predict_run *run, sk_error *err) SK_MUST_CHECK;
sk_status predict_start(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* Are the frames asked for there? None is an error, fewer a warning: before the run where the source knows how many it has,
 * and when it has ended. */
sk_status predict_check_frames(const sk_predict_settings *settings, const sk_source_info *info,
                               sk_error *err) SK_MUST_CHECK;
sk_status predict_check_done(const predict_run *run, sk_error *err) SK_MUST_CHECK;
/* The devices to run on where the user named none. */
const char *predict_devices_of(const sk_predict_settings *settings);
/* Do frames stay until their result is written? */
bool predict_holds_frames(const predict_run *run);

/* --- predict_cached.c: the inference cache --- */

/* Once the run's identity is known; nothing where the run wants none. */
sk_status predict_open_cache(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* Frames that the cache has and the folder has not, to the consumers; one of them may stop it. */
sk_status predict_take_cached(predict_run *run, sk_error *err) SK_MUST_CHECK;

/* --- predict_found.c: parts that were found elsewhere --- */

/* Before the folder begins: the settings' `found` are opened, or refused. */
sk_status predict_open_found(predict_run *run, sk_error *err) SK_MUST_CHECK;
void predict_close_found(predict_run *run);
/* Frames that the settings' `found` have and the folder, which has begun, has not: put into its journal, as if this run had
 * found them. */
sk_status predict_take_found(predict_run *run, sk_error *err) SK_MUST_CHECK;

#endif
