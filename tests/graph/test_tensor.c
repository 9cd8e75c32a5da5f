/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "graph/tensor.h"

#include <math.h>
#include <string.h>

static void shapes(void **state)
{
    (void)state;
    char text[SK_SHAPE_TEXT];
    sk_shape shape = sk_shape_of(4, 1, 3, 640, 480);
    assert_int_equal(sk_shape_count(&shape), 3 * 640 * 480);
    assert_string_equal(sk_shape_text(&shape, text, sizeof text), "1x3x640x480");
    shape.dim[0] = -1;
    assert_false(sk_shape_known(&shape));
    assert_int_equal(sk_shape_count(&shape), -1);
    assert_string_equal(sk_shape_text(&shape, text, sizeof text), "?x3x640x480");
    sk_shape scalar = sk_shape_of(0);
    assert_int_equal(sk_shape_count(&scalar), 1);
    sk_shape huge = {.rank = 4, .dim = {INT64_MAX, INT64_MAX, 2, 2}};
    assert_int_equal(sk_shape_count(&huge), -1);
    huge.dim[2] = 0;
    assert_int_equal(sk_shape_count(&huge), 0);
    sk_shape longest = {
        .rank = 8, .dim = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 1}};
    char small[16];
    assert_int_equal(strlen(sk_shape_text(&longest, small, sizeof small)), 15);
}

/* Every half float survives the way to f32 and back; NaNs stay NaNs. */
static void halves_round_trip(void **state)
{
    (void)state;
    for (uint32_t h = 0; h <= 0xFFFF; h++) {
        float wide = sk_f16_to_f32((uint16_t)h);
        uint16_t back = sk_f32_to_f16(wide);
        if ((h & 0x7C00) == 0x7C00 && (h & 0x3FF))
            assert_true(isnan(wide) && (back & 0x7C00) == 0x7C00 && (back & 0x3FF));
        else
            assert_int_equal(back, h);
    }
}

static void halves_round_to_even(void **state)
{
    (void)state;
    assert_int_equal(sk_f32_to_f16(1.0f), 0x3C00);
    assert_int_equal(sk_f32_to_f16(1.0f + 0x1p-11f), 0x3C00);            /* tie, even below */
    assert_int_equal(sk_f32_to_f16(1.0f + 0x3p-11f), 0x3C02);            /* tie, even above */
    assert_int_equal(sk_f32_to_f16(1.0f + 0x1p-11f + 0x1p-20f), 0x3C01); /* above the tie */
    assert_int_equal(sk_f32_to_f16(65504.0f), 0x7BFF);
    assert_int_equal(sk_f32_to_f16(65519.9f), 0x7BFF);
    assert_int_equal(sk_f32_to_f16(65520.0f), 0x7C00);
    assert_int_equal(sk_f32_to_f16(-1e30f), 0xFC00);
    assert_int_equal(sk_f32_to_f16(0x1p-24f), 0x0001);
    assert_int_equal(sk_f32_to_f16(0x1p-25f), 0x0000); /* tie with zero */
    assert_int_equal(sk_f32_to_f16(0x3p-25f), 0x0002);
    assert_int_equal(sk_f32_to_f16(-0.0f), 0x8000);
}

static void conversions(void **state)
{
    (void)state;
    const float floats[6] = {-1.9f, 1.9f, 300.0f, -1e30f, NAN, INFINITY};
    int8_t i8[6];
    uint8_t u8[6];
    int64_t i64[6];
    sk_convert(SK_DTYPE_F32, floats, SK_DTYPE_I8, i8, 6);
    sk_convert(SK_DTYPE_F32, floats, SK_DTYPE_U8, u8, 6);
    sk_convert(SK_DTYPE_F32, floats, SK_DTYPE_I64, i64, 6);
    const int8_t want_i8[6] = {-1, 1, 127, -128, 0, 127};
    const uint8_t want_u8[6] = {0, 1, 255, 0, 0, 255};
    const int64_t want_i64[6] = {-1, 1, 300, INT64_MIN, 0, INT64_MAX};
    assert_memory_equal(i8, want_i8, sizeof i8);
    assert_memory_equal(u8, want_u8, sizeof u8);
    assert_memory_equal(i64, want_i64, sizeof i64);

    const int32_t wide[3] = {-1, 257, 0};
    uint8_t narrow[3], flags[3];
    sk_convert(SK_DTYPE_I32, wide, SK_DTYPE_U8, narrow, 3);
    sk_convert(SK_DTYPE_I32, wide, SK_DTYPE_BOOL, flags, 3);
    assert_memory_equal(narrow, ((uint8_t[]){255, 1, 0}), 3);
    assert_memory_equal(flags, ((uint8_t[]){1, 1, 0}), 3);

    const uint64_t big = UINT64_MAX;
    double as_double;
    sk_convert(SK_DTYPE_U64, &big, SK_DTYPE_F64, &as_double, 1);
    assert_true(as_double == 0x1p64);

    /* more than one chunk, and every pair of types carries small whole numbers unchanged */
    for (int from = SK_DTYPE_F32; from <= SK_DTYPE_U64; from++) {
        for (int to = SK_DTYPE_F32; to <= SK_DTYPE_U64; to++) {
            int64_t source[600], result[600];
            uint64_t a[600], b[600];
            for (int i = 0; i < 600; i++)
                source[i] = i % 100;
            sk_convert(SK_DTYPE_I64, source, (sk_dtype)from, a, 600);
            sk_convert((sk_dtype)from, a, (sk_dtype)to, b, 600);
            sk_convert((sk_dtype)to, b, SK_DTYPE_I64, result, 600);
            assert_memory_equal(source, result, sizeof source);
        }
    }
}

static void types_have_names_and_sizes(void **state)
{
    (void)state;
    static const struct {
        sk_dtype dtype;
        const char *name;
        size_t bytes;
        bool floating;
    } all[] = {{SK_DTYPE_NONE, "none", 0, false}, {SK_DTYPE_F32, "f32", 4, true},
               {SK_DTYPE_F16, "f16", 2, true},    {SK_DTYPE_BF16, "bf16", 2, true},
               {SK_DTYPE_F64, "f64", 8, true},    {SK_DTYPE_I8, "i8", 1, false},
               {SK_DTYPE_U8, "u8", 1, false},     {SK_DTYPE_I16, "i16", 2, false},
               {SK_DTYPE_U16, "u16", 2, false},   {SK_DTYPE_I32, "i32", 4, false},
               {SK_DTYPE_U32, "u32", 4, false},   {SK_DTYPE_I64, "i64", 8, false},
               {SK_DTYPE_U64, "u64", 8, false},   {SK_DTYPE_BOOL, "bool", 1, false},
               {SK_DTYPE_F8, "f8", 1, false},     {(sk_dtype)99, "invalid", 0, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_string_equal(sk_dtype_name(all[i].dtype), all[i].name);
        assert_int_equal(sk_dtype_bytes(all[i].dtype), all[i].bytes);
        assert_int_equal(sk_dtype_is_float(all[i].dtype), all[i].floating);
    }
}

/* What is no number stays none, however little says so; what has no end keeps its sign. */
static void no_numbers_stay_none(void **state)
{
    (void)state;
    static const uint32_t none[] = {0x7f800001u, 0xff800001u, 0x7f80ffffu, 0x7fc00000u, 0xffffffffu};
    static const sk_dtype types[] = {SK_DTYPE_BF16, SK_DTYPE_F16, SK_DTYPE_F64, SK_DTYPE_F8};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
            unsigned char there[8];
            float x, back;
            memcpy(&x, &none[i], sizeof x);
            sk_convert(SK_DTYPE_F32, &x, types[t], there, 1);
            sk_convert(types[t], there, SK_DTYPE_F32, &back, 1);
            if (!isnan(back))
                fail_msg("%08x became %g as %s", none[i], (double)back, sk_dtype_name(types[t]));
        }
        for (int sign = -1; sign < 2 && types[t] != SK_DTYPE_F8; sign += 2) {
            unsigned char there[8];
            float x = (float)sign * INFINITY, back;
            sk_convert(SK_DTYPE_F32, &x, types[t], there, 1);
            sk_convert(types[t], there, SK_DTYPE_F32, &back, 1);
            assert_true(back == x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_numbers_stay_none),
        cmocka_unit_test(types_have_names_and_sizes),
        cmocka_unit_test(shapes),
        cmocka_unit_test(halves_round_trip),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
