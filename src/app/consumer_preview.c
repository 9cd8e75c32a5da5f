/* SPDX-License-Identifier: Apache-2.0 */
#include "app/preview.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/frame.h"
#include "base/instances.h"
#include "base/log.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "media/shrink.h"
#include "media/video_sink.h"
#include "tasks/plain_frame.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Half a second between pictures; and before the next the run has computed so many times what the last one cost, or ten seconds
 * are over: a run that waits for a GPU or a camera computes little. */
#define EVERY_NS     ((int64_t)500000000)
#define RARELY_NS    ((int64_t)10000000000)
#define TIMES_ITSELF 200
#define WIDTH_MOST   640
#define QUALITY      80

/* Whose turn it is with the copy. */
typedef enum turn {
    TURN_READER = 0, /* a frame is wanted */
    TURN_TAKER,      /* it waits for what was found in it */
    TURN_PAINTER     /* it is drawn and written */
} turn;

typedef struct preview {
    sk_consumer base;
    sk_preview_wish wish;
    char *half; /* the file until it is whole */
    sk_overlay *overlay;
    atomic_int turn;
    _Atomic int64_t done_ns; /* when the last picture was */
    _Atomic int64_t due_cpu; /* what the process has computed by when the next may be */
    int64_t index;
    sk_frame copy;
    uint8_t *memory;
    size_t capacity;
    sk_instances found;
    sk_plain_frame plain;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool threaded, closing, failed;
} preview;

/* --- the reading thread: a copy of a frame, as it is --- */

/* Bytes of the rows of each plane. */
static void planes_of(const sk_frame *f, size_t bytes[3])
{
    const size_t half = (size_t)(f->height + 1) / 2;
    const ptrdiff_t chroma = f->chroma_stride ? f->chroma_stride : f->stride;
    bytes[0] = (size_t)f->stride * (size_t)f->height;
    bytes[1] = f->format == SK_PIXEL_NV12 || f->format == SK_PIXEL_I420 ? half * (size_t)chroma : 0;
    bytes[2] = f->format == SK_PIXEL_I420 ? bytes[1] : 0;
}

static bool copy_frame(preview *p, const sk_frame *f)
{
    size_t bytes[3];
    planes_of(f, bytes);
    const size_t all = bytes[0] + bytes[1] + bytes[2];
    if (all > p->capacity) {
        sk_free(p->memory);
        p->memory = sk_malloc(all);
        p->capacity = p->memory ? all : 0;
    }
    if (!p->memory)
        return false;
    const uint8_t *chroma = f->chroma ? f->chroma : f->data + bytes[0];
    memcpy(p->memory, f->data, bytes[0]);
    if (bytes[1])
        memcpy(p->memory + bytes[0], chroma, bytes[1]);
    if (bytes[2])
        memcpy(p->memory + bytes[0] + bytes[1], f->chroma_v, bytes[2]);
    p->copy = *f;
    p->copy.data = p->memory;
    p->copy.chroma = bytes[1] ? p->memory + bytes[0] : NULL;
    p->copy.chroma_v = bytes[2] ? p->memory + bytes[0] + bytes[1] : NULL;
    p->copy.release = NULL;
    return true;
}

static int64_t cpu_ns(clockid_t clock)
{
    struct timespec at;
    return clock_gettime(clock, &at) == 0 ? (int64_t)at.tv_sec * 1000000000 + at.tv_nsec : 0;
}

static bool is_due(const preview *p)
{
    const int64_t since = sk_clock_ns() - atomic_load(&p->done_ns);
    return since >= EVERY_NS &&
           (since >= RARELY_NS || cpu_ns(CLOCK_PROCESS_CPUTIME_ID) >= atomic_load(&p->due_cpu));
}

void sk_preview_look(sk_consumer *consumer, const sk_frame *frame)
{
    preview *p = (preview *)consumer;
    if (!p || atomic_load(&p->turn) != TURN_READER || !is_due(p) || sk_frame_on_device(frame) ||
        frame->stride < 0)
        return;
    p->index = frame->index;
    if (copy_frame(p, frame))
        atomic_store(&p->turn, TURN_TAKER);
}

/* --- the painter: as little as possible of what others need --- */

static bool put_file(const preview *p, const uint8_t *bytes, size_t length)
{
    int file = -1;
    if (sk_file_open_own(p->half, O_WRONLY | O_CREAT | O_TRUNC, &file, NULL) != SK_OK)
        return false;
    const bool whole = write(file, bytes, length) == (ssize_t)length;
    return close(file) == 0 && whole && rename(p->half, p->wish.path) == 0;
}

static void paint(preview *p)
{
    const sk_frame *plain = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    /* a frame that is plain already is our own copy, too: it may be drawn on */
    if (sk_plain_frame_take(&p->plain, &p->copy, &plain, NULL) != SK_OK)
        return;
    sk_frame canvas = *plain, small = SK_FRAME_INIT;
    sk_overlay_draw(p->overlay, &canvas, &p->found);
    const int whole[4] = {0, 0, canvas.width, canvas.height};
    const int height = (int)((int64_t)canvas.height * WIDTH_MOST / canvas.width);
    const bool wide = canvas.width > WIDTH_MOST;
    if (wide && sk_frame_shrink(&canvas, whole, WIDTH_MOST, height > 0 ? height : 1, &small, NULL) != SK_OK)
        return;
    if (sk_picture_jpeg(wide ? &small : &canvas, QUALITY, &bytes, &length, NULL) == SK_OK) {
        if (!put_file(p, bytes, length)) {
            if (!p->failed)
                sk_log(SK_LOG_WARN, "--preview %s: cannot be written; the run goes on without", p->wish.path);
            p->failed = true;
        } else if (p->wish.made) {
            p->wish.made(p->wish.context, p->index);
        }
    }
    sk_free_all(bytes, small.data);
}

static void *paint_for_ever(void *context)
{
    preview *p = context;
    const struct sched_param none = {0};
    /* of this thread alone: what others compute comes first */
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        if (atomic_load(&p->turn) != TURN_PAINTER) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        const int64_t before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
        paint(p);
        const int64_t cost = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        atomic_store(&p->due_cpu, cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + cost * TIMES_ITSELF);
        atomic_store(&p->done_ns, sk_clock_ns());
        atomic_store(&p->turn, TURN_READER);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* --- the consumer --- */

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    preview *p = (preview *)base;
    sk_overlay_settings s;
    (void)folder;
    sk_overlay_defaults(&s);
    s.n_classes = header->n_classes;
    s.class_names = header->class_names;
    s.n_edges = header->n_edges;
    s.edges = header->edges;
    s.trail = 0;
    SK_TRY(sk_overlay_open(&s, &p->overlay, err));
    p->threaded = pthread_create(&p->thread, NULL, paint_for_ever, p) == 0; /* none: no pictures */
    return SK_OK;
}

static bool copy_found(preview *p, const sk_instances *found)
{
    if (p->found.capacity < found->count || p->found.n_keypoints != found->n_keypoints) {
        sk_instances_free(&p->found);
        p->found = (sk_instances){0};
        if (sk_instances_alloc(found->count + 64, found->n_keypoints, &p->found, NULL) != SK_OK)
            return false;
    }
    p->found.count = found->count;
    if (found->count)
        memcpy(p->found.items, found->items, (size_t)found->count * sizeof *found->items);
    if (found->count && found->n_keypoints) {
        /* points lie where the instances say, which may be anywhere in the list */
        for (int32_t i = 0; i < found->count; i++) {
            memcpy(p->found.keypoints + (size_t)i * (size_t)found->n_keypoints,
                   found->keypoints + found->items[i].first_keypoint,
                   (size_t)found->n_keypoints * sizeof *found->keypoints);
            p->found.items[i].first_keypoint = i * found->n_keypoints;
        }
    }
    return true;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    preview *p = (preview *)base;
    const sk_result_frame *r = passing->result;
    (void)err;
    if (atomic_load(&p->turn) != TURN_TAKER || r->index < p->index)
        return SK_OK;
    if (!p->threaded || r->problem || r->index > p->index || !copy_found(p, r->instances)) {
        atomic_store(&p->turn, TURN_READER);
        return SK_OK;
    }
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->turn, TURN_PAINTER);
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return SK_OK;
}

static void close_preview(sk_consumer *base)
{
    preview *p = (preview *)base;
    if (p->threaded) {
        pthread_mutex_lock(&p->lock);
        p->closing = true;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
        if (atomic_load(&p->turn) == TURN_PAINTER) /* it never came to it: a short run, a busy machine */
            paint(p);
    }
    if (p->half)
        (void)unlink(p->half);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    sk_overlay_close(&p->overlay);
    sk_instances_free(&p->found);
    sk_plain_frame_free(&p->plain);
    sk_free_all(p->memory, p->half);
}

static const sk_consumer_kind kind = {
    .name = "preview", .begin = begin, .take = take, .close = close_preview};

sk_consumer *sk_consumer_preview(const sk_preview_wish *wish)
{
    preview *p = sk_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->base = (sk_consumer){.kind = &kind};
    p->wish = *wish;
    sk_text half = {0};
    sk_text_appendf(&half, "%s.half", wish->path);
    if (sk_text_take(&half, &p->half, NULL) != SK_OK || pthread_mutex_init(&p->lock, NULL) != 0) {
        sk_free_all(p->half, p);
        return NULL;
    }
    (void)pthread_cond_init(&p->changed, NULL);
    return &p->base;
}
