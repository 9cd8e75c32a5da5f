/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_SPLINE_H
#define SK_TRACK_SPLINE_H

#include <stddef.h>

/* The natural cubic spline through n >= 2 points, x rising: second derivatives at them. `work` has room for n. */
void sk_spline_bends(const double *x, const double *y, size_t n, double *bend, double *work);

/* Between two neighbours with these bends. */
static inline double sk_spline_between(double x0, double x1, double y0, double y1, double bend0, double bend1,
                                       double x)
{
    const double h = x1 - x0, a = (x1 - x) / h, b = (x - x0) / h;
    return a * y0 + b * y1 + ((a * a * a - a) * bend0 + (b * b * b - b) * bend1) * h * h / 6;
}

#endif
