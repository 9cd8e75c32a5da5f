/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/file.h"
#include "base/memory.h"
#include "ros/params.h"

#include <stdio.h>
#include <string.h>

static sk_params *fresh(void)
{
    sk_params *params = NULL;
    sk_error err = {0};
    assert_ok(sk_params_open(&params, &err), &err);
    return params;
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    sk_params *params = fresh();
    assert_string_equal(sk_params_text(params, "input_topic"), "/camera/image_raw");
    assert_true(sk_params_real(params, "confidence_threshold") == 0.25);
    assert_int_equal(sk_params_number(params, "max_detections"), 300);
    assert_true(sk_params_truth(params, "publish_annotated"));
    assert_string_equal(sk_params_text(params, "compute_runtime"), "");
    sk_params_close(&params);
}

static void rules_of_the_command_line(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_params *params = fresh();
    sk_param_about about;
    assert_ok(sk_params_put_rule(params, "confidence_threshold:=0.5", &err), &err);
    assert_ok(sk_params_put_rule(params, "iou_threshold:=1", &err), &err); /* an integer is a number */
    assert_ok(sk_params_put_rule(params, "device:=0", &err), &err);        /* a text need not look like one */
    assert_ok(sk_params_put_rule(params, "classes:=[2, 0]", &err), &err);
    assert_ok(sk_params_put_rule(params, "eye:frame_skip:=3", &err), &err);
    assert_true(sk_params_real(params, "confidence_threshold") == 0.5);
    assert_true(sk_params_real(params, "iou_threshold") == 1);
    assert_string_equal(sk_params_text(params, "device"), "0");
    assert_int_equal(sk_params_number(params, "frame_skip"), 3);
    assert_true(sk_params_at(params, sk_params_find(params, "classes"), &about));
    assert_int_equal(about.value.count, 2);
    assert_int_equal(about.value.list[0], 2);
    sk_params_close(&params);
}

static void what_cannot_be_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *told;
    } wrong[] = {{"confidence_threshold:=1.5", "is not between 0 and 1"},
                 {"confidence_threshold:=often", "is a number"},
                 {"max_detections:=2.5", "is an integer"},
                 {"qos_reliability:=sometimes", "is none of best_effort|reliable"},
                 {"classes:=[a]", "is a list of integers"},
                 {"classes:=3", "is a list of integers"},
                 {"publish_annotated:=maybe", "true or false"},
                 {"confidence_treshold:=0.5", "did you mean 'confidence_threshold'?"},
                 {"confidence_threshold", "NAME:=VALUE"}};
    sk_params *params = fresh();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sk_error err = {0};
        assert_int_not_equal(sk_params_put_rule(params, wrong[i].rule, &err), SK_OK);
        if (!strstr(err.message, wrong[i].told))
            fail_msg("%s: %s", wrong[i].rule, err.message);
    }
    assert_true(sk_params_real(params, "confidence_threshold") == 0.25);
    sk_params_close(&params);
}

static const char *file_of(const char *text)
{
    static char path[512];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/params.yaml", test_folder());
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
    return path;
}

static void files_as_ros_writes_them(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_ros_names names;
    sk_params *params = fresh();
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    assert_ok(sk_params_read_file(params,
                                  file_of("/**:\n  ros__parameters:\n    use_sim_time: true\n    speed: 3\n"
                                          "    frame_skip: 1\n"
                                          "ear:\n  ros__parameters:\n    frame_skip: 9\n"
                                          "/left/eye:\n  ros__parameters:\n    confidence_threshold: 0.75\n"
                                          "    input_topic: /front/image\n    classes: [1, 2]\n"),
                                  &names, &err),
              &err);
    assert_int_equal(sk_params_number(params, "frame_skip"), 1);
    assert_true(sk_params_real(params, "confidence_threshold") == 0.75);
    assert_string_equal(sk_params_text(params, "input_topic"), "/front/image");
    sk_param_about about;
    assert_true(sk_params_at(params, sk_params_find(params, "use_sim_time"), &about) && about.value.truth);
    assert_int_equal(sk_params_read_file(params,
                                         file_of("/left/eye:\n  ros__parameters:\n    confidense: 1\n"),
                                         &names, &err),
                     SK_ERR_ARG);
    assert_non_null(strstr(err.message, "params.yaml: /left/eye: there is no parameter 'confidense'"));
    assert_int_equal(sk_params_read_file(params, file_of("- a\n"), &names, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_params_read_file(params, file_of("/left/eye: 3\n"), &names, &err), SK_ERR_FORMAT);
    assert_int_not_equal(sk_params_read_file(params, file_of("a: [\n"), &names, &err), SK_OK);
    sk_params_close(&params);
}

static sk_status open_and_change(void *context, sk_error *err)
{
    (void)context;
    sk_params *params = NULL;
    SK_TRY(sk_params_open(&params, err));
    sk_status status = sk_params_put_rule(params, "classes:=[1]", err);
    if (status == SK_OK)
        status = sk_params_put_rule(params, "frame_id:=eye", err);
    sk_params_close(&params);
    return status;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(open_and_change, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table), cmocka_unit_test(rules_of_the_command_line),
        cmocka_unit_test(what_cannot_be_is_told),          cmocka_unit_test(files_as_ros_writes_them),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
