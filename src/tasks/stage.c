/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/stage_internal.h"

#include "tasks/instance_filter.h"
#include "tasks/pixels.h"

static sk_status classify_input(sk_task_stage *s, const sk_frame *frame, sk_task_input form, void *out,
                                sk_error *err)
{
    uint8_t *picture = form == SK_TASK_INPUT_U8 ? out : s->picture;
    SK_TRY(sk_classify_input(s->classify, frame, picture, err));
    if (form == SK_TASK_INPUT_F32)
        sk_pixels_to_planes(picture, (ptrdiff_t)s->plan.width * 3, s->plan.width, s->plan.height, 3,
                            s->plan.scale, s->plan.mean, s->plan.std, out);
    return SK_OK;
}

/* What the letterbox should take a frame's format for: a network that wants B, G, R gets the two
 * exchanged. */
static sk_pixel_format taken_for(const sk_task_stage *s, sk_pixel_format format)
{
    if (s->model->input.rgb || s->model->input.channels != 3)
        return format;
    return format == SK_PIXEL_RGB ? SK_PIXEL_BGR : format == SK_PIXEL_BGR ? SK_PIXEL_RGB : format;
}

const sk_letterbox_geometry *sk_task_stage_letterbox(const sk_task_stage *s, sk_pixel_format format,
                                                     sk_pixel_format *taken)
{
    *taken = taken_for(s, format);
    return s->yolo && !s->plan.takes_crops ? &s->box_geometry : NULL;
}

/* Letterboxes a frame or a part of one into `picture`, or straight into the caller's 8-bit input. */
sk_status sk_stage_yolo_input(sk_task_stage *s, const sk_frame *frame, const sk_letterbox_geometry *geometry,
                              sk_task_input form, void *out, sk_error *err)
{
    uint8_t *picture = form == SK_TASK_INPUT_U8 ? out : s->picture;
    sk_frame view = *frame;
    view.format = taken_for(s, frame->format);
    if (view.format == SK_PIXEL_I420 && !s->plan.planes)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: takes no I420 frames here: give RGB",
                       sk_stage_model_name(s->model));
    const sk_letterbox_geometry *have = sk_letterbox_geometry_of(s->box);
    if (s->box_format != view.format || have->frame_width != geometry->frame_width ||
        have->frame_height != geometry->frame_height) {
        SK_TRY(sk_letterbox_refit(s->box, geometry, view.format, err));
        s->box_format = view.format;
    }
    SK_TRY(sk_letterbox_run(s->box, &view, picture, err));
    if (form == SK_TASK_INPUT_F32)
        sk_pixels_to_planes(picture, (ptrdiff_t)s->plan.width * 3, s->plan.width, s->plan.height, 3,
                            s->plan.scale, s->plan.mean, s->plan.std, out);
    return SK_OK;
}

sk_status sk_task_stage_input(sk_task_stage *s, const sk_frame *frame, sk_task_input form, void *out,
                              sk_error *err)
{
    SK_CHECK_ARG(s && frame && frame->data && out && !s->plan.takes_crops, err);
    SK_CHECK_ARG(form == SK_TASK_INPUT_F32 || form == SK_TASK_INPUT_U8, err);
    if (s->yolo)
        return sk_stage_yolo_input(s, frame, &s->box_geometry, form, out, err);
    if (s->classify)
        return classify_input(s, frame, form, out, err);
    SK_TRY(sk_sleap_pre_size(s->pre, frame, NULL, err));
    return form == SK_TASK_INPUT_U8 ? sk_sleap_pre_u8(s->pre, out, err) : sk_sleap_pre_f32(s->pre, out, err);
}

sk_status sk_stage_yolo_result(sk_task_stage *s, const sk_tensor *outputs, int32_t n_outputs, int32_t image,
                               int tail_cut, const sk_letterbox_geometry *geometry, sk_instances *out,
                               sk_error *err)
{
    sk_map maps[SK_STAGE_MAPS];
    if (tail_cut == SK_TASK_ROWS) {
        SK_TRY(sk_map_of_tensor(&outputs[0], image, 1, &maps[0], err));
        return sk_yolo_post_run(s->yolo, SK_YOLO_ROWS, maps, 1, geometry, out, err);
    }
    if (tail_cut && s->model->yolo.nms_tail) {
        SK_TRY(sk_map_of_tensor(&outputs[0], image, 0, &maps[0], err));
        return sk_yolo_post_run(s->yolo, SK_YOLO_DENSE, maps, 1, geometry, out, err);
    }
    if (tail_cut) {
        if (n_outputs > SK_STAGE_MAPS)
            return sk_fail(err, SK_ERR_MISMATCH, "a network with %d outputs is not a YOLO network",
                           (int)n_outputs);
        for (int32_t i = 0; i < n_outputs; i++)
            SK_TRY(sk_map_of_tensor(&outputs[i], image, 0, &maps[i], err));
        return sk_yolo_post_run(s->yolo, SK_YOLO_HEADS, maps, n_outputs, geometry, out, err);
    }
    for (int32_t i = 0; i < n_outputs && i < s->model->n_outputs; i++) {
        sk_output_kind kind = s->model->outputs[i].kind;
        if (kind != SK_OUTPUT_YOLO && kind != SK_OUTPUT_YOLO_END2END)
            continue;
        SK_TRY(sk_map_of_tensor(&outputs[i], image, kind == SK_OUTPUT_YOLO_END2END, &maps[0], err));
        return sk_yolo_post_run(s->yolo, kind == SK_OUTPUT_YOLO ? SK_YOLO_DENSE : SK_YOLO_ROWS, maps, 1,
                                geometry, out, err);
    }
    return sk_fail(err, SK_ERR_MISMATCH, "%s: none of the %d outputs holds detections",
                   sk_stage_model_name(s->model), (int)n_outputs);
}

const sk_sleap_geometry *sk_task_stage_sizes(const sk_task_stage *s, int *legacy, sk_sleap_grey *grey)
{
    *legacy = s->model->sleap.legacy;
    *grey = sk_sleap_grey_of(&s->model->sleap, s->plan.channels);
    return s->pre && !s->plan.takes_crops ? &s->geometry : NULL;
}

void sk_task_stage_keep(const sk_task_stage *s, sk_instances *instances)
{
    if (s->sleap && sk_instance_filter_on(&s->settings.keep))
        sk_instance_filter(&s->settings.keep, instances);
}

bool sk_task_stage_peaks(const sk_task_stage *s, sk_peak_wish *out)
{
    return s->sleap && sk_sleap_post_wish(s->sleap, out);
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

sk_status sk_stage_sleap_maps(const sk_task_stage *s, const sk_tensor *outputs, int32_t *n_outputs,
                              int32_t image, sk_map maps[SK_STAGE_MAPS], const sk_peak_word **table,
                              sk_error *err)
{
    sk_peak_wish wish;
    *table = *n_outputs == s->model->n_outputs + 1 ? table_of(outputs, *n_outputs, image) : NULL;
    if (*table) {
        const sk_tensor *last = &outputs[--*n_outputs];
        if (!sk_task_stage_peaks(s, &wish) || last->shape.dim[1] != sk_peak_layout_of(&wish).words ||
            image >= last->shape.dim[0])
            return sk_fail(err, SK_ERR_MISMATCH, "%s: a table of peaks that this stage did not ask for",
                           sk_stage_model_name(s->model));
    }
    if (*n_outputs > SK_STAGE_MAPS)
        return sk_fail(err, SK_ERR_MISMATCH, "a network with %d outputs is not a SLEAP network",
                       (int)*n_outputs);
    for (int32_t i = 0; i < *n_outputs; i++)
        SK_TRY(sk_map_of_tensor(&outputs[i], image, 0, &maps[i], err));
    return SK_OK;
}

sk_status sk_task_stage_result(sk_task_stage *s, const sk_tensor *outputs, int32_t n_outputs, int32_t image,
                               int tail_cut, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(s && outputs && out && !s->plan.takes_crops, err);
    if (s->yolo)
        return sk_stage_yolo_result(s, outputs, n_outputs, image, tail_cut, &s->box_geometry, out, err);
    if (s->classify)
        return sk_classify_result(&outputs[0], image, out, err);
    sk_map maps[SK_STAGE_MAPS];
    const sk_peak_word *table;
    SK_TRY(sk_stage_sleap_maps(s, outputs, &n_outputs, image, maps, &table, err));
    if (table)
        return sk_sleap_post_run_table(s->sleap, table, maps, n_outputs, &s->geometry, out, err);
    return sk_sleap_post_run(s->sleap, maps, n_outputs, &s->geometry, out, err);
}
