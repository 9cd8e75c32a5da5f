/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/stage_internal.h"

#include "base/memory.h"
#include "base/instances.h"

#include <stdio.h>

static int is_yolo(sk_task task)
{
    return task == SK_TASK_DETECT || task == SK_TASK_POSE || task == SK_TASK_OBB || task == SK_TASK_SEGMENT;
}

static int is_crop_model(sk_task task)
{
    return task == SK_TASK_CENTERED_INSTANCE || task == SK_TASK_MULTICLASS_TOPDOWN;
}

const char *sk_stage_model_name(const sk_model *model)
{
    return model->path ? model->path : "model";
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

static sk_status yolo_size(const sk_task_stage *s, int32_t *width, int32_t *height, sk_error *err)
{
    const sk_input_spec *in = &s->model->input;
    int32_t stride = in->stride > 0 ? in->stride : 32;
    int32_t h = s->settings.net_height > 0 ? s->settings.net_height : in->height;
    int32_t w = s->settings.net_width > 0 ? s->settings.net_width : in->width;
    if (h < 1 || w < 1)
        h = w = 640;
    h = (h + stride - 1) / stride * stride;
    w = (w + stride - 1) / stride * stride;
    if (in->fixed_size && (h != in->height || w != in->width))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s takes inputs of %dx%d only; leave the size away, or export the model "
                       "with dynamic sizes",
                       sk_stage_model_name(s->model), (int)in->width, (int)in->height);
    if (h > 16384 || w > 16384)
        return sk_fail(err, SK_ERR_ARG, "a network input of %dx%d pixels is too large", (int)w, (int)h);
    *width = w;
    *height = h;
    return SK_OK;
}

/* Where frames land; a model on crops letterboxes each into its whole input. */
static sk_status fit_frame(const sk_task_stage *s, sk_letterbox_geometry *out, sk_error *err)
{
    const sk_input_spec *in = &s->model->input;
    const int crops = s->first_task != SK_TASK_UNKNOWN;
    int32_t w = 0, h = 0, stride = 0;
    SK_TRY(yolo_size(s, &w, &h, err));
    if (s->settings.rect && !in->fixed_size && !crops)
        stride = in->stride > 0 ? in->stride : 32;
    return sk_letterbox_plan(s->frame_width, s->frame_height, w, h, stride, out, err);
}

static sk_status open_yolo(sk_task_stage *s, sk_error *err)
{
    const sk_model *m = s->model;
    if (m->input.channels != 0 && m->input.channels != 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s takes %d channels; YOLO models of 3 are supported",
                       sk_stage_model_name(m), (int)m->input.channels);
    int crops = s->first_task != SK_TASK_UNKNOWN;
    SK_TRY(fit_frame(s, &s->box_geometry, err));
    const sk_letterbox_geometry *g = &s->box_geometry;
    sk_yolo_settings settings = s->settings.yolo;
    if (crops) { /* classes were chosen for the model that finds; a crop needs its best pose only */
        settings.classes = NULL;
        settings.n_classes = 0;
        settings.max_det = settings.max_det < 16 ? settings.max_det : 16;
    }
    SK_TRY(sk_yolo_post_open(&m->yolo, m->task, &settings, g->width, g->height, &s->yolo, err));
    int32_t keypoints = m->task == SK_TASK_POSE ? m->yolo.n_keypoints : 0;
    s->box_format = SK_PIXEL_RGB;
    SK_TRY(sk_letterbox_open(g, s->box_format, 1, &s->box, err));
    s->picture = sk_malloc((size_t)g->width * (size_t)g->height * 3);
    if (!s->picture)
        return sk_fail_memory(err, (size_t)g->width * (size_t)g->height * 3);
    if (crops)
        SK_TRY(sk_instances_alloc(settings.max_det, keypoints, &s->inner, err));
    s->plan.width = g->width;
    s->plan.height = g->height;
    s->plan.channels = 3;
    s->plan.u8 = 1;
    s->plan.planes = !crops && m->input.rgb;
    s->plan.cut_tail = m->yolo.n_heads > 0 || m->yolo.nms_tail;
    s->plan.n_keypoints = keypoints;
    s->plan.capacity = crops ? s->settings.max_crops : settings.max_det;
    if (crops)
        snprintf(s->plan.steps, sizeof s->plan.steps, "crops grown by %g %%, letterbox -> %dx%d",
                 (double)s->settings.crop_margin * 100, (int)g->width, (int)g->height);
    else
        snprintf(s->plan.steps, sizeof s->plan.steps, "letterbox %dx%d -> %dx%d in %dx%d",
                 (int)g->frame_width, (int)g->frame_height, (int)g->resized_width, (int)g->resized_height,
                 (int)g->width, (int)g->height);
    return SK_OK;
}

static sk_status open_classify(sk_task_stage *s, sk_error *err)
{
    const sk_model *m = s->model;
    if (m->input.channels != 0 && m->input.channels != 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s takes %d channels; networks of 3 are supported",
                       sk_stage_model_name(m), (int)m->input.channels);
    int32_t w, h, scaled_width, scaled_height;
    SK_TRY(yolo_size(s, &w, &h, err));
    SK_TRY(sk_classify_open(s->frame_width, s->frame_height, w, h, &s->classify, err));
    s->picture = sk_malloc((size_t)w * (size_t)h * 3);
    if (!s->picture)
        return sk_fail_memory(err, (size_t)w * (size_t)h * 3);
    s->plan.width = w;
    s->plan.height = h;
    s->plan.channels = 3;
    s->plan.u8 = 1;
    s->plan.capacity = SK_CLASSIFY_BEST;
    sk_classify_scaled(s->classify, &scaled_width, &scaled_height);
    snprintf(s->plan.steps, sizeof s->plan.steps, "%dx%d -> scaled %dx%d -> middle %dx%d",
             (int)s->frame_width, (int)s->frame_height, (int)scaled_width, (int)scaled_height, (int)w,
             (int)h);
    return SK_OK;
}

static int32_t sleap_channels(const sk_model *m)
{
    return m->input.channels == 1 ? 1 : 3;
}

static sk_status open_sleap(sk_task_stage *s, sk_error *err)
{
    const sk_model *m = s->model;
    SK_TRY(sk_sleap_plan(&m->sleap, s->frame_width, s->frame_height, &s->geometry, err));
    const sk_sleap_geometry *g = &s->geometry;
    SK_TRY(sk_sleap_pre_open(&m->sleap, sleap_channels(m), g, &s->pre, err));
    SK_TRY(sk_sleap_post_open(m, &s->settings.sleap, &s->sleap, err));
    s->plan.width = g->width;
    s->plan.height = g->height;
    s->plan.channels = sleap_channels(m);
    s->plan.u8 = sk_sleap_pre_is_u8(s->pre);
    s->plan.capacity = sk_sleap_post_capacity(s->sleap);
    s->plan.n_keypoints = sk_sleap_post_keypoints(s->sleap);
    snprintf(s->plan.steps, sizeof s->plan.steps, "%s %dx%d -> sized %dx%d -> scaled %dx%d -> padded %dx%d",
             s->plan.channels == 1 ? "grey" : "colour", (int)g->frame_width, (int)g->frame_height,
             (int)g->sized_width, (int)g->sized_height, (int)g->scaled_width, (int)g->scaled_height,
             (int)g->width, (int)g->height);
    return SK_OK;
}

static sk_status open_sleap_second(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    const sk_model *m = s->model;
    /* Crops come from the picture as the first SLEAP model sizes it; after a YOLO model, as this one
     * would. */
    sk_sleap_spec sizing = first->pre ? first->model->sleap : m->sleap;
    const sk_sleap_grey grey = sk_sleap_grey_of(&m->sleap, sleap_channels(m)); /* as this one takes colours */
    sizing.ensure_grayscale =
        sleap_channels(m) == 1 ? grey != SK_SLEAP_GREY_LAST : grey == SK_SLEAP_GREY_SPREAD;
    sizing.input_scale = 1;
    sizing.pad_to_stride = 1;
    SK_TRY(sk_sleap_plan(&sizing, s->frame_width, s->frame_height, &s->geometry, err));
    SK_TRY(sk_sleap_pre_open(&sizing, sleap_channels(m), &s->geometry, &s->pre, err));
    sk_sleap_crop_geometry g;
    SK_TRY(sk_sleap_crop_plan(&m->sleap, s->settings.crop_size, &g, err));
    SK_TRY(sk_sleap_crop_open(&m->sleap, &g, sleap_channels(m), s->geometry.sized_width,
                              s->geometry.sized_height, sleap_channels(m), &s->cropper, err));
    sk_sleap_settings settings = s->settings.sleap;
    settings.max_instances = s->settings.max_crops;
    SK_TRY(sk_sleap_post_open(m, &settings, &s->sleap, err));
    s->plan.width = g.width;
    s->plan.height = g.height;
    s->plan.channels = sleap_channels(m);
    s->plan.u8 = sk_sleap_pre_is_u8(s->pre);
    s->plan.capacity = s->settings.max_crops;
    s->plan.n_keypoints = sk_sleap_post_keypoints(s->sleap);
    sk_crop_form *f = &s->crop_form;
    f->rule = m->sleap.legacy ? SK_CROP_MIXED : SK_CROP_PIXELS;
    f->fitted_width = s->geometry.fitted_width;
    f->fitted_height = s->geometry.fitted_height;
    f->sized_width = s->geometry.sized_width;
    f->sized_height = s->geometry.sized_height;
    f->grey = (int32_t)sk_sleap_grey_of(&sizing, sleap_channels(m));
    f->old_sizing = sizing.legacy;
    f->crop_width = g.crop_width;
    f->crop_height = g.crop_height;
    f->scaled_width = g.scaled_width;
    f->scaled_height = g.scaled_height;
    f->input_scale = g.input_scale;
    snprintf(s->plan.steps, sizeof s->plan.steps, "crops of %dx%d -> scaled %dx%d -> padded %dx%d",
             (int)g.crop_width, (int)g.crop_height, (int)g.scaled_width, (int)g.scaled_height, (int)g.width,
             (int)g.height);
    return SK_OK;
}

static sk_status check_frame_size(int32_t width, int32_t height, sk_error *err)
{
    if (width < 1 || height < 1 || width > 65536 || height > 65536)
        return sk_fail(err, SK_ERR_ARG, "a frame of %dx%d pixels is not possible", (int)width, (int)height);
    return SK_OK;
}

static sk_task_stage *new_stage(const sk_model *model, const sk_task_settings *settings, int32_t width,
                                int32_t height)
{
    sk_task_stage *s = sk_calloc(1, sizeof *s);
    if (!s)
        return NULL;
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
    SK_TRY(check_frame_size(frame_width, frame_height, err));
    if (is_crop_model(model->task))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s works on crops: give it together with a centroid model or a YOLO "
                       "model that finds the animals",
                       sk_stage_model_name(model));
    sk_task_stage *s = new_stage(model, settings, frame_width, frame_height);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status = is_yolo(model->task)              ? open_yolo(s, err)
                       : model->task == SK_TASK_CLASSIFY ? open_classify(s, err)
                                                         : open_sleap(s, err);
    if (status != SK_OK)
        sk_task_stage_close(&s);
    *out = s;
    return status;
}

sk_status sk_task_stage_open_second(const sk_model *model, const sk_task_stage *first,
                                    const sk_task_settings *settings, sk_task_stage **out, sk_error *err)
{
    SK_CHECK_ARG(model && first && out, err);
    *out = NULL;
    sk_task before = first->model->task;
    int finds = is_yolo(before) || before == SK_TASK_CENTROID;
    if (first->plan.takes_crops || !finds || (!is_crop_model(model->task) && model->task != SK_TASK_POSE) ||
        (model->task == SK_TASK_POSE && before == SK_TASK_CENTROID))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s cannot follow %s: possible are a centred-instance model after a centroid or YOLO "
                       "model, and a "
                       "YOLO pose model after a YOLO model",
                       sk_stage_model_name(model), sk_stage_model_name(first->model));
    sk_task_stage *s = new_stage(model, settings, first->frame_width, first->frame_height);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status;
    s->first_task = before;
    s->plan.takes_crops = 1;
    if (s->settings.max_crops < 1 || s->settings.max_crops > 1024) {
        status = sk_fail(err, SK_ERR_ARG, "max_crops %d is outside 1 … 1024", (int)s->settings.max_crops);
        goto done;
    }
    s->crops = sk_calloc((size_t)s->settings.max_crops, sizeof *s->crops);
    s->places = sk_calloc((size_t)s->settings.max_crops, sizeof *s->places);
    if (!s->crops || !s->places) {
        status = sk_fail_memory(err, (size_t)s->settings.max_crops * (sizeof *s->crops + sizeof *s->places));
        goto done;
    }
    s->crop_form = (sk_crop_form){.rule = SK_CROP_LETTERBOX,
                                  .frame_width = s->frame_width,
                                  .frame_height = s->frame_height,
                                  .swap = !model->input.rgb};
    SK_TRY_GOTO(is_yolo(model->task) ? open_yolo(s, err) : open_sleap_second(s, first, err));
    s->crop_form.width = s->plan.width;
    s->crop_form.height = s->plan.height;
    s->crop_form.channels = s->plan.channels;
    s->crop_form.u8 = s->plan.u8;
    *out = s;
    s = NULL;
done:
    sk_task_stage_close(&s);
    return status;
}

void sk_task_stage_close(sk_task_stage **stage)
{
    if (!stage || !*stage)
        return;
    sk_task_stage *s = *stage;
    sk_letterbox_close(&s->box);
    sk_yolo_post_close(&s->yolo);
    sk_classify_close(&s->classify);
    sk_free(s->picture);
    sk_instances_free(&s->inner);
    sk_sleap_pre_close(&s->pre);
    sk_sleap_post_close(&s->sleap);
    sk_sleap_crop_close(&s->cropper);
    sk_free(s->crops);
    sk_free(s->places);
    sk_free(s);
    *stage = NULL;
}

const sk_task_plan *sk_task_stage_plan(const sk_task_stage *s)
{
    return &s->plan;
}

bool sk_task_input_size(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                        int32_t frame_height, int32_t *width, int32_t *height)
{
    const sk_task_stage s = {
        .model = model, .settings = *settings, .frame_width = frame_width, .frame_height = frame_height};
    sk_letterbox_geometry g;
    sk_error ignored;
    if (!is_yolo(model->task) || fit_frame(&s, &g, &ignored) != SK_OK)
        return false;
    *width = g.width;
    *height = g.height;
    return true;
}

bool sk_task_planes_above(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                          int32_t *height)
{
    const sk_task_stage s = {.model = model, .settings = *settings};
    sk_error ignored;
    if (!is_yolo(model->task) || !model->input.rgb || yolo_size(&s, width, height, &ignored) != SK_OK)
        return false;
    *width *= 2;
    *height *= 2;
    return true;
}
