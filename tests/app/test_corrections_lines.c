/* SPDX-License-Identifier: Apache-2.0 */
/* The file of corrections, line by line: which run it is of, where it is damaged, and which tracks are named to who asks for another. */
#include "track_fixture.h"

#include "app/correct.h"

#include <unistd.h>

#define STEP "{\"do\":\"delete\",\"tracks\":[1],\"from\":0,\"to\":0}\n"

/* So many animals that do not move, in fourteen frames. */
static void make_run(const char *out, int animals)
{
    static const char *const formats[] = {"jsonl", NULL};
    static track_trial t;
    sk_text csv = {0};
    sk_text_append(&csv, "source,frame,class,name,score,cx,cy,w,h,angle\n");
    for (int f = 0; f < 14; f++)
        for (int i = 0; i < animals; i++)
            sk_text_appendf(&csv, "v.mp4,%d,0,mouse,0.9,%d,%d,20,10,0\n", f, 50 + 60 * (i % 5),
                            50 + 60 * (i / 5));
    put("animals.csv", sk_text_get(&csv));
    sk_text_free(&csv);
    trial_defaults(&t, "animals.csv", out, formats);
    assert_ok(trial_run(&t), &err);
    assert_int_equal(t.figures.tracks, animals);
}

static sk_run_view *look(const char *folder)
{
    sk_run_view *v = NULL;
    assert_ok(sk_run_view_open(folder, &v, &err), &err);
    return v;
}

static void tracks_that_are_named(void **state)
{
    (void)state;
    static const struct {
        int animals;
        const char *list;
    } rows[] = {{12, "; there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"},
                {13, "; there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …"},
                {14, "; there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …"}};
    static const struct {
        int64_t from, to;
        const char *when;
    } whens[] = {
        {0, -1, ""}, {1, -1, " from frame 1 on"}, {0, 0, " in frames 0 to 0"}, {1, 2, " in frames 1 to 2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[16], wanted[256];
        snprintf(out, sizeof out, "many%zu", i);
        make_run(out, rows[i].animals);
        sk_run_view *v = look(out);
        for (size_t k = 0; k < sizeof whens / sizeof *whens; k++) {
            const sk_correction c = {.kind = SK_CORRECTION_DELETE,
                                     .a = 77,
                                     .b = -1,
                                     .from = whens[k].from,
                                     .to = whens[k].to,
                                     .prefer = -1};
            assert_int_equal(sk_correct_step(v, SK_STEP_ADD, &c, &err), SK_ERR_NOT_FOUND);
            snprintf(wanted, sizeof wanted, "%s: there is no track 77%s%s", out, whens[k].when, rows[i].list);
            assert_string_equal(err.message, wanted);
        }
        sk_run_view_close(&v);
    }
}

/* Opened with a file that says this: how many steps count, and what is told. */
static void with(const char *head, const char *rest, int32_t count, const char *notice)
{
    char text[2048];
    sk_run_view_info info;
    snprintf(text, sizeof text, "%s%s", head, rest);
    put("lines/corrections.jsonl", text);
    sk_run_view *v = look("lines");
    sk_run_view_get_info(v, &info);
    assert_int_equal(info.corrections->count, count);
    if (notice ? !strstr(info.notice, notice) : info.notice[0] != '\0')
        fail_msg("'%s' after %s", info.notice, text);
    sk_run_view_close(&v);
}

static void lines(void **state)
{
    (void)state;
    make_run("lines", 3);
    sk_run_view *v = look("lines");
    const sk_correction c = {.kind = SK_CORRECTION_DELETE, .a = 1, .b = -1, .from = 0, .to = 0, .prefer = -1};
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &c, &err), &err);
    sk_run_view_close(&v);
    char *text = text_of("lines", "corrections.jsonl"), head[256], other[256];
    const size_t n = strcspn(text, "\n") + 1;
    assert_true(n < sizeof head && strstr(text, "\"frames\":14}\n"));
    snprintf(head, sizeof head, "%.*s", (int)n, text);
    sk_free(text);
    with(head, "", 0, NULL);
    with(head, STEP, 1, NULL);
    with(head, STEP STEP, 2, NULL);
    with(head, STEP "{\"do\":\"dele", 1, NULL); /* somebody died while writing it */
    with(head, STEP "{\"do\":\"dele\n", 0, "lines/corrections.jsonl: line 3");
    with(head, "nonsense\n" STEP, 0, "lines/corrections.jsonl: line 2");
    with("", STEP, 0, "is not a file of skitter's corrections");
    with("", "", 0, NULL);
    with("{\"corrections\":1", "", 0, NULL);
    snprintf(other, sizeof other, "%.*s\"frames\":15}\n", (int)(strstr(head, "\"frames\"") - head), head);
    with(other, STEP, 0, "these corrections are of another state of this run");
    snprintf(other, sizeof other, "%.*s\"x\":14}\n", (int)(strstr(head, "\"frames\"") - head), head);
    with(other, STEP, 0, "these corrections are of another state of this run");
    with("{\"corrections\":1,\"frames\":14}\n", STEP, 0,
         "these corrections are of another state of this run");
    with("{\"corrections\":2}\n", STEP, 0, "is not a file of skitter's corrections");
    /* what was cut off is taken away by the next who writes */
    with(head, STEP "{\"do\":\"dele", 1, NULL);
    v = look("lines");
    assert_ok(sk_correct_step(v, SK_STEP_UNDO, NULL, &err), &err);
    sk_run_view_close(&v);
    text = text_of("lines", "corrections.jsonl");
    assert_int_equal(strncmp(text + n, STEP "{\"do\":\"undo\"", strlen(STEP "{\"do\":\"undo\"")), 0);
    sk_free(text);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(tracks_that_are_named), cmocka_unit_test(lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
