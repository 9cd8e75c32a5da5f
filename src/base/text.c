/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/memory.h"
#include "base/number_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Room for `more` bytes and a final zero; false when the text has failed, now or before. */
static bool make_room(sk_text *text, size_t more)
{
    size_t wanted;
    if (text->failed != SK_OK)
        return false;
    if (!sk_add_size(text->length, more, &wanted) || wanted == SIZE_MAX ||
        (text->limit && wanted > text->limit)) {
        text->failed = SK_ERR_LIMIT;
        return false;
    }
    if (wanted + 1 <= text->capacity)
        return true;
    size_t grown = text->capacity ? text->capacity : 64;
    while (grown < wanted + 1)
        grown = grown > SIZE_MAX / 2 ? SIZE_MAX : grown * 2;
    char *data = sk_realloc(text->data, grown);
    if (!data) {
        text->failed = SK_ERR_MEMORY;
        return false;
    }
    text->data = data;
    text->capacity = grown;
    return true;
}

void sk_text_append_bytes(sk_text *text, const char *bytes, size_t count)
{
    if (!make_room(text, count))
        return;
    if (count)
        memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void sk_text_append(sk_text *text, const char *more)
{
    sk_text_append_bytes(text, more, strlen(more));
}

void sk_text_vappendf(sk_text *text, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    if (length >= 0 && (size_t)length < sizeof small) {
        sk_text_append_bytes(text, small, (size_t)length);
    } else if (length >= 0 && make_room(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else if (length < 0) {
        text->failed = SK_ERR_ARG;
    }
    va_end(again);
}

void sk_text_appendf(sk_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sk_text_vappendf(text, format, args);
    va_end(args);
}

void sk_text_append_base64(sk_text *text, const void *bytes, size_t count)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = bytes;
    char block[256];
    size_t used = 0;
    for (size_t i = 0; i < count; i += 3) {
        unsigned left = count - i > 2 ? 3 : (unsigned)(count - i);
        unsigned v =
            (unsigned)at[i] << 16 | (left > 1 ? (unsigned)at[i + 1] << 8 : 0) | (left > 2 ? at[i + 2] : 0);
        block[used++] = letters[v >> 18];
        block[used++] = letters[v >> 12 & 63];
        block[used++] = left > 1 ? letters[v >> 6 & 63] : '=';
        block[used++] = left > 2 ? letters[v & 63] : '=';
        if (used == sizeof block || i + 3 >= count) {
            sk_text_append_bytes(text, block, used);
            used = 0;
        }
    }
}

const char *sk_text_get(const sk_text *text)
{
    return text->data ? text->data : "";
}

sk_status sk_text_status(const sk_text *text, sk_error *err)
{
    switch (text->failed) {
    case SK_OK: return SK_OK;
    case SK_ERR_MEMORY:
        return sk_fail(err, SK_ERR_MEMORY, "out of memory: a text of %zu bytes", text->length);
    case SK_ERR_LIMIT:
        return sk_fail(err, SK_ERR_LIMIT, "a text would be longer than %zu bytes", text->limit);
    default: return sk_fail(err, text->failed, "a text could not be formatted");
    }
}

sk_status sk_text_take(sk_text *text, char **out, sk_error *err)
{
    *out = NULL;
    sk_text_append(text, ""); /* an empty text is a text too */
    sk_status status = sk_text_status(text, err);
    if (status == SK_OK) {
        *out = text->data;
        text->data = NULL;
    }
    sk_text_free(text);
    return status;
}

void sk_text_clear(sk_text *text)
{
    text->length = 0;
    text->failed = SK_OK;
    if (text->data)
        text->data[0] = '\0';
}

void sk_text_free(sk_text *text)
{
    sk_free(text->data);
    *text = (sk_text){.limit = text->limit};
}

const char *sk_text_number(double value, int digits, char *buffer, size_t capacity)
{
    char raw[SK_NUMBER_ROOM];
    if (isnan(value)) {
        snprintf(buffer, capacity, "nan");
        return buffer;
    }
    if (isinf(value)) {
        snprintf(buffer, capacity, value < 0 ? "-inf" : "inf");
        return buffer;
    }
    const size_t length = (size_t)(sk_number_g(raw, value, digits) - raw), fits = capacity ? capacity - 1 : 0;
    if (capacity) {
        memcpy(buffer, raw, length < fits ? length : fits);
        buffer[length < fits ? length : fits] = '\0';
    }
    return buffer;
}

size_t sk_text_utf8(const char *bytes, size_t left)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (left == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    size_t length = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
    if (b[0] < 0xC2 || b[0] > 0xF4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    }
    /* longer than needed, surrogates, beyond U+10FFFF */
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) || (b[0] == 0xF0 && b[1] < 0x90) ||
        (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return length;
}

char *sk_text_utf8_copy(const char *text)
{
    size_t length = strlen(text), i = 0;
    char *copy = sk_malloc(3 * length + 1), *at = copy;
    while (copy && i < length) {
        size_t step = sk_text_utf8(text + i, length - i);
        memcpy(at, step ? text + i : "\xEF\xBF\xBD", step ? step : 3);
        at += step ? step : 3;
        i += step ? step : 1;
    }
    if (copy)
        *at = '\0';
    return copy;
}

/* C0, DEL, C1 (also as UTF-8, which terminals obey), and the characters that turn the direction of writing. */
static bool is_control(const unsigned char *c, size_t length)
{
    if (length == 1)
        return c[0] < 0x20 || c[0] == 0x7F;
    if (length == 2)
        return c[0] == 0xC2 && c[1] < 0xA0;
    return length == 3 && c[0] == 0xE2 &&
           ((c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xA8 && c[2] <= 0xAE))) ||
            (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

char *sk_text_printable(const char *text, const char *keep)
{
    size_t length = strlen(text), i = 0;
    char *copy = sk_malloc(4 * length + 1), *at = copy;
    while (copy && i < length) {
        const unsigned char *c = (const unsigned char *)text + i;
        size_t step = sk_text_utf8(text + i, length - i), bytes = step ? step : 1;
        if (step && (!is_control(c, step) || (step == 1 && strchr(keep, text[i])))) {
            memcpy(at, c, step);
            at += step;
        } else {
            for (size_t k = 0; k < bytes; k++)
                at += sprintf(at, "\\x%02x", c[k]);
        }
        i += bytes;
    }
    if (copy)
        *at = '\0';
    return copy;
}

void sk_text_shorten(const char *text, char *buffer, size_t capacity)
{
    size_t length = strlen(text), i = 0;
    while (i < length) {
        size_t step = sk_text_utf8(text + i, length - i), bytes = step ? step : 1;
        if (i + bytes >= capacity)
            break;
        memcpy(buffer + i, text + i, bytes);
        i += bytes;
    }
    if (capacity)
        buffer[i] = '\0';
}

void sk_text_append_markup(sk_text *page, const char *text)
{
    char *clean = sk_text_printable(text, "");
    for (const char *c = clean ? clean : ""; *c; c++)
        switch (*c) {
        case '&': sk_text_append(page, "&amp;"); break;
        case '<': sk_text_append(page, "&lt;"); break;
        case '>': sk_text_append(page, "&gt;"); break;
        case '"': sk_text_append(page, "&quot;"); break;
        case '\'': sk_text_append(page, "&#39;"); break;
        default: sk_text_append_bytes(page, c, 1);
        }
    sk_free(clean);
}

/* Value with three digits at most: 1.23 is too exact for people, 0.5 too coarse. */
static void with_unit(double value, const char *unit, char *buffer, size_t capacity)
{
    char number[SK_TEXT_NUMBER];
    snprintf(number, sizeof number, value < 9.95 ? "%.1f" : "%.0f", value);
    number[strcspn(number, ",")] = number[strcspn(number, ",")] ? '.' : '\0';
    snprintf(buffer, capacity, "%s %s", number, unit);
}

/* In the largest of the units (smallest first, each a thousand of the one before) that gives 1 or more; the smallest
 * one whole. */
static const char *by_thousands(double value, const char *const *units, char *buffer, size_t capacity)
{
    if (!(value >= 999.5)) {
        snprintf(buffer, capacity, "%.0f %s", value > 0 ? value : 0, units[0]);
        return buffer;
    }
    int unit = 1;
    for (value /= 1000; value >= 999.5 && units[unit + 1]; unit++)
        value /= 1000;
    with_unit(value, units[unit], buffer, capacity);
    return buffer;
}

const char *sk_text_bytes(double bytes, char *buffer, size_t capacity)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};
    return by_thousands(bytes, units, buffer, capacity);
}

const char *sk_text_duration(double ns, char *buffer, size_t capacity)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    return by_thousands(ns, units, buffer, capacity);
}

const char *sk_text_time_left(double seconds, char *buffer, size_t capacity)
{
    if (!(seconds >= 0) || seconds > 1e9) {
        snprintf(buffer, capacity, "-:--");
        return buffer;
    }
    long long s = (long long)(seconds + 0.5);
    if (s < 3600)
        snprintf(buffer, capacity, "%lld:%02lld", s / 60, s % 60);
    else if (s < 86400)
        snprintf(buffer, capacity, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buffer, capacity, "%lld d %lld h", s / 86400, s / 3600 % 24);
    return buffer;
}

#define LONGEST 63

int sk_text_distance(const char *a, const char *b)
{
    size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);
    int rows[3][LONGEST + 1]; /* two rows back, for swaps */
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            int best = above[j - 1] + (x != y);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[m];
}

const char *sk_text_suggest(const char *word, const char *const *choices, size_t count)
{
    size_t nearest = count, length = strlen(word);
    int best = 1 + (int)(length < 30 ? length : 30) / 4; /* one slip, and one more for every four letters */
    for (size_t i = 0; i < count; i++) {
        int distance = sk_text_distance(word, choices[i]);
        if (distance <= best && (size_t)distance < length) {
            best = distance - 1; /* from now on only nearer ones; the first of equals wins */
            nearest = i;
        }
    }
    for (size_t i = 0; nearest == count && length >= 3 && i < count; i++) {
        if (strncasecmp(word, choices[i], length) == 0)
            nearest = i;
    }
    return nearest < count ? choices[nearest] : NULL;
}

void sk_text_append_shell(sk_text *line, const char *word)
{
    const size_t safe =
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%");
    if (safe == strlen(word) && safe > 0) {
        sk_text_append(line, word);
        return;
    }
    sk_text_append(line, "'");
    for (const char *c = word; *c; c++)
        *c == '\'' ? sk_text_append(line, "'\\''") : sk_text_append_bytes(line, c, 1);
    sk_text_append(line, "'");
}
