/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_OFFER_H
#define SK_RUNNER_OFFER_H

#include "skitter/runner.h"

/* Does a device take frames as they come? Then its network is made for one size of frame, and the model must stay for the
 * next size. */
bool sk_runner_takes_frames(const sk_runner *runner);

/* Does it take planes of video (SK_PIXEL_I420)? */
bool sk_runner_takes_planes(const sk_runner *runner);

#endif
