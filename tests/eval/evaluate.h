/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_EVAL_EVALUATE_H
#define SK_TESTS_EVAL_EVALUATE_H

#include "eval/eval.h"
#include "support/test.h"

#include <string.h>

/* The report on two texts; null settings: the defaults. */
static inline void evaluate(const char *result, const char *truth, const sk_eval_settings *settings,
                            sk_eval_report *report)
{
    sk_error err = {0};
    sk_annotation_set r, t;
    assert_ok(sk_annotations_parse("result", result, strlen(result), &r, &err), &err);
    assert_ok(sk_annotations_parse("truth", truth, strlen(truth), &t, &err), &err);
    sk_eval_settings defaults;
    sk_eval_defaults(&defaults);
    assert_ok(sk_eval_run(&r, &t, settings ? settings : &defaults, report, &err), &err);
    sk_annotations_free(&r);
    sk_annotations_free(&t);
}

#endif
