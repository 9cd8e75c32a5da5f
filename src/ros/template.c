/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/template.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 16
#define MAX_TAG   200

typedef struct {
    const char *file, *text, *end;
    const sk_config_value *root;
    sk_text *out;
    int depth; /* sections around */
    struct {
        const sk_config_value *item; /* null in a section that is no list's and no map's */
        size_t index, count;
    } level[MAX_DEPTH];
} rendering;

typedef struct {
    const char *at, *after; /* of the whole tag; without its line where it stands alone there */
    char sigil;             /* # ^ / !, or 0 for a value */
    char name[MAX_TAG];
    const char *filter; /* "" for none */
    const char *equals; /* null for none */
} tag;

static void fail_at(const rendering *r, const char *at, sk_error *err, const char *format, ...)
    SK_PRINTF(4, 5);
/* As a statement's value, which then is no success to static analysis either. */
#define FAIL_AT(...) (fail_at(__VA_ARGS__), SK_ERR_FORMAT)

static void fail_at(const rendering *r, const char *at, sk_error *err, const char *format, ...)
{
    size_t line = 1;
    for (const char *c = r->text; c < at; c++)
        line += *c == '\n';
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)!sk_fail(err, SK_ERR_FORMAT, "%s:%zu: %s", r->file, line, text);
}

static const char *find_tag(const char *at, const char *end)
{
    for (; end - at > 2; at++)
        if (at[0] == '{' && at[1] == '{' && (isalpha((unsigned char)at[2]) || strchr(".@#^/!", at[2])) &&
            at[2])
            return at;
    return NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* A section's tag alone on its line takes the line with it. */
static void take_line(const rendering *r, tag *t)
{
    const char *begin = t->at;
    while (begin > r->text && (begin[-1] == ' ' || begin[-1] == '\t'))
        begin--;
    const char *after = skip_blanks(t->after, r->end);
    if ((begin > r->text && begin[-1] != '\n') || (after < r->end && *after != '\n'))
        return;
    t->at = begin;
    t->after = after < r->end ? after + 1 : after;
}

static sk_status read_tag(const rendering *r, const char *at, tag *t, sk_error *err)
{
    *t = (tag){.at = at, .filter = ""};
    const char *body = at + 2, *close = body;
    while (close < r->end && !(close[0] == '}' && close + 1 < r->end && close[1] == '}'))
        close++;
    if (close == r->end)
        return FAIL_AT(r, at, err, "'{{' without '}}'");
    t->after = close + 2;
    if (strchr("#^/!", *body))
        t->sigil = *body++;
    if (t->sigil)
        take_line(r, t);
    if (t->sigil == '!')
        return SK_OK;
    const size_t length = (size_t)(close - body);
    if (length >= sizeof t->name)
        return FAIL_AT(r, at, err, "the tag is longer than %d characters", MAX_TAG - 1);
    memcpy(t->name, body, length);
    t->name[length] = '\0';
    char *mark = strpbrk(t->name, "=|");
    if (mark && *mark == '=' && t->sigil)
        t->equals = mark + 1;
    else if (mark && *mark == '|' && !t->sigil)
        t->filter = mark + 1;
    else if (mark)
        return FAIL_AT(r, at, err, "'{{%.*s}}': filters are for values, '=' for sections", (int)length, body);
    if (mark)
        *mark = '\0';
    if (!*t->name || strspn(t->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@") !=
                         strlen(t->name))
        return FAIL_AT(r, at, err, "'{{%.*s}}' is no tag", (int)length, body);
    return SK_OK;
}

/* {{@index}}, {{@first}}, {{@last}} of the innermost list. */
static sk_status find_place(const rendering *r, const tag *t, sk_config_value *made, sk_error *err)
{
    int i = r->depth;
    while (i > 0 && !r->level[i - 1].count)
        i--;
    if (i == 0)
        return FAIL_AT(r, t->at, err, "'%s' outside of a list", t->name);
    const size_t index = r->level[i - 1].index;
    *made = (sk_config_value){.kind = SK_CONFIG_BOOL};
    if (strcmp(t->name, "@index") == 0) {
        made->kind = SK_CONFIG_INT;
        made->u.integer = (int64_t)index;
    } else if (strcmp(t->name, "@first") == 0) {
        made->u.boolean = index == 0;
    } else if (strcmp(t->name, "@last") == 0) {
        made->u.boolean = index + 1 == r->level[i - 1].count;
    } else {
        return FAIL_AT(r, t->at, err, "'%s' is unknown; there are @index, @first, @last", t->name);
    }
    return SK_OK;
}

static sk_status find_value(const rendering *r, const tag *t, sk_config_value *made,
                            const sk_config_value **out, sk_error *err)
{
    *out = NULL;
    if (*t->name == '@') {
        *out = made;
        return find_place(r, t, made, err);
    }
    if (*t->name != '.')
        *out = sk_config_find(r->root, t->name);
    for (int i = r->depth; *t->name == '.' && i > 0 && !*out; i--)
        if (r->level[i - 1].item)
            *out = t->name[1] ? sk_config_find(r->level[i - 1].item, t->name + 1) : r->level[i - 1].item;
    return *out ? SK_OK : FAIL_AT(r, t->at, err, "there is no value '%s'", t->name);
}

static bool is_true(const sk_config_value *value)
{
    switch (value->kind) {
    case SK_CONFIG_NULL: return false;
    case SK_CONFIG_BOOL: return value->u.boolean;
    case SK_CONFIG_INT: return value->u.integer != 0;
    case SK_CONFIG_REAL: return value->u.real != 0;
    default: return value->length > 0;
    }
}

static sk_status is_equal(const rendering *r, const tag *t, const sk_config_value *value, bool *out,
                          sk_error *err)
{
    sk_text text = {0};
    if (value->kind == SK_CONFIG_STRING)
        sk_text_append(&text, value->u.text);
    sk_status status = value->kind == SK_CONFIG_STRING ? SK_OK : sk_template_value(value, "", &text, NULL);
    if (status != SK_OK)
        status = FAIL_AT(r, t->at, err, "'%s' has no text to compare", t->name);
    else
        status = sk_text_status(&text, err);
    *out = strcmp(sk_text_get(&text), t->equals) == 0;
    sk_text_free(&text);
    return status;
}

static sk_status render_part(rendering *r, const char **at, const tag *opened, bool left_out, sk_error *err);

/* The section that begins behind its tag, as often as the value says; *at moves behind its end. */
static sk_status render_section(rendering *r, const tag *t, const char **at, bool left_out, sk_error *err)
{
    if (r->depth == MAX_DEPTH)
        return FAIL_AT(r, t->at, err, "sections nested deeper than %d", MAX_DEPTH);
    sk_config_value made;
    const sk_config_value *value = NULL;
    size_t times = 0;
    if (!left_out) {
        SK_TRY(find_value(r, t, &made, &value, err));
        bool truth = is_true(value);
        if (t->equals)
            SK_TRY(is_equal(r, t, value, &truth, err));
        times = truth == (t->sigil == '#');
        if (times && value->kind == SK_CONFIG_LIST && t->sigil == '#')
            times = value->length;
    }
    const bool list = times && value->kind == SK_CONFIG_LIST && t->sigil == '#';
    const char *begin = t->after;
    sk_status status = SK_OK;
    r->depth++;
    for (size_t i = 0; status == SK_OK && i < (times ? times : 1); i++) {
        r->level[r->depth - 1].item = !times                         ? NULL
                                      : list                         ? value->u.items[i]
                                      : value->kind == SK_CONFIG_MAP ? value
                                                                     : NULL;
        r->level[r->depth - 1].index = i;
        r->level[r->depth - 1].count = list ? times : 0;
        *at = begin;
        status = render_part(r, at, t, times == 0, err);
    }
    r->level[--r->depth].item = NULL;
    return status;
}

static sk_status render_tag(rendering *r, const tag *t, const char **at, bool left_out, sk_error *err)
{
    *at = t->after;
    if (t->sigil == '#' || t->sigil == '^')
        return render_section(r, t, at, left_out, err);
    if (t->sigil == '!' || left_out)
        return SK_OK;
    sk_config_value made;
    const sk_config_value *value;
    SK_TRY(find_value(r, t, &made, &value, err));
    sk_error why = {0};
    if (sk_template_value(value, t->filter, r->out, &why) != SK_OK)
        return FAIL_AT(r, t->at, err, "'%s' %s", t->name, why.message);
    return SK_OK;
}

/* Up to the end of the section `opened`, or of the text where it is null. */
static sk_status render_part(rendering *r, const char **at, const tag *opened, bool left_out, sk_error *err)
{
    for (;;) {
        const char *found = find_tag(*at, r->end);
        tag t;
        if (found)
            SK_TRY(read_tag(r, found, &t, err));
        if (!left_out)
            sk_text_append_bytes(r->out, *at, (size_t)((found ? t.at : r->end) - *at));
        if (r->out->failed != SK_OK)
            return sk_text_status(r->out, err);
        if (!found)
            return opened
                       ? FAIL_AT(r, opened->at, err, "'{{%c%s}}' is not closed", opened->sigil, opened->name)
                       : SK_OK;
        if (t.sigil == '/') {
            *at = t.after;
            if (!opened || strcmp(opened->name, t.name) != 0)
                return FAIL_AT(r, found, err, "'{{/%s}}' closes what is not open%s%s", t.name,
                               opened ? "; open is " : "", opened ? opened->name : "");
            return SK_OK;
        }
        SK_TRY(render_tag(r, &t, at, left_out, err));
    }
}

sk_status sk_template_render(const char *text, size_t length, const char *file, const sk_config_value *root,
                             sk_text *out, sk_error *err)
{
    SK_CHECK_ARG(text && file && root && out, err);
    rendering r = {.file = file, .text = text, .end = text + length, .root = root, .out = out};
    const char *at = text;
    SK_TRY(render_part(&r, &at, NULL, false, err));
    return sk_text_status(out, err);
}
