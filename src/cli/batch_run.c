/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/batch_run.h"

#include "app/batch_slurm.h"
#include "app/batch_work.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/batch_args.h"
#include "cli/batch_table.h"
#include "cli/cli.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what is shown --- */

typedef struct shown {
    sk_batch *batch;
    sk_batch_watcher *watcher;
    sk_cli_batch_screen screen;
    sk_claim *keeper; /* null: somebody else looks after the batch */
    int64_t beat_ns;
} shown;

static void beat(void *context)
{
    shown *s = context;
    const int64_t now = sk_clock_ns();
    if (s->keeper && now - s->beat_ns > SK_CLAIM_BEAT * (int64_t)1000000000) {
        s->beat_ns = now;
        sk_claim_beat(s->keeper);
    }
}

/* Asked all the time: also gives the keeper's sign of life. */
static bool interrupted(void *context)
{
    beat(context);
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

sk_status sk_cli_batch_judge(sk_batch *b, bool stopped, bool json, sk_error *err)
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
        status = sk_fail(
            err, SK_ERR_INCOMPLETE,
            "%lld of %lld videos are cut off: what there is of them is done\nWith the whole file in its "
            "place, remove the video's folder in %s, and start again",
            (long long)s->videos_incomplete, (long long)s->videos, b->out);
    }
    sk_batch_watch_close(&watcher);
    return status;
}

/* --- running --- */

#define LONGEST_OUT 3900 /* paths in it are longer, and PATH_MAX is 4096 */

/* Is anybody alive among those that hold this batch, but for number `own`? */
static bool find_keeper(const sk_batch *b, long own, long *highest, sk_claim_holder *holder)
{
    char path[SK_BATCH_PATH], why[128], *end;
    bool found = false;
    DIR *folder = opendir(sk_batch_path(b, "", path));
    *highest = 0;
    for (const struct dirent *e; folder && !found && (e = readdir(folder));) {
        if (strncmp(e->d_name, "keeper.", 7) != 0)
            continue;
        const long n = strtol(e->d_name + 7, &end, 10);
        if (strcmp(end, ".claim") != 0 || n < 1 || n > 100000000)
            continue;
        *highest = n > *highest ? n : *highest;
        found = n != own && sk_claim_read(sk_batch_path(b, e->d_name, path), holder) &&
                !sk_claim_is_gone(holder, why);
    }
    if (folder)
        closedir(folder);
    return found;
}

static void release(sk_claim *claim)
{
    (void)unlink(claim->path);
    sk_claim_close(claim);
}

/* One process begins a batch and looks after it. Held before its list is made: two lists would be one over the other. Of two that claim
 * it at once, under whatever numbers, one sees the other, as both look again when they have it; where both do, both let go and try
 * again. */
static sk_status hold_place(const sk_batch *b, sk_claim *claim, sk_error *err)
{
    char name[64], path[SK_BATCH_PATH];
    sk_claim_holder holder = {0};
    long highest = 0, unused;
    SK_TRY(sk_folder_make(sk_batch_path(b, "", path), err));
    for (int i = 0; i < 20 && !find_keeper(b, 0, &highest, &holder); i++) {
        snprintf(name, sizeof name, "keeper.%ld.claim", highest + 1);
        const sk_status status = sk_claim_take(sk_batch_path(b, name, path), 0, claim, err);
        if (status == SK_OK && !find_keeper(b, highest + 1, &unused, &holder))
            return SK_OK;
        if (status == SK_OK)
            release(claim);
        else if (status != SK_ERR_BUSY)
            return status;
        sk_clock_sleep_ns((getpid() % 64 + 1) * (int64_t)1000000);
    }
    return sk_fail(
        err, SK_ERR_BUSY,
        "%s: process %lld on %s looks after this batch\n'skitter batch status %s' shows how far it is; "
        "'skitter batch cancel' stops it",
        b->out, (long long)holder.pid, holder.host, b->out);
}

static sk_status hold(const char *out, sk_claim *claim, sk_error *err)
{
    sk_batch place = {.out = sk_path_absolute(out)};
    sk_status status = place.out ? SK_OK : sk_fail_memory(err, strlen(out));
    if (status == SK_OK && strlen(place.out) > LONGEST_OUT)
        status = sk_fail(err, SK_ERR_LIMIT, "--out %.40s…: a path of %zu letters; at most %d are taken", out,
                         strlen(place.out), LONGEST_OUT);
    if (status == SK_OK)
        status = hold_place(&place, claim, err);
    sk_free(place.out);
    return status;
}

/* A folder in which nothing was begun goes, too. */
static void let_go(sk_claim *claim)
{
    if (claim->file < 0)
        return;
    release(claim);
    *strrchr(claim->path, '/') = '\0';
    (void)rmdir(claim->path);
}

static int32_t workers_of(const sk_batch *b)
{
    int32_t devices = 1; /* or none is named, and one works all the same */
    for (const char *c = b->how.devices; c && *c; c++)
        devices += *c == ',';
    return b->how.workers > 0 ? b->how.workers : devices;
}

sk_status sk_cli_batch_run_here(sk_batch *b, const int64_t *pieces, int64_t count, sk_claim *keeper,
                                bool despite, bool *stopped, sk_error *err)
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
        status = piece ? sk_batch_words(b, piece, 1, -1, &words, err) : sk_batch_piece_lacking(err);
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

static sk_status run_batch(sk_batch *b, const sk_args *args, sk_claim *keeper, sk_error *err)
{
    bool stopped = false;
    (void)sk_cli_interrupted();
    sk_status status = sk_batch_set_cancelled(b, false, err);
    if (status == SK_OK)
        status = b->how.slurm ? run_on_slurm(b, args, keeper, &stopped, err)
                              : sk_cli_batch_run_here(b, NULL, 0, keeper, false, &stopped, err);
    let_go(keeper);
    if (status == SK_OK && b->how.slurm && (sk_args_flag(args, "detach") || stopped)) {
        sk_cli_say("Tasks go on by themselves. 'skitter batch status %s' shows how far they are%s", b->out,
                   stopped ? "; the same command looks after them again" : "");
        return stopped ? sk_fail(err, SK_ERR_CANCELLED, "no longer looked after") : SK_OK;
    }
    return status == SK_OK ? sk_cli_batch_judge(b, stopped, sk_args_flag(args, "json") > 0, err) : status;
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

sk_status sk_cli_batch_begin(const sk_args *given, const char *plan, sk_error *err)
{
    sk_batch_asked a = {0};
    sk_batch *b = NULL;
    sk_status status = sk_batch_asked_read(given, plan, &a, err);
    if (status == SK_OK && !sk_args_text(a.args, "out"))
        status = sk_fail(err, SK_ERR_ARG,
                         "a batch needs a folder for its results: --out DIR, or 'out: DIR' in its plan");
    const bool dry = sk_args_flag(given, "dry-run") > 0;
    sk_claim keeper = {.file = -1};
    shown s = {.screen = {.to = stderr, .done = -1}, .keeper = &keeper, .beat_ns = sk_clock_ns()};
    if (status == SK_OK && !dry)
        status = hold(sk_args_text(a.args, "out"), &keeper, err);
    if (status == SK_OK) {
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
                                    .tell = note,
                                    .alive = beat,
                                    .context = &s};
        status = sk_batch_begin(&wish, &b, err);
        if (status == SK_OK && dry)
            status = list_pieces(b, err);
        else if (status == SK_OK && sk_args_flag(given, "prepare"))
            status = prepared(b, err);
        else if (status == SK_OK)
            status = run_batch(b, a.args, &keeper, err);
    }
    let_go(&keeper);
    sk_batch_close(&b);
    sk_batch_asked_free(&a);
    return status;
}
