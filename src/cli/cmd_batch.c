/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_slurm.h"
#include "app/batch_work.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/batch_args.h"
#include "cli/batch_table.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/predict_options.h"
#include "cli/track_settings.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sk_operand operands[] = {{.name = "what",
                                       .kind = SK_OPTION_FILE,
                                       .optional = 1,
                                       .repeat = 1,
                                       .help = "a plan (YAML), to run it; or status, merge, cancel or work, "
                                               "and the folder of the results or a plan"},
                                      {0}};

static const sk_option options[] = {
    {SK_FILE("videos", "WHICH"), .repeat = 1, .help = "videos, folders or 'patterns' of them, a list.txt"},
    {SK_CHOICE("command", "WHICH", "track|predict"), .fallback = "track", .help = "what is done with each"},
    {SK_FOLDER("out", "DIR"), .letter = 'o', .help = "folder for the results, one in it for each video"},
    {SK_INT("workers", "N", 0, 512), .letter = 'w', .fallback = "0",
     .help = "pieces at once, each a process; 0: one for each of --devices, or one. With --slurm at most so "
             "many tasks "
             "at a time; 0: as many as SLURM runs"},
    {SK_INT("split", "FRAMES", 0, 1000000000), .fallback = "0",
     .help = "videos longer than this are found in parts of so many frames, and told as one; 0: videos stay "
             "whole"},
    {SK_INT("retries", "N", 0, 100), .fallback = "2", .help = "how often a piece that failed is tried again"},
    {SK_INT("losses", "N", 0, 1000), .fallback = "20",
     .help = "how often one that was preempted, stopped or lost its machine is"},
    {SK_FLAG("slurm"), .help = "as an array of SLURM tasks, looked after until all are done"},
    {SK_TEXT("partition", "NAME"), .help = "SLURM: --partition"},
    {SK_TEXT("time", "LIMIT"), .help = "SLURM: --time of a task, such as 02:00:00"},
    {SK_TEXT("gpus", "N"), .help = "SLURM: GPUs of a task, --gres=gpu:N; also a100:1"},
    {SK_TEXT("memory", "SIZE"), .help = "SLURM: --mem of a task, such as 8G"},
    {SK_TEXT("cpus", "N"), .help = "SLURM: --cpus-per-task"},
    {SK_TEXT("module", "NAME"), .repeat = 1,
     .help = "SLURM: a module to load first, or a line of shell (with a blank in it)"},
    {SK_TEXT("sbatch", "OPTION"), .repeat = 1,
     .help = "SLURM: one more option of sbatch, such as --account=lab"},
    {SK_INT("pieces-per-task", "N", 0, 10000000), .fallback = "0",
     .help = "SLURM: pieces that one task does, one after the other; 0: one, or as many as the longest array "
             "needs"},
    {SK_FLAG("detach"), .help = "SLURM: hand over and return; a job behind the others merges and sums up"},
    {SK_FLAG("dry-run"), .help = "list pieces and their commands, and do nothing"},
    {SK_FLAG("prepare"), .help = "write the list of pieces, and run none: for 'skitter batch work --pieces'"},
    {SK_FLAG("restart"), .help = "remove what a batch left in the folder, results too, and begin anew"},
    {SK_FLAG("watch"), .help = "status: until all is done, drawn anew"},
    {SK_FLAG("json"), .help = "status as one JSON object on standard output"},
    {SK_TEXT("pieces", "LIST"), .help = "work: these pieces, by number: 0-9,12"},
    {SK_INT("submission", "N", 1, 100000),
     .help = "work: those of this SLURM task; for the script that skitter writes"},
    {SK_FILE("model", "M"), .letter = 'm', .repeat = 1,
     .help = "what finds the animals; a second one looks at crops"},
    SK_CLI_OPTIONS_TRACK,
    {SK_TEXT("format", "LIST"), .letter = 'f', .help = "result files, as of the command"},
    SK_CLI_OPTIONS_OVERLAY,
    {SK_FLAG("save-crops"), .help = "predict: also a picture of every instance"},
    {SK_FLAG("no-empty"), .help = "leave frames without animals out of jsonl, slp and coco"},
    SK_CLI_OPTIONS_RUNTIME,
    SK_CLI_OPTIONS_FOUND(NULL),
    SK_CLI_OPTIONS_SOURCE,
    {SK_FLAG("strict"), .help = "a picture that cannot be read ends its piece"},
    {SK_CHOICE("obb-form", "FORM", "long-side|quarter"), .needs = SK_NEEDS_OBB,
     .help = "oriented boxes: w >= h and an angle below 180 degrees, or an angle below 90"},
    {SK_FLAG("no-winograd"), .needs = SK_NEEDS_CPU, .help = "cpu: direct convolutions only"},
    {0}};

static const sk_example examples[] = {
    {"skitter batch plan.yaml", "a list of videos and one configuration, here"},
    {"skitter batch --videos 'data/*.mp4' -m model.pt --animals 4 -o results --workers 2",
     "the same without a plan"},
    {"skitter batch plan.yaml --slurm --partition gpu --gpus 1 --time 02:00:00", "on a cluster"},
    {"skitter batch status results --watch", "how far it is"},
    {"skitter batch cancel results", "stops it, wherever it runs; the same command goes on"},
    {0}};

/* --- what is shown --- */

typedef struct shown {
    sk_batch *batch;
    sk_batch_watcher *watcher;
    sk_cli_batch_screen screen;
    sk_claim *keeper; /* null: somebody else looks after the batch */
    int64_t beat_ns;
} shown;

/* Asked all the time: also gives the keeper's sign of life. */
static bool interrupted(void *context)
{
    shown *s = context;
    const int64_t now = sk_clock_ns();
    if (s->keeper && now - s->beat_ns > SK_CLAIM_BEAT * (int64_t)1000000000) {
        s->beat_ns = now;
        sk_claim_beat(s->keeper);
    }
    return sk_cli_interrupted();
}

static void note(void *context, const char *text)
{
    shown *s = context;
    if (s)
        sk_cli_batch_wipe(&s->screen);
    sk_cli_say("%s", text);
}

static void draw(void *context)
{
    shown *s = context;
    const sk_batch_status *status = NULL;
    if (sk_cli_verbosity() > 0 && sk_batch_watch_look(s->watcher, &status, NULL) == SK_OK)
        sk_cli_batch_draw(&s->screen, s->batch, status);
}

static void draw_status(void *context, const sk_batch_status *status)
{
    shown *s = context;
    sk_cli_batch_draw(&s->screen, s->batch, status);
}

static void tell_end(void *context, const sk_batch_piece *piece, const sk_batch_done *end)
{
    shown *s = context;
    if (end->outcome == SK_BATCH_FINISHED)
        return;
    sk_cli_batch_wipe(&s->screen);
    sk_cli_say("%s%s%s: %s, attempt %d: %s", piece->source, piece->frames[0] ? " " : "", piece->frames,
               sk_batch_outcome_name(end->outcome), end->attempt, end->reason);
}

/* --- the end --- */

static sk_status judge(sk_batch *b, bool stopped, bool json, sk_error *err)
{
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    sk_status status = sk_batch_summary(b, err);
    if (status == SK_OK)
        status = sk_batch_watch_open(b, &watcher, err);
    if (status == SK_OK)
        status = sk_batch_watch_look(watcher, &s, err);
    if (status == SK_OK && json) {
        sk_json out = sk_json_to_file(stdout, 2);
        sk_batch_status_json(b, s, &out);
        status = sk_json_end(&out, err);
    } else if (status == SK_OK && sk_cli_verbosity() > 0) {
        sk_cli_batch_table(stdout, b, s, 20);
        printf("%s/summary.html\n%s/summary.csv\n", b->out, b->out);
    }
    if (status == SK_OK && s->videos_done < s->videos) {
        if (stopped || sk_batch_is_cancelled(b))
            status = sk_fail(err, SK_ERR_CANCELLED,
                             "stopped with %lld of %lld videos done; the same command goes on",
                             (long long)s->videos_done, (long long)s->videos);
        else
            status = sk_fail(
                err, SK_ERR_IO,
                "%lld of %lld videos are not done\n'skitter batch status %s' says why; the same command "
                "tries them again",
                (long long)(s->videos - s->videos_done), (long long)s->videos, b->out);
    } else if (status == SK_OK && s->videos_incomplete > 0) {
        status =
            sk_fail(err, SK_ERR_INCOMPLETE, "%lld of %lld videos are cut off: what there is of them is done",
                    (long long)s->videos_incomplete, (long long)s->videos);
    }
    sk_batch_watch_close(&watcher);
    return status;
}

/* --- running --- */

/* One process looks after a batch: two would only be in each other's way. `claim` null: nobody may be at it. */
static sk_status hold(const sk_batch *b, sk_claim *claim, sk_error *err)
{
    char name[64], path[SK_BATCH_PATH], why[128];
    sk_claim_holder holder;
    for (int i = 1; i < 100000; i++) {
        snprintf(name, sizeof name, "keeper.%d.claim", i);
        if (sk_claim_read(sk_batch_path(b, name, path), &holder)) {
            if (sk_claim_is_gone(&holder, why))
                continue;
            return sk_fail(err, SK_ERR_BUSY,
                           "%s: process %lld on %s looks after this batch\n'skitter batch status %s' shows "
                           "how far it is; "
                           "'skitter batch cancel' stops it",
                           b->out, (long long)holder.pid, holder.host, b->out);
        }
        const sk_status status = claim ? sk_claim_take(path, b->round, claim, err) : SK_OK;
        if (status != SK_ERR_BUSY)
            return status;
    }
    return sk_fail(err, SK_ERR_LIMIT, "%s: begun too often", b->out);
}

static void let_go(sk_claim *claim)
{
    if (claim->file >= 0)
        (void)unlink(claim->path);
    sk_claim_close(claim);
}

static int32_t workers_of(const sk_batch *b)
{
    int32_t devices = b->how.devices && *b->how.devices ? 1 : 0;
    for (const char *c = b->how.devices; c && *c; c++)
        devices += *c == ',';
    return b->how.workers > 0 ? b->how.workers : devices > 0 ? devices : 1;
}

/* `keeper` null: some pieces, one after the other, for whoever hands them out. */
static sk_status run_here(sk_batch *b, const int64_t *pieces, int64_t count, sk_claim *keeper, bool despite,
                          bool *stopped, sk_error *err)
{
    shown s = {.batch = b, .screen = {.to = stderr, .done = -1}, .keeper = keeper};
    sk_batch_worked worked;
    SK_TRY(sk_batch_watch_open(b, &s.watcher, err));
    const sk_batch_work work = {.batch = b,
                                .pieces = pieces,
                                .count = count,
                                .slots = keeper ? workers_of(b) : 1,
                                .merges = true,
                                .despite_cancel = despite,
                                .waits = keeper != NULL,
                                .interrupted = interrupted,
                                .changed = keeper ? draw : NULL,
                                .told = tell_end,
                                .context = &s};
    const sk_status status = sk_batch_work_run(&work, &worked, err);
    sk_cli_batch_wipe(&s.screen);
    sk_batch_watch_close(&s.watcher);
    *stopped = worked.stopped;
    return status;
}

static sk_status run_on_slurm(sk_batch *b, const sk_args *args, sk_claim *keeper, bool *stopped,
                              sk_error *err)
{
    shown s = {.batch = b, .screen = {.to = stderr, .done = -1}, .keeper = keeper};
    const sk_batch_slurm_watch watch = {.interrupted = interrupted,
                                        .changed = draw_status,
                                        .say = note,
                                        .context = &s,
                                        .detach = sk_args_flag(args, "detach") > 0};
    const sk_status status = sk_batch_slurm_run(b, &watch, stopped, err);
    sk_cli_batch_wipe(&s.screen);
    return status;
}

static sk_status list_pieces(sk_batch *b, sk_error *err)
{
    sk_text line = {0};
    sk_status status = SK_OK;
    for (int64_t i = 0; i < b->pieces && status == SK_OK; i++) {
        const sk_batch_piece *piece = sk_batch_piece_of(b, i, err);
        char **words = NULL;
        status = piece ? sk_batch_words(b, piece, 1, -1, &words, err) : SK_ERR_FORMAT;
        sk_text_clear(&line);
        if (status == SK_OK)
            sk_batch_line(words, &line);
        if (status == SK_OK)
            printf("%lld\t%s\n", (long long)i, sk_text_get(&line));
        sk_batch_words_free(words);
    }
    char **words = NULL;
    if (status == SK_OK && b->how.slurm && b->pieces > 0) {
        const int64_t each = b->how.pieces_per_task > 0 ? b->how.pieces_per_task : 1;
        status = sk_batch_slurm_words(b, 1, (b->pieces + each - 1) / each, &words, err);
        sk_text_clear(&line);
        if (status == SK_OK) {
            sk_batch_line(words, &line);
            printf("%s\n", sk_text_get(&line));
        }
        sk_batch_words_free(words);
    }
    sk_text_free(&line);
    return status;
}

static sk_status run_batch(sk_batch *b, const sk_args *args, sk_error *err)
{
    sk_claim keeper = {.file = -1};
    bool stopped = false;
    SK_TRY(hold(b, &keeper, err));
    (void)sk_cli_interrupted();
    sk_status status = sk_batch_set_cancelled(b, false, err);
    if (status == SK_OK)
        status = b->how.slurm ? run_on_slurm(b, args, &keeper, &stopped, err)
                              : run_here(b, NULL, 0, &keeper, false, &stopped, err);
    let_go(&keeper);
    if (status == SK_OK && b->how.slurm && (sk_args_flag(args, "detach") || stopped)) {
        sk_cli_say("Tasks go on by themselves. 'skitter batch status %s' shows how far they are%s", b->out,
                   stopped ? "; the same command looks after them again" : "");
        return stopped ? sk_fail(err, SK_ERR_CANCELLED, "no longer looked after") : SK_OK;
    }
    return status == SK_OK ? judge(b, stopped, sk_args_flag(args, "json") > 0, err) : status;
}

static const char *why_whole(const sk_batch_asked *a)
{
    const sk_args *args = a->args;
    if (strcmp(sk_args_text(args, "detector"), "background") == 0)
        return "--detector background looks at a video as a whole";
    if (sk_args_given(args, "config"))
        return "a --config may say which frames are wanted; say it with --frames, and --set, to have parts";
    if (a->media.n_ranges > 0)
        return "--frames names several ranges";
    return sk_args_int(args, "loop") > 1 ? "--loop" : NULL;
}

static sk_status prepared(const sk_batch *b, sk_error *err)
{
    SK_TRY(sk_batch_set_cancelled(b, false, err));
    printf("%lld\n", (long long)b->pieces);
    return SK_OK;
}

/* A batch that is begun anew must not be somebody's. */
static sk_status check_free(const char *out, sk_error *err)
{
    sk_batch *b = NULL;
    char *file = sk_path_join(out, SK_BATCH_FOLDER "/batch.json");
    sk_status status = SK_OK;
    if (file && sk_file_exists(file))
        status = sk_batch_open(out, &b, err);
    if (b)
        status = hold(b, NULL, err);
    sk_free(file);
    sk_batch_close(&b);
    return status;
}

static sk_status begin(const sk_args *given, const char *plan, sk_error *err)
{
    sk_batch_asked a = {0};
    sk_batch *b = NULL;
    sk_status status = sk_batch_asked_read(given, plan, &a, err);
    if (status == SK_OK && !sk_args_text(a.args, "out"))
        status = sk_fail(err, SK_ERR_ARG,
                         "a batch needs a folder for its results: --out DIR, or 'out: DIR' in its plan");
    if (status == SK_OK && sk_args_flag(given, "restart"))
        status = check_free(sk_args_text(a.args, "out"), err);
    if (status == SK_OK) {
        const bool dry = sk_args_flag(given, "dry-run") > 0;
        const sk_batch_wish wish = {.out = sk_args_text(a.args, "out"),
                                    .command = sk_args_text(a.args, "command"),
                                    .words = a.words,
                                    .videos = &a.videos,
                                    .split = sk_args_int(a.args, "split"),
                                    .media = &a.media,
                                    .why_whole = why_whole(&a),
                                    .how = &a.how,
                                    .restart = sk_args_flag(given, "restart") > 0,
                                    .dry = dry,
                                    .tell = note};
        status = sk_batch_begin(&wish, &b, err);
        if (status == SK_OK && dry)
            status = list_pieces(b, err);
        else if (status == SK_OK && sk_args_flag(given, "prepare"))
            status = prepared(b, err);
        else if (status == SK_OK)
            status = run_batch(b, a.args, err);
    }
    sk_batch_close(&b);
    sk_batch_asked_free(&a);
    return status;
}

/* --- the other actions --- */

/* The folder of a plan, or the one named. */
static sk_status open_named(const sk_args *args, const char *name, sk_batch **b, sk_error *err)
{
    sk_batch_asked a = {0};
    const char *out = name ? name : sk_args_text(args, "out");
    sk_status status = SK_OK;
    if (!out)
        return sk_fail(err, SK_ERR_ARG, "which batch? Name the folder of its results, or its plan");
    if (sk_file_is_regular(out)) {
        status = sk_batch_asked_read(args, out, &a, err);
        out = status == SK_OK ? sk_args_text(a.args, "out") : NULL;
        if (status == SK_OK && !out)
            status = sk_fail(err, SK_ERR_ARG, "%s: does not say where results go ('out:')", name);
    }
    if (status == SK_OK)
        status = sk_batch_open(out, b, err);
    sk_batch_asked_free(&a);
    return status;
}

static sk_status show_status(sk_batch *b, const sk_args *args, sk_error *err)
{
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    sk_cli_batch_screen screen = {.to = stdout, .done = -1};
    const bool watch = sk_args_flag(args, "watch") > 0;
    sk_status status = sk_batch_watch_open(b, &watcher, err);
    while (status == SK_OK && (status = sk_batch_watch_look(watcher, &s, err)) == SK_OK && watch &&
           s->done + s->failed < s->pieces && !sk_cli_interrupted()) {
        sk_cli_batch_draw(&screen, b, s);
        sk_clock_sleep_ns(1000000000);
    }
    sk_cli_batch_wipe(&screen);
    if (status == SK_OK && sk_args_flag(args, "json")) {
        sk_json json = sk_json_to_file(stdout, 2);
        sk_batch_status_json(b, s, &json);
        status = sk_json_end(&json, err);
    } else if (status == SK_OK) {
        sk_cli_batch_table(stdout, b, s, 1000);
    }
    sk_batch_watch_close(&watcher);
    return status;
}

static sk_status cancel(sk_batch *b, sk_error *err)
{
    int64_t jobs = 0;
    SK_TRY(sk_batch_set_cancelled(b, true, err));
    if (b->how.slurm)
        SK_TRY(sk_batch_slurm_cancel(b, &jobs, err));
    sk_cli_say("cancelled%s: workers end the frame they are at; 'skitter batch' goes on from there",
               jobs ? ", and SLURM was told" : "");
    return SK_OK;
}

static sk_status merge(sk_batch *b, const sk_args *args, sk_error *err)
{
    int64_t *merges = sk_calloc((size_t)b->pieces + 1, sizeof *merges), n = 0;
    bool stopped = false;
    sk_status status = merges ? SK_OK : sk_fail_memory(err, 8);
    for (int64_t i = 0; status == SK_OK && i < b->pieces; i++) {
        const sk_batch_piece *piece = sk_batch_piece_of(b, i, err);
        if (!piece)
            status = SK_ERR_FORMAT;
        else if (piece->kind == SK_BATCH_MERGE)
            merges[n++] = i;
        else if (status == SK_OK)
            status = sk_batch_settle(b, piece, err);
    }
    (void)sk_cli_interrupted();
    if (status == SK_OK)
        status = run_here(b, merges, n, NULL, true, &stopped, err);
    if (status == SK_OK)
        status = judge(b, stopped, sk_args_flag(args, "json") > 0, err);
    sk_free(merges);
    return status;
}

static sk_status read_pieces(const sk_batch *b, const char *text, int64_t **out, int64_t *count,
                             sk_error *err)
{
    int64_t *pieces = sk_calloc((size_t)b->pieces + 1, sizeof *pieces), n = 0;
    const char *at = text;
    bool good = pieces;
    while (good && *at) {
        char *end;
        const long long from = strtoll(at, &end, 10);
        long long to = from;
        good = end > at && from >= 0 && from < b->pieces;
        if (good && *end == '-') {
            at = end + 1;
            to = strtoll(at, &end, 10);
            good = end > at && to >= from;
        }
        for (long long i = from; good && i <= to && i < b->pieces && n < b->pieces; i++)
            pieces[n++] = i;
        good = good && (*end == ',' || !*end);
        at = good && *end == ',' ? end + 1 : end;
    }
    *out = pieces;
    *count = n;
    return good && n ? SK_OK
                     : sk_fail(err, SK_ERR_ARG, "--pieces %s: numbers from 0 to %lld: 3, 0-9, 0-9,12", text,
                               (long long)b->pieces - 1);
}

/* Some pieces, for whoever hands them out: SLURM, GNU parallel, Snakemake. */
static sk_status work(sk_batch *b, const sk_args *args, sk_error *err)
{
    int64_t *pieces = NULL, count = 0;
    bool stopped = false;
    const char *task = getenv("SLURM_ARRAY_TASK_ID");
    sk_status status = SK_OK;
    if (sk_args_given(args, "pieces"))
        status = read_pieces(b, sk_args_text(args, "pieces"), &pieces, &count, err);
    else if (sk_args_given(args, "submission") && task)
        status = sk_batch_slurm_task(b, sk_args_int(args, "submission"), strtoll(task, NULL, 10), &pieces,
                                     &count, err);
    else
        status = sk_fail(err, SK_ERR_ARG, "work: which pieces? --pieces 0-9");
    if (status == SK_OK && sk_batch_is_cancelled(b))
        status = sk_fail(
            err, SK_ERR_CANCELLED,
            "%s: was cancelled; 'skitter batch' with its plan takes that back, also with --prepare", b->out);
    if (status == SK_OK && chdir(b->folder) != 0)
        status =
            sk_fail(err, SK_ERR_IO, "%s: the folder that the batch was begun in is not there", b->folder);
    (void)sk_cli_interrupted();
    if (status == SK_OK)
        status = run_here(b, pieces, count, NULL, false, &stopped, err);
    for (int64_t i = 0; status == SK_OK && i < count; i++) {
        sk_batch_done done;
        if (!sk_batch_done_read(b, pieces[i], &done))
            status = stopped ? sk_fail(err, SK_ERR_CANCELLED, "stopped; piece %lld is not done",
                                       (long long)pieces[i])
                             : sk_fail(err, SK_ERR_IO, "piece %lld is not done", (long long)pieces[i]);
    }
    sk_free(pieces);
    return status;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    static const char *const actions[] = {"status", "cancel", "merge", "work"};
    const size_t n = sk_args_count(args, "what");
    const char *first = n ? sk_args_at(args, "what", 0) : NULL;
    sk_batch *b = NULL;
    size_t action = 0;
    while (first && action < 4 && strcmp(first, actions[action]) != 0)
        action++;
    if (n > (first && action < 4 ? 2 : 1))
        return sk_fail(err, SK_ERR_ARG,
                       "'%s': one plan, or one of status, cancel, merge and work, and the batch's folder",
                       sk_args_at(args, "what", n - 1));
    if (!first || action == 4)
        return begin(args, first, err);
    sk_status status = open_named(args, n > 1 ? sk_args_at(args, "what", 1) : NULL, &b, err);
    if (status == SK_OK)
        status = action == 0   ? show_status(b, args, err)
                 : action == 1 ? cancel(b, err)
                 : action == 2 ? merge(b, args, err)
                               : work(b, args, err);
    sk_batch_close(&b);
    return status;
}

const sk_command sk_command_batch = {
    .name = "batch",
    .summary = "many videos by one configuration, on this machine or on a cluster",
    .description =
        "A list of videos and one configuration become pieces, a video each or some frames of a long one. "
        "Each is done by a "
        "process of its own, here or as a task of SLURM; those that fail or are lost are tried again. "
        "Nothing is done twice: "
        "after Ctrl-C, a crash or the loss of a machine the same command goes on. The results are the bytes "
        "of one run over "
        "all videos; summary.html and summary.csv tell of all.\n\n"
        "A plan is YAML whose keys are the options of this command and of track or predict; docs/batch.md.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
