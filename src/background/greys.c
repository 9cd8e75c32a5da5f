/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background_internal.h"

#include "base/frame.h"

#include <math.h>
#include <string.h>

void grey_table(const sk_background_settings *s, uint8_t table[256])
{
    for (int i = 0; i < 256; i++) {
        const double plain = fmin(fmax(s->contrast * i + s->brightness, 0), 255);
        table[i] = (uint8_t)lrint(255 * pow(plain / 255, 1 / s->gamma));
    }
}

void grey_of_frame(const sk_frame *f, const uint8_t table[256], uint8_t *out)
{
    const bool colours = f->format == SK_PIXEL_RGB || f->format == SK_PIXEL_BGR;
    const int red = f->format == SK_PIXEL_BGR ? 2 : 0;
    for (int32_t y = 0; y < f->height; y++, out += f->width) {
        const uint8_t *row = f->data + f->stride * y;
        for (int32_t x = 0; x < f->width; x++) {
            const uint8_t *p = row + 3 * (ptrdiff_t)x;
            out[x] = table[colours ? (77 * p[red] + 150 * p[1] + 29 * p[2 - red] + 128) >> 8 : row[x]];
        }
    }
}

double grey_middle(const uint8_t *greys, size_t n)
{
    uint32_t counts[256] = {0};
    for (size_t i = 0; i < n; i++)
        counts[greys[i]]++;
    const double from = 0.25 * (double)n, to = 0.75 * (double)n;
    double below = 0, sum = 0;
    for (int i = 0; i < 256; i++) {
        const double low = fmax(below, from), high = fmin(below + counts[i], to);
        if (high > low)
            sum += (high - low) * i;
        below += counts[i];
    }
    return sum / (to - from);
}

void grey_median(const uint8_t *const *pictures, int32_t n, size_t pixels, uint8_t *out)
{
    for (size_t i = 0; i < pixels; i++) {
        uint8_t sorted[64] = {0};
        for (int32_t k = 0; k < n; k++) {
            const uint8_t value = pictures[k][i];
            int32_t at = k;
            for (; at > 0 && sorted[at - 1] > value; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = value;
        }
        out[i] = sorted[n / 2];
    }
}
