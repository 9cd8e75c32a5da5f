/* SPDX-License-Identifier: Apache-2.0 */
/* The compute runtime as a page sees and sets it: which pipelines count, what is saved where and what counts more, who holds it, and
 * when the machine is looked at again. */
#include "server/asking.h"

#include "base/clock.h"
#include "formats/config.h"
#include "runtime/run_lock.h"
#include "server/events.h"
#include "support/yolo_writer.h"

static int open_all(void **state)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true}, boxes = {.head = "OBB", .f32 = true};
    open_asked(state);
    assert_int_equal(rename(yolo_save(&pose, "pose.pt"), place("top/pose.pt")), 0);
    assert_int_equal(rename(yolo_save(&boxes, "boxes.pt"), place("top/boxes.pt")), 0);
    put("top/broken.pt", "no model");
    put("outside/pose.pt", "x");
    mkdir(place("config"), 0700);
    return 0;
}

static void must_say(const char *target, int code, const char *words)
{
    char *text = NULL;
    const int got = get(target, &text);
    if (got != code || !strstr(text, words))
        fail_msg("%s: %d, no %s in %s", target, got, words, text);
    sk_free(text);
}

static void pipelines_are_those_of_models(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int code;
        const char *words;
    } cases[] = {{"", 200, "\"pipelines\":[]"},
                 {"?model=", 200, "\"pipelines\":[]"},
                 {"?pipelines=yolo_pose", 200, "\"pipelines\":[\"yolo_pose\"]"},
                 {"?model=pose.pt", 200, "\"pipelines\":[\"yolo_pose\"]"},
                 {"?model=boxes.pt", 200, "\"pipelines\":[\"yolo_obb_detection\"]"},
                 {"?model=&model=pose.pt&x=1&model=boxes.pt", 200,
                  "\"pipelines\":[\"yolo_obb_detection\",\"yolo_pose\"]"},
                 {"?pipelines=sleap_pose&model=pose.pt", 200, "\"pipelines\":[\"yolo_pose\",\"sleap_pose\"]"},
                 {"?model=../outside/pose.pt", 403, "may use"},
                 {"?model=broken.pt", 422, "broken.pt"},
                 {"?model=none.pt", 404, "none.pt"},
                 {"?pipelines=cats", 400, "cats"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[200];
        snprintf(target, sizeof target, "/api/v1/runtimes%s", cases[i].query);
        must_say(target, cases[i].code, cases[i].words);
    }
}

static void the_machine_is_looked_at_again(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        bool again;
    } cases[] = {{"/api/v1/doctor", false},
                 {"/api/v1/doctor?fresh=0", false},
                 {"/api/v1/doctor?fresh=1", true},
                 {"/api/v1/runtimes?fresh=1", false},
                 {"/api/v1/troubleshooting", false},
                 {"/api/v1/troubleshooting?fresh=1", true},
                 {"/api/v1/troubleshooting?fresh=2", false}};
    must_say("/api/v1/doctor", 200, "\"probed\":\"");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t before = asked->probes.at_ns;
        assert_int_equal(get(cases[i].target, NULL), 200);
        if ((asked->probes.at_ns > before) != cases[i].again)
            fail_msg("%s", cases[i].target);
    }
}

/* Every row as the probes have it: what is allowed has no reason against it. */
static void rows_are_whole(void **state)
{
    (void)state;
    char *text = NULL;
    sk_config *json = NULL;
    sk_error err = {0};
    assert_int_equal(get("/api/v1/runtimes?pipelines=yolo_pose", &text), 200);
    assert_ok(sk_config_open_json(text, strlen(text), "answer", &json, &err), &err);
    const sk_config_value *rows = sk_config_get(sk_config_root(json), "runtimes");
    assert_int_equal(sk_config_count(rows), SK_RUNTIME_COUNT);
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const sk_config_value *row = sk_config_at(rows, (size_t)i);
        const sk_probe_row *probe = &asked->probes.rows[i];
        const bool allowed = sk_config_bool_or(row, "allowed", false);
        assert_string_equal(sk_config_text_or(row, "name", ""), sk_runtime_name((sk_runtime)i));
        assert_string_equal(sk_config_text_or(row, "label", ""), sk_runtime_label((sk_runtime)i));
        assert_string_equal(sk_config_text_or(row, "meaning", ""), sk_runtime_meaning((sk_runtime)i));
        assert_string_equal(sk_config_text_or(row, "probe", ""), probe->reason);
        assert_int_equal(sk_config_bool_or(row, "available", false), probe->available);
        assert_int_equal(sk_config_text(sk_config_get(row, "because")) == NULL, allowed);
        assert_int_equal(sk_config_text(sk_config_get(row, "remedy")) != NULL, !allowed && probe->remedy[0]);
        assert_int_equal(sk_config_count(sk_config_get(row, "devices")), probe->n_devices);
        assert_string_equal(sk_config_text_or(row, "library", ""), probe->library);
        assert_string_equal(sk_config_text_or(row, "version", ""), probe->version);
    }
    sk_config_close(&json);
    sk_free(text);
}

static void wake(void *context)
{
    (void)context;
}

static int put_runtime(const char *body)
{
    return ask((asking){.method = "PUT", .target = "/api/v1/runtime", .body = body}, NULL);
}

/* What is chosen is saved and told to all pages; what counts more is said, the strongest first, and stays. */
static void what_is_chosen_and_what_counts_more(void **state)
{
    (void)state;
    sk_events_reader *reader = NULL;
    sk_error err = {0};
    sk_text heard = {0};
    bool ended;
    char user[1200];
    assert_ok(sk_events_listen(asked->events, NULL, wake, NULL, &reader, &err), &err);
    assert_int_equal(put_runtime("{\"value\":\"cpu\",\"pipelines\":[\"yolo_pose\",\"sleap_pose\"]}"), 200);
    while (sk_events_read(asked->events, reader, &heard, NULL, &ended))
        ;
    assert_non_null(
        strstr(sk_text_get(&heard), "event: runtimes\ndata: {\"value\":\"cpu\",\"notice\":null}"));
    sk_text_clear(&heard);
    snprintf(user, sizeof user, "\"levels\":[{\"level\":\"user\",\"value\":\"cpu\",\"where\":\"%s\"}",
             place("config/skitter.json"));
    must_say("/api/v1/runtimes", 200, user);
    must_say("/api/v1/runtimes", 200, "\"saved\":\"cpu\",\"saved_by\":\"user\"");
    setenv("SKITTER_COMPUTE_RUNTIME", "cpu", 1);
    must_say("/api/v1/runtimes", 200, "\"levels\":[{\"level\":\"environment\",\"value\":\"cpu\",");
    must_say("/api/v1/runtimes", 200, "},{\"level\":\"user\",\"value\":\"cpu\",");
    must_say("/api/v1/runtimes", 200, "\"effective\":\"cpu\",\"notice\":null");
    assert_int_equal(put_runtime("{\"value\":\"cpu\"}"), 400);
    /* nothing is wrong with it: nothing is told */
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/runtime/reset", .body = "{}"}, NULL),
                     200);
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/runtime/reset", .body = "{}"}, NULL),
                     200);
    assert_false(sk_events_read(asked->events, reader, &heard, NULL, &ended));
    assert_int_equal(put_runtime("{\"value\":\"cpu\",\"pipelines\":[\"yolo_pose\",\"cats\"]}"), 400);
    assert_int_equal(put_runtime("{\"value\":\"cpu\",\"pipelines\":\"cats\"}"), 400);
    assert_int_equal(put_runtime("{\"pipelines\":[]}"), 400);
    sk_text_free(&heard);
    sk_events_leave(asked->events, &reader);
}

/* A test on a frame holds it for a moment, and is nobody's concern. */
static void who_holds_it(void **state)
{
    (void)state;
    sk_run_lock *lock = NULL;
    sk_error err = {0};
    char holder[300], *text = NULL;
    must_say("/api/v1/runtimes", 200, "\"locked_by\":[]");
    assert_ok(sk_run_lock_open("/data/run9", &lock, &err), &err);
    snprintf(holder, sizeof holder, "\"pid\":%ld,\"run\":null}]", (long)getpid());
    must_say("/api/v1/runtimes", 200, "\"locked_by\":[{\"name\":\"/data/run9\",\"command\":\"");
    must_say("/api/v1/runtimes", 200, holder);
    assert_int_equal(get("/api/v1/runtimes", &text), 200);
    assert_null(strstr(text, "\"since\":\"1970"));
    sk_free(text);
    atomic_store(&asked->testing_pid, getpid());
    must_say("/api/v1/runtimes", 200, "\"locked_by\":[]");
    atomic_store(&asked->testing_pid, 0);
    sk_run_lock_close(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelines_are_those_of_models),
        cmocka_unit_test(the_machine_is_looked_at_again),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(what_is_chosen_and_what_counts_more),
        cmocka_unit_test(who_holds_it),
    };
    return cmocka_run_group_tests(tests, open_all, close_asked);
}
