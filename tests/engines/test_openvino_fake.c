/* SPDX-License-Identifier: Apache-2.0 */
#include "summed.h"

/* OpenVINO, on a library that stands in for it: how it is asked to compile, what devices say they can, and each call failing in turn. */

static const char **capabilities, **precision, **runs_on;
static int *calls, *fails_at, *held, *more_bytes, *waits;
static char *compiled;

static void take_library(void)
{
    void *l = summed_library("SKITTER_OPENVINO", "fake_openvino", RTLD_NOW);
    capabilities = dlsym(l, "fake_ov_capabilities");
    precision = dlsym(l, "fake_ov_precision");
    runs_on = dlsym(l, "fake_ov_runs_on");
    calls = dlsym(l, "fake_ov_calls");
    fails_at = dlsym(l, "fake_ov_fails_at");
    held = dlsym(l, "fake_ov_held");
    more_bytes = dlsym(l, "fake_ov_more_bytes");
    waits = dlsym(l, "fake_ov_waits");
    compiled = dlsym(l, "fake_ov_compiled");
}

static void ask(const void *context)
{
    (void)context;
    static const struct {
        const char *options, *cache, *runs_on;
        int threads;
        const char *compiled, *detail;
        int waits; /* requests that run side by side are waited for */
    } cases[] = {
        {"", "", "CPU", 1,
         "CPU INFERENCE_PRECISION_HINT=f32 PERFORMANCE_HINT=LATENCY INFERENCE_NUM_THREADS=1 NUM_STREAMS=1",
         "OpenVINO 2031.4.0, CPU device, latency", 0},
        {"", "/kept", NULL, 3,
         "CPU INFERENCE_PRECISION_HINT=f32 PERFORMANCE_HINT=LATENCY INFERENCE_NUM_THREADS=3 NUM_STREAMS=1 "
         "CACHE_DIR=/kept/openvino",
         "OpenVINO 2031.4.0, CPU device, latency", 0},
        {"hint=throughput", "", "CPU", 2,
         "CPU INFERENCE_PRECISION_HINT=f32 PERFORMANCE_HINT=THROUGHPUT INFERENCE_NUM_THREADS=2",
         "OpenVINO 2031.4.0, CPU device, throughput", 2},
        {"device=GPU", "/kept", "GPU.0", 1,
         "GPU INFERENCE_PRECISION_HINT=f32 PERFORMANCE_HINT=LATENCY CACHE_DIR=/kept/openvino",
         "OpenVINO 2031.4.0, GPU.0 device (asked for GPU), latency", 0},
        {"device=AUTO", "", "NPU", 1, "AUTO INFERENCE_PRECISION_HINT=f32 PERFORMANCE_HINT=LATENCY",
         "OpenVINO 2031.4.0, NPU device (asked for AUTO), latency", 0},
    };
    sk_error err = {0};
    sk_graph *g = summed_graph();
    take_library();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_session_settings s = summed_settings(cases[i].options);
        static sk_session_info info;
        s.cache_dir = cases[i].cache;
        s.threads = cases[i].threads;
        *runs_on = cases[i].runs_on;
        *waits = 0;
        assert_ok(summed_use("openvino", &s, g, &info, &err), &err);
        assert_string_equal(compiled, cases[i].compiled);
        assert_string_equal(info.detail, cases[i].detail);
        assert_int_equal(*waits, cases[i].waits);
        assert_int_equal(info.asynchronous, cases[i].waits > 0);
        assert_int_equal(*held, 0);
    }
    sk_session_settings s = summed_settings("device=TPU");
    assert_int_equal(summed_use("openvino", &s, g, NULL, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "OpenVINO has no device 'TPU'; there are CPU"));
    s = summed_settings("");
    for (int more = -4; more <= 4; more += 8) {
        *more_bytes = more;
        assert_int_equal(summed_use("openvino", &s, g, NULL, &err), SK_ERR_MISMATCH);
        assert_non_null(strstr(err.message, more < 0 ? "input 0 takes 60 bytes where the model has 64"
                                                     : "input 0 takes 68 bytes where the model has 64"));
        assert_int_equal(*held, 0);
    }
    sk_graph_close(&g);
}

/* What a device says that it can is believed, silence is no refusal; what it compiled for is asked once more. */
static void halves(const void *context)
{
    (void)context;
    static const struct {
        const char *device, *capabilities, *precision;
        sk_status status;
        const char *why;
    } cases[] = {
        {"", "FP32 BF16", "bf16", SK_OK, ""},
        {"", "FP32 BF16", NULL, SK_OK, ""},
        {"", "FP32 FP16", "bf16", SK_ERR_UNSUPPORTED,
         "OpenVINO 2031.4.0: the device CPU does not compute in bf16; set the precision to f32"},
        {"", "INT8", "bf16", SK_OK, ""},
        {"", NULL, "bf16", SK_OK, ""},
        {"", "FP32 BF16", "f32", SK_ERR_UNSUPPORTED,
         "OpenVINO 2031.4.0: the device CPU computes in f32, not in bf16; set the precision to f32"},
        {"device=AUTO", "FP32", "bf16", SK_OK, ""},
        {"device=GPU.1", "FP32", "bf16", SK_ERR_UNSUPPORTED, "the device GPU.1 does not compute in bf16"},
    };
    sk_graph *g = summed_graph();
    take_library();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_session_settings s = summed_settings(cases[i].device);
        s.precision = SK_PRECISION_BF16;
        *capabilities = cases[i].capabilities;
        *precision = cases[i].precision;
        compiled[0] = 0;
        const sk_status status = summed_use("openvino", &s, g, NULL, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].why))
            fail_msg("case %zu: %d %s", i, (int)status, err.message);
        if (status == SK_OK)
            assert_non_null(strstr(compiled, "INFERENCE_PRECISION_HINT=bf16"));
        assert_int_equal(*held, 0);
    }
    sk_graph_close(&g);
}

/* What sessions compute in that name no device. */
static void probes(const void *context)
{
    (void)context;
    enum { F16 = 1u << SK_PRECISION_F16, BF16 = 1u << SK_PRECISION_BF16 };
    static const struct {
        const char *capabilities;
        uint32_t halves;
    } cases[] = {{"FP32 FP16 BF16", F16 | BF16},
                 {"FP32 FP16", F16},
                 {"FP32 BF16", BF16},
                 {"FP32", 0},
                 {NULL, F16 | BF16}};
    take_library();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_engine_probe probe = {0};
        sk_error err = {0};
        *capabilities = cases[i].capabilities;
        assert_ok(sk_engine_find("openvino")->probe(&probe, &err), &err);
        assert_true(probe.available);
        assert_int_equal(probe.devices[0].precisions & (F16 | BF16), cases[i].halves);
        assert_true(probe.devices[0].precisions & 1u << SK_PRECISION_F32);
        assert_non_null(strstr(probe.version, "2031.4.0"));
        assert_int_equal(*held, 0);
    }
}

/* What has worked is not tried again in this process; what has not is. */
static void tried_once(const void *context)
{
    (void)context;
    sk_error err = {0};
    sk_engine_probe probe = {0};
    take_library();
    *fails_at = 4;
    assert_ok(sk_engine_find("openvino")->probe(&probe, &err), &err);
    assert_true(!probe.available && probe.n_devices == 0 && probe.devices[0].precisions == 0);
    assert_non_null(strstr(probe.detail, "as it was told to"));
    *fails_at = 0;
    for (int i = 0; i < 2; i++) {
        *calls = 0;
        assert_ok(sk_engine_find("openvino")->probe(&probe, &err), &err);
        assert_true(probe.available && probe.n_devices == 1);
        assert_true(i == 0 ? *calls > 10 : *calls == 2); /* what devices can is asked anew */
        assert_non_null(strstr(probe.devices[0].name, ", OpenVINO 2031.4.0"));
    }
}

static void fail_in_turn(const void *options)
{
    sk_error err = {0};
    sk_graph *g = summed_graph();
    const sk_session_settings s = summed_settings(options);
    int forgiven = 0;
    take_library();
    assert_ok(summed_use("openvino", &s, g, NULL, &err), &err);
    const int all = *calls;
    assert_true(all > 15);
    for (int n = 1; n <= all; n++) {
        *calls = 0;
        *fails_at = n;
        err = (sk_error){0};
        const sk_status status = summed_use("openvino", &s, g, NULL, &err);
        if (status == SK_OK)
            forgiven++;
        else if (!strstr(err.message, "as it was told to") && !strstr(err.message, "the fake fails"))
            fail_msg("call %d of %d: %d %s", n, all, (int)status, err.message);
        if (*held != 0)
            fail_msg("call %d of %d leaves %d behind", n, all, *held);
    }
    assert_int_equal(forgiven, 1); /* which device it runs on is only for the words */
    *fails_at = 2;                 /* nothing is compiled for a device that is not there */
    *calls = 0;
    assert_int_equal(summed_use("openvino", &s, g, NULL, &err), SK_ERR_RUNTIME);
    assert_non_null(
        strstr(err.message, "the model could not be compiled for the device CPU (here are: CPU, GPU.0)"));
    sk_graph_close(&g);
}

static void is_asked_as_its_words_are(void **state)
{
    (void)state;
    summed_apart(ask, NULL, "asked");
}

static void halves_where_there_are_some(void **state)
{
    (void)state;
    summed_apart(halves, NULL, "halves");
    summed_apart(probes, NULL, "probes");
    summed_apart(tried_once, NULL, "tried once");
}

static void every_call_may_fail(void **state)
{
    (void)state;
    summed_apart(fail_in_turn, "", "latency");
    summed_apart(fail_in_turn, "hint=throughput", "throughput");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_asked_as_its_words_are),
        cmocka_unit_test(halves_where_there_are_some),
        cmocka_unit_test(every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
