/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "tasks/family.h"
#include "tasks/instance_filter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* SLEAP's models of both eras. Frames are sized, scaled and padded; the outputs are maps, or a table of the peaks in them
 * where an engine looked for those. Top-down models look at crops around centroids or boxes. */

enum { MOST_MAPS = 32 };

typedef struct sleap_stage {
    sk_sleap_geometry geometry; /* second models: of the picture that crops are cut from */
    sk_sleap_pre *pre;
    sk_sleap_post *post;
    sk_sleap_crop *cropper; /* second models */
} sleap_stage;

/* --- models --- */

static sk_task_role role(const sk_model *model)
{
    return (sk_task_role){.finds = true,
                          .whole_frames = !sk_sleap_on_crops(model->task),
                          .gives = model->task == SK_TASK_CENTROID ? SK_GIVES_MIDDLES : 0,
                          .needs = sk_sleap_on_crops(model->task)           ? SK_GIVES_MIDDLES
                                   : model->task == SK_TASK_SINGLE_INSTANCE ? SK_GIVES_BOXES
                                                                            : 0,
                          .centred = sk_sleap_on_crops(model->task)};
}

static void describe(const sk_model *model, sk_task_description *d)
{
    d->identities = model->task == SK_TASK_MULTICLASS_BOTTOMUP || model->task == SK_TASK_MULTICLASS_TOPDOWN;
    /* A model that found boxes keeps its classes, unless they are individuals here. */
    if (d->identities || !(d->has & SK_HAS_BOX)) {
        d->n_classes = model->n_classes;
        d->class_names = model->class_names;
    }
    d->n_edges = model->task == SK_TASK_CENTROID ? 0 : model->n_edges;
    d->edges = model->edges;
    d->colours = model->sleap.legacy ? SK_COLOURS_BT601 : SK_COLOURS_TAGGED;
    d->fits_all = false;
    d->takes_nv12 = !sk_sleap_on_crops(model->task);
}

static const char *keypoint_name(const sk_model *model, int32_t index)
{
    return model->task == SK_TASK_CENTROID ? "centroid" : sk_model_keypoint_name(model, index);
}

/* --- opening and closing --- */

static int32_t channels_of(const sk_model *m)
{
    return m->input.channels == 1 ? 1 : 3;
}

static sk_status open_frames(sk_task_stage *s, sk_error *err)
{
    sleap_stage *p = s->own;
    const sk_model *m = s->model;
    SK_TRY(sk_sleap_sizes(&m->sleap, s->frame_width, s->frame_height, &p->geometry, err));
    const sk_sleap_geometry *g = &p->geometry;
    SK_TRY(sk_sleap_pre_open(&m->sleap, channels_of(m), g, &p->pre, err));
    SK_TRY(sk_sleap_post_open(m, &s->settings.sleap, &p->post, err));
    s->plan.width = g->width;
    s->plan.height = g->height;
    s->plan.capacity = sk_sleap_post_capacity(p->post);
    snprintf(s->plan.steps, sizeof s->plan.steps, "%s %dx%d -> sized %dx%d -> scaled %dx%d -> padded %dx%d",
             channels_of(m) == 1 ? "grey" : "colour", (int)g->frame_width, (int)g->frame_height,
             (int)g->sized_width, (int)g->sized_height, (int)g->scaled_width, (int)g->scaled_height,
             (int)g->width, (int)g->height);
    return SK_OK;
}

/* How the picture is made that crops are cut from: as the first SLEAP model sizes it; after another family's, as this
 * one would. Colours as this one takes them. */
static sk_sleap_spec sizing_of(const sk_task_stage *s, const sk_task_stage *first)
{
    const sk_model *m = s->model;
    sk_sleap_spec sizing = first->family == s->family ? first->model->sleap : m->sleap;
    const sk_sleap_grey grey = sk_sleap_grey_of(&m->sleap, channels_of(m));
    sizing.ensure_grayscale = channels_of(m) == 1 ? grey != SK_SLEAP_GREY_LAST : grey == SK_SLEAP_GREY_SPREAD;
    sizing.input_scale = 1;
    sizing.pad_to_stride = 1;
    if (!sk_sleap_on_crops(m->task)) /* what it learnt from is as large as a crop, and not as the frame */
        sizing.target_size[0] = sizing.target_size[1] = 0;
    return sizing;
}

/* A model of one animal in a picture, on crops: these are as large as the pictures it learnt from, and their highest peaks count, as
 * with models that learn from crops. */
static sk_model on_crops(const sk_model *m)
{
    sk_model as = {.task = m->task,
                   .family = m->family,
                   .path = m->path,
                   .n_classes = m->n_classes,
                   .n_keypoints = m->n_keypoints,
                   .n_edges = m->n_edges,
                   .edges = m->edges,
                   .input = m->input,
                   .n_outputs = m->n_outputs,
                   .sleap = m->sleap};
    memcpy(as.outputs, m->outputs, sizeof as.outputs);
    if (sk_sleap_on_crops(m->task))
        return as;
    as.task = SK_TASK_CENTERED_INSTANCE;
    const float scale = m->sleap.input_scale > 0 && !m->sleap.legacy ? m->sleap.input_scale : 1;
    as.sleap.crop_size[0] = (int32_t)lrintf((float)m->input.height / scale);
    as.sleap.crop_size[1] = (int32_t)lrintf((float)m->input.width / scale);
    return as;
}

static sk_crop_form form_of(const sk_model *m, const sk_sleap_spec *sizing, const sk_sleap_geometry *sized,
                            const sk_sleap_crop_geometry *g)
{
    return (sk_crop_form){.rule = m->sleap.legacy ? SK_CROP_MIXED : SK_CROP_PIXELS,
                          .fitted_width = sized->fitted_width,
                          .fitted_height = sized->fitted_height,
                          .sized_width = sized->sized_width,
                          .sized_height = sized->sized_height,
                          .grey = (int32_t)sk_sleap_grey_of(sizing, channels_of(m)),
                          .old_sizing = sizing->legacy,
                          .crop_width = g->crop_width,
                          .crop_height = g->crop_height,
                          .scaled_width = g->scaled_width,
                          .scaled_height = g->scaled_height,
                          .input_scale = g->input_scale};
}

static sk_status open_crops(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    sleap_stage *p = s->own;
    const sk_model *m = s->model, as = on_crops(m);
    const sk_sleap_spec sizing = sizing_of(s, first);
    sk_sleap_crop_geometry g;
    sk_sleap_settings settings = s->settings.sleap;
    SK_TRY(sk_sleap_sizes(&sizing, s->frame_width, s->frame_height, &p->geometry, err));
    SK_TRY(sk_sleap_pre_open(&sizing, channels_of(m), &p->geometry, &p->pre, err));
    SK_TRY(sk_sleap_crop_sizes(&as.sleap, s->settings.crop_size, &g, err));
    SK_TRY(sk_sleap_crop_open(&as.sleap, &g, channels_of(m), p->geometry.sized_width,
                              p->geometry.sized_height, channels_of(m), &p->cropper, err));
    settings.max_instances = s->settings.max_crops;
    SK_TRY(sk_sleap_post_open(&as, &settings, &p->post, err));
    s->crop_form = form_of(m, &sizing, &p->geometry, &g);
    s->mask_scale = p->geometry.eff_scale;
    s->plan.width = g.width;
    s->plan.height = g.height;
    s->plan.capacity = s->settings.max_crops;
    snprintf(s->plan.steps, sizeof s->plan.steps, "%scrops of %dx%d%s -> scaled %dx%d -> padded %dx%d",
             s->turns ? "turned " : "", (int)g.crop_width, (int)g.crop_height,
             s->masks ? ", neighbours black" : "", (int)g.scaled_width, (int)g.scaled_height, (int)g.width,
             (int)g.height);
    return SK_OK;
}

static sk_status open_stage(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    sleap_stage *p = s->own = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    SK_TRY(first ? open_crops(s, first, err) : open_frames(s, err));
    s->plan.channels = channels_of(s->model);
    s->plan.u8 = sk_sleap_pre_is_u8(p->pre);
    s->plan.n_keypoints = sk_sleap_post_keypoints(p->post);
    return SK_OK;
}

static void close_stage(sk_task_stage *s)
{
    sleap_stage *p = s->own;
    if (!p)
        return;
    sk_sleap_pre_close(&p->pre);
    sk_sleap_post_close(&p->post);
    sk_sleap_crop_close(&p->cropper);
    sk_free(p);
}

/* --- frames --- */

static sk_status input(sk_task_stage *s, const sk_frame *frame, sk_task_input form, void *out, sk_error *err)
{
    sleap_stage *p = s->own;
    SK_TRY(sk_sleap_pre_size(p->pre, frame, NULL, err));
    return form == SK_TASK_INPUT_U8 ? sk_sleap_pre_u8(p->pre, out, err) : sk_sleap_pre_f32(p->pre, out, err);
}

static bool fit(const sk_task_stage *s, sk_task_fit *out)
{
    const sleap_stage *p = s->own;
    *out = (sk_task_fit){.rule = SK_TASK_FIT_SLEAP,
                         .sizes = p->geometry,
                         .legacy = s->model->sleap.legacy,
                         .grey = sk_sleap_grey_of(&s->model->sleap, s->plan.channels)};
    return true;
}

static bool peaks(const sk_task_stage *s, sk_peak_wish *out)
{
    const sleap_stage *p = s->own;
    return sk_sleap_post_wish(p->post, out);
}

static const sk_peak_word *table_of(const sk_tensor *outputs, int32_t n_outputs, int32_t image)
{
    const sk_tensor *last = n_outputs > 0 ? &outputs[n_outputs - 1] : NULL;
    if (!last || last->dtype != SK_DTYPE_I32 || last->shape.rank != 2 || !last->data)
        return NULL;
    return (const sk_peak_word *)last->data + (ptrdiff_t)image * last->shape.dim[1];
}

bool sk_task_outputs_whole(const sk_tensor *outputs, int32_t n_outputs, int32_t image)
{
    const sk_peak_word *table = table_of(outputs, n_outputs, image);
    return table && table[0].i == SK_PEAK_WHOLE;
}

/* The maps, and the table of peaks where there is one after them. */
static sk_status take_outputs(const sk_task_stage *s, const sk_task_outputs *o, sk_map maps[MOST_MAPS],
                              int32_t *n_maps, const sk_peak_word **table, sk_error *err)
{
    sk_peak_wish wish;
    *n_maps = o->count;
    *table = o->count == s->model->n_outputs + 1 ? table_of(o->tensors, o->count, o->image) : NULL;
    if (*table) {
        const sk_tensor *last = &o->tensors[--*n_maps];
        if (!peaks(s, &wish) || last->shape.dim[1] != sk_peak_layout_of(&wish).words ||
            o->image >= last->shape.dim[0])
            return sk_fail(err, SK_ERR_MISMATCH, "%s: a table of peaks that this stage did not ask for",
                           sk_stage_model_name(s->model));
    }
    if (*n_maps > MOST_MAPS)
        return sk_fail(err, SK_ERR_MISMATCH, "a network with %d outputs is not a SLEAP network",
                       (int)*n_maps);
    for (int32_t i = 0; i < *n_maps; i++)
        SK_TRY(sk_map_of_tensor(&o->tensors[i], o->image, false, &maps[i], err));
    return SK_OK;
}

static sk_status decode(sk_task_stage *s, const sk_task_outputs *outputs, sk_instances *out, sk_error *err)
{
    sleap_stage *p = s->own;
    sk_map maps[MOST_MAPS];
    const sk_peak_word *table;
    int32_t n_maps;
    SK_TRY(take_outputs(s, outputs, maps, &n_maps, &table, err));
    if (table)
        return sk_sleap_post_run_table(p->post, table, maps, n_maps, &p->geometry, out, err);
    return sk_sleap_post_run(p->post, maps, n_maps, &p->geometry, out, err);
}

static void keep(const sk_task_stage *s, sk_instances *instances)
{
    if (sk_instance_filter_on(&s->settings.keep))
        sk_instance_filter(&s->settings.keep, instances);
}

/* --- crops --- */

static bool middle(const sk_instances *found, const sk_found *item, float *x, float *y)
{
    *x = found->keypoints[item->first_keypoint].x;
    *y = found->keypoints[item->first_keypoint].y;
    return isfinite(*x) && isfinite(*y);
}

static void crops(sk_task_stage *s, sk_instances *out)
{
    sleap_stage *p = s->own;
    sk_sleap_post_begin(p->post, out);
}

static sk_sleap_centroid centroid_of(const sleap_stage *p, const sk_task_crop *c)
{
    return (sk_sleap_centroid){.x = c->x * p->geometry.eff_scale,
                               .y = c->y * p->geometry.eff_scale,
                               .score = c->found.score,
                               .class_id = c->found.class_id};
}

static bool crop(sk_task_stage *s, const sk_instances *found, sk_task_crop *c, sk_crop *place)
{
    const sleap_stage *p = s->own;
    if (!s->finder->middle(found, &c->found, &c->x, &c->y))
        return false;
    const sk_sleap_centroid centroid = centroid_of(p, c);
    *place = sk_sleap_crop_around(p->cropper, centroid.x, centroid.y);
    sk_turned_box box;
    if (s->turns && (c->found.has & SK_HAS_OBB) && sk_turned_box_of(&c->found, &box))
        *place = sk_sleap_crop_turned(p->cropper, centroid.x, centroid.y, sk_turned_place(&box, 0, 1).angle);
    return true;
}

static sk_status cut_from(sk_task_stage *s, const sk_frame *frame, sk_error *err)
{
    sleap_stage *p = s->own;
    const uint8_t *sized;
    SK_TRY(sk_sleap_pre_size(p->pre, frame, &sized, err));
    sk_sleap_crop_begin(p->cropper, sized, sk_sleap_pre_channels(p->pre));
    return SK_OK;
}

static sk_status crop_input(sk_task_stage *s, const sk_crop *place, sk_task_input form, void *out,
                            sk_error *err)
{
    (void)err;
    sleap_stage *p = s->own;
    sk_crop_mask mask;
    const bool masked = sk_stage_mask(s, place, &mask);
    sk_sleap_crop_mask(p->cropper, masked ? &mask : NULL);
    if (form == SK_TASK_INPUT_U8)
        sk_sleap_crop_u8(p->cropper, place, out);
    else
        sk_sleap_crop_f32(p->cropper, place, out);
    return SK_OK;
}

static bool has_points(const sk_instances *out, const sk_found *item)
{
    for (int32_t k = 0; k < out->n_keypoints; k++)
        if (isfinite(out->keypoints[item->first_keypoint + k].x))
            return true;
    return false;
}

static sk_status crop_decode(sk_task_stage *s, const sk_task_crop *c, const sk_crop *place,
                             const sk_task_outputs *outputs, sk_instances *out, sk_error *err)
{
    sleap_stage *p = s->own;
    sk_map maps[MOST_MAPS];
    const sk_peak_word *table;
    int32_t n_maps;
    const float scale = p->geometry.eff_scale;
    sk_sleap_centroid centroid = centroid_of(p, c); /* whose fractions the place may lack */
    centroid.turned = place->turned;
    centroid.angle = place->angle;
    SK_TRY(take_outputs(s, outputs, maps, &n_maps, &table, err));
    if (table)
        SK_TRY(
            sk_sleap_post_crop_table(p->post, table, maps, n_maps, p->cropper, &centroid, scale, out, err));
    else
        SK_TRY(sk_sleap_post_crop(p->post, maps, n_maps, p->cropper, &centroid, scale, out, err));
    /* Boxes that were found stay with the instance. */
    sk_found *item = &out->items[out->count - 1];
    item->has |= c->found.has & (SK_HAS_BOX | SK_HAS_OBB);
    if ((item->has & SK_HAS_BOX) && !has_points(out, item))
        item->has &= ~SK_HAS_KEYPOINTS;
    memcpy(item->box, c->found.box, sizeof item->box);
    memcpy(item->obb, c->found.obb, sizeof item->obb);
    return SK_OK;
}

static void crops_end(sk_task_stage *s, sk_instances *out)
{
    sleap_stage *p = s->own;
    sk_sleap_post_end(p->post, out);
}

const sk_family sk_sleap_family = {.name = "SLEAP",
                                   .role = role,
                                   .describe = describe,
                                   .keypoint_name = keypoint_name,
                                   .open = open_stage,
                                   .close = close_stage,
                                   .input = input,
                                   .decode = decode,
                                   .keep = keep,
                                   .middle = middle,
                                   .crops = crops,
                                   .crop = crop,
                                   .cut_from = cut_from,
                                   .crop_input = crop_input,
                                   .crop_decode = crop_decode,
                                   .crops_end = crops_end,
                                   .fit = fit,
                                   .peaks = peaks};
