/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_ROW_STRIPS_H
#define SK_TASKS_ROW_STRIPS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows of a picture that shrinking it reads (tasks/resize_linear.h), where they are a regular part of all: `count` times
 * `height` rows, `step` apart. A row of the result is mixed from two rows, or from one: at 1920 x 1080 into 640 x 360 every
 * third row counts, at 3840 x 2160 two of six. Whoever moves pictures may leave the others out. count 0: all rows. */
typedef struct sk_row_strips {
    int32_t first, step, height, count;
} sk_row_strips;

/* Leaves count 0 where leaving out is not worth it. */
sk_status sk_row_strips_find(int32_t width, int32_t height, int32_t to_width, int32_t to_height,
                             sk_row_strips *out, sk_error *err) SK_MUST_CHECK;
/* Number of a row among those that are read; -1: it is none. */
int32_t sk_row_strips_number(const sk_row_strips *strips, int32_t row);

#endif
