/* SPDX-License-Identifier: Apache-2.0 */
/* All that ONNX Runtime is told in the life of a session, call by call, and what is said where it does not want to. */
#include "base/cpu.h"
#include "engines/ort/ort_api.h"
#include "summed.h"
#include "support/recorded.h"

typedef struct told {
    const char *name, *library, *engine, *options;
    int threads, device, cores, slots;
    sk_precision precision;
    bool cached;
    const char *variable; /* set to "1" for the library */
    int fails_at;         /* from the first call on, the library's loading included */
} told;

static const char *log_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/told", test_folder());
    return path;
}

static void write_down(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_down(const char *format, ...)
{
    FILE *file = fopen(log_path(), "a");
    va_list args;
    assert_non_null(file);
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

/* Messages name what is this machine's: folders of the build and the test's own are cut out. */
static void without_folders(char *text)
{
    const char *build = getenv("SKITTER_TEST_BUILD");
    const char *folders[] = {build ? build : ".", test_folder()};
    char *cuda = strstr(text, " This machine has CUDA"), *rest = cuda ? strstr(cuda, "'s.") : NULL;
    if (rest) /* what there is of it here */
        memmove(cuda, rest + 3, strlen(rest + 3) + 1);
    for (int i = 0; i < 2; i++)
        for (char *at; strlen(folders[i]) > 1 && (at = strstr(text, folders[i]));) {
            char *end = at + strlen(folders[i]);
            memmove(at, end, strlen(end) + 1);
        }
}

static void use_and_tell(const void *context)
{
    const told *t = context;
    const int32_t cores[] = {4, 6, 9};
    sk_error err = {0};
    sk_session_info about = {0};
    sk_graph *g = summed_graph();
    sk_session_settings s = summed_settings(t->options);
    char library[64], cache[4200];
    s.threads = t->threads;
    s.device = t->device;
    s.slots = t->slots ? t->slots : 2;
    s.precision = t->precision ? t->precision : SK_PRECISION_F32;
    s.cores = t->cores ? cores : NULL;
    s.core_count = t->cores;
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    s.cache_dir = t->cached ? cache : "";
    setenv("FAKE_ORT_LOG", log_path(), 1);
    if (t->variable)
        setenv(t->variable, "1", 1);
    summed_library(NULL, "fake_cuda", RTLD_NOW | RTLD_GLOBAL);
    snprintf(library, sizeof library, "fake_ort_%s", t->library);
    void *loaded = summed_library("SKITTER_ONNXRUNTIME", library, RTLD_NOW);
    *(int *)dlsym(loaded, "fake_ort_fails_at") = t->fails_at;
    const sk_status status = summed_use(t->engine, &s, g, &about, &err);
    without_folders(err.message);
    write_down("%d: %s\n", (int)status, status == SK_OK ? about.detail : err.message);
    if (about.elsewhere[0])
        write_down("elsewhere: %s\n", about.elsewhere);
    write_down("statuses left %d\n", *(int *)dlsym(loaded, "fake_ort_statuses"));
    sk_graph_close(&g);
}

static void say_log(const char *name, bool all_cores)
{
    char line[2048];
    FILE *file = fopen(log_path(), "r");
    assert_non_null(file);
    recorded_say("%s", name);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        without_folders(line);
        int threads = 0;
        if (all_cores && sscanf(line, "threads %d", &threads) == 1 && threads == sk_cpu_usable_cores())
            snprintf(line, sizeof line, "threads, as many as there are cores");
        recorded_say("  %s", line);
    }
    fclose(file);
    remove(log_path());
}

static void in_the_life_of_a_session(void **state)
{
    (void)state;
    static const told all[] = {
        {.name = "processor", .library = "device", .engine = "onnx_cpu", .options = "", .threads = 1},
        {.name = "bound to cores",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 5,
         .cores = 3},
        {.name = "two, bound",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 2,
         .cores = 1},
        {.name = "one is not bound",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 1,
         .cores = 1},
        {.name = "bf16, which it is not for",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 1,
         .precision = SK_PRECISION_BF16},
        {.name = "tf32 on the processor",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 1,
         .precision = SK_PRECISION_TF32},
        {.name = "cuda",
         .library = "device",
         .engine = "onnx_cuda",
         .options = "",
         .threads = 1,
         .device = 2},
        {.name = "tf32",
         .library = "device",
         .engine = "onnx_cuda",
         .options = "cuda_graph=off,conv_search=default",
         .threads = 1,
         .slots = 3,
         .precision = SK_PRECISION_TF32},
        {.name = "f16, limited",
         .library = "device",
         .engine = "onnx_cuda",
         .options = "memory_limit=3",
         .threads = 1,
         .precision = SK_PRECISION_F16},
        {.name = "tensorrt, cached",
         .library = "device",
         .engine = "onnx_cuda",
         .options = "provider=TensorRT",
         .threads = 1,
         .precision = SK_PRECISION_F16,
         .cached = true},
        {.name = "migraphx",
         .library = "device",
         .engine = "onnx_rocm",
         .options = "",
         .threads = 1,
         .device = 1,
         .precision = SK_PRECISION_F16},
        {.name = "rocm",
         .library = "device",
         .engine = "onnx_rocm",
         .options = "provider=rocm",
         .threads = 1},
        {.name = "migraphx, older",
         .library = "older",
         .engine = "onnx_rocm",
         .options = "",
         .threads = 1,
         .device = 3},
        {.name = "rocm, older",
         .library = "older",
         .engine = "onnx_rocm",
         .options = "provider=ROCm",
         .threads = 1,
         .device = 3},
        {.name = "openvino",
         .library = "older",
         .engine = "onnx_cpu",
         .options = "provider=OpenVINO",
         .threads = 1},
        {.name = "openvino, all threads",
         .library = "older",
         .engine = "onnx_cpu",
         .options = "provider=OpenVINO"},
        {.name = "coreml",
         .library = "older",
         .engine = "onnx_cpu",
         .options = "provider=CoreML",
         .threads = 1},
        {.name = "nothing there",
         .library = "device",
         .engine = "onnx_rocm",
         .options = "",
         .threads = 1,
         .variable = "FAKE_ORT_NOTHING_THERE"},
        {.name = "nothing there, processor",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 1,
         .variable = "FAKE_ORT_NOTHING_THERE"},
        {.name = "providers are not told",
         .library = "device",
         .engine = "onnx_cuda",
         .options = "",
         .threads = 1,
         .fails_at = 1},
        {.name = "nor to the processor's",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 1,
         .fails_at = 1},
        {.name = "their list does not end",
         .library = "device",
         .engine = "onnx_cpu",
         .options = "",
         .threads = 1,
         .fails_at = 2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        summed_apart(use_and_tell, &all[i], all[i].name);
        say_log(all[i].name, all[i].threads == 0);
    }
    recorded_check("tests/fixtures/engines/ort_told.txt");
}

/* A model of which a part cannot be in a CUDA graph is opened without one; whatever else fails with one fails. */
static void capture_in_turn(const void *context)
{
    (void)context;
    sk_error err = {0};
    sk_graph *g = summed_graph();
    const sk_session_settings s = summed_settings("");
    summed_library(NULL, "fake_cuda", RTLD_NOW | RTLD_GLOBAL);
    void *library = summed_library("SKITTER_ONNXRUNTIME", "fake_ort_device", RTLD_NOW);
    int *calls = dlsym(library, "fake_ort_calls"), *fails_at = dlsym(library, "fake_ort_fails_at"),
        *statuses = dlsym(library, "fake_ort_statuses");
    assert_ok(summed_use("onnx_cuda", &s, g, NULL, &err), &err);
    for (int captures = 0; captures < 2; captures++) {
        setenv("FAKE_ORT_SAYS", captures ? "no graph capture of node 3" : "no", 1);
        for (int n = 1; n < 40; n++) {
            sk_session_info about = {0};
            *calls = 0;
            *fails_at = n;
            const sk_status status = summed_use("onnx_cuda", &s, g, &about, &err);
            write_down("%d of %d: %d %s\n", n, *calls, (int)status,
                       status == SK_OK ? about.detail : err.message);
            assert_int_equal(*statuses, 0);
        }
    }
    sk_graph_close(&g);
}

static void what_cannot_be_captured(void **state)
{
    (void)state;
    summed_apart(capture_in_turn, NULL, "captured");
    say_log("captured", false);
    recorded_check("tests/fixtures/engines/ort_captured.txt");
}

/* --- versions --- */

static void ask_version(const void *context)
{
    sk_error err = {0};
    const ort_api *api = NULL;
    setenv("FAKE_ORT_VERSION", context, 1);
    summed_library("SKITTER_ONNXRUNTIME", "fake_ort_device", RTLD_NOW);
    const sk_status status = ort_load(&api, &err);
    without_folders(err.message);
    write_down("%s: %d %s\n", (const char *)context, (int)status,
               status == SK_OK ? api->providers : err.message);
    if (status == SK_OK)
        assert_string_equal(api->version, context);
    assert_true((status == SK_OK) == (api != NULL));
}

static void versions(void **state)
{
    (void)state;
    static const char *const all[] = {"0.99.9", "1.4.0", "1.16.3", "1.17.0", "1.18", "2.0.0", "nightly"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        summed_apart(ask_version, all[i], all[i]);
    say_log("versions", false);
    recorded_check("tests/fixtures/engines/ort_versions.txt");
}

/* --- trying it --- */

/* What has worked is not tried again in this process; what has not is. */
static void probe_again(const void *context)
{
    sk_error err = {0};
    sk_engine_probe probe = {0};
    const sk_engine *engine = sk_engine_find(context);
    summed_library(NULL, "fake_cuda", RTLD_NOW | RTLD_GLOBAL);
    void *library = summed_library("SKITTER_ONNXRUNTIME", "fake_ort_device", RTLD_NOW);
    int *calls = dlsym(library, "fake_ort_calls"), *fails_at = dlsym(library, "fake_ort_fails_at");
    *fails_at = 6;
    assert_ok(engine->probe(&probe, &err), &err);
    assert_false(probe.available);
    assert_true(strstr(probe.detail, "the fake does not want to") && probe.n_devices == 0);
    assert_string_equal(probe.version, "1.25.0");
    *fails_at = 0;
    for (int i = 0; i < 2; i++) {
        *calls = 0;
        assert_ok(engine->probe(&probe, &err), &err);
        assert_true(probe.available && probe.n_devices == 1);
        assert_non_null(strstr(probe.detail, "fake_ort_device.so"));
        assert_int_equal(probe.devices[0].precisions, engine->can.precisions);
        assert_true(i == 0 ? *calls > 6 : *calls == 0);
        const bool device = strcmp(context, "onnx_cpu") != 0;
        if (device)
            write_down("%s\n", probe.devices[0].name);
        assert_true((strncmp(probe.devices[0].name, "device 0, ", 10) == 0) == device);
    }
}

static void tried_once(void **state)
{
    (void)state;
    static const char *const engines[] = {"onnx_cpu", "onnx_cuda", "onnx_rocm"};
    for (int i = 0; i < 3; i++)
        summed_apart(probe_again, engines[i], engines[i]);
    say_log("tried", false);
    recorded_check("tests/fixtures/engines/ort_tried.txt");
}

/* --- libraries that the provider lacks --- */

static void lack_one(const void *context)
{
    sk_error err = {0};
    sk_graph *g = summed_graph();
    const sk_session_settings s = summed_settings("");
    setenv("FAKE_ORT_LOG", log_path(), 1);
    setenv("SKITTER_ONNXRUNTIME", context, 1);
    summed_library(NULL, "fake_cuda", RTLD_NOW | RTLD_GLOBAL);
    const sk_status status = summed_use("onnx_cuda", &s, g, NULL, &err);
    without_folders(err.message);
    write_down("%d: %s\n", (int)status, err.message);
    sk_graph_close(&g);
}

/* They are taken from packages beside ONNX Runtime's own; one that is there and is not what was wanted is tried once. */
static void libraries_beside_it(void **state)
{
    (void)state;
    const char *build = getenv("SKITTER_TEST_BUILD");
    char home[3000], command[9000];
    snprintf(home, sizeof home, "%s/env", test_folder());
    snprintf(command, sizeof command,
             "p='%s/lib/python3.9/site-packages'; b='%s/tests' && mkdir -p \"$p/onnxruntime/capi\" && "
             "cp \"$b/fake_ort_lacks.so\" \"$p/onnxruntime/capi/libonnxruntime.so.1.25.0\"",
             home, build ? build : ".");
    assert_int_equal(system(command), 0);
    summed_apart(lack_one, home, "without");
    say_log("no such package", false);
    snprintf(
        command, sizeof command,
        "p='%s/lib/python3.9/site-packages/nvidia'; b='%s/tests' && mkdir -p \"$p/a/lib\" \"$p/b/lib\" && "
        "echo text >\"$p/a/lib/libcublasLt.so.12\"",
        home, build ? build : ".");
    assert_int_equal(system(command), 0);
    summed_apart(lack_one, home, "broken");
    say_log("not a library", false);
    snprintf(
        command, sizeof command,
        "cp '%s/tests/fake_ort_empty.so' '%s/lib/python3.9/site-packages/nvidia/b/lib/libcublasLt.so.12'",
        build ? build : ".", home);
    assert_int_equal(system(command), 0);
    summed_apart(lack_one, home, "with");
    say_log("another", false);
    recorded_check("tests/fixtures/engines/ort_lacks.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_life_of_a_session),
                                       cmocka_unit_test(what_cannot_be_captured), cmocka_unit_test(versions),
                                       cmocka_unit_test(tried_once),

                                       cmocka_unit_test(libraries_beside_it)};
    log_path(); /* the folder is this process's, not its children's */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
