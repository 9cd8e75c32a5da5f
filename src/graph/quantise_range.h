/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_QUANTISE_RANGE_H
#define SK_GRAPH_QUANTISE_RANGE_H

#include "graph/quantise_plan.h"

/* How often a value took which numbers, in bins of equal width around 0 that double when a number lies beyond them: one walk
 * over the frames is enough, and the order of frames does not matter beyond rounding. Plain data; about 33 KiB. */
#define SK_RANGE_BINS 4096

typedef struct sk_range {
    double width; /* of a bin; 0: nothing seen */
    float low, high;
    int64_t bins[SK_RANGE_BINS]; /* the first of the upper half begins at 0 */
    int64_t ignored;             /* infinite, or no number */
} sk_range;

void sk_range_add(sk_range *range, const float *values, int64_t count);
void sk_range_merge(sk_range *range, const sk_range *other);

typedef enum sk_range_method {
    SK_RANGE_ERROR = 0,  /* the least error of what was seen, large ones weighing more, and a fifth beyond */
    SK_RANGE_PERCENTILE, /* all but the outermost */
    SK_RANGE_ALL         /* everything seen */
} sk_range_method;

/* Scale and zero for u8. `percent` (SK_RANGE_PERCENTILE): how much lies inside, 50 … 100. Nothing seen, or only 0: 1 and 0. */
sk_quantise_scale sk_range_scale(const sk_range *range, sk_range_method method, double percent);
/* The same for f8, whose steps grow with the number: cutting something off gains nothing, so the error only decides where within a
 * power of two the largest lies. */
sk_quantise_scale sk_range_f8_scale(const sk_range *range, sk_range_method method, double percent);

#endif
