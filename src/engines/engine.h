/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ENGINE_H
#define SK_ENGINES_ENGINE_H

#include "engines/capabilities.h"
#include "engines/options.h"
#include "engines/stages.h"
#include "graph/graph.h"
#include "skitter/frame.h"

/* What runs a graph. Every compute runtime is one table of functions (sk_engine); what it runs on is a session: one
 * graph at fixed input shapes, opened once, replayed for every frame.
 *
 * Life: probe (is it here?) -> supports (can it run this graph?) -> open -> capture -> submit, wait, submit, wait, … ->
 * close. Callers use the sk_session_* functions below, which check what can be checked once for all engines; the table's
 * own functions may then trust their arguments.
 *
 * Engines are stateless and may be used from any thread. A session belongs to one thread at a time; several sessions
 * may run at once. After open returns, submit and wait allocate nothing. */

typedef struct sk_engine sk_engine;
typedef struct sk_session sk_session;

/* How inputs are handed over. */
typedef enum sk_input_form {
    SK_INPUT_TENSOR = 1, /* a dense tensor of the graph input's type and shape, NCHW */
    SK_INPUT_U8_HWC = 2, /* a batch of 8-bit pictures [N][H][W][C]; value = (u8 * scale - mean[c]) / std[c] */
    /* a batch of frames as they come; the engine fits them in (stages.fit), then as U8_HWC. Engines that offer
     * SK_OFFERS_FRAMES only */
    SK_INPUT_FRAMES = 3,
    /* a batch of crops of one frame that lies on the device; the engine cuts them (stages.crops), then as U8_HWC. Engines that
     * offer SK_OFFERS_CROPS only */
    SK_INPUT_CROPS = 4
} sk_input_form;

#define SK_SESSION_MAX_INPUTS  8
#define SK_SESSION_MAX_OUTPUTS 32
#define SK_SESSION_MAX_SLOTS   8

/* The model in a form that a runtime reads itself, to be run in place of the graph, whose ends it has: the same
 * inputs and outputs in the same order, under names of its own. */
typedef struct sk_session_artifact {
    const void *bytes;
    size_t length;
    const char *path;   /* for people; "" where it lies in no file */
    const char *sha256; /* of the bytes, for people too; may be null */
    const char *input_names[SK_SESSION_MAX_INPUTS];
    const char *output_names[SK_SESSION_MAX_OUTPUTS];
} sk_session_artifact;

/* What becomes of the decode tail that exports carry. */
typedef enum sk_tail {
    SK_TAIL_KEEP = 0,
    SK_TAIL_CUT = 1, /* the raw heads are wanted */
    SK_TAIL_FREE = 2 /* either will do; an engine that runs an artifact keeps the tail, all others cut it */
} sk_tail;

/* From sk_session_defaults(); pointers are borrowed until open returns. */
typedef struct sk_session_settings {
    uint32_t size; /* sizeof, for growth */
    int32_t
        threads; /* CPU engines: 1 …; 0 = all cores this process may use. GPUs: who copy frames into pinned memory */
    const int32_t *cores; /* thread i is bound to cores[i % core_count]; null = left to the system */
    int32_t core_count;
    int32_t device;         /* GPU engines: index; default 0 */
    sk_precision precision; /* default auto; an open session says which it took */
    sk_tail
        tail; /* cut: outputs are the raw heads (sk_graph_cut_tail); a graph without a tail is run whole */
    int32_t slots;         /* how many submits may be in flight, 1 (default) … SK_SESSION_MAX_SLOTS */
    sk_input_form input;   /* default SK_INPUT_TENSOR; holds for every 4-D input */
    float scale;           /* SK_INPUT_U8_HWC: default 1/255 */
    float mean[4], std[4]; /* per channel; default 0 and 1 */
    const char *cache_dir; /* artifacts and timings; null = the user's cache folder, "" = keep nothing */
    const char *model_key; /* names the model in artifacts (content hash); null = hash the graph */
    const sk_session_artifact
        *artifact;            /* engines with a form: run this; null: make what is needed in memory */
    sk_session_stages stages; /* none by default */
    /* 1: outputs keep the digits of their sums where an engine holds maps in fewer and it costs little. SLEAP's: neighbours in
     * a confidence map that are rounded to the same value are no peak. Default 0. */
    int32_t fine_outputs;
    char options[SK_OPTIONS_TEXT]; /* the engine's own, checked against its table: engines/options.h */
} sk_session_settings;

sk_session_settings sk_session_defaults(void);

/* One input of one submit; the data is borrowed until the matching wait returns. */
typedef struct sk_session_input {
    const void *data;
    /* SK_INPUT_U8_HWC only: bytes from row to row and picture to picture; 0 = dense. */
    ptrdiff_t row_bytes, picture_bytes;
    /* SK_INPUT_FRAMES, engines with SK_READS_DEVICE: one frame for each picture of the batch, all on the session's device
     * (sk_frame.place and device) and of the form of stages.fit; `data` is not looked at. null: `data`. */
    const sk_frame *const *frames;
    /* SK_INPUT_CROPS: where they lie in frames[0], no more than the batch; the last places of a batch that is not full compute
     * on anything. */
    const sk_crop_list *crops;
} sk_session_input;

/* What an engine found on this machine. */
#define SK_ENGINE_MAX_DEVICES 16
typedef struct sk_engine_device {
    char name[96];       /* "AMD EPYC 9V74, 2 cores, avx512" */
    uint64_t memory;     /* bytes; 0 = not known */
    uint32_t precisions; /* bit 1 << sk_precision */
} sk_engine_device;

typedef struct sk_engine_probe {
    int32_t available; /* 0: `detail` says what is missing and how to get it */
    char version[64];
    char detail[512];
    int32_t n_devices;
    sk_engine_device devices[SK_ENGINE_MAX_DEVICES];
} sk_engine_probe;

/* What a session is, for people and for callers; owned by the session, constant while it is open. */
typedef struct sk_session_info {
    const sk_engine *engine;
    sk_input_form input;
    int32_t n_inputs;
    sk_tensor inputs[SK_SESSION_MAX_INPUTS]; /* type and shape; data null */
    const char *input_names[SK_SESSION_MAX_INPUTS];
    int32_t n_outputs;
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS]; /* data: address in slot 0 */
    const char *output_names[SK_SESSION_MAX_OUTPUTS];
    sk_outputs_form outputs_form;
    int32_t slots;
    int32_t threads;
    size_t activation_bytes, weight_bytes;
    double flops; /* of one submit */
    /* Operations the engine had no kernel for, which others run: the reference executor ("top_k x2, gather x1"), or another
     * provider of ONNX Runtime, in words; "" = none. */
    char elsewhere[256];
    char detail[256]; /* "avx512, 118 steps, 31 winograd" */
    /* 1: submit returns before the work is done, and the slots' uploads, runs and downloads overlap (GPU engines). */
    int32_t asynchronous;
    char artifact[512];       /* the file that runs; "" = none: the graph itself, or a form made in memory */
    char artifact_sha256[65]; /* of what runs, where it is not the graph itself; "" = not known */
} sk_session_info;

/* What a device did for one submit, in seconds of its own clock; 0 where it has no such step. */
typedef struct sk_session_times {
    double upload, network, download;
} sk_session_times;

/* Time spent in one step, from sk_session_profile. */
typedef struct sk_profile_row {
    char name[64];   /* the node's name in the model */
    char kernel[64]; /* what runs it: "conv3x3 winograd4 64x20 avx512" */
    char shape[48];  /* "64->64 3x3 s1 80x80" */
    double flops;
    double min_us, mean_us;
} sk_profile_row;

/* A form in which a runtime wants models, and keeps them on disk: beside the model, found again next time. */
typedef struct sk_engine_form {
    const char *name;             /* "onnx", "tensorrt" */
    const char *extension;        /* model.pt -> model.onnx */
    const char *folder_extension; /* sleap_dir -> sleap_dir.onnx/ … */
    const char *file;             /* … with this file in it */
    /* Makes the form from the model as ONNX; *out is ended by sk_free. `batch` is the largest where the model leaves it
     * open. `metadata` is what the form's file tells other programs about the model, as JSON. Null: ONNX is the form.
     * `progress` may be null. */
    sk_status (*build)(const void *onnx, size_t length, int32_t batch, const char *metadata,
                       const sk_session_settings *settings, void (*progress)(void *context, double part),
                       void *context, uint8_t **out, size_t *out_length, sk_error *err);
    /* What a built file is bound to: the device's architecture ("sm_90"). Null: to nothing, and to no version of the
     * library either. */
    sk_status (*architecture)(const sk_session_settings *settings, char *text, size_t capacity,
                              sk_error *err);
} sk_engine_form;

struct sk_engine {
    const char *name;  /* "cpu", "onnx_cpu", "reference", … */
    const char *title; /* for people */
    sk_capabilities can;
    const sk_engine_option *options; /* ended by a null key; null: it has none */
    /* Fills *out; an absent runtime is not an error but available = 0. */
    sk_status (*probe)(sk_engine_probe *out, sk_error *err);
    /* SK_OK, or SK_ERR_UNSUPPORTED naming the operation and the remedy. `graph` is specialised. */
    sk_status (*supports)(const sk_graph *graph, const sk_session_settings *settings, sk_error *err);
    /* Opens a session on a specialised graph (borrowed until open returns) whose tail is already cut where asked.
     * The engine allocates its own structure that begins with sk_session and fills session->info except what
     * sk_session_open fills (engine, inputs, names, outputs_form, slots, flops). */
    sk_status (*open)(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                      sk_error *err);
    /* `slot` counts 0, 1, … slots-1, 0, …. A synchronous engine does the work here. */
    sk_status (*submit)(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err);
    /* Blocks until the slot's outputs are complete and writes their addresses: the same ones every time. A table of peaks
     * comes last. */
    sk_status (*wait)(sk_session *session, int32_t slot, void **outputs, sk_error *err);
    void (*close)(sk_session *session);
    /* Time per step over the submits since profiling was switched on. Null: not offered. */
    sk_status (*profile_start)(sk_session *session, sk_error *err);
    sk_status (*profile)(sk_session *session, sk_profile_row *rows, int32_t capacity, int32_t *count,
                         sk_error *err);
    /* Host memory that uploads read directly, for frames; null: any will do. */
    void *(*host_alloc)(size_t bytes);
    void (*host_free)(void *block);
    /* Freezes what submit does. Called at most once, with nothing in flight, after some runs or none; from then on a submit
     * is a replay. SK_REPLAY_CAPTURED has it, others are null. */
    sk_status (*capture)(sk_session *session, sk_error *err);
    /* After wait: how the slot's last submit spent its time. Null: not measured. */
    sk_status (*times)(sk_session *session, int32_t slot, sk_session_times *out, sk_error *err);
    /* The form of model files this engine reads; null: it runs graphs as they are. */
    const sk_engine_form *form;
    /* A frame that a submit of a SK_INPUT_FRAMES session brought up, where it lies on the device. Null: not offered. */
    sk_status (*resident)(sk_session *session, int32_t slot, int32_t image, sk_frame *out, sk_error *err);
};

/* The common beginning of every engine's session. */
struct sk_session {
    const sk_engine *engine;
    sk_session_info info;
    sk_session_settings settings; /* its pointers are null */
    int32_t submitted, waited;    /* slots are used in turn: submitted % slots */
    int32_t last_slot;            /* of the last wait */
    char names[2048];             /* input and output names */
};

/* All engines built into this program, in the order of choice for `auto`. */
int32_t sk_engine_count(void);
const sk_engine *sk_engine_at(int32_t index);
const sk_engine *sk_engine_find(const char *name); /* null when unknown */
/* What the engine of this name can; of an unknown one: nothing. */
const sk_capabilities *sk_engine_can(const char *name);

/* Opens `graph` (as imported or already specialised) for these input shapes. The graph is borrowed until this returns;
 * the session keeps what it needs. */
sk_status sk_session_open(const sk_engine *engine, const sk_graph *graph, const sk_shape *shapes,
                          int32_t n_inputs, const sk_session_settings *settings, sk_session **out,
                          sk_error *err) SK_MUST_CHECK;
void sk_session_close(sk_session **session); /* nulls the pointer; waits for what is in flight */
const sk_session_info *sk_session_about(const sk_session *session);

/* Hands in one batch. SK_ERR_BUSY when `slots` submits are already in flight. */
sk_status sk_session_submit(sk_session *session, const sk_session_input *inputs, int32_t n_inputs,
                            sk_error *err) SK_MUST_CHECK;
/* The oldest submit's results: one tensor an output, f32 NCHW unless the graph says otherwise. The data stays valid
 * and untouched until its slot is used again. `outputs` may be null. */
sk_status sk_session_wait(sk_session *session, sk_tensor *outputs, int32_t n_outputs,
                          sk_error *err) SK_MUST_CHECK;
/* submit + wait. */
sk_status sk_session_run(sk_session *session, const sk_session_input *inputs, int32_t n_inputs,
                         sk_tensor *outputs, int32_t n_outputs, sk_error *err) SK_MUST_CHECK;

/* After this every submit is a replay. Call it once, when nothing is in flight; whoever submits more than a few times should.
 * SK_OK where the engine replays from the start (sk_capabilities.replay). */
sk_status sk_session_capture(sk_session *session, sk_error *err) SK_MUST_CHECK;
/* Of the last wait's submit; all zero where the engine does not measure. */
sk_status sk_session_get_times(sk_session *session, sk_session_times *out, sk_error *err) SK_MUST_CHECK;

/* Picture `image` of the last wait's submit as it lies on the device: for sessions of SK_INPUT_FRAMES whose fit asks for whole
 * frames. It stays until its slot is used again. Three channels are called RGB, whichever order they came in. */
sk_status sk_session_resident(sk_session *session, int32_t image, sk_frame *out, sk_error *err) SK_MUST_CHECK;

/* Profiling: start, run some submits, read. Rows in the order of execution; SK_ERR_UNSUPPORTED where not offered. */
sk_status sk_session_profile_start(sk_session *session, sk_error *err) SK_MUST_CHECK;
sk_status sk_session_profile(sk_session *session, sk_profile_row *rows, int32_t capacity, int32_t *count,
                             sk_error *err) SK_MUST_CHECK;

/* For engines: value = (u8 * scale - mean) / std from a picture batch into a dense NCHW tensor. */
void sk_input_unpack_u8(const sk_session_input *input, const sk_session_settings *settings,
                        const sk_shape *shape, float *nchw);
/* Rows [first, end) of it, those of all pictures counted through. */
void sk_input_unpack_u8_rows(const sk_session_input *input, const sk_session_settings *settings,
                             const sk_shape *shape, int64_t first, int64_t end, float *nchw);

/* The engine that an ONNX Runtime execution provider ("CUDA", "TensorrtExecutionProvider") belongs to. */
sk_status sk_engine_of_provider(const char *provider, const char **engine, sk_error *err) SK_MUST_CHECK;

/* The built-in engines. */
extern const sk_engine sk_engine_cpu;
extern const sk_engine sk_engine_cuda;     /* a plugin: engines/plugin.h */
extern const sk_engine sk_engine_rocm;     /* likewise */
extern const sk_engine sk_engine_tensorrt; /* likewise */
extern const sk_engine sk_engine_onnx_cpu;
extern const sk_engine sk_engine_onnx_cuda;
extern const sk_engine sk_engine_onnx_rocm;
extern const sk_engine sk_engine_openvino;
extern const sk_engine sk_engine_reference;

#endif
