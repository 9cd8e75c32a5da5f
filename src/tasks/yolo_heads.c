/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/yolo_heads.h"

#include <string.h>

sk_status sk_yolo_heads_bind(sk_yolo_heads *h, const sk_yolo_spec *spec, sk_task task, const sk_map *maps,
                             int32_t n_maps, int32_t max_places, sk_error *err)
{
    h->spec = spec;
    h->task = task;
    if (n_maps < spec->n_heads || spec->n_levels < 1)
        return sk_fail(err, SK_ERR_MISMATCH, "the network gave %d outputs; its %d raw heads are expected",
                       (int)n_maps, (int)spec->n_heads);
    memset(h->levels, 0, sizeof h->levels);
    for (int32_t i = 0; i < spec->n_heads; i++) {
        const sk_head_spec *head = &spec->heads[i];
        if (head->kind == SK_HEAD_PROTO || head->kind == SK_HEAD_MASK)
            continue;
        if (head->level < 0 || head->level >= spec->n_levels)
            return sk_fail(err, SK_ERR_MISMATCH, "raw head %d belongs to level %d of %d", (int)i,
                           (int)head->level, (int)spec->n_levels);
        h->maps[i] = maps[i];
        const sk_map *map = &h->maps[i];
        sk_yolo_level *l = &h->levels[head->level];
        int32_t channels = 1;
        switch (head->kind) {
        case SK_HEAD_BOX:
            l->box = map;
            channels = 4 * spec->reg_max;
            break;
        case SK_HEAD_CLASS:
            l->classes = map;
            channels = spec->n_classes;
            break;
        case SK_HEAD_KEYPOINTS:
            l->keypoints = map;
            channels = spec->n_keypoints * spec->keypoint_dims;
            break;
        default: l->angle = map; break;
        }
        if (map->channels != channels)
            return sk_fail(err, SK_ERR_MISMATCH, "raw head %d has %d channels; %d are expected", (int)i,
                           (int)map->channels, (int)channels);
    }
    int64_t first = 0;
    for (int32_t k = 0; k < spec->n_levels; k++) {
        sk_yolo_level *l = &h->levels[k];
        if (!l->box || !l->classes || (h->task == SK_TASK_POSE && !l->keypoints) ||
            (h->task == SK_TASK_OBB && !l->angle))
            return sk_fail(err, SK_ERR_MISMATCH, "level %d lacks a raw head of its task", (int)k);
        const sk_map *others[3] = {l->classes, l->keypoints, l->angle};
        for (int j = 0; j < 3; j++)
            if (others[j] && (others[j]->height != l->box->height || others[j]->width != l->box->width))
                return sk_fail(err, SK_ERR_MISMATCH, "the raw heads of level %d differ in size", (int)k);
        l->first = (int32_t)first;
        l->width = l->box->width;
        l->places = l->box->height * l->box->width;
        l->stride = spec->stride[k];
        first += l->places;
    }
    if (first > max_places)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "the network gave %lld anchors; this stage was opened for at most %d",
                       (long long)first, (int)max_places);
    return SK_OK;
}

const sk_yolo_level *sk_yolo_heads_level(const sk_yolo_heads *h, int32_t place)
{
    int32_t k = 0;
    while (k + 1 < h->spec->n_levels && place >= h->levels[k + 1].first)
        k++;
    return &h->levels[k];
}

/* Distances left, top, right, bottom in grid units. */
static void distances(const sk_yolo_heads *h, const sk_yolo_level *l, int32_t inside, float out[4])
{
    int32_t reg = h->spec->reg_max;
    for (int32_t side = 0; side < 4; side++) {
        if (reg == 1) {
            out[side] = sk_map_place(l->box, side, inside);
            continue;
        }
        float v[SK_YOLO_MAX_REG];
        sk_yolo_mean mean = sk_yolo_mean_begin();
        for (int32_t i = 0; i < reg; i++) {
            v[i] = sk_map_place(l->box, side * reg + i, inside);
            sk_yolo_mean_look(&mean, v[i]);
        }
        for (int32_t i = 0; i < reg; i++)
            sk_yolo_mean_add(&mean, i, v[i]);
        out[side] = sk_yolo_mean_of(&mean);
    }
}

void sk_yolo_heads_box(const sk_yolo_heads *h, int32_t place, float box[4], float *angle)
{
    const sk_yolo_level *l = sk_yolo_heads_level(h, place);
    int32_t inside = place - l->first;
    float ax = sk_yolo_anchor(inside % l->width), ay = sk_yolo_anchor(inside / l->width), r[4];
    distances(h, l, inside, r);
    *angle = 0;
    if (h->task == SK_TASK_OBB) {
        *angle = sk_yolo_angle(sk_map_place(l->angle, 0, inside), h->spec->angle_raw);
        sk_yolo_box_oriented(ax, ay, l->stride, r, *angle, box);
    } else if (h->spec->end2end) {
        sk_yolo_box_corners(ax, ay, l->stride, r, box);
    } else {
        sk_yolo_box(ax, ay, l->stride, r, box);
    }
}

void sk_yolo_heads_keypoints(const sk_yolo_heads *h, int32_t place, sk_keypoint *out)
{
    const sk_yolo_spec *spec = h->spec;
    const sk_yolo_level *l = sk_yolo_heads_level(h, place);
    const sk_map *m = l->keypoints;
    int32_t dims = spec->keypoint_dims, at = place - l->first, era = spec->keypoints_26;
    float ax = sk_yolo_anchor(at % l->width), ay = sk_yolo_anchor(at / l->width);
    for (int32_t k = 0; k < spec->n_keypoints; k++)
        out[k] = (sk_keypoint){
            sk_yolo_keypoint(sk_map_place(m, k * dims, at), ax, l->stride, era),
            sk_yolo_keypoint(sk_map_place(m, k * dims + 1, at), ay, l->stride, era),
            dims == 3 ? sk_yolo_sigmoid(sk_map_place(m, k * dims + 2, at)) : 1,
        };
}
