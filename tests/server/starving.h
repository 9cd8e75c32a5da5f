/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SERVER_STARVING_H
#define SK_TESTS_SERVER_STARVING_H

/* Requests for which there is no memory: behind asking.h or viewing.h. */
#include "server/pictures.h"
#include "server/runs_inside.h"
#include "server/views.h"
#include "support/fault.h"

/* Nobody else may allocate meanwhile. */
static inline void let_the_keeper_go(sk_runs *runs)
{
    pthread_mutex_lock(&runs->lock);
    runs->closing = true;
    pthread_cond_broadcast(&runs->wake);
    pthread_mutex_unlock(&runs->lock);
    assert_int_equal(pthread_join(runs->thread, NULL), 0);
    runs->threaded = false;
}

typedef struct wanted {
    const char *method, *target, *body;
    bool other;   /* the answer may be another one: what is lost is lost */
    char *answer; /* the first time's */
} wanted;

static inline sk_status serve(void *context, sk_error *err)
{
    wanted *w = context;
    sk_request r = {.headers = {.host = "127.0.0.1:8765"}};
    sk_reply reply;
    sk_reply_init(&reply);
    sk_method_find(w->method, &r.method);
    /* what is kept open for the next one would be taken for left behind */
    sk_status status = asked->views ? SK_OK : sk_views_open(&asked->views, err);
    if (status == SK_OK && !asked->pictures)
        status = sk_pictures_open(&asked->pictures, err);
    if (status == SK_OK && !asked->events)
        status = sk_events_open(&asked->events, err);
    if (status == SK_OK)
        status = sk_request_target(&r, w->target, err);
    if (status == SK_OK) {
        r.body = w->body;
        r.body_length = w->body ? strlen(w->body) : 0;
        sk_routes_serve(asked, &r, &reply);
        const char *text = reply.bytes ? (const char *)reply.bytes : sk_text_get(&reply.text);
        char sent[300] = "";
        if (reply.file >= 0) { /* its name and its length tell it */
            snprintf(sent, sizeof sent, "%s %lld", reply.headers[0].value, (long long)reply.file_bytes);
            text = sent;
        } else if (reply.blob) {
            snprintf(sent, sizeof sent, "%zu bytes", sk_blob_bytes(reply.blob));
            text = sent;
        }
        if (reply.code == 200 && !w->answer)
            w->answer = strdup(text); /* not counted */
        else if (reply.code == 200 && !w->other && strcmp(text, w->answer) != 0)
            status = sk_fail(err, SK_ERR_INTERNAL, "it says %s\nand not %s", text, w->answer);
        else if (reply.code != 200)
            status = sk_fail(err, reply.code == 503 ? SK_ERR_MEMORY : SK_ERR_INTERNAL, "%s", text);
        if (reply.code == 503 && !strstr(text, "out of memory"))
            status = sk_fail(err, SK_ERR_INTERNAL, "why? %s", text);
    }
    sk_request_free(&r);
    sk_reply_free(&reply);
    sk_views_close(&asked->views);
    sk_pictures_close(&asked->pictures);
    sk_events_close(&asked->events);
    return status;
}

static inline void starve(wanted *w)
{
    assert_true(test_every_allocation(serve, w) >= 3);
    free(w->answer); /* NOLINT: strdup's */
    w->answer = NULL;
}

#endif
