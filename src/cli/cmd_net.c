/* SPDX-License-Identifier: Apache-2.0 */
#include "app/network.h"
#include "app/runtimes.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "formats/npy.h"
#include "runner/session_settings.h"

#include <stdio.h>
#include <string.h>

static const sk_operand operands[] = {SK_CLI_OPERAND_MODEL, {0}};

static const sk_option options[] = {
    {SK_FILE("input", "X.npy"), .letter = 'i',
     .help = "uint8 height x width x channels (normalised as the model wants) or float32 batch x channels x "
             "height x width "
             "(taken as it is)"},
    {SK_FILE("output", "Y.npy"), .letter = 'o',
     .help = "where the result goes; several outputs become Y.0.npy, Y.1.npy …"},
    SK_CLI_OPTION_RUNTIME,
    SK_CLI_OPTION_FALLBACK,
    SK_CLI_OPTION_PRECISION,
    SK_CLI_OPTION_MAX_LOSS,
    SK_CLI_OPTION_PROVIDER,
    SK_CLI_OPTION_ENGINE,
    SK_CLI_OPTION_OPENVINO,
    SK_CLI_OPTION_NMS,
    SK_CLI_OPTION_THREADS,
    {SK_FLAG("raw-heads"), .help = "stop before the decode tail: the heads' maps instead of output0"},
    {SK_FLAG("no-winograd"), .needs = SK_NEEDS_CPU, .help = "cpu: direct convolutions only"},
    {0}};

static const sk_example examples[] = {{"skitter net yolo11n-pose.pt --input frame.npy --output out.npy",
                                       "the network's output0 for one picture"},
                                      {"skitter net models/bottomup -i frame.npy -o maps.npy --runtime cpu",
                                       "confidence maps on the CPU engine"},
                                      {"skitter net yolo11n.pt -i frame.npy -o out.npy --runtime reference",
                                       "by the slow, exact executor that every runtime is checked against"},
                                      {0}};

/* Y.npy for one output, Y.0.npy, Y.1.npy … for several. */
static void output_path(const char *given, int32_t index, int32_t count, char *path, size_t capacity)
{
    size_t length = strlen(given);
    size_t stem = length > 4 && strcmp(given + length - 4, ".npy") == 0 ? length - 4 : length;
    if (count == 1)
        snprintf(path, capacity, "%s", given);
    else
        snprintf(path, capacity, "%.*s.%d.npy", (int)stem, given, index);
}

static sk_status write_outputs(const char *given, const sk_tensor *outputs, int32_t count, sk_error *err)
{
    char path[4096];
    char shape[SK_SHAPE_TEXT];
    for (int32_t i = 0; i < count; i++) {
        output_path(given, i, count, path, sizeof path);
        SK_TRY(sk_npy_write(path, &outputs[i], err));
        if (sk_cli_verbosity() > 0)
            printf("%s: %s %s\n", path, sk_dtype_name(outputs[i].dtype),
                   sk_shape_text(&outputs[i].shape, shape, sizeof shape));
    }
    return SK_OK;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    const char *input = sk_args_text(args, "input"), *output = sk_args_text(args, "output");
    if (!input || !output)
        return sk_fail(err, SK_ERR_ARG, "net needs --input X.npy and --output Y.npy");
    sk_model *model = NULL;
    sk_tensor array = {0}, outputs[SK_SESSION_MAX_OUTPUTS] = {0};
    int32_t count = 0;
    const sk_engine *engine = NULL;
    sk_status status = SK_OK;
    sk_session_settings settings;
    char options_text[SK_OPTIONS_TEXT];
    sk_network_wish how = {.threads = (int32_t)sk_args_int(args, "threads"),
                           .no_winograd = sk_args_flag(args, "no-winograd"),
                           .provider = sk_args_text(args, "execution-provider"),
                           .openvino_device = sk_args_text(args, "openvino-device"),
                           .openvino_throughput = sk_cli_openvino_throughput(args)};
    (void)sk_precision_find(sk_args_text(args, "precision"), &how.precision);
    sk_runtime_choice choice;
    char name[32];
    const char *path = sk_args_text(args, "model");
    const sk_runtimes_wish wish = {.runtime = sk_args_text(args, "runtime"),
                                   .provider = how.provider,
                                   .allow_fallback = sk_args_flag(args, "allow-fallback") > 0};
    SK_TRY_GOTO(sk_runtimes_choose(&path, 1, &wish, &choice, name, err));
    if (choice.fell_back)
        how.provider = NULL; /* it went with the runtime */
    SK_TRY_GOTO(sk_cli_judge_loss(args, &path, 1, err));
    SK_TRY_GOTO(sk_net_engine(name, &engine, err));
    SK_TRY_GOTO(sk_cli_refuse_for_runtimes(args, &engine->name, 1, err));
    if (choice.notice[0])
        sk_cli_warn("%s", choice.notice);
    SK_TRY_GOTO(sk_cli_engine_options(args, options_text, &how.options, err));
    SK_TRY_GOTO(sk_session_settings_of(engine, &how, &settings, err));
    settings.tail = sk_args_flag(args, "raw-heads") ? SK_TAIL_CUT : SK_TAIL_KEEP;
    SK_TRY_GOTO(sk_model_open_heads(path, sk_cli_heads(args), &model, err));
    SK_TRY_GOTO(sk_npy_read(input, (size_t)1 << 32, &array, err));
    SK_TRY_GOTO(sk_net_run_array(model, engine, &array, &settings, outputs, &count, err));
    SK_TRY_GOTO(write_outputs(output, outputs, count, err));
done:
    for (int32_t i = 0; i < count; i++)
        sk_free(outputs[i].data);
    sk_free(array.data);
    sk_model_close(&model);
    return status;
}

const sk_command sk_command_net = {
    .name = "net",
    .summary = "run the bare network on an array",
    .description = "Feeds one .npy array to the model's network and writes what the original's network "
                   "returns: for YOLO "
                   "output0 with boxes and keypoints decoded to input pixels and scores after the sigmoid, "
                   "for SLEAP its "
                   "maps, in the original's own layout (Keras models: height x width x channels).",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
