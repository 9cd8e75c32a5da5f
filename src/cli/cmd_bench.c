/* SPDX-License-Identifier: Apache-2.0 */
#include "app/bench.h"
#include "app/runtimes.h"
#include "base/memory.h"
#include "cli/applies.h"
#include "cli/bench_table.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"

#include <string.h>

static const sk_operand operands[] = {SK_CLI_OPERAND_MODEL, {0}};

static const sk_option options[] = {
    {SK_TEXT("runtime", "A,B"), .letter = 'r',
     .help = "compute runtimes to time side by side; ratios are to the first; without it the one that runs "
             "use ('skitter config'), or cpu"},
    SK_CLI_OPTION_FALLBACK,
    SK_CLI_OPTION_BATCH(1024, "pictures in one run"),
    SK_CLI_OPTION_IMGSZ,
    SK_CLI_OPTION_NMS,
    SK_CLI_OPTION_PRECISION,
    SK_CLI_OPTION_PROVIDER,
    SK_CLI_OPTION_ENGINE,
    SK_CLI_OPTION_OPENVINO,
    SK_CLI_OPTION_THREADS,
    {SK_INT("iterations", "N", 1, 1000000), .letter = 'n', .fallback = "60",
     .help = "timed runs of each runtime"},
    {SK_INT("warmup", "N", 0, 10000), .fallback = "4", .help = "untimed runs of each runtime before"},
    {SK_FLAG("raw-heads"), .help = "stop before the decode tail, as predict does"},
    {SK_FLAG("no-winograd"), .needs = SK_NEEDS_CPU, .help = "cpu: direct convolutions only"},
    {SK_FLAG("no-frames"), .help = "the network alone: leave out the way from frames to results"},
    {SK_FLAG("layers"), .help = "a table of every step's time"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter bench yolo11n-pose.pt", "the CPU engine on all cores"},
    {"skitter bench yolo11n-pose.pt --runtime cpu,onnx_cpu --threads 2", "side by side, with the ratio"},
    {"skitter bench yolo11n-pose.pt --layers", "where the time goes"},
    {0}};

/* The runtime that a run would take. */
static sk_status choose(sk_bench_settings *s, bool allow_fallback, char engine[32], sk_error *err)
{
    const sk_runtimes_wish wish = {.provider = s->provider, .allow_fallback = allow_fallback};
    sk_runtime_choice choice;
    SK_TRY(sk_runtimes_choose(&s->model, 1, &wish, &choice, engine, err));
    if (choice.fell_back)
        s->provider = NULL; /* it went with the runtime */
    if (choice.notice[0])
        sk_cli_warn("%s", choice.notice);
    return SK_OK;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_bench_settings s;
    sk_bench_defaults(&s);
    sk_bench_result *results = sk_calloc(SK_BENCH_MAX_RUNTIMES, sizeof *results);
    char *list = sk_strdup(sk_args_text(args, "runtime") ? sk_args_text(args, "runtime") : "");
    char chosen[32], notice[512] = "", options_text[SK_OPTIONS_TEXT];
    sk_status status = SK_OK;
    if (!results || !list) {
        status = sk_fail_memory(err, sizeof *results);
        goto done;
    }
    s.model = sk_args_text(args, "model");
    for (char *name = list, *rest = NULL; (name = strtok_r(name, ", ", &rest)); name = NULL) {
        if (s.n_runtimes == SK_BENCH_MAX_RUNTIMES) {
            status = sk_fail(err, SK_ERR_ARG, "--runtime: at most %d at a time", SK_BENCH_MAX_RUNTIMES);
            goto done;
        }
        s.runtimes[s.n_runtimes++] = name;
    }
    s.batch = (int32_t)sk_args_int(args, "batch");
    s.threads = (int32_t)sk_args_int(args, "threads");
    s.iterations = (int32_t)sk_args_int(args, "iterations");
    s.warmup = (int32_t)sk_args_int(args, "warmup");
    s.layers = sk_args_flag(args, "layers");
    s.frames = !sk_args_flag(args, "no-frames");
    s.cut_tail = sk_args_flag(args, "raw-heads");
    s.winograd = !sk_args_flag(args, "no-winograd");
    s.heads = sk_cli_heads(args);
    s.provider = sk_args_text(args, "execution-provider");
    s.openvino_device = sk_args_text(args, "openvino-device");
    (void)sk_precision_find(sk_args_text(args, "precision"), &s.precision);
    s.openvino_throughput = sk_cli_openvino_throughput(args);
    SK_TRY_GOTO(sk_cli_engine_options(args, options_text, &s.engine_options, err));
    SK_TRY_GOTO(sk_cli_parse_size(sk_args_text(args, "imgsz"), &s.height, &s.width, err));
    if (s.n_runtimes == 0) {
        SK_TRY_GOTO(choose(&s, sk_args_flag(args, "allow-fallback") > 0, chosen, err));
        s.runtimes[s.n_runtimes++] = chosen;
    }
    SK_TRY_GOTO(sk_cli_refuse_for_runtimes(args, s.runtimes, s.n_runtimes, err));
    SK_TRY_GOTO(sk_bench_run(&s, results, notice, err));
    if (notice[0])
        sk_cli_warn("%s", notice);
    if (sk_args_flag(args, "json"))
        status = sk_cli_print_bench_json(&s, results, err);
    else
        sk_cli_print_bench(&s, results);
done:
    for (int32_t i = 0; results && i < s.n_runtimes; i++)
        sk_free(results[i].layers);
    sk_free(results);
    sk_free(list);
    return status;
}

const sk_command sk_command_bench = {
    .name = "bench",
    .summary = "time a model on one or more runtimes, side by side",
    .description =
        "Each runtime runs in a process of its own and short rounds alternate between them, so that a noisy "
        "machine disturbs all alike: trust the ratios. 'network' is the network alone, by the device's own "
        "clock where it has one: no "
        "transfers, and with its decode tail unless --raw-heads leaves it out; 'frame' is the way from "
        "frames "
        "in memory, of the network's size, to instances, all "
        "stages and "
        "transfers included, for a batch as for the network; it decodes only what can pass, so that it may "
        "be "
        "less than the network with its tail. Half of the network's runs come before the frames' and half "
        "after. 'min', 'p99' and 'ratio' belong to the network. "
        "'open' "
        "is the time from the model's file to the first "
        "result, 'RSS' the largest memory of that process, '% peak' relates to the multiply-adds this CPU "
        "does "
        "with the same number of threads, measured in the same run.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
