/* SPDX-License-Identifier: Apache-2.0 */
/* How skitter speaks to a terminal: its width, its colours, and who does not want them. */
#include "terminal.h"

#include "cli/batch_table.h"
#include "cli/eval_table.h"
#include "cli/help.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

static said s;

static void widths(void **state)
{
    (void)state;
    static const struct {
        unsigned short columns;
        int width;
    } cases[] = {{0, 80},  {1, 60},    {59, 60},   {60, 60},  {61, 61},
                 {99, 99}, {100, 100}, {101, 100}, {300, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static terminal screen;
        terminal_begin(&screen, 1);
        const struct winsize size = {.ws_row = 24, .ws_col = cases[i].columns};
        const int set = ioctl(screen.master, TIOCSWINSZ, &size), width = sk_cli_width(stdout);
        terminal_end(&screen);
        assert_int_equal(set, 0);
        if (width != cases[i].width)
            fail_msg("%d columns: %d", cases[i].columns, width);
    }
    FILE *file = tmpfile();
    assert_int_equal(sk_cli_width(file), 80);
    fclose(file);
}

/* A page of help is as wide as its terminal at most. */
static void pages_fit(void **state)
{
    (void)state;
    for (unsigned short columns = 60; columns <= 100; columns += 20) {
        static terminal screen;
        terminal_begin(&screen, 1);
        const struct winsize size = {.ws_row = 24, .ws_col = columns};
        const int set = ioctl(screen.master, TIOCSWINSZ, &size);
        sk_help_command(stdout, sk_command_find("version"));
        terminal_end(&screen);
        assert_int_equal(set, 0);
        said_has(screen.text, "\033[1mskitter version\033[0m: ");
        said_has(screen.text, "\n\033[1mOptions:\033[0m\n");
        said_has(screen.text, "\n  \033[34mskitter --version\033[0m\n");
        for (const char *line = screen.text; *line; line += strcspn(line, "\n") + 1) {
            const size_t length = strcspn(line, "\n");
            if (!strstr(line, "\033[") && length > columns)
                fail_msg("%d columns: %.*s", columns, (int)length, line);
            if (!line[length])
                break;
        }
    }
}

static const char *error_on(terminal *screen)
{
    const sk_error err = {.code = SK_ERR_ARG, .message = "wrong\ndo this"};
    terminal_begin(screen, 2);
    sk_cli_print_error(&err);
    sk_cli_warn("%s", "careful");
    sk_cli_say("%s", "by the way");
    terminal_end(screen);
    return screen->text;
}

static void colours(void **state)
{
    (void)state;
    static terminal screen;
    static const char plain[] =
        "skitter: error: wrong\n  hint: do this\nskitter: warning: careful\nby the way\n";
    static const char coloured[] = "skitter: \033[31merror:\033[0m wrong\n  \033[34mhint:\033[0m do this\n"
                                   "skitter: \033[33mwarning:\033[0m careful\nby the way\n";
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    assert_string_equal(error_on(&screen), coloured);
    setenv("NO_COLOR", "", 1); /* only one that says something */
    assert_string_equal(error_on(&screen), coloured);
    setenv("NO_COLOR", "1", 1);
    assert_string_equal(error_on(&screen), plain);
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_string_equal(error_on(&screen), plain);
    unsetenv("TERM");
    assert_string_equal(error_on(&screen), coloured);
    setenv("TERM", "xterm", 1);
    static const struct {
        sk_cli_style_name style;
        const char *code;
    } styles[] = {{SK_STYLE_END, "\033[0m"},  {SK_STYLE_BOLD, "\033[1m"},   {SK_STYLE_DIM, "\033[2m"},
                  {SK_STYLE_RED, "\033[31m"}, {SK_STYLE_GREEN, "\033[32m"}, {SK_STYLE_YELLOW, "\033[33m"},
                  {SK_STYLE_BLUE, "\033[34m"}};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        terminal_begin(&screen, 1);
        const char *code = sk_cli_style(stdout, styles[i].style);
        sk_cli_print("[%s|%5s]", code, code); /* no width makes it wider */
        terminal_end(&screen);
        char text[64];
        snprintf(text, sizeof text, "[%s|%s]", styles[i].code, styles[i].code);
        assert_string_equal(screen.text, text);
        assert_true(sk_cli_is_style(code));
        snprintf(text, sizeof text, "%s", code); /* the same bytes of a stranger */
        assert_false(sk_cli_is_style(text));
    }
}

static void tables(void **state)
{
    (void)state;
    static terminal screen;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", test_folder());
    sk_batch b = {.out = folder};
    const sk_batch_status status = {.pieces = 3, .videos = 3, .failed = 2, .waiting = 1};
    terminal_begin(&screen, 1);
    const int lines = sk_cli_batch_table(stdout, &b, &status, 0);
    terminal_end(&screen);
    assert_int_equal(lines, 2);
    said_has(screen.text, "0 running, 1 waiting, \033[31m2 failed\033[0m\n");
    const sk_eval_report r = {.frames = 5, .covered = 5, .classified = 4, .top1 = 0.5, .top5 = 0.75};
    terminal_begin(&screen, 1);
    sk_cli_print_eval(&r);
    terminal_end(&screen);
    assert_string_equal(screen.text,
                        "5 frames\n\033[1m                          pictures      top1      top5\033[0m\n"
                        "classes of pictures              4     0.500     0.750\n");
}

/* A child that is told to end by `number` so often, having asked for the flag first: its wait status. */
static int child(int number, int times)
{
    const pid_t pid = fork();
    if (pid == 0) {
        signal(number, SIG_DFL);
        if (sk_cli_interrupted())
            _exit(99);
        for (int i = 0; i < times; i++)
            raise(number);
        _exit(sk_cli_interrupted() ? 10 : 11);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* What a cluster sends before it kills is taken as Ctrl-C is. */
static void orders_to_end(void **state)
{
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        int status = child(numbers[i], 1);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 10);
        status = child(numbers[i], 2);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
    }
}

/* Each of the library's words that the command line has an option for. */
static void hints(void **state)
{
    (void)state;
    static const char *const known[][2] = {{"a smaller image size or batch", "--imgsz and --batch set them"},
                                           {"a smaller image size", "--imgsz sets it"},
                                           {"give the model that finds them too", "--model is given twice"},
                                           {"more than max_pixels", "--max-pixels N sets it"},
                                           {"hwaccel \"none\" does it", "leave --hwaccel out"},
                                           {"x.pt is a model and no source", "--model takes it"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sk_error err = {.code = SK_ERR_ARG};
        char text[256];
        snprintf(err.message, sizeof err.message, "%s", known[i][0]);
        said_begin(&s);
        sk_cli_print_error(&err);
        said_end(&s);
        snprintf(text, sizeof text, "skitter: error: %s\n  hint: %s\n", known[i][0], known[i][1]);
        assert_string_equal(s.err, text);
    }
}

int main(void)
{
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths),  cmocka_unit_test(pages_fit),
                                       cmocka_unit_test(colours), cmocka_unit_test(tables),
                                       cmocka_unit_test(hints),   cmocka_unit_test(orders_to_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
