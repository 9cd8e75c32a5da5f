/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CPU_CONV_U8_H
#define SK_ENGINES_CPU_CONV_U8_H

#include "engines/cpu/conv.h"

/* What a convolution in eight bits has beside cpu_conv; conv_u8.c and pack_u8.c. */

struct cpu_conv_u8 {
    sk_conv_u8c16 p;
    sk_act_i16 act;
    const int8_t *data;
    size_t data_bytes;
    const float *scales; /* of the weights, one or one an output channel */
    int64_t n_scales;
    double in_scale;
    bool floats;            /* the output is f32 */
    bool only_sums;         /* the output is the sums, for another convolution to add (join_u8.c) */
    sk_value half;          /* those at half the size that are added to its own; SK_VALUE_NONE: none */
    int32_t before, behind; /* channels in them: weights of each output before its own and behind */
    ptrdiff_t half_image;
    int8_t words; /* by Winograd: 1 it can be, -1 its sums may be too large, 0 not looked at yet */
    double out_scale;
    float *scale, *bias;  /* of each output channel, for the kernel */
    const uint8_t *holds; /* channels in each block of the input; p.fill: those that the kernel multiplies */
    uint8_t *whole;       /* 16 for each of them, where p.fill says so */
    uint8_t first_fill;   /* first: bytes of a window's row */
    bool as_is;           /* first: the picture's bytes are the quantised ones */
    uint8_t lookup[4][256];       /* first: what they become, by channel */
    int32_t row_bytes, row_count; /* first: converted rows in scratch */
};

/* Groups of four channels in all input blocks. */
int64_t cpu_fours_u8(const sk_conv_u8c16 *p);
int64_t cpu_pairs_u8(const sk_conv_u8c16 *p); /* and of two */

/* Will it be computed in bytes, if its input is there in bytes? */
bool cpu_conv_takes_bytes(const cpu_plan *plan, const sk_node *node);
/* join_u8.c: where x is a concatenation with an upsampled map that is never made, adds the step that computes the small map's
 * part; the convolution is left the other's. `flops`: of both, before. */
sk_status cpu_conv_split_join(cpu_plan *plan, cpu_conv *conv, double flops, sk_error *err) SK_MUST_CHECK;

/* pack_u8.c: bytes that sums stay below, whatever the map holds */
int64_t cpu_conv_reach_u8(const cpu_conv *conv);

#endif
