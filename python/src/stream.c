/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

/* A source read by a thread of its own into a flow. */

#define MOST_UNREADABLE 1000 /* that are remembered */

void sk_stream_deliver(sk_stream *stream, sk_item *item)
{
    if (!item->wanted)
        return;
    item->next = NULL;
    if (stream->first)
        stream->last->next = item;
    else
        stream->first = item;
    stream->last = item;
}

static sk_status copy_pixels(sk_item *item, const sk_frame *from)
{
    const size_t row = (size_t)from->width * (from->format == SK_PIXEL_GRAY ? 1 : 3);
    item->pixels = malloc(row * (size_t)from->height);
    if (!item->pixels)
        return SK_ERR_MEMORY;
    for (int32_t y = 0; y < from->height; y++)
        memcpy(item->pixels + (size_t)y * row, from->data + y * from->stride, row);
    return SK_OK;
}

static sk_item *make_item(sk_stream *s, const sk_frame *frame)
{
    sk_item *item = sk_item_new(s->flow);
    if (!item)
        return NULL;
    item->frame = *frame;
    item->inner = frame;
    if (s->info.kind == SK_SOURCE_PICTURES) {
        item->name = strdup(sk_source_frame_name(s->source, frame));
        if (!item->name)
            goto fail;
    }
    if (s->frames && copy_pixels(item, frame) != SK_OK)
        goto fail;
    return item;
fail:
    sk_item_drop(item);
    return NULL;
}

static void note_unreadable(sk_stream *s)
{
    sk_unreadable one = SK_UNREADABLE_INIT;
    while (sk_source_next_unreadable(s->source, INT64_MAX, &one)) {
        pthread_mutex_lock(&s->flow->lock);
        if (s->n_unreadable < MOST_UNREADABLE) {
            sk_unreadable *more =
                realloc(s->unreadable, (size_t)(s->n_unreadable + 1) * sizeof *s->unreadable);
            if (more) {
                s->unreadable = more;
                more[s->n_unreadable++] = one;
            }
        }
        pthread_mutex_unlock(&s->flow->lock);
    }
}

/* There is room for another frame: false where it is over. */
static bool wait_for_room(sk_stream *s)
{
    sk_flow *flow = s->flow;
    pthread_mutex_lock(&flow->lock);
    while (!s->stopped && !flow->released && s->on_the_way >= s->most)
        pthread_cond_wait(&flow->changed, &flow->lock);
    const bool go_on = !s->stopped && !flow->released;
    pthread_mutex_unlock(&flow->lock);
    return go_on;
}

static sk_status hand_in(sk_stream *s, const sk_frame *frame, sk_error *err)
{
    sk_flow *flow = s->flow;
    sk_item *item = make_item(s, frame);
    sk_status status = item ? SK_ERR_BUSY : SK_ERR_MEMORY;
    if (item) {
        pthread_mutex_lock(&flow->lock);
        item->stream = s;
        s->on_the_way++;
        s->items++;
        bool stopped = s->stopped;
        pthread_mutex_unlock(&flow->lock);
        while (status == SK_ERR_BUSY && !stopped) {
            status = sk_flow_submit(flow, item, 0, 100, err);
            pthread_mutex_lock(&flow->lock);
            stopped = s->stopped;
            pthread_mutex_unlock(&flow->lock);
        }
    }
    if (status == SK_OK)
        return SK_OK;
    sk_source_release(s->source, frame);
    if (item) {
        pthread_mutex_lock(&flow->lock);
        s->on_the_way--;
        pthread_mutex_unlock(&flow->lock);
        sk_item_drop(item);
    } else if (err) {
        *err = (sk_error){.code = SK_ERR_MEMORY, .message = "out of memory for a frame"};
    }
    return status;
}

static void *read_all(void *context)
{
    sk_stream *s = context;
    sk_error err = {0};
    sk_status status = SK_OK;
    while (status == SK_OK && wait_for_room(s)) {
        const sk_frame *frame = NULL;
        status = sk_source_next(s->source, &frame, &err);
        note_unreadable(s);
        if (status != SK_OK || !frame)
            break;
        status = hand_in(s, frame, &err);
    }
    sk_pipeline_flush(s->flow->pipeline); /* no batch waits for frames that do not come */
    pthread_mutex_lock(&s->flow->lock);
    s->ended = true;
    s->status = status;
    s->err = err;
    pthread_cond_broadcast(&s->flow->changed);
    pthread_mutex_unlock(&s->flow->lock);
    return NULL;
}

sk_status sk_stream_open(sk_flow *flow, const char *uri, const sk_stream_settings *settings, int32_t most,
                         sk_stream **out, sk_error *err)
{
    sk_stream *s = calloc(1, sizeof *s);
    const sk_source_info info = SK_SOURCE_INFO_INIT;
    *out = NULL;
    if (!s) {
        *err = (sk_error){.code = SK_ERR_MEMORY, .message = "out of memory for a stream"};
        return SK_ERR_MEMORY;
    }
    s->flow = flow;
    s->most = most > 0 ? most : 1;
    s->frames = settings->frames;
    s->info = info;
    const sk_status status = sk_source_open(uri, &settings->source, &s->source, err);
    if (status != SK_OK) {
        free(s);
        return status;
    }
    sk_source_get_info(s->source, &s->info);
    pthread_mutex_lock(&flow->lock);
    s->next = flow->streams;
    flow->streams = s;
    pthread_mutex_unlock(&flow->lock);
    if (pthread_create(&s->reader, NULL, read_all, s) != 0) {
        s->joined = true;
        sk_stream_free(s);
        *err = (sk_error){.code = SK_ERR_IO, .message = "no thread could be started to read the source"};
        return SK_ERR_IO;
    }
    *out = s;
    return SK_OK;
}

void sk_stream_close(sk_stream **stream)
{
    sk_stream *s = *stream;
    if (!s)
        return;
    sk_flow *flow = s->flow;
    *stream = NULL;
    pthread_mutex_lock(&flow->lock);
    s->stopped = true;
    pthread_cond_broadcast(&flow->changed);
    pthread_mutex_unlock(&flow->lock);
    sk_source_stop(s->source);
    pthread_join(s->reader, NULL);
    pthread_mutex_lock(&flow->lock);
    s->joined = true;
    sk_item *left = s->first;
    s->first = NULL;
    pthread_mutex_unlock(&flow->lock);
    while (left) {
        sk_item *item = left;
        left = item->next;
        sk_item_drop(item);
    }
    pthread_mutex_lock(&flow->lock);
    s->closed = true;
    pthread_mutex_unlock(&flow->lock);
    sk_flow_sweep(flow);
}

void sk_stream_free(sk_stream *s)
{
    sk_flow *flow = s->flow;
    pthread_mutex_lock(&flow->lock);
    for (sk_stream **at = &flow->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    pthread_mutex_unlock(&flow->lock);
    sk_source_close(&s->source);
    free(s->unreadable);
    free(s);
}

void sk_flow_sweep(sk_flow *flow)
{
    for (;;) {
        sk_stream *over = NULL;
        pthread_mutex_lock(&flow->lock);
        for (sk_stream *s = flow->streams; s && !over; s = s->next)
            if (s->closed && s->joined && s->items == 0) {
                s->closed = false; /* nobody else frees it */
                over = s;
            }
        pthread_mutex_unlock(&flow->lock);
        if (!over)
            return;
        sk_stream_free(over);
    }
}

const sk_source_info *sk_stream_about(const sk_stream *stream)
{
    return &stream->info;
}

void sk_stream_status(sk_stream *stream, sk_source_status *out)
{
    sk_source_get_status(stream->source, out);
}

bool sk_stream_unreadable(sk_stream *stream, sk_unreadable *out)
{
    pthread_mutex_lock(&stream->flow->lock);
    const bool there = stream->told_unreadable < stream->n_unreadable;
    if (there)
        *out = stream->unreadable[stream->told_unreadable++];
    pthread_mutex_unlock(&stream->flow->lock);
    return there;
}
