/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo.h"
#include "app/runtimes.h"
#include "base/json_write.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/shared_options.h"

#include <stdio.h>
#include <string.h>

static const sk_option options[] = {
    {SK_FOLDER("out", "DIR"), .letter = 'o', .fallback = "skitter-demo",
     .help = "folder for everything the demo makes"},
    {SK_CHOICE("species", "KIND", "fish|fly|mouse|mixed"), .fallback = "mixed", .help = "which animals"},
    {SK_INT("animals", "N", 1, SK_SCENE_MAX_ANIMALS), .fallback = "7", .help = "how many"},
    {SK_REAL("seconds", "S", 0.001, 3600), .fallback = "4",
     .help = "length of the scene, at 30 frames a second"},
    {SK_INT("seed", "K", 0, 999999999), .fallback = "0",
     .help = "another number, another scene; all of them lie beyond what the models were trained on"},
    {SK_TEXT("behaviour", "LIST"), .also = "behavior", .fallback = "wander",
     .help = "harder to follow: follow, chase, huddle, parted by commas, as for 'skitter scene'"},
    SK_CLI_OPTION_RUNTIME,
    SK_CLI_OPTION_FALLBACK,
    {SK_FLAG("pictures"),
     .help = "the scene as pictures instead of a video; so also where FFmpeg's libraries are absent"},
    {SK_FLAG("compare"), .help = "every runtime that works here, side by side"},
    SK_CLI_OPTION_THREADS,
    {SK_FOLDER("models", "DIR"),
     .help = "folder with demo-obb.pt and demo-pose.pt; without it SKITTER_MODELS or those that come with "
             "skitter"},
    {SK_FLAG("restart"), .help = "begin anew in a folder that holds a demo already"},
    {SK_FLAG("json"), .help = "everything measured, as one JSON object on standard output"},
    {0}};

static const sk_example examples[] = {
    {"skitter demo", "a scene of seven animals, followed, measured and drawn, in the folder skitter-demo"},
    {"skitter demo --species mouse --animals 3 --seconds 10 --out mice", "other animals, longer"},
    {"skitter demo --behaviour chase,follow --seconds 20 --out hard", "animals that are harder to follow"},
    {"skitter demo --compare --restart",
     "every runtime of this machine, with the agreement of their detections"},
    {0}};

static sk_status read_settings(const sk_args *args, sk_demo_settings *s, sk_error *err)
{
    sk_demo_defaults(s);
    s->out = sk_args_text(args, "out");
    s->program = sk_cli_program();
    s->models = sk_args_text(args, "models");
    s->seconds = sk_args_real(args, "seconds");
    s->scene.animals = (int32_t)sk_args_int(args, "animals");
    s->scene.seed = SK_DEMO_FIRST_SEED + (uint64_t)sk_args_int(args, "seed");
    s->threads = (int32_t)sk_args_int(args, "threads");
    s->pictures = sk_args_flag(args, "pictures");
    s->compare = sk_args_flag(args, "compare");
    s->restart = sk_args_flag(args, "restart");
    for (int i = 0; i <= SK_SPECIES_COUNT; i++)
        if (strcmp(sk_args_text(args, "species"), sk_species_names[i]) == 0)
            s->scene.species = (sk_species)i;
    return sk_scene_read_behaviour(sk_args_text(args, "behaviour"), &s->scene.behaviour, err);
}

typedef struct watcher {
    sk_progress *progress;
    char what[64];
} watcher;

/* One bar after another: the scene, then each part. */
static bool watch(void *context, const char *what, int64_t done, int64_t total, double seconds)
{
    watcher *w = context;
    if (!w->progress || strcmp(w->what, what) != 0) {
        sk_progress_close(&w->progress);
        sk_progress_settings p = sk_progress_defaults();
        p.stream = stderr;
        p.mode = sk_cli_verbosity() == 0 ? SK_PROGRESS_NONE : SK_PROGRESS_AUTO;
        p.label = what;
        p.unit = "frames";
        p.total = total > 0 ? total : 0;
        snprintf(w->what, sizeof w->what, "%s", what);
        if (sk_progress_open(&p, &w->progress, NULL) != SK_OK)
            w->progress = NULL; /* no bar, but the demo goes on */
    }
    if (w->progress) {
        sk_progress_update(w->progress, done, NULL);
        sk_progress_set_seconds(w->progress, seconds);
    }
    return sk_cli_interrupted();
}

static sk_status print_json(const sk_demo_settings *s, const sk_demo_report *report, sk_error *err)
{
    sk_json json = sk_json_to_file(stdout, 2);
    sk_demo_to_json(s, report, &json);
    return sk_json_end(&json, err);
}

static sk_status print(const sk_args *args, const sk_demo_settings *s, const sk_demo_report *report,
                       sk_error *err)
{
    if (report->stopped)
        return sk_fail(err, SK_ERR_CANCELLED, "interrupted; the same command goes on from here");
    if (sk_args_flag(args, "json"))
        return print_json(s, report, err);
    if (report->nothing_to_do)
        sk_cli_say(
            "This demo had finished already in %s; what it said then follows. --restart does it again.",
            s->out);
    else if (report->continued)
        sk_cli_say("This demo had been interrupted and was continued.");
    fputs(sk_text_get(&report->summary), stdout);
    return SK_OK;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_demo_settings s;
    sk_runtime_choice choice;
    char engine[32];
    watcher w = {0};
    sk_demo_report *report = NULL;
    SK_TRY(read_settings(args, &s, err));
    const sk_runtimes_wish wish = {.runtime = sk_args_text(args, "runtime"),
                                   .allow_fallback = sk_args_flag(args, "allow-fallback") > 0};
    SK_TRY(sk_runtimes_choose(NULL, 0, &wish, &choice, engine, err));
    s.runtime = engine;
    s.runtime_requested = choice.requested;
    s.runtime_fell_back = choice.fell_back;
    if (choice.notice[0])
        sk_cli_warn("%s", choice.notice);
    (void)sk_cli_interrupted(); /* from here on Ctrl-C ends the demo in order */
    sk_status status = sk_demo_run(&s, watch, &w, &report, err);
    sk_progress_close(&w.progress);
    if (status == SK_OK)
        status = print(args, &s, report, err);
    sk_demo_free(&report);
    return status;
}

const sk_command sk_command_demo = {
    .name = "demo",
    .summary = "see skitter at work on a scene and with models of its own",
    .description =
        "Draws a scene its models never saw, finds boxes and poses in it as 'skitter predict' does, follows "
        "the "
        "animals as 'skitter track' does, measures all of it against the scene's truth, and writes tables, a "
        ".slp, videos with the results drawn in and report.html into one folder.\n\nInterrupted, the same "
        "command goes on where it stopped. A folder that holds another demo is refused; --restart replaces "
        "it.",
    .options = options,
    .examples = examples,
    .run = run,
};
