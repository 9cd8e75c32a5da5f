/* SPDX-License-Identifier: Apache-2.0 */
/* What a corrected copy keeps of what its run says of itself; and runs that say of their tracking what this version does not know, whose
 * lines are told as they are. */
#include "track_fixture.h"

#include "app/correct.h"
#include "app/run_record.h"
#include "app/track_recorded.h"

#include <unistd.h>

static sk_predict_report report;
static const char *const formats[] = {"jsonl", "csv", NULL};

static sk_status copy_of(const char *run, const char *out)
{
    sk_run_view *v = NULL;
    const sk_correct_save how = {.out = out, .without_video = true};
    assert_ok(sk_run_view_open(run, &v, &err), &err);
    const sk_status status = sk_correct_save_run(v, &how, &report, &err);
    sk_run_view_close(&v);
    return status;
}

/* "name<tab>value", a line each. */
static char *identity_of(const char *folder)
{
    sk_run_record *record = NULL;
    sk_text text = {0};
    char *out = NULL;
    assert_ok(sk_run_record_open(folder, &record, &err), &err);
    assert_ok(sk_run_record_identity_text(record, NULL, &text, &err), &err);
    assert_ok(sk_text_take(&text, &out, &err), &err);
    sk_run_record_close(&record);
    return out;
}

static const char *line_at(const char *text, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '\t')
            return at;
    return NULL;
}

/* All that shaped what was found, as its run said it, and all of the tracking; and what was put right. */
static void what_stays_said(void **state)
{
    (void)state;
    assert_ok(copy_of("run", "copy"), &err);
    char *run = identity_of("run"), *copy = identity_of("copy");
    int n = 0;
    for (const char *at = run; *at; at = strchr(at, '\n') + 1, n++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\t"), at);
        const char *there = line_at(copy, name);
        const size_t length = strcspn(at, "\n") + 1;
        if (!there || strncmp(there, at, length) != 0)
            fail_msg("of '%.*s' the copy says '%.*s'", (int)length - 1, at,
                     there ? (int)strcspn(there, "\n") : 7, there ? there : "nothing");
    }
    assert_true(n > 40);
    assert_null(line_at(run, "corrected_run"));
    assert_null(line_at(run, "corrections"));
    assert_non_null(line_at(copy, "corrected_run"));
    assert_int_equal(strncmp(line_at(copy, "corrections"), "corrections\t\n", 13), 0);
    sk_free(run);
    sk_free(copy);
}

/* The text with the first of these changed; ended by sk_free. */
static char *changed(const char *text, const char *from, const char *to)
{
    sk_text all = {0};
    char *out = NULL;
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("there is no %s in %s", from, text);
    sk_text_append_bytes(&all, text, (size_t)(at - text));
    sk_text_append(&all, to);
    sk_text_append(&all, at + strlen(from));
    assert_ok(sk_text_take(&all, &out, &err), &err);
    return out;
}

static void what_nobody_knows(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why; /* null: it is known */
    } rows[] = {
        {"\"tracker\": \"skitter\"", "\"tracker\": \"skitter\"", NULL},
        {"\"tracker\": \"skitter\"", "\"tracker\": \"tomorrow\"", "tracker is 'tomorrow'"},
        {"\"track.gate\"", "\"track.gates\"", "track.gate is ''"},
        {"\"backward\": \"1\"", "\"backward\": \"yes\"", "backward is 'yes'"},
        {"\"points\": \" to \"", "\"points\": \"tail nose\"", "points is 'tail nose'"},
        {"\"points\": \" to \"", "\"points\": \"a to b to c\"", "points is 'a to b to c'"},
        {"\"region\": \"\"", "\"region\": \"mask 1234\"", "its region was a picture"},
    };
    char *json = text_of("run", "run.json");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[16];
        char *now = changed(json, rows[i].from, rows[i].to);
        put("run/run.json", now);
        sk_free(now);
        snprintf(out, sizeof out, "known%zu", i);
        assert_ok(copy_of("run", out), &err);
        if (rows[i].why) {
            if (strncmp(report.notice, "made of results.jsonl, ", 23) != 0 ||
                !strstr(report.notice, rows[i].why))
                fail_msg("instead of '%s': %s", rows[i].why, report.notice);
        } else {
            assert_string_equal(report.notice, "");
        }
        assert_int_equal(report.total_frames, 14);
        assert_same_file("run", out, "results.csv");
        assert_same_file("run", out, "results.jsonl");
    }
    put("run/run.json", json);
    sk_free(json);
}

/* run.json with these two changed, and the wish that it is read as. */
static sk_track_wish wish_with(const char *rate, const char *fps, const char *region, sk_region **shapes)
{
    char *json = text_of("run", "run.json"), to[100];
    sk_run_record *record = NULL;
    sk_track_wish wish;
    sk_text words = {0};
    snprintf(to, sizeof to, "\"rate\": %s", rate);
    char *once = changed(json, "\"rate\": 20", to);
    snprintf(to, sizeof to, "\"track.fps\": \"%s\"", fps);
    char *twice = changed(once, "\"track.fps\": \"20\"", to);
    snprintf(to, sizeof to, "\"region\": \"%s\"", region);
    char *thrice = changed(twice, "\"region\": \"\"", to);
    put("run/run.json", thrice);
    assert_ok(sk_run_record_open("run", &record, &err), &err);
    assert_ok(sk_track_wish_recorded(record, &wish, shapes, &words, &err), &err);
    assert_int_equal(wish.region_text != NULL, region[0] != '\0');
    wish.region_text = NULL;
    sk_run_record_close(&record);
    put("run/run.json", json);
    sk_text_free(&words);
    sk_free_all(json, once, twice, thrice);
    return wish;
}

/* The rate is a fraction, and its digits were cut: it is put in the place of one that is the same but for them. */
static void rates_with_all_digits(void **state)
{
    (void)state;
    static const struct {
        const char *rate, *fps;
        double wanted;
    } rows[] = {{"29.97002997", "29.97002997", 29.97002997},
                {"29.97002997", "29.97002997003", 30000.0 / 1001},
                {"29.97002997", "29.97002997001", 30000.0 / 1001}, /* 2e-11 beside it */
                {"29.97002997", "29.97002997005", 30000.0 / 1001},
                {"29.97002997", "29.9700299701", 29.9700299701}, /* 7e-11 */
                {"29.97002997", "29.9700299699", 29.9700299699},
                {"0.333333333", "0.3333333333333", 1.0 / 3},
                {"0.333333333", "0.333333333332", 0.333333333332}, /* 1.3e-12 of a third: another one */
                {"29.97002997", "25", 25},
                {"0", "20", 20}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_region *region = NULL;
        const sk_track_wish wish = wish_with(rows[i].rate, rows[i].fps, "", &region);
        if (wish.track.fps != rows[i].wanted)
            fail_msg("row %zu: %.17g", i, wish.track.fps);
        assert_null(region);
    }
}

/* Shapes belong to it, but for those with a mark; places between them do not. */
static void regions_come_back(void **state)
{
    (void)state;
    sk_region *region = NULL;
    (void)wish_with("20", "20", "10,10,90,90 !30,30,50,50", &region);
    assert_non_null(region);
    assert_true(sk_region_holds(region, 20, 20) && !sk_region_holds(region, 40, 40) &&
                !sk_region_holds(region, 95, 20));
    sk_region_close(&region);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    static track_trial t;
    put_mice("mice.csv", 14);
    trial_defaults(&t, "mice.csv", "run", formats);
    assert_ok(trial_run(&t), &err);
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_stays_said), cmocka_unit_test(what_nobody_knows),
                                       cmocka_unit_test(rates_with_all_digits),
                                       cmocka_unit_test(regions_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
