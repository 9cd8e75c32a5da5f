/* SPDX-License-Identifier: Apache-2.0 */
/* What ONNX files are made of, before anything is known of networks: numbers and lengths to the last byte, and how deep they go. */
#include "support/test.h"

#include "formats/onnx.h"

#include <stdio.h>
#include <string.h>

static uint8_t bytes[4096];
static size_t length;
static sk_error err;
static sk_onnx_model *model;

static void put(const char *data, size_t count)
{
    memcpy(bytes + length, data, count);
    length += count;
}
#define PUT(text) put(text, sizeof text - 1)

static sk_status read_now(void)
{
    sk_onnx_close(&model);
    return sk_onnx_read(bytes, length, "m.onnx", NULL, &model, &err);
}

static void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, status == SK_OK ? "read" : err.message, why);
}

/* An empty graph and an operator set: the least that is read. */
static void put_least(void)
{
    PUT("\x3a\0\x42\2\x10\x11");
}

/* Fields that nobody knows, of every kind, are passed over; each cut off is told with the place where it begins. */
static void fields_that_nobody_knows(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t count;
    } fields[] = {
        {"\xf8\x07\x01", 3},                                      /* 127: a number */
        {"\xf8\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}, /* of ten bytes */
        {"\xf9\x07"
         "12345678",
         10}, /* eight bytes */
        {"\xfd\x07"
         "1234",
         6}, /* four */
        {"\xfa\x07\x03"
         "abc",
         6},                             /* a text */
        {"\xfa\x07\x00", 3},             /* an empty one */
        {"\xf8\xff\xff\xff\x0f\x01", 6}, /* the largest number of a field */
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (size_t cut = 0; cut <= fields[i].count; cut++) {
            length = 0;
            put_least();
            put(fields[i].data, cut);
            const sk_status status = read_now();
            if (cut == 0 || cut == fields[i].count)
                assert_ok(status, &err);
            else
                told(status, SK_ERR_FORMAT,
                     "damaged or truncated ONNX file (at byte 6); copy or download it again");
        }
    static const struct {
        const char *data;
        size_t count;
    } wrong[] = {
        {"\xf8\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13}, /* a number of eleven bytes */
        {"\x00\x01", 2},                                              /* field 0 */
        {"\x02\x00", 2},                                              /* field 0, a text */
        {"\xf8\xff\xff\xff\x1f\x01", 6},                              /* a field beyond 29 bits */
        {"\xfb\x07", 2},                                              /* groups, which ended long ago */
        {"\xfc\x07", 2},
        {"\xfe\x07", 2},
        {"\xff\x07", 2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        length = 0;
        put_least();
        put(wrong[i].data, wrong[i].count);
        told(read_now(), SK_ERR_FORMAT, "(at byte 6)");
    }
}

/* A message within another ends where that one does. */
static void messages_in_messages(void **state)
{
    (void)state;
    length = 0;
    PUT("\x42\2\x10\x11\x3a\4\x12\2gg"); /* the graph's name */
    assert_ok(read_now(), &err);
    assert_string_equal(model->graph.name, "gg");
    bytes[7] = 3; /* longer than the graph */
    told(read_now(), SK_ERR_FORMAT, "(at byte 6)");
    bytes[7] = 2;
    bytes[5] = 5; /* the graph longer than the file */
    told(read_now(), SK_ERR_FORMAT, "(at byte 4)");
    length = 0;
    PUT("\x3a\0\x42\0\x42\2\x10\x11\x3a\0"); /* operator sets may be many, graphs not */
    told(read_now(), SK_ERR_FORMAT, "m.onnx: damaged ONNX file: 'graph' occurs twice at byte 8");
    length = 0;
    PUT("\x3a\0\x42\0\x42\2\x10\x11");
    assert_ok(read_now(), &err);
    assert_int_equal(model->n_opsets, 2);
    length = 0;
    PUT("\x3a\0\x08\x08");
    told(read_now(), SK_ERR_FORMAT, "m.onnx: not an ONNX model (no operator set)");
    length = 0;
    PUT("\x42\2\x10\x11");
    told(read_now(), SK_ERR_FORMAT, "m.onnx: not an ONNX model (no graph)");
}

/* A graph in an attribute of a node in a graph …: three levels each time. */
static void how_deep_they_go(void **state)
{
    (void)state;
    for (int deep = 62; deep <= 66; deep++) { /* levels below the model */
        uint8_t inner[1024], outer[1024];
        size_t n = 0;
        for (int level = deep; level >= 1; level--) {
            /* 1: the graph, 2: a node, 3: an attribute, 4: a graph … */
            const uint8_t tag = level == 1 ? 0x3a : level % 3 == 2 ? 0x0a : level % 3 == 0 ? 0x2a : 0x32;
            size_t at = 0;
            outer[at++] = tag;
            if (n > 127)
                outer[at++] = (uint8_t)(n | 0x80);
            outer[at++] = (uint8_t)(n > 127 ? n >> 7 : n);
            memcpy(outer + at, inner, n);
            n += at;
            memcpy(inner, outer, n);
        }
        length = 0;
        PUT("\x42\2\x10\x11");
        put((const char *)inner, n);
        const sk_status status = read_now();
        if (deep <= 64)
            told(status, SK_ERR_FORMAT, "has no operator"); /* it was looked at to its end */
        else
            told(status, SK_ERR_LIMIT, "m.onnx: the ONNX file nests deeper than 64 levels");
    }
}

/* An output may be a weight; an input that is one is none. */
static void weights_at_both_ends(void **state)
{
    (void)state;
    length = 0;
    PUT("\x42\2\x10\x11\x3a\x21"
        "\x2a\x09\x08\1\x10\2\x42\1w\x4a\0" /* w: one byte … */
        "\x5a\3\x0a\1w\x5a\3\x0a\1x\x62\3\x0a\1w\x62\3\x0a\1y");
    bytes[5] = (uint8_t)(length - 6);
    bytes[7] = 9;
    told(read_now(), SK_ERR_FORMAT, "tensor 'w' holds 0 bytes where its shape needs 1");
    bytes[9] = 0; /* … or none */
    assert_ok(read_now(), &err);
    assert_true(model->graph.n_inputs == 1 && model->graph.n_outputs == 2);
    assert_string_equal(model->graph.inputs[0].name, "x");
    assert_string_equal(model->graph.outputs[0].name, "w");
    assert_string_equal(model->graph.outputs[1].name, "y");
}

/* What a file says of an input's shape: numbers, names, nothing; up to eight dimensions. */
static void shapes_of_values(void **state)
{
    (void)state;
    for (int rank = 0; rank <= 9; rank++) {
        char dims[128], type[160];
        size_t n = 0, at = 0;
        for (int i = 0; i < rank; i++) { /* a number, a name, 0, -1 and nothing in turn */
            static const struct {
                const char *bytes;
                size_t count;
            } forms[] = {{"\x08\7", 2},
                         {"\x12\2ab", 4},
                         {"\x08\0", 2},
                         {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11},
                         {"", 0}};
            dims[n++] = 0x0a;
            dims[n++] = (char)forms[i % 5].count;
            memcpy(dims + n, forms[i % 5].bytes, forms[i % 5].count);
            n += forms[i % 5].count;
        }
        const char head[] = {0x0a, 1, 'v', 0x12, (char)(n + 6), 0x0a, (char)(n + 4), 0x08, 1, 0x12, (char)n};
        memcpy(type, head, sizeof head);
        memcpy(type + sizeof head, dims, n);
        at = sizeof head + n;
        length = 0;
        PUT("\x42\2\x10\x11\x3a");
        bytes[length++] = (uint8_t)(at + 2);
        bytes[length++] = 0x5a;
        bytes[length++] = (uint8_t)at;
        put(type, at);
        const sk_status status = read_now();
        if (rank > 8) {
            told(status, SK_ERR_UNSUPPORTED, "m.onnx: 'v' has 9 dimensions; at most 8 are supported");
            continue;
        }
        assert_ok(status, &err);
        const sk_onnx_value *v = &model->graph.inputs[0];
        assert_true(v->dtype == SK_DTYPE_F32 && v->shape.rank == rank);
        for (int i = 0; i < rank; i++) {
            assert_int_equal(v->shape.dim[i], i % 5 == 0 ? 7 : -1);
            assert_string_equal(v->param[i], i % 5 == 1 ? "ab" : "");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_nobody_knows), cmocka_unit_test(messages_in_messages),
        cmocka_unit_test(how_deep_they_go),         cmocka_unit_test(weights_at_both_ends),
        cmocka_unit_test(shapes_of_values),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_onnx_close(&model);
    return failed;
}
