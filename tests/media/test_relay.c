/* SPDX-License-Identifier: Apache-2.0 */
/* Several decoders that take turns at one video: the same frames in the same order as of one, on a stand-in for NVIDIA's decoder
 * (fake_nvidia.c) whose pictures differ by the bytes they are decoded from. */
#include "fake_nvidia.h"
#include "support/test.h"

#include "media/reader.h"
#include "skitter/log.h"
#include "skitter/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 2000
typedef struct seen {
    int64_t index, time_ns;
    int grey;
} seen;

static int turns;
static void count_turns(void *cookie, sk_log_level level, const char *text)
{
    (void)cookie;
    (void)level;
    turns += strstr(text, "take turns") != NULL;
    turns -= strstr(text, "on one decoder") != NULL;
}

static int read_all(const char *video, bool one, int32_t loop, seen *out)
{
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    int count = 0;
    sk_source_defaults(&settings);
    settings.hwaccel = "cuda";
    settings.format = SK_PIXEL_GRAY;
    settings.loop = loop;
    settings.last = one ? 1000000 : -1; /* a range is read by one */
    assert_ok(sk_source_open(video, &settings, &source, &err), &err);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source_get_info(source, &info);
    assert_string_equal(info.hwaccel, "cuda");
    for (;;) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        assert_true(count < MOST);
        out[count++] = (seen){frame->index, frame->time_ns, frame->data[0]};
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return count;
}

static void frames_are_those_of_one_decoder(void **state)
{
    (void)state;
    static const struct {
        const char *how; /* of ffmpeg */
        const char *file;
        int32_t loop;
        int turns;
    } cases[] = {
        {"-frames:v 150 -c:v libx264 -g 40 -bf 3", "gop40.mp4", 1, 1},
        {"-frames:v 110 -c:v libx264 -g 40 -bf 3", "again.mp4", 4, 1},
        {"-frames:v 150 -c:v libx264 -g 7", "short.mkv", 2, 1},
        /* whose beginning is not found again */
        {"-frames:v 150 -c:v libx264 -g 40 -f mpegts", "gop40.ts", 1, 0},
        {"-frames:v 100 -c:v libx264 -g 1", "intra.mp4", 2, 1},
        {"-frames:v 50 -c:v libx264 -g 250", "one.mp4", 2, 0},
        /* a stretch that does not end: one decoder goes on in the middle of it, and plays it again */
        {"-frames:v 760 -c:v libx264 -g 10000 -force_key_frames 1.6", "endless.mp4", 2, 0},
        {"-frames:v 150 -c:v libx264 -g 40 -x264-params open-gop=1:bframes=3", "open.mp4", 1, 0},
    };
    static seen alone[MOST], together[MOST];
    char folder[] = "/tmp/skitter_relay_XXXXXX", path[128], command[512];
    if (system("command -v ffmpeg >/dev/null 2>&1") != 0)
        skip();
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].file);
        snprintf(command, sizeof command,
                 "ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=160x96:r=25 %s -pix_fmt yuv420p %s",
                 cases[i].how, path);
        if (system(command) != 0)
            skip();
        const int expected = read_all(path, true, cases[i].loop, alone);
        turns = 0;
        const int count = read_all(path, false, cases[i].loop, together);
        if (turns != cases[i].turns)
            fail_msg("%s: turns were taken %d times", cases[i].file, turns);
        assert_int_equal(count, expected);
        for (int k = 0; k < count; k++)
            if (memcmp(&alone[k], &together[k], sizeof alone[k]) != 0)
                fail_msg("%s, frame %d: number %lld, time %lld, grey %d instead of %lld, %lld, %d",
                         cases[i].file, k, (long long)together[k].index, (long long)together[k].time_ns,
                         together[k].grey, (long long)alone[k].index, (long long)alone[k].time_ns,
                         alone[k].grey);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* Left in the middle, while decoders are ahead and wait. */
static void closing_waits_for_nobody(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[64], command[256];
    snprintf(path, sizeof path, "/tmp/skitter_relay_%ld.mp4", (long)getpid());
    snprintf(
        command, sizeof command,
        "ffmpeg -v error -nostdin -y -f lavfi -i testsrc2=s=160x96:r=25 -frames:v 400 -c:v libx264 -g 100 %s",
        path);
    if (system(command) != 0)
        skip();
    for (int n = 0; n < 4; n++) {
        sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
        sk_source *source = NULL;
        const sk_frame *frame = NULL;
        sk_source_defaults(&settings);
        settings.hwaccel = "cuda";
        assert_ok(sk_source_open(path, &settings, &source, &err), &err);
        for (int k = 0; k < 50 * n; k++) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            sk_source_release(source, frame);
        }
        sk_source_close(&source);
    }
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    if (!fake_nvidia_load())
        return 1;
    sk_log_listener *listener = NULL;
    if (sk_log_listen(SK_LOG_INFO, count_turns, NULL, &listener, NULL) != SK_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_those_of_one_decoder),
        cmocka_unit_test(closing_waits_for_nobody),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_log_unlisten(&listener);
    return failed;
}
