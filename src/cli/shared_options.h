/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SHARED_OPTIONS_H
#define SK_CLI_SHARED_OPTIONS_H

/* Rows of commands' tables that mean the same wherever they stand. */

#define SK_CLI_OPERAND_MODEL                                                                                 \
    {                                                                                                        \
        .name = "model", .kind = SK_OPTION_FILE,                                                             \
        .help = "an Ultralytics .pt, a SLEAP model folder (or its .zip), an .onnx"                           \
    }

/* Without it the settings decide: sk_runtimes_choose. */
#define SK_CLI_OPTION_RUNTIME                                                                                \
    {                                                                                                        \
        .name = "runtime", .letter = 'r', .kind = SK_OPTION_TEXT, .argument = "NAME",                        \
        .help = "compute runtime; without it SKITTER_COMPUTE_RUNTIME, the project's or the user's setting "  \
                "('skitter config'), or cpu"                                                                 \
    }

#define SK_CLI_OPTION_PROVIDER                                                                               \
    {                                                                                                        \
        .name = "execution-provider", .kind = SK_OPTION_TEXT, .argument = "P",                               \
        .help = "ONNX Runtime's provider: CPU, CUDA, TensorRT, ROCm, MIGraphX, OpenVINO, CoreML; its "       \
                "runtime is taken where none is named"                                                       \
    }

#define SK_CLI_OPTION_PRECISION                                                                              \
    {                                                                                                        \
        .name = "precision", .kind = SK_OPTION_CHOICE, .argument = "P", .choices = "f32|tf32|f16|bf16|i8",   \
        .help = "what to compute in; without it what the runtime usually does: f32, on GPUs f16"             \
    }

#define SK_CLI_OPTION_OPENVINO                                                                               \
    {.name = "openvino-device",                                                                              \
     .kind = SK_OPTION_TEXT,                                                                                 \
     .argument = "D",                                                                                        \
     .needs = SK_NEEDS_OPENVINO,                                                                             \
     .help = "OpenVINO's device: CPU (without it), GPU, GPU.1, NPU, AUTO"},                                  \
    {                                                                                                        \
        .name = "openvino-hint", .kind = SK_OPTION_CHOICE, .argument = "HINT",                               \
        .choices = "latency|throughput", .fallback = "latency", .needs = SK_NEEDS_OPENVINO,                  \
        .help = "what OpenVINO compiles for: one answer soon, or many at once"                               \
    }

#define SK_CLI_OPTION_ENGINE                                                                                 \
    {                                                                                                        \
        .name = "engine-option", .also = "engine-options", .kind = SK_OPTION_TEXT, .argument = "KEY=VALUE",  \
        .repeat = 1,                                                                                         \
        .help = "an option of the runtime's own, such as tune=off; cpu.tune=off: of that one alone; "        \
                "'skitter runtimes --options' lists them"                                                    \
    }

#define SK_CLI_OPTION_FALLBACK                                                                               \
    {                                                                                                        \
        .name = "allow-fallback", .kind = SK_OPTION_FLAG,                                                    \
        .help = "where that runtime cannot be used, take the next one that can, and say so in the results"   \
    }

#define SK_CLI_OPTION_THREADS                                                                                \
    {                                                                                                        \
        .name = "threads", .letter = 't', .kind = SK_OPTION_INT, .argument = "N", .fallback = "0",           \
        .max = 256, .help = "threads of CPU runtimes; 0 means all cores"                                     \
    }

#define SK_CLI_OPTION_IMGSZ                                                                                  \
    {                                                                                                        \
        .name = "imgsz", .kind = SK_OPTION_TEXT, .argument = "N|HxW",                                        \
        .help = "network input; the model's own without it"                                                  \
    }

/* This and the next are read by cli/network_options.h. */
#define SK_CLI_OPTION_RECT                                                                                   \
    {                                                                                                        \
        .name = "rect", .kind = SK_OPTION_CHOICE, .argument = "WHEN", .choices = "auto|on|off",              \
        .fallback = "auto", .alone = "on", .needs = SK_NEEDS_YOLO,                                           \
        .help = "YOLO: no more border than the stride needs, instead of a square; auto: as Ultralytics, "    \
                "wherever the runtime takes any shape; --rect alone means on"                                \
    }

#define SK_CLI_OPTION_NMS                                                                                    \
    {                                                                                                        \
        .name = "nms", .kind = SK_OPTION_CHOICE, .argument = "WHEN", .choices = "auto|on|off",               \
        .fallback = "auto", .needs = SK_NEEDS_YOLO,                                                          \
        .help = "YOLOv10, YOLO26: the one-to-many heads with suppression, or off: the one-to-one heads "     \
                "without it (Ultralytics' nms=False); auto: as Ultralytics, on"                              \
    }

#define SK_CLI_OPTION_BATCH(most, what)                                                                      \
    {                                                                                                        \
        .name = "batch", .letter = 'b', .kind = SK_OPTION_INT, .argument = "N", .fallback = "1", .min = 1,   \
        .max = (most), .help = (what)                                                                        \
    }

#define SK_CLI_OPTION_JSON                                                                                   \
    {                                                                                                        \
        .name = "json", .kind = SK_OPTION_FLAG, .help = "one JSON object on standard output"                 \
    }

#endif
