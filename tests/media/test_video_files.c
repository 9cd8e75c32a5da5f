/* SPDX-License-Identifier: Apache-2.0 */
/* Files of many containers: how many frames, when each is shown, which frame comes where somebody jumps about, what is missing. */
#include "made_video.h"

#include "base/clock.h"
#include "base/memory.h"
#include "skitter/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef SKITTER_HAVE_FFMPEG

static sk_source *open_with(const char *path, const sk_source_settings *settings)
{
    sk_error err = {0};
    sk_source *source = NULL;
    assert_ok(sk_source_open(path, settings, &source, &err), &err);
    return source;
}

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    return s;
}

static sk_source_info about(const sk_source *source)
{
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    return info;
}

/* Reads to the end; every frame must be the one its number says, shown when that one is. Returns how many came. */
static int all_are_theirs(const char *path, sk_source *source, int64_t first, int64_t step)
{
    sk_error err = {0};
    int count = 0;
    for (const sk_frame *frame = NULL;; count++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            return count;
        if (frame->index != first + step * count || made_number(frame) != frame->index)
            fail_msg("%s: frame %d has number %lld and shows %d", path, count, (long long)frame->index,
                     made_number(frame));
        if (llabs(frame->time_ns - frame->index * INT64_C(40000000)) >
            600000) /* containers keep milliseconds */
            fail_msg("%s: frame %lld is shown at %lld", path, (long long)frame->index,
                     (long long)frame->time_ns);
        sk_source_release(source, frame);
    }
}

static const struct {
    const char *name, *how;
    bool exact;
} containers[] = {
    {"a.mp4", "-c:v libx264 -qp 0 -g 30 -bf 3 -pix_fmt yuv420p", true},
    {"b.mkv", "-c:v libx264 -qp 0 -g 30 -bf 3 -pix_fmt yuv420p", false},
    {"c.avi", "-c:v mjpeg -q:v 1 -pix_fmt yuvj420p", true},
    {"d.ts", "-c:v libx264 -qp 0 -g 30 -bf 0 -pix_fmt yuv420p", false},
    {"e.mov", "-c:v mpeg4 -q:v 1 -g 12 -pix_fmt yuv420p", true},
};

static void containers_say_what_they_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++) {
        const char *path = made_video(containers[i].name, 100, containers[i].how);
        sk_source_settings s = usual();
        sk_source *source = open_with(path, &s);
        const sk_source_info info = about(source);
        assert_int_equal(info.kind, SK_SOURCE_VIDEO);
        assert_int_equal(info.width, 64);
        assert_int_equal(info.height, 48);
        assert_true(fabs(info.rate - 25) < 0.01);
        assert_int_equal(info.frames, 100);
        assert_int_equal(info.total, 100);
        assert_int_equal(info.exact, containers[i].exact);
        assert_string_equal(info.hwaccel, "");
        assert_string_equal(info.hwaccel_refused, "");
        assert_false(info.once);
        assert_false(info.stamped);
        assert_string_equal(info.name, path);
        assert_int_equal(all_are_theirs(path, source, 0, 1), 100);
        sk_source_status status = SK_SOURCE_STATUS_INIT;
        sk_source_get_status(source, &status);
        assert_int_equal(status.decoded, 100);
        assert_int_equal(status.missing, 0);
        assert_int_equal(status.damaged, 0);
        assert_int_equal(status.dropped, 0);
        assert_true(status.decode_seconds > 0);
        assert_string_equal(status.last_problem, "");
        sk_source_close(&source);
        s.first = 70; /* by a seek: the numbers are counted then */
        s.last = 97;
        s.step = 5;
        source = open_with(path, &s);
        assert_int_equal(about(source).frames, 6);
        assert_int_equal(about(source).total, 100);
        assert_true(about(source).exact);
        assert_int_equal(all_are_theirs(path, source, 70, 5), 6);
        sk_source_close(&source);
        s.first = 250; /* beyond the end */
        s.last = -1;
        source = open_with(path, &s);
        assert_int_equal(all_are_theirs(path, source, 250, 5), 0);
        sk_source_close(&source);
    }
}

static void looped(void **state)
{
    (void)state;
    const char *path = made_video("loop.mp4", 20, "-c:v libx264 -qp 0 -pix_fmt yuv420p");
    static const char *const decoded_by[] = {NULL, "none", "vaapi"};
    for (int k = 0; k < 3; k++) {
        sk_error err = {0};
        sk_source_settings s = usual();
        s.loop = 3;
        s.first = 4;
        s.hwaccel = decoded_by[k];
        sk_source *source = open_with(path, &s);
        assert_int_equal(about(source).frames, 48);
        assert_int_equal(about(source).total, 20);
        for (int i = 0; i < 48; i++) {
            const sk_frame *frame = NULL;
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_non_null(frame);
            const int round = i / 16, number = 4 + i % 16;
            assert_int_equal(frame->index, round * 20 + number);
            assert_int_equal(made_number(frame), number);
            assert_in_range(frame->time_ns, (round * 20 + number) * INT64_C(40000000) - 1000,
                            (round * 20 + number) * INT64_C(40000000) + 1000);
            sk_source_release(source, frame);
        }
        assert_int_equal(all_are_theirs(path, source, 0, 1), 0);
        sk_source_close(&source);
    }
}

/* One reader, jumped about with: the frame that was asked for, whatever was read before. */
static void jumps(void **state)
{
    (void)state;
    static const int64_t at[] = {149, 0,   75,  76, 64,  63, 65,  140, 10,  10, 149,
                                 1,   130, 131, 66, 200, 5,  148, 149, 150, 90};
    static const char *const names[] = {"long.mp4", "long.mkv", "long.avi"};
    for (int v = 0; v < 3; v++) {
        sk_error err = {0};
        const char *path = made_video(names[v], 150, "-c:v libx264 -qp 0 -g 20 -bf 2 -pix_fmt yuv420p");
        sk_source_settings s = usual();
        atomic_bool stop = false;
        sk_reader *reader = NULL;
        sk_slot slot = {0};
        assert_ok(sk_reader_open_video(path, &s, &reader, &err), &err);
        reader->stop = &stop;
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            bool end = false;
            assert_ok(reader->seek(reader, at[i], &err), &err);
            assert_ok(reader->read(reader, &slot, &end, &err), &err);
            assert_int_equal(end, at[i] >= 150);
            if (end)
                continue;
            if (slot.frame.index != at[i] || made_number(&slot.frame) != at[i])
                fail_msg("%s: %d instead of %d", path, made_number(&slot.frame), (int)at[i]);
            assert_ok(reader->read(reader, &slot, &end, &err), &err);
            assert_true(end); /* one was asked for */
        }
        /* no time: whoever asks again comes there, and is shown nothing that lies behind it */
        for (int64_t goal = 30; goal < 150; goal += 59) {
            bool there = false, shown = false;
            for (int n = 0; n < 2000 && !there; n++) {
                bool end = false;
                reader->give_by_ns = n ? 1 : sk_clock_ns() + 1000;
                assert_ok(reader->seek(reader, goal, &err), &err);
                assert_ok(reader->read(reader, &slot, &end, &err), &err);
                there = !end && slot.frame.index == goal;
                shown |= !end;
                if (!end) {
                    assert_true(slot.frame.index <= goal);
                    assert_int_equal(made_number(&slot.frame), slot.frame.index);
                }
            }
            assert_true(there && shown);
        }
        reader->give_by_ns = 0;
        reader->close(reader);
        sk_slot_free(&slot);
    }
}

/* A file that ends before its time. */
static void cut_off(void **state)
{
    (void)state;
    static const struct {
        const char *name, *how;
        bool counted; /* else by time, as far as that is exact */
    } all[] = {{"cut.mp4", "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p -movflags faststart", true},
               {"cut.avi", "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p", true},
               {"cut.mkv", "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p", false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int part = 3; part >= 1; part--) { /* first whole, then ever less */
            static char path[600];
            struct stat info;
            if (part == 3)
                snprintf(path, sizeof path, "%s", made_video(all[i].name, 120, all[i].how));
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(truncate(path, part == 3 ? info.st_size : info.st_size * part / (part + 1)), 0);
            for (int seeked = 0; seeked < 2; seeked++) {
                sk_source_settings s = usual();
                s.first = seeked ? 70 : 0;
                sk_source *source = open_with(path, &s);
                const int count = all_are_theirs(path, source, s.first, 1);
                sk_source_status status = SK_SOURCE_STATUS_INIT;
                sk_source_get_status(source, &status);
                const int64_t whole = s.first + count + status.missing;
                if (part == 3 && status.missing != 0)
                    fail_msg("%s: %lld are missing of a whole file", path, (long long)status.missing);
                if (count > 0 && llabs(whole - 120) > (all[i].counted ? 1 : 3))
                    fail_msg("%s: %d came and %lld are missing", path, count, (long long)status.missing);
                sk_source_close(&source);
            }
        }
}

/* Puts another matrix into the track's header: a quarter turn clockwise, or two, or three. */
static void turn_file(const char *path, int quarters)
{
    static const uint32_t turns[4][4] = {{0x10000, 0, 0, 0x10000},
                                         {0, 0x10000, 0xffff0000, 0},
                                         {0xffff0000, 0, 0, 0xffff0000},
                                         {0, 0xffff0000, 0x10000, 0}};
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    uint8_t *at = memmem(bytes, n, "tkhd", 4);
    assert_non_null(at);
    at += 4 + 40;
    const int places[4] = {0, 4, 12, 16};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            at[places[i] + k] = (uint8_t)(turns[quarters][i] >> (24 - 8 * k));
    rewind(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void upright(void **state)
{
    (void)state;
    for (int quarters = 0; quarters < 4; quarters++) {
        sk_error err = {0};
        char path[600], command[1400];
        snprintf(path, sizeof path, "%s/turned.mp4", test_folder());
        snprintf(command, sizeof command,
                 "ffmpeg -v error -nostdin -y -f lavfi -i "
                 "\"color=s=64x48:r=25:c=black,geq=lum='40+X*2+Y':cb=128:cr=128\" "
                 "-frames:v 3 -c:v libx264 -qp 0 -pix_fmt yuv420p '%s' >/dev/null 2>&1",
                 path);
        if (system(command) != 0) /* NOLINT */
            skip();
        turn_file(path, quarters);
        sk_source_settings s = usual();
        s.format = SK_PIXEL_GRAY;
        sk_source *source = open_with(path, &s);
        assert_int_equal(about(source).width, quarters % 2 ? 48 : 64);
        assert_int_equal(about(source).height, quarters % 2 ? 64 : 48);
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_int_equal(frame->width, quarters % 2 ? 48 : 64);
        for (int y = 4; y < frame->height; y += 13)
            for (int x = 3; x < frame->width; x += 7) {
                const int from_x = quarters == 0   ? x
                                   : quarters == 1 ? y
                                   : quarters == 2 ? 63 - x
                                                   : 63 - y,
                          from_y = quarters == 0   ? y
                                   : quarters == 1 ? 47 - x
                                   : quarters == 2 ? 47 - y
                                                   : x;
                const int luma = (int)lrint(frame->data[y * frame->stride + x] * 219.0 / 255 + 16);
                if (abs(luma - (40 + 2 * from_x + from_y)) > 1)
                    fail_msg("%d quarters: %d, %d is %d", quarters, x, y, luma);
            }
        sk_source_release(source, frame);
        sk_source_close(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(containers_say_what_they_hold),
                                       cmocka_unit_test(looped), cmocka_unit_test(jumps),
                                       cmocka_unit_test(cut_off), cmocka_unit_test(upright)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
