/* SPDX-License-Identifier: Apache-2.0 */
/* Cameras: which there are, what is said of those that cannot be had, and that one which comes back is read on. */
#ifdef SKITTER_HAVE_FFMPEG
#include "made_live.h"

/* --- what is live --- */

static void files_and_streams(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        int64_t duration, bytes;
        bool live;
    } cases[] = {{"http://127.0.0.1:9/x", AV_NOPTS_VALUE, -1, true},
                 {"http://127.0.0.1:9/x", 0, 0, true},
                 {"http://127.0.0.1:9/x", 1000000, -1, false},
                 {"http://127.0.0.1:9/x", 0, 1000, false},
                 {"rtsp://127.0.0.1:9/x", 1000000, 1000, true},
                 {"RTSPS://127.0.0.1:9/x", 1000000, 1000, true},
                 {"/dev/video3", 1000000, 1000, true},
                 {"3", 1000000, 1000, true}};
    sk_error err;
    camera.there = camera.character = camera.allowed = true;
    if (sk_ffmpeg_load_cameras("a test", &err) != SK_OK)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server.duration = cases[i].duration;
        server.bytes = cases[i].bytes;
        assert_ok(open_live(cases[i].uri, &err), &err);
        if ((reader != NULL) != cases[i].live)
            fail_msg("%s is %s", cases[i].uri, reader ? "live" : "a file");
        if (!reader)
            continue;
        assert_int_equal(reader->info.kind, SK_SOURCE_LIVE);
        assert_true(reader->info.width == 64 && reader->info.height == 48 && reader->info.frames == -1 &&
                    reader->info.total == -1 && reader->info.stamped);
        close_live();
    }
}

/* --- cameras --- */

static void cameras_that_cannot_be_had(void **state)
{
    (void)state;
    sk_error err;
    server.refused = 1000;
    assert_int_equal(open_live("camera:9", &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message,
                        "/dev/video9: there is no such camera; none is connected, or this account or "
                        "container sees none");
    camera.others = 1;
    assert_int_equal(open_live("9", &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "/dev/video9: there is no such camera; connected are /dev/video0");
    camera.others = 9; /* eight are named */
    assert_int_equal(open_live("/dev/video9", &err), SK_ERR_NOT_FOUND);
    assert_string_equal(
        err.message,
        "/dev/video9: there is no such camera; connected are /dev/video0, /dev/video1, /dev/video2, "
        "/dev/video3, /dev/video4, /dev/video5, /dev/video6, /dev/video7");
    camera.there = true;
    assert_int_equal(open_live("9", &err), SK_ERR_IO);
    assert_string_equal(err.message,
                        "/dev/video9: this camera may not be opened by this account: Permission denied. On "
                        "Linux the group 'video' may (sudo usermod -aG video $USER, then log in again)");
    camera.allowed = true;
    assert_int_equal(open_live("9", &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "/dev/video9: is no camera");
    assert_int_equal(attempts, 0);
    camera.character = true;
    if (sk_ffmpeg_load_cameras("a test", &err) != SK_OK)
        skip();
    server.lacks_v4l2 = true;
    assert_int_equal(open_live("9", &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "/dev/video9: this FFmpeg reads no cameras (it has no v4l2 device)");
    assert_string_equal(wanted_format, "v4l2");
    server.lacks_v4l2 = false; /* one that is in use is not waited for */
    assert_int_equal(open_live("9", &err), SK_ERR_IO);
    assert_int_equal(attempts, 1);
    assert_true(seconds_now() < 0.01);
    assert_false(whitelisted);
    assert_int_equal(n_said, 0);
    assert_null(reader);
}

static int published, away_seen;
static void publish(void *context)
{
    (void)context;
    published++;
    away_seen += reader->away;
}

/* A camera that fails, is gone and comes back: frames are counted on, times are those of their coming. */
static void a_camera_comes_back(void **state)
{
    (void)state;
    sk_error err;
    camera.there = camera.character = camera.allowed = true;
    if (sk_ffmpeg_load_cameras("a test", &err) != SK_OK)
        skip();
    settings.first = 3;
    settings.last = 40;
    settings.step = 2;
    assert_ok(open_live("3", &err), &err);
    assert_int_equal(reader->info.frames, 19);
    reader->publish = publish;
    server.packets = 20;
    n_read = published = away_seen = 0;
    int64_t first_ns = 0, before = -1;
    int count = 0;
    for (bool end = false;; count++) {
        assert_ok(reader->read(reader, &slot, &end, &err), &err);
        if (end)
            break;
        assert_int_equal(slot.frame.index, 3 + 2 * count);
        first_ns = count ? first_ns : now_ns;
        assert_true(llabs(slot.frame.time_ns - (now_ns - first_ns)) < 1000);
        assert_true(slot.frame.time_ns > before);
        before = slot.frame.time_ns;
    }
    assert_int_equal(count, 19);
    assert_true(reader->outages >= 1 && reader->reconnects == 3 * reader->outages); /* twice in vain */
    assert_int_equal(published, 4 * reader->outages);
    assert_int_equal(away_seen, 3 * reader->outages);
    assert_false(reader->away);
    assert_non_null(strstr(reader->last_problem, "Connection refused"));
    assert_non_null(strstr(said[0], "/dev/video3: "));
    assert_non_null(strstr(said[0], "; connecting again"));
    assert_non_null(strstr(said[1], "/dev/video3: connected again after "));
    assert_non_null(strstr(said[1], " s, at attempt 3"));
    close_live();
}

int main(void)
{
    const struct CMUnitTest tests[] = {MADE_LIVE(files_and_streams), MADE_LIVE(cameras_that_cannot_be_had),
                                       MADE_LIVE(a_camera_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
