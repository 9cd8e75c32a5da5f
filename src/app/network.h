/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_NETWORK_H
#define SK_APP_NETWORK_H

#include "runner/network.h"

/* The bare network of a model on an array, as `net` runs it. */

/* Runs a model on an array once. Accepted: uint8 [H][W][C], [N][H][W][C] or [H][W] (normalised as the model wants), and
 * float [N][C][H][W] or [C][H][W] (taken as it is). Outputs are what the original's network returns, in its own layout;
 * the caller ends each outputs[i].data with sk_free. `outputs` has room for SK_SESSION_MAX_OUTPUTS. */
sk_status sk_net_run_array(const sk_model *model, const sk_engine *engine, const sk_tensor *array,
                           const sk_session_settings *settings, sk_tensor *outputs, int32_t *n_outputs,
                           sk_error *err) SK_MUST_CHECK;

#endif
