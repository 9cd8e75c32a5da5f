/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bits, i8 and fp8, on the GPU of loops: every tile of bytes, what moves bytes without converting, what has no kernel of bytes, and what
 * is refused. */
#include "support/test.h"

#include "byte_cases.h"

static int used[512];

static void judge_step(const char *what, int32_t tile, double d)
{
    if (!(d < STEP_LIMIT))
        fail_msg("%s by %s: %.3f steps", what, gpu_config_at(tile)->name, d);
    used[tile]++;
}

static void judge_halves(const char *what, int32_t tile, double d)
{
    if (!(d < (in_f8 ? F8_LIMIT : TILE_LIMIT)))
        fail_msg("%s by %s: %.2e", what, gpu_config_at(tile)->name, d);
    used[tile] += gpu_config_at(tile)->then;
}

static void test_every_tile(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        layer l = layers[i];
        l.h = 4 + (int)i % 3;
        l.w = 5;
        check_byte_layer(&l, 1, judge_step, judge_halves);
    }
    for (int32_t i = 0; i < gpu_config_count(); i++)
        if (gpu_config_at(i)->floats == (in_f8 ? GPU_E4M3 : GPU_BYTES) && !used[i])
            fail_msg("no layer of the list can use %s", gpu_config_at(i)->name);
}

static void test_depthwise(void **state)
{
    (void)state;
    static const layer some[] = {{32, 32, 3, 1, 6, 7, 0, SK_UNARY_SILU, 32, 0},
                                 {16, 16, 3, 1, 5, 8, 1, 0, 16, 0}};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        int kinds[GPU_KIND_COUNT];
        const sk_shape shape = sk_shape_of(4, 2, some[i].cin, some[i].h, some[i].w);
        assert_true(byte_difference(byte_graph(&some[i], true), shape, byte_step(), kinds) < STEP_LIMIT);
        assert_int_equal(kinds[GPU_DEPTHWISE], 1);
        assert_int_equal(kinds[GPU_CONVERT], 1); /* the input */
    }
}

/* In fp8 a depthwise convolution has weights of floats, and reads and writes bytes all the same; in i8 it is computed by halves. */
static void test_depthwise_of_floats(void **state)
{
    (void)state;
    const sk_shape any = sk_shape_of(4, -1, 32, -1, -1);
    sk_graph *g = NULL;
    sk_error err = {0};
    sk_builder b;
    int kinds[GPU_KIND_COUNT];
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    const sk_value x =
        quantised(&b, sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, "x", SK_DTYPE_F32, &any)), STEP, 100);
    const sk_value y = conv(&b, x, 32, 32, 3, 1, 32, SK_UNARY_SILU, "deep");
    sk_b_output(&b, sk_b_unary(&b, SK_UNARY_NEG, as_bytes(&b, quantised(&b, y, STEP, 20), 32)), "y");
    assert_ok(b.status, &b.error);
    assert_true(byte_difference(g, sk_shape_of(4, 2, 32, 6, 7), byte_step(), kinds) < STEP_LIMIT);
    assert_int_equal(kinds[GPU_DEPTHWISE], 1);
    assert_int_equal(kinds[GPU_CONVERT], 1); /* of the input, or behind it */
}

/* Convolutions that no kernel of bytes computes: by halves, between two conversions. */
static void test_others(void **state)
{
    (void)state;
    static const layer some[] = {{32, 32, 3, 2, 6, 8, 0, SK_UNARY_SILU, 32, 0},
                                 {16, 24, 5, 1, 6, 5, 0, SK_UNARY_RELU, 1, 0},
                                 {32, 32, 1, 1, 4, 4, 0, SK_UNARY_GELU, 1, 0}};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        int kinds[GPU_KIND_COUNT];
        const sk_shape shape = sk_shape_of(4, 1, some[i].cin, some[i].h, some[i].w);
        assert_true(byte_difference(byte_graph(&some[i], true), shape, 0, kinds) < byte_limit());
    }
}

/* Nothing is converted on the way, and nothing copied where parts lie on multiples of 16. */
static void test_moving(void **state)
{
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        int kinds[GPU_KIND_COUNT];
        const sk_shape shape = sk_shape_of(4, 2, 32, 8, 12);
        const double d = byte_difference(moving_graph(32, odd), shape, 0, kinds);
        if (!(d < byte_limit()))
            fail_msg("%d: %.3e", odd, d);
        assert_int_equal(kinds[GPU_CONVERT], 1);
        assert_int_equal(kinds[GPU_POOL_CHAIN], 1);
        assert_int_equal(kinds[GPU_RESIZE] + kinds[GPU_POOL], 2);
        assert_int_equal(kinds[GPU_COPY] > 0, odd);
    }
}

static void test_doubled(void **state)
{
    (void)state;
    int kinds[GPU_KIND_COUNT];
    assert_true(byte_difference(doubled_graph(32), sk_shape_of(4, 2, 32, 8, 12), 0, kinds) < byte_limit());
    assert_int_equal(kinds[GPU_RESIZE] + kinds[GPU_COPY], 0);
    assert_int_equal(kinds[GPU_CONV], 4);
}

static void test_first(void **state)
{
    (void)state;
    assert_true(first_difference(16, 32, SK_UNARY_SILU, byte_step()) < STEP_LIMIT);
    assert_true(first_difference(32, 32, SK_UNARY_RELU, byte_step()) < STEP_LIMIT);
}

static void test_refused(void **state)
{
    (void)state;
    sk_graph *g = layer_graph(&layers[0]);
    sk_error err = {0};
    sk_session *session = NULL;
    sk_session_settings settings = sk_session_defaults();
    const sk_shape shape = sk_shape_of(4, 1, layers[0].cin, 8, 8);
    settings.precision = byte_precision();
    assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err),
                     SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "skitter quantize MODEL"));
    assert_non_null(strstr(err.message, in_f8 ? "precision fp8" : "precision i8"));
    sk_graph_close(&g);
}

/* A model of one kind is not computed as the other, and a card without fp8 says which has it. */
static void test_kinds_are_not_mixed_up(void **state)
{
    (void)state;
    extern int gpu_emulate_major, gpu_emulate_minor;
    const int major = gpu_emulate_major, minor = gpu_emulate_minor;
    for (int f8 = 0; f8 < 2; f8++) {
        in_f8 = f8;
        sk_graph *g = byte_graph(&layers[0], true);
        sk_error err = {0};
        sk_session *session = NULL;
        sk_session_settings settings = sk_session_defaults();
        const sk_shape shape = sk_shape_of(4, 1, layers[0].cin, 8, 8);
        strcpy(settings.options, "tune=off");
        settings.cache_dir = "";
        settings.precision = f8 ? SK_PRECISION_I8 : SK_PRECISION_FP8;
        assert_int_equal(sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err),
                         SK_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, f8 ? "in fp8, not in i8" : "not in fp8"));
        settings.precision = byte_precision();
        gpu_emulate_major = 8;
        for (gpu_emulate_minor = 0; gpu_emulate_minor < 10; gpu_emulate_minor++) {
            const sk_status status = sk_session_open(&gpu_engine, g, &shape, 1, &settings, &session, &err);
            assert_int_equal(status, f8 && gpu_emulate_minor < 9 ? SK_ERR_UNSUPPORTED : SK_OK);
            if (status != SK_OK)
                assert_non_null(strstr(err.message, "compute capability 8.9 or newer, and this one has 8."));
            sk_session_close(&session);
        }
        gpu_emulate_major = major;
        gpu_emulate_minor = minor;
        sk_graph_close(&g);
    }
    in_f8 = false;
}

static int to_f8(void **state)
{
    (void)state;
    in_f8 = true;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tile), cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_others),     cmocka_unit_test(test_first),
        cmocka_unit_test(test_moving),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_doubled),    cmocka_unit_test(test_depthwise_of_floats),
    };
    const struct CMUnitTest kinds[] = {cmocka_unit_test(test_kinds_are_not_mixed_up)};
    return cmocka_run_group_tests(tests, NULL, NULL) + cmocka_run_group_tests(kinds, NULL, NULL) +
           cmocka_run_group_tests_name("fp8", tests, to_f8, NULL);
}
