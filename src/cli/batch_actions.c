/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/batch_actions.h"

#include "app/batch_slurm.h"
#include "app/batch_work.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/batch_args.h"
#include "cli/batch_run.h"
#include "cli/batch_table.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of a plan, or the one named. */
static sk_status open_named(const sk_args *args, const char *name, sk_batch **b, sk_error *err)
{
    sk_batch_asked a = {0};
    const char *out = name ? name : sk_args_text(args, "out");
    sk_status status = SK_OK;
    if (!out)
        return sk_fail(err, SK_ERR_ARG, "which batch? Name the folder of its results, or its plan");
    if (sk_file_is_regular(out)) {
        status = sk_batch_asked_place(args, out, &a, err);
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

static sk_status cancel(sk_batch *b, const sk_args *args, sk_error *err)
{
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    int64_t jobs = 0;
    (void)args;
    SK_TRY(sk_batch_watch_open(b, &watcher, err));
    sk_status status = sk_batch_watch_look(watcher, &s, err);
    const bool all = status == SK_OK && s->done == s->pieces && !b->how.slurm;
    sk_batch_watch_close(&watcher);
    SK_TRY(status);
    if (all) {
        sk_cli_say("all is done: there is nothing to cancel");
        return SK_OK;
    }
    SK_TRY(sk_batch_set_cancelled(b, true, err));
    if (b->how.slurm)
        SK_TRY(sk_batch_slurm_cancel(b, &jobs, err));
    sk_cli_say("cancelled%s: workers end the frame they are at; 'skitter batch' goes on from there",
               jobs ? ", and SLURM was told" : "");
    return SK_OK;
}

/* Words and videos are relative to the folder that the batch was begun in. */
static sk_status go_there(const sk_batch *b, sk_error *err)
{
    return chdir(b->folder) == 0
               ? SK_OK
               : sk_fail(err, SK_ERR_IO, "%s: the folder that the batch was begun in is not there",
                         b->folder);
}

static sk_status merge(sk_batch *b, const sk_args *args, sk_error *err)
{
    int64_t *merges = sk_calloc((size_t)b->pieces + 1, sizeof *merges), n = 0;
    bool stopped = false;
    sk_status status = merges ? SK_OK : sk_fail_memory(err, 8);
    for (int64_t i = 0; status == SK_OK && i < b->pieces; i++) {
        const sk_batch_piece *piece = sk_batch_piece_of(b, i, err);
        if (!piece)
            status = sk_batch_piece_lacking(err);
        else if (piece->kind == SK_BATCH_MERGE)
            merges[n++] = i;
        else if (status == SK_OK)
            status = sk_batch_settle(b, piece, err);
    }
    (void)sk_cli_interrupted();
    if (status == SK_OK && n > 0)
        status = go_there(b, err);
    if (status == SK_OK)
        status = sk_cli_batch_run_here(b, merges, n, NULL, true, &stopped, err);
    if (status == SK_OK)
        status = sk_cli_batch_judge(b, stopped, sk_args_flag(args, "json") > 0, err);
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

/* A merge is made by whoever does the last of its parts: before that, and while it is, nothing is wrong with it. */
static bool is_left_to_others(sk_batch *b, int64_t number)
{
    const sk_batch_piece *piece = sk_batch_piece_of(b, number, NULL);
    sk_batch_look look;
    if (!piece || piece->kind != SK_BATCH_MERGE || (b->seen && sk_batch_refresh(b, NULL) != SK_OK))
        return false;
    sk_batch_look_at(b, piece, &look);
    return look.state == SK_PIECE_BLOCKED || look.state == SK_PIECE_RUNNING || look.state == SK_PIECE_DONE;
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
    if (status == SK_OK)
        status = go_there(b, err);
    (void)sk_cli_interrupted();
    if (status == SK_OK)
        status = sk_cli_batch_run_here(b, pieces, count, NULL, false, &stopped, err);
    for (int64_t i = 0; status == SK_OK && i < count; i++) {
        sk_batch_done done;
        if (!sk_batch_done_read(b, pieces[i], &done) && !is_left_to_others(b, pieces[i]))
            status = stopped ? sk_fail(err, SK_ERR_CANCELLED, "stopped; piece %lld is not done",
                                       (long long)pieces[i])
                             : sk_fail(err, SK_ERR_IO, "piece %lld is not done", (long long)pieces[i]);
    }
    sk_free(pieces);
    return status;
}

static const struct {
    const char *name;
    sk_status (*act)(sk_batch *b, const sk_args *args, sk_error *err);
} actions[] = {{"status", show_status}, {"cancel", cancel}, {"merge", merge}, {"work", work}};

bool sk_cli_batch_is_action(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, name) == 0)
            return true;
    return false;
}

sk_status sk_cli_batch_act(const char *name, const sk_args *args, const char *named, sk_error *err)
{
    sk_batch *b = NULL;
    sk_status status = open_named(args, named, &b, err);
    for (size_t i = 0; status == SK_OK && i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, name) == 0)
            status = actions[i].act(b, args, err);
    sk_batch_close(&b);
    return status;
}
