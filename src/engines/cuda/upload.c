/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "engines/cuda/pull.h"
#include "engines/cuda/session.h"
#include "engines/cuda/vendor.h"

#include <string.h>

/* Inputs on their way to the device: read from the caller's memory where it is pinned, else through the slot's own, part by
 * part, so that a part goes up while the next is copied. Where nothing else is on its way, all is launched before the first
 * byte is copied: a kernel waits for the parts and brings each up as soon as it is there. */

enum {
    PART = 1 << 20,
    SHARE = 4096,      /* bytes; shares begin at multiples of it */
    MOST_SHARES = 1024 /* that are told one by one when they are there; 32 MB */
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

static size_t staged_bytes(const layout *l)
{
    return l->row * (size_t)l->strips.height * (size_t)l->strips.count * (size_t)l->pictures;
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
    size_t total;           /* bytes */
    size_t ready, part_end; /* the part that is copied now */
} gathering;

static gathering gathering_of(const layout *l, uint8_t *staging, const uint8_t *from)
{
    const bool dense = (size_t)l->from_row == l->row;
    return (gathering){.l = l,
                       .from = from,
                       .staging = staging,
                       .piece = dense ? l->row * (size_t)l->strips.height : l->row,
                       .pieces = dense ? 1 : l->strips.height,
                       .total = staged_bytes(l)};
}

static const uint8_t *piece_at(const gathering *g, int64_t index)
{
    const sk_row_strips *strips = &g->l->strips;
    const int64_t strip = index / g->pieces, picture = strip / strips->count;
    const int64_t row = strips->first + strip % strips->count * strips->step + index % g->pieces;
    return g->from + picture * g->l->from_picture + row * g->l->from_row;
}

static void gather_range(const gathering *g, size_t at, size_t stop)
{
    while (at < stop) {
        const size_t inside = at % g->piece, left = g->piece - inside,
                     bytes = left < stop - at ? left : stop - at;
        memcpy(g->staging + at, piece_at(g, (int64_t)(at / g->piece)) + inside, bytes);
        at += bytes;
    }
}

/* One of the shares of what is copied now. */
static void gather(void *context, int32_t share, int32_t shares)
{
    const gathering *g = context;
    int64_t begin, end;
    sk_pool_split((int64_t)(g->part_end - g->ready), SHARE, share, shares, &begin, &end);
    gather_range(g, g->ready + (size_t)begin, g->ready + (size_t)end);
}

static int upload_staged(gpu_session *s, const layout *l, uint8_t *to, uint8_t *staging, const uint8_t *from)
{
    gathering g = gathering_of(l, staging, from);
    for (; g.ready < g.total; g.ready = g.part_end) {
        g.part_end = g.total - g.ready < PART ? g.total : g.ready + PART;
        sk_copiers_run(&s->copiers, g.part_end - g.ready, gather, &g);
        const int error = gpu_copy_up(to + g.ready, staging + g.ready, g.part_end - g.ready, s->up);
        if (error)
            return error;
    }
    return 0;
}

/* --- launched before it is there --- */

typedef struct early {
    gathering g;
    gpu_session *s;
    int32_t slot;
    uint8_t *to;
    size_t share; /* bytes */
    gpu_then *then;
    bool launched;
    sk_status status;
    sk_error *err;
} early;

static void gather_and_tell(void *context, int32_t share, int32_t shares)
{
    const early *e = context;
    const size_t begin = shares > 1 ? (size_t)share * e->share : 0,
                 end = shares > 1 ? begin + e->share : e->g.total;
    gather_range(&e->g, begin, end < e->g.total ? end : e->g.total);
    __atomic_store_n(e->s->ready + (size_t)share * GPU_FLAG_WORDS, e->s->turn, __ATOMIC_RELEASE);
}

/* By the caller, while others copy already. Not without them: a launch may wait for what was launched before (a debugger's, or
 * while another thread frees memory of the device), and that for the copies. */
static void launch_early(void *context, bool others)
{
    early *e = context;
    const gpu_piece piece = {.to = e->to, .from = e->g.staging, .bytes = e->g.total};
    if (!others)
        return;
    e->launched = true;
    e->status =
        gpu_check(e->s, gpu_pull(&piece, 1, e->share, e->s->ready, e->s->turn, e->s->up), "upload", e->err);
    if (e->status == SK_OK)
        e->status = e->then(e->s, e->slot, e->err);
}

bool gpu_is_early(const gpu_session *s, const sk_session_input *input)
{
    if (!gpu_pulls(s) || s->plan.graph->n_inputs != 1 || s->plan.settings.input == SK_INPUT_CROPS ||
        input->frames || gpu_is_pinned(input->data))
        return false;
    const layout l = layout_of(s, 0, input);
    const int32_t shares = sk_copiers_parts(staged_bytes(&l));
    return shares > 1 && shares <= MOST_SHARES;
}

sk_status gpu_upload_early(gpu_session *s, int32_t slot, const sk_session_input *input, gpu_then *then,
                           sk_error *err)
{
    const size_t offset = s->plan.buffers[s->plan.inputs[0]].offset;
    const layout l = layout_of(s, 0, input);
    early e = {.g = gathering_of(&l, s->slots[slot].host + offset, input->data),
               .s = s,
               .slot = slot,
               .to = s->slots[slot].device + offset,
               .then = then,
               .err = err};
    const size_t shares = (size_t)sk_copiers_parts(e.g.total);
    e.share = (e.g.total / shares / SHARE + 1) * SHARE; /* so many of them are not less than all */
    s->turn++;
    sk_copiers_run_beside(&s->copiers, e.g.total, gather_and_tell, launch_early, &e);
    if (e.launched)
        return e.status;
    SK_TRY(gpu_check(s, gpu_copy_up(e.to, e.g.staging, e.g.total, s->up), "upload", err));
    return then(s, slot, err);
}

sk_status gpu_upload_open(gpu_session *s, sk_error *err)
{
    const size_t bytes = (size_t)MOST_SHARES * GPU_FLAG_WORDS * sizeof *s->ready;
    SK_TRY(gpu_check(s, gpu_host_alloc((void **)&s->ready, bytes), "pinned memory", err));
    memset(s->ready, 0, bytes);
    return SK_OK;
}

void gpu_upload_close(gpu_session *s)
{
    sk_copiers_close(&s->copiers);
    gpu_host_free(s->ready);
}

/* --- what lies on the device already --- */

/* An event that is closed lives until it has happened. */
int gpu_wait_for_pixels(gpu_session *s, const sk_frame *frame)
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
        SK_TRY(gpu_check(s, gpu_wait_for_pixels(s, frame), "frame", err));
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

sk_status gpu_upload(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
                     sk_error *err)
{
    if (s->plan.settings.input == SK_INPUT_CROPS)
        return gpu_bring_crops(s, index, slot, input, err);
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
