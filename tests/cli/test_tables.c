/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "results/sink.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every command's table is complete and agrees with itself: what is wrong here would be wrong in --help, in the
 * completions and in the manual at once. */

static void check_text(const char *where, const char *text)
{
    if (!text || !*text)
        fail_msg("%s: no text", where);
    size_t length = strlen(text);
    if (text[length - 1] == '.' || isspace((unsigned char)text[length - 1]))
        fail_msg("%s: '%s' ends in a full stop or a space", where, text);
    if (strstr(text, "  "))
        fail_msg("%s: '%s' has two spaces in a row", where, text);
}

static void check_default(const sk_command *command, const sk_option *option)
{
    char argument[256];
    snprintf(argument, sizeof argument, "--%s=%s", option->name, option->fallback);
    const char *argv[] = {argument};
    const sk_command alone = {.name = command->name, .options = command->options};
    sk_args *args = NULL;
    sk_error err = {0};
    assert_ok(sk_args_parse(&alone, 1, argv, &args, &err), &err);
    sk_args_close(&args);
}

static void check_option(const sk_command *command, const sk_option *option)
{
    char where[128];
    snprintf(where, sizeof where, "%s --%s", command->name, option->name);
    check_text(where, option->help);
    for (const char *c = option->name; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '-')
            fail_msg("%s: names are lower case with dashes", where);
    if (option->kind < SK_OPTION_FLAG || option->kind > SK_OPTION_FOLDER)
        fail_msg("%s: no kind", where);
    if (option->kind == SK_OPTION_FLAG && (option->fallback || option->argument))
        fail_msg("%s: a flag has neither a value nor a default", where);
    if (option->kind != SK_OPTION_FLAG && !option->argument)
        fail_msg("%s: say what the value is called in help", where);
    if ((option->kind == SK_OPTION_CHOICE) != (option->choices != NULL))
        fail_msg("%s: choices belong to SK_OPTION_CHOICE, and it needs them", where);
    if (option->min > option->max)
        fail_msg("%s: min is above max", where);
    if (option->fallback)
        check_default(command, option);
    if (strncmp(option->help, "YOLO", 4) == 0 && !(option->needs & SK_NEEDS_YOLO))
        fail_msg("%s: what is for YOLO alone says so to the parser (.needs)", where);
    if (strncmp(option->help, "SLEAP", 5) == 0 && !(option->needs & SK_NEEDS_SLEAP))
        fail_msg("%s: what is for SLEAP alone says so to the parser (.needs)", where);
    if (option->instead && !sk_command_option(command, option->instead, strlen(option->instead)))
        fail_msg("%s: there is no --%s", where, option->instead);
}

static void check_unique(const sk_command *command)
{
    const sk_option *all[256];
    size_t n = 0;
    for (const sk_option *option = command->options; option && option->name; option++)
        all[n++] = option;
    for (const sk_option *option = sk_common_options; option->name; option++)
        all[n++] = option;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(all[i]->name, all[j]->name) == 0 ||
                (all[i]->letter && all[i]->letter == all[j]->letter))
                fail_msg("%s: --%s and --%s have the same name or letter", command->name, all[i]->name,
                         all[j]->name);
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(all[i]->name, operand->name) == 0)
                fail_msg("%s: '%s' is both an option and an operand", command->name, operand->name);
}

static void tables_are_complete(void **state)
{
    (void)state;
    for (const sk_command *const *at = sk_commands; *at; at++) {
        const sk_command *command = *at;
        check_text(command->name, command->summary);
        assert_non_null(command->run);
        if (!command->examples || !command->examples->command)
            fail_msg("%s: give an example", command->name);
        int repeated = 0;
        for (const sk_operand *operand = command->operands; operand && operand->name; operand++) {
            check_text(operand->name, operand->help);
            repeated += operand->repeat;
        }
        assert_true(repeated <= 1);
        for (const sk_option *option = command->options; option && option->name; option++)
            check_option(command, option);
        check_unique(command);
    }
}

static void every_group_begins_once(void **state)
{
    (void)state;
    assert_non_null(sk_command_heading(sk_commands[0]));
    const char *seen[64];
    size_t n = 0;
    for (size_t i = 0; sk_commands[i]; i++) {
        const char *heading = sk_command_heading(sk_commands[i]);
        for (size_t k = 0; heading && k < n; k++)
            if (strcmp(seen[k], heading) == 0)
                fail_msg("commands.c: '%s' begins its group again", sk_commands[i]->name);
        if (heading && n < 64)
            seen[n++] = heading;
    }
    assert_true(n > 1);
}

/* `text` as a word of its own */
static bool says(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length) {
        const char before = at == text ? ' ' : at[-1], after = at[length];
        if (!isalnum((unsigned char)before) && before != '-' && !isalnum((unsigned char)after) &&
            after != '-')
            return true;
    }
    return false;
}

/* A format is known in the help and in the documentation, where a row of the table begins with its name. */
static void formats_are_told(void **state)
{
    (void)state;
    static const char *const commands[] = {"predict", "track"};
    sk_error err = {0};
    char *page = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(test_source("docs/results.md"), 1 << 20, &page, &length, &err), &err);
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        char row[64];
        snprintf(row, sizeof row, "`%s`", (*kind)->name);
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            const sk_command *command = sk_command_find(commands[i]);
            assert_non_null(command);
            if (!says(sk_command_option(command, "format", 6)->help, (*kind)->name))
                fail_msg("%s --help: --format does not name %s", commands[i], (*kind)->name);
        }
        if (!strstr(page, row))
            fail_msg("docs/results.md: no row for %s", row);
    }
    sk_free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(every_group_begins_once),
        cmocka_unit_test(formats_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
