/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SCENE_RUN_H
#define SK_APP_SCENE_RUN_H

#include "scene/scene.h"

/* Made-up scenes on disk: a video and its truth, or a folder of pictures with labels to train on. */

typedef enum sk_scene_labels {
    SK_SCENE_LABELS_POSE = 0, /* class, box, keypoints */
    SK_SCENE_LABELS_OBB = 1,  /* class, four corners */
    SK_SCENE_LABELS_BOX = 2   /* class, box */
} sk_scene_labels;

typedef struct sk_scene_run_settings {
    sk_scene_settings
        scene; /* pictures: `animals` is the most in one, and every picture is a scene of its own */
    const char
        *output;       /* video (.mp4); for pictures a folder, made if absent; null: truth alone, not drawn */
    const char *truth; /* CSV, docs/scenes.md; null: none for a video, output/truth.csv for pictures */
    const char *mot;   /* the truth as MOTChallenge text; null: none. Not for pictures */
    int64_t frames;    /* of the video */
    bool sequence;     /* the video's frames one by one: output is a folder of 000000.png … */
    int64_t pictures;  /* > 0: pictures instead of a video */
    sk_scene_labels labels; /* of pictures */
    const char *extension;  /* of pictures: ".jpg" or ".png" */
} sk_scene_run_settings;

void sk_scene_run_defaults(sk_scene_run_settings *settings);

/* Called after every frame or picture; return true to stop there. */
typedef bool (*sk_scene_watch)(void *context, int64_t done, int64_t total);

typedef struct sk_scene_report {
    int64_t frames, instances;
    bool stopped; /* by the watcher; the files are complete up to there */
    double seconds;
} sk_scene_report;

sk_status sk_scene_run(const sk_scene_run_settings *settings, sk_scene_watch watch, void *context,
                       sk_scene_report *report, sk_error *err) SK_MUST_CHECK;

#endif
