/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/file.h"
#include "ros/manifest_runs.h"
#include "ros/told.h"

#include <string.h>

static sk_manifest *open_fixture(const char *name)
{
    char *text = NULL;
    size_t length = 0;
    sk_error err = {0};
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    assert_ok(sk_file_read(test_source(name), SK_MANIFEST_MAX_BYTES, &text, &length, &err), &err);
    assert_ok(sk_manifest_open(text, length, "manifest.yaml", &m, &problems, &err), &err);
    if (problems.count)
        fail_msg("%s: %s", name, sk_text_get(&problems.lines));
    sk_problems_free(&problems);
    sk_free(text);
    return m;
}

static void a_manifest_is_read_as_it_is_written(void **state)
{
    (void)state;
    sk_manifest *m = open_fixture("tests/fixtures/ros/models/flies/manifest.yaml");
    assert_string_equal(m->name, "flies");
    assert_string_equal(m->default_variant, "flies_small");
    assert_int_equal(m->variants.count, 2);
    assert_string_equal(m->variants.items[1], "flies_large");
    assert_int_equal(m->backends.count, 2);
    assert_int_equal(m->n_publishers, 2);
    assert_string_equal(m->publishers[1].topic, "/flies/tracks");
    assert_int_equal(m->n_parameters, 3);
    assert_int_equal(m->parameters[1].at->line, 32);
    assert_int_equal(m->parameters[1].at->column, 7);
    int64_t megabytes = 0;
    assert_true(sk_config_to_int(sk_manifest_vram(m, "flies_small"), &megabytes));
    assert_int_equal(megabytes, 120);
    assert_null(sk_manifest_vram(m, "flies_large"));

    sk_problems problems = {0};
    sk_ros_meaning meaning;
    sk_manifest_meaning(m, &meaning, &problems);
    assert_int_equal(problems.count, 0);
    assert_string_equal(meaning.task, "obb");
    assert_true(meaning.has_turned_boxes && meaning.has_tracks && !meaning.has_keypoints);
    assert_string_equal(meaning.topics[SK_ROS_TRACKS]->topic, "/flies/tracks");
    assert_null(meaning.topics[SK_ROS_ANNOTATED]);
    assert_string_equal(meaning.input->topic, "/arena/image");
    sk_text first = {0}, second = {0};
    sk_manifest_weights(m, meaning.task, "flies_large", &first, &second);
    assert_string_equal(sk_text_get(&first), "large.pt");
    assert_string_equal(sk_text_get(&second), "crops of heads.pt");
    sk_text_free(&first);
    sk_text_free(&second);
    sk_manifest_close(&m);
}

static void upstream_s_defaults_hold(void **state)
{
    (void)state;
    sk_manifest *m = open_fixture("tests/fixtures/ros/models/my_depth/manifest.yaml");
    assert_int_equal(m->backends.count, 3);
    assert_string_equal(m->backends.items[2], "openvino");
    assert_string_equal(m->output_format, "");
    assert_int_equal(m->n_publishers, 0);
    sk_problems problems = {0};
    sk_ros_meaning meaning;
    sk_manifest_meaning(m, &meaning, &problems);
    expect_problems(&problems,
                    (const char *const[]){"manifest.yaml:4:11: Model 'my_depth' is of the family 'depth'",
                                          "output.type 'depth_map'", NULL});
    sk_problems_free(&problems);
    sk_manifest_close(&m);
}

static void everything_wrong_is_told_at_its_place(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    sk_error err = {0};
    assert_ok(
        sk_file_read(test_source("tests/fixtures/ros/wrong/manifest.yaml"), 1 << 20, &text, &length, &err),
        &err);
    told(text, length,
         (const char *const[]){
             "m.yaml:7:3: 'family' is here a second time",
             "m.yaml:2:9: model.name must be a text, and is a number: put it in quotation marks",
             "m.yaml:4:17: model.variants: 'a' is there twice",
             "m.yaml:4:20: model.variants: '../b' has other",
             "m.yaml:5:20: model.default_variant 'c' is none of model.variants",
             "m.yaml:6:13: model.backends: there is no 'tpu'",
             "m.yaml:8:9: source must be a section, and is a text",
             "m.yaml:1:1: input is missing",
             "m.yaml:12:7: output.fields[0].dtype is missing",
             "m.yaml:12:7: output.fields[0].shape is missing",
             "m.yaml:13:14: output.skeleton[0] must be two numbers",
             "m.yaml:16:15: ros.publishers[0].topic: ROS allows no topic 'two words'",
             "m.yaml:17:7: ros.publishers[1].topic is missing",
             "m.yaml:17:17: ros.publishers[1].msg_type: 'a; b' names no message",
             "m.yaml:20:14: ros.parameters[1]: the parameter 'conf' is there twice, first in line 19",
             "m.yaml:21:42: ros.parameters[2].default of '9lives' is no int",
             "m.yaml:21:14: ros.parameters[2].name: ROS allows no parameter '9lives'",
             "m.yaml:22:24: ros.parameters[3].type: there is no 'colour'",
             "m.yaml:23:7: ros.parameters[4].default is missing",
             "m.yaml:24:12: resources must be a section",
             NULL});
    sk_free(text);
}

static void what_no_node_could_do_is_told(void **state)
{
    (void)state;
    static const char text[] = HEAD "ros:\n"
                                    "  publishers:\n"
                                    "  - {topic: a, msg_type: DetectionArray}\n"
                                    "  - {topic: b, msg_type: vision_msgs/msg/Detection2DArray}\n"
                                    "  - {topic: c, msg_type: KeypointArray}\n"
                                    "  - {topic: d, msg_type: TrackArray}\n"
                                    "  - {topic: e, msg_type: sensor_msgs/PointCloud2}\n"
                                    "  - {topic: f, msg_type: sensor_msgs/Image, encoding: 32FC1}\n"
                                    "  subscribers: [{topic: g, msg_type: DetectionArray}]\n"
                                    "  services: [{name: infer, srv_type: Infer}]\n"
                                    "  parameters:\n"
                                    "  - {name: confidence_treshold, type: float, default: 0.5}\n"
                                    "  - {name: iou_threshold, type: float, default: 1.5}\n"
                                    "  - {name: classes, type: list, default: [dog]}\n"
                                    "  - {name: max_detections, type: float, default: 3.0}\n"
                                    "  - {name: qos_reliability, type: string, default: perfect}\n"
                                    "  - {name: peak_threshold, type: float, default: 0.2}\n"
                                    "  - {name: weights_path, type: string, default: a.pt}\n"
                                    "  - {name: variant, type: string, default: x}\n"
                                    "  - {name: input_topic, type: string, default: 'a b'}\n";
    sk_error err = {0};
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    sk_ros_meaning meaning;
    assert_ok(sk_manifest_open(text, sizeof text - 1, "m.yaml", &m, &problems, &err), &err);
    assert_non_null(m);
    sk_manifest_meaning(m, &meaning, &problems);
    expect_problems(
        &problems,
        (const char *const[]){
            "m.yaml:8:26: 'a' and 'b' would both carry the same detections",
            "m.yaml:9:26: 'c': a model for detect has no keypoints",
            "m.yaml:10:26: 'd': tracks are published where",
            "m.yaml:11:26: 'sensor_msgs/PointCloud2' cannot be published",
            "m.yaml:12:55: 'f': the image with results drawn in is rgb8, not '32FC1'",
            "m.yaml:13:17: 'g' (DetectionArray): the node subscribes to one topic", "the service 'infer'",
            "m.yaml:16:12: the node of this model has no parameter 'confidence_treshold': did you mean "
            "'confidence_threshold'?",
            "m.yaml:17:49: the parameter 'iou_threshold' lies between 0 and 1",
            "m.yaml:18:42: the parameter 'classes' takes a list of whole numbers",
            "m.yaml:19:34: the parameter 'max_detections' is of type int, not float",
            "m.yaml:20:52: the parameter 'qos_reliability' is one of best_effort|reliable, not 'perfect'",
            "m.yaml:21:12: the node of this model has no parameter 'peak_threshold'",
            "m.yaml:22:12: the parameter 'weights_path' follows from source.weights",
            "m.yaml:23:12: the parameter 'variant' follows from",
            "m.yaml:24:48: the parameter 'input_topic': ROS allows no topic 'a b'", NULL});
    sk_problems_free(&problems);
    sk_manifest_close(&m);
}

/* What is in order: parameters at the ends of their ranges, topics and choices as ROS has them. What stands at another place of the
 * manifest is told with that place. */
static void parameters_go_up_to_their_ends(void **state)
{
    (void)state;
    static const struct {
        const char *ros, *problem; /* null: none */
    } cases[] = {
        {"parameters: [{name: iou_threshold, type: float, default: 0}]", NULL},
        {"parameters: [{name: iou_threshold, type: float, default: 1}]", NULL},
        {"parameters: [{name: iou_threshold, type: double, default: 0.5}]", NULL},
        {"parameters: [{name: iou_threshold, type: float, default: -0.01}]", "lies between 0 and 1"},
        {"parameters: [{name: iou_threshold, type: float, default: 1.01}]", "lies between 0 and 1"},
        {"parameters: [{name: iou_threshold, type: string, default: x}]", "is of type float, not string"},
        {"parameters: [{name: classes, type: list, default: []}]", NULL},
        {"parameters: [{name: classes, type: list, default: [0, 3]}]", NULL},
        {"parameters: [{name: classes, type: list, default: [0, -1]}]", "takes a list of whole numbers"},
        {"parameters: [{name: classes, type: list, default: [0.5]}]", "takes a list of whole numbers"},
        {"parameters: [{name: qos_reliability, type: string, default: reliable}]", NULL},
        {"parameters: [{name: qos_reliability, type: string, default: reliabl}]", "is one of best_effort|"},
        {"parameters: [{name: qos_reliability, type: string, default: best_effort|reliable}]", "is one of"},
        {"parameters: [{name: input_topic, type: string, default: /camera/image}]", NULL},
        {"parameters: [{name: second_weights_path, type: string, default: b.pt}]",
         "the parameter 'second_weights_path' follows from source.weights"},
        {"subscribers: [{topic: a, msg_type: sensor_msgs/Image}]\n  parameters: [{name: input_topic, "
         "type: string, default: b}]",
         "the parameter 'input_topic' follows from ros.subscribers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_problems problems = {0};
        sk_manifest *m = NULL;
        sk_ros_meaning meaning;
        sk_text text = {0};
        sk_text_appendf(&text, HEAD "ros:\n  publishers: [{topic: d, msg_type: DetectionArray}]\n  %s\n",
                        cases[i].ros);
        assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "m.yaml", &m, &problems, &err), &err);
        if (!m)
            fail_msg("%s: %s", cases[i].ros, sk_text_get(&problems.lines));
        sk_manifest_meaning(m, &meaning, &problems);
        if (problems.count != (cases[i].problem != NULL) ||
            (cases[i].problem && !strstr(sk_text_get(&problems.lines), cases[i].problem)))
            fail_msg("%s: %zu problems: %s", cases[i].ros, problems.count, sk_text_get(&problems.lines));
        sk_problems_free(&problems);
        sk_manifest_close(&m);
        sk_text_free(&text);
    }
}

static void skeletons_are_pairs_of_keypoints(void **state)
{
    (void)state;
    static const struct {
        const char *edges;
        bool good;
    } cases[] = {{"[]", true},
                 {"[[0, 1]]", true},
                 {"[[65535, 0], [1, 65535]]", true},
                 {"[[65536, 0]]", false},
                 {"[[0, 65536]]", false},
                 {"[[-1, 0]]", false},
                 {"[[0, -1]]", false},
                 {"[[0]]", false},
                 {"[[0, 1, 2]]", false},
                 {"[[0, x]]", false},
                 {"[[x, 0]]", false},
                 {"[[0, 1], 3]", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_problems problems = {0};
        sk_manifest *m = NULL;
        sk_text text = {0};
        sk_text_appendf(
            &text,
            "model: {name: x, family: ultralytics, variants: [x], default_variant: x}\n"
            "source: {type: a, repo: b}\ninput: {}\noutput: {type: keypoints, skeleton: %s}\nros: {}\n",
            cases[i].edges);
        assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "m.yaml", &m, &problems, &err), &err);
        if ((m != NULL) != cases[i].good || (problems.count == 0) != cases[i].good)
            fail_msg("%s: %s", cases[i].edges, sk_text_get(&problems.lines));
        if (!cases[i].good)
            assert_non_null(strstr(sk_text_get(&problems.lines), "must be two numbers of keypoints"));
        sk_problems_free(&problems);
        sk_manifest_close(&m);
        sk_text_free(&text);
    }
}

static void weights_follow_the_variant(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *task, *file;
    } rows[] = {{"x_v8n", "detect", "yolov8n.pt"},   {"x_v11x", "pose", "yolo11x-pose.pt"},
                {"x_12s", "obb", "yolo12s-obb.pt"},  {"x_v26l", "detect", "yolo26l.pt"},
                {"x_v10b", "detect", "yolov10b.pt"}, {"x_best", "pose", "best.pt"},
                {"best", "detect", "best.pt"},       {"x_v8nano", "detect", "v8nano.pt"}};
    static const char text[] = HEAD "ros: {}\n";
    sk_error err = {0};
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    assert_ok(sk_manifest_open(text, sizeof text - 1, "m.yaml", &m, &problems, &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_text first = {0}, second = {0};
        sk_manifest_weights(m, rows[i].task, rows[i].variant, &first, &second);
        assert_string_equal(sk_text_get(&first), rows[i].file);
        assert_string_equal(sk_text_get(&second), "");
        sk_text_free(&first);
    }
    sk_manifest_close(&m);
}

static sk_status open_and_mean(void *context, sk_error *err)
{
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    sk_ros_meaning meaning;
    sk_status status = sk_manifest_open(context, strlen(context), "m.yaml", &m, &problems, err);
    if (m)
        sk_manifest_meaning(m, &meaning, &problems);
    sk_problems_free(&problems);
    sk_manifest_close(&m);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static char good[] = HEAD "ros: {publishers: [{topic: a, msg_type: DetectionArray}]}\n";
    assert_true(test_every_allocation(open_and_mean, good) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_manifest_is_read_as_it_is_written),
                                       cmocka_unit_test(upstream_s_defaults_hold),
                                       cmocka_unit_test(everything_wrong_is_told_at_its_place),
                                       cmocka_unit_test(what_no_node_could_do_is_told),
                                       cmocka_unit_test(parameters_go_up_to_their_ends),
                                       cmocka_unit_test(skeletons_are_pairs_of_keypoints),
                                       cmocka_unit_test(weights_follow_the_variant),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests_name("ros/manifest", tests, NULL, NULL);
}
