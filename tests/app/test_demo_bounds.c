/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo's page and table say of figures at the ends of what they can be: nothing found at all is not the same as nothing known, one
 * is enough to be told of, and what took no time has no speed. */
#include "demo_fixture.h"

#include <math.h>
#include <unistd.h>

static sk_demo_settings s;
static sk_demo_report *r;
static sk_eval_row classes[3];
static sk_text told;

static void holds(const char *part)
{
    if (!strstr(sk_text_get(&told), part))
        fail_msg("'%s' is not in:\n%s", part, sk_text_get(&told));
}

static void lacks(const char *part)
{
    if (strstr(sk_text_get(&told), part))
        fail_msg("'%s' is in:\n%s", part, sk_text_get(&told));
}

static sk_eval_score score(double value)
{
    return (sk_eval_score){.wanted = 4,
                           .found = 3,
                           .precision = value,
                           .recall = value,
                           .ap = value,
                           .ap50 = value,
                           .ap75 = value};
}

static void begin(double value)
{
    s = settings("bounds");
    r = sk_calloc(1, sizeof *r);
    r->frames = 1;
    r->n_entries = 1;
    sk_demo_entry *e = &r->entries[0];
    snprintf(e->runtime, sizeof e->runtime, "cpu");
    for (int k = 0; k < SK_DEMO_PARTS; k++)
        e->parts[k] = (sk_predict_report){
            .frames = 10, .seconds = 2, .network = 0.4, .runtime = "cpu", .device = "d", .precision = "f32"};
    e->scores[SK_DEMO_BOXES].compared = SK_HAS_OBB;
    e->scores[SK_DEMO_BOXES].all.obb = score(value);
    e->scores[SK_DEMO_POSES].compared = SK_HAS_KEYPOINTS;
    e->scores[SK_DEMO_POSES].all.pose = score(value);
    e->scores[SK_DEMO_POSES].all.points = (sk_eval_errors){
        .measured = 1, .median = 1.25, .mean = 2.5, .p90 = 4.75, .median_percent = 0, .pck = {0.5}};
    memset(classes, 0, sizeof classes);
}

static void page(void)
{
    static const sk_demo_sets none;
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_demo_write_page(&s, r, &none, &err), &err);
    assert_ok(sk_file_read("bounds/report.html", 1 << 24, &text, &length, &err), &err);
    sk_text_clear(&told);
    sk_text_append_bytes(&told, text, length);
    sk_free(text);
}

static void table(void)
{
    sk_text_clear(&r->summary);
    sk_demo_summarize(&s, r);
    sk_text_clear(&told);
    sk_text_append(&told, sk_text_get(&r->summary));
}

static void end(void)
{
    for (int k = 0; k < SK_DEMO_PARTS; k++)
        r->entries[0].scores[k] = (sk_eval_report){0}; /* its rows are ours */
    sk_demo_free(&r);
}

/* 0 is a figure, what is below it is none. */
static void nothing_found_and_nothing_known(void **state)
{
    (void)state;
    begin(0);
    page();
    holds("0.0 %");
    holds("<td>0.000</td>");
    lacks("<td>–</td>");
    holds("0.00 %"); /* the median, which is 0 and measured once */
    holds("Keypoints are off by 1.25 px at the median, 2.50 px on average, and by less than 4.75 px in nine "
          "of ten cases. "
          "50.0 % of them lie within");
    table();
    holds(" 0.000");
    end();
    begin(-1);
    r->entries[0].scores[SK_DEMO_POSES].all.points.measured = 0;
    page();
    lacks("0.000</td>");
    holds("<td>–</td>");
    lacks("Keypoints are off by");
    table();
    lacks(" 0.000");
    end();
}

/* What took no time that is known has no speed; where no frame came, none is divided by. */
static void speeds(void **state)
{
    (void)state;
    begin(0.5);
    page();
    holds(">5.0<");
    table();
    holds("      5.0");
    holds(" 40.00 ms");
    r->entries[0].parts[0].seconds = r->entries[0].parts[1].seconds = 0;
    page();
    lacks(">5.0<");
    lacks(">inf");
    lacks(">nan");
    table();
    lacks("      5.0");
    lacks(" inf ");
    r->entries[0].parts[0].frames = r->entries[0].parts[1].frames = 0;
    page();
    lacks(">inf");
    lacks(">nan");
    table();
    lacks(" inf ");
    lacks(" nan");
    holds(" 400.00 ms"); /* as of one */
    end();
}

/* Of several classes those are told of which there are some, or of which some were found; a single one is all. */
static void classes_that_are_told(void **state)
{
    (void)state;
    static const struct {
        int64_t wanted, found;
        size_t classes;
        bool told;
    } rows[] = {{0, 0, 2, false}, {1, 0, 2, true}, {0, 1, 2, true}, {3, 3, 2, true}, {3, 3, 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(0.5);
        sk_eval_report *e = &r->entries[0].scores[SK_DEMO_BOXES];
        e->n_classes = rows[i].classes;
        e->classes = classes;
        snprintf(classes[0].name, sizeof classes[0].name, "first <kind>");
        snprintf(classes[1].name, sizeof classes[1].name, "second");
        classes[0].obb = score(0.25);
        classes[0].obb.wanted = rows[i].wanted;
        classes[0].obb.found = rows[i].found;
        classes[1].obb = score(0.75);
        page();
        (rows[i].told ? holds : lacks)("oriented boxes, first &lt;kind&gt;</td>");
        (rows[i].classes > 1 ? holds
                             : lacks)("oriented boxes, second</td><td>4</td><td>3</td><td>0.750</td>");
        holds("<td>oriented boxes</td>");
        lacks("boxes of poses</td>"); /* which were not compared */
        end();
    }
}

/* Of two runtimes how many are the same, of as many as there are at most; of one there is nothing to compare. */
static void runtimes_side_by_side(void **state)
{
    (void)state;
    begin(0.5);
    page();
    lacks("Runtimes side by side");
    r->n_entries = 2;
    r->entries[1] = r->entries[0];
    snprintf(r->entries[1].runtime, sizeof r->entries[1].runtime, "onnx_cpu");
    r->entries[1].agreement[0] =
        (sk_agreement){.first = 7, .second = 9, .paired = 5, .largest_px = 0.5, .largest_score = 0.25};
    r->entries[1].agreement[1] = (sk_agreement){.first = 9, .second = 7, .paired = 6};
    page();
    holds("Runtimes side by side");
    holds("<td>5 of 9</td><td>0.5</td><td>0.25</td>");
    holds("<td>6 of 9</td>");
    holds("boxes, cpu</td><td>5.0</td><td>40.00</td>");
    memset(&r->entries[1].scores, 0, sizeof r->entries[1].scores);
    r->entries[1].failed = true;
    snprintf(r->entries[1].problem, sizeof r->entries[1].problem, "no & such <thing>");
    page();
    holds("<tr><td>onnx_cpu</td><td colspan=\"6\">no &amp; such &lt;thing&gt;</td></tr>");
    lacks("boxes, onnx_cpu</td>");
    end();
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    draw_scene("bounds/scene", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_found_and_nothing_known),
        cmocka_unit_test(speeds),
        cmocka_unit_test(classes_that_are_told),
        cmocka_unit_test(runtimes_side_by_side),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_text_free(&told);
    return failed;
}
