/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_INTERNAL_H
#define SK_RUNNER_INTERNAL_H

#include "base/copiers.h"
#include "base/memory.h"
#include "runner/check.h"
#include "runner/histogram.h"
#include "runner/kept_traces.h"
#include "runner/timeline.h"
#include "runner/offer.h"
#include "runner/trace.h"
#include "tasks/row_strips.h"

#include <pthread.h>

/* Inside the runner.
 *
 * An item is one frame in flight. All items in flight hang in one list, oldest first: that is the order of results. Those
 * nobody has begun hang in a second one, from which the lanes take them.
 *
 * A lane is one device. It takes items in batches; a batch is a job, and jobs go through the lane's list of stages, each a
 * thread of its own with a queue before it:
 *
 *     pre -> network -> post [ -> second: crops, the second model's network, what comes after it ]
 *
 * A queue is two numbers that only grow: how many jobs a stage has begun and how many it is done with. So
 *
 *     last.done <= last.begun <= … <= second stage's done … <= pre.done <= pre.begun <= last.done + n_jobs
 *
 * and what waits before a stage are the jobs from its `begun` to the `done` of the one before. Job number k lives in
 * jobs[k % n_jobs]. Each number is written by its stage's thread, under the runner's lock; who owns a job's contents follows
 * from the numbers, so that the stages themselves run without any lock.
 *
 * Everything else (lists, states, counters) is under the runner's one lock, which is held for a few hundred nanoseconds at
 * the ends of stages and never while one runs. */

typedef struct sk_item sk_item;
typedef struct sk_job sk_job;
typedef struct sk_lane sk_lane;

typedef enum sk_item_state {
    SK_ITEM_FREE = 0,
    SK_ITEM_PENDING,
    SK_ITEM_PRE,
    SK_ITEM_WAIT_NETWORK,
    SK_ITEM_NETWORK,
    SK_ITEM_WAIT_POST,
    SK_ITEM_POST,
    SK_ITEM_WAIT_SECOND,
    SK_ITEM_SECOND,
    SK_ITEM_DONE,
    SK_ITEM_HELD /* with the reader */
} sk_item_state;

/* Moments of an item's way, in ns. */
enum {
    SK_AT_SUBMIT,
    SK_AT_QUEUED,
    SK_AT_PRE,
    SK_AT_READY,
    SK_AT_NETWORK,
    SK_AT_COMPUTED,
    SK_AT_POST,
    SK_AT_POSTED,
    SK_AT_SECOND, /* its first crops go to the second network */
    SK_AT_DONE,
    SK_AT_COUNT
};

/* A frame that is the caller's, and how it goes back. Given back under the lock, it waits in a list until that is let go:
 * nobody's function is called under a lock. */
typedef struct sk_lent sk_lent;
struct sk_lent {
    const sk_frame *frame;
    void (*done)(void *context, const sk_frame *frame);
    void *context;
    sk_lent *next;
};

struct sk_item {
    sk_item *sibling;       /* every item there is */
    sk_item *older, *newer; /* in flight, by ticket */
    sk_item *next;          /* pending, by ticket; or free */
    sk_item_state state;
    int64_t at[SK_AT_COUNT];
    int64_t post;                       /* ns of its own in the post thread */
    int64_t crops, second, second_post; /* ns of cutting; in the second network; after it */
    int64_t second_end;                 /* of its last run so far */
    int64_t ticket;
    sk_frame view; /* what the stages read */
    sk_lent *lent; /* the caller's frame; null: copied, or given back */
    void *user;
    bool announced; /* its result, to result_ready */
    bool alone;     /* for a reader of its own: sk_runner_take_one */
    uint8_t *staging;
    _Atomic size_t staging_bytes; /* also read for the statistics, as are output_bytes */
    bool check;
    bool abandoned; /* cancelled while a lane has it: in no list, freed when the lane is through */
    bool moved;     /* from a lane that failed */
    bool whole;     /* its maps came back: more peaks than a table holds */
    int32_t lane;
    int32_t share;           /* frames of its batch: stage times are divided by it */
    double upload, download; /* seconds, of the device or of staging */
    double copying,
        checking; /* seconds of post-processing that are not: raw outputs out, the reference executor */
    sk_status status;
    sk_error error; /* where status is a failure */
    sk_instances instances;
    sk_instances found; /* by the first of two models */
    sk_check checked;
    int32_t n_outputs;
    sk_tensor_view outputs[SK_RUNNER_MAX_OUTPUTS];
    char output_names[SK_RUNNER_MAX_OUTPUTS][40]; /* a new trace may come while the reader holds this */
    float *output_data;
    _Atomic size_t output_bytes;
};

#define SK_LANE_MAX_JOBS 8

struct sk_job {
    int32_t count;
    sk_item **items; /* [batch] */
    sk_trace_key key;
    uint8_t
        *input; /* [batch] pictures in the form handed in; pages of the lane's own memory node, or pinned */
    _Atomic size_t input_bytes; /* also read for the statistics */
    void (*input_free)(void *block);
    const sk_frame **frames; /* [batch]; where they lie on the device already: they are the input */
    bool on_device;
    sk_frame *resident; /* [batch]; where the first network's frames lie on the device, until the job's end */
    bool has_resident;
    bool skip; /* nothing in it needs the network */
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    int64_t network_begin, network_end;
};

/* A step of a job's way, with its thread and its queue. */
typedef struct sk_lane_stage {
    const char *name; /* of the thread */
    const char *role; /* of its row in the timeline */
    void *(*main)(void *stage);
    sk_lane *lane;
    int32_t index; /* in the lane's list */
    bool started;
    pthread_t thread;
    pthread_cond_t wake;
    int64_t begun, done; /* jobs */
    sk_timeline_row row;
} sk_lane_stage;

/* Places in the list; a lane of one model ends with post. */
enum { SK_LANE_PRE = 0, SK_LANE_NETWORK, SK_LANE_POST, SK_LANE_SECOND, SK_LANE_MAX_STAGES };

/* Crops of one frame, in a batch; none: a frame without. */
typedef struct sk_crop_part {
    sk_job *job;
    int32_t image; /* of the job */
    int32_t first, count;
    int32_t at; /* in the batch */
    bool last;  /* of the frame */
} sk_crop_part;

/* What the second network takes at once: crops of a frame, and of those behind it that are there already. */
#define SK_LANE_MAX_PARTS 16
typedef struct sk_crop_batch {
    sk_crop_part parts[SK_LANE_MAX_PARTS];
    int32_t n_parts, count; /* count: crops */
    int64_t begin;
} sk_crop_batch;

#define SK_LANE_MAX_BATCHES 8 /* in flight */

/* The second model of a lane; its thread's alone once the lane is open. */
typedef struct sk_second {
    int32_t width, height;         /* frames the stages are open for … */
    sk_pixel_format format;        /* … and the network, where it cuts … */
    bool resident;                 /* … from where they lie on the device, unless … */
    bool refused;                  /* … the engine cannot with this model */
    sk_task_stage *first;          /* of the first model: what the others are opened behind */
    sk_task_stage *cutter, *after; /* before the network; after it, some frames later */
    sk_trace trace;
    int32_t slots;
    uint8_t *inputs[SK_SESSION_MAX_SLOTS];
    _Atomic size_t input_bytes; /* of each; also read for the statistics */
    void (*input_free)(void *block);
    sk_instances unused; /* the cutter wants a place for results */
    /* where it stands: the next crop to be cut … */
    sk_job *cutting; /* null: of the next job */
    int32_t image, next_crop;
    sk_crop_list list; /* of this frame */
    /* … and batches that were begun and not ended */
    sk_crop_batch batches[SK_LANE_MAX_BATCHES];
    int64_t queued, ended;
    int64_t submitted, waited; /* those with crops */
    bool checking;             /* the checker is held for the frame in hand */
} sk_second;

struct sk_lane {
    sk_runner *runner;
    int32_t index;
    sk_device device;
    sk_lane_stage stages[SK_LANE_MAX_STAGES];
    int32_t n_stages;
    bool idle;      /* the pre thread waits for frames */
    bool offload;   /* the engine fits frames in by itself, where it can … */
    bool many_fits; /* … but of so many sizes only those in its own memory: nobody else reads them */
    bool keeps;     /* frames stay on the device until their crops were cut from them there */
    bool opened, open_done; /* the network thread has tried to open, and could */
    bool failed;
    sk_error problem;
    double pace;       /* ns a frame has taken of late, in this lane as it is busy; 0: none yet */
    int64_t last_done; /* when */

    sk_job jobs[SK_LANE_MAX_JOBS];
    int32_t n_jobs, slots;

    /* the pre thread's */
    sk_task_stage *pre;
    int32_t pre_width, pre_height;
    sk_frame_fit fit;     /* of the last frames the engine fitted in by itself */
    sk_row_strips strips; /* the rows of these that count */
    int32_t fits;         /* how often that changed */
    sk_copiers copiers;   /* of frames into memory the engine reads */
    /* the network thread's */
    sk_trace trace;
    sk_kept_traces kept;      /* of other shapes */
    pthread_mutex_t networks; /* first and second model never compute at the same time: the cores are one's */
    /* the post thread's */
    sk_task_stage *post;
    int32_t post_width, post_height;
    /* the last stage's of two models */
    sk_second second;

    /* what statistics tell of it, under the lock: they outlive the trace */
    int64_t frames, captures, activation_bytes;
    double warm_up_ms, optimised_ms, capture_ms;
    bool from_open;
    char detail[160];
    int32_t n_threads;
};

typedef enum sk_runner_state {
    SK_RUNNER_OPENING = 0,
    SK_RUNNER_RUNNING,
    SK_RUNNER_ENDING,
    SK_RUNNER_ENDED
} sk_runner_state;

struct sk_runner {
    sk_runner_settings settings; /* its pointers are null or our own */
    int32_t *classes;
    char *texts[4]; /* of settings.detector */
    sk_task_settings task;
    bool takes_nv12; /* every device fits frames in by itself */
    sk_frame like;   /* format and colours of frames to get ready for */
    int32_t n_models;
    const sk_model *models[SK_PIPELINE_MAX_MODELS];
    int32_t capacity, n_keypoints;           /* of results */
    int32_t found_capacity, found_keypoints; /* of what the first of two models finds */
    bool planes;                             /* frames may come as planes of video */
    bool sparse;                             /* a device leaves out results that cannot pass */
    bool given; /* what is found comes with the frames: the first model has no network */
    int32_t depth;

    pthread_mutex_t lock;
    pthread_cond_t room;  /* submitters */
    pthread_cond_t ready; /* the reader */
    pthread_cond_t gone;  /* whoever releases; whoever opens */
    sk_runner_state state;
    int32_t inside; /* callers in submit, wait, next */
    bool finished, releasing;
    int32_t draining; /* callers that wait for every result */
    uint64_t cancels;
    /* Who has read results so far; one thread: which. */
    enum { SK_READ_BY_NONE, SK_READ_BY_ONE, SK_READ_BY_SEVERAL } readers;
    pthread_t reader;
    int32_t abandoned; /* cancelled, and not yet let go by their lanes */
    int64_t next_ticket;
    int64_t flush_before; /* tickets below this start without waiting for a full batch */

    sk_item *items; /* by sibling */
    sk_item *free_items;
    sk_lent *free_lent, *back; /* unused; given back, to be told once the lock is let go */
    int32_t news;              /* results to announce then */
    sk_item *oldest, *newest;
    sk_item *pending;
    int32_t in_flight, reserved; /* in the list; being filled by submit */
    sk_item *held;               /* by the reader, until its next call; what was taken is its own */

    sk_lane *lanes;
    int32_t n_lanes;
    sk_checker checker;
    sk_timeline_row caller_row;

    sk_histogram stages[SK_STAGE_COUNT];
    sk_runner_stats counted; /* the counters in it */
    sk_runner_file files[SK_RUNNER_MAX_FILES];
    int32_t n_files;
};

/* For tests and for doors with an engine of their own: every device of the list runs on `engine`. */
sk_status sk_runner_open_on(const sk_model *const *models, int32_t n_models,
                            const sk_runner_settings *settings, const sk_engine *const *engines,
                            sk_runner **out, sk_error *err) SK_MUST_CHECK;

/* For tests: how much memory "auto" thinks it may use; 0: a share of the machine's. */
extern int64_t sk_runner_auto_memory;

/* items.c; all under the lock. */
sk_status sk_items_open(sk_runner *r, sk_error *err) SK_MUST_CHECK;
/* `taken`: also those whose results the reader keeps. */
void sk_items_close(sk_runner *r, bool taken);
/* The reader is done with a result it took. */
void sk_item_end(sk_runner *r, sk_item *item);
/* One more, free: for as long as the reader holds others. */
sk_status sk_items_grow(sk_runner *r, sk_error *err) SK_MUST_CHECK;
/* Lends the caller's frame to the item. */
sk_status sk_item_lend(sk_runner *r, sk_item *item, const sk_frame *frame, const sk_runner_call *call,
                       sk_error *err) SK_MUST_CHECK;
/* Lets the lock go for as long as it takes to tell the caller what was given back and what is ready, if anything. Whoever
 * gives frames back or finishes items calls it before letting the lock go or waiting. */
void sk_runner_tell(sk_runner *r);
/* Takes the item out of the order of results. */
void sk_item_unlink(sk_runner *r, sk_item *item);
/* Gives the frame back to the caller, once, by the next sk_runner_tell. */
void sk_item_give_back(sk_runner *r, sk_item *item);
/* Out of every list, frame given back, free for the next submit. */
void sk_item_free(sk_runner *r, sk_item *item);
/* Puts a new item, or one a failed lane had, into both lists by its ticket. */
void sk_item_link(sk_runner *r, sk_item *item);
void sk_item_pend(sk_runner *r, sk_item *item);
/* Finished, with its times; an abandoned one is freed. */
void sk_item_finish(sk_runner *r, sk_item *item);
const char *sk_item_state_name(sk_item_state state);
/* stats.c: what this trace runs goes on the list of sk_runner_files. Takes the lock. */
void sk_runner_note_file(sk_runner *r, int32_t model, const sk_trace *trace);
/* Room for the raw outputs of this trace. */
sk_status sk_item_prepare_outputs(sk_item *item, const sk_trace *trace, sk_error *err) SK_MUST_CHECK;

/* lane.c */
/* The stages that jobs of so many models go through. */
void sk_lane_list_stages(sk_lane *lane, int32_t n_models, const pthread_condattr_t *monotonic);
sk_status sk_lane_open(sk_runner *r, sk_lane *lane,
                       sk_error *err) SK_MUST_CHECK; /* returns when its trace stands */
void sk_lane_stop(sk_lane *lane);                    /* the runner's state is ENDING */
void sk_lane_close(sk_lane *lane);
/* Wakes the lane that has least to do; under the lock. */
void sk_lanes_wake(sk_runner *r);
int32_t sk_lanes_alive(const sk_runner *r);
/* Under the lock: the device is gone; what it had goes to others or gets the error. */
void sk_lane_fail(sk_lane *lane, const sk_error *problem);
/* Under the lock: one job's items, of a lane that failed. */
void sk_lane_hand_over(sk_lane *lane, sk_job *job);

/* lane_stage.c; all under the lock. */
/* The job a stage is to begin next: null while there is none. */
sk_job *sk_stage_next(sk_lane_stage *stage);
/* The oldest job a stage has begun and not ended. */
sk_job *sk_stage_oldest(sk_lane_stage *stage);
/* Is there nothing left to do for it? The runner ends, or the device failed and no job it could still finish is left. */
bool sk_stage_over(const sk_lane_stage *stage);
/* A stage is done with its oldest job: it waits for the next one, or is finished; of a device that failed it goes on only if
 * no network is ahead of it. */
void sk_stage_pass(sk_lane_stage *stage);
/* What a stage still has in hand, of a device that failed. */
void sk_stage_hand_over(sk_lane_stage *stage);
/* What waits for a network, of a device that failed; each stage hands over what it has in hand by itself. */
void sk_lane_hand_over_waiting(sk_lane *lane);
void sk_stage_wake(sk_lane *lane);
/* Jobs that are somewhere in the lane. */
int64_t sk_lane_load(const sk_lane *lane);
void sk_job_mark(sk_job *job, sk_item_state state, int moment, int64_t now);

/* Does a frame like this stay on the device until crops were cut from it there? */
bool sk_lane_keeps(const sk_lane *lane, const sk_frame *frame);
/* The trace that frames like this one need on this lane, once its pre stage stands. */
sk_trace_key sk_lane_key(const sk_lane *lane, const sk_frame *like);
/* Do results come back without the places that cannot pass? Then they cannot be compared or kept. */
bool sk_lane_is_sparse(const sk_lane *lane);

/* lane_pre.c, lane_network.c, lane_post.c, lane_second.c, lane_second_open.c: the threads. */
void *sk_lane_pre_main(void *stage);
void *sk_lane_network_main(void *stage);
void *sk_lane_post_main(void *stage);
void *sk_lane_second_main(void *stage);
/* Stages for frames of this size, and the second network: on the network thread while opening, then on their own. */
sk_status sk_lane_open_pre(sk_lane *lane, int32_t width, int32_t height, sk_error *err) SK_MUST_CHECK;
sk_status sk_lane_open_post(sk_lane *lane, int32_t width, int32_t height, sk_error *err) SK_MUST_CHECK;
/* `like`: a frame; `resident`: where it lies on the device, or null: its crops are cut by the host. */
sk_status sk_lane_open_second(sk_lane *lane, const sk_frame *like, const sk_frame *resident,
                              sk_error *err) SK_MUST_CHECK;
/* Is everything open for a frame like this? */
bool sk_lane_second_fits(const sk_second *second, const sk_frame *like, bool resident);
void sk_lane_close_second(sk_lane *lane);
/* lane_share.c: who takes the next frame. */
void sk_lane_note_pace(sk_lane *lane, const sk_job *job);
/* When this lane would be done with one more frame, in ns from now; 0: not known. */
double sk_lane_until_done(const sk_lane *lane);
/* Whether this lane, which has room, leaves the next frame to a quicker one; *when: the moment to look again. */
bool sk_lane_leaves(const sk_lane *lane, int64_t *when);

/* lane_post.c: what the checker is told, and how long it took. */
sk_checker_call sk_lane_check_of(const sk_lane *lane, sk_item *item);
void sk_lane_note_check(sk_lane_stage *stage, sk_item *item, int64_t begin);
sk_status sk_job_prepare(sk_job *job, const sk_trace_key *key, sk_error *err) SK_MUST_CHECK;

/* stream.c: every function that works for a caller is between these, so that a release waits for it. Enter takes the lock;
 * leave tells what there is to tell and lets it go. */
void sk_runner_enter(sk_runner *r);
void sk_runner_leave(sk_runner *r);
sk_status sk_runner_ended(sk_error *err);

/* stream.c: a frame of the runner's own, read in place and not given back; for the rehearsal. */
sk_status sk_runner_submit_own(sk_runner *r, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;

/* Waits on a condition until a moment of CLOCK_MONOTONIC; INT64_MAX = for ever. */
void sk_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t ns);

#endif
