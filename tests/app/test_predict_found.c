/* SPDX-License-Identifier: Apache-2.0 */
/* What was found before and cannot be taken: without a folder, of several ranges, behind a gap, unfinished; what is said of it. */
#include "predict_fixture.h"

#include "media/frame_choice.h"
#include "skitter/log.h"

#include <unistd.h>

static sk_predict_report r;
static char warned[512];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", message);
}

static bool stop_at_one(void *context, const sk_predict_progress *p)
{
    (void)context;
    return p->done == 1;
}

static void what_is_said(void **state)
{
    (void)state;
    static const char *const late[] = {"late"}, *const torn[] = {"torn"}, *const ranges_of[] = {"ranges"};
    sk_log_listener *listener = NULL;
    put_pictures("four", 4);
    sk_predict_settings s = quick("four", "late");
    s.find_only = true;
    s.media.first = 2;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    s = quick("four", "torn");
    s.find_only = true;
    assert_ok(sk_predict_run(&s, stop_at_one, NULL, &r, &err), &err);
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    s = quick("four", "of_late");
    s.found = late;
    s.n_found = 1;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_int_equal(r.frames, 4);
    assert_string_equal(warned, "late: begins at frame 2, and frame 0 is in no --found; it and what follows "
                                "is computed here");
    warned[0] = '\0';
    s.out = "of_late2"; /* from where it begins nothing is missing */
    s.media.first = 2;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 0 && r.total_frames == 2 && !warned[0]);
    s = quick("four", "of_torn");
    s.found = torn;
    s.n_found = 1;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 3 && r.total_frames == 4);
    assert_string_equal(warned, "torn: is not finished; what it lacks, and what follows, is computed here");
    sk_log_unlisten(&listener);
    s.out = NULL;
    s.n_formats = 1;
    s.formats[0] = "csv";
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "--found needs a folder: name one with --out");
    sk_frame_range *ranges = NULL;
    s = quick("four", "ranges");
    s.find_only = true;
    assert_ok(sk_frames_parse("0:1,3:4", &s.media, &ranges, &err), &err);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    s = quick("four", "of_ranges");
    s.found = ranges_of;
    s.n_found = 1;
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "ranges: found frames 0,3; --found takes one range a folder");
    sk_free(ranges);
}

int main(void)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&pose, "pose.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
