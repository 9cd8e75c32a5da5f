/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/manifest_runs.h"

#include "base/named.h"
#include "ros/manifest_fields.h"
#include "ros/ros_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *task, *family;
    sk_ros_scope scope;
    bool keypoints, turned;
} tasks[] = {
    {"detect", "ultralytics", SK_ROS_YOLO, false, false}, {"pose", "ultralytics", SK_ROS_YOLO, true, false},
    {"obb", "ultralytics", SK_ROS_YOLO, false, true},     {"single", "sleap", SK_ROS_SLEAP, true, false},
    {"topdown", "sleap", SK_ROS_SLEAP, true, false},      {"bottomup", "sleap", SK_ROS_SLEAP, true, false}};

/* As manifests call them: upstream's words, the real types, and ours. */
static const sk_named messages[] = {{"DetectionArray", SK_ROS_DETECTIONS},
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

const char *sk_ros_output_name(sk_ros_output output)
{
    static const char *const names[] = {"detections", "keypoints", "tracks", "annotated"};
    return names[output];
}

bool sk_ros_output_find(const char *msg_type, sk_ros_output *output)
{
    const int32_t found = SK_NAMED_VALUE(messages, msg_type, -1);
    if (found >= 0)
        *output = (sk_ros_output)found;
    return found >= 0;
}

/* --- family and task --- */

static void find_task(const sk_manifest *m, sk_ros_meaning *meaning, sk_problems *problems)
{
    const sk_config_value *model = sk_config_get(m->root, "model");
    const char *wanted = m->task;
    if (!*wanted && strcmp(m->family, "ultralytics") == 0)
        wanted = strcmp(m->output_type, "keypoints") == 0 ? "pose" : "detect";
    const int32_t row = SK_ROW_NAMED(tasks, wanted);
    if (strcmp(m->family, "ultralytics") != 0 && strcmp(m->family, "sleap") != 0) {
        sk_manifest_wrong(m, sk_config_get(model, "family"), problems,
                          "Model '%s' is of the family '%s'; skitter runs models of the families ultralytics "
                          "(YOLO) and sleap",
                          m->name, m->family);
    } else if (row < 0 || strcmp(tasks[row].family, m->family) != 0) {
        const sk_config_value *at = sk_config_get(model, "task");
        sk_manifest_wrong(m, at ? at : model, problems, "model.task of the family %s is one of %s%s%s%s",
                          m->family,
                          strcmp(m->family, "sleap") == 0 ? "single, topdown, bottomup" : "detect, pose, obb",
                          *wanted ? "; there is no '" : "", wanted, *wanted ? "'" : "");
    } else {
        meaning->task = tasks[row].task;
        meaning->scope = tasks[row].scope;
        meaning->has_keypoints = tasks[row].keypoints;
        meaning->has_turned_boxes = tasks[row].turned;
    }
    static const char *const outputs[] = {"detections", "keypoints", "tracked_objects"};
    size_t i = 0;
    while (i < 3 && strcmp(outputs[i], m->output_type) != 0)
        i++;
    if (i == 3)
        sk_manifest_wrong(m, sk_config_find(m->root, "output.type"), problems,
                          "output.type '%s': skitter gives detections, keypoints and tracked_objects",
                          m->output_type);
    meaning->has_tracks = i == 2;
}

/* --- topics --- */

static void take_publisher(const sk_manifest *m, const sk_manifest_topic *t, sk_ros_meaning *meaning,
                           sk_problems *problems)
{
    sk_ros_output output;
    const sk_config_value *at = sk_config_get(t->at, "msg_type");
    if (!sk_ros_output_find(t->msg_type, &output)) {
        sk_manifest_wrong(
            m, at, problems,
            "'%s' cannot be published: there are vision_msgs/Detection2DArray (DetectionArray), "
            "InstanceArray (KeypointArray), TrackArray (TrackedObjectArray) and sensor_msgs/Image",
            t->msg_type);
        return;
    }
    if (meaning->topics[output])
        sk_manifest_wrong(m, at, problems, "'%s' and '%s' would both carry the same %s",
                          meaning->topics[output]->topic, t->topic, sk_ros_output_name(output));
    else if (output == SK_ROS_KEYPOINTS && !meaning->has_keypoints && meaning->task)
        sk_manifest_wrong(m, at, problems, "'%s': a model for %s has no keypoints", t->topic, meaning->task);
    else if (output == SK_ROS_TRACKS && !meaning->has_tracks)
        sk_manifest_wrong(m, at, problems, "'%s': tracks are published where output.type is tracked_objects",
                          t->topic);
    else if (output == SK_ROS_ANNOTATED && *t->encoding && strcmp(t->encoding, "rgb8") != 0 &&
             strcmp(t->encoding, "bgr8") != 0)
        sk_manifest_wrong(m, sk_config_get(t->at, "encoding"), problems,
                          "'%s': the image with results drawn in is rgb8, not '%s'", t->topic, t->encoding);
    meaning->topics[output] = t;
}

static void take_topics(const sk_manifest *m, sk_ros_meaning *meaning, sk_problems *problems)
{
    for (size_t i = 0; i < m->n_publishers; i++)
        take_publisher(m, &m->publishers[i], meaning, problems);
    if (m->n_publishers == 0)
        sk_manifest_wrong(m, sk_config_get(m->root, "ros"), problems,
                          "ros.publishers is empty: nobody would hear "
                          "of what is found");
    for (size_t i = 0; i < m->n_subscribers; i++) {
        const sk_manifest_topic *t = &m->subscribers[i];
        sk_ros_output output;
        if (meaning->input || !sk_ros_output_find(t->msg_type, &output) || output != SK_ROS_ANNOTATED)
            sk_manifest_wrong(
                m, t->at, problems,
                "'%s' (%s): the node subscribes to one topic of sensor_msgs/Image, and to nothing "
                "else",
                t->topic, t->msg_type);
        else
            meaning->input = t;
    }
    for (size_t i = 0; i < m->n_services; i++)
        sk_manifest_wrong(m, m->services[i].at, problems, "the service '%s': the node offers none of its own",
                          m->services[i].name);
}

/* --- parameters --- */

bool sk_ros_meaning_has(const sk_ros_meaning *meaning, const sk_ros_parameter *parameter)
{
    return parameter->scope == SK_ROS_EVERY || parameter->scope == meaning->scope ||
           (parameter->scope == SK_ROS_TRACKING && meaning->has_tracks);
}

static const char *kind_text(sk_ros_kind kind)
{
    static const char *const texts[] = {[SK_ROS_BOOL] = "bool",
                                        [SK_ROS_INT] = "int",
                                        [SK_ROS_REAL] = "float",
                                        [SK_ROS_TEXT] = "string",
                                        [SK_ROS_INTS] = "list"};
    return texts[kind];
}

static bool in_range(const sk_ros_parameter *p, const sk_config_value *value)
{
    double number = 0;
    return p->min >= p->max || (sk_config_to_real(value, &number) && number >= p->min && number <= p->max);
}

static bool is_choice(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = choices;; at++) {
        const size_t n = strcspn(at, "|");
        if (n == length && memcmp(at, text, n) == 0)
            return true;
        at += n;
        if (!*at)
            return false;
    }
}

static void check_default(const sk_manifest *m, const sk_manifest_parameter *p, const sk_ros_parameter *known,
                          sk_problems *problems)
{
    const sk_config_value *value = p->fallback;
    const bool list = known->kind == SK_ROS_INTS;
    bool good = true;
    for (size_t i = 0; list && i < sk_config_count(value); i++)
        good = good && sk_config_is(value->u.items[i], SK_CONFIG_INT) && in_range(known, value->u.items[i]);
    if (!good)
        sk_manifest_wrong(m, value, problems,
                          "the parameter '%s' takes a list of whole numbers from %g to %g", p->name,
                          known->min, known->max);
    else if (!list && !in_range(known, value))
        sk_manifest_wrong(m, value, problems, "the parameter '%s' lies between %g and %g", p->name,
                          known->min, known->max);
    else if (strcmp(p->name, "input_topic") == 0 && !sk_ros_topic_name(sk_config_text(value)))
        sk_manifest_wrong(m, value, problems, "the parameter 'input_topic': ROS allows no topic '%s'",
                          sk_config_text(value));
    else if (known->choices && sk_config_text(value) && !is_choice(known->choices, sk_config_text(value)))
        sk_manifest_wrong(m, value, problems, "the parameter '%s' is one of %s, not '%s'", p->name,
                          known->choices + (*known->choices == '|'), sk_config_text(value));
}

/* Parameters whose defaults stand elsewhere in the manifest: two places would contradict each other. */
static bool is_elsewhere(const sk_manifest *m, const sk_manifest_parameter *p, const sk_ros_meaning *meaning,
                         sk_problems *problems)
{
    const sk_config_value *at = sk_config_get(p->at, "name");
    if (strcmp(p->name, "weights_path") == 0 || strcmp(p->name, "second_weights_path") == 0)
        sk_manifest_wrong(m, at, problems, "the parameter '%s' follows from source.weights: write it there",
                          p->name);
    else if (strcmp(p->name, "variant") == 0)
        sk_manifest_wrong(m, at, problems,
                          "the parameter 'variant' follows from the request and "
                          "model.default_variant");
    else if (strcmp(p->name, "input_topic") == 0 && meaning->input)
        sk_manifest_wrong(m, at, problems, "the parameter 'input_topic' follows from ros.subscribers");
    else
        return false;
    return true;
}

static void check_parameter(const sk_manifest *m, const sk_manifest_parameter *p,
                            const sk_ros_meaning *meaning, sk_problems *problems)
{
    const sk_ros_parameter *known = sk_ros_parameter_find(p->name);
    const sk_config_value *at = sk_config_get(p->at, "name");
    if (!known || (meaning->task && !sk_ros_meaning_has(meaning, known))) {
        const char *names[64];
        size_t n = 0;
        for (const sk_ros_parameter *q = sk_ros_parameters; q->name && n < 64; q++)
            if (sk_ros_meaning_has(meaning, q))
                names[n++] = q->name;
        const char *near = sk_text_suggest(p->name, names, n);
        sk_manifest_wrong(m, at, problems, "the node of this model has no parameter '%s'%s%s%s", p->name,
                          near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
        return;
    }
    if (strcmp(p->type, kind_text(known->kind)) != 0 &&
        !(known->kind == SK_ROS_REAL && strcmp(p->type, "double") == 0)) {
        sk_manifest_wrong(m, sk_config_get(p->at, "type"), problems,
                          "the parameter '%s' is of type %s, not %s", p->name, kind_text(known->kind),
                          p->type);
        return;
    }
    if (!is_elsewhere(m, p, meaning, problems))
        check_default(m, p, known, problems);
}

void sk_manifest_meaning(const sk_manifest *m, sk_ros_meaning *meaning, sk_problems *problems)
{
    *meaning = (sk_ros_meaning){0};
    find_task(m, meaning, problems);
    if (!meaning->task) /* one reason is enough: nothing else of it could be judged */
        return;
    take_topics(m, meaning, problems);
    for (size_t i = 0; i < m->n_parameters; i++)
        check_parameter(m, &m->parameters[i], meaning, problems);
}

/* --- weights --- */

const char *sk_manifest_variant_id(const sk_manifest *manifest, const char *variant)
{
    const size_t length = strlen(manifest->name);
    return strncmp(variant, manifest->name, length) == 0 && variant[length] == '_' && variant[length + 1]
               ? variant + length + 1
               : variant;
}

/* Ultralytics' file of "v8n": yolov8n.pt; of "v11n" or "11n": yolo11n.pt; other names as they are. */
static void name_yolo_file(const char *id, const char *task, sk_text *out)
{
    const char *digits = id + (*id == 'v');
    char *end;
    const long version = strtol(digits, &end, 10);
    const bool usual = isdigit((unsigned char)*digits) && *end && strchr("nsmlxtbc", *end) && !end[1];
    if (usual)
        sk_text_appendf(out, "yolo%s%s", version < 11 ? "v" : "", digits);
    else
        sk_text_append(out, id);
    if (usual && strcmp(task, "detect") != 0)
        sk_text_appendf(out, "-%s", task);
    sk_text_append(out, ".pt");
}

void sk_manifest_weights(const sk_manifest *m, const char *task, const char *variant, sk_text *first,
                         sk_text *second)
{
    const sk_config_value *told = sk_config_get(m->weights, variant);
    if (sk_config_is(told, SK_CONFIG_LIST)) {
        sk_text_append(first, sk_config_text(sk_config_at(told, 0)));
        if (told->length > 1)
            sk_text_append(second, sk_config_text(sk_config_at(told, 1)));
    } else if (told) {
        sk_text_append(first, sk_config_text(told));
    } else if (strcmp(m->family, "ultralytics") == 0) {
        name_yolo_file(sk_manifest_variant_id(m, variant), task, first);
    } else if (strcmp(task, "topdown") == 0) {
        sk_text_append(first, "centroid");
        sk_text_append(second, "centered_instance");
    } else {
        sk_text_append(first, variant);
    }
}
