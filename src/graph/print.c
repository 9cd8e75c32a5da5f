/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ops.h"

#include <stdio.h>
#include <string.h>

/* A growing text; the first failure sticks. */
typedef struct text_buffer {
    char *text;
    size_t used, capacity;
    sk_status status;
    sk_error *err;
} text_buffer;

SK_PRINTF(2, 3) static void put(text_buffer *b, const char *format, ...)
{
    char piece[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    size_t n = length < 0 ? 0 : (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1;
    if (b->status != SK_OK)
        return;
    b->status =
        sk_array_reserve((void **)&b->text, &b->capacity, b->used + n + 1, 1, (size_t)1 << 30, b->err);
    if (b->status != SK_OK)
        return;
    memcpy(b->text + b->used, piece, n + 1);
    b->used += n;
}

static void put_value(text_buffer *b, const sk_graph *graph, sk_value v)
{
    char shape[SK_SHAPE_TEXT];
    if (v < 0) {
        put(b, "-");
        return;
    }
    const sk_value_info *info = &graph->values[v];
    put(b, "%%%d%s%.80s%s:%s[%s]", v, info->name[0] ? "'" : "", info->name, info->name[0] ? "'" : "",
        info->blob ? "const " : "", sk_shape_text(&info->shape, shape, sizeof shape));
}

static void put_window(text_buffer *b, const sk_window *w)
{
    put(b, " k%dx%d s%dx%d", w->kernel[0], w->kernel[1], w->stride[0], w->stride[1]);
    if (w->dilation[0] != 1 || w->dilation[1] != 1)
        put(b, " d%dx%d", w->dilation[0], w->dilation[1]);
    if (w->same)
        put(b, " same%d", w->same);
    else
        put(b, " p%d,%d,%d,%d", w->pad[0], w->pad[1], w->pad[2], w->pad[3]);
}

static void put_attributes(text_buffer *b, const sk_node *node)
{
    const sk_attrs *a = &node->a;
    switch (node->op) {
    case SK_OP_CONV:
        put_window(b, &a->conv.window);
        if (a->conv.groups != 1)
            put(b, " g%d", a->conv.groups);
        if (a->conv.act.kind)
            put(b, " +%s%s", sk_unary_name((sk_unary)a->conv.act.kind),
                a->conv.residual_before_act ? " (after the residual)" : "");
        break;
    case SK_OP_CONV_TRANSPOSE:
        put_window(b, &a->conv_transpose.window);
        if (a->conv_transpose.act.kind)
            put(b, " +%s", sk_unary_name((sk_unary)a->conv_transpose.act.kind));
        break;
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL: put_window(b, &a->pool.window); break;
    case SK_OP_UNARY: put(b, " %s", sk_unary_name(a->unary.kind)); break;
    case SK_OP_BINARY: put(b, " %s", sk_binary_name(a->binary.kind)); break;
    case SK_OP_CAST: put(b, " to %s", sk_dtype_name(a->cast.to)); break;
    case SK_OP_CONCAT:
    case SK_OP_SOFTMAX:
    case SK_OP_GATHER: put(b, " axis %d", a->axis); break;
    case SK_OP_SPLIT: put(b, " axis %d", a->split.axis); break;
    default: break;
    }
}

sk_status sk_graph_print(const sk_graph *graph, char **text, sk_error *err)
{
    SK_CHECK_ARG(graph && text, err);
    text_buffer b = {.err = err};
    *text = NULL;
    for (int i = 0; i < graph->n_inputs; i++) {
        put(&b, "input  ");
        put_value(&b, graph, graph->inputs[i]);
        put(&b, " %s\n", sk_dtype_name(graph->values[graph->inputs[i]].dtype));
    }
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        put(&b, "%5zu%s %s", n, node->flags & SK_NODE_TAIL ? "t" : " ", sk_op_name(node->op));
        put_attributes(&b, node);
        if (node->name[0])
            put(&b, " \"%.120s\"", node->name);
        for (int i = 0; i < node->n_in; i++) {
            put(&b, "%s", i ? ", " : " (");
            put_value(&b, graph, node->in[i]);
        }
        put(&b, ") -> ");
        for (int i = 0; i < node->n_out; i++) {
            put(&b, "%s", i ? ", " : "");
            put_value(&b, graph, node->out[i]);
        }
        put(&b, "\n");
    }
    for (int i = 0; i < graph->n_outputs; i++) {
        put(&b, "output ");
        put_value(&b, graph, graph->outputs[i]);
        put(&b, "\n");
    }
    put(&b, "%s", ""); /* an empty graph is an empty text, not null */
    if (b.status != SK_OK) {
        sk_free(b.text);
        return b.status;
    }
    *text = b.text;
    return SK_OK;
}
