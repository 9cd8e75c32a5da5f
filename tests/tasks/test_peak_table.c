/* SPDX-License-Identifier: Apache-2.0 */
/* Instances from a table of peaks are those from the maps, for every task; a table that is damaged is refused. */
#include "support/test.h"

#include "base/memory.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 40, H = 28, NODES = 3, CLASSES = 2 };

static uint32_t seed = 3;
static float unit(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static const int32_t edges[2][2] = {{0, 1}, {1, 2}};

static sk_model model_of(sk_task task, int legacy)
{
    sk_model m = {.task = task,
                  .n_keypoints = NODES,
                  .n_classes = CLASSES,
                  .sleap = {.legacy = legacy, .n_edges = 2, .edges = edges},
                  .outputs = {{.kind = SK_OUTPUT_CONFMAPS, .stride = 2},
                              {.kind = SK_OUTPUT_PAFS, .stride = 4},
                              {.kind = SK_OUTPUT_OFFSETS, .stride = 2},
                              {.kind = SK_OUTPUT_CLASS_MAPS, .stride = 4},
                              {.kind = SK_OUTPUT_CLASS_VECTORS}},
                  .n_outputs = 5};
    return m;
}

/* Bumps, noise, a plateau, values that are no numbers. `level`: how much noise. */
static void paint(float *map, int channels, int w, int h, float level)
{
    for (int i = 0; i < channels * w * h; i++)
        map[i] = level * unit();
    for (int c = 0; c < channels; c++)
        for (int k = 0; k < 4; k++) {
            const float x0 = unit() * (float)w, y0 = unit() * (float)h;
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    map[(c * h + y) * w + x] +=
                        expf(-(((float)x - x0) * ((float)x - x0) + ((float)y - y0) * ((float)y - y0)) / 4.5f);
        }
    map[w * h / 2 + 3] = map[w * h / 2 + 4] = 1.5f; /* two equals are no peak, or the first of them */
    map[w * h - 1] = NAN;
    map[5] = INFINITY;
}

static void assert_same(const sk_instances *a, const sk_instances *b)
{
    assert_int_equal(a->count, b->count);
    for (int32_t i = 0; i < a->count; i++) {
        assert_true(a->items[i].score == b->items[i].score);
        assert_true(a->items[i].tracking_score == b->items[i].tracking_score);
        assert_int_equal(a->items[i].class_id, b->items[i].class_id);
    }
    assert_memory_equal(a->keypoints, b->keypoints,
                        (size_t)(a->count * a->n_keypoints) * sizeof *a->keypoints);
}

typedef struct painted {
    float data[5][2 * NODES * W * H];
    sk_map maps[5];
} painted;

static void paint_all(painted *p, float level)
{
    const int channels[5] = {NODES, 4, 2 * NODES, CLASSES, CLASSES};
    for (int i = 0; i < 5; i++) {
        const int half = i == 1 || i == 3, w = half ? W / 2 : W, h = half ? H / 2 : H;
        paint(p->data[i], channels[i], i < 4 ? w : 8, i < 4 ? h : 8, level);
        p->maps[i] = sk_map_planar(p->data[i], channels[i], i < 4 ? h : 1, i < 4 ? w : 1);
    }
}

static void tables_give_the_same_instances(void **state)
{
    (void)state;
    static const sk_task tasks[] = {SK_TASK_SINGLE_INSTANCE, SK_TASK_CENTROID, SK_TASK_BOTTOMUP,
                                    SK_TASK_MULTICLASS_BOTTOMUP};
    static painted p;
    sk_error err = {0};
    int whole = 0, found = 0;
    for (int round = 0; round < 96; round++) {
        const int legacy = round / 4 % 2, refinement = round / 8 % 3;
        sk_model m = model_of(tasks[round % 4], legacy);
        if (round / 24 % 2)
            m.outputs[2].kind = SK_OUTPUT_OTHER; /* without offsets */
        sk_sleap_settings settings = sk_sleap_settings_defaults();
        settings.refinement = (sk_refinement)refinement;
        settings.paf.max_peaks_per_node = round % 5 == 0 ? 3 : 256;
        settings.paf.min_line_score = -3;
        sk_sleap_post *post = NULL;
        sk_peak_wish wish;
        const sk_sleap_geometry g = {.eff_scale = 0.8f, .input_scale = round % 2 ? 0.5f : 1};
        assert_ok(sk_sleap_post_open(&m, &settings, &post, &err), &err);
        if (m.task == SK_TASK_CENTROID)
            m.n_keypoints = 1;
        paint_all(&p, round % 7 == 0 ? 2.0f : round % 7 == 1 ? 0.0f : 0.15f);
        if (m.task == SK_TASK_CENTROID) {
            p.maps[0].channels = 1;
            p.maps[2].channels = 2;
        }
        assert_true(sk_sleap_post_wish(post, &wish));
        sk_peak_word *table = calloc((size_t)sk_peak_layout_of(&wish).words, sizeof *table);
        sk_instances a, b;
        assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), sk_sleap_post_keypoints(post), &a, &err),
                  &err);
        assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), sk_sleap_post_keypoints(post), &b, &err),
                  &err);
        assert_ok(sk_sleap_post_run(post, p.maps, 5, &g, &a, &err), &err);
        const bool complete = sk_peak_table_fill(&wish, p.maps, table);
        if (complete) /* then nothing else is looked at */
            for (int i = 0; i < 5; i++)
                memset(p.data[i], 0, sizeof p.data[i]);
        assert_ok(sk_sleap_post_run_table(post, table, p.maps, 5, &g, &b, &err), &err);
        assert_same(&a, &b);
        whole += !complete;
        found += a.count;
        free(table);
        sk_instances_free(&a);
        sk_instances_free(&b);
        sk_sleap_post_close(&post);
    }
    assert_true(found > 100 && whole > 3);
}

static void damaged_tables_are_refused(void **state)
{
    (void)state;
    static painted p;
    sk_error err = {0};
    sk_model m = model_of(SK_TASK_BOTTOMUP, 0);
    sk_sleap_post *post = NULL;
    sk_peak_wish wish;
    sk_instances out;
    const sk_sleap_geometry g = {.eff_scale = 1, .input_scale = 1};
    assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
    assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), NODES, &out, &err), &err);
    assert_true(sk_sleap_post_wish(post, &wish));
    const sk_peak_layout at = sk_peak_layout_of(&wish);
    sk_peak_word *table = calloc((size_t)at.words, sizeof *table);
    paint_all(&p, 0.1f);
    assert_true(sk_peak_table_fill(&wish, p.maps, table));
    assert_true(table[at.counts].i >= 2);
    struct {
        int32_t word, value;
    } const damage[] = {{at.counts, -1},     {at.counts, wish.capacity + 1},
                        {1, table[1].i + 1}, {at.rows, W * H + 1},
                        {at.rows, -7},       {at.rows + at.row_words, 0}};
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        const int32_t before = table[damage[i].word].i;
        table[damage[i].word].i = damage[i].value;
        assert_int_equal(sk_sleap_post_run_table(post, table, p.maps, 5, &g, &out, &err), SK_ERR_MISMATCH);
        table[damage[i].word].i = before;
    }
    assert_ok(sk_sleap_post_run_table(post, table, p.maps, 5, &g, &out, &err), &err);
    free(table);
    sk_instances_free(&out);
    sk_sleap_post_close(&post);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_give_the_same_instances),
                                       cmocka_unit_test(damaged_tables_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
