/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_DISCOVERY_H
#define SK_ROS_DISCOVERY_H

#include "base/text.h"

/* How far a node looks for others, by the variables that all of ROS 2 goes by: ROS_AUTOMATIC_DISCOVERY_RANGE (SUBNET, LOCALHOST,
 * OFF, SYSTEM_DEFAULT), ROS_STATIC_PEERS (by ';'), and the older ROS_LOCALHOST_ONLY=1. Appends Cyclone DDS's configuration for it,
 * and behind it what CYCLONEDDS_URI says, which therefore has the last word. SK_ERR_ARG names the variable that makes no sense. */
sk_status sk_ros_discovery(sk_text *out, sk_error *err) SK_MUST_CHECK;

#endif
