/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include "base/number_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

sk_json sk_json_to_text(sk_text *text, int indent)
{
    return (sk_json){.text = text, .indent = indent};
}

sk_json sk_json_to_file(FILE *file, int indent)
{
    return (sk_json){.file = file, .indent = indent};
}

static void put(sk_json *json, const char *bytes, size_t count)
{
    if (json->failed != SK_OK)
        return;
    if (json->text) {
        sk_text_append_bytes(json->text, bytes, count);
        json->failed = json->text->failed;
    } else if (fwrite(bytes, 1, count, json->file) != count) {
        json->failed = SK_ERR_IO;
        json->file_error = errno;
    }
}

static void put_text(sk_json *json, const char *text)
{
    put(json, text, strlen(text));
}

static void misuse(sk_json *json, const char *what)
{
    if (json->failed == SK_OK) {
        json->failed = SK_ERR_INTERNAL;
        json->misuse = what;
    }
}

static void new_line(sk_json *json, int depth)
{
    static const char spaces[] = "                                ";
    if (json->indent <= 0)
        return;
    put(json, "\n", 1);
    for (int left = depth * json->indent; left > 0; left -= 32)
        put(json, spaces, left < 32 ? (size_t)left : 32);
}

/* What stands between the value before and the one to come. */
static void before_value(sk_json *json)
{
    if (json->depth == 0) {
        if (json->level[0].has_any)
            misuse(json, "a second value at the top");
        json->level[0].has_any = true;
        return;
    }
    if (json->level[json->depth].closer == '}') {
        if (!json->level[json->depth].has_key)
            misuse(json, "a value without a key in an object");
        json->level[json->depth].has_key = false;
        return;
    }
    if (json->level[json->depth].has_any)
        put(json, ",", 1);
    json->level[json->depth].has_any = true;
    new_line(json, json->depth);
}

static void open_level(sk_json *json, const char *opener, char closer)
{
    before_value(json);
    if (json->depth == SK_JSON_DEPTH) {
        misuse(json, "nested too deeply");
        return;
    }
    put_text(json, opener);
    json->depth++;
    json->level[json->depth].closer = closer;
    json->level[json->depth].has_any = false;
    json->level[json->depth].has_key = false;
}

void sk_json_object(sk_json *json)
{
    open_level(json, "{", '}');
}

void sk_json_array(sk_json *json)
{
    open_level(json, "[", ']');
}

void sk_json_close(sk_json *json)
{
    if (json->depth == 0 || json->level[json->depth].has_key) {
        misuse(json, "nothing to close, or a key without its value");
        return;
    }
    char closer = json->level[json->depth].closer;
    bool has_any = json->level[json->depth].has_any;
    json->depth--;
    if (has_any)
        new_line(json, json->depth);
    put(json, &closer, 1);
}

/* The longest piece that needs no escape is written at once. */
static void put_string(sk_json *json, const char *bytes, size_t count)
{
    put(json, "\"", 1);
    size_t start = 0, i = 0;
    while (i < count) {
        unsigned char c = (unsigned char)bytes[i];
        size_t length = sk_text_utf8(bytes + i, count - i);
        bool c1 = length == 2 && c == 0xC2 && (unsigned char)bytes[i + 1] < 0xA0; /* terminals obey these */
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F && !c1) {
            i += length;
            continue;
        }
        put(json, bytes + start, i - start);
        char escape[8];
        const char *named = c == '\n'   ? "\\n"
                            : c == '\t' ? "\\t"
                            : c == '\r' ? "\\r"
                            : c == '\b' ? "\\b"
                            : c == '\f' ? "\\f"
                            : c == '"'  ? "\\\""
                            : c == '\\' ? "\\\\"
                                        : NULL;
        if (length == 0)
            put_text(json, "\xEF\xBF\xBD");
        else if (named)
            put_text(json, named);
        else {
            snprintf(escape, sizeof escape, "\\u%04x", c1 ? (unsigned char)bytes[i + 1] : c);
            put_text(json, escape);
        }
        i += c1 ? 2 : 1;
        start = i;
    }
    put(json, bytes + start, count - start);
    put(json, "\"", 1);
}

void sk_json_key(sk_json *json, const char *key)
{
    if (json->depth == 0 || json->level[json->depth].closer != '}' || json->level[json->depth].has_key) {
        misuse(json, "a key outside of an object");
        return;
    }
    if (json->level[json->depth].has_any)
        put(json, ",", 1);
    json->level[json->depth].has_any = true;
    json->level[json->depth].has_key = true;
    new_line(json, json->depth);
    put_string(json, key, strlen(key));
    put_text(json, json->indent > 0 ? ": " : ":");
}

void sk_json_string_bytes(sk_json *json, const char *bytes, size_t count)
{
    before_value(json);
    put_string(json, bytes, count);
}

void sk_json_string(sk_json *json, const char *value)
{
    if (value)
        sk_json_string_bytes(json, value, strlen(value));
    else
        sk_json_null(json);
}

static void value_text(sk_json *json, const char *text)
{
    before_value(json);
    put_text(json, text);
}

void sk_json_int(sk_json *json, int64_t value)
{
    char text[SK_NUMBER_ROOM];
    *sk_number_int(text, value) = '\0';
    value_text(json, text);
}

void sk_json_uint(sk_json *json, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    value_text(json, text);
}

static void number(sk_json *json, double value, int digits)
{
    char text[SK_TEXT_NUMBER];
    value_text(json, isfinite(value) ? sk_text_number(value, digits, text, sizeof text) : "null");
}

void sk_json_float(sk_json *json, double value)
{
    number(json, value, 9);
}

/* How many are needed to be this number again: 0.1, not 0.10000000000000001. */
static int digits_of(double value)
{
    char text[SK_TEXT_NUMBER];
    for (int digits = 15; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value); /* strtod has the same locale */
        if (strtod(text, NULL) == value)
            return digits;
    }
    return 17;
}

void sk_json_double(sk_json *json, double value)
{
    number(json, value, digits_of(value));
}

void sk_json_real(sk_json *json, double value)
{
    char text[SK_TEXT_NUMBER + 2];
    if (!isfinite(value)) {
        sk_json_null(json);
        return;
    }
    sk_text_number(value, digits_of(value), text, SK_TEXT_NUMBER);
    const size_t length = strlen(text);
    if (strspn(text, "-0123456789") == length)
        memcpy(text + length, ".0", 3);
    value_text(json, text);
}

void sk_json_bool(sk_json *json, bool value)
{
    value_text(json, value ? "true" : "false");
}

void sk_json_null(sk_json *json)
{
    value_text(json, "null");
}

void sk_json_key_string(sk_json *json, const char *key, const char *value)
{
    sk_json_key(json, key);
    sk_json_string(json, value);
}

void sk_json_key_int(sk_json *json, const char *key, int64_t value)
{
    sk_json_key(json, key);
    sk_json_int(json, value);
}

void sk_json_key_float(sk_json *json, const char *key, double value)
{
    sk_json_key(json, key);
    sk_json_float(json, value);
}

void sk_json_key_bool(sk_json *json, const char *key, bool value)
{
    sk_json_key(json, key);
    sk_json_bool(json, value);
}

void sk_json_key_object(sk_json *json, const char *key)
{
    sk_json_key(json, key);
    sk_json_object(json);
}

void sk_json_key_array(sk_json *json, const char *key)
{
    sk_json_key(json, key);
    sk_json_array(json);
}

#define WRITE_ROWS(row, write)                                                                               \
    void row##s(sk_json *json, const row *rows, size_t count)                                                \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                   \
            write(json, rows[i].key, rows[i].value);                                                         \
    }
WRITE_ROWS(sk_json_string_row, sk_json_key_string)
WRITE_ROWS(sk_json_int_row, sk_json_key_int)
WRITE_ROWS(sk_json_float_row, sk_json_key_float)
WRITE_ROWS(sk_json_bool_row, sk_json_key_bool)

sk_status sk_json_end(sk_json *json, sk_error *err)
{
    if (json->depth != 0 || !json->level[0].has_any)
        misuse(json, "ended while something was open, or before any value");
    put(json, "\n", 1);
    if (json->file && json->failed == SK_OK && fflush(json->file) != 0) {
        json->failed = SK_ERR_IO;
        json->file_error = errno;
    }
    json->level[0].has_any = false;
    switch (json->failed) {
    case SK_OK: return SK_OK;
    case SK_ERR_IO:
        return sk_fail(err, SK_ERR_IO, "JSON could not be written: %s", strerror(json->file_error));
    case SK_ERR_INTERNAL: return sk_fail(err, SK_ERR_INTERNAL, "JSON writer: %s", json->misuse);
    default: return sk_text_status(json->text, err);
    }
}
