/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_OPTIONS_H
#define SK_CLI_PREDICT_OPTIONS_H

#include "cli/shared_options.h"
#include "cli/sleap_options.h"

/* What commands that look at videos have in common, read by cli/predict_settings.h and cli/predict_door.h. */

#define SK_CLI_OPERAND_SOURCES(opt)                                                                          \
    {                                                                                                        \
        .name = "source", .kind = SK_OPTION_FILE, .optional = (opt), .repeat = 1,                            \
        .help = "videos, pictures, folders or 'globs' of them, frame_%05d.png, a list.txt with "             \
                "one a line, a camera (0 or /dev/video0), rtsp://…, - for "                                \
                "standard input"                                                                             \
    }

/* What computes. */
#define SK_CLI_OPTIONS_RUNTIME                                                                               \
    SK_CLI_OPTION_RUNTIME, SK_CLI_OPTION_PRECISION, SK_CLI_OPTION_PROVIDER, SK_CLI_OPTION_ENGINE,            \
        SK_CLI_OPTION_OPENVINO, SK_CLI_OPTION_FALLBACK

#define SK_CLI_OPTIONS_OVERLAY                                                                               \
    {.name = "save-overlay",                                                                                 \
     .kind = SK_OPTION_FLAG,                                                                                 \
     .help = "also a video (or pictures) with the results drawn in"},                                        \
        {.name = "draw",                                                                                     \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "LIST",                                                                                 \
         .help = "what --save-overlay shows: boxes, labels, scores, keypoints, skeleton, trails; or all "    \
                 "but some: "                                                                                \
                 "no-labels,no-scores"},                                                                     \
    {                                                                                                        \
        .name = "line-width", .kind = SK_OPTION_REAL, .argument = "PIXELS", .fallback = "0", .max = 100,     \
        .help = "of --save-overlay's boxes and skeletons; 0 goes by the frame's size"                        \
    }

/* What counts as found, and how it is computed. `least`: the default of --conf. */
#define SK_CLI_OPTIONS_FOUND(least)                                                                          \
    {.name = "conf",                                                                                         \
     .letter = 'c',                                                                                          \
     .kind = SK_OPTION_REAL,                                                                                 \
     .argument = "X",                                                                                        \
     .fallback = (least),                                                                                    \
     .max = 1,                                                                                               \
     .needs = SK_NEEDS_YOLO,                                                                                 \
     .instead = "peak-threshold",                                                                            \
     .help = "YOLO: keep detections with a confidence above this"},                                          \
        {.name = "iou",                                                                                      \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0.7",                                                                                  \
         .max = 1,                                                                                           \
         .needs = SK_NEEDS_YOLO,                                                                             \
         .help = "YOLO: boxes that overlap a better one by more are dropped"},                               \
        {.name = "classes",                                                                                  \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "LIST",                                                                                 \
         .needs = SK_NEEDS_YOLO,                                                                             \
         .help = "YOLO: only these classes, by number or name"},                                             \
        {.name = "max-det",                                                                                  \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .fallback = "300",                                                                                  \
         .min = 1,                                                                                           \
         .max = 30000,                                                                                       \
         .needs = SK_NEEDS_YOLO,                                                                             \
         .instead = "max-instances",                                                                         \
         .help = "YOLO: most detections a frame"},                                                           \
        {.name = "agnostic",                                                                                 \
         .kind = SK_OPTION_FLAG,                                                                             \
         .needs = SK_NEEDS_YOLO,                                                                             \
         .help = "YOLO: boxes of different classes suppress each other too"},                                \
        {.name = "peak-threshold",                                                                           \
         .kind = SK_OPTION_REAL,                                                                             \
         .argument = "X",                                                                                    \
         .fallback = "0.2",                                                                                  \
         .max = 1,                                                                                           \
         .needs = SK_NEEDS_SLEAP,                                                                            \
         .instead = "conf",                                                                                  \
         .help = "SLEAP: smallest confidence of a keypoint"},                                                \
        {.name = "max-instances",                                                                            \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .fallback = "0",                                                                                    \
         .max = 10000,                                                                                       \
         .needs = SK_NEEDS_SLEAP,                                                                            \
         .instead = "max-det",                                                                               \
         .help = "SLEAP: most animals a frame; 0 means no limit"},                                           \
        SK_CLI_OPTIONS_SLEAP, SK_CLI_OPTION_IMGSZ, SK_CLI_OPTION_RECT, SK_CLI_OPTION_NMS,                    \
        SK_CLI_OPTION_BATCH(64, "frames in one run of the network"), SK_CLI_OPTION_THREADS,                  \
        {.name = "devices",                                                                                  \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "LIST",                                                                                 \
         .help = "where to run: cuda:0,cuda:1 share the frames; cpu is one instance on all cores, auto one " \
                 "on each "                                                                                  \
                 "core, which the cpu runtime takes for files unless --threads is given; docs/runner.md "    \
                 "has more"},                                                                                \
    {                                                                                                        \
        .name = "allow-failover", .kind = SK_OPTION_FLAG,                                                    \
        .help = "a device that fails hands its frames to the others"                                         \
    }

/* What of the sources is looked at. */
#define SK_CLI_OPTIONS_SOURCE                                                                                \
    {.name = "frames",                                                                                       \
     .kind = SK_OPTION_TEXT,                                                                                 \
     .argument = "LIST",                                                                                     \
     .help = "only these frames, by commas: A:B:S (A up to, not with, B, every S-th), A-B (with B), A: "     \
             "0-9,20,30:60:5"},                                                                              \
        {.name = "loop",                                                                                     \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .fallback = "1",                                                                                    \
         .min = 1,                                                                                           \
         .max = 1000000,                                                                                     \
         .needs = SK_NEEDS_FILE,                                                                             \
         .help = "play the source N times; for load tests"},                                                 \
        {.name = "hwaccel",                                                                                  \
         .kind = SK_OPTION_TEXT,                                                                             \
         .argument = "NAME",                                                                                 \
         .fallback = "none",                                                                                 \
         .needs = SK_NEEDS_VIDEO,                                                                            \
         .help = "decode video on a device: auto, or FFmpeg's name of one (vaapi, cuda, vdpau, qsv, drm, "   \
                 "vulkan); where it cannot be had the processor decodes, with a warning"},                   \
        {.name = "colour",                                                                                   \
         .also = "color",                                                                                    \
         .kind = SK_OPTION_CHOICE,                                                                           \
         .argument = "WHICH",                                                                                \
         .choices = "original|tagged|bt601",                                                                 \
         .fallback = "original",                                                                             \
         .needs = SK_NEEDS_VIDEO,                                                                            \
         .help =                                                                                             \
             "colours of video: as the program the model comes from reads it (SLEAP up to 1.4 reads every "  \
             "video as BT.601; sleap-nn and Ultralytics as the file says), as the file says, or as BT.601, " \
             "which "                                                                                        \
             "is what OpenCV 4 gave any of them"},                                                           \
        {.name = "max-pixels",                                                                               \
         .kind = SK_OPTION_INT,                                                                              \
         .argument = "N",                                                                                    \
         .min = 1,                                                                                           \
         .max = 4294836225,                                                                                  \
         .help =                                                                                             \
             "pixels a picture or video frame may have; without it 67 million, or 4096 for every byte of a " \
             "picture's file, and 268 million at most"},                                                     \
    {                                                                                                        \
        .name = "reconnect", .kind = SK_OPTION_REAL, .argument = "SECONDS", .fallback = "60", .max = 1e9,    \
        .needs = SK_NEEDS_LIVE, .help = "cameras and streams: give up after so long without a frame"         \
    }

/* The folder of the run. */
#define SK_CLI_OPTIONS_FOLDER                                                                                \
    {.name = "restart",                                                                                      \
     .kind = SK_OPTION_FLAG,                                                                                 \
     .help = "begin anew instead of continuing an interrupted run"},                                         \
        {.name = "overwrite",                                                                                \
         .kind = SK_OPTION_FLAG,                                                                             \
         .help = "replace files in the folder that no run of skitter wrote"},                                \
    {                                                                                                        \
        .name = "strict", .kind = SK_OPTION_FLAG,                                                            \
        .help = "a picture that cannot be read ends the run, instead of being left out and noted"            \
    }

#define SK_CLI_OPTIONS_REST                                                                                  \
    {.name = "obb-form",                                                                                     \
     .kind = SK_OPTION_CHOICE,                                                                               \
     .argument = "FORM",                                                                                     \
     .choices = "long-side|quarter",                                                                         \
     .fallback = "long-side",                                                                                \
     .needs = SK_NEEDS_OBB,                                                                                  \
     .help = "oriented boxes: w >= h and an angle below 180 degrees, or an angle below 90"},                 \
        {.name = "no-winograd",                                                                              \
         .kind = SK_OPTION_FLAG,                                                                             \
         .needs = SK_NEEDS_CPU,                                                                              \
         .help = "cpu: direct convolutions only"},                                                           \
    {                                                                                                        \
        .name = "json", .kind = SK_OPTION_FLAG, .help = "the summary as one JSON object on standard output"  \
    }

#endif
