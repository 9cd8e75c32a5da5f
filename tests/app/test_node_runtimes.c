/* SPDX-License-Identifier: Apache-2.0 */
/* A robot's node on runtimes that this machine need not have: libraries that stand in for OpenVINO and ONNX Runtime, and GPUs of loops.
 * What its parameters say of runtime, provider and device reaches them; a device that is lost, and a pipeline that has ended. */
#include "node_fixture.h"

#include "app/runtimes.h"
#include "base/file.h"
#include "base/memory.h"
#include "skitter/log.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char openvino[4200];

/* What a node says whose settings are these; its core, or null where it cannot be opened. */
static sk_node_core *opened(const char *const *set)
{
    sk_node_core *core = NULL;
    sk_node_settings *s = node_settings("Detect");
    err = (sk_error){0};
    for (int i = 0; set[i]; i += 2)
        assert_ok(sk_node_settings_set(s, set[i], set[i + 1], &err), &err);
    const sk_status status = sk_node_core_open(s, &core, &err);
    assert_true((core != NULL) == (status == SK_OK));
    sk_node_settings_close(&s);
    return core;
}
#define OPENED(...) opened((const char *const[]){__VA_ARGS__, NULL})

static void refused_with(sk_node_core *core, const char *words)
{
    if (core || !strstr(err.message, words))
        fail_msg("%s, and not %s", core ? "it opens" : err.message, words);
}

/* --- words on their way --- */

static void providers(void **state)
{
    (void)state;
    static const char without[] = "was built without the OpenVINO provider";
    refused_with(OPENED("execution_provider", "OpenVINOExecutionProvider"), without);
    refused_with(OPENED("compute_runtime", "onnx_cpu", "execution_provider", "OpenVINOExecutionProvider"),
                 without);
    sk_node_core *core = OPENED("compute_runtime", "onnx_cpu", "execution_provider", "CPUExecutionProvider");
    if (!core)
        assert_null(strstr(err.message, "OpenVINO"));
    sk_node_core_close(&core);
    refused_with(
        OPENED("compute_runtime", "mps"),
        "the compute runtime 'mps' (compute_runtime) cannot be used here: YOLO, boxes: Apple machines "
        "only\n'skitter doctor' says what would help; compute_runtime:=cpu works everywhere");
}

static void devices(void **state)
{
    (void)state;
    const char *compiled = dlsym(dlopen(openvino, RTLD_NOW), "fake_ov_compiled");
    assert_non_null(compiled);
    /* OpenVINO's own words */
    sk_node_core *core = OPENED("compute_runtime", "openvino", "device", "GPU");
    sk_node_core_close(&core);
    assert_int_equal(strncmp(compiled, "GPU ", 4), 0);
    core = OPENED("compute_runtime", "openvino");
    sk_node_core_close(&core);
    assert_int_equal(strncmp(compiled, "GPU ", 4) == 0, 0);
    refused_with(OPENED("compute_runtime", "openvino", "device", "GPU,hint=foo"), "cannot have hint=foo");
    /* numbers of GPUs, skitter's words, and nothing */
    static const char *const rows[][2] = {
        {"", "cuda"}, {"0", "cuda:0"}, {"1", "cuda:1"}, {"cuda:1", "cuda:1"}, {"cuda:2", "cuda:2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_device_stats device = SK_DEVICE_STATS_INIT;
        core = OPENED("compute_runtime", "cuda", "device", rows[i][0], "use_compile", "false");
        if (!core)
            fail_msg("%s: %s", rows[i][0], err.message);
        assert_true(sk_pipeline_get_device(core->pipeline, 0, &device));
        assert_string_equal(device.name, rows[i][1]);
        sk_node_core_close(&core);
    }
    refused_with(OPENED("device", "nonsense"), "no compute runtime is called 'nonsense'");
    refused_with(OPENED("device", "0"), "device is 0, and compute_runtime cpu has no numbered devices");
}

/* Trial runs are made where neither of two names says no: a GPU that is lost at its first run is found so when the node opens. */
static void trials_before_it_opens(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(setenv("SKITTER_EMULATE", "idle 100!1", 1), 0);
        sk_node_core *core = OPENED("compute_runtime", "cuda", "use_compile", i & 1 ? "true" : "false",
                                    "use_torch_compile", i & 2 ? "true" : "false");
        if ((core != NULL) != (i < 3))
            fail_msg("%d: %s", i, core ? "it opens" : err.message);
        sk_node_core_close(&core);
    }
    assert_int_equal(setenv("SKITTER_EMULATE", "idle 100 100 100", 1), 0);
}

/* --- what is reset --- */

static char warned[2][1024];
static int warnings;

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN && warnings < 2)
        snprintf(warned[warnings], sizeof warned[0], "%s", message);
    warnings += level == SK_LOG_WARN;
}

/* A project's setting that cannot be had here: it is said in the log, and as long as the node runs. */
static void what_a_person_must_know(void **state)
{
    (void)state;
    static const char says[] = "the compute runtime 'mps' was reset to 'cpu': ";
    sk_log_listener *listener = NULL;
    char message[256] = "";
    put_noise();
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (int reset = 0; reset < 2; reset++) {
        warnings = 0;
        if (reset)
            assert_ok(sk_file_put("skitter.yaml", "compute_runtime: mps\n", 21, &err), &err);
        sk_node_core *core = OPENED("imgsz", "32");
        assert_non_null(core);
        assert_int_equal(warnings, reset);
        sk_node_core_give_back(core, look(core, "rgb8", rgb, sizeof rgb, 3));
        assert_int_equal(sk_node_core_health(core, message, sizeof message),
                         reset ? SK_NODE_WARN : SK_NODE_OK);
        if (reset) {
            assert_int_equal(strncmp(warned[0], says, strlen(says)), 0);
            assert_int_equal(strncmp(message, says, strlen(says)), 0);
        }
        sk_node_core_close(&core);
    }
    assert_int_equal(unlink("skitter.yaml"), 0);
    sk_log_unlisten(&listener);
}

/* --- what goes wrong --- */

/* Its GPU is lost at the second picture: that one is told with the reason, and so is the node's health. */
static void a_device_that_is_lost(void **state)
{
    (void)state;
    char message[256] = "";
    put_noise();
    assert_int_equal(setenv("SKITTER_EMULATE", "idle 100!2", 1), 0);
    sk_node_core *core = OPENED("compute_runtime", "cuda", "use_compile", "false");
    assert_non_null(core);
    sk_node_core_give_back(core, look(core, "rgb8", rgb, sizeof rgb, 3));
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_OK);
    sk_node_image image = SK_NODE_IMAGE_INIT;
    const sk_node_result *got = NULL;
    image.width = WIDTH, image.height = HEIGHT, image.encoding = "rgb8";
    image.data = rgb, image.length = sizeof rgb, image.stamp_ns = 4;
    assert_ok(sk_node_core_submit(core, &image, &err), &err);
    assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
    assert_true(got->status != SK_OK && got->problem[0] && got->stamp_ns == 4 && got->n_objects == 0);
    assert_int_equal(sk_node_core_health(core, message, sizeof message), SK_NODE_ERROR);
    assert_string_equal(message, got->problem);
    sk_node_object o = SK_NODE_OBJECT_INIT;
    sk_node_track t = SK_NODE_TRACK_INIT;
    assert_false(sk_node_result_object(got, 0, &o) || sk_node_result_track(got, 0, &t));
    sk_node_core_give_back(core, got);
    sk_node_core_close(&core);
    assert_int_equal(setenv("SKITTER_EMULATE", "idle 100 100 100", 1), 0);
}

/* Who is still giving it pictures while it ends is told so: that is no fault of the picture's. */
static void a_pipeline_that_has_ended(void **state)
{
    (void)state;
    put_noise();
    sk_node_core *core = OPENED("imgsz", "32");
    assert_non_null(core);
    sk_pipeline_release(core->pipeline);
    for (int asks = 0; asks < 2; asks++) {
        sk_node_image image = SK_NODE_IMAGE_INIT;
        image.width = WIDTH, image.height = HEIGHT, image.encoding = "rgb8";
        image.data = rgb, image.length = sizeof rgb;
        err = (sk_error){0};
        assert_int_equal(sk_node_core_submit(core, &image, asks ? &err : NULL), SK_ERR_CANCELLED);
        assert_int_equal(err.code, asks ? SK_ERR_CANCELLED : SK_OK);
        assert_string_equal(err.message, asks ? "the pipeline was released" : "");
    }
    assert_true(atomic_load(&core->refused) == 0 && !core->problem[0]);
    sk_node_core_close(&core);
}

/* Where memory ends between a result and its tracks, the result is given back, and the next can be taken. */
static void tracks_without_memory(void **state)
{
    (void)state;
    put_noise();
    sk_node_core *core = open_core("Detect", true);
    int failures = 0;
    for (int n = 1; n < 40; n++) {
        sk_node_image image = SK_NODE_IMAGE_INIT;
        const sk_node_result *got = NULL, *second = NULL;
        image.width = WIDTH, image.height = HEIGHT, image.encoding = "rgb8";
        image.data = rgb, image.length = sizeof rgb, image.stamp_ns = n * INT64_C(40000000);
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
        assert_ok(sk_pipeline_drain(core->pipeline, &err), &err);
        sk_memory_fail_nth((uint64_t)n % 8 + 1);
        const sk_status status = sk_node_core_take(core, -1, &got, &err);
        sk_memory_fail_nth(0);
        if (status != SK_OK) {
            failures++;
            if (status != SK_ERR_MEMORY)
                fail_msg("%d: %s", n, err.message);
            assert_true(!got && !core->out.of);
            continue;
        }
        sk_node_core_give_back(core, NULL); /* nobody's */
        assert_ptr_equal(core->out.of != NULL ? got : NULL, got);
        assert_int_equal(sk_node_core_take(core, 0, &second, &err), SK_ERR_ARG);
        sk_node_core_give_back(core, got);
    }
    assert_true(failures > 0);
    sk_node_core_close(&core);
}

/* --- the machine --- */

static void works(sk_runtime runtime)
{
    sk_probe_row row = {.runtime = runtime, .available = true};
    snprintf(row.library, sizeof row.library, "%s/library", test_folder());
    sk_probe_cache_write(&row);
}

/* Made up from what was built for tests; false: it was not. */
static bool make_machine(void)
{
    char path[4200];
    const char *build = getenv("SKITTER_TEST_BUILD");
    if (!build || chdir(test_folder()) != 0)
        return false;
    snprintf(path, sizeof path, "%s/cache", test_folder());
    setenv("SKITTER_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/config", test_folder());
    setenv("SKITTER_CONFIG_DIR", path, 1);
    snprintf(openvino, sizeof openvino, "%s/tests/fake_openvino.so", build);
    setenv("SKITTER_OPENVINO", openvino, 1);
    snprintf(path, sizeof path, "%s/tests/fake_ort_device.so", build);
    setenv("SKITTER_ONNXRUNTIME", path, 1);
    if (!sk_file_exists(openvino) || !sk_file_exists(path))
        return false;
    snprintf(path, sizeof path, "%s/tests/emulated/libskitter_cuda.so", build);
    if (!sk_file_exists(path))
        return false;
    snprintf(path, sizeof path, "%s/tests/emulated", build);
    setenv("SKITTER_PLUGIN_DIR", path, 1);
    snprintf(path, sizeof path, "%s/tests/emulated/libcuda.so.1", build);
    setenv("SKITTER_EMULATE", "idle 100 100 100", 1);
    setenv("SKITTER_PROGRAM", "/no/such/program", 1); /* nobody is started to look: what is kept counts */
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL) || sk_file_put("library", "x", 1, &err) != SK_OK)
        return false;
    works(SK_RUNTIME_CUDA);
    works(SK_RUNTIME_ONNX_CPU);
    works(SK_RUNTIME_OPENVINO);
    return true;
}

int main(void)
{
    if (!make_machine()) {
        print_message("skipped: the libraries that stand in for others are not built\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(providers),
        cmocka_unit_test(devices),
        cmocka_unit_test(trials_before_it_opens),
        cmocka_unit_test(what_a_person_must_know),
        cmocka_unit_test(a_device_that_is_lost),
        cmocka_unit_test(a_pipeline_that_has_ended),
        cmocka_unit_test(tracks_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
