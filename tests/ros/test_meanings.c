/* SPDX-License-Identifier: Apache-2.0 */
/* What a manifest's words mean for a node: every message by every name it has, every parameter at the ends of its range and just
 * behind them, which parameters a model has. */
#include "support/test.h"

#include "base/memory.h"
#include "ros/manifest_runs.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

static void messages_by_every_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        sk_ros_output output;
    } rows[] = {{"DetectionArray", SK_ROS_DETECTIONS},
                {"Detection2DArray", SK_ROS_DETECTIONS},
                {"vision_msgs/Detection2DArray", SK_ROS_DETECTIONS},
                {"vision_msgs/msg/Detection2DArray", SK_ROS_DETECTIONS},
                {"KeypointArray", SK_ROS_KEYPOINTS},
                {"InstanceArray", SK_ROS_KEYPOINTS},
                {"skitter_msgs/InstanceArray", SK_ROS_KEYPOINTS},
                {"skitter_msgs/msg/InstanceArray", SK_ROS_KEYPOINTS},
                {"TrackedObjectArray", SK_ROS_TRACKS},
                {"TrackArray", SK_ROS_TRACKS},
                {"skitter_msgs/TrackArray", SK_ROS_TRACKS},
                {"skitter_msgs/msg/TrackArray", SK_ROS_TRACKS},
                {"sensor_msgs/Image", SK_ROS_ANNOTATED},
                {"sensor_msgs/msg/Image", SK_ROS_ANNOTATED}};
    static const char *const names[] = {"detections", "keypoints", "tracks", "annotated"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_ros_output output = SK_ROS_OUTPUTS;
        assert_true(sk_ros_output_find(rows[i].name, &output));
        assert_int_equal(output, rows[i].output);
        assert_string_equal(sk_ros_output_name(output), names[output]);
    }
    static const char *const others[] = {"", "Image", "std_msgs/String", "detectionarray",
                                         "sensor_msgs/msg/Images"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        sk_ros_output output = SK_ROS_OUTPUTS;
        assert_false(sk_ros_output_find(others[i], &output));
        assert_int_equal(output, SK_ROS_OUTPUTS);
    }
}

/* A manifest with one parameter; what is told of it, "" where nothing is. */
static const char *told_of(const char *family, const char *task, const char *output, const char *parameter)
{
    static char lines[2048];
    sk_text text = {0};
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    sk_ros_meaning meaning;
    sk_text_appendf(&text,
                    "model: {name: x, family: %s, task: %s, variants: [x], default_variant: x}\n"
                    "source: {type: a, repo: b}\ninput: {}\noutput: {type: %s}\n"
                    "ros: {publishers: [{topic: a, msg_type: DetectionArray}], parameters: [%s]}\n",
                    family, task, output, parameter);
    assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "m", &m, &problems, &err), &err);
    if (!m)
        fail_msg("%s: %s", parameter, sk_text_get(&problems.lines));
    sk_manifest_meaning(m, &meaning, &problems);
    snprintf(lines, sizeof lines, "%s", sk_text_get(&problems.lines));
    assert_true(problems.count <= 1);
    sk_problems_free(&problems);
    sk_manifest_close(&m);
    sk_text_free(&text);
    return lines;
}

static void expect(const char *parameter, const char *words)
{
    const char *lines = told_of("ultralytics", "detect", "tracked_objects", parameter);
    if (words[0] ? strstr(lines, words) == NULL : lines[0] != '\0')
        fail_msg("%s: '%s' instead of '%s'", parameter, lines, words);
}

static void parameters_lie_in_their_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *parameter, *words;
    } rows[] = {
        {"{name: qos_depth, type: int, default: 1}", ""},
        {"{name: qos_depth, type: int, default: 10000}", ""},
        {"{name: qos_depth, type: int, default: 0}",
         ": the parameter 'qos_depth' lies between 1 and 10000\n"},
        {"{name: qos_depth, type: int, default: 10001}",
         ": the parameter 'qos_depth' lies between 1 and 10000\n"},
        {"{name: confidence_threshold, type: float, default: 0}", ""},
        {"{name: confidence_threshold, type: double, default: 1.0}", ""},
        {"{name: confidence_threshold, type: float, default: 1.0001}", "lies between 0 and 1\n"},
        {"{name: confidence_threshold, type: float, default: -0.0001}", "lies between 0 and 1\n"},
        {"{name: confidence_threshold, type: int, default: 1}",
         "'confidence_threshold' is of type float, not int\n"},
        {"{name: qos_depth, type: double, default: 1}", "'qos_depth' is of type int, not double\n"},
        {"{name: classes, type: list, default: []}", ""},
        {"{name: classes, type: list, default: [0, 100000]}", ""},
        {"{name: classes, type: list, default: [1, 100001]}",
         "takes a list of whole numbers from 0 to 100000\n"},
        {"{name: classes, type: list, default: [-1, 1]}", "takes a list of whole numbers from 0 to 100000\n"},
        {"{name: classes, type: list, default: [1.5]}", "takes a list of whole numbers from 0 to 100000\n"},
        {"{name: classes, type: list, default: [a, 1]}", "takes a list of whole numbers from 0 to 100000\n"},
        {"{name: tracker, type: string, default: skitter}", ""},
        {"{name: tracker, type: string, default: ocsort}", ""},
        {"{name: tracker, type: string, default: byte}",
         "the parameter 'tracker' is one of skitter|bytetrack|ocsort, not 'byte'\n"},
        {"{name: tracker, type: string, default: bytetrackx}",
         "is one of skitter|bytetrack|ocsort, not 'bytetrackx'\n"},
        {"{name: tracker, type: string, default: ''}", "is one of skitter|bytetrack|ocsort"},
        {"{name: publish_annotated, type: bool, default: false}", ""},
        {"{name: input_topic, type: string, default: /a/b}", ""},
        {"{name: input_topic, type: string, default: 'a b'}",
         "the parameter 'input_topic': ROS allows no topic 'a b'\n"},
        {"{name: frame_id, type: string, default: 'a b'}", ""},
        {"{name: weights_path, type: string, default: a}",
         "the parameter 'weights_path' follows from source.weights: write it there\n"},
        {"{name: second_weights_path, type: string, default: a}",
         "the parameter 'second_weights_path' follows from source.weights: write it there\n"},
        {"{name: variant, type: string, default: a}", "follows from the request and model.default_variant\n"},
        {"{name: max_instances, type: int, default: 3}",
         "the node of this model has no parameter 'max_instances'"},
        {"{name: frame_skp, type: int, default: 3}",
         "no parameter 'frame_skp': did you mean 'frame_skip'?\n"},
        {"{name: zzzzzzzzzzzz, type: int, default: 3}", "no parameter 'zzzzzzzzzzzz'\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(rows[i].parameter, rows[i].words);
}

/* Every parameter of the node, for every kind of model: which have it. */
static void parameters_belong_to_models(void **state)
{
    (void)state;
    static const struct {
        const char *family, *task, *output;
        sk_ros_scope scope;
        bool tracks;
    } models[] = {{"ultralytics", "detect", "detections", SK_ROS_YOLO, false},
                  {"ultralytics", "obb", "tracked_objects", SK_ROS_YOLO, true},
                  {"ultralytics", "pose", "keypoints", SK_ROS_YOLO, false},
                  {"sleap", "single", "keypoints", SK_ROS_SLEAP, false},
                  {"sleap", "topdown", "keypoints", SK_ROS_SLEAP, false},
                  {"sleap", "bottomup", "tracked_objects", SK_ROS_SLEAP, true}};
    static const char *const types[] = {[SK_ROS_BOOL] = "bool, default: true",
                                        [SK_ROS_INT] = "int, default: 1",
                                        [SK_ROS_REAL] = "float, default: 0.5",
                                        [SK_ROS_TEXT] = "string, default: zzz",
                                        [SK_ROS_INTS] = "list, default: []"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (const sk_ros_parameter *p = sk_ros_parameters; p->name; p++) {
            char parameter[160];
            snprintf(parameter, sizeof parameter, "{name: %s, type: %s}", p->name, types[p->kind]);
            const char *lines = told_of(models[i].family, models[i].task, models[i].output, parameter);
            const bool has = p->scope == SK_ROS_EVERY || p->scope == models[i].scope ||
                             (p->scope == SK_ROS_TRACKING && models[i].tracks);
            if ((strstr(lines, "the node of this model has no parameter") == NULL) != has)
                fail_msg("%s of %s: %s", p->name, models[i].task, lines);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_by_every_name),
                                       cmocka_unit_test(parameters_lie_in_their_ranges),
                                       cmocka_unit_test(parameters_belong_to_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
