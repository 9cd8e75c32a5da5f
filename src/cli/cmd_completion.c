/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/command.h"

#include <string.h>

/* Both scripts are plain lists made from the tables: completing starts no process. */

static void print_words(const char *choices)
{
    for (const char *c = choices; *c; c++)
        putchar(*c == '|' ? ' ' : *c);
}

/* --- bash --- */

/* Files are left to bash itself (complete -o default), which knows about spaces and tildes. */
static void bash_values(sk_option_kind kind, const char *choices)
{
    switch (kind) {
    case SK_OPTION_CHOICE:
        printf("COMPREPLY=($(compgen -W '");
        print_words(choices);
        printf("' -- \"$cur\"))");
        break;
    case SK_OPTION_FILE: printf(":"); break;
    case SK_OPTION_FOLDER: printf("compopt -o dirnames"); break;
    default: printf("compopt +o default +o bashdefault"); break;
    }
}

static void bash_option_names(const sk_command *command)
{
    const sk_option *tables[] = {command->options, sk_common_options};
    for (int t = 0; t < 2; t++)
        for (const sk_option *option = tables[t]; option && option->name; option++)
            printf(" --%s", option->name);
}

static void bash_command(const sk_command *command)
{
    printf("    %s)\n        case $prev in\n", command->name);
    for (const sk_option *option = command->options; option && option->name; option++) {
        if (option->kind == SK_OPTION_FLAG)
            continue;
        printf("        --%s", option->name);
        if (option->letter)
            printf(" | -%c", option->letter);
        printf(") ");
        bash_values(option->kind, option->choices);
        printf("; return ;;\n");
    }
    printf("        esac\n");
    printf("        if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '");
    bash_option_names(command);
    printf("' -- \"$cur\"))\n        else ");
    const sk_operand *operand = command->operands;
    bash_values(operand && operand->name ? operand->kind : SK_OPTION_TEXT, operand ? operand->choices : NULL);
    printf("; fi ;;\n");
}

static void print_bash(void)
{
    printf("# bash completion for skitter; made by 'skitter completion bash'\n"
           "_skitter() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i\n"
           "    COMPREPLY=()\n"
           "    # bash parts words at '=': --option=value comes as three\n"
           "    if [[ $cur == '=' ]]; then cur=''\n"
           "    elif [[ $prev == '=' && COMP_CWORD -ge 2 ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        if [[ ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; break; fi\n"
           "    done\n"
           "    case $command in\n"
           "    '')\n"
           "        compopt +o default +o bashdefault\n"
           "        COMPREPLY=($(compgen -W '");
    for (const sk_command *const *command = sk_commands; *command; command++)
        printf("%s ", (*command)->name);
    printf("--help --version' -- \"$cur\")) ;;\n");
    for (const sk_command *const *command = sk_commands; *command; command++) {
        if (strcmp((*command)->name, "help") != 0) {
            bash_command(*command);
            continue;
        }
        printf("    help)\n        compopt +o default +o bashdefault\n        COMPREPLY=($(compgen -W '");
        for (const sk_command *const *other = sk_commands; *other; other++)
            printf("%s ", (*other)->name);
        printf("' -- \"$cur\")) ;;\n");
    }
    printf("    esac\n}\n"
           "complete -o default -o bashdefault -F _skitter skitter\n");
}

/* --- zsh --- */

/* Inside '…' of a specification: `special` characters mean something there. */
static void zsh_text(const char *text, const char *special)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            printf("'\\''");
        else if (strchr(special, *c))
            printf("\\%c", *c);
        else
            putchar(*c);
    }
}

static void zsh_values(sk_option_kind kind, const char *choices)
{
    switch (kind) {
    case SK_OPTION_CHOICE:
        putchar('(');
        print_words(choices);
        putchar(')');
        break;
    case SK_OPTION_FILE: printf("_files"); break;
    case SK_OPTION_FOLDER: printf("_files -/"); break;
    default: printf(" "); break;
    }
}

static void zsh_option(const sk_option *option)
{
    printf(" \\\n            ");
    if (option->repeat || strcmp(option->name, "verbose") == 0)
        printf("'*'");
    else if (option->letter)
        printf("'(-%c --%s)'", option->letter, option->name);
    int valued = option->kind != SK_OPTION_FLAG;
    if (option->letter)
        printf("{-%c%s,--%s%s}", option->letter, valued ? "+" : "", option->name, valued ? "=" : "");
    else
        printf("--%s%s", option->name, valued ? "=" : "");
    printf("'[");
    zsh_text(option->help, "[]:\\");
    printf("]");
    if (valued) {
        printf(":");
        zsh_text(option->argument ? option->argument : "VALUE", ":\\");
        printf(":");
        zsh_values(option->kind, option->choices);
    }
    printf("'");
}

static void zsh_command(const sk_command *command)
{
    printf("        %s)\n            _arguments -s", command->name);
    for (const sk_option *option = command->options; option && option->name; option++)
        zsh_option(option);
    for (const sk_option *option = sk_common_options; option->name; option++)
        zsh_option(option);
    int position = 1;
    for (const sk_operand *operand = command->operands; operand && operand->name; operand++, position++) {
        if (operand->repeat)
            printf(" \\\n            '*:");
        else
            printf(" \\\n            '%d:%s", position, operand->optional ? ":" : "");
        zsh_text(operand->name, ":\\");
        printf(":");
        if (strcmp(command->name, "help") == 0) {
            putchar('(');
            for (const sk_command *const *other = sk_commands; *other; other++)
                printf("%s%s", other == sk_commands ? "" : " ", (*other)->name);
            putchar(')');
        } else {
            zsh_values(operand->kind, operand->choices);
        }
        printf("'");
        if (operand->repeat)
            break; /* nothing can be told about what follows a repeated operand */
    }
    printf(" ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef skitter\n"
           "# zsh completion for skitter; made by 'skitter completion zsh'\n"
           "_skitter() {\n"
           "    local curcontext=$curcontext state line\n"
           "    typeset -A opt_args\n"
           "    _arguments -C '(- *)'{-h,--help}'[overview]' '(- *)'{-V,--version}'[version and build]' \\\n"
           "        '1: :->command' '*:: :->rest'\n"
           "    case $state in\n"
           "    command)\n"
           "        local -a commands=(\n");
    for (const sk_command *const *command = sk_commands; *command; command++) {
        printf("            '%s:", (*command)->name);
        zsh_text((*command)->summary, ":\\");
        printf("'\n");
    }
    printf("        )\n"
           "        _describe -t commands 'skitter command' commands ;;\n"
           "    rest)\n"
           "        case $words[1] in\n");
    for (const sk_command *const *command = sk_commands; *command; command++)
        zsh_command(*command);
    printf("        esac ;;\n"
           "    esac\n"
           "}\n"
           "if [[ $funcstack[1] == _skitter ]]; then _skitter \"$@\"; else compdef _skitter skitter; fi\n");
}

static sk_status run(const sk_args *args, sk_error *err)
{
    (void)err;
    if (strcmp(sk_args_text(args, "shell"), "zsh") == 0)
        print_zsh();
    else
        print_bash();
    return SK_OK;
}

static const sk_operand operands[] = {
    {.name = "shell", .kind = SK_OPTION_CHOICE, .choices = "bash|zsh", .help = "the shell to write it for"},
    {0},
};

static const sk_example examples[] = {
    {"source <(skitter completion bash)",
     "complete commands and options in this bash; put the line into ~/.bashrc to keep it"},
    {"skitter completion zsh > ~/.zfunc/_skitter", "for zsh, where ~/.zfunc is in $fpath"},
    {0},
};

const sk_command sk_command_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .operands = operands,
    .examples = examples,
    .run = run,
};
