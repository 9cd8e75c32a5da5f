/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's folder holds: run.json of a header in which every field differs, and what is removed, kept or refused of what lay there
 * before. */
#include "support/test.h"

#include "app/run_folder_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *path)
{
    char *folder = sk_path_folder(path);
    assert_ok(sk_folder_make(folder, &err), &err);
    assert_ok(sk_file_replace(path, "x", 1, &err), &err);
    sk_free(folder);
}

static void run_json(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly", "bee"}, *const points[] = {"nose", "tail"},
                             *const files[] = {"results.csv", "run.json", NULL};
    static const int32_t edges[1][2] = {{0, 1}};
    static const sk_instances nothing = {0};
    sk_text all = {.limit = 1 << 20};
    sk_run_header h = {
        .source = "v.mp4",
        .source_kind = "video",
        .width = 640,
        .height = 480,
        .rate = 29.5,
        .task = "pose",
        .n_models = 2,
        .model_paths = {"a.pt", "b.pt"},
        .model_hashes = {"ha", "hb"},
        .n_files = 2,
        .files = {{.model = 1, .path = "b.onnx", .sha256 = "hc"}, {.model = 1, .path = "", .sha256 = "hd"}},
        .n_classes = 2,
        .class_names = classes,
        .n_keypoints = 2,
        .keypoint_names = points,
        .n_edges = 1,
        .edges = edges,
        .runtime_requested = "cuda",
        .runtime = "cpu",
        .device = "a box",
        .precision = "f32",
        .shape = "rect",
        .heads = "one-to-one",
        .input_width = 512,
        .input_height = 384,
        .settings = "conf 0.25",
        .version = "0",
        .started = "then",
        .stamped = true,
        .frame_id = "cam"};
    sk_run_standing s = {.state = SK_RUN_INCOMPLETE,
                         .frames = 7,
                         .instances = 9,
                         .part_frames = 5,
                         .part_seconds = 2,
                         .decoder = "h264",
                         .hwaccel = "cuda",
                         .hwaccel_refused = "no",
                         .source = {.size = sizeof s.source,
                                    .decoded = 11,
                                    .dropped = 12,
                                    .damaged = 13,
                                    .missing = 14,
                                    .reconnects = 15,
                                    .outages = 16,
                                    .connected = true,
                                    .decode_seconds = 0.5,
                                    .last_problem = "broken"}};
    const sk_run_begin how = {.identity = "conf\t0.25\nmodels\tha hb\n", .source = "v.mp4", .files = files};
    for (int i = 0; i < 3; i++) {
        sk_run_folder *folder = NULL;
        char path[32], *text = NULL;
        size_t length = 0;
        snprintf(path, sizeof path, "written%d", i);
        assert_ok(sk_run_folder_open(path, &folder, &err), &err);
        assert_ok(sk_run_folder_note(folder, &h, &s, &err), &err); /* too early */
        assert_ok(sk_run_folder_begin(folder, &how, &err), &err);
        if (i == 0) {
            const sk_result_frame bad[] = {
                {.source = "p/x.png", .index = 3, .instances = &nothing, .problem = "no picture"},
                {.source = "p/y.png", .index = 12, .instances = &nothing, .problem = "cut off"}};
            assert_string_equal(sk_run_folder_first_problem(folder), "");
            for (int k = 0; k < 2; k++)
                assert_ok(sk_run_folder_leave_out(folder, &bad[k], &err), &err);
            assert_int_equal(sk_run_folder_left_out(folder), 2);
            assert_string_equal(sk_run_folder_first_problem(folder), "no picture");
        } else { /* what is not known is not told */
            h.stamped = false;
            h.frame_id[0] = '\0';
            h.shape = i == 1 ? "square" : NULL;
            h.input_width = 0;
            h.n_files = 0;
            s.hwaccel_refused = i == 1 ? "" : NULL;
            s.part_seconds = 0;
            s.state = i == 1 ? SK_RUN_FINISHED : SK_RUN_FAILED;
        }
        assert_ok(sk_run_folder_note(folder, &h, &s, &err), &err);
        snprintf(path, sizeof path, "written%d/run.json", i);
        assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
        sk_text_appendf(&all, "--- %d\n%s", i, text);
        /* a run that was complete before: what a finished one said stays, anything else is replaced */
        sk_run_standing again = s;
        again.nothing_to_do = true;
        again.frames = 1234;
        assert_ok(sk_run_folder_note(folder, &h, &again, &err), &err);
        sk_free(text);
        assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
        assert_int_equal(strstr(text, "1234") != NULL, i != 1);
        sk_free(text);
        sk_run_folder_close(&folder);
    }
    test_text_is("tests/app/told/run_json.txt", sk_text_get(&all));
    sk_text_free(&all);
}

static void what_a_run_leaves_is_removed(void **state)
{
    (void)state;
    static const char *const gone[] = {"results.csv",
                                       "results.jsonl",
                                       "results.slp",
                                       "results.mot.txt",
                                       "tracks.csv",
                                       "tracks_forward.csv",
                                       "tracks_backward.csv",
                                       "tracks_final.csv",
                                       "overlay.mp4",
                                       ".overlay",
                                       "run.json",
                                       "report.html",
                                       "corrections.jsonl",
                                       "results.db3-journal",
                                       "overlay/a.jpg",
                                       "overlay.parts/p.mp4",
                                       "overlay.done/p.mp4",
                                       "plots/a.svg",
                                       "plots/a.png",
                                       "rosbag2/b.mcap",
                                       "rosbag2/b.yaml",
                                       "crops/x.jpg",
                                       "crops/fly/x.jpg",
                                       "labels/x.txt"},
                             *const stays[] = {
                                 "mine.txt",           "overlay/mine.txt",    "overlay.parts/a.jpg",
                                 "plots/mine.txt",     "rosbag2/mine.csv",    "crops/mine.png",
                                 "crops/fly/mine.png", "crops/.hidden/x.jpg", "labels/mine.csv",
                                 "results.txt"};
    char path[128];
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        snprintf(path, sizeof path, "left/%s", gone[i]);
        put(path);
    }
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        snprintf(path, sizeof path, "left/%s", stays[i]);
        put(path);
    }
    run_remove_results("left");
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        snprintf(path, sizeof path, "left/%s", gone[i]);
        if (sk_file_exists(path))
            fail_msg("%s is there", path);
    }
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        snprintf(path, sizeof path, "left/%s", stays[i]);
        if (!sk_file_exists(path))
            fail_msg("%s is gone", path);
    }
    /* links are removed, and not followed */
    static const char *const linked[] = {"crops", "overlay", "plots", "labels"};
    put("elsewhere/x.jpg");
    put("elsewhere/x.svg");
    put("elsewhere/x.txt");
    assert_ok(sk_folder_make("links", &err), &err);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "links/%s", linked[i]);
        assert_int_equal(symlink("../elsewhere", path), 0);
    }
    run_remove_results("links");
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "links/%s", linked[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_true(sk_file_exists("elsewhere/x.jpg") && sk_file_exists("elsewhere/x.svg") &&
                sk_file_exists("elsewhere/x.txt"));
}

static void halves_and_somebody_elses(void **state)
{
    (void)state;
    static const char *const files[] = {"results.csv", "overlay/", "run.json", NULL};
    sk_run_begin how = {.files = files};
    put("halves/.journal.skj.abcdefgh");
    put("halves/.run.json.12345678");
    put("halves/.run.json.123456789");
    put("halves/.run.json.1234567");
    put("halves/.results.csv.12345678");
    run_remove_halves("halves");
    run_remove_halves("nowhere");
    assert_false(sk_file_exists("halves/.journal.skj.abcdefgh") ||
                 sk_file_exists("halves/.run.json.12345678"));
    assert_true(sk_file_exists("halves/.run.json.123456789") && sk_file_exists("halves/.run.json.1234567") &&
                sk_file_exists("halves/.results.csv.12345678"));
    assert_ok(run_check_foreign("halves", &how, &err), &err);
    assert_ok(sk_folder_make("foreign/overlay", &err), &err);
    assert_ok(run_check_foreign("foreign", &how, &err), &err); /* an empty folder is nobody's */
    put("foreign/overlay/mine.jpg");
    assert_int_equal(run_check_foreign("foreign", &how, &err), SK_ERR_MISMATCH);
    assert_string_equal(err.message, "foreign/overlay/ is there already, and no run of skitter began in this "
                                     "folder. Choose another --out, move "
                                     "it away, or give --overwrite to replace it");
    how.overwrite = true;
    assert_ok(run_check_foreign("foreign", &how, &err), &err);
    how.overwrite = false;
    assert_ok(sk_folder_make("link", &err), &err);
    assert_int_equal(symlink("nowhere", "link/run.json"), 0); /* also one that leads nowhere */
    assert_int_equal(run_check_foreign("link", &how, &err), SK_ERR_MISMATCH);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_json),
        cmocka_unit_test(what_a_run_leaves_is_removed),
        cmocka_unit_test(halves_and_somebody_elses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
