/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_ERROR_H
#define SK_BASE_ERROR_H

#include "skitter/status.h"

#include <stdarg.h>
#include <stddef.h>

/* Fills *err (if given) and returns `code`, so that a failure is one statement:
 *     return sk_fail(err, SK_ERR_FORMAT, "%s: not a zip file (starts with %02x)", path, first);
 * The text speaks to the person: what failed, on which file, why, what helps. */
#ifndef __clang_analyzer__
#define sk_fail(err, code, ...) sk_error_set((err), (code), __FILE__, __LINE__, __VA_ARGS__)
#else /* static analysis cannot look into sk_error_set: tell it that the result is the code, so never SK_OK */
#define sk_fail(err, code, ...) (sk_error_set((err), (code), __FILE__, __LINE__, __VA_ARGS__), (code))
#endif

sk_status sk_error_set(sk_error *err, sk_status code, const char *file, int line, const char *format, ...)
    SK_PRINTF(5, 6);

/* Puts "prefix: " before the text already in *err; for callers that know the path the callee did not. */
void sk_error_prefix(sk_error *err, const char *format, ...) SK_PRINTF(2, 3);

/* The end of a text that did not fit into `capacity` bytes: an ellipsis, and before it no half of a UTF-8 character. */
void sk_error_mark_cut(char *text, size_t capacity);

/* Shorthand for an allocation that failed. */
#define sk_fail_memory(err, bytes)                                                                           \
    sk_fail((err), SK_ERR_MEMORY, "out of memory: %zu bytes could not be allocated", (size_t)(bytes))

/* Returns from the enclosing function with the callee's status when it failed. */
#define SK_TRY(expression)                                                                                   \
    do {                                                                                                     \
        sk_status sk_try_ = (expression);                                                                    \
        if (sk_try_ != SK_OK)                                                                                \
            return sk_try_;                                                                                  \
    } while (0)

/* The same for functions with a single exit: sets `status` (a local) and jumps to `done`. */
#define SK_TRY_GOTO(expression)                                                                              \
    do {                                                                                                     \
        status = (expression);                                                                               \
        if (status != SK_OK)                                                                                 \
            goto done;                                                                                       \
    } while (0)

/* Guards a public function against a caller's mistake. */
#define SK_CHECK_ARG(condition, err)                                                                         \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return sk_fail((err), SK_ERR_ARG, "%s: needs %s", __func__, #condition);                         \
    } while (0)

#endif
