/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_NETWORK_H
#define SK_RUNNER_NETWORK_H

#include "engines/engine.h"
#include "models/model.h"
#include "tasks/detector_settings.h"

/* The bare network of a model on a compute runtime: what `net` and `bench` drive, and what a runner replays. */

/* The engine behind a runtime's name ("cpu", "reference", …). SK_ERR_ARG for an unknown name, SK_ERR_UNSUPPORTED where
 * it is known but not usable here, with the reason. */
sk_status sk_net_engine(const char *runtime, const sk_engine **out, sk_error *err) SK_MUST_CHECK;

/* Refuses a size the model cannot take, naming the nearest one it can. */
sk_status sk_net_check_size(const sk_model *model, int64_t batch, int64_t height, int64_t width,
                            sk_error *err) SK_MUST_CHECK;

/* What a wish for rectangles comes to. Squares where the model has one size; and, unless rectangles are asked for, where the
 * engine runs a file that is made for one size, which every size of pictures would make anew. */
sk_rect sk_net_rect(sk_rect wish, const sk_model *model, const sk_engine *engine);

/* What a wish for a precision comes to: a network in eight bits is run so where the engine can, unless something else is asked. */
sk_precision sk_net_precision(sk_precision wish, const sk_model *model, const sk_engine *engine);
/* Can the engine compute this model in that? Says what helps. */
sk_status sk_net_check_precision(sk_precision precision, const sk_model *model, const sk_engine *engine,
                                 sk_error *err) SK_MUST_CHECK;

/* Opens a session for pictures of this size. `settings` may be null; input scale, mean and std come from the model. */
sk_status sk_net_open(const sk_model *model, const sk_engine *engine, int64_t batch, int64_t height,
                      int64_t width, const sk_session_settings *settings, sk_session **out,
                      sk_error *err) SK_MUST_CHECK;
/* The same by the reference executor, of a network in eight bits without the roundings of its values: what these are measured
 * from. */
sk_status sk_net_open_unrounded(const sk_model *model, int64_t batch, int64_t height, int64_t width,
                                const sk_session_settings *settings, sk_session **out,
                                sk_error *err) SK_MUST_CHECK;

/* How the model's bytes become numbers, into the settings of a session. */
void sk_net_pixel_values(const sk_model *model, sk_session_settings *settings);

#endif
