/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict.h"
#include "app/runtimes.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/shared_options.h"
#include "cli/sizes.h"
#include "cli/sleap_options.h"
#include "media/frame_choice.h"
#include "media/reader.h"
#include "media/overlay.h"
#include "results/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const sk_operand operands[] = {{.name = "source",
                                       .kind = SK_OPTION_FILE,
                                       .help = "a video, a picture, a folder or 'glob' of pictures, "
                                               "frame_%05d.png, a camera (0 or /dev/video0), rtsp://…"},
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
     .help = "folder for the results"},
    SK_CLI_OPTION_RUNTIME,
    SK_CLI_OPTION_PRECISION,
    SK_CLI_OPTION_PROVIDER,
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
    {"skitter predict rtsp://camera/1 -m model.pt -o live --frames 0:1000", "a thousand frames of a stream"},
    {0}};

/* Class numbers or names; names need the model, so the list is resolved against an open one. */
static sk_status parse_classes(const char *text, const char *model_path, int32_t *classes, int32_t capacity,
                               int32_t *count, sk_error *err)
{
    if (!text)
        return SK_OK;
    sk_model *model = NULL;
    char *list = sk_strdup(text);
    sk_status status = list ? sk_model_open(model_path, &model, err) : sk_fail_memory(err, strlen(text));
    for (char *name = list, *rest = NULL; status == SK_OK && (name = strtok_r(name, ",", &rest));
         name = NULL) {
        while (*name == ' ')
            name++;
        char *end;
        long number = strtol(name, &end, 10);
        if (*end != '\0' || end == name) {
            number = -1;
            for (int32_t i = 0; i < sk_model_class_count(model); i++)
                if (strcmp(sk_model_class_name(model, i), name) == 0)
                    number = i;
        }
        if (number < 0 || number >= sk_model_class_count(model) || *count == capacity)
            status = sk_fail(err, SK_ERR_ARG, "--classes: '%s' is no class of %s, which has %d", name,
                             model_path, sk_model_class_count(model));
        else
            classes[(*count)++] = (int32_t)number;
    }
    sk_model_close(&model);
    sk_free(list);
    return status;
}

static sk_status parse_formats(char *list, sk_predict_settings *s, sk_error *err)
{
    s->n_formats = 0;
    for (char *name = list, *rest = NULL; (name = strtok_r(name, ", ", &rest)); name = NULL) {
        const char *format = strcmp(name, "json") == 0 ? "jsonl" : strcmp(name, "txt") == 0 ? "labels" : name;
        if (!sk_sink_find(format)) {
            char known[256] = "";
            for (const sk_sink_kind *const *k = sk_sink_kinds; *k; k++) {
                size_t used = strlen(known);
                snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", (*k)->name);
            }
            return sk_fail(err, SK_ERR_ARG, "--format: no result format is called '%s'; there are %s", name,
                           known);
        }
        if (s->n_formats == SK_PREDICT_MAX_FORMATS)
            return sk_fail(err, SK_ERR_ARG, "--format: at most %d formats", SK_PREDICT_MAX_FORMATS);
        s->formats[s->n_formats++] = sk_sink_find(format)->name;
    }
    return SK_OK;
}

typedef struct watcher {
    sk_progress *progress;
    bool opened;
} watcher;

/* Opened by the first frame, so that the rate does not count the opening of models. Without memory for a bar there is none. */
static void open_progress(watcher *w)
{
    sk_progress_settings p = sk_progress_defaults();
    p.stream = stderr;
    p.mode = sk_cli_verbosity() == 0 ? SK_PROGRESS_NONE : SK_PROGRESS_AUTO;
    p.label = "predict";
    p.unit = "frames";
    if (sk_progress_open(&p, &w->progress, NULL) != SK_OK)
        w->progress = NULL;
    w->opened = true;
}

static bool watch(void *context, const sk_predict_progress *p)
{
    watcher *w = context;
    char note[64];
    if (!w->opened)
        open_progress(w);
    if (!w->progress)
        return sk_cli_interrupted();
    snprintf(note, sizeof note, "%lld found", (long long)p->instances);
    if (p->total > 0)
        sk_progress_set_total(w->progress, p->total - p->continued);
    sk_progress_update(w->progress, p->done - p->continued, note);
    sk_progress_set_seconds(w->progress, p->seconds);
    return sk_cli_interrupted();
}

static void print_summary(const sk_predict_report *r, const char *requested)
{
    if (r->nothing_to_do) {
        printf("This run had finished already: %lld frames, %lld instances. --restart does it again.\n",
               (long long)r->total_frames, (long long)r->instances);
    } else {
        printf("%s%lld frames%s, %lld instances, %.2f s, %.1f frames/s\n", r->stopped ? "Stopped: " : "",
               (long long)r->frames, r->total_frames > r->frames ? " (continued)" : "",
               (long long)r->instances, r->seconds, r->seconds > 0 ? (double)r->frames / r->seconds : 0);
        double n = r->frames > 0 ? (double)r->frames : 1;
        bool same = strcmp(r->runtime, requested) == 0;
        printf("runtime %s%s%s%s, %s, %s\n", r->runtime, same ? "" : " (requested ", same ? "" : requested,
               same ? "" : ")", r->precision, r->device);
        printf("a frame every %.2f ms; work on one, ms: decode %.2f (waited %.2f), pre %.2f, network %.2f, "
               "post %.2f, write %.2f",
               1e3 * r->seconds / n, 1e3 * r->decode / n, 1e3 * r->wait_source / n, 1e3 * r->pre / n,
               1e3 * r->network / n, 1e3 * r->post / n, 1e3 * r->write / n);
        if (r->overlay > 0)
            printf(", overlay %.2f", 1e3 * r->overlay / n);
        if (r->crops > 0)
            printf(", crops %.2f", 1e3 * r->crops / n);
        printf("\n");
        if (r->source.damaged || r->source.dropped || r->source.outages)
            printf("source: %lld damaged, %lld dropped, %d outages, %d attempts to connect again%s%s\n",
                   (long long)r->source.damaged, (long long)r->source.dropped, r->source.outages,
                   r->source.reconnects, r->source.last_problem[0] ? "; last problem: " : "",
                   r->source.last_problem);
    }
    if (r->unreadable)
        printf("%lld pictures could not be read and were left out; run.json lists them\n",
               (long long)r->unreadable);
    for (int32_t i = 0; i < r->n_files; i++)
        printf("%s\n", r->files[i]);
    if (r->stopped && !r->live)
        printf("The same command continues where it stopped.\n");
}

static sk_status print_json(const sk_predict_report *r, const char *requested, sk_error *err)
{
    sk_json j = sk_json_to_file(stdout, 2);
    sk_json_object(&j);
    sk_json_key_int(&j, "frames", r->frames);
    sk_json_key_int(&j, "total_frames", r->total_frames);
    sk_json_key_int(&j, "instances", r->instances);
    sk_json_key_bool(&j, "stopped", r->stopped);
    sk_json_key_int(&j, "unreadable", r->unreadable);
    sk_json_key_int(&j, "missing", r->missing);
    sk_json_key_float(&j, "seconds", r->seconds);
    sk_json_key_float(&j, "fps", r->seconds > 0 ? (double)r->frames / r->seconds : 0);
    sk_json_key_string(&j, "runtime_requested", requested);
    sk_json_key_string(&j, "runtime", r->runtime);
    sk_json_key_string(&j, "device", r->device);
    sk_json_key_string(&j, "precision", r->precision);
    double n = r->frames > 0 ? (double)r->frames : 1;
    sk_json_key(&j, "ms_per_frame");
    sk_json_object(&j);
    sk_json_key_float(&j, "decode", 1e3 * r->decode / n);
    sk_json_key_float(&j, "wait", 1e3 * r->wait_source / n);
    sk_json_key_float(&j, "pre", 1e3 * r->pre / n);
    sk_json_key_float(&j, "network", 1e3 * r->network / n);
    sk_json_key_float(&j, "post", 1e3 * r->post / n);
    sk_json_key_float(&j, "write", 1e3 * r->write / n);
    sk_json_key_float(&j, "overlay", 1e3 * r->overlay / n);
    sk_json_key_float(&j, "crops", 1e3 * r->crops / n);
    sk_json_close(&j);
    sk_source_status_json(&r->source, "source", &j);
    sk_json_key(&j, "files");
    sk_json_array(&j);
    for (int32_t i = 0; i < r->n_files; i++)
        sk_json_string(&j, r->files[i]);
    sk_json_close(&j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

static bool interrupted(void *context)
{
    (void)context;
    return sk_cli_interrupted();
}

/* What the settings borrow from the arguments. */
typedef struct wishes {
    char *formats;
    int32_t classes[1024];
    sk_frame_range *ranges;
} wishes;

static sk_status read_settings(const sk_args *args, sk_predict_settings *s, wishes *w, sk_error *err)
{
    s->source = sk_args_text(args, "source");
    s->out = sk_args_text(args, "out");
    if (sk_args_count(args, "model") < 1 || !s->out)
        return sk_fail(err, SK_ERR_ARG, "predict needs --model M and --out DIR");
    if (sk_args_count(args, "model") > SK_DETECTOR_MAX_MODELS)
        return sk_fail(err, SK_ERR_ARG, "--model: at most %d", SK_DETECTOR_MAX_MODELS);
    for (size_t i = 0; i < sk_args_count(args, "model"); i++)
        s->models[s->n_models++] = sk_args_at(args, "model", i);
    sk_detector_settings *d = &s->detector;
    d->confidence = (float)sk_args_real(args, "conf");
    d->iou = sk_args_real(args, "iou");
    d->max_det = (int32_t)sk_args_int(args, "max-det");
    d->agnostic = sk_args_flag(args, "agnostic");
    d->peak_threshold = (float)sk_args_real(args, "peak-threshold");
    d->max_instances = (int32_t)sk_args_int(args, "max-instances");
    d->rect = sk_cli_rect(args);
    d->heads = sk_cli_heads(args);
    SK_TRY(sk_cli_read_sleap(args, &d->sleap, err));
    d->batch = (int32_t)sk_args_int(args, "batch");
    d->threads = (int32_t)sk_args_int(args, "threads");
    d->winograd = !sk_args_flag(args, "no-winograd");
    d->obb_quarter = strcmp(sk_args_text(args, "obb-form"), "quarter") == 0;
    s->overlay = sk_args_flag(args, "save-overlay");
    s->crops = sk_args_flag(args, "save-crops");
    s->no_empty = sk_args_flag(args, "no-empty");
    s->line_width = (float)sk_args_real(args, "line-width");
    if (!s->overlay && (sk_args_text(args, "draw") || s->line_width > 0))
        return sk_fail(err, SK_ERR_ARG,
                       "--%s says how the overlay looks, and none is written\ngive --save-overlay, too",
                       sk_args_text(args, "draw") ? "draw" : "line-width");
    if (sk_args_text(args, "draw")) {
        sk_status drawn = sk_overlay_parse_what(sk_args_text(args, "draw"), &s->draw, err);
        if (drawn != SK_OK) {
            sk_error_prefix(err, "--draw");
            return drawn;
        }
    }
    s->restart = sk_args_flag(args, "restart");
    const char *colour = sk_args_text(args, "colour");
    s->colours = strcmp(colour, "tagged") == 0  ? SK_PREDICT_COLOURS_TAGGED
                 : strcmp(colour, "bt601") == 0 ? SK_PREDICT_COLOURS_BT601
                                                : SK_PREDICT_COLOURS_ORIGINAL;
    s->overwrite = sk_args_flag(args, "overwrite");
    s->strict = sk_args_flag(args, "strict");
    s->media.loop = (int32_t)sk_args_int(args, "loop");
    s->devices = sk_args_text(args, "devices");
    s->allow_failover = sk_args_flag(args, "allow-failover");
    s->media.hwaccel = sk_args_text(args, "hwaccel");
    s->media.max_pixels = sk_args_given(args, "max-pixels") ? sk_args_int(args, "max-pixels") : 0;
    s->media.reconnect_seconds = sk_args_real(args, "reconnect");
    s->media.interrupted = interrupted;
    s->media.queue = d->batch > 1 ? 2 * d->batch + 4 : 0; /* one batch in the network, one on its way to it */
    SK_TRY(sk_cli_parse_size(sk_args_text(args, "imgsz"), &d->height, &d->width, err));
    if (sk_args_given(args, "frames"))
        SK_TRY(sk_frames_parse(sk_args_text(args, "frames"), &s->media, &w->ranges, err));
    SK_TRY(parse_formats(w->formats, s, err));
    SK_TRY(sk_cli_refuse_for_models(args, s->models, s->n_models, err));
    int32_t count = 0;
    SK_TRY(parse_classes(sk_args_text(args, "classes"), s->models[0], w->classes, 1024, &count, err));
    d->classes = count ? w->classes : NULL;
    d->n_classes = count;
    return SK_OK;
}

static uint32_t source_has(const char *source)
{
    const bool live = sk_uri_is_live(source);
    const bool address =
        live && strncasecmp(source, "http", 4) == 0; /* a file behind a server, or a stream */
    return (live ? SK_NEEDS_LIVE : 0) | (!live || address ? SK_NEEDS_FILE : 0) |
           (!sk_uri_is_pictures(source) ? SK_NEEDS_VIDEO : 0);
}

/* Options that this runtime or source has no use for. */
static sk_status refuse_meaningless(const sk_args *args, const sk_predict_settings *s, sk_error *err)
{
    SK_TRY(sk_cli_refuse_for_runtimes(args, &s->detector.runtime, 1, s->detector.provider, err));
    return sk_cli_refuse_meaningless(args, SK_NEEDS_OF_SOURCES, source_has(s->source), s->source, err);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_predict_settings s;
    sk_predict_defaults(&s);
    static sk_predict_report report;
    sk_runtime_choice choice;
    char engine[32];
    wishes own = {.formats = sk_strdup(sk_args_text(args, "format"))};
    watcher w = {0};
    sk_status status = SK_OK;
    if (!own.formats)
        return sk_fail_memory(err, 16);
    SK_TRY_GOTO(read_settings(args, &s, &own, err));
    s.detector.provider = sk_args_text(args, "execution-provider");
    s.detector.openvino_device = sk_args_text(args, "openvino-device");
    s.detector.precision = sk_args_text(args, "precision");
    s.detector.openvino_throughput = strcmp(sk_args_text(args, "openvino-hint"), "throughput") == 0;
    const sk_runtimes_wish wish = {sk_args_text(args, "runtime"), s.detector.provider,
                                   sk_args_flag(args, "allow-fallback") > 0};
    SK_TRY_GOTO(sk_runtimes_choose(s.models, s.n_models, &wish, &choice, engine, err));
    if (choice.fell_back)
        s.detector.provider = NULL; /* it went with the runtime */
    s.detector.runtime = engine;
    s.runtime_requested = choice.requested;
    s.runtime_fell_back = choice.fell_back;
    SK_TRY_GOTO(refuse_meaningless(args, &s, err));
    if (choice.notice[0])
        sk_cli_warn("%s", choice.notice);
    (void)sk_cli_interrupted(); /* from here on Ctrl-C ends the run in order */
    status = sk_predict_run(&s, watch, &w, &report, err);
    sk_progress_close(&w.progress);
    if (report.notice[0])
        sk_cli_warn("%s", report.notice);
    if (status == SK_OK && sk_args_flag(args, "json"))
        status = print_json(&report, choice.requested, err);
    else if (status == SK_OK && sk_cli_verbosity() > 0)
        print_summary(&report, choice.requested);
    if (status == SK_OK && report.stopped)
        status = sk_fail(
            err, SK_ERR_CANCELLED, "interrupted after %lld frames; everything up to there is written%s",
            (long long)report.total_frames, report.live ? "" : ", and the same command goes on from there");
    else if (status == SK_OK && report.missing > 0)
        status = sk_fail(
            err, SK_ERR_INCOMPLETE,
            "%s: cut off: %lld of the frames its header promises are not in the file. The %lld that are "
            "there are written, but the run is not finished. With the whole file, begin anew: --restart",
            s.source, (long long)report.missing, (long long)report.total_frames);
done:
    sk_progress_close(&w.progress);
    sk_free(own.formats);
    sk_free(own.ranges);
    return status;
}

const sk_command sk_command_predict = {
    .name = "predict",
    .group = "Finding animals",
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
