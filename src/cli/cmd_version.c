/* SPDX-License-Identifier: Apache-2.0 */
#include "build_info.h"
#include "cli/cli.h"
#include "cli/command.h"

static sk_status run(const sk_args *args, sk_error *err)
{
    (void)args;
    (void)err;
    printf("skitter %s\n", SK_BUILD_VERSION);
    return SK_OK;
}

static const sk_option options[] = {
    {.name = "json", .kind = SK_OPTION_FLAG, .help = "one JSON object on standard output"},
    {0},
};

static const sk_example examples[] = {
    {"skitter --version", "what a bug report should contain"},
    {"skitter --version --json", "the same for programs"},
    {0},
};

const sk_command sk_command_version = {
    .name = "version",
    .group = "Skitter itself",
    .summary = "version, build and processor",
    .options = options,
    .examples = examples,
    .run = run,
};
