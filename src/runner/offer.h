/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_OFFER_H
#define SK_RUNNER_OFFER_H

#include "runner/runner.h"

/* Does a device take frames as they come? Then its network is made for one size of frame, and the model must stay for the
 * next size. */
bool sk_runner_takes_frames(const sk_runner *runner);

/* Does it take planes of video (SK_PIXEL_I420)? */
bool sk_runner_takes_planes(const sk_runner *runner);

/* A file that ran in a model's place: an artifact, or the model itself where it is in the engine's form. */
typedef struct sk_runner_file {
    int32_t model;   /* number of the model it stands for */
    char path[512];  /* "" where it lies in no file */
    char sha256[65]; /* of its bytes */
} sk_runner_file;
#define SK_RUNNER_MAX_FILES 16

/* All that ran so far, each once; another size of frame may add one. Returns how many. */
int32_t sk_runner_files(sk_runner *runner, sk_runner_file files[SK_RUNNER_MAX_FILES]);

#endif
