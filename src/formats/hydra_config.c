/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hydra_config.h"

#include "base/file.h"
#include "base/text.h"
#include "formats/hydra_keys.h"

#include <string.h>

#define MOST_BYTES ((size_t)4 << 20)
#define MOST_NAMED ((size_t)16 << 10) /* bytes of a sentence that names keys */

struct sk_hydra_config {
    sk_config *tree;
    sk_text without, brief, unknown;
};

/* Null, false, an empty text or list, frames made smaller by 1: nobody asked for anything. */
static bool says_nothing(const char *key, const sk_config_value *value)
{
    bool truth = true;
    double number = 0;
    if (!strcmp(key, "resize_factor") && sk_config_to_real(value, &number) && number == 1)
        return true;
    if (sk_config_is_null(value))
        return true;
    if (sk_config_is(value, SK_CONFIG_BOOL))
        return sk_config_to_bool(value, &truth) && !truth;
    return (sk_config_is(value, SK_CONFIG_STRING) || sk_config_is(value, SK_CONFIG_LIST) ||
            sk_config_is(value, SK_CONFIG_MAP)) &&
           !value->length;
}

static const char *kind_name(const sk_config_value *value)
{
    switch (value->kind) {
    case SK_CONFIG_NULL: return "null";
    case SK_CONFIG_BOOL: return "true or false";
    case SK_CONFIG_INT:
    case SK_CONFIG_REAL: return "a number";
    case SK_CONFIG_STRING: return "a text";
    case SK_CONFIG_LIST: return "a list";
    case SK_CONFIG_MAP: return "an object";
    }
    return "something else";
}

static sk_status check(const hydra_used *u, const sk_config_value *value, const char *what, sk_error *err)
{
    static const char *const wanted[] = {"a number", "true or false", "a text", "a list"};
    double number = 0;
    bool truth = false, fits = false;
    if (sk_config_is_null(value))
        return SK_OK;
    switch (u->is) {
    case HYDRA_NUMBER:
        fits = !sk_config_is(value, SK_CONFIG_BOOL) && sk_config_to_real(value, &number);
        break;
    case HYDRA_TRUTH: fits = sk_config_to_bool(value, &truth); break;
    case HYDRA_TEXT: fits = sk_config_text(value) != NULL; break;
    case HYDRA_LIST: fits = sk_config_is(value, SK_CONFIG_LIST); break;
    }
    if (!fits)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s must be %s, but is %s", what, u->key, wanted[u->is],
                       kind_name(value));
    if (u->is == HYDRA_NUMBER && !(number >= u->least && number <= u->most))
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s is %g; it can be %g to %g", what, u->key, number, u->least,
                       u->most);
    return SK_OK;
}

static void name_unknown(sk_text *text, const char *key)
{
    const char *names[HYDRA_USED_MOST];
    size_t n = 0;
    for (const char *name; n < HYDRA_USED_MOST && (name = sk_hydra_used_key(n)); n++)
        names[n] = name;
    const char *near = sk_text_suggest(key, names, n);
    if (text->length > MOST_NAMED)
        return;
    char *shown = sk_text_printable(key, "");
    char shorter[128];
    sk_text_shorten(shown ? shown : "", shorter, sizeof shorter);
    sk_text_appendf(text, "%s%s", text->length ? ", " : "", key[0] ? shorter : "a key without a name");
    if (near)
        sk_text_appendf(text, " (%s?)", near);
    sk_free(shown);
}

#define FEW 10 /* settings that a warning names */

/* A subject's name without what it says in brackets. */
static int plain_length(const char *name)
{
    const char *bracket = strstr(name, " (");
    return (int)(bracket ? (size_t)(bracket - name) : strlen(name));
}

static sk_status name_without(sk_hydra_config *c, const sk_config_value *root, sk_error *err)
{
    sk_text counts = {0};
    int all = 0;
    const hydra_subject *subject;
    for (size_t k = 0; (subject = hydra_subject_at(k)); k++) {
        int n = 0;
        for (size_t i = 0; i < root->length; i++) {
            const sk_config_pair *pair = &root->u.pairs[i];
            if (hydra_find_used(pair->name) || says_nothing(pair->name, pair->value) ||
                hydra_find_subject(pair->name) != subject)
                continue;
            if (!n)
                sk_text_appendf(&c->without, "%s%s: ", c->without.length ? "\n" : "", subject->name);
            sk_text_appendf(&c->without, "%s%s", n++ ? ", " : "", pair->name);
        }
        if (n)
            sk_text_appendf(&counts, "%s%.*s (%d)", all ? ", " : "", plain_length(subject->name),
                            subject->name, n);
        all += n;
    }
    if (all > FEW)
        sk_text_appendf(&c->brief, "%d settings (-v names them): %s", all, sk_text_get(&counts));
    for (const char *at = sk_text_get(&c->without); all <= FEW && *at; at++)
        sk_text_append(&c->brief, *at == '\n' ? "; " : (char[]){*at, '\0'});
    sk_text_free(&counts);
    SK_TRY(sk_text_status(&c->without, err));
    return sk_text_status(&c->brief, err);
}

static sk_status sort_keys(sk_hydra_config *c, const char *what, sk_error *err)
{
    const sk_config_value *root = sk_config_root(c->tree);
    for (size_t i = 0; i < root->length; i++) {
        const sk_config_pair *pair = &root->u.pairs[i];
        const hydra_used *u = hydra_find_used(pair->name);
        if (u)
            SK_TRY(check(u, pair->value, what, err));
        else if (!hydra_find_subject(pair->name))
            name_unknown(&c->unknown, pair->name);
    }
    SK_TRY(name_without(c, root, err));
    return sk_text_status(&c->unknown, err);
}

bool sk_hydra_config_is(const sk_config_value *root)
{
    int n = 0;
    for (size_t i = 0; sk_config_is(root, SK_CONFIG_MAP) && i < root->length && n < 3; i++)
        n += hydra_find_used(root->u.pairs[i].name) || hydra_find_subject(root->u.pairs[i].name);
    return n >= 3;
}

sk_status sk_hydra_config_open(const char *text, size_t length, const char *what, sk_hydra_config **out,
                               sk_error *err)
{
    *out = NULL;
    if (length > MOST_BYTES)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %zu bytes are no configuration", what, length);
    sk_hydra_config *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    sk_status status = sk_config_open_json(text, length, what, &c->tree, err);
    if (status == SK_OK && !sk_config_is(sk_config_root(c->tree), SK_CONFIG_MAP))
        status = sk_fail(err, SK_ERR_FORMAT, "%s: a configuration is one JSON object, but this is %s", what,
                         kind_name(sk_config_root(c->tree)));
    /* So many keys nobody has written: looking each up would take long. */
    if (status == SK_OK && sk_config_count(sk_config_root(c->tree)) > 10000)
        status = sk_fail(err, SK_ERR_LIMIT, "%s: has %zu settings; a configuration has some three hundred",
                         what, sk_config_count(sk_config_root(c->tree)));
    if (status == SK_OK)
        status = sort_keys(c, what, err);
    if (status != SK_OK)
        sk_hydra_config_close(&c);
    *out = c;
    return status;
}

sk_status sk_hydra_config_read(const char *path, sk_hydra_config **out, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    SK_TRY(sk_file_read(path, MOST_BYTES, &text, &bytes, err));
    sk_status status = sk_hydra_config_open(text, bytes, path, out, err);
    sk_free(text);
    return status;
}

void sk_hydra_config_close(sk_hydra_config **config)
{
    sk_hydra_config *c = *config;
    *config = NULL;
    if (!c)
        return;
    sk_config_close(&c->tree);
    sk_text_free(&c->without);
    sk_text_free(&c->brief);
    sk_text_free(&c->unknown);
    sk_free(c);
}

static const sk_config_value *value_of(const sk_hydra_config *c, const char *key)
{
    return sk_config_get(sk_config_root(c->tree), key);
}

bool sk_hydra_number(const sk_hydra_config *config, const char *key, double *out)
{
    return sk_config_to_real(value_of(config, key), out);
}

bool sk_hydra_truth(const sk_hydra_config *config, const char *key, bool *out)
{
    return sk_config_to_bool(value_of(config, key), out);
}

const char *sk_hydra_text(const sk_hydra_config *config, const char *key)
{
    const char *text = sk_config_text(value_of(config, key));
    return text && *text ? text : NULL;
}

const sk_config_value *sk_hydra_list(const sk_hydra_config *config, const char *key)
{
    const sk_config_value *value = value_of(config, key);
    return sk_config_is(value, SK_CONFIG_LIST) && value->length ? value : NULL;
}

const char *sk_hydra_without_counterpart(const sk_hydra_config *config)
{
    return sk_text_get(&config->without);
}

const char *sk_hydra_without_brief(const sk_hydra_config *config)
{
    return sk_text_get(&config->brief);
}

const char *sk_hydra_unknown(const sk_hydra_config *config)
{
    return sk_text_get(&config->unknown);
}
