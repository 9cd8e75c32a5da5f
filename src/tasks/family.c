/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/family.h"

const sk_family *sk_family_of(const sk_model *model)
{
    static const sk_family *const families[] = {[SK_FAMILY_NONE] = NULL,
                                                [SK_FAMILY_YOLO] = &sk_yolo_family,
                                                [SK_FAMILY_CLASSIFY] = &sk_classify_family,
                                                [SK_FAMILY_SLEAP] = &sk_sleap_family,
                                                [SK_FAMILY_GIVEN] = &sk_given_family};
    return (uint32_t)model->family < sizeof families / sizeof *families ? families[model->family] : NULL;
}

sk_task_role sk_family_role(const sk_model *model)
{
    const sk_family *family = sk_family_of(model);
    return family ? family->role(model) : (sk_task_role){.whole_frames = true};
}

bool sk_task_is_given(const sk_model *model)
{
    return sk_family_role(model).given;
}

bool sk_family_pair(const sk_model *first, const sk_model *second)
{
    const uint32_t needs = sk_family_role(second).needs;
    return needs && (sk_family_role(first).gives & needs) == needs;
}
