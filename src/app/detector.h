/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_DETECTOR_H
#define SK_APP_DETECTOR_H

#include "skitter/runner.h"

/* For those who drive the runner themselves: models opened, ordered and described like every detector's, without a
 * network yet. */
sk_status sk_detector_open_models(const char *const *models, int32_t n_models,
                                  const sk_detector_settings *settings, sk_detector **out,
                                  sk_error *err) SK_MUST_CHECK;

/* A runner on the detector's models and settings (of `how`, all but `detector` counts); the detector's, released with
 * it or by the next one. */
sk_status sk_detector_open_runner(sk_detector *detector, const sk_runner_settings *how, sk_runner **out,
                                  sk_error *err) SK_MUST_CHECK;
/* May an engine be given frames of video as they are? */
bool sk_detector_takes_nv12(const sk_detector *detector);
/* Does one network fit frames of every size? */
bool sk_detector_fits_all(const sk_detector *detector);
/* Once the runner is open: frees the models' own copy of the weights where no frame can need another network, or, with
 * `one_size`, where none is expected to: then the file is read again. */
void sk_detector_forget(sk_detector *detector, bool one_size);

#endif
