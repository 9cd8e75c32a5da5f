/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_GRAPH_WORDS_H
#define SK_TESTS_GRAPH_WORDS_H

/* A graph in words: an operation a line, with every attribute it has and the numbers of its constants as one. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/text.h"
#include "graph/ops.h"

#include <stdio.h>
#include <string.h>

/* A value: x is what nobody in these lines made, the others have the numbers of their lines; constants have their names and, where
 * they are whole numbers, these. */
static inline void words_value(const sk_graph *g, sk_value v, const int *line, sk_text *out)
{
    if (v < 0) {
        sk_text_append(out, "-");
        return;
    }
    const sk_value_info *info = &g->values[v];
    if (!info->blob) {
        sk_text_appendf(out, line[v] ? "%%%d" : "x", line[v]);
        return;
    }
    const sk_tensor t = sk_value_tensor(g, v);
    char shape[SK_SHAPE_TEXT];
    if (t.dtype == SK_DTYPE_F32) {
        recorded_sum sum = {0};
        for (int64_t i = 0; i < sk_shape_count(&t.shape); i++)
            recorded_add(&sum, sk_tensor_at(&t, i));
        sk_text_appendf(out, "%s[%s] %.7g", info->name, sk_shape_text(&t.shape, shape, sizeof shape),
                        sum.sum);
        return;
    }
    sk_text_append(out, "[");
    for (int64_t i = 0; i < sk_shape_count(&t.shape); i++)
        sk_text_appendf(out, i ? " %lld" : "%lld", (long long)sk_tensor_int_at(&t, i));
    sk_text_append(out, "]");
}

static inline void words_window(const sk_window *w, sk_text *out)
{
    sk_text_appendf(out, " k%dx%d s%dx%d d%dx%d", w->kernel[0], w->kernel[1], w->stride[0], w->stride[1],
                    w->dilation[0], w->dilation[1]);
    if (w->same)
        sk_text_appendf(out, " same%d", w->same);
    else
        sk_text_appendf(out, " p%d,%d,%d,%d", w->pad[0], w->pad[1], w->pad[2], w->pad[3]);
}

static inline void words_list(const char *what, const int32_t *numbers, int count, sk_text *out)
{
    sk_text_appendf(out, " %s", what);
    for (int i = 0; i < count; i++)
        sk_text_appendf(out, "%s%d", i ? "," : " ", numbers[i]);
}

static inline void words_attributes(const sk_node *n, sk_text *out)
{
    const sk_attrs *a = &n->a;
    switch (n->op) {
    case SK_OP_CONV:
        words_window(&a->conv.window, out);
        sk_text_appendf(out, " g%d", a->conv.groups);
        break;
    case SK_OP_CONV_TRANSPOSE:
        words_window(&a->conv_transpose.window, out);
        sk_text_appendf(out, " g%d +%d,%d", a->conv_transpose.groups, a->conv_transpose.output_pad[0],
                        a->conv_transpose.output_pad[1]);
        break;
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
        words_window(&a->pool.window, out);
        sk_text_appendf(out, " ceil %d, pad counts %d", a->pool.ceil_mode, a->pool.count_include_pad);
        break;
    case SK_OP_RESIZE:
        sk_text_appendf(out, " mode %d, coordinates %d, round %d, by %g x %g, antialias %d", a->resize.mode,
                        a->resize.coords, a->resize.round, (double)a->resize.scale[0],
                        (double)a->resize.scale[1], a->resize.antialias);
        break;
    case SK_OP_UNARY:
        sk_text_appendf(out, " %s %g %g", sk_unary_name(a->unary.kind), (double)a->unary.alpha,
                        (double)a->unary.beta);
        break;
    case SK_OP_CLIP: sk_text_appendf(out, " %g to %g", a->clip.low, a->clip.high); break;
    case SK_OP_GEMM:
        sk_text_appendf(out, " %g %g turned %d %d", (double)a->gemm.alpha, (double)a->gemm.beta,
                        a->gemm.transpose_a, a->gemm.transpose_b);
        break;
    case SK_OP_REDUCE:
        sk_text_appendf(out, " kind %d, keep %d", a->reduce.kind, a->reduce.keep_dims);
        words_list("axes", a->reduce.axes, a->reduce.n_axes, out);
        break;
    case SK_OP_BINARY: sk_text_appendf(out, " %s", sk_binary_name(a->binary.kind)); break;
    case SK_OP_CONCAT:
    case SK_OP_GATHER_ELEMENTS:
    case SK_OP_SOFTMAX: sk_text_appendf(out, " axis %d", a->axis); break;
    case SK_OP_SPLIT:
        sk_text_appendf(out, " axis %d", a->split.axis);
        for (int i = 0; i < a->split.n_sizes; i++)
            sk_text_appendf(out, "%s%lld", i ? "," : " into ", (long long)a->split.sizes[i]);
        break;
    case SK_OP_ANCHORS:
        for (int i = 0; i < a->anchors.n_levels; i++)
            sk_text_appendf(out, "%s%g", i ? "," : " by ", (double)a->anchors.stride[i]);
        break;
    case SK_OP_TOP_K:
        sk_text_appendf(out, " axis %d, largest %d, sorted %d", a->top_k.axis, a->top_k.largest,
                        a->top_k.sorted);
        break;
    case SK_OP_CAST: sk_text_appendf(out, " to %d", a->cast.to); break;
    case SK_OP_PAD: sk_text_appendf(out, " mode %d", a->pad.mode); break;
    case SK_OP_TRANSPOSE: words_list("as", a->perm, 4, out); break;
    case SK_OP_LAYER_NORM:
        sk_text_appendf(out, " axis %d eps %g", a->norm.axis, (double)a->norm.epsilon);
        break;
    case SK_OP_BATCH_NORM: sk_text_appendf(out, " eps %g", (double)a->norm.epsilon); break;
    default: break;
    }
}

static inline void words_node(const sk_graph *g, const sk_node *n, int *line, int *next, sk_text *out)
{
    for (int i = 0; i < n->n_out; i++) {
        line[n->out[i]] = ++*next;
        sk_text_appendf(out, "%s%%%d", i ? ", " : "    ", *next);
    }
    sk_text_appendf(out, " = %s", sk_op_name(n->op));
    words_attributes(n, out);
    for (int i = 0; i < n->n_in; i++) {
        sk_text_append(out, i ? ", " : " (");
        words_value(g, n->in[i], line, out);
    }
    sk_text_append(out, ")\n");
}

/* Says what was gathered, a line at a time, and compares it. */
static inline void words_check(sk_text *all, const char *relative)
{
    for (char *line = all->data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        recorded_say("%s", line);
    }
    recorded_check(relative);
    sk_text_free(all);
}

#endif
