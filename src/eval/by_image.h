/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_BY_IMAGE_H
#define SK_EVAL_BY_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* One side's annotations in the order in which they are matched: everything of one image stands together, detections best
 * first, truth (which has no scores) in the file's order. */
typedef struct sk_by_image {
    int32_t image; /* the truth's, or its place in the order of evaluation */
    double score;
    size_t index; /* of the annotation */
} sk_by_image;

void sk_by_image_sort(sk_by_image *items, size_t count);

#endif
