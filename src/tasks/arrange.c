/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/arrange.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static bool is_yolo(const sk_model *model)
{
    return model->family == SK_FAMILY_YOLO;
}

static bool wants_crops(const sk_model *model)
{
    return model->task == SK_TASK_CENTERED_INSTANCE || model->task == SK_TASK_MULTICLASS_TOPDOWN;
}

static const char *fact_of(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return NULL;
}

/* Does it find anything that the stages can make instances of? */
static sk_status check_use(const sk_model *m, bool alone, sk_error *err)
{
    if (m->task == SK_TASK_UNKNOWN || (m->task == SK_TASK_CLASSIFY && !alone))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a model for the task '%s' finds nothing in a frame%s; give one for "
                       "detect, pose, obb or a SLEAP model",
                       m->path, sk_task_name(m->task),
                       m->task == SK_TASK_CLASSIFY ? " that another could look at" : "");
    if (m->n_outputs && m->outputs[0].kind == SK_OUTPUT_OTHER) {
        const char *from = fact_of(m, "checkpoint_path");
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: its outputs are already post-processed by its exporter, in a way that differs from the "
            "original; give the checkpoint or model folder it was exported from%s%s%s, or export that "
            "with 'skitter export'",
            m->path, from ? " (" : "", from ? from : "", from ? ")" : "");
    }
    return SK_OK;
}

sk_status sk_task_arrange(sk_model **m, int32_t n_models, sk_error *err)
{
    SK_CHECK_ARG(m && n_models >= 1 && n_models <= SK_TASK_MAX_MODELS, err);
    if (n_models == 2 && (wants_crops(m[0]) || (is_yolo(m[1]) && m[1]->task != SK_TASK_POSE))) {
        sk_model *swap = m[0];
        m[0] = m[1];
        m[1] = swap;
    }
    for (int32_t i = 0; i < n_models; i++)
        SK_TRY(check_use(m[i], n_models == 1, err));
    if (n_models == 1) {
        if (wants_crops(m[0]))
            return sk_fail(err, SK_ERR_ARG,
                           "%s: looks at crops around animals; give the model that finds them too: a second "
                           "--model with "
                           "a SLEAP centroid model or a YOLO detector",
                           m[0]->path);
        return SK_OK;
    }
    bool finder = is_yolo(m[0]) || m[0]->task == SK_TASK_CENTROID;
    bool looker = wants_crops(m[1]) || (m[1]->task == SK_TASK_POSE && is_yolo(m[0]));
    if (!finder || !looker)
        return sk_fail(err, SK_ERR_ARG,
                       "a '%s' and a '%s' model do not go together: two models are a SLEAP centroid or YOLO "
                       "detector and a "
                       "SLEAP centered-instance or YOLO pose model",
                       sk_task_name(m[0]->task), sk_task_name(m[1]->task));
    return SK_OK;
}

/* The first model with heads of its own choice; null: none. */
static const sk_model *with_heads(const sk_model *const *models, int32_t n_models)
{
    for (int32_t i = 0; i < n_models; i++)
        if (is_yolo(models[i]))
            return models[i];
    return NULL;
}

sk_status sk_task_check_wishes(const sk_model *const *models, int32_t n_models, sk_heads heads, sk_rect rect,
                               sk_error *err)
{
    const sk_model *first = models[0];
    if (!with_heads(models, n_models) && heads != SK_HEADS_AUTO)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: suppression (NMS) and heads are a YOLO model's, which this is not", first->path);
    if (is_yolo(first) && rect == SK_RECT_ON && first->input.fixed_size)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: takes pictures of %dx%d only, so it cannot be given rectangles of any shape; export "
            "it with dynamic sizes, or give the checkpoint it was made from",
            first->path, first->input.width, first->input.height);
    return SK_OK;
}

static sk_status name_keypoints(const sk_model *model, sk_task_description *d, sk_error *err)
{
    int32_t n = d->n_keypoints;
    d->keypoint_names = sk_calloc((size_t)n + 1, sizeof *d->keypoint_names);
    if (!d->keypoint_names)
        return sk_fail_memory(err, (size_t)n * sizeof *d->keypoint_names);
    for (int32_t i = 0; i < n; i++) {
        char numbered[24];
        snprintf(numbered, sizeof numbered, "kpt%d", i);
        const char *name = model->task == SK_TASK_CENTROID ? "centroid"
                           : model->keypoint_names && i < model->n_keypoints && model->keypoint_names[i][0]
                               ? model->keypoint_names[i]
                               : numbered;
        d->keypoint_names[i] = sk_strdup(name);
        if (!d->keypoint_names[i])
            return sk_fail_memory(err, strlen(name));
    }
    return SK_OK;
}

static sk_status fill(const sk_model *const *models, int32_t n_models, const sk_task_plan *plan,
                      sk_task_description *d, sk_error *err)
{
    const sk_model *first = models[0], *last = models[n_models - 1], *heads = with_heads(models, n_models);
    d->task = last->task;
    /* Classes come from whoever names them: a YOLO finder keeps its classes when the poses are SLEAP's. */
    d->identities = last->task == SK_TASK_MULTICLASS_BOTTOMUP || last->task == SK_TASK_MULTICLASS_TOPDOWN;
    const sk_model *classes = is_yolo(first) && !d->identities ? first : last;
    d->n_classes = classes->n_classes;
    d->class_names = classes->class_names;
    d->n_edges = last->task == SK_TASK_CENTROID ? 0 : last->n_edges;
    d->edges = last->edges;
    d->colours = last->family == SK_FAMILY_SLEAP && last->sleap.legacy ? SK_COLOURS_BT601 : SK_COLOURS_TAGGED;
    d->n_keypoints = plan->n_keypoints;
    d->capacity = plan->capacity;
    if (is_yolo(first))
        d->has |= first->task == SK_TASK_OBB ? SK_HAS_OBB | SK_HAS_BOX : SK_HAS_BOX;
    if (d->n_keypoints)
        d->has |= SK_HAS_KEYPOINTS;
    if (heads)
        d->heads = heads->yolo.end2end && !heads->yolo.nms_tail ? SK_HEADS_ONE_TO_ONE : SK_HEADS_ONE_TO_MANY;
    d->rectangles = is_yolo(first);
    d->fits_all = true;
    for (int32_t i = 0; i < n_models; i++)
        d->fits_all = d->fits_all && is_yolo(models[i]);
    return name_keypoints(last, d, err);
}

sk_status sk_task_describe(const sk_model *const *models, int32_t n_models, const sk_task_settings *settings,
                           sk_task_description *out, sk_error *err)
{
    SK_CHECK_ARG(models && n_models >= 1 && n_models <= SK_TASK_MAX_MODELS && settings && out, err);
    *out = (sk_task_description){0};
    sk_task_stage *first = NULL, *second = NULL;
    sk_status status;
    SK_TRY_GOTO(sk_task_stage_open(models[0], settings, models[0]->input.width, models[0]->input.height,
                                   &first, err));
    if (n_models == 2)
        SK_TRY_GOTO(sk_task_stage_open_second(models[1], first, settings, &second, err));
    SK_TRY_GOTO(fill(models, n_models, sk_task_stage_plan(second ? second : first), out, err));
done:
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
    if (status != SK_OK)
        sk_task_description_free(out);
    return status;
}

void sk_task_description_free(sk_task_description *d)
{
    for (int32_t i = 0; d->keypoint_names && i < d->n_keypoints; i++)
        sk_free(d->keypoint_names[i]);
    sk_free(d->keypoint_names);
    *d = (sk_task_description){0};
}
