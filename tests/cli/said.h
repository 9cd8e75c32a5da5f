/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_CLI_SAID_H
#define SK_TESTS_CLI_SAID_H

/* What commands and their tables print, caught in the test's own process, and compared with texts that lie beside the tests. */
#include "support/test.h"

#include "cli/cli.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#undef printf

enum { SAID_MOST = 1 << 18, SAID_WORDS = 64 };

typedef struct said {
    sk_status status;
    sk_error error;
    char out[SAID_MOST], err[SAID_MOST];
    int streams[2]; /* the test's own */
    FILE *files[2];
} said;

static inline void said_begin(said *s)
{
    FILE *const own[2] = {stdout, stderr};
    for (int i = 0; i < 2; i++) {
        fflush(own[i]);
        s->streams[i] = dup(i + 1);
        s->files[i] = tmpfile();
        if (s->streams[i] < 0 || !s->files[i] || dup2(fileno(s->files[i]), i + 1) < 0)
            abort();
    }
}

static inline void said_end(said *s)
{
    FILE *const own[2] = {stdout, stderr};
    char *const texts[2] = {s->out, s->err};
    for (int i = 0; i < 2; i++) {
        fflush(own[i]);
        if (dup2(s->streams[i], i + 1) < 0)
            abort();
        close(s->streams[i]);
        rewind(s->files[i]);
        texts[i][fread(texts[i], 1, SAID_MOST - 1, s->files[i])] = '\0';
        fclose(s->files[i]);
    }
}

/* Runs "scene --seconds 1 -o x.mp4": words parted by single blanks. */
SK_PRINTF(2, 3) static inline void said_run(said *s, const char *format, ...)
{
    static char line[65536];
    const char *words[SAID_WORDS];
    int n = 0;
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    for (char *rest = NULL, *word = strtok_r(line, " ", &rest); word && n < SAID_WORDS;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    const sk_command *command = sk_command_find(words[0]);
    assert_non_null(command);
    sk_args *args = NULL;
    s->error = (sk_error){0};
    said_begin(s);
    s->status = sk_args_parse(command, n - 1, words + 1, &args, &s->error);
    if (s->status == SK_OK) {
        sk_cli_set_verbosity(sk_args_flag(args, "quiet") ? 0 : 1 + sk_args_flag(args, "verbose"));
        s->status = command->run(args, &s->error);
    }
    sk_args_close(&args);
    said_end(s);
    sk_cli_set_verbosity(1);
}

static inline void said_has(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        fail_msg("'%s' is not in: %s", part, whole);
}

static inline void said_lacks(const char *whole, const char *part)
{
    if (strstr(whole, part))
        fail_msg("'%s' is in: %s", part, whole);
}

/* Runs a line that is to be refused with this status and these words. */
#define SAID_REFUSES(s, code, part, ...)                                                                     \
    do {                                                                                                     \
        said_run(s, __VA_ARGS__);                                                                            \
        if ((s)->status != (code))                                                                           \
            fail_msg("line %d: status %d (%s), not %d", __LINE__, (s)->status, (s)->error.message, code);    \
        said_has((s)->error.message, part);                                                                  \
    } while (0)
#define SAID_OK(s, ...)                                                                                      \
    do {                                                                                                     \
        said_run(s, __VA_ARGS__);                                                                            \
        if ((s)->status != SK_OK)                                                                            \
            fail_msg("line %d: %s", __LINE__, (s)->error.message);                                           \
    } while (0)

/* Is it what tests/cli/printed/NAME.txt holds? */
static inline void said_is(const char *name, const char *text)
{
    char relative[128];
    snprintf(relative, sizeof relative, "tests/cli/printed/%s.txt", name);
    test_text_is(relative, text);
}

#endif
