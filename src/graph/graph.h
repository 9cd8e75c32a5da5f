/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_GRAPH_H
#define SK_GRAPH_GRAPH_H

#include "graph/op_kinds.h"
#include "graph/tensor.h"

/* The one form every model takes: values (tensors) and nodes (operations), nodes in an order in which every
 * input is made before it is used.
 *
 * A graph as imported knows no sizes beyond its weights: it serves any batch and image size.
 * sk_graph_specialise() fixes the input shapes and returns a new graph in which every shape is known,
 * everything computable from shapes and weights has become a constant, and dead nodes are gone. Engines, the
 * reference executor and the exporter see specialised graphs. Constants are shared between the two by
 * reference count.
 *
 * Activations are NCHW; convolution weights are [out][in/groups][kh][kw], transposed-convolution weights
 * [in][out/groups][kh][kw] as in ONNX and torch. Importers convert.
 *
 * Not thread-safe while being built; a finished graph may be read from any thread. */

typedef int32_t sk_value; /* index of a value in its graph */
#define SK_VALUE_NONE ((sk_value)-1)

typedef enum sk_op {
    SK_OP_NONE = 0,
    /* convolutions: x, w [, bias [, residual]] */
    SK_OP_CONV,
    SK_OP_CONV_TRANSPOSE,
    SK_OP_MAX_POOL,
    SK_OP_AVG_POOL,
    SK_OP_RESIZE,
    SK_OP_GRID_SAMPLE, /* x, grid; a.grid_sample */
    /* linear algebra */
    SK_OP_MATMUL, /* a, b; numpy rules */
    SK_OP_GEMM,   /* a, b [, c]; a.gemm */
    SK_OP_EINSUM, /* a, b; a.einsum */
    /* normalisation */
    SK_OP_BATCH_NORM, /* x, scale, shift, mean, variance; a.norm.epsilon */
    SK_OP_LAYER_NORM, /* x [, scale [, shift]]; a.norm */
    SK_OP_INSTANCE_NORM,
    SK_OP_SOFTMAX, /* a.axis */
    SK_OP_LOG_SOFTMAX,
    /* element by element, one input */
    SK_OP_UNARY, /* a.unary.kind */
    SK_OP_CLIP,  /* x; a.clip */
    SK_OP_CAST,  /* a.cast.to */
    /* element by element with numpy broadcasting, two inputs */
    SK_OP_BINARY, /* a.binary.kind */
    SK_OP_WHERE,  /* condition, a, b */
    /* reductions and order */
    SK_OP_REDUCE,  /* a.reduce */
    SK_OP_ARG_MAX, /* a.arg; index i64 */
    SK_OP_ARG_MIN,
    SK_OP_TOP_K,               /* x, k (i64); outputs values, indices; a.top_k */
    SK_OP_CUM_SUM,             /* x, axis (i64) */
    SK_OP_NON_ZERO,            /* i64 [rank][n]; n depends on data */
    SK_OP_NON_MAX_SUPPRESSION, /* boxes, scores, max, iou, score; i64 [n][3] */
    /* data movement */
    SK_OP_CONCAT,           /* a.axis */
    SK_OP_SPLIT,            /* a.split; n outputs */
    SK_OP_SLICE,            /* x, starts, ends [, axes [, steps]] (i64 values, mostly constants) */
    SK_OP_RESHAPE,          /* x, dims (i64; 0 copies, -1 infers) */
    SK_OP_TRANSPOSE,        /* a.perm */
    SK_OP_SQUEEZE,          /* x, axes (i64) */
    SK_OP_UNSQUEEZE,        /* x, axes (i64) */
    SK_OP_FLATTEN,          /* a.axis */
    SK_OP_EXPAND,           /* x, dims (i64) */
    SK_OP_TILE,             /* x, repeats (i64) */
    SK_OP_PAD,              /* x, pads (i64) [, value]; a.pad */
    SK_OP_GATHER,           /* x, indices; a.axis */
    SK_OP_GATHER_ELEMENTS,  /* a.axis */
    SK_OP_GATHER_ND,        /* a.axis = batch dims */
    SK_OP_SCATTER_ELEMENTS, /* x, indices, updates; a.axis */
    SK_OP_SCATTER_ND,
    SK_OP_DEPTH_TO_SPACE, /* a.blocks */
    SK_OP_SPACE_TO_DEPTH,
    /* made from shapes */
    SK_OP_SHAPE,             /* i64 [rank] */
    SK_OP_SIZE,              /* i64 scalar */
    SK_OP_RANGE,             /* start, limit, delta */
    SK_OP_CONSTANT_OF_SHAPE, /* dims (i64); a.fill */
    SK_OP_ONE_HOT,           /* indices, depth, [off, on]; a.axis */
    SK_OP_EYE_LIKE,
    SK_OP_IDENTITY,
    /* our own: YOLO anchor points. inputs: the level's feature maps; outputs: centres f32 [1][2][A] (x
     * then y, grid units, +0.5), strides f32 [1][1][A]. a.anchors. Always constant after specialisation. */
    SK_OP_ANCHORS,
    /* eight bits: graph/quantise.h. Scale and zero are constants, one for all or one for each along an axis */
    SK_OP_QUANTIZE,   /* x, scale (f32), zero (u8, i8 or f8, which is the output's type); a.quantise */
    SK_OP_DEQUANTIZE, /* x (u8, i8, i32, f8), scale (f32) [, zero (x's type)]; f32; a.quantise */
    SK_OP_COUNT
} sk_op;

typedef enum sk_resize_mode { SK_RESIZE_NEAREST = 1, SK_RESIZE_LINEAR, SK_RESIZE_CUBIC } sk_resize_mode;
typedef enum sk_resize_coords {
    SK_COORDS_HALF_PIXEL = 1, /* (x + 0.5) / scale - 0.5 */
    SK_COORDS_ASYMMETRIC,     /* x / scale */
    SK_COORDS_ALIGN_CORNERS,
    SK_COORDS_PYTORCH_HALF_PIXEL /* half pixel, but 0 where the output has one element */
} sk_resize_coords;
typedef enum sk_resize_round {
    SK_ROUND_FLOOR = 1,
    SK_ROUND_PREFER_FLOOR, /* half down */
    SK_ROUND_PREFER_CEIL,  /* half up */
    SK_ROUND_CEIL
} sk_resize_round;

/* How a window slides. pad = top, left, bottom, right. */
typedef struct sk_window {
    int32_t kernel[2]; /* convolutions: 0 takes the weights' size, filled in by specialisation */
    int32_t stride[2];
    int32_t dilation[2];
    int32_t pad[4];
    /* 0: use pad. Otherwise pads follow the input size: Keras/ONNX SAME with the odd pixel at the end (1)
     * or at the beginning (2). Specialisation turns it into explicit pads. */
    int32_t same;
} sk_window;

/* act 0 = none, else sk_unary. */
typedef struct sk_fused_act {
    int32_t kind;
    float alpha, beta;
} sk_fused_act;

typedef union sk_attrs {
    struct {
        sk_window window;
        int32_t groups;
        sk_fused_act act;            /* set by the fuse pass: y = act(conv + bias) (+ residual) */
        int32_t residual_before_act; /* 1: y = act(conv + bias + residual) */
    } conv;
    struct {
        sk_window window;
        int32_t output_pad[2];
        /* 1: the output is cropped to input * stride (Keras SAME): of what the kernel reaches beyond the
         * stride, half, rounded down, is cropped at the start (nothing for kernel 3 and stride 2), the
         * rest at the end; pad and output_pad are filled in by specialisation. */
        int32_t same_output;
        int32_t groups;
        sk_fused_act act;
    } conv_transpose;
    struct {
        sk_window window;
        int32_t ceil_mode;
        int32_t count_include_pad; /* average only */
    } pool;
    struct {
        sk_resize_mode mode;
        sk_resize_coords coords;
        sk_resize_round round;
        float cubic_a;
        int32_t antialias;
        /* Sizes come from input 1 (i64 sizes) when present, else from these factors for H and W. */
        float scale[2];
        /* Linear and cubic taps beyond the edge: 0 read the edge pixel, 1 are left out and the rest
         * reweighted (torch's and PIL's antialiasing; ONNX exclude_outside). */
        int32_t exclude_outside;
    } resize;
    struct {
        int32_t mode;    /* 0 bilinear, 1 nearest */
        int32_t padding; /* 0 zeros, 1 border */
        int32_t align_corners;
    } grid_sample;
    struct {
        float alpha, beta;
        int32_t transpose_a, transpose_b;
    } gemm;
    struct {
        char equation[32];
    } einsum;
    struct {
        int32_t axis; /* layer norm: first normalised axis */
        float epsilon;
    } norm;
    struct {
        sk_unary kind;
        float alpha, beta;
    } unary;
    struct {
        double low, high; /* -inf / inf where absent */
    } clip;
    struct {
        sk_dtype to;
    } cast;
    struct {
        sk_binary kind;
    } binary;
    struct {
        sk_reduction kind;
        int32_t n_axes; /* 0: all axes */
        int32_t axes[SK_MAX_RANK];
        int32_t keep_dims;
    } reduce;
    struct {
        int32_t axis;
        int32_t keep_dims;
        int32_t select_last;
    } arg;
    struct {
        int32_t axis;
        int32_t largest;
        int32_t sorted;
    } top_k;
    struct {
        int32_t axis;
        int32_t n_sizes; /* 0: equal parts over the node's outputs */
        int64_t sizes[16];
    } split;
    struct {
        int32_t mode; /* 0 constant, 1 edge, 2 reflect */
    } pad;
    struct {
        int32_t block;
        int32_t crd; /* 1: column-row-depth order */
    } blocks;
    struct {
        sk_dtype dtype; /* EYE_LIKE: SK_DTYPE_NONE takes the input's */
        double value;   /* EYE_LIKE: which diagonal */
    } fill;
    struct {
        int32_t n_levels;
        float stride[8];
    } anchors;
    struct {
        int32_t exclusive, reverse;
    } cum_sum;
    struct {
        int32_t center_point_box;
    } nms;
    struct {
        int32_t axis; /* of the scales, where there is more than one */
    } quantise;
    int32_t axis;
    int32_t perm[SK_MAX_RANK];
} sk_attrs;

/* The node belongs to the decode tail: what turns raw head maps into Ultralytics' output0. Engines may cut
 * it off and leave the decoding to tasks/, which then looks only at what passes the threshold. */
#define SK_NODE_TAIL 1u
/* Set by specialisation on a DEQUANTIZE that only makes the weights of convolutions: they stay in eight bits. */
#define SK_NODE_WEIGHTS 2u

typedef struct sk_node {
    sk_op op;
    uint32_t flags;
    int32_t n_in, n_out;
    sk_value *in; /* SK_VALUE_NONE: optional input left out */
    sk_value *out;
    const char *name; /* may be "" */
    sk_attrs a;
} sk_node;

typedef struct sk_value_info {
    const char *name; /* may be "" */
    sk_dtype dtype;
    sk_shape shape;
    sk_blob *blob;    /* constants only: their bytes … */
    size_t offset;    /* … begin here in the blob */
    int32_t producer; /* node index; -1 for inputs and constants */
} sk_value_info;

typedef struct sk_graph {
    sk_arena *arena; /* names, node input and output lists */
    sk_value_info *values;
    size_t n_values, values_capacity;
    sk_node *nodes;
    size_t n_nodes, nodes_capacity;
    sk_value inputs[8];
    int32_t n_inputs;
    sk_value outputs[32];
    int32_t n_outputs;
    int32_t specialised; /* 1: every shape is known */
    size_t folded_bytes; /* made by constant folding so far; limited, against graphs that multiply … */
    double folded_work;  /* … or take days */
} sk_graph;

#define SK_GRAPH_MAX_VALUES (1u << 20)
#define SK_GRAPH_MAX_NODES  (1u << 19)

sk_status sk_graph_open(sk_graph **out, sk_error *err) SK_MUST_CHECK;
void sk_graph_close(sk_graph **graph);

/* Low-level construction; importers use graph/builder.h. Names are copied. */
sk_status sk_graph_add_value(sk_graph *graph, const char *name, sk_dtype dtype, const sk_shape *shape,
                             sk_value *out, sk_error *err) SK_MUST_CHECK;
/* Takes its own reference on the blob; where elements lie unaligned in it, copies them. */
sk_status sk_graph_add_constant(sk_graph *graph, const char *name, sk_dtype dtype, const sk_shape *shape,
                                sk_blob *blob, size_t offset, sk_value *out, sk_error *err) SK_MUST_CHECK;
/* Adds a node with n_out fresh outputs (dtype and shape unknown until inference), written to outs. */
sk_status sk_graph_add_node(sk_graph *graph, sk_op op, const sk_attrs *attrs, const sk_value *in,
                            int32_t n_in, int32_t n_out, const char *name, sk_value *outs,
                            sk_error *err) SK_MUST_CHECK;

static inline bool sk_value_is_constant(const sk_graph *graph, sk_value v)
{
    return v >= 0 && graph->values[v].blob != NULL;
}
/* A view on a constant's bytes; data is null when v is not constant. */
sk_tensor sk_value_tensor(const sk_graph *graph, sk_value v);

const char *sk_op_name(sk_op op); /* "conv", … */
const char *sk_unary_name(sk_unary kind);
const char *sk_binary_name(sk_binary kind);

/* Checks order, indices, arities, attribute ranges, constants inside their blobs, no value made twice. */
sk_status sk_graph_verify(const sk_graph *graph, sk_error *err) SK_MUST_CHECK;

/* Deep copy of structure, constants shared. */
sk_status sk_graph_clone(const sk_graph *graph, sk_graph **out, sk_error *err) SK_MUST_CHECK;

/* The graph for these input shapes (one per graph input; every dimension > 0): shapes and types known
 * everywhere, shape arithmetic folded, SAME pads explicit, dead nodes removed. Fails with the node's name
 * when shapes do not fit. Data-dependent shapes (NON_ZERO, NON_MAX_SUPPRESSION) stay unknown and are
 * resolved while running. */
sk_status sk_graph_specialise(const sk_graph *graph, const sk_shape *input_shapes, int32_t n_inputs,
                              sk_graph **out, sk_error *err) SK_MUST_CHECK;

/* Passes work in place; each keeps the graph's meaning and its inputs and outputs (order, count). */
sk_status sk_graph_fold_batch_norm(sk_graph *graph,
                                   sk_error *err) SK_MUST_CHECK; /* into conv weights, in f32 */
sk_status sk_graph_fold_constants(sk_graph *graph,
                                  sk_error *err) SK_MUST_CHECK; /* by the reference executor */
sk_status sk_graph_fuse_silu(sk_graph *graph,
                             sk_error *err) SK_MUST_CHECK; /* x*sigmoid(x) -> silu; gelu likewise */
sk_status sk_graph_fuse_activation(sk_graph *graph,
                                   sk_error *err) SK_MUST_CHECK; /* into the conv before it */
sk_status sk_graph_fuse_residual(sk_graph *graph,
                                 sk_error *err) SK_MUST_CHECK; /* add into the conv before it */
sk_status sk_graph_remove_dead(sk_graph *graph, sk_error *err) SK_MUST_CHECK;
/* All of the above in the right order: what engines call on their own copy. */
sk_status sk_graph_optimise(sk_graph *graph, sk_error *err) SK_MUST_CHECK;

/* Cuts the decode tail: the graph's outputs become the values that cross from the network into the tail,
 * in order of first use by the tail. SK_ERR_NOT_FOUND when there is no tail. */
sk_status sk_graph_cut_tail(sk_graph *graph, sk_error *err) SK_MUST_CHECK;

/* What the outputs of a network that was run are. */
typedef enum sk_outputs_form {
    SK_OUTPUTS_WHOLE = 0, /* the graph's own: through its decode tail, where it has one */
    SK_OUTPUTS_HEADS = 1, /* the tail was cut: the raw heads */
    SK_OUTPUTS_FOUND = 2  /* the engine decoded and suppressed the heads: one output, what is found */
} sk_outputs_form;

/* Counts for people: weights' elements; multiply-adds * 2 of conv, transposed conv, matmul, gemm
 * (specialised). */
int64_t sk_graph_parameters(const sk_graph *graph);
double sk_graph_flops(const sk_graph *graph);
/* The most bytes of activations alive at once when a specialised graph runs node by node, each value freed behind its last
 * reader; an estimate for bounds, not a plan. 0 when memory is out. */
double sk_graph_peak_bytes(const sk_graph *graph);
double sk_node_flops(const sk_graph *graph, const sk_node *node);

/* One line a node, into a string the caller ends with sk_free. */
sk_status sk_graph_print(const sk_graph *graph, char **text, sk_error *err) SK_MUST_CHECK;

#endif
