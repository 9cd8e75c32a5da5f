/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations from before and after the one setting. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "runtime/legacy.h"

#include <stdio.h>
#include <string.h>

static const sk_runtime_facts plain = {0};
static const sk_runtime_facts nvidia = {.cuda = true, .tensorrt = true, .graph_importable = true};
static const sk_runtime_facts nvidia_bare = {.cuda = true};
static const sk_runtime_facts apple = {.mps = true, .ort = true};
static const sk_runtime_facts amd = {
    .rocm = true, .ort = true, .ort_providers_known = true, .ort_rocm = true};
static const sk_runtime_facts ort_only = {.ort = true};

static void test_old_keys(void **state)
{
    (void)state;
    const struct {
        sk_runtime_legacy legacy;
        const sk_runtime_facts *facts;
        sk_runtime expected;
    } cases[] = {
        {{"cpu", true, "onnx_cpu"}, &plain, SK_RUNTIME_TENSORRT}, /* 1. the switch wins */
        {{"cpu", false, "tensorrt_cuda"}, &plain, SK_RUNTIME_TENSORRT},
        {{"cpu", false, "onnx_rocm"}, &plain, SK_RUNTIME_ONNX_ROCM}, /* 2. then the flavour */
        {{"mps", false, "onnx_cuda"}, &plain, SK_RUNTIME_ONNX_CUDA},
        {{"mps", false, "onnx_cpu"}, &plain, SK_RUNTIME_ONNX_CPU},
        {{"mps", false, "onnx"}, &amd, SK_RUNTIME_ONNX_ROCM},
        {{"mps", false, "onnx_mps"}, &apple, SK_RUNTIME_ONNX_CPU},
        {{"mps", false, "cpu"}, &plain, SK_RUNTIME_MPS}, /* 3. then the device */
        {{"rocm", false, NULL}, &plain, SK_RUNTIME_ROCM},
        {{"cuda", false, NULL}, &plain, SK_RUNTIME_CUDA},
        {{"cuda:0", false, "native"}, &plain, SK_RUNTIME_CUDA},
        {{"gpu", false, NULL}, &plain, SK_RUNTIME_CUDA},
        {{"cpu", false, NULL}, &nvidia, SK_RUNTIME_CPU},
        {{"auto", false, "auto"}, &nvidia, SK_RUNTIME_TENSORRT}, /* 4. the first that is there */
        {{"auto", false, NULL}, &nvidia_bare, SK_RUNTIME_CUDA},
        {{"auto", false, NULL}, &apple, SK_RUNTIME_MPS},
        {{"auto", false, NULL}, &amd, SK_RUNTIME_ROCM},
        {{NULL, false, NULL}, &ort_only, SK_RUNTIME_ONNX_CPU},
        {{"auto", false, NULL}, &plain, SK_RUNTIME_CPU},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sk_runtime got = sk_runtime_from_legacy(&cases[i].legacy, cases[i].facts);
        if (got != cases[i].expected)
            fail_msg("case %zu: %s, not %s", i, sk_runtime_name(got), sk_runtime_name(cases[i].expected));
    }
}

static void test_tiers(void **state)
{
    (void)state;
    const struct {
        const char *tier;
        const sk_runtime_facts *facts;
        sk_runtime expected;
    } cases[] = {
        {"cpu", &nvidia, SK_RUNTIME_CPU},          {"gpu", &nvidia, SK_RUNTIME_CUDA},
        {"gpu", &apple, SK_RUNTIME_MPS},           {"gpu", &amd, SK_RUNTIME_ROCM},
        {"gpu", &plain, SK_RUNTIME_CUDA},          {"gpu_fast", &nvidia, SK_RUNTIME_TENSORRT},
        {"gpu_fast", &apple, SK_RUNTIME_MPS},      {"gpu_fast", &amd, SK_RUNTIME_ONNX_ROCM},
        {"gpu_fast", &plain, SK_RUNTIME_TENSORRT}, {"gpu_fast", &nvidia_bare, SK_RUNTIME_CUDA},
    };
    sk_runtime got;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(sk_runtime_from_tier(cases[i].tier, cases[i].facts, &got));
        assert_int_equal(got, cases[i].expected);
    }
    assert_false(sk_runtime_from_tier("warp", &nvidia, &got));
    assert_false(sk_runtime_from_tier(NULL, &nvidia, &got));
}

static void test_derived(void **state)
{
    (void)state;
    static const struct {
        sk_runtime runtime;
        const char *device;
        int onnx, tensorrt, background;
        const char *flavor, *sleap;
    } rows[] = {
        {SK_RUNTIME_CPU, "cpu", 0, 0, 0, "cpu", "cpu"},
        {SK_RUNTIME_MPS, "mps", 0, 0, 1, "mps", "mps"},
        {SK_RUNTIME_CUDA, "cuda:0", 0, 0, 1, "cuda", "cuda:0"},
        {SK_RUNTIME_ROCM, "cuda:0", 0, 0, 1, "rocm", "cuda:0"},
        {SK_RUNTIME_ONNX_CPU, "cpu", 1, 0, 0, "onnx_cpu", "cpu"},
        {SK_RUNTIME_ONNX_CUDA, "cuda:0", 1, 0, 1, "onnx_cuda", "cuda:0"},
        {SK_RUNTIME_ONNX_ROCM, "cuda:0", 1, 0, 1, "onnx_rocm", "cuda:0"},
        {SK_RUNTIME_TENSORRT, "cuda:0", 0, 1, 1, "tensorrt_cuda", "cuda:0"},
        {SK_RUNTIME_OPENVINO, "cpu", 0, 0, 0, "cpu", "cpu"},
    };
    assert_int_equal(sizeof rows / sizeof rows[0], SK_RUNTIME_COUNT);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sk_runtime_derived d = sk_runtime_derive(rows[i].runtime);
        assert_string_equal(d.yolo_device, rows[i].device);
        assert_int_equal(d.enable_onnx_runtime, rows[i].onnx);
        assert_int_equal(d.enable_tensorrt, rows[i].tensorrt);
        assert_int_equal(d.enable_gpu_background, rows[i].background);
        assert_string_equal(d.pose_runtime_flavor, rows[i].flavor);
        assert_string_equal(d.pose_sleap_device, rows[i].sleap);
    }
}

static sk_status import_text(const char *text, const char *extension, const sk_runtime_facts *facts,
                             sk_runtime_import *out, sk_error *err)
{
    char path[512];
    snprintf(path, sizeof path, "%s/config%s", test_folder(), extension);
    assert_ok(sk_file_replace(path, text, strlen(text), err), err);
    return sk_runtime_import_file(path, facts, out, err);
}

static void test_import_own_files(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runtime_import in;
    assert_ok(
        import_text("{\"compute_runtime\": \"trt\", \"yolo_device\": \"cpu\", \"runtime_tier\": \"cpu\"}",
                    ".json", &plain, &in, &err),
        &err);
    assert_int_equal(in.runtime, SK_RUNTIME_TENSORRT);
    assert_string_equal(in.key, "compute_runtime");
    assert_string_equal(in.value, "trt");
    assert_string_equal(in.note, "");
    assert_ok(import_text("{\"runtime_tier\": \"gpu_fast\", \"detection_method\": \"yolo_obb\", "
                          "\"enable_pose_extractor\": true, \"pose_model_type\": \"sleap\"}",
                          ".json", &nvidia, &in, &err),
              &err);
    assert_int_equal(in.runtime, SK_RUNTIME_TENSORRT);
    assert_string_equal(in.key, "runtime_tier");
    assert_int_equal(in.pipelines, 1u << SK_WORK_YOLO_OBB_DETECTION | 1u << SK_WORK_SLEAP_POSE);
    assert_ok(
        import_text("{\"yolo_device\": \"cuda:0\", \"enable_tensorrt\": false}", ".json", &plain, &in, &err),
        &err);
    assert_int_equal(in.runtime, SK_RUNTIME_CUDA);
    assert_string_equal(in.key, "yolo_device");
    assert_ok(
        import_text("{\"yolo_device\": \"cpu\", \"enable_tensorrt\": true}", ".json", &plain, &in, &err),
        &err);
    assert_int_equal(in.runtime, SK_RUNTIME_TENSORRT);
    assert_string_equal(in.key, "enable_tensorrt");
    assert_ok(import_text("{\"pred_runtime\": \"onnx_cpu\", \"pred_backend\": \"SLEAP\"}", ".json", &plain,
                          &in, &err),
              &err);
    assert_int_equal(in.runtime, SK_RUNTIME_ONNX_CPU);
    assert_int_equal(in.pipelines, 1u << SK_WORK_SLEAP_POSE);
    assert_ok(import_text("COMPUTE_RUNTIME: rocm\nYOLO_DEVICE: cuda:0\n", ".yaml", &plain, &in, &err), &err);
    assert_int_equal(in.runtime, SK_RUNTIME_ROCM);
    assert_ok(import_text("{\"compute_runtime\": \"onnx_coreml\"}", ".json", &plain, &in, &err), &err);
    assert_int_equal(in.runtime, SK_RUNTIME_CPU);
    assert_non_null(strstr(in.note, "'onnx_coreml'"));
}

static void test_import_refuses(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runtime_import in;
    assert_int_equal(import_text("{\"fps\": 30}", ".json", &plain, &in, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "nothing about the compute runtime"));
    assert_int_equal(import_text("[1, 2]", ".json", &plain, &in, &err), SK_ERR_FORMAT);
    assert_int_equal(import_text("{\"compute_runtime\": ", ".json", &plain, &in, &err), SK_ERR_FORMAT);
    assert_int_equal(import_text("{\"runtime_tier\": \"warp\"}", ".json", &plain, &in, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "gpu_fast"));
    assert_int_equal(sk_runtime_import_file(test_missing("x.json"), &plain, &in, &err), SK_ERR_NOT_FOUND);
}

static void test_import_real_files(void **state)
{
    (void)state;
    test_data_or_skip();
    static const struct {
        const char *name;
        uint32_t pipelines;
    } files[] = {
        {"ant_cnn_identity_marked", 0xff},
        {"ant_obb_sequential", 0xff},
        {"ant_pose_headtail", 1u << SK_WORK_YOLO_OBB_DETECTION | 1u << SK_WORK_SLEAP_POSE},
        {"emi_obb_identity", 0xff},
        {"fly_obb", 1u << SK_WORK_YOLO_OBB_DETECTION},
        {"worm_bgsub", 0},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char relative[128];
        sk_error err = {0};
        sk_runtime_import in;
        snprintf(relative, sizeof relative, "tracks/configs/%s.json", files[i].name);
        if (!sk_file_exists(test_data(relative)))
            skip();
        assert_ok(sk_runtime_import_file(test_data(relative), &plain, &in, &err), &err);
        assert_int_equal(in.runtime, SK_RUNTIME_MPS); /* all were made on a Mac */
        assert_string_equal(in.key, "compute_runtime");
        if (files[i].pipelines != 0xff)
            assert_int_equal(in.pipelines, files[i].pipelines);
        /* … so that on another machine the reset is announced */
        sk_runtime_gate gate;
        sk_runtime now;
        char notice[SK_RUNTIME_NOTICE];
        sk_runtime_gate_make(in.pipelines, &plain, &gate);
        assert_true(sk_runtime_reset(sk_runtime_name(in.runtime), &gate, &plain, &now, notice));
        assert_int_equal(now, SK_RUNTIME_CPU);
        assert_non_null(strstr(notice, "'mps' was reset to 'cpu'"));
    }
}

/* What is exported is read back as the same runtime: by the one key, and by the older ones alone. */
static void test_export_comes_back(void **state)
{
    (void)state;
    static const sk_runtime_facts facts = {0};
    char path[600], *json = NULL;
    sk_runtime_import in;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/export.json", test_folder());
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        static const char theirs[] = "{\"fps\": 30, \"yolo_device\": \"auto\"}";
        assert_ok(sk_file_replace(path, theirs, sizeof theirs - 1, &err), &err);
        assert_ok(sk_runtime_export_text((sk_runtime)i, path, &json, &err), &err);
        assert_non_null(strstr(json, "\"fps\": 30"));
        assert_ok(sk_file_replace(path, json, strlen(json), &err), &err);
        assert_ok(sk_runtime_import_file(path, &facts, &in, &err), &err);
        assert_int_equal(in.runtime, i);
        assert_string_equal(in.key, "compute_runtime");
        if (i == SK_RUNTIME_ROCM || i == SK_RUNTIME_OPENVINO) { /* older programs have no word for them */
            sk_free(json);
            continue;
        }
        static const char *const newer[] = {"compute_runtime", "pred_runtime", "runtime_tier"};
        for (int k = 0; k < 3; k++)
            *strstr(json, newer[k]) = '-';
        assert_ok(sk_file_replace(path, json, strlen(json), &err), &err);
        assert_ok(sk_runtime_import_file(path, &facts, &in, &err), &err);
        if ((int)in.runtime != i)
            fail_msg("%s came back as %s by %s", sk_runtime_name((sk_runtime)i), sk_runtime_name(in.runtime),
                     in.key);
        sk_free(json);
    }
    assert_ok(sk_file_replace(path, "[1]", 3, &err), &err);
    assert_int_equal(sk_runtime_export_text(SK_RUNTIME_CPU, path, &json, &err), SK_ERR_FORMAT);
}

/* Configurations may be of 16 MiB, to the byte; what is larger is none. */
static void test_the_largest(void **state)
{
    (void)state;
    enum { MOST = 16 << 20 };
    static const char begin[] = "{\"compute_runtime\": \"rocm\"";
    char path[600], *text = sk_malloc(MOST + 1), *out = NULL;
    assert_non_null(text);
    memset(text, ' ', MOST + 1);
    memcpy(text, begin, strlen(begin));
    text[MOST - 1] = '}';
    snprintf(path, sizeof path, "%s/largest.json", test_folder());
    for (int more = 0; more < 2; more++) {
        sk_error err = {0};
        sk_runtime_import in;
        assert_ok(sk_file_replace(path, text, (size_t)(MOST + more), &err), &err);
        const sk_status status = sk_runtime_import_file(path, &plain, &in, &err);
        assert_int_equal(status == SK_OK, !more);
        assert_int_equal(sk_runtime_export_text(SK_RUNTIME_CPU, path, &out, &err), status);
        assert_int_equal(out != NULL, !more);
        if (!more)
            assert_int_equal(in.runtime, SK_RUNTIME_ROCM);
        sk_free(out);
    }
    sk_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_keys),          cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_derived),           cmocka_unit_test(test_import_own_files),
        cmocka_unit_test(test_import_refuses),    cmocka_unit_test(test_import_real_files),
        cmocka_unit_test(test_export_comes_back), cmocka_unit_test(test_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
