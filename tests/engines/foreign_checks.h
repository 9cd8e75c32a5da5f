/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_FOREIGN_CHECKS_H
#define SK_TESTS_ENGINES_FOREIGN_CHECKS_H

#include "base/memory.h"
#include "engines/engine.h"
#include "random_graph.h"
#include "support/fault.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is checked alike for every engine that loads somebody else's runtime. FOREIGN_ENGINE names it.
 * Where the runtime is absent these tests are skipped; wrong libraries are tried everywhere. */

static inline void foreign_or_skip(void)
{
    sk_engine_probe probe = {0};
    sk_error err = {0};
    assert_ok(sk_engine_find(FOREIGN_ENGINE)->probe(&probe, &err), &err);
    if (!probe.available) {
        print_message("skipped: %s\n", probe.detail);
        skip();
    }
}

/* Probes in a process of its own with `variable` set, and gives the probe back. */
static inline sk_engine_probe probe_with(const char *variable, const char *value)
{
    sk_engine_probe probe = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sk_error err = {0};
        setenv(variable, value, 1);
        sk_status status = sk_engine_find(FOREIGN_ENGINE)->probe(&probe, &err);
        ssize_t written = write(ends[1], &probe, sizeof probe);
        _exit(status == SK_OK && written == (ssize_t)sizeof probe ? 0 : 1);
    }
    close(ends[1]);
    size_t have = 0;
    for (ssize_t n;
         have < sizeof probe && (n = read(ends[0], (char *)&probe + have, sizeof probe - have)) > 0;)
        have += (size_t)n;
    close(ends[0]);
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (ended != 0)
        fail_msg("%s=%s: the probe ended with %d", variable, value, ended);
    assert_int_equal(have, sizeof probe);
    return probe;
}

static inline void refuses(const char *variable, const char *value, const char *reason)
{
    sk_engine_probe probe = probe_with(variable, value);
    if (probe.available || !strstr(probe.detail, reason))
        fail_msg("%s=%s: available %d, '%s' (expected: %s)", variable, value, probe.available, probe.detail,
                 reason);
}

static inline float *foreign_input(const sk_shape *shape, uint64_t seed)
{
    random_source r = {seed};
    int64_t count = sk_shape_count(shape);
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = random_unit(&r);
    return x;
}

/* Largest difference relative to the largest value (at least 1). */
static inline double foreign_difference(const sk_tensor *a, const sk_tensor *b, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        const float *p = a[i].data, *q = b[i].data;
        size_t count = sk_tensor_bytes(&a[i]) / sizeof(float);
        double scale = 1, most = 0;
        assert_true(sk_shape_equal(&a[i].shape, &b[i].shape));
        for (size_t k = 0; k < count; k++) {
            double d = fabs((double)p[k] - (double)q[k]);
            scale = fmax(scale, fabs((double)q[k]));
            if (!(d <= most))
                most = d;
        }
        worst = !(most / scale <= worst) ? most / scale : worst;
    }
    return worst;
}

static inline sk_session_settings foreign_settings(int threads)
{
    sk_session_settings s = sk_session_defaults();
    s.threads = threads;
    s.cache_dir = "";
    return s;
}

static inline sk_session *foreign_open(const char *engine, const sk_graph *g, const sk_shape *shape,
                                       const sk_session_settings *settings)
{
    sk_error err = {0};
    sk_session *s = NULL;
    assert_ok(sk_session_open(sk_engine_find(engine), g, shape, 1, settings, &s, &err), &err);
    return s;
}

static inline double foreign_compare(const sk_graph *g, const sk_shape *shape,
                                     const sk_session_settings *settings, const void *x)
{
    sk_error err = {0};
    sk_session_settings plain = *settings;
    plain.slots = 1;
    plain.precision = SK_PRECISION_F32;
    sk_session *want = foreign_open("reference", g, shape, &plain),
               *got = foreign_open(FOREIGN_ENGINE, g, shape, settings);
    sk_tensor a[SK_SESSION_MAX_OUTPUTS], b[SK_SESSION_MAX_OUTPUTS];
    sk_session_input in = {.data = x};
    assert_ok(sk_session_run(want, &in, 1, a, SK_SESSION_MAX_OUTPUTS, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(sk_session_run(got, &in, 1, b, SK_SESSION_MAX_OUTPUTS, &err), &err);
    double d = foreign_difference(b, a, sk_session_about(got)->n_outputs);
    sk_session_close(&want);
    sk_session_close(&got);
    return d;
}

/* conv, silu, max pool, both resizes, concat, and a small attention: transpose, matmul, softmax. */
static inline sk_graph *named_graph(sk_shape *shape)
{
    random_source r = {11};
    sk_error err;
    sk_graph *g = NULL;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder b;
    sk_builder_init(&b, g);
    *shape = sk_shape_of(4, 2, 3, 24, 16);
    sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, shape);
    sk_shape w1 = sk_shape_of(4, 8, 3, 3, 3), b1 = sk_shape_of(1, 8), w2 = sk_shape_of(4, 8, 24, 1, 1);
    sk_window one = {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0}, two = {{1, 1}, {1, 1}, {1, 1}, {0}, 0};
    sk_value y = sk_b_conv(&b, x, random_constant(&b, &r, &w1, 0.4f), random_constant(&b, &r, &b1, 0.2f),
                           &one, 1, "c1");
    y = sk_b_unary(&b, SK_UNARY_SILU, y);
    sk_value small = sk_b_max_pool(&b, y, 2, 2, 0, "p");
    sk_value parts[3] = {y, sk_b_upsample_nearest(&b, small, 2.0f), sk_b_upsample_linear(&b, small, 2.0f)};
    sk_value z = sk_b_concat(&b, parts, 3, 1);
    z = sk_b_conv(&b, z, random_constant(&b, &r, &w2, 0.3f), SK_VALUE_NONE, &two, 1, "c2");
    sk_b_output(&b, z, "maps");
    int64_t rows[3] = {2, 8, 96};
    sk_value flat = sk_b_reshape(&b, z, rows, 3);
    sk_value turned = sk_b_transpose(&b, flat, (const int[3]){0, 2, 1}, 3);
    sk_value weight = sk_b_softmax(&b, sk_b_matmul(&b, flat, turned), 2);
    sk_b_output(&b, sk_b_matmul(&b, weight, flat), "attended");
    if (b.status != SK_OK)
        fail_msg("builder: %s", b.error.message);
    return g;
}

static void test_named_graph(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    float *x = foreign_input(&shape, 5);
    sk_session_settings s = foreign_settings(2);
    double d = foreign_compare(g, &shape, &s, x);
    if (!(d < 1e-4))
        fail_msg("difference %g", d);
    free(x);
    sk_graph_close(&g);
}

static void test_random_graphs(void **state)
{
    (void)state;
    foreign_or_skip();
    for (uint64_t seed = 0; seed < 25; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = foreign_input(&shape, seed + 1000);
        sk_session_settings s = foreign_settings(1 + (int)(seed % 2));
        double d = foreign_compare(g, &shape, &s, x);
        if (!(d < 1e-4))
            fail_msg("seed %d: difference %g", (int)seed, d);
        free(x);
        sk_graph_close(&g);
    }
}

static void test_pictures(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    uint8_t u8[2 * 24 * 16 * 3];
    random_source r = {3};
    for (size_t i = 0; i < sizeof u8; i++)
        u8[i] = (uint8_t)random_next(&r);
    sk_session_settings s = foreign_settings(1);
    s.input = SK_INPUT_U8_HWC;
    s.mean[1] = 0.25f;
    s.std[2] = 0.5f;
    double d = foreign_compare(g, &shape, &s, u8);
    if (!(d < 1e-4))
        fail_msg("difference %g", d);
    sk_graph_close(&g);
}

/* Two slots: outputs at the same addresses every time, the other slot's untouched, nothing allocated by
 * us. */
static void test_slots(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    float *x = foreign_input(&shape, 1), *y = foreign_input(&shape, 2);
    sk_session_settings settings = foreign_settings(1);
    settings.slots = 2;
    sk_session *s = foreign_open(FOREIGN_ENGINE, g, &shape, &settings);
    sk_session_input ix = {.data = x}, iy = {.data = y};
    sk_tensor a[32], b[32], again[32];
    uint64_t before = sk_memory_allocations();
    assert_ok(sk_session_submit(s, &ix, 1, &err), &err);
    assert_ok(sk_session_submit(s, &iy, 1, &err), &err);
    assert_ok(sk_session_wait(s, a, 32, &err), &err);
    assert_ok(sk_session_wait(s, b, 32, &err), &err);
    assert_memory_not_equal(a[0].data, b[0].data, sk_tensor_bytes(&a[0]));
    assert_int_equal((uintptr_t)a[0].data % 64, 0);
    float first = *(float *)a[0].data;
    assert_ok(sk_session_run(s, &iy, 1, again, 32, &err), &err);
    assert_int_equal(sk_memory_allocations() - before, 0);
    assert_ptr_equal(again[0].data, a[0].data);
    assert_memory_equal(again[0].data, b[0].data, sk_tensor_bytes(&b[0]));
    assert_true(first != *(float *)again[0].data);
    sk_session_close(&s);
    free(x);
    free(y);
    sk_graph_close(&g);
}

static void *run_many(void *context)
{
    sk_session *s = context;
    const sk_shape *shape = &sk_session_about(s)->inputs[0].shape;
    float *x = foreign_input(shape, 4);
    sk_session_input in = {.data = x};
    sk_tensor first[32], out[32];
    sk_error err = {0};
    intptr_t bad = sk_session_run(s, &in, 1, first, 32, &err) != SK_OK;
    float want = bad ? 0 : *(float *)first[0].data;
    for (int i = 0; i < 40 && !bad; i++)
        bad = sk_session_run(s, &in, 1, out, 32, &err) != SK_OK || *(float *)out[0].data != want;
    free(x);
    return (void *)bad;
}

static void test_two_at_once(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    sk_session_settings settings = foreign_settings(1);
    sk_session *s[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        s[i] = foreign_open(FOREIGN_ENGINE, g, &shape, &settings);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, s[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        assert_null(bad);
        sk_session_close(&s[i]);
    }
    sk_graph_close(&g);
}

static sk_status open_and_close(void *context, sk_error *err)
{
    sk_shape shape = sk_shape_of(4, 2, 3, 24, 16);
    sk_session_settings settings = foreign_settings(1);
    sk_session *s = NULL;
    sk_status status =
        sk_session_open(sk_engine_find(FOREIGN_ENGINE), context, &shape, 1, &settings, &s, err);
    sk_session_close(&s);
    return status;
}

/* Opening survives every failed allocation of ours, and leaks nothing. */
static void test_out_of_memory(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    assert_true(test_every_allocation(open_and_close, g) > 10);
    sk_graph_close(&g);
}

/* Settings that this engine cannot keep are refused, not ignored. */
static void test_refused_settings(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    sk_session *s = NULL;
    sk_session_settings settings = foreign_settings(1);
    settings.precision = FOREIGN_REFUSES;
    assert_int_equal(sk_session_open(sk_engine_find(FOREIGN_ENGINE), g, &shape, 1, &settings, &s, &err),
                     SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "f32, or to another that 'skitter runtimes' lists"));
    settings = foreign_settings(1);
    strcpy(settings.options, "mask=avx2"); /* another engine's */
    assert_int_equal(sk_session_open(sk_engine_find(FOREIGN_ENGINE), g, &shape, 1, &settings, &s, &err),
                     SK_ERR_ARG);
    assert_non_null(strstr(err.message, "has no option 'mask'"));
    sk_graph_close(&g);
}

#endif
