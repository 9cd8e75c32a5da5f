/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_OPTIONS_H
#define SK_CLI_PREDICT_OPTIONS_H

#include "cli/run_told.h"
#include "cli/shared_options.h"
#include "cli/sleap_options.h"

/* What commands that look at videos have in common, read by cli/predict_settings.h and cli/predict_door.h. */

#define SK_CLI_OPERAND_SOURCES(opt)                                                                          \
    {                                                                                                        \
        .name = "source", .kind = SK_OPTION_FILE, .optional = (opt), .repeat = 1,                            \
        .help = "videos, pictures, folders or 'globs' of them, frame_%05d.png, bags of ROS 2, a list.txt "   \
                "with one a line, a camera (0 or /dev/video0), rtsp://…, - for "                           \
                "standard input"                                                                             \
    }

/* What computes. */
#define SK_CLI_OPTIONS_RUNTIME                                                                               \
    SK_CLI_OPTION_RUNTIME, SK_CLI_OPTION_PRECISION, SK_CLI_OPTION_MAX_LOSS, SK_CLI_OPTION_PROVIDER,          \
        SK_CLI_OPTION_ENGINE, SK_CLI_OPTION_OPENVINO, SK_CLI_OPTION_FALLBACK

#define SK_CLI_OPTIONS_OVERLAY                                                                               \
    {SK_FLAG("save-overlay"), .help = "also a video (or pictures) with the results drawn in"},               \
        {SK_TEXT("draw", "LIST"),                                                                            \
         .help = "what --save-overlay shows: boxes, labels, scores, keypoints, skeleton, trails; or all "    \
                 "but some: "                                                                                \
                 "no-labels,no-scores"},                                                                     \
    {                                                                                                        \
        SK_REAL("line-width", "PIXELS", 0, 100),                                                             \
            .fallback = "0", .help = "of --save-overlay's boxes and skeletons; 0 goes by the frame's size"   \
    }

#define SK_CLI_OPTION_ENCODER                                                                                \
    {                                                                                                        \
        SK_CHOICE("overlay-encoder", "WHO", "auto|gpu|processor"),                                           \
            .fallback = "auto",                                                                              \
            .help = "who encodes --save-overlay's video: auto is the GPU's encoder "                         \
                    "(NVENC) with the runtime cuda, where there is one"                                      \
    }

/* What counts as found, and how it is computed. `least`: the default of --conf. */
#define SK_CLI_OPTIONS_FOUND(least)                                                                          \
    {SK_REAL("conf", "X", 0, 1),  .letter = 'c',                                                             \
     .fallback = (least),         .needs = SK_NEEDS_YOLO,                                                    \
     .instead = "peak-threshold", .help = "YOLO: keep detections with a confidence above this"},             \
        {SK_REAL("iou", "X", 0, 1), .fallback = "0.7", .needs = SK_NEEDS_YOLO,                               \
         .help = "YOLO: boxes that overlap a better one by more are dropped"},                               \
        {SK_TEXT("classes", "LIST"), .needs = SK_NEEDS_YOLO,                                                 \
         .help = "YOLO: only these classes, by number or name"},                                             \
        {SK_INT("max-det", "N", 1, 30000), .fallback = "300", .needs = SK_NEEDS_YOLO,                        \
         .instead = "max-instances", .help = "YOLO: most detections a frame"},                               \
        {SK_FLAG("agnostic"), .needs = SK_NEEDS_YOLO,                                                        \
         .help = "YOLO: boxes of different classes suppress each other too"},                                \
        {SK_REAL("peak-threshold", "X", 0, 1), .fallback = "0.2", .needs = SK_NEEDS_SLEAP,                   \
         .instead = "conf", .help = "SLEAP: smallest confidence of a keypoint"},                             \
        {SK_INT("max-instances", "N", 0, 10000), .fallback = "0", .needs = SK_NEEDS_SLEAP,                   \
         .instead = "max-det", .help = "SLEAP: most animals a frame; 0 means no limit"},                     \
        SK_CLI_OPTIONS_SLEAP, SK_CLI_OPTION_IMGSZ, SK_CLI_OPTION_RECT, SK_CLI_OPTION_NMS,                    \
        SK_CLI_OPTION_BATCH(64, "frames in one run of the network"), SK_CLI_OPTION_THREADS,                  \
        {SK_TEXT("devices", "LIST"),                                                                         \
         .help = "where to run: cuda:0,cuda:1 share the frames; cpu is one instance on all cores, auto one " \
                 "on each "                                                                                  \
                 "core, which the cpu runtime takes for files unless --threads is given; docs/runner.md "    \
                 "has more"},                                                                                \
    {                                                                                                        \
        SK_FLAG("allow-failover"), .help = "a device that fails hands its frames to the others"              \
    }

/* What of the sources is looked at. */
#define SK_CLI_OPTIONS_SOURCE                                                                                \
    {SK_TEXT("frames", "LIST"),                                                                              \
     .help = "only these frames, by commas: A:B:S (A up to, not with, B, every S-th), A-B (with B), A: "     \
             "0-9,20,30:60:5"},                                                                              \
        {SK_INT("loop", "N", 1, 1000000), .fallback = "1", .needs = SK_NEEDS_FILE,                           \
         .help = "play the source N times; for load tests"},                                                 \
        {SK_TEXT("hwaccel", "NAME"), .fallback = "none", .needs = SK_NEEDS_VIDEO,                            \
         .help = "decode video on a device: auto, or FFmpeg's name of one (vaapi, cuda, vdpau, qsv, drm, "   \
                 "vulkan); where it cannot be had the processor decodes, with a warning"},                   \
        {SK_CHOICE("colour", "WHICH", "original|tagged|bt601"), .also = "color", .fallback = "original",     \
         .needs = SK_NEEDS_VIDEO,                                                                            \
         .help =                                                                                             \
             "colours of video: as the program the model comes from reads it (SLEAP up to 1.4 reads every "  \
             "video as BT.601; sleap-nn and Ultralytics as the file says), as the file says, or as BT.601, " \
             "which "                                                                                        \
             "is what OpenCV 4 gave any of them"},                                                           \
        {SK_INT("max-pixels", "N", 1, 4294836225),                                                           \
         .help =                                                                                             \
             "pixels a picture or video frame may have; without it 67 million, or 4096 for every byte of a " \
             "picture's file, and 268 million at most"},                                                     \
        {SK_TEXT("topic", "NAME"), .needs = SK_NEEDS_BAG,                                                    \
         .help = "bags of ROS 2: the topic whose images are read, where there are several"},                 \
    {                                                                                                        \
        SK_REAL("reconnect", "SECONDS", 0, 1e9),                                                             \
            .fallback = "60", .needs = SK_NEEDS_LIVE,                                                        \
            .help = "cameras and streams: give up after so long without a frame"                             \
    }

/* The folder of the run. */
#define SK_CLI_OPTIONS_FOLDER                                                                                \
    {SK_FLAG("restart"), .help = "begin anew instead of continuing an interrupted run"},                     \
        {SK_FLAG("find-only"),                                                                               \
         .help = "keep what the models find in the folder, for --found, and write nothing else"},            \
        {SK_FOLDER("found", "DIR"), .repeat = 1,                                                             \
         .help = "take what --find-only found here in some of these --frames, and compute the rest; "        \
                 "may be given again: docs/batch.md"},                                                       \
        {SK_FLAG("overwrite"), .help = "replace files in the folder that no run of skitter wrote"},          \
    {                                                                                                        \
        SK_FLAG("strict"),                                                                                   \
            .help = "a picture that cannot be read ends the run, instead of being left out and noted"        \
    }

#define SK_CLI_OPTIONS_REST                                                                                  \
    {SK_CHOICE("obb-form", "FORM", "long-side|quarter"), .fallback = "long-side", .needs = SK_NEEDS_OBB,     \
     .help = "oriented boxes: w >= h and an angle below 180 degrees, or an angle below 90"},                 \
        {SK_FLAG("no-winograd"), .needs = SK_NEEDS_CPU, .help = "cpu: direct convolutions only"},            \
        SK_CLI_OPTIONS_TOLD,                                                                                 \
    {                                                                                                        \
        SK_FLAG("json"), .help = "the summary as one JSON object on standard output"                         \
    }

#endif
