/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hydra_keys.h"

#include "formats/hydra_config.h"

#include <stdbool.h>
#include <string.h>

#define NO_BOUNDS 0, 0 /* only numbers have some */

static const hydra_used used_keys[] = {
    {"fps", HYDRA_NUMBER, 0.001, 1e+06},
    {"reference_body_size", HYDRA_NUMBER, 0.01, 100000},
    {"reference_aspect_ratio", HYDRA_NUMBER, 0.01, 1000},
    {"start_frame", HYDRA_NUMBER, 0, 1e+12},
    {"end_frame", HYDRA_NUMBER, -1, 1e+12},
    {"min_object_size_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"max_object_size_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"min_aspect_ratio_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"max_aspect_ratio_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"yolo_confidence_threshold", HYDRA_NUMBER, 0, 1},
    {"yolo_iou_threshold", HYDRA_NUMBER, 0, 1},
    {"max_targets", HYDRA_NUMBER, 1, 65536},
    {"animals_per_arena", HYDRA_NUMBER, 1, 65536},
    {"max_assignment_distance_multiplier", HYDRA_NUMBER, 0.001, 1e+06},
    {"association_high_confidence_threshold", HYDRA_NUMBER, 0, 1},
    {"kalman_velocity_damping", HYDRA_NUMBER, 0, 1},
    {"kalman_maturity_age_seconds", HYDRA_NUMBER, 0, 1e+06},
    {"kalman_maturity_age", HYDRA_NUMBER, 0, 1e+09},
    {"kalman_initial_velocity_retention", HYDRA_NUMBER, 0, 1},
    {"kalman_max_velocity_multiplier", HYDRA_NUMBER, 0.001, 1e+06},
    {"kalman_longitudinal_noise_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"kalman_lateral_noise_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"lost_threshold_seconds", HYDRA_NUMBER, 0, 1e+06},
    {"lost_threshold_frames", HYDRA_NUMBER, 0, 1e+09},
    {"min_respawn_distance_multiplier", HYDRA_NUMBER, 0, 1e+06},
    {"min_detections_to_start_seconds", HYDRA_NUMBER, 0, 1e+06},
    {"min_trajectory_length_seconds", HYDRA_NUMBER, 0, 1e+06},
    {"min_trajectory_length", HYDRA_NUMBER, 0, 1e+09},
    {"max_velocity_break", HYDRA_NUMBER, 0, 1e+09},
    {"stitch_max_gap_seconds", HYDRA_NUMBER, 0, 1e+06},
    {"interpolation_max_gap_seconds", HYDRA_NUMBER, 0, 1e+06},
    {"heading_flip_max_burst", HYDRA_NUMBER, 0, 1e+06},
    {"subtraction_threshold", HYDRA_NUMBER, 0, 255},
    {"threshold_value", HYDRA_NUMBER, 0, 255},
    {"morph_kernel_size", HYDRA_NUMBER, 0, 1001},
    {"min_contour_area", HYDRA_NUMBER, 0, 1e+09},
    {"dilation_kernel_size", HYDRA_NUMBER, 0, 1001},
    {"dilation_iterations", HYDRA_NUMBER, 0, 1000},
    {"brightness", HYDRA_NUMBER, -255, 255},
    {"contrast", HYDRA_NUMBER, 0, 100},
    {"gamma", HYDRA_NUMBER, 0.01, 100},
    {"enable_size_filtering", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_aspect_ratio_filtering", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_backward_tracking", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_postprocessing", HYDRA_TRUTH, NO_BOUNDS},
    {"dark_on_light_background", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_adaptive_background", HYDRA_TRUTH, NO_BOUNDS},
    {"adaptive_background", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_lighting_stabilization", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_conservative_split", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_additional_dilation", HYDRA_TRUTH, NO_BOUNDS},
    {"enable_pose_extractor", HYDRA_TRUTH, NO_BOUNDS},
    {"suppress_foreign_obb_regions", HYDRA_TRUTH, NO_BOUNDS},
    {"detection_method", HYDRA_TEXT, NO_BOUNDS},
    {"interpolation_method", HYDRA_TEXT, NO_BOUNDS},
    {"compute_runtime", HYDRA_TEXT, NO_BOUNDS},
    {"runtime_tier", HYDRA_TEXT, NO_BOUNDS},
    {"yolo_model_path", HYDRA_TEXT, NO_BOUNDS},
    {"yolo_obb_direct_model_path", HYDRA_TEXT, NO_BOUNDS},
    {"yolo_obb_mode", HYDRA_TEXT, NO_BOUNDS},
    {"pose_model_type", HYDRA_TEXT, NO_BOUNDS},
    {"pose_model_dir", HYDRA_TEXT, NO_BOUNDS},
    {"pose_yolo_model_dir", HYDRA_TEXT, NO_BOUNDS},
    {"pose_sleap_model_dir", HYDRA_TEXT, NO_BOUNDS},
    {"file_path", HYDRA_TEXT, NO_BOUNDS},
    {"roi_shapes", HYDRA_LIST, NO_BOUNDS},
    {"yolo_target_classes", HYDRA_LIST, NO_BOUNDS},
    {"pose_direction_anterior_keypoints", HYDRA_LIST, NO_BOUNDS},
    {"pose_direction_posterior_keypoints", HYDRA_LIST, NO_BOUNDS},
};
#define N_USED (sizeof used_keys / sizeof used_keys[0])
_Static_assert(N_USED <= HYDRA_USED_MOST, "there are more keys");

static const hydra_subject subjects[] = {
    {"detection in two steps or slices",
     "slice_enabled slice_geometry_mode use_custom_obb_iou_filtering yolo_crop_obb_model_path "
     "yolo_detect_model_path yolo_fixed_angle_deg yolo_obb_direct_task yolo_seq_crop_pad_ratio "
     "yolo_seq_detect_conf_threshold yolo_seq_enforce_square_crop "
     "yolo_seq_individual_batch_size yolo_seq_min_crop_size_px yolo_seq_stage2_imgsz "
     "yolo_seq_stage2_pow2_pad"},
    {"poses (a model knows its own skeleton; poses are used as they are)",
     "pose_ignore_keypoints pose_min_kpt_conf_valid pose_skeleton_file"},
    {"where and how files are written (here --out and --save-overlay)",
     "csv_path video_output_enabled video_output_path video_trail_duration"},
    {"frames made smaller (here they are looked at as they are)", "resize_factor"},
    {"background subtraction",
     "background_learning_rate background_prime_frames background_prime_seconds bg_prime_frames "
     "conservative_erode_iter conservative_erode_iterations conservative_kernel_size "
     "lighting_median_window lighting_smooth_factor max_contour_multiplier"},
    {"head and tail", "directed_orient_flip_confidence directed_orient_flip_persistence "
                      "directed_orient_smoothing enable_headtail_orientation enable_instant_flip "
                      "headtail_batch_size headtail_runtime max_orientation_delta_stopped "
                      "pose_overrides_headtail velocity_threshold yolo_headtail_conf_threshold "
                      "yolo_headtail_detect_conf_threshold yolo_headtail_model_path"},
    {"weights of the cost (skitter weighs by likelihood)",
     "association_stage1_max_area_ratio association_stage1_max_aspect_diff "
     "association_stage1_motion_gate_multiplier enable_greedy_assignment enable_pose_rejection "
     "enable_spatial_optimization pose_rejection_min_visibility pose_rejection_threshold "
     "pose_valid_orientation_scale track_feature_ema_alpha use_mahalanobis_distance "
     "weight_area weight_aspect_ratio weight_orientation weight_pose_direction "
     "weight_pose_length weight_position"},
    {"noise of the filter (skitter measures it in body lengths)",
     "kalman_measurement_noise kalman_process_noise"},
    {"births", "min_detect_seconds min_detection_counts min_track_seconds"},
    {"rules of joining (skitter decides over the whole video)",
     "enable_tracklet_relinking max_occlusion_gap max_occlusion_gap_seconds "
     "max_velocity_zscore merge_agreement_distance_multiplier min_overlap_frames "
     "pose_postproc_max_gap pose_temporal_outlier_zscore relink_min_pose_quality "
     "relink_pose_max_distance stitch_density_tighten_factor stitch_heading_gate_deg "
     "stitch_single_option_margin velocity_zscore_min_velocity velocity_zscore_window "
     "velocity_zscore_window_seconds"},
    {"telling individuals apart",
     "apriltag_crop_padding apriltag_decimate apriltag_family assignment_margin_threshold "
     "changepoint_penalty cnn_classifier_batch_size cnn_classifier_confidence "
     "cnn_classifier_label cnn_classifier_model_path cnn_classifier_window cnn_classifiers "
     "cnn_runtime color_tag_confidence color_tag_model_path enable_fragment_scoring "
     "enable_identity_analysis enable_identity_in_tracking enable_identity_online_decoder "
     "enable_identity_smoothing enable_identity_swap_correction enable_pelt_splitting "
     "fragment_cnn_weight fragment_length_weight fragment_spatial_veto_threshold "
     "fragment_tag_weight identity_calibration_override identity_commit_threshold "
     "identity_disagree_min_run identity_display_threshold identity_gates_trajectory_structure "
     "identity_method identity_postprocess_mode identity_rejoin_threshold "
     "identity_swap_min_frames identity_transition_epsilon identity_unknown_prior "
     "identity_weight max_bridge_gap_frames min_fragment_frames non_identifying_classes "
     "online_prior_weight pelt_model use_apriltags"},
    {"maps of crowded places",
     "density_binarize_threshold density_conservative_factor density_downsample_factor "
     "density_gaussian_sigma_scale density_min_area_bodies density_min_frame_duration "
     "density_temporal_sigma enable_confidence_density_map"},
    {"drawing", "prompt_open_refinekit_on_tracking_complete show_background_model show_foreground_mask "
                "show_id_labels show_kalman_uncertainty show_orientation_lines show_state_text "
                "show_track_markers show_trajectory_trails show_yolo_obb trajectory_history_seconds "
                "video_arrow_length video_marker_size video_pose_color video_pose_color_mode "
                "video_pose_line_thickness video_pose_point_radius video_pose_point_thickness "
                "video_show_labels video_show_orientation video_show_pose video_show_trails "
                "video_text_scale visualization_free_mode zoom_factor"},
    {"pictures and data sets",
     "dataset_al_preset dataset_class_name dataset_class_names dataset_confidence_threshold "
     "dataset_dedup_method dataset_dedup_threshold dataset_diversity_window "
     "dataset_export_levels dataset_include_context dataset_max_frames "
     "dataset_min_selection_score dataset_name dataset_probabilistic_sampling "
     "enable_dataset_generation enable_individual_dataset enable_individual_image_save "
     "enable_individual_pipeline export_confidence_density_video export_final_canonical_images "
     "final_media_export_enable_affine_stabilization final_media_export_fix_direction_flips "
     "final_media_export_heading_flip_burst final_media_export_stabilization_window "
     "final_media_export_videos_enabled generate_oriented_track_videos "
     "individual_background_color individual_crop_padding individual_dataset_name "
     "individual_interpolate_occlusions individual_output_format individual_save_interval "
     "metric_count_mismatch metric_crowding metric_fragmented_detections "
     "metric_high_assignment_cost metric_high_uncertainty metric_low_confidence "
     "metric_track_loss pose_export_min_valid_fraction pose_export_min_valid_keypoints "
     "suppress_foreign_obb_individual_dataset suppress_foreign_obb_oriented_videos"},
    {"machine, batches and caches",
     "canonical_margin cleanup_temp_files debug_logging debug_mode detection_batch_size "
     "enable_profiling enable_tensorrt enable_yolo_batching pose_batch_size "
     "pose_exported_model_path pose_precompute_batch_size pose_runtime_flavor pose_sleap_batch "
     "pose_sleap_device pose_sleap_env pose_sleap_max_instances pose_vitpose_model_dir "
     "pose_yolo_batch realtime_tracking_mode save_confidence_metrics tensorrt_build_batch_size "
     "tensorrt_build_workspace_gb tensorrt_max_batch_size tracking_workflow_mode "
     "use_cached_detections yolo_batch_size_mode yolo_device yolo_manual_batch_size"},
    {"notes about models",
     "description preset_name yolo_headtail_model_added_at yolo_headtail_model_info "
     "yolo_headtail_model_size yolo_headtail_model_species yolo_headtail_task_family "
     "yolo_headtail_usage_role yolo_model_added_at yolo_model_info yolo_model_size "
     "yolo_model_species yolo_obb_direct_model_added_at yolo_obb_direct_model_info "
     "yolo_obb_direct_model_size yolo_obb_direct_model_species yolo_obb_direct_task_family "
     "yolo_obb_direct_usage_role yolo_seq_crop_obb_model_added_at yolo_seq_crop_obb_model_info "
     "yolo_seq_crop_obb_model_size yolo_seq_crop_obb_model_species "
     "yolo_seq_crop_obb_task_family yolo_seq_crop_obb_usage_role "
     "yolo_seq_detect_model_added_at yolo_seq_detect_model_info yolo_seq_detect_model_size "
     "yolo_seq_detect_model_species yolo_seq_detect_task_family yolo_seq_detect_usage_role"},
};
#define N_SUBJECTS (sizeof subjects / sizeof subjects[0])

const char *sk_hydra_used_key(size_t index)
{
    return index < N_USED ? used_keys[index].key : NULL;
}

const hydra_used *hydra_find_used(const char *key)
{
    for (size_t i = 0; i < N_USED; i++)
        if (!strcmp(used_keys[i].key, key))
            return &used_keys[i];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    /* A key may be empty: it is found everywhere, and the search would stand still. */
    for (const char *at = words; length && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

const hydra_subject *hydra_find_subject(const char *key)
{
    for (size_t i = 0; i < N_SUBJECTS; i++)
        if (has_word(subjects[i].keys, key))
            return &subjects[i];
    return NULL;
}

const hydra_subject *hydra_subject_at(size_t index)
{
    return index < N_SUBJECTS ? &subjects[index] : NULL;
}
