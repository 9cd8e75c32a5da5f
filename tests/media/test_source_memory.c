/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of frames: kept for the next ones, but for very large ones of sources whose pictures may be of any size. */
#include "support/test.h"

#include "base/memory.h"
#include "media/reader.h"
#include "media/source_told.h"
#include "media/video_sink.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SIDE = 8192,
    LARGE = 64 << 20
}; /* a grey picture of 8192 x 8192 is a few bytes more than that in a slot */

static void write_grey(const char *folder, const char *name, int width, int height)
{
    char path[700];
    sk_error err = {0};
    sk_slot slot = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_slot_prepare(&slot, SK_PIXEL_GRAY, width, height, &err), &err);
    assert_ok(sk_picture_write(path, &slot.frame, &err), &err);
    sk_slot_free(&slot);
}

/* All frames of a folder, one after the other; what is allocated when the last one is held, and when it was released. */
static void measure(const char *folder, int count, int64_t *held, int64_t *after)
{
    sk_error err = {0};
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.format = SK_PIXEL_GRAY;
    s.queue = 1;
    const int64_t before = (int64_t)sk_memory_live_bytes();
    assert_ok(sk_source_open(folder, &s, &source, &err), &err);
    for (int i = 0; i < count; i++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        if (i + 1 < count) {
            sk_source_release(source, frame);
            continue;
        }
        const sk_frame *end = NULL;
        assert_ok(sk_source_next(source, &end, &err), &err); /* nothing is decoded any more */
        assert_null(end);
        *held = (int64_t)sk_memory_live_bytes() - before;
        sk_source_release(source, frame);
        *after = (int64_t)sk_memory_live_bytes() - before;
    }
    sk_source_close(&source);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void large_ones_are_given_back(void **state)
{
    (void)state;
    char folder[600];
    int64_t held = 0, after = 0;
    snprintf(folder, sizeof folder, "%s/small", test_folder());
    assert_int_equal(mkdir(folder, 0755), 0);
    write_grey(folder, "a.png", 640, 480);
    write_grey(folder, "b.png", 640, 480);
    measure(folder, 2, &held, &after);
    assert_int_equal(after, held); /* the next one has it */
    assert_true(held > 640 * 480);
    snprintf(folder, sizeof folder, "%s/large", test_folder());
    assert_int_equal(mkdir(folder, 0755), 0);
    write_grey(folder, "a.png", 640, 480);
    write_grey(folder, "b.png", SIDE, SIDE);
    measure(folder, 2, &held, &after);
    assert_true(held > LARGE && after < held - LARGE);
}

/* --- slots --- */

/* A slot keeps its memory for smaller pictures, and its name for shorter ones. */
static void slots_grow(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_slot slot = {0};
    static const struct {
        sk_pixel_format format;
        int32_t width, height;
        ptrdiff_t stride;
        size_t bytes;
    } cases[] = {
        {SK_PIXEL_GRAY, 1, 1, 64, 64 + 64},           {SK_PIXEL_GRAY, 64, 2, 64, 128 + 64},
        {SK_PIXEL_GRAY, 65, 2, 128, 256 + 64},        {SK_PIXEL_RGB, 32, 1, 128, 128 + 64},
        {SK_PIXEL_RGB, 33, 1, 192, 192 + 64},         {SK_PIXEL_BGR, 402, 3, 1280, 3840 + 64},
        {SK_PIXEL_NV12, 64, 4, 64, 64 * 6 + 64},      {SK_PIXEL_NV12, 64, 5, 64, 64 * 8 + 64},
        {SK_PIXEL_GRAY, 65535, 1, 65536, 65536 + 64}, {SK_PIXEL_GRAY, 1, 65535, 64, 64 * 65535 + 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_slot_prepare(&slot, cases[i].format, cases[i].width, cases[i].height, &err), &err);
        assert_int_equal(slot.frame.stride, cases[i].stride);
        assert_int_equal(slot.capacity, cases[i].bytes);
        memset(slot.memory, 0x55, slot.capacity);
        uint8_t *memory = slot.memory;
        assert_ok(sk_slot_prepare(&slot, SK_PIXEL_GRAY, 1, 1, &err), &err);
        assert_ok(sk_slot_prepare(&slot, cases[i].format, cases[i].width, cases[i].height, &err), &err);
        assert_true(slot.memory == memory && memory[0] == 0x55 && memory[slot.capacity - 1] == 0x55);
        assert_true((uintptr_t)memory % 64 == 0 && slot.frame.data == memory);
        sk_slot_free(&slot);
        assert_null(slot.memory);
    }
    static const int32_t none[][2] = {{0, 1}, {1, 0}, {-1, 5}, {65536, 1}, {1, 65536}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        err = (sk_error){0};
        assert_int_equal(sk_slot_prepare(&slot, SK_PIXEL_GRAY, none[i][0], none[i][1], &err), SK_ERR_LIMIT);
        assert_null(slot.memory);
    }
    assert_ok(sk_slot_set_name(&slot, "abc", &err), &err);
    assert_int_equal(slot.name_capacity, 4);
    assert_ok(sk_slot_set_name(&slot, "de", &err), &err);
    assert_int_equal(slot.name_capacity, 4);
    assert_string_equal(slot.name, "de");
    assert_ok(sk_slot_set_name(&slot, "abcd", &err), &err);
    assert_int_equal(slot.name_capacity, 5);
    sk_slot_free(&slot);
}

/* --- unreadable ones --- */

/* They are told in order, each once, up to the frame that is asked about. */
static void unreadable_ones_are_told_in_order(void **state)
{
    (void)state;
    char folder[600], path[700];
    sk_error err = {0};
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    snprintf(folder, sizeof folder, "%s/some", test_folder());
    assert_int_equal(mkdir(folder, 0755), 0);
    for (int i = 0; i < 6; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d.png", i);
        write_grey(folder, name, 8, 8);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (i == 1 || i == 2 || i == 4)
            assert_int_equal(truncate(path, 20), 0);
    }
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.skip_unreadable = true;
    assert_ok(sk_source_open(folder, &s, &source, &err), &err);
    static const int there[] = {0, 3, 5};
    for (int i = 0; i < 3; i++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_int_equal(frame->index, there[i]);
        sk_source_release(source, frame);
    }
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    static const struct {
        int64_t before;
        int64_t index; /* -1: none */
    } asks[] = {{0, -1}, {1, -1}, {2, 1}, {2, -1}, {3, 2}, {4, -1}, {INT64_MAX, 4}, {INT64_MAX, -1}};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        sk_unreadable u = SK_UNREADABLE_INIT;
        assert_int_equal(sk_source_next_unreadable(source, asks[i].before, &u), asks[i].index >= 0);
        if (asks[i].index < 0)
            continue;
        snprintf(path, sizeof path, "%s/%d.png", folder, (int)asks[i].index);
        assert_int_equal(u.index, asks[i].index);
        assert_string_equal(u.name, path);
        assert_non_null(strstr(u.problem, "damaged PNG"));
    }
    sk_source_status now = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &now);
    assert_int_equal(now.decoded, 3);
    sk_source_close(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_ones_are_given_back),
                                       cmocka_unit_test(slots_grow),
                                       cmocka_unit_test(unreadable_ones_are_told_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
