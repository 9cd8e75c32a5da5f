/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict_many.h"
#include "app/runtimes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/predict_session.h"
#include "cli/predict_settings.h"
#include "cli/shared_options.h"
#include "cli/sleap_options.h"
#include "media/reader.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

static const sk_operand operands[] = {
    {.name = "source",
     .kind = SK_OPTION_FILE,
     .repeat = 1,
     .help = "videos, pictures, folders or 'globs' of them, frame_%05d.png, a list.txt with "
             "one a line, a camera (0 or /dev/video0), rtsp://…, - for "
             "standard input"},
    {0}};

static const sk_option options[] = {
    {.name = "model",
     .letter = 'm',
     .kind = SK_OPTION_FILE,
     .argument = "M",
     .repeat = 1,
     .help = "the model; give it twice for centroid + centered instance, or for boxes + pose on crops"},
    {.name = "out",
     .letter = 'o',
     .kind = SK_OPTION_FOLDER,
     .argument = "DIR",
     .help =
         "folder for the results, with one in it for each of several sources; without it runs/predict1, the "
         "next free number; - writes jsonl (or --format csv) to standard output"},
    SK_CLI_OPTION_RUNTIME,
    SK_CLI_OPTION_PRECISION,
    SK_CLI_OPTION_PROVIDER,
    SK_CLI_OPTION_ENGINE,
    SK_CLI_OPTION_OPENVINO,
    SK_CLI_OPTION_FALLBACK,
    {.name = "format",
     .letter = 'f',
     .kind = SK_OPTION_TEXT,
     .argument = "LIST",
     .fallback = "csv,jsonl",
     .help = "result files: csv, jsonl, slp, analysis, coco, labels, labels-conf"},
    {.name = "save-overlay",
     .kind = SK_OPTION_FLAG,
     .help = "also a video (or pictures) with the results drawn in"},
    {.name = "draw",
     .kind = SK_OPTION_TEXT,
     .argument = "LIST",
     .help =
         "what --save-overlay shows: boxes, labels, scores, keypoints, skeleton, trails; or all but some: "
         "no-labels,no-scores"},
    {.name = "line-width",
     .kind = SK_OPTION_REAL,
     .argument = "PIXELS",
     .fallback = "0",
     .max = 100,
     .help = "of --save-overlay's boxes and skeletons; 0 goes by the frame's size"},
    {.name = "save-crops",
     .kind = SK_OPTION_FLAG,
     .help = "also a picture of every instance, crops/CLASS/…; oriented boxes are turned upright"},
    {.name = "no-empty",
     .kind = SK_OPTION_FLAG,
     .help = "leave frames without instances out of jsonl, slp and coco; the other formats list none"},
    {.name = "conf",
     .letter = 'c',
     .kind = SK_OPTION_REAL,
     .argument = "X",
     .fallback = "0.25",
     .max = 1,
     .needs = SK_NEEDS_YOLO,
     .instead = "peak-threshold",
     .help = "YOLO: keep detections with a confidence above this"},
    {.name = "iou",
     .kind = SK_OPTION_REAL,
     .argument = "X",
     .fallback = "0.7",
     .max = 1,
     .needs = SK_NEEDS_YOLO,
     .help = "YOLO: boxes that overlap a better one by more are dropped"},
    {.name = "classes",
     .kind = SK_OPTION_TEXT,
     .argument = "LIST",
     .needs = SK_NEEDS_YOLO,
     .help = "YOLO: only these classes, by number or name"},
    {.name = "max-det",
     .kind = SK_OPTION_INT,
     .argument = "N",
     .fallback = "300",
     .min = 1,
     .max = 30000,
     .needs = SK_NEEDS_YOLO,
     .instead = "max-instances",
     .help = "YOLO: most detections a frame"},
    {.name = "agnostic",
     .kind = SK_OPTION_FLAG,
     .needs = SK_NEEDS_YOLO,
     .help = "YOLO: boxes of different classes suppress each other too"},
    {.name = "peak-threshold",
     .kind = SK_OPTION_REAL,
     .argument = "X",
     .fallback = "0.2",
     .max = 1,
     .needs = SK_NEEDS_SLEAP,
     .instead = "conf",
     .help = "SLEAP: smallest confidence of a keypoint"},
    {.name = "max-instances",
     .kind = SK_OPTION_INT,
     .argument = "N",
     .fallback = "0",
     .max = 10000,
     .needs = SK_NEEDS_SLEAP,
     .instead = "max-det",
     .help = "SLEAP: most animals a frame; 0 means no limit"},
    SK_CLI_OPTIONS_SLEAP,
    SK_CLI_OPTION_IMGSZ,
    SK_CLI_OPTION_RECT,
    SK_CLI_OPTION_NMS,
    SK_CLI_OPTION_BATCH(64, "frames in one run of the network"),
    SK_CLI_OPTION_THREADS,
    {.name = "devices",
     .kind = SK_OPTION_TEXT,
     .argument = "LIST",
     .help =
         "where to run: cuda:0,cuda:1 share the frames; cpu is one instance on all cores, auto one on each "
         "core, which the cpu runtime takes for files unless --threads is given; docs/runner.md has more"},
    {.name = "allow-failover",
     .kind = SK_OPTION_FLAG,
     .help = "a device that fails hands its frames to the others"},
    {.name = "frames",
     .kind = SK_OPTION_TEXT,
     .argument = "LIST",
     .help = "only these frames, by commas: A:B:S (A up to, not with, B, every S-th), A-B (with B), A: "
             "0-9,20,30:60:5"},
    {.name = "loop",
     .kind = SK_OPTION_INT,
     .argument = "N",
     .fallback = "1",
     .min = 1,
     .max = 1000000,
     .needs = SK_NEEDS_FILE,
     .help = "play the source N times; for load tests"},
    {.name = "hwaccel",
     .kind = SK_OPTION_TEXT,
     .argument = "NAME",
     .fallback = "none",
     .needs = SK_NEEDS_VIDEO,
     .help = "decode video on a device: auto, or FFmpeg's name of one (vaapi, cuda, vdpau, qsv, drm, "
             "vulkan); where it cannot be had the processor decodes, with a warning"},
    {.name = "colour",
     .also = "color",
     .kind = SK_OPTION_CHOICE,
     .argument = "WHICH",
     .choices = "original|tagged|bt601",
     .fallback = "original",
     .needs = SK_NEEDS_VIDEO,
     .help =
         "colours of video: as the program the model comes from reads it (SLEAP up to 1.4 reads every "
         "video as BT.601; sleap-nn and Ultralytics as the file says), as the file says, or as BT.601, which "
         "is what OpenCV 4 gave any of them"},
    {.name = "max-pixels",
     .kind = SK_OPTION_INT,
     .argument = "N",
     .min = 1,
     .max = 4294836225,
     .help = "pixels a picture or video frame may have; without it 67 million, or 4096 for every byte of a "
             "picture's file, and 268 million at most"},
    {.name = "reconnect",
     .kind = SK_OPTION_REAL,
     .argument = "SECONDS",
     .fallback = "60",
     .max = 1e9,
     .needs = SK_NEEDS_LIVE,
     .help = "cameras and streams: give up after so long without a frame"},
    {.name = "restart",
     .kind = SK_OPTION_FLAG,
     .help = "begin anew instead of continuing an interrupted run"},
    {.name = "overwrite",
     .kind = SK_OPTION_FLAG,
     .help = "replace files in the folder that no run of skitter wrote"},
    {.name = "strict",
     .kind = SK_OPTION_FLAG,
     .help = "a picture that cannot be read ends the run, instead of being left out and noted"},
    {.name = "obb-form",
     .kind = SK_OPTION_CHOICE,
     .argument = "FORM",
     .choices = "long-side|quarter",
     .fallback = "long-side",
     .needs = SK_NEEDS_OBB,
     .help = "oriented boxes: w >= h and an angle below 180 degrees, or an angle below 90"},
    {.name = "no-winograd",
     .kind = SK_OPTION_FLAG,
     .needs = SK_NEEDS_CPU,
     .help = "cpu: direct convolutions only"},
    {.name = "json", .kind = SK_OPTION_FLAG, .help = "the summary as one JSON object on standard output"},
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

static uint32_t source_has(const char *source)
{
    if (!source) /* pictures, given one by one */
        return SK_NEEDS_FILE;
    const bool live = sk_uri_is_live(source);
    const bool address =
        live && strncasecmp(source, "http", 4) == 0; /* a file behind a server, or a stream */
    return (live ? SK_NEEDS_LIVE : 0) | ((!live || address) && !sk_uri_is_once(source) ? SK_NEEDS_FILE : 0) |
           (!sk_uri_is_pictures(source) ? SK_NEEDS_VIDEO : 0);
}

/* Options that this runtime or these sources have no use for. */
static sk_status refuse_meaningless(const sk_args *args, const sk_predict_settings *s,
                                    const sk_source_list *list, sk_error *err)
{
    uint32_t has = 0;
    for (size_t i = 0; i < list->count; i++)
        has |= source_has(list->items[i].source);
    SK_TRY(sk_cli_refuse_for_runtimes(args, &s->detector.runtime, 1, s->detector.provider, err));
    return sk_cli_refuse_meaningless(args, SK_NEEDS_OF_SOURCES, has,
                                     list->count > 1 ? "none of these sources" : sk_args_text(args, "source"),
                                     err);
}

/* sleap-nn's -o labels.slp: here it would be a folder of that name, without such a file in it. */
static sk_status refuse_file_name(const char *out, sk_error *err)
{
    static const char *const asked[][2] = {{".slp", "--format slp"},     {".csv", "--format csv"},
                                           {".jsonl", "--format jsonl"}, {".json", "--format coco"},
                                           {".h5", "--format analysis"}, {".mp4", "--save-overlay"},
                                           {".avi", "--save-overlay"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (!sk_path_has_extension(out, asked[i][0]) || sk_file_is_directory(out))
            continue;
        const int stem = (int)(strlen(out) - strlen(asked[i][0]));
        return sk_fail(err, SK_ERR_ARG,
                       "--out %s: results go into a folder, and this is the name of a file\n"
                       "write '--out %.*s %s'",
                       out, stem, out, asked[i][1]);
    }
    return SK_OK;
}

/* Where results go: the folder named, a fresh one, or standard output (out null). */
static sk_status choose_out(const sk_args *args, sk_predict_settings *s, char **fresh, sk_error *err)
{
    s->out = sk_args_text(args, "out");
    if (!s->out) {
        SK_TRY(sk_predict_fresh_folder(fresh, err));
        s->out = *fresh;
    } else if (strcmp(s->out, "-") == 0) {
        s->out = NULL;
        if (sk_args_flag(args, "json"))
            return sk_fail(
                err, SK_ERR_ARG,
                "--json and '--out -' both want standard output\nleave --json out, or name a folder");
        if (!sk_args_given(args, "format")) {
            s->n_formats = 1;
            s->formats[0] = "jsonl";
        }
    } else {
        return refuse_file_name(s->out, err);
    }
    return SK_OK;
}

static sk_status choose_runtime(const sk_args *args, sk_predict_settings *s, sk_runtime_choice *choice,
                                char engine[32], sk_error *err)
{
    s->detector.provider = sk_args_text(args, "execution-provider");
    s->detector.openvino_device = sk_args_text(args, "openvino-device");
    s->detector.precision = sk_args_text(args, "precision");
    s->detector.openvino_throughput = strcmp(sk_args_text(args, "openvino-hint"), "throughput") == 0;
    const sk_runtimes_wish wish = {sk_args_text(args, "runtime"), s->detector.provider,
                                   sk_args_flag(args, "allow-fallback") > 0};
    SK_TRY(sk_runtimes_choose(s->models, s->n_models, &wish, choice, engine, err));
    if (choice->fell_back)
        s->detector.provider = NULL; /* it went with the runtime */
    s->detector.runtime = engine;
    s->runtime_requested = choice->requested;
    s->runtime_fell_back = choice->fell_back;
    return SK_OK;
}

static sk_status list_sources(const sk_args *args, sk_source_list *list, sk_error *err)
{
    const size_t count = sk_args_count(args, "source");
    const char **given = sk_calloc(count + 1, sizeof *given);
    if (!given)
        return sk_fail_memory(err, count * sizeof *given);
    for (size_t i = 0; i < count; i++)
        given[i] = sk_args_at(args, "source", i);
    sk_status status = sk_source_list_make(given, count, list, err);
    sk_free((void *)given);
    return status;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_predict_settings s;
    sk_predict_defaults(&s);
    sk_source_list list = {0};
    sk_runtime_choice choice;
    char engine[32], options_text[SK_OPTIONS_TEXT];
    sk_predict_borrowed borrowed = {0};
    char *fresh = NULL; /* the folder that was made for this run */
    sk_status status = SK_OK;
    SK_TRY_GOTO(sk_cli_predict_settings(args, &s, &borrowed, err));
    SK_TRY_GOTO(sk_cli_engine_options(args, options_text, &s.detector.engine_options, err));
    SK_TRY_GOTO(choose_runtime(args, &s, &choice, engine, err));
    SK_TRY_GOTO(list_sources(args, &list, err));
    SK_TRY_GOTO(refuse_meaningless(args, &s, &list, err));
    SK_TRY_GOTO(choose_out(args, &s, &fresh, err));
    if (choice.notice[0])
        sk_cli_warn("%s", choice.notice);
    status = sk_cli_predict_all(args, &s, &list, fresh, err);
done:
    if (status != SK_OK && fresh && rmdir(fresh) == 0) /* nothing was written: the number stays free */
        (void)rmdir("runs");
    sk_source_list_free(&list);
    sk_cli_predict_borrowed_free(&borrowed);
    sk_free(fresh);
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
