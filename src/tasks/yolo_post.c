/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/yolo_post.h"

#include "base/instances.h"
#include "base/object.h"
#include "tasks/nms.h"

#include <math.h>

struct sk_yolo_post {
    sk_yolo_settings settings;
    sk_task task;
    int32_t n_keypoints, end2end;
    sk_yolo_decoder *decoder;
    sk_candidates candidates;
    sk_nms *nms;
    int32_t *keep;   /* [max_det] */
    uint8_t *wanted; /* [n_classes]; null = all */
};

sk_yolo_settings sk_yolo_settings_defaults(void)
{
    return (sk_yolo_settings){.size = sizeof(sk_yolo_settings),
                              .confidence = 0.25f,
                              .iou = 0.7,
                              .max_det = 300,
                              .obb_form = SK_OBB_LONG_SIDE};
}

static int64_t most_places(const sk_yolo_spec *spec, int32_t width, int32_t height)
{
    int64_t places = spec->max_det > 0 ? spec->max_det : 300; /* of end-to-end models */
    int64_t anchors = 0;
    for (int32_t k = 0; k < spec->n_levels && k < SK_MAX_LEVELS; k++)
        if (spec->stride[k] >= 1)
            anchors +=
                (int64_t)(ceilf((float)width / spec->stride[k]) * ceilf((float)height / spec->stride[k]));
    return anchors > places ? anchors : places;
}

static sk_status check_settings(const sk_yolo_settings *s, const sk_yolo_spec *spec, sk_error *err)
{
    if (!(s->confidence >= 0 && s->confidence <= 1))
        return sk_fail(err, SK_ERR_ARG, "confidence %g is outside 0 … 1", (double)s->confidence);
    if (!(s->iou >= 0 && s->iou <= 1))
        return sk_fail(err, SK_ERR_ARG, "iou %g is outside 0 … 1", s->iou);
    if (s->max_det < 1 || s->max_det > 100000)
        return sk_fail(err, SK_ERR_ARG, "max_det %d is outside 1 … 100000%s", (int)s->max_det,
                       s->max_det ? "" : "; sk_pipeline_defaults() fills the settings in");
    for (int32_t i = 0; s->classes && i < s->n_classes; i++)
        if (s->classes[i] < 0 || s->classes[i] >= spec->n_classes)
            return sk_fail(err, SK_ERR_ARG, "class %d does not exist; the model has classes 0 to %d",
                           (int)s->classes[i], (int)spec->n_classes - 1);
    return SK_OK;
}

sk_status sk_yolo_post_open(const sk_yolo_spec *spec, sk_task task, const sk_yolo_settings *settings,
                            int32_t max_width, int32_t max_height, sk_yolo_post **out, sk_error *err)
{
    SK_CHECK_ARG(spec && out, err);
    *out = NULL;
    SK_CHECK_ARG(max_width >= 1 && max_height >= 1, err);
    if (task != SK_TASK_DETECT && task != SK_TASK_POSE && task != SK_TASK_OBB && task != SK_TASK_SEGMENT)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "a model of this task (%d) has no YOLO boxes to decode",
                       (int)task);
    sk_yolo_settings s = settings ? *settings : sk_yolo_settings_defaults();
    SK_TRY(check_settings(&s, spec, err));
    int64_t places = most_places(spec, max_width, max_height);
    places = places < s.max_det ? s.max_det : places; /* what an engine found */
    if (places > 1 << 24)
        return sk_fail(err, SK_ERR_LIMIT,
                       "an input of %dx%d pixels gives %lld anchors, more than can be decoded; choose a "
                       "smaller image size",
                       (int)max_width, (int)max_height, (long long)places);
    sk_yolo_post *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    sk_status status;
    p->task = task;
    p->n_keypoints = task == SK_TASK_POSE ? spec->n_keypoints : 0;
    p->end2end = spec->end2end;
    SK_TRY_GOTO(sk_yolo_decoder_open(spec, task, (int32_t)places, &p->decoder, err));
    SK_TRY_GOTO(sk_candidates_alloc(sk_yolo_decoder_capacity(p->decoder), &p->candidates, err));
    SK_TRY_GOTO(sk_nms_open(p->candidates.capacity, s.max_det, &p->nms, err));
    p->keep = sk_calloc((size_t)s.max_det, sizeof *p->keep);
    p->wanted = s.classes ? sk_calloc((size_t)spec->n_classes, 1) : NULL;
    if (!p->keep || (s.classes && !p->wanted)) {
        status = sk_fail_memory(err, (size_t)s.max_det * sizeof *p->keep);
        goto done;
    }
    for (int32_t i = 0; s.classes && i < s.n_classes; i++)
        p->wanted[s.classes[i]] = 1;
    s.classes = NULL;
    p->settings = s;
done:
    return SK_HAND_OVER(status, p, out, sk_yolo_post_close);
}

void sk_yolo_post_close(sk_yolo_post **post)
{
    SK_TAKE_OR_RETURN(p, post);
    sk_yolo_decoder_close(&p->decoder);
    sk_candidates_free(&p->candidates);
    sk_nms_close(&p->nms);
    sk_free_all(p->keep, p->wanted, p);
}

static int32_t choose(sk_yolo_post *p, sk_yolo_form form)
{
    const sk_yolo_settings *s = &p->settings;
    /* What is found was suppressed already; one-to-one heads need no suppression. */
    if (form == SK_YOLO_FOUND || (form == SK_YOLO_HEADS && p->end2end)) {
        int32_t n = p->candidates.count < s->max_det ? p->candidates.count : s->max_det;
        for (int32_t i = 0; i < n; i++)
            p->keep[i] = i;
        return n;
    }
    if (p->task == SK_TASK_OBB)
        return sk_nms_rotated(p->nms, &p->candidates, s->iou, s->agnostic, p->keep);
    return sk_nms_greedy(p->nms, &p->candidates, s->iou, s->agnostic, p->keep);
}

/* A keypoint the network gave no number for counts as not found. */
static void drop_broken(sk_keypoint *points, int32_t count)
{
    for (int32_t k = 0; k < count; k++)
        if (isnan(points[k].x) || isnan(points[k].y) || isnan(points[k].score))
            points[k] = (sk_keypoint){NAN, NAN, 0};
}

/* An oriented box in the frame and the rectangle around it; false where a number of them is beyond what a float holds:
 * nothing was found there. */
static bool place_obb(const sk_yolo_post *p, int32_t k, const sk_letterbox_geometry *geometry, float obb[5],
                      float box[4])
{
    const sk_candidates *c = &p->candidates;
    for (int j = 0; j < 4; j++)
        obb[j] = c->box[j][k];
    obb[4] = c->angle[k];
    sk_scale_back_obb(geometry, obb);
    sk_obb_normalise(p->settings.obb_form, obb);
    sk_obb_bounds(obb, box);
    return isfinite(obb[4]) && isfinite(box[0]) && isfinite(box[1]) && isfinite(box[2]) && isfinite(box[3]);
}

sk_status sk_yolo_post_run(sk_yolo_post *p, sk_yolo_form form, const sk_map *maps, int32_t n_maps,
                           const sk_letterbox_geometry *geometry, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(p && maps && geometry && out, err);
    SK_CHECK_ARG(out->capacity >= p->settings.max_det && out->n_keypoints == p->n_keypoints, err);
    out->count = 0;
    SK_TRY(sk_yolo_decode(p->decoder, form, maps, n_maps, p->settings.confidence, p->wanted, &p->candidates,
                          err));
    int32_t n = choose(p, form);
    const sk_candidates *c = &p->candidates;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = p->keep[i];
        float obb[5], around[4];
        if (p->task == SK_TASK_OBB && !place_obb(p, k, geometry, obb, around))
            continue;
        sk_found *item = sk_instances_add(out);
        item->class_id = c->class_id[k];
        item->score = c->score[k];
        if (p->task == SK_TASK_OBB) {
            for (int j = 0; j < 5; j++)
                item->obb[j] = obb[j];
            for (int j = 0; j < 4; j++)
                item->box[j] = around[j];
            item->has = SK_HAS_OBB | SK_HAS_BOX;
            continue;
        }
        for (int j = 0; j < 4; j++)
            item->box[j] = c->box[j][k];
        sk_scale_back_box(geometry, item->box);
        item->has = SK_HAS_BOX;
        if (p->n_keypoints) {
            sk_keypoint *points = out->keypoints + item->first_keypoint;
            sk_yolo_decode_keypoints(p->decoder, c->place[k], points);
            sk_scale_back_keypoints(geometry, points, p->n_keypoints);
            drop_broken(points, p->n_keypoints);
            item->has |= SK_HAS_KEYPOINTS;
        }
    }
    return SK_OK;
}
