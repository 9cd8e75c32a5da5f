/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/applies.h"

#include "engines/engine.h"
#include "models/model.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    uint32_t need;
    const char *lacks; /* after what lacks it */
} reasons[] = {
    {SK_NEEDS_YOLO, "is a SLEAP model, which has no such setting"},
    {SK_NEEDS_SLEAP, "is a YOLO model, which has no such setting"},
    {SK_NEEDS_OBB, "finds no oriented boxes"},
    {SK_NEEDS_PAFS, "has no part affinity fields, as SLEAP's bottom-up models have"},
    {SK_NEEDS_SLEAP_POSES, "gives no poses of a SLEAP model"},
    {SK_NEEDS_CENTROIDS, "is no SLEAP centroid model"},
    {SK_NEEDS_CENTROIDS_ONLY, "is not a SLEAP centroid model by itself"},
    {SK_NEEDS_CPU, "is not the cpu runtime, for which this is"},
    {SK_NEEDS_OPENVINO, "is not OpenVINO, for which this is"},
    {SK_NEEDS_LIVE, "is no camera and no stream, for which this is"},
    {SK_NEEDS_BAG, "is no bag of ROS 2, for which this is"},
    {SK_NEEDS_VIDEO, "is not a video"},
    {SK_NEEDS_FILE, "is a camera or stream, which cannot be played again"},
};

sk_status sk_cli_refuse_meaningless(const sk_args *args, uint32_t asked, uint32_t has, const char *what,
                                    sk_error *err)
{
    for (const sk_option *option = sk_args_command(args)->options; option && option->name; option++) {
        const uint32_t missing = option->needs & asked & ~has;
        if (!missing || !sk_args_given(args, option->name))
            continue;
        for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
            if (missing & reasons[i].need)
                return sk_fail(err, SK_ERR_ARG, "--%s means nothing here: %s %s\n%s%s%s", option->name, what,
                               reasons[i].lacks, option->instead ? "use '--" : "leave it out",
                               option->instead ? option->instead : "", option->instead ? "'" : "");
    }
    return SK_OK;
}

static bool asks_for(const sk_args *args, uint32_t needs)
{
    for (const sk_option *option = sk_args_command(args)->options; option && option->name; option++)
        if ((option->needs & needs) && sk_args_given(args, option->name))
            return true;
    return false;
}

sk_status sk_cli_refuse_for_models(const sk_args *args, const char *const *models, int32_t count,
                                   sk_error *err)
{
    uint32_t has = 0;
    char what[256] = "";
    if (!asks_for(args, SK_NEEDS_OF_MODELS))
        return SK_OK;
    for (int32_t i = 0; i < count; i++) {
        sk_model *model = NULL;
        SK_TRY(sk_model_open(models[i], &model, err));
        const sk_task task = model->task;
        const bool sleap = model->family == SK_FAMILY_SLEAP;
        has |= sleap ? SK_NEEDS_SLEAP : SK_NEEDS_YOLO;
        has |= task == SK_TASK_OBB ? SK_NEEDS_OBB : 0;
        has |= task == SK_TASK_BOTTOMUP ? SK_NEEDS_PAFS : 0;
        has |= sleap && task != SK_TASK_CENTROID ? SK_NEEDS_SLEAP_POSES : 0;
        has |= task == SK_TASK_CENTROID ? SK_NEEDS_CENTROIDS : 0;
        has |= task == SK_TASK_CENTROID && count == 1 ? SK_NEEDS_CENTROIDS_ONLY : 0;
        sk_model_close(&model);
        const size_t used = strlen(what);
        snprintf(what + used, sizeof what - used, "%s%s", i ? " and " : "", models[i]);
    }
    return sk_cli_refuse_meaningless(args, SK_NEEDS_OF_MODELS, has, what, err);
}

sk_status sk_cli_refuse_for_runtimes(const sk_args *args, const char *const *runtimes, int32_t count,
                                     sk_error *err)
{
    uint32_t has = 0;
    for (int32_t i = 0; i < count; i++) {
        const sk_engine *engine = sk_engine_find(runtimes[i]);
        has |= engine && sk_options_find(engine->options, "winograd") ? SK_NEEDS_CPU : 0;
        has |= engine && sk_options_find(engine->options, "hint") ? SK_NEEDS_OPENVINO : 0;
    }
    return sk_cli_refuse_meaningless(args, SK_NEEDS_OF_RUNTIMES, has,
                                     count == 1 ? runtimes[0] : "none of these", err);
}
