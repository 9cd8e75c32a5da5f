/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/legacy.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool starts(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool from_flavor(const char *flavor, const sk_runtime_facts *facts, sk_runtime *out)
{
    if (!flavor)
        return false;
    sk_runtime_devices devices = sk_runtime_facts_devices(facts);
    if (starts(flavor, "tensorrt"))
        *out = SK_RUNTIME_TENSORRT;
    else if (starts(flavor, "onnx_rocm"))
        *out = SK_RUNTIME_ONNX_ROCM;
    else if (starts(flavor, "onnx_cuda"))
        *out = SK_RUNTIME_ONNX_CUDA;
    else if (strcasecmp(flavor, "onnx") == 0)
        (void)sk_runtime_normalise("onnx", &devices, out);
    else if (starts(flavor, "onnx")) /* onnx_cpu, and providers that are no runtime of ours: onnx_mps */
        *out = SK_RUNTIME_ONNX_CPU;
    else
        return false;
    return true;
}

static bool from_device(const char *device, sk_runtime *out)
{
    if (!device)
        return false;
    if (starts(device, "mps"))
        *out = SK_RUNTIME_MPS;
    else if (starts(device, "rocm"))
        *out = SK_RUNTIME_ROCM;
    else if (starts(device, "cuda") || strcasecmp(device, "gpu") == 0)
        *out = SK_RUNTIME_CUDA;
    else if (starts(device, "cpu"))
        *out = SK_RUNTIME_CPU;
    else
        return false;
    return true;
}

sk_runtime sk_runtime_from_legacy(const sk_runtime_legacy *legacy, const sk_runtime_facts *facts)
{
    static const sk_runtime order[] = {SK_RUNTIME_TENSORRT, SK_RUNTIME_MPS,       SK_RUNTIME_ROCM,
                                       SK_RUNTIME_CUDA,     SK_RUNTIME_ONNX_ROCM, SK_RUNTIME_ONNX_CUDA,
                                       SK_RUNTIME_ONNX_CPU};
    sk_runtime runtime;
    if (legacy->enable_tensorrt)
        return SK_RUNTIME_TENSORRT;
    if (from_flavor(legacy->pose_runtime_flavor, facts, &runtime) ||
        from_device(legacy->yolo_device, &runtime))
        return runtime;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (sk_runtime_supported(SK_WORK_GENERIC, order[i], facts, NULL, 0))
            return order[i];
    return SK_RUNTIME_CPU;
}

bool sk_runtime_from_tier(const char *tier, const sk_runtime_facts *f, sk_runtime *out)
{
    if (!tier)
        return false;
    if (strcasecmp(tier, "cpu") == 0) {
        *out = SK_RUNTIME_CPU;
        return true;
    }
    bool fast = strcasecmp(tier, "gpu_fast") == 0;
    if (!fast && strcasecmp(tier, "gpu") != 0)
        return false;
    if (f->mps)
        *out = SK_RUNTIME_MPS;
    else if (f->rocm)
        *out = fast && f->ort && f->ort_rocm ? SK_RUNTIME_ONNX_ROCM : SK_RUNTIME_ROCM;
    else
        *out = fast && (f->tensorrt || !f->cuda) ? SK_RUNTIME_TENSORRT : SK_RUNTIME_CUDA;
    return true;
}

sk_runtime_derived sk_runtime_derive(sk_runtime runtime)
{
    static const sk_runtime_derived table[SK_RUNTIME_COUNT] = {
        [SK_RUNTIME_CPU] = {"cpu", false, false, false, "cpu", "cpu"},
        [SK_RUNTIME_MPS] = {"mps", false, false, true, "mps", "mps"},
        [SK_RUNTIME_CUDA] = {"cuda:0", false, false, true, "cuda", "cuda:0"},
        [SK_RUNTIME_ROCM] = {"cuda:0", false, false, true, "rocm", "cuda:0"},
        [SK_RUNTIME_ONNX_CPU] = {"cpu", true, false, false, "onnx_cpu", "cpu"},
        [SK_RUNTIME_ONNX_CUDA] = {"cuda:0", true, false, true, "onnx_cuda", "cuda:0"},
        [SK_RUNTIME_ONNX_ROCM] = {"cuda:0", true, false, true, "onnx_rocm", "cuda:0"},
        [SK_RUNTIME_TENSORRT] = {"cuda:0", false, true, true, "tensorrt_cuda", "cuda:0"},
        /* older programs know no OpenVINO: to them it is a run on the processor */
        [SK_RUNTIME_OPENVINO] = {"cpu", false, false, false, "cpu", "cpu"},
    };
    return table[(int)runtime >= 0 && runtime < SK_RUNTIME_COUNT ? runtime : SK_RUNTIME_CPU];
}

/* --- import --- */

static const sk_config_value *either(const sk_config_value *root, const char *lower, const char *upper)
{
    const sk_config_value *value = sk_config_get(root, lower);
    return sk_config_is_null(value) ? sk_config_get(root, upper) : value;
}

static bool flag(const sk_config_value *root, const char *lower, const char *upper)
{
    bool on = false;
    (void)sk_config_to_bool(either(root, lower, upper), &on);
    return on;
}

static uint32_t pipelines_of(const sk_config_value *root)
{
    uint32_t set = 0;
    const char *method = sk_config_text(either(root, "detection_method", "DETECTION_METHOD"));
    const char *pose = sk_config_text(either(root, "pose_model_type", "POSE_MODEL_TYPE"));
    bool pose_on = flag(root, "enable_pose_extractor", "ENABLE_POSE_EXTRACTOR");
    if (!sk_config_is_null(
            sk_config_get(root, "pred_backend"))) { /* pose settings: their backend alone counts */
        pose = sk_config_text(sk_config_get(root, "pred_backend"));
        pose_on = true;
    }
    if (method && starts(method, "yolo"))
        set |= 1u << SK_WORK_YOLO_OBB_DETECTION;
    if (pose_on)
        set |= 1u << (pose && starts(pose, "sleap") ? SK_WORK_SLEAP_POSE : SK_WORK_YOLO_POSE);
    return set;
}

static void decided(sk_runtime_import *out, const char *key, const char *value)
{
    snprintf(out->key, sizeof out->key, "%s", key);
    snprintf(out->value, sizeof out->value, "%.60s", value);
}

/* The one key that names a runtime, under its three names. */
static bool import_named(const sk_config_value *root, const sk_runtime_facts *facts, sk_runtime_import *out)
{
    static const char *const keys[] = {"compute_runtime", "COMPUTE_RUNTIME", "pred_runtime"};
    sk_runtime_devices devices = sk_runtime_facts_devices(facts);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = sk_config_text(sk_config_get(root, keys[i]));
        if (!value)
            continue;
        decided(out, keys[i], value);
        if (sk_runtime_normalise(value, &devices, &out->runtime) == SK_RUNTIME_NO_MATCH)
            snprintf(out->note, sizeof out->note, "skitter knows no runtime '%.60s'; cpu is used instead",
                     value);
        return true;
    }
    return false;
}

static sk_status import_root(const sk_config_value *root, const char *path, const sk_runtime_facts *facts,
                             sk_runtime_import *out, sk_error *err)
{
    if (!sk_config_is(root, SK_CONFIG_MAP))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a configuration: no keys at its top", path);
    out->pipelines = pipelines_of(root);
    if (import_named(root, facts, out))
        return SK_OK;
    const char *tier = sk_config_text(either(root, "runtime_tier", "RUNTIME_TIER"));
    if (tier) {
        decided(out, "runtime_tier", tier);
        if (sk_runtime_from_tier(tier, facts, &out->runtime))
            return SK_OK;
        return sk_fail(err, SK_ERR_FORMAT, "%s: runtime_tier '%.60s' is none of cpu, gpu, gpu_fast", path,
                       tier);
    }
    sk_runtime_legacy legacy = {
        .yolo_device = sk_config_text(either(root, "yolo_device", "YOLO_DEVICE")),
        .enable_tensorrt = flag(root, "enable_tensorrt", "ENABLE_TENSORRT"),
        .pose_runtime_flavor = sk_config_text(either(root, "pose_runtime_flavor", "POSE_RUNTIME_FLAVOR")),
    };
    if (!legacy.yolo_device && !legacy.enable_tensorrt && !legacy.pose_runtime_flavor)
        return sk_fail(
            err, SK_ERR_NOT_FOUND,
            "%s: says nothing about the compute runtime (no compute_runtime, runtime_tier, yolo_device, "
            "enable_tensorrt or pose_runtime_flavor)",
            path);
    sk_runtime ignored;
    if (legacy.enable_tensorrt)
        decided(out, "enable_tensorrt", "true");
    else if (from_flavor(legacy.pose_runtime_flavor, facts, &ignored))
        decided(out, "pose_runtime_flavor", legacy.pose_runtime_flavor);
    else
        decided(out, "yolo_device", legacy.yolo_device ? legacy.yolo_device : "auto");
    out->runtime = sk_runtime_from_legacy(&legacy, facts);
    return SK_OK;
}

sk_status sk_runtime_import_file(const char *path, const sk_runtime_facts *facts, sk_runtime_import *out,
                                 sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    sk_status status;
    *out = (sk_runtime_import){0};
    SK_TRY_GOTO(sk_file_read(path, (size_t)16 << 20, &text, &bytes, err));
    bool yaml = sk_path_has_extension(path, ".yaml") || sk_path_has_extension(path, ".yml");
    SK_TRY_GOTO((yaml ? sk_config_open_yaml : sk_config_open_json)(text, bytes, path, &config, err));
    SK_TRY_GOTO(import_root(sk_config_root(config), path, facts, out, err));
done:
    sk_config_close(&config);
    sk_free(text);
    return status;
}
