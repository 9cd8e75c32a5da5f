/* SPDX-License-Identifier: Apache-2.0 */
#include "app/bench.h"
#include "base/child.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/run_told.h"
#include "cli/unknown.h"
#include "runtime/model_artifact.h"
#include "runtime/probe.h"
#include "skitter/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Closed standard descriptors would be reused by the first file a command opens, and its content overwritten by
 * printf. They are filled with something that answers reads with nothing and writes with an error. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(SK_EXIT_FAILURE);
}

/* Everything printed must have arrived: a full disk is a failure, not a shorter result. */
static int finish_stdout(int code)
{
    int saved = 0;
    int failed = ferror(stdout);
    if (fflush(stdout) != 0) {
        failed = 1;
        saved = errno;
    }
    if (!failed)
        return code;
    /* The write that failed was an earlier one and its reason is lost: the next one fails for the same. */
    if (!saved && write(STDOUT_FILENO, "\n", 1) < 0)
        saved = errno;
    if (saved != EPIPE)
        fprintf(stderr, "skitter: error: standard output could not be written%s%s\n", saved ? ": " : "",
                saved ? strerror(saved) : "");
    return code == SK_EXIT_OK ? SK_EXIT_FAILURE : code;
}

/* Tests ask whether everything that was allocated was freed (tests/support/shell.sh); nobody else does. */
static int judge_memory(int code)
{
    const long long left = (long long)sk_memory_live_bytes();
    if (left <= 0 || !getenv("SKITTER_TEST_LEAKS")) /* below: allocated in a plugin, which counts its own */
        return code;
    fprintf(stderr, "skitter: error: %lld bytes are still allocated at the end\n", left);
    return SK_EXIT_LEAK;
}

static int wants(int argc, const char *const *argv, const char *name, const char *letter)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], name) == 0 || strcmp(argv[i], letter) == 0)
            return 1;
    return 0;
}

static void on_log(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level <= SK_LOG_WARN)
        sk_cli_warn("%s", message);
    else
        sk_cli_say("skitter: %s", message);
}

/* How far a runtime's model file is: a line a step. */
static void on_artifact(void *context, sk_artifact_step step, const char *path, const char *note, double part)
{
    static int told; /* percent */
    (void)context;
    sk_run_events_export(sk_cli_told(), step, path, note, part);
    if (step == SK_ARTIFACT_MAKING && part >= 0) {
        if ((int)(part * 10) > told / 10) {
            told = (int)(part * 100);
            sk_cli_say("skitter: %s: %d %%", path, told);
        }
        return;
    }
    told = 0;
    const char *what = path[0] ? path : "the runtime's model, in memory";
    switch (step) {
    case SK_ARTIFACT_WAITING:
        sk_cli_say("skitter: %s: waiting for %s, which is making it", what, note);
        break;
    case SK_ARTIFACT_MAKING: sk_cli_say("skitter: making %s", what); break;
    case SK_ARTIFACT_CHECKING: sk_cli_say("skitter: comparing %s with skitter's own engine", what); break;
    case SK_ARTIFACT_DONE: sk_cli_say("skitter: %s: ready", what); break;
    case SK_ARTIFACT_WRITING: break;
    }
}

static sk_log_listener *listener;

/* 0: quiet, 1: as usual, 2 and 3: more. */
static sk_status set_verbosity(int level, sk_error *err)
{
    sk_cli_set_verbosity(level);
    sk_artifact_set_watch(on_artifact, NULL);
    sk_log_unlisten(&listener);
    return sk_log_listen(level > 2   ? SK_LOG_DEBUG
                         : level > 1 ? SK_LOG_INFO
                                     : SK_LOG_WARN,
                         on_log, NULL, &listener, err);
}

/* --- processes of our own --- */

static void serve_probe(int fd)
{
    sk_probe_serve(fd, sk_engine_find);
}

static void serve_bench(int fd)
{
    sk_bench_serve(fd);
}

/* They are this very program, and say as much as it does. */
static const char *child_words[] = {"/proc/self/exe", "1"};

static void set_child_verbosity(int level)
{
    static const char *const levels[] = {"0", "1", "2", "3"};
    child_words[1] = levels[level > 3 ? 3 : level];
    sk_child_set_program(child_words, 2);
}

static bool serve_as_child(int argc, char **argv)
{
    static const sk_child_role roles[] = {{"probe", serve_probe}, {"bench", serve_bench}};
    if (argc == 3 && argv[1][0] >= '0' && argv[1][0] <= '3' && !argv[1][1])
        (void)!set_verbosity(argv[1][0] - '0', NULL);
    return sk_child_serve(argc, argv, roles, sizeof roles / sizeof *roles);
}

static sk_status run_command(const sk_command *command, int argc, const char *const *argv, sk_error *err)
{
    if (wants(argc, argv, "--help", "-h")) {
        sk_help_command(stdout, command);
        return SK_OK;
    }
    sk_args *args = NULL;
    SK_TRY(sk_args_parse(command, argc, argv, &args, err));
    const int level = sk_args_flag(args, "quiet") ? 0 : 1 + sk_args_flag(args, "verbose");
    set_child_verbosity(level);
    sk_status status = set_verbosity(level, err);
    if (status == SK_OK)
        status = sk_cpu_check_mask(err);
    if (status == SK_OK)
        status = command->run(args, err);
    sk_log_unlisten(&listener);
    sk_args_close(&args);
    return status;
}

/* An option alone: --version mistyped, or the command forgotten. */
static sk_status without_command(const char *option, sk_error *err)
{
    static const char *const known[] = {"--help", "--version"};
    const char *best = sk_text_suggest(option, known, 2);
    if (best)
        return sk_fail(err, SK_ERR_ARG, "skitter has no option '%s'\ndid you mean '%s'?", option, best);
    return sk_fail(err, SK_ERR_ARG, "'%s' needs a command before it\n'skitter help' lists the commands",
                   option);
}

/* `skitter [options] COMMAND [arguments and options]`: the command is the first word; what stands before it is read
 * as if it stood behind. `words` has room for argc pointers. */
static sk_status dispatch(int argc, const char *const *argv, const char **words, sk_error *err)
{
    int n = 0;
    const char *name = NULL;
    for (int i = 1; i < argc; i++) {
        if (!name && argv[i][0] != '-')
            name = argv[i];
        else
            words[n++] = argv[i];
    }
    if (name) {
        const sk_command *command = sk_command_find(name);
        return command ? run_command(command, n, words, err)
                       : sk_cli_unknown_command(name, argc - 1, argv + 1, err);
    }
    if (n == 0 || wants(n, words, "--help", "-h")) {
        sk_help_overview(stdout);
        return SK_OK;
    }
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], "--version") != 0 && strcmp(words[i], "-V") != 0)
            words[kept++] = words[i];
    if (kept < n)
        return run_command(sk_command_find("version"), kept, words, err);
    return without_command(words[0], err);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    signal(SIGXFSZ, SIG_IGN); /* a file beyond 'ulimit -f' is an error of the write, told as a full disk is */
    sk_cli_set_program(argc > 0 ? argv[0] : NULL);
    if (serve_as_child(argc, argv)) {
        sk_log_unlisten(&listener);
        return SK_EXIT_OK;
    }
    sk_error err = {0};
    sk_status status;
    const char **words = sk_calloc((size_t)argc + 1, sizeof *words);
    if (words)
        status = dispatch(argc, (const char *const *)argv, words, &err);
    else
        status = sk_fail_memory(&err, (size_t)argc * sizeof *words);
    sk_free((void *)words);
    if (status != SK_OK) {
        fflush(stdout);
        err.code = status;
        sk_cli_print_error(&err);
    }
    return judge_memory(finish_stdout(sk_cli_exit_code(status)));
}
