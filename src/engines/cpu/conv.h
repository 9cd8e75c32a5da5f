/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CPU_CONV_H
#define SK_ENGINES_CPU_CONV_H

#include "engines/cpu/plan.h"

/* Which kernel runs a convolution. The numbers are kept in the tuning cache: append, never renumber. */
typedef enum cpu_conv_form {
    CPU_CONV_TAPS = 1,     /* any window */
    CPU_CONV_ROWS = 2,     /* three columns at once */
    CPU_CONV_WINOGRAD = 3, /* F(4x4, 3x3) */
    CPU_CONV_DEPTHWISE = 4,
    CPU_CONV_FIRST = 5, /* straight from the picture */
    CPU_CONV_BF16 = 6,  /* any window, products of bf16 pairs */
    CPU_CONV_WORDS = 7  /* Winograd on maps of bf16, products of words */
} cpu_conv_form;

typedef struct cpu_conv_choice {
    uint8_t form;
    uint8_t width;        /* output blocks a group */
    uint8_t tile;         /* pixels, or winograd tiles, in registers */
    uint8_t groups_outer; /* loop order */
    uint8_t split_groups; /* threads share groups instead of rows */
    uint8_t batch_tiles;  /* winograd: tiles a round */
} cpu_conv_choice;

/* Where weight (co, ci, ky, kx) stands in the graph's constant; strides in floats, may be negative. */
typedef struct cpu_weights {
    const float *data; /* null where they are in eight bits only */
    ptrdiff_t offset;  /* of data from the constant's beginning */
    ptrdiff_t co, ci, ky, kx;
    bool bf16;      /* rounded to that */
    int32_t groups; /* > 1: packed as one dense convolution with zeros between groups */
    int32_t cin, cout, kernel_h, kernel_w; /* of the whole convolution */
    const float *bias;                     /* cout floats or null */
} cpu_weights;

typedef struct cpu_conv {
    sk_value x, y, residual; /* residual: SK_VALUE_NONE without */
    int32_t residual_shift;
    cpu_weights weights;
    int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    int32_t pad_top, pad_left;              /* may be negative for phases of a transposed convolution */
    int32_t out_h, out_w;                   /* rows and columns this step makes */
    int32_t step_y, step_x, from_y, from_x; /* where they go in y: from + i * step */
    sk_act_f32 act;
    int32_t residual_first;
    cpu_conv_choice choice;
    bool tuned; /* measured, or not to be */
    /* bound */
    sk_conv_f32c16 p;
    sk_first_f32c16 first;
    int32_t n, groups;
    ptrdiff_t in_image, out_image, residual_image;
    float gain[64], shift[64]; /* first: per sample of an interleaved row, repeating after 48 */
    int32_t row_floats;        /* first: one converted row in scratch */
    uint8_t *out8; /* first: where its floats become bytes, of this scale and zero; null: they do not */
    float out_scale;
    int32_t out_zero;
    struct cpu_packed *packed;
    struct cpu_conv_u8 *u8; /* in eight bits (conv_u8.c): x, and mostly y, are low forms; null: f32 */
} cpu_conv;

/* conv_build.c */
bool cpu_conv_is_known(const cpu_plan *plan, const sk_node *node); /* can it be a step of ours? */
/* Adds the step for a filled cpu_conv; y's blocked form is there already. */
sk_status cpu_add_conv(cpu_plan *plan, const cpu_conv *filled, double flops, sk_error *err) SK_MUST_CHECK;

/* conv.c */
sk_status cpu_conv_bind(cpu_plan *plan, cpu_step *step, sk_error *err) SK_MUST_CHECK;
void cpu_conv_run(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts);
/* Sets the kernel's parameters from the choice; weights are filled in by cpu_conv_pack. */
void cpu_conv_apply(const cpu_plan *plan, cpu_conv *conv);
bool cpu_conv_can_winograd(const cpu_plan *plan, const cpu_conv *conv);
bool cpu_conv_can_rows(const cpu_plan *plan, const cpu_conv *conv);
size_t cpu_conv_scratch(const cpu_plan *plan, const cpu_conv *conv, const cpu_conv_choice *choice);
void cpu_conv_describe(const cpu_plan *plan, cpu_step *step);

/* conv_u8.c. Makes the convolution one in eight bits where x and the weights are, and everything after them can be. */
typedef struct cpu_conv_u8 cpu_conv_u8;
sk_status cpu_conv_to_u8(cpu_plan *plan, const sk_node *node, cpu_conv *conv, bool *done,
                         sk_error *err) SK_MUST_CHECK;
/* Would it, given bytes straight from the picture? */
bool cpu_conv_is_first_u8(const cpu_plan *plan, const sk_node *node);
bool cpu_conv_can_first_u8(const cpu_plan *plan, const cpu_conv *conv);
sk_status cpu_conv_bind_u8(cpu_plan *plan, cpu_conv *conv, sk_error *err) SK_MUST_CHECK;
void cpu_conv_apply_u8(cpu_conv *conv);
void cpu_conv_run_u8(const cpu_conv *conv, const cpu_frame *frame, int32_t part, int32_t parts);
size_t cpu_conv_scratch_u8(const cpu_plan *plan, const cpu_conv *conv, const cpu_conv_choice *choice);
bool cpu_conv_can_winograd_u8(const cpu_plan *plan, const cpu_conv *conv);
/* pack_u8.c */
size_t cpu_packed_bytes_u8(const cpu_conv *conv, const cpu_conv_choice *choice);
void cpu_conv_fill_u8(const cpu_conv *conv, void *weights, int32_t *sums);
void cpu_conv_set_weights_u8(const cpu_plan *plan, cpu_conv *conv, const void *weights, const int32_t *sums);
const void *cpu_conv_bytes_u8(const cpu_conv *conv, size_t *bytes); /* the constant itself, for its hash */

/* Makes x, y and the residual low forms, in bf16, where that is what this convolution is computed in. */
void cpu_conv_to_bf16(const cpu_plan *plan, const sk_node *node, cpu_conv *conv);
/* map_pool.c: a pooling that bf16 passes through */
bool cpu_is_halving(const cpu_plan *plan, const sk_node *node);
/* tune.c: is it, by its shape alone? */
bool cpu_conv_is_bf16(const cpu_plan *plan, const cpu_conv *conv);

/* A share of the work: of `units` groups of output channels, or of what all images have of rows or tiles, `each` an image. */
static inline void cpu_conv_share(const cpu_conv *conv, int64_t units, int32_t each, int32_t part,
                                  int32_t parts, int64_t *g0, int64_t *g1, int64_t *from, int64_t *to)
{
    *g0 = *from = 0;
    *g1 = units;
    *to = (int64_t)conv->n * each;
    if (conv->choice.split_groups)
        sk_pool_split(units, 1, part, parts, g0, g1);
    else
        sk_pool_split(*to, 1, part, parts, from, to);
}

/* first.c */
bool cpu_conv_can_first(const cpu_plan *plan, const cpu_conv *conv);
int32_t cpu_conv_first_row(const cpu_plan *plan, const cpu_conv *conv);
/* Makes its result bytes, row by row, where that is all that is done with it. */
void cpu_conv_first_to_u8(cpu_plan *plan, const sk_node *node, cpu_conv *conv);
void cpu_conv_bind_first(cpu_plan *plan, cpu_conv *conv);
void cpu_conv_run_first(const cpu_conv *conv, const cpu_frame *frame, int32_t part, int32_t parts);

/* few.c: few outputs, straight to a dense tensor */
bool cpu_conv_is_few(const cpu_plan *plan, const sk_node *node);
sk_status cpu_build_few(cpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;

/* Pairs of channels in all blocks of the input: one more in every block whose number is odd. */
ptrdiff_t cpu_conv_pairs(const cpu_conv *conv);

/* pack.c: weights in the form the chosen kernel reads, shared by every session with the same weights and form. */
typedef struct cpu_packed cpu_packed;
sk_status cpu_conv_pack(cpu_plan *plan, cpu_conv *conv, sk_error *err) SK_MUST_CHECK;
void cpu_packed_unref(cpu_packed **packed);
/* Floats the packed weights of a choice take; for the tuner, which times on zeros. */
size_t cpu_packed_floats(const cpu_conv *conv, const cpu_conv_choice *choice);
/* Packed sets alive in this process, for tests. */
int32_t cpu_packed_live(void);

/* tune.c */
cpu_conv_choice cpu_conv_default(const cpu_plan *plan, const cpu_conv *conv);
cpu_conv_choice cpu_conv_default_first_u8(const cpu_plan *plan, const cpu_conv *conv);
/* Before the arena is laid out: choices known from earlier, and scratch for those to be measured. */
sk_status cpu_tune_load(cpu_plan *plan, sk_error *err) SK_MUST_CHECK;
/* With all addresses bound: measures what is not known yet. */
sk_status cpu_tune(cpu_plan *plan, sk_error *err) SK_MUST_CHECK;

#endif
