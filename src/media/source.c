/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/source.h"

#include "base/sized.h"
#include "base/clock.h"
#include "base/frame.h"
#include "base/memory.h"
#include "base/object.h"
#include "media/bag_topic.h"
#include "media/frame_choice.h"
#include "media/reader.h"
#include "media/source_told.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define QUEUE_BYTES     (5 << 20)
#define QUEUE_LEAST     1
#define QUEUE_MOST      6
#define QUEUE_ON_DEVICE 16
#define LARGE_BYTES     ((size_t)64 << 20) /* of a frame: none waits beside it, and none keeps its memory */

/* A slot is in exactly one place: the free list, the filled queue, the decoder's hand or the reader's hand. */
struct sk_source {
    sk_source_settings settings;
    sk_frame like;          /* info's */
    sk_frame_range *ranges; /* the settings' */
    sk_frame_kind *accepts; /* likewise */
    sk_reader *reader;
    char *name;
    bool newest_wins;
    sk_slot *slots;
    int32_t n_slots;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sk_slot *free_list;
    sk_slot *filled_head, *filled_tail; /* oldest first */
    bool ended;                         /* the decoder gave its last frame */
    sk_status failure;                  /* why it ended early */
    sk_error failure_text;
    sk_source_info info; /* the reader's, as of the last frame: it learns about its source while reading */
    sk_source_status status;
    sk_unreadable *unreadable; /* not told yet, in order */
    size_t n_unreadable, unreadable_capacity;
    atomic_bool stop;
    pthread_t thread;
    bool thread_runs;
};

static sk_source_settings defaults(void)
{
    return (sk_source_settings){.size = sizeof(sk_source_settings),
                                .format = SK_PIXEL_RGB,
                                .last = -1,
                                .step = 1,
                                .loop = 1,
                                .reconnect_seconds = 60};
}

void sk_source_defaults(sk_source_settings *settings)
{
    const sk_source_settings whole = defaults();
    if (settings)
        sk_sized_write(settings, &whole, sizeof whole);
}

sk_frame_wishes sk_frame_wishes_of(const sk_source_settings *s)
{
    sk_frame_wishes w = {0};
    for (int32_t i = 0; i < s->n_accepts; i++) {
        const sk_frame_kind *k = &s->accepts[i];
        const bool here = k->place == SK_PLACE_HOST;
        if (k->format == s->format && here)
            break; /* what follows suits the reader less */
        if (k->format == SK_PIXEL_NV12 && k->place == SK_PLACE_CUDA && !w.on_device)
            w.on_device = k->device + 1;
        w.nv12 = w.nv12 || (k->format == SK_PIXEL_NV12 && here);
        if (k->format == SK_PIXEL_I420 && here && !w.planes_above_width) {
            w.planes_above_width = k->above_width > 0 ? k->above_width : 1;
            w.planes_above_height = k->above_height > 0 ? k->above_height : 1;
        }
    }
    return w;
}

sk_status sk_slot_prepare(sk_slot *slot, sk_pixel_format format, int32_t width, int32_t height, sk_error *err)
{
    if (width < 1 || height < 1 || width > 65535 || height > 65535)
        return sk_fail(err, SK_ERR_LIMIT, "a picture of %d x %d pixels; at most 65535 x 65535 is read", width,
                       height);
    /* FFmpeg's converters write blocks of up to 32 pixels and leave out one that a row has no room for: 402 columns of RGB
     * in 1216 bytes would end at column 400. */
    size_t block = ((size_t)width + 31) & ~(size_t)31;
    size_t stride = (block * (size_t)sk_pixel_bytes(format) + 63) & ~(size_t)63;
    size_t rows = (size_t)height + (format == SK_PIXEL_NV12 ? ((size_t)height + 1) / 2 : 0);
    size_t bytes = stride * rows + 64; /* converters may write a vector past the last row */
    if (bytes > slot->capacity) {
        sk_free(slot->memory);
        slot->memory = sk_aligned_calloc(64, bytes);
        slot->capacity = slot->memory ? bytes : 0;
        if (!slot->memory)
            return sk_fail_memory(err, bytes);
    }
    slot->frame.data = slot->memory;
    slot->frame.chroma = NULL;
    slot->frame.chroma_stride = 0;
    slot->frame.place = SK_PLACE_HOST;
    slot->frame.size = sizeof slot->frame;
    slot->frame.format = format;
    slot->frame.width = width;
    slot->frame.height = height;
    slot->frame.stride = (ptrdiff_t)stride;
    return SK_OK;
}

void sk_slot_free(sk_slot *slot)
{
    if (slot->device_free)
        slot->device_free(slot);
    if (slot->let_go)
        slot->let_go(slot, true);
    sk_free(slot->memory);
    sk_free(slot->name);
    *slot = (sk_slot){0};
}

sk_status sk_slot_set_name(sk_slot *slot, const char *name, sk_error *err)
{
    size_t bytes = strlen(name) + 1;
    if (bytes > slot->name_capacity) {
        char *grown = sk_realloc(slot->name, bytes);
        if (!grown)
            return sk_fail_memory(err, bytes);
        slot->name = grown;
        slot->name_capacity = bytes;
    }
    memcpy(slot->name, name, bytes);
    return SK_OK;
}

/* Pictures may be of any size: while a very large one waits to be read, no more are decoded. With the lock. */
static bool waits_large(const sk_source *source)
{
    return source->reader->any_size && source->filled_tail && source->filled_tail->capacity > LARGE_BYTES;
}

/* A slot to decode into; for live sources the oldest unread frame gives way. Null when stopped. */
static sk_slot *take_slot_to_fill(sk_source *source)
{
    pthread_mutex_lock(&source->lock);
    sk_slot *slot = NULL;
    while (!atomic_load(&source->stop)) {
        slot = waits_large(source) ? NULL : source->free_list;
        if (slot) {
            source->free_list = slot->next;
            break;
        }
        if (source->newest_wins && source->filled_head) {
            slot = source->filled_head;
            source->filled_head = slot->next;
            if (!source->filled_head)
                source->filled_tail = NULL;
            source->status.dropped++;
            break;
        }
        pthread_cond_wait(&source->changed, &source->lock);
    }
    pthread_mutex_unlock(&source->lock);
    return slot;
}

/* What the reader says of itself; with the lock. */
static void copy_status(sk_source *source)
{
    const sk_reader *reader = source->reader;
    source->status.reconnects = reader->reconnects;
    source->status.outages = reader->outages;
    source->status.connected = !reader->away;
    memcpy(source->status.last_problem, reader->last_problem, sizeof source->status.last_problem);
}

static void publish_status(void *context)
{
    sk_source *source = context;
    pthread_mutex_lock(&source->lock);
    copy_status(source);
    pthread_mutex_unlock(&source->lock);
}

static sk_status note_unreadable(void *context, int64_t index, const char *name, const char *problem,
                                 sk_error *err)
{
    sk_source *source = context;
    pthread_mutex_lock(&source->lock);
    sk_status status =
        sk_array_reserve((void **)&source->unreadable, &source->unreadable_capacity, source->n_unreadable + 1,
                         sizeof *source->unreadable, (size_t)1 << 20, err);
    if (status == SK_OK) {
        sk_unreadable *u = &source->unreadable[source->n_unreadable++];
        u->index = index;
        snprintf(u->name, sizeof u->name, "%s", name);
        snprintf(u->problem, sizeof u->problem, "%s", problem);
    }
    pthread_mutex_unlock(&source->lock);
    return status;
}

bool sk_source_next_unreadable(sk_source *source, int64_t before, sk_unreadable *out)
{
    pthread_mutex_lock(&source->lock);
    bool any = source->n_unreadable > 0 && source->unreadable[0].index < before;
    if (any) {
        sk_sized_write(out, &source->unreadable[0], sizeof source->unreadable[0]);
        source->n_unreadable--;
        memmove(source->unreadable, source->unreadable + 1,
                source->n_unreadable * sizeof *source->unreadable);
    }
    pthread_mutex_unlock(&source->lock);
    return any;
}

const char *sk_source_picture(const sk_source *source, size_t index)
{
    return source->reader->picture ? source->reader->picture(source->reader, index) : NULL;
}

static void *decode_ahead(void *argument)
{
    sk_source *source = argument;
    bool end = false;
    sk_status status = SK_OK;
    sk_error error = {0};
    while (!end && status == SK_OK) {
        sk_slot *slot = take_slot_to_fill(source);
        if (!slot)
            break;
        slot->decode_begin = sk_clock_ns();
        status = source->reader->read(source->reader, slot, &end, &error);
        slot->decode_end = sk_clock_ns();
        double spent = (double)(slot->decode_end - slot->decode_begin) * 1e-9;
        pthread_mutex_lock(&source->lock);
        source->info = source->reader->info;
        source->info.like = &source->like; /* as it was at open: readers of it take no lock */
        source->status.decode_seconds += spent;
        source->status.damaged = source->reader->damaged;
        source->status.missing = source->reader->missing;
        copy_status(source);
        slot->next = NULL;
        if (status == SK_OK && !end) {
            source->status.decoded++;
            if (source->filled_tail)
                source->filled_tail->next = slot;
            else
                source->filled_head = slot;
            source->filled_tail = slot;
        } else {
            slot->next = source->free_list;
            source->free_list = slot;
        }
        pthread_cond_broadcast(&source->changed);
        pthread_mutex_unlock(&source->lock);
    }
    pthread_mutex_lock(&source->lock);
    source->ended = true;
    source->failure = status;
    source->failure_text = error;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

sk_status sk_reader_open_file(const char *uri, const sk_source_settings *settings, sk_reader **out,
                              sk_error *err)
{
    if (sk_uri_is_bag(uri))
        return sk_reader_open_bag(uri, settings, out, err);
    SK_TRY(sk_bag_refuse_ros1(uri, err));
    return sk_uri_is_pictures(uri) ? sk_reader_open_pictures(uri, settings, out, err)
                                   : sk_reader_open_video(uri, settings, out, err);
}

static sk_status open_reader(const char *uri, sk_source *source, sk_error *err)
{
    uri = sk_uri_path(uri);
    SK_TRY(sk_uri_refuse_scheme(uri, err));
    if (sk_uri_is_live(uri)) {
        SK_TRY(sk_reader_open_live(uri, &source->settings, &source->stop, &source->reader, err));
        if (source->reader)
            return SK_OK;
        return sk_reader_open_video(uri, &source->settings, &source->reader, err);
    }
    return sk_reader_open_file(uri, &source->settings, &source->reader, err);
}

/* Enough to even out a slow frame; large frames are slow to look at too, and need fewer in store. */
static int32_t queue_for(const sk_source *source)
{
    const sk_source_info *info = &source->reader->info;
    if (source->settings.queue)
        return source->settings.queue;
    if (sk_frame_on_device(
            &source->reader->like)) /* the reader holds them longer, and devices have memory for some */
        return QUEUE_ON_DEVICE;
    int64_t bytes = (int64_t)info->width * info->height * sk_pixel_bytes(source->settings.format);
    int64_t fit = bytes > 0 ? QUEUE_BYTES / bytes : QUEUE_MOST;
    return (int32_t)(fit < QUEUE_LEAST ? QUEUE_LEAST : fit > QUEUE_MOST ? QUEUE_MOST : fit);
}

static sk_status make_slots(sk_source *source, sk_error *err)
{
    source->n_slots = queue_for(source) + 2; /* one more for the decoder's hand and one for the reader's */
    source->slots = sk_calloc((size_t)source->n_slots, sizeof *source->slots);
    if (!source->slots)
        return sk_fail_memory(err, sizeof *source->slots * (size_t)source->n_slots);
    for (int32_t i = 0; i < source->n_slots; i++) {
        source->slots[i].next = source->free_list;
        source->free_list = &source->slots[i];
    }
    return SK_OK;
}

static sk_status check_settings(const sk_source_settings *s, sk_error *err)
{
    if (s->format != SK_PIXEL_RGB && s->format != SK_PIXEL_BGR && s->format != SK_PIXEL_GRAY)
        return sk_fail(err, SK_ERR_ARG, "frames can be delivered as RGB, BGR or grey");
    if (s->queue < 0 || s->queue > 256 || s->loop < 1)
        return sk_fail(err, SK_ERR_ARG, "queue %d, loop %d: out of range", s->queue, s->loop);
    return sk_frames_check(s, err);
}

static sk_status copy_accepts(sk_source *source, sk_error *err)
{
    sk_source_settings *s = &source->settings;
    SK_CHECK_ARG(s->n_accepts >= 0 && (s->n_accepts == 0 || s->accepts), err);
    const size_t bytes = (size_t)s->n_accepts * sizeof *source->accepts;
    if (!bytes)
        return SK_OK;
    source->accepts = sk_malloc(bytes);
    if (!source->accepts)
        return sk_fail_memory(err, bytes);
    memcpy(source->accepts, s->accepts, bytes);
    s->accepts = source->accepts;
    return SK_OK;
}

static sk_status copy_ranges(sk_source *source, sk_error *err)
{
    size_t bytes = (size_t)source->settings.n_ranges * sizeof *source->ranges;
    if (bytes == 0)
        return SK_OK;
    source->ranges = sk_malloc(bytes);
    if (!source->ranges)
        return sk_fail_memory(err, bytes);
    memcpy(source->ranges, source->settings.ranges, bytes);
    source->settings.ranges = source->ranges;
    return SK_OK;
}

sk_status sk_source_open(const char *uri, const sk_source_settings *given, sk_source **out, sk_error *err)
{
    SK_CHECK_ARG(uri && out, err);
    *out = NULL;
    sk_source_settings whole = defaults();
    const sk_source_settings *settings = &whole;
    if (given)
        SK_TRY(sk_sized_read(given, &whole, sizeof whole, "the source's settings", err));
    SK_TRY(check_settings(settings, err));
    sk_source *source = sk_calloc(1, sizeof *source);
    if (!source)
        return sk_fail_memory(err, sizeof *source);
    sk_status status = SK_OK;
    source->settings = *settings;
    SK_TRY_GOTO(copy_ranges(source, err));
    SK_TRY_GOTO(copy_accepts(source, err));
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->changed, NULL);
    atomic_init(&source->stop, false);
    source->name = sk_strdup(uri);
    if (!source->name) {
        status = sk_fail_memory(err, strlen(uri) + 1);
        goto done;
    }
    SK_TRY_GOTO(open_reader(uri, source, err));
    SK_TRY_GOTO(make_slots(source, err));
    source->reader->stop = &source->stop;
    source->reader->publish = publish_status;
    source->reader->publish_context = source;
    if (settings->skip_unreadable)
        source->reader->unreadable = note_unreadable;
    source->status.connected = true;
    if (source->reader->like.format == SK_PIXEL_NONE)
        source->reader->like = (sk_frame){.format = settings->format};
    if (!source->reader->info.hwaccel)
        source->reader->info.hwaccel = "";
    if (!source->reader->info.hwaccel_refused)
        source->reader->info.hwaccel_refused = "";
    source->reader->info.name = source->name;
    source->like = source->reader->like;
    source->like.size = sizeof source->like;
    source->info = source->reader->info;
    source->info.like = &source->like;
    source->newest_wins = source->reader->info.kind == SK_SOURCE_LIVE;
    if (pthread_create(&source->thread, NULL, decode_ahead, source) != 0) {
        status = sk_fail(err, SK_ERR_IO, "%s: no thread for decoding could be started", uri);
        goto done;
    }
    source->thread_runs = true;
done:
    return SK_HAND_OVER(status, source, out, sk_source_close);
}

void sk_source_stop(sk_source *source)
{
    pthread_mutex_lock(&source->lock);
    atomic_store(&source->stop, true);
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
}

void sk_source_close(sk_source **pointer)
{
    SK_TAKE_OR_RETURN(source, pointer);
    if (source->thread_runs) {
        sk_source_stop(source);
        pthread_join(source->thread, NULL);
    }
    if (source->reader)
        source->reader->close(source->reader);
    for (int32_t i = 0; source->slots && i < source->n_slots; i++)
        sk_slot_free(&source->slots[i]);
    sk_free_all(source->slots, source->unreadable, source->name, source->ranges, source->accepts);
    pthread_cond_destroy(&source->changed);
    pthread_mutex_destroy(&source->lock);
    sk_free(source);
}

void sk_source_get_info(const sk_source *source, sk_source_info *info)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&source->lock; /* taking it changes nothing a caller sees */
    pthread_mutex_lock(lock);
    sk_sized_write(info, &source->info, sizeof source->info);
    pthread_mutex_unlock(lock);
}

void sk_source_get_status(sk_source *source, sk_source_status *status)
{
    pthread_mutex_lock(&source->lock);
    sk_sized_write(status, &source->status, sizeof source->status);
    pthread_mutex_unlock(&source->lock);
}

static void give_back(void *source, const sk_frame *frame)
{
    sk_source_release(source, frame);
}

sk_status sk_source_next(sk_source *source, const sk_frame **frame, sk_error *err)
{
    SK_CHECK_ARG(source && frame, err);
    *frame = NULL;
    sk_status status = SK_OK;
    pthread_mutex_lock(&source->lock);
    while (!source->filled_head && !source->ended && !atomic_load(&source->stop))
        pthread_cond_wait(&source->changed, &source->lock);
    if (source->filled_head && !atomic_load(&source->stop)) {
        sk_slot *slot = source->filled_head;
        source->filled_head = slot->next;
        if (!source->filled_head)
            source->filled_tail = NULL;
        slot->frame.size = sizeof slot->frame;
        slot->frame.release = give_back;
        slot->frame.release_context = source;
        *frame = &slot->frame;
        if (source->reader->any_size) /* the decoder may have waited for a large one to be taken */
            pthread_cond_broadcast(&source->changed);
    } else if (source->failure != SK_OK && !atomic_load(&source->stop)) {
        status = source->failure;
        if (err)
            *err = source->failure_text;
    }
    pthread_mutex_unlock(&source->lock);
    return status;
}

/* frame is the slot's first member. */
_Static_assert(offsetof(sk_slot, frame) == 0, "a slot is found from its frame");

void sk_source_release(sk_source *source, const sk_frame *frame)
{
    if (!frame)
        return;
    sk_slot *slot = (sk_slot *)(uintptr_t)frame;
    if (slot->let_go)
        slot->let_go(slot, false); /* the decoder has its next picture in memory that is still near */
    if (slot->capacity > LARGE_BYTES && source->reader->any_size) {
        sk_free(slot->memory);
        slot->memory = NULL;
        slot->capacity = 0;
    }
    pthread_mutex_lock(&source->lock);
    slot->next = source->free_list;
    source->free_list = slot;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
}

const char *sk_source_frame_name(const sk_source *source, const sk_frame *frame)
{
    const sk_slot *slot = (const sk_slot *)(const void *)frame;
    return slot->name ? slot->name : source->name;
}

size_t sk_source_frame_id(sk_source *source, int64_t index, char *out, size_t capacity)
{
    out[0] = '\0';
    return source->reader->frame_id ? source->reader->frame_id(source->reader, index, out, capacity) : 0;
}
