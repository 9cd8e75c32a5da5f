/* SPDX-License-Identifier: Apache-2.0 */
/* Eight clients at once, each with everything a page asks for: every answer is right, and the thread sanitizer (scripts/check tsan)
 * finds nothing. SKITTER_LOAD_ROUNDS makes it last longer. */
#include "server/sockets.h"

#include <pthread.h>
#include <stdatomic.h>

#define CLIENTS 8
#define USUAL   6 /* rounds */

static atomic_int wrong;
static int rounds = USUAL;

static void expect(const char *method, const char *target, const char *body, int first, int second)
{
    char *answer = malloc(1 << 18); /* NOLINT: a thread of the test's own */
    int code = ask_well(method, target, "", body, answer, 1 << 18);
    for (int i = 0; code == 429 && i < 500; i++) { /* too often: as a page does, it waits */
        usleep(20000);
        code = ask_well(method, target, "", body, answer, 1 << 18);
    }
    if (code != first && code != second) {
        print_message("%s %s: %d %.200s\n", method, target, code, answer);
        atomic_fetch_add(&wrong, 1);
    }
    free(answer);
}

static void *listen_on(void *context)
{
    char text[512], answer[4096];
    (void)context;
    const int fd = dial();
    const int n = snprintf(
        text, sizeof text,
        "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n", port, token);
    if (fd < 0 || !say(fd, text, (size_t)n))
        atomic_fetch_add(&wrong, 1);
    for (int i = 0; i < 3; i++)
        (void)hear(fd, answer, sizeof answer, 150);
    close(fd);
    return NULL;
}

static void *browse(void *context)
{
    pthread_t listener;
    (void)context;
    const bool listens = pthread_create(&listener, NULL, listen_on, NULL) == 0;
    for (int i = 0; i < rounds; i++) {
        expect("GET", "/", "", 200, 404);
        expect("GET", "/api/v1/about", "", 200, 200);
        expect("GET", "/api/v1/runtimes?pipelines=yolo_pose", "", 200, 200);
        expect("GET", "/api/v1/files?path=.", "", 200, 200);
        expect("GET", "/api/v1/runs", "", 200, 200);
        expect("GET", "/api/v1/settings?command=track", "", 200, 200);
        expect("GET", "/api/v1/frame?source=a.png&n=0", "", 200, 200);
        expect("GET", "/api/v1/probe?path=a.png", "", 200, 200);
        expect("GET", "/api/v1/view?folder=.", "", 404, 404);
        expect("PUT", "/api/v1/runtime", "{\"value\":\"cpu\"}", 200, 409);
        expect("POST", "/api/v1/recent", "{\"path\":\"a.png\"}", 200, 200);
        if (i >= USUAL) /* a list that is full takes no more runs, and forgets the first */
            continue;
        expect("POST", "/api/v1/runs",
               "{\"command\":\"predict\",\"settings\":{\"source\":[\"a.png\"],\"model\":[\"a.png\"]}}", 200,
               200);
        expect("POST", "/api/v1/runs/1/stop", "", 200, 400);
        expect("POST", "/api/v1/runs/1/continue", "", 200, 400);
    }
    if (listens)
        pthread_join(listener, NULL);
    return NULL;
}

static void test_eight_clients(void **state)
{
    (void)state;
    pthread_t clients[CLIENTS];
    char path[1100];
    sk_error err = {0};
    const char *wish = getenv("SKITTER_LOAD_ROUNDS");
    rounds = wish ? atoi(wish) : rounds; /* NOLINT(cert-err34-c) */
    char *png = NULL;
    size_t bytes = 0;
    assert_ok(sk_file_read(test_source("tests/fixtures/grey_64x48.png"), 1 << 20, &png, &bytes, &err), &err);
    snprintf(path, sizeof path, "%s/a.png", root);
    assert_ok(sk_file_replace(path, png, bytes, &err), &err);
    sk_free(png);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, browse, NULL), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_alive();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_eight_clients)};
    return cmocka_run_group_tests(tests, open_served, close_served);
}
