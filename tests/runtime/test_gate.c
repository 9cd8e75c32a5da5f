/* SPDX-License-Identifier: Apache-2.0 */
/* The rules about names, gating, resetting: every cell of the condition table, against facts made up here. */
#include "support/test.h"

#include "runtime/gate.h"

#include <stdio.h>
#include <string.h>

enum {
    CUDA = 1 << 0,
    ROCM = 1 << 1,
    MPS = 1 << 2,
    ORT = 1 << 3,
    KNOWN = 1 << 4, /* the provider list */
    P_CPU = 1 << 5,
    P_CUDA = 1 << 6,
    P_TRT = 1 << 7,
    P_ROCM = 1 << 8,
    TRT = 1 << 9,
    OPENVINO = 1 << 10,
    GRAPH = 1 << 11,
    ALL_FLAGS = 1 << 12
};

static sk_runtime_facts facts_of(int flags)
{
    return (sk_runtime_facts){.cuda = flags & CUDA,
                              .rocm = flags & ROCM,
                              .mps = flags & MPS,
                              .ort = flags & ORT,
                              .ort_providers_known = flags & KNOWN,
                              .ort_cpu = flags & P_CPU,
                              .ort_cuda = flags & P_CUDA,
                              .ort_tensorrt = flags & P_TRT,
                              .ort_rocm = flags & P_ROCM,
                              .tensorrt = flags & TRT,
                              .openvino = flags & OPENVINO,
                              .graph_importable = flags & GRAPH};
}

/* One way to be allowed: all of `needs`, none of `bars`. A runtime is allowed when any of its ways holds. */
typedef struct way {
    sk_runtime runtime;
    int needs, bars;
} way;

/* The contract's table, column "YOLO and generic". */
static const way ways[] = {
    {SK_RUNTIME_CPU, 0, 0},
    {SK_RUNTIME_MPS, MPS, 0},
    {SK_RUNTIME_CUDA, CUDA, ROCM},
    {SK_RUNTIME_ROCM, ROCM, 0},
    {SK_RUNTIME_ONNX_CPU, ORT | P_CPU, 0},
    {SK_RUNTIME_ONNX_CPU, ORT, KNOWN},
    {SK_RUNTIME_ONNX_CUDA, ORT | P_CUDA | CUDA, ROCM},
    {SK_RUNTIME_ONNX_CUDA, ORT | P_TRT | CUDA, ROCM},
    {SK_RUNTIME_ONNX_ROCM, ORT | P_ROCM | ROCM, 0},
    {SK_RUNTIME_TENSORRT, TRT | CUDA, ROCM},
    {SK_RUNTIME_OPENVINO, OPENVINO, 0},
};
#define WAYS (sizeof ways / sizeof ways[0])

static bool by_the_table(sk_work pipeline, sk_runtime runtime, int flags)
{
    bool outside = runtime >= SK_RUNTIME_ONNX_CPU; /* SLEAP: these need our graph */
    if (pipeline == SK_WORK_SLEAP_POSE && outside && !(flags & GRAPH))
        return false;
    for (size_t i = 0; i < WAYS; i++)
        if (ways[i].runtime == runtime && (flags & ways[i].needs) == ways[i].needs && !(flags & ways[i].bars))
            return true;
    return false;
}

static void test_every_cell_under_every_machine(void **state)
{
    (void)state;
    for (int flags = 0; flags < ALL_FLAGS; flags++) {
        sk_runtime_facts facts = facts_of(flags);
        for (int p = 0; p < SK_WORK_COUNT; p++)
            for (int r = 0; r < SK_RUNTIME_COUNT; r++) {
                char why[SK_RUNTIME_WHY] = "untouched";
                bool got = sk_runtime_supported((sk_work)p, (sk_runtime)r, &facts, why, sizeof why);
                if (got != by_the_table((sk_work)p, (sk_runtime)r, flags))
                    fail_msg("%s x %s, flags %x: %d", sk_work_name((sk_work)p),
                             sk_runtime_name((sk_runtime)r), (unsigned)flags, got);
                assert_int_equal(got, why[0] == '\0'); /* a no always has a reason */
            }
    }
}

/* Each condition alone decides: with exactly what a way needs it is open; without any one of them, shut. */
static void test_each_condition_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        sk_runtime_facts facts = facts_of(ways[i].needs | GRAPH);
        assert_true(sk_runtime_supported(SK_WORK_YOLO_POSE, ways[i].runtime, &facts, NULL, 0));
        for (int bit = 1; bit < ALL_FLAGS; bit <<= 1) {
            if (ways[i].needs & bit) {
                /* KNOWN closes the other way to onnx_cpu, an unknown provider list */
                facts = facts_of((ways[i].needs & ~bit) | KNOWN);
                assert_false(sk_runtime_supported(SK_WORK_YOLO_POSE, ways[i].runtime, &facts, NULL, 0));
            }
            if (ways[i].bars & bit) {
                facts = facts_of(ways[i].needs | bit);
                assert_false(sk_runtime_supported(SK_WORK_YOLO_POSE, ways[i].runtime, &facts, NULL, 0));
            }
        }
    }
}

static void test_intersection(void **state)
{
    (void)state;
    for (int flags = 0; flags < ALL_FLAGS; flags += 3) {
        sk_runtime_facts facts = facts_of(flags);
        for (uint32_t set = 0; set < 1u << SK_WORK_COUNT; set++) {
            sk_runtime_gate gate;
            sk_runtime_gate_make(set, &facts, &gate);
            assert_true(gate.n_allowed >= 1);
            assert_int_equal(gate.allowed[0], SK_RUNTIME_CPU);
            assert_false(gate.is_allowed[SK_RUNTIME_CUDA] && gate.is_allowed[SK_RUNTIME_ROCM]);
            int32_t n = 0;
            for (int r = 0; r < SK_RUNTIME_COUNT; r++) {
                bool all = true;
                for (int p = 0; p < SK_WORK_COUNT; p++)
                    if (set ? (set >> p & 1) : p == SK_WORK_GENERIC)
                        all = all && by_the_table((sk_work)p, (sk_runtime)r, flags);
                assert_int_equal(all, gate.is_allowed[r]);
                if (all)
                    assert_int_equal(gate.allowed[n++], r); /* the canonical order */
                else
                    assert_true(gate.because[r][0] != '\0');
            }
            assert_int_equal(n, gate.n_allowed);
        }
    }
}

static void test_reasons_name_the_pipeline(void **state)
{
    (void)state;
    sk_runtime_facts facts = facts_of(ORT | KNOWN | P_CPU);
    sk_runtime_gate gate;
    sk_runtime_gate_make(1u << SK_WORK_YOLO_OBB_DETECTION | 1u << SK_WORK_SLEAP_POSE, &facts, &gate);
    assert_false(gate.is_allowed[SK_RUNTIME_ONNX_CPU]); /* YOLO alone would have it */
    assert_int_equal(gate.by[SK_RUNTIME_ONNX_CPU], SK_WORK_SLEAP_POSE);
    assert_non_null(strstr(gate.because[SK_RUNTIME_ONNX_CPU], "SLEAP: "));
    assert_non_null(strstr(gate.because[SK_RUNTIME_CUDA], "YOLO, turned boxes: no usable CUDA device"));
    facts = facts_of(ROCM | CUDA);
    sk_runtime_gate_make(0, &facts, &gate);
    assert_non_null(strstr(gate.because[SK_RUNTIME_CUDA], "exclude each other"));
}

static void test_a_failed_probe_wins(void **state)
{
    (void)state;
    sk_runtime_facts facts = facts_of(ORT | KNOWN | P_CPU | GRAPH | OPENVINO);
    facts.failed[SK_RUNTIME_OPENVINO] = true;
    snprintf(facts.why[SK_RUNTIME_OPENVINO], sizeof facts.why[0], "the probe crashed with signal 11");
    facts.failed[SK_RUNTIME_CPU] = true; /* the processor is always there */
    sk_runtime_gate gate;
    sk_runtime_gate_make(0, &facts, &gate);
    assert_true(gate.is_allowed[SK_RUNTIME_CPU]);
    assert_true(gate.is_allowed[SK_RUNTIME_ONNX_CPU]);
    assert_false(gate.is_allowed[SK_RUNTIME_OPENVINO]);
    assert_string_equal(gate.because[SK_RUNTIME_OPENVINO], "the probe crashed with signal 11");
}

/* A reason is given to who has room for it, as much as there is. */
static void test_room_for_a_reason(void **state)
{
    (void)state;
    static const sk_runtime_facts plain = {0};
    char why[8] = "before";
    assert_false(sk_runtime_supported(SK_WORK_GENERIC, SK_RUNTIME_CUDA, &plain, NULL, 100));
    assert_false(sk_runtime_supported(SK_WORK_GENERIC, SK_RUNTIME_CUDA, &plain, why, 0));
    assert_string_equal(why, "before");
    assert_false(sk_runtime_supported(SK_WORK_GENERIC, SK_RUNTIME_CUDA, &plain, why, sizeof why));
    assert_string_equal(why, "no usab");
    assert_true(sk_runtime_supported(SK_WORK_GENERIC, SK_RUNTIME_CPU, &plain, why, sizeof why));
    assert_string_equal(why, "");
}

/* What a probe saw is said instead of what the rules miss; where it said nothing, that it failed. */
static void test_what_a_probe_saw(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 2; allowed++)
        for (int failed = 0; failed < 2; failed++)
            for (int said = 0; said < 2; said++) {
                sk_runtime_facts facts = facts_of(allowed ? OPENVINO : 0);
                char why[SK_RUNTIME_WHY];
                facts.failed[SK_RUNTIME_OPENVINO] = failed;
                if (said)
                    snprintf(facts.why[SK_RUNTIME_OPENVINO], sizeof facts.why[0], "it burnt");
                const bool got =
                    sk_runtime_supported(SK_WORK_YOLO_POSE, SK_RUNTIME_OPENVINO, &facts, why, sizeof why);
                assert_int_equal(got, allowed && !failed);
                assert_string_equal(why, failed && said    ? "it burnt"
                                         : !allowed        ? "OpenVINO cannot be loaded"
                                         : failed && !said ? "its test run failed"
                                                           : "");
            }
}

/* A set of pipelines that has bits of none is the set without them. */
static void test_bits_of_no_pipeline(void **state)
{
    (void)state;
    static const sk_runtime_facts plain = {0};
    sk_runtime_gate a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    sk_runtime_gate_make(~((1u << SK_WORK_COUNT) - 1), &plain, &a);
    sk_runtime_gate_make(0, &plain, &b);
    assert_int_equal(a.n_allowed, b.n_allowed);
    assert_string_equal(a.because[SK_RUNTIME_CUDA], "no usable CUDA device");
    assert_string_equal(b.because[SK_RUNTIME_CUDA], "no usable CUDA device");
    sk_runtime_gate_make(1u << (SK_WORK_COUNT - 1), &plain, &a);
    assert_string_equal(a.because[SK_RUNTIME_CUDA], "YOLO, boxes: no usable CUDA device");
    sk_runtime_gate_make(1u << SK_WORK_GENERIC, &plain, &a);
    assert_string_equal(a.because[SK_RUNTIME_CUDA], "this model: no usable CUDA device");
}

static void test_pipelines_are_read(void **state)
{
    (void)state;
    sk_error err;
    uint32_t set;
    assert_ok(sk_works_parse("yolo_obb_detection, sleap_pose", &set, &err), &err);
    assert_int_equal(set, 1u << SK_WORK_YOLO_OBB_DETECTION | 1u << SK_WORK_SLEAP_POSE);
    assert_ok(sk_works_parse("", &set, &err), &err);
    assert_int_equal(set, 0);
    assert_ok(sk_works_parse(NULL, &set, &err), &err);
    assert_int_equal(set, 0);
    assert_int_equal(sk_works_parse("yolo_pose,nonsense", &set, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'nonsense'"));
}

static void test_reset_names_all_three(void **state)
{
    (void)state;
    sk_runtime_facts facts = facts_of(CUDA | TRT | ORT | KNOWN | P_CPU);
    sk_runtime_gate gate;
    sk_runtime now;
    char notice[SK_RUNTIME_NOTICE];
    sk_runtime_gate_make(1u << SK_WORK_YOLO_POSE, &facts, &gate);
    assert_false(sk_runtime_reset("tensorrt", &gate, &facts, &now, notice));
    assert_int_equal(now, SK_RUNTIME_TENSORRT);
    assert_string_equal(notice, "");
    assert_false(sk_runtime_reset("TRT ", &gate, &facts, &now, notice)); /* an alias is no reason to reset */
    assert_int_equal(now, SK_RUNTIME_TENSORRT);
    sk_runtime_gate_make(1u << SK_WORK_YOLO_POSE | 1u << SK_WORK_SLEAP_POSE, &facts, &gate);
    assert_true(sk_runtime_reset("tensorrt", &gate, &facts, &now, notice));
    assert_int_equal(now, SK_RUNTIME_CPU);
    assert_non_null(strstr(notice, "'tensorrt' was reset to 'cpu'"));
    assert_non_null(strstr(notice, "SLEAP"));
    assert_true(sk_runtime_reset("warp9", &gate, &facts, &now, notice));
    assert_int_equal(now, SK_RUNTIME_CPU);
    assert_non_null(strstr(notice, "'warp9' was reset to 'cpu': no runtime has that name"));
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu",       "mps",       "cuda",     "rocm",    "onnx_cpu",
                                        "onnx_cuda", "onnx_rocm", "tensorrt", "openvino"};
    static const char *const labels[] = {"CPU",         "MPS",         "CUDA",     "ROCm",    "ONNX (CPU)",
                                         "ONNX (CUDA)", "ONNX (ROCm)", "TensorRT", "OpenVINO"};
    assert_int_equal(SK_RUNTIME_COUNT, 9);
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        sk_runtime found;
        assert_string_equal(sk_runtime_name((sk_runtime)i), names[i]);
        assert_string_equal(sk_runtime_label((sk_runtime)i), labels[i]);
        assert_true(strlen(sk_runtime_meaning((sk_runtime)i)) > 3);
        assert_true(sk_runtime_find(names[i], &found) && (int)found == i);
    }
    char list[SK_RUNTIME_LIST];
    assert_string_equal(sk_runtime_list(list, sizeof list),
                        "cpu, mps, cuda, rocm, onnx_cpu, onnx_cuda, onnx_rocm, tensorrt, openvino");
    assert_string_equal(sk_runtime_name(SK_RUNTIME_COUNT), "unknown");
}

static void test_aliases(void **state)
{
    (void)state;
    sk_runtime_devices plain = {0}, nvidia = {.cuda = true, .ort_cuda = true},
                       amd = {.rocm = true, .ort_rocm = true},
                       amd_cuda_ort = {.rocm = true, .cuda = true, .ort_cuda = true},
                       nvidia_without_provider = {.cuda = true};
    const struct {
        const char *text;
        const sk_runtime_devices *devices;
        sk_runtime runtime;
        sk_runtime_match match;
    } cases[] = {
        {NULL, &plain, SK_RUNTIME_CPU, SK_RUNTIME_ALIAS},
        {"", &plain, SK_RUNTIME_CPU, SK_RUNTIME_ALIAS},
        {"auto", &nvidia, SK_RUNTIME_CPU, SK_RUNTIME_ALIAS},
        {" \tCUDA\n", &plain, SK_RUNTIME_CUDA, SK_RUNTIME_EXACT},
        {"ONNX-CPU", &plain, SK_RUNTIME_ONNX_CPU, SK_RUNTIME_EXACT},
        {"onnx", &plain, SK_RUNTIME_ONNX_CPU, SK_RUNTIME_ALIAS},
        {"onnx", &nvidia, SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_ALIAS},
        {"onnxruntime", &amd, SK_RUNTIME_ONNX_ROCM, SK_RUNTIME_ALIAS},
        {"onnx", &amd_cuda_ort, SK_RUNTIME_ONNX_CPU, SK_RUNTIME_ALIAS},
        {"onnx", &nvidia_without_provider, SK_RUNTIME_ONNX_CPU, SK_RUNTIME_ALIAS},
        {"onnx_gpu", &nvidia, SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_ALIAS},
        {"onnx-gpu", &amd, SK_RUNTIME_ONNX_ROCM, SK_RUNTIME_ALIAS},
        {"onnx_gpu", &plain, SK_RUNTIME_ONNX_CUDA, SK_RUNTIME_ALIAS},
        {"trt", &plain, SK_RUNTIME_TENSORRT, SK_RUNTIME_ALIAS},
        {"tensor-rt", &plain, SK_RUNTIME_TENSORRT, SK_RUNTIME_ALIAS},
        {"tensorrt_cuda", &plain, SK_RUNTIME_TENSORRT, SK_RUNTIME_ALIAS},
        {"cuda:0", &plain, SK_RUNTIME_CUDA, SK_RUNTIME_ALIAS},
        {"cudaa", &plain, SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"rocmm", &plain, SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"tensorrtx", &plain, SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"openvinos", &plain, SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"cuda:13", &plain, SK_RUNTIME_CUDA, SK_RUNTIME_ALIAS},
        {"rocm:1", &plain, SK_RUNTIME_ROCM, SK_RUNTIME_ALIAS},
        {"OpenVINO", &plain, SK_RUNTIME_OPENVINO, SK_RUNTIME_EXACT},
        {"openvino:GPU", &plain, SK_RUNTIME_OPENVINO, SK_RUNTIME_ALIAS},
        {"ov", &plain, SK_RUNTIME_OPENVINO, SK_RUNTIME_ALIAS},
        {"quantum", &nvidia, SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"onnx_coreml", &plain, SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"a name so long that no runtime could ever be called that, not even an alias of one", &plain,
         SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH},
        {"cuda", &plain, SK_RUNTIME_CUDA, SK_RUNTIME_EXACT},
        {"cuda                                                             and what stands behind it", &plain,
         SK_RUNTIME_CPU, SK_RUNTIME_NO_MATCH}, /* nor what was said before */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sk_runtime got = SK_RUNTIME_COUNT;
        sk_runtime_match match = sk_runtime_normalise(cases[i].text, cases[i].devices, &got);
        if (got != cases[i].runtime || match != cases[i].match)
            fail_msg("'%s' became %s (%d)", cases[i].text ? cases[i].text : "(null)", sk_runtime_name(got),
                     match);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell_under_every_machine),
        cmocka_unit_test(test_each_condition_counts),
        cmocka_unit_test(test_intersection),
        cmocka_unit_test(test_reasons_name_the_pipeline),
        cmocka_unit_test(test_a_failed_probe_wins),
        cmocka_unit_test(test_room_for_a_reason),
        cmocka_unit_test(test_what_a_probe_saw),
        cmocka_unit_test(test_bits_of_no_pipeline),
        cmocka_unit_test(test_pipelines_are_read),
        cmocka_unit_test(test_reset_names_all_three),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
