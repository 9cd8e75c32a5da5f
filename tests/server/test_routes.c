/* SPDX-License-Identifier: Apache-2.0 */
/* Who is let in, what addresses mean, and that nothing outside the folders is reached; without a socket. */
#include "server/asking.h"

#include "runtime/run_lock.h"
#include "runtime/settings.h"

/* --- addresses --- */

static int target(const char *text)
{
    sk_request r = {0};
    sk_error err = {0};
    const sk_status status = sk_request_target(&r, text, &err);
    sk_request_free(&r);
    return status;
}

static void test_targets(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "api",   "/../x",  "/a/../b", "/%2e%2e/x", "/a/./b",
                                      "//a",    "/a//b", "/a%00",  "/a%0ab",  "/%ff",      "/a%zz",
                                      "/a%2",   "/a\\b", "/?a=%0", "/?a=%00", "/?%c3",     "/a\x7f",
                                      "/..%2f", "/.",    "/..",    "/a/.."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (target(bad[i]) == SK_OK)
            fail_msg("'%s' was taken", bad[i]);
    assert_int_equal(target("/"), SK_OK);
    assert_int_equal(target("/api/v1/files?path=%2Fdata%2Fa+b&&x"), SK_OK);
    char *longest = sk_calloc(1, SK_REQUEST_TARGET + 8);
    memset(longest, 'a', SK_REQUEST_TARGET + 4);
    longest[0] = '/';
    assert_int_equal(target(longest), SK_ERR_LIMIT);
    sk_free(longest);

    sk_request r = {0};
    assert_int_equal(sk_request_target(&r, "/a?b=%20c+d&e&b=2&=f", NULL), SK_OK);
    assert_string_equal(sk_request_query(&r, "b"), " c d");
    assert_string_equal(sk_request_query(&r, "e"), "");
    assert_null(sk_request_query(&r, "f"));
    sk_request_free(&r);
}

static void test_cookies(void **state)
{
    (void)state;
    size_t n = 0;
    const char *c = sk_request_cookie("a=1; skitter_1=x; skitter_12=yy ;z", "skitter_12", &n);
    assert_non_null(c);
    assert_int_equal(n, 2);
    assert_memory_equal(c, "yy", 2);
    assert_null(sk_request_cookie("skitter_12", "skitter_12", &n));
    assert_null(sk_request_cookie(NULL, "skitter_12", &n));
}

/* --- who is let in --- */

static int as(sk_request_headers headers, const char *method)
{
    return ask((asking){.method = method, .target = "/api/v1/about", .headers = headers, .strange = true},
               NULL);
}

static void test_tokens(void **state)
{
    (void)state;
    char right[128], wrong[128], cookie[160];
    snprintf(right, sizeof right, "Bearer %s", asked->auth.token);
    snprintf(wrong, sizeof wrong, "%s", right);
    wrong[strlen(wrong) - 1] ^= 1;
    snprintf(cookie, sizeof cookie, "other=1; skitter_8765=%s", asked->auth.token);
    assert_int_equal(as((sk_request_headers){0}, "GET"), 401);
    assert_int_equal(as((sk_request_headers){.authorization = wrong}, "GET"), 401);
    assert_int_equal(as((sk_request_headers){.authorization = "Bearer "}, "GET"), 401);
    assert_int_equal(as((sk_request_headers){.authorization = "Basic x"}, "GET"), 401);
    assert_int_equal(as((sk_request_headers){.authorization = right}, "GET"), 200);
    assert_int_equal(as((sk_request_headers){.cookie = cookie}, "GET"), 200);
    assert_int_equal(as((sk_request_headers){.cookie = "skitter_8765=no"}, "GET"), 401);
    /* a cookie alone changes nothing: the header that other sites cannot set is needed, too */
    assert_int_equal(as((sk_request_headers){.cookie = cookie}, "POST"), 403);
    assert_int_equal(as((sk_request_headers){.cookie = cookie, .custom = "1"}, "POST"), 405);
}

static void test_wrong_tokens_are_slowed_down(void **state)
{
    (void)state;
    int code = 0;
    for (int i = 0; i < 40; i++)
        code = as((sk_request_headers){.authorization = "Bearer nope"}, "GET");
    assert_int_equal(code, 429);
    assert_int_equal(get("/api/v1/about", NULL), 200); /* nobody is locked out by a stranger */
    asked->auth.failures = 0;
}

static void test_other_sites(void **state)
{
    (void)state;
    char cookie[160], bearer[128];
    snprintf(cookie, sizeof cookie, "skitter_8765=%s", asked->auth.token);
    snprintf(bearer, sizeof bearer, "Bearer %s", asked->auth.token);
    sk_request_headers h = {.cookie = cookie, .custom = "1", .origin = "http://127.0.0.1:8765"};
    assert_int_equal(as(h, "GET"), 200);
    static const char *const strange[] = {"http://evil.example",
                                          "null",
                                          "http://127.0.0.1:8766",
                                          "https://127.0.0.1:8765",
                                          "http://127.0.0.1:8765.evil.example",
                                          ""};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        h.origin = strange[i];
        assert_int_equal(as(h, "GET"), 403);
        assert_int_equal(as((sk_request_headers){.authorization = bearer, .origin = strange[i]}, "GET"), 403);
    }
    h.origin = NULL;
    h.fetch_site = "cross-site";
    assert_int_equal(as(h, "GET"), 403);
    h.fetch_site = "same-site"; /* another port of this machine */
    assert_int_equal(as(h, "GET"), 403);
    h.fetch_site = "same-origin";
    assert_int_equal(as(h, "GET"), 200);
}

/* A name that somebody made to point at this machine. */
static void test_rebinding(void **state)
{
    (void)state;
    char bearer[128];
    snprintf(bearer, sizeof bearer, "Bearer %s", asked->auth.token);
    static const char *const strange[] = {
        "evil.example",    "evil.example:8765", "127.0.0.1:1", "127.0.0.1", "localhost.evil", "[::1", "",
        "192.168.1.7:8765"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        assert_int_equal(as((sk_request_headers){.authorization = bearer, .host = strange[i]}, "GET"), 421);
    assert_int_equal(as((sk_request_headers){.authorization = bearer, .host = "localhost:8765"}, "GET"), 200);
    assert_int_equal(as((sk_request_headers){.authorization = bearer, .host = "[::1]:8765"}, "GET"), 200);
}

static void test_the_link(void **state)
{
    (void)state;
    char link[160];
    snprintf(link, sizeof link, "/?token=%s", asked->auth.token);
    assert_int_equal(ask((asking){.method = "GET", .target = link, .strange = true}, NULL), 303);
    assert_int_equal(ask((asking){.method = "GET", .target = "/?token=x", .strange = true}, NULL), 401);
    /* not for anything but the first page, and not by another site's name */
    snprintf(link, sizeof link, "/api/v1/about?token=%s", asked->auth.token);
    assert_int_equal(ask((asking){.method = "GET", .target = link, .strange = true}, NULL), 401);
    snprintf(link, sizeof link, "/?token=%s", asked->auth.token);
    assert_int_equal(ask((asking){.method = "GET",
                                  .target = link,
                                  .strange = true,
                                  .headers = {.host = "evil.example:8765"}},
                         NULL),
                     421);
}

static void test_password(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_server *other = NULL;
    sk_server_settings s = {.host = "0.0.0.0", .state = place("other state")};
    assert_int_equal(sk_server_prepare(&s, &other, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "password"));
    assert_null(other);
    s.password = "open sesame";
    assert_ok(sk_server_prepare(&s, &other, &err), &err);
    assert_non_null(strstr(sk_server_notice(other), "nothing is encrypted"));
    sk_auth_set_port(&other->auth, 8765);
    sk_server *before = asked;
    asked = other;
    asking login = {.method = "POST", .target = "/login", .body = "password=open+sesame", .strange = true};
    assert_int_equal(ask(login, NULL), 303);
    login.body = "password=wrong";
    char *door = NULL;
    assert_int_equal(ask(login, &door), 401);
    assert_non_null(strstr(door, "not the password"));
    sk_free(door);
    login.body = "password=open+sesame";
    login.headers.origin = "http://evil.example";
    assert_int_equal(ask(login, NULL), 403);
    login.headers.origin = NULL;
    login.body = "password=wrong";
    for (int i = 0; i < 20; i++)
        (void)ask(login, NULL);
    login.body = "password=open+sesame"; /* guessing is slow, also where the guess is right */
    assert_int_equal(ask(login, NULL), 429);
    asked = before;
    sk_server_close(&other);
}

static void test_rates(void **state)
{
    (void)state;
    int refused = 0;
    for (int i = 0; i < 4000 && !refused; i++)
        refused = get("/api/v1/about", NULL) == 429;
    assert_true(refused);
    asked->rate.left = asked->rate.at_once;
}

/* --- folders --- */

static int files(const char *path)
{
    char at[2048];
    snprintf(at, sizeof at, "/api/v1/files?path=%s", path);
    return get(at, NULL);
}

static void test_nothing_outside_is_reached(void **state)
{
    (void)state;
    char at[2048];
    put("outside/secret.txt", "secret");
    put("top/inside.txt", "inside");
    mkdir(place("top/folder"), 0700);
    (void)!symlink(place("outside"), place("top/way_out"));
    (void)!symlink("../../outside", place("top/folder/up"));
    (void)!symlink("..", place("top/folder/parent"));
    (void)!symlink("folder", place("top/way_in"));
    (void)!symlink("loop", place("top/loop"));
    assert_int_equal(files(place("top")), 200);
    assert_int_equal(files(place("top/folder/parent")), 200);
    assert_int_equal(files(place("top/way_in")), 200);
    assert_int_equal(files("folder"), 200); /* from the first folder */
    assert_int_equal(files(place("outside")), 403);
    assert_int_equal(files(place("top/way_out")), 403);
    assert_int_equal(files(place("top/folder/up")), 403);
    assert_int_equal(files(place("top/../outside")), 403);
    assert_int_equal(files(place("top/folder/parent/../outside")),
                     404); /* ".." by its letters: nothing there */
    assert_int_equal(files(place("top/%2e%2e/outside")), 403);
    assert_int_equal(files(place("topless")), 403);
    assert_int_equal(files("/"), 403);
    assert_int_equal(files("/etc"), 403);
    assert_int_equal(files("../outside"), 403);
    assert_int_equal(files(place("outside/none")), 403); /* whether it is there is not told */
    assert_int_equal(files(place("top/none")), 404);
    assert_int_equal(files(place("top/loop")), 500);
    assert_int_equal(files("%2Fetc%00"), 400);
    assert_int_equal(files("/proc/self/root/etc"), 403);
    snprintf(at, sizeof at, "/api/v1/frame?source=%s", place("outside/secret.txt"));
    assert_int_equal(get(at, NULL), 403);
    snprintf(at, sizeof at, "/api/v1/frame?source=%s", place("top/way_out/secret.txt"));
    assert_int_equal(get(at, NULL), 403);
    /* what names other files: a list, and a folder with a link */
    FILE *list = fopen(place("top/list.txt"), "w");
    assert_non_null(list);
    fprintf(list, "%s\n", place("outside/secret.png"));
    fclose(list);
    snprintf(at, sizeof at, "/api/v1/frame?source=%s", place("top/list.txt"));
    assert_int_equal(get(at, NULL), 400);
    assert_int_equal(mkdir(place("top/linked"), 0700), 0);
    (void)!symlink("../../outside/secret.txt", place("top/linked/a.png"));
    snprintf(at, sizeof at, "/api/v1/frame?source=%s", place("top/linked"));
    assert_int_equal(get(at, NULL), 403);
}

static void test_roots(void **state)
{
    (void)state;
    sk_error err = {0};
    char *out = NULL;
    int file = -1;
    assert_ok(sk_roots_resolve_new(&asked->roots, "new/deep/run", &out, &err), &err);
    assert_string_equal(out, place("top/new/deep/run"));
    sk_free(out);
    assert_int_not_equal(sk_roots_resolve_new(&asked->roots, place("top/way_out/run"), &out, &err), SK_OK);
    assert_int_not_equal(sk_roots_resolve_new(&asked->roots, place("outside/run"), &out, &err), SK_OK);
    assert_int_not_equal(sk_roots_resolve_new(&asked->roots, place("top/x/../../outside/run"), &out, &err),
                         SK_OK);
    assert_ok(sk_roots_open(&asked->roots, "inside.txt", false, &file, &err), &err);
    close(file);
    assert_int_equal(mkfifo(place("top/pipe"), 0600), 0);
    assert_int_equal(sk_roots_open(&asked->roots, "pipe", false, &file, &err), SK_ERR_IO);
    assert_int_equal(sk_roots_open(&asked->roots, "folder", false, &file, &err), SK_ERR_IO);
    assert_int_equal(file, -1);
}

/* --- the runtime --- */

static void test_runtimes(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(get("/api/v1/runtimes?pipelines=yolo_pose,sleap_pose", &text), 200);
    assert_non_null(strstr(text, "\"pipelines\":[\"yolo_pose\",\"sleap_pose\"]"));
    assert_non_null(strstr(text, "\"effective\":\"cpu\""));
    sk_free(text);
    assert_int_equal(get("/api/v1/runtimes?pipelines=cats", &text), 400);
    sk_free(text);
}

static void test_a_runtime_that_is_impossible_is_reset_and_announced(void **state)
{
    (void)state;
    char *text = NULL;
    mkdir(place("config"), 0700);
    put("config/skitter.json", "{\"compute_runtime\": \"mps\"}");
    assert_int_equal(get("/api/v1/runtimes?pipelines=yolo_pose", &text), 200);
    assert_non_null(strstr(text, "\"saved\":\"mps\""));
    assert_non_null(strstr(text, "\"effective\":\"cpu\""));
    assert_null(strstr(text, "\"notice\":null"));
    sk_free(text);
    asking reset = {
        .method = "POST", .target = "/api/v1/runtime/reset", .body = "{\"pipelines\":[\"yolo_pose\"]}"};
    assert_int_equal(ask(reset, &text), 200);
    assert_non_null(strstr(text, "\"saved\":\"cpu\""));
    assert_non_null(strstr(text, "\"announced\":\""));
    sk_free(text);
    assert_int_equal(ask(reset, &text), 200); /* nothing left to announce */
    assert_non_null(strstr(text, "\"announced\":null"));
    sk_free(text);
}

static void test_runtime_put(void **state)
{
    (void)state;
    char *text = NULL;
    asking set = {.method = "PUT",
                  .target = "/api/v1/runtime",
                  .body = "{\"value\":\"cpu\",\"pipelines\":\"yolo_pose\"}"};
    assert_int_equal(ask(set, NULL), 200);
    set.body = "{\"value\":\"mps\"}";
    assert_int_equal(ask(set, &text), 422);
    assert_non_null(strstr(text, "Apple"));
    sk_free(text);
    static const char *const bad[] = {
        "{\"value\":\"cat\"}", "{\"value\":7}", "[]", "{", "", "{\"value\":\"cpu\",\"pipelines\":[7,\"x\"]}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set.body = bad[i];
        const int code = ask(set, NULL);
        assert_true(code == 400 || code == 422);
    }
    /* while a run is on, wherever it was started, it stays */
    sk_error err = {0};
    sk_run_lock *run = NULL;
    assert_ok(sk_run_lock_open("/data/run7", &run, &err), &err);
    set.body = "{\"value\":\"cpu\"}";
    assert_int_equal(ask(set, &text), 409);
    assert_non_null(strstr(text, "/data/run7"));
    sk_free(text);
    assert_int_equal(get("/api/v1/runtimes", &text), 200);
    assert_non_null(strstr(text, "\"locked_by\":[{\"name\":\"/data/run7\""));
    sk_free(text);
    sk_run_lock_close(&run);
    assert_int_equal(ask(set, NULL), 200);
}

/* What counts more than the page's choice is neither overwritten nor overruled in silence. */
static void test_a_runtime_set_elsewhere(void **state)
{
    (void)state;
    char *text = NULL;
    setenv("SKITTER_COMPUTE_RUNTIME", "mps", 1);
    assert_int_equal(get("/api/v1/runtimes", &text), 200);
    assert_non_null(strstr(text, "\"saved_by\":\"environment\""));
    assert_non_null(strstr(text, "runs are refused until it is unset"));
    sk_free(text);
    asking ask_for = {.method = "PUT", .target = "/api/v1/runtime", .body = "{\"value\":\"cpu\"}"};
    assert_int_equal(ask(ask_for, &text), 400);
    assert_non_null(strstr(text, "SKITTER_COMPUTE_RUNTIME"));
    sk_free(text);
    ask_for = (asking){.method = "POST", .target = "/api/v1/runtime/reset", .body = "{}"};
    assert_int_equal(unlink(place("config/skitter.json")), 0);
    assert_int_equal(ask(ask_for, NULL), 200);
    assert_false(sk_file_exists(place("config/skitter.json")));
    unsetenv("SKITTER_COMPUTE_RUNTIME");
}

static void test_methods(void **state)
{
    (void)state;
    assert_int_equal(get("/api/v1/none", NULL), 404);
    assert_int_equal(get("/api/v2/about", NULL), 404);
    assert_int_equal(get("/api/v1/about/", NULL), 404);
    assert_int_equal(get("/none.js", NULL), 404);
    assert_int_equal(ask((asking){.method = "DELETE", .target = "/api/v1/about"}, NULL), 405);
    assert_int_equal(ask((asking){.method = "POST", .target = "/index.html"}, NULL), 405);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_cookies),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_wrong_tokens_are_slowed_down),
        cmocka_unit_test(test_other_sites),
        cmocka_unit_test(test_rebinding),
        cmocka_unit_test(test_the_link),
        cmocka_unit_test(test_password),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_nothing_outside_is_reached),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_runtimes),
        cmocka_unit_test(test_a_runtime_that_is_impossible_is_reset_and_announced),
        cmocka_unit_test(test_runtime_put),
        cmocka_unit_test(test_a_runtime_set_elsewhere),
        cmocka_unit_test(test_methods),
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
