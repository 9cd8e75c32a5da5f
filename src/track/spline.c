/* SPDX-License-Identifier: Apache-2.0 */
#include "track/spline.h"

/* By the usual three diagonals. */
void sk_spline_bends(const double *x, const double *y, size_t n, double *bend, double *share)
{
    bend[0] = bend[n - 1] = 0;
    share[0] = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        const double left = (x[i] - x[i - 1]) / 6, middle = (x[i + 1] - x[i - 1]) / 3,
                     right = (x[i + 1] - x[i]) / 6;
        const double wanted = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
        const double pivot = middle - left * share[i - 1];
        share[i] = right / pivot;
        bend[i] = (wanted - left * bend[i - 1]) / pivot;
    }
    for (size_t i = n - 1; i-- > 1;)
        bend[i] -= share[i] * bend[i + 1];
}
