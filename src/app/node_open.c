/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_core_internal.h"
#include "app/runtimes.h"
#include "base/log.h"
#include "base/memory.h"
#include "engines/engine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* From parameters to an open pipeline. */

static sk_status name_paths(const sk_node_core *c, const char *paths[SK_PIPELINE_MAX_MODELS], int32_t *n,
                            sk_error *err)
{
    *n = 0;
    paths[(*n)++] = sk_node_settings_text(c->settings, "weights_path");
    if (!paths[0])
        return sk_fail(
            err, SK_ERR_ARG,
            "weights_path is empty: name the model's file, such as weights_path:=/models/yolo11n.pt");
    paths[*n] = sk_node_settings_text(c->settings, "second_weights_path");
    *n += paths[1] != NULL;
    return SK_OK;
}

/* compute_runtime and execution_provider may both be given where they mean the same. */
static sk_status check_provider(const char *runtime, const char *provider, sk_error *err)
{
    const char *its = NULL;
    sk_runtime named;
    if (!provider)
        return SK_OK;
    SK_TRY(sk_engine_of_provider(provider, &its, err));
    if (!runtime || sk_runtime_is_open(runtime) ||
        sk_runtime_normalise(runtime, NULL, &named) == SK_RUNTIME_NO_MATCH)
        return SK_OK;
    if (strcmp(sk_runtime_name(named), its) != 0)
        return sk_fail(
            err, SK_ERR_ARG,
            "compute_runtime is %.40s, execution_provider is %.60s, which belongs to %s: give one of "
            "them, or compute_runtime:=%s",
            runtime, provider, its, its);
    return SK_OK;
}

static sk_status choose(sk_node_core *c, const char *const *paths, int32_t n, sk_error *err)
{
    const sk_runtimes_wish wish = {.runtime = sk_node_settings_text(c->settings, "compute_runtime"),
                                   .provider = sk_node_settings_text(c->settings, "execution_provider"),
                                   .parameters = true};
    sk_runtime_choice choice;
    SK_TRY(check_provider(wish.runtime, wish.provider, err));
    SK_TRY(sk_runtimes_choose(paths, n, &wish, &choice, c->engine, err));
    snprintf(c->requested, sizeof c->requested, "%s", choice.requested);
    c->fell_back = choice.fell_back;
    snprintf(c->notice, sizeof c->notice, "%.255s", choice.notice);
    if (c->notice[0])
        sk_log(SK_LOG_WARN, "%s", c->notice);
    return SK_OK;
}

/* Names that people use for precisions. */
static const char *precision_of(const char *text)
{
    static const char *const words[][2] = {
        {"fp32", "f32"}, {"fp16", "f16"}, {"half", "f16"}, {"int8", "i8"}, {NULL, NULL}};
    for (int i = 0; text && words[i][0]; i++)
        if (strcmp(text, words[i][0]) == 0)
            return words[i][1];
    return text;
}

static bool is_number(const char *text)
{
    for (const char *at = text; *at; at++)
        if (!isdigit((unsigned char)*at))
            return false;
    return text[0] != '\0';
}

/* `device` is a number of the runtime's devices, or one in the words of skitter or, for OpenVINO, in its own. */
static sk_status place_device(const sk_node_core *c, sk_pipeline_settings *s, char *devices, char *options,
                              size_t capacity, sk_error *err)
{
    const char *device = sk_node_settings_text(c->settings, "device");
    const char *provider = sk_node_settings_text(c->settings, "execution_provider");
    const sk_engine *engine = sk_engine_find(c->engine);
    options[0] = devices[0] = '\0';
    if (provider)
        snprintf(options, capacity, "provider=%.60s", provider);
    if (device && engine && sk_options_find(engine->options, "device")) /* in the engine's own words */
        snprintf(options, capacity, "device=%.60s", device);
    else if (device && is_number(device) && sk_engine_can(c->engine)->device == SK_DEVICE_CPU)
        return sk_fail(err, SK_ERR_ARG,
                       "device is %.20s, and compute_runtime %s has no numbered devices: give cores, such as "
                       "device:=cpu:0-3, or nothing",
                       device, c->engine);
    else if (device && is_number(device))
        snprintf(devices, capacity, "%s:%.20s", c->engine, device);
    else if (device)
        snprintf(devices, capacity, "%.120s", device);
    s->devices = devices[0] ? devices : NULL;
    s->options = options[0] ? options : NULL;
    return SK_OK;
}

/* Files that runtimes run are kept in the folder that was named: the process's, as the cache folder is. */
static void keep_files_in(const sk_node_settings *settings)
{
    const char *folder = sk_node_settings_text(settings, "engine_cache_dir");
    if (!folder)
        folder = sk_node_settings_text(settings, "onnx_cache_dir");
    if (!folder)
        return;
    setenv("SKITTER_CACHE_DIR", folder, 1);
    setenv("SKITTER_ARTIFACTS", "cache", 1);
}

static void read_thresholds(const sk_node_settings *from, sk_pipeline_settings *s)
{
    s->confidence = (float)sk_node_settings_double(from, "confidence_threshold");
    s->iou = sk_node_settings_double(from, "iou_threshold");
    s->peak_threshold = (float)sk_node_settings_double(from, "peak_threshold");
    s->max_det = sk_node_settings_int(from, "max_detections");
    s->max_instances = sk_node_settings_int(from, "max_instances");
    s->width = s->height = sk_node_settings_int(from, "imgsz");
    s->precision = precision_of(sk_node_settings_text(from, "precision"));
    s->quick_open =
        !sk_node_settings_bool(from, "use_compile") || !sk_node_settings_bool(from, "use_torch_compile");
    s->keep_frames = true;
    if (strcmp(sk_node_settings_get(from, "qos_reliability"), "reliable") != 0) {
        s->mode = SK_PIPELINE_LATENCY;
        s->max_age_ms = 0; /* the newest wins, however long the last one takes */
    }
}

sk_status sk_node_open_pipeline(sk_node_core *c, sk_error *err)
{
    const char *paths[SK_PIPELINE_MAX_MODELS] = {0};
    int32_t n = 0, *classes = NULL;
    char devices[128], options[128];
    sk_pipeline_settings s = SK_PIPELINE_SETTINGS_INIT;
    sk_frame expect = SK_FRAME_INIT;
    sk_pipeline_defaults(&s);
    keep_files_in(c->settings);
    SK_TRY(name_paths(c, paths, &n, err));
    SK_TRY(choose(c, paths, n, err));
    s.runtime = c->engine;
    read_thresholds(c->settings, &s);
    SK_TRY(place_device(c, &s, devices, options, sizeof devices, err));
    expect.width = sk_node_settings_int(c->settings, "image_width");
    expect.height = sk_node_settings_int(c->settings, "image_height");
    if ((expect.width > 0) != (expect.height > 0))
        return sk_fail(err, SK_ERR_ARG, "image_width is %d and image_height %d: give both, or neither",
                       expect.width, expect.height);
    s.expect = expect.width > 0 ? &expect : NULL;
    SK_TRY(sk_node_settings_ints(c->settings, "classes", &classes, &s.n_classes, err));
    s.classes = classes;
    const sk_status status = sk_pipeline_open(paths, n, &s, &c->pipeline, err);
    sk_free(classes);
    return status;
}
