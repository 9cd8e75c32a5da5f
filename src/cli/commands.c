/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <string.h>

/* The list of commands, in the order people read them. */
extern const sk_command sk_command_artifacts;
extern const sk_command sk_command_batch;
extern const sk_command sk_command_bench;
extern const sk_command sk_command_completion;
extern const sk_command sk_command_config;
extern const sk_command sk_command_correct;
extern const sk_command sk_command_demo;
extern const sk_command sk_command_doctor;
extern const sk_command sk_command_eval;
extern const sk_command sk_command_export;
extern const sk_command sk_command_help;
extern const sk_command sk_command_info;
extern const sk_command sk_command_man;
extern const sk_command sk_command_net;
extern const sk_command sk_command_node;
extern const sk_command sk_command_predict;
extern const sk_command sk_command_quantize;
extern const sk_command sk_command_track;
extern const sk_command sk_command_ros;
extern const sk_command sk_command_run;
extern const sk_command sk_command_runtimes;
extern const sk_command sk_command_scene;
extern const sk_command sk_command_serve;
extern const sk_command sk_command_version;

const sk_command *const sk_commands[] = {
    &sk_command_demo,
    &sk_command_predict,
    &sk_command_track,
    &sk_command_batch,
    &sk_command_correct,
    &sk_command_serve,
    &sk_command_node,
    &sk_command_ros,
    &sk_command_eval,
    &sk_command_scene,
    &sk_command_info,
    &sk_command_export,
    &sk_command_quantize,
    &sk_command_net,
    &sk_command_bench,
    &sk_command_run,
    &sk_command_runtimes,
    &sk_command_doctor,
    &sk_command_config,
    &sk_command_artifacts,
    &sk_command_help,
    &sk_command_version,
    &sk_command_completion,
    &sk_command_man,
    NULL,
};

/* The groups they stand in: each heading before the first command of its group. */
static const struct {
    const sk_command *first;
    const char *heading;
} groups[] = {{&sk_command_demo, "Finding animals"},
              {&sk_command_info, "Models"},
              {&sk_command_runtimes, "Compute runtimes"},
              {&sk_command_help, "Skitter itself"}};

const char *sk_command_heading(const sk_command *command)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (groups[i].first == command)
            return groups[i].heading;
    return NULL;
}

const sk_option sk_common_options[] = {
    {SK_FLAG("help"), .letter = 'h', .help = "show this page"},
    {SK_FLAG("quiet"), .letter = 'q', .help = "only results and errors"},
    {SK_FLAG("verbose"), .letter = 'v', .help = "say more; twice for still more"},
    {0},
};

const sk_command *sk_command_find(const char *name)
{
    for (const sk_command *const *command = sk_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

const sk_option *sk_command_option(const sk_command *command, const char *name, size_t length)
{
    const sk_option *tables[] = {command->options, sk_common_options};
    for (int t = 0; t < 2; t++)
        for (const sk_option *option = tables[t]; option && option->name; option++)
            if ((strlen(option->name) == length && memcmp(option->name, name, length) == 0) ||
                (option->also && strlen(option->also) == length && memcmp(option->also, name, length) == 0))
                return option;
    return NULL;
}
