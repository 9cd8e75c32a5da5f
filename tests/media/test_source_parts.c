/* SPDX-License-Identifier: Apache-2.0 */
/* What a source asks its decoder for, how many frames it holds ready, and what it says of the time that took. */
#include "made_video.h"

#include "base/clock.h"

#include <unistd.h>

static sk_source_settings usual(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.threads = 1;
    return s;
}

/* Kinds of frames as far as the source's own format; of each place and format the first. */
static void wishes_follow_the_readers_list(void **state)
{
    (void)state;
    const sk_frame_kind own = {.format = SK_PIXEL_RGB}, two = {.format = SK_PIXEL_NV12},
                        gpu = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = 3},
                        other = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = 1},
                        planes = {.format = SK_PIXEL_I420, .above_width = 640, .above_height = 480},
                        all = {.format = SK_PIXEL_I420},
                        far = {.format = SK_PIXEL_RGB, .place = SK_PLACE_CUDA},
                        away = {.format = SK_PIXEL_I420, .place = SK_PLACE_CUDA};
    const struct {
        sk_frame_kind list[4];
        int32_t n;
        sk_frame_wishes wishes;
    } cases[] = {
        {{own}, 0, {0}},
        {{own, two, gpu, planes}, 4, {0}},
        {{two, own, gpu}, 3, {.nv12 = true}},
        {{gpu, own}, 2, {.on_device = 4}},
        {{gpu, other, own}, 3, {.on_device = 4}},
        {{other, two, planes, own}, 4, {2, true, 640, 480}},
        {{planes, all}, 2, {.planes_above_width = 640, .planes_above_height = 480}},
        {{all, planes}, 2, {.planes_above_width = 1, .planes_above_height = 1}},
        {{far, two}, 2, {.nv12 = true}}, /* not what the source makes */
        {{away, gpu}, 2, {.on_device = 4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_source_settings s = usual();
        s.accepts = cases[i].list;
        s.n_accepts = cases[i].n;
        const sk_frame_wishes w = sk_frame_wishes_of(&s), *e = &cases[i].wishes;
        if (w.on_device != e->on_device || w.nv12 != e->nv12 ||
            w.planes_above_width != e->planes_above_width || w.planes_above_height != e->planes_above_height)
            fail_msg("case %zu: device %d, NV12 %d, planes above %d x %d", i, w.on_device, w.nv12,
                     w.planes_above_width, w.planes_above_height);
    }
}

#ifdef SKITTER_HAVE_FFMPEG
static int64_t decoded(sk_source *source)
{
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &status);
    return status.decoded;
}

/* Five million bytes of frames wait, at least one frame and six at most, beside those in two hands. */
static void frames_wait_in_store(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        sk_pixel_format format;
        int32_t queue;
        int frames;
    } cases[] = {{"64x48", SK_PIXEL_RGB, 0, 8},     {"600x600", SK_PIXEL_RGB, 0, 6},
                 {"600x600", SK_PIXEL_GRAY, 0, 8},  {"1600x1100", SK_PIXEL_RGB, 0, 3},
                 {"2000x2000", SK_PIXEL_RGB, 0, 3}, {"64x48", SK_PIXEL_RGB, 1, 3},
                 {"64x48", SK_PIXEL_RGB, 10, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[600], command[1200];
        snprintf(path, sizeof path, "%s/store.mp4", test_folder());
        snprintf(command, sizeof command,
                 "ffmpeg -v error -nostdin -y -f lavfi -i color=s=%s:r=25 -frames:v 16 -c:v mpeg4 '%s' "
                 ">/dev/null 2>&1",
                 cases[i].size, path);
        if (system(command) != 0) /* NOLINT */
            skip();
        sk_error err = {0};
        sk_source_settings s = usual();
        sk_source *source = NULL;
        s.format = cases[i].format;
        s.queue = cases[i].queue;
        assert_ok(sk_source_open(path, &s, &source, &err), &err);
        for (int n = 0; n < 6000 && decoded(source) < cases[i].frames; n++)
            usleep(5000);
        usleep(30000); /* one more would come in a part of this */
        const int64_t stored = decoded(source);
        const sk_frame *held[16] = {NULL};
        for (int k = 0; k < cases[i].frames; k++) { /* all of them can be held at once */
            assert_ok(sk_source_next(source, &held[k], &err), &err);
            assert_int_equal(held[k]->index, k);
        }
        for (int k = 0; k < cases[i].frames; k++)
            sk_source_release(source, held[k]);
        sk_source_close(&source);
        if (stored != cases[i].frames)
            fail_msg("case %zu: %d frames", i, (int)stored);
    }
}

static void time_is_told_in_seconds(void **state)
{
    (void)state;
    const char *path = made_video("timed.mp4", 60, "-c:v mpeg4 -q:v 2");
    sk_error err = {0};
    sk_source *source = NULL;
    const int64_t begun = sk_clock_ns();
    const sk_source_settings s = usual();
    assert_ok(sk_source_open(path, &s, &source, &err), &err);
    for (const sk_frame *frame = NULL;;) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        if (!frame)
            break;
        sk_source_release(source, frame);
    }
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    sk_source_get_status(source, &status);
    sk_source_close(&source);
    assert_true(status.decode_seconds > 0 && status.decode_seconds <= (double)(sk_clock_ns() - begun) * 1e-9);
    assert_int_equal(status.decoded, 60);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wishes_follow_the_readers_list),
#ifdef SKITTER_HAVE_FFMPEG
                                       cmocka_unit_test(frames_wait_in_store),
                                       cmocka_unit_test(time_is_told_in_seconds)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
