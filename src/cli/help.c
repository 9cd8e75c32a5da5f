/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include "base/file.h"
#include "build_info.h"
#include "cli/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns a UTF-8 text takes (one a character; our texts have no wide ones). */
static int columns(const char *text, size_t length)
{
    int n = 0;
    for (size_t i = 0; i < length; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

/* Writes `text` in lines of `width`, every line but the first indented; `at` is where the cursor is. A blank line
 * ("\n\n") stays one. Ends with a newline. */
static void print_wrapped(FILE *out, const char *text, int at, int indent, int width)
{
    int fresh = 1;
    while (*text) {
        if (text[0] == '\n') {
            fprintf(out, text[1] == '\n' ? "\n\n%*s" : "\n%*s", indent, "");
            text += text[1] == '\n' ? 2 : 1;
            at = indent;
            fresh = 1;
            continue;
        }
        size_t length = strcspn(text, " \n");
        int wide = columns(text, length);
        if (!fresh && at + 1 + wide > width) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            fresh = 1;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", (int)length, text);
        at += wide + !fresh;
        fresh = 0;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void heading(FILE *out, const char *text)
{
    fprintf(out, "\n%s%s:%s\n", sk_cli_style(out, SK_STYLE_BOLD), text, sk_cli_style(out, SK_STYLE_END));
}

static void print_row(FILE *out, const char *left, int left_width, const char *right)
{
    int wide = columns(left, strlen(left));
    int indent = 2 + left_width + 2;
    fprintf(out, "  %s", left);
    if (wide > left_width)
        fprintf(out, "\n%*s", indent, "");
    else
        fprintf(out, "%*s", left_width - wide + 2, "");
    print_wrapped(out, right, indent, indent, sk_cli_width(out));
}

static void upper(const char *name, char *text, size_t capacity)
{
    size_t i = 0;
    for (; name[i] && i + 1 < capacity; i++)
        text[i] = (char)toupper((unsigned char)name[i]);
    text[i] = '\0';
}

void sk_help_usage(const sk_command *command, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++) {
        char name[64];
        upper(operand->name, name, sizeof name);
        int n = snprintf(text + used, capacity - used, "%s%s%s%s%s", used ? " " : "",
                         operand->optional ? "[" : "", name, operand->repeat ? "..." : "",
                         operand->optional ? "]" : "");
        if (n < 0 || (size_t)n >= capacity - used)
            return;
        used += (size_t)n;
    }
    snprintf(text + used, capacity - used, "%s[options]", used ? " " : "");
}

static void option_left(const sk_option *option, char *text, size_t capacity)
{
    int n = option->letter ? snprintf(text, capacity, "-%c, --%s", option->letter, option->name)
                           : snprintf(text, capacity, "    --%s", option->name);
    if (option->kind != SK_OPTION_FLAG && n > 0 && (size_t)n < capacity)
        snprintf(text + n, capacity - (size_t)n, " %s", option->argument ? option->argument : "VALUE");
}

static void option_right(const sk_option *option, char *text, size_t capacity)
{
    char choices[512] = "", range[96] = "", fallback[128] = "";
    if (option->choices) {
        int n = snprintf(choices, sizeof choices, ": ");
        for (const char *c = option->choices; *c && (size_t)n + 3 < sizeof choices; c++)
            n += snprintf(choices + n, sizeof choices - (size_t)n, *c == '|' ? ", " : "%c", *c);
    }
    if (option->min != 0 || option->max != 0) {
        if (option->max >= 1e9)
            snprintf(range, sizeof range, " (%.15g or more)", option->min);
        else
            snprintf(range, sizeof range, " (%.15g to %.15g)", option->min, option->max);
    }
    if (option->fallback)
        snprintf(fallback, sizeof fallback, " [default: %s]", option->fallback);
    snprintf(text, capacity, "%s%s%s%s%s", option->help, choices, range,
             option->repeat ? "; may be repeated" : "", fallback);
}

static void print_options(FILE *out, const sk_option *options, int left_width)
{
    for (const sk_option *option = options; option && option->name; option++) {
        char left[128], right[1024];
        option_left(option, left, sizeof left);
        option_right(option, right, sizeof right);
        print_row(out, left, left_width, right);
    }
}

/* The left column fits all but unusually long entries. */
static int left_width(const sk_command *command)
{
    const sk_option *tables[] = {command->options, sk_common_options};
    int width = 10;
    for (int t = 0; t < 2; t++) {
        for (const sk_option *option = tables[t]; option && option->name; option++) {
            char left[128];
            option_left(option, left, sizeof left);
            int wide = columns(left, strlen(left));
            if (wide > width && wide <= 28)
                width = wide;
        }
    }
    return width;
}

/* Where the pages are that texts call docs/…: beside the program as it was installed, or in the source tree it was built in. */
static void print_pages(FILE *out, bool cited)
{
    static const char *const places[] = {"../share/doc/skitter", ".."};
    char *own = cited ? sk_folder_program() : NULL;
    for (size_t i = 0; own && i < sizeof places / sizeof *places; i++) {
        char *folder = sk_path_join(own, places[i]),
             *pages = folder ? sk_path_join(folder, "docs/results.md") : NULL;
        char *real = pages && sk_file_exists(pages) ? realpath(folder, NULL) : NULL;
        sk_free(pages);
        sk_free(folder);
        if (real)
            fprintf(out, "\nPages called docs/… are in %s\n", real);
        free(real);
        if (real)
            break;
    }
    sk_free(own);
}

static bool cites_pages(const sk_command *command)
{
    bool cited = command->description && strstr(command->description, "docs/");
    for (const sk_option *option = command->options; option && option->name; option++)
        cited = cited || (option->help && strstr(option->help, "docs/"));
    return cited;
}

void sk_help_command(FILE *out, const sk_command *command)
{
    char usage[512];
    sk_help_usage(command, usage, sizeof usage);
    fprintf(out, "%sskitter %s%s: %s\n\nUsage: skitter %s %s\n", sk_cli_style(out, SK_STYLE_BOLD),
            command->name, sk_cli_style(out, SK_STYLE_END), command->summary, command->name, usage);
    if (command->description) {
        fputc('\n', out);
        print_wrapped(out, command->description, 0, 0, sk_cli_width(out));
    }
    int width = left_width(command);
    if (command->operands && command->operands->name) {
        heading(out, "Arguments");
        for (const sk_operand *operand = command->operands; operand->name; operand++) {
            char name[64], right[1024];
            upper(operand->name, name, sizeof name);
            sk_option shown = {.choices = operand->choices, .help = operand->help};
            option_right(&shown, right, sizeof right);
            print_row(out, name, width, right);
        }
    }
    heading(out, "Options");
    print_options(out, command->options, width);
    print_options(out, sk_common_options, width);
    heading(out, "Examples");
    for (const sk_example *example = command->examples; example && example->command; example++) {
        fprintf(out, "  %s%s%s\n", sk_cli_style(out, SK_STYLE_BLUE), example->command,
                sk_cli_style(out, SK_STYLE_END));
        if (example->what) {
            fputs("      ", out);
            print_wrapped(out, example->what, 6, 6, sk_cli_width(out));
        }
    }
    print_pages(out, cites_pages(command));
}

void sk_help_overview(FILE *out)
{
    fprintf(out, "%sskitter %s%s: detects and poses animals in video, without Python\n\n",
            sk_cli_style(out, SK_STYLE_BOLD), SK_BUILD_VERSION, sk_cli_style(out, SK_STYLE_END));
    fprintf(out, "Usage: skitter COMMAND [arguments] [options]\n");
    int width = 10;
    for (const sk_command *const *command = sk_commands; *command; command++)
        width = (int)strlen((*command)->name) > width ? (int)strlen((*command)->name) : width;
    for (const sk_command *const *command = sk_commands; *command; command++) {
        const char *group = sk_command_heading(*command);
        if (group)
            heading(out, group);
        print_row(out, (*command)->name, width, (*command)->summary);
    }
    fprintf(out, "\n'skitter COMMAND --help' explains a command, with examples.\n");
    print_pages(out, true);
}
