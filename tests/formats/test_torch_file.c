/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "support/torch_writer.h"

#include "formats/torch_file.h"
#include "formats/zip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* {"epoch": 3, "w": half 2x3, "b": bool 2, "i": int64 2} */
static void small_pickle(tw_pickle *w)
{
    sk_shape matrix = sk_shape_of(2, 2, 3), pair = sk_shape_of(1, 2);
    tw_start(w);
    tw_dict_begin(w);
    tw_text(w, "epoch");
    tw_int(w, 3);
    tw_text(w, "w");
    tw_tensor(w, SK_DTYPE_F16, &matrix, (float[]){1, 2, 3, 4, -5, 0x1p-24f}, true);
    tw_text(w, "b");
    tw_tensor(w, SK_DTYPE_BOOL, &pair, (float[]){0, 1}, false);
    tw_text(w, "i");
    tw_tensor(w, SK_DTYPE_I64, &pair, (float[]){-7, 70000}, false);
    tw_dict_end(w);
    tw_stop(w);
}

static void small_checkpoint(tw_zip *zip)
{
    tw_pickle w = {0};
    small_pickle(&w);
    tw_checkpoint(zip, "best", &w);
    tw_pickle_free(&w);
}

static void check_small(const tw_zip *zip)
{
    sk_error err;
    sk_torch_file *f;
    assert_ok(sk_torch_file_open_memory(zip->out.bytes, zip->out.length, "small.pt", &f, &err), &err);
    assert_false(sk_torch_file_truncated(f));
    const sk_pickle_value *root = sk_torch_file_root(f);
    sk_blob *blob;
    assert_ok(sk_torch_file_tensor(f, sk_pickle_get(root, "w"), SK_DTYPE_F32, &blob, &err), &err);
    const float *values = sk_blob_data(blob);
    assert_int_equal(sk_blob_bytes(blob), 24);
    assert_true(values[0] == 1 && values[4] == -5 && values[5] == 0x1p-24f);
    sk_blob_unref(&blob);
    assert_ok(sk_torch_file_tensor(f, sk_pickle_get(root, "i"), SK_DTYPE_I64, &blob, &err), &err);
    assert_true(((const int64_t *)sk_blob_data(blob))[1] == 70000);
    sk_blob_unref(&blob);
    assert_ok(sk_torch_file_tensor(f, sk_pickle_get(root, "b"), SK_DTYPE_F32, &blob, &err), &err);
    assert_true(((const float *)sk_blob_data(blob))[1] == 1);
    sk_blob_unref(&blob);
    assert_int_equal(sk_torch_file_tensor(f, sk_pickle_get(root, "epoch"), SK_DTYPE_F32, &blob, &err),
                     SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a tensor was expected"));
    sk_torch_file_close(&f);
    assert_null(f);
}

static void container_forms(void **state)
{
    (void)state;
    for (int form = 0; form < 32; form++) {
        tw_zip zip = {.deflate = form & 1,
                      .zip64 = form & 2,
                      .no_crc = form & 4,
                      .no_descriptor = form & 8,
                      .unaligned = form & 16};
        small_checkpoint(&zip);
        check_small(&zip);
        tw_zip_free(&zip);
    }
}

static void half_floats_are_exact(void **state)
{
    (void)state;
    float *values = malloc(65536 * sizeof *values);
    for (int i = 0; i < 65536; i++)
        values[i] = sk_f16_to_f32((uint16_t)i);
    tw_pickle w = {0};
    tw_zip zip = {0};
    sk_shape shape = sk_shape_of(1, 65536);
    tw_start(&w);
    tw_tensor(&w, SK_DTYPE_F16, &shape, values, false);
    tw_stop(&w);
    tw_checkpoint(&zip, "archive", &w);
    sk_error err;
    sk_torch_file *f;
    sk_blob *blob;
    assert_ok(sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "h.pt", &f, &err), &err);
    assert_ok(sk_torch_file_tensor(f, sk_torch_file_root(f), SK_DTYPE_F32, &blob, &err), &err);
    const float *read = sk_blob_data(blob);
    for (int i = 0; i < 65536; i++) {
        if (isnan(values[i]))
            assert_true(isnan(read[i]));
        else
            assert_memory_equal(&values[i], &read[i], sizeof values[i]);
    }
    sk_blob_unref(&blob);
    sk_torch_file_close(&f);
    tw_zip_free(&zip);
    tw_pickle_free(&w);
    free(values);
}

/* Opens "t.pt" whose root is one tensor on an 8-element float storage with these numbers. */
static sk_status read_raw(const char *class_name, int64_t offset, const int64_t *dims, const int64_t *strides,
                          int rank, float *out, size_t n, sk_error *err)
{
    tw_pickle w = {0};
    tw_zip zip = {0};
    tw_start(&w);
    sk_shape shape = sk_shape_of(1, 8);
    tw_list_begin(&w);
    tw_tensor(&w, SK_DTYPE_F32, &shape, (float[]){0, 1, 2, 3, 4, 5, 6, 7}, false);
    tw_tensor_raw(&w, class_name, "0", 8, offset, dims, strides, rank);
    tw_list_end(&w);
    tw_stop(&w);
    tw_checkpoint(&zip, "archive", &w);
    sk_torch_file *f = NULL;
    sk_blob *blob = NULL;
    sk_status status = sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "t.pt", &f, err);
    if (status == SK_OK)
        status = sk_torch_file_tensor(f, sk_pickle_at(sk_torch_file_root(f), 1), SK_DTYPE_F32, &blob, err);
    if (status == SK_OK) {
        assert_int_equal(sk_blob_bytes(blob), n * sizeof *out);
        if (n)
            memcpy(out, sk_blob_data(blob), n * sizeof *out);
    }
    sk_blob_unref(&blob);
    sk_torch_file_close(&f);
    tw_zip_free(&zip);
    tw_pickle_free(&w);
    return status;
}

static void views(void **state)
{
    (void)state;
    sk_error err;
    float out[8];
    /* transposed 2x4 from offset 0 */
    assert_ok(read_raw("FloatStorage", 0, (int64_t[]){4, 2}, (int64_t[]){1, 4}, 2, out, 8, &err), &err);
    const float transposed[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    assert_memory_equal(out, transposed, sizeof out);
    /* a slice, an expanded scalar, a scalar, nothing */
    assert_ok(read_raw("FloatStorage", 5, (int64_t[]){3}, (int64_t[]){1}, 1, out, 3, &err), &err);
    assert_true(out[0] == 5 && out[2] == 7);
    assert_ok(read_raw("FloatStorage", 2, (int64_t[]){2, 3}, (int64_t[]){0, 0}, 2, out, 6, &err), &err);
    assert_true(out[0] == 2 && out[5] == 2);
    assert_ok(read_raw("FloatStorage", 7, NULL, NULL, 0, out, 1, &err), &err);
    assert_true(out[0] == 7);
    assert_ok(read_raw("FloatStorage", 0, (int64_t[]){0}, (int64_t[]){1}, 1, out, 0, &err), &err);
}

static void refuse_raw(const char *class_name, int64_t offset, int64_t dim, int64_t stride,
                       sk_status expected, const char *part)
{
    sk_error err = {0};
    float out[8];
    sk_status status = read_raw(class_name, offset, &dim, &stride, 1, out, 8, &err);
    if (status != expected || !strstr(err.message, part) || !strstr(err.message, "t.pt"))
        fail_msg("expected '%s' (%d), got '%s' (%d)", part, expected, err.message, status);
}

static void tensors_outside_their_storage(void **state)
{
    (void)state;
    refuse_raw("FloatStorage", 1, 8, 1, SK_ERR_FORMAT, "needs 9 elements");
    refuse_raw("FloatStorage", 0, 8, 2, SK_ERR_FORMAT, "needs 15 elements");
    refuse_raw("DoubleStorage", 0, 8, 1, SK_ERR_FORMAT, "which holds 4");
    refuse_raw("FloatStorage", 0, INT64_MAX, 1, SK_ERR_LIMIT, "more memory");
    refuse_raw("FloatStorage", 0, (int64_t)1 << 40, 0, SK_ERR_LIMIT, "more memory");
    refuse_raw("FloatStorage", INT64_MAX, 8, INT64_MAX, SK_ERR_LIMIT, "more memory");
    /* the last element is number 2^64 - 1: one more is 0 */
    sk_error err = {0};
    float out[4];
    assert_int_equal(
        read_raw("FloatStorage", 1, (int64_t[]){2, 2}, (int64_t[]){INT64_MAX, INT64_MAX}, 2, out, 4, &err),
        SK_ERR_LIMIT);
    /* an axis of one element may have any stride, and is never walked */
    assert_ok(
        read_raw("FloatStorage", 0, (int64_t[]){2, 1, 2}, (int64_t[]){1, INT64_MAX, 2}, 3, out, 4, &err),
        &err);
    assert_true(out[0] == 0 && out[1] == 2 && out[2] == 1 && out[3] == 3);
    const int64_t huge = (int64_t)1 << 40; /* beside a 0, no size is too large */
    assert_ok(read_raw("FloatStorage", 0, (int64_t[]){0, huge, huge}, (int64_t[]){1, 1, 1}, 3, out, 0, &err),
              &err);
    refuse_raw("QInt8Storage", 0, 8, 1, SK_ERR_UNSUPPORTED, "quantised");
}

/* A million tensors on one storage: each alone is honest, all together are not. */
static void shared_storages_are_bounded(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    tw_pickle w = {0};
    tw_zip zip = {0};
    float *values = calloc(N, sizeof *values);
    sk_shape shape = sk_shape_of(1, N);
    tw_start(&w);
    tw_tensor(&w, SK_DTYPE_F32, &shape, values, false);
    tw_stop(&w);
    tw_checkpoint(&zip, "archive", &w);
    sk_error err = {0};
    sk_torch_file *f;
    assert_ok(sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "t.pt", &f, &err), &err);
    int reads = 0;
    sk_status status = SK_OK;
    for (; reads < 1000 && status == SK_OK; reads++) {
        sk_blob *blob = NULL;
        status = sk_torch_file_tensor(f, sk_torch_file_root(f), SK_DTYPE_F32, &blob, &err);
        sk_blob_unref(&blob);
    }
    assert_int_equal(status, SK_ERR_LIMIT);
    assert_true(reads > 4 && reads < 40);
    sk_torch_file_close(&f);
    tw_zip_free(&zip);
    tw_pickle_free(&w);
    free(values);
}

static void refuse_bytes(const void *bytes, size_t length, sk_status expected, const char *part)
{
    sk_error err = {0};
    sk_torch_file *f = (sk_torch_file *)1;
    sk_status status = sk_torch_file_open_memory(bytes, length, "some.pt", &f, &err);
    if (status != expected || !strstr(err.message, part) || !strstr(err.message, "some.pt"))
        fail_msg("expected '%s' (%d), got '%s' (%d)", part, expected, err.message, status);
    assert_null(f);
}
#define REFUSE(text, status, part) refuse_bytes(text, sizeof text - 1, status, part)

static void foreign_files(void **state)
{
    (void)state;
    REFUSE("", SK_ERR_FORMAT, "empty");
    REFUSE("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", SK_ERR_FORMAT,
           "git lfs pull");
    REFUSE("<!DOCTYPE html><html></html>", SK_ERR_FORMAT, "web page");
    REFUSE("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", SK_ERR_UNSUPPORTED,
           "torch before 1.6");
    REFUSE("\x80\x04N.", SK_ERR_UNSUPPORTED, "bare pickle");
    REFUSE("\x80\x05N.", SK_ERR_UNSUPPORTED, "bare pickle");
    REFUSE("\x80\x06N.", SK_ERR_FORMAT, "not a torch checkpoint"); /* no protocol has that number */
    REFUSE("\x80", SK_ERR_FORMAT, "not a torch checkpoint");
    REFUSE("\x89HDF\r\n\x1a\n", SK_ERR_UNSUPPORTED, "HDF5");
    REFUSE("\x10\0\0\0\0\0\0\0{\"a\":1}", SK_ERR_UNSUPPORTED, "safetensors");
    REFUSE("\0\0\0\0\0\0\0\0", SK_ERR_FORMAT, "zeros");
    REFUSE("hello", SK_ERR_FORMAT, "not a torch checkpoint");
    REFUSE("PK\3\4", SK_ERR_FORMAT, "truncated at 4 bytes");
}

static void foreign_archives(void **state)
{
    (void)state;
    tw_zip zip = {0};
    tw_zip_add(&zip, "hello.txt", "hi", 2);
    tw_zip_finish(&zip);
    refuse_bytes(zip.out.bytes, zip.out.length, SK_ERR_FORMAT, "without data.pkl");
    tw_zip_free(&zip);
    zip = (tw_zip){0};
    tw_zip_add(&zip, "m/data.pkl", "\x80\x02N.", 4);
    tw_zip_add(&zip, "m/code/__torch__.py", "", 0);
    tw_zip_add(&zip, "m/constants.pkl", "\x80\x02N.", 4);
    tw_zip_finish(&zip);
    refuse_bytes(zip.out.bytes, zip.out.length, SK_ERR_UNSUPPORTED, "TorchScript");
    tw_zip_free(&zip);
    zip = (tw_zip){0};
    tw_zip_add(&zip, "a/data.pkl", "\x80\x02N.", 4);
    tw_zip_add(&zip, "b/data.pkl", "\x80\x02N.", 4);
    tw_zip_finish(&zip);
    refuse_bytes(zip.out.bytes, zip.out.length, SK_ERR_FORMAT, "two checkpoints");
    tw_zip_free(&zip);
    zip = (tw_zip){0};
    tw_zip_add(&zip, "training_config.json", "{}", 2);
    tw_zip_finish(&zip);
    refuse_bytes(zip.out.bytes, zip.out.length, SK_ERR_UNSUPPORTED, "zipped SLEAP model");
    tw_zip_free(&zip);
}

static void damaged_payload(void **state)
{
    (void)state;
    tw_zip zip = {0};
    small_checkpoint(&zip);
    for (size_t i = 0; i + 4 < zip.out.length; i++) { /* flip one bit of the pickle */
        if (memcmp(zip.out.bytes + i, "epoch", 5) == 0) {
            zip.out.bytes[i] ^= 1;
            break;
        }
    }
    refuse_bytes(zip.out.bytes, zip.out.length, SK_ERR_FORMAT, "checksum");
    tw_zip_free(&zip);
}

/* Reads everything a walker would; only crashes and leaks count. */
static void touch(sk_torch_file *f)
{
    const sk_pickle_value *root = sk_torch_file_root(f);
    for (const char *const *key = (const char *const[]){"w", "b", "i", "epoch", NULL}; *key; key++) {
        sk_blob *blob = NULL;
        sk_error err;
        if (sk_torch_file_tensor(f, sk_pickle_get(root, *key), SK_DTYPE_F32, &blob, &err) == SK_OK)
            sk_blob_unref(&blob);
        assert_null(blob);
    }
}

static void truncation_at_every_byte(void **state)
{
    (void)state;
    for (int form = 0; form < 3; form++) {
        tw_zip zip = {.no_descriptor = form == 1, .deflate = form == 2, .zip64 = form == 2};
        small_checkpoint(&zip);
        int salvaged = 0;
        for (size_t n = 0; n < zip.out.length; n++) {
            uint8_t *copy = malloc(n + 1); /* exact size, so that a sanitizer sees every overrun */
            memcpy(copy, zip.out.bytes, n);
            sk_error err = {0};
            sk_torch_file *f;
            if (sk_torch_file_open_memory(copy, n, "cut.pt", &f, &err) == SK_OK) {
                assert_true(sk_torch_file_truncated(f));
                assert_int_equal(sk_pickle_get(sk_torch_file_root(f), "epoch")->u.integer, 3);
                touch(f);
                salvaged++;
            } else {
                assert_non_null(strstr(err.message, "cut.pt"));
            }
            sk_torch_file_close(&f);
            free(copy);
        }
        if (form < 2)
            assert_true(salvaged > 100);
        tw_zip_free(&zip);
    }
}

static void truncated_storages_say_so(void **state)
{
    (void)state;
    tw_zip zip = {0};
    small_checkpoint(&zip);
    size_t cut = 0; /* into storage 1 */
    for (size_t i = 0; i + 11 < zip.out.length && !cut; i++)
        cut = memcmp(zip.out.bytes + i, "best/data/1", 11) == 0 ? i : 0;
    sk_error err;
    sk_torch_file *f;
    sk_blob *blob;
    assert_ok(sk_torch_file_open_memory(zip.out.bytes, cut, "cut.pt", &f, &err), &err);
    assert_true(sk_torch_file_truncated(f));
    const sk_pickle_value *root = sk_torch_file_root(f);
    assert_ok(sk_torch_file_tensor(f, sk_pickle_get(root, "w"), SK_DTYPE_F32, &blob, &err), &err);
    sk_blob_unref(&blob);
    assert_int_equal(sk_torch_file_tensor(f, sk_pickle_get(root, "b"), SK_DTYPE_F32, &blob, &err),
                     SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "zip directory missing; file truncated at"));
    sk_torch_file_close(&f);
    tw_zip_free(&zip);
}

/* Every byte changed to a few values: errors or success, never a crash. */
static void flipped_bytes(void **state)
{
    (void)state;
    tw_zip zip = {.no_crc = true};
    small_checkpoint(&zip);
    for (size_t n = 0; n < zip.out.length; n++) {
        uint8_t kept = zip.out.bytes[n];
        for (int value = 0; value < 4; value++) {
            zip.out.bytes[n] = (uint8_t)(value == 0   ? 0
                                         : value == 1 ? 0xff
                                         : value == 2 ? kept + 1
                                                      : kept ^ 0x80);
            sk_error err;
            sk_torch_file *f;
            if (sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "flip.pt", &f, &err) == SK_OK)
                touch(f);
            sk_torch_file_close(&f);
        }
        zip.out.bytes[n] = kept;
    }
    tw_zip_free(&zip);
}

static void files_on_disk(void **state)
{
    (void)state;
    tw_zip zip = {0};
    small_checkpoint(&zip);
    const char *path = tw_save(&zip, "small.pt");
    sk_error err;
    sk_torch_file *f;
    int64_t live = sk_memory_live_bytes();
    assert_ok(sk_torch_file_open(path, &f, &err), &err);
    touch(f);
    sk_torch_file_close(&f);
    assert_true(sk_memory_live_bytes() == live);
    assert_int_equal(sk_torch_file_open(test_missing("x.pt"), &f, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_torch_file_open(test_folder(), &f, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a folder"));
    bool finished = false;
    for (uint64_t n = 1; n < 200 && !finished; n++) {
        sk_memory_fail_nth(n);
        finished = sk_torch_file_open(path, &f, &err) == SK_OK;
        sk_torch_file_close(&f);
        assert_true(sk_memory_live_bytes() == live);
    }
    sk_memory_fail_nth(0);
    assert_true(finished);
    tw_zip_free(&zip);
}

static void reference_checkpoints(void **state)
{
    (void)state;
    test_data_or_skip();
    static const char *const files[] = {"yolo/yolo11n-pose/yolo11n-pose.pt",
                                        "yolo/yolov8t-obb/yolov8t-obb.pt",
                                        "sleap/nn/minimal_instance_bottomup/best.ckpt"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sk_error err;
        sk_torch_file *f;
        assert_ok(sk_torch_file_open(test_data(files[i]), &f, &err), &err);
        assert_false(sk_torch_file_truncated(f));
        assert_int_equal(sk_torch_file_root(f)->kind, SK_PICKLE_DICT);
        const sk_pickle_value *weights = sk_pickle_get(sk_torch_file_root(f), "state_dict");
        for (size_t j = 0; weights && j < weights->length; j++) {
            sk_blob *blob;
            assert_ok(sk_torch_file_tensor(f, weights->u.pairs[j].value, SK_DTYPE_F32, &blob, &err), &err);
            sk_blob_unref(&blob);
        }
        sk_torch_file_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_forms),
        cmocka_unit_test(half_floats_are_exact),
        cmocka_unit_test(views),
        cmocka_unit_test(tensors_outside_their_storage),
        cmocka_unit_test(shared_storages_are_bounded),
        cmocka_unit_test(foreign_files),
        cmocka_unit_test(foreign_archives),
        cmocka_unit_test(damaged_payload),
        cmocka_unit_test(truncation_at_every_byte),
        cmocka_unit_test(truncated_storages_say_so),
        cmocka_unit_test(flipped_bytes),
        cmocka_unit_test(files_on_disk),
        cmocka_unit_test(reference_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
