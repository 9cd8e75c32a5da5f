/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracks.h"

#include "base/clock.h"
#include "base/memory.h"
#include "tasks/overlap.h"

#include <math.h>

/* A keypoint farther than this many spreads adds less than 1e-17 to OKS. */
#define FAR_SPREADS 9

/* Around the keypoints that are there. */
static bool points_bounds(const sk_annotation_set *set, const sk_annotation *a, double out[4])
{
    out[0] = out[1] = INFINITY, out[2] = out[3] = -INFINITY;
    for (int32_t k = 0; k < set->n_keypoints; k++) {
        const sk_annotation_point *p = &set->points[a->first + (size_t)k];
        if (isnan(p->x) || isnan(p->y))
            continue;
        out[0] = fmin(out[0], p->x), out[1] = fmin(out[1], p->y);
        out[2] = fmax(out[2], p->x), out[3] = fmax(out[3], p->y);
    }
    return out[0] <= out[2];
}

static bool part_centre(const sk_annotation_set *set, const sk_annotation *a, uint32_t part, double out[2])
{
    double bounds[4];
    switch (part & a->has) {
    case SK_HAS_POINT:
    case SK_HAS_OBB: out[0] = a->obb[0], out[1] = a->obb[1]; return true;
    case SK_HAS_BOX: out[0] = a->box[0] + a->box[2] / 2, out[1] = a->box[1] + a->box[3] / 2; return true;
    case SK_HAS_KEYPOINTS:
        if (!points_bounds(set, a, bounds))
            return false;
        out[0] = (bounds[0] + bounds[2]) / 2, out[1] = (bounds[1] + bounds[3]) / 2;
        return true;
    default: return false;
    }
}

bool sk_tracks_centre(const sk_tracks_task *task, const sk_annotation_set *set, const sk_annotation *a,
                      double out[2])
{
    static const uint32_t parts[] = {SK_HAS_POINT, SK_HAS_OBB, SK_HAS_BOX, SK_HAS_KEYPOINTS};
    bool found = task->centre && part_centre(set, a, task->centre, out);
    for (size_t i = 0; !found && i < sizeof parts / sizeof *parts; i++)
        found = part_centre(set, a, parts[i], out);
    if (found && set == task->result) {
        double shift = a->has & SK_HAS_KEYPOINTS ? task->settings->shift : 0;
        out[0] += shift, out[1] += shift;
    }
    return found;
}

static sk_reach pose_reach(const sk_tracks_task *task, const sk_annotation *a, bool truth, int32_t place)
{
    double b[4], far = 0, shift = truth ? 0 : task->settings->shift;
    static const sk_reach everywhere = {-INFINITY, -INFINITY, INFINITY, INFINITY, 0},
                          nowhere = {INFINITY, INFINITY, -INFINITY, -INFINITY, 0};
    sk_reach out = truth ? everywhere : nowhere;
    if (points_bounds(truth ? task->truth : task->result, a, b)) {
        double spread = 0;
        for (int32_t k = 0; k < task->pairing->n_keypoints; k++)
            spread = fmax(spread, 2 * task->points->sigmas[k]);
        if (truth)
            far = FAR_SPREADS * spread * sqrt(fmax(0, sk_keypoint_area(task->points, a)) + 1);
        out = (sk_reach){b[0] - far + shift, b[1] - far + shift, b[2] + far + shift, b[3] + far + shift, 0};
    }
    out.place = place;
    return out;
}

sk_reach sk_tracks_reach(const sk_tracks_task *task, const sk_annotation *a, bool truth, int32_t place)
{
    double c[8], centre[2] = {0};
    switch (task->kind) {
    case SK_TRACKS_BOX:
        return (sk_reach){a->box[0], a->box[1], a->box[0] + a->box[2], a->box[1] + a->box[3], place};
    case SK_TRACKS_OBB:
        sk_oriented_corners(a->obb, c);
        return (sk_reach){fmin(fmin(c[0], c[2]), fmin(c[4], c[6])), fmin(fmin(c[1], c[3]), fmin(c[5], c[7])),
                          fmax(fmax(c[0], c[2]), fmax(c[4], c[6])), fmax(fmax(c[1], c[3]), fmax(c[5], c[7])),
                          place};
    case SK_TRACKS_POSE: return pose_reach(task, a, truth, place);
    default:
        sk_tracks_centre(task, truth ? task->truth : task->result, a, centre);
        double far = truth ? task->distance : 0;
        return (sk_reach){centre[0] - far, centre[1] - far, centre[0] + far, centre[1] + far, place};
    }
}

double sk_tracks_similarity(const sk_tracks_task *task, const sk_annotation *found,
                            const sk_annotation *wanted)
{
    double a[2], b[2], oks;
    switch (task->kind) {
    case SK_TRACKS_BOX: return sk_overlap_boxes(found->box, wanted->box, false);
    case SK_TRACKS_OBB:
        return fmin(1, sk_overlap_oriented(found->obb, wanted->obb, false)); /* clipping rounds */
    case SK_TRACKS_POSE:
        oks = sk_keypoint_similarity(task->points, found, wanted, false);
        return oks > 1 ? 1 : oks; /* by COCO's formula it has no end where a file gives an area below 0 */
    default:
        if (!sk_tracks_centre(task, task->result, found, a) ||
            !sk_tracks_centre(task, task->truth, wanted, b))
            return 0;
        return fmax(0, 1 - hypot(a[0] - b[0], a[1] - b[1]) / task->distance);
    }
}

/* --- how long a body is --- */

static double body_of(const sk_annotation_set *set, const sk_annotation *a)
{
    if (!isnan(a->length))
        return a->length;
    if (a->has & SK_HAS_OBB)
        return fmax(a->obb[2], a->obb[3]);
    double longest = 0;
    const bool posed = a->has & SK_HAS_KEYPOINTS;
    const sk_annotation_point *p = posed ? set->points + a->first : NULL;
    for (int32_t i = 0; posed && i < set->n_keypoints; i++)
        for (int32_t k = 0; k < i; k++)
            longest = fmax(longest, hypot(p[i].x - p[k].x, p[i].y - p[k].y)); /* not what is NaN */
    return longest > 0 ? longest : a->has & SK_HAS_BOX ? fmax(a->box[2], a->box[3]) : 0;
}

#define SAMPLES 100000 /* are enough for the middle one */

static sk_status middle_body(const sk_annotation_set *set, double *out, sk_error *err)
{
    size_t step = set->n_items / SAMPLES + 1, n = 0;
    double *lengths = sk_malloc((set->n_items / step + 2) * sizeof *lengths);
    if (!lengths)
        return sk_fail_memory(err, (set->n_items / step + 2) * sizeof *lengths);
    for (size_t i = 0; i < set->n_items; i += step) {
        double length = body_of(set, &set->items[i]);
        if (length > 0 && isfinite(length))
            lengths[n++] = length;
    }
    *out = n ? sk_samples_summarize(lengths, n).median : 0;
    sk_free(lengths);
    return SK_OK;
}

sk_status sk_tracks_body(const sk_tracks_task *task, double *out, sk_error *err)
{
    SK_TRY(middle_body(task->truth, out, err));
    return *out > 0 ? SK_OK : middle_body(task->result, out, err);
}
