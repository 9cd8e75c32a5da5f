/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *sk_status_text(sk_status status)
{
    switch (status) {
    case SK_OK: return "ok";
    case SK_ERR_ARG: return "invalid argument";
    case SK_ERR_MEMORY: return "out of memory";
    case SK_ERR_IO: return "input/output error";
    case SK_ERR_NOT_FOUND: return "not found";
    case SK_ERR_FORMAT: return "damaged or foreign file";
    case SK_ERR_UNSUPPORTED: return "not supported here";
    case SK_ERR_LIMIT: return "over a safety limit";
    case SK_ERR_BUSY: return "in use";
    case SK_ERR_RUNTIME: return "compute runtime failed";
    case SK_ERR_CANCELLED: return "cancelled";
    case SK_ERR_MISMATCH: return "does not agree";
    case SK_ERR_INTERNAL: return "internal error";
    case SK_ERR_TIMEOUT: return "timed out";
    case SK_ERR_INCOMPLETE: return "incomplete source";
    }
    return "unknown status";
}

void sk_error_mark_cut(char *text, size_t capacity)
{
    size_t end = capacity - 1 - strlen("…");
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "…", strlen("…") + 1);
}

sk_status sk_error_set(sk_error *err, sk_status code, const char *file, int line, const char *format, ...)
{
    if (!err)
        return code;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (length >= (int)sizeof err->message)
        sk_error_mark_cut(err->message, sizeof err->message);
    err->code = code;
    err->file = file;
    err->line = line;
    return code;
}

void sk_error_prefix(sk_error *err, const char *format, ...)
{
    if (!err)
        return;
    char before[sizeof err->message];
    char after[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(before, sizeof before, format, args);
    va_end(args);
    memcpy(after, err->message, sizeof after);
    size_t taken = strlen(before);
    if (taken + strlen(": ") >= sizeof err->message)
        return; /* no room for both: the original text matters more */
    int length = snprintf(err->message, sizeof err->message, "%s: ", before);
    size_t room = sizeof err->message - (size_t)length;
    if (strlen(after) < room) {
        memcpy(err->message + length, after, strlen(after) + 1);
    } else {
        memcpy(err->message + length, after, room - 1);
        err->message[sizeof err->message - 1] = '\0';
        sk_error_mark_cut(err->message, sizeof err->message);
    }
}
