/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_FINDER_H
#define SK_APP_FINDER_H

#include "skitter/instance.h"
#include "skitter/source.h"

/* Who finds animals where no model does: a background, a file of detections. What it finds goes with the frames to a model that
 * looks at crops of them. One run at a time; `find` is called on the thread that reads. */

typedef struct sk_finder_source {
    const char *source;
    const sk_source_settings *media; /* how the run reads it, from its first frame on */
    const sk_source_info *info;
    int64_t last; /* frames up to this number were looked at by an earlier part of the run; -1: none */
} sk_finder_source;

typedef struct sk_finder {
    const char *name;     /* for people, where a model's path would stand: "background" */
    const char *identity; /* what shapes that which it finds: lines of sk_run_identity.text */
    int32_t n_classes;
    const char *const *class_names;
    bool oriented; /* boxes are turned */
    /* A run begins, or goes on, before its first frame is looked at. */
    sk_status (*begin)(void *context, const sk_finder_source *source, sk_error *err);
    /* Every frame behind `last`, in order; *found is lent until the next call. */
    sk_status (*find)(void *context, const sk_frame *frame, const sk_instances **found, sk_error *err);
    void (*end)(void *context); /* of the run, also where it has not begun */
    void *context;
} sk_finder;

#endif
