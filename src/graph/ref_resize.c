/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <math.h>

/* Resizing is separable: along each axis every output pixel is a weighted sum of a few input pixels. */
typedef struct tap_list {
    int64_t n;      /* taps an output pixel */
    int64_t *index; /* [out][n], clamped into the image */
    double *weight; /* [out][n] */
} tap_list;

static void tap_list_close(tap_list *t)
{
    sk_free(t->index);
    sk_free(t->weight);
}

/* Where output position x lies in the input, in pixels. `ratio` = input / output size or 1 / the given
 * scale. */
static double source_position(sk_resize_coords coords, int64_t x, int64_t in, int64_t out, double ratio)
{
    switch (coords) {
    case SK_COORDS_ASYMMETRIC: return (double)x * ratio;
    case SK_COORDS_ALIGN_CORNERS: return out > 1 ? (double)x * (double)(in - 1) / (double)(out - 1) : 0;
    case SK_COORDS_PYTORCH_HALF_PIXEL:
        if (out == 1)
            return 0;
        break;
    case SK_COORDS_HALF_PIXEL: break;
    }
    return ((double)x + 0.5) * ratio - 0.5;
}

static double rounded(sk_resize_round rule, double x)
{
    switch (rule) {
    case SK_ROUND_FLOOR: return floor(x);
    case SK_ROUND_CEIL: return ceil(x);
    case SK_ROUND_PREFER_FLOOR: return ceil(x - 0.5);
    case SK_ROUND_PREFER_CEIL: return floor(x + 0.5);
    }
    return floor(x);
}

static double cubic(double x, double a)
{
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static int64_t clamp_index(double x, int64_t size)
{
    return x < 0 ? 0 : x > (double)(size - 1) ? size - 1 : (int64_t)x;
}

/* The weight of an input pixel `distance` pixels away, before stretching. */
static double filter(const sk_node *node, double distance)
{
    return node->a.resize.mode == SK_RESIZE_CUBIC ? cubic(distance, (double)node->a.resize.cubic_a)
                                                  : triangle(distance);
}

/* Linear and cubic filters, stretched when shrinking with antialiasing. Taps outside the image read its
 * edge, or are left out (exclude_outside); either way the weights add up to one. */
static void filter_taps(const sk_node *node, double position, double stretch, int64_t in, int64_t n,
                        int64_t *index, double *weight)
{
    double reach = (node->a.resize.mode == SK_RESIZE_CUBIC ? 2 : 1) * stretch;
    double first = ceil(position - reach), sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double at = first + (double)k;
        bool left_out = node->a.resize.exclude_outside && (at < 0 || at > (double)(in - 1));
        index[k] = clamp_index(at, in);
        weight[k] = left_out ? 0 : filter(node, (at - position) / stretch);
        sum += weight[k];
    }
    for (int64_t k = 0; k < n && sum != 0; k++)
        weight[k] /= sum;
}

static sk_status make_taps(const sk_node *node, int axis, bool sized, int64_t in, int64_t out, tap_list *t,
                           sk_error *err)
{
    double ratio = sized ? (double)in / (double)out : 1 / (double)node->a.resize.scale[axis];
    double stretch = node->a.resize.antialias && ratio > 1 ? ratio : 1;
    bool nearest = node->a.resize.mode == SK_RESIZE_NEAREST;
    t->n = nearest ? 1 : 2 * (int64_t)ceil((node->a.resize.mode == SK_RESIZE_CUBIC ? 2 : 1) * stretch) + 1;
    size_t count;
    if (!sk_mul_size((size_t)t->n, (size_t)out, &count) || count > SK_TENSOR_BYTES_MAX / 8)
        return sk_node_fail(node, err, SK_ERR_LIMIT, "%lld pixels to %lld with antialiasing", (long long)in,
                            (long long)out);
    t->index = sk_calloc(count, sizeof *t->index);
    t->weight = sk_calloc(count, sizeof *t->weight);
    if (!t->index || !t->weight)
        return sk_fail_memory(err, count * sizeof *t->weight);
    for (int64_t x = 0; x < out; x++) {
        /* whole multiples stay exact: x * in / out, not x * (in / out) */
        double position = node->a.resize.coords == SK_COORDS_ASYMMETRIC && sized
                              ? (double)x * (double)in / (double)out
                              : source_position(node->a.resize.coords, x, in, out, ratio);
        if (nearest) {
            t->index[x] = clamp_index(rounded(node->a.resize.round, position), in);
            t->weight[x] = 1;
        } else {
            filter_taps(node, position, stretch, in, t->n, t->index + x * t->n, t->weight + x * t->n);
        }
    }
    return SK_OK;
}

/* One plane: first along the rows that are needed, then across them. */
static void resize_plane(const float *in, int64_t h, int64_t w, const tap_list *ty, const tap_list *tx,
                         double *rows, float *out, int64_t oh, int64_t ow)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < ow; x++) {
            double sum = 0;
            for (int64_t k = 0; k < tx->n; k++) {
                double weight = tx->weight[x * tx->n + k];
                if (weight != 0)
                    sum += weight * (double)in[y * w + tx->index[x * tx->n + k]];
            }
            rows[y * ow + x] = sum;
        }
    for (int64_t y = 0; y < oh; y++)
        for (int64_t x = 0; x < ow; x++) {
            double sum = 0;
            for (int64_t k = 0; k < ty->n; k++) {
                double weight = ty->weight[y * ty->n + k];
                if (weight != 0)
                    sum += weight * rows[ty->index[y * ty->n + k] * ow + x];
            }
            out[y * ow + x] = (float)sum;
        }
}

sk_status sk_ref_resize(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *y = &outs[0].shape;
    int64_t h = x->dim[2], w = x->dim[3], oh = y->dim[2], ow = y->dim[3];
    bool sized = sk_node_input(node, ins, 1) != NULL;
    tap_list ty = {0}, tx = {0};
    double *rows = NULL;
    sk_status status;
    SK_TRY_GOTO(make_taps(node, 0, sized, h, oh, &ty, err));
    SK_TRY_GOTO(make_taps(node, 1, sized, w, ow, &tx, err));
    size_t count = (size_t)h * (size_t)ow; /* both below 2^31 */
    rows = count <= SK_TENSOR_BYTES_MAX / 8 ? sk_calloc(count, sizeof *rows) : NULL;
    if (!rows) {
        status = sk_fail_memory(err, count * sizeof *rows);
        goto done;
    }
    for (int64_t p = 0; p < x->dim[0] * x->dim[1]; p++)
        resize_plane((const float *)ins[0].data + p * h * w, h, w, &ty, &tx, rows,
                     (float *)outs[0].data + p * oh * ow, oh, ow);
done:
    sk_free(rows);
    tap_list_close(&ty);
    tap_list_close(&tx);
    return status;
}

/* --- sampling at free positions --- */

static double grid_pixel(const sk_node *node, const float *plane, int64_t h, int64_t w, double y, double x)
{
    if (node->a.grid_sample.padding == 0 && (y < 0 || x < 0 || y > (double)(h - 1) || x > (double)(w - 1)))
        return 0;
    return (double)plane[clamp_index(y, h) * w + clamp_index(x, w)];
}

static double unnormalise(const sk_node *node, double v, int64_t size)
{
    double at = node->a.grid_sample.align_corners ? (v + 1) / 2 * (double)(size - 1)
                                                  : ((v + 1) * (double)size - 1) / 2;
    if (node->a.grid_sample.padding == 1)
        at = at < 0 ? 0 : at > (double)(size - 1) ? (double)(size - 1) : at;
    return isnan(at) ? -2 : at; /* outside */
}

static double sample(const sk_node *node, const float *plane, int64_t h, int64_t w, double y, double x)
{
    if (node->a.grid_sample.mode == 1)
        return grid_pixel(node, plane, h, w, nearbyint(y), nearbyint(x));
    double y0 = floor(y), x0 = floor(x), fy = y - y0, fx = x - x0;
    return grid_pixel(node, plane, h, w, y0, x0) * (1 - fy) * (1 - fx) +
           grid_pixel(node, plane, h, w, y0, x0 + 1) * (1 - fy) * fx +
           grid_pixel(node, plane, h, w, y0 + 1, x0) * fy * (1 - fx) +
           grid_pixel(node, plane, h, w, y0 + 1, x0 + 1) * fy * fx;
}

sk_status sk_ref_grid_sample(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    const sk_shape *x = &ins[0].shape;
    int64_t h = x->dim[2], w = x->dim[3], channels = x->dim[1];
    int64_t points = ins[1].shape.dim[1] * ins[1].shape.dim[2];
    float *out = outs[0].data;
    for (int64_t n = 0; n < x->dim[0]; n++) {
        const float *grid = (const float *)ins[1].data + n * points * 2;
        for (int64_t c = 0; c < channels; c++) {
            const float *plane = (const float *)ins[0].data + (n * channels + c) * h * w;
            for (int64_t i = 0; i < points; i++)
                out[(n * channels + c) * points + i] =
                    (float)sample(node, plane, h, w, unnormalise(node, (double)grid[2 * i + 1], h),
                                  unnormalise(node, (double)grid[2 * i], w));
        }
    }
    return SK_OK;
}
