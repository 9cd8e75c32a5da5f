/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that a page starts: processes of the program, one after another, stopped and continued, found again by the next server.
 * The shapes of what is told are docs/openapi.yaml's. */
#include "server/asking.h"
#include "server/schema.h"

#include "base/clock.h"
#include "runtime/run_lock.h"
#include "server/runs.h"

#include <signal.h>

static char scene[1024], model[1024], body[4096];

static int run_program(const char *words)
{
    char line[4096];
    snprintf(line, sizeof line, "'%s' %s >/dev/null 2>&1", getenv("SKITTER_TEST_BINARY"), words);
    return system(line); /* NOLINT: a test's own words */
}

static int open_all(void **state)
{
    sk_error err = {0};
    char *text = NULL, words[2048];
    size_t bytes = 0;
    if (!getenv("SKITTER_TEST_BINARY"))
        return -1;
    schema_open();
    open_asked(state);
    snprintf(scene, sizeof scene, "%s", place("top/scene.mp4"));
    snprintf(model, sizeof model, "%s", place("top/model.pt"));
    assert_ok(sk_file_read(test_source("share/models/demo-obb.pt"), 1 << 28, &text, &bytes, &err), &err);
    assert_ok(sk_file_replace(model, text, bytes, &err), &err);
    sk_free(text);
    snprintf(words, sizeof words, "scene -o '%s' --seconds 2 --size 320x240", scene);
    return run_program(words);
}

static int close_all(void **state)
{
    schema_close();
    return close_asked(state);
}

static const char *wish(const char *more)
{
    snprintf(
        body, sizeof body,
        "{\"command\":\"track\",\"settings\":{\"source\":[\"%s\"],\"model\":[\"%s\"],\"no-report\":true%s}}",
        scene, model, more);
    return body;
}

/* The run as it stands, checked against its schema; the caller closes it. */
static sk_config *look(const char *id)
{
    sk_error err = {0};
    char target[64], *text = NULL;
    sk_config *json = NULL;
    snprintf(target, sizeof target, "/api/v1/runs/%s", id);
    assert_int_equal(get(target, &text), 200);
    assert_ok(sk_config_open_json(text, strlen(text), "run", &json, &err), &err);
    schema_check(sk_config_find(schema_document, "components.schemas.Run"), sk_config_root(json), "run");
    sk_free(text);
    return json;
}

/* Its state and how many frames it has done. */
static int64_t state_of(const char *id, char out[32])
{
    sk_config *run = look(id);
    snprintf(out, 32, "%s", sk_config_text_or(sk_config_root(run), "state", ""));
    const int64_t frame = sk_config_int_or(sk_config_root(run), "progress.frame", 0);
    sk_config_close(&run);
    return frame;
}

/* Until the run is in this state; 30 seconds at most without a frame more: builds that note what they execute are slow. */
static void wait_for(const char *id, const char *state)
{
    char now[32] = "";
    int64_t at = 0;
    for (int i = 0; i < 600; i++) {
        const int64_t frame = state_of(id, now);
        if (strcmp(now, state) == 0)
            return;
        if (strcmp(now, "failed") == 0 || strcmp(now, "done") == 0)
            break;
        i = frame > at ? 0 : i;
        at = frame;
        sk_clock_sleep_ns(50000000);
    }
    sk_config *run = look(id);
    const char *message = sk_config_text_or(sk_config_root(run), "message", "");
    fail_msg("run %s is %s, and %s was awaited: %s", id, now, state, message);
}

static int post(const char *target, const char *text, char **answer)
{
    return ask((asking){.method = "POST", .target = target, .body = text}, answer);
}

static void start(const char *more, char id[24])
{
    sk_error err = {0};
    char *text = NULL;
    sk_config *json = NULL;
    const int code = post("/api/v1/runs", wish(more), &text);
    if (code != 200)
        fail_msg("%d: %s", code, text);
    assert_ok(sk_config_open_json(text, strlen(text), "run", &json, &err), &err);
    schema_check(sk_config_find(schema_document, "components.schemas.Run"), sk_config_root(json), "run");
    snprintf(id, 24, "%s", sk_config_text_or(sk_config_root(json), "id", ""));
    sk_config_close(&json);
    sk_free(text);
}

static void test_runs_queue_up_and_end(void **state)
{
    (void)state;
    char first[24], second[24], now[32];
    start("", first);
    start("", second);
    state_of(second, now);
    assert_string_equal(now, "queued");
    wait_for(first, "done");
    wait_for(second, "done");
    sk_config *run = look(first);
    const sk_config_value *r = sk_config_root(run);
    assert_string_equal(sk_config_text_or(r, "runtime", ""), "cpu");
    assert_int_equal(sk_config_int_or(r, "progress.frame", 0), 60);
    assert_true(sk_config_count(sk_config_get(r, "log")) > 0);
    assert_true(sk_file_is_regular(place("top/runs/track1/results.csv")));
    assert_true(sk_file_is_regular(place("top/runs/track2/results.csv")));
    sk_config_close(&run);
    char target[64];
    snprintf(target, sizeof target, "/api/v1/runs/%s", first);
    assert_int_equal(ask((asking){.method = "DELETE", .target = target}, NULL), 200);
    assert_int_equal(get(target, NULL), 404);
    assert_true(sk_file_is_regular(place("top/runs/track1/results.csv")));
}

static void test_a_run_is_stopped_and_goes_on(void **state)
{
    (void)state;
    char id[24], target[64], *text = NULL;
    start(",\"no-cache\":true,\"out\":\"again\",\"imgsz\":1280", id); /* slow enough to be stopped */
    for (int i = 0; i < 400; i++) {                                   /* it is at its frames */
        sk_config *run = look(id);
        const int64_t at = sk_config_int_or(sk_config_root(run), "progress.frame", 0);
        sk_config_close(&run);
        if (at > 0)
            break;
        sk_clock_sleep_ns(20000000);
    }
    /* the setting stays, and it is said who holds it */
    assert_int_equal(
        ask((asking){.method = "PUT", .target = "/api/v1/runtime", .body = "{\"value\":\"cpu\"}"}, &text),
        409);
    sk_free(text);
    assert_int_equal(get("/api/v1/runtimes", &text), 200);
    char mine[64];
    snprintf(mine, sizeof mine, "\"run\":\"%s\"", id);
    assert_non_null(strstr(text, mine));
    sk_free(text);
    /* nobody else writes there meanwhile */
    assert_int_equal(post("/api/v1/runs", wish(",\"out\":\"again\""), NULL), 409);
    snprintf(target, sizeof target, "/api/v1/runs/%s/stop", id);
    assert_int_equal(post(target, "", NULL), 200);
    wait_for(id, "stopped");
    assert_int_equal(post(target, "", NULL), 400);
    snprintf(target, sizeof target, "/api/v1/runs/%s/continue", id);
    assert_int_equal(post(target, "", NULL), 200);
    wait_for(id, "done");
    assert_int_equal(post(target, "", NULL), 400);
    sk_config *run = look(id);
    assert_int_equal(sk_config_int_or(sk_config_root(run), "progress.frame", 0), 60);
    assert_true(sk_config_int_or(sk_config_root(run), "progress.continued", 0) > 0);
    sk_config_close(&run);
}

static void test_a_killed_run_is_told_and_goes_on(void **state)
{
    (void)state;
    char id[24], target[64];
    start(",\"no-cache\":true,\"imgsz\":640", id);
    int64_t pid = 0;
    for (int i = 0; i < 400 && !pid; i++) {
        sk_config *run = look(id);
        pid = sk_config_int_or(sk_config_root(run), "progress.frame", 0) > 0
                  ? sk_config_int_or(sk_config_root(run), "pid", 0)
                  : 0;
        sk_config_close(&run);
        sk_clock_sleep_ns(20000000);
    }
    assert_true(pid > 0);
    assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    wait_for(id, "failed");
    sk_config *run = look(id);
    assert_non_null(strstr(sk_config_text_or(sk_config_root(run), "message", ""), "signal 9"));
    sk_config_close(&run);
    snprintf(target, sizeof target, "/api/v1/runs/%s/continue", id);
    assert_int_equal(post(target, "", NULL), 200);
    wait_for(id, "done");
}

/* The server ends, the run does not; the next one finds it. */
static void test_the_next_server_finds_a_run(void **state)
{
    char id[24], waits[24], now[32];
    start(",\"no-cache\":true,\"imgsz\":640", id);
    start("", waits);
    close_asked(state);
    open_asked(state);
    state_of(waits, now);
    assert_string_equal(now, "stopped"); /* nothing begins by itself */
    wait_for(id, "done");
    sk_config *run = look(id);
    assert_int_equal(sk_config_int_or(sk_config_root(run), "progress.frame", 0), 60);
    sk_config_close(&run);
}

static void test_a_run_that_cannot_be(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "{\"command\":\"rm\"}",
        "{\"command\":\"track\"}",
        "{\"command\":\"track\",\"settings\":7}",
        "{\"command\":\"track\",\"settings\":{\"source\":[\"/etc/passwd\"]}}",
        "{\"command\":\"track\",\"settings\":{\"source\":[\"scene.mp4\"],\"model\":[\"../outside/x.pt\"]}}",
        "{\"command\":\"track\",\"settings\":{\"source\":[\"concat:/etc/passwd\"],\"model\":[\"a\"]}}",
        "{\"command\":\"track\",\"settings\":{\"source\":[\"file:///etc/passwd\"],\"model\":[\"a\"]}}",
        "{\"command\":\"track\",\"settings\":{\"source\":[7]}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int code = post("/api/v1/runs", bad[i], NULL);
        if (code != 400 && code != 403 && code != 404 && code != 422)
            fail_msg("%s: %d", bad[i], code);
    }
    static const char *const more[] = {",\"out\":\"../outside/run\"",
                                       ",\"out\":\"/tmp/elsewhere\"",
                                       ",\"out\":\"-\"",
                                       ",\"events\":3",
                                       ",\"preview\":\"x.jpg\"",
                                       ",\"nonsense\":1",
                                       ",\"conf\":7",
                                       ",\"conf\":true",
                                       ",\"online\":\"x\"",
                                       ",\"roi-mask\":\"/etc/passwd\"",
                                       ",\"cache\":\"/tmp/x\"",
                                       ",\"video-list\":\"x.txt\"",
                                       ",\"conf\":\"0.3 --out=/tmp/x\"",
                                       ",\"overwrite\":true",
                                       ",\"model\":\"/etc/passwd\""};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char *text = NULL;
        const int code = post("/api/v1/runs", wish(more[i]), &text);
        if (code != 400 && code != 403)
            fail_msg("%s: %d %s", more[i], code, text);
        sk_free(text);
    }
    assert_false(sk_file_exists(place("outside/run")));
    /* nor is what a configuration names read elsewhere */
    assert_int_equal(sk_file_replace(place("outside/m.pt"), "m", 1, NULL), SK_OK);
    char config[2048], *told = NULL;
    snprintf(config, sizeof config,
             "{\"yolo_model_path\": \"%s\", \"detection_method\": \"yolo_obb\", \"max_targets\": 4, "
             "\"file_path\": \"x\"}",
             place("outside/m.pt"));
    assert_int_equal(sk_file_replace(place("top/config.json"), config, strlen(config), NULL), SK_OK);
    assert_int_equal(
        post("/api/v1/command",
             "{\"command\":\"track\",\"settings\":{\"source\":[\"scene.mp4\"],\"config\":\"config.json\"}}",
             &told),
        400);
    assert_non_null(strstr(told, "outside/m.pt"));
    sk_free(told);
    assert_int_equal(post("/api/v1/command", wish(",\"config\":\"config.json\""), NULL), 200);
    /* what the program refuses is told in its own words */
    char id[24];
    assert_int_equal(sk_file_replace(place("top/no.mp4"), "no video", 8, NULL), SK_OK);
    snprintf(body, sizeof body,
             "{\"command\":\"predict\",\"settings\":{\"source\":[\"no.mp4\"],\"model\":[\"%s\"]}}", model);
    char *text = NULL;
    assert_int_equal(post("/api/v1/runs", body, &text), 200);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(strstr(text, "\"id\":\"") + 6, "\""),
             strstr(text, "\"id\":\"") + 6);
    sk_free(text);
    for (int i = 0; i < 400; i++) {
        char now[32];
        state_of(id, now);
        if (strcmp(now, "failed") == 0)
            break;
        sk_clock_sleep_ns(50000000);
    }
    sk_config *run = look(id);
    assert_non_null(strstr(sk_config_text_or(sk_config_root(run), "message", ""), "no.mp4"));
    sk_config_close(&run);
}

/* Test on this frame: by models, with what a run would keep, and by a background. */
static void test_one_frame(void **state)
{
    (void)state;
    sk_error err = {0};
    /* the last two: of a region without animals all are outside */
    static const char *const more[] = {
        "", ",\"conf\":0.9999", ",\"detector\":\"background\",\"model\":null", ",\"roi\":[\"circle:0,0,1\"]",
        ",\"roi\":[\"!0,0,9999,9999\"],\"detector\":\"background\",\"model\":null"};
    static const int least[] = {1, 0, 1, 0, 0}, most[] = {50, 0, 50, 0, 0}, outside[] = {0, 0, 0, 1, 1};
    for (int i = 0; i < 5; i++) {
        char *text = NULL;
        sk_config *json = NULL;
        snprintf(
            body, sizeof body,
            "{\"command\":\"track\",\"frame\":7,\"settings\":{\"source\":[\"%s\"],\"model\":[\"%s\"]%s}}",
            scene, model, more[i]);
        const int code = post("/api/v1/test-frame", body, &text);
        if (code != 200)
            fail_msg("%d: %s", code, text);
        assert_ok(sk_config_open_json(text, strlen(text), "frame", &json, &err), &err);
        const sk_config_value *root = sk_config_root(json);
        schema_check(sk_config_find(schema_document, "components.schemas.TestFrame"), root, "frame");
        assert_int_equal(sk_config_int_or(root, "frame", 0), 7);
        assert_string_equal(sk_config_text_or(root, "runtime", ""), "cpu");
        const size_t n = sk_config_count(sk_config_get(root, "instances"));
        assert_in_range(n, least[i], most[i]);
        assert_int_equal(sk_config_int_or(root, "outside", -1) > 0, outside[i]);
        sk_config_close(&json);
        sk_free(text);
    }
    snprintf(body, sizeof body,
             "{\"command\":\"track\",\"frame\":700,\"settings\":{\"source\":[\"%s\"],\"model\":[\"%s\"]}}",
             scene, model);
    assert_int_equal(post("/api/v1/test-frame", body, NULL), 404);
    assert_int_equal(post("/api/v1/test-frame", "{\"command\":\"track\",\"frame\":-1}", NULL), 400);
}

static void test_runs_of_terminals(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_lock *run = NULL;
    char *text = NULL, id[32];
    snprintf(id, sizeof id, "\"id\":\"pid-%ld\"", (long)getpid());
    assert_ok(sk_run_lock_open("/data/run7", &run, &err), &err);
    bool seen = false;
    for (int i = 0; i < 100 && !seen; i++) {
        assert_int_equal(get("/api/v1/runs", &text), 200);
        seen = strstr(text, id) && strstr(text, "\"own\":false");
        sk_free(text);
        sk_clock_sleep_ns(50000000);
    }
    assert_true(seen);
    sk_run_lock_close(&run);
}

/* What cannot be run is refused where it is chosen, not when the run begins. */
static void test_a_model_that_is_cut_off(void **state)
{
    (void)state;
    sk_error err = {0};
    char *whole = NULL, *text = NULL;
    size_t bytes = 0;
    assert_ok(sk_file_read(model, 1 << 28, &whole, &bytes, &err), &err);
    assert_ok(sk_file_replace(place("top/cut.pt"), whole, bytes / 2, &err), &err);
    assert_int_equal(get("/api/v1/probe?path=model.pt", NULL), 200);
    assert_int_equal(get("/api/v1/probe?path=cut.pt", &text), 422);
    assert_non_null(strstr(text, "cut off"));
    sk_free_all(whole, text);
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_queue_up_and_end),
        cmocka_unit_test(test_a_run_is_stopped_and_goes_on),
        cmocka_unit_test(test_a_killed_run_is_told_and_goes_on),
        cmocka_unit_test(test_the_next_server_finds_a_run),
        cmocka_unit_test(test_a_run_that_cannot_be),
        cmocka_unit_test(test_a_model_that_is_cut_off),
        cmocka_unit_test(test_one_frame),
        cmocka_unit_test(test_runs_of_terminals),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
