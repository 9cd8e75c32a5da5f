/* SPDX-License-Identifier: Apache-2.0 */
#include "app/export.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/sizes.h"

#include <stdio.h>

static const sk_operand operands[] = {
    {.name = "model",
     .kind = SK_OPTION_FILE,
     .help = "an Ultralytics .pt, a SLEAP model folder (or its .zip), an .onnx"},
    {0}};

static const sk_option options[] = {
    {.name = "format",
     .letter = 'f',
     .kind = SK_OPTION_CHOICE,
     .argument = "FORMAT",
     .choices = "onnx",
     .fallback = "onnx",
     .help = "what to write"},
    {.name = "output",
     .letter = 'o',
     .kind = SK_OPTION_FILE,
     .argument = "FILE",
     .help = "where to; without it model.pt becomes model.onnx and a folder becomes folder.onnx/model.onnx"},
    {.name = "imgsz",
     .kind = SK_OPTION_TEXT,
     .argument = "N|HxW",
     .help = "input size; the model's own without it"},
    {.name = "batch",
     .letter = 'b',
     .kind = SK_OPTION_INT,
     .argument = "N",
     .fallback = "1",
     .min = 1,
     .max = 4096,
     .help = "pictures in one run"},
    {.name = "dynamic", .kind = SK_OPTION_FLAG, .help = "any batch, height and width"},
    {.name = "dynamic-batch", .kind = SK_OPTION_FLAG, .help = "any batch, one size"},
    {.name = "half",
     .kind = SK_OPTION_FLAG,
     .help = "float16 weights and arithmetic; input and outputs stay float32"},
    {.name = "half-io",
     .kind = SK_OPTION_FLAG,
     .help = "float16 input and outputs too, as Ultralytics' half=True"},
    {.name = "opset",
     .kind = SK_OPTION_INT,
     .argument = "N",
     .fallback = "17",
     .min = 13,
     .max = 18,
     .help = "ONNX operator set"},
    {.name = "raw-heads",
     .kind = SK_OPTION_FLAG,
     .help = "without the decode tail: the heads' maps as outputs"},
    {.name = "overwrite", .kind = SK_OPTION_FLAG, .help = "replace an existing file"},
    {.name = "json", .kind = SK_OPTION_FLAG, .help = "one JSON object on standard output"},
    {0}};

static const sk_example examples[] = {
    {"skitter export yolo11n-pose.pt --format onnx", "writes yolo11n-pose.onnx beside it"},
    {"skitter export models/bottomup --dynamic -o bottomup.onnx", "a SLEAP model for any picture size"},
    {"skitter export yolo11n.pt --half --imgsz 1024", "float16, for a larger input"},
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

static sk_status run(const sk_args *args, sk_error *err)
{
    static sk_export_report report;
    sk_export_settings s = {.model = sk_args_text(args, "model"),
                            .path = sk_args_text(args, "output"),
                            .overwrite = sk_args_flag(args, "overwrite"),
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
    .group = "Models",
    .summary = "write a model as ONNX",
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
