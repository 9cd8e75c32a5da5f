/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_PAIRING_H
#define SK_EVAL_PAIRING_H

#include "results/annotations.h"

/* Which frame, class and keypoint of a result is which of the truth. */
typedef struct sk_pairing {
    int32_t *image; /* of a result's image: the truth's, -1 when the truth does not list it */
    bool pictures;  /* images are pictures, not frames of videos */
    int32_t *rank;  /* of a truth's image: its place in the order of evaluation */
    int32_t *truth_class, *result_class; /* of each side's class: the common one */
    int32_t n_classes;
    char **class_names;
    int32_t n_keypoints; /* common ones, in the truth's order */
    int32_t *truth_point, *result_point;
    char **keypoint_names;
    sk_text notes; /* a line each */
} sk_pairing;

/* `any_class`: all are one. The pairing is ended by sk_pairing_free. */
sk_status sk_pairing_open(const sk_annotation_set *result, const sk_annotation_set *truth, bool any_class,
                          sk_pairing *out, sk_error *err) SK_MUST_CHECK;
void sk_pairing_free(sk_pairing *pairing);

#endif
