/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as files: read for the page's fields, written for the command line; never a file outside of the folders, and no other
 * file replaced. */
#include "server/asking.h"

#include "formats/config.h"

static void put_file(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(place(name), text, strlen(text), &err), &err);
}

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
    put_file("top/a.mp4", "x");
    put_file("top/boxes.pt", "x");
    put_file("outside/pose.pt", "x");
    snprintf(json, sizeof json,
             "{\"file_path\":\"%s\",\"yolo_obb_direct_model_path\":\"boxes.pt\",\"enable_pose_extractor\":"
             "true,\"pose_model_dir\":\"%s\","
             "\"max_targets\":3,\"fps\":30,\"reference_body_size\":40,\"start_frame\":2,\"end_frame\":9,"
             "\"lost_threshold_seconds\":0.5,"
             "\"dataset_class_name\":\"mouse\",\"roi_shapes\":[{\"type\":\"circle\",\"params\":[50,60,40],"
             "\"mode\":\"include\"},"
             "{\"type\":\"polygon\",\"params\":[[1,2],[30,2],[30,40.5]],\"mode\":\"exclude\"}]}",
             place("top/a.mp4"), place("outside/pose.pt"));
    put_file("top/hydra.json", json);
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
    put_file("top/broken.json", "{\"gate\":");
    assert_int_equal(load("top/broken.json", NULL), 422);
}

static void test_saved_and_read_again(void **state)
{
    (void)state;
    char settings[2048], *text = NULL;
    put_file("top/a.mp4", "x");
    put_file("top/boxes.pt", "x");
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
    put_file("top/run.json", "{\"state\":\"finished\"}");
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
    put_file("top/a.mp4", "x");
    put_file("outside/pose.pt", "x");
    snprintf(json, sizeof json,
             "{\"yolo_obb_direct_model_path\":\"%s\",\"max_targets\":3,\"fps\":30,\"reference_body_size\":9}",
             place("outside/pose.pt"));
    put_file("top/theirs.json", json);
    snprintf(json, sizeof json, "{\"run\":{\"roi-mask\":\"%s\"}}", place("outside/pose.pt"));
    put_file("top/ours.json", json);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_hydra_suite),
        cmocka_unit_test(test_saved_and_read_again),
        cmocka_unit_test(test_no_way_out),
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
