/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of the other order of bytes, archives by other names, and memory that runs out while one is read. */
#include "support/test.h"
#include "support/torch_writer.h"

#include "base/memory.h"
#include "formats/torch_file.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

/* A list of tensors over one storage of 32 bytes, 0 to 31, as numbers of each width. */
static const struct {
    const char *storage;
    sk_dtype dtype;
    int64_t count;
} kinds[] = {{"ByteStorage", SK_DTYPE_U8, 32},  {"ShortStorage", SK_DTYPE_I16, 16},
             {"HalfStorage", SK_DTYPE_F16, 16}, {"IntStorage", SK_DTYPE_I32, 8},
             {"FloatStorage", SK_DTYPE_F32, 8}, {"LongStorage", SK_DTYPE_I64, 4},
             {"DoubleStorage", SK_DTYPE_F64, 4}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void make(tw_zip *zip, const char *folder, const char *order, bool late)
{
    uint8_t storage[32];
    tw_pickle w = {0};
    char name[64];
    for (int i = 0; i < 32; i++)
        storage[i] = (uint8_t)i;
    tw_start(&w);
    tw_list_begin(&w);
    for (size_t k = 0; k < KINDS; k++)
        tw_tensor_raw(&w, kinds[k].storage, "0", kinds[k].count, 0, &kinds[k].count, (int64_t[]){1}, 1);
    tw_list_end(&w);
    tw_stop(&w);
    for (int i = 0; i < 2; i++) {
        if (i == late) {
            snprintf(name, sizeof name, "%sdata.pkl", folder);
            tw_zip_add(zip, name, w.out.bytes, w.out.length);
        } else if (order) {
            snprintf(name, sizeof name, "%sbyteorder", folder);
            tw_zip_add(zip, name, order, strlen(order));
        }
    }
    snprintf(name, sizeof name, "%sdata/0", folder);
    tw_zip_add(zip, name, storage, sizeof storage);
    tw_zip_finish(zip);
    tw_pickle_free(&w);
}

/* Every element's bytes are turned, and no others. */
static void orders_of_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *says;
        bool big;
    } orders[] = {{NULL, false}, {"little", false}, {"big", true},
                  {"bi", false}, {"bigg", false},   {"BIG", false}};
    static const char *const folders[] = {"best/", "", "a/b/"};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (int form = 0; form < 12; form++) {
            tw_zip zip = {.unaligned = form & 1, .deflate = form & 2};
            sk_torch_file *f = NULL;
            make(&zip, folders[form / 4], orders[o].says, form & 1);
            assert_ok(sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "x.pt", &f, &err), &err);
            for (size_t k = 0; k < KINDS; k++) {
                sk_blob *blob = NULL;
                const size_t size = sk_dtype_bytes(kinds[k].dtype);
                assert_ok(sk_torch_file_tensor(f, sk_pickle_at(sk_torch_file_root(f), k), kinds[k].dtype,
                                               &blob, &err),
                          &err);
                assert_int_equal(sk_blob_bytes(blob), 32);
                for (size_t i = 0; i < 32; i++) {
                    const size_t from = orders[o].big ? i / size * size + size - 1 - i % size : i;
                    assert_int_equal(((const uint8_t *)sk_blob_data(blob))[i], from);
                }
                sk_blob_unref(&blob);
            }
            sk_torch_file_close(&f);
            tw_zip_free(&zip);
        }
}

/* Whichever allocation fails while a checkpoint is read: it is told, or its numbers are right. */
static void whichever_allocation_fails(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        tw_zip zip = {.unaligned = form & 1, .deflate = form & 2};
        bool reached = true;
        int failures = 0;
        make(&zip, "best/", form == 1 ? "big" : NULL, false);
        for (uint64_t n = 1; reached; n++) {
            sk_torch_file *f = NULL;
            sk_blob *blobs[KINDS] = {NULL};
            err = (sk_error){0};
            sk_memory_fail_nth(n);
            sk_status status = sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "x.pt", &f, &err);
            for (size_t k = 0; status == SK_OK && k < KINDS; k++)
                status = sk_torch_file_tensor(f, sk_pickle_at(sk_torch_file_root(f), k), kinds[k].dtype,
                                              &blobs[k], &err);
            reached = sk_memory_fail_left() == 0;
            sk_memory_fail_nth(0);
            if (status != SK_OK && status != SK_ERR_MEMORY)
                fail_msg("allocation %d fails: %s", (int)n, err.message);
            failures += status != SK_OK;
            for (size_t k = 0; status == SK_OK && k < KINDS; k++) {
                const uint8_t *got = sk_blob_data(blobs[k]);
                const size_t size = sk_dtype_bytes(kinds[k].dtype);
                assert_true(got[0] == (form == 1 ? size - 1 : 0) && got[31] == (form == 1 ? 32 - size : 31));
            }
            for (size_t k = 0; k < KINDS; k++)
                sk_blob_unref(&blobs[k]);
            sk_torch_file_close(&f);
        }
        assert_true(failures > 10);
        tw_zip_free(&zip);
    }
}

static void refused(const void *bytes, size_t length, const char *part)
{
    sk_torch_file *f = NULL;
    assert_int_not_equal(sk_torch_file_open_memory(bytes, length, "some.pt", &f, &err), SK_OK);
    assert_null(f);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in: %s", part, err.message);
}
#define REFUSED(text, part) refused(text, sizeof text - 1, part)

/* Files that only look like something else, by one byte. */
static void what_a_file_looks_like(void **state)
{
    (void)state;
    REFUSED("\x10\0\0\0\0\0\0\0{}", "a safetensors file");
    REFUSED("\x10\0\0\0\0\0\0\0{", "begins with 'PK', this file with bytes 10 00)"); /* nothing in it */
    REFUSED("\x10\0\0\0\0\0\1\0{}", "bytes 10 00)");
    REFUSED("\x10\0\0\0\0\0\0\1{}", "bytes 10 00)");
    REFUSED("\x10\0\0\0\0\0\0\0[}", "bytes 10 00)");
    REFUSED("\0\0\0\0\0\0\0\1", "bytes 00 00)");
    REFUSED("\0", "1 bytes of zeros; the download never finished");
    REFUSED("x", "this file with bytes 78 00)");
    REFUSED("xy", "this file with bytes 78 79)");
    REFUSED("\x80\0", "a bare pickle");
    tw_zip zip = {0};
    tw_zip_add(&zip, "mydata.pkl", "\x80\x02N.", 4);
    tw_zip_add(&zip, "code/x", "", 0);
    tw_zip_finish(&zip);
    refused(zip.out.bytes, zip.out.length,
            "a zip archive without data.pkl, so not a torch checkpoint (2 entries)");
    tw_zip_free(&zip);
    for (int i = 0; i < 3; i++) {
        static const char *const also[] = {"m/constants.pkl", "m/code/x.py", "best_model.h5"};
        zip = (tw_zip){0};
        tw_zip_add(&zip, also[i], "x", 1);
        if (i < 2)
            tw_zip_add(&zip, "m/data.pkl", "\x80\x02N.", 4);
        tw_zip_finish(&zip);
        refused(zip.out.bytes, zip.out.length, i < 2 ? "a TorchScript archive" : "a zipped SLEAP model");
        tw_zip_free(&zip);
    }
}

/* Nothing to read from, nowhere to put it, no type to make of it: each is refused. */
static void what_is_missing(void **state)
{
    (void)state;
    tw_zip zip = {0};
    sk_torch_file *f = NULL;
    sk_blob *blob = NULL;
    make(&zip, "best/", NULL, false);
    assert_ok(sk_torch_file_open_memory(zip.out.bytes, zip.out.length, "x.pt", &f, &err), &err);
    const sk_pickle_value *tensor = sk_pickle_at(sk_torch_file_root(f), 0);
    assert_int_equal(sk_torch_file_tensor(NULL, tensor, SK_DTYPE_U8, &blob, &err), SK_ERR_ARG);
    assert_int_equal(sk_torch_file_tensor(f, tensor, SK_DTYPE_U8, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_torch_file_tensor(f, tensor, SK_DTYPE_NONE, &blob, &err), SK_ERR_ARG);
    assert_int_equal(sk_torch_file_tensor(f, NULL, SK_DTYPE_U8, &blob, &err), SK_ERR_FORMAT);
    assert_null(blob);
    assert_ok(sk_torch_file_tensor(f, tensor, SK_DTYPE_U8, &blob, &err), &err);
    sk_blob_unref(&blob);
    sk_torch_file_close(&f);
    tw_zip_free(&zip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_bytes),
        cmocka_unit_test(whichever_allocation_fails),
        cmocka_unit_test(what_a_file_looks_like),
        cmocka_unit_test(what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
