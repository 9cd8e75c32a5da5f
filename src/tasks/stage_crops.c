/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/stage_internal.h"

#include "tasks/instances.h"

#include <math.h>
#include <string.h>

/* The part of the frame a YOLO second model sees: the box grown by the margin, whole pixels, inside the
 * frame. */
static int frame_part(const sk_task_stage *s, const float box[4], sk_task_crop *c)
{
    float gx = (box[2] - box[0]) * s->settings.crop_margin, gy = (box[3] - box[1]) * s->settings.crop_margin;
    float x0 = fmaxf(floorf(box[0] - gx), 0), y0 = fmaxf(floorf(box[1] - gy), 0);
    float x1 = fminf(ceilf(box[2] + gx), (float)s->frame_width),
          y1 = fminf(ceilf(box[3] + gy), (float)s->frame_height);
    if (!(x1 - x0 >= 1) || !(y1 - y0 >= 1))
        return 0;
    c->x = (int32_t)x0;
    c->y = (int32_t)y0;
    c->width = (int32_t)(x1 - x0);
    c->height = (int32_t)(y1 - y0);
    return 1;
}

/* Centre of what the first model found, in the pixel convention of SLEAP (centres at integers). */
static int centre_of(const sk_task_stage *s, const sk_instances *found, const sk_instance *item, float *x,
                     float *y)
{
    if (s->first_task == SK_TASK_CENTROID) {
        *x = found->keypoints[item->first_keypoint].x;
        *y = found->keypoints[item->first_keypoint].y;
    } else if (item->has & SK_HAS_OBB) {
        *x = item->obb[0] - 0.5f;
        *y = item->obb[1] - 0.5f;
    } else {
        *x = (item->box[0] + item->box[2]) / 2 - 0.5f;
        *y = (item->box[1] + item->box[3]) / 2 - 0.5f;
    }
    return isfinite(*x) && isfinite(*y);
}

sk_status sk_task_stage_crops(sk_task_stage *s, const sk_frame *frame, const sk_instances *found,
                              sk_instances *out, int32_t *n_crops, sk_error *err)
{
    SK_CHECK_ARG(s && frame && frame->data && found && out && n_crops && s->plan.takes_crops, err);
    SK_CHECK_ARG(out->capacity >= s->plan.capacity && out->n_keypoints == s->plan.n_keypoints, err);
    if (frame->width != s->frame_width || frame->height != s->frame_height)
        return sk_fail(err, SK_ERR_MISMATCH, "frame %lld is %dx%d; this stage was opened for %dx%d",
                       (long long)frame->index, (int)frame->width, (int)frame->height, (int)s->frame_width,
                       (int)s->frame_height);
    s->frame = frame;
    s->n_crops = s->next_crop = 0;
    out->count = 0;
    if (s->sleap) {
        const uint8_t *sized;
        SK_TRY(sk_sleap_pre_size(s->pre, frame, &sized, err));
        sk_sleap_crop_begin(s->cropper, sized, sk_sleap_pre_channels(s->pre));
        sk_sleap_post_begin(s->sleap, out);
    }
    for (int32_t i = 0; i < found->count && s->n_crops < s->settings.max_crops; i++) {
        sk_task_crop *c = &s->crops[s->n_crops];
        *c = (sk_task_crop){.found = found->items[i]};
        if (s->sleap) {
            float x, y;
            if (!centre_of(s, found, &c->found, &x, &y))
                continue;
            c->centroid = (sk_sleap_centroid){x * s->geometry.eff_scale, y * s->geometry.eff_scale,
                                              c->found.score, c->found.class_id};
        } else if (!frame_part(s, c->found.box, c)) {
            continue;
        }
        s->n_crops++;
    }
    *n_crops = s->n_crops;
    return SK_OK;
}

sk_status sk_task_stage_crop_input(sk_task_stage *s, int32_t index, sk_task_input form, void *out,
                                   sk_error *err)
{
    SK_CHECK_ARG(s && out && s->plan.takes_crops && s->frame && index >= 0 && index < s->n_crops, err);
    const sk_task_crop *c = &s->crops[index];
    if (s->sleap) {
        if (form == SK_TASK_INPUT_U8)
            sk_sleap_crop_u8(s->cropper, c->centroid.x, c->centroid.y, out);
        else
            sk_sleap_crop_f32(s->cropper, c->centroid.x, c->centroid.y, out);
        return SK_OK;
    }
    sk_frame part = *s->frame;
    int32_t bytes = part.format == SK_PIXEL_GRAY ? 1 : 3;
    part.data += c->y * part.stride + (ptrdiff_t)c->x * bytes;
    part.width = c->width;
    part.height = c->height;
    sk_letterbox_geometry g;
    SK_TRY(sk_letterbox_plan(c->width, c->height, s->plan.width, s->plan.height, 0, &g, err));
    return sk_stage_yolo_input(s, &part, &g, form, out, err);
}

/* The best pose a YOLO model saw in a crop, moved to the frame; the box stays the first model's. */
static sk_status yolo_crop_result(sk_task_stage *s, const sk_task_crop *c, const sk_tensor *outputs,
                                  int32_t n_outputs, int32_t image, int tail_cut, sk_instances *out,
                                  sk_error *err)
{
    sk_letterbox_geometry g;
    SK_TRY(sk_letterbox_plan(c->width, c->height, s->plan.width, s->plan.height, 0, &g, err));
    SK_TRY(sk_stage_yolo_result(s, outputs, n_outputs, image, tail_cut, &g, &s->inner, err));
    sk_instance *item = sk_instances_add(out);
    int32_t first = item->first_keypoint;
    *item = c->found;
    item->first_keypoint = first;
    item->has = (item->has & ~SK_HAS_KEYPOINTS) | (s->inner.count ? SK_HAS_KEYPOINTS : 0);
    for (int32_t k = 0; k < out->n_keypoints && s->inner.count; k++) {
        sk_keypoint point = s->inner.keypoints[s->inner.items[0].first_keypoint + k];
        out->keypoints[first + k] = (sk_keypoint){point.x + (float)c->x, point.y + (float)c->y, point.score};
    }
    return SK_OK;
}

sk_status sk_task_stage_crop_result(sk_task_stage *s, int32_t index, const sk_tensor *outputs,
                                    int32_t n_outputs, int32_t image, int tail_cut, sk_instances *out,
                                    sk_error *err)
{
    SK_CHECK_ARG(s && outputs && out && s->plan.takes_crops && index >= 0 && index < s->n_crops, err);
    SK_CHECK_ARG(index == s->next_crop, err);
    s->next_crop++;
    const sk_task_crop *c = &s->crops[index];
    if (!s->sleap)
        return yolo_crop_result(s, c, outputs, n_outputs, image, tail_cut, out, err);
    sk_map maps[SK_STAGE_MAPS];
    const sk_peak_word *table;
    const float scale = s->geometry.eff_scale;
    SK_TRY(sk_stage_sleap_maps(s, outputs, &n_outputs, image, maps, &table, err));
    if (table)
        SK_TRY(sk_sleap_post_crop_table(s->sleap, table, maps, n_outputs, s->cropper, &c->centroid, scale,
                                        out, err));
    else
        SK_TRY(sk_sleap_post_crop(s->sleap, maps, n_outputs, s->cropper, &c->centroid, scale, out, err));
    /* Boxes a YOLO model found stay with the instance. */
    sk_instance *item = &out->items[out->count - 1];
    item->has |= c->found.has & (SK_HAS_BOX | SK_HAS_OBB);
    memcpy(item->box, c->found.box, sizeof item->box);
    memcpy(item->obb, c->found.obb, sizeof item->obb);
    return SK_OK;
}

sk_status sk_task_stage_crops_end(sk_task_stage *s, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(s && out && s->plan.takes_crops, err);
    if (s->next_crop != s->n_crops)
        return sk_fail(err, SK_ERR_ARG, "%d of %d crops were given back", (int)s->next_crop, (int)s->n_crops);
    if (s->sleap)
        sk_sleap_post_end(s->sleap, out);
    s->frame = NULL;
    return SK_OK;
}
