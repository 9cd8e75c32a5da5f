/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_HYDRA_SETTINGS_H
#define SK_TRACK_HYDRA_SETTINGS_H

#include "formats/hydra_config.h"
#include "track/offline.h"

/* What a configuration of hydra-suite says about tracking, put over `settings`, which keep what it does not say: its seconds stay
 * seconds, its multipliers of the body's size become pixels or stay body lengths, as ours are. *region is made of its shapes (null
 * where it has none), is the caller's to close, and is settings->track.filter.region.
 *
 *   fps, reference_body_size, max_targets, or animals_per_arena track.fps, body, animals (and filter.most)
 *   yolo_confidence_threshold, yolo_iou_threshold                filter.score, overlap
 *   min/max_object_size_multiplier (times a disc of the body's size), min/max_aspect_ratio_multiplier   filter.area_…, aspect_…
 *   roi_shapes                                                   filter.region
 *   kalman_velocity_damping, _maturity_age_…, _initial_velocity_retention, _max_velocity_multiplier, _…_noise_multiplier   motion
 *   max_assignment_distance_multiplier, min_respawn_distance_multiplier, lost_threshold_…, min_detections_to_start_…       life
 *   enable_backward_tracking, stitch_max_gap_…, interpolation_…, heading_flip_max_burst, min_trajectory_length_…,
 *   max_velocity_break (body lengths a second: pixels a frame)   offline
 */
sk_status sk_hydra_settings(const sk_hydra_config *config, const char *what, sk_offline_settings *settings,
                            sk_region **region, sk_error *err) SK_MUST_CHECK;

#endif
