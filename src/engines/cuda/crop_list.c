/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "engines/cuda/pull.h"
#include "engines/cuda/session.h"
#include "engines/cuda/vendor.h"

#include "tasks/letterbox.h"
#include "tasks/resize_linear.h"
#include "tasks/turned.h"

#include <math.h>
#include <string.h>

/* Crops of one frame that lies on the device: the host writes where they lie and how, few bytes. */

enum { PULLED_PART = 16 << 10 };

/* What is written for a submit's crops, in the slot's pinned memory. */
typedef struct crop_writer {
    uint8_t *list;
    gpu_crop_box *boxes;
    int32_t n_boxes;
    size_t bytes; /* of the list, as far as it is used */
} crop_writer;

static crop_writer crop_writer_of(const gpu_session *s, int32_t slot)
{
    const int64_t n = gpu_shape(&s->plan, s->plan.graph->inputs[0])->dim[0];
    uint8_t *list = s->slots[slot].host + s->plan.buffers[s->plan.crop_places].offset;
    return (crop_writer){list, (gpu_crop_box *)(void *)(list + gpu_crop_boxes_at(&s->plan, n)), 0, 0};
}

/* How crop i lies, and what is painted over in it. */
static sk_status view_of(const gpu_session *s, crop_writer *w, const sk_crop_list *crops, int32_t i,
                         gpu_crop_view *out, sk_error *err)
{
    const sk_crop *crop = &crops->items[i];
    const sk_crop_mask *mask = crops->masks && crops->masks[i].count > 0 ? &crops->masks[i] : NULL;
    *out = (gpu_crop_view){0};
    if (crop->turned) {
        out->turned = 1;
        out->half_x = (crop->width - 1) / 2;
        out->half_y = (crop->height - 1) / 2;
        out->middle_x = crop->left + out->half_x;
        out->middle_y = crop->top + out->half_y;
        out->cosine = cosf(crop->angle);
        out->sine = sinf(crop->angle);
    }
    if (!mask)
        return SK_OK;
    if (mask->count > s->plan.crops.form.masks)
        return sk_fail(err, SK_ERR_ARG, "%d boxes around a crop where at most %d were announced", mask->count,
                       s->plan.crops.form.masks);
    _Static_assert(sizeof(gpu_crop_box) == sizeof(sk_turned_box), "the same six numbers");
    out->first_box = w->n_boxes;
    out->n_boxes = sk_crop_mask_boxes(mask, crop, (sk_turned_box *)(void *)(w->boxes + w->n_boxes));
    w->n_boxes += out->n_boxes;
    return SK_OK;
}

/* SLEAP's crops: corners. */
static sk_status list_places(gpu_session *s, crop_writer *w, const sk_crop_list *crops, sk_error *err)
{
    const size_t n = (size_t)gpu_shape(&s->plan, s->plan.graph->inputs[0])->dim[0];
    gpu_cut_crop *places = (gpu_cut_crop *)(void *)w->list;
    w->bytes = n * sizeof *places;
    memset(places, 0, w->bytes);
    for (int32_t i = 0; i < crops->count; i++) {
        places[i] = (gpu_cut_crop){.left = crops->items[i].left, .top = crops->items[i].top};
        SK_TRY(view_of(s, w, crops, i, &places[i].view, err));
    }
    return SK_OK;
}

/* Two places and two weights of every column, or row. */
static void write_taps(gpu_session *s, int32_t from, int32_t to, int vertical, int32_t (*taps)[2],
                       int16_t (*weights)[2])
{
    int32_t *first = s->taps, *second = s->taps + to;
    sk_resize_linear_taps(from, to, vertical, 1, first, second, weights);
    for (int32_t i = 0; i < to; i++) {
        taps[i][0] = first[i];
        taps[i][1] = second[i];
    }
}

/* Letterboxed crops: where each lands, and its tables. */
static sk_status list_boxes(gpu_session *s, crop_writer *writer, const sk_crop_list *crops, sk_error *err)
{
    const sk_crop_form *f = &s->plan.crops.form;
    const size_t n = (size_t)gpu_shape(&s->plan, s->plan.graph->inputs[0])->dim[0];
    const size_t w = (size_t)f->width, h = (size_t)f->height, each = gpu_crop_table_bytes(&s->plan);
    gpu_box_crop *boxes = (gpu_box_crop *)(void *)writer->list;
    uint8_t *tables = (uint8_t *)(boxes + n);
    memset(boxes, 0, n * sizeof *boxes); /* those that are not there are all border */
    for (int32_t i = 0; i < crops->count; i++, tables += each) {
        const sk_crop *crop = &crops->items[i];
        const int32_t cw = (int32_t)crop->width, ch = (int32_t)crop->height;
        sk_letterbox_geometry g;
        boxes[i] = (gpu_box_crop){.x = crop->turned ? 0 : (int32_t)crop->left,
                                  .y = crop->turned ? 0 : (int32_t)crop->top};
        if (crop->turned ? cw < 1 || ch < 1 || cw > 65536 || ch > 65536
                         : boxes[i].x < 0 || boxes[i].y < 0 || cw < 1 || ch < 1 ||
                               cw > f->frame_width - boxes[i].x || ch > f->frame_height - boxes[i].y)
            return sk_fail(err, SK_ERR_ARG, "a crop of %dx%d at %d,%d is not inside a frame of %dx%d", cw, ch,
                           boxes[i].x, boxes[i].y, f->frame_width, f->frame_height);
        SK_TRY(view_of(s, writer, crops, i, &boxes[i].view, err));
        SK_TRY(sk_letterbox_fit(cw, ch, f->width, f->height, 0, &g, err));
        boxes[i].left = g.left;
        boxes[i].top = g.top;
        boxes[i].rw = g.resized_width;
        boxes[i].rh = g.resized_height;
        boxes[i].mode = gpu_box_mode(cw, ch, g.resized_width, g.resized_height);
        if (boxes[i].mode != 1)
            continue;
        write_taps(s, cw, g.resized_width, 0, (int32_t(*)[2])(void *)tables,
                   (int16_t(*)[2])(void *)(tables + (w + h) * 8));
        write_taps(s, ch, g.resized_height, 1, (int32_t(*)[2])(void *)(tables + w * 8),
                   (int16_t(*)[2])(void *)(tables + (w + h) * 8 + w * 4));
    }
    writer->bytes = (size_t)(tables - (uint8_t *)boxes);
    return SK_OK;
}

sk_status gpu_bring_crops(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
                          sk_error *err)
{
    const sk_crop_wish *w = &s->plan.crops;
    const gpu_buffer *to = &s->plan.buffers[s->plan.inputs[index]],
                     *list = &s->plan.buffers[s->plan.crop_places];
    const sk_frame *frame = input->frames[0];
    gpu_slot *at = &s->slots[slot];
    const size_t row = (size_t)w->form.frame_width * (size_t)w->channels, rows = (size_t)w->form.frame_height;
    const int32_t channels = frame->format == SK_PIXEL_GRAY ? 1 : 3;
    if (frame->place != GPU_PLACE || frame->device != s->device || frame->width != w->form.frame_width ||
        frame->height != w->form.frame_height || channels != w->channels ||
        (frame->format == SK_PIXEL_BGR) != (w->swap != 0))
        return sk_fail(
            err, SK_ERR_ARG, "crops of a frame of %dx%d on device %d from a session for %dx%d on device %d",
            frame->width, frame->height, frame->device, w->form.frame_width, w->form.frame_height, s->device);
    SK_TRY(gpu_check(s, gpu_wait_for_pixels(s, frame), "frame", err));
    crop_writer writer = crop_writer_of(s, slot);
    if (w->form.rule == SK_CROP_LETTERBOX)
        SK_TRY(list_boxes(s, &writer, input->crops, err));
    else
        SK_TRY(list_places(s, &writer, input->crops, err));
    const size_t before = (size_t)((uint8_t *)writer.boxes - writer.list); /* the boxes */
    const bool dense = (size_t)frame->stride == row;                       /* then one piece */
    const gpu_piece pieces[] = {{.to = at->device + to->offset, .from = frame->data, .bytes = row * rows},
                                {.to = at->device + list->offset, .from = writer.list, .bytes = writer.bytes},
                                {.to = at->device + list->offset + before,
                                 .from = writer.boxes,
                                 .bytes = (size_t)writer.n_boxes * sizeof *writer.boxes}};
    const int32_t n = writer.n_boxes > 0 ? 3 : 2;
    const uintptr_t places = (uintptr_t)frame->data | to->offset | list->offset | (n > 2 ? before : 0);
    if (gpu_pulls(s) && dense && (places & 15) == 0)
        return gpu_check(s, gpu_pull(pieces, n, PULLED_PART, NULL, 0, s->up), "crops", err);
    SK_TRY(gpu_check(s,
                     gpu_copy_across_2d(pieces[0].to, dense ? row * rows : row, frame->data,
                                        dense ? row * rows : (size_t)frame->stride, dense ? row * rows : row,
                                        dense ? 1 : rows, s->up),
                     "frame", err));
    for (int32_t i = 1; i < n; i++)
        SK_TRY(gpu_check(s, gpu_copy_up(pieces[i].to, pieces[i].from, pieces[i].bytes, s->up),
                         "where crops lie", err));
    return SK_OK;
}
