/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo tells of a report whose numbers are known: its table, its page, its drawings, its JSON and what it keeps of itself. */
#include "demo_fixture.h"

#include "base/memory.h"
#include "media/draw.h"
#include "skitter/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- a report --- */

#define TRUTH                                                                                                \
    "frame,track,name,visible,x1,y1,x2,y2,cx,cy,w,h,angle\n"                                                 \
    "1,0,fish,1,10,10,30,20,20,15,20,10,0\n1,1,fly,1,60,10,80,20,70,15,20,10,0\n"                            \
    "2,0,fish,1,20,10,40,20,30,15,20,10,0\n2,1,fly,1,50,10,70,20,60,15,20,10,0\n"                            \
    "3,0,fish,1,30,10,50,20,40,15,20,10,0\n3,1,fly,1,40,10,60,20,50,15,20,10,0\n"                            \
    "4,0,fish,1,34,10,54,20,44,15,20,10,0\n4,1,fly,1,36,10,56,20,46,15,20,10,0\n"                            \
    "5,0,fish,1,60,10,80,20,70,15,20,10,0\n5,1,fly,1,10,10,30,20,20,15,20,10,0\n"                            \
    "6,0,fish,1,44,10,64,20,54,15,20,10,0\n6,1,fly,1,30,10,50,20,40,15,20,10,0\n"                            \
    "7,0,fish,1,44,10,64,20,54,15,20,10,0\n7,-1,fly,1,30,10,50,20,40,15,20,10,0\n"
#define TRACKS                                                                                               \
    "frame,track,name,score,x1,y1,x2,y2,cx,cy,w,h,angle\n"                                                   \
    "1,0,fish,0.9,10,10,30,20,20,15,20,10,0\n1,1,fly,0.8,60,10,80,20,70,15,20,10,0\n"                        \
    "2,0,fish,0.9,20,10,40,20,30,15,20,10,0\n2,1,fly,0.8,50,10,70,20,60,15,20,10,0\n"                        \
    "3,1,fish,0.9,30,10,50,20,40,15,20,10,0\n3,0,fly,0.8,40,10,60,20,50,15,20,10,0\n"                        \
    "5,2,bird,0.7,60,40,80,50,70,45,20,10,0\n"
#define POSES                                                                                                \
    "frame,name,score,x1,y1,x2,y2,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n"                       \
    "1,fish,0.9,70,30,90,60,72,34,0.9,88,56,0.9\n3,fly,0.9,4,40,20,60,5,44,0.9,18,58,0.9\n"

/* Numbers that differ from each other, so that none can stand where another should. */
static sk_eval_score a_score(double k)
{
    sk_eval_score s = {0};
    s.wanted = (int64_t)(100 * k) + 1;
    s.found = (int64_t)(100 * k) + 2;
    s.precision = 0.5 + k / 10;
    s.recall = 0.4 + k / 10;
    s.ap50 = 0.3 + k / 10;
    s.ap75 = 0.2 + k / 10;
    s.ap = 0.1 + k / 10;
    return s;
}

static sk_predict_report a_part(double k)
{
    sk_predict_report p = {.frames = 4,
                           .total_frames = 4,
                           .instances = (int64_t)(10 * k),
                           .seconds = 0.5 * k,
                           .decode = 0.004 * k,
                           .pre = 0.008 * k,
                           .network = 0.04 * k,
                           .post = 0.002 * k,
                           .write = 0.001 * k,
                           .overlay = 0.003 * k,
                           .runtime = "onnx_cpu",
                           .device = "a <box>",
                           .precision = "f32"};
    return p;
}

static sk_eval_row rows[3], points[3];

static sk_demo_report *a_report(int32_t entries)
{
    sk_demo_report *r = sk_calloc(1, sizeof *r);
    r->frames = 9;
    r->scene_seconds = 1.25;
    r->n_entries = entries;
    r->tracks.crossings = 3;
    r->tracks.run.total_frames = 9;
    r->tracks.figures = (sk_track_figures){.tracks = 5, .sightings = 50, .covered = 7, .seconds = 0.125};
    static const char *const names[] = {"onnx_cpu", "cpu", "cuda"};
    for (int32_t i = 0; i < entries; i++) {
        sk_demo_entry *e = &r->entries[i];
        snprintf(e->runtime, sizeof e->runtime, "%s", names[i]);
        for (int k = 0; k < SK_DEMO_PARTS; k++) {
            e->parts[k] = a_part(1 + i + 0.5 * k);
            e->agreement[k] = (sk_agreement){20 + i, 21 - 2 * k, 17 + k, 1.5 + k, 0.25, 0.125 * (k + 1)};
        }
    }
    if (entries > 2) {
        r->entries[2].failed = true;
        snprintf(r->entries[2].problem, sizeof r->entries[2].problem, "no <GPU> here");
    }
    sk_eval_report *b = &r->entries[0].scores[SK_DEMO_BOXES], *p = &r->entries[0].scores[SK_DEMO_POSES];
    b->compared = SK_HAS_OBB | SK_HAS_BOX;
    b->all.obb = a_score(1);
    b->n_classes = 3;
    b->classes = rows;
    for (int i = 0; i < 3; i++) {
        snprintf(rows[i].name, sizeof rows[i].name, "%s", i == 1 ? "nobody" : i ? "f & g" : "fish");
        rows[i].obb = i != 1 ? a_score(1.1 + i) : (sk_eval_score){0};
    }
    rows[2].obb.ap75 = -1;
    p->compared = SK_HAS_BOX | SK_HAS_KEYPOINTS;
    p->all.box = a_score(2);
    p->all.pose = a_score(3);
    p->n_classes = 1;
    p->classes = rows;
    p->all.points = (sk_eval_errors){.wanted = 40,
                                     .measured = 30,
                                     .median = 1.5,
                                     .mean = 2.5,
                                     .p90 = 4.5,
                                     .median_percent = 3.25,
                                     .pck = {0.75}};
    p->n_keypoints = 3;
    p->keypoints = points;
    for (int k = 0; k < 3; k++) {
        snprintf(points[k].name, sizeof points[k].name, "%s", k == 0 ? "nose" : k == 1 ? "<b>" : "tail");
        points[k].points = (sk_eval_errors){
            .measured = k == 1 ? 0 : 5 + k, .median_percent = 2 + k, .p90_percent = k == 1 ? 0 : 4 + 2 * k};
    }
    return r;
}

static void free_report(sk_demo_report *r)
{
    for (int32_t i = 0; i < r->n_entries; i++)
        for (int part = 0; part < SK_DEMO_PARTS; part++)
            r->entries[i].scores[part] = (sk_eval_report){0}; /* its rows are ours */
    sk_demo_free(&r);
    assert_null(r);
}

/* Numbers with six digits, so that every processor agrees. */
static void put_rounded(sk_text *all, const char *text)
{
    while (*text) {
        char *stop = NULL;
        const bool number = *text >= '0' && *text <= '9';
        const double value = number ? strtod(text, &stop) : 0;
        if (number)
            sk_text_appendf(all, "%.6g", value);
        else
            sk_text_append_bytes(all, text++, 1);
        text = number ? stop : text;
    }
}

static void the_table(void **state)
{
    (void)state;
    sk_text all = {0};
    sk_annotation_set none = {0};
    sk_demo_sets sets = {.tracks = parsed(TRACKS), .truth = parsed(TRUTH)};
    for (int i = 0; i < 5; i++) {
        sk_demo_settings s = settings("out");
        sk_demo_report *r = a_report(i == 0 ? 3 : 1);
        const sk_demo_sets nobody = {.truth = sets.truth, .tracks = none};
        s.scene.species = i == 0 ? SK_SPECIES_MIXED : SK_SPECIES_FLY;
        s.runtime_fell_back = i == 1;
        s.runtime_requested = "cuda";
        r->pictures = i == 2;
        r->entries[0].parts[0].nothing_to_do = i == 3;
        r->entries[0].parts[1].nothing_to_do = i == 3;
        assert_ok(sk_demo_measure_tracks(i == 4 ? &nobody : &sets, &r->tracks, &err), &err);
        assert_true((sk_demo_track_score(&r->tracks) == NULL) == (i == 4));
        if (i == 4) { /* nothing was measured, nobody found, no time told */
            r->tracks.run.total_frames = 0;
            r->entries[0].parts[0].seconds = 0;
            r->entries[0].parts[1].frames = 0;
            r->entries[0].scores[SK_DEMO_POSES].all.points = (sk_eval_errors){.pck = {-1}};
            r->entries[0].scores[SK_DEMO_BOXES].all.obb.precision = -1;
            r->entries[0].scores[SK_DEMO_POSES].compared = 0;
        }
        sk_demo_summarize(&s, r);
        sk_text_appendf(&all, "--- %d\n%s", i, sk_text_get(&r->summary));
        for (int k = 0; k < 3 && i == 0; k++) {
            sk_text text = {.limit = 1 << 22};
            sk_json json = sk_json_to_text(&text, k == 1 ? 2 : 0);
            r->stopped = k == 1;
            r->nothing_to_do = k == 2;
            r->continued = k == 2;
            sk_demo_to_json(&s, r, &json);
            assert_ok(sk_json_end(&json, &err), &err);
            put_rounded(&all, sk_text_get(&text));
            sk_text_free(&text);
        }
        free_report(r);
    }
    sk_annotations_free(&sets.tracks);
    sk_annotations_free(&sets.truth);
    test_text_is("tests/app/told/demo.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* Two that lie on each other in frames 3 and 4, apart in 5, on each other in 6 again: twice; who has no number is nobody. */
static void crossings(void **state)
{
    (void)state;
    sk_demo_tracks t = {0};
    sk_demo_sets sets = {.truth = parsed(TRUTH)};
    assert_ok(sk_demo_measure_tracks(&sets, &t, &err), &err);
    assert_int_equal(t.crossings, 2);
    for (size_t i = 0; i < sets.truth.n_items; i++)
        sets.truth.items[i].track +=
            sets.truth.items[i].track >= 0 ? 510 : 0; /* 510 and 511 still have a place in the table */
    assert_ok(sk_demo_measure_tracks(&sets, &t, &err), &err);
    assert_int_equal(t.crossings, 2);
    for (size_t i = 0; i < sets.truth.n_items; i++)
        sets.truth.items[i].track += sets.truth.items[i].track >= 0;
    assert_ok(sk_demo_measure_tracks(&sets, &t, &err), &err);
    assert_int_equal(t.crossings, 0);
    assert_null(sk_demo_track_score(&t));
    sk_annotations_free(&sets.truth);
}

/* Whoever lies on another for many frames has met it once; one who goes away for a single frame, and comes back, twice. Each pair by
 * itself, from the first frame on. */
static void meetings(void **state)
{
    (void)state;
    static const struct {
        const char *csv;
        int64_t wanted;
    } cases[] = {
        {"0,0,0\n0,1,5\n1,0,0\n1,1,5\n2,0,0\n2,1,5\n3,0,0\n3,1,5\n", 1},
        {"0,0,0\n0,1,5\n1,0,0\n1,1,90\n2,0,0\n2,1,5\n", 2},
        {"0,0,0\n0,1,5\n1,0,0\n2,0,0\n2,1,5\n", 2},
        {"0,0,0\n0,1,5\n0,2,10\n1,0,0\n1,1,5\n1,2,90\n2,0,0\n2,1,5\n2,2,10\n", 5},
        {"4,0,0\n4,1,5\n6,0,0\n6,1,5\n7,0,0\n7,1,5\n8,0,0\n8,1,5\n", 2},
        {"0,0,0\n1,1,0\n2,0,0\n3,1,0\n", 0},     /* never in one frame */
        {"0,0,0\n0,1,20\n1,0,0\n1,1,19.5\n", 1}, /* side by side is not upon each other */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_demo_tracks t = {.crossings = 77};
        sk_text csv = {0};
        sk_text_append(&csv, "frame,track,name,cx,cy,w,h,angle\n");
        for (const char *at = cases[i].csv; *at; at += strcspn(at, "\n") + 1) {
            int frame = 0, track = 0;
            double x = 0;
            assert_int_equal(sscanf(at, "%d,%d,%lf", &frame, &track, &x), 3);
            sk_text_appendf(&csv, "%d,%d,fish,%g,15,20,10,0\n", frame, track, x);
        }
        sk_demo_sets sets = {.truth = parsed(sk_text_get(&csv))};
        assert_ok(sk_demo_measure_tracks(&sets, &t, &err), &err);
        if (t.crossings != cases[i].wanted)
            fail_msg("%zu: %lld", i, (long long)t.crossings);
        sk_annotations_free(&sets.truth);
        sk_text_free(&csv);
    }
}

/* --- the page --- */

/* What of a page is the same tomorrow and elsewhere: without its style, the pictures' bytes, the version and the date. */
static void put_page(sk_text *all, const char *path)
{
    char *page = NULL, version[128];
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 24, &page, &length, &err), &err);
    const char *at = strstr(page, "<h1>");
    assert_non_null(at);
    const int n = snprintf(version, sizeof version, "skitter %s on ", sk_version_text());
    const char *told = strstr(at, version), *sub = strstr(told, "</p>");
    assert_true(told && sub);
    const char *date = sub;
    while (date > told && *date != ';')
        date--;
    sk_text_appendf(all, "--- %s\n%.*s%.*s\n", path, (int)(told - at), at, (int)(date - told - n), told + n);
    for (at = sub; *at;) {
        const char *picture = strstr(at, "base64,");
        if (!picture) {
            sk_text_append(all, at);
            break;
        }
        sk_text_appendf(all, "%.*s", (int)(picture + 7 - at), at);
        at = strchr(picture, '"');
    }
    sk_free(page);
}

static int count_of(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void the_page(void **state)
{
    (void)state;
    sk_text all = {0};
    sk_demo_settings s = settings("page");
    sk_demo_report *r = a_report(3);
    sk_demo_sets sets = {
        .tracks = parsed(TRACKS), .truth = parsed(TRUTH), .found = {parsed(TRACKS), parsed(POSES)}};
    r->entries[1].parts[1].frames = 0; /* one that came to no frame */
    draw_scene("page/scene", 9);
    assert_ok(sk_folder_make("page/tracks", &err), &err);
    assert_ok(sk_folder_make("page/poses", &err), &err);
    put("page/tracks/report.html", "x");
    put("page/tracks/results.csv", "x");
    put("page/poses/results.csv", "x");
    put("page/truth.csv", "x");
    assert_ok(sk_demo_measure_tracks(&sets, &r->tracks, &err), &err);
    assert_ok(sk_demo_write_page(&s, r, &sets, &err), &err);
    put_page(&all, "page/report.html");
    put_drawn(&all, "page/sample.jpg"); /* the first picture: frame 1, one in four of nine frames */
    /* Only one runtime, that was not asked for; pictures; nobody followed; nothing told. */
    free_report(r);
    r = a_report(1);
    r->pictures = true;
    r->frames = 2;
    s.scene.species = SK_SPECIES_MOUSE;
    s.runtime_fell_back = true;
    s.runtime_requested = "<cuda>";
    r->entries[0].parts[0] = r->entries[0].parts[1];
    r->entries[0].parts[0].frames = r->entries[0].parts[1].frames = 0;
    r->entries[0].scores[SK_DEMO_BOXES].all.obb.recall = -1;
    r->entries[0].scores[SK_DEMO_BOXES].all.obb.precision = -1;
    r->entries[0].scores[SK_DEMO_POSES].all.points.measured = 0;
    sets.tracks.n_items = 0;
    assert_ok(sk_demo_write_page(&s, r, &sets, &err), &err);
    put_page(&all, "page/report.html");
    put_drawn(&all, "page/sample.jpg"); /* frame 0: nobody is there */
    test_text_is("tests/app/told/demo_page.txt", sk_text_get(&all));
    assert_int_equal(count_of(sk_text_get(&all), "<figcaption>"), 4 + 4);
    /* Neither a report on tracks … */
    assert_int_equal(unlink("page/tracks/report.html"), 0);
    sk_text page = {0};
    sk_demo_page_identities(&s, r, &page);
    assert_non_null(strstr(sk_text_get(&page), "<p>Nothing was found that could be followed.</p>"));
    assert_null(strstr(sk_text_get(&page), "href="));
    sk_text_clear(&page);
    /* … nor an error of keypoints that could be drawn. */
    for (int k = 0; k < 3; k++)
        points[k].points.p90_percent = 0;
    sk_demo_figure_errors(r, &page);
    assert_string_equal(sk_text_get(&page), "");
    sk_text_free(&page);
    sets.tracks.n_items = 7; /* all of them */
    sk_annotations_free(&sets.tracks);
    sk_annotations_free(&sets.truth);
    sk_annotations_free(&sets.found[0]);
    sk_annotations_free(&sets.found[1]);
    free_report(r);
    sk_text_free(&all);
    r = a_report(1); /* a scene that is not there */
    s.out = "nowhere";
    sets = (sk_demo_sets){0};
    assert_int_not_equal(sk_demo_write_page(&s, r, &sets, &err), SK_OK);
    free_report(r);
}

/* A trail is of one animal and of the last thirty frames: one that ended earlier is not drawn. */
static void trails(void **state)
{
    (void)state;
    sk_text csv = {0}, page = {0}, drawn = {0};
    sk_demo_settings s = settings("trails");
    sk_demo_report *r = a_report(1);
    draw_scene("trails/scene", 80);
    r->frames = 80; /* one in twenty, from the tenth on */
    sk_text_append(&csv, "frame,track,name,x1,y1,x2,y2,cx,cy,w,h,angle\n");
    for (int f = 0; f <= 10; f++) /* the second stands upright, wherever it goes */
        sk_text_appendf(&csv,
                        "%d,0,fish,%d,40,%d,56,%d,48,16,16,0\n"
                        "%d,1,fly,%d,2,%d,30,%d,16,28,6,1.5708\n",
                        f, 4 + 6 * f, 20 + 6 * f, 12 + 6 * f, f, 80 - 6 * f, 90 - 6 * f, 85 - 6 * f);
    sk_demo_sets sets = {.tracks = parsed(sk_text_get(&csv))};
    assert_ok(sk_demo_figure_frames(&s, r, &sets, &page, &err), &err);
    put_drawn(&drawn, "trails/sample.jpg");
    assert_int_equal(count_of(sk_text_get(&page), "<figcaption>frame 10</figcaption>"), 1);
    assert_int_equal(count_of(sk_text_get(&page), "<figcaption>frame 30</figcaption>"), 1);
    assert_int_equal(count_of(sk_text_get(&page), "<figcaption>frame 50</figcaption>"), 1);
    assert_int_equal(count_of(sk_text_get(&page), "<figcaption>frame 70</figcaption>"), 1);
    assert_int_equal(count_of(sk_text_get(&page), "<figure>"), 4);
    test_text_is("tests/app/told/demo_trail.txt", sk_text_get(&drawn));
    sk_annotations_free(&sets.tracks);
    sk_text_free(&csv);
    sk_text_free(&page);
    sk_text_free(&drawn);
    free_report(r);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table), cmocka_unit_test(crossings), cmocka_unit_test(meetings),
        cmocka_unit_test(the_page),  cmocka_unit_test(trails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
