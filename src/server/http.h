/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_HTTP_H
#define SK_SERVER_HTTP_H

#include "base/json_write.h"
#include "base/memory.h"
#include "formats/config.h"

/* Requests and replies as routes see them: taken apart, checked, and without a socket behind them. */

typedef enum sk_method { SK_METHOD_GET = 1, SK_METHOD_POST, SK_METHOD_PUT, SK_METHOD_DELETE } sk_method;

const char *sk_method_name(sk_method method);          /* "GET" */
bool sk_method_find(const char *name, sk_method *out); /* HEAD is GET without its body */

#define SK_REQUEST_FIELDS 64
#define SK_REQUEST_TARGET 16384             /* bytes of path and query */
#define SK_REQUEST_BODY   ((size_t)1 << 20) /* bytes of a body */
#define SK_ROUTE_PARTS    2

typedef struct sk_request_field {
    const char *name, *value;
} sk_request_field;

/* Headers that we look at; null: not there. */
typedef struct sk_request_headers {
    const char *host, *origin, *authorization, *cookie, *fetch_site, *custom, *content_type, *known_tag,
        *last_event;
} sk_request_headers;

typedef struct sk_request {
    sk_method method;
    const char *path; /* decoded: UTF-8 without control characters, "." and ".." */
    int32_t n_query;
    sk_request_field query[SK_REQUEST_FIELDS];
    sk_request_headers headers; /* borrowed */
    const char *body;           /* borrowed */
    size_t body_length;
    const char *part[SK_ROUTE_PARTS]; /* what stands where the route has {…} */
    char *memory, *part_memory;       /* of the texts above */
} sk_request;

/* Takes the request's target ("/api/v1/files?path=%2Fdata") apart. SK_ERR_ARG says what is wrong with it, SK_ERR_LIMIT
 * that it is too long. *request begins as {0} and is ended by sk_request_free. */
sk_status sk_request_target(sk_request *request, const char *target, sk_error *err) SK_MUST_CHECK;
void sk_request_free(sk_request *request);

/* A field of the query; null: it is not there. Of several the first. */
const char *sk_request_query(const sk_request *request, const char *name);
/* A whole number of the query within the bounds; `fallback` where there is none. */
sk_status sk_request_query_int(const sk_request *request, const char *name, int64_t least, int64_t most,
                               int64_t fallback, int64_t *out, sk_error *err) SK_MUST_CHECK;
/* The body as a JSON object; the caller closes *out. No body is an empty object. */
sk_status sk_request_json(const sk_request *request, sk_config **out, sk_error *err) SK_MUST_CHECK;
/* The value of this cookie, of the given length, in a Cookie header; null: none. */
const char *sk_request_cookie(const char *header, const char *name, size_t *length);

typedef struct sk_reply_header {
    const char *name; /* borrowed for ever */
    char value[256];
} sk_reply_header;

#define SK_REPLY_HEADERS 6

/* What is answered: one of text, blob, bytes, file, or a stream. Begins by sk_reply_init. */
typedef struct sk_reply {
    int code;         /* HTTP's; 0: 200, or what the failure's status means */
    const char *type; /* "application/json" */
    sk_text text;
    sk_blob *blob;
    const void *bytes; /* constant for ever */
    size_t n_bytes;
    int file; /* -1: none; closed with the reply */
    int64_t file_bytes;
    bool stream;        /* the server's events follow, for as long as the client listens */
    bool lasting;       /* may be kept by the browser, and asked for again by its tag */
    const char *policy; /* Content-Security-Policy; null: the usual one. Borrowed for ever */
    int32_t n_headers;
    sk_reply_header headers[SK_REPLY_HEADERS];
} sk_reply;

void sk_reply_init(sk_reply *reply);
void sk_reply_free(sk_reply *reply);
void sk_reply_header_add(sk_reply *reply, const char *name, const char *value);
/* The writer of a JSON reply; end it with sk_json_end. */
sk_json sk_reply_json(sk_reply *reply);
/* {"error": {"message", "hint"}} with the code that the status means where the reply has none. */
void sk_reply_error(sk_reply *reply, const sk_error *error);
int sk_reply_code_of(sk_status status);

#endif
