/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/row_strips.h"

#include "base/memory.h"
#include "tasks/resize_linear.h"

int32_t sk_row_strips_number(const sk_row_strips *s, int32_t row)
{
    const int32_t at = row - s->first;
    if (at < 0 || at / s->step >= s->count || at % s->step >= s->height)
        return -1;
    return at / s->step * s->height + at % s->step;
}

/* Do the rows that are read lie in equal strips, and is it worth leaving out the others? */
static bool regular(const uint8_t *used, int32_t height, sk_row_strips *out)
{
    int32_t first = 0, high = 0, last = height - 1, next;
    while (first < height && !used[first])
        first++;
    while (last >= 0 && !used[last])
        last--;
    while (first + high < height && used[first + high])
        high++;
    for (next = first + high; next < height && !used[next]; next++)
        ;
    const int32_t step = next - first, count = step > 0 ? (last - first) / step + 1 : 0;
    if (first > last || next >= height || 4 * high > 3 * step || first + (count - 1) * step + high > height)
        return false;
    *out = (sk_row_strips){first, step, high, count};
    for (int32_t y = 0; y < height; y++)
        if (used[y] && sk_row_strips_number(out, y) < 0)
            return false;
    return true;
}

sk_status sk_row_strips_find(int32_t width, int32_t height, int32_t to_width, int32_t to_height,
                             sk_row_strips *out, sk_error *err)
{
    sk_row_strips strips;
    *out = (sk_row_strips){0};
    if (to_height < 1 || height <= to_height || (width == 2 * to_width && height == 2 * to_height))
        return SK_OK; /* an exact halving is the mean of 2 x 2: all count */
    int32_t *i0 = sk_calloc((size_t)to_height * 2, sizeof *i0), *i1 = i0 ? i0 + to_height : NULL;
    int16_t(*w)[2] = sk_calloc((size_t)to_height, sizeof *w);
    uint8_t *used = sk_calloc((size_t)height, 1);
    sk_status status = SK_OK;
    if (!i0 || !w || !used) {
        status = sk_fail_memory(err, (size_t)to_height * 12 + (size_t)height);
        goto done;
    }
    sk_resize_linear_taps(height, to_height, 1, 1, i0, i1, w);
    for (int32_t i = 0; i < to_height; i++) {
        used[i0[i]] |= w[i][0] != 0;
        used[i1[i]] |= w[i][1] != 0;
    }
    if (regular(used, height, &strips))
        *out = strips;
done:
    sk_free_all(i0, w, used);
    return status;
}
