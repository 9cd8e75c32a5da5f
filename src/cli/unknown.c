/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unknown.h"

#include "cli/command.h"
#include "cli/suggest.h"

#include <string.h>
#include <unistd.h>

sk_status sk_cli_unknown_command(const char *name, sk_error *err)
{
    sk_suggestion near;
    sk_suggest_start(&near, name, strlen(name));
    for (const sk_command *const *command = sk_commands; *command; command++)
        sk_suggest_offer(&near, (*command)->name);
    if (near.best)
        return sk_fail(err, SK_ERR_ARG, "there is no command '%s'\ndid you mean 'skitter %s'?", name,
                       near.best);
    if (access(name, F_OK) == 0 && sk_command_find("info"))
        return sk_fail(err, SK_ERR_ARG, "'%s' is a file, not a command\n'skitter info %s' says what it holds",
                       name, name);
    return sk_fail(err, SK_ERR_ARG, "there is no command '%s'\n'skitter help' lists them", name);
}
