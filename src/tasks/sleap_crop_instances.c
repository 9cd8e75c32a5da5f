/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sleap_post_internal.h"

#include "base/instances.h"

#include <math.h>
#include <string.h>

/* Top-down models: a frame's crops, one after another, become its instances. */

void sk_sleap_post_begin(sk_sleap_post *p, sk_instances *out)
{
    p->n_crops = 0;
    out->count = 0;
}

sk_status sk_sleap_post_crop(sk_sleap_post *p, const sk_map *maps, int32_t n_maps, const sk_sleap_crop *crop,
                             const sk_sleap_centroid *centroid, float eff_scale, sk_instances *out,
                             sk_error *err)
{
    SK_CHECK_ARG(p && maps && crop && centroid && out && eff_scale > 0, err);
    SK_CHECK_ARG(sk_sleap_on_crops(p->task), err);
    SK_TRY(sk_sleap_check_maps(p, maps, n_maps, out, err));
    if (p->n_crops >= p->capacity)
        return sk_fail(err, SK_ERR_LIMIT, "more than %d crops in one frame", (int)p->capacity);
    sk_found *item = sk_instances_add(out);
    item->has = SK_HAS_KEYPOINTS;
    item->score = centroid->score;
    item->class_id = centroid->class_id;
    sk_sleap_highest_peaks(p, maps);
    for (int32_t k = 0; k < p->n_nodes; k++) {
        sk_peak *peak = &p->peaks[k];
        if (!isfinite(peak->x))
            continue;
        sk_sleap_refine(p, maps, peak);
        sk_keypoint *point = &out->keypoints[item->first_keypoint + k];
        if (centroid->turned)
            sk_sleap_crop_undo_turned(crop, centroid->x, centroid->y, centroid->angle, &peak->x, &peak->y);
        else
            sk_sleap_crop_undo(crop, centroid->x, centroid->y, &peak->x, &peak->y);
        *point = (sk_keypoint){peak->x / eff_scale, peak->y / eff_scale, peak->value};
    }
    if (p->task == SK_TASK_MULTICLASS_TOPDOWN) {
        const sk_map *v = sk_sleap_map_of(p, maps, SK_OUTPUT_CLASS_VECTORS);
        for (int32_t c = 0; c < p->n_classes; c++)
            p->vectors[p->n_crops * p->n_classes + c] =
                v->channels == p->n_classes ? v->data[c * v->channel_stride] : v->data[c * v->place_stride];
    }
    p->n_crops++;
    return SK_OK;
}

sk_status sk_sleap_post_crop_table(sk_sleap_post *p, const sk_peak_word *table, const sk_map *maps,
                                   int32_t n_maps, const sk_sleap_crop *crop,
                                   const sk_sleap_centroid *centroid, float eff_scale, sk_instances *out,
                                   sk_error *err)
{
    SK_TRY(sk_sleap_take_table(p, table, maps, n_maps, err));
    sk_status status = sk_sleap_post_crop(p, maps, n_maps, crop, centroid, eff_scale, out, err);
    p->table = NULL;
    return status;
}

/* SLEAP's grouping of crops by identity: a crop stays where the assignment gives it a class that is also its own best.
 * Instances come in the order of the classes, and the i-th class has the value of the frame's i-th centroid as its score,
 * whichever crop it got: as the original writes them. */
static void group_by_class(sk_sleap_post *p, sk_instances *out)
{
    const int32_t n = out->count < p->n_crops ? out->count : p->n_crops, k = out->n_keypoints;
    sk_identity_from_values(p->identity, p->vectors, n, p->class_of, p->probability);
    memcpy(p->crop_items, out->items, (size_t)n * sizeof *p->crop_items);
    memcpy(p->crop_points, out->keypoints, (size_t)n * (size_t)k * sizeof *p->crop_points);
    out->count = 0;
    for (int32_t c = 0; c < p->n_classes; c++) {
        const int32_t from = p->class_of[c];
        if (from < 0)
            continue;
        sk_found *item = &out->items[out->count];
        *item = p->crop_items[from];
        item->first_keypoint = out->count++ * k;
        item->class_id = c;
        item->tracking_score = p->probability[c];
        if (c < n)
            item->score = p->crop_items[c].score;
        memcpy(&out->keypoints[item->first_keypoint], &p->crop_points[p->crop_items[from].first_keypoint],
               (size_t)k * sizeof *p->crop_points);
    }
}

void sk_sleap_post_end(sk_sleap_post *p, sk_instances *out)
{
    if (p->task == SK_TASK_MULTICLASS_TOPDOWN && p->legacy) {
        group_by_class(p, out);
    } else if (p->task == SK_TASK_MULTICLASS_TOPDOWN) {
        sk_identity_from_vectors(p->identity, p->vectors, p->n_crops, p->class_of, p->probability);
        for (int32_t i = 0; i < out->count && i < p->n_crops; i++) {
            out->items[i].class_id = p->class_of[i];
            out->items[i].tracking_score = p->probability[i];
        }
    }
    if (!p->settings.keep_empty)
        sk_sleap_drop_empty(out);
}
