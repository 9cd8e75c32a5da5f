/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_YOLO_HEADS_H
#define SK_TASKS_YOLO_HEADS_H

#include "models/model.h"
#include "base/instances.h"
#include "tasks/map.h"
#include "tasks/yolo_formula.h"

/* The raw heads of a YOLO network for one image, and what they say at one place (yolo_formula.h). Places count
 * through the levels, finest first, each row by row. */

enum { SK_YOLO_MAX_HEADS = 4 * SK_MAX_LEVELS + 2, SK_YOLO_MAX_REG = 64 };

typedef struct sk_yolo_level {
    const sk_map *box, *classes, *keypoints, *angle;
    int32_t first, width, places;
    float stride;
} sk_yolo_level;

typedef struct sk_yolo_heads {
    const sk_yolo_spec *spec;
    sk_task task;
    sk_map maps[SK_YOLO_MAX_HEADS];
    sk_yolo_level levels[SK_MAX_LEVELS];
} sk_yolo_heads;

/* Takes the maps in the order of spec->heads and checks them against it. `spec` is borrowed. */
sk_status sk_yolo_heads_bind(sk_yolo_heads *heads, const sk_yolo_spec *spec, sk_task task, const sk_map *maps,
                             int32_t n_maps, int32_t max_places, sk_error *err) SK_MUST_CHECK;
const sk_yolo_level *sk_yolo_heads_level(const sk_yolo_heads *heads, int32_t place);
/* x1, y1, x2, y2, or cx, cy, w, h and angle of oriented boxes; network input pixels. */
void sk_yolo_heads_box(const sk_yolo_heads *heads, int32_t place, float box[4], float *angle);
void sk_yolo_heads_keypoints(const sk_yolo_heads *heads, int32_t place, sk_keypoint *out);

#endif
