/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_LOG_H
#define SKITTER_LOG_H

#include "skitter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What skitter has to say besides results and errors. The library is silent until a callback is set: it never
 * writes to the terminal by itself. */

typedef enum sk_log_level {
    SK_LOG_ERROR = 0, /* something failed that no caller was told of (a background thread) */
    SK_LOG_WARN = 1,  /* works, but probably not as wished: a slow path, a setting without effect */
    SK_LOG_INFO = 2,  /* what was chosen and why */
    SK_LOG_DEBUG = 3
} sk_log_level;

/* One message: UTF-8, no line end, valid during the call only. May be called from any thread; calls never
 * overlap, so the callback needs no lock. It must not call sk_log_set. */
typedef void (*sk_log_fn)(void *cookie, sk_log_level level, const char *message);

/* Messages up to `level` go to fn(cookie, …) from now on; a null fn means silence, the default. When this
 * returns, the former callback is not running and will not be called again: its cookie may be freed.
 * Thread-safe. */
SK_API void sk_log_set(sk_log_level level, sk_log_fn fn, void *cookie);

/* "error", "warning", "info", "debug". */
SK_API const char *sk_log_level_name(sk_log_level level);

#ifdef __cplusplus
}
#endif
#endif
