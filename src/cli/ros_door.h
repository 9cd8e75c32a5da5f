/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_ROS_DOOR_H
#define SK_CLI_ROS_DOOR_H

#include "cli/args.h"

/* The actions of `skitter ros`. What is wrong with a request is printed as vision-factory prints it, "Error: …", a line a
 * problem, on standard error; the status then is SK_ERR_FORMAT (exit code 1), or SK_ERR_ARG (2) for a mistake in the call. */
sk_status sk_ros_door_generate(const sk_args *args, sk_error *err) SK_MUST_CHECK;
sk_status sk_ros_door_list(const sk_args *args, sk_error *err) SK_MUST_CHECK;
sk_status sk_ros_door_info(const sk_args *args, sk_error *err) SK_MUST_CHECK;
sk_status sk_ros_door_manifest(const sk_args *args, sk_error *err) SK_MUST_CHECK;

#endif
