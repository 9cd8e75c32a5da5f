/* SPDX-License-Identifier: Apache-2.0 */
#include "server/events.h"

#include "base/memory.h"
#include "base/object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT         512
#define READERS_MOST 256
#define AT_ONCE      64 /* events that one reading gives */

typedef struct event {
    uint64_t id; /* 0: none */
    char *text;  /* as it is sent */
} event;

struct sk_events_reader {
    uint64_t next; /* the event it wants next */
    bool ping, lost;
    bool asleep;
    void (*wake)(void *context);
    void *context;
    sk_events_reader *other;
};

struct sk_events {
    pthread_mutex_t lock;
    bool ended;
    uint64_t next; /* id of the next event; the first is 1 */
    event ring[KEPT];
    int32_t n_readers;
    sk_events_reader *readers;
};

sk_status sk_events_open(sk_events **out, sk_error *err)
{
    sk_events *e = sk_calloc(1, sizeof *e);
    *out = NULL;
    if (!e || pthread_mutex_init(&e->lock, NULL) != 0) {
        sk_free(e);
        return sk_fail_memory(err, sizeof *e);
    }
    e->next = 1;
    *out = e;
    return SK_OK;
}

void sk_events_close(sk_events **pointer)
{
    SK_TAKE_OR_RETURN(e, pointer);
    for (int i = 0; i < KEPT; i++)
        sk_free(e->ring[i].text);
    pthread_mutex_destroy(&e->lock);
    sk_free(e);
}

/* Needs the lock. */
static void wake_all(sk_events *e)
{
    for (sk_events_reader *r = e->readers; r; r = r->other)
        if (r->asleep) {
            r->asleep = false;
            r->wake(r->context);
        }
}

void sk_events_tell(sk_events *e, const char *name, const char *json)
{
    sk_text text = {0};
    char *whole = NULL;
    pthread_mutex_lock(&e->lock);
    sk_text_appendf(&text, "id: %llu\nevent: %s\ndata: %.*s\n\n", (unsigned long long)e->next, name,
                    (int)strcspn(json, "\n"), json);
    if (sk_text_take(&text, &whole, NULL) == SK_OK) {
        event *slot = &e->ring[e->next % KEPT];
        sk_free(slot->text);
        *slot = (event){e->next++, whole};
        wake_all(e);
    }
    pthread_mutex_unlock(&e->lock);
    sk_text_free(&text);
}

void sk_events_ping(sk_events *e)
{
    pthread_mutex_lock(&e->lock);
    for (sk_events_reader *r = e->readers; r; r = r->other)
        r->ping = true;
    wake_all(e);
    pthread_mutex_unlock(&e->lock);
}

void sk_events_end(sk_events *e)
{
    pthread_mutex_lock(&e->lock);
    e->ended = true;
    wake_all(e);
    pthread_mutex_unlock(&e->lock);
}

sk_status sk_events_listen(sk_events *e, const char *last_seen, void (*wake)(void *context), void *context,
                           sk_events_reader **out, sk_error *err)
{
    sk_events_reader *r = sk_calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->wake = wake;
    r->context = context;
    pthread_mutex_lock(&e->lock);
    const bool full = e->n_readers >= READERS_MOST;
    if (!full) {
        const uint64_t seen = last_seen ? strtoull(last_seen, NULL, 10) : 0;
        const uint64_t oldest = e->next > KEPT ? e->next - KEPT : 1;
        r->next = e->next;
        if (last_seen && seen < e->next && seen + 1 >= oldest)
            r->next = seen + 1;
        else
            r->lost = last_seen != NULL; /* of another server's life, or too long ago */
        r->ping = true;                  /* says at once that somebody is there */
        r->other = e->readers;
        e->readers = r;
        e->n_readers++;
    }
    pthread_mutex_unlock(&e->lock);
    if (full) {
        sk_free(r);
        return sk_fail(err, SK_ERR_BUSY, "%d pages listen already\nclose some", READERS_MOST);
    }
    *out = r;
    return SK_OK;
}

void sk_events_leave(sk_events *e, sk_events_reader **reader)
{
    SK_TAKE_OR_RETURN(r, reader);
    pthread_mutex_lock(&e->lock);
    for (sk_events_reader **at = &e->readers; *at; at = &(*at)->other)
        if (*at == r) {
            *at = r->other;
            e->n_readers--;
            break;
        }
    pthread_mutex_unlock(&e->lock);
    sk_free(r);
}

bool sk_events_read(sk_events *e, sk_events_reader *r, sk_text *out, void (*sleep)(void *context),
                    bool *ended)
{
    const size_t before = out->length;
    pthread_mutex_lock(&e->lock);
    *ended = e->ended;
    if (r->ping)
        sk_text_append(out, ": here\n\n");
    r->ping = false;
    const uint64_t oldest = e->next > KEPT ? e->next - KEPT : 1;
    if (r->next < oldest) {
        r->next = oldest;
        r->lost = true;
    }
    if (r->lost)
        sk_text_append(out, "event: reload\ndata: {}\n\n");
    r->lost = false;
    for (int i = 0; i < AT_ONCE && r->next < e->next; i++, r->next++)
        sk_text_append(out, e->ring[r->next % KEPT].text);
    const bool any = out->length > before;
    if (!any && !*ended && sleep) {
        r->asleep = true;
        sleep(r->context);
    }
    pthread_mutex_unlock(&e->lock);
    return any;
}
