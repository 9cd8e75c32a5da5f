/* SPDX-License-Identifier: Apache-2.0 */
/* What people choose: names of one letter are names, videos and pictures say how long and how large they are, and the demo is drawn
 * where it can be. */
#include "server/asking.h"

#include "media/video_sink.h"

static void must_answer(const char *method, const char *target, const char *body, int code, const char *part)
{
    char *text = NULL;
    const int got = ask((asking){.method = method, .target = target, .body = body}, &text);
    if (got != code || !strstr(text, part))
        fail_msg("%s %s %s: %d %s", method, target, body ? body : "", got, text);
    sk_free(text);
}

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
    must_answer("GET", "/api/v1/probe?path=walk", NULL, 200, "\"kind\":\"images\",\"video\":{\"frames\":3,");
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
}

/* What is in the way of its video is said, and no half of it stays; then it is drawn. */
static void the_demo(void **state)
{
    (void)state;
    mkdir(place("top/skitter-demo-page"), 0700);
    mkdir(place("top/skitter-demo-page/scene.mp4"), 0700);
    must_answer("POST", "/api/v1/demo", "{}", 500,
                "/top/skitter-demo-page/scene.mp4 cannot be written: Is a directory");
    assert_false(sk_file_exists(place("top/skitter-demo-page/.scene.mp4")));
    assert_int_equal(rmdir(place("top/skitter-demo-page/scene.mp4")), 0);
    put("top/skitter-demo-page/scene.mp4", "drawn before"); /* … is not drawn again */
    must_answer("POST", "/api/v1/demo", "{}", 200, "/top/skitter-demo-page\",\"animals\":");
    char *text = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    assert_ok(sk_file_read(place("top/skitter-demo-page/scene.mp4"), 1 << 20, &text, &bytes, &err), &err);
    assert_string_equal(text, "drawn before");
    sk_free(text);
    for (int32_t i = 0; i < asked->roots.count; i++)
        asked->roots.items[i].writable = false;
    must_answer("POST", "/api/v1/demo", "{}", 422,
                "no folder may be written, and the demo's video needs one");
    must_answer("POST", "/api/v1/runs",
                "{\"command\":\"track\",\"settings\":{\"source\":[\"walk\"],\"model\":[\"m\"]}}", 400,
                "\"no folder may be written\"");
    asked->roots.items[0].writable = true;
}
#endif

static int open_with_models(void **state)
{
    sk_error err = {0};
    setenv("SKITTER_MODELS", test_source("share/models"), 1);
    open_asked(state);
    assert_ok(sk_roots_add(&asked->roots, test_source("share/models"), false, &err), &err);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_letter),
        cmocka_unit_test(ways_that_end),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(how_long_and_how_large),
        cmocka_unit_test(the_demo),
#endif
    };
    return cmocka_run_group_tests(tests, open_with_models, close_asked);
}
