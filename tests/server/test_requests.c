/* SPDX-License-Identifier: Apache-2.0 */
/* Requests taken apart, folders that may be used, and what was chosen last: each at its edges. */
#include "server/asking.h"

#include "server/kinds.h"
#include "server/rate.h"
#include "server/roots.h"

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

static void put(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(place(name), text, strlen(text), &err), &err);
}

static void kinds_of_files_and_folders(void **state)
{
    (void)state;
    static const struct {
        const char *name, *kind;
    } files[] = {{"a.MP4", "video"},   {"a.png", "image"},  {"a.txt", "other"},    {"a.pt", "model"},
                 {"a.onnx", "model"},  {"a.skq", "model"},  {"a.engine", "model"}, {"a.zip", "model"},
                 {"a.yaml", "config"}, {"a.yml", "config"}, {"a.json", "config"},  {"a.csv", "other"},
                 {"pt", "other"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_string_equal(sk_kind_of_file(files[i].name), files[i].kind);
    static const struct {
        const char *holds, *kind;
    } folders[] = {{"run.json", "run"},
                   {"training_config.json", "model"},
                   {"training_config.yaml", "model"},
                   {"best_model.h5", "model"},
                   {"best.ckpt", "model"},
                   {"other.txt", "folder"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char name[64], file[128];
        snprintf(name, sizeof name, "top/kind%zu", i);
        mkdir(place(name), 0700);
        snprintf(file, sizeof file, "%s/%s", name, folders[i].holds);
        put(file, "");
        assert_string_equal(sk_kind_of_folder(AT_FDCWD, place(name)), folders[i].kind);
    }
}

/* What lies in a root, however it is written; what does not is refused before it is looked for. */
static void folders_hold_what_lies_in_them(void **state)
{
    (void)state;
    sk_roots roots = {0};
    sk_error err = {0};
    mkdir(place("top/in"), 0700);
    mkdir(place("topbeside"), 0700);
    put("top/in/a.mp4", "x");
    put("outside/o.mp4", "x");
    put("topbeside/b.mp4", "x");
    assert_int_equal(symlink(place("outside"), place("top/out")), 0);
    assert_int_equal(symlink(place("top/in"), place("top/same")), 0);
    assert_ok(sk_roots_add(&roots, place("top"), true, &err), &err);
    assert_ok(sk_roots_add(&roots, place("top/in"), false, &err), &err);
    assert_int_not_equal(sk_roots_add(&roots, test_missing("x"), true, &err), SK_OK);
    assert_int_equal(sk_roots_add(&roots, place("top/in/a.mp4"), true, &err), SK_ERR_ARG);
    static const struct {
        const char *path, *real; /* below the test's folder; real null: refused, "" : not there */
    } cases[] = {{"top/in/a.mp4", "top/in/a.mp4"},
                 {"top/in/../in/./a.mp4", "top/in/a.mp4"},
                 {"top//in/a.mp4", "top/in/a.mp4"},
                 {"top/same/a.mp4", "top/in/a.mp4"},
                 {"top", "top"},
                 {"top/", "top"},
                 {"top/in/..", "top"},
                 {"top/..", NULL},
                 {"top/../outside/o.mp4", NULL},
                 {"top/out/o.mp4", NULL},
                 {"topbeside/b.mp4", NULL},
                 {"outside/o.mp4", NULL},
                 {"top/in/none.mp4", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *real = NULL;
        err = (sk_error){0};
        const sk_status status = sk_roots_resolve(&roots, place(cases[i].path), &real, &err);
        if (cases[i].real && cases[i].real[0]) {
            assert_ok(status, &err);
            assert_string_equal(real, place(cases[i].real));
        } else {
            assert_int_not_equal(status, SK_OK);
            assert_int_equal(sk_roots_is_outside(&err), cases[i].real == NULL);
            assert_null(real);
        }
        sk_free(real);
    }
    char *real = NULL;
    assert_ok(sk_roots_resolve(&roots, "in/a.mp4", &real, &err), &err); /* from the first root on */
    assert_string_equal(real, place("top/in/a.mp4"));
    assert_int_equal(sk_roots_of(&roots, real), 1); /* the innermost */
    sk_free(real);
    assert_ok(sk_roots_resolve_new(&roots, place("top/new/deep/r.csv"), &real, &err), &err);
    assert_string_equal(real, place("top/new/deep/r.csv"));
    sk_free(real);
    assert_int_equal(sk_roots_resolve_new(&roots, place("top/in/new.csv"), &real, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "only read"));
    assert_int_not_equal(sk_roots_resolve_new(&roots, place("top/out/new.csv"), &real, &err), SK_OK);
    assert_int_not_equal(sk_roots_resolve_new(&roots, place("outside/new.csv"), &real, &err), SK_OK);
    put("top/in/list.txt", "x");
    assert_int_equal(sk_roots_resolve_source(&roots, place("top/in/list.txt"), &real, &err), SK_ERR_ARG);
    assert_int_not_equal(sk_roots_resolve_source(&roots, place("top"), &real, &err),
                         SK_OK); /* its link leads out */
    assert_ok(sk_roots_resolve_source(&roots, place("top/in"), &real, &err), &err);
    sk_free(real);
    int file = -1;
    assert_ok(sk_roots_open(&roots, place("top/in/a.mp4"), false, &file, &err), &err);
    close(file);
    assert_ok(sk_roots_open(&roots, place("top/in"), true, &file, &err), &err);
    close(file);
    assert_int_not_equal(sk_roots_open(&roots, place("top/in"), false, &file, &err), SK_OK);
    assert_int_equal(file, -1);
    sk_roots_free(&roots);
    assert_int_equal(roots.count, 0);
}

/* The newest first, each once, twenty of a kind, and only what is still there. */
static void what_was_chosen_last(void **state)
{
    (void)state;
    char body[2048], *text = NULL;
    for (int i = 0; i < 23; i++) {
        char name[64];
        snprintf(name, sizeof name, "top/v%02d.mp4", i);
        put(name, "x");
        snprintf(body, sizeof body, "{\"path\":\"%s\"}", place(name));
        assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, NULL),
                         200);
    }
    put("top/m.pt", "x");
    snprintf(body, sizeof body, "{\"path\":\"%s\"}", place("top/m.pt"));
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, NULL), 200);
    snprintf(body, sizeof body, "{\"path\":\"%s\"}", place("top/v05.mp4"));
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, &text), 200);
    const char *fifth = strstr(text, "v05.mp4"), *last = strstr(text, "v22.mp4");
    assert_true(fifth && last && fifth < last && !strstr(fifth + 1, "v05.mp4"));
    assert_null(strstr(text, "v02.mp4"));
    assert_non_null(strstr(text, "v04.mp4"));
    assert_non_null(strstr(text, "m.pt"));
    assert_true(strstr(text, "\"videos\"") < strstr(text, "\"models\"") &&
                strstr(text, "\"models\"") < strstr(text, "m.pt"));
    sk_free(text);
    unlink(place("top/v22.mp4"));
    assert_int_equal(get("/api/v1/recent", &text), 200);
    assert_null(strstr(text, "v22.mp4"));
    assert_non_null(strstr(text, "v21.mp4"));
    sk_free(text);
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = "{}"}, NULL), 400);
    put("state/recent.json", "{ broken");
    assert_int_equal(get("/api/v1/recent", &text), 200);
    assert_null(strstr(text, "mp4"));
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_decoded),
        cmocka_unit_test(numbers_of_queries),
        cmocka_unit_test(bodies_cookies_and_methods),
        cmocka_unit_test(replies_say_what_happened),
        cmocka_unit_test(rates_are_kept),
        cmocka_unit_test(kinds_of_files_and_folders),
        cmocka_unit_test(folders_hold_what_lies_in_them),
        cmocka_unit_test(what_was_chosen_last),
    };
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
