/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers.h"

#include "base/memory.h"
#include "base/object.h"

#include <pthread.h>

#define THREADS_MOST 32

typedef struct waiting {
    sk_worker_job job;
    void *context;
} waiting;

struct sk_workers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing;
    int32_t n_threads, first, count, most;
    pthread_t threads[THREADS_MOST];
    waiting *ring;
};

static void *work(void *context)
{
    sk_workers *w = context;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->count == 0 && !w->closing)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->count == 0)
            break;
        const waiting next = w->ring[w->first];
        w->first = (w->first + 1) % w->most;
        w->count--;
        pthread_mutex_unlock(&w->lock);
        next.job(next.context);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

sk_status sk_workers_open(int32_t threads, int32_t most_waiting, sk_workers **out, sk_error *err)
{
    sk_workers *w = sk_calloc(1, sizeof *w);
    waiting *ring = sk_calloc((size_t)most_waiting, sizeof *ring);
    *out = NULL;
    if (!w || !ring || pthread_mutex_init(&w->lock, NULL) != 0) {
        sk_free_all(w, ring);
        return sk_fail_memory(err, sizeof *w);
    }
    if (pthread_cond_init(&w->changed, NULL) != 0) {
        pthread_mutex_destroy(&w->lock);
        sk_free_all(w, ring);
        return sk_fail_memory(err, sizeof *w);
    }
    w->ring = ring;
    w->most = most_waiting;
    *out = w;
    for (int32_t i = 0; i < threads && i < THREADS_MOST; i++)
        if (pthread_create(&w->threads[i], NULL, work, w) == 0)
            w->n_threads++;
        else
            break;
    if (w->n_threads > 0)
        return SK_OK;
    sk_workers_close(out);
    return sk_fail(err, SK_ERR_RUNTIME, "no thread could be started to answer requests");
}

bool sk_workers_give(sk_workers *w, sk_worker_job job, void *context)
{
    pthread_mutex_lock(&w->lock);
    const bool taken = w->count < w->most && !w->closing;
    if (taken) {
        w->ring[(w->first + w->count++) % w->most] = (waiting){job, context};
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

void sk_workers_close(sk_workers **pointer)
{
    SK_TAKE_OR_RETURN(w, pointer);
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    for (int32_t i = 0; i < w->n_threads; i++)
        pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    sk_free_all(w->ring, w);
}
