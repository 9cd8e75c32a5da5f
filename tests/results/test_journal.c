/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a run: cut anywhere, and of another run. */
#include "base/file.h"
#include "base/instances.h"
#include "base/memory.h"
#include "results/journal.h"
#include "results/result_reader.h"
#include "support/test.h"

#include "written.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct visited {
    int count;
    float sum;
} visited;

static sk_status visit(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    visited *v = context;
    assert_int_equal(frame->index, v->count);
    assert_int_equal(frame->instances->count, v->count % 8);
    for (int32_t i = 0; i < frame->instances->count; i++)
        v->sum += frame->instances->items[i].box[0];
    v->count++;
    return SK_OK;
}

static const sk_result_frame *journal_frame(int i)
{
    static sk_result_frame frame;
    frame = *frame_number(i % 8);
    frame.index = i;
    return &frame;
}

static void journal_survives_any_cut(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/journal", test_folder());
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "run A", "now", true, &journal, &other, &err), &err);
    for (int i = 0; i < 20; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    sk_journal_close(&journal);
    FILE *file = fopen(path, "rb");
    static char whole[1 << 16];
    size_t length = fread(whole, 1, sizeof whole, file);
    fclose(file);
    int64_t last = 0;
    for (size_t cut = 49; cut <= length;
         cut += cut + 40 < length ? 7 : 1) { /* 8 magic, 32 stamp, 4 length, 5 fingerprint */
        file = fopen(path, "wb");
        fwrite(whole, 1, cut, file);
        fclose(file);
        assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
        int64_t count = sk_journal_count(journal);
        assert_true(count >= last && count <= 20);
        last = count;
        visited v = {0};
        assert_ok(sk_journal_replay(journal, visit, &v, &err), &err);
        assert_int_equal(v.count, count);
        /* and goes on from there */
        assert_ok(sk_journal_append(journal, journal_frame((int)count), &err), &err);
        v = (visited){0};
        assert_ok(sk_journal_replay(journal, visit, &v, &err), &err);
        assert_int_equal(v.count, count + 1);
        sk_journal_close(&journal);
    }
    assert_int_equal(last, 20);
}

static void journal_knows_its_run(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/journal2", test_folder());
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    for (int i = 0; i < 5; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    assert_ok(sk_journal_finish(journal, &err), &err);
    sk_journal_close(&journal);
    assert_int_equal(sk_journal_open(path, "run B", "now", false, &journal, &other, &err), SK_ERR_MISMATCH);
    assert_string_equal(other, "run A"); /* what it is, for whoever says what differs */
    sk_free(other);
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    assert_true(sk_journal_finished(journal));
    assert_int_equal(sk_journal_count(journal), 5);
    assert_ok(sk_journal_truncate(journal, 3, &err), &err);
    assert_false(sk_journal_finished(journal));
    assert_int_equal(sk_journal_count(journal), 3);
    sk_journal_close(&journal);
    assert_ok(sk_journal_open(path, "run B", "now", true, &journal, &other, &err), &err);
    assert_int_equal(sk_journal_count(journal), 0);
    sk_journal_close(&journal);
}

/* A journal longer than any head is no stump of one: what is in it stays. Neither is what cannot be read. */
static void long_journals_are_kept(void **state)
{
    (void)state;
    enum { FRAMES = 5 };
    sk_error err = {0};
    char path[4300], *other = NULL;
    sk_journal *journal = NULL;
    snprintf(path, sizeof path, "%s/long", test_folder());
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    for (int i = 0; i < FRAMES; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    sk_journal_close(&journal);
    static const off_t more[] = {(off_t)16 << 20, (off_t)17 << 20, (off_t)40 << 20};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        assert_int_equal(truncate(path, more[i]),
                         0); /* zeros behind the last entry, as a crash leaves them */
        assert_ok(sk_journal_open(path, "run A", "later", false, &journal, &other, &err), &err);
        assert_int_equal(sk_journal_count(journal), FRAMES);
        assert_string_equal(sk_journal_stamp(journal), "now");
        sk_journal_close(&journal);
        assert_true(sk_file_size(path) < 4096); /* they are cut off */
    }
    char link[4300];
    snprintf(link, sizeof link, "%s/led", test_folder());
    assert_int_equal(symlink(path, link), 0);
    assert_int_not_equal(sk_journal_open(link, "run A", "later", false, &journal, &other, &err), SK_OK);
    assert_int_not_equal(sk_journal_open(link, "run A", "later", true, &journal, &other, &err), SK_OK);
    assert_ok(sk_journal_open(path, "run A", "later", false, &journal, &other, &err), &err);
    assert_int_equal(sk_journal_count(journal), FRAMES);
    sk_journal_close(&journal);
}

/* What begins as journals do, as far as it goes, is one: of any version, and cut off anywhere, also at once. */
static void what_is_a_journal(void **state)
{
    (void)state;
    static const struct {
        const char *begin;
        bool is;
    } cases[] = {{"", true},   {"S", true},       {"SKJRN", true},   {"SKJRNL", true},  {"SKJRNL9x", true},
                 {"T", false}, {"SKJRNM", false}, {"skjrnl", false}, {" SKJRNL", false}};
    sk_error err = {0};
    char path[4300], stamp[SK_JOURNAL_STAMP] = "x";
    snprintf(path, sizeof path, "%s/is-one", test_folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_file_replace(path, cases[i].begin, strlen(cases[i].begin), &err), &err);
        assert_int_equal(sk_journal_is_one(path), cases[i].is);
        assert_false(sk_journal_glance(path, stamp) || sk_journal_is_finished(path));
        assert_string_equal(stamp, "");
    }
    assert_false(sk_journal_is_one(test_missing("j")) || sk_journal_glance(test_missing("j"), stamp) ||
                 sk_journal_is_finished(test_missing("j")));
}

/* More than the buffer holds goes to the file on the way; a frame larger than it is refused, and the next is taken. */
static void frames_larger_than_the_buffer(void **state)
{
    (void)state;
    enum { BUFFER = 4 << 20, EACH = 60 + 12 };
    sk_error err = {0};
    char path[4300], *other = NULL;
    sk_journal *journal = NULL;
    snprintf(path, sizeof path, "%s/large", test_folder());
    const int32_t most = BUFFER / EACH + 10;
    sk_instances list;
    assert_int_equal(sizeof(sk_found) + sizeof(sk_keypoint), EACH);
    assert_ok(sk_instances_alloc(most, 1, &list, &err), &err);
    for (int32_t i = 0; i < most; i++)
        sk_instances_add(&list)->class_id = i % 100;
    sk_result_frame frame = *frame_number(0);
    frame.instances = &list;
    frame.source = "";
    const int32_t head = 8 + 56, full = (BUFFER - head) / EACH;
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    const int64_t begin = sk_file_size(path);
    list.count = full;
    frame.index = 0;
    assert_ok(sk_journal_append(journal, &frame, &err), &err);
    assert_int_equal(sk_file_size(path), begin); /* it waits */
    list.count = full + 1;
    frame.index = 1;
    assert_int_equal(sk_journal_append(journal, &frame, &err), SK_ERR_LIMIT);
    char why[160];
    snprintf(why, sizeof why, "one frame's results take %d bytes, at most %d are kept",
             head + (full + 1) * EACH, BUFFER);
    assert_non_null(strstr(err.message, why));
    list.count = 3;
    assert_ok(sk_journal_append(journal, &frame, &err), &err);
    assert_int_equal(sk_file_size(path), begin + head + (int64_t)full * EACH);
    assert_int_equal(sk_journal_count(journal), 2);
    assert_ok(sk_journal_finish(journal, &err), &err);
    assert_int_equal(sk_file_size(path), begin + 2 * head + (int64_t)(full + 3) * EACH + 8);
    sk_journal_close(&journal);
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    assert_true(sk_journal_count(journal) == 2 && sk_journal_last_index(journal) == 1 &&
                sk_journal_finished(journal));
    sk_journal_close(&journal);
    sk_instances_free(&list);
}

enum { ITEMS = 3, POINTS = 2 };

/* A frame with everything that frames can have; each bit of `without` leaves one of them out. */
static const sk_result_frame *whole_frame(int without)
{
    static sk_found items[ITEMS];
    static sk_keypoint points[(ITEMS + 1) * POINTS];
    static uint8_t looks[ITEMS * SK_TRACK_LOOKS];
    static sk_instances all;
    static sk_result_frame frame;
    for (int i = 0; i < ITEMS; i++) /* keypoints in an order of their own, with some of nobody between */
        items[i] = (sk_found){.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                              .class_id = i - 1,
                              .score = 0.25f * (float)i,
                              .box = {1, 2, 3, (float)i},
                              .first_keypoint = (ITEMS - i) * POINTS,
                              .track_id = 7 * i - 1};
    for (int k = 0; k < (ITEMS + 1) * POINTS; k++)
        points[k] = (sk_keypoint){(float)k, (float)(k * k), 0.125f * (float)k};
    for (size_t i = 0; i < sizeof looks; i++)
        looks[i] = (uint8_t)(i * 31 + 5);
    all = (sk_instances){.count = without & 1 ? 0 : ITEMS,
                         .capacity = ITEMS,
                         .items = items,
                         .n_keypoints = without & 2 ? 0 : POINTS,
                         .keypoints = points};
    frame = (sk_result_frame){.source = without & 4 ? "" : "some/in.mp4",
                              .index = 10 + without,
                              .time = 2.5,
                              .width = 640,
                              .height = 480,
                              .instances = &all,
                              .looks = without & 8 ? NULL : looks,
                              .wall_ns = 1700000000123456789,
                              .picture = 0x123456789abcdef0u,
                              .frame_id = without & 16 ? NULL : "camera",
                              .problem = without & 32 ? NULL : "it is torn"};
    return &frame;
}

static void assert_texts(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a && b)
        assert_string_equal(a, b);
}

static void assert_comes_back(const sk_result_frame *got, int without)
{
    const sk_result_frame *want = whole_frame(without);
    const sk_instances *in = want->instances, *out = got->instances;
    assert_true(got->index == want->index && got->time == want->time && got->width == 640 &&
                got->height == 480 && got->wall_ns == want->wall_ns && got->picture == want->picture);
    assert_texts(got->source, want->source);
    assert_texts(got->frame_id, want->frame_id);
    assert_texts(got->problem, want->problem);
    assert_true(out->count == in->count && out->n_keypoints == in->n_keypoints);
    for (int32_t i = 0; i < in->count; i++) {
        sk_found item = out->items[i];
        item.first_keypoint = in->items[i].first_keypoint;
        assert_memory_equal(&item, &in->items[i], sizeof item);
        assert_memory_equal(out->keypoints + out->items[i].first_keypoint,
                            in->keypoints + in->items[i].first_keypoint,
                            (size_t)in->n_keypoints * sizeof *in->keypoints);
    }
    assert_true(got->looks != NULL || !want->looks || in->count == 0);
    if (got->looks) {
        assert_non_null(want->looks);
        assert_memory_equal(got->looks, want->looks, (size_t)in->count * SK_TRACK_LOOKS);
    }
}

static sk_status visit_whole(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    assert_comes_back(frame, (*(int *)context)++);
    return SK_OK;
}

static void all_of_a_frame_comes_back(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300], *other = NULL;
    sk_journal *journal = NULL;
    sk_result_reader *reader = NULL;
    snprintf(path, sizeof path, "%s/whole", test_folder());
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    for (int without = 0; without < 64; without++)
        assert_ok(sk_journal_append(journal, whole_frame(without), &err), &err);
    int seen = 0;
    assert_ok(sk_journal_replay(journal, visit_whole, &seen, &err), &err);
    assert_int_equal(seen, 64);
    sk_journal_close(&journal);
    assert_ok(sk_result_reader_open_journal(path, &reader, &err), &err);
    for (int without = 63; without >= 0; without--) { /* in any order */
        sk_result_frame frame;
        assert_ok(sk_result_reader_read(reader, without, &frame, &err), &err);
        assert_comes_back(&frame, without);
    }
    sk_result_reader_close(&reader);
}

/* What a run is may take so many bytes; one more is refused before anything is written. */
static void identities_of_any_length(void **state)
{
    (void)state;
    enum { MOST = 16 << 20 };
    sk_error err = {0};
    char path[4300], *other = NULL, *identity = sk_malloc(MOST + 2);
    sk_journal *journal = NULL;
    snprintf(path, sizeof path, "%s/identity", test_folder());
    assert_non_null(identity);
    memset(identity, 'a', MOST + 1);
    identity[MOST + 1] = '\0';
    assert_int_equal(sk_journal_open(path, identity, "now", false, &journal, &other, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "the run's settings take 16777217 bytes, at most 16777216 are kept"));
    assert_false(sk_file_exists(path));
    identity[MOST] = '\0';
    for (int again = 0; again < 2; again++) {
        assert_ok(sk_journal_open(path, identity, again ? "later" : "now", false, &journal, &other, &err),
                  &err);
        assert_string_equal(sk_journal_stamp(journal), "now");
        assert_int_equal(sk_journal_count(journal), again);
        assert_ok(sk_journal_append(journal, journal_frame(again), &err), &err);
        sk_journal_close(&journal);
    }
    sk_result_reader *reader = NULL;
    assert_ok(sk_result_reader_open_journal(path, &reader, &err), &err);
    assert_int_equal(sk_result_reader_count(reader), 2);
    sk_result_reader_close(&reader);
    sk_free(identity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journal_survives_any_cut),      cmocka_unit_test(journal_knows_its_run),
        cmocka_unit_test(long_journals_are_kept),        cmocka_unit_test(what_is_a_journal),
        cmocka_unit_test(frames_larger_than_the_buffer), cmocka_unit_test(identities_of_any_length),
        cmocka_unit_test(all_of_a_frame_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
