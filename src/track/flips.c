/* SPDX-License-Identifier: Apache-2.0 */
#include "track/sightings.h"

#include <math.h>

static double apart(double a, double b)
{
    const double d = fmod(fabs(a - b), 2 * M_PI);
    return fmin(d, 2 * M_PI - d);
}

static double turned(double heading)
{
    double other = fmod(heading + M_PI, 2 * M_PI);
    return other < 0 ? other + 2 * M_PI : other;
}

/* Where the burst that begins at `start` ends: the first heading that is within 90 degrees of `before` again, or one frame
 * behind the longest burst. */
static size_t burst_end(const double *headings, size_t start, size_t count, double before, size_t burst)
{
    size_t end = start + 1;
    while (end < count && end - start < burst + 1 &&
           (isnan(headings[end]) || apart(headings[end], before) > M_PI / 2))
        end++;
    return end;
}

static bool mend_once(double *headings, size_t count, size_t burst)
{
    bool changed = false;
    double before = NAN; /* the last heading there was */
    for (size_t i = 0; i < count;) {
        if (isnan(headings[i]) || isnan(before) || apart(headings[i], before) <= M_PI / 2) {
            before = isnan(headings[i]) ? before : headings[i];
            i++;
            continue;
        }
        const size_t end = burst_end(headings, i, count, before, burst);
        size_t next = i + 1;
        if (end - i > burst) {
            next = end;
        } else if (end < count) { /* it is as it was before */
            for (size_t k = i; k < end; k++)
                if (!isnan(headings[k]))
                    headings[k] = turned(headings[k]);
            changed = true;
            next = end;
        }
        for (; i < next; i++)
            before = isnan(headings[i]) ? before : headings[i];
    }
    return changed;
}

void sk_headings_mend(double *headings, size_t count, int32_t burst)
{
    if (count < 3)
        return;
    for (int pass = 0; pass < 3; pass++)
        if (!mend_once(headings, count, burst > 0 ? (size_t)burst : 0))
            return;
}

static double turn(double a, double b)
{
    const double d = fabs(a - b);
    return d > M_PI ? 2 * M_PI - d : d;
}

/* How many frames the answer that ends in `state` turns; `write`: marks them in bit 2 of `from`. */
static size_t walk_back(const double *headings, size_t count, uint8_t *from, int state, bool write)
{
    size_t n = 0;
    for (size_t i = count; i-- > 0;) {
        if (isnan(headings[i]))
            continue;
        n += state == 1;
        const int previous = (from[i] >> state) & 1;
        if (write)
            from[i] = (uint8_t)(state << 2);
        state = previous;
    }
    return n;
}

void sk_headings_mend_directed(double *headings, size_t count, uint8_t *work)
{
    double cost[2] = {0, 0}, before[2] = {NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        work[i] = 0;
        if (isnan(headings[i]))
            continue;
        const double now[2] = {headings[i], turned(headings[i])};
        if (!isnan(before[0])) {
            double next[2];
            for (int k = 0; k < 2; k++) {
                const double kept = cost[0] + turn(now[k], before[0]),
                             changed = cost[1] + turn(now[k], before[1]);
                next[k] = changed < kept ? changed : kept;
                work[i] |= (uint8_t)((changed < kept) << k);
            }
            cost[0] = next[0], cost[1] = next[1];
        }
        before[0] = now[0], before[1] = now[1];
    }
    const size_t plain = walk_back(headings, count, work, 0, false);
    const size_t other = walk_back(headings, count, work, 1, false);
    walk_back(headings, count, work, plain <= other ? 0 : 1, true);
    for (size_t i = 0; i < count; i++)
        if (!isnan(headings[i]) && work[i] & 4)
            headings[i] = turned(headings[i]);
}
