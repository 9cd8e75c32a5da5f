/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of eight bits with an exponent (e4m3): all 256 codes, rounding, what is beyond; values and weights in fp8, and what the
 * quantiser makes of them. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/f8_formula.h"
#include "graph/quantise_range.h"
#include "graph/quantise_weights.h"
#include "graph/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By what the format is: sign, exponent less 7, mantissa in eighths; whole 512ths below 2^-6. */
static double meaning(int code)
{
    const int exponent = code >> 3 & 15, mantissa = code & 7;
    const double magnitude = exponent == 0 ? mantissa / 512.0 : ldexp(1 + mantissa / 8.0, exponent - 7);
    return code & 128 ? -magnitude : magnitude;
}

static void every_code_means_what_it_is(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        const float number = sk_f8_number((uint8_t)code);
        if ((code & 127) == 127) {
            assert_true(isnan(number));
            continue;
        }
        assert_true((double)number == meaning(code) && (signbit(number) != 0) == (code >= 128));
        assert_int_equal(sk_f8_of(number), code);
    }
    static const struct {
        int code;
        float number;
    } some[] = {{0x00, 0},   {0x01, 1.0f / 512}, {0x07, 7.0f / 512}, {0x08, 1.0f / 64},
                {0x38, 1},   {0x39, 1.125f},     {0x3F, 1.875f},     {0x40, 2},
                {0x7E, 448}, {0xB8, -1},         {0xFE, -448.0f},    {0x81, -1.0f / 512}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_true(sk_f8_number((uint8_t)some[i].code) == some[i].number);
}

/* Between any two neighbours: below the middle down, above it up, in the middle to the even code. */
static void rounds_to_the_nearest_half_to_even(void **state)
{
    (void)state;
    for (int code = 0; code < 126; code++) {
        const double low = meaning(code), high = meaning(code + 1);
        const float middle = (float)((low + high) / 2); /* exact: four bits more than a code has are enough */
        for (int sign = 0; sign < 2; sign++) {
            const float side = sign ? -1.0f : 1.0f;
            assert_int_equal(sk_f8_of(side * middle), (sign << 7) | (code % 2 ? code + 1 : code));
            assert_int_equal(sk_f8_of(side * nextafterf(middle, 0)), (sign << 7) | code);
            assert_int_equal(sk_f8_of(side * nextafterf(middle, 1e9f)), (sign << 7) | (code + 1));
        }
    }
    assert_int_equal(sk_f8_of(1.0625f), 0x38); /* half way from 1 to 1.125: to the even one */
    assert_int_equal(sk_f8_of(1.1875f), 0x3A);
    assert_int_equal(sk_f8_of(0x1p-10f), 0x00);
    assert_int_equal(sk_f8_of(0x3p-10f), 0x02);
    assert_int_equal(sk_f8_of(1e-40f), 0x00);
    assert_int_equal(sk_f8_of(-1e-40f), 0x80);
}

static void saturates(void **state)
{
    (void)state;
    static const float beyond[] = {448, 449, 463.9f, 464, 465, 480, 512, 1e30f, INFINITY};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_int_equal(sk_f8_of(beyond[i]), 0x7E);
        assert_int_equal(sk_f8_of(-beyond[i]), 0xFE);
    }
    assert_int_equal(sk_f8_of(NAN), 0x7F);
    assert_int_equal(sk_f8_of(-NAN), 0x7F);
}

static void converts(void **state)
{
    (void)state;
    const float floats[4] = {1.0625f, -1000, NAN, -0.0f};
    const int64_t whole[3] = {-3, 449, 17}; /* 17 lies between 16 and 18 */
    uint8_t f8[4];
    int8_t i8[3];
    sk_convert(SK_DTYPE_F32, floats, SK_DTYPE_F8, f8, 4);
    assert_memory_equal(f8, ((uint8_t[]){0x38, 0xFE, 0x7F, 0x80}), 4);
    sk_convert(SK_DTYPE_I64, whole, SK_DTYPE_F8, f8, 3);
    assert_memory_equal(f8, ((uint8_t[]){0xC4, 0x7E, 0x58}), 3);
    sk_convert(SK_DTYPE_F8, f8, SK_DTYPE_I8, i8, 3);
    assert_memory_equal(i8, ((int8_t[]){-3, 127, 16}), 3);
    assert_int_equal(sk_dtype_bytes(SK_DTYPE_F8), 1);
    assert_string_equal(sk_dtype_name(SK_DTYPE_F8), "f8");
    assert_false(sk_dtype_is_float(SK_DTYPE_F8)); /* nothing computes in it */
}

/* --- in a graph --- */

static void begin(sk_builder *b)
{
    sk_error err;
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(b, graph);
}

static sk_graph *specialise(sk_builder *b, sk_shape shape)
{
    sk_error err;
    sk_graph *fixed = NULL;
    assert_ok(b->status, &b->error);
    assert_ok(sk_graph_specialise(b->graph, &shape, 1, &fixed, &err), &err);
    sk_graph_close(&b->graph);
    return fixed;
}

/* One scale, and one for each channel: q by hand, and what is read back. */
static void values_are_kept_by_their_scales(void **state)
{
    (void)state;
    static const float x[6] = {1, -3, 1000, 0.5f, NAN, -1e30f}, scales[3] = {0.5f, 2, 1};
    static const uint8_t one[6] = {0x40, 0xCC, 0x7E, 0x38, 0x7F, 0xFE}, /* x / 0.5: 2, -6, 2000, 1 */
        each[6] = {0x40, 0xBC, 0x7E, 0x38, 0x7F, 0xFE};                 /* -3 / 2; 1000 / 1; 0.5 / 0.5 */
    static const float back[6] = {1, -3, 224, 0.5f, NAN, -224};
    for (int many = 0; many < 2; many++) {
        sk_error err;
        sk_builder b;
        sk_tensor out[2];
        const sk_shape shape = sk_shape_of(2, 2, 3), list = many ? sk_shape_of(1, 3) : sk_shape_of(0);
        sk_attrs axis = {.quantise.axis = 1};
        begin(&b);
        sk_value s = sk_b_constant(&b, "s", SK_DTYPE_F32, &list, scales),
                 z = sk_b_constant(&b, "z", SK_DTYPE_F8, &list, "\0\0");
        sk_value q = sk_b_node(&b, SK_OP_QUANTIZE, &axis,
                               (sk_value[]){sk_b_input(&b, "x", SK_DTYPE_F32, NULL), s, z}, 3, "q");
        sk_b_output(&b, q, "q");
        sk_b_output(&b, sk_b_node(&b, SK_OP_DEQUANTIZE, &axis, (sk_value[]){q, s, z}, 3, "dq"), "y");
        sk_graph *graph = specialise(&b, shape);
        assert_true(sk_graph_is_quantised(graph) && sk_graph_is_f8(graph));
        sk_tensor given = {SK_DTYPE_F32, shape, (void *)(uintptr_t)x};
        assert_ok(sk_reference_run(graph, &given, 1, out, 2, &err), &err);
        assert_int_equal(out[0].dtype, SK_DTYPE_F8);
        assert_memory_equal(out[0].data, many ? each : one, 6);
        for (int i = 0; i < 6 && !many; i++)
            assert_true(((float *)out[1].data)[i] == back[i] ||
                        (isnan(back[i]) && isnan(((float *)out[1].data)[i])));
        assert_true(!many || ((float *)out[1].data)[1] == -3.0f);
        sk_free(out[0].data);
        sk_free(out[1].data);
        sk_graph_close(&graph);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        float scale;
        uint8_t zero;
        sk_dtype from;
        const char *says;
    } bad[] = {{0, 0, SK_DTYPE_F32, "scale 0 is 0"},
               {NAN, 0, SK_DTYPE_F32, "nan"},
               {INFINITY, 0, SK_DTYPE_F32, "scale 0 is inf"},
               {-1, 0, SK_DTYPE_F32, "scale 0 is -1"},
               {1, 0x38, SK_DTYPE_F32, "zero point 0 is 1; of f8 it must be 0"},
               {1, 0x7F, SK_DTYPE_F32, "of f8 it must be 0"},
               {1, 0, SK_DTYPE_I32, "floating point is needed"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_error err = {0};
        sk_graph *fixed = NULL;
        sk_builder b;
        const sk_shape one = {.rank = 0}, shape = sk_shape_of(1, 3);
        begin(&b);
        sk_value in[3] = {sk_b_input(&b, "x", bad[i].from, NULL), sk_b_f32(&b, bad[i].scale),
                          sk_b_constant(&b, "z", SK_DTYPE_F8, &one, &bad[i].zero)};
        sk_b_output(&b, sk_b_node(&b, SK_OP_QUANTIZE, NULL, in, 3, "hostile"), "y");
        assert_int_not_equal(sk_graph_specialise(b.graph, &shape, 1, &fixed, &err), SK_OK);
        if (!strstr(err.message, bad[i].says) || !strstr(err.message, "hostile"))
            fail_msg("\"%s\" does not say \"%s\" of 'hostile'", err.message, bad[i].says);
        sk_graph_close(&b.graph);
    }
}

/* --- the quantiser's numbers --- */

static void scales_reach_the_largest(void **state)
{
    (void)state;
    sk_quantise_scale s = sk_quantise_f8_scale_of(-3, 896);
    assert_true(s.scale == 2 && s.zero == 0);
    s = sk_quantise_f8_scale_of(-4480, 1);
    assert_true(s.scale == 10 && s.zero == 0);
    s = sk_quantise_f8_scale_of(0, 0);
    assert_true(s.scale == 1 && s.zero == 0);
    sk_range *r = calloc(1, sizeof *r);
    float x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = (float)(i - 100) / 100;                               /* -1 to 8.99 */
    assert_true(sk_range_f8_scale(r, SK_RANGE_ERROR, 0).scale == 1); /* nothing seen */
    sk_range_add(r, x, 1000);
    s = sk_range_f8_scale(r, SK_RANGE_ALL, 0);
    assert_true(s.scale == 8.99f / 448);
    const float part = sk_range_f8_scale(r, SK_RANGE_PERCENTILE, 90).scale;
    assert_true(part < s.scale && part > 0.9f * s.scale);
    /* a fifth beyond what was seen, and less than a power of two more */
    const float wide = sk_range_f8_scale(r, SK_RANGE_ERROR, 0).scale;
    assert_true(wide >= 1.19f * s.scale && wide < 2.4f * s.scale);
    free(r);
}

static void weights_are_near_and_keep_their_sum(void **state)
{
    (void)state;
    uint32_t seed = 11;
    float w[9 * 8], meant[9 * 8];
    uint8_t bytes[9 * 8];
    for (int i = 0; i < 72; i++) {
        seed = seed * 1664525u + 1013904223u;
        w[i] = (float)(int32_t)seed / 2147483648.0f * (i % 9 == 4 ? 1 : 0.2f);
    }
    const float scale = sk_quantise_weights(w, 72, 9, true, bytes, meant);
    for (int first = 0; first < 72; first += 9) {
        double off = 0;
        float smallest = INFINITY;
        for (int i = first; i < first + 9; i++) {
            assert_true(meant[i] == sk_f8_number(bytes[i]) * scale);
            /* the nearest, or its other neighbour: a step is an eighth at most, and 2^-9 of the scale at least */
            const float step = fmaxf(fabsf(w[i]) / 8, scale / 512);
            assert_true(fabsf(meant[i] - w[i]) <= 1.01f * step);
            smallest = fminf(smallest, step);
            off += (double)(w[i] - meant[i]);
        }
        if (!(fabs(off) <= 0.09)) /* half a step of the middle tap, the largest there is, at most */
            fail_msg("taps from %d on: %g off", first, off);
    }
    float zeros[9] = {0};
    assert_true(sk_quantise_weights(zeros, 9, 9, true, bytes, meant) == 1 && bytes[4] == 0 && meant[4] == 0);
    /* exact ones stay, and so does the largest */
    const float exact[4] = {448, -1, 0.5f, -2};
    assert_true(sk_quantise_weights(exact, 4, 1, true, bytes, meant) == 1);
    assert_memory_equal(bytes, ((uint8_t[]){0x7E, 0xB8, 0x30, 0xC0}), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_means_what_it_is),
        cmocka_unit_test(rounds_to_the_nearest_half_to_even),
        cmocka_unit_test(saturates),
        cmocka_unit_test(converts),
        cmocka_unit_test(values_are_kept_by_their_scales),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(scales_reach_the_largest),
        cmocka_unit_test(weights_are_near_and_keep_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
