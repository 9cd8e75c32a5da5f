/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo draws of animals that have upright boxes alone, of many, of some that stay and some that go, of times and errors that are not
 * known, and where memory ends. */
#include "demo_fixture.h"

#include "media/draw.h"
#include "support/fault.h"

#include <unistd.h>

/* Whether all parts follow each other in it. */
static void holds(const sk_text *text, const char *const *parts, int n)
{
    const char *at = sk_text_get(text);
    for (int i = 0; i < n; i++) {
        const char *found = strstr(at, parts[i]);
        if (!found)
            fail_msg("'%s' is not in its place in:\n%s", parts[i], sk_text_get(text));
        at = found + strlen(parts[i]);
    }
}

#define HOLDS(text, ...)                                                                                     \
    do {                                                                                                     \
        const char *const parts_[] = {__VA_ARGS__};                                                          \
        holds(text, parts_, (int)(sizeof parts_ / sizeof *parts_));                                          \
    } while (0)

static int count_of(const sk_text *text, const char *what)
{
    int n = 0;
    for (const char *at = sk_text_get(text); (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* --- paths --- */

/* A path goes through the middles, of upright boxes as of turned ones; each track has its own, in its colour. */
static void paths(void **state)
{
    (void)state;
    const sk_demo_settings s = settings("x");
    sk_text page = {0};
    sk_demo_sets sets = {
        .truth = parsed("frame,track,name,x1,y1,x2,y2\n0,4,fish,10,20,30,28\n1,4,fish,13,24,33,32\n"),
        .tracks = parsed("frame,track,name,x1,y1,x2,y2\n0,2,fish,10,20,30,28\n0,0,fly,40,40,50,60\n"
                         "2,2,fish,14,20,34,28\n3,0,fly,42,40,52,60\n")};
    sk_demo_figure_tracks(&s, &sets, &page);
    HOLDS(&page, "viewBox=\"0 0 96 64\"", "<rect class=\"ground\" width=\"96\" height=\"64\"/>",
          "<polyline class=\"path\" points=\"20.0,24.0 23.0,28.0\"/>\n",
          "<polyline class=\"track\" stroke=\"#e69f00\" points=\"45.0,50.0 47.0,50.0\"/>\n",
          "<polyline class=\"track\" stroke=\"#009e73\" points=\"20.0,24.0 24.0,24.0\"/>\n", "</svg>");
    assert_int_equal(count_of(&page, "<polyline"), 3);
    sk_annotations_free(&sets.truth);
    sk_annotations_free(&sets.tracks);
    /* the first row has the last number; of a thousand tracks each has a path, of more only these */
    static const struct {
        int last, paths;
    } rows[] = {{998, 2}, {999, 2}, {1000, 1}, {1001, 1}, {5000, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char csv[200];
        snprintf(csv, sizeof csv,
                 "frame,track,name,x1,y1,x2,y2\n0,%d,fish,10,20,30,28\n0,0,fly,40,40,50,60\n", rows[i].last);
        sets = (sk_demo_sets){.tracks = parsed(csv)};
        sk_text_clear(&page);
        sk_demo_figure_tracks(&s, &sets, &page);
        assert_int_equal(count_of(&page, "<polyline"), rows[i].paths);
        sk_annotations_free(&sets.tracks);
    }
    sk_text_free(&page);
}

/* --- identities --- */

/* Animals that were followed by upright boxes are measured by these. */
static void upright_boxes_are_measured(void **state)
{
    (void)state;
    sk_demo_tracks t = {0};
    sk_demo_sets sets = {0};
    sk_text csv = {0};
    sk_text_append(&csv, "frame,track,name,x1,y1,x2,y2\n");
    for (int f = 0; f < 6; f++)
        sk_text_appendf(&csv, "%d,0,fish,%d,20,%d,40\n%d,1,fly,%d,80,%d,99\n", f, 10 + f, 40 + f, f, 10 + f,
                        40 + f);
    sets.truth = parsed(sk_text_get(&csv));
    sets.tracks = parsed(sk_text_get(&csv));
    assert_ok(sk_demo_measure_tracks(&sets, &t, &err), &err);
    const sk_track_score *score = sk_demo_track_score(&t);
    assert_non_null(score);
    assert_true(score->truth_tracks == 2 && score->found_tracks == 2 && score->switches == 0 &&
                score->mean.hota > 0.99);
    sk_eval_free(&t.scores);
    sk_annotations_free(&sets.truth);
    sk_annotations_free(&sets.tracks);
    sk_text_free(&csv);
}

/* One who lies on nobody is no reason not to look at the next; numbers that have no place in the table are left out, whoever comes first. */
static void who_meets_whom(void **state)
{
    (void)state;
    static const struct {
        const char *rows;
        int64_t wanted;
    } cases[] = {
        {"0,0,0\n0,1,90\n0,2,5\n", 1}, {"0,-1,0\n0,1,5\n0,2,90\n0,3,95\n", 1},
        {"0,511,0\n0,0,5\n", 1},       {"0,512,0\n0,0,5\n", 0},
        {"0,0,0\n0,512,5\n", 0},       {"0,600,0\n0,1,5\n0,2,5\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_demo_tracks t = {0};
        sk_text csv = {0};
        sk_text_append(&csv, "frame,track,name,cx,cy,w,h,angle\n");
        for (const char *at = cases[i].rows; *at; at += strcspn(at, "\n") + 1) {
            int frame = 0, track = 0, x = 0;
            assert_int_equal(sscanf(at, "%d,%d,%d", &frame, &track, &x), 3);
            sk_text_appendf(&csv, "%d,%d,fish,%d,15,20,10,0\n", frame, track, x);
        }
        sk_demo_sets sets = {.truth = parsed(sk_text_get(&csv))};
        assert_ok(sk_demo_measure_tracks(&sets, &t, &err), &err);
        if (t.crossings != cases[i].wanted)
            fail_msg("%zu: %lld", i, (long long)t.crossings);
        sk_annotations_free(&sets.truth);
        sk_text_free(&csv);
    }
}

/* --- times --- */

static sk_demo_report *timed(double seconds, double stage, int64_t frames, int64_t others)
{
    sk_demo_report *r = sk_calloc(1, sizeof *r);
    r->n_entries = 1;
    snprintf(r->entries[0].runtime, sizeof r->entries[0].runtime, "cpu");
    for (int k = 0; k < SK_DEMO_PARTS; k++)
        r->entries[0].parts[k] = (sk_predict_report){
            .frames = k ? others : frames, .seconds = seconds, .network = stage, .pre = stage / 4};
    return r;
}

/* A bar a part, the longest over the whole width; what took no time that is known has no bar, and no rate. */
static void times(void **state)
{
    (void)state;
    sk_text page = {0};
    sk_demo_report *r = timed(2, 0.4, 10, 0); /* 40 and 10 ms a frame, of boxes alone */
    sk_demo_figure_stages(r, &page);
    HOLDS(&page, "<svg viewBox=\"0 0 800 34\"", ">boxes, cpu</text>", "<title>decode 0.00 ms</title>",
          "x=\"180.0\" y=\"4\" width=\"84.0\" height=\"20\"><title>pre 10.00 ms</title>",
          "x=\"264.0\" y=\"4\" width=\"336.0\" height=\"20\"><title>network 40.00 ms</title>",
          ">5.0 frames/s</text>");
    assert_int_equal(count_of(&page, "poses, cpu"), 0);
    sk_demo_free(&r);
    sk_text_clear(&page);
    r = timed(2, 0.004, 10, 0); /* a hundredth of that: as wide */
    sk_demo_figure_stages(r, &page);
    HOLDS(&page, "x=\"180.0\" y=\"4\" width=\"84.0\" height=\"20\"><title>pre 0.10 ms</title>",
          "x=\"264.0\" y=\"4\" width=\"336.0\" height=\"20\"><title>network 0.40 ms</title>");
    sk_demo_free(&r);
    sk_text_clear(&page);
    r = timed(0, 0.4, 10, 20); /* nobody knows how long they took together */
    sk_demo_figure_stages(r, &page);
    HOLDS(&page, "<svg viewBox=\"0 0 800 64\"", ">0.0 frames/s</text>", ">poses, cpu</text>",
          ">0.0 frames/s</text>");
    sk_demo_free(&r);
    for (int i = 0; i < 2; i++) { /* no time at all; no frames */
        sk_text_clear(&page);
        r = i ? timed(1, 0.5, 0, 0) : timed(1, 0, 10, 10);
        sk_demo_figure_stages(r, &page);
        assert_string_equal(
            sk_text_get(&page),
            "<p>Both parts had been done by an earlier run, so there is nothing to show.</p>\n");
        sk_demo_free(&r);
    }
    sk_text_free(&page);
}

/* --- pictures --- */

static int near_colour(const sk_frame *f, int x0, int y0, int x1, int y1, uint32_t colour)
{
    int n = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const uint8_t *p = f->data + y * f->stride + 3 * x;
            n += abs(p[0] - (int)(colour >> 16 & 255)) < 60 && abs(p[1] - (int)(colour >> 8 & 255)) < 60 &&
                 abs(p[2] - (int)(colour & 255)) < 60;
        }
    return n;
}

static int drawn_on(const sk_frame *f, int x0, int y0, int x1, int y1)
{
    int n = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            n += abs(f->data[y * f->stride + 3 * x] - 128) > 40 ||
                 abs(f->data[y * f->stride + 3 * x + 1] - 128) > 40;
    return n;
}

/* Each animal has the colour of its own number, around the box it was followed by. */
static void colours_of_identities(void **state)
{
    (void)state;
    sk_text page = {0};
    const sk_demo_settings s = settings("colours");
    sk_demo_report *r = sk_calloc(1, sizeof *r);
    sk_source *source = NULL;
    const sk_frame *f = NULL;
    r->frames = 1;
    draw_scene("colours/scene", 1);
    /* 2 is green, 5 is orange; where nothing was found by poses */
    sk_demo_sets sets = {
        .tracks = parsed("frame,track,name,x1,y1,x2,y2\n0,2,fish,6,20,40,60\n0,5,fly,54,20,90,60\n")};
    assert_ok(sk_demo_figure_frames(&s, r, &sets, &page, &err), &err);
    assert_ok(sk_source_open("colours/sample.jpg", NULL, &source, &err), &err);
    assert_ok(sk_source_next(source, &f, &err), &err);
    assert_non_null(f);
    const uint32_t green = sk_draw_identity(2) & 0xffffff, orange = sk_draw_identity(5) & 0xffffff;
    assert_true(near_colour(f, 0, 16, 48, 64, green) > 40 && near_colour(f, 48, 16, 96, 64, orange) > 40);
    assert_true(near_colour(f, 0, 16, 48, 64, orange) < 10 && near_colour(f, 48, 16, 96, 64, green) < 10);
    /* along all four sides: the lower right corner is where it should be; inside there is nothing */
    assert_true(drawn_on(f, 10, 56, 36, 63) > 20 && drawn_on(f, 36, 30, 44, 52) > 20);
    assert_true(drawn_on(f, 60, 56, 86, 63) > 20 && drawn_on(f, 86, 30, 94, 52) > 20);
    assert_true(drawn_on(f, 12, 30, 34, 52) == 0 && drawn_on(f, 60, 30, 84, 52) == 0);
    sk_source_release(source, f);
    sk_source_close(&source);
    sk_annotations_free(&sets.tracks);
    sk_text_free(&page);
    sk_demo_free(&r);
}

/* --- memory --- */

static sk_status measure(void *context, sk_error *why)
{
    sk_demo_tracks t = {0};
    const sk_status status = sk_demo_measure_tracks(context, &t, why);
    sk_eval_free(&t.scores);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    sk_demo_sets sets = {.truth = parsed("frame,track,name,x1,y1,x2,y2\n0,0,fish,10,20,30,28\n"),
                         .tracks = parsed("frame,track,name,x1,y1,x2,y2\n0,0,fish,10,20,30,28\n")};
    assert_true(test_every_allocation(measure, &sets) > 4);
    /* drawing: the first of what it takes */
    const sk_demo_settings s = settings("memory");
    sk_demo_report *r = sk_calloc(1, sizeof *r);
    r->frames = 1;
    draw_scene("memory/scene", 1);
    int failed = 0;
    for (uint64_t n = 1; n <= 10; n++) {
        sk_text page = {0};
        const int64_t before = sk_memory_live_bytes();
        sk_memory_fail_nth(n);
        const sk_status status = sk_demo_figure_frames(&s, r, &sets, &page, &err);
        sk_memory_fail_nth(0);
        assert_true(status == SK_OK || status == SK_ERR_MEMORY); /* some can be done without */
        failed += status != SK_OK;
        sk_text_free(&page);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    assert_true(failed >= 6);
    sk_demo_free(&r);
    sk_annotations_free(&sets.truth);
    sk_annotations_free(&sets.tracks);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(upright_boxes_are_measured),
        cmocka_unit_test(who_meets_whom),
        cmocka_unit_test(times),
        cmocka_unit_test(colours_of_identities),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
