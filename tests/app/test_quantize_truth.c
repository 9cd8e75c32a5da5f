/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bits against the truth, where a model says little: no names of its classes, one point of a pose, nothing found in a frame. */
#include "support/test.h"

#include "app/quantize_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

/* The truth of one model; what `find` puts into each frame, of f32 and of eight bits, is measured against it. */
static sk_quantize_report measured(const char *truth, sk_task_description gives, const int64_t *frames, int n,
                                   void (*find)(int which, int64_t frame, sk_instances *found))
{
    sk_quantize_settings s = {.truth = "truth.csv"};
    sk_quantize_job job = {.s = &s, .gives = gives};
    sk_quantize_truth *t = NULL;
    sk_quantize_report r = {0};
    sk_instances found = {0};
    assert_ok(sk_file_replace("truth.csv", truth, strlen(truth), &err), &err);
    assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
    assert_ok(sk_instances_alloc(4, gives.n_keypoints, &found, &err), &err);
    for (int i = 0; i < n; i++)
        for (int which = 0; which < 2; which++) {
            const sk_quantize_frame frame = {.index = frames[i], .held = true};
            found.count = 0;
            find(which, frames[i], &found);
            assert_ok(sk_quantize_truth_add(t, which, &frame, &found, &err), &err);
        }
    assert_ok(sk_quantize_truth_measure(t, &r, &err), &err);
    sk_instances_free(&found);
    sk_quantize_truth_close(&t);
    return r;
}

/* f32 finds a box in each frame, eight bits none in the last. */
static void boxes(int which, int64_t frame, sk_instances *found)
{
    if (which == 1 && frame == 9)
        return;
    *sk_instances_add(found) = (sk_found){.has = SK_HAS_BOX, .score = 0.9F, .box = {10, 10, 50, 30}};
}

static void nothing_in_a_frame(void **state)
{
    (void)state;
    static const int64_t frames[] = {4, 9};
    static const char *const unnamed[] = {NULL};
    const sk_task_description gives[] = {
        {.n_classes = 1}, {.n_classes = 1, .class_names = unnamed}, {.n_classes = 0}};
    for (int i = 0; i < 3; i++) { /* without names, with an empty one, without classes */
        const sk_quantize_report r =
            measured("frame,x1,y1,x2,y2\n4,10,10,50,30\n9,10,10,50,30\n", gives[i], frames, 2, boxes);
        assert_string_equal(r.truth_of, "boxes");
        assert_true(fabs(r.truth[0].recall - 1) < 1e-9 && fabs(r.truth[1].recall - 0.5) < 1e-9);
        assert_true(fabs(r.truth[1].precision - 1) < 1e-9);
    }
}

/* Of eight bits the first point is off by 6 pixels, whatever the second does. */
static void points(int which, int64_t frame, sk_instances *found)
{
    (void)frame;
    sk_found *one = sk_instances_add(found);
    *one = (sk_found){.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                      .score = 0.9F,
                      .box = {10, 10, 110, 70},
                      .first_keypoint = one->first_keypoint};
    for (int32_t k = 0; k < found->n_keypoints; k++)
        found->keypoints[one->first_keypoint + k] =
            (sk_keypoint){20 + 60 * (float)k, k ? 50 : 20 + 6 * (float)which, 1};
}

static void each_point_counts(void **state)
{
    (void)state;
    static const int64_t frames[] = {0};
    char nose[] = "nose", tail[] = "tail", *names[] = {nose, tail};
    static const char *const truths[] = {
        "frame,x1,y1,x2,y2,nose_x,nose_y,nose_score\n0,10,10,110,70,20,20,1\n",
        "frame,x1,y1,x2,y2,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n0,10,10,110,70,20,20,1,80,50,"
        "1\n"};
    for (int32_t n = 1; n <= 2; n++) {
        const sk_task_description gives = {.n_keypoints = n, .keypoint_names = names};
        const sk_quantize_report r = measured(truths[n - 1], gives, frames, 1, points);
        assert_string_equal(r.truth_of, "poses (OKS)");
        assert_true(r.truth[0].median_px == 0 && fabs(r.truth[0].ap - 1) < 1e-9);
        assert_true(fabs(r.truth[1].median_px - (n == 1 ? 6 : 3)) < 1e-6); /* of 6 and 0 */
    }
}

/* Who gave none is not asked about it. */
static void no_truth(void **state)
{
    (void)state;
    sk_quantize_settings s = {0};
    sk_quantize_job job = {.s = &s};
    assert_ok(sk_quantize_truth_open(&job, &job.truth, &err), &err);
    assert_null(job.truth);
    assert_ok(sk_quantize_truth_check(&job, &err), &err);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_a_frame),
        cmocka_unit_test(each_point_counts),
        cmocka_unit_test(no_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
