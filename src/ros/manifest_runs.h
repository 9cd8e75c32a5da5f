/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_MANIFEST_RUNS_H
#define SK_ROS_MANIFEST_RUNS_H

#include "ros/manifest.h"
#include "ros/parameter_table.h"

/* What a manifest means for a node of ours: which network, which messages, which parameters. */

/* What it publishes. */
typedef enum sk_ros_output {
    SK_ROS_DETECTIONS = 0,
    SK_ROS_KEYPOINTS,
    SK_ROS_TRACKS,
    SK_ROS_ANNOTATED,
    SK_ROS_OUTPUTS
} sk_ros_output;

const char *sk_ros_output_name(sk_ros_output output);                 /* "detections" … */
bool sk_ros_output_find(const char *msg_type, sk_ros_output *output); /* by the message a manifest names */

typedef struct sk_ros_meaning {
    const char *task; /* detect, pose, obb, single, topdown, bottomup */
    sk_ros_scope scope;
    bool has_keypoints, has_turned_boxes, has_tracks;
    const sk_manifest_topic *topics[SK_ROS_OUTPUTS]; /* null where it is not published */
    const sk_manifest_topic *input;                  /* null: the usual one */
} sk_ros_meaning;

/* Fills *meaning; why a package would not run goes to *problems, all of it: a family that skitter has not, parameters that no
 * node reads, messages that it cannot publish. */
void sk_manifest_meaning(const sk_manifest *manifest, sk_ros_meaning *meaning, sk_problems *problems);
/* Does this model have the parameter? */
bool sk_ros_meaning_has(const sk_ros_meaning *meaning, const sk_ros_parameter *parameter);

/* The files or folders of this variant; *second is "" where there is one. Written into texts that the caller frees. */
void sk_manifest_weights(const sk_manifest *manifest, const char *task, const char *variant, sk_text *first,
                         sk_text *second);
/* "v8n" of "yolo_v8n": without the model's name before it. Borrowed. */
const char *sk_manifest_variant_id(const sk_manifest *manifest, const char *variant);

#endif
