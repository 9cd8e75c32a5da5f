/* SPDX-License-Identifier: Apache-2.0 */
/* Which pictures a reader of frames keeps: the last 32, of 16 MiB in all, none that takes a quarter of that alone; and what it does where
 * memory ends. */
#include "support/fault.h"
#include "support/test.h"

#include "app/frame_reader.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static sk_error err;
static sk_frame_reader *reader;

/* Noise, which no JPEG makes small. */
static void put_picture(const char *path, int width, int height)
{
    const size_t bytes = 3 * (size_t)width * (size_t)height;
    uint8_t *pixels = sk_malloc(bytes);
    assert_non_null(pixels);
    uint32_t number = 9;
    for (size_t i = 0; i < bytes; i++) {
        number = number * 1664525u + 1013904223u;
        pixels[i] = (uint8_t)(number >> 24);
    }
    const sk_frame f = {.format = SK_PIXEL_RGB,
                        .width = width,
                        .height = height,
                        .stride = 3 * (ptrdiff_t)width,
                        .data = pixels};
    assert_ok(sk_picture_write(path, &f, &err), &err);
    sk_free(pixels);
}

static sk_blob *get(int64_t n, int32_t width)
{
    sk_blob *jpeg = NULL;
    int64_t given = -1;
    assert_ok(sk_frame_reader_jpeg(reader, &(sk_frame_wanted){.n = n, .width = width}, &jpeg, &given, &err),
              &err);
    assert_true(given == n && jpeg);
    return jpeg;
}

static void pass(int64_t n, int32_t width)
{
    sk_blob *jpeg = get(n, width);
    sk_blob_unref(&jpeg);
}

/* The first, then so many others: is it still there? */
static bool stays(const char *source, int others)
{
    assert_ok(sk_frame_reader_open(source, NULL, &reader, &err), &err);
    sk_blob *first = get(0, 0);
    for (int i = 0; i < others; i++)
        pass(0, 5000 + i); /* no picture is so wide: the same, under another name */
    sk_blob *again = get(0, 0);
    const bool same = first == again;
    assert_int_equal(sk_blob_bytes(first), sk_blob_bytes(again));
    sk_blob_unref(&first);
    sk_blob_unref(&again);
    sk_frame_reader_close(&reader);
    return same;
}

static void how_many(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("small", &err), &err);
    put_picture("small/0.png", 16, 12);
    assert_true(stays("small", 0));
    assert_true(stays("small", 1));
    assert_true(stays("small", 31));
    assert_false(stays("small", 32));
}

static void how_much(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("large", &err), &err);
    put_picture("large/0.png", 1000, 700);
    assert_ok(sk_frame_reader_open("large", NULL, &reader, &err), &err);
    sk_blob *one = get(0, 0);
    const size_t bytes = sk_blob_bytes(one);
    sk_blob_unref(&one);
    sk_frame_reader_close(&reader);
    const int fit = (int)(16 * MIB / bytes);
    assert_true(fit > 4 && fit < 32);
    assert_true(stays("large", fit - 1));
    assert_false(stays("large", fit));
}

/* Also where the picture is gone: what was kept needs no file. */
static void without_its_file(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("gone", &err), &err);
    put_picture("gone/0.png", 16, 12);
    put_picture("gone/1.png", 16, 12);
    assert_ok(sk_frame_reader_open("gone", NULL, &reader, &err), &err);
    pass(0, 8);
    pass(1, 8);
    assert_int_equal(unlink("gone/0.png"), 0);
    assert_int_equal(unlink("gone/1.png"), 0);
    pass(0, 8);
    pass(1, 8);
    sk_blob *jpeg = NULL;
    int64_t given;
    pass(1, 9); /* its pixels are still in hand */
    assert_int_not_equal(
        sk_frame_reader_jpeg(reader, &(sk_frame_wanted){.n = 0, .width = 9}, &jpeg, &given, &err), SK_OK);
    assert_null(jpeg);
    sk_frame_reader_close(&reader);
}

static sk_status look(void *context, sk_error *why)
{
    sk_frame_reader *r = NULL;
    sk_blob *jpeg = NULL;
    int64_t given;
    const sk_frame *frame = NULL;
    (void)context;
    SK_TRY(sk_frame_reader_open("small", NULL, &r, why));
    sk_status status = sk_frame_reader_jpeg(r, &(sk_frame_wanted){.width = 8}, &jpeg, &given, why);
    sk_blob_unref(&jpeg);
    if (status == SK_OK)
        status = sk_frame_reader_get(r, 0, &frame, why);
    sk_frame_reader_close(&r);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(look, NULL) >= 6);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many),
        cmocka_unit_test(how_much),
        cmocka_unit_test(without_its_file),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
