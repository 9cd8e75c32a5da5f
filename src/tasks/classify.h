/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_CLASSIFY_H
#define SK_TASKS_CLASSIFY_H

#include "base/error.h"
#include "graph/tensor.h"
#include "skitter/frame.h"
#include "base/instances.h"

/* What surrounds a network that says what a whole frame shows, as Ultralytics has it: the shorter side is scaled to the
 * network's (antialiased bilinear; other than square networks get the frame scaled to their shape), the middle is cut out;
 * and the five best classes with their probabilities are the result, whatever these are. */

#define SK_CLASSIFY_BEST 5

typedef struct sk_classify sk_classify;

sk_status sk_classify_open(int32_t frame_width, int32_t frame_height, int32_t width, int32_t height,
                           sk_classify **out, sk_error *err) SK_MUST_CHECK;
void sk_classify_close(sk_classify **classify);
/* The size the whole frame is scaled to. */
void sk_classify_scaled(const sk_classify *classify, int32_t *width, int32_t *height);
/* [height][width][3] of 8-bit R, G, B. */
sk_status sk_classify_input(sk_classify *classify, const sk_frame *frame, uint8_t *out,
                            sk_error *err) SK_MUST_CHECK;
/* From probabilities [batch][classes]. */
sk_status sk_classify_result(const sk_tensor *scores, int32_t image, sk_instances *out,
                             sk_error *err) SK_MUST_CHECK;

#endif
