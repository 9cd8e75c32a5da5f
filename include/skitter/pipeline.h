/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_PIPELINE_H
#define SKITTER_PIPELINE_H

#include "skitter/frame.h"
#include "skitter/instance.h"
#include "skitter/model.h"
#include "skitter/source.h"
#include "skitter/tensor.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frames in, instances out: one model, or two of which the second looks at crops around what the first found, on a
 * compute runtime, with several frames on their way at once. Everything skitter does with video goes through this object.
 *
 * Opening does everything that takes long, once: a warm-up that allocates and touches all memory, an optimised run that
 * must agree with it, the capture of a trace. From then on every frame is a replay on memory that is there already.
 *
 *     sk_pipeline_settings settings = SK_PIPELINE_SETTINGS_INIT;
 *     sk_pipeline_defaults(&settings);
 *     settings.runtime = "cuda";
 *     const char *models[] = {"yolo11n-pose.pt"};
 *     sk_pipeline_open(models, 1, &settings, &pipeline, &err);
 *
 *     const sk_result *result;
 *     while (next_frame(&frame)) {
 *         sk_pipeline_submit(pipeline, &frame, my_frame_data, 0, &err);      waits only while `depth` are in flight
 *         while (sk_pipeline_take(pipeline, 0, &result, &err) == SK_OK) {    whatever is ready, in order
 *             use(result->instances, result->user);
 *             sk_pipeline_give_back(pipeline, result);
 *         }
 *     }
 *     sk_pipeline_finish(pipeline);                                          no more frames: the rest
 *     while (sk_pipeline_take(pipeline, -1, &result, &err) == SK_OK && result) { … }
 *     sk_pipeline_close(&pipeline);
 *
 * Ownership: settings and everything they point to are copied by open. A frame is copied by submit, or lent until its
 * release callback (skitter/frame.h). A result belongs to whoever took it, until it is given back. Strings and arrays of
 * sk_pipeline_info live as long as the pipeline.
 *
 * Threads: every function may be called from any thread at any time, except close. Any number of threads may submit; frames
 * are numbered in the order submit takes them and come out in that order. No callback ever runs under a lock of ours: all
 * of them may call back into the pipeline (but not close or release it). Whoever waits there (a take with a timeout, drain,
 * run) holds up the thread that would bring it about.
 *
 * Growth: structs that a caller fills begin with `size`, their size as the caller's compiler knew it. Smaller ones are
 * accepted, and what they lack has its default. Structs that we fill may get new fields at the end. */
typedef struct sk_pipeline sk_pipeline;

#define SK_PIPELINE_MAX_MODELS 2

/* ---- settings ---- */

/* What counts when frames come faster than they can be looked at. */
typedef enum sk_pipeline_mode {
    /* every frame, as many a second as possible */
    SK_PIPELINE_THROUGHPUT = 1,
    /* the newest frame wins; a frame that waited too long is not looked at */
    SK_PIPELINE_LATENCY = 2
} sk_pipeline_mode;

/* What submit does when `depth` frames are in flight. */
typedef enum sk_pipeline_full {
    /* throughput: block; latency: drop the oldest, also before it is full */
    SK_FULL_DEFAULT = 0,
    /* wait until one was taken; where the thread that submits is the only one that takes: until there is one to take */
    SK_FULL_BLOCK = 1,
    /* return SK_ERR_BUSY; counted as refused */
    SK_FULL_REFUSE = 2,
    /* the oldest frame nobody has begun gives way; counted as dropped */
    SK_FULL_DROP_OLDEST = 3
} sk_pipeline_full;

/* The shape of a YOLO network's input. */
typedef enum sk_rect {
    /* as Ultralytics: on where the runtime takes any shape, off where it runs a file made for one */
    SK_RECT_AUTO = 0,
    /* the least multiple of the stride that holds the frame: for 16:9, three fifths of the work */
    SK_RECT_ON = 1,
    /* the square (or width x height as set) with the frame in its middle */
    SK_RECT_OFF = 2
} sk_rect;

/* What may be left to what is there. */
typedef enum sk_choice { SK_CHOICE_OFF = 0, SK_CHOICE_ON = 1, SK_CHOICE_AUTO = 2 } sk_choice;

/* How SLEAP's peaks are refined to fractions of a pixel. A legacy model's own offsets take its place. */
typedef enum sk_sleap_refinement {
    /* centre of mass of a patch around the peak */
    SK_SLEAP_REFINE_INTEGRAL = 0,
    /* a quarter pixel towards the higher neighbour */
    SK_SLEAP_REFINE_LOCAL,
    SK_SLEAP_REFINE_NONE
} sk_sleap_refinement;

/* What becomes of poses in one place. */
typedef enum sk_overlap {
    SK_OVERLAP_KEEP = 0,
    /* the boxes around them overlap */
    SK_OVERLAP_IOU,
    /* their nodes lie close together */
    SK_OVERLAP_OKS
} sk_overlap;

/* SLEAP's own settings, by the names sleap-nn has for them. From sk_sleap_options_defaults(). */
typedef struct sk_sleap_options {
    /* sizeof(sk_sleap_options) */
    uint32_t size;
    /* of centroids; below 0 (default): peak_threshold */
    float centroid_peak_threshold;
    /* sk_sleap_refinement; default integral */
    int32_t refinement;
    /* odd, 3 … 15; default 5 */
    int32_t integral_patch_size;

    /* --- Bottom-up --- */

    /* longer edges are penalised, of the fields' largest side; default 0.25 */
    float max_edge_length_ratio;
    /* default 1 */
    float dist_penalty_weight;
    /* samples along an edge, 2 … 1000; default 10 */
    int32_t n_points;
    /* up to 1: a part of the nodes; above: peaks; default 0 */
    float min_instance_peaks;
    /* edges below are dropped, -1 … 1; default 0.25 */
    float min_line_scores;

    /* --- What is kept of a frame's poses; 0 (default): everything --- */

    /* sk_overlap: the worse of two poses goes … */
    int32_t overlap;
    /* … where they overlap by more; default 0.8 */
    float overlap_threshold;
    /* found points a pose must have */
    int32_t min_visible_nodes;
    /* the same as a part of all, 0 … 1 */
    float min_visible_node_fraction;
    /* mean score of its found points */
    float min_mean_node_score;
    /* its own score */
    float min_instance_score;
    /* pixels; models of centroids alone */
    float min_centroid_distance;
} sk_sleap_options;

/* From sk_pipeline_defaults(). Every pointer may be null and is copied by open. */
typedef struct sk_pipeline_settings {
    /* sizeof(sk_pipeline_settings) */
    uint32_t size;

    /* --- What computes --- */

    /* "cpu" (default), "cuda", "onnx_cpu", "openvino", "tensorrt" …, also "cuda:1" */
    const char *runtime;
    /* Where, by commas; default: the runtime, once. "cpu" leaves threads to the system, "cpu:0-3" and "cpu:0+2" bind them
     * to cores, "cpu:x4" makes four groups of the cores there are, "cpu*4" the same without binding, "auto" one for each
     * core (up to 8, and no more than a quarter of the machine's memory takes) or GPU, "cpu:numa" one of each memory node,
     * "cuda:0,cuda:1" takes two GPUs. */
    const char *devices;
    /* "f32", "tf32", "f16", "bf16", "i8", "fp8"; default: what the runtime usually computes in */
    const char *precision;
    /* the runtime's own, "key=value" by commas; docs/runtimes.md lists them; unknown: refused */
    const char *options;
    /* of each device; 0 (default): all cores */
    int32_t threads;
    /* frames in one run of the network, 1 (default) … 64 */
    int32_t batch;

    /* --- The network's input --- */

    /* YOLO: pixels, up to 16384, rounded up to the model's stride; 0 (default): the model's own. SLEAP: not looked at, its
     * input follows the frame */
    int32_t height, width;
    /* YOLO; default SK_RECT_AUTO */
    sk_rect rect;
    /* YOLOv10, YOLO26; default SK_HEADS_AUTO */
    sk_heads heads;

    /* --- What counts as found: YOLO --- */

    /* keep scores above this, 0 … 1; default 0.25 */
    float confidence;
    /* suppress what overlaps by more, 0 … 1; default 0.7 */
    double iou;
    /* instances a frame, 1 … 100000; default 300 */
    int32_t max_det;
    /* suppress across classes; default false */
    bool agnostic;
    /* oriented boxes in newer Ultralytics' form; default false: width >= height */
    bool obb_quarter;
    /* only these … */
    const int32_t *classes;
    /* … so many; 0 (default): all */
    int32_t n_classes;

    /* --- What counts as found: SLEAP --- */

    /* keep peaks above this; default 0.2 */
    float peak_threshold;
    /* a frame; 0 (default): no limit */
    int32_t max_instances;
    /* null: its defaults */
    const sk_sleap_options *sleap;

    /* --- How frames pass --- */

    /* default throughput */
    sk_pipeline_mode mode;
    /* default by mode */
    sk_pipeline_full when_full;
    /* frames in flight, 1 … 1024; 0 (default): enough to keep every device busy */
    int32_t depth;
    /* a batch that is not full starts after this long; default 20 */
    int32_t batch_wait_ms;
    /* latency: an older frame is not begun; default 500; 0: no limit */
    int32_t max_age_ms;
    /* take fails when the oldest frame takes longer; default 0: never */
    int32_t timeout_ms;
    /* lent frames stay until their result is given back: sk_result.frame; default false */
    bool keep_frames;
    /* results carry the network's raw outputs; default false */
    bool keep_outputs;
    /* no trial runs at open where the engine needs none; default false */
    bool quick_open;
    /* a device that fails hands its frames to the others; default false */
    bool allow_failover;
    /* Frames to get ready for: size, format (none: RGB), place, colours. Others come as well, the first of a kind at the price of a new
     * trace. Null: RGB of the network's own size. */
    const sk_frame *expect;

    /* Checks against the reference executor: the networks' outputs, by Pearson correlation (PCC). */
    /* every n-th frame; default 0: none */
    int32_t check_every;
    /* smallest accepted; default 0: by precision, f32 0.99999 … i8 0.95 */
    double pcc_min;

    /* Called when a result has become ready, from a thread of the pipeline, under no lock; calls may overlap and may come
     * late (take then finds nothing). Null (default): poll, wait in take, or wait on sk_pipeline_fd. */
    void (*ready)(void *context);
    void *ready_context;

    /* remember this many last steps of each thread: sk_pipeline_write_timeline; default 0 */
    int32_t timeline;

    /* --- Crops for the second of two models --- */

    /* along oriented boxes, the long side across; default off. Auto: but for SLEAP's centered-instance models */
    sk_choice crop_turned;
    /* other animals' boxes are black in a crop, but where they lie over its own; default off. Auto: oriented boxes */
    sk_choice mask_neighbours;
    /* crops, also of several frames, in one run of its network, 1 … 64; 0 (default): 8 on a GPU, 1 on the processor. Results do not
     * depend on it where they do not on `batch` */
    int32_t crop_batch;
} sk_pipeline_settings;

/* The only way to begin settings, before their defaults. */
#define SK_PIPELINE_SETTINGS_INIT SK_INIT_BY_SIZE(sk_pipeline_settings)
#define SK_SLEAP_OPTIONS_INIT     SK_INIT_BY_SIZE(sk_sleap_options)

/* Fills what settings->size reaches with the defaults. */
SK_API void sk_pipeline_defaults(sk_pipeline_settings *settings);
SK_API void sk_sleap_options_defaults(sk_sleap_options *options);

/* ---- opening and closing ---- */

/* From files: an Ultralytics .pt, a SLEAP folder, an .onnx. The models that find and that look closer may come in either
 * order. Null settings: defaults. On failure *out is null and err names the file or runtime and what helps. */
SK_API sk_status sk_pipeline_open(const char *const *paths, int32_t n_paths,
                                  const sk_pipeline_settings *settings, sk_pipeline **out,
                                  sk_error *err) SK_MUST_CHECK;
/* From models that are open (skitter/model.h; also from bytes in memory). The pipeline keeps its own hold on them: they may
 * be closed at once, and shared between pipelines. */
SK_API sk_status sk_pipeline_open_models(const sk_model *const *models, int32_t n_models,
                                         const sk_pipeline_settings *settings, sk_pipeline **out,
                                         sk_error *err) SK_MUST_CHECK;
/* Ends all work and frees threads, traces and all memory but the handle, at any point and from any thread; may be called
 * again. Whoever waits in submit or take gets SK_ERR_CANCELLED; lent frames are given back, except those of results that
 * are out, which stay valid until they are given back. Statistics can still be read. */
SK_API void sk_pipeline_release(sk_pipeline *pipeline);
/* Release, and the handle itself with all results; no other thread may be using it. Nulls the pointer; null is fine. */
SK_API void sk_pipeline_close(sk_pipeline **pipeline);

/* ---- what it is ---- */

/* One of its models. Filled by us; may grow at the end. */
typedef struct sk_pipeline_model {
    /* as given; "model in memory" for those from memory without a name */
    const char *path;
    /* of its content, 64 digits */
    const char *sha256;
    /* what it was trained for */
    sk_task task;
    /* of its network's input for frames as expected */
    int32_t width, height;
    /* 1 or 3 */
    int32_t channels;
} sk_pipeline_model;

/* Constant while the pipeline is open. */
typedef struct sk_pipeline_info {
    /* sizeof, as the library knows it */
    uint32_t size;
    /* of the last model: what results are */
    sk_task task;
    /* 1 or 2, the finder first */
    int32_t n_models;
    /* null beyond n_models */
    const sk_pipeline_model *models[SK_PIPELINE_MAX_MODELS];
    /* 0: the model has none */
    int32_t n_classes;
    /* "" where unnamed */
    const char *const *class_names;
    /* of an instance; 0: no poses */
    int32_t n_keypoints;
    /* unnamed ones are "kpt0" … */
    const char *const *keypoint_names;
    /* lines of the skeleton */
    int32_t n_edges;
    /* from keypoint, to keypoint */
    const int32_t (*edges)[2];
    /* SK_HAS_…: what instances can have */
    uint32_t has;
    /* classes are individuals */
    bool identities;
    /* YOLO: what is run; AUTO: no YOLO model */
    sk_heads heads;
    /* YOLO: ON or OFF, what is run; AUTO: no YOLO model */
    sk_rect rect;
    /* most instances a frame */
    int32_t capacity;
    /* frames in flight, and at least so many results out */
    int32_t depth;
    /* as in the settings */
    const char *runtime_requested;
    /* what computes */
    const char *runtime;
    /* for people: "NVIDIA H200" */
    const char *device;
    /* what is computed in: "f16"; "i8,f32" where the models differ */
    const char *precision;
    /* How the program that made the last model reads video: what that model learnt from. SLEAP up to 1.4: BT.601 always;
     * sleap-nn and Ultralytics: as the file says. */
    sk_source_colours colours;
    /* kinds of frames that are taken, … */
    int32_t n_accepts;
    /* … the best first. sk_source_settings.accepts takes the same list */
    const sk_frame_kind *accepts;
} sk_pipeline_info;

SK_API const sk_pipeline_info *sk_pipeline_about(const sk_pipeline *pipeline);

/* ---- frames in, results out ---- */

#define SK_SUBMIT_CHECK 1u /* check this frame against the reference executor, whatever check_every says */
#define SK_SUBMIT_FLUSH 2u /* do not wait for the batch to fill up */

/* Hands a frame in. `user` comes back in its result, untouched. `flags`: SK_SUBMIT_…; 0: none. On failure the frame was not
 * taken and is not released. SK_ERR_BUSY: full (SK_FULL_REFUSE); SK_ERR_CANCELLED: released meanwhile. */
SK_API sk_status sk_pipeline_submit(sk_pipeline *pipeline, const sk_frame *frame, void *user, uint32_t flags,
                                    sk_error *err) SK_MUST_CHECK;
/* a batch that is not full starts now */
SK_API void sk_pipeline_flush(sk_pipeline *pipeline);
/* no more frames; the next submit begins a new stream */
SK_API void sk_pipeline_finish(sk_pipeline *pipeline);

#define SK_MAX_CHECKED 64

/* How one output of one model compares. This struct never changes its size. */
typedef struct sk_output_check {
    /* 0, or 1 for the model that looks at crops: its worst crop */
    int32_t model;
    /* of the model's, from 0 */
    int32_t output;
    /* "" where it has none */
    char name[40];
    /* Pearson correlation with the reference executor, -1 … 1 */
    double pcc;
    /* what was asked for */
    double pcc_min;
    /* largest and mean difference */
    double max_diff;
    double mean_diff;
} sk_output_check;

/* How the networks' outputs for a frame compare with the reference executor's for the same frame, and for each crop of it
 * that a second model saw. */
typedef struct sk_check {
    bool ran, passed;
    /* of the worst output */
    double pcc;
    /* what was asked of it */
    double pcc_min;
    /* largest over the outputs */
    double max_diff, mean_diff;
    /* of a second model; without any it has no outputs here */
    int32_t n_crops;
    int32_t n_outputs;
    sk_output_check outputs[SK_MAX_CHECKED];
} sk_check;

/* What became of one frame. Made by the pipeline, yours until sk_pipeline_give_back. */
typedef struct sk_result {
    /* sizeof, as the library knows it */
    uint32_t size;
    /* SK_OK; else what failed for this frame (SK_ERR_MISMATCH: a check) */
    sk_status status;
    /* for people; "" where there is none */
    const char *problem;
    /* number of the frame in this pipeline, from 0; dropped ones leave gaps */
    int64_t ticket;
    /* as submit was given it */
    void *user;
    /* the frame's own … */
    int64_t index;
    /* … fields */
    int64_t time_ns, wall_ns;
    /* of the frame, pixels */
    int32_t width, height;
    /* keep_frames, and the frame was lent: it; else null */
    const sk_frame *frame;
    /* what was found; null where it failed before that */
    const sk_instances *instances;
    /* null: not checked */
    const sk_check *check;
    /* keep_outputs; else 0 */
    int32_t n_outputs;
    /* without the batch: [channels][height][width] */
    const sk_tensor_view *outputs;
    /* which of `devices` did it; -1: none */
    int32_t device;
    /* from submit to the end of post-processing */
    double latency_ms;
} sk_result;

/* The oldest frame's result. Waits up to timeout_ms for it (0: not at all, below 0: for as long as it takes): SK_ERR_TIMEOUT
 * when there is none by then. *out is null with SK_OK once sk_pipeline_finish was called and everything is out.
 * SK_ERR_CANCELLED: released, or cancelled while this waited; a take that begins after a cancel waits for frames that are
 * submitted after it. SK_ERR_TIMEOUT naming the stage after settings.timeout_ms. A frame that failed is a result like others,
 * with a status. */
SK_API sk_status sk_pipeline_take(sk_pipeline *pipeline, int32_t timeout_ms, const sk_result **out,
                                  sk_error *err) SK_MUST_CHECK;
/* Ends a result. As many as `depth` may be out at a time at no cost; more are possible, each costs memory. Null is fine. */
SK_API void sk_pipeline_give_back(sk_pipeline *pipeline, const sk_result *result);
/* A file descriptor that is readable while take would return without waiting (a result, the end of the stream after
 * finish, a release), for poll and event loops; it is the pipeline's, do not read from it. -1 where the system has none. */
SK_API int sk_pipeline_fd(sk_pipeline *pipeline);

/* One frame, in one call: submit, flush, and take this very frame, which no other take gets. SK_ERR_BUSY while others are
 * in flight. A frame that failed gives its error and no result; a failed check gives SK_ERR_MISMATCH and the result.
 * SK_ERR_CANCELLED: cancelled or released meanwhile, or given up (max_age_ms, SK_FULL_DROP_OLDEST). A lent frame may still
 * have to be released when this returns, and SK_ERR_CANCELLED does not tell whether it was taken: where another thread may
 * cancel or release, hand in frames that are copied, or use submit and take. */
SK_API sk_status sk_pipeline_run(sk_pipeline *pipeline, const sk_frame *frame, const sk_result **out,
                                 sk_error *err) SK_MUST_CHECK;

/* Waits until nothing is being computed, cancelled frames neither; results stay to be taken. */
SK_API sk_status sk_pipeline_drain(sk_pipeline *pipeline, sk_error *err) SK_MUST_CHECK;
/* Gives up every frame in flight: none of them gives a result, lent ones are released. Does not wait; whoever does gets
 * SK_ERR_CANCELLED, whoever comes later does not hear of it: to end a thread that takes, finish or release. The pipeline may
 * be used on. */
SK_API void sk_pipeline_cancel(sk_pipeline *pipeline);
/* submitted, not yet taken */
SK_API int32_t sk_pipeline_in_flight(sk_pipeline *pipeline);

/* ---- how it went ---- */

/* Where a frame's time goes. The numbers never change; new ones are added before the count. */
typedef enum sk_stage {
    /* into staging memory; GPU: to the device */
    SK_STAGE_UPLOAD = 0,
    /* waiting for a device */
    SK_STAGE_QUEUE,
    /* letterbox, resize, … */
    SK_STAGE_PRE,
    /* waiting for the network to be free */
    SK_STAGE_WAIT_NETWORK,
    /* a frame's share of its batch */
    SK_STAGE_NETWORK,
    SK_STAGE_WAIT_POST,
    /* decode, NMS, peaks, grouping */
    SK_STAGE_POST,
    /* raw outputs out; GPU: from the device */
    SK_STAGE_DOWNLOAD,
    /* the reference executor */
    SK_STAGE_CHECK,
    /* finished, not yet taken: earlier frames and the reader */
    SK_STAGE_WAIT_READER,
    /* from submit to the end of post-processing */
    SK_STAGE_TOTAL,

    /* --- Two models, after the first's post-processing --- */

    /* cutting them, where the host does */
    SK_STAGE_CROPS,
    /* waiting for the second network to be free */
    SK_STAGE_WAIT_SECOND,
    /* the second network, for all crops of the frame */
    SK_STAGE_SECOND,
    /* what comes after it */
    SK_STAGE_SECOND_POST,
    SK_STAGE_COUNT
} sk_stage;

/* "upload", "queue", "pre", … */
SK_API const char *sk_stage_name(sk_stage stage);

/* Milliseconds. Percentiles are exact to 3 %. */
typedef struct sk_stage_stats {
    /* sizeof(sk_stage_stats), by SK_STAGE_STATS_INIT */
    uint32_t size;
    int64_t count;
    double sum, min, max, p50, p90, p99;
} sk_stage_stats;

/* The only way to begin one that is to be filled. */
#define SK_STAGE_STATS_INIT SK_INIT_BY_SIZE(sk_stage_stats)

/* One device of `devices`. */
typedef struct sk_device_stats {
    /* sizeof(sk_device_stats), by SK_DEVICE_STATS_INIT */
    uint32_t size;
    /* "cpu:0-3" */
    char name[48];
    /* what the engine says of itself */
    char detail[160];
    int32_t threads;
    bool failed;
    /* why; "" */
    char problem[256];
    /* done */
    int64_t frames;
    /* traces made: 1, and one more for every change of shape */
    int64_t captures;
    /* of the last one; warm-up with opening the network */
    double warm_up_ms, optimised_ms, capture_ms;
} sk_device_stats;

/* The only way to begin one that is to be filled. */
#define SK_DEVICE_STATS_INIT SK_INIT_BY_SIZE(sk_device_stats)

/* What became of all frames. */
typedef struct sk_pipeline_stats {
    /* sizeof(sk_pipeline_stats), by SK_PIPELINE_STATS_INIT */
    uint32_t size;
    int64_t submitted, delivered;
    /* the others */
    int64_t dropped, expired, refused, cancelled, failed;
    /* frames a failed device handed over */
    int64_t moved;
    int64_t checks, checks_failed;
    /* of all checks; 1 before the first */
    double worst_pcc;
    /* staging, inputs, results, activations; weights are the model's */
    int64_t bytes;
    /* SLEAP on a GPU: frames with more peaks than its tables hold, whose maps came back */
    int64_t whole;
    /* reading the models and making the traces */
    double open_seconds;
    int32_t n_devices;
} sk_pipeline_stats;

/* The only way to begin one that is to be filled. */
#define SK_PIPELINE_STATS_INIT SK_INIT_BY_SIZE(sk_pipeline_stats)

/* Each fills as much as the struct's size reaches; false: no such stage or device. */
SK_API void sk_pipeline_get_stats(sk_pipeline *pipeline, sk_pipeline_stats *stats);
SK_API bool sk_pipeline_get_stage(sk_pipeline *pipeline, sk_stage stage, sk_stage_stats *stats);
SK_API bool sk_pipeline_get_device(sk_pipeline *pipeline, int32_t device, sk_device_stats *stats);
/* the stages' times and the counters; not the devices */
SK_API void sk_pipeline_reset_stats(sk_pipeline *pipeline);

/* A file that ran in a model's place: an artifact, or the model itself where it is in the engine's form. */
typedef struct sk_pipeline_file {
    /* sizeof(sk_pipeline_file), by SK_PIPELINE_FILE_INIT */
    uint32_t size;
    /* number of the model it stands for */
    int32_t model;
    /* "" where it lies in no file */
    char path[512];
    /* of its bytes */
    char sha256[65];
} sk_pipeline_file;
/* The only way to begin one that is to be filled. */
#define SK_PIPELINE_FILE_INIT SK_INIT_BY_SIZE(sk_pipeline_file)
/* The index-th of those that ran so far, each once; another size of frame may add one. False: there are not so many. */
SK_API bool sk_pipeline_get_file(sk_pipeline *pipeline, int32_t index, sk_pipeline_file *file);

/* Adds a step of the caller's own to the timeline, such as decoding; times in ns of CLOCK_MONOTONIC. One thread at a time.
 * `name` is borrowed until release. */
SK_API void sk_pipeline_mark(sk_pipeline *pipeline, const char *name, int64_t frame, int64_t begin_ns,
                             int64_t end_ns);
/* The last steps of every thread as Chrome trace events (JSON), for ui.perfetto.dev and chrome://tracing. */
SK_API sk_status sk_pipeline_write_timeline(sk_pipeline *pipeline, const char *path,
                                            sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
