/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_ROS_RESULT_H
#define SK_RESULTS_ROS_RESULT_H

#include "formats/ros_messages.h"
#include "results/sink.h"

/* What was found in a frame as messages of ROS 2, written once for bags, for the node and for whoever else speaks ROS:
 *
 * - vision_msgs/Detection2DArray: a detection an instance, its class by name (by number where it has none), its box turned by
 *   theta where the model gives oriented boxes, around the keypoints that were found where it gives only those; `id` is the track;
 * - skitter_msgs/InstanceArray: the same with keypoints, and the skeleton they belong to;
 * - skitter_msgs/TrackArray: an animal that is followed, also where it is covered. */
typedef struct sk_ros_result sk_ros_result;

/* `header` is borrowed until close. */
sk_status sk_ros_result_open(const sk_run_header *header, sk_ros_result **out, sk_error *err) SK_MUST_CHECK;
void sk_ros_result_close(sk_ros_result **result);

/* Each encodes one message, its header as given. The writer's bytes are the message. */
sk_status sk_ros_result_detections(sk_ros_result *result, const sk_msg_header *header,
                                   const sk_result_frame *frame, sk_cdr_writer *writer,
                                   sk_error *err) SK_MUST_CHECK;
sk_status sk_ros_result_instances(sk_ros_result *result, const sk_msg_header *header,
                                  const sk_result_frame *frame, sk_cdr_writer *writer,
                                  sk_error *err) SK_MUST_CHECK;
/* Nobody, where the frame has no sightings. */
sk_status sk_ros_result_tracks(sk_ros_result *result, const sk_msg_header *header,
                               const sk_result_frame *frame, sk_cdr_writer *writer,
                               sk_error *err) SK_MUST_CHECK;

#endif
