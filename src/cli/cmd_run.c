/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "app/speed.h"
#include "base/json_write.h"
#include "base/progress.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"
#include "engines/tolerance.h"

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

static double per_frame(double seconds, int64_t frames)
{
    return frames > 0 ? 1e3 * seconds / (double)frames : 0;
}

/* Outputs of which no more is asked than they have: their roundings explain the rest. */
static void print_explained(const sk_speed_report *r)
{
    const sk_check *c = &r->check;
    sk_precision precision = SK_PRECISION_AUTO;
    (void)sk_precision_find(r->precision, &precision);
    const sk_tolerance *usual = sk_tolerance_of(precision);
    int32_t explained = 0;
    for (int32_t i = 0; i < c->n_outputs; i++)
        explained += c->outputs[i].pcc < usual->pcc && c->outputs[i].pcc == c->outputs[i].pcc_min;
    if (explained && usual->rounding > 0)
        printf("  %d of %d outputs below %g, which the roundings of %s explain: no more than %g times as far "
               "from "
               "f32 as the reference's\n",
               explained, c->n_outputs, usual->pcc, r->precision, usual->rounding);
}

/* One line for the whole, and one a model where there are two. */
static void print_check_table(const sk_speed_report *r)
{
    const sk_check *c = &r->check;
    printf("check: correlation with the reference %.8f (at least %.5f), largest difference %.3g, mean %.3g: "
           "%s\n",
           c->pcc, c->pcc_min, c->max_diff, c->mean_diff, c->passed ? "right" : "WRONG");
    print_explained(r);
    for (int32_t m = 0; m < r->n_models && r->n_models > 1; m++) {
        double pcc = 1, max_diff = 0;
        int32_t outputs = 0;
        for (int32_t i = 0; i < c->n_outputs; i++) {
            const sk_output_check *o = &c->outputs[i];
            if (o->model != m)
                continue;
            outputs++;
            pcc = !(o->pcc >= pcc) ? o->pcc : pcc;
            max_diff = !(o->max_diff <= max_diff) ? o->max_diff : max_diff;
        }
        if (outputs)
            printf("  %s: %.8f, largest difference %.3g, %d outputs", r->models[m], pcc, max_diff, outputs);
        else
            printf("  %s: not checked, nothing was found to crop", r->models[m]);
        if (m > 0 && outputs)
            printf(" on %d crops", c->n_crops);
        printf("\n");
    }
}

static void print_table(const sk_speed_report *r, bool basic)
{
    const sk_runner_stage_stats *total = &r->stats.stages[SK_STAGE_TOTAL];
    printf("%dx%d frames, %s, %s, %s\n\n", r->width, r->height, r->runtime, r->precision, r->device);
    printf("%-20s %12s %12s\n", "", "frames/s", "ms a frame");
    if (basic)
        printf("%-20s %12.1f %12.2f\n", "without the runner", r->basic_fps, 1e3 / r->basic_fps);
    printf("%-20s %12.1f %12.2f\n", "with it", r->runner_fps, 1e3 / r->runner_fps);
    if (basic)
        printf("%-20s %11.2fx  (rounds: %.2fx to %.2fx)\n", "speed-up", r->speedup, r->speedup_least,
               r->speedup_most);
    printf("\nmedians of %d rounds of %d frames each, in turn; found %lld and %lld\n", r->rounds,
           r->frames_a_round, (long long)r->basic_instances, (long long)r->runner_instances);
    if (basic)
        printf("without: decode %.2f, copy %.2f, pre %.2f, network %.2f, post %.2f ms a frame, one after "
               "another\n",
               per_frame(r->basic_decode, r->basic.frames), per_frame(r->basic.copy, r->basic.frames),
               per_frame(r->basic.pre, r->basic.frames), per_frame(r->basic.network, r->basic.frames),
               per_frame(r->basic.post, r->basic.frames));
    printf(
        "with: decode %.2f ms a frame on its own thread; %d frames in flight; from submit to result %.2f ms "
        "(median), %.2f (90 %%), %.2f (99 %%)\n\n",
        per_frame(r->runner_decode, r->stats.delivered), r->depth, total->p50, total->p90, total->p99);
    printf("%-14s %9s %9s %9s %9s %9s\n", "stage, ms", "mean", "median", "90 %", "99 %", "max");
    for (int i = 0; i < SK_STAGE_COUNT; i++) {
        const sk_runner_stage_stats *s = &r->stats.stages[i];
        if (s->count)
            printf("%-14s %9.3f %9.3f %9.3f %9.3f %9.3f\n", sk_stage_name((sk_stage)i),
                   s->sum / (double)s->count, s->p50, s->p90, s->p99, s->max);
    }
    printf("\n");
    for (int32_t i = 0; i < r->stats.n_devices; i++) {
        const sk_runner_device_stats *d = &r->stats.devices[i];
        char captured[48] = "replays from the start";
        if (!d->replays_from_open)
            snprintf(captured, sizeof captured, "capture %.1f ms", d->capture_ms);
        printf(
            "%s: %lld frames, %d thread%s; opened and warmed up in %.0f ms, optimised run %.2f ms, %s%s%s\n",
            d->name, (long long)d->frames, d->threads, d->threads == 1 ? "" : "s", d->warm_up_ms,
            d->optimised_ms, captured, d->failed ? "; FAILED: " : "", d->problem);
    }
    if (r->checked)
        print_check_table(r);
}

static void print_stages(sk_json *j, const sk_speed_report *r)
{
    sk_json_key_object(j, "stages_ms");
    for (int i = 0; i < SK_STAGE_COUNT; i++) {
        const sk_runner_stage_stats *s = &r->stats.stages[i];
        if (!s->count)
            continue;
        sk_json_key_object(j, sk_stage_name((sk_stage)i));
        sk_json_key_int(j, "count", s->count);
        sk_json_key_floats(j, {"mean", s->sum / (double)s->count}, {"p50", s->p50}, {"p90", s->p90},
                           {"p99", s->p99}, {"max", s->max});
        sk_json_close(j);
    }
    sk_json_close(j);
}

static void print_devices(sk_json *j, const sk_runner_stats *stats)
{
    sk_json_key_array(j, "devices");
    for (int32_t i = 0; i < stats->n_devices; i++) {
        const sk_runner_device_stats *d = &stats->devices[i];
        sk_json_object(j);
        sk_json_key_string(j, "name", d->name);
        sk_json_key_string(j, "detail", d->detail);
        sk_json_key_ints(j, {"threads", d->threads}, {"frames", d->frames}, {"captures", d->captures});
        sk_json_key_float(j, "warm_up_ms", d->warm_up_ms);
        sk_json_key_float(j, "optimised_ms", d->optimised_ms);
        sk_json_key_string(j, "replay", d->replays_from_open ? "from the start" : "captured");
        if (!d->replays_from_open)
            sk_json_key_float(j, "capture_ms", d->capture_ms);
        sk_json_key_bool(j, "failed", d->failed);
        if (d->failed)
            sk_json_key_string(j, "problem", d->problem);
        sk_json_close(j);
    }
    sk_json_close(j);
}

static void print_rounds(sk_json *j, const double *fps, int32_t rounds)
{
    sk_json_key_array(j, "rounds_fps");
    for (int32_t i = 0; i < rounds; i++)
        sk_json_float(j, fps[i]);
    sk_json_close(j);
}

static void print_basic(sk_json *j, const sk_speed_report *r)
{
    sk_json_key_object(j, "basic");
    sk_json_key_float(j, "fps", r->basic_fps);
    sk_json_key_float(j, "ms_per_frame", 1e3 / r->basic_fps);
    sk_json_key_object(j, "stages_ms");
    sk_json_key_floats(j, {"decode", per_frame(r->basic_decode, r->basic.frames)},
                       {"copy", per_frame(r->basic.copy, r->basic.frames)},
                       {"pre", per_frame(r->basic.pre, r->basic.frames)},
                       {"network", per_frame(r->basic.network, r->basic.frames)},
                       {"post", per_frame(r->basic.post, r->basic.frames)});
    sk_json_close(j);
    print_rounds(j, r->basic_round, r->rounds);
    sk_json_key_int(j, "instances", r->basic_instances);
    sk_json_close(j);
}

static void print_check(sk_json *j, const sk_speed_report *r)
{
    sk_json_key(j, "pcc");
    if (!r->checked) {
        sk_json_null(j);
        return;
    }
    sk_json_double(j, r->check.pcc);
    sk_json_key_object(j, "check");
    sk_json_key_bool(j, "passed", r->check.passed);
    sk_json_key_floats(j, {"pcc_min", r->check.pcc_min}, {"max_diff", r->check.max_diff},
                       {"mean_diff", r->check.mean_diff});
    sk_json_key_int(j, "crops", r->check.n_crops);
    sk_json_key_array(j, "outputs");
    for (int32_t i = 0; i < r->check.n_outputs; i++) {
        sk_json_object(j);
        sk_json_key_int(j, "model", r->check.outputs[i].model);
        sk_json_key_int(j, "output", r->check.outputs[i].output);
        sk_json_key_string(j, "name", r->check.outputs[i].name);
        sk_json_key_floats(j, {"pcc", r->check.outputs[i].pcc}, {"pcc_min", r->check.outputs[i].pcc_min},
                           {"max_diff", r->check.outputs[i].max_diff},
                           {"mean_diff", r->check.outputs[i].mean_diff});
        sk_json_close(j);
    }
    sk_json_close(j);
    sk_json_close(j);
}

static sk_status print_json(const sk_speed_report *r, bool basic, const char *mode, sk_error *err)
{
    sk_json j = sk_json_to_file(stdout, 2);
    sk_json_object(&j);
    if (basic)
        print_basic(&j, r);
    sk_json_key_object(&j, "runner");
    sk_json_key_float(&j, "fps", r->runner_fps);
    sk_json_key_float(&j, "ms_per_frame", 1e3 / r->runner_fps);
    sk_json_key_string(&j, "mode", mode);
    sk_json_key_int(&j, "depth", r->depth);
    sk_json_key_int(&j, "bytes", r->stats.bytes);
    sk_json_key_float(&j, "decode_ms", per_frame(r->runner_decode, r->stats.delivered));
    print_stages(&j, r);
    print_devices(&j, &r->stats);
    print_rounds(&j, r->runner_round, r->rounds);
    sk_json_key_int(&j, "instances", r->runner_instances);
    sk_json_close(&j);
    if (basic) {
        sk_json_key_floats(&j, {"speedup", r->speedup}, {"speedup_least", r->speedup_least},
                           {"speedup_most", r->speedup_most});
    }
    print_check(&j, r);
    sk_json_key_int(&j, "width", r->width);
    sk_json_key_int(&j, "height", r->height);
    sk_json_key_strings(&j, {"runtime", r->runtime}, {"device", r->device}, {"precision", r->precision});
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

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
            sk_status printed = print_json(&report, !s.no_basic, sk_args_text(args, "mode"), &ignored);
            if (status == SK_OK && printed != SK_OK && err)
                *err = ignored;
            status = status == SK_OK ? printed : status;
        } else {
            print_table(&report, !s.no_basic);
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
