/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unknown.h"

#include "base/text.h"
#include "cli/command.h"
#include "cli/foreign.h"

#include <string.h>
#include <unistd.h>

/* A command of another program, or Ultralytics' way to write one: `detect predict model=…`, `source=…`. */
static sk_status foreign_command(const char *name, int argc, const char *const *argv, sk_error *err)
{
    const sk_foreign *row = sk_foreign_find(sk_foreign_commands, name, strlen(name));
    const sk_command *ours = row && row->write ? sk_command_find(row->write) : sk_command_find("predict");
    /* yolo detect val: the next word says more */
    const bool opens =
        row && (row->say ? strstr(row->say, "in its file") != NULL : strcmp(name, "yolo") == 0);
    if (opens && argc > 1 && sk_foreign_find(sk_foreign_commands, argv[1], strlen(argv[1])))
        return foreign_command(argv[1], argc - 1, argv + 1, err);
    for (int i = 0; i < argc; i++)
        if (opens && sk_command_find(argv[i]))
            ours = sk_command_find(argv[i]);
    bool pairs = sk_foreign_is_pair(ours, name);
    for (int i = 0; i < argc; i++)
        pairs |= row && sk_foreign_is_pair(ours, argv[i]);
    if (pairs)
        return sk_foreign_refuse_pairs(ours, argc, argv, err);
    if (!row)
        return SK_OK;
    if (!row->write)
        return sk_fail(err, SK_ERR_ARG, "there is no command '%s'\n%s", name, row->say);
    return sk_fail(err, SK_ERR_ARG, "there is no command '%s'\nhere it is 'skitter %s'%s%s", name, ours->name,
                   row->say ? "\n" : "", row->say ? row->say : "");
}

sk_status sk_cli_unknown_command(const char *name, int argc, const char *const *argv, sk_error *err)
{
    SK_TRY(foreign_command(name, argc, argv, err));
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
