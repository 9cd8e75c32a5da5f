/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exchange_mhd.h"

#include "base/clock.h"
#include "server/routes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BODY_SECONDS 30 /* a body that drips in is not waited for longer */

typedef enum stage { STAGE_NEW = 0, STAGE_BODY, STAGE_WORK, STAGE_READY } stage;

typedef struct exchange {
    sk_listener *listener;
    struct MHD_Connection *connection;
    char *target;
    sk_request request;
    sk_reply reply;
    sk_text body;
    bool too_long;
    int64_t begun_ns;
    atomic_int stage;
    /* A stream's: */
    sk_events_reader *reader;
    sk_text pending;
    size_t sent;
} exchange;

void *sk_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection)
{
    exchange *x = sk_calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->listener = listener;
    x->connection = connection;
    x->target = sk_strndup(uri, strnlen(uri, SK_REQUEST_TARGET + 1));
    x->body.limit = SK_REQUEST_BODY;
    x->begun_ns = sk_clock_ns();
    sk_reply_init(&x->reply);
    atomic_fetch_add(&x->listener->open, 1);
    return x;
}

void sk_exchange_end(void *listener, struct MHD_Connection *connection, void **pointer,
                     enum MHD_RequestTerminationCode why)
{
    exchange *x = *pointer;
    sk_listener *l = listener;
    (void)connection, (void)why;
    *pointer = NULL;
    if (!x)
        return;
    sk_events_leave(l->server->events, &x->reader);
    sk_request_free(&x->request);
    sk_reply_free(&x->reply);
    sk_text_free(&x->body);
    sk_text_free(&x->pending);
    sk_free_all(x->target, x);
    atomic_fetch_sub(&l->open, 1);
}

/* --- replies --- */

static void on_sleep(void *context)
{
    sk_mhd.MHD_suspend_connection(((exchange *)context)->connection);
}

static void on_wake(void *context)
{
    sk_mhd.MHD_resume_connection(((exchange *)context)->connection);
}

/* More of the stream, for libmicrohttpd to send. Nothing to tell: the connection sleeps until there is. */
static ssize_t read_stream(void *context, uint64_t at, char *buffer, size_t most)
{
    exchange *x = context;
    bool ended = false;
    (void)at;
    if (x->sent == x->pending.length) {
        sk_text_clear(&x->pending);
        x->sent = 0;
        if (!sk_events_read(x->listener->server->events, x->reader, &x->pending, on_sleep, &ended))
            return ended ? MHD_CONTENT_READER_END_OF_STREAM : 0;
        if (x->pending.failed != SK_OK)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    const size_t left = x->pending.length - x->sent, n = left < most ? left : most;
    memcpy(buffer, x->pending.data + x->sent, n);
    x->sent += n;
    return (ssize_t)n;
}

static struct MHD_Response *make_stream(exchange *x)
{
    sk_error error = {0};
    if (sk_events_listen(x->listener->server->events, x->request.headers.last_event, on_wake, x, &x->reader,
                         &error) == SK_OK)
        return sk_mhd.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, x, NULL);
    sk_reply_error(&x->reply, &error);
    return sk_mhd.MHD_create_response_from_buffer(
        x->reply.text.length, (void *)(uintptr_t)sk_text_get(&x->reply.text), MHD_RESPMEM_MUST_COPY);
}

/* Borrows from the reply, which lives until the connection is done with it. */
static struct MHD_Response *make_response(exchange *x)
{
    sk_reply *r = &x->reply;
    if (r->stream)
        return make_stream(x);
    if (r->file >= 0) {
        const int file = r->file;
        r->file = -1; /* the response closes it */
        return sk_mhd.MHD_create_response_from_fd64((uint64_t)r->file_bytes, file);
    }
    const void *bytes = r->blob ? sk_blob_data(r->blob) : r->bytes ? r->bytes : sk_text_get(&r->text);
    const size_t n = r->blob ? sk_blob_bytes(r->blob) : r->bytes ? r->n_bytes : r->text.length;
    return sk_mhd.MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result send_reply(exchange *x)
{
    struct MHD_Response *response = make_response(x);
    if (!response)
        return MHD_NO;
    const sk_reply *r = &x->reply;
    (void)sk_mhd.MHD_add_response_header(response, "Content-Type", r->type ? r->type : "text/plain");
    (void)sk_mhd.MHD_add_response_header(response, "Cache-Control", r->lasting ? "no-cache" : "no-store");
    (void)sk_mhd.MHD_add_response_header(response, "Content-Security-Policy", sk_routes_policy(r));
    for (const char *const *h = sk_routes_headers(); h[0]; h += 2)
        (void)sk_mhd.MHD_add_response_header(response, h[0], h[1]);
    for (int32_t i = 0; i < r->n_headers; i++)
        (void)sk_mhd.MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
    const enum MHD_Result result =
        sk_mhd.MHD_queue_response(x->connection, (unsigned)(r->code ? r->code : 200), response);
    sk_mhd.MHD_destroy_response(response);
    return result;
}

/* --- requests --- */

static const char *header(const exchange *x, const char *name)
{
    return sk_mhd.MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static void say_no(exchange *x, int code, sk_status status, const char *text)
{
    sk_error error = {.code = status};
    snprintf(error.message, sizeof error.message, "%s", text);
    x->reply.code = code;
    sk_reply_error(&x->reply, &error);
}

static enum MHD_Result refuse(exchange *x, int code, sk_status status, const char *text)
{
    say_no(x, code, status, text);
    return send_reply(x);
}

/* Headers that say who asks and where the request ends: twice, or both lengths at once, they say two things, and what stands
 * between a browser and this server may have believed the other. */
typedef struct said {
    int host, origin, authorization, length, encoding;
} said;

static enum MHD_Result count_said(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    said *s = context;
    (void)kind, (void)value;
    s->host += strcasecmp(name, "Host") == 0;
    s->origin += strcasecmp(name, "Origin") == 0;
    s->authorization += strcasecmp(name, "Authorization") == 0;
    s->length += strcasecmp(name, "Content-Length") == 0;
    s->encoding += strcasecmp(name, "Transfer-Encoding") == 0;
    return MHD_YES;
}

static bool says_two_things(const exchange *x)
{
    said s = {0};
    (void)sk_mhd.MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count_said, &s);
    return s.host > 1 || s.origin > 1 || s.authorization > 1 || s.length + s.encoding > 1;
}

/* The headers are there: may it ask, and is what follows bearable? *go: it may. */
static enum MHD_Result look(exchange *x, const char *method, bool *go)
{
    sk_request *r = &x->request;
    sk_error error = {0};
    *go = false;
    if (!x->target)
        return MHD_NO;
    if (!sk_method_find(method, &r->method))
        return refuse(x, 405, SK_ERR_ARG, "this method is not known here");
    if (says_two_things(x))
        return refuse(x, 400, SK_ERR_ARG, "a header of this request is there twice, or contradicts another");
    sk_status status = sk_request_target(r, x->target, &error);
    if (status != SK_OK)
        return refuse(x, status == SK_ERR_LIMIT ? 414 : 0, status, error.message);
    r->headers = (sk_request_headers){
        .host = header(x, "Host"),
        .origin = header(x, "Origin"),
        .authorization = header(x, "Authorization"),
        .cookie = header(x, "Cookie"),
        .fetch_site = header(x, "Sec-Fetch-Site"),
        .custom = header(x, SK_AUTH_HEADER),
        .content_type = header(x, "Content-Type"),
        .known_tag = header(x, "If-None-Match"),
        .last_event = header(x, "Last-Event-ID"),
    };
    if (!sk_routes_admit(x->listener->server, r, &x->reply))
        return send_reply(x);
    const char *length = header(x, "Content-Length");
    if (length && strtoull(length, NULL, 10) > SK_REQUEST_BODY)
        return refuse(x, 413, SK_ERR_LIMIT, "the request's body is longer than 1 MB");
    *go = true;
    return MHD_YES;
}

static void work(void *context)
{
    exchange *x = context;
    sk_routes_serve(x->listener->server, &x->request, &x->reply);
    atomic_store(&x->stage, STAGE_READY);
    sk_mhd.MHD_resume_connection(x->connection);
}

static enum MHD_Result take_body(exchange *x, const char *upload, size_t *bytes)
{
    const bool late = sk_clock_ns() - x->begun_ns > (int64_t)BODY_SECONDS * 1000000000;
    if (!x->too_long)
        sk_text_append_bytes(&x->body, upload, *bytes);
    x->too_long = x->body.failed != SK_OK;
    *bytes = 0;
    /* what is too long is not read to its end */
    return late || x->too_long ? MHD_NO : MHD_YES;
}

enum MHD_Result sk_exchange_handle(void *listener, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_bytes, void **pointer)
{
    exchange *x = *pointer;
    bool go = false;
    (void)listener, (void)connection, (void)url, (void)version;
    if (!x)
        return MHD_NO;
    switch ((stage)atomic_load(&x->stage)) {
    case STAGE_NEW: {
        const enum MHD_Result result = look(x, method, &go);
        atomic_store(&x->stage, go ? STAGE_BODY : STAGE_READY);
        return result;
    }
    case STAGE_BODY:
        if (*upload_bytes > 0)
            return take_body(x, upload, upload_bytes);
        x->request.body = sk_text_get(&x->body);
        x->request.body_length = x->body.length;
        atomic_store(&x->stage, STAGE_WORK);
        sk_mhd.MHD_suspend_connection(x->connection);
        if (!sk_workers_give(x->listener->workers, work, x)) {
            say_no(x, 503, SK_ERR_BUSY, "too much is asked at once\ntry again in a moment");
            atomic_store(&x->stage, STAGE_READY);
            sk_mhd.MHD_resume_connection(x->connection);
        }
        return MHD_YES;
    case STAGE_READY: return send_reply(x);
    case STAGE_WORK: break;
    }
    return MHD_YES;
}
