/* SPDX-License-Identifier: Apache-2.0 */
#include "support/h5_writer.h"
#include "support/test.h"

#include "formats/hdf5_file.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[4200];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static const float numbers[6] = {1.5f, -2, 3, 4, 5, 6.25f};
static const int64_t dims_2x3[2] = {2, 3};

static void write_sample(const char *file)
{
    h5_writer w = h5_create(file);
    static char large[50001];
    memset(large, 'x', sizeof large - 1);
    large[0] = '{';
    h5_attr_text(&w, "/", "fixed", "hello", 0);
    h5_attr_text(&w, "/", "variable", "hé", 1);
    h5_attr_text(&w, "/", "large", large, 1);
    h5_attr_text(&w, "/", "large_fixed", large, 0);
    h5_attr_f64(&w, "/", "format_id", 1.25);
    h5_put_f32(&w, "g/h/kernel:0", numbers, 2, dims_2x3);
    h5_put_f32_gzip(&w, "g/packed", numbers, 2, dims_2x3);
    const int64_t big_endian[2] = {7, -9};
    const int64_t two = 2;
    h5_put_i64(&w, "g/ints", big_endian, 1, &two);
    const int64_t enormous[2] = {1 << 30, 1 << 20};
    h5_put_hollow(&w, "g/hollow", 2, enormous);
    const char *names[] = {"g/h/kernel:0", "b"};
    h5_attr_texts(&w, "g", "weight_names", names, 2, 0);
    h5_attr_texts(&w, "g", "more", names, 2, 1);
    h5_put_external(&w, "outside", "/etc/passwd", 64);
    h5_put_external_link(&w, "elsewhere", "other.h5");
    h5_finish(&w);
}

/* Reads the whole file into memory the caller frees. */
static char *slurp(const char *file, size_t *length)
{
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *length = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*length);
    assert_int_equal(fread(bytes, 1, *length, f), *length);
    fclose(f);
    return bytes;
}

static void check_sample(sk_hdf5_file *file)
{
    sk_error err = {0};
    char *text;
    assert_ok(sk_hdf5_attribute_text(file, "", "fixed", &text, &err), &err);
    assert_string_equal(text, "hello");
    sk_free(text);
    assert_ok(sk_hdf5_attribute_text(file, "/", "variable", &text, &err), &err);
    assert_string_equal(text, "hé");
    sk_free(text);
    const char *large[] = {"large", "large_fixed"};
    for (int i = 0; i < 2; i++) {
        assert_ok(sk_hdf5_attribute_text(file, "", large[i], &text, &err), &err);
        assert_int_equal(strlen(text), 50000);
        sk_free(text);
    }
    double real;
    assert_ok(sk_hdf5_attribute_real(file, "", "format_id", &real, &err), &err);
    assert_true(real == 1.25);
    const char *lists[] = {"weight_names", "more"};
    for (int i = 0; i < 2; i++) {
        sk_hdf5_texts texts;
        assert_ok(sk_hdf5_attribute_texts(file, "g", lists[i], &texts, &err), &err);
        assert_int_equal(texts.count, 2);
        assert_string_equal(sk_hdf5_text_at(&texts, 0), "g/h/kernel:0");
        assert_string_equal(sk_hdf5_text_at(&texts, 1), "b");
        assert_null(sk_hdf5_text_at(&texts, 2));
        sk_free(texts.bytes);
    }
    const char *datasets[] = {"g/h/kernel:0", "/g/packed"};
    for (int i = 0; i < 2; i++) {
        sk_blob *blob;
        sk_shape shape;
        assert_ok(sk_hdf5_dataset_read(file, datasets[i], SK_DTYPE_F32, 24, &blob, &shape, &err), &err);
        assert_int_equal(shape.rank, 2);
        assert_int_equal(shape.dim[1], 3);
        assert_memory_equal(sk_blob_data(blob), numbers, sizeof numbers);
        sk_blob_unref(&blob);
    }
    sk_blob *ints;
    assert_ok(sk_hdf5_dataset_read(file, "g/ints", SK_DTYPE_I32, 8, &ints, NULL, &err), &err);
    assert_int_equal(((int32_t *)sk_blob_data(ints))[1], -9);
    sk_blob_unref(&ints);
    assert_true(sk_hdf5_exists(file, "g/h") && sk_hdf5_exists(file, "") &&
                !sk_hdf5_exists(file, "g/nothing/x"));
    assert_true(sk_hdf5_has_attribute(file, "g", "more") && !sk_hdf5_has_attribute(file, "g", "less"));
}

static void reads_from_path_and_memory(void **state)
{
    (void)state;
    write_sample(in_folder("sample.h5"));
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    int64_t before = sk_memory_live_bytes();
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    check_sample(file);
    sk_hdf5_close(&file);
    size_t length;
    char *bytes = slurp(path, &length);
    assert_ok(sk_hdf5_open_memory(bytes, length, "sample", &file, &err), &err);
    check_sample(file);
    sk_hdf5_close(&file);
    assert_null(file);
    free(bytes);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void refuses_with_the_reason(void **state)
{
    (void)state;
    write_sample(in_folder("sample.h5"));
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    sk_blob *blob;
    char *text;
    sk_hdf5_texts texts;
    double real;
    assert_int_equal(sk_hdf5_dataset_read(file, "g/hollow", SK_DTYPE_F32, 1 << 20, &blob, NULL, &err),
                     SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "g/hollow"));
    assert_int_equal(sk_hdf5_dataset_read(file, "outside", SK_DTYPE_U8, 1 << 20, &blob, NULL, &err),
                     SK_ERR_UNSUPPORTED);
    assert_int_equal(sk_hdf5_dataset_read(file, "elsewhere/x", SK_DTYPE_U8, 64, &blob, NULL, &err),
                     SK_ERR_NOT_FOUND);
    assert_int_equal(sk_hdf5_dataset_read(file, "g", SK_DTYPE_F32, 64, &blob, NULL, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_hdf5_dataset_read(file, "nothing", SK_DTYPE_F32, 64, &blob, NULL, &err),
                     SK_ERR_NOT_FOUND);
    assert_null(blob);
    assert_int_equal(sk_hdf5_attribute_text(file, "g", "nothing", &text, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_hdf5_attribute_text(file, "g", "more", &text, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_hdf5_attribute_text(file, "", "format_id", &text, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_hdf5_attribute_real(file, "", "fixed", &real, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_hdf5_members(file, "g/ints", &texts, &err), SK_ERR_NOT_FOUND);
    assert_ok(sk_hdf5_members(file, "g", &texts, &err), &err);
    assert_int_equal(texts.count, 4);
    assert_string_equal(sk_hdf5_text_at(&texts, 0), "h");
    sk_free(texts.bytes);
    sk_dtype dtype;
    sk_shape shape;
    assert_ok(sk_hdf5_dataset_info(file, "g/hollow", &dtype, &shape, &err), &err);
    assert_int_equal(dtype, SK_DTYPE_F32);
    assert_int_equal(shape.dim[0], 1 << 30);
    sk_hdf5_close(&file);
    assert_int_equal(sk_hdf5_open(in_folder("absent.h5"), &file, &err), SK_ERR_NOT_FOUND);
}

/* Every cut of a file must end in an error or in readable content, never in a crash. */
static void truncated_files_are_refused(void **state)
{
    (void)state;
    write_sample(in_folder("sample.h5"));
    size_t length;
    char *bytes = slurp(path, &length);
    int refused = 0;
    for (size_t cut = 0; cut < length; cut += cut < 4096 ? 61 : 1511) {
        sk_error err = {0};
        sk_hdf5_file *file = NULL;
        if (sk_hdf5_open_memory(bytes, cut, "cut.h5", &file, &err) != SK_OK) {
            assert_null(file);
            assert_non_null(strstr(err.message, "cut.h5"));
            refused++;
        }
        sk_hdf5_close(&file);
    }
    assert_true(refused > 40);
    free(bytes);
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    assert_int_equal(sk_hdf5_open_memory("<html>not hdf5</html>", 21, "page.h5", &file, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "page.h5"));
}

static void *read_often(void *failures)
{
    for (int i = 0; i < 20; i++) {
        sk_hdf5_file *file = NULL;
        sk_blob *blob = NULL;
        if (sk_hdf5_open(path, &file, NULL) != SK_OK ||
            sk_hdf5_dataset_read(file, "g/packed", SK_DTYPE_F32, 24, &blob, NULL, NULL) != SK_OK ||
            memcmp(sk_blob_data(blob), numbers, sizeof numbers) != 0)
            ++*(int *)failures;
        sk_blob_unref(&blob);
        sk_hdf5_close(&file);
    }
    return NULL;
}

/* Chunks that do not divide the data, shuffled, with a checksum; every reading order matters. */
static void chunks_are_put_together(void **state)
{
    (void)state;
    static float many[7 * 5 * 6];
    const int64_t dims[] = {7, 5, 6}, chunk[] = {3, 2, 4};
    for (int i = 0; i < 7 * 5 * 6; i++)
        many[i] = (float)i * 0.5f;
    h5_writer w = h5_create(in_folder("chunks.h5"));
    h5_put_f32_chunked(&w, "a", many, 3, dims, chunk);
    h5_finish(&w);
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    sk_blob *blob;
    sk_shape shape;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "a", SK_DTYPE_F32, sizeof many, &blob, &shape, &err), &err);
    assert_true(shape.rank == 3 && shape.dim[2] == 6);
    assert_memory_equal(sk_blob_data(blob), many, sizeof many);
    sk_blob_unref(&blob);
    sk_hdf5_close(&file);
}

/* What was never written is the dataset's fill value, whether some chunks are there or none. */
static void elements_never_written_are_the_fill_value(void **state)
{
    (void)state;
    const float row[] = {1, 2, 3};
    h5_writer w = h5_create(in_folder("filled.h5"));
    h5_put_f32_filled(&w, "some", row, -7.5f, 4, 3);
    h5_put_f32_filled(&w, "none", NULL, NAN, 2, 3);
    h5_put_f32_filled(&w, "zeros", row, 0, 2, 3);
    h5_finish(&w);
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    sk_blob *some = NULL, *none = NULL, *zeros = NULL;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "some", SK_DTYPE_F32, 1 << 16, &some, NULL, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "none", SK_DTYPE_F32, 1 << 16, &none, NULL, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "zeros", SK_DTYPE_F32, 1 << 16, &zeros, NULL, &err), &err);
    for (int i = 0; i < 12; i++)
        assert_true(((const float *)sk_blob_data(some))[i] == (i < 3 ? row[i] : -7.5f));
    for (int i = 0; i < 6; i++) {
        assert_true(isnan(((const float *)sk_blob_data(none))[i]));
        assert_true(((const float *)sk_blob_data(zeros))[i] == (i < 3 ? row[i] : 0));
    }
    sk_blob_unref(&some);
    sk_blob_unref(&none);
    sk_blob_unref(&zeros);
    sk_hdf5_close(&file);
}

/* Any byte changed: an error or some content, but within memory and time. */
static void flipped_bytes_do_no_harm(void **state)
{
    (void)state;
    write_sample(in_folder("sample.h5"));
    size_t length;
    char *bytes = slurp(path, &length);
    uint64_t random = 88172645463325252u;
    int64_t before = sk_memory_live_bytes();
    for (int i = 0; i < 20000; i++) {
        char kept[4];
        size_t at[4];
        for (int k = 0; k < 4; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            at[k] = (size_t)(random >> 20) % (i % 2 ? length : 8192);
            kept[k] = bytes[at[k]];
            bytes[at[k]] = (char)(random >> 8);
        }
        sk_hdf5_file *file = NULL;
        if (sk_hdf5_open_memory(bytes, length, "flipped", &file, NULL) == SK_OK) {
            const char *datasets[] = {"g/h/kernel:0", "g/packed", "g/ints", "outside"};
            char *text = NULL;
            for (int k = 0; k < 4; k++) {
                sk_blob *blob = NULL;
                if (sk_hdf5_dataset_read(file, datasets[k], SK_DTYPE_F32, 1 << 16, &blob, NULL, NULL) ==
                    SK_OK)
                    assert_non_null(blob);
                sk_blob_unref(&blob);
            }
            if (sk_hdf5_attribute_text(file, "", "variable", &text, NULL) == SK_OK)
                assert_true(strlen(text) < length);
            sk_free(text);
            sk_hdf5_texts texts;
            if (sk_hdf5_attribute_texts(file, "g", "more", &texts, NULL) == SK_OK)
                sk_free(texts.bytes);
            if (sk_hdf5_members(file, "g", &texts, NULL) == SK_OK)
                sk_free(texts.bytes);
        }
        sk_hdf5_close(&file);
        for (int k = 3; k >= 0; k--)
            bytes[at[k]] = kept[k];
    }
    assert_int_equal(sk_memory_live_bytes(), before);
    free(bytes);
}

static void threads_read_together(void **state)
{
    (void)state;
    write_sample(in_folder("sample.h5"));
    pthread_t threads[4];
    int failures[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &failures[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_from_path_and_memory),
        cmocka_unit_test(refuses_with_the_reason),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(chunks_are_put_together),
        cmocka_unit_test(elements_never_written_are_the_fill_value),
        cmocka_unit_test(flipped_bytes_do_no_harm),
        cmocka_unit_test(threads_read_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
