/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CPU_PLAN_H
#define SK_ENGINES_CPU_PLAN_H

#include "base/pool.h"
#include "engines/engine.h"
#include "graph/reference.h"
#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"

/* A graph turned into a flat list of calls with every address known.
 *
 * Values live in one of two forms, or both:
 *   blocked  f32c16 (kernels/kernels.h): what convolutions and everything around them read and write
 *   dense    row-major, any type and rank: graph inputs, outputs, and operations without a blocked kernel
 * and beside them, in low precision, a *low* form: blocked in fewer bits (u8c16, bf16c16). It is told by a number of its own,
 * cpu_low(plan, v), wherever a value's blocked form is meant.
 * A form that is needed and not there is made by a reorder step. Channel concatenation, splitting and slicing of
 * blocked values cost nothing: the parts are block ranges of one buffer.
 *
 * Buffers get fixed places in one arena, shared by whatever is not alive at the same time. Borders, zero at first, are
 * cleared again by the step that begins a buffer where somebody else used its place in between (arena.c). */

typedef struct cpu_plan cpu_plan;
typedef struct cpu_step cpu_step;

typedef struct cpu_buffer {
    bool blocked;
    bool keep;                   /* an output: nothing may reuse its place */
    int32_t n, blocks, h, w;     /* blocked: images, blocks of 16 channels, size without border */
    int32_t border[4];           /* top, left, bottom, right */
    int32_t size;                /* blocked: bytes of an element */
    uint8_t border_byte;         /* what the border is filled with */
    int32_t parent, delta;       /* part of another buffer from its block `delta` on; -1 = stands alone */
    size_t bytes;                /* dense */
    int32_t first, last;         /* steps that touch it, for reuse; buffers that stand alone only */
    size_t offset;               /* of the whole buffer, borders included, in the arena */
    ptrdiff_t image, plane, row; /* blocked: strides in elements */
} cpu_buffer;

typedef struct cpu_value {
    int32_t map;   /* buffer of the blocked form; -1 = none */
    int32_t block; /* its first block there */
    int32_t blocks;
    const uint8_t *fill;  /* channels in each block */
    int32_t dense;        /* buffer of the dense form; -1 = none */
    const void *constant; /* dense form of a constant: in the graph's blob */
    int32_t input;        /* graph input number whose tensor this is while running; -1 = none */
    bool packed;          /* weights of steps of ours: not needed any more once these are packed */
    float scale;          /* low forms in eight bits: a byte q means (q - zero) * scale */
    int32_t zero;
    /* Of a map that is never made (join_u8.c), the small one that is in it, upsampled, beside what `map` holds; SK_VALUE_NONE: there
     * is none. half_first: its channels are the first ones. */
    sk_value half;
    bool half_first;
} cpu_value;

/* A blocked value with its addresses resolved. */
typedef struct cpu_map {
    float *data;    /* first pixel inside the border of image 0, block 0 */
    uint8_t *bytes; /* the same, for low forms */
    int32_t size;   /* bytes of an element */
    ptrdiff_t image, plane, row;
    int32_t n, blocks, h, w;
    const uint8_t *fill;
} cpu_map;

/* What one submit brings, and this thread's scratch. */
typedef struct cpu_frame {
    const cpu_plan *plan;
    const sk_session_input *inputs;
    float *scratch;
} cpu_frame;

/* A buffer that begins in a step and whose border the step clears. */
typedef struct cpu_border {
    int32_t buffer;
    struct cpu_border *next;
} cpu_border;

struct cpu_step {
    /* Does one of `parts` shares of the work; shares may run in any order, on any thread. */
    void (*run)(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts);
    /* Fills in addresses once the arena is laid out. */
    sk_status (*bind)(cpu_plan *plan, cpu_step *step, sk_error *err);
    void *data; /* the step's own structure, in the plan's arena */
    int32_t n_buffers;
    int32_t *buffers; /* touched, for lifetimes */
    const char *name; /* the node's */
    char kernel[48], shape[48];
    double flops;
    int32_t parts;       /* shares the work is cut into */
    cpu_border *borders; /* to clear; null where none is */
};

/* A node that stands for the attention that was there. */
typedef struct cpu_attention {
    sk_value result; /* the node's first output */
    int32_t heads, kd, hd, areas;
    float factor; /* of the scores */
} cpu_attention;

/* What low forms are. */
typedef enum cpu_low_kind { CPU_LOW_NONE = 0, CPU_LOW_U8, CPU_LOW_BF16 } cpu_low_kind;

struct cpu_plan {
    sk_graph *graph; /* optimised, specialised; owned */
    sk_arena *arena; /* small structures */
    sk_kernels_f32 kernels;
    sk_kernels_u8 kernels_u8;
    cpu_low_kind low;
    sk_value n_values; /* the graph's */
    sk_session_settings settings;
    int32_t winograd, tune; /* options */
    bool bf16;              /* products may be of bf16; where they are not native, weights are rounded only */
    int32_t threads;
    cpu_value *
        values; /* one a graph value, one a value's low form, one a residual in another order (cpu_reordered) */
    int32_t *uses; /* how often each is read */
    cpu_buffer *buffers;
    size_t n_buffers, buffers_capacity;
    cpu_step *steps;
    size_t n_steps, steps_capacity;
    cpu_attention *attention;
    size_t n_attention, attention_capacity;
    struct cpu_tune_cache *tune_cache; /* while opening */
    struct cpu_progress *progress;     /* replay.c: how far each step is */
    uint8_t *memory;                   /* the arena of activations */
    size_t memory_bytes;
    size_t scratch_floats;                   /* a thread's */
    float *scratch;                          /* [thread][scratch_floats] */
    int32_t outputs[SK_SESSION_MAX_OUTPUTS]; /* dense buffers */
    struct cpu_packed **packed;              /* references on packed weights */
    size_t n_packed, packed_capacity;
    size_t weight_bytes;
    const char *node_name;             /* of the node being built, for messages */
    int32_t by_reference[SK_OP_COUNT]; /* nodes run by the reference executor, by operation */
    int32_t n_winograd;
    sk_status failure; /* of a node by the reference executor */
    sk_error failure_error;
};

/* plan.c: from a specialised graph to a plan that is ready to run. */
sk_status cpu_plan_open(const sk_graph *graph, const sk_session_settings *settings, sk_pool *pool,
                        cpu_plan *plan, sk_error *err) SK_MUST_CHECK;
void cpu_plan_close(cpu_plan *plan);
/* replay.c: runs the plan on the pool; step_end: where not null, the profile clock at each step's end. */
/* Of one thread the processor time, which other programs do not disturb; of several the wall clock. */
int64_t cpu_profile_clock(const cpu_plan *plan);
sk_status cpu_replay_open(cpu_plan *plan, sk_error *err) SK_MUST_CHECK;
sk_status cpu_plan_run(cpu_plan *plan, sk_pool *pool, const sk_session_input *inputs, int64_t *step_end,
                       sk_error *err) SK_MUST_CHECK;

/* rewrite.c: saves arithmetic in the plan's own graph. */
sk_status cpu_rewrite(cpu_plan *plan, sk_error *err) SK_MUST_CHECK;
/* Does this resize repeat every pixel twice both ways? */
bool cpu_is_doubling(const sk_graph *graph, const sk_node *node);
/* Is this value an upsampled map that only one convolution reads, as its residual? Then it is never made: the
 * convolution reads the small map at half coordinates. */
bool cpu_read_at_half(const cpu_plan *plan, sk_value v);
/* Is this a 1x1 convolution of every pixel alone, without groups and residual? */
bool cpu_is_pointwise(const sk_node *node);
/* join_u8.c: an upsampling, or the concatenation behind it, that one convolution in eight bits reads in parts: nothing is to be built. */
bool cpu_pass_join(cpu_plan *plan, const sk_node *node);

/* attention.c: puts one node in the place of each attention; what a node stands for, if it does. */
sk_status cpu_find_attention(cpu_plan *plan, sk_error *err) SK_MUST_CHECK;
const cpu_attention *cpu_attention_of(const cpu_plan *plan, const sk_node *node);
sk_status cpu_build_attention(cpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;

/* values.c: forms of values. */
sk_status cpu_new_map(cpu_plan *plan, int32_t n, int32_t blocks, int32_t h, int32_t w, int32_t *out,
                      sk_error *err) SK_MUST_CHECK;
sk_status cpu_new_dense(cpu_plan *plan, size_t bytes, int32_t *out, sk_error *err) SK_MUST_CHECK;
/* Gives v a blocked form of its own with the usual fill (16, 16, …, rest). */
sk_status cpu_make_blocked(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* The same filled as a's is; either may be a low form. */
sk_status cpu_make_like(cpu_plan *plan, sk_value v, sk_value a, sk_error *err) SK_MUST_CHECK;
sk_status cpu_make_dense(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* Adds a reorder step when the form is missing. */
sk_status cpu_need_blocked(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
sk_status cpu_need_dense(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
bool cpu_can_block(const cpu_plan *plan, sk_value v); /* f32, rank 4 */
bool cpu_same_fill(const cpu_value *a, const cpu_value *b);
bool cpu_usual_fill(const cpu_value *v); /* 16, 16, …, rest */
/* Asks for a zero border around a blocked value. */
void cpu_need_border(cpu_plan *plan, sk_value v, const int32_t border[4]);
/* A concatenation along channels: parts become ranges of the whole where possible; copied[i] marks those that must be
 * copied instead. */
void cpu_merge_parts(cpu_plan *plan, sk_value whole, const sk_value *parts, int32_t count, bool *copied);
cpu_map cpu_bound_map(const cpu_plan *plan, sk_value v);
void *cpu_bound_dense(const cpu_plan *plan, const cpu_frame *frame, sk_value v);

/* plan.c: adds an empty step with `data_bytes` of zeroed structure; the pointer holds until the next one is added. */
sk_status cpu_add_step(cpu_plan *plan, size_t data_bytes, cpu_step **out, sk_error *err) SK_MUST_CHECK;
/* Says which values the step touches in which form. */
sk_status cpu_step_uses(cpu_plan *plan, cpu_step *step, const sk_value *blocked, int32_t n_blocked,
                        const sk_value *dense, int32_t n_dense, sk_error *err) SK_MUST_CHECK;

/* One node each. *done = false: not a shape these know; nothing was added. */
sk_status cpu_build_conv(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_conv_transpose(cpu_plan *plan, const sk_node *node, bool *done,
                                   sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_map_op(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_dense_op(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_by_reference(cpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;

/* low.c: QUANTIZE and DEQUANTIZE. */
sk_status cpu_build_low(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
/* Gives v its f32 form from its low one. */
sk_status cpu_add_raise(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* Gives v its low form, in bf16, where it has none. */
sk_status cpu_need_low_bf16(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* Is v only read by a QUANTIZE that engines fold, and with which rule? */
bool cpu_quantised_next(const cpu_plan *plan, sk_value v, float *scale, int32_t *zero);
/* Do only DEQUANTIZE nodes with this QUANTIZE's own rule look at its bytes? Then they may be a low form. */
bool cpu_stays_bytes(const cpu_plan *plan, const sk_node *quantise);
/* Does this QUANTIZE or DEQUANTIZE leave bytes of that rule as they are? */
bool cpu_keeps_bytes(const cpu_plan *plan, const sk_node *node, float scale, int32_t zero);
/* Is v made by DEQUANTIZE of a constant? And that constant, in f32, for v. */
bool cpu_is_weights(const cpu_plan *plan, sk_value v);
sk_status cpu_fold_weights(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
/* Have all of a node's inputs low forms with one rule? */
bool cpu_all_low(const cpu_plan *plan, const sk_node *node);
/* plan.c: may every reader of this input take it from the caller's picture row by row? */
bool cpu_read_in_place(const cpu_plan *plan, sk_value input);
/* map_channels.c: concatenation, splitting and slicing along channels. */
sk_status cpu_build_concat(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err) SK_MUST_CHECK;
void cpu_build_split(cpu_plan *plan, const sk_node *node, bool *done);
void cpu_build_slice(cpu_plan *plan, const sk_node *node, bool *done);

/* reorder.c */
sk_status cpu_add_input(cpu_plan *plan, int32_t index, sk_error *err) SK_MUST_CHECK;
sk_status cpu_add_to_blocked(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;
sk_status cpu_add_from_blocked(cpu_plan *plan, sk_value v, sk_error *err) SK_MUST_CHECK;

/* arena.c: places for all buffers. */
sk_status cpu_place_buffers(cpu_plan *plan, sk_error *err) SK_MUST_CHECK;
/* One of `parts` shares of clearing the borders of the buffers that begin in this step. */
void cpu_clear_borders(const cpu_plan *plan, const cpu_step *step, int32_t part, int32_t parts);

static inline int32_t cpu_blocks(int64_t channels)
{
    return (int32_t)((channels + SK_BLOCK - 1) / SK_BLOCK);
}
static inline sk_value cpu_low(const cpu_plan *plan, sk_value v)
{
    return v + plan->n_values;
}
static inline bool cpu_is_low(const cpu_plan *plan, sk_value v)
{
    return v >= plan->n_values && v < 2 * plan->n_values;
}
/* The residual of the convolution that makes v, filled as v is; or the sums at half its size that are added to it. */
static inline sk_value cpu_reordered(const cpu_plan *plan, sk_value v)
{
    return v + 2 * plan->n_values;
}
static inline const sk_shape *cpu_shape(const cpu_plan *plan, sk_value v)
{
    return &plan->graph->values[v % plan->n_values].shape;
}

#endif
