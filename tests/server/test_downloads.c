/* SPDX-License-Identifier: Apache-2.0 */
/* A run's files for taking along: its own, those that are made of what is there, and folders as archives. */
#include "server/viewing.h"

#include "formats/zip.h"

#include <dirent.h>

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

static int left_behind(void)
{
    int n = 0;
    DIR *dir = opendir(asked->state);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += strncmp(e->d_name, "download-", 9) == 0 || strncmp(e->d_name, "archive-", 8) == 0;
    closedir(dir);
    return n;
}

/* Each comes as what it is, under its own name, to be kept; nothing of what was made for it stays. */
static void test_kinds_of_downloads(void **state)
{
    (void)state;
    static const struct {
        const char *format, *name, *type;
    } cases[] = {{"csv", "results.csv", "text/csv; charset=utf-8"},
                 {"run.json", "run.json", "application/json"},
                 {"jsonl", "results.jsonl", "application/jsonl"},
                 {"mot", "results.mot.txt", "text/plain; charset=utf-8"},
                 {"labels", "labels.zip", "application/zip"},
                 {"tracks", "tracks.csv", "text/csv; charset=utf-8"},
                 {"coco", "results.coco.json", "application/json"},
                 {"slp", "results.slp", "application/octet-stream"},
                 {"corrections.jsonl", "corrections.jsonl", "application/jsonl"},
                 {"report.html", "report.html", "text/html; charset=utf-8"},
                 {"overlay.mp4", "overlay.mp4", "video/mp4"}};
    put("top/run/report.html", "<p>");
    put("top/run/overlay.mp4", "video");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char more[64], wanted[200];
        snprintf(more, sizeof more, "&format=%s", cases[i].format);
        char *text = NULL;
        const int code = get(to("/download", more), &text);
        snprintf(wanted, sizeof wanted, "Content-Disposition: attachment; filename=\"%s\"", cases[i].name);
        if (code != 200 || strcmp(asked_type, cases[i].type) != 0 || strcmp(asked_header, wanted) != 0)
            fail_msg("%s: %d %s %s", cases[i].format, code, asked_type, asked_header);
        assert_true(asked_bytes > 0);
        sk_free(text);
    }
    assert_int_equal(unlink(place("top/run/report.html")), 0);
    assert_int_equal(unlink(place("top/run/overlay.mp4")), 0);
    static const char *const none[] = {"raw",    "report.htm",  "report.html5", "crops",
                                       "plots/", "report.html", "plot"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char more[64];
        snprintf(more, sizeof more, "&format=%s", none[i]);
        const int code = get(to("/download", more), NULL);
        if (code != 404)
            fail_msg("%s: %d", none[i], code);
    }
    assert_int_equal(left_behind(), 0);
}

/* Of a run that found and did not follow, every format but those of tracks is made of what it found. */
static void test_downloads_of_what_was_found(void **state)
{
    (void)state;
    char line[8192], *text = NULL;
    sk_error err = {0};
    sk_zip *zip = NULL;
    snprintf(line, sizeof line,
             "cd '%s' && '%s' predict scene.mp4 --model '%s' --frames 4:7 -o found -q --format csv",
             place("top"), getenv("SKITTER_TEST_BINARY"), test_source("share/models/demo-obb.pt"));
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    assert_int_equal(get("/api/v1/view?folder=found", &text), 200);
    const char *formats = strstr(text, "\"formats\":[");
    assert_true(formats && strstr(formats, "\"labels\"") && !strstr(formats, "\"tracks\"") &&
                !strstr(formats, "\"raw\""));
    sk_free(text);
    assert_int_equal(get("/api/v1/view/download?folder=found&format=labels", &text), 200);
    assert_ok(sk_zip_open_memory(text, asked_bytes, "labels", &zip, &err), &err);
    assert_int_equal(sk_zip_count(zip), 3);
    sk_zip_close(&zip);
    sk_free(text);
    assert_int_equal(get("/api/v1/view/download?folder=found&format=jsonl", &text), 200);
    for (int frame = 4; frame < 7; frame++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "\"frame\":%d,", frame);
        assert_non_null(strstr(text, wanted));
    }
    sk_free(text);
    assert_int_equal(get("/api/v1/view/download?folder=found&format=csv", NULL), 200);
    assert_int_equal(get("/api/v1/view/download?folder=found&format=tracks", NULL), 404);
    assert_int_equal(left_behind(), 0);
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

/* Where nothing can be written, nothing is made, and it is said. */
static void test_no_room_for_what_is_made(void **state)
{
    (void)state;
    char away[1100], *text = NULL;
    snprintf(away, sizeof away, "%s.away", asked->state);
    assert_int_equal(mkdir(place("top/run/plots"), 0700), 0);
    assert_int_equal(rename(asked->state, away), 0);
    assert_int_equal(get(to("/download", "&format=mot"), &text), 500);
    assert_non_null(strstr(text, "\"no folder for the file could be made in "));
    sk_free(text);
    assert_int_equal(get(to("/download", "&format=plots"), &text), 500);
    assert_non_null(strstr(text, "\"no file for the archive could be made in "));
    sk_free(text);
    assert_int_equal(rename(away, asked->state), 0);
    assert_int_equal(get(to("/download", "&format=plots"), NULL), 200); /* one that is empty */
    assert_int_equal(rmdir(place("top/run/plots")), 0);
}

/* Most are made with corrections, which is when the run's own files do not do. */
static int open_corrected(void **state)
{
    const int failed = open_viewed(state);
    if (failed)
        return failed;
    sk_config *json = shaped("POST", "/api/v1/view/corrections",
                             about(",\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":10"), "Corrections");
    sk_config_close(&json);
    return 0;
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_downloads),
        cmocka_unit_test(test_kinds_of_downloads),
        cmocka_unit_test(test_downloads_of_what_was_found),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_no_room_for_what_is_made),
    };
    return cmocka_run_group_tests(tests, open_corrected, close_viewed);
}
