/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_NMS_H
#define SK_TASKS_NMS_H

#include "tasks/candidates.h"

/* Suppression of overlapping candidates, as Ultralytics' predict does it. Both forms rank by score (equal
 * scores by position), keep boxes of different classes apart by shifting them 7680 pixels a class (not
 * when agnostic), and consider the best 30000. */

typedef struct sk_nms sk_nms;

/* Work space for up to `capacity` candidates and `max_det` results. */
sk_status sk_nms_open(int32_t capacity, int32_t max_det, sk_nms **out, sk_error *err) SK_MUST_CHECK;
void sk_nms_close(sk_nms **nms);

/* Greedy: a box is dropped when its overlap with a box already kept exceeds `iou`. Writes the indices
 * kept, best first, to `keep` (max_det elements) and returns how many. */
int32_t sk_nms_greedy(sk_nms *nms, const sk_candidates *candidates, double iou, int agnostic, int32_t *keep);

/* Oriented boxes (cx, cy, w, h, angle), one pass and not greedy: a box is dropped when its probabilistic
 * overlap with any better box, kept or dropped itself, is at least `iou`. */
int32_t sk_nms_rotated(sk_nms *nms, const sk_candidates *candidates, double iou, int agnostic, int32_t *keep);

/* What the two forms go by, for whoever does the same elsewhere: the limit as they compare with it (greedy: overlap >
 * limit; oriented: >=); oriented boxes: the squared distance of centres, per unit of summed reach (the larger of w^2 / 12
 * and h^2 / 12, or infinity for tiny and very thin boxes), beyond which overlaps stay below it; the shift between classes;
 * how many take part. */
void sk_nms_rules(double iou, int rotated, int agnostic, float *limit, float *reach, float *offset,
                  int32_t *most);

/* The overlap measure of sk_nms_rotated for two boxes cx, cy, w, h, angle. */
float sk_probiou(const float a[5], const float b[5]);

#endif
