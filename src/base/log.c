/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A listener stays in the list while a call to it is under way (`busy`), so that whoever walks the list can let go of the
 * lock for the call and find its place again. */
struct sk_log_listener {
    sk_log_listener *next;
    sk_log_fn fn;
    void *cookie;
    sk_log_level level;
    int busy;     /* calls under way */
    bool leaving; /* gets no new ones */
    bool orphan;  /* left from inside its own call: whoever made that call frees it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t quiet = PTHREAD_COND_INITIALIZER; /* a call to one that is leaving is over */
static sk_log_listener *listeners;
static atomic_int wanted_level = -1;            /* the largest of all; -1 = silent */
static _Thread_local sk_log_listener *speaking; /* this thread is in its callback */

/* Under the lock. */
static void settle_level(void)
{
    int level = -1;
    for (const sk_log_listener *l = listeners; l; l = l->next)
        if (!l->leaving && (int)l->level > level)
            level = (int)l->level;
    atomic_store(&wanted_level, level);
}

/* Under the lock. */
static void remove_listener(sk_log_listener *listener)
{
    sk_log_listener **at = &listeners;
    while (*at != listener)
        at = &(*at)->next;
    *at = listener->next;
    sk_free(listener);
}

sk_status sk_log_listen(sk_log_level level, sk_log_fn fn, void *cookie, sk_log_listener **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(fn, err);
    sk_log_listener *listener = sk_calloc(1, sizeof *listener);
    if (!listener)
        return sk_fail_memory(err, sizeof *listener);
    listener->fn = fn;
    listener->cookie = cookie;
    listener->level = level;
    pthread_mutex_lock(&lock);
    listener->next = listeners;
    listeners = listener;
    settle_level();
    pthread_mutex_unlock(&lock);
    *out = listener;
    return SK_OK;
}

void sk_log_unlisten(sk_log_listener **pointer)
{
    sk_log_listener *listener = pointer ? *pointer : NULL;
    if (!listener)
        return;
    *pointer = NULL;
    pthread_mutex_lock(&lock);
    listener->leaving = true;
    settle_level();
    if (speaking == listener) {
        listener->orphan = true;
    } else {
        while (listener->busy > 0)
            pthread_cond_wait(&quiet, &lock);
        remove_listener(listener);
    }
    pthread_mutex_unlock(&lock);
}

int sk_log_wanted(sk_log_level level)
{
    return (int)level <= atomic_load_explicit(&wanted_level, memory_order_relaxed);
}

/* Names of files may hold any bytes. */
static void only_utf8(char *text)
{
    for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
        step = sk_text_utf8(text, left);
        if (step == 0)
            *text = '?', step = 1;
    }
}

void sk_log(sk_log_level level, const char *format, ...)
{
    if (!sk_log_wanted(level) || speaking)
        return;
    char message[1024];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (length >= (int)sizeof message)
        sk_error_mark_cut(message, sizeof message);
    only_utf8(message);
    pthread_mutex_lock(&lock);
    for (sk_log_listener *l = listeners, *next; l; l = next) {
        if (!l->leaving && level <= l->level) {
            l->busy++;
            pthread_mutex_unlock(&lock);
            speaking = l;
            l->fn(l->cookie, level, message);
            speaking = NULL;
            pthread_mutex_lock(&lock);
            l->busy--;
            if (l->leaving)
                pthread_cond_broadcast(&quiet);
        }
        next = l->next;
        if (l->orphan && l->busy == 0)
            remove_listener(l);
    }
    pthread_mutex_unlock(&lock);
}

const char *sk_log_level_name(sk_log_level level)
{
    switch (level) {
    case SK_LOG_ERROR: return "error";
    case SK_LOG_WARN: return "warning";
    case SK_LOG_INFO: return "info";
    case SK_LOG_DEBUG: return "debug";
    }
    return "unknown";
}
