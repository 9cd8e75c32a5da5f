/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "eval/agreement.h"
#include "eval/eval.h"
#include "tasks/overlap.h"
#include "formats/config.h"
#include "support/fault.h"
#include "support/test.h"

#include "evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* --- overlap --- */

static void boxes_overlap_as_counted_by_hand(void **state)
{
    (void)state;
    double a[4] = {0, 0, 10, 10}, b[4] = {5, 0, 10, 10}, far[4] = {30, 0, 5, 5}, flat[4] = {0, 0, 0, 10};
    NEAR(sk_overlap_boxes(a, b, false), 50.0 / 150);
    NEAR(sk_overlap_boxes(a, b, true), 0.5); /* of the first one's own area */
    NEAR(sk_overlap_boxes(a, a, false), 1);
    NEAR(sk_overlap_boxes(a, far, false), 0);
    NEAR(sk_overlap_boxes(flat, flat, false), 0);
}

static void turned_boxes_overlap_exactly(void **state)
{
    (void)state;
    double square[5] = {0, 0, 2, 2, 0}, turned[5] = {0, 0, 2, 2, acos(-1) / 4};
    double shared = 8 * (sqrt(2) - 1); /* a regular octagon of inner radius 1 */
    NEAR(sk_overlap_oriented(square, turned, false), shared / (8 - shared));
    NEAR(sk_overlap_oriented(square, turned, true), shared / 4);
    double wide[5] = {3, 4, 8, 2, 0.3}, same[5] = {3, 4, 2, 8, 0.3 + acos(-1) / 2};
    NEAR(sk_overlap_oriented(wide, same, false), 1);
    double inside[5] = {3, 4, 4, 1, 0.3}, beside[5] = {3, 40, 8, 2, 0.3}, nothing[5] = {3, 4, 0, 2, 0.3};
    NEAR(sk_overlap_oriented(wide, inside, false), 0.25);
    NEAR(sk_overlap_oriented(wide, beside, false), 0);
    NEAR(sk_overlap_oriented(wide, nothing, false), 0);
    double cross[5] = {3, 4, 8, 2, 0.3 + acos(-1) / 2};
    NEAR(sk_overlap_oriented(wide, cross, false), 4.0 / 28);
    double far[5] = {1e6 + 3, 1e6 + 4, 8, 2, 0.3}, also[5] = {1e6 + 3, 1e6 + 4, 8, 2, 0.3 + acos(-1) / 2};
    assert_true(fabs(sk_overlap_oriented(far, also, false) - 4.0 / 28) < 1e-6);
}

/* --- small cases, counted by hand --- */

#define BOXES "frame,class,name,score,x1,y1,x2,y2,visible\n"

static void precision_of_three_detections(void **state)
{
    (void)state;
    sk_eval_report r;
    evaluate(BOXES "0,0,fly,0.9,0,0,10,10,\n"
                   "0,0,fly,0.8,50,50,60,60,\n" /* nothing is there */
                   "1,0,fly,0.7,0,0,10,10,\n",
             BOXES "0,0,fly,,0,0,10,10,1\n"
                   "1,0,fly,,0,0,10,10,1\n",
             NULL, &r);
    const sk_eval_score *s = &r.all.box;
    assert_int_equal(s->wanted, 2);
    assert_int_equal(s->right, 2);
    assert_int_equal(s->wrong, 1);
    assert_int_equal(s->missed, 0);
    NEAR(s->precision, 2.0 / 3);
    NEAR(s->recall, 1);
    NEAR(s->ap50, (51 + 50 * 2.0 / 3) / 101); /* recall 0 to 0.5 at precision 1, the rest at 2/3 */
    NEAR(s->ap, s->ap50);
    NEAR(s->best_f1, 0.8);
    NEAR(s->best_confidence, 0.7);
    assert_int_equal(r.compared, SK_HAS_BOX);
    sk_eval_free(&r);
}

static void what_is_hardly_seen_is_neither_wanted_nor_wrong(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *truth = BOXES "0,0,fly,,0,0,10,10,1\n"
                              "0,0,fly,,100,100,120,120,0.29\n";
    evaluate(BOXES "0,0,fly,0.9,0,0,10,10,\n"
                   "0,0,fly,0.8,100,100,120,120,\n",
             truth, NULL, &r);
    assert_int_equal(r.all.box.wanted, 1);
    assert_int_equal(r.all.box.ignored, 1);
    assert_int_equal(r.all.box.wrong, 0);
    NEAR(r.all.box.ap, 1);
    sk_eval_free(&r);
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.min_visible = 0.2;
    evaluate(BOXES "0,0,fly,0.9,0,0,10,10,\n", truth, &s, &r);
    NEAR(r.all.box.recall, 0.5);
    sk_eval_free(&r);
}

static void frames_without_a_row_count_when_the_truth_says_so(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *result = BOXES "0,0,fly,0.9,0,0,10,10,\n"
                               "5,0,fly,0.8,0,0,10,10,\n";
    evaluate(result, BOXES "0,0,fly,,0,0,10,10,1\n", NULL, &r);
    assert_int_equal(r.all.box.wrong, 0);
    assert_non_null(strstr(sk_text_get(&r.notes), "1 detections in 1 frames"));
    sk_eval_free(&r);
    evaluate(result, "# truth; frames 10;\n" BOXES "0,0,fly,,0,0,10,10,1\n", NULL, &r);
    assert_int_equal(r.all.box.wrong, 1);
    assert_int_equal(r.frames, 10);
    sk_eval_free(&r);
}

static void classes_are_paired_by_name(void **state)
{
    (void)state;
    sk_eval_report r;
    const char *result = BOXES "0,0,fly,0.9,0,0,10,10,\n"
                               "0,1,mouse,0.8,50,50,60,60,\n";
    const char *truth = BOXES "0,4,mouse,,50,50,60,60,1\n"
                              "0,7,fly,,0,0,10,10,1\n";
    evaluate(result, truth, NULL, &r);
    assert_int_equal(r.n_classes, 2);
    NEAR(r.all.box.ap, 1);
    sk_eval_free(&r);
    const char *swapped = BOXES "0,4,fly,,50,50,60,60,1\n"
                                "0,7,mouse,,0,0,10,10,1\n";
    evaluate(result, swapped, NULL, &r);
    NEAR(r.all.box.ap, 0);
    sk_eval_free(&r);
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.any_class = true;
    evaluate(result, swapped, &s, &r);
    assert_int_equal(r.n_classes, 1);
    NEAR(r.all.box.ap, 1);
    sk_eval_free(&r);
}

static void pictures_are_paired_by_name(void **state)
{
    (void)state;
    sk_eval_report r;
    evaluate("source,frame,score,x1,y1,x2,y2\n"
             "out/b.png,1,0.9,0,0,10,10\nout/a.png,0,0.8,5,5,15,15\n",
             "{\"images\":[{\"id\":9,\"file_name\":\"a.png\"},{\"id\":4,\"file_name\":\"b.png\"}],"
             "\"categories\":[{\"id\":1,\"name\":\"fly\"}],\"annotations\":["
             "{\"id\":1,\"image_id\":9,\"category_id\":1,\"bbox\":[5,5,10,10]},"
             "{\"id\":2,\"image_id\":4,\"category_id\":1,\"bbox\":[0,0,10,10]}]}",
             NULL, &r);
    NEAR(r.all.box.ap, 1);
    sk_eval_free(&r);
}

#define POSE "frame,score,cx,cy,w,h,angle,head_x,head_y,tail_x,tail_y,tail_visible\n"

static void distances_are_measured_in_pixels_and_body_lengths(void **state)
{
    (void)state;
    sk_eval_report r;
    evaluate(POSE "0,0.9,50,50,100,20,0,3,54,100,50,\n" /* head 5 px off, tail right */
                  "1,0.9,50,50,100,20,0,0,50,100,80,\n" /* tail 30 px off */
                  "2,0.9,50,50,100,20,0,0,50,,,\n",     /* tail not found */
             POSE "0,,50,50,100,20,0,0,50,100,50,2\n"
                  "1,,50,50,100,20,0,0,50,100,50,1\n"
                  "2,,50,50,100,20,0,0,50,100,50,2\n"
                  "3,,50,50,100,20,0,0,50,100,50,0\n", /* nothing was found there; its tail is not labelled */
             NULL, &r);
    const sk_eval_errors *e = &r.all.points;
    assert_int_equal(e->wanted, 7);
    assert_int_equal(e->measured, 5);
    NEAR(e->mean, 35.0 / 5);
    NEAR(e->median, 0);
    NEAR(e->p90, 20); /* of 0 0 0 5 30, between the last two */
    NEAR(e->mean_percent, 7);
    NEAR(e->pck[0], 4.0 / 7); /* within 5 % */
    NEAR(e->pck[2], 4.0 / 7);
    NEAR(r.keypoints[0].points.mean, 5.0 / 3);
    assert_int_equal(r.keypoints[1].points.wanted, 3);
    assert_string_equal(r.keypoints[1].name, "tail");
    assert_non_null(strstr(r.length, "oriented box"));
    sk_eval_free(&r);
}

static void the_body_may_be_measured_between_keypoints(void **state)
{
    (void)state;
    sk_eval_report r;
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.body_from = "head", s.body_to = "tail";
    s.shift = 0.5;
    evaluate("frame,score,head_x,head_y,tail_x,tail_y\n0,1,-0.5,-0.5,49.5,5.5\n",
             "frame,head_x,head_y,tail_x,tail_y\n0,0,0,50,0\n", &s, &r);
    NEAR(r.all.points.p90_percent, 12 * 0.9);
    assert_non_null(strstr(r.matched, "nearest pose"));
    /* OKS by hand: the head is right, the tail 6 px off; the area is that of the keypoints' bounds, which is none */
    assert_int_equal(r.all.pose.right, 1);
    NEAR(r.all.pose.ap50, 1);
    sk_eval_free(&r);
}

static void similarity_of_keypoints_by_hand(void **state)
{
    (void)state;
    sk_eval_report r;
    /* exp(-d^2 / (2 * (2 sigma)^2 * area)) with d = 10, sigma 0.05, area 1000: exp(-5) = 0.0067; with the other right
     * the mean is 0.503: enough at 0.50, not at 0.55. */
    evaluate("frame,score,a_x,a_y,b_x,b_y\n0,1,0,0,60,0\n", "frame,area,a_x,a_y,b_x,b_y\n0,1000,0,0,50,0\n",
             NULL, &r);
    NEAR(r.all.pose.ap50, 1);
    NEAR(r.all.pose.ap, 0.1);
    sk_eval_free(&r);
}

static void nothing_in_common_is_said(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set r, t;
    sk_eval_settings s;
    sk_eval_report report;
    sk_eval_defaults(&s);
    static const struct {
        const char *result, *truth, *why;
    } cases[] = {
        {"frame,x1,y1,x2,y2\n5,0,0,1,1\n", "frame,x1,y1,x2,y2\n6,0,0,1,1\n", "share no frame"},
        {"frame,x1,y1,x2,y2\n5,0,0,1,1\n", "frame,a_x,a_y\n5,0,0\n", "nothing in common"},
        {"frame,x1,y1,x2,y2\n5,0,0,1,1\n", "frame,x1,y1,x2,y2\n", "no animal"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_annotations_parse("r", cases[i].result, strlen(cases[i].result), &r, &err), &err);
        assert_ok(sk_annotations_parse("t", cases[i].truth, strlen(cases[i].truth), &t, &err), &err);
        assert_int_not_equal(sk_eval_run(&r, &t, &s, &report, &err), SK_OK);
        assert_non_null(strstr(err.message, cases[i].why));
        sk_annotations_free(&r);
        sk_annotations_free(&t);
    }
}

/* --- COCO's evaluator --- */

static const double sigmas[] = {0.03, 0.05, 0.08, 0.05, 0.1};

static void compare(const sk_config_value *want, const sk_eval_score *s)
{
    static const char *const names[] = {"ap", "ap50", "ap75", "ar", "right", "wrong", "wanted"};
    double got[] = {s->ap, s->ap50, s->ap75, s->ar, (double)s->right, (double)s->wrong, (double)s->wanted};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const sk_config_value *v = sk_config_get(want, names[i]);
        double number = -1;
        if (v && !sk_config_is_null(v))
            assert_true(sk_config_to_real(v, &number));
        if (v && fabs(got[i] - number) > 1e-9)
            fail_msg("%s is %.12g, COCO's evaluator says %.12g", names[i], got[i], number);
    }
}

static void load_fixture(const char *name, sk_annotation_set *set)
{
    sk_error err = {0};
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/coco_eval/%s", name);
    assert_ok(sk_annotations_read(test_source(path), set, &err), &err);
}

static void compare_all(const sk_eval_report *r)
{
    sk_error err = {0};
    char *text;
    size_t length;
    sk_config *config;
    assert_ok(
        sk_file_read(test_source("tests/fixtures/coco_eval/expected.json"), 1 << 20, &text, &length, &err),
        &err);
    assert_ok(sk_config_open_json(text, length, "expected.json", &config, &err), &err);
    const sk_config_value *root = sk_config_root(config);
    static const char *const kinds[] = {"boxes", "oriented_boxes", "oks"};
    for (int k = 0; k < 3; k++) {
        const sk_config_value *kind = sk_config_get(root, kinds[k]);
        assert_int_equal(sk_config_count(kind), r->n_classes + 1);
        for (size_t c = 0; c <= r->n_classes; c++) {
            const sk_eval_row *row = c == r->n_classes ? &r->all : &r->classes[c];
            const sk_config_value *want = sk_config_get(kind, row->name);
            assert_non_null(want);
            compare(want, k == 0 ? &row->box : k == 1 ? &row->obb : &row->pose);
        }
    }
    sk_config_close(&config);
    sk_free(text);
}

static void equals_cocos_evaluator(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set result, truth;
    load_fixture("result.json", &result);
    load_fixture("truth.json", &truth);
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.sigmas = sigmas, s.n_sigmas = 5;
    sk_eval_report r;
    assert_ok(sk_eval_run(&result, &truth, &s, &r, &err), &err);
    compare_all(&r);
    sk_eval_free(&r);
    s.n_sigmas = 3;
    assert_int_equal(sk_eval_run(&result, &truth, &s, &r, &err), SK_ERR_ARG);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
}

/* The same numbers when the truth comes as a table. */
static void to_csv(const sk_annotation_set *set, sk_text *out)
{
    sk_text_append(out, "# truth\nframe,class,name,score,x1,y1,x2,y2,cx,cy,w,h,angle,area,crowd");
    for (int32_t k = 0; k < set->n_keypoints; k++)
        sk_text_appendf(out, ",k%d_x,k%d_y,k%d_visible", k, k, k);
    for (size_t i = 0; i < set->n_items; i++) {
        const sk_annotation *a = &set->items[i];
        sk_text_appendf(out, "\n%lld,%lld,\"%s\",%.17g", (long long)set->images[a->image].id,
                        (long long)set->classes[a->class_id].number, set->classes[a->class_id].name,
                        a->score);
        sk_text_appendf(out, ",%.17g,%.17g,%.17g,%.17g", a->box[0], a->box[1], a->box[0] + a->box[2],
                        a->box[1] + a->box[3]);
        for (int k = 0; k < 5; k++)
            sk_text_appendf(out, ",%.17g", a->obb[k]);
        if (isnan(a->area))
            sk_text_append(out, ",");
        else
            sk_text_appendf(out, ",%.17g", a->area);
        sk_text_appendf(out, ",%d", a->crowd);
        for (int32_t k = 0; k < set->n_keypoints; k++) {
            const sk_annotation_point *p = &set->points[a->first + (size_t)k];
            if (isnan(p->x))
                sk_text_append(out, ",,,0");
            else
                sk_text_appendf(out, ",%.17g,%.17g,%d", p->x, p->y, p->visible);
        }
    }
}

static void equals_cocos_evaluator_through_tables(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set result, truth;
    load_fixture("result.json", &result);
    load_fixture("truth.json", &truth);
    for (size_t i = 0; i < result.n_classes; i++) /* the bare list has no names */
        for (size_t k = 0; k < truth.n_classes; k++)
            if (truth.classes[k].number == result.classes[i].number) {
                sk_free(result.classes[i].name);
                result.classes[i].name = sk_strdup(truth.classes[k].name);
            }
    sk_text r_text = {0}, t_text = {0};
    to_csv(&result, &r_text);
    to_csv(&truth, &t_text);
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.sigmas = sigmas, s.n_sigmas = 5;
    sk_annotation_set r_csv, t_csv;
    sk_eval_report r;
    assert_ok(sk_annotations_parse("r.csv", r_text.data, r_text.length, &r_csv, &err), &err);
    assert_ok(sk_annotations_parse("t.csv", t_text.data, t_text.length, &t_csv, &err), &err);
    assert_ok(sk_eval_run(&r_csv, &t_csv, &s, &r, &err), &err);
    compare_all(&r);
    sk_eval_free(&r);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
    sk_annotations_free(&r_csv);
    sk_annotations_free(&t_csv);
    sk_text_free(&r_text);
    sk_text_free(&t_text);
}

static void two_results_agree_or_not(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set a, b;
    const char *one = "frame,class,score,cx,cy,w,h,angle\n0,0,0.9,50,50,40,20,0.1\n0,0,0.5,200,50,40,10,3."
                      "1\n1,0,0.5,9,9,4,4,0\n";
    const char *two = "frame,class,score,cx,cy,w,h,angle\n0,0,0.8,53,54,40,20,0.1\n0,0,0.5,200,50,40,10,-0."
                      "0415926535897932\n";
    assert_ok(sk_annotations_parse("a", one, strlen(one), &a, &err), &err);
    assert_ok(sk_annotations_parse("b", two, strlen(two), &b, &err), &err);
    sk_agreement g;
    assert_ok(sk_agreement_measure(&a, &b, &g, &err), &err);
    assert_true(g.first == 3 && g.second == 2 && g.paired == 2);
    NEAR(g.largest_px, 5); /* the second box is the same one, turned by pi */
    NEAR(g.mean_px, 2.5);
    NEAR(g.largest_score, 0.1);
    assert_ok(sk_agreement_measure(&a, &a, &g, &err), &err);
    assert_true(g.paired == 3 && g.largest_px == 0);
    sk_annotations_free(&b);
    const char *pose = "frame,head_x,head_y,tail_x,tail_y\n0,0,0,100,0\n";
    assert_ok(sk_annotations_parse("b", pose, strlen(pose), &b, &err), &err);
    assert_ok(sk_agreement_measure(&b, &b, &g, &err), &err);
    assert_true(g.paired == 1 && g.largest_px == 0);
    assert_int_equal(sk_agreement_measure(&a, &b, &g, &err), SK_ERR_MISMATCH);
    sk_annotations_free(&a);
    sk_annotations_free(&b);
}

/* A point that one of two results lacks is no distance, whichever of them it is. */
static void agreement_leaves_missing_points_out(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set a, b;
    const char *one = "frame,head_x,head_y,mid_x,mid_y,tail_x,tail_y\n0,0,0,,,100,0\n";
    const char *two = "frame,head_x,head_y,mid_x,mid_y,tail_x,tail_y\n0,3,4,50,0,,\n";
    assert_ok(sk_annotations_parse("a", one, strlen(one), &a, &err), &err);
    assert_ok(sk_annotations_parse("b", two, strlen(two), &b, &err), &err);
    sk_agreement g;
    for (int turned = 0; turned < 2; turned++) {
        assert_ok(sk_agreement_measure(turned ? &b : &a, turned ? &a : &b, &g, &err), &err);
        assert_int_equal(g.paired, 1);
        NEAR(g.largest_px, 5);
        NEAR(g.mean_px, 5);
    }
    sk_annotations_free(&a);
    sk_annotations_free(&b);
}

typedef struct pair {
    sk_annotation_set result, truth;
} pair;

static sk_status measure(void *context, sk_error *err)
{
    pair *p = context;
    sk_eval_settings s;
    sk_eval_defaults(&s);
    sk_eval_report report;
    SK_TRY(sk_eval_run(&p->result, &p->truth, &s, &report, err));
    sk_eval_free(&report);
    return SK_OK;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    pair p;
    load_fixture("result.json", &p.result);
    load_fixture("truth.json", &p.truth);
    assert_true(test_every_allocation(measure, &p) > 20);
    sk_annotations_free(&p.result);
    sk_annotations_free(&p.truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_overlap_as_counted_by_hand),
        cmocka_unit_test(turned_boxes_overlap_exactly),
        cmocka_unit_test(precision_of_three_detections),
        cmocka_unit_test(what_is_hardly_seen_is_neither_wanted_nor_wrong),
        cmocka_unit_test(frames_without_a_row_count_when_the_truth_says_so),
        cmocka_unit_test(classes_are_paired_by_name),
        cmocka_unit_test(pictures_are_paired_by_name),
        cmocka_unit_test(distances_are_measured_in_pixels_and_body_lengths),
        cmocka_unit_test(the_body_may_be_measured_between_keypoints),
        cmocka_unit_test(similarity_of_keypoints_by_hand),
        cmocka_unit_test(nothing_in_common_is_said),
        cmocka_unit_test(two_results_agree_or_not),
        cmocka_unit_test(agreement_leaves_missing_points_out),
        cmocka_unit_test(equals_cocos_evaluator),
        cmocka_unit_test(equals_cocos_evaluator_through_tables),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
