/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/object.h"
#include "tasks/family.h"
#include "tasks/pixels.h"

/* Opening and closing, and whole frames; stage_crops.c has the second models. What a family does is in its table. */

const char *sk_stage_model_name(const sk_model *model)
{
    return model->path ? model->path : "model";
}

sk_status sk_stage_network_size(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                                int32_t *height, sk_error *err)
{
    const sk_input_spec *in = &model->input;
    int32_t stride = in->stride > 0 ? in->stride : 32;
    int32_t h = settings->net_height > 0 ? settings->net_height : in->height;
    int32_t w = settings->net_width > 0 ? settings->net_width : in->width;
    if (h < 1 || w < 1)
        h = w = 640;
    const int32_t most = 16384;
    h = h <= most ? (h + stride - 1) / stride * stride : h;
    w = w <= most ? (w + stride - 1) / stride * stride : w;
    if (in->fixed_size && (h != in->height || w != in->width))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s takes inputs of %dx%d only; leave the size away, or export the model "
                       "with dynamic sizes",
                       sk_stage_model_name(model), (int)in->width, (int)in->height);
    if (h > most || w > most)
        return sk_fail(err, SK_ERR_ARG, "a network input of %dx%d pixels is too large", (int)w, (int)h);
    *width = w;
    *height = h;
    return SK_OK;
}

void sk_stage_to_planes(const sk_task_stage *s, const uint8_t *picture, float *out)
{
    sk_pixels_to_planes(picture, (ptrdiff_t)s->plan.width * 3, s->plan.width, s->plan.height, 3,
                        s->plan.scale, s->plan.mean, s->plan.std, out);
}

/* What the plan says of the input's values. */
static void plan_values(sk_task_stage *s)
{
    const sk_input_spec *in = &s->model->input;
    s->plan.scale = in->scale > 0 ? in->scale : 1.0f / 255.0f;
    for (int c = 0; c < 3; c++) {
        s->plan.mean[c] = in->mean[c];
        s->plan.std[c] = in->std[c] > 0 ? in->std[c] : 1;
    }
}

static sk_task_stage *new_stage(const sk_family *family, const sk_model *model,
                                const sk_task_settings *settings, int32_t width, int32_t height)
{
    sk_task_stage *s = sk_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->family = family;
    s->model = model;
    s->settings = settings ? *settings : sk_task_settings_defaults();
    s->frame_width = width;
    s->frame_height = height;
    plan_values(s);
    return s;
}

sk_status sk_task_stage_open(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                             int32_t frame_height, sk_task_stage **out, sk_error *err)
{
    SK_CHECK_ARG(model && out, err);
    *out = NULL;
    if (frame_width < 1 || frame_height < 1 || frame_width > 65536 || frame_height > 65536)
        return sk_fail(err, SK_ERR_ARG, "a frame of %dx%d pixels is not possible", (int)frame_width,
                       (int)frame_height);
    const sk_family *family = sk_family_of(model);
    if (!family)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: nothing is known of what its outputs mean",
                       sk_stage_model_name(model));
    if (!family->role(model).whole_frames)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s works on crops: give it together with a centroid model or a YOLO "
                       "model that finds the animals",
                       sk_stage_model_name(model));
    sk_task_stage *s = new_stage(family, model, settings, frame_width, frame_height);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status = family->open(s, NULL, err);
    return SK_HAND_OVER(status, s, out, sk_task_stage_close);
}

/* How crops lie, and what is painted over in them. */
static sk_status open_masks(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    const sk_task_role finder = sk_family_role(first->model), own = sk_family_role(s->model);
    const sk_choice turned = s->settings.crop_turned, masked = s->settings.mask_neighbours;
    s->turns = finder.oriented && (turned == SK_CHOICE_ON || (turned == SK_CHOICE_AUTO && !own.centred));
    s->masks = (finder.gives & SK_GIVES_BOXES) &&
               (masked == SK_CHOICE_ON || (masked == SK_CHOICE_AUTO && finder.oriented));
    if (!s->masks)
        return SK_OK;
    s->most_boxes = first->plan.capacity;
    s->boxes = sk_calloc((size_t)s->most_boxes, sizeof *s->boxes);
    s->crop_masks = sk_calloc((size_t)s->settings.max_crops, sizeof *s->crop_masks);
    return s->boxes && s->crop_masks ? SK_OK : sk_fail_memory(err, (size_t)s->most_boxes * sizeof *s->boxes);
}

/* Room for the crops, and what their form has from the plan. */
static sk_status open_crops(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    s->finder = first->family;
    if (sk_task_is_given(first->model)) { /* every box was found, whatever the second model makes of it */
        s->settings.max_crops = SK_MOST_CROPS;
        s->settings.sleap.keep_empty = 1;
    }
    const int32_t most = s->settings.max_crops;
    s->plan.takes_crops = 1;
    if (most < 1 || most > SK_MOST_CROPS)
        return sk_fail(err, SK_ERR_ARG, "max_crops %d is outside 1 … %d", (int)most, SK_MOST_CROPS);
    s->crops = sk_calloc((size_t)most, sizeof *s->crops);
    s->places = sk_calloc((size_t)most, sizeof *s->places);
    if (!s->crops || !s->places)
        return sk_fail_memory(err, (size_t)most * (sizeof *s->crops + sizeof *s->places));
    s->mask_scale = 1;
    SK_TRY(open_masks(s, first, err));
    SK_TRY(s->family->open(s, first, err));
    s->crop_form.frame_width = s->frame_width;
    s->crop_form.frame_height = s->frame_height;
    s->crop_form.width = s->plan.width;
    s->crop_form.height = s->plan.height;
    s->crop_form.channels = s->plan.channels;
    s->crop_form.u8 = s->plan.u8;
    s->crop_form.masks = s->masks ? s->most_boxes : 0;
    return SK_OK;
}

sk_status sk_task_stage_open_second(const sk_model *model, const sk_task_stage *first,
                                    const sk_task_settings *settings, sk_task_stage **out, sk_error *err)
{
    SK_CHECK_ARG(model && first && out, err);
    *out = NULL;
    if (first->plan.takes_crops || !sk_family_pair(first->model, model))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s cannot follow %s: possible are a centred-instance model after a centroid or YOLO "
                       "model, and a "
                       "YOLO pose model after a YOLO model",
                       sk_stage_model_name(model), sk_stage_model_name(first->model));
    sk_task_stage *s =
        new_stage(sk_family_of(model), model, settings, first->frame_width, first->frame_height);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status = open_crops(s, first, err);
    return SK_HAND_OVER(status, s, out, sk_task_stage_close);
}

void sk_task_stage_close(sk_task_stage **stage)
{
    SK_TAKE_OR_RETURN(s, stage);
    s->family->close(s);
    sk_free_all(s->crops, s->places, s->boxes, s->crop_masks);
    sk_plain_frame_free(&s->plain);
    sk_free(s);
}

const sk_task_plan *sk_task_stage_plan(const sk_task_stage *s)
{
    return &s->plan;
}

bool sk_task_input_size(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                        int32_t frame_height, int32_t *width, int32_t *height)
{
    const sk_family *family = sk_family_of(model);
    return family && family->input_size &&
           family->input_size(model, settings, frame_width, frame_height, width, height);
}

bool sk_task_i420_above(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                        int32_t *height)
{
    const sk_family *family = sk_family_of(model);
    return family && family->i420_above && family->i420_above(model, settings, width, height);
}

bool sk_task_stage_fit(const sk_task_stage *s, sk_task_fit *out)
{
    return s->family->fit && !s->plan.takes_crops && s->family->fit(s, out);
}

const sk_yolo_settings *sk_task_stage_found_rules(const sk_task_stage *s)
{
    return s->family->found_rules ? s->family->found_rules(s) : NULL;
}

bool sk_task_stage_peaks(const sk_task_stage *s, sk_peak_wish *out)
{
    return s->family->peaks && s->family->peaks(s, out);
}

sk_status sk_task_stage_input(sk_task_stage *s, const sk_frame *frame, sk_task_input form, void *out,
                              sk_error *err)
{
    SK_CHECK_ARG(s && frame && frame->data && out && !s->plan.takes_crops, err);
    SK_CHECK_ARG(form == SK_TASK_INPUT_F32 || form == SK_TASK_INPUT_U8, err);
    if (frame->format != SK_PIXEL_I420 || !s->plan.i420)
        SK_TRY(sk_plain_frame_take(&s->plain, frame, &frame, err));
    return s->family->input(s, frame, form, out, err);
}

sk_status sk_task_stage_result(sk_task_stage *s, const sk_tensor *outputs, int32_t n_outputs, int32_t image,
                               sk_outputs_form form, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(s && outputs && out && !s->plan.takes_crops, err);
    const sk_task_outputs from = {outputs, n_outputs, image, form};
    return s->family->decode(s, &from, out, err);
}

void sk_task_stage_keep(const sk_task_stage *s, sk_instances *instances)
{
    if (s->family->keep)
        s->family->keep(s, instances);
}
