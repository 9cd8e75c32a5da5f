/* SPDX-License-Identifier: Apache-2.0 */
#include "base/instances.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

sk_status sk_instances_alloc(int32_t capacity, int32_t n_keypoints, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = (sk_instances){0};
    SK_CHECK_ARG(capacity >= 1 && n_keypoints >= 0, err);
    size_t points;
    if (!sk_mul_size((size_t)capacity, (size_t)n_keypoints, &points) || points > (size_t)INT32_MAX)
        return sk_fail(err, SK_ERR_LIMIT, "%d instances of %d keypoints are too many", (int)capacity,
                       (int)n_keypoints);
    out->items = sk_calloc((size_t)capacity, sizeof *out->items);
    out->keypoints = sk_calloc(points, sizeof *out->keypoints);
    if (!out->items || !out->keypoints) {
        sk_instances_free(out);
        return sk_fail_memory(err, points * sizeof *out->keypoints);
    }
    out->capacity = capacity;
    out->n_keypoints = n_keypoints;
    return SK_OK;
}

void sk_instances_free(sk_instances *instances)
{
    if (!instances)
        return;
    sk_free(instances->items);
    sk_free(instances->keypoints);
    *instances = (sk_instances){0};
}

sk_found *sk_instances_add(sk_instances *instances)
{
    if (instances->count >= instances->capacity)
        return NULL;
    int32_t i = instances->count++;
    sk_found *item = &instances->items[i];
    *item = (sk_found){.class_id = -1, .track_id = -1, .first_keypoint = i * instances->n_keypoints};
    for (int32_t k = 0; k < instances->n_keypoints; k++)
        instances->keypoints[item->first_keypoint + k] = (sk_keypoint){NAN, NAN, 0};
    return item;
}

int32_t sk_instances_count(const sk_instances *list)
{
    return list ? list->count : 0;
}

int32_t sk_instances_keypoint_count(const sk_instances *list)
{
    return list ? list->n_keypoints : 0;
}

bool sk_instances_get(const sk_instances *list, int32_t index, sk_instance *out)
{
    if (!list || !out || index < 0 || index >= list->count || out->size < sizeof out->size)
        return false;
    const sk_found *found = &list->items[index];
    sk_instance whole = {.size = out->size,
                         .has = found->has,
                         .class_id = found->class_id,
                         .score = found->score,
                         .track_id = found->track_id,
                         .tracking_score = found->tracking_score};
    memcpy(whole.box, found->box, sizeof whole.box);
    memcpy(whole.obb, found->obb, sizeof whole.obb);
    memcpy(out, &whole, out->size < sizeof whole ? out->size : sizeof whole);
    return true;
}

const sk_keypoint *sk_instances_keypoints(const sk_instances *list, int32_t index)
{
    if (!list || index < 0 || index >= list->count || list->n_keypoints == 0)
        return NULL;
    return list->keypoints + list->items[index].first_keypoint;
}
