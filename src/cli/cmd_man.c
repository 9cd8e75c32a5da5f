/* SPDX-License-Identifier: Apache-2.0 */
#include "build_info.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

/* Text as roff: no line may start with a control character, a dash is a real one, "\n\n" parts paragraphs. */
static void text(const char *words)
{
    int line_start = 1;
    for (const char *c = words; *c; c++) {
        if (c[0] == '\n') {
            printf(c[1] == '\n' ? "\n.PP\n" : "\n.br\n");
            c += c[1] == '\n';
            line_start = 1;
            continue;
        }
        if (line_start && (*c == '.' || *c == '\''))
            printf("\\&");
        if (*c == '\\')
            printf("\\e");
        else if (*c == '-')
            printf("\\-");
        else
            putchar(*c);
        line_start = 0;
    }
}

static void line(const char *words)
{
    text(words);
    putchar('\n');
}

static void print_choices(const char *choices)
{
    printf(": ");
    for (const char *c = choices; *c; c++) {
        if (*c == '|')
            printf(", ");
        else if (*c == '-')
            printf("\\-");
        else
            putchar(*c);
    }
}

static void print_option(const sk_option *option)
{
    printf(".TP\n");
    if (option->letter)
        printf("\\fB\\-%c\\fR, ", option->letter);
    printf("\\fB\\-\\-");
    text(option->name);
    printf("\\fR");
    if (option->kind != SK_OPTION_FLAG) {
        printf(" \\fI");
        text(option->argument ? option->argument : "VALUE");
        printf("\\fR");
    }
    putchar('\n');
    text(option->help);
    if (option->choices)
        print_choices(option->choices);
    if (option->min != 0 || option->max != 0)
        printf(option->max >= 1e9 ? " (%.15g or more)" : " (%.15g to %.15g)", option->min, option->max);
    if (option->repeat)
        printf("; may be repeated");
    if (option->fallback) {
        printf(" [default: ");
        text(option->fallback);
        printf("]");
    }
    putchar('\n');
}

static void print_command(const sk_command *command)
{
    char usage[512];
    sk_help_usage(command, usage, sizeof usage);
    printf(".SS \"skitter %s ", command->name);
    text(usage);
    printf("\"\n");
    line(command->summary);
    if (command->description) {
        printf(".PP\n");
        line(command->description);
    }
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++) {
        printf(".TP\n\\fI");
        for (const char *c = operand->name; *c; c++)
            putchar(toupper((unsigned char)*c));
        printf("\\fR\n");
        text(operand->help);
        if (operand->choices)
            print_choices(operand->choices);
        putchar('\n');
    }
    for (const sk_option *option = command->options; option && option->name; option++)
        print_option(option);
}

static void print_examples(void)
{
    printf(".SH EXAMPLES\n");
    for (const sk_command *const *command = sk_commands; *command; command++) {
        for (const sk_example *example = (*command)->examples; example && example->command; example++) {
            printf(".TP\n\\fB");
            text(example->command);
            printf("\\fR\n");
            line(example->what ? example->what : (*command)->summary);
        }
    }
}

static void print_page(void)
{
    printf(".TH SKITTER 1 \"\" \"skitter %s\" \"User Commands\"\n"
           ".SH NAME\nskitter \\- detects and poses animals in video\n"
           ".SH SYNOPSIS\n\\fBskitter\\fR \\fICOMMAND\\fR [arguments] [options]\n.br\n"
           "\\fBskitter\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR [\\fB\\-\\-json\\fR]\n"
           ".SH DESCRIPTION\n"
           "Runs the model files people already have (Ultralytics .pt, SLEAP folders, .onnx) without Python, "
           "on\n"
           "whatever compute the machine has. Results go to standard output or to the named files, "
           "everything else\n"
           "to standard error.\n"
           ".SH COMMANDS\n",
           SK_BUILD_VERSION);
    for (const sk_command *const *command = sk_commands; *command; command++)
        print_command(*command);
    printf(".SH OPTIONS OF EVERY COMMAND\n");
    for (const sk_option *option = sk_common_options; option->name; option++)
        print_option(option);
    print_examples();
    printf(".SH EXIT STATUS\n"
           ".TP\n0\nsuccess\n"
           ".TP\n1\nfailure; the message on standard error says what, why and what helps\n"
           ".TP\n2\nusage: an unknown command or option, a value out of range\n"
           ".TP\n3\nnot supported by this machine or this build\n"
           ".TP\n130\ninterrupted\n"
           ".SH FILES\n"
           ".TP\nshare/doc/skitter\nbelow the folder skitter was installed into: the pages called docs/... "
           "here\n"
           ".SH ENVIRONMENT\n"
           ".TP\nNO_COLOR\nwhen set and not empty, no colours; there are none outside a terminal either\n"
           ".TP\nTMPDIR\nwhere temporary files go [default: /tmp]\n");
}

static sk_status run(const sk_args *args, sk_error *err)
{
    (void)args;
    (void)err;
    print_page();
    return SK_OK;
}

static const sk_example examples[] = {
    {"skitter man | man -l -", "read the manual of exactly this build"},
    {0},
};

const sk_command sk_command_man = {
    .name = "man",
    .summary = "print the manual page (roff)",
    .examples = examples,
    .run = run,
};
