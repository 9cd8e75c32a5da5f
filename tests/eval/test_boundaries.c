/* SPDX-License-Identifier: Apache-2.0 */
/* Ties, shapes that only one side has, and points that are not there: by hand. */
#include "support/test.h"

#include "eval/agreement.h"
#include "eval/eval.h"

#include "evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BOXES      "frame,class,class_name,score,x1,y1,x2,y2,visible\n"
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* Detections of one score come together: no threshold lies between a right one and a wrong one that are as sure. */
static void equal_scores_are_one_threshold(void **state)
{
    (void)state;
    sk_eval_report r;
    evaluate(BOXES "0,0,fly,0.9,0,0,10,10,\n"
                   "0,0,fly,0.9,50,50,60,60,\n"
                   "0,0,fly,0.9,70,70,80,80,\n"
                   "1,0,fly,0.4,0,0,10,10,\n",
             BOXES "0,0,fly,,0,0,10,10,1\n"
                   "1,0,fly,,0,0,10,10,1\n",
             NULL, &r);
    NEAR(r.all.box.best_f1,
         4.0 / 6); /* all four; the first alone would have 2 / 3, too, but nobody can have it alone */
    NEAR(r.all.box.best_confidence, 0.4);
    assert_int_equal(r.all.box.right, 2);
    assert_int_equal(r.all.box.wrong, 2);
    sk_eval_free(&r);
    /* nothing was wanted: there is no F1 */
    evaluate(BOXES "0,0,fly,0.9,0,0,10,10,\n", BOXES "0,0,fly,,100,100,110,110,0\n", NULL, &r);
    NEAR(r.all.box.best_f1, -1);
    NEAR(r.all.box.best_confidence, -1);
    sk_eval_free(&r);
}

static void agreement_goes_by_what_both_have(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set a, b;
    sk_agreement g;
    const char *turned = "frame,class,score,cx,cy,w,h,angle,head_x,head_y,tail_x,tail_y\n0,0,0.9,50,50,40,20,"
                         "0.1,30,50,70,50\n";
    const char *pose = "frame,class,score,head_x,head_y,tail_x,tail_y\n0,0,0.7,33,54,70,50\n";
    assert_ok(sk_annotations_parse("a", turned, strlen(turned), &a, &err), &err);
    assert_ok(sk_annotations_parse("b", pose, strlen(pose), &b, &err), &err);
    for (int swapped = 0; swapped < 2; swapped++) {
        assert_ok(sk_agreement_measure(swapped ? &b : &a, swapped ? &a : &b, &g, &err), &err);
        assert_int_equal(g.paired, 1);
        NEAR(g.largest_px, 5);
        NEAR(g.mean_px, 2.5);
        assert_true(fabs(g.largest_score - 0.2) < 1e-6);
    }
    sk_annotations_free(&a);
    sk_annotations_free(&b);
}

#define POSE "frame,class,score,head_x,head_y,tail_x,tail_y\n"

/* A point of which one number is missing is no point; where nothing was measured the figures are -1. */
static void points_that_are_not_there(void **state)
{
    (void)state;
    sk_eval_report r;
    evaluate(POSE "0,0,0.9,3,4,100,0\n", POSE "0,0,,0,0,100,0\n", NULL, &r);
    assert_int_equal(r.all.points.measured, 2);
    NEAR(r.all.points.mean, 2.5);
    sk_eval_free(&r);
    evaluate(POSE "0,0,0.9,,,,\n", POSE "0,0,,0,0,100,0\n", NULL, &r);
    assert_int_equal(r.all.points.measured, 0);
    NEAR(r.all.points.median, -1);
    NEAR(r.all.points.mean, -1);
    NEAR(r.all.points.p90, -1);
    NEAR(r.all.points.median_percent, -1);
    NEAR(r.all.points.mean_percent, -1);
    NEAR(r.all.points.p90_percent, -1);
    sk_eval_free(&r);
}

/* The most similar one is taken, wherever it stands in the file; what has no box is none; what is larger than COCO's largest is not wrong. */
static void which_one_is_taken(void **state)
{
    (void)state;
    sk_eval_report r;
    evaluate(BOXES "0,0,fly,0.9,3,0,13,10,\n"
                   "0,0,fly,0.8,0,0,10,10,\n",
             BOXES "0,0,fly,,0,0,10,10,1\n"
                   "0,0,fly,,4,0,14,10,1\n",
             NULL, &r);
    assert_true(r.all.box.right == 2 && r.all.box.wrong == 0);
    sk_eval_free(&r);
    evaluate(BOXES "0,0,fly,0.9,0,0,10,10,\n"
                   "0,0,fly,0.8,0,0,200000,200000,\n",
             BOXES "0,0,fly,,0,0,10,10,1\n", NULL, &r);
    assert_true(r.all.box.right == 1 && r.all.box.wrong == 0);
    sk_eval_free(&r);
    /* one that need not be found is only taken where no other is similar enough */
    for (int other = 0; other < 2; other++) {
        evaluate(BOXES "0,0,fly,0.9,2,0,12,10,\n",
                 other ? BOXES "0,0,fly,,70,0,80,10,1\n0,0,fly,,0,0,10,10,1\n0,0,fly,,2,0,12,10,0.1\n"
                       : BOXES "0,0,fly,,0,0,10,10,1\n0,0,fly,,2,0,12,10,0.1\n",
                 NULL, &r);
        assert_true(r.all.box.right == 1 && r.all.box.wrong == 0 && r.all.box.missed == other);
        sk_eval_free(&r);
    }
    /* of two that need not be found, the more similar one */
    evaluate(BOXES "0,0,fly,0.9,2,0,12,10,\n0,0,fly,0.8,0,0,10,10,\n",
             BOXES "0,0,fly,,90,0,99,10,1\n0,0,fly,,0,0,10,10,0.1\n0,0,fly,,2,0,12,10,0.1\n", NULL, &r);
    assert_true(r.all.box.right == 0 && r.all.box.wrong == 0);
    sk_eval_free(&r);
    sk_eval_settings at;
    sk_eval_defaults(&at);
    at.confidence = 0.5; /* as sure as that is sure enough */
    evaluate(BOXES "0,0,fly,0.5,0,0,10,10,\n0,0,fly,0.4375,0,0,10,10,\n", BOXES "0,0,fly,,0,0,10,10,1\n", &at,
             &r);
    assert_int_equal(r.all.box.found, 1);
    sk_eval_free(&r);
    evaluate("frame,class,score,x1,y1,x2,y2,head_x,head_y\n0,0,0.9,0,0,10,10,1,1\n0,0,0.8,,,,,5,5\n",
             "frame,class,x1,y1,x2,y2,head_x,head_y\n0,0,0,0,10,10,1,1\n", NULL, &r);
    assert_int_equal(r.all.box.found, 1);
    assert_int_equal(r.all.pose.found, 2);
    sk_eval_free(&r);
}

/* Turned boxes that share only an end are found to be similar, whichever way they point. */
static void turned_boxes_reach_to_their_ends(void **state)
{
    (void)state;
    static const double places[][2] = {{300, 5000}, {5000, 300}, {-300, -5000}, {-5000, -300}};
    static const double ways[][2] = {{35, 0}, {-35, 0}, {0, 35}, {0, -35}};
    for (int place = 0; place < 4; place++)
        for (int way = 0; way < 4; way++)
            for (int turn = 0; turn < 4;
                 turn++) { /* squares on a corner: each of the four is the farthest once */
                char result[200], truth[200];
                sk_eval_report r;
                const double angle = (2 * turn + 1) * acos(-1) / 4, x = places[place][0],
                             y = places[place][1];
                snprintf(truth, sizeof truth,
                         "frame,class,track,cx,cy,w,h,angle\n0,0,1,%.6f,%.6f,40,40,%.6f\n", x, y, angle);
                snprintf(result, sizeof result,
                         "frame,class,track,score,cx,cy,w,h,angle\n0,0,1,1,%.6f,%.6f,40,40,%.6f\n",
                         x + ways[way][0], y + ways[way][1], angle);
                evaluate(result, truth, NULL, &r);
                assert_true(r.tracks[SK_TRACKS_OBB].measured);
                assert_int_equal(r.tracks[SK_TRACKS_OBB].all.level[0].right, 1); /* they share a tip */
                assert_int_equal(r.tracks[SK_TRACKS_OBB].all.level[2].right, 0);
                sk_eval_free(&r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_scores_are_one_threshold),
        cmocka_unit_test(agreement_goes_by_what_both_have),
        cmocka_unit_test(points_that_are_not_there),
        cmocka_unit_test(which_one_is_taken),
        cmocka_unit_test(turned_boxes_reach_to_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
