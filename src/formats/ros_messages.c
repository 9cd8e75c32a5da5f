/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ros_messages.h"

/* Rows of the tables. */
#define ROW(kind_, form_, n, type, field, part)                                                              \
    {                                                                                                        \
        .name = #field, .kind = SK_MSG_##kind_, .form = SK_MSG_##form_, .capacity = (n),                     \
        .offset = offsetof(type, field), .bytes = sizeof(((type *)0)->field), .nested = (part)               \
    }
#define ONE(kind, type, field)             ROW(kind, ONE, 0, type, field, NULL)
#define BOUNDED(type, field, n)            ROW(BOUNDED_STRING, ONE, n, type, field, NULL)
#define LIST(kind, type, field)            ROW(kind, SEQUENCE, 0, type, field, NULL)
#define ARRAY(kind, type, field, n)        ROW(kind, ARRAY, n, type, field, NULL)
#define SUB(type, field, part)             ROW(NESTED, ONE, 0, type, field, &(part))
#define SUBS(type, field, part)            ROW(NESTED, SEQUENCE, 0, type, field, &(part))
#define SUBS_BOUNDED(type, field, part, n) ROW(NESTED, BOUNDED_SEQUENCE, n, type, field, &(part))
#define TABLE(scope, object, name, type, ...)                                                                \
    static const sk_msg_member object##_members[] = {__VA_ARGS__};                                           \
    scope const sk_msg_layout object = {name, sizeof(type), object##_members,                                \
                                        sizeof object##_members / sizeof object##_members[0]}
#define LAYOUT(...) TABLE(, __VA_ARGS__)
#define PART(...)   TABLE(static, __VA_ARGS__)

PART(time_part, "builtin_interfaces/msg/Time", sk_msg_time, ONE(I32, sk_msg_time, sec),
     ONE(U32, sk_msg_time, nanosec));
LAYOUT(sk_msg_header_layout, "std_msgs/msg/Header", sk_msg_header, SUB(sk_msg_header, stamp, time_part),
       ONE(STRING, sk_msg_header, frame_id));
LAYOUT(sk_msg_string_layout, "std_msgs/msg/String", sk_msg_string, ONE(STRING, sk_msg_string, data));
LAYOUT(sk_msg_image_layout, "sensor_msgs/msg/Image", sk_msg_image,
       SUB(sk_msg_image, header, sk_msg_header_layout), ONE(U32, sk_msg_image, height),
       ONE(U32, sk_msg_image, width), ONE(STRING, sk_msg_image, encoding),
       ONE(U8, sk_msg_image, is_bigendian), ONE(U32, sk_msg_image, step), LIST(U8, sk_msg_image, data));
LAYOUT(sk_msg_compressed_image_layout, "sensor_msgs/msg/CompressedImage", sk_msg_compressed_image,
       SUB(sk_msg_compressed_image, header, sk_msg_header_layout),
       ONE(STRING, sk_msg_compressed_image, format), LIST(U8, sk_msg_compressed_image, data));
PART(point_part, "geometry_msgs/msg/Point", sk_msg_point, ONE(F64, sk_msg_point, x),
     ONE(F64, sk_msg_point, y), ONE(F64, sk_msg_point, z));
PART(quaternion_part, "geometry_msgs/msg/Quaternion", sk_msg_quaternion, ONE(F64, sk_msg_quaternion, x),
     ONE(F64, sk_msg_quaternion, y), ONE(F64, sk_msg_quaternion, z), ONE(F64, sk_msg_quaternion, w));
PART(pose_part, "geometry_msgs/msg/Pose", sk_msg_pose, SUB(sk_msg_pose, position, point_part),
     SUB(sk_msg_pose, orientation, quaternion_part));
PART(covariance_part, "geometry_msgs/msg/PoseWithCovariance", sk_msg_pose_with_covariance,
     SUB(sk_msg_pose_with_covariance, pose, pose_part),
     ARRAY(F64, sk_msg_pose_with_covariance, covariance, 36));
PART(point_2d_part, "vision_msgs/msg/Point2D", sk_msg_point_2d, ONE(F64, sk_msg_point_2d, x),
     ONE(F64, sk_msg_point_2d, y));
PART(pose_2d_part, "vision_msgs/msg/Pose2D", sk_msg_pose_2d, SUB(sk_msg_pose_2d, position, point_2d_part),
     ONE(F64, sk_msg_pose_2d, theta));
PART(box_part, "vision_msgs/msg/BoundingBox2D", sk_msg_bounding_box,
     SUB(sk_msg_bounding_box, center, pose_2d_part), ONE(F64, sk_msg_bounding_box, size_x),
     ONE(F64, sk_msg_bounding_box, size_y));
PART(hypothesis_part, "vision_msgs/msg/ObjectHypothesis", sk_msg_object_hypothesis,
     ONE(STRING, sk_msg_object_hypothesis, class_id), ONE(F64, sk_msg_object_hypothesis, score));
PART(hypothesis_with_pose_part, "vision_msgs/msg/ObjectHypothesisWithPose", sk_msg_hypothesis_with_pose,
     SUB(sk_msg_hypothesis_with_pose, hypothesis, hypothesis_part),
     SUB(sk_msg_hypothesis_with_pose, pose, covariance_part));
PART(detection_part, "vision_msgs/msg/Detection2D", sk_msg_detection,
     SUB(sk_msg_detection, header, sk_msg_header_layout),
     SUBS(sk_msg_detection, results, hypothesis_with_pose_part), SUB(sk_msg_detection, bbox, box_part),
     ONE(STRING, sk_msg_detection, id));
LAYOUT(sk_msg_detection_array_layout, "vision_msgs/msg/Detection2DArray", sk_msg_detection_array,
       SUB(sk_msg_detection_array, header, sk_msg_header_layout),
       SUBS(sk_msg_detection_array, detections, detection_part));
PART(keypoint_part, "skitter_msgs/msg/Keypoint", sk_msg_keypoint, ONE(STRING, sk_msg_keypoint, name),
     ONE(F64, sk_msg_keypoint, x), ONE(F64, sk_msg_keypoint, y), ONE(F32, sk_msg_keypoint, score),
     ONE(BOOL, sk_msg_keypoint, visible));
PART(instance_part, "skitter_msgs/msg/Instance", sk_msg_instance, ONE(I32, sk_msg_instance, class_id),
     ONE(STRING, sk_msg_instance, class_name), ONE(F32, sk_msg_instance, score),
     ONE(I32, sk_msg_instance, track), SUB(sk_msg_instance, box, box_part),
     SUBS(sk_msg_instance, keypoints, keypoint_part));
LAYOUT(sk_msg_instance_array_layout, "skitter_msgs/msg/InstanceArray", sk_msg_instance_array,
       SUB(sk_msg_instance_array, header, sk_msg_header_layout),
       LIST(STRING, sk_msg_instance_array, skeleton_names), LIST(I32, sk_msg_instance_array, skeleton_edges),
       SUBS(sk_msg_instance_array, instances, instance_part));
PART(track_part, "skitter_msgs/msg/Track", sk_msg_track, ONE(I32, sk_msg_track, id),
     ONE(STRING, sk_msg_track, state), ONE(F64, sk_msg_track, x), ONE(F64, sk_msg_track, y),
     ONE(F64, sk_msg_track, heading), ONE(F32, sk_msg_track, certainty),
     SUB(sk_msg_track, instance, instance_part));
LAYOUT(sk_msg_track_array_layout, "skitter_msgs/msg/TrackArray", sk_msg_track_array,
       SUB(sk_msg_track_array, header, sk_msg_header_layout), SUBS(sk_msg_track_array, tracks, track_part));
PART(key_value_part, "diagnostic_msgs/msg/KeyValue", sk_msg_key_value, ONE(STRING, sk_msg_key_value, key),
     ONE(STRING, sk_msg_key_value, value));
PART(diagnostic_part, "diagnostic_msgs/msg/DiagnosticStatus", sk_msg_diagnostic,
     ONE(BYTE, sk_msg_diagnostic, level), ONE(STRING, sk_msg_diagnostic, name),
     ONE(STRING, sk_msg_diagnostic, message), ONE(STRING, sk_msg_diagnostic, hardware_id),
     SUBS(sk_msg_diagnostic, values, key_value_part));
LAYOUT(sk_msg_diagnostic_array_layout, "diagnostic_msgs/msg/DiagnosticArray", sk_msg_diagnostic_array,
       SUB(sk_msg_diagnostic_array, header, sk_msg_header_layout),
       SUBS(sk_msg_diagnostic_array, status, diagnostic_part));
PART(gid_part, "rmw_dds_common/msg/Gid", sk_msg_gid, ARRAY(U8, sk_msg_gid, data, 16));
PART(node_part, "rmw_dds_common/msg/NodeEntitiesInfo", sk_msg_node_entities,
     BOUNDED(sk_msg_node_entities, node_namespace, 256), BOUNDED(sk_msg_node_entities, node_name, 256),
     SUBS(sk_msg_node_entities, reader_gid_seq, gid_part),
     SUBS(sk_msg_node_entities, writer_gid_seq, gid_part));
LAYOUT(sk_msg_participant_entities_layout, "rmw_dds_common/msg/ParticipantEntitiesInfo",
       sk_msg_participant_entities, SUB(sk_msg_participant_entities, gid, gid_part),
       SUBS(sk_msg_participant_entities, node_entities_info_seq, node_part));
LAYOUT(sk_msg_log_layout, "rcl_interfaces/msg/Log", sk_msg_log, SUB(sk_msg_log, stamp, time_part),
       ONE(U8, sk_msg_log, level), ONE(STRING, sk_msg_log, name), ONE(STRING, sk_msg_log, msg),
       ONE(STRING, sk_msg_log, file), ONE(STRING, sk_msg_log, function), ONE(U32, sk_msg_log, line));
PART(value_part, "rcl_interfaces/msg/ParameterValue", sk_msg_parameter_value,
     ONE(U8, sk_msg_parameter_value, type), ONE(BOOL, sk_msg_parameter_value, bool_value),
     ONE(I64, sk_msg_parameter_value, integer_value), ONE(F64, sk_msg_parameter_value, double_value),
     ONE(STRING, sk_msg_parameter_value, string_value), LIST(BYTE, sk_msg_parameter_value, byte_array_value),
     LIST(BOOL, sk_msg_parameter_value, bool_array_value),
     LIST(I64, sk_msg_parameter_value, integer_array_value),
     LIST(F64, sk_msg_parameter_value, double_array_value),
     LIST(STRING, sk_msg_parameter_value, string_array_value));
PART(parameter_part, "rcl_interfaces/msg/Parameter", sk_msg_parameter, ONE(STRING, sk_msg_parameter, name),
     SUB(sk_msg_parameter, value, value_part));
PART(float_range_part, "rcl_interfaces/msg/FloatingPointRange", sk_msg_float_range,
     ONE(F64, sk_msg_float_range, from_value), ONE(F64, sk_msg_float_range, to_value),
     ONE(F64, sk_msg_float_range, step));
PART(integer_range_part, "rcl_interfaces/msg/IntegerRange", sk_msg_integer_range,
     ONE(I64, sk_msg_integer_range, from_value), ONE(I64, sk_msg_integer_range, to_value),
     ONE(U64, sk_msg_integer_range, step));
PART(descriptor_part, "rcl_interfaces/msg/ParameterDescriptor", sk_msg_parameter_descriptor,
     ONE(STRING, sk_msg_parameter_descriptor, name), ONE(U8, sk_msg_parameter_descriptor, type),
     ONE(STRING, sk_msg_parameter_descriptor, description),
     ONE(STRING, sk_msg_parameter_descriptor, additional_constraints),
     ONE(BOOL, sk_msg_parameter_descriptor, read_only),
     ONE(BOOL, sk_msg_parameter_descriptor, dynamic_typing),
     SUBS_BOUNDED(sk_msg_parameter_descriptor, floating_point_range, float_range_part, 1),
     SUBS_BOUNDED(sk_msg_parameter_descriptor, integer_range, integer_range_part, 1));
PART(set_result_part, "rcl_interfaces/msg/SetParametersResult", sk_msg_set_parameters_result,
     ONE(BOOL, sk_msg_set_parameters_result, successful), ONE(STRING, sk_msg_set_parameters_result, reason));
PART(list_result_part, "rcl_interfaces/msg/ListParametersResult", sk_msg_list_parameters_result,
     LIST(STRING, sk_msg_list_parameters_result, names),
     LIST(STRING, sk_msg_list_parameters_result, prefixes));
LAYOUT(sk_msg_parameter_event_layout, "rcl_interfaces/msg/ParameterEvent", sk_msg_parameter_event,
       SUB(sk_msg_parameter_event, stamp, time_part), ONE(STRING, sk_msg_parameter_event, node),
       SUBS(sk_msg_parameter_event, new_parameters, parameter_part),
       SUBS(sk_msg_parameter_event, changed_parameters, parameter_part),
       SUBS(sk_msg_parameter_event, deleted_parameters, parameter_part));
LAYOUT(sk_msg_get_parameters_request_layout, "rcl_interfaces/srv/GetParameters_Request",
       sk_msg_parameter_names, LIST(STRING, sk_msg_parameter_names, names));
LAYOUT(sk_msg_get_parameters_response_layout, "rcl_interfaces/srv/GetParameters_Response",
       sk_msg_parameter_values, SUBS(sk_msg_parameter_values, values, value_part));
LAYOUT(sk_msg_get_parameter_types_request_layout, "rcl_interfaces/srv/GetParameterTypes_Request",
       sk_msg_parameter_names, LIST(STRING, sk_msg_parameter_names, names));
LAYOUT(sk_msg_get_parameter_types_response_layout, "rcl_interfaces/srv/GetParameterTypes_Response",
       sk_msg_parameter_types, LIST(U8, sk_msg_parameter_types, types));
LAYOUT(sk_msg_set_parameters_request_layout, "rcl_interfaces/srv/SetParameters_Request", sk_msg_parameters,
       SUBS(sk_msg_parameters, parameters, parameter_part));
LAYOUT(sk_msg_set_parameters_response_layout, "rcl_interfaces/srv/SetParameters_Response",
       sk_msg_set_parameters_results, SUBS(sk_msg_set_parameters_results, results, set_result_part));
LAYOUT(sk_msg_set_atomically_request_layout, "rcl_interfaces/srv/SetParametersAtomically_Request",
       sk_msg_parameters, SUBS(sk_msg_parameters, parameters, parameter_part));
LAYOUT(sk_msg_set_atomically_response_layout, "rcl_interfaces/srv/SetParametersAtomically_Response",
       sk_msg_set_atomically_result, SUB(sk_msg_set_atomically_result, result, set_result_part));
LAYOUT(sk_msg_describe_parameters_request_layout, "rcl_interfaces/srv/DescribeParameters_Request",
       sk_msg_parameter_names, LIST(STRING, sk_msg_parameter_names, names));
LAYOUT(sk_msg_describe_parameters_response_layout, "rcl_interfaces/srv/DescribeParameters_Response",
       sk_msg_parameter_descriptors, SUBS(sk_msg_parameter_descriptors, descriptors, descriptor_part));
LAYOUT(sk_msg_list_parameters_request_layout, "rcl_interfaces/srv/ListParameters_Request",
       sk_msg_list_parameters, LIST(STRING, sk_msg_list_parameters, prefixes),
       ONE(U64, sk_msg_list_parameters, depth));
LAYOUT(sk_msg_list_parameters_response_layout, "rcl_interfaces/srv/ListParameters_Response",
       sk_msg_list_parameters_response, SUB(sk_msg_list_parameters_response, result, list_result_part));

static const sk_msg_layout *const layouts[] = {
    &sk_msg_header_layout,
    &sk_msg_string_layout,
    &sk_msg_image_layout,
    &sk_msg_compressed_image_layout,
    &sk_msg_detection_array_layout,
    &sk_msg_instance_array_layout,
    &sk_msg_track_array_layout,
    &sk_msg_diagnostic_array_layout,
    &sk_msg_participant_entities_layout,
    &sk_msg_log_layout,
    &sk_msg_parameter_event_layout,
    &sk_msg_get_parameters_request_layout,
    &sk_msg_get_parameters_response_layout,
    &sk_msg_get_parameter_types_request_layout,
    &sk_msg_get_parameter_types_response_layout,
    &sk_msg_set_parameters_request_layout,
    &sk_msg_set_parameters_response_layout,
    &sk_msg_set_atomically_request_layout,
    &sk_msg_set_atomically_response_layout,
    &sk_msg_describe_parameters_request_layout,
    &sk_msg_describe_parameters_response_layout,
    &sk_msg_list_parameters_request_layout,
    &sk_msg_list_parameters_response_layout,
};

const sk_msg_layout *sk_msg_layout_at(size_t index)
{
    return index < sizeof layouts / sizeof layouts[0] ? layouts[index] : NULL;
}

const sk_msg_layout *sk_msg_layout_find(const char *type)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (strcmp(layouts[i]->type, type) == 0)
            return layouts[i];
    }
    return NULL;
}
