/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pictures.h"

#include "app/frame_reader.h"
#include "base/clock.h"
#include "base/object.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define KEPT 4

/* What a file was when it was opened: another one in its place is opened anew. */
typedef struct stamp {
    int64_t size, seconds, ns;
    uint64_t inode;
} stamp;

typedef struct kept {
    char *source; /* and, of a bag, the topic behind a line end; null: free */
    stamp stamp;
    sk_frame_reader *reader;
    bool busy;
    int64_t used_ns;
} kept;

struct sk_pictures {
    pthread_mutex_t lock;
    pthread_cond_t left;
    kept items[KEPT];
};

sk_status sk_pictures_open(sk_pictures **out, sk_error *err)
{
    sk_pictures *p = sk_calloc(1, sizeof *p);
    *out = NULL;
    if (!p || pthread_mutex_init(&p->lock, NULL) != 0) {
        sk_free(p);
        return sk_fail_memory(err, sizeof *p);
    }
    if (pthread_cond_init(&p->left, NULL) != 0) {
        pthread_mutex_destroy(&p->lock);
        sk_free(p);
        return sk_fail_memory(err, sizeof *p);
    }
    *out = p;
    return SK_OK;
}

static void drop(kept *k)
{
    sk_frame_reader_close(&k->reader);
    sk_free(k->source);
    *k = (kept){0};
}

void sk_pictures_close(sk_pictures **pointer)
{
    SK_TAKE_OR_RETURN(p, pointer);
    for (int i = 0; i < KEPT; i++)
        drop(&p->items[i]);
    pthread_cond_destroy(&p->left);
    pthread_mutex_destroy(&p->lock);
    sk_free(p);
}

static stamp stamp_of(const char *source)
{
    struct stat s;
    if (stat(source, &s) != 0)
        return (stamp){-1, 0, 0, 0};
    return (stamp){s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_ino};
}

/* The source's own place, or the one that was not used for the longest time; null: all are busy, or its own is. */
static kept *find(sk_pictures *p, const char *source)
{
    kept *oldest = NULL;
    for (int i = 0; i < KEPT; i++) {
        kept *k = &p->items[i];
        if (k->source && strcmp(k->source, source) == 0)
            return k->busy ? NULL : k;
        if (!k->busy && (!oldest || k->used_ns < oldest->used_ns))
            oldest = k;
    }
    return oldest;
}

static kept *enter(sk_pictures *p, const char *source)
{
    kept *k = NULL;
    pthread_mutex_lock(&p->lock);
    while (!(k = find(p, source)))
        pthread_cond_wait(&p->left, &p->lock);
    k->busy = true;
    pthread_mutex_unlock(&p->lock);
    return k;
}

static void leave(sk_pictures *p, kept *k, bool keep)
{
    pthread_mutex_lock(&p->lock);
    if (!keep)
        drop(k);
    k->busy = false;
    k->used_ns = keep ? sk_clock_ns() : 0;
    pthread_cond_broadcast(&p->left);
    pthread_mutex_unlock(&p->lock);
}

/* Whoever holds the place opens its video, not under the lock: that may take a while. Its name changes under the lock, for those
 * who look for theirs. */
static sk_status open_video(sk_pictures *p, kept *k, const char *name, const char *source, const char *topic,
                            sk_error *err)
{
    const stamp now = stamp_of(source);
    if (k->reader && strcmp(k->source, name) == 0 && memcmp(&k->stamp, &now, sizeof now) == 0)
        return SK_OK;
    pthread_mutex_lock(&p->lock);
    drop(k);
    k->busy = true;
    k->stamp = now;
    k->source = sk_strdup(name);
    pthread_mutex_unlock(&p->lock);
    if (!k->source)
        return sk_fail_memory(err, strlen(source));
    return sk_frame_reader_open(source, topic, &k->reader, err);
}

sk_status sk_serve_picture_of(sk_server *server, const sk_request *r, const char *source, const char *topic,
                              sk_reply *reply, sk_error *err)
{
    sk_text name = {0};
    int64_t n = 0, width = 0, within = 0, given = 0;
    char text[24];
    SK_TRY(sk_request_query_int(r, "n", 0, INT64_MAX / 4, 0, &n, err));
    SK_TRY(sk_request_query_int(r, "width", 16, 16384, 0, &width, err));
    SK_TRY(sk_request_query_int(r, "within", 1, 60000, 0, &within, err));
    const sk_frame_wanted wanted = {.n = n, .width = (int32_t)width, .within = (int32_t)within};
    sk_text_append(&name, source);
    if (topic) {
        sk_text_append(&name, "\n");
        sk_text_append(&name, topic);
    }
    SK_TRY(sk_text_status(&name, err));
    kept *k = enter(server->pictures, sk_text_get(&name));
    sk_status status = open_video(server->pictures, k, sk_text_get(&name), source, topic, err);
    if (status == SK_OK)
        status = sk_frame_reader_jpeg(k->reader, &wanted, &reply->blob, &given, err);
    leave(server->pictures, k, status == SK_OK || status == SK_ERR_NOT_FOUND);
    sk_text_free(&name);
    reply->type = "image/jpeg";
    snprintf(text, sizeof text, "%lld", (long long)given);
    if (status == SK_OK)
        sk_reply_header_add(reply, "X-Skitter-Frame", text);
    return status;
}
