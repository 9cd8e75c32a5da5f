/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of what a run tells: a script in the program's place says it, step by step. */
#include "server/asking.h"

#include "base/clock.h"
#include "server/runs.h"

static char id[24];

/* Each step waits for the file of its number, so that what is told in between can be looked at. */
static const char script[] =
    "#!/bin/sh\n"
    "step() { while [ ! -e \"$HERE/$1\" ]; do sleep 0.02; done; }\n"
    "case \"$*\" in\n"
    "*silent*) exit 0;;\n"
    "*bare*) echo 'skitter: error:' >&2; exit 1;;\n"
    "*worded*) echo 'skitter: error: no such thing' >&2; exit 3;;\n"
    "esac\n"
    "echo '{\"event\":\"begin\",\"runtime_requested\":\"onnx_cpu\"}' >&3\n"
    "echo '{\"event\":\"export\",\"step\":\"making\",\"path\":\"m.onnx\",\"note\":null,\"part\":null}' >&3\n"
    "step 1\n"
    "echo '{\"event\":\"export\",\"step\":\"checking\",\"path\":\"m.onnx\",\"part\":0.5}' >&3\n"
    "step 2\n"
    "echo '{\"event\":\"progress\",\"frame\":5,\"total\":200,\"runtime\":\"cpu\",\"device\":\"a machine\","
    "\"stages\":[],\"queues\":[]}' >&3\n"
    "step 3\n"
    "echo '{\"event\":\"result\",\"state\":\"finished\",\"runtime\":\"cpu\",\"device\":\"a machine\","
    "\"frames\":129}' >&3\n"
    "echo '{\"event\":\"end\",\"status\":0,\"message\":null}' >&3\n";

static int open_scripted(void **state)
{
    char program[1024];
    setenv("HERE", test_folder(), 1);
    snprintf(program, sizeof program, "%s", place("program"));
    assert_int_equal(sk_file_replace(program, script, strlen(script), NULL), SK_OK);
    assert_int_equal(chmod(program, 0700), 0);
    setenv("SKITTER_TEST_BINARY", program, 1);
    open_asked(state);
    assert_int_equal(sk_file_replace(place("top/v.mp4"), "v", 1, NULL), SK_OK);
    assert_int_equal(sk_file_replace(place("top/m.pt"), "m", 1, NULL), SK_OK);
    return 0;
}

static void start(const char *out)
{
    char *text = NULL, body[512];
    snprintf(
        body, sizeof body,
        "{\"command\":\"track\",\"settings\":{\"source\":[\"v.mp4\"],\"model\":[\"m.pt\"],\"out\":\"%s\"}}",
        out);
    const int code = ask((asking){.method = "POST", .target = "/api/v1/runs", .body = body}, &text);
    if (code != 200)
        fail_msg("%d %s", code, text);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(strstr(text, "\"id\":\"") + 6, "\""),
             strstr(text, "\"id\":\"") + 6);
    sk_free(text);
}

/* Until the run is told with these words; the answer is ended by sk_free. */
static char *until(const char *words)
{
    char target[64], *text = NULL;
    snprintf(target, sizeof target, "/api/v1/runs/%s", id);
    for (int i = 0; i < 400; i++) {
        sk_free(text);
        assert_int_equal(get(target, &text), 200);
        if (strstr(text, words))
            return text;
        sk_clock_sleep_ns(25000000);
    }
    fail_msg("never %s: %s", words, text);
    return NULL;
}

static void expect(const char *words, const char *also)
{
    char *text = until(words);
    if (also && !strstr(text, also))
        fail_msg("no %s in %s", also, text);
    sk_free(text);
}

static void go_on(const char *step)
{
    assert_int_equal(sk_file_replace(place(step), "", 0, NULL), SK_OK);
}

static void test_a_run_says_what_it_is_at(void **state)
{
    (void)state;
    start("told");
    expect("\"step\":\"making\"", "\"runtime\":null");
    go_on("1");
    expect("\"step\":\"checking\"", "\"share\":0.5");
    go_on("2");
    expect("\"frame\":5,", "\"state\":\"running\"");
    expect("\"runtime\":\"cpu\"", "\"runtime_requested\":\"onnx_cpu\""); /* while it is on */
    expect("\"device\":\"a machine\"", "\"export\":null");
    go_on("3");
    /* a source that promised more frames than it had: those that are written count */
    expect("\"state\":\"done\"", "\"frame\":129,\"total\":129");
}

static void test_a_run_that_told_nothing(void **state)
{
    (void)state;
    start("silent"); /* a full disk has no room for events: the exit code says that it went well */
    expect("\"state\":\"done\"", NULL);
    start("bare");
    expect("\"state\":\"failed\"", "ended with code 1; its log says more");
    start("worded");
    expect("\"state\":\"failed\"", "\"message\":\"no such thing\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_says_what_it_is_at),
        cmocka_unit_test(test_a_run_that_told_nothing),
    };
    return cmocka_run_group_tests(tests, open_scripted, close_asked);
}
