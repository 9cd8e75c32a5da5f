/* SPDX-License-Identifier: Apache-2.0 */
/* How alike two lists of outputs are, part by part, and what is still the same network. */
#include "support/test.h"

#include "engines/tolerance.h"
#include "runtime/model_artifact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 2, CLASSES = 3, EXTRA = 2, CHANNELS = 4 + CLASSES + EXTRA, ANCHORS = 5 };
static float ours[BATCH * CHANNELS * ANCHORS], theirs[BATCH * CHANNELS * ANCHORS];

static void fill(void)
{
    for (int i = 0; i < BATCH * CHANNELS * ANCHORS; i++) {
        const int channel = i / ANCHORS % CHANNELS;
        ours[i] = channel < 4 ? (float)(100 + 37 * i % 200) : (float)(i * 29 % 64) / 100;
        theirs[i] = ours[i];
    }
}

static sk_tensor whole(float *data)
{
    return (sk_tensor){
        .dtype = SK_DTYPE_F32, .shape = sk_shape_of(3, BATCH, CHANNELS, ANCHORS), .data = data};
}

/* A difference counts by the largest value of its own part: a score's is not hidden behind boxes that are a thousand times
 * larger. */
static void parts_are_looked_at_apart(void **state)
{
    (void)state;
    sk_model m = {.n_classes = CLASSES, .n_outputs = 1};
    m.outputs[0].kind = SK_OUTPUT_YOLO;
    for (int batch = 0; batch < BATCH; batch++)
        for (int channel = 0; channel < CHANNELS; channel++)
            for (int anchor = 0; anchor < ANCHORS; anchor++) {
                const int at = (batch * CHANNELS + channel) * ANCHORS + anchor;
                fill();
                theirs[at] += 0.5F;
                const sk_tensor got = whole(theirs), want = whole(ours);
                const sk_parity apart = sk_parity_compare(&got, &want, 1, &m);
                const sk_parity together = sk_parity_compare(&got, &want, 1, NULL);
                float most = 0; /* of its part */
                const int first = channel < 4             ? 0
                                  : channel < 4 + CLASSES ? 4
                                                          : 4 + CLASSES,
                          end = channel < 4             ? 4
                                : channel < 4 + CLASSES ? 4 + CLASSES
                                                        : CHANNELS;
                for (int k = first * ANCHORS; k < end * ANCHORS; k++)
                    most = fmaxf(most, fabsf(ours[batch * CHANNELS * ANCHORS + k]));
                if (!(fabs(apart.max_difference - 0.5 / fmax(1, (double)most)) < 1e-3))
                    fail_msg("channel %d: %g", channel, apart.max_difference);
                assert_true(together.max_difference < 0.005);
                assert_true(channel < 4 || apart.pcc < 0.98);
                assert_true(together.pcc > 0.99999 && apart.pcc < 1);
            }
    fill();
    const sk_tensor got = whole(theirs), want = whole(ours);
    const sk_parity same = sk_parity_compare(&got, &want, 1, &m);
    assert_true(same.pcc > 1 - 1e-12 && same.max_difference == 0);
    m.n_classes = 50; /* more than there are channels: all are scores */
    const sk_parity few = sk_parity_compare(&got, &want, 1, &m);
    assert_true(few.pcc > 1 - 1e-12 && few.max_difference == 0);
    const sk_parity none = sk_parity_compare(&got, &want, 0, &m);
    assert_true(none.pcc == 1 && none.max_difference == 0);
}

/* Where a part ends is told by the number of classes, whatever the number of places: scores of thousandths beside boxes of hundreds
 * and lengths of tens of thousands. */
static void parts_end_where_classes_do(void **state)
{
    (void)state;
    static const struct {
        int channels, places, classes, scores; /* how many channels are scores */
    } cases[] = {{9, 5, 3, 3},  {9, 1, 3, 3}, {9, 20, 3, 3}, {7, 5, 3, 3}, {7, 5, 2, 2},  {7, 5, 4, 3},
                 {7, 20, 9, 3}, {9, 5, 0, 0}, {5, 30, 1, 1}, {5, 2, 2, 1}, {30, 4, 6, 6}, {6, 50, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int channels = cases[i].channels, places = cases[i].places, one = channels * places;
        float a[2 * 400], b[2 * 400];
        sk_model m = {.n_classes = cases[i].classes, .n_outputs = 1};
        m.outputs[0].kind = SK_OUTPUT_YOLO;
        for (int at = 0; at < 2 * one; at++) {
            const int channel = at / places % channels;
            const float most = channel < 4 ? 500 : channel < 4 + cases[i].scores ? 1 : 20000;
            a[at] = b[at] = at % places == 0 ? most : most * (float)(at * 7 % 11) / 20;
        }
        for (int at = 0; at < 2 * one; at++) {
            const int channel = at / places % channels;
            const double most = channel < 4 ? 500 : channel < 4 + cases[i].scores ? 1 : 20000;
            const sk_tensor got = {SK_DTYPE_F32, sk_shape_of(3, 2, channels, places), a},
                            want = {SK_DTYPE_F32, sk_shape_of(3, 2, channels, places), b};
            a[at] += 0.5F;
            const sk_parity p = sk_parity_compare(&got, &want, 1, &m);
            if (!(fabs(p.max_difference * most - 0.5) < 0.01))
                fail_msg("case %zu, channel %d: %g of %g", i, channel, p.max_difference, most);
            a[at] = b[at];
        }
    }
}

/* Of several outputs and several pictures the one that is farthest from what nothing rounds counts. */
static void the_farthest_rounding_counts(void **state)
{
    (void)state;
    enum { N = BATCH * CHANNELS * ANCHORS };
    static float plain[N], rounded[N], got[N];
    sk_model m = {.n_classes = CLASSES, .n_outputs = 2};
    m.outputs[1].kind = SK_OUTPUT_YOLO;
    for (int at = 0; at < N; at++) {
        fill();
        for (int i = 0; i < N; i++) {
            plain[i] = ours[i];
            rounded[i] = got[i] = ours[i] + (i % 2 ? 0.01F : -0.01F);
        }
        got[at] += 100;
        for (int which = 0; which < 2; which++) {
            const sk_tensor want = whole(rounded), bare = whole(plain), good = whole(rounded),
                            bad = whole(got);
            const sk_tensor wants[2] = {want, want}, bares[2] = {bare, bare},
                            gots[2] = {which ? good : bad, which ? bad : good};
            sk_parity p = {.pcc = 1}, first = {.pcc = 1, .rounding = 1e6};
            sk_parity_compare_rounding(gots, wants, bares, 2, &m, &p);
            assert_true(p.rounding > 50); /* 100 of 0.01, at most 45 values beside it */
            sk_parity_compare_rounding(gots, wants, bares, 2, &m, &first);
            assert_true(first.rounding == 1e6); /* what was farther stays */
            p = (sk_parity){.pcc = 1};
            sk_parity_compare_rounding(wants, wants, bares, 2, &m, &p);
            assert_true(p.rounding > 0.9 && p.rounding < 1.1);
            p = (sk_parity){.pcc = 1};
            sk_parity_compare_rounding(gots, wants, bares, which ? 1 : 0, &m, &p);
            assert_true(p.rounding < 1.1);
        }
    }
    for (int k = 0; k < 3; k++) { /* of another type or shape: infinitely far */
        sk_tensor tensors[3] = {whole(ours), whole(ours), whole(ours)};
        sk_parity p = {.pcc = 1};
        tensors[k].dtype = SK_DTYPE_I32;
        sk_parity_compare_rounding(&tensors[0], &tensors[1], &tensors[2], 1, &m, &p);
        assert_true(isinf(p.rounding));
    }
}

static void roundings_are_judged(void **state)
{
    (void)state;
    const double most = sk_tolerance_of(SK_PRECISION_I8)->rounding;
    const sk_parity good = {0.5, 9, most}, bad = {0.25, 9, nextafter(most, 1e9)}, none = {1, 0, (double)NAN};
    sk_error err = {0};
    char want[300];
    assert_ok(sk_parity_judge_rounding(&good, SK_PRECISION_I8, &err), &err);
    assert_int_equal(sk_parity_judge_rounding(&none, SK_PRECISION_I8, &err), SK_ERR_MISMATCH);
    assert_int_equal(sk_parity_judge_rounding(&bad, SK_PRECISION_I8, &err), SK_ERR_MISMATCH);
    snprintf(want, sizeof want,
             "its answers differ from skitter's own: they are %.3g times as far from f32 as those of "
             "skitter's eight bits (at most %g), correlation 0.250000",
             most, most);
    assert_string_equal(err.message, want);
}

static void other_shapes_and_types_are_no_match(void **state)
{
    (void)state;
    fill();
    const sk_tensor good = whole(ours);
    for (int k = 0; k < 4; k++) {
        sk_tensor got[2] = {good, good}, want[2] = {good, good};
        if (k == 0)
            got[1].dtype = SK_DTYPE_I32;
        if (k == 1)
            want[1].dtype = SK_DTYPE_I32;
        if (k == 2)
            got[1].shape = sk_shape_of(3, BATCH, ANCHORS, CHANNELS);
        const sk_parity p = sk_parity_compare(got, want, 2, NULL);
        assert_true(k == 3 ? p.pcc > 0.99 && p.max_difference == 0 : p.pcc == 0 && isinf(p.max_difference));
    }
}

/* Exactly what may be is good, the next number is not. */
static void limits_are_inclusive(void **state)
{
    (void)state;
    static const sk_precision all[] = {SK_PRECISION_F32, SK_PRECISION_TF32, SK_PRECISION_F16,
                                       SK_PRECISION_BF16};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const sk_tolerance *t = sk_tolerance_of(all[i]);
        const struct {
            sk_parity p;
            bool good, origin;
        } cases[] = {{{1, 0, 0}, true, true},
                     {{t->pcc, t->difference, 0}, true, false},
                     {{nextafter(t->pcc, 0), t->difference, 0}, false, false},
                     {{t->pcc, nextafter(t->difference, 9), 0}, false, false},
                     {{t->origin_pcc, t->origin_difference, 0}, true, true},
                     {{nextafter(t->origin_pcc, 0), t->origin_difference, 0}, true, false},
                     {{t->origin_pcc, nextafter(t->origin_difference, 9), 0}, true, false},
                     {{(double)NAN, 0, 0}, false, false},
                     {{1, (double)NAN, 0}, false, false}};
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            sk_error err = {0};
            if ((sk_parity_judge(&cases[k].p, all[i], &err) == SK_OK) != cases[k].good)
                fail_msg("precision %zu, case %zu: %s", i, k, err.message);
            if (!cases[k].good)
                assert_non_null(strstr(err.message, "differ from skitter's own"));
            const sk_status origin = sk_parity_judge_origin(&cases[k].p, all[i], "some.pt", &err);
            if ((origin == SK_OK) != cases[k].origin)
                fail_msg("precision %zu, case %zu, origin: %s", i, k, err.message);
            if (!cases[k].origin)
                assert_non_null(strstr(err.message, "it does not compute what some.pt computes"));
        }
    }
    const sk_parity same = {1, 0, 0}; /* what eight bits make of a model could be any other's */
    sk_error err = {0};
    assert_int_equal(sk_parity_judge_origin(&same, SK_PRECISION_I8, "some.pt", &err), SK_ERR_MISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_looked_at_apart),           cmocka_unit_test(parts_end_where_classes_do),
        cmocka_unit_test(the_farthest_rounding_counts),        cmocka_unit_test(roundings_are_judged),
        cmocka_unit_test(other_shapes_and_types_are_no_match), cmocka_unit_test(limits_are_inclusive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
