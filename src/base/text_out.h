/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_TEXT_OUT_H
#define SK_BASE_TEXT_OUT_H

#include "base/number_text.h"

#include <stdio.h>
#include <string.h>

/* Lines on their way to a file: pieces and numbers are gathered here and handed over in blocks, without printf and without
 * the file's lock for every piece. Starts as {.file = …}. What was gathered is in the file after sk_out_push; whether it
 * was taken, the file knows (ferror). */
#define SK_TEXT_OUT_BYTES 16384
typedef struct sk_text_out {
    FILE *file;
    size_t used;
    char bytes[SK_TEXT_OUT_BYTES];
} sk_text_out;

static inline void sk_out_push(sk_text_out *out)
{
    if (out->used)
        (void)!fwrite(out->bytes, 1, out->used, out->file);
    out->used = 0;
}

/* Where the next `room` bytes go (at most SK_NUMBER_ROOM). */
static inline char *sk_out_room(sk_text_out *out, size_t room)
{
    if (out->used + room > sizeof out->bytes)
        sk_out_push(out);
    return out->bytes + out->used;
}

static inline void sk_out_bytes(sk_text_out *out, const char *bytes, size_t count)
{
    if (count > sizeof out->bytes - out->used) {
        sk_out_push(out);
        if (count > sizeof out->bytes) {
            (void)!fwrite(bytes, 1, count, out->file);
            return;
        }
    }
    memcpy(out->bytes + out->used, bytes, count);
    out->used += count;
}

static inline void sk_out_text(sk_text_out *out, const char *text)
{
    sk_out_bytes(out, text, strlen(text));
}

static inline void sk_out_char(sk_text_out *out, char c)
{
    *sk_out_room(out, 1) = c;
    out->used++;
}

static inline void sk_out_int(sk_text_out *out, int64_t value)
{
    char *at = sk_out_room(out, SK_NUMBER_ROOM);
    out->used += (size_t)(sk_number_int(at, value) - at);
}

/* As "%.<digits>g" and "%.<decimals>f". */
static inline void sk_out_g(sk_text_out *out, double value, int digits)
{
    char *at = sk_out_room(out, SK_NUMBER_ROOM);
    out->used += (size_t)(sk_number_g(at, value, digits) - at);
}

static inline void sk_out_f(sk_text_out *out, double value, int decimals)
{
    char *at = sk_out_room(out, SK_NUMBER_ROOM);
    out->used += (size_t)(sk_number_f(at, value, decimals) - at);
}

#endif
