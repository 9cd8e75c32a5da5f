/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/predict_door.h"
#include "cli/predict_options.h"
#include "cli/predict_session.h"

static const sk_operand operands[] = {SK_CLI_OPERAND_SOURCES(0), {0}};

static const sk_option options[] = {
    {SK_FILE("model", "M"), .letter = 'm', .repeat = 1,
     .help = "the model; give it twice for centroid + centered instance, or for boxes + pose on crops"},
    {SK_FOLDER("out", "DIR"), .letter = 'o',
     .help =
         "folder for the results, with one in it for each of several sources; without it runs/predict1, the "
         "next free number; - writes jsonl (or --format csv) to standard output"},
    SK_CLI_OPTIONS_RUNTIME,
    {SK_TEXT("format", "LIST"), .letter = 'f', .fallback = "csv,jsonl",
     .help = "result files: csv, jsonl, slp, analysis, coco, labels, labels-conf; mcap, db3, rosbag2 "
             "(bags of ROS 2); mot where animals are followed"},
    SK_CLI_OPTIONS_OVERLAY,
    SK_CLI_OPTION_ENCODER,
    {SK_FLAG("save-crops"),
     .help = "also a picture of every instance, crops/CLASS/…; oriented boxes are turned upright"},
    {SK_FLAG("no-empty"),
     .help = "leave frames without instances out of jsonl, slp and coco; the other formats list none"},
    SK_CLI_OPTIONS_FOUND("0.25"),
    SK_CLI_OPTIONS_SOURCE,
    SK_CLI_OPTIONS_FOLDER,
    SK_CLI_OPTIONS_REST,
    {0}};

static const sk_example examples[] = {
    {"skitter predict flies.mp4 --model yolo11n-pose.pt --out run1 --save-overlay",
     "poses of a video, drawn in"},
    {"skitter predict flies.mp4 -m centroid -m centered_instance -o run2 --format slp",
     "SLEAP top-down, for SLEAP"},
    {"skitter predict 'pictures/*.jpg' -m model.onnx -o run3 --classes 0,2 --conf 0.5",
     "pictures, two classes"},
    {"skitter predict day1/ day2/*.avi -m model.pt -o all",
     "every video of a folder, and some more, each in a folder"},
    {"ffmpeg -i in.mkv -f mpegts - | skitter predict - -m model.pt -o - | jq .instances", "as a filter"},
    {"skitter predict rtsp://camera/1 -m model.pt -o live --frames 0:1000", "a thousand frames of a stream"},
    {0}};

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_predict_door door;
    const sk_predict_show show = {.label = "predict"};
    sk_status status = sk_cli_predict_open(args, "predict", &door, err);
    if (status == SK_OK)
        status = sk_cli_predict_all(args, &door.settings, &door.sources, door.fresh, &show, err);
    sk_cli_predict_close(&door, status, err);
    return status;
}

const sk_command sk_command_predict = {
    .name = "predict",
    .summary = "detect and pose animals in pictures and video",
    .description = "Runs one model, or two of which the second looks at crops, over every frame and writes "
                   "the results as they come. "
                   "Ctrl-C finishes the frame and closes the files; running the same command again continues "
                   "where it stopped, also "
                   "after a crash or kill. A second run into the same folder at the same time is refused.\n\n"
                   "Results: docs/results.md describes every format and column. The runtime that really ran, "
                   "the settings and the names of "
                   "classes and keypoints are in run.json.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
