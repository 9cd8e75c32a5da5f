/* SPDX-License-Identifier: Apache-2.0 */
/* A run that draws its pictures and goes on: what is drawn stays as it is, what is missing is drawn; and pictures of frames without
 * memory. */
#include "track_fixture.h"

#include "app/frame_reader.h"
#include "app/predict.h"
#include "media/overlay.h"
#include "media/video_sink.h"
#include "support/fault.h"
#include "support/yolo_writer.h"

#include <sys/stat.h>
#include <unistd.h>

static void put_pictures(void)
{
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < 6; i++) {
        char path[64];
        static uint8_t pixels[48 * 40 * 3];
        const sk_frame f = {
            .format = SK_PIXEL_RGB, .width = 48, .height = 40, .stride = 48 * 3, .data = pixels};
        for (size_t k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)(k * (size_t)(i + 3) * 2654435761u >> 13);
        snprintf(path, sizeof path, "pictures/%c.png", 'a' + i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
}

static char network[4300];
static int64_t stop_at;

static bool stop(void *context, const sk_predict_progress *p)
{
    (void)context;
    return p->done == stop_at;
}

static const char *out = "run";

static sk_predict_report *run(bool overlay, int64_t until)
{
    static sk_predict_report report;
    sk_predict_settings s;
    sk_predict_defaults(&s);
    s.source = "pictures";
    s.out = out;
    s.n_formats = 1;
    s.n_models = 1;
    s.models[0] = network;
    s.overlay = overlay;
    s.detector.height = s.detector.width = 32;
    s.detector.confidence = 0.01f;
    stop_at = until;
    assert_ok(sk_predict_run(&s, stop, NULL, &report, &err), &err);
    return &report;
}

/* When each of the six was drawn: 0 where it is not there. */
static void drawn(int64_t when[6])
{
    for (int i = 0; i < 6; i++) {
        char path[64];
        struct stat info = {0};
        bool there = false;
        for (int k = 0; k < 2 && !there; k++) {
            snprintf(path, sizeof path, "%s/overlay/%c%s", out, 'a' + i, k ? ".jpg" : ".png");
            there = stat(path, &info) == 0;
        }
        when[i] = there ? (int64_t)info.st_ino : 0;
    }
}

static void what_is_missing_is_drawn(void **state)
{
    (void)state;
    int64_t first[6], then[6];
    put_pictures();
    assert_int_equal(run(true, 4)->frames, 4);
    drawn(first);
    for (int i = 0; i < 6; i++)
        assert_int_equal(first[i] != 0, i < 4);
    assert_true(unlink("run/overlay/b.jpg") == 0 || unlink("run/overlay/b.png") == 0);
    assert_int_equal(run(true, -1)->total_frames, 6);
    drawn(then);
    for (int i = 0; i < 6; i++) {
        assert_int_not_equal(then[i], 0);
        if (i < 4 && i != 1)
            assert_int_equal(then[i], first[i]); /* nobody has touched it */
    }
    assert_true(run(true, -1)->nothing_to_do);
}

/* A run without drawings that is asked for them later: all are drawn, nothing is looked at again. */
static void drawn_later(void **state)
{
    (void)state;
    int64_t then[6];
    out = "later";
    assert_int_equal(run(false, -1)->total_frames, 6);
    drawn(then);
    assert_int_equal(then[0], 0);
    char *before = text_of(out, "results.csv");
    assert_int_equal(run(true, -1)->total_frames, 6);
    char *after = text_of(out, "results.csv");
    assert_string_equal(before, after);
    sk_free(before);
    sk_free(after);
    drawn(then);
    for (int i = 0; i < 6; i++)
        assert_int_not_equal(then[i], 0);
}

/* --- pictures of frames --- */

static sk_status look(void *context, sk_error *e)
{
    sk_frame_reader *reader = NULL;
    const sk_frame *frame = NULL;
    sk_blob *jpeg = NULL;
    sk_run_view *view = NULL;
    int64_t given = -1;
    (void)context;
    sk_status status = sk_run_view_open("mice", &view, e);
    const sk_frame_wanted small = {.n = 2, .width = 20}, whole = {.n = 3},
                          seen = {.n = 2, .view = view, .draw = SK_DRAW_ALL, .width = 30};
    if (status == SK_OK)
        status = sk_frame_reader_open("pictures", NULL, &reader, e);
    if (status == SK_OK)
        status = sk_frame_reader_get(reader, 1, &frame, e);
    if (status == SK_OK)
        status = sk_frame_reader_jpeg(reader, &small, &jpeg, &given, e);
    sk_blob_unref(&jpeg);
    if (status == SK_OK)
        status = sk_frame_reader_jpeg(reader, &whole, &jpeg, &given, e);
    sk_blob_unref(&jpeg);
    if (status == SK_OK)
        status = sk_frame_reader_jpeg(reader, &seen, &jpeg, &given, e);
    sk_blob_unref(&jpeg);
    sk_frame_reader_close(&reader);
    sk_run_view_close(&view);
    return status;
}

static void frames_without_memory(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"jsonl", NULL};
    put_mice("mice.csv", 4);
    trial_defaults(&t, "mice.csv", "mice", formats);
    assert_ok(trial_run(&t), &err);
    assert_true(test_every_allocation(look, NULL) > 30);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "drawn.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_missing_is_drawn),
                                       cmocka_unit_test(drawn_later),
                                       cmocka_unit_test(frames_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
