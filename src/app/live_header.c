/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live_header.h"

sk_run_header sk_live_header_of(const sk_pipeline_info *about)
{
    return (sk_run_header){.source = "",
                           .source_kind = "live",
                           .source_frames = -1,
                           .task = sk_task_name(about->task),
                           .n_classes = about->n_classes,
                           .class_names = about->class_names,
                           .n_keypoints = about->n_keypoints,
                           .keypoint_names = about->keypoint_names,
                           .n_edges = about->n_edges,
                           .edges = about->edges,
                           .has = about->has,
                           .identities = about->identities,
                           .tracked = true};
}
