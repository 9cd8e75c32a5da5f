/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_PICTURE_ELEMENT_H
#define SK_ENGINES_CUDA_PICTURE_ELEMENT_H

#include "number_element.h"
#include "tasks/picture_formula.h"

/* The elements of element.h that bring pictures, frames and crops of them into the network's form. */

GPU_HD void gpu_input_element(const gpu_input_args *a, int64_t i)
{
    const int64_t plane = (int64_t)a->h * a->w, image = i / plane, at = i % plane;
    const int64_t y = at / a->w, x = at % a->w;
    for (int32_t c = 0; c < a->ld; c++) {
        float v = 0.0f;
        int byte = 0;
        if (c < a->c && a->planes) {
            v = ((const float *)a->p[1])[(image * a->c + c) * plane + at];
        } else if (c < a->c) {
            byte = ((const uint8_t *)a->p[1])[image * a->picture_bytes + y * a->row_bytes + x * a->c + c];
            v = (float)byte * a->gain[c] - a->shift[c];
        }
        if (a->type == 0)
            ((uint8_t *)a->p[0])[i * a->ld + c] = (uint8_t)byte;
        else
            gpu_store(a->p[0], i * a->ld + c, a->type, v);
    }
}

/* Is this pixel of a crop painted over? Not where its own box, the first, holds it. */
GPU_HD bool gpu_is_painted(const gpu_crop_box *b, int32_t n, int32_t y, int32_t x)
{
    for (int32_t i = 1; i < n; i++)
        if (sk_turned_holds((float)x - b[i].x, (float)y - b[i].y, b[i].cosine, b[i].sine, b[i].half_width,
                            b[i].half_height))
            return !sk_turned_holds((float)x - b->x, (float)y - b->y, b->cosine, b->sine, b->half_width,
                                    b->half_height);
    return false;
}

/* The boxes of a crop; none where the numbers are none (memory nobody has written yet, when a graph is captured). */
GPU_HD int32_t gpu_crop_boxes(const gpu_crop_view *view, int32_t most)
{
    return view->n_boxes > 0 && view->first_box >= 0 && view->first_box < most &&
                   view->n_boxes <= most - view->first_box
               ? view->n_boxes
               : 0;
}

/* Where pixel (y, x) of a turned crop lies in the picture. */
typedef struct gpu_turned_at {
    sk_between x, y;
} gpu_turned_at;

GPU_HD gpu_turned_at gpu_turned_of(const gpu_crop_view *v, int32_t width, int32_t height, int32_t y,
                                   int32_t x)
{
    const float dx = 0 - v->half_x, dy = (float)y - v->half_y;
    gpu_turned_at at;
    at.x = sk_between_of(
        sk_turned_along(sk_turned_x(v->middle_x, dx, dy, v->cosine, v->sine), x, v->cosine, width));
    at.y = sk_between_of(
        sk_turned_along(sk_turned_y(v->middle_y, dx, dy, v->cosine, v->sine), x, v->sine, height));
    return at;
}

/* One channel there, of a picture of `n` channels. */
GPU_HD uint8_t gpu_turned_value(const gpu_turned_at *at, const uint8_t *picture, int64_t row, int32_t n,
                                int32_t c)
{
    const uint8_t *a = picture + at->y.low * row + c, *b = picture + at->y.high * row + c;
    return sk_turned_byte(a[at->x.low * n], a[at->x.high * n], b[at->x.low * n], b[at->x.high * n],
                          at->x.part, at->y.part);
}

/* One channel of a frame's, or a crop's, pixel. */
GPU_HD int gpu_frame_value(const gpu_letterbox_args *a, const uint8_t *frame, int32_t y, int32_t x, int32_t c)
{
    if (a->view.n_boxes > 0 && gpu_is_painted(a->boxes, a->view.n_boxes, y, x))
        return 0;
    if (a->view.turned == 1) {
        const gpu_turned_at at = gpu_turned_of(&a->view, a->frame_w, a->frame_h, y, x);
        return gpu_turned_value(&at, frame, a->row_bytes, a->channels,
                                a->channels == 1 ? 0
                                : a->swap        ? 2 - c
                                                 : c);
    }
    if (a->nv12) {
        const uint8_t *chroma =
            frame + (int64_t)a->frame_h * a->row_bytes + (int64_t)(y / 2) * a->row_bytes + x / 2 * 2;
        const sk_rgb p =
            sk_nv12_pixel(&a->weights, frame[(int64_t)y * a->row_bytes + x], chroma[0], chroma[1]);
        const int32_t at = a->swap ? 2 - c : c;
        return at == 0 ? p.red : at == 1 ? p.green : p.blue;
    }
    const int32_t at = a->channels == 1 ? 0 : a->swap ? 2 - c : c;
    return frame[(int64_t)y * a->row_bytes + (int64_t)x * a->channels + at];
}

/* A crop is a frame that begins elsewhere, with tables of its own. */
GPU_HD void gpu_take_crop(gpu_letterbox_args *a, int64_t image)
{
    const gpu_box_crop *crop = (const gpu_box_crop *)a->p[2] + image;
    uint8_t *tables = (uint8_t *)a->p[2] + (int64_t)a->n * (int64_t)sizeof *crop + image * a->table_bytes;
    a->left = crop->left;
    a->top = crop->top;
    a->rh = crop->rh;
    a->rw = crop->rw;
    a->mode = crop->mode;
    a->picture_bytes = 0;
    a->view = crop->view;
    a->view.n_boxes = gpu_crop_boxes(&crop->view, a->most_boxes);
    a->boxes = (const gpu_crop_box *)((uint8_t *)a->p[2] +
                                      (int64_t)a->n * ((int64_t)sizeof *crop + a->table_bytes)) +
               (a->view.n_boxes ? crop->view.first_box : 0);
    a->p[1] = (uint8_t *)a->p[1] + crop->y * a->row_bytes + (int64_t)crop->x * a->channels;
    a->p[2] = tables;
    a->p[3] = tables + (int64_t)a->w * 8;
    a->p[4] = tables + ((int64_t)a->w + a->h) * 8;
    a->p[5] = tables + ((int64_t)a->w + a->h) * 8 + (int64_t)a->w * 4;
}

/* One pixel of the network's input. */
GPU_HD void gpu_letterbox_element(const gpu_letterbox_args *all, int64_t i)
{
    gpu_letterbox_args its = *all;
    const gpu_letterbox_args *a = &its;
    const int64_t plane = (int64_t)a->h * a->w, image = i / plane, at = i % plane;
    if (its.table_bytes)
        gpu_take_crop(&its, image);
    const int32_t y = (int32_t)(at / a->w) - a->top, x = (int32_t)(at % a->w) - a->left;
    const uint8_t *frame = (const uint8_t *)a->p[1] + image * a->picture_bytes;
    const bool inside = y >= 0 && y < a->rh && x >= 0 && x < a->rw;
    for (int32_t c = 0; c < a->ld; c++) {
        int v = a->border;
        if (c >= a->c) {
            v = 0;
        } else if (inside && a->mode == 0) {
            v = gpu_frame_value(a, frame, y, x, c);
        } else if (inside && a->mode == 2) {
            v = sk_linear_half(gpu_frame_value(a, frame, 2 * y, 2 * x, c),
                               gpu_frame_value(a, frame, 2 * y, 2 * x + 1, c),
                               gpu_frame_value(a, frame, 2 * y + 1, 2 * x, c),
                               gpu_frame_value(a, frame, 2 * y + 1, 2 * x + 1, c));
        } else if (inside) {
            const int32_t *columns = (const int32_t *)a->p[2] + 2 * x,
                          *rows = (const int32_t *)a->p[3] + 2 * y;
            const int16_t *wx = (const int16_t *)a->p[4] + 2 * x, *wy = (const int16_t *)a->p[5] + 2 * y;
            v = sk_linear_down(
                sk_linear_across(gpu_frame_value(a, frame, rows[0], columns[0], c),
                                 gpu_frame_value(a, frame, rows[0], columns[1], c), wx[0], wx[1]),
                sk_linear_across(gpu_frame_value(a, frame, rows[1], columns[0], c),
                                 gpu_frame_value(a, frame, rows[1], columns[1], c), wx[0], wx[1]),
                wy[0], wy[1]);
        }
        if (a->type == 0)
            ((uint8_t *)a->p[0])[i * a->ld + c] = (uint8_t)v;
        else
            gpu_store(a->p[0], i * a->ld + c, a->type, c < a->c ? (float)v * a->gain[c] - a->shift[c] : 0.0f);
    }
}

#endif
