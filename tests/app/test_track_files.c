/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a run that tracks says it writes: by formats, overlay and report, up to as many as can be said; and what it leaves alone
 * while frames pass. */
#include "support/test.h"

#include "app/track_internal.h"
#include "base/text.h"
#include "support/fault.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_track_run run;
static sk_predict_settings settings;

static void begin(int32_t n, const char *const *formats)
{
    memset(&run, 0, sizeof run);
    sk_predict_defaults(&settings);
    settings.n_formats = n;
    for (int32_t i = 0; i < n; i++)
        settings.formats[i] = formats[i];
}

/* The files, a blank between. Static text. */
static const char *files(const char *kind, bool at_once)
{
    static char text[2048];
    sk_text all = {0};
    sk_consumers list = {0};
    const sk_run_header header = {.source = "v", .source_kind = kind};
    assert_ok(sk_consumers_add(&list, sk_consumer_track(&run, &settings, NULL, at_once), &err), &err);
    list.items[0]->files[SK_CONSUMER_FILES] = NULL;
    for (int i = 0; i < SK_CONSUMER_FILES; i++)
        list.items[0]->files[i] = "left over";
    sk_consumers_settle(&list, &header);
    for (int i = 0; list.items[0]->files[i]; i++)
        sk_text_appendf(&all, "%s%s", i ? " " : "", list.items[0]->files[i]);
    snprintf(text, sizeof text, "%s", sk_text_get(&all));
    sk_text_free(&all);
    sk_consumers_close(&list);
    return text;
}

static void files_by_wish(void **state)
{
    (void)state;
    static const char *const formats[] = {"csv", "coco", "jsonl"};
    begin(0, NULL);
    assert_string_equal(files("video", false), "");
    begin(3, formats);
    assert_string_equal(files("video", false),
                        "results.csv results.coco.json results.coco_results.json results.jsonl");
    settings.overlay = true;
    assert_string_equal(files("video", false),
                        "results.csv results.coco.json results.coco_results.json results.jsonl overlay.mp4");
    settings.n_formats = 1;
    assert_string_equal(files("pictures", false), "results.csv overlay/");
    assert_string_equal(files("live", false), "results.csv overlay.mp4");
    run.wish.report = true;
    assert_string_equal(files("video", false), "results.csv overlay.mp4 report.html plots/");
    settings.overlay = false;
    assert_string_equal(files("video", false), "results.csv report.html plots/");
    settings.overlay = true; /* others write them */
    assert_string_equal(files("video", true), "");
    settings.overlay = run.wish.report = false;
    assert_string_equal(files("video", true), "");
}

static int count(const char *text)
{
    int n = text[0] != '\0';
    for (; *text; text++)
        n += *text == ' ';
    return n;
}

/* No more than there is room for, with the null at their end. */
static void as_many_as_can_be_said(void **state)
{
    (void)state;
    static const char *const one[16] = {"csv", "csv", "csv", "csv", "csv", "csv", "csv", "csv",
                                        "csv", "csv", "csv", "csv", "csv", "csv", "csv", "csv"},
                             *const two[8] = {"coco", "coco", "coco", "coco", "coco", "coco", "coco", "coco"};
    static const struct {
        int32_t n;
        bool pairs, overlay, report;
        int files;
        const char *last;
    } rows[] = {{13, false, false, false, 13, "results.csv"},
                {14, false, false, false, 14, "results.csv"},
                {15, false, false, false, 14, "results.csv"},
                {16, false, true, false, 15, "overlay.mp4"},
                {16, false, false, true, 16, "plots/"},
                {16, false, true, true, 15, "overlay.mp4"},
                {13, false, true, true, 16, "plots/"},
                {7, true, false, false, 14, "results.coco_results.json"},
                {8, true, false, false, 14, "results.coco_results.json"},
                {8, true, true, true, 15, "overlay.mp4"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].n, rows[i].pairs ? two : one);
        settings.overlay = rows[i].overlay;
        run.wish.report = rows[i].report;
        const char *text = files("video", false);
        assert_int_equal(count(text), rows[i].files);
        assert_string_equal(strrchr(text, ' ') + 1, rows[i].last);
    }
}

static sk_status make(void *context, sk_error *error)
{
    (void)context;
    sk_consumers list = {0};
    const sk_status status = sk_consumers_add(&list, sk_consumer_track(&run, &settings, NULL, false), error);
    sk_consumers_close(&list);
    return status;
}

static void what_is_left_alone(void **state)
{
    (void)state;
    static const sk_instances nobody = {0};
    const sk_result_frame frame = {.instances = &nobody};
    sk_passing passing = {.result = &frame};
    sk_consumers list = {0};
    begin(0, NULL);
    settings.overlay = true;
    run.figures.found = 3;
    assert_ok(sk_consumers_add(&list, sk_consumer_track(&run, &settings, NULL, false), &err), &err);
    sk_consumer *c = list.items[0];
    assert_string_equal(c->kind->name, "track");
    assert_int_equal(c->needs, SK_NEEDS_PROBLEMS);
    assert_ok(c->kind->take(c, &passing, &err), &err);
    assert_ptr_equal(passing.result, &frame);
    assert_ok(c->kind->complete(c, &err), &err); /* it has not begun */
    assert_int_equal(run.figures.found, 3);
    assert_ok(c->kind->end(c, false, &err), &err); /* of a run that did not finish nothing is drawn … */
    settings.overlay = false;
    assert_ok(c->kind->end(c, true, &err), &err); /* … nor where nobody asked for it */
    sk_consumers_close(&list);
    settings.overlay = true; /* … nor where others have drawn it */
    assert_ok(sk_consumers_add(&list, sk_consumer_track(&run, &settings, NULL, true), &err), &err);
    assert_ok(list.items[0]->kind->end(list.items[0], true, &err), &err);
    assert_ok(list.items[0]->kind->complete(list.items[0], &err), &err);
    sk_consumers_close(&list);
    assert_true(test_every_allocation(make, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_by_wish),
                                       cmocka_unit_test(as_many_as_can_be_said),
                                       cmocka_unit_test(what_is_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
