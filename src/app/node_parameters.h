/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_NODE_PARAMETERS_H
#define SK_APP_NODE_PARAMETERS_H

#include <stdbool.h>

/* The parameters of a skitter node, once: 'skitter node', generated packages and manifests all speak of these. A manifest may
 * give another default; it may not name one that is not here, since nobody would read it. */
typedef enum sk_ros_kind {
    SK_ROS_BOOL = 1,
    SK_ROS_INT,
    SK_ROS_REAL,
    SK_ROS_TEXT,
    SK_ROS_INTS, /* a list of integers; [] where the default says so */
} sk_ros_kind;

/* Which models have it. */
typedef enum sk_ros_scope {
    SK_ROS_EVERY = 0,
    SK_ROS_YOLO,
    SK_ROS_SLEAP,
    SK_ROS_TRACKING,
} sk_ros_scope;

typedef struct sk_ros_parameter {
    const char *name;
    sk_ros_kind kind;
    sk_ros_scope scope;
    const char *fallback; /* the default, as YAML: "0.25", "true", "[]", and texts as they are */
    const char *choices;  /* of a text, parted by '|'; "" among them is no wish. Null: any */
    double min, max;      /* of a number, where min < max */
    const char *help;     /* one line, lower case, no full stop */
} sk_ros_parameter;

extern const sk_ros_parameter sk_ros_parameters[]; /* ended by a null name */

const sk_ros_parameter *sk_ros_parameter_find(const char *name); /* null when there is none */

#endif
