/* SPDX-License-Identifier: Apache-2.0 */
/* A run's results over the interface: frames, tracks, moments, plots, corrections, a corrected copy, downloads. */
#include "server/asking.h"
#include "server/schema.h"

#include "formats/zip.h"

static char run[1024], target[4096], body[4096];

static int open_all(void **state)
{
    char line[8192];
    if (!getenv("SKITTER_TEST_BINARY"))
        return -1;
    schema_open();
    open_asked(state);
    snprintf(run, sizeof run, "%s", place("top/run"));
    snprintf(
        line, sizeof line,
        "cd '%s' && '%s' scene -o scene.mp4 --truth truth.csv --seconds 1 --size 320x240 --animals 3 -q && "
        "'%s' track scene.mp4 --detections truth.csv -o run --animals 3 --no-report -q",
        place("top"), getenv("SKITTER_TEST_BINARY"), getenv("SKITTER_TEST_BINARY"));
    return system(line); /* NOLINT: a test's own words */
}

static int close_all(void **state)
{
    schema_close();
    return close_asked(state);
}

/* Asks, and holds the answer against this schema; the caller closes it. */
static sk_config *shaped(const char *method, const char *at, const char *text, const char *schema)
{
    sk_error err = {0};
    char *answer = NULL, path[128];
    sk_config *json = NULL;
    const int code = ask((asking){.method = method, .target = at, .body = text}, &answer);
    if (code != 200)
        fail_msg("%s: %d %s", at, code, answer);
    assert_ok(sk_config_open_json(answer, strlen(answer), at, &json, &err), &err);
    snprintf(path, sizeof path, "components.schemas.%s", schema);
    schema_check(sk_config_find(schema_document, path), sk_config_root(json), at);
    sk_free(answer);
    return json;
}

static const char *to(const char *what, const char *more)
{
    snprintf(target, sizeof target, "/api/v1/view%s?folder=%s%s", what, run, more);
    return target;
}

static const char *about(const char *more)
{
    snprintf(body, sizeof body, "{\"folder\":\"%s\"%s}", run, more);
    return body;
}

static void test_what_there_is(void **state)
{
    (void)state;
    sk_config *json = shaped("GET", to("", ""), NULL, "View");
    const sk_config_value *r = sk_config_root(json);
    assert_int_equal(sk_config_int_or(r, "frames", 0), 30);
    assert_true(sk_config_bool_or(r, "source.readable", false));
    assert_string_equal(sk_config_text_or(r, "command", ""), "track");
    sk_config_close(&json);
    json = shaped("GET", to("/frames", "&from=3&to=5"), NULL, "ViewFrames");
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "frames")), 3);
    assert_int_equal(sk_config_int_or(sk_config_root(json), "frames.0.frame", -1), 3);
    sk_config_close(&json);
    json = shaped("GET", to("/tracks", ""), NULL, "Tracks");
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "tracks")), 3);
    sk_config_close(&json);
    json = shaped("GET", to("/suspects", ""), NULL, "Suspects");
    sk_config_close(&json);
    static const char *const kinds[] = {"trajectory", "speed", "heading", "occupancy", "distance"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char more[64];
        snprintf(more, sizeof more, "&kind=%s&tracks=0,1&points=20", kinds[i]);
        json = shaped("GET", to("/series", more), NULL, "Series");
        sk_config_close(&json);
    }
}

static void test_corrections(void **state)
{
    (void)state;
    sk_config *json = shaped("POST", "/api/v1/view/corrections",
                             about(",\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":10"), "Corrections");
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "list")), 1);
    sk_config_close(&json);
    json = shaped("POST", "/api/v1/view/corrections",
                  about(",\"kind\":\"rename\",\"a\":2,\"name\":\"queen\""), "Corrections");
    sk_config_close(&json);
    json = shaped("GET", to("/tracks", ""), NULL, "Tracks");
    assert_string_equal(sk_config_text_or(sk_config_root(json), "tracks.2.name", ""), "queen");
    sk_config_close(&json);
    json = shaped("POST", "/api/v1/view/undo", about(""), "Corrections");
    assert_true(sk_config_bool_or(sk_config_root(json), "can_redo", false));
    sk_config_close(&json);
    json = shaped("POST", "/api/v1/view/redo", about(""), "Corrections");
    sk_config_close(&json);
    char more[2048];
    snprintf(more, sizeof more, ",\"to\":\"%s\"", place("top/corrected"));
    json = shaped("POST", "/api/v1/view/save", about(more), "Saved");
    sk_config_close(&json);
    assert_true(sk_file_is_regular(place("top/corrected/results.csv")));
    static const char *const bad[] = {",\"kind\":\"x\",\"a\":0",
                                      ",\"kind\":\"swap\",\"a\":0",
                                      ",\"kind\":\"delete\",\"a\":77",
                                      ",\"kind\":\"merge\",\"a\":0,\"b\":1",
                                      ",\"kind\":\"delete\"",
                                      ",\"kind\":\"swap\",\"a\":0,\"b\":99999999999",
                                      ",\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":1e30",
                                      ",\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":\"12\"",
                                      ",\"kind\":\"delete\",\"a\":0,\"frame\":3,\"to\":4.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int code = ask(
            (asking){.method = "POST", .target = "/api/v1/view/corrections", .body = about(bad[i])}, NULL);
        if (code != 400 && code != 404 && code != 422)
            fail_msg("%s: %d", bad[i], code);
    }
    snprintf(more, sizeof more, ",\"to\":\"%s\"", place("outside/copy"));
    assert_int_equal(
        ask((asking){.method = "POST", .target = "/api/v1/view/save", .body = about(more)}, NULL), 403);
    assert_false(sk_file_exists(place("outside/copy")));
}

static void test_downloads(void **state)
{
    (void)state;
    assert_int_equal(get(to("/download", "&format=csv"), NULL), 200);
    assert_int_equal(get(to("/download", "&format=run.json"), NULL), 200);
    assert_int_equal(get(to("/download", "&format=mot"), NULL), 200); /* made now */
    assert_int_equal(get(to("/download", "&format=journal.skj"), NULL), 404);
    assert_int_equal(get(to("/download", "&format=../truth.csv"), NULL), 404);
    assert_int_equal(get(to("/download", ""), NULL), 400);
    /* a link in the run's folder leads nowhere */
    assert_int_equal(sk_file_replace(place("outside/secret.html"), "secret", 6, NULL), SK_OK);
    assert_int_equal(symlink(place("outside/secret.html"), place("top/run/report.html")), 0);
    assert_int_equal(get(to("/download", "&format=report.html"), NULL), 403);
    assert_int_equal(unlink(place("top/run/report.html")), 0);
}

/* What is a folder comes as an archive: one that is made now, and the run's own, without what links lead to. */
static void test_folders(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_zip *zip = NULL;
    char *sent = NULL, *text = NULL;
    assert_int_equal(get(to("/download", "&format=labels"), &sent), 200);
    assert_ok(sk_zip_open_memory(sent, asked_bytes, "labels", &zip, &err), &err);
    assert_int_equal(sk_zip_count(zip), 30);
    assert_non_null(strstr(sk_zip_at(zip, 0)->name, "labels/"));
    assert_int_equal(sk_zip_truncated(zip), false);
    sk_zip_close(&zip);
    sk_free(sent);
    assert_int_equal(get(to("/download", "&format=plots"), NULL), 404);
    assert_int_equal(mkdir(place("top/run/plots"), 0700), 0);
    assert_int_equal(sk_file_replace(place("top/run/plots/a.svg"), "aaaaaaaa", 8, NULL), SK_OK);
    assert_int_equal(sk_file_replace(place("outside/secret"), "secret", 6, NULL), SK_OK);
    assert_int_equal(symlink(place("outside/secret"), place("top/run/plots/b.svg")), 0);
    assert_int_equal(symlink(place("outside"), place("top/run/plots/c")), 0);
    assert_int_equal(get(to("/download", "&format=plots"), &sent), 200);
    assert_ok(sk_zip_open_memory(sent, asked_bytes, "plots", &zip, &err), &err);
    assert_int_equal(sk_zip_count(zip), 1);
    assert_string_equal(sk_zip_at(zip, 0)->name, "plots/a.svg");
    sk_zip_close(&zip);
    sk_free(sent);
    assert_int_equal(get(to("", ""), &text), 200);
    assert_non_null(strstr(text, "\"name\":\"plots.zip\",\"bytes\":null"));
    assert_non_null(strstr(text, "\"labels\""));
    sk_free(text);
    sk_folder_empty_own(place("top/run/plots"), NULL);
    assert_int_equal(symlink(place("outside"), place("top/run/plots")),
                     0); /* … nor what one in its place leads to */
    assert_int_equal(get(to("/download", "&format=plots"), NULL), 403);
    assert_int_equal(unlink(place("top/run/plots")), 0);
}

/* A run that names a video outside: its frames are not shown. */
static void test_the_video(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(get(to("/frame.jpg", "&n=3&width=160"), NULL), 200);
    assert_int_equal(get(to("/frame.jpg", "&n=3000"), NULL), 404);
    assert_int_equal(get(to("/frame.jpg", "&n=-1"), NULL), 400);
    assert_int_equal(rename(place("top/scene.mp4"), place("outside/scene.mp4")), 0);
    assert_int_equal(symlink(place("outside/scene.mp4"), place("top/scene.mp4")), 0);
    assert_int_equal(get(to("/frame.jpg", "&n=3"), NULL), 403);
    assert_int_equal(get(to("", ""), &text), 200);
    assert_non_null(strstr(text, "\"readable\":false"));
    sk_free(text);
    assert_int_equal(unlink(place("top/scene.mp4")), 0);
}

static void test_no_run(void **state)
{
    (void)state;
    snprintf(target, sizeof target, "/api/v1/view?folder=%s", place("top"));
    assert_int_equal(get(target, NULL), 404);
    snprintf(target, sizeof target, "/api/v1/view?folder=%s", place("outside"));
    assert_int_equal(get(target, NULL), 403);
    assert_int_equal(get("/api/v1/view", NULL), 400);
    assert_int_equal(get(to("/series", "&kind=x"), NULL), 400);
    assert_int_equal(get(to("/series", "&kind=speed&tracks=1,x"), NULL), 400);
    assert_int_equal(get(to("/frames", "&from=x"), NULL), 400);
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_there_is), cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_downloads),     cmocka_unit_test(test_folders),
        cmocka_unit_test(test_the_video),     cmocka_unit_test(test_no_run),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
