/* SPDX-License-Identifier: Apache-2.0 */
/* What config says of settings that a machine, which is made up, can use and of those that it cannot. */
#include "machine.h"

static said s;
static sk_error err;

static void settings_that_cannot_be_used(void **state)
{
    (void)state;
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CONFIG_DIR", "config", 1);
    assert_ok(sk_folder_make("config", &err), &err);
    machine_file("config/skitter.json", "{\"compute_runtime\": \"openvino\"}");
    SAID_OK(&s, "config");
    said_has(s.out, "compute_runtime cpu: 'openvino' cannot be used here, runs say so and take cpu\n  user  "
                    "       openvino   ");
    said_has(s.out, "skitter.json  <- counts, but cannot be used: ");
    said_has(s.out, "libthat.so is not here");
    said_has(s.out, "\n  default      cpu        \n");
    SAID_OK(&s, "config get");
    assert_string_equal(s.out, "openvino\n");
    said_has(s.err, "warning: it cannot be used here: ");
    said_has(s.err, "; runs take cpu\n");
    SAID_OK(&s, "config --json");
    said_has(s.out, "{\n  \"compute_runtime\": {\n    \"value\": \"openvino\",\n    \"from\": \"user\",\n    "
                    "\"usable\": false,\n    \"runs\": \"cpu\",\n    \"levels\": [\n      {\n        "
                    "\"level\": \"user\",\n        \"value\": \"openvino\",\n        \"where\": \"");
    said_has(s.out, "skitter.json\",\n        \"usable\": false,\n        \"because\": \"");
    said_has(s.out, "\"level\": \"default\",\n        \"value\": \"cpu\",\n        \"where\": null,\n        "
                    "\"usable\": true,\n        \"because\": null\n      }\n    ]\n  }\n}\n");
    setenv("SKITTER_COMPUTE_RUNTIME", "onnx_cpu", 1); /* it can be used; the user's cannot */
    SAID_OK(&s, "config");
    said_has(s.out, "compute_runtime onnx_cpu\n  environment  onnx_cpu   SKITTER_COMPUTE_RUNTIME  <- wins\n");
    said_has(s.out, "skitter.json  cannot be used: ");
    SAID_OK(&s, "config get");
    assert_string_equal(s.out, "onnx_cpu\n");
    assert_string_equal(s.err, "");
    setenv("SKITTER_COMPUTE_RUNTIME", "openvino", 1); /* what a person says now is never replaced */
    SAID_OK(&s, "config");
    said_has(s.out, "compute_runtime openvino cannot be used here: runs end with an error\n");
    SAID_OK(&s, "config get");
    said_has(s.err, "; runs end with an error\n");
    SAID_OK(&s, "config --json");
    said_has(s.out, "\"usable\": false,\n    \"runs\": null,\n");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    SAID_REFUSES(&s, SK_ERR_ARG, "list takes no value\nskitter config set compute_runtime VALUE",
                 "config list x y");
    SAID_REFUSES(&s, SK_ERR_ARG, "there is no setting 'x'", "config list x");
    said_run(&s, "config set compute_runtime openvino");
    assert_int_not_equal(s.status, SK_OK);
}

static void settings_come_and_go(void **state)
{
    (void)state;
    char text[512];
    SAID_OK(&s, "config set compute_runtime onnx_cpu");
    assert_string_equal(s.out, "compute_runtime onnx_cpu, saved in config/skitter.json\n");
    assert_string_equal(s.err, "");
    machine_file("theirs.json", "{\"compute_runtime\": \"openvino\"}"); /* is reset, with a word */
    SAID_OK(&s, "config import theirs.json");
    said_has(s.out, "theirs.json: compute_runtime 'openvino' means openvino\ncompute_runtime cpu, saved in "
                    "config/skitter.json\n");
    said_has(s.err, "warning: ");
    said_has(s.err, "openvino");
    machine_file("theirs.json", "{\"compute_runtime\": \"quantum\"}");
    SAID_OK(&s, "config import theirs.json");
    said_has(s.err, "warning: theirs.json: ");
    said_has(s.err, "quantum");
    machine_file("theirs.json", "{\"compute_runtime\": \"onnx_cpu\"}");
    SAID_OK(&s, "config import theirs.json --project");
    said_has(s.out, "theirs.json: compute_runtime 'onnx_cpu' means onnx_cpu\ncompute_runtime onnx_cpu, saved "
                    "in ");
    said_has(s.out, "skitter.yaml\n");
    assert_string_equal(s.err, ""); /* neither a note nor a reset, and nobody overrules it */
    SAID_OK(&s, "config import theirs.json");
    said_has(s.err, "skitter.yaml says 'onnx_cpu' and overrules it here\n");
    SAID_OK(&s, "config export ours.json");
    assert_string_equal(s.out,
                        "ours.json: compute_runtime onnx_cpu, and the keys of older and newer programs\n");
    assert_true(sk_file_exists("ours.json"));
    SAID_OK(&s, "config export");
    snprintf(text, sizeof text, "\"compute_runtime\": \"%s\"", "onnx_cpu");
    said_has(s.out, text);
    assert_int_equal(unlink("skitter.yaml"), 0);
    setenv("SKITTER_COMPUTE_RUNTIME", "cpu", 1);
    SAID_OK(&s, "config import theirs.json");
    said_has(s.err, "SKITTER_COMPUTE_RUNTIME says 'cpu' and overrules it here\n");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
}

int main(int argc, char **argv)
{
    if (!machine_begin(argc, argv))
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_that_cannot_be_used),
        cmocka_unit_test(settings_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
