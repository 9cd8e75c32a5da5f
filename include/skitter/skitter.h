/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_SKITTER_H
#define SKITTER_SKITTER_H

/* All of skitter's public interface. C17 or C++11 and newer. */
#include "skitter/dlpack.h"
#include "skitter/draw.h"
#include "skitter/frame.h"
#include "skitter/instance.h"
#include "skitter/live_tracks.h"
#include "skitter/log.h"
#include "skitter/model.h"
#include "skitter/network.h"
#include "skitter/node_core.h"
#include "skitter/pipeline.h"
#include "skitter/runtime.h"
#include "skitter/source.h"
#include "skitter/status.h"
#include "skitter/tensor.h"
#include "skitter/version.h"

#endif
