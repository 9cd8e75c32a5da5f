/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_PIPELINE_PIPELINE_H
#define SK_PIPELINE_PIPELINE_H

#include "models/model.h"
#include "runner/runner.h"
#include "skitter/pipeline.h"

/* Opening in two steps, for whoever must know the models before it can say which frames will come: prepare opens, arranges
 * and describes them; start makes the networks. In between, the info is complete but for `depth`, and `accepts` is what can
 * be told of the runtime and the models; after start it is what the networks that stand take. */

/* `detector`, where it is not null, says what computes and what counts as found in place of the settings'; it is copied. */
sk_status sk_pipeline_prepare(const char *const *paths, int32_t n_paths, const sk_detector_settings *detector,
                              const sk_pipeline_settings *settings, sk_pipeline **out,
                              sk_error *err) SK_MUST_CHECK;
/* The same where somebody else finds: `finder` (sk_model_of_given; held, so that it may be closed at once) and one model that
 * looks at crops of what sk_pipeline_submit_found hands in. */
sk_status sk_pipeline_prepare_given(const sk_model *finder, const char *path,
                                    const sk_detector_settings *detector,
                                    const sk_pipeline_settings *settings, sk_pipeline **out,
                                    sk_error *err) SK_MUST_CHECK;
/* sk_pipeline_submit with what was found in the frame, copied: boxes, oriented or not. */
sk_status sk_pipeline_submit_found(sk_pipeline *pipeline, const sk_frame *frame, const sk_instances *found,
                                   void *user, uint32_t flags, sk_error *err) SK_MUST_CHECK;
/* How frames pass: all of `how` but its detector, callbacks and context. Null: as the settings said. */
sk_status sk_pipeline_start(sk_pipeline *pipeline, const sk_runner_settings *how,
                            sk_error *err) SK_MUST_CHECK;
/* Null before start; for its statistics. */
sk_runner *sk_pipeline_runner(const sk_pipeline *pipeline);

/* The models, the finder first; borrowed. */
const sk_model *const *sk_pipeline_models(const sk_pipeline *pipeline);

/* Does one network fit frames of every size? */
bool sk_pipeline_fits_all(const sk_pipeline *pipeline);
/* Once started: frees the models' own copy of the weights where nobody else holds them and no frame can need another
 * network, or, with `one_size`, where none is expected to: then the file is read again. */
void sk_pipeline_forget(sk_pipeline *pipeline, bool one_size);

/* Is a frame like this one taken at least as gladly as RGB in memory? */
bool sk_pipeline_likes(const sk_pipeline *pipeline, const sk_frame *like);

#endif
