/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_PEAK_ELEMENT_H
#define SK_ENGINES_CUDA_PEAK_ELEMENT_H

#include "element.h"
#include "tasks/peak_formula.h"

/* Peaks of maps and scores of lines: which thread looks where, and how values lie. What is computed are the formulas that
 * tasks/peaks.c, tasks/paf_grouping.c and tasks/identity.c use, too; one function for device and host. */

GPU_HD float gpu_view_at(const void *p, const gpu_view *v, int64_t image, int32_t c, int32_t y, int32_t x)
{
    return gpu_load(p, image * v->image + ((int64_t)y * v->w + x) * v->pixel + (int64_t)c * v->channel,
                    v->type);
}

/* 0 outside; loads from inside all the same, so that neighbouring loads do not wait for each other. */
GPU_HD float gpu_view_or(const void *p, const gpu_view *v, int64_t image, int32_t c, int32_t y, int32_t x,
                         float outside)
{
    const int32_t u = x < 0 ? 0 : x < v->w ? x : v->w - 1, w = y < 0 ? 0 : y < v->h ? y : v->h - 1;
    const float value = gpu_view_at(p, v, image, c, w, u);
    return u == x && w == y ? value : outside;
}

/* --- one peak --- */

GPU_HD void gpu_peak_move(const gpu_peaks_args *a, int64_t image, int32_t c, int32_t x, int32_t y, float *px,
                          float *py)
{
    float mx, my;
    if (a->p[2]) {
        mx = gpu_view_at(a->p[2], &a->offsets, image, 2 * c, y, x);
        my = gpu_view_at(a->p[2], &a->offsets, image, 2 * c + 1, y, x);
    } else if (a->refinement == 0) {
        return;
    } else if (a->refinement == 2) {
        mx = sk_peak_quarter(gpu_view_or(a->p[1], &a->maps, image, c, y, x - 1, 0.0f),
                             gpu_view_or(a->p[1], &a->maps, image, c, y, x + 1, 0.0f));
        my = sk_peak_quarter(gpu_view_or(a->p[1], &a->maps, image, c, y - 1, x, 0.0f),
                             gpu_view_or(a->p[1], &a->maps, image, c, y + 1, x, 0.0f));
    } else {
        float patch[25];
        sk_peak_mass mass = {0, 0, 0};
        SK_UNROLL for (int32_t k = 0; k < 25; k++) /* all loads first */
            patch[k] = gpu_view_or(a->p[1], &a->maps, image, c, y + k / 5 - 2, x + k % 5 - 2, 0.0f);
        SK_UNROLL for (int32_t k = 0; k < 25; k++) sk_peak_mass_add(&mass, k % 5 - 2, k / 5 - 2, patch[k]);
        mx = mass.x / mass.sum;
        my = mass.y / mass.sum;
    }
    sk_peak_move(px, py, mx, my);
}

GPU_HD void gpu_peak_write(const gpu_peaks_args *a, int64_t image, int32_t c, int32_t index, int32_t x,
                           int32_t y, float value)
{
    int32_t *row = (int32_t *)a->p[0] + image * a->image_words + a->rows +
                   ((int64_t)c * a->capacity + index) * a->row_words;
    float *values = (float *)row;
    float px = (float)x, py = (float)y;
    gpu_peak_move(a, image, c, x, y, &px, &py);
    row[0] = y * a->maps.w + x;
    values[1] = value;
    values[2] = px;
    values[3] = py;
    for (int32_t k = 0; k < a->n_classes; k++)
        values[4 + k] = gpu_view_at(a->p[3], &a->others, image, k,
                                    sk_peak_pixel_of(py, a->maps_stride, a->others_stride, a->others.h),
                                    sk_peak_pixel_of(px, a->maps_stride, a->others_stride, a->others.w));
}

/* --- local maxima --- */

/* A value above the threshold: is it above its neighbours? Then it gets the next row, while there are any; the count goes
 * on, so that what has no room is not lost without a word. */
GPU_HD void gpu_peak_look(const gpu_peaks_args *a, int64_t image, int32_t c, int32_t y, int32_t x, float v)
{
    float patch[9];
    if (!sk_is_finite(v))
        return;
    SK_UNROLL for (int32_t k = 0; k < 9; k++) patch[k] =
        k == 4 ? v : gpu_view_or(a->p[1], &a->maps, image, c, y + k / 3 - 1, x + k % 3 - 1, -INFINITY);
    if (!sk_peak_is_top(patch))
        return;
    const int32_t index = gpu_next((int32_t *)a->p[0] + image * a->image_words + a->counts + c);
    if (index < a->capacity)
        gpu_peak_write(a, image, c, index, x, y, v);
}

GPU_HD void gpu_peak_local_element(const gpu_peaks_args *a, int64_t i)
{
    /* neighbouring threads read neighbouring values, in maps and in planes */
    const int64_t plane = (int64_t)a->maps.h * a->maps.w,
                  at = a->maps.pixel == 1 ? i % plane : i / a->channels % plane;
    const int32_t c = (int32_t)(a->maps.pixel == 1 ? i / plane % a->channels : i % a->channels);
    const int32_t x = (int32_t)(at % a->maps.w), y = (int32_t)(at / a->maps.w);
    const int64_t image = i / a->channels / plane;
    const float v = gpu_view_at(a->p[1], &a->maps, image, c, y, x);
    if (v > a->threshold)
        gpu_peak_look(a, image, c, y, x, v);
}

/* --- the highest value --- */

/* Places of a slice: [from, to). */
GPU_HD void gpu_slice_range(const gpu_peaks_args *a, int32_t slice, int32_t *from, int32_t *to)
{
    const int32_t places = a->maps.w * a->maps.h, each = (places + a->n_slices - 1) / a->n_slices;
    *from = slice * each;
    *to = *from + each < places ? *from + each : places;
}

/* p = slices: [image][slice][channel] of value, x, y. */
GPU_HD void gpu_slice_write(const gpu_peaks_args *a, int64_t image, int32_t slice, int32_t c,
                            const sk_highest *best)
{
    float *to = (float *)a->p[0] + ((image * a->n_slices + slice) * a->channels + c) * 3;
    to[0] = best->v;
    ((int32_t *)to)[1] = best->x;
    ((int32_t *)to)[2] = best->y;
}

GPU_HD void gpu_slice_element(const gpu_peaks_args *a, int64_t i)
{
    const int32_t c = (int32_t)(i % a->channels), slice = (int32_t)(i / a->channels % a->n_slices);
    const int64_t image = i / a->channels / a->n_slices;
    sk_highest best = sk_highest_begin();
    int32_t from, to;
    gpu_slice_range(a, slice, &from, &to);
    for (int32_t k = from; k < to; k++)
        sk_highest_join(&best, gpu_view_at(a->p[1], &a->maps, image, c, k / a->maps.w, k % a->maps.w),
                        k % a->maps.w, k / a->maps.w);
    gpu_slice_write(a, image, slice, c, &best);
}

GPU_HD void gpu_highest_write(const gpu_peaks_args *a, int64_t image, int32_t c, const sk_highest *best)
{
    const int found = sk_highest_found(best->v, a->threshold);
    ((int32_t *)a->p[0])[image * a->image_words + a->counts + c] = found;
    if (found)
        gpu_peak_write(a, image, c, 0, best->x, best->y, best->v);
}

/* Of the slices; where there are none, of the whole map. */
GPU_HD void gpu_highest_element(const gpu_peaks_args *a, int64_t i)
{
    const int32_t c = (int32_t)(i % a->channels);
    const int64_t image = i / a->channels;
    sk_highest best = sk_highest_begin();
    for (int32_t k = 0; a->n_slices == 0 && k < a->maps.h * a->maps.w; k++)
        sk_highest_join(&best, gpu_view_at(a->p[1], &a->maps, image, c, k / a->maps.w, k % a->maps.w),
                        k % a->maps.w, k / a->maps.w);
    for (int32_t k = 0; k < a->n_slices; k++) {
        const float *from = (const float *)a->p[4] + ((image * a->n_slices + k) * a->channels + c) * 3;
        sk_highest_join(&best, from[0], ((const int32_t *)from)[1], ((const int32_t *)from)[2]);
    }
    gpu_highest_write(a, image, c, &best);
}

/* --- lines --- */

GPU_HD float gpu_line_score(const gpu_peaks_args *a, int64_t image, int32_t edge, const float from[2],
                            const float to[2])
{
    sk_line line = sk_line_begin(from, to, a->n_points, a->others_stride);
    SK_UNROLL_FEW for (int32_t i = 0; i < a->n_points; i++)
    {
        int32_t x, y;
        sk_line_pixel(&line, i, a->others.w, a->others.h, &x, &y);
        sk_line_add(&line, gpu_view_at(a->p[3], &a->others, image, 2 * edge, y, x),
                    gpu_view_at(a->p[3], &a->others, image, 2 * edge + 1, y, x));
    }
    return sk_line_score(&line, a->others.w, a->others.h, 2 * a->n_edges, a->ratio, a->weight);
}

GPU_HD void gpu_line_element(const gpu_peaks_args *a, int64_t i)
{
    const int64_t image = i / a->pairs, pair = i % a->pairs;
    int32_t *table = (int32_t *)a->p[0] + image * a->image_words;
    int64_t first = 0;
    for (int32_t e = 0; e < a->n_edges; e++) {
        const int32_t s = a->edges[e][0], d = a->edges[e][1];
        const int32_t rows = table[a->counts + s], columns = table[a->counts + d];
        const int64_t n = (int64_t)rows * columns;
        if (rows > a->capacity || columns > a->capacity)
            return; /* the maps come instead */
        if (pair >= first + n) {
            first += n;
            continue;
        }
        const int32_t r = (int32_t)((pair - first) / columns), c = (int32_t)((pair - first) % columns);
        const float *p = (const float *)(table + a->rows + ((int64_t)s * a->capacity + r) * a->row_words);
        const float *q = (const float *)(table + a->rows + ((int64_t)d * a->capacity + c) * a->row_words);
        const float from[2] = {sk_mul(p[2], a->maps_stride), sk_mul(p[3], a->maps_stride)};
        const float to[2] = {sk_mul(q[2], a->maps_stride), sk_mul(q[3], a->maps_stride)};
        ((float *)table)[a->lines + pair] = gpu_line_score(a, image, e, from, to);
        return;
    }
}

GPU_HD_BOTH int64_t gpu_peaks_count(const gpu_peaks_args *a)
{
    switch (a->what) {
    case GPU_PEAKS_CLEAR: return (int64_t)a->n * a->channels;
    case GPU_PEAKS_LOCAL: return (int64_t)a->n * a->maps.h * a->maps.w * a->channels;
    case GPU_PEAKS_SLICES: return (int64_t)a->n * a->n_slices * a->channels;
    case GPU_PEAKS_HIGHEST: return (int64_t)a->n * a->channels;
    default: return (int64_t)a->n * a->pairs;
    }
}

GPU_HD void gpu_peaks_element(const gpu_peaks_args *a, int64_t i)
{
    switch (a->what) {
    case GPU_PEAKS_CLEAR:
        ((int32_t *)a->p[0])[i / a->channels * a->image_words + a->counts + i % a->channels] = 0;
        break;
    case GPU_PEAKS_LOCAL: gpu_peak_local_element(a, i); break;
    case GPU_PEAKS_SLICES: gpu_slice_element(a, i); break;
    case GPU_PEAKS_HIGHEST: gpu_highest_element(a, i); break;
    default: gpu_line_element(a, i); break;
    }
}

#endif
