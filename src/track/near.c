/* SPDX-License-Identifier: Apache-2.0 */
#include "track/near.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

void sk_near_free(sk_near *near)
{
    sk_free(near->start);
    sk_free(near->order);
    sk_free(near->cell);
    memset(near, 0, sizeof *near);
}

static sk_status reserve(int32_t **items, size_t *capacity, size_t wanted, sk_error *err)
{
    void *block = *items;
    SK_TRY(sk_array_reserve(&block, capacity, wanted, sizeof **items, (size_t)1 << 28, err));
    *items = block;
    return SK_OK;
}

static int32_t clamp(double cell, int32_t n)
{
    return cell < 0 ? 0 : cell >= n ? n - 1 : (int32_t)cell;
}

sk_status sk_near_fill(sk_near *near, const double *x, const double *y, size_t step, int32_t n, sk_error *err)
{
    /* About two cells a point: few points in a cell, few empty cells to pass. */
    int32_t side = 1;
    while ((int64_t)side * side < 2 * (int64_t)n && side < 512)
        side++;
    near->across = near->down = side;
    const size_t cells = (size_t)side * (size_t)side;
    SK_TRY(reserve(&near->start, &near->start_capacity, cells + 1, err));
    SK_TRY(reserve(&near->order, &near->order_capacity, (size_t)n, err));
    SK_TRY(reserve(&near->cell, &near->cell_capacity, (size_t)n, err));
    double x1 = -INFINITY, y1 = -INFINITY;
    near->x0 = near->y0 = INFINITY;
    for (int32_t i = 0; i < n; i++) {
        const double px = x[(size_t)i * step], py = y[(size_t)i * step];
        near->x0 = px < near->x0 ? px : near->x0;
        near->y0 = py < near->y0 ? py : near->y0;
        x1 = px > x1 ? px : x1;
        y1 = py > y1 ? py : y1;
    }
    near->per_x = x1 > near->x0 ? side / (x1 - near->x0) : 0;
    near->per_y = y1 > near->y0 ? side / (y1 - near->y0) : 0;
    memset(near->start, 0, (cells + 1) * sizeof *near->start);
    for (int32_t i = 0; i < n; i++) {
        const int32_t column = clamp((x[(size_t)i * step] - near->x0) * near->per_x, side);
        const int32_t row = clamp((y[(size_t)i * step] - near->y0) * near->per_y, side);
        near->cell[i] = row * side + column;
        near->start[near->cell[i] + 1]++;
    }
    for (size_t c = 0; c < cells; c++)
        near->start[c + 1] += near->start[c];
    for (int32_t i = n - 1; i >= 0; i--) /* the ends of cells walk down to their starts, and one cell on */
        near->order[--near->start[near->cell[i] + 1]] = i;
    memmove(near->start, near->start + 1, cells * sizeof *near->start);
    near->start[cells] = n;
    return SK_OK;
}

sk_near_cells sk_near_around(const sk_near *near, double x, double y, double reach)
{
    const double left = (x - reach - near->x0) * near->per_x, right = (x + reach - near->x0) * near->per_x;
    const double top = (y - reach - near->y0) * near->per_y, bottom = (y + reach - near->y0) * near->per_y;
    if (!(right >= 0 && left <= near->across && bottom >= 0 && top <= near->down))
        return (sk_near_cells){0, -1, 0, -1};
    return (sk_near_cells){clamp(left, near->across), clamp(right, near->across), clamp(top, near->down),
                           clamp(bottom, near->down)};
}
