/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a process of its own: this program starts itself in other roles. */
#include "support/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"
#include "skitter/version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void twice(int fd)
{
    int number;
    while (sk_child_receive(fd, &number, sizeof number)) {
        number *= 2;
        if (!sk_child_send(fd, &number, sizeof number))
            _exit(3);
    }
    _exit(7);
}

/* What its streams and signals are. */
static void look(int fd)
{
    struct stat info, null;
    stat("/dev/null", &null);
    uint8_t told[8] = {0};
    for (int i = 0; i < 3; i++)
        told[i] = fstat(i, &info) == 0 && info.st_rdev == null.st_rdev && S_ISCHR(info.st_mode);
    told[3] = (uint8_t)((fcntl(0, F_GETFL) & O_ACCMODE) == O_RDONLY) |
              (uint8_t)(((fcntl(1, F_GETFL) & O_ACCMODE) == O_WRONLY) << 1);
    struct sigaction now;
    told[4] = sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
    told[5] = sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
    sigset_t blocked;
    told[6] = sigprocmask(SIG_SETMASK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGUSR1);
    told[7] = (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
    (void)!sk_child_send(fd, told, sizeof told);
}

static void hang(int fd)
{
    (void)fd;
    sleep(1000);
}

static void slowly(int fd)
{
    for (int i = 0; i < 4; i++) {
        sk_clock_sleep_ns(30000000);
        (void)!sk_child_send(fd, &"abcd"[i], 1);
    }
    sleep(1000);
}

static const sk_child_role roles[] = {{"twice", twice}, {"look", look}, {"hang", hang}, {"slowly", slowly}};

static sk_child start(const char *role, bool quiet)
{
    sk_child child;
    sk_error err = {0};
    assert_ok(sk_child_start(role, quiet, &child, &err), &err);
    assert_true(child.pid > 0 && child.fd >= 0);
    return child;
}

static void it_answers(void **state)
{
    (void)state;
    sk_child child = start("twice", false);
    for (int i = 1; i < 100; i += 7) {
        int number = i;
        assert_true(sk_child_send(child.fd, &number, sizeof number));
        assert_int_equal(sk_child_receive_within(child.fd, &number, sizeof number, 20000), SK_CHILD_HEARD);
        assert_int_equal(number, 2 * i);
    }
    assert_int_equal(sk_child_receive_within(child.fd, &(int){0}, sizeof(int), 50), SK_CHILD_LATE);
    shutdown(child.fd, SHUT_WR);
    int code = sk_child_wait(&child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 7);
    assert_true(child.pid == 0 && child.fd == -1);
    assert_int_equal(sk_child_wait(&child), 0); /* none */
    assert_int_equal(sk_child_end(&child, true), 0);
}

static void streams_and_signals(void **state)
{
    (void)state;
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, NULL);
    for (int quiet = 0; quiet < 2; quiet++) {
        sk_child child = start("look", quiet);
        uint8_t told[8];
        assert_true(sk_child_receive(child.fd, told, sizeof told));
        if (quiet) {
            assert_true(told[0] && told[1] && told[2]);
            assert_int_equal(told[3], 3);
        }
        assert_true(told[4] && told[5] && told[6] && told[7]);
        assert_int_equal(sk_child_receive_within(child.fd, told, 1, 20000), SK_CHILD_CLOSED);
        assert_false(sk_child_receive(child.fd, told, 1));
        const int code = sk_child_end(&child, true); /* it leaves by itself */
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    }
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &some, NULL);
}

static void it_is_ended(void **state)
{
    (void)state;
    for (int answered = 0; answered < 2; answered++) {
        sk_child child = start("hang", true);
        const pid_t pid = child.pid;
        assert_true(sk_process_started(pid) > 0);
        const int64_t begun = sk_clock_ns();
        const int code = sk_child_end(&child, answered);
        const double ms = (double)(sk_clock_ns() - begun) / 1e6;
        assert_true(WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL);
        assert_true(answered ? ms >= 95 && ms < 5000
                             : ms < 5000); /* a moment to leave: twenty times five milliseconds */
        assert_true(child.pid == 0 && child.fd == -1);
        assert_int_equal(kill(pid, 0), -1);
        assert_int_equal(sk_process_started(pid), 0);
    }
    sk_child child = start("slowly", true);
    char four[5] = "";
    assert_int_equal(sk_child_receive_within(child.fd, four, 4, 20000), SK_CHILD_HEARD);
    assert_string_equal(four, "abcd");
    sk_child_end(&child, false);
}

/* What is started must be this version's program, and must be there. */
static void other_programs(void **state)
{
    (void)state;
    static const char *const missing[] = {"/no such program"}, *const other[] = {"cat"};
    sk_child child;
    sk_error err = {0};
    sk_child_set_program(missing, 1);
    assert_int_equal(sk_child_start("twice", true, &child, &err), SK_ERR_IO);
    assert_string_equal(
        err.message,
        "the program /no such program could not be started to do this in a process of its own: No "
        "such file or directory. Put it on the PATH, or name it in SKITTER_PROGRAM");
    assert_int_equal(child.fd, -1);
    sk_child_set_program(other, 1);
    assert_int_equal(sk_child_start("twice", true, &child, &err), SK_ERR_MISMATCH);
    char wanted[200];
    snprintf(wanted, sizeof wanted,
             "is not skitter %s. Name the one that belongs to this library in SKITTER_PROGRAM",
             sk_version_text());
    assert_non_null(strstr(err.message, wanted));
    assert_int_equal(child.fd, -1);
    sk_child_set_program(NULL, 0);
    setenv("SKITTER_PROGRAM", "/no such program either", 1);
    assert_int_equal(sk_child_start("twice", true, &child, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "the program /no such program either could not be started"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left behind */
}

/* Arguments that are no role of a child's. */
static void plain_arguments(void **state)
{
    (void)state;
    char program[] = "program", role[] = "--skitter-child=twice", more[] = "more",
         short_of_it[] = "--skitter-chil";
    char *none[] = {program}, *words[] = {program, role, more}, *near[] = {program, short_of_it};
    assert_false(sk_child_serve(1, none, roles, 4));
    assert_false(sk_child_serve(3, words, roles, 4));
    assert_false(sk_child_serve(2, near, roles, 4));
}

static void processes_have_a_beginning(void **state)
{
    (void)state;
    const int64_t own = sk_process_started(getpid());
    assert_true(own > 0);
    assert_true(sk_process_started(1) > 0 && sk_process_started(1) <= own);
    assert_int_equal(sk_process_started(0x7fffffff), 0);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(sk_process_started(pid), 0); /* dead, and not yet waited for */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char sh[] = "sh", c[] = "-c", line[] = "echo out; echo err >&2";
    char *const echo[] = {sh, c, line, NULL};
    const sk_spawn wish = {.program = "sh",
                           .words = echo,
                           .files = {SK_SPAWN_NULL, ends[1], SK_SPAWN_NULL, SK_SPAWN_KEEP},
                           .own_session = true};
    pid_t child;
    assert_int_equal(sk_spawn_start(&wish, &child), 0);
    assert_int_equal(getsid(child) == child || kill(child, 0) != 0, 1);
    close(ends[1]);
    char text[200] = "";
    assert_true(read(ends[0], text, sizeof text - 1) >= 4);
    assert_memory_equal(text, "out\n", 4);
    assert_null(strstr(text, "err"));
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    const sk_spawn nobody = {.program = "no such program at all", .words = echo, .files = {-1, -1, -1, -1}};
    assert_int_equal(sk_spawn_start(&nobody, &child), ENOENT);
}

int main(int argc, char **argv)
{
    if (sk_child_serve(argc, argv, roles, sizeof roles / sizeof roles[0]))
        return 0;
    static char self[4096];
    static const char *words[] = {self};
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return 1;
    sk_child_set_program(words, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_answers),      cmocka_unit_test(streams_and_signals),
        cmocka_unit_test(it_is_ended),     cmocka_unit_test(other_programs),
        cmocka_unit_test(plain_arguments), cmocka_unit_test(processes_have_a_beginning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
