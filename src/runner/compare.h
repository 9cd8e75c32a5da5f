/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_COMPARE_H
#define SK_RUNNER_COMPARE_H

#include "engines/engine.h"

/* Two sets of numbers that should be the same. */
typedef struct sk_agreement {
    double
        pcc; /* Pearson correlation. Where it is not defined, one side being constant: 1 when the two agree to rounding,
                   else 0. 0 as well when anything is not finite on one side only */
    double max_diff, mean_diff;
} sk_agreement;

sk_agreement sk_compare(const float *ours, const float *reference, size_t count);

/* The smallest correlation that results of this precision must have with the reference's. */
double sk_pcc_limit(sk_precision precision);

#endif
