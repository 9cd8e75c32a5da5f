/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/stage_internal.h"

#include "base/instances.h"

#include <math.h>
#include <string.h>

/* The part of the frame a YOLO second model sees: the box grown by the margin, whole pixels, inside the
 * frame. */
static int frame_part(const sk_task_stage *s, const float box[4], sk_crop *c)
{
    float gx = (box[2] - box[0]) * s->settings.crop_margin, gy = (box[3] - box[1]) * s->settings.crop_margin;
    float x0 = fmaxf(floorf(box[0] - gx), 0), y0 = fmaxf(floorf(box[1] - gy), 0);
    float x1 = fminf(ceilf(box[2] + gx), (float)s->frame_width),
          y1 = fminf(ceilf(box[3] + gy), (float)s->frame_height);
    if (!(x1 - x0 >= 1) || !(y1 - y0 >= 1))
        return 0;
    *c = (sk_crop){.left = x0, .top = y0, .width = x1 - x0, .height = y1 - y0};
    return 1;
}

/* Centre of what the first model found, in the pixel convention of SLEAP (centres at integers). */
static int centre_of(const sk_task_stage *s, const sk_instances *found, const sk_found *item, float *x,
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

const sk_crop_form *sk_task_stage_crop_form(const sk_task_stage *s)
{
    return s->plan.takes_crops ? &s->crop_form : NULL;
}

sk_status sk_task_stage_find_crops(sk_task_stage *s, const sk_instances *found, sk_instances *out,
                                   sk_crop_list *list, sk_error *err)
{
    SK_CHECK_ARG(s && found && out && list && s->plan.takes_crops, err);
    SK_CHECK_ARG(out->capacity >= s->plan.capacity && out->n_keypoints == s->plan.n_keypoints, err);
    s->frame = NULL;
    s->n_crops = s->next_crop = 0;
    out->count = 0;
    if (s->sleap)
        sk_sleap_post_begin(s->sleap, out);
    for (int32_t i = 0; i < found->count && s->n_crops < s->settings.max_crops; i++) {
        sk_task_crop *c = &s->crops[s->n_crops];
        sk_crop *place = &s->places[s->n_crops];
        *c = (sk_task_crop){.found = found->items[i]};
        if (s->sleap) {
            float x, y;
            if (!centre_of(s, found, &c->found, &x, &y))
                continue;
            c->centroid = (sk_sleap_centroid){x * s->geometry.eff_scale, y * s->geometry.eff_scale,
                                              c->found.score, c->found.class_id};
            *place = sk_sleap_crop_around(s->cropper, c->centroid.x, c->centroid.y);
        } else if (!frame_part(s, c->found.box, place)) {
            continue;
        }
        s->n_crops++;
    }
    *list = (sk_crop_list){s->places, s->n_crops};
    return SK_OK;
}

sk_status sk_task_stage_cut_from(sk_task_stage *s, const sk_frame *frame, sk_error *err)
{
    SK_CHECK_ARG(s && frame && frame->data && s->plan.takes_crops, err);
    if (frame->width != s->frame_width || frame->height != s->frame_height)
        return sk_fail(err, SK_ERR_MISMATCH, "frame %lld is %dx%d; this stage was opened for %dx%d",
                       (long long)frame->index, (int)frame->width, (int)frame->height, (int)s->frame_width,
                       (int)s->frame_height);
    if (s->sleap) {
        const uint8_t *sized;
        SK_TRY(sk_sleap_pre_size(s->pre, frame, &sized, err));
        sk_sleap_crop_begin(s->cropper, sized, sk_sleap_pre_channels(s->pre));
    }
    s->frame = frame;
    return SK_OK;
}

sk_status sk_task_stage_crops(sk_task_stage *s, const sk_frame *frame, const sk_instances *found,
                              sk_instances *out, int32_t *n_crops, sk_error *err)
{
    SK_CHECK_ARG(n_crops, err);
    sk_crop_list list;
    SK_TRY(sk_task_stage_find_crops(s, found, out, &list, err));
    *n_crops = list.count;
    return sk_task_stage_cut_from(s, frame, err);
}

sk_status sk_task_stage_crop_input(sk_task_stage *s, int32_t index, sk_task_input form, void *out,
                                   sk_error *err)
{
    SK_CHECK_ARG(s && out && s->plan.takes_crops && s->frame && index >= 0 && index < s->n_crops, err);
    const sk_crop *c = &s->places[index];
    if (s->sleap) {
        if (form == SK_TASK_INPUT_U8)
            sk_sleap_crop_u8(s->cropper, c, out);
        else
            sk_sleap_crop_f32(s->cropper, c, out);
        return SK_OK;
    }
    sk_frame part = *s->frame;
    int32_t bytes = part.format == SK_PIXEL_GRAY ? 1 : 3;
    part.data += (ptrdiff_t)c->top * part.stride + (ptrdiff_t)c->left * bytes;
    part.width = (int32_t)c->width;
    part.height = (int32_t)c->height;
    sk_letterbox_geometry g;
    SK_TRY(sk_letterbox_plan(part.width, part.height, s->plan.width, s->plan.height, 0, &g, err));
    return sk_stage_yolo_input(s, &part, &g, form, out, err);
}

/* The best pose a YOLO model saw in a crop, moved to the frame; the box stays the first model's. */
static sk_status yolo_crop_result(sk_task_stage *s, const sk_task_crop *c, const sk_crop *place,
                                  const sk_tensor *outputs, int32_t n_outputs, int32_t image, int tail_cut,
                                  sk_instances *out, sk_error *err)
{
    sk_letterbox_geometry g;
    SK_TRY(sk_letterbox_plan((int32_t)place->width, (int32_t)place->height, s->plan.width, s->plan.height, 0,
                             &g, err));
    SK_TRY(sk_stage_yolo_result(s, outputs, n_outputs, image, tail_cut, &g, &s->inner, err));
    sk_found *item = sk_instances_add(out);
    int32_t first = item->first_keypoint;
    *item = c->found;
    item->first_keypoint = first;
    item->has = (item->has & ~SK_HAS_KEYPOINTS) | (s->inner.count ? SK_HAS_KEYPOINTS : 0);
    for (int32_t k = 0; k < out->n_keypoints && s->inner.count; k++) {
        sk_keypoint point = s->inner.keypoints[s->inner.items[0].first_keypoint + k];
        out->keypoints[first + k] = (sk_keypoint){point.x + place->left, point.y + place->top, point.score};
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
        return yolo_crop_result(s, c, &s->places[index], outputs, n_outputs, image, tail_cut, out, err);
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
    sk_found *item = &out->items[out->count - 1];
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
