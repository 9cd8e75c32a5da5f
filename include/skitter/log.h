/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_LOG_H
#define SKITTER_LOG_H

#include "skitter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What skitter has to say besides results and errors. The library is silent until somebody listens: it never writes to
 * the terminal by itself. Any number may listen, each up to a level of its own: a program and a plugin in it do not take
 * the messages away from each other.
 *
 * Threads: all functions may be called from any thread, at any time. */

/* How much a message matters. A listener hears its level and everything above it in this list. */
typedef enum sk_log_level {
    /* something failed that no caller was told of (a background thread) */
    SK_LOG_ERROR = 0,
    /* works, but probably not as wished: a slow path, a setting without effect */
    SK_LOG_WARN = 1,
    /* what was chosen and why */
    SK_LOG_INFO = 2,
    /* for whoever looks for a mistake in skitter */
    SK_LOG_DEBUG = 3
} sk_log_level;

/* One message: UTF-8, no line end, 1023 bytes at most (a longer one ends in "…"), valid during the call only. Called from any thread, also from
 * several at once, and under no lock of ours. A message that skitter has to say during the call is dropped. */
typedef void (*sk_log_fn)(void *cookie, sk_log_level level, const char *message);

/* Somebody who listens; ended by sk_log_unlisten. */
typedef struct sk_log_listener sk_log_listener;

/* Messages up to `level` go to fn(cookie, …) from now on. `cookie` stays the caller's. Of a failure (SK_ERR_ARG: fn or out
 * is null; SK_ERR_MEMORY) *out is null. */
SK_API sk_status sk_log_listen(sk_log_level level, sk_log_fn fn, void *cookie, sk_log_listener **out,
                               sk_error *err) SK_MUST_CHECK;
/* Ends it and nulls the pointer; null is fine. When this returns, fn is not running and will not be called again, so that
 * its cookie may be freed: it waits for calls that are under way, so do not hold a lock that fn takes. From inside fn itself
 * it returns at once, and that call is the last. */
SK_API void sk_log_unlisten(sk_log_listener **listener);

/* "error", "warning", "info", "debug". */
SK_API const char *sk_log_level_name(sk_log_level level);

#ifdef __cplusplus
}
#endif
#endif
