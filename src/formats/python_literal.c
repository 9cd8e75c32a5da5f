/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/python_literal.h"

#include "formats/config_build.h"

#include <math.h>
#include <string.h>

typedef struct {
    sk_config *config;
    const char *text, *at, *end;
    char *scratch; /* the string being read */
    size_t scratch_length, scratch_capacity;
} reader;

static sk_status problem(reader *r, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: not a Python literal (at byte %zu): %s", r->config->what,
                   (size_t)(r->at - r->text), why);
}

static int peek(const reader *r)
{
    return r->at < r->end ? (unsigned char)*r->at : -1;
}

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_space(r);
    if (peek(r) != (unsigned char)c)
        return false;
    r->at++;
    return true;
}

/* --- strings --- */

static sk_status put(reader *r, const char *bytes, size_t count, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&r->scratch, &r->scratch_capacity, r->scratch_length + count + 1, 1,
                            SK_CONFIG_MAX_BYTES + 1, err));
    memcpy(r->scratch + r->scratch_length, bytes, count);
    r->scratch_length += count;
    return SK_OK;
}

static sk_status put_code_point(reader *r, uint32_t code, sk_error *err)
{
    char out[4];
    size_t n;
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        code = 0xFFFD; /* lone surrogates cannot be UTF-8 */
    if (code < 0x80) {
        out[0] = (char)code;
        n = 1;
    } else if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        n = 2;
    } else if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        n = 3;
    } else {
        out[0] = (char)(0xF0 | code >> 18);
        out[1] = (char)(0x80 | (code >> 12 & 0x3F));
        out[2] = (char)(0x80 | (code >> 6 & 0x3F));
        out[3] = (char)(0x80 | (code & 0x3F));
        n = 4;
    }
    return put(r, out, n, err);
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static sk_status read_hex_escape(reader *r, int digits, sk_error *err)
{
    uint32_t code = 0;
    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(peek(r));
        if (digit < 0)
            return problem(r, "a broken escape", err);
        code = code << 4 | (uint32_t)digit;
        r->at++;
    }
    return put_code_point(r, code, err);
}

/* After the backslash. */
static sk_status read_escape(reader *r, sk_error *err)
{
    static const char from[] = "\\'\"abfnrtv";
    static const char to[] = "\\'\"\a\b\f\n\r\t\v";
    int c = peek(r);
    if (c < 0)
        return problem(r, "a string without end", err);
    if (c >= '0' && c <= '7') {
        uint32_t code = 0;
        for (int i = 0; i < 3 && peek(r) >= '0' && peek(r) <= '7'; i++)
            code = code * 8 + (uint32_t)(*r->at++ - '0');
        return put_code_point(r, code, err);
    }
    r->at++;
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        return put(r, &to[found - from], 1, err);
    switch (c) {
    case 'x': return read_hex_escape(r, 2, err);
    case 'u': return read_hex_escape(r, 4, err);
    case 'U': return read_hex_escape(r, 8, err);
    case '\n': return SK_OK; /* a line continued */
    default: {
        char kept[2] = {'\\', (char)c}; /* unknown escapes stay as written */
        return put(r, kept, 2, err);
    }
    }
}

/* One quoted piece, appended to the scratch. */
static sk_status read_quoted(reader *r, bool raw, sk_error *err)
{
    char quote = *r->at;
    size_t width = r->end - r->at >= 3 && r->at[1] == quote && r->at[2] == quote ? 3 : 1;
    r->at += width;
    for (;;) {
        int c = peek(r);
        if (c < 0 || (width == 1 && c == '\n'))
            return problem(r, "a string without end", err);
        if (c == quote && (width == 1 || (r->end - r->at >= 3 && r->at[1] == quote && r->at[2] == quote))) {
            r->at += width;
            return SK_OK;
        }
        r->at++;
        if (c == '\\' && raw && r->at < r->end) {
            SK_TRY(put(r, r->at - 1, 2, err));
            r->at++;
        } else if (c == '\\' && !raw) {
            SK_TRY(read_escape(r, err));
        } else {
            char byte = (char)c;
            SK_TRY(put(r, &byte, 1, err));
        }
    }
}

/* Length of a string's prefix letters (r, b, u, rb, …) when a quote follows, else -1. */
static int string_prefix(const reader *r, bool *raw)
{
    *raw = false;
    for (int i = 0; i < 3 && r->at + i < r->end; i++) {
        char c = r->at[i];
        if (c == '\'' || c == '"')
            return i;
        if (!strchr("rRbBuU", c) || !c)
            return -1;
        *raw |= c == 'r' || c == 'R';
    }
    return -1;
}

static sk_status read_string(reader *r, sk_config_value **out, sk_error *err)
{
    r->scratch_length = 0;
    SK_TRY(put(r, "", 0, err));
    bool raw;
    int prefix;
    while ((prefix = string_prefix(r, &raw)) >= 0) { /* adjacent pieces are one string */
        r->at += prefix;
        SK_TRY(read_quoted(r, raw, err));
        skip_space(r);
    }
    return sk_config_string(r->config, r->scratch, r->scratch_length, out, err);
}

/* --- numbers and names --- */

static bool is_word(int c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == '.' ||
           c == '+' || c == '-' || c >= 0x80;
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool parse_hex(const char *word, size_t length, sk_config_value *out)
{
    if (length < 3 || length > 17 || word[0] != '0' || (word[1] | 0x20) != 'x')
        return false;
    uint64_t value = 0;
    for (size_t i = 2; i < length; i++) {
        int digit = hex_digit((unsigned char)word[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    out->kind = SK_CONFIG_INT;
    out->u.integer = (int64_t)value;
    return true;
}

static bool resolve_word(const char *word, size_t length, sk_config_value *out)
{
    if (word_is(word, length, "None")) {
        out->kind = SK_CONFIG_NULL;
    } else if (word_is(word, length, "True") || word_is(word, length, "False")) {
        out->kind = SK_CONFIG_BOOL;
        out->u.boolean = word[0] == 'T';
    } else if (word_is(word, length, "nan")) {
        out->kind = SK_CONFIG_REAL;
        out->u.real = NAN;
    } else if (word_is(word, length, "inf") || word_is(word, length, "-inf")) {
        out->kind = SK_CONFIG_REAL;
        out->u.real = word[0] == '-' ? -INFINITY : INFINITY;
    } else {
        return sk_config_parse_number(word, length, out) || parse_hex(word, length, out);
    }
    return true;
}

static sk_status read_word(reader *r, sk_config_value **out, sk_error *err)
{
    const char *word = r->at;
    while (r->at < r->end && is_word((unsigned char)*r->at))
        r->at++;
    size_t length = (size_t)(r->at - word);
    char digits[64];
    size_t kept = 0; /* without the underscores Python allows between digits */
    for (size_t i = 0; i < length && kept < sizeof digits; i++)
        if (word[i] != '_')
            digits[kept++] = word[i];
    sk_config_value value = {0};
    if (length == 0 || kept == sizeof digits || !resolve_word(digits, kept, &value)) {
        r->at = word;
        return problem(r, length ? "a name or an over-long number, not a value" : "a value is missing", err);
    }
    SK_TRY(sk_config_node(r->config, value.kind, out, err));
    (*out)->u = value.u;
    return SK_OK;
}

/* --- containers --- */

static sk_status read_value(reader *r, int depth, sk_config_value **out, sk_error *err);

/* After "[" or "(": a lone value in parentheses without a comma is that value. */
static sk_status read_sequence(reader *r, char close, int depth, sk_config_value **out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_config_gather gather = {0};
    bool comma = false;
    while (!take(r, close)) {
        sk_config_value *item;
        if (gather.count && !comma) {
            status = problem(r, "a comma is missing", err);
            goto done;
        }
        SK_TRY_GOTO(read_value(r, depth + 1, &item, err));
        SK_TRY_GOTO(sk_config_gather_add(&gather, item, err));
        comma = take(r, ',');
    }
    if (close == ')' && gather.count == 1 && !comma)
        *out = (sk_config_value *)gather.items[0];
    else
        status = sk_config_finish_list(r->config, &gather, out, err);
done:
    sk_config_gather_free(&gather);
    return status;
}

/* After "{": a dict, or a set when the first item has no colon. */
static sk_status read_braces(reader *r, int depth, sk_config_value **out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_config_gather gather = {0};
    bool comma = true, is_set = false;
    while (!take(r, '}')) {
        sk_config_value *item;
        if (!comma) {
            status = problem(r, "a comma is missing", err);
            goto done;
        }
        SK_TRY_GOTO(read_value(r, depth + 1, &item, err));
        bool colon = take(r, ':');
        if (gather.count == 0)
            is_set = !colon;
        if (is_set == colon) {
            status = problem(r, "a dict and a set mixed", err);
            goto done;
        }
        SK_TRY_GOTO(sk_config_gather_add(&gather, item, err));
        if (colon) {
            SK_TRY_GOTO(read_value(r, depth + 1, &item, err));
            SK_TRY_GOTO(sk_config_gather_add(&gather, item, err));
        }
        comma = take(r, ',');
    }
    status = is_set ? sk_config_finish_list(r->config, &gather, out, err)
                    : sk_config_finish_map(r->config, &gather, out, err);
done:
    sk_config_gather_free(&gather);
    return status;
}

static sk_status read_value(reader *r, int depth, sk_config_value **out, sk_error *err)
{
    if (depth > SK_CONFIG_MAX_DEPTH)
        return sk_fail(err, SK_ERR_LIMIT, "%s: nested deeper than %d levels", r->config->what,
                       SK_CONFIG_MAX_DEPTH);
    if (take(r, '['))
        return read_sequence(r, ']', depth, out, err);
    if (take(r, '('))
        return read_sequence(r, ')', depth, out, err);
    if (take(r, '{'))
        return read_braces(r, depth, out, err);
    bool raw;
    if (string_prefix(r, &raw) >= 0)
        return read_string(r, out, err);
    return read_word(r, out, err);
}

sk_status sk_python_literal_open(const char *text, size_t length, const char *what, sk_config **out,
                                 sk_error *err)
{
    SK_CHECK_ARG(text && what && out, err);
    *out = NULL;
    reader r = {.text = text, .at = text, .end = text + length};
    SK_TRY(sk_config_create(length, what, &r.config, err));
    sk_config_value *root = NULL;
    sk_status status = read_value(&r, 0, &root, err);
    skip_space(&r);
    if (status == SK_OK && r.at != r.end)
        status = problem(&r, "text after the value", err);
    if (status == SK_OK) {
        r.config->root = root;
        *out = r.config;
        r.config = NULL;
    }
    sk_free(r.scratch);
    sk_config_close(&r.config);
    return status;
}
