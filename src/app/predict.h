/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_PREDICT_H
#define SK_APP_PREDICT_H

#include "app/consumers.h"
#include "app/finder.h"
#include "base/json_write.h"
#include "tasks/detector_settings.h"
#include "skitter/source.h"

/* A whole run: frames of a source through a detector into result files in one folder. A run that was interrupted, even
 * by kill -9, is continued by starting it again with the same arguments. */

#define SK_PREDICT_MAX_FORMATS 16

typedef struct sk_predict_settings sk_predict_settings;
typedef struct sk_predict_report sk_predict_report;

/* Of a run that does more with what is found than writing it down. */
typedef struct sk_predict_more {
    /* Its consumers, behind the journal, in place of the settings' files and overlay: which are its business now. All are
     * borrowed until the run's end; the report says where the time went once no more frames come. */
    sk_status (*list)(void *context, const sk_predict_settings *settings, const sk_predict_report *report,
                      sk_consumers *list, sk_error *err);
    void *context;
    const char *identity; /* what else shapes the result: lines of sk_run_identity.text */
    bool tracks;          /* files are written with tracks: sk_run_header.tracked */
    double rate;          /* frames a second, in place of what the source says; 0: as it says */
    bool looks;           /* what animals look like is kept with them: sk_result_frame.looks */
    bool cached;          /* what is found is kept in, and taken from, the inference cache … */
    const char *cache;    /* … in this folder; null: the user's */
} sk_predict_more;

/* How video is read: as the program that made the model reads it, or by one of sk_source_colours. */
typedef enum sk_predict_colours {
    SK_PREDICT_COLOURS_ORIGINAL = 0,
    SK_PREDICT_COLOURS_TAGGED,
    SK_PREDICT_COLOURS_BT601
} sk_predict_colours;

struct sk_predict_settings {
    const char *source;
    int32_t n_models;
    const char *models[SK_PIPELINE_MAX_MODELS];
    /* Folder; made if absent. Null: results go to standard output as they come, in one format of lines, and nothing is kept
     * to continue from. */
    const char *out;
    bool goes_on; /* standard output: lines follow those of a run before, so no table's head */
    sk_detector_settings detector;
    sk_source_settings media; /* its colours come from the next */
    sk_predict_colours colours;
    int32_t n_formats;
    const char *formats[SK_PREDICT_MAX_FORMATS]; /* "csv", "jsonl", "slp", … */
    bool overlay;                                /* overlay video, or overlay pictures for pictures */
    uint32_t draw;                               /* SK_DRAW_…: what the overlay shows; default all */
    float line_width; /* … with lines of so many pixels; 0: by the frame's size */
    /* its video is encoded by the GPU, where that has an encoder; the processor does it otherwise. Auto: with the runtime cuda */
    sk_choice overlay_gpu;
    bool crops;    /* a picture of every instance in crops/ */
    bool no_empty; /* frames without instances are left out of the files, where the format allows */
    /* As of sk_runner_settings. Null: an instance on each core ("auto") where the cpu runtime has many frames to look at
     * and threads are not given, else the runtime, once. Results do not depend on it. */
    const char *devices;
    bool allow_failover; /* a device that fails hands its frames to the others */
    int32_t depth;       /* frames in flight; 0: enough to keep every device busy */
    bool restart;        /* begin anew even if there is something to continue */
    bool overwrite;      /* replace files in the folder that no run wrote */
    bool find_only; /* what is found is kept in the folder's journal, for `found`; nothing else is written */
    /* Folders of such runs over parts of the same frames: what they found is taken, not computed. Borrowed. */
    int32_t n_found;
    const char *const *found;
    bool strict; /* a picture that cannot be read ends the run; else it is noted and left out */
    const char *runtime_requested; /* as the user said it */
    bool runtime_fell_back;        /* detector.runtime is not what was asked for: the headers say so */
    const sk_predict_more *more;   /* null: nothing more */
    /* Finds in place of a model: then `models` is one, which looks at crops of that. Borrowed; null: models find */
    const sk_finder *finder;
    const sk_tap *tap;                     /* frames and results while they pass; null: nobody wants them */
    const struct sk_preview_wish *preview; /* app/preview.h; null: none */
};

/* Whether the overlay's video is to be encoded by the GPU. */
bool sk_overlay_on_gpu(const sk_predict_settings *settings);

void sk_predict_defaults(sk_predict_settings *settings);

struct sk_predict_report {
    int64_t frames;       /* of this run */
    int64_t cached;       /* … of which from the inference cache */
    int64_t total_frames; /* with those continued from */
    int64_t instances;
    bool stopped;       /* by the watcher */
    bool nothing_to_do; /* an earlier run had finished already */
    bool live;          /* a camera, stream or pipe: it cannot be continued */
    double seconds;     /* wall time of this run's frames, from asking for the first to writing the last */
    double wait_source; /* … of which waiting for decoded frames */
    double pre, network, post, write, overlay, crops; /* of two models: of both; cutting is part of post */
    double decode;                                    /* on the decoder's own thread */
    int64_t unreadable; /* pictures that were left out, with those of earlier parts; run.json lists them */
    int64_t
        missing; /* frames that the video's header promised and the file does not hold: the run is not finished */
    sk_source_status source;
    char runtime[32], device[160], precision[8];
    /* The device that decoded, by FFmpeg's name, and why one that was asked for did not; "" the processor, and it was not refused. */
    char hwaccel[16], hwaccel_refused[224];
    bool stayed;      /* frames stayed on the device that decoded them */
    char notice[512]; /* "" or what the person should know although the run went on */
    int32_t n_files;
    char files[SK_PREDICT_MAX_FORMATS + 12][4352]; /* what lies in the folder now */
};

/* Of two models only the one that finds stays; SK_ERR_… where they do not go together. */
sk_status sk_predict_keep_finder(sk_predict_settings *settings, sk_error *err) SK_MUST_CHECK;

sk_status sk_predict_run(const sk_predict_settings *settings, sk_predict_watch watch, void *context,
                         sk_predict_report *report, sk_error *err) SK_MUST_CHECK;

/* Lists what the run has written: consumers that have begun, and run.json. */
void sk_predict_report_files(sk_predict_report *report, const sk_consumers *consumers,
                             const sk_run_folder *folder);

/* Adds the source's status as an object under this key. */
void sk_source_status_json(const sk_source_status *status, const char *key, sk_json *json);

#endif
