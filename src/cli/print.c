/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one way text takes to a terminal. Names come from model files, videos and folders of strangers: in whatever stands in
 * for a %s, control characters are shown, not sent. Lines and tabs stay, and the styles of sk_cli_style, known by their
 * address. */

#undef printf

typedef struct spec {
    char text[48]; /* the conversion with its numbers filled in: "%-16.3" and, once known, its letters */
    size_t length;
    bool left;
    int width, precision; /* precision -1: none */
    int longs;            /* l's; 3 for z, j and t: as wide as a pointer */
    char letter;
} spec;

static void add(spec *s, char c)
{
    if (s->length + 1 < sizeof s->text)
        s->text[s->length++] = c;
}

static const char *read_number(const char *at, va_list *args, int *out)
{
    if (*at == '*') {
        *out = va_arg(*args, int);
        return at + 1;
    }
    char *end;
    *out = (int)strtol(at, &end, 10);
    return end;
}

/* Reads the conversion behind a '%'. */
static const char *read_spec(const char *at, va_list *args, spec *s)
{
    *s = (spec){.precision = -1};
    add(s, '%');
    for (; *at && strchr("-+ #0", *at); at++) {
        s->left = s->left || *at == '-';
        add(s, *at);
    }
    if (*at == '*' || (*at >= '1' && *at <= '9'))
        at = read_number(at, args, &s->width);
    if (s->width < 0) {
        s->left = true;
        s->width = -s->width;
        add(s, '-');
    }
    if (*at == '.')
        at = read_number(at + 1, args, &s->precision);
    if (s->width)
        s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, "%d", s->width);
    if (s->precision >= 0)
        s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, ".%d", s->precision);
    for (; *at && strchr("hljzt", *at); at++)
        s->longs += *at == 'l' ? 1 : *at == 'h' ? 0 : 3;
    s->letter = *at;
    return *at ? at + 1 : at;
}

static void put_text(sk_text *out, const spec *s, const char *text)
{
    if (sk_cli_is_style(text)) {
        sk_text_append(out, text);
        return;
    }
    size_t most =
        s->precision >= 0 ? strnlen(text ? text : "", (size_t)s->precision) : strlen(text ? text : "");
    char *given = sk_strndup(text ? text : "", most),
         *clean = given ? sk_text_printable(given, "\n\t") : NULL;
    size_t columns = 0; /* a width counts characters, so that columns stand below each other */
    for (const char *c = clean ? clean : ""; *c; c++)
        columns += ((unsigned char)*c & 0xC0) != 0x80;
    int pad = s->width > (int)columns ? s->width - (int)columns : 0;
    if (!s->left)
        sk_text_appendf(out, "%*s", pad, "");
    sk_text_append(out, clean ? clean : "");
    if (s->left)
        sk_text_appendf(out, "%*s", pad, "");
    sk_free(clean);
    sk_free(given);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put(sk_text *out, spec *s, va_list *args)
{
    if (s->letter == 's') {
        put_text(out, s, va_arg(*args, const char *));
        return;
    }
    if (s->letter == '%') {
        sk_text_append(out, "%");
        return;
    }
    if (s->letter == 'c' || s->letter == 'p') {
        add(s, s->letter);
        if (s->letter == 'c')
            sk_text_appendf(out, s->text, va_arg(*args, int));
        else
            sk_text_appendf(out, s->text, va_arg(*args, void *));
        return;
    }
    if (strchr("di", s->letter)) {
        add(s, 'l'), add(s, 'l'), add(s, s->letter);
        long long value = s->longs == 0   ? va_arg(*args, int)
                          : s->longs == 1 ? va_arg(*args, long)
                                          : va_arg(*args, long long);
        sk_text_appendf(out, s->text, value);
    } else if (strchr("uxXo", s->letter)) {
        add(s, 'l'), add(s, 'l'), add(s, s->letter);
        unsigned long long value = s->longs == 0   ? va_arg(*args, unsigned)
                                   : s->longs == 1 ? va_arg(*args, unsigned long)
                                                   : va_arg(*args, unsigned long long);
        sk_text_appendf(out, s->text, value);
    } else {
        add(s, s->letter);
        sk_text_appendf(out, s->text, va_arg(*args, double));
    }
}
#pragma GCC diagnostic pop

int sk_cli_vprint(FILE *stream, const char *format, va_list args)
{
    sk_text out = {0};
    va_list rest;
    va_copy(rest, args);
    while (*format) {
        size_t plain = strcspn(format, "%");
        sk_text_append_bytes(&out, format, plain);
        format += plain;
        if (!*format)
            break;
        spec s;
        format = read_spec(format + 1, &rest, &s);
        put(&out, &s, &rest);
    }
    va_end(rest);
    int written = (int)fwrite(sk_text_get(&out), 1, out.length, stream);
    sk_text_free(&out);
    return written;
}

int sk_cli_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int written = sk_cli_vprint(stdout, format, args);
    va_end(args);
    return written;
}

int sk_cli_print_to(FILE *stream, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int written = sk_cli_vprint(stream, format, args);
    va_end(args);
    return written;
}
