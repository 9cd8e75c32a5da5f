/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"
#include "base/json_write.h"
#include "build_info.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/shared_options.h"

#ifdef SKITTER_HAVE_FFMPEG
#define HAVE_FFMPEG 1
#else
#define HAVE_FFMPEG 0
#endif
#ifdef SKITTER_HAVE_CUDA
#define HAVE_CUDA 1
#else
#define HAVE_CUDA 0
#endif

static void print_text(const sk_cpu_info *cpu)
{
    printf("skitter %s (%s)\n", SK_BUILD_VERSION, SK_BUILD_COMMIT);
    printf("build     %s, %s, %s\n", SK_BUILD_TYPE, SK_BUILD_COMPILER, SK_BUILD_SYSTEM);
    printf("features  FFmpeg %s, CUDA %s\n", HAVE_FFMPEG ? "yes" : "no", HAVE_CUDA ? "yes" : "no");
    printf("processor %s\n", cpu->model);
    printf("          %s", sk_cpu_level_name(sk_cpu_flags()));
    if (sk_cpu_flags() != cpu->flags)
        printf(" (it has %s; SKITTER_CPU_MASK limits it)", sk_cpu_level_name(cpu->flags));
    printf(", %d usable core%s\n", (int)sk_cpu_usable_cores(), sk_cpu_usable_cores() == 1 ? "" : "s");
}

static sk_status print_json(const sk_cpu_info *cpu, sk_error *err)
{
    char flags[SK_CPU_FLAGS_TEXT];
    sk_json json = sk_json_to_file(stdout, 2);
    sk_json_object(&json);
    sk_json_key_strings(&json, {"version", SK_BUILD_VERSION}, {"commit", SK_BUILD_COMMIT},
                        {"build", SK_BUILD_TYPE}, {"compiler", SK_BUILD_COMPILER},
                        {"system", SK_BUILD_SYSTEM});
    sk_json_key_bool(&json, "ffmpeg", HAVE_FFMPEG);
    sk_json_key_bool(&json, "cuda", HAVE_CUDA);
    sk_json_key_object(&json, "cpu");
    sk_json_key_strings(&json, {"model", cpu->model}, {"level", sk_cpu_level_name(sk_cpu_flags())},
                        {"flags", sk_cpu_flags_text(cpu->flags, flags, sizeof flags)});
    sk_json_key_int(&json, "cores", sk_cpu_usable_cores());
    sk_json_key_int(&json, "threads", sk_cpu_usable_threads());
    sk_json_close(&json);
    sk_json_close(&json);
    return sk_json_end(&json, err);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_cpu_info cpu;
    sk_cpu_describe(&cpu);
    if (sk_args_flag(args, "json"))
        return print_json(&cpu, err);
    print_text(&cpu);
    return SK_OK;
}

static const sk_option options[] = {
    SK_CLI_OPTION_JSON,
    {0},
};

static const sk_example examples[] = {
    {"skitter --version", "what a bug report should contain"},
    {"skitter --version --json", "the same for programs"},
    {0},
};

const sk_command sk_command_version = {
    .name = "version",
    .summary = "version, build and processor",
    .options = options,
    .examples = examples,
    .run = run,
};
