/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/options.h"

#include "engines/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 32, WORD = 64, VALUE = 256 };

/* One KEY=VALUE of a text, with the engine's name before the key, where there is one. */
typedef struct piece {
    const char *scope, *key, *value;
    size_t scope_length, key_length, value_length;
} piece;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Does a key begin here? */
static bool begins_key(const char *at)
{
    while (*at == ' ')
        at++;
    const char *end = at;
    while (is_letter(*end))
        end++;
    return end > at && *end == '=';
}

/* The next piece; false at the end. Of a piece without '=' the value is null and the key all of it. */
static bool next_piece(const char **at, piece *p)
{
    const char *text = *at;
    *p = (piece){0};
    while (*text == ',' || *text == ' ')
        text++;
    if (!*text)
        return false;
    const char *equals = strchr(text, '='), *end = text;
    while (*end && !(*end == ',' && begins_key(end + 1)))
        end++;
    *at = end;
    p->key = text;
    p->key_length = (size_t)((equals && equals < end ? equals : end) - text);
    if (equals && equals < end) {
        p->value = equals + 1;
        p->value_length = (size_t)(end - p->value);
    }
    const char *dot = memchr(text, '.', p->key_length);
    if (dot && p->value) {
        p->scope = text;
        p->scope_length = (size_t)(dot - text);
        p->key = dot + 1;
        p->key_length -= p->scope_length + 1;
    }
    return true;
}

static bool is_for(const piece *p, const char *engine)
{
    return !p->scope || (strlen(engine) == p->scope_length && memcmp(engine, p->scope, p->scope_length) == 0);
}

const sk_engine_option *sk_options_find(const sk_engine_option *table, const char *key)
{
    for (const sk_engine_option *o = table; o && o->key; o++)
        if (strcmp(o->key, key) == 0)
            return o;
    return NULL;
}

static int switch_of(const char *value)
{
    static const char *const words[][2] = {{"off", "on"}, {"no", "yes"}, {"false", "true"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (int on = 0; on < 2; on++)
            if (strcmp(value, words[i][on]) == 0)
                return on;
    return -1;
}

/* "a|b|c" in pieces that borrow from `buffer`. */
static size_t split_choices(const char *choices, char *buffer, size_t capacity, const char **out, size_t most)
{
    size_t count = 0;
    snprintf(buffer, capacity, "%s", choices);
    for (char *rest = NULL, *word = strtok_r(buffer, "|", &rest); word && count < most;
         word = strtok_r(NULL, "|", &rest))
        out[count++] = word;
    return count;
}

static bool is_choice(const sk_engine_option *o, const char *value, char buffer[VALUE], const char **meant)
{
    const char *words[MOST_OPTIONS];
    size_t count = split_choices(o->choices, buffer, VALUE, words, MOST_OPTIONS);
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    *meant = sk_text_suggest(value, words, count);
    return false;
}

static bool is_number(const sk_engine_option *o, const char *value)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    return end != value && !*end && !errno && n >= o->least && n <= o->most;
}

const char *sk_options_takes(const sk_engine_option *o, char *buffer, size_t capacity)
{
    if (o->kind == SK_ENGINE_OPTION_SWITCH)
        snprintf(buffer, capacity, "on|off");
    else if (o->kind == SK_ENGINE_OPTION_NUMBER)
        snprintf(buffer, capacity, "%d to %d", o->least, o->most);
    else
        snprintf(buffer, capacity, "%s", o->choices ? o->choices : "TEXT");
    return buffer;
}

/* Who has it then: ", which is for cpu, cuda and rocm"; "" nobody. */
static const char *owners_of(const char *key, char *buffer, size_t capacity)
{
    const char *names[MOST_OPTIONS];
    int32_t count = 0;
    size_t used = 0;
    buffer[0] = '\0';
    for (int32_t i = 0; i < sk_engine_count() && count < MOST_OPTIONS; i++)
        if (sk_options_find(sk_engine_at(i)->options, key))
            names[count++] = sk_engine_at(i)->name;
    for (int32_t i = 0; i < count && used < capacity; i++)
        used += (size_t)snprintf(buffer + used, capacity - used, "%s%s",
                                 i == 0           ? ", which is for "
                                 : i == count - 1 ? " and "
                                                  : ", ",
                                 names[i]);
    return buffer;
}

static sk_status refuse_key(const char *engine, const sk_engine_option *table, const char *key, sk_error *err)
{
    const char *keys[MOST_OPTIONS];
    char list[400] = "", takes[128], owners[256];
    size_t count = 0, used = 0;
    for (const sk_engine_option *o = table; o && o->key && count < MOST_OPTIONS; o++) {
        keys[count++] = o->key;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s=%s", used ? ", " : "", o->key,
                                     sk_options_takes(o, takes, sizeof takes));
    }
    if (!count)
        return sk_fail(err, SK_ERR_ARG, "the engine '%s' has no option '%s'%s; it has none at all", engine,
                       key, owners_of(key, owners, sizeof owners));
    const char *meant = owners_of(key, owners, sizeof owners)[0] ? NULL : sk_text_suggest(key, keys, count);
    return sk_fail(err, SK_ERR_ARG, "the engine '%s' has no option '%s'%s%s%s%s; it has %s", engine, key,
                   owners, meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "", list);
}

static sk_status check_value(const char *engine, const sk_engine_option *o, const char *value, sk_error *err)
{
    char takes[128], buffer[VALUE];
    const char *meant = NULL;
    bool right = o->kind == SK_ENGINE_OPTION_SWITCH   ? switch_of(value) >= 0
                 : o->kind == SK_ENGINE_OPTION_WORD   ? is_choice(o, value, buffer, &meant)
                 : o->kind == SK_ENGINE_OPTION_NUMBER ? is_number(o, value)
                                                      : value[0] != '\0';
    if (right)
        return SK_OK;
    return sk_fail(err, SK_ERR_ARG, "the engine '%s' cannot have %s=%s%s%s%s; it takes %s", engine, o->key,
                   value, meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "",
                   sk_options_takes(o, takes, sizeof takes));
}

sk_status sk_options_check(const char *engine, const sk_engine_option *table, const char *text, sk_error *err)
{
    piece p;
    if (strlen(text) >= SK_OPTIONS_TEXT)
        return sk_fail(err, SK_ERR_LIMIT, "an engine's options are longer than %d bytes",
                       SK_OPTIONS_TEXT - 1);
    for (const char *at = text; next_piece(&at, &p);) {
        char key[WORD], value[VALUE];
        snprintf(key, sizeof key, "%.*s", (int)(p.key_length < WORD ? p.key_length : WORD - 1), p.key);
        if (!p.value || !p.key_length)
            return sk_fail(err, SK_ERR_ARG, "an engine's option is written KEY=VALUE, not '%s'", key);
        if (p.value_length >= sizeof value)
            return sk_fail(err, SK_ERR_LIMIT, "the option '%s' is longer than %d bytes", key, VALUE - 1);
        if (!is_for(&p, engine))
            continue;
        snprintf(value, sizeof value, "%.*s", (int)p.value_length, p.value);
        const sk_engine_option *o = sk_options_find(table, key);
        if (!o || p.key_length >= WORD)
            return refuse_key(engine, table, key, err);
        SK_TRY(check_value(engine, o, value, err));
    }
    return SK_OK;
}

sk_status sk_options_add(char *text, const char *more, sk_error *err)
{
    size_t used = strlen(text);
    if (!more || !more[0])
        return SK_OK;
    if (used + strlen(more) + 2 > SK_OPTIONS_TEXT)
        return sk_fail(err, SK_ERR_LIMIT, "an engine's options are longer than %d bytes: %s%s%s",
                       SK_OPTIONS_TEXT - 1, text, used ? "," : "", more);
    snprintf(text + used, SK_OPTIONS_TEXT - used, "%s%s", used ? "," : "", more);
    return SK_OK;
}

sk_status sk_options_put(char *text, const char *key, const char *value, sk_error *err)
{
    char pair[SK_OPTIONS_TEXT];
    if (snprintf(pair, sizeof pair, "%s=%s", key, value) >= (int)sizeof pair)
        return sk_fail(err, SK_ERR_LIMIT, "an engine's options are longer than %d bytes: %s=%s",
                       SK_OPTIONS_TEXT - 1, key, value);
    return sk_options_add(text, pair, err);
}

sk_status sk_options_put_known(char *text, const sk_engine_option *table, const char *key, const char *value,
                               sk_error *err)
{
    return sk_options_find(table, key) ? sk_options_put(text, key, value, err) : SK_OK;
}

bool sk_options_scope(const char **at, char *name, size_t capacity)
{
    for (piece p; next_piece(at, &p);)
        if (p.scope) {
            snprintf(name, capacity, "%.*s", (int)(p.scope_length < capacity ? p.scope_length : capacity - 1),
                     p.scope);
            return true;
        }
    return false;
}

const char *sk_options_value(const char *engine, const sk_engine_option *option, const char *text,
                             char *value, size_t capacity)
{
    piece p;
    snprintf(value, capacity, "%s", option->usual ? option->usual : "");
    for (const char *at = text; next_piece(&at, &p);)
        if (p.value && is_for(&p, engine) && strlen(option->key) == p.key_length &&
            memcmp(option->key, p.key, p.key_length) == 0)
            snprintf(value, capacity, "%.*s", (int)p.value_length, p.value);
    return value;
}

bool sk_options_on(const char *engine, const sk_engine_option *table, const char *text, const char *key)
{
    char value[VALUE];
    const sk_engine_option *o = sk_options_find(table, key);
    return o && switch_of(sk_options_value(engine, o, text, value, sizeof value)) == 1;
}

void sk_options_identity(const char *engine, const sk_engine_option *table, const char *text, sk_text *out)
{
    bool any = false;
    for (const sk_engine_option *o = table; o && o->key; o++) {
        char found[VALUE];
        const char *value = sk_options_value(engine, o, text, found, sizeof found);
        if (o->kind == SK_ENGINE_OPTION_SWITCH)
            value = switch_of(found) == 1 ? "on" : "off";
        if (!o->changes_results || strcmp(value, o->usual ? o->usual : "") == 0)
            continue;
        sk_text_appendf(out, "%s%s=%s", any ? "," : "", o->key, value);
        any = true;
    }
}
