/* SPDX-License-Identifier: Apache-2.0 */
#define FOREIGN_ENGINE "onnx_cpu"
#include "foreign_checks.h"

/* ONNX Runtime through its function table; and libraries that are not ONNX Runtime, or not one that works. */

#define VARIABLE "SKITTER_ONNXRUNTIME"

static const char *fake(const char *kind)
{
    static char path[4096];
    const char *build = getenv("SKITTER_TEST_BUILD");
    snprintf(path, sizeof path, "%s/tests/fake_ort_%s.so", build ? build : ".", kind);
    return path;
}

static void test_wrong_libraries(void **state)
{
    (void)state;
    refuses(VARIABLE, "/nowhere/libonnxruntime.so", "no such file");
    refuses(VARIABLE, test_folder(), "pip install onnxruntime");
    refuses(VARIABLE, test_source("VERSION"), "could not be loaded");
    refuses(VARIABLE, fake("empty"), "no OrtGetApiBase");
    refuses(VARIABLE, fake("no_base"), "gives nothing");
    refuses(VARIABLE, fake("no_table"), "no interface of version 17");
    refuses(VARIABLE, fake("old"), "1.4.0 is too old");
    refuses(VARIABLE, fake("refuses"), "the fake does not want to");
    refuses(VARIABLE, fake("holes"), "function 2 of ONNX Runtime 1.25.0 is missing");
}

/* A library that answers every call with success is found out by the sums. */
static void test_idle_library(void **state)
{
    (void)state;
    refuses(VARIABLE, fake("idle"), "gave 0 where 4.5 is right");
}

/* The library is found in a folder that was named, below a Python environment's package. */
static void test_folder_search(void **state)
{
    (void)state;
    char folder[3000], command[8000];
    snprintf(folder, sizeof folder, "%s/env", test_folder());
    snprintf(command, sizeof command,
             "p='%s/lib/python3.9/site-packages/onnxruntime/capi' && mkdir -p \"$p\" && "
             "cp '%s' \"$p/libonnxruntime.so.1.25.0\"",
             folder, fake("old"));
    assert_int_equal(system(command), 0);
    refuses(VARIABLE, folder, "libonnxruntime.so.1.25.0: ONNX Runtime 1.4.0 is too old");
}

/* --- providers, on a library that writes down how it is asked --- */

typedef struct ask {
    const char *engine, *provider;
    int device;
    bool old;
    const char *log;       /* what must stand in the log */
    const char *elsewhere; /* … and in the session's own words */
    sk_status status;      /* or how opening fails, and … */
    const char *reason;    /* … why */
} ask;

/* In a process of its own: 0 = as expected. */
static int ask_library(const ask *a, const char *log_path)
{
    sk_error err = {0};
    sk_session *s = NULL;
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    char text[4096] = "";
    sk_session_settings settings = foreign_settings(1);
    if (a->provider)
        snprintf(settings.options, sizeof settings.options, "provider=%s", a->provider);
    settings.device = a->device;
    setenv(VARIABLE, fake("provides"), 1);
    setenv("FAKE_ORT_LOG", log_path, 1);
    if (a->old)
        setenv("FAKE_ORT_OLD", "1", 1);
    sk_status status = sk_session_open(sk_engine_find(a->engine), g, &shape, 1, &settings, &s, &err);
    FILE *file = fopen(log_path, "r");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[got] = '\0';
    if (file)
        fclose(file);
    int wrong = status != a->status;
    if (status == SK_OK)
        wrong = wrong || strcmp(sk_session_about(s)->elsewhere, a->elsewhere) != 0;
    else
        wrong = wrong || !strstr(err.message, a->reason);
    wrong = wrong || (a->log && !strstr(text, a->log));
    if (wrong)
        fprintf(stderr, "%s %s: %d '%s' log '%s' elsewhere '%s'\n", a->engine,
                a->provider ? a->provider : "-", status, err.message, text,
                s ? sk_session_about(s)->elsewhere : "");
    sk_session_close(&s);
    sk_graph_close(&g);
    return wrong;
}

static void test_providers(void **state)
{
    (void)state;
#define FELL "CPUExecutionProvider runs 3 of 10 nodes: Resize x2, TopK x1"
    static const ask asks[] = {
        {"onnx_cpu", NULL, 0, false, NULL, "", SK_OK, NULL},
        {"onnx_cpu", "CPUExecutionProvider", 0, false, NULL, "", SK_OK, NULL},
        {"onnx_cuda", NULL, 1, false, "options device_id=1 cudnn_conv_use_max_workspace=1 use_tf32=0\nCUDA\n",
         FELL, SK_OK, NULL},
        {"onnx_cuda", "cuda", 0, true, "options device_id=0 cudnn_conv_use_max_workspace=1\nCUDA\n", FELL,
         SK_OK, NULL},
        {"onnx_cuda", "TensorRT", 0, false,
         "options device_id=0 trt_fp16_enable=0 trt_engine_cache_enable=0 "
         "trt_timing_cache_enable=0\nTensorRT\n",
         FELL, SK_OK, NULL},
        {"onnx_rocm", NULL, 2, false, "MIGraphX device_id=2", FELL, SK_OK, NULL},
        {"onnx_rocm", "ROCm", 0, false, "ROCM device_id=0", FELL, SK_OK, NULL},
        {"onnx_cpu", "CUDA", 0, false, NULL, NULL, SK_ERR_ARG, "belongs to the compute runtime 'onnx_cuda'"},
        {"onnx_cpu", "Warp", 0, false, NULL, NULL, SK_ERR_ARG, "no execution provider is called 'Warp'"},
        {"onnx_cpu", "OpenVINO", 0, false, NULL, NULL, SK_ERR_UNSUPPORTED,
         "pip install onnxruntime-openvino"},
        {"onnx_cpu", "CoreML", 0, false, NULL, NULL, SK_ERR_UNSUPPORTED, "only Macs have"},
        {"cpu", "CPU", 0, false, NULL, NULL, SK_ERR_ARG, "the engine 'cpu' has no option 'provider'"},
    };
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        char log_path[4096];
        snprintf(log_path, sizeof log_path, "%s/asked%zu", test_folder(), i);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(ask_library(&asks[i], log_path));
        int ended = -1;
        assert_int_equal(waitpid(child, &ended, 0), child);
        if (ended != 0)
            fail_msg("question %zu was answered wrongly", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_libraries),
        cmocka_unit_test(test_idle_library),
        cmocka_unit_test(test_folder_search),
        cmocka_unit_test(test_providers), /* before a library is loaded here */
        cmocka_unit_test(test_refused_settings),
        cmocka_unit_test(test_named_graph),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_out_of_memory),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
