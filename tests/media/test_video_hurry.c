/* SPDX-License-Identifier: Apache-2.0 */
/* Who jumps about in a video and has no time is shown an earlier frame, and the way is gone on with; who has time is shown exactly the
 * frame that was asked for, whatever came before. */
#include "made_video.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"
#include "support/recorded.h"

enum { FRAMES = 250, OVER = 1 }; /* OVER: a time that has passed */

static sk_ffmpeg real;
static int seeks, opens;
static atomic_bool stop;
static sk_reader *reader;
static sk_slot slot;

static int count_seeks(AVFormatContext *format, int stream, int64_t pts, int flags)
{
    seeks++;
    return real.av_seek_frame(format, stream, pts, flags);
}

static int count_opens(AVFormatContext **format, const char *uri, const AVInputFormat *kind,
                       AVDictionary **options)
{
    opens++;
    return real.avformat_open_input(format, uri, kind, options);
}

static const char *video(const char *name)
{
    return made_video(name, FRAMES, "-c:v libx264 -qp 0 -sc_threshold 0 -g 60 -bf 2 -pix_fmt yuv420p");
}

static void open_video(const char *path)
{
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    if (!real.av_seek_frame)
        real = sk_ff;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    sk_ff.av_seek_frame = count_seeks;
    sk_ff.avformat_open_input = count_opens;
    assert_ok(sk_reader_open_video(path, &s, &reader, &err), &err);
    reader->stop = &stop;
    seeks = opens = 0;
}

static void close_video(void)
{
    reader->close(reader);
    sk_slot_free(&slot);
    sk_ff = real;
}

/* The number of the frame that is shown; -1: none. It must be what its picture says, and none behind the one asked for. */
static int64_t shown(int64_t frame, int64_t by_ns)
{
    sk_error err = {0};
    bool end = false;
    reader->give_by_ns = by_ns;
    assert_ok(reader->seek(reader, frame, &err), &err);
    assert_ok(reader->read(reader, &slot, &end, &err), &err);
    if (end)
        return -1;
    if (made_number(&slot.frame) != slot.frame.index || slot.frame.index > frame ||
        slot.frame.time_ns != slot.frame.index * 40000000)
        fail_msg("asked for %d: %d shows %d", (int)frame, (int)slot.frame.index, made_number(&slot.frame));
    return slot.frame.index;
}

static void ways_are_gone_on_with(void **state)
{
    (void)state;
    open_video(video("hurry.mp4"));
    assert_int_equal(shown(240, 0), 240); /* now the frames are listed: the file is read, and opened again */
    assert_int_equal(seeks, 1);
    assert_int_equal(opens, 1);
    /* to the key frame before it, and from there on without another seek */
    assert_int_equal(shown(190, OVER), 180);
    assert_int_equal(seeks, 2);
    assert_int_equal(shown(190, 0), 190);
    assert_int_equal(seeks, 2);
    /* further than the aim: on as well; behind it no frame is missing */
    assert_int_equal(shown(100, OVER), 60);
    assert_int_equal(seeks, 3);
    assert_int_equal(shown(105, 0), 105);
    assert_int_equal(seeks, 3);
    for (int i = 106; i < 112; i++)
        assert_int_equal(shown(i, 0), i);
    assert_int_equal(seeks, 3);
    /* before the aim frames may be missing: the way is begun anew */
    assert_int_equal(shown(200, OVER), 180);
    assert_int_equal(seeks, 4);
    assert_int_equal(shown(190, 0), 190);
    assert_int_equal(seeks, 5);
    /* much further: sought */
    assert_int_equal(shown(70, OVER), 60);
    assert_int_equal(shown(200, 0), 200);
    assert_int_equal(seeks, 7);
    /* behind the end there is nothing, and nothing is listed again */
    assert_int_equal(shown(70, OVER), 60);
    assert_int_equal(shown(FRAMES, 0), -1);
    assert_int_equal(shown(FRAMES - 1, 0), FRAMES - 1);
    assert_int_equal(shown(70, OVER), 60);
    assert_int_equal(shown(FRAMES + 50, 0), -1);
    assert_int_equal(shown(0, 0), 0);
    assert_int_equal(shown(63, 0), 63);
    close_video();
}

/* Without time from the beginning: the list is made piece by piece, and nothing is shown before it is there. */
static void lists_are_made_in_pieces(void **state)
{
    (void)state;
    const char *path = video("pieces.mp4");
    open_video(path);
    for (int n = 0; n < FRAMES + 10; n++)
        assert_int_equal(shown(200, OVER), -1);
    assert_int_equal(seeks, 0);
    assert_int_equal(shown(200, 0), 200);
    assert_int_equal(seeks, 1);
    assert_int_equal(opens, 1);
    close_video();
    /* … and left for another frame, with and without time */
    for (int64_t other = 3; other < FRAMES; other += 80) {
        open_video(path);
        assert_int_equal(shown(200, OVER), -1);
        assert_int_equal(shown(other, 0), other);
        assert_int_equal(shown(200, 0), 200);
        close_video();
    }
}

static void any_order(void **state)
{
    (void)state;
    static const char *const names[] = {"any.mp4", "any.mkv"};
    for (int v = 0; v < 2; v++) {
        open_video(video(names[v]));
        unsigned chance = 3 + (unsigned)v;
        for (int i = 0; i < 250; i++) {
            const int64_t frame = (int64_t)recorded_between(&chance, 0, i % 9 ? FRAMES : FRAMES + 20);
            const bool hurry = recorded_chance(&chance) < 0.5;
            const int64_t got = shown(frame, hurry ? OVER : 0);
            if (!hurry && got != (frame < FRAMES ? frame : -1))
                fail_msg("%s, jump %d: %d instead of %d", names[v], i, (int)got, (int)frame);
        }
        close_video();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways_are_gone_on_with),
                                       cmocka_unit_test(lists_are_made_in_pieces),
                                       cmocka_unit_test(any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
