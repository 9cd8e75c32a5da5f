/* SPDX-License-Identifier: Apache-2.0 */
/* A run's folder as it is told to pages and programs: one written by hand, so that every number is known. */
#include "support/test.h"

#include "app/correct.h"
#include "app/run_record.h"
#include "app/run_view.h"
#include "app/run_view_json.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

#define RUN                                                                                                  \
    "{\"skitter\": \"0.2.0\", \"started\": \"2026-01-02T03:04:05Z\", \"state\": \"%s\", \"source\": "        \
    "\"v.mp4\", "                                                                                            \
    "\"source_kind\": \"%s\", \"width\": 640, \"height\": 480, \"rate\": 29.97003, \"stamped\": true, "      \
    "\"frame_id\": \"cam\", "                                                                                \
    "\"frames\": 7, \"task\": \"pose\", \"classes\": [\"fly\", \"bee\"], \"keypoints\": [\"nose\", "         \
    "\"tail\"], "                                                                                            \
    "\"edges\": [[0, 1], [0, 2], [-1, 0], [1, 0]], \"runtime_requested\": \"cuda\", \"runtime\": \"cpu\", "  \
    "\"device\": \"a box\", "                                                                                \
    "\"precision\": \"f32\", \"shape\": \"rect\", \"heads\": \"one-to-one\", \"network_input\": "            \
    "\"384x512\", \"settings\": \"s\", "                                                                     \
    "\"identity\": {%s\"x\": \"y\"}, \"models\": [{\"path\": \"m.pt\", \"sha256\": \"abc\", "                \
    "\"computed_by\": [{\"path\": \"m.onnx\", "                                                              \
    "\"sha256\": \"def\"}]}, {\"path\": \"n.pt\"}]}"

/* Two animals that cross: 0 goes right by 3 pixels a frame, 1 left; 1 is covered in frame 12 and not there in 13. */
static void make_run(const char *folder, const char *state, const char *kind, const char *identity)
{
    char text[4096], path[256];
    sk_text lines = {0};
    snprintf(text, sizeof text, RUN, state, kind, identity);
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(path, sizeof path, "%s/run.json", folder);
    put(path, text);
    for (int f = 10; f < 17; f++) {
        const double x = 100 + 3 * (f - 10), y = 50;
        sk_text_appendf(
            &lines,
            "{\"source\":\"v.mp4\",\"frame\":%d,\"time\":%.6f,\"keypoint_names\":[\"nose\",\"tail\"],"
            "\"edges\":[[0,1]],\"instances\":[",
            f, 0.1 * f);
        sk_text_appendf(
            &lines,
            "{\"class\":0,\"name\":\"fly\",\"score\":0.75,\"box\":[%g,%g,%g,%g],\"keypoints\":[[%g,%g,0.5],"
            "[null,null,0]],\"track\":0,\"tracking_score\":0.5,\"state\":\"active\",\"x\":%g,\"y\":%g,"
            "\"heading\":0.5,\"uncertainty\":1}",
            x - 10, y - 5, x + 10, y + 5, x, y, x, y);
        if (f == 12)
            sk_text_append(
                &lines, ",{\"class\":1,\"name\":\"bee\",\"score\":null,\"track\":1,\"tracking_score\":0.25,"
                        "\"state\":\"covered\",\"x\":112,\"y\":52,\"heading\":3,\"uncertainty\":4}");
        else if (f != 13)
            sk_text_appendf(
                &lines,
                ",{\"class\":1,\"name\":\"bee\",\"score\":0.5,\"box\":[%g,40,%g,60],\"obb\":[%g,50,24,8,0.25]"
                ","
                "\"track\":1,\"tracking_score\":0.75,\"state\":\"active\",\"x\":%g,\"y\":52,\"heading\":3,"
                "\"uncertainty\":2}",
                118 - 3.0 * (f - 10) - 12, 118 - 3.0 * (f - 10) + 12, 118 - 3.0 * (f - 10),
                118 - 3.0 * (f - 10));
        sk_text_append(&lines, "]}\n");
    }
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    put(path, sk_text_get(&lines));
    sk_text_free(&lines);
}

/* --- the record --- */

static void a_record_says_what_is_in_it(void **state)
{
    (void)state;
    sk_run_record *r = NULL;
    make_run("record", "finished", "video",
             "\"tracker\": \"skitter\", \"bad\\tname\": \"1\", \"lines\": \"a\\nb\", \"n\": 5, ");
    assert_ok(sk_run_record_open("record", &r, &err), &err);
    const sk_run_header *h = sk_run_record_header(r);
    assert_string_equal(h->source, "v.mp4");
    assert_string_equal(h->source_kind, "video");
    assert_true(h->width == 640 && h->height == 480 && h->stamped && h->tracked && !h->identities);
    assert_true(fabs(h->rate - 30000.0 / 1001) < 1e-12); /* a camera's fraction, not nine digits of it */
    assert_string_equal(h->task, "pose");
    assert_string_equal(h->runtime_requested, "cuda");
    assert_string_equal(h->runtime, "cpu");
    assert_string_equal(h->device, "a box");
    assert_string_equal(h->precision, "f32");
    assert_string_equal(h->shape, "rect");
    assert_string_equal(h->heads, "one-to-one");
    assert_string_equal(h->settings, "s");
    assert_string_equal(h->version, "0.2.0");
    assert_string_equal(h->started, "2026-01-02T03:04:05Z");
    assert_string_equal(h->frame_id, "cam");
    assert_true(h->input_height == 384 && h->input_width == 512);
    assert_true(h->n_classes == 2 && strcmp(h->class_names[1], "bee") == 0);
    assert_true(h->n_keypoints == 2 && strcmp(h->keypoint_names[0], "nose") == 0);
    assert_true(h->n_edges == 2 && h->edges[0][0] == 0 && h->edges[0][1] == 1 && h->edges[1][0] == 1 &&
                h->edges[1][1] == 0);
    assert_int_equal(h->has, SK_HAS_BOX | SK_HAS_KEYPOINTS);
    assert_true(h->n_models == 2 && h->n_files == 1 && h->files[0].model == 0);
    assert_string_equal(h->model_paths[1], "n.pt");
    assert_string_equal(h->model_hashes[0], "abc");
    assert_string_equal(h->files[0].path, "m.onnx");
    assert_string_equal(h->files[0].sha256, "def");
    assert_string_equal(sk_run_record_state(r), "finished");
    assert_int_equal(sk_run_record_frames(r), 7);
    assert_string_equal(sk_run_record_identity(r, "x"), "y");
    assert_null(sk_run_record_identity(r, "z"));
    sk_text lines = {0};
    assert_ok(sk_run_record_identity_text(r, NULL, &lines, &err), &err);
    assert_string_equal(sk_text_get(&lines),
                        "tracker\tskitter\nx\ty\n"); /* what would not be one line is none */
    sk_text_free(&lines);
    sk_run_record_close(&r);
    static const struct {
        const char *text, *part;
        sk_status status;
    } wrong[] = {{"{\"state\": \"finished\"}", "was not written by a run of skitter", SK_ERR_FORMAT},
                 {"{\"skitter\": \"1\"}", "was not written by a run of skitter", SK_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put("record/run.json", wrong[i].text);
        assert_int_equal(sk_run_record_open("record", &r, &err), wrong[i].status);
        assert_non_null(strstr(err.message, wrong[i].part));
    }
    /* little is said: what nobody says is not there */
    put("record/run.json", "{\"skitter\": \"1\", \"state\": \"running\", \"width\": 65535, \"height\": "
                           "65536, \"rate\": 0, \"task\": "
                           "\"multiclass_topdown\", \"network_input\": \"odd\"}");
    assert_ok(sk_run_record_open("record", &r, &err), &err);
    h = sk_run_record_header(r);
    assert_true(h->width == 65535 && h->height == 0 && h->rate == 0 && h->identities && !h->tracked &&
                !h->shape && !h->heads);
    assert_true(h->n_classes == 0 && h->n_keypoints == 0 && h->n_edges == 0 && h->n_models == 0 &&
                h->has == 0);
    assert_true(h->input_height == 0 && h->input_width == 0 && h->source_frames == -1 &&
                strcmp(h->source_kind, "video") == 0);
    sk_run_record_close(&r);
    static const struct {
        const char *task;
        uint32_t has;
    } tasks[] = {{"detect", SK_HAS_BOX},
                 {"segment", SK_HAS_BOX},
                 {"obb", SK_HAS_BOX | SK_HAS_OBB},
                 {"background", SK_HAS_BOX | SK_HAS_OBB},
                 {"classify", 0}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"skitter\": \"1\", \"state\": \"running\", \"task\": \"%s\"}",
                 tasks[i].task);
        put("record/run.json", text);
        assert_ok(sk_run_record_open("record", &r, &err), &err);
        assert_int_equal(sk_run_record_header(r)->has, tasks[i].has);
        sk_run_record_close(&r);
    }
    static const double rates[][2] = {
        {25, 25}, {23.976024, 24000.0 / 1001}, {59.9400599, 60000.0 / 1001}, {12.5, 12.5}, {-1, 0}, {2e6, 0}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"skitter\": \"1\", \"state\": \"running\", \"rate\": %.9g}",
                 rates[i][0]);
        put("record/run.json", text);
        assert_ok(sk_run_record_open("record", &r, &err), &err);
        assert_true(fabs(sk_run_record_header(r)->rate - rates[i][1]) < 1e-9);
        sk_run_record_close(&r);
    }
    assert_int_equal(sk_run_record_open("nowhere", &r, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "there is no such folder"));
    assert_int_equal(sk_run_record_open("record/run.json", &r, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "is a file; give the folder of a run"));
    assert_int_equal(sk_run_record_open(".", &r, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "holds the folders of several runs; give one of them: ./"));
    assert_ok(sk_folder_make("empty/.hidden", &err), &err);
    put("empty/.hidden/run.json", "{}");
    assert_int_equal(sk_run_record_open("empty", &r, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "there is no run.json in it"));
}

/* --- the view --- */

typedef sk_status (*teller)(sk_run_view *view, sk_json *json, sk_error *error);

static sk_status tell_info(sk_run_view *v, sk_json *j, sk_error *e)
{
    (void)e;
    sk_run_view_json_info(v, true, j);
    return SK_OK;
}

static sk_status tell_frames(sk_run_view *v, sk_json *j, sk_error *e)
{
    return sk_run_view_json_frames(v, 11, 14, 3, j, e);
}

static void put_told(sk_text *all, const char *title, sk_run_view *v, teller tell)
{
    sk_text text = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&text, 2);
    assert_ok(tell(v, &j, &err), &err);
    assert_ok(sk_json_end(&j, &err), &err);
    sk_text_appendf(all, "--- %s\n%s", title, sk_text_get(&text));
    sk_text_free(&text);
}

static void put_plot(sk_text *all, sk_run_view *v, const sk_run_plot *plot)
{
    sk_text text = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&text, 0);
    assert_ok(sk_run_view_json_plot(v, plot, &j, &err), &err);
    assert_ok(sk_json_end(&j, &err), &err);
    sk_text_appendf(all, "--- %s\n%s", plot->kind, sk_text_get(&text));
    sk_text_free(&text);
}

static void a_view_tells_all(void **state)
{
    (void)state;
    sk_run_view *v = NULL;
    sk_text all = {0};
    make_run("view", "finished", "video", "\"tracker\": \"skitter\", ");
    assert_ok(sk_folder_make("view/plots", &err), &err);
    put("view/report.html", "page");
    put("view/results.csv", "12345");
    assert_ok(sk_run_view_open("view", &v, &err), &err);
    put_told(&all, "info", v, tell_info);
    put_told(&all, "tracks", v, sk_run_view_json_tracks);
    put_told(&all, "suspects", v, sk_run_view_json_suspects);
    put_told(&all, "frames", v, tell_frames);
    static const char *const kinds[] = {"trajectory", "speed", "heading", "distance"};
    const int32_t both[] = {1, 0};
    for (int i = 0; i < 4; i++) {
        put_plot(&all, v, &(sk_run_plot){.kind = kinds[i], .points = 100, .to = -1});
        put_plot(&all, v,
                 &(sk_run_plot){
                     .kind = kinds[i], .tracks = both, .n_tracks = 2, .points = 3, .from = 11, .to = 15});
    }
    test_text_is("tests/app/told/run_view.txt", sk_text_get(&all));
    sk_text cells = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&cells, 0);
    assert_ok(sk_run_view_json_plot(v, &(sk_run_plot){.kind = "occupancy", .points = 1}, &j, &err), &err);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_non_null(strstr(sk_text_get(&cells), "\"width\":640,\"height\":480,\"counts\":["));
    int64_t sum = 0;
    for (const char *at = strchr(sk_text_get(&cells), '['); at && *at != ']';
         at = at + 1 + strcspn(at + 1, ",]"))
        sum += strtoll(at + 1, NULL, 10);
    assert_int_equal(sum, 12); /* seen: seven of one, five of the other */
    sk_text_free(&cells);
    sk_json unused = sk_json_to_text(&all, 0);
    assert_int_equal(sk_run_view_json_plot(v, &(sk_run_plot){.kind = "none", .points = 1}, &unused, &err),
                     SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'none' is no plot"));
    int32_t many[SK_RUN_PLOT_TRACKS + 1] = {0};
    assert_int_equal(
        sk_run_view_json_plot(
            v,
            &(sk_run_plot){.kind = "speed", .tracks = many, .n_tracks = SK_RUN_PLOT_TRACKS + 1, .points = 1},
            &unused, &err),
        SK_ERR_ARG);
    sk_run_view_close(&v);
    sk_text_free(&all);
}

/* Sums by hand: two animals, seven frames. */
static void questions_about_tracks(void **state)
{
    (void)state;
    sk_run_view *v = NULL;
    make_run("asked", "finished", "video", "\"tracker\": \"skitter\", ");
    assert_ok(sk_run_view_open("asked", &v, &err), &err);
    sk_run_view_info info;
    sk_run_view_get_info(v, &info);
    assert_true(info.tracked && info.frames == 7 && info.first == 10 && info.last == 16 && info.tracks == -1);
    assert_string_equal(info.told_by, "results.jsonl");
    assert_true(sk_run_view_number(v, 0) == 10 && sk_run_view_number(v, 6) == 16 &&
                sk_run_view_number(v, 7) == -1);
    assert_true(sk_run_view_place(v, 0) == 0 && sk_run_view_place(v, 12) == 2 &&
                sk_run_view_place(v, 99) == 7);
    sk_run_point points[8];
    int32_t n = 0;
    assert_ok(sk_run_view_series(v,
                                 &(sk_run_series){.track = 0, .other = 1, .from = 0, .to = -1, .most = 100},
                                 points, &n, &err),
              &err);
    assert_int_equal(n, 7);
    assert_true(points[0].frame == 10 && points[0].x == 100 && points[0].y == 50 && points[0].heading == 0.5);
    assert_true(isnan(points[0].speed) &&
                fabs(points[1].speed - 30) < 1e-3); /* 3 pixels in a tenth of a second */
    assert_true(fabs(points[0].distance - hypot(18, 2)) < 1e-5 && isnan(points[3].distance));
    assert_true(points[0].state == SK_TRACK_ACTIVE && fabs(points[6].time - 1.6) < 1e-9);
    assert_ok(sk_run_view_series(v,
                                 &(sk_run_series){.track = 1, .other = -1, .from = 11, .to = 15, .most = 2},
                                 points, &n, &err),
              &err);
    assert_true(n == 2 && points[0].frame == 11 && points[1].frame == 13 && points[1].state == -1 &&
                isnan(points[1].x));
    assert_true(isnan(points[0].distance));
    assert_int_equal(sk_run_view_series(v, &(sk_run_series){.most = 0}, points, &n, &err), SK_ERR_ARG);
    assert_int_equal(sk_run_view_series(v, &(sk_run_series){.most = 100001}, points, &n, &err), SK_ERR_ARG);
    int64_t count = 0;
    char words[64];
    assert_ok(sk_run_view_both(v, 0, 1, &count, words, sizeof words, &err), &err);
    assert_int_equal(count, 6);
    assert_string_equal(words, "10-12, 14-16");
    assert_ok(sk_run_view_both(v, 0, 5, &count, words, sizeof words, &err), &err);
    assert_true(count == 0 && words[0] == '\0');
    bool has = false;
    assert_ok(sk_run_view_has(v, 1, 13, 13, &has, &err), &err);
    assert_false(has);
    assert_ok(sk_run_view_has(v, 1, 13, 14, &has, &err), &err);
    assert_true(has);
    assert_ok(sk_run_view_has(v, 1, 0, -1, &has, &err), &err);
    assert_true(has);
    assert_ok(sk_run_view_has(v, 2, 0, -1, &has, &err), &err);
    assert_false(has);
    sk_run_seen seen[8];
    double time = 0;
    assert_ok(sk_run_view_seen(v, 2, seen, &n, &time, &err), &err);
    assert_true(n == 2 && fabs(time - 1.2) < 1e-9 && seen[1].track == 1 &&
                seen[1].state == SK_TRACK_COVERED && seen[1].x == 112);
    assert_ok(sk_run_view_seen(v, 7, seen, &n, &time, &err), &err);
    assert_int_equal(n, 0);
    assert_ok(sk_run_view_seen(v, -1, seen, &n, &time, &err), &err);
    assert_int_equal(n, 0);
    sk_result_frame f;
    assert_int_equal(sk_run_view_frame(v, 9, &f, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "did not look at frame 9; it has 7 of the frames from 10 to 16"));
    assert_ok(sk_run_view_frame(v, 12, &f, &err), &err);
    assert_true(f.instances->count == 2 && f.width == 640 && f.height == 480);
    const sk_movement *m = NULL;
    const sk_suspects *suspects = NULL;
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_true(m->n_tracks == 2 && fabs(m->tracks[0].distance - 18) < 1e-4 && m->tracks[1].gaps == 1);
    sk_run_view_get_info(v, &info);
    assert_int_equal(info.tracks, 2);
    /* corrections: swapped from frame 14 on, one deleted in 10 and 11 */
    const sk_correction swap = {
        .kind = SK_CORRECTION_SWAP, .a = 0, .b = 1, .from = 14, .to = -1, .prefer = -1};
    const sk_correction delete = {
        .kind = SK_CORRECTION_DELETE, .a = 1, .b = -1, .from = 10, .to = 11, .prefer = -1};
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &swap, &err), &err);
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &delete, &err), &err);
    assert_ok(sk_run_view_frame(v, 10, &f, &err), &err);
    assert_true(f.instances->count == 1 && f.instances->items[0].track_id == 0);
    assert_ok(sk_run_view_frame(v, 14, &f, &err), &err);
    assert_true(f.instances->count == 2 && f.instances->items[0].track_id == 1 && f.sightings[0].track == 1 &&
                f.sightings[0].detection == 0);
    assert_ok(sk_run_view_seen(v, 4, seen, &n, &time, &err), &err);
    assert_true(n == 2 && seen[0].track == 1 && seen[1].track == 0);
    assert_ok(sk_run_view_both(v, 0, 1, &count, words, sizeof words, &err), &err);
    assert_string_equal(words, "12, 14-16");
    sk_run_view_close(&v);
    /* they are there for the next who looks, and not for another run in the folder */
    assert_ok(sk_run_view_open("asked", &v, &err), &err);
    sk_run_view_get_info(v, &info);
    assert_true(info.corrections->count == 2 && info.notice[0] == '\0');
    assert_ok(sk_correct_step(v, SK_STEP_UNDO, NULL, &err), &err);
    sk_run_view_get_info(v, &info);
    assert_true(info.corrections->count == 1 && info.corrections->undone == 1);
    sk_text text = {.limit = 1 << 16};
    sk_json j = sk_json_to_text(&text, 0);
    sk_run_view_json_corrections(v, &j);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_non_null(
        strstr(sk_text_get(&text),
               "{\"list\":[{\"text\":\"swap 0 and 1 from frame 14 on\",\"step\":{\"do\":\"swap\","));
    assert_non_null(strstr(sk_text_get(&text), "\"can_undo\":true,\"can_redo\":true,\"notice\":null}"));
    sk_text_free(&text);
    sk_run_view_close(&v);
    char again[4096];
    snprintf(again, sizeof again, RUN, "finished", "video", "\"tracker\": \"skitter\", ");
    char *year = strstr(again, "2026");
    year[3] = '7'; /* the run was done anew */
    put("asked/run.json", again);
    assert_ok(sk_run_view_open("asked", &v, &err), &err);
    sk_run_view_get_info(v, &info);
    assert_true(info.corrections->count == 0 && info.notice[0] != '\0');
    sk_run_view_close(&v);
}

static void which_file_tells(void **state)
{
    (void)state;
    sk_run_view *v = NULL;
    sk_run_view_info info;
    make_run("working", "running", "video", "\"tracker\": \"skitter\", ");
    assert_ok(sk_run_view_open("working", &v, &err), &err); /* no journal: its lines, and those are tracked */
    sk_run_view_get_info(v, &info);
    assert_true(info.tracked && strcmp(info.told_by, "results.jsonl") == 0 &&
                strcmp(info.state, "running") == 0);
    sk_run_view_close(&v);
    make_run("predicted", "finished", "video", "");
    assert_ok(sk_run_view_open("predicted", &v, &err), &err);
    sk_run_view_get_info(v, &info);
    assert_false(info.tracked);
    sk_text text = {.limit = 1 << 16};
    sk_json j = sk_json_to_text(&text, 0);
    sk_run_view_json_info(v, false, &j);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_non_null(strstr(sk_text_get(&text), "\"command\":\"predict\""));
    assert_non_null(strstr(sk_text_get(&text), "\"readable\":false"));
    sk_text_free(&text);
    sk_run_view_close(&v);
    assert_int_equal(remove("predicted/results.jsonl"), 0);
    assert_int_not_equal(sk_run_view_open("predicted", &v, &err), SK_OK);
    assert_non_null(strstr(err.message, "its frames cannot be read: "));
    assert_non_null(strstr(err.message, "'skitter predict' with the run's own arguments"));
    /* what comes while somebody looks */
    make_run("grows", "running", "live", "\"tracker\": \"skitter\", ");
    assert_ok(sk_run_view_open("grows", &v, &err), &err);
    const sk_movement *m = NULL;
    const sk_suspects *suspects = NULL;
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    FILE *file = fopen("grows/results.jsonl", "a");
    assert_non_null(file);
    fputs("{\"source\":\"v.mp4\",\"frame\":17,\"time\":1.7,\"instances\":[{\"class\":0,\"score\":1,\"box\":["
          "0,0,9,9],\"track\":5,"
          "\"tracking_score\":1,\"state\":\"active\",\"x\":4,\"y\":4,\"heading\":0,\"uncertainty\":1}]}\n",
          file);
    fclose(file);
    assert_ok(sk_run_view_refresh(v, &err), &err);
    sk_run_view_get_info(v, &info);
    assert_true(info.frames == 8 && info.last == 17 && info.tracks == -1);
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_int_equal(m->n_tracks, 3);
    sk_run_view_close(&v);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_says_what_is_in_it),
        cmocka_unit_test(a_view_tells_all),
        cmocka_unit_test(questions_about_tracks),
        cmocka_unit_test(which_file_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
