/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files of a batch: where they are, the list of pieces, what there is of them. */

#define LIST_MOST ((size_t)64 << 20)

/* --- paths --- */

const char *sk_batch_path(const sk_batch *b, const char *name, char *buffer)
{
    snprintf(buffer, SK_BATCH_PATH, "%.4000s/" SK_BATCH_FOLDER "/%.300s", b->out, name);
    return buffer;
}

const char *sk_batch_file(const sk_batch *b, int64_t number, int32_t attempt, const char *ending,
                          char *buffer)
{
    char name[96];
    if (attempt > 0)
        snprintf(name, sizeof name, "pieces/%04lld/%07lld.%d.%s", (long long)(number / SK_BATCH_SHARD),
                 (long long)number, attempt, ending);
    else
        snprintf(name, sizeof name, "pieces/%04lld/%07lld.%s", (long long)(number / SK_BATCH_SHARD),
                 (long long)number, ending);
    return sk_batch_path(b, name, buffer);
}

const char *sk_batch_work_path(const sk_batch *b, int64_t number, int32_t attempt, char *buffer)
{
    char name[64];
    snprintf(name, sizeof name, "work/%07lld.%d", (long long)number, attempt);
    return sk_batch_path(b, name, buffer);
}

const char *sk_batch_result_path(const sk_batch *b, const sk_batch_piece *piece, char *buffer)
{
    snprintf(buffer, SK_BATCH_PATH, "%.4000s/%.300s", b->out, piece->name);
    return buffer;
}

/* --- pieces --- */

static const char *const kinds[] = {"video", "part", "merge"};

void batch_shard_free(sk_batch_piece *shard)
{
    for (int i = 0; shard && i < SK_BATCH_SHARD; i++)
        sk_free_all(shard[i].source, shard[i].name, shard[i].frames);
    sk_free(shard);
}

sk_status batch_write_shard(const sk_batch *b, int64_t shard, sk_error *err)
{
    sk_text text = {0};
    char name[64], path[SK_BATCH_PATH];
    snprintf(name, sizeof name, "pieces/%04lld", (long long)shard);
    SK_TRY(sk_folder_make(sk_batch_path(b, name, path), err));
    for (int64_t i = shard * SK_BATCH_SHARD; i < (shard + 1) * SK_BATCH_SHARD && i < b->pieces; i++) {
        const sk_batch_piece *p = &b->shards[shard][i % SK_BATCH_SHARD];
        sk_json json = sk_json_to_text(&text, 0);
        sk_json_object(&json);
        sk_json_key_int(&json, "piece", p->number);
        sk_json_key_strings(&json, {"kind", kinds[p->kind]}, {"source", p->source}, {"name", p->name},
                            {"frames", p->frames});
        sk_json_key_ints(&json, {"parts", p->parts}, {"expected", p->frames_expected});
        sk_json_close(&json);
        (void)!sk_json_end(&json, NULL);
    }
    snprintf(name, sizeof name, "pieces/%04lld/list", (long long)shard);
    sk_status status = sk_text_status(&text, err);
    if (status == SK_OK)
        status = sk_file_replace(sk_batch_path(b, name, path), text.data, text.length, err);
    sk_text_free(&text);
    return status;
}

static sk_status read_piece(const char *line, size_t length, int64_t number, int64_t pieces,
                            sk_batch_piece *p)
{
    sk_config *config = NULL;
    SK_TRY(sk_config_open_json(line, length, "list", &config, NULL));
    const sk_config_value *root = sk_config_root(config);
    const char *kind = sk_config_text_or(root, "kind", ""), *source = sk_config_text_or(root, "source", ""),
               *name = sk_config_text_or(root, "name", "");
    bool good = *source && *name && *name != '.' && !strchr(name, '/') && strlen(name) < 256;
    p->number = sk_config_int_or(root, "piece", -1);
    p->parts = sk_config_int_or(root, "parts", 0);
    p->frames_expected = sk_config_int_or(root, "expected", -1);
    good = good && p->number == number;
    int k = 0;
    while (k < 3 && strcmp(kind, kinds[k]) != 0)
        k++;
    p->kind = (sk_batch_kind)k;
    good = good && k < 3 &&
           (k == SK_BATCH_VIDEO ||
            (p->parts >= 1 && (k == SK_BATCH_MERGE ? p->parts <= number : p->parts < pieces - number)));
    if (good) {
        p->source = sk_strdup(source);
        p->name = sk_strdup(name);
        p->frames = sk_strdup(sk_config_text_or(root, "frames", ""));
    }
    sk_config_close(&config);
    return !good ? SK_ERR_FORMAT : p->source && p->name && p->frames ? SK_OK : SK_ERR_MEMORY;
}

static sk_status read_shard(sk_batch *b, int64_t shard, sk_error *err)
{
    char name[64], path[SK_BATCH_PATH], *text = NULL;
    size_t bytes = 0;
    snprintf(name, sizeof name, "pieces/%04lld/list", (long long)shard);
    SK_TRY(sk_file_read_own(sk_batch_path(b, name, path), LIST_MOST, &text, &bytes, err));
    sk_batch_piece *pieces = sk_calloc(SK_BATCH_SHARD, sizeof *pieces);
    int64_t number = shard * SK_BATCH_SHARD;
    sk_status status = pieces ? SK_OK : SK_ERR_MEMORY;
    for (const char *at = text, *end;
         status == SK_OK && number < b->pieces && number < (shard + 1) * SK_BATCH_SHARD;
         number++, at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + bytes - at));
        status = end ? read_piece(at, (size_t)(end - at), number, b->pieces, &pieces[number % SK_BATCH_SHARD])
                     : SK_ERR_FORMAT;
    }
    sk_free(text);
    if (status != SK_OK) {
        batch_shard_free(pieces);
        if (status == SK_ERR_MEMORY) /* nothing is wrong with the file: it must not be begun anew for that */
            return sk_fail_memory(err, SK_BATCH_SHARD * sizeof *pieces);
        return sk_fail(err, SK_ERR_FORMAT, "%s: line %lld is damaged; begin anew with --restart", path,
                       (long long)(number - shard * SK_BATCH_SHARD));
    }
    b->shards[shard] = pieces;
    return SK_OK;
}

const sk_batch_piece *sk_batch_piece_of(sk_batch *b, int64_t number, sk_error *err)
{
    const int64_t shard = number / SK_BATCH_SHARD;
    if (number < 0 || number >= b->pieces) {
        (void)sk_fail(err, SK_ERR_ARG, "piece %lld: there are %lld, from 0", (long long)number,
                      (long long)b->pieces);
        return NULL;
    }
    if (!b->shards[shard] && read_shard(b, shard, err) != SK_OK)
        return NULL;
    return &b->shards[shard][number % SK_BATCH_SHARD];
}

/* --- what there is of them --- */

static void see(sk_batch *b, int64_t shard, const char *name)
{
    char *end;
    const long long number = strtoll(name, &end, 10);
    if (end - name < 7 || *end != '.' || number / SK_BATCH_SHARD != shard || number >= b->pieces)
        return;
    const size_t n = strlen(end);
    const bool done = strcmp(end, ".done") == 0;
    const bool claim = n > 6 && strcmp(end + n - 6, ".claim") == 0;
    if (done && b->seen[number] != SK_BATCH_SEEN_DONE)
        b->seen_done[shard]++;
    if (done)
        b->seen[number] = SK_BATCH_SEEN_DONE;
    else if (claim && b->seen[number] == SK_BATCH_SEEN_NOTHING)
        b->seen[number] = SK_BATCH_SEEN_CLAIM;
}

sk_status sk_batch_refresh(sk_batch *b, sk_error *err)
{
    const int64_t shards = (b->pieces + SK_BATCH_SHARD - 1) / SK_BATCH_SHARD;
    if (!b->seen) {
        b->seen = sk_calloc((size_t)b->pieces + 1, 1);
        b->seen_done = sk_calloc((size_t)shards + 1, sizeof *b->seen_done);
    }
    if (!b->seen || !b->seen_done)
        return sk_fail_memory(err, (size_t)b->pieces);
    for (int64_t i = 0; i < shards; i++) {
        char name[64], path[SK_BATCH_PATH];
        const int64_t here = i + 1 < shards ? SK_BATCH_SHARD : b->pieces - i * SK_BATCH_SHARD;
        if (b->seen_done[i] >= here)
            continue;
        snprintf(name, sizeof name, "pieces/%04lld", (long long)i);
        DIR *folder = opendir(sk_batch_path(b, name, path));
        if (!folder)
            return sk_fail(err, SK_ERR_IO, "%s: cannot be listed: %s", path, strerror(errno));
        for (const struct dirent *e; (e = readdir(folder));)
            see(b, i, e->d_name);
        closedir(folder);
    }
    return SK_OK;
}

/* --- cancelling, removing --- */

bool sk_batch_is_cancelled(const sk_batch *b)
{
    char path[SK_BATCH_PATH];
    return sk_file_exists(sk_batch_path(b, "cancelled", path));
}

sk_status sk_batch_set_cancelled(const sk_batch *b, bool cancelled, sk_error *err)
{
    char path[SK_BATCH_PATH];
    sk_batch_path(b, "cancelled", path);
    if (cancelled)
        return sk_file_replace(path, "", 0, err);
    if (unlink(path) != 0 && errno != ENOENT)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be removed: %s", path, strerror(errno));
    return SK_OK;
}

/* A folder of skitter's own, and all in it; links are removed, not followed. */
void batch_remove_tree(const char *path)
{
    DIR *folder = opendir(path);
    char inner[SK_BATCH_PATH];
    struct stat info;
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%.4000s/%.300s", path, e->d_name);
        if (lstat(inner, &info) == 0 && S_ISDIR(info.st_mode))
            batch_remove_tree(inner);
        else
            (void)unlink(inner);
    }
    if (folder)
        closedir(folder);
    (void)rmdir(path);
}

void batch_say(void (*tell)(void *context, const char *text), void *context, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    if (tell)
        tell(context, text);
}
