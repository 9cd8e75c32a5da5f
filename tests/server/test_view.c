/* SPDX-License-Identifier: Apache-2.0 */
/* A run's results over the interface: frames, tracks, moments, plots, corrections, a corrected copy. */
#include "server/viewing.h"

#include "app/correct.h"
#include "app/run_view_json.h"
#include "base/clock.h"
#include "server/views.h"

#include <pthread.h>
#include <stdatomic.h>

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
    /* a table that is downloaded is as corrected as the copy's */
    char *table = NULL, *copy = NULL, *before = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    assert_int_equal(get(to("/download", "&format=csv"), &table), 200);
    assert_ok(sk_file_read(place("top/corrected/results.csv"), 1 << 24, &copy, &bytes, &err), &err);
    assert_ok(sk_file_read(place("top/run/results.csv"), 1 << 24, &before, &bytes, &err), &err);
    assert_string_equal(table, copy);
    assert_string_not_equal(table, before);
    sk_free_all(table, copy, before);
    static const char *const bad[] = {",\"kind\":\"x\",\"a\":0",
                                      ",\"kind\":\"swap\",\"a\":0",
                                      ",\"kind\":\"delete\",\"a\":77",
                                      ",\"kind\":\"merge\",\"a\":0,\"b\":1",
                                      ",\"kind\":\"delete\"",
                                      ",\"kind\":\"merge\",\"a\":0,\"b\":1,\"prefer\":2147483648",
                                      ",\"kind\":\"merge\",\"a\":0,\"b\":1,\"prefer\":-2",
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
    char name[SK_CORRECTION_NAME + 1], *told = NULL;
    for (int longer = 0; longer < 2; longer++) { /* as long as a name may be, and one letter more */
        memset(name, 'n', sizeof name);
        name[SK_CORRECTION_NAME - 1 + longer] = '\0';
        snprintf(more, sizeof more, ",\"kind\":\"rename\",\"a\":1,\"name\":\"%s\"", name);
        const int code =
            ask((asking){.method = "POST", .target = "/api/v1/view/corrections", .body = about(more)}, &told);
        assert_int_equal(code, longer ? 400 : 200);
        if (longer)
            assert_non_null(strstr(told, "\"a name has at most 63 bytes\""));
        sk_free(told);
    }
    snprintf(more, sizeof more, ",\"to\":\"%s\"", place("outside/copy"));
    assert_int_equal(
        ask((asking){.method = "POST", .target = "/api/v1/view/save", .body = about(more)}, NULL), 403);
    assert_false(sk_file_exists(place("outside/copy")));
}

/* What another program did is seen half a second later. */
static void test_corrections_from_elsewhere(void **state)
{
    (void)state;
    char line[8192], *text = NULL;
    assert_int_equal(get(to("/tracks", ""), NULL), 200);
    snprintf(line, sizeof line, "'%s' correct '%s' --rename 0=worker >/dev/null",
             getenv("SKITTER_TEST_BINARY"), run);
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    sk_clock_sleep_ns(600000000);
    assert_int_equal(get(to("/tracks", ""), &text), 200);
    assert_non_null(strstr(text, "\"worker\""));
    sk_free(text);
}

/* More runs than are kept open, in every order: each request is of its own. */
static void test_many_runs(void **state)
{
    (void)state;
    char line[4096], name[64], wanted[64], *text = NULL;
    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line, "cp -r '%s' '%s%d'", run, run, i);
        assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
        snprintf(body, sizeof body, "{\"folder\":\"%s%d\",\"kind\":\"rename\",\"a\":2,\"name\":\"of %d\"}",
                 run, i, i);
        assert_int_equal(
            ask((asking){.method = "POST", .target = "/api/v1/view/corrections", .body = body}, NULL), 200);
    }
    for (int round = 0; round < 20; round++) {
        const int i = round * round % 7 % 6;
        snprintf(name, sizeof name, "/api/v1/view/tracks?folder=run%d", i);
        assert_int_equal(get(name, &text), 200);
        snprintf(wanted, sizeof wanted, "\"of %d\"", i);
        if (!strstr(text, wanted))
            fail_msg("%s: %s", name, text);
        sk_free(text);
    }
    /* one that is gone, and one that comes in its place */
    snprintf(line, sizeof line, "rm -r '%s5'", run);
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    assert_int_equal(get("/api/v1/view/tracks?folder=run5", NULL), 404);
    assert_int_equal(get("/api/v1/view/tracks?folder=run4", NULL), 200);
}

typedef struct waiter {
    char folder[1100];
    atomic_int inside;
} waiter;

static void *enter_and_leave(void *context)
{
    waiter *w = context;
    sk_run_view *view = NULL;
    if (sk_views_enter(asked->views, w->folder, &view, NULL) == SK_OK) {
        atomic_store(&w->inside, 1);
        sk_views_leave(asked->views, view);
    }
    return NULL;
}

/* A view is one request's at a time, and no more than four are open: who comes waits until one is left. */
static void test_views_are_waited_for(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_view *held[4];
    char folder[1100];
    for (int i = 0; i < 4; i++) {
        snprintf(folder, sizeof folder, "%s%d", run, i);
        assert_ok(sk_views_enter(asked->views, folder, &held[i], &err), &err);
    }
    for (int which = 0; which < 2; which++) { /* one of these, and another one */
        static waiter w;
        pthread_t thread;
        snprintf(w.folder, sizeof w.folder, "%s%d", run, which ? 4 : 1);
        atomic_store(&w.inside, 0);
        assert_int_equal(pthread_create(&thread, NULL, enter_and_leave, &w), 0);
        sk_clock_sleep_ns(50000000);
        assert_int_equal(atomic_load(&w.inside), 0);
        sk_views_leave(asked->views, held[1 + which]);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&w.inside), 1);
        snprintf(folder, sizeof folder, "%s%d", run, 1 + which);
        if (!which)
            assert_ok(sk_views_enter(asked->views, folder, &held[1], &err), &err);
    }
    sk_views_leave(asked->views, held[0]);
    sk_views_leave(asked->views, held[1]);
    sk_views_leave(asked->views, held[3]);
    sk_views_leave(asked->views, NULL); /* one that was never entered */
}

static void must_be_readable(const char *folder, bool readable)
{
    char at[256], *text = NULL;
    snprintf(at, sizeof at, "/api/v1/view?folder=%s", folder);
    assert_int_equal(get(at, &text), 200);
    if ((strstr(text, "\"readable\":true") != NULL) != readable)
        fail_msg("%s: %s", folder, text);
    sk_free(text);
    snprintf(at, sizeof at, "/api/v1/view/frame.jpg?folder=%s&n=3", folder);
    assert_int_equal(get(at, NULL) == 200, readable);
}

/* A video is looked for from the first folder on, then beside the run; one that was named in full is where it was. */
static void test_where_the_video_lies(void **state)
{
    (void)state;
    char line[8192];
    snprintf(
        line, sizeof line,
        "cd '%s' && mkdir deep && cp -r run deep/run && '%s' track \"$PWD/scene.mp4\" --detections truth.csv "
        "-o deep/full --animals 3 --no-report -q",
        place("top"), getenv("SKITTER_TEST_BINARY"));
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    must_be_readable("run", true);
    must_be_readable("deep/run", true);
    must_be_readable("deep/full", true);
    assert_int_equal(rename(place("top/scene.mp4"), place("top/deep/scene.mp4")), 0);
    must_be_readable("deep/run", true);
    must_be_readable("run", false);
    must_be_readable("deep/full", false);
    assert_int_equal(rename(place("top/deep/scene.mp4"), place("top/scene.mp4")), 0);
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
    for (int more = 0; more < 2; more++) { /* as many tracks as a plot has room for, and one more */
        char list[40 + 4 * SK_RUN_PLOT_TRACKS] = "&kind=speed&points=3&tracks=0";
        for (int i = 1; i < SK_RUN_PLOT_TRACKS + more; i++)
            strcat(list, ",0");
        assert_int_equal(get(to("/series", list), NULL), more ? 400 : 200);
    }
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_there_is),
        cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_corrections_from_elsewhere),
        cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_views_are_waited_for),
        cmocka_unit_test(test_where_the_video_lies),
        cmocka_unit_test(test_the_video),
        cmocka_unit_test(test_no_run),
    };
    return cmocka_run_group_tests(tests, open_viewed, close_viewed);
}
