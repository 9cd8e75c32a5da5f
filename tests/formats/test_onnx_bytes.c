/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX files put together byte by byte: tensors in every field that may hold them, where their data may lie, attributes of old files,
 * and the wire's own limits. */
#include "support/test.h"

#include "formats/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct wire {
    uint8_t bytes[1 << 14];
    size_t length;
} wire;

static sk_error err;
static sk_onnx_model *model;

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
    if (length)
        memcpy(w->bytes + w->length, data, length);
    w->length += length;
}

static void put_text(wire *w, int field, const char *text)
{
    put_bytes(w, field, text, strlen(text));
}

/* A model of this graph. */
static sk_status read_graph(const wire *graph, const char *folder)
{
    static wire whole;
    whole.length = 0;
    put_int(&whole, 1, 8);
    put_bytes(&whole, 7, graph->bytes, graph->length);
    put_bytes(&whole, 8, "\x10\x11", 2);
    sk_onnx_close(&model);
    return sk_onnx_read(whole.bytes, whole.length, "m.onnx", folder, &model, &err);
}

static sk_status read_part(int field, const wire *part, const char *folder)
{
    static wire graph;
    graph.length = 0;
    put_bytes(&graph, field, part->bytes, part->length);
    return read_graph(&graph, folder);
}

static void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, status == SK_OK ? "read" : err.message, why);
}

/* --- tensors --- */

/* Three of each kind in the field that its type has, packed into one or one by one; one too few or too many is told. */
static void numbers_in_typed_fields(void **state)
{
    (void)state;
    static const float f32[4] = {1.5f, -2, 1e30f, 7};
    static const double f64[4] = {0.1, -2, 1e300, 7};
    static const int64_t wide[4] = {3, -1, INT64_MIN, 7};
    static const int64_t narrow[4] = {3, 1, 100, 7};
    static const struct {
        int type, field;
        sk_dtype dtype;
        int fixed; /* bytes of each; 0: by sevens of bits */
    } kinds[] = {
        {1, 4, SK_DTYPE_F32, 4},   {11, 10, SK_DTYPE_F64, 8}, {7, 7, SK_DTYPE_I64, 0},
        {13, 11, SK_DTYPE_U64, 0}, {12, 11, SK_DTYPE_U32, 0}, {6, 5, SK_DTYPE_I32, 0},
        {3, 5, SK_DTYPE_I8, 0},    {17, 5, SK_DTYPE_F8, 0},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int packed = 0; packed < 2; packed++)
            for (int n = 2; n <= 4; n++) {
                wire w = {.length = 0}, inner = {.length = 0};
                const int64_t *whole = kinds[k].dtype == SK_DTYPE_I64 ? wide : narrow;
                const void *fixed = kinds[k].fixed == 4 ? (const void *)f32 : f64;
                put_int(&w, 1, 3);
                put_int(&w, 2, kinds[k].type);
                put_text(&w, 8, "t");
                for (int i = 0; i < n; i++) {
                    wire *to = packed ? &inner : &w;
                    if (!packed)
                        put_varint(to, (uint64_t)kinds[k].field << 3 | (kinds[k].fixed == 4   ? 5
                                                                        : kinds[k].fixed == 8 ? 1
                                                                                              : 0));
                    if (kinds[k].fixed) {
                        memcpy(to->bytes + to->length, (const char *)fixed + i * kinds[k].fixed,
                               (size_t)kinds[k].fixed);
                        to->length += (size_t)kinds[k].fixed;
                    } else {
                        put_varint(to, (uint64_t)whole[i]);
                    }
                }
                if (packed)
                    put_bytes(&w, kinds[k].field, inner.bytes, inner.length);
                const sk_status status = read_part(5, &w, NULL);
                if (n != 3) {
                    char why[80];
                    snprintf(why, sizeof why, "tensor 't' holds %d elements where its shape needs 3", n);
                    told(status, SK_ERR_FORMAT, why);
                    continue;
                }
                assert_ok(status, &err);
                const sk_onnx_tensor *t = &model->graph.initializers[0];
                assert_true(t->dtype == kinds[k].dtype && t->shape.rank == 1 && t->shape.dim[0] == 3);
                if (kinds[k].fixed) {
                    assert_memory_equal(sk_blob_data(t->blob), fixed, 3 * (size_t)kinds[k].fixed);
                    continue;
                }
                for (size_t i = 0; i < 3; i++) {
                    const size_t bytes = sk_dtype_bytes(t->dtype);
                    assert_memory_equal((char *)sk_blob_data(t->blob) + i * bytes, &whole[i], bytes);
                }
            }
}

/* Raw data, around the size from which it is not copied. */
static void raw_data(void **state)
{
    (void)state;
    static uint8_t data[4097];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37 + 1);
    static const int sizes[] = {0, 1, 4095, 4096, 4097};
    for (int i = 0; i < 5; i++)
        for (int off = -1; off <= 1; off++) {
            wire w = {.length = 0};
            put_int(&w, 1, sizes[i] + off);
            put_int(&w, 2, 2);
            put_bytes(&w, 9, data, (size_t)sizes[i]);
            const sk_status status = read_part(5, &w, NULL);
            assert_int_equal(status, off ? SK_ERR_FORMAT : SK_OK);
            if (off == 0)
                assert_memory_equal(sk_blob_data(model->graph.initializers[0].blob), data, (size_t)sizes[i]);
        }
}

/* The wire's numbers of element types, there and back. */
static void element_types(void **state)
{
    (void)state;
    static const sk_dtype known[29] = {
        [1] = SK_DTYPE_F32,   [2] = SK_DTYPE_U8,   [3] = SK_DTYPE_I8,   [4] = SK_DTYPE_U16,
        [5] = SK_DTYPE_I16,   [6] = SK_DTYPE_I32,  [7] = SK_DTYPE_I64,  [9] = SK_DTYPE_BOOL,
        [10] = SK_DTYPE_F16,  [11] = SK_DTYPE_F64, [12] = SK_DTYPE_U32, [13] = SK_DTYPE_U64,
        [16] = SK_DTYPE_BF16, [17] = SK_DTYPE_F8};
    static const struct {
        int type;
        const char *name;
    } named[] = {{0, "undefined (type 0)"},
                 {8, "string"},
                 {14, "complex64"},
                 {15, "complex128"},
                 {18, "float8e4m3fnuz"},
                 {19, "float8e5m2 "},
                 {20, "float8e5m2fnuz"},
                 {21, "uint4"},
                 {22, "int4"},
                 {23, "float4e2m1"},
                 {24, "float8e8m0"},
                 {25, "uint2"},
                 {26, "int2"},
                 {27, "float6e2m3"},
                 {28, "float6e3m2"},
                 {29, "of an unknown kind (type 29)"},
                 {-1, "of an unknown kind (type -1)"}};
    for (int type = 1; type < 29; type++)
        if (known[type] != SK_DTYPE_NONE)
            assert_int_equal(sk_onnx_type_of(known[type]), type);
    assert_int_equal(sk_onnx_type_of(SK_DTYPE_NONE), 0);
    for (int type = -1; type <= 29; type++) {
        wire tensor = {.length = 0}, value = {.length = 0}, inner = {.length = 0}, outer = {.length = 0};
        put_int(&tensor, 1, 0);
        put_int(&tensor, 2, type);
        put_bytes(&tensor, 9, "", 0);
        const sk_status status = read_part(5, &tensor, NULL);
        const sk_dtype wanted = type > 0 && type < 29 ? known[type] : SK_DTYPE_NONE;
        assert_int_equal(status, wanted != SK_DTYPE_NONE ? SK_OK : SK_ERR_UNSUPPORTED);
        for (size_t i = 0; i < sizeof named / sizeof *named; i++)
            if (named[i].type == type)
                told(status, SK_ERR_UNSUPPORTED, named[i].name);
        put_int(&inner, 1, type);
        put_bytes(&outer, 1, inner.bytes, inner.length);
        put_text(&value, 1, "v");
        put_bytes(&value, 2, outer.bytes, outer.length);
        assert_ok(read_part(12, &value, NULL), &err);
        assert_true(model->graph.outputs[0].dtype == wanted && model->graph.outputs[0].shape.rank == -1);
    }
}

/* --- data beside the model --- */

static sk_status read_external(const char *const (*pairs)[2], const char *folder)
{
    wire w = {.length = 0};
    put_int(&w, 1, 2);
    put_int(&w, 2, 2);
    put_text(&w, 8, "t");
    for (; (*pairs)[0]; pairs++) {
        wire pair = {.length = 0};
        put_text(&pair, 1, (*pairs)[0]);
        put_text(&pair, 2, (*pairs)[1]);
        put_bytes(&w, 13, pair.bytes, pair.length);
    }
    put_int(&w, 14, 1);
    return read_part(5, &w, folder);
}

static void data_beside_the_model(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[4][2];
        sk_status status;
        const char *says; /* or the bytes */
    } cases[] = {
        {{{"location", "in/data"}, {"offset", "0"}, {"length", "2"}}, SK_OK, "ab"},
        {{{"location", "in/data"}}, SK_OK, "ab"},
        {{{"location", "in/../in/data"}}, SK_ERR_FORMAT, "outside the model's folder; refused"},
        {{{"location", "in/.."}}, SK_ERR_FORMAT, "outside the model's folder; refused"},
        {{{"location", "in\\data"}}, SK_ERR_FORMAT, "outside the model's folder; refused"},
        {{{"location", "..in"}}, SK_ERR_NOT_FOUND, "'t': the external data file '"},
        {{{"location", "in/..data"}, {"offset", "1"}}, SK_OK, "ef"},
        {{{"location", "in/inside"}, {"checksum", "x"}}, SK_OK, "ab"},
        {{{"location", "in/beside"}},
         SK_ERR_FORMAT,
         "outside the model's folder; refused (copy the file there)"},
        {{{"location", "in"}}, SK_ERR_IO, "external data 'in' is not a plain file"},
        {{{"location", "in/data"}, {"offset", "1"}}, SK_OK, "bc"},
        {{{"location", "in/data"}, {"offset", "2"}},
         SK_ERR_FORMAT,
         "tensor 't' needs bytes 2 to 4 of 'in/data', which has 3;"},
        {{{"location", "in/data"}, {"offset", "4"}}, SK_ERR_FORMAT, "needs bytes 4 to 6"},
        {{{"location", "in/data"}, {"offset", ""}}, SK_ERR_FORMAT, "external data has the offset ''"},
        {{{"location", "in/data"}, {"offset", "1x"}}, SK_ERR_FORMAT, "external data has the offset '1x'"},
        {{{"location", "in/data"}, {"offset", "+1"}}, SK_ERR_FORMAT, "external data has the offset '+1'"},
        {{{"location", "in/data"}, {"offset", ":"}}, SK_ERR_FORMAT, "external data has the offset ':'"},
        {{{"location", "in/data"}, {"offset", "9223372036854775807"}}, SK_ERR_FORMAT, "needs bytes"},
        {{{"location", "in/data"}, {"offset", "9223372036854775808"}}, SK_ERR_FORMAT, "has the offset"},
        {{{"location", "in/data"}, {"length", "nine"}}, SK_ERR_FORMAT, "external data has the length 'nine'"},
        {{{"location", "in/data"}, {"length", "3"}}, SK_ERR_FORMAT, "of 3 bytes where its shape needs 2"},
        {{{"length", "2"}}, SK_ERR_FORMAT, "tensor 't': external data without a location"},
        {{{"location", ""}}, SK_ERR_FORMAT, "external data without a location"},
    };
    char folder[3000], path[3200], other[3200];
    snprintf(folder, sizeof folder, "%s/here", test_folder());
    snprintf(path, sizeof path, "%s/in", folder);
    assert_true(mkdir(folder, 0700) == 0 && mkdir(path, 0700) == 0);
    snprintf(other, sizeof other, "%s/here and there", test_folder()); /* begins as the model's folder does */
    assert_int_equal(mkdir(other, 0700), 0);
    static const char *const files[][2] = {
        {"here/in/data", "abc"}, {"here/in/..data", "def"}, {"here and there/x", "xyz"}};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", test_folder(), files[i][0]);
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fputs(files[i][1], f);
        fclose(f);
    }
    snprintf(path, sizeof path, "%s/in/inside", folder);
    assert_int_equal(symlink("data", path), 0);
    snprintf(path, sizeof path, "%s/in/beside", folder);
    assert_int_equal(symlink("../../here and there/x", path), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_status status = read_external(cases[i].pairs, folder);
        if (cases[i].status != SK_OK)
            told(status, cases[i].status, cases[i].says);
        else
            assert_ok(status, &err);
        if (status == SK_OK)
            assert_memory_equal(sk_blob_data(model->graph.initializers[0].blob), cases[i].says, 2);
    }
    told(read_external(cases[0].pairs, NULL), SK_ERR_UNSUPPORTED, "open the model by its path");
}

/* --- attributes, nodes, values --- */

/* Without a type the field that is filled tells it. */
static void attributes_of_old_files(void **state)
{
    (void)state;
    static const struct {
        int field, form; /* form: 0 a number, 2 bytes, 5 four bytes */
        sk_onnx_attr_type type;
    } kinds[] = {{2, 5, SK_ONNX_FLOAT},  {3, 0, SK_ONNX_INT},    {4, 2, SK_ONNX_STRING},
                 {5, 2, SK_ONNX_TENSOR}, {6, 2, SK_ONNX_GRAPH},  {7, 5, SK_ONNX_FLOATS},
                 {8, 0, SK_ONNX_INTS},   {9, 2, SK_ONNX_STRINGS}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int said = 0; said < 3; said++) { /* no type, 0, a wrong one */
            wire attr = {.length = 0}, node = {.length = 0}, tensor = {.length = 0};
            put_int(&tensor, 1, 0);
            put_int(&tensor, 2, 1);
            put_text(&attr, 1, "a");
            if (kinds[k].form == 0) {
                put_int(&attr, kinds[k].field, 7);
            } else if (kinds[k].form == 2) {
                put_bytes(&attr, kinds[k].field, kinds[k].field == 5 ? (const char *)tensor.bytes : "x",
                          kinds[k].field == 5   ? tensor.length
                          : kinds[k].field == 6 ? 0
                                                : 1);
            } else {
                put_varint(&attr, (uint64_t)kinds[k].field << 3 | 5);
                memcpy(attr.bytes + attr.length, &(float){2.5f}, 4);
                attr.length += 4;
            }
            if (said)
                put_int(&attr, 20, said == 1 ? 0 : 11);
            put_text(&node, 4, "Op");
            put_bytes(&node, 5, attr.bytes, attr.length);
            assert_ok(read_part(1, &node, NULL), &err);
            const sk_onnx_attr *a = &model->graph.nodes[0].attrs[0];
            assert_int_equal(a->type, said == 2 ? 11 : (int)kinds[k].type);
            if (said == 2)
                continue;
            switch (kinds[k].field) {
            case 2: assert_true(a->f == 2.5f); break;
            case 3: assert_int_equal(a->i, 7); break;
            case 4: assert_string_equal(a->s, "x"); break;
            case 5: assert_non_null(a->tensor); break;
            case 6: assert_non_null(a->graph); break;
            case 7: assert_true(a->count == 1 && a->floats[0] == 2.5f); break;
            case 8: assert_true(a->count == 1 && a->ints[0] == 7); break;
            default: assert_true(a->count == 1 && strcmp(a->strings[0], "x") == 0); break;
            }
        }
    for (int type = 4; type <= 5; type++) { /* a tensor or graph that is not there */
        wire attr = {.length = 0}, node = {.length = 0};
        put_text(&attr, 1, "a");
        put_int(&attr, 20, type);
        put_text(&node, 4, "Op");
        put_text(&node, 2, "out");
        put_bytes(&node, 5, attr.bytes, attr.length);
        told(read_part(1, &node, NULL), SK_ERR_FORMAT, "m.onnx: node 'out': attribute 'a' is empty");
    }
    wire node = {.length = 0};
    put_text(&node, 3, "called so");
    told(read_part(1, &node, NULL), SK_ERR_FORMAT, "m.onnx: node 0 ('called so') has no operator");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_typed_fields), cmocka_unit_test(raw_data),
        cmocka_unit_test(element_types),           cmocka_unit_test(data_beside_the_model),
        cmocka_unit_test(attributes_of_old_files),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_onnx_close(&model);
    return failed;
}
