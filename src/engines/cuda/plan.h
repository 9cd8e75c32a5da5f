/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_PLAN_H
#define SK_ENGINES_CUDA_PLAN_H

#include "engines/cuda/device.h"
#include "engines/engine.h"
#include "tasks/peak_table.h"
#include "tasks/row_strips.h"

/* A graph turned into a flat list of launches. Planning needs no device: it decides forms and places of values
 * (args.h), which kernels run, what depends on what and where buffers lie; the session then binds addresses, chooses
 * tiles by timing and captures the launches. */

enum { GPU_NO_BUFFER = -1, GPU_WEIGHTS = -2 };

/* Part of a buffer. Channels matter for dependencies only: two ranges of one map do not touch each other. */
typedef struct gpu_ref {
    int32_t buffer;   /* index, GPU_WEIGHTS, or GPU_NO_BUFFER for a null pointer */
    size_t offset;    /* bytes */
    int32_t from, to; /* channels [from, to) of a map; 0, 0: all of the buffer */
} gpu_ref;

typedef struct gpu_buffer {
    size_t bytes;
    int32_t pitch;    /* channels a pixel; 0: dense */
    int32_t per_slot; /* an input or an output: one for each slot, outside of the shared arena */
    size_t offset;    /* in the arena, or in the slot's block */
} gpu_buffer;

typedef struct gpu_value {
    bool map;              /* made in map form */
    sk_value parent;       /* map form: part of this value's buffer … */
    int32_t delta;         /* … from this channel on; SK_VALUE_NONE: stands alone */
    int32_t buffer;        /* of the map form (roots); -1 until made */
    int32_t dense;         /* buffer of the dense form; -1 = none */
    int64_t constant;      /* dense form in the weights; -1 = none */
    int32_t pair;          /* node that makes it, together with the one that reads it (pairs.c); -1 = none */
    int32_t input;         /* graph input number; -1 = none */
    int32_t picture;       /* input as pictures for the first convolution; -1 = none */
    int32_t picture_bytes; /* of a pixel of them: 8 (fp16), 4 or 3 (bytes) */
    bool low;              /* the map is of bytes (bytes.c) … */
    bool low_made;         /* … and a step writes them */
    int32_t raised;        /* the same as a map of the session's type, by itself; -1 = none */
} gpu_value;

/* A number is (byte - zero) * scale, or, in fp8, the byte's number times scale (zero 0); scale 0: no rule. */
typedef struct gpu_rule {
    float scale;
    int32_t zero;
} gpu_rule;

/* Weights that are whole numbers from -128 to 127, in fp8 numbers of e4m3, times a scale, one or one for each output channel. */
typedef struct gpu_scales {
    sk_value weights;
    const float *scales;
    int64_t n;
} gpu_scales;

typedef struct gpu_step {
    gpu_kind kind;
    gpu_args args;
    int32_t n_refs, n_written; /* the first n_written of the references are written */
    gpu_ref refs[GPU_MAX_POINTERS];
    const sk_node *node; /* null for steps of our own; steps by the reference executor and packing need it */
    const sk_node *then; /* GPU_CONV: the 1x1 convolution that is computed with it, or null */
    const char *name;
    char kernel[64], shape[48];
    double flops;
    int32_t config;  /* GPU_CONV: chosen tile; -1 = not yet */
    int32_t variant; /* kernels with few variants */
    int32_t bytes;   /* GPU_CONV: 1 = of bytes */
    int32_t grid[3], shared_bytes;
    /* order: which steps must be finished; which stream of the capture; */
    int32_t n_after, *after;
    int32_t stream;
    int32_t chained;  /* 1: its only dependency is the step before it on its stream */
    int32_t recorded; /* 1: a step on another stream waits for it */
} gpu_step;

#define GPU_MAX_STREAMS 12

typedef struct gpu_attention {
    int32_t node; /* stands for the whole; index in the graph */
    sk_value qkv, out;
    int32_t heads, kd, hd, areas;
    float scale;
    int32_t k; /* of the convolution of v that is added; 0: none */
    sk_value weights, bias;
} gpu_attention;

/* A transposed convolution of stride 2 as a 3x3 convolution with four times the channels, shuffled afterwards. */
typedef struct gpu_upconv {
    int32_t node; /* index in the graph */
    sk_node conv;
    sk_value in[3], out;
} gpu_upconv;

/* Outputs of which only places that pass are downloaded. n_levels 0: none. */
typedef struct gpu_sparse {
    sk_sparse_outputs wish;
    int32_t n, places, first[SK_SPARSE_LEVELS]; /* images; places of an image; where each level's begin */
    int32_t row_words;
    int64_t image_words; /* 4 words of header, then the rows */
    int32_t buffer;
} gpu_sparse;

/* What a detector finds. n_levels 0: none. */
typedef struct gpu_found {
    sk_found_outputs wish;
    int32_t n, rows, words,
        buffer; /* images; found ones of an image; words of one; the table, one for each slot */
} gpu_found;

/* Outputs in which peaks are looked for; `n` 0: none. */
typedef struct gpu_peaks {
    sk_peak_wish wish;
    sk_peak_layout at;
    int32_t n;      /* images */
    int32_t buffer; /* of the tables */
} gpu_peaks;

/* What a plan may be denied, to measure what each gives: SKITTER_CUDA_WITHOUT, words in this order (switches.c). */
enum {
    GPU_WITHOUT_TENSOR = 1 << 0,    /* convolutions by the simple kernel */
    GPU_WITHOUT_HALO = 1 << 1,      /* 3x3: no input patch in shared memory */
    GPU_WITHOUT_WGMMA = 1 << 2,     /* only mma.sync */
    GPU_WITHOUT_SPLIT = 1 << 3,     /* sums not split over a cluster's blocks */
    GPU_WITHOUT_ATTENTION = 1 << 4, /* attention operation by operation */
    GPU_WITHOUT_GRAPH = 1 << 5,     /* launch by launch, not captured */
    GPU_WITHOUT_BRANCHES = 1 << 6,  /* one stream */
    GPU_WITHOUT_PDL = 1 << 7,       /* no early starts */
    GPU_WITHOUT_SITES = 1 << 8,     /* one submit at a time */
    GPU_WITHOUT_CROPS = 1 << 9,     /* a second model's crops are cut by the host */
    GPU_WITHOUT_UPSAMPLE = 1 << 10, /* what is doubled in size is written so */
    GPU_WITHOUT_PAIRS = 1 << 11,    /* a 1x1 convolution behind another is a step of its own */
    GPU_WITHOUT_LIMITS = 1 << 12,   /* pairs also where too few pixels make them slower: for checks */
    GPU_WITHOUT_PULL = 1 << 13      /* nothing is copied by kernels, nor launched before its input is there */
};
/* Null: nothing. A word that is none fails: whoever measures would measure what he did not mean. */
sk_status gpu_switched_off(const char *words, uint32_t *off, sk_error *err) SK_MUST_CHECK;

typedef struct gpu_plan {
    sk_graph *graph; /* optimised, owned */
    sk_arena *arena;
    sk_session_settings settings;
    int32_t tune; /* option */
    sk_frame_fit fit;
    sk_row_strips strips; /* of the frames: only these rows are brought up, and lie together */
    sk_crop_wish crops;   /* SK_INPUT_CROPS: the input is one frame … */
    int32_t crop_places;  /* … and this buffer says where crops of it lie */
    gpu_sparse sparse;
    gpu_found found;
    gpu_peaks peaks;
    int32_t type; /* GPU_F16, GPU_BF16 or GPU_F32; `low` while a step between maps of bytes is made */
    int32_t low;  /* of maps of bytes: GPU_U8 or, in fp8, GPU_F8 */
    int32_t tf32; /* GPU_F32 with convolutions on the tensor cores */
    int32_t device_major, device_minor, sms, shared_bytes;
    uint32_t without; /* GPU_WITHOUT_… */
    gpu_value *values;
    int32_t *uses;
    gpu_buffer *buffers;
    size_t n_buffers, buffers_capacity;
    gpu_step *steps;
    size_t n_steps, steps_capacity;
    uint8_t *weights; /* to be uploaded */
    size_t weight_bytes, weights_capacity;
    gpu_attention *attention;
    size_t n_attention, attention_capacity;
    gpu_upconv *upconv;
    size_t n_upconv, upconv_capacity;
    size_t memory_bytes, slot_bytes;
    int32_t n_streams;
    int32_t inputs[SK_SESSION_MAX_INPUTS];   /* buffers the host fills */
    int32_t outputs[SK_SESSION_MAX_OUTPUTS]; /* dense buffers; -1: sparse, or looked at for peaks */
    gpu_rule *rules;                         /* i8, fp8: of each value that is kept in bytes; null: none is */
    size_t n_rules;
    gpu_scales *scales;
    size_t n_scales, scales_capacity;
    int32_t n_by_reference, by_reference[SK_OP_COUNT];
    const char *node_name;
} gpu_plan;

/* plan.c. The plan is zeroed by the caller, with device_*, sms and shared_bytes filled in. */
sk_status gpu_plan_open(const sk_graph *graph, const sk_session_settings *settings, gpu_plan *plan,
                        sk_error *err) SK_MUST_CHECK;
void gpu_plan_close(gpu_plan *plan);
sk_status gpu_add_step(gpu_plan *plan, gpu_kind kind, const sk_node *node, gpu_step **out,
                       sk_error *err) SK_MUST_CHECK;
sk_status gpu_add_buffer(gpu_plan *plan, size_t bytes, int32_t pitch, int32_t *out,
                         sk_error *err) SK_MUST_CHECK;
/* Room in the weights; *data holds until the next call. */
sk_status gpu_add_weights(gpu_plan *plan, size_t bytes, void **data, gpu_ref *ref,
                          sk_error *err) SK_MUST_CHECK;

/* attention.c: finds the attention blocks of YOLO networks; their nodes become one. */
sk_status gpu_find_attention(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;
/* Is there a kernel for heads of these widths that adds a k x k convolution of v (0: none)? */
bool gpu_attention_adds(int32_t kd, int32_t hd, int32_t k);
const gpu_attention *gpu_attention_of(const gpu_plan *plan, size_t node);

/* upconv.c */
sk_status gpu_find_upconv(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_upconv(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;

/* upsample.c */
sk_status gpu_find_upsample(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;

/* pairs.c: after gpu_place_values. A node that is the second of a pair is built with the first; where *done stays false, the
 * first was built by itself. */
void gpu_find_pairs(gpu_plan *plan);
sk_status gpu_build_pair(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;

/* forms.c */
void gpu_clear_values(gpu_plan *plan);
void gpu_place_values(gpu_plan *plan);
bool gpu_is_map(const gpu_plan *plan, sk_value v);
sk_status gpu_make_map(gpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
sk_status gpu_make_dense(gpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* Adds a conversion where the form is missing. */
sk_status gpu_need_map(gpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
sk_status gpu_need_dense(gpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
gpu_ref gpu_map_ref(const gpu_plan *plan, sk_value v);
int32_t gpu_map_pitch(const gpu_plan *plan, sk_value v);
sk_status gpu_dense_ref(gpu_plan *plan, sk_value v, gpu_ref *out, sk_error *err) SK_MUST_CHECK;

/* The form a value is kept in: bytes where it is low, else as gpu_map_ref. */
gpu_ref gpu_kept_ref(const gpu_plan *plan, sk_value v);
int32_t gpu_kept_pitch(const gpu_plan *plan, sk_value v);
sk_status gpu_make_kept(gpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;

/* bytes.c: eight bits. gpu_take_quantised makes an ordinary graph of a quantised one and keeps what it said; gpu_mark_bytes settles
 * which values are kept in bytes. */
sk_status gpu_take_quantised(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;
sk_status gpu_mark_bytes(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;
gpu_rule gpu_rule_of(const gpu_plan *plan, sk_value v);
const gpu_scales *gpu_scales_of(const gpu_plan *plan, sk_value weights);
/* `to` are some columns of `from`. */
sk_status gpu_copy_scales(gpu_plan *plan, sk_value from, sk_value to, sk_error *err) SK_MUST_CHECK;
bool gpu_moves_bytes(const gpu_plan *plan, const sk_node *node); /* from bytes to bytes by one rule */
/* The end of a convolution; `before`: the residual is added before the activation. */
gpu_bytes gpu_bytes_to(const gpu_plan *plan, sk_value out, sk_value residual, int32_t act, bool before);
/* A map of the session's type from one of bytes; bytes of what a builder made of the session's type. */
sk_status gpu_add_raise(gpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* Bytes of v, which is channels of `from` from `at` on. */
sk_status gpu_add_lower(gpu_plan *plan, sk_value from, int32_t at, sk_value v, sk_error *err) SK_MUST_CHECK;
sk_status gpu_lower_outputs(gpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;

/* conv_bytes.c */
bool gpu_conv_is_bytes(const gpu_plan *plan, const sk_node *node);
bool gpu_conv_reads_bytes(const gpu_plan *plan, const sk_node *node); /* its input is kept in bytes, too */
sk_status gpu_build_conv_bytes(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
/* With a 1x1 convolution of halves behind it; as gpu_build_conv_then. */
sk_status gpu_build_bytes_then(gpu_plan *plan, const sk_node *node, const sk_node *then, bool *done,
                               sk_error *err) SK_MUST_CHECK;

/* conv.c: a convolution's bias in f32; weights of a depthwise one, [taps][channels] in the maps' type. */
sk_status gpu_add_bias(gpu_plan *plan, sk_value v, int64_t channels, gpu_ref *ref,
                       sk_error *err) SK_MUST_CHECK;
sk_status gpu_add_depthwise_weights(gpu_plan *plan, sk_value v, gpu_ref *ref, sk_error *err) SK_MUST_CHECK;

/* What can be computed with a 1x1 convolution behind it; and that one. */
bool gpu_conv_is_tiled(const gpu_plan *plan, const sk_node *node);
bool gpu_conv_goes_behind(const gpu_plan *plan, const sk_node *node);
/* The two as one step; *done = false: no tile does that, nothing was added. */
sk_status gpu_build_conv_then(gpu_plan *plan, const sk_node *node, const sk_node *then, bool *done,
                              sk_error *err) SK_MUST_CHECK;

/* One node each; *done = false: not theirs, nothing was added. */
sk_status gpu_build_conv(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_deconv(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_map_op(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_attention(gpu_plan *plan, const gpu_attention *attention, sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_dense_op(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_by_reference(gpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;
bool gpu_resize_is_known(const gpu_plan *plan, const sk_node *node);
bool gpu_resize_doubles(const gpu_plan *plan, const sk_node *node); /* every pixel becomes four */
bool gpu_conv_is_pointwise(const gpu_plan *plan, const sk_node *node);
/* A 1x1 convolution of a map whose result is dense. */
sk_status gpu_build_planes(gpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;
/* Is this node the first of three chained max pools? outs: their results. */
bool gpu_pool_chain(const gpu_plan *plan, const sk_node *node, sk_value outs[3]);

/* stages.c */
size_t gpu_frame_bytes(const gpu_plan *plan); /* of one frame on the device */
/* gpu_letterbox_args.mode of a picture of this size. */
int32_t gpu_box_mode(int32_t width, int32_t height, int32_t resized_width, int32_t resized_height);
size_t gpu_crop_frame_bytes(const gpu_plan *plan);
/* Where n crops lie, each a gpu_box_crop or gpu_cut_crop; then their tables; then the boxes painted over in them. */
size_t gpu_crop_list_bytes(const gpu_plan *plan, int64_t n);
size_t gpu_crop_table_bytes(const gpu_plan *plan); /* of one crop */
size_t gpu_crop_boxes_at(const gpu_plan *plan, int64_t n);
int32_t gpu_crop_most_boxes(const gpu_plan *plan); /* of all crops together */
sk_status gpu_add_box_crops(gpu_plan *plan, int32_t index, int32_t to, int32_t pitch, int32_t type,
                            sk_error *err) SK_MUST_CHECK;
sk_status gpu_add_letterbox(gpu_plan *plan, int32_t index, int32_t to, int32_t pitch, int32_t type,
                            sk_error *err) SK_MUST_CHECK;
sk_status gpu_build_sparse(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;
bool gpu_is_sparse(const gpu_plan *plan, int32_t output);

/* found.c */
sk_status gpu_build_found(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;

/* heads.c: outputs as planes */
bool gpu_is_fine_head(const gpu_plan *plan, const sk_node *node);
bool gpu_is_plane_head(const gpu_plan *plan, const sk_node *node);
sk_status gpu_build_head(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;

/* sleap_input.c: steps from frames to what other inputs are, bytes [n][h][w][c] or planes; *buffer holds it. */
sk_status gpu_add_sleap_input(gpu_plan *plan, int32_t index, int32_t *buffer, bool *planes,
                              sk_error *err) SK_MUST_CHECK;

/* The same for crops of one frame, where plan->crop_places says. */
sk_status gpu_add_sleap_crops(gpu_plan *plan, int32_t index, int32_t *buffer, bool *planes,
                              sk_error *err) SK_MUST_CHECK;

/* peaks.c */
sk_status gpu_build_peaks(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;
bool gpu_is_looked_at(const gpu_plan *plan, int32_t output);

/* tiles.c: which fast kernels a convolution can use, and how it is launched with one. */
bool gpu_config_fits(const gpu_plan *plan, const gpu_step *step, const gpu_config *config);
/* Fills the arguments that depend on the tile, grid and shared memory. */
void gpu_config_apply(const gpu_plan *plan, gpu_step *step, int32_t config, int32_t occupancy);
int32_t gpu_config_shared(const gpu_step *step, const gpu_config *config);
/* A fair choice without timing; -1 when none fits. */
int32_t gpu_config_guess(const gpu_plan *plan, const gpu_step *step);
/* Weights in the order the tile reads; bytes of it. */
size_t gpu_packed_bytes(const gpu_step *step, const gpu_config *config);
void gpu_pack(const gpu_plan *plan, const gpu_step *step, const gpu_config *config, void *out);

/* memory.c: dependencies, places, streams. */
sk_status gpu_order_steps(gpu_plan *plan, sk_error *err) SK_MUST_CHECK;

static inline const sk_shape *gpu_shape(const gpu_plan *plan, sk_value v)
{
    return &plan->graph->values[v].shape;
}
/* Of the session: the graph's, or the one of what is found. */
static inline int32_t gpu_output_count(const gpu_plan *plan)
{
    return plan->found.wish.n_levels > 0 ? 1 : plan->graph->n_outputs;
}
static inline int32_t gpu_round8(int64_t c)
{
    return (int32_t)((c + 7) / 8 * 8);
}
static inline int32_t gpu_round16(int64_t c)
{
    return (int32_t)((c + 15) / 16 * 16);
}
/* fp8 on the tensor cores: compute capability 8.9 and newer. */
static inline bool gpu_has_f8(int32_t major, int32_t minor)
{
    return major > 8 || (major == 8 && minor >= 9);
}
/* Maps of bytes. */
static inline bool gpu_is_low(int32_t type)
{
    return type == GPU_U8 || type == GPU_F8;
}
/* Maps of two bytes a number. */
static inline bool gpu_is_narrow(int32_t type)
{
    return type == GPU_F16 || type == GPU_BF16;
}
static inline bool gpu_by_tiles(const gpu_plan *plan)
{
    return !(plan->without & GPU_WITHOUT_TENSOR);
}
/* gpu_config.floats of the tiles that compute what this plan is to. */
static inline int32_t gpu_products(const gpu_plan *plan, const gpu_step *step)
{
    return step->bytes              ? plan->low == GPU_F8 ? GPU_E4M3 : GPU_BYTES
           : plan->type == GPU_F16  ? 0
           : plan->type == GPU_BF16 ? GPU_BRAIN
           : plan->tf32             ? GPU_TF32
                                    : GPU_EXACT;
}
/* Of an element that a tile reads. */
static inline int32_t gpu_config_size(const gpu_config *config)
{
    return config->floats == GPU_BYTES || config->floats == GPU_E4M3   ? 1
           : config->floats == GPU_TF32 || config->floats == GPU_EXACT ? 4
                                                                       : 2;
}
static inline size_t gpu_type_bytes(const gpu_plan *plan)
{
    return gpu_is_low(plan->type) ? 1 : gpu_is_narrow(plan->type) ? 2 : 4;
}

#endif
