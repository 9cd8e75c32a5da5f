/* SPDX-License-Identifier: Apache-2.0 */
/* Another program is asked: what it printed, what it complained of, how it ended. */
#include "support/test.h"

#include "app/batch_slurm.h"
#include "base/memory.h"

#include <dirent.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static sk_error err;
static sk_text printed, complained;
static int code;

static sk_status ask(const char *script)
{
    const char *const words[] = {"sh", "-c", script, NULL};
    return sk_batch_ask(words, &printed, &complained, &code, &err);
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *script, *out, *bad;
        int code;
    } rows[] = {
        {"echo one; echo two >&2; echo three", "one\nthree\n", "two\n", 0},
        {"exit 7", "", "", 7},
        {"echo x; exit 255", "x\n", "", 255},
        {"exec 1>&-; echo late >&2", "", "late\n", 0}, /* one ends before the other */
        {"exec 2>&-; echo late", "late\n", "", 0},
        {"kill -9 $$", "", "", 128}, /* ended by another */
        {"kill -15 $$", "", "", 128},
        {"set -- $(cat /proc/$$/stat); [ $1 = $6 ] && echo leads", "leads\n", "", 0}, /* its own session */
        {"read line && echo got || echo nothing", "nothing\n", "", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ok(ask(rows[i].script), &err); /* what was heard before is forgotten */
        assert_string_equal(sk_text_get(&printed), rows[i].out);
        assert_string_equal(sk_text_get(&complained), rows[i].bad);
        assert_int_equal(code, rows[i].code);
    }
}

/* More than a pipe holds, on both at once. */
static void long_answers(void **state)
{
    (void)state;
    assert_ok(ask("i=0; while [ $i -lt 3000 ]; do echo $i-out-of-three-thousand-lines-that-are-long; "
                  "echo $i-bad-of-three-thousand-lines-that-are-long >&2; i=$((i+1)); done"),
              &err);
    assert_int_equal(code, 0);
    assert_true(printed.length > 100000 && complained.length > 100000);
    assert_int_equal(strncmp(sk_text_get(&printed), "0-out", 5), 0);
    assert_non_null(strstr(sk_text_get(&printed), "\n2999-out-of-three-thousand-lines-that-are-long\n"));
    assert_non_null(strstr(sk_text_get(&complained), "\n2999-bad-of-three-thousand-lines-that-are-long\n"));
}

static void who_is_not_there(void **state)
{
    (void)state;
    const char *const words[] = {"/no/such/program", NULL};
    assert_int_equal(sk_batch_ask(words, &printed, &complained, &code, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "/no/such/program cannot be started: No such file or directory");
    assert_int_equal(code, -1);
    assert_string_equal(sk_text_get(&printed), "");
    const char *const folder[] = {"/", NULL};
    assert_int_equal(sk_batch_ask(folder, &printed, &complained, &code, &err), SK_ERR_IO);
    assert_int_equal(code, -1);
}

static int files_open(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

/* --- a clock that runs ahead --- */

static int64_t leap_s; /* of every look but the first */
static int looks;

typedef int read_clock(clockid_t, struct timespec *);

int clock_gettime(clockid_t which, struct timespec *out)
{
    static read_clock *real;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    const int answer = real(which, out);
    if (leap_s && which == CLOCK_MONOTONIC && looks++ > 0)
        out->tv_sec += leap_s;
    return answer;
}

/* One that says nothing for a minute is ended, and nothing of it is left. */
static void who_does_not_answer(void **state)
{
    (void)state;
    const int before = files_open();
    looks = 0;
    leap_s = 62;
    const sk_status status = ask("echo first; exec sleep 1000");
    leap_s = 0;
    assert_int_equal(status, SK_ERR_TIMEOUT);
    assert_string_equal(err.message, "sh has not answered for a minute");
    assert_int_equal(code, -1);
    assert_int_equal(files_open(), before);
    looks = 0;
    leap_s = 58; /* a little less than a minute */
    assert_ok(ask("echo first"), &err);
    leap_s = 0;
    assert_string_equal(sk_text_get(&printed), "first\n");
    assert_int_equal(files_open(), before);
}

/* As many files as are open already, and a few more: what cannot be opened is told, what could be is closed. */
static void without_files(void **state)
{
    (void)state;
    struct rlimit usual;
    const int before = files_open();
    int refused = 0, heard = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (rlim_t most = 3; most < 24; most++) {
        const struct rlimit few = {most, usual.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const sk_status status = ask("echo one");
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
        if (status == SK_OK) {
            assert_string_equal(sk_text_get(&printed), "one\n");
            heard++;
        } else {
            assert_int_equal(status, SK_ERR_IO);
            assert_int_equal(strncmp(err.message, "a pipe cannot be opened: ", 25), 0);
            assert_true(err.message[25] && !strstr(err.message, "Success"));
            refused++;
        }
        assert_int_equal(files_open(), before);
    }
    assert_true(refused >= 8 && heard >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),          cmocka_unit_test(long_answers),
        cmocka_unit_test(who_is_not_there), cmocka_unit_test(who_does_not_answer),
        cmocka_unit_test(without_files),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_text_free(&printed);
    sk_text_free(&complained);
    return failed;
}
