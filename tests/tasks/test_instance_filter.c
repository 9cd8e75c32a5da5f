/* SPDX-License-Identifier: Apache-2.0 */
/* Which poses of a frame are kept: sleap-nn's filters, by hand. */
#include "support/test.h"

#include "base/memory.h"
#include "tasks/instance_filter.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>
#include <string.h>

enum { NODES = 3 };

static sk_sleap_options defaults(void)
{
    sk_detector_settings s;
    sk_detector_defaults(&s);
    return s.sleap;
}

/* Four poses: two nearly in one place, one elsewhere, one elsewhere with a single node. */
static void fill(sk_instances *list)
{
    static const struct {
        float score, x, y, nodes[NODES];
    } poses[] = {{0.5f, 10, 10, {0.5f, 0.5f, 0.2f}},
                 {0.9f, 10.5f, 10.5f, {0.9f, 0.8f, 0.7f}},
                 {0.7f, 60, 10, {0.9f, 0.9f, 0.9f}},
                 {0.8f, 100, 100, {0.3f, NAN, NAN}}};
    list->count = 0;
    for (int i = 0; i < 4; i++) {
        sk_found *item = sk_instances_add(list);
        item->score = poses[i].score;
        item->has = SK_HAS_KEYPOINTS;
        for (int k = 0; k < NODES; k++)
            if (poses[i].nodes[k] > 0)
                list->keypoints[item->first_keypoint + k] =
                    (sk_keypoint){poses[i].x + 10.0f * (float)k,
                                  poses[i].y + 8.0f * (float)(k % 2) + 6.0f * (float)k, poses[i].nodes[k]};
    }
}

/* The scores that are left, in order, as digits. */
static void expect(const sk_sleap_options *o, const char *left)
{
    sk_error err;
    sk_instances list;
    assert_ok(sk_instances_alloc(8, NODES, &list, &err), &err);
    fill(&list);
    const uint64_t before = sk_memory_allocations();
    sk_instance_filter(o, &list);
    assert_int_equal(sk_memory_allocations(), before);
    char got[8] = "";
    for (int i = 0; i < list.count; i++) {
        got[i] = (char)('0' + (int)lrintf(list.items[i].score * 10));
        assert_int_equal(list.items[i].first_keypoint, i * NODES);
        const float x = list.keypoints[i * NODES].x; /* they came along */
        assert_true(got[i] == '5'   ? x == 10
                    : got[i] == '9' ? x == 10.5f
                    : got[i] == '7' ? x == 60
                                    : x == 100);
    }
    assert_string_equal(got, left);
    sk_instances_free(&list);
}

static void each_filter_by_itself(void **state)
{
    (void)state;
    sk_sleap_options o = defaults();
    assert_false(sk_instance_filter_on(&o));
    expect(&o, "5978");
    o.min_visible_nodes = 2;
    assert_true(sk_instance_filter_on(&o));
    expect(&o, "597");
    o = defaults();
    o.min_visible_node_fraction = 0.34f;
    expect(&o, "597");
    o = defaults();
    o.min_mean_node_score = 0.45f; /* 0.4, 0.8, 0.9, 0.3: of the nodes found */
    expect(&o, "97");
    o = defaults();
    o.min_instance_score = 0.75f;
    expect(&o, "98");
    o = defaults();
    o.overlap = SK_OVERLAP_IOU; /* of the first two 0.88 */
    expect(&o, "978");
    o.overlap_threshold = 0.95f;
    expect(&o, "5978");
    o.overlap = SK_OVERLAP_OKS;
    o.overlap_threshold = 0.8f;
    expect(&o, "978");
    o.overlap_threshold = 0.99f;
    expect(&o, "5978");
    /* One that goes for another reason hides nobody. */
    o = defaults();
    o.overlap = SK_OVERLAP_IOU;
    o.min_visible_nodes = 1;
    o.min_mean_node_score = 0.85f;
    expect(&o, "7");
}

static void likeness_of_poses(void **state)
{
    (void)state;
    const sk_keypoint a[2] = {{0, 0, 1}, {10, 10, 1}}, b[2] = {{5, 0, 1}, {15, 10, 1}},
                      c[2] = {{NAN, NAN, 0}, {10, 10, 1}};
    assert_true(fabsf(sk_pose_iou(a, b, 2) - 50.0f / 150) < 1e-6f);
    assert_true(sk_pose_iou(a, c, 2) == 0); /* a box without an area */
    /* 25 px² away, area 100, kappa 0.1: exp(-25 / 2) */
    assert_true(fabsf(sk_pose_oks(a, b, 2) - expf(-12.5f)) < 1e-9f);
    assert_true(sk_pose_oks(a, c, 2) == 1); /* the node both have */
    assert_true(sk_pose_oks(c, a, 2) == 0); /* no size to measure by */
}

static void centroids_keep_their_distance(void **state)
{
    (void)state;
    sk_error err;
    sk_instances list;
    assert_ok(sk_instances_alloc(8, 1, &list, &err), &err);
    const float x[4] = {0, 3, 6, 20}, score[4] = {0.5f, 0.9f, 0.6f, 0.1f};
    for (int i = 0; i < 4; i++) {
        sk_found *item = sk_instances_add(&list);
        item->score = score[i];
        list.keypoints[i] = (sk_keypoint){x[i], 0, score[i]};
    }
    sk_sleap_options o = defaults();
    o.min_centroid_distance = 4;
    sk_instance_filter(&o, &list);
    assert_int_equal(list.count, 2);
    assert_true(list.keypoints[0].x == 3 && list.keypoints[1].x == 20);
    sk_instances_free(&list);
}

/* What the options mean for the stages. */
static void options_reach_the_stages(void **state)
{
    (void)state;
    sk_error err;
    sk_detector_settings d;
    sk_detector_defaults(&d);
    const sk_task_settings plain = sk_task_settings_of(&d), own = sk_task_settings_defaults();
    assert_int_equal(plain.sleap.refinement, own.sleap.refinement);
    assert_int_equal(plain.sleap.patch, own.sleap.patch);
    assert_memory_equal(&plain.sleap.paf, &own.sleap.paf, sizeof own.sleap.paf);
    assert_true(plain.sleap.centroid_threshold < 0 && plain.sleap.min_instance_peaks == 0);
    d.sleap.refinement = SK_SLEAP_REFINE_NONE;
    d.sleap.n_points = 7;
    d.sleap.min_line_scores = 0.5f;
    d.sleap.integral_patch_size = 4;
    const sk_task_settings t = sk_task_settings_of(&d);
    assert_true(t.sleap.refinement == SK_REFINE_NONE && t.sleap.paf.n_points == 7 &&
                t.sleap.paf.min_line_score == 0.5f);
    sk_model m = {.task = SK_TASK_CENTROID, .n_keypoints = 1, .n_outputs = 1};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 1};
    sk_sleap_post *post = NULL;
    assert_int_equal(sk_sleap_post_open(&m, &t.sleap, &post, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "odd"));
}

/* A centroid model has a threshold of its own; larger patches are for the CPU and move peaks further. */
static void thresholds_and_patches(void **state)
{
    (void)state;
    sk_error err;
    float map[15 * 15] = {0};
    map[7 * 15 + 7] = 0.5f;
    map[7 * 15 + 10] = 0.25f; /* three to the right: inside of 7, outside of 5 */
    const sk_map maps = sk_map_planar(map, 1, 15, 15);
    sk_model m = {.task = SK_TASK_CENTROID, .n_keypoints = 1, .n_outputs = 1};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 1};
    m.sleap = (sk_sleap_spec){.input_scale = 1};
    sk_sleap_geometry g;
    assert_ok(sk_sleap_sizes(&m.sleap, 15, 15, &g, &err), &err);
    for (int k = 0; k < 4; k++) {
        sk_sleap_settings s = sk_sleap_settings_defaults();
        s.patch = k == 0 ? 7 : 5;
        s.centroid_threshold = k == 2 ? 0.4f : -1;
        s.refinement = k == 3 ? SK_REFINE_NONE : SK_REFINE_INTEGRAL;
        sk_sleap_post *post;
        sk_instances found;
        sk_peak_wish wish;
        assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
        assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), 1, &found, &err), &err);
        assert_int_equal(sk_sleap_post_wish(post, &wish), k != 0);
        assert_ok(sk_sleap_post_run(post, &maps, 1, &g, &found, &err), &err);
        assert_int_equal(found.count, k == 2 ? 1 : 2);
        assert_true(found.keypoints[0].x == (k == 0 ? 8.0f : 7.0f)); /* 7 + 3 * 0.25 / 0.75 */
        sk_instances_free(&found);
        sk_sleap_post_close(&post);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_by_itself), cmocka_unit_test(likeness_of_poses),
        cmocka_unit_test(centroids_keep_their_distance), cmocka_unit_test(options_reach_the_stages),
        cmocka_unit_test(thresholds_and_patches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
