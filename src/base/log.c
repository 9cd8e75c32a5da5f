/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while the callback runs */
static sk_log_fn callback;
static void *callback_cookie;
static atomic_int wanted_level = -1; /* -1 = silent */
static _Thread_local int inside;     /* this thread is in the callback */

void sk_log_set(sk_log_level level, sk_log_fn fn, void *cookie)
{
    if (inside)
        return; /* forbidden, and taking the lock would never return */
    pthread_mutex_lock(&lock);
    callback = fn;
    callback_cookie = cookie;
    atomic_store(&wanted_level, fn ? (int)level : -1);
    pthread_mutex_unlock(&lock);
}

int sk_log_wanted(sk_log_level level)
{
    return (int)level <= atomic_load_explicit(&wanted_level, memory_order_relaxed);
}

void sk_log(sk_log_level level, const char *format, ...)
{
    if (!sk_log_wanted(level) || inside)
        return;
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    if (callback && sk_log_wanted(level)) {
        inside = 1;
        callback(callback_cookie, level, message);
        inside = 0;
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
