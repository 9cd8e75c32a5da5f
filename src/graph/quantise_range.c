/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/quantise_range.h"

#include "graph/f8_formula.h"

#include <math.h>
#include <string.h>

#define HALF (SK_RANGE_BINS / 2)
/* Both ends are tried at so many places. */
#define TRIES 24
/* Other backgrounds and light than those seen reach further, and what is cut off hurts more than a coarser step. */
#define HEADROOM 1.2

/* Twice as wide bins: each takes two, towards 0 where they meet. */
static void widen(sk_range *r)
{
    for (int i = 0; i < HALF / 2; i++) {
        r->bins[HALF + i] = r->bins[HALF + 2 * i] + r->bins[HALF + 2 * i + 1];
        r->bins[HALF - 1 - i] = r->bins[HALF - 1 - 2 * i] + r->bins[HALF - 2 - 2 * i];
    }
    memset(r->bins, 0, HALF / 2 * sizeof *r->bins);
    memset(r->bins + HALF + HALF / 2, 0, HALF / 2 * sizeof *r->bins);
    r->width *= 2;
}

/* Powers of two, so that any two histograms can be brought to one width. */
static void reach(sk_range *r, double magnitude)
{
    if (r->width == 0 && magnitude > 0) {
        int exponent;
        frexp(magnitude, &exponent);
        r->width = ldexp(1.0, exponent > -100 ? exponent : -100) / HALF;
    }
    while (r->width > 0 && magnitude >= r->width * HALF)
        widen(r);
}

void sk_range_add(sk_range *r, const float *values, int64_t count)
{
    float low = 0, high = 0;
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
        float v = values[i];
        if (!isfinite(v)) {
            bad++;
            continue;
        }
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    r->ignored += bad;
    r->low = low < r->low ? low : r->low;
    r->high = high > r->high ? high : r->high;
    reach(r, fmax((double)high, -(double)low));
    if (r->width == 0) /* zeros alone; they have no width yet, and need none */
        return;
    const float gain = (float)(1 / r->width);
    for (int64_t i = 0; i < count; i++) {
        float v = values[i] * gain;
        if (!isfinite(v))
            continue;
        int at = (int)floorf(v) + HALF;
        r->bins[at < 0 ? 0 : at >= SK_RANGE_BINS ? SK_RANGE_BINS - 1 : at]++;
    }
}

void sk_range_merge(sk_range *r, const sk_range *other)
{
    sk_range copy = *other;
    r->low = copy.low < r->low ? copy.low : r->low;
    r->high = copy.high > r->high ? copy.high : r->high;
    r->ignored += copy.ignored;
    if (copy.width == 0)
        return;
    if (r->width == 0)
        r->width = copy.width;
    while (r->width < copy.width)
        widen(r);
    while (copy.width < r->width)
        widen(&copy);
    for (int i = 0; i < SK_RANGE_BINS; i++)
        r->bins[i] += copy.bins[i];
}

/* 0 is always one of the 256 numbers: padding is 0, and so is what ReLU cuts. */
sk_quantise_scale sk_quantise_scale_of(double low, double high)
{
    low = low > 0 ? 0 : low;
    high = high < 0 ? 0 : high;
    double scale = (high - low) / 255;
    if (!(scale > 1e-30) || !isfinite(scale))
        return (sk_quantise_scale){1, 0};
    int32_t zero = (int32_t)nearbyint(-low / scale);
    return (sk_quantise_scale){(float)scale, zero < 0 ? 0 : zero > 255 ? 255 : zero};
}

sk_quantise_scale sk_quantise_f8_scale_of(double low, double high)
{
    const double scale = fmax(high, -low) / (double)SK_F8_LARGEST;
    if (!(scale > 1e-30) || !isfinite(scale))
        return (sk_quantise_scale){1, 0};
    return (sk_quantise_scale){(float)scale, 0};
}

/* What eight bits make of a number. */
static double kept(double x, sk_quantise_scale s, bool f8)
{
    const double scale = (double)s.scale;
    if (f8)
        return (double)sk_f8_number(sk_f8_of((float)(x / scale))) * scale;
    double q = nearbyint(x / scale) + s.zero;
    q = q < 0 ? 0 : q > 255 ? 255 : q;
    return (q - s.zero) * scale;
}

/* Of all that was seen, each number taken for the middle of its bin. The third power: of the square, what is cut off at the ends
 * is worth a finer step everywhere else, and what lies there are the few places with an animal, whose scores then sink. */
static double cubed_error(const sk_range *r, sk_quantise_scale s, bool f8)
{
    double sum = 0;
    for (int i = 0; i < SK_RANGE_BINS; i++) {
        if (!r->bins[i])
            continue;
        double x = ((double)(i - HALF) + 0.5) * r->width;
        double d = kept(x, s, f8) - x;
        /* inside of a bin numbers differ by themselves: a step as fine as the bins gains nothing */
        sum += (double)r->bins[i] * d * d * fabs(d);
    }
    return sum;
}

static sk_quantise_scale by_error(const sk_range *r)
{
    sk_quantise_scale best = sk_quantise_scale_of((double)r->low, (double)r->high);
    double least = cubed_error(r, best, false);
    for (int h = 0; h < TRIES; h++)
        for (int l = 0; l < (r->low < 0 ? TRIES : 1); l++) {
            sk_quantise_scale s = sk_quantise_scale_of((double)r->low * (1 - l * 0.96 / TRIES),
                                                       (double)r->high * (1 - h * 0.96 / TRIES));
            double error = cubed_error(r, s, false);
            if (error < least) {
                least = error;
                best = s;
            }
        }
    const double step = (double)best.scale * HEADROOM;
    return sk_quantise_scale_of(-best.zero * step, (255 - best.zero) * step);
}

static sk_quantise_scale f8_by_error(const sk_range *r)
{
    sk_quantise_scale best = {1, 0};
    double least = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        const double more = HEADROOM * (1 + (double)i / TRIES);
        const sk_quantise_scale s = sk_quantise_f8_scale_of((double)r->low * more, (double)r->high * more);
        const double error = cubed_error(r, s, true);
        if (error < least) {
            least = error;
            best = s;
        }
    }
    return best;
}

/* How far all but the outermost reaches. */
static void percentile_ends(const sk_range *r, double percent, double *from, double *to)
{
    double total = 0, low_rest, high_rest;
    for (int i = 0; i < SK_RANGE_BINS; i++)
        total += (double)r->bins[i];
    low_rest = high_rest = total * (1 - percent / 100) / 2;
    int low = 0, high = SK_RANGE_BINS - 1;
    while (low < HALF && (double)r->bins[low] <= low_rest)
        low_rest -= (double)r->bins[low++];
    while (high >= HALF && (double)r->bins[high] <= high_rest)
        high_rest -= (double)r->bins[high--];
    *from = fmax((double)(low - HALF) * r->width, (double)r->low);
    *to = fmin((double)(high + 1 - HALF) * r->width, (double)r->high);
}

sk_quantise_scale sk_range_scale(const sk_range *range, sk_range_method method, double percent)
{
    double low = (double)range->low, high = (double)range->high;
    if (range->width == 0)
        return (sk_quantise_scale){1, 0};
    if (method == SK_RANGE_ERROR)
        return by_error(range);
    if (method == SK_RANGE_PERCENTILE)
        percentile_ends(range, percent, &low, &high);
    return sk_quantise_scale_of(low, high);
}

sk_quantise_scale sk_range_f8_scale(const sk_range *range, sk_range_method method, double percent)
{
    double low = (double)range->low, high = (double)range->high;
    if (range->width == 0)
        return (sk_quantise_scale){1, 0};
    if (method == SK_RANGE_ERROR)
        return f8_by_error(range);
    if (method == SK_RANGE_PERCENTILE)
        percentile_ends(range, percent, &low, &high);
    return sk_quantise_f8_scale_of(low, high);
}
