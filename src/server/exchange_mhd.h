/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_EXCHANGE_MHD_H
#define SK_SERVER_EXCHANGE_MHD_H

#include "server/events.h"
#include "server/inside.h"
#include "server/library_mhd.h"
#include "server/workers.h"

/* Inside server/: one request and its reply, between libmicrohttpd and the routes. libmicrohttpd has one thread, which reads
 * and writes; while a worker answers, the connection is suspended. */

struct sk_listener {
    sk_server *server;
    sk_workers *workers;
    struct MHD_Daemon *daemon;
    int socket;
    int32_t port;
    atomic_int open; /* requests that came and are not yet answered to the last byte */
};

void *sk_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection);
enum MHD_Result sk_exchange_handle(void *listener, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_bytes, void **exchange);
void sk_exchange_end(void *listener, struct MHD_Connection *connection, void **exchange,
                     enum MHD_RequestTerminationCode why);

#endif
