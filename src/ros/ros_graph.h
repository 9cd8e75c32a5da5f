/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_ROS_GRAPH_H
#define SK_ROS_ROS_GRAPH_H

#include "ros/dds.h"
#include "ros/names.h"

/* What makes a DDS participant a node of ROS 2: topics, services and types by ROS's names on the wire, and an announcement on
 * "ros_discovery_info" of which endpoints are whose. Conventions: ros2/rmw_dds_common and ros2/rmw_cyclonedds. */

typedef struct sk_ros_graph sk_ros_graph;

typedef struct sk_ros_graph_settings {
    uint32_t domain;     /* ROS_DOMAIN_ID */
    bool humble;         /* as up to Humble: global ids of 24 bytes, types without hashes */
    const char *enclave; /* null: "/" */
    const char
        *messages; /* the package whose types stand for skitter_msgs: a generated one's; null: skitter_msgs */
} sk_ros_graph_settings;

/* `names` is borrowed until close. */
sk_status sk_ros_graph_open(const sk_ros_graph_settings *settings, const sk_ros_names *names,
                            sk_ros_graph **out, sk_error *err) SK_MUST_CHECK;
/* Tells others that the node is gone, and ends all its endpoints. */
void sk_ros_graph_close(sk_ros_graph **graph);
sk_participant *sk_ros_graph_participant(const sk_ros_graph *graph);

/* Endpoints belong to the graph, and end with it. `topic` is ROS's name ("~/detections"), `type` "sensor_msgs/msg/Image". */
sk_status sk_ros_graph_publish(sk_ros_graph *graph, const char *topic, const char *type,
                               const sk_dds_quality *quality, sk_publisher **out,
                               sk_error *err) SK_MUST_CHECK;
sk_status sk_ros_graph_subscribe(sk_ros_graph *graph, const char *topic, const char *type,
                                 const sk_dds_quality *quality, sk_subscriber **out,
                                 sk_error *err) SK_MUST_CHECK;
/* The same with a topic that is whole and remapped. */
sk_status sk_ros_graph_subscribe_whole(sk_ros_graph *graph, const char *topic, const char *type,
                                       const sk_dds_quality *quality, sk_subscriber **out,
                                       sk_error *err) SK_MUST_CHECK;

/* A service: requests come and replies go with two numbers before the message, that the reply gives back as they came. */
typedef struct sk_ros_graph_service {
    sk_subscriber *requests;
    sk_publisher *replies;
} sk_ros_graph_service;
/* `type`: "rcl_interfaces/srv/GetParameters" */
sk_status sk_ros_graph_serve(sk_ros_graph *graph, const char *name, const char *type,
                             sk_ros_graph_service *out, sk_error *err) SK_MUST_CHECK;

/* Tells others of all endpoints, once they are there. */
sk_status sk_ros_graph_announce(sk_ros_graph *graph, sk_error *err) SK_MUST_CHECK;

#endif
