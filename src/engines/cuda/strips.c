/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "tasks/resize_linear.h"

#include <string.h>

/* A frame that is shrunk is not read whole: a result's row is mixed from two rows of the frame, or from one. At 1920 x 1080
 * into 640 x 640 every third row counts, at 3840 x 2160 two of six: only these are brought up. */

/* Which rows of the frame are read. */
static void mark(int32_t to, const int32_t *i0, const int32_t *i1, int16_t (*w)[2], uint8_t *used)
{
    for (int32_t i = 0; i < to; i++) {
        used[i0[i]] |= w[i][0] != 0;
        used[i1[i]] |= w[i][1] != 0;
    }
}

/* Do the rows that are read lie in equal strips, and is it worth leaving out the others? */
static bool regular(const uint8_t *used, int32_t height, gpu_strips *out)
{
    int32_t first = 0, run = 0, last = height - 1, next;
    while (first < height && !used[first])
        first++;
    while (last >= 0 && !used[last])
        last--;
    while (first + run < height && used[first + run])
        run++;
    for (next = first + run; next < height && !used[next]; next++)
        ;
    const int32_t step = next - first, count = step > 0 ? (last - first) / step + 1 : 0;
    if (first > last || next >= height || 4 * run > 3 * step || first + (count - 1) * step + run > height)
        return false;
    *out = (gpu_strips){first, step, run, count};
    for (int32_t y = 0; y < height; y++)
        if (used[y] && gpu_strip_row(out, y) < 0)
            return false;
    return true;
}

int32_t gpu_strip_row(const gpu_strips *s, int32_t row)
{
    const int32_t at = row - s->first;
    if (at < 0 || at / s->step >= s->count || at % s->step >= s->run)
        return -1;
    return at / s->step * s->run + at % s->step;
}

size_t gpu_strip_bytes(const gpu_plan *plan)
{
    const gpu_strips *s = &plan->strips;
    return s->count ? sk_frame_fit_row(&plan->fit) * (size_t)s->run * (size_t)s->count
                    : sk_frame_fit_bytes(&plan->fit);
}

sk_status gpu_find_strips(gpu_plan *plan, sk_error *err)
{
    const sk_frame_fit *f = &plan->fit;
    const int32_t from = f->frame_height, to = f->resized_height;
    plan->strips = (gpu_strips){0};
    if (plan->settings.input != SK_INPUT_FRAMES || f->nv12 || to < 1 || from <= to ||
        (f->frame_width == 2 * f->resized_width && from == 2 * to)) /* the mean of 2 x 2 */
        return SK_OK;
    int32_t *i0 = sk_calloc((size_t)to * 2, sizeof *i0);
    int16_t(*w)[2] = sk_calloc((size_t)to, sizeof *w);
    uint8_t *used = sk_calloc((size_t)from, 1);
    sk_status status = SK_OK;
    if (!i0 || !w || !used) {
        status = sk_fail_memory(err, (size_t)to * 12 + (size_t)from);
    } else {
        gpu_strips strips;
        sk_resize_linear_taps(from, to, 1, 1, i0, i0 + to, w);
        mark(to, i0, i0 + to, w, used);
        if (regular(used, from, &strips))
            plan->strips = strips;
    }
    sk_free(i0);
    sk_free(w);
    sk_free(used);
    return status;
}
