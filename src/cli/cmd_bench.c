/* SPDX-License-Identifier: Apache-2.0 */
#include "app/bench.h"
#include "app/runtimes.h"
#include "base/memory.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"
#include "formats/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
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

static json_t *result_object(const sk_bench_result *r, const sk_bench_result *first)
{
    json_t *o = json_object();
    json_object_set_new(o, "runtime_requested", json_string(r->requested));
    json_object_set_new(o, "runtime", json_string(r->runtime));
    if (r->failed) {
        json_object_set_new(o, "error", sk_json_text(r->problem));
        return o;
    }
    json_object_set_new(o, "median_ms", json_real(r->median_ms));
    json_object_set_new(o, "frame_ms", r->frame_ms > 0 ? json_real(r->frame_ms) : json_null());
    if (r->frames_problem[0])
        json_object_set_new(o, "frame_error", sk_json_text(r->frames_problem));
    json_object_set_new(o, "device", json_string(r->device));
    json_object_set_new(o, "precision", json_string(r->precision));
    json_object_set_new(o, "min_ms", json_real(r->min_ms));
    json_object_set_new(o, "p99_ms", json_real(r->p99_ms));
    json_object_set_new(o, "cpu_ms", json_real(r->cpu_ms));
    json_object_set_new(o, "gflops", json_real(r->gflops));
    json_object_set_new(o, "peak_percent", json_real(r->peak_percent));
    json_object_set_new(o, "rss_mb", json_real(r->rss_mb));
    json_object_set_new(o, "open_ms", json_real(r->open_ms));
    json_object_set_new(o, "threads", json_integer(r->threads));
    json_object_set_new(o, "weights_mb", json_real(r->weights_mb));
    json_object_set_new(o, "activations_mb", json_real(r->activations_mb));
    if (!first->failed)
        json_object_set_new(o, "ratio", json_real(r->median_ms / first->median_ms));
    json_object_set_new(o, "detail", sk_json_text(r->detail));
    if (r->n_layers) {
        json_t *layers = json_array();
        for (int32_t i = 0; i < r->n_layers; i++) {
            const sk_profile_row *row = &r->layers[i];
            json_array_append_new(layers, json_pack("{s:s,s:s,s:s,s:f,s:f,s:f}", "name", row->name, "kernel",
                                                    row->kernel, "shape", row->shape, "min_us", row->min_us,
                                                    "mean_us", row->mean_us, "gflop", row->flops * 1e-9));
        }
        json_object_set_new(o, "layers", layers);
    }
    return o;
}

static sk_status print_json(const sk_bench_settings *s, const sk_bench_result *results, sk_error *err)
{
    json_t *root = json_object(), *list = json_array();
    json_object_set_new(root, "model", sk_json_text(s->model));
    json_object_set_new(root, "batch", json_integer(s->batch));
    json_object_set_new(root, "iterations", json_integer(s->iterations));
    json_object_set_new(root, "results", list);
    for (int32_t i = 0; i < s->n_runtimes; i++)
        json_array_append_new(list, result_object(&results[i], &results[0]));
    char *text = sk_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(root);
    if (!text)
        return sk_fail(err, SK_ERR_MEMORY, "out of memory writing JSON");
    puts(text);
    free(text);
    return SK_OK;
}

static void print_table(const sk_bench_settings *s, const sk_bench_result *results)
{
    printf("%-12s %10s %10s %10s %10s %9s %7s %9s %9s %7s\n", "runtime", "network ms", "frame ms", "min ms",
           "p99 ms", "GFLOP/s", "% peak", "RSS MB", "open ms", "ratio");
    for (int32_t i = 0; i < s->n_runtimes; i++) {
        const sk_bench_result *r = &results[i];
        if (r->failed) {
            printf("%-12s %s\n", r->runtime, r->problem);
            continue;
        }
        char frame[24] = "-";
        if (r->frame_ms > 0)
            snprintf(frame, sizeof frame, "%.3f", r->frame_ms);
        printf("%-12s %10.3f %10s %10.3f %10.3f %9.1f %7.1f %9.1f %9.1f", r->runtime, r->median_ms, frame,
               r->min_ms, r->p99_ms, r->gflops, r->peak_percent, r->rss_mb, r->open_ms);
        if (results[0].failed)
            printf(" %7s\n", "-");
        else
            printf(" %6.2fx\n", r->median_ms / results[0].median_ms);
    }
    for (int32_t i = 0; i < s->n_runtimes; i++) {
        const sk_bench_result *r = &results[i];
        if (r->detail[0])
            printf("%s: %s\n", r->runtime, r->detail);
        if (r->frames_problem[0])
            printf("%s: not run on frames: %s\n", r->runtime, r->frames_problem);
        if (!s->cut_tail && r->frame_ms > 0 && r->frame_ms < r->median_ms)
            printf("%s: frame is less than network: frames are decoded only where something can pass "
                   "(--raw-heads times the network without its decode tail), and noise moves both\n",
                   r->runtime);
        if (r->n_layers)
            printf("\n%-28s %-36s %-26s %9s %9s %9s\n", r->runtime, "kernel", "shape", "min us", "mean us",
                   "GFLOP/s");
        for (int32_t k = 0; k < r->n_layers; k++) {
            const sk_profile_row *row = &r->layers[k];
            printf("%-28.28s %-36.36s %-26.26s %9.1f %9.1f %9.1f\n", row->name, row->kernel, row->shape,
                   row->min_us, row->mean_us, row->min_us > 0 ? row->flops / (row->min_us * 1e3) : 0);
        }
    }
}

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
        status = print_json(&s, results, err);
    else
        print_table(&s, results);
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
