/* SPDX-License-Identifier: Apache-2.0 */
/* Which videos several decoders may share: those whose packets say, soon and again and again, that decoding begins anew. Packets are
 * handed out here instead of being read from a file. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/relay_ffmpeg.h"

#include <string.h>

enum { STEP = 40 }; /* packets from one that begins anew to the next, unless a case says otherwise */

typedef struct stream {
    int codec;
    const uint8_t *head; /* extradata */
    int head_bytes;
    uint8_t key[24], other[24]; /* bytes of packets */
    int key_bytes, other_bytes;
    int key_flags; /* of those that begin anew … */
    int64_t pts;   /* … and their times; AV_NOPTS_VALUE none */
    int every;     /* … one in so many */
    int count;     /* packets of the file */
} stream;

static const stream *now;
static int given;

static int hand_out(AVFormatContext *format, AVPacket *packet)
{
    (void)format;
    if (given >= now->count)
        return AVERROR_EOF;
    const bool key = given % now->every == 0;
    packet->data = (uint8_t *)(uintptr_t)(key ? now->key : now->other);
    packet->size = key ? now->key_bytes : now->other_bytes;
    packet->flags = key ? now->key_flags : 0;
    packet->pts = key ? now->pts : given;
    packet->stream_index = 3;
    given++;
    return 0;
}

static void forget(AVPacket *packet)
{
    *packet = (AVPacket){0};
}

static bool suits(const stream *s)
{
    AVCodecParameters video = {
        .codec_id = s->codec, .extradata = (uint8_t *)(uintptr_t)s->head, .extradata_size = s->head_bytes};
    AVStream of = {.index = 3, .codecpar = &video};
    AVPacket packet = {0};
    sk_decoder d = {.stream = &of, .packet = &packet};
    now = s;
    given = 0;
    return sk_relay_suits(&d);
}

/* avcC: its fifth byte has the size of lengths, less one; hvcC: its twenty-second. */
static const uint8_t four[] = {1, 0, 0, 0, 0xff, 0}, two[] = {1, 0, 0, 0, 0xfd, 0},
                     plain[] = {0, 0, 0, 1, 0x67, 0}, hevc[23] = {1, [21] = 0xff};

#define H264(...)                                                                                            \
    {                                                                                                        \
        .codec = AV_CODEC_ID_H264, .key_flags = AV_PKT_FLAG_KEY, .every = STEP, .count = 200, __VA_ARGS__    \
    }
#define HEVC(...)                                                                                            \
    {                                                                                                        \
        .codec = AV_CODEC_ID_HEVC, .key_flags = AV_PKT_FLAG_KEY, .every = STEP, .count = 200, __VA_ARGS__    \
    }
#define IDR4                                                                                                 \
    {                                                                                                        \
        0, 0, 0, 2, 0x65, 7                                                                                  \
    }
#define HEAD(of) .head = (of), .head_bytes = sizeof(of)

static void packets_say_where_decoding_begins(void **state)
{
    (void)state;
    static const struct {
        stream s;
        bool suits;
    } cases[] = {
        /* H.264 with lengths of four bytes: 5 is an IDR picture, 1 none, 6 (SEI) may stand before it */
        {H264(HEAD(four), .key = IDR4, .key_bytes = 6), true},
        {H264(HEAD(four), .key = {0, 0, 0, 2, 0x61, 7}, .key_bytes = 6), false},
        {H264(HEAD(four), .key = {0, 0, 0, 2, 0x06, 7, 0, 0, 0, 2, 0x65, 7}, .key_bytes = 12), true},
        {H264(HEAD(four), .key = {0, 0, 0, 2, 0x06, 7, 0, 0, 0, 2, 0x61, 7}, .key_bytes = 12), false},
        {H264(HEAD(four), .key = {0, 0, 0, 9, 0x06, 7, 0, 0, 0, 2, 0x65, 7}, .key_bytes = 12),
         false}, /* beyond the end */
        {H264(HEAD(four), .key = {0, 0, 0, 9}, .key_bytes = 4), false},
        {H264(HEAD(four), .key = IDR4, .key_bytes = 4), false}, /* a length, and nothing behind it */
        {H264(HEAD(four), .key = IDR4, .key_bytes = 5), true},
        /* … of two bytes */
        {H264(HEAD(two), .key = {0, 2, 0x06, 7, 0, 3, 0x65, 7, 7}, .key_bytes = 9), true},
        {H264(HEAD(two), .key = {0, 2, 0x06, 7, 0, 3, 0x41, 7, 7}, .key_bytes = 9), false},
        /* with start codes: the head begins with one, or there is none */
        {H264(HEAD(plain), .key = {0, 0, 0, 1, 0x65, 7}, .key_bytes = 6), true},
        {H264(.key = {0, 0, 1, 0x09, 7, 0, 0, 1, 0x65, 7}, .key_bytes = 10), true},
        {H264(.key = {0, 0, 1, 0x09, 7, 0, 0, 1, 0x61, 7}, .key_bytes = 10), false},
        {H264(.key = {9, 9, 9, 9, 9, 9, 9}, .key_bytes = 7), false},
        {H264(.key = {9, 9, 9, 9, 9, 9, 0x65}, .key_bytes = 7), false}, /* no unit begins there */
        {H264(.key = {0, 0, 1, 0x09, 7, 0, 0, 1, 0x65}, .key_bytes = 9), false},
        /* HEVC: 19 and 20 begin anew, 21 (a clean random access picture) does not */
        {HEVC(HEAD(hevc), .key = {0, 0, 0, 2, 19 << 1, 7}, .key_bytes = 6), true},
        {HEVC(HEAD(hevc), .key = {0, 0, 0, 2, 20 << 1, 7}, .key_bytes = 6), true},
        {HEVC(HEAD(hevc), .key = {0, 0, 0, 2, 21 << 1, 7}, .key_bytes = 6), false},
        {HEVC(HEAD(hevc), .key = {0, 0, 0, 2, 18 << 1, 7}, .key_bytes = 6), false},
        {HEVC(.key = {0, 0, 1, 32 << 1, 1, 0, 0, 1, 19 << 1, 1, 0}, .key_bytes = 11), true},
        /* others: VP9's key frames do, of the rest it is not known */
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = STEP, .count = 200}, true},
        {{.codec = AV_CODEC_ID_MPEG4, .key_flags = AV_PKT_FLAG_KEY, .every = STEP, .count = 200}, false},
        /* no mark, no time, no second one, too near, too far */
        {{.codec = AV_CODEC_ID_VP9, .key_flags = 0, .every = STEP, .count = 200}, false},
        {{.codec = AV_CODEC_ID_VP9,
          .key_flags = AV_PKT_FLAG_KEY,
          .pts = AV_NOPTS_VALUE,
          .every = STEP,
          .count = 200},
         false},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = STEP, .count = STEP}, false},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = STEP, .count = STEP + 1}, true},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = 31, .count = 32}, false},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = 32, .count = 33}, true},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = 1, .count = 33}, true},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = 599, .count = 2000}, true},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = 600, .count = 2000}, false},
        {{.codec = AV_CODEC_ID_VP9, .key_flags = AV_PKT_FLAG_KEY, .every = 10, .count = 0}, false},
    };
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
    const sk_ffmpeg real = sk_ff;
    sk_ff.av_read_frame = hand_out;
    sk_ff.av_packet_unref = forget;
    int wrong = -1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && wrong < 0; i++)
        if (suits(&cases[i].s) != cases[i].suits)
            wrong = (int)i;
    sk_ff = real;
    if (wrong >= 0)
        fail_msg("case %d", wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packets_say_where_decoding_begins)};
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
