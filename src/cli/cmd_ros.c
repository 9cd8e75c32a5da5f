/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/ros_door.h"
#include "cli/shared_options.h"

#include <string.h>

static const sk_operand operands[] = {
    {.name = "action",
     .kind = SK_OPTION_CHOICE,
     .choices = "generate|list-models|info|manifest",
     .help = "what to do: write a package; list the models; say what one of them is; write a manifest for a "
             "model of your own"},
    {.name = "what",
     .kind = SK_OPTION_FILE,
     .optional = 1,
     .repeat = 1,
     .help = "info: the model's name; manifest: a checkpoint or SLEAP folder, and a second one that looks at "
             "crops"},
    {0}};

static const sk_option options[] = {
    {SK_TEXT("model", "M"),
     .help =
         "generate: which model, such as yolo or sleap_topdown; manifest: its name, without it the file's"},
    {SK_TEXT("backend", "B"),
     .help = "generate: what computes: cuda, rocm, openvino, tensorrt, onnx or cpu, as far as the model "
             "supports it"},
    {SK_TEXT("variant", "V"), .help = "generate: the model's variant; without it the manifest's default"},
    {SK_TEXT("package-name", "P"), .help = "generate: the ROS package's name, such as fly_watch"},
    {SK_FOLDER("output", "DIR"), .letter = 'o',
     .help =
         "generate: where P.zip or P/ is written [default: output]; manifest: writes DIR/NAME/manifest.yaml, "
         "where --models finds it, instead of printing it"},
    {SK_CHOICE("format", "F", "zip|dir"), .fallback = "zip",
     .help = "generate: an archive, or a folder to build as it is"},
    {SK_FOLDER("models", "DIR"),
     .help =
         "manifests of your own, DIR/<model>/manifest.yaml, besides those that come with skitter; one of the "
         "same name takes the other's place"},
    {SK_FLAG("track"), .help = "manifest: also follow what the model finds"},
    {SK_FLAG("dry-run"), .help = "generate: check everything and list the files, and write none"},
    {SK_FLAG("overwrite"), .help = "generate --format dir: replace the files of a folder that is there; "
                                   "manifest: replace one that is there"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter ros list-models", "what packages can be made for"},
    {"skitter ros info yolo_pose", "its variants and backends"},
    {"skitter ros generate --model yolo --backend onnx --package-name fly_watch",
     "output/fly_watch.zip: yolov8s on ONNX Runtime"},
    {"skitter ros generate --model yolo_obb --backend cuda --package-name mice --format dir -o src",
     "a folder in a colcon workspace"},
    {"skitter ros manifest best.pt -o models", "a manifest for a model of your own …"},
    {"skitter ros generate --models models --model best --backend onnx --package-name my_eyes",
     "… and a package from it"},
    {0}};

static sk_status run(const sk_args *args, sk_error *err)
{
    static const struct {
        const char *name;
        sk_status (*run)(const sk_args *args, sk_error *err);
    } actions[] = {{"generate", sk_ros_door_generate},
                   {"list-models", sk_ros_door_list},
                   {"info", sk_ros_door_info},
                   {"manifest", sk_ros_door_manifest}};
    const char *action = sk_args_text(args, "action");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, action) == 0)
            return actions[i].run(args, err);
    return sk_fail(err, SK_ERR_INTERNAL, "no action '%s'", action);
}

const sk_command sk_command_ros = {
    .name = "ros",
    .summary = "make ROS 2 packages that run models",
    .description =
        "generate writes a package that builds with colcon: a node (rclcpp, a lifecycle component) that "
        "subscribes to "
        "images, runs the model through libskitter on the chosen backend and publishes what it finds, with a "
        "launch "
        "file that has an argument for every parameter. What a model needs and which backends it supports is "
        "in its "
        "manifest.yaml; a combination that is not supported is refused, with all that is wrong with the "
        "request, and "
        "nothing is written. The same request gives the same bytes.\n\n"
        "Without a ROS installation 'skitter node' is that node itself. docs/ros2.md has both ways.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
