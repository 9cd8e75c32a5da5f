/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_config.h"
#include "app/track_config_run.h"
#include "app/track_region.h"
#include "base/file.h"
#include "base/memory.h"
#include "server/routes.h"
#include "server/wish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Settings as files: what somebody else's configuration, or one of our own, says for the page's fields; and the page's fields
 * as a configuration that 'skitter track --config' reads. */

/* --- words of a command line as members of an object --- */

/* "--conf=0.3" is conf, "--online" is online, all else a source. *value: null for a flag. */
static size_t name_of(const char *word, const char **name, const char **value)
{
    *name = "source";
    *value = word;
    if (strncmp(word, "--", 2) != 0)
        return strlen(*name);
    const size_t length = strcspn(word + 2, "=");
    *name = word + 2;
    *value = word[2 + length] ? word + 3 + length : NULL;
    return length;
}

static bool is_named(const char *word, const char *name, size_t length)
{
    const char *its, *value;
    return name_of(word, &its, &value) == length && memcmp(its, name, length) == 0;
}

static void put_value(sk_json *j, const char *value, bool path)
{
    char *end = NULL;
    const double number = value && !path ? strtod(value, &end) : 0;
    if (!value)
        sk_json_bool(j, true);
    else if (!path && end != value && !*end && isfinite(number) &&
             strspn(value, "0123456789.-") == strlen(value))
        sk_json_float(j, number);
    else
        sk_json_string(j, value);
}

/* Sets are the tracker's own settings, and stand elsewhere. */
static void put_words(const sk_server *server, char *const *words, int32_t n, sk_json *j)
{
    for (int32_t i = 0; i < n; i++) {
        const char *name, *value;
        char key[64];
        int32_t first = 0, count = 0;
        const size_t length = name_of(words[i], &name, &value);
        if (length == 0 || length >= sizeof key || (length == 3 && memcmp(name, "set", 3) == 0))
            continue;
        while (!is_named(words[first], name, length))
            first++;
        for (int32_t k = i; k < n; k++)
            count += is_named(words[k], name, length);
        if (first < i)
            continue;
        memcpy(key, name, length);
        key[length] = '\0';
        const char kind = server->doors.kind ? server->doors.kind("track", key) : 'v';
        const bool path = kind == 'f' || kind == 'd' || strcmp(key, "source") == 0;
        const bool list =
            count > 1 || strcmp(key, "source") == 0 || strcmp(key, "model") == 0 || strcmp(key, "roi") == 0;
        list ? sk_json_key_array(j, key) : sk_json_key(j, key);
        for (int32_t k = i; k < n; k++)
            if (is_named(words[k], name, length)) {
                (void)name_of(words[k], &name, &value);
                put_value(j, value, path);
            }
        if (list)
            sk_json_close(j);
    }
}

/* --- read --- */

typedef struct reading {
    sk_server *server;
    char *path;
    sk_track_config_run run;
    sk_track_wish wish, usual;
    sk_region *region;
    sk_text region_text, notes;
    sk_wish told; /* what may be used here */
} reading;

/* A path of the file's that is in no folder of the page's is not used, and that is said. */
static sk_status add_path(reading *r, const char *option, const char *path, bool source, sk_error *err)
{
    char *real = NULL;
    sk_error why = {0};
    const sk_status found = source ? sk_roots_resolve_source(&r->server->roots, path, &real, &why)
                                   : sk_roots_resolve(&r->server->roots, path, &real, &why);
    if (found == SK_ERR_MEMORY)
        return sk_fail_memory(err, strlen(path));
    if (found != SK_OK) {
        why.message[strcspn(why.message, "\n")] = '\0';
        sk_text_appendf(&r->notes, "%s\n", why.message);
        return SK_OK;
    }
    const sk_status status = option[0] ? sk_wish_add(&r->told, err, "--%s=%s", option, real)
                                       : sk_wish_add(&r->told, err, "%s", real);
    sk_free(real);
    return status;
}

static sk_status add_hydra(reading *r, sk_error *err)
{
    const sk_track_config_run *run = &r->run;
    if (run->source)
        SK_TRY(add_path(r, "", run->source, true, err));
    for (int i = 0; i < 2; i++)
        if (run->models[i])
            SK_TRY(add_path(r, "model", run->models[i], false, err));
    if (run->background)
        SK_TRY(sk_wish_add(&r->told, err, "--detector=background"));
    if (run->frames[0])
        SK_TRY(sk_wish_add(&r->told, err, "--frames=%s", run->frames));
    if (run->classes[0])
        SK_TRY(sk_wish_add(&r->told, err, "--classes=%s", run->classes));
    if (run->masked >= 0 && run->models[1])
        SK_TRY(sk_wish_add(&r->told, err, "--mask-neighbours=%s", run->masked ? "on" : "off"));
    return SK_OK;
}

static sk_status add_own(reading *r, sk_error *err)
{
    bool sources = false;
    for (int32_t i = 0; i < r->run.n_words; i++) {
        const char *word = r->run.words[i], *name, *value;
        char key[64] = "";
        const size_t length = sources ? 0 : name_of(word, &name, &value);
        if (length < sizeof key && length)
            memcpy(key, name, length);
        const char kind = r->server->doors.kind ? r->server->doors.kind("track", key) : 'v';
        if (!sources && strcmp(word, "--") == 0)
            sources = true;
        else if (sources)
            SK_TRY(add_path(r, "", word, true, err));
        else if (!sk_wish_takes(r->server, "track", key))
            sk_text_appendf(&r->notes, "\"%.60s\" is not used here\n", key);
        else if (kind == 'f' && value)
            SK_TRY(add_path(r, key, value, false, err));
        else
            SK_TRY(sk_wish_add(&r->told, err, "%s", word));
    }
    if (r->run.base)
        SK_TRY(add_path(r, "config", r->run.base, false, err));
    return SK_OK;
}

static bool tells(const reading *r, const char *name)
{
    for (int32_t i = 0; i < r->told.n_words; i++)
        if (is_named(r->told.words[i], name, strlen(name)))
            return true;
    return false;
}

static sk_status add_regions(reading *r, sk_error *err)
{
    sk_text text = {0};
    sk_status status = SK_OK;
    if (tells(r, "roi"))
        return SK_OK;
    for (size_t i = 0; status == SK_OK && sk_track_region_text(r->region, i, &text); i++) {
        status = sk_text_status(&text, err);
        if (status == SK_OK)
            status = sk_wish_add(&r->told, err, "--roi=%s", sk_text_get(&text));
        sk_text_clear(&text);
    }
    sk_text_free(&text);
    return status;
}

static sk_status read_all(reading *r, sk_error *err)
{
    sk_track_wish_defaults(&r->usual);
    sk_track_wish_defaults(&r->wish);
    SK_TRY(sk_track_config_run_read(r->path, &r->run, err));
    SK_TRY(sk_track_config_read(r->path, &r->wish, &r->region, &r->region_text, &r->notes, err));
    SK_TRY(r->run.n_words ? add_own(r, err) : add_hydra(r, err));
    for (const char *line = sk_text_get(&r->run.notes); line && *line;
         line += line[strcspn(line, "\n")] == '\n') {
        const size_t n = strcspn(line, "\n");
        const size_t skip = strncmp(line, "model: ", 7) == 0 ? 7 : 0;
        sk_text_appendf(&r->notes, "%.*s\n", (int)(n - skip), line + skip);
        line += n;
    }
    return add_regions(r, err);
}

static void put_lines(sk_json *j, const char *key, const char *text)
{
    sk_json_key_array(j, key);
    for (size_t n; (n = strcspn(text, "\n")) > 0 || *text; text += n + (text[n] == '\n'))
        if (n)
            sk_json_string_bytes(j, text, n);
    sk_json_close(j);
}

static void put_all(const reading *r, sk_json *j)
{
    sk_json_object(j);
    sk_json_key_string(j, "path", r->path);
    sk_json_key_bool(j, "whole", r->run.n_words > 0);
    sk_json_key_object(j, "settings");
    put_words(r->server, r->told.words, r->told.n_words, j);
    sk_json_close(j);
    sk_json_key_object(j, "tracker"); /* the file's own numbers, where they are not the usual ones */
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        const double value = sk_track_setting_get(s, &r->wish);
        if (fabs(value - sk_track_setting_get(s, &r->usual)) > 0)
            sk_json_key_float(j, s->name, value);
    }
    sk_json_close(j);
    sk_json_key_strings(j, {"runtime", r->run.runtime[0] ? r->run.runtime : NULL});
    put_lines(j, "notes", sk_text_get(&r->notes));
    sk_json_close(j);
}

sk_status sk_serve_config(sk_server *server, const sk_request *request, sk_reply *reply, sk_error *err)
{
    const char *path = sk_request_query(request, "path");
    if (!path || !path[0])
        return sk_fail(err, SK_ERR_ARG, "path= names the file with settings");
    reading *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->server = server;
    sk_status status = sk_roots_resolve(&server->roots, path, &r->path, err);
    if (status == SK_OK && !sk_file_is_regular(r->path))
        status = sk_fail(err, SK_ERR_ARG, "%s: is not a file; path= names the file with settings", r->path);
    if (status == SK_OK)
        status = read_all(r, err);
    if (status == SK_OK)
        status = sk_text_status(&r->notes, err);
    if (status == SK_OK) {
        sk_json j = sk_reply_json(reply);
        put_all(r, &j);
        status = sk_json_end(&j, err);
    }
    sk_region_close(&r->region);
    sk_text_free(&r->region_text);
    sk_text_free(&r->notes);
    sk_track_config_run_free(&r->run);
    sk_wish_free(&r->told);
    sk_free_all(r->path, r);
    return status;
}

/* --- written --- */

static sk_status write_config(const sk_server *server, const sk_wish *wish, const char *path, sk_error *err)
{
    sk_text text = {0};
    sk_json j = sk_json_to_text(&text, 2);
    sk_json_object(&j);
    for (int32_t i = 0; i < wish->n_words; i++)
        if (strncmp(wish->words[i], "--set=", 6) == 0) {
            const char *name = wish->words[i] + 6, *sign = strchr(name, '=');
            char key[64];
            if (!sign || (size_t)(sign - name) >= sizeof key)
                continue;
            memcpy(key, name, (size_t)(sign - name));
            key[sign - name] = '\0';
            sk_json_key(&j, key);
            put_value(&j, sign + 1, false);
        }
    sk_json_key_object(&j, "run");
    put_words(server, wish->words, wish->n_words, &j);
    sk_json_close(&j);
    sk_json_close(&j);
    sk_status status = sk_json_end(&j, err);
    if (status == SK_OK)
        status = sk_file_replace(path, sk_text_get(&text), text.length, err);
    sk_text_free(&text);
    return status;
}

/* A file that is there is only replaced where it is one of these. */
static sk_status may_write(const char *path, bool replace, sk_error *err)
{
    sk_track_config_run run = {0};
    if (!sk_path_has_extension(path, ".json"))
        return sk_fail(err, SK_ERR_ARG, "%s: settings are kept in a file whose name ends in .json", path);
    if (!sk_file_exists(path))
        return SK_OK;
    const sk_status known =
        sk_file_is_regular(path) ? sk_track_config_run_read(path, &run, err) : SK_ERR_FORMAT;
    const bool ours = known == SK_OK && run.n_words;
    sk_track_config_run_free(&run);
    if (known == SK_ERR_MEMORY)
        return known;
    if (ours && replace)
        return SK_OK;
    return ours ? sk_fail(err, SK_ERR_ARG, "%s: is there already", path)
                : sk_fail(err, SK_ERR_ARG,
                          "%s: is there already, and no file of settings that was saved here", path);
}

sk_status sk_serve_config_save(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL;
    sk_wish wish = {0};
    char *to = NULL;
    bool replace = false;
    sk_status status;
    SK_TRY_GOTO(sk_request_json(r, &body, err));
    const sk_config_value *root = sk_config_root(body);
    const char *path = sk_config_text(sk_config_get(root, "path"));
    const sk_config_value *flag = sk_config_get(root, "replace");
    if (!path || !path[0]) {
        status = sk_fail(err, SK_ERR_ARG, "\"path\" names the file that is written");
        goto done;
    }
    (void)(flag && sk_config_to_bool(flag, &replace));
    SK_TRY_GOTO(sk_roots_resolve_new(&server->roots, path, &to, err));
    SK_TRY_GOTO(may_write(to, replace, err));
    SK_TRY_GOTO(sk_wish_read(server, root, false, &wish, err));
    if (strcmp(wish.command, "track") != 0) {
        status = sk_fail(err, SK_ERR_ARG, "only track reads its settings from a file");
        goto done;
    }
    SK_TRY_GOTO(write_config(server, &wish, to, err));
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_string(&j, "path", to);
    sk_json_close(&j);
    status = sk_json_end(&j, err);
done:
    sk_wish_free(&wish);
    sk_config_close(&body);
    sk_free(to);
    return status;
}
