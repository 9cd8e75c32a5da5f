/* SPDX-License-Identifier: Apache-2.0 */
/* Requests taken apart, replies, and how often one may ask: each at its edges. */
#include "server/asking.h"

#include "server/rate.h"

#include <fcntl.h>

static void addresses_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *name, *value; /* path null: refused */
    } cases[] = {{"/", "/", "a", NULL},
                 {"/a%41%7e%2F", "/aA~/", "a", NULL},
                 {"/a+b", "/a+b", "a", NULL}, /* a space only in the query */
                 {"/%c3%a9?x=%c3%a9", "/é", "x", "é"},
                 {"/a?b=1&c", "/a", "c", ""},
                 {"/a?b=1=2&c", "/a", "b", "1=2"},
                 {"/a?&&b=x", "/a", "b", "x"},
                 {"/a?x+y=1+2", "/a", "x y", "1 2"},
                 {"/a?b", "/a", "b", ""},
                 {"/a?", "/a", "b", NULL},
                 {"/a?b=%4f", "/a", "b", "O"},
                 {"/a?b=%4F%6a", "/a", "b", "Oj"},
                 {"/..a", "/..a", "a", NULL},
                 {"/a..", "/a..", "a", NULL},
                 {"/.a/b.", "/.a/b.", "a", NULL},
                 {"/a.b", "/a.b", "a", NULL},
                 {"/.b", "/.b", "a", NULL},
                 {"/b.", "/b.", "a", NULL},
                 {"/a%4", NULL, NULL, NULL},
                 {"/a%4g", NULL, NULL, NULL},
                 {"/a%G4", NULL, NULL, NULL},
                 {"/a%", NULL, NULL, NULL},
                 {"/a?b=%", NULL, NULL, NULL},
                 {"/a%1f", NULL, NULL, NULL},
                 {"/a%7f", NULL, NULL, NULL},
                 {"/a%20", "/a ", "a", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_request r = {0};
        sk_error err = {0};
        const sk_status status = sk_request_target(&r, cases[i].target, &err);
        if ((status == SK_OK) != (cases[i].path != NULL))
            fail_msg("%s: %s", cases[i].target, sk_status_text(status));
        if (cases[i].path) {
            assert_string_equal(r.path, cases[i].path);
            const char *value = sk_request_query(&r, cases[i].name);
            if (cases[i].value ? !value || strcmp(value, cases[i].value) != 0 : value != NULL)
                fail_msg("%s: %s=%s", cases[i].target, cases[i].name, value ? value : "(none)");
        }
        sk_request_free(&r);
    }
    /* what is empty is no field */
    char empty[120] = "/?";
    sk_request without = {0};
    memset(empty + 2, '&', 100);
    assert_int_equal(sk_request_target(&without, empty, NULL), SK_OK);
    assert_int_equal(without.n_query, 0);
    sk_request_free(&without);
    /* as many fields as there is room for, and as long as it may be */
    char *target = sk_calloc(1, SK_REQUEST_TARGET + 8);
    for (int more = 0; more < 2; more++) {
        sk_request r = {0};
        strcpy(target, "/?");
        for (int i = 0; i < SK_REQUEST_FIELDS + more; i++)
            strcat(target, "a&");
        assert_int_equal(sk_request_target(&r, target, NULL), more ? SK_ERR_LIMIT : SK_OK);
        assert_int_equal(r.n_query, SK_REQUEST_FIELDS);
        sk_request_free(&r);
        memset(target, 'a', SK_REQUEST_TARGET + 1);
        target[0] = '/', target[SK_REQUEST_TARGET + more] = '\0';
        r = (sk_request){0};
        assert_int_equal(sk_request_target(&r, target, NULL), more ? SK_ERR_LIMIT : SK_OK);
        sk_request_free(&r);
    }
    sk_free(target);
}

static void numbers_of_queries(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int64_t value; /* -99: refused */
    } cases[] = {
        {"/", 7},        {"/?n=3", 3},  {"/?n=-2", -2},  {"/?n=10", 10},  {"/?n=11", -99},
        {"/?n=-3", -99}, {"/?n=", -99}, {"/?n=+3", -99}, {"/?n=3x", -99}, {"/?n=99999999999999999999", -99},
        {"/?n=0x3", -99}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_request r = {0};
        sk_error err = {0};
        int64_t value = 0;
        assert_ok(sk_request_target(&r, cases[i].target, &err), &err);
        const sk_status status = sk_request_query_int(&r, "n", -2, 10, 7, &value, &err);
        if (status != (cases[i].value == -99 ? SK_ERR_ARG : SK_OK) ||
            (status == SK_OK && value != cases[i].value))
            fail_msg("%s: %lld", cases[i].target, (long long)value);
        if (status != SK_OK)
            assert_non_null(strstr(err.message, "from -2 to 10"));
        sk_request_free(&r);
    }
}

static void bodies_cookies_and_methods(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool good;
    } bodies[] = {{NULL, true},  {"", true},   {"{}", true}, {"{\"a\":1}", true},
                  {"[]", false}, {"3", false}, {"{", false}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const sk_request r = {.body = bodies[i].body,
                              .body_length = bodies[i].body ? strlen(bodies[i].body) : 0};
        sk_config *json = NULL;
        assert_int_equal(sk_request_json(&r, &json, NULL) == SK_OK, bodies[i].good);
        assert_int_equal(json != NULL, bodies[i].good);
        sk_config_close(&json);
    }
    static const struct {
        const char *header, *value;
    } cookies[] = {{"k=v", "v"},   {" ;; k=v", "v"},     {"k=v  ; z=1", "v"}, {"kk=1; k=2", "2"},
                   {"k=", ""},     {"k", NULL},          {"", NULL},          {"a=k=v", NULL},
                   {"k =v", NULL}, {"z=1;k=v=w", "v=w"}, {"k=   ", ""}};
    for (size_t i = 0; i < sizeof cookies / sizeof *cookies; i++) {
        size_t n = 99;
        const char *c = sk_request_cookie(cookies[i].header, "k", &n);
        if (cookies[i].value ? !c || n != strlen(cookies[i].value) || memcmp(c, cookies[i].value, n) != 0
                             : c != NULL)
            fail_msg("'%s'", cookies[i].header);
    }
    static const char *const names[] = {"GET", "POST", "PUT", "DELETE"};
    for (int i = 0; i < 4; i++) {
        sk_method m = 0;
        assert_true(sk_method_find(names[i], &m));
        assert_int_equal(m, SK_METHOD_GET + i);
        assert_string_equal(sk_method_name(m), names[i]);
    }
    sk_method m = 0;
    assert_true(sk_method_find("HEAD", &m) && m == SK_METHOD_GET);
    assert_false(sk_method_find("get", &m));
    assert_string_equal(sk_method_name((sk_method)9), "?");
}

static void replies_say_what_happened(void **state)
{
    (void)state;
    static const struct {
        sk_status status;
        int code;
    } codes[] = {{SK_OK, 200},
                 {SK_ERR_ARG, 400},
                 {SK_ERR_NOT_FOUND, 404},
                 {SK_ERR_BUSY, 409},
                 {SK_ERR_LIMIT, 413},
                 {SK_ERR_FORMAT, 422},
                 {SK_ERR_UNSUPPORTED, 422},
                 {SK_ERR_MISMATCH, 422},
                 {SK_ERR_INCOMPLETE, 422},
                 {SK_ERR_MEMORY, 503},
                 {SK_ERR_CANCELLED, 503},
                 {SK_ERR_TIMEOUT, 503},
                 {SK_ERR_IO, 500},
                 {SK_ERR_RUNTIME, 500},
                 {SK_ERR_INTERNAL, 500}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_int_equal(sk_reply_code_of(codes[i].status), codes[i].code);
    static const struct {
        const char *message;
        int before, code;
        const char *body;
    } cases[] = {{"no\ntry that", 0, 404, "{\"error\":{\"message\":\"no\",\"hint\":\"try that\"}}"},
                 {"no", 0, 404, "{\"error\":{\"message\":\"no\",\"hint\":null}}"},
                 {"no\n", 403, 403, "{\"error\":{\"message\":\"no\",\"hint\":null}}"},
                 {"no", 399, 404, "\"message\":\"no\""},
                 {"no", 400, 400, "\"message\":\"no\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_reply reply;
        sk_error err = {.code = SK_ERR_NOT_FOUND};
        strcpy(err.message, cases[i].message);
        sk_reply_init(&reply);
        reply.code = cases[i].before;
        reply.stream = reply.lasting = true;
        reply.file = open("/dev/null", O_RDONLY);
        const int file = reply.file;
        sk_text_append(&reply.text, "half an answer");
        sk_reply_error(&reply, &err);
        assert_int_equal(reply.code, cases[i].code);
        assert_non_null(strstr(sk_text_get(&reply.text), cases[i].body));
        assert_null(strstr(sk_text_get(&reply.text), "half"));
        assert_true(!reply.stream && !reply.lasting && reply.file == -1 && fcntl(file, F_GETFD) == -1);
        assert_string_equal(reply.type, "application/json");
        for (int k = 0; k < SK_REPLY_HEADERS + 2; k++)
            sk_reply_header_add(&reply, "X", k == 0 ? "first" : "more");
        assert_int_equal(reply.n_headers, SK_REPLY_HEADERS);
        assert_string_equal(reply.headers[0].value, "first");
        sk_reply_free(&reply);
    }
}

/* So many at once, and so many a second after that. */
static void rates_are_kept(void **state)
{
    (void)state;
    sk_rate rate;
    assert_true(sk_rate_open(&rate, 1, 3));
    for (int i = 0; i < 3; i++)
        assert_true(sk_rate_take(&rate));
    assert_false(sk_rate_take(&rate));
    rate.at_ns -= 1500000000; /* a second and a half ago */
    assert_true(sk_rate_take(&rate));
    assert_false(sk_rate_take(&rate));
    rate.at_ns -= (int64_t)100 * 1000000000; /* no more than at once are saved up */
    for (int i = 0; i < 3; i++)
        assert_true(sk_rate_take(&rate));
    assert_false(sk_rate_take(&rate));
    sk_rate_close(&rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_decoded),
        cmocka_unit_test(numbers_of_queries),
        cmocka_unit_test(bodies_cookies_and_methods),
        cmocka_unit_test(replies_say_what_happened),
        cmocka_unit_test(rates_are_kept),
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
