/* SPDX-License-Identifier: Apache-2.0 */
/* What libhdf5 writes, in every form that our reader knows: numbers of every type and order of bytes, every layout and filter, large
 * groups, texts, tables. */
#include "support/test.h"

#include "base/memory.h"
#include "formats/hdf5_file.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;
static char path[4300];

typedef struct way { /* of laying a file out */
    bool newest;
    hsize_t before; /* bytes of somebody else's at the beginning */
    bool heap;      /* of the newest: many links lie in a heap, not in the header */
} way;
static const way ways[] = {
    {false, 0, false}, {false, 512, false}, {false, 2048, false}, {true, 0, false}, {true, 1024, false}};
enum { WAYS = sizeof ways / sizeof *ways };

static hid_t create(const way *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), made = H5Pcreate(H5P_FILE_CREATE);
    snprintf(path, sizeof path, "%s/written.h5", test_folder());
    assert_true(H5Pset_libver_bounds(access, w->newest ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST,
                                     H5F_LIBVER_LATEST) >= 0);
    assert_true(H5Pset_userblock(made, w->before) >= 0);
    if (!w->heap)
        assert_true(H5Pset_link_phase_change(made, 2000, 2) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, made, access);
    assert_true(file >= 0);
    H5Pclose(made);
    H5Pclose(access);
    return file;
}

static sk_hdf5_file *reopen(hid_t file)
{
    sk_hdf5_file *out = NULL;
    assert_true(H5Fclose(file) >= 0);
    assert_ok(sk_hdf5_open(path, &out, &err), &err);
    return out;
}

static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims, hid_t plist,
                hid_t memory, const void *values)
{
    const hsize_t any[4] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
    const bool chunked = plist != H5P_DEFAULT && H5Pget_layout(plist) == H5D_CHUNKED;
    hid_t space = rank ? H5Screate_simple(rank, dims, chunked ? any : NULL) : H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(dataset >= 0);
    if (values)
        assert_true(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

static void expect(sk_hdf5_file *file, const char *name, const double *values, size_t n)
{
    sk_blob *blob = NULL;
    sk_shape shape;
    assert_ok(sk_hdf5_dataset_read(file, name, SK_DTYPE_F64, 1 << 24, &blob, &shape, &err), &err);
    assert_int_equal(sk_blob_bytes(blob), n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        const double got = ((const double *)sk_blob_data(blob))[i];
        if (got != values[i] && !(isnan(got) && isnan(values[i])))
            fail_msg("%s: %zu is %g, not %g", name, i, got, values[i]);
    }
    sk_blob_unref(&blob);
}

/* --- numbers --- */

static void numbers_of_every_type(void **state)
{
    (void)state;
    const struct {
        hid_t type;
        sk_dtype dtype;
        double values[4];
    } types[] = {
        {H5T_STD_I8LE, SK_DTYPE_I8, {0, 1, -128, 127}},
        {H5T_STD_U8LE, SK_DTYPE_U8, {0, 1, 128, 255}},
        {H5T_STD_I16LE, SK_DTYPE_I16, {0, 258, -32768, 32767}},
        {H5T_STD_I16BE, SK_DTYPE_I16, {0, 258, -32768, 32767}},
        {H5T_STD_U16BE, SK_DTYPE_U16, {0, 258, 32768, 65535}},
        {H5T_STD_I32LE, SK_DTYPE_I32, {0, 16909060, -2147483648.0, 2147483647}},
        {H5T_STD_I32BE, SK_DTYPE_I32, {0, 16909060, -2147483648.0, 2147483647}},
        {H5T_STD_U32BE, SK_DTYPE_U32, {0, 16909060, 2147483648.0, 4294967295.0}},
        {H5T_STD_I64LE, SK_DTYPE_I64, {0, 72623859790382856.0, -9007199254740992.0, 1}},
        {H5T_STD_U64BE, SK_DTYPE_U64, {0, 72623859790382856.0, 9007199254740992.0, 1}},
        {H5T_IEEE_F32LE, SK_DTYPE_F32, {0, 0.5, -1e10f, INFINITY}},
        {H5T_IEEE_F32BE, SK_DTYPE_F32, {0, 0.5, -1e10f, NAN}},
        {H5T_IEEE_F64LE, SK_DTYPE_F64, {0, 0.1, -1e300, INFINITY}},
        {H5T_IEEE_F64BE, SK_DTYPE_F64, {0, 0.1, -1e300, NAN}},
    };
    for (int w = 0; w < WAYS; w++) {
        hid_t file = create(&ways[w]);
        const hsize_t four = 4;
        char name[16];
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            snprintf(name, sizeof name, "n%zu", i);
            put(file, name, types[i].type, 1, &four, H5P_DEFAULT, H5T_NATIVE_DOUBLE, types[i].values);
        }
        hid_t half = H5Tcopy(H5T_IEEE_F32LE), odd = H5Tcopy(H5T_IEEE_F64LE);
        H5Tset_fields(half, 15, 10, 5, 0, 10);
        H5Tset_size(half, 2);
        H5Tset_ebias(half, 15);
        const double halves[4] = {0, 0.5, -3.25, 65504};
        put(file, "half", half, 1, &four, H5P_DEFAULT, H5T_NATIVE_DOUBLE, halves);
        H5Tset_fields(odd, 63, 51, 12, 0, 51); /* nobody's */
        put(file, "odd", odd, 1, &four, H5P_DEFAULT, H5T_NATIVE_DOUBLE, halves);
        H5Tclose(half);
        H5Tclose(odd);
        sk_hdf5_file *read = reopen(file);
        sk_dtype dtype;
        sk_shape shape;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            snprintf(name, sizeof name, "n%zu", i);
            assert_ok(sk_hdf5_dataset_info(read, name, &dtype, &shape, &err), &err);
            assert_true(dtype == types[i].dtype && shape.rank == 1 && shape.dim[0] == 4);
            expect(read, name, types[i].values, 4);
        }
        expect(read, "/half", halves, 4);
        assert_ok(sk_hdf5_dataset_info(read, "odd", &dtype, &shape, &err), &err);
        assert_int_equal(dtype, SK_DTYPE_NONE);
        sk_hdf5_close(&read);
    }
}

/* --- layouts --- */

static void shapes_and_layouts(void **state)
{
    (void)state;
    static const struct {
        int rank;
        hsize_t dims[4], chunk[4];
    } shapes[] = {{0, {0}, {0}},
                  {1, {1}, {1}},
                  {1, {7}, {3}},
                  {1, {8}, {8}},
                  {1, {5}, {9}},
                  {2, {3, 4}, {2, 3}},
                  {2, {6, 5}, {3, 5}},
                  {3, {2, 3, 5}, {1, 2, 4}},
                  {3, {4, 1, 6}, {4, 1, 1}},
                  {4, {2, 3, 2, 3}, {2, 2, 1, 2}},
                  {2, {0, 4}, {1, 4}},
                  {2, {70, 3}, {1, 1}}};
    static double values[1024];
    for (int i = 0; i < 1024; i++)
        values[i] = 3 * i + 1;
    for (int w = 0; w < WAYS; w++) {
        hid_t file = create(&ways[w]);
        char name[32];
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int form = 0; form < 18;
                 form++) { /* compact, whole, chunked and packed in eight ways; 32 and 16 bits */
                hid_t plist = H5Pcreate(H5P_DATASET_CREATE), type = form % 2 ? H5T_STD_I16LE : H5T_IEEE_F32BE;
                const int packed = form / 2 - 2;
                if (form < 2)
                    H5Pset_layout(plist, H5D_COMPACT);
                if (packed >= 0) {
                    if (!shapes[s].rank || (ways[w].newest && form % 2)) {
                        H5Pclose(plist);
                        continue;
                    }
                    H5Pset_chunk(plist, shapes[s].rank, shapes[s].chunk);
                    if (packed & 1)
                        H5Pset_shuffle(plist);
                    if (packed & 2)
                        H5Pset_deflate(plist, 6);
                    if (packed & 4)
                        H5Pset_fletcher32(plist);
                }
                snprintf(name, sizeof name, "s%zu-%d", s, form);
                put(file, name, type, shapes[s].rank, shapes[s].dims, plist, H5T_NATIVE_DOUBLE, values);
                H5Pclose(plist);
            }
        sk_hdf5_file *read = NULL;
        assert_true(H5Fclose(file) >= 0);
        assert_ok(sk_hdf5_open(path, &read, &err), &err);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int form = 0; form < 18; form++) {
                size_t n = 1;
                for (int i = 0; i < shapes[s].rank; i++)
                    n *= shapes[s].dims[i];
                snprintf(name, sizeof name, "s%zu-%d", s, form);
                if (!sk_hdf5_exists(read, name)) {
                    assert_true(form >= 4 && (!shapes[s].rank || ways[w].newest));
                    continue;
                }
                if (form >= 4 && ways[w].newest) { /* chunks are listed otherwise there */
                    sk_blob *blob = NULL;
                    assert_int_equal(
                        sk_hdf5_dataset_read(read, name, SK_DTYPE_F64, 1 << 20, &blob, NULL, &err),
                        SK_ERR_UNSUPPORTED);
                    assert_non_null(strstr(err.message, "h5repack"));
                    continue;
                }
                expect(read, name, values, n);
            }
        sk_hdf5_close(&read);
    }
}

/* Filled where nobody wrote: whole datasets and single chunks. */
static void fill_values(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++)
        for (int given = 0; given < 2; given++)
            for (int chunked = 0; chunked < 2; chunked++) {
                hid_t file = create(&ways[w]), plist = H5Pcreate(H5P_DATASET_CREATE);
                const hsize_t dims[2] = {5, 4}, chunk[2] = {2, 3}, begin[2] = {2, 0}, part[2] = {2, 3};
                const double fill = 2.5, own[6] = {1, 2, 3, 4, 5, 6};
                double wanted[20];
                if (given)
                    H5Pset_fill_value(plist, H5T_NATIVE_DOUBLE, &fill);
                if (chunked)
                    H5Pset_chunk(plist, 2, chunk);
                put(file, "none", H5T_IEEE_F32LE, 2, dims, plist, 0, NULL);
                put(file, "some", H5T_IEEE_F32LE, 2, dims, plist, 0, NULL);
                hid_t dataset = H5Dopen2(file, "some", H5P_DEFAULT), space = H5Dget_space(dataset),
                      memory = H5Screate_simple(2, part, NULL);
                H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, part, NULL);
                assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, own) >= 0);
                H5Sclose(memory);
                H5Sclose(space);
                H5Dclose(dataset);
                H5Pclose(plist);
                sk_hdf5_file *read = reopen(file);
                for (int i = 0; i < 20; i++)
                    wanted[i] = given ? fill : 0;
                expect(read, "none", wanted, 20);
                for (int i = 0; i < 6; i++)
                    wanted[(2 + i / 3) * 4 + i % 3] = own[i];
                expect(read, "some", wanted, 20);
                sk_hdf5_close(&read);
            }
}

/* --- groups --- */

static void large_groups(void **state)
{
    (void)state;
    enum { MANY = 700 };
    for (int w = 0; w < WAYS; w++) {
        hid_t file = create(&ways[w]);
        const int many = ways[w].newest ? 200 : MANY; /* whose header goes on elsewhere many times */
        char name[40];
        for (int i = 0; i < many; i++) {
            snprintf(name, sizeof name, "member %d", i * 7919 % 100003);
            hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            if (i % 50 == 0) {
                const double value = i;
                put(group, "inner", H5T_NATIVE_DOUBLE, 0, NULL, H5P_DEFAULT, H5T_NATIVE_DOUBLE, &value);
            }
            H5Gclose(group);
        }
        H5Lcreate_soft("/member 0", file, "a link", H5P_DEFAULT, H5P_DEFAULT);
        sk_hdf5_file *read = reopen(file);
        for (int i = 0; i < many; i++) {
            snprintf(name, sizeof name, "/member %d", i * 7919 % 100003);
            assert_true(sk_hdf5_exists(read, name));
            strcat(name, "/inner");
            assert_int_equal(sk_hdf5_exists(read, name), i % 50 == 0);
            if (i % 50 == 0)
                expect(read, name, &(double){i}, 1);
        }
        assert_false(sk_hdf5_exists(read, "a link"));
        assert_false(sk_hdf5_exists(read, "member") || sk_hdf5_exists(read, "member 0/") == false);
        sk_hdf5_texts names = {0};
        assert_ok(sk_hdf5_members(read, "/", &names, &err), &err);
        assert_int_equal(names.count, many);
        for (size_t i = 1; i < names.count && !ways[w].newest; i++)
            assert_true(strcmp(sk_hdf5_text_at(&names, i - 1), sk_hdf5_text_at(&names, i)) < 0);
        assert_null(sk_hdf5_text_at(&names, names.count));
        sk_free(names.bytes);
        sk_hdf5_close(&read);
    }
    /* a heap of links is told, not passed over */
    hid_t file = create(&(way){.newest = true, .heap = true});
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "m%d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    sk_hdf5_file *read = reopen(file);
    sk_hdf5_texts names = {0};
    assert_int_equal(sk_hdf5_members(read, "", &names, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "fractal heap"));
    assert_true(names.count == 0 && !names.bytes);
    sk_hdf5_close(&read);
}

/* Groups in groups, as deep as a path may go. */
static void long_paths(void **state)
{
    (void)state;
    hid_t file = create(&ways[0]);
    char deep[300] = "";
    for (int i = 0; i < 66; i++) {
        strcat(deep, "/g");
        H5Gclose(H5Gcreate2(file, deep, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    sk_hdf5_file *read = reopen(file);
    sk_hdf5_texts names = {0};
    for (int n = 63; n <= 65; n++) {
        deep[2 * n] = '\0';
        strcpy(deep, "");
        for (int i = 0; i < n; i++)
            strcat(deep, "/g");
        const sk_status status = sk_hdf5_members(read, deep, &names, &err);
        assert_int_equal(status, n <= 64 ? SK_OK : SK_ERR_LIMIT);
        sk_free(names.bytes);
        names = (sk_hdf5_texts){0};
    }
    sk_hdf5_close(&read);
}

/* --- attributes and texts --- */

static void add_attribute(hid_t object, const char *name, hid_t type, const hsize_t *count, const void *value)
{
    hid_t space = count ? H5Screate_simple(1, count, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, type, value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void attributes_and_texts(void **state)
{
    (void)state;
    static const char *const words[] = {"one", "", "three and more than sixteen bytes", "four"};
    for (int w = 0; w < WAYS; w++) {
        hid_t file = create(&ways[w]), fixed = H5Tcopy(H5T_C_S1), variable = H5Tcopy(H5T_C_S1);
        const hsize_t four = 4;
        const double real = 2.5;
        const int64_t whole = -7;
        H5Tset_size(fixed, 40);
        H5Tset_size(variable, H5T_VARIABLE);
        char padded[4][40] = {{0}};
        for (int i = 0; i < 4; i++)
            snprintf(padded[i], sizeof padded[i], "%s", words[i]);
        hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        add_attribute(group, "fixed", fixed, NULL, padded[2]);
        add_attribute(group, "variable", variable, NULL, &words[2]);
        add_attribute(group, "many fixed", fixed, &four, padded);
        add_attribute(group, "many variable", variable, &four, words);
        add_attribute(group, "real", H5T_NATIVE_DOUBLE, NULL, &real);
        add_attribute(group, "whole", H5T_STD_I64BE, NULL, &whole);
        if (!ways[w].newest) /* so many that the header goes on elsewhere, several times */
            for (int i = 0; i < 60; i++) {
                char name[40];
                snprintf(name, sizeof name, "an attribute called %d", i);
                const double value = i;
                add_attribute(group, name, H5T_NATIVE_DOUBLE, NULL, &value);
            }
        put(file, "texts", variable, 1, &four, H5P_DEFAULT, variable, words);
        put(file, "padded", fixed, 1, &four, H5P_DEFAULT, fixed, padded);
        H5Gclose(group);
        H5Tclose(fixed);
        H5Tclose(variable);
        sk_hdf5_file *read = reopen(file);
        char *text = NULL;
        for (int i = 0; i < 2; i++) {
            sk_hdf5_texts all = {0}, list = {0};
            assert_ok(sk_hdf5_attribute_text(read, "g", i ? "variable" : "fixed", &text, &err), &err);
            assert_string_equal(text, words[2]);
            sk_free(text);
            assert_ok(sk_hdf5_attribute_texts(read, "g", i ? "many variable" : "many fixed", &all, &err),
                      &err);
            assert_ok(sk_hdf5_dataset_texts(read, i ? "texts" : "padded", &list, &err), &err);
            assert_true(all.count == 4 && list.count == 4);
            for (size_t k = 0; k < 4; k++) {
                assert_string_equal(sk_hdf5_text_at(&all, k), words[k]);
                assert_string_equal(sk_hdf5_text_at(&list, k), words[k]);
            }
            sk_free(all.bytes);
            sk_free(list.bytes);
        }
        double got = 0;
        assert_ok(sk_hdf5_attribute_real(read, "g", "real", &got, &err), &err);
        assert_true(got == 2.5);
        for (int i = 0; i < 60 && !ways[w].newest; i++) {
            char name[40];
            snprintf(name, sizeof name, "an attribute called %d", i);
            assert_ok(sk_hdf5_attribute_real(read, "/g", name, &got, &err), &err);
            assert_true(got == i && sk_hdf5_has_attribute(read, "g", name));
        }
        assert_false(sk_hdf5_has_attribute(read, "g", "an attribute called 60") ||
                     sk_hdf5_has_attribute(read, "g", "rea") || sk_hdf5_has_attribute(read, "x", "real") ||
                     sk_hdf5_has_attribute(read, "", "real"));
        assert_int_equal(sk_hdf5_attribute_real(read, "g", "none", &got, &err), SK_ERR_NOT_FOUND);
        assert_int_not_equal(sk_hdf5_attribute_text(read, "g", "real", &text, &err), SK_OK);
        assert_int_not_equal(sk_hdf5_attribute_real(read, "g", "fixed", &got, &err), SK_OK);
        sk_hdf5_close(&read);
    }
}

/* --- tables --- */

static void columns_of_tables(void **state)
{
    (void)state;
    typedef struct row {
        double real;
        int8_t truth;
        uint16_t whole;
        char text[6];
        float last;
    } row;
    static row rows[300];
    for (int i = 0; i < 300; i++)
        rows[i] = (row){0.5 * i, (int8_t)(i % 3 == 0), (uint16_t)(200 * i), "text", (float)-i};
    for (int w = 0; w < WAYS; w++)
        for (int chunked = 0; chunked < 2; chunked++) {
            hid_t file = create(&ways[w]), truth = H5Tenum_create(H5T_NATIVE_INT8), text = H5Tcopy(H5T_C_S1);
            int8_t value = 0;
            H5Tenum_insert(truth, "FALSE", &value);
            value = 1;
            H5Tenum_insert(truth, "a rather long name of it", &value);
            H5Tset_size(text, 6);
            hid_t table = H5Tcreate(H5T_COMPOUND, sizeof(row));
            H5Tinsert(table, "real", HOFFSET(row, real), H5T_IEEE_F64LE);
            H5Tinsert(table, "truth", HOFFSET(row, truth), truth);
            H5Tinsert(table, "whole", HOFFSET(row, whole), H5T_STD_U16LE);
            H5Tinsert(table, "text", HOFFSET(row, text), text);
            H5Tinsert(table, "the last one", HOFFSET(row, last), H5T_IEEE_F32LE);
            hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
            const hsize_t dims = 300, chunk = 128;
            if (chunked && !ways[w].newest)
                H5Pset_chunk(plist, 1, &chunk);
            put(file, "table", table, 1, &dims, plist, table, rows);
            H5Pclose(plist);
            H5Tclose(table);
            H5Tclose(text);
            H5Tclose(truth);
            sk_hdf5_file *read = reopen(file);
            static const char *const columns[] = {"real", "truth", "whole", "the last one"};
            for (int c = 0; c < 4; c++) {
                sk_blob *blob = NULL;
                size_t count = 0;
                assert_ok(sk_hdf5_dataset_column(read, "table", columns[c], SK_DTYPE_F64, 1 << 20, &blob,
                                                 &count, &err),
                          &err);
                assert_int_equal(count, 300);
                for (int i = 0; i < 300; i++) {
                    const double wanted = c == 0   ? 0.5 * i
                                          : c == 1 ? i % 3 == 0
                                          : c == 2 ? (uint16_t)(200 * i)
                                                   : -i;
                    assert_true(((const double *)sk_blob_data(blob))[i] == wanted);
                }
                sk_blob_unref(&blob);
            }
            sk_blob *blob = NULL;
            size_t count = 0;
            assert_int_not_equal(
                sk_hdf5_dataset_column(read, "table", "rea", SK_DTYPE_F64, 1 << 20, &blob, &count, &err),
                SK_OK);
            assert_int_not_equal(
                sk_hdf5_dataset_column(read, "table", "text", SK_DTYPE_F64, 1 << 20, &blob, &count, &err),
                SK_OK);
            sk_dtype dtype;
            sk_shape shape;
            assert_ok(sk_hdf5_dataset_info(read, "table", &dtype, &shape, &err), &err);
            assert_true(dtype == SK_DTYPE_NONE && shape.rank == 1 && shape.dim[0] == 300);
            sk_hdf5_close(&read);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_type),
        cmocka_unit_test(shapes_and_layouts),
        cmocka_unit_test(fill_values),
        cmocka_unit_test(large_groups),
        cmocka_unit_test(long_paths),
        cmocka_unit_test(attributes_and_texts),
        cmocka_unit_test(columns_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
