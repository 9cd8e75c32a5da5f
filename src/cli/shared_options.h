/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SHARED_OPTIONS_H
#define SK_CLI_SHARED_OPTIONS_H

/* Rows of commands' tables that mean the same wherever they stand. */

#define SK_CLI_OPERAND_MODEL                                                                                 \
    {                                                                                                        \
        .name = "model", .kind = SK_OPTION_FILE,                                                             \
        .help = "an Ultralytics .pt, a SLEAP model folder (or its .zip), an .onnx, a .skq"                   \
    }

/* Without it the settings decide: sk_runtimes_choose. */
#define SK_CLI_OPTION_RUNTIME                                                                                \
    {                                                                                                        \
        SK_TEXT("runtime", "NAME"),                                                                          \
            .letter = 'r',                                                                                   \
            .help =                                                                                          \
                "compute runtime; without it SKITTER_COMPUTE_RUNTIME, the project's or the user's setting "  \
                "('skitter config'), or cpu"                                                                 \
    }

#define SK_CLI_OPTION_PROVIDER                                                                               \
    {                                                                                                        \
        SK_TEXT("execution-provider", "P"),                                                                  \
            .help = "ONNX Runtime's provider: CPU, CUDA, TensorRT, ROCm, MIGraphX, OpenVINO, CoreML; its "   \
                    "runtime is taken where none is named"                                                   \
    }

#define SK_CLI_OPTION_PRECISION                                                                              \
    {                                                                                                        \
        SK_CHOICE("precision", "P", "f32|tf32|f16|bf16|i8|fp8"),                                             \
            .help =                                                                                          \
                "what to compute in; without it what the runtime usually does: f32, on GPUs f16, a .skq "    \
                "as it was made"                                                                             \
    }

#define SK_CLI_OPTION_MAX_LOSS                                                                               \
    {                                                                                                        \
        SK_REAL("max-loss", "PERCENT", 0, 100),                                                              \
            .otherwise = "in percent, without the sign: --max-loss 3",                                       \
            .help = "refuse a model in eight bits that lost more when it was made ('skitter quantize')"      \
    }

#define SK_CLI_OPTION_OPENVINO                                                                               \
    {SK_TEXT("openvino-device", "D"), .needs = SK_NEEDS_OPENVINO,                                            \
     .help = "OpenVINO's device: CPU (without it), GPU, GPU.1, NPU, AUTO"},                                  \
    {                                                                                                        \
        SK_CHOICE("openvino-hint", "HINT", "latency|throughput"),                                            \
            .fallback = "latency", .needs = SK_NEEDS_OPENVINO,                                               \
            .help = "what OpenVINO compiles for: one answer soon, or many at once"                           \
    }

#define SK_CLI_OPTION_ENGINE                                                                                 \
    {                                                                                                        \
        SK_TEXT("engine-option", "KEY=VALUE"),                                                               \
            .also = "engine-options", .repeat = 1,                                                           \
            .help = "an option of the runtime's own, such as tune=off; cpu.tune=off: of that one alone; "    \
                    "'skitter runtimes --options' lists them"                                                \
    }

#define SK_CLI_OPTION_FALLBACK                                                                               \
    {                                                                                                        \
        SK_FLAG("allow-fallback"),                                                                           \
            .help =                                                                                          \
                "where that runtime cannot be used, take the next one that can, and say so in the results"   \
    }

#define SK_CLI_OPTION_THREADS                                                                                \
    {                                                                                                        \
        SK_INT("threads", "N", 0, 256), .letter = 't', .fallback = "0",                                      \
                                        .help = "threads of CPU runtimes; 0 means all cores"                 \
    }

#define SK_CLI_OPTION_IMGSZ                                                                                  \
    {                                                                                                        \
        SK_TEXT("imgsz", "N|HxW"), .help = "network input; the model's own without it"                       \
    }

/* This and the next are read by cli/network_options.h. */
#define SK_CLI_OPTION_RECT                                                                                   \
    {                                                                                                        \
        SK_CHOICE("rect", "WHEN", "auto|on|off"),                                                            \
            .fallback = "auto", .alone = "on", .needs = SK_NEEDS_YOLO,                                       \
            .help =                                                                                          \
                "YOLO: no more border than the stride needs, instead of a square; auto: as Ultralytics, "    \
                "wherever the runtime takes any shape; --rect alone means on"                                \
    }

#define SK_CLI_OPTION_NMS                                                                                    \
    {                                                                                                        \
        SK_CHOICE("nms", "WHEN", "auto|on|off"),                                                             \
            .fallback = "auto", .needs = SK_NEEDS_YOLO,                                                      \
            .help = "YOLOv10, YOLO26: the one-to-many heads with suppression, or off: the one-to-one heads " \
                    "without it (Ultralytics' nms=False); auto: as Ultralytics, on"                          \
    }

#define SK_CLI_OPTION_BATCH(most, what)                                                                      \
    {                                                                                                        \
        SK_INT("batch", "N", 1, (most)), .letter = 'b', .fallback = "1", .help = (what)                      \
    }

#define SK_CLI_OPTION_JSON                                                                                   \
    {                                                                                                        \
        SK_FLAG("json"), .help = "one JSON object on standard output"                                        \
    }

#endif
