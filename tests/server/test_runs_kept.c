/* SPDX-License-Identifier: Apache-2.0 */
/* The list of runs as it is kept on the disk and read again, what is made of a run's last words, and what a list that is full does. */
#include "server/keeping.h"

#include "base/clock.h"
#include "base/spawn.h"

/* Whatever became of them while no server was there. */
static void lists_are_read_again(void **state)
{
    char text[4096];
    const long long own = (long long)getpid(), since = (long long)sk_process_started(getpid());
    (void)state;
    snprintf(
        text, sizeof text,
        "{\"last_id\": 2, \"runs\": ["
        "{\"id\": \"3\", \"command\": \"track\", \"source\": \"/v/a b.mp4\", \"folder\": \"/out\", "
        "\"state\": "
        "\"done\", \"message\": \"it went well\\nreally\", \"created\": 1000, \"started\": 2000, \"ended\": "
        "3000, \"words\": [\"/v/a b.mp4\", \"--conf=0.5\"]},"
        "{\"id\": \"4\", \"command\": \"predict\", \"state\": \"queued\", \"words\": []},"
        "{\"id\": \"5\", \"command\": \"predict\", \"state\": \"running\", \"pid\": %lld, \"pid_start\": "
        "%lld},"
        "{\"id\": \"6\", \"command\": \"predict\", \"state\": \"running\", \"pid\": %lld, \"pid_start\": "
        "%lld},"
        "{\"id\": \"7\", \"command\": \"predict\", \"state\": \"running\", \"pid\": %lld},"
        "{\"id\": \"8\", \"command\": \"predict\", \"state\": \"nonsense\"},"
        "{\"id\": \"9\", \"command\": \"predict\", \"state\": \"failed\", \"message\": \"why\"},"
        "{\"id\": \"10\", \"state\": \"done\"},"
        "{\"id\": \"11\", \"command\": \"predict\", \"state\": \"done\", \"words\": [3]},"
        "{\"id\": \"\", \"command\": \"predict\", \"state\": \"done\"},"
        "{\"id\": \"../12\", \"command\": \"predict\", \"state\": \"done\"},"
        "{\"id\": \"12345678901234567890\", \"command\": \"predict\", \"state\": \"done\"},"
        "{\"command\": \"predict\", \"state\": \"done\"}, 7]}",
        own, since, own, since + 1, own);
    put("runs.json", text);
    sk_runs *runs = open_runs("/nowhere/program");
    assert_string_equal(sk_runs_program(runs), "/nowhere/program");
    must_say(runs, "3", "\"state\":\"done\"");
    must_say(runs, "3", "\"title\":\"a b.mp4\"");
    must_say(runs, "3", "\"message\":\"it went well\",\"hint\":\"really\"");
    must_say(runs, "3", "'/v/a b.mp4' --conf=0.5");
    must_say(runs, "3", "\"created\":\"1970-01-01T00:00:01");
    must_say(runs, "3", "\"started\":\"1970-01-01T00:00:02");
    must_say(runs, "3", "\"ended\":\"1970-01-01T00:00:03");
    must_say(runs, "3", "\"pid\":null");
    must_say(runs, "4", "\"state\":\"stopped\"");
    must_say(runs, "4", "\"pid\":null,\"created\":null,\"started\":null,\"ended\":null");
    must_say(runs, "4",
             "\"message\":\"it waited for its turn when the server ended\",\"hint\":\"Continue begins it\"");
    must_say(runs, "5", "\"state\":\"running\""); /* the very process */
    must_say(runs, "6", "\"state\":\"stopped\""); /* its number is another's by now */
    must_say(runs, "6", "\"message\":\"the run ended while nobody watched\"");
    must_say(runs, "7", "\"state\":\"stopped\"");
    must_say(runs, "8", "\"state\":\"stopped\"");
    must_say(runs, "9", "\"state\":\"failed\"");
    must_say(runs, "9", "\"message\":\"why\"");
    static const char *const none[] = {"10", "11", "", "../12", "12345678901234567890"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_string_equal(told_of(runs, none[i]), "");
    assert_int_equal(runs->count, 7);
    assert_int_equal(runs->last_id, 9); /* the highest of those that are there */
    char id[24];
    sk_runs_of_process(runs, own, id);
    assert_string_equal(id, "5");
    sk_runs_of_process(runs, 0, id);
    assert_string_equal(id, "");
    /* what is written is read again as it was */
    pthread_mutex_lock(&runs->lock);
    sk_runs_save(runs);
    pthread_mutex_unlock(&runs->lock);
    char before[4096];
    snprintf(before, sizeof before, "%.4000s", told_of(runs, "3"));
    sk_runs_close(&runs);
    assert_null(runs);
    runs = open_runs(NULL);
    assert_string_equal(told_of(runs, "3"), before);
    assert_int_equal(runs->count, 7);
    sk_runs_close(&runs);
}

/* A run that is forgotten takes its files with it, and nobody else's. */
static void forgotten_runs_leave_no_files(void **state)
{
    static const char *const own[] = {"3.log", "3.events", "3.jpg"};
    sk_error err = {0};
    (void)state;
    put("runs.json", "{\"last_id\": 40, \"runs\": ["
                     "{\"id\": \"2\", \"command\": \"track\", \"state\": \"done\"},"
                     "{\"id\": \"3\", \"command\": \"track\", \"state\": \"done\"},"
                     "{\"id\": \"33\", \"command\": \"track\", \"state\": \"done\"}]}");
    for (int i = 0; i < 3; i++)
        put(own[i], "");
    put("33.log", "");
    sk_runs *runs = open_runs(NULL);
    assert_int_equal(runs->last_id, 40);
    char *preview = NULL;
    assert_ok(sk_runs_preview(runs, "3", &preview, &err), &err);
    assert_string_equal(preview, at("3.jpg"));
    sk_free(preview);
    assert_ok(sk_runs_remove(runs, "3", &err), &err);
    for (int i = 0; i < 3; i++)
        assert_false(sk_file_exists(at(own[i])));
    assert_true(sk_file_exists(at("33.log")));
    assert_int_equal(sk_runs_preview(runs, "3", &preview, &err), SK_ERR_NOT_FOUND);
    assert_null(preview);
    assert_string_equal(told_of(runs, "3"), "");
    assert_true(told_of(runs, "2")[0] && told_of(runs, "33")[0]);
    assert_int_equal(sk_runs_remove(runs, "3", &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_runs_stop(runs, "2", &err), SK_ERR_ARG);
    assert_int_equal(sk_runs_continue(runs, "2", &err), SK_ERR_ARG);
    sk_runs_close(&runs);
}

/* The oldest that is over makes room for one more; where all wait or run, nobody does. */
static void full_lists_make_room(void **state)
{
    sk_text text = {0};
    sk_error err = {0};
    char id[24];
    const long long own = (long long)getpid(), since = (long long)sk_process_started(getpid());
    (void)state;
    sk_text_appendf(
        &text,
        "{\"runs\": [{\"id\": \"1\", \"command\": \"track\", \"state\": \"running\", \"pid\": %lld, "
        "\"pid_start\": %lld, \"folder\": \"/busy\"}",
        own, since);
    for (int i = 2; i <= SK_RUNS_MOST + 5; i++)
        sk_text_appendf(&text, ", {\"id\": \"%d\", \"command\": \"track\", \"state\": \"%s\"}", i,
                        i % 2 ? "done" : "failed");
    sk_text_append(&text, "]}");
    put("runs.json", sk_text_get(&text));
    sk_text_free(&text);
    sk_runs *runs = open_runs(NULL);
    assert_int_equal(runs->count, SK_RUNS_MOST);
    add(runs, "/busy", SK_ERR_BUSY, id); /* somebody writes there */
    for (int i = 0; i < SK_RUNS_MOST - 1; i++) {
        char folder[32], gone[24];
        snprintf(folder, sizeof folder, "/f%d", i);
        add(runs, folder, SK_OK, id);
        assert_int_equal(atoi(id), SK_RUNS_MOST + 1 + i);
        must_say(runs, id, "\"state\":\"queued\"");
        must_say(runs, "1", "\"state\":\"running\"");
        snprintf(gone, sizeof gone, "%d", 2 + i);
        assert_string_equal(told_of(runs, gone), "");
        assert_int_equal(runs->count, SK_RUNS_MOST);
    }
    add(runs, "/one more", SK_ERR_BUSY, id);
    assert_ok(sk_runs_stop(runs, "300", &err), &err); /* one that waited */
    must_say(runs, "300", "\"state\":\"stopped\"");
    add(runs, "/one more", SK_OK, id);
    assert_string_equal(told_of(runs, "300"), "");
    assert_int_equal(sk_runs_remove(runs, "1", &err), SK_ERR_BUSY);
    add(runs, "/one more", SK_ERR_BUSY, id); /* it waits, and would write there */
    sk_runs_close(&runs);
}

/* A page hears of every step of every run: also of one that waited and begins when the one before has ended. */
static void pages_hear_of_every_step(void **state)
{
    static const char *const states[] = {"queued", "running", "done"};
    sk_error err = {0};
    sk_events_reader *reader = NULL;
    sk_text heard = {0};
    char first[24], second[24], words[64];
    (void)state;
    put("program", "#!/bin/sh\nwhile [ ! -e \"$0.go\" ]; do sleep 0.02; done\nexit 0\n");
    assert_int_equal(chmod(at("program"), 0700), 0);
    put("runs.json", "{}");
    sk_runs *runs = open_runs(at("program"));
    assert_ok(sk_events_listen(server.events, NULL, wake, NULL, &reader, &err), &err);
    put("1.jpg", "of a run of that number before");
    add(runs, "/one", SK_OK, first);
    assert_string_equal(first, "1");
    assert_false(sk_file_exists(at("1.jpg")));
    must_say(runs, first, "\"state\":\"running\"");
    add(runs, "/two", SK_OK, second);
    must_say(runs, second, "\"state\":\"queued\"");
    put("program.go", "");
    for (int i = 0; i < 1500 && !strstr(told_of(runs, second), "\"done\""); i++)
        sk_clock_sleep_ns(10000000);
    must_say(runs, first, "\"state\":\"done\"");
    must_say(runs, second, "\"state\":\"done\"");
    hear(reader, &heard);
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "\"id\":\"%s\"", second);
        const char *line = sk_text_get(&heard);
        bool told = false;
        for (; (line = strstr(line, words)) && !told; line++) {
            char wanted[40];
            snprintf(wanted, sizeof wanted, "\"state\":\"%s\"", states[i]);
            const char *at_state = strstr(line, "\"state\":"), *end_of_line = strchr(line, '\n');
            told = at_state && at_state < end_of_line && strncmp(at_state, wanted, strlen(wanted)) == 0;
        }
        if (!told)
            fail_msg("nobody said that run %s is %s: %s", second, states[i], sk_text_get(&heard));
    }
    assert_non_null(strstr(sk_text_get(&heard), "event: runtimes\n"));
    sk_text_free(&heard);
    assert_ok(sk_runs_remove(runs, first, &err), &err);
    hear(reader, &heard);
    snprintf(words, sizeof words, "event: removed\ndata: {\"id\":\"%s\"}\n", first);
    assert_non_null(strstr(sk_text_get(&heard), words));
    sk_text_free(&heard);
    sk_events_leave(server.events, &reader);
    sk_runs_close(&runs);
}

/* What its last words and its exit code make of a run. */
static void last_words_decide(void **state)
{
    static const struct {
        const char *events, *log;
        sk_page_state was;
        int exit_status; /* as waitpid has it */
        sk_page_state state;
        const char *message;
    } cases[] = {
        {"{\"event\":\"end\",\"status\":0,\"message\":null}\n", "", SK_PAGE_RUNNING, 0, SK_PAGE_DONE, ""},
        {"{\"event\":\"end\",\"status\":0}\n", "", SK_PAGE_STOPPING, 9, SK_PAGE_DONE, ""},
        {"{\"event\":\"end\",\"message\":\"which?\"}\n", "", SK_PAGE_RUNNING, 0, SK_PAGE_FAILED, "which?"},
        {"", "", SK_PAGE_RUNNING, 0, SK_PAGE_DONE, ""},
        {"", "", SK_PAGE_STOPPING, 0, SK_PAGE_STOPPED, ""},
        {"", "", SK_PAGE_STOPPING, 9, SK_PAGE_STOPPED, ""},
        {"", "", SK_PAGE_RUNNING, 9, SK_PAGE_FAILED,
         "the run's process was ended by signal 9 (Killed)\nContinue goes on from the last frame that is "
         "written"},
        {"", "", SK_PAGE_RUNNING, 3 << 8, SK_PAGE_FAILED,
         "the run's process ended with code 3; its log says more"},
        {"", "error: first\nskitter: error: last one\nerror: \nbye\n", SK_PAGE_RUNNING, 1 << 8,
         SK_PAGE_FAILED, "last one"},
        {"", "", SK_PAGE_RUNNING, -1, SK_PAGE_STOPPED,
         "the run ended while nobody watched\nContinue goes on from the last frame that is written"},
        {"{\"event\":\"end\",\"status\":0", "", SK_PAGE_RUNNING, -1, SK_PAGE_STOPPED, NULL}, /* half a line */
        {"no event\n[1]\n{\"event\":\"other\"}\n{\"event\":\"end\",\"status\":0}\n", "", SK_PAGE_RUNNING, 9,
         SK_PAGE_DONE, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_runs runs = {.server = &server};
        sk_page_run *run = sk_calloc(1, sizeof *run);
        snprintf(run->id, sizeof run->id, "77");
        sk_page_run_forget(run);
        run->state = cases[i].was;
        run->pid = run->pid_start = 5;
        put("77.events", cases[i].events);
        put("77.log", cases[i].log);
        sk_page_run_conclude(&runs, run, cases[i].exit_status);
        if (run->state != cases[i].state ||
            (cases[i].message && strcmp(run->told.message, cases[i].message) != 0))
            fail_msg("case %zu: %s: %s", i, sk_page_state_name(run->state), run->told.message);
        assert_true(run->changed && run->pid == 0 && run->pid_start == 0);
        sk_page_run_free(run);
    }
}

/* The last 300 lines, each as long as a page shows it, without what a terminal would act on. */
static void logs_are_rings_of_lines(void **state)
{
    sk_runs runs = {.server = &server};
    sk_page_run *run = sk_calloc(1, sizeof *run);
    char text[2000];
    (void)state;
    snprintf(run->id, sizeof run->id, "78");
    sk_page_run_forget(run);
    for (int i = 0; i < SK_RUN_LOG_LINES; i++) {
        snprintf(text, sizeof text, "line %d", i);
        sk_page_run_add_log(&runs, run, text, strlen(text));
    }
    assert_true(run->log_count == SK_RUN_LOG_LINES && run->log_first == 0);
    assert_string_equal(run->log[SK_RUN_LOG_LINES - 1], "line 299");
    memset(text, 'x', sizeof text);
    text[0] = '\x1b';
    sk_page_run_add_log(&runs, run, text, sizeof text);
    assert_true(run->log_count == SK_RUN_LOG_LINES && run->log_first == 1);
    assert_string_equal(run->log[1], "line 1");
    assert_null(strchr(run->log[0], '\x1b'));
    assert_in_range(strlen(run->log[0]), SK_RUN_LOG_LINE - 1, SK_RUN_LOG_LINE + 8);
    sk_events_reader *reader = NULL;
    sk_text heard = {0};
    sk_error err = {0};
    assert_ok(sk_events_listen(server.events, NULL, wake, NULL, &reader, &err), &err);
    sk_page_run_add_log(&runs, run, "cut here", 3);
    assert_string_equal(run->log[1], "cut");
    hear(reader, &heard); /* pages, too */
    assert_non_null(strstr(sk_text_get(&heard), "event: log\ndata: {\"id\":\"78\",\"line\":\"cut\"}\n"));
    sk_text_free(&heard);
    sk_events_leave(server.events, &reader);
    sk_page_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_again), cmocka_unit_test(forgotten_runs_leave_no_files),
        cmocka_unit_test(full_lists_make_room), cmocka_unit_test(pages_hear_of_every_step),
        cmocka_unit_test(last_words_decide),    cmocka_unit_test(logs_are_rings_of_lines),
    };
    return cmocka_run_group_tests(tests, begin_keeping, end_keeping);
}
