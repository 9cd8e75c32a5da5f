/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_state.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

static const char *const outcomes[] = {"finished", "incomplete", "failed", "refused", "stopped", "lost"};
static const char *const states[] = {"waiting", "waiting for its parts", "running", "lost", "done", "failed"};

const char *sk_batch_outcome_name(sk_batch_outcome outcome)
{
    return outcomes[outcome];
}

const char *sk_batch_state_name(sk_batch_state state)
{
    return states[state];
}

/* --- how attempts ended --- */

static bool read_end(const char *path, sk_batch_done *d)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    *d = (sk_batch_done){.tracks = -1};
    if (!sk_file_exists(path) || sk_file_read_own(path, 65536, &text, &bytes, NULL) != SK_OK)
        return false;
    const bool good = sk_config_open_json(text, bytes, path, &config, NULL) == SK_OK;
    const sk_config_value *root = good ? sk_config_root(config) : NULL;
    const char *outcome = sk_config_text_or(root, "outcome", "");
    while (d->outcome < SK_BATCH_LOST && strcmp(outcome, outcomes[d->outcome]) != 0)
        d->outcome++;
    d->attempt = (int32_t)sk_config_int_or(root, "attempt", 0);
    d->round = sk_config_int_or(root, "round", 0);
    d->frames = sk_config_int_or(root, "frames", 0);
    d->instances = sk_config_int_or(root, "instances", 0);
    d->tracks = sk_config_int_or(root, "tracks", -1);
    d->seconds = sk_config_real_or(root, "seconds", 0);
    d->started_ms = sk_config_int_or(root, "started_ms", 0);
    d->ended_ms = sk_config_int_or(root, "ended_ms", 0);
    snprintf(d->host, sizeof d->host, "%s", sk_config_text_or(root, "host", ""));
    snprintf(d->slurm, sizeof d->slurm, "%s", sk_config_text_or(root, "slurm", ""));
    sk_text_shorten(sk_config_text_or(root, "reason", ""), d->reason, sizeof d->reason);
    sk_config_close(&config);
    sk_free(text);
    return d->attempt > 0;
}

bool sk_batch_done_read(const sk_batch *b, int64_t number, sk_batch_done *done)
{
    char path[SK_BATCH_PATH];
    return read_end(sk_batch_file(b, number, 0, "done", path), done);
}

bool sk_batch_end_read(const sk_batch *b, int64_t number, int32_t attempt, sk_batch_done *end)
{
    char path[SK_BATCH_PATH];
    return read_end(sk_batch_file(b, number, attempt, "end", path), end);
}

sk_status sk_batch_end_put(const sk_batch *b, int64_t number, const sk_batch_done *e, bool done,
                           sk_error *err)
{
    char path[SK_BATCH_PATH];
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_json_key_string(&json, "outcome", outcomes[e->outcome]);
    sk_json_key_ints(&json, {"piece", number}, {"attempt", e->attempt}, {"round", e->round},
                     {"frames", e->frames}, {"instances", e->instances}, {"tracks", e->tracks},
                     {"started_ms", e->started_ms}, {"ended_ms", e->ended_ms});
    sk_json_key_float(&json, "seconds", e->seconds);
    sk_json_key_strings(&json, {"host", e->host}, {"slurm", e->slurm}, {"reason", e->reason});
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        status = sk_claim_put(sk_batch_file(b, number, done ? 0 : e->attempt, done ? "done" : "end", path),
                              text.data, err);
    sk_text_free(&text);
    return status;
}

/* --- where a piece stands --- */

bool sk_batch_parts_done(sk_batch *b, const sk_batch_piece *merge)
{
    sk_batch_done done;
    for (int64_t i = merge->number - merge->parts; i < merge->number; i++) {
        if ((b->seen && b->seen[i] != SK_BATCH_SEEN_DONE) || !sk_batch_done_read(b, i, &done))
            return false;
        if (done.outcome == SK_BATCH_INCOMPLETE)
            return true;
    }
    return true;
}

/* Attempts of this round, and how they ended. One that is neither ended nor running is told as a loss, by whoever goes on. */
static void look_back(const sk_batch *b, int64_t number, sk_batch_look *look)
{
    char path[SK_BATCH_PATH];
    while (look->attempts < 1000 &&
           sk_file_exists(sk_batch_file(b, number, look->attempts + 1, "claim", path)))
        look->attempts++;
    for (int32_t i = 1; i <= look->attempts; i++) {
        sk_batch_done end;
        if (!sk_batch_end_read(b, number, i, &end))
            continue;
        look->last = end;
        if (end.round != b->round)
            continue;
        look->failures += end.outcome == SK_BATCH_FAILED;
        look->failures += end.outcome == SK_BATCH_REFUSED ? 1000 : 0;
        look->losses += end.outcome == SK_BATCH_LOST || end.outcome == SK_BATCH_STOPPED;
    }
}

void sk_batch_look_at(sk_batch *b, const sk_batch_piece *piece, sk_batch_look *look)
{
    char path[SK_BATCH_PATH];
    const int seen = b->seen ? b->seen[piece->number] : SK_BATCH_SEEN_CLAIM;
    *look = (sk_batch_look){.state = SK_PIECE_WAITING};
    if (seen == SK_BATCH_SEEN_NOTHING) {
        if (piece->kind == SK_BATCH_MERGE && !sk_batch_parts_done(b, piece))
            look->state = SK_PIECE_BLOCKED;
        return;
    }
    if (sk_batch_done_read(b, piece->number, &look->last)) {
        look->state = SK_PIECE_DONE;
        look->attempts = look->last.attempt;
        return;
    }
    look_back(b, piece->number, look);
    if (look->attempts > 0 && look->last.attempt != look->attempts &&
        sk_claim_read(sk_batch_file(b, piece->number, look->attempts, "claim", path), &look->holder)) {
        look->state = sk_claim_is_gone(&look->holder, look->why_gone) ? SK_PIECE_GONE : SK_PIECE_RUNNING;
        if (look->state == SK_PIECE_RUNNING) /* it may have ended while we looked */
            if (sk_batch_done_read(b, piece->number, &look->last))
                look->state = SK_PIECE_DONE;
        if (look->state != SK_PIECE_GONE)
            return;
    }
    if (look->failures > b->how.retries || look->losses > b->how.losses)
        look->state = SK_PIECE_GIVEN_UP;
    else if (look->state == SK_PIECE_WAITING && piece->kind == SK_BATCH_MERGE &&
             !sk_batch_parts_done(b, piece))
        look->state = SK_PIECE_BLOCKED;
}

sk_status sk_batch_put_lost(const sk_batch *b, int64_t number, const sk_batch_look *look, const char *why,
                            sk_error *err)
{
    sk_batch_done end = {.attempt = look->attempts,
                         .outcome = SK_BATCH_LOST,
                         .round = look->holder.round,
                         .frames = look->holder.frames,
                         .tracks = -1,
                         .started_ms = look->holder.since_ms,
                         .ended_ms = sk_clock_wall_ms()};
    snprintf(end.host, sizeof end.host, "%s", look->holder.host);
    snprintf(end.slurm, sizeof end.slurm, "%s", look->holder.slurm);
    snprintf(end.reason, sizeof end.reason, "%s", why);
    const sk_status status = sk_batch_end_put(b, number, &end, false, err);
    return status == SK_ERR_BUSY ? SK_OK : status;
}
