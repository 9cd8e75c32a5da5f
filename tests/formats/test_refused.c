/* SPDX-License-Identifier: Apache-2.0 */
/* Callers' mistakes, each by itself, and the bounds of what is read: the last that passes and the first that does not. */
#include "support/test.h"

#include "base/memory.h"
#include "base/text.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "formats/npy.h"
#include "formats/packing.h"
#include "formats/pickle.h"
#include "formats/python_literal.h"
#include "formats/skq.h"
#include "formats/torch_file.h"
#include "formats/zip.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
#define REFUSED(call) assert_int_equal(call, SK_ERR_ARG)

typedef sk_status (*opener)(const char *, size_t, const char *, sk_config **, sk_error *);
static const opener openers[] = {sk_config_open_json, sk_config_open_yaml, sk_config_open_yaml_alone,
                                 sk_python_literal_open};

static void what_is_missing(void **state)
{
    (void)state;
    sk_config *config = NULL;
    sk_hdf5_file *hdf5 = NULL;
    sk_pickle *pickle = NULL;
    sk_torch_file *torch = NULL;
    sk_zip *zip = NULL;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        REFUSED(openers[i](NULL, 0, "in", &config, &err));
        REFUSED(openers[i]("{}", 2, NULL, &config, &err));
        REFUSED(openers[i]("{}", 2, "in", NULL, &err));
        assert_ok(openers[i]("{}", 2, "in", &config, &err), &err);
        sk_config_close(&config);
        sk_config_close(&config);
    }
    REFUSED(sk_hdf5_open(NULL, &hdf5, &err));
    REFUSED(sk_hdf5_open("x", NULL, &err));
    REFUSED(sk_hdf5_open_memory(NULL, 0, "in", &hdf5, &err));
    REFUSED(sk_hdf5_open_memory("x", 1, NULL, &hdf5, &err));
    REFUSED(sk_hdf5_open_memory("x", 1, "in", NULL, &err));
    REFUSED(sk_pickle_open(NULL, 0, "in", &pickle, &err));
    REFUSED(sk_pickle_open("x", 1, NULL, &pickle, &err));
    REFUSED(sk_pickle_open("x", 1, "in", NULL, &err));
    REFUSED(sk_torch_file_open(NULL, &torch, &err));
    REFUSED(sk_torch_file_open("x", NULL, &err));
    REFUSED(sk_torch_file_open_memory(NULL, 0, "in", &torch, &err));
    REFUSED(sk_torch_file_open_memory("x", 1, NULL, &torch, &err));
    REFUSED(sk_torch_file_open_memory("x", 1, "in", NULL, &err));
    REFUSED(sk_zip_open_memory(NULL, 0, "in", &zip, &err));
    REFUSED(sk_zip_open_memory("x", 1, NULL, &zip, &err));
    REFUSED(sk_zip_open_memory("x", 1, "in", NULL, &err));
}

/* Empty lists in lists: how deep each reader goes, and no deeper. YAML counts the innermost one, too. */
static void depth(void **state)
{
    (void)state;
    enum { MOST = SK_CONFIG_MAX_DEPTH };
    static const int most[] = {MOST + 1, MOST, MOST, MOST + 1};
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        int deepest = 0;
        for (int levels = SK_CONFIG_MAX_DEPTH - 2; levels <= SK_CONFIG_MAX_DEPTH + 3; levels++) {
            char text[300];
            sk_config *config = NULL;
            memset(text, '[', (size_t)levels);
            memset(text + levels, ']', (size_t)levels);
            const sk_status status = openers[i](text, 2 * (size_t)levels, "in", &config, &err);
            assert_true(status == SK_OK || status == SK_ERR_LIMIT);
            deepest = status == SK_OK ? levels : deepest;
            sk_config_close(&config);
        }
        if (deepest != most[i])
            fail_msg("reader %zu goes %d levels deep", i, deepest);
    }
}

/* What is asked of a tree: kinds, conversions, paths. */
static void lookups(void **state)
{
    (void)state;
    static const char text[] =
        "{\"i\": 7, \"n\": -1, \"r\": 2.0, \"h\": 2.5, \"t\": true, \"f\": false, \"s\": \"x\", \"0\": 4, "
        "\"l\": [1, {\"a\": {\"b\": 3}}, null], \"z\": null, \"two\": 2, \"big\": 9007199254740993, "
        "\"huge\": 1e300}";
    sk_config *config = NULL;
    assert_ok(sk_config_open_json(text, sizeof text - 1, "in", &config, &err), &err);
    const sk_config_value *root = sk_config_root(config);
    static const struct {
        const char *path;
        int64_t i;
        double r;
        int b;
        const char *s;
    } want[] = {{"i", 7, 7, 9, "-"},         {"n", -1, -1, 9, "-"},
                {"r", 2, 2, 9, "-"},         {"h", -9, 2.5, 9, "-"},
                {"t", 1, 1, 1, "-"},         {"f", 0, 0, 0, "-"},
                {"s", -9, -9, 9, "x"},       {"0", 4, 4, 9, "-"},
                {"l", -9, -9, 9, "-"},       {"l.0", 1, 1, 1, "-"},
                {"l.1.a.b", 3, 3, 9, "-"},   {"l.2", -9, -9, 9, "-"},
                {"l.3", -9, -9, 9, "-"},     {"z", -9, -9, 9, "-"},
                {"none", -9, -9, 9, "-"},    {"i.x", -9, -9, 9, "-"},
                {"l.x", -9, -9, 9, "-"},     {"two", 2, 2, 9, "-"},
                {"l.1.a", -9, -9, 9, "-"},   {"l.-1", -9, -9, 9, "-"},
                {"huge", -9, 1e300, 9, "-"}, {"big", 9007199254740993, 9007199254740992.0, 9, "-"}};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const sk_config_value *v = sk_config_find(root, want[k].path);
        bool truth = false;
        if (sk_config_int_or(root, want[k].path, -9) != want[k].i)
            fail_msg("%s is the number %lld", want[k].path,
                     (long long)sk_config_int_or(root, want[k].path, -9));
        if (sk_config_real_or(root, want[k].path, -9) != want[k].r)
            fail_msg("%s is %g", want[k].path, sk_config_real_or(root, want[k].path, -9));
        assert_int_equal(sk_config_to_bool(v, &truth) ? truth : 9, want[k].b);
        assert_int_equal(sk_config_bool_or(root, want[k].path, true), want[k].b == 9 ? 1 : want[k].b);
        assert_int_equal(sk_config_bool_or(root, want[k].path, false), want[k].b == 9 ? 0 : want[k].b);
        assert_string_equal(sk_config_text_or(root, want[k].path, "-"), want[k].s);
    }
    assert_int_equal(sk_config_count(root), 13);
    assert_int_equal(sk_config_count(sk_config_get(root, "l")), 3);
    assert_int_equal(sk_config_count(sk_config_get(root, "s")), 0);
    assert_true(sk_config_is_null(NULL) && sk_config_is_null(sk_config_get(root, "z")) &&
                !sk_config_is_null(sk_config_get(root, "f")));
    assert_true(sk_config_is(sk_config_get(root, "l"), SK_CONFIG_LIST) &&
                !sk_config_is(NULL, SK_CONFIG_LIST));
    assert_null(sk_config_at(sk_config_get(root, "l"), 3));
    assert_null(sk_config_at(root, 0));
    assert_null(sk_config_get(sk_config_get(root, "l"), "0"));
    assert_null(sk_config_find(NULL, "a"));
    sk_config_close(&config);
}

static void packings(void **state)
{
    (void)state;
    static const char *const names[] = {"", "lz4", "zstd"};
    uint8_t bytes[2000], again[2001];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i / 7 % 50);
    for (int p = SK_PACKING_NONE; p <= SK_PACKING_ZSTD; p++) {
        sk_packing found = (sk_packing)9;
        assert_string_equal(sk_packing_name((sk_packing)p), names[p]);
        assert_ok(sk_packing_find(names[p], strlen(names[p]), &found, &err), &err);
        assert_int_equal(found, p);
        uint8_t *packed = NULL;
        size_t count = 0;
        const sk_status status = sk_pack((sk_packing)p, bytes, sizeof bytes, &packed, &count, &err);
        if (status == SK_ERR_UNSUPPORTED)
            continue; /* no library here */
        assert_ok(status, &err);
        assert_ok(sk_unpack((sk_packing)p, packed, count, again, sizeof bytes, &err), &err);
        assert_memory_equal(again, bytes, sizeof bytes);
        if (p) {
            assert_true(count < sizeof bytes / 2);
            assert_int_equal(sk_unpack((sk_packing)p, packed, count, again, sizeof bytes - 1, &err),
                             SK_ERR_FORMAT);
            assert_int_equal(sk_unpack((sk_packing)p, packed, count, again, sizeof bytes + 1, &err),
                             SK_ERR_FORMAT);
            assert_int_equal(sk_unpack((sk_packing)p, packed, count - 1, again, sizeof bytes, &err),
                             SK_ERR_FORMAT);
        }
        uint64_t said = 0;
        if (p == SK_PACKING_ZSTD) {
            assert_ok(sk_unpacked_bytes(packed, count, &said, &err), &err);
            assert_int_equal(said, sizeof bytes);
            assert_int_not_equal(sk_unpacked_bytes(packed, 3, &said, &err), SK_OK);
        }
        sk_free(packed);
    }
    sk_packing found;
    assert_int_not_equal(sk_packing_find("bz2", 3, &found, &err), SK_OK);
    assert_int_not_equal(sk_packing_find("lz", 2, &found, &err), SK_OK);
    assert_int_not_equal(sk_packing_find("lz44", 4, &found, &err), SK_OK);
}

/* --- arrays of every type --- */

static void arrays(void **state)
{
    (void)state;
    static const sk_dtype types[] = {SK_DTYPE_F32, SK_DTYPE_F64, SK_DTYPE_F16, SK_DTYPE_U8,  SK_DTYPE_I8,
                                     SK_DTYPE_I16, SK_DTYPE_I32, SK_DTYPE_I64, SK_DTYPE_BOOL};
    static uint8_t bytes[24 * 8];
    char path[4200];
    snprintf(path, sizeof path, "%s/array.npy", test_folder());
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i % 2);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (int rank = 0; rank < 4; rank++) {
            if (k && rank != (int)k % 4)
                continue; /* files cost time */
            const sk_shape shapes[] = {{.rank = 0},
                                       sk_shape_of(1, (int64_t)24),
                                       sk_shape_of(2, (int64_t)4, (int64_t)6),
                                       sk_shape_of(3, (int64_t)2, (int64_t)3, (int64_t)4)};
            sk_tensor t = {types[k], shapes[rank], bytes}, back = {0};
            const size_t length = (rank ? 24 : 1) * sk_dtype_bytes(types[k]);
            assert_ok(sk_npy_write(path, &t, &err), &err);
            assert_ok(sk_npy_read(path, length, &back, &err), &err);
            assert_true(back.dtype == types[k] && sk_shape_equal(&back.shape, &t.shape));
            assert_memory_equal(back.data, bytes, length);
            assert_int_equal((uintptr_t)back.data % 64, 0);
            sk_free(back.data);
            assert_int_not_equal(sk_npy_read(path, length - 1, &back, &err),
                                 SK_OK); /* more than was allowed */
            assert_null(back.data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_missing), cmocka_unit_test(depth),
                                       cmocka_unit_test(lookups), cmocka_unit_test(packings),
                                       cmocka_unit_test(arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
