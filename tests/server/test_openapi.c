/* SPDX-License-Identifier: Apache-2.0 */
/* docs/openapi.yaml and the server agree: the same routes and methods, and every answer has the shape that is written there. */
#include "server/asking.h"
#include "server/schema.h"

static const sk_config_value *paths(void)
{
    return sk_config_get(schema_document, "paths");
}

static int open_all(void **state)
{
    schema_open();
    return open_asked(state);
}

static int close_all(void **state)
{
    schema_close();
    return close_asked(state);
}

static const sk_config_value *described(const sk_route *route)
{
    char path[128], method[16];
    snprintf(path, sizeof path, "/%s", route->path);
    snprintf(method, sizeof method, "%s", sk_method_name(route->method));
    for (char *c = method; *c; c++)
        *c = (char)(*c + ('a' - 'A'));
    return sk_config_get(sk_config_get(paths(), path), method);
}

static const sk_config_value *answer_of(const sk_config_value *operation, const char *code)
{
    const sk_config_value *content =
        sk_config_get(sk_config_get(sk_config_get(operation, "responses"), code), "content");
    return sk_config_get(content, "application/json");
}

static void test_every_route_is_described(void **state)
{
    (void)state;
    for (size_t i = 0; sk_route_at(i); i++)
        if (!described(sk_route_at(i)))
            fail_msg("docs/openapi.yaml lacks %s /%s", sk_method_name(sk_route_at(i)->method),
                     sk_route_at(i)->path);
}

static void test_every_description_is_a_route(void **state)
{
    (void)state;
    size_t n = 0, routes = 0;
    while (sk_route_at(routes))
        routes++;
    for (size_t i = 0; i < paths()->length; i++)
        n += sk_config_count(paths()->u.pairs[i].value);
    assert_int_equal(n, routes);
}

static void test_examples_have_their_shape(void **state)
{
    (void)state;
    for (size_t i = 0; sk_route_at(i); i++) {
        const sk_config_value *operation = described(sk_route_at(i)),
                              *responses = sk_config_get(operation, "responses");
        assert_non_null(sk_config_text(sk_config_get(operation, "summary")));
        assert_non_null(sk_config_get(responses, "200"));
        const sk_config_value *json = answer_of(operation, "200");
        if (sk_config_get(json, "example"))
            schema_check(sk_config_get(json, "schema"), sk_config_get(json, "example"), sk_route_at(i)->path);
    }
}

/* Asks, and holds the answer against the schema of the code that came. */
static void shape(const char *method, const char *route, const char *target, const char *body, int want)
{
    sk_error err = {0};
    char *text = NULL, where[256];
    sk_config *json = NULL;
    sk_route key = {.path = route};
    assert_true(sk_method_find(method, &key.method));
    snprintf(where, sizeof where, "%s %s", method, target);
    const int code = ask((asking){.method = method, .target = target, .body = body}, &text);
    if (code != want)
        fail_msg("%s: %d, and %d was expected: %s", where, code, want, text);
    assert_ok(sk_config_open_json(text, strlen(text), where, &json, &err), &err);
    const sk_config_value *operation = described(&key);
    assert_non_null(operation);
    schema_check(code == 200 ? sk_config_get(answer_of(operation, "200"), "schema")
                             : sk_config_find(schema_document, "components.schemas.Error"),
                 sk_config_root(json), where);
    sk_config_close(&json);
    sk_free(text);
}

static void test_answers_have_their_shape(void **state)
{
    (void)state;
    sk_error err = {0};
    mkdir(place("top/folder"), 0700);
    assert_ok(sk_file_replace(place("top/a.mp4"), "no video", 8, &err), &err);
    char files[1200], frame[1200];
    snprintf(files, sizeof files, "/api/v1/files?path=%s", place("top"));
    snprintf(frame, sizeof frame, "/api/v1/frame?source=%s", place("top/a.mp4"));
    shape("GET", "about", "/api/v1/about", NULL, 200);
    shape("GET", "runtimes", "/api/v1/runtimes?pipelines=sleap_pose", NULL, 200);
    shape("GET", "doctor", "/api/v1/doctor", NULL, 200);
    shape("PUT", "runtime", "/api/v1/runtime", "{\"value\":\"cpu\"}", 200);
    shape("PUT", "runtime", "/api/v1/runtime", "{\"value\":\"mps\"}", 422);
    shape("POST", "runtime/reset", "/api/v1/runtime/reset", "{}", 200);
    shape("GET", "files", "/api/v1/files", NULL, 200);
    shape("GET", "files", files, NULL, 200);
    shape("GET", "files", "/api/v1/files?path=/etc", NULL, 403);
    shape("GET", "frame", "/api/v1/frame", NULL, 400);
    shape("GET", "frame", frame, NULL, 422);
    shape("GET", "runs", "/api/v1/runs", NULL, 200);
    shape("GET", "runs/{id}", "/api/v1/runs/7", NULL, 404);
    shape("GET", "runs/{id}/preview.jpg", "/api/v1/runs/7/preview.jpg", NULL, 404);
    shape("POST", "runs", "/api/v1/runs", "{}", 400);
    shape("POST", "command", "/api/v1/command", "{}", 400);
    shape("POST", "runs/{id}/stop", "/api/v1/runs/7/stop", NULL, 404);
    shape("POST", "runs/{id}/continue", "/api/v1/runs/7/continue", NULL, 404);
    shape("DELETE", "runs/{id}", "/api/v1/runs/7", NULL, 404);
    shape("GET", "settings", "/api/v1/settings?command=track", NULL, 200);
    shape("GET", "settings", "/api/v1/settings?command=rm", NULL, 400);
    shape("GET", "troubleshooting", "/api/v1/troubleshooting?pipelines=yolo_pose", NULL, 200);
    shape("GET", "troubleshooting", "/api/v1/troubleshooting?pipelines=x", NULL, 400);
}

/* What files are, and which were chosen last. */
static void test_chosen_files_have_their_shape(void **state)
{
    (void)state;
    sk_error err = {0};
    char target[2200], body[1200], *text = NULL;
    mkdir(place("top/run1"), 0700);
    assert_ok(sk_file_replace(place("top/run1/run.json"), "{}", 2, &err), &err);
    assert_ok(sk_file_replace(place("top/b.mp4"), "no video", 8, &err), &err);
    assert_ok(sk_file_replace(place("top/b.pt"), "no model", 8, &err), &err);
    assert_ok(sk_file_replace(place("top/words.txt"), "/etc/passwd\n", 12, &err), &err);
    static const struct {
        const char *name;
        int want;
    } files[] = {{"top/run1", 200},      {"top", 200},     {"top/b.mp4", 422}, {"top/b.pt", 422},
                 {"top/words.txt", 200}, {"outside", 403}, {"top/none", 404}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(target, sizeof target, "/api/v1/probe?path=%s", place(files[i].name));
        shape("GET", "probe", target, NULL, files[i].want);
    }
    shape("GET", "probe", "/api/v1/probe", NULL, 400);

    static const char *const chosen[] = {"top/run1", "top/b.pt", "top/b.mp4", "top/a.mp4", "top/b.mp4"};
    assert_ok(sk_file_replace(place("top/a.mp4"), "no video", 8, &err), &err);
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        snprintf(body, sizeof body, "{\"path\": \"%s\"}", place(chosen[i]));
        shape("POST", "recent", "/api/v1/recent", body, 200);
    }
    snprintf(body, sizeof body, "{\"path\": \"%s\"}", place("outside"));
    shape("POST", "recent", "/api/v1/recent", body, 403);
    shape("POST", "recent", "/api/v1/recent", "{}", 400);
    shape("GET", "recent", "/api/v1/recent", NULL, 200);
    assert_int_equal(get("/api/v1/recent", &text), 200);
    const char *b = strstr(text, "b.mp4"), *a = strstr(text, "a.mp4");
    assert_non_null(a);
    assert_true(b && b < a && !strstr(a, "b.mp4")); /* newest first, each once */
    sk_free(text);
    assert_int_equal(unlink(place("top/a.mp4")), 0);
    assert_int_equal(get("/api/v1/recent", &text), 200);
    assert_null(strstr(text, "a.mp4")); /* what is gone is not shown */
    sk_free(text);
}

/* Drawn once; a link in its place is not followed out of the folders. */
static void test_the_demo_is_drawn(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    skip(); /* no video, no scene */
#endif
    struct stat first, second;
    sk_error err = {0};
    assert_ok(sk_roots_add(&asked->roots, test_source("share/models"), false, &err), &err);
    setenv("SKITTER_MODELS", test_source("share/models"), 1);
    assert_int_equal(symlink(place("outside"), place("top/skitter-demo-page")), 0);
    shape("POST", "demo", "/api/v1/demo", "{}", 403);
    assert_int_not_equal(stat(place("outside/scene.mp4"), &first), 0);
    assert_int_equal(unlink(place("top/skitter-demo-page")), 0);
    shape("POST", "demo", "/api/v1/demo", "{}", 200);
    assert_int_equal(stat(place("top/skitter-demo-page/scene.mp4"), &first), 0);
    shape("POST", "demo", "/api/v1/demo", "{}", 200);
    assert_int_equal(stat(place("top/skitter-demo-page/scene.mp4"), &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    unsetenv("SKITTER_MODELS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_route_is_described),
        cmocka_unit_test(test_every_description_is_a_route),
        cmocka_unit_test(test_examples_have_their_shape),
        cmocka_unit_test(test_answers_have_their_shape),
        cmocka_unit_test(test_chosen_files_have_their_shape),
        cmocka_unit_test(test_the_demo_is_drawn),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
