/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_LIVE_HEADER_H
#define SK_APP_LIVE_HEADER_H

#include "results/sink.h"
#include "skitter/pipeline.h"

/* The header of frames that are followed as they come, from nowhere in particular; its texts are the pipeline's. */
sk_run_header sk_live_header_of(const sk_pipeline_info *about);

#endif
