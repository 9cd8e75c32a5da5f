/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/json_write.h"
#include "formats/config.h"
#include "runtime/legacy.h"
#include "runtime/setting_file.h"

/* What sk_runtime_import_file reads, written: the one value first, then what older programs derive from it, and the tier of
 * newer ones, who cannot say more than the kind of device. */

static const char *const keys[] = {"compute_runtime",       "pred_runtime",
                                   "runtime_tier",          "yolo_device",
                                   "enable_onnx_runtime",   "enable_tensorrt",
                                   "enable_gpu_background", "pose_runtime_flavor",
                                   "pose_sleap_device",     NULL};

static const char *tier_of(sk_runtime runtime)
{
    switch (runtime) {
    case SK_RUNTIME_TENSORRT: return "gpu_fast";
    case SK_RUNTIME_MPS:
    case SK_RUNTIME_CUDA:
    case SK_RUNTIME_ROCM:
    case SK_RUNTIME_ONNX_CUDA:
    case SK_RUNTIME_ONNX_ROCM: return "gpu";
    default: return "cpu";
    }
}

static void put(sk_json *json, sk_runtime runtime)
{
    sk_runtime_derived d = sk_runtime_derive(runtime);
    sk_json_key_string(json, keys[0], sk_runtime_name(runtime));
    sk_json_key_string(json, keys[1], sk_runtime_name(runtime));
    sk_json_key_string(json, keys[2], tier_of(runtime));
    sk_json_key_string(json, keys[3], d.yolo_device);
    sk_json_key_bool(json, keys[4], d.enable_onnx_runtime);
    sk_json_key_bool(json, keys[5], d.enable_tensorrt);
    sk_json_key_bool(json, keys[6], d.enable_gpu_background);
    sk_json_key_string(json, keys[7], d.pose_runtime_flavor);
    sk_json_key_string(json, keys[8], d.pose_sleap_device);
}

sk_status sk_runtime_export_text(sk_runtime runtime, const char *path, char **out, sk_error *err)
{
    char *before = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    sk_text text = {0};
    sk_status status = SK_OK;
    *out = NULL;
    if (path && sk_file_exists(path)) {
        SK_TRY_GOTO(sk_file_read(path, (size_t)16 << 20, &before, &bytes, err));
        SK_TRY_GOTO(sk_config_open_json(before, bytes, path, &config, err));
        if (!sk_config_is(sk_config_root(config), SK_CONFIG_MAP)) {
            status = sk_fail(err, SK_ERR_FORMAT, "%s: not a configuration: no keys at its top", path);
            goto done;
        }
    }
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    put(&json, runtime);
    if (config)
        sk_setting_write_others(&json, sk_config_root(config), keys);
    sk_json_close(&json);
    SK_TRY_GOTO(sk_json_end(&json, err));
    status = sk_text_take(&text, out, err);
done:
    sk_text_free(&text);
    sk_config_close(&config);
    sk_free(before);
    return status;
}
