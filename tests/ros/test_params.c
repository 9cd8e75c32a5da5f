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

/* A value of each type for a parameter of each: what is taken, and as what it comes back. */
static void types_are_kept_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"publish_annotated", "frame_skip", "iou_threshold",
                                        "frame_id",          "classes",    "use_sim_time"};
    static const sk_node_type types[] = {SK_NODE_BOOL, SK_NODE_INT,  SK_NODE_DOUBLE,
                                         SK_NODE_TEXT, SK_NODE_INTS, SK_NODE_BOOL};
    static const int64_t list[] = {3, 1, 2};
    static const char *const written[] = {"true", "1", "0.125", "arena", "3,1,2"};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 5; k++) {
            sk_params *params = fresh();
            sk_error err = {0};
            sk_param_about about;
            const sk_param_value value = {.type = types[k],
                                          .truth = true,
                                          .number = 1,
                                          .real = 0.125,
                                          .text = "arena",
                                          .list = list,
                                          .count = 3};
            const sk_status status = sk_params_put(params, names[i], &value, &err);
            const bool good = types[i] == types[k] || (types[i] == SK_NODE_DOUBLE && types[k] == SK_NODE_INT);
            if ((status == SK_OK) != good || (!good && status != SK_ERR_ARG))
                fail_msg("%s, %zu: %s", names[i], k, err.message);
            assert_true(sk_params_at(params, sk_params_find(params, names[i]), &about));
            assert_true(about.value.type == types[i] && about.row.type == types[i]);
            if (!good) {
                char words[64];
                snprintf(words, sizeof words, "%s: '%s' is not ", names[i], written[k]);
                assert_int_equal(strncmp(err.message, words, strlen(words)), 0);
            }
            if (types[i] == SK_NODE_BOOL)
                assert_int_equal(about.value.truth, good || i == 0); /* drawing is the usual */
            if (types[i] == SK_NODE_INT)
                assert_int_equal(about.value.number, good ? 1 : 0);
            if (types[i] == SK_NODE_DOUBLE)
                assert_true(about.value.real == (!good ? 0.7 : types[k] == SK_NODE_INT ? 1 : 0.125));
            if (types[i] == SK_NODE_TEXT)
                assert_string_equal(about.value.text, good ? "arena" : "");
            assert_int_equal(about.value.count, types[i] == SK_NODE_INTS && good ? 3 : 0);
            for (size_t n = 0; n < about.value.count; n++)
                assert_int_equal(about.value.list[n], list[n]);
            sk_params_close(&params);
        }
    sk_params *params = fresh();
    sk_error err = {0};
    const sk_param_value value = {.type = SK_NODE_INT, .number = 1};
    assert_int_equal(sk_params_put(params, "frame_skp", &value, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "did you mean 'frame_skip'?"));
    assert_string_equal(sk_params_text(params, "none"), "");
    assert_true(sk_params_number(params, "none") == 0 && sk_params_real(params, "none") == 0 &&
                !sk_params_truth(params, "none"));
    assert_int_equal(sk_params_find(params, "none"), -1);
    sk_params_close(&params);
}

/* Every parameter has a number of its own, and behind the last there is none. */
static void parameters_are_numbered(void **state)
{
    (void)state;
    sk_params *params = fresh();
    sk_param_about about;
    int32_t n = 0;
    for (; sk_params_at(params, n, &about); n++)
        assert_int_equal(sk_params_find(params, about.row.name), n);
    assert_int_equal(sk_params_find(params, "use_sim_time"), n - 1); /* which is none of the core's */
    for (int32_t i = 0; i < 3; i++)
        assert_false(sk_params_at(params, n + i, &about));
    sk_params_close(&params);
}

/* Rules: where a name ends, quotation marks around texts, names as long as there is room for. */
static void rules_to_the_letter(void **state)
{
    (void)state;
    sk_params *params = fresh();
    sk_error err = {0};
    char rule[200];
    static const struct {
        const char *rule, *text;
    } texts[] = {{"frame_id:=a b", "a b"},   {"frame_id:='a b'", "a b"}, {"frame_id:=\"3\"", "3"},
                 {"frame_id:=true", "true"}, {"frame_id:=", ""},         {"frame_id:=a:=b", "a:=b"},
                 {"frame_id:=[1]", "[1]"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(sk_params_put_rule(params, texts[i].rule, &err), &err);
        assert_string_equal(sk_params_text(params, "frame_id"), texts[i].text);
    }
    assert_int_equal(sk_params_put_rule(params, ":=3", &err), SK_ERR_ARG);
    assert_string_equal(err.message, "-p :=3: write NAME:=VALUE");
    assert_int_equal(sk_params_put_rule(params, "iou_threshold:={a: 1}", &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'nothing, or a map' is not a number"));
    assert_int_equal(sk_params_put_rule(params, "classes:=[1, a]", &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'a list of something else' is not a list of whole numbers"));
    assert_int_equal(sk_params_put_rule(params, "use_sim_time:=7", &err), SK_ERR_ARG);
    assert_string_equal(err.message, "use_sim_time: '7' is not true or false");
    assert_ok(sk_params_put_rule(params, "use_sim_time:=true", &err), &err);
    for (int length = 127; length <= 128; length++) { /* of a node's name and the parameter's */
        memset(rule, 'n', sizeof rule);
        snprintf(rule + length - strlen(":frame_skip"), 40, ":frame_skip:=%d", length);
        const sk_status status = sk_params_put_rule(params, rule, &err);
        assert_int_equal(status, length < 128 ? SK_OK : SK_ERR_ARG);
        assert_int_equal(sk_params_number(params, "frame_skip"), 127);
    }
    assert_non_null(strstr(err.message, "write NAME:=VALUE"));
    sk_params_close(&params);
}

/* Files: whose sections are read, and what of them. */
static void files_to_the_letter(void **state)
{
    (void)state;
    static const struct {
        const char *text, *problem; /* null: none */
        int skip;
    } rows[] = {
        {"/left/eye:\n  ros__parameters: {frame_skip: 1, qos_overrides: {a: 1}}\n", NULL, 1},
        {"/**/eye:\n  ros__parameters: {frame_skip: 2, some: 1}\n", NULL, 2},
        {"/left/eye:\n  ros__parameters: {some: 1, frame_skip: 3}\n",
         "params.yaml: /left/eye: there is no parameter 'some'", 3},
        {"/**:\n  other: 1\n/left/eye:\n  ros__parameters: {frame_skip: 4}\n", NULL, 4},
        {"/**: 3\n/left/eye:\n  ros__parameters: {frame_skip: 5}\n", NULL, 5},
        {"/left/eye:\n  ros__parameters: {frame_skip: 6}\n/**:\n  ros__parameters: {frame_skip: 7}\n", NULL,
         7},
        {"eye:\n  ros__parameters: {frame_skip: 8}\n", NULL, 0}, /* that is one without a namespace */
        {"/right/eye:\n  ros__parameters: {frame_skip: 8}\n", NULL, 0},
        {"/**:\n  ros__parameters: {frame_skip: x}\n",
         "params.yaml: /**: frame_skip: 'x' is not a whole number", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_error err = {0};
        sk_ros_names names;
        sk_problems problems = {0};
        sk_params *params = fresh();
        assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
        assert_ok(sk_params_read_file(params, file_of(rows[i].text), &names, &problems, &err), &err);
        if (problems.count != (rows[i].problem != NULL) ||
            (rows[i].problem && !strstr(sk_text_get(&problems.lines), rows[i].problem)))
            fail_msg("%s: %s", rows[i].text, sk_text_get(&problems.lines));
        assert_int_equal(sk_params_number(params, "frame_skip"), rows[i].skip);
        sk_problems_free(&problems);
        sk_params_close(&params);
    }
}

static sk_status read_one(void *context, sk_error *err)
{
    sk_params *params = NULL;
    sk_ros_names names;
    sk_problems problems = {0};
    sk_param_about about;
    SK_TRY(sk_params_open(&params, err));
    sk_status status = sk_ros_names_init(&names, "eye", NULL, err);
    if (status == SK_OK)
        status = sk_params_read_file(params, context, &names, &problems, err);
    if (status == SK_OK)
        status = problems.count ? sk_fail(err, SK_ERR_FORMAT, "%s", sk_text_get(&problems.lines)) : SK_OK;
    if (status == SK_OK)
        (void)sk_params_at(params, sk_params_find(params, "classes"), &about);
    sk_problems_free(&problems);
    sk_params_close(&params);
    return status;
}

static void files_without_memory(void **state)
{
    (void)state;
    static char path[600];
    snprintf(
        path, sizeof path, "%s",
        file_of(
            "eye:\n  ros__parameters: {frame_skip: 1, classes: [1, 2], frame_id: a, iou_threshold: 0.5}\n"));
    assert_true(test_every_allocation(read_one, path) > 10);
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
        cmocka_unit_test(types_are_kept_apart),
        cmocka_unit_test(parameters_are_numbered),
        cmocka_unit_test(rules_to_the_letter),
        cmocka_unit_test(files_to_the_letter),
        cmocka_unit_test(files_without_memory),
        cmocka_unit_test(survives_failing_memory),
        cmocka_unit_test(what_fails_together_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
