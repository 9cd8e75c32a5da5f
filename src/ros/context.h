/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_CONTEXT_H
#define SK_ROS_CONTEXT_H

#include "ros/request.h"

/* What templates of the package (share/ros/package/, ros/template.h) may name. Lists may be empty; every name is always there.
 *
 * the package
 *   package_name      text     "fly_watch": a ROS package name, safe everywhere
 *   node_name         text     "fly_watch_node"
 *   class_name        text     "FlyWatchNode", the C++ class of the component
 *   version           text     "0.1.0"
 *   skitter_version   text     of the program that generates, "0.4.0"
 *
 * the model
 *   model_name        text     "yolo_pose", as the manifest says
 *   model_family      text     "ultralytics" or "sleap"
 *   model_task        text     detect, pose, obb, single, topdown, bottomup
 *   variant           text     "yolo_pose_v11n";  variants  list of texts: all that the manifest has
 *   variant_id        text     "v11n": without the model's name before it
 *   weights           text     "yolo11n-pose.pt": the default of weights_path, a bare file or folder name
 *   second_weights    text     "" but for models of two networks
 *   source_type, source_repo    texts
 *   class_names       list of texts: what the manifest tells of a user's own model
 *   keypoint_names    list of texts
 *   skeleton_edges    list of integers, two for every edge
 *
 * where it runs
 *   backend           text     cuda, rocm, openvino, tensorrt, onnx, cpu
 *   compute_runtime   text     cuda, rocm, openvino, tensorrt, onnx_cpu, cpu
 *   ros_depends       list of texts: packages for package.xml and find_package ("rclcpp", "vision_msgs" …)
 *   plugin            text     cuda, rocm, tensorrt: which `make plugin-…` of skitter the backend needs; "" for none
 *   backend_packages  list of {.name, .how (pip), .why}: what else the backend needs, for Dockerfile and README
 *
 * what comes out
 *   output_type       text     detections, keypoints, tracked_objects
 *   has_boxes, has_turned_boxes, has_keypoints, has_tracks    truths
 *   detections_topic, keypoints_topic, tracks_topic, annotated_topic    texts such as "~/detections"; "" where not published
 *   publishers        list of {.topic, .kind (detections, keypoints, tracks, annotated), .msg_type ("vision_msgs/msg/
 *                     Detection2DArray", "fly_watch/msg/InstanceArray" …), .frame_id, .description}
 *
 * parameters          list, in the order of ros/parameter_table.h, of those that this model has:
 *   .name             text
 *   .type             text     bool, int, double, string, int_list: {{#.type=int_list}}std::vector<int64_t>{{/.type}}
 *   .default          value    of that type: {{.default|cpp}}, {{.default|yaml}}, {{.default|py}}
 *   .default_text     text     the same as a launch argument takes it: "0.25", "true", "[0, 2]", "raw"
 *   .is_empty_list    truth    rcl's parameter files know no empty list: such a parameter is left out there
 *   .description      text
 *   .choices          list of texts; empty: any
 *   .has_range        truth;   .min, .max  numbers of its type
 */

/* All of it for a request that was found good; ended by sk_config_close, before the catalogue. */
sk_status sk_ros_context(const sk_ros_choice *choice, sk_config **out, sk_error *err) SK_MUST_CHECK;

#endif
