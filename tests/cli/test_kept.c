/* SPDX-License-Identifier: Apache-2.0 */
/* 'skitter artifacts' over what was found in videos and over models that others made. */
#include "said.h"

#include "app/inference_cache.h"
#include "base/file.h"
#include "base/text.h"

static said s;
static sk_error err;
static char paths[2][4300]; /* of the two caches, in the order in which they are listed */
static int64_t bytes[2];

/* What was found in a video whose name and content are `name`; with an end, or only begun. */
static void keep(const char *name, bool complete)
{
    static const sk_instances nothing = {0};
    sk_inference_cache *cache = NULL;
    char why[512];
    assert_ok(sk_file_replace(name, name, strlen(name), &err), &err);
    const sk_inference_wish wish = {NULL, name, "conf\t0.25\n"};
    assert_ok(sk_inference_cache_open(&wish, &cache, why, &err), &err);
    assert_non_null(cache);
    for (int64_t i = 0; i < 3 + 40 * complete; i++) {
        const sk_result_frame frame = {.source = name, .index = i, .instances = &nothing};
        sk_inference_cache_append(cache, &frame);
    }
    if (complete)
        sk_inference_cache_finish(cache);
    sk_inference_cache_close(&cache);
}

/* The two caches, whole.mp4's first in these arrays. */
static void look(bool *whole_first)
{
    sk_inference_row *rows = NULL;
    size_t n = 0;
    assert_ok(sk_inference_cache_list(NULL, &rows, &n, &err), &err);
    assert_int_equal(n, 2);
    *whole_first = strcmp(rows[0].name, "whole.mp4") == 0;
    for (size_t i = 0; i < 2; i++) {
        const size_t to = *whole_first ? i : 1 - i;
        snprintf(paths[to], sizeof paths[to], "%s", rows[i].path);
        bytes[to] = rows[i].bytes;
    }
    sk_inference_cache_list_free(rows, n);
    assert_true(bytes[0] > bytes[1] && bytes[1] > 0);
}

static void expect(bool whole_first, const char *of_whole, const char *of_begun, const char *last)
{
    const char *const did[2] = {of_whole, of_begun};
    sk_text all = {0};
    for (int i = 0; i < 2; i++) {
        const int k = whole_first ? i : 1 - i;
        char size[SK_TEXT_UNIT];
        sk_text_appendf(&all, "%-10s                    %9s  %s: what was found in %s\n", did[k],
                        sk_text_bytes((double)bytes[k], size, sizeof size), paths[k],
                        k ? "begun.mp4" : "whole.mp4");
    }
    sk_text_append(&all, last);
    assert_string_equal(s.out, sk_text_get(&all));
    sk_text_free(&all);
}

static void videos(void **state)
{
    (void)state;
    bool whole_first;
    keep("whole.mp4", true);
    keep("begun.mp4", false);
    look(&whole_first);
    SAID_OK(&s, "artifacts");
    expect(whole_first, "found", "begun", "");
    SAID_OK(&s, "artifacts clean"); /* they cost hours: only --all takes them */
    expect(whole_first, "kept", "kept", "0 of 2, 0 B\n");
    SAID_OK(&s, "artifacts clean --all --dry-run");
    char size[SK_TEXT_UNIT], last[128];
    snprintf(last, sizeof last, "2 of 2, %s\n",
             sk_text_bytes((double)(bytes[0] + bytes[1]), size, sizeof size));
    expect(whole_first, "would go", "would go", last);
    assert_true(sk_file_exists(paths[0]) && sk_file_exists(paths[1]));
    SAID_OK(&s, "artifacts --json");
    sk_text json = {0};
    sk_text_append(&json, "{\n  \"artifacts\": [],\n  \"inference\": [\n");
    for (int i = 0; i < 2; i++) {
        const int k = whole_first ? i : 1 - i;
        sk_text_appendf(&json,
                        "    {\n      \"path\": \"%s\",\n      \"video\": \"%s\",\n      \"state\": "
                        "\"%s\",\n      \"bytes\": %lld\n    }%s\n",
                        paths[k], k ? "begun.mp4" : "whole.mp4", k ? "begun" : "found", (long long)bytes[k],
                        i ? "" : ",");
    }
    sk_text_append(&json, "  ]\n}\n");
    assert_string_equal(s.out, sk_text_get(&json));
    sk_text_free(&json);
    /* neither verify nor a place asks for them */
    SAID_OK(&s, "artifacts verify");
    assert_string_equal(s.out, "no artifacts\n");
    SAID_OK(&s, "artifacts verify -q");
    assert_string_equal(s.out, "");
    SAID_OK(&s, "artifacts clean --all .");
    assert_string_equal(s.out, "0 of 0, 0 B\n");
    SAID_OK(&s, "artifacts clean -q --all .");
    assert_string_equal(s.out, "");
    assert_true(sk_file_exists(paths[0]) && sk_file_exists(paths[1]));
    SAID_OK(&s, "artifacts clean --all --json");
    said_has(s.out, "\"state\": \"begun\",\n      \"bytes\": ");
    said_has(s.out, ",\n      \"done\": \"removed\"\n    }");
    assert_false(sk_file_exists(paths[0]) || sk_file_exists(paths[1]));
    SAID_OK(&s, "artifacts clean --all");
    assert_string_equal(s.out, "0 of 0, 0 B\n");
}

/* A run is using it: it stays, and that is told. */
static void one_in_use(void **state)
{
    (void)state;
    sk_inference_cache *cache = NULL;
    char why[512];
    keep("whole.mp4", true);
    keep("begun.mp4", false);
    const sk_inference_wish wish = {NULL, "begun.mp4", "conf\t0.25\n"};
    assert_ok(sk_inference_cache_open(&wish, &cache, why, &err), &err);
    assert_non_null(cache);
    SAID_OK(&s, "artifacts clean --all");
    said_has(s.out, "removed ");
    said_has(s.out, "kept ");
    said_has(s.out, "\n1 of 2, ");
    assert_true(sk_file_exists(sk_inference_cache_path(cache)));
    sk_inference_cache_close(&cache);
    SAID_OK(&s, "artifacts clean --all -q");
    said_has(s.out, "removed ");
    said_lacks(s.out, " of ");
}

static void too_many_places(void **state)
{
    (void)state;
    static const char *words[257];
    for (int i = 0; i < 257; i++)
        words[i] = i ? "none.onnx" : "list";
    for (int more = 0; more < 2; more++) {
        const char *all[258];
        memcpy(all, words, sizeof words);
        all[257] = "none.onnx";
        sk_args *args = NULL;
        assert_ok(sk_args_parse(sk_command_find("artifacts"), 257 + more, all, &args, &err), &err);
        said_begin(&s);
        s.error = (sk_error){0};
        s.status = sk_command_find("artifacts")->run(args, &s.error);
        said_end(&s);
        sk_args_close(&args);
        assert_int_equal(strcmp(s.error.message, "at most 256 places at a time") == 0, more);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(videos), cmocka_unit_test(one_in_use),
                                       cmocka_unit_test(too_many_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
