/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/ort/ort_explain.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHEEL                                                                                                \
    "pip install 'onnxruntime-gpu[cuda,cudnn]' into that Python environment (the right libraries come "      \
    "along)"

/* Libraries of NVIDIA that a provider is linked to, and what people call them. `of_cuda`: the number behind .so. is CUDA's. */
static const struct {
    const char *begins, *title;
    bool of_cuda;
} libraries[] = {
    {"libcudnn", "cuDNN", false},          {"libcublas", "cuBLAS", true},
    {"libcudart", "CUDA's runtime", true}, {"libcufft", "cuFFT", false},
    {"libcurand", "cuRAND", false},        {"libnvrtc", "CUDA's compiler", true},
    {"libnvinfer", "TensorRT", false},     {"libnvonnxparser", "TensorRT's ONNX parser", false},
};

/* Texts of which one part says it all. */
static const struct {
    const char *part, *meaning;
} known[] = {
    {"libonnxruntime_providers_cuda.so: cannot open",
     "this ONNX Runtime is the one for processors: it has no CUDA provider. To get it: pip uninstall "
     "onnxruntime, then " WHEEL},
    {"libonnxruntime_providers_tensorrt.so: cannot open",
     "this ONNX Runtime has no TensorRT provider. To get it: " WHEEL},
    {"libcuda.so.1: cannot open",
     "NVIDIA's driver is not on this machine (libcuda.so.1), or not in this container. To get it: install "
     "the "
     "driver; for containers run them with the NVIDIA container toolkit (--gpus all)"},
    {"CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
     "parts of two versions of cuDNN are mixed. To get it: leave one, the wheel's: " WHEEL
     ", and take other cuDNN folders out of LD_LIBRARY_PATH"},
    {"CUDNN_STATUS_VERSION_MISMATCH",
     "this cuDNN is another version than the provider was built for. To get it: " WHEEL},
    {"CUDNN_STATUS_NOT_INITIALIZED",
     "cuDNN could not begin: the GPU's memory is full, or the driver is older than cuDNN wants. nvidia-smi "
     "shows both"},
    {"CUBLAS_STATUS_NOT_INITIALIZED",
     "cuBLAS could not begin: the GPU's memory is full, or the driver is older than cuBLAS wants. nvidia-smi "
     "shows both"},
    {"driver version is insufficient",
     "NVIDIA's driver is older than the CUDA that this ONNX Runtime was built for. To get it: update the "
     "driver (nvidia-smi shows the newest CUDA it knows), or install an onnxruntime-gpu made for that CUDA"},
    {"no kernel image is available",
     "this ONNX Runtime holds no code for this GPU: it is older or newer than those it was built for. To "
     "mend "
     "it: another version of onnxruntime-gpu, or the runtime cuda, which has kernels of its own"},
    {"no CUDA-capable device",
     "the driver shows no GPU. nvidia-smi says which there are; CUDA_VISIBLE_DEVICES may hide them"},
};

bool ort_missing_library(const char *message, char *name, size_t capacity)
{
    const char *end = strstr(message, ": cannot open shared object");
    if (!end)
        return false;
    const char *begin = end;
    while (begin > message && (isalnum((unsigned char)begin[-1]) || strchr("._-+", begin[-1])))
        begin--;
    if (strncmp(begin, "lib", 3) != 0 || (size_t)(end - begin) >= capacity)
        return false;
    snprintf(name, capacity, "%.*s", (int)(end - begin), begin);
    return true;
}

int ort_cuda_here(void)
{
    for (int version = 15; version >= 10; version--) {
        char name[32];
        snprintf(name, sizeof name, "libcudart.so.%d", version);
        void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (!library && version == 11) /* its number had a part more */
            library = dlopen("libcudart.so.11.0", RTLD_LAZY | RTLD_LOCAL);
        if (library) {
            dlclose(library);
            return version;
        }
    }
    return 0;
}

/* "cuBLAS of CUDA 12" of "libcublasLt.so.12"; the CUDA version where the number is one. */
static int title_of(const char *library, char *out, size_t capacity)
{
    const char *number = strstr(library, ".so.");
    snprintf(out, capacity, "a library");
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strncmp(library, libraries[i].begins, strlen(libraries[i].begins)) != 0)
            continue;
        snprintf(out, capacity, "%s %s%.*s", libraries[i].title, libraries[i].of_cuda ? "of CUDA " : "",
                 number ? (int)strspn(number + 4, "0123456789") : 0, number ? number + 4 : "");
        return libraries[i].of_cuda && number ? atoi(number + 4) : 0;
    }
    return 0;
}

static void explain_missing(const char *library, int cuda_here, char *out, size_t capacity)
{
    char what[96], other[96] = "";
    const int wanted = title_of(library, what, sizeof what);
    if (wanted > 0 && cuda_here > 0 && wanted != cuda_here)
        snprintf(other, sizeof other, " This machine has CUDA %d: the wheel is CUDA %d's.", cuda_here,
                 wanted);
    snprintf(
        out, capacity,
        "the provider was built for %s: %s is not on this machine, or not the version it wants.%s To get "
        "it: " WHEEL ", or install it for the whole system and run ldconfig",
        what, library, other);
}

/* "…: undefined symbol: cudnnGetVersion, version libcudnn.so.9" and "…: version `libcublas.so.13' not found". */
static bool explain_version(const char *text, char *out, size_t capacity)
{
    const char *symbol = strstr(text, "undefined symbol: "), *version = strstr(text, "version `");
    char what[96];
    if (version && strncmp(version + 9, "lib", 3) == 0) {
        title_of(version + 9, what, sizeof what);
    } else if (version && strncmp(version + 9, "GLIBC", 5) == 0) {
        snprintf(out, capacity,
                 "this ONNX Runtime was built for a newer system: it wants %.*s. To get it: an older "
                 "onnxruntime-gpu, or a newer system",
                 (int)strcspn(version + 9, "'"), version + 9);
        return true;
    } else if (symbol && strncmp(symbol + 18, "cudnn", 5) == 0) {
        snprintf(what, sizeof what, "cuDNN");
    } else if (symbol && strncmp(symbol + 18, "cublas", 6) == 0) {
        snprintf(what, sizeof what, "cuBLAS");
    } else if (symbol && strncmp(symbol + 18, "cu", 2) == 0) {
        snprintf(what, sizeof what, "CUDA");
    } else {
        return false;
    }
    snprintf(
        out, capacity,
        "the %s that was found is another version than the provider was built for (%.120s). To get it: " WHEEL
        ", and take folders of other versions out of LD_LIBRARY_PATH",
        what, symbol ? symbol : version);
    return true;
}

bool ort_explain(const char *text, int cuda_here, char *out, size_t capacity)
{
    char name[128];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(text, known[i].part)) {
            snprintf(out, capacity, "%s", known[i].meaning);
            return true;
        }
    if (ort_missing_library(text, name, sizeof name)) {
        explain_missing(name, cuda_here, out, capacity);
        return true;
    }
    return explain_version(text, out, capacity);
}
