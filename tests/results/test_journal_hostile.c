/* SPDX-License-Identifier: Apache-2.0 */
/* Journals whose checksums are right and whose counts are not: whoever can write into a folder can make one. */
#include "support/test.h"

#include "base/file.h"
#include "results/journal.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define INDEX 0x1122334455667788

static sk_status look(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    int64_t *sum = context;
    for (int32_t i = 0; i < frame->instances->count; i++)
        *sum += frame->instances->items[i].class_id;
    return SK_OK;
}

static void write_one(const char *path)
{
    sk_error err = {0};
    sk_journal *journal = NULL;
    char *other = NULL;
    sk_found items[2] = {{.class_id = 3, .track_id = -1},
                         {.class_id = 4, .track_id = -1, .first_keypoint = 1}};
    sk_keypoint points[2] = {{1, 2, 1}, {3, 4, 1}};
    sk_instances found = {.items = items, .keypoints = points, .count = 2, .capacity = 2, .n_keypoints = 1};
    sk_result_frame frame = {
        .source = "a.mp4", .index = INDEX, .time = 0.5, .width = 64, .height = 48, .instances = &found};
    assert_ok(sk_journal_open(path, "print", "now", true, &journal, &other, &err), &err);
    assert_ok(sk_journal_append(journal, &frame, &err), &err);
    sk_journal_close(&journal);
}

/* Changes the 32-bit number at `at` bytes behind the entry's index and makes the checksum right again. */
static void change(const char *path, size_t at, int32_t value)
{
    sk_error err = {0};
    char *data = NULL;
    size_t length;
    int64_t index = INDEX;
    assert_ok(sk_file_read(path, 1 << 20, &data, &length, &err), &err);
    char *body = memmem(data, length, &index, sizeof index);
    assert_non_null(body);
    uint32_t bytes;
    memcpy(&bytes, body - 8, 4);
    memcpy(body + at, &value, 4);
    uint32_t sum = XXH32(body, bytes, 0);
    memcpy(body - 4, &sum, 4);
    assert_ok(sk_file_replace(path, data, length, &err), &err);
    sk_free(data);
}

static sk_status replay(const char *path, int64_t *sum, sk_error *err)
{
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "print", "now", false, &journal, &other, err), err);
    sk_status status = sk_journal_replay(journal, look, sum, err);
    sk_journal_close(&journal);
    return status;
}

static void counts_that_do_not_fit(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4096];
    int64_t sum = 0;
    snprintf(path, sizeof path, "%s/journal", test_folder());
    write_one(path);
    assert_ok(replay(path, &sum, &err), &err);
    assert_int_equal(sum, 7);
    enum { SOURCE = 40, PROBLEM = 44, COUNT = 48, KEYPOINTS = 52 };
    static const int32_t numbers[] = {-1, 0x40000000, 0x7fffffff, 0x20000000, 1 << 20};
    for (size_t at = SOURCE; at <= KEYPOINTS; at += PROBLEM - SOURCE)
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            write_one(path);
            change(path, at, numbers[i]);
            assert_int_equal(replay(path, &sum, &err), SK_ERR_FORMAT);
        }
    /* 21 + 1283723912 * (60 + 12 * 1197476071) is the entry's length and 2^64 */
    write_one(path);
    change(path, SOURCE, 21);
    change(path, COUNT, 1283723912);
    change(path, KEYPOINTS, 1197476071);
    assert_int_equal(replay(path, &sum, &err), SK_ERR_FORMAT);
}

/* A stamp without an end is cut at its last byte. */
static void stamps_without_an_end(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4096], *data = NULL, *other = NULL, stamp[SK_JOURNAL_STAMP];
    size_t length;
    sk_journal *journal = NULL;
    snprintf(path, sizeof path, "%s/stamped", test_folder());
    write_one(path);
    assert_ok(sk_file_read(path, 1 << 20, &data, &length, &err), &err);
    char *at = memmem(data, length, "now", 3);
    assert_non_null(at);
    memset(at, 'x', SK_JOURNAL_STAMP);
    assert_ok(sk_file_replace(path, data, length, &err), &err);
    sk_free(data);
    assert_ok(sk_journal_open(path, "print", "then", false, &journal, &other, &err), &err);
    assert_int_equal(strlen(sk_journal_stamp(journal)), SK_JOURNAL_STAMP - 1);
    assert_int_equal(sk_journal_count(journal), 1);
    sk_journal_close(&journal);
    assert_true(sk_journal_glance(path, stamp));
    assert_int_equal(strlen(stamp), SK_JOURNAL_STAMP - 1);
}

static void frames_of_another_run(void **state)
{
    (void)state;
    sk_found item = {.class_id = 0, .track_id = -1};
    sk_keypoint point = {0};
    sk_instances found = {.items = &item, .keypoints = &point, .count = 1, .capacity = 1, .n_keypoints = 1};
    sk_result_frame frame = {.source = "a.mp4", .width = 64, .height = 48, .instances = &found};
    sk_run_header header = {.n_classes = 1, .n_keypoints = 1};
    assert_true(sk_run_header_fits(&header, &frame));
    header.n_keypoints = 17; /* a sink would write seventeen of one */
    assert_false(sk_run_header_fits(&header, &frame));
    header.n_keypoints = 1;
    item.track_id = 0x7fffffff; /* a table of that many tracks */
    assert_false(sk_run_header_fits(&header, &frame));
    item.track_id = -1;
    item.class_id = -2;
    assert_false(sk_run_header_fits(&header, &frame));
    item.class_id = 0;
    frame.index = -1;
    assert_false(sk_run_header_fits(&header, &frame));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_that_do_not_fit),
        cmocka_unit_test(stamps_without_an_end),
        cmocka_unit_test(frames_of_another_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
