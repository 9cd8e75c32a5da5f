/* SPDX-License-Identifier: Apache-2.0 */
/* What people choose: names of one letter are names, and videos and pictures say how long and how large they are. */
#include "server/asking.h"

#include "media/video_sink.h"

static void names_of_one_letter(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target, *body;
        int code;
        const char *part;
    } cases[] = {
        {"GET", "/api/v1/files?path=s", NULL, 200, "\"entries\":[]"},
        {"GET", "/api/v1/probe?path=s", NULL, 200, "/top/s\",\"kind\":\"folder\"}"},
        {"GET", "/api/v1/probe?path=s&topic=t", NULL, 200, "\"kind\":\"folder\""},
        {"GET", "/api/v1/config?path=s", NULL, 400, "/top/s: is not a file"},
        {"GET", "/api/v1/frame?source=s", NULL, 404, "/top/s: "},
        {"GET", "/api/v1/view?folder=s", NULL, 404, "/top/s"},
        {"GET", "/api/v1/view/download?folder=s&format=csv", NULL, 404, "/top/s"},
        {"GET", "/api/v1/runtimes?model=m", NULL, 422, "/top/m: "},
        {"POST", "/api/v1/view/save", "{\"folder\":\"s\",\"to\":\"t\"}", 404, "/top/s"},
        {"POST", "/api/v1/view/save", "{\"folder\":\"s\",\"to\":\"\"}", 400, "\\\"to\\\" the folder for the"},
        {"POST", "/api/v1/view/save", "{\"to\":\"t\"}", 400, "\\\"to\\\" the folder for the corrected copy"},
        {"POST", "/api/v1/view/undo", "{\"folder\":\"s\"}", 404, "/top/s"},
        {"POST", "/api/v1/recent", "{\"path\":\"s\"}", 200, "/top/s\"]"},
        {"POST", "/api/v1/config", "{\"command\":\"track\",\"path\":\"s\",\"settings\":{}}", 400,
         "/top/s: settings are kept in a file whose name ends in .json"},
        {"POST", "/api/v1/command",
         "{\"command\":\"track\",\"settings\":{\"source\":[\"s\"],\"model\":[\"m\"],\"out\":\"o\"}}", 200,
         "/top/s --model="},
        {"POST", "/api/v1/command", "{\"command\":\"track\",\"settings\":{\"source\":\"s\",\"model\":\"m\"}}",
         200, "/top/m\"}"}};
    mkdir(place("top/s"), 0700);
    put("top/m", "no model");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        must_answer(cases[i].method, cases[i].target, cases[i].body, cases[i].code, cases[i].part);
}

/* Ways that end, though the names are there. */
static void ways_that_end(void **state)
{
    (void)state;
    char name[300], target[400];
    put("top/m", "x");
    must_answer("GET", "/api/v1/files?path=m/x", NULL, 404, "/top/m/x: Not a directory");
    must_answer("GET", "/api/v1/files?path=m", NULL, 404, "/top/m: Not a directory");
    assert_int_equal(symlink("round", place("top/round")), 0);
    must_answer("GET", "/api/v1/files?path=round", NULL, 500,
                "/top/round: Too many levels of symbolic links");
    memset(name, 'n', 256);
    name[256] = '\0';
    snprintf(target, sizeof target, "/api/v1/files?path=%s", name);
    must_answer("GET", target, NULL, 500, ": File name too long");
    target[strlen(target) - 1] = '\0';
    must_answer("GET", target, NULL, 404, ": No such file or directory");
    memset(name, 'n', 255);
    name[255] = '\0';
    snprintf(target, sizeof target, "%s/%s", place("top"), name);
    assert_int_equal(mkdir(target, 0700), 0);
    snprintf(target, sizeof target, "/api/v1/files?path=%s", name);
    must_answer("GET", target, NULL, 200, "\"entries\":[]");
}

/* A run is a run however deep it lies. */
static void deep_folders(void **state)
{
    (void)state;
    char path[2048], part[201], target[2100];
    memset(part, 'd', 200);
    part[200] = '\0';
    snprintf(path, sizeof path, "%s", place("top"));
    for (int i = 0; i < 4; i++) {
        const size_t n = strlen(path);
        snprintf(path + n, sizeof path - n, "/%s", part);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(target, sizeof target, "/api/v1/probe?path=%s", path);
    must_answer("GET", target, NULL, 200, "\"kind\":\"folder\"}");
    strcat(path, "/run.json");
    sk_error err = {0};
    assert_ok(sk_file_replace(path, "{}", 2, &err), &err);
    must_answer("GET", target, NULL, 200, "\"kind\":\"run\"}");
}

/* The tracker has settings of its own; predict has none of these. */
static void settings_of_commands(void **state)
{
    (void)state;
    must_answer("GET", "/api/v1/settings?command=predict", NULL, 200, "],\"set\":[]}");
    must_answer("GET", "/api/v1/settings?command=predict", NULL, 200,
                "{\"command\":\"predict\",\"options\":[{");
    must_answer("GET", "/api/v1/settings?command=track", NULL, 200, "],\"set\":[{\"name\":\"animals\",");
    must_answer("GET", "/api/v1/settings?command=track", NULL, 200,
                "\"kind\":\"int\",\"default\":0,\"min\":0,");
    must_answer("GET", "/api/v1/settings?command=track", NULL, 200, "\"kind\":\"real\",");
}

#ifdef SKITTER_HAVE_FFMPEG
static void paint(const char *name, int width, int height)
{
    static uint8_t pixels[3 * 64 * 48];
    sk_frame f = SK_FRAME_INIT;
    sk_error err = {0};
    memset(pixels, 200, sizeof pixels);
    f.format = SK_PIXEL_RGB, f.width = width, f.height = height, f.stride = 3 * width, f.data = pixels;
    assert_ok(sk_picture_write_drawing(place(name), &f, &err), &err);
}

static void how_long_and_how_large(void **state)
{
    (void)state;
    char line[4096];
    mkdir(place("top/walk"), 0700);
    paint("top/walk/1.png", 64, 48);
    paint("top/walk/2.png", 64, 48);
    paint("top/walk/3.png", 64, 48);
    must_answer(
        "GET", "/api/v1/probe?path=walk", NULL, 200,
        "\"kind\":\"images\",\"video\":{\"frames\":3,\"width\":0,\"height\":0,\"fps\":0,\"seconds\":null,");
    must_answer("GET", "/api/v1/probe?path=walk/1.png", NULL, 200,
                "\"kind\":\"image\",\"video\":{\"frames\":1,");
    if (!getenv("SKITTER_TEST_BINARY"))
        return;
    snprintf(line, sizeof line,
             "cd '%s' && '%s' scene -o scene.mp4 --seconds 0.5 --fps 30 --size 160x120 --animals 2 -q",
             place("top"), getenv("SKITTER_TEST_BINARY"));
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    must_answer(
        "GET", "/api/v1/probe?path=scene.mp4", NULL, 200,
        "\"kind\":\"video\",\"video\":{\"frames\":15,\"width\":160,\"height\":120,\"fps\":30,\"seconds\":0.5,"
        "\"exact\":false,\"decoder\":");
    snprintf(line, sizeof line,
             "cd '%s' && '%s' scene -o slow.mp4 --seconds 3 --fps 1 --size 160x120 --animals 2 -q",
             place("top"), getenv("SKITTER_TEST_BINARY"));
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    must_answer("GET", "/api/v1/probe?path=slow.mp4", NULL, 200,
                "{\"frames\":3,\"width\":160,\"height\":120,\"fps\":1,\"seconds\":3,");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_letter),    cmocka_unit_test(ways_that_end),
        cmocka_unit_test(deep_folders),           cmocka_unit_test(settings_of_commands),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(how_long_and_how_large),
#endif
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
