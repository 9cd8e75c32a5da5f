/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/family.h"

#include "base/instances.h"

#include <math.h>

/* Second models: crops around what the first one found. */

bool sk_found_middle(const sk_instances *found, const sk_found *item, float *x, float *y)
{
    (void)found;
    const bool turned = item->has & SK_HAS_OBB;
    *x = turned ? item->obb[0] - 0.5f : (item->box[0] + item->box[2]) / 2 - 0.5f;
    *y = turned ? item->obb[1] - 0.5f : (item->box[1] + item->box[3]) / 2 - 0.5f;
    return isfinite(*x) && isfinite(*y);
}

const sk_crop_form *sk_task_stage_crop_form(const sk_task_stage *s)
{
    return s->plan.takes_crops ? &s->crop_form : NULL;
}

/* For masks; the number it got, -1: none. */
static int32_t list_box(sk_task_stage *s, const sk_found *found)
{
    if (!s->masks || s->n_boxes >= s->most_boxes || !sk_turned_box_of(found, &s->boxes[s->n_boxes]))
        return -1;
    return s->n_boxes++;
}

bool sk_stage_mask(const sk_task_stage *s, const sk_crop *place, sk_crop_mask *out)
{
    const int32_t own = s->crops[place - s->places].box;
    *out = (sk_crop_mask){s->boxes, s->n_boxes, own, s->mask_scale};
    return s->masks && own >= 0 && s->n_boxes > 1;
}

sk_status sk_task_stage_find_crops(sk_task_stage *s, const sk_instances *found, sk_instances *out,
                                   sk_crop_list *list, sk_error *err)
{
    SK_CHECK_ARG(s && found && out && list && s->plan.takes_crops, err);
    SK_CHECK_ARG(out->capacity >= s->plan.capacity && out->n_keypoints == s->plan.n_keypoints, err);
    s->frame = NULL;
    s->n_crops = s->next_crop = s->n_boxes = 0;
    out->count = 0;
    if (s->family->crops)
        s->family->crops(s, out);
    int32_t i = 0;
    for (; i < found->count && s->n_crops < s->settings.max_crops; i++) {
        sk_task_crop *c = &s->crops[s->n_crops];
        *c = (sk_task_crop){.found = found->items[i], .box = list_box(s, &found->items[i])};
        s->n_crops += s->family->crop(s, found, c, &s->places[s->n_crops]);
    }
    for (; i < found->count; i++) /* those that are not looked at are in the way, too */
        (void)list_box(s, &found->items[i]);
    for (int32_t k = 0; s->masks && k < s->n_crops; k++) {
        if (!sk_stage_mask(s, &s->places[k], &s->crop_masks[k]))
            s->crop_masks[k].count = 0;
        if (s->crop_form.rule == SK_CROP_MIXED) /* that picture is scaled before crops are cut */
            s->crop_masks[k].scale *= s->crop_form.input_scale;
    }
    *list = (sk_crop_list){s->places, s->n_crops, s->masks ? s->crop_masks : NULL};
    return SK_OK;
}

sk_status sk_task_stage_cut_from(sk_task_stage *s, const sk_frame *frame, sk_error *err)
{
    SK_CHECK_ARG(s && frame && frame->data && s->plan.takes_crops, err);
    if (frame->width != s->frame_width || frame->height != s->frame_height)
        return sk_fail(err, SK_ERR_MISMATCH, "frame %lld is %dx%d; this stage was opened for %dx%d",
                       (long long)frame->index, (int)frame->width, (int)frame->height, (int)s->frame_width,
                       (int)s->frame_height);
    SK_TRY(sk_plain_frame_take(&s->plain, frame, &frame, err));
    if (s->family->cut_from)
        SK_TRY(s->family->cut_from(s, frame, err));
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
    return s->family->crop_input(s, &s->places[index], form, out, err);
}

sk_status sk_task_stage_crop_result(sk_task_stage *s, int32_t index, const sk_tensor *outputs,
                                    int32_t n_outputs, int32_t image, sk_outputs_form form, sk_instances *out,
                                    sk_error *err)
{
    SK_CHECK_ARG(s && outputs && out && s->plan.takes_crops && index >= 0 && index < s->n_crops, err);
    SK_CHECK_ARG(index == s->next_crop, err);
    s->next_crop++;
    const sk_task_outputs from = {outputs, n_outputs, image, form};
    return s->family->crop_decode(s, &s->crops[index], &s->places[index], &from, out, err);
}

sk_status sk_task_stage_crops_end(sk_task_stage *s, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(s && out && s->plan.takes_crops, err);
    if (s->next_crop != s->n_crops)
        return sk_fail(err, SK_ERR_ARG, "%d of %d crops were given back", (int)s->next_crop, (int)s->n_crops);
    if (s->family->crops_end)
        s->family->crops_end(s, out);
    s->frame = NULL;
    return SK_OK;
}
