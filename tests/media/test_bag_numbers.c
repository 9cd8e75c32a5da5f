/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a bag's frames: of ranges and rounds, of images without a time of their own, behind images that cannot be read. */
#include "made_bag.h"
#include "media/source_told.h"

#include <stdlib.h>

static atomic_bool stop;
static uint8_t greys[64];

static const char *bag_of(int count, int damaged)
{
    static made images[64];
    for (int i = 0; i < count; i++) {
        greys[i] = (uint8_t)(3 * i);
        images[i] = (made){i < damaged ? "what8" : "mono8", 1, 1, 1, &greys[i], 1, BEGIN + i * STEP};
    }
    return write_bag(images, (size_t)count);
}

/* Read once a frame has the number of its image, several times that of its place. */
static void frames_are_numbered(void **state)
{
    (void)state;
    const char *path = bag_of(9, 0);
    static const sk_frame_range parts[] = {{1, 3, 1}, {6, 8, 1}};
    static const struct {
        int64_t first, last, step;
        int32_t parts, loop;
        int n;
        int images[10];
    } cases[] = {{0, -1, 1, 0, 1, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
                 {2, -1, 3, 0, 1, 3, {2, 5, 8}},
                 {2, 7, 2, 0, 1, 3, {2, 4, 6}},
                 {2, 7, 2, 0, 3, 9, {2, 4, 6, 2, 4, 6, 2, 4, 6}},
                 {0, -1, 1, 2, 1, 4, {1, 2, 6, 7}},
                 {0, -1, 1, 2, 2, 8, {1, 2, 6, 7, 1, 2, 6, 7}},
                 {8, -1, 1, 0, 1, 1, {8}},
                 {9, -1, 1, 0, 1, 0, {0}},
                 {9, -1, 1, 0, 2, 0, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_slot slot = {0};
        sk_reader *reader = NULL;
        sk_source_settings s = defaults();
        s.format = SK_PIXEL_GRAY;
        s.first = cases[i].first, s.last = cases[i].last, s.step = cases[i].step, s.loop = cases[i].loop;
        s.ranges = parts, s.n_ranges = cases[i].parts;
        assert_ok(sk_reader_open_bag(path, &s, &reader, &err), &err);
        reader->stop = &stop;
        assert_int_equal(reader->info.frames, cases[i].n);
        assert_int_equal(reader->info.total, 9);
        bool end = false;
        for (int k = 0; k < cases[i].n; k++) {
            assert_ok(reader->read(reader, &slot, &end, &err), &err);
            const int image = cases[i].images[k],
                      round = cases[i].loop > 1 ? k / (cases[i].n / cases[i].loop) : 0;
            if (end || slot.frame.data[0] != 3 * image ||
                slot.frame.index != (cases[i].loop > 1 ? k : image) ||
                slot.frame.wall_ns != BEGIN + image * STEP ||
                slot.frame.time_ns != (image + 9 * round) * STEP)
                fail_msg("case %zu, frame %d: image %d as number %lld at %lld", i, k, slot.frame.data[0] / 3,
                         (long long)slot.frame.index, (long long)slot.frame.time_ns);
        }
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        assert_true(end);
        assert_int_equal(reader->damaged, 0);
        reader->close(reader);
        sk_slot_free(&slot);
    }
}

/* All at one time, and one alone: nobody knows how many there are a second. */
static void rates_that_nobody_knows(void **state)
{
    (void)state;
    static const int64_t same[6];
    static const struct {
        const int64_t *times;
        int count;
    } cases[] = {{same, 6}, {same, 2}, {same, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        times = cases[i].times;
        const char *path = bag_of(cases[i].count, 0);
        times = NULL;
        sk_source *source = open_bag(path, NULL);
        const sk_source_info info = sk_source_info_of(source);
        assert_true(info.rate == 0);
        sk_source_close(&source);
    }
}

/* Up to sixteen images at the beginning are looked at for one that says how large they are. */
static void damaged_beginnings(void **state)
{
    (void)state;
    for (int damaged = 14; damaged < 18; damaged++) {
        sk_error err = {0};
        sk_source *source = NULL;
        const sk_frame *frame = NULL;
        sk_source_settings s = defaults();
        s.skip_unreadable = true;
        const sk_status status = sk_source_open(bag_of(20, damaged), &s, &source, &err);
        if (damaged >= 16) {
            assert_int_equal(status, SK_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.message, "images.mcap: image 0: "));
            assert_null(source);
            continue;
        }
        assert_ok(status, &err);
        int n = 0;
        for (;; n++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            if (!frame)
                break;
            assert_int_equal(frame->index, damaged + n);
            assert_int_equal(frame->time_ns, n * STEP); /* since the first that can be read */
            sk_source_release(source, frame);
        }
        assert_int_equal(n, 20 - damaged);
        sk_source_status now = SK_SOURCE_STATUS_INIT;
        sk_source_get_status(source, &now);
        assert_int_equal(now.damaged, damaged);
        sk_source_close(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_numbered),
                                       cmocka_unit_test(rates_that_nobody_knows),
                                       cmocka_unit_test(damaged_beginnings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
