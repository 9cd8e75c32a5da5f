/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_TRACKING_H
#define SK_EVAL_TRACKING_H

#include "base/error.h"
#include "eval/matching.h"
#include "eval/numbering.h"

#include <stddef.h>
#include <stdint.h>

/* How well tracks keep identities, from numbers and similarities alone: HOTA, CLEAR MOT and identity figures by the
 * definitions of TrackEval, which tests/parity/tracking.py compares with. What a similarity is, others decide (tracks.c). */

#define SK_HOTA_LEVELS   19  /* similarities 0.05, 0.10 … 0.95 */
#define SK_TRACK_SIMILAR 0.5 /* from here on CLEAR and identity figures take two for the same */

/* A truth and a found animal of one frame that are similar at all; pairs that are not given have similarity 0. */
typedef struct sk_track_pair {
    int32_t truth, found; /* places in the frame */
    double similarity;    /* above 0, to 1 */
} sk_track_pair;

/* One video: frame by frame which tracks are there. No track is twice in a frame. */
typedef struct sk_track_sequence {
    size_t n_frames, frames_capacity;
    struct sk_track_frame {
        size_t truth, found, pairs; /* where the frame's part of the lists below begins */
        int32_t n_truth, n_found, n_pairs;
    } * frames;
    int32_t *truth, *found; /* tracks, numbered from 0 */
    size_t n_truth, n_found, truth_capacity, found_capacity;
    sk_track_pair *pairs; /* of a frame by rising truth, then found */
    size_t n_pairs, pairs_capacity;
    int32_t truth_tracks, found_tracks; /* how many there are */
} sk_track_sequence;

/* A new frame at the end with nothing in it. */
sk_status sk_track_sequence_frame(sk_track_sequence *sequence, sk_error *err) SK_MUST_CHECK;
/* Adds to the last frame. */
sk_status sk_track_sequence_truth(sk_track_sequence *sequence, int32_t track, sk_error *err) SK_MUST_CHECK;
sk_status sk_track_sequence_found(sk_track_sequence *sequence, int32_t track, sk_error *err) SK_MUST_CHECK;
sk_status sk_track_sequence_pair(sk_track_sequence *sequence, int32_t truth, int32_t found, double similarity,
                                 sk_error *err) SK_MUST_CHECK;
/* The pairs of a frame; null where the whole sequence has none. */
static inline const sk_track_pair *sk_track_frame_pairs(const sk_track_sequence *sequence,
                                                        const struct sk_track_frame *frame)
{
    return sequence->pairs ? sequence->pairs + frame->pairs : NULL;
}
/* Forgets the frames, keeps the memory. */
void sk_track_sequence_clear(sk_track_sequence *sequence);
void sk_track_sequence_free(sk_track_sequence *sequence);

/* HOTA's figures at one similarity. */
typedef struct sk_hota {
    int64_t right, missed, wrong; /* detections */
    double hota, det_a, det_re, det_pr, ass_a, ass_re, ass_pr, loc_a, owta;
} sk_hota;

/* Of one video, or of several put together. */
typedef struct sk_track_score {
    int64_t frames;                      /* with an animal, in truth or result */
    int64_t truth_tracks, found_tracks;  /* tracks */
    int64_t truth, found;                /* animals in frames */
    sk_hota level[SK_HOTA_LEVELS], mean; /* mean: over the levels; its counts are those of the first */
    /* CLEAR MOT */
    int64_t right, missed, wrong, switches, fragments;
    int64_t mostly_tracked, partly_tracked, mostly_lost; /* tracks of the truth */
    double similarity_sum;                               /* of the right ones */
    double mota, motp, moda, smota, precision, recall;
    /* identity */
    int64_t id_right, id_missed, id_wrong;
    double idf1, idp, idr;
} sk_track_score;

sk_status sk_tracking_measure(const sk_track_sequence *sequence, sk_track_score *out,
                              sk_error *err) SK_MUST_CHECK;
/* Puts another video's, or another class's, figures to a sum that begins as zeros: counts are summed, association is averaged
 * over right detections. */
void sk_tracking_add(sk_track_score *sum, const sk_track_score *one);

/* --- inside eval/: the three families of figures; all count into a score that begins as zeros --- */

typedef struct sk_tracking_run {
    const sk_track_sequence *sequence;
    sk_matching *matching;
    sk_numbering together;                /* pairs of tracks that are ever similar: truth << 32 | found */
    int32_t *together_at;                 /* by the sequence's pair */
    int32_t *truth_length, *found_length; /* frames of each track */
    sk_weighted_pair *weights;            /* room for the pairs of the largest frame, or of `together` */
    size_t weights_capacity;
    int32_t *pair_of; /* by truth of the largest frame, or by track */
    size_t pair_of_capacity;
} sk_tracking_run;

sk_status sk_tracking_hota(sk_tracking_run *run, sk_track_score *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_tracking_clear(sk_tracking_run *run, sk_track_score *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_tracking_identity(sk_tracking_run *run, sk_track_score *out, sk_error *err) SK_MUST_CHECK;
/* What follows from counts and sums. */
void sk_tracking_finish(sk_track_score *score);

/* Similarity of the level, as TrackEval's list rounds it. */
static inline double sk_hota_level(int level)
{
    return 0.05 + level * 0.05;
}

#endif
