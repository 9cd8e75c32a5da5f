/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "tasks/identity.h"
#include "tasks/paf_grouping.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void run_case(FILE *f, int n)
{
    int nodes, n_edges, h, w, stride, min_peaks, n_peaks, expected;
    float min_line;
    sk_error err;
    if (fscanf(f, "%d %d %d %d %d %f %d", &nodes, &n_edges, &h, &w, &stride, &min_line, &min_peaks) != 7)
        fail_msg("case %d: damaged", n);
    int32_t edges[8][2];
    sk_peak peaks[64];
    for (int e = 0; e < n_edges; e++)
        assert_int_equal(fscanf(f, "%d %d", &edges[e][0], &edges[e][1]), 2);
    assert_int_equal(fscanf(f, "%d", &n_peaks), 1);
    for (int i = 0; i < n_peaks; i++)
        assert_int_equal(
            fscanf(f, "%d %f %f %f", &peaks[i].channel, &peaks[i].x, &peaks[i].y, &peaks[i].value), 4);
    int count = 2 * n_edges * h * w;
    uint8_t *bytes = malloc((size_t)count);
    float *field = malloc(sizeof(float) * (size_t)count);
    case_noise(bytes, (size_t)count, (uint32_t)n);
    for (int i = 0; i < count; i++)
        field[i] = (float)bytes[i] / 127.5f - 1;
    sk_paf_settings s = sk_paf_settings_defaults();
    s.min_line_score = min_line;
    s.min_instance_peaks = min_peaks;
    sk_paf_grouping *g;
    assert_ok(sk_paf_grouping_open(nodes, (const int32_t(*)[2])edges, n_edges, &s, &g, &err), &err);
    sk_map map = sk_map_planar(field, 2 * n_edges, h, w);
    const sk_paf_instance *found;
    int32_t n_found;
    uint64_t before = sk_memory_allocations();
    assert_ok(sk_paf_group(g, peaks, n_peaks, &map, (float)stride, &found, &n_found, &err), &err);
    assert_int_equal(sk_memory_allocations(), before);
    assert_int_equal(fscanf(f, "%d", &expected), 1);
    if (n_found != expected)
        fail_msg("case %d: %d instances, %d expected", n, (int)n_found, expected);
    for (int i = 0; i < expected; i++) {
        float score;
        assert_int_equal(fscanf(f, "%f", &score), 1);
        assert_true(fabsf(score - found[i].score) < 1e-4f);
        for (int k = 0; k < nodes; k++) {
            int index;
            assert_int_equal(fscanf(f, "%d", &index), 1);
            if (index != found[i].peak_of[k])
                fail_msg("case %d, instance %d, node %d: peak %d, %d expected", n, i, k,
                         (int)found[i].peak_of[k], index);
        }
    }
    sk_paf_grouping_close(&g);
    free(bytes);
    free(field);
}

/* Every case of paf_cases.txt: the same instances in the same order. */
static void instances_equal_the_original(void **state)
{
    (void)state;
    FILE *f = fopen(test_source("tests/tasks/paf_cases.txt"), "r");
    assert_non_null(f);
    char line[512];
    int n = 0;
    assert_non_null(fgets(line, sizeof line, f));
    while (fscanf(f, " %4[c]ase", line) == 1)
        run_case(f, n++);
    fclose(f);
    assert_int_equal(n, 30);
}

/* By hand: a field of (1, 0) everywhere; the line from left to right scores 1 less the penalty of its
 * length. */
static void line_score_by_hand(void **state)
{
    (void)state;
    enum { H = 10, W = 20 };
    float field[2 * H * W] = {0};
    for (int i = 0; i < H * W; i++)
        field[i] = 1;
    sk_map map = sk_map_planar(field, 2, H, W);
    sk_paf_settings s = sk_paf_settings_defaults();
    /* The longest side is 20 * 4 pixels, a quarter of it 20. */
    const float a[2] = {4, 8}, b[2] = {14, 8}, far[2] = {44, 8}, up[2] = {4, 2};
    assert_true(fabsf(sk_paf_line_score(&s, &map, 4, 0, a, b) - 1) < 1e-6f);
    assert_true(fabsf(sk_paf_line_score(&s, &map, 4, 0, a, far) - (1 + (20.0f / 40 - 1))) < 1e-6f);
    assert_true(fabsf(sk_paf_line_score(&s, &map, 4, 0, a, up)) < 1e-6f);
    assert_true(isnan(sk_paf_line_score(&s, &map, 4, 0, a, a)));
}

static void bad_skeletons_and_fields_are_refused(void **state)
{
    (void)state;
    sk_error err;
    sk_paf_grouping *g;
    const int32_t ring[2][2] = {{0, 1}, {1, 0}}, wrong[1][2] = {{0, 5}}, fine[1][2] = {{0, 1}};
    assert_int_equal(sk_paf_grouping_open(2, ring, 2, NULL, &g, &err), SK_ERR_UNSUPPORTED);
    assert_int_equal(sk_paf_grouping_open(2, wrong, 1, NULL, &g, &err), SK_ERR_ARG);
    assert_ok(sk_paf_grouping_open(2, fine, 1, NULL, &g, &err), &err);
    float field[3 * 4] = {0};
    sk_map map = sk_map_planar(field, 3, 2, 2);
    const sk_paf_instance *found;
    int32_t n;
    assert_int_equal(sk_paf_group(g, NULL, 0, &map, 4, &found, &n, &err), SK_ERR_MISMATCH);
    map.channels = 2;
    assert_ok(sk_paf_group(g, NULL, 0, &map, 4, &found, &n, &err), &err);
    assert_int_equal(n, 0);
    /* NaN in the field, peaks at one place, peaks outside: no instance, no harm. */
    for (int i = 0; i < 12; i++)
        field[i] = NAN;
    sk_peak peaks[4] = {{1, 1, 1, 0}, {-5e8f, 9e9f, 1, 0}, {1, 1, 1, 1}, {3, 2, 1, 1}};
    assert_ok(sk_paf_group(g, peaks, 4, &map, 4, &found, &n, &err), &err);
    assert_int_equal(n, 0);
    sk_paf_grouping_close(&g);
}

/* Far more peaks than a node may have: the best take part, in bounded time. */
static void crowds_are_bounded(void **state)
{
    (void)state;
    enum { N = 3000, SIDE = 128 };
    sk_error err;
    sk_paf_grouping *g;
    const int32_t edges[2][2] = {{0, 1}, {1, 2}};
    assert_ok(sk_paf_grouping_open(3, edges, 2, NULL, &g, &err), &err);
    float *field = malloc(sizeof(float) * 4 * SIDE * SIDE);
    sk_peak *peaks = malloc(sizeof *peaks * 3 * N);
    uint32_t seed = 8;
    for (int i = 0; i < 4 * SIDE * SIDE; i++)
        field[i] = case_random(&seed) * 2 - 0.5f;
    for (int i = 0; i < 3 * N; i++)
        peaks[i] = (sk_peak){case_random(&seed) * 512, case_random(&seed) * 512, case_random(&seed), i / N};
    sk_map map = sk_map_planar(field, 4, SIDE, SIDE);
    const sk_paf_instance *found;
    int32_t n;
    clock_t start = clock();
    assert_ok(sk_paf_group(g, peaks, 3 * N, &map, 4, &found, &n, &err), &err);
    double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
    print_message("3 x %d peaks: %d instances, %.1f ms\n", N, (int)n, ms);
    assert_true(n > 0 && n <= sk_paf_grouping_capacity(g));
    assert_true(ms < 2000);
    free(field);
    free(peaks);
    sk_paf_grouping_close(&g);
}

/* Of more peaks than a node may have the highest take part, wherever they stand in the list. */
static void the_highest_take_part(void **state)
{
    (void)state;
    static const int32_t caps[] = {1, 2, 255, 256, 257, 300};
    static sk_peak peaks[1000];
    static float field[2 * 40 * 40];
    const int32_t edges[1][2] = {{0, 1}};
    const sk_map map = sk_map_planar(field, 2, 40, 40);
    for (size_t c = 0; c < sizeof caps / sizeof *caps; c++) {
        const int32_t cap = caps[c], n_first = cap + 40;
        sk_error err;
        sk_paf_grouping *g;
        sk_paf_settings s = sk_paf_settings_defaults();
        const sk_paf_instance *found;
        int32_t n = 0;
        s.max_peaks_per_node = cap;
        s.min_instance_peaks = 0;
        assert_ok(sk_paf_grouping_open(2, edges, 1, &s, &g, &err), &err);
        for (int i = 0; i < 2 * 40 * 40; i++)
            field[i] = i < 40 * 40 ? 1 : 0;   /* to the right */
        for (int32_t i = 0; i < n_first; i++) /* all above it, where the field does not lead */
            peaks[i] = (sk_peak){20, 0.05f * (float)i, 0.1f + 1e-4f * (float)(i * 37 % n_first), 0};
        peaks[n_first - 1] = (sk_peak){10, 30, 0.9f, 0}; /* the best, in the last place */
        peaks[n_first] = (sk_peak){20, 30, 1, 1};
        assert_ok(sk_paf_group(g, peaks, n_first + 1, &map, 1, &found, &n, &err), &err);
        bool joined = false;
        for (int32_t i = 0; i < n; i++)
            joined = joined || (found[i].peak_of[0] == n_first - 1 && found[i].peak_of[1] == n_first);
        if (!joined)
            fail_msg("of %d: the best is not in one of %d instances", (int)cap, (int)n);
        sk_paf_grouping_close(&g);
    }
}

static void identities(void **state)
{
    (void)state;
    sk_error err;
    sk_identity *id;
    assert_ok(sk_identity_open(4, 2, &id, &err), &err);
    /* Two crops both like class 0; the second likes it more, the first yields. A third is surplus. */
    const float vectors[6] = {0.7f, 0.3f, 0.9f, 0.1f, 0.4f, 0.1f};
    int32_t class_of[4];
    float probability[4];
    sk_identity_from_vectors(id, vectors, 3, class_of, probability);
    assert_int_equal(class_of[0], 1);
    assert_int_equal(class_of[1], 0);
    assert_int_equal(class_of[2], -1);
    assert_true(probability[0] == 0.3f && probability[1] == 0.9f && probability[2] == 0);
    /* The same as peaks on class maps: the first's class is not its best, so it is dropped. */
    float maps[2 * 3] = {0.7f, 0.9f, 0.4f, 0.3f, 0.1f, 0.1f};
    sk_map map = sk_map_planar(maps, 2, 1, 3);
    const sk_peak peaks[3] = {{0.2f, 0, 1, 0}, {1.4f, -3, 1, 0}, {2, 9, 1, 0}};
    int32_t peak_of[2];
    sk_identity_from_maps(id, &map, peaks, 3, peak_of, probability);
    assert_int_equal(peak_of[0], 1);
    assert_int_equal(peak_of[1], -1);
    assert_true(probability[0] == 0.9f);
    maps[0] = NAN;
    sk_identity_from_maps(id, &map, peaks, 3, peak_of, probability);
    sk_identity_from_vectors(id, vectors, 0, class_of, probability);
    sk_identity_close(&id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(instances_equal_the_original),
                                       cmocka_unit_test(line_score_by_hand),
                                       cmocka_unit_test(bad_skeletons_and_fields_are_refused),
                                       cmocka_unit_test(crowds_are_bounded),
                                       cmocka_unit_test(identities),
                                       cmocka_unit_test(the_highest_take_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
