/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BASIC_H
#define SK_APP_BASIC_H

#include "engines/engine.h"
#include "tasks/detector_settings.h"
#include "tasks/stage.h"

/* Basic execution: what a program does that calls a network for each frame and thinks no further. The network is opened
 * once; then for each frame, one step after another on the calling thread: buffers are allocated, the frame is copied,
 * pre-processed, run, waited for, the outputs are copied out, post-processed, and everything is freed. The measure for
 * the runner; the same engine, the same stages, the same results. */

typedef struct sk_basic sk_basic;

typedef struct sk_basic_times {
    int64_t frames;
    double copy, pre, network, post; /* seconds */
} sk_basic_times;

/* `models` in the order of sk_detector_info; borrowed until close. */
sk_status sk_basic_open(const sk_model *const *models, int32_t n_models, const sk_engine *engine,
                        const sk_detector_settings *settings, int32_t width, int32_t height, sk_basic **out,
                        sk_error *err) SK_MUST_CHECK;
void sk_basic_close(sk_basic **basic);

/* One frame of the size given at open; *found is how many instances it shows. */
sk_status sk_basic_run(sk_basic *basic, const sk_frame *frame, int32_t *found, sk_error *err) SK_MUST_CHECK;
void sk_basic_get_times(const sk_basic *basic, sk_basic_times *times);
void sk_basic_reset_times(sk_basic *basic);

#endif
