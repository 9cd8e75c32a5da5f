/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model_json.h"

#include "base/json_write.h"
#include "skitter/version.h"

#define JSON_VERSION 1

static void write_names(sk_json *json, const char *key, const char *const *names, int32_t count)
{
    sk_json_key_array(json, key);
    for (int32_t i = 0; i < count && names; i++)
        sk_json_string(json, names[i] ? names[i] : "");
    sk_json_close(json);
}

static void write_pairs(sk_json *json, const char *key, const int32_t (*pairs)[2], int32_t count)
{
    sk_json_key_array(json, key);
    for (int32_t i = 0; i < count && pairs; i++) {
        sk_json_array(json);
        sk_json_int(json, pairs[i][0]);
        sk_json_int(json, pairs[i][1]);
        sk_json_close(json);
    }
    sk_json_close(json);
}

static void write_floats(sk_json *json, const char *key, const float *values, int count)
{
    sk_json_key_array(json, key);
    for (int i = 0; i < count; i++)
        sk_json_float(json, (double)values[i]);
    sk_json_close(json);
}

static void write_input(sk_json *json, const sk_input_spec *in)
{
    sk_json_key_object(json, "input");
    sk_json_key_ints(json, {"channels", in->channels}, {"height", in->height}, {"width", in->width},
                     {"stride", in->stride}, {"fixed_size", in->fixed_size},
                     {"fixed_batch", in->fixed_batch});
    sk_json_key_float(json, "scale", (double)in->scale);
    write_floats(json, "mean", in->mean, 3);
    write_floats(json, "std", in->std, 3);
    sk_json_key_int(json, "rgb", in->rgb);
    sk_json_key_int(json, "dtype", (int64_t)in->dtype);
    sk_json_close(json);
}

static void write_outputs(sk_json *json, const sk_model *model)
{
    sk_json_key_array(json, "outputs");
    for (int32_t i = 0; i < model->n_outputs; i++) {
        sk_json_object(json);
        sk_json_key_int(json, "kind", (int64_t)model->outputs[i].kind);
        sk_json_key_string(json, "name", model->outputs[i].name ? model->outputs[i].name : "");
        sk_json_key_float(json, "stride", (double)model->outputs[i].stride);
        sk_json_close(json);
    }
    sk_json_close(json);
    sk_json_key_int(json, "outputs_nhwc", model->outputs_nhwc);
}

static void write_yolo(sk_json *json, const sk_yolo_spec *y)
{
    sk_json_key_object(json, "yolo");
    write_floats(json, "strides", y->stride, y->n_levels);
    sk_json_key_ints(json, {"reg_max", y->reg_max}, {"classes", y->n_classes}, {"keypoints", y->n_keypoints},
                     {"keypoint_dims", y->keypoint_dims}, {"end2end", y->end2end}, {"nms_tail", y->nms_tail},
                     {"dense_corners", y->dense_corners}, {"max_det", y->max_det},
                     {"keypoints_26", y->keypoints_26}, {"angle_raw", y->angle_raw}, {"masks", y->n_masks});
    sk_json_key_array(json, "heads");
    for (int32_t i = 0; i < y->n_heads; i++) {
        sk_json_array(json);
        sk_json_int(json, (int64_t)y->heads[i].kind);
        sk_json_int(json, y->heads[i].level);
        sk_json_close(json);
    }
    sk_json_close(json);
    sk_json_close(json);
}

static void write_sleap(sk_json *json, const sk_model *model)
{
    const sk_sleap_spec *s = &model->sleap;
    sk_json_key_object(json, "sleap");
    sk_json_key_array(json, "crop");
    sk_json_int(json, s->crop_size[0]);
    sk_json_int(json, s->crop_size[1]);
    sk_json_close(json);
    sk_json_key_array(json, "target");
    sk_json_int(json, s->target_size[0]);
    sk_json_int(json, s->target_size[1]);
    sk_json_close(json);
    sk_json_key_float(json, "input_scale", (double)s->input_scale);
    sk_json_key_ints(json, {"pad_to_stride", s->pad_to_stride}, {"ensure_rgb", s->ensure_rgb},
                     {"ensure_grayscale", s->ensure_grayscale});
    sk_json_key_string(json, "anchor_part", s->anchor_part);
    write_pairs(json, "edges", s->edges, s->n_edges);
    sk_json_key_int(json, "resize_antialias", s->resize_antialias);
    sk_json_key_int(json, "legacy", s->legacy);
    write_names(json, "classes", s->class_names, model->n_classes);
    sk_json_close(json);
}

sk_status sk_model_to_json(const sk_model *model, char **text, sk_error *err)
{
    sk_text buffer = {0};
    sk_json json = sk_json_to_text(&buffer, 0);
    sk_json_object(&json);
    sk_json_key_int(&json, "version", JSON_VERSION);
    sk_json_key_string(&json, "skitter", sk_version_text());
    sk_json_key_int(&json, "task", (int64_t)model->task);
    sk_json_key_string(&json, "family", model->architecture ? model->architecture : "");
    sk_json_key_int(&json, "n_classes", model->n_classes);
    write_names(&json, "classes", model->class_names, model->n_classes);
    sk_json_key_int(&json, "n_keypoints", model->n_keypoints);
    write_names(&json, "keypoints", model->keypoint_names, model->n_keypoints);
    write_pairs(&json, "edges", model->edges, model->n_edges);
    write_input(&json, &model->input);
    write_outputs(&json, model);
    if (model->family != SK_FAMILY_SLEAP)
        write_yolo(&json, &model->yolo);
    else
        write_sleap(&json, model);
    sk_json_key_array(&json, "facts");
    for (int32_t i = 0; i < model->n_facts; i++) {
        sk_json_array(&json);
        sk_json_string(&json, model->facts[i][0]);
        sk_json_string(&json, model->facts[i][1]);
        sk_json_close(&json);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        status = sk_text_take(&buffer, text, err);
    sk_text_free(&buffer);
    return status;
}
