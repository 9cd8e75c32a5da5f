/* SPDX-License-Identifier: Apache-2.0 */
#include "app/correct.h"
#include "app/run_view_json.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/predict_options.h"
#include "media/overlay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sk_operand operands[] = {
    {.name = "run", .kind = SK_OPTION_FOLDER, .help = "the folder of a run: the --out of skitter track"},
    {0}};

static const sk_option options[] = {
    {SK_TEXT("swap", "A,B@F"), .repeat = 1,
     .help = "tracks A and B are swapped from frame F on; A,B@F-G: in frames F to G"},
    {SK_TEXT("delete", "T"), .repeat = 1,
     .help = "track T is no animal; T@F: from frame F on, T@F-G: in frames F to G"},
    {SK_TEXT("merge", "A,B"), .repeat = 1, .help = "track B is A"},
    {SK_INT("prefer", "T", 0, 16777216),
     .help = "with --merge: in frames that have both, track T stays and the other one's sighting goes"},
    {SK_TEXT("rename", "T=NAME"), .repeat = 1, .help = "track T has a name; T= takes it away"},
    {SK_INT("undo", "N", 1, 65536), .help = "take back the last N corrections, before anything else"},
    {SK_INT("redo", "N", 1, 65536), .help = "do the last N that were undone again"},
    {SK_FOLDER("out", "DIR"), .letter = 'o', .help = "write a corrected copy of the run there"},
    {SK_TEXT("format", "LIST"), .letter = 'f',
     .help = "of the copy: as of skitter track; without it those of which the run has files"},
    {SK_FLAG("no-report"), .help = "the copy has no report.html"},
    SK_CLI_OPTIONS_OVERLAY,
    {SK_FLAG("restart"), .help = "begin the copy anew where one was begun before"},
    {SK_FLAG("overwrite"), .help = "replace files in the copy's folder that no run of skitter wrote"},
    {SK_FLAG("json"),
     .help = "one JSON object on standard output: the run, its tracks, moments and corrections"},
    {0}};

static const sk_example examples[] = {
    {"skitter correct run1", "its tracks, moments that deserve a look, and corrections so far"},
    {"skitter correct run1 --swap 3,5@1200 --delete 7 --merge 2,9", "three corrections, kept in run1"},
    {"skitter correct run1 --undo 1", "the last of them did not hold"},
    {"skitter correct run1 -o run1_corrected --save-overlay",
     "all files as corrected, in a folder of their own"},
    {0}};

/* --- what the person wrote --- */

static bool number(const char **at, int64_t most, int64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out <= most;
}

/* "", "@F" or "@F-G" */
static bool frames(const char *at, sk_correction *c)
{
    if (!*at)
        return true;
    if (*at++ != '@' || !number(&at, INT64_MAX - 1, &c->from))
        return false;
    if (*at == '-') {
        at++;
        if (!number(&at, INT64_MAX - 1, &c->to))
            return false;
    }
    return !*at;
}

static bool read_one(const char *text, sk_correction *c)
{
    int64_t a = 0, b = -1;
    const char *at = text;
    const bool pair = c->kind == SK_CORRECTION_SWAP || c->kind == SK_CORRECTION_MERGE;
    if (!number(&at, INT32_MAX, &a) || (pair && (*at++ != ',' || !number(&at, INT32_MAX, &b))))
        return false;
    c->a = (int32_t)a;
    c->b = (int32_t)b;
    if (c->kind == SK_CORRECTION_RENAME) {
        if (*at++ != '=' || strlen(at) >= sizeof c->name)
            return false;
        snprintf(c->name, sizeof c->name, "%s", at);
        return true;
    }
    if (c->kind == SK_CORRECTION_MERGE)
        return !*at;
    return frames(at, c) && (c->kind != SK_CORRECTION_SWAP || strchr(text, '@'));
}

static sk_status take_all(const sk_args *args, sk_run_view *view, const char *option, sk_correction_kind kind,
                          sk_error *err)
{
    for (size_t i = 0; i < sk_args_count(args, option); i++) {
        const char *text = sk_args_at(args, option, i);
        sk_correction c = {.kind = kind, .to = -1, .prefer = -1};
        if (!read_one(text, &c))
            return sk_fail(err, SK_ERR_ARG,
                           "--%s %s: cannot be understood\nskitter correct --help shows its form", option,
                           text);
        if (kind == SK_CORRECTION_MERGE && sk_args_given(args, "prefer"))
            c.prefer = (int32_t)sk_args_int(args, "prefer");
        SK_TRY(sk_correct_step(view, SK_STEP_ADD, &c, err));
    }
    return SK_OK;
}

static sk_status take_steps(const sk_args *args, sk_run_view *view, sk_error *err)
{
    if (sk_args_given(args, "prefer") && !sk_args_count(args, "merge"))
        return sk_fail(err, SK_ERR_ARG,
                       "--prefer says which track stays where --merge finds both: give --merge, too");
    const int64_t undo = sk_args_int(args, "undo"), redo = sk_args_int(args, "redo");
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    if (undo > (int64_t)info.corrections->count && info.corrections->count)
        return sk_fail(err, SK_ERR_ARG, "--undo %lld: there %s %zu correction%s to undo", (long long)undo,
                       info.corrections->count == 1 ? "is" : "are", info.corrections->count,
                       info.corrections->count == 1 ? "" : "s");
    if (redo > undo + (int64_t)info.corrections->undone && redo > 1)
        return sk_fail(err, SK_ERR_ARG, "--redo %lld: %lld were undone", (long long)redo,
                       (long long)(undo + (int64_t)info.corrections->undone));
    for (int64_t i = undo; i > 0; i--)
        SK_TRY(sk_correct_step(view, SK_STEP_UNDO, NULL, err));
    for (int64_t i = redo; i > 0; i--)
        SK_TRY(sk_correct_step(view, SK_STEP_REDO, NULL, err));
    SK_TRY(take_all(args, view, "swap", SK_CORRECTION_SWAP, err));
    SK_TRY(take_all(args, view, "delete", SK_CORRECTION_DELETE, err));
    SK_TRY(take_all(args, view, "merge", SK_CORRECTION_MERGE, err));
    return take_all(args, view, "rename", SK_CORRECTION_RENAME, err);
}

/* --- showing --- */

static void print_tracks(const sk_movement *m, const sk_corrections *list)
{
    printf("%-8s %9s %9s %9s %6s %12s %10s  %s\n", "track", "first", "last", "seen", "gaps", "way (px)",
           "speed", "name");
    for (size_t i = 0; i < m->n_tracks; i++) {
        const sk_movement_track *t = &m->tracks[i];
        const char *name = sk_corrections_name(list, t->track);
        printf("%-8d %9lld %9lld %9lld %6lld %12.0f %10.1f  %s\n", t->track, (long long)t->first,
               (long long)t->last, (long long)t->seen, (long long)t->gaps, t->distance,
               t->seconds > 0 ? t->distance / t->seconds : 0, name ? name : "");
    }
}

static void print_moments(const sk_suspects *s)
{
    char words[160];
    const int32_t most = sk_cli_verbosity() > 1 ? INT32_MAX : 10;
    if (!s->n_worst)
        return;
    printf("\n%lld moment%s that deserve%s a look%s:\n", (long long)s->count, s->count == 1 ? "" : "s",
           s->count == 1 ? "s" : "",
           s->count > most || s->count > s->n_worst ? ", the most doubtful first" : "");
    for (int32_t i = 0; i < s->n_worst && i < most; i++) {
        const sk_suspect *one = &s->worst[i];
        char who[32];
        snprintf(who, sizeof who, one->b < 0 ? "%d" : "%d and %d", one->a, one->b);
        printf("frame %-9lld %-14s %s\n", (long long)one->frame, who,
               sk_suspect_words(one, words, sizeof words));
    }
}

static void print_corrections(const sk_corrections *list)
{
    sk_text words = {0};
    printf("\n%zu correction%s%s\n", list->count, list->count == 1 ? "" : "s", list->count ? ":" : "");
    for (size_t i = 0; i < list->count + list->undone; i++) {
        sk_text_clear(&words);
        sk_correction_describe(&list->items[i], &words);
        printf("%3zu  %s%s\n", i + 1, sk_text_get(&words), i < list->count ? "" : " (undone)");
    }
    sk_text_free(&words);
}

static sk_status show(sk_run_view *view, sk_error *err)
{
    const sk_movement *m;
    const sk_suspects *s;
    sk_run_view_info info;
    SK_TRY(sk_run_view_movement(view, &m, &s, err));
    sk_run_view_get_info(view, &info);
    printf("%s: %s, %lld frames, %zu track%s\n", info.folder, info.state, (long long)info.frames, m->n_tracks,
           m->n_tracks == 1 ? "" : "s");
    if (!info.tracked) {
        printf(
            "%s\n",
            !info.header->tracked ? "made by 'skitter predict', which follows nobody"
            : strcmp(info.state, "finished") == 0
                ? "its tracks cannot be read here: there is no results.jsonl. The same 'skitter track', with "
                  "jsonl among its --format, writes it, and computes nothing again"
                : "its tracks are made once all frames are there");
        return SK_OK;
    }
    print_tracks(m, info.corrections);
    print_moments(s);
    print_corrections(info.corrections);
    if (info.notice[0])
        sk_cli_warn("%s", info.notice);
    return SK_OK;
}

static sk_status show_json(sk_run_view *view, const sk_predict_report *saved, const char *out, sk_error *err)
{
    sk_json json = sk_json_to_file(stdout, 2);
    sk_json_object(&json);
    sk_json_key(&json, "run");
    sk_run_view_json_info(view, sk_file_exists(sk_run_view_source(view)), &json);
    sk_json_key(&json, "tracks");
    SK_TRY(sk_run_view_json_tracks(view, &json, err));
    sk_json_key(&json, "suspects");
    SK_TRY(sk_run_view_json_suspects(view, &json, err));
    if (out) {
        sk_json_key_object(&json, "saved");
        sk_json_key_string(&json, "folder", out);
        sk_json_key_string(&json, "notice", saved->notice);
        sk_json_key_array(&json, "files");
        for (int32_t i = 0; i < saved->n_files; i++)
            sk_json_string(&json, saved->files[i]);
        sk_json_close(&json);
        sk_json_close(&json);
    }
    sk_json_close(&json);
    return sk_json_end(&json, err);
}

/* --- saving --- */

static bool watch(void *context, const sk_predict_progress *progress)
{
    sk_progress_update(context, progress->done, NULL);
    return sk_cli_interrupted();
}

static sk_status read_formats(const char *text, char *words, sk_correct_save *how, sk_error *err)
{
    char *rest = NULL;
    for (char *one = strtok_r(words, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (how->n_formats == SK_PREDICT_MAX_FORMATS)
            return sk_fail(err, SK_ERR_ARG, "--format %s: at most %d formats", text, SK_PREDICT_MAX_FORMATS);
        how->formats[how->n_formats++] = one;
    }
    return SK_OK;
}

static sk_status save(const sk_args *args, sk_run_view *view, sk_predict_report *report, sk_error *err)
{
    const char *list = sk_args_text(args, "format");
    char *words = sk_strdup(list ? list : "");
    sk_correct_save how = {.out = sk_args_text(args, "out"),
                           .report = !sk_args_flag(args, "no-report"),
                           .overlay = sk_args_flag(args, "save-overlay"),
                           .draw = SK_DRAW_ALL,
                           .line_width = (float)sk_args_real(args, "line-width"),
                           .restart = sk_args_flag(args, "restart"),
                           .overwrite = sk_args_flag(args, "overwrite"),
                           .watch = watch};
    sk_progress *progress = NULL;
    sk_progress_settings p = sk_progress_defaults();
    sk_run_view_info info;
    sk_run_view_get_info(view, &info);
    p.stream = stderr;
    p.mode = sk_cli_verbosity() == 0 ? SK_PROGRESS_NONE : SK_PROGRESS_AUTO;
    p.label = "saving";
    p.unit = "frames";
    p.total = info.frames;
    sk_status status = words ? read_formats(list, words, &how, err) : sk_fail_memory(err, 1);
    if (status == SK_OK && sk_args_text(args, "draw"))
        status = sk_overlay_parse_what(sk_args_text(args, "draw"), &how.draw, err);
    if (status == SK_OK)
        status = sk_progress_open(&p, &progress, err);
    (void)sk_cli_interrupted();
    how.context = progress;
    if (status == SK_OK)
        status = sk_correct_save_run(view, &how, report, err);
    sk_progress_close(&progress);
    sk_free(words);
    if (status == SK_OK && report->stopped)
        status = sk_fail(err, SK_ERR_CANCELLED, "interrupted; the same command goes on from there");
    return status;
}

/* After steps the table is a remark; alone it is what was asked for. */
static bool is_shown(const sk_args *args)
{
    static const char *const steps[] = {"swap", "delete", "merge", "rename", "undo", "redo", "out"};
    bool any = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        any = any || sk_args_given(args, steps[i]);
    return !sk_args_given(args, "out") && (!any || sk_cli_verbosity() > 0);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_run_view *view = NULL;
    const char *out = sk_args_text(args, "out");
    sk_predict_report *report = sk_calloc(1, sizeof *report);
    sk_status status = report ? SK_OK : sk_fail_memory(err, sizeof *report);
    if (status == SK_OK && !out && (sk_args_given(args, "format") || sk_args_flag(args, "save-overlay")))
        status = sk_fail(err, SK_ERR_ARG,
                         "--format and --save-overlay are of the corrected copy\nname its folder "
                         "with --out DIR");
    if (status == SK_OK)
        status = sk_run_view_open(sk_args_text(args, "run"), &view, err);
    if (status == SK_OK)
        status = take_steps(args, view, err);
    if (status == SK_OK && out)
        status = save(args, view, report, err);
    if (status == SK_OK && out && report->notice[0])
        sk_cli_warn("%s", report->notice);
    if (status == SK_OK)
        status = sk_args_flag(args, "json") ? show_json(view, report, out, err)
                 : is_shown(args)           ? show(view, err)
                                            : SK_OK;
    if (status == SK_OK && out && !sk_args_flag(args, "json") && sk_cli_verbosity() > 0) {
        printf("corrected copy, %lld frames:\n", (long long)report->total_frames);
        for (int32_t i = 0; i < report->n_files; i++)
            printf("  %s\n", report->files[i]);
    }
    sk_run_view_close(&view);
    sk_free(report);
    return status;
}

const sk_command sk_command_correct = {
    .name = "correct",
    .summary = "mend a run's tracks: swap, delete, merge or name them, undo, save a copy",
    .description =
        "Corrections are kept in the run's folder, in corrections.jsonl, which is only ever added to; the "
        "run's own files are never changed. Each correction speaks of tracks as they are called after those "
        "before it; of one call they are taken in the order undo, redo, swap, delete, merge, rename.\n\n"
        "Without a correction it shows the run's tracks, moments at which two animals may have been mixed "
        "up, "
        "and the corrections that hold.\n\n"
        "With --out a corrected copy of the run is written, as a run's folder of its own: every file that "
        "the "
        "run has, made anew with the corrected tracks. docs/corrections.md says more.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
