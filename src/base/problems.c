/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problems.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

void sk_problems_add(sk_problems *p, const char *format, ...)
{
    if (p->count++ >= SK_PROBLEMS_KEPT)
        return;
    char line[1024];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length >= (int)sizeof line)
        sk_error_mark_cut(line, sizeof line);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    sk_text_append(&p->lines, line);
    sk_text_append(&p->lines, "\n");
}

void sk_problems_add_at(sk_problems *p, const char *path, uint32_t line, uint32_t column, const char *format,
                        va_list args)
{
    char text[800];
    if (vsnprintf(text, sizeof text, format, args) >= (int)sizeof text)
        sk_error_mark_cut(text, sizeof text);
    for (char *c = text; *c; c++) /* a hint stands behind it */
        if (*c == '\n')
            *c = ';';
    sk_problems_add(p, "%s:%u:%u: %s", path, line ? line : 1, column ? column : 1, text);
}

void sk_problems_each(const sk_problems *p, void (*tell)(void *context, const char *line), void *context)
{
    char line[1200];
    for (const char *at = sk_text_get(&p->lines); *at; at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        tell(context, line);
    }
    if (p->count > SK_PROBLEMS_KEPT) {
        snprintf(line, sizeof line, "… and %zu more", p->count - SK_PROBLEMS_KEPT);
        tell(context, line);
    }
}

void sk_problems_free(sk_problems *p)
{
    sk_text_free(&p->lines);
    *p = (sk_problems){0};
}
