/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model.h"

/* Every task: what people call it, and the family that it is of unless a reader knows better. */
static const struct {
    const char *name;
    sk_family_id family;
} tasks[] = {[SK_TASK_UNKNOWN] = {"unknown", SK_FAMILY_NONE},
             [SK_TASK_DETECT] = {"detect", SK_FAMILY_YOLO},
             [SK_TASK_POSE] = {"pose", SK_FAMILY_YOLO},
             [SK_TASK_OBB] = {"obb", SK_FAMILY_YOLO},
             [SK_TASK_SEGMENT] = {"segment", SK_FAMILY_YOLO},
             [SK_TASK_CLASSIFY] = {"classify", SK_FAMILY_CLASSIFY},
             [SK_TASK_SINGLE_INSTANCE] = {"single_instance", SK_FAMILY_SLEAP},
             [SK_TASK_CENTROID] = {"centroid", SK_FAMILY_SLEAP},
             [SK_TASK_CENTERED_INSTANCE] = {"centered_instance", SK_FAMILY_SLEAP},
             [SK_TASK_BOTTOMUP] = {"bottomup", SK_FAMILY_SLEAP},
             [SK_TASK_MULTICLASS_BOTTOMUP] = {"multiclass_bottomup", SK_FAMILY_SLEAP},
             [SK_TASK_MULTICLASS_TOPDOWN] = {"multiclass_topdown", SK_FAMILY_SLEAP}};

sk_task sk_task_last(void)
{
    return (sk_task)(sizeof tasks / sizeof *tasks - 1);
}

static sk_task known(sk_task task)
{
    return (uint32_t)task <= (uint32_t)sk_task_last() ? task : SK_TASK_UNKNOWN;
}

const char *sk_task_name(sk_task task)
{
    return tasks[known(task)].name;
}

void sk_model_set_task(sk_model *model, sk_task task)
{
    model->task = task;
    model->family = tasks[known(task)].family;
}

bool sk_family_is_ultralytics(sk_family_id family)
{
    return family == SK_FAMILY_YOLO || family == SK_FAMILY_CLASSIFY;
}
