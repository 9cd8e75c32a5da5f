/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/foreign.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HINT_MOST 800 /* of an error's 1024 bytes */

/* The same word, spelt as options are here: lower case, dashes. */
static void spell(const char *word, size_t length, char *buffer, size_t capacity)
{
    size_t n = 0;
    for (size_t i = 0; i < length && n + 1 < capacity; i++) {
        char c = (char)tolower((unsigned char)word[i]);
        buffer[n++] = c == '_' ? '-' : c;
    }
    buffer[n] = '\0';
}

const sk_foreign *sk_foreign_find(const sk_foreign *table, const char *word, size_t length)
{
    char name[64];
    while (length && *word == '-') {
        word++;
        length--;
    }
    for (size_t i = 0; i < length; i++)
        if (word[i] == '=')
            length = i;
    if (length == 0 || length >= sizeof name)
        return NULL;
    spell(word, length, name, sizeof name);
    for (const sk_foreign *row = table; row->word; row++)
        if (strcmp(row->word, name) == 0)
            return row;
    return NULL;
}

static bool needs_quotes(const char *word)
{
    return !*word || strpbrk(word, " \t\n'\"\\$`*?[]();&|<>#~!{}") != NULL;
}

/* As a shell reads it. */
static void append_word(sk_text *text, const char *word)
{
    if (!needs_quotes(word)) {
        sk_text_append(text, word);
        return;
    }
    sk_text_append(text, "'");
    for (; *word; word++)
        *word == '\'' ? sk_text_append(text, "'\\''") : sk_text_append_bytes(text, word, 1);
    sk_text_append(text, "'");
}

/* Ultralytics' and PyTorch's names of devices: "0", "0,1", "cuda:1", "cpu", "[0, 1]". */
static void write_device(const char *value, sk_text *text)
{
    if (strcmp(value, "cpu") == 0 || (isalpha((unsigned char)*value) && strncmp(value, "cuda", 4) != 0)) {
        sk_text_append(text, "--runtime ");
        append_word(text, value);
        return;
    }
    sk_text_append(text, "--runtime cuda");
    const char *separator = " --devices ";
    for (const char *at = value; *at; at++) {
        if (!isdigit((unsigned char)*at))
            continue;
        size_t digits = strspn(at, "0123456789");
        sk_text_appendf(text, "%scuda:%.*s", separator, (int)digits, at);
        separator = ",";
        at += digits - 1;
    }
}

/* Appends what is written here instead of this row's word with this value (null: not known, its name stands there). */
static void write_row(const sk_foreign *row, const char *value, sk_text *text)
{
    const char *hole = strstr(row->write, "%s");
    if (value && strcmp(row->write, "--runtime %s") == 0) {
        write_device(value, text);
        return;
    }
    sk_text_append_bytes(text, row->write, hole ? (size_t)(hole - row->write) : strlen(row->write));
    if (!hole)
        return;
    if (value)
        append_word(text, value);
    else
        sk_text_append(text, strncmp(row->write, "--frames ::", 11) == 0 ? "N"
                             : row->write[0] == '%'                      ? "SOURCE"
                                                                         : "…");
}

/* Does this command have the option that `write` begins with? Operands count as had by commands that have any. */
static bool can_write(const sk_command *command, const char *write)
{
    if (strncmp(write, "--", 2) == 0)
        return sk_command_option(command, write + 2, strcspn(write + 2, " ")) != NULL;
    return write[0] != '%' || (command->operands && command->operands->name);
}

static const sk_command *command_that_can(const char *write)
{
    for (const sk_command *const *command = sk_commands; *command; command++)
        if (can_write(*command, write))
            return *command;
    return NULL;
}

sk_status sk_foreign_refuse(const sk_command *command, const char *word, size_t length, const char *value,
                            sk_error *err)
{
    char name[64];
    size_t dashes = 0;
    while (dashes < length && word[dashes] == '-')
        dashes++;
    spell(word + dashes, length - dashes, name, sizeof name);
    if (sk_command_option(command, name, strlen(name))) /* ours, with underscores or capitals */
        return sk_fail(err, SK_ERR_ARG, "'skitter %s' has no option '%.*s'\ndid you mean '--%s'?",
                       command->name, (int)length, word, name);
    const sk_foreign *row = sk_foreign_find(sk_foreign_options, word, length);
    if (!row || (!row->word[1] && !can_write(command, row->write))) /* letters mean much */
        return SK_OK;
    sk_text hint = {.limit = HINT_MOST};
    if (row->write && row->write[0]) {
        const bool here = can_write(command, row->write);
        const sk_command *other = here ? NULL : command_that_can(row->write);
        sk_text_append(&hint, "write '");
        write_row(row, value, &hint);
        sk_text_append(&hint, "'");
        if (other)
            sk_text_appendf(&hint, " (an option of 'skitter %s')", other->name);
        if (row->say)
            sk_text_append(&hint, "; ");
    }
    if (row->say)
        sk_text_append(&hint, row->say);
    sk_status status = sk_fail(err, SK_ERR_ARG, "'skitter %s' has no option '%.*s'\n%s", command->name,
                               (int)length, word, sk_text_get(&hint));
    sk_text_free(&hint);
    return status;
}

/* --- key=value --- */

static const sk_operand *own_operand(const sk_command *command, const char *name)
{
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++)
        if (strcmp(operand->name, name) == 0)
            return operand;
    return NULL;
}

static bool anybody_has(const char *option)
{
    for (const sk_command *const *command = sk_commands; *command; command++)
        if (sk_command_option(*command, option, strlen(option)))
            return true;
    return false;
}

bool sk_foreign_is_pair(const sk_command *command, const char *word)
{
    const char *equals = strchr(word, '=');
    char name[64];
    if (!equals || equals == word || (size_t)(equals - word) >= sizeof name)
        return false;
    for (const char *c = word; c < equals; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.')
            return false;
    if (access(word, F_OK) == 0)
        return false;
    spell(word, (size_t)(equals - word), name, sizeof name);
    return sk_command_option(command, name, strlen(name)) || own_operand(command, name) ||
           sk_foreign_find(sk_foreign_options, name, strlen(name)) || anybody_has(name);
}

static bool is_no(const char *value)
{
    return strcasecmp(value, "false") == 0 || strcasecmp(value, "none") == 0;
}

static bool is_yes(const char *value)
{
    return strcasecmp(value, "true") == 0;
}

/* "conf=0.25" as " --conf 0.25"; what has no counterpart goes, and *say keeps why. */
static void write_pair(const sk_command *command, const char *word, sk_text *text, const char **say)
{
    char name[64];
    size_t length = strcspn(word, "=");
    const char *value = word + length + 1;
    spell(word, length, name, sizeof name);
    const sk_option *option = sk_command_option(command, name, strlen(name));
    const sk_foreign *row = sk_foreign_find(sk_foreign_options, name, strlen(name));
    if (option || own_operand(command, name)) {
        if (option && option->kind == SK_OPTION_FLAG) {
            if (!is_no(value))
                sk_text_appendf(text, " --%s", name);
            return;
        }
        sk_text_append(text, " ");
        if (option)
            sk_text_appendf(text, "--%s ", name);
        const bool switched = option && option->choices && strstr(option->choices, "on|off");
        append_word(text, switched && is_no(value) ? "off" : switched && is_yes(value) ? "on" : value);
        return;
    }
    if (strcmp(name, "data") == 0 && own_operand(command, "truth")) { /* yolo val data=… */
        sk_text_append(text, " ");
        append_word(text, value);
        return;
    }
    if (is_no(value) || !row)
        return;
    if (row->write && row->write[0] && can_write(command, row->write)) {
        sk_text_append(text, " ");
        write_row(row, value, text);
    } else if (row->say && row->write == NULL) {
        *say = row->say;
    }
}

/* Is there a word that is neither a pair nor a command? */
static bool names_anything(const sk_command *command, int argc, const char *const *argv)
{
    for (int i = 0; i < argc; i++)
        if (!sk_foreign_is_pair(command, argv[i]) && !sk_command_find(argv[i]) &&
            !sk_foreign_find(sk_foreign_commands, argv[i], strlen(argv[i])))
            return true;
    return false;
}

sk_status sk_foreign_refuse_pairs(const sk_command *command, int argc, const char *const *argv, sk_error *err)
{
    sk_text text = {.limit = HINT_MOST};
    const char *say = NULL, *first = "";
    sk_text_appendf(&text, "skitter %s", command->name);
    if (own_operand(command, "truth") && !names_anything(command, argc, argv))
        sk_text_append(&text, " RUN"); /* yolo val begins with the model, ours with its results */
    for (int i = 0; i < argc; i++) {
        if (sk_foreign_is_pair(command, argv[i])) {
            write_pair(command, argv[i], &text, &say);
            first = *first ? first : argv[i];
            continue;
        }
        const sk_foreign *row = sk_foreign_find(sk_foreign_commands, argv[i], strlen(argv[i]));
        if (row && row->say) /* yolo detect predict … */
            say = row->say;
        if (!row && !sk_command_find(argv[i])) {
            sk_text_append(&text, " ");
            append_word(&text, argv[i]);
        }
    }
    sk_status status =
        sk_fail(err, SK_ERR_ARG, "'%.200s': options are not written with '=' alone\nwrite: %s%s%s", first,
                sk_text_get(&text), say ? "\n" : "", say ? say : "");
    sk_text_free(&text);
    return status;
}
