/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "engines/cuda/session.h"
#include "engines/cuda/vendor.h"

#include "tasks/letterbox.h"
#include "tasks/resize_linear.h"
#include "tasks/turned.h"

#include <math.h>
#include <string.h>

/* Inputs on their way to the device: read from the caller's memory where it is pinned, else through the slot's own, part by
 * part, so that a part goes up while the next is copied. */

enum {
    PART = 1 << 20,
    SHARE = 4096 /* bytes; shares begin at multiples of it */
};

/* How the pictures of an input lie, and which of their rows are wanted; other inputs are one long row. */
typedef struct layout {
    int64_t pictures;
    size_t row;             /* bytes */
    ptrdiff_t from_row;     /* from row to row … */
    ptrdiff_t from_picture; /* … and picture to picture at the caller's */
    sk_row_strips strips;
} layout;

static layout layout_of(const gpu_session *s, int32_t index, const sk_session_input *input)
{
    const gpu_plan *plan = &s->plan;
    const sk_shape *shape = gpu_shape(plan, plan->graph->inputs[index]);
    const bool frames = plan->settings.input == SK_INPUT_FRAMES && shape->rank == 4;
    layout l = {.pictures = 1, .row = plan->buffers[plan->inputs[index]].bytes, .strips = {0, 1, 1, 1}};
    if (!frames && (plan->settings.input != SK_INPUT_U8_HWC || shape->rank != 4)) {
        l.from_row = l.from_picture = (ptrdiff_t)l.row;
        return l;
    }
    const int32_t height = frames ? (int32_t)sk_frame_fit_rows(&plan->fit) : (int32_t)shape->dim[2];
    l.pictures = shape->dim[0];
    l.row = frames ? sk_frame_fit_row(&plan->fit) : (size_t)(shape->dim[3] * shape->dim[1]);
    l.from_row = input->row_bytes ? input->row_bytes : (ptrdiff_t)l.row;
    l.from_picture = input->picture_bytes ? input->picture_bytes : l.from_row * height;
    l.strips = frames && plan->strips.count ? plan->strips : (sk_row_strips){0, height, height, 1};
    return l;
}

typedef int copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                    gpu_stream *stream);

/* The wanted rows of one picture from where the device can read them. */
static int copy_rows(const layout *l, uint8_t *to, const uint8_t *from, copy_2d *copy, gpu_stream *stream)
{
    const sk_row_strips *s = &l->strips;
    const size_t height = (size_t)s->height, count = (size_t)s->count,
                 step = (size_t)s->step * (size_t)l->from_row;
    from += s->first * l->from_row;
    if ((size_t)l->from_row == l->row) /* a strip is one piece */
        return copy(to, height * l->row, from, step, height * l->row, count, stream);
    if (count == 1)
        return copy(to, l->row, from, (size_t)l->from_row, l->row, height, stream);
    for (size_t i = 0; i < height; i++) {
        const int error = copy(to + i * l->row, height * l->row, from + i * (size_t)l->from_row, step, l->row,
                               count, stream);
        if (error)
            return error;
    }
    return 0;
}

static int upload_pinned(gpu_session *s, const layout *l, uint8_t *to, const uint8_t *from)
{
    const size_t bytes = l->row * (size_t)l->strips.height * (size_t)l->strips.count;
    const bool dense = (size_t)l->from_row == l->row && l->strips.count == 1;
    if (dense && (l->pictures == 1 || (size_t)l->from_picture == bytes))
        return gpu_copy_up(to, from, bytes * (size_t)l->pictures, s->up);
    if ((size_t)l->from_row == l->row && l->from_picture == l->from_row * l->strips.step * l->strips.count) {
        layout all = *l; /* the strips of one picture go on in the next */
        all.strips.count *= (int32_t)l->pictures;
        return copy_rows(&all, to, from, gpu_copy_up_2d, s->up);
    }
    for (int64_t n = 0; n < l->pictures; n++) {
        const int error =
            copy_rows(l, to + (size_t)n * bytes, from + n * l->from_picture, gpu_copy_up_2d, s->up);
        if (error)
            return error;
    }
    return 0;
}

/* --- through pinned memory of our own --- */

/* What is wanted of an input, as one piece of bytes: pieces that lie apart at the caller's. */
typedef struct gathering {
    const layout *l;
    const uint8_t *from;
    uint8_t *staging;
    size_t piece;           /* bytes */
    int32_t pieces;         /* of a strip */
    size_t ready, part_end; /* the part that is copied now */
} gathering;

static const uint8_t *piece_at(const gathering *g, int64_t index)
{
    const sk_row_strips *strips = &g->l->strips;
    const int64_t strip = index / g->pieces, picture = strip / strips->count;
    const int64_t row = strips->first + strip % strips->count * strips->step + index % g->pieces;
    return g->from + picture * g->l->from_picture + row * g->l->from_row;
}

/* One of the shares of what is copied now. */
static void gather(void *context, int32_t share, int32_t shares)
{
    const gathering *g = context;
    int64_t begin, end;
    sk_pool_split((int64_t)(g->part_end - g->ready), SHARE, share, shares, &begin, &end);
    for (size_t at = g->ready + (size_t)begin, stop = g->ready + (size_t)end; at < stop;) {
        const size_t inside = at % g->piece, left = g->piece - inside,
                     bytes = left < stop - at ? left : stop - at;
        memcpy(g->staging + at, piece_at(g, (int64_t)(at / g->piece)) + inside, bytes);
        at += bytes;
    }
}

static int upload_staged(gpu_session *s, const layout *l, uint8_t *to, uint8_t *staging, const uint8_t *from)
{
    const bool dense = (size_t)l->from_row == l->row;
    gathering g = {.l = l,
                   .from = from,
                   .staging = staging,
                   .piece = dense ? l->row * (size_t)l->strips.height : l->row,
                   .pieces = dense ? 1 : l->strips.height};
    const size_t total = g.piece * (size_t)g.pieces * (size_t)l->strips.count * (size_t)l->pictures;
    for (; g.ready < total; g.ready = g.part_end) {
        g.part_end = total - g.ready < PART ? total : g.ready + PART;
        sk_copiers_run(&s->copiers, g.part_end - g.ready, gather, &g);
        const int error = gpu_copy_up(to + g.ready, staging + g.ready, g.part_end - g.ready, s->up);
        if (error)
            return error;
    }
    return 0;
}

/* Copies that follow begin once the frame's pixels are there. An event that is closed lives until it has happened. */
static int wait_for_pixels(gpu_session *s, const sk_frame *frame)
{
    gpu_event *event = NULL;
    if (frame->event)
        return gpu_stream_wait_event(s->up, frame->event);
    if (!frame->stream)
        return 0;
    int error = gpu_event_open(&event, 0);
    error = error ? error : gpu_event_record(event, frame->stream);
    error = error ? error : gpu_stream_wait_event(s->up, event);
    gpu_event_close(event);
    return error;
}

/* Frames that lie on the device already, to where the first kernel reads them. */
static sk_status bring_across(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
                              sk_error *err)
{
    const sk_frame_fit *fit = &s->plan.fit;
    const size_t row = sk_frame_fit_row(fit), height = (size_t)fit->frame_height;
    uint8_t *to = s->slots[slot].device + s->plan.buffers[s->plan.inputs[index]].offset;
    const int64_t n = gpu_shape(&s->plan, s->plan.graph->inputs[index])->dim[0];
    layout l = layout_of(s, index, input);
    for (int64_t i = 0; i < n; i++, to += gpu_frame_bytes(&s->plan)) {
        /* a batch that is not full ends earlier: its last places compute on what was there */
        const sk_frame *frame = input->frames[i];
        if (!frame)
            break;
        const size_t stride = (size_t)frame->stride;
        if (frame->place != GPU_PLACE || frame->device != s->device || frame->width != fit->frame_width ||
            frame->height != fit->frame_height || (frame->format == SK_PIXEL_NV12) != (fit->nv12 != 0))
            return sk_fail(err, SK_ERR_ARG,
                           "a frame of %dx%d on device %d was handed to a session for %dx%d on device %d",
                           frame->width, frame->height, frame->device, fit->frame_width, fit->frame_height,
                           s->device);
        SK_TRY(gpu_check(s, wait_for_pixels(s, frame), "frame", err));
        if (!fit->nv12) {
            l.from_row = frame->stride;
            SK_TRY(gpu_check(s, copy_rows(&l, to, frame->data, gpu_copy_across_2d, s->up), "frame", err));
            continue;
        }
        SK_TRY(
            gpu_check(s, gpu_copy_across_2d(to, row, frame->data, stride, row, height, s->up), "frame", err));
        const uint8_t *chroma = sk_frame_chroma(frame);
        const size_t step = (size_t)sk_frame_chroma_stride(frame);
        SK_TRY(gpu_check(
            s, gpu_copy_across_2d(to + row * height, row, chroma, step, row, (height + 1) / 2, s->up),
            "frame", err));
    }
    return SK_OK;
}

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

/* One frame that lies on the device, and where crops of it lie: few bytes from the host. */
static sk_status bring_crops(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
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
    SK_TRY(gpu_check(s, wait_for_pixels(s, frame), "frame", err));
    const bool dense = (size_t)frame->stride == row; /* then one piece */
    SK_TRY(gpu_check(s,
                     gpu_copy_across_2d(at->device + to->offset, dense ? row * rows : row, frame->data,
                                        dense ? row * rows : (size_t)frame->stride, dense ? row * rows : row,
                                        dense ? 1 : rows, s->up),
                     "frame", err));
    crop_writer writer = crop_writer_of(s, slot);
    if (w->form.rule == SK_CROP_LETTERBOX)
        SK_TRY(list_boxes(s, &writer, input->crops, err));
    else
        SK_TRY(list_places(s, &writer, input->crops, err));
    SK_TRY(gpu_check(s, gpu_copy_up(at->device + list->offset, writer.list, writer.bytes, s->up),
                     "where crops lie", err));
    if (writer.n_boxes == 0)
        return SK_OK;
    const size_t before = (size_t)((uint8_t *)writer.boxes - writer.list);
    return gpu_check(s,
                     gpu_copy_up(at->device + list->offset + before, writer.boxes,
                                 (size_t)writer.n_boxes * sizeof *writer.boxes, s->up),
                     "what is painted over", err);
}

sk_status gpu_upload(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
                     sk_error *err)
{
    if (s->plan.settings.input == SK_INPUT_CROPS)
        return bring_crops(s, index, slot, input, err);
    if (input->frames)
        return bring_across(s, index, slot, input, err);
    const size_t offset = s->plan.buffers[s->plan.inputs[index]].offset;
    const layout l = layout_of(s, index, input);
    uint8_t *to = s->slots[slot].device + offset;
    const int error = gpu_is_pinned(input->data)
                          ? upload_pinned(s, &l, to, input->data)
                          : upload_staged(s, &l, to, s->slots[slot].host + offset, input->data);
    return gpu_check(s, error, "upload", err);
}
