/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_REQUEST_H
#define SK_ROS_REQUEST_H

#include "ros/catalogue.h"
#include "ros/manifest_runs.h"

/* What somebody asks for: a model on a backend as a package. */
typedef struct sk_ros_request {
    const char *model, *backend, *package_name;
    const char *variant; /* null: the model's default */
} sk_ros_request;

/* The same, found good. Borrows from the catalogue and the request. */
typedef struct sk_ros_choice {
    const sk_manifest *manifest;
    sk_ros_meaning meaning;
    const char *backend, *runtime, *variant, *package_name;
} sk_ros_choice;

/* All problems of the request go to *problems, in vision-factory's words where it has them. `usage` gets true where one of
 * them is a word that no model could make right (a backend nobody has), which is a mistake in the call: exit code 2. */
void sk_ros_request_check(const sk_catalogue *catalogue, const sk_ros_request *request, sk_ros_choice *choice,
                          bool *usage, sk_problems *problems);

/* The compute runtime of a backend: onnx is onnx_cpu. Null for a backend that nobody has. */
const char *sk_ros_backend_runtime(const char *backend);

/* "['cuda', 'rocm']", as Python writes a list of texts. */
void sk_ros_append_list(sk_text *out, const char *const *items, size_t count);
/* The models of the catalogue that packages can be made for, in that form or "a, b". */
void sk_ros_append_models(sk_text *out, const sk_catalogue *catalogue, bool quoted);

#endif
