/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/gate.h"

#include <stdio.h>
#include <string.h>

static const char *const pipeline_names[SK_WORK_COUNT] = {
    [SK_WORK_GENERIC] = "generic",
    [SK_WORK_YOLO_OBB_DETECTION] = "yolo_obb_detection",
    [SK_WORK_YOLO_POSE] = "yolo_pose",
    [SK_WORK_SLEAP_POSE] = "sleap_pose",
    [SK_WORK_YOLO_DETECTION] = "yolo_detection",
};

/* The same for people who have models and no pipelines: what a reason is for. */
static const char *const model_words[SK_WORK_COUNT] = {
    [SK_WORK_GENERIC] = "this model",         [SK_WORK_YOLO_OBB_DETECTION] = "YOLO, turned boxes",
    [SK_WORK_YOLO_POSE] = "YOLO, poses",      [SK_WORK_SLEAP_POSE] = "SLEAP",
    [SK_WORK_YOLO_DETECTION] = "YOLO, boxes",
};

const char *sk_work_name(sk_work pipeline)
{
    return (int)pipeline >= 0 && pipeline < SK_WORK_COUNT ? pipeline_names[pipeline] : "unknown";
}

bool sk_work_find(const char *name, sk_work *out)
{
    for (int i = 0; name && i < SK_WORK_COUNT; i++) {
        if (strcmp(name, pipeline_names[i]) == 0) {
            *out = (sk_work)i;
            return true;
        }
    }
    return false;
}

sk_status sk_works_parse(const char *list, uint32_t *set, sk_error *err)
{
    *set = 0;
    for (const char *at = list ? list : ""; *at;) {
        size_t length = strcspn(at, ", ");
        char name[64];
        sk_work pipeline;
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, at);
        if (length && !sk_work_find(name, &pipeline))
            return sk_fail(err, SK_ERR_ARG,
                           "no pipeline is called '%s'; there are yolo_obb_detection, yolo_pose, sleap_pose, "
                           "yolo_detection, generic",
                           name);
        if (length)
            *set |= 1u << pipeline;
        at += length;
        at += *at != '\0';
    }
    return SK_OK;
}

sk_runtime_devices sk_runtime_facts_devices(const sk_runtime_facts *f)
{
    return (sk_runtime_devices){.cuda = f->cuda,
                                .rocm = f->rocm,
                                .ort_cuda = f->ort && f->ort_cuda,
                                .ort_rocm = f->ort && f->ort_rocm};
}

/* --- the rules: null when the condition holds, else what is missing --- */

static const char *needs_nvidia(const sk_runtime_facts *f)
{
    if (f->rocm)
        return "this is a ROCm machine, and CUDA and ROCm exclude each other";
    return f->cuda ? NULL : "no usable CUDA device";
}

static const char *needs_ort(const sk_runtime_facts *f)
{
    return f->ort ? NULL : "ONNX Runtime cannot be loaded";
}

static const char *first(const char *a, const char *b)
{
    return a ? a : b;
}

static const char *onnx_rule(sk_runtime runtime, const sk_runtime_facts *f)
{
    switch (runtime) {
    case SK_RUNTIME_ONNX_CUDA:
        return first(needs_ort(f), f->ort_cuda || f->ort_tensorrt
                                       ? needs_nvidia(f)
                                       : "ONNX Runtime offers neither its CUDA nor its TensorRT provider");
    case SK_RUNTIME_ONNX_ROCM:
        if (needs_ort(f))
            return needs_ort(f);
        if (!f->ort_rocm)
            return "ONNX Runtime offers neither its MIGraphX nor its ROCm provider";
        return f->rocm ? NULL : "no usable ROCm device";
    default: /* a library that does not list its providers has the CPU one */
        return first(needs_ort(f), f->ort_cpu || !f->ort_providers_known
                                       ? NULL
                                       : "ONNX Runtime does not list its CPU provider");
    }
}

static const char *rule(sk_runtime runtime, const sk_runtime_facts *f)
{
    switch (runtime) {
    case SK_RUNTIME_CPU: return NULL;
    case SK_RUNTIME_MPS: return f->mps ? NULL : "Apple Metal is not available";
    case SK_RUNTIME_CUDA: return needs_nvidia(f);
    case SK_RUNTIME_ROCM: return f->rocm ? NULL : "no usable ROCm device";
    case SK_RUNTIME_ONNX_CPU:
    case SK_RUNTIME_ONNX_CUDA:
    case SK_RUNTIME_ONNX_ROCM: return onnx_rule(runtime, f);
    case SK_RUNTIME_TENSORRT: return first(f->tensorrt ? NULL : "TensorRT cannot be loaded", needs_nvidia(f));
    case SK_RUNTIME_OPENVINO: return f->openvino ? NULL : "OpenVINO cannot be loaded";
    case SK_RUNTIME_COUNT: break;
    }
    return "no such runtime";
}

/* SLEAP models reach the runtimes outside skitter through a graph that our importer builds. */
static bool needs_graph(sk_runtime runtime)
{
    return runtime >= SK_RUNTIME_ONNX_CPU && runtime <= SK_RUNTIME_OPENVINO;
}

bool sk_runtime_supported(sk_work pipeline, sk_runtime runtime, const sk_runtime_facts *facts, char *because,
                          size_t capacity)
{
    const char *missing = rule(runtime, facts);
    if (missing && facts->failed[runtime] && facts->why[runtime][0])
        missing = facts->why[runtime]; /* what the probe saw is nearer to the cause than the rule */
    if (!missing && runtime != SK_RUNTIME_CPU && facts->failed[runtime])
        missing = facts->why[runtime][0] ? facts->why[runtime] : "its test run failed";
    if (!missing && pipeline == SK_WORK_SLEAP_POSE && needs_graph(runtime) && !facts->graph_importable)
        missing = "the SLEAP model's graph cannot be built; 'skitter info MODEL' says why";
    if (because)
        snprintf(because, capacity, "%s", missing ? missing : "");
    return !missing;
}

void sk_runtime_gate_make(uint32_t pipelines, const sk_runtime_facts *facts, sk_runtime_gate *out)
{
    *out = (sk_runtime_gate){0};
    uint32_t set = pipelines & ((1u << SK_WORK_COUNT) - 1);
    bool named = set != 0;
    if (!named)
        set = 1u << SK_WORK_GENERIC;
    for (int r = 0; r < SK_RUNTIME_COUNT; r++) {
        out->is_allowed[r] = true;
        for (int p = 0; p < SK_WORK_COUNT && out->is_allowed[r]; p++) {
            char why[SK_RUNTIME_WHY];
            if (!(set & 1u << p) || sk_runtime_supported((sk_work)p, (sk_runtime)r, facts, why, sizeof why))
                continue;
            out->is_allowed[r] = false;
            out->by[r] = (sk_work)p;
            snprintf(out->because[r], sizeof out->because[r], "%s%s%.290s", named ? model_words[p] : "",
                     named ? ": " : "", why);
        }
        if (out->is_allowed[r])
            out->allowed[out->n_allowed++] = (sk_runtime)r;
    }
}

bool sk_runtime_reset(const char *saved, const sk_runtime_gate *gate, const sk_runtime_facts *facts,
                      sk_runtime *out, char notice[SK_RUNTIME_NOTICE])
{
    sk_runtime_devices devices = sk_runtime_facts_devices(facts);
    sk_runtime wanted;
    notice[0] = '\0';
    sk_runtime_match match = sk_runtime_normalise(saved, &devices, &wanted);
    if (match != SK_RUNTIME_NO_MATCH && gate->is_allowed[wanted]) {
        *out = wanted;
        return false;
    }
    *out = gate->allowed[0];
    char list[SK_RUNTIME_LIST];
    if (match == SK_RUNTIME_NO_MATCH)
        snprintf(notice, SK_RUNTIME_NOTICE,
                 "the compute runtime '%.60s' was reset to '%s': no runtime has that name; there are %s",
                 saved, sk_runtime_name(*out), sk_runtime_list(list, sizeof list));
    else
        snprintf(notice, SK_RUNTIME_NOTICE, "the compute runtime '%.60s' was reset to '%s': %s", saved,
                 sk_runtime_name(*out), gate->because[wanted]);
    return true;
}
