/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/template.h"

#include "base/number_read.h"
#include "base/number_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *name;
    void (*text)(sk_text *out, const char *text, size_t length);
    const char *yes, *no;
    const char *open, *close; /* of a list; null where the language has none */
} filter;

/* Control characters end lines or worse: in one-line forms they are spaces. */
static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static void quoted(sk_text *out, const char *text, size_t length, char quote, const char *also)
{
    sk_text_append_bytes(out, &quote, 1);
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (c == '\n')
            sk_text_append(out, "\\n");
        else if (c == '\t')
            sk_text_append(out, "\\t");
        else if (is_control(c))
            sk_text_append(out, " ");
        else if (c == '\\' || c == quote || strchr(also, c))
            sk_text_appendf(out, "\\%c", c);
        else
            sk_text_append_bytes(out, &c, 1);
    }
    sk_text_append_bytes(out, &quote, 1);
}

static void text_cpp(sk_text *out, const char *text, size_t length)
{
    quoted(out, text, length, '"', "?"); /* no trigraphs */
}

static void text_py(sk_text *out, const char *text, size_t length)
{
    quoted(out, text, length, '\'', "");
}

static void text_yaml(sk_text *out, const char *text, size_t length)
{
    quoted(out, text, length, '"', "");
}

static void text_cmake(sk_text *out, const char *text, size_t length)
{
    quoted(out, text, length, '"', "$`");
}

static void text_xml(sk_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        switch (c) {
        case '&': sk_text_append(out, "&amp;"); break;
        case '<': sk_text_append(out, "&lt;"); break;
        case '>': sk_text_append(out, "&gt;"); break;
        case '"': sk_text_append(out, "&quot;"); break;
        case '\'': sk_text_append(out, "&apos;"); break;
        default: sk_text_append_bytes(out, is_control(c) ? " " : &c, 1);
        }
    }
}

static void text_md(sk_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (is_control(c))
            sk_text_append(out, " ");
        else if (c == '<')
            sk_text_append(out, "&lt;");
        else if (strchr("\\|`*_[]#", c))
            sk_text_appendf(out, "\\%c", c);
        else
            sk_text_append_bytes(out, &c, 1);
    }
}

/* Between backticks nothing can be escaped. */
static void text_code(sk_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sk_text_append_bytes(out, is_control(text[i]) ? " " : text[i] == '`' ? "'" : &text[i], 1);
}

static bool is_safe(const char *text, size_t length);

static void text_sh(sk_text *out, const char *text, size_t length)
{
    if (length && is_safe(text, length) && !memchr(text, ' ', length) && *text != '~' && *text != '-') {
        sk_text_append_bytes(out, text, length);
        return;
    }
    sk_text_append(out, "'");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            sk_text_append(out, "'\\''");
        else
            sk_text_append_bytes(out, is_control(text[i]) ? " " : &text[i], 1);
    }
    sk_text_append(out, "'");
}

/* How many bytes at `text` a reader may take for the end of a line, or of the text: a control character, and those line ends beyond
 * ASCII that YAML and Python know (U+0085, U+2028, U+2029). 0: none. */
static size_t line_end_at(const char *text, size_t left)
{
    if (is_control(text[0]))
        return 1;
    if (left >= 2 && memcmp(text, "\xc2\x85", 2) == 0)
        return 2;
    return left >= 3 && memcmp(text, "\xe2\x80", 2) == 0 && (text[2] == '\xa8' || text[2] == '\xa9') ? 3 : 0;
}

/* No line end, no end of a block comment (C, Python's docstrings, XML), no continued line: judged by what is written, not by what
 * it is made from. */
static void text_comment(sk_text *out, const char *text, size_t length)
{
    char before = ' ';
    for (size_t i = 0; i < length; i++) {
        const size_t end = line_end_at(text + i, length - i);
        const char c = end ? ' ' : text[i] == '\\' ? '/' : text[i];
        if ((c == before && strchr("-\"'?", c)) || (c == '/' && before == '*') || (c == '*' && before == '/'))
            sk_text_append(out, " ");
        sk_text_append_bytes(out, &c, 1);
        before = c;
        i += end ? end - 1 : 0;
    }
}

static void text_as_it_is(sk_text *out, const char *text, size_t length)
{
    sk_text_append_bytes(out, text, length);
}

static const filter filters[] = {
    {"", text_as_it_is, "true", "false", NULL, NULL},   {"cpp", text_cpp, "true", "false", "{", "}"},
    {"py", text_py, "True", "False", "[", "]"},         {"yaml", text_yaml, "true", "false", "[", "]"},
    {"cmake", text_cmake, "true", "false", NULL, NULL}, {"xml", text_xml, "true", "false", NULL, NULL},
    {"md", text_md, "true", "false", "[", "]"},         {"code", text_code, "true", "false", "[", "]"},
    {"sh", text_sh, "true", "false", NULL, NULL},       {"comment", text_comment, "true", "false", "[", "]"}};

static bool is_safe(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && (!text[i] || !strchr("_-./:+~ ", text[i])))
            return false;
    return !strstr(text, "  ");
}

static sk_status write_real(sk_text *out, double value, sk_error *err)
{
    if (!isfinite(value))
        return sk_fail(err, SK_ERR_FORMAT, "the number is not finite");
    char digits[SK_NUMBER_ROOM];
    for (int n = 6; n <= 17; n++) { /* as few digits as give it back */
        char *end = sk_number_g(digits, value, n);
        *end = '\0';
        double back;
        if (n == 17 || (sk_number_read(digits, end, &back) == end && back == value))
            break;
    }
    sk_text_append(out, digits);
    if (!strpbrk(digits, ".e"))
        sk_text_append(out, ".0"); /* a ROS parameter of type double is given no integer */
    return SK_OK;
}

static sk_status write_value(const filter *f, const sk_config_value *value, sk_text *out, bool inside,
                             sk_error *err);

static sk_status write_list(const filter *f, const sk_config_value *list, sk_text *out, sk_error *err)
{
    if (!f->open)
        return sk_fail(err, SK_ERR_FORMAT, "is a list, which this place has no form for");
    sk_text_append(out, f->open);
    for (size_t i = 0; i < list->length; i++) {
        sk_text_append(out, i ? ", " : "");
        SK_TRY(write_value(f, list->u.items[i], out, true, err));
    }
    sk_text_append(out, f->close);
    return SK_OK;
}

static sk_status write_value(const filter *f, const sk_config_value *value, sk_text *out, bool inside,
                             sk_error *err)
{
    switch (value->kind) {
    case SK_CONFIG_BOOL: sk_text_append(out, value->u.boolean ? f->yes : f->no); return SK_OK;
    case SK_CONFIG_INT: sk_text_appendf(out, "%lld", (long long)value->u.integer); return SK_OK;
    case SK_CONFIG_REAL: return write_real(out, value->u.real, err);
    case SK_CONFIG_STRING:
        if (f == filters && !is_safe(value->u.text, value->length))
            return sk_fail(err, SK_ERR_FORMAT, "has characters that need escaping: choose a filter");
        if (strlen(value->u.text) != value->length)
            return sk_fail(err, SK_ERR_FORMAT, "holds a zero byte");
        f->text(out, value->u.text, value->length);
        return SK_OK;
    case SK_CONFIG_LIST:
        if (inside)
            return sk_fail(err, SK_ERR_FORMAT, "is a list of lists");
        return write_list(f, value, out, err);
    default: return sk_fail(err, SK_ERR_FORMAT, "is no text, number, truth or list");
    }
}

sk_status sk_template_value(const sk_config_value *value, const char *name, sk_text *out, sk_error *err)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            return write_value(&filters[i], value, out, false, err);
    return sk_fail(err, SK_ERR_FORMAT,
                   "is asked for by '|%s'; there are cpp, py, yaml, cmake, xml, md, code, sh, comment", name);
}
