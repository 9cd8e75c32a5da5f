/* SPDX-License-Identifier: Apache-2.0 */
/* Another program is asked: what it printed, what it complained of, how it ended. */
#include "support/test.h"

#include "app/batch_slurm.h"
#include "base/memory.h"

#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(long_answers),
        cmocka_unit_test(who_is_not_there),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_text_free(&printed);
    sk_text_free(&complained);
    return failed;
}
