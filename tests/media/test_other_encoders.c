/* SPDX-License-Identifier: Apache-2.0 */
/* Videos where FFmpeg has no libx264: the encoder that every FFmpeg has takes its place, and frames keep their times. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"
#include "media/video_sink.h"
#include "skitter/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static __typeof__(avcodec_find_encoder_by_name) *find_by_name;

static const AVCodec *find_others(const char *name)
{
    return strstr(name, "264") ? NULL : find_by_name(name);
}

static void frames_keep_their_times(void **state)
{
    (void)state;
    static uint8_t pixels[3 * 64 * 48 + SK_VIDEO_SINK_SPARE];
    static const double rates[] = {0, 25, 10};
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK || !sk_ff.avcodec_find_encoder_by_name("mpeg4"))
        skip();
    find_by_name = sk_ff.avcodec_find_encoder_by_name;
    for (int i = 0; i < 3; i++) {
        const double rate = rates[i] > 0 ? rates[i] : 25; /* unknown: as most cameras have it */
        char path[4200];
        sk_video_sink *sink = NULL;
        sk_source *source = NULL;
        snprintf(path, sizeof path, "%s/other%d.mp4", test_folder(), i);
        sk_ff.avcodec_find_encoder_by_name = find_others;
        const sk_status status = sk_video_sink_open(path, 64, 48, rates[i], &sink, &err);
        sk_ff.avcodec_find_encoder_by_name = find_by_name;
        assert_ok(status, &err);
        assert_string_equal(sk_video_sink_encoder(sink), "mpeg4");
        for (int k = 0; k < 8; k++) {
            sk_frame f = SK_FRAME_INIT;
            f.format = SK_PIXEL_RGB, f.width = 64, f.height = 48, f.stride = 192, f.data = pixels;
            f.index = k, f.time_ns = (int64_t)llrint(k / rate * 1e9);
            memset(pixels, 30 * k, sizeof pixels);
            assert_ok(sk_video_sink_write(sink, &f, &err), &err);
        }
        assert_ok(sk_video_sink_close(&sink, &err), &err);
        assert_ok(sk_source_open(path, NULL, &source, &err), &err);
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        assert_true(fabs(info.rate - rate) < 0.01 && info.width == 64 && info.height == 48);
        for (int k = 0; k < 8; k++) {
            const sk_frame *frame = NULL;
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_non_null(frame);
            if (fabs((double)frame->time_ns * 1e-9 - k / rate) > 1e-3)
                fail_msg("rate %g, frame %d: %g s", rates[i], k, (double)frame->time_ns * 1e-9);
            assert_in_range(frame->data[24 * frame->stride + 96] + 12, 30 * k, 30 * k + 24);
            sk_source_release(source, frame);
        }
        sk_source_close(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_keep_their_times)};
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
