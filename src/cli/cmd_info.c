/* SPDX-License-Identifier: Apache-2.0 */
#include "app/describe.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"

#include <stdio.h>

static const sk_operand operands[] = {SK_CLI_OPERAND_MODEL, {0}};

static const sk_option options[] = {{SK_FLAG("layers"), .help = "also list every operation with its shapes"},
                                    SK_CLI_OPTION_IMGSZ,
                                    SK_CLI_OPTION_JSON,
                                    {0}};

static const sk_example examples[] = {
    {"skitter info yolo11n-pose.pt", "task, classes, keypoints, size, what it was made with"},
    {"skitter info models/centroid --layers", "every operation of a SLEAP model"},
    {"skitter info model.onnx --json", "for programs"},
    {0}};

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_model *model = NULL;
    char *text = NULL;
    sk_describe_settings settings = {.json = sk_args_flag(args, "json"),
                                     .layers = sk_args_flag(args, "layers")};
    SK_TRY(sk_cli_parse_size(sk_args_text(args, "imgsz"), &settings.height, &settings.width, err));
    sk_status status = sk_model_open(sk_args_text(args, "model"), &model, err);
    if (status == SK_OK)
        status = sk_describe_model(model, &settings, &text, err);
    if (status == SK_OK)
        settings.json ? (void)puts(text) : (void)printf("%s\n", text);
    sk_free(text);
    sk_model_close(&model);
    return status;
}

const sk_command sk_command_info = {
    .name = "info",
    .summary = "say what a model file holds",
    .description = "Reads a model without running anything in it and prints its task, classes, keypoints, "
                   "skeleton, input "
                   "rules, outputs, parameters, arithmetic and origin. A checkpoint that was cut off while "
                   "copying still "
                   "tells what its readable part holds.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
