/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/file.h"
#include "formats/npy.h"

#include <stdio.h>
#include <string.h>

#define LIMIT ((size_t)1 << 20)

/* The seeds of fuzz/seeds/npy with array contents were written by NumPy. */
static sk_tensor read_seed(const char *name)
{
    char relative[200];
    snprintf(relative, sizeof relative, "fuzz/seeds/npy/%s", name);
    sk_tensor tensor;
    sk_error err = {0};
    assert_ok(sk_npy_read(test_source(relative), LIMIT, &tensor, &err), &err);
    assert_int_equal((uintptr_t)tensor.data % 64, 0);
    return tensor;
}

static void check(const char *name, sk_dtype dtype, const char *shape, const double *values)
{
    sk_tensor tensor = read_seed(name);
    char text[SK_SHAPE_TEXT];
    assert_int_equal(tensor.dtype, dtype);
    assert_string_equal(sk_shape_text(&tensor.shape, text, sizeof text), shape);
    for (int64_t i = 0; i < sk_shape_count(&tensor.shape); i++)
        assert_true(sk_tensor_at(&tensor, i) == values[i]);
    sk_free(tensor.data);
}

static void reads_what_numpy_wrote(void **state)
{
    (void)state;
    double count[24];
    for (int i = 0; i < 24; i++)
        count[i] = i;
    check("f32_2x3.npy", SK_DTYPE_F32, "2x3", (double[]){0, 0.25, 0.5, 0.75, 1, 1.25});
    check("big_i8.npy", SK_DTYPE_I64, "2", (double[]){-5, 1099511627776.0});
    check("fortran_u2.npy", SK_DTYPE_U16, "2x3x4", count);
    check("bool.npy", SK_DTYPE_BOOL, "3", (double[]){1, 0, 1});
    check("version2.npy", SK_DTYPE_I16, "4", count);
    check("version3.npy", SK_DTYPE_I16, "4", count);
    sk_tensor half = read_seed("half_scalar.npy");
    assert_int_equal(half.shape.rank, 0);
    assert_int_equal(half.dtype, SK_DTYPE_F16);
    assert_true(sk_tensor_at(&half, 0) == 1.5);
    sk_free(half.data);
    sk_tensor empty = read_seed("empty.npy");
    assert_int_equal(sk_shape_count(&empty.shape), 0);
    assert_int_equal(empty.shape.dim[1], 4);
    sk_free(empty.data);
}

/* Byte for byte what numpy.save makes of the same array. */
static void writes_as_numpy_does(void **state)
{
    (void)state;
    float values[6] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f};
    sk_tensor tensor = {.dtype = SK_DTYPE_F32, .shape = sk_shape_of(2, 2, 3), .data = values};
    char *path = sk_path_join(test_folder(), "f32.npy"), *ours, *theirs;
    size_t our_bytes, their_bytes;
    sk_error err = {0};
    assert_ok(sk_npy_write(path, &tensor, &err), &err);
    assert_ok(sk_file_read(path, LIMIT, &ours, &our_bytes, &err), &err);
    assert_ok(sk_file_read(test_source("fuzz/seeds/npy/f32_2x3.npy"), LIMIT, &theirs, &their_bytes, &err),
              &err);
    assert_int_equal(our_bytes, their_bytes);
    assert_memory_equal(ours, theirs, our_bytes);
    sk_free(ours);
    sk_free(theirs);
    sk_free(path);
}

static void every_type_comes_back(void **state)
{
    (void)state;
    char *path = sk_path_join(test_folder(), "round.npy");
    sk_error err = {0};
    for (int type = SK_DTYPE_F32; type <= SK_DTYPE_BOOL; type++) {
        for (int rank = 0; rank <= SK_MAX_RANK; rank++) {
            sk_tensor in = {.dtype = (sk_dtype)type, .shape = {.rank = rank}}, out;
            for (int i = 0; i < rank; i++)
                in.shape.dim[i] = i % 3 + 1;
            size_t count = (size_t)sk_shape_count(&in.shape);
            double values[256] = {0};
            uint8_t bytes[256 * 8];
            assert_true(count <= 256);
            for (size_t i = 0; i < count; i++)
                values[i] = (double)(i % 2);
            sk_convert(SK_DTYPE_F64, values, in.dtype, bytes, count);
            in.data = bytes;
            assert_ok(sk_npy_write(path, &in, &err), &err);
            assert_ok(sk_npy_read(path, LIMIT, &out, &err), &err);
            assert_int_equal(out.dtype, type == SK_DTYPE_BF16 ? SK_DTYPE_F32 : in.dtype);
            assert_true(sk_shape_equal(&in.shape, &out.shape));
            for (size_t i = 0; i < count; i++)
                assert_true(sk_tensor_at(&out, (int64_t)i) == values[i]);
            sk_free(out.data);
        }
    }
    sk_free(path);
}

static void refuse(const char *name, sk_status expected, const char *mentions)
{
    char relative[200];
    snprintf(relative, sizeof relative, "fuzz/seeds/npy/%s", name);
    sk_tensor tensor;
    sk_error err = {0};
    assert_int_equal(sk_npy_read(test_source(relative), LIMIT, &tensor, &err), expected);
    assert_null(tensor.data);
    assert_non_null(strstr(err.message, name));
    if (!strstr(err.message, mentions))
        fail_msg("%s does not mention %s", err.message, mentions);
}

static void hostile_and_foreign_files(void **state)
{
    (void)state;
    refuse("objects.npy", SK_ERR_UNSUPPORTED, "Python objects");
    refuse("records.npy", SK_ERR_UNSUPPORTED, "records");
    refuse("text.npy", SK_ERR_UNSUPPORTED, "<U2");
    refuse("huge_shape.npy", SK_ERR_LIMIT, "larger than");
    refuse("negative.npy", SK_ERR_FORMAT, "dimension 0");
    refuse("rank9.npy", SK_ERR_LIMIT, "9 dimensions");
    refuse("long_header.npy", SK_ERR_LIMIT, "header");
    sk_tensor tensor;
    sk_error err = {0};
    assert_int_equal(sk_npy_read(test_missing("x.npy"), LIMIT, &tensor, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_npy_read(test_source("VERSION"), LIMIT, &tensor, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_npy_parse("\x93NUMPY\x09\x00\x00\x00", 10, "x", LIMIT, &tensor, &err),
                     SK_ERR_UNSUPPORTED);
}

/* Every prefix of a good file is an error, none a crash; so is a byte too many, or a limit too small. */
static void truncation(void **state)
{
    (void)state;
    char *bytes;
    size_t count;
    sk_error err = {0};
    sk_tensor tensor;
    assert_ok(sk_file_read(test_source("fuzz/seeds/npy/fortran_u2.npy"), LIMIT, &bytes, &count, &err), &err);
    for (size_t length = 0; length < count; length++) {
        sk_status status = sk_npy_parse(bytes, length, "cut.npy", LIMIT, &tensor, &err);
        assert_true(status == SK_ERR_FORMAT);
        assert_null(tensor.data);
    }
    assert_int_equal(sk_npy_parse(bytes, count + 1, "long.npy", LIMIT, &tensor, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_npy_parse(bytes, count, "big.npy", 47, &tensor, &err), SK_ERR_LIMIT);
    assert_ok(sk_npy_parse(bytes, count, "fits.npy", 48, &tensor, &err), &err);
    sk_free(tensor.data);
    sk_free(bytes);
}

static sk_status write_and_read(void *context, sk_error *err)
{
    uint16_t values[3] = {0x3F80, 0x4000, 0};
    sk_tensor tensor = {.dtype = SK_DTYPE_BF16, .shape = sk_shape_of(1, 3), .data = values}, out = {0};
    SK_TRY(sk_npy_write(context, &tensor, err));
    sk_status status = sk_npy_read(context, LIMIT, &out, err);
    sk_free(out.data);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    char *path = sk_path_join(test_folder(), "memory.npy");
    assert_true(test_every_allocation(write_and_read, path) >= 8);
    sk_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_numpy_wrote),
        cmocka_unit_test(writes_as_numpy_does),
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(hostile_and_foreign_files),
        cmocka_unit_test(truncation),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
