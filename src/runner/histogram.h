/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_HISTOGRAM_H
#define SK_RUNNER_HISTOGRAM_H

#include "runner/runner.h"

/* Times of a stage without keeping every one: buckets that grow with the value, 32 to a power of two, so that a
 * percentile read from them is within 1/32 of the true one. Adding is a few instructions and never allocates; months of
 * frames fit. One thread at a time. */

#define SK_HISTOGRAM_FINE 5 /* 2^5 buckets to a power of two */
#define SK_HISTOGRAM_BUCKETS                                                                                 \
    ((48 - SK_HISTOGRAM_FINE + 1) << SK_HISTOGRAM_FINE) /* up to 2^48 ns: three days */

typedef struct sk_histogram {
    int64_t count, sum, min, max; /* ns */
    uint32_t buckets[SK_HISTOGRAM_BUCKETS];
} sk_histogram;

void sk_histogram_reset(sk_histogram *h);
void sk_histogram_add(sk_histogram *h, int64_t ns); /* negative counts as 0 */
/* The time below which `percent` of the samples lie, in ns. */
double sk_histogram_percentile(const sk_histogram *h, double percent);
sk_runner_stage_stats sk_histogram_summary(const sk_histogram *h);

#endif
