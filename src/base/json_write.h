/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_JSON_WRITE_H
#define SK_BASE_JSON_WRITE_H

#include "base/text.h"

#include <stdio.h>

/* Writes JSON as it goes, into a text or a FILE; commas, indents and escapes are its business. The first
 * failure (memory, disk, a call out of place) is kept and later calls do nothing: ask sk_json_end once.
 *
 *     sk_json json = sk_json_to_text(&text, 2);
 *     sk_json_object(&json);
 *     sk_json_key(&json, "boxes"); sk_json_array(&json); sk_json_float(&json, 0.5); sk_json_close(&json);
 *     sk_json_close(&json);
 *     SK_TRY(sk_json_end(&json, err));
 *
 * Plain data without memory of its own; one thread at a time. */
#define SK_JSON_DEPTH 64

typedef struct sk_json {
    sk_text *text; /* one of the two */
    FILE *file;
    int indent; /* spaces a level; 0 = all on one line */
    int depth;
    sk_status failed;
    int file_error; /* errno */
    const char *misuse;
    struct {
        char closer;  /* '}' or ']' */
        bool has_any; /* something was written at this level */
        bool has_key; /* a key waits for its value */
    } level[SK_JSON_DEPTH + 1];
} sk_json;

sk_json sk_json_to_text(sk_text *text, int indent);
sk_json sk_json_to_file(FILE *file, int indent); /* the caller closes the file, after sk_json_end */

void sk_json_object(sk_json *json);
void sk_json_array(sk_json *json);
void sk_json_close(sk_json *json); /* ends the innermost object or array */
void sk_json_key(sk_json *json, const char *key);

/* Strings: bytes that are not UTF-8 become U+FFFD; a null pointer becomes null. */
void sk_json_string(sk_json *json, const char *value);
void sk_json_string_bytes(sk_json *json, const char *bytes, size_t count);
void sk_json_int(sk_json *json, int64_t value);
void sk_json_uint(sk_json *json, uint64_t value);
void sk_json_float(sk_json *json, double value);  /* "%.9g": enough for any float; null when not finite */
void sk_json_double(sk_json *json, double value); /* with as many digits as give it back, 17 at most */
void sk_json_real(sk_json *json, double value);   /* likewise, and 1 is 1.0: no whole number to its reader */
void sk_json_bool(sk_json *json, bool value);
void sk_json_null(sk_json *json);

/* "key": value in one call. */
void sk_json_key_string(sk_json *json, const char *key, const char *value);
void sk_json_key_int(sk_json *json, const char *key, int64_t value);
void sk_json_key_float(sk_json *json, const char *key, double value);
void sk_json_key_bool(sk_json *json, const char *key, bool value);
void sk_json_key_object(sk_json *json, const char *key); /* begins it, like the next */
void sk_json_key_array(sk_json *json, const char *key);

/* Several of one kind: sk_json_key_ints(json, {"width", w}, {"height", h}). */
#define sk_json_key_strings(json, ...) SK_JSON_ROWS(sk_json_string_row, json, __VA_ARGS__)
#define sk_json_key_ints(json, ...)    SK_JSON_ROWS(sk_json_int_row, json, __VA_ARGS__)
#define sk_json_key_floats(json, ...)  SK_JSON_ROWS(sk_json_float_row, json, __VA_ARGS__)
#define sk_json_key_bools(json, ...)   SK_JSON_ROWS(sk_json_bool_row, json, __VA_ARGS__)

#define SK_JSON_ROWS(row, json, ...)                                                                         \
    row##s((json), (const row[]){__VA_ARGS__}, sizeof((const row[]){__VA_ARGS__}) / sizeof(row))
#define SK_JSON_ROW(row, type)                                                                               \
    typedef struct row {                                                                                     \
        const char *key;                                                                                     \
        type value;                                                                                          \
    } row;                                                                                                   \
    void row##s(sk_json *json, const row *rows, size_t count)
SK_JSON_ROW(sk_json_string_row, const char *);
SK_JSON_ROW(sk_json_int_row, int64_t);
SK_JSON_ROW(sk_json_float_row, double);
SK_JSON_ROW(sk_json_bool_row, bool);

/* Ends one value at the top, checks that everything is closed, and writes a line end (with indent 0 too, so
 * that values one after another are JSON lines). The writer may then be used for the next value. */
sk_status sk_json_end(sk_json *json, sk_error *err) SK_MUST_CHECK;

#endif
