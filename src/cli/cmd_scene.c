/* SPDX-License-Identifier: Apache-2.0 */
#include "app/scene_run.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/shared_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sk_option options[] = {
    {SK_FILE("output", "FILE|FOLDER"), .letter = 'o', .help = "a video (.mp4), or with --pictures a folder"},
    {SK_FILE("truth", "FILE"), .repeat = 1,
     .help = "where the animals really are: .csv, and as MOTChallenge text .txt; without -o only this, and "
             "nothing is drawn. A folder of pictures always has truth.csv"},
    {SK_CHOICE("species", "KIND", "fish|fly|mouse|mixed"), .fallback = "fish", .help = "which animals"},
    {SK_INT("animals", "N", 1, SK_SCENE_MAX_ANIMALS), .fallback = "4",
     .help = "how many; of pictures: at most"},
    {SK_REAL("seconds", "S", 0.001, 86400), .fallback = "4", .help = "length of the video"},
    {SK_TEXT("size", "WxH"), .fallback = "640x480", .help = "width and height"},
    {SK_REAL("fps", "F", 1, 1000), .fallback = "30", .help = "frames a second"},
    {SK_INT("seed", "K", 0, 9007199254740992.0), .fallback = "1",
     .help = "another number, another scene; the same number, the same scene on every machine"},
    {SK_TEXT("behaviour", "LIST"), .also = "behavior", .fallback = "wander",
     .help = "what animals do, parted by commas: wander, follow, chase, huddle; all wander between"},
    {SK_INT("hides", "N", 0, SK_SCENE_MAX_HIDES), .fallback = "0",
     .help = "roofs that animals go under and stay, out of sight"},
    {SK_CHOICE("border", "KIND", "closed|open"), .fallback = "closed",
     .help = "open: animals leave over it, and others come; --animals is the most at a time"},
    {SK_INT("pictures", "N", 1, 10000000),
     .help = "N pictures with labels instead of a video, every one a scene of its own"},
    {SK_CHOICE("labels", "KIND", "pose|obb|box"), .fallback = "pose",
     .help = "what the pictures' label files hold"},
    {SK_CHOICE("picture-format", "KIND", "jpg|png"), .fallback = "jpg", .help = "of pictures"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter scene --species mouse --animals 3 -o mice.mp4 --truth mice.csv", "a video and its truth"},
    {"skitter scene --animals 150 --size 1280x960 --seconds 20 --truth fish.csv --truth fish.txt",
     "where 150 fish swim, without a video"},
    {"skitter scene --behaviour follow,huddle --hides 2 --border open -o hard.mp4 --truth h.csv",
     "what trackers fail at"},
    {"skitter scene --species mixed --animals 8 --pictures 5000 -o training/",
     "pictures and labels to train on"},
    {0}};

static sk_status read_size(const char *text, sk_scene_settings *scene, sk_error *err)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &scene->width, &scene->height, &rest) != 2)
        return sk_fail(err, SK_ERR_ARG, "--size %s: give width x height, such as 640x480", text);
    return SK_OK;
}

/* Once as CSV and once as MOTChallenge text. */
static sk_status read_truth(const sk_args *args, sk_scene_run_settings *s, sk_error *err)
{
    for (size_t i = 0; i < sk_args_count(args, "truth"); i++) {
        const char *path = sk_args_at(args, "truth", i);
        const bool mot = sk_path_has_extension(path, ".txt");
        if (!mot && !sk_path_has_extension(path, ".csv"))
            return sk_fail(err, SK_ERR_ARG,
                           "--truth %s: a truth's name ends in .csv, or in .txt for MOTChallenge's", path);
        const char **place = mot ? &s->mot : &s->truth;
        if (*place)
            return sk_fail(err, SK_ERR_ARG, "--truth: %s and %s hold the same; give one", *place, path);
        *place = path;
    }
    return SK_OK;
}

static sk_status read_settings(const sk_args *args, sk_scene_run_settings *s, sk_error *err)
{
    sk_scene_run_defaults(s);
    s->output = sk_args_text(args, "output");
    SK_TRY(read_truth(args, s, err));
    s->pictures = sk_args_int(args, "pictures");
    if (!s->output && s->pictures > 0)
        return sk_fail(err, SK_ERR_ARG, "nowhere to write pictures to\nname their folder: -o folder");
    if (!s->output && !s->truth && !s->mot)
        return sk_fail(err, SK_ERR_ARG,
                       "nowhere to write to\n-o scene.mp4, -o folder --pictures 100, or the truth alone: "
                       "--truth scene.csv");
    if (s->mot && s->pictures > 0)
        return sk_fail(err, SK_ERR_ARG,
                       "--truth %s: MOTChallenge's text follows animals through a video; pictures have none",
                       s->mot);
    const char *species = sk_args_text(args, "species"), *labels = sk_args_text(args, "labels");
    for (int i = 0; i <= SK_SPECIES_COUNT; i++)
        if (strcmp(species, sk_species_names[i]) == 0)
            s->scene.species = (sk_species)i;
    s->scene.animals = (int32_t)sk_args_int(args, "animals");
    s->scene.rate = sk_args_real(args, "fps");
    s->scene.seed = (uint64_t)sk_args_int(args, "seed");
    s->labels = strcmp(labels, "obb") == 0   ? SK_SCENE_LABELS_OBB
                : strcmp(labels, "box") == 0 ? SK_SCENE_LABELS_BOX
                                             : SK_SCENE_LABELS_POSE;
    s->extension = strcmp(sk_args_text(args, "picture-format"), "png") == 0 ? ".png" : ".jpg";
    SK_TRY(read_size(sk_args_text(args, "size"), &s->scene, err));
    SK_TRY(sk_scene_read_behaviour(sk_args_text(args, "behaviour"), &s->scene.behaviour, err));
    s->scene.hides = (int32_t)sk_args_int(args, "hides");
    s->scene.open_border = strcmp(sk_args_text(args, "border"), "open") == 0;
    s->frames = (int64_t)fmax(sk_args_real(args, "seconds") * s->scene.rate + 0.5, 1);
    if (s->output && s->pictures == 0 && !sk_path_has_extension(s->output, ".mp4"))
        return sk_fail(err, SK_ERR_ARG,
                       "%s: a video's name ends in .mp4\nfor a folder of pictures add --pictures N",
                       s->output);
    if (s->pictures > 0 && sk_path_has_extension(s->output, ".mp4"))
        return sk_fail(err, SK_ERR_ARG, "%s: --pictures makes a folder; give its name", s->output);
    if (s->pictures == 0 && (sk_args_given(args, "labels") || sk_args_given(args, "picture-format")))
        return sk_fail(err, SK_ERR_ARG, "--labels and --picture-format are for pictures\nadd --pictures N");
    return SK_OK;
}

static bool watch(void *context, int64_t done, int64_t total)
{
    (void)total;
    sk_progress_update(context, done, NULL);
    return sk_cli_interrupted();
}

static sk_status print_report(const sk_args *args, const sk_scene_run_settings *s, const sk_scene_report *r,
                              sk_error *err)
{
    if (sk_args_flag(args, "json")) {
        sk_json j = sk_json_to_file(stdout, 2);
        sk_json_object(&j);
        sk_json_key_string(&j, "output", s->output);
        sk_json_key_string(&j, "truth", s->truth);
        if (s->mot)
            sk_json_key_string(&j, "mot", s->mot);
        sk_json_key_int(&j, "frames", r->frames);
        sk_json_key_int(&j, "instances", r->instances);
        sk_json_key_float(&j, "seconds", r->seconds);
        sk_json_close(&j);
        return sk_json_end(&j, err);
    }
    if (sk_cli_verbosity() > 0)
        printf("%s: %lld %s, %lld animals in all, seed %llu, %.1f s\n",
               s->output  ? s->output
               : s->truth ? s->truth
                          : s->mot,
               (long long)r->frames, s->pictures > 0 ? "pictures" : "frames", (long long)r->instances,
               (unsigned long long)s->scene.seed, r->seconds);
    return SK_OK;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_scene_run_settings s;
    sk_scene_report report = {0};
    SK_TRY(read_settings(args, &s, err));
    sk_progress *progress = NULL;
    sk_progress_settings p = sk_progress_defaults();
    p.stream = stderr;
    p.mode = sk_cli_verbosity() == 0 ? SK_PROGRESS_NONE : SK_PROGRESS_AUTO;
    p.label = "scene";
    p.unit = s.pictures > 0 ? "pictures" : "frames";
    p.total = s.pictures > 0 ? s.pictures : s.frames;
    SK_TRY(sk_progress_open(&p, &progress, err));
    (void)sk_cli_interrupted(); /* from here on Ctrl-C ends the run in order */
    sk_status status = sk_scene_run(&s, watch, progress, &report, err);
    sk_progress_close(&progress);
    SK_TRY(status);
    SK_TRY(print_report(args, &s, &report, err));
    if (report.stopped)
        return sk_fail(err, SK_ERR_CANCELLED, "interrupted after %lld %s", (long long)report.frames, p.unit);
    return SK_OK;
}

const sk_command sk_command_scene = {
    .name = "scene",
    .summary = "make a video or training pictures of made-up animals, with the exact truth",
    .description =
        "Draws fish, flies or mice from above that move, turn, cross and cover each other, in "
        "changing light, with "
        "shadows, blur and noise. The truth names every animal's box, oriented box, keypoints and "
        "identity in every "
        "frame. --behaviour, --hides and --border open make identities hard to keep, for measuring "
        "trackers.\n\nWith --pictures every picture is a scene of its own: images/, labels/ in "
        "Ultralytics' form, "
        "data.yaml and truth.csv in one folder.",
    .options = options,
    .examples = examples,
    .run = run,
};
