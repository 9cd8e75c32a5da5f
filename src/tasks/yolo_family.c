/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "tasks/family.h"
#include "base/instances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ultralytics' models that find: boxes, poses, oriented boxes, and of segmentation the boxes. Frames are letterboxed; a
 * pose model may look at crops around another one's boxes. */

enum { MOST_OUTPUTS = 32, CROP_MOST_DET = 16 };

typedef struct yolo_stage {
    sk_letterbox_geometry geometry; /* of whole frames */
    sk_letterbox *box;
    sk_pixel_format format; /* that the box is fitted to */
    sk_yolo_post *post;
    uint8_t *picture;   /* [height][width][3], on the way to float */
    sk_instances inner; /* on crops: what one crop shows … */
    uint8_t *canvas;    /* … and one that is turned or masked, before it is scaled */
} yolo_stage;

/* --- models --- */

static sk_task_role role(const sk_model *model)
{
    return (sk_task_role){.finds = true,
                          .whole_frames = true,
                          .gives = SK_GIVES_BOXES | SK_GIVES_MIDDLES,
                          .oriented = model->task == SK_TASK_OBB,
                          .needs = model->task == SK_TASK_POSE ? SK_GIVES_BOXES : 0};
}

static sk_heads heads(const sk_model *model)
{
    return model->yolo.end2end && !model->yolo.nms_tail ? SK_HEADS_ONE_TO_ONE : SK_HEADS_ONE_TO_MANY;
}

static void describe(const sk_model *model, sk_task_description *d)
{
    d->n_edges = model->n_edges;
    d->edges = model->edges;
    d->colours = SK_COLOURS_TAGGED;
    if (d->heads == SK_HEADS_AUTO)
        d->heads = heads(model);
    if (d->has & SK_HAS_BOX) { /* another one found them */
        d->takes_nv12 = false;
        return;
    }
    d->n_classes = model->n_classes;
    d->class_names = model->class_names;
    d->has |= model->task == SK_TASK_OBB ? SK_HAS_OBB | SK_HAS_BOX : SK_HAS_BOX;
    d->rectangles = true;
    d->takes_nv12 = true;
}

/* Where frames land; a model on crops letterboxes each into its whole input. */
static sk_status fit_frame(const sk_model *model, const sk_task_settings *settings, bool crops,
                           int32_t frame_width, int32_t frame_height, sk_letterbox_geometry *out,
                           sk_error *err)
{
    const sk_input_spec *in = &model->input;
    int32_t w, h, stride = 0;
    SK_TRY(sk_stage_network_size(model, settings, &w, &h, err));
    if (settings->rect && !in->fixed_size && !crops)
        stride = in->stride > 0 ? in->stride : 32;
    return sk_letterbox_fit(frame_width, frame_height, w, h, stride, out, err);
}

static bool input_size(const sk_model *model, const sk_task_settings *settings, int32_t frame_width,
                       int32_t frame_height, int32_t *width, int32_t *height)
{
    sk_letterbox_geometry g;
    sk_error ignored;
    if (fit_frame(model, settings, false, frame_width, frame_height, &g, &ignored) != SK_OK)
        return false;
    *width = g.width;
    *height = g.height;
    return true;
}

static bool i420_above(const sk_model *model, const sk_task_settings *settings, int32_t *width,
                       int32_t *height)
{
    sk_error ignored;
    if (!model->input.rgb || sk_stage_network_size(model, settings, width, height, &ignored) != SK_OK)
        return false;
    *width *= 2;
    *height *= 2;
    return true;
}

/* The longest side of a crop that is made before it is scaled. */
static int32_t canvas_side(const sk_task_stage *s)
{
    return s->frame_width > s->frame_height ? s->frame_width : s->frame_height;
}

/* --- opening and closing --- */

static void plan(sk_task_stage *s, int32_t keypoints, int32_t max_det)
{
    const yolo_stage *y = s->own;
    const sk_model *m = s->model;
    const sk_letterbox_geometry *g = &y->geometry;
    const bool crops = s->plan.takes_crops;
    s->plan.width = g->width;
    s->plan.height = g->height;
    s->plan.channels = 3;
    s->plan.u8 = 1;
    s->plan.i420 = !crops && m->input.rgb;
    s->plan.cut_tail = m->yolo.n_heads > 0 || m->yolo.nms_tail;
    s->plan.n_keypoints = keypoints;
    s->plan.capacity = crops ? s->settings.max_crops : max_det;
    if (crops)
        snprintf(s->plan.steps, sizeof s->plan.steps, "%scrops grown by %g %%%s, letterbox -> %dx%d",
                 s->turns ? "turned " : "", (double)s->settings.crop_margin * 100,
                 s->masks ? ", neighbours black" : "", (int)g->width, (int)g->height);
    else
        snprintf(s->plan.steps, sizeof s->plan.steps, "letterbox %dx%d -> %dx%d in %dx%d",
                 (int)g->frame_width, (int)g->frame_height, (int)g->resized_width, (int)g->resized_height,
                 (int)g->width, (int)g->height);
}

static sk_status open_stage(sk_task_stage *s, const sk_task_stage *first, sk_error *err)
{
    const sk_model *m = s->model;
    if (m->input.channels != 0 && m->input.channels != 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s takes %d channels; YOLO models of 3 are supported",
                       sk_stage_model_name(m), (int)m->input.channels);
    yolo_stage *y = s->own = sk_calloc(1, sizeof *y);
    if (!y)
        return sk_fail_memory(err, sizeof *y);
    SK_TRY(fit_frame(m, &s->settings, first != NULL, s->frame_width, s->frame_height, &y->geometry, err));
    const sk_letterbox_geometry *g = &y->geometry;
    sk_yolo_settings settings = s->settings.yolo;
    if (first) { /* classes were chosen for the model that finds; a crop needs its best pose only */
        settings.classes = NULL;
        settings.n_classes = 0;
        settings.max_det = settings.max_det < CROP_MOST_DET ? settings.max_det : CROP_MOST_DET;
    }
    SK_TRY(sk_yolo_post_open(&m->yolo, m->task, &settings, g->width, g->height, &y->post, err));
    int32_t keypoints = m->task == SK_TASK_POSE ? m->yolo.n_keypoints : 0;
    y->format = SK_PIXEL_RGB;
    SK_TRY(sk_letterbox_open(g, y->format, 1, &y->box, err));
    y->picture = sk_malloc((size_t)g->width * (size_t)g->height * 3);
    if (!y->picture)
        return sk_fail_memory(err, (size_t)g->width * (size_t)g->height * 3);
    if (first)
        SK_TRY(sk_instances_alloc(settings.max_det, keypoints, &y->inner, err));
    if (s->turns || s->masks) {
        const size_t bytes = (size_t)canvas_side(s) * (size_t)canvas_side(s) * 3;
        y->canvas = sk_malloc(bytes);
        if (!y->canvas)
            return sk_fail_memory(err, bytes);
    }
    s->crop_form = (sk_crop_form){.rule = SK_CROP_LETTERBOX, .swap = !m->input.rgb};
    plan(s, keypoints, settings.max_det);
    return SK_OK;
}

static void close_stage(sk_task_stage *s)
{
    yolo_stage *y = s->own;
    if (!y)
        return;
    sk_letterbox_close(&y->box);
    sk_yolo_post_close(&y->post);
    sk_free_all(y->picture, y->canvas);
    sk_instances_free(&y->inner);
    sk_free(y);
}

/* --- frames --- */

/* What the letterbox should take a frame's format for: a network that wants B, G, R gets the two
 * exchanged. */
static sk_pixel_format taken_for(const sk_task_stage *s, sk_pixel_format format)
{
    if (s->model->input.rgb || s->model->input.channels != 3)
        return format;
    return format == SK_PIXEL_RGB ? SK_PIXEL_BGR : format == SK_PIXEL_BGR ? SK_PIXEL_RGB : format;
}

static bool fit(const sk_task_stage *s, sk_task_fit *out)
{
    const yolo_stage *y = s->own;
    *out = (sk_task_fit){
        .rule = SK_TASK_FIT_LETTERBOX, .box = y->geometry, .bgr = taken_for(s, SK_PIXEL_RGB) == SK_PIXEL_BGR};
    return true;
}

/* Letterboxes a frame or a part of one into `picture`, or straight into the caller's 8-bit input. */
static sk_status box_input(sk_task_stage *s, const sk_frame *frame, const sk_letterbox_geometry *geometry,
                           sk_task_input form, void *out, sk_error *err)
{
    yolo_stage *y = s->own;
    uint8_t *picture = form == SK_TASK_INPUT_U8 ? out : y->picture;
    sk_frame view = *frame;
    view.format = taken_for(s, frame->format);
    const sk_letterbox_geometry *have = sk_letterbox_geometry_of(y->box);
    if (y->format != view.format || have->frame_width != geometry->frame_width ||
        have->frame_height != geometry->frame_height) {
        SK_TRY(sk_letterbox_refit(y->box, geometry, view.format, err));
        y->format = view.format;
    }
    SK_TRY(sk_letterbox_run(y->box, &view, picture, err));
    if (form == SK_TASK_INPUT_F32)
        sk_stage_to_planes(s, picture, out);
    return SK_OK;
}

static sk_status input(sk_task_stage *s, const sk_frame *frame, sk_task_input form, void *out, sk_error *err)
{
    const yolo_stage *y = s->own;
    if (frame->format == SK_PIXEL_I420 && !sk_letterbox_takes_planes(&y->geometry))
        SK_TRY(sk_plain_frame_take(&s->plain, frame, &frame, err));
    return box_input(s, frame, &y->geometry, form, out, err);
}

/* The one output of the whole network that holds detections. */
static sk_status decode_whole(sk_task_stage *s, const sk_task_outputs *o,
                              const sk_letterbox_geometry *geometry, sk_instances *out, sk_error *err)
{
    yolo_stage *y = s->own;
    sk_map map;
    for (int32_t i = 0; i < o->count && i < s->model->n_outputs; i++) {
        sk_output_kind kind = s->model->outputs[i].kind;
        if (kind != SK_OUTPUT_YOLO && kind != SK_OUTPUT_YOLO_END2END)
            continue;
        SK_TRY(sk_map_of_tensor(&o->tensors[i], o->image, kind == SK_OUTPUT_YOLO_END2END, &map, err));
        return sk_yolo_post_run(y->post, kind == SK_OUTPUT_YOLO ? SK_YOLO_DENSE : SK_YOLO_FOUND, &map, 1,
                                geometry, out, err);
    }
    return sk_fail(err, SK_ERR_MISMATCH, "%s: none of the %d outputs holds detections",
                   sk_stage_model_name(s->model), (int)o->count);
}

static sk_status decode_heads(sk_task_stage *s, const sk_task_outputs *o,
                              const sk_letterbox_geometry *geometry, sk_instances *out, sk_error *err)
{
    yolo_stage *y = s->own;
    sk_map maps[MOST_OUTPUTS];
    if (s->model->yolo.nms_tail) { /* before the exporter's suppression the output is dense */
        SK_TRY(sk_map_of_tensor(&o->tensors[0], o->image, false, &maps[0], err));
        return sk_yolo_post_run(y->post, SK_YOLO_DENSE, maps, 1, geometry, out, err);
    }
    if (o->count > MOST_OUTPUTS)
        return sk_fail(err, SK_ERR_MISMATCH, "a network with %d outputs is not a YOLO network",
                       (int)o->count);
    for (int32_t i = 0; i < o->count; i++)
        SK_TRY(sk_map_of_tensor(&o->tensors[i], o->image, false, &maps[i], err));
    return sk_yolo_post_run(y->post, SK_YOLO_HEADS, maps, o->count, geometry, out, err);
}

static sk_status decode_in(sk_task_stage *s, const sk_task_outputs *o, const sk_letterbox_geometry *geometry,
                           sk_instances *out, sk_error *err)
{
    yolo_stage *y = s->own;
    sk_map map;
    switch (o->form) {
    case SK_OUTPUTS_WHOLE: return decode_whole(s, o, geometry, out, err);
    case SK_OUTPUTS_HEADS: return decode_heads(s, o, geometry, out, err);
    case SK_OUTPUTS_FOUND: break;
    }
    SK_TRY(sk_map_of_tensor(&o->tensors[0], o->image, true, &map, err));
    return sk_yolo_post_run(y->post, SK_YOLO_FOUND, &map, 1, geometry, out, err);
}

static sk_status decode(sk_task_stage *s, const sk_task_outputs *outputs, sk_instances *out, sk_error *err)
{
    const yolo_stage *y = s->own;
    return decode_in(s, outputs, &y->geometry, out, err);
}

static const sk_yolo_settings *found_rules(const sk_task_stage *s)
{
    return &s->settings.yolo;
}

/* --- crops --- */

/* The part of the frame it sees: the box grown by the margin, whole pixels, inside the frame. */
static bool crop(sk_task_stage *s, const sk_instances *found, sk_task_crop *c, sk_crop *place)
{
    (void)found;
    sk_turned_box turned;
    if (s->turns && (c->found.has & SK_HAS_OBB)) {
        const bool there = sk_turned_box_of(&c->found, &turned);
        if (there)
            *place = sk_turned_place(&turned, s->settings.crop_margin, canvas_side(s));
        return there;
    }
    const float *box = c->found.box;
    float gx = (box[2] - box[0]) * s->settings.crop_margin, gy = (box[3] - box[1]) * s->settings.crop_margin;
    float x0 = fmaxf(floorf(box[0] - gx), 0), y0 = fmaxf(floorf(box[1] - gy), 0);
    float x1 = fminf(ceilf(box[2] + gx), (float)s->frame_width),
          y1 = fminf(ceilf(box[3] + gy), (float)s->frame_height);
    if (!(x1 - x0 >= 1) || !(y1 - y0 >= 1))
        return false;
    *place = (sk_crop){.left = x0, .top = y0, .width = x1 - x0, .height = y1 - y0};
    return true;
}

static sk_status fit_crop(const sk_task_stage *s, const sk_crop *place, sk_letterbox_geometry *out,
                          sk_error *err)
{
    return sk_letterbox_fit((int32_t)place->width, (int32_t)place->height, s->plan.width, s->plan.height, 0,
                            out, err);
}

static sk_status crop_input(sk_task_stage *s, const sk_crop *place, sk_task_input form, void *out,
                            sk_error *err)
{
    yolo_stage *y = s->own;
    sk_frame part = *s->frame;
    const int32_t bytes = part.format == SK_PIXEL_GRAY ? 1 : 3;
    const sk_turned_picture whole = {part.data, part.stride, part.width, part.height, bytes};
    sk_letterbox_geometry g;
    sk_crop_mask mask;
    const bool masked = sk_stage_mask(s, place, &mask);
    if (!place->turned)
        part.data += (ptrdiff_t)place->top * part.stride + (ptrdiff_t)place->left * bytes;
    part.width = (int32_t)place->width;
    part.height = (int32_t)place->height;
    const size_t row = (size_t)part.width * (size_t)bytes;
    if (place->turned)
        sk_turned_cut(&whole, place, y->canvas);
    for (int32_t v = 0; masked && !place->turned && v < part.height; v++)
        memcpy(y->canvas + (size_t)v * row, part.data + v * part.stride, row);
    if (masked)
        sk_crop_mask_paint(&mask, place, bytes, y->canvas);
    if (masked || place->turned) {
        part.data = y->canvas;
        part.stride = (ptrdiff_t)row;
    }
    SK_TRY(fit_crop(s, place, &g, err));
    return box_input(s, &part, &g, form, out, err);
}

/* The best pose seen in a crop, moved to the frame; the box stays the first model's. */
static sk_status crop_decode(sk_task_stage *s, const sk_task_crop *c, const sk_crop *place,
                             const sk_task_outputs *outputs, sk_instances *out, sk_error *err)
{
    yolo_stage *y = s->own;
    sk_letterbox_geometry g;
    SK_TRY(fit_crop(s, place, &g, err));
    SK_TRY(decode_in(s, outputs, &g, &y->inner, err));
    sk_found *item = sk_instances_add(out);
    int32_t first = item->first_keypoint;
    *item = c->found;
    item->first_keypoint = first;
    item->has = (item->has & ~SK_HAS_KEYPOINTS) | (y->inner.count ? SK_HAS_KEYPOINTS : 0);
    for (int32_t k = 0; k < out->n_keypoints && y->inner.count; k++) {
        sk_keypoint point = y->inner.keypoints[y->inner.items[0].first_keypoint + k];
        sk_keypoint *to = &out->keypoints[first + k];
        *to = (sk_keypoint){point.x + place->left, point.y + place->top, point.score};
        if (!place->turned)
            continue;
        sk_turned_out(place, point.x - 0.5f, point.y - 0.5f, &to->x, &to->y); /* pixels' edges, and centres */
        to->x += 0.5f;
        to->y += 0.5f;
    }
    return SK_OK;
}

const sk_family sk_yolo_family = {.name = "YOLO",
                                  .role = role,
                                  .describe = describe,
                                  .keypoint_name = sk_model_keypoint_name,
                                  .heads = heads,
                                  .input_size = input_size,
                                  .i420_above = i420_above,
                                  .open = open_stage,
                                  .close = close_stage,
                                  .input = input,
                                  .decode = decode,
                                  .middle = sk_found_middle,
                                  .crop = crop,
                                  .crop_input = crop_input,
                                  .crop_decode = crop_decode,
                                  .fit = fit,
                                  .found_rules = found_rules};
