/* SPDX-License-Identifier: Apache-2.0 */
#include "app/finder_background.h"
#include "app/finder_detections.h"
#include "app/runtimes.h"
#include "app/track_background.h"
#include "app/track_detections.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/predict_door.h"
#include "cli/predict_options.h"
#include "cli/predict_print.h"
#include "cli/predict_session.h"
#include "cli/track_settings.h"

#include <stdio.h>

static const sk_operand operands[] = {SK_CLI_OPERAND_SOURCES(1), {0}};

static const sk_option options[] = {
    {.name = "model",
     .letter = 'm',
     .kind = SK_OPTION_FILE,
     .argument = "M",
     .repeat = 1,
     .help = "what finds the animals; a second one gives poses on crops of them, or is SLEAP's centered "
             "instance"},
    {.name = "out",
     .letter = 'o',
     .kind = SK_OPTION_FOLDER,
     .argument = "DIR",
     .help =
         "folder for the tracks, with one in it for each of several videos; without it runs/track1, the next "
         "free number; - writes jsonl (or --format csv) to standard output, online"},
    SK_CLI_OPTIONS_TRACK,
    {.name = "format",
     .letter = 'f',
     .kind = SK_OPTION_TEXT,
     .argument = "LIST",
     .fallback = "tracks,csv,jsonl",
     .help = "result files: tracks (a table to read), csv, jsonl, slp, analysis, coco, labels, labels-conf, "
             "mot, bags of ROS 2: mcap, db3, rosbag2, and hydra-suite's tables: final, raw"},
    SK_CLI_OPTIONS_OVERLAY,
    SK_CLI_OPTION_ENCODER,
    {.name = "no-empty",
     .kind = SK_OPTION_FLAG,
     .help = "leave frames without animals out of jsonl, slp and coco; the other formats list none"},
    SK_CLI_OPTIONS_RUNTIME,
    SK_CLI_OPTIONS_FOUND("0.1"),
    SK_CLI_OPTIONS_SOURCE,
    SK_CLI_OPTIONS_FOLDER,
    SK_CLI_OPTIONS_REST,
    {0}};

static const sk_example examples[] = {
    {"skitter track mice.mp4 -m yolo11n-obb.pt --animals 4 -o run1 --save-overlay",
     "four mice, always four identities, drawn in"},
    {"skitter track flies.mp4 -m centroid -m centered_instance -o run2 --format slp",
     "SLEAP top-down, tracks for SLEAP"},
    {"skitter track mice.mp4 -m yolo11n-obb.pt -o run3 --set gate=3 --roi 20,20,600,460",
     "other settings: what was found is not computed again"},
    {"skitter track --detections results.csv -o run4 --animals 4",
     "detections that are there already, of anybody"},
    {"skitter track arena.mp4 --detector background -o run5", "a still background and no model"},
    {"skitter track arena.mp4 --detector background -m pose.pt -o run6", "… and poses of what it shows"},
    {"skitter track day1/ -m model.pt -o all --config settings.json",
     "every video of a folder, one configuration"},
    {"skitter track rtsp://camera/1 -m model.pt -o - | jq .instances", "a camera, as a filter"},
    {0}};

#define POSES_FEW 20 /* animals: of fewer nothing is said about the model */

/* What a run is told of by. */
typedef struct shown {
    const sk_track_run *run;
    bool crops; /* a second model looks at crops */
} shown;

static void warn_of_poses(const sk_track_figures *f)
{
    if (f->found < POSES_FEW || 2 * f->poseless < f->found)
        return;
    sk_cli_warn(
        "%lld of %lld animals have no pose, or one that is a speck in their box: the pose model may have "
        "learnt from whole frames, and does not know crops. Give it alone, -m POSE, or follow the boxes "
        "first and show it crops of their own size: skitter track VIDEO --detections RUN -m POSE "
        "--crop-turned off --imgsz 160 (docs/track.md, crops for a pose model)",
        (long long)f->poseless, (long long)f->found);
}

static void print_figures(void *context, FILE *to)
{
    const shown *s = context;
    const sk_track_figures *f = sk_track_run_figures(s->run);
    fprintf(to, "%lld track%s, %lld sightings (%lld without a detection), tracked in %.2f s\n",
            (long long)f->tracks, f->tracks == 1 ? "" : "s", (long long)f->sightings, (long long)f->covered,
            f->seconds);
    if (f->found > 0 && f->tracks == 0)
        sk_cli_warn(
            "%lld animals were found, and none was followed: --roi, --config and --set min_score, min_area, "
            "max_area, birth_score or shortest may leave them out",
            (long long)f->found);
    if (s->crops)
        warn_of_poses(f);
}

static void put_figures(void *context, sk_json *json)
{
    const sk_track_figures *f = sk_track_run_figures(((const shown *)context)->run);
    sk_json_key_int(json, "tracks", f->tracks);
    sk_json_key_int(json, "sightings", f->sightings);
    sk_json_key_int(json, "covered", f->covered);
    sk_json_key_float(json, "tracking_seconds", f->seconds);
}

static bool watch_given(void *context, const sk_predict_progress *progress)
{
    (void)context;
    sk_run_events_progress(sk_cli_told(), progress);
    return sk_cli_interrupted();
}

static void show_given(const sk_args *args, const sk_predict_report *r, const sk_track_run *tracked, FILE *to)
{
    shown s = {tracked, false};
    if (sk_args_flag(args, "json")) {
        sk_json json = sk_json_to_file(stdout, 2);
        sk_json_object(&json);
        sk_json_key_int(&json, "frames", r->total_frames);
        sk_json_key_int(&json, "detections", r->instances);
        put_figures(&s, &json);
        sk_json_close(&json);
        (void)!sk_json_end(&json, NULL);
        return;
    }
    if (sk_cli_verbosity() == 0)
        return;
    print_figures(&s, to);
    if (r->nothing_to_do)
        fprintf(to, "This run had finished already: %lld frames, %lld detections. --restart does it again.\n",
                (long long)r->total_frames, (long long)r->instances);
    else
        fprintf(to, "%s%lld frames, %lld detections, %.2f s%s\n", r->stopped ? "Stopped: " : "",
                (long long)r->total_frames, (long long)r->instances, r->seconds,
                !r->cached               ? ""
                : r->cached == r->frames ? ", from the cache"
                                         : ", some of them from the cache");
    sk_cli_predict_source(to, &r->source);
    for (int32_t i = 0; i < r->n_files; i++)
        fprintf(to, "%s\n", r->files[i]);
}

static sk_status judge_given(const sk_args *args, const sk_predict_door *door, const sk_track_run *tracked,
                             const sk_predict_report *report, sk_error *err)
{
    show_given(args, report, tracked, door->settings.out ? stdout : stderr);
    const char *state = report->stopped ? "stopped" : report->missing > 0 ? "incomplete" : "finished";
    sk_run_events_result(sk_cli_told(), state, door->settings.out, report);
    if (report->missing > 0)
        return sk_cli_fail_cut_off(door->settings.source, report->missing, report->total_frames, err);
    if (!report->stopped)
        return SK_OK;
    return sk_fail(err, SK_ERR_CANCELLED,
                   "interrupted after %lld frames; the same command goes on from there",
                   (long long)report->total_frames);
}

/* --detections */
static sk_status run_detections(const sk_args *args, sk_predict_door *door, sk_track_run *tracked,
                                sk_predict_report *report, sk_error *err)
{
    if (sk_args_count(args, "source") > 1)
        return sk_fail(err, SK_ERR_ARG, "--detections are about one video, and %zu are named",
                       sk_args_count(args, "source"));
    door->settings.source = sk_args_text(args, "source");
    const sk_track_detections wish = {sk_args_text(args, "detections"), &door->settings, tracked};
    sk_run_events_begin(sk_cli_told(), wish.path, door->settings.out, 0, 1, NULL);
    SK_TRY(sk_track_detections_run(&wish, watch_given, NULL, report, err));
    return judge_given(args, door, tracked, report, err);
}

/* --detector background: one video after the other, each into a folder where there are several. */
static sk_status run_background(const sk_args *args, sk_predict_door *door, sk_track_run *tracked,
                                sk_predict_report *report, sk_error *err)
{
    const sk_source_list *list = &door->sources;
    const char *out = door->settings.out;
    size_t failed = 0, incomplete = 0;
    sk_status status = SK_OK;
    for (size_t i = 0; i < list->count && status == SK_OK; i++) {
        sk_error problem = {0};
        char *folder = out && list->many ? sk_path_join(out, list->items[i].name) : NULL;
        door->settings.source = list->items[i].source;
        door->settings.out = folder ? folder : out;
        const sk_track_background wish = {&door->settings, tracked};
        sk_run_events_begin(sk_cli_told(), door->settings.source, door->settings.out, i, list->count, NULL);
        if (!door->settings.source)
            status = sk_fail(err, SK_ERR_ARG, "a background needs a video, or a folder of its frames");
        else if (sk_track_background_run(&wish, watch_given, NULL, report, &problem) == SK_OK)
            status = judge_given(args, door, tracked, report, list->count == 1 ? err : &problem);
        else if (list->count == 1)
            status = sk_fail(err, problem.code, "%s", problem.message);
        else
            sk_cli_print_error(&problem);
        if (list->count > 1 && status == SK_ERR_INCOMPLETE) { /* the others may be whole */
            sk_cli_print_error(&problem);
            incomplete++;
            status = SK_OK;
        } else if (list->count > 1 && status != SK_OK) {
            status = sk_fail(err, problem.code, "%s", problem.message);
        } else {
            failed += problem.message[0] != 0;
        }
        sk_free(folder);
    }
    door->settings.out = out;
    if (status == SK_OK && failed)
        return sk_fail(err, SK_ERR_IO, "%zu of %zu videos failed", failed, list->count);
    if (status == SK_OK && incomplete)
        return sk_cli_fail_cut_off_some(incomplete, list->count, err);
    return status;
}

/* What no model finds. It is a run all the same: others see it, and the compute runtime stays as it is. */
static sk_status run_given(const sk_args *args, sk_predict_door *door, sk_track_run *tracked, sk_error *err)
{
    char notice[SK_RUNTIMES_NOTICE]; /* that there is no place for the lock matters to runs that compute */
    sk_run_lock *lock = NULL;
    SK_TRY(sk_runtimes_hold(door->settings.out ? door->settings.out : "standard output", &lock, notice, err));
    sk_predict_report *report = sk_calloc(1, sizeof *report);
    if (!report) {
        sk_run_lock_close(&lock);
        return sk_fail_memory(err, sizeof *report);
    }
    (void)sk_cli_interrupted(); /* from here on Ctrl-C ends the run in order */
    sk_status status = sk_cli_has_background(args) ? run_background(args, door, tracked, report, err)
                                                   : run_detections(args, door, tracked, report, err);
    sk_run_lock_close(&lock);
    sk_free(report);
    return status;
}

static sk_status run_many(const sk_args *args, const sk_predict_door *door, sk_track_run *tracked,
                          sk_error *err)
{
    shown s = {tracked, door->settings.finder || door->settings.n_models > 1};
    const bool tracks = !door->settings.find_only;
    const sk_predict_show show = {"track", tracks ? print_figures : NULL, tracks ? put_figures : NULL, &s};
    return sk_cli_predict_all(args, &door->settings, &door->sources, door->fresh, &show, err);
}

/* What finds in place of a model, where the one that is given looks at crops. */
typedef struct finders {
    sk_finder_background background;
    sk_finder_detections detections;
} finders;

static sk_status open_finder(const sk_args *args, const sk_track_wish *wish, finders *f,
                             sk_predict_settings *settings, sk_error *err)
{
    if (settings->n_models == 0)
        return SK_OK;
    if (sk_cli_has_background(args)) {
        SK_TRY(sk_finder_background_open(wish, &f->background, err));
        settings->finder = &f->background.finder;
    } else if (sk_cli_has_detections(args)) {
        SK_TRY(sk_finder_detections_open(sk_args_text(args, "detections"), wish->track.body, &f->detections,
                                         err));
        settings->finder = &f->detections.finder;
    }
    return SK_OK;
}

static sk_status run(const sk_args *written, sk_error *err)
{
    sk_predict_door door;
    sk_track_door track = {0};
    sk_track_run *tracked = NULL;
    finders found = {0};
    sk_track_config_run config = {0};
    sk_args *filled = NULL;
    sk_status status = sk_cli_track_config_args(written, &config, &filled, err);
    if (status != SK_OK) {
        sk_track_config_run_free(&config);
        return status;
    }
    const sk_args *args = filled ? filled : written;
    status = sk_cli_predict_open(args, "track", &door, err);
    track.base = config.base;
    if (status == SK_OK)
        status = sk_cli_track_settings(args, &track, err);
    if (status == SK_OK)
        status = sk_track_run_open(&track.wish, &tracked, err);
    if (status == SK_OK) {
        door.settings.more = sk_track_run_more(tracked);
        status = open_finder(args, &track.wish, &found, &door.settings, err);
    }
    if (status == SK_OK)
        status = door.settings.n_models == 0 ? run_given(args, &door, tracked, err)
                                             : run_many(args, &door, tracked, err);
    sk_finder_background_close(&found.background);
    sk_finder_detections_close(&found.detections);
    sk_track_run_close(&tracked);
    sk_cli_track_close(&track);
    sk_cli_predict_close(&door, status, err);
    sk_args_close(&filled);
    sk_track_config_run_free(&config);
    return status;
}

const sk_command sk_command_track = {
    .name = "track",
    .summary = "follow animals through video, each with its identity",
    .description =
        "Finds animals in every frame as predict does, and follows them: each keeps its number through the "
        "video. "
        "What was found is kept (--cache): tracking the same video again with other settings takes seconds. "
        "Ctrl-C finishes the frame and writes the tracks so far; the same command goes on where it stopped, "
        "also "
        "after a crash or kill.\n\n"
        "docs/track.md begins with a video and ends with a table; docs/results.md describes every format and "
        "column.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
