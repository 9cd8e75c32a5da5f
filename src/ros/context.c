/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/context.h"

#include "base/number_read.h"
#include "formats/config_make.h"
#include "ros/ros_names.h"
#include "skitter/version.h"

#include <stdlib.h>
#include <string.h>

/* What a backend needs besides skitter. */
static const struct {
    const char *backend, *plugin, *name, *why;
} needs[] = {{"cuda", "cuda", NULL, NULL},
             {"rocm", "rocm", NULL, NULL},
             {"openvino", "", "openvino", "the library that computes, loaded when the node starts"},
             {"tensorrt", "tensorrt", "tensorrt", "the library that computes, loaded when the node starts"},
             {"onnx", "", "onnxruntime", "the library that computes, loaded when the node starts"},
             {"cpu", "", NULL, NULL}};

static const char *const ros_depends[] = {"rclcpp",         "rclcpp_components", "rclcpp_lifecycle",
                                          "lifecycle_msgs", "std_msgs",          "sensor_msgs",
                                          "vision_msgs",    "diagnostic_msgs"};

static void put_names(sk_maker *m, const char *key, const char *const *items, size_t count)
{
    sk_make_list(m, key);
    for (size_t i = 0; i < count; i++)
        sk_make_text(m, NULL, items[i]);
    sk_make_close(m);
}

static void put_backend(sk_maker *m, const sk_ros_choice *c)
{
    size_t row = 0;
    while (strcmp(needs[row].backend, c->backend) != 0)
        row++;
    sk_make_text(m, "backend", c->backend);
    sk_make_text(m, "compute_runtime", c->runtime);
    sk_make_text(m, "plugin", needs[row].plugin);
    put_names(m, "ros_depends", ros_depends, sizeof ros_depends / sizeof *ros_depends);
    sk_make_list(m, "backend_packages");
    if (needs[row].name) {
        sk_make_map(m, NULL);
        sk_make_text(m, "name", needs[row].name);
        sk_make_text(m, "how", "pip");
        sk_make_text(m, "why", needs[row].why);
        sk_make_close(m);
    }
    sk_make_close(m);
}

static void put_model(sk_maker *m, const sk_ros_choice *c, const sk_text *weights, const sk_text *second)
{
    const sk_manifest *f = c->manifest;
    sk_make_text(m, "model_name", f->name);
    sk_make_text(m, "model_family", f->family);
    sk_make_text(m, "model_task", c->meaning.task);
    sk_make_text(m, "variant", c->variant);
    put_names(m, "variants", f->variants.items, f->variants.count);
    sk_make_text(m, "variant_id", sk_manifest_variant_id(f, c->variant));
    sk_make_grown(m, "weights", weights);
    sk_make_grown(m, "second_weights", second);
    sk_make_text(m, "source_type", f->source_type);
    sk_make_text(m, "source_repo", f->source_repo);
    put_names(m, "class_names", f->class_names.items, f->class_names.count);
    put_names(m, "keypoint_names", f->keypoint_names.items, f->keypoint_names.count);
    sk_make_list(m, "skeleton_edges");
    for (size_t i = 0; i < sk_config_count(f->skeleton); i++)
        for (size_t j = 0; j < 2; j++)
            sk_make_value(m, NULL, sk_config_at(f->skeleton->u.items[i], j));
    sk_make_close(m);
}

static void put_outputs(sk_maker *m, const sk_ros_choice *c)
{
    static const char *const keys[] = {"detections_topic", "keypoints_topic", "tracks_topic",
                                       "annotated_topic"};
    static const char *const types[] = {"vision_msgs/msg/Detection2DArray", "/msg/InstanceArray",
                                        "/msg/TrackArray", "sensor_msgs/msg/Image"};
    sk_make_text(m, "output_type", c->manifest->output_type);
    sk_make_bool(m, "has_boxes", c->meaning.scope == SK_ROS_YOLO);
    sk_make_bool(m, "has_turned_boxes", c->meaning.has_turned_boxes);
    sk_make_bool(m, "has_keypoints", c->meaning.has_keypoints);
    sk_make_bool(m, "has_tracks", c->meaning.has_tracks);
    for (int i = 0; i < SK_ROS_OUTPUTS; i++)
        sk_make_text(m, keys[i], c->meaning.topics[i] ? c->meaning.topics[i]->topic : "");
    sk_make_list(m, "publishers");
    for (int i = 0; i < SK_ROS_OUTPUTS; i++) {
        const sk_manifest_topic *t = c->meaning.topics[i];
        if (!t)
            continue;
        sk_text type = {0};
        sk_text_appendf(&type, "%s%s", *types[i] == '/' ? c->package_name : "", types[i]);
        sk_make_map(m, NULL);
        sk_make_text(m, "topic", t->topic);
        sk_make_text(m, "kind", sk_ros_output_name((sk_ros_output)i));
        sk_make_grown(m, "msg_type", &type);
        sk_make_text(m, "frame_id", t->frame_id);
        sk_make_text(m, "description", t->description);
        sk_make_close(m);
        sk_text_free(&type);
    }
    sk_make_close(m);
}

/* --- parameters --- */

/* The default where the request or the backend decides it; null: the manifest's, or the table's. */
static const char *decided(const sk_ros_choice *c, const char *name, const char *weights, const char *second)
{
    if (strcmp(name, "weights_path") == 0)
        return weights;
    if (strcmp(name, "second_weights_path") == 0)
        return second;
    if (strcmp(name, "variant") == 0)
        return c->variant;
    if (strcmp(name, "input_topic") == 0 && c->meaning.input)
        return c->meaning.input->topic;
    return NULL;
}

/* What upstream's runners begin with. */
static const char *backend_default(const char *backend, const char *name)
{
    if (strcmp(backend, "onnx") == 0 && strcmp(name, "execution_provider") == 0)
        return "CPUExecutionProvider";
    if (strcmp(backend, "tensorrt") == 0 && strcmp(name, "precision") == 0)
        return "fp16";
    return NULL;
}

static const sk_manifest_parameter *in_manifest(const sk_manifest *m, const char *name)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (strcmp(m->parameters[i].name, name) == 0)
            return &m->parameters[i];
    return NULL;
}

/* The manifest's default in the parameter's own kind, and as text. */
static void put_told(sk_maker *m, const sk_ros_parameter *p, const sk_config_value *value, sk_text *text)
{
    double real = 0;
    if (p->kind == SK_ROS_REAL && sk_config_to_real(value, &real))
        sk_make_real(m, "default", real);
    else
        sk_make_value(m, "default", value);
    if (p->kind == SK_ROS_TEXT) {
        sk_text_append(text, sk_config_text(value));
    } else if (p->kind == SK_ROS_REAL) {
        char number[SK_TEXT_NUMBER];
        sk_text_append(text, sk_text_number(real, 9, number, sizeof number));
    } else if (p->kind == SK_ROS_INTS) {
        sk_text_append(text, "[");
        for (size_t i = 0; i < sk_config_count(value); i++)
            sk_text_appendf(text, "%s%lld", i ? ", " : "", (long long)value->u.items[i]->u.integer);
        sk_text_append(text, "]");
    } else if (p->kind == SK_ROS_BOOL) {
        sk_text_append(text, value->u.boolean ? "true" : "false");
    } else {
        sk_text_appendf(text, "%lld", (long long)value->u.integer);
    }
}

static void put_fallback(sk_maker *m, const sk_ros_parameter *p, const char *fallback, sk_text *text)
{
    switch (p->kind) {
    case SK_ROS_BOOL: sk_make_bool(m, "default", strcmp(fallback, "true") == 0); break;
    case SK_ROS_INT: sk_make_int(m, "default", strtoll(fallback, NULL, 10)); break;
    case SK_ROS_REAL: {
        double real = 0;
        (void)!sk_number_read(fallback, fallback + strlen(fallback), &real);
        sk_make_real(m, "default", real);
        break;
    }
    case SK_ROS_TEXT: sk_make_text(m, "default", fallback); break;
    case SK_ROS_INTS:
        sk_make_list(m, "default"); /* the table's are empty */
        sk_make_close(m);
        break;
    }
    sk_text_append(text, fallback);
}

static void put_choices(sk_maker *m, const char *choices)
{
    sk_make_list(m, "choices");
    for (const char *at = choices; at;) {
        sk_text word = {0};
        const size_t length = strcspn(at, "|");
        sk_text_append_bytes(&word, at, length);
        sk_make_grown(m, NULL, &word);
        sk_text_free(&word);
        at = at[length] ? at + length + 1 : NULL;
    }
    sk_make_close(m);
}

static void put_range(sk_maker *m, const sk_ros_parameter *p)
{
    sk_make_bool(m, "has_range", p->min < p->max);
    if (p->kind == SK_ROS_REAL) {
        sk_make_real(m, "min", p->min);
        sk_make_real(m, "max", p->max);
    } else {
        sk_make_int(m, "min", (int64_t)p->min);
        sk_make_int(m, "max", (int64_t)p->max);
    }
}

static void put_parameter(sk_maker *m, const sk_ros_choice *c, const sk_ros_parameter *p, const char *own)
{
    static const char *const types[] = {[SK_ROS_BOOL] = "bool",
                                        [SK_ROS_INT] = "int",
                                        [SK_ROS_REAL] = "double",
                                        [SK_ROS_TEXT] = "string",
                                        [SK_ROS_INTS] = "int_list"};
    const sk_manifest_parameter *told = own ? NULL : in_manifest(c->manifest, p->name);
    const char *usual = backend_default(c->backend, p->name);
    sk_text text = {0};
    sk_make_map(m, NULL);
    sk_make_text(m, "name", p->name);
    sk_make_text(m, "type", types[p->kind]);
    if (told)
        put_told(m, p, told->fallback, &text);
    else
        put_fallback(m, p, own ? own : usual ? usual : p->fallback, &text);
    sk_make_grown(m, "default_text", &text);
    sk_make_bool(m, "is_empty_list", p->kind == SK_ROS_INTS && strcmp(sk_text_get(&text), "[]") == 0);
    sk_make_text(m, "description", told && *told->description ? told->description : p->help);
    put_choices(m, p->choices);
    put_range(m, p);
    sk_make_close(m);
    sk_text_free(&text);
}

sk_status sk_ros_context(const sk_ros_choice *c, sk_config **out, sk_error *err)
{
    sk_text weights = {0}, second = {0}, words = {0}, class_name = {0};
    sk_manifest_weights(c->manifest, c->meaning.task, c->variant, &weights, &second);
    sk_text_appendf(&words, "%s_node", c->package_name);
    sk_ros_camel_case(sk_text_get(&words), &class_name);
    sk_maker m;
    sk_make_begin(&m, "the package");
    sk_make_text(&m, "package_name", c->package_name);
    sk_make_grown(&m, "node_name", &words);
    sk_make_grown(&m, "class_name", &class_name);
    sk_make_text(&m, "version", "0.1.0");
    sk_make_text(&m, "skitter_version", sk_version_text());
    put_model(&m, c, &weights, &second);
    put_backend(&m, c);
    put_outputs(&m, c);
    sk_make_list(&m, "parameters");
    for (const sk_ros_parameter *p = sk_ros_parameters; p->name; p++)
        if (sk_ros_meaning_has(&c->meaning, p))
            put_parameter(&m, c, p, decided(c, p->name, sk_text_get(&weights), sk_text_get(&second)));
    sk_make_close(&m);
    const sk_status status = sk_make_finish(&m, out, err);
    sk_text_free(&weights);
    sk_text_free(&second);
    sk_text_free(&words);
    sk_text_free(&class_name);
    return status;
}
