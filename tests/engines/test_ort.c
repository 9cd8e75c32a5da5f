/* SPDX-License-Identifier: Apache-2.0 */
#define FOREIGN_ENGINE  "onnx_cpu"
#define FOREIGN_REFUSES SK_PRECISION_I8
#include "foreign_checks.h"
#include "engines/foreign/foreign.h"
#include "engines/ort/ort_explain.h"
#include "engines/ort/ort_preload.h"
#include "formats/onnx.h"
#include "graph/builder.h"

#include <dlfcn.h>
#include <sys/stat.h>

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
    char pipe[4200];
    snprintf(pipe, sizeof pipe, "%s/pipe", test_folder());
    assert_int_equal(mkfifo(pipe, 0600), 0);
    refuses(VARIABLE, pipe, "neither a file nor a folder");
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

/* From here on "libcuda.so.1" is the stand-in, for this process and its children. */
static void take_fake_driver(void)
{
    char path[4096];
    const char *build = getenv("SKITTER_TEST_BUILD");
    snprintf(path, sizeof path, "%s/tests/fake_cuda.so", build ? build : ".");
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        fail_msg("%s", dlerror());
}

/* In a process of its own: 0 = as expected. */
static int ask_library_at(const ask *a, const char *library, const char *log_path)
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
    setenv(VARIABLE, library, 1);
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
        {"onnx_cuda", NULL, 1, false,
         "options device_id=1 cudnn_conv_use_max_workspace=1 cudnn_conv_algo_search=EXHAUSTIVE "
         "enable_cuda_graph=1 use_tf32=0\nvalue user_compute_stream=4096\nCUDA\n",
         FELL, SK_OK, NULL},
        {"onnx_cuda", "cuda", 0, true,
         "options device_id=0 cudnn_conv_use_max_workspace=1 cudnn_conv_algo_search=EXHAUSTIVE "
         "enable_cuda_graph=1\nvalue user_compute_stream=4096\nCUDA\n",
         FELL, SK_OK, NULL},
        {"onnx_cuda", "CUDA,cuda_graph=off,conv_search=heuristic,memory_limit=2", 0, false,
         "options device_id=0 cudnn_conv_use_max_workspace=1 cudnn_conv_algo_search=HEURISTIC "
         "gpu_mem_limit=2097152 use_tf32=0\nvalue user_compute_stream=4096\nCUDA\n",
         FELL, SK_OK, NULL},
        {"onnx_cuda", NULL, 8, false, NULL, NULL, SK_ERR_RUNTIME, "invalid device ordinal"},
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
            _exit(ask_library_at(&asks[i], fake("provides"), log_path));
        int ended = -1;
        assert_int_equal(waitpid(child, &ended, 0), child);
        if (ended != 0)
            fail_msg("question %zu was answered wrongly", i);
    }
}

/* What is bound lies where the provider computes, or is bound for each run: what a device copied from the host at open is
 * not what is there when it runs. */
static void test_devices(void **state)
{
    (void)state;
    static const char *const engines[] = {"onnx_cuda", "onnx_rocm"};
    for (int e = 0; e < 2; e++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            sk_engine_probe probe = {0};
            sk_error err = {0};
            setenv(VARIABLE, fake("device"), 1);
            sk_status status = sk_engine_find(engines[e])->probe(&probe, &err);
            if (status != SK_OK || !probe.available)
                fprintf(stderr, "%s: %s\n", engines[e], probe.detail);
            _exit(status != SK_OK || !probe.available);
        }
        int ended = -1;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
    }
}

/* Several in flight: each slot has ends of its own, and gives its own sums. */
static int run_slots(void)
{
    sk_error err = {0};
    sk_session *s = NULL;
    sk_graph *g = NULL;
    sk_shape shape = sk_shape_of(4, 1, 1, 4, 4), w = sk_shape_of(4, 1, 1, 3, 3), one = sk_shape_of(1, 1);
    float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, half = 0.5f, x[3][16];
    sk_window window = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0};
    sk_builder b;
    setenv(VARIABLE, fake("device"), 1);
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    sk_value in = sk_b_input(&b, "x", SK_DTYPE_F32, &shape);
    sk_value weights = sk_b_constant(&b, "w", SK_DTYPE_F32, &w, ones);
    sk_value bias = sk_b_constant(&b, "b", SK_DTYPE_F32, &one, &half);
    sk_b_output(&b, sk_b_conv(&b, in, weights, bias, &window, 1, "conv"), "y");
    sk_session_settings settings = foreign_settings(1);
    settings.slots = 3;
    assert_ok(sk_session_open(sk_engine_find("onnx_cuda"), g, &shape, 1, &settings, &s, &err), &err);
    int wrong = !sk_session_about(s)->asynchronous || !strstr(sk_session_about(s)->detail, "CUDA graph");
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 16; i++)
            x[k][i] = (float)(k + 1);
        sk_session_input input = {.data = x[k]};
        assert_ok(sk_session_submit(s, &input, 1, &err), &err);
    }
    for (int k = 0; k < 3; k++) {
        sk_tensor y;
        assert_ok(sk_session_wait(s, &y, 1, &err), &err);
        wrong += ((const float *)y.data)[0] != 4.0f * (float)(k + 1) + 0.5f;
        sk_session_times times = {0};
        assert_ok(sk_session_get_times(s, &times, &err), &err);
        wrong += !(times.upload > 0.0019 && times.network > 0.0019 && times.download < 0.0021);
    }
    sk_session_close(&s);
    sk_graph_close(&g);
    return wrong;
}

static void test_slots_on_a_device(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run_slots());
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

/* A graph without a file in f16: float16 inside, float32 at the ends. */
static void test_halves(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape), *fixed = NULL;
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    int32_t halves = 0;
    assert_ok(sk_graph_specialise(g, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_foreign_onnx(fixed, SK_PRECISION_F16, &bytes, &length, &err), &err);
    assert_ok(sk_onnx_read(bytes, length, "half", NULL, &onnx, &err), &err);
    const sk_onnx_graph *o = &onnx->graph;
    assert_int_equal(o->inputs[0].dtype, SK_DTYPE_F32);
    for (int32_t i = 0; i < o->n_outputs; i++)
        assert_int_equal(o->outputs[i].dtype, SK_DTYPE_F32);
    for (int32_t i = 0; i < o->n_initializers; i++)
        halves += o->initializers[i].dtype == SK_DTYPE_F16;
    assert_true(halves > 0);
    assert_string_equal(o->nodes[0].op, "Cast");
    assert_string_equal(o->nodes[o->n_nodes - 1].op, "Cast");
    sk_onnx_close(&onnx);
    sk_free(bytes);
    sk_graph_close(&fixed);
    sk_graph_close(&g);
}

/* … and the library runs it. */
static void test_halves_run(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    float *x = foreign_input(&shape, 4);
    sk_error err = {0};
    sk_session *sessions[2];
    sk_tensor outputs[2][8];
    const sk_session_input in = {.data = x};
    for (int k = 0; k < 2; k++) {
        sk_session_settings s = foreign_settings(1);
        s.precision = k ? SK_PRECISION_F16 : SK_PRECISION_F32;
        sessions[k] = foreign_open(FOREIGN_ENGINE, g, &shape, &s);
        assert_ok(sk_session_run(sessions[k], &in, 1, outputs[k], 8, &err), &err);
    }
    double sum = 0, off = 0;
    for (int64_t i = 0; i < sk_shape_count(&outputs[0][0].shape); i++) {
        const double a = (double)((const float *)outputs[0][0].data)[i],
                     b = (double)((const float *)outputs[1][0].data)[i];
        sum += a * a;
        off += (a - b) * (a - b);
    }
    if (!(off > 0 && sqrt(off) < 0.01 * sqrt(sum))) /* another precision, and no other network */
        fail_msg("differs by %g of %g", sqrt(off), sqrt(sum));
    for (int k = 0; k < 2; k++)
        sk_session_close(&sessions[k]);
    free(x);
    sk_graph_close(&g);
}

/* Rows that several turn into floats are those that one does. */
static void test_shared_unpacking(void **state)
{
    (void)state;
    enum { N = 3, H = 17, W = 20, C = 3 };
    static uint8_t bytes[N * H * W * C];
    static float whole[N * C * H * W], shared[N * C * H * W];
    sk_session_settings s = sk_session_defaults();
    const sk_shape shape = sk_shape_of(4, N, C, H, W);
    const sk_session_input input = {.data = bytes};
    random_source r = {8};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_next(&r);
    s.mean[1] = 0.25f;
    s.std[2] = 0.5f;
    sk_input_unpack_u8(&input, &s, &shape, whole);
    memset(shared, 0xff, sizeof shared);
    for (int64_t at = 0; at < N * H; at += 10)
        sk_input_unpack_u8_rows(&input, &s, &shape, at, at + 10 < N * H ? at + 10 : N * H, shared);
    assert_memory_equal(whole, shared, sizeof whole);
    for (int k = 0; k < C; k++) /* the first pixel of the second picture */
        assert_true(fabsf(whole[((C + k) * H) * W] -
                          ((float)bytes[H * W * C + k] * (1.0f / 255) - s.mean[k]) / s.std[k]) < 1e-6f);
}

/* Texts as glibc's loader, CUDA, cuDNN and ONNX Runtime write them, and the words that must be in what a person reads. */
static void test_wrong_combinations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int cuda_here;
        const char *words[4];
    } cases[] = {
        {"Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open "
         "shared object file: No such file or directory",
         13,
         {"cuBLAS of CUDA 12", "This machine has CUDA 13: the wheel is CUDA 12's", "pip install",
          "libcublasLt.so.12"}},
        {"Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open "
         "shared object file: No such file or directory",
         0,
         {"cuBLAS of CUDA 13", "pip install", "libcublasLt.so.13", "ldconfig"}},
        {"libcudnn.so.9: cannot open shared object file: No such file or directory",
         13,
         {"cuDNN 9", "libcudnn.so.9 is not on this machine", "[cuda,cudnn]", "pip"}},
        {"Failed to load library libonnxruntime_providers_cuda.so with error: "
         "libonnxruntime_providers_cuda.so: cannot open shared object file: No such file or directory",
         13,
         {"for processors", "pip uninstall onnxruntime", "onnxruntime-gpu", "no CUDA provider"}},
        {"libcuda.so.1: cannot open shared object file: No such file or directory",
         0,
         {"driver", "libcuda.so.1", "container", "install"}},
        {"/x/libonnxruntime_providers_cuda.so: undefined symbol: cudnnBackendPopulateCudaGraph, version "
         "libcudnn_graph.so.9",
         13,
         {"cuDNN", "another version", "cudnnBackendPopulateCudaGraph", "LD_LIBRARY_PATH"}},
        {"/usr/lib/libcublas.so.13: version `libcublasLt.so.13' not found (required by libcublas.so.13)",
         13,
         {"cuBLAS of CUDA 13", "another version", "pip install", "LD_LIBRARY_PATH"}},
        {"/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
         0,
         {"GLIBC_2.38", "newer system", "older onnxruntime-gpu", "ONNX Runtime"}},
        {"CUDNN failure 1002: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH ; GPU=0",
         13,
         {"two versions of cuDNN", "mixed", "LD_LIBRARY_PATH", "pip"}},
        {"CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=-1",
         13,
         {"driver is older", "nvidia-smi", "update", "onnxruntime-gpu"}},
        {"CUDA failure 209: no kernel image is available for execution on the device",
         13,
         {"no code for this GPU", "onnxruntime-gpu", "runtime cuda", "version"}},
    };
    char meaning[1024];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(ort_explain(cases[i].text, cases[i].cuda_here, meaning, sizeof meaning));
        for (int k = 0; k < 4; k++)
            if (!strstr(meaning, cases[i].words[k]))
                fail_msg("'%s' is not in: %s", cases[i].words[k], meaning);
    }
    assert_null(strstr(meaning, "This machine has")); /* where it is not about CUDA's version */
    assert_false(ort_explain("the model was refused: node 5 has no kernel", 13, meaning, sizeof meaning));
    assert_false(ort_explain("", 13, meaning, sizeof meaning));
}

static void test_a_library_is_missing(void **state)
{
    (void)state;
    char name[64];
    assert_true(ort_missing_library("error: libcudnn.so.9: cannot open shared object file: No such file",
                                    name, sizeof name));
    assert_string_equal(name, "libcudnn.so.9");
    assert_false(ort_missing_library("some other failure", name, sizeof name));
    assert_false(ort_missing_library(": cannot open shared object file", name, sizeof name));
    assert_false(ort_missing_library("libcudnn.so.9: cannot open shared object file", name, 4));
    const ask a = {"onnx_cuda",
                   NULL,
                   0,
                   false,
                   NULL,
                   NULL,
                   SK_ERR_UNSUPPORTED,
                   "was built for cuBLAS of CUDA 12: libcublasLt.so.12 is not on this machine"};
    char log_path[4096];
    snprintf(log_path, sizeof log_path, "%s/lacks", test_folder());
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(ask_library_at(&a, fake("lacks"), log_path));
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_libraries),
        cmocka_unit_test(test_idle_library),
        cmocka_unit_test(test_folder_search),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_slots_on_a_device),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_shared_unpacking),
        cmocka_unit_test(test_wrong_combinations),
        cmocka_unit_test(test_a_library_is_missing),
        cmocka_unit_test(test_providers), /* before a library is loaded here */
        cmocka_unit_test(test_refused_settings),
        cmocka_unit_test(test_named_graph),
        cmocka_unit_test(test_halves_run),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_out_of_memory),

    };
    take_fake_driver();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
