/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "formats/onnx.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a model with one of everything --- */

static const float weight_data[6] = {1, -2, 3.5f, 0, -0.25f, 6};

static sk_onnx_model *make_model(void)
{
    static const char *const conv_in[] = {"x", "w", ""}, *const conv_out[] = {"y"};
    static const char *const if_in[] = {"c"}, *const if_out[] = {"z"};
    static const char *const inner_in[] = {"y"}, *const inner_out[] = {"inner"};
    static const int64_t ints[] = {1, -1, INT64_MAX, INT64_MIN};
    static const float floats[] = {0.5f, -1e30f};
    static const char *const strings[] = {"one", "", "três"};
    static sk_onnx_tensor tensor, scalar;
    static sk_onnx_attr attrs[8], branch_attr[2];
    static sk_onnx_node nodes[3], inner[1];
    static sk_onnx_graph branch;
    static sk_onnx_value input, output, inner_value;
    static const sk_onnx_opset opsets[] = {{"", 17}, {"my.domain", 3}};
    static const char *metadata[][2] = {{"names", "{0: 'fly'}"}, {"empty", ""}};
    static sk_onnx_function function;
    sk_error err;
    sk_onnx_model *model = NULL;
    sk_blob *blob = NULL;
    assert_ok(sk_onnx_create(&model, &err), &err);
    assert_ok(sk_blob_alloc(sizeof weight_data, &blob, &err), &err);
    memcpy(sk_blob_data(blob), weight_data, sizeof weight_data);
    assert_ok(sk_onnx_keep_blob(model, blob, &err), &err);
    tensor = (sk_onnx_tensor){"w", SK_DTYPE_F32, sk_shape_of(2, 2, 3), blob, 0};
    scalar = (sk_onnx_tensor){"", SK_DTYPE_F32, {.rank = 0}, blob, 8};
    attrs[0] = (sk_onnx_attr){.name = "f", .type = SK_ONNX_FLOAT, .ref = "", .f = 0.1f};
    attrs[1] = (sk_onnx_attr){.name = "i", .type = SK_ONNX_INT, .ref = "", .i = -7};
    attrs[2] = (sk_onnx_attr){.name = "s", .type = SK_ONNX_STRING, .ref = "", .s = "SAME_UPPER"};
    attrs[3] = (sk_onnx_attr){.name = "t", .type = SK_ONNX_TENSOR, .ref = "", .tensor = &scalar};
    attrs[4] = (sk_onnx_attr){.name = "fs", .type = SK_ONNX_FLOATS, .ref = "", .count = 2, .floats = floats};
    attrs[5] = (sk_onnx_attr){.name = "is", .type = SK_ONNX_INTS, .ref = "", .count = 4, .ints = ints};
    attrs[6] =
        (sk_onnx_attr){.name = "ss", .type = SK_ONNX_STRINGS, .ref = "", .count = 3, .strings = strings};
    attrs[7] = (sk_onnx_attr){.name = "r", .type = SK_ONNX_INT, .ref = "outer"};
    nodes[0] = (sk_onnx_node){"Conv", "", "first", 3, 1, 8, conv_in, conv_out, attrs};
    inner[0] = (sk_onnx_node){"Relu", "", "", 1, 1, 0, inner_in, inner_out, NULL};
    inner_value = (sk_onnx_value){.name = "inner", .dtype = SK_DTYPE_F32, .shape = {.rank = -1}};
    branch =
        (sk_onnx_graph){.name = "b", .n_nodes = 1, .nodes = inner, .n_outputs = 1, .outputs = &inner_value};
    branch_attr[0] =
        (sk_onnx_attr){.name = "then_branch", .type = SK_ONNX_GRAPH, .ref = "", .graph = &branch};
    branch_attr[1] =
        (sk_onnx_attr){.name = "else_branch", .type = SK_ONNX_GRAPH, .ref = "", .graph = &branch};
    nodes[1] = (sk_onnx_node){"If", "", "", 1, 1, 2, if_in, if_out, branch_attr};
    input = (sk_onnx_value){"x", SK_DTYPE_F32, sk_shape_of(3, -1, 3, 8), {"batch", "", ""}};
    output = (sk_onnx_value){.name = "z", .dtype = SK_DTYPE_F32, .shape = {.rank = 0}};
    model->ir_version = 8;
    model->producer = "test";
    model->opsets = opsets;
    model->n_opsets = 2;
    model->metadata = metadata;
    model->n_metadata = 2;
    function = (sk_onnx_function){"my.domain", "twice",  1,         1,     1,         1,
                                  1,           inner_in, inner_out, inner, &attrs[1], opsets};
    model->functions = &function;
    model->n_functions = 1;
    model->graph = (sk_onnx_graph){"main", 2, 1, 1, 1, nodes, &tensor, &input, &output};
    return model;
}

static void compare_attr(const sk_onnx_attr *a, const sk_onnx_attr *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->ref, b->ref);
    assert_int_equal(a->type, b->type);
    if (*a->ref)
        return;
    assert_int_equal(a->count, b->count);
    switch (a->type) {
    case SK_ONNX_FLOAT: assert_true(a->f == b->f); break;
    case SK_ONNX_INT: assert_int_equal(a->i, b->i); break;
    case SK_ONNX_STRING: assert_string_equal(a->s, b->s); break;
    case SK_ONNX_FLOATS: assert_memory_equal(a->floats, b->floats, 4 * (size_t)a->count); break;
    case SK_ONNX_INTS: assert_memory_equal(a->ints, b->ints, 8 * (size_t)a->count); break;
    case SK_ONNX_STRINGS:
        for (int i = 0; i < a->count; i++)
            assert_string_equal(a->strings[i], b->strings[i]);
        break;
    case SK_ONNX_TENSOR:
        assert_true(sk_shape_equal(&a->tensor->shape, &b->tensor->shape));
        assert_memory_equal((char *)sk_blob_data(a->tensor->blob) + a->tensor->offset,
                            (char *)sk_blob_data(b->tensor->blob) + b->tensor->offset, 4);
        break;
    case SK_ONNX_GRAPH: assert_string_equal(a->graph->nodes[0].op, b->graph->nodes[0].op); break;
    }
}

static void compare_model(const sk_onnx_model *a, const sk_onnx_model *b)
{
    assert_int_equal(a->ir_version, b->ir_version);
    assert_string_equal(a->producer, b->producer);
    assert_int_equal(sk_onnx_opset_version(b->opsets, b->n_opsets, ""), 17);
    assert_int_equal(sk_onnx_opset_version(b->opsets, b->n_opsets, "my.domain"), 3);
    assert_string_equal(sk_onnx_metadata(b, "names"), "{0: 'fly'}");
    assert_string_equal(sk_onnx_metadata(b, "empty"), "");
    assert_null(sk_onnx_metadata(b, "absent"));
    assert_int_equal(b->graph.n_nodes, 2);
    for (int n = 0; n < 2; n++) {
        const sk_onnx_node *x = &a->graph.nodes[n], *y = &b->graph.nodes[n];
        assert_string_equal(x->op, y->op);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->n_in, y->n_in);
        for (int i = 0; i < x->n_in; i++)
            assert_string_equal(x->in[i], y->in[i]);
        assert_int_equal(x->n_attrs, y->n_attrs);
        for (int i = 0; i < x->n_attrs; i++)
            compare_attr(&x->attrs[i], &y->attrs[i]);
    }
    const sk_onnx_tensor *w = &b->graph.initializers[0];
    assert_string_equal(w->name, "w");
    assert_int_equal(w->shape.rank, 2);
    assert_memory_equal((char *)sk_blob_data(w->blob) + w->offset, weight_data, sizeof weight_data);
    assert_int_equal(b->graph.inputs[0].shape.rank, 3);
    assert_int_equal(b->graph.inputs[0].shape.dim[0], -1);
    assert_int_equal(b->graph.inputs[0].shape.dim[2], 8);
    assert_string_equal(b->graph.inputs[0].param[0], "batch");
    assert_int_equal(b->graph.outputs[0].shape.rank, 0);
    assert_int_equal(b->n_functions, 1);
    assert_string_equal(b->functions[0].name, "twice");
    assert_int_equal(b->functions[0].defaults[0].i, -7);
}

static void writes_and_reads_back(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *model = make_model(), *again = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_onnx_write(model, &bytes, &length, &err), &err);
    assert_ok(sk_onnx_read(bytes, length, "test.onnx", NULL, &again, &err), &err);
    compare_model(model, again);
    sk_free(bytes);
    sk_onnx_close(&model);
    sk_onnx_close(&again);
}

/* Every cut of the file and every changed byte must end in a model or an error, never in a crash. */
/* ONNX's own checker refuses an attribute with more than one value. */
static void attributes_have_one_value(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *model = make_model();
    uint8_t *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_onnx_write(model, &bytes, &length, &err), &err);
    SkOnnx__Model *raw = sk_onnx__model__unpack(NULL, length, bytes);
    assert_non_null(raw);
    for (size_t n = 0; n < raw->graph->n_node; n++)
        for (size_t i = 0; i < raw->graph->node[n]->n_attribute; i++) {
            const SkOnnx__Attribute *a = raw->graph->node[n]->attribute[i];
            const int values = a->has_f + a->has_i + a->has_s + (a->t != NULL) + (a->g != NULL) +
                               (a->n_floats > 0) + (a->n_ints > 0) + (a->n_strings > 0);
            if (values != !a->ref_attr_name)
                fail_msg("'%s' has %d values", a->name, values);
        }
    sk_onnx__model__free_unpacked(raw, NULL);
    sk_free(bytes);
    sk_onnx_close(&model);
}

static void survives_cuts_and_changes(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *model = make_model(), *again = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0, refused = 0;
    assert_ok(sk_onnx_write(model, &bytes, &length, &err), &err);
    int64_t before = sk_memory_live_bytes();
    for (size_t cut = 0; cut < length; cut++) {
        refused += sk_onnx_read(bytes, cut, "cut.onnx", NULL, &again, &err) != SK_OK;
        sk_onnx_close(&again);
    }
    assert_true(refused > length * 9 / 10);
    for (size_t i = 0; i < length; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            if (sk_onnx_read(bytes, length, "changed.onnx", NULL, &again, &err) == SK_OK)
                sk_onnx_close(&again);
            assert_null(again);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(sk_memory_live_bytes(), before);
    sk_free(bytes);
    sk_onnx_close(&model);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *model = make_model(), *again = NULL;
    uint8_t *bytes = NULL, *copy = NULL;
    size_t length = 0, n = 1;
    assert_ok(sk_onnx_write(model, &bytes, &length, &err), &err);
    int64_t before = sk_memory_live_bytes();
    for (;; n++) {
        sk_memory_fail_nth(n);
        sk_status status = sk_onnx_read(bytes, length, "m.onnx", NULL, &again, &err);
        sk_memory_fail_nth(0);
        if (status == SK_OK)
            break;
        assert_int_equal(status, SK_ERR_MEMORY); /* the file is not to blame */
        assert_null(again);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    assert_true(n > 50);
    sk_onnx_close(&again);
    for (n = 1;; n++) {
        sk_memory_fail_nth(n);
        sk_status status = sk_onnx_write(model, &copy, &length, &err);
        sk_memory_fail_nth(0);
        if (status == SK_OK)
            break;
        assert_null(copy);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    sk_free(copy);
    sk_free(bytes);
    sk_onnx_close(&model);
}

/* --- bytes put together by hand --- */

typedef struct wire {
    uint8_t bytes[1 << 16];
    size_t length;
} wire;

static void put_varint(wire *w, uint64_t value)
{
    for (; value > 0x7F; value >>= 7)
        w->bytes[w->length++] = (uint8_t)(value | 0x80);
    w->bytes[w->length++] = (uint8_t)value;
}

static void put_int(wire *w, int field, int64_t value)
{
    put_varint(w, (uint64_t)field << 3);
    put_varint(w, (uint64_t)value);
}

static void put_bytes(wire *w, int field, const void *data, size_t length)
{
    put_varint(w, ((uint64_t)field << 3) | 2);
    put_varint(w, length);
    memcpy(w->bytes + w->length, data, length);
    w->length += length;
}

static void put_text(wire *w, int field, const char *text)
{
    put_bytes(w, field, text, strlen(text));
}

static void put_message(wire *w, int field, const wire *inner)
{
    put_bytes(w, field, inner->bytes, inner->length);
}

/* A model whose graph has one initializer, read; the caller closes *out. */
static sk_status read_tensor_file(const wire *tensor, const char *folder, sk_onnx_model **out, sk_error *err)
{
    static wire graph, opset, model;
    graph.length = opset.length = model.length = 0;
    put_message(&graph, 5, tensor);
    put_int(&opset, 2, 17);
    put_int(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    return sk_onnx_read(model.bytes, model.length, "m.onnx", folder, out, err);
}

static void tensor_head(wire *w, int64_t type, int rank, const int64_t *dims)
{
    w->length = 0;
    for (int i = 0; i < rank; i++)
        put_int(w, 1, dims[i]);
    put_int(w, 2, type);
    put_text(w, 8, "t");
}

static void reads_typed_fields(void **state)
{
    (void)state;
    static const struct {
        int type, field;
        sk_dtype dtype;
        double expected;
        int64_t value;
    } cases[] = {
        {2, 5, SK_DTYPE_U8, 200, 200},
        {3, 5, SK_DTYPE_I8, -3, -3},
        {4, 5, SK_DTYPE_U16, 60000, 60000},
        {5, 5, SK_DTYPE_I16, -300, -300},
        {6, 5, SK_DTYPE_I32, -70000, -70000},
        {7, 7, SK_DTYPE_I64, -1, -1},
        {9, 5, SK_DTYPE_BOOL, 1, 1},
        {10, 5, SK_DTYPE_F16, -2, 0xC000},
        {12, 11, SK_DTYPE_U32, 4e9, 4000000000},
        {13, 11, SK_DTYPE_U64, 5, 5},
        {16, 5, SK_DTYPE_BF16, 1.5, 0x3FC0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static wire w;
        sk_error err;
        sk_onnx_model *model = NULL;
        tensor_head(&w, cases[i].type, 1, (int64_t[]){1});
        put_int(&w, cases[i].field, cases[i].value);
        assert_ok(read_tensor_file(&w, NULL, &model, &err), &err);
        const sk_onnx_tensor *t = &model->graph.initializers[0];
        assert_int_equal(t->dtype, cases[i].dtype);
        sk_tensor view = {t->dtype, t->shape, sk_blob_data(t->blob)};
        assert_true(sk_tensor_at(&view, 0) == cases[i].expected);
        sk_onnx_close(&model);
    }
}

static void refuses_bad_tensors(void **state)
{
    (void)state;
    static const float four[4] = {1, 2, 3, 4};
    static const struct {
        int type, rank;
        int64_t dims[9];
        sk_status status;
        const char *says;
    } cases[] = {
        {1, 1, {5}, SK_ERR_FORMAT, "16 bytes where its shape needs 20"},
        {1, 2, {INT64_MAX, INT64_MAX}, SK_ERR_LIMIT, "absurd"},
        {1, 1, {-4}, SK_ERR_FORMAT, "dimension of -4"},
        {1, 9, {1, 1, 1, 1, 1, 1, 1, 1, 4}, SK_ERR_UNSUPPORTED, "9 dimensions"},
        {22, 1, {4}, SK_ERR_UNSUPPORTED, "int4"},
        {8, 1, {4}, SK_ERR_UNSUPPORTED, "string"},
        {99, 1, {4}, SK_ERR_UNSUPPORTED, "unknown kind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static wire w;
        sk_error err;
        sk_onnx_model *model = NULL;
        tensor_head(&w, cases[i].type, cases[i].rank, cases[i].dims);
        put_bytes(&w, 9, four, sizeof four);
        assert_int_equal(read_tensor_file(&w, NULL, &model, &err), cases[i].status);
        assert_null(model);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_non_null(strstr(err.message, "m.onnx"));
    }
}

static void external_tensor(wire *w, const char *location, const char *offset, const char *length)
{
    const char *pairs[3][2] = {{"location", location}, {"offset", offset}, {"length", length}};
    tensor_head(w, 1, 1, (int64_t[]){2});
    for (int i = 0; i < 3; i++) {
        static wire pair;
        pair.length = 0;
        put_text(&pair, 1, pairs[i][0]);
        put_text(&pair, 2, pairs[i][1]);
        if (*pairs[i][1])
            put_message(w, 13, &pair);
    }
    put_int(w, 14, 1);
}

static void reads_external_data_only_from_the_folder(void **state)
{
    (void)state;
    static const struct {
        const char *location, *offset, *length;
        sk_status status;
        const char *says;
    } cases[] = {
        {"weights.bin", "4", "8", SK_OK, ""},
        {"./weights.bin", "4", "", SK_OK, ""},
        {"weights.bin", "8", "8", SK_ERR_FORMAT, "which has 12"},
        {"weights.bin", "4", "12", SK_ERR_FORMAT, "12 bytes where its shape needs 8"},
        {"weights.bin", "-4", "8", SK_ERR_FORMAT, "offset"},
        {"weights.bin", "18446744073709551615", "8", SK_ERR_FORMAT, "offset"},
        {"../weights.bin", "0", "8", SK_ERR_FORMAT, "outside"},
        {"a/../../weights.bin", "0", "8", SK_ERR_FORMAT, "outside"},
        {"/etc/passwd", "0", "8", SK_ERR_FORMAT, "outside"},
        {"link.bin", "0", "8", SK_ERR_FORMAT, "outside"},
        {"absent.bin", "0", "8", SK_ERR_NOT_FOUND, "missing"},
        {"", "0", "8", SK_ERR_FORMAT, "location"},
    };
    static const float data[3] = {9, 1.5f, -2};
    char folder[3000], path[4096];
    snprintf(folder, sizeof folder, "%s/model", test_folder());
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/weights.bin", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 4, 3, file), 3);
    fclose(file);
    snprintf(path, sizeof path, "%s/link.bin", folder);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static wire w;
        sk_error err = {0};
        sk_onnx_model *model = NULL;
        external_tensor(&w, cases[i].location, cases[i].offset, cases[i].length);
        assert_int_equal(read_tensor_file(&w, folder, &model, &err), cases[i].status);
        if (cases[i].status == SK_OK)
            assert_memory_equal(sk_blob_data(model->graph.initializers[0].blob), data + 1, 8);
        else
            assert_non_null(strstr(err.message, cases[i].says));
        sk_onnx_close(&model);
        assert_int_not_equal(read_tensor_file(&w, NULL, &model, &err), SK_OK);
        if (cases[i].status != SK_OK)
            continue;
        setenv("SKITTER_MEMORY_LIMIT", "4", 1); /* bytes: the tensor has eight */
        assert_int_equal(read_tensor_file(&w, folder, &model, &err), SK_ERR_LIMIT);
        assert_non_null(strstr(err.message, "SKITTER_MEMORY_LIMIT="));
        unsetenv("SKITTER_MEMORY_LIMIT");
    }
}

static void names_foreign_files(void **state)
{
    (void)state;
    static const struct {
        const char *start, *says;
    } cases[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"},
        {"PK\003\004zip", "zip archive"},
        {"\211HDF\r\n\032\n", "HDF5"},
        {"<!DOCTYPE html>", "web page"},
        {"", "empty"},
        {"\010\010", "no graph"},
        {"\377\377\377\377\377\377\377\377\377\377\377\377", "truncated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err;
        sk_onnx_model *model = NULL;
        assert_int_equal(sk_onnx_read(cases[i].start, strlen(cases[i].start), "m.onnx", NULL, &model, &err),
                         SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, cases[i].says));
    }
}

static void bounds_depth_and_repeats(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *model = NULL;
    static wire inner, outer;
    /* graph { node { attribute { graph { … } } } }, a hundred times */
    inner.length = 0;
    for (int i = 0; i < 100; i++) {
        static const int fields[3] = {6, 5, 1};
        for (int f = 0; f < 3; f++) {
            outer.length = 0;
            put_message(&outer, fields[f], &inner);
            inner = outer;
        }
    }
    outer.length = 0;
    put_message(&outer, 7, &inner);
    assert_int_equal(sk_onnx_read(outer.bytes, outer.length, "deep.onnx", NULL, &model, &err), SK_ERR_LIMIT);
    outer.length = 0;
    put_bytes(&outer, 7, "", 0);
    put_bytes(&outer, 7, "", 0);
    assert_int_equal(sk_onnx_read(outer.bytes, outer.length, "twice.onnx", NULL, &model, &err),
                     SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "occurs twice"));
}

/* Four million empty nodes in 8 MB would become half a gigabyte. */
static void bounds_memory(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_model *model = NULL;
    size_t nodes = 4000000, length = 2 * nodes + 5;
    uint8_t *bytes = malloc(length);
    assert_non_null(bytes);
    bytes[0] = 7 << 3 | 2;
    for (int i = 0; i < 4; i++)
        bytes[1 + i] = (uint8_t)((2 * nodes) >> (7 * i) & 0x7F) | (i < 3 ? 0x80 : 0);
    for (size_t i = 0; i < nodes; i++) {
        bytes[5 + 2 * i] = 1 << 3 | 2;
        bytes[6 + 2 * i] = 0;
    }
    assert_int_equal(sk_onnx_read(bytes, length, "many.onnx", NULL, &model, &err), SK_ERR_LIMIT);
    free(bytes);
}

/* Files before IR 4 list weights among the inputs. */
static void weights_are_not_inputs(void **state)
{
    (void)state;
    static wire tensor, value, graph, opset, model;
    sk_error err;
    sk_onnx_model *m = NULL;
    tensor_head(&tensor, 1, 1, (int64_t[]){1});
    put_bytes(&tensor, 9, weight_data, 4);
    put_message(&graph, 5, &tensor);
    put_text(&value, 1, "t");
    put_message(&graph, 11, &value);
    value.length = 0;
    put_text(&value, 1, "x");
    put_message(&graph, 11, &value);
    put_int(&opset, 2, 9);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    assert_ok(sk_onnx_read(model.bytes, model.length, "old.onnx", NULL, &m, &err), &err);
    assert_int_equal(m->graph.n_inputs, 1);
    assert_string_equal(m->graph.inputs[0].name, "x");
    sk_onnx_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads_back),
        cmocka_unit_test(attributes_have_one_value),
        cmocka_unit_test(survives_cuts_and_changes),
        cmocka_unit_test(survives_every_failed_allocation),
        cmocka_unit_test(reads_typed_fields),
        cmocka_unit_test(refuses_bad_tensors),
        cmocka_unit_test(reads_external_data_only_from_the_folder),
        cmocka_unit_test(names_foreign_files),
        cmocka_unit_test(bounds_depth_and_repeats),
        cmocka_unit_test(bounds_memory),
        cmocka_unit_test(weights_are_not_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
