/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_INSIDE_H
#define SK_SERVER_INSIDE_H

#include "base/lock.h"
#include "server/auth.h"
#include "server/events.h"
#include "server/probes.h"
#include "server/rate.h"
#include "server/roots.h"
#include "server/server.h"

#include <stdatomic.h>

/* Inside server/: what routes share. */

typedef struct sk_listener sk_listener;
typedef struct sk_runs sk_runs;
typedef struct sk_views sk_views;
typedef struct sk_pictures sk_pictures;

struct sk_server {
    sk_auth auth;
    sk_roots roots;
    sk_probes probes;
    sk_rate rate;
    sk_events *events;
    sk_server_doors doors;
    sk_lock *state_lock; /* the folder is one server's at a time */
    char *state;         /* folder */
    sk_runs *runs;
    sk_views *views;
    sk_pictures *pictures;
    pthread_mutex_t testing;     /* one test on a frame at a time … */
    _Atomic int64_t testing_pid; /* … by this process: no run that anybody need know of; 0: none */
    sk_listener *listener;       /* null: none, in tests of routes */
    char link[512], notice[512];
};

/* A server without a socket: all that routes need. */
sk_status sk_server_prepare(const sk_server_settings *settings, sk_server **out, sk_error *err) SK_MUST_CHECK;

/* So many connections there is room for with so many descriptors: half of them, unless there are plenty. */
#define SK_CONNECTIONS_MOST    2048
#define SK_CONNECTIONS_LEAST   128
#define SK_DESCRIPTORS_BESIDES 512
unsigned sk_server_connections(uint64_t descriptors);

/* The socket and its threads (listener_mhd.c). *port is what was got. */
sk_status sk_listener_open(sk_server *server, const sk_server_settings *settings, sk_listener **out,
                           sk_error *err) SK_MUST_CHECK;
int32_t sk_listener_port(const sk_listener *listener);
void sk_listener_close(sk_listener **listener);

#endif
