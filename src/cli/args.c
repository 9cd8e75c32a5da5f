/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/foreign.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One value as written: `of` is its row in an option or operand table. */
typedef struct value {
    const void *of;
    const char *text;
} value;

struct sk_args {
    const sk_command *command;
    value *values;
    size_t n_values, values_capacity;
    const char **loose; /* operands before they are given their names */
    size_t n_loose, loose_capacity;
};

#define MAX_VALUES 1000000 /* far above what an operating system passes */

static sk_status push_value(sk_args *args, const void *of, const char *text, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&args->values, &args->values_capacity, args->n_values + 1, sizeof(value),
                            MAX_VALUES, err));
    args->values[args->n_values++] = (value){of, text};
    return SK_OK;
}

static sk_status push_loose(sk_args *args, const char *text, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&args->loose, &args->loose_capacity, args->n_loose + 1, sizeof(char *),
                            MAX_VALUES, err));
    args->loose[args->n_loose++] = text;
    return SK_OK;
}

static const sk_option *find_short(const sk_command *command, char letter)
{
    const sk_option *tables[] = {command->options, sk_common_options};
    for (int t = 0; t < 2; t++)
        for (const sk_option *option = tables[t]; option && option->name; option++)
            if (option->letter && option->letter == letter)
                return option;
    return NULL;
}

static const sk_operand *find_operand(const sk_command *command, const char *name)
{
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++)
        if (strcmp(operand->name, name) == 0)
            return operand;
    return NULL;
}

#define MAX_SUGGESTED 128 /* longer tables would only lose suggestions */

/* The long option nearest to `name`; null when none is near. */
static const char *near_option(const sk_command *command, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *names[MAX_SUGGESTED];
    size_t count = 0;
    const sk_option *tables[] = {command->options, sk_common_options};
    for (int t = 0; t < 2; t++)
        for (const sk_option *option = tables[t]; option && option->name && count < MAX_SUGGESTED; option++)
            names[count++] = option->name;
    return sk_text_suggest(word, names, count);
}

/* `argv[at]` is the whole argument, `letter` the unknown one of a cluster (0 for a long option). A word behind one dash
 * is most likely a long option. What other programs call theirs is known before what looks alike. */
static sk_status unknown_option(const sk_command *command, int argc, const char *const *argv, int at,
                                char letter, sk_error *err)
{
    const char *word = argv[at];
    size_t dashes = letter ? 1 : 2;
    size_t length = strcspn(word, "=");
    const char *next = at + 1 < argc && argv[at + 1][0] != '-' ? argv[at + 1] : NULL;
    SK_TRY(sk_foreign_refuse(command, word, length, word[length] == '=' ? word + length + 1 : next, err));
    const char *best = length - dashes >= 2 ? near_option(command, word + dashes, length - dashes) : NULL;
    if (best)
        return sk_fail(err, SK_ERR_ARG, "'skitter %s' has no option '%.*s'\ndid you mean '--%s'?",
                       command->name, (int)length, word, best);
    char one[3] = {'-', letter, '\0'};
    return sk_fail(err, SK_ERR_ARG, "'skitter %s' has no option '%.*s'\n'skitter %s --help' lists them",
                   command->name, letter ? 2 : (int)length, letter ? one : word, command->name);
}

static int is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; at && *at;) {
        size_t span = strcspn(at, "|");
        if (span == length && memcmp(at, text, length) == 0)
            return 1;
        at += span + (at[span] == '|');
    }
    return 0;
}

/* "cpu|cuda" as "cpu, cuda" into `list`, and as words: `words` is cut into pieces. Returns how many. */
static size_t split_choices(const char *choices, char *list, char *words, size_t capacity,
                            const char **pieces)
{
    size_t n = 0, count = 0;
    snprintf(words, capacity, "%s", choices);
    for (char *at = words; at && count < MAX_SUGGESTED;) {
        char *end = strchr(at, '|');
        if (end)
            *end = '\0';
        pieces[count++] = at;
        int taken = snprintf(list + n, capacity - n, "%s%s", n ? ", " : "", at);
        n = taken > 0 && (size_t)taken < capacity - n ? n + (size_t)taken : n;
        at = end ? end + 1 : NULL;
    }
    return count;
}

static sk_status bad_choice(const char *what, const char *choices, const char *text, sk_error *err)
{
    char list[1024], words[1024];
    const char *pieces[MAX_SUGGESTED];
    size_t count = split_choices(choices, list, words, sizeof list, pieces);
    const char *best = sk_text_suggest(text, pieces, count);
    if (best)
        return sk_fail(err, SK_ERR_ARG, "%s: '%s' is not one of %s\ndid you mean '%s'?", what, text, list,
                       best);
    return sk_fail(err, SK_ERR_ARG, "%s: '%s' is not one of %s", what, text, list);
}

static sk_status out_of_range(const char *what, const char *text, double min, double max, sk_error *err)
{
    return sk_fail(err, SK_ERR_ARG, "%s: %s is out of range; it must be from %.15g to %.15g", what, text, min,
                   max);
}

/* Numbers are written the same way in every country: the C locale is never changed by skitter. */
static sk_status check_number(const char *what, sk_option_kind kind, double min, double max, const char *text,
                              sk_error *err)
{
    char *end = NULL;
    errno = 0;
    double number;
    if (kind == SK_OPTION_INT) {
        long long whole = strtoll(text, &end, 10);
        number = (double)whole;
        if (end == text || *end)
            return sk_fail(err, SK_ERR_ARG, "%s: '%s' is not a whole number", what, text);
        if (errno == ERANGE)
            return sk_fail(err, SK_ERR_ARG, "%s: %s is too large", what, text);
    } else {
        number = strtod(text, &end);
        if (end == text || *end || !isfinite(number))
            return sk_fail(err, SK_ERR_ARG, "%s: '%s' is not a number", what, text);
    }
    if ((min != 0 || max != 0) && (number < min || number > max))
        return out_of_range(what, text, min, max, err);
    return SK_OK;
}

static sk_status check_value(const char *what, sk_option_kind kind, const char *choices, double min,
                             double max, const char *text, sk_error *err)
{
    switch (kind) {
    case SK_OPTION_INT:
    case SK_OPTION_REAL: return check_number(what, kind, min, max, text, err);
    case SK_OPTION_CHOICE: return is_choice(choices, text) ? SK_OK : bad_choice(what, choices, text, err);
    case SK_OPTION_FILE:
    case SK_OPTION_FOLDER:
        if (!*text)
            return sk_fail(err, SK_ERR_ARG, "%s: the path is empty", what);
        return SK_OK;
    case SK_OPTION_FLAG:
    case SK_OPTION_TEXT: break;
    }
    return SK_OK;
}

static sk_status take_option_value(sk_args *args, const sk_option *option, const char *text, sk_error *err)
{
    char what[80];
    snprintf(what, sizeof what, "--%s", option->name);
    sk_status status = check_value(what, option->kind, option->choices, option->min, option->max, text, err);
    if (status != SK_OK && option->otherwise && err) {
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, "\n%s", option->otherwise);
    }
    return status == SK_OK ? push_value(args, option, text, err) : status;
}

/* The value of an option that stands in the next argument. A known option there is a forgotten value, not a value. */
static sk_status next_value(const sk_args *args, const sk_option *option, int argc, const char *const *argv,
                            int *at, const char **text, sk_error *err)
{
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    if (option->alone && !(next && is_choice(option->choices, next))) {
        *text = option->alone;
        return SK_OK;
    }
    int is_option = next && next[0] == '-' && next[1] == '-' &&
                    (!next[2] || sk_command_option(args->command, next + 2, strcspn(next + 2, "=")));
    if (!next || is_option)
        return sk_fail(err, SK_ERR_ARG, "--%s needs a value: --%s %s\n%s", option->name, option->name,
                       option->argument ? option->argument : "VALUE", option->help);
    *at += 1;
    *text = next;
    return SK_OK;
}

static sk_status take_long(sk_args *args, int argc, const char *const *argv, int *at, sk_error *err)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const sk_option *option = sk_command_option(args->command, name, length);
    if (!option)
        return unknown_option(args->command, argc, argv, *at, '\0', err);
    if (option->kind == SK_OPTION_FLAG) {
        if (name[length] == '=')
            return sk_fail(err, SK_ERR_ARG, "--%s is a switch and takes no value", option->name);
        return push_value(args, option, "", err);
    }
    const char *text = name + length + 1;
    if (name[length] != '=')
        SK_TRY(next_value(args, option, argc, argv, at, &text, err));
    return take_option_value(args, option, text, err);
}

static sk_status take_short(sk_args *args, int argc, const char *const *argv, int *at, sk_error *err)
{
    const char *word = argv[*at] + 1; /* -conf would be -c with the value onf, and -out a folder called ut */
    const size_t length = strcspn(word, "=");
    if (length > 1 && sk_command_option(args->command, word, length))
        return sk_fail(err, SK_ERR_ARG, "'-%.*s': long options begin with two dashes\nwrite '--%.*s'",
                       (int)length, word, (int)length, word);
    for (const char *letter = word; *letter; letter++) {
        const sk_option *option = find_short(args->command, *letter);
        if (!option)
            return unknown_option(args->command, argc, argv, *at, *letter, err);
        if (option->kind == SK_OPTION_FLAG) {
            SK_TRY(push_value(args, option, "", err));
            continue;
        }
        const char *text = letter + 1;
        if (*text == '=')
            text++;
        if (!*text)
            SK_TRY(next_value(args, option, argc, argv, at, &text, err));
        return take_option_value(args, option, text, err);
    }
    return SK_OK;
}

static sk_status take_operand(sk_args *args, const sk_operand *operand, const char *text, sk_error *err)
{
    char what[80];
    snprintf(what, sizeof what, "%s", operand->name);
    for (char *c = what; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    SK_TRY(check_value(what, operand->kind, operand->choices, 0, 0, text, err));
    return push_value(args, operand, text, err);
}

/* Gives the operands their names: left to right, the repeated one taking what the others leave. */
static sk_status name_operands(sk_args *args, sk_error *err)
{
    const sk_command *command = args->command;
    size_t required = 0, taken = 0;
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++)
        required += !operand->optional;
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++) {
        size_t left = args->n_loose - taken;
        if (!operand->optional)
            required--;
        if (left == 0 && !operand->optional)
            return sk_fail(err, SK_ERR_ARG, "'skitter %s' needs %s %s\n%s", command->name,
                           strchr("aeiou", operand->name[0]) ? "an" : "a", operand->name, operand->help);
        if (operand->optional && left <= required)
            continue;
        SK_TRY(take_operand(args, operand, args->loose[taken++], err));
        while (operand->repeat && args->n_loose - taken > required)
            SK_TRY(take_operand(args, operand, args->loose[taken++], err));
    }
    if (taken < args->n_loose)
        return sk_fail(err, SK_ERR_ARG,
                       "'skitter %s' has no use for '%s'\n'skitter %s --help' shows what it takes",
                       command->name, args->loose[taken], command->name);
    return SK_OK;
}

static sk_status refuse_repeats(const sk_args *args, sk_error *err)
{
    for (const sk_option *option = args->command->options; option && option->name; option++) {
        const char *first = NULL;
        for (size_t i = 0; i < args->n_values && !option->repeat && option->kind != SK_OPTION_FLAG; i++) {
            if (args->values[i].of != option)
                continue;
            if (first && strcmp(first, args->values[i].text) != 0)
                return sk_fail(err, SK_ERR_ARG, "--%s is given twice, as '%s' and as '%s'\nkeep one of them",
                               option->name, first, args->values[i].text);
            first = args->values[i].text;
        }
    }
    return SK_OK;
}

sk_status sk_args_parse(const sk_command *command, int argc, const char *const *argv, sk_args **out,
                        sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    sk_args *args = sk_calloc(1, sizeof *args);
    if (!args)
        return sk_fail_memory(err, sizeof *args);
    args->command = command;
    int only_operands = 0;
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        if (!only_operands && text[0] != '-' && sk_foreign_is_pair(command, text))
            SK_TRY_GOTO(sk_foreign_refuse_pairs(command, argc, argv, err));
        else if (only_operands || text[0] != '-' || !text[1])
            SK_TRY_GOTO(push_loose(args, text, err));
        else if (strcmp(text, "--") == 0)
            only_operands = 1;
        else if (text[1] == '-')
            SK_TRY_GOTO(take_long(args, argc, argv, &i, err));
        else
            SK_TRY_GOTO(take_short(args, argc, argv, &i, err));
    }
    SK_TRY_GOTO(refuse_repeats(args, err));
    SK_TRY_GOTO(name_operands(args, err));
done:
    return SK_HAND_OVER(status, args, out, sk_args_close);
}

void sk_args_close(sk_args **args)
{
    SK_TAKE_OR_RETURN(a, args);
    sk_free_all(a->values, (void *)a->loose, a);
}

sk_status sk_args_with(const sk_args *args, const sk_args_more *more, size_t count, sk_args **out,
                       sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    sk_args *copy = sk_calloc(1, sizeof *copy);
    if (!copy)
        return sk_fail_memory(err, sizeof *copy);
    copy->command = args->command;
    for (size_t i = 0; i < args->n_values; i++)
        SK_TRY_GOTO(push_value(copy, args->values[i].of, args->values[i].text, err));
    for (size_t i = 0; i < count; i++) {
        const sk_option *option = sk_command_option(args->command, more[i].name, strlen(more[i].name));
        const void *of = option ? (const void *)option : find_operand(args->command, more[i].name);
        SK_TRY_GOTO(of ? push_value(copy, of, more[i].text, err)
                       : sk_fail(err, SK_ERR_INTERNAL, "there is no option '%s'", more[i].name));
    }
done:
    return SK_HAND_OVER(status, copy, out, sk_args_close);
}

/* --- access --- */

static const void *row_of(const sk_args *args, const char *name, const char **fallback)
{
    *fallback = NULL;
    const sk_option *option = sk_command_option(args->command, name, strlen(name));
    if (option) {
        *fallback = option->fallback;
        return option;
    }
    const sk_operand *operand = find_operand(args->command, name);
    if (operand)
        return operand;
    fprintf(stderr, "skitter: internal error: command '%s' asks for '%s', which is not in its table\n",
            args->command->name, name);
    abort();
}

size_t sk_args_count(const sk_args *args, const char *name)
{
    const char *fallback;
    const void *row = row_of(args, name, &fallback);
    size_t count = 0;
    for (size_t i = 0; i < args->n_values; i++)
        count += args->values[i].of == row;
    return count;
}

const char *sk_args_at(const sk_args *args, const char *name, size_t index)
{
    const char *fallback;
    const void *row = row_of(args, name, &fallback);
    for (size_t i = 0; i < args->n_values; i++)
        if (args->values[i].of == row && index-- == 0)
            return args->values[i].text;
    return NULL;
}

const char *sk_args_text(const sk_args *args, const char *name)
{
    const char *fallback;
    const void *row = row_of(args, name, &fallback);
    for (size_t i = args->n_values; i-- > 0;)
        if (args->values[i].of == row)
            return args->values[i].text;
    return fallback;
}

int64_t sk_args_int(const sk_args *args, const char *name)
{
    const char *text = sk_args_text(args, name);
    return text ? strtoll(text, NULL, 10) : 0;
}

double sk_args_real(const sk_args *args, const char *name)
{
    const char *text = sk_args_text(args, name);
    return text ? strtod(text, NULL) : 0;
}

int sk_args_flag(const sk_args *args, const char *name)
{
    return (int)sk_args_count(args, name);
}

int sk_args_given(const sk_args *args, const char *name)
{
    return sk_args_count(args, name) > 0;
}

const sk_command *sk_args_command(const sk_args *args)
{
    return args->command;
}
