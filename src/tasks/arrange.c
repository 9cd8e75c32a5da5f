/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/arrange.h"

#include "base/memory.h"
#include "tasks/family.h"

#include <stdio.h>
#include <string.h>

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
    const bool known = sk_family_of(m) != NULL;
    if (!known || (!alone && !sk_family_role(m).finds))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a model for the task '%s' finds nothing in a frame%s; give one for "
                       "detect, pose, obb or a SLEAP model",
                       m->path, sk_task_name(m->task), known ? " that another could look at" : "");
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
    const sk_task_role first = sk_family_role(m[0]),
                       second = n_models == 2 ? sk_family_role(m[1]) : (sk_task_role){0};
    if (n_models == 2 && first.given && !second.needs)
        return sk_fail(
            err, SK_ERR_ARG,
            "%s: a '%s' model finds animals itself, and boxes of them are there already (%s); give "
            "one that looks at crops of them: YOLO pose, or SLEAP centered-instance or single-instance",
            m[1]->path, sk_task_name(m[1]->task), m[0]->path);
    if (n_models == 2 && !first.given &&
        (!first.whole_frames || ((second.gives & SK_GIVES_BOXES) && !second.needs) ||
         (!sk_family_pair(m[0], m[1]) && sk_family_pair(m[1], m[0])))) {
        sk_model *swap = m[0];
        m[0] = m[1];
        m[1] = swap;
    }
    for (int32_t i = 0; i < n_models; i++)
        SK_TRY(check_use(m[i], n_models == 1, err));
    if (n_models == 1) {
        if (first.given)
            return sk_fail(err, SK_ERR_ARG, "%s: boxes that are given need a model that looks at them",
                           m[0]->path);
        if (!first.whole_frames)
            return sk_fail(err, SK_ERR_ARG,
                           "%s: looks at crops around animals; give the model that finds them too: a SLEAP "
                           "centroid model or a YOLO detector",
                           m[0]->path);
        return SK_OK;
    }
    if (!sk_family_pair(m[0], m[1]))
        return sk_fail(err, SK_ERR_ARG,
                       "a '%s' and a '%s' model do not go together: two models are a SLEAP centroid or YOLO "
                       "detector and a "
                       "SLEAP centered-instance or YOLO pose model, or a YOLO detector and a SLEAP "
                       "single-instance model",
                       sk_task_name(m[0]->task), sk_task_name(m[1]->task));
    return SK_OK;
}

sk_status sk_task_check_wishes(const sk_model *const *models, int32_t n_models, sk_heads heads, sk_rect rect,
                               sk_error *err)
{
    SK_CHECK_ARG(models && n_models >= 1 && sk_family_of(models[0]) && sk_family_of(models[n_models - 1]),
                 err);
    const sk_model *first = models[0];
    bool choice = false;
    sk_task_description d = {0};
    for (int32_t i = 0; i < n_models; i++)
        choice = choice || sk_family_of(models[i])->heads;
    if (!choice && heads != SK_HEADS_AUTO)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: suppression (NMS) and heads are a YOLO model's, which this is not", first->path);
    sk_family_of(first)->describe(first, &d);
    if (d.rectangles && rect == SK_RECT_ON && first->input.fixed_size)
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
    d->keypoint_names = sk_calloc((size_t)n, sizeof *d->keypoint_names);
    if (!d->keypoint_names)
        return sk_fail_memory(err, (size_t)n * sizeof *d->keypoint_names);
    for (int32_t i = 0; i < n; i++) {
        char numbered[24];
        snprintf(numbered, sizeof numbered, "kpt%d", i);
        const char *name = sk_family_of(model)->keypoint_name(model, i);
        d->keypoint_names[i] = sk_strdup(name[0] ? name : numbered);
        if (!d->keypoint_names[i])
            return sk_fail_memory(err, sizeof numbered);
    }
    return SK_OK;
}

static sk_status fill(const sk_model *const *models, int32_t n_models, const sk_task_plan *plan,
                      sk_task_description *d, sk_error *err)
{
    const sk_model *last = models[n_models - 1];
    d->task = last->task;
    d->fits_all = true;
    for (int32_t i = 0; i < n_models; i++)
        sk_family_of(models[i])->describe(models[i], d);
    d->n_keypoints = plan->n_keypoints;
    d->capacity = plan->capacity;
    d->has |= d->n_keypoints ? SK_HAS_KEYPOINTS : 0;
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
