/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model_check.h"

/* Files tell some sizes twice: in words and by their network. Whatever read the file, nothing above this room looks up a
 * name, an edge or an output by a number that another number has sized. */

static sk_status refuse(const sk_model *model, const char *what, int64_t a, int64_t b, sk_error *err)
{
    return sk_fail(err, SK_ERR_MISMATCH,
                   "%s: contradicts itself: %s (%lld and %lld); export or copy the model again",
                   model->path ? model->path : "the model", what, (long long)a, (long long)b);
}

static sk_status check_edges(const sk_model *model, const char *what, const int32_t (*edges)[2],
                             int32_t count, sk_error *err)
{
    if (count < 0 || (count > 0 && !edges))
        return refuse(model, what, count, 0, err);
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            if (edges[i][k] < 0 || edges[i][k] >= model->n_keypoints)
                return refuse(model, what, edges[i][k], model->n_keypoints, err);
    return SK_OK;
}

static sk_status check_yolo(const sk_model *model, sk_error *err)
{
    const sk_yolo_spec *y = &model->yolo;
    const int32_t most_heads = (int32_t)(sizeof y->heads / sizeof y->heads[0]);
    if (y->n_levels < 0 || y->n_levels > SK_MAX_LEVELS || y->n_heads < 0 || y->n_heads > most_heads)
        return refuse(model, "its levels and heads", y->n_levels, y->n_heads, err);
    if (y->reg_max < 0 || y->reg_max > 1024 || y->max_det < 0 || y->n_masks < 0)
        return refuse(model, "its rows and masks", y->max_det, y->n_masks, err);
    if (y->n_classes != model->n_classes)
        return refuse(model, "the number of classes", y->n_classes, model->n_classes, err);
    if (y->n_keypoints != model->n_keypoints && model->task == SK_TASK_POSE)
        return refuse(model, "the number of keypoints", y->n_keypoints, model->n_keypoints, err);
    if (model->task == SK_TASK_POSE && (y->n_keypoints < 1 || y->keypoint_dims < 2 || y->keypoint_dims > 3))
        return refuse(model, "keypoints and their numbers", y->n_keypoints, y->keypoint_dims, err);
    for (int32_t i = 0; i < y->n_levels; i++)
        if (!(y->stride[i] > 0 && y->stride[i] <= 4096))
            return refuse(model, "a level and its stride", i, (int64_t)(y->stride[i] > 0), err);
    return SK_OK;
}

static sk_status check_outputs(const sk_model *model, sk_error *err)
{
    int32_t room = (int32_t)(sizeof model->outputs / sizeof model->outputs[0]);
    if (model->n_outputs < 0 || model->n_outputs > room)
        return refuse(model, "the number of outputs and the most there may be", model->n_outputs, room, err);
    if (model->graph && !model->truncated && model->n_outputs > model->graph->n_outputs)
        return refuse(model, "the number of outputs", model->n_outputs, model->graph->n_outputs, err);
    for (int32_t i = 0; i < model->n_outputs; i++)
        if (!model->outputs[i].name)
            return refuse(model, "the names of outputs", i, model->n_outputs, err);
    return SK_OK;
}

sk_status sk_model_check(const sk_model *model, sk_error *err)
{
    const sk_input_spec *in = &model->input;
    if (model->n_classes < 0 || (model->n_classes > 0 && !model->class_names))
        return refuse(model, "classes and their names", model->n_classes, 0, err);
    if (model->n_keypoints < 0)
        return refuse(model, "the number of keypoints", model->n_keypoints, 0, err);
    if (in->channels < 1 || in->channels > 64 || in->height < 0 || in->width < 0 || in->stride < 0 ||
        in->fixed_batch < 0)
        return refuse(model, "the size of its input", in->height, in->width, err);
    SK_TRY(check_edges(model, "a skeleton's edge and the number of keypoints", model->edges, model->n_edges,
                       err));
    SK_TRY(check_edges(model, "an edge of the part affinity fields and the number of keypoints",
                       model->sleap.edges, model->sleap.n_edges, err));
    SK_TRY(check_outputs(model, err));
    if (sk_family_is_ultralytics(model->family))
        return check_yolo(model, err);
    return SK_OK;
}
