/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "engines/cpu/conv.h"
#include "engines/engine.h"
#include "random_graph.h"
#include "support/fault.h"

#include <stdio.h>
#include <string.h>

/* The CPU engine against the reference executor. */

static float *random_input(const sk_shape *shape, uint64_t seed)
{
    random_source r = {seed};
    int64_t count = sk_shape_count(shape);
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = random_unit(&r);
    return x;
}

/* Largest difference over all outputs, relative to the output's own largest value (at least 1). */
static double difference(const sk_tensor *a, const sk_tensor *b, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        const float *p = a[i].data, *q = b[i].data;
        size_t count = sk_tensor_bytes(&a[i]) / sizeof(float);
        double scale = 1, most = 0;
        assert_true(sk_shape_equal(&a[i].shape, &b[i].shape));
        for (size_t k = 0; k < count; k++) {
            double d = fabs((double)p[k] - (double)q[k]);
            scale = fabs((double)q[k]) > scale ? fabs((double)q[k]) : scale;
            if (!(d <= most))
                most = d;
        }
        worst = !(most / scale <= worst) ? most / scale : worst;
    }
    return worst;
}

static sk_session *open_on(const char *engine, const sk_graph *g, const sk_shape *shape,
                           const sk_session_settings *settings)
{
    sk_error err = {0};
    sk_session *s = NULL;
    sk_session_settings its = *settings;
    if (!sk_engine_find(engine)->options)
        its.options[0] = '\0';
    assert_ok(sk_session_open(sk_engine_find(engine), g, shape, 1, &its, &s, &err), &err);
    return s;
}

static sk_session_settings quick(int threads)
{
    sk_session_settings s = sk_session_defaults();
    s.threads = threads;
    strcpy(s.options, "tune=off");
    s.cache_dir = "";
    return s;
}

/* Runs one graph on the reference and on the CPU engine and returns the difference. */
static double compare(const sk_graph *g, const sk_shape *shape, const sk_session_settings *settings,
                      const float *x)
{
    sk_error err = {0};
    sk_session_settings plain = quick(1);
    sk_session *ref = open_on("reference", g, shape, &plain), *cpu = open_on("cpu", g, shape, settings);
    sk_tensor want[SK_SESSION_MAX_OUTPUTS], got[SK_SESSION_MAX_OUTPUTS];
    sk_session_input in = {.data = x};
    assert_ok(sk_session_run(ref, &in, 1, want, SK_SESSION_MAX_OUTPUTS, &err), &err);
    for (int i = 0; i < 2; i++) /* twice: the second run meets used memory */
        assert_ok(sk_session_run(cpu, &in, 1, got, SK_SESSION_MAX_OUTPUTS, &err), &err);
    double d = difference(got, want, sk_session_about(cpu)->n_outputs);
    sk_session_close(&ref);
    sk_session_close(&cpu);
    return d;
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = random_input(&shape, seed + 1000);
        sk_session_settings s = quick(1 + (int)(seed % 4));
        double d = compare(g, &shape, &s, x);
        if (!(d < 1e-4))
            fail_msg("seed %d: difference %g", (int)seed, d);
        strcpy(s.options, "tune=off,winograd=off");
        d = seed % 5 == 0 ? compare(g, &shape, &s, x) : 0;
        if (!(d < 2e-5))
            fail_msg("seed %d, direct: difference %g", (int)seed, d);
        free(x);
        sk_graph_close(&g);
    }
}

/* Reductions along every run of axes, kept or not: nothing is run by the reference executor. */
static void test_reductions_are_native(void **state)
{
    (void)state;
    static const sk_reduction kinds[] = {SK_REDUCE_SUM, SK_REDUCE_MEAN, SK_REDUCE_MAX, SK_REDUCE_MIN};
    for (int first = 0; first < 4; first++)
        for (int last = first; last < 4; last++)
            for (int k = 0; k < 8; k++) {
                sk_error err = {0};
                sk_graph *g = NULL;
                sk_builder b;
                sk_shape shape = sk_shape_of(4, 2, 3, 7, 5);
                int axes[4], n = 0;
                for (int i = first; i <= last; i++)
                    axes[n++] = i - (k & 1 ? 4 : 0);
                assert_ok(sk_graph_open(&g, &err), &err);
                sk_builder_init(&b, g);
                sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &shape);
                sk_b_output(&b, sk_b_reduce(&b, kinds[k / 2], x, axes, n, k & 1), "out");
                assert_int_equal(b.status, SK_OK);
                float *data = random_input(&shape, (uint64_t)(k + 1));
                sk_session_settings s = quick(2);
                assert_true(compare(g, &shape, &s, data) < 1e-6);
                sk_session *session = open_on("cpu", g, &shape, &s);
                assert_string_equal(sk_session_about(session)->elsewhere, "");
                sk_session_close(&session);
                free(data);
                sk_graph_close(&g);
            }
}

static void test_masks_agree(void **state)
{
    (void)state;
    static const char *const masks[] = {"none", "sse4.2", "avx2", "avx512"};
    for (uint64_t seed = 200; seed < 230; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = random_input(&shape, seed);
        for (int m = 0; m < 4; m++) {
            sk_session_settings s = quick(2);
            snprintf(s.options, sizeof s.options, "tune=off,mask=%s", masks[m]);
            double d = compare(g, &shape, &s, x);
            if (!(d < 1e-4))
                fail_msg("seed %d, mask %s: difference %g", (int)seed, masks[m], d);
        }
        free(x);
        sk_graph_close(&g);
    }
}

/* Pictures give what the same values as a tensor give. */
static void test_pictures(void **state)
{
    (void)state;
    sk_error err = {0};
    for (uint64_t seed = 0; seed < 40; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        int64_t n = shape.dim[0], c = shape.dim[1], h = shape.dim[2], w = shape.dim[3], row = w * c + 5;
        sk_session_settings s = quick(2);
        s.input = SK_INPUT_U8_HWC;
        s.scale = 1.0f / 128.0f;
        for (int i = 0; i < 4; i++) {
            s.mean[i] = 0.25f * (float)i;
            s.std[i] = 0.5f + 0.25f * (float)i;
        }
        sk_session *bytes = NULL;
        if (c > 4) {
            assert_int_equal(sk_session_open(sk_engine_find("cpu"), g, &shape, 1, &s, &bytes, &err),
                             SK_ERR_UNSUPPORTED);
            sk_graph_close(&g);
            continue;
        }
        uint8_t *u8 = malloc((size_t)(n * h * row));
        float *f = malloc((size_t)sk_shape_count(&shape) * sizeof *f);
        random_source r = {seed};
        for (int64_t i = 0; i < n * h * row; i++)
            u8[i] = (uint8_t)random_next(&r);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < c; k++)
                for (int64_t y = 0; y < h; y++)
                    for (int64_t x = 0; x < w; x++)
                        f[((i * c + k) * h + y) * w + x] =
                            ((float)u8[(i * h + y) * row + x * c + k] * s.scale - s.mean[k]) / s.std[k];
        bytes = open_on("cpu", g, &shape, &s);
        sk_session_settings t = quick(1);
        sk_session *floats = open_on("cpu", g, &shape, &t);
        sk_tensor a[32], b[32];
        sk_session_input in = {.data = u8, .row_bytes = row}, in_f = {.data = f};
        assert_ok(sk_session_run(bytes, &in, 1, a, 32, &err), &err);
        assert_ok(sk_session_run(floats, &in_f, 1, b, 32, &err), &err);
        double d = difference(a, b, sk_session_about(bytes)->n_outputs);
        if (!(d < 1e-5))
            fail_msg("seed %d: difference %g", (int)seed, d);
        sk_session_close(&bytes);
        sk_session_close(&floats);
        free(u8);
        free(f);
        sk_graph_close(&g);
    }
}

static void test_no_allocation(void **state)
{
    (void)state;
    sk_error err = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = random_input(&shape, seed);
        sk_session_settings settings = quick(2);
        settings.slots = 2;
        sk_session *s = open_on("cpu", g, &shape, &settings);
        sk_tensor a[32], b[32], c[32];
        sk_session_input in = {.data = x};
        assert_ok(sk_session_run(s, &in, 1, a, 32, &err), &err);
        bool helped = sk_session_about(s)->elsewhere[0] != 0;
        uint64_t before = sk_memory_allocations();
        for (int i = 0; i < 3; i++)
            assert_ok(sk_session_run(s, &in, 1, i % 2 ? b : c, 32, &err), &err);
        if (!helped)
            assert_int_equal(sk_memory_allocations() - before, 0);
        assert_ptr_equal(a[0].data, b[0].data); /* slots 0, 1, 0, 1: the same addresses every time */
        assert_ptr_not_equal(b[0].data, c[0].data);
        sk_session_close(&s);
        free(x);
        sk_graph_close(&g);
    }
}

static void test_slots(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = random_graph(7, &shape);
    float *x = random_input(&shape, 1), *y = random_input(&shape, 2);
    sk_session_settings settings = quick(2);
    settings.slots = 2;
    sk_session *s = open_on("cpu", g, &shape, &settings);
    sk_session_input ix = {.data = x}, iy = {.data = y};
    sk_tensor a[32], b[32], again[32];
    assert_int_equal(sk_session_wait(s, a, 32, &err), SK_ERR_ARG);
    assert_ok(sk_session_submit(s, &ix, 1, &err), &err);
    assert_ok(sk_session_submit(s, &iy, 1, &err), &err);
    assert_int_equal(sk_session_submit(s, &iy, 1, &err), SK_ERR_BUSY);
    assert_ok(sk_session_wait(s, a, 32, &err), &err);
    assert_ok(sk_session_wait(s, b, 32, &err), &err);
    size_t bytes = sk_tensor_bytes(&a[0]);
    float *first = malloc(bytes);
    memcpy(first, a[0].data, bytes);
    assert_memory_not_equal(a[0].data, b[0].data, bytes);
    assert_ok(sk_session_run(s, &ix, 1, again, 32, &err), &err);
    assert_memory_equal(first, again[0].data, bytes); /* the same bits again */
    free(first);
    assert_ok(sk_session_submit(s, &ix, 1, &err), &err);
    sk_session_close(&s); /* with one in flight */
    assert_null(s);
    free(x);
    free(y);
    sk_graph_close(&g);
}

static void test_bad_calls(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = random_graph(3, &shape);
    sk_session *s = NULL;
    sk_session_settings settings = quick(1);
    const sk_engine *cpu = sk_engine_find("cpu");
    assert_null(sk_engine_find("no such engine"));
    strcpy(settings.options, "mask=altivec");
    assert_int_equal(sk_session_open(cpu, g, &shape, 1, &settings, &s, &err), SK_ERR_ARG);
    assert_non_null(
        strstr(err.message, "the engine 'cpu' cannot have mask=altivec; it takes all|none|sse4.2"));
    settings = quick(1);
    settings.precision = SK_PRECISION_F16;
    assert_int_equal(sk_session_open(cpu, g, &shape, 1, &settings, &s, &err), SK_ERR_UNSUPPORTED);
    settings = quick(1);
    settings.slots = 99;
    assert_int_equal(sk_session_open(cpu, g, &shape, 1, &settings, &s, &err), SK_ERR_ARG);
    settings = quick(1);
    settings.size = 4;
    assert_int_equal(sk_session_open(cpu, g, &shape, 1, &settings, &s, &err), SK_ERR_ARG);
    settings = quick(1);
    sk_shape wrong = shape;
    wrong.dim[1] += 1;
    assert_int_not_equal(sk_session_open(cpu, g, &wrong, 1, &settings, &s, &err), SK_OK);
    assert_null(s);
    sk_graph_close(&g);
}

/* Opening must survive every failed allocation. */
static sk_status open_once(void *context, sk_error *err)
{
    sk_shape shape = *(sk_shape *)context;
    sk_graph *g = NULL;
    sk_session *s = NULL;
    sk_status status;
    SK_TRY_GOTO(sk_graph_open(&g, err));
    sk_builder b;
    sk_builder_init(&b, g);
    float w[16 * 3 * 9] = {0.1f}, bias[16] = {0};
    sk_shape any = sk_shape_of(4, -1, 3, -1, -1), ws = sk_shape_of(4, 16, 3, 3, 3), bs = sk_shape_of(1, 16);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &any);
    sk_value wv = sk_b_constant(&b, "", SK_DTYPE_F32, &ws, w),
             bv = sk_b_constant(&b, "", SK_DTYPE_F32, &bs, bias);
    sk_window win = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0};
    sk_value y = sk_b_unary(&b, SK_UNARY_SILU, sk_b_conv(&b, x, wv, bv, &win, 1, "c"));
    sk_value z[2] = {y, sk_b_max_pool(&b, y, 3, 1, 1, "p")};
    sk_b_output(&b, sk_b_concat(&b, z, 2, 1), "out");
    status = b.status;
    if (status != SK_OK) {
        *err = b.error;
        goto done;
    }
    sk_session_settings settings = quick(2);
    SK_TRY_GOTO(sk_session_open(sk_engine_find("cpu"), g, &shape, 1, &settings, &s, err));
done:
    sk_session_close(&s);
    sk_graph_close(&g);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    sk_shape shape = sk_shape_of(4, 1, 3, 16, 16);
    test_every_allocation(open_once, &shape);
}

/* A network whose shapes are worth measuring. */
static sk_graph *small_network(void)
{
    sk_error err = {0};
    sk_graph *g = NULL;
    random_source r = {5};
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder b;
    sk_builder_init(&b, g);
    sk_shape any = sk_shape_of(4, -1, 3, -1, -1);
    random_map x = {sk_b_input(&b, "images", SK_DTYPE_F32, &any), 3, 32, 32};
    x = random_conv(&b, &r, x, 32, 3, 2, 1);
    x = random_conv(&b, &r, x, 64, 3, 1, 1);
    x = random_conv(&b, &r, x, 64, 3, 2, 1);
    x = random_conv(&b, &r, x, 96, 1, 1, 1);
    sk_b_output(&b, x.v, "out");
    assert_int_equal(b.status, SK_OK);
    return g;
}

static void write_text(const char *path, const char *text, size_t bytes)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(path, text, bytes, &err), &err);
}

/* The file with one of its six numbers set to a digit on every line. */
static void write_changed(const char *path, const char *text, int field, char digit)
{
    char *changed = malloc(2 * strlen(text) + 1), *out = changed;
    assert_non_null(changed);
    int column = -1; /* the key comes first */
    for (const char *in = text; *in; in++) {
        const bool number = column >= 0 && column < 6;
        if (*in == ' ')
            column++;
        else if (*in == '\n')
            column = -1;
        if (!(number && column == field && *in != ' '))
            *out++ = *in;
        if (*in == ' ' && column == field)
            *out++ = digit;
    }
    write_text(path, changed, (size_t)(out - changed));
    free(changed);
}

/* What was measured is kept; a damaged file costs nothing but another measurement. */
static void test_tuning_is_kept(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *g = small_network();
    sk_shape shape = sk_shape_of(4, 1, 3, 32, 32);
    float *x = random_input(&shape, 9);
    char folder[300], path[400];
    snprintf(folder, sizeof folder, "%s/tuning", test_folder());
    snprintf(path, sizeof path, "%s/cpu-kernels-3.txt", folder);
    sk_session_settings settings = quick(2);
    settings.options[0] = 0;
    settings.cache_dir = folder;
    assert_true(compare(g, &shape, &settings, x) < 1e-4);
    char *first = NULL, *second = NULL;
    size_t n1, n2;
    assert_ok(sk_file_read(path, 1 << 20, &first, &n1, &err), &err);
    assert_true(n1 > 100);
    assert_true(compare(g, &shape, &settings, x) < 1e-4);
    assert_ok(sk_file_read(path, 1 << 20, &second, &n2, &err), &err);
    assert_string_equal(first, second);          /* read, not measured again */
    for (int digit = '0'; digit <= '9'; digit++) /* choices that are not possible, or not meant */
        for (int field = 0; field < 6; field++) {
            write_changed(path, second, field, (char)digit);
            assert_true(compare(g, &shape, &settings, x) < 1e-4);
        }
    char noise[3000];
    random_source r = {3};
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)random_next(&r);
    write_text(path, noise, sizeof noise);
    assert_true(compare(g, &shape, &settings, x) < 1e-4);
    write_text(path, second, n2 / 2);
    assert_true(compare(g, &shape, &settings, x) < 1e-4);
    sk_free(first);
    sk_free(second);
    settings.cache_dir = "/proc/no such folder"; /* cannot be made: works without */
    assert_true(compare(g, &shape, &settings, x) < 1e-4);
    free(x);
    sk_graph_close(&g);
}

/* Bytes of all outputs of one run. */
static uint8_t *bits_of(const sk_graph *g, const sk_shape *shape, const sk_session_settings *settings,
                        const float *x, size_t *bytes)
{
    sk_error err = {0};
    sk_session *s = open_on("cpu", g, shape, settings);
    sk_tensor out[SK_SESSION_MAX_OUTPUTS];
    sk_session_input in = {.data = x};
    assert_ok(sk_session_run(s, &in, 1, out, SK_SESSION_MAX_OUTPUTS, &err), &err);
    *bytes = 0;
    for (int32_t i = 0; i < sk_session_about(s)->n_outputs; i++)
        *bytes += sk_tensor_bytes(&out[i]);
    uint8_t *all = malloc(*bytes), *at = all;
    for (int32_t i = 0; i < sk_session_about(s)->n_outputs; i++) {
        memcpy(at, out[i].data, sk_tensor_bytes(&out[i]));
        at += sk_tensor_bytes(&out[i]);
    }
    sk_session_close(&s);
    return all;
}

/* However many threads share the work, and whatever the clock said of kernels, no bit changes. */
static void test_bits_are_the_same(void **state)
{
    (void)state;
    static const char *const masks[] = {NULL, "avx2", "sse4.2", "none"};
    for (uint64_t seed = 0; seed < 32; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        float *x = random_input(&shape, seed + 2000);
        uint8_t *first = NULL;
        size_t bytes = 0, n = 0;
        for (int threads = 1; threads <= 5; threads++) {
            sk_session_settings s = quick(threads);
            snprintf(s.options, sizeof s.options, "mask=%s,tune=%d",
                     masks[seed % 4] ? masks[seed % 4] : "all", (int)(seed + (uint64_t)threads) % 2);
            uint8_t *got = bits_of(g, &shape, &s, x, &n);
            if (first && (n != bytes || memcmp(first, got, n) != 0))
                fail_msg("seed %d: other bits with %d threads", (int)seed, threads);
            if (first)
                free(got);
            else
                first = got;
            bytes = n;
        }
        free(first);
        free(x);
        sk_graph_close(&g);
    }
}

/* Sessions on the same weights share one packed copy, at any size. */
static void test_weights_are_shared(void **state)
{
    (void)state;
    sk_graph *g = small_network();
    sk_shape small = sk_shape_of(4, 1, 3, 32, 32), large = sk_shape_of(4, 2, 3, 64, 64);
    sk_session_settings settings = quick(1);
    int32_t none = cpu_packed_live();
    sk_session *a = open_on("cpu", g, &small, &settings);
    int32_t one = cpu_packed_live();
    assert_int_equal(one - none, 4);
    sk_session *b = open_on("cpu", g, &small, &settings), *c = open_on("cpu", g, &large, &settings);
    assert_int_equal(cpu_packed_live(), one);
    sk_session_close(&a);
    sk_session_close(&b);
    assert_int_equal(cpu_packed_live(), one);
    sk_session_close(&c);
    assert_int_equal(cpu_packed_live(), none);
    sk_graph_close(&g);
}

static void test_profile(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_graph *g = small_network();
    sk_shape shape = sk_shape_of(4, 1, 3, 32, 32);
    float *x = random_input(&shape, 1);
    for (int threads = 1; threads < 3; threads++) {
        sk_session_settings settings = quick(threads);
        sk_session *s = open_on("cpu", g, &shape, &settings);
        sk_profile_row rows[32];
        int32_t count = 0;
        sk_session_input in = {.data = x};
        assert_int_equal(sk_session_profile(s, rows, 32, &count, &err), SK_ERR_ARG);
        assert_ok(sk_session_profile_start(s, &err), &err);
        for (int i = 0; i < 3; i++)
            assert_ok(sk_session_run(s, &in, 1, NULL, 0, &err), &err);
        assert_ok(sk_session_profile(s, rows, 32, &count, &err), &err);
        assert_int_equal(count, 5); /* four convolutions and the output's reordering */
        double flops = 0;
        for (int i = 0; i < count; i++) {
            assert_true(rows[i].min_us >= 0 && rows[i].mean_us >= rows[i].min_us);
            flops += rows[i].flops;
        }
        assert_true(fabs(flops - sk_session_about(s)->flops) < 1e-3 * flops);
        sk_session_close(&s);
        sk_session_settings plain = quick(1);
        s = open_on("reference", g, &shape, &plain);
        assert_int_equal(sk_session_profile_start(s, &err), SK_ERR_UNSUPPORTED);
        sk_session_close(&s);
    }
    free(x);
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),  cmocka_unit_test(test_reductions_are_native),
        cmocka_unit_test(test_masks_agree),    cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_no_allocation),  cmocka_unit_test(test_slots),
        cmocka_unit_test(test_bad_calls),      cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_tuning_is_kept), cmocka_unit_test(test_weights_are_shared),
        cmocka_unit_test(test_profile),        cmocka_unit_test(test_bits_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
