/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/compare.h"

#include <math.h>
#include <string.h>

/* Sums relative to the first pair: keeps the squares small where values lie around a large mean. */
typedef struct sums {
    double a, b, aa, bb, ab, diff, max_diff, scale;
    size_t count;
    int broken;
} sums;

static void add(sums *s, double a, double b, double a0, double b0)
{
    if (!isfinite(a) || !isfinite(b)) {
        /* The same infinity, or not a number on both sides, is agreement; it adds nothing to a correlation. */
        const bool same = (isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && signbit(a) == signbit(b));
        if (!same)
            s->broken = 1;
        return;
    }
    double d = fabs(a - b), x = a - a0, y = b - b0;
    s->diff += d;
    s->max_diff = d > s->max_diff ? d : s->max_diff;
    s->scale = fabs(b) > s->scale ? fabs(b) : s->scale;
    s->a += x;
    s->b += y;
    s->aa += x * x;
    s->bb += y * y;
    s->ab += x * y;
    s->count++;
}

sk_likeness sk_compare(const float *ours, const float *reference, size_t count)
{
    sums s = {0};
    sk_likeness result = {.pcc = 1};
    double a0 = 0, b0 = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(ours[i]) && isfinite(reference[i])) {
            a0 = (double)ours[i];
            b0 = (double)reference[i];
            break;
        }
    for (size_t i = 0; i < count; i++)
        add(&s, (double)ours[i], (double)reference[i], a0, b0);
    if (s.broken) {
        result = (sk_likeness){.pcc = 0, .max_diff = INFINITY, .mean_diff = INFINITY};
        return result;
    }
    if (s.count == 0)
        return result;
    double n = (double)s.count;
    double va = s.aa - s.a * s.a / n, vb = s.bb - s.b * s.b / n, cov = s.ab - s.a * s.b / n;
    result.max_diff = s.max_diff;
    result.mean_diff = s.diff / n;
    result.scale = s.scale;
    double tiny = 1e-5 * (s.scale > 1e-3 ? s.scale : 1e-3);
    result.constant = va <= tiny * tiny * n * 1e-2 || vb <= tiny * tiny * n * 1e-2;
    if (result.constant)
        result.pcc = s.max_diff <= tiny ? 1 : 0;
    else
        result.pcc = cov / sqrt(va * vb);
    return result;
}

/* Ends of boxes, scores and the rest of [channels][places]. */
static void ends_of(int64_t channels, int32_t classes, int64_t ends[4])
{
    const int64_t scores = classes < channels - 4 ? classes : channels - 4;
    ends[0] = 0;
    ends[1] = 4;
    ends[2] = 4 + scores;
    ends[3] = channels;
}

sk_likeness sk_compare_dense(const float *ours, const float *reference, int64_t channels, int64_t places,
                             int32_t classes)
{
    int64_t ends[4];
    ends_of(channels, classes, ends);
    sk_likeness worst = {.pcc = 1};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        int64_t at = ends[i] * places, count = (ends[i + 1] - ends[i]) * places;
        if (count <= 0)
            continue;
        sk_likeness a = sk_compare(ours + at, reference + at, (size_t)count);
        worst.pcc = a.pcc < worst.pcc ? a.pcc : worst.pcc;
        worst.max_diff = a.max_diff > worst.max_diff ? a.max_diff : worst.max_diff;
        sum += a.mean_diff * (double)count;
    }
    worst.mean_diff = sum / (double)(channels * places);
    return worst;
}

double sk_compare_rounding(const float *ours, const float *rounded, const float *plain, size_t count)
{
    double far = 0, usual = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        const bool same = ours[i] == plain[i] || (isnan(ours[i]) && isnan(plain[i])); /* infinities, too */
        const double off = same ? 0 : (double)ours[i] - (double)plain[i];
        if (!isfinite(off))
            return INFINITY;
        far += off * off;
        if (isfinite(rounded[i]) && isfinite(plain[i])) {
            const double d = (double)rounded[i] - (double)plain[i];
            usual += d * d;
            scale = fmax(scale, fabs((double)plain[i]));
        }
    }
    const double none = 1e-6 * fmax(scale, 1e-3);
    return far == 0 ? 0 : sqrt(far) / fmax(sqrt(usual), none * sqrt((double)count));
}

double sk_compare_rounding_dense(const float *ours, const float *rounded, const float *plain,
                                 int64_t channels, int64_t places, int32_t classes)
{
    int64_t ends[4];
    double worst = 0;
    ends_of(channels, classes, ends);
    for (int i = 0; i < 3; i++) {
        const int64_t at = ends[i] * places, count = (ends[i + 1] - ends[i]) * places;
        if (count > 0)
            worst = fmax(worst, sk_compare_rounding(ours + at, rounded + at, plain + at, (size_t)count));
    }
    return worst;
}
