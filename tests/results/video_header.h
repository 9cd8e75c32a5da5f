/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RESULTS_VIDEO_HEADER_H
#define SK_TESTS_RESULTS_VIDEO_HEADER_H

#include "results/sink.h"

/* Of a run of a pose model over three frames of a video; a test changes what it is about. */
static const char *const class_names[] = {"fly, \"small\"", "mouse"};
static const char *const keypoint_names[] = {"head", "tail"};
static const int32_t edges[][2] = {{0, 1}};

static inline sk_run_header video_header(void)
{
    return (sk_run_header){.source = "in.mp4",
                           .source_kind = "video",
                           .width = 640,
                           .height = 480,
                           .rate = 25,
                           .source_frames = 3,
                           .task = "pose",
                           .n_classes = 2,
                           .class_names = class_names,
                           .n_keypoints = 2,
                           .keypoint_names = keypoint_names,
                           .n_edges = 1,
                           .edges = edges,
                           .has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                           .runtime_requested = "cpu",
                           .runtime = "cpu",
                           .device = "test",
                           .precision = "f32",
                           .settings = "conf 0.25",
                           .version = "0",
                           .started = "2026-01-01T00:00:00Z"};
}

#endif
