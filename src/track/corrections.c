/* SPDX-License-Identifier: Apache-2.0 */
#include "track/corrections.h"

#include "base/memory.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

void sk_corrections_free(sk_corrections *list)
{
    sk_free(list->items);
    *list = (sk_corrections){0};
}

/* --- the list --- */

/* A name goes into tables, pages and other programs' files: text without control characters. */
static bool is_name(const char *name)
{
    const size_t length = strnlen(name, SK_CORRECTION_NAME);
    if (length == SK_CORRECTION_NAME)
        return false;
    for (size_t i = 0; i < length;) {
        const size_t bytes = sk_text_utf8(name + i, length - i);
        if (bytes == 0 || (unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
        i += bytes;
    }
    return true;
}

static bool has_pair(sk_correction_kind kind)
{
    return kind == SK_CORRECTION_SWAP || kind == SK_CORRECTION_MERGE;
}

static bool has_range(sk_correction_kind kind)
{
    return kind == SK_CORRECTION_SWAP || kind == SK_CORRECTION_DELETE;
}

static sk_status check(const sk_correction *c, sk_error *err)
{
    if (c->a < 0 || (has_pair(c->kind) && c->b < 0))
        return sk_fail(err, SK_ERR_ARG, "tracks are numbered from 0 on");
    if (has_pair(c->kind) && c->a == c->b)
        return sk_fail(err, SK_ERR_ARG, "%d and %d are one track; two are needed here", c->a, c->b);
    if (has_range(c->kind) && (c->from < 0 || (c->to >= 0 && c->to < c->from) || c->to < -1))
        return sk_fail(err, SK_ERR_ARG, "frames %lld to %lld: frames are numbered from 0 on, the first first",
                       (long long)c->from, (long long)c->to);
    if (c->kind == SK_CORRECTION_MERGE && c->prefer != -1 && c->prefer != c->a && c->prefer != c->b)
        return sk_fail(err, SK_ERR_ARG, "track %d is none of those that are merged, %d and %d", c->prefer,
                       c->a, c->b);
    if (c->kind == SK_CORRECTION_RENAME && !is_name(c->name))
        return sk_fail(err, SK_ERR_ARG, "a track's name is UTF-8 text of at most %d bytes on one line",
                       SK_CORRECTION_NAME - 1);
    return SK_OK;
}

sk_status sk_corrections_add(sk_corrections *list, const sk_correction *correction, sk_error *err)
{
    SK_TRY(check(correction, err));
    SK_TRY(sk_array_reserve((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            SK_CORRECTIONS_MOST, err));
    list->items[list->count++] = *correction;
    list->undone = 0;
    return SK_OK;
}

sk_status sk_corrections_undo(sk_corrections *list, sk_error *err)
{
    if (!list->count)
        return sk_fail(err, SK_ERR_ARG, "there is no correction to undo");
    list->count--;
    list->undone++;
    return SK_OK;
}

sk_status sk_corrections_redo(sk_corrections *list, sk_error *err)
{
    if (!list->undone)
        return sk_fail(err, SK_ERR_ARG, "no correction was undone that could be done again");
    list->count++;
    list->undone--;
    return SK_OK;
}

/* --- what they say --- */

static void merge(const sk_correction *c, int32_t *tracks, int32_t n)
{
    int32_t a = -1, b = -1;
    for (int32_t i = 0; i < n; i++) {
        if (tracks[i] == c->a)
            a = i;
        if (tracks[i] == c->b)
            b = i;
    }
    if (b < 0)
        return;
    tracks[b] = c->a;
    if (a >= 0)
        tracks[c->prefer == c->b ? a : b] = -1;
}

void sk_corrections_apply(const sk_corrections *list, int64_t frame, int32_t *tracks, int32_t n)
{
    for (size_t k = 0; k < list->count; k++) {
        const sk_correction *c = &list->items[k];
        if (c->kind == SK_CORRECTION_MERGE)
            merge(c, tracks, n);
        if (!has_range(c->kind) || frame < c->from || (c->to >= 0 && frame > c->to))
            continue;
        for (int32_t i = 0; i < n; i++) {
            if (tracks[i] == c->a)
                tracks[i] = c->kind == SK_CORRECTION_DELETE ? -1 : c->b;
            else if (c->kind == SK_CORRECTION_SWAP && tracks[i] == c->b)
                tracks[i] = c->a;
        }
    }
}

static bool same(const sk_correction *a, const sk_correction *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->from == b->from && a->to == b->to &&
           a->prefer == b->prefer && strcmp(a->name, b->name) == 0;
}

bool sk_corrections_same(const sk_corrections *a, const sk_corrections *b)
{
    if (a->count != b->count || a->undone != b->undone)
        return false;
    for (size_t i = 0; i < a->count + a->undone; i++)
        if (!same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

const char *sk_corrections_name(const sk_corrections *list, int32_t track)
{
    for (size_t k = list->count; k-- > 0;) {
        const sk_correction *c = &list->items[k];
        if (c->kind == SK_CORRECTION_RENAME && c->a == track)
            return c->name[0] ? c->name : NULL;
    }
    return NULL;
}

/* --- as text --- */

static const char *const kind_names[] = {[SK_CORRECTION_SWAP] = "swap",
                                         [SK_CORRECTION_DELETE] = "delete",
                                         [SK_CORRECTION_MERGE] = "merge",
                                         [SK_CORRECTION_RENAME] = "rename"};

void sk_correction_write(sk_correction_step step, const sk_correction *c, const char *at, sk_json *json)
{
    sk_json_object(json);
    if (step == SK_STEP_ADD) {
        sk_json_key_string(json, "do", kind_names[c->kind]);
        sk_json_key_array(json, "tracks");
        sk_json_int(json, c->a);
        if (has_pair(c->kind))
            sk_json_int(json, c->b);
        sk_json_close(json);
        if (has_range(c->kind))
            sk_json_key_int(json, "from", c->from);
        if (has_range(c->kind) && c->to >= 0)
            sk_json_key_int(json, "to", c->to);
        if (c->kind == SK_CORRECTION_MERGE && c->prefer >= 0)
            sk_json_key_int(json, "prefer", c->prefer);
        if (c->kind == SK_CORRECTION_RENAME)
            sk_json_key_string(json, "name", c->name);
    } else {
        sk_json_key_string(json, "do", step == SK_STEP_UNDO ? "undo" : "redo");
    }
    if (at)
        sk_json_key_string(json, "at", at);
    sk_json_close(json);
}

static bool read_track(const sk_config_value *value, int32_t *out)
{
    int64_t number;
    if (!sk_config_to_int(value, &number) || number < 0 || number > INT32_MAX)
        return false;
    *out = (int32_t)number;
    return true;
}

/* An absent member is `fallback`; what is there must be a frame's number. */
static bool read_frame(const sk_config_value *line, const char *key, int64_t fallback, int64_t *out)
{
    const sk_config_value *value = sk_config_get(line, key);
    *out = fallback;
    return !value || (sk_config_to_int(value, out) && *out >= 0);
}

static bool read_correction(const sk_config_value *line, sk_correction_kind kind, sk_correction *out)
{
    const sk_config_value *tracks = sk_config_get(line, "tracks"), *prefer = sk_config_get(line, "prefer");
    const char *name = sk_config_text_or(line, "name", "");
    *out = (sk_correction){.kind = kind, .b = -1, .prefer = -1, .to = -1};
    if (sk_config_count(tracks) != (has_pair(kind) ? 2u : 1u) ||
        !read_track(sk_config_at(tracks, 0), &out->a) ||
        (has_pair(kind) && !read_track(sk_config_at(tracks, 1), &out->b)))
        return false;
    if (has_range(kind) &&
        (!read_frame(line, "from", 0, &out->from) || !read_frame(line, "to", -1, &out->to)))
        return false;
    if (kind == SK_CORRECTION_MERGE && prefer && !read_track(prefer, &out->prefer))
        return false;
    if (kind == SK_CORRECTION_RENAME) {
        if (strlen(name) >= sizeof out->name)
            return false;
        snprintf(out->name, sizeof out->name, "%s", name);
    }
    return true;
}

static sk_status take_step(sk_corrections *list, const sk_config_value *line, const char *what, sk_error *err)
{
    const char *word = sk_config_text_or(line, "do", "");
    sk_correction correction;
    if (strcmp(word, "undo") == 0)
        return sk_corrections_undo(list, err);
    if (strcmp(word, "redo") == 0)
        return sk_corrections_redo(list, err);
    for (size_t k = 0; k < sizeof kind_names / sizeof *kind_names; k++) {
        if (strcmp(word, kind_names[k]) != 0)
            continue;
        if (!read_correction(line, (sk_correction_kind)k, &correction))
            return sk_fail(err, SK_ERR_FORMAT, "%s: tracks, frames or the name of '%s' cannot be read", what,
                           word);
        return sk_corrections_add(list, &correction, err);
    }
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s: a correction does one of swap, delete, merge, rename, undo and redo, and not '%.40s'",
                   what, word);
}

sk_status sk_corrections_read(sk_corrections *list, const char *line, size_t length, const char *what,
                              sk_error *err)
{
    sk_config *config = NULL;
    SK_TRY(sk_config_open_json(line, length, what, &config, err));
    sk_status status = take_step(list, sk_config_root(config), what, err);
    if (status == SK_ERR_ARG) { /* a step that nobody can have taken */
        sk_error_prefix(err, "%s", what);
        status = SK_ERR_FORMAT;
        if (err)
            err->code = status;
    }
    sk_config_close(&config);
    return status;
}

void sk_correction_describe(const sk_correction *c, sk_text *out)
{
    char when[80] = "";
    if (has_range(c->kind) && c->to >= 0)
        snprintf(when, sizeof when, " in frames %lld to %lld", (long long)c->from, (long long)c->to);
    else if (has_range(c->kind) && c->from > 0)
        snprintf(when, sizeof when, " from frame %lld on", (long long)c->from);
    switch (c->kind) {
    case SK_CORRECTION_SWAP: sk_text_appendf(out, "swap %d and %d%s", c->a, c->b, when); break;
    case SK_CORRECTION_DELETE: sk_text_appendf(out, "delete %d%s", c->a, when); break;
    case SK_CORRECTION_MERGE:
        sk_text_appendf(out, "merge %d into %d", c->b, c->a);
        if (c->prefer >= 0)
            sk_text_appendf(out, ", %d where both are", c->prefer);
        break;
    case SK_CORRECTION_RENAME:
        if (c->name[0])
            sk_text_appendf(out, "call %d '%s'", c->a, c->name);
        else
            sk_text_appendf(out, "call %d by its number", c->a);
        break;
    }
}
