/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_SHIPPED_H
#define SK_ROS_SHIPPED_H

#include <stddef.h>

/* What lies in share/ros/, in the program itself (cmake/Embed.cmake), in the order of names.
 *
 *   models/NAME/manifest.yaml    the models that come with skitter (ros/catalogue.h)
 *   package/…                    templates of the generated package's files (ros/template.h), by their path in the package.
 *                                PACKAGE in a path becomes the package's name: include/PACKAGE/node.hpp. A file that has
 *                                nothing but blanks in it once rendered is left out. */
typedef struct sk_ros_file {
    const char *name; /* "package/package.xml" */
    const char *text; /* ended by a zero that n_bytes does not count */
    size_t n_bytes;
} sk_ros_file;

extern const sk_ros_file sk_ros_files[]; /* ended by a null name */

#endif
