/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes this build has no engine for: what is missing on the machine, and what in skitter. Only looks at files; a
 * driver is never loaded here. */
#include "base/file.h"
#include "runtime/probe.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* Is there a library of this name where the loader of a usual Linux looks? */
static bool has_library(const char *name)
{
    static const char *const folders[] = {"/lib",
                                          "/lib64",
                                          "/usr/lib",
                                          "/usr/lib64",
                                          "/usr/local/lib",
                                          "/usr/lib/x86_64-linux-gnu",
                                          "/usr/lib/aarch64-linux-gnu",
                                          "/usr/lib/wsl/lib",
                                          "/usr/local/nvidia/lib64",
                                          "/usr/local/cuda/lib64",
                                          "/opt/rocm/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char pattern[256];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s*", folders[i], name);
        const bool any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0; /* none is no 0 */
        globfree(&found);
        if (any)
            return true;
    }
    return false;
}

bool sk_probe_has_driver(const char *vendor, const char *device, const char *library, const char *remedy,
                         sk_probe_row *row)
{
    bool file = sk_file_exists(device), lib = has_library(library);
    if (file && lib)
        return true;
    if (!file && !lib)
        snprintf(row->reason, sizeof row->reason, "no %s driver: %s and %s are absent", vendor, device,
                 library);
    else
        snprintf(row->reason, sizeof row->reason, "the %s driver is incomplete: %s is absent", vendor,
                 file ? library : device);
    snprintf(row->remedy, sizeof row->remedy, "%s", remedy);
    return false;
}

static bool has_nvidia(sk_probe_row *row)
{
    return sk_probe_has_driver(
        "NVIDIA", "/dev/nvidia0", "libcuda.so.1",
        "install NVIDIA's driver (Debian: apt-get install nvidia-driver); in a container, start it with "
        "--gpus all",
        row);
}

static bool has_amd(sk_probe_row *row)
{
    return sk_probe_has_driver(
        "ROCm", "/dev/kfd", "libamdhip64.so",
        "install ROCm (https://rocm.docs.amd.com); in a container, start it with --device /dev/kfd "
        "--device /dev/dri",
        row);
}

bool sk_probe_machine(sk_runtime runtime, sk_probe_row *row)
{
    switch (runtime) {
    case SK_RUNTIME_MPS:
#ifndef __APPLE__
        snprintf(row->reason, sizeof row->reason, "Apple machines only");
        return false;
#else
        return true;
#endif
    case SK_RUNTIME_CUDA:
    case SK_RUNTIME_ONNX_CUDA: return has_nvidia(row);
    case SK_RUNTIME_ROCM:
    case SK_RUNTIME_ONNX_ROCM: return has_amd(row);
    case SK_RUNTIME_TENSORRT:
        if (!has_nvidia(row))
            return false;
        if (has_library("libnvinfer.so"))
            return true;
        snprintf(row->reason, sizeof row->reason, "no TensorRT: libnvinfer.so is absent");
        snprintf(row->remedy, sizeof row->remedy,
                 "install TensorRT (NVIDIA's repository: apt-get install libnvinfer10)");
        return false;
    case SK_RUNTIME_CPU:
    case SK_RUNTIME_ONNX_CPU:
    case SK_RUNTIME_OPENVINO:
    case SK_RUNTIME_COUNT: break;
    }
    return true;
}

void sk_probe_absent(sk_runtime runtime, sk_probe_row *row)
{
    row->available = false;
    row->remedy[0] = '\0';
    if (!sk_probe_machine(runtime, row))
        return;
    snprintf(row->reason, sizeof row->reason,
             "the machine has what it needs, but this build has no %s engine yet", sk_runtime_name(runtime));
    snprintf(row->remedy, sizeof row->remedy, "use another runtime: skitter runtimes");
    if (runtime == SK_RUNTIME_ONNX_CPU || runtime == SK_RUNTIME_OPENVINO)
        snprintf(row->reason, sizeof row->reason, "this build has no %s engine yet",
                 sk_runtime_name(runtime));
}
