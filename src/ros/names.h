/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_NAMES_H
#define SK_ROS_NAMES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Names in ROS 2's graph: a node's own, and those of topics and services as it resolves them. "/a/b" is whole; "b" lies in the
 * node's namespace; "~/b" below the node itself. A remapping gives another name, compared once both are whole. */

#define SK_ROS_NAME   256 /* bytes of a whole name, with its zero */
#define SK_ROS_REMAPS 64

typedef struct sk_ros_remap {
    char from[SK_ROS_NAME], to[SK_ROS_NAME];
} sk_ros_remap;

typedef struct sk_ros_names {
    char node[SK_ROS_NAME];       /* "skitter" */
    char name_space[SK_ROS_NAME]; /* "/", "/robot/left" */
    int n_remaps;
    sk_ros_remap remaps[SK_ROS_REMAPS];
} sk_ros_names;

bool sk_ros_names_is_part(
    const char *text); /* letters, digits, '_', no digit first: a node's or a package's name */

/* Takes the node's name and namespace. SK_ERR_ARG says what a name may be. */
sk_status sk_ros_names_init(sk_ros_names *names, const char *node, const char *name_space,
                            sk_error *err) SK_MUST_CHECK;
/* "from:=to", as after --remap: "__node:=name", "__ns:=/space", "image:=/camera/image"; before a colon may stand the node that
 * it is for ("other:a:=b": not this one). Those that name the node come before all others. */
sk_status sk_ros_names_remap(sk_ros_names *names, const char *rule, sk_error *err) SK_MUST_CHECK;
/* The whole name, remapped. SK_ERR_ARG for one that ROS would not take. */
sk_status sk_ros_names_resolve(const sk_ros_names *names, const char *name, char out[SK_ROS_NAME],
                               sk_error *err) SK_MUST_CHECK;
/* The topic on which image_transport sends `topic` in another form: "compressed". A rule for that topic itself ("image/compressed")
 * counts first; else one for `topic`, whose new name gets the ending, and may be remapped once more. A topic that has the ending
 * already is taken as it is. */
sk_status sk_ros_names_resolve_transport(const sk_ros_names *names, const char *topic, const char *transport,
                                         char out[SK_ROS_NAME], sk_error *err) SK_MUST_CHECK;
/* "/robot/left/skitter" */
void sk_ros_names_whole(const sk_ros_names *names, char out[2 * SK_ROS_NAME]);
/* Does a pattern of a parameter file mean this node: its name, whole or not, with * for a part and ** for any number? */
bool sk_ros_names_meant(const sk_ros_names *names, const char *pattern);

#endif
