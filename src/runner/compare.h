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

/* The same for a YOLO output with its tail, [4 + classes + more][places]: boxes, scores and the rest each for itself, of
 * which the worst counts. Boxes are a thousand times larger than scores and lie where the grid puts them, so as a whole the
 * outputs of any two pictures correlate by 0.9999. */
sk_agreement sk_compare_rows(const float *ours, const float *reference, int64_t channels, int64_t places,
                             int32_t classes);

/* The smallest correlation that results of this precision must have with the reference's. */
double sk_pcc_limit(sk_precision precision);

#endif
