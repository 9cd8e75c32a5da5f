/* SPDX-License-Identifier: Apache-2.0 */
/* The small convolution that an engine has to get right before it is offered: what it is given, and which wrong answers are
 * found out. */
#include "support/fault.h"

#include "runtime/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHANNELS = 2, OUTPUTS = 3, SIDE = 8, PLANE = SIDE * SIDE };

static float seen[CHANNELS * PLANE], right[OUTPUTS * PLANE], weights[OUTPUTS * CHANNELS * 9];
static sk_session_settings asked;
static void (*spoil)(float *y);

static sk_status look_and_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                               sk_error *err)
{
    asked = *settings;
    sk_session_settings plain = *settings;
    plain.precision = SK_PRECISION_F32;
    for (size_t i = 0; i < graph->n_values; i++) {
        const sk_value_info *v = &graph->values[i];
        if (v->blob && v->shape.rank == 4) {
            assert_int_equal(sk_shape_count(&v->shape), OUTPUTS * CHANNELS * 9);
            memcpy(weights, (const char *)sk_blob_data(v->blob) + v->offset, sizeof weights);
        }
    }
    return sk_engine_reference.open(graph, &plain, out, err);
}

static sk_status look_and_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,
                                 sk_error *err)
{
    memcpy(seen, inputs[0].data, sizeof seen);
    return sk_engine_reference.submit(session, slot, inputs, err);
}

static sk_status wait_and_spoil(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    SK_TRY(sk_engine_reference.wait(session, slot, outputs, err));
    memcpy(right, outputs[0], sizeof right);
    if (spoil)
        spoil(outputs[0]);
    return SK_OK;
}

static sk_status try_engine(sk_error *err)
{
    static const sk_engine_form form = {.name = "onnx"};
    sk_engine e = sk_engine_reference;
    e.open = look_and_open;
    e.submit = look_and_submit;
    e.wait = wait_and_spoil;
    e.form = &form;
    return sk_runtime_trial(&e, err);
}

/* Every eighth and quarter up to the same size on both sides of 0, which all precisions hold exactly; neighbours differ, so
 * that one that is taken for another shows. */
static void check_numbers(const float *x, int count, int most, float step)
{
    for (int i = 0; i < count; i++) {
        assert_true(x[i] == roundf(x[i] / step) * step);
        assert_true(fabsf(x[i]) <= (float)most * step);
        assert_true(i == 0 || x[i] != x[i - 1]);
    }
    for (int k = -most; k <= most; k++) {
        int times = 0;
        for (int i = 0; i < count; i++)
            times += x[i] == (float)k * step;
        assert_true(times >= 2);
    }
}

/* A 3x3 convolution by its definition. */
static float by_hand(int o, int row, int column)
{
    static const float bias[OUTPUTS] = {0.5f, -1, 2};
    float sum = bias[o];
    for (int c = 0; c < CHANNELS; c++)
        for (int k = 0; k < 9; k++) {
            const int y = row + k / 3 - 1, x = column + k % 3 - 1;
            if (y >= 0 && y < SIDE && x >= 0 && x < SIDE)
                sum += weights[(o * CHANNELS + c) * 9 + k] * seen[c * PLANE + y * SIDE + x];
        }
    return sum;
}

static void it_is_a_convolution(void **state)
{
    (void)state;
    sk_error err = {0};
    spoil = NULL;
    assert_ok(try_engine(&err), &err);
    check_numbers(seen, CHANNELS * PLANE, 6, 0.25f);
    check_numbers(weights, OUTPUTS * CHANNELS * 9, 5, 0.125f);
    for (int i = 0; i < OUTPUTS * PLANE; i++)
        assert_float_equal(right[i], by_hand(i / PLANE, i / SIDE % SIDE, i % SIDE), 1e-5f);
    /* nothing of it is kept, and no file is made for it */
    assert_int_equal(asked.threads, 1);
    assert_int_equal(asked.precision, SK_PRECISION_F32);
}

static sk_status support_all(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    (void)graph, (void)settings, (void)err;
    return SK_OK;
}

/* An engine that reads files is asked in f32, for which it needs none; another in what it usually computes in. */
static void it_is_asked_as_usual(void **state)
{
    (void)state;
    static const sk_engine_form form = {.name = "onnx"};
    for (int reads = 0; reads < 2; reads++) {
        sk_error err = {0};
        sk_engine e = sk_engine_reference;
        e.open = look_and_open;
        e.supports = support_all;
        e.form = reads ? &form : NULL;
        e.can.usual = SK_PRECISION_F16;
        e.can.precisions |= 1u << SK_PRECISION_F16 | 1u << SK_PRECISION_F32;
        assert_ok(sk_runtime_trial(&e, &err), &err);
        assert_int_equal(asked.precision, reads ? SK_PRECISION_F32 : SK_PRECISION_F16);
        assert_int_equal(asked.threads, 1);
        assert_string_equal(asked.cache_dir, "");
    }
}

static sk_status try_it(void *context, sk_error *err)
{
    (void)context;
    return try_engine(err);
}

static void nothing_is_left_of_it(void **state)
{
    (void)state;
    spoil = NULL;
    test_leaves_nothing(try_it, NULL);
    assert_true(test_every_allocation(try_it, NULL) > 5);
}

static int place;
static float by;
static void add(float *y)
{
    y[place] += by;
}

/* Each of its numbers counts, up and down; rounding does not. */
static void every_number_counts(void **state)
{
    (void)state;
    spoil = add;
    for (place = 0; place < OUTPUTS * PLANE; place += place < OUTPUTS * PLANE - 6 ? 5 : 1)
        for (int k = 0; k < 5; k++) {
            static const float bys[] = {0.0005f, -0.0005f, 0.002f, -0.002f, NAN};
            sk_error err = {0};
            by = bys[k];
            const sk_status status = try_engine(&err);
            assert_int_equal(status, k < 2 ? SK_OK : SK_ERR_MISMATCH);
            if (k >= 2) {
                char want[160];
                snprintf(want, sizeof want, "a small convolution gave %g where %g is right",
                         (double)(right[place] + by), (double)right[place]);
                assert_non_null(strstr(err.message, want));
            }
        }
}

static void turn(float *y)
{
    for (int i = 0; i < OUTPUTS * PLANE; i++)
        y[i] = right[i / PLANE * PLANE + i % SIDE * SIDE + i / SIDE % SIDE];
}

static void flip(float *y)
{
    for (int i = 0; i < OUTPUTS * PLANE; i++)
        y[i] = right[i / SIDE * SIDE + SIDE - 1 - i % SIDE];
}

static void interleave(float *y)
{
    for (int i = 0; i < OUTPUTS * PLANE; i++)
        y[i] = right[i % OUTPUTS * PLANE + i / OUTPUTS];
}

static void exchange(float *y)
{
    memcpy(y, right + PLANE, PLANE * sizeof *y);
    memcpy(y + PLANE, right, PLANE * sizeof *y);
}

static void shift(float *y)
{
    memcpy(y + 1, right, (OUTPUTS * PLANE - 1) * sizeof *y);
}

static void forget(float *y)
{
    memset(y, 0, OUTPUTS * PLANE * sizeof *y);
}

static void mixed_up_layouts_are_found_out(void **state)
{
    (void)state;
    static void (*const ways[])(float *) = {turn, flip, interleave, exchange, shift, forget};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        sk_error err = {0};
        spoil = ways[i];
        if (try_engine(&err) != SK_ERR_MISMATCH)
            fail_msg("way %zu", i);
        assert_non_null(strstr(err.message, "it computes wrong numbers"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_convolution),
        cmocka_unit_test(it_is_asked_as_usual),
        cmocka_unit_test(nothing_is_left_of_it),
        cmocka_unit_test(every_number_counts),
        cmocka_unit_test(mixed_up_layouts_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
