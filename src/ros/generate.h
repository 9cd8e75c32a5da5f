/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_GENERATE_H
#define SK_ROS_GENERATE_H

#include "ros/request.h"
#include "ros/shipped.h"

/* A package's files, in memory until all of them are there: the same request gives the same bytes. */
typedef struct sk_ros_package {
    char *name;
    struct sk_ros_package_file {
        char *path; /* in the package: "src/node.cpp" */
        char *text;
        size_t length;
    } * files; /* by path */
    size_t count, capacity;
} sk_ros_package;

/* Renders the templates ("package/…" of the list, which ends with a null name). Writes nothing anywhere. */
sk_status sk_ros_render(const sk_ros_choice *choice, const sk_ros_file *templates, sk_ros_package **out,
                        sk_error *err) SK_MUST_CHECK;
void sk_ros_package_close(sk_ros_package **package);

/* Both make `folder` where it is not there; after a failure everything is as it was. *path (sk_free) is what was written.
 * zip: folder/NAME.zip, in place of one that is there. */
sk_status sk_ros_write_zip(const sk_ros_package *package, const char *folder, char **path,
                           sk_error *err) SK_MUST_CHECK;
/* folder/NAME/, there whole or not at all. One that is there is refused, or (overwrite) its files are replaced one by one, and
 * what else lies in it stays. */
sk_status sk_ros_write_folder(const sk_ros_package *package, const char *folder, bool overwrite, char **path,
                              sk_error *err) SK_MUST_CHECK;
/* Would that be refused? SK_OK: no. */
sk_status sk_ros_check_folder(const sk_ros_package *package, const char *folder, bool overwrite,
                              sk_error *err) SK_MUST_CHECK;
/* Where they would be written. Null when memory is out. */
char *sk_ros_package_path(const sk_ros_package *package, const char *folder, bool zip);

#endif
