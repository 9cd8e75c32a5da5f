/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_COMPARE_H
#define SK_ENGINES_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two sets of numbers that should be the same. */
typedef struct sk_likeness {
    double
        pcc; /* Pearson correlation. Where it is not defined, one side being constant: 1 when the two agree to rounding,
                   else 0. 0 as well when anything is not finite on one side only */
    double max_diff, mean_diff;
    double scale;  /* the reference's largest value */
    bool constant; /* one side hardly changes: a correlation says little */
} sk_likeness;

sk_likeness sk_compare(const float *ours, const float *reference, size_t count);

/* The same for a YOLO output with its tail, [4 + classes + more][places]: boxes, scores and the rest each for itself, of
 * which the worst counts. Boxes are a thousand times larger than scores and lie where the grid puts them, so as a whole the
 * outputs of any two pictures correlate by 0.9999. */
sk_likeness sk_compare_dense(const float *ours, const float *reference, int64_t channels, int64_t places,
                             int32_t classes);

/* Numbers that were rounded on many ways, of which each is as good as the other: bytes fall to this side or that. How many times
 * as far (rms) from what nothing rounds, `plain`, is `ours` as `rounded` is, which is known to be right? About 1 where both
 * round alike, much more where `ours` computes something else. Differences of a millionth of the scale are none; what is not
 * finite on one side only is infinitely far. */
double sk_compare_rounding(const float *ours, const float *rounded, const float *plain, size_t count);
/* The largest of boxes, scores and the rest, as sk_compare_dense. */
double sk_compare_rounding_dense(const float *ours, const float *rounded, const float *plain,
                                 int64_t channels, int64_t places, int32_t classes);

#endif
