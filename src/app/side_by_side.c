/* SPDX-License-Identifier: Apache-2.0 */
#include "app/side_by_side.h"

#include "base/cpu.h"
#include "base/memory.h"

#include <pthread.h>
#include <string.h>

enum { BATCH = 128, BATCHES = 2 };

/* A frame that is the batch's own. */
typedef struct copied {
    int64_t entry;
    sk_result_frame frame;
    sk_instances instances;
    sk_sighting *sightings;
    char *text; /* source, frame_id, problem */
    size_t items_capacity, points_capacity, sightings_capacity, text_capacity;
} copied;

typedef struct batch {
    int32_t n;
    copied frames[BATCH];
} batch;

typedef struct worker {
    struct sk_side_by_side *side;
    sk_consumer *consumer;
    pthread_t thread;
    bool threaded;
    int64_t done; /* batches; the side's */
    sk_status status;
    sk_error err;
} worker;

struct sk_side_by_side {
    pthread_mutex_t lock, turns;
    pthread_cond_t turn;
    bool ended;
    int64_t given; /* batches; the next is being filled */
    batch *batches[BATCHES];
    int32_t count;
    worker workers[SK_CONSUMERS_MOST];
};

/* --- copies --- */

static sk_status copy_shapes(copied *c, const sk_result_frame *f, sk_error *err)
{
    const sk_instances *in = f->instances;
    const size_t n = (size_t)in->count, each = (size_t)in->n_keypoints;
    size_t points = 0;
    for (int32_t i = 0; i < in->count; i++) {
        const size_t end = (size_t)in->items[i].first_keypoint + each;
        if (in->items[i].has & SK_HAS_KEYPOINTS && end > points)
            points = end;
    }
    SK_TRY(sk_array_reserve((void **)&c->instances.items, &c->items_capacity, n + 1,
                            sizeof *c->instances.items, SIZE_MAX / 256, err));
    SK_TRY(sk_array_reserve((void **)&c->instances.keypoints, &c->points_capacity, points + 1,
                            sizeof *c->instances.keypoints, SIZE_MAX / 256, err));
    SK_TRY(sk_array_reserve((void **)&c->sightings, &c->sightings_capacity, n + 1, sizeof *c->sightings,
                            SIZE_MAX / 512, err));
    if (n)
        memcpy(c->instances.items, in->items, n * sizeof *in->items);
    if (points)
        memcpy(c->instances.keypoints, in->keypoints, points * sizeof *in->keypoints);
    if (n && f->sightings)
        memcpy(c->sightings, f->sightings, n * sizeof *f->sightings);
    c->instances.count = c->instances.capacity = in->count;
    c->instances.n_keypoints = in->n_keypoints;
    return SK_OK;
}

static size_t text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Null stays null. */
static const char *put_text(char **at, const char *text)
{
    char *put = *at;
    if (!text)
        return NULL;
    memcpy(put, text, text_bytes(text));
    *at += text_bytes(text);
    return put;
}

static sk_status copy_frame(copied *c, int64_t entry, const sk_result_frame *f, sk_error *err)
{
    const size_t bytes = text_bytes(f->source) + text_bytes(f->frame_id) + text_bytes(f->problem);
    SK_TRY(copy_shapes(c, f, err));
    SK_TRY(sk_array_reserve((void **)&c->text, &c->text_capacity, bytes, 1, SIZE_MAX / 2, err));
    char *at = c->text;
    c->entry = entry;
    c->frame = *f;
    c->frame.source = put_text(&at, f->source);
    c->frame.frame_id = put_text(&at, f->frame_id);
    c->frame.problem = put_text(&at, f->problem);
    c->frame.instances = &c->instances;
    c->frame.sightings = f->sightings ? c->sightings : NULL;
    c->frame.looks = NULL; /* no file tells it */
    return SK_OK;
}

static void free_batch(batch *b)
{
    for (int32_t i = 0; b && i < BATCH; i++)
        sk_free_all(b->frames[i].instances.items, b->frames[i].instances.keypoints, b->frames[i].sightings,
                    b->frames[i].text);
    sk_free(b);
}

/* --- the threads --- */

/* Nothing of the worker is changed: others look at it. */
static sk_status serve(const worker *w, const batch *b, sk_error *err)
{
    sk_status status = w->status;
    const bool turns = w->consumer->needs & SK_NEEDS_TURNS;
    if (turns)
        pthread_mutex_lock(&w->side->turns);
    for (int32_t i = 0; i < b->n && status == SK_OK; i++) {
        const copied *c = &b->frames[i];
        bool lacks = false;
        if (c->entry >= w->consumer->has)
            status = w->consumer->kind->retell(w->consumer, c->entry, &c->frame, &lacks, err);
    }
    if (turns)
        pthread_mutex_unlock(&w->side->turns);
    return status;
}

/* With the lock. */
static void note(worker *w, sk_status status, const sk_error *err)
{
    if (w->status == SK_OK && status != SK_OK) {
        w->status = status;
        w->err = *err;
    }
    w->done++;
}

static void *work(void *context)
{
    worker *w = context;
    sk_side_by_side *s = w->side;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (w->done == s->given && !s->ended)
            pthread_cond_wait(&s->turn, &s->lock);
        if (w->done == s->given)
            break;
        const batch *b = s->batches[w->done % BATCHES];
        pthread_mutex_unlock(&s->lock);
        sk_error err = {0};
        const sk_status status = serve(w, b, &err);
        pthread_mutex_lock(&s->lock);
        note(w, status, &err);
        pthread_cond_broadcast(&s->turn);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

sk_status sk_side_by_side_open(const sk_consumers *consumers, sk_side_by_side **out, sk_error *err)
{
    *out = NULL;
    if (consumers->count < 2 || sk_cpu_usable_cores() < 2)
        return SK_OK;
    sk_side_by_side *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->turns, NULL);
    pthread_cond_init(&s->turn, NULL);
    for (int i = 0; i < BATCHES; i++)
        if (!(s->batches[i] = sk_calloc(1, sizeof *s->batches[i]))) {
            (void)!sk_side_by_side_end(&s, SK_ERR_MEMORY, NULL);
            return sk_fail_memory(err, sizeof(batch));
        }
    for (int32_t i = 0; i < consumers->count; i++) {
        if (!consumers->items[i]->kind->retell || consumers->items[i]->needs & SK_NEEDS_PIXELS)
            continue;
        worker *w = &s->workers[s->count++];
        *w = (worker){.side = s, .consumer = consumers->items[i]};
        w->threaded = pthread_create(&w->thread, NULL, work, w) == 0; /* else it is told by the caller */
    }
    *out = s;
    return SK_OK;
}

/* Is anybody still at a batch before this one? */
static bool is_behind(const sk_side_by_side *s, int64_t done)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->workers[i].threaded && s->workers[i].done < done)
            return true;
    return false;
}

static sk_status first_failure(const sk_side_by_side *s, sk_error *err)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->workers[i].status != SK_OK) {
            if (err)
                *err = s->workers[i].err;
            return s->workers[i].status;
        }
    return SK_OK;
}

/* The batch that was filled goes to all; then the one before must be free. */
static sk_status hand_over(sk_side_by_side *s, sk_error *err)
{
    for (int32_t i = 0; i < s->count; i++)
        if (!s->workers[i].threaded) {
            sk_error own = {0};
            note(&s->workers[i], serve(&s->workers[i], s->batches[s->given % BATCHES], &own), &own);
        }
    pthread_mutex_lock(&s->lock);
    s->given++;
    pthread_cond_broadcast(&s->turn);
    while (is_behind(s, s->given - BATCHES + 1))
        pthread_cond_wait(&s->turn, &s->lock);
    const sk_status status = first_failure(s, err);
    pthread_mutex_unlock(&s->lock);
    s->batches[s->given % BATCHES]->n = 0;
    return status;
}

sk_status sk_side_by_side_tell(sk_side_by_side *s, int64_t entry, const sk_result_frame *frame, sk_error *err)
{
    batch *b = s->batches[s->given % BATCHES];
    SK_TRY(copy_frame(&b->frames[b->n], entry, frame, err));
    return ++b->n == BATCH ? hand_over(s, err) : SK_OK;
}

sk_status sk_side_by_side_end(sk_side_by_side **pointer, sk_status status, sk_error *err)
{
    sk_side_by_side *s = *pointer;
    *pointer = NULL;
    if (!s)
        return status;
    if (status == SK_OK)
        status = hand_over(s, err);
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->turn);
    pthread_mutex_unlock(&s->lock);
    for (int32_t i = 0; i < s->count; i++)
        if (s->workers[i].threaded)
            pthread_join(s->workers[i].thread, NULL);
    if (status == SK_OK)
        status = first_failure(s, err);
    for (int i = 0; i < BATCHES; i++)
        free_batch(s->batches[i]);
    pthread_cond_destroy(&s->turn);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->turns);
    sk_free(s);
    return status;
}
