/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_NODE_H
#define SK_ROS_NODE_H

#include "ros/params.h"

/* A node of ROS 2 without ROS: a node's core (skitter/node_core.h) between topics. It subscribes to `input_topic` and publishes
 *
 *     ~/detections  vision_msgs/Detection2DArray      ~/annotated   sensor_msgs/Image, while somebody subscribes
 *     ~/keypoints   skitter_msgs/InstanceArray        /diagnostics  diagnostic_msgs/DiagnosticArray
 *     ~/tracks      skitter_msgs/TrackArray           /rosout       what it says
 *
 * with the stamps of the images. Keypoints are there where the model has some, tracks where they are asked for: by `track`, or
 * by a parameter that says how. Best effort: the
 * newest image wins. Reliable: every image is looked at, and who publishes faster than that is held up. */

typedef enum sk_ros_node_level {
    SK_ROS_NODE_INFO = 20,
    SK_ROS_NODE_WARNING = 30,
    SK_ROS_NODE_ERROR = 40
} sk_ros_node_level; /* by the numbers of rcl_interfaces/Log */

typedef struct sk_ros_node_settings {
    const sk_ros_names *names;
    sk_params *params; /* changed while it runs, by the services of parameters */
    uint32_t domain;
    bool humble;          /* sk_ros_graph_settings.humble */
    bool track;           /* else where a parameter of following says how */
    const char *messages; /* sk_ros_graph_settings.messages */
    /* Asked several times a second; true ends the node. */
    bool (*interrupted)(void *context);
    /* What a person should know; from any thread. */
    void (*say)(void *context, sk_ros_node_level level, const char *text);
    void *context;
} sk_ros_node_settings;

/* What passed, for the one who started it. */
typedef struct sk_ros_node_report {
    int64_t received, published, failed;
    bool
        left_behind; /* a thread is still getting a model ready: the process should end without waiting for it */
} sk_ros_node_report;

/* Runs until it is interrupted: SK_OK; SK_ERR_CANCELLED: before it was active. All of the settings is borrowed. */
sk_status sk_ros_node_run(const sk_ros_node_settings *settings, sk_ros_node_report *report,
                          sk_error *err) SK_MUST_CHECK;

#endif
