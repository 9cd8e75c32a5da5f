/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a video's frames by their times: how it is put in order, when it is of no use. Packets are handed out here instead of
 * being read from a file. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "base/clock.h"
#include "media/packet_list_ffmpeg.h"

#include <string.h>

#define NO AV_NOPTS_VALUE

static const int64_t *times;
static int count, given, unreferenced;

static int hand_out(AVFormatContext *format, AVPacket *packet)
{
    (void)format;
    if (given >= count)
        return AVERROR_EOF;
    packet->pts = times[given];
    packet->duration = 10;
    packet->flags = given % 3 == 0 ? AV_PKT_FLAG_KEY : 0;
    packet->stream_index = 2;
    if (times[given] == 999) /* of another stream */
        packet->stream_index = 1;
    if (times[given] == 777) /* not to be shown */
        packet->flags |= AV_PKT_FLAG_DISCARD;
    given++;
    return 0;
}

static void forget(AVPacket *packet)
{
    unreferenced++;
    *packet = (AVPacket){0};
}

static sk_packet_list list_of(const int64_t *pts, int n, int64_t by_ns)
{
    sk_packet_list list = {0};
    AVStream of = {.index = 2};
    AVPacket packet = {0};
    sk_decoder d = {.stream = &of, .packet = &packet};
    sk_error err = {0};
    times = pts, count = n, given = unreferenced = 0;
    assert_ok(sk_packet_list_read(&list, &d, by_ns, &err), &err);
    assert_int_equal(unreferenced, given);
    if (by_ns == 1) /* that time is over */
        assert_int_equal(given, n ? 1 : 0);
    while (!list.complete) { /* as often as it takes */
        const int before = given;
        assert_ok(sk_packet_list_read(&list, &d, by_ns, &err), &err);
        assert_true(given == before + 1 || given == n);
    }
    assert_true(list.begun);
    return list;
}

static void lists_are_in_order_or_of_no_use(void **state)
{
    (void)state;
    static const struct {
        int64_t times[8];
        int n;
        int64_t order[8];
        int frames; /* 0: of no use */
    } cases[] = {{{0, 30, 10, 20, 60, 40, 50}, 7, {0, 10, 20, 30, 40, 50, 60}, 7},
                 {{-20, 0, -10}, 3, {-20, -10, 0}, 3},
                 {{5}, 1, {5}, 1},
                 {{0, 999, 10, 777, 20}, 5, {0, 10, 20}, 3},
                 {{0, 10, 10, 20}, 4, {0}, 0}, /* two at one time */
                 {{0, 20, 10, 20}, 4, {0}, 0},
                 {{10, 10}, 2, {0}, 0},
                 {{0, NO, 20}, 3, {0}, 0}, /* one without a time */
                 {{0, 10, NO}, 3, {0}, 0},
                 {{NO}, 1, {0}, 0},
                 {{0}, 0, {0}, 0}};
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    sk_ff.av_read_frame = hand_out;
    sk_ff.av_packet_unref = forget;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int pieces = 0; pieces < 2; pieces++) { /* at once, and a packet at a time */
            sk_packet_list list = list_of(cases[i].times, cases[i].n, pieces ? 1 : 0);
            if (list.count != (size_t)cases[i].frames)
                fail_msg("case %zu: %zu frames", i, list.count);
            for (int k = 0; k < cases[i].frames; k++) {
                assert_int_equal(list.frames[k].pts, cases[i].order[k]);
                assert_int_equal(sk_packet_list_number(&list, cases[i].order[k]), k);
                assert_int_equal(sk_packet_list_number(&list, cases[i].order[k] + 1), -1);
            }
            const bool timed = i != 7 && i != 8 && i != 9;
            assert_int_equal(list.packets >= 0, timed);
            sk_packet_list_distrust(&list);
            assert_int_equal(sk_packet_list_number(&list, 0), -1);
            sk_packet_list_free(&list);
            assert_true(!list.frames && !list.begun);
        }
}

/* A key frame stays one wherever its time puts it. */
static void keys_go_with_their_frames(void **state)
{
    (void)state;
    if (sk_ff.av_read_frame != hand_out)
        skip();
    static const int64_t mixed[] = {0, 30, 10, 20, 60, 40, 50};
    sk_packet_list list = list_of(mixed, 7, sk_clock_ns() + (int64_t)3600 * 1000000000);
    for (int i = 0; i < 7; i++) /* the first, the fourth (20) and the seventh (50) were handed out as such */
        assert_int_equal(list.frames[i].key, i == 0 || i == 2 || i == 5);
    sk_packet_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_in_order_or_of_no_use),
                                       cmocka_unit_test(keys_go_with_their_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_without_video(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
