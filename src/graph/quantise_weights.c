/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/quantise_weights.h"

#include "graph/f8_formula.h"

#include <math.h>

/* Weights clipped to this part of the largest and less are tried: rounding gets finer, the largest ones lose. */
#define CLIP_STEPS 20
#define CLIP_STEP  0.02
/* Of f8, steps are relative: what is tried is where within a power of two the largest lies. */
#define PLACES 20

/* --- a weight, in steps of the scale --- */

static float rounded(float w, float scale, bool f8)
{
    if (f8) {
        const float number = sk_f8_number(sk_f8_of(w / scale));
        return isnan(number) ? 0 : number;
    }
    float q = nearbyintf(w / scale);
    return q > 127 ? 127 : q >= -127 ? q : isnan(q) ? 0 : -127;
}

static uint8_t byte_of(float steps, bool f8)
{
    return f8 ? sk_f8_of(steps) : (uint8_t)(int8_t)steps;
}

/* Codes of f8 of one sign lie in order: the next one up or down, through 0; at the ends the same. */
static float neighbour(float steps, int way, bool f8)
{
    if (!f8)
        return fabsf(steps + (float)way) <= 127 ? steps + (float)way : steps;
    const uint8_t code = sk_f8_of(fabsf(steps));
    const bool outwards = steps == 0 || (steps > 0) == (way > 0);
    if (steps == 0)
        return (float)way * sk_f8_number(1);
    if (outwards && fabsf(steps) >= SK_F8_LARGEST)
        return steps;
    return copysignf(sk_f8_number((uint8_t)(outwards ? code + 1 : code - 1)), steps);
}

/* --- all of a channel --- */

/* The least squared error. Of weights that are all 0: any. */
static float best_scale(const float *w, int64_t n, bool f8)
{
    float largest = 0, best = 1;
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(w[i]));
    if (!(largest > 1e-30f) || !isfinite(largest))
        return 1;
    for (int step = 0; step < (f8 ? PLACES : CLIP_STEPS); step++) {
        float scale = f8 ? (float)((double)largest * (1 + (double)step / PLACES)) / SK_F8_LARGEST
                         : (float)((double)largest * (1 - step * CLIP_STEP)) / 127;
        double error = 0;
        for (int64_t i = 0; i < n; i++) {
            double d = (double)(w[i] - rounded(w[i], scale, f8) * scale);
            error += d * d;
        }
        if (error < least) {
            least = error;
            best = scale;
        }
    }
    return best;
}

/* Maps are smooth: what the taps of an input channel are multiplied with is nearly the same number, so that the sum of their errors
 * counts more than each. Where rounding to the nearest leaves that sum short by more than half of what a tap can be moved by, that tap
 * goes to the other of its two neighbours whose own error grows least. */
static void keep_sum(const float *w, int64_t taps, float scale, bool f8, float *steps)
{
    double off = 0; /* what the taps are short of, in steps */
    for (int64_t i = 0; i < taps; i++)
        off += (double)w[i] / (double)scale - (double)steps[i];
    for (int64_t left = taps; left > 0; left--) {
        const int way = off > 0 ? 1 : -1;
        int64_t best = -1;
        double least = INFINITY;
        for (int64_t i = 0; i < taps; i++) {
            const double own = ((double)w[i] / (double)scale - (double)steps[i]) * way;
            const double move = fabs((double)(neighbour(steps[i], way, f8) - steps[i]));
            const double grows = move * (move - 2 * own); /* its squared error, by so much */
            if (own > 0 && move > 0 && fabs(off) > move / 2 && grows < least) {
                least = grows;
                best = i;
            }
        }
        if (best < 0)
            break;
        const float moved = neighbour(steps[best], way, f8);
        off -= (double)(moved - steps[best]);
        steps[best] = moved;
    }
}

float sk_quantise_weights(const float *w, int64_t n, int64_t taps, bool f8, uint8_t *bytes, float *meant)
{
    const float scale = best_scale(w, n, f8);
    for (int64_t i = 0; i < n; i++)
        meant[i] = rounded(w[i], scale, f8);
    for (int64_t first = 0; first + taps <= n; first += taps)
        keep_sum(w + first, taps, scale, f8, meant + first);
    for (int64_t i = 0; i < n; i++) {
        bytes[i] = byte_of(meant[i], f8);
        meant[i] *= scale;
    }
    return scale;
}
