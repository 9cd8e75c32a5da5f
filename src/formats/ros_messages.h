/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ROS_MESSAGES_H
#define SK_FORMATS_ROS_MESSAGES_H

#include "base/memory.h"
#include "formats/cdr.h"
#include "formats/ros_types.h"

#include <stdbool.h>
#include <string.h>

/* Messages as C structures, and the way between them and their bytes: one table of members for each (a sk_msg_layout), which a
 * test holds against the type's .msg text.
 *
 *     sk_msg_image image;
 *     SK_TRY(sk_msg_decode(&sk_msg_image_layout, bytes, count, NULL, &image, err));      views into `bytes`
 *     sk_msg_string text = {.data = sk_msg_text_of("hello")};
 *     SK_TRY(sk_msg_encode(&sk_msg_string_layout, &text, &writer, err));                  writer.data, writer.length
 *
 * A service under Cyclone has two numbers before its message: sk_cdr_writer_begin, the numbers, sk_msg_put. */

typedef struct sk_msg_text {
    const char *data; /* null: "" */
    size_t length;
} sk_msg_text; /* in what was decoded a zero stands behind it */
static inline sk_msg_text sk_msg_text_of(const char *text)
{
    return (sk_msg_text){text, text ? strlen(text) : 0};
}
static inline bool sk_msg_text_is(sk_msg_text text, const char *other)
{
    return text.length == strlen(other) && (text.length == 0 || memcmp(text.data, other, text.length) == 0);
}

/* A sequence of elements that somebody else keeps. */
#define SK_MSG_LIST(type)                                                                                    \
    struct {                                                                                                 \
        const type *items;                                                                                   \
        size_t count;                                                                                        \
    }

typedef struct sk_msg_layout sk_msg_layout;
typedef struct sk_msg_member {
    const char *name;
    sk_msg_kind kind;
    sk_msg_form form;
    uint32_t capacity;    /* of arrays and bounded sequences; of a bounded text */
    size_t offset, bytes; /* in the structure */
    const sk_msg_layout *nested;
} sk_msg_member;
struct sk_msg_layout {
    const char *type; /* "sensor_msgs/msg/Image" */
    size_t bytes;     /* of the structure */
    const sk_msg_member *members;
    size_t count;
};

/* Begins the writer anew and writes one message. */
sk_status sk_msg_encode(const sk_msg_layout *layout, const void *message, sk_cdr_writer *writer,
                        sk_error *err) SK_MUST_CHECK;
/* Appends a message's fields; failures stay in the writer. */
void sk_msg_put(const sk_msg_layout *layout, const void *message, sk_cdr_writer *writer);

/* Texts and bytes are views into `bytes`; lists of anything else are put into the arena (null: a message with such a list that
 * is not empty is SK_ERR_ARG). What follows the last field is left alone. The message is zero where it fails. */
sk_status sk_msg_decode(const sk_msg_layout *layout, const void *bytes, size_t count, sk_arena *arena,
                        void *message, sk_error *err) SK_MUST_CHECK;
/* The same from where a reader stands. SK_ERR_MEMORY, SK_ERR_FORMAT, SK_ERR_ARG. */
sk_status sk_msg_get(const sk_msg_layout *layout, sk_cdr_reader *reader, sk_arena *arena, void *message,
                     sk_error *err) SK_MUST_CHECK;

typedef struct sk_msg_time {
    int32_t sec;
    uint32_t nanosec; /* below 1e9 */
} sk_msg_time;
static inline int64_t sk_msg_time_ns(sk_msg_time time)
{
    return (int64_t)time.sec * 1000000000 + time.nanosec;
}
static inline sk_msg_time sk_msg_time_of(int64_t ns)
{
    int64_t sec = ns / 1000000000, rest = ns % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        sec--;
    }
    return (sk_msg_time){(int32_t)sec, (uint32_t)rest};
}

typedef struct sk_msg_header {
    sk_msg_time stamp;
    sk_msg_text frame_id;
} sk_msg_header;
typedef struct sk_msg_string {
    sk_msg_text data;
} sk_msg_string;

typedef struct sk_msg_image {
    sk_msg_header header;
    uint32_t height, width;
    sk_msg_text encoding; /* "bgr8", … */
    uint8_t is_bigendian; /* of elements wider than a byte */
    uint32_t step;        /* bytes of a row */
    SK_MSG_LIST(uint8_t) data;
} sk_msg_image;
typedef struct sk_msg_compressed_image {
    sk_msg_header header;
    sk_msg_text format; /* "jpeg", "png", "bgr8; jpeg compressed bgr8", … */
    SK_MSG_LIST(uint8_t) data;
} sk_msg_compressed_image;

/* geometry_msgs and vision_msgs, nested as they are there. */
typedef struct sk_msg_point {
    double x, y, z;
} sk_msg_point;
typedef struct sk_msg_quaternion {
    double x, y, z, w;
} sk_msg_quaternion;
typedef struct sk_msg_pose {
    sk_msg_point position;
    sk_msg_quaternion orientation;
} sk_msg_pose;
typedef struct sk_msg_pose_with_covariance {
    sk_msg_pose pose;
    double covariance[36];
} sk_msg_pose_with_covariance;
typedef struct sk_msg_point_2d {
    double x, y;
} sk_msg_point_2d;
typedef struct sk_msg_pose_2d {
    sk_msg_point_2d position;
    double theta; /* radians */
} sk_msg_pose_2d;
typedef struct sk_msg_bounding_box {
    sk_msg_pose_2d center; /* pixels */
    double size_x, size_y;
} sk_msg_bounding_box;
typedef struct sk_msg_object_hypothesis {
    sk_msg_text class_id; /* skitter's: the class's name */
    double score;
} sk_msg_object_hypothesis;
typedef struct sk_msg_hypothesis_with_pose {
    sk_msg_object_hypothesis hypothesis;
    sk_msg_pose_with_covariance pose;
} sk_msg_hypothesis_with_pose;
typedef struct sk_msg_detection {
    sk_msg_header header;
    SK_MSG_LIST(sk_msg_hypothesis_with_pose) results;
    sk_msg_bounding_box bbox;
    sk_msg_text id;
} sk_msg_detection;
typedef struct sk_msg_detection_array {
    sk_msg_header header;
    SK_MSG_LIST(sk_msg_detection) detections;
} sk_msg_detection_array;

typedef struct sk_msg_keypoint {
    sk_msg_text name;
    double x, y;
    float score;
    bool visible;
} sk_msg_keypoint;
typedef struct sk_msg_instance {
    int32_t class_id;
    sk_msg_text class_name;
    float score;
    int32_t track; /* -1: none */
    sk_msg_bounding_box box;
    SK_MSG_LIST(sk_msg_keypoint) keypoints;
} sk_msg_instance;
typedef struct sk_msg_instance_array {
    sk_msg_header header;
    SK_MSG_LIST(sk_msg_text) skeleton_names;
    SK_MSG_LIST(int32_t) skeleton_edges; /* pairs */
    SK_MSG_LIST(sk_msg_instance) instances;
} sk_msg_instance_array;
typedef struct sk_msg_track {
    int32_t id;
    sk_msg_text state; /* "active", "covered", "lost" */
    double x, y, heading;
    float certainty;
    sk_msg_instance instance;
} sk_msg_track;
typedef struct sk_msg_track_array {
    sk_msg_header header;
    SK_MSG_LIST(sk_msg_track) tracks;
} sk_msg_track_array;

typedef struct sk_msg_key_value {
    sk_msg_text key, value;
} sk_msg_key_value;
enum { SK_MSG_DIAGNOSTIC_OK, SK_MSG_DIAGNOSTIC_WARN, SK_MSG_DIAGNOSTIC_ERROR, SK_MSG_DIAGNOSTIC_STALE };
typedef struct sk_msg_diagnostic {
    uint8_t level;
    sk_msg_text name, message, hardware_id;
    SK_MSG_LIST(sk_msg_key_value) values;
} sk_msg_diagnostic;
typedef struct sk_msg_diagnostic_array {
    sk_msg_header header;
    SK_MSG_LIST(sk_msg_diagnostic) status;
} sk_msg_diagnostic_array;

typedef struct sk_msg_gid {
    uint8_t data[16];
} sk_msg_gid;
typedef struct sk_msg_node_entities {
    sk_msg_text node_namespace, node_name; /* at most 256 bytes */
    SK_MSG_LIST(sk_msg_gid) reader_gid_seq;
    SK_MSG_LIST(sk_msg_gid) writer_gid_seq;
} sk_msg_node_entities;
typedef struct sk_msg_participant_entities {
    sk_msg_gid gid;
    SK_MSG_LIST(sk_msg_node_entities) node_entities_info_seq;
} sk_msg_participant_entities;

typedef struct sk_msg_log {
    sk_msg_time stamp;
    uint8_t level; /* 10 debug, 20 info, 30 warning, 40 error, 50 fatal */
    sk_msg_text name, msg, file, function;
    uint32_t line;
} sk_msg_log;

enum { /* rcl_interfaces/msg/ParameterType */
       SK_MSG_PARAMETER_NOT_SET,
       SK_MSG_PARAMETER_BOOL,
       SK_MSG_PARAMETER_INTEGER,
       SK_MSG_PARAMETER_DOUBLE,
       SK_MSG_PARAMETER_STRING,
       SK_MSG_PARAMETER_BYTE_ARRAY,
       SK_MSG_PARAMETER_BOOL_ARRAY,
       SK_MSG_PARAMETER_INTEGER_ARRAY,
       SK_MSG_PARAMETER_DOUBLE_ARRAY,
       SK_MSG_PARAMETER_STRING_ARRAY
};
typedef struct sk_msg_parameter_value {
    uint8_t type;
    bool bool_value;
    int64_t integer_value;
    double double_value;
    sk_msg_text string_value;
    SK_MSG_LIST(uint8_t) byte_array_value;
    SK_MSG_LIST(bool) bool_array_value;
    SK_MSG_LIST(int64_t) integer_array_value;
    SK_MSG_LIST(double) double_array_value;
    SK_MSG_LIST(sk_msg_text) string_array_value;
} sk_msg_parameter_value;
typedef struct sk_msg_parameter {
    sk_msg_text name;
    sk_msg_parameter_value value;
} sk_msg_parameter;
typedef struct sk_msg_float_range {
    double from_value, to_value, step;
} sk_msg_float_range;
typedef struct sk_msg_integer_range {
    int64_t from_value, to_value;
    uint64_t step;
} sk_msg_integer_range;
typedef struct sk_msg_parameter_descriptor {
    sk_msg_text name;
    uint8_t type;
    sk_msg_text description, additional_constraints;
    bool read_only, dynamic_typing;
    SK_MSG_LIST(sk_msg_float_range) floating_point_range; /* none or one, like the next */
    SK_MSG_LIST(sk_msg_integer_range) integer_range;
} sk_msg_parameter_descriptor;
typedef struct sk_msg_set_parameters_result {
    bool successful;
    sk_msg_text reason;
} sk_msg_set_parameters_result;
typedef struct sk_msg_list_parameters_result {
    SK_MSG_LIST(sk_msg_text) names;
    SK_MSG_LIST(sk_msg_text) prefixes;
} sk_msg_list_parameters_result;
typedef struct sk_msg_parameter_event {
    sk_msg_time stamp;
    sk_msg_text node;
    SK_MSG_LIST(sk_msg_parameter) new_parameters;
    SK_MSG_LIST(sk_msg_parameter) changed_parameters;
    SK_MSG_LIST(sk_msg_parameter) deleted_parameters;
} sk_msg_parameter_event;

/* The six services of parameters. Requests of get, get types and describe are alike, and those of the two that set. */
typedef struct sk_msg_parameter_names {
    SK_MSG_LIST(sk_msg_text) names;
} sk_msg_parameter_names;
typedef struct sk_msg_parameters {
    SK_MSG_LIST(sk_msg_parameter) parameters;
} sk_msg_parameters;
typedef struct sk_msg_parameter_values {
    SK_MSG_LIST(sk_msg_parameter_value) values;
} sk_msg_parameter_values;
typedef struct sk_msg_parameter_types {
    SK_MSG_LIST(uint8_t) types;
} sk_msg_parameter_types;
typedef struct sk_msg_set_parameters_results {
    SK_MSG_LIST(sk_msg_set_parameters_result) results;
} sk_msg_set_parameters_results;
typedef struct sk_msg_set_atomically_result {
    sk_msg_set_parameters_result result;
} sk_msg_set_atomically_result;
typedef struct sk_msg_parameter_descriptors {
    SK_MSG_LIST(sk_msg_parameter_descriptor) descriptors;
} sk_msg_parameter_descriptors;
typedef struct sk_msg_list_parameters {
    SK_MSG_LIST(sk_msg_text) prefixes;
    uint64_t depth; /* 0: all */
} sk_msg_list_parameters;
typedef struct sk_msg_list_parameters_response {
    sk_msg_list_parameters_result result;
} sk_msg_list_parameters_response;

extern const sk_msg_layout sk_msg_header_layout, sk_msg_string_layout, sk_msg_image_layout,
    sk_msg_compressed_image_layout, sk_msg_detection_array_layout, sk_msg_instance_array_layout,
    sk_msg_track_array_layout, sk_msg_diagnostic_array_layout, sk_msg_participant_entities_layout,
    sk_msg_log_layout, sk_msg_parameter_event_layout;
extern const sk_msg_layout sk_msg_get_parameters_request_layout, sk_msg_get_parameters_response_layout,
    sk_msg_get_parameter_types_request_layout, sk_msg_get_parameter_types_response_layout,
    sk_msg_set_parameters_request_layout, sk_msg_set_parameters_response_layout,
    sk_msg_set_atomically_request_layout, sk_msg_set_atomically_response_layout,
    sk_msg_describe_parameters_request_layout, sk_msg_describe_parameters_response_layout,
    sk_msg_list_parameters_request_layout, sk_msg_list_parameters_response_layout;

/* All of those above, for tests and for looking one up by its type's name; null past the end, and for none. */
const sk_msg_layout *sk_msg_layout_at(size_t index);
const sk_msg_layout *sk_msg_layout_find(const char *type);

#endif
