/* SPDX-License-Identifier: Apache-2.0 */
#include "app/inference_cache.h"

#include "app/source_identity.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/memory.h"
#include "media/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sk_inference_cache {
    char *path;
    sk_lock *lock; /* null: somebody else's, complete; it is only read */
    sk_journal *journal;
    bool failed;
};

/* --- the key --- */

/* Members of a run's identity that say where and when, not what. */
static bool is_about_place(const char *line, size_t length)
{
    static const char *const names[] = {"source", "source_path", "source_time", "source_sample",
                                        "runtime fallback"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(line, names[i], length) == 0)
            return true;
    return false;
}

static sk_status key_of(const sk_inference_wish *wish, sk_text *key, sk_error *err)
{
    for (const char *at = wish->identity, *end; (end = strchr(at, '\n')); at = end + 1) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        if (!tab || !is_about_place(at, (size_t)(tab - at)))
            sk_text_append_bytes(key, at, (size_t)(end + 1 - at));
    }
    sk_text_append(key, "content\t");
    SK_TRY(sk_source_content(wish->source, key, err));
    sk_text_append(key, "\n");
    return sk_text_status(key, err);
}

/* --- opening --- */

static sk_status lock_of(const char *path, sk_lock **lock, sk_error *err)
{
    char *file = sk_path_with_extension(path, ".lock");
    if (!file)
        return sk_fail_memory(err, strlen(path));
    sk_status status = sk_lock_open(file, 0, lock, NULL, err);
    sk_free(file);
    return status;
}

/* Those unused for longest go until the rest fits. */
static void tidy(const char *folder, const char *but)
{
    sk_inference_row *rows = NULL;
    size_t count = 0;
    int64_t bytes = 0;
    if (sk_inference_cache_list(folder, &rows, &count, NULL) != SK_OK)
        return;
    for (size_t i = 0; i < count; i++)
        bytes += rows[i].bytes;
    for (size_t i = 0; i < count && bytes > SK_INFERENCE_CACHE_BYTES; i++)
        if (strcmp(rows[i].path, but) != 0 && sk_inference_cache_remove(rows[i].path, NULL) == SK_OK)
            bytes -= rows[i].bytes;
    sk_inference_cache_list_free(rows, count);
}

/* Of another version, damaged before its first frame, or no journal at all: nothing that could be used, so it is begun anew.
 * What is called so in this folder is the cache's own. */
static sk_status open_journal(sk_inference_cache *c, const char *key, const char *source, sk_error *err)
{
    char *other = NULL;
    const char *name = sk_path_name(source);
    sk_status status = sk_journal_open(c->path, key, name, false, &c->journal, &other, err);
    sk_free(other);
    if (c->lock && status != SK_OK && status != SK_ERR_MEMORY && sk_file_is_regular(c->path)) {
        other = NULL;
        if (!sk_journal_is_one(c->path)) {
            sk_log(SK_LOG_WARN, "%s: what was kept is damaged, and is computed anew", c->path);
            if (unlink(c->path) != 0)
                return status;
        }
        status = sk_journal_open(c->path, key, name, true, &c->journal, &other, err);
        sk_free(other);
    }
    return status;
}

/* Without it everything is computed, and nothing kept: no run fails for that. */
static void go_without(const sk_inference_cache *c, const char *problem)
{
    sk_log(SK_LOG_WARN,
           "what is found is not kept for another tracking: %s. Name another folder with --cache, or give "
           "--no-cache (%s)",
           problem, c->path);
}

static sk_status open_at(sk_inference_cache *c, const char *key, const char *source, char why[512],
                         sk_error *err)
{
    sk_error busy = {0};
    sk_status status = lock_of(c->path, &c->lock, &busy);
    if (status != SK_OK && !sk_journal_is_finished(c->path)) {
        if (status == SK_ERR_BUSY)
            snprintf(why, 512,
                     "what is found is not kept for another tracking: another run is at the same video with "
                     "the same models");
        else
            go_without(c, busy.message);
        return SK_OK;
    }
    status = open_journal(c, key, source, &busy);
    if (status == SK_ERR_MEMORY)
        return sk_fail(err, status, "%s", busy.message);
    if (status != SK_OK) {
        go_without(c, busy.message);
        return SK_OK;
    }
    (void)utimensat(AT_FDCWD, c->path, NULL, AT_SYMLINK_NOFOLLOW);
    return SK_OK;
}

sk_status sk_inference_cache_open(const sk_inference_wish *wish, sk_inference_cache **out, char why[512],
                                  sk_error *err)
{
    *out = NULL;
    why[0] = '\0';
    if (sk_uri_is_live(wish->source) || sk_uri_is_once(wish->source) || sk_uri_is_pictures(wish->source) ||
        sk_file_is_directory(wish->source)) {
        snprintf(why, 512, "what is found is not kept for another tracking: that is done for files of video");
        return SK_OK;
    }
    sk_text key = {0};
    sk_sha256 hash;
    char hex[SK_SHA256_TEXT], name[48], *folder = NULL;
    sk_inference_cache *c = sk_calloc(1, sizeof *c);
    sk_status status = c ? SK_OK : sk_fail_memory(err, sizeof *c);
    if (status == SK_OK)
        status = key_of(wish, &key, err);
    if (status == SK_OK)
        status = sk_inference_cache_folder(wish->folder, &folder, err);
    if (status == SK_OK) {
        sk_hash_sha256(key.data, key.length, &hash);
        snprintf(name, sizeof name, "%.32s.skj", sk_sha256_text(&hash, hex));
        c->path = sk_path_join(folder, name);
        status = c->path ? open_at(c, sk_text_get(&key), wish->source, why, err) : sk_fail_memory(err, 64);
    }
    if (status == SK_OK && c->lock)
        tidy(folder, c->path);
    if (status != SK_OK || !c->journal)
        sk_inference_cache_close(&c);
    *out = c;
    sk_text_free(&key);
    sk_free(folder);
    return status;
}

void sk_inference_cache_close(sk_inference_cache **pointer)
{
    sk_inference_cache *c = pointer ? *pointer : NULL;
    if (!c)
        return;
    *pointer = NULL;
    sk_journal_close(&c->journal);
    sk_lock_remove(&c->lock);
    sk_free(c->path);
    sk_free(c);
}

/* --- using it --- */

const char *sk_inference_cache_path(const sk_inference_cache *c)
{
    return c ? c->path : NULL;
}

int64_t sk_inference_cache_count(const sk_inference_cache *c)
{
    return c ? sk_journal_count(c->journal) : 0;
}

bool sk_inference_cache_complete(const sk_inference_cache *c)
{
    return c && sk_journal_finished(c->journal);
}

typedef struct playing {
    int64_t from, entry;
    sk_journal_visit visit;
    void *context;
} playing;

static sk_status play(void *context, const sk_result_frame *frame, sk_error *err)
{
    playing *p = context;
    return p->entry++ < p->from ? SK_OK : p->visit(p->context, frame, err);
}

sk_status sk_inference_cache_replay(sk_inference_cache *c, int64_t from, sk_journal_visit visit,
                                    void *context, sk_error *err)
{
    playing p = {.from = from, .visit = visit, .context = context};
    return c && from < sk_journal_count(c->journal) ? sk_journal_replay(c->journal, play, &p, err) : SK_OK;
}

static bool is_writable(const sk_inference_cache *c)
{
    return c && c->lock && !c->failed && !sk_journal_finished(c->journal);
}

static void check(sk_inference_cache *c, sk_status status, const sk_error *problem)
{
    if (status == SK_OK)
        return;
    c->failed = true;
    sk_log(SK_LOG_WARN, "what is found is no longer kept for another tracking: %s", problem->message);
}

void sk_inference_cache_append(sk_inference_cache *c, const sk_result_frame *frame)
{
    sk_error problem = {0};
    if (is_writable(c))
        check(c, sk_journal_append(c->journal, frame, &problem), &problem);
}

void sk_inference_cache_flush(sk_inference_cache *c)
{
    sk_error problem = {0};
    if (is_writable(c))
        check(c, sk_journal_flush(c->journal, false, &problem), &problem);
}

void sk_inference_cache_finish(sk_inference_cache *c)
{
    sk_error problem = {0};
    if (is_writable(c))
        check(c, sk_journal_finish(c->journal, &problem), &problem);
}
