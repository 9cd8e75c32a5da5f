/* SPDX-License-Identifier: Apache-2.0 */
/* What people do with runs, and what comes of it: how the program is started, what it tells as a page is told it, what is kept on the
 * disk at every step, which process is asked to stop, and runs of terminals. */
#include "server/keeping.h"

#include "base/clock.h"
#include "base/spawn.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* --- how it is told --- */

static const char *as_told(const sk_page_run *run, bool log)
{
    static char copy[1 << 14];
    sk_text text = {0};
    sk_json j = sk_json_to_text(&text, 0);
    sk_runs_put_run(run, log, &j);
    assert_int_equal(sk_json_end(&j, NULL), SK_OK);
    snprintf(copy, sizeof copy, "%s", sk_text_get(&text));
    copy[strcspn(copy, "\n")] = '\0';
    sk_text_free(&text);
    return copy;
}

static void runs_say_what_they_told(void **state)
{
    (void)state;
    static const struct {
        const char *event, *part; /* what a page is told once it came */
    } steps[] = {
        {"", "\"runtime_requested\":null,\"runtime\":null,\"device\":null,\"notice\":null,\"own\":true"},
        {"", "\"preview\":null,\"progress\":null,\"export\":null,\"message\":null,\"hint\":null"},
        {"{\"event\":\"export\",\"step\":\"making\",\"path\":\"a.onnx\"}",
         "\"export\":{\"runtime\":null,\"step\":\"making\",\"text\":\"a.onnx\",\"share\":null}"},
        {"{\"event\":\"begin\",\"runtime_requested\":\"tensorrt\"}", "\"runtime_requested\":\"tensorrt\""},
        {"{\"event\":\"export\",\"step\":\"checking\",\"path\":\"b.onnx\",\"part\":0}",
         "\"export\":{\"runtime\":\"tensorrt\",\"step\":\"checking\",\"text\":\"b.onnx\",\"share\":0}"},
        {"{\"event\":\"export\",\"step\":\"checking\",\"part\":0.25}", "\"text\":\"b.onnx\",\"share\":0.25}"},
        {"{\"event\":\"export\",\"step\":\"done\",\"path\":\"b.onnx\"}", "\"export\":null"},
        {"{\"event\":\"export\",\"step\":\"making\"}", "\"step\":\"making\""},
        {"{\"event\":\"notice\",\"text\":\"mind the gap\"}", "\"notice\":\"mind the gap\""},
        {"{\"event\":\"preview\",\"frame\":0}", "\"preview\":0"},
        {"{\"event\":\"preview\",\"frame\":7}", "\"preview\":7"},
        {"{\"event\":\"preview\"}", "\"preview\":7"},
        {"{\"event\":\"progress\",\"frame\":5,\"total\":200,\"runtime\":\"cpu\",\"device\":\"a chip\"}",
         "\"runtime\":\"cpu\",\"device\":\"a chip\""},
        {"", "\"progress\":{\"frame\":5,\"total\":200},\"export\":null"},
        {"{\"event\":\"result\",\"state\":\"stopped\",\"frames\":9,\"runtime\":\"cuda\",\"device\":\"card\"}",
         "\"runtime\":\"cuda\",\"device\":\"card\""},
        {"", "\"progress\":{\"frame\":5,\"total\":200}"}, /* only one that is finished has no more frames */
        {"{\"event\":\"result\",\"state\":\"finished\",\"frames\":0}",
         "\"progress\":{\"frame\":5,\"total\":200}"},
        {"{\"event\":\"result\",\"state\":\"finished\",\"frames\":1}",
         "\"progress\":{\"frame\":1,\"total\":1}"},
        {"{\"event\":\"begin\"}", "\"progress\":{\"frame\":5,\"total\":200}"}, /* the next source */
        {"{\"event\":\"end\",\"status\":3,\"message\":\"it broke\\nmend it\"}",
         "\"message\":\"it broke\",\"hint\":\"mend it\""}};
    sk_runs runs = {.server = &server};
    sk_page_run *run = sk_calloc(1, sizeof *run);
    sk_text events = {0};
    snprintf(run->id, sizeof run->id, "61");
    sk_page_run_forget(run);
    put("61.log", "");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].event[0])
            sk_text_appendf(&events, "%s\n", steps[i].event);
        put("61.events", sk_text_get(&events));
        run->changed = false;
        assert_int_equal(sk_page_run_hear(&runs, run), steps[i].event[0] != '\0');
        assert_int_equal(run->changed, steps[i].event[0] != '\0');
        if (!strstr(as_told(run, false), steps[i].part))
            fail_msg("step %zu: no %s in %s", i, steps[i].part, as_told(run, false));
    }
    assert_true(run->told.ended && run->told.end_status == 3);
    assert_null(strstr(as_told(run, false), "\"log\""));
    put("61.log", "one\ntwo\nhalf");
    assert_true(sk_page_run_hear(&runs, run));
    assert_non_null(strstr(as_told(run, true), "\"log\":[\"one\",\"two\"]}"));
    sk_text_free(&events);
    sk_page_run_free(run);
}

/* The last word decides, of whatever length what came before was. */
static void long_lines_are_left_out(void **state)
{
    (void)state;
    sk_runs runs = {.server = &server};
    sk_page_run *run = sk_calloc(1, sizeof *run);
    sk_text text = {0};
    snprintf(run->id, sizeof run->id, "62");
    sk_page_run_forget(run);
    sk_text_append(&text, "{\"event\":\"notice\",\"text\":\"");
    for (int i = 0; i < 300 << 10; i++)
        sk_text_append(&text, "x");
    sk_text_append(&text, "\"}\n{\"event\":\"preview\",\"frame\":4}\n");
    put("62.events", sk_text_get(&text));
    put("62.log", sk_text_get(&text));
    assert_true(sk_page_run_hear(&runs, run));
    assert_string_equal(run->told.notice, "");
    assert_int_equal(run->told.preview, 4);
    assert_int_equal(run->log_count, 1);
    assert_string_equal(run->log[0], "{\"event\":\"preview\",\"frame\":4}");
    assert_false(sk_page_run_hear(&runs, run));
    sk_text_free(&text);
    sk_page_run_free(run);
}

static void runs_of_terminals_have_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *command, *told;
    } cases[] = {
        {"/data/run7", "build/skitter track a.mp4 -o x",
         "{\"id\":\"pid-41\",\"command\":\"track\",\"title\":\"/data/run7\",\"state\":\"running\",\"folder\":"
         "null,\"source\":null,\"command_line\":\"build/skitter track a.mp4 -o "
         "x\",\"runtime_requested\":null,"
         "\"runtime\":null,\"device\":null,\"notice\":null,\"own\":false,\"pid\":41,\"created\":\"1970-01-"
         "01T00:"
         "00:05"},
        {"", "skitter predict", "\"command\":\"predict\",\"title\":\"skitter predict\""},
        {"", "python", "\"command\":\"run\",\"title\":\"python\""},
        {"", "a b", "\"command\":\"b\""},
        {"", "a ", "\"command\":\"run\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_run_info info = {.holder = {.pid = 41, .since_ms = 5000}};
        sk_text text = {0};
        sk_json j = sk_json_to_text(&text, 0);
        snprintf(info.name, sizeof info.name, "%s", cases[i].name);
        snprintf(info.holder.command, sizeof info.holder.command, "%s", cases[i].command);
        sk_runs_put_elsewhere(&info, &j);
        assert_int_equal(sk_json_end(&j, NULL), SK_OK);
        if (!strstr(sk_text_get(&text), cases[i].told))
            fail_msg("%s", sk_text_get(&text));
        assert_non_null(strstr(sk_text_get(&text), "\"started\":\"1970-01-01T00:00:05"));
        assert_non_null(strstr(sk_text_get(&text), "\"ended\":null,\"preview\":null,\"progress\":null,"
                                                   "\"export\":null,\"message\":null,\"hint\":null}"));
        sk_text_free(&text);
    }
}

/* --- what is done with them --- */

/* What the file says of a run. */
static void must_be_kept(const char *id, const char *state)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_config *json = NULL;
    sk_error err = {0};
    bool kept = false;
    assert_ok(sk_file_read(at("runs.json"), 1 << 20, &text, &bytes, &err), &err);
    assert_ok(sk_config_open_json(text, bytes, "runs.json", &json, &err), &err);
    const sk_config_value *list = sk_config_get(sk_config_root(json), "runs");
    for (size_t i = 0; i < sk_config_count(list); i++)
        if (strcmp(sk_config_text_or(sk_config_at(list, i), "id", ""), id) == 0) {
            kept = true;
            assert_string_equal(sk_config_text_or(sk_config_at(list, i), "state", ""), state);
        }
    assert_int_equal(kept, state != NULL);
    sk_config_close(&json);
    sk_free(text);
}

static void must_hear(sk_events_reader *reader, const char *event, const char *words)
{
    sk_text heard = {0};
    hear(reader, &heard);
    const char *line = strstr(sk_text_get(&heard), event);
    if (!line || !strstr(line, words))
        fail_msg("nobody said %s %s: %s", event, words, sk_text_get(&heard));
    sk_text_free(&heard);
}

static void every_act_is_kept_and_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_events_reader *reader = NULL;
    char id[24], text[512];
    const long long own = (long long)getpid(), since = (long long)sk_process_started(getpid());
    snprintf(text, sizeof text,
             "{\"last_id\": 4, \"runs\": [{\"id\": \"4\", \"command\": \"track\", \"state\": \"running\", "
             "\"folder\": \"/busy\", \"pid\": %lld, \"pid_start\": %lld},{\"id\": \"3\", \"command\": "
             "\"track\", \"folder\": \"/busy\", \"state\": \"failed\", \"message\": \"why\"}]}",
             own, since);
    put("runs.json", text);
    sk_runs *runs = open_runs("/nowhere");
    assert_ok(sk_events_listen(server.events, NULL, wake, NULL, &reader, &err), &err);
    add(runs, "/five", SK_OK, id); /* it waits behind the other */
    assert_string_equal(id, "5");
    must_be_kept("5", "queued");
    must_hear(reader, "event: run\n",
              "\"id\":\"5\",\"command\":\"track\",\"title\":\"five\",\"state\":\"queued\"");
    assert_ok(sk_runs_stop(runs, "5", &err), &err);
    must_be_kept("5", "stopped");
    must_hear(reader, "event: run\n", "\"state\":\"stopped\"");
    assert_int_equal(sk_runs_stop(runs, "5", &err), SK_ERR_ARG);
    assert_string_equal(err.message, "run 5 is over: stopped");
    assert_ok(sk_runs_continue(runs, "5", &err), &err);
    must_be_kept("5", "queued");
    must_hear(reader, "event: run\n", "\"state\":\"queued\"");
    must_say(runs, "5", "\"message\":null");
    assert_int_equal(sk_runs_continue(runs, "5", &err), SK_ERR_ARG);
    assert_string_equal(err.message, "run 5 is queued: there is nothing to continue");
    assert_int_equal(sk_runs_continue(runs, "3", &err), SK_ERR_BUSY); /* another writes there */
    must_say(runs, "3", "\"state\":\"failed\"");
    assert_int_equal(sk_runs_remove(runs, "4", &err), SK_ERR_BUSY);
    assert_int_equal(sk_runs_continue(runs, "77", &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_runs_stop(runs, "77", &err), SK_ERR_NOT_FOUND);
    assert_ok(sk_runs_remove(runs, "5", &err), &err); /* one that waits does no harm */
    must_be_kept("5", NULL);
    must_be_kept("4", "running");
    must_be_kept("3", "failed");
    sk_events_leave(server.events, &reader);
    sk_runs_close(&runs);
}

static void until_it_is(sk_runs *runs, const char *id, const char *state)
{
    char words[40];
    snprintf(words, sizeof words, "\"state\":\"%s\"", state);
    for (int i = 0; i < 1500 && !strstr(told_of(runs, id), words); i++)
        sk_clock_sleep_ns(10000000);
    must_say(runs, id, words);
}

/* Started with its own words and ours, in a session of its own, its words in its log; stopped by an interrupt; and it goes on. */
static void programs_are_started_and_stopped(void **state)
{
    (void)state;
    sk_error err = {0};
    char id[24], wanted[2600], *words = NULL;
    size_t bytes = 0;
    put("begun", "");
    put("program", "#!/bin/sh\n"
                   "trap 'echo \"{\\\"event\\\":\\\"end\\\",\\\"status\\\":10}\" >&3; exit 1' INT\n"
                   "printf '%s\\n' \"$@\" > \"$0.words\"\n"
                   "read session x < /proc/$$/stat; set -- $x; [ \"$5\" = $$ ] && echo alone\n"
                   "cat; echo loud >&2; echo x >> \"$0.begun\"\n"
                   "[ $(wc -l < \"$0.begun\") = 2 ] && exit 0\n"
                   "while true; do sleep 0.02; done\n");
    assert_int_equal(chmod(at("program"), 0700), 0);
    put("runs.json", "{}");
    sk_runs *runs = open_runs(at("program"));
    add(runs, "/one", SK_OK, id);
    for (int i = 0; i < 1500 && !strstr(told_of(runs, id), "loud"); i++)
        sk_clock_sleep_ns(10000000);
    must_say(runs, id, "\"log\":[\"alone\",\"loud\"]");
    must_say(runs, id, "\"ended\":null");
    assert_null(strstr(told_of(runs, id), "\"started\":null"));
    assert_null(strstr(told_of(runs, id), "\"created\":null"));
    assert_ok(sk_file_read(at("program.words"), 1 << 20, &words, &bytes, &err), &err);
    snprintf(wanted, sizeof wanted, "track\n--conf=1\n--events=3\n--preview=%s\n", at("1.jpg"));
    assert_string_equal(words, wanted);
    sk_free(words);
    put("1.jpg", "a picture");
    assert_ok(sk_runs_stop(runs, id, &err), &err);
    assert_int_equal(sk_runs_remove(runs, id, &err), SK_ERR_BUSY); /* it is at its end, not over */
    until_it_is(runs, id, "stopped");
    must_say(runs, id, "\"pid\":null");
    assert_null(strstr(told_of(runs, id), "\"ended\":null"));
    must_be_kept(id, "stopped");
    assert_ok(sk_runs_continue(runs, id, &err), &err);
    until_it_is(runs, id, "done");
    assert_true(sk_file_exists(at("1.jpg"))); /* the last picture of one that goes on */
    must_be_kept(id, "done");
    sk_runs_close(&runs);
    /* one that is no program */
    runs = open_runs("/nowhere/program");
    add(runs, "/two", SK_OK, id);
    must_say(runs, id, "\"state\":\"failed\"");
    must_say(runs, id, "\"message\":\"the run could not be started: No such file or directory\"");
    must_be_kept(id, "failed");
    sk_runs_close(&runs);
}

static pid_t fork_waiting(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

/* A process's number may be another's by now. */
static void the_right_process_is_asked(void **state)
{
    (void)state;
    int status = 5;
    const pid_t pid = fork_waiting();
    const int64_t since = sk_process_started(pid);
    sk_page_run run = {.pid = pid, .pid_start = since + 1};
    assert_false(sk_page_run_is_alive(&run, &status));
    assert_int_equal(status, -1);
    sk_page_run_interrupt(&run); /* not that one */
    run.pid_start = 0;
    assert_false(sk_page_run_is_alive(&run, &status));
    run.pid_start = since;
    assert_true(sk_page_run_is_alive(&run, &status));
    assert_int_equal(status, -1);
    sk_clock_sleep_ns(20000000);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    run.child = true;
    assert_true(sk_page_run_is_alive(&run, &status));
    sk_page_run_interrupt(&run);
    while (sk_page_run_is_alive(&run, &status))
        sk_clock_sleep_ns(1000000);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    assert_false(run.child); /* waited for: the number is free */
    assert_false(sk_page_run_is_alive(&run, &status));
    assert_int_equal(status, -1);
    run = (sk_page_run){.pid = 1, .pid_start = 7, .child = true}; /* nobody's child of ours */
    assert_false(sk_page_run_is_alive(&run, &status));
    assert_true(status == -1 && !run.child);
    run = (sk_page_run){.child = true};
    assert_false(sk_page_run_is_alive(&run, &status));
    sk_page_run_interrupt(&run); /* nobody: a signal to 0 would be ours */
}

/* --- runs of terminals --- */

static void terminals_come_and_go(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_lock *lock = NULL;
    sk_events_reader *reader = NULL;
    sk_text heard = {0};
    char id[40], told[100];
    put("runs.json", "{}");
    snprintf(id, sizeof id, "pid-%ld", (long)getpid());
    assert_ok(sk_run_lock_open("/data/run8", &lock, &err), &err);
    assert_ok(sk_events_listen(server.events, NULL, wake, NULL, &reader, &err), &err);
    sk_runs *runs = open_runs(NULL);
    for (int i = 0; i < 500 && !told_of(runs, id)[0]; i++)
        sk_clock_sleep_ns(10000000);
    must_say(runs, id, "\"title\":\"/data/run8\"");
    assert_string_equal(told_of(runs, "pid-0"), "");
    sk_run_lock_close(&lock);
    for (int i = 0; i < 500 && told_of(runs, id)[0]; i++)
        sk_clock_sleep_ns(10000000);
    assert_string_equal(told_of(runs, id), "");
    /* while nothing happens, it sleeps */
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    sk_clock_sleep_ns(300000000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_true((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec < 100000000);
    sk_runs_close(&runs);
    hear(reader, &heard);
    const char *all = sk_text_get(&heard);
    snprintf(told, sizeof told, "event: run\ndata: {\"id\":\"%s\",", id);
    const char *came = strstr(all, told);
    snprintf(told, sizeof told, "event: removed\ndata: {\"id\":\"%s\"}", id);
    const char *went = strstr(all, told);
    assert_true(came && went && came < went && !strstr(went + 1, told));
    /* who holds the runtime is another each time; and nobody is shaken awake meanwhile */
    const char *first = strstr(all, "event: runtimes"),
               *next = first ? strstr(first + 1, "event: runtimes") : NULL;
    assert_true(first && next && !strstr(next + 1, "event: runtimes"));
    assert_null(strstr(strstr(all, ": here") + 1, ": here"));
    sk_text_free(&heard);
    sk_events_leave(server.events, &reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_say_what_they_told),
        cmocka_unit_test(long_lines_are_left_out),
        cmocka_unit_test(runs_of_terminals_have_a_line),
        cmocka_unit_test(every_act_is_kept_and_told),
        cmocka_unit_test(programs_are_started_and_stopped),
        cmocka_unit_test(the_right_process_is_asked),
        cmocka_unit_test(terminals_come_and_go),
    };
    return cmocka_run_group_tests(tests, begin_keeping, end_keeping);
}
