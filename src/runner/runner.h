/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_RUNNER_H
#define SK_RUNNER_RUNNER_H

#include "tasks/detector_settings.h"

/* What a pipeline (skitter/pipeline.h) drives: frames in, instances out, with several frames on their way at once.
 *
 * Opening does everything that takes long, once: a warm-up run that allocates and touches all memory, an optimised run
 * that must agree with it, and the capture of a trace. From then on every frame is a replay of that trace on memory
 * that is already there: no allocation, no page fault, no thought about shapes.
 *
 * Each device has two queues and a tail: transfers and pre-processing on one thread, the network on a second, and what
 * comes after the network on a third, so that the pre-processing of frame i+1, the network of frame i and the
 * post-processing of frame i-1 run at the same time. Several devices (GPUs, NUMA nodes, groups of cores) take frames
 * from one queue, and results come out in the order the frames went in.
 *
 *     sk_runner_open(&model, 1, &settings, &runner, &err);
 *     for (…) {
 *         sk_runner_submit(runner, &frame, NULL, NULL, &err);      blocks only while `depth` frames are in flight
 *         if (sk_runner_in_flight(runner) == depth)
 *             sk_runner_wait(runner, &result, &err);               the oldest frame's
 *     }
 *     sk_runner_close(&runner);
 *
 * Threads: every function may be called from any thread, except where it says otherwise. Frames are numbered in the
 * order submit takes them. One thread at a time fetches results. */
typedef struct sk_runner sk_runner;

/* Whose the pixels are. */
typedef enum sk_runner_frames {
    SK_RUNNER_COPY = 1,   /* submit copies them into staging memory; the caller's are free when it returns */
    SK_RUNNER_BORROW = 2, /* the caller's are read in place; frame_done says when that is over */
    SK_RUNNER_HOLD =
        3 /* as borrow, but kept until the result's time is over: result.frame may be read. The caller must
                             be able to have depth + 1 frames out */
} sk_runner_frames;

#define SK_RUNNER_MAX_DEVICES 16
#define SK_RUNNER_MAX_OUTPUTS 32

typedef struct sk_runner_settings {
    uint32_t size;                 /* sizeof, for growth */
    sk_detector_settings detector; /* runtime, threads, batch, network size, thresholds */
    /* Where to run, by commas; null or "": detector.runtime, once. "cpu" leaves threads to the system, "cpu:0-3" and
     * "cpu:0+2" bind them to cores, "cpu:x4" makes four groups of the cores there are, "cpu*4" the same without
     * binding, "auto" one of detector.runtime for each core (up to 8, and no more than a quarter of the machine's memory
     * takes) or GPU, "cpu:numa" one of each memory node, "cuda:0,cuda:1" takes two GPUs. Borrowed until open returns. */
    const char *devices;
    int32_t frame_width, frame_height; /* what to get ready for; 0: the network's input size */
    sk_pipeline_mode mode;             /* default throughput */
    sk_pipeline_full when_full;        /* default by mode */
    sk_runner_frames frames;           /* default copy */
    /* Called once for every frame that submit took, when its pixels are no longer needed, whatever became of it; from a
     * thread of the runner or from inside one of its functions, under no lock. It may call the runner, except release and
     * close; the thread it runs on does nothing else meanwhile. */
    void (*frame_done)(void *context, const sk_frame *frame);
    /* Called, likewise, when there may be a result to take that was not there before, and when nothing will come any more
     * (finish, cancel). A hint: somebody else may have taken it. For readers that wait elsewhere. */
    void (*result_ready)(void *context);
    void *context; /* of both */
    int32_t depth; /* frames in flight, 1 … 1024; 0: enough to keep every device busy */
    int32_t
        batch_wait_ms; /* a batch that is not full starts after this long; default 20. See sk_runner_flush */
    int32_t
        max_age_ms; /* latency mode: a frame older than this is not begun (counted as expired); default 500,
                              0 = no limit */
    int32_t timeout_ms;  /* wait fails when the oldest frame takes longer; default 0 = never */
    int32_t check_every; /* every n-th frame is checked against the reference executor; default 0 = none */
    double
        pcc_min; /* smallest correlation a check accepts; default 0 = by precision: f32 0.99999, tf32 0.9995, f16 0.999,
                              bf16 0.99, i8 0.95 */
    bool allow_failover; /* a device that fails hands its frames to the others, and nothing is lost */
    bool
        quick_open; /* where the engine replays from the start, open without trial runs: the first result comes
                              sooner, and the first frames do what the runs would have done */
    bool keep_outputs; /* results carry the network's raw outputs */
    /* Frames to get ready for besides their size: format and colours; null: RGB. Others come as well, at the price of a
     * new trace. Borrowed until open returns. */
    const sk_frame *like;
    int32_t
        timeline; /* remember this many last steps of each thread, for sk_runner_write_timeline; default 0 */
} sk_runner_settings;

void sk_runner_defaults(sk_runner_settings *settings);

typedef struct sk_runner_result {
    int64_t ticket; /* as submit gave it; -1: no result, the stream is over (sk_runner_next) */
    int64_t index;  /* of the frame in its source */
    int64_t time_ns;
    int32_t width, height; /* of the frame */
    const sk_frame *frame; /* SK_RUNNER_HOLD: the frame as submitted; else null */
    const sk_instances *instances;
    int32_t n_outputs; /* keep_outputs; else 0 */
    const sk_tensor_view *outputs;
    const sk_check *check; /* check->ran says whether this frame was checked */
    int32_t device;        /* which one did it */
    double latency_ms;     /* from submit to the end of post-processing */
    int64_t wall_ns;       /* the frame's */
    void *user;            /* sk_runner_call's */
    void *hold;            /* sk_runner_take: for sk_runner_end_result; else null */
} sk_runner_result;

/* Wishes for one frame; null = none. */
typedef struct sk_runner_call {
    bool check_pcc; /* check this frame, whatever check_every says */
    bool
        copy; /* copied, whatever the settings' `frames` say: submit is done with the pixels when it returns */
    bool alone; /* SK_ERR_BUSY where others are in flight; its result is for sk_runner_take_one alone */
    void *user; /* comes back in its result */
    /* Instead of the settings' frame_done and context; null: the settings'. */
    void (*frame_done)(void *context, const sk_frame *frame);
    void *frame_context;
    /* Where the first model has no network (sk_task_is_given): what was found in this frame; copied. Null: nothing */
    const sk_instances *found;
    const sk_frame *given; /* goes back, and into the result, in place of the frame: what that was made of */
} sk_runner_call;

/* Warm-up, optimised run, capture, for every device. Models are borrowed until the runner is released. The first sees
 * whole frames; a second one, where given, sees crops around what the first found. */
sk_status sk_runner_open(const sk_model *const *models, int32_t n_models, const sk_runner_settings *settings,
                         sk_runner **out, sk_error *err) SK_MUST_CHECK;

/* Ends all work and frees the trace, the threads and all memory but the handle. May be called at any point, from any
 * thread (not from frame_done), and again: whoever waits in submit, wait or next gets SK_ERR_CANCELLED, results of wait and
 * next are gone, and every frame is given back, but those of results that were taken. Statistics can still be read. */
void sk_runner_release(sk_runner *runner);
/* Release, and the handle itself; no other thread may be using it. Nulls the pointer. */
void sk_runner_close(sk_runner **runner);

/* Takes a frame (RGB, BGR or grey; any size) and returns; `ticket` (may be null) tells its number. */
sk_status sk_runner_submit(sk_runner *runner, const sk_frame *frame, const sk_runner_call *call,
                           int64_t *ticket, sk_error *err) SK_MUST_CHECK;
/* Whether frames in the memory of this CUDA device (sk_frame.place and device) are taken: all lanes are on it, and
 * the engine fits frames of this model in by itself; one model, frames borrowed or held, nothing checked or moved. */
bool sk_runner_takes_device_frames(const sk_runner *runner, int32_t device);
/* Whether NV12 in host memory is best: the engine fits frames of this model in by itself on every lane; one model, nothing
 * checked or moved. Otherwise it is taken, too, and made RGB on the host. */
bool sk_runner_takes_nv12(const sk_runner *runner);
/* Starts a batch that is not full now. */
void sk_runner_flush(sk_runner *runner);

/* The oldest frame's result, in the order of submission; it may be read until the next wait, next, run or release. A
 * frame that failed gives its error, with result->ticket and index filled; a failed check gives SK_ERR_MISMATCH with the
 * whole result. SK_ERR_NOT_FOUND when nothing is in flight, SK_ERR_TIMEOUT, naming the stage, when it takes too long
 * (the frame stays in flight), SK_ERR_CANCELLED after a cancel. */
sk_status sk_runner_wait(sk_runner *runner, sk_runner_result *result, sk_error *err) SK_MUST_CHECK;
/* The same for a thread that reads while another submits: waits for frames to come, and gives ticket -1 once
 * sk_runner_finish was called and everything is out. */
sk_status sk_runner_next(sk_runner *runner, sk_runner_result *result, sk_error *err) SK_MUST_CHECK;
void sk_runner_finish(sk_runner *runner); /* no more frames; the next submit opens the stream again */

/* As next, but the result is the caller's until sk_runner_end_result (or close): several may be held, read and ended at
 * the same time, by any thread and in any order, and after a release. Waits for at most `wait_ms` milliseconds (0: not at all; < 0: for ever)
 * and gives SK_ERR_BUSY when none has come by then. A frame that failed has to be ended too: result->hold is not null. */
sk_status sk_runner_take(sk_runner *runner, int64_t wait_ms, sk_runner_result *result,
                         sk_error *err) SK_MUST_CHECK;
/* The same for the frame that was submitted `alone`, by its ticket; waits for as long as it takes. SK_ERR_CANCELLED also
 * where it was given up before it was begun: too old, or a newer one took its place. */
sk_status sk_runner_take_one(sk_runner *runner, int64_t ticket, sk_runner_result *result,
                             sk_error *err) SK_MUST_CHECK;
void sk_runner_end_result(sk_runner *runner, sk_runner_result *result); /* empties it; again: nothing */

/* submit, flush and wait for one frame. Nothing else may be in flight. */
sk_status sk_runner_run(sk_runner *runner, const sk_frame *frame, const sk_runner_call *call,
                        sk_runner_result *result, sk_error *err) SK_MUST_CHECK;

/* Waits until every frame in flight has its result, and no device works on one that was cancelled. SK_ERR_CANCELLED after a cancel or a release. */
sk_status sk_runner_drain(sk_runner *runner, sk_error *err) SK_MUST_CHECK;
/* Would sk_runner_take return at once: with a result, the end, or because it was released? */
bool sk_runner_is_ready(sk_runner *runner);

/* Gives up every frame in flight: none of them gives a result. Does not wait; who does gets SK_ERR_CANCELLED. The runner
 * may be used on. */
void sk_runner_cancel(sk_runner *runner);

int32_t sk_runner_in_flight(sk_runner *runner); /* submitted, not yet fetched */
int32_t sk_runner_depth(const sk_runner *runner);

/* Milliseconds. Percentiles are exact to 3 %. */
typedef struct sk_runner_stage_stats {
    int64_t count;
    double sum, min, max, p50, p90, p99;
} sk_runner_stage_stats;

typedef struct sk_runner_device_stats {
    char name[48];    /* "cpu:0-3" */
    char detail[160]; /* what the engine says of itself */
    int32_t threads;
    bool failed;
    char problem[256];
    int64_t frames;                              /* done */
    int64_t captures;                            /* traces made: 1, and one more for every change of shape */
    double warm_up_ms, optimised_ms, capture_ms; /* of the last one; warm-up with opening the network */
    bool replays_from_open; /* the engine needs no capture: capture_ms is 0 and means nothing */
} sk_runner_device_stats;

typedef struct sk_runner_stats {
    int64_t submitted, delivered;
    int64_t dropped, expired, refused, cancelled, failed; /* what became of the others */
    int64_t moved;                                        /* frames a failed device handed over */
    int64_t checks, checks_failed;
    double worst_pcc; /* of all checks; 1 before the first */
    int64_t bytes;    /* staging, inputs, results, activations; weights are the model's */
    sk_runner_stage_stats stages[SK_STAGE_COUNT];
    int32_t n_devices;
    sk_runner_device_stats devices[SK_RUNNER_MAX_DEVICES];
    int64_t
        whole; /* SLEAP on a GPU: frames with more peaks than its tables hold, whose maps came back instead */
} sk_runner_stats;

void sk_runner_get_stats(sk_runner *runner, sk_runner_stats *stats);
void sk_runner_reset_stats(sk_runner *runner); /* the stages' times and the counters; not the devices */

/* Adds a step of the caller's own to the timeline, such as decoding; times in nanoseconds of CLOCK_MONOTONIC. One thread
 * at a time. `name` is borrowed until release. */
void sk_runner_mark(sk_runner *runner, const char *name, int64_t frame, int64_t begin_ns, int64_t end_ns);
/* The last steps of every thread as Chrome trace events (JSON), for ui.perfetto.dev and chrome://tracing. */
sk_status sk_runner_write_timeline(sk_runner *runner, const char *path, sk_error *err) SK_MUST_CHECK;

#endif
