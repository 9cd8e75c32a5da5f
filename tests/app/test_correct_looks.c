/* SPDX-License-Identifier: Apache-2.0 */
/* The corrected copy of a run that has counted what animals look like. */
#include "track_fixture.h"

#include "app/correct.h"
#include "app/track_background.h"
#include "media/draw.h"
#include "media/video_sink.h"
#include "results/result_reader.h"

#include <unistd.h>

static const char *const lines_only[] = {"jsonl", "csv", NULL};

static void save(const char *from, const char *out)
{
    sk_run_view *v = NULL;
    static sk_predict_report report;
    const sk_correct_save how = {.out = out, .without_video = true};
    assert_ok(sk_run_view_open(from, &v, &err), &err);
    assert_ok(sk_correct_save_run(v, &how, &report, &err), &err);
    assert_string_equal(report.notice, ""); /* by the journal */
    sk_run_view_close(&v);
}

/* A disc that comes in frame 3 and goes to the right. */
static void put_pictures(void)
{
    static uint8_t pixels[96 * 64 * 3];
    sk_frame f = {.format = SK_PIXEL_RGB, .width = 96, .height = 64, .stride = 96 * 3, .data = pixels};
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < 12; i++) {
        char path[64];
        memset(pixels, 200, sizeof pixels);
        if (i >= 3)
            sk_draw_disc(&f, 4 + 7 * (float)i, 30, 6, 0x202020);
        snprintf(path, sizeof path, "pictures/%03d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
}

static bool has_looks(const char *folder)
{
    char path[64];
    bool any = false;
    sk_result_reader *reader = NULL;
    sk_result_frame f;
    snprintf(path, sizeof path, "%s/journal.skj", folder);
    assert_ok(sk_result_reader_open_journal(path, &reader, &err), &err);
    for (int64_t i = 0; i < sk_result_reader_count(reader); i++) {
        assert_ok(sk_result_reader_read(reader, i, &f, &err), &err);
        any = any || (f.instances->count > 0 && f.looks);
    }
    sk_result_reader_close(&reader);
    return any;
}

/* A run that counted what animals look like has a copy that does, too. */
static void looks(void **state)
{
    (void)state;
    put_pictures();
    for (int with = 0; with < 2; with++) {
        static track_trial t;
        sk_track_run *run = NULL;
        trial_defaults(&t, "", with ? "looks" : "plain", lines_only);
        t.settings.source = "pictures";
        t.wish.cached = false;
        t.wish.looks = with;
        assert_ok(sk_track_run_open(&t.wish, &run, &err), &err);
        const sk_track_background given = {&t.settings, run};
        assert_ok(sk_track_background_run(&given, NULL, NULL, &t.report, &err), &err);
        sk_track_run_close(&run);
        assert_int_equal(has_looks(t.out), with);
        save(t.out, with ? "looks_copy" : "plain_copy");
        assert_same_file(t.out, with ? "looks_copy" : "plain_copy", "results.csv");
        assert_int_equal(has_looks(with ? "looks_copy" : "plain_copy"), with);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
