/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_plan.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES_MOST 1000000

typedef struct reader {
    sk_batch_plan *plan;
    const sk_batch_plan_keys *keys;
    sk_problems *problems;
} reader;

void sk_batch_plan_wrong(const sk_batch_plan *plan, const sk_batch_entry *at, sk_problems *problems,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sk_problems_add_at(problems, plan->path, at ? at->line : 0, at ? at->column : 0, format, args);
    va_end(args);
}

static sk_batch_entry place_of(const sk_config_value *value)
{
    return (sk_batch_entry){.line = value->line, .column = value->column};
}

/* A value as it would stand on the command line. False: it cannot. */
static bool append_value(sk_text *to, const sk_config_value *v)
{
    char number[SK_TEXT_NUMBER];
    switch (v->kind) {
    case SK_CONFIG_STRING:
        if (!sk_config_text(v))
            return false;
        sk_text_append(to, v->u.text);
        return true;
    case SK_CONFIG_INT: sk_text_appendf(to, "%lld", (long long)v->u.integer); return true;
    case SK_CONFIG_REAL:
        sk_text_append(to, sk_text_number(v->u.real, 15, number, sizeof number));
        return true;
    case SK_CONFIG_BOOL:
        sk_text_append(to, v->u.boolean ? "on" : "off");
        return true; /* what YAML makes of these */
    default: return false;
    }
}

/* Texts are kept one behind the other, and entries hold where they begin until all are there. */
static sk_status add_entry(reader *r, const sk_config_pair *pair, const sk_config_value *value, bool flag,
                           size_t begin, sk_error *err)
{
    sk_batch_plan *p = r->plan;
    SK_TRY(sk_array_reserve((void **)&p->entries, &p->capacity, p->count + 1, sizeof *p->entries,
                            ENTRIES_MOST, err));
    p->entries[p->count++] = (sk_batch_entry){.name = pair->name,
                                              .text = flag ? NULL : (const char *)(begin + 1),
                                              .line = value->line,
                                              .column = value->column};
    return SK_OK;
}

static sk_status read_text(reader *r, const sk_config_pair *pair, const sk_config_value *value, sk_error *err)
{
    sk_batch_plan *p = r->plan;
    const size_t begin = p->texts.length;
    const sk_batch_entry at = place_of(value);
    const size_t n = value->kind == SK_CONFIG_LIST ? value->length : 1;
    bool good = n > 0;
    for (size_t i = 0; i < n && good; i++) {
        if (i)
            sk_text_append(&p->texts, ",");
        good = append_value(&p->texts, value->kind == SK_CONFIG_LIST ? value->u.items[i] : value);
    }
    sk_text_append_bytes(&p->texts, "", 1);
    if (good && p->texts.length > begin + 1)
        return add_entry(r, pair, value, false, begin, err);
    sk_batch_plan_wrong(p, &at, r->problems,
                        good ? "%s has an empty value; leave the line out"
                             : "%s must be a text, a number or a list of them",
                        pair->name);
    return SK_OK;
}

static sk_status read_flag(reader *r, const sk_config_pair *pair, sk_error *err)
{
    const sk_batch_entry at = place_of(pair->value);
    bool given = false;
    if (!sk_config_to_bool(pair->value, &given))
        sk_batch_plan_wrong(r->plan, &at, r->problems, "%s is yes or no: write true or false", pair->name);
    return given ? add_entry(r, pair, pair->value, true, 0, err) : SK_OK;
}

static sk_status read_pair(reader *r, const sk_config_pair *pair, sk_error *err)
{
    const sk_batch_entry at = place_of(pair->key->line ? pair->key : pair->value);
    const char kind = r->keys->kind(r->keys->context, pair->name);
    if (pair->again) {
        const sk_batch_entry second = place_of(pair->again);
        sk_batch_plan_wrong(r->plan, &second, r->problems, "'%s' is here a second time; write a list",
                            pair->name);
        return SK_OK;
    }
    if (!kind) {
        const char *near = r->keys->near(r->keys->context, pair->name);
        sk_batch_plan_wrong(r->plan, &at, r->problems, "no option is called '%s'%s%s%s", pair->name,
                            near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        return SK_OK;
    }
    if (kind == '-')
        return read_flag(r, pair, err);
    if (kind != '*' || pair->value->kind != SK_CONFIG_LIST)
        return read_text(r, pair, pair->value, err);
    for (size_t i = 0; i < pair->value->length; i++) {
        const sk_config_value *item = pair->value->u.items[i];
        if (item->kind == SK_CONFIG_LIST) {
            const sk_batch_entry inner = place_of(item);
            sk_batch_plan_wrong(r->plan, &inner, r->problems, "%s: a list in a list", pair->name);
        } else {
            SK_TRY(read_text(r, pair, item, err));
        }
    }
    return SK_OK;
}

sk_status sk_batch_plan_read(const char *text, size_t length, const char *path,
                             const sk_batch_plan_keys *keys, sk_batch_plan *plan, sk_problems *problems,
                             sk_error *err)
{
    reader r = {plan, keys, problems};
    sk_error why = {0};
    plan->path = path;
    plan->texts.limit = 2 * SK_BATCH_PLAN_BYTES;
    if (length > SK_BATCH_PLAN_BYTES) {
        sk_problems_add(problems,
                        "%s:1:1: %zu bytes are more than a plan has (%zu); name videos by a pattern, or in a "
                        "list.txt",
                        path, length, SK_BATCH_PLAN_BYTES);
        return SK_OK;
    }
    const sk_status status = sk_config_open_yaml_alone(text, length, path, &plan->config, &why);
    if (status == SK_ERR_MEMORY)
        return sk_fail(err, status, "%s", why.message);
    const sk_config_value *root = status == SK_OK ? sk_config_root(plan->config) : NULL;
    if (status != SK_OK)
        sk_problems_add(problems, "%s", why.message);
    else if (!sk_config_is(root, SK_CONFIG_MAP))
        sk_problems_add(problems, "%s:1:1: not a plan: lines like 'videos: data/*.mp4' and 'model: model.pt'",
                        path);
    const size_t pairs = root && sk_config_is(root, SK_CONFIG_MAP) ? root->length : 0;
    for (size_t i = 0; i < pairs; i++)
        SK_TRY(read_pair(&r, &root->u.pairs[i], err));
    SK_TRY(sk_text_status(&plan->texts, err));
    for (size_t i = 0; i < plan->count; i++)
        if (plan->entries[i].text)
            plan->entries[i].text = plan->texts.data + ((size_t)plan->entries[i].text - 1);
    return sk_text_status(&problems->lines, err);
}

void sk_batch_plan_free(sk_batch_plan *plan)
{
    sk_config_close(&plan->config);
    sk_free(plan->entries);
    sk_text_free(&plan->texts);
    *plan = (sk_batch_plan){0};
}
