/* SPDX-License-Identifier: Apache-2.0 */
/* Which crops a multi-class top-down model keeps and what they score, by both eras' rules; what a single instance scores.
 * Every case from the maps themselves and from the table an engine would make of them. */
#include "support/test.h"

#include "base/memory.h"
#include "tasks/sleap_post.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 16, NODES = 2, MOST_CROPS = 5, CLASSES = 3 };

static const char *const names[CLASSES] = {"a", "b", "c"};

static sk_model fake_model(sk_task task, int legacy)
{
    sk_model m = {.task = task, .path = "fake", .n_keypoints = NODES, .input = {.channels = 1}};
    m.sleap =
        (sk_sleap_spec){.input_scale = 1, .crop_size = {SIDE, SIDE}, .pad_to_stride = 16, .legacy = legacy};
    m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 1};
    if (task == SK_TASK_MULTICLASS_TOPDOWN) {
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_VECTORS, "vectors", 0};
        m.n_classes = CLASSES;
        m.class_names = names;
    }
    return m;
}

typedef struct crop_case {
    const char *what;
    int legacy, n;
    float vectors[MOST_CROPS][CLASSES];
    int empty; /* 1 + a crop without a peak */
    int count; /* what is expected */
    struct {
        int crop, class_id;
        float score; /* centroids score 0.9, 0.8, … */
        float probability;
    } want[MOST_CROPS];
} crop_case;

static const crop_case cases[] = {
    {"each its own class, in the order of the classes, with the scores in the order of the centroids",
     1,
     3,
     {{.1f, .2f, .7f}, {.8f, .1f, .1f}, {.2f, .6f, .2f}},
     0,
     3,
     {{1, 0, .9f, .8f}, {2, 1, .8f, .6f}, {0, 2, .7f, .7f}}},
    {"a class goes to the better crop",
     1,
     3,
     {{.6f, .3f, .1f}, {.9f, .05f, .05f}, {.3f, .3f, .4f}},
     0,
     2,
     {{1, 0, .9f, .9f}, {2, 2, .7f, .4f}}},
    {"more crops than classes",
     1,
     5,
     {{.5f, .3f, .2f}, {.1f, .8f, .1f}, {.7f, .2f, .1f}, {.1f, .1f, .8f}, {.4f, .4f, .2f}},
     0,
     3,
     {{2, 0, .9f, .7f}, {1, 1, .8f, .8f}, {3, 2, .7f, .8f}}},
    {"one crop, whose class is behind the centroids: its own score",
     1,
     1,
     {{.1f, .2f, .7f}},
     0,
     1,
     {{0, 2, .9f, .7f}}},
    {"a crop without keypoints takes its class with it",
     1,
     2,
     {{.9f, 0, .1f}, {.1f, .9f, 0}},
     1,
     1,
     {{1, 1, .8f, .9f}}},
    {"no crop", 1, 0, {{0}}, 0, 0, {{0}}},
    {"sleap-nn keeps every crop: second best classes, and none",
     0,
     5,
     {{.5f, .3f, .2f}, {.1f, .8f, .1f}, {.7f, .2f, .1f}, {.1f, .1f, .8f}, {.4f, .4f, .2f}},
     0,
     5,
     {{0, -1, .9f, 0}, {1, 1, .8f, .8f}, {2, 0, .7f, .7f}, {3, 2, .6f, .8f}, {4, -1, .5f, 0}}},
};

static void run_case(const crop_case *c, int by_table)
{
    sk_error err;
    sk_model m = fake_model(SK_TASK_MULTICLASS_TOPDOWN, c->legacy);
    sk_sleap_post *post;
    assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
    sk_sleap_crop_geometry g;
    assert_ok(sk_sleap_crop_sizes(&m.sleap, 0, &g, &err), &err);
    sk_sleap_crop *crop;
    assert_ok(sk_sleap_crop_open(&m.sleap, &g, 1, 200, 200, 1, &crop, &err), &err);
    sk_instances found;
    assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), NODES, &found, &err), &err);
    sk_peak_wish wish;
    assert_true(sk_sleap_post_wish(post, &wish));
    sk_peak_word *table = calloc((size_t)sk_peak_layout_of(&wish).words, sizeof *table);
    const uint64_t before = sk_memory_allocations();
    sk_sleap_post_begin(post, &found);
    for (int i = 0; i < c->n; i++) {
        float confidence[NODES * SIDE * SIDE] = {0};
        confidence[3 * SIDE + 3 + i] = c->empty == 1 + i ? 0 : 1; /* only the first node is found */
        const sk_map maps[2] = {sk_map_planar(confidence, NODES, SIDE, SIDE),
                                sk_map_planar(c->vectors[i], CLASSES, 1, 1)};
        const sk_sleap_centroid at = {
            .x = 20.0f * (float)(i + 1), .y = 50, .score = .9f - .1f * (float)i, .class_id = -1};
        if (by_table) {
            assert_true(sk_peak_table_fill(&wish, maps, table));
            assert_ok(sk_sleap_post_crop_table(post, table, maps, 2, crop, &at, 1, &found, &err), &err);
        } else {
            assert_ok(sk_sleap_post_crop(post, maps, 2, crop, &at, 1, &found, &err), &err);
        }
    }
    sk_sleap_post_end(post, &found);
    assert_int_equal(sk_memory_allocations(), before);
    if (found.count != c->count)
        fail_msg("%s: %d instances instead of %d", c->what, (int)found.count, c->count);
    for (int i = 0; i < c->count; i++) {
        const sk_found *item = &found.items[i];
        const sk_keypoint *p = &found.keypoints[item->first_keypoint];
        const int from = c->want[i].crop;
        float x = (float)(3 + from), y = 3;
        sk_sleap_crop_undo(crop, 20.0f * (float)(from + 1), 50, &x, &y);
        if (item->class_id != c->want[i].class_id || fabsf(item->score - c->want[i].score) > 1e-6f ||
            fabsf(item->tracking_score - c->want[i].probability) > 1e-6f || !(fabsf(p[0].x - x) < 1e-4f) ||
            !(fabsf(p[0].y - y) < 1e-4f) || isfinite(p[1].x))
            fail_msg("%s: instance %d is class %d with score %g and probability %g at %g, %g", c->what, i,
                     (int)item->class_id, (double)item->score, (double)item->tracking_score, (double)p[0].x,
                     (double)p[0].y);
    }
    free(table);
    sk_instances_free(&found);
    sk_sleap_crop_close(&crop);
    sk_sleap_post_close(&post);
}

static void crops_are_grouped_by_identity(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int by_table = 0; by_table < 2; by_table++)
            run_case(&cases[i], by_table);
}

/* SLEAP adds up nodes below the threshold, too; sleap-nn has them as 0. */
static void score_of_a_single_instance(void **state)
{
    (void)state;
    sk_error err;
    float confidence[NODES * SIDE * SIDE] = {0};
    confidence[5 * SIDE + 4] = 0.75f;
    confidence[SIDE * SIDE + 9 * SIDE + 8] = 0.125f;
    const sk_map map = sk_map_planar(confidence, NODES, SIDE, SIDE);
    for (int legacy = 0; legacy < 2; legacy++)
        for (int by_table = 0; by_table < 2; by_table++) {
            sk_model m = fake_model(SK_TASK_SINGLE_INSTANCE, legacy);
            sk_sleap_post *post;
            assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
            sk_sleap_geometry g;
            assert_ok(sk_sleap_sizes(&m.sleap, SIDE, SIDE, &g, &err), &err);
            sk_instances found;
            assert_ok(sk_instances_alloc(1, NODES, &found, &err), &err);
            sk_peak_wish wish;
            assert_true(sk_sleap_post_wish(post, &wish));
            sk_peak_word *table = calloc((size_t)sk_peak_layout_of(&wish).words, sizeof *table);
            if (by_table) {
                assert_true(sk_peak_table_fill(&wish, &map, table));
                assert_ok(sk_sleap_post_run_table(post, table, &map, 1, &g, &found, &err), &err);
            } else {
                assert_ok(sk_sleap_post_run(post, &map, 1, &g, &found, &err), &err);
            }
            assert_int_equal(found.count, 1);
            assert_true(found.items[0].score == (legacy ? 0.875f : 0.75f));
            assert_true(found.keypoints[0].score == 0.75f && found.keypoints[0].x == 4 &&
                        found.keypoints[0].y == 5);
            assert_true(isnan(found.keypoints[1].x) && found.keypoints[1].score == 0);
            free(table);
            sk_instances_free(&found);
            sk_sleap_post_close(&post);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crops_are_grouped_by_identity),
                                       cmocka_unit_test(score_of_a_single_instance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
