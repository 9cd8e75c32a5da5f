/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_CLOCK_H
#define SK_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that never jumps; only differences mean anything. */
int64_t sk_clock_ns(void);
/* Milliseconds since 1970-01-01 UTC; for records that people read, never for measuring. */
int64_t sk_clock_wall_ms(void);
/* "2026-11-15T04:20:00Z". Returns buffer. */
const char *sk_clock_text(int64_t wall_ms, char *buffer, size_t capacity);
#define SK_CLOCK_TEXT 40
/* Nanoseconds since 1970-01-01 UTC, and as "2026-11-15T04:20:00.123456789Z" (SK_CLOCK_TEXT bytes). */
int64_t sk_clock_wall_ns(void);
const char *sk_clock_text_ns(int64_t wall_ns, char *buffer, size_t capacity);

/* Sleeps at least this long, also when a signal interrupts. */
void sk_clock_sleep_ns(int64_t ns);

/* What a set of measurements says. Percentiles interpolate linearly between the two nearest samples (as
 * NumPy's default does), so that the median of {1, 2} is 1.5. All zero for an empty set. */
typedef struct sk_samples_summary {
    size_t count;
    double min, max, mean, deviation; /* deviation of a sample: n - 1 */
    double median, p90, p99;
} sk_samples_summary;

/* `samples` is sorted in place. */
sk_samples_summary sk_samples_summarize(double *samples, size_t count);
/* `percent` 0..100, of samples already sorted upward. */
double sk_samples_percentile(const double *sorted, size_t count, double percent);

#endif
