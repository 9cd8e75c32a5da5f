/* SPDX-License-Identifier: Apache-2.0 */
/* Connections over sockets: how many there is room for, that each is forgotten when it is answered, and what is said when more is
 * asked than can be answered. */
#include "server/sockets.h"

#include "server/runs_inside.h"
#if __has_include(<microhttpd.h>)
#include "server/exchange_mhd.h"
#define KNOWS_LISTENERS
#endif

static char answer[1 << 16];

static void half_of_the_descriptors(void **state)
{
    (void)state;
    static const struct {
        uint64_t descriptors;
        unsigned connections;
    } cases[] = {{0, 128},    {255, 128},   {256, 128},   {257, 128},   {258, 129},        {260, 130},
                 {1024, 512}, {2559, 1279}, {2560, 2048}, {2561, 2048}, {UINT64_MAX, 2048}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sk_server_connections(cases[i].descriptors), cases[i].connections);
}

static void answered_is_forgotten(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target;
        int code;
    } cases[] = {{"GET", "/", 200},           {"GET", "/api/v1/about", 200}, {"PATCH", "/", 405},
                 {"GET", "/api/v1/no", 404},  {"GET", "/../x", 400},         {"DELETE", "/api/v1/about", 405},
                 {"GET", "/api/v1/runs", 200}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int code = ask_well(cases[i].method, cases[i].target, "", "", answer, sizeof answer);
        if (code != cases[i].code)
            fail_msg("%s %s: %d", cases[i].method, cases[i].target, code);
    }
    const int gone = dial(); /* one that never says anything */
    close(gone);
#ifdef KNOWS_LISTENERS
    for (int i = 0; i < 1000 && atomic_load(&served->listener->open) > 0; i++)
        sk_clock_sleep_ns(10000000);
    assert_int_equal(atomic_load(&served->listener->open), 0);
#endif
}

/* Eight are answered at once, 256 wait; whoever comes then is told so, at once, and all others are answered in the end. */
static void more_than_can_be_answered(void **state)
{
    (void)state;
    enum { ALL = 300, AT_ONCE = 8, WAITING = 256 };
    static int all[ALL];
    static char replies[ALL][2048];
    char text[512];
    int refused = 0, answered = 0;
    const int n =
        snprintf(text, sizeof text,
                 "GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nConnection: "
                 "close\r\n\r\n",
                 port, token);
    pthread_mutex_lock(&served->runs->lock); /* what is asked for cannot be told meanwhile */
    for (int i = 0; i < ALL; i++) {
        all[i] = dial();
        assert_true(all[i] >= 0 && say(all[i], text, (size_t)n));
        if (i + 1 == AT_ONCE)
            sk_clock_sleep_ns(100000000); /* they are taken */
    }
    for (int round = 0; round < 500 && refused < ALL - AT_ONCE - WAITING; round++)
        for (int i = 0; i < ALL; i++) {
            struct pollfd polled = {.fd = all[i], .events = POLLIN};
            if (replies[i][0] || poll(&polled, 1, i ? 0 : 10) <= 0)
                continue;
            (void)hear(all[i], replies[i], sizeof replies[i], 5000);
            refused++;
        }
    pthread_mutex_unlock(&served->runs->lock);
    assert_in_range(refused, ALL - AT_ONCE - WAITING, ALL - WAITING);
    for (int i = 0; i < ALL; i++) {
        if (!replies[i][0]) {
            (void)hear(all[i], answer, sizeof answer, 10000);
            answered += strstr(answer, "HTTP/1.1 200 ") && strstr(answer, "\r\n\r\n{\"runs\":[]}");
        } else {
            assert_non_null(strstr(replies[i], "HTTP/1.1 503 "));
            assert_non_null(strstr(replies[i], "\r\n\r\n{\"error\":{\"message\":\"too much is asked at "
                                               "once\",\"hint\":\"try again in a moment\"}}"));
        }
        close(all[i]);
    }
    assert_int_equal(answered, ALL - refused);
    assert_alive();
}

/* More than is sent at once comes in its order, whole. */
static void many_events(void **state)
{
    (void)state;
    enum { EVENTS = 150 };
    static char all[1 << 18], event[1024];
    char filler[500], text[512];
    size_t length = 0;
    memset(filler, 'x', sizeof filler);
    filler[sizeof filler - 1] = '\0';
    const int n = snprintf(text, sizeof text,
                           "GET /api/v1/events HTTP/1.0\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer "
                           "%s\r\n\r\n",
                           port, token);
    const int fd = dial();
    assert_true(say(fd, text, (size_t)n));
    length = hear(fd, all, sizeof all, 300); /* it listens */
    assert_non_null(strstr(all, "\r\n\r\n: here\n\n"));
    for (int i = 0; i < EVENTS; i++) {
        snprintf(event, sizeof event, "{\"n\":%d,\"x\":\"%s\"}", i, filler);
        sk_events_tell(served->events, "many", event);
    }
    snprintf(event, sizeof event, "{\"n\":%d,", EVENTS - 1);
    for (int i = 0; i < 200 && !strstr(all, event); i++)
        length += hear(fd, all + length, sizeof all - length, 50);
    sk_clock_sleep_ns(20000000);
    length += hear(fd, all + length, sizeof all - length, 100);
    close(fd);
    const char *at = strstr(all, "id: ");
    for (int i = 0; i < EVENTS; i++) {
        const char *begin = strstr(at, "event: many\n"); /* others may tell something, too */
        snprintf(event, sizeof event, "event: many\ndata: {\"n\":%d,\"x\":\"%s\"}\n\n", i, filler);
        assert_non_null(begin);
        assert_memory_equal(begin, event, strlen(event));
        at = begin + strlen(event);
    }
    assert_null(strstr(at, "event: many"));
}

/* The longest address that is looked at, and one byte more. */
static void the_longest_address(void **state)
{
    (void)state;
    static char target[SK_REQUEST_TARGET + 2], text[SK_REQUEST_TARGET + 1024];
    static const char begin[] = "/api/v1/files?path=";
    for (size_t more = 0; more < 2; more++) {
        memset(target, 'a', SK_REQUEST_TARGET + more);
        target[SK_REQUEST_TARGET + more] = '\0';
        memcpy(target, begin, sizeof begin - 1);
        const int n = snprintf(text, sizeof text,
                               "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer "
                               "%s\r\nConnection: close\r\n\r\n",
                               target, port, token);
        const int code = exchange(text, (size_t)n, false, answer, sizeof answer, 10000);
        assert_int_equal(code == 414, more == 1);
        assert_int_equal(strstr(answer, "the address is longer than") != NULL, more == 1);
        assert_int_equal(strstr(answer, "is no path") != NULL, more == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_descriptors),   cmocka_unit_test(answered_is_forgotten),
        cmocka_unit_test(more_than_can_be_answered), cmocka_unit_test(the_longest_address),
        cmocka_unit_test(answered_is_forgotten),     cmocka_unit_test(many_events),
    };
    return cmocka_run_group_tests(tests, open_served, close_served);
}
