/* SPDX-License-Identifier: Apache-2.0 */
/* Corrections of a run's tracks, step by step: what is kept in the folder, what is refused, and the copies that are saved. */
#include "track_fixture.h"

#include "app/correct.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const formats[] = {"tracks", "csv", "jsonl", "mot", NULL};
static sk_predict_report report;

/* A run to correct, made once and copied by its command. */
static void make_run(const char *out)
{
    static track_trial t;
    put_mice("mice.csv", 14);
    trial_defaults(&t, "mice.csv", out, formats);
    assert_ok(trial_run(&t), &err);
    assert_int_equal(t.figures.tracks, 3);
}

static sk_run_view *look(const char *folder)
{
    sk_run_view *v = NULL;
    assert_ok(sk_run_view_open(folder, &v, &err), &err);
    return v;
}

static sk_correction a_step(sk_correction_kind kind, int32_t a, int32_t b, int64_t from, int64_t to,
                            int32_t prefer, const char *name)
{
    sk_correction c = {.kind = kind, .a = a, .b = b, .from = from, .to = to, .prefer = prefer};
    snprintf(c.name, sizeof c.name, "%s", name);
    return c;
}

static sk_status step(sk_run_view *v, sk_correction c)
{
    return sk_correct_step(v, SK_STEP_ADD, &c, &err);
}

/* Which tracks are where: "0@20 2@150 1@260" of a frame of tracks.csv. */
static const char *who(const char *folder, int frame)
{
    static char out[256];
    char *text = text_of(folder, "results.csv");
    out[0] = '\0';
    int column[3] = {-1, -1, -1}, n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char fields[64][32] = {{0}};
        int count = 0;
        if (*line == '#')
            continue;
        for (char *at = line; at && count < 64; count++) {
            char *comma = strchr(at, ',');
            snprintf(fields[count], sizeof fields[count], "%.*s",
                     (int)(comma ? comma - at : (ptrdiff_t)strlen(at)), at);
            at = comma ? comma + 1 : NULL;
        }
        if (n++ == 0) {
            static const char *const names[] = {"frame", "track", "cx"};
            for (int i = 0; i < count; i++)
                for (int k = 0; k < 3; k++)
                    column[k] = strcmp(fields[i], names[k]) == 0 ? i : column[k];
            continue;
        }
        if (atoi(fields[column[0]]) == frame)
            snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s@%d", out[0] ? " " : "",
                     fields[column[1]], atoi(fields[column[2]]));
    }
    sk_free(text);
    return out;
}

static sk_status save(sk_run_view *v, const char *out)
{
    const sk_correct_save how = {.out = out, .without_video = true};
    return sk_correct_save_run(v, &how, &report, &err);
}

static void steps_are_kept(void **state)
{
    (void)state;
    make_run("kept");
    char *before = text_of("kept", "results.csv");
    sk_run_view *v = look("kept");
    sk_run_view_info info;
    assert_int_equal(sk_correct_step(v, SK_STEP_UNDO, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_correct_step(v, SK_STEP_REDO, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_correct_step(v, SK_STEP_ADD, NULL, &err), SK_ERR_ARG);
    assert_false(sk_file_exists("kept/corrections.jsonl"));
    assert_ok(step(v, a_step(SK_CORRECTION_SWAP, 0, 2, 5, -1, -1, "")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_DELETE, 1, -1, 2, 4, -1, "")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_RENAME, 0, -1, 0, -1, -1, "queen")), &err);
    assert_ok(sk_correct_step(v, SK_STEP_UNDO, NULL, &err), &err);
    assert_ok(sk_correct_step(v, SK_STEP_REDO, NULL, &err), &err);
    char *text = text_of("kept", "corrections.jsonl");
    static const char *const lines[] = {"{\"corrections\":1,\"run\":\"",
                                        "{\"do\":\"swap\",\"tracks\":[0,2],\"from\":5",
                                        "{\"do\":\"delete\",",
                                        "{\"do\":\"rename\",",
                                        "{\"do\":\"undo\"",
                                        "{\"do\":\"redo\""};
    const char *at = text;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_memory_equal(at, lines[i], strlen(lines[i]));
        if (i == 0)
            assert_non_null(strstr(at, "\"frames\":14}\n"));
        at = strchr(at, '\n') + 1;
    }
    assert_string_equal(at, "");
    sk_run_view_get_info(v, &info);
    assert_true(info.corrections->count == 3 && info.corrections->undone == 0);
    assert_string_equal(sk_corrections_name(info.corrections, 0), "queen");
    /* another one looks, and adds; a line that was not finished is cut off */
    put("kept/more", "");
    sk_text torn = {0};
    sk_text_appendf(&torn, "%s{\"do\":\"swap\",\"tra", text);
    put("kept/corrections.jsonl", sk_text_get(&torn));
    sk_run_view *other = look("kept");
    assert_ok(sk_correct_step(other, SK_STEP_UNDO, NULL, &err), &err);
    sk_free(text);
    text = text_of("kept", "corrections.jsonl");
    assert_null(strstr(text, "\"tra\n"));
    assert_non_null(strstr(text, "{\"do\":\"redo\""));
    sk_free(text);
    assert_ok(step(v, a_step(SK_CORRECTION_DELETE, 2, -1, 0, 1, -1, "")), &err); /* on what the other left */
    sk_run_view_get_info(v, &info);
    assert_int_equal(info.corrections->count, 3);
    assert_null(sk_corrections_name(info.corrections, 0));
    sk_run_view_close(&other);
    sk_run_view_close(&v);
    char *after = text_of("kept", "results.csv");
    assert_string_equal(before, after); /* nothing else is changed */
    sk_free(before);
    sk_free(after);
    sk_text_free(&torn);
}

static void refused(sk_run_view *v, sk_correction c, sk_status code, const char *words)
{
    assert_int_equal(step(v, c), code);
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in '%s'", words, err.message);
    assert_false(sk_file_exists("refused/corrections.jsonl"));
}

static void what_is_refused(void **state)
{
    (void)state;
    make_run("refused");
    sk_run_view *v = look("refused");
    refused(v, a_step(SK_CORRECTION_SWAP, 0, 9, 3, -1, -1, ""), SK_ERR_NOT_FOUND,
            "refused: there is no track 9; there are 0, 1, 2");
    refused(v, a_step(SK_CORRECTION_SWAP, 9, 0, 3, -1, -1, ""), SK_ERR_NOT_FOUND,
            "there is no track 9; there");
    refused(v, a_step(SK_CORRECTION_SWAP, 0, 1, 100, -1, -1, ""), SK_ERR_NOT_FOUND,
            "there is no track 0 from frame 100 on");
    refused(v, a_step(SK_CORRECTION_DELETE, 1, -1, 400, -1, -1, ""), SK_ERR_NOT_FOUND,
            "no track 1 from frame 400 on; there");
    refused(v, a_step(SK_CORRECTION_DELETE, 1, -1, 400, 410, -1, ""), SK_ERR_NOT_FOUND,
            "no track 1 in frames 400 to 410; there");
    refused(v, a_step(SK_CORRECTION_DELETE, 7, -1, 0, -1, -1, ""), SK_ERR_NOT_FOUND, "no track 7; there");
    refused(v, a_step(SK_CORRECTION_RENAME, 7, -1, 0, -1, -1, "x"), SK_ERR_NOT_FOUND, "no track 7; there");
    refused(v, a_step(SK_CORRECTION_MERGE, 0, 0, 0, -1, -1, ""), SK_ERR_ARG, "0 and 0 are one track");
    refused(v, a_step(SK_CORRECTION_MERGE, 0, 7, 0, -1, -1, ""), SK_ERR_NOT_FOUND, "no track 7");
    refused(v, a_step(SK_CORRECTION_MERGE, 7, 0, 0, -1, -1, ""), SK_ERR_NOT_FOUND, "no track 7");
    refused(v, a_step(SK_CORRECTION_MERGE, 0, 2, 0, -1, -1, ""), SK_ERR_MISMATCH,
            "tracks 0 and 2 are both in 14 frames (0-13), so they are two animals there. If one of them is "
            "wrong, say which one "
            "counts where both are: --prefer 0 or --prefer 2");
    const sk_correct_save own = {.out = "refused", .without_video = true},
                          drawn = {.out = "x", .without_video = true, .overlay = true},
                          unknown = {
                              .out = "x", .without_video = true, .n_formats = 1, .formats = {"nonsense"}};
    assert_int_equal(sk_correct_save_run(v, &own, &report, &err), SK_ERR_ARG);
    assert_string_equal(err.message,
                        "refused: the copy needs a folder of its own; nothing of a run is changed");
    assert_int_equal(sk_correct_save_run(v, &drawn, &report, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "refused: an overlay needs the video");
    assert_int_equal(sk_correct_save_run(v, &unknown, &report, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "no result format is called 'nonsense'");
    assert_false(sk_file_exists("x"));
    /* a frame that only one of the two has is enough to swap in; both in one frame is counted in one word */
    assert_ok(step(v, a_step(SK_CORRECTION_DELETE, 1, -1, 1, -1, -1, "")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_SWAP, 0, 1, 3, 3, -1, "")), &err);
    assert_int_equal(step(v, a_step(SK_CORRECTION_MERGE, 0, 1, 0, -1, -1, "")), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "are both in 1 frame (0), so they"));
    for (int32_t i = 0; i < 3; i++) /* once nobody is left, that is said */
        (void)!step(v, a_step(SK_CORRECTION_DELETE, i, -1, 0, -1, -1, ""));
    assert_int_equal(step(v, a_step(SK_CORRECTION_DELETE, 0, -1, 0, -1, -1, "")), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "there is no track 0; there are none"));
    sk_run_view_close(&v);
    /* what is not a file of corrections, or of another run */
    static const char *const heads[] = {"{\"corrections\":2}\n",
                                        "{\"corrections\":1,\"run\":\"1999\",\"frames\":14}\n", "[\n"};
    static const char *const words[] = {"is not a file of skitter's corrections",
                                        "these corrections are of another state of this run", ""};
    for (int i = 0; i < 3; i++) {
        put("refused/corrections.jsonl", heads[i]);
        v = look("refused");
        sk_run_view_info info;
        sk_run_view_get_info(v, &info);
        assert_true(info.corrections->count == 0 && strstr(info.notice, words[i]) && info.notice[0]);
        assert_int_not_equal(step(v, a_step(SK_CORRECTION_DELETE, 1, -1, 0, -1, -1, "")), SK_OK);
        assert_int_equal(save(v, "y"), SK_ERR_MISMATCH);
        sk_run_view_close(&v);
    }
}

static void copies(void **state)
{
    (void)state;
    static const char *const files[] = {"results.csv", "results.jsonl", "tracks.csv", "results.mot.txt"};
    make_run("run");
    sk_run_view *v = look("run");
    assert_ok(save(v, "plain"), &err); /* nothing was corrected: the same bytes */
    assert_string_equal(report.notice, "");
    assert_int_equal(report.total_frames, 14);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_same_file("run", "plain", files[i]);
    assert_false(sk_file_exists("plain/corrections.jsonl"));
    assert_ok(step(v, a_step(SK_CORRECTION_SWAP, 0, 2, 5, 9, -1, "")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_DELETE, 1, -1, 12, -1, -1, "")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_RENAME, 2, -1, 0, -1, -1, "queen")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_RENAME, 0, -1, 0, -1, -1, "first")), &err);
    assert_ok(step(v, a_step(SK_CORRECTION_RENAME, 0, -1, 0, -1, -1, "second")), &err);
    assert_ok(save(v, "copy"), &err);
    sk_text all = {.limit = 1 << 22};
    static const int frames[] = {4, 5, 9, 10, 11, 12, 13};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        sk_text_appendf(&all, "%d: %s", frames[i], who("run", frames[i]));
        sk_text_appendf(&all, " -> %s\n", who("copy", frames[i]));
    }
    test_text_is("tests/app/told/corrected.txt", sk_text_get(&all));
    sk_text_free(&all);
    char *told = text_of("copy", "run.json");
    assert_non_null(strstr(told, "\"corrected_run\""));
    assert_non_null(
        strstr(told, "\"corrections\": \"swap 0 and 2 in frames 5 to 9; delete 1 from frame 12 on;"));
    sk_free(told);
    sk_run_view *copy = look("copy");
    sk_run_view_info info;
    sk_run_view_get_info(copy, &info);
    assert_int_equal(info.corrections->count, 2); /* the names that hold */
    assert_string_equal(sk_corrections_name(info.corrections, 0), "second");
    assert_string_equal(sk_corrections_name(info.corrections, 2), "queen");
    /* a copy of a copy, whose journal gives the tracks of before: by its lines */
    assert_ok(save(copy, "again"), &err);
    assert_non_null(strstr(
        report.notice,
        "made of results.jsonl, with its seven digits and without the numbers of detections: copy: its "
        "journal gives other tracks in frame 5 than results.jsonl has"));
    assert_same_file("copy", "again", "results.csv");
    assert_same_file("copy", "again", "results.mot.txt");
    sk_run_view_close(&copy);
    assert_int_equal(save(v, "plain"), SK_ERR_MISMATCH); /* there is another copy */
    const sk_correct_save anew = {.out = "plain",
                                  .without_video = true,
                                  .restart = true,
                                  .report = true,
                                  .n_formats = 1,
                                  .formats = {"csv"}};
    assert_ok(sk_correct_save_run(v, &anew, &report, &err), &err);
    assert_same_file("copy", "plain", "results.csv");
    assert_true(sk_file_size("plain/report.html") > 1000);
    sk_run_view_close(&v);
    /* a name alone is kept, too */
    make_run("named");
    v = look("named");
    assert_ok(step(v, a_step(SK_CORRECTION_RENAME, 1, -1, 0, -1, -1, "only")), &err);
    assert_ok(save(v, "of_named"), &err);
    sk_run_view_close(&v);
    copy = look("of_named");
    sk_run_view_get_info(copy, &info);
    assert_int_equal(info.corrections->count, 1);
    assert_string_equal(sk_corrections_name(info.corrections, 1), "only");
    sk_run_view_close(&copy);
    /* without a journal: by its lines, too */
    make_run("bare");
    assert_int_equal(unlink("bare/journal.skj"), 0);
    v = look("bare");
    assert_ok(save(v, "of_lines"), &err);
    assert_non_null(strstr(report.notice, "made of results.jsonl"));
    assert_same_file("bare", "of_lines", "results.csv");
    assert_same_file("bare", "of_lines", "results.jsonl");
    sk_run_view_close(&v);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_kept),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
