/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ONNX_WRITTEN_H
#define SK_TESTS_ONNX_WRITTEN_H

/* Single operations of a graph as they are written to ONNX, node by node: a table of operations with their attributes and inputs; what
 * each becomes, as text, for every operator set in which it is another and in half precision. What is written is read again and
 * gives the numbers that the graph gives. Text files hold what was looked at (tests/models/whole/written_*.txt). */
#include "support/test.h"

#include "base/text.h"
#include "graph/builder.h"
#include "graph/reference.h"
#include "models/onnx_exporter.h"
#include "models/onnx_import.h"
#include "support/fault.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sk_shape written_input = {.rank = 4, .dim = {2, 4, 6, 8}};

typedef struct written {
    const char *name;
    sk_op op;
    sk_attrs a;
    /* Words: x the input, - left out, y what a node makes of x, m whether x is above 0, n x in whole numbers, S its shape, h its height, c
     * and d two pieces of it, q x in eight bits, w2x3 numbers of that shape, p4 positive ones, v2x3 numbers that a node makes, k a float
     * scalar that a node makes, i5 and i[1,2] whole numbers, f0.5, o the pair -1 2, t u8 128, s4 positive scales, z4 i8 zero points. */
    const char *in;
    int n_out;
    int apart; /* 1: not to be run, its meaning needs another input; 2: run, and only its nodes counted */
} written;

/* --- inputs --- */

static inline sk_value written_numbers(sk_builder *b, const char *shape, const char *name, bool positive)
{
    sk_shape s = {.rank = 0};
    float data[1024];
    for (char *end; *shape; shape = *end ? end + 1 : end)
        s.dim[s.rank++] = strtol(shape, &end, 10);
    assert_in_range(sk_shape_count(&s), 1, 1024);
    for (int64_t i = 0; i < sk_shape_count(&s); i++) {
        data[i] = (float)(i * 37 % 41 - 20) / 16; /* float16 has them, too */
        data[i] = positive ? fabsf(data[i]) + 0.25f : data[i];
    }
    return sk_b_constant(b, name, SK_DTYPE_F32, &s, data);
}

static inline sk_value written_whole(sk_builder *b, const char *word)
{
    int64_t list[16];
    int count = 0;
    if (*word != '[')
        return sk_b_i64(b, strtol(word, NULL, 10));
    char *end = (char *)(uintptr_t)word;
    while (*end != ']' && end[1] != ']')
        list[count++] = strtol(end + 1, &end, 10);
    return sk_b_i64s(b, list, count);
}

static inline sk_value written_cast(sk_builder *b, sk_value x, sk_dtype to)
{
    const sk_attrs a = {.cast.to = to};
    return sk_b_node(b, SK_OP_CAST, &a, &x, 1, "");
}

static inline sk_value written_eight_bits(sk_builder *b, sk_value x)
{
    const sk_attrs a = {.quantise.axis = 1};
    const sk_value scale = sk_b_f32(b, 0.125f),
                   zero = sk_b_constant(b, "", SK_DTYPE_U8, &(sk_shape){0}, "\x80");
    return sk_b_node(b, SK_OP_QUANTIZE, &a, (sk_value[]){x, scale, zero}, 3, "q");
}

static inline sk_value written_word(sk_builder *b, sk_value x, const char *word)
{
    static const int8_t zeros[8] = {0, -128, 127, 3, -9, 1, 2, 5};
    const sk_attrs first = {.axis = 0};
    sk_value v;
    switch (*word) {
    case 'x': return x;
    case 'y': return sk_b_unary(b, SK_UNARY_NEG, x);
    case 'm': v = sk_b_f32(b, 0); return sk_b_binary(b, SK_BINARY_GREATER, x, v);
    case 'n': v = sk_b_f32(b, 4); return written_cast(b, sk_b_mul(b, x, v), SK_DTYPE_I64);
    case 'S': return sk_b_node(b, SK_OP_SHAPE, NULL, &x, 1, "");
    case 'h':
        v = sk_b_node(b, SK_OP_SHAPE, NULL, &x, 1, "");
        return sk_b_node(b, SK_OP_GATHER, &first, (sk_value[]){v, sk_b_i64(b, 2)}, 2, "");
    case 'c': return sk_b_slice(b, x, 1, 0, 1);
    case 'd': return sk_b_slice(b, x, 3, 0, 1);
    case 'q': return written_eight_bits(b, x);
    case 'w': return written_numbers(b, word + 1, "w", false);
    case 'p': return written_numbers(b, word + 1, "p", true);
    case 's': return written_numbers(b, word + 1, "scales", true);
    case 'v': return sk_b_unary(b, SK_UNARY_NEG, written_numbers(b, word + 1, "w", false));
    case 'k': return sk_b_reduce(b, SK_REDUCE_MAX, x, NULL, 0, false);
    case 'i': return written_whole(b, word + 1);
    case 'f': return sk_b_f32(b, strtof(word + 1, NULL));
    case 'o': return sk_b_constant(b, "pair", SK_DTYPE_F32, &(sk_shape){1, {2}}, (float[]){-1, 2});
    case 't': return sk_b_constant(b, "zero", SK_DTYPE_U8, &(sk_shape){0}, "\x80");
    case 'z':
        return sk_b_constant(b, "zeros", SK_DTYPE_I8, &(sk_shape){1, {strtol(word + 1, NULL, 10)}}, zeros);
    default: return SK_VALUE_NONE;
    }
}

static inline sk_graph *written_graph(const written *w)
{
    const sk_shape open = {.rank = 4, .dim = {-1, 4, -1, -1}};
    sk_error err = {0};
    sk_graph *graph = NULL;
    sk_builder b;
    sk_value in[8], outs[8];
    char words[128], *rest = NULL;
    int n_in = 0;
    const int n_out = w->n_out ? w->n_out : 1;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    const sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &open);
    snprintf(words, sizeof words, "%s", w->in);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        in[n_in++] = written_word(&b, x, word);
    sk_b_node_n(&b, w->op, &w->a, in, n_in, "it", outs, n_out);
    for (int i = 0; i < n_out; i++)
        sk_b_output(&b, outs[i], "");
    if (b.status != SK_OK)
        fail_msg("%s: %s", w->name, b.error.message);
    return graph;
}

/* --- as text --- */

static inline void tell_tensor(sk_text *text, const sk_onnx_tensor *t)
{
    char shape[SK_SHAPE_TEXT];
    const sk_tensor view = {t->dtype, t->shape, (char *)sk_blob_data(t->blob) + t->offset};
    const int64_t count = sk_shape_count(&t->shape);
    sk_text_appendf(text, "%s[%s]", sk_dtype_name(t->dtype),
                    t->shape.rank ? sk_shape_text(&t->shape, shape, sizeof shape) : "");
    for (int64_t i = 0; i < count && i < 8; i++)
        sk_text_appendf(text, " %.8g", sk_tensor_at(&view, i));
    if (count > 8)
        sk_text_appendf(text, " … %.8g", sk_tensor_at(&view, count - 1));
}

static inline void tell_attr(sk_text *text, const sk_onnx_attr *a)
{
    assert_string_equal(a->ref, "");
    sk_text_appendf(text, " %s=", a->name);
    switch (a->type) {
    case SK_ONNX_FLOAT: sk_text_appendf(text, "%.8gf", (double)a->f); break;
    case SK_ONNX_INT: sk_text_appendf(text, "%lld", (long long)a->i); break;
    case SK_ONNX_STRING: sk_text_appendf(text, "'%s'", a->s); break;
    case SK_ONNX_TENSOR:
        assert_string_equal(a->tensor->name, "");
        tell_tensor(text, a->tensor);
        break;
    default:
        assert_int_equal(a->type, SK_ONNX_INTS);
        for (int32_t i = 0; i < a->count; i++)
            sk_text_appendf(text, "%s%lld", i ? "," : "", (long long)a->ints[i]);
    }
}

static inline void tell_names(sk_text *text, const char *const *names, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        sk_text_appendf(text, "%s%s", i ? ", " : "", *names[i] ? names[i] : "-");
}

static inline void tell_onnx(sk_text *text, const sk_onnx_graph *g)
{
    for (int32_t i = 0; i < g->n_initializers; i++) {
        sk_text_appendf(text, "    %s: ", g->initializers[i].name);
        tell_tensor(text, &g->initializers[i]);
        sk_text_append(text, "\n");
    }
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const sk_onnx_node *n = &g->nodes[i];
        sk_text_append(text, "    ");
        tell_names(text, n->out, n->n_out);
        sk_text_appendf(text, " = %s%s(", n->domain, n->op);
        tell_names(text, n->in, n->n_in);
        sk_text_append(text, ")");
        for (int32_t k = 0; k < n->n_attrs; k++)
            tell_attr(text, &n->attrs[k]);
        sk_text_appendf(text, "  # %s\n", n->name);
    }
}

/* --- read again --- */

static inline void run_written(const sk_graph *graph, sk_tensor *outs, const char *name)
{
    static float data[2 * 4 * 6 * 8];
    sk_error err = {0};
    sk_graph *fixed = NULL;
    for (int i = 0; i < 2 * 4 * 6 * 8; i++)
        data[i] = (float)(i * 37 % 101) / 32 - 1.5f;
    const sk_tensor in = {SK_DTYPE_F32, written_input, data};
    if (sk_graph_specialise(graph, &written_input, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, outs, fixed->n_outputs, &err) != SK_OK)
        fail_msg("%s: %s", name, err.message);
    sk_graph_close(&fixed);
}

static inline void same_numbers(const written *w, const sk_graph *graph, const sk_graph *again, bool half)
{
    sk_tensor a[8], b[8];
    run_written(graph, a, w->name);
    run_written(again, b, w->name);
    for (int i = 0; i < graph->n_outputs; i++) {
        if (!sk_shape_equal(&a[i].shape, &b[i].shape) || a[i].dtype != b[i].dtype)
            fail_msg("%s: output %d has another form", w->name, i);
        for (int64_t k = 0; k < sk_shape_count(&a[i].shape); k++) {
            const double p = sk_tensor_at(&a[i], k), q = sk_tensor_at(&b[i], k);
            if (!(fabs(p - q) <= (half ? 1e-2 : 1e-5) * fmax(1, fabs(p))) && !(isnan(p) && isnan(q)) &&
                p != q)
                fail_msg("%s: output %d, element %lld is %g and was %g", w->name, i, (long long)k, q, p);
        }
        sk_free(a[i].data);
        sk_free(b[i].data);
    }
}

static inline void read_again(const written *w, const sk_graph *graph, sk_onnx_model *onnx, int opset,
                              bool half)
{
    static const char *const names[8] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
    sk_error err = {0};
    sk_graph *again = NULL;
    sk_onnx_value in = {
        "x", half ? SK_DTYPE_F16 : SK_DTYPE_F32, {.rank = 4, .dim = {-1, 4, -1, -1}}, {"", "", "", ""}};
    sk_onnx_value outs[8];
    sk_onnx_opset set = {"", opset};
    for (int i = 0; i < 8; i++)
        outs[i] = (sk_onnx_value){.name = names[i], .dtype = SK_DTYPE_F32, .shape = {.rank = -1}};
    onnx->ir_version = 8;
    onnx->opsets = &set;
    onnx->n_opsets = 1;
    onnx->graph.inputs = &in;
    onnx->graph.n_inputs = 1;
    onnx->graph.outputs = outs;
    onnx->graph.n_outputs = graph->n_outputs;
    if (sk_onnx_import(onnx, "f", &again, &err) != SK_OK)
        fail_msg("%s, opset %d%s: %s", w->name, opset, half ? ", half" : "", err.message);
    same_numbers(w, graph, again, half);
    sk_graph_close(&again);
}

typedef struct written_job {
    const written *w;
    const sk_graph *graph;
    int opset;
    bool half;
    sk_text *text; /* null: nobody looks */
} written_job;

static inline sk_status write_job(void *context, sk_error *err)
{
    static const char *const in = "x", *const outs[8] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
    const written_job *job = context;
    sk_onnx_model *onnx = NULL;
    SK_TRY(sk_onnx_create(&onnx, err));
    const sk_status status = sk_onnx_from_graph(job->graph, job->opset, job->half, &in, outs, onnx, err);
    if (status == SK_OK && job->text) {
        if (job->w->apart == 2)
            sk_text_appendf(job->text, "    %d nodes\n", onnx->graph.n_nodes);
        else
            tell_onnx(job->text, &onnx->graph);
        if (job->w->apart != 1)
            read_again(job->w, job->graph, onnx, job->opset, job->half);
    } else if (job->text) {
        sk_text_appendf(job->text, "    refused (%d): %s\n", status, err->message);
    }
    sk_onnx_close(&onnx);
    return status;
}

/* Every form of one operation; those that an operator set shares with the one before are told once. */
static inline void tell_written(sk_text *told, const written *w)
{
    sk_graph *graph = written_graph(w), *fixed = NULL;
    sk_error err = {0};
    sk_text before = {0}, text = {0};
    written_job job = {.w = w, .graph = graph};
    sk_text_appendf(told, "%s\n", w->name);
    for (job.opset = SK_ONNX_OPSET_MIN; job.opset <= SK_ONNX_OPSET_MAX + 1; job.opset++) {
        job.half = job.opset > SK_ONNX_OPSET_MAX;
        job.text = &text;
        job.opset -= job.half;
        sk_text_clear(&text);
        sk_error ignored = {0};
        if (write_job(&job, &ignored) == SK_OK) {
            job.text = NULL;
            if (job.half || job.opset == SK_ONNX_OPSET_MIN)
                test_every_allocation(write_job, &job);
        }
        if (strcmp(sk_text_get(&text), sk_text_get(&before)) != 0)
            sk_text_appendf(told, "  opset %d%s\n%s", job.opset, job.half ? ", half" : "",
                            sk_text_get(&text));
        sk_text_clear(&before);
        sk_text_append(&before, sk_text_get(&text));
        job.opset += job.half;
    }
    if (w->apart !=
        1) { /* where every shape is known, what is written may be another, and not what comes of it */
        assert_ok(sk_graph_specialise(graph, &written_input, 1, &fixed, &err), &err);
        written_job known = {.w = w, .graph = fixed, .opset = 16, .text = &text};
        const sk_status status = write_job(&known, &err);
        assert_true(status == SK_OK || status == SK_ERR_UNSUPPORTED);
    }
    sk_graph_close(&fixed);
    sk_graph_close(&graph);
    sk_text_free(&before);
    sk_text_free(&text);
}

/* A test of its own for each table. */
#define WRITTEN_TEST(name)                                                                                   \
    static void name##_as_written(void **state)                                                              \
    {                                                                                                        \
        (void)state;                                                                                         \
        all_written(name, sizeof name / sizeof *name, "tests/models/whole/written_" #name ".txt");           \
    }

static inline void all_written(const written *all, size_t count, const char *file)
{
    sk_text told = {0};
    for (size_t i = 0; i < count; i++)
        tell_written(&told, &all[i]);
    test_text_is(file, sk_text_get(&told));
    sk_text_free(&told);
}

#endif
