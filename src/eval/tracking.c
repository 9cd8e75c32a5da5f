/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracking.h"

#include "base/memory.h"

#include <math.h>

#define MOST ((size_t)1 << 31)

/* --- sequences --- */

sk_status sk_track_sequence_frame(sk_track_sequence *s, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->frames, &s->frames_capacity, s->n_frames + 1, sizeof *s->frames,
                            MOST, err));
    s->frames[s->n_frames++] =
        (struct sk_track_frame){.truth = s->n_truth, .found = s->n_found, .pairs = s->n_pairs};
    return SK_OK;
}

sk_status sk_track_sequence_truth(sk_track_sequence *s, int32_t track, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->truth, &s->truth_capacity, s->n_truth + 1, sizeof *s->truth, MOST,
                            err));
    s->truth[s->n_truth++] = track;
    s->frames[s->n_frames - 1].n_truth++;
    s->truth_tracks = track >= s->truth_tracks ? track + 1 : s->truth_tracks;
    return SK_OK;
}

sk_status sk_track_sequence_found(sk_track_sequence *s, int32_t track, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->found, &s->found_capacity, s->n_found + 1, sizeof *s->found, MOST,
                            err));
    s->found[s->n_found++] = track;
    s->frames[s->n_frames - 1].n_found++;
    s->found_tracks = track >= s->found_tracks ? track + 1 : s->found_tracks;
    return SK_OK;
}

sk_status sk_track_sequence_pair(sk_track_sequence *s, int32_t truth, int32_t found, double similarity,
                                 sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->pairs, &s->pairs_capacity, s->n_pairs + 1, sizeof *s->pairs, MOST,
                            err));
    s->pairs[s->n_pairs++] = (sk_track_pair){truth, found, similarity};
    s->frames[s->n_frames - 1].n_pairs++;
    return SK_OK;
}

void sk_track_sequence_clear(sk_track_sequence *s)
{
    s->n_frames = s->n_truth = s->n_found = s->n_pairs = 0;
    s->truth_tracks = s->found_tracks = 0;
}

void sk_track_sequence_free(sk_track_sequence *s)
{
    sk_free(s->frames);
    sk_free(s->truth);
    sk_free(s->found);
    sk_free(s->pairs);
    *s = (sk_track_sequence){0};
}

/* --- the whole --- */

/* Which tracks are ever similar, and how long each one is. */
static sk_status gather(sk_tracking_run *run, sk_error *err)
{
    const sk_track_sequence *s = run->sequence;
    run->together_at = sk_malloc((s->n_pairs + 1) * sizeof *run->together_at);
    run->truth_length = sk_calloc((size_t)s->truth_tracks + 1, sizeof *run->truth_length);
    run->found_length = sk_calloc((size_t)s->found_tracks + 1, sizeof *run->found_length);
    if (!run->together_at || !run->truth_length || !run->found_length)
        return sk_fail_memory(err, (s->n_pairs + 1) * sizeof *run->together_at);
    for (size_t i = 0; i < s->n_truth; i++)
        run->truth_length[s->truth[i]]++;
    for (size_t i = 0; i < s->n_found; i++)
        run->found_length[s->found[i]]++;
    size_t most_pairs = 0, most_rows = (size_t)s->truth_tracks;
    for (size_t f = 0; f < s->n_frames; f++) {
        const struct sk_track_frame *frame = &s->frames[f];
        most_pairs = (size_t)frame->n_pairs > most_pairs ? (size_t)frame->n_pairs : most_pairs;
        for (int32_t i = 0; i < frame->n_pairs; i++) {
            const sk_track_pair *pair = &s->pairs[frame->pairs + (size_t)i];
            uint64_t truth = (uint32_t)s->truth[frame->truth + (size_t)pair->truth],
                     found = (uint32_t)s->found[frame->found + (size_t)pair->found];
            SK_TRY(sk_numbering_get(&run->together, truth << 32 | found,
                                    &run->together_at[frame->pairs + (size_t)i], err));
        }
    }
    if ((size_t)run->together.count > most_pairs)
        most_pairs = (size_t)run->together.count;
    SK_TRY(sk_array_reserve((void **)&run->weights, &run->weights_capacity, most_pairs + 1,
                            sizeof *run->weights, MOST, err));
    SK_TRY(sk_array_reserve((void **)&run->pair_of, &run->pair_of_capacity, most_rows + 1,
                            sizeof *run->pair_of, MOST, err));
    return sk_matching_open(&run->matching, err);
}

static int64_t used_tracks(const int32_t *length, int32_t count)
{
    int64_t used = 0;
    for (int32_t i = 0; i < count; i++)
        used += length[i] > 0;
    return used;
}

sk_status sk_tracking_measure(const sk_track_sequence *sequence, sk_track_score *out, sk_error *err)
{
    SK_CHECK_ARG(sequence && out, err);
    *out = (sk_track_score){.frames = (int64_t)sequence->n_frames,
                            .truth = (int64_t)sequence->n_truth,
                            .found = (int64_t)sequence->n_found};
    sk_tracking_run run = {.sequence = sequence};
    sk_status status = SK_OK;
    SK_TRY_GOTO(gather(&run, err));
    out->truth_tracks = used_tracks(run.truth_length, sequence->truth_tracks);
    out->found_tracks = used_tracks(run.found_length, sequence->found_tracks);
    SK_TRY_GOTO(sk_tracking_hota(&run, out, err));
    SK_TRY_GOTO(sk_tracking_clear(&run, out, err));
    SK_TRY_GOTO(sk_tracking_identity(&run, out, err));
    sk_tracking_finish(out);
done:
    sk_matching_close(&run.matching);
    sk_numbering_free(&run.together);
    sk_free(run.together_at);
    sk_free(run.truth_length);
    sk_free(run.found_length);
    sk_free(run.weights);
    sk_free(run.pair_of);
    return status;
}

/* --- sums --- */

static double per(double amount, double of)
{
    return amount / fmax(1, of);
}

static void finish_level(sk_hota *h)
{
    double right = (double)h->right, missed = (double)h->missed, wrong = (double)h->wrong;
    h->det_re = per(right, right + missed);
    h->det_pr = per(right, right + wrong);
    h->det_a = per(right, right + missed + wrong);
    h->hota = sqrt(h->det_a * h->ass_a);
    h->owta = sqrt(h->det_re * h->ass_a);
}

void sk_tracking_finish(sk_track_score *s)
{
    s->mean = (sk_hota){.right = s->level[0].right, .missed = s->level[0].missed, .wrong = s->level[0].wrong};
    for (int i = 0; i < SK_HOTA_LEVELS; i++) {
        sk_hota *h = &s->level[i], *m = &s->mean;
        finish_level(h);
        m->hota += h->hota / SK_HOTA_LEVELS, m->owta += h->owta / SK_HOTA_LEVELS;
        m->det_a += h->det_a / SK_HOTA_LEVELS, m->ass_a += h->ass_a / SK_HOTA_LEVELS;
        m->det_re += h->det_re / SK_HOTA_LEVELS, m->ass_re += h->ass_re / SK_HOTA_LEVELS;
        m->det_pr += h->det_pr / SK_HOTA_LEVELS, m->ass_pr += h->ass_pr / SK_HOTA_LEVELS;
        m->loc_a += h->loc_a / SK_HOTA_LEVELS;
    }
    double right = (double)s->right, wrong = (double)s->wrong, wanted = right + (double)s->missed;
    double switches = (double)s->switches;
    s->recall = per(right, wanted);
    s->precision = per(right, right + wrong);
    s->moda = per(right - wrong, wanted);
    s->mota = per(right - wrong - switches, wanted);
    s->motp = per(s->similarity_sum, right);
    s->smota = per(s->similarity_sum - wrong - switches, wanted);
    double same = (double)s->id_right;
    s->idr = per(same, same + (double)s->id_missed);
    s->idp = per(same, same + (double)s->id_wrong);
    s->idf1 = per(same, same + 0.5 * (double)s->id_wrong + 0.5 * (double)s->id_missed);
}

void sk_tracking_add(sk_track_score *sum, const sk_track_score *one)
{
    for (int i = 0; i < SK_HOTA_LEVELS; i++) {
        sk_hota *a = &sum->level[i];
        const sk_hota *b = &one->level[i];
        double before = (double)a->right, added = (double)b->right, both = before + added;
        a->ass_a = per(a->ass_a * before + b->ass_a * added, both);
        a->ass_re = per(a->ass_re * before + b->ass_re * added, both);
        a->ass_pr = per(a->ass_pr * before + b->ass_pr * added, both);
        a->loc_a = both > 0 ? (a->loc_a * before + b->loc_a * added) / both : 1;
        a->right += b->right, a->missed += b->missed, a->wrong += b->wrong;
    }
    sum->frames += one->frames;
    sum->truth_tracks += one->truth_tracks, sum->found_tracks += one->found_tracks;
    sum->truth += one->truth, sum->found += one->found;
    sum->right += one->right, sum->missed += one->missed, sum->wrong += one->wrong;
    sum->switches += one->switches, sum->fragments += one->fragments;
    sum->mostly_tracked += one->mostly_tracked, sum->partly_tracked += one->partly_tracked;
    sum->mostly_lost += one->mostly_lost;
    sum->similarity_sum += one->similarity_sum;
    sum->id_right += one->id_right, sum->id_missed += one->id_missed, sum->id_wrong += one->id_wrong;
    sk_tracking_finish(sum);
}
