/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/object.h"

#include <string.h>

#define KEPT     4
#define STALE_NS ((int64_t)500000000) /* a run that is at work has more frames by then */

typedef struct kept {
    char *folder; /* null: free */
    sk_run_view *view;
    bool busy;
    int64_t used_ns, fresh_ns;
} kept;

struct sk_views {
    pthread_mutex_t lock;
    pthread_cond_t left;
    kept items[KEPT];
};

sk_status sk_views_open(sk_views **out, sk_error *err)
{
    sk_views *v = sk_calloc(1, sizeof *v);
    *out = NULL;
    if (!v || pthread_mutex_init(&v->lock, NULL) != 0) {
        sk_free(v);
        return sk_fail_memory(err, sizeof *v);
    }
    if (pthread_cond_init(&v->left, NULL) != 0) {
        pthread_mutex_destroy(&v->lock);
        sk_free(v);
        return sk_fail_memory(err, sizeof *v);
    }
    *out = v;
    return SK_OK;
}

static void drop(kept *k)
{
    sk_run_view_close(&k->view);
    sk_free(k->folder);
    *k = (kept){0};
}

void sk_views_close(sk_views **pointer)
{
    SK_TAKE_OR_RETURN(v, pointer);
    for (int i = 0; i < KEPT; i++)
        drop(&v->items[i]);
    pthread_cond_destroy(&v->left);
    pthread_mutex_destroy(&v->lock);
    sk_free(v);
}

/* The folder's own place, or the one that was not used for the longest time; null: all are busy, or its own is. */
static kept *find(sk_views *v, const char *folder)
{
    kept *oldest = NULL;
    for (int i = 0; i < KEPT; i++) {
        kept *k = &v->items[i];
        if (k->folder && strcmp(k->folder, folder) == 0)
            return k->busy ? NULL : k;
        if (!k->busy && (!oldest || k->used_ns < oldest->used_ns))
            oldest = k;
    }
    return oldest;
}

sk_status sk_views_enter(sk_views *v, const char *folder, sk_run_view **out, sk_error *err)
{
    kept *k = NULL;
    sk_status status = SK_OK;
    *out = NULL;
    pthread_mutex_lock(&v->lock);
    while (!(k = find(v, folder)))
        pthread_cond_wait(&v->left, &v->lock);
    if (!k->folder || strcmp(k->folder, folder) != 0) {
        drop(k);
        k->folder = sk_strdup(folder);
    }
    k->busy = true;
    pthread_mutex_unlock(&v->lock);
    /* opened and refreshed by whoever holds it, not under the lock: that may take a while */
    const int64_t now = sk_clock_ns();
    if (!k->folder) {
        status = sk_fail_memory(err, strlen(folder));
    } else if (!k->view) {
        status = sk_run_view_open(folder, &k->view, err);
        k->fresh_ns = sk_clock_ns();
    } else if (now - k->fresh_ns > STALE_NS) {
        status = sk_run_view_refresh(k->view, err);
        k->fresh_ns = sk_clock_ns();
    }
    if (status == SK_OK) {
        *out = k->view;
        return SK_OK;
    }
    pthread_mutex_lock(&v->lock);
    drop(k);
    pthread_cond_broadcast(&v->left);
    pthread_mutex_unlock(&v->lock);
    return status;
}

void sk_views_leave(sk_views *v, sk_run_view *view)
{
    pthread_mutex_lock(&v->lock);
    for (int i = 0; i < KEPT && view; i++)
        if (v->items[i].view == view) {
            v->items[i].busy = false;
            v->items[i].used_ns = sk_clock_ns();
        }
    pthread_cond_broadcast(&v->left);
    pthread_mutex_unlock(&v->lock);
}

sk_status sk_views_source(const sk_server *server, const sk_run_view *view, char **real, sk_error *err)
{
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    const char *place = sk_run_record_identity(sk_run_view_record(view), "source_path");
    const char *given = info.header->source;
    if (place && place[0])
        return sk_roots_resolve_source(&server->roots, place, real, err);
    if (given[0] == '/' || sk_roots_resolve_source(&server->roots, given, real, NULL) != SK_OK) {
        /* as it was named where the run's folder was, too */
        char *folder = sk_path_folder(info.folder), *beside = folder ? sk_path_join(folder, given) : NULL;
        sk_status status =
            beside ? sk_roots_resolve_source(&server->roots, beside, real, err) : sk_fail_memory(err, 64);
        sk_free_all(folder, beside);
        return status;
    }
    return SK_OK;
}
