/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reports of made-up animals, number by number: what COCO's evaluator, TrackEval and Ultralytics say of their figures is tested
 * elsewhere; here nothing of them may change unseen, whatever the settings. Six digits are compared, so that every processor agrees. */
#include "support/test.h"

#include "base/hash.h"
#include "base/memory.h"
#include "eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;

/* --- made-up animals --- */

static uint32_t noise;

static double chance(void)
{
    noise = noise * 1664525u + 1013904223u;
    return (double)(noise >> 8) / (double)(1u << 24);
}

#define HEAD                                                                                                 \
    "source,frame,class,name,score,track,x1,y1,x2,y2,cx,cy,w,h,angle,nose_x,nose_y,nose_visible,mid_x,mid_"  \
    "y,mid_visible,"                                                                                         \
    "tail_x,tail_y,tail_visible,visible,length,crowd\n"

static void put_animal(sk_text *out, int frame, int class_id, double score, int track, double x, double y,
                       double size, double turn, double (*point)[3], double visible, int crowd)
{
    static const char *const names[] = {"fly", "bee", "ant"};
    sk_text_appendf(out, "v.mp4,%d,%d,%s,", frame, class_id, names[class_id]);
    if (score >= 0)
        sk_text_appendf(out, "%.3f", score);
    sk_text_appendf(out, ",%d,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.3f", track, x - size / 2,
                    y - size / 3, x + size / 2, y + size / 3, x, y, size, size / 2, turn);
    for (int k = 0; k < 3; k++)
        if (isnan(point[k][0]))
            sk_text_append(out, ",,,0");
        else
            sk_text_appendf(out, ",%.2f,%.2f,%d", point[k][0], point[k][1], (int)point[k][2]);
    sk_text_appendf(out, ",%.2f,%.2f,%d\n", visible, size, crowd);
}

/* Five animals that go their ways; some are not found, some are found twice, or as others, or where nothing is. */
static void make(sk_text *result, sk_text *truth)
{
    noise = 7;
    sk_text_append(result, HEAD);
    sk_text_append(truth, HEAD);
    for (int frame = 0; frame < 14; frame++) {
        for (int a = 0; a < 5; a++) {
            const double x = 60 + 70 * a + 6 * frame * (a % 2 ? 1 : -0.5), y = 80 + 30 * a + 4 * frame,
                         size = 40 + 6 * a, turn = 0.3 * a;
            double at[3][3], found[3][3];
            const bool seen = chance() < 0.85;
            for (int k = 0; k < 3; k++) {
                at[k][0] = x + (k - 1) * size / 2 * cos(turn), at[k][1] = y + (k - 1) * size / 2 * sin(turn);
                at[k][2] = chance() < 0.1 ? 0 : chance() < 0.2 ? 1 : 2;
                found[k][0] = chance() < 0.1 ? NAN : at[k][0] + 8 * (chance() - 0.5);
                found[k][1] = at[k][1] + 8 * (chance() - 0.5), found[k][2] = 2;
            }
            const double visible = chance() < 0.1 ? 0.2 : 1;
            const int crowd = chance() < 0.05;
            put_animal(truth, frame, a % 3, -1, a, x, y, size, turn, at, visible, crowd);
            const int track = frame > 8 && a < 2 ? 1 - a : a; /* two are swapped */
            const int as = chance() < 0.1 ? (a + 1) % 3 : a % 3;
            const double off = 10 * (chance() - 0.5), score = 0.2 + 0.79 * chance();
            const double wide = size * (0.85 + 0.3 * chance()), turned = turn + 0.2 * chance();
            if (seen)
                put_animal(result, frame, as, score, track, x + off, y + off / 2, wide, turned, found, 1, 0);
            if (chance() < 0.1)
                put_animal(result, frame, a % 3, 0.9 * score, 10 + a, x + 25, y, size, turn, found, 1, 0);
        }
    }
}

/* --- what is said of them --- */

/* Numbers with six digits. */
static void rounded(const char *text, sk_text *out)
{
    while (*text) {
        const char *end = text;
        if ((*text >= '0' && *text <= '9') || (*text == '-' && text[1] >= '0' && text[1] <= '9')) {
            char *stop;
            const double value = strtod(text, &stop);
            end = stop;
            sk_text_appendf(out, "%.6g", value == 0 ? 0 : value);
            text = end;
            continue;
        }
        sk_text_append_bytes(out, text++, 1);
    }
}

/* But for tracking at every similarity, which is long. */
static void put_without_levels(sk_text *out, const char *text)
{
    for (const char *at; (at = strstr(text, "\"by_similarity\": [")); text = at) {
        sk_text_append_bytes(out, text, (size_t)(at - text));
        int depth = 0;
        do {
            depth += *at == '[';
            depth -= *at == ']';
            at++;
        } while (depth > 0 || at[-1] != ']');
    }
    sk_text_append(out, text);
}

static void put_report(sk_text *all, const char *title, const char *result, const char *truth,
                       const sk_eval_settings *s, bool whole)
{
    sk_annotation_set r, t;
    sk_eval_report report;
    sk_text text = {.limit = 1 << 22}, round = {0};
    assert_ok(sk_annotations_parse("result", result, strlen(result), &r, &err), &err);
    assert_ok(sk_annotations_parse("truth", truth, strlen(truth), &t, &err), &err);
    sk_text_appendf(all, "--- %s\n", title);
    const sk_status status = sk_eval_run(&r, &t, s, &report, &err);
    if (status != SK_OK) {
        sk_text_appendf(all, "error %d: %s\n", status, err.message);
    } else {
        sk_json j = sk_json_to_text(&text, whole ? 1 : 0);
        sk_eval_to_json(&report, &j);
        assert_ok(sk_json_end(&j, &err), &err);
        rounded(sk_text_get(&text), &round);
        if (whole)
            put_without_levels(all, sk_text_get(&round));
        else
            sk_text_appendf(all, "%.600s\n", sk_text_get(&round));
        sk_text_appendf(all, "… %016llx\n",
                        (unsigned long long)sk_hash_xxh3(sk_text_get(&round), round.length, 0));
        if (report.notes.length)
            sk_text_append(all, sk_text_get(&report.notes));
        char name[64];
        sk_text svg = {0};
        for (int i = 0; sk_eval_plot(&report, i, name, &svg);
             i++) { /* pictures by their bytes: look at them where they change */
            sk_text_clear(&round);
            rounded(sk_text_get(&svg), &round);
            sk_text_appendf(all, "%s %016llx\n", name,
                            (unsigned long long)sk_hash_xxh3(sk_text_get(&round), round.length, 0));
            sk_text_clear(&svg);
        }
        sk_text_free(&svg);
        sk_text_clear(&text);
        sk_text_clear(&round);
        j = sk_json_to_text(&text, 0);
        sk_eval_curves_to_json(&report, &j);
        assert_ok(sk_json_end(&j, &err), &err);
        rounded(sk_text_get(&text), &round);
        sk_text_appendf(all, "curves %016llx\n",
                        (unsigned long long)sk_hash_xxh3(sk_text_get(&round), round.length, 0));
        sk_eval_free(&report);
    }
    sk_text_free(&text);
    sk_text_free(&round);
    sk_annotations_free(&r);
    sk_annotations_free(&t);
}

/* Some columns of a table. */
static void only(const char *table, const char *columns, sk_text *out)
{
    bool keep[64] = {0};
    for (const char *line = table; *line;) {
        int column = 0;
        bool first = true;
        const size_t n = strcspn(line, "\n");
        for (const char *at = line; at <= line + n; column++) {
            const size_t word = strcspn(at, ",\n");
            if (line == table) {
                char name[64];
                snprintf(name, sizeof name, " %.*s ", (int)word, at);
                keep[column] = strstr(columns, name) != NULL;
            }
            if (keep[column]) {
                sk_text_appendf(out, "%s%.*s", first ? "" : ",", (int)word, at);
                first = false;
            }
            at += word + 1;
        }
        sk_text_append(out, "\n");
        line += n + (line[n] == '\n');
    }
}

static void reports_stay_as_they_are(void **state)
{
    (void)state;
#ifndef __x86_64__ /* others fuse products and sums, and the sixth digit of a figure in a thousand may differ */
    skip();
#endif
    sk_text result = {0}, truth = {0}, all = {0}, fewer = {0}, fewer_truth = {0};
    make(&result, &truth);
    const double sigmas[3] = {0.02, 0.05, 0.2};
    sk_eval_settings s;
    sk_eval_defaults(&s);
    put_report(&all, "as usual", sk_text_get(&result), sk_text_get(&truth), &s, true);
    put_report(&all, "the truth against itself", sk_text_get(&truth), sk_text_get(&truth), &s, false);
#define WITH(title, ...)                                                                                     \
    do {                                                                                                     \
        sk_eval_defaults(&s);                                                                                \
        __VA_ARGS__;                                                                                         \
        put_report(&all, title, sk_text_get(&result), sk_text_get(&truth), &s, false);                       \
    } while (0)
    WITH("any class", s.any_class = true);
    WITH("confidence", s.confidence = 0.6);
    WITH("few detections", s.box_max_det = 1; s.pose_max_det = 1);
    WITH("a sigma for all", s.sigmas = sigmas; s.n_sigmas = 1);
    WITH("a sigma for each", s.sigmas = sigmas; s.n_sigmas = 3);
    WITH("too few sigmas", s.sigmas = sigmas; s.n_sigmas = 2);
    WITH("body", s.body_from = "nose"; s.body_to = "tail");
    WITH("no such body", s.body_from = "nose"; s.body_to = "wing");
    WITH("shift", s.shift = 2);
    WITH("distance", s.distance = 15);
    WITH("all that is seen", s.min_visible = 0);
    WITH("pck", s.n_pck = 1; s.pck[0] = 0.02);
    static const char *const parts[] = {
        " source frame class name score track x1 y1 x2 y2 ",
        " source frame class name score track cx cy w h angle ",
        " source frame class name score track nose_x nose_y nose_visible mid_x mid_y mid_visible tail_x "
        "tail_y "
        "tail_visible ",
        " source frame class name score nose_x nose_y tail_x tail_y x1 y1 x2 y2 "};
    sk_eval_defaults(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sk_text_clear(&fewer);
        sk_text_clear(&fewer_truth);
        only(sk_text_get(&result), parts[i], &fewer);
        only(sk_text_get(&truth), parts[i], &fewer_truth);
        put_report(&all, parts[i], sk_text_get(&fewer), sk_text_get(&fewer_truth), &s, false);
        put_report(&all, "of which the truth has all", sk_text_get(&fewer), sk_text_get(&truth), &s, false);
        put_report(&all, "of which the result has all", sk_text_get(&result), sk_text_get(&fewer_truth), &s,
                   false);
    }
    /* half of the frames; nothing found; frames of nobody */
    sk_text_clear(&fewer);
    const char *half = strstr(sk_text_get(&result), "\nv.mp4,7,");
    sk_text_append_bytes(&fewer, sk_text_get(&result), (size_t)(half + 1 - sk_text_get(&result)));
    put_report(&all, "half of the frames", sk_text_get(&fewer), sk_text_get(&truth), &s, false);
    put_report(&all, "half of the truth", sk_text_get(&truth), sk_text_get(&fewer), &s, false);
    s.covered_only = true;
    put_report(&all, "half of the frames, and only those", sk_text_get(&fewer), sk_text_get(&truth), &s,
               false);
    s.covered_only = false;
    put_report(&all, "nothing", HEAD, sk_text_get(&truth), &s, false);
    put_report(&all, "no truth", sk_text_get(&result), HEAD, &s, false);
    put_report(&all, "a track twice",
               HEAD
               "v.mp4,0,0,fly,1,3,0,0,9,9,,,,,,,,,,,,,,,,,\nv.mp4,0,0,fly,1,3,20,20,29,29,,,,,,,,,,,,,,,,,\n",
               HEAD "v.mp4,0,0,fly,1,3,0,0,9,9,,,,,,,,,,,,,,,,,\n", &s, false);
    put_report(&all, "a truth without tracks", sk_text_get(&result),
               HEAD "v.mp4,0,0,fly,1,,0,0,9,9,,,,,,,,,,,,,,,,,\n", &s, false);
    test_text_is("tests/eval/reports/all.txt", sk_text_get(&all));
    sk_text_free(&all);
    sk_text_free(&result);
    sk_text_free(&truth);
    sk_text_free(&fewer);
    sk_text_free(&fewer_truth);
}

/* Pictures that are of a class as a whole: six answers to one, none to another, a wrong one to a third. */
static void classes_of_pictures(void **state)
{
    (void)state;
    char names[7][8] = {"a", "b", "c", "d", "e", "f", "g"}, source[] = "s", *sources[] = {source};
    sk_annotation_class classes[7];
    sk_annotation_image images[4];
    for (int i = 0; i < 7; i++)
        classes[i] = (sk_annotation_class){i, names[i]};
    for (int i = 0; i < 4; i++)
        images[i] = (sk_annotation_image){.source = 0, .frame = i, .id = -1, .video = -1};
    sk_annotation truth[4], found[9];
    for (int i = 0; i < 4; i++)
        truth[i] = (sk_annotation){.image = i,
                                   .class_id = i,
                                   .score = 1,
                                   .visible = 1,
                                   .track = -1,
                                   .area = NAN,
                                   .length = NAN,
                                   .labelled = -1};
    static const struct {
        int image, class_id;
        double score;
    } answers[] = {{0, 1, 0.9}, {0, 2, 0.7}, {0, 3, 0.8}, {0, 4, 0.6}, {0, 0, 0.5},
                   {0, 6, 0.4}, {1, 1, 0.3}, {3, 0, 0.2}, {1, 2, 0.2}};
    for (int i = 0; i < 9; i++) {
        found[i] = truth[0];
        found[i].image = answers[i].image;
        found[i].class_id = answers[i].class_id;
        found[i].score = answers[i].score;
    }
    sk_annotation_set t = {.format = "label text",
                           .items = truth,
                           .n_items = 4,
                           .images = images,
                           .n_images = 4,
                           .classes = classes,
                           .n_classes = 7,
                           .sources = sources,
                           .n_sources = 1,
                           .every_frame = true};
    sk_annotation_set r = t;
    r.items = found;
    r.n_items = 9;
    sk_eval_settings s;
    sk_eval_report report;
    sk_eval_defaults(&s);
    assert_ok(sk_eval_run(&r, &t, &s, &report, &err), &err);
    assert_int_equal(report.classified, 4);
    assert_true(report.top1 == 0.25 &&
                report.top5 == 0.5); /* the second is right; the first is fifth among its answers */
    assert_int_equal(report.confusion.n_classes, 7);
    const int64_t *counts = report.confusion.counts;
    assert_true(counts[1 * 8 + 0] == 1 && counts[1 * 8 + 1] == 1 && counts[7 * 8 + 2] == 1 &&
                counts[0 * 8 + 3] == 1);
    int64_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum += counts[i];
    assert_int_equal(sum, 4);
    sk_text text = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&text, 0);
    sk_eval_to_json(&report, &j);
    assert_ok(sk_json_end(&j, &err), &err);
    assert_non_null(
        strstr(sk_text_get(&text), "\"classification\":{\"pictures\":4,\"top1\":0.25,\"top5\":0.5}"));
    assert_non_null(strstr(
        sk_text_get(&text),
        "\"confusion_matrix\":{\"of\":\"pictures\",\"names\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\","
        "\"background\"],\"found_by_true\":[[0,0,0,1,0,0,0,0],[1,1,0,0,0,0,0,0],"));
    sk_text_free(&text);
    sk_eval_free(&report);
    found[4].score = 0.1; /* sixth: not among them */
    assert_ok(sk_eval_run(&r, &t, &s, &report, &err), &err);
    assert_true(report.top1 == 0.25 && report.top5 == 0.25);
    sk_eval_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reports_stay_as_they_are),
                                       cmocka_unit_test(classes_of_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
