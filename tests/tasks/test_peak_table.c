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
    const int32_t last = at.rows + (table[at.counts].i - 1) * at.row_words;
    struct {
        int32_t word, value;
    } const damage[] = {
        {at.counts, -1}, {at.counts, wish.capacity + 1}, {1, table[1].i + 1}, {at.rows, W * H + 1},
        {at.rows, -7},   {at.rows + at.row_words, 0},    {last, W * H},       {1, table[1].i - 1}};
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        const int32_t before = table[damage[i].word].i;
        table[damage[i].word].i = damage[i].value;
        assert_int_equal(sk_sleap_post_run_table(post, table, p.maps, 5, &g, &out, &err), SK_ERR_MISMATCH);
        table[damage[i].word].i = before;
    }
    assert_int_equal(sk_sleap_post_run_table(NULL, table, p.maps, 5, &g, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_sleap_post_run_table(post, NULL, p.maps, 5, &g, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_sleap_post_run_table(post, table, NULL, 5, &g, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_sleap_post_run_table(post, table, p.maps, 4, &g, &out, &err), SK_ERR_MISMATCH);
    table[last].i = W * H - 1;
    assert_ok(sk_sleap_post_run_table(post, table, p.maps, 5, &g, &out, &err), &err);
    free(table);
    sk_instances_free(&out);
    sk_sleap_post_close(&post);
}

/* Of more animals than are wanted the best stay, the best first, wherever they were found. */
static void the_best_animals(void **state)
{
    (void)state;
    enum { SIDE = 20, ANIMALS = 3 };
    static const int32_t edge[1][2] = {{0, 1}};
    static const float scores[][ANIMALS] = {{0.9f, 0.3f, 0.6f}, {0.3f, 0.9f, 0.6f}, {0.3f, 0.6f, 0.9f}};
    for (int round = 0; round < 3; round++)
        for (int32_t most = 1; most <= 4; most++) {
            static float maps[2 * SIDE * SIDE], fields[2 * SIDE * SIDE];
            sk_model m = {
                .task = SK_TASK_BOTTOMUP,
                .n_keypoints = 2,
                .sleap = {.n_edges = 1, .edges = edge},
                .outputs = {{.kind = SK_OUTPUT_CONFMAPS, .stride = 1}, {.kind = SK_OUTPUT_PAFS, .stride = 1}},
                .n_outputs = 2};
            sk_sleap_settings settings = sk_sleap_settings_defaults();
            settings.max_instances = most;
            sk_sleap_post *post = NULL;
            sk_instances out;
            sk_error err = {0};
            memset(maps, 0, sizeof maps);
            memset(fields, 0, sizeof fields);
            for (int a = 0; a < ANIMALS; a++) { /* a line along x each, in rows of their own */
                const int y = 2 + 6 * a;
                maps[y * SIDE + 4] = maps[(SIDE + y) * SIDE + 8] = 0.8f;
                for (int x = 0; x < SIDE; x++)
                    fields[y * SIDE + x] = scores[round][a];
            }
            const sk_map in[2] = {sk_map_planar(maps, 2, SIDE, SIDE), sk_map_planar(fields, 2, SIDE, SIDE)};
            const sk_sleap_geometry g = {.eff_scale = 1, .input_scale = 1};
            assert_ok(sk_sleap_post_open(&m, &settings, &post, &err), &err);
            assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), 2, &out, &err), &err);
            assert_ok(sk_sleap_post_run(post, in, 2, &g, &out, &err), &err);
            assert_int_equal(out.count, most < ANIMALS ? most : ANIMALS);
            for (int32_t i = 0; i < out.count; i++) {
                const float wanted = most >= ANIMALS ? scores[round][i] : i == 0 ? 0.9f : 0.6f;
                assert_true(fabsf(out.items[i].score - wanted) < 1e-6f);
            }
            sk_instances_free(&out);
            sk_sleap_post_close(&post);
        }
}

/* Two wishes are the same where nothing of them differs. */
static void wishes_differ_by_any_part(void **state)
{
    (void)state;
    sk_peak_wish one;
    memset(&one, 0, sizeof one);
    one.n_edges = 2;
    one.edges[1][0] = 1;
    one.edges[1][1] = 2;
    sk_peak_wish same = one;
    assert_true(sk_peak_wish_equal(&one, &same));
    int32_t *const numbers[] = {&same.refinement,  &same.maps,        &same.offsets,    &same.classes,
                                &same.fields,      &same.capacity,    &same.pairs,      &same.n_channels,
                                &same.n_classes,   &same.n_edges,     &same.n_points,   &same.edges[0][0],
                                &same.edges[0][1], &same.edges[1][0], &same.edges[1][1]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ++*numbers[i];
        assert_false(sk_peak_wish_equal(&one, &same));
        assert_false(sk_peak_wish_equal(&same, &one));
        --*numbers[i];
        assert_true(sk_peak_wish_equal(&one, &same));
    }
    float *const reals[] = {&same.threshold,     &same.maps_stride,           &same.classes_stride,
                            &same.fields_stride, &same.max_edge_length_ratio, &same.dist_penalty_weight};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        *reals[i] += 0.5f;
        assert_false(sk_peak_wish_equal(&one, &same));
        *reals[i] -= 0.5f;
    }
    same.local = !same.local;
    assert_false(sk_peak_wish_equal(&one, &same));
    same.local = one.local;
    same.edges[2][0] = 7; /* beyond those that count */
    assert_true(sk_peak_wish_equal(&one, &same));
}

/* Parts begin at whole rows of four words, and the whole is so many times 64. */
static void tables_lie_in_order(void **state)
{
    (void)state;
    for (int32_t channels = 1; channels < 10; channels++)
        for (int32_t pairs = 0; pairs < 130; pairs += 43) {
            sk_peak_wish w;
            memset(&w, 0, sizeof w);
            w.n_channels = channels;
            w.capacity = 3;
            w.n_classes = channels % 3;
            w.pairs = pairs;
            const sk_peak_layout at = sk_peak_layout_of(&w);
            assert_int_equal(at.counts, 4);
            assert_int_equal(at.row_words, 4 + channels % 3);
            assert_true(at.rows % 4 == 0 && at.rows >= 4 + channels && at.rows < 8 + channels);
            assert_int_equal(at.lines, at.rows + 3 * channels * at.row_words);
            assert_true(at.words % 64 == 0 && at.words >= at.lines + pairs &&
                        at.words < at.lines + pairs + 64);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishes_differ_by_any_part), cmocka_unit_test(tables_lie_in_order),
        cmocka_unit_test(the_best_animals), cmocka_unit_test(tables_give_the_same_instances),
        cmocka_unit_test(damaged_tables_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
