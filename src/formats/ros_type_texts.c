/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ros_types.h"

/* The messages skitter speaks, field by field as their packages define them (common_interfaces, rcl_interfaces,
 * rmw_dds_common, vision_msgs 4); skitter_msgs are our own: what vision_msgs has no place for. */
const sk_msg_type sk_msg_type_list[] = {
    {"builtin_interfaces/msg/Time", "int32 sec\n"
                                    "uint32 nanosec\n"},
    {"std_msgs/msg/Header", "builtin_interfaces/Time stamp\n"
                            "string frame_id\n"},
    {"std_msgs/msg/String", "string data\n"},

    {"sensor_msgs/msg/Image", "std_msgs/Header header\n"
                              "uint32 height\n"
                              "uint32 width\n"
                              "string encoding\n"
                              "uint8 is_bigendian\n"
                              "uint32 step\n"
                              "uint8[] data\n"},
    {"sensor_msgs/msg/CompressedImage", "std_msgs/Header header\n"
                                        "string format\n"
                                        "uint8[] data\n"},

    {"geometry_msgs/msg/Point", "float64 x\n"
                                "float64 y\n"
                                "float64 z\n"},
    {"geometry_msgs/msg/Quaternion", "float64 x 0\n"
                                     "float64 y 0\n"
                                     "float64 z 0\n"
                                     "float64 w 1\n"},
    {"geometry_msgs/msg/Pose", "Point position\n"
                               "Quaternion orientation\n"},
    {"geometry_msgs/msg/PoseWithCovariance", "Pose pose\n"
                                             "float64[36] covariance\n"},

    {"vision_msgs/msg/Point2D", "float64 x\n"
                                "float64 y\n"},
    {"vision_msgs/msg/Pose2D", "vision_msgs/Point2D position\n"
                               "float64 theta\n"},
    {"vision_msgs/msg/BoundingBox2D", "vision_msgs/Pose2D center\n"
                                      "float64 size_x\n"
                                      "float64 size_y\n"},
    {"vision_msgs/msg/ObjectHypothesis", "string class_id\n"
                                         "float64 score\n"},
    {"vision_msgs/msg/ObjectHypothesisWithPose", "ObjectHypothesis hypothesis\n"
                                                 "geometry_msgs/PoseWithCovariance pose\n"},
    {"vision_msgs/msg/Detection2D", "std_msgs/Header header\n"
                                    "ObjectHypothesisWithPose[] results\n"
                                    "BoundingBox2D bbox\n"
                                    "string id\n"},
    {"vision_msgs/msg/Detection2DArray", "std_msgs/Header header\n"
                                         "Detection2D[] detections\n"},

    {"skitter_msgs/msg/Keypoint", "string name\n"
                                  "float64 x\n"
                                  "float64 y\n"
                                  "float32 score\n"
                                  "bool visible\n"},
    {"skitter_msgs/msg/Instance", "int32 class_id\n"
                                  "string class_name\n"
                                  "float32 score\n"
                                  "int32 track\n"
                                  "vision_msgs/BoundingBox2D box\n"
                                  "Keypoint[] keypoints\n"},
    {"skitter_msgs/msg/InstanceArray", "std_msgs/Header header\n"
                                       "string[] skeleton_names\n"
                                       "int32[] skeleton_edges\n"
                                       "Instance[] instances\n"},
    {"skitter_msgs/msg/Track", "int32 id\n"
                               "string state\n"
                               "float64 x\n"
                               "float64 y\n"
                               "float64 heading\n"
                               "float32 certainty\n"
                               "Instance instance\n"},
    {"skitter_msgs/msg/TrackArray", "std_msgs/Header header\n"
                                    "Track[] tracks\n"},

    {"diagnostic_msgs/msg/KeyValue", "string key\n"
                                     "string value\n"},
    {"diagnostic_msgs/msg/DiagnosticStatus", "byte OK=0\n"
                                             "byte WARN=1\n"
                                             "byte ERROR=2\n"
                                             "byte STALE=3\n"
                                             "byte level\n"
                                             "string name\n"
                                             "string message\n"
                                             "string hardware_id\n"
                                             "KeyValue[] values\n"},
    {"diagnostic_msgs/msg/DiagnosticArray", "std_msgs/Header header\n"
                                            "DiagnosticStatus[] status\n"},

    {"rmw_dds_common/msg/Gid", "char[16] data\n"},
    {"rmw_dds_common/msg/NodeEntitiesInfo", "string<=256 node_namespace\n"
                                            "string<=256 node_name\n"
                                            "Gid[] reader_gid_seq\n"
                                            "Gid[] writer_gid_seq\n"},
    {"rmw_dds_common/msg/ParticipantEntitiesInfo", "Gid gid\n"
                                                   "NodeEntitiesInfo[] node_entities_info_seq\n"},

    {"rcl_interfaces/msg/Log", "uint8 DEBUG=10\n"
                               "uint8 INFO=20\n"
                               "uint8 WARN=30\n"
                               "uint8 ERROR=40\n"
                               "uint8 FATAL=50\n"
                               "builtin_interfaces/Time stamp\n"
                               "uint8 level\n"
                               "string name\n"
                               "string msg\n"
                               "string file\n"
                               "string function\n"
                               "uint32 line\n"},
    {"rcl_interfaces/msg/ParameterValue", "uint8 type\n"
                                          "bool bool_value\n"
                                          "int64 integer_value\n"
                                          "float64 double_value\n"
                                          "string string_value\n"
                                          "byte[] byte_array_value\n"
                                          "bool[] bool_array_value\n"
                                          "int64[] integer_array_value\n"
                                          "float64[] double_array_value\n"
                                          "string[] string_array_value\n"},
    {"rcl_interfaces/msg/Parameter", "string name\n"
                                     "ParameterValue value\n"},
    {"rcl_interfaces/msg/FloatingPointRange", "float64 from_value\n"
                                              "float64 to_value\n"
                                              "float64 step\n"},
    {"rcl_interfaces/msg/IntegerRange", "int64 from_value\n"
                                        "int64 to_value\n"
                                        "uint64 step\n"},
    {"rcl_interfaces/msg/ParameterDescriptor", "string name\n"
                                               "uint8 type\n"
                                               "string description\n"
                                               "string additional_constraints\n"
                                               "bool read_only false\n"
                                               "bool dynamic_typing false\n"
                                               "FloatingPointRange[<=1] floating_point_range\n"
                                               "IntegerRange[<=1] integer_range\n"},
    {"rcl_interfaces/msg/SetParametersResult", "bool successful\n"
                                               "string reason\n"},
    {"rcl_interfaces/msg/ListParametersResult", "string[] names\n"
                                                "string[] prefixes\n"},
    {"rcl_interfaces/msg/ParameterEvent", "builtin_interfaces/Time stamp\n"
                                          "string node\n"
                                          "Parameter[] new_parameters\n"
                                          "Parameter[] changed_parameters\n"
                                          "Parameter[] deleted_parameters\n"},
    {"rcl_interfaces/srv/GetParameters_Request", "string[] names\n"},
    {"rcl_interfaces/srv/GetParameters_Response", "ParameterValue[] values\n"},
    {"rcl_interfaces/srv/GetParameterTypes_Request", "string[] names\n"},
    {"rcl_interfaces/srv/GetParameterTypes_Response", "uint8[] types\n"},
    {"rcl_interfaces/srv/SetParameters_Request", "Parameter[] parameters\n"},
    {"rcl_interfaces/srv/SetParameters_Response", "SetParametersResult[] results\n"},
    {"rcl_interfaces/srv/SetParametersAtomically_Request", "Parameter[] parameters\n"},
    {"rcl_interfaces/srv/SetParametersAtomically_Response", "SetParametersResult result\n"},
    {"rcl_interfaces/srv/DescribeParameters_Request", "string[] names\n"},
    {"rcl_interfaces/srv/DescribeParameters_Response", "ParameterDescriptor[] descriptors\n"},
    {"rcl_interfaces/srv/ListParameters_Request", "uint64 DEPTH_RECURSIVE=0\n"
                                                  "string[] prefixes\n"
                                                  "uint64 depth\n"},
    {"rcl_interfaces/srv/ListParameters_Response", "ListParametersResult result\n"},
    {"service_msgs/msg/ServiceEventInfo", "uint8 REQUEST_SENT=0\n"
                                          "uint8 REQUEST_RECEIVED=1\n"
                                          "uint8 RESPONSE_SENT=2\n"
                                          "uint8 RESPONSE_RECEIVED=3\n"
                                          "uint8 event_type\n"
                                          "builtin_interfaces/Time stamp\n"
                                          "char[16] client_gid\n"
                                          "int64 sequence_number\n"},
};
const size_t sk_msg_type_count = sizeof sk_msg_type_list / sizeof sk_msg_type_list[0];
