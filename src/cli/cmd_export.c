/* SPDX-License-Identifier: Apache-2.0 */
#include "app/artifacts.h"
#include "app/export.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"

#include <stdio.h>

static const sk_operand operands[] = {SK_CLI_OPERAND_MODEL, {0}};

static const sk_option options[] = {
    {SK_CHOICE("format", "FORMAT", "onnx"), .letter = 'f', .fallback = "onnx",
     .otherwise = "'--runtime tensorrt' makes an .engine, '--runtime openvino' what OpenVINO runs",
     .help = "what to write"},
    {SK_FILE("output", "FILE"), .letter = 'o',
     .help = "where to; without it model.pt becomes model.onnx and a folder becomes folder.onnx/model.onnx"},
    {SK_TEXT("runtime", "NAME"), .letter = 'r',
     .help = "make what this compute runtime runs, where runs look for it, and compare it with skitter's own "
             "engine: onnx_cpu, openvino, tensorrt, …"},
    SK_CLI_OPTION_IMGSZ,
    SK_CLI_OPTION_NMS,
    SK_CLI_OPTION_BATCH(4096, "pictures in one run"),
    {SK_FLAG("dynamic"), .help = "any batch, height and width"},
    {SK_FLAG("dynamic-batch"), .help = "any batch, one size"},
    {SK_FLAG("half"), .help = "float16 weights and arithmetic; input and outputs stay float32"},
    {SK_FLAG("half-io"), .help = "float16 input and outputs too, as Ultralytics' half=True"},
    {SK_CHOICE("precision", "P", "f32|tf32|f16|bf16|i8|fp8"),
     .help = "with --runtime alone: what it computes in; without it what runs ask for. An ONNX file of a "
             ".skq is in "
             "eight bits, of other models in f32 or, with --half, in f16"},
    SK_CLI_OPTION_ENGINE,
    {SK_INT("opset", "N", 13, 18), .fallback = "17", .help = "ONNX operator set"},
    {SK_FLAG("raw-heads"), .help = "without the decode tail: the heads' maps as outputs"},
    {SK_FLAG("overwrite"),
     .help = "replace an existing file; with --runtime: make it anew even if a fresh one is there"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter export yolo11n-pose.pt --format onnx", "writes yolo11n-pose.onnx beside it"},
    {"skitter export models/bottomup --dynamic -o bottomup.onnx", "a SLEAP model for any picture size"},
    {"skitter export yolo11n.pt --half --imgsz 1024", "float16, for a larger input"},
    {"skitter export yolo11n.pt --runtime onnx_cpu --batch 4", "what a run with --batch 4 will look for"},
    {0}};

static sk_status print_report(const sk_args *args, const sk_export_report *r, sk_error *err)
{
    if (sk_args_flag(args, "json")) {
        sk_json j = sk_json_to_file(stdout, 2);
        sk_json_object(&j);
        sk_json_key_string(&j, "path", r->path);
        sk_json_key_int(&j, "bytes", r->bytes);
        sk_json_key_float(&j, "seconds", r->seconds);
        sk_json_key_string(&j, "outputs", r->outputs);
        sk_json_close(&j);
        return sk_json_end(&j, err);
    }
    char size[32];
    if (sk_cli_verbosity() > 0)
        printf("%s: %s, outputs %s, %.2f s\n", r->path, sk_text_bytes((double)r->bytes, size, sizeof size),
               r->outputs, r->seconds);
    return SK_OK;
}

static sk_status print_made(const sk_args *args, const sk_artifacts_exported *r, sk_error *err)
{
    if (sk_args_flag(args, "json")) {
        sk_json j = sk_json_to_file(stdout, 2);
        sk_json_object(&j);
        sk_json_key_strings(&j, {"path", r->path}, {"runtime", r->runtime}, {"library", r->library},
                            {"precision", r->precision});
        sk_json_key_ints(&j, {"batch", r->batch}, {"height", r->height}, {"width", r->width},
                         {"bytes", r->bytes});
        sk_json_key_bool(&j, "made", r->made);
        sk_json_key_bool(&j, "user_made", r->users);
        if (r->check.pcc != 0) {
            sk_json_key_float(&j, "pcc", r->check.pcc);
            sk_json_key_float(&j, "max_difference", r->check.max_difference);
        }
        sk_json_key_string(&j, "notice", r->notice);
        sk_json_key_float(&j, "seconds", r->seconds);
        sk_json_close(&j);
        return sk_json_end(&j, err);
    }
    char size[32];
    if (sk_cli_verbosity() == 0)
        return SK_OK;
    printf("%s: %s, %s for %s %s, %dx%dx%d %s\n", r->path, sk_text_bytes((double)r->bytes, size, sizeof size),
           r->made    ? "made"
           : r->users ? "yours, used as it is"
                      : "fresh already",
           r->runtime, r->library, r->batch, r->height, r->width, r->precision);
    if (r->check.pcc != 0)
        printf("correlation with skitter's own engine %.7f, largest difference %.2g\n", r->check.pcc,
               r->check.max_difference);
    return SK_OK;
}

/* For a runtime: the same file a run would make. */
static sk_status make_artifact(const sk_args *args, const char *runtime, sk_error *err)
{
    static sk_artifacts_exported made;
    static const char *const others[] = {"output", "dynamic", "half-io", "raw-heads"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (i == 0 ? sk_args_text(args, others[i]) != NULL : sk_args_flag(args, others[i]) != 0)
            return sk_fail(err, SK_ERR_ARG, "--%s does not go with --runtime, which makes what runs look for",
                           others[i]);
    sk_artifacts_export e = {.model = sk_args_text(args, "model"),
                             .runtime = runtime,
                             .batch = (int32_t)sk_args_int(args, "batch"),
                             .precision = sk_args_flag(args, "half") ? SK_PRECISION_F16 : SK_PRECISION_AUTO,
                             .anew = sk_args_flag(args, "overwrite"),
                             .dynamic_batch = sk_args_flag(args, "dynamic-batch"),
                             .heads = sk_cli_heads(args)};
    char options_text[SK_OPTIONS_TEXT];
    SK_TRY(sk_cli_engine_options(args, options_text, &e.engine_options, err));
    SK_TRY(sk_cli_parse_size(sk_args_text(args, "imgsz"), &e.height, &e.width, err));
    if (sk_args_text(args, "precision"))
        (void)sk_precision_find(sk_args_text(args, "precision"), &e.precision);
    SK_TRY(sk_artifacts_make(&e, &made, err));
    return print_made(args, &made, err);
}

/* An ONNX file is in what its model is, or in halves. */
static sk_status refuse_precision(const char *precision, sk_error *err)
{
    return sk_fail(
        err, SK_ERR_ARG,
        "--precision %s is for what a compute runtime runs (--runtime)\nan ONNX file is written in "
        "f32, with --half in f16, and in eight bits of a .skq, which 'skitter quantize' makes",
        precision);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    static sk_export_report report;
    if (sk_args_text(args, "runtime"))
        return make_artifact(args, sk_args_text(args, "runtime"), err);
    if (sk_args_text(args, "precision"))
        return refuse_precision(sk_args_text(args, "precision"), err);
    sk_export_settings s = {.model = sk_args_text(args, "model"),
                            .path = sk_args_text(args, "output"),
                            .overwrite = sk_args_flag(args, "overwrite"),
                            .heads = sk_cli_heads(args),
                            .onnx = sk_onnx_defaults()};
    s.onnx.opset = (int32_t)sk_args_int(args, "opset");
    s.onnx.batch = (int32_t)sk_args_int(args, "batch");
    s.onnx.dynamic_size = sk_args_flag(args, "dynamic") > 0;
    s.onnx.dynamic_batch = s.onnx.dynamic_size || sk_args_flag(args, "dynamic-batch");
    s.onnx.half_io = sk_args_flag(args, "half-io") > 0;
    s.onnx.half = s.onnx.half_io || sk_args_flag(args, "half");
    s.onnx.with_tail = !sk_args_flag(args, "raw-heads");
    SK_TRY(sk_cli_parse_size(sk_args_text(args, "imgsz"), &s.onnx.height, &s.onnx.width, err));
    SK_TRY(sk_export_run(&s, &report, err));
    return print_report(args, &report, err);
}

const sk_command sk_command_export = {
    .name = "export",
    .summary = "write a model as ONNX, or as a compute runtime's own file",
    .description =
        "The file carries Ultralytics' metadata and names for YOLO models, so that Ultralytics and every "
        "ONNX tool "
        "read it, and our own for SLEAP models, so that they come back as the same model here. It is written "
        "beside and renamed into place, then opened again as a check.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
