/* SPDX-License-Identifier: Apache-2.0 */
/* Servers as they are opened: the link that is printed, hosts and ports that cannot be, certificates, folders of their own; and what
 * a browser says and is told over a socket. */
#include "server/sockets.h"

#include <sys/resource.h>

static char answer[1 << 20];

static sk_status try_open(const char *host, int32_t at, const char *certificate, const char *key,
                          sk_server **out, sk_error *err)
{
    const char *folders[] = {root};
    const sk_server_settings s = {.folders = folders,
                                  .n_folders = 1,
                                  .host = host,
                                  .port = at,
                                  .password = "sesame",
                                  .certificate = certificate,
                                  .key = key};
    *err = (sk_error){0};
    return sk_server_open(&s, out, err);
}

static void links_lead_here(void **state)
{
    (void)state;
    sk_server *other = NULL;
    sk_error err = {0};
    char wanted[512], machine[256] = "";
    snprintf(wanted, sizeof wanted, "http://127.0.0.1:%d/?token=%s", port, token);
    assert_string_equal(sk_server_link(served), wanted);
    assert_string_equal(sk_server_notice(served), "");
    assert_int_equal(gethostname(machine, sizeof machine - 1), 0);
    static const struct {
        const char *host, *name; /* null: the machine's */
        bool open;               /* to other machines */
    } cases[] = {{"0.0.0.0", NULL, true},
                 {"::", NULL, true},
                 {"localhost", "localhost", false},
                 {"::1", "[::1]", false},
                 {"127.0.0.2", "127.0.0.2", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_status status = try_open(cases[i].host, 0, NULL, NULL, &other, &err);
        if (status != SK_OK && strchr(cases[i].host, ':')) /* a machine without IPv6 */
            continue;
        assert_ok(status, &err);
        snprintf(wanted, sizeof wanted, "http://%s:%d/?token=%s", cases[i].name ? cases[i].name : machine,
                 sk_listener_port(other->listener), other->auth.token);
        assert_string_equal(sk_server_link(other), wanted);
        assert_int_equal(sk_server_notice(other)[0] != '\0', cases[i].open);
        assert_int_equal(other->auth.loopback, !cases[i].open);
        sk_server_close(&other);
    }
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    sk_server *other = NULL;
    sk_error err = {0};
    assert_int_equal(try_open(NULL, port, NULL, NULL, &other, &err), SK_ERR_BUSY);
    assert_null(other);
    assert_non_null(strstr(err.message, "Address already in use\ntake another: --port 0 finds a free one"));
    assert_int_equal(try_open("a..b", 0, NULL, NULL, &other, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "--host a..b: "));
    assert_int_equal(try_open("192.0.2.1", 0, NULL, NULL, &other, &err), SK_ERR_IO); /* nobody's */
    assert_null(strstr(err.message, "--port 0"));
    assert_alive();
}

/* There is room for two thousand connections wherever the system lets us have it; who has more keeps it. */
static void descriptors_are_asked_for(void **state)
{
    (void)state;
    static const rlim_t soft[] = {300, 2559, 2560, 3000};
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++) {
        sk_server *other = NULL;
        sk_error err = {0};
        const rlim_t wanted = soft[i] > 2560 ? soft[i] : 2560;
        if (before.rlim_max < wanted)
            continue;
        limit = (struct rlimit){.rlim_cur = soft[i], .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        assert_ok(try_open(NULL, 0, NULL, NULL, &other, &err), &err);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
        assert_int_equal(limit.rlim_cur, wanted);
        sk_server_close(&other);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void certificates(void **state)
{
    (void)state;
    sk_server *other = NULL;
    sk_error err = {0};
    char *pem = NULL, path[1100], certificate[1100], key[1100];
    size_t bytes = 0;
    snprintf(certificate, sizeof certificate, "%s", test_source("tests/fixtures/tls/certificate.pem"));
    snprintf(key, sizeof key, "%s", test_source("tests/fixtures/tls/key.pem"));
    assert_ok(try_open(NULL, 0, certificate, key, &other, &err), &err);
    assert_true(other->auth.tls);
    assert_memory_equal(sk_server_link(other), "https://127.0.0.1:", 18);
    sk_server_close(&other);
    assert_ok(try_open("127.0.0.2", 0, certificate, key, &other, &err), &err);
    assert_string_equal(sk_server_notice(other), ""); /* it is encrypted */
    sk_server_close(&other);
    assert_int_equal(try_open(NULL, 0, certificate, NULL, &other, &err), SK_ERR_ARG);
    assert_int_equal(try_open(NULL, 0, NULL, key, &other, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "--certificate and --key belong together");
    assert_int_equal(try_open(NULL, 0, certificate, certificate, &other, &err), SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "PEM files that belong together?"));
    assert_int_equal(try_open(NULL, 0, certificate, test_missing("key"), &other, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(try_open(NULL, 0, test_missing("pem"), key, &other, &err), SK_ERR_NOT_FOUND);
    /* a megabyte of it is read, no more */
    for (int which = 0; which < 2; which++)
        for (size_t more = 0; more < 2; more++) {
            assert_ok(sk_file_read(which ? key : certificate, 1 << 20, &pem, &bytes, &err), &err);
            char *much = sk_malloc((1 << 20) + 1);
            memset(much, '\n', (1 << 20) + 1);
            memcpy(much, pem, bytes);
            snprintf(path, sizeof path, "%s/much.pem", test_folder());
            assert_ok(sk_file_replace(path, much, (1 << 20) + more, &err), &err);
            assert_int_equal(try_open(NULL, 0, which ? certificate : path, which ? path : key, &other, &err),
                             more ? SK_ERR_LIMIT : SK_OK);
            sk_server_close(&other);
            sk_free_all(much, pem);
        }
}

/* Of several servers each has a folder of its own, and the first one's is free again when it ends. */
static void servers_side_by_side(void **state)
{
    (void)state;
    static const char *const names[] = {"serve", "serve-2", "serve-3"};
    sk_server *others[3] = {0}, *again = NULL;
    sk_error err = {0};
    char folder[1100];
    for (int i = 0; i < 3; i++) {
        assert_ok(try_open(NULL, 0, NULL, NULL, &others[i], &err), &err);
        snprintf(folder, sizeof folder, "%s/cache/%s", test_folder(), names[i]);
        assert_string_equal(others[i]->state, folder);
    }
    sk_server_close(&others[1]);
    assert_ok(try_open(NULL, 0, NULL, NULL, &again, &err), &err);
    snprintf(folder, sizeof folder, "%s/cache/serve-2", test_folder());
    assert_string_equal(again->state, folder);
    const sk_server_settings taken = {.state = folder};
    sk_server *none = NULL;
    assert_int_equal(sk_server_prepare(&taken, &none, &err), SK_ERR_BUSY);
    assert_null(none);
    sk_server_close(&again);
    sk_server_close(&others[0]);
    sk_server_close(&others[2]);
    /* without a folder it is the one that it was started in */
    assert_int_equal(chdir(root), 0);
    const sk_server_settings here = {.state = folder};
    assert_ok(sk_server_prepare(&here, &none, &err), &err);
    assert_string_equal(none->roots.items[0].path, root);
    assert_true(none->roots.items[0].writable);
    for (int32_t i = 1; i < none->roots.count; i++)
        assert_false(none->roots.items[i].writable); /* models that come with skitter */
    sk_server_close(&none);
}

static void expect_code(const char *method, const char *target, const char *more, const char *body, int code)
{
    const int got = ask_well(method, target, more, body, answer, sizeof answer);
    if (got != code)
        fail_msg("%s %s %s: %d %.300s", method, target, more, got, answer);
}

static void pages_over_a_socket(void **state)
{
    (void)state;
    char tag[200] = "", more[300];
    expect_code("GET", "/", "", "", 200);
    assert_non_null(strstr(answer, "Cache-Control: no-cache\r\n"));
    assert_non_null(strstr(answer, "Content-Type: text/html"));
    assert_non_null(strstr(answer, "\r\n\r\n<!"));
    const char *etag = strstr(answer, "ETag: ");
    assert_non_null(etag);
    snprintf(tag, sizeof tag, "%.*s", (int)strcspn(etag + 6, "\r"), etag + 6);
    snprintf(more, sizeof more, "If-None-Match: %s\r\n", tag);
    expect_code("GET", "/", more, "", 304);
    assert_null(strstr(answer, "<!"));
    expect_code("GET", "/", "If-None-Match: \"other\"\r\n", "", 200);
    expect_code("HEAD", "/", "", "", 200);
    assert_null(strstr(answer, "<!"));
    expect_code("GET", "/api/v1/about", "", "", 200);
    assert_non_null(strstr(answer, "Cache-Control: no-store\r\n"));
    assert_non_null(strstr(answer, "Content-Type: application/json\r\n"));
    expect_code("PATCH", "/api/v1/about", "", "", 405);
    assert_non_null(strstr(answer, "this method is not known here"));
    expect_code("DELETE", "/api/v1/about", "", "", 405);
    assert_non_null(strstr(answer, "Allow: GET\r\n"));
    expect_code("GET", "/none", "", "", 404);
}

/* The headers by which a browser says where a request comes from. */
static void who_asks_over_a_socket(void **state)
{
    (void)state;
    static const struct {
        const char *method, *more;
        int code;
    } cases[] = {{"GET", "", 200},
                 {"GET", "Sec-Fetch-Site: same-origin\r\n", 200},
                 {"GET", "Sec-Fetch-Site: cross-site\r\n", 403},
                 {"POST", "", 403},
                 {"POST", "X-Skitter: 1\r\n", 405},
                 {"POST", "X-Skitter: 1\r\nSec-Fetch-Site: same-site\r\n", 403}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%s /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: skitter_%d=%s\r\nConnection: "
                 "close\r\nContent-Length: 0\r\n%s\r\n",
                 cases[i].method, port, port, token, cases[i].more);
        const int code = exchange(text, strlen(text), false, answer, sizeof answer, 10000);
        if (code != cases[i].code)
            fail_msg("%s %s: %d", cases[i].method, cases[i].more, code);
    }
}

static void bodies_over_a_socket(void **state)
{
    (void)state;
    char head[512], *text = sk_malloc((1 << 20) + 1024);
    /* in pieces, of two packets */
    int n = snprintf(text, 1024,
                     "POST /api/v1/recent HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"pat\r\n8\r\nh\":\"no\"}\r\n0\r\n\r\n",
                     port, token);
    const int fd = dial();
    assert_true(say(fd, text, (size_t)n - 20));
    sk_clock_sleep_ns(30000000);
    assert_true(say(fd, text + n - 20, 20));
    (void)hear(fd, answer, sizeof answer, 10000);
    close(fd);
    assert_non_null(strstr(answer, "HTTP/1.1 404")); /* it was understood: there is no such file */
    for (size_t more = 0; more < 2; more++) {        /* a megabyte, and one byte more */
        n = snprintf(head, sizeof head,
                     "POST /api/v1/recent HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     port, token, SK_REQUEST_BODY + more);
        memcpy(text, head, (size_t)n);
        memset(text + n, ' ', SK_REQUEST_BODY);
        memcpy(text + n, "{\"path\":\"no\"}", 13);
        const int code =
            exchange(text, (size_t)n + (more ? 0 : SK_REQUEST_BODY), false, answer, sizeof answer, 10000);
        assert_int_equal(code, more ? 413 : 404);
    }
    assert_non_null(strstr(answer, "longer than 1 MB"));
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_lead_here),        cmocka_unit_test(what_cannot_be_opened),
        cmocka_unit_test(certificates),           cmocka_unit_test(descriptors_are_asked_for),
        cmocka_unit_test(servers_side_by_side),   cmocka_unit_test(pages_over_a_socket),
        cmocka_unit_test(who_asks_over_a_socket), cmocka_unit_test(bodies_over_a_socket),
    };
    return cmocka_run_group_tests(tests, open_served, close_served);
}
