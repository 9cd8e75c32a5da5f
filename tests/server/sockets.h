/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SERVER_SOCKETS_H
#define SK_TESTS_SERVER_SOCKETS_H

/* A server with a socket, in this process, and clients of any manners. */
#include "support/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "cli/serve_door.h"
#include "server/inside.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_server *served;
static int port;
static char token[SK_AUTH_TOKEN], root[1024];

static inline int open_served(void **state)
{
    sk_error err = {0};
    char path[1024];
    (void)state;
    snprintf(path, sizeof path, "%s/config", test_folder());
    setenv("SKITTER_CONFIG_DIR", path, 1);
    snprintf(path, sizeof path, "%s/cache", test_folder());
    setenv("SKITTER_CACHE_DIR", path, 1);
    snprintf(root, sizeof root, "%s/root", test_folder());
    mkdir(root, 0700);
    snprintf(path, sizeof path, "%s/outside", test_folder());
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/state", test_folder());
    const char *folders[] = {root};
    const sk_server_settings s = {.folders = folders,
                                  .n_folders = 1,
                                  .state = path,
                                  .doors = &sk_cli_serve_doors,
                                  .program = getenv("SKITTER_TEST_BINARY")};
    const sk_status status = sk_server_open(&s, &served, &err);
    /* where the library is, it is used */
    void *library = dlopen("libmicrohttpd.so.12", RTLD_LAZY | RTLD_LOCAL);
    const bool possible = library && !strstr(err.message, "was built without libmicrohttpd");
    if (library)
        dlclose(library);
    if (status == SK_ERR_UNSUPPORTED && !possible) {
        print_message("skipped: %s\n", err.message);
        exit(77);
    }
    assert_ok(status, &err);
    port = sk_listener_port(served->listener);
    memcpy(token, served->auth.token, sizeof token);
    return 0;
}

static inline int close_served(void **state)
{
    (void)state;
    sk_server_close(&served);
    return 0;
}

/* A connection; -1: refused. */
static inline int dial(void)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static inline bool say(int fd, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        const ssize_t n = send(fd, bytes + at, length - at, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* Is it an answer with all that its length promises? */
static inline bool is_whole(const char *answer, size_t n)
{
    const char *length = strcasestr(answer, "\r\nContent-Length: "), *body = strstr(answer, "\r\n\r\n");
    return length && body && length < body &&
           (size_t)(answer + n - body - 4) >= (size_t)strtoul(length + 18, NULL, 10);
}

/* What comes until the end of an answer or the connection, or the limit, with a zero behind it; its length. */
static inline size_t hear(int fd, char *buffer, size_t capacity, int limit_ms)
{
    size_t n = 0;
    const int64_t until = sk_clock_ns() + (int64_t)limit_ms * 1000000;
    while (n + 1 < capacity) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        const int64_t left = (until - sk_clock_ns()) / 1000000;
        if (left <= 0 || poll(&polled, 1, (int)left) <= 0)
            break;
        const ssize_t got = recv(fd, buffer + n, capacity - 1 - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
        buffer[n] = '\0';
        if (is_whole(buffer, n))
            break;
    }
    buffer[n] = '\0';
    return n;
}

/* One request, its bytes as they are; the status of the answer, 0 where the connection was closed without one. `ends`: nothing
 * more is said, so that what is no request is known for one at once. */
static inline int exchange(const char *bytes, size_t length, bool ends, char *answer, size_t capacity,
                           int limit_ms)
{
    int code = 0;
    const int fd = dial();
    if (fd < 0)
        return -1;
    (void)say(fd, bytes, length);
    if (ends)
        (void)shutdown(fd, SHUT_WR);
    (void)hear(fd, answer, capacity, limit_ms);
    close(fd);
    return sscanf(answer, "HTTP/1.%*d %d", &code) == 1 ? code : 0; /* NOLINT(cert-err34-c) */
}

/* A proper request with the token; `more` are headers. */
static inline int ask_well(const char *method, const char *target, const char *more, const char *body,
                           char *answer, size_t capacity)
{
    char text[8192];
    snprintf(text, sizeof text,
             "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nConnection: "
             "close\r\nContent-Length: "
             "%zu\r\n%s\r\n%s",
             method, target, port, token, strlen(body), more, body);
    return exchange(text, strlen(text), false, answer, capacity, 10000);
}

/* Is it still there, and as it should be? */
static inline void assert_alive(void)
{
    char answer[8192];
    const int code = ask_well("GET", "/api/v1/about", "", "", answer, sizeof answer);
    if (code != 200)
        fail_msg("the server answers %d: %.300s", code, answer);
}

#endif
