/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in the cpu engine: what is found in a graph is one step, and gives what the reference executor gives. */
#include "support/test.h"

#include "attention_graph.h"
#include "engines/engine.h"

#define MOST_OUTPUTS (64 * 64 * 24)

/* Steps by that kernel, and by ones that touch dense tensors. */
typedef struct counted {
    int attending, products;
} counted;

static counted count_steps(sk_session *session)
{
    sk_profile_row rows[64];
    int32_t n;
    counted c = {0};
    sk_error err = {0};
    if (sk_session_profile(session, rows, 64, &n, &err) != SK_OK)
        stop(&err);
    assert_true(n <= 64);
    for (int32_t i = 0; i < n; i++) {
        c.attending += strncmp(rows[i].kernel, "attention", 9) == 0;
        c.products += strcmp(rows[i].kernel, "matmul") == 0 || strcmp(rows[i].kernel, "transpose") == 0 ||
                      strcmp(rows[i].kernel, "softmax") == 0;
    }
    return c;
}

/* Runs the case twice; the distance from the reference executor, and the first outputs themselves where asked for. */
static double try_cpu(const attention_case *c, bool turned, sk_precision precision, int threads,
                      const char *options, counted *steps, float *kept)
{
    sk_graph *g = attention_graph(c, turned), *fixed = NULL;
    sk_error err = {0};
    sk_shape shape = sk_shape_of(4, c->batch, 16, c->h, c->w);
    float *x = randoms(sk_shape_count(&shape), 2.0f);
    sk_tensor in = {.dtype = SK_DTYPE_F32, .shape = shape, .data = x}, want = {0}, got;
    sk_session_settings settings = sk_session_defaults();
    sk_session *session = NULL;
    sk_session_input given = {.data = x};
    double worst = 0;
    settings.precision = precision;
    settings.threads = threads;
    snprintf(settings.options, sizeof settings.options, "tune=off%s", options);
    settings.cache_dir = "";
    if (sk_graph_specialise(g, &shape, 1, &fixed, &err) != SK_OK ||
        sk_reference_run(fixed, &in, 1, &want, 1, &err) != SK_OK ||
        sk_session_open(&sk_engine_cpu, g, &shape, 1, &settings, &session, &err) != SK_OK ||
        sk_session_profile_start(session, &err) != SK_OK)
        stop(&err);
    const int64_t count = sk_shape_count(&want.shape);
    for (int run = 0; run < 2; run++) { /* the second finds what the first left in the same memory */
        if (sk_session_run(session, &given, 1, &got, 1, &err) != SK_OK)
            stop(&err);
        const double d = distance(got.data, want.data, count);
        worst = d > worst || isnan(d) ? d : worst;
    }
    assert_true(!kept || count <= MOST_OUTPUTS);
    if (kept)
        memcpy(kept, got.data, (size_t)count * sizeof *kept);
    *steps = count_steps(session);
    sk_session_close(&session);
    sk_free(want.data);
    free(x);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
    return worst;
}

static void test_one_step(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        sk_precision precision;
        double limit;
    } ways[] = {{"", SK_PRECISION_F32, 2e-6},
                {",mask=avx2", SK_PRECISION_F32, 2e-6},
                {",mask=none", SK_PRECISION_F32, 2e-6},
                {"", SK_PRECISION_BF16, 2e-2}};
    for (size_t i = 0; i < sizeof attention_cases / sizeof attention_cases[0]; i++)
        for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
            attention_case c = attention_cases[i];
            counted steps;
            c.batch = c.batch > 2 ? 2 : c.batch; /* the reference executor is slow */
            c.h = c.h > 16 ? 16 : c.h;
            c.w = c.w > 14 ? 14 : c.w;
            const double d = try_cpu(&c, false, ways[way].precision, 2, ways[way].options, &steps, NULL);
            if (!(d < ways[way].limit) || steps.attending != 1 || steps.products != 0)
                fail_msg("case %zu%s: distance %.2e, %d steps of attention, %d of what it stands for", i,
                         ways[way].options, d, steps.attending, steps.products);
        }
}

/* Areas that end within a row, pixels that fill no 16, and one pixel alone. */
static void test_sizes(void **state)
{
    (void)state;
    static const attention_case odd[] = {{2, 16, 16, 4, 0, 1, 6, 10, false, 0, false},
                                         {1, 32, 48, 2, 7, 3, 5, 6, false, 0, false},
                                         {3, 48, 16, 1, 3, 1, 1, 17, true, 0, false},
                                         {1, 16, 96, 1, 3, 2, 1, 1, false, 0, false},
                                         {2, 64, 32, 3, 5, 1, 9, 11, true, 0, false}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        counted steps;
        const double d = try_cpu(&odd[i], false, SK_PRECISION_F32, 3, "", &steps, NULL);
        if (!(d < 2e-6) || steps.attending != 1)
            fail_msg("case %zu: distance %.2e, %d steps of attention", i, d, steps.attending);
    }
}

/* Any number of threads: the same bits. */
static void test_threads(void **state)
{
    (void)state;
    static float one[MOST_OUTPUTS], some[MOST_OUTPUTS];
    const attention_case c = {3, 32, 32, 2, 7, 2, 10, 9, false, 0, false};
    counted steps;
    seed = 5;
    try_cpu(&c, false, SK_PRECISION_F32, 1, "", &steps, one);
    for (int threads = 2; threads <= 7; threads += 5) {
        seed = 5;
        try_cpu(&c, false, SK_PRECISION_F32, threads, "", &steps, some);
        assert_memory_equal(one, some, (size_t)2 * 24 * 10 * 9 * sizeof *one);
    }
}

/* What only looks like it, or has heads that begin within a block, is computed operation by operation, and right. */
static void test_not_ours(void **state)
{
    (void)state;
    static const attention_case others[] = {{2, 24, 32, 1, 3, 1, 5, 4, false, 0, false},
                                            {1, 32, 40, 1, 3, 1, 4, 4, true, 0, false}};
    static const attention_case joined[] = {{2, 32, 32, 1, 0, 1, 4, 5, false, 40, false},
                                            {1, 16, 16, 1, 0, 2, 3, 3, false, 8, false}};
    /* so large that only some elements are looked at, and of a count that once had them all at the beginning */
    const attention_case crossed = {5, 16, 240, 3, 0, 1, 3, 31, false, 0, true};
    const attention_case two = {2, 32, 32, 2, 0, 1, 4, 4, false, 0, false};
    counted steps;
    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++) { /* blocks that are not full */
        assert_true(try_cpu(&joined[i], false, SK_PRECISION_F32, 2, "", &steps, NULL) < 2e-6);
        assert_int_equal(steps.attending, 0);
    }
    assert_true(try_cpu(&crossed, false, SK_PRECISION_F32, 2, "", &steps, NULL) < 2e-6);
    assert_int_equal(steps.attending, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_true(try_cpu(&others[i], false, SK_PRECISION_F32, 2, "", &steps, NULL) < 2e-6);
        assert_int_equal(steps.attending, 0);
        assert_true(steps.products > 2);
    }
    assert_true(try_cpu(&two, true, SK_PRECISION_F32, 2, "", &steps, NULL) < 2e-6);
    assert_int_equal(steps.attending, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_step), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_threads), cmocka_unit_test(test_not_ours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
