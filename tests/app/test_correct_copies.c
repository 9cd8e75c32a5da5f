/* SPDX-License-Identifier: Apache-2.0 */
/* Corrected copies of a run: which files they have, what they say of themselves, by which way they were made, and those that were stopped
 * on the way. */
#include "track_fixture.h"

#include "app/correct.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static sk_predict_report report;

static void make_run(const char *out, const char *const *formats, bool no_empty)
{
    static track_trial t;
    trial_defaults(&t, "mice.csv", out, formats);
    t.settings.no_empty = no_empty;
    assert_ok(trial_run(&t), &err);
}

static sk_run_view *look(const char *folder)
{
    sk_run_view *v = NULL;
    assert_ok(sk_run_view_open(folder, &v, &err), &err);
    return v;
}

static void swap(sk_run_view *v, int64_t from, int64_t to)
{
    const sk_correction c = {
        .kind = SK_CORRECTION_SWAP, .a = 0, .b = 2, .from = from, .to = to, .prefer = -1};
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &c, &err), &err);
}

static sk_status save(sk_run_view *v, const char *out)
{
    const sk_correct_save how = {.out = out, .without_video = true};
    return sk_correct_save_run(v, &how, &report, &err);
}

static int count_of(const char *folder, const char *file, const char *what)
{
    int n = 0;
    char *text = text_of(folder, file);
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    sk_free(text);
    return n;
}

static const char *files_told(void)
{
    static char all[512];
    all[0] = '\0';
    for (int32_t i = 0; i < report.n_files; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "",
                 sk_path_name(report.files[i]));
    return all;
}

static bool by_lines(void)
{
    return strncmp(report.notice, "made of results.jsonl, with its seven digits", 44) == 0;
}

/* The copy has the files of its run; made of lines it has no raw ones. What it says of its origin is its own run's, said once. */
static void files_and_origin(void **state)
{
    (void)state;
    static const char *const formats[] = {"raw", "jsonl", "csv", "tracks", NULL};
    make_run("run", formats, false);
    sk_run_view *v = look("run");
    swap(v, 5, 9);
    assert_ok(save(v, "copy"), &err);
    assert_false(by_lines());
    char first[512];
    snprintf(first, sizeof first, "%s", files_told());
    assert_true(strstr(first, "tracks.csv") && strstr(first, "results.csv") &&
                strstr(first, "results.jsonl"));
    sk_run_view_close(&v);
    assert_int_equal(count_of("copy", "run.json", "\"corrected_run\""), 1);
    assert_int_equal(count_of("copy", "run.json", "/run\""), 1);
    v = look("copy");
    swap(v, 12, 12);
    assert_ok(save(v, "again"), &err);
    assert_true(by_lines());
    assert_int_equal(count_of("again", "run.json", "\"corrected_run\""), 1);
    assert_int_equal(count_of("again", "run.json", "\"corrections\""), 1);
    assert_int_equal(count_of("again", "run.json", "/copy\""), 1);
    assert_int_equal(count_of("again", "run.json", "/run\""), 0);
    assert_int_equal(count_of("again", "run.json", "swap 0 and 2 in frame 12") +
                         count_of("again", "run.json", "swap 0 and 2 in frames 12 to 12"),
                     1);
    assert_int_equal(count_of("again", "run.json", "frames 5 to 9"), 0);
    assert_null(strstr(files_told(), "raw"));
    if (strlen(files_told()) >= strlen(first))
        fail_msg("'%s' after '%s'", files_told(), first);
    sk_run_view_close(&v);
    /* only what was asked for */
    v = look("run");
    const sk_correct_save how = {
        .out = "few", .without_video = true, .n_formats = 2, .formats = {"csv", "mot"}};
    assert_ok(sk_correct_save_run(v, &how, &report, &err), &err);
    assert_string_equal(files_told(), "results.csv results.mot.txt run.json");
    sk_run_view_close(&v);
}

/* --- the witness --- */

/* The first number behind the key in the run's line of frame 3, moved by so much. */
static void move(const char *folder, const char *key, double by)
{
    char path[64], number[64], *text = text_of(folder, "results.jsonl");
    const char *at = text;
    sk_text changed = {0};
    for (int i = 0; i < 3; i++)
        at = strchr(at, '\n') + 1;
    at = strstr(at, key);
    assert_non_null(at);
    at += strlen(key);
    char *end = NULL;
    const double value = strtod(at, &end);
    snprintf(number, sizeof number, "%.9g", value + by);
    sk_text_append_bytes(&changed, text, (size_t)(at - text));
    sk_text_append(&changed, number);
    sk_text_append(&changed, end);
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    put(path, sk_text_get(&changed));
    sk_text_free(&changed);
    sk_free(text);
}

static const char *const lines_only[] = {"jsonl", "csv", NULL};

/* Lines that say what the journal gives but for their rounding are the same tracks; those that say something else are told. */
static void witnesses(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double by;
        bool other;
    } rows[] = {{"\"track\":", 7, true},  {"\"x\":", 0.0012, false}, {"\"x\":", -0.0012, false},
                {"\"x\":", 0.0015, true}, {"\"x\":", -0.0015, true}, {"\"y\":", 0.0013, false},
                {"\"y\":", -0.0018, true}}; /* at 32.25, 50.5 */
    make_run("seen", lines_only, false);
    char *lines = text_of("seen", "results.jsonl");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char copy[16];
        snprintf(copy, sizeof copy, "c%zu", i);
        put("seen/results.jsonl", lines);
        move("seen", rows[i].key, rows[i].by);
        sk_run_view *v = look("seen");
        assert_ok(save(v, copy), &err);
        if (by_lines() != rows[i].other)
            fail_msg("%zu: %s", i, report.notice);
        if (rows[i].other)
            if (!strstr(report.notice, ": its journal gives other tracks in frame 3 than results.jsonl has"))
                fail_msg("%zu: %s", i, report.notice);
        assert_true(report.total_frames == 14 && !report.stopped);
        sk_run_view_close(&v);
    }
    sk_free(lines);
}

/* --- frames without animals, and runs that go on --- */

static int64_t stop_at;

static bool stop(void *context, const sk_predict_progress *p)
{
    (void)context;
    return p->done == stop_at;
}

/* Three mice; nobody is there in frames 4 to 6. */
static void put_sparse(const char *name)
{
    sk_text csv = {0};
    sk_text_append(&csv, "source,frame,class,name,score,cx,cy,w,h,angle\n");
    for (int f = 0; f < 14; f++)
        for (int k = 0; k < 3 && (f < 4 || f > 6); k++)
            sk_text_appendf(&csv, "v.mp4,%d,0,mouse,0.9,%d.25,%d,30,12,0.1\n", f, 60 + 4 * f, 50 + 60 * k);
    put(name, sk_text_get(&csv));
    sk_text_free(&csv);
}

/* Both ways: by the journal, and, where that is gone, by the lines. */
static void in_parts(void **state)
{
    (void)state;
    static const char *const runs[] = {"journal", "lines", "sparse", "sparse_lines"};
    for (int i = 0; i < 4; i++) {
        char whole[32], parted[32], path[64];
        if (i >= 2)
            put_sparse("mice.csv");
        make_run(runs[i], lines_only, i >= 2);
        if (i % 2 == 1) {
            snprintf(path, sizeof path, "%s/journal.skj", runs[i]);
            assert_int_equal(unlink(path), 0);
        }
        sk_run_view *v = look(runs[i]);
        snprintf(whole, sizeof whole, "%s_whole", runs[i]);
        snprintf(parted, sizeof parted, "%s_parted", runs[i]);
        assert_ok(save(v, whole), &err);
        assert_int_equal(by_lines(), i % 2 == 1);
        assert_same_file(runs[i], whole, "results.csv");
        assert_same_file(runs[i], whole, "results.jsonl");
        static const char name[] = "queen";
        sk_correction c = {.kind = SK_CORRECTION_RENAME, .a = 0, .b = -1, .to = -1, .prefer = -1};
        snprintf(c.name, sizeof c.name, "%s", name);
        swap(v, 8, -1);
        assert_ok(sk_correct_step(v, SK_STEP_ADD, &c, &err), &err);
        sk_correct_save how = {.out = parted, .without_video = true, .watch = stop};
        stop_at = 6;
        assert_ok(sk_correct_save_run(v, &how, &report, &err), &err);
        assert_true(report.stopped && report.frames == 6);
        snprintf(path, sizeof path, "%s/corrections.jsonl", parted);
        assert_false(sk_file_exists(path)); /* names come once it is whole */
        stop_at = -1;
        assert_ok(sk_correct_save_run(v, &how, &report, &err), &err);
        assert_false(report.stopped);
        assert_true(sk_file_exists(path));
        snprintf(whole, sizeof whole, "%s_anew", runs[i]);
        assert_ok(save(v, whole), &err);
        assert_same_file(whole, parted, "results.csv");
        assert_same_file(whole, parted, "results.jsonl");
        sk_run_view_close(&v);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    put_mice("mice.csv", 14);
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_and_origin), cmocka_unit_test(witnesses),
                                       cmocka_unit_test(in_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
