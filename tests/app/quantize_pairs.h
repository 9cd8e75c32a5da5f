/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_QUANTIZE_PAIRS_H
#define SK_TESTS_APP_QUANTIZE_PAIRS_H

#include "support/test.h"

#include "app/quantize_internal.h"

#include <math.h>
#include <string.h>

/* What eight bits find against what f32 finds, one against one or list against list. */

static sk_error err;

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

#define IS(a, b)   assert_true(isnan(b) ? isnan(a) : fabs((a) - (b)) < 1e-6)

enum { BOX = SK_HAS_BOX, OBB = SK_HAS_OBB, POSE = SK_HAS_KEYPOINTS };

static inline sk_instances list_of(sk_found *items, int32_t n, sk_keypoint *points, int32_t n_points)
{
    for (int32_t i = 0; i < n; i++)
        items[i].first_keypoint = i * n_points;
    return (sk_instances){
        .items = items, .count = n, .capacity = n, .n_keypoints = n_points, .keypoints = points};
}

static inline sk_quantize_tally begin(sk_loss *loss, bool given)
{
    *loss = (sk_loss){0};
    return (sk_quantize_tally){.loss = loss, .heads_pcc = 1, .given = given};
}

static inline void add(sk_quantize_tally *t, const sk_instances *a, const sk_instances *b)
{
    assert_ok(sk_quantize_compare(t, a, b, &err), &err);
}

/* One against one: how similar they are, and below a half no pair. */
static inline double pair(sk_found x, sk_found y, sk_keypoint *p, sk_keypoint *q, int32_t n, bool given)
{
    sk_loss loss;
    sk_quantize_tally t = begin(&loss, given);
    const sk_instances a = list_of(&x, 1, p, n), b = list_of(&y, 1, q, n);
    add(&t, &a, &b);
    assert_int_equal(loss.instances, 1);
    const double similar = t.agreement;
    if (!given) {
        assert_true(loss.lost == loss.added && t.counted == 1 + loss.lost);
        assert_int_equal(loss.lost, similar > 0 ? 0 : 1);
    }
    sk_quantize_tally_end(&t);
    NEAR(loss.percent, 100 * (1 - similar / (double)t.counted));
    return similar;
}

#endif
