/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_CLI_H
#define SK_CLI_CLI_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* What commands share. Results go to stdout, everything else to stderr. */

enum {
    SK_EXIT_OK = 0,
    SK_EXIT_FAILURE = 1,
    SK_EXIT_USAGE = 2,        /* SK_ERR_ARG */
    SK_EXIT_UNSUPPORTED = 3,  /* SK_ERR_UNSUPPORTED: not possible on this machine or build */
    SK_EXIT_INCOMPLETE = 4,   /* SK_ERR_INCOMPLETE: results are written, but the source was cut off */
    SK_EXIT_LEAK = 99,        /* only where tests ask */
    SK_EXIT_INTERRUPTED = 130 /* SK_ERR_CANCELLED */
};
int sk_cli_exit_code(sk_status status);

/* 1 after Ctrl-C (or SIGTERM). The first call takes over these signals, so that a command that looks here can end its
 * work in order; before it, and at a second Ctrl-C, the program simply ends. Returns SK_ERR_CANCELLED's cause: a
 * command that saw 1 cleans up and returns SK_ERR_CANCELLED. Safe from any thread. */
int sk_cli_interrupted(void);

/* printf for people: what stands in for a %s may come from a stranger's file, so its control characters are shown ("\\x1b"),
 * not sent to the terminal. Lines, tabs and sk_cli_style's styles stay. Every printf of src/cli is this one. */
int sk_cli_print(const char *format, ...) SK_PRINTF(1, 2);
int sk_cli_print_to(FILE *stream, const char *format, ...) SK_PRINTF(2, 3);
int sk_cli_vprint(FILE *stream, const char *format, va_list args) SK_PRINTF(2, 0);
#define printf(...) sk_cli_print(__VA_ARGS__)

/* "skitter: error: …" and its hint on stderr. The part of the message after '\n' is the hint. */
void sk_cli_print_error(const sk_error *err);
/* "skitter: warning: …" on stderr, silent with --quiet. */
void sk_cli_warn(const char *format, ...) SK_PRINTF(1, 2);
/* Somebody else hears warnings, too, with --quiet as well; null: nobody. */
void sk_cli_on_warning(void (*hear)(const char *text));
/* A remark on stderr for the person watching, silent with --quiet. No newline needed. */
void sk_cli_say(const char *format, ...) SK_PRINTF(1, 2);
/* 0 with --quiet, 1 normally, 2 and more with --verbose. */
int sk_cli_verbosity(void);
void sk_cli_set_verbosity(int level);

/* How the person called skitter, for commands that are to be typed next: "build/skitter"; "skitter" when not known. */
const char *sk_cli_program(void);
void sk_cli_set_program(const char *name); /* borrowed */

/* Terminal styles: the escape sequence, or "" where `stream` is not a terminal, NO_COLOR is set or TERM is dumb.
 *     printf("%stext%s\n", sk_cli_style(stdout, SK_STYLE_BOLD), sk_cli_style(stdout, SK_STYLE_END)); */
typedef enum sk_cli_style_name {
    SK_STYLE_END,
    SK_STYLE_BOLD,
    SK_STYLE_DIM,
    SK_STYLE_RED,
    SK_STYLE_GREEN,
    SK_STYLE_YELLOW,
    SK_STYLE_BLUE
} sk_cli_style_name;
const char *sk_cli_style(FILE *stream, sk_cli_style_name style);
bool sk_cli_is_style(const char *text); /* did sk_cli_style return this very pointer? */

/* Columns to write in: the terminal's, between 60 and 100; 80 where there is none. */
int sk_cli_width(FILE *stream);

#endif
