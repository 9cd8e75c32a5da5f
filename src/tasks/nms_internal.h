/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_NMS_INTERNAL_H
#define SK_TASKS_NMS_INTERNAL_H

#include "tasks/nms.h"

/* Shared by nms.c and rotated_nms.c. */
enum { SK_NMS_COLUMNS = 8, SK_NMS_BLOCK = 16, SK_NMS_MOST = 30000 };
#define SK_NMS_OFFSET 7680.0f

struct sk_nms {
    int32_t capacity, max_det;
    int32_t *order;                 /* [capacity] candidates by rank */
    uint64_t *keys;                 /* [2 * capacity] */
    float *columns[SK_NMS_COLUMNS]; /* each of max(capacity, max_det) rows and one block more */
};

/* rotated_nms.c: see sk_nms_rules. */
float sk_nms_reach(double iou);

/* Fills `order`; returns how many candidates take part. */
int32_t sk_nms_rank(sk_nms *nms, const sk_candidates *candidates);

#endif
