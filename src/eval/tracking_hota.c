/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracking.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>

/* Higher Order Tracking Accuracy (Luiten et al., 2021). How much two tracks agree over the whole video says which of them
 * belong together; in each frame those are put together whose agreement times similarity sums to the most, once for all
 * levels of similarity. */

typedef struct hota_run {
    sk_tracking_run *run;
    double *agreement;   /* by pair of tracks */
    double *rows, *cols; /* sums of one frame's similarities */
    int32_t (*matches)
        [SK_HOTA_LEVELS]; /* by pair of tracks: how often matched with a similarity from this level to the next */
    double similar[SK_HOTA_LEVELS]; /* summed likewise */
    int64_t matched[SK_HOTA_LEVELS];
} hota_run;

static sk_status open_run(hota_run *h, sk_error *err)
{
    const sk_track_sequence *s = h->run->sequence;
    size_t together = (size_t)h->run->together.count, rows = 0, cols = 0;
    for (size_t f = 0; f < s->n_frames; f++) {
        rows = (size_t)s->frames[f].n_truth > rows ? (size_t)s->frames[f].n_truth : rows;
        cols = (size_t)s->frames[f].n_found > cols ? (size_t)s->frames[f].n_found : cols;
    }
    h->agreement = sk_calloc(together + 1, sizeof *h->agreement);
    h->matches = sk_calloc(together + 1, sizeof *h->matches);
    h->rows = sk_calloc(rows + 1, sizeof *h->rows);
    h->cols = sk_calloc(cols + 1, sizeof *h->cols);
    if (!h->agreement || !h->matches || !h->rows || !h->cols)
        return sk_fail_memory(err, (together + 1) * sizeof *h->matches);
    return SK_OK;
}

/* In a frame a pair counts as much as its similarity is of all that either has there. */
static void agree_in_frame(hota_run *h, const struct sk_track_frame *frame)
{
    const sk_track_pair *pairs = sk_track_frame_pairs(h->run->sequence, frame);
    const int32_t *together = h->run->together_at + frame->pairs;
    for (int32_t i = 0; i < frame->n_truth; i++)
        h->rows[i] = 0;
    for (int32_t i = 0; i < frame->n_found; i++)
        h->cols[i] = 0;
    for (int32_t i = 0; i < frame->n_pairs; i++) {
        h->rows[pairs[i].truth] += pairs[i].similarity;
        h->cols[pairs[i].found] += pairs[i].similarity;
    }
    for (int32_t i = 0; i < frame->n_pairs; i++) {
        double all = h->cols[pairs[i].found] + h->rows[pairs[i].truth] - pairs[i].similarity;
        if (all > DBL_EPSILON)
            h->agreement[together[i]] += pairs[i].similarity / all;
    }
}

static void agree(hota_run *h)
{
    const sk_tracking_run *run = h->run;
    for (size_t f = 0; f < run->sequence->n_frames; f++)
        agree_in_frame(h, &run->sequence->frames[f]);
    for (int32_t i = 0; i < run->together.count; i++) {
        double truth = run->truth_length[run->together.keys[i] >> 32],
               found = run->found_length[(uint32_t)run->together.keys[i]];
        h->agreement[i] /= truth + found - h->agreement[i];
    }
}

/* The highest level that this similarity reaches; -1: none. */
static int level_of(double similarity)
{
    int level = -1;
    while (level + 1 < SK_HOTA_LEVELS && similarity >= sk_hota_level(level + 1) - DBL_EPSILON)
        level++;
    return level;
}

static sk_status match_frame(hota_run *h, const struct sk_track_frame *frame, sk_error *err)
{
    sk_tracking_run *run = h->run;
    const sk_track_pair *pairs = sk_track_frame_pairs(run->sequence, frame);
    const int32_t *together = run->together_at + frame->pairs;
    for (int32_t i = 0; i < frame->n_pairs; i++)
        run->weights[i] = (sk_weighted_pair){pairs[i].truth, pairs[i].found,
                                             h->agreement[together[i]] * pairs[i].similarity};
    SK_TRY(sk_matching_solve(run->matching, frame->n_truth, frame->n_found, run->weights,
                             (size_t)frame->n_pairs, run->pair_of, err));
    for (int32_t r = 0; r < frame->n_truth; r++) {
        int32_t pair = run->pair_of[r];
        int level = pair < 0 ? -1 : level_of(pairs[pair].similarity);
        if (level < 0)
            continue;
        h->matches[together[pair]][level]++;
        h->similar[level] += pairs[pair].similarity;
        h->matched[level]++;
    }
    return SK_OK;
}

/* What is matched at a level is so at every lower one. */
static void associate(hota_run *h, sk_track_score *out)
{
    const sk_tracking_run *run = h->run;
    for (int32_t i = 0; i < run->together.count; i++) {
        double truth = run->truth_length[run->together.keys[i] >> 32],
               found = run->found_length[(uint32_t)run->together.keys[i]], matches = 0;
        for (int a = SK_HOTA_LEVELS - 1; a >= 0; a--) {
            matches += h->matches[i][a];
            if (matches == 0)
                continue;
            out->level[a].ass_a += matches * (matches / fmax(1, truth + found - matches));
            out->level[a].ass_re += matches * (matches / fmax(1, truth));
            out->level[a].ass_pr += matches * (matches / fmax(1, found));
        }
    }
    int64_t right = 0;
    double similar = 0;
    for (int a = SK_HOTA_LEVELS - 1; a >= 0; a--) {
        sk_hota *l = &out->level[a];
        right += h->matched[a];
        similar += h->similar[a];
        l->right = right;
        l->missed = out->truth - right;
        l->wrong = out->found - right;
        l->ass_a /= fmax(1, (double)right);
        l->ass_re /= fmax(1, (double)right);
        l->ass_pr /= fmax(1, (double)right);
        l->loc_a = right ? similar / (double)right : 1;
    }
}

sk_status sk_tracking_hota(sk_tracking_run *run, sk_track_score *out, sk_error *err)
{
    hota_run h = {.run = run};
    sk_status status = SK_OK;
    SK_TRY_GOTO(open_run(&h, err));
    agree(&h);
    for (size_t f = 0; f < run->sequence->n_frames; f++)
        SK_TRY_GOTO(match_frame(&h, &run->sequence->frames[f], err));
    associate(&h, out);
done:
    sk_free(h.agreement);
    sk_free(h.matches);
    sk_free(h.rows);
    sk_free(h.cols);
    return status;
}
