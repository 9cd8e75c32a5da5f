/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_SINK_H
#define SK_RESULTS_SINK_H

#include "base/error.h"
#include "base/json_write.h"
#include "skitter/frame.h"
#include "base/instances.h"
#include "track/track.h"

#include <stdbool.h>

/* Results on disk, written as they come. One run has one header, then one record a frame; every format is a sink that
 * takes both. The journal (results/journal.h) is what survives a kill: on a continued run it is played into fresh sinks,
 * so a continued run's files equal an uninterrupted one's. */

/* A file that computed in a model's place: what another runtime reads. */
typedef struct sk_run_file {
    int32_t model;    /* number of the model it stands for */
    const char *path; /* "" where it lies in no file */
    const char *sha256;
} sk_run_file;
#define SK_RUN_MAX_FILES 16

/* What holds for a whole run; all borrowed. */
typedef struct sk_run_header {
    const char *source;      /* as the user gave it */
    const char *source_kind; /* "video", "pictures", "live" */
    int32_t width, height;   /* of the video; 0 for pictures of mixed size */
    double rate;             /* frames a second; 0 unknown */
    int64_t source_frames;   /* -1 unknown */
    const char *task;
    int32_t n_models;
    const char *model_paths[4];
    const char *model_hashes[4];
    int32_t n_files; /* 0: the models themselves computed */
    sk_run_file files[SK_RUN_MAX_FILES];
    int32_t n_classes;
    const char *const *class_names;
    int32_t n_keypoints;
    const char *const
        *keypoint_names; /* never null when n_keypoints > 0: unnamed ones are "kpt0", "kpt1" … */
    int32_t n_edges;
    const int32_t (*edges)[2];
    uint32_t has;    /* SK_HAS_… that instances of this run may carry */
    bool no_empty;   /* frames without instances are left out, where the format allows */
    bool tracked;    /* instances are tracks' sightings: sk_result_frame.sightings */
    bool identities; /* classes are individuals (SLEAP multi-class): they become tracks */
    const char *runtime_requested, *runtime; /* what was asked for and what really ran */
    const char *device;                      /* "AMD EPYC, 2 threads, avx512" */
    const char *precision;                   /* "f32" */
    const char *shape;                       /* YOLO: "rect", "square"; null: other models */
    const char *heads;                       /* YOLO: "one-to-many" (with suppression), "one-to-one"; null */
    int32_t input_width, input_height; /* of the YOLO network for frames of the source's size; 0 unknown */
    const char *settings;              /* the settings that shape the result, as one line of text */
    const char *version;               /* skitter's */
    const char *started;               /* UTC, ISO 8601 */
    bool stamped;                      /* frames say when they were taken: sk_result_frame.wall_ns */
    char frame_id[128];                /* of a bag's images; "" */
    bool goes_on; /* standard output: lines follow those of a run before, so no table's head */
} sk_run_header;

typedef struct sk_result_frame {
    const char *source; /* the picture's path or the video's name */
    int64_t index;
    double time; /* seconds */
    int32_t width, height;
    const sk_instances *instances;
    const sk_sighting *sightings; /* of a run that tracks, one an instance; null: it does not */
    const uint8_t *looks;         /* SK_TRACK_LOOKS an instance (app/frame_looks.h); null: nobody looked */
    int64_t wall_ns;              /* when it was taken or came, ns since 1970 UTC; 0: nobody knows */
    uint64_t picture;             /* the picture file's stamp when it was looked at; 0: no picture */
    const char
        *frame_id; /* of a bag's image, where it is another than the run's; null: that of the run's header */
    const char
        *problem; /* why the picture could not be read: in journals only, sinks never see it; null: it was */
} sk_result_frame;

typedef struct sk_sink sk_sink;
typedef struct sk_sink_kind {
    const char *name; /* on the command line: "csv" */
    const char *file; /* in the output folder: "results.csv"; a folder ends in '/' */
    const char *help;
    sk_status (*open)(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err);
    const char *beside; /* a second file that it writes; null: none */
    bool lines;         /* written line by line: its path may be "-", standard output */
    bool
        takes_turns; /* not at the same time as another such sink: it uses a library that is no friend of threads */
    bool no_shapes; /* also for models that say what a whole picture shows, without boxes or keypoints */
} sk_sink_kind;

/* Begins every sink's own structure. */
struct sk_sink {
    const sk_sink_kind *kind;
    sk_status (*write)(sk_sink *sink, const sk_result_frame *frame, sk_error *err);
    /* Brings what was written so far onto disk in a form other programs open, where the format allows. */
    sk_status (*flush)(sk_sink *sink, sk_error *err);
    /* Completes the file and ends the sink, also after a failure. */
    sk_status (*close)(sk_sink *sink, sk_error *err);
};

/* Every format, ended by null. */
extern const sk_sink_kind *const sk_sink_kinds[];
extern const sk_sink_kind *const sk_sink_track_kinds[]; /* those that a run writes only if it tracks */
const sk_sink_kind *sk_sink_find(const char *name);     /* null when unknown */

/* Whether a frame read back (from a journal) can be of this run: no fewer keypoints than its header says, by which sinks
 * size what they write; numbers of classes and tracks that are some. */
bool sk_run_header_fits(const sk_run_header *header, const sk_result_frame *frame);

/* "active", "covered", "lost". */
const char *sk_track_state_name(sk_track_state state);

/* For formats of places: SK_ERR_ARG where the run's instances have none (classes of whole pictures). */
sk_status sk_run_header_needs_shapes(const sk_run_header *header, const char *format,
                                     sk_error *err) SK_MUST_CHECK;

/* Somebody says what the rate is, in frames a second (0: nobody): all times go by it, but for those of a camera, which are real. Says
 * so where the source says something else. */
void sk_run_header_rate(sk_run_header *header, double rate);

/* "skitter 0.1.0; runtime cpu; device …; model …": the one-line header text formats carry. Returns buffer. */
const char *sk_run_header_line(const sk_run_header *header, char *buffer, size_t capacity);
/* Adds the keypoints' names under this key, and "edges" between them by number from 0; nothing for a model without. */
void sk_run_header_keypoints(const sk_run_header *header, const char *key, sk_json *json);
/* Adds "classes", "keypoints" and "edges". */
void sk_run_header_names(const sk_run_header *header, sk_json *json);

#endif
