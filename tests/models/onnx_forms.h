/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ONNX_FORMS_H
#define SK_TESTS_ONNX_FORMS_H

/* Nodes of ONNX written down as a line of text, and the graph that is made of them as text with every attribute:
 *
 *     a = Clip(x, f32{=0}) ; y = Conv(a, f32{2x2x3x3}) pads=[1,1,1,1] auto_pad='NOTSET' epsilon=0.5 domain='mine'
 *
 * x is the only input (1x2x2x3 numbers; of any size where the line begins with "?"), y the output. A weight is written where it is used:
 * type{1 2 3} a list, type{=5} a single number, type{2x3} some numbers of that shape. */
#include "onnx_bench.h"

#include "base/text.h"
#include "graph/ops.h"

typedef struct form {
    bench t;
    char text[600];
    int32_t n_nodes, n_tensors;
    sk_onnx_node nodes[12];
    const char *names[12][80];
    sk_onnx_attr attrs[12][8];
    int64_t ints[12][8][20];
    float floats[12][8][20];
    sk_onnx_tensor tensors[8]; /* of attributes */
} form;

static inline void form_tensor(form *f, const char *word, sk_onnx_tensor *to)
{
    static const sk_dtype types[] = {SK_DTYPE_F32, SK_DTYPE_F16,  SK_DTYPE_I64, SK_DTYPE_I32, SK_DTYPE_U8,
                                     SK_DTYPE_I8,  SK_DTYPE_BOOL, SK_DTYPE_F64, SK_DTYPE_F8,  SK_DTYPE_BF16};
    double numbers[8200];
    sk_error err;
    sk_shape shape = {.rank = 1};
    const char *body = strchr(word, '{') + 1;
    int64_t count = 0;
    *to = (sk_onnx_tensor){.name = word};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(word, sk_dtype_name(types[i]), (size_t)(body - 1 - word)) == 0)
            to->dtype = types[i];
    char *end = (char *)(uintptr_t)(*body == '=' ? body + 1 : body);
    if (strchr(body, 'x')) {
        shape.rank = 0;
        for (; *end != '}'; end += *end == 'x')
            shape.dim[shape.rank++] = strtol(end, &end, 10);
        count = sk_shape_count(&shape);
        assert_true(count <= 8200);
        for (int64_t i = 0; i < count; i++)
            numbers[i] = (double)(i % 9 + 1) / 4;
    } else {
        for (; *end != '}'; end += *end == ' ')
            numbers[count++] = strtod(end, &end);
        shape.dim[0] = count;
        shape.rank = *body == '=' ? 0 : 1;
    }
    to->shape = shape;
    assert_ok(sk_blob_alloc((size_t)count * sk_dtype_bytes(to->dtype), &to->blob, &err), &err);
    sk_convert(SK_DTYPE_F64, numbers, to->dtype, sk_blob_data(to->blob), (size_t)count);
    assert_ok(sk_onnx_keep_blob(f->t.model, to->blob, &err), &err);
}

/* A weight of that name, unless it is there already. */
static inline void form_weight(form *f, const char *word)
{
    sk_onnx_graph *g = &f->t.model->graph;
    for (int32_t i = 0; i < g->n_initializers; i++)
        if (strcmp(g->initializers[i].name, word) == 0)
            return;
    assert_true(g->n_initializers < 16);
    form_tensor(f, word, &f->t.tensors[g->n_initializers]);
    g->n_initializers++;
}

static inline char *form_trim(char *word)
{
    word += strspn(word, " ");
    for (size_t n = strlen(word); n && word[n - 1] == ' '; n--)
        word[n - 1] = '\0';
    return word;
}

/* a, b, c; an empty word is a name left out */
static inline int32_t form_names(form *f, char *list, const char **to)
{
    int32_t n = 0;
    if (!*form_trim(list))
        return 0;
    for (char *word = list, *next; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = '\0';
        to[n++] = form_trim(word);
        if (strchr(to[n - 1], '{'))
            form_weight(f, to[n - 1]);
    }
    return n;
}

static inline void form_attr(form *f, int32_t node, int32_t at, char *name, char *value)
{
    sk_onnx_attr *a = &f->attrs[node][at];
    *a = (sk_onnx_attr){.name = name, .ref = "", .s = ""};
    const bool real = strchr(value, '.') != NULL;
    if (*value == '\'') {
        a->type = SK_ONNX_STRING;
        a->s = value + 1;
        *strchr(value + 1, '\'') = '\0';
    } else if (*value == '[') {
        a->type = real ? SK_ONNX_FLOATS : SK_ONNX_INTS;
        a->ints = f->ints[node][at];
        a->floats = f->floats[node][at];
        for (char *end = value + 1; *end != ']'; end += *end == ',') {
            assert_true(a->count < 20);
            f->floats[node][at][a->count] = strtof(end, NULL);
            f->ints[node][at][a->count++] = strtoll(end, real ? NULL : &end, 10);
            if (real)
                end += strcspn(end, ",]");
        }
    } else if (strchr(value, '{')) {
        a->type = SK_ONNX_TENSOR;
        a->tensor = &f->tensors[f->n_tensors];
        form_tensor(f, value, &f->tensors[f->n_tensors++]);
    } else {
        a->type = real ? SK_ONNX_FLOAT : SK_ONNX_INT;
        a->f = strtof(value, NULL);
        a->i = strtoll(value, NULL, 10);
    }
}

static inline void form_node(form *f, char *text)
{
    const int32_t k = f->n_nodes++;
    char *equals = strchr(text, '='), *open = strchr(equals, '('), *close = strchr(open, ')');
    sk_onnx_node *n = &f->nodes[k];
    *equals = *open = *close = '\0';
    *n = (sk_onnx_node){.op = form_trim(equals + 1), .domain = "", .name = "", .attrs = f->attrs[k]};
    n->out = f->names[k];
    n->n_out = form_names(f, text, f->names[k]);
    n->in = f->names[k] + n->n_out;
    n->n_in = form_names(f, open + 1, f->names[k] + n->n_out);
    for (char *word = close + 1, *next; *(word += strspn(word, " ")); word = next) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        next = *value == '\'' ? strchr(value + 1, '\'') + 1 : value + strcspn(value, " ");
        if (*value != '\'' && strchr(value, '{') && strchr(value, '{') < next)
            next = strchr(value, '}') + 1;
        if (*next)
            *next++ = '\0';
        form_attr(f, k, n->n_attrs, word, value);
        if (strcmp(word, "domain") == 0)
            n->domain = f->attrs[k][n->n_attrs].s;
        else
            n->n_attrs++;
    }
}

static inline void form_open(form *f, const char *line, int64_t opset)
{
    const bool any = *line == '?';
    memset(f, 0, sizeof *f);
    bench_open(&f->t, opset, f->nodes, 0);
    assert_true(strlen(line) < sizeof f->text);
    snprintf(f->text, sizeof f->text, "%s", line + any);
    for (char *part = f->text, *next; part; part = next) {
        next = strchr(part, ';');
        if (next)
            *next++ = '\0';
        form_node(f, part);
    }
    f->t.model->graph.n_nodes = f->n_nodes;
    for (int i = 0; any && i < 4; i++)
        f->t.input.shape.dim[i] = i == 1 ? 2 : -1;
}

/* --- the graph as text --- */

static inline void tell_window(const sk_window *w, sk_text *out)
{
    sk_text_appendf(out, " k%dx%d s%dx%d d%dx%d p%d,%d,%d,%d same%d", w->kernel[0], w->kernel[1],
                    w->stride[0], w->stride[1], w->dilation[0], w->dilation[1], w->pad[0], w->pad[1],
                    w->pad[2], w->pad[3], w->same);
}

static inline void tell_list(const int32_t *list, int n, sk_text *out)
{
    for (int i = 0; i < n; i++)
        sk_text_appendf(out, "%s%d", i ? "," : " ", list[i]);
}

static inline void tell_attributes(const sk_node *n, sk_text *out)
{
    const sk_attrs *a = &n->a;
    switch (n->op) {
    case SK_OP_CONV:
        tell_window(&a->conv.window, out);
        sk_text_appendf(out, " g%d", a->conv.groups);
        break;
    case SK_OP_CONV_TRANSPOSE:
        tell_window(&a->conv_transpose.window, out);
        sk_text_appendf(out, " g%d +%d,%d", a->conv_transpose.groups, a->conv_transpose.output_pad[0],
                        a->conv_transpose.output_pad[1]);
        break;
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
        tell_window(&a->pool.window, out);
        sk_text_appendf(out, " ceil %d, pad counts %d", a->pool.ceil_mode, a->pool.count_include_pad);
        break;
    case SK_OP_RESIZE:
        sk_text_appendf(out, " mode %d coords %d round %d a %g smooth %d by %g,%g inside %d", a->resize.mode,
                        a->resize.coords, a->resize.round, (double)a->resize.cubic_a, a->resize.antialias,
                        (double)a->resize.scale[0], (double)a->resize.scale[1], a->resize.exclude_outside);
        break;
    case SK_OP_GRID_SAMPLE: tell_list(&a->grid_sample.mode, 3, out); break;
    case SK_OP_GEMM:
        sk_text_appendf(out, " %g %g %d %d", (double)a->gemm.alpha, (double)a->gemm.beta, a->gemm.transpose_a,
                        a->gemm.transpose_b);
        break;
    case SK_OP_EINSUM: sk_text_appendf(out, " %s", a->einsum.equation); break;
    case SK_OP_BATCH_NORM:
    case SK_OP_INSTANCE_NORM:
    case SK_OP_LAYER_NORM:
        sk_text_appendf(out, " axis %d eps %g", a->norm.axis, (double)a->norm.epsilon);
        break;
    case SK_OP_UNARY:
        sk_text_appendf(out, " %s %g %g", sk_unary_name(a->unary.kind), (double)a->unary.alpha,
                        (double)a->unary.beta);
        break;
    case SK_OP_BINARY: sk_text_appendf(out, " %s", sk_binary_name(a->binary.kind)); break;
    case SK_OP_CLIP: sk_text_appendf(out, " %g %g", a->clip.low, a->clip.high); break;
    case SK_OP_CAST: sk_text_appendf(out, " %s", sk_dtype_name(a->cast.to)); break;
    case SK_OP_REDUCE:
        sk_text_appendf(out, " %d keep %d axes", a->reduce.kind, a->reduce.keep_dims);
        tell_list(a->reduce.axes, a->reduce.n_axes, out);
        break;
    case SK_OP_ARG_MAX:
    case SK_OP_ARG_MIN:
    case SK_OP_TOP_K: tell_list(&a->arg.axis, 3, out); break;
    case SK_OP_SPLIT:
        sk_text_appendf(out, " axis %d sizes", a->split.axis);
        for (int i = 0; i < a->split.n_sizes; i++)
            sk_text_appendf(out, " %lld", (long long)a->split.sizes[i]);
        break;
    case SK_OP_TRANSPOSE: tell_list(a->perm, SK_MAX_RANK, out); break;
    case SK_OP_CUM_SUM:
    case SK_OP_DEPTH_TO_SPACE:
    case SK_OP_SPACE_TO_DEPTH: tell_list(&a->blocks.block, 2, out); break;
    case SK_OP_CONSTANT_OF_SHAPE:
    case SK_OP_EYE_LIKE: sk_text_appendf(out, " %s %g", sk_dtype_name(a->fill.dtype), a->fill.value); break;
    default: sk_text_appendf(out, " %d", a->axis);
    }
}

static inline void tell_made(const sk_graph *g, sk_value v, sk_text *out)
{
    char shape[SK_SHAPE_TEXT];
    if (v < 0 || !g->values[v].blob) {
        if (v < 0)
            sk_text_append(out, "-");
        else if (g->values[v].producer < 0)
            sk_text_append(out, g->values[v].name);
        else
            sk_text_appendf(out, "%%%d.%d", g->values[v].producer,
                            v - g->nodes[g->values[v].producer].out[0]);
        return;
    }
    const sk_tensor t = sk_value_tensor(g, v);
    sk_text_appendf(out, "%s[%s:", sk_dtype_name(t.dtype),
                    t.shape.rank ? sk_shape_text(&t.shape, shape, sizeof shape) : "");
    for (int64_t i = 0; i < sk_shape_count(&t.shape) && i < 9; i++)
        sk_text_appendf(out, " %.7g", sk_tensor_at(&t, i));
    sk_text_append(out, "]");
}

static inline void tell_graph(const sk_graph *g, sk_text *out)
{
    for (size_t k = 0; k < g->n_nodes; k++) {
        const sk_node *n = &g->nodes[k];
        sk_text_appendf(out, "    %%%zu%s = %s", k, n->flags & SK_NODE_TAIL ? " (tail)" : "",
                        sk_op_name(n->op));
        tell_attributes(n, out);
        for (int i = 0; i < n->n_in; i++) {
            sk_text_append(out, i ? ", " : " (");
            tell_made(g, n->in[i], out);
        }
        sk_text_append(out, ")\n");
    }
    for (int i = 0; i < g->n_outputs; i++) {
        sk_text_append(out, "    gives ");
        tell_made(g, g->outputs[i], out);
        sk_text_append(out, "\n");
    }
}

/* What a line becomes in every operator set in which that is another than in the one before. */
static inline void tell_form(sk_text *told, const char *line)
{
    static form f;
    sk_text before = {0}, text = {0};
    sk_text_appendf(told, "%s\n", line);
    for (int64_t opset = 7; opset <= 23; opset++) {
        sk_error err = {0};
        sk_graph *graph = NULL;
        form_open(&f, line, opset);
        sk_text_clear(&text);
        const sk_status status = sk_onnx_import(f.t.model, "f", &graph, &err);
        if (status == SK_OK)
            tell_graph(graph, &text);
        else
            sk_text_appendf(&text, "    refused (%d): %s\n", status, err.message);
        if (strcmp(sk_text_get(&text), sk_text_get(&before)) != 0)
            sk_text_appendf(told, "  opset %lld\n%s", (long long)opset, sk_text_get(&text));
        sk_text_clear(&before);
        sk_text_append(&before, sk_text_get(&text));
        sk_graph_close(&graph);
        sk_onnx_close(&f.t.model);
    }
    sk_text_free(&before);
    sk_text_free(&text);
}

#endif
