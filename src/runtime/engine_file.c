/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/engine_file.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "engines/engine_header.h"
#include "formats/config.h"
#include "skitter/version.h"

#include <stdio.h>
#include <string.h>

sk_status sk_engine_file_describe(const sk_model *model, int32_t batch, int32_t height, int32_t width,
                                  char **json_out, sk_error *err)
{
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    char when[SK_CLOCK_TEXT], number[16];
    *json_out = NULL;
    sk_json_object(&json);
    sk_json_key_strings(&json, {"description", "written by skitter"}, {"author", "skitter"},
                        {"date", sk_clock_text(sk_clock_wall_ms(), when, sizeof when)},
                        {"skitter", sk_version_text()}, {"source_sha256", model->content_hash});
    sk_json_key_int(&json, "stride", model->input.stride > 0 ? model->input.stride : 32);
    sk_json_key_string(&json, "task", sk_task_name(model->task));
    sk_json_key_int(&json, "batch", batch);
    sk_json_key_array(&json, "imgsz");
    sk_json_int(&json, height);
    sk_json_int(&json, width);
    sk_json_close(&json);
    sk_json_key_int(&json, "channels", model->input.channels);
    sk_json_key_object(&json, "names");
    for (int32_t i = 0; i < model->n_classes; i++) {
        snprintf(number, sizeof number, "%d", i);
        sk_json_key_string(&json, number,
                           model->class_names && model->class_names[i] ? model->class_names[i] : "");
    }
    sk_json_close(&json);
    if (sk_family_is_ultralytics(model->family))
        sk_json_key_bool(&json, "end2end", model->yolo.end2end != 0);
    if (model->task == SK_TASK_POSE) {
        sk_json_key_array(&json, "kpt_shape");
        sk_json_int(&json, model->n_keypoints);
        sk_json_int(&json, model->yolo.keypoint_dims);
        sk_json_close(&json);
    }
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    if (status == SK_OK)
        status = sk_text_take(&text, json_out, err);
    sk_text_free(&text);
    return status;
}

static sk_status compare(const sk_model *model, const sk_config_value *root, int32_t batch, int32_t height,
                         int32_t width, sk_error *err)
{
    const char *task = sk_config_text_or(root, "task", "");
    const char *source = sk_config_text_or(root, "source_sha256", model->content_hash);
    if (strcmp(source, model->content_hash) != 0)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "it was made from another model, or the model was changed since");
    if (task[0] && strcmp(task, sk_task_name(model->task)) != 0)
        return sk_fail(err, SK_ERR_MISMATCH, "it is for the task '%s', the model for '%s'", task,
                       sk_task_name(model->task));
    const sk_config_value *names = sk_config_get(root, "names");
    if (names && sk_config_count(names) != (size_t)model->n_classes)
        return sk_fail(err, SK_ERR_MISMATCH, "it has %zu classes, the model %d", sk_config_count(names),
                       model->n_classes);
    if (sk_config_bool_or(root, "end2end", model->yolo.end2end != 0) != (model->yolo.end2end != 0))
        return sk_fail(err, SK_ERR_MISMATCH, "it has the %s heads, the %s are needed",
                       model->yolo.end2end ? "one-to-many" : "one-to-one",
                       model->yolo.end2end ? "one-to-one" : "one-to-many");
    int64_t keypoints = sk_config_int_or(root, "kpt_shape.0", model->n_keypoints);
    if (keypoints != model->n_keypoints)
        return sk_fail(err, SK_ERR_MISMATCH, "it has %lld keypoints, the model %d", (long long)keypoints,
                       model->n_keypoints);
    int64_t h = sk_config_int_or(root, "imgsz.0", sk_config_int_or(root, "imgsz", height));
    int64_t w = sk_config_int_or(root, "imgsz.1", h);
    int64_t b = sk_config_int_or(root, "batch", batch);
    bool dynamic = sk_config_bool_or(root, "args.dynamic", false);
    if (!dynamic && (h != height || w != width || b != batch))
        return sk_fail(err, SK_ERR_MISMATCH,
                       "it was made for %lld x %lld x %lld (batch, height, width), %d x %d x %d is needed",
                       (long long)b, (long long)h, (long long)w, batch, height, width);
    return SK_OK;
}

sk_status sk_engine_file_fits(const sk_model *model, const void *bytes, size_t length, int32_t batch,
                              int32_t height, int32_t width, sk_error *err)
{
    size_t begin = 0, end = 0;
    sk_config *config = NULL;
    if (!sk_engine_header_find(bytes, length, &begin, &end))
        return length > 0 ? SK_OK : sk_fail(err, SK_ERR_FORMAT, "it is empty");
    SK_TRY(sk_config_open_json((const char *)bytes + begin, end - begin, "its description", &config, err));
    sk_status status = compare(model, sk_config_root(config), batch, height, width, err);
    sk_config_close(&config);
    return status;
}
