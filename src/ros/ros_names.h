/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_ROS_NAMES_H
#define SK_ROS_ROS_NAMES_H

#include "base/text.h"

#include <stdbool.h>

/* Which names ROS 2 allows. */

/* A package that defines messages: rosidl's rule (lower-case letters, digits and single underscores, a letter first, no
 * underscore last), at least two characters (REP 144) and at most SK_ROS_PACKAGE_LENGTH; and no word that C++, Python, CMake
 * or a package it depends on has already. On false `why` (capacity bytes) says what is wrong, beginning with a lower-case
 * letter, and what would do. */
#define SK_ROS_PACKAGE_LENGTH 80
bool sk_ros_package_name(const char *name, char *why, size_t capacity);

/* "detections", "/camera/image_raw", "~/tracks": parts of letters, digits and underscores that begin with no digit, no part
 * empty, no two underscores together. */
bool sk_ros_topic_name(const char *name);
/* "iou_threshold", "tracker.gate" */
bool sk_ros_parameter_name(const char *name);
/* "vision_msgs/Detection2DArray", "sensor_msgs/msg/Image", "DetectionArray" */
bool sk_ros_type_name(const char *name);

/* "fly_watch" -> "FlyWatch", appended. */
void sk_ros_camel_case(const char *name, sk_text *out);

#endif
