/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <math.h>

/* Which taps of a window fall where, along one axis: first .. last-1 lie inside the image; `padded` of
 * them lie inside the image or its padding, which is what count_include_pad counts. */
typedef struct tap_range {
    int64_t begin, first, last, padded;
} tap_range;

static tap_range taps(const sk_window *w, int axis, int64_t out, int64_t size)
{
    tap_range t = {
        .begin = out * w->stride[axis] - w->pad[axis], .first = w->kernel[axis], .last = 0, .padded = 0};
    for (int64_t k = 0; k < w->kernel[axis]; k++) {
        int64_t at = t.begin + k * w->dilation[axis];
        if (at < size + w->pad[axis + 2])
            t.padded++;
        if (at >= 0 && at < size) {
            t.first = k < t.first ? k : t.first;
            t.last = k + 1;
        }
    }
    return t;
}

typedef double (*pool_function)(const sk_node *node, const sk_window *win, const float *plane, int64_t width,
                                const tap_range *ty, const tap_range *tx);

static double max_of(const sk_node *node, const sk_window *win, const float *plane, int64_t width,
                     const tap_range *ty, const tap_range *tx)
{
    (void)node;
    double best = -INFINITY;
    for (int64_t ky = ty->first; ky < ty->last; ky++) {
        const float *row = plane + (ty->begin + ky * win->dilation[0]) * width;
        for (int64_t kx = tx->first; kx < tx->last; kx++) {
            double v = (double)row[tx->begin + kx * win->dilation[1]];
            if (v > best || isnan(v))
                best = v;
        }
    }
    return best;
}

static double average_of(const sk_node *node, const sk_window *win, const float *plane, int64_t width,
                         const tap_range *ty, const tap_range *tx)
{
    double sum = 0;
    int64_t inside = 0;
    for (int64_t ky = ty->first; ky < ty->last; ky++) {
        const float *row = plane + (ty->begin + ky * win->dilation[0]) * width;
        for (int64_t kx = tx->first; kx < tx->last; kx++, inside++)
            sum += (double)row[tx->begin + kx * win->dilation[1]];
    }
    int64_t count = node->a.pool.count_include_pad ? ty->padded * tx->padded : inside;
    return count ? sum / (double)count : 0;
}

static sk_status pool(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, pool_function function,
                      sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *y = &outs[0].shape;
    sk_window win = sk_window_resolve(&node->a.pool.window, x->dim[2], x->dim[3]);
    int64_t oh = y->dim[2], ow = y->dim[3];
    tap_range *columns = sk_calloc((size_t)ow, sizeof *columns);
    if (!columns)
        return sk_fail_memory(err, (size_t)ow * sizeof *columns);
    for (int64_t ox = 0; ox < ow; ox++)
        columns[ox] = taps(&win, 1, ox, x->dim[3]);
    for (int64_t oy = 0; oy < oh; oy++) {
        tap_range ty = taps(&win, 0, oy, x->dim[2]);
        for (int64_t p = 0; p < x->dim[0] * x->dim[1]; p++) {
            const float *plane = (const float *)ins[0].data + p * x->dim[2] * x->dim[3];
            float *row = (float *)outs[0].data + (p * oh + oy) * ow;
            for (int64_t ox = 0; ox < ow; ox++)
                row[ox] = (float)function(node, &win, plane, x->dim[3], &ty, &columns[ox]);
        }
    }
    sk_free(columns);
    return SK_OK;
}

sk_status sk_ref_max_pool(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    return pool(node, ins, outs, max_of, err);
}

sk_status sk_ref_avg_pool(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    return pool(node, ins, outs, average_of, err);
}
