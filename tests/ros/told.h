/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ROS_TOLD_H
#define SK_TESTS_ROS_TOLD_H

#include "support/test.h"

#include "base/memory.h"
#include "ros/manifest.h"

#include <string.h>

/* A manifest but for its section ros. */
#define HEAD                                                                                                 \
    "model: {name: x, family: ultralytics, variants: [x], default_variant: x}\nsource: {type: a, repo: b}\n" \
    "input: {}\noutput: {type: detections}\n"

/* Every line of `expected` must be among the problems, and their number must be that of the lines. */
static inline void expect_problems(const sk_problems *problems, const char *const *expected)
{
    size_t n = 0;
    for (; expected[n]; n++)
        if (!strstr(sk_text_get(&problems->lines), expected[n]))
            fail_msg("missing: %s\namong:\n%s", expected[n], sk_text_get(&problems->lines));
    if (problems->count != n)
        fail_msg("%zu problems instead of %zu:\n%s", problems->count, n, sk_text_get(&problems->lines));
}

static inline void told(const char *text, size_t length, const char *const *expected)
{
    sk_error err = {0};
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    const int64_t before = sk_memory_live_bytes();
    assert_ok(sk_manifest_open(text, length, "m.yaml", &m, &problems, &err), &err);
    assert_null(m);
    expect_problems(&problems, expected);
    sk_problems_free(&problems);
    assert_int_equal(sk_memory_live_bytes(), before);
}

#endif
