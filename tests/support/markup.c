/* SPDX-License-Identifier: Apache-2.0 */
#include "support/markup.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 64

typedef struct parser {
    const char *begin, *at, *end;
    char *why;
    size_t capacity;
    char open[DEPTH][32];
    int depth, roots;
} parser;

static bool wrong(parser *p, const char *what)
{
    size_t left = (size_t)(p->end - p->at);
    snprintf(p->why, p->capacity, "%s at byte %zu: %.*s", what, (size_t)(p->at - p->begin),
             (int)(left < 40 ? left : 40), p->at);
    return false;
}

static bool starts(const parser *p, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

static bool name(parser *p, char out[32])
{
    size_t n = 0;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || strchr("-_:", *p->at)) && *p->at && n < 31)
        out[n++] = *p->at++;
    out[n] = '\0';
    return n > 0;
}

static bool entity(parser *p)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts(p, known[i])) {
            p->at += strlen(known[i]);
            return true;
        }
    return wrong(p, "a bare & or unknown entity");
}

static void space(parser *p)
{
    while (p->at < p->end && isspace((unsigned char)*p->at))
        p->at++;
}

static bool attributes(parser *p)
{
    char seen[32][32];
    int n = 0;
    for (space(p); p->at < p->end && *p->at != '>' && *p->at != '/'; space(p)) {
        char key[32];
        if (!name(p, key))
            return wrong(p, "an attribute's name");
        for (int i = 0; i < n; i++)
            if (strcmp(seen[i], key) == 0)
                return wrong(p, "an attribute given twice");
        if (n < 32)
            memcpy(seen[n++], key, sizeof key);
        if (!starts(p, "=\""))
            return wrong(p, "an attribute without a quoted value");
        for (p->at += 2; p->at < p->end && *p->at != '"';) {
            if (*p->at == '<')
                return wrong(p, "a bare < in an attribute");
            if (*p->at == '&' && !entity(p))
                return false;
            else if (*p->at != '"')
                p->at++;
        }
        if (p->at == p->end)
            return wrong(p, "an attribute without an end");
        p->at++;
    }
    return true;
}

static bool tag(parser *p)
{
    char own[32];
    bool closing = starts(p, "</");
    p->at += closing ? 2 : 1;
    if (!name(p, own))
        return wrong(p, "an element's name");
    if (closing) {
        space(p);
        if (p->depth == 0 || strcmp(p->open[p->depth - 1], own) != 0)
            return wrong(p, "an element closed that is not open");
        p->depth--;
    } else if (!attributes(p)) {
        return false;
    } else if (p->depth == 0 && p->roots++) {
        return wrong(p, "a second root");
    } else if (starts(p, "/")) {
        p->at++;
    } else if (p->depth == DEPTH) {
        return wrong(p, "nested too deeply");
    } else {
        memcpy(p->open[p->depth++], own, sizeof own);
    }
    if (!starts(p, ">"))
        return wrong(p, "a tag without an end");
    p->at++;
    return true;
}

bool test_markup_is_sound(const char *text, size_t length, char *why, size_t capacity)
{
    parser p = {.begin = text, .at = text, .end = text + length, .why = why, .capacity = capacity};
    if (!starts(&p, "<!DOCTYPE html>"))
        return wrong(&p, "no document type");
    p.at += 15;
    while (p.at < p.end) {
        if (*p.at == '<') {
            if (!tag(&p))
                return false;
        } else if (*p.at == '&') {
            if (!entity(&p))
                return false;
        } else if (p.depth == 0 && !isspace((unsigned char)*p.at)) {
            return wrong(&p, "text outside the root");
        } else {
            p.at++;
        }
    }
    return p.depth == 0 && p.roots == 1 ? true : wrong(&p, "an element is not closed");
}
