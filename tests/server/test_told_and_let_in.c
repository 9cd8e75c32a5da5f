/* SPDX-License-Identifier: Apache-2.0 */
/* What pages are told and what they missed, who is let in and how often one may try, what a region counts. */
#include "support/test.h"

#include "base/memory.h"
#include "server/auth.h"
#include "server/events.h"
#include "server/test_region.h"

#include <stdio.h>
#include <string.h>

/* --- events --- */

enum { KEPT = 512, AT_ONCE = 64, READERS_MOST = 256 };

static int woken, slept;

static void wake(void *context)
{
    (void)context;
    woken++;
}

static void fall_asleep(void *context)
{
    (void)context;
    slept++;
}

static const char *read_all(sk_events *e, sk_events_reader *r)
{
    static sk_text text;
    bool ended;
    sk_text_free(&text);
    (void)sk_events_read(e, r, &text, NULL, &ended);
    static char copy[1 << 16];
    snprintf(copy, sizeof copy, "%s", sk_text_get(&text));
    sk_text_free(&text);
    return copy;
}

static void events_are_told_once_and_kept(void **state)
{
    (void)state;
    sk_events *e = NULL;
    sk_events_reader *a = NULL, *b = NULL;
    sk_error err = {0};
    sk_text text = {0};
    bool ended = true;
    assert_ok(sk_events_open(&e, &err), &err);
    sk_events_tell(e, "before", "{}");
    assert_ok(sk_events_listen(e, NULL, wake, NULL, &a, &err), &err);
    assert_string_equal(read_all(e, a), ": here\n\n"); /* what was before is not told */
    woken = slept = 0;
    assert_false(sk_events_read(e, a, &text, fall_asleep, &ended));
    assert_true(slept == 1 && !ended && text.length == 0);
    sk_events_tell(e, "run", "{\"id\":1}\nmore");
    sk_events_tell(e, "run", "{\"id\":2}");
    assert_int_equal(woken, 1); /* it is awake until it sleeps again */
    assert_string_equal(read_all(e, a),
                        "id: 2\nevent: run\ndata: {\"id\":1}\n\nid: 3\nevent: run\ndata: {\"id\":2}\n\n");
    assert_string_equal(read_all(e, a), "");
    sk_events_ping(e);
    assert_string_equal(read_all(e, a), ": here\n\n");
    /* one that was away says what it saw last */
    static const struct {
        const char *seen, *told;
    } cases[] = {
        {"1", ": here\n\nid: 2\nevent: run\ndata: {\"id\":1}\n\nid: 3\nevent: run\ndata: {\"id\":2}\n\n"},
        {"2", ": here\n\nid: 3\nevent: run\ndata: {\"id\":2}\n\n"},
        {"3", ": here\n\n"},
        {"4", ": here\n\nevent: reload\ndata: {}\n\n"}, /* of another server's life */
        {"0", ": here\n\nid: 1\nevent: before\ndata: {}\n\nid: 2\nevent: run\ndata: {\"id\":1}\n\n"
              "id: 3\nevent: run\ndata: {\"id\":2}\n\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_events_listen(e, cases[i].seen, wake, NULL, &b, &err), &err);
        assert_string_equal(read_all(e, b), cases[i].told);
        assert_string_equal(read_all(e, b), "");
        sk_events_leave(e, &b);
        assert_null(b);
    }
    sk_events_end(e);
    assert_false(sk_events_read(e, a, &text, fall_asleep, &ended));
    assert_true(ended && slept == 1); /* nobody sleeps any more */
    sk_events_leave(e, &a);
    sk_events_close(&e);
    sk_text_free(&text);
}

static int count_of(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void who_missed_too_much_is_told(void **state)
{
    (void)state;
    sk_events *e = NULL;
    sk_events_reader *slow = NULL, *r = NULL;
    sk_error err = {0};
    assert_ok(sk_events_open(&e, &err), &err);
    assert_ok(sk_events_listen(e, NULL, wake, NULL, &slow, &err), &err);
    for (int i = 0; i < KEPT + 10; i++)
        sk_events_tell(e, "x", "{}");
    static const struct {
        const char *seen;
        bool lost;
    } cases[] = {{"9", true}, {"10", false}, {"521", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_events_listen(e, cases[i].seen, wake, NULL, &r, &err), &err);
        const char *told = read_all(e, r);
        assert_int_equal(strstr(told, "reload") != NULL, cases[i].lost);
        assert_int_equal(count_of(told, "event: x"), cases[i].lost ? 0 : i == 1 ? AT_ONCE : 1);
        sk_events_leave(e, &r);
    }
    const char *told = read_all(e, slow); /* it was here all the time, and did not read */
    assert_non_null(strstr(told, "reload"));
    assert_non_null(strstr(told, "id: 11\n"));
    assert_null(strstr(told, "id: 10\n"));
    assert_int_equal(count_of(told, "event: x"), AT_ONCE);
    assert_non_null(strstr(read_all(e, slow), "id: 75\n"));
    sk_events_leave(e, &slow);
    sk_events_reader *many[READERS_MOST];
    for (int i = 0; i < READERS_MOST; i++)
        assert_ok(sk_events_listen(e, NULL, wake, NULL, &many[i], &err), &err);
    assert_int_equal(sk_events_listen(e, NULL, wake, NULL, &r, &err), SK_ERR_BUSY);
    assert_null(r);
    sk_events_leave(e, &many[7]);
    assert_ok(sk_events_listen(e, NULL, wake, NULL, &many[7], &err), &err);
    for (int i = 0; i < READERS_MOST; i++)
        sk_events_leave(e, &many[i]);
    sk_events_close(&e);
}

/* --- who is let in --- */

static sk_admission judge(sk_auth *auth, sk_request_headers headers, bool changes)
{
    const sk_request r = {.headers = headers};
    return sk_auth_judge(auth, &r, changes);
}

/* Nobody can guess a token from another one: each bit of it is set in about half of many, whoever was opened before. */
static void tokens_are_random(void **state)
{
    (void)state;
    enum { MANY = 256, DIGITS = SK_AUTH_TOKEN - 1 };
    static char tokens[MANY][SK_AUTH_TOKEN];
    static uint8_t keys[MANY][sizeof((sk_auth *)0)->key];
    int set[4 * DIGITS] = {0};
    sk_error err = {0};
    for (int i = 0; i < MANY; i++) {
        sk_auth auth;
        assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, NULL, &err), &err);
        memcpy(tokens[i], auth.token, sizeof auth.token);
        memcpy(keys[i], auth.key, sizeof auth.key);
        assert_int_equal(strspn(auth.token, "0123456789abcdef"), DIGITS);
        for (int k = 0; k < DIGITS; k++) {
            const int digit = auth.token[k] <= '9' ? auth.token[k] - '0' : auth.token[k] - 'a' + 10;
            for (int b = 0; b < 4; b++)
                set[4 * k + b] += digit >> b & 1;
        }
        for (int k = 0; k < i; k++)
            assert_true(memcmp(tokens[k], tokens[i], DIGITS) != 0 &&
                        memcmp(keys[k], keys[i], sizeof keys[i]) != 0);
        sk_auth_close(&auth);
    }
    for (int k = 0; k < 4 * DIGITS; k++) /* by chance outside of this once in many million runs */
        assert_in_range(set[k], 60, 196);
}

static void doors(void **state)
{
    (void)state;
    sk_auth auth;
    sk_error err = {0};
    char bearer[128], cookie[160];
    assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, "sesame", &err), &err);
    sk_auth_set_port(&auth, 8765);
    snprintf(bearer, sizeof bearer, "bearer %s", auth.token);
    snprintf(cookie, sizeof cookie, "%s=%s", auth.cookie, auth.token);
    const char *host = "127.0.0.1:8765";
    assert_int_equal(judge(&auth, (sk_request_headers){.host = host, .authorization = bearer}, true),
                     SK_ADMIT_IN);
    assert_int_equal(judge(&auth, (sk_request_headers){.host = host, .authorization = auth.token}, true),
                     SK_ADMIT_IN);
    assert_int_equal(judge(&auth, (sk_request_headers){.host = "evil:8765", .authorization = bearer}, false),
                     SK_ADMIT_WRONG_HOST);
    assert_int_equal(judge(&auth, (sk_request_headers){.host = host}, false), SK_ADMIT_NO_TOKEN);
    assert_int_equal(judge(&auth, (sk_request_headers){.host = host, .cookie = cookie}, false), SK_ADMIT_IN);
    assert_int_equal(judge(&auth, (sk_request_headers){.host = host, .cookie = cookie}, true),
                     SK_ADMIT_STRANGER);
    assert_int_equal(judge(&auth, (sk_request_headers){.host = host, .cookie = cookie, .custom = "1"}, true),
                     SK_ADMIT_IN);
    static const struct {
        const char *site;
        sk_admission verdict;
    } sites[] = {{"same-origin", SK_ADMIT_IN},
                 {"none", SK_ADMIT_IN},
                 {"same-site", SK_ADMIT_STRANGER},
                 {"cross-site", SK_ADMIT_STRANGER}};
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        assert_int_equal(
            judge(&auth,
                  (sk_request_headers){
                      .host = host, .cookie = cookie, .custom = "1", .fetch_site = sites[i].site},
                  true),
            sites[i].verdict);
    assert_int_equal(sk_auth_try_password(&auth, "sesame"), SK_ADMIT_IN);
    assert_int_equal(sk_auth_try_password(&auth, "sesam"), SK_ADMIT_NO_TOKEN);
    /* too many wrong ones: also a right password waits, a right token never does */
    int tries = 1;
    while (tries < 1000 && sk_auth_try_token(&auth, "wrong", 5) == SK_ADMIT_NO_TOKEN)
        tries++;
    assert_in_range(tries, 2, 100);
    assert_int_equal(sk_auth_try_password(&auth, "sesame"), SK_ADMIT_TOO_OFTEN);
    assert_int_equal(sk_auth_try_token(&auth, auth.token, strlen(auth.token)), SK_ADMIT_IN);
    auth.at_ns -= (int64_t)3600 * 1000000000; /* an hour later */
    assert_int_equal(sk_auth_try_password(&auth, "sesame"), SK_ADMIT_IN);
    static const int codes[] = {500, 401, 403, 421, 429};
    for (int v = SK_ADMIT_IN; v <= SK_ADMIT_TOO_OFTEN; v++) {
        sk_reply reply;
        sk_reply_init(&reply);
        sk_auth_refuse(&auth, (sk_admission)v, &reply);
        assert_int_equal(reply.code, codes[v]);
        assert_int_equal(reply.n_headers, v == SK_ADMIT_TOO_OFTEN);
        if (reply.n_headers)
            assert_string_equal(reply.headers[0].name, "Retry-After");
        sk_reply_free(&reply);
    }
    for (int tls = 0; tls < 2; tls++) {
        sk_reply reply;
        sk_reply_init(&reply);
        auth.tls = tls;
        sk_auth_admit(&auth, &reply);
        assert_int_equal(reply.code, 303);
        assert_int_equal(reply.n_headers, 2);
        assert_non_null(strstr(reply.headers[0].value, "HttpOnly; SameSite=Strict"));
        assert_int_equal(strstr(reply.headers[0].value, "; Secure") != NULL, tls);
        assert_string_equal(reply.headers[1].value, "/");
        sk_reply_free(&reply);
    }
    sk_auth_close(&auth);
    assert_ok(sk_auth_open(&auth, "127.0.0.1", true, false, NULL, &err), &err);
    assert_int_equal(sk_auth_try_password(&auth, ""), SK_ADMIT_NO_TOKEN);
    sk_auth_close(&auth);
}

/* --- regions --- */

static bool holds(const sk_region *region, const char *instance)
{
    sk_config *json = NULL;
    sk_error err = {0};
    assert_ok(sk_config_open_json(instance, strlen(instance), "instance", &json, &err), &err);
    const bool in = sk_test_region_holds(region, sk_config_root(json));
    sk_config_close(&json);
    return in;
}

static void regions_count_by_the_centre(void **state)
{
    (void)state;
    sk_region *region = NULL;
    sk_error err = {0};
    sk_wish wish = {0};
    assert_ok(sk_test_region_open(&wish, &region, &err), &err);
    assert_null(region);
    assert_true(holds(NULL, "{}"));
    char first[] = "--roi-exclude=40,40,60,60", second[] = "--roi=0,0,100,100", other[] = "--imgsz=9";
    char *words[] = {first, other, second};
    wish.words = words, wish.n_words = 3;
    const sk_status status = sk_test_region_open(&wish, &region, &err);
    if (status != SK_OK)
        fail_msg("%s", err.message);
    static const struct {
        const char *instance;
        bool in;
    } cases[] = {{"{\"obb\":[10,10,4,2,0]}", true},
                 {"{\"obb\":[50,50,4,2,0]}", false},
                 {"{\"obb\":[150,10,4,2,0]}", false},
                 {"{\"box\":[0,0,20,20]}", true},
                 {"{\"box\":[40,40,60,60]}", false},
                 {"{\"box\":[90,0,210,20]}", false},
                 {"{\"box\":[10,300,30,-220]}", true},
                 {"{\"box\":[0,0,20]}", false},
                 {"{\"obb\":[10,10,4,2,0],\"box\":[40,40,60,60]}", true},
                 {"{\"keypoints\":[[0,0,1],[20,20,1]]}", true},
                 {"{\"keypoints\":[[40,50,1],[60,50,1],[null,null,0]]}", false},
                 {"{\"keypoints\":[[99,99],[103,99]]}", false},
                 {"{\"keypoints\":[[1,1],[3,1]]}", true},
                 {"{\"keypoints\":[]}", false},
                 {"{}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(region, cases[i].instance) != cases[i].in)
            fail_msg("%s", cases[i].instance);
    sk_region_close(&region);
    char bad[] = "--roi=nonsense";
    words[0] = bad;
    assert_int_not_equal(sk_test_region_open(&wish, &region, &err), SK_OK);
    assert_null(region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_random),           cmocka_unit_test(events_are_told_once_and_kept),
        cmocka_unit_test(who_missed_too_much_is_told), cmocka_unit_test(doors),
        cmocka_unit_test(regions_count_by_the_centre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
