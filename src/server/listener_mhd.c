/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exchange_mhd.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/object.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS            8
#define WAITING_MOST       256
#define CONNECTION_SECONDS 20u
#define CONNECTION_BYTES   ((size_t)40 << 10)    /* headers, and what is sent at once */
#define FAREWELL_NS        ((int64_t)3000000000) /* for clients that read slowly */

/* One that hands in its connections or is asked to: a socket of ours, so that the port is known before a request comes. */
static sk_status listen_at(const char *host, int32_t port, int *out, int32_t *got, sk_error *err)
{
    struct addrinfo wish = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char number[16];
    snprintf(number, sizeof number, "%d", port);
    const int code = getaddrinfo(host, number, &wish, &found);
    if (code != 0)
        return sk_fail(err, SK_ERR_ARG, "--host %s: %s", host, gai_strerror(code));
    const int one = 1;
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    sk_status status = SK_OK;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 256) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0)
        status =
            sk_fail(err, errno == EADDRINUSE ? SK_ERR_BUSY : SK_ERR_IO, "%s, port %d: %s%s", host, port,
                    strerror(errno), errno == EADDRINUSE ? "\ntake another: --port 0 finds a free one" : "");
    freeaddrinfo(found);
    if (status != SK_OK) {
        if (fd >= 0)
            close(fd);
        return status;
    }
    char name[NI_MAXSERV] = "0";
    (void)getnameinfo((struct sockaddr *)&at, length, NULL, 0, name, sizeof name, NI_NUMERICSERV);
    *got = (int32_t)strtol(name, NULL, 10);
    *out = fd;
    return SK_OK;
}

/* Room for connections that do nothing: a thousand of them must not keep anybody else out. */
static unsigned raise_descriptors(void)
{
    struct rlimit limit;
    const rlim_t want = SK_CONNECTIONS_MOST + SK_DESCRIPTORS_BESIDES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return sk_server_connections(0);
    if (limit.rlim_cur < want) {
        limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    return sk_server_connections(limit.rlim_cur);
}

static void say_nothing(void *context, const char *format, va_list args)
{
    (void)context, (void)format, (void)args;
}

/* Addresses are taken apart by ourselves. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

static sk_status start(sk_listener *l, const char *certificate, const char *key, sk_error *err)
{
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                           (key ? MHD_USE_TLS : 0);
    struct MHD_OptionItem more[] = {
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)raise_descriptors(), NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)CONNECTION_BYTES, NULL},
        {MHD_OPTION_LISTEN_SOCKET, l->socket, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {key ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, (void *)(uintptr_t)key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)certificate},
        {MHD_OPTION_END, 0, NULL}};
    l->daemon = sk_mhd.MHD_start_daemon(
        flags, 0, NULL, NULL, sk_exchange_handle, l, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, sk_exchange_begin, l, MHD_OPTION_NOTIFY_COMPLETED, sk_exchange_end, l,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
    if (l->daemon)
        return SK_OK;
    return sk_fail(err, SK_ERR_RUNTIME, "libmicrohttpd could not be started%s",
                   key ? "\nare --certificate and --key PEM files that belong together?" : "");
}

sk_status sk_listener_open(sk_server *server, const sk_server_settings *s, sk_listener **out, sk_error *err)
{
    sk_status status;
    char *certificate = NULL, *key = NULL;
    size_t bytes;
    *out = NULL;
    SK_TRY(sk_mhd_load(err));
    sk_listener *l = sk_calloc(1, sizeof *l);
    if (!l)
        return sk_fail_memory(err, sizeof *l);
    l->server = server;
    l->socket = -1;
    if (s->key) {
        SK_TRY_GOTO(sk_file_read(s->certificate, 1 << 20, &certificate, &bytes, err));
        SK_TRY_GOTO(sk_file_read(s->key, 1 << 20, &key, &bytes, err));
    }
    SK_TRY_GOTO(sk_workers_open(THREADS, WAITING_MOST, &l->workers, err));
    SK_TRY_GOTO(listen_at(server->auth.host, s->port, &l->socket, &l->port, err));
    sk_auth_set_port(&server->auth, l->port);
    status = start(l, certificate, key, err);
done:
    sk_free_all(certificate, key); /* GnuTLS has its own copies */
    return SK_HAND_OVER(status, l, out, sk_listener_close);
}

int32_t sk_listener_port(const sk_listener *listener)
{
    return listener->port;
}

void sk_listener_close(sk_listener **pointer)
{
    SK_TAKE_OR_RETURN(l, pointer);
    if (l->daemon) {
        const MHD_socket left = sk_mhd.MHD_quiesce_daemon(l->daemon);
        if (left != MHD_INVALID_SOCKET)
            close(left);
        sk_events_end(l->server->events); /* streams come to their end */
    }
    sk_workers_close(&l->workers); /* what was taken is answered, and its connection resumed */
    const int64_t until = sk_clock_ns() + FAREWELL_NS;
    while (l->daemon && atomic_load(&l->open) > 0 && sk_clock_ns() < until)
        sk_clock_sleep_ns(5000000); /* … and sent */
    if (l->daemon)
        sk_mhd.MHD_stop_daemon(l->daemon);
    else if (l->socket >= 0)
        close(l->socket);
    sk_free(l);
}
