/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_DRAW_H
#define SKITTER_DRAW_H

#include "skitter/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draws what was found into a picture, as --save-overlay does: boxes, oriented boxes, skeletons, names with scores, numbers of
 * tracks. `canvas` is the caller's and is written to: RGB or BGR of the host. `ids`, which may be null: the track of each instance
 * (skitter/live_tracks.h). SK_ERR_ARG: a canvas of another kind. Any thread. */
SK_API sk_status sk_draw_instances(const sk_pipeline_info *about, const sk_instances *list,
                                   const int32_t *ids, const sk_frame *canvas, sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
