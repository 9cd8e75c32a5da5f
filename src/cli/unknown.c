/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unknown.h"

#include "base/text.h"
#include "cli/command.h"

#include <unistd.h>

sk_status sk_cli_unknown_command(const char *name, sk_error *err)
{
    const char *names[64];
    size_t count = 0;
    for (const sk_command *const *command = sk_commands; *command && count < 64; command++)
        names[count++] = (*command)->name;
    const char *best = sk_text_suggest(name, names, count);
    if (best)
        return sk_fail(err, SK_ERR_ARG, "there is no command '%s'\ndid you mean 'skitter %s'?", name, best);
    if (access(name, F_OK) == 0 && sk_command_find("info"))
        return sk_fail(err, SK_ERR_ARG, "'%s' is a file, not a command\n'skitter info %s' says what it holds",
                       name, name);
    return sk_fail(err, SK_ERR_ARG, "there is no command '%s'\n'skitter help' lists them", name);
}
