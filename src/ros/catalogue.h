/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_CATALOGUE_H
#define SK_ROS_CATALOGUE_H

#include "ros/manifest.h"

/* The models that packages can be made for: those that come with skitter, and a folder of the user's own,
 * DIR/<model>/manifest.yaml (or DIR/manifest.yaml alone). One of the user's takes the place of a shipped one of its name. */
typedef struct sk_catalogue {
    sk_manifest **manifests; /* by name */
    size_t count, capacity;
    size_t n_shipped;     /* of those read first */
    sk_problems problems; /* manifests of the folder that cannot be read, and names that two of them have */
} sk_catalogue;

#define SK_CATALOGUE_MAX 4096 /* models of a folder */

/* `folder` may be null. A folder that is not there is SK_ERR_NOT_FOUND; manifests in it that are wrong are left out, and told
 * in `problems`. */
sk_status sk_catalogue_open(const char *folder, sk_catalogue **out, sk_error *err) SK_MUST_CHECK;
void sk_catalogue_close(sk_catalogue **catalogue);

const sk_manifest *sk_catalogue_find(const sk_catalogue *catalogue,
                                     const char *name); /* null: there is none */

/* Models of vision-factory that skitter has no network for: known by name, ended by a null name. */
typedef struct sk_ros_refused {
    const char *name, *output_type;
    const char *why; /* "it estimates depth, …", no full stop */
} sk_ros_refused;
extern const sk_ros_refused sk_ros_refused_models[];
const sk_ros_refused *sk_ros_refused_find(const char *name); /* null: not one of them */

/* Can a package be made from it? Where not, *why (if given, freed by the caller) gets the first reason. */
bool sk_catalogue_runs(const sk_manifest *manifest, sk_text *why);

#endif
