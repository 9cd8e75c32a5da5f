/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "cli/cli.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void statuses_become_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(sk_cli_exit_code(SK_OK), 0);
    assert_int_equal(sk_cli_exit_code(SK_ERR_IO), 1);
    assert_int_equal(sk_cli_exit_code(SK_ERR_FORMAT), 1);
    assert_int_equal(sk_cli_exit_code(SK_ERR_ARG), 2);
    assert_int_equal(sk_cli_exit_code(SK_ERR_UNSUPPORTED), 3);
    assert_int_equal(sk_cli_exit_code(SK_ERR_CANCELLED), 130);
}

/* What a child does with `signals` Ctrl-Cs, having asked for the flag first or not: its wait status. */
static int child(int asks, int signals)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL); /* who starts tests in the background may have it ignored */
        if (asks && sk_cli_interrupted())
            _exit(99);
        for (int i = 0; i < signals; i++)
            raise(SIGINT);
        _exit(sk_cli_interrupted() ? 10 : 11);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void the_first_interrupt_is_a_request(void **state)
{
    (void)state;
    int status = child(1, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 11);
    status = child(1, 1);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 10);
}

static void the_second_one_ends_the_program(void **state)
{
    (void)state;
    int status = child(1, 2);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

static void a_command_that_does_not_look_is_simply_ended(void **state)
{
    (void)state;
    int status = child(0, 1);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_become_exit_codes),
        cmocka_unit_test(the_first_interrupt_is_a_request),
        cmocka_unit_test(the_second_one_ends_the_program),
        cmocka_unit_test(a_command_that_does_not_look_is_simply_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
