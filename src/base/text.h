/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_TEXT_H
#define SK_BASE_TEXT_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. Starts as {0}. A failed append (memory, or over `limit`) is remembered and later ones do
 * nothing, so that a writer appends freely and asks sk_text_status once, at the end. */
typedef struct sk_text {
    char *data; /* zero-terminated once anything was appended; use sk_text_get to have "" before */
    size_t length;
    size_t capacity;
    size_t limit; /* most bytes it may hold; 0 = no limit */
    sk_status failed;
} sk_text;

void sk_text_append(sk_text *text, const char *more);
void sk_text_append_bytes(sk_text *text, const char *bytes, size_t count);
void sk_text_appendf(sk_text *text, const char *format, ...) SK_PRINTF(2, 3);
void sk_text_vappendf(sk_text *text, const char *format, va_list args) SK_PRINTF(2, 0);
void sk_text_append_base64(sk_text *text, const void *bytes, size_t count);
const char *sk_text_get(const sk_text *text); /* never null; valid until the next append */
sk_status sk_text_status(const sk_text *text, sk_error *err) SK_MUST_CHECK;
/* Hands the text over (freed by sk_free) and leaves *text empty; null and SK_ERR_… when an append had
 * failed. */
sk_status sk_text_take(sk_text *text, char **out, sk_error *err) SK_MUST_CHECK;
void sk_text_clear(sk_text *text); /* empties, keeps the memory */
void sk_text_free(sk_text *text);

/* A number as "%.<digits>g" writes it, with '.' in every locale; "nan", "inf", "-inf". Returns buffer. */
const char *sk_text_number(double value, int digits, char *buffer, size_t capacity);
#define SK_TEXT_NUMBER 48

/* Length in bytes of the valid UTF-8 character at `bytes` (at most `left` of them), or 0 when it is not
 * valid. */
size_t sk_text_utf8(const char *bytes, size_t left);
/* A copy (freed by sk_free) in which every byte that is not UTF-8 became U+FFFD; null when memory is out. */
char *sk_text_utf8_copy(const char *text);
/* The same for a terminal: control characters, too, are written as people see them, "\\x1b", so that no name in a file can
 * move a cursor, change a colour or hide what stands on the screen. `keep` lists control characters that may stay ("\n"). */
char *sk_text_printable(const char *text, const char *keep);
/* As many bytes of a name as fit, cut between characters. */
void sk_text_shorten(const char *text, char *buffer, size_t capacity);
/* A word as a shell reads it, between quotation marks where it needs them. */
void sk_text_append_shell(sk_text *line, const char *word);
/* A name in HTML or SVG, in text or between quotation marks: control characters as sk_text_printable writes them. */
void sk_text_append_markup(sk_text *page, const char *text);

/* --- for people; each returns buffer --- */
#define SK_TEXT_UNIT 32
const char *sk_text_bytes(double bytes, char *buffer, size_t capacity); /* "812 B", "1.2 MB" (1000s) */
const char *sk_text_duration(double ns, char *buffer, size_t capacity); /* "250 ns", "3.4 ms", "12.5 s" */
/* "0:07", "12:03", "1:02:45", "2 d 3 h" */
const char *sk_text_time_left(double seconds, char *buffer, size_t capacity);

/* Changes (insert, delete, replace, swap of neighbours) that lead from a to b, letters' case aside. Texts
 * longer than 63 bytes are compared by their first 63. */
int sk_text_distance(const char *a, const char *b);
/* The choice somebody who typed `word` probably meant, or null when none is near: "predcit" -> "predict". */
const char *sk_text_suggest(const char *word, const char *const *choices, size_t count);

#endif
