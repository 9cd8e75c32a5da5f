/* SPDX-License-Identifier: Apache-2.0 */
/* The one way to a session's settings: what a person asks for reaches every engine that has it, and nothing is dropped. */
#include "support/test.h"

#include "runner/session_settings.h"

#include <string.h>

static void expect(const char *engine, const sk_network_wish *wish, const char *options)
{
    sk_session_settings s;
    sk_error err = {0};
    assert_ok(sk_session_settings_of(sk_engine_find(engine), wish, &s, &err), &err);
    assert_string_equal(s.options, options);
}

static void refused(const char *engine, const sk_network_wish *wish, const char *words)
{
    sk_session_settings s;
    sk_error err = {0};
    assert_int_equal(sk_session_settings_of(sk_engine_find(engine), wish, &s, &err), SK_ERR_ARG);
    if (!strstr(err.message, words))
        fail_msg("%s: %s", engine, err.message);
}

/* Words that are older than options become options, of those engines that have them. */
static void test_words(void **state)
{
    (void)state;
    sk_network_wish wish = {
        .no_winograd = true, .openvino_device = "AUTO:GPU,CPU", .openvino_throughput = true};
    expect("cpu", &wish, "winograd=off");
    expect("openvino", &wish, "hint=throughput,device=AUTO:GPU,CPU");
    expect("reference", &wish, "");
    wish = (sk_network_wish){.provider = "CUDA"};
    expect("onnx_cuda", &wish, "provider=CUDA");
    refused("cpu", &wish,
            "an execution provider (CUDA) is ONNX Runtime's; 'cpu' has none\nleave it out, or choose "
            "the runtime 'onnx_cuda'");
    wish.one_of_several = true;
    expect("cpu", &wish, "");
    expect("onnx_cuda", &wish, "provider=CUDA");
}

static void test_options(void **state)
{
    (void)state;
    sk_network_wish wish = {.options = "tune=off,openvino.hint=throughput", .no_winograd = true};
    expect("cpu", &wish, "winograd=off,tune=off,openvino.hint=throughput");
    expect("cuda", &wish, "tune=off,openvino.hint=throughput");
    refused("onnx_cpu", &wish,
            "the engine 'onnx_cpu' has no option 'tune', which is for cpu, cuda and rocm; it has provider=");
    wish.options = "mask=avx2";
    refused("openvino", &wish, "'openvino' has no option 'mask', which is for cpu; it has device=");
    refused("reference", &wish, "'reference' has no option 'mask', which is for cpu; it has none at all");
    wish.options = "cup.tune=off";
    refused("cpu", &wish, "no engine is called 'cup' (did you mean 'cpu'?)");
}

/* Nothing of a detector's settings is lost on the way. */
static void test_of_detector(void **state)
{
    (void)state;
    sk_detector_settings d;
    sk_network_wish wish;
    sk_session_settings s;
    sk_error err = {0};
    sk_detector_defaults(&d);
    assert_ok(sk_network_wish_of(&d, &wish, &err), &err);
    expect("openvino", &wish, "");
    d.threads = 3;
    d.precision = "f16";
    d.winograd = false;
    d.engine_options = "tune=off";
    assert_ok(sk_network_wish_of(&d, &wish, &err), &err);
    assert_ok(sk_session_settings_of(sk_engine_find("cpu"), &wish, &s, &err), &err);
    assert_int_equal(s.threads, 3);
    assert_int_equal(s.precision, SK_PRECISION_F16);
    assert_string_equal(s.options, "winograd=off,tune=off");
    d.engine_options = NULL;
    d.openvino_device = "GPU.1";
    d.openvino_throughput = true;
    assert_ok(sk_network_wish_of(&d, &wish, &err), &err);
    expect("openvino", &wish, "hint=throughput,device=GPU.1");
    d.precision = "f17";
    assert_int_equal(sk_network_wish_of(&d, &wish, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "no precision is called 'f17'; there are f32, tf32, f16, bf16, i8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_of_detector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
