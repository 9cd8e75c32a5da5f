/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_OWN_MANIFEST_H
#define SK_ROS_OWN_MANIFEST_H

#include "base/text.h"

/* A manifest for somebody's own model: what its file says of task, classes, keypoints and skeleton. */
typedef struct sk_own_manifest {
    const char
        *models[2];   /* paths; the second one, a SLEAP centered instance or poses on crops, may be null */
    const char *name; /* null: the file's */
    bool track;       /* also follow what it finds */
} sk_own_manifest;

/* *text is the manifest, *name (sk_free) what it calls the model. SK_ERR_UNSUPPORTED: a model that no node of ours publishes
 * (masks, classes of whole pictures, a part of a top-down pair alone). */
sk_status sk_own_manifest_write(const sk_own_manifest *what, sk_text *text, char **name,
                                sk_error *err) SK_MUST_CHECK;

#endif
