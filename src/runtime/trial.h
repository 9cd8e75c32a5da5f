/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_TRIAL_H
#define SK_RUNTIME_TRIAL_H

#include "engines/engine.h"

/* Runs one small convolution on an engine and checks every number: a runtime that lists itself is not yet one that
 * computes. */
sk_status sk_runtime_trial(const sk_engine *engine, sk_error *err) SK_MUST_CHECK;

#endif
