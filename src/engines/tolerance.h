/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_TOLERANCE_H
#define SK_ENGINES_TOLERANCE_H

#include "engines/capabilities.h"

#include <stddef.h>

/* How far results of a precision may lie from the reference's: the one table, for the runner's checks, for files made for
 * other runtimes, for the checks on GPUs and for the documents. */
typedef struct sk_tolerance {
    double pcc;        /* smallest correlation of each output: below it something is wrong, not rounded */
    double difference; /* largest difference, in parts of the output's largest value (or of 1) */
    double ours;       /* smallest correlation of skitter's own kernels, which round less than others may */
    /* Two forms of the same weights: is a file without a record what the model is? 0: that cannot be told. */
    double origin_pcc, origin_difference;
    /* Values in so few bits that the roundings alone take an output that says almost the same everywhere below `pcc`: where it is
     * no more than so many times as far from f32 as the reference's own roundings take it (sk_compare_rounding), it is right all
     * the same. 0: correlation alone counts. */
    double rounding;
} sk_tolerance;

const sk_tolerance *sk_tolerance_of(sk_precision precision); /* of auto and unknown ones: f32's */

/* "f32 0.99999, tf32 0.9995, …": the smallest correlations, for people. Returns buffer. */
#define SK_TOLERANCE_TEXT 128
const char *sk_tolerance_text(char *buffer, size_t capacity);

#endif
