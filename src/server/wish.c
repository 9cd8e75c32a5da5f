/* SPDX-License-Identifier: Apache-2.0 */
#include "server/wish.h"

#include "app/track_config_run.h"
#include "base/file.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define WORDS_MOST   512
#define FOLDERS_MOST 100000

void sk_wish_free(sk_wish *w)
{
    for (int32_t i = 0; i < w->n_words; i++)
        sk_free(w->words[i]);
    sk_free_all((void *)w->words, w->command, w->source, w->folder, w->line);
    *w = (sk_wish){0};
}

sk_status sk_wish_add(sk_wish *w, sk_error *err, const char *format, ...)
{
    sk_text text = {0};
    char *word = NULL;
    va_list args;
    size_t capacity = (size_t)w->capacity;
    SK_TRY(sk_array_reserve((void **)&w->words, &capacity, (size_t)w->n_words + 2, sizeof *w->words,
                            WORDS_MOST, err));
    w->capacity = (int32_t)capacity;
    va_start(args, format);
    sk_text_vappendf(&text, format, args);
    va_end(args);
    SK_TRY(sk_text_take(&text, &word, err));
    w->words[w->n_words++] = word;
    w->words[w->n_words] = NULL;
    return SK_OK;
}

/* --- paths --- */

/* A camera or stream, in words that name no file. */
static bool is_stream(const char *source)
{
    static const char *const schemes[] = {"rtsp://", "rtsps://", "http://", "https://",
                                          "rtmp://", "srt://",   "udp://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(source, schemes[i], strlen(schemes[i])) == 0)
            return true;
    const char *number = strncmp(source, "camera:", 7) == 0 ? source + 7 : source;
    return number[0] && strspn(number, "0123456789") == strlen(number);
}

static sk_status add_source(sk_server *server, const char *given, sk_wish *w, sk_error *err)
{
    char *real = NULL;
    if (is_stream(given))
        real = sk_strdup(given);
    else
        SK_TRY(sk_roots_resolve_source(&server->roots, given, &real, err));
    sk_status status = real ? sk_wish_add(w, err, "%s", real) : sk_fail_memory(err, strlen(given));
    if (status == SK_OK && !w->source && !(w->source = sk_strdup(real)))
        status = sk_fail_memory(err, strlen(real));
    sk_free(real);
    return status;
}

/* --- options --- */

static const char *const refused[] = {"events",  "preview", "json",       "help",     "quiet",
                                      "verbose", "out",     "video-list", "overwrite"};

static bool is_refused(const char *name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i], name) == 0)
            return true;
    return false;
}

bool sk_wish_takes(const sk_server *server, const char *command, const char *name)
{
    return server->doors.kind && server->doors.kind(command, name) && !is_refused(name);
}

/* One value as the command line has it. */
static sk_status value_text(const char *name, const sk_config_value *value, sk_text *out, sk_error *err)
{
    char number[SK_TEXT_NUMBER];
    switch (value->kind) {
    case SK_CONFIG_STRING:
        if (!sk_config_text(value))
            return sk_fail(err, SK_ERR_ARG, "\"%s\": a zero in a text", name);
        sk_text_append(out, sk_config_text(value));
        return sk_text_status(out, err);
    case SK_CONFIG_INT:
        sk_text_appendf(out, "%lld", (long long)value->u.integer);
        return sk_text_status(out, err);
    case SK_CONFIG_REAL:
        sk_text_append(out, sk_text_number(value->u.real, 9, number, sizeof number));
        return sk_text_status(out, err);
    case SK_CONFIG_NULL:
    case SK_CONFIG_BOOL:
    case SK_CONFIG_LIST:
    case SK_CONFIG_MAP: break;
    }
    return sk_fail(err, SK_ERR_ARG, "\"%s\": a text or a number is wanted", name);
}

static sk_status add_value(sk_server *server, const char *name, char kind, const sk_config_value *value,
                           sk_wish *w, sk_error *err)
{
    sk_text text = {0};
    char *real = NULL;
    sk_status status = value_text(name, value, &text, err);
    const char *given = sk_text_get(&text);
    if (status == SK_OK && kind == 'd')
        status = sk_roots_resolve_new(&server->roots, given, &real, err);
    else if (status == SK_OK && kind == 'f')
        status = sk_roots_resolve(&server->roots, given, &real, err);
    if (status == SK_OK)
        status = sk_wish_add(w, err, "--%s=%s", name, real ? real : given);
    sk_free(real);
    sk_text_free(&text);
    return status;
}

/* {"gate": 3} is --set gate=3 */
static sk_status add_sets(const sk_config_value *map, sk_wish *w, sk_error *err)
{
    sk_text text = {0};
    sk_status status = SK_OK;
    for (size_t i = 0; i < map->length && status == SK_OK; i++) {
        sk_text_clear(&text);
        status = value_text(map->u.pairs[i].name, map->u.pairs[i].value, &text, err);
        if (status == SK_OK)
            status = sk_wish_add(w, err, "--set=%s=%s", map->u.pairs[i].name, sk_text_get(&text));
    }
    sk_text_free(&text);
    return status;
}

static sk_status add_option(sk_server *server, const char *name, const sk_config_value *value, sk_wish *w,
                            sk_error *err)
{
    const char kind = server->doors.kind ? server->doors.kind(w->command, name) : 0;
    if (!sk_wish_takes(server, w->command, name))
        return sk_fail(err, SK_ERR_ARG, "%s has no setting \"%.60s\" here", w->command, name);
    if (value->kind == SK_CONFIG_NULL)
        return SK_OK;
    if (strcmp(name, "set") == 0 && value->kind == SK_CONFIG_MAP)
        return add_sets(value, w, err);
    if (value->kind == SK_CONFIG_BOOL && kind == '-')
        return value->u.boolean ? sk_wish_add(w, err, "--%s", name) : SK_OK;
    if (kind == '-')
        return sk_fail(err, SK_ERR_ARG, "\"%.60s\" is true or false", name);
    if (value->kind != SK_CONFIG_LIST)
        return add_value(server, name, kind, value, w, err);
    for (size_t i = 0; i < value->length; i++)
        SK_TRY(add_value(server, name, kind, value->u.items[i], w, err));
    return SK_OK;
}

/* What a configuration names is read by the run in place of what the page did not choose: it, too, lies in the folders. */
static sk_status check_config(const sk_server *server, const sk_config_value *settings, const sk_wish *w,
                              sk_error *err)
{
    const bool models = sk_config_count(sk_config_get(settings, "model")) ||
                        sk_config_text(sk_config_get(settings, "model")) ||
                        sk_config_text(sk_config_get(settings, "detector"));
    const char *given = NULL;
    sk_track_config_run named = {0};
    for (int32_t i = 0; i < w->n_words; i++)
        if (strncmp(w->words[i], "--config=", 9) == 0) /* its real path */
            given = w->words[i] + 9;
    if (!given)
        return SK_OK;
    sk_status status = sk_track_config_run_read(given, &named, err);
    if (status == SK_OK && (named.n_words || named.base))
        status = sk_fail(err, SK_ERR_ARG, "%.300s: says what is run, too: load it into the page", given);
    const char *paths[] = {w->source ? NULL : named.source, models ? NULL : named.models[0],
                           models ? NULL : named.models[1]};
    for (size_t i = 0; i < sizeof paths / sizeof *paths && status == SK_OK; i++) {
        char real
            [PATH_MAX]; /* from here, as the run will look for it; one that is not there it will not find */
        if (paths[i] && realpath(paths[i], real) && sk_roots_of(&server->roots, real) < 0)
            status =
                sk_fail(err, SK_ERR_ARG,
                        "%.300s names %.300s, which is in no folder that this page may use\nchoose the video "
                        "and the models here, or start the page with that folder, too",
                        given, paths[i]);
    }
    sk_track_config_run_free(&named);
    return status;
}

/* --- the run's folder --- */

/* runs/<command>1, the next free number, in the folder that the video lies in, or else in the first that may be written. */
static sk_status fresh_folder(sk_server *server, sk_wish *w, sk_error *err)
{
    const sk_roots *roots = &server->roots;
    int32_t root = w->source ? sk_roots_of(roots, w->source) : -1;
    for (int32_t i = 0; (root < 0 || !roots->items[root].writable) && i < roots->count; i++)
        root = roots->items[i].writable ? i : root;
    if (root < 0 || !roots->items[root].writable)
        return sk_fail(err, SK_ERR_ARG, "no folder may be written");
    for (int i = 1; i < FOLDERS_MOST; i++) {
        sk_text path = {0};
        sk_text_appendf(&path, "%s/runs", roots->items[root].path);
        sk_status status = i == 1 ? sk_folder_make_own(sk_text_get(&path), err) : SK_OK;
        sk_text_appendf(&path, "/%s%d", w->command, i);
        const bool made = status == SK_OK && mkdir(sk_text_get(&path), 0777) == 0;
        const int code = errno;
        if (made)
            status = sk_text_take(&path, &w->folder, err);
        else if (status == SK_OK && code != EEXIST)
            status = sk_fail(err, SK_ERR_IO, "%.400s: the folder for the results cannot be made: %s",
                             sk_text_get(&path), strerror(code));
        sk_text_free(&path);
        if (made || status != SK_OK)
            return status;
    }
    return sk_fail(err, SK_ERR_LIMIT, "there are too many runs in that folder");
}

static sk_status choose_folder(sk_server *server, const sk_config_value *settings, bool make, sk_wish *w,
                               sk_error *err)
{
    const sk_config_value *out = sk_config_get(settings, "out");
    const char *given = sk_config_text(out);
    if (out && !sk_config_is_null(out) && !given)
        return sk_fail(err, SK_ERR_ARG, "\"out\" names the folder for the results");
    if (given && given[0] == '-')
        return sk_fail(err, SK_ERR_ARG, "results go into a folder here");
    if (given && given[0])
        SK_TRY(sk_roots_resolve_new(&server->roots, given, &w->folder, err));
    else if (make)
        SK_TRY(fresh_folder(server, w, err));
    return w->folder ? sk_wish_add(w, err, "--out=%s", w->folder) : SK_OK;
}

sk_status sk_wish_write_line(sk_wish *w, sk_error *err)
{
    sk_text line = {0};
    sk_free(w->line);
    w->line = NULL;
    sk_text_appendf(&line, "skitter %s", w->command);
    for (int32_t i = 0; i < w->n_words; i++) {
        sk_text_append(&line, " ");
        sk_text_append_shell(&line, w->words[i]);
    }
    return sk_text_take(&line, &w->line, err);
}

sk_status sk_wish_read(sk_server *server, const sk_config_value *root, bool folder, sk_wish *w, sk_error *err)
{
    const char *command = sk_config_text(sk_config_get(root, "command"));
    const sk_config_value *settings = sk_config_get(root, "settings");
    const sk_config_value *sources = sk_config_get(settings, "source");
    if (!command || (strcmp(command, "track") != 0 && strcmp(command, "predict") != 0))
        return sk_fail(err, SK_ERR_ARG, "\"command\" is \"track\" or \"predict\"");
    if (settings && !sk_config_is(settings, SK_CONFIG_MAP))
        return sk_fail(err, SK_ERR_ARG, "\"settings\" is an object");
    w->command = sk_strdup(command);
    if (!w->command)
        return sk_fail_memory(err, strlen(command));
    const bool one = sk_config_is(sources, SK_CONFIG_STRING);
    for (size_t i = 0; i < (one ? 1 : sk_config_count(sources)); i++) {
        const char *source = sk_config_text(one ? sources : sk_config_at(sources, i));
        if (!source || !source[0])
            return sk_fail(err, SK_ERR_ARG, "\"source\" is a list of paths");
        SK_TRY(add_source(server, source, w, err));
    }
    for (size_t i = 0; settings && i < settings->length; i++) { /* a map: checked above */
        const sk_config_pair *pair = &settings->u.pairs[i];
        if (strcmp(pair->name, "source") != 0 && strcmp(pair->name, "out") != 0)
            SK_TRY(add_option(server, pair->name, pair->value, w, err));
    }
    SK_TRY(check_config(server, settings, w, err));
    if (!w->source && !sk_config_get(settings, "detections"))
        return sk_fail(err, SK_ERR_ARG, "%s needs a video", command);
    if (server->doors.check) /* before a folder is made */
        SK_TRY(server->doors.check(w->command, w->n_words, (const char *const *)w->words, err));
    SK_TRY(choose_folder(server, settings, folder, w, err));
    return sk_wish_write_line(w, err);
}
