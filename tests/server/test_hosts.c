/* SPDX-License-Identifier: Apache-2.0 */
/* Names under which a server may be asked, sites from which it may be asked, and how many wrong guesses it bears: a page that somebody
 * else's name or site leads here is refused. */
#include "support/test.h"

#include "server/auth.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_ours(const sk_auth *auth, const char *host)
{
    const sk_request r = {.headers = {.host = host}};
    const sk_admission verdict = sk_auth_judge_place(auth, &r);
    assert_true(verdict == SK_ADMIT_IN || verdict == SK_ADMIT_WRONG_HOST);
    return verdict == SK_ADMIT_IN;
}

static void must_be(const sk_auth *auth, const char *host, bool ours)
{
    if (is_ours(auth, host) != ours)
        fail_msg("%s is%s ours", host ? host : "(none)", ours ? " not" : "");
}

static void names_of_this_machine(void **state)
{
    (void)state;
    sk_auth open, near;
    sk_error err = {0};
    char machine[256] = "", name[600];
    static const struct {
        const char *host;
        bool open, near; /* ours, of a server for all and of one for this machine */
    } cases[] = {{"127.0.0.1:8765", true, true},
                 {"localhost:8765", true, true},
                 {"LocalHost:8765", true, true},
                 {"[::1]:8765", true, true},
                 {"10.0.0.5:8765", true, false},
                 {"[fe80::1]:8765", true, false},
                 {"skitter.lab:8765", true, false},
                 {"SKITTER.lab:8765", true, false},
                 {"skitter.la:8765", false, false},
                 {"evil.example:8765", false, false},
                 {"10.0.0.300:8765", false, false},
                 {"10.0.0.5", false, false},
                 {"localhost", false, false},
                 {"localhost:", false, false},
                 {"localhost:876", false, false},
                 {"localhost:87650", false, false},
                 {"localhost:8765:8765", false, false},
                 {"[::1]", false, false},
                 {"[::1:8765", false, false},
                 {"[::1]x:8765", false, false},
                 {"[]:8765", false, false},
                 {":8765", false, false},
                 {"", false, false},
                 {NULL, false, false}};
    assert_ok(sk_auth_open(&open, "skitter.lab", false, false, "sesame", &err), &err);
    assert_ok(sk_auth_open(&near, "127.0.0.1", true, false, NULL, &err), &err);
    sk_auth_set_port(&open, 8765);
    sk_auth_set_port(&near, 8765);
    assert_string_equal(open.cookie, "skitter_8765");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must_be(&open, cases[i].host, cases[i].open);
        must_be(&near, cases[i].host, cases[i].near);
    }
    assert_int_equal(gethostname(machine, sizeof machine - 1), 0);
    if (machine[0] && strcmp(machine, "localhost") != 0) {
        snprintf(name, sizeof name, "%s:8765", machine);
        must_be(&open, name, true);
        must_be(&near, name, false);
        snprintf(name, sizeof name, "%sx:8765", machine);
        must_be(&open, name, false);
    }
    for (size_t n = 254; n < 300; n++) { /* as long as a name may be, and longer */
        memset(name, 'a', n);
        strcpy(name + n, ":8765");
        must_be(&open, name, false);
    }
    sk_auth_close(&open);
    sk_auth_close(&near);
    for (size_t i = 0; i < sizeof open.token; i++) /* who looks at memory later finds none */
        assert_int_equal(open.token[i], 0);
}

/* Browsers leave the usual ports out, of both kinds. */
static void usual_ports_are_left_out(void **state)
{
    (void)state;
    static const struct {
        int port;
        const char *host;
        bool ours;
    } cases[] = {{80, "localhost", true},      {80, "localhost:80", true}, {80, "localhost:81", false},
                 {80, "[::1]", true},          {443, "localhost", true},   {443, "localhost:443", true},
                 {443, "localhost:80", false}, {81, "localhost", false},   {79, "localhost", false},
                 {444, "localhost", false},    {442, "localhost", false},  {80, "localhost:", false}};
    sk_auth auth;
    sk_error err = {0};
    assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, NULL, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_auth_set_port(&auth, cases[i].port);
        must_be(&auth, cases[i].host, cases[i].ours);
    }
    sk_auth_close(&auth);
}

static void sites_that_may_ask(void **state)
{
    (void)state;
    static const struct {
        bool tls;
        const char *origin;
        sk_admission verdict;
    } cases[] = {{false, NULL, SK_ADMIT_IN},
                 {false, "http://localhost:8765", SK_ADMIT_IN},
                 {false, "http://LOCALHOST:8765", SK_ADMIT_IN},
                 {false, "https://localhost:8765", SK_ADMIT_STRANGER},
                 {false, "http://localhost:8766", SK_ADMIT_STRANGER},
                 {false, "http://127.0.0.1:8765", SK_ADMIT_STRANGER}, /* not as it was asked */
                 {false, "localhost:8765", SK_ADMIT_STRANGER},
                 {false, "", SK_ADMIT_STRANGER},
                 {true, "https://localhost:8765", SK_ADMIT_IN},
                 {true, "http://localhost:8765", SK_ADMIT_STRANGER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_auth auth;
        sk_error err = {0};
        const sk_request r = {.headers = {.host = "localhost:8765", .origin = cases[i].origin}};
        assert_ok(sk_auth_open(&auth, "127.0.0.1", true, cases[i].tls, NULL, &err), &err);
        sk_auth_set_port(&auth, 8765);
        if (sk_auth_judge_place(&auth, &r) != cases[i].verdict)
            fail_msg("%s", cases[i].origin);
        sk_auth_close(&auth);
    }
}

/* Ten wrong ones at once, and one more every two seconds. */
static void guesses_are_counted(void **state)
{
    (void)state;
    sk_auth auth;
    sk_error err = {0};
    int tries = 0;
    assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, "x", &err), &err);
    assert_true(auth.has_password);
    assert_int_equal(sk_auth_try_password(&auth, "x"), SK_ADMIT_IN);
    for (int i = 0; i < 50; i++) /* right ones do not count */
        assert_int_equal(sk_auth_try_password(&auth, "x"), SK_ADMIT_IN);
    while (sk_auth_try_password(&auth, "y") == SK_ADMIT_NO_TOKEN)
        tries++;
    assert_in_range(tries, 10, 12);
    assert_int_equal(sk_auth_try_password(&auth, "x"), SK_ADMIT_TOO_OFTEN);
    auth.failures = 10.9;
    auth.at_ns -= (int64_t)1000000000; /* a second later */
    assert_int_equal(sk_auth_try_password(&auth, "x"), SK_ADMIT_TOO_OFTEN);
    auth.at_ns -= (int64_t)1000000000;
    assert_int_equal(sk_auth_try_password(&auth, "x"), SK_ADMIT_IN);
    sk_auth_close(&auth);
    /* where there is no password, there is nothing to guess */
    static const char *const none[] = {NULL, ""};
    for (int k = 0; k < 2; k++) {
        assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, none[k], &err), &err);
        assert_false(auth.has_password);
        for (int i = 0; i < 50; i++)
            assert_int_equal(sk_auth_try_password(&auth, i % 2 ? "" : "x"), SK_ADMIT_NO_TOKEN);
        assert_true(auth.failures < 1);
        sk_auth_close(&auth);
    }
}

static void refusals_say_why(void **state)
{
    (void)state;
    static const char *const words[] = {"\"this is no refusal\"", "needs the token of this server",
                                        "another site's page asked for this", "this server is not called so",
                                        "too many wrong tokens or passwords\",\"hint\":\"wait some seconds"};
    sk_auth auth;
    sk_error err = {0};
    assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, NULL, &err), &err);
    for (int v = SK_ADMIT_IN; v <= SK_ADMIT_TOO_OFTEN; v++) {
        sk_reply reply;
        sk_reply_init(&reply);
        sk_auth_refuse(&auth, (sk_admission)v, &reply);
        if (!strstr(sk_text_get(&reply.text), words[v]))
            fail_msg("%s", sk_text_get(&reply.text));
        sk_reply_free(&reply);
    }
    sk_auth_close(&auth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_this_machine), cmocka_unit_test(usual_ports_are_left_out),
        cmocka_unit_test(sites_that_may_ask),    cmocka_unit_test(guesses_are_counted),
        cmocka_unit_test(refusals_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
