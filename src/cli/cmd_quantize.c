/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/quantise_table.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"

#include <stdio.h>
#include <string.h>

static const sk_operand operands[] = {
    {.name = "model",
     .kind = SK_OPTION_FILE,
     .help = "an Ultralytics .pt, a SLEAP model folder (or its .zip), an .onnx; none in eight bits already"},
    {0}};

static const sk_option options[] = {
    {SK_FILE("data", "VIDEO|PICTURES"), .letter = 'd',
     .help = "frames like those the model will see: a video, a picture folder or glob; needed"},
    {SK_FILE("output", "MODEL.skq"), .letter = 'o',
     .help = "where to; without it model.pt becomes model.skq"},
    {SK_INT("frames", "N", 4, 10000), .fallback = "100",
     .help = "frames to find the ranges with, spread over the data; a quarter as many more are measured on"},
    {SK_CHOICE("precision", "P", "i8|mixed|fp8"), .fallback = "i8",
     .help =
         "i8: every convolution that can be, but those that hurt most, as measured, stay in f32, 4 % of the "
         "work at most; mixed: more of them, a quarter at most; fp8: numbers with an exponent (e4m3), which "
         "runtime cuda computes "
         "in on GPUs of compute capability 8.9 and newer"},
    {SK_CHOICE("ranges", "HOW", "error|percentile|all"), .fallback = "error",
     .help =
         "how far a value's 256 steps reach: where the error is least and a fifth further, over --percent "
         "of what was seen, or over all of it"},
    {SK_REAL("percent", "X", 50, 100), .fallback = "99.99", .help = "with --ranges percentile"},
    {SK_FILE("truth", "FILE"),
     .help = "what is in the frames, as 'skitter eval' reads it: f32 and eight bits are measured against it, "
             "too"},
    {SK_FILE("finder", "MODEL"), .also = "centroids",
     .help =
         "for a model that looks at crops of animals: the one that finds them, as predict's other --model"},
    {SK_FILE("detections", "FILE"),
     .help = "… or a file that says where they are in the video: labels (.slp) or results, as 'skitter eval' "
             "reads them"},
    {SK_REAL("conf", "X", 0, 1), .letter = 'c', .fallback = "0.25", .needs = SK_NEEDS_YOLO,
     .help = "YOLO: what counts as found, for the loss and for crops"},
    {SK_REAL("peak-threshold", "X", 0, 1), .fallback = "0.2", .needs = SK_NEEDS_SLEAP,
     .help = "SLEAP: the same"},
    {SK_FILE("report", "FILE.json"), .help = "what every layer and the whole lost, as JSON"},
    SK_CLI_OPTION_IMGSZ,
    SK_CLI_OPTION_NMS,
    SK_CLI_OPTION_THREADS,
    {SK_FLAG("layers"), .help = "print every layer's error, too"},
    {SK_FLAG("overwrite"), .help = "replace existing files, of --output and --report"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter quantize yolo11n-pose.pt --data film.mp4 -o yolo11n-pose.skq", "eight bits, by 100 frames"},
    {"skitter quantize models/bottomup --data 'frames/*.png' --precision mixed -o bottomup.skq",
     "a SLEAP model, layers that hurt in f32"},
    {"skitter quantize models/centered_instance --finder models/centroid --data film.mp4 -o crops.skq",
     "the second of a top-down pair"},
    {"skitter quantize yolo11n-pose.pt --data film.mp4 --precision fp8 -o fp8.skq",
     "for NVIDIA GPUs of compute capability 8.9 and newer"},
    {"skitter predict film.mp4 -m yolo11n-pose.skq --max-loss 3", "run it, unless it lost more than 3 %"},
    {"skitter export yolo11n-pose.skq -o int8.onnx", "for ONNX Runtime and OpenVINO"},
    {0}};

typedef struct shown {
    sk_progress *progress;
    const char *step;
} shown;

static bool watch(void *context, const char *step, int64_t done, int64_t total)
{
    shown *s = context;
    if (s->step != step && sk_cli_verbosity() > 0) {
        sk_error ignored;
        sk_progress_settings p = sk_progress_defaults();
        p.stream = stderr;
        p.label = step;
        p.unit = "steps";
        p.total = total;
        sk_progress_close(&s->progress);
        if (sk_progress_open(&p, &s->progress, &ignored) != SK_OK)
            s->progress = NULL;
        s->step = step;
    }
    if (s->progress)
        sk_progress_update(s->progress, done, NULL);
    return sk_cli_interrupted();
}

static sk_status read_settings(const sk_args *args, sk_quantize_settings *s, sk_error *err)
{
    const char *precision = sk_args_text(args, "precision"), *ranges = sk_args_text(args, "ranges");
    sk_quantize_defaults(s);
    s->model = sk_args_text(args, "model");
    s->data = sk_args_text(args, "data");
    if (!s->data)
        return sk_fail(
            err, SK_ERR_ARG,
            "which numbers a network meets is learnt from frames: give some\n--data film.mp4, or a "
            "folder of pictures");
    s->frames = (int32_t)sk_args_int(args, "frames");
    s->precision = strcmp(precision, "mixed") == 0 ? SK_QUANTIZE_MIXED
                   : strcmp(precision, "fp8") == 0 ? SK_QUANTIZE_FP8
                                                   : SK_QUANTIZE_I8;
    s->ranges = strcmp(ranges, "percentile") == 0 ? SK_RANGE_PERCENTILE
                : strcmp(ranges, "all") == 0      ? SK_RANGE_ALL
                                                  : SK_RANGE_ERROR;
    s->percent = sk_args_real(args, "percent");
    if (sk_args_given(args, "percent") && s->ranges != SK_RANGE_PERCENTILE)
        return sk_fail(err, SK_ERR_ARG, "--percent is for --ranges percentile");
    s->report = sk_args_text(args, "report");
    s->truth = sk_args_text(args, "truth");
    s->finder = sk_args_text(args, "finder");
    s->detections = sk_args_text(args, "detections");
    s->confidence = (float)sk_args_real(args, "conf");
    s->peak_threshold = (float)sk_args_real(args, "peak-threshold");
    s->threads = (int32_t)sk_args_int(args, "threads");
    s->heads = sk_cli_heads(args);
    s->overwrite = sk_args_flag(args, "overwrite") > 0;
    return sk_cli_parse_size(sk_args_text(args, "imgsz"), &s->height, &s->width, err);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_quantize_settings s;
    sk_quantize_report report;
    shown show = {0};
    char *beside = NULL;
    SK_TRY(read_settings(args, &s, err));
    s.output = sk_args_text(args, "output");
    if (!s.output) {
        beside = sk_path_with_extension(s.model, ".skq");
        if (!beside)
            return sk_fail_memory(err, strlen(s.model));
        s.output = beside;
    }
    s.watch = watch;
    s.context = &show;
    sk_status status = sk_quantize_run(&s, &report, err);
    sk_progress_close(&show.progress);
    if (status == SK_OK) {
        if (sk_args_flag(args, "json"))
            status = sk_cli_print_quantised_json(&report, err);
        else
            sk_cli_print_quantised(s.output, &report, sk_args_flag(args, "layers") > 0);
        for (int32_t i = 0; i < report.n_notices; i++)
            sk_cli_warn("%s", report.notices[i]);
        sk_quantize_report_free(&report);
    }
    sk_free(beside);
    return status;
}

const sk_command sk_command_quantize = {
    .name = "quantize",
    .summary = "make a model compute in eight bits, and say what that costs",
    .description =
        "Runs the network over frames to learn which numbers its layers meet, rounds weights and values to "
        "eight bits, and compares what is found with f32 on frames that were not used. The file carries the "
        "loss: 'info' and 'predict' show it, '--max-loss' refuses one that lost more. It is read like any "
        "model; 'export' writes it as ONNX (QDQ) for ONNX Runtime and OpenVINO. Ctrl-C writes nothing.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
