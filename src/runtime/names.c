/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *label, *meaning;
} table[SK_RUNTIME_COUNT] = {
    [SK_RUNTIME_CPU] = {"cpu", "CPU", "skitter's own kernels on the processor"},
    [SK_RUNTIME_MPS] = {"mps", "MPS", "Apple Metal, native"},
    [SK_RUNTIME_CUDA] = {"cuda", "CUDA", "NVIDIA, native"},
    [SK_RUNTIME_ROCM] = {"rocm", "ROCm", "AMD, native"},
    [SK_RUNTIME_ONNX_CPU] = {"onnx_cpu", "ONNX (CPU)", "ONNX Runtime, CPU provider"},
    [SK_RUNTIME_ONNX_CUDA] = {"onnx_cuda", "ONNX (CUDA)", "ONNX Runtime, CUDA provider"},
    [SK_RUNTIME_ONNX_ROCM] = {"onnx_rocm", "ONNX (ROCm)", "ONNX Runtime on AMD, MIGraphX provider"},
    [SK_RUNTIME_TENSORRT] = {"tensorrt", "TensorRT", "TensorRT engine on NVIDIA"},
    [SK_RUNTIME_OPENVINO] = {"openvino", "OpenVINO", "OpenVINO on Intel processors and graphics"},
};

static bool in_range(sk_runtime runtime)
{
    return (int)runtime >= 0 && runtime < SK_RUNTIME_COUNT;
}

const char *sk_runtime_name(sk_runtime runtime)
{
    return in_range(runtime) ? table[runtime].name : "unknown";
}

const char *sk_runtime_label(sk_runtime runtime)
{
    return in_range(runtime) ? table[runtime].label : "unknown";
}

const char *sk_runtime_meaning(sk_runtime runtime)
{
    return in_range(runtime) ? table[runtime].meaning : "unknown";
}

bool sk_runtime_find(const char *name, sk_runtime *out)
{
    for (int i = 0; name && i < SK_RUNTIME_COUNT; i++) {
        if (strcmp(name, table[i].name) == 0) {
            *out = (sk_runtime)i;
            return true;
        }
    }
    return false;
}

const char *sk_runtime_list(char *buffer, size_t capacity)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < SK_RUNTIME_COUNT && used < capacity; i++)
        used += (size_t)snprintf(buffer + used, capacity - used, "%s%s", i ? ", " : "", table[i].name);
    return buffer;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Trimmed, ASCII lower case, '-' as '_'. False when it is longer than any name could be. */
static bool tidy(const char *text, char *out, size_t capacity)
{
    while (is_space(*text))
        text++;
    size_t length = strlen(text);
    while (length && is_space(text[length - 1]))
        length--;
    if (length >= capacity)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        out[i] = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[length] = '\0';
    return true;
}

static bool starts(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* The name itself with something behind it that is no part of a word: "cuda:0", "tensorrt_cuda", and not "cudaa". */
static bool names(const char *word, const char *name)
{
    const char next = starts(word, name) ? word[strlen(name)] : 'a';
    return !(next >= 'a' && next <= 'z');
}

static bool is_any(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static sk_runtime best_onnx(const sk_runtime_devices *d)
{
    if (d->ort_rocm && d->rocm)
        return SK_RUNTIME_ONNX_ROCM;
    return d->ort_cuda && d->cuda && !d->rocm ? SK_RUNTIME_ONNX_CUDA : SK_RUNTIME_ONNX_CPU;
}

bool sk_runtime_is_open(const char *text)
{
    char word[64];
    return tidy(text ? text : "", word, sizeof word) &&
           (is_any(word, "onnx", "onnxruntime") || strcmp(word, "onnx_gpu") == 0);
}

sk_runtime_match sk_runtime_normalise(const char *text, const sk_runtime_devices *devices, sk_runtime *out)
{
    static const sk_runtime_devices none = {0};
    const sk_runtime_devices *d = devices ? devices : &none;
    char word[64];
    *out = SK_RUNTIME_CPU;
    if (!tidy(text ? text : "", word, sizeof word))
        return SK_RUNTIME_NO_MATCH;
    if (sk_runtime_find(word, out))
        return SK_RUNTIME_EXACT;
    if (is_any(word, "", "auto"))
        *out = SK_RUNTIME_CPU;
    else if (is_any(word, "onnx", "onnxruntime"))
        *out = best_onnx(d);
    else if (strcmp(word, "onnx_gpu") == 0)
        *out = d->rocm ? SK_RUNTIME_ONNX_ROCM : SK_RUNTIME_ONNX_CUDA;
    else if (is_any(word, "trt", "tensor_rt") || names(word, "tensorrt"))
        *out = SK_RUNTIME_TENSORRT;
    else if (names(word, "cuda"))
        *out = SK_RUNTIME_CUDA;
    else if (names(word, "rocm"))
        *out = SK_RUNTIME_ROCM;
    else if (is_any(word, "ov", "open_vino") || names(word, "openvino"))
        *out = SK_RUNTIME_OPENVINO;
    else
        return SK_RUNTIME_NO_MATCH;
    return SK_RUNTIME_ALIAS;
}
