/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/histogram.h"

#include <math.h>
#include <string.h>

#define FINE ((int64_t)1 << SK_HISTOGRAM_FINE)

/* Values below 2 * FINE have a bucket each; above, the leading bit and the FINE bits after it choose. */
static int bucket_of(int64_t ns)
{
    if (ns < FINE)
        return (int)ns;
    int top = 63 - __builtin_clzll((unsigned long long)ns), shift = top - SK_HISTOGRAM_FINE;
    int64_t bucket = ((int64_t)shift << SK_HISTOGRAM_FINE) + (ns >> shift);
    return bucket < SK_HISTOGRAM_BUCKETS ? (int)bucket : SK_HISTOGRAM_BUCKETS - 1;
}

/* Middle of a bucket's values. */
static double value_of(int bucket)
{
    if (bucket < 2 * FINE)
        return bucket;
    int shift = (bucket >> SK_HISTOGRAM_FINE) - 1;
    int64_t low = (int64_t)(bucket - ((int64_t)shift << SK_HISTOGRAM_FINE)) << shift;
    return (double)low + (double)((int64_t)1 << shift) / 2;
}

void sk_histogram_reset(sk_histogram *h)
{
    memset(h, 0, sizeof *h);
}

void sk_histogram_add(sk_histogram *h, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    h->min = h->count == 0 || ns < h->min ? ns : h->min;
    h->max = ns > h->max ? ns : h->max;
    h->count++;
    h->sum += ns;
    h->buckets[bucket_of(ns)]++;
}

double sk_histogram_percentile(const sk_histogram *h, double percent)
{
    int64_t wanted = (int64_t)ceil(percent / 100 * (double)h->count), seen = 0;
    wanted = wanted < 1 ? 1 : wanted;
    if (h->count == 0)
        return 0;
    if (wanted >= h->count)
        return (double)h->max;
    for (int i = 0; i < SK_HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen >= wanted) {
            double value = value_of(i);
            return value < (double)h->min ? (double)h->min : value > (double)h->max ? (double)h->max : value;
        }
    }
    return (double)h->max;
}

sk_runner_stage_stats sk_histogram_summary(const sk_histogram *h)
{
    return (sk_runner_stage_stats){.count = h->count,
                                   .sum = (double)h->sum * 1e-6,
                                   .min = (double)h->min * 1e-6,
                                   .max = (double)h->max * 1e-6,
                                   .p50 = sk_histogram_percentile(h, 50) * 1e-6,
                                   .p90 = sk_histogram_percentile(h, 90) * 1e-6,
                                   .p99 = sk_histogram_percentile(h, 99) * 1e-6};
}
