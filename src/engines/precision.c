/* SPDX-License-Identifier: Apache-2.0 */
/* Apart from engine.c, whose table of engines plugins must not pull in. */
#include "engines/engine.h"

#include <string.h>

bool sk_precision_find(const char *name, sk_precision *out)
{
    *out = SK_PRECISION_AUTO;
    if (!name || !name[0])
        return true;
    for (int i = SK_PRECISION_F32; i <= SK_PRECISION_FP8; i++)
        if (strcmp(name, sk_precision_name((sk_precision)i)) == 0) {
            *out = (sk_precision)i;
            return true;
        }
    return false;
}

sk_status sk_precision_read(const char *name, sk_precision *out, sk_error *err)
{
    if (sk_precision_find(name, out))
        return SK_OK;
    return sk_fail(err, SK_ERR_ARG, "no precision is called '%s'; there are f32, tf32, f16, bf16, i8, fp8",
                   name);
}

sk_precision sk_precision_settle(const sk_capabilities *can, sk_precision asked)
{
    return asked ? asked : can->usual ? can->usual : SK_PRECISION_F32;
}

const char *sk_device_kind_name(sk_device_kind kind)
{
    switch (kind) {
    case SK_DEVICE_CPU: return "processor";
    case SK_DEVICE_NVIDIA: return "NVIDIA GPU";
    case SK_DEVICE_AMD: return "AMD GPU";
    case SK_DEVICE_INTEL: return "Intel GPU";
    case SK_DEVICE_NPU: return "NPU";
    case SK_DEVICE_NONE: break;
    }
    return "none";
}

const char *sk_precision_name(sk_precision precision)
{
    switch (precision) {
    case SK_PRECISION_AUTO: return "auto";
    case SK_PRECISION_F32: return "f32";
    case SK_PRECISION_F16: return "f16";
    case SK_PRECISION_BF16: return "bf16";
    case SK_PRECISION_I8: return "i8";
    case SK_PRECISION_TF32: return "tf32";
    case SK_PRECISION_FP8: return "fp8";
    }
    return "unknown";
}
