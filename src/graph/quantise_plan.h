/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_QUANTISE_PLAN_H
#define SK_GRAPH_QUANTISE_PLAN_H

#include "graph/quantise.h"

/* Which convolutions of a network compute in eight bits, and which values are kept so for them; then the network with
 * QUANTIZE and DEQUANTIZE put in. Sizes of pictures are not looked at: values of a graph and of what is specialised from it
 * have the same numbers, so ranges measured on one hold for the other. */

/* A convolution that computes in eight bits. */
typedef struct sk_quantise_layer {
    int32_t node;   /* in the graph the plan was made for */
    sk_value input; /* what it reads */
    char name[64];
} sk_quantise_layer;

typedef struct sk_quantise_plan {
    int32_t n_layers;
    sk_quantise_layer *layers;
    /* Values kept in eight bits. Those of one group have one scale and zero, so that joining, splitting, pooling and resizing
     * them is moving bytes. */
    int32_t n_values;
    sk_value *values;
    int32_t *group_of; /* of each */
    bool *moved; /* of each: made from others of its group alone, so that it says nothing new of the range */
    int32_t n_groups;
    int32_t n_kept; /* convolutions that stay in f32 */
} sk_quantise_plan;

/* Channels of what a convolution, transposed or not, reads. */
int64_t sk_quantise_channels_read(const sk_graph *graph, const sk_node *conv);
/* A convolution of each channel by itself. */
bool sk_quantise_is_depthwise(const sk_graph *graph, const sk_node *conv);

/* A copy of the network as plans are made of it: batch norms in the convolutions, activations too. */
sk_status sk_quantise_prepare(const sk_graph *graph, sk_graph **out, sk_error *err) SK_MUST_CHECK;

/* `stays`: a byte for each node, 1 = this convolution stays in f32; null: none does of itself. What stays anyway: the first
 * layer, which reads pixels; the last ones, whose outputs are results; the decode tail; attention.
 * SK_ERR_UNSUPPORTED where nothing is left. */
sk_status sk_quantise_plan_open(const sk_graph *graph, const uint8_t *stays, sk_quantise_plan **out,
                                sk_error *err) SK_MUST_CHECK;
void sk_quantise_plan_close(sk_quantise_plan **plan);

/* Before ranges are fixed: channels of a value, and values that are joined, brought to reach alike, where the network stays the same
 * by it (convolutions and ReLU). `reach`: of each value the largest magnitude seen, 0 where unknown; brought up to date. `channels`: of
 * each value the same of its channels, null where unknown; null: of none. Values keep their numbers; where *changed, what they
 * hold is another. */
sk_status sk_quantise_equalise(sk_graph *graph, float *reach, const float *const *channels, bool *changed,
                               sk_error *err) SK_MUST_CHECK;

/* One scale and zero of u8 values; of f8 the zero is 0. */
typedef struct sk_quantise_scale {
    float scale;
    int32_t zero;
} sk_quantise_scale;

/* That reaches from low to high, both finite; 0 is always one of its numbers. Of nothing: 1 and 0. */
sk_quantise_scale sk_quantise_scale_of(double low, double high);
/* The same of f8, which reaches as far both ways. */
sk_quantise_scale sk_quantise_f8_scale_of(double low, double high);

typedef struct sk_quantise_numbers {
    const sk_quantise_scale *groups; /* one a group */
    /* One a layer: the mean of each input channel, by which the shift that rounded weights make is taken back in the bias; null
     * entries, or null: not done. */
    const float *const *means;
    double *weight_error; /* one a layer: rms of what rounding changed, of the weights' rms; may be null */
    /* The same numbers by operations in f32, for engines that have nothing else: values are rounded to what eight bits hold. */
    bool simulate;
    /* Values and weights in f8 instead of u8 and i8. Depthwise convolutions keep their weights: with so few products they cost nothing,
     * and nothing evens out what rounding does to them. */
    bool f8;
} sk_quantise_numbers;

/* The graph in eight bits; its inputs and outputs are those of `graph`. */
sk_status sk_quantise_rewrite(const sk_graph *graph, const sk_quantise_plan *plan,
                              const sk_quantise_numbers *numbers, sk_graph **out,
                              sk_error *err) SK_MUST_CHECK;

/* How far the output of a layer reached, behind its activation. */
typedef struct sk_quantise_reach {
    const char *name;
    float low, high;
} sk_quantise_reach;

/* A graph in our form of eight bits as ONNX Runtime and OpenVINO run it in eight bits: biases as i32, and what goes into
 * activations in eight bits, too. In place; the graph is not specialised any more after this, only written. */
sk_status sk_quantise_for_runtimes(sk_graph *graph, const sk_quantise_reach *reach, int32_t n_reach,
                                   sk_error *err) SK_MUST_CHECK;

#endif
