/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of NumPy of every type, order of bytes and order of axes, headers put together by hand; and what is none. */
#include "support/test.h"

#include "base/memory.h"
#include "formats/npy.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static unsigned char bytes[2 << 20];

static size_t head(int version, const char *text, size_t more)
{
    const size_t length = strlen(text) + more, start = version == 1 ? 10 : 12;
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[7] = 0;
    for (size_t i = 0; i < start - 8; i++)
        bytes[8 + i] = (unsigned char)(length >> (8 * i));
    memcpy(bytes + start, text, strlen(text));
    memset(bytes + start + strlen(text), ' ', more);
    return start + length;
}

static size_t header(const char *descr, bool fortran, const char *shape)
{
    char text[300];
    snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr,
             fortran ? "True" : "False", shape);
    return head(1, text, 0);
}

static void put(size_t at, uint64_t value, int width, bool big)
{
    for (int i = 0; i < width; i++)
        bytes[at + (size_t)(big ? width - 1 - i : i)] = (unsigned char)(value >> (8 * i));
}

static void every_type_and_order(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int width;
        sk_dtype dtype;
    } types[] = {{"i1", 1, SK_DTYPE_I8},  {"u1", 1, SK_DTYPE_U8},  {"b1", 1, SK_DTYPE_BOOL},
                 {"i2", 2, SK_DTYPE_I16}, {"u2", 2, SK_DTYPE_U16}, {"i4", 4, SK_DTYPE_I32},
                 {"u4", 4, SK_DTYPE_U32}, {"i8", 8, SK_DTYPE_I64}, {"u8", 8, SK_DTYPE_U64},
                 {"f2", 2, SK_DTYPE_F16}, {"f4", 4, SK_DTYPE_F32}, {"f8", 8, SK_DTYPE_F64}};
    static const char orders[] = "<>|=";
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int o = 0; o < 5; o++)
            for (int fortran = 0; fortran < 2; fortran++) {
                char descr[16];
                snprintf(descr, sizeof descr, "'%.*s%s'", o < 4, &orders[o < 4 ? o : 0], types[t].name);
                size_t at = header(descr, fortran, "(2, 3, 4)");
                const size_t begin = at;
                for (int i = 0; i < 24; i++, at += (size_t)types[t].width)
                    put(at, 0x0102030405060700u + (uint64_t)i, types[t].width, orders[o < 4 ? o : 0] == '>');
                sk_tensor tensor;
                assert_ok(sk_npy_parse(bytes, at, "in", 1000, &tensor, &err), &err);
                assert_true(tensor.dtype == types[t].dtype && tensor.shape.rank == 3 &&
                            tensor.shape.dim[0] == 2 && tensor.shape.dim[1] == 3 && tensor.shape.dim[2] == 4);
                for (int i = 0; i < 24;
                     i++) { /* a, b, c lies at a + 2 b + 6 c where the first runs fastest */
                    const int from = fortran ? i / 12 + 2 * (i / 4 % 3) + 6 * (i % 4) : i;
                    unsigned char wanted[8];
                    for (int k = 0; k < types[t].width; k++)
                        wanted[k] = (unsigned char)((0x0102030405060700u + (uint64_t)from) >> (8 * k));
                    if (types[t].dtype == SK_DTYPE_BOOL)
                        wanted[0] = wanted[0] != 0;
                    assert_memory_equal((const char *)tensor.data + i * types[t].width, wanted,
                                        (size_t)types[t].width);
                }
                sk_free(tensor.data);
                assert_int_equal(
                    sk_npy_parse(bytes, at, "in", (size_t)(24 * types[t].width) - 1, &tensor, &err),
                    SK_ERR_LIMIT);
                assert_ok(sk_npy_parse(bytes, at, "in", (size_t)(24 * types[t].width), &tensor, &err), &err);
                sk_free(tensor.data);
                assert_int_equal(sk_npy_parse(bytes, at - 1, "in", 1000, &tensor, &err), SK_ERR_FORMAT);
                assert_non_null(strstr(err.message, "the file is truncated"));
                assert_int_equal(sk_npy_parse(bytes, at + 1, "in", 1000, &tensor, &err), SK_ERR_FORMAT);
                assert_non_null(strstr(err.message, "it is no single array"));
                assert_true(begin < at && !tensor.data);
            }
}

static void shapes_of_every_rank(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        int rank;
        size_t count;
    } shapes[] = {{"()", 0, 1},        {"(5,)", 1, 5},          {"(0,)", 1, 0},
                  {"(2, 0, 3)", 3, 0}, {"(1, 2, 3, 4)", 4, 24}, {"(1,1,1,1,1,1,1,2)", 8, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int fortran = 0; fortran < 2; fortran++) {
            const size_t at = header("'|u1'", fortran, shapes[i].shape);
            sk_tensor tensor;
            memset(bytes + at, 7, shapes[i].count);
            assert_ok(sk_npy_parse(bytes, at + shapes[i].count, "in", 100, &tensor, &err), &err);
            assert_int_equal(tensor.shape.rank, shapes[i].rank);
            for (size_t k = 0; k < shapes[i].count; k++)
                assert_int_equal(((unsigned char *)tensor.data)[k], 7);
            sk_free(tensor.data);
        }
}

static void refused(size_t count, sk_status wanted, const char *why)
{
    sk_tensor tensor;
    const sk_status status = sk_npy_parse(bytes, count, "in", 1000, &tensor, &err);
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%s, not '%s'", status == SK_OK ? "read" : err.message, why);
    assert_null(tensor.data);
}

static void what_is_none(void **state)
{
    (void)state;
    size_t at = header("'<f4'", false, "(1,)");
    refused(9, SK_ERR_FORMAT, "in: not a .npy file");
    refused(10, SK_ERR_FORMAT, "in: ends inside the .npy header (0 of");
    refused(at - 1, SK_ERR_FORMAT, "in: ends inside the .npy header (");
    refused(at, SK_ERR_FORMAT,
            "in: 0 bytes follow the header where the array needs 4; the file is truncated");
    bytes[0] = 'x';
    refused(at + 4, SK_ERR_FORMAT, "not a .npy file");
    for (int version = 0; version <= 4; version++) {
        at = head(version, "{'descr': '|u1', 'fortran_order': False, 'shape': ()}", 0);
        bytes[at] = 9;
        if (version == 0 || version == 4) {
            refused(at + 1, SK_ERR_UNSUPPORTED, "versions 1 to 3 can be read");
            continue;
        }
        sk_tensor tensor;
        assert_ok(sk_npy_parse(bytes, at + 1, "in", 1, &tensor, &err), &err);
        assert_int_equal(*(unsigned char *)tensor.data, 9);
        sk_free(tensor.data);
        if (version > 1)
            refused(11, SK_ERR_FORMAT, "in: ends inside the .npy header");
    }
    /* a header may have so many bytes */
    const char *text = "{'descr': '|u1', 'fortran_order': False, 'shape': (0,)}";
    for (int more = 0; more < 2; more++) {
        at = head(2, text, SK_NPY_MAX_HEADER - strlen(text) + (size_t)more);
        sk_tensor tensor;
        const sk_status status = sk_npy_parse(bytes, at, "in", 1, &tensor, &err);
        assert_int_equal(status, more ? SK_ERR_LIMIT : SK_OK);
        sk_free(tensor.data);
    }
    static const struct {
        const char *text, *why;
        sk_status status;
    } heads[] = {
        {"[1]", "the .npy header is no dict with 'fortran_order'", SK_ERR_FORMAT},
        {"{'descr': '<f4', 'shape': ()}", "no dict with 'fortran_order'", SK_ERR_FORMAT},
        {"{'fortran_order': False, 'shape': ()}", "names no element type", SK_ERR_FORMAT},
        {"{'descr': 'f', 'fortran_order': False, 'shape': ()}", "names no element type", SK_ERR_FORMAT},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "an array of records",
         SK_ERR_UNSUPPORTED},
        {"{'descr': '|O', 'fortran_order': False, 'shape': ()}", "an array of Python objects",
         SK_ERR_UNSUPPORTED},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': ()}", "elements of type '<f3'",
         SK_ERR_UNSUPPORTED},
        {"{'descr': '<f4x', 'fortran_order': False, 'shape': ()}", "elements of type '<f4x'",
         SK_ERR_UNSUPPORTED},
        {"{'descr': '<f', 'fortran_order': False, 'shape': ()}", "elements of type '<f'", SK_ERR_UNSUPPORTED},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': ()}", "elements of type '<c8'",
         SK_ERR_UNSUPPORTED},
        {"{'descr': '<f4', 'fortran_order': False}", "has no 'shape'", SK_ERR_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "has no 'shape'", SK_ERR_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}",
         "dimension 1 of 'shape' is not a count", SK_ERR_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}", "dimension 0 of 'shape'",
         SK_ERR_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "9 dimensions; at most 8",
         SK_ERR_LIMIT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}",
         "is larger than the 1000 bytes allowed", SK_ERR_LIMIT},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        refused(head(1, heads[i].text, 0) + 4, heads[i].status, heads[i].why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_order),
        cmocka_unit_test(shapes_of_every_rank),
        cmocka_unit_test(what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
