/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_GPU_EDGES_H
#define SK_BENCH_GPU_EDGES_H

#include "models/model.h"
#include "tasks/yolo_post.h"

/* Two runtimes' raw heads for the same picture, decoded and suppressed by the same code, place by place. Prints how far the
 * detections both have differ, and for every one only one of them has, why: which limit its score or an overlap lies at, and how
 * far from it. Returns how many cannot be explained so. `scale`: frame pixels for one of the network's input. */
int edges_explain(const sk_model *model, const sk_yolo_settings *settings, const char *const names[2],
                  const sk_tensor *const heads[2], int32_t width, int32_t height, double scale);

#endif
