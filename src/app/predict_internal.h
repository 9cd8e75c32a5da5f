/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_PREDICT_INTERNAL_H
#define SK_APP_PREDICT_INTERNAL_H

#include "app/crop_run.h"
#include "app/detector.h"
#include "app/overlay_run.h"
#include "app/predict.h"
#include "app/run_files.h"
#include "app/run_folder.h"
#include "app/run_identity.h"
#include "runtime/run_lock.h"

#include <pthread.h>
#include <stdatomic.h>

/* One run of sk_predict_run, for its files only. */
typedef struct predict_run {
    const sk_predict_settings *settings;
    sk_predict_report *report;
    sk_run_folder folder;
    sk_run_identity identity;
    sk_run_header header;
    sk_run_files files; /* what the header's borrow from */
    sk_run_lock *runtime_lock;
    sk_detector *detector;
    sk_source *source;
    sk_source_info info;
    sk_sink *sinks[SK_PREDICT_MAX_FORMATS];
    int32_t n_sinks;
    sk_overlay_run *overlay;
    int64_t drawn; /* frames from the first that the overlay holds */
    sk_crop_run *crops;
    sk_runner *runner; /* the detector's */
    pthread_t feeder;  /* takes frames from the source to the runner */
    bool feeding;
    bool frames_here; /* as RGB in memory, whatever the decoder could leave them as */
    atomic_bool stop;
    sk_status feeder_status; /* the feeder's until it is joined */
    sk_error feeder_error;
    double wait_source;
    sk_predict_progress progress;
    int64_t last_flush;
} predict_run;

/* --- predict_frames.c: how frames come, and who looks at them --- */

/* How the run wants its frames: on the device that decodes them, or as planes where the network looks at few pixels. */
sk_source_settings predict_media_of(const predict_run *run);
/* The source from the first frame that is still to be done. */
sk_status predict_open_source(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* Frames on the device, or as NV12, where both sides can; else RGB in memory, as ever. */
sk_status predict_agree_on_frames(predict_run *run, sk_error *err) SK_MUST_CHECK;
sk_status predict_open_runner(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* Are the frames asked for there? None is an error, fewer a warning: before the run where the source knows how many it has,
 * and when it has ended. */
sk_status predict_check_frames(const predict_run *run, sk_error *err) SK_MUST_CHECK;
sk_status predict_check_done(const predict_run *run, sk_error *err) SK_MUST_CHECK;
/* The devices to run on where the user named none. */
const char *predict_devices_of(const sk_predict_settings *settings);
/* Do frames stay until their result is written? */
bool predict_holds_frames(const sk_predict_settings *settings);

/* --- predict_overlay.c --- */
/* Opens the overlay and the crops, where they are wanted. */
sk_status predict_open_overlay(predict_run *run, sk_error *err) SK_MUST_CHECK;
/* Draws and cuts what the journal knows and the files do not hold: after a kill, or where it is asked for only now. */
sk_status predict_draw_known(predict_run *run, sk_error *err) SK_MUST_CHECK;

/* --- predict_loop.c: source to runner to files --- */
/* Keeps a frame of the overlay; a part that is full ends once the journal is on disk. */
sk_status predict_write_overlay(predict_run *run, const sk_frame *frame, const char *name,
                                const sk_instances *instances, sk_error *err) SK_MUST_CHECK;
sk_status predict_frames(predict_run *run, sk_predict_watch watch, void *context,
                         sk_error *err) SK_MUST_CHECK;

#endif
