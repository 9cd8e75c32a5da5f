/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_PIPELINE_PIPELINE_H
#define SK_PIPELINE_PIPELINE_H

#include "models/model.h"
#include "skitter/pipeline.h"

/* Opening in two steps, for whoever must know the models before it can say which frames will come: prepare opens, arranges
 * and describes them; start makes the networks. In between, the info is complete but for `depth`, and `accepts` is what can
 * be told of the runtime and the models; after start it is what the networks that stand take. */

sk_status sk_pipeline_prepare(const char *const *paths, int32_t n_paths, const sk_pipeline_settings *settings,
                              sk_pipeline **out, sk_error *err) SK_MUST_CHECK;
/* What the settings said of devices, depth, timeouts and frames may be said anew: the others stand. Null: as they are. */
sk_status sk_pipeline_start(sk_pipeline *pipeline, const sk_pipeline_settings *settings,
                            sk_error *err) SK_MUST_CHECK;

/* The models, the finder first; borrowed. */
const sk_model *sk_pipeline_model_at(const sk_pipeline *pipeline, int32_t index);

/* Does one network fit frames of every size? */
bool sk_pipeline_fits_all(const sk_pipeline *pipeline);
/* Once started: frees the models' own copy of the weights where nobody else holds them and no frame can need another
 * network, or, with `one_size`, where none is expected to: then the file is read again. */
void sk_pipeline_forget(sk_pipeline *pipeline, bool one_size);

/* Is a frame like this one taken? */
bool sk_pipeline_takes(const sk_pipeline *pipeline, const sk_frame *like);

#endif
