/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracking.h"

/* Identity figures (Ristani et al., 2016): every track of the truth is put together with one of the result at most, once for
 * the whole video, so that the frames in which both are similar enough are the most; these are right, all others missed or
 * wrong. */

sk_status sk_tracking_identity(sk_tracking_run *run, sk_track_score *out, sk_error *err)
{
    const sk_track_sequence *s = run->sequence;
    for (int32_t i = 0; i < run->together.count; i++)
        run->weights[i] = (sk_weighted_pair){(int32_t)(run->together.keys[i] >> 32),
                                             (int32_t)(uint32_t)run->together.keys[i], 0};
    for (size_t i = 0; i < s->n_pairs; i++)
        if (s->pairs[i].similarity >= SK_TRACK_SIMILAR)
            run->weights[run->together_at[i]].weight += 1;
    size_t n = 0;
    for (int32_t i = 0; i < run->together.count; i++)
        if (run->weights[i].weight > 0)
            run->weights[n++] = run->weights[i];
    SK_TRY(sk_matching_solve(run->matching, s->truth_tracks, s->found_tracks, run->weights, n, run->pair_of,
                             err));
    for (int32_t r = 0; r < s->truth_tracks; r++)
        if (run->pair_of[r] >= 0)
            out->id_right += (int64_t)run->weights[run->pair_of[r]].weight;
    out->id_missed = out->truth - out->id_right;
    out->id_wrong = out->found - out->id_right;
    return SK_OK;
}
