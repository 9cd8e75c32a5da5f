/* SPDX-License-Identifier: Apache-2.0 */
/* The door of a server: what a browser without a token is shown, how a password is taken, and what is answered to requests that come too
 * often or by another method. */
#include "server/asking.h"

static char *door; /* the last answer */

static int knock(const char *method, const char *target, const char *body, const char *host)
{
    sk_free(door);
    return ask(
        (asking){
            .method = method, .target = target, .body = body, .strange = true, .headers = {.host = host}},
        &door);
}

static bool says(const char *words)
{
    return strstr(door, words) != NULL;
}

static const char form[] = "<form method=\"post\" action=\"/login\">", wrong[] = "That is not the password.",
                  often[] = "Too many wrong attempts.", link_words[] = "Open the link that";

static int end(void **state)
{
    sk_free(door);
    return close_asked(state);
}

static void without_a_password(void **state)
{
    (void)state;
    assert_int_equal(knock("GET", "/", NULL, NULL), 401);
    assert_string_equal(asked_type, "text/html; charset=utf-8");
    assert_true(says(link_words) && !says(form) && !says(wrong) && !says(often));
    assert_int_equal(knock("GET", "/index.html", NULL, NULL), 401);
    assert_true(says("<!doctype html>") && says(link_words));
    /* programs are answered in their own language */
    assert_int_equal(knock("GET", "/api/v1/about", NULL, NULL), 401);
    assert_string_equal(asked_type, "application/json");
    assert_true(says("{\"error\":{\"message\":\"this needs the token") && !says("<"));
    /* who is wrong here is not shown a door */
    assert_int_equal(knock("GET", "/", NULL, "evil.example:8765"), 421);
    assert_string_equal(asked_type, "application/json");
    assert_int_equal(knock("POST", "/login", "password=", NULL), 401);
    assert_true(says(wrong) && says(link_words));
    assert_int_equal(knock("POST", "/login", "password=x", "evil.example:8765"), 421);
}

static void with_a_password(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_server *other = NULL, *before = asked;
    static char longest[5000] = "password=";
    static const struct {
        const char *body;
        int code;
    } cases[] = {{"password=open+sesame%21", 303},
                 {"a=1&password=open%20sesame!&b=2", 303},
                 {"password=open", 401},
                 {"pass=open+sesame%21", 401},
                 {"password", 401},
                 {"password=%zz", 401},
                 {"", 401},
                 {NULL, 401},
                 {longest, 401}};
    const sk_server_settings s = {.host = "0.0.0.0", .state = place("door"), .password = "open sesame!"};
    memset(longest + 9, 'a', sizeof longest - 10);
    assert_ok(sk_server_prepare(&s, &other, &err), &err);
    sk_auth_set_port(&other->auth, 8765);
    asked = other;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        other->auth.failures = 0;
        const int code = knock("POST", "/login", cases[i].body, NULL);
        if (code != cases[i].code)
            fail_msg("%s: %d %s", cases[i].body, code, door);
        if (code == 401)
            assert_true(says(form) && says(wrong) && !says(often) && !says(link_words));
        else
            assert_memory_equal(asked_header, "Set-Cookie: skitter_8765=", 25);
    }
    other->auth.failures = 0;
    assert_int_equal(knock("GET", "/", NULL, NULL), 401);
    assert_true(says(form) && !says(wrong));
    assert_int_equal(knock("GET", "/login", NULL, NULL), 401); /* asking for it opens nothing */
    for (int i = 0; i < 30; i++)
        knock("POST", "/login", "password=x", NULL);
    assert_int_equal(knock("POST", "/login", "password=open+sesame%21", NULL), 429);
    assert_string_equal(asked_type, "text/html; charset=utf-8");
    assert_true(says(often) && says(form) && !says(wrong));
    char link[200];
    snprintf(link, sizeof link, "/?token=%s", other->auth.token);
    assert_int_equal(knock("GET", link, NULL, NULL), 303); /* a right token is let in all the same */
    assert_int_equal(knock("GET", "/?token=x", NULL, NULL), 429);
    assert_true(says(often));
    asked = before;
    sk_server_close(&other);
}

static void too_often_and_by_another_method(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target, *allow;
    } cases[] = {{"DELETE", "/api/v1/runs", "GET, POST"},
                 {"PUT", "/api/v1/runs/7", "GET, DELETE"},
                 {"GET", "/api/v1/runs/7/stop", "POST"},
                 {"POST", "/api/v1/about", "GET"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL, header[100], message[200];
        assert_int_equal(ask((asking){.method = cases[i].method, .target = cases[i].target}, &text), 405);
        snprintf(header, sizeof header, "Allow: %s", cases[i].allow);
        snprintf(message, sizeof message, "\"%s: only %s\"", cases[i].target, cases[i].allow);
        assert_string_equal(asked_header, header);
        assert_non_null(strstr(text, message));
        sk_free(text);
    }
    static const char *const none[] = {"/api/v1/runs/7/",   "/api/v1/runs//stop", "/api/v1/runs/7/stop/x",
                                       "/api/v1/",          "/api/v1/run",        "/api/v1/runss",
                                       "/api/v1/runs/7/sto"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const int code = get(none[i], NULL);
        if (code != 404 && code != 400)
            fail_msg("%s: %d", none[i], code);
    }
    char *text = NULL;
    asked->rate.left = 0;
    asked->rate.a_second = 0;
    assert_int_equal(get("/api/v1/about", &text), 429);
    assert_string_equal(asked_header, "Retry-After: 1");
    assert_non_null(strstr(text, "\"too many requests at once\",\"hint\":\"wait a moment\""));
    asked->rate.left = asked->rate.at_once;
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_password),
                                       cmocka_unit_test(with_a_password),
                                       cmocka_unit_test(too_often_and_by_another_method)};
    return cmocka_run_group_tests(tests, open_asked, end);
}
