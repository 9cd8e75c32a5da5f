/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "app/speed.h"
#include "base/progress.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"
#include "cli/speed_table.h"

#include <stdio.h>
#include <string.h>

static const sk_operand operands[] = {
    {.name = "model",
     .kind = SK_OPTION_FILE,
     .repeat = 1,
     .help = "the model; a second one looks at crops around what the first finds"},
    {0}};

static const sk_option options[] = {
    {SK_FILE("input", "SOURCE"), .letter = 'i',
     .help = "a video or pictures, played again and again; without it frames of noise, and no decoding"},
    {SK_INT("iterations", "N", 1, 100000000), .letter = 'n', .fallback = "200",
     .help = "frames of each side"},
    {SK_INT("rounds", "N", 0, SK_SPEED_MAX_ROUNDS), .fallback = "0",
     .help = "parts the frames are cut into, the two sides taking turns; 0 gives about 25 frames a part"},
    {SK_FLAG("check-pcc"),
     .help = "compare the first and the last frame's outputs with the reference executor; takes seconds"},
    {SK_INT("check-every", "N", 0, 1000000000), .fallback = "0",
     .help = "also check every N-th frame while measuring, which slows the runner down"},
    {SK_REAL("pcc-min", "X", 0, 1), .fallback = "0",
     .help = "smallest correlation of raw outputs that passes; 0 means by precision: f32 0.99999, tf32 "
             "0.9995, f16 0.999, bf16 0.99, i8 0.97, fp8 0.95. docs/runner.md says how 0.90 compares"},
    {SK_TEXT("devices", "LIST"),
     .help = "cuda:0,cuda:1; cpu:x2 for two groups of cores; cpu:0-3,cpu:4-7; cpu:numa for one of each "
             "memory node"},
    {SK_FLAG("allow-failover"), .help = "a device that fails hands its frames to the others"},
    {SK_CHOICE("mode", "MODE", "throughput|latency"), .fallback = "throughput",
     .help = "as many frames a second as possible, or each as soon as possible"},
    {SK_INT("depth", "N", 0, 1024), .fallback = "0",
     .help = "frames in flight; 0 means enough to keep every device busy"},
    {SK_FILE("trace-out", "FILE"), .help = "write a timeline for ui.perfetto.dev or chrome://tracing"},
    SK_CLI_OPTION_RUNTIME,
    SK_CLI_OPTION_FALLBACK,
    SK_CLI_OPTION_PRECISION,
    SK_CLI_OPTION_PROVIDER,
    SK_CLI_OPTION_ENGINE,
    SK_CLI_OPTION_IMGSZ,
    SK_CLI_OPTION_RECT,
    SK_CLI_OPTION_NMS,
    SK_CLI_OPTION_BATCH(64, "frames in one run of the runner's network"),
    SK_CLI_OPTION_THREADS,
    {SK_INT("decode-threads", "N", 0, 64), .fallback = "1",
     .help = "threads of the video decoder, on either side; 0 lets FFmpeg choose"},
    {SK_FLAG("rgb"),
     .help = "the runner, too, gets every frame converted to RGB, where it would read the decoder's planes"},
    {SK_FLAG("runner-only"), .help = "leave basic execution out"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter run yolo11n-pose.pt --input flies.mp4 --check-pcc",
     "what the runner gains, and whether it is right"},
    {"skitter run yolo11n-pose.pt --input flies.mp4 --devices cpu:x2",
     "two groups of cores, each with frames of its own"},
    {"skitter run model.onnx -i flies.mp4 --mode latency --json", "how long a frame takes, for programs"},
    {"skitter run model.pt -i flies.mp4 --trace-out trace.json", "a timeline to look at in ui.perfetto.dev"},
    {0}};

static bool watch(void *context, int32_t round, int32_t rounds)
{
    sk_progress_set_total(context, rounds);
    sk_progress_update(context, round, NULL);
    return sk_cli_interrupted();
}

static sk_status read_settings(const sk_args *args, sk_speed_settings *s, sk_error *err)
{
    if (sk_args_count(args, "model") > SK_PIPELINE_MAX_MODELS)
        return sk_fail(err, SK_ERR_ARG, "at most %d models", SK_PIPELINE_MAX_MODELS);
    for (size_t i = 0; i < sk_args_count(args, "model"); i++)
        s->models[s->n_models++] = sk_args_at(args, "model", i);
    sk_detector_settings *d = &s->runner.detector;
    s->input = sk_args_text(args, "input");
    s->iterations = (int32_t)sk_args_int(args, "iterations");
    s->rounds = (int32_t)sk_args_int(args, "rounds");
    s->check_pcc = sk_args_flag(args, "check-pcc");
    s->decode_threads = (int32_t)sk_args_int(args, "decode-threads");
    s->trace_out = sk_args_text(args, "trace-out");
    s->rgb = sk_args_flag(args, "rgb");
    s->no_basic = sk_args_flag(args, "runner-only");
    s->runner.check_every = (int32_t)sk_args_int(args, "check-every");
    s->runner.pcc_min = sk_args_real(args, "pcc-min");
    s->runner.devices = sk_args_text(args, "devices");
    s->runner.allow_failover = sk_args_flag(args, "allow-failover");
    s->runner.depth = (int32_t)sk_args_int(args, "depth");
    bool latency = strcmp(sk_args_text(args, "mode"), "latency") == 0;
    if (!s->runner.devices && !latency && !sk_args_int(args, "threads"))
        s->runner.devices = "auto";
    s->runner.mode = latency ? SK_PIPELINE_LATENCY : SK_PIPELINE_THROUGHPUT;
    d->rect = sk_cli_rect(args);
    d->heads = sk_cli_heads(args);
    d->batch = (int32_t)sk_args_int(args, "batch");
    d->threads = (int32_t)sk_args_int(args, "threads");
    return sk_cli_parse_size(sk_args_text(args, "imgsz"), &d->height, &d->width, err);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_speed_settings s;
    sk_speed_defaults(&s);
    static sk_speed_report report;
    sk_runtime_choice choice;
    char engine[32], options_text[SK_OPTIONS_TEXT];
    SK_TRY(read_settings(args, &s, err));
    sk_detector_settings *d = &s.runner.detector;
    d->provider = sk_args_text(args, "execution-provider");
    d->precision = sk_args_text(args, "precision");
    SK_TRY(sk_cli_engine_options(args, options_text, &d->engine_options, err));
    const sk_runtimes_wish wish = {.runtime = sk_args_text(args, "runtime"),
                                   .provider = d->provider,
                                   .allow_fallback = sk_args_flag(args, "allow-fallback") > 0};
    SK_TRY(sk_runtimes_choose(s.models, s.n_models, &wish, &choice, engine, err));
    d->runtime = engine;
    if (choice.fell_back)
        d->provider = NULL; /* it went with the runtime */
    SK_TRY(sk_cli_refuse_for_models(args, s.models, s.n_models, err));
    if (choice.notice[0])
        sk_cli_warn("%s", choice.notice);
    sk_progress_settings p = sk_progress_defaults();
    p.stream = stderr;
    p.mode = sk_cli_verbosity() == 0 || sk_args_flag(args, "json") ? SK_PROGRESS_NONE : SK_PROGRESS_AUTO;
    p.label = "measuring";
    p.unit = "rounds";
    p.total = s.rounds;
    sk_progress *progress = NULL;
    SK_TRY(sk_progress_open(&p, &progress, err));
    (void)sk_cli_interrupted(); /* from here on Ctrl-C ends it after a round, with what was measured */
    sk_status status = sk_speed_measure(&s, watch, progress, &report, err);
    sk_progress_close(&progress);
    if (report.notice[0])
        sk_cli_warn("%s", report.notice);
    /* A failed check still shows what was measured. */
    if (status == SK_OK || (status == SK_ERR_MISMATCH && report.rounds)) {
        if (sk_args_flag(args, "json")) {
            sk_error ignored;
            sk_status printed =
                sk_cli_print_speed_json(&report, !s.no_basic, sk_args_text(args, "mode"), &ignored);
            if (status == SK_OK && printed != SK_OK && err)
                *err = ignored;
            status = status == SK_OK ? printed : status;
        } else {
            sk_cli_print_speed(&report, !s.no_basic);
        }
    }
    return status;
}

const sk_command sk_command_run = {
    .name = "run",
    .summary = "measure what the performant runner gains over basic execution",
    .description =
        "Measures; it writes no results ('skitter predict' does). A model goes over a source twice, in "
        "rounds that "
        "take turns: by basic execution (for each frame: "
        "decode, "
        "allocate, copy, pre-process, run, wait, post-process, free; the network is opened once) and through "
        "the "
        "runner (trace captured at opening, decoding, pre-processing, network and post-processing of "
        "neighbouring "
        "frames at the same time). Both give the same results on the same engine; trust the ratio.\n\n"
        "docs/runner.md explains the stages, devices and modes.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
