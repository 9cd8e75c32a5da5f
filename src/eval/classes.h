/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_CLASSES_H
#define SK_EVAL_CLASSES_H

#include "eval/eval.h"

/* Inside eval/: what whole pictures show. Pictures without an answer are wrong. */
sk_status sk_eval_classes(const sk_annotation_set *result, const sk_annotation_set *truth,
                          const sk_pairing *pairing, sk_eval_report *report, sk_error *err) SK_MUST_CHECK;

#endif
