/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "ros/param_services.h"
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
    } wrong[] = {
        {"confidence_threshold:=1.5", "confidence_threshold: '1.5' is not a number from 0 to 1"},
        {"confidence_threshold:=often", "'often' is not a number from 0 to 1"},
        {"max_detections:=2.5", "'2.5' is not a whole number from 1 to 30000"},
        {"qos_reliability:=sometimes", "'sometimes' is not one of best_effort, reliable"},
        {"precision:=f8", "is not one of f32, tf32, f16, bf16, i8, fp8, fp32, fp16, half, int8, or empty"},
        {"classes:=[a]", "is not a list of whole numbers"},
        {"classes:=3", "classes: '3' is not a list of whole numbers"},
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
    sk_problems problems = {0};
    sk_params *params = fresh();
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    assert_ok(sk_params_read_file(params,
                                  file_of("/**:\n  ros__parameters:\n    use_sim_time: true\n    speed: 3\n"
                                          "    frame_skip: 1\n"
                                          "ear:\n  ros__parameters:\n    frame_skip: 9\n"
                                          "/left/eye:\n  ros__parameters:\n    confidence_threshold: 0.75\n"
                                          "    input_topic: /front/image\n    classes: [1, 2]\n"),
                                  &names, &problems, &err),
              &err);
    assert_int_equal(sk_params_number(params, "frame_skip"), 1);
    assert_true(sk_params_real(params, "confidence_threshold") == 0.75);
    assert_string_equal(sk_params_text(params, "input_topic"), "/front/image");
    sk_param_about about;
    assert_true(sk_params_at(params, sk_params_find(params, "use_sim_time"), &about) && about.value.truth);
    assert_int_equal(problems.count, 0);
    /* all that is wrong, together; what is right counts */
    assert_ok(sk_params_read_file(
                  params,
                  file_of("/left/eye:\n  ros__parameters:\n    confidense: 1\n    iou_threshold: 3\n"
                          "    frame_skip: 4\n    use_compile: maybe\n"),
                  &names, &problems, &err),
              &err);
    assert_int_equal(problems.count, 3);
    const char *told = sk_text_get(&problems.lines);
    assert_non_null(strstr(told, "params.yaml: /left/eye: there is no parameter 'confidense'"));
    assert_non_null(strstr(told, "params.yaml: /left/eye: iou_threshold: '3' is not a number from 0 to 1"));
    assert_non_null(strstr(told, "params.yaml: /left/eye: use_compile: 'maybe' is not true or false"));
    assert_int_equal(sk_params_number(params, "frame_skip"), 4);
    assert_int_equal(sk_params_read_file(params, file_of("- a\n"), &names, &problems, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_params_read_file(params, file_of("/left/eye: 3\n"), &names, &problems, &err),
                     SK_ERR_FORMAT);
    assert_int_not_equal(sk_params_read_file(params, file_of("a: [\n"), &names, &problems, &err), SK_OK);
    sk_problems_free(&problems);
    sk_params_close(&params);
}

static sk_status apply_nothing(void *context, bool anew, sk_error *err)
{
    (void)anew;
    ++*(int *)context;
    (void)err;
    return SK_OK;
}

/* Together or not at all: use_sim_time, which is no parameter of the core, goes back with the others. */
static void what_fails_together_changes_nothing(void **state)
{
    (void)state;
    int applied = 0, n_changed = -1;
    int32_t changed[SK_PARAM_MOST];
    sk_error err = {0};
    sk_params *params = fresh();
    sk_cdr_writer request = {0}, reply = {0};
    sk_param_about about;
    const sk_msg_parameter wishes[] = {
        {.name = sk_msg_text_of("use_sim_time"), .value = {.type = SK_NODE_BOOL, .bool_value = true}},
        {.name = sk_msg_text_of("frame_skip"), .value = {.type = SK_NODE_INT, .integer_value = 7}},
        {.name = sk_msg_text_of("confidence_threshold"),
         .value = {.type = SK_NODE_DOUBLE, .double_value = 7}}};
    for (size_t n = 2; n <= 3; n++) {
        const sk_param_owner owner = {params, apply_nothing, &applied};
        const sk_msg_parameters asked = {.parameters = {wishes + 3 - n, n}};
        sk_cdr_writer_begin(&request);
        sk_cdr_put_u64(&request, 1);
        sk_cdr_put_i64(&request, 2);
        sk_msg_put(&sk_msg_set_atomically_request_layout, &asked, &request);
        assert_ok(sk_param_answer(&owner, SK_PARAM_SET_ATOMICALLY, request.data, request.length, &reply,
                                  changed, &n_changed, &err),
                  &err);
        assert_int_equal(n_changed, 0);
        assert_int_equal(applied, 0);
        assert_int_equal(sk_params_number(params, "frame_skip"), 0);
        assert_true(sk_params_at(params, sk_params_find(params, "use_sim_time"), &about) &&
                    !about.value.truth);
    }
    sk_cdr_writer_free(&request);
    sk_cdr_writer_free(&reply);
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
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(rules_of_the_command_line),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(files_as_ros_writes_them),
        cmocka_unit_test(survives_failing_memory),
        cmocka_unit_test(what_fails_together_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
