/* SPDX-License-Identifier: Apache-2.0 */
#include "report/chart.h"

#include <math.h>

#define INK  0x333333u
#define GRID 0xdddddfu

float sk_axes_x(const sk_axes *axes, double value)
{
    return axes->left + axes->width * (float)((value - axes->x0) / (axes->x1 - axes->x0));
}

float sk_axes_y(const sk_axes *axes, double value)
{
    return axes->top + axes->height * (float)((axes->y1 - value) / (axes->y1 - axes->y0));
}

double sk_axes_step(double range, int most)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    const double unit = pow(10, floor(log10(range / most)));
    for (int i = 0; i < 4; i++)
        if (range / (steps[i] * unit) <= most)
            return steps[i] * unit;
    return steps[4] * unit;
}

static void one_axis(sk_chart *chart, const sk_axes *a, bool across)
{
    const double from = across ? a->x0 : a->y0, to = across ? a->x1 : a->y1;
    const double low = fmin(from, to), high = fmax(from, to);
    if (!(high > low) || !isfinite(high - low))
        return;
    const double step = sk_axes_step(high - low, across ? 8 : 6);
    const int first = (int)ceil(low / step - 1e-9), last = (int)floor(high / step + 1e-9);
    for (int i = first; i <= last; i++) {
        char number[SK_TEXT_NUMBER];
        const double value = i * step;
        sk_text_number(value, 6, number, sizeof number);
        const float x = across ? sk_axes_x(a, value) : a->left, y = across ? a->top : sk_axes_y(a, value);
        const float line[] = {x, y, across ? x : a->left + a->width, across ? a->top + a->height : y};
        sk_chart_line(chart, line, 2, 1, GRID);
        if (across)
            sk_chart_text(chart, x, a->top + a->height + 17, 12, 0, INK, number);
        else
            sk_chart_text(chart, a->left - 7, y + 4, 12, 1, INK, number);
    }
}

void sk_axes_draw(sk_chart *chart, const sk_axes *a, const char *x_name, const char *y_name)
{
    if (x_name)
        one_axis(chart, a, true);
    if (y_name)
        one_axis(chart, a, false);
    const float right = a->left + a->width, low = a->top + a->height;
    const float edge[] = {a->left, a->top, right, a->top, right, low, a->left, low, a->left, a->top};
    sk_chart_line(chart, edge, 5, 1, INK);
    if (x_name)
        sk_chart_text(chart, a->left + a->width / 2, low + 38, 13, 0, INK, x_name);
    if (y_name)
        sk_chart_text_up(chart, 16, a->top + a->height / 2, 13, INK, y_name);
}

uint32_t sk_chart_mix(uint32_t from, uint32_t to, double part)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const double a = (double)(from >> shift & 255), b = (double)(to >> shift & 255);
        mixed |= (uint32_t)lrint(a + (b - a) * part) << shift;
    }
    return mixed;
}

/* Yellow over green and blue to a dark violet: brightness falls all the way, so it reads in grey, too. */
uint32_t sk_chart_heat(double part)
{
    static const uint32_t stops[] = {0xffffff, 0xf7e96b, 0x7ad151, 0x22a884, 0x2a788e, 0x414487, 0x2b0a3d};
    const int last = (int)(sizeof stops / sizeof *stops) - 1;
    const double at = fmin(fmax(part, 0), 1) * last;
    const int i = at >= last ? last - 1 : (int)at;
    return sk_chart_mix(stops[i], stops[i + 1], at - i);
}
