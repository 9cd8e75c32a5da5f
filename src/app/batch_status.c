/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_status.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"

#include <stdio.h>
#include <string.h>

/* What is kept of a piece that is done: it does not change any more. */
typedef struct kept {
    bool known;
    unsigned char outcome;
    int32_t attempts, failed, lost;
    int64_t frames, instances, started_ms, ended_ms;
    float seconds;
} kept;

struct sk_batch_watcher {
    sk_batch *batch;
    kept *kept;
    sk_batch_status status;
};

sk_status sk_batch_watch_open(sk_batch *b, sk_batch_watcher **out, sk_error *err)
{
    sk_batch_watcher *w = sk_calloc(1, sizeof *w);
    sk_status status = w ? SK_OK : sk_fail_memory(err, sizeof *w);
    if (status == SK_OK) {
        w->batch = b;
        w->kept = sk_calloc((size_t)b->pieces + 1, sizeof *w->kept);
        status = w->kept ? SK_OK : sk_fail_memory(err, (size_t)b->pieces * sizeof *w->kept);
    }
    return SK_HAND_OVER(status, w, out, sk_batch_watch_close);
}

void sk_batch_watch_close(sk_batch_watcher **pointer)
{
    SK_TAKE_OR_RETURN(w, pointer);
    sk_free_all(w->status.rows, w->kept, w);
}

static void count_attempts(const sk_batch *b, int64_t number, int32_t attempts, kept *k)
{
    for (int32_t i = 1; i <= attempts; i++) {
        sk_batch_done end;
        if (sk_batch_end_read(b, number, i, &end)) {
            k->failed += end.outcome == SK_BATCH_FAILED || end.outcome == SK_BATCH_REFUSED;
            k->lost += end.outcome == SK_BATCH_LOST || end.outcome == SK_BATCH_STOPPED;
        }
    }
}

static sk_status add_row(sk_batch_status *s, const sk_batch_piece *piece, const sk_batch_look *look,
                         sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->rows, &s->capacity, s->n_rows + 1, sizeof *s->rows, SK_BATCH_MOST,
                            err));
    s->rows[s->n_rows++] = (sk_batch_row){piece, *look};
    return SK_OK;
}

static void count_times(sk_batch_status *s, int64_t started, int64_t ended)
{
    if (started > 0 && (s->first_ms == 0 || started < s->first_ms))
        s->first_ms = started;
    if (ended > s->last_ms)
        s->last_ms = ended;
}

static void count_done(sk_batch_status *s, const sk_batch_piece *piece, const kept *k)
{
    s->done++;
    if (piece->kind != SK_BATCH_PART) {
        s->videos_done++;
        s->videos_incomplete += k->outcome == SK_BATCH_INCOMPLETE;
        s->frames += k->frames;
        s->instances += k->instances;
    }
    s->seconds += (double)k->seconds;
    count_times(s, k->started_ms, k->ended_ms);
}

static sk_status look_at(sk_batch_watcher *w, const sk_batch_piece *piece, sk_error *err)
{
    sk_batch_status *s = &w->status;
    kept *k = &w->kept[piece->number], now = {0};
    sk_batch_look look;
    if (!k->known) {
        sk_batch_look_at(w->batch, piece, &look);
        count_attempts(w->batch, piece->number, look.attempts, &now);
        now.attempts = look.attempts;
        if (look.state == SK_PIECE_DONE) {
            now = (kept){.known = true,
                         .outcome = (unsigned char)look.last.outcome,
                         .attempts = now.attempts,
                         .failed = now.failed,
                         .lost = now.lost,
                         .frames = look.last.frames,
                         .instances = look.last.instances,
                         .started_ms = look.last.started_ms,
                         .ended_ms = look.last.ended_ms,
                         .seconds = (float)look.last.seconds};
            *k = now;
        }
    } else {
        now = *k;
        look = (sk_batch_look){.state = SK_PIECE_DONE, .attempts = k->attempts};
    }
    s->attempts += now.attempts;
    s->attempts_failed += now.failed;
    s->attempts_lost += now.lost;
    if (piece->kind == SK_BATCH_PART && piece->number + piece->parts < w->batch->pieces &&
        w->kept[piece->number + piece->parts].known && look.state != SK_PIECE_DONE) {
        s->done++; /* a part behind the end of a video that is cut off: nobody misses it */
        return SK_OK;
    }
    switch (look.state) {
    case SK_PIECE_DONE: count_done(s, piece, &now); break;
    case SK_PIECE_RUNNING:
        s->running++;
        s->frames_now += piece->kind == SK_BATCH_MERGE ? 0 : look.holder.frames;
        count_times(s, look.holder.since_ms, 0);
        break;
    case SK_PIECE_GONE: s->lost++; break;
    case SK_PIECE_GIVEN_UP:
        s->failed++;
        s->videos_failed += piece->kind != SK_BATCH_PART;
        break;
    default: s->waiting++;
    }
    const bool shown = look.state == SK_PIECE_RUNNING || look.state == SK_PIECE_GONE ||
                       look.state == SK_PIECE_GIVEN_UP ||
                       (look.state == SK_PIECE_WAITING && look.attempts > 0) ||
                       (look.state == SK_PIECE_DONE && now.failed + now.lost > 0);
    return shown ? add_row(s, piece, &look, err) : SK_OK;
}

sk_status sk_batch_watch_look(sk_batch_watcher *w, const sk_batch_status **status, sk_error *err)
{
    SK_TRY(sk_batch_refresh(w->batch, err));
    sk_batch_row *rows = w->status.rows;
    const size_t capacity = w->status.capacity;
    w->status = (sk_batch_status){
        .pieces = w->batch->pieces, .videos = w->batch->videos, .rows = rows, .capacity = capacity};
    /* From the end: a merge is known before its parts. */
    for (int64_t i = w->batch->pieces - 1; i >= 0; i--) {
        const sk_batch_piece *piece = sk_batch_piece_of(w->batch, i, err);
        if (!piece)
            return sk_batch_piece_lacking(err);
        if (piece->kind != SK_BATCH_PART && w->status.frames_expected >= 0)
            w->status.frames_expected =
                piece->frames_expected < 0 ? -1 : w->status.frames_expected + piece->frames_expected;
        SK_TRY(look_at(w, piece, err));
    }
    for (size_t i = 0; i < w->status.n_rows / 2; i++) { /* in their order */
        const sk_batch_row row = w->status.rows[i];
        w->status.rows[i] = w->status.rows[w->status.n_rows - 1 - i];
        w->status.rows[w->status.n_rows - 1 - i] = row;
    }
    *status = &w->status;
    return SK_OK;
}

/* --- JSON --- */

static void put_attempts(const sk_batch *b, int64_t number, int32_t attempts, sk_json *json)
{
    sk_json_key_array(json, "ended");
    for (int32_t i = 1; i <= attempts; i++) {
        sk_batch_done end;
        if (!sk_batch_end_read(b, number, i, &end))
            continue;
        sk_json_object(json);
        sk_json_key_int(json, "attempt", i);
        sk_json_key_strings(json, {"outcome", sk_batch_outcome_name(end.outcome)}, {"reason", end.reason},
                            {"host", end.host}, {"slurm", end.slurm[0] ? end.slurm : NULL});
        sk_json_close(json);
    }
    sk_json_close(json);
}

static void put_row(const sk_batch *b, const sk_batch_row *row, sk_json *json)
{
    static const char *const kinds[] = {"video", "part", "merge"};
    const sk_batch_piece *p = row->piece;
    const bool running = row->look.state == SK_PIECE_RUNNING;
    sk_json_object(json);
    sk_json_key_ints(json, {"piece", p->number}, {"attempts", row->look.attempts});
    sk_json_key_strings(json, {"kind", kinds[p->kind]}, {"source", p->source}, {"name", p->name},
                        {"frames", p->frames[0] ? p->frames : NULL},
                        {"state", sk_batch_state_name(row->look.state)},
                        {"host", running ? row->look.holder.host : NULL},
                        {"slurm", running && row->look.holder.slurm[0] ? row->look.holder.slurm : NULL});
    if (running)
        sk_json_key_ints(json, {"frame", row->look.holder.frames}, {"total", row->look.holder.total});
    put_attempts(b, p->number, row->look.attempts, json);
    sk_json_close(json);
}

void sk_batch_status_json(sk_batch *b, const sk_batch_status *s, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_strings(json, {"out", b->out}, {"command", b->command}, {"id", b->id});
    sk_json_key_ints(json, {"pieces", s->pieces}, {"done", s->done}, {"running", s->running},
                     {"waiting", s->waiting}, {"lost", s->lost}, {"failed", s->failed}, {"videos", s->videos},
                     {"videos_done", s->videos_done}, {"videos_incomplete", s->videos_incomplete},
                     {"attempts", s->attempts}, {"attempts_failed", s->attempts_failed},
                     {"attempts_lost", s->attempts_lost}, {"frames", s->frames},
                     {"frames_now", s->frames_now}, {"instances", s->instances});
    sk_json_key_bool(json, "cancelled", sk_batch_is_cancelled(b));
    sk_json_key_float(json, "seconds", s->seconds);
    sk_json_key_array(json, "rows");
    for (size_t i = 0; i < s->n_rows; i++)
        put_row(b, &s->rows[i], json);
    sk_json_close(json);
    sk_json_close(json);
}
