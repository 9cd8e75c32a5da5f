/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracking.h"

#include "base/memory.h"

#include <float.h>
#include <stdbool.h>

/* CLEAR MOT (Bernardin and Stiefelhagen, 2008) as TrackEval counts it: who was together in the frame before stays together
 * where that is similar enough, the others so that the similarities sum to the most. A switch is counted against the last
 * time the truth was matched, however long ago; a fragment begins where a truth is matched and was not in the frame before. */

#define STAY   1000 /* more than all similarities of a frame that have a say against it */
#define NOBODY (-1)

/* By truth's track. */
typedef struct past {
    int32_t last;   /* the track it was matched with */
    int32_t before; /* the same, of the frame before */
    int32_t now;    /* of this frame */
    int32_t present, matched, begun;
} past;

typedef struct clear_run {
    sk_tracking_run *run;
    sk_track_score *out;
    past *past;
    int32_t *tracked, *tracking; /* truth's tracks matched in the frame before, and in this one */
    size_t n_tracked, n_tracking;
    int32_t *similar; /* by weight: the frame's pair */
} clear_run;

static sk_status match_frame(clear_run *c, const struct sk_track_frame *frame, sk_error *err)
{
    sk_tracking_run *run = c->run;
    const sk_track_sequence *s = run->sequence;
    const sk_track_pair *pairs = sk_track_frame_pairs(s, frame);
    const int32_t *truth = s->truth + frame->truth, *found = s->found + frame->found;
    size_t n = 0;
    for (int32_t i = 0; i < frame->n_pairs; i++) {
        if (pairs[i].similarity < SK_TRACK_SIMILAR - DBL_EPSILON)
            continue;
        bool stays = c->past[truth[pairs[i].truth]].before == found[pairs[i].found];
        c->similar[n] = i;
        run->weights[n++] =
            (sk_weighted_pair){pairs[i].truth, pairs[i].found, (stays ? STAY : 0) + pairs[i].similarity};
    }
    SK_TRY(
        sk_matching_solve(run->matching, frame->n_truth, frame->n_found, run->weights, n, run->pair_of, err));
    c->n_tracking = 0;
    for (int32_t r = 0; r < frame->n_truth; r++) {
        int32_t match = run->pair_of[r];
        if (match < 0)
            continue;
        past *p = &c->past[truth[r]];
        p->now = found[run->weights[match].col];
        c->tracking[c->n_tracking++] = truth[r];
        c->out->switches += p->last != NOBODY && p->last != p->now;
        c->out->fragments += p->before == NOBODY && p->begun > 0;
        p->begun += p->before == NOBODY;
        p->last = p->now;
        p->matched++;
        c->out->similarity_sum += pairs[c->similar[match]].similarity;
    }
    c->out->right += (int64_t)c->n_tracking;
    return SK_OK;
}

/* This frame becomes the one before. */
static void pass_frame(clear_run *c)
{
    for (size_t i = 0; i < c->n_tracked; i++)
        c->past[c->tracked[i]].before = NOBODY;
    for (size_t i = 0; i < c->n_tracking; i++)
        c->past[c->tracking[i]].before = c->past[c->tracking[i]].now;
    int32_t *swap = c->tracked;
    c->tracked = c->tracking;
    c->tracking = swap;
    c->n_tracked = c->n_tracking;
}

static sk_status count_frames(clear_run *c, sk_error *err)
{
    const sk_track_sequence *s = c->run->sequence;
    for (size_t f = 0; f < s->n_frames; f++) {
        const struct sk_track_frame *frame = &s->frames[f];
        for (int32_t i = 0; i < frame->n_truth; i++)
            c->past[s->truth[frame->truth + (size_t)i]].present++;
        /* TrackEval passes over frames in which one side is empty: who was together before them still was "before". */
        if (frame->n_truth == 0 || frame->n_found == 0)
            continue;
        SK_TRY(match_frame(c, frame, err));
        pass_frame(c);
    }
    return SK_OK;
}

static void judge_tracks(clear_run *c)
{
    sk_track_score *out = c->out;
    for (int32_t i = 0; i < c->run->sequence->truth_tracks; i++) {
        if (c->past[i].present == 0)
            continue;
        double share = (double)c->past[i].matched / c->past[i].present;
        out->mostly_tracked += share > 0.8;
        out->partly_tracked += share >= 0.2 && !(share > 0.8);
        out->mostly_lost += !(share >= 0.2);
    }
}

sk_status sk_tracking_clear(sk_tracking_run *run, sk_track_score *out, sk_error *err)
{
    size_t tracks = (size_t)run->sequence->truth_tracks + 1;
    clear_run c = {.run = run, .out = out};
    c.past = sk_calloc(tracks, sizeof *c.past);
    c.tracked = sk_calloc(tracks, sizeof *c.tracked);
    c.tracking = sk_calloc(tracks, sizeof *c.tracking);
    c.similar = sk_malloc(run->weights_capacity * sizeof *c.similar);
    sk_status status = SK_OK;
    if (!c.past || !c.tracked || !c.tracking || !c.similar) {
        status = sk_fail_memory(err, tracks * sizeof *c.past);
        goto done;
    }
    for (size_t i = 0; i < tracks; i++)
        c.past[i] = (past){.last = NOBODY, .before = NOBODY, .now = NOBODY};
    SK_TRY_GOTO(count_frames(&c, err));
    out->missed = out->truth - out->right;
    out->wrong = out->found - out->right;
    judge_tracks(&c);
done:
    sk_free(c.past);
    sk_free(c.tracked);
    sk_free(c.tracking);
    sk_free(c.similar);
    return status;
}
