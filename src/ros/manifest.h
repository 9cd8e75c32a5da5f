/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_MANIFEST_H
#define SK_ROS_MANIFEST_H

#include "formats/config.h"
#include "base/problems.h"

/* What a manifest.yaml says of a model: vision-factory's schema, key by key, so that its files are read as they are.
 * Keys that it lets pass are let pass; beyond it there are
 *
 *   model.task            detect, pose, obb, single, topdown, bottomup; without it by output.type: detections are detect,
 *                         keypoints are pose
 *   source.weights        {variant: file or folder, or a list of two}: what weights_path is; without it the variant's name
 *   output.class_names, output.keypoint_names [texts], output.skeleton [[from, to], …]
 *
 * Texts and values are borrowed from the manifest. Immutable once open. */
typedef struct sk_manifest_topic {
    const char *topic, *msg_type, *frame_id, *encoding, *description; /* "" where not said */
    const sk_config_value *at;                                        /* for its place */
} sk_manifest_topic;

typedef struct sk_manifest_service {
    const char *name, *srv_type, *description;
    const sk_config_value *at;
} sk_manifest_service;

typedef struct sk_manifest_parameter {
    const char *name, *type, *description; /* type: bool, int, float, double, string or list */
    const sk_config_value *fallback;
    const sk_config_value *at;
} sk_manifest_parameter;

typedef struct sk_manifest_names {
    const char **items;
    size_t count;
} sk_manifest_names;

typedef struct sk_manifest {
    sk_config *config;
    sk_arena *arena;
    const char *path; /* as problems name it */
    const sk_config_value *root;

    const char *name, *family, *default_variant, *task;
    sk_manifest_names variants, backends;
    const char *source_type, *source_repo;
    sk_manifest_names alternatives;
    const sk_config_value *weights; /* null where there are none */
    const char *output_type, *output_format;
    sk_manifest_names class_names, keypoint_names;
    const sk_config_value *skeleton;
    sk_manifest_topic *publishers, *subscribers;
    size_t n_publishers, n_subscribers;
    sk_manifest_service *services;
    size_t n_services;
    sk_manifest_parameter *parameters;
    size_t n_parameters;
    const sk_config_value *vram; /* null where there is none */
} sk_manifest;

#define SK_MANIFEST_MAX_BYTES ((size_t)1 << 20)
#define SK_MANIFEST_MAX_ITEMS 4096 /* of any of its lists */

/* Reads `length` bytes. What is wrong with it goes to *problems, all of it, each "PATH:LINE:COLUMN: what"; *out is null then.
 * Other statuses than SK_OK: memory alone. `path` is copied. */
sk_status sk_manifest_open(const char *text, size_t length, const char *path, sk_manifest **out,
                           sk_problems *problems, sk_error *err) SK_MUST_CHECK;
void sk_manifest_close(sk_manifest **manifest);

/* Megabytes of memory the variant takes on a GPU, as the manifest says it; null where it says nothing. */
const sk_config_value *sk_manifest_vram(const sk_manifest *manifest, const char *variant);
bool sk_manifest_names_have(const sk_manifest_names *names, const char *name);

/* The backends there are, in upstream's order, cpu last; ended by null. */
extern const char *const sk_ros_backends[];

#endif
