/* SPDX-License-Identifier: Apache-2.0 */
/* A run of pictures that nobody followed, as it is told: its frames and which source they are looked for in; and a run of one that is
 * followed, with a name and its movement gathered. */
#include "support/test.h"

#include "app/correct.h"
#include "app/run_folder.h"
#include "app/run_view.h"
#include "app/run_view_json.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static void put_run(const char *folder, const char *kind, const char *source, const char *identity,
                    const char *lines)
{
    char path[64], text[1024];
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(path, sizeof path, "%s/run.json", folder);
    snprintf(
        text, sizeof text,
        "{\"skitter\":\"1\",\"started\":\"2026\",\"state\":\"finished\",\"source\":\"%s\",\"source_kind\":"
        "\"%s\",\"width\":64,\"height\":48,\"rate\":10,\"frames\":3,\"task\":\"pose\",\"classes\":[\"fly\"],"
        "\"keypoints\":[\"a\",\"b\"],\"edges\":[[0,1]],\"identity\":{%s}}",
        source, kind, identity);
    put(path, text);
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    put(path, lines);
}

static const char *frames_of(sk_run_view *v, int64_t from, int64_t to, int32_t most)
{
    static sk_text text;
    if (!v) {
        sk_text_free(&text);
        return NULL;
    }
    sk_text_clear(&text);
    text.limit = 1 << 20;
    sk_json j = sk_json_to_text(&text, 0);
    assert_ok(sk_run_view_json_frames(v, from, to, most, &j, &err), &err);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_true(text.length > 0 && text.data[text.length - 1] == '\n');
    text.data[--text.length] = '\0';
    return sk_text_get(&text);
}

static const char *info_of(const sk_run_view *v, bool readable)
{
    static char out[8192];
    sk_text text = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&text, 0);
    sk_run_view_json_info(v, readable, &j);
    assert_ok(sk_json_end(&j, &err), &err);
    snprintf(out, sizeof out, "%s", sk_text_get(&text));
    sk_text_free(&text);
    return out;
}

#define FRAME(n, more)                                                                                       \
    "{\"source\":\"in/" n ".png\",\"frame\":" n ",\"time\":0,\"width\":64,\"height\":48,\"keypoint_names\":" \
    "[\"a\",\"b\"],\"edges\":[[0,1]],\"instances\":[" more "]}\n"
#define ONE                                                                                                  \
    "{\"class\":0,\"name\":\"fly\",\"score\":0.5,\"box\":[2,4,12,24],\"keypoints\":[[3,5,0.25],[null,null,"  \
    "0]]}"

static void pictures_that_nobody_followed(void **state)
{
    (void)state;
    sk_run_view *v = NULL;
    assert_ok(sk_folder_make("in", &err), &err);
    put_run("pictures", "pictures", "in", "\"source_path\":\"/there/in\"",
            FRAME("0", ONE) FRAME("1", "") FRAME("2", ONE "," ONE));
    assert_ok(sk_run_view_open("pictures", &v, &err), &err);
    const char *told = frames_of(v, 0, 9, 1);
    assert_string_equal(
        told, "{\"frames\":[{\"frame\":0,\"time\":0,\"source\":\"in/0.png\",\"width\":64,\"height\":48,"
              "\"instances\":[{\"class\":0,\"label\":\"fly\",\"score\":0.5,\"box\":[7,14,10,20,0],"
              "\"keypoints\":[[3,5,0.25],null]}]}],\"next\":1}");
    told = frames_of(v, 1, 1, 5);
    assert_string_equal(told, "{\"frames\":[{\"frame\":1,\"time\":0,\"source\":\"in/1.png\",\"width\":64,"
                              "\"height\":48,\"instances\":[]}],\"next\":null}");
    assert_non_null(strstr(frames_of(v, 1, 2, 1), "],\"next\":2}"));
    assert_non_null(strstr(frames_of(v, 2, 2, 1), "],\"next\":null}"));
    assert_string_equal(frames_of(v, 3, 9, 5), "{\"frames\":[],\"next\":null}");
    assert_string_equal(frames_of(v, 0, 9, 0), "{\"frames\":[],\"next\":0}");
    /* where they are: as it was given where that is there, else where it was */
    assert_string_equal(sk_run_view_source(v), "/there/in");
    told = info_of(v, true);
    assert_non_null(strstr(told, "\"command\":\"predict\",\"state\":\"finished\""));
    assert_non_null(strstr(told, "\"complete\":true,\"tracked\":false,\"tracks\":null,\"source\":{\"path\":"
                                 "\"/there/in\",\"given\":\"in\",\"kind\":\"pictures\",\"frames\":3,"
                                 "\"width\":64,\"height\":48,\"fps\":10,\"readable\":true}"));
    assert_non_null(strstr(told, "\"frames\":3,\"first\":0,\"last\":2,\"classes\":[\"fly\"]"));
    assert_non_null(strstr(info_of(v, false), "\"readable\":false"));
    sk_run_view_close(&v);
    put_run("pattern", "pictures", "in/*.png", "\"source_path\":\"/there/in\"", FRAME("0", ""));
    assert_ok(sk_run_view_open("pattern", &v, &err), &err);
    assert_string_equal(sk_run_view_source(v), "in/*.png");
    sk_run_view_close(&v);
    put_run("nowhere", "video", "v.mp4", "\"source_path\":\"\"", FRAME("0", ""));
    assert_ok(sk_run_view_open("nowhere", &v, &err), &err);
    assert_string_equal(sk_run_view_source(v), "v.mp4");
    sk_run_view_close(&v);
    put_run("live", "live", "0", "\"x\":\"y\"", FRAME("0", ""));
    assert_ok(sk_run_view_open("live", &v, &err), &err);
    assert_string_equal(sk_run_view_source(v), "0");
    assert_non_null(strstr(info_of(v, true), "\"readable\":false"));
    sk_run_view_close(&v);
}

#define TRACKED(x)                                                                                           \
    "{\"class\":0,\"name\":\"fly\",\"score\":0.5,\"box\":[" x                                                \
    ",4,12,24],\"track\":3,\"tracking_score\":0.75,"                                                         \
    "\"state\":\"active\",\"x\":" x ",\"y\":14,\"heading\":0.5,\"uncertainty\":1}"

static void files_and_names(void **state)
{
    (void)state;
    sk_run_view *v = NULL;
    put_run("followed", "video", "v.mp4", "\"tracker\":\"skitter\"",
            FRAME("0", TRACKED("2")) FRAME("1", TRACKED("3")) FRAME("2", TRACKED("4")));
    assert_ok(sk_folder_make("followed/labels", &err), &err);
    assert_ok(sk_folder_make("followed/crops", &err), &err);
    assert_ok(sk_folder_make("followed/overlay.mp4", &err), &err); /* a folder is no video */
    put("followed/plots", "x");                                    /* and a file no folder */
    put("followed/report.html", "1234567");
    assert_ok(sk_run_view_open("followed", &v, &err), &err);
    const sk_correction name = {
        .kind = SK_CORRECTION_RENAME, .a = 3, .b = -1, .from = 0, .to = -1, .prefer = -1, .name = "Bo"};
    const sk_movement *m = NULL;
    const sk_suspects *suspects = NULL;
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_true(m->n_tracks == 1 && m->tracks[0].track == 3);
    const char *told = info_of(v, true);
    assert_non_null(strstr(told, "\"command\":\"track\""));
    assert_non_null(strstr(told, "\"tracked\":true,\"tracks\":1,"));
    assert_non_null(strstr(told, "{\"format\":\"report.html\",\"name\":\"report.html\",\"bytes\":7}"));
    assert_non_null(strstr(told, "\"name\":\"crops.zip\",\"bytes\":null}"));
    assert_non_null(strstr(told, "\"name\":\"labels.zip\",\"bytes\":null}"));
    assert_true(!strstr(told, "overlay.mp4") && !strstr(told, "plots"));
    assert_non_null(
        strstr(told, "\"corrections\":{\"list\":[],\"can_undo\":false,\"can_redo\":false,\"notice\":null}"));
    assert_non_null(strstr(frames_of(v, 1, 1, 1), "[{\"track\":3,\"class\":0,\"label\":\"fly\",\"score\":0.5,"
                                                  "\"box\":[7.5,14,9,20,0],\"state\":\"active\",\"x\":3,"
                                                  "\"y\":14,\"heading\":0.5,\"certainty\":0.75}]"));
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &name, &err), &err);
    assert_non_null(strstr(frames_of(v, 1, 1, 1), "[{\"track\":3,\"name\":\"Bo\",\"class\":0,"));
    sk_run_view_close(&v);
    (void)frames_of(NULL, 0, 0, 0);
}

/* Where both files are: of a run that tracks the lines count once they are made, or, of a live source, as they come. */
static void which_file_counts(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *state, *tracker, *told_by;
    } rows[] = {
        {"video", "finished", "skitter", "results.jsonl"}, {"video", "running", "skitter", "journal.skj"},
        {"live", "running", "skitter", "results.jsonl"},   {"live", "stopped", "skitter", "results.jsonl"},
        {"video", "stopped", "skitter", "results.jsonl"},  {"video", "finished", NULL, "journal.skj"},
        {"live", "running", NULL, "journal.skj"},          {"video", "running", NULL, "journal.skj"}};
    const sk_run_begin how = {.identity = "a\tb\n", .source = "v", .files = (const char *const[]){NULL}};
    static const sk_instances nothing = {0};
    sk_run_folder *folder = NULL;
    assert_ok(sk_run_folder_open("both", &folder, &err), &err);
    assert_ok(sk_run_folder_begin(folder, &how, &err), &err);
    const sk_result_frame frame = {.source = "v", .instances = &nothing};
    assert_ok(sk_run_folder_append(folder, &frame, &err), &err);
    sk_run_folder_close(&folder);
    put("both/results.jsonl", FRAME("0", "") FRAME("1", ""));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512], identity[64] = "";
        sk_run_view *v = NULL;
        sk_run_view_info info;
        if (rows[i].tracker)
            snprintf(identity, sizeof identity, "\"tracker\":\"%s\"", rows[i].tracker);
        snprintf(text, sizeof text,
                 "{\"skitter\":\"1\",\"started\":\"2026\",\"state\":\"%s\",\"source\":\"v\",\"source_kind\":"
                 "\"%s\","
                 "\"keypoints\":[\"a\",\"b\"],\"edges\":[[0,1]],\"identity\":{%s}}",
                 rows[i].state, rows[i].kind, identity);
        put("both/run.json", text);
        assert_ok(sk_run_view_open("both", &v, &err), &err);
        sk_run_view_get_info(v, &info);
        if (strcmp(info.told_by, rows[i].told_by) != 0)
            fail_msg("row %zu is told by %s", i, info.told_by);
        const bool lines = strcmp(rows[i].told_by, "results.jsonl") == 0;
        assert_int_equal(info.frames, lines ? 2 : 1);
        assert_int_equal(info.tracked, lines);
        assert_non_null(strstr(info_of(v, true), strcmp(rows[i].state, "running") == 0
                                                     ? "\"complete\":false"
                                                     : "\"complete\":true"));
        sk_run_view_close(&v);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_that_nobody_followed),
                                       cmocka_unit_test(files_and_names),
                                       cmocka_unit_test(which_file_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
