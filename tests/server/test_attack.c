/* SPDX-License-Identifier: Apache-2.0 */
/* The server under attack, over real sockets: what is no HTTP, what is too long, too slow, too much, and who may not ask. It
 * refuses, stays alive, and touches nothing outside its folders. SKITTER_ATTACK_SECONDS makes the random part last longer. */
#include "server/sockets.h"

#include <sys/resource.h>

static char answer[1 << 16];

static int raw(const char *text)
{
    return exchange(text, strlen(text), true, answer, sizeof answer, 400);
}

static void test_what_is_no_http(void **state)
{
    (void)state;
    static const char *const all[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "get / http/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        "GET / HTTP/1.1\r\n: empty\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\x01: x\r\n\r\n",
        "POST /api/v1/runs HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nabcde",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
        "CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /..%5c..%5cx HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\rHost: x\r\r",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "SSH-2.0-OpenSSH_9\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int code = raw(all[i]);
        if (code == 200 || code == 303 || code < 0)
            fail_msg("%s: %d", all[i], code);
        assert_null(strstr(answer, "root:"));
    }
    assert_alive();
}

/* What a server in between may have understood otherwise: with a good token, and yet refused, and nothing behind it answered. */
static void test_requests_that_say_two_things(void **state)
{
    (void)state;
    static const char *const all[] = {
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
        "Host: evil.example\r\nContent-Length: 2\r\n\r\n{}",
        "Authorization: Bearer x\r\nContent-Length: 2\r\n\r\n{}",
        "Origin: http://evil.example\r\nOrigin: null\r\nContent-Length: 2\r\n\r\n{}"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "POST /api/v1/recent HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n%s"
                 "GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                 port, token, all[i], port, token);
        assert_int_equal(exchange(text, strlen(text), false, answer, sizeof answer, 300), 400);
        if (!strstr(answer, "there twice") || strstr(answer, "200 OK"))
            fail_msg("%s: %s", all[i], answer);
    }
    assert_alive();
}

static void test_what_is_too_long(void **state)
{
    (void)state;
    const size_t n = 3 << 20;
    char *text = sk_malloc(n + 1024);
    assert_non_null(text);
    /* a header, a target, a body with a length, a body in pieces */
    int at = snprintf(text, 256, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: ", port);
    memset(text + at, 'a', n);
    assert_int_not_equal(exchange(text, (size_t)at + n, true, answer, sizeof answer, 3000), 200);
    at = snprintf(text, 256, "GET /");
    memset(text + at, 'a', n);
    assert_int_not_equal(exchange(text, (size_t)at + n, true, answer, sizeof answer, 3000), 200);
    at = snprintf(text, 512,
                  "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer "
                  "%s\r\nContent-Length: %zu\r\n\r\n",
                  port, token, n);
    assert_int_equal(exchange(text, (size_t)at, true, answer, sizeof answer, 3000), 413);
    at = snprintf(text, 512,
                  "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer "
                  "%s\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
                  port, token, n);
    memset(text + at, ' ', n);
    assert_int_not_equal(exchange(text, (size_t)at + n, true, answer, sizeof answer, 3000), 200);
    sk_free(text);
    char target[SK_REQUEST_TARGET + 64];
    memset(target, 'a', sizeof target);
    target[0] = '/';
    target[SK_REQUEST_TARGET + 10] = '\0';
    char *request = sk_malloc(2 * sizeof target);
    at = snprintf(request, 2 * sizeof target,
                  "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n", target, port,
                  token);
    assert_int_equal(exchange(request, (size_t)at, true, answer, sizeof answer, 3000), 414);
    sk_free(request);
    assert_alive();
}

/* By the same rules as without a socket (test_routes.c), and with every header that protects a page. */
static void test_who_may_not_ask(void **state)
{
    (void)state;
    char text[1024];
    static const char *const heads[] = {"Content-Security-Policy: default-src 'none'",
                                        "X-Content-Type-Options: nosniff",
                                        "X-Frame-Options: DENY",
                                        "Referrer-Policy: no-referrer",
                                        "Cross-Origin-Resource-Policy: same-origin",
                                        "Cache-Control: no-store"};
    snprintf(text, sizeof text, "GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", port);
    assert_int_equal(raw(text), 401);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (!strstr(answer, heads[i]))
            fail_msg("%s is missing: %s", heads[i], answer);
    snprintf(text, sizeof text,
             "GET /api/v1/about HTTP/1.1\r\nHost: evil.example:%d\r\nAuthorization: Bearer %s\r\n\r\n", port,
             token);
    assert_int_equal(raw(text), 421);
    snprintf(text, sizeof text, "GET /api/v1/about HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n", token);
    assert_int_not_equal(raw(text), 200);
    snprintf(text, sizeof text,
             "GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://evil.example\r\nCookie: "
             "skitter_%d=%s\r\n\r\n",
             port, port, token);
    assert_int_equal(raw(text), 403);
    snprintf(text, sizeof text,
             "POST /api/v1/runtime/reset HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: "
             "skitter_%d=%s\r\nContent-Length: 2\r\n\r\n{}",
             port, port, token);
    assert_int_equal(raw(text), 403);
    assert_int_equal(ask_well("GET", "/api/v1/files?path=..%2f..%2f..%2fetc", "", "", answer, sizeof answer),
                     403);
    assert_int_equal(ask_well("GET", "/api/v1/files?path=%252e%252e%252fetc", "", "", answer, sizeof answer),
                     404);
    snprintf(text, sizeof text, "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", token, port);
    assert_int_equal(raw(text), 303);
    assert_non_null(strstr(answer, "HttpOnly; SameSite=Strict"));
    assert_null(strstr(answer, "Location: /?"));
    assert_alive();
}

/* A thousand that do nothing keep nobody out. */
static void test_a_thousand_idle_connections(void **state)
{
    (void)state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    const int most = limit.rlim_cur >= 2600 ? 1000 : (int)limit.rlim_cur / 3;
    int *idle = sk_calloc((size_t)most, sizeof *idle);
    assert_non_null(idle);
    for (int i = 0; i < most; i++) {
        idle[i] = dial();
        if (i % 3 == 0 && idle[i] >= 0)
            (void)say(idle[i], "GET / HT", 8); /* some begin and stop */
    }
    const int64_t begin = sk_clock_ns();
    assert_alive();
    assert_true(sk_clock_ns() - begin < (int64_t)5000000000);
    for (int i = 0; i < most; i++)
        if (idle[i] >= 0)
            close(idle[i]);
    sk_free(idle);
    assert_alive();
}

/* Bytes that drip in, and answers that nobody reads. */
static void test_slow_clients(void **state)
{
    (void)state;
    int drip[32], deaf[32];
    char text[512];
    const int n = snprintf(text, sizeof text,
                           "GET /api/v1/settings?command=track HTTP/1.1\r\nHost: "
                           "127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                           port, token);
    for (int i = 0; i < 32; i++) {
        const int small = 1024;
        drip[i] = dial();
        deaf[i] = dial();
        (void)setsockopt(deaf[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        for (int k = 0; k < 8; k++)
            (void)say(deaf[i], text, (size_t)n);
    }
    for (int k = 0; k < 40; k++)
        for (int i = 0; i < 32; i++)
            (void)say(drip[i], text + k, 1);
    assert_alive();
    for (int i = 0; i < 32; i++) {
        close(drip[i]);
        close(deaf[i]);
    }
    assert_alive();
}

/* Proper requests with bytes changed, cut, doubled: whatever comes of them. */
static void test_random_requests(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "GET /api/v1/files?path=/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a=b; c=d\r\nAccept: */*\r\n\r\n",
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        "15\r\n\r\n{\"command\":\"x\"}",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        "chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"};
    const char *wish = getenv("SKITTER_ATTACK_SECONDS");
    const int64_t until = sk_clock_ns() + (int64_t)((wish ? strtod(wish, NULL) : 1.0) * 1e9);
    uint64_t x = 88172645463325252u;
    while (sk_clock_ns() < until) {
        char text[2048];
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        size_t n = strlen(strcpy(text, seeds[x % 3])); /* NOLINT: they are short */
        for (uint64_t k = 0; k < 1 + (x >> 8) % 6; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            const size_t at = (x >> 3) % n;
            switch ((x >> 32) % 4) {
            case 0: text[at] = (char)(x >> 40); break;
            case 1: n = at + 1; break;
            case 2:
                if (2 * n < sizeof text) {
                    memmove(text + n, text + at, n - at);
                    n += n - at;
                }
                break;
            default: text[at] = "\r\n :%?\0/"[(x >> 40) % 8]; break;
            }
        }
        const int code = exchange(text, n, true, answer, sizeof answer, 300);
        if (code == 200 || code < 0)
            fail_msg("%.*s: %d", (int)n, text, code);
    }
    assert_alive();
}

static void test_listeners(void **state)
{
    (void)state;
    char text[512];
    int all[260], refused = 0;
    const int n = snprintf(
        text, sizeof text,
        "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n", port, token);
    for (int i = 0; i < 260; i++) {
        all[i] = dial();
        assert_true(all[i] >= 0 && say(all[i], text, (size_t)n));
    }
    sk_clock_sleep_ns(200000000);
    sk_events_tell(served->events, "run", "{\"id\":\"1\"}");
    for (int i = 0; i < 260; i++) {
        (void)hear(all[i], answer, 2048, i < 2 ? 500 : 5);
        refused += strstr(answer, " 409 ") != NULL;
        if (i == 0)
            assert_non_null(strstr(answer, "event: run\ndata: {\"id\":\"1\"}"));
        close(all[i]);
    }
    assert_true(refused >= 4);
    /* one that comes back gets what it missed */
    sk_events_tell(served->events, "log", "{\"id\":\"2\"}");
    snprintf(text, sizeof text,
             "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer "
             "%s\r\nLast-Event-ID: 1\r\n\r\n",
             port, token);
    int fd = -1;
    for (int i = 0; i < 200;
         i++) { /* the places of those that left are free when they are next told something */
        fd = dial();
        (void)say(fd, text, strlen(text));
        (void)hear(fd, answer, 2048, 200);
        close(fd);
        if (strstr(answer, "data: {\"id\":\"2\"}"))
            break;
        sk_events_ping(served->events);
    }
    assert_non_null(strstr(answer, "data: {\"id\":\"2\"}"));
    assert_alive();
}

/* Those under way are answered, streams end, the port is free. */
static void test_a_graceful_end(void **state)
{
    (void)state;
    char text[512];
    const int stream = dial(), idle = dial(), asked = dial();
    int n = snprintf(text, sizeof text,
                     "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                     port, token);
    assert_true(say(stream, text, (size_t)n));
    n = snprintf(
        text, sizeof text,
        "GET /api/v1/doctor?fresh=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n", port,
        token);
    assert_true(say(asked, text, (size_t)n));
    sk_clock_sleep_ns(150000000);
    const int64_t begin = sk_clock_ns();
    sk_server_close(&served);
    assert_true(sk_clock_ns() - begin < (int64_t)30000000000);
    (void)hear(asked, answer, sizeof answer, 2000);
    assert_non_null(strstr(answer, "200 OK"));
    assert_non_null(strstr(answer, "\"runtimes\""));
    (void)hear(stream, answer, sizeof answer, 2000);
    assert_non_null(strstr(answer, "text/event-stream"));
    assert_int_equal(recv(stream, text, 1, 0), 0);
    assert_int_equal(dial(), -1);
    close(stream);
    close(idle);
    close(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_http),
        cmocka_unit_test(test_requests_that_say_two_things),
        cmocka_unit_test(test_what_is_too_long),
        cmocka_unit_test(test_who_may_not_ask),
        cmocka_unit_test(test_a_thousand_idle_connections),
        cmocka_unit_test(test_slow_clients),
        cmocka_unit_test(test_random_requests),
        cmocka_unit_test(test_listeners),
        cmocka_unit_test(test_a_graceful_end),
    };
    return cmocka_run_group_tests(tests, open_served, close_served);
}
