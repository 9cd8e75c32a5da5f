/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_CANDIDATES_H
#define SK_TASKS_CANDIDATES_H

#include "base/memory.h"

/* What a YOLO head proposes before suppression, one array a column, in network input pixels. Made once,
 * refilled for every image. */
typedef struct sk_candidates {
    int32_t count, capacity;
    float *box[4]; /* x1, y1, x2, y2; oriented boxes: cx, cy, w, h */
    float *angle;  /* radians; oriented boxes only, else 0 */
    float *score;
    int32_t *class_id;
    int32_t *place; /* anchor or found one the candidate came from */
} sk_candidates;

sk_status sk_candidates_alloc(int32_t capacity, sk_candidates *out, sk_error *err) SK_MUST_CHECK;
void sk_candidates_free(sk_candidates *candidates);

#endif
