/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_OFFLOAD_H
#define SK_ENGINES_OFFLOAD_H

#include "engines/engine.h"
#include "models/model.h"
#include "tasks/row_strips.h"
#include "tasks/stage.h"

/* What an engine may do of a YOLO stage besides the network: fit frames in, and either decode and suppress, so that what
 * is found comes down, or bring down only the places whose score can pass. The rest of the stage (tasks/yolo_post.h) works on
 * such outputs as on whole ones. */

/* How frames like this one (size apart: that is the geometry's) are fitted in. False when its format is not for engines. */
bool sk_offload_fit(const sk_letterbox_geometry *geometry, const sk_frame *like, sk_frame_fit *out);

/* The same by whatever rule a stage says (sk_task_stage_fit). */
bool sk_offload_fit_stage(const sk_task_fit *way, const sk_frame *like, sk_frame_fit *out);

/* The same for SLEAP models. */
bool sk_offload_fit_sleap(const sk_sleap_geometry *geometry, int legacy, sk_sleap_grey grey,
                          const sk_frame *like, sk_frame_fit *out);

/* How a second model's crops (tasks/crops.h; null: none) are cut from frames like this one. False when its format is not for
 * engines. */
bool sk_offload_crops(const sk_crop_form *form, const sk_frame *like, sk_crop_wish *out);

/* For a session with its tail cut. False when the model has no raw heads, or `confidence` lets everything pass. */
bool sk_offload_sparse(const sk_model *model, float confidence, sk_sparse_outputs *out);

/* Likewise. False when the model finds masks, or the rules are none that engines know. The outputs are then
 * SK_OUTPUTS_FOUND. */
bool sk_offload_found(const sk_model *model, const sk_yolo_settings *settings, sk_found_outputs *out);

/* The rows of a frame (of NV12, of its luma) that the fit reads, where whoever moves frames may leave the others out or let
 * them hold anything; count 0: all. A letterbox leaves rows out where it shrinks much; SLEAP's rules may read every row. */
sk_status sk_offload_strips(const sk_frame_fit *fit, sk_row_strips *out, sk_error *err) SK_MUST_CHECK;

#endif
