/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int verbosity = 1;

int sk_cli_exit_code(sk_status status)
{
    switch (status) {
    case SK_OK: return SK_EXIT_OK;
    case SK_ERR_ARG: return SK_EXIT_USAGE;
    case SK_ERR_UNSUPPORTED: return SK_EXIT_UNSUPPORTED;
    case SK_ERR_INCOMPLETE: return SK_EXIT_INCOMPLETE;
    case SK_ERR_CANCELLED: return SK_EXIT_INTERRUPTED;
    default: return SK_EXIT_FAILURE;
    }
}

/* --- interruption --- */

static atomic_int
    interrupted; /* threads that read sources ask, too; without a lock, so a handler may set it */
static atomic_flag handlers_set = ATOMIC_FLAG_INIT;

static void on_signal(int number)
{
    const int before = errno;
    if (atomic_exchange(&interrupted, 1)) { /* the person means it: end now, as the signal would have */
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = before;
}

int sk_cli_interrupted(void)
{
    if (!atomic_flag_test_and_set(&handlers_set)) {
        struct sigaction action = {.sa_handler = on_signal};
        sigemptyset(&action.sa_mask);
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    return atomic_load(&interrupted) != 0;
}

/* --- speaking --- */

void sk_cli_set_verbosity(int level)
{
    verbosity = level;
}

static const char *program = "skitter";

const char *sk_cli_program(void)
{
    return program;
}

void sk_cli_set_program(const char *name)
{
    program = name && name[0] ? name : "skitter";
}

int sk_cli_verbosity(void)
{
    return verbosity;
}

static const char codes[][8] = {
    [SK_STYLE_END] = "\033[0m",   [SK_STYLE_BOLD] = "\033[1m",   [SK_STYLE_DIM] = "\033[2m",
    [SK_STYLE_RED] = "\033[31m",  [SK_STYLE_GREEN] = "\033[32m", [SK_STYLE_YELLOW] = "\033[33m",
    [SK_STYLE_BLUE] = "\033[34m",
};

bool sk_cli_is_style(const char *text)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (text == codes[i])
            return true;
    return false;
}

const char *sk_cli_style(FILE *stream, sk_cli_style_name style)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no_color && *no_color) || (term && strcmp(term, "dumb") == 0) || !isatty(fileno(stream)))
        return "";
    return codes[style];
}

int sk_cli_width(FILE *stream)
{
    struct winsize size;
    int columns = 80;
    if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    return columns < 60 ? 60 : columns > 100 ? 100 : columns;
}

/* What the library's words are called on the command line. */
static const struct {
    const char *word, *hint;
} in_flags[] = {{"smaller image size or batch", "--imgsz and --batch set them"},
                {"smaller image size", "--imgsz sets it"},
                {"give the model that finds them too", "--model is given twice"},
                {"max_pixels", "--max-pixels N sets it"},
                {"hwaccel \"none\"", "leave --hwaccel out"},
                {"is a model and no source", "--model takes it"}};

static const char *flag_for(const char *text)
{
    for (size_t i = 0; i < sizeof in_flags / sizeof *in_flags; i++)
        if (strstr(text, in_flags[i].word))
            return in_flags[i].hint;
    return NULL;
}

void sk_cli_print_error(const sk_error *err)
{
    const char *text = err->message[0] ? err->message : sk_status_text(err->code);
    const char *hint = strchr(text, '\n');
    int length = hint ? (int)(hint - text) : (int)strlen(text);
    sk_cli_print_to(stderr, "skitter: %serror:%s %.*s\n", sk_cli_style(stderr, SK_STYLE_RED),
                    sk_cli_style(stderr, SK_STYLE_END), length, text);
    if (flag_for(text))
        sk_cli_print_to(stderr, "  %shint:%s %s\n", sk_cli_style(stderr, SK_STYLE_BLUE),
                        sk_cli_style(stderr, SK_STYLE_END), flag_for(text));
    while (hint) {
        const char *line = hint + 1;
        hint = strchr(line, '\n');
        length = hint ? (int)(hint - line) : (int)strlen(line);
        if (length > 0)
            sk_cli_print_to(stderr, "  %shint:%s %.*s\n", sk_cli_style(stderr, SK_STYLE_BLUE),
                            sk_cli_style(stderr, SK_STYLE_END), length, line);
    }
}

static void say(const char *mark, sk_cli_style_name style, const char *format, va_list args)
{
    if (verbosity < 1)
        return;
    flockfile(stderr); /* messages come from any thread; lines stay whole */
    if (mark)
        sk_cli_print_to(stderr, "skitter: %s%s%s ", sk_cli_style(stderr, style), mark,
                        sk_cli_style(stderr, SK_STYLE_END));
    sk_cli_vprint(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
}

static void (*hear_warning)(const char *text);

void sk_cli_on_warning(void (*hear)(const char *text))
{
    hear_warning = hear;
}

void sk_cli_warn(const char *format, ...)
{
    va_list args;
    if (hear_warning) {
        char text[2048];
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        hear_warning(text);
    }
    va_start(args, format);
    say("warning:", SK_STYLE_YELLOW, format, args);
    va_end(args);
}

void sk_cli_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(NULL, SK_STYLE_END, format, args);
    va_end(args);
}
