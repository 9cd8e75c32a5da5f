/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SCENE_TRUTH_H
#define SK_APP_SCENE_TRUTH_H

#include "app/scene_run.h"

#include <stdio.h>

/* The truth of scenes as text: the columns of results.csv and a few more, and label files. */

void sk_scene_truth_header(FILE *file);
void sk_scene_truth_rows(FILE *file, const char *source, int64_t frame, double time,
                         const sk_scene_animal *animals, int32_t count);
/* Animals of which less can be seen are neither wanted nor wrong where results are measured (eval.h). */
#define SK_SCENE_COUNTS_VISIBLE 0.3
/* MOTChallenge's text: frame and animal from 1, left, top, width, height, whether it counts, class, visibility. */
void sk_scene_mot_rows(FILE *file, int64_t frame, const sk_scene_animal *animals, int32_t count);
/* Label text of one picture; animals of which less than SK_SCENE_LABEL_VISIBLE can be seen are left out. */
#define SK_SCENE_LABEL_VISIBLE 0.2f
void sk_scene_label_rows(FILE *file, sk_scene_labels kind, int32_t width, int32_t height,
                         const sk_scene_animal *animals, int32_t count);
/* data.yaml, which Ultralytics reads. */
void sk_scene_dataset(FILE *file, sk_scene_labels kind);

#endif
