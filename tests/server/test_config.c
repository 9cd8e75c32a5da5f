/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as files: read for the page's fields, written for the command line; never a file outside of the folders, and no other
 * file replaced. */
#include "server/asking.h"

#include "formats/config.h"

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in %s", part, text);
}

static int save(const char *name, const char *settings, bool replace, char **text)
{
    char body[4096];
    snprintf(body, sizeof body, "{\"command\":\"track\",\"path\":\"%s\",\"replace\":%s,\"settings\":%s}",
             place(name), replace ? "true" : "false", settings);
    return ask((asking){.method = "POST", .target = "/api/v1/config", .body = body}, text);
}

static int load(const char *name, char **text)
{
    char target[1200];
    snprintf(target, sizeof target, "/api/v1/config?path=%s", place(name));
    return get(target, text);
}

static void test_of_hydra_suite(void **state)
{
    (void)state;
    char json[4096], *text = NULL;
    put("top/a.mp4", "x");
    put("top/boxes.pt", "x");
    put("outside/pose.pt", "x");
    snprintf(json, sizeof json,
             "{\"file_path\":\"%s\",\"yolo_obb_direct_model_path\":\"boxes.pt\",\"enable_pose_extractor\":"
             "true,\"pose_model_dir\":\"%s\","
             "\"max_targets\":3,\"fps\":30,\"reference_body_size\":40,\"start_frame\":2,\"end_frame\":9,"
             "\"lost_threshold_seconds\":0.5,"
             "\"dataset_class_name\":\"mouse\",\"roi_shapes\":[{\"type\":\"circle\",\"params\":[50,60,40],"
             "\"mode\":\"include\"},"
             "{\"type\":\"polygon\",\"params\":[[1,2],[30,2],[30,40.5]],\"mode\":\"exclude\"}]}",
             place("top/a.mp4"), place("outside/pose.pt"));
    put("top/hydra.json", json);
    assert_int_equal(load("top/hydra.json", &text), 200);
    expect(text, "\"whole\":false");
    expect(text, "a.mp4\"]");
    expect(text, "boxes.pt\"]");
    expect(text, "\"frames\":\"2:10\"");
    expect(text, "\"roi\":[\"circle:50,60,40\",\"!1,2,30,2,30,40.5\"]");
    expect(text, "\"animals\":3");
    expect(text, "\"body\":40");
    expect(text, "dataset_class_name");
    expect(text, "pose.pt"); /* said, and not used: */
    assert_null(strstr(strstr(text, "\"model\":["), "outside/pose.pt\"]"));
    sk_free(text);
    assert_int_equal(load("outside/none.json", NULL), 403);
    put("top/broken.json", "{\"gate\":");
    assert_int_equal(load("top/broken.json", NULL), 422);
}

static void test_saved_and_read_again(void **state)
{
    (void)state;
    char settings[2048], *text = NULL;
    put("top/a.mp4", "x");
    put("top/boxes.pt", "x");
    snprintf(settings, sizeof settings,
             "{\"source\":[\"%s\"],\"model\":[\"%s\"],\"conf\":0.25,\"online\":true,\"frames\":\"0:20\","
             "\"roi\":[\"1,2,3,4\"],"
             "\"set\":{\"gate\":3.5}}",
             place("top/a.mp4"), place("top/boxes.pt"));
    assert_int_equal(save("top/mine.json", settings, false, &text), 200);
    expect(text, "top/mine.json");
    sk_free(text);
    assert_int_equal(load("top/mine.json", &text), 200);
    expect(text, "\"whole\":true");
    expect(text, "\"conf\":0.25");
    expect(text, "\"online\":true");
    expect(text, "\"frames\":\"0:20\"");
    expect(text, "\"roi\":[\"1,2,3,4\"]");
    expect(text, "\"tracker\":{\"gate\":3.5}");
    sk_free(text);
    assert_int_not_equal(save("top/mine.json", settings, false, NULL), 200); /* asked for, it is replaced: */
    assert_int_equal(save("top/mine.json", settings, true, NULL), 200);
    put("top/run.json", "{\"state\":\"finished\"}");
    assert_int_not_equal(save("top/run.json", settings, true, NULL), 200); /* no other file is */
    assert_int_not_equal(save("top/mine.txt", settings, false, NULL), 200);
    assert_int_equal(save("outside/mine.json", settings, false, NULL), 403);
    assert_int_not_equal(save("top/new.json", "{\"source\":[\"/etc/passwd\"]}", false, NULL), 200);
    assert_int_not_equal(access(place("top/new.json"), F_OK), 0);
    assert_int_not_equal(access(place("outside/mine.json"), F_OK), 0);
}

/* A run with a file of settings opens nothing that only the file names. */
static void test_no_way_out(void **state)
{
    (void)state;
    char body[4096], json[1024], *text = NULL;
    static const char *const wishes[] = {"", ",\"detector\":\"background\""};
    put("top/a.mp4", "x");
    put("outside/pose.pt", "x");
    snprintf(json, sizeof json,
             "{\"yolo_obb_direct_model_path\":\"%s\",\"max_targets\":3,\"fps\":30,\"reference_body_size\":9}",
             place("outside/pose.pt"));
    put("top/theirs.json", json);
    snprintf(json, sizeof json, "{\"run\":{\"roi-mask\":\"%s\"}}", place("outside/pose.pt"));
    put("top/ours.json", json);
    for (int i = 0; i < 4; i++) {
        snprintf(body, sizeof body,
                 "{\"command\":\"track\",\"settings\":{\"source\":[\"%s\"],\"config\":\"%s\"%s}}",
                 place("top/a.mp4"), place(i < 2 ? "top/theirs.json" : "top/ours.json"), wishes[i % 2]);
        const int code = ask((asking){.method = "POST", .target = "/api/v1/command", .body = body}, &text);
        if ((code == 200) != (i == 1))
            fail_msg("%s: %d %s", body, code, text);
        sk_free(text);
    }
    assert_int_equal(load("top/ours.json", &text), 200);
    assert_null(strstr(text, "\"roi-mask\""));
    expect(text, "pose.pt");
    sk_free(text);
}

/* The answer's part from "settings" on, with the test's folder as @. */
static void must_load(const char *name, const char *wanted)
{
    char *text = NULL;
    sk_text told = {0};
    const size_t n = strlen(test_folder());
    assert_int_equal(load(name, &text), 200);
    const char *at = strstr(text, "\"whole\"");
    for (; *at && *at != '\n'; at++)
        if (strncmp(at, test_folder(), n) == 0) {
            sk_text_append(&told, "@");
            at += n - 1;
        } else {
            sk_text_append_bytes(&told, at, 1);
        }
    if (strcmp(sk_text_get(&told), wanted) != 0)
        fail_msg("%s:\n%s\nis not\n%s", name, sk_text_get(&told), wanted);
    sk_text_free(&told);
    sk_free(text);
}

#define LONG_NAME "a-name-of-sixty-three-letters-is-the-longest-that-can-be-an-opt"

static void test_what_a_file_says(void **state)
{
    (void)state;
    static const struct {
        const char *file, *told;
    } cases[] = {
        {"{\"run\":{\"conf\":0.5,\"online\":true,\"model\":[\"a.pt\",\"b.pt\"],\"roi\":\"1,2,3,4\","
         "\"frames\":\"7\","
         "\"cache\":\"12\",\"set\":[\"gate=3\",\"x=1\"],\"nonsense\":1,\"quiet\":true,\"out\":\"x\",\"iou\":-"
         "0.5,"
         "\"detections\":\"none.csv\",\"source\":[\"b.mp4\",\"a.mp4\",\"none.mp4\"]}}",
         "\"whole\":true,\"settings\":{\"conf\":0.5,\"online\":true,\"model\":[\"@/top/a.pt\",\"@/top/"
         "b.pt\"],"
         "\"roi\":[\"1,2,3,4\"],\"frames\":7,\"cache\":\"12\",\"iou\":-0.5,\"source\":[\"@/top/b.mp4\",\"@/"
         "top/"
         "a.mp4\"]},\"tracker\":{},\"runtime\":null,\"notes\":[\"\\\"nonsense\\\" is not used "
         "here\",\"\\\"quiet\\\" is "
         "not used here\",\"\\\"out\\\" is not used here\",\"@/top/none.csv: No such file or "
         "directory\",\"@/top/"
         "none.mp4: No such file or directory\"]}"},
        /* options between others, twice; names that are nearly the same; texts that are nearly numbers */
        {"{\"gate\":2.5,\"run\":{\"engine-option\":[\"a=1\",\"b=2\"],\"conf\":\"1e-1\",\"classes\":\"1-2\","
         "\"frames\":"
         "\"1.5.2\",\"imgsz\":640,\"config\":\"base.json\",\"source\":\"a.mp4\"}}",
         "\"whole\":true,\"settings\":{\"engine-option\":[\"a=1\",\"b=2\"],\"conf\":\"1e-1\",\"classes\":\"1-"
         "2\","
         "\"frames\":\"1.5.2\",\"imgsz\":640,\"source\":[\"@/top/a.mp4\"],\"config\":\"@/top/"
         "base.json\"},\"tracker\":"
         "{\"gate\":2.5},\"runtime\":null,\"notes\":[]}"},
        {"{\"run\":{\"" LONG_NAME "\":1,\"" LONG_NAME "i\":1}}",
         "\"whole\":true,\"settings\":{},\"tracker\":{},\"runtime\":null,\"notes\":[\"\\\"a-name-of-sixty-"
         "three-letters-is-"
         "the-longest-that-can-be-an-\\\" is not used here\",\"\\\"\\\" is not used here\"]}"},
        /* HYDRA's */
        {"{\"file_path\":\"a.mp4\",\"yolo_obb_direct_model_path\":\"a.pt\",\"enable_pose_extractor\":true,"
         "\"pose_model_dir\":\"b.pt\",\"max_targets\":3,\"fps\":30,\"reference_body_size\":40,\"start_"
         "frame\":2,"
         "\"yolo_target_classes\":[3],\"suppress_foreign_obb_regions\":false}",
         "\"whole\":false,\"settings\":{\"source\":[\"@/top/a.mp4\"],\"model\":[\"@/top/a.pt\",\"@/top/"
         "b.pt\"],"
         "\"frames\":\"2:\",\"classes\":3,\"mask-neighbours\":\"off\"},"
         "\"tracker\":{\"animals\":3,\"fps\":30,\"body\":40,\"max_detections\":3},\"runtime\":null,\"notes\":"
         "[]}"},
        {"{\"file_path\":\"a.mp4\",\"yolo_model_path\":\"a.pt\",\"max_targets\":3,\"fps\":30,"
         "\"reference_body_size\":40,\"suppress_foreign_obb_regions\":true}",
         "\"whole\":false,\"settings\":{\"source\":[\"@/top/a.mp4\"],\"model\":[\"@/top/a.pt\"]},"
         "\"tracker\":{\"animals\":3,\"fps\":30,\"body\":40,\"max_detections\":3},\"runtime\":null,\"notes\":"
         "[]}"},
        {"{\"file_path\":\"a.mp4\",\"detection_method\":\"background_subtraction\",\"max_targets\":3,\"fps\":"
         "30,"
         "\"reference_body_size\":40}",
         "\"whole\":false,\"settings\":{\"source\":[\"@/top/a.mp4\"],\"detector\":\"background\"},"
         "\"tracker\":{\"animals\":3,\"fps\":30,\"body\":40,\"max_detections\":3},\"runtime\":null,\"notes\":"
         "[]}"}};
    put("top/a.mp4", "x");
    put("top/b.mp4", "x");
    put("top/a.pt", "x");
    put("top/b.pt", "x");
    put("top/base.json", "{}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put("top/said.json", cases[i].file);
        must_load("top/said.json", cases[i].told);
    }
}

/* Notes about models come without the word that the command line has for them. */
static void test_notes(void **state)
{
    (void)state;
    char *text = NULL;
    put("top/notes.json",
        "{\"file_path\":\"/outside/a.mp4\",\"yolo_model_path\":\"none.pt\",\"max_targets\":3,"
        "\"fps\":30,\"reference_body_size\":40,\"compute_runtime\":\"mps\"}");
    assert_int_equal(load("top/notes.json", &text), 200);
    expect(text, "\"its model of boxes none.pt is neither here nor beside it: give --model\"");
    expect(text, "\"/outside/a.mp4 is not in a folder that this page may use\"");
    expect(text, "\"its compute_runtime 'mps' is not used: ");
    expect(text, "\"runtime\":null");
    sk_free(text);
    put("top/notes.json", "{\"file_path\":\"a.mp4\",\"max_targets\":3,\"fps\":30,\"reference_body_size\":40,"
                          "\"compute_runtime\":\"cpu\"}");
    assert_int_equal(load("top/notes.json", &text), 200);
    expect(text, "\"runtime\":\"cpu\"");
    sk_free(text);
    assert_int_equal(load("top", &text), 400);
    expect(text, "is not a file; path= names the file with settings");
    sk_free(text);
}

/* What is written, letter by letter. */
static void test_what_is_written(void **state)
{
    (void)state;
    char *text = NULL, wanted[2048];
    size_t bytes = 0;
    sk_error err = {0};
    put("top/a.mp4", "x");
    put("top/a.pt", "x");
    assert_int_equal(
        save(
            "top/w.json",
            "{\"source\":[\"0\"],\"set\":{\"gate\":3.5,\"merge\":\"a b\"},\"model\":\"a.pt\",\"online\":true,"
            "\"cache\":\"7\",\"classes\":\"1\",\"frames\":\"0:2\"}",
            false, NULL),
        200);
    assert_ok(sk_file_read(place("top/w.json"), 1 << 20, &text, &bytes, &err), &err);
    snprintf(wanted, sizeof wanted,
             "{\n  \"gate\": 3.5,\n  \"merge\": \"a b\",\n  \"run\": {\n    \"source\": [\n      \"0\"\n    "
             "],\n    \"model\": "
             "[\n      \"%s\"\n    ],\n    \"online\": true,\n    \"cache\": \"%s\",\n    \"classes\": 1,\n  "
             "  \"frames\": "
             "\"0:2\"\n  }\n}\n",
             place("top/a.pt"), place("top/7"));
    if (strcmp(text, wanted) != 0)
        fail_msg("%s\nis not\n%s", text, wanted);
    sk_free(text);
}

/* Numbers of the tracker that are none are not written; names have as many letters as any of ours. */
static void test_sets_that_are_none(void **state)
{
    (void)state;
    char *text = NULL, settings[512];
    size_t bytes = 0;
    sk_error err = {0};
    snprintf(
        settings, sizeof settings,
        "{\"source\":[\"0\"],\"detector\":\"background\",\"set\":[\"nosign\",\"%s=1\",\"%si=2\",\"gate=3\","
        "\"x=\",\"-\"]}",
        LONG_NAME, LONG_NAME);
    assert_int_equal(save("top/sets.json", settings, false, &text), 200);
    sk_free(text);
    assert_ok(sk_file_read(place("top/sets.json"), 1 << 20, &text, &bytes, &err), &err);
    assert_string_equal(text,
                        "{\n  \"" LONG_NAME
                        "\": 1,\n  \"gate\": 3,\n  \"x\": \"\",\n  \"run\": {\n    \"source\": [\n      "
                        "\"0\"\n    ],\n    \"detector\": \"background\"\n  }\n}\n");
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_hydra_suite),
        cmocka_unit_test(test_saved_and_read_again),
        cmocka_unit_test(test_no_way_out),
        cmocka_unit_test(test_what_a_file_says),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_what_is_written),
        cmocka_unit_test(test_sets_that_are_none),
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
