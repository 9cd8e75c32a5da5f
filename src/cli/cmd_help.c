/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/unknown.h"

static sk_status run(const sk_args *args, sk_error *err)
{
    const char *name = sk_args_text(args, "command");
    if (!name) {
        sk_help_overview(stdout);
        return SK_OK;
    }
    const sk_command *command = sk_command_find(name);
    if (!command)
        return sk_cli_unknown_command(name, 0, NULL, err);
    sk_help_command(stdout, command);
    return SK_OK;
}

static const sk_operand operands[] = {
    {.name = "command", .kind = SK_OPTION_TEXT, .optional = 1, .help = "the command to explain"},
    {0},
};

static const sk_example examples[] = {
    {"skitter help", "the list of commands"},
    {"skitter help version", "one command's page; the same as 'skitter version --help'"},
    {0},
};

const sk_command sk_command_help = {
    .name = "help",
    .summary = "explain a command, with examples",
    .operands = operands,
    .examples = examples,
    .run = run,
};
